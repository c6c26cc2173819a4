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
import io
import json
import os
import zipfile
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import read_arpa, write_arpa
from hiddenite.corpus import atomic_output, chunk_source
from hiddenite.errors import FormatError, HiddeniteError
from hiddenite.ngram import NgramModel
from hiddenite.tag.emissions import FeatureTable, Lexicon, SuffixTable
from hiddenite.tag.tagger import TaggerModel, TaggerOptions

FORMAT = "hiddenite tagger"
VERSION = 1
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the same file for the same model, whenever it is written
_Scalar = TypeVar("_Scalar", bound=np.generic)


# ---------------------------------------------------------------------- write


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
    with atomic_output(path) as out, zipfile.ZipFile(_Unseekable(out), "w") as archive:
        _add(archive, "header.json", json.dumps(header, ensure_ascii=False).encode())
        _add(archive, "transitions.arpa", b"".join(arpa))
        _add(archive, "words.txt", "\n".join(model.lexicon.words).encode())
        _add(archive, "begin.npy", _npy(model.lexicon.begin))
        _add(archive, "tag.npy", _npy(model.lexicon.tag))
        _add(archive, "count.npy", _npy(model.lexicon.count))
        _add(archive, "guesser.txt", "\n".join(names).encode())
        _add(archive, "guesser.npy", _npy(table))


class _Unseekable(io.RawIOBase):
    """Hides that a file may be a pipe: the archive is written from front to back."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._out.write(data)
        return len(data)


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _OLDEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content, compresslevel=6)


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


# ----------------------------------------------------------------------- read


def read_model(path: str | os.PathLike[str]) -> TaggerModel:
    """Read a model file; raises FormatError for anything else."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, name)
    except IsADirectoryError:
        raise FormatError(name, None, "is a directory, expected a model file") from None
    except OSError as error:
        raise FormatError(name, None, f"cannot be opened: {error.strerror or error}") from None
    except FormatError:
        raise
    except zipfile.BadZipFile:
        raise FormatError(name, None, f"is no model file or is cut off, {_HINT}") from None
    except HiddeniteError as error:
        raise FormatError(name, None, f"{error}; {_HINT}") from None
    except Exception as error:  # whatever a damaged archive makes of zlib, JSON or NumPy
        raise FormatError(name, None, f"is damaged ({type(error).__name__}: {error}), {_HINT}") from None


_HINT = "expected a file that `hiddenite tag train` wrote; train it again"


def _read(archive: zipfile.ZipFile, name: str) -> TaggerModel:
    if "header.json" not in archive.namelist():
        raise FormatError(name, None, f"is an archive without header.json, {_HINT}")
    header = json.loads(archive.read("header.json"))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(name, None, f"is an archive of something else, {_HINT}")
    if header.get("version") != VERSION:
        raise FormatError(
            name,
            None,
            f"is a model of version {header.get('version')}, expected {VERSION}; train it again",
        )
    options = TaggerOptions(**header["options"])
    tags = tuple(map(str, header["tags"]))
    symbols = tuple((str(symbol), int(count)) for symbol, count in header["symbols"])
    if not tags or len(set(tags)) != len(tags) or any(count < 1 for _, count in symbols):
        raise FormatError(name, None, f"lists tags twice or without counts, {_HINT}")
    table, _, _ = read_arpa(chunk_source(iter([archive.read("transitions.arpa")])), name, None)
    lexicon = Lexicon(
        tuple(_lines(archive, "words.txt")),
        _array(archive, "begin.npy", np.uint64, 1),
        _array(archive, "tag.npy", np.uint32, 1),
        _array(archive, "count.npy", np.uint32, 1),
    )
    guesser = _read_guesser(archive, options, lexicon, len(tags))
    return TaggerModel(options, tags, NgramModel(table), symbols, lexicon, guesser)


def _read_guesser(
    archive: zipfile.ZipFile, options: TaggerOptions, lexicon: Lexicon, num_tags: int
) -> SuffixTable | FeatureTable:
    names = tuple(_lines(archive, "guesser.txt"))
    table = _array(archive, "guesser.npy", np.float32, 2)
    if table.shape != (len(names), num_tags) or np.isnan(table).any():
        raise ValueError(f"the guesser's table is {table.shape}, expected {(len(names), num_tags)}")
    if options.guesser == "log-linear":
        return FeatureTable(names, table)
    counts = lexicon.tag_counts(num_tags)
    with np.errstate(divide="ignore"):
        prior = np.log(counts / counts.sum())
    return SuffixTable(names, table, prior, options.suffix_length, options.shapes)


def _lines(archive: zipfile.ZipFile, name: str) -> list[str]:
    text = archive.read(name).decode()
    return text.split("\n") if text else []


def _array(archive: zipfile.ZipFile, name: str, kind: type[_Scalar], dimensions: int) -> NDArray[_Scalar]:
    array = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    if array.dtype != kind or array.ndim != dimensions:
        raise ValueError(f"{name} holds {array.ndim}-dimensional {array.dtype}, expected {np.dtype(kind)}")
    return np.ascontiguousarray(array)
