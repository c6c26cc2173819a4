"""The corrector's model file: language model, words and counts in one container, never pickle.

==================  =================================================================================
header.json         format, version, settings, the letters that the pieces are numbered by
lm                  the language model, compiled (``cpp/hiddenite/lm/compiled.hpp``)
letters             the model over characters of rare words, compiled
words.txt           the word list, and weights.npy its weights
keys.npy            pieces of the edit model, and counts.npy how often each is expected
seen.txt            learnt pairs: what was seen, meant.txt what was meant, pair_counts.npy how often
totals.txt          what was meant, and total_counts.npy how often at all
==================  =================================================================================
"""

from __future__ import annotations

import os
from typing import Any, cast

from hiddenite._core import write_compiled
from hiddenite.correct.corrector import Corrector, Learnt
from hiddenite.correct.settings import Settings
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.ngram import NgramModel

FORMAT = "hiddenite corrector"
VERSION = 2
_HINT = "expected a model file of `hiddenite correct learn` or of Corrector.save"


def write_corrector(path: str | os.PathLike[str], corrector: Corrector) -> None:
    """Write a corrector, whole or not at all."""
    import numpy as np  # noqa: PLC0415  (reading does without)

    learnt = corrector.learnt
    pairs = sorted(learnt.pairs.items())
    totals = sorted(learnt.totals.items())
    words = {
        "words": list(corrector.words),
        "seen": [seen for (seen, _), _ in pairs],
        "meant": [meant for (_, meant), _ in pairs],
        "totals": [meant for meant, _ in totals],
    }
    arrays = {
        "weights": np.array(list(corrector.words.values()), np.float64),
        "keys": np.asarray(learnt.keys, np.uint64),
        "counts": np.asarray(learnt.counts, np.float64),
        "pair_counts": np.array([count for _, count in pairs], np.float64),
        "total_counts": np.array([count for _, count in totals], np.float64),
    }
    header = {
        "format": FORMAT,
        "version": VERSION,
        "settings": corrector.settings.to_dict(),
        "alphabet": learnt.alphabet,
    }
    files = {"lm": _compiled(corrector.lm), "letters": _compiled(corrector.letters)}
    write_archive(path, header, words, arrays, files, compress=False)


def _compiled(lm: NgramModel) -> bytes:
    out = bytearray()
    write_compiled(lm._table, out.extend, True)
    return bytes(out)


def read_corrector(path: str | os.PathLike[str], *, verify: bool = True) -> Corrector:
    """Read a model file; raises FormatError for anything else."""
    return read_archive(path, FORMAT, VERSION, _HINT, _read, verify=verify)


def _read(archive: Archive) -> Corrector:
    settings = Settings.from_dict(archive.header["settings"])
    lm = NgramModel(archive.table("lm"))
    words = archive.words("words")
    weights = archive.numbers("weights", "<f8", len(words))
    seen, meant, totals = (archive.words(member) for member in ("seen", "meant", "totals"))
    if len(seen) != len(meant):
        raise ValueError(f"has {len(seen)} seen and {len(meant)} meant words, expected as many")
    keys = archive.numbers("keys", "<u8")
    alphabet = archive.header.get("alphabet", "")
    if len(keys) and not alphabet:
        raise ValueError("does not say which letters its pieces are numbered by; learn it again")
    pair_counts = archive.numbers("pair_counts", "<f8", len(seen))
    total_counts = archive.numbers("total_counts", "<f8", len(totals))
    learnt = Learnt(
        cast("Any", keys),  # the core reads any buffer
        cast("Any", archive.numbers("counts", "<f8", len(keys))),
        dict(zip(zip(seen, meant, strict=True), pair_counts.tolist(), strict=True)),
        dict(zip(totals, total_counts.tolist(), strict=True)),
        alphabet,
    )
    listed = dict(zip(words, weights.tolist(), strict=True))
    return Corrector(lm, settings, listed, learnt=learnt, letters=NgramModel(archive.table("letters")))
