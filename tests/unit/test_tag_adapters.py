"""Taggers in the form of other libraries; those that are not installed are skipped."""

import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiddenite import ModelError, OptionError
from hiddenite.tag import NltkTagger, Tagger, TaggerEstimator, nltk_tagger, score, tag_columns

TAGS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "barks": "V", "sleeps": "V", ".": "P", "old": "A"}
TEXT = ["the dog barks .", "a cat sleeps .", "the old cat barks .", "a dog sleeps .", "the cat ."] * 4
X = [line.split() for line in TEXT]
Y = [[TAGS[word] for word in words] for words in X]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "tagger-adapters.md"
GOLD = [list(zip(words, tags, strict=True)) for words, tags in zip(X, Y, strict=True)]


@cache
def tagger() -> Tagger:
    return Tagger.train(GOLD, order=2)


@cache
def estimator() -> TaggerEstimator:
    return TaggerEstimator(order=2).fit(X, Y)


# scikit-learn


def test_an_estimator_is_the_tagger() -> None:
    assert estimator().predict(X[:3]) == [list(tagger().tag(words).tags) for words in X[:3]]
    assert estimator().predict(TEXT[:3]) == estimator().predict(X[:3])
    assert estimator().score(X, Y) == score(tagger(), GOLD).accuracy
    assert list(estimator().classes_) == list(tagger().tags)
    assert estimator().predict([[]]) == [[]]


def test_probabilities_have_a_column_for_each_tag() -> None:
    for words, table in zip(X[:3], estimator().predict_proba(X[:3]), strict=True):
        assert table.shape == (len(words), len(estimator().classes_))
        assert table.sum(axis=1) == pytest.approx(1)
        for row, slot in zip(table, tagger().marginals(words).slots, strict=True):
            assert {str(t): p for t, p in zip(estimator().classes_, row, strict=True) if p} == pytest.approx(
                {tag: p for tag, p in slot if p}
            )


def test_order_auto_is_what_the_command_does() -> None:
    few = TaggerEstimator().fit(X, Y)
    assert few.tagger_.order == 3
    many = TaggerEstimator().fit(X * 3, Y * 3)
    chosen = Tagger.choose_order(GOLD * 3, TaggerEstimator().fit(X, Y).tagger_.model.options)
    assert many.tagger_.model.options == chosen.model.options
    assert many.tagger_.trials


def test_gaps_are_not_annotated() -> None:
    partly = [[("_" if i == 1 else tag) for i, tag in enumerate(tags)] for tags in Y]
    found = TaggerEstimator(order=2).fit(X, partly)
    assert found.score(X, partly) > 0.9
    with pytest.raises(ModelError, match="no gold tag"):
        found.score(X, [["_"] * len(tags) for tags in Y])


def test_parameters_and_mistakes() -> None:
    one = TaggerEstimator(order=2, floor=0.1)
    assert one.get_params() == {"order": 2, "floor": 0.1}
    assert TaggerEstimator(**one.get_params()).get_params() == one.get_params()
    assert repr(one.set_params(order=3, lexicalize=5)) == "TaggerEstimator(order=3, floor=0.1, lexicalize=5)"
    with pytest.raises(OptionError, match="flor"):
        one.set_params(flor=1)
    with pytest.raises(OptionError, match="order"):
        TaggerEstimator(order="three").fit(X, Y)
    with pytest.raises(ModelError, match="call fit first"):
        TaggerEstimator().predict(X)
    with pytest.raises(ModelError, match="X has 20 sentences and y has 19"):
        TaggerEstimator().fit(X, Y[1:])
    with pytest.raises(ModelError, match="sentence 0 has 4 words"):
        TaggerEstimator().fit(X, [["D"], *Y[1:]])
    with pytest.raises(ModelError, match="sentence 0 has 4 words"):
        TaggerEstimator().fit(X, TEXT)


@pytest.mark.filterwarnings("default")
def test_scikit_learn_takes_it() -> None:
    base = pytest.importorskip("sklearn.base")
    selection = pytest.importorskip("sklearn.model_selection")
    copy = base.clone(TaggerEstimator(order=2, floor=0.1))
    assert copy.get_params() == {"order": 2, "floor": 0.1}
    found = selection.cross_val_score(TaggerEstimator(order=2), X, Y, cv=2)
    assert found.mean() > 0.9
    search = selection.GridSearchCV(TaggerEstimator(order=2), {"order": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_params_["order"] in (1, 2)
    assert search.best_estimator_.score(X, Y) > 0.9


# NLTK


def test_an_nltk_tagger_needs_no_nltk(tmp_path: Path) -> None:
    tagger().save(tmp_path / "a.tagger")
    for one in (NltkTagger(tagger()), NltkTagger(tmp_path / "a.tagger")):
        assert one.tag(["the", "old", "dog"]) == [("the", "D"), ("old", "A"), ("dog", "N")]
        assert one.tag([]) == []
        assert one.tag_sents(X[:2]) == GOLD[:2]
        assert one.accuracy(GOLD) == one.evaluate(GOLD) == score(tagger(), GOLD).accuracy


def test_nltk_takes_it() -> None:
    if importlib.util.find_spec("nltk") is None:
        with pytest.raises(ModelError, match="pip install nltk"):
            nltk_tagger(tagger())
        pytest.skip("needs NLTK")
    from nltk.tag.api import TaggerI  # noqa: PLC0415

    one = nltk_tagger(tagger())
    assert isinstance(one, TaggerI)
    assert one.tag_sents(X[:2]) == GOLD[:2]
    assert one.accuracy(GOLD) == score(tagger(), GOLD).accuracy
    assert one.confusion(GOLD)["D", "D"] == sum(tag == "D" for tags in Y for tag in tags)


# Columns


def test_a_column_becomes_columns() -> None:
    column: list[Any] = [TEXT[0], None, float("nan"), X[1], ""]
    found = tag_columns(tagger(), column)
    assert found["tags"] == [Y[0], None, None, Y[1], []]
    assert found["words"] == [X[0], None, None, X[1], []]
    assert found["exact"] == [True, None, None, True, True]
    assert found["log_weight"][0] == tagger().tag(TEXT[0]).log_weight


@pytest.mark.filterwarnings("default")
def test_pandas_and_arrow_take_them() -> None:
    arrow = pytest.importorskip("pyarrow")
    column = arrow.chunked_array([[TEXT[0]], [None, TEXT[1]]])
    table = arrow.table(dict(tag_columns(tagger(), column)))
    assert table["tags"].to_pylist() == [Y[0], None, Y[1]]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": [TEXT[0], None, TEXT[1]]})
    frame = frame.join(pandas.DataFrame(tag_columns(tagger(), frame["text"])))
    assert frame["tags"].tolist()[::2] == [Y[0], Y[1]]


# spaCy


@pytest.fixture
def nlp(tmp_path: Path) -> Any:
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("hiddenite.tag.spacy")
    tagger().save(tmp_path / "a.tagger")
    nlp = spacy.blank("en")
    nlp.add_pipe("hiddenite_tagger", config={"model": str(tmp_path / "a.tagger")})
    return nlp


@pytest.mark.filterwarnings("default")
def test_spacy_gets_the_tags(nlp: Any) -> None:
    assert [token.tag_ for token in nlp("the old dog sleeps.")] == ["D", "A", "N", "V", "P"]
    assert [token.tag_ for token in nlp("the  dog\n")] == ["D", "_SP", "N", "_SP"]
    assert len(nlp("")) == 0
    assert [[t.tag_ for t in doc] for doc in nlp.pipe(TEXT * 3, batch_size=7)] == Y * 3


@pytest.mark.filterwarnings("default")
def test_spacy_sentences_are_tagged_one_by_one(nlp: Any) -> None:
    nlp.add_pipe("sentencizer", before="hiddenite_tagger")
    tags = [token.tag_ for token in nlp("the cat. a dog sleeps.")]
    assert tags == [*tagger().tag("the cat .").tags, *tagger().tag("a dog sleeps .").tags]


@pytest.mark.filterwarnings("default")
def test_a_spacy_pipeline_is_saved_with_its_tagger(nlp: Any, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert [t.tag_ for t in again("a cat barks.")] == ["D", "N", "V", "P"]
    bare = spacy.blank("en")
    bare.add_pipe("hiddenite_tagger")
    with pytest.raises(ModelError, match="has no model"):
        bare("a cat")
    bare.from_bytes(nlp.to_bytes())
    assert [t.tag_ for t in bare("a cat barks.")] == ["D", "N", "V", "P"]


@pytest.mark.filterwarnings("default")
def test_universal_tags_can_be_pos(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("hiddenite.tag.spacy")
    names = {"D": "DET", "N": "NOUN", "V": "VERB", "P": "PUNCT", "A": "ADJ"}
    Tagger.train([[(w, names[t]) for w, t in s] for s in GOLD], order=2).save(tmp_path / "u.tagger")
    tagger().save(tmp_path / "a.tagger")
    nlp = spacy.blank("en")
    nlp.add_pipe("hiddenite_tagger", config={"model": str(tmp_path / "u.tagger"), "attribute": "pos"})
    assert [token.pos_ for token in nlp("the dog  barks.")] == ["DET", "NOUN", "SPACE", "VERB", "PUNCT"]
    other = spacy.blank("en")
    other.add_pipe("hiddenite_tagger", config={"model": str(tmp_path / "a.tagger"), "attribute": "pos"})
    with pytest.raises(ModelError, match="not a universal one"):
        other("the dog")
    with pytest.raises(Exception, match="expected tag or pos"):
        spacy.blank("en").add_pipe("hiddenite_tagger", config={"attribute": "lemma"})


def test_nothing_is_imported_that_is_not_used() -> None:
    others = {"sklearn", "nltk", "spacy", "pandas", "pyarrow"}
    code = f"import sys, hiddenite.tag; print({others} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    assert isinstance(estimator().classes_, np.ndarray)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("library", ["sklearn", "spacy"])
def test_the_page_about_other_tools_runs(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    pytest.importorskip("hiddenite.tag.spacy" if library == "spacy" else "sklearn")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        if "import" not in block or library in block or "hiddenite.tag import" in block.partition("\n")[0]:
            exec(block, names)
    shown = capsys.readouterr().out.splitlines()
    if library == "spacy":
        assert shown[-1] == "['DET', 'NOUN', 'VERB', 'PUNCT']"
    else:
        assert "{'lexicalize': 0, 'order': 2}" in shown
