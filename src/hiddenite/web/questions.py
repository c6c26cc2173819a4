"""Requests to answers: corrections and noisy text, and the list of all questions.

Plain functions of the models and a checked request, run by the worker threads. Every answer is its result's
``to_dict``; answers about noisy text add ``input``, what was typed. The thread has entered the request's
deadline (``work``): calls of the core end with TimeoutError when it is over.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from hiddenite._core import Deadline
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.tokens import tokens
from hiddenite.files.corpus import tokenize
from hiddenite.inference import decode, kbest, marginals, sample
from hiddenite.web import schema
from hiddenite.web.beam import beam_search
from hiddenite.web.models import Models
from hiddenite.web.reading import MissingModel, budget, check_text, language_model, observe, unknown_words
from hiddenite.web.tasks import (
    answer_align,
    answer_generate,
    answer_induce,
    answer_report,
    answer_score,
    answer_tag,
)

Answer = dict[str, Any]
_SLIP_DRAWS = 8  # of a word's slips, until it has letters alone


# --------------------------------------------------------------------- raw text


def answer_correct(models: Models, request: schema.Correct, _: Deadline) -> Answer:
    """Return a text corrected, every change with its probability; slips are added first if wanted."""
    if models.corrector is None:
        raise MissingModel("corrector", "corrector")
    check_text(request.text, "text")
    noisy = (
        add_slips(models, request.text, request.noise, request.seed) if request.noise > 0 else request.text
    )
    (found,) = models.corrector.correct_many([noisy], careful=request.careful, threads=1)
    return found.to_dict() | {"input": noisy, "unknown": _unknown_in(models.corrector, found.text)}


def _unknown_in(corrector: Corrector, text: str) -> list[str]:
    """Return the words of a text that the corrector does not know."""
    words = (text[token.start : token.end] for token in tokens(text) if token.kind == "word")
    return unknown_words(words, corrector.is_known)


def add_slips(models: Models, text: str, noise: int, seed: int) -> str:
    """Return a text with slips of a keyboard in its words; all else stays."""
    encoder = models.slips(noise)
    numbers = itertools.count()

    def slip(match: re.Match[str]) -> str:
        drawn = (encoder.encode(match[0], (seed << 20) + next(numbers)) for _ in range(_SLIP_DRAWS))
        return next((word for word in drawn if word.isalpha()), match[0])

    return re.sub(r"[^\W\d_]{2,}", slip, text)


# ------------------------------------------------------------------- noisy text


def answer_decode(models: Models, request: schema.Decode, _: Deadline) -> Answer:
    """Return the best reading with its certificate."""
    typed, candidates = observe(models, request)
    lm = language_model(models)
    best = decode(
        lm,
        candidates,
        method=request.method,
        objective=request.objective,
        budget=budget(models, request.method),
    )
    meant = None
    if request.message is not None:
        meant = models.channel(request.channel, request.noise).encode(
            " ".join(tokenize(request.message)), None
        )
    asked = request.message or (request.input if request.channel == "typo" else None) or ""
    unknown = unknown_words((*tokenize(asked), *best.words), lm.vocabulary.__contains__)
    return best.to_dict() | {"input": typed, "meant": meant, "unknown": unknown}


def answer_kbest(models: Models, request: schema.KBest, _: Deadline) -> Answer:
    """Return the k best readings."""
    typed, candidates = observe(models, request)
    best = kbest(
        language_model(models),
        candidates,
        request.k,
        method=request.method,
        budget=budget(models, request.method),
    )
    return best.to_dict() | {"input": typed}


def answer_sample(models: Models, request: schema.Sample, _: Deadline) -> Answer:
    """Return independent draws from the posterior."""
    typed, candidates = observe(models, request)
    draws = sample(
        language_model(models),
        candidates,
        request.n,
        seed=request.seed,
        method=request.method,
        budget=budget(models, request.method),
    )
    return draws.to_dict() | {"input": typed}


def answer_marginals(models: Models, request: schema.Noisy, _: Deadline) -> Answer:
    """Return each candidate's posterior probability."""
    typed, candidates = observe(models, request)
    return marginals(language_model(models), candidates).to_dict() | {"input": typed}


def answer_beam(models: Models, request: schema.Beam, deadline: Deadline) -> Answer:
    """Return what beam search finds, and its width."""
    typed, candidates = observe(models, request)
    found = beam_search(language_model(models), candidates, request.width, deadline)
    return found.to_dict() | {"width": request.width, "input": typed}


# ---------------------------------------------------------------- all questions


class Question(NamedTuple):
    """A path of the API."""

    function: Callable[[Models, Any, Deadline], Answer]
    request: type[schema.Request]
    rank: int = 1  # its place in line; 0 is served first


QUESTIONS = {
    "correct": Question(answer_correct, schema.Correct, 0),
    "decode": Question(answer_decode, schema.Decode, 0),
    "tag": Question(answer_tag, schema.Tag, 0),
    "kbest": Question(answer_kbest, schema.KBest),
    "sample": Question(answer_sample, schema.Sample),
    "marginals": Question(answer_marginals, schema.Noisy),
    "beam": Question(answer_beam, schema.Beam),
    "align": Question(answer_align, schema.Align),
    "report": Question(answer_report, schema.Report),
    "score": Question(answer_score, schema.Score, 0),
    "induce": Question(answer_induce, schema.Induce),
    "generate": Question(answer_generate, schema.Generate),
}
