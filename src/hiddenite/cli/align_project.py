"""hiddenite align project and strip: annotations of one side of a parallel text, carried to the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hiddenite.align.evidence import Probabilities
from hiddenite.align.links import read_lines
from hiddenite.align.markers import MarkedText, find_words, strip
from hiddenite.align.placing import Placement, place_markers
from hiddenite.align.projection import (
    DEFAULT_THRESHOLD,
    SMOOTHINGS,
    Projection,
    SmoothingName,
    collect_evidence,
    infer,
    read_projections,
)
from hiddenite.align.spans import project_spans
from hiddenite.cli.align_annotations import (
    COLUMNS,
    SOURCE_FORMATS,
    TARGET_FORMATS,
    read_source,
    read_target,
    write_projection,
)
from hiddenite.cli.align_evidence import LinkSource
from hiddenite.cli.common import Json, Output, json_line, say
from hiddenite.errors import FormatError, ModelError, OptionError
from hiddenite.files.output import atomic_output
from hiddenite.options import MISSING, argument, option

_Words = Sequence[str]
_OF_LABELS: dict[str, Any] = {"when": {"markers": (False,)}}


@dataclass(frozen=True, kw_only=True)
class ProjectOptions(LinkSource, Output, Json):
    """The options of align project."""

    source: str = argument(
        MISSING, "Annotated text: word/LABEL, word TAB label, CoNLL-U; or --markers.", "SRC"
    )
    target: str = argument(MISSING, "Its translation: plain text, word TAB ..., or CoNLL-U.", "TGT")
    spans: bool = option(False, "Labels are spans: B-X, I-X, O.", when={"markers": (False,)})
    markers: bool = option(False, "SRC has USFM markers or HTML tags; put them into TGT.")
    separate: bool = option(
        False, "Punctuation is words of its own, as in strip --separate.", when={"markers": (True,)}
    )
    column: str = option("upos", "CoNLL-U column of the labels.", choices=tuple(COLUMNS), **_OF_LABELS)
    format: str = option("auto", "Of SRC; auto goes by its name.", choices=SOURCE_FORMATS, **_OF_LABELS)
    target_format: str = option("auto", "Of TGT.", choices=TARGET_FORMATS, **_OF_LABELS)
    smoothing: str = option(
        "sequence",
        "What is learnt from the links: nothing, words' labels, or also which label follows which.",
        choices=SMOOTHINGS,
        when={"markers": (False,), "spans": (False,)},
    )
    threshold: float = option(
        DEFAULT_THRESHOLD, "Least probability of what is carried over; _ stands for less.", least=0, most=1
    )


def project(options: ProjectOptions) -> int:
    """Carry annotations from one side of a parallel text to the other through link probabilities.

    Each target word gets the label of greatest probability, and that probability; or _ if it is below
    --threshold. The links come from --links, from --model, or, without both, from training on the two
    texts.

    The output is word TAB label TAB probability, or CoNLL-U if TGT is. With --json each line is an object
    with the words, labels, probabilities and the whole distributions; with --markers, the text and what
    became of each marker.
    """
    options.hush()
    failures: list[str] = []
    lines = _marked(options, failures) if options.markers else _labelled(options)
    with atomic_output(options.output) as out:
        for line in lines:
            out.write(line.encode())
    for failure in failures:
        say(f"error: {failure}")
    return int(bool(failures))


# ---------------------------------------------------------------------- labels


def _labelled(options: ProjectOptions) -> Iterator[str]:
    if options.source == options.target == "-":
        raise OptionError("target", "is standard input like SRC; give one of them as a file")
    source = list(read_source(options.source, options.format, options.column))
    records, file_format = read_target(options.target, options.target_format)
    _check_column(options, file_format)
    _check_counts(len(source), len(records), options)
    target = [record.words for record in records]
    pairs = [(tuple(w for w, _ in e), f) for e, f in zip(source, target, strict=True)]
    links = options.probabilities(pairs, options.source, options.quiet)
    found = (_spans if options.spans else _labels)(options, source, target, links)
    for number, (record, one) in enumerate(zip(records, found, strict=True), 1):
        if options.json:
            yield json_line({"id": number, **one.to_dict()})
        else:
            yield write_projection(record, one, file_format, options.column)


def _labels(
    options: ProjectOptions,
    source: Sequence[Sequence[tuple[str, str]]],
    target: Sequence[_Words],
    links: Iterable[Probabilities],
) -> Iterator[Projection]:
    evidence = collect_evidence(source, target, links)
    if not evidence.names:
        raise FormatError(options.source, None, "has no label but _; is --column the right one?")
    labels = infer(evidence, cast(SmoothingName, options.smoothing))
    return read_projections(evidence, target, labels, options.threshold)


def _spans(
    options: ProjectOptions,
    source: Sequence[Sequence[tuple[str, str]]],
    target: Sequence[_Words],
    links: Iterable[Probabilities],
) -> Iterator[Projection]:
    for number, (e, f, p) in enumerate(zip(source, target, links, strict=True), 1):
        try:
            yield project_spans([label for _, label in e], f, p, options.threshold)[0]
        except ModelError as error:
            raise FormatError(options.source, None, f"sentence {number}: {error}") from None


def _check_column(options: ProjectOptions, file_format: str) -> None:
    names = (options.format, options.source), (options.target_format, options.target)
    is_conllu = file_format == "conllu" or any("conll" in one for pair in names for one in pair)
    if options.column != "upos" and not is_conllu:
        raise OptionError("column", "has no effect: neither SRC nor TGT is CoNLL-U")


def _check_counts(source: int, target: int, options: ProjectOptions) -> None:
    if source != target:
        raise FormatError(
            options.target,
            None,
            f"found {target} sentences, expected {source}, as many as {options.source} has",
        )


# --------------------------------------------------------------------- markers


def _marked(options: ProjectOptions, failures: list[str]) -> Iterator[str]:
    """Give the lines; one in which markers cannot be put stays as it is and is one of the failures."""
    source = [strip(line, options.source, number) for number, line in _lines(options.source)]
    target = [line for _, line in read_lines(options.target)]  # with carriage returns: text is never changed
    _check_counts(len(source), len(target), options)
    for number, line in enumerate(target, 1):
        if strip(line, options.target, number).elements:
            raise FormatError(
                options.target, number, "has markers already; take them out with hiddenite align strip"
            )
    pairs = [
        (_words(e.text, options.separate), _words(f, options.separate))
        for e, f in zip(source, target, strict=True)
    ]
    links = options.probabilities(pairs, options.source, options.quiet)
    counts = [0, 0]
    for number, (e, f, p) in enumerate(zip(source, target, links, strict=True), 1):
        try:
            found = place_markers(
                e,
                f,
                p,
                threshold=options.threshold,
                separate=options.separate,
                file=options.target,
                line=number,
            )
        except FormatError as error:
            failures.append(str(error))
            found = Placement(f, ())
        counts[0] += sum(one.begin is None for one in found.markers)
        counts[1] += len(found.markers)
        yield json_line(_record(number, found)) if options.json else found.text + "\n"
    if counts[0]:
        say(f"{counts[0]} of {counts[1]} markers are below --threshold and were left out", options.quiet)


def _record(number: int, found: Placement) -> dict[str, Any]:
    markers = [
        {"marker": m.marker, "begin": m.begin, "end": m.end, "probability": round(m.probability, 6)}
        for m in found.markers
    ]
    return {"id": number, "text": found.text, "markers": markers}


def _lines(path: str) -> Iterator[tuple[int, str]]:
    return ((number, line.removesuffix("\r")) for number, line in read_lines(path))


def _words(text: str, separate: bool) -> list[str]:
    return [text[begin:end] for begin, end in find_words(text, separate)]


@dataclass(frozen=True, kw_only=True)
class StripOptions(Output):
    """The options of align strip."""

    text: str = argument("-", "Text with USFM markers or HTML tags.", "[TEXT]")
    separate: bool = option(False, "Put blanks around punctuation.")


def strip_text(options: StripOptions) -> None:
    """Take USFM markers and HTML or XML tags out of a text, line by line: what align train needs."""
    options.hush()
    with atomic_output(options.output) as out:
        for number, line in _lines(options.text):
            found: MarkedText = strip(line, options.text, number)
            text = " ".join(_words(found.text, True)) if options.separate else found.text
            out.write(f"{text}\n".encode())


COMMANDS = {
    "project": (
        project,
        ProjectOptions,
        "hiddenite align project en.conllu sv.conllu --seed 1 --output projected.conllu",
    ),
    "strip": (strip_text, StripOptions, "hiddenite align strip genesis.usfm --output genesis.txt"),
}
