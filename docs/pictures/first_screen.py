"""Draws docs/img/first-screen.svg and docs/img/tools.svg, the two pictures of the README.

    python docs/pictures/first_screen.py        needs the extras demo and english; a minute

The first shows what three commands answer now: a misspelt message and a line of OCR corrected, two sentences
aligned; every number is computed here. The second takes its figures from benchmarks/RESULTS.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import hiddenite
from hiddenite.cli.demo_align import OPTIONS, verses
from hiddenite.correct.answers import Correction
from hiddenite.correct.defaults import default_model

DOCS = Path(__file__).resolve().parent.parent
RESULTS = DOCS.parent / "benchmarks" / "RESULTS.md"
TYPED = "I recieve teh adress tommorow ."
READ = "Tbe Presidcnt of tbe Unitcd States addrcssed the pcople."
PAIR = ("wherefore hast thou done this thing ?", "why have you done this ?")
WIDTH, CELL = 880, 7.83  # of the picture; of a character at 13 pixels

STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; }
.title, .label { font: 600 13px system-ui, -apple-system, Segoe UI, sans-serif; }
.label { font-weight: 400; }
.command { fill: #57606a; } .was { fill: #b42318; } .is { fill: #1a7f37; font-weight: 700; }
.small { font-size: 11px; fill: #57606a; } .proof { fill: #1a7f37; }
.card { fill: #ffffff; stroke: #d0d7de; } .ours { fill: #1a7f37; } .theirs { fill: #afb8c1; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .command, .small { fill: #9198a1; } .was { fill: #ff8b82; }
  .is, .proof { fill: #4ac26b; }
  .card { fill: #0d1117; stroke: #3d444d; } .ours { fill: #4ac26b; } .theirs { fill: #656c76; }
}
"""


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"'
    return f'<text {place} xml:space="preserve">{escape(words)}</text>'


def picture(height: float, name: str, parts: list[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{name}">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


# ----------------------------------------------------------------- three answers


def corrected(y: float, title: str, command: str, before: str, found: Correction) -> Iterator[str]:
    """A line before and after, the probability of each change above it, and the proof."""
    yield f'<rect class="card" x="1" y="{y}" width="{WIDTH - 2}" height="124" rx="8"/>'
    yield text(16, y + 24, title, "title")
    yield text(WIDTH - 16, y + 24, command, "command", "end")
    place, x_before, x_after = 0, 16.0, 16.0
    for change in found.changes:
        kept = before[place : change.start]
        yield text(x_before, y + 54, kept)
        yield text(x_after, y + 94, kept)
        x_before, x_after = x_before + CELL * len(kept), x_after + CELL * len(kept)
        yield text(x_before, y + 54, change.old, "was")
        yield text(x_after, y + 94, change.new, "is")
        yield text(x_after, y + 76, f"{change.probability:.2f}", "small")
        x_before, x_after = x_before + CELL * len(change.old), x_after + CELL * len(change.new)
        place = change.end
    yield text(x_before, y + 54, before[place:])
    yield text(x_after, y + 94, before[place:])
    assert found.certificate.exact
    yield text(16, y + 115, "✓ proved: under this model no other reading is more probable", "small proof")


def aligned(y: float) -> Iterator[str]:
    """Two sentences, their links, and the proof."""
    pairs = [(" ".join(old), " ".join(new)) for old, new in verses()[1]]
    aligner = hiddenite.Aligner.train(pairs, seed=1, options=OPTIONS)
    source, target = (sentence.split() for sentence in PAIR)
    found = aligner.align(source, target, marginals="samples", samples=1000, seed=1)
    assert found.links is not None
    assert found.probabilities is not None
    assert found.certificate is not None
    assert found.certificate.exact
    yield f'<rect class="card" x="1" y="{y}" width="{WIDTH - 2}" height="124" rx="8"/>'
    yield text(16, y + 24, "Words of translations linked", "title")
    yield text(WIDTH - 16, y + 24, "hiddenite align run --model MODEL old.txt new.txt", "command", "end")
    places = [[16 + 130 * i for i in range(len(words))] for words in (source, target)]
    for words, xs, row in ((source, places[0], y + 54), (target, places[1], y + 98)):
        yield from (text(x, row, word) for word, x in zip(words, xs, strict=True))
    for i, j in found.links:
        a, b = places[0][i] + 4 * len(source[i]), places[1][j] + 4 * len(target[j])
        yield f'<line x1="{a}" y1="{y + 60}" x2="{b}" y2="{y + 84}" stroke="#1a7f37" stroke-width="2"/>'
        yield text(b + 10 if a < b + 30 else b - 36, y + 84, f"{found.probabilities[i][j]:.2f}", "small")
    yield text(16, y + 117, "✓ proved: no other alignment is more probable", "small proof")


def first_screen() -> str:
    typing, ocr = (hiddenite.Corrector.load(default_model("en", kind)) for kind in ("typing", "ocr"))
    parts = [
        *corrected(
            1, "A misspelt message", "hiddenite correct --changes message.txt", TYPED, typing.correct(TYPED)
        ),
        *corrected(
            137, "A line read by a machine", "hiddenite correct --kind ocr page.txt", READ, ocr.correct(READ)
        ),
        *aligned(273),
    ]
    return picture(
        398, "Two corrected lines with the probability of every change, and two sentences aligned", parts
    )


# ------------------------------------------------------------ beside other tools


def table(heading: str) -> list[dict[str, str]]:
    """The rows of a table of RESULTS.md, by the beginning of its heading."""
    chapter = re.split(r"^### ", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (found,) = [part for part in chapter if part.startswith(heading)]
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in found.splitlines()
        if line.startswith("|")
    ]
    return [dict(zip(lines[0], row, strict=True)) for row in lines[2:]]


def column(heading: str, key: str, value: str) -> dict[str, float]:
    return {row[key]: float(row[value].split()[0]) for row in table(heading)}


def error_reduction(words: str) -> float:
    before, after = (float(number) for number in words.split(" to "))
    return 100 * (before - after) / before


def comparisons() -> list[tuple[str, list[tuple[str, float]]]]:
    spellers = column("Poor spellers", "system", "F1")
    learners = column("Learners' sentences", "system", "F1")
    pages = {
        row["system"]: error_reduction(row["word error"]) for row in table("Newspapers read by a machine")
    }
    links = {row["text"]: row for row in table("Alignment error rates by default")}
    right = {
        name: 100 - float(links["zh-en"][name].split()[0])
        for name in ("eflomal, 4-letter prefixes", "hiddenite")
    }
    return [
        ("Slips of learners of English: F1 of corrections, %", _three(learners, "hiddenite")),
        ("Slips of poor spellers: F1 of corrections, %", _three(spellers, "hiddenite, no pairs")),
        ("Old newspapers read by a machine: word error lowered by, %", _three(pages, "hiddenite, no pairs")),
        (
            "Chinese and English words linked: 100 − error rate, %",
            [
                ("eflomal, at its best", right["eflomal, 4-letter prefixes"]),
                ("hiddenite", right["hiddenite"]),
            ],
        ),
    ]


def _three(figures: dict[str, float], ours: str) -> list[tuple[str, float]]:
    return [
        ("SymSpell", figures["symspellpy"]),
        ("JamSpell", figures["JamSpell"]),
        ("hiddenite", figures[ours]),
    ]


def tools() -> str:
    parts, y, left, full = [], 22.0, 170, 600
    for title, bars in comparisons():
        parts.append(text(0, y, title, "title"))
        for name, value in bars:
            y += 22
            parts.append(text(left - 10, y, name, "label", "end"))
            kind = "ours" if name == "hiddenite" else "theirs"
            wide = full * value / 100
            parts.append(
                f'<rect class="{kind}" x="{left}" y="{y - 12}" width="{wide:.1f}" height="15" rx="2"/>'
            )
            parts.append(text(left + wide + 8, y, f"{value:.1f}", "label"))
        y += 36
    return picture(y - 20, "hiddenite beside SymSpell, JamSpell and eflomal on the same texts", parts)


def main() -> None:
    """Draw both."""
    for name, draw in (("first-screen", first_screen), ("tools", tools)):
        (DOCS / "img" / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
