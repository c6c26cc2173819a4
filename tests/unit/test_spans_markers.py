"""Spans against brute force over all sets of words; markers put into text that must not change."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from hiddenite import FormatError, ModelError
from hiddenite.align.label_chain import Array
from hiddenite.align.markers import MarkedText, find_words, strip
from hiddenite.align.placing import _gap_weights, place_markers
from hiddenite.align.spans import Span, best_span, project_spans, read_spans, write_spans

ATOL = 1e-9  # sums of at most 2^7 products


def expected_agreement(q: Array, begin: int, end: int) -> float:
    """Return E[F] by enumeration of all sets of words."""
    total = 0.0
    for image in itertools.product((0, 1), repeat=len(q)):
        p = float(np.prod([c if x else 1 - c for c, x in zip(q, image, strict=True)]))
        inside, size = sum(image[begin:end]), sum(image) + end - begin
        total += p * (1.0 if size == 0 else 2 * inside / size)
    return total


@given(st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.8, 1.0]), min_size=1, max_size=6), st.integers(0, 63))
@settings(max_examples=80, deadline=None)
def test_the_best_span_is_that_of_brute_force(coins: list[float], mask: int) -> None:
    q = np.array(coins)
    allowed = np.array([not mask >> j & 1 for j in range(len(q))])
    spans = [(b, e) for b in range(len(q)) for e in range(b + 1, len(q) + 1) if allowed[b:e].all()]
    best = max((expected_agreement(q, *one) for one in spans), default=0.0)
    nothing = expected_agreement(q, 0, 0)
    found = best_span(q, allowed)
    if found is None:
        assert best <= nothing + ATOL
    else:
        assert found[2] == pytest.approx(best, abs=ATOL)
        assert found[2] == pytest.approx(expected_agreement(q, found[0], found[1]), abs=ATOL)
        assert best > nothing - ATOL


def test_bio_labels_are_read_and_written() -> None:
    labels = ["B-PER", "I-PER", "O", "I-LOC", "B-LOC", "_", "I-LOC"]
    spans = read_spans(labels)
    assert spans == [Span(0, 2, "PER"), Span(3, 4, "LOC"), Span(4, 5, "LOC"), Span(6, 7, "LOC")]
    assert write_spans(spans[:2], 4) == ["B-PER", "I-PER", "O", "B-LOC"]
    for bad in ("PER", "B-", "X-PER"):
        with pytest.raises(ModelError, match="expected O, B-NAME or I-NAME"):
            read_spans(["O", bad])


def test_spans_move_with_their_words() -> None:
    p = np.zeros((4, 4), dtype=np.float32)
    for i, j in ((0, 2), (1, 3), (2, 1), (3, 0)):
        p[i, j] = 0.9
    found, placed = project_spans(["B-PER", "I-PER", "O", "B-LOC"], ["w", "x", "y", "z"], p, 0.5)
    assert found.labels == ("B-LOC", "O", "B-PER", "I-PER")
    assert [(s.begin, s.end, s.label) for s in placed] == [(0, 1, "LOC"), (2, 4, "PER")]
    assert found.probabilities[0] == pytest.approx(0.9)
    strict, _ = project_spans(["B-PER", "I-PER", "O", "B-LOC"], ["w", "x", "y", "z"], p, 0.95)
    assert strict.labels == (None, "O", None, None)


def test_no_word_belongs_to_two_spans() -> None:
    p = np.array([[0.9, 0.2], [0.8, 0.3]], dtype=np.float32)
    found, _ = project_spans(["B-A", "B-B"], ["x", "y"], p, 0.0)
    assert found.labels == ("B-A", "B-B")


# Markers


@pytest.mark.parametrize(
    ("line", "text", "markers"),
    [
        (r"\v 12 And \nd Lord\nd* God", "And Lord God", [r"\v 12 ", r"\nd "]),
        (r"said\f + \ft a note \fq x\f*, he", "said, he", [r"\f + \ft a note \fq x\f*"]),
        (r'\w gnat|lemma="gnat"\w* x', "gnat x", [r"\w "]),
        (r"\add a \+nd b\+nd*\add* c", "a b c", [r"\add ", r"\+nd "]),
        (r"\p \q1 x \qt-s |sid=1\*y", "x y", [r"\p ", r"\q1 ", r"\qt-s |sid=1\*"]),
        ("a <b class='x>y'>c</b><br> d<!-- e -->", "a c d", ["<b class='x>y'>", "<br>", "<!-- e -->"]),
        ("1 < 2 & a<3", "1 < 2 & a<3", []),
    ],
)
def test_markers_are_told_from_text(line: str, text: str, markers: list[str]) -> None:
    found = strip(line)
    assert found.text == text
    assert [one.opening for one in found.elements] == markers


def test_elements_know_what_is_around_them() -> None:
    found = strip("<a>x <b>y</b></a> <i/>")
    assert [(e.begin, e.end, e.parent, e.is_point) for e in found.elements] == [
        (0, 3, -1, False),
        (2, 3, 0, False),
        (4, 4, -1, True),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a <b>c", "found <b>, which is not closed at the end of its line"),
        ("a</b> c", "found </b>, which closes nothing"),
        ("<a><b>x</a></b>", "found <b>, which is not closed before </a>"),
        (r"x\nd* y", r"found \\nd\*, which closes nothing"),
    ],
)
def test_tags_that_are_not_nested_are_refused(line: str, fault: str) -> None:
    with pytest.raises(FormatError, match=f"^t:3: {fault}"):
        strip(line, "t", 3)


def place(source: str, target: str, links: dict[tuple[int, int], float], threshold: float = 0.0) -> str:
    marked = strip(source)
    p = np.zeros((len(find_words(marked.text, False)), len(find_words(target, False))), dtype=np.float32)
    for (i, j), value in links.items():
        p[i, j] = value
    return place_markers(marked, target, p, threshold=threshold).text


def test_markers_go_with_their_words() -> None:
    source = r"\v 12 And the \nd Lord\nd* said\f + \ft note\f*, \add he is\add* here."
    links = {(0, 0): 0.9, (1, 2): 0.9, (2, 3): 0.9, (3, 1): 0.9, (5, 4): 0.9, (6, 5): 0.9}
    expected = r"\v 12 Y dijo\f + \ft note\f* el \nd Señor\nd*, \add está\add* aquí."
    assert place(source, "Y dijo el Señor, está aquí.", links) == expected


def test_nesting_is_kept_when_words_change_their_order() -> None:
    links = {(0, 0): 0.9, (1, 3): 0.9, (2, 2): 0.9, (3, 1): 0.9, (4, 4): 0.9}
    found = place("The <b>big <i>red</i></b> dog runs", "el perro rojo grande corre", links)
    assert found == "el perro <b><i>rojo</i> grande</b> corre"


def test_what_is_unlikely_is_left_out_but_not_what_is_inside() -> None:
    source, target = "<b>a <i>c</i></b> d", "x y z"
    links = {(0, 0): 0.7, (1, 2): 0.9, (2, 1): 0.9}
    assert place(source, target, links, threshold=0.85) == "x y <i>z</i>"
    report = place_markers(strip(source), target, np.zeros((3, 3), dtype=np.float32), threshold=0.5)
    assert report.text == target
    assert [one.begin for one in report.markers] == [None, None]


def test_punctuation_stays_outside_unless_it_was_inside() -> None:
    assert place("<b>Stop</b>!", "Halt!", {(0, 0): 1.0}) == "<b>Halt</b>!"
    assert place("<b>Stop!</b>", "Halt!", {(0, 0): 1.0}) == "<b>Halt!</b>"


def test_a_point_goes_where_fewest_links_cross() -> None:
    rng = np.random.default_rng(1)
    p = rng.random((4, 5)).astype(np.float32)
    weights = _gap_weights(p)
    for g in range(5):
        for h in range(6):
            kept = sum(p[i, j] for i in range(4) for j in range(5) if (i < g) == (j < h))
            assert weights[g, h] == pytest.approx(kept, abs=1e-5)  # float32 sums


_MARKERS = ("<b>", "</b>", "<i>", "</i>", "<br/>", "\\nd ", "\\nd*", "\\add ", "\\add*", "\\p ", "\\v 3 ")
_PIECES = st.sampled_from([*_MARKERS, "\\f + \\ft n\\f*", "a", "bc", ",", " ", " ", "Ä.", "1", "<", "&amp;"])


@st.composite
def marked_lines(draw: st.DrawFn) -> MarkedText:
    line = "".join(draw(st.lists(_PIECES, max_size=14)))
    try:
        return strip(line)
    except FormatError:
        assume(False)
        raise


@given(
    marked_lines(),
    st.lists(st.sampled_from(["x", "Yz,", " ", "  ", "«q»", ".", "<", "\t"]), max_size=8),
    st.data(),
)
@settings(max_examples=300, deadline=None)
def test_text_never_changes_and_markers_stay_nested(
    marked: MarkedText, pieces: list[str], data: st.DataObject
) -> None:
    target = "".join(pieces)
    separate = data.draw(st.booleans())
    shape = len(find_words(marked.text, separate)), len(find_words(target, separate))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    p = (rng.random(shape) * rng.integers(0, 2, size=shape)).astype(np.float32)
    found = place_markers(
        marked, target, p, threshold=data.draw(st.sampled_from([0.0, 0.5])), separate=separate
    )
    again = strip(found.text)  # refuses what is not nested
    assert again.text == target
    kept = sorted(
        e.opening.strip() for e, m in zip(marked.elements, found.markers, strict=True) if m.begin is not None
    )
    assert sorted(e.opening.strip() for e in again.elements) == kept


def test_text_that_would_swallow_a_marker_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^<target>: markers cannot be put here without changing the text"):
        place(r"\nd a\nd*", "x|y", {(0, 0): 1.0})
