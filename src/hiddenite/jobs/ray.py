"""Work on a Ray cluster: processes on any number of machines that answer what one machine would.

A pool has one process for each processor. Each makes its answering function once and then depends on nothing
but what it is asked, so a process that is lost is started again and asked again. Two ways to ask:

``in_order``  a stream of tasks of any length. A process has one task in work and one waiting; whichever is
              free gets the next; answers come back in the order of the tasks, and no more than a few per
              process are waited for, so the driver's memory does not grow with the stream.
``step``      the same question, sent once to each machine, to all of a few tasks: a step of a training.

Models are read by their path where a machine has that very file. To the other machines of the cluster the
file is sent once and kept there (:mod:`hiddenite.jobs.model_cache`); all processes of the machine read it.
"""

from __future__ import annotations

import collections
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Generic, TypeVar

from hiddenite.errors import ModelError
from hiddenite.jobs.model_cache import SentFile, receive

LOCAL = "local"
PACKAGE = "hiddenite"
TASKS_PER_PROCESS = 2  # in work and waiting
AHEAD = 8  # answers per process that may wait for an earlier one
RETRIES = 5  # of a task whose process was lost; after that the task is to blame
_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")


class _Worker:
    """A process that answers.

    What it needs comes with each question and is made at the first: an error then is that question's answer,
    and a process that was started again needs nothing from the one before.
    """

    _answer: Callable[..., Any] | None = None

    def answer(self, setup: list[Any], *task: Any) -> Any:
        if self._answer is None:
            import ray  # noqa: PLC0415  (an extra)

            version, make, shared, files = ray.get(setup[0])
            _check_version(version)
            receive(files, ray.get)
            self._answer = make(*shared)
        return self._answer(*task)


def _version() -> str:
    from importlib import metadata  # noqa: PLC0415  (only a cluster needs it)

    return metadata.version(PACKAGE)


def _check_version(expected: str) -> None:
    """Raise ModelError if this machine has another version than the driver: answers might differ."""
    found = _version()
    if found != expected:
        place = os.uname().nodename
        raise ModelError(f"{place} has {PACKAGE} {found}, expected {expected} as on the driver; install that")


class Cluster:
    """A connection to a cluster, or a cluster of this machine; ``with`` ends it."""

    def __init__(self, address: str, processes: int = 0) -> None:
        """Connect; pools have ``processes``, as many as the cluster has processors free if 0."""
        self._ray = connect(address, processes)
        free = int(self._ray.available_resources().get("CPU", 1))
        self._count = max(1, min(free, processes) if processes else free)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def __len__(self) -> int:
        """Return the number of processes that a pool has."""
        return self._count

    def pool(
        self,
        make: Callable[..., Callable[..., _Answer]],
        *,
        shared: Sequence[Any] = (),
        files: Sequence[str] = (),
    ) -> Pool[Any, _Answer]:
        """Start processes; each calls ``make(*shared)`` for the function that answers.

        ``shared`` is sent once to each machine; ``files`` are opened through :func:`local_path`.
        """
        return Pool(self._ray, make, self._count, shared, files)


class Pool(Generic[_Task, _Answer]):
    """The processes of a cluster that answer one kind of task; ``with`` ends them."""

    def __init__(
        self,
        ray: Any,
        make: Callable[..., Callable[..., _Answer]],
        count: int,
        shared: Sequence[Any],
        files: Sequence[str],
    ) -> None:
        """Start them; see :meth:`Cluster.pool`."""
        self._ray = ray
        alone = sum(node["Alive"] for node in ray.nodes()) == 1
        sent = [SentFile(path, None if alone else ray.put) for path in files]
        restarts = {"max_restarts": -1, "max_task_retries": RETRIES}
        worker_class = ray.remote(num_cpus=1, **restarts)(_Worker)
        setup = (_version(), make, tuple(shared), sent)
        self._setup = [ray.put(setup)]  # in a list: sent as a reference
        self._workers = [worker_class.remote() for _ in range(count)]

    def __enter__(self) -> Pool[_Task, _Answer]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            self._ray.kill(worker)

    def __len__(self) -> int:
        """Return the number of processes."""
        return len(self._workers)

    def in_order(self, tasks: Iterator[_Task]) -> Generator[tuple[_Task, _Answer]]:
        """Give the tasks with their answers, in order."""
        waiting: collections.deque[tuple[_Task, Any]] = collections.deque()
        busy: dict[Any, int] = {}  # reference of an answer -> the worker that makes it
        load = [0] * len(self)
        more = True
        while waiting or more:
            while more and len(waiting) < AHEAD * len(self) and min(load) < TASKS_PER_PROCESS:
                task = next(tasks, None)
                if task is None:
                    more = False
                    break
                worker = load.index(min(load))
                reference = self._workers[worker].answer.remote(self._setup, task)
                waiting.append((task, reference))
                busy[reference] = worker
                load[worker] += 1
            if busy:
                for reference in self._ray.wait(list(busy), num_returns=1, fetch_local=False)[0]:
                    load[busy.pop(reference)] -= 1
            while waiting and waiting[0][1] not in busy:
                task, reference = waiting.popleft()
                yield task, self._get(reference)

    def step(self, question: object, tasks: Sequence[_Task]) -> list[_Answer]:
        """Return the answers of all tasks to one question."""
        sent = self._ray.put(question)
        references = []
        for number, task in enumerate(tasks):
            references.append(self._workers[number % len(self)].answer.remote(self._setup, sent, task))
        return [self._get(reference) for reference in references]

    def _get(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            raise error.cause from None  # what went wrong over there, as it would here
        except errors.RayActorError as error:
            raise ModelError(
                f"a process of the cluster was lost {RETRIES + 1} times at one task: {_first_line(error)}"
            ) from None


def connect(address: str, processors: int = 0) -> Any:
    """Return Ray, connected; ``local`` starts a cluster of this machine with so many processors (0: all)."""
    import logging  # noqa: PLC0415  (only a cluster needs it)

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning
    try:
        import ray  # noqa: PLC0415  (an extra)
    except ImportError:
        raise ModelError("--ray needs the extra ray: pip install 'hiddenite[ray]'") from None
    options: dict[str, Any] = {}
    if address == LOCAL:
        options = {"include_dashboard": False} | ({"num_cpus": processors} if processors else {})
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(f"the Ray cluster {address} cannot be reached: {_first_line(error)}") from None
    for number, handler in handlers.items():  # Ray sets its own, which ends without a word
        signal.signal(number, handler)
    return ray


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]


def _knock(address: str) -> None:
    """Raise OSError if nobody answers at host:port; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        import socket  # noqa: PLC0415  (only a cluster needs it)

        socket.create_connection((host, int(port)), timeout=5).close()
