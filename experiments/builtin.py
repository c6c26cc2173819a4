"""Texts that need no data: the Bible of the extra ``demo``; a tagged and a parallel text drawn from models.

They are written in the layout of the real data, so that nothing else has to know which of the two it reads.

Tagged text: tags follow a trigram model with sparse random rows; a word is a stem of syllables with an ending
of its tag, word frequencies fall as 1 / rank, and some words have two tags. Parallel text: a word of the
tagged text becomes none, one or more words, mostly as many as its fertility says; neighbours change places
now and then, and some words come from nowhere. Tags and links are known because they were drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hiddenite.cli.demo import built_in_text

SENTENCES = {"tiny": 250, "small": 2500, "reduced": 4000, "full": 8000}  # of the simulated texts
LINES = {"tiny": 1500, "small": 12_000, "reduced": 40_000, "full": 40_000}  # of the Bible, at most
HELD_OUT = 10  # every so many lines of the Bible one is held out
NUM_TAGS, CLOSED_TAGS = 12, 4
OPEN_WORDS, CLOSED_WORDS = 150, 8  # words of a tag
AMBIGUOUS = 0.15  # share of a tag's words that are another tag's too
TEST_PAIRS = {"tiny": 20, "small": 150, "reduced": 200, "full": 400}
FERTILITIES, FERTILITY_SHARES = (0, 1, 2, 3), (0.1, 0.65, 0.2, 0.05)
FAITHFUL = 0.85  # how often a word has its own fertility
SWAPPED, INSERTED = 0.15, 0.05
Tagged = list[tuple[str, str]]


def write_texts(directory: Path, size: str) -> Path:
    """Write all texts once; return the directory."""
    if (directory / "complete").exists():
        return directory
    tagged = tagged_text(SENTENCES[size], np.random.default_rng(1))
    _write(directory / "tagged" / "wsj-sample.tsv", ["\n".join(map("\t".join, s)) + "\n" for s in tagged])
    _write_parallel(directory / "align" / "hansards", tagged, TEST_PAIRS[size])
    source, lines = built_in_text()
    if len(lines) < LINES["tiny"]:
        raise SystemExit(f"the built-in text is {source}; expected the extra: pip install 'hiddenite[demo]'")
    lines = lines[: LINES[size]]
    held_out = lines[::HELD_OUT]
    train = [line for i, line in enumerate(lines) if i % HELD_OUT]
    half = len(held_out) // 2
    for name in ("ptb", "wikitext-2"):
        for part, chosen in (("train", train), ("valid", held_out[:half]), ("test", held_out[half:])):
            _write(directory / "lm" / name / f"{part}.txt", chosen)
    _write(directory / "lm" / "hansard" / "train.txt", train)
    _write(directory / "lm" / "hansard" / "heldout.txt", held_out)
    (directory / "complete").touch()
    return directory


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


# ----------------------------------------------------------------- tagged text


def tagged_text(number: int, rng: np.random.Generator) -> list[Tagged]:
    """Draw sentences of words and tags."""
    rows = rng.gamma(0.15, size=(NUM_TAGS + 1, NUM_TAGS + 1, NUM_TAGS)) + 1e-4
    rows /= rows.sum(axis=2, keepdims=True)
    lexicon = [_words(tag, rng) for tag in range(NUM_TAGS)]
    for tag in range(NUM_TAGS):
        for place in np.flatnonzero(rng.random(len(lexicon[tag])) < AMBIGUOUS / 2):
            other = lexicon[int(rng.integers(NUM_TAGS))]
            other[int(rng.integers(len(other)))] = lexicon[tag][place]
    shares = [_zipf(len(words)) for words in lexicon]
    return [_sentence(rows, lexicon, shares, rng) for _ in range(number)]


def _sentence(
    rows: np.ndarray, lexicon: list[list[str]], shares: list[np.ndarray], rng: np.random.Generator
) -> Tagged:
    before, last, sentence = NUM_TAGS, NUM_TAGS, []
    for _ in range(int(rng.integers(5, 25))):
        tag = int(rng.choice(NUM_TAGS, p=rows[before, last]))
        word = lexicon[tag][int(rng.choice(len(lexicon[tag]), p=shares[tag]))]
        sentence.append((word, f"T{tag:02}"))
        before, last = last, tag
    return sentence


def _zipf(number: int) -> np.ndarray:
    weights = 1.0 / np.arange(1, number + 1)
    return np.asarray(weights / weights.sum())


def _words(tag: int, rng: np.random.Generator) -> list[str]:
    """Return a tag's words: a few short ones, or many with one of its endings."""
    if tag < CLOSED_TAGS:
        return [_syllables(rng, 1) for _ in range(CLOSED_WORDS)]
    endings = [_syllables(rng, 1)[::-1] for _ in range(3)]
    return [_syllables(rng, 2) + endings[int(rng.integers(3))] for _ in range(OPEN_WORDS)]


def _syllables(rng: np.random.Generator, number: int) -> str:
    return "".join(
        str(rng.choice(list("bdfgklmnprst"))) + str(rng.choice(list("aeiou"))) for _ in range(number)
    )


# --------------------------------------------------------------- parallel text


def _write_parallel(directory: Path, tagged: Sequence[Tagged], num_test: int) -> None:
    rng = np.random.default_rng(2)
    translate = functools.cache(lambda word: _translation(rng))
    pairs = [_pair([word for word, _ in sentence], translate, rng) for sentence in tagged]
    for part, chosen in (("test", pairs[:num_test]), ("train", pairs[num_test:])):
        _write(directory / f"{part}.en", [" ".join(source) for source, _, _ in chosen])
        _write(directory / f"{part}.fr", [" ".join(target) for _, target, _ in chosen])
    links = (pair[2] for pair in pairs[:num_test])
    _write(directory / "test.gold", [" ".join(f"{i}-{j}" for i, j in each) for each in links])


def _translation(rng: np.random.Generator) -> tuple[str, ...]:
    """Return the words that a word usually becomes."""
    return tuple(_syllables(rng, 2) for _ in range(int(rng.choice(FERTILITIES, p=FERTILITY_SHARES))))


def _pair(
    source: list[str], translate: functools._lru_cache_wrapper[tuple[str, ...]], rng: np.random.Generator
) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Return source, target and links."""
    phrases: list[list[tuple[int | None, str]]] = []
    for i, word in enumerate(source):
        usual = translate(word)
        kept = usual if rng.random() < FAITHFUL else usual[:1] or (_syllables(rng, 2),)
        phrases.append([(i, each) for each in kept])
        if rng.random() < INSERTED:
            phrases.append([(None, "ze")])
    for k in range(1, len(phrases)):
        if rng.random() < SWAPPED:
            phrases[k - 1 : k + 1] = phrases[k], phrases[k - 1]
    placed = [each for phrase in phrases for each in phrase] or [(0, "ze")]
    links = [(i, j) for j, (i, _) in enumerate(placed) if i is not None]
    return source, [word for _, word in placed], links
