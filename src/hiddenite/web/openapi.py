"""The API's description in OpenAPI 3.1, made from the classes that check the requests."""

from __future__ import annotations

from typing import Any

from hiddenite.web import schema
from hiddenite.web.questions import QUESTIONS

_FAILURES = {
    "400": "The request cannot be answered; the error is one line.",
    "404": "No model for this question is loaded.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The body is not declared as JSON.",
    "421": "The server does not answer for this host; see --allow-host.",
    "422": "The answer would take longer than the server allows.",
    "429": "The server is busy; come back in a second.",
}
_INFO = {
    "title": "hiddenite",
    "version": "1",
    "description": "Exact inference in hidden Markov models of language. "
    "Logarithms are natural; null is a number that is not finite.",
    "license": {"name": "MIT", "identifier": "MIT"},
}


def description() -> dict[str, Any]:
    """Return the document."""
    kinds: list[Any] = [schema.ERROR, schema.Search]
    for name, question in QUESTIONS.items():
        kinds += [question.request, schema.ANSWERS[name]]
    references, schemas = schema.components(kinds)
    error, search, *pairs = [{"application/json": {"schema": reference}} for reference in references]
    failures = {status: {"description": text, "content": error} for status, text in _FAILURES.items()}

    def path(name: str, summary: str, asked: dict[str, Any], answered: dict[str, Any]) -> dict[str, Any]:
        operation = {
            "operationId": name,
            "summary": summary,
            "requestBody": {"required": True, "content": asked},
            "responses": {"200": {"description": "The answer.", "content": answered}, **failures},
        }
        return {"post": operation}

    paths = {
        f"/api/{name}": path(name, question.function.__doc__ or "", asked, answered)
        for (name, question), asked, answered in zip(QUESTIONS.items(), pairs[::2], pairs[1::2], strict=True)
    }
    events: dict[str, Any] = {"text/event-stream": {}}  # step, automaton, done
    paths["/api/search"] = path("search", "Watch the search: server-sent events.", search, events)
    loaded = {"description": "The models.", "content": {"application/json": {"schema": {"type": "object"}}}}
    get = {"operationId": "models", "summary": "What is loaded, with examples.", "responses": {"200": loaded}}
    paths["/api/models"] = {"get": get}
    return {"openapi": "3.1.0", "info": _INFO, "paths": paths, "components": {"schemas": schemas}}
