"""Data, models and peers of the benchmark of text correction.

Noisy texts: noisy/ under HIDDENITE_DATA, or beside the checkout. The language model is trained on
lm/english (lower-cased, order 3) and kept under ``build/bench``, or where HIDDENITE_BENCH says; JamSpell is
trained on the same text. The word list is that of symspellpy, which symspellpy uses itself.
"""

from __future__ import annotations

import functools
import lzma
import os
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

from hiddenite.correct.answers import Change, Correction
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.tokens import tokens, with_case
from hiddenite.ngram import NgramModel, TrainingOptions
from hiddenite.results import Certificate

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
BUILD = Path(os.environ.get("HIDDENITE_BENCH", ROOT / "build" / "bench"))
ORDER = 3
Pairs = list[tuple[str, str]]
Fix = Callable[[str], Correction]


def noisy(name: str) -> list[list[str]]:
    """Return the rows of a file of noisy text."""
    text = (DATA / "noisy" / f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n") if line.strip()]


def pairs(name: str) -> Pairs:
    """Return (noisy line, clean line) of a file."""
    return [(row[0], row[1]) for row in noisy(name) if len(row) > 1]


def tweets() -> list[list[tuple[str, str]]]:
    """Return tweets as pairs of a token and its normal form."""
    text = (DATA / "noisy" / "normalise-lexnorm2015.train.tsv").read_text(encoding="utf-8")
    rows = (block.split("\n") for block in text.split("\n\n") if block.strip())
    return [[(a, b) for a, _, b in (line.partition("\t") for line in block if line)] for block in rows]


@functools.cache
def training_text() -> Path:
    """Return the language models' text, lower-cased."""
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / "english.txt"
    if not path.exists():
        with lzma.open(DATA / "lm" / "english" / "train.txt.xz", "rt", encoding="utf-8") as lines:
            path.write_text("".join(line.lower() for line in lines), encoding="utf-8")
    return path


@functools.cache
def language_model() -> NgramModel:
    """Return the model, compiled when it is first asked for."""
    path = BUILD / f"english-{ORDER}.bin"
    if not path.exists():
        NgramModel.train_files([training_text()], TrainingOptions(order=ORDER)).compile(path)
    return NgramModel.load(path)


@functools.cache
def word_list() -> dict[str, float]:
    """Return symspellpy's words with their frequencies."""
    file = resources.files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    rows = (line.split() for line in file.read_text(encoding="utf-8-sig").splitlines())
    return {row[0]: float(row[1]) for row in rows}


@functools.cache
def corrector(kind: str) -> Corrector:
    """Return a corrector that has learnt no pairs."""
    return Corrector.from_ngram(language_model(), kind=kind, words=word_list())


# ------------------------------------------------------------------------- peers


def correction(text: str, changes: Sequence[Change]) -> Correction:
    """Return a peer's answer."""
    out, place = [], 0
    for change in changes:
        out += [text[place : change.start], change.new]
        place = change.end
    return Correction("".join([*out, text[place:]]), tuple(changes), Certificate(False, 0.0, 0.0, "", 0, 0))


def _by_words(text: str, fix: Callable[[str], str]) -> Correction:
    changes = []
    for token in tokens(text):
        old = text[token.start : token.end]
        new = fix(old) if token.kind == "word" else old
        if new != old:
            changes.append(Change(token.start, token.end, old, new, 1.0, 1.0, ()))
    return correction(text, changes)


@functools.cache
def symspell() -> Fix | None:
    """Return symspellpy: the most frequent word within two edits of an unknown one."""
    try:
        from symspellpy import SymSpell, Verbosity  # noqa: PLC0415
    except ImportError:
        return None
    speller = SymSpell(max_dictionary_edit_distance=2)
    for word, count in word_list().items():
        speller.create_dictionary_entry(word, int(count))

    def fix(word: str) -> str:
        found = speller.lookup(word.lower(), Verbosity.TOP, max_edit_distance=2)
        return with_case(found[0].term, word) if found and found[0].term != word.lower() else word

    return lambda text: _by_words(text, fix)


@functools.cache
def jamspell() -> Fix | None:
    """Return JamSpell trained on the same text; it never changes the number of words."""
    try:
        import jamspell as package  # noqa: PLC0415
    except ImportError:
        return None
    path = BUILD / "english.jamspell"
    speller = package.TSpellCorrector()
    if path.exists():
        speller.LoadLangModel(str(path))
    else:
        alphabet = BUILD / "alphabet.txt"
        alphabet.write_text("abcdefghijklmnopqrstuvwxyz\n", encoding="utf-8")
        speller.TrainLangModel(str(training_text()), str(alphabet), str(path))

    def fix(text: str) -> Correction:
        fixed = speller.FixFragment(text)
        old_words = [t for t in tokens(text) if t.kind == "word"]
        new_words = [t for t in tokens(fixed) if t.kind == "word"]
        if len(old_words) != len(new_words):
            return correction(text, ())
        changes = []
        for a, b in zip(old_words, new_words, strict=True):
            old, new = text[a.start : a.end], fixed[b.start : b.end]
            if old.lower() != new.lower():
                changes.append(Change(a.start, a.end, old, with_case(new.lower(), old), 1.0, 1.0, ()))
        return correction(text, changes)

    return fix


PEERS: dict[str, Callable[[], Fix | None]] = {"symspellpy": symspell, "JamSpell": jamspell}
