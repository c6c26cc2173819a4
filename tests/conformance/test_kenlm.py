"""One sentence and one word a call, against KenLM's own module, where it is installed."""

import math
from pathlib import Path

import pytest

import hiddenite.kenlm
from tests.models import train

kenlm = pytest.importorskip("kenlm")
TEXT = [f"the {a} {b} of the {c} and a {b} {c}" for a in "abcdefg" for b in "hijklm" for c in "nopqrs"]
SENTENCES = [
    "",
    "the a h of the n",
    "the the the",
    "never seen h of the",
    " a  k\tn and a",
    "q r s and a h n x",
]
FLOATS = 2e-6  # KenLM adds up floats, of at most 40 here


@pytest.fixture(params=[2, 3, 5])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    file = tmp_path / "model.arpa"
    train(TEXT, request.param).save(file)
    return file


def test_the_same_program_gives_the_same_numbers(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    theirs, ours = kenlm.Model(str(path)), hiddenite.kenlm.Model(str(path))
    assert ours.order == theirs.order
    assert [w in ours for w in ("the", "never")] == [w in theirs for w in ("the", "never")]
    for sentence in SENTENCES:
        for bos in (True, False):
            for eos in (True, False):
                expected = theirs.score(sentence, bos=bos, eos=eos)
                assert ours.score(sentence, bos=bos, eos=eos) == pytest.approx(expected, abs=40 * FLOATS)
                rows = list(theirs.full_scores(sentence, bos=bos, eos=eos))
                for (p, length, oov), mine in zip(
                    rows, ours.full_scores(sentence, bos=bos, eos=eos), strict=True
                ):
                    assert mine[1:] == (length, oov)
                    assert mine[0] == pytest.approx(p, abs=FLOATS)
        assert ours.perplexity(sentence) == pytest.approx(theirs.perplexity(sentence), rel=1e-5)


@pytest.mark.parametrize("begin", ["BeginSentenceWrite", "NullContextWrite"])
def test_states(path: Path, begin: str) -> None:
    for sentence in SENTENCES:
        terms: list[list[float]] = []
        for module in (kenlm, hiddenite.kenlm):
            model, state, out = module.Model(str(path)), module.State(), module.State()
            getattr(model, begin)(state)
            terms.append([])
            for word in [*sentence.split(), "</s>"]:
                terms[-1].append(model.BaseScore(state, word, out))
                state, out = out, state
        assert terms[1] == pytest.approx(terms[0], abs=FLOATS)


def test_real_text(data: Path, tmp_path: Path) -> None:
    lines = (data / "lm/ptb/valid.txt").read_text().replace("<unk>", "rare").splitlines()
    file = tmp_path / "model.arpa"
    train(lines[:2000], 5, prune=(0, 0, 1)).save(file)
    theirs, ours = kenlm.Model(str(file)), hiddenite.kenlm.Model(file)
    for line in lines[1900:2400]:
        expected = list(theirs.full_scores(line))
        for (p, length, oov), mine in zip(expected, ours.full_scores(line), strict=True):
            assert mine[1:] == (length, oov)
            assert mine[0] == pytest.approx(p, abs=1e-5)
        assert math.isclose(ours.score(line), theirs.score(line), rel_tol=1e-5)
