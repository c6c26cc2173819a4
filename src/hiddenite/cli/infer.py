"""hiddenite decode, sample, marginals: exact inference on one record a line."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Annotated, Any

import typer

from hiddenite._core import TaskKind
from hiddenite.channel import Channel, channel_from_name
from hiddenite.cli.batch import (
    Block,
    Job,
    OnError,
    Outcome,
    Ray,
    Resume,
    choose_seed,
    file_state,
    line_records,
    run_batch,
)
from hiddenite.cli.common import AsJson, Lm, Output, Quiet, Threads, byte_progress, hush, json_line
from hiddenite.cli.proofs import ProofOption, check_proof_options, written_proofs
from hiddenite.copies import here
from hiddenite.corpus import ChunkReader, file_bytes
from hiddenite.errors import HiddeniteError
from hiddenite.inference import BATCH, EPSILON, METHODS, Budget, Query, answer_lines
from hiddenite.ngram import NgramModel
from hiddenite.proof import ProofWriter, header_of, prove
from hiddenite.results import Decoded, Failure, KBest, Marginals, Proof, Samples

TOP_WORDS = 5  # of each position, in the marginals' text form

Result = Decoded | KBest | Samples | Marginals | Failure

ChannelName = Annotated[
    str, typer.Option("--channel", metavar="CHANNEL", help="keypad, typo, slots or confusion:FILE.")
]
Input = Annotated[str, typer.Argument(metavar="[INPUT]", help="One observation a line; - is stdin.")]
Keep = Annotated[
    int | None,
    typer.Option("--keep", min=1, help="Only the N candidates of highest channel weight per position."),
]
Ambiguity = Annotated[
    float | None, typer.Option("--ambiguity", min=0.0, help="Keypad: the constant k; larger is less noisy.")
]
Distance = Annotated[int | None, typer.Option("--distance", min=0, help="Typo: most edits per word.")]
NoEnd = Annotated[bool, typer.Option("--no-end", help="The text need not end after the last word.")]
MethodOption = Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed; drawn and shown if not given.")]
BudgetOption = Annotated[
    float | None,
    typer.Option("--budget", min=0.0, help="Seconds per record; then the best so far and its gap."),
]
MaxStates = Annotated[int | None, typer.Option("--max-states", min=1, help="The same in states.")]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", min=0.0, help=f"Share that sums may leave out, default {EPSILON:g}; 0: none."),
]


@dataclasses.dataclass(frozen=True)
class Source:
    """Where records come from and where results go."""

    lm: str
    channel: str
    input: str
    output: str
    keep: int | None
    ambiguity: float | None
    distance: int | None
    threads: int
    as_json: bool
    quiet: bool
    resume: bool
    on_error: str
    ray: str | None

    def job(self, command: str, query: Query, exact: bool) -> Job:
        """Return how the records are written."""
        options = {
            "lm": file_state(self.lm),
            "channel": self.channel,
            "seed": query.seed,
            "json": self.as_json,
            "query": query,
            "limits": (self.keep, self.ambiguity, self.distance),
        }
        confusion = self.channel.removeprefix("confusion:")
        return Job(
            command,
            options,
            self.output,
            self.resume,
            self.on_error,
            exact,
            ray=self.ray,
            processes=self.threads,
            files=(self.lm,) if confusion == self.channel else (self.lm, confusion),
        )


def _run(
    command: str,
    source: Source,
    query: Query,
    as_text: Callable[[Any], str],
    *,
    exact: bool = False,
    proof: str | None = None,
) -> None:
    """Answer each line; exit 1 if a record failed, 3 if one is not certified though it must be."""
    hush(source.quiet)
    query.task()  # a bad option is told before the model is loaded
    job = source.job(command, query, exact)
    with (
        byte_progress("working", file_bytes([source.input]), source.quiet) as report,
        ChunkReader(source.input, report) as reader,
        written_proofs(proof) as proofs,
    ):
        make = functools.partial(_answerer, source, query, as_text, proofs)
        run_batch(job, reader.name, line_records(reader, BATCH), make)


def _answerer(
    source: Source, query: Query, as_text: Callable[[Any], str], proofs: ProofWriter | None
) -> Callable[[Block[bytes]], list[Outcome]]:
    """Load model and channel; return what answers a block of lines."""
    model = NgramModel.load(here(source.lm))
    kind, colon, file = source.channel.partition(":")
    channel = channel_from_name(
        kind + colon + here(file),
        model.vocabulary,
        keep=source.keep,
        ambiguity=source.ambiguity,
        distance=source.distance,
    )
    threads = source.threads if source.ray is None else 1  # a cluster has a process for each processor
    if proofs is not None:
        proofs.begin(header_of(model))

    def answer(block: Block[bytes]) -> list[Outcome]:
        results = answer_lines(model, channel, block.item, query, first_record=block.first, threads=threads)
        lines = enumerate(results, block.first + 1)
        outcomes = [_outcome(result, line, source.as_json, as_text) for line, result in lines]
        if proofs is None:
            return outcomes
        texts = block.item.split(b"\n")[: block.size]
        found = [_proof(model, channel, query.end, *pair) for pair in zip(texts, results, strict=True)]
        names = [
            line if result.id is None else result.id for line, result in enumerate(results, block.first + 1)
        ]
        proofs.add(block.first, list(zip(names, found, strict=True)))
        return [
            outcome._replace(error=proof) if isinstance(proof, str) else outcome
            for outcome, proof in zip(outcomes, found, strict=True)
        ]

    return answer


def _proof(model: NgramModel, channel: Channel, end: bool, text: bytes, result: Result) -> Proof | str:
    """Return the answer's proof, or why there is none."""
    if isinstance(result, Failure):
        return result.error
    assert isinstance(result, Decoded)
    try:
        proof = prove(model, channel(text.decode()), result, end=end).proof
    except HiddeniteError as error:
        return f"no proof: {error}"
    assert proof is not None
    return proof


def _outcome(result: Result, line: int, as_json: bool, as_text: Callable[[Any], str]) -> Outcome:
    error = result.error if isinstance(result, Failure) else None
    return Outcome(_line(result, line, as_json, as_text), line, error, _is_exact(result))


def _is_exact(result: Result) -> bool:
    match result:
        case Decoded() | KBest():
            return result.certificate.exact
        case Samples():
            return result.exact
    return True


def _line(result: Result, line: int, as_json: bool, as_text: Callable[[Any], str]) -> str:
    """Return the record's line; a record without a name of its own has its line number."""
    if as_json:
        record = result.to_dict()
        return json_line(record | {"id": line} if record["id"] is None else record)
    return "\n" if isinstance(result, Failure) else as_text(result) + "\n"


def _decoded_text(result: Decoded) -> str:
    return " ".join(result.words)


def _kbest_text(result: KBest) -> str:
    return "\n".join(f"{h.log_weight:.6f}\t{' '.join(h.words)}" for h in result) + "\n"


def _samples_text(result: Samples) -> str:
    return "\n".join(f"{s.count}\t{s.log_weight:.6f}\t{' '.join(s.words)}" for s in result.samples) + "\n"


def _marginals_text(result: Marginals) -> str:
    slots = [" ".join(f"{word}:{prob:.4f}" for word, prob in slot[:TOP_WORDS]) for slot in result.slots]
    if result.spans:  # a lattice's slots are known by their nodes
        slots = [f"{a}-{b} {slot}" for (a, b), slot in zip(result.spans, slots, strict=True)]
    return "\t".join(slots)


def _limits(budget: float | None, max_states: int | None) -> Budget:
    limits = Budget.of(budget)
    return limits if max_states is None else dataclasses.replace(limits, states=max_states)


def decode(
    lm: Lm,
    channel: ChannelName,
    input: Input = "-",
    *,
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="The k best sequences instead of the best.")
    ] = None,
    method: MethodOption = "auto",
    objective: Annotated[
        str, typer.Option(help="map: the most probable sequence; mbr: the least expected word errors.")
    ] = "map",
    budget: BudgetOption = None,
    max_states: MaxStates = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exit 3 if an answer is not certified.")] = False,
    proof: ProofOption = None,
    no_end: NoEnd = False,
    keep: Keep = None,
    ambiguity: Ambiguity = None,
    distance: Distance = None,
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "record",
    ray: Ray = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the best word sequence for each observation, with the proof that it is.

    One line in, one line out, in order. With --json each line is an object with id, words, log_weight and
    certificate. A record that cannot be answered gives an empty line (with --json an error object) and a line
    on stderr; the others go on, and the exit status is 1.
    """
    source = Source(
        lm, channel, input, output, keep, ambiguity, distance, threads, json, quiet, resume, on_error, ray
    )
    kinds = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
    if objective not in kinds:
        raise typer.BadParameter(f"found '{objective}', expected map or mbr", param_hint="--objective")
    query = Query(kinds[objective], method, budget=_limits(budget, max_states), end=not no_end)
    if k is not None:
        query = dataclasses.replace(query, kind=TaskKind.KBEST, count=k)
    check_proof_options(proof, query, resume=resume, ray=ray)
    _run("decode", source, query, _decoded_text if k is None else _kbest_text, exact=exact, proof=proof)


def sample(
    lm: Lm,
    channel: ChannelName,
    input: Input = "-",
    *,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of draws per record.")] = 1,
    seed: Seed = None,
    method: MethodOption = "auto",
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            min=0.0,
            help="Seconds per record; then it is an error record (refine, paper: fewer draws).",
        ),
    ] = None,
    max_states: MaxStates = None,
    epsilon: Epsilon = None,
    no_end: NoEnd = False,
    keep: Keep = None,
    ambiguity: Ambiguity = None,
    distance: Distance = None,
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "record",
    ray: Ray = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw independent word sequences from the exact posterior of each observation.

    Text: count, log weight and words of each distinct draw, then an empty line. With --json one object
    a record.
    """
    source = Source(
        lm, channel, input, output, keep, ambiguity, distance, threads, json, quiet, resume, on_error, ray
    )
    chosen = choose_seed(seed, quiet, output, resume)
    limits = _limits(budget, max_states)
    if epsilon is not None and method in {"refine", "paper"}:
        raise typer.BadParameter(f"{method} adds nothing up; use --method full", param_hint="--epsilon")
    query = Query(TaskKind.SAMPLE, method, count=n, seed=chosen, budget=limits, end=not no_end)
    if epsilon is not None:
        query = dataclasses.replace(query, epsilon=epsilon)
    _run("sample", source, query, _samples_text)


def marginals(
    lm: Lm,
    channel: ChannelName,
    input: Input = "-",
    *,
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0.0, help="Seconds per record; then it is an error record."),
    ] = None,
    max_states: MaxStates = None,
    epsilon: Epsilon = None,
    no_end: NoEnd = False,
    keep: Keep = None,
    ambiguity: Ambiguity = None,
    distance: Distance = None,
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "record",
    ray: Ray = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Give each candidate's posterior probability at each position, and how far off it can be.

    Text: the most probable words of each position, positions separated by tabs. With --json all of them.
    """
    source = Source(
        lm, channel, input, output, keep, ambiguity, distance, threads, json, quiet, resume, on_error, ray
    )
    query = Query(TaskKind.MARGINALS, budget=_limits(budget, max_states), end=not no_end)
    if epsilon is not None:
        query = dataclasses.replace(query, epsilon=epsilon)
    _run("marginals", source, query, _marginals_text)


_EXAMPLE = "Example: echo '843 364 0' | hiddenite {} --lm corpus.arpa.gz --channel keypad"
EPILOGS = {
    "decode": _EXAMPLE.format("decode"),
    "sample": _EXAMPLE.format("sample -n 10 --seed 1"),
    "marginals": _EXAMPLE.format("marginals"),
}
