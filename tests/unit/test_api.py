"""What a user meets in Python: public names, records that are dataclasses, short texts, forgiving input."""

import copy
import dataclasses
import inspect
import pickle  # noqa: TID251  (records are sent between processes; models are not)
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiddenite
from hiddenite import align, hmmlm, induction, tag
from hiddenite.correct.evaluation import evaluate
from tests.models import train

TEXT = ["the dog barks", "a cat sleeps", "the old cat sees a dog"] * 3
TAGGED = [[("the", "D"), ("dog", "N")], [("a", "D"), ("cat", "N"), ("barks", "V")]] * 6


@cache
def lm() -> hiddenite.NgramModel:
    return train(TEXT, 2)


@cache
def tagger() -> hiddenite.Tagger:
    return hiddenite.Tagger.train(TAGGED, order=2)


@cache
def aligner() -> hiddenite.Aligner:
    options = hiddenite.AlignerOptions(model1_sweeps=1, hmm_sweeps=1, fertility_sweeps=2, chains=1)
    return hiddenite.Aligner.train(TEXT, TEXT, seed=1, options=options)


@cache
def hmm() -> hiddenite.HMMLanguageModel:
    return hiddenite.HMMLanguageModel.train(TEXT, 4, 2, epochs=2)


@cache
def corrector() -> hiddenite.Corrector:
    return hiddenite.Corrector.from_ngram(lm())


def candidates() -> hiddenite.Candidates:
    return hiddenite.Keypad(lm().vocabulary)("843 364 22757")


RECORDS: dict[str, Callable[[], Any]] = {
    "Alignment": lambda: aligner().align("the dog", "the cat", samples=5, seed=1),
    "Alignment with proof": lambda: aligner().align("the dog", "the cat", proof=True),
    "Certificate": lambda: hiddenite.decode(lm(), candidates()).certificate,
    "Decoded": lambda: hiddenite.decode(lm(), candidates(), proof=True),
    "Failure": lambda: hiddenite.Failure("nothing", 1, "a"),
    "KBest": lambda: hiddenite.kbest(lm(), candidates(), 9),
    "Marginals": lambda: hiddenite.marginals(lm(), candidates()),
    "Samples": lambda: hiddenite.sample(lm(), candidates(), 9, seed=1),
    "Step": lambda: next(hiddenite.search(lm(), candidates())),
    "ScoreSummary": lambda: lm().score(TEXT).summary(),
    "SentenceScore": lambda: lm().score(TEXT)[0],
    "SentenceScores": lambda: lm().score(TEXT),
    "scores of an HMM": lambda: hmm().score(TEXT),
    "Discount": lambda: lm().discounts[0],
    "Tagged": lambda: tagger().tag("the dog", proof=True),
    "KBest of tags": lambda: tagger().kbest("the dog", 9),
    "Marginals of tags": lambda: tagger().marginals("the dog"),
    "Samples of tags": lambda: tagger().sample("the dog", 9, seed=1),
    "TagScore": lambda: tag.score(tagger(), TAGGED),
    "Generated": lambda: hmm().generate(2, seed=1),
    "Infilled": lambda: hmm().infill("the ___ barks"),
    "StateDistribution": lambda: hmm().posterior("the dog")[0],
    "StatePath": lambda: hmm().decode("the dog"),
    "StateUsage": lambda: hmm().usage(TEXT),
    "Correction": lambda: corrector().correct("teh dog", min_probability=0.0),
    "Change": lambda: hiddenite.Change(0, 3, "teh", "the", 0.9, 0.99, ()),
    "Evaluation": lambda: evaluate(corrector(), [("teh dog", "the dog")]),
    "Protect": hiddenite.Protect,
    "Projection": lambda: hiddenite.project([[("the", "D"), ("dog", "N")]], ["le chien"], aligner(), seed=1)[
        0
    ],
    "Comparison": lambda: induction.compare([["D", "N"]], [["T0", "T0"]]),
    "AlignerOptions": hiddenite.AlignerOptions,
    "Budget": lambda: hiddenite.Budget(1.5),
    "InduceOptions": lambda: hiddenite.InduceOptions(tags=3),
    "Rejection": hiddenite.Rejection,
    "TaggerOptions": hiddenite.TaggerOptions.tnt,
    "TrainingOptions": hiddenite.TrainingOptions,
    "TypoRates": hiddenite.TypoRates,
    "HMMOptions": hmmlm.HMMOptions,
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_a_dataclass(name: str) -> None:
    record = RECORDS[name]()
    assert dataclasses.is_dataclass(record)
    fields = dataclasses.asdict(record)  # type: ignore[arg-type]
    assert list(fields) == [field.name for field in dataclasses.fields(record)]
    for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert other == record
    assert record != object()
    assert len(repr(record)) < 2000


def test_records_that_differ_are_not_equal() -> None:
    one, other = (aligner().align("the dog", target, samples=5, seed=1) for target in ("the cat", "a dog"))
    assert one != other
    assert lm().score(TEXT) != lm().score(TEXT[:2])
    assert hmm().posterior("the dog")[0] != hmm().posterior("a dog")[1]


def test_all_public_dataclasses_are_looked_at() -> None:
    known = {type(make()).__name__ for make in RECORDS.values()}
    parts = {"Hypothesis", "Sample", "TagSequence", "TagSample", "Proof", "Alternative"}  # of records above
    parts |= {"ModelInfo"}  # test_info.py
    public = {name for name in hiddenite.__all__ if dataclasses.is_dataclass(getattr(hiddenite, name))}
    assert public <= known | parts


def test_public_names_and_no_others() -> None:
    assert dir(hiddenite) == sorted([*hiddenite.__all__, "__version__"])
    for name in hiddenite.__all__:
        assert hasattr(hiddenite, name)
    for name in ("a.b", "", "nothing", "1", "_nothing", "tag.nothing"):
        assert not hasattr(hiddenite, name)
    assert inspect.isfunction(hiddenite.induce)


def test_answers_are_public() -> None:
    """Whatever a public function returns has a public type."""
    for function in (hiddenite.decode, hiddenite.kbest, hiddenite.sample, hiddenite.marginals):
        names = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
        assert set(names) <= set(hiddenite.__all__)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lm, "<NgramModel order=2, 25 n-grams>"),
        (tagger, "<Tagger order=2, 3 tags, 5 words>"),
        (aligner, "<Aligner 8 source words, 8 target words>"),
        (hmm, "<HMMLanguageModel 5 states, 11 words>"),
        (candidates, "<Candidates of 3 positions, 9 words>"),
        (lambda: lm().vocabulary, "<Vocabulary of 11 words>"),
        (lambda: hiddenite.Typo(lm().vocabulary), "<Typo over 11 words>"),
        (
            lambda: hiddenite.induce(TEXT, tags=2, seed=1),
            "<Induction model=consensus, 2 tags, 0 of 30 sweeps>",
        ),
        (
            lambda: hiddenite.Marginals(((("a", 0.75), ("b", 0.125), ("c", 0.125)),) * 9, 0.0, 0.0, 0.0, 0.0),
            f"<Marginals: {'a 0.750, b 0.125, ...; ' * 5}... 4 more>",
        ),
    ],
)
def test_short_texts_show_the_content(make: Callable[[], object], text: str) -> None:
    assert repr(make()) == text


# ----------------------------------------------------------------------- input


def forms() -> dict[str, Callable[[], Iterable[Any]]]:
    found: dict[str, Callable[[], Iterable[Any]]] = {
        "list": lambda: TEXT,
        "tuple": lambda: tuple(TEXT),
        "generator": lambda: (line for line in TEXT),
        "bytes": lambda: [line.encode() for line in TEXT],
        "words": lambda: [line.split() for line in TEXT],
        "tuples": lambda: [tuple(line.split()) for line in TEXT],
        "array": lambda: np.array(TEXT),
    }
    pyarrow = pytest.importorskip("pyarrow")
    found["Arrow column"] = lambda: pyarrow.array(TEXT)
    found["Arrow table's column"] = lambda: pyarrow.table({"text": TEXT})["text"]
    try:
        import pandas as pd  # noqa: PLC0415  (no dependency)
    except ImportError:
        return found
    return found | {
        "Series": lambda: pd.Series(TEXT),
        "Series of Arrow": lambda: pd.Series(TEXT, dtype="string"),
    }


USES: dict[str, Callable[[Iterable[Any]], object]] = {
    "score": lambda text: lm().score(text),
    "perplexity": lambda text: lm().perplexity(text),
    "hmm score": lambda text: hmm().score(text),
    "tag": lambda text: list(tagger().tag_many(text)),
    "known": lambda text: tagger().known_words(text),
    "align": lambda text: list(aligner().align_many((s, s) for s in text)),
    "ngram train": lambda text: train(list(text), 2).score(TEXT),
    "hmm train": lambda text: hiddenite.HMMLanguageModel.train(text, 4, 2, epochs=1).score(TEXT),
    "induce": lambda text: hiddenite.induce(text, tags=2, seed=1).text.digest(),
}


@pytest.mark.parametrize("use", USES)
def test_text_comes_in_many_forms(use: str) -> None:
    expected = USES[use](TEXT)
    for name, make in forms().items():
        assert USES[use](make()) == expected, name


@pytest.mark.parametrize("use", [use for use in USES if use not in ("perplexity", "align", "ngram train")])
@pytest.mark.parametrize("text", ["the company", b"the company"])
def test_one_text_is_no_list_of_sentences(use: str, text: str | bytes) -> None:
    if use == "score":
        assert isinstance(lm().score(text), float)
    elif use == "hmm train" and isinstance(text, bytes):
        pytest.skip("bytes are a whole text there")
    else:
        with pytest.raises(hiddenite.ModelError, match="expected a list of sentences"):
            USES[use](text)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: hiddenite.decode(lm(), "843 364"), "expected candidates; a channel makes them"),  # type: ignore[arg-type]
        (lambda: hiddenite.Tagger.train("the dog"), "expected sentences of .word, tag. pairs"),  # type: ignore[arg-type]
        (lambda: hiddenite.Candidates.from_slots(lm().vocabulary, [["the"]]), "expected pairs .word, log w"),  # type: ignore[list-item]
        (lambda: lm().score([["a", 3]]), "expected words that are strings"),  # type: ignore[list-item]
        (lambda: lm().score([None]), "sentence 1 is None, expected text"),  # type: ignore[list-item]
        (lambda: lm().log_prob("dog", "the"), "the context is a string"),
        (lambda: hiddenite.Keypad(lm().vocabulary)(["843"]), "expected one line of text; words are joined"),  # type: ignore[arg-type]
        (lambda: hiddenite.Keypad(lm().vocabulary)(843), "found 843, expected text"),  # type: ignore[arg-type]
        (lambda: hiddenite.Tagger.train([[("a", "X")]], order="3"), "order is '3', expected a number, 1 to"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_meant_is_said(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(hiddenite.ModelError, match=message):
        ask()


def test_link_probabilities_are_source_by_target() -> None:
    answer = aligner().align("the old dog sees", "dog", samples=20, seed=1)
    assert answer.probabilities is not None
    assert answer.probabilities.shape == (4, 1)
    training = align.Training(align.Bitext.of([("a b c", "x")]), seed=1).run()
    assert training.link_probabilities(0)[0].shape == (3, 1)


def test_type_checkers_see_the_same_names(tmp_path: Path) -> None:
    rows = {"KBest": "[hiddenite.TagSequence]", "Samples": "[hiddenite.Sample]"}
    types = [name + rows.get(name, "") for name in hiddenite.__all__ if name[0].isupper()]
    lines = [f"x{n}: hiddenite.{name}" for n, name in enumerate(types)]
    (tmp_path / "program.py").write_text("\n".join(["import hiddenite", *lines, ""]))
    command = [sys.executable, "-m", "mypy", "--strict", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
