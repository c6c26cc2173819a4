"""The rest of a model's surface: questions, scores, vocabulary, records and errors."""

import json
import math
import pickle  # noqa: TID251  (for errors, not for models)
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiddenite
from hiddenite import (
    BudgetExceeded,
    EmptySupportError,
    FormatError,
    HiddeniteError,
    ModelError,
    NgramModel,
    UnknownSymbolError,
)
from hiddenite.scores import ScoreSummary, SentenceScore
from tests.models import load, save, train

SENTENCES = ["a b c", "a b", "ccc b ä", ""]


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train(SENTENCES, 3)


# Questions


def test_a_string_is_no_context(model: NgramModel) -> None:
    with pytest.raises(ModelError, match="the context is a string, expected a sequence of words"):
        model.log_prob("a", "b c")
    with pytest.raises(ModelError, match="the context is a string"):
        model.max_log_prob("a", "b")


def test_unknown_words_are_unk_in_word_and_context(model: NgramModel) -> None:
    assert model.log_prob("new", ["a", "newer"]) == model.log_prob("<unk>", ["a", "<unk>"])
    assert model.max_log_prob("new", ["newer"]) == model.max_log_prob("<unk>", ["<unk>"])


def test_nothing_predicts_the_beginning_of_a_sentence(model: NgramModel) -> None:
    for context in ([], ["<s>"], ["a", "b"]):
        assert model.log_prob("<s>", context) == model.max_log_prob("<s>", context) == -math.inf


def test_a_model_describes_itself(model: NgramModel) -> None:
    assert model.order == 3
    assert model.ngram_counts == (len(model.vocabulary), 10, 7)  # counted by hand
    assert model.knows_unknown
    assert model.memory_bytes > 20 * sum(model.ngram_counts)


def test_a_model_without_unknown_words_says_so() -> None:
    model = load("\\data\\\nngram 1=3\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 a\n\\end\\\n")
    assert not model.knows_unknown
    assert model.score(["a new"])[0] == SentenceScore(-math.inf, 3, 1)
    assert b"<unk>" not in save(model)
    assert b"<unk>" not in save(model, max_columns=True)


# Vocabulary


def test_ids_go_by_length_in_characters(model: NgramModel) -> None:
    words = list(model.vocabulary)
    assert words == ["<unk>", "<s>", "</s>", "a", "b", "c", "ä", "ccc"]
    assert [model.vocabulary.id(w) for w in words] == list(range(len(words)))
    assert [model.vocabulary[i] for i in range(len(words))] == words
    assert model.vocabulary.id("new") == 0


def test_membership(model: NgramModel) -> None:
    assert "ccc" in model.vocabulary
    assert "cc" not in model.vocabulary
    assert 3 not in model.vocabulary


def test_an_id_beyond_the_vocabulary_is_an_error(model: NgramModel) -> None:
    with pytest.raises(IndexError):
        model.vocabulary[len(model.vocabulary)]


def test_many_words_find_their_ids() -> None:
    words = [f"{i:x}" for i in range(5000)]  # the hash table grows a few times
    model = train([words], 1)
    assert sorted(model.vocabulary) == sorted(["<unk>", "<s>", "</s>", *words])
    assert all(model.vocabulary[model.vocabulary.id(w)] == w for w in words)


# Scores


def test_strings_and_sequences_score_the_same(model: NgramModel) -> None:
    found = model.score([*SENTENCES, "a  new\tc ", "x\ny"])
    expected = model.score([*(s.split() for s in SENTENCES), ["a", "new", "c"], ["x", "y"]])
    assert list(found) == list(expected)
    assert len(found) == 6
    assert found[3] == SentenceScore(model.log_prob("</s>", ["<s>"]), 1, 0)
    assert [s.oov for s in found] == [0, 0, 0, 0, 1, 2]


def test_no_sentence_is_no_score(model: NgramModel) -> None:
    scores = model.score([])
    assert len(scores) == 0
    assert scores.log_prob.dtype == np.float64
    assert scores.summary() == ScoreSummary(0, 0, 0, 0.0, 0.0)
    assert math.isnan(scores.summary().perplexity)


def test_scores_can_be_sent_to_another_process(model: NgramModel) -> None:
    for sentences in (SENTENCES, []):
        scores = model.score(sentences)
        assert pickle.loads(pickle.dumps(scores)) == scores


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (b"a\nb <s>\n", 1002, "found the word <s>, expected none"),
        (b"</s>", 1001, "found the word </s>, expected none"),
        (b"a\n\nb \xff", 1003, "column 3: found a byte that is not UTF-8"),
        (b"a \0", 1001, "column 3: found a NUL byte"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2, 1000])
def test_text_that_cannot_be_scored(
    model: NgramModel, text: bytes, line: int, message: str, threads: int
) -> None:
    # The first of many errors is told, although other threads meet theirs long before.
    good = (b"a b " * 500 + b"\n") * 1000
    with pytest.raises(FormatError) as caught:
        model.score_text(good + text + b"\n<s>" * 5000, threads, name="text", first_line=1)
    assert (caught.value.file, caught.value.line) == ("text", line)
    assert message in caught.value.message
    with pytest.raises(FormatError, match=f"^text:{line + 7}: "):
        model.score_text(good + text, threads, name="text", first_line=8)


def test_a_byte_order_mark_is_no_word(model: NgramModel) -> None:
    with_mark = model.score_text("\ufeffa b\n\ufeffa b\n".encode())
    assert [s.oov for s in with_mark] == [0, 1]
    assert with_mark[0] == model.score(["a b"])[0]


def test_threads_share_a_model(model: NgramModel) -> None:
    expected = list(model.score(SENTENCES * 100, threads=1))
    found: list[list[SentenceScore]] = []
    threads = [
        threading.Thread(target=lambda: found.append(list(model.score(SENTENCES * 100, threads=2))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


# Records


def test_summaries_add_up(model: NgramModel) -> None:
    parts = [model.score([s, "new a"]).summary() for s in SENTENCES]
    whole = model.score([t for s in SENTENCES for t in (s, "new a")]).summary()
    total = sum(parts, ScoreSummary(0, 0, 0, 0.0, 0.0))
    assert (
        (total.sentences, total.tokens, total.oov) == (whole.sentences, whole.tokens, whole.oov) == (8, 24, 4)
    )
    assert total.log_prob == pytest.approx(whole.log_prob, rel=1e-14)  # the same eight terms
    assert total.log_prob_known == pytest.approx(whole.log_prob_known, rel=1e-14)


def test_perplexities_by_hand() -> None:
    summary = ScoreSummary(sentences=1, tokens=4, oov=1, log_prob=-8.0, log_prob_known=-3.0)
    assert summary.perplexity == pytest.approx(math.exp(2))
    assert summary.perplexity_without_oov == pytest.approx(math.e)
    assert summary.to_dict() == {
        "sentences": 1,
        "tokens": 4,
        "oov": 1,
        "log_prob": -8.0,
        "perplexity": summary.perplexity,
        "perplexity_without_oov": summary.perplexity_without_oov,
    }


@pytest.mark.parametrize("log_prob", [-math.inf, -1e300])
def test_numbers_that_json_lacks_are_null(log_prob: float) -> None:
    record = ScoreSummary(1, 2, 1, log_prob, -1.0).to_dict()
    assert record["perplexity"] is None
    assert record["perplexity_without_oov"] == pytest.approx(math.e)
    assert "Infinity" not in json.dumps(record)
    assert SentenceScore(-math.inf, 2, 1).to_dict() == {"log_prob": None, "tokens": 2, "oov": 1}
    assert ScoreSummary(0, 0, 0, 0.0, 0.0).to_dict()["perplexity"] is None


def test_records_are_immutable() -> None:
    with pytest.raises(AttributeError):
        SentenceScore(-1.0, 2, 0).tokens = 3  # type: ignore[misc]


# Errors


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("f", 3, "bad"), "f:3: bad"),
        (FormatError("f", None, "bad"), "f: bad"),
        (ModelError("bad"), "bad"),
        (EmptySupportError(2, "nothing fits"), "nothing fits"),
        (BudgetExceeded("too little time", (1, 2)), "too little time"),
        (UnknownSymbolError("word", "cta"), "unknown word 'cta'"),
        (UnknownSymbolError("word", "cta", ["cat", "cut"]), "unknown word 'cta'; did you mean cat, cut?"),
    ],
)
def test_errors_are_one_line_and_travel_between_processes(error: HiddeniteError, text: str) -> None:
    assert isinstance(error, HiddeniteError)
    assert str(error) == text
    again: Any = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (text, vars(error))


def test_a_disk_that_is_full_is_told(model: NgramModel) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("/dev/full is no device here")
    with pytest.raises(FormatError, match=r"/dev/full: cannot be written: No space left on device"):
        model.save("/dev/full")


# The package


def test_the_public_names_are_importable() -> None:
    for name in ("NgramModel", "TrainingOptions", "HiddeniteWarning", "__version__"):
        assert hasattr(hiddenite, name)
