"""Requests to answers that are not about noisy text: tags, links, scores, classes, sentences.

Plain functions of the models and a checked request, run by the worker threads as :mod:`questions` says.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from typing import Any

from hiddenite._core import Deadline
from hiddenite.align.evidence import model_probabilities
from hiddenite.align.report import make_report
from hiddenite.align.report_page import page
from hiddenite.errors import ModelError
from hiddenite.files.corpus import sentence_text
from hiddenite.induction.induction import Induction, induce
from hiddenite.records import json_number
from hiddenite.web import schema
from hiddenite.web.models import Models
from hiddenite.web.reading import (
    PROOF_SHARE,
    MissingModel,
    budget,
    language_model,
    lines_of,
    unknown_words,
    words_of,
)

Answer = dict[str, Any]
SWEEPS = 60  # of an induction
INDUCED = "one-tag+lm"  # each word has one class, and its spelling counts: what a small text can teach
REPORT_THRESHOLD = 0.5
REPORT_SAMPLES = 100


def answer_tag(models: Models, request: schema.Tag, _: Deadline) -> Answer:
    """Return the best tags, and each tag's probability at each word as ``slots``."""
    tagger = models.tagger
    if tagger is None:
        raise MissingModel("tagger", "tagger")
    words = words_of(request.text, "text")
    best = tagger.tag(words, budget=budget(models))
    posterior = tagger.marginals(words).to_dict()
    more = {"slots": posterior["slots"], "log_partition": posterior["log_partition"]}
    return best.to_dict() | more | {"unknown": unknown_words(words, tagger.knows)}


# ----------------------------------------------------------------------- links


def answer_align(models: Models, request: schema.Align, _: Deadline) -> Answer:
    """Return links with their certificate, words the model lacks and, if wanted, probabilities."""
    if models.aligner is None:
        raise MissingModel("aligner", "aligner")
    source, target = words_of(request.source, "source"), words_of(request.target, "target")
    result = models.aligner.align(
        source,
        target,
        method=request.method,
        direction=request.direction,
        symmetrize=request.symmetrize,
        marginals=request.marginals,
        samples=request.samples if request.marginals == "samples" else 0,
        seed=request.seed,
        budget=PROOF_SHARE * models.limits.seconds,
    )
    unknown = dict(zip(("source", "target"), models.aligner.unknown(source, target), strict=True))
    return result.to_dict() | {"source": source, "target": target, "unknown": unknown}


def answer_report(models: Models, request: schema.Report, deadline: Deadline) -> Answer:
    """Return a page about the links of a parallel text, and what is most dubious in it."""
    if models.aligner is None:
        raise MissingModel("aligner", "aligner")
    source, target = lines_of(request.source, "source"), lines_of(request.target, "target")
    if len(source) != len(target):
        raise ModelError(
            f"'source' has {len(source)} lines and 'target' has {len(target)}; expected a line for each line"
        )
    pairs = list(zip(source, target, strict=True))

    def links() -> Any:
        given = {"samples": REPORT_SAMPLES, "seed": request.seed, "threads": 1}
        for one in model_probabilities(models.aligner, pairs, **given):  # type: ignore[arg-type]
            deadline.check()
            yield one

    found = make_report(
        pairs, links(), threshold=REPORT_THRESHOLD, most_pairs=1000, most_links=1000, most_words=5000
    )
    return {
        "html": page(found, request.source_name, request.target_name),
        "pairs": found.num_pairs,
        "links": found.num_links,
        "doubt": found.doubt,
        "samples": REPORT_SAMPLES,
        "dubious": [[one.number, one.source, one.target, one.p] for one in found.links[: schema.SHOWN_LINKS]],
    }


# ----------------------------------------------------------------- scores of text


def answer_score(models: Models, request: schema.Score, _: Deadline) -> Answer:
    """Return each word's log probability given those before it, line by line, and the perplexity."""
    lm = language_model(models)
    lines = lines_of(request.text, "text")
    sentences = []
    for words in lines:
        rows = list(lm.full_scores(" ".join(words)))
        sentences.append(
            {
                "words": words,
                "log_probs": [json_number(log_prob) for log_prob, _, _ in rows],  # the last is of </s>
                "orders": [length for _, length, _ in rows],
                "log_prob": json_number(sum(log_prob for log_prob, _, _ in rows)),
            }
        )
    summary = lm.score_text(sentence_text(lines), threads=1).summary()
    every = (word for words in lines for word in words)
    return summary.to_dict() | {"scored": sentences, "unknown": unknown_words(every, lm.__contains__)}


# --------------------------------------------------------------------- classes


def answer_induce(models: Models, request: schema.Induce, deadline: Deadline) -> Answer:
    """Return word classes of a text, found without a tagged word; fewer sweeps where time ends."""
    lines = [words for words in lines_of(request.text, "text") if words]
    kinds = len({word for words in lines for word in words})
    if kinds <= request.tags:
        raise ModelError(
            f"'text' has {kinds} different words, expected more than {request.tags}, one for each class"
        )
    run = induce(lines, request.tags, model=INDUCED, iterations=SWEEPS, seed=request.seed, threads=1)
    end = time.perf_counter() + PROOF_SHARE * models.limits.seconds
    with contextlib.closing(iter(run)) as sweeps:
        for _ in sweeps:
            deadline.check()
            if time.perf_counter() > end:
                break
    return {
        "classes": _classes(run),
        "tagged": [[list(pair) for pair in sentence] for sentence in run.tagged()],
        "sweeps": run.num_done("main"),
        "planned_sweeps": SWEEPS,
        "model": INDUCED,
        "log_joint": json_number(run.last_sweep().log_joint),
    }


def _classes(run: Induction) -> list[Answer]:
    """Return the classes, the largest first, each with its words, the most frequent first."""
    members: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in run.tagged():
        for word, tag in sentence:
            members[tag][word] += 1
    order = sorted(members, key=lambda tag: (-members[tag].total(), tag))
    return [
        {
            "tag": tag,
            "tokens": members[tag].total(),
            "members": [list(one) for one in members[tag].most_common()],
        }
        for tag in order
    ]


# ------------------------------------------------------------------- sentences


def answer_generate(models: Models, request: schema.Generate, _: Deadline) -> Answer:
    """Return sentences that hold the keywords, and the probability that a sentence does."""
    if models.generator is None:
        raise MissingModel("HMM language model", "hmm")
    for keyword in request.keywords:
        words_of(keyword, "keywords")
    generated = models.generator.generate(
        request.n,
        length=request.length,
        max_length=request.max_length,
        keywords=request.keywords,
        method=request.method,
        seed=request.seed,
        threads=1,
    )
    return generated.to_dict()
