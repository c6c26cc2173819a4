"""hiddenite tag train: a tagger from tagged text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite.cli.common import OutputFile, say
from hiddenite.cli.progress import progress
from hiddenite.cli.tag_run import warned_of_glue
from hiddenite.errors import FormatError, OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes
from hiddenite.options import argument, option, options_of, same
from hiddenite.tag.annotation import LabelledSentence
from hiddenite.tag.choice import chooses as chooses_by_default
from hiddenite.tag.formats import (
    COLUMNS,
    FORMATS,
    NOT_ANNOTATED,
    TaggedSentence,
    format_of,
    read_records,
    read_tagged,
    untagged,
)
from hiddenite.tag.knowledge import Knowledge, read_dictionary
from hiddenite.tag.model import OrderTrial
from hiddenite.tag.options import GUESSERS, MAX_ORDER, TaggerOptions
from hiddenite.tag.projected import read_projected
from hiddenite.tag.raw_text import train_with_raw
from hiddenite.tag.tagger import Tagger

AUTO_ORDERS = range(2, 7)
DEFAULT_ORDER = 3
RECIPES: dict[str, Callable[..., TaggerOptions]] = {"best": TaggerOptions, "tnt": TaggerOptions.tnt}
RECIPE = "Changes of the recipe"
_CHANGE: dict[str, Any] = {"default": None, "section": RECIPE, "when": {}}


@dataclass(frozen=True, kw_only=True)
class TrainOptions(OutputFile):
    """The options of tag train."""

    tagged: tuple[str, ...] = argument(
        (),
        "word TAB tag, empty lines between sentences; or CoNLL-U. A tag _ is not annotated. May be left out"
        " with --projected.",
        "[TAGGED]...",
    )
    raw: tuple[str, ...] = option(
        (),
        "Raw text of the language, words by blanks: classes of words that occur alike; again for more files.",
        metavar="TEXT",
    )
    lexicon: str | None = option(
        None, "Dictionary: word TAB the tags that it can have, by blanks.", metavar="FILE"
    )
    lexicon_rule: str = option(
        "soft",
        "soft: what the dictionary says is weighed; hard: a word has no tags but those listed or seen.",
        choices=("soft", "hard"),
    )
    projected: str | None = option(
        None,
        "Soft labels that `align project` wrote (TSV, CoNLL-U, or JSON lines, which say most).",
        metavar="FILE",
    )
    order: str | None = option(
        None,
        "Longest n-grams of tags, 1 to 9; auto: by held-out text. By default auto for context emissions and"
        " fewer than 5,000 sentences, else 3.",
        metavar="N|auto",
    )
    column: str = option("xpos", "CoNLL-U column of the tags.", choices=COLUMNS)
    format: str = option("auto", "Of the text; auto goes by the file's name.", choices=FORMATS)
    recipe: str = option(
        "best", "best, or tnt (Brants 2000): what the options below are by default.", choices=tuple(RECIPES)
    )
    emissions: str | None = same(TaggerOptions, "emissions", **_CHANGE)
    parts: str | None = same(TaggerOptions, "parts", **_CHANGE)
    transitions: str | None = same(TaggerOptions, "transitions", **_CHANGE)
    lexicalize: int | None = same(TaggerOptions, "lexicalize", **_CHANGE)
    guesser: str | None = same(TaggerOptions, "guesser", **_CHANGE, choices=GUESSERS)
    rare: int | None = same(TaggerOptions, "rare", **_CHANGE)
    guess_weight: float | None = same(TaggerOptions, "guess_weight", **_CHANGE)
    floor: float | None = same(TaggerOptions, "floor", **_CHANGE)
    suffix_length: int | None = same(TaggerOptions, "suffix_length", **_CHANGE)
    shapes: bool = same(TaggerOptions, "shapes", section=RECIPE, when={})
    theta: float | None = same(TaggerOptions, "theta", **_CHANGE)
    tag_dictionary: bool = same(TaggerOptions, "tag_dictionary", section=RECIPE)
    seed: int | None = same(TaggerOptions, "seed", **_CHANGE)
    normal_form: str | None = same(TaggerOptions, "normal_form", **_CHANGE)

    def tagger_options(self) -> TaggerOptions:
        """Return the recipe with its changes."""
        names = {field.name for field in dataclasses.fields(TaggerOptions)} - {"order"}
        given = {name: getattr(self, name) for name in names & set(vars(self))}
        changes = {name: value for name, value in given.items() if value is not None and value is not False}
        return dataclasses.replace(RECIPES[self.recipe](order=self._fixed_order()), **changes)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what has no effect on the recipe either."""
        super().check_effects(given)
        if "lexicon_rule" in given and self.lexicon is None:
            raise OptionError("lexicon-rule", "has no effect without --lexicon")
        if not self.tagged and self.projected is None:
            raise OptionError("TAGGED", "is missing; give tagged text, or --projected FILE")
        if self.tagger_options().emissions != "context":
            for name in ("raw", "lexicon", "projected"):
                if name in given:
                    raise OptionError(name, "has no effect with generative emissions")
        self.tagger_options().check_effects(
            [n for n in given if n in options_of(TaggerOptions) and n != "order"]
        )

    def _fixed_order(self) -> int:
        """Return the order, a valid one if it is still to be chosen."""
        if self.order is None:
            return DEFAULT_ORDER
        if self.order == "auto":
            return AUTO_ORDERS[-1]
        if not self.order.isdecimal() or not 1 <= int(self.order) <= MAX_ORDER:
            raise OptionError("order", f"is '{self.order}', expected 1 to {MAX_ORDER} or auto")
        return int(self.order)


def train(options: TrainOptions) -> None:
    """Train a tagger from tagged text.

    With --order auto and context emissions, order and settings are chosen by cross-validation on the text;
    with generative ones the orders 2 to 6 are tried on a held-out tenth. Each trial's accuracy and seconds
    are shown on stderr, and the best is trained on all of the text. With --raw it is also tried whether the
    classes of words help, and whether the tagger can learn from its own answers on the raw text.
    """
    options.hush()
    recipe = options.tagger_options()
    sentences: list[LabelledSentence] = []
    if options.tagged:
        sentences += read_all(options.tagged, options.format, options.column, options.quiet)
    size = len(sentences)
    if options.projected is not None:
        sentences += read_projected(options.projected, column=options.column)
    chooses = options.order == "auto" or (options.order is None and chooses_by_default(recipe, size))
    tagger = _train(options, sentences, chooses)
    if chooses:
        say(f"order {tagger.order} is chosen", options.quiet)
    formats = {_format(path, options.format) for path in (*options.tagged, options.projected) if path}
    about = {**tagger.model.training, "formats": sorted(formats)}
    if "conllu" in formats:
        about["column"] = options.column
    tagger = Tagger(dataclasses.replace(tagger.model, training=about))
    tagger.save(options.output)


def _train(options: TrainOptions, sentences: Sequence[LabelledSentence], chooses: bool) -> Tagger:
    """Train with all that is given."""
    recipe = options.tagger_options()
    report = None if options.quiet else _show_trial
    dictionary = None if options.lexicon is None else read_dictionary(options.lexicon, recipe.normal_form)
    knowledge = Knowledge(None, dictionary, options.lexicon_rule == "hard")
    if options.raw:
        known = frozenset(word for sentence in sentences for word, _ in sentence)
        raw = [words for path in options.raw for words in _read_raw(path, known, options.quiet)]
        return train_with_raw(sentences, raw, recipe, knowledge, choose=chooses, on_trial=report)
    if chooses:
        return Tagger.choose_order(sentences, recipe, AUTO_ORDERS, report, knowledge)
    return Tagger.train_with(sentences, recipe, knowledge)


def _read_raw(path: str, known: frozenset[str], quiet: bool) -> Iterator[Sequence[str]]:
    """Give the sentences of a raw text."""
    with progress("reading", file_bytes([path]), quiet) as report, ChunkReader(path, report) as reader:
        records = read_records(reader, "plain")
        for record in warned_of_glue(
            records, known, reader.name, "set it off by blanks, as in the tagged text"
        ):
            if record.fault is not None:
                raise FormatError(reader.name, record.line, record.fault)
            yield record.words


def _format(path: str, chosen: str) -> str:
    return format_of(path, "tsv") if chosen == "auto" else chosen


def _show_trial(trial: OrderTrial) -> None:
    setting = f" ({trial.setting})" if trial.setting else ""
    part = "held-out words" if trial.on_all else "first held-out words, not tried on more"
    say(f"order {trial.order}{setting}: {100 * trial.accuracy:.2f} % of the {part}, {trial.seconds:.1f} s")


def read_all(paths: tuple[str, ...], file_format: str, column: str, quiet: bool) -> Iterator[TaggedSentence]:
    """Give the sentences of all files; an error if there is no word at all."""
    empty = True
    is_tagged = False
    done = 0
    with progress("reading", file_bytes(paths), quiet) as report:
        for path in paths:
            last = 0

            def count(bytes_read: int, before: int = done) -> None:
                nonlocal last
                last = bytes_read
                report(before + bytes_read)

            for record in read_tagged(path, file_format, column, count):  # type: ignore[arg-type]
                if record.words:
                    empty = False
                    is_tagged = is_tagged or any(tag != NOT_ANNOTATED for tag in record.tags)
                    yield record.pairs()
            done += last
    if empty:
        raise FormatError(", ".join(paths), None, "has no tagged word, expected word TAB tag or CoNLL-U")
    if not is_tagged:
        raise FormatError(", ".join(paths), None, untagged(column))
