"""The page of induce report: classes to look at, rename, merge and split, for keyboard and pointer.

What it looks like and what it holds; what it does is the script beside.
"""

from __future__ import annotations

from typing import Any

from hiddenite.cli.induce_report_script import SCRIPT
from hiddenite.files.page import make_page
from hiddenite.induction.naming import FORMAT, NUM_TYPICAL, VERSION
from hiddenite.induction.report import ClassReport, ClassWord, InductionReport

_STYLE = """
h3 { font-size: .85rem; margin: .9rem 0 .3rem; color: var(--quiet); font-weight: 600; }
button, input, select, .file { font: inherit; color: inherit; background: none; border: 1px solid var(--rule);
  border-radius: 6px; padding: .25rem .7rem; }
select { background: var(--paper); }
button, .file { cursor: pointer; }
button:disabled { opacity: .45; cursor: default; }
.main { background: rgb(var(--mark) / .18); border-color: rgb(var(--mark)); }
#search { flex: 1; min-width: 10rem; }
article { margin: 1.2rem 0; padding: .8rem 1rem 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: 10px; }
article header { display: flex; gap: .8rem; align-items: center; flex-wrap: wrap; }
h2 { font-size: 1rem; margin: 0; min-width: 2.6rem; }
article header input { width: 9rem; font-weight: 600; }
.bar { width: 7rem; height: .6rem; border-radius: 4px; background: var(--rule); overflow: hidden; }
.bar i { display: block; height: 100%; background: rgb(var(--mark)); }
.words { display: flex; flex-wrap: wrap; gap: .3rem; }
.words button { padding: .05rem .5rem; border-radius: 12px; }
.words button small { color: var(--quiet); }
button, .line { overflow-wrap: anywhere; }
.words button[aria-pressed=true] { background: var(--hit); border-color: var(--ink); }
.words button.moved { border-style: dashed; border-color: rgb(var(--warn)); }
.dubious button { border-color: rgb(var(--warn) / .6); }
.line { display: grid; grid-template-columns: minmax(0, 1fr) fit-content(50%) minmax(0, 1fr);
  gap: 0 .8rem; margin: .2rem 0; color: var(--quiet); }
.line b { color: var(--ink); font-weight: 600; }
.line span:first-child { text-align: end; }
@media (max-width: 40rem) { .line { display: block; margin: .4rem 0; } }
.how { margin: .8rem 0 1.2rem; padding-inline-start: 1.2rem; }
.how code { display: inline-block; }
.row { display: flex; gap: .4rem; flex-wrap: wrap; align-items: center; margin-top: .6rem; }
[hidden] { display: none !important; }
"""

_BODY = """<nav aria-label="Tools">
<input id="search" type="search" placeholder="Search for a word or a class" aria-label="Search">
<button id="undo" type="button">Undo</button>
<label class="file">Open mapping<input id="load" type="file" accept=".json" hidden></label>
<button id="save" type="button" class="main">Save mapping</button>
<span id="tally" class="meta" role="status"></span></nav>
<datalist id="names"></datalist>
<main><ul class="how meta">
<li><b>Rename</b>: type a name over a class's number.</li>
<li><b>Merge</b>: press a button under «Classes with similar neighbours», or give two classes the same name.
<i>Separate</i> takes them apart again.</li>
<li><b>Split</b>: click words to pick them, type the name of their class and press <i>Move</i>. The search
finds words that are not listed, too.</li>
<li><b>Keep</b>: <i>Save mapping</i> writes names.json. This command puts the names into the tagged text, as
CoNLL-U: <code>hiddenite induce label tagged.tsv --mapping names.json --output labelled.conllu</code></li>
</ul><div id="view"></div></main>
"""


def page(report: InductionReport, title: str) -> str:
    """Return the page; ``title`` is the name of the run."""
    return make_page(
        f"Classes of {title}", _about(report), _BODY, style=_STYLE, script=SCRIPT, data=_data(report)
    )


def _about(report: InductionReport) -> str:
    sizes = (
        _count(report.tokens, "token", "tokens"),
        _count(report.types, "different word", "different words"),
        _count(report.sentences, "sentence", "sentences"),
    )
    return (
        f"{_count(len(report.classes), 'class', 'classes')} in a text of {', '.join(sizes)}; the largest "
        "class comes first. Confidence says how probable it is that a token belongs to its class: "
        f"{100 * report.confidence:.1f} % on average. Two classes are similar if the same classes stand "
        "before and after them."
    )


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _data(report: InductionReport) -> dict[str, Any]:
    """Return what the script reads."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": report.run,
        "typical": {one.tag: _typical(one) for one in report.classes},
        "tokens": report.tokens,
        "classes": [_class(one) for one in report.classes],
    }


def _typical(one: ClassReport) -> str:
    """Return the words by which a mapping is told from those of other runs."""
    return " ".join(word.word for word in (one.typical + one.others)[:NUM_TYPICAL])


def _class(one: ClassReport) -> dict[str, Any]:
    return {
        "t": one.tag,
        "n": one.tokens,
        "k": one.types,
        "p": round(one.confidence, 4),
        "w": [_word(word) for word in one.typical],
        "r": [_word(word) for word in one.others],
        "d": [_word(word) for word in one.dubious],
        "s": [[o.sentence, " ".join(o.left), o.word, " ".join(o.right)] for o in one.occurrences],
        "a": [[tag, round(value, 4)] for tag, value in one.similar],
    }


def _word(one: ClassWord) -> list[Any]:
    return [one.word, one.tokens, round(one.probability, 4), one.other, round(one.other_probability, 4)]
