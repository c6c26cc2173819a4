"""The restorer's model file: lexicon and language model in one container, never pickle.

==================  ================================================================================
header.json         format, version, what is missing, most events in a row, kinds of unknown words
lm                  the language model, compact (``cpp/hiddenite/lm/tools/compact.hpp``)
forms.txt           the lexicon: forms («» for events), spellings.txt, words.txt, costs.npy = -log weights
==================  ================================================================================
"""

from __future__ import annotations

import os

import numpy as np

from hiddenite._core import write_compact
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.ngram import NgramModel
from hiddenite.restore.folding import Folding, parse_what
from hiddenite.restore.restorer import Entry, Restorer

FORMAT = "hiddenite restorer"
VERSION = 1
_EVENT = "«»"  # the form of an event in forms.txt, which has no empty lines
_HINT = "expected a model file of `hiddenite restore train` or of Restorer.save"


def write_restorer(path: str | os.PathLike[str], restorer: Restorer) -> None:
    """Write a restorer, whole or not at all."""
    model = bytearray()
    write_compact(restorer.lm._table, model.extend)
    entries = restorer.entries
    header = {
        "format": FORMAT,
        "version": VERSION,
        "what": list(restorer.folding.what),
        "max_events": restorer.max_events,
        "kinds": [list(kind) for kind in restorer.kinds],
    }
    words = {
        "forms": [entry.form or _EVENT for entry in entries],
        "spellings": [entry.spelling for entry in entries],
        "words": [entry.word for entry in entries],
    }
    arrays = {"costs": np.array([-entry.log_weight for entry in entries], np.float64)}
    write_archive(path, header, words, arrays, {"lm": bytes(model)}, compress=False)


def read_restorer(path: str | os.PathLike[str]) -> Restorer:
    """Read a model file; raises FormatError for anything else."""
    return read_archive(path, FORMAT, VERSION, _HINT, _read)


def _read(archive: Archive) -> Restorer:
    lm = NgramModel(archive.table("lm"))
    forms, spellings, words = (archive.words(member) for member in ("forms", "spellings", "words"))
    weights = (-archive.array("costs", np.float64, len(forms))).tolist()
    rows = zip(forms, spellings, words, weights, strict=True)
    entries = [Entry("" if form == _EVENT else form, *rest) for form, *rest in rows]
    events = frozenset(entry.spelling for entry in entries if not entry.form)
    what = parse_what(",".join(archive.header["what"]))
    kinds = [(str(kind), float(weight)) for kind, weight in archive.header["kinds"]]
    return Restorer(lm, Folding(what, events), entries, kinds, int(archive.header["max_events"]))
