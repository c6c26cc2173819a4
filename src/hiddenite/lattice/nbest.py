"""Lists of the n best hypotheses: SRILM's three kinds, and Moses's.

    -10.5 -2.1 2 the dog                            SRILM: acoustic and language score (log10), count, words
    (-1000) the dog                                 after a line NBestList1.0: one score, in bytelogs
    (-1000) the ( st: 0 et: 0.3 g: -9 a: -90 ) …    after a line NBestList2.0: scores of words, in bytelogs
    0 ||| the dog ||| lm=-2 ||| -3                  Moses: sentence, words, features, ln of the weight

A bytelog is a logarithm to the base 1.0001, divided by 1024.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from hiddenite.lattice.lattice import Edge, Final, Lattice
from hiddenite.lattice.source import Source, format_number, plain_word

LN_10 = math.log(10.0)
BYTELOG = 1024 * math.log(1.0001)
DECIPHER = ("NBestList1.0", "NBestList2.0")
_TIMED = re.compile(r"\s*(\S+) +\( +st: +(\S+) +et: +(\S+) +g: +(\S+) +a: +(\S+) +\)(?=\s|\Z)")
Row = tuple[list[str], float, float]  # words, acoustic and language score as natural logarithms


def read_nbest(source: Source) -> Iterator[Lattice]:
    """Read lists of the n best.

    Empty lines and headers part the lists of SRILM's kinds, and numbers of sentences those of Moses's.
    """
    rows: list[Row] = []
    name: str | None = None
    header = ""
    for line, text in enumerate([*source.lines, ""], 1):
        moses = text.split("|||")
        if text.strip() in DECIPHER:
            if rows:
                yield _lattice(rows, name)
                rows, name = [], None
            header = text.strip()
        elif len(moses) >= 3:
            if rows and moses[0].strip() != name:
                yield _lattice(rows, name)
                rows = []
            name = moses[0].strip()
            score = source.log_score(line, moses[-1].split()[0] if moses[-1].split() else "", "score")
            rows.append((moses[1].split(), score, 0.0))
        elif text.strip():
            rows.append(_decipher_row(source, line, text, header) if header else _row(source, line, text))
        elif rows:
            yield _lattice(rows, name)
            rows, name, header = [], None, ""


def _row(source: Source, line: int, text: str) -> Row:
    fields = text.split()
    if len(fields) < 3:
        raise source.error(
            line, "expected an acoustic score, a language model's score, a count and the words"
        )
    acoustic, language = (source.log_score(line, score, "score") * LN_10 for score in fields[:2])
    count = source.count(line, fields[2], "number of words")
    words = fields[3:]
    if count != len(words):
        raise source.error(line, f"found {len(words)} words, the line says {count}; it may be cut short")
    return words, acoustic, language


def _decipher_row(source: Source, line: int, text: str, header: str) -> Row:
    score, closed, rest = text.strip().partition(")")
    if not score.startswith("(") or not closed:
        raise source.error(line, f"found '{text.strip():.40}', expected (score) and the words after {header}")
    total = source.log_score(line, score[1:].strip(), "score") * BYTELOG
    return (rest.split(), total, 0.0) if header == DECIPHER[0] else _timed_words(source, line, rest)


def _timed_words(source: Source, line: int, text: str) -> Row:
    """Read words with times and scores; phones and states, which lie within the word before, are left out."""
    words = []
    acoustic = language = 0.0
    begin, end = math.inf, -math.inf
    at = 0
    text = text.strip()
    while at < len(text):
        found = _TIMED.match(text, at)
        if found is None:
            wanted = "word ( st: 0 et: 0.3 g: -9 a: -90 )"
            raise source.error(line, f"found '{text[at:].strip():.40}', expected {wanted}")
        at = found.end()
        first, last = (source.finite(line, found[i], "time") for i in (2, 3))
        if begin <= first and last <= end:
            continue
        begin, end = first, last
        words.append(found[1])
        language += source.log_score(line, found[4], "g:") * BYTELOG
        acoustic += source.log_score(line, found[5], "a:") * BYTELOG
    return words, acoustic, language


def _lattice(rows: Sequence[Row], name: str | None) -> Lattice:
    """Return a lattice with one path for each row, whose scores stand on its first edge."""
    edges = []
    nodes = 2
    for words, acoustic, language in rows:
        at = 0
        for i, word in enumerate(words or [""]):
            to = 1 if i >= len(words) - 1 else nodes
            nodes += to == nodes
            first = (acoustic, language) if i == 0 else (0.0, 0.0)
            edges.append(Edge(at, to, plain_word(word), *first))
            at = to
    return Lattice(edges, {1: Final()}, id=name, num_nodes=nodes)


def write_nbest(rows: Sequence[tuple[Sequence[str], float, float]]) -> Iterator[str]:
    """Give the lines of a list in SRILM's form: words, natural-log acoustic and language scores."""
    for words, acoustic, language in rows:
        scores = f"{format_number(acoustic / LN_10)} {format_number(language / LN_10)}"
        yield f"{scores} {len(words)} {' '.join(words)}".rstrip()
    yield ""
