"""What taggers learn besides full annotation: raw text, dictionaries, gaps, soft labels, tags in parts."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from hiddenite import FormatError, ModelError, Tagger, TaggerOptions
from hiddenite._core import TagParts, WordAttributes
from hiddenite.tag import raw_text, train_with_raw
from hiddenite.tag.annotation import EvidenceArrays, TrainingText, checked_text
from hiddenite.tag.completion import complete
from hiddenite.tag.context import has_parts
from hiddenite.tag.knowledge import NO_KNOWLEDGE, Knowledge, read_dictionary, word_classes
from hiddenite.tag.projected import read_projected
from hiddenite.tag.raw_text import THRESHOLDS, best_tags, confident_labels
from hiddenite.tag.training import train_model, training_text

SENTENCES = [
    [("The", "D"), ("dog", "N"), ("barks", "V")],
    [("A", "D"), ("cat", "N"), ("sleeps", "V")],
    [("Dogs", "N"), ("bark", "V")],
    [("The", "D"), ("bark", "N"), ("sleeps", "V")],
    [("cats", "N"), ("bark", "V"), ("the", "D"), ("dog", "N")],
] * 3


# Annotation


def test_evidence_becomes_arrays() -> None:
    text = checked_text(
        [[("a", "N"), ("b", "_"), ("c", {"N": 0.75, "V": 0.25}), ("d", {"N": 1.0, "V": 1.0})]]
    )
    assert text.tags() == ("N", "V")
    assert not text.is_complete
    assert [t for _, t in text.counted()[0]] == ["N", "_", "N", "_"]
    assert [t for _, t in text.gold()[0]] == ["N", "_", "_", "_"]
    arrays = EvidenceArrays.of(text, {"N": 0, "V": 1})
    none = 0xFFFFFFFF
    assert arrays.tag.tolist() == [0, none, none, none]
    assert arrays.counted.tolist() == [0, none, 0, none]
    assert arrays.begin.tolist() == [0, 0, 0, 2, 4]
    assert np.exp(arrays.evidence_log).tolist() == pytest.approx([0.75, 0.25, 1, 1])


@pytest.mark.parametrize(
    ("labelled", "message"),
    [
        ([[("a", "_")]], "every tag is"),
        ([[("a", {"N": -1.0})]], "expected numbers above 0"),
        ([], "no tagged word"),
        ([[("a b", "N")]], "white space"),
    ],
)
def test_what_cannot_be_learned_is_named(labelled: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        checked_text(labelled)  # type: ignore[arg-type]


def test_gaps_are_filled_with_the_best_tags_that_are_left() -> None:
    """Against all tag sequences that the annotation leaves, weighed by transitions, words and evidence."""
    partly = [[(w, "_" if i == 1 else t) for i, (w, t) in enumerate(s)] for s in SENTENCES[:3]]
    partly[2][1] = ("bark", {"N": 0.2, "V": 0.1})  # type: ignore[assignment]
    options = TaggerOptions(order=2, lexicalize=1, floor=0.0)
    model = train_model(training_text(SENTENCES, options), options)
    tagger = Tagger(model)
    text = checked_text(partly)
    found = complete(model, text)
    for (sentence, evidence), done in zip(
        zip(text.sentences, text.evidence, strict=True), found.sentences, strict=True
    ):
        words = [w for w, _ in sentence]
        slots = [tagger.candidates(words).slot(i) for i in range(len(words))]
        best: tuple[float, list[str]] = (-math.inf, [])
        for path in itertools.product(*slots):
            tags = [symbol.partition("␟")[0] for symbol, _ in path]
            value, history = 0.0, ["<s>"]
            for (symbol, weight), tag, (_, given), e in zip(path, tags, sentence, evidence, strict=True):
                known = {given: 1.0} if e is None else e
                value += -math.inf if known and tag not in known else weight + math.log(known.get(tag, 1.0))
                value += model.transitions.log_prob(symbol, history)
                history.append(symbol)
            value += model.transitions.log_prob("</s>", history)
            best = max(best, (value, tags))
        assert [t for _, t in done] == best[1]


def test_a_tagger_learns_from_gaps() -> None:
    partly = [[(w, "_" if (i + n) % 2 else t) for i, (w, t) in enumerate(s)] for n, s in enumerate(SENTENCES)]
    tagger = Tagger.train(partly, order=2)
    assert tagger.tags == ("D", "N", "V")
    assert tagger.tag("The cat barks").tags == ("D", "N", "V")
    with pytest.raises(ModelError, match="emissions context"):
        Tagger.train(partly, order=2, emissions="generative")


def test_a_tagger_without_one_annotated_sentence() -> None:
    soft = [[(w, {t: 0.8, "X": 0.2}) for w, t in s] for s in SENTENCES]
    tagger = Tagger.train(soft, order=2)
    assert tagger.tag("The cat barks").tags == ("D", "N", "V")
    assert tagger.knows("dog")


# Raw text


def test_words_of_one_class_are_tagged_alike() -> None:
    raw = [
        f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "zyx") for v in ("barks", "qrs")
    ]
    classes = word_classes(raw * 3, granularities=(3,))
    assert classes["zyx"] == classes["dog"] == classes["cat"]
    tagged = [
        [("the", "D"), ("dog", "N"), ("barks", "V")],
        [("barks", "V")],
        [("dog", "N")],
        [("the", "D")],
    ] * 5
    given = {"the": [0], "dog": [1], "zyx": [1], "barks": [2], "qrs": [2]}  # instead of the classes found
    with_classes = Tagger.train(tagged, order=1, floor=0.0, lexicalize=0, knowledge=Knowledge(given))
    without = Tagger.train(tagged, order=1, floor=0.0, lexicalize=0)
    for word, tag in (("zyx", "N"), ("qrs", "V")):
        more, less = (dict(t.marginals(word).slots[0])[tag] for t in (with_classes, without))
        assert more > 1.1 * less


def test_attributes_are_those_of_the_word_or_of_its_lower_case() -> None:
    table = WordAttributes(["dog", "Cat"], np.array([0, 2, 3], np.uint64), np.array([7, 8, 9], np.uint32))
    assert table.of("dog") == table.of("Dog") == [7, 8]
    assert table.of("Cat") == [9]
    assert table.of("cat") == []
    for words, begin in ((["dog", "dog"], [0, 1, 2]), (["dog"], [0, 3]), (["a", ""], [0, 1, 2])):
        with pytest.raises(ModelError):
            WordAttributes(words, np.array(begin, np.uint64), np.array([1, 2], np.uint32))


def test_training_with_raw_text_tells_its_trials(tmp_path: Path) -> None:
    raw = [[w for w, _ in s] for s in SENTENCES] + [["The", "zyx", "barks"]]
    trials: list[str] = []
    tagger = train_with_raw(SENTENCES, raw, on_trial=lambda t: trials.append(t.setting))
    assert len(trials) == 12 + len(THRESHOLDS)
    assert all(name.startswith("self-training from p ≥ 0.") for name in trials[-len(THRESHOLDS) :])
    assert sum("classes" in name for name in trials) == 6
    fixed = train_with_raw(SENTENCES, raw, TaggerOptions(order=2), choose=False)
    assert fixed.model.attributes is not None
    fixed.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model")
    assert loaded.marginals("The zyx sleeps") == fixed.marginals("The zyx sleeps")
    assert tagger.tag("The dog barks").certificate.exact


def test_self_training_keeps_the_tags_that_the_tagger_is_sure_of() -> None:
    tagger = Tagger.train(SENTENCES, order=2)
    raw = [["The", "zyx", "barks"], ["zork"]]
    found = best_tags(tagger, raw)
    for (words, best), sentence in zip(found, raw, strict=True):
        assert list(words) == sentence
        for pair, slot in zip(best, tagger.marginals(sentence).slots, strict=True):
            assert pair == max(slot, key=lambda one: one[1])
    threshold = found[0][1][1][1]  # of zyx
    labels = confident_labels(found, threshold)
    assert [w for w, _ in labels[0]] == raw[0]
    assert labels[0][1][1] == found[0][1][1][0]
    assert confident_labels(found, threshold + 1e-6)[0][1][1] == "_"
    assert all(tag == "_" for sentence in confident_labels(found, 1.1) for _, tag in sentence)


def test_self_training_is_taken_only_if_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Held-out tags decide: raw text that misleads every threshold is not learnt from."""
    text = training_text(SENTENCES * 2, TaggerOptions(order=2), NO_KNOWLEDGE)
    raw = [[w for w, _ in s] for s in SENTENCES]
    chosen, gains = raw_text._choose_threshold(text, raw, TaggerOptions(order=2), NO_KNOWLEDGE)
    assert list(gains) == list(THRESHOLDS)
    assert chosen is None or gains[chosen] == max(gains.values()) > 0
    answers = {0.8: (3, 5), 0.9: (5, 9), 0.95: (-1, 1)}
    monkeypatch.setattr(raw_text, "_try_thresholds", lambda *_: answers)
    assert raw_text._choose_threshold(text, raw, TaggerOptions(order=2), NO_KNOWLEDGE)[0] == 0.9
    answers |= {0.8: (0, 4), 0.9: (1, 900)}  # chance gives as much: 5 of 4,500
    assert raw_text._choose_threshold(text, raw, TaggerOptions(order=2), NO_KNOWLEDGE)[0] is None


# Dictionaries


def test_a_hard_dictionary_rules_out_what_it_does_not_list(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("zork\tV D\ndog\tV\n\nfrob\tN\n")
    dictionary = read_dictionary(str(tmp_path / "words.tsv"))
    assert dictionary["zork"] == ("V", "D")
    hard = Tagger.train(SENTENCES, order=2, knowledge=Knowledge(None, dictionary, True))
    assert {t for t, _ in hard.marginals("The zork barks").slots[1]} <= {"V", "D"}
    assert {t for t, _ in hard.marginals("The Zork barks").slots[1]} <= {"V", "D"}
    assert hard.tag("The dog barks").tags[1] == "N"  # listed or seen
    assert hard.tag("frob frob frob").tags == ("N", "N", "N")
    soft = Tagger.train(SENTENCES, order=2, knowledge=Knowledge(None, dictionary, False))
    assert "N" in {t for t, _ in soft.marginals("The zork barks").slots[1]}
    hard.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model").marginals("zork dog") == hard.marginals("zork dog")


def test_a_dictionary_says_what_words_without_a_tag_can_be() -> None:
    partly = [[(w, "_" if t == "V" else t) for w, t in s] for s in SENTENCES]
    dictionary = {w: (t,) for s in SENTENCES for w, t in s if t == "V"}
    tagger = Tagger.train(partly, order=2, knowledge=Knowledge(None, dictionary))
    assert tagger.tag("The cat barks").tags == ("D", "N", "V")


@pytest.mark.parametrize(
    ("content", "line"), [("dog N\n", 1), ("dog\tN\ndog\tV\n", 2), ("a\tN\nb\t\n", 2), ("a\t<s>\n", 1)]
)
def test_a_bad_dictionary_is_named_by_line(tmp_path: Path, content: str, line: int) -> None:
    (tmp_path / "words.tsv").write_text(content)
    with pytest.raises(FormatError) as error:
        read_dictionary(str(tmp_path / "words.tsv"))
    assert error.value.line == line


# Projected labels


def test_projected_labels_of_all_formats(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("le\tDET\t0.9\nchat\tNOUN\t0.6\n\ndort\t_\t0.3\n\n")
    rows = read_projected(str(tmp_path / "a.tsv"))
    assert rows[0][0][1] == pytest.approx({"DET": 0.9, "NOUN": 0.1})
    assert rows[1] == [("dort", {})]
    conllu = "1\tle\t_\tDET\t_\t_\t_\t_\t_\tSpaceAfter=No|Projected=0.9000\n\n"
    (tmp_path / "a.conllu").write_text(conllu)
    assert read_projected(str(tmp_path / "a.conllu"), column="upos")[0][0] == ("le", {"DET": 0.9})
    record = {"words": ["le"], "distributions": [{"DET": 0.7, "PRON": 0.3, "X": 0.0}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    assert read_projected(str(tmp_path / "a.jsonl")) == [[("le", {"DET": 0.7, "PRON": 0.3})]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "le\tDET\n\n", "no probability"),
        ("a.tsv", "le\tDET\t1.5\n\n", "no probability"),
        ("a.jsonl", "{}\n", "words and distributions"),
        ("a.txt", "le chat\n", "plain text"),
    ],
)
def test_bad_projections_are_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError, match=message):
        read_projected(str(tmp_path / name))


# Tags in parts


def rich(sentence: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(w, f"{t}|Case={'Up' if w[0].isupper() else 'Low'}|End={w[-1]}") for w, t in sentence]


def test_scores_of_tags_are_sums_over_their_parts(tmp_path: Path) -> None:
    sentences = [rich(s) for s in SENTENCES]
    tagger = Tagger.train(sentences, order=2, parts="yes", lexicalize=0, floor=0.0)
    assert has_parts(tagger.tags, tagger.model.options)
    assert tagger.model.context is not None
    assert tagger.model.context.part.max() < len({p for tag in tagger.tags for p in tag.split("|")})
    assert tagger.tag("The cats sleeps").tags[0] == "D|Case=Up|End=e"
    tagger.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model").marginals("The cats sleep") == tagger.marginals("The cats sleep")
    assert not has_parts(tagger.tags, TaggerOptions())  # few tags


def test_parts_that_do_not_fit_are_refused() -> None:
    assert TagParts(np.array([0, 2, 3], np.uint64), np.array([0, 1, 0], np.uint32)).num_parts == 2
    for begin, parts in (([0, 1, 1], [0]), ([0, 2], [0]), ([0, 1, 2], [1, 1])):
        with pytest.raises(ModelError, match="parts"):
            TagParts(np.array(begin, np.uint64), np.array(parts, np.uint32))


def test_texts_add_up() -> None:
    one, two = TrainingText([[("a", "N")]]), checked_text([[("b", "_"), ("c", "N")]])
    both = one + two
    assert both.gold() == [[("a", "N")], [("b", "_"), ("c", "N")]]
    assert both.select([1]).gold() == two.gold()
    assert (one + one).evidence == ()
