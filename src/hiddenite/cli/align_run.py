"""hiddenite align run: links of sentence pairs from a trained model, a record in, a record out."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hiddenite.align.aligner import BATCH, Aligner
from hiddenite.align.answers import (
    DEFAULT_SAMPLES,
    DIRECTIONS,
    MARGINALS,
    METHODS,
    MODELS_OWN,
    STEPS,
    Alignment,
    PaperSteps,
    Question,
)
from hiddenite.align.bitext import Block as Lines
from hiddenite.align.bitext import bitext_blocks
from hiddenite.align.links import format_links
from hiddenite.align.proofs import AlignmentProof, proof_header
from hiddenite.align.symmetrize import DEFAULT
from hiddenite.cli.align_options import Asking, Bitexts
from hiddenite.cli.common import Json, Seed, json_line
from hiddenite.cli.progress import progress
from hiddenite.cli.proofs import Proofs, written_proofs
from hiddenite.errors import OptionError
from hiddenite.files.corpus import file_bytes
from hiddenite.jobs.batch import AnswerBlock, Block, Outcome, run_batch
from hiddenite.jobs.model_cache import local_path
from hiddenite.options import MISSING, argument, option, same
from hiddenite.proof import ProofWriter
from hiddenite.results import Failure

PAPER = PaperSteps()
_OF_PAPER = {"section": "Of --method paper", "when": {"method": ("paper",)}}


@dataclass(frozen=True, kw_only=True)
class RunOptions(Bitexts, Asking, Proofs, Json, Seed):
    """The options of align run."""

    source: str = argument("-", "Source text, or 'source ||| target' lines; - is stdin.", "[SRC]")
    model: str = option(MISSING, "What align train wrote.", metavar="MODEL")
    symmetrize: str | None = same(  # type: ignore[assignment]
        Asking, "symmetrize", default=None, help=f"How both directions become one. [default {DEFAULT}]"
    )
    method: str | None = option(
        None,
        "Best alignments instead of links by probability: exact proves each; paper is the published "
        "algorithm; viterbi leaves fertilities out of the search; hmm has none. exact if another option "
        "asks for best alignments.",
        choices=tuple(METHODS),
    )
    k: int = option(1, "The k best alignments.", "-k", least=1, when={"direction": ("forward", "reverse")})
    marginals: str | None = option(
        None,
        "Link probabilities: of exact draws, of Gibbs sweeps, or of the chain.",
        choices=MARGINALS,
        when={"json": (True,)},
    )
    samples: int = option(DEFAULT_SAMPLES, "Exact draws behind the probabilities.", least=1)
    threshold: float | None = option(
        None, "Least probability of a link; what suited the training text if not given.", least=0, most=1
    )
    iterations: int = option(PAPER.iterations, "Steps.", least=1, **_OF_PAPER)
    step: str = option(PAPER.step, "How steps become smaller.", choices=tuple(STEPS), **_OF_PAPER)
    scale: float = option(PAPER.scale, "The first step.", least=0, **_OF_PAPER)
    exactly_all: bool = option(
        True, "Fertilities add up to all words.", "--exactly-all/--any-number", **_OF_PAPER
    )
    max_states: int | None = option(
        None, "Partial alignments that the search may look at.", least=1, when={"method": (None, "exact")}
    )
    exact: bool = option(False, "Exit with status 3 if an answer is not certified.")

    def chosen_method(self) -> str:
        """Return the method: threshold unless something asks for best alignments."""
        if self.method is not None:
            return self.method
        best = (self.k > 1, self.proof is not None, self.max_states is not None, self.symmetrize is not None)
        asks = any(best) or (self.exact and self.threshold is None)
        return "exact" if asks else "threshold"

    def draws(self) -> bool:
        """Tell whether exact draws are needed."""
        by_probability = self.threshold is not None or self.chosen_method() == "threshold"
        return self.marginals in ("samples", "gibbs") or (by_probability and self.marginals is None)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what is only for draws where there are none."""
        super().check_effects(given)
        for name in ("seed", "samples"):
            if name in given and not self.draws():
                raise OptionError(name, "has no effect on best alignments without --marginals samples")

    def question(self) -> Question:
        """Return what is asked of each sentence pair; a threshold of None is the model's own."""
        paper = PaperSteps(self.iterations, self.step, self.scale, self.exactly_all)
        method = self.chosen_method()
        # Links by probability rest on draws; without a seed they are the same draws every time.
        seed = 0 if method == "threshold" and self.seed is None and self.marginals is None else None
        question = Question(
            method="exact" if method == "threshold" else method,
            direction=self.direction,
            symmetrize=self.symmetrize or DEFAULT,
            k=self.k,
            marginals=self.marginals,
            samples=self.samples,
            threshold=MODELS_OWN if method == "threshold" and self.threshold is None else self.threshold,
            budget=self.budget,
            seed=seed if seed is not None else self.choose_seed(self.seed) if self.draws() else 0,
            paper=paper,
            max_states=self.max_states,
            proof=self.proof is not None,
        )
        question.task()
        return question


def run(options: RunOptions) -> int:
    """Align sentence pairs with a trained model: one line of links a pair, source-target, counted from 0.

    Links are those whose probability reaches --threshold. --method, -k,
    --symmetrize, --max-states, --exact and --proof ask for best alignments instead.
    With --json each line is an object with id, links, log_weight, certificate and probabilities.
    """
    options.hush()
    question = options.question()
    results = {"seed": question.seed}
    job = options.job(
        "align run", (options.model,), exact=options.exact, results=results, uncertified_because=""
    )
    with (
        progress("aligning", file_bytes([options.source]), options.quiet) as report,
        written_proofs(options.proof) as proofs,
    ):
        answerer = functools.partial(_answerer, options.model, question, options.json, proofs)
        blocks = _blocks(bitext_blocks(options.source, options.target, BATCH, report))
        return run_batch(job, "<stdin>" if options.source == "-" else options.source, blocks, answerer)


def _answerer(
    model: str, question: Question, as_json: bool, proofs: ProofWriter | None
) -> AnswerBlock[Lines]:
    """Load the aligner; return what answers a block of sentence pairs."""
    aligner = Aligner.load(local_path(model))
    if proofs is not None:
        proofs.begin(proof_header(local_path(model)))

    def answer(block: Block[Lines], threads: int) -> list[Outcome]:
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
    error = None if as_json or result.kbest or result.links is not None else _why_no_links(result)
    return Outcome(text, result.id, error, result.exact)


def _why_no_links(result: Alignment) -> str:
    """Return why a line is empty that does not mean «no links»."""
    note = result.sampling.note if result.sampling is not None else None
    return f"no links: {note or 'the budget ended too soon'}; raise --budget"


def _text(result: Alignment | Failure, as_json: bool) -> str:
    if as_json:
        return json_line(result.to_dict())
    if isinstance(result, Failure):
        return "\n"
    if result.kbest:
        return "".join(f"{one.log_weight:.6f}\t{format_links(one.links)}\n" for one in result.kbest) + "\n"
    return format_links(result.links or ()) + "\n"


_EXAMPLE = "hiddenite align run --model en-fr.model en.txt fr.txt --json"
COMMANDS = {"run": (run, RunOptions, _EXAMPLE)}
