"""The page about a tagger: what it counts, and that nothing of a text is markup."""

import re
from functools import cache
from html.parser import HTMLParser

import pytest

from hiddenite.tag import Tagger, TaggerOptions, score
from hiddenite.tag.charts import Axis, Point, chart
from hiddenite.tag.formats import NOT_ANNOTATED, Record
from hiddenite.tag.report import CONTEXT, learning_curve, make_report
from hiddenite.tag.report_page import page
from hiddenite.tag.suggestion import READING

TAGS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "barks": "V", "sleeps": "V", ".": "P", "old": "A"}
TEXT = ["the dog barks .", "a cat sleeps .", "the old cat barks .", "a dog sleeps .", "the cat ."] * 4
TRAIN = [[(word, TAGS[word]) for word in line.split()] for line in TEXT]
HOSTILE = (
    "</style><script>alert(1)</script>",
    "<img/src=x/onerror=alert(2)>",
    "&lt;b&gt;",
    "'\"`${1}",
    "ש\u202eלום",
)
GOLD = [
    Record(("the", "barks", "sleeps", "."), ("D", "N", "V", "P"), 1),
    Record((), (), 6),
    Record(("a", "cat", "zog", "."), ("D", "V", "_", "P"), 7, lines=("# sent_id = <s2>",)),
    Record(HOSTILE, ("<N>", "<N>", "N", "N", "_"), 12),
    Record(("dog", "cat"), ("_", "_"), 18),
]


@cache
def tagger() -> Tagger:
    return Tagger.train(TRAIN, order=2)


def test_a_report_counts_what_the_score_counts() -> None:
    found = make_report(tagger(), GOLD)
    assert found.score == score(tagger(), [record.pairs() for record in GOLD])
    assert (found.num_sentences, found.num_words) == (4, 15)
    assert (
        found.score.tokens
        == 11
        == sum(one.gold for one in found.tags)
        == sum(one.found for one in found.tags)
    )
    assert found.score.right == sum(one.right for one in found.tags)
    assert found.score.unseen_tags == 2
    assert sum(one.tokens for one in found.confusions) == found.score.tokens - found.score.right
    assert found.expected_errors == pytest.approx(sum(s.expected_errors for s in found.sentences))
    doubts = [one.expected_errors / (len(one.words) + READING) for one in found.sentences]
    assert doubts == sorted(doubts, reverse=True)
    assert {one.id for one in found.sentences} == {1, "<s2>", 12, 18}


def test_probabilities_are_the_posterior_ones() -> None:
    for sentence in make_report(tagger(), GOLD).sentences:
        words = [one.word for one in sentence.words]
        slots = tagger().marginals(words).slots
        for one, slot in zip(sentence.words, slots, strict=True):
            rest = {tag: p for tag, p in slot if tag != one.tag}
            assert one.p == pytest.approx(dict(slot)[one.tag])
            assert one.other is None or one.other[1] == max(rest.values())
            assert one.is_wrong == (one.gold not in (NOT_ANNOTATED, one.tag))


def test_examples_are_the_surest_errors_in_their_context() -> None:
    records = [
        Record(
            (*["the"] * (CONTEXT + n), "dog", *["cat"] * n), ("D",) * (CONTEXT + n) + ("V",) + ("N",) * n, n
        )
        for n in range(1, 9)
    ]
    found = make_report(tagger(), records, most_examples=3)
    one = next(one for one in found.confusions if (one.gold, one.found) == ("V", "N"))
    assert one.tokens == 8
    sure = [example.word.p for example in one.examples]
    assert len(sure) == 3
    assert sure == sorted(sure, reverse=True)
    for example in one.examples:
        assert example.left == ("the",) * CONTEXT
        assert len(example.right) == min(int(example.id), CONTEXT)
        assert 0 <= example.gold_p <= 1 - example.word.p + 1e-9


def test_equal_probabilities_stay_in_the_order_of_the_text() -> None:
    records = [Record(("the",) * n, ("V",) * n, n) for n in (4, 2, 1, 2)]
    tnt = Tagger.train_with(TRAIN, TaggerOptions.tnt(order=1))  # every one has the same probability
    (one,) = make_report(tnt, records, most_examples=20).confusions
    assert [example.id for example in one.examples] == [4] * 4 + [2] * 2 + [1] + [2] * 2
    assert [len(example.left) for example in one.examples] == [0, 1, 2, 3, 0, 1, 0, 0, 1]


def test_what_is_shown_is_limited() -> None:
    found = make_report(tagger(), GOLD, most_sentences=1, most_confusions=1, most_examples=0)
    assert len(found.sentences) == 1
    assert len(found.confusions) == 1
    assert found.confusions[0].examples == ()
    every = make_report(tagger(), GOLD)
    assert found.sentences[0] == every.sentences[0]


def test_a_learning_curve_ends_with_the_whole_text() -> None:
    gold = [record.pairs() for record in GOLD[:1]]
    options = TaggerOptions(order=2)
    points = list(learning_curve(TRAIN, gold, options))
    assert [point.sentences for point in points] == [10, 20]
    assert points[-1].tokens == sum(map(len, TRAIN))
    assert points[-1].accuracy == score(Tagger.train_with(TRAIN, options), gold).accuracy
    assert [p.sentences for p in learning_curve(TRAIN[:3], gold, options)] == [3]


class Elements(HTMLParser):
    """The elements of a page; every one that is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "srcset")]
        assert all((value or "").startswith("#") for name, value in attrs if name == "href")
        if tag not in ("meta", "circle", "polyline") or self.get_starttag_text() != f"<{tag}>":
            self.open.append(tag)
        if tag == "meta":
            self.open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("has_curve", [False, True])
def test_the_page_is_whole_and_no_word_is_markup(has_curve: bool) -> None:
    curve = learning_curve(TRAIN, [record.pairs() for record in GOLD], tagger().model.options)
    found = make_report(tagger(), GOLD, curve=curve if has_curve else ())
    text = page(found, "<my & model>", "gold.tsv")
    elements = Elements()
    elements.feed(text)
    assert elements.open == []
    assert not elements.seen & {"script", "img", "link", "iframe"}
    assert "default-src 'none'; style-src 'unsafe-inline'\"" in text
    assert "<title>&lt;my &amp; model&gt; on gold.tsv</title>" in text
    assert set(HOSTILE) <= set(elements.text)
    assert text.count("<svg") == 1 + has_curve
    assert ("No learning curve" in text) != has_curve
    assert f"{100 * found.score.right / found.score.tokens:.2f} %" in text
    assert "4 words without a gold tag are not compared" in text


def test_a_perfect_tagger_has_a_page_too() -> None:
    found = make_report(tagger(), [Record(("the", "dog"), ("D", "N"), 1)])
    assert "There is no wrong tag" in page(found, "m", "g")


def test_a_chart_puts_points_where_they_belong() -> None:
    ticks = ((0.0, "0"), (1.0, "1"))
    text = chart(
        Axis("x", 0, 1, ticks), Axis("y", 0, 1, ticks), [[Point(0, 0, "a"), Point(1, 1, "<b>")]], title="t"
    )
    places = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', text)]
    assert places[0][0] < places[1][0]
    assert places[0][1] > places[1][1]  # up is less in SVG
    assert "<title>&lt;b&gt;</title>" in text
