"""hiddenite decode, sample, marginals: exact inference on one record a line."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from hiddenite._core import TaskKind
from hiddenite.channel import MAP_NUMBERS, WITH_FILE, Channel, TypoRates, channel_from_name
from hiddenite.cli.common import Batch, Json, Seed
from hiddenite.cli.infer_output import (
    decoded_text,
    kbest_text,
    marginals_text,
    outcome,
    samples_text,
    sure_outcome,
)
from hiddenite.cli.progress import progress
from hiddenite.cli.proofs import Proofs, proof_of, written_proofs
from hiddenite.cli.weights import WeightedModel
from hiddenite.errors import OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes
from hiddenite.inference import BATCH, answer_lines
from hiddenite.jobs.batch import AnswerBlock, Block, Outcome, line_records, run_batch
from hiddenite.jobs.model_cache import local_path
from hiddenite.mixture_inference import METHODS as MIXTURE_METHODS
from hiddenite.ngram import NgramModel
from hiddenite.options import MISSING, argument, option
from hiddenite.proof import ProofWriter, header_of
from hiddenite.query import EPSILON, METHODS, Budget, Query
from hiddenite.results import Failure, WordAnswer
from hiddenite.vocabulary import Vocabulary

OBJECTIVES = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
CHANNEL = "Channel"
GUESSING = ("typo", "confusion")  # channels whose candidates are all words that come near
KEEP = 16  # of these; more cost time and change hardly an answer


@dataclass(frozen=True, kw_only=True)
class InferOptions(WeightedModel, Json, Batch):
    """What decode, sample and marginals share."""

    input: str = argument("-", "One observation a line; - is stdin.", "[INPUT]")
    channel: str = option(
        MISSING,
        "keypad, typo, slots, confusion:FILE, map:FILE or classes:FILE.",
        metavar="CHANNEL",
        section=CHANNEL,
    )
    keep: int | None = option(
        None,
        "Only the N candidates of highest channel weight per position; 0 keeps all. By default 16 of "
        "typo and confusion, all of the others.",
        least=0,
        section=CHANNEL,
    )
    ambiguity: float | None = option(
        None,
        "The constant k of the keypad; larger is less noisy.",
        least=0,
        section=CHANNEL,
        when={"channel": ("keypad",)},
    )
    distance: int | None = option(
        None, "Most edits per word.", least=0, section=CHANNEL, when={"channel": ("typo",)}
    )
    error_rate: float | None = option(
        None, "Share of mistyped characters.", least=0, most=1, section=CHANNEL, when={"channel": ("typo",)}
    )
    unknown_cost: float | None = option(
        None, "What a character of an unknown word costs (typo, confusion).", least=0, section=CHANNEL
    )
    map_numbers: str = option(
        "probabilities", "What the numbers of a map are.", choices=tuple(MAP_NUMBERS), section=CHANNEL
    )
    map_joiner: str | None = option(
        None,
        "What joins the words of a map's alternatives of several words: _ for ice_cream.",
        metavar="TEXT",
        section=CHANNEL,
    )
    max_states: int | None = option(None, "States that the search may look at, per record.", least=1)
    budget: float | None = option(None, "Seconds per record; then the best so far and its gap.", least=0)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse the cost of unknown words where a channel has none."""
        super().check_effects(given)
        self.need_guessing("unknown_cost", given)
        self._check_mixture(given)
        kind = self.channel.partition(":")[0]
        for name in ("map_numbers", "map_joiner"):
            if name in given and kind != "map":
                raise OptionError(name, f"has no effect with --channel {kind}; it needs map:FILE")

    def _check_mixture(self, given: Collection[str]) -> None:
        if self.mix_lm is None:
            return
        method = getattr(self, "method", "auto")
        if method not in MIXTURE_METHODS:
            raise OptionError("method", f"{method} is for one model; with --mix-lm use auto or full")
        if "epsilon" in given:
            raise OptionError("epsilon", "has no effect with --mix-lm, whose sums leave nothing out")

    def need_guessing(self, name: str, given: Collection[str]) -> None:
        """Refuse an option of channels that see words."""
        kind = self.channel.partition(":")[0]
        if name in given and kind not in GUESSING:
            raise OptionError(name, f"has no effect with --channel {kind}; it needs typo or confusion")

    def kept(self) -> int | None:
        """Return how many candidates of a position stay; None: all."""
        kind = self.channel.partition(":")[0]
        keep = (KEEP if kind in GUESSING else 0) if self.keep is None else self.keep
        return keep or None

    def limits(self) -> Budget:
        """Return the budget of a record."""
        limits = Budget.of(self.budget)
        return limits if self.max_states is None else dataclasses.replace(limits, states=self.max_states)

    def run(
        self,
        command: str,
        query: Query,
        as_text: Callable[[Any], str],
        *,
        exact: bool = False,
        proof: str | None = None,
    ) -> int:
        """Answer each line; return the exit status."""
        self.hush()
        query.task()  # a bad option is an error before the model is loaded
        kind, _, table = self.channel.partition(":")
        files = (*self.model_files(), table) if kind in WITH_FILE else self.model_files()
        job = self.job(command, files, exact=exact, results={"seed": query.seed})
        with (
            progress(command, file_bytes([self.input]), self.quiet) as report,
            ChunkReader(self.input, report) as reader,
            written_proofs(proof) as proofs,
        ):
            make = functools.partial(_answerer, self, query, as_text, proofs)
            return run_batch(job, reader.name, line_records(reader, BATCH), make)


def _channel(options: InferOptions, vocabulary: Vocabulary) -> Channel:
    kind, colon, file = options.channel.partition(":")
    return channel_from_name(
        kind + colon + local_path(file),
        vocabulary,
        keep=options.kept(),
        ambiguity=options.ambiguity,
        distance=options.distance,
        rates=None if options.error_rate is None else TypoRates(error_rate=options.error_rate),
        unknown_cost=options.unknown_cost,
        numbers=options.map_numbers if kind == "map" else None,
        joiner=options.map_joiner,
    )


_Ask = Callable[[Block[bytes], Query, int], list[WordAnswer | Failure]]


def _asker(options: InferOptions) -> tuple[_Ask, NgramModel | None, Channel]:
    """Load what is asked; return the question to a block of lines, the one model, and the channel."""
    if options.mix_lm is not None:
        weighed = options.load_weighed_mixture()
        several = options.weigh(_channel(options, weighed.mixture.vocabulary))
        return (
            lambda block, query, threads: weighed.answer_lines(
                several, block.item.split(b"\n")[: block.size], query, block.first, threads
            ),
            None,
            several,
        )
    model = options.load_model()
    channel = options.weigh(_channel(options, model.vocabulary))
    return (
        lambda block, query, threads: answer_lines(
            model, channel, block.item, query, first_record=block.first, threads=threads
        ),
        model,
        channel,
    )


def _answerer(
    options: InferOptions, query: Query, as_text: Callable[[Any], str], proofs: ProofWriter | None
) -> AnswerBlock[bytes]:
    """Load model and channel; return what answers a block of lines."""
    ask, model, channel = _asker(options)
    if proofs is not None:
        assert model is not None
        proofs.begin(header_of(model))

    def answer(block: Block[bytes], threads: int) -> list[Outcome]:
        results = ask(block, query, threads)
        lines = range(block.first + 1, block.first + 1 + len(results))
        least = getattr(options, "min_probability", None)
        if least is not None:
            posteriors = ask(block, dataclasses.replace(query, kind=TaskKind.MARGINALS), threads)
            rows = zip(block.item.split(b"\n")[: block.size], results, posteriors, lines, strict=True)
            return [
                sure_outcome(text, best, posterior, line=line, least=least, as_json=options.json)
                for text, best, posterior, line in rows
            ]
        outcomes = [outcome(*pair, options.json, as_text) for pair in zip(results, lines, strict=True)]
        if proofs is None or model is None:
            return outcomes
        texts = block.item.split(b"\n")[: block.size]
        found = [proof_of(model, channel, query.end, *pair) for pair in zip(texts, results, strict=True)]
        names = [line if one.id is None else one.id for line, one in zip(lines, results, strict=True)]
        proofs.add(block.first, list(zip(names, found, strict=True)))
        return [
            one._replace(error=proof) if isinstance(proof, str) else one
            for one, proof in zip(outcomes, found, strict=True)
        ]

    return answer


# -------------------------------------------------------------------- commands


@dataclass(frozen=True, kw_only=True)
class DecodeOptions(InferOptions, Proofs):
    """The options of decode."""

    k: int | None = option(
        None,
        "The k best sequences instead of the best.",
        "-k",
        least=1,
        when={"objective": ("map",), "proof": (None,)},
    )
    method: str = option(
        "auto", "How the best is found.", choices=tuple(METHODS), when={"objective": ("map",)}
    )
    objective: str = option(
        "map",
        "map: the most probable sequence; mbr: the least expected word errors.",
        choices=tuple(OBJECTIVES),
        when={"proof": (None,)},
    )
    min_probability: float | None = option(
        None,
        "Keep a word as it was observed if what replaces it is less probable (typo, confusion).",
        least=0,
        most=1,
        when={"k": (None,), "objective": ("map",), "proof": (None,)},
    )
    exact: bool = option(False, "Exit with status 3 if an answer is not certified.")

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse a least probability where nothing observed could stay, and a temperature of maxima."""
        super().check_effects(given)
        self.need_guessing("min_probability", given)
        if "temperature" in given and self.objective == "map" and self.min_probability is None:
            raise OptionError("temperature", "has no effect on what is best; it needs objective mbr")


def decode(options: DecodeOptions) -> int:
    """Find the best word sequence for each observation, with the proof that it is.

    One line in, one line out, in order. With --json each line is an object with id, words, log_weight and
    certificate. A record that cannot be answered gives an empty line (with --json an error object) and a line
    on stderr; the others are answered, and the exit status is 1. With --min-probability P, words stay as they
    were observed where the best sequence's word has a posterior probability below P; the objects have the
    text that this gives, and the probabilities.
    """
    query = Query(
        OBJECTIVES[options.objective], options.method, budget=options.limits(), end=not options.no_end
    )
    if options.k is not None:
        query = dataclasses.replace(query, kind=TaskKind.KBEST, count=options.k)
    as_text = decoded_text if options.k is None else kbest_text
    return options.run("decode", query, as_text, exact=options.exact, proof=options.proof)


_EPSILON = "Share of all weight that sums may leave out; 0 leaves nothing out."


@dataclass(frozen=True, kw_only=True)
class SampleOptions(InferOptions, Seed):
    """The options of sample."""

    n: int = option(1, "Number of draws per record.", "-n", least=1)
    method: str = option("auto", "How it is drawn.", choices=tuple(METHODS))
    budget: float | None = option(
        None, "Seconds per record; then an error record (refine, paper: fewer draws).", least=0
    )
    epsilon: float = option(EPSILON, _EPSILON, least=0, most=1, when={"method": ("auto", "full")})


def sample(options: SampleOptions) -> int:
    """Draw independent word sequences from the exact posterior of each observation.

    Text: count, log weight and words of each distinct draw, then an empty line. With --json one object
    a record.
    """
    query = Query(
        TaskKind.SAMPLE,
        options.method,
        count=options.n,
        seed=options.choose_seed(options.seed),
        budget=options.limits(),
        end=not options.no_end,
        epsilon=options.epsilon,
    )
    return options.run("sample", query, samples_text)


@dataclass(frozen=True, kw_only=True)
class MarginalsOptions(InferOptions):
    """The options of marginals."""

    budget: float | None = option(None, "Seconds per record; then an error record.", least=0)
    epsilon: float = option(EPSILON, _EPSILON, least=0, most=1)


def marginals(options: MarginalsOptions) -> int:
    """Give each candidate's posterior probability at each position, and how far off it can be.

    Text: the most probable words of each position, positions separated by tabs. With --json all of them.
    """
    query = Query(
        TaskKind.MARGINALS, budget=options.limits(), end=not options.no_end, epsilon=options.epsilon
    )
    return options.run("marginals", query, marginals_text)


_EXAMPLE = "echo '843 364 0' | hiddenite {} --lm corpus.arpa.gz --channel keypad"
COMMANDS = {
    "decode": (decode, DecodeOptions, _EXAMPLE.format("decode")),
    "sample": (sample, SampleOptions, _EXAMPLE.format("sample -n 10 --seed 1")),
    "marginals": (marginals, MarginalsOptions, _EXAMPLE.format("marginals")),
}
