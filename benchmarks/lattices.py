"""Lattices of a real recogniser, rescored: ``python benchmarks/lattices.py FOLDER [--data DIR] [--write]``.

Debian's espeak-ng speaks sentences of the parliamentary text that no model was trained on, pocketsphinx
(PyPI, with its own English acoustic model, dictionary and trigram) recognises them and writes its lattices in
HTK's SLF; a 5-gram of the training text rescores them. FOLDER keeps lattices and model from run to run.

Weights are chosen on 30 sentences and measured on 100 others: by word error, on a grid. Sentences have 5 to
14 words, all of them in the recogniser's dictionary. «before» is what the recogniser itself answers, «oracle»
the path of the lattice with the fewest errors. The expected errors of the words that minimise them are also
estimated by draws, which shows what is loose about their bounds. Times are of the rescoring alone (reading
the file apart), one core, processor time.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import time
import wave
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from report import Row, write_section

from hiddenite import NgramModel
from hiddenite._core import word_errors
from hiddenite.consensus import least_errors, nearest_errors
from hiddenite.lattice import Lattice, read_lattices
from hiddenite.rescoring import TRANSPARENT, LatticeMethod, LatticeWeights, Rescored
from hiddenite.results import Certificate

DEV, TEST = 30, 100
MOST_MS = 50
DRAWS = 500  # of a lattice
OTHERS: tuple[LatticeMethod, ...] = ("full", "refine", "paper")
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
_T = TypeVar("_T")
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


def drawn_errors(scored: Rescored, words: Sequence[str]) -> float:
    """The expected errors of some words, estimated by draws from the posterior."""
    samples = scored.sample(DRAWS, seed=1).samples
    return sum(one.count * errors(" ".join(one.words), " ".join(words)) for one in samples) / DRAWS


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


def choose(model: NgramModel, dev: list[tuple[str, Lattice]]) -> LatticeWeights:
    grid = [LatticeWeights(a, 1.0, b) for a in LM_WEIGHTS for b in PENALTIES]
    return min(grid, key=lambda weights: rate(model, dev, weights))


def rescored(lattice: Lattice, model: NgramModel, weights: LatticeWeights) -> Rescored:
    return Rescored(lattice, model, weights, transparent=FILLERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("HIDDENITE_DATA", beside)))
    parser.add_argument("--write", action="store_true", help="put the row into RESULTS.md")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    utterances = recognise(options.folder, sentences(options.data))
    model = language_model(options.folder, options.data)
    begun = time.process_time()
    rows = [(text, next(iter(read_lattices(path)))) for text, path, _ in utterances]
    reading = 1000 * (time.process_time() - begun) / len(rows)
    chosen = choose(model, rows[:DEV])
    tests = zip(utterances[DEV:], rows[DEV:], strict=True)
    found = [measure(model, utterance, lattice, chosen) for utterance, (_, lattice) in tests]
    row = report(found, chosen, reading)
    print(f"{row.what}\n   bar: {row.bar}\n   measured: {row.measured}: {row.verdict}\n\n{row.details}")
    if options.write:
        write_section("Lattices of a recogniser", {"t1": row})


@dataclass(frozen=True)
class Measured:
    """What one utterance gave; times in milliseconds of the processor."""

    words: int
    edges: int
    wrong: dict[str, int]
    exact: bool
    times: dict[str, float]
    same: dict[str, bool]  # [method]: the same weight as auto's
    risk: Certificate
    drawn: float


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    begun = time.process_time()
    return work(), 1000 * (time.process_time() - begun)


def measure(model: NgramModel, utterance: Utterance, lattice: Lattice, chosen: LatticeWeights) -> Measured:
    text, _, heard = utterance
    best, taken = timed(lambda: rescored(lattice, model, chosen).best())
    times, same = {"auto": taken}, {}
    for method in OTHERS:
        one = partial(Rescored, lattice, model, chosen, transparent=FILLERS, method=method)
        other, times[method] = timed(lambda one=one: one().best())  # type: ignore[misc]
        same[method] = math.isclose(other.log_weight, best.log_weight, rel_tol=1e-12)
    temperature = max(chosen.lm_weight or 1, 1)
    flat = LatticeWeights(chosen.lm_weight, 1.0, chosen.word_penalty, temperature=temperature)
    scored = rescored(lattice, model, flat)
    risk, times["risk"] = timed(lambda: least_errors(scored))
    wrong = {
        "before": errors(text, heard),
        "after": errors(text, " ".join(best.words)),
        "least expected errors": errors(text, " ".join(risk.words)),
        "oracle": nearest_errors(scored, text.split()),
    }
    drawn = drawn_errors(scored, risk.words)
    words = len(text.split())
    return Measured(
        words, len(lattice.edges), wrong, best.certificate.exact, times, same, risk.certificate, drawn
    )


def mean_and_most(times: list[float]) -> str:
    return f"{statistics.mean(times):.1f} ms on the mean, at most {max(times):.0f}"


def report(found: list[Measured], chosen: LatticeWeights, reading: float) -> Row:
    words = sum(one.words for one in found)
    wrong: Counter[str] = Counter()
    for one in found:
        wrong.update(one.wrong)
    rates = ", ".join(f"{name} {100 * count / words:.1f} %" for name, count in wrong.items())
    risks = [one.risk for one in found]
    lower, upper = (statistics.mean(getattr(risk, side) for risk in risks) for side in ("lower", "upper"))
    near = sum(risk.upper <= 1.25 * risk.lower + 0.1 for risk in risks)
    times = {name: [one.times[name] for one in found] for name in found[0].times}
    others = "; ".join(
        f"{method} {mean_and_most(times[method])}, the same weight on "
        f"{sum(one.same[method] for one in found)}"
        for method in OTHERS
    )
    mean_time = statistics.mean(times["auto"])
    edges = [one.edges for one in found]
    open_ones = [risk for risk in risks if not risk.exact]
    gap = (
        f", the others {statistics.mean(r.upper - r.lower for r in open_ones):.2f} apart" if open_ones else ""
    )
    details = (
        f"{len(found)} utterances of {words} words; {statistics.mean(edges):,.0f} edges on the mean, at most "
        f"{max(edges):,}. Weights chosen on {DEV} others: language model {chosen.lm_weight:g}, word penalty "
        f"{chosen.word_penalty:g}. Reading a file takes {reading:.0f} ms.\n\n"
        f"Other methods: {others}.\n\n"
        f"Least expected errors: proved for {sum(risk.exact for risk in risks)}{gap}; bounds {lower:.2f} and "
        f"{upper:.2f} words of {words / len(found):.1f} on the mean, where {DRAWS} draws each say "
        f"{statistics.mean(one.drawn for one in found):.2f} of the words found; {near} with an upper bound "
        f"of at most 1.25 times the lower one and 0.1; {mean_and_most(times['risk'])}.\n"
    )
    return Row(
        "Lattices of pocketsphinx under a 5-gram of the Hansards",
        f"exact with certificate on all, at most {MOST_MS} ms on the mean",
        f"{sum(one.exact for one in found)} of {len(found)} exact; {mean_time:.1f} ms on the mean, at most "
        f"{max(times['auto']):.0f}; word error {rates}",
        all(one.exact for one in found) and mean_time <= MOST_MS,
        details,
    )


if __name__ == "__main__":
    main()
