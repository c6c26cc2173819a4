"""What a request says, read: words, candidates, how long a search may take.

A fault is one line that names the field.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from hiddenite.candidates import Candidates
from hiddenite.errors import HiddeniteError, ModelError
from hiddenite.files.corpus import tokenize
from hiddenite.ngram import NgramModel
from hiddenite.query import Budget
from hiddenite.web import schema
from hiddenite.web.models import Models

PROOF_SHARE = 0.75  # of the time is for the search; a search that ends there says how far off it can be


class MissingModel(HiddeniteError):
    """A question that no loaded model answers."""

    def __init__(self, kind: str, option: str) -> None:
        super().__init__(f"no {kind} is loaded; start the server with: hiddenite serve --{option} MODEL")


def check_text(text: str, place: str) -> None:
    """Raise ModelError for what is no text."""
    for column, character in enumerate(text, 1):
        kind = unicodedata.category(character)
        if kind == "Cs" or (kind == "Cc" and not character.isspace()):
            raise ModelError(f"'{place}', column {column}: found {character!a}, expected text")


def words_of(text: str, place: str) -> list[str]:
    """Return the words of a text that a request holds; raise ModelError for what is no text or too long."""
    check_text(text, place)
    words = tokenize(text)
    if len(words) > schema.WORDS:
        raise ModelError(f"'{place}' has {len(words)} words, expected at most {schema.WORDS}")
    return words


def lines_of(text: str, place: str) -> list[list[str]]:
    """Return the words of each line of a text."""
    check_text(text, place)
    return [tokenize(line) for line in text.removesuffix("\n").split("\n")]


def language_model(models: Models) -> NgramModel:
    """Return the language model or say that there is none."""
    if models.lm is None:
        raise MissingModel("language model", "lm")
    return models.lm


def observe(models: Models, request: schema.Noisy) -> tuple[str | None, Candidates]:
    """Return what was typed and its candidates."""
    lm = language_model(models)
    if request.slots is not None:
        for position, slot in enumerate(request.slots, 1):
            for word, _ in slot:
                _check_word(word, f"slots, position {position}")
        return None, Candidates.from_slots(lm.vocabulary, request.slots)
    if request.lattice is not None:
        for number, (_, _, word, _) in enumerate(request.lattice, 1):
            _check_word(word, f"lattice, edge {number}")
        return None, Candidates.from_lattice(lm.vocabulary, request.lattice)
    channel = models.channel(request.channel, request.noise)
    if request.input is not None:
        line = " ".join(words_of(request.input, "input"))
    else:
        message = " ".join(words_of(request.message or "", "message"))
        line = channel.encode(message, request.seed if request.noise > 0 else None)
    return line, channel(line)


def _check_word(word: str, place: str) -> None:
    if words_of(word, place) != [word]:
        raise ModelError(f"'{place}': found {word!a}, expected a word")


def budget(models: Models, method: str = "auto") -> Budget:
    """Return how long a search may take; one by refinement must not grow without bounds either."""
    seconds = PROOF_SHARE * models.limits.seconds
    if method in ("refine", "paper"):
        return Budget(seconds=seconds, states=models.limits.states)
    return Budget(seconds=seconds)


def unknown_words(words: Iterable[str], knows: Callable[[str], bool]) -> list[str]:
    """Return the words that are not known, each once."""
    return [word for word in dict.fromkeys(words) if not knows(word)]
