"""A real recogniser: pocketsphinx hears espeak-ng, its lattices are rescored, every answer proved.

Needs PyPI's pocketsphinx, which brings an English acoustic model, and Debian's espeak-ng.
"""

import math
import shutil
import subprocess
import wave
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiddenite import NgramModel
from hiddenite._core import word_errors
from hiddenite.consensus import least_errors, nearest_errors
from hiddenite.lattice import Lattice, read_lattices
from hiddenite.rescoring import TRANSPARENT, LatticeWeights, Rescored
from tests.models import train

pocketsphinx: Any = pytest.importorskip("pocketsphinx")
signal: Any = pytest.importorskip("scipy.signal")
if shutil.which("espeak-ng") is None:
    pytest.skip("espeak-ng is not installed", allow_module_level=True)

SAID = ("the house will come to order", "the member has the floor", "we will vote on the bill today")
TEXT = [
    *SAID,
    "the house has a bill",
    "the member will vote on order",
    "come to the floor today",
    "we have a vote",
]
FILLERS = TRANSPARENT | {
    "[NOISE]",
    "[SPEECH]",
    "++NOISE++",
    "++BREATH++",
    "[COUGH]",
    "[SMACK]",
    "[UH]",
    "[UM]",
}
WEIGHTS = LatticeWeights(lm_weight=6.0, channel_weight=1.0, word_penalty=0.0)


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[str, Lattice]]:
    """What was said, what the recogniser answers, and its lattice."""
    place = tmp_path_factory.mktemp("speech")
    decoder = pocketsphinx.Decoder(samprate=16000, loglevel="FATAL")
    found = {}
    for number, text in enumerate(SAID):
        decoder.start_utt()
        decoder.process_raw(spoken(place / "speech.wav", text), full_utt=True)
        decoder.end_utt()
        path = place / f"{number}.slf"
        decoder.get_lattice().write_htk(str(path))
        (lattice,) = read_lattices(path)
        found[text] = decoder.hyp().hypstr, lattice
    return found


def spoken(path: Path, text: str) -> bytes:
    """16 kHz samples of a spoken text."""
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "140", "-w", str(path), text], check=True)
    with wave.open(str(path)) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype=np.int16).astype(float)
        rate = sound.getframerate()
    common = math.gcd(rate, 16000)
    resampled = signal.resample_poly(samples, 16000 // common, rate // common)
    return bytes(resampled.clip(-32768, 32767).astype(np.int16).tobytes())


def errors(said: str, words: tuple[str, ...]) -> int:
    names: dict[str, int] = {}
    coded = [[names.setdefault(word, len(names)) for word in one] for one in (said.split(), words)]
    return int(word_errors(*coded))


def best_weight(lattice: Lattice, lm: NgramModel) -> float:
    """The best path by a table of (node, last four words), with the model's own answers for one word."""
    assert WEIGHTS.lm_weight is not None
    best: dict[int, dict[tuple[str, ...], float]] = {lattice.start: {("<s>",): 0.0}}
    leaving: dict[int, list[Any]] = {}
    for edge in lattice.edges:
        leaving.setdefault(edge.start, []).append(edge)
    memory: dict[tuple[str, tuple[str, ...]], float] = {}

    def log_prob(word: str, history: tuple[str, ...]) -> float:
        key = word, history
        if key not in memory:
            memory[key] = lm.log_prob(word, history)
        return memory[key]

    ends = []
    for node in lattice.order():
        for history, weight in best.pop(node, {}).items():
            if node in lattice.finals:
                final = lattice.finals[node].acoustic
                ends.append(weight + final + WEIGHTS.lm_weight * log_prob("</s>", history))
            for edge in leaving.get(node, ()):
                after, total = history, weight + edge.acoustic + edge.pronunciation
                if edge.word and edge.word not in FILLERS:
                    total += WEIGHTS.lm_weight * log_prob(edge.word, history)
                    after = (*history, edge.word if edge.word in lm else "<unk>")[-4:]
                row = best.setdefault(edge.end, {})
                row[after] = max(row.get(after, -math.inf), total)
    return max(ends)


def test_rescoring_is_exact_and_no_better_than_the_oracle(heard: Mapping[str, tuple[str, Lattice]]) -> None:
    lm = train(TEXT, order=5)
    for said, (answer, lattice) in heard.items():
        scored = Rescored(lattice, lm, WEIGHTS, transparent=FILLERS)
        best = scored.best()
        assert best.certificate.exact
        assert best.log_weight == pytest.approx(scored.core.best()[1], rel=1e-12)
        oracle = nearest_errors(scored, said.split())
        assert oracle <= errors(said, best.words)
        assert oracle <= errors(said, tuple(answer.split()))  # the recogniser's answer is a path
        # A model that has read nothing but the sentence pulls towards it.
        own = Rescored(lattice, train([said], order=5), WEIGHTS, transparent=FILLERS).best()
        assert errors(said, own.words) <= errors(said, best.words)


def test_the_best_path_is_that_of_a_table_over_histories(heard: Mapping[str, tuple[str, Lattice]]) -> None:
    lm = train(TEXT, order=5)
    _, lattice = heard[SAID[1]]
    whole = Rescored(lattice, lm, WEIGHTS, transparent=FILLERS)
    through = whole.best_through()
    near = [
        edge
        for edge, weight in zip(lattice.edges, through, strict=True)
        if weight >= whole.best().log_weight - 60
    ]
    small = lattice.with_edges(near).trimmed()
    assert len(small.edges) > 20
    scored = Rescored(small, lm, WEIGHTS, transparent=FILLERS)
    assert scored.best().log_weight == pytest.approx(best_weight(small, lm), rel=1e-9)
    assert scored.best().words == whole.best().words


def test_posteriors_and_bounds_of_errors(heard: Mapping[str, tuple[str, Lattice]]) -> None:
    lm = train(TEXT, order=5)
    flat = LatticeWeights(6.0, 1.0, 0.0, temperature=6.0)
    for _, lattice in heard.values():
        scored = Rescored(lattice, lm, flat, transparent=FILLERS)
        probs = scored.posteriors()
        ending = sum(
            prob for edge, prob in zip(lattice.edges, probs, strict=True) if edge.end in lattice.finals
        )
        assert ending == pytest.approx(1.0, abs=1e-6)
        proof = least_errors(scored).certificate
        assert 0 <= proof.lower <= proof.upper < 20
