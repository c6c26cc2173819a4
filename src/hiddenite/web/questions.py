"""Requests to answers: plain functions of the models and a checked request, run by the worker threads.

Every answer is its result's ``to_dict``; answers about noisy text add ``input``, what was typed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from hiddenite.channel import Candidates
from hiddenite.corpus import tokenize
from hiddenite.errors import HiddeniteError, ModelError
from hiddenite.inference import Budget, decode, kbest, marginals, sample
from hiddenite.ngram import NgramModel
from hiddenite.web.beam import beam_search
from hiddenite.web.models import Models

Request = dict[str, Any]
Answer = dict[str, Any]


class MissingModel(HiddeniteError):
    """A question that no loaded model answers."""

    def __init__(self, kind: str, option: str) -> None:
        super().__init__(f"no {kind} is loaded; start the server with: hiddenite serve --{option} MODEL")


# --------------------------------------------------------------------- reading


def words_of(text: str, models: Models, place: str) -> list[str]:
    """Return the words of a text that a request holds; raise ModelError for what is no text or too long."""
    for column, character in enumerate(text, 1):
        kind = unicodedata.category(character)
        if kind == "Cs" or (kind == "Cc" and not character.isspace()):
            raise ModelError(f"'{place}', column {column}: found {character!a}, expected text")
    words = tokenize(text)
    if len(words) > models.limits.words:
        raise ModelError(f"'{place}' has {len(words)} words, expected at most {models.limits.words}")
    return words


def language_model(models: Models) -> NgramModel:
    """Return the language model or say that there is none."""
    if models.lm is None:
        raise MissingModel("language model", "lm")
    return models.lm


def observe(models: Models, request: Request) -> tuple[str | None, Candidates]:
    """Return what was typed and its candidates; exactly one of message, input and slots is given."""
    lm = language_model(models)
    given = [name for name in ("message", "input", "slots") if request[name] is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise ModelError(f"found {found}, expected exactly one of message, input and slots")
    if given == ["slots"]:
        for position, slot in enumerate(request["slots"], 1):
            for word, _ in slot:
                if words_of(word, models, f"slots, position {position}") != [word]:
                    raise ModelError(f"'slots', position {position}: found {word!a}, expected a word")
        return None, Candidates.from_slots(lm.vocabulary, request["slots"])
    channel = models.channel(request["channel"], request["noise"])
    line = " ".join(words_of(request[given[0]], models, given[0]))
    if given == ["message"]:
        line = channel.encode(line, request["seed"] if request["noise"] > 0 else None)
    return line, channel(line)


def _budget(models: Models, method: str = "auto") -> Budget:
    """Return how long a search may take; one by refinement must not grow without bounds either."""
    if method in ("refine", "paper"):
        return Budget(seconds=models.limits.seconds, states=models.limits.states)
    return Budget(seconds=models.limits.seconds)


# ------------------------------------------------------------------- noisy text


def answer_decode(models: Models, request: Request) -> Answer:
    """Return the best reading with its certificate."""
    typed, candidates = observe(models, request)
    best = decode(
        language_model(models),
        candidates,
        method=request["method"],
        objective=request["objective"],
        budget=_budget(models, request["method"]),
    )
    return best.to_dict() | {"input": typed}


def answer_kbest(models: Models, request: Request) -> Answer:
    """Return the k best readings."""
    typed, candidates = observe(models, request)
    best = kbest(
        language_model(models),
        candidates,
        request["k"],
        method=request["method"],
        budget=_budget(models, request["method"]),
    )
    return best.to_dict() | {"input": typed}


def answer_sample(models: Models, request: Request) -> Answer:
    """Return independent draws from the posterior."""
    typed, candidates = observe(models, request)
    draws = sample(
        language_model(models),
        candidates,
        request["n"],
        seed=request["seed"],
        method=request["method"],
        budget=_budget(models, request["method"]),
    )
    return draws.to_dict() | {"input": typed}


def answer_marginals(models: Models, request: Request) -> Answer:
    """Return each candidate's posterior probability."""
    typed, candidates = observe(models, request)
    return marginals(language_model(models), candidates).to_dict() | {"input": typed}


def answer_beam(models: Models, request: Request) -> Answer:
    """Return what beam search finds, and its width."""
    typed, candidates = observe(models, request)
    found = beam_search(language_model(models), candidates, request["width"])
    return found.to_dict() | {"width": request["width"], "input": typed}


# ------------------------------------------------------------------ other tasks


def answer_tag(models: Models, request: Request) -> Answer:
    """Return the best tags, and each tag's probability at each word as ``slots``."""
    if models.tagger is None:
        raise MissingModel("tagger", "tagger")
    words = words_of(request["text"], models, "text")
    best = models.tagger.tag(words, budget=_budget(models))
    posterior = models.tagger.marginals(words).to_dict()
    return best.to_dict() | {"slots": posterior["slots"], "log_partition": posterior["log_partition"]}


def answer_align(models: Models, request: Request) -> Answer:
    """Return links with their certificate and, if wanted, probabilities."""
    if models.aligner is None:
        raise MissingModel("aligner", "aligner")
    source, target = (words_of(request[side], models, side) for side in ("source", "target"))
    result = models.aligner.align(
        source,
        target,
        method=request["method"],
        marginals=request["marginals"],
        samples=request["samples"] if request["marginals"] == "samples" else 0,
        seed=request["seed"],
        budget=models.limits.seconds,
    )
    return result.to_dict() | {"source": source, "target": target}


def answer_generate(models: Models, request: Request) -> Answer:
    """Return sentences that hold the keywords, and the probability that a sentence does."""
    if models.generator is None:
        raise MissingModel("HMM language model", "hmm")
    for keyword in request["keywords"]:
        words_of(keyword, models, "keywords")
    generated = models.generator.generate(
        request["n"],
        length=request["length"],
        max_length=request["max_length"],
        keywords=request["keywords"],
        method=request["method"],
        seed=request["seed"],
        threads=1,
    )
    return generated.to_dict()


QUESTIONS: dict[str, Callable[[Models, Request], Answer]] = {
    "decode": answer_decode,
    "kbest": answer_kbest,
    "sample": answer_sample,
    "marginals": answer_marginals,
    "beam": answer_beam,
    "tag": answer_tag,
    "align": answer_align,
    "generate": answer_generate,
}
