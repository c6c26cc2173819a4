"""hiddenite demo correct: everyday text and a line of OCR, before and after, with probabilities and proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hiddenite.correct.answers import Change, Correction
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.defaults import default_model, with_kind
from hiddenite.errors import ModelError
from hiddenite.ngram import NgramModel

TYPED = [
    "Teh lord, is my shephrd.  I shal not wnat!",
    "I recieve teh adress tommorow .",
    "I will definately anser untill Friday, see www.example.org/recieve.",
    "hello world",
]
READ = "Tbe Presidcnt of tbe Unitcd States addrcssed the pcople, and the war was ovcr."
EXAMPLES = [TYPED[0], TYPED[2], TYPED[1]]
DEFAULT = "default model for English"  # the name of what needs no option
SHOWN = 3  # alternatives of a change
Report = Callable[[str], None]


def load_corrector(fallback: NgramModel | Callable[[], NgramModel], report: Report) -> tuple[Corrector, str]:
    """Return the default corrector for English and its name; without its packages, one of a built-in text."""
    try:
        return Corrector.load(default_model(report=report)), DEFAULT
    except ModelError as error:
        report(str(error))
        lm = fallback if isinstance(fallback, NgramModel) else fallback()
        return Corrector.from_ngram(lm), "the built-in text"


def demo_correct(console: Console, train: Callable[[], NgramModel], text: str | None) -> None:
    """Show what is corrected, and how sure it is; ``train`` makes a model if the default one is missing."""
    corrector, name = load_corrector(train, console.print)
    if text is not None:
        _show(console, corrector, [text])
        return
    console.print(f"[bold]Typed[/bold] ({name})")
    _show(console, corrector, TYPED)
    reader = with_kind(corrector, "ocr")
    console.print("\n[bold]Read by a machine[/bold] (the same words, other errors)")
    _show(console, reader, [READ])


def _show(console: Console, corrector: Corrector, texts: Sequence[str]) -> None:
    corrector.correct(texts[0])  # the first question builds what the others use
    begun = time.perf_counter()
    answers = list(corrector.correct_many(texts))
    milliseconds = 1000 * (time.perf_counter() - begun)
    for text, answer in zip(texts, answers, strict=True):
        _show_text(console, text, answer)
    changes = [change for answer in answers for change in answer.changes]
    if changes:
        console.print(_table(changes))
    console.print(_proof(answers, milliseconds))


def _show_text(console: Console, text: str, answer: Correction) -> None:
    if not answer.changes:
        console.print(Text.assemble(("  as is   ", "dim"), text))
        return
    before, after, done = Text("  before  ", "dim"), Text("  after   ", "dim"), 0
    for change in answer.changes:
        for line, word, style in ((before, change.old, "red"), (after, change.new, "bold green")):
            line.append(text[done : change.start], "not dim")
            line.append(word, f"not dim {style}")
        done = change.end
    for line in (before, after):
        line.append(text[done:], "not dim")
        console.print(line)


def _table(changes: Sequence[Change]) -> Table:
    table = Table("was", "is", title="Every change", title_justify="left")
    table.add_column("probability", justify="right")
    table.add_column("or else")
    for change in changes:
        others = [one for one in change.alternatives if one.text != change.new][:SHOWN]
        rest = ", ".join(f"{one.text} {one.probability:.3f}" for one in others)
        table.add_row(change.old, change.new, f"{change.probability:.3f}", rest)
    return table


def _proof(answers: Sequence[Correction], milliseconds: float) -> Text:
    """Return the line that says what is proved."""
    first = answers[0].certificate
    if all(answer.certificate.exact for answer in answers):
        what = f"Proved: no other reading of these texts is more probable ({first.method})"
        return Text(f"{what}, {milliseconds:.1f} ms.", "green")
    gap = max(answer.certificate.gap for answer in answers)
    return Text(f"Within {gap:.2f} of the best reading, {milliseconds:.1f} ms.", "yellow")
