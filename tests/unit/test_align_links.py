"""Links as text, scores by hand, symmetrization against a plain reference."""

import gzip
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from hiddenite import FormatError, ModelError, OptionError
from hiddenite.align.bitext import Bitext, bitext_blocks
from hiddenite.align.evaluation import score
from hiddenite.align.links import (
    GoldLinks,
    Link,
    check_gold,
    format_links,
    parse_gold,
    parse_links,
    read_gold,
    read_links,
)
from hiddenite.align.symmetrize import METHODS, symmetrize

# Links


def test_pharaoh_links_are_read_and_written() -> None:
    links = parse_links(" 0-0 2-1\t0-0 \n")
    assert links == ((0, 0), (2, 1))
    assert format_links(links) == "0-0 2-1"
    assert parse_links("") == ()


@pytest.mark.parametrize(
    "text", ["0-", "a-b", "1p2", "0--1", "-1-0", "0-0,1-1", "1 2", "9999999999-0", "10000-0"]
)
def test_what_is_no_link_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(FormatError, match=r"^x\.txt:7: found '.*', expected links such as 0-0 1-2"):
        parse_links(text, "x.txt", 7)


def test_gold_has_sure_and_possible_links() -> None:
    gold = parse_gold("0-0 1p2 3?1")
    assert gold.sure == {(0, 0)}
    assert gold.possible == {(0, 0), (1, 2), (3, 1)}


def test_naacl_lines_are_gold_too(tmp_path: Path) -> None:
    path = tmp_path / "gold.wa"
    path.write_text("0001 1 1 S\n0001 2 3 P\n0003 2 1\n0003 0 2 S\n0003 4 4 S 0.9\n", encoding="utf-8")
    gold = read_gold(path)
    assert [(one.sure, one.possible) for one in gold] == [
        ({(0, 0)}, {(0, 0), (1, 2)}),
        (frozenset(), frozenset()),
        ({(1, 0), (3, 3)}, {(1, 0), (3, 3)}),
    ]
    path.write_text("1 1 1\n1 x 1\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"gold\.wa:2: found '1 x 1'"):
        read_gold(path)


def test_files_may_be_compressed_and_have_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "links.gz"
    path.write_bytes(gzip.compress(b"0-0\n\n1-1 2-2\n"))
    assert list(read_links(path)) == [((0, 0),), (), ((1, 1), (2, 2))]


def test_gold_outside_its_sentences_is_refused_with_its_line() -> None:
    gold = [parse_gold("0-0", "g", 1), parse_gold("0-0 2p1", "g", 2)]
    check_gold(gold, [(1, 1), (3, 2)], "g")
    with pytest.raises(FormatError, match=r"^g:2: link 2-1 is outside its sentence pair of 2 and 2 words"):
        check_gold(gold, [(1, 1), (2, 2)], "g")


# Scores


def test_scores_by_hand() -> None:
    gold = [parse_gold("0-0 1-1 1p2"), parse_gold("0-0")]
    result = score(gold, [[(0, 0), (1, 2), (2, 2)], []], alpha=0.25)
    # A = 3, S = 3, P = 4, A n S = 1, A n P = 2.
    assert result.precision == pytest.approx(2 / 3)
    assert result.recall == pytest.approx(1 / 3)
    assert result.aer == pytest.approx(1 - 3 / 6)
    assert result.f == pytest.approx(1 / (0.25 / (2 / 3) + 0.75 / (1 / 3)))
    assert list(result.to_dict())[:4] == ["precision", "recall", "aer", "f"]


def test_scores_of_nothing() -> None:
    empty = score([GoldLinks(frozenset(), frozenset())], [[]])
    assert math.isnan(empty.aer)
    assert empty.to_dict()["aer"] is None
    assert score([parse_gold("0-0")], [[(1, 1)]]).f == 0.0
    with pytest.raises(ModelError, match="1 gold alignments and 0 to score"):
        score([parse_gold("0-0")], [])


# Symmetrization


SIZE = 6
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))  # in this order (Koehn)


def reference(forward: set[Link], reverse: set[Link], method: str) -> set[Link]:
    """The definitions on sets, cell by cell, until nothing changes."""
    union, links = forward | reverse, forward & reverse
    if method == "intersection":
        return links
    if method == "union":
        return union
    grown = True
    while grown:
        grown = False
        for i, j in itertools.product(range(SIZE), repeat=2):
            for di, dj in NEIGHBOURS if (i, j) in links else ():
                new = (i + di, j + dj)
                if new in union and new not in links and _free(new, links, either=True):
                    links.add(new)
                    grown = True
    if method != "grow-diag":
        for direction in (forward, reverse):
            for link in sorted(direction):
                if _free(link, links, either=method == "grow-diag-final"):
                    links.add(link)
    return links


def _free(link: Link, links: set[Link], either: bool) -> bool:
    rows, columns = {i for i, _ in links}, {j for _, j in links}
    free = (link[0] not in rows, link[1] not in columns)
    return any(free) if either else all(free)


@pytest.mark.parametrize("method", METHODS)
def test_symmetrization_is_the_reference(method: str, rng: np.random.Generator) -> None:
    for _ in range(300):
        forward, reverse = (
            {(int(i), int(j)) for i, j in rng.integers(0, rng.integers(1, SIZE + 1), (rng.integers(0, 9), 2))}
            for _ in range(2)
        )
        found = symmetrize(sorted(forward, reverse=True), sorted(reverse), method)
        assert list(found) == sorted(reference(forward, reverse, method))


def test_an_unknown_symmetrization_is_told() -> None:
    with pytest.raises(OptionError, match="did you mean grow-diag"):
        symmetrize([], [], "grow-dia")


# Parallel text


def test_lines_of_two_files_stay_together(tmp_path: Path) -> None:
    (tmp_path / "e").write_bytes(b"\xef\xbb\xbfa b\n\nc")
    (tmp_path / "f").write_bytes(gzip.compress(b"x\ny\nz\n"))
    blocks = list(bitext_blocks(tmp_path / "e", tmp_path / "f", 2))
    assert [(b.source, b.target, b.first_line) for b in blocks] == [
        (b"a b\n\n", b"x\ny\n", 1),
        (b"c\n", b"z\n", 3),
    ]


def test_different_numbers_of_lines_are_both_told(tmp_path: Path) -> None:
    (tmp_path / "e").write_bytes(b"a\n" * 5)
    (tmp_path / "f").write_bytes(b"x\n" * 7)
    with pytest.raises(FormatError, match=r"f: found 7 lines, expected 5, as many as .*e has"):
        Bitext.read(tmp_path / "e", tmp_path / "f")


@pytest.mark.parametrize("text", [b"", b"a b\n", b"a\n\nb", b"\xef\xbb\xbfa\nb\n", b"a\r\nb\n"])
def test_a_text_is_all_of_its_blocks(tmp_path: Path, text: bytes) -> None:
    for name in ("e", "f"):
        (tmp_path / name).write_bytes(text)
    blocks = list(bitext_blocks(tmp_path / "e", tmp_path / "f", 1))
    whole = Bitext.read(tmp_path / "e", tmp_path / "f")
    assert whole.source == b"".join(block.source for block in blocks)
    assert whole.target == b"".join(block.target for block in blocks)


def test_one_file_of_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "both"
    path.write_bytes(b"a b ||| x\n ||| y\nc |||\n")
    text = Bitext.read(path)
    assert [len(side.split(b"\n")) for side in (text.source, text.target)] == [4, 4]
    path.write_bytes(b"a ||| b\na b\n")
    with pytest.raises(FormatError, match=r"both:2: found no '\|\|\|', expected 'source \|\|\| target'"):
        Bitext.read(path)


def test_sentences_that_are_no_pairs_are_refused() -> None:
    with pytest.raises(ModelError, match="expected pairs"):
        Bitext.of(["a b"])
    with pytest.raises(ModelError, match="2 source and 1 target"):
        Bitext.of(["a", "b"], ["c"])
