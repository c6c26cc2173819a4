"""Capitals that are due to their place: what is folded, and that all answers are about the text as it was."""

import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hiddenite
from hiddenite.errors import ModelError, OptionError
from hiddenite.induction import InduceOptions, Induction
from hiddenite.induction.capitals import with_capitals
from hiddenite.induction.text import Text
from hiddenite.tag.emissions import EmissionTable

TEXT = [
    "The dog sleeps in May .",
    "May the cat sleep ?",
    "A cat may see the dog .",
    "The cat may see Paris .",
    '" The dog may bark , " says a cat .',
    "Paris sleeps .",
    "Dogs bark .",
]
WORDS = st.sampled_from(["the", "The", "may", "May", "Paris", ".", '"', "7", "éa", "Éa", "ßa", "SSa"])

FORMS = ["é", "e\u0301", "E\u0301a", "Éa", "éa", "x", "Å", "\u212b"]


def fold_by_hand(sentences: list[list[str]]) -> list[list[str]]:
    """The definition, word by word."""

    def is_open(sentence: list[str], i: int) -> bool:
        return i == 0 or not any(c.isalnum() for c in sentence[i - 1])

    counts = Counter(w for s in sentences for i, w in enumerate(s) if not is_open(s, i))
    folded = []
    for s in sentences:
        small = [w[0].lower() + w[1:] for w in s]
        takes = [is_open(s, i) and counts[small[i]] > counts[w] for i, w in enumerate(s)]
        folded.append([a if yes else w for w, a, yes in zip(s, small, takes, strict=True)])
    return folded


@given(st.lists(st.lists(WORDS, max_size=6), max_size=12))
def test_words_are_folded_as_defined(sentences: list[list[str]]) -> None:
    if not any(sentences):
        return
    found = Text.of(sentences).fold_case()
    assert found.sentences() == fold_by_hand(sentences)
    assert found.words == Text.of(found.sentences()).words  # in the order of their first tokens


@given(
    st.lists(
        st.lists(st.sampled_from(["é", "e\u0301", "E\u0301a", "Éa", "éa", "x", "Å", "\u212b"]), max_size=5),
        max_size=8,
    )
)
def test_a_word_in_two_forms_of_unicode_is_one(sentences: list[list[str]]) -> None:
    if not any(sentences):
        return
    text = Text.of(sentences)
    composed = text.compose()
    assert composed.sentences() == [[unicodedata.normalize("NFC", w) for w in s] for s in sentences]
    assert composed.words == Text.of(composed.sentences()).words
    assert composed.compose() is composed
    assert (composed is text) == (composed.words == text.words)


def test_a_tagger_takes_both_forms_of_unicode() -> None:
    text = ["le cafe\u0301 est bon", "le café est fermé", "un thé est bon", "un the\u0301 est fermé"] * 5
    run = hiddenite.induce(text, 4, seed=1, start_iterations=3, iterations=4, chains=4).run()
    assert [" ".join(w for w, _ in s) for s in run.tagged()] == text
    of_word = run.classes_of_words()
    assert of_word["café"] == of_word["cafe\u0301"]
    tagger = run.export()
    assert tagger.tag("le cafe\u0301 est bon").tags == tagger.tag("le café est bon").tags
    kept = hiddenite.induce(text, 4, seed=1, model="one-tag+lm", iterations=2)
    assert kept._learnt is kept.text  # the papers' models see what is there


def test_examples() -> None:
    folded = [" ".join(s) for s in Text.of(TEXT).fold_case().sentences()]
    assert folded[0] == "the dog sleeps in May ."
    assert folded[1] == "may the cat sleep ?"
    assert folded[4] == '" the dog may bark , " says a cat .'
    assert folded[5:] == ["Paris sleeps .", "Dogs bark ."]  # "dogs" was never seen


def run_of(**options: object) -> Induction:
    given: dict[str, object] = {"seed": 1, "start_iterations": 3, "iterations": 4, "chains": 4} | options
    return hiddenite.induce(TEXT * 3, 4, **given)  # type: ignore[arg-type]


def test_answers_are_about_the_text_as_it_was(tmp_path: Path) -> None:
    run = run_of().run()
    assert [" ".join(w for w, _ in s) for s in run.tagged()] == TEXT * 3
    pairs = {(w, t) for s in run.tagged() for w, t in s}
    of_word = run.classes_of_words()
    assert {w: set(tags) for w, tags in of_word.items()} == {
        w: {t for v, t in pairs if v == w} for w in run.text.words
    }
    assert of_word["The"] == of_word["the"]
    assert sum(row.types for row in run.lexicon()) == len(run.text.words)
    shares = run.word_probabilities()
    assert shares.shape == (len(run.text.words), 4)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))
    the, capital = (run.text.words.index(w) for w in ("the", "The"))
    assert shares[the] == pytest.approx(shares[capital])
    run.save(tmp_path / "run")
    again = Induction.load(tmp_path / "run")
    assert (again.tags(), again.confidence().tolist()) == (run.tags(), run.confidence().tolist())


def test_a_word_may_have_two_tags_where_it_is_two_words() -> None:
    """«May» stands for «may» at the beginning of a sentence, and for itself elsewhere."""
    run = run_of()
    month, modal = (run._learnt.words.index(w) for w in ("May", "may"))
    assert {
        run._learnt.words[i] for i in run._learnt.tokens[run.text.tokens == run.text.words.index("May")]
    } == {
        "May",
        "may",
    }
    run.run()
    classes = run.consensus().classes
    wanted = {run.names[classes[month]], run.names[classes[modal]]}
    assert set(run.classes_of_words()["May"]) == wanted
    assert run.export().tag("the cat may see Paris in May .").certificate.exact


def test_kept_case_is_another_text_to_the_chains() -> None:
    run = run_of(case="keep")
    assert run._learnt is run.text
    assert InduceOptions(tags=3).folds_case
    assert not InduceOptions(tags=3, model="one-tag+lm").folds_case  # the papers' models see what is there
    with pytest.raises(OptionError, match="has no effect with model pyp"):
        InduceOptions(tags=3, model="pyp", case="keep").check_effects(["model", "case"])


def test_a_tagger_knows_words_at_other_beginnings() -> None:
    tagger = run_of().run().export()
    for small, capital in (("sleeps", "Sleeps"), ("bark", "Bark")):
        inner, begun = tagger.tag(f"{small} the dog ."), tagger.tag(f"{capital} the dog .")
        assert inner.tags == begun.tags
        assert inner.log_weight > begun.log_weight


@given(
    st.lists(
        st.sampled_from(["a", "A", "ba", "Ba", "ßa", "Ssa", "sa", "ſa", ".", "7a", "ΐα", "ǆep"]),
        min_size=1,
        unique=True,
    ),
    st.floats(0.001, 0.5),
    st.randoms(use_true_random=False),
)
def test_capitals_take_their_share_and_no_more(words: list[str], share: float, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    sizes = rng.integers(1, 3, size=len(words))
    tag = np.concatenate([rng.permutation(2)[:n] for n in sizes]).astype(np.uint32)
    table = EmissionTable(
        tuple(words), np.cumsum([0, *sizes]).astype(np.uint64), tag, np.log(rng.uniform(0.01, 0.1, len(tag)))
    )
    found = with_capitals(table, share)
    assert len(set(found.words)) == len(found.words) == len(found.begin) - 1
    sums = [np.bincount(t.tag, np.exp(t.log_prob), 2) for t in (table, found)]
    assert sums[1] == pytest.approx(sums[0])
    assert set(found.words) == {*words, *(unicodedata.normalize("NFC", w[0].title() + w[1:]) for w in words)}


@pytest.mark.parametrize("chains", [1, 2, 8])
def test_probabilities_are_those_of_the_classes(chains: int) -> None:
    """Also if one chain votes, whose tags are numbered anew when kinds are separated."""
    text = ["a dog , a cat , 3 birds .", "7 dogs and a cat .", "The bird and the dog , a cat ."] * 4
    for seed in (1, 2, 3):
        run = hiddenite.induce(text, 4, seed=seed, chains=chains, start_iterations=2, iterations=4).run()
        shares, tags = run.word_probabilities(), run.token_tags()
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))
        means = np.bincount(run.text.tokens, run.confidence()) / run.text.counts()
        own = np.bincount(run.text.tokens, shares[run.text.tokens, tags]) / run.text.counts()
        assert own == pytest.approx(means)
        assert run.confidence().min() > 0.0


def test_given_clusters_are_found_by_the_words_as_they_are() -> None:
    text = ["le cafe\u0301 est bon", "Le café est fermé", "un le est bon"] * 3
    of_word = {"le": 0, "cafe\u0301": 1, "est": 2, "Le": 3}
    options: dict[str, object] = {"chains": 2, "start_iterations": 2, "iterations": 2}
    for seed in range(6):  # words that are not given are drawn among more tags than wanted
        run = hiddenite.induce(text, 4, start=of_word, seed=seed, **options)  # type: ignore[arg-type]
        tags = dict(zip(run._learnt.tokens.tolist(), run._chains[0].tags().tolist(), strict=True))
        named = {run._learnt.words[i]: tag for i, tag in tags.items()}
        assert (named["le"], named["café"], named["est"]) == (0, 1, 2)
    with pytest.raises(ModelError, match="the cluster of 'Le' is 99, expected 0 to 3"):
        hiddenite.induce(text, 4, start=of_word | {"Le": 99}, **options)  # type: ignore[arg-type]


def test_a_word_is_at_most_a_thousand_characters_long() -> None:
    """What a longer one costs grows so fast that a megabyte without a blank would take all memory."""
    assert Text.of(["a " + "x" * 1000]).counts().tolist() == [1, 1]
    with pytest.raises(ModelError, match="has 1,001 characters, expected at most 1,000"):
        Text.of(["a", "x" * 1001])
