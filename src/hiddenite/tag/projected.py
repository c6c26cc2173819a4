"""Soft labels: words with probabilities of their tags, as ``hiddenite align project`` writes them.

=========  ==========================================================================================
tsv        ``word TAB label TAB probability``
conllu     the label in its column, ``Projected=probability`` in the last one
json       one object a line with words and distributions: what ``align project --json`` gives
=========  ==========================================================================================

Only JSON has all labels of a word. Of the others the best is known with its probability p; what is missing to
one is shared out among all labels as often as each is seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode
from hiddenite.tag.annotation import Evidence, LabelledSentence
from hiddenite.tag.formats import NOT_ANNOTATED, Record, format_of, read_records

PROBABILITY = "Projected="
LEAST = 1e-3  # less probable labels are left out


def read_projected(path: str, file_format: str = "auto", column: str = "xpos") -> list[LabelledSentence]:
    """Read sentences with soft labels."""
    if _is_json(path, file_format):
        return list(_read_json(path))
    chosen = format_of(path, "tsv") if file_format == "auto" else file_format
    if chosen == "plain":
        raise FormatError(path, None, "is plain text, expected labels with probabilities: align project's")
    with ChunkReader(path) as reader:
        name: Any = chosen
        records = list(read_records(reader, name, column, with_tags=True))
    rows = [(record, _probabilities(record, path)) for record in records if record.words]
    if not rows:
        raise FormatError(path, None, "has no word with a label")
    shares = _shares((tag, p) for record, ps in rows for tag, p in zip(record.tags, ps, strict=True))
    return [
        [(w, _evidence(tag, p, shares)) for w, tag, p in zip(r.words, r.tags, ps, strict=True)]
        for r, ps in rows
    ]


def _is_json(path: str, file_format: str) -> bool:
    return file_format == "auto" and path.removesuffix(".gz").endswith((".json", ".jsonl"))


def _probabilities(record: Record, path: str) -> list[float]:
    """Return the probability of each word's label."""
    columns = [line.split("\t") for line in record.lines if line.partition("\t")[0].isdigit()]
    if columns:
        texts = [
            next((x.removeprefix(PROBABILITY) for x in row[-1].split("|") if x.startswith(PROBABILITY)), "")
            for row in columns
        ]
    else:
        texts = list(record.more)
    result = []
    for i, (text, tag) in enumerate(zip(texts, record.tags, strict=True)):
        try:
            p = float(text) if tag != NOT_ANNOTATED else 0.0
        except ValueError:
            p = -1.0
        if not 0 <= p <= 1:
            raise FormatError(
                path,
                record.line + i,
                f"«{record.words[i]}»: found no probability, expected the output of align project",
            )
        result.append(p)
    return result


def _shares(labels: Iterable[tuple[str, float]]) -> dict[str, float]:
    masses: Counter[str] = Counter()
    for tag, p in labels:
        if tag != NOT_ANNOTATED:
            masses[tag] += p  # type: ignore[assignment]
    total = sum(masses.values())
    return {tag: mass / total for tag, mass in masses.items() if mass > 0}


def _evidence(tag: str, p: float, shares: dict[str, float]) -> Evidence:
    if tag == NOT_ANNOTATED or p == 0:
        return {}
    rest = 1 - shares[tag]
    found = {t: (1 - p) * share / rest for t, share in shares.items() if t != tag and rest > 0}
    return {tag: p} | {t: q for t, q in found.items() if q >= LEAST}


def _read_json(path: str) -> Iterator[LabelledSentence]:
    with ChunkReader(path) as reader:
        text = decode(b"".join(iter(reader, b"")), reader.name)
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        try:
            record = json.loads(line)
            words, rows = record["words"], record["distributions"]
            sentence: LabelledSentence = [
                (str(w), {str(t): float(p) for t, p in row.items() if float(p) >= LEAST})
                for w, row in zip(words, rows, strict=True)
            ]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise FormatError(
                path, number, "expected an object with words and distributions: align project --json"
            ) from None
        if sentence:
            yield sentence
