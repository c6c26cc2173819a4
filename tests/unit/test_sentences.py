"""What is taken where text is taken, and what is refused."""

import pytest

import hiddenite
from hiddenite import FormatError, HMMLanguageModel, ModelError, NgramModel
from tests.models import train

TEXT = ["the cat sat", "the dog sat", "a cat ran"]


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train(TEXT, 3)


def test_many_kinds_of_sentences(model: NgramModel) -> None:
    expected = model.score(TEXT).log_prob.tolist()
    words = [sentence.split() for sentence in TEXT]
    for kind in (tuple(TEXT), iter(TEXT), words, [iter(w) for w in words], [t.encode() for t in TEXT]):
        assert model.score(kind).log_prob.tolist() == expected  # type: ignore[arg-type]
    assert [model.score(sentence) for sentence in TEXT] == expected


def test_arrow_columns(model: NgramModel) -> None:
    arrow = pytest.importorskip("pyarrow")
    for column in (arrow.array(TEXT), arrow.chunked_array([TEXT]), arrow.array([t.split() for t in TEXT])):
        assert model.score(column).log_prob.tolist() == model.score(TEXT).log_prob.tolist()
    with pytest.raises(ModelError, match="sentence 2 is None, expected text"):
        model.score(arrow.array(["a", None]))


def test_pandas_series(model: NgramModel) -> None:
    pandas = pytest.importorskip("pandas")
    assert model.score(pandas.Series(TEXT)).log_prob.tolist() == model.score(TEXT).log_prob.tolist()
    with pytest.raises(ModelError, match="sentence 2 is nan"):
        model.score(pandas.Series(["a", float("nan")]))


@pytest.mark.parametrize(
    "call",
    [
        NgramModel.train,
        lambda text: hiddenite.induce(text, tags=2),
        lambda text: hiddenite.Aligner.train(text, text, seed=1),
        lambda text: list(hiddenite.Tagger.train([[("a", "A")]], order=1).tag_many(text)),
    ],
)
def test_a_string_is_not_a_list_of_sentences(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ModelError, match=r"expected a list of sentences; write \[sentence\]"):
        call("the company")


def test_a_string_is_not_a_text_of_an_hmm() -> None:
    with pytest.raises(ModelError, match="expected a list of sentences"):
        HMMLanguageModel.train("the company", states=2, clusters=1)


def test_one_sentence_is_text_without_boundaries(model: NgramModel) -> None:
    for word in ("<s>", "</s>"):
        with pytest.raises(ModelError, match=f"holds the word {word}"):
            model.score(f"the {word} cat")
    with pytest.raises(ModelError, match="NUL character"):
        model.score("a\0b")
    with pytest.raises(ModelError, match="not UTF-8"):
        model.score(b"\xff")
    with pytest.raises(FormatError, match="sentence 1"):
        model.score([b"\xff"])
    with pytest.raises(ModelError, match="bos, eos and log10 are for one sentence"):
        model.score(TEXT, log10=True)  # type: ignore[call-overload]


def test_a_state_belongs_to_its_model(model: NgramModel) -> None:
    with pytest.raises(ModelError, match="belongs to another model"):
        train(TEXT, 2).base_score(model.begin_state(), "the")


def test_a_long_sentence(model: NgramModel) -> None:
    long = "the cat ran " * 30_000
    assert model.score(long) == model.score([long])[0].log_prob


def test_a_model_shows_its_size(model: NgramModel) -> None:
    assert repr(model) == f"<NgramModel order=3, {sum(model.ngram_counts)} n-grams>"
    assert "cat" in model
    assert "zebra" not in model
    assert model.perplexity(TEXT) == model.score(TEXT).summary().perplexity
