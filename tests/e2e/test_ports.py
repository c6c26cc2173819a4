"""Programs ported from other tools: `docs/ports` has each before and after, and both must say the same.

Where the original's package is not installed, what the port says is compared with what is known anyway.
"""

import importlib.util
import itertools
import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hiddenite import NgramModel
from tests.models import train

PORTS = Path(__file__).parents[2] / "docs" / "ports"
LEXICON = {
    "the": "le",
    "a": "un",
    "dog": "chien",
    "cat": "chat",
    "house": "toit",
    "red": "rouge",
    "old": "vieux",
    "sees": "voit",
    "hears": "entend",
    "sleeps": "dort",
    "here": "ici",
}
TAGS = dict(zip(LEXICON, ["D", "D", "N", "N", "N", "A", "A", "V", "V", "V", "R"], strict=True))


def sentences(count: int, seed: int = 1) -> list[list[str]]:
    rng = random.Random(seed)
    kinds: dict[str, list[str]] = {}
    for word, tag in TAGS.items():
        kinds.setdefault(tag, []).append(word)
    shapes = ["DNV", "DANV", "DNVDN", "DNVDAN", "DNVR", "DAANVDNR"]
    return [[rng.choice(kinds[tag]) for tag in rng.choice(shapes)] for _ in range(count)]


def port(folder: Path, name: str, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PORTS / name), *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def test_kenlm_ports_by_one_line() -> None:
    before, after = (
        (PORTS / "kenlm" / f"{name}.py").read_text().splitlines() for name in ("before", "after")
    )
    changed = [pair for pair in zip(before[1:], after[1:], strict=True) if pair[0] != pair[1]]
    assert changed == [("import kenlm", "from hiddenite import kenlm")]


def test_kenlm_rescoring(tmp_path: Path) -> None:
    train([" ".join(s) for s in sentences(300)], 3).save(tmp_path / "lm.arpa")
    lists = (
        "-1.0\tthe dog sees the cat\n-0.9\tthe dog sees cat the\n\n-2\told zebra here\n-2.1\tred house here\n"
    )
    found = port(tmp_path, "kenlm/after.py", "lm.arpa", stdin=lists)
    assert [line.split("\t")[0] for line in found.splitlines()[::2]] == [
        "the dog sees the cat",
        "red house here",
    ]
    if is_installed("kenlm"):
        assert found == port(tmp_path, "kenlm/before.py", "lm.arpa", stdin=lists)


def test_eflomal_alignment(tmp_path: Path) -> None:
    """Adjectives follow their noun in the other language; the true links are known."""
    source, target, truth = [], [], []
    for words in sentences(400):
        order = sorted(range(len(words)), key=lambda i: (i + 1.5 * (TAGS[words[i]] == "A"), i))
        source.append(" ".join(words))
        target.append(" ".join(LEXICON[words[i]] for i in order))
        truth.append({f"{i}-{j}" for j, i in enumerate(order)})
    (tmp_path / "en").write_text("\n".join(source) + "\n")
    (tmp_path / "fr").write_text("\n".join(target) + "\n")

    def f_measure(name: str) -> float:
        port(tmp_path, f"eflomal/{name}.py", "en", "fr", name)
        found = [set(line.split()) for line in (tmp_path / name).read_text().splitlines()]
        right = sum(len(one & gold) for one, gold in zip(found, truth, strict=True))
        return 2 * right / (sum(map(len, found)) + sum(map(len, truth)))

    ours = f_measure("after")
    assert ours > 0.95
    if is_installed("eflomal"):
        assert ours >= f_measure("before")


def test_nltk_tagging(tmp_path: Path) -> None:
    tagged = [" ".join(f"{w}/{TAGS[w]}" for w in s) for s in sentences(200)]
    (tmp_path / "tagged").write_text("\n".join(tagged) + "\n")
    test = sentences(50, seed=2)
    text = "".join(" ".join(s) + "\n" for s in test)
    found = port(tmp_path, "nltk/after.py", "tagged", stdin=text)
    assert found.splitlines() == [" ".join(f"{w}/{TAGS[w]}" for w in s) for s in test]
    if is_installed("nltk"):
        assert found == port(tmp_path, "nltk/before.py", "tagged", stdin=text)


def test_hmmlearn_decoding(tmp_path: Path) -> None:
    matrices: dict[str, Any] = {
        "start": [0.6, 0.3, 0.1],
        "transition": [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]],
        "emission": [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6], [0.3, 0.3, 0.4]],
    }
    (tmp_path / "matrices").write_text(json.dumps(matrices))
    text = "0 1 2 2 1 0\n2 2 1\n0\n"
    found = port(tmp_path, "hmmlearn/after.py", "matrices", stdin=text)
    for line, shown in zip(text.splitlines(), found.splitlines(), strict=True):
        seen = [int(number) for number in line.split()]
        best, total = enumerate_states(matrices, seen)
        states, log_weight, log_prob = shown.split("\t")
        assert tuple(map(int, states.split())) == best[1]
        assert float(log_weight) == pytest.approx(best[0], abs=1e-5)
        assert float(log_prob) == pytest.approx(total, abs=1e-5)
    if is_installed("hmmlearn"):
        assert found == port(tmp_path, "hmmlearn/before.py", "matrices", stdin=text)


def enumerate_states(
    matrices: dict[str, Any], seen: list[int]
) -> tuple[tuple[float, tuple[int, ...]], float]:
    """The best states and ln p of what was seen, by trying all."""
    rows = []
    for states in itertools.product(range(3), repeat=len(seen)):
        weight = matrices["start"][states[0]] * math.prod(
            matrices["transition"][i][j] for i, j in itertools.pairwise(states)
        )
        weight *= math.prod(matrices["emission"][s][o] for s, o in zip(states, seen, strict=True))
        rows.append((math.log(weight), states))
    return max(rows), math.log(sum(math.exp(weight) for weight, _ in rows))


def test_disambig(tmp_path: Path) -> None:
    """disambig is on no package index; all readings are tried instead."""
    train([" ".join(s) for s in sentences(300)], 3).save(tmp_path / "lm.arpa")
    model = NgramModel.load(tmp_path / "lm.arpa")
    table = {
        "th": {"the": 0.9, "a": 0.1},
        "d": {"dog": 0.4, "here": 0.6},
        "s": {"sees": 0.55, "sleeps": 0.45},
    }
    rows = (f"{seen} {' '.join(f'{w} {p}' for w, p in row.items())}\n" for seen, row in table.items())
    (tmp_path / "map").write_text("".join(rows))
    lines = ["th d s", "th red d s th d", "zebra s"]
    found = port(tmp_path, "disambig/after.py", "lm.arpa", "map", stdin="\n".join(lines) + "\n")
    for line, shown in zip(lines, found.splitlines(), strict=True):
        readings = itertools.product(*(table.get(seen, {seen: 1.0}).items() for seen in line.split()))
        scored = [
            (model.score(" ".join(w for w, _ in one)) + sum(math.log(p) for _, p in one), one)
            for one in readings
        ]
        best = [word for word, _ in max(scored)[1]]
        assert shown.split() == ["<s>", *best, "</s>"]
