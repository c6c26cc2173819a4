"""hiddenite lm mix, prune, filter, limit, quantize, sample, compare: models made from models, and asked.

What these commands need is loaded when they run, not with ``hiddenite lm score``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hiddenite.cli.common import Json, OnlyJson, Output, OutputFile, Seed, json_line, random_seed, say
from hiddenite.cli.lm_options import Limited, Unknown, limited, read_weights
from hiddenite.errors import OptionError
from hiddenite.files.corpus import ChunkReader
from hiddenite.files.output import atomic_output
from hiddenite.ngram import NgramModel
from hiddenite.ngram_training import read_vocabulary
from hiddenite.options import MISSING, Options, argument, option

DRAWN_AT_ONCE = 1000  # sentences


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(Unknown, OutputFile):
    """The options of a command that makes a model from one."""

    lm: str = argument(MISSING, "ARPA file, plain or compressed; or a compiled model.", "LM")

    def load(self) -> NgramModel:
        """Return the model."""
        self.hush()
        return NgramModel.load(self.lm, self.unk_log10)


def _text(path: str) -> tuple[bytes, str]:
    """Return a whole text and its name for messages."""
    with ChunkReader(path) as reader:
        return b"".join(iter(reader, b"")), reader.name


# ------------------------------------------------------------------------- mix


@dataclass(frozen=True, kw_only=True)
class MixOptions(Unknown, OutputFile):
    """The options of lm mix."""

    lm: tuple[str, ...] = argument(MISSING, "ARPA files or compiled models, two or more.", "LM...")
    weights: str = option(
        "", "Weights of the models; divided by their sum.", metavar="X,X,...", when={"tune": (None,)}
    )
    tune: str | None = option(
        None,
        "Find the weights under which this text is most probable; neither: equal weights.",
        metavar="TEXT",
    )

    def given_weights(self) -> list[float]:
        """Return the weights of the command line; equal ones if there are none."""
        return read_weights("weights", self.weights) if self.weights else [1.0] * len(self.lm)


def mix(options: MixOptions) -> None:
    """Mix models into one ARPA file: p(w | s) = sum over m of weight_m p_m(w | s).

    The file lists all n-grams of the models, each with its exact mixed probability; back-off weights make
    contexts sum to one. With --tune the weights are found by expectation-maximisation and shown.
    """
    from hiddenite import ngram_tools  # noqa: PLC0415

    options.hush()
    weights = options.given_weights()
    models = [NgramModel.load(path, options.unk_log10) for path in options.lm]
    if options.tune is not None:
        found = ngram_tools.tune_weights(models, *_text(options.tune))
        weights = list(found.weights)
        shown = ", ".join(f"{weight:.4f}" for weight in weights)
        say(f"weights {shown}; perplexity of {options.tune}: {found.perplexity:.2f}", options.quiet)
    ngram_tools.mix(models, weights).save(options.output)


# ----------------------------------------------------------------------- prune

_HISTORIES = ("text", "exact", "stolcke")


@dataclass(frozen=True, kw_only=True)
class PruneOptions(ConvertOptions):
    """The options of lm prune."""

    entropy: float | None = option(
        None,
        "Leave out n-grams whose loss raises perplexity by less than this fraction, such as 1e-8.",
        metavar="X",
        least=0,
        when={"keep": (None,)},
    )
    keep: int | None = option(None, "Leave at most so many n-grams.", least=1)
    histories: str = option(
        "text",
        "How often contexts occur: as in new text, in the model's own stationary distribution, or by "
        "Stolcke's chain rule.",
        choices=_HISTORIES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.entropy is None and self.keep is None:
            raise OptionError("entropy", "is missing; give --entropy X or --keep N")


def prune(options: PruneOptions) -> None:
    """Leave out the n-grams that the model needs least, by relative entropy (Stolcke 1998).

    An n-gram stays where one that stays needs it as its context or as its suffix. Contexts that lose
    n-grams get the back-off weights that make them sum to one again.
    """
    from hiddenite import ngram_tools  # noqa: PLC0415

    model = options.load()
    if options.keep is None:
        pruned = ngram_tools.prune(model, options.entropy or 0.0, options.histories)
    else:
        pruned, threshold = ngram_tools.prune_to(model, options.keep, options.histories)
        say(f"threshold {threshold:.3g}", options.quiet)
    say(f"{sum(pruned.ngram_counts):,} of {sum(model.ngram_counts):,} n-grams left", options.quiet)
    pruned.save(options.output)


# -------------------------------------------------------------- filter, limit


@dataclass(frozen=True, kw_only=True)
class FilterOptions(ConvertOptions):
    """The options of lm filter."""

    vocabulary: str = option(MISSING, "Words to keep, separated by white space.", metavar="FILE")
    renormalize: bool = option(
        True, "Divide by what is left, so that contexts sum to one.", "--renormalize/--no-renormalize"
    )


def filter_model(options: FilterOptions) -> None:
    """Keep the n-grams of some words alone.

    The result is the model under the condition that all words are among them; with --no-renormalize
    probabilities stay as they are, and contexts sum to less than one.
    """
    from hiddenite import ngram_tools  # noqa: PLC0415

    words = read_vocabulary(options.vocabulary)
    ngram_tools.filter_vocabulary(options.load(), words, options.renormalize).save(options.output)


@dataclass(frozen=True, kw_only=True)
class LimitOptions(ConvertOptions):
    """The options of lm limit."""

    order: int = option(MISSING, "Longest n-grams to keep.", least=1)


def limit(options: LimitOptions) -> None:
    """Drop the longer n-grams of a model."""
    from hiddenite import ngram_tools  # noqa: PLC0415

    ngram_tools.limit(options.load(), options.order).save(options.output)


@dataclass(frozen=True, kw_only=True)
class QuantizeOptions(ConvertOptions):
    """The options of lm quantize."""

    bits: int = option(
        12, "Round the numbers of each order to 2^N values; up to 8 take a byte each.", least=4, most=16
    )


def quantize(options: QuantizeOptions) -> None:
    """Write a model as a small file: numbers rounded to a few values, and nothing that can be computed.

    Every command that takes an ARPA file takes it; bounds are those of the rounded model, so proofs hold for
    it. `lm compile --compact` writes the same kind of file without rounding.
    """
    from hiddenite import ngram_tools  # noqa: PLC0415

    ngram_tools.quantize(options.load(), options.bits).compact(options.output)


# ------------------------------------------------------------- sample, compare


@dataclass(frozen=True, kw_only=True)
class SampleOptions(Unknown, Output, Seed, Json):
    """The options of lm sample."""

    lm: str = argument(MISSING, "ARPA file, plain or compressed; or a compiled model.", "LM")
    n: int = option(10, "Sentences to draw.", "-n", least=1)
    prefix: str = option("", "Complete this beginning of a sentence.", metavar="WORDS")
    max_words: int = option(1000, "Stop a sentence after so many words.", least=1)
    vocabulary: str | None = option(
        None, "Draw these words only: p(word | words before) given that it is one of them.", metavar="FILE"
    )


def sample(options: SampleOptions) -> None:
    """Draw sentences from a model, independently and exactly; one a line.

    With --prefix they are drawn from p(rest | prefix). In JSON, log_prob is that of what was drawn.
    """
    from hiddenite import ngram_tools  # noqa: PLC0415

    options.hush()
    model = limited(NgramModel.load(options.lm, options.unk_log10), options.vocabulary, renormalize=True)
    seed = options.seed
    if seed is None:
        seed = random_seed()
        say(f"seed {seed}", options.quiet)
    with atomic_output(options.output) as out:
        for first in range(0, options.n, DRAWN_AT_ONCE):
            count = min(DRAWN_AT_ONCE, options.n - first)
            drawn = ngram_tools.draw_sentences(
                model, count, seed, options.prefix, max_words=options.max_words, first=first
            )
            lines = (
                json_line(one.to_dict()) if options.json else " ".join(one.words) + "\n" for one in drawn
            )
            out.write("".join(lines).encode())


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Limited, Output, OnlyJson):
    """The options of lm compare."""

    a: str = argument(MISSING, "The first model.", "A")
    b: str = argument(MISSING, "The second model.", "B")
    text: str = argument("-", "Text, one sentence a line; - is stdin.", "[TEXT]")


def compare(options: CompareOptions) -> None:
    """Compare two models on a text: totals of both, and the difference per token with its standard error.

    The difference is mean ln p_B - ln p_A, its error is over sentences; perplexity_ratio below 1 means that B
    is better.
    """
    from hiddenite import ngram_tools  # noqa: PLC0415

    options.hush()
    models = [options.load(path) for path in (options.a, options.b)]
    text, name = _text(options.text)
    record = ngram_tools.compare(models[0], models[1], text, name).to_dict()
    with atomic_output(options.output) as out:
        out.write(json_line(record).encode())


COMMANDS: dict[str, tuple[Any, type[Options], str]] = {
    "mix": (mix, MixOptions, "hiddenite lm mix a.arpa b.arpa --tune heldout.txt --output mixed.arpa.gz"),
    "prune": (prune, PruneOptions, "hiddenite lm prune corpus.arpa --entropy 1e-8 --output small.arpa"),
    "filter": (
        filter_model,
        FilterOptions,
        "hiddenite lm filter corpus.arpa --vocabulary words.txt --output filtered.arpa",
    ),
    "limit": (limit, LimitOptions, "hiddenite lm limit corpus.arpa --order 2 --output bigrams.arpa"),
    "quantize": (quantize, QuantizeOptions, "hiddenite lm quantize corpus.arpa --output corpus.hlm"),
    "sample": (sample, SampleOptions, "hiddenite lm sample corpus.arpa -n 5 --prefix 'the dog' --seed 1"),
    "compare": (compare, CompareOptions, "hiddenite lm compare a.arpa b.arpa heldout.txt"),
}
