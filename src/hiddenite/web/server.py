"""The application: routes, limits on bodies, headers. All thinking is elsewhere.

Requests name no files: the page is read when the server starts, and models are what the command line loaded.
Errors are ``{"error": "one line"}``: 400 a request that cannot be answered, 404 no such path or no model for
it, 405 the wrong verb, 408 a body that does not arrive, 413 one that is too large, 415 one that is not JSON,
421 another host, 422 an answer that takes too long, 429 busy.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import importlib.resources
import ipaddress
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hiddenite._core import Deadline
from hiddenite.errors import HiddeniteError
from hiddenite.web import schema
from hiddenite.web.live import Event, watch
from hiddenite.web.models import Limits, Models
from hiddenite.web.openapi import description
from hiddenite.web.questions import QUESTIONS, Question
from hiddenite.web.reading import MissingModel
from hiddenite.web.work import Busy, TooLong, Work

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
SMALL = 200  # bytes: a sentence or two
ANY_ADDRESS = "*"  # as a host: every address in digits, but no name
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def create_app(models: Models, hosts: Iterable[str] = ()) -> ASGIApp:
    """Return the application; it answers for the names of this machine to itself, and for ``hosts``."""
    work = Work(models.limits)
    routes = [
        *_page_routes(),
        _constant("/openapi.json", msgspec.json.encode(description()), "application/json"),
        _constant("/api/models", msgspec.json.encode(_summary(models)), "application/json"),
        Route("/api/search", _stream_endpoint(models, work), methods=["POST"]),
    ]
    for name, question in QUESTIONS.items():
        routes.append(Route(f"/api/{name}", _endpoint(models, question, work), methods=["POST"]))

    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _http_error,
            HiddeniteError: _error,
            ClientDisconnect: _left,
            Exception: _bug,
        },
    )
    app.router.redirect_slashes = False
    return _Guard(app, frozenset(host.lower() for host in (*LOCAL_HOSTS, *hosts)))


def _summary(models: Models) -> dict[str, Any]:
    """Describe what the page can offer."""
    loaded = {
        "corrector": models.corrector,
        "lm": models.lm,
        "tagger": models.tagger,
        "aligner": models.aligner,
        "hmm": models.generator,
    }
    return {
        "models": {k: models.names.get(k, k) for k, model in loaded.items() if model is not None},
        "examples": dict(models.examples),
        "files": dict(models.files),
        "limits": {
            "characters": schema.CHARACTERS,
            "text_characters": schema.TEXT_CHARACTERS,
            "long_characters": schema.LONG_CHARACTERS,
            "candidates": models.limits.candidates,
            "words": schema.WORDS,
            "noise": schema.LEVELS,
            "keywords": schema.KEYWORDS,
            "generated_words": schema.GENERATED_WORDS,
        },
    }


# ------------------------------------------------------------------------ page


def _page_routes() -> list[Route]:
    routes = []
    for file in importlib.resources.files("hiddenite.web").joinpath("page").iterdir():
        media_type = MEDIA_TYPES.get("." + file.name.rpartition(".")[2])
        if media_type is not None:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            routes.append(_constant(path, file.read_bytes(), f"{media_type}; charset=utf-8"))
    return routes


def _constant(path: str, content: bytes, media_type: str) -> Route:
    packed = gzip.compress(content, mtime=0)
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}

    async def endpoint(request: Request) -> Response:
        if _accepts_gzip(request.headers.get("accept-encoding", "")):
            return Response(packed, media_type=media_type, headers=headers | {"Content-Encoding": "gzip"})
        return Response(content, media_type=media_type, headers=headers)

    return Route(path, endpoint, methods=["GET"])


def _accepts_gzip(header: str) -> bool:
    """Tell whether a client reads gzip: named, and not with the weight zero."""
    for part in header.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() == "gzip":
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


# ------------------------------------------------------------------------- API


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    headers = {"Cache-Control": "no-store", **(headers or {})}
    body = content if isinstance(content, bytes) else msgspec.json.encode(content)
    return Response(body, status, headers, "application/json")


def _endpoint(models: Models, question: Question, work: Work) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = await _read(request, models.limits)
        asked = schema.read(body, question.request)

        def answer(deadline: Deadline) -> bytes:
            return msgspec.json.encode(question.function(models, asked, deadline))

        rank = (question.rank if len(body) <= SMALL else 1, len(body))
        return _json(await _while_connected(request, work.run(answer, rank)))

    return endpoint


async def _while_connected(request: Request, answer: Awaitable[bytes]) -> bytes:
    """Return the answer; when the client leaves, cancel the work."""
    work = asyncio.ensure_future(answer)
    left = asyncio.ensure_future(request.receive())  # after the body, only that the client has left
    try:
        await asyncio.wait([work, left], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        return work.result()
    finally:
        work.cancel()
        left.cancel()


def _stream_endpoint(models: Models, work: Work) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        asked = schema.read(await _read(request, models.limits), schema.Search)
        with contextlib.ExitStack() as place:
            place.enter_context(work.stream())
            deadline = Deadline(models.limits.seconds)
            batches = work.batches(watch(models, asked, deadline), deadline)
            try:
                first = await anext(batches)  # what is wrong with the question is an error, not a stream
            except TimeoutError:
                raise TooLong(models.limits.seconds) from None
            return _Stream(first, batches, place.pop_all())

    return endpoint


class _Stream(StreamingResponse):
    """Server-sent events; gives its place back however it ends."""

    def __init__(
        self, first: list[Event], batches: AsyncIterator[list[Event]], place: contextlib.ExitStack
    ) -> None:
        headers = {"Cache-Control": "no-store"}
        super().__init__(_events(first, batches), media_type="text/event-stream", headers=headers)
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            await super().__call__(scope, receive, send)


async def _events(first: list[Event], batches: AsyncIterator[list[Event]]) -> AsyncIterator[bytes]:
    yield _event_text(first)
    try:
        async for batch in batches:
            yield _event_text(batch)
    except (HiddeniteError, TimeoutError) as error:  # too late for a status
        yield _event_text([("error", {"error": _one_line(error)})])


def _event_text(batch: list[Event]) -> bytes:
    encode = msgspec.json.encode
    return b"".join(b"event: %b\ndata: %b\n\n" % (name.encode(), encode(data)) for name, data in batch)


async def _read(request: Request, limits: Limits) -> bytes:
    """Read the body, no larger and no slower than the limits allow."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected a body of the type application/json")
    body = b""
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limits.body_bytes:
                    raise HTTPException(413, f"the body is larger than {limits.body_bytes} bytes")
    except TimeoutError:
        raise HTTPException(408, f"the body did not arrive within {limits.body_seconds:g} s") from None
    return body


# --------------------------------------------------------------------- failures


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _error(_: Request, error: Exception) -> Response:
    """Turn what bad input can cause into one line."""
    message = _one_line(error)
    if isinstance(error, Busy):
        return _json({"error": message}, 429, {"Retry-After": "1"})
    status = {MissingModel: 404, TooLong: 422}.get(type(error), 400)
    return _json({"error": message}, status)


def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code in (408, 413):
        headers["Connection"] = "close"  # the rest of the body is not read
    return _json({"error": error.detail}, error.status_code, headers)


def _left(_: Request, error: Exception) -> Response:
    """Answer a client that has left: whoever types on asks again. Nothing is logged."""
    del error
    return Response(status_code=400)


def _bug(_: Request, error: Exception) -> Response:
    """Answer a fault of ours; the traceback is in the server's log."""
    del error
    return _json({"error": "the server failed; its log says how"}, 500)


class _Guard:
    """Refuses other hosts (a page elsewhere whose name leads here), and adds the security headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._extra]
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        app = self._app if self._allows(_host_name(host)) else _other_host(host)
        await app(scope, receive, send_with_headers)

    def _allows(self, name: str) -> bool:
        if name in self._hosts:
            return True
        with contextlib.suppress(ValueError):
            return ANY_ADDRESS in self._hosts and bool(ipaddress.ip_address(name))
        return False


def _host_name(host: str) -> str:
    """Return a Host header without the port and an address's brackets."""
    name, colon, port = host.rpartition(":")
    name = name if colon and port.isdecimal() else host
    return name.removeprefix("[").removesuffix("]").rstrip(".").lower()


def _other_host(host: str) -> Response:
    name = ascii(_host_name(host)[:100])[1:-1]
    message = f"this server does not answer for the host «{name}»; start it with --allow-host {name}"
    return _json({"error": message}, 421)
