"""Link probabilities of sentence pairs, from a model or from a file.

A file is what ``align run`` or ``align corpus`` wrote: JSON lines, whose ``probabilities`` are ``[source,
target, p]``, or links as text, ``0-0 1-2``, each with its probability behind a colon (``0-0:0.93``); a link
without one is certain. Position 0 is the first word.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hiddenite.align.aligner import Aligner
from hiddenite.align.answers import DEFAULT_SAMPLES, Question
from hiddenite.align.links import Lengths, check_range, read_lines
from hiddenite.errors import FormatError, ModelError
from hiddenite.results import Failure

Probabilities = NDArray[np.float32]  # [source, target]

_LINK = re.compile(r"(\d{1,4})-(\d{1,4})(?::([0-9.eE+-]+))?")
_EXPECTED = "expected links such as 0-0:0.9 1-2, or JSON lines with probabilities"


def model_probabilities(
    aligner: Aligner,
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
    *,
    marginals: str = "samples",
    samples: int = DEFAULT_SAMPLES,
    budget: float | None = None,
    seed: int,
    threads: int = 0,
) -> Iterator[Probabilities]:
    """Give p(link) [source, target] of each pair, the mean of both directions.

    Where nothing can be drawn, the pair gets the probabilities of the chain without fertilities.
    """
    kept: list[tuple[Sequence[str], Sequence[str]]] = []

    def each() -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        for pair in pairs:
            kept.append(pair)
            yield pair

    question = Question(marginals=marginals, samples=samples, threshold=0.5, budget=budget, seed=seed)
    for result in aligner.ask(each(), question, threads=threads):
        pair = kept.pop(0)
        if isinstance(result, Failure):
            raise ModelError(f"sentence pair {result.id}: {result.error}")
        found = result.probabilities
        if found is None:
            found = aligner.align(*pair, marginals="hmm", threshold=0.5).probabilities
        yield np.zeros((len(pair[0]), len(pair[1])), dtype=np.float32) if found is None else found


def read_probabilities(
    path: str | os.PathLike[str], lengths: Iterable[Lengths], source: str = "the source"
) -> Iterator[Probabilities]:
    """Read p(link) [source, target], one line a sentence pair of the given numbers of words."""
    name = "<stdin>" if os.fspath(path) == "-" else os.fspath(path)
    lines = read_lines(path)
    expected = found = 0
    for size in lengths:
        expected += 1
        number, line = next(lines, (0, ""))
        if number == 0:
            continue
        found += 1
        yield _matrix(list(parse_probabilities(line, name, number)), size, name, number)
    found += sum(1 for _ in lines)
    if found != expected:
        raise FormatError(name, None, f"found {found} lines, expected {expected}, as many as {source} has")


def _matrix(cells: list[tuple[int, int, float]], size: Lengths, name: str, number: int) -> Probabilities:
    check_range([(i, j) for i, j, _ in cells], size, name, number)
    matrix = np.zeros(size, dtype=np.float32)
    for i, j, p in cells:
        matrix[i, j] = p
    return matrix


def parse_probabilities(text: str, file: str, line: int | None) -> Iterator[tuple[int, int, float]]:
    """Give source position, target position and probability of the links of one line."""
    if text.lstrip().startswith("{"):
        yield from _from_json(text, file, line)
        return
    for word in text.split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise FormatError(file, line, f"found '{word[:40]}', {_EXPECTED}")
        yield int(match[1]), int(match[2]), _probability(match[3] or "1", file, line)


def _from_json(text: str, file: str, line: int | None) -> Iterator[tuple[int, int, float]]:
    try:
        record = json.loads(text)
    except ValueError:
        raise FormatError(
            file, line, f"found '{text.strip()[:40]}', which is not JSON; {_EXPECTED}"
        ) from None
    cells = record.get("probabilities")
    if not isinstance(cells, list):
        hint = "write it with align corpus --json, or align run --json --marginals samples"
        raise FormatError(file, line, f"found a record without probabilities; {hint}")
    for cell in cells:
        numbers = isinstance(cell, list) and len(cell) == 3 and all(type(c) in (int, float) for c in cell)
        if not numbers or cell[0] != int(cell[0]) or cell[1] != int(cell[1]) or min(cell[:2]) < 0:
            raise FormatError(
                file, line, f"found {json.dumps(cell)[:40]}, expected [source, target, probability]"
            )
        yield int(cell[0]), int(cell[1]), _probability(cell[2], file, line)


def _probability(value: object, file: str, line: int | None) -> float:
    try:
        p = float(str(value))
    except ValueError:
        p = -1.0
    if not 0 <= p <= 1:
        raise FormatError(file, line, f"found the probability {value}, expected 0 to 1")
    return p
