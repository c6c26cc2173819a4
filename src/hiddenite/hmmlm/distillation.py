"""Token sequences that another language model wrote, as a text to train a hidden Markov model on.

A sample is a row of token ids. It becomes a line of decimal numbers, so that a token is a word and all that
trains on text trains on samples; :meth:`hiddenite.hmmlm.guide.GuideModel.of_tokens` takes such a model to
guide the one that wrote the samples. Samples come as

- ``.npy``: integers [samples, tokens], or one stream of tokens, which is parted at the end token;
- JSON lines: a list of ids, or ``{"tokens": [...], "count": 3}`` for a sample that was drawn three times;
- with soft targets (:mod:`hiddenite.hmmlm.targets`): JSON lines with ``"targets": [[[id, probability], ...],
  ...]``, a list for each token, or ``.npz`` with ``tokens``, ``target_tokens`` and ``target_probs``.

Tokens begin in the classes that the exchange algorithm finds in the samples, or in classes of similar
vectors: the rows of the other model's embedding matrix, clustered by k-means.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode
from hiddenite.hmmlm.clusters import Clusters
from hiddenite.hmmlm.targets import Row, TargetBuilder, Targets, array_rows, read_row

_EXPECTED = "expected a list of token ids, or an object with tokens, count and targets"
_FIELDS = {"tokens", "count", "targets"}
_ROUNDS = 25  # of k-means, at most
_BLOCK = 1 << 24  # numbers that a block of distances has


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples as lines of ids."""

    text: bytes
    sequences: int
    without_end: int  # sequences that were cut before their end; they count as whole sentences
    targets: Targets | None = None  # what else might have stood at each token


def read_samples(
    path: str | os.PathLike[str], *, end: int | None = None, padding: int | None = None
) -> Samples:
    """Read ``.npy``, ``.npz`` or JSON lines; a sample ends before its first token ``end``.

    Tokens ``end`` at the beginning, tokens ``padding`` and negative numbers are skipped.
    """
    lines: list[str] = []
    without_end = 0
    targets = TargetBuilder()
    for tokens, count, row in _rows(path, end):
        kept, end_at = _sentence(tokens, end, padding)
        if not kept:
            continue
        without_end += count if end is not None and end_at is None else 0
        lines += [" ".join(str(tokens[i]) for i in kept) + "\n"] * count
        for _ in range(count):
            targets.add(row, kept, end_at, end)
    if not lines:
        raise FormatError(os.fspath(path), None, "has no token, expected samples to train on")
    return Samples("".join(lines).encode(), len(lines), without_end, targets.build())


def _rows(path: str | os.PathLike[str], end: int | None) -> Iterator[tuple[list[int], int, Row | None]]:
    """Tokens, how often they were drawn, and their targets."""
    name = os.fspath(path)
    if name.endswith(".npz"):
        yield from array_rows(path)
    elif name.endswith(".npy"):
        yield from ((tokens, count, None) for tokens, count in _array_rows(path, end))
    else:
        yield from _json_rows(path)


def _sentence(tokens: Sequence[int], end: int | None, padding: int | None) -> tuple[list[int], int | None]:
    """Return which tokens are kept, and where the end is."""
    kept: list[int] = []
    for i, token in enumerate(tokens):
        if token == end and end is not None:
            if kept:
                return kept, i
        elif token >= 0 and token != padding:
            kept.append(i)
    return kept, None


def _array_rows(path: str | os.PathLike[str], end: int | None) -> Iterator[tuple[list[int], int]]:
    name = os.fspath(path)
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise FormatError(name, None, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise FormatError(name, None, f"{error!s:.120}; expected an array of token ids") from None
    if table.dtype.kind not in "iu" or table.ndim not in (1, 2):
        shape = "x".join(map(str, table.shape))
        raise FormatError(name, None, f"has {table.dtype} {shape}, expected integers [samples, tokens]")
    if table.ndim == 2:
        for row in table:
            yield row.tolist(), 1
        return
    if end is None:
        raise FormatError(name, None, "has one stream of tokens; give the token that ends a sample (--end)")
    begin = 0
    for stop in np.flatnonzero(table == end).tolist():
        yield table[begin : stop + 1].tolist(), 1
        begin = stop + 1
    yield table[begin:].tolist(), 1


def _json_rows(path: str | os.PathLike[str]) -> Iterator[tuple[list[int], int, Row | None]]:
    with ChunkReader(path) as reader:
        try:
            text = decode(b"".join(iter(reader, b"")), reader.name)
        except ValueError as error:
            raise FormatError(reader.name, None, str(error)) from None
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                yield _json_sample(json.loads(line))
            except ValueError as error:
                problem = _EXPECTED if isinstance(error, json.JSONDecodeError) else str(error)
                raise FormatError(reader.name, number, problem) from None


def _json_sample(record: Any) -> tuple[list[int], int, Row | None]:
    count, targets = 1, None
    if isinstance(record, dict):
        if set(record) - _FIELDS:
            raise ValueError(f"found {', '.join(sorted(set(record) - _FIELDS))}; {_EXPECTED}")
        count, targets = record.get("count", 1), record.get("targets")
        record = record.get("tokens")
    if not isinstance(record, list) or any(type(token) is not int for token in record):
        raise ValueError(_EXPECTED)
    if type(count) is not int or count < 0:
        raise ValueError(f"found the count {count!r}, expected a whole number from 0 up")
    return record, count, None if targets is None else read_row(targets, len(record))


def read_embeddings(path: str | os.PathLike[str]) -> NDArray[np.float32]:
    """Read vectors [tokens, width] from a ``.npy`` file."""
    name = os.fspath(path)
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise FormatError(name, None, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise FormatError(name, None, f"{error!s:.120}; expected a .npy file of vectors") from None
    if table.dtype.kind != "f" or table.ndim != 2 or not np.isfinite(table).all():
        raise FormatError(name, None, "is no table of finite numbers, expected a vector for each token")
    return np.asarray(table, np.float32)


def embedding_clusters(
    samples: Samples, vectors: NDArray[np.float32], clusters: int, *, seed: int, name: str = "<embeddings>"
) -> Clusters:
    """Put the tokens of samples into classes of similar vectors, by k-means; row i is that of token i."""
    counts = Counter(samples.text.decode().split())
    words = sorted(counts, key=lambda word: (-counts[word], int(word)))
    tokens = np.array([int(word) for word in words])
    if tokens.max() >= len(vectors):
        raise FormatError(
            name, None, f"has {len(vectors)} vectors, expected one for each token up to {tokens.max()}"
        )
    classes = k_means(vectors[tokens], min(clusters, len(words)), np.random.default_rng(seed))
    return Clusters(tuple(words), tuple(classes.tolist()), tuple(counts[word] for word in words), ())


def k_means(points: NDArray[np.float32], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the cluster of each point, numbered 0 .. k - 1 without gaps; Lloyd's algorithm.

    It begins at k points, each drawn in proportion to its squared distance from those before it.
    """
    centres = points[_spread(points, k, rng)]
    nearest = np.full(len(points), -1, np.int64)
    for _ in range(_ROUNDS):
        before, nearest = nearest, _nearest(points, centres)
        if (before == nearest).all():
            break
        sums = np.zeros((len(centres), points.shape[1]), np.float64)
        np.add.at(sums, nearest, points)
        sizes = np.bincount(nearest, minlength=len(centres))
        used = sizes > 0
        centres[used] = (sums[used] / sizes[used, None]).astype(np.float32)
    return np.unique(nearest, return_inverse=True)[1].astype(np.int64)


def _spread(points: NDArray[np.float32], k: int, rng: np.random.Generator) -> list[int]:
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while len(chosen) < k:
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(1, dtype=np.float64))
        if distance.sum() == 0.0:
            break  # fewer different points than clusters
        chosen.append(int(rng.choice(len(points), p=distance / distance.sum())))
    return chosen


def _nearest(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int64]:
    norms = (centres**2).sum(1)
    step = max(1, _BLOCK // len(centres))
    return np.concatenate(
        [
            np.argmin(norms - 2 * (points[b : b + step] @ centres.T), axis=1)
            for b in range(0, len(points), step)
        ]
    )
