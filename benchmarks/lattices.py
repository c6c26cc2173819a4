"""Lattices of a real recogniser, rescored: ``python benchmarks/lattices.py FOLDER [--data DIR]``.

Debian's espeak-ng speaks sentences of the parliamentary text that no model was trained on, pocketsphinx
(PyPI, with its own English acoustic model, dictionary and trigram) recognises them and writes its lattices in
HTK's SLF; a 5-gram of the training text rescores them. FOLDER keeps lattices and model from run to run.

Weights are chosen on 30 sentences and measured on 100 others: by word error, on a grid. Sentences have 5 to
14 words, all of them in the recogniser's dictionary. «before» is what the recogniser itself answers, «oracle»
the path of the lattice with the fewest errors. Times are of the rescoring alone (reading the file apart), one
core, processor time.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
import wave
from pathlib import Path

from hiddenite import NgramModel
from hiddenite._core import word_errors
from hiddenite.consensus import least_errors, nearest_errors
from hiddenite.lattice import Lattice, read_lattices
from hiddenite.rescoring import TRANSPARENT, LatticeWeights, Rescored

DEV, TEST = 30, 100
FILLERS = TRANSPARENT | {
    "[NOISE]",
    "[SPEECH]",
    "[COUGH]",
    "[SMACK]",
    "[UH]",
    "[UM]",
    "++NOISE++",
    "++BREATH++",
}
LM_WEIGHTS = (2.0, 4.0, 6.5, 9.0, 12.0)
PENALTIES = (-2.0, 0.0, 2.0)
Utterance = tuple[str, Path, str]  # what was said, the lattice, what the recogniser understood


def plain(line: str) -> str:
    return " ".join(word for word in line.split() if re.fullmatch(r"[a-z][a-z'.-]*", word) and word != ".")


def sentences(data: Path) -> list[str]:
    """Sentences of the held-out text, evenly spread over it."""
    from pocketsphinx import get_model_path  # noqa: PLC0415

    dictionary = Path(get_model_path("en-us"), "cmudict-en-us.dict")
    known = {line.split()[0] for line in dictionary.read_text(encoding="utf-8").splitlines() if line.strip()}
    lines = (data / "lm/hansard/heldout.txt").read_text(encoding="utf-8").splitlines()
    fit = []
    for line in lines:
        words = plain(line).split()
        whole = len(words) == len([w for w in line.split() if w not in {".", ",", "?", "!", ";", ":"}])
        if 5 <= len(words) <= 14 and whole and all(word in known for word in words):
            fit.append(" ".join(words))
    step = len(fit) // (DEV + TEST)
    return fit[::step][: DEV + TEST]


def recognise(folder: Path, texts: list[str]) -> list[Utterance]:
    from pocketsphinx import Decoder  # noqa: PLC0415

    decoder = None
    found = []
    for number, text in enumerate(texts):
        place = folder / f"u{number:03}"
        lattice, heard = place.with_suffix(".slf"), place.with_suffix(".txt")
        if not heard.exists():
            decoder = decoder or Decoder(samprate=16000, loglevel="FATAL")
            decoder.start_utt()
            decoder.process_raw(speech(place.with_suffix(".wav"), text), full_utt=True)
            decoder.end_utt()
            decoder.get_lattice().write_htk(str(lattice))
            hypothesis = decoder.hyp()
            heard.write_text(hypothesis.hypstr if hypothesis else "", encoding="utf-8")
        found.append((text, lattice, re.sub(r"\(\d+\)", "", heard.read_text(encoding="utf-8"))))
    return found


def speech(path: Path, text: str) -> bytes:
    """16 kHz samples of a spoken text."""
    import numpy as np  # noqa: PLC0415
    from scipy.signal import resample_poly  # noqa: PLC0415

    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "140", "-w", str(path), text], check=True)
    with wave.open(str(path)) as sound:
        assert sound.getframerate() == 22050
        samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype=np.int16).astype(float)
    path.unlink()
    return bytes(resample_poly(samples, 320, 441).clip(-32768, 32767).astype(np.int16).tobytes())


def errors(text: str, words: str) -> int:
    names: dict[str, int] = {}
    coded = [[names.setdefault(word, len(names)) for word in one.split()] for one in (text, words)]
    return int(word_errors(*coded))


def language_model(folder: Path, data: Path) -> NgramModel:
    path = folder / "hansard.hlm"
    if not path.exists():
        text = (data / "lm/hansard/train.txt").read_text(encoding="utf-8").splitlines()
        NgramModel.train((plain(line) for line in text), order=5).compile(path)
    return NgramModel.load(path)


def rate(model: NgramModel, rows: list[tuple[str, Lattice]], weights: LatticeWeights) -> float:
    wrong = sum(
        errors(text, " ".join(rescored(lattice, model, weights).best().words)) for text, lattice in rows
    )
    return 100 * wrong / sum(len(text.split()) for text, _ in rows)


def rescored(lattice: Lattice, model: NgramModel, weights: LatticeWeights) -> Rescored:
    return Rescored(lattice, model, weights, transparent=FILLERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("HIDDENITE_DATA", beside)))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    utterances = recognise(options.folder, sentences(options.data))
    model = language_model(options.folder, options.data)
    begun = time.process_time()
    rows = [(text, next(iter(read_lattices(path)))) for text, path, _ in utterances]
    reading = 1000 * (time.process_time() - begun) / len(rows)
    dev, test = rows[:DEV], rows[DEV:]
    grid = [LatticeWeights(a, 1.0, b) for a in LM_WEIGHTS for b in PENALTIES]
    chosen = min(grid, key=lambda weights: rate(model, dev, weights))
    report(model, test, utterances[DEV:], chosen, reading)


def report(
    model: NgramModel,
    test: list[tuple[str, Lattice]],
    utterances: list[Utterance],
    chosen: LatticeWeights,
    reading: float,
) -> None:
    words = sum(len(text.split()) for text, _ in test)
    before = sum(errors(text, heard) for text, _, heard in utterances)
    after = oracle = consensus = proved = bounded = 0
    times, risk_times, bounds = [], [], []
    flat = LatticeWeights(
        chosen.lm_weight, 1.0, chosen.word_penalty, temperature=max(chosen.lm_weight or 1, 1)
    )
    for text, lattice in test:
        begun = time.process_time()
        best = rescored(lattice, model, chosen).best()
        times.append(1000 * (time.process_time() - begun))
        proved += best.certificate.exact
        after += errors(text, " ".join(best.words))
        begun = time.process_time()
        scored = rescored(lattice, model, flat)
        risk = least_errors(scored)
        risk_times.append(1000 * (time.process_time() - begun))
        bounded += risk.certificate.exact
        bounds.append((risk.certificate.lower, risk.certificate.upper))
        consensus += errors(text, " ".join(risk.words))
        oracle += nearest_errors(scored, text.split())
    sizes = [len(lattice.edges) for _, lattice in test]
    print(f"weights chosen on {DEV} others: lm {chosen.lm_weight:g}, word penalty {chosen.word_penalty:g}")
    print(
        f"{len(test)} utterances, {words} words; edges mean {statistics.mean(sizes):.0f}, most {max(sizes)}"
    )
    print(f"certified {proved} of {len(test)}; least errors certified {bounded}")
    lower, upper = (statistics.mean(column) for column in zip(*bounds, strict=True))
    near = sum(high <= 1.25 * low + 0.1 for low, high in bounds)
    print(f"least expected errors: mean bounds {lower:.3f} and {upper:.3f}; within 25 % + 0.1: {near}")
    for name, wrong in (
        ("before", before),
        ("after", after),
        ("least errors", consensus),
        ("oracle", oracle),
    ):
        print(f"word error {name}: {100 * wrong / words:.1f} %")
    print(f"ms: best mean {statistics.mean(times):.1f}, most {max(times):.1f}; reading {reading:.1f}; "
          f"least errors mean {statistics.mean(risk_times):.1f}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
