"""Models from text and back, for tests that have no use for the files in between."""

import tempfile
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hiddenite import HiddeniteWarning, NgramModel


@contextmanager
def without_warnings() -> Iterator[None]:
    """Let HiddeniteWarnings pass, where the test is about something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        yield


def load(text: str | bytes, name: str = "model.arpa", unknown_log10: float | None = None) -> NgramModel:
    """The model of an ARPA file with this content."""
    with tempfile.TemporaryDirectory() as directory, without_warnings():
        path = Path(directory, name)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return NgramModel.load(path, unknown_log10)


def save(model: NgramModel, name: str = "model.arpa", max_columns: bool = False) -> bytes:
    """The content of the file that `model.save` writes."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, name)
        model.save(path, max_columns)
        return path.read_bytes()


def compiled(model: NgramModel) -> NgramModel:
    """The model that opening the compiled file gives; its file is mapped, so it may be gone."""
    with tempfile.TemporaryDirectory() as directory, without_warnings():
        path = Path(directory, "model.hlm")
        model.compile(path)
        return NgramModel.load(path)


def train(sentences: Sequence[str | Sequence[str]], order: int, **options: Any) -> NgramModel:
    """A model of the sentences, without the warning that small texts cause."""
    with without_warnings():
        return NgramModel.train(sentences, order, **options)


Key = TypeVar("Key", bound=Hashable)


def assert_close(found: Mapping[Key, float], expected: Mapping[Key, float], atol: float) -> None:
    """Each number is within `atol` of what is expected; infinities are equal. (pytest.approx is slow.)"""
    assert found.keys() == expected.keys()
    a = np.array([found[key] for key in expected])
    b = np.array(list(expected.values()))
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((a == b) | (np.abs(a - b) <= atol)))
    assert not bad.size, [(key, found[key], expected[key]) for key in [list(expected)[i] for i in bad[:5]]]
