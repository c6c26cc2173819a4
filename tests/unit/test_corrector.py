"""The corrector's parts: learning, tuning, files, protection, figures."""

from __future__ import annotations

import functools
import gc
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hiddenite
from hiddenite.candidates import Candidates
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.cutting import Seen
from hiddenite.correct.defaults import build, default_model
from hiddenite.correct.evaluation import Tally, evaluate
from hiddenite.correct.learning import count_pairs
from hiddenite.correct.pairs import align
from hiddenite.correct.tokens import PROTECT_ALL, Protect, tokens, with_case
from hiddenite.errors import ModelError
from hiddenite.ngram import NgramModel
from tests.models import train

SENTENCES = [
    "the lord is my shepherd .",
    "i shall not want a lot .",
    "the cat sat on the mat .",
    "we came to the house together , all of us .",
    "what do you want ?",
] * 4
PAIRS = [
    ("teh cat sat", "the cat sat"),
    ("teh hous", "the house"),
    ("to gether we came", "together we came"),
    ("alot of us", "a lot of us"),
]


@functools.cache
def plain(kind: str = "typing") -> Corrector:
    with pytest.warns(hiddenite.HiddeniteWarning):
        lm = hiddenite.NgramModel.train(SENTENCES, order=3)
    return Corrector.from_ngram(lm, kind=kind)


def test_spacing_and_marks_stay() -> None:
    answer = plain().correct("Teh lord,  is my shephrd.\tI shal not want!", min_probability=0.3)
    assert answer.text == "The lord,  is my shepherd.\tI shall not want!"
    assert answer.certificate.exact
    assert answer.certificate.to_dict()["left_out"] < 0
    assert all(0 <= a.probability <= 1 for change in answer.changes for a in change.alternatives)


def test_splits_and_merges() -> None:
    assert plain().correct("alot", min_probability=0.1).text == "a lot"
    assert (
        plain().correct("the house to gether , all", min_probability=0.1).text == "the house together , all"
    )


@pytest.mark.parametrize(
    "text",
    [
        "http://teh.com/wnat",
        "wnat@teh.org",
        "@teh",
        "#wnat",
        "`teh`",
        "2016",
        "iPhonne",
        "teh(1)",
        "wnat.txt",
    ],
)
def test_what_is_protected_stays(text: str) -> None:
    assert plain().correct(text, min_probability=0.0).text == text


def test_protection_can_be_taken_away() -> None:
    kinds = [t.kind for t in tokens("#teh", Protect(tags=False))]
    assert kinds == ["mark", "word"]


@pytest.mark.parametrize(
    ("word", "pattern", "expected"),
    [("the", "Teh", "The"), ("the", "TEH", "THE"), ("the", "teh", "the"), ("edward", "EDWARn", "EDWARD")],
)
def test_case_is_inherited(word: str, pattern: str, expected: str) -> None:
    assert with_case(word, pattern) == expected


def test_lines_of_unequal_numbers_of_tokens_are_aligned() -> None:
    noisy, clean = "he went to gether alot .", "he went together a lot ."
    pieces = [(noisy[a[0].start : a[-1].end], clean[b[0].start : b[-1].end]) for a, b in align(noisy, clean)]
    assert pieces == [
        ("he", "he"),
        ("went", "went"),
        ("to gether", "together"),
        ("alot", "a lot"),
        (".", "."),
    ]


def test_learning_counts() -> None:
    counts = count_pairs(PAIRS)
    assert counts.slips[("the", "teh")] == 2
    assert (counts.splits, counts.merges) == (1, 1)
    learnt = plain().learn(PAIRS)
    assert learnt.settings.rates.word > plain().settings.rates.word
    assert learnt.learnt.pairs["alot", "a lot"] == 1
    again = learnt.learn(PAIRS)
    assert again.learnt.pairs["teh", "the"] == 4
    with pytest.raises(hiddenite.ModelError, match="start a new one"):
        learnt.learn(PAIRS, kind="ocr")


def test_one_pass_over_noisy_text_raises_the_rate_of_slips() -> None:
    learnt = plain().learn_unpaired(["teh lrod is my shephrd", "teh cat sat on teh mat"] * 20)
    assert learnt.settings.rates.word > plain().settings.rates.word


def test_a_saved_corrector_answers_the_same(tmp_path: Path) -> None:
    learnt = plain().learn(PAIRS)
    learnt.save(tmp_path / "model")
    loaded = Corrector.load(tmp_path / "model")
    assert loaded.settings == learnt.settings
    text = "Teh lord sat alot on teh mat."
    assert loaded.correct(text).to_dict() == learnt.correct(text).to_dict()


def test_parts_of_a_corrector_live_as_long_as_what_uses_them() -> None:
    corrector = plain().with_learnt(plain().learnt, replace(plain().settings, rare_below=3))
    parts, seen = (corrector._lexicon, corrector._model), corrector._seen
    expected = seen.meant("shephrd")
    del corrector
    gc.collect()
    seen.clear_cache()
    assert seen.meant("shephrd") == expected
    before = list(map(sys.getrefcount, parts))
    del seen
    gc.collect()
    assert list(map(sys.getrefcount, parts)) == [count - 1 for count in before]


def test_answers_do_not_depend_on_threads() -> None:
    texts = [f"teh lord {i} sat alot on teh mat." for i in range(40)]
    one = [answer.to_dict() for answer in plain().correct_many(texts, threads=1)]
    assert [answer.to_dict() for answer in plain().correct_many(texts, threads=3)] == one


def test_thresholds_exclude_each_other() -> None:
    with pytest.raises(hiddenite.ModelError, match="give one of them"):
        plain().correct("a", min_probability=0.5, careful=True)
    with pytest.raises(hiddenite.ModelError, match="expected a probability"):
        plain().correct("a", min_probability=2.0)


def test_figures_of_known_changes() -> None:
    tally = Tally()
    noisy, right = "teh cat sta on alot", "the cat sat on a lot"
    tally.add(noisy, right, plain().correct(noisy, min_probability=0.0))
    figures = tally.evaluation()
    assert (figures.words, figures.errors) == (5, 3)
    assert figures.true + figures.wrong <= 5
    assert figures.word_error_before == pytest.approx(4 / 6)
    assert 0 <= figures.calibration_error <= 1


def test_tuning_keeps_probabilities_in_range() -> None:
    rows = [("teh cat sat", "the cat sat"), ("teh lrod", "the lord"), ("wnat is it", "what is it")] * 10
    tuned = plain().tune(rows, "f1")
    figures = evaluate(tuned, rows)
    assert 0 < tuned.settings.threshold < 1
    assert figures.f1 > 0


def weights(corrector: Corrector, text: str, seen: list[Seen]) -> dict[str, float]:
    """Return the log weights of what the one word of a text can have been meant as."""
    (row,) = corrector._cutter.cut(text, PROTECT_ALL, seen).rows
    slots = Candidates(corrector.lm.vocabulary, corrector._core.lattice(row))
    return dict(slots.slot(slots.spans.index((0, max(to for _, to in slots.spans)))))


@given(shares=st.lists(st.floats(0.01, 0.3), min_size=1, max_size=3))
def test_a_recognisers_readings_are_a_mixture(shares: list[float]) -> None:
    corrector = plain("ocr")
    others = tuple(zip(("the", "mat", "ths"), shares, strict=False))
    found = weights(corrector, "tbe", [(0, 3, others)])
    parts = [(1 - sum(shares), weights(corrector, "tbe", []))]
    parts += [(share, weights(corrector, word, [])) for word, share in others]
    expected = {
        word: math.log(sum(share * math.exp(part[word]) for share, part in parts if word in part))
        for word in set().union(*(part for _, part in parts))
    }
    assert found == pytest.approx(expected, abs=1e-6)


def test_readings_belong_to_the_tokens_where_they_differ() -> None:
    cutter = plain("ocr")._cutter
    text = "(tbe) end"
    readings = (("(the)", 0.4), ("[tbe)", 0.2), ("(two words)", 0.1), ("(Tbe)", 0.1), ("(", 0.1))
    (row,) = cutter.cut(text, PROTECT_ALL, [(0, 5, readings)]).rows
    assert row[2] == [(1, [("the", 0.4)])]


def test_what_else_was_read_decides() -> None:
    corrector = plain("ocr")
    text = "the xxt"
    seen: list[Seen] = [(4, 7, (("mat", 0.45),))]
    (alone,) = corrector.correct_many([text], min_probability=0.0)
    (told,) = corrector.correct_many([text], min_probability=0.0, seen=[seen])
    assert told.text == "the mat"
    posterior = [sum(c.posterior for c in one.changes if c.new == "mat") for one in (alone, told)]
    assert posterior[1] > posterior[0]


# ------------------------------------------------------- what users give it


@pytest.mark.parametrize("text", [None, 3, ["teh cat"], 2.5])
def test_what_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(ModelError, match="expected text"):
        plain().correct(text)  # type: ignore[arg-type]


def test_text_may_be_bytes_or_a_cell_of_a_column() -> None:
    class Cell:
        def as_py(self) -> str:
            return "teh cat"

    for text in (b"teh cat", Cell()):
        assert plain().correct(text, min_probability=0.3).text == "the cat"  # type: ignore[arg-type]


def test_half_a_character_is_refused_with_its_place() -> None:
    with pytest.raises(ModelError, match="text 1: column 5"):
        plain().correct("teh \udc80 cat")


def test_a_text_where_texts_are_expected_is_refused() -> None:
    with pytest.raises(ModelError, match="expected a list of texts"):
        list(plain().correct_many("teh cat"))
    with pytest.raises(ModelError, match="expected a list of texts"):
        plain().learn_unpaired("teh cat")


@pytest.mark.parametrize("pairs", ["teh the", ["teh", "the"], [("a", "b", "c")], [1]])
def test_what_is_no_pairs_is_refused(pairs: object) -> None:
    with pytest.raises(ModelError, match="expected"):
        plain().learn(pairs)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [{"a": -1.0}, {"a": math.nan}, {"a": math.inf}, {"a": 0.0}, [1, 2], "abc"])
def test_what_is_no_list_of_words_is_refused(words: object) -> None:
    with pytest.raises(ModelError):
        Corrector.from_ngram(plain().lm, words=words)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ModelError, match="seed"):
        plain().sample("teh cat", 2, seed)


# ------------------------------------------------------------ words and letters


def test_a_few_words_more_do_not_make_those_of_the_model_unknown() -> None:
    """A list of names says nothing of the words of the language."""
    more = Corrector.from_ngram(plain().lm, words=["zachary"])
    assert more.is_known("shepherd")
    assert more.is_known("zachary")
    assert more.correct("teh cat", min_probability=0.3).text == "the cat"


def test_a_list_of_the_language_is_trusted() -> None:
    common = [f"w{chr(97 + i)}" for i in range(26)]
    text = [f"{a} {b}" for a in common for b in common] + ["wa wrng wb"]
    with pytest.warns(hiddenite.HiddeniteWarning):
        lm = hiddenite.NgramModel.train(text, order=2)
    assert not Corrector.from_ngram(lm, words=common).is_known("wrng")
    assert Corrector.from_ngram(lm, words=["zachary"]).is_known("wrng")


def test_words_with_other_letters_leave_what_was_learnt_as_it_is() -> None:
    """Learnt slips are numbered by letters; more letters must not move the numbers."""
    with pytest.warns(hiddenite.HiddeniteWarning):
        lm = hiddenite.NgramModel.train(["schöne grüße an süße vögel ß"] * 3, order=2)
    learnt = Corrector.from_ngram(lm, kind="ocr").learn([("schone voegel", "schöne vögel")] * 5)
    words = {"niño": 1.0, "ça": 1.0}
    more = Corrector(lm, learnt.settings, words, learnt=learnt.learnt)
    assert more.alphabet.startswith(learnt.alphabet)
    moved = "".join(sorted(learnt.alphabet, key=lambda c: ("öüß".find(c) % 3, c) if c in "öüß" else (-1, "")))
    wrong = Corrector(lm, learnt.settings, words, learnt=replace(learnt.learnt, alphabet=moved))
    weights = [dict(model.candidates("schone")[0][1])["schöne"] for model in (learnt, more, wrong)]
    assert weights[0] == pytest.approx(weights[1], abs=0.01)  # a few letters more share the prior
    assert weights[2] < weights[0] - 1


def test_the_letters_of_a_language_come_before_rare_ones() -> None:
    """Slips are told apart by 96 letters; those of foreign names must not take the place of the own."""
    rare = "".join(chr(c) for c in range(0xE0, 0x180) if chr(c).islower())
    own = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
    with pytest.warns(hiddenite.HiddeniteWarning):
        lm = hiddenite.NgramModel.train([*(f"{a}{b}" for a in own for b in own), " ".join(rare)], order=2)
    assert set(own) <= set(Corrector.from_ngram(lm).alphabet)


def test_learning_another_kind_is_what_its_file_holds(tmp_path: Path) -> None:
    common = [f"w{chr(97 + i)}" for i in range(26)]
    text = [f"{a} {b}" for a in common for b in common] + ["wa wrng wb"]
    with pytest.warns(hiddenite.HiddeniteWarning):
        lm = hiddenite.NgramModel.train(text, order=2)
    learnt = Corrector.from_ngram(lm, words=common).learn([("wa wrog", "wa wb")], kind="ocr")
    learnt.save(tmp_path / "model")
    again = Corrector.load(tmp_path / "model")
    assert again.is_known("wrng") == learnt.is_known("wrng")
    assert again.alphabet == learnt.alphabet


# ------------------------------------------------------------------ the bound


def test_a_word_that_is_too_long_to_search_for_leaves_something_out() -> None:
    found = plain().correct("x" * 50)
    assert found.certificate.left_out is not None
    assert found.certificate.left_out > -math.inf


def test_the_certificate_says_what_it_is_about() -> None:
    """A text with changes taken back is not the best reading."""
    kept = plain().correct("teh cat", min_probability=1.0)
    assert kept.text == "teh cat"
    assert kept.certificate.objective == "best_reading"
    assert kept.certificate.to_dict()["objective"] == "best_reading"


def test_a_default_model_for_other_errors_is_made_from_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def small(own: object) -> tuple[NgramModel, dict[str, float]]:
        built.append("once")
        return train(["the dog barks", "the cat sleeps"], 2), {"dog": 2.0, "cat": 1.0}

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("hiddenite.correct.english.language_model", small)
    monkeypatch.setattr("hiddenite.correct.defaults._check_language", lambda language: None)
    typing, ocr = (Corrector.load(default_model(kind=kind)) for kind in ("typing", "ocr"))
    assert built == ["once"]
    assert (typing.settings.kind, ocr.settings.kind) == ("typing", "ocr")
    again = build("en", "ocr")
    assert (ocr.settings, ocr.words, list(ocr.lm.vocabulary)) == (
        again.settings,
        again.words,
        list(again.lm.vocabulary),
    )
    default_model(text=str(_text(tmp_path)))  # another text is another language model
    assert len(built) == 3


def _text(folder: Path) -> Path:
    path = folder / "own.txt"
    path.write_text("the dog sleeps\n")
    return path
