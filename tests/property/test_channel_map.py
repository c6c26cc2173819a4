"""The map channel: SRILM's disambig by enumeration, alternatives of several words as lattices, bad files."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import FormatError, ModelError, NgramModel, WordMap, decode, kbest, marginals, sample
from hiddenite.channel import channel_from_name, encoder_from_name
from tests.enumeration import ATOL, log_sum
from tests.models import load, train, without_warnings
from tests.statistics import FALSE_ALARM, chi_square_p_value

TEXT = ["a b c", "b a", "c c a b", "a a b c", "b c a"] * 2
Alternatives = dict[str, float]  # a word, or several with _ between them: p(observed | word)
Map = dict[str, Alternatives]


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train(TEXT, 3)


def write(path: Path, rows: Map, numbers: str = "probabilities") -> Path:
    def number(p: float) -> str:
        if numbers == "probabilities":
            return repr(p)
        return repr(math.log10(p) if numbers == "log10" else math.log(p)) if p > 0 else "-inf"

    lines = (
        f"{observed} " + " ".join(f"{word} {number(p)}" for word, p in alternatives.items())
        for observed, alternatives in rows.items()
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def paths(model: NgramModel, rows: Map, text: list[str]) -> list[tuple[float, tuple[str, ...]]]:
    """Every way of taking one alternative for each observed word, best first."""
    choices = [list(rows.get(word, {word: 1.0}).items()) for word in text]
    found = []
    for chosen in itertools.product(*choices):
        if any(p == 0 for _, p in chosen):
            continue
        words = tuple(word for alternative, _ in chosen for word in alternative.split("_"))
        weight = model.score(" ".join(words)) + math.fsum(math.log(p) for _, p in chosen)
        if weight > -math.inf:
            found.append((weight, words))
    return sorted(found, key=lambda path: -path[0])


probabilities = st.sampled_from([0.0, 1e-3, 0.1, 0.25, 0.5, 1.0])
single = st.sampled_from(["a", "b", "c", "new"])
several = st.sampled_from(["a", "b", "c", "a_b", "c_c", "b_a_c", "new_a"])


def maps(words: st.SearchStrategy[str]) -> st.SearchStrategy[Map]:
    alternatives = st.dictionaries(words, probabilities, min_size=1, max_size=4)
    return st.dictionaries(st.sampled_from(["x", "y", "z"]), alternatives, min_size=1)


texts = st.lists(st.sampled_from(["x", "y", "z", "a", "unseen"]), max_size=4)


@given(rows=maps(single), text=texts, numbers=st.sampled_from(["probabilities", "log10", "ln"]))
def test_maps_of_words(
    model: NgramModel, tmp_path_factory: pytest.TempPathFactory, rows: Map, text: list[str], numbers: str
) -> None:
    file = write(tmp_path_factory.mktemp("map") / "map", rows, numbers)
    candidates = WordMap(model.vocabulary, file, numbers=numbers)(" ".join(text))
    assert not candidates.spans
    expected = paths(model, rows, text)
    if not expected:
        return
    for method in ("auto", "full", "dominance", "refine", "paper"):
        best = decode(model, candidates, method=method)
        assert best.certificate.exact
        assert best.log_weight == pytest.approx(expected[0][0], abs=ATOL)
    total = marginals(model, candidates).log_partition
    assert total == pytest.approx(log_sum([weight for weight, _ in expected]), abs=ATOL)


@given(rows=maps(several), text=texts)
def test_maps_of_several_words(
    model: NgramModel, tmp_path_factory: pytest.TempPathFactory, rows: Map, text: list[str]
) -> None:
    file = write(tmp_path_factory.mktemp("map") / "map", rows)
    candidates = WordMap(model.vocabulary, file, joiner="_")(" ".join(text))
    expected = paths(model, rows, text)
    if not expected:
        return
    for method in ("auto", "full", "dominance"):
        best = decode(model, candidates, method=method)
        assert best.certificate.exact
        assert best.log_weight == pytest.approx(expected[0][0], abs=ATOL)
        assert best.words in {words for weight, words in expected if weight > expected[0][0] - ATOL}
    top = kbest(model, candidates, 5)
    assert [h.log_weight for h in top] == pytest.approx([w for w, _ in expected[:5]], abs=ATOL)
    total = marginals(model, candidates).log_partition
    assert total == pytest.approx(log_sum([weight for weight, _ in expected]), abs=ATOL)


def test_draws_follow_the_law(model: NgramModel, tmp_path: Path, rng: np.random.Generator) -> None:
    rows: Map = {"x": {"a": 0.5, "b_c": 0.25, "c": 0.1}, "y": {"b": 1.0, "a_a": 0.3}}
    candidates = WordMap(model.vocabulary, write(tmp_path / "map", rows), joiner="_")("x y x")
    drawn = sample(model, candidates, 4000, seed=int(rng.integers(2**31)))
    expected = paths(model, rows, ["x", "y", "x"])
    z = log_sum([weight for weight, _ in expected])
    law: dict[tuple[str, ...], float] = {}
    for weight, words in expected:  # different ways may give the same words
        law[words] = law.get(words, 0.0) + math.exp(weight - z)
    draws = [drawn.samples[i].words for i in drawn.draws]
    assert chi_square_p_value(draws, law) > FALSE_ALARM
    uniform = dict.fromkeys(law, 1 / len(law))
    assert chi_square_p_value(draws, uniform) < FALSE_ALARM  # the test sees another law


def test_what_srilm_files_have(model: NgramModel, tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text("## a comment\n<s> <s>\n</s> </s>\n\nx\ta\tb 0.5  c\ninf nan\n")
    channel = WordMap(model.vocabulary, file)
    assert channel("x").slot(0) == [("a", 0.0), ("b", math.log(0.5)), ("c", 0.0)]
    assert channel("inf").slot(0) == [("nan", 0.0)]
    assert channel("seldom").slot(0) == [("seldom", 0.0)]  # stands for itself
    assert channel("").begin.tolist() == [0]


def test_a_line_of_unknown_words(model: NgramModel, tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text("<unk> <unk> 0.5 a 0.25\n")
    channel = WordMap(model.vocabulary, file)
    assert channel("seldom").slot(0) == [("seldom", math.log(0.5)), ("a", math.log(0.25))]
    assert channel("b").slot(0) == [("b", math.log(0.5)), ("a", math.log(0.25))]
    with pytest.raises(ModelError, match="twice; leave it out of the line of <unk>"):
        channel("a")


def test_the_best_alternatives_stay(model: NgramModel, tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text("x a 0.1 b_c 0.7 c 0.2\n")
    assert WordMap(model.vocabulary, file, keep=1, joiner="_")("x").spans == [(0, 1), (1, 2)]
    assert WordMap(model.vocabulary, file, keep=2)("x").slot(0) == [
        ("b_c", math.log(0.7)),
        ("c", math.log(0.2)),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "map: holds no entry, expected lines of an observed word"),
        ("<s> <s>\n", "map: holds no entry"),
        ("a b\nx\n", "map:2: found 'x' alone, expected the words that it may stand for"),
        ("x a 0.5 b 0.2 a 0.1\n", "map:1: found 'a' twice; each word may appear once"),
        ("x a\n\nx b\n", "map:3: found 'x' of line 1 again; join the two lines"),
        ("x a 1e999\n", "map:1: found '1e999' after a word, expected its probability"),
        ("x a -2\n", "map:1: found '-2' after a word, expected its probability, at least 0"),
        ("x a b </s>\n", "map:1: found </s>, which cannot be an alternative"),
        ("x a__b\n", "map:1: found an empty word beside '_'"),
        ("x \xff\n", "map:1: column 3: found a byte that is not UTF-8"),
    ],
)
def test_bad_files(model: NgramModel, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "map"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError) as error:
        WordMap(model.vocabulary, file, joiner="_")
    assert message in str(error.value)


def test_bad_arguments(model: NgramModel, tmp_path: Path) -> None:
    file = write(tmp_path / "map", {"x": {"a": 0.5}})
    with pytest.raises(ModelError, match="expected characters without white space"):
        WordMap(model.vocabulary, file, joiner=" ")
    with pytest.raises(ModelError, match="expected the table's file too: map:FILE"):
        channel_from_name("map", model.vocabulary)


def test_a_word_that_nothing_knows_is_named(tmp_path: Path) -> None:
    with without_warnings():
        bare = load("\\data\\\nngram 1=3\n\n\\1-grams:\n-99 <s>\n-0.3 </s>\n-0.3 a\n\n\\end\\\n")
    candidates = WordMap(bare.vocabulary, write(tmp_path / "map", {"x": {"a": 0.5}}))("x strange")
    with pytest.raises(Exception, match="does not list 'strange' and has no <unk>: give p"):
        decode(bare, candidates)


def test_texts_are_encoded(tmp_path: Path, rng: np.random.Generator) -> None:
    file = tmp_path / "map"
    file.write_text("x a 0.2 b 0.5\ny a 0.6 c_c 1\na a 0.2\n<unk> a 1\n")
    encoder = encoder_from_name(f"map:{file}", joiner="_")
    assert encoder.encode("a b c d") == "y x c d"
    seen = encoder.encode("a " * 4000, seed=int(rng.integers(2**31))).split()
    assert chi_square_p_value(seen, {"x": 0.2, "y": 0.6, "a": 0.2}) > FALSE_ALARM
    assert chi_square_p_value(seen, {"x": 0.25, "y": 0.5, "a": 0.25}) < FALSE_ALARM
