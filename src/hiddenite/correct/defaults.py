"""The default model of a language: built at first use, kept in the user's cache, checked before use.

::

    ~/.cache/hiddenite/en-typing-4cf5e2a07b1d9c38.corrector        or below $XDG_CACHE_HOME
    ~/.cache/hiddenite/en-typing-4cf5e2a07b1d9c38.json             its SHA-256, and what it was made of

The name holds a digest of all that the model depends on: the versions of hiddenite and of the packages, the
kind of errors and the user's text. A file that was changed and has another checksum is built again; reading
compares the checksums of its parts in any case. A model for other errors is made from one that is there.
English is described in :mod:`hiddenite.correct.english`; of other languages the words and their frequencies
are known (wordfreq), and the user's text teaches what follows what.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hiddenite.correct import english
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.settings import Calibration
from hiddenite.correct.wordlists import without_misspellings
from hiddenite.errors import FormatError, HiddeniteWarning, ModelError, UnknownSymbolError, near_spellings
from hiddenite.files.corpus import ChunkReader, decode_part, line_blocks
from hiddenite.ngram import NgramModel
from hiddenite.version import VERSION

ORDER = 3
LISTED = 120_000  # of another language's words
# How English decides: fitted by `tune` on texts that are not part of anything here, with thresholds at which
# clean edited prose changes by about one word in a thousand.
_DECISIONS: dict[str, dict[str, Any]] = {
    "typing": {
        "calibration": Calibration(-0.67, 0.46, 0.22),
        "threshold": 0.4,
        "known_threshold": 0.62,
        "careful_threshold": 0.75,
    },
    "ocr": {
        "calibration": Calibration(-0.77, 0.33, -0.80),
        "threshold": 0.32,
        "known_threshold": 0.32,
        "careful_threshold": 0.6,
    },
}
_RECIPE = 12  # is raised when a model built in another way must not be found any more
Report = Callable[[str], None]


def default_model(
    language: str = "en", kind: str = "typing", text: str | None = None, report: Report = lambda _: None
) -> str:
    """Return the path of a language's model; it is built if the cache has none."""
    made_of = _ingredients(language, kind, text)
    path = _place(made_of)
    if not _is_sound(path):
        _check_language(language)
        report(f"building the default model for '{language}' (once; it is kept in {path.parent})")
        begun = time.perf_counter()
        _keep(_relative(made_of) or build(language, kind, text), path, made_of)
        report(f"built it in {time.perf_counter() - begun:.1f} s")
    return str(path)


def _place(made_of: dict[str, object]) -> Path:
    digest = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:16]
    return cache_folder() / f"{made_of['language']}-{made_of['kind']}-{digest}.corrector"


def _relative(made_of: dict[str, object]) -> Corrector | None:
    """Return the corrector made of one for other errors that the cache has: the language is the same."""
    for kind in _DECISIONS:
        path = _place(made_of | {"kind": kind})
        if kind != made_of["kind"] and _is_sound(path):
            with contextlib.suppress(FormatError):  # it is built from the texts then
                return with_kind(Corrector.load(path), str(made_of["kind"]), str(made_of["language"]))
    return None


def build(language: str, kind: str, text: str | None = None) -> Corrector:
    """Make the default corrector of a language."""
    own = [] if text is None else list(_own_sentences(text))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)  # of small texts
        if language == "en":
            lm, words = english.language_model(own)
        else:
            words = _words(language)
            lm = NgramModel.train(own, order=ORDER) if own else _unigrams(words)
    return _decided(Corrector.from_ngram(lm, kind=kind, words=words), language)


def with_kind(corrector: Corrector, kind: str, language: str = "en") -> Corrector:
    """Return the default corrector of the same language for other errors."""
    return _decided(Corrector.from_ngram(corrector.lm, kind=kind, words=corrector.words), language)


def _decided(corrector: Corrector, language: str) -> Corrector:
    decision = _DECISIONS.get(corrector.settings.kind, {}) if language == "en" else {}
    return corrector.with_settings(dataclasses.replace(corrector.settings, **decision))


def _own_sentences(path: str) -> Iterable[str]:
    with ChunkReader(path) as reader:
        for block, _ in line_blocks(reader):
            yield from map(english.tokenized, decode_part(block, reader.name).split("\n"))


# --------------------------------------------------------------- other languages


def _check_language(language: str) -> None:
    """Raise if there are no word frequencies for a language."""
    try:
        import wordfreq  # noqa: PLC0415  (an extra)
    except ImportError:
        raise ModelError(
            'the default model needs wordfreq: pip install "hiddenite[english]"; or give --model or --lm'
        ) from None
    known = sorted(wordfreq.available_languages("small"))
    if language not in known:
        raise UnknownSymbolError("language", language, near_spellings(language, known) or known)
    if language == "en" and not any(english.folder(one) for one in english.PACKAGES[1:]):
        raise ModelError('the default model for English needs its texts: pip install "hiddenite[english]"')


def _words(language: str) -> dict[str, float]:
    import wordfreq  # noqa: PLC0415  (an extra)

    frequencies = wordfreq.get_frequency_dict(language, "best")
    frequent = sorted(frequencies, key=lambda one: -frequencies[one])[:LISTED]
    listed = {word: frequencies[word] for word in frequent if word.replace("'", "").isalpha()}
    return without_misspellings(listed, ())


def _unigrams(words: dict[str, float]) -> NgramModel:
    """Return the model of words that do not know their neighbours, by way of ARPA text."""
    import math  # noqa: PLC0415

    total = sum(words.values()) * 1.1  # the rest is for marks, the end and unknown words
    marks = dict.fromkeys(["</s>", "<unk>", ".", ",", "?", "!"], total / 66)
    rows = [f"{math.log10(value / total):.6f}\t{word}" for word, value in (marks | words).items()]
    lines = ["\\data\\", f"ngram 1={len(rows) + 1}", "", "\\1-grams:", "-99\t<s>", *rows, "", "\\end\\", ""]
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "words.arpa")
        file.write_text("\n".join(lines), "utf-8")
        return NgramModel.load(file)


# ------------------------------------------------------------------------- cache


def cache_folder() -> Path:
    """Return the folder of the user's own where default models are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "hiddenite"


def _ingredients(language: str, kind: str, text: str | None) -> dict[str, object]:
    """Return all that the model depends on."""
    packages = ("wordfreq",) if language != "en" else english.PACKAGES
    versions = _versions(packages)
    own = None if text is None else _digest(Path(text))
    return {
        "hiddenite": VERSION,
        "recipe": _RECIPE,
        "language": language,
        "kind": kind,
        "text": own,
        "packages": versions,
    }


def _versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Return the versions of installed packages, read from the names of their folders.

    ``importlib.metadata`` gives the same and takes ten times as long; it is asked for those
    whose folder has another name.
    """
    named: dict[str, str] = {}
    for place in sys.path:
        with contextlib.suppress(OSError):
            for entry in os.listdir(place or "."):
                if entry.endswith(".dist-info"):
                    package, _, version = entry.removesuffix(".dist-info").partition("-")
                    named.setdefault(package, version)
    return {package: named.get(package) or _version(package) for package in packages}


def _version(package: str) -> str | None:
    import importlib.metadata  # noqa: PLC0415

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package.replace("_", "-"))
    return None


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be opened: {error.strerror or error}") from None


def _stamp(path: Path) -> list[int]:
    """Return what changes with a file: size and time of the last change."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def _is_sound(path: Path) -> bool:
    """Tell whether the cache has a model as it was written."""
    try:
        noted = json.loads(path.with_suffix(".json").read_text("utf-8"))
        stamp = _stamp(path)
        if noted.get("stamp") == stamp:
            return True
        if noted["sha256"] != _digest(path):
            return False
        with contextlib.suppress(OSError):  # it was copied: the next run need not read it again to know
            _note(path, noted | {"stamp": stamp})
        return True
    except (OSError, ValueError, KeyError, TypeError, ModelError):
        return False


def _keep(corrector: Corrector, path: Path, made_of: dict[str, object]) -> None:
    """Write a model into the cache; what is there under this name is whole at any time."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        corrector.save(path)
        _note(path, made_of | {"sha256": _digest(path), "stamp": _stamp(path)})
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be written: {error.strerror or error}; set XDG_CACHE_HOME to another folder"
        ) from None


def _note(path: Path, noted: dict[str, object]) -> None:
    """Write what is known of a model beside it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(json.dumps(noted, indent=1) + "\n")
    os.replace(temporary, path.with_suffix(".json"))
