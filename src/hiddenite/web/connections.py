"""Connections: who may keep one, and the server that runs until Control-C.

A connection must send each request, and read each answer, within a few seconds. Beyond ``MOST`` of them, each
new one takes the place of the one that has owed a request for the longest time; so clients that hold
connections and ask nothing cannot keep others out.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hiddenite.jobs.system import allow_open_files
from hiddenite.web.models import Models
from hiddenite.web.server import ANY_ADDRESS, create_app

MOST = 4000  # connections at the same time, if the system allows as many
ACCEPTED = 8  # before requests that have come are looked at
QUEUED = 1024  # by the system, until they are accepted
OTHER_FILES = 100  # that the process may have open beside them
REQUEST_SECONDS = 5.0  # for a request's head to arrive; the body's time is Limits.body_seconds
ANSWER_SECONDS = 5.0  # in which nothing of an answer is read
MALLOC = ((-3, 1 << 18), (-8, 2))  # glibc's mallopt: M_MMAP_THRESHOLD in bytes, M_ARENA_MAX
SWITCH_SECONDS = 0.001  # the interpreter's lock changes hands; answers in Python do not hold up the others


class Connection(H11Protocol):
    """A connection that is not kept for those who do not use it."""

    most = MOST
    _owing: ClassVar[dict[Connection, None]] = {}  # whose request has not come yet, in the order of waiting
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_request()
        if len(self.connections) > self.most:
            oldest = next(iter(self._owing))
            del self._owing[oldest]
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._owing.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering and not self.cycle.more_body:
            self._owing.pop(self, None)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_timer(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timer()

    @property
    def _is_answering(self) -> bool:
        return not getattr(self.cycle, "response_complete", True)  # no cycle before the first request

    def _expect_request(self) -> None:
        if not self.transport.is_closing():
            self._owing.pop(self, None)
            self._owing[self] = None
            self._start_timer(REQUEST_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if not self._is_answering:
            self.transport.abort()

    def _start_timer(self, seconds: float, action: Callable[[], None]) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, action)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Server(uvicorn.Server):
    """Ends quietly on Control-C, and accepts few connections at a time, though many may queue up."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUED)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        earlier = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)


def open_port(host: str, port: int) -> socket.socket:
    """Take a port without listening yet; port 0 is any free one. Raise OSError with one line."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind)
    except OSError as error:
        raise OSError(f"cannot listen at {host}: {error.strerror}") from None
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it; without it an answer's second packet waits 40 ms for the first's receipt.
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        taken.bind(address)
    except OSError as error:
        taken.close()
        raise OSError(
            f"cannot listen at {host}, port {port}: {error.strerror}; choose another --port"
        ) from None
    return taken


def serve(
    models: Models,
    listener: socket.socket,
    on_ready: Callable[[str], None],
    hosts: Iterable[str] = (),
) -> None:
    """Serve at a port of :func:`open_port` until Control-C; ``on_ready`` is told the address."""
    address, port = listener.getsockname()[:2]
    served: list[str] = [*hosts, address]
    if address in ("0.0.0.0", "::"):
        served += [ANY_ADDRESS, socket.gethostname()]
    config = uvicorn.Config(
        create_app(models, served),
        http=Connection,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        backlog=ACCEPTED,
        timeout_keep_alive=int(REQUEST_SECONDS),
        timeout_graceful_shutdown=2,
    )
    Connection.most = min(MOST, allow_open_files(MOST + OTHER_FILES) - OTHER_FILES)
    _return_memory()
    sys.setswitchinterval(SWITCH_SECONDS)
    with listener:
        listener.listen(QUEUED)
        name = f"[{address}]" if ":" in address else address
        on_ready(f"http://{name}:{port}/")
        _Server(config).run(sockets=[listener])


def _return_memory() -> None:
    """Let a request's large blocks go back to the system when it is done, where the C library can do that."""
    if sys.platform == "win32":
        return
    library = ctypes.CDLL(None)
    for option, value in MALLOC if hasattr(library, "mallopt") else ():
        library.mallopt(option, value)
