"""Who does the steps of a training: a question for all, and a task for each member.

A pool of processes of a cluster is one (:class:`hiddenite.jobs.ray.Pool`). What members answer depends on
nothing but what they were made from, the question and the task, so that one can stand in for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Executor(Protocol):
    """Who does the tasks of a step."""

    def step(self, question: Any, tasks: Sequence[Any]) -> list[Any]:
        """Return the answers of all tasks to one question."""


class LocalExecutor:
    """One after the other, here."""

    def __init__(self, answer: Callable[[Any, Any], Any]) -> None:
        self._answer = answer

    def step(self, question: Any, tasks: Sequence[Any]) -> list[Any]:
        """Return the answers of all tasks to one question."""
        return [self._answer(question, task) for task in tasks]
