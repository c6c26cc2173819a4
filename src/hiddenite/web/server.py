"""The server: routes, limits on bodies, headers. All thinking is elsewhere.

Requests name no files: the page is read when the server starts, and models are what the command line loaded.
Errors are ``{"error": "one line"}``: 400 a request that cannot be answered, 404 no such path or no model for
it, 405 the wrong verb, 408 a body that does not arrive, 413 one that is too large, 415 one that is not JSON,
429 busy.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib.resources
import json
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hiddenite.errors import HiddeniteError, ModelError
from hiddenite.web.live import Event, watch
from hiddenite.web.models import LEVELS, Models
from hiddenite.web.openapi import description
from hiddenite.web.questions import QUESTIONS, MissingModel
from hiddenite.web.schema import Schema, requests, with_defaults
from hiddenite.web.work import Busy, Work

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


def create_app(models: Models) -> ASGIApp:
    """Return the application."""
    work = Work(models.limits)
    asked = requests(models.limits)
    routes = [
        *_page_routes(),
        _constant("/openapi.json", json.dumps(description(models)).encode(), "application/json"),
        _constant("/api/models", json.dumps(_summary(models)).encode(), "application/json"),
        Route("/api/search", _stream_endpoint(models, asked["search"], work), methods=["POST"]),
    ]
    for name, answer in QUESTIONS.items():
        function = functools.partial(answer, models)
        endpoint = _endpoint(models, asked[name], function, work)
        routes.append(Route(f"/api/{name}", endpoint, methods=["POST"]))

    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _http_error, HiddeniteError: _error, Exception: _bug},
    )
    app.router.redirect_slashes = False
    return _Headers(app)


def _summary(models: Models) -> dict[str, Any]:
    """Describe what the page can offer."""
    loaded = {
        "lm": models.lm,
        "tagger": models.tagger,
        "aligner": models.aligner,
        "hmm": models.generator,
    }
    limits = models.limits
    return {
        "models": {k: models.names.get(k, k) for k, model in loaded.items() if model is not None},
        "examples": dict(models.examples),
        "limits": {
            "characters": limits.characters,
            "words": limits.words,
            "noise": LEVELS,
            "keywords": limits.keywords,
            "generated_words": limits.generated_words,
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
    async def endpoint(_: Request) -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return Route(path, endpoint, methods=["GET"])


# ------------------------------------------------------------------------- API


def _json(content: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(content, status, {"Cache-Control": "no-store", **(headers or {})})


def _endpoint(
    models: Models, schema: Schema, answer: Callable[[dict[str, Any]], dict[str, Any]], work: Work
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        question = with_defaults(await _read(request, models), schema)
        return _json(await work.run(functools.partial(answer, question)))

    return endpoint


def _stream_endpoint(models: Models, schema: Schema, work: Work) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        question = with_defaults(await _read(request, models), schema)
        with contextlib.ExitStack() as place:
            place.enter_context(work.stream())
            batches = work.batches(watch(models, question))
            first = await anext(batches)  # what is wrong with the question is an error, not a stream
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
    except HiddeniteError as error:  # too late for a status
        yield _event_text([("error", {"error": _one_line(error)})])


def _event_text(batch: list[Event]) -> bytes:
    return "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in batch).encode()


async def _read(request: Request, models: Models) -> dict[str, Any]:
    """Read a JSON object, no larger and no slower than the limits allow."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected a body of the type application/json")
    body = b""
    try:
        async with asyncio.timeout(models.limits.body_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > models.limits.body_bytes:
                    raise HTTPException(413, f"the body is larger than {models.limits.body_bytes} bytes")
    except TimeoutError:
        raise HTTPException(408, "the body did not arrive in time") from None
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # also what is no UTF-8
        raise ModelError("the body is not JSON") from None
    if not isinstance(value, dict):
        raise ModelError("the body is not a JSON object")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


# --------------------------------------------------------------------- failures


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _error(_: Request, error: Exception) -> Response:
    """Turn what bad input can cause into one line."""
    message = _one_line(error)
    if isinstance(error, Busy):
        return _json({"error": message}, 429, {"Retry-After": "1"})
    return _json({"error": message}, 404 if isinstance(error, MissingModel) else 400)


def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code in (408, 413):
        headers["Connection"] = "close"  # the rest of the body is not read
    return _json({"error": error.detail}, error.status_code, headers)


def _bug(_: Request, error: Exception) -> Response:
    """Answer a fault of ours; the traceback is in the server's log."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    return _json({"error": "the server has made a mistake; its log says which"}, 500)


class _Headers:
    """Adds the security headers to every response, failures included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


# -------------------------------------------------------------------------- run


class _Server(uvicorn.Server):
    """Ends quietly on Control-C."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        earlier = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)


def serve(models: Models, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve until Control-C; ``on_ready`` is told the address. Port 0 is any free one; raises OSError."""
    app = create_app(models)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=512) as listener:
        # Connections inherit it; without it an answer's second packet waits 40 ms for the first's receipt.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = f"[{host}]" if ":" in host else host
        on_ready(f"http://{name}:{listener.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=2,
            limit_concurrency=2000,  # connections; 503 beyond
        )
        _Server(config).run(sockets=[listener])
