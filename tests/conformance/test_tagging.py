"""The tagger on real text: better than the trigram taggers it is measured against, every answer proved."""

import time
from pathlib import Path

import pytest

from hiddenite import Tagger, TaggerOptions
from hiddenite.tag import read_tagged, score


@pytest.fixture(scope="module")
def wsj(data: Path) -> list[list[tuple[str, str]]]:
    return [r.pairs() for r in read_tagged(str(data / "tagged" / "wsj-sample.tsv")) if r.words]


@pytest.mark.parametrize(
    ("options", "least"),
    [(TaggerOptions(), 0.958), (TaggerOptions.tnt(), 0.944), (TaggerOptions(order=6), 0.957)],
)
def test_the_wsj_sample(wsj: list[list[tuple[str, str]]], options: TaggerOptions, least: float) -> None:
    found = score(Tagger.train_with(wsj[:3500], options), wsj[3500:], calibration=False)
    assert found.certified == found.sentences == 414
    assert found.accuracy is not None
    assert found.accuracy > least


def test_a_model_file_loads_fast(tmp_path: Path, wsj: list[list[tuple[str, str]]]) -> None:
    tagger = Tagger.train(wsj[:3500], order=5)
    tagger.save(tmp_path / "wsj.tagger")
    begin = time.thread_time()
    loaded = Tagger.load(tmp_path / "wsj.tagger")
    assert time.thread_time() - begin < 1.0
    words = [w for w, _ in wsj[3600]]
    assert loaded.tag(words) == tagger.tag(words)
