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

With context emissions there are ``context_key``, ``context_begin``, ``context_tag`` and ``context_weight``:
the weights of the features, by their hashes. What is known of words from raw text and dictionary is in
attributes.txt, ``attributes_begin`` and ``attributes_numbers``, the tags of a hard dictionary in allowed.txt,
``allowed_begin`` and ``allowed_numbers``.

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
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.files.corpus import chunk_source
from hiddenite.ngram import NgramModel
from hiddenite.tag.context import ContextTable
from hiddenite.tag.emissions import EmissionTable, FeatureTable, Lexicon, SpellingTable, SuffixTable
from hiddenite.tag.knowledge import NumberTable
from hiddenite.tag.model import TaggerModel
from hiddenite.tag.options import INDUCED, TaggerOptions

_Tagger = TypeVar("_Tagger")
FORMAT = "hiddenite tagger"
VERSION = 1
_TABLES = ("attributes", "allowed")  # of words, where there are any
_BEFORE = {
    "emissions": "generative",
    "normal_form": "none",
    "parts": "no",
}  # what files say nothing of that have no choice
_HINT = "expected a file that `hiddenite tag train` wrote; train it again"


def write_model(model: TaggerModel, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "options": dataclasses.asdict(model.options),
        "tags": model.tags,
        "symbols": model.symbols,
        "training": model.training,
        "tables": [name for name in _TABLES if getattr(model, name) is not None],
    }
    names, guesser = _guesser_arrays(model.guesser)
    context = {} if model.context is None else _context_arrays(model.context)
    tables = {name: t for name in _TABLES if (t := getattr(model, name)) is not None}
    numbers = {key: a for name, t in tables.items() for key, a in _number_arrays(name, t).items()}
    arpa: list[bytes] = []
    write_arpa(model.transitions._table, arpa.append, False)
    write_archive(
        path,
        header,
        {"words": model.lexicon.words, "guesser": names} | {name: t.words for name, t in tables.items()},
        _lexicon_arrays(model.lexicon) | guesser | context | numbers,
        {"transitions.arpa": b"".join(arpa)},
    )


def _lexicon_arrays(lexicon: Lexicon | EmissionTable) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"begin": lexicon.begin, "tag": lexicon.tag}
    if isinstance(lexicon, EmissionTable):
        return arrays | {"log_prob": lexicon.log_prob}
    return arrays | {"count": lexicon.count}


def _context_arrays(context: ContextTable) -> dict[str, NDArray[Any]]:
    return {
        "context_key": context.key,
        "context_begin": context.begin,
        "context_tag": context.part,
        "context_weight": context.weight,
    }


def _number_arrays(name: str, table: NumberTable) -> dict[str, NDArray[Any]]:
    return {f"{name}_begin": table.begin, f"{name}_numbers": table.numbers}


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


def model_column(path: str | os.PathLike[str]) -> str | None:
    """Return the CoNLL-U column that a tagger was trained on, None if its text had none to choose."""
    found = read_archive(path, FORMAT, VERSION, _HINT, lambda archive: archive.training().get("column"))
    return None if found is None else str(found)


def read_tagger(path: str | os.PathLike[str], make: Callable[[TaggerModel], _Tagger]) -> _Tagger:
    """Read a model file and make a tagger of it; raises FormatError for anything else."""
    return read_archive(path, FORMAT, VERSION, _HINT, lambda archive: make(_read(archive, os.fspath(path))))


def _read(archive: Archive, name: str) -> TaggerModel:
    header = archive.header
    options = TaggerOptions(**(_BEFORE | header["options"]))
    tags = tuple(map(str, header["tags"]))
    symbols = tuple((str(symbol), int(count)) for symbol, count in header["symbols"])
    if not tags or len(set(tags)) != len(tags) or any(count < 1 for _, count in symbols):
        raise ValueError("is damaged: a tag appears twice, or has no count")
    table, _, _ = read_arpa(chunk_source(iter([archive.file("transitions.arpa")])), name, None)
    if options.guesser == INDUCED:
        return TaggerModel(
            options,
            tags,
            NgramModel(table),
            symbols,
            _read_emissions(archive),
            _read_spelling(archive, len(tags)),
            archive.training(),
        )
    lexicon = Lexicon(
        tuple(archive.words("words")),
        archive.array("begin", np.uint64),
        archive.array("tag", np.uint32),
        archive.array("count", np.uint32),
    )
    guesser = _read_guesser(archive, options, lexicon, len(tags))
    context = _read_context(archive) if options.emissions == "context" else None
    return TaggerModel(
        options,
        tags,
        NgramModel(table),
        symbols,
        lexicon,
        guesser,
        archive.training(),
        context,
        **{name: _read_numbers(archive, name) for name in header.get("tables", ())},
    )


def _read_numbers(archive: Archive, name: str) -> NumberTable:
    if name not in _TABLES:
        raise ValueError(f"is damaged: found the table '{name}', expected {' or '.join(_TABLES)}")
    return NumberTable(
        tuple(archive.words(name)),
        archive.array(f"{name}_begin", np.uint64),
        archive.array(f"{name}_numbers", np.uint32),
    )


def _read_context(archive: Archive) -> ContextTable:
    return ContextTable(
        archive.array("context_key", np.uint64),
        archive.array("context_begin", np.uint64),
        archive.array("context_tag", np.uint32),
        archive.matrix("context_weight", np.float16, 1),
    )


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
