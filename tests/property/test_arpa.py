"""ARPA text: what is saved is loaded again to the last bit, and damage is told, never swallowed or fatal."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import FormatError, NgramModel
from tests.models import load, save, train, without_warnings
from tests.oracle import ArpaRows, Backoff, Ngram, Sentence, arpa_text, parse_arpa
from tests.strategies import corpora, damaged_arpa, examples, log10_probs, tables

SUFFIXES = ("", ".gz", ".bz2", ".xz")
# Any number a file can hold, those about -99 included: that one number alone stands for zero.
about_zero = st.sampled_from([math.nextafter(-99, -100), math.nextafter(-99, 0), -99.000001, -98.99999])
any_log10 = (
    st.floats(-16, 0, width=32) | st.floats(-1e-30, 0) | log10_probs | about_zero | st.floats(-1e37, 0)
)


def everything(model: NgramModel, contexts: list[Ngram]) -> list[float]:
    words = list(model.vocabulary)
    return [f(w, c) for f in (model.log_prob, model.max_log_prob) for c in contexts for w in words]


def assert_same(found: NgramModel, expected: NgramModel, contexts: list[Ngram]) -> None:
    """The same words with the same ids, and the same floats."""
    assert list(found.vocabulary) == list(expected.vocabulary)
    assert (found.order, found.ngram_counts) == (expected.order, expected.ngram_counts)
    assert found.knows_unknown == expected.knows_unknown
    assert everything(found, contexts) == everything(expected, contexts)


@examples(2)
@given(tables(probs=any_log10), st.sampled_from(SUFFIXES))
def test_a_saved_model_loads_as_it_was(rows: ArpaRows, suffix: str) -> None:
    model = load(arpa_text(rows))
    text = save(model, f"m.arpa{suffix}")
    again = load(text, f"m.arpa{suffix}")
    assert_same(again, model, list(Backoff.from_rows(rows).contexts())[:200])
    assert save(again, f"m.arpa{suffix}") == text


@given(tables(probs=any_log10), st.sampled_from(SUFFIXES))
def test_a_saved_max_arpa_loads_as_it_was(rows: ArpaRows, suffix: str) -> None:
    model = load(arpa_text(rows))
    text = save(model, f"m.arpa{suffix}", max_columns=True)
    again = load(text, f"m.arpa{suffix}")
    assert_same(again, model, list(Backoff.from_rows(rows).contexts())[:200])
    assert save(again, f"m.arpa{suffix}", max_columns=True) == text


@given(tables())
def test_a_saved_model_lists_what_was_listed(rows: ArpaRows) -> None:
    saved = parse_arpa(save(load(arpa_text(rows))).decode())
    order = max(map(len, rows))
    assert saved.keys() == rows.keys() | {("<s>",), ("</s>",)}
    for g, (log10_prob, log10_backoff) in rows.items():
        expected = [log10_prob] if len(g) == order else [log10_prob, log10_backoff or 0.0]
        if g[-1] == "<s>" and len(g) > 1:
            expected[0] = -99  # nothing predicts <s>
        # Rounded twice: to a float of 24 bits when read, to a decimal that gives this float when written.
        assert saved[g] == pytest.approx(expected, rel=2**-23, abs=0)


@given(corpora(), st.integers(1, 6), st.sampled_from(SUFFIXES), st.booleans())
def test_a_trained_model_loads_as_it_was(
    texts: list[Sentence], order: int, suffix: str, max_columns: bool
) -> None:
    model = train(texts, order)
    again = load(save(model, f"m.arpa{suffix}", max_columns), f"m.arpa{suffix}")
    contexts = [tuple(["<s>", *text][i : i + order]) for text in texts for i in range(len(text) + 1)]
    assert_same(again, model, [(), *contexts][:50])


@examples(3)
@given(damaged_arpa())
def test_a_damaged_file_loads_or_is_refused_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, text: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.arpa"
    path.write_bytes(text)
    result = model_or_error(path)
    if isinstance(result, NgramModel):
        assert_answers(result, path.with_suffix(".again"))
    else:
        assert result.file == str(path)
        assert result.line is not None
        assert 1 <= result.line <= text.count(b"\n") + 1
        assert "\n" not in str(result)


def model_or_error(path: Path) -> NgramModel | FormatError:
    try:
        with without_warnings():
            return NgramModel.load(path)
    except FormatError as error:
        return error


def assert_answers(model: NgramModel, path: Path) -> None:
    """The model is in order: numbers where numbers are due, bounds above values, and it can be saved."""
    words = list(model.vocabulary)[:6]
    for context in [[], [words[-1]], ["<s>"], words]:
        for word in words:
            value, bound = model.log_prob(word, context), model.max_log_prob(word, context)
            assert not math.isnan(value)
            assert bound >= value
    assert not math.isnan(model.score([words[3:], []]).summary().log_prob)
    model.save(path, max_columns=True)
