"""What a user meets first: one sentence a call, the start of a command, Control-C, and the size of the code.

    python benchmarks/usage.py [ROW ...] [--quick] [--write]

``sentences`` and ``states`` need the ``kenlm`` module and the texts of lm.py; ``interrupts`` needs an hour.
Times are processor times, the programs in turn, and the best of the repeats counts.
"""

from __future__ import annotations

import ast
import functools
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lm import CORPORA, LN_10, Setup, best_in_turn, find_data, load_kenlm, our_model, score_kenlm, sentences
from report import Row, run_rows, table

from hiddenite import NgramModel, State

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "hiddenite"
COMMAND = str(Path(sys.executable).with_name("hiddenite"))
TITLE = "Command line and API"


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    repeats: int
    moments: int


# ------------------------------------------------------------------------------------------- KenLM's shape


def one_sentence_a_call(sizes: Sizes) -> Row:
    """model.score(sentence) against kenlm's, the same model and sentences."""
    setup = Setup(find_data(), None, sizes.repeats)
    lines, worst = [], math.inf
    for corpus in CORPORA:
        path = our_model(setup, corpus)
        model, other = NgramModel.load(path), load_kenlm(path)
        text = sentences(setup, corpus, "test")
        ours, theirs = best_in_turn(
            setup.repeats,
            functools.partial(_score_each, model, text),
            functools.partial(score_kenlm, other, text),
            in_a_row=5,
            clock=time.thread_time,
        )
        tokens = sum(len(line.split()) + 1 for line in text)
        off = abs(_score_each(model, text) / (LN_10 * score_kenlm(other, text)) - 1)
        worst = min(worst, theirs / ours)
        rates = (f"{tokens / seconds / 1e6:.1f} M" for seconds in (ours, theirs))
        lines.append((corpus.name, *rates, f"{theirs / ours:.2f}", f"{off:.0e}"))
    return Row(
        "One sentence a call from Python, one thread, tokens per second",
        "at least 1.0 × kenlm's score()",
        f"at least {worst:.2f} ×",
        worst >= 1.0,
        table(("text", "model.score(one)", "kenlm score(one)", "ratio", "sums differ by"), lines),
    )


def _score_each(model: NgramModel, lines: Sequence[str]) -> float:
    score = model.score
    return sum(score(line) for line in lines)


def one_word_a_call(sizes: Sizes) -> Row:
    """Steps of a state against kenlm's BaseScore, states made before and reused, as decoders do."""
    setup = Setup(find_data(), None, 3 * sizes.repeats)
    lines, worst = [], math.inf
    for corpus in CORPORA:
        path = our_model(setup, corpus)
        model, other = NgramModel.load(path), load_kenlm(path)
        text = [line.split() for line in sentences(setup, corpus, "test")]
        ours, theirs = best_in_turn(
            setup.repeats,
            functools.partial(_walk, model.base_score, State, model.begin_state(), text),
            functools.partial(_walk_kenlm, other, text),
            in_a_row=3,
            clock=time.thread_time,
        )
        words = sum(map(len, text))
        worst = min(worst, theirs / ours)
        rates = (f"{words / seconds / 1e6:.2f} M" for seconds in (ours, theirs))
        lines.append((corpus.name, *rates, f"{theirs / ours:.2f}"))
    return Row(
        "One word a call from Python, one thread, words per second",
        "at least 1.0 × kenlm's BaseScore()",
        f"at least {worst:.2f} ×",
        worst >= 1.0,
        table(("text", "base_score(state, word, out)", "kenlm BaseScore", "ratio"), lines),
    )


def _walk(
    step: Callable[..., float], make: Callable[[], object], begin: object, text: Sequence[Sequence[str]]
) -> float:
    total = 0.0
    states = make(), make()
    for words in text:
        state = begin
        for place, word in enumerate(words):
            after = states[place & 1]
            total += step(state, word, after)
            state = after
    return total


def _walk_kenlm(model: object, text: Sequence[Sequence[str]]) -> float:
    import kenlm  # noqa: PLC0415  (the other rows can do without)

    begin = kenlm.State()
    model.BeginSentenceWrite(begin)  # type: ignore[attr-defined]
    return _walk(model.BaseScore, kenlm.State, begin, text)  # type: ignore[attr-defined]


# --------------------------------------------------------------------------------------------------- start


def start(sizes: Sizes) -> Row:
    """Processor time of `hiddenite --help`, and of one answer of `decode` with a compiled model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text").write_text("the dog barks\na cat sleeps\n" * 500)
        (folder / "keys").write_text("843 364 22757\n")
        for line in ("lm train text --order 3 --output lm.arpa", "lm compile lm.arpa --output lm.hlm"):
            subprocess.run([COMMAND, *line.split(), "--quiet"], cwd=folder, check=True)
        decode = "decode --lm lm.hlm --channel keypad keys"
        bars = {"--help": 0.15, decode: 0.25}
        times = {line: min(_cpu(folder, line) for _ in range(4 * sizes.repeats)) for line in bars}
        bare = min(_cpu(folder, None) for _ in range(4 * sizes.repeats))
    lines = [(f"`hiddenite {line}`", f"{times[line]:.3f} s", f"{bar} s") for line, bar in bars.items()]
    lines.append(("`python -c pass`", f"{bare:.3f} s", ""))
    return Row(
        "Processor time of the start",
        "0.15 s for help, 0.25 s for the first answer with a compiled model",
        f"{times['--help']:.3f} s and {times[decode]:.3f} s",
        all(times[line] <= bar for line, bar in bars.items()),
        table(("command", "processor time", "bar"), lines),
    )


def _cpu(folder: Path, line: str | None) -> float:
    command = [sys.executable, "-c", "pass"] if line is None else [COMMAND, *line.split()]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# ---------------------------------------------------------------------------------------------- interrupts


def interrupts(sizes: Sizes) -> Row:
    """Control-C at random moments in each long command; those that can be continued are, to the end."""
    sys.path.insert(0, str(ROOT))
    from tests import interrupts as cases  # noqa: PLC0415  (the tests' own commands and inputs)
    from tests.e2e.command import succeed  # noqa: PLC0415

    moments = random.Random(1)
    lines, worst = [], 0.0
    with tempfile.TemporaryDirectory() as name:
        inputs = Path(name, "inputs")
        inputs.mkdir()
        cases.make_inputs(inputs)
        for command, line, resume in (
            *((name, line, None) for name, line in cases.ONCE.items()),
            *((f"{name}, continued", *pair) for name, pair in cases.CONTINUED.items()),
        ):
            whole, parted = (Path(tempfile.mkdtemp(dir=name)) for _ in range(2))
            for folder in (whole, parted):
                for path in inputs.iterdir():
                    os.link(path, folder / path.name)
            if resume is not None:
                succeed(whole, *line.split())
            found, longest = [], cases.LAST
            while len(found) < sizes.moments:
                more = resume if resume and found else ""
                one = cases.interrupt(parted, f"{line} {more}", moments.uniform(cases.FIRST, longest))
                if one is None:
                    longest = max(0.8 * longest, cases.FIRST)
                    for left in ("out", "out.parts", "state"):
                        subprocess.run(["rm", "-rf", parted / left], check=True)
                    continue
                found.append(one)
            same = ""
            if resume is not None:
                succeed(parted, *f"{line} {resume}".split())
                same = "yes" if (parted / "out").read_bytes() == (whole / "out").read_bytes() else "**no**"
            late = max(one.cpu_seconds for one in found)
            worst = max(worst, late if same != "**no**" else math.inf)
            middle = sorted(one.seconds for one in found)[len(found) // 2]
            lines.append((command, len(found), f"{late:.2f} s", f"{middle:.2f} s", same))
            print(lines[-1], flush=True)
    head = ("command", "interrupts", "processor time to the end, worst", "on the clock, median", "same bytes")
    return Row(
        f"Control-C at {sizes.moments} random moments in each long command",
        "message within 0.5 s (two threads: 1 s of processor time); a resumed job gives identical bytes",
        f"at most {worst:.2f} s of processor time",
        worst <= cases.MOST_CPU_SECONDS,
        table(head, lines),
    )


# ---------------------------------------------------------------------------------------------------- size


def code_lines(path: Path) -> int:
    """Return the lines that hold code: without blank ones, comments and docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            documented |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type not in nothing and token.type != tokenize.ENDMARKER:
                lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def size(sizes: Sizes) -> Row:
    """Lines of code of the Python package, by room."""
    del sizes
    rooms: dict[str, list[int]] = {}
    longest, longest_function = 0, 0
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(PACKAGE).parts
        rooms.setdefault(place[0] if len(place) > 1 else "the package itself", []).append(code_lines(path))
        longest = max(longest, text.count("\n"))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                longest_function = max(longest_function, (node.end_lineno or 0) - node.lineno + 1)
    total = sum(map(sum, rooms.values()))
    lines = [(room, len(found), f"{sum(found):,}") for room, found in rooms.items()]
    return Row(
        "Size of `src/hiddenite` without stub and page",
        "at most 11,500 lines of code; functions of at most 60 lines, files of at most 350",
        f"{total:,} lines of code; the longest function has {longest_function}, the longest file {longest}",
        total <= 11_500 and longest <= 350 and longest_function <= 60,
        table(
            ("room", "files", "lines of code"), [*lines, ("all", sum(map(len, rooms.values())), f"{total:,}")]
        )
        + "\nLines of code are those without blank ones, comments and docstrings.\n",
    )


ROWS = {
    "sentences": one_sentence_a_call,
    "states": one_word_a_call,
    "start": start,
    "interrupts": interrupts,
    "size": size,
}

if __name__ == "__main__":
    run_rows(TITLE, __doc__, ROWS, lambda row, quick: Sizes(1 if quick else 5, 2 if quick else 20))
