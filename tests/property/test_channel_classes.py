"""Class-based models: SRILM's class files, the text's probability and best classes by enumeration."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Classes, FormatError, ModelError, NgramModel, decode, kbest, marginals
from hiddenite.channel import channel_from_name, encoder_from_name
from tests.enumeration import ATOL, log_sum
from tests.models import train

TEXT = ["fly to CITY", "CITY is big", "see CITY on DAY", "fly on DAY", "big CITY", "see york"] * 2
Expansions = list[tuple[str, float, tuple[str, ...]]]


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train(TEXT, 3)


def write(path: Path, rows: Expansions) -> Path:
    path.write_text("".join(f"{name} {p!r} {' '.join(words)}\n" for name, p, words in rows))
    return path


Reading = tuple[tuple[str, ...], float]  # words and classes, and the weight of the classes


def paths(model: NgramModel, rows: Expansions, text: tuple[str, ...]) -> list[Reading]:
    """Every sequence of words and classes that the text can be."""
    edges = [
        (i, i + len(words), name, p)
        for i in range(len(text))
        for name, p, words in rows
        if text[i : i + len(words)] == words and p > 0 and name in model.vocabulary
    ]
    covered = {i for start, end, _, _ in edges for i in range(start, end)}
    known = {i for i, word in enumerate(text) if word in model.vocabulary}
    edges += [(i, i + 1, text[i], 1.0) for i in range(len(text)) if i in known or i not in covered]
    found = list(_ways(edges, 0, len(text)))
    if found:
        return found
    edges += [(i, i + 1, text[i], 1.0) for i in covered - known]
    return list(_ways(edges, 0, len(text)))


def _ways(edges: list[tuple[int, int, str, float]], at: int, last: int) -> Iterator[Reading]:
    if at == last:
        yield (), 0.0
        return
    for start, end, name, p in edges:
        if start == at:
            for rest, weight in _ways(edges, end, last):
                yield (name, *rest), math.log(p) + weight


strings = st.lists(st.sampled_from(["new", "york", "monday", "paris", "big"]), min_size=1, max_size=3).map(
    tuple
)
expansions = st.lists(
    st.tuples(
        st.sampled_from(["CITY", "DAY", "ABSENT"]), st.sampled_from([1.0, 0.5, 0.25, 0.01, 0.0]), strings
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: (row[0], row[2]),
)
texts = st.lists(st.sampled_from(["fly", "to", "new", "york", "monday", "paris", "big", "odd"]), max_size=6)


@given(rows=expansions, text=texts.map(tuple))
def test_the_text_and_its_classes(
    model: NgramModel, tmp_path_factory: pytest.TempPathFactory, rows: Expansions, text: tuple[str, ...]
) -> None:
    file = write(tmp_path_factory.mktemp("classes") / "classes", [*rows, ("DAY", 0.125, ("sunday",))])
    candidates = Classes(model.vocabulary, file)(" ".join(text))
    expected = sorted(
        ((model.score(" ".join(words)) + weight, words) for words, weight in paths(model, rows, text)),
        reverse=True,
    )
    for method in ("auto", "full", "dominance"):
        best = decode(model, candidates, method=method)
        assert best.certificate.exact
        assert best.log_weight == pytest.approx(expected[0][0], abs=ATOL)
    top = kbest(model, candidates, 4)
    assert [h.log_weight for h in top] == pytest.approx([w for w, _ in expected[:4]], abs=ATOL)
    assert marginals(model, candidates).log_partition == pytest.approx(
        log_sum([weight for weight, _ in expected]), abs=ATOL
    )


def test_probabilities_of_texts_sum_to_one(tmp_path: Path) -> None:
    """A model of two words a text at most, over all texts: classes share out what their names have."""
    model = train(["A", "b", "A b", "b A"], 2)
    file = write(tmp_path / "classes", [("A", 0.25, ("x",)), ("A", 0.75, ("y", "z"))])
    channel = Classes(model.vocabulary, file)
    found = sum(math.exp(marginals(model, channel(text)).log_partition) for text in ("x b", "y z b"))
    assert found == pytest.approx(math.exp(model.score("A b")), rel=1e-6)


def test_single_words_stay_positions_in_a_row(model: NgramModel, tmp_path: Path) -> None:
    file = tmp_path / "classes"
    file.write_text("## classes\nCITY paris\n\nCITY 0.5 york\nDAY 0.5 next monday\n")
    channel = Classes(model.vocabulary, file)
    candidates = channel("paris york odd")
    assert not candidates.spans
    assert candidates.slot(0) == [("CITY", 0.0)]
    assert sorted(candidates.slot(1)) == [("CITY", math.log(0.5)), ("york", 0.0)]
    assert candidates.slot(2) == [("odd", 0.0)]
    assert channel("next monday").spans == [(0, 2)]
    assert channel("see york next monday").spans == [(0, 1), (1, 2), (2, 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "classes: holds no class, expected lines of: class [probability] word word"),
        ("CITY 0.5\n", "classes:1: found the class 'CITY' without words"),
        ("CITY a\nCITY\n", "classes:2: found the class 'CITY' without words"),
        ("CITY 1.5 a\n", "classes:1: found '1.5', expected a probability from 0 to 1"),
        ("CITY a b\nDAY a\nCITY 0.5 a b\n", "classes:3: found this expansion of 'CITY' again"),
        ("CITY CITY\n", "classes:1: found the class 'CITY' that stands for itself"),
        ("CITY a </s>\n", "classes:1: found </s> in an expansion"),
        ("CITY \xff\n", "classes:1: column 6: found a byte that is not UTF-8"),
    ],
)
def test_bad_files(model: NgramModel, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "classes"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError) as error:
        Classes(model.vocabulary, file)
    assert message in str(error.value)


def test_a_model_without_the_classes(model: NgramModel, tmp_path: Path) -> None:
    file = write(tmp_path / "classes", [("ABSENT", 1.0, ("a",))])
    with pytest.raises(ModelError, match="the model lists none of the classes"):
        channel_from_name(f"classes:{file}", model.vocabulary)
    with pytest.raises(ModelError, match="the channel classes cannot encode text"):
        encoder_from_name(f"classes:{file}")
