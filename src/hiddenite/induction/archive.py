"""The file of an induction: text, options, history and the chains as they are, to the bit.

==================  =================================================================================
header.json         format, version, options, stage, kept samples, ambiguity classes and parameters
words.txt           the words, one a line
tokens, begin       the text: sentence i has ``tokens[begin[i]:begin[i + 1]]``
history.*           per sweep and chain: log joint, tokens moved, acceptance, particles, seconds
chain.N.*           the state of chain N, as the core gives and takes it
==================  =================================================================================

A checkpoint is the same file. Random numbers are part of the state, so a run that continues from it ends with
the same bits as one that was never interrupted.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import FormatError
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.induction.induction import CHECKPOINT_FILE, Induction
from hiddenite.induction.lexicon import ClassTally
from hiddenite.induction.options import OF_COMBINING, InduceOptions
from hiddenite.induction.state import Sweeps
from hiddenite.induction.text import Text

FORMAT = "hiddenite induction"
VERSION = 2
_HINT = "expected a file that `hiddenite induce run --checkpoint` wrote; run it again"
_RESUME_HINT = "give the command of that run to continue it, or another --checkpoint to begin anew"
_DAMAGED_HINT = "delete it or give another --checkpoint, to begin anew"
_COLUMNS = ("log_joint", "moved", "accepted", "effective_size")


def write_run(run: Induction, path: str | os.PathLike[str]) -> None:
    """Write a run, whole or not at all."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "options": run.options.to_dict(),
        "text": run.text.digest(),
        "stage": run.stage,
        "stages": [sweeps.stage for sweeps in run.history],
        "parameters": [sweeps.parameters for sweeps in run.history],
        "classes": [_tally_rows(tally) for tally in run._class_tallies],
    }
    arrays: dict[str, NDArray[Any]] = {"tokens": run.text.tokens, "begin": run.text.begin}
    for name in _COLUMNS:
        rows = [getattr(sweeps, name) for sweeps in run.history]
        arrays[f"history.{name}"] = np.array(rows, dtype=np.float64).reshape(-1, run.num_chains)
    arrays["history.seconds"] = np.array([sweeps.seconds for sweeps in run.history], dtype=np.float64)
    for number, chain in enumerate(run._chains):
        for name, array in chain.state().items():
            arrays[f"chain.{number}.{name}"] = np.asarray(array)
    write_archive(path, header, {"words": run.text.words}, arrays, compress=False)


def _tally_rows(tally: ClassTally) -> dict[str, Any]:
    rows = [[list(tags), tally.types[tags], tally.tokens[tags]] for tags in sorted(tally.types)]
    return {"samples": tally.samples, "rows": rows}


def read_run(path: str | os.PathLike[str], threads: int) -> Induction:
    """Read a run; raises FormatError for anything else."""

    def read(archive: Archive) -> Induction:
        text = Text(
            tuple(archive.words("words")), archive.array("tokens", np.int32), archive.array("begin", np.int64)
        )
        _check_text(text)
        options = InduceOptions(**archive.header["options"])
        run = Induction.without_chains(text, options, threads)
        _restore(run, archive)
        return run

    return read_archive(path, FORMAT, VERSION, _HINT, read)


def saved_seed(folder: str | os.PathLike[str]) -> int | None:
    """Return the seed of the run that a checkpoint folder holds, None if it holds none."""
    path = Path(folder, CHECKPOINT_FILE)
    if not path.exists():
        return None
    return read_archive(
        path, FORMAT, VERSION, _DAMAGED_HINT, lambda archive: int(archive.header["options"]["seed"])
    )


def resume_run(run: Induction, path: str | os.PathLike[str]) -> bool:
    """Bring a new run to the state of a checkpoint; it must be of the same text and options.

    Those that only say how chains are combined may differ. Return whether they are the same.
    """

    def read(archive: Archive) -> bool:
        options, kept = run.options.to_dict(), archive.header.get("options")
        what = ""
        if _of_chains(kept) != _of_chains(options):
            what = _difference(kept, options)
        elif archive.header.get("text") != run.text.digest():
            what = "is a run of another text"
        if what:
            raise FormatError(os.fspath(path), None, f"{what}; {_RESUME_HINT}")
        _restore(run, archive)
        return kept == options

    return read_archive(path, FORMAT, VERSION, _DAMAGED_HINT, read)


def _of_chains(options: Any) -> Any:
    """Return the options without those that no sweep knows."""
    if not isinstance(options, dict):
        return None
    return {name: value for name, value in options.items() if name not in OF_COMBINING}


def _difference(found: Any, expected: dict[str, Any]) -> str:
    """Say what the first option is that differs."""
    if isinstance(found, dict):
        for name, value in _of_chains(expected).items():
            if found.get(name) != value:
                return f"is a run with {name.replace('_', '-')} {found.get(name)}, not {value}"
    return "is a run with other options"


def _check_text(text: Text) -> None:
    begin, tokens = text.begin, text.tokens
    if len(set(text.words)) != len(text.words) or not text.words or len(begin) == 0 or len(tokens) == 0:
        raise ValueError("is damaged: a word appears twice, or there is no text")
    if begin[0] != 0 or begin[-1] != len(tokens) or (np.diff(begin) < 0).any():
        raise ValueError("is damaged: the sentences do not follow each other")
    if tokens.min() < 0 or tokens.max() >= len(text.words):
        raise ValueError("is damaged: a word number is not in the list of words")


def _restore(run: Induction, archive: Archive) -> None:
    """Bring a run to the state of an archive."""
    header = archive.header
    if header["stage"] not in ("start", "main"):
        raise ValueError(f"says that the stage is {header['stage']!r}")
    run.stage = header["stage"]
    run.history = _read_history(run, archive)
    run._class_tallies = [_read_tally(row) for row in header["classes"]]
    if len(run._class_tallies) != run.num_chains:
        raise ValueError("is damaged: the number of chains differs from the header")
    burn_in = run.num_sweeps("start") + (run.options.burn_in or 0)
    run._kept_totals = np.zeros(run.num_chains)
    for sweeps in run.history[burn_in:]:  # in the order of the run, so that not a bit differs
        run._kept_totals += sweeps.log_joint
    nothing = np.zeros(len(run.text.tokens), dtype=np.int32)
    run._chains = run._make(run.stage, [nothing] * run.num_chains)
    for number, chain in enumerate(run._chains):
        names = archive.arrays(f"chain.{number}.")
        chain.restore({name: archive.any_array(f"chain.{number}.{name}") for name in names})


def _read_history(run: Induction, archive: Archive) -> list[Sweeps]:
    stages, parameters = archive.header["stages"], archive.header["parameters"]
    columns = {name: archive.any_array(f"history.{name}") for name in _COLUMNS}  # NaN without particles
    seconds = archive.array("history.seconds", np.float64, len(stages))
    shape = (len(stages), run.num_chains)
    if any(c.shape != shape or c.dtype != np.float64 for c in columns.values()) or len(parameters) != len(
        stages
    ):
        raise ValueError(f"is damaged: the size of the history is not {shape}")
    return [
        Sweeps(
            stage,
            seconds=float(seconds[i]),
            parameters=[{k: (float(a), float(b)) for k, (a, b) in row.items()} for row in parameters[i]],
            **{name: column[i] for name, column in columns.items()},
        )
        for i, stage in enumerate(stages)
    ]


def _read_tally(row: dict[str, Any]) -> ClassTally:
    tally = ClassTally()
    tally.samples = int(row["samples"])
    keys = [tuple(map(int, tags)) for tags, _, _ in row["rows"]]
    tally.types = Counter({key: int(n) for key, (_, n, _) in zip(keys, row["rows"], strict=True)})
    tally.tokens = Counter({key: int(n) for key, (_, _, n) in zip(keys, row["rows"], strict=True)})
    return tally
