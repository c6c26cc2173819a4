"""The tagger's model file: text and arrays in one container, never pickle.

==================  =================================================================================
header.json         format, version, options, tags, hidden symbols with their counts
transitions.arpa    the n-gram model of hidden symbols
words.txt           the lexicon's words, one a line
begin, tag, count   the lexicon's arrays: word i has ``tag[begin[i]:begin[i + 1]]``
guesser.txt         endings (with their class) or features, one a line
guesser             their table: [ending, tag] ln p, or [feature, tag] weights
==================  =================================================================================

A tagger that was induced has ``log_prob`` for ``count``, and for the guesser's table ``start``, ``lower``,
``back_off``, ``before``, ``after`` and ``excess``, with its characters in guesser.txt.

Loading checks the version and every size and range; what does not fit is a :class:`FormatError`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import read_arpa, write_arpa
from hiddenite.archive import Archive, read_archive, write_archive
from hiddenite.corpus import chunk_source
from hiddenite.ngram import NgramModel
from hiddenite.tag.emissions import EmissionTable, FeatureTable, Lexicon, SpellingTable, SuffixTable
from hiddenite.tag.tagger import INDUCED, TaggerModel, TaggerOptions

_Tagger = TypeVar("_Tagger")
FORMAT = "hiddenite tagger"
VERSION = 1
_HINT = "expected a file that `hiddenite tag train` wrote; train it again"


def write_model(model: TaggerModel, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "options": dataclasses.asdict(model.options),
        "tags": model.tags,
        "symbols": model.symbols,
    }
    names, guesser = _guesser_arrays(model.guesser)
    arpa: list[bytes] = []
    write_arpa(model.transitions._table, arpa.append, False)
    write_archive(
        path,
        header,
        {"words": model.lexicon.words, "guesser": names},
        _lexicon_arrays(model.lexicon) | guesser,
        {"transitions.arpa": b"".join(arpa)},
    )


def _lexicon_arrays(lexicon: Lexicon | EmissionTable) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"begin": lexicon.begin, "tag": lexicon.tag}
    if isinstance(lexicon, EmissionTable):
        return arrays | {"log_prob": lexicon.log_prob}
    return arrays | {"count": lexicon.count}


def _guesser_arrays(
    guesser: SuffixTable | FeatureTable | SpellingTable,
) -> tuple[tuple[str, ...], dict[str, NDArray[Any]]]:
    match guesser:
        case SuffixTable():
            return guesser.endings, {"guesser": guesser.log_probs}
        case FeatureTable():
            return guesser.features, {"guesser": guesser.weights}
    names = ("start", "lower", "back_off", "before", "after", "excess")
    return guesser.characters, {name: getattr(guesser, name) for name in names}


def read_tagger(path: str | os.PathLike[str], make: Callable[[TaggerModel], _Tagger]) -> _Tagger:
    """Read a model file and make a tagger of it; raises FormatError for anything else."""
    return read_archive(path, FORMAT, VERSION, _HINT, lambda archive: make(_read(archive, os.fspath(path))))


def _read(archive: Archive, name: str) -> TaggerModel:
    header = archive.header
    options = TaggerOptions(**header["options"])
    tags = tuple(map(str, header["tags"]))
    symbols = tuple((str(symbol), int(count)) for symbol, count in header["symbols"])
    if not tags or len(set(tags)) != len(tags) or any(count < 1 for _, count in symbols):
        raise ValueError("lists tags twice or without counts")
    table, _, _ = read_arpa(chunk_source(iter([archive.file("transitions.arpa")])), name, None)
    if options.guesser == INDUCED:
        return TaggerModel(
            options,
            tags,
            NgramModel(table),
            symbols,
            _read_emissions(archive),
            _read_spelling(archive, len(tags)),
        )
    lexicon = Lexicon(
        tuple(archive.words("words")),
        archive.array("begin", np.uint64),
        archive.array("tag", np.uint32),
        archive.array("count", np.uint32),
    )
    guesser = _read_guesser(archive, options, lexicon, len(tags))
    return TaggerModel(options, tags, NgramModel(table), symbols, lexicon, guesser)


def _read_guesser(
    archive: Archive, options: TaggerOptions, lexicon: Lexicon, num_tags: int
) -> SuffixTable | FeatureTable:
    names = tuple(archive.words("guesser"))
    table = archive.matrix("guesser", np.float32)
    if table.shape != (len(names), num_tags):
        raise ValueError(f"the guesser's table is {table.shape}, expected {(len(names), num_tags)}")
    if options.guesser == "log-linear":
        return FeatureTable(names, table)
    counts = lexicon.tag_counts(num_tags)
    with np.errstate(divide="ignore"):
        prior = np.log(counts / counts.sum())
    return SuffixTable(names, table, prior, options.suffix_length, options.shapes)


def _read_emissions(archive: Archive) -> EmissionTable:
    return EmissionTable(
        tuple(archive.words("words")),
        archive.array("begin", np.uint64),
        archive.array("tag", np.uint32),
        archive.matrix("log_prob", np.float64, 1),
    )


def _read_spelling(archive: Archive, num_tags: int) -> SpellingTable:
    characters = tuple(archive.words("guesser"))
    before = archive.array("before", np.uint32)
    rows = {"lower": len(characters) + 2, "back_off": len(characters) + 2, "excess": len(before)}
    tables = {name: archive.matrix(name, np.float64) for name in rows}
    for name, table in tables.items():
        if table.shape != (rows[name], num_tags):
            raise ValueError(f"{name}.npy is {table.shape}, expected {(rows[name], num_tags)}")
    return SpellingTable(
        characters,
        archive.array("start", np.float64, num_tags),
        tables["lower"],
        tables["back_off"],
        before,
        archive.array("after", np.uint32, len(before)),
        tables["excess"],
    )
