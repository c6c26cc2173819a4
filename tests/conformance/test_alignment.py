"""Alignment error rate on the Hansards' development sentences, with few training pairs."""

from pathlib import Path

from hiddenite.align import AlignerOptions, Bitext, CorpusDecoding, Training, align_corpus
from hiddenite.align.evaluation import score
from hiddenite.align.links import read_gold

NUM_PAIRS = 5000
MAX_AER = 0.12


def test_error_rate_of_a_small_training(data: Path) -> None:
    directory = data / "align" / "hansards"
    sides = []
    for language in ("en", "fr"):
        dev, train = ((directory / f"{part}.{language}").read_bytes() for part in ("dev", "train"))
        sides.append(b"\n".join((dev + train).split(b"\n")[:NUM_PAIRS]) + b"\n")
    gold = read_gold(directory / "dev.gold")
    options = AlignerOptions(model1_sweeps=8, hmm_sweeps=8, fertility_sweeps=30, chains=1)
    training = Training(Bitext(sides[0], sides[1]), options, seed=1).run()
    found = list(align_corpus(training, CorpusDecoding()))
    assert score(gold, [one.links or () for one in found[: len(gold)]]).aer < MAX_AER  # type: ignore[union-attr]
