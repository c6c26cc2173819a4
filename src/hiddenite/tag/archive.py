"""The tagger's model file: a zip archive of text and arrays, readable with any tool, never pickle.

==================  =================================================================================
header.json         format, version, options, tags, hidden symbols with their counts
transitions.arpa    the n-gram model of hidden symbols
words.txt           the lexicon's words, one a line
begin, tag, count   the lexicon's arrays: word i has ``tag[begin[i]:begin[i + 1]]``
guesser.txt         endings (with their class) or features, one a line
guesser             their table: [ending, tag] ln p, or [feature, tag] weights
==================  =================================================================================

Loading checks the version and every size and range; what does not fit is a :class:`FormatError`.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np

from hiddenite._core import read_arpa, write_arpa
from hiddenite.archive import Archive, read_archive, write_archive
from hiddenite.corpus import chunk_source
from hiddenite.ngram import NgramModel
from hiddenite.tag.emissions import FeatureTable, Lexicon, SuffixTable
from hiddenite.tag.tagger import TaggerModel, TaggerOptions

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
    guesser = model.guesser
    names = guesser.endings if isinstance(guesser, SuffixTable) else guesser.features
    table = guesser.log_probs if isinstance(guesser, SuffixTable) else guesser.weights
    arpa: list[bytes] = []
    write_arpa(model.transitions._table, arpa.append, False)
    lexicon = model.lexicon
    write_archive(
        path,
        header,
        {"words": lexicon.words, "guesser": names},
        {"begin": lexicon.begin, "tag": lexicon.tag, "count": lexicon.count, "guesser": table},
        {"transitions.arpa": b"".join(arpa)},
    )


def read_model(path: str | os.PathLike[str]) -> TaggerModel:
    """Read a model file; raises FormatError for anything else."""
    return read_archive(path, FORMAT, VERSION, _HINT, lambda archive: _read(archive, os.fspath(path)))


def _read(archive: Archive, name: str) -> TaggerModel:
    header = archive.header
    options = TaggerOptions(**header["options"])
    tags = tuple(map(str, header["tags"]))
    symbols = tuple((str(symbol), int(count)) for symbol, count in header["symbols"])
    if not tags or len(set(tags)) != len(tags) or any(count < 1 for _, count in symbols):
        raise ValueError("lists tags twice or without counts")
    table, _, _ = read_arpa(chunk_source(iter([archive.file("transitions.arpa")])), name, None)
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
