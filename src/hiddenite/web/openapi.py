"""The API's description in OpenAPI 3.1, made from the tables that check the requests."""

from __future__ import annotations

from typing import Any

from hiddenite.web.models import Models
from hiddenite.web.questions import QUESTIONS
from hiddenite.web.schema import Schema, requests

_NUMBER: Schema = {"type": ["number", "null"]}  # null: not finite
_WORDS: Schema = {"type": "array", "items": {"type": "string"}}
_INTEGER: Schema = {"type": "integer"}
_ID: Schema = {"type": ["string", "integer", "null"]}
_TYPED: Schema = {"type": ["string", "null"], "description": "What was typed; null for slots."}


def _record(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _row(size: int, *kinds: str) -> Schema:
    """Describe a list of fixed size; its items are of these kinds."""
    return {"type": "array", "items": {"type": list(kinds)}, "minItems": size, "maxItems": size}


_CERTIFICATE = _record(
    exact={"type": "boolean"},
    upper=_NUMBER,
    lower=_NUMBER,
    gap=_NUMBER,
    method={"type": "string"},
    refinements=_INTEGER,
    states=_INTEGER,
)
_HYPOTHESIS = _record(words=_WORDS, log_weight=_NUMBER)
_SLOTS = _list(_list(_row(2, "string", "number")))

ANSWERS: dict[str, Schema] = {
    "decode": _record(id=_ID, words=_WORDS, log_weight=_NUMBER, certificate=_CERTIFICATE, input=_TYPED),
    "kbest": _record(id=_ID, kbest=_list(_HYPOTHESIS), certificate=_CERTIFICATE, input=_TYPED),
    "sample": _record(
        id=_ID,
        samples=_list(_record(words=_WORDS, log_weight=_NUMBER, count=_INTEGER)),
        count=_INTEGER,
        log_partition=_NUMBER,
        log_partition_error=_NUMBER,
        log_partition_upper=_NUMBER,
        trials=_INTEGER,
        exact={"type": "boolean"},
        method={"type": "string"},
        input=_TYPED,
    ),
    "marginals": _record(id=_ID, slots=_SLOTS, log_partition=_NUMBER, input=_TYPED),
    "beam": _record(words=_WORDS, log_weight=_NUMBER, width=_INTEGER, input=_TYPED),
    "tag": _record(
        id=_ID,
        words=_WORDS,
        tags=_WORDS,
        log_weight=_NUMBER,
        certificate=_CERTIFICATE,
        slots=_SLOTS,
        log_partition=_NUMBER,
    ),
    "align": _record(
        id=_ID,
        links=_list(_row(2, "integer")),
        log_weight=_NUMBER,
        certificate={**_CERTIFICATE, "type": ["object", "null"]},
        probabilities={
            "type": ["array", "null"],
            "items": _row(3, "number"),
        },
        source=_WORDS,
        target=_WORDS,
    ),
    "generate": _record(
        sentences=_list(_record(words=_WORDS, log_prob=_NUMBER)), constraint_log_prob=_NUMBER
    ),
}
ERROR = _record(error={"type": "string"})
_FAILURES = {
    "400": "The request cannot be answered; the error is one line.",
    "404": "No model for this question is loaded.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The body is not declared as JSON.",
    "429": "The server is busy; come back in a second.",
}


def description(models: Models) -> dict[str, Any]:
    """Return the document."""
    asked = requests(models.limits)
    paths = {
        f"/api/{name}": _path(name, asked[name], answer.__doc__ or "") for name, answer in QUESTIONS.items()
    }
    paths["/api/search"] = _path("search", asked["search"], "Watch the search: server-sent events.")
    paths["/api/models"] = {
        "get": {
            "operationId": "models",
            "summary": "What is loaded, with examples.",
            "responses": {"200": _content("The models.", {"type": "object"})},
        }
    }
    info = {
        "title": "hiddenite",
        "version": "1",
        "description": "Exact inference in hidden Markov models of language. "
        "Logarithms are natural; null is a number that is not finite.",
        "license": {"name": "MIT", "identifier": "MIT"},
    }
    return {"openapi": "3.1.0", "info": info, "paths": paths}


def _content(text: str, schema: Schema) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _path(name: str, schema: Schema, summary: str) -> dict[str, Any]:
    if name in ANSWERS:
        success = _content("The answer.", ANSWERS[name])
    else:
        success = {"description": "Events step, automaton, done.", "content": {"text/event-stream": {}}}
    failures = {status: _content(text, ERROR) for status, text in _FAILURES.items()}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    operation = {
        "operationId": name,
        "summary": summary,
        "requestBody": body,
        "responses": {"200": success, **failures},
    }
    return {"post": operation}
