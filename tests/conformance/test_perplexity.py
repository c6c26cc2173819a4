"""Perplexities of order-5 models on the standard texts, against lmplz (figures from the data's README)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hiddenite import NgramModel

RTOL = 1e-3  # the bar of the project; the figures have five digits


def sentences(path: Path) -> Iterator[str]:
    """The lines, with the text's own <unk> as an ordinary word, as in the figures."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield line.replace("<unk>", "unk")


@pytest.mark.parametrize(
    ("corpus", "valid", "test"), [("ptb", 148.01, 141.19), ("wikitext-2", 239.98, 224.81)]
)
def test_perplexity(data: Path, corpus: str, valid: float, test: float) -> None:
    directory = data / "lm" / corpus
    model = NgramModel.train(sentences(directory / "train.txt"), order=5)
    for part, expected in (("valid", valid), ("test", test)):
        summary = model.score(sentences(directory / f"{part}.txt")).summary()
        assert summary.perplexity == pytest.approx(expected, rel=RTOL)
