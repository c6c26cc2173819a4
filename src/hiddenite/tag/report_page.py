"""The page of tag report: no script at all; what can be folded is folded by the browser itself."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from hiddenite.files.page import make_page
from hiddenite.tag.charts import Axis, Point, chart
from hiddenite.tag.evaluation import Bin, TagScore
from hiddenite.tag.formats import NOT_ANNOTATED
from hiddenite.tag.report import (
    Confusion,
    CurvePoint,
    Example,
    ReportSentence,
    ReportWord,
    TagCounts,
    TagReport,
)

_DOUBT = 0.05  # a tag whose probability is so far from 1 shows it
_OPEN = 3  # confusions that are open at first

_STYLE = """
h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem; scroll-margin-top: 3.5rem; }
nav a { color: inherit; padding: .2rem .7rem; border: 1px solid var(--rule); border-radius: 6px;
  text-decoration: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem;
  margin: 1rem 0; }
.cards div { background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: .6rem .9rem; }
.cards b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr));
  gap: 1.2rem; }
figure { margin: 0; }
figcaption { color: var(--quiet); font-size: .9rem; }
svg { width: 100%; max-width: 30rem; font: 11px system-ui, sans-serif; }
svg text { fill: var(--quiet); }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.grid, .diagonal, .line { fill: none; stroke: var(--rule); }
.diagonal { stroke: var(--quiet); stroke-dasharray: 3 4; }
.line { stroke: rgb(var(--mark)); stroke-width: 1.6; }
circle { fill: rgb(var(--mark) / .55); stroke: rgb(var(--mark)); }
.series0 text { fill: rgb(var(--mark)); }
.series1 text { fill: rgb(var(--warn)); }
.series1 .line { stroke: rgb(var(--warn)); }
.series1 circle { fill: rgb(var(--warn) / .55); stroke: rgb(var(--warn)); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
th { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { border-bottom: 1px solid var(--rule); padding: .35rem 0; }
summary { cursor: pointer; }
.example { margin: .5rem 0 .5rem 1rem; overflow-wrap: anywhere; }
.example b { background: var(--hit); padding: 0 .2rem; border-radius: 3px; }
.example span { color: var(--quiet); }
.example div { font-size: .9rem; color: var(--quiet); }
article { margin: 1rem 0; padding: .5rem .9rem .7rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: 10px; }
.words { display: flex; flex-wrap: wrap; gap: .3rem; margin-top: .4rem; }
.w { padding: .1rem .35rem; border-radius: 5px; background: rgb(var(--warn) / calc(var(--d, 0) * .45));
  border-bottom: 2px solid transparent; text-align: center; overflow-wrap: anywhere; }
.w small { display: block; color: var(--quiet); }
.w.wrong { border-bottom-color: var(--wrong); }
.w s { color: var(--wrong); }
.w.new > span { font-style: italic; }
"""


def page(report: TagReport, model: str, gold: str) -> str:
    """Return the page; ``model`` and ``gold`` are the names of the files."""
    links = ["Accuracy", "Confusions", "Tags", "Sentences"]
    body = "".join(
        [
            "<nav>",
            *(f'<a href="#{name.lower()}">{name}</a>' for name in links),
            "</nav>\n<main>",
            _accuracy(report),
            _confusions(report),
            _tags(report.tags),
            _sentences(report),
            "</main>\n",
        ]
    )
    return make_page(f"{model} on {gold}", _about(report), body, style=_STYLE)


def _about(report: TagReport) -> str:
    found = report.score
    untagged = report.num_words - found.tokens
    left_out = f" {untagged:,} words without a gold tag are not compared." if untagged else ""
    return (
        f"{report.num_words:,} words in {report.num_sentences:,} sentences.{left_out} By its own"
        f" probabilities the tagger expects {report.expected_errors:,.0f} wrong tags in all of them."
        f" {found.certified:,} of {found.sentences:,} compared sentences have tags that are proved to be"
        " the model's best ones."
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"


# ------------------------------------------------------------------- accuracy


def _accuracy(report: TagReport) -> str:
    found = report.score
    unknown = found.tokens - found.known_tokens
    cards = [
        (_percent(found.accuracy), f"of {found.tokens:,} words are right"),
        (_percent(found.known), f"of {found.known_tokens:,} known words"),
        (_percent(found.unknown), f"of {unknown:,} unknown words, not seen in training"),
        (_percent(found.sentence), f"of {found.sentences:,} sentences have no error"),
        (_percent(found.calibration_error), "expected calibration error"),
    ]
    if found.unseen_tags:
        cards.append((f"{found.unseen_tags:,}", "words have a tag that training never saw"))
    boxes = "".join(f"<div><b>{html.escape(number)}</b>{html.escape(text)}</div>" for number, text in cards)
    charts = _calibration(found) + _curve(report)
    return (
        f'<h2 id="accuracy">Accuracy</h2><div class="cards">{boxes}</div><div class="charts">{charts}</div>\n'
    )


def _calibration(found: TagScore) -> str:
    if not found.bins:
        return ""
    ticks = tuple((n / 5, f"{n * 20}") for n in range(6))
    most = max(b.tokens for b in found.bins)
    points = [Point(b.probability, b.accuracy, _bin_says(b), b.tokens / most) for b in found.bins]
    drawn = chart(
        Axis("probability of the tag given, %", 0, 1, ticks),
        Axis("right, %", 0, 1, ticks),
        [points],
        title="share of right tags by their probability",
        diagonal=True,
    )
    over = sum(b.total_probability - b.right for b in found.bins) / sum(b.tokens for b in found.bins)
    says = "too sure of itself" if over > 0 else "too careful"
    return (
        f"<figure>{drawn}<figcaption>Calibration. On the dotted line probabilities are what they say; below"
        f" it the tagger is too sure. On average it is {says} by {100 * abs(over):.2f} points. A larger"
        " circle is more words.</figcaption></figure>"
    )


def _bin_says(one: Bin) -> str:
    return f"{one.tokens:,} words, probability {_percent(one.probability)}, right {_percent(one.accuracy)}"


def _curve(report: TagReport) -> str:
    points = report.curve
    if not points:
        return (
            "<figure><figcaption>No learning curve: give the training text as --train FILE to see what more"
            " annotation would bring.</figcaption></figure>"
        )
    shares = [p.accuracy for p in points] + [p.unknown for p in points if p.unknown is not None]
    low = max(math.floor(10 * min(shares) - 0.1) / 10, 0.0)
    sizes = tuple((math.log(p.sentences), f"{p.sentences:,}") for p in points)
    x = Axis("training sentences", sizes[0][0] - 0.1, sizes[-1][0] + 0.2, sizes)
    ticks = tuple((n / 10, f"{n * 10}") for n in range(round(10 * low), 11))
    lines = [
        [Point(math.log(p.sentences), p.accuracy, _curve_says(p, p.accuracy)) for p in points],
        [Point(math.log(p.sentences), p.unknown, _curve_says(p, p.unknown)) for p in points if p.unknown],
    ]
    drawn = chart(
        x,
        Axis("right, %", low, 1, ticks),
        lines,
        title="learning curve",
        names=("all words", "unknown words"),
    )
    return f"<figure>{drawn}<figcaption>Learning curve. {_curve_about(report)}</figcaption></figure>"


def _curve_about(report: TagReport) -> str:
    says = "Trained on parts of the training text with the model's own settings."
    if len(report.curve) > 1:
        before, last = report.curve[-2:]
        gain = 100 * (last.accuracy - before.accuracy)
        says += f" From {before.sentences:,} to {last.sentences:,} sentences: {gain:+.2f} points."
    if report.has_knowledge:
        says += " Without the word classes or the dictionary that the model has."
    return says


def _curve_says(point: CurvePoint, share: float) -> str:
    return f"{point.sentences:,} sentences, {point.tokens:,} words: {_percent(share)}"


# ----------------------------------------------------------------- confusions


def _confusions(report: TagReport) -> str:
    errors = report.score.tokens - report.score.right
    rows = [_confusion(one, errors, n < _OPEN) for n, one in enumerate(report.confusions)]
    left = len(report.score.confusions) - len(rows)
    more = f'<p class="meta">{left:,} rarer confusions are not shown.</p>' if left else ""
    none = '<p class="meta">There is no wrong tag.</p>' if not rows else ""
    return (
        '<h2 id="confusions">Confusions</h2><p class="about">What should be one tag and got another. Examples'
        " are those of which the tagger was surest: there it has learnt something wrong, or the gold tag is"
        f" wrong.</p>{none}{''.join(rows)}{more}\n"
    )


def _confusion(one: Confusion, errors: int, is_open: bool) -> str:
    head = (
        f"<b>{html.escape(one.gold)}</b> taken for <b>{html.escape(one.found)}</b>: {one.tokens:,}"
        f' <span class="meta">({_percent(one.tokens / errors)} of the errors)</span>'
    )
    examples = "".join(map(_example, one.examples))
    return f"<details{' open' if is_open else ''}><summary>{head}</summary>{examples}</details>"


def _example(one: Example) -> str:
    word = one.word
    known = "" if word.known else ", unknown word"
    tags = f"{word.tag} {_percent(word.p)}, right is {word.gold} {_percent(one.gold_p)}"
    about = f"{tags}{known}; sentence {one.id}"
    return (
        f'<div class="example" dir="auto"><span>{_text(one.left)}</span> <b>{html.escape(word.word)}</b>'
        f' <span>{_text(one.right)}</span><div dir="ltr">{html.escape(about)}</div></div>'
    )


def _text(words: Iterable[str]) -> str:
    return html.escape(" ".join(words))


# ----------------------------------------------------------------------- tags


def _tags(rows: Sequence[TagCounts]) -> str:
    heads = ("tag", "words", "found", "precision", "recall", "F1")
    head = "".join(f"<th{'' if name == 'tag' else ' class=n'}>{name}</th>" for name in heads)
    body = "".join(map(_tag_row, rows))
    return (
        '<h2 id="tags">Tags</h2><div class="scroll"><table><thead><tr>'
        f"{head}<th>most often taken for</th></tr></thead><tbody>{body}</tbody></table></div>\n"
    )


def _tag_row(one: TagCounts) -> str:
    precision = one.right / one.found if one.found else None
    recall = one.right / one.gold if one.gold else None
    both = 2 * one.right / (one.found + one.gold)
    numbers = [f"{one.gold:,}", f"{one.found:,}", *map(_percent, (precision, recall, both))]
    cells = "".join(f"<td class=n>{number}</td>" for number in numbers)
    return f"<tr><td>{html.escape(one.tag)}</td>{cells}<td>{html.escape(one.taken_for or '')}</td></tr>"


# ------------------------------------------------------------------ sentences


def _sentences(report: TagReport) -> str:
    left = report.num_sentences - len(report.sentences)
    more = f'<p class="meta">{left:,} sentences of which it is surer are not shown.</p>' if left else ""
    return (
        '<h2 id="sentences">Least certain sentences first</h2><p class="about">By expected'
        " errors per word to be read. The stronger the colour, the less certain the tag; where it is below"
        f" {100 * (1 - _DOUBT):.0f} % its probability is shown. Underlined tags are wrong, with the right one"
        " beside; words in italics were not seen in training.</p>"
        f"{''.join(map(_sentence, report.sentences))}{more}"
    )


def _sentence(one: ReportSentence) -> str:
    wrong = f", {one.num_wrong} wrong" if any(w.gold != NOT_ANNOTATED for w in one.words) else ""
    about = f"sentence {one.id}: {one.expected_errors:.1f} errors expected in {len(one.words)} words{wrong}"
    return (
        f'<article><div class="meta">{html.escape(about)}</div>'
        f'<div class="words" dir="auto">{"".join(map(_word, one.words))}</div></article>\n'
    )


def _word(one: ReportWord) -> str:
    kind = "w" + " wrong" * one.is_wrong + " new" * (not one.known)
    other = "" if one.other is None else f", {one.other[0]} {_percent(one.other[1])}"
    title = html.escape(f"{one.tag} {_percent(one.p)}{other}")
    sure = "" if one.p > 1 - _DOUBT else f" {100 * one.p:.0f} %"
    tag = html.escape(one.tag)
    if one.is_wrong:
        tag = f"<s>{tag}</s> {html.escape(one.gold)}"
    return (
        f'<span class="{kind}" style="--d:{1 - one.p:.3f}" title="{title}">'
        f"<span>{html.escape(one.word)}</span><small>{tag}{sure}</small></span>"
    )
