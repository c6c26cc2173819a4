"""Damaged lattice files, thousands a minute: each is refused with one line, or read and answered.

    python -m tests.lattice_damage --seconds 1800 --seed 1

A file is one of the seeds with a few edits, each of which puts in or over what means something to a reader,
cuts out a stretch, exchanges or repeats lines, or cuts off the end. Whatever happens, only a HiddeniteError
may be raised; what is read must answer questions and be written in every format, or be refused again.
"""

import argparse
import functools
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from hiddenite import Budget, HiddeniteError, HiddeniteWarning, NgramModel
from hiddenite.consensus import least_errors, mesh
from hiddenite.lattice import read_lattices, write_lattices
from hiddenite.lattice.formats import FORMATS, WRITTEN
from hiddenite.rescoring import METHODS, Rescored
from tests.models import train

SEEDS = {
    "slf": (
        "VERSION=1.1\nUTTERANCE=utt1\nbase=10 lmscale=2 wdpenalty=-1 acscale=0.5\nN=4 L=5\n"
        "I=0 t=0.00 W=!NULL\nI=1 t=0.30\nI=2 t=0.60\nI=3 t=1.00\n"
        "J=0 S=0 E=1 W=the a=-10 l=-1\nJ=1 S=0 E=1 W=a a=-11 l=-1.2\nJ=2 S=1 E=2 W=dog a=-20 l=-2 r=-0.5\n"
        'J=3 S=1 E=3 W=!NULL\nJ=4 S=2 E=3 W="new york" a=-1\n'
    ),
    "slf words on nodes": (
        "VERSION=1.0\nN=4 L=4\nI=0 W=!NULL\nI=1 W=the v=2\nI=2 W=a\nI=3 W=dog\n"
        "J=0 S=0 E=1 a=-1\nJ=1 S=0 E=2 a=-2\nJ=2 S=1 E=3\nJ=3 S=2 E=3 l=-0.5\n"
    ),
    "kaldi": "utt1\n0 1 the the 1.5,10\n0 1 a a 1,11\n1 2 dog dog 2,20\n2 0.5,0\n\n",
    "kaldi compact": (
        "utt1\n0 1 the 1.5,10,3_3_4\n0 1 a 1,11,3_3\n1 2 dog 2,20,5_5\n2 0.5,0,\n\n"
        "utt2\n0 1 <eps> 0,0,\n1\n\n"
    ),
    "openfst": "0 1 a 0.5\n0 1 b\n1 2 b 1\n2 0.25\n",
    "openfst transducer": "0 1 a x 0.5\n1 2 <eps> y\n2\n",
    "pfsg": (
        "name g\nnodes 5 NULL the dog NULL cat\ninitial 0\nfinal 3\ntransitions 4\n"
        "0 1 0\n1 2 -6931\n1 4 -6931\n2 3 -100\n"
    ),
    "mesh": (
        "name m\nnumaligns 2\nposterior 1\nalign 0 the 0.75 *DELETE* 0.25\nalign 1 dog 1\nreference 1 dog\n"
    ),
    "nbest": "-10.5 -2.1 2 the dog\n-11 -3 3 a dog barks\n",
    "nbest moses": "0 ||| the dog ||| am=-1 lm=-2 ||| -3\n0 ||| a dog ||| am=-2 lm=-1 ||| -4\n",
    "nbest decipher": "NBestList1.0\n(-1000) the dog\n(-1200) a dog barks\n",
    "nbest decipher 2": (
        "NBestList2.0\n(-900) the ( st: 0 et: 0.3 g: -10 a: -50 ) dh ( st: 0 et: 0.1 g: 0 a: -20 ) "
        "dog ( st: 0.3 et: 0.6 g: -9 a: -90 )\n(-950) a ( st: 0 et: 0.3 g: -10 a: -50 )\n"
    ),
    "json": '{"id": "u", "lattice": [[0, 1, "a", -0.5], [1, 2, "", null], [0, 2, "b c", -1]]}\n',
    "json slots": '{"slots": [[["a", -0.5], ["b", 0]], [["c", -1]]]}\n',
}
GUESSED = [*[None] * 30, *FORMATS]  # the format is mostly left to the reader to find
PIECES = (
    "0", "1", "2", "3", "-1", "99999999999999999999", "4294967296", "1e308", "-1e308", "1e999", "nan", "inf",
    "-inf", "NaN", "null", "true", "1.5", "\n", "\n\n", "\t", " ", "=", ",", '"', "'", "\\", "#", "||| ", "_",
    "!NULL", "<eps>", "*DELETE*", "<s>", "</s>", "-pau-", "I=", "J=", "S=", "E=", "W=", "N=", "L=", "a=",
    "l=", "v=", "base=0", "base=1", "lmscale=nan", "start=", "end=", "name ", "nodes ", "initial ", "final ",
    "transitions ", "numaligns ", "align ", "info ", "hyps ", "[", "]", "{", "}", "[[0, 1, ", "\ufeff",
    "\u2028", "\u00e9", "\x85", "\x1c", "\0", "\udcff", "1 0 a\n", "0 0 a\n", "0 1 a 1\n",
    "NBestList1.0\n", "NBestList2.0\n", "( st: 0 ", "(-1) a",
)  # fmt: skip


def damage(generator: random.Random, text: str) -> bytes:
    """Return the text with one to six edits."""
    for _ in range(generator.choice([1, 1, 1, 2, 3, 6])):
        text = _edited(generator, text)
    return text.encode("utf-8", "surrogateescape")


def _edited(generator: random.Random, text: str) -> str:
    kind = generator.choice(["insert", "replace", "delete", "swap", "repeat", "truncate", "number"])
    place = generator.randrange(len(text) + 1)
    if kind in ("swap", "repeat"):
        lines = text.split("\n")
        i, j = generator.randrange(len(lines)), generator.randrange(len(lines))
        if kind == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines.insert(i, lines[j])
        return "\n".join(lines)
    if kind == "truncate":
        return text[:place]
    if kind == "number":  # numbers are where readers trust a file
        digits = [i for i, c in enumerate(text) if c.isdecimal()]
        if not digits:
            return text
        place = generator.choice(digits)
        return text[:place] + generator.choice(PIECES[:19]) + text[place + 1 :]
    length = 0 if kind == "insert" else generator.randrange(12)
    piece = "" if kind == "delete" else generator.choice(PIECES)
    return text[:place] + piece + text[place + length :]


@functools.cache
def model() -> NgramModel:
    """A language model of some words of the seeds."""
    return train(["the dog", "a dog b", "new york the a", "b a"], 3)


def examine(path: Path, format: str | None) -> str:
    """Read, ask and write what a file holds; return what became of it. Raises whatever is not ours."""
    try:
        lattices = list(read_lattices(path, format))
        for lattice in lattices:
            rescored = Rescored(lattice, max_states=10_000)
            rescored.kbest(3)
            rescored.sample(2, seed=1)
            least_errors(rescored, seconds=0.05)
            mesh(rescored)
            best = Rescored(lattice, model(), max_states=10_000).best().log_weight
            for method in METHODS:
                found = Rescored(
                    lattice, model(), max_states=10_000, method=method, budget=Budget(refinements=40)
                ).best()
                upper = found.certificate.upper
                assert upper >= best - 1e-9 * (1 + abs(best)), (method, upper, best)
            assert all(0 <= prob <= 1 + 1e-9 for prob in rescored.posteriors())
    except HiddeniteError as error:
        return _refused(error)
    for other in WRITTEN:
        try:
            "\n".join(write_lattices(lattices, other)).encode()
        except HiddeniteError as error:
            _refused(error)
    return "read"


def _refused(error: HiddeniteError) -> str:
    if "\n" in str(error):
        raise ValueError(f"more than one line: {error}") from error
    return type(error).__name__


def run(count: int | None, seconds: float, seed: int) -> Counter[str]:
    """Examine so many files, or files for so many seconds of the processor; a failure shows its file."""
    generator = random.Random(seed)
    results: Counter[str] = Counter()
    end = time.process_time() + seconds
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        path = Path(directory, "lattice")
        while results.total() < count if count is not None else time.process_time() < end:
            damaged = damage(generator, generator.choice(list(SEEDS.values())))
            path.write_bytes(damaged)
            try:
                results[examine(path, generator.choice(GUESSED))] += 1
            except Exception as error:
                raise AssertionError(f"{type(error).__name__}: {error}; the file: {damaged!r}") from error
    return results


def main() -> None:
    """Run for a while and say what became of the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of the processor")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    results = run(None, arguments.seconds, arguments.seed)
    sys.stdout.write(f"{results.total()} files: {dict(results)}\n")


if __name__ == "__main__":
    main()
