"""hiddenite align run: links of sentence pairs from a trained model, a record in, a record out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

import typer

from hiddenite.align.aligner import BATCH, Aligner
from hiddenite.align.answers import (
    DEFAULT_SAMPLES,
    DIRECTIONS,
    MARGINALS,
    METHODS,
    Alignment,
    PaperSteps,
    Question,
)
from hiddenite.align.bitext import Block as Lines
from hiddenite.align.bitext import bitext_blocks
from hiddenite.align.links import format_links
from hiddenite.align.proofs import AlignmentProof, proof_header
from hiddenite.align.symmetrize import DEFAULT
from hiddenite.cli.align_options import (
    BUDGET,
    BudgetOption,
    Direction,
    Seed,
    Source,
    SymmetrizeWith,
    Target,
    usage,
)
from hiddenite.cli.batch import Block, Job, OnError, Outcome, Ray, Resume, choose_seed, file_state, run_batch
from hiddenite.cli.common import AsJson, Output, Quiet, Threads, byte_progress, hush, json_line
from hiddenite.cli.proofs import ProofOption, written_proofs
from hiddenite.copies import here
from hiddenite.corpus import file_bytes
from hiddenite.proof import ProofWriter
from hiddenite.results import Failure

EPILOG = "Example: hiddenite align run --model en-fr.model en.txt fr.txt --json"
PAPER = PaperSteps()


def run(
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="What align train wrote.")],
    source: Source = "-",
    target: Target = None,
    *,
    direction: Direction = "both",
    symmetrize: SymmetrizeWith = DEFAULT,
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = "exact",
    k: Annotated[int, typer.Option("-k", min=1, help="The k best alignments, of one direction.")] = 1,
    marginals: Annotated[
        str | None,
        typer.Option("--marginals", help=f"Link probabilities, one of {', '.join(MARGINALS)}; with --json."),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=1, help="Exact draws behind the probabilities.")
    ] = DEFAULT_SAMPLES,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", min=0.0, max=1.0, help="Links by probability instead of best alignments."
        ),
    ] = None,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="Of --method paper.")
    ] = PAPER.iterations,
    step: Annotated[
        str, typer.Option("--step", help="Of --method paper: constant, harmonic or root.")
    ] = PAPER.step,
    scale: Annotated[
        float, typer.Option("--scale", min=0.0, help="Of --method paper: the first step.")
    ] = PAPER.scale,
    exactly_all: Annotated[
        bool,
        typer.Option(
            "--exactly-all/--any-number", help="Of --method paper: fertilities add up to all words."
        ),
    ] = True,
    budget: BudgetOption = BUDGET,
    max_states: Annotated[
        int | None, typer.Option("--max-states", min=1, help="The same in partial alignments.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exit 3 if an answer is not certified.")] = False,
    proof: ProofOption = None,
    seed: Seed = None,
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "record",
    ray: Ray = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Align sentence pairs with a trained model: one line of links a pair, source-target, counted from 0.

    With --json each line is an object with id, links, log_weight, certificate and probabilities. exact proves
    each best alignment; paper is the published algorithm; viterbi leaves fertilities out of the search.
    """
    hush(quiet)
    needs_seed = marginals == "samples" or (threshold is not None and marginals is None)
    chosen = choose_seed(seed, quiet, output, resume) if needs_seed else seed or 0
    paper = PaperSteps(iterations, step, scale, exactly_all)

    def make() -> Question:
        question = Question(
            method,
            direction,
            symmetrize,
            k,
            marginals,
            samples,
            threshold,
            budget,
            chosen,
            paper,
            max_states,
            proof is not None,
        )
        question.task()
        return question

    question = usage(make)
    if proof is not None and (resume or ray is not None):
        raise typer.BadParameter("it excludes --resume and --ray", param_hint="--proof")
    options = {"model": file_state(model), "seed": chosen, "json": json, "question": question}
    job = Job(
        "align run",
        options,
        output,
        resume,
        on_error,
        exact,
        uncertified_because="",
        ray=ray,
        processes=threads,
        files=(model,),
    )
    with (
        byte_progress("aligning", file_bytes([source]), quiet) as report,
        written_proofs(proof) as proofs,
    ):
        answerer = functools.partial(_answerer, model, question, json, threads if ray is None else 1, proofs)
        blocks = _blocks(bitext_blocks(source, target, BATCH, report))
        run_batch(job, "<stdin>" if source == "-" else source, blocks, answerer)


def _answerer(
    model: str, question: Question, as_json: bool, threads: int, proofs: ProofWriter | None
) -> Callable[[Block[Lines]], list[Outcome]]:
    """Load the aligner; return what answers a block of sentence pairs."""
    aligner = Aligner.load(here(model))
    if proofs is not None:
        proofs.begin(proof_header(here(model)))

    def answer(block: Block[Lines]) -> list[Outcome]:
        results = list(aligner.ask_block(block.item, question, threads=threads))
        outcomes = [outcome(one, as_json) for one in results]
        if proofs is None:
            return outcomes
        per_pair = sum(DIRECTIONS[question.direction])
        records = [(one.id, proof) for one in results for proof in _proofs(one, per_pair)]
        proofs.add(block.first * per_pair, records)
        return [_with_proof(*pair) for pair in zip(outcomes, results, strict=True)]

    return answer


def _proofs(result: Alignment | Failure, number: int) -> Sequence[AlignmentProof | str]:
    """Return what the proof file says of a sentence pair: a record for each direction."""
    return [result.error] * number if isinstance(result, Failure) else result.proofs


def _with_proof(found: Outcome, result: Alignment | Failure) -> Outcome:
    """Return the outcome, an error where a proof is missing."""
    proofs = () if isinstance(result, Failure) else result.proofs
    missing = next((one for one in proofs if one.error is not None), None)
    return (
        found if missing is None else found._replace(error=f"no proof, {missing.direction}: {missing.error}")
    )


def _blocks(pairs: Iterable[Lines]) -> Iterator[Block[Lines]]:
    for lines in pairs:
        size = lines.source.count(b"\n")
        yield Block(lines, lines.first_line - 1, size, lines.source + b"\0" + lines.target)


def outcome(result: Alignment | Failure, as_json: bool) -> Outcome:
    """Return a result as it is written, and what it counts as."""
    text = _text(result, as_json)
    if isinstance(result, Failure):
        return Outcome(text, result.id, result.error)
    return Outcome(text, result.id, None, result.exact)


def _text(result: Alignment | Failure, as_json: bool) -> str:
    if as_json:
        return json_line(result.to_dict())
    if isinstance(result, Failure):
        return "\n"
    if result.kbest:
        return "".join(f"{one.log_weight:.6f}\t{format_links(one.links)}\n" for one in result.kbest) + "\n"
    return format_links(result.links or ()) + "\n"
