"""One sentence a call and one word a call: the numbers of whole texts, under any table."""

import copy
import math
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import hiddenite.kenlm
from hiddenite import NgramModel, State
from tests.models import load, train, without_warnings
from tests.oracle import UNK, ArpaRows, arpa_text
from tests.strategies import WORDS, tables

words = st.lists(st.sampled_from([*WORDS, UNK, "never-seen"]), max_size=40)
ROUNDING = 1e-12  # a product and a quotient of the same number


def by_states(model: NgramModel, state: State, sentence: list[str]) -> list[float]:
    """The terms of a sentence, word by word, in both forms."""
    terms = []
    for word in sentence:
        out = State()
        log_prob, after = model.base_score(state, word)
        assert model.base_score(state, word, out) == log_prob
        assert out == after
        assert hash(out) == hash(after) == hash(copy.copy(after))
        terms.append(log_prob)
        state = after
    return terms


def check(model: NgramModel, sentence: list[str]) -> None:
    """All doors lead to the same numbers."""
    text = " ".join(sentence)
    assert model.score(text) == model.score([text])[0].log_prob
    terms = model.token_log_probs(text.encode() + b"\n").tolist()
    full = list(model.full_scores(text))
    assert [log_prob for log_prob, _, _ in full] == terms
    assert [oov for _, _, oov in full] == [w not in model or w == UNK for w in sentence] + [False]
    assert by_states(model, model.begin_state(), [*sentence, "</s>"]) == terms
    assert all(1 <= length <= model.order for _, length, _ in full)
    bare = by_states(model, model.null_state(), sentence)
    assert model.score(text, bos=False, eos=False) == sum(bare)
    assert [log_prob for log_prob, _, _ in model.full_scores(text, bos=False, eos=False)] == bare
    assert model.score(text.encode(), eos=False) == sum(terms[:-1])


@given(tables(), words)
def test_all_doors_lead_to_the_same_numbers(rows: ArpaRows, sentence: list[str]) -> None:
    check(load(arpa_text(rows)), sentence)


@given(st.integers(1, 9), st.lists(words.filter(bool), min_size=1, max_size=6), words)
def test_trained_models_of_any_order(order: int, text: list[list[str]], sentence: list[str]) -> None:
    clean = [[w for w in s if w != UNK] or ["a"] for s in text]
    check(train(clean, order), sentence)


@given(st.integers(2, 3), st.lists(st.integers(0, 200), min_size=300, max_size=300), st.data())
def test_words_with_many_children(order: int, followers: list[int], data: st.DataObject) -> None:
    model = train([f"the w{n}" for n in followers], order)
    drawn = data.draw(st.lists(st.sampled_from(["the", *(f"w{n}" for n in range(0, 210, 7))]), max_size=40))
    check(model, drawn)


@given(tables(), words)
def test_the_length_is_that_of_the_longest_listed_ngram(rows: ArpaRows, sentence: list[str]) -> None:
    model = load(arpa_text(rows))
    known = [w if w in model else UNK for w in sentence]
    for i, (_, length, _) in enumerate(model.full_scores(" ".join(sentence), bos=False, eos=False)):
        listed = [n for n in range(1, i + 2) if tuple(known[i + 1 - n : i + 1]) in rows]
        assert length >= max(listed, default=1)


@given(tables(), words)
def test_log10_and_the_names_of_kenlm(rows: ArpaRows, sentence: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, without_warnings():
        path = Path(folder, "model.arpa")
        path.write_text(arpa_text(rows))
        theirs, ours = hiddenite.kenlm.Model(path), NgramModel.load(path)
    text = " ".join(sentence)
    assert theirs.score(text) == ours.score(text, log10=True)
    log10, natural = ours.score(text, log10=True), ours.score(text)
    assert log10 == natural or math.isclose(log10 * math.log(10), natural, rel_tol=ROUNDING)
    state, out = hiddenite.kenlm.State(), hiddenite.kenlm.State()
    theirs.BeginSentenceWrite(state)
    total = 0.0
    for word in [*sentence, "</s>"]:
        total += theirs.BaseScore(state, word, out)
        state, out = out, state
    assert total == theirs.score(text) or math.isclose(total, theirs.score(text), rel_tol=1e-9)
    theirs.NullContextWrite(state)
    assert state == ours.null_state()
