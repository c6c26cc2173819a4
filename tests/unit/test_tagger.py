"""Options, guards, model files and scores of the tagger."""

import json
import math
from pathlib import Path

import pytest

from hiddenite import FormatError, ModelError, Tagger, TaggerOptions, UnknownSymbolError
from hiddenite._core import LogLinearGuesser, SuffixGuesser, lower_case
from hiddenite.files.container import write_members
from hiddenite.query import MethodName
from hiddenite.tag import OrderTrial, Tagged, score
from hiddenite.tag.evaluation import plot_reliability
from tests.archives import members_of
from tests.tag_oracle import small_options

SENTENCES = [
    [("The", "DT"), ("dog", "NN"), ("barks", "VBZ"), (".", ".")],
    [("A", "DT"), ("cat", "NN"), ("sleeps", "VBZ"), (".", ".")],
    [("The", "DT"), ("old", "JJ"), ("dog", "NN"), ("sleeps", "VBZ"), ("here", "RB"), (".", ".")],
    [("Cats", "NNS"), ("like", "VBP"), ("dogs", "NNS"), (".", ".")],
] * 3


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger.train(SENTENCES, order=3, lexicalize=3)


def test_a_sentence_is_tagged(tagger: Tagger) -> None:
    found = tagger.tag("The old cat barks .")
    assert found.tags == ("DT", "JJ", "NN", "VBZ", ".")
    assert list(found)[2] == ("cat", "NN")
    assert found.certificate.exact
    assert found.to_dict().keys() == {"id", "words", "tags", "log_weight", "certificate"}
    assert tagger.tag(["The", "old", "cat", "barks", "."]) == found


@pytest.mark.parametrize("guesser", ["suffix", "log-linear"])
def test_any_word_gets_tags(guesser: str) -> None:
    tagger = Tagger.train_with(SENTENCES, small_options(guesser=guesser))
    words = ["Ωμέγα", "☃", "<unk>", "<s>", "-", "1,000.5", "THE", "x" * 10_000]
    found = tagger.tag(words)
    assert len(found.tags) == len(words)
    assert all(sum(p for _, p in slot) == pytest.approx(1) for slot in tagger.marginals(words).slots)


def test_words_that_are_no_strings_are_refused(tagger: Tagger) -> None:
    with pytest.raises(ModelError, match="expected words that are strings"):
        tagger.tag([1, 2])  # type: ignore[list-item]


def test_an_empty_sentence_stays(tagger: Tagger) -> None:
    found = list(tagger.tag_many(["", "The dog .", []]))
    assert [len(getattr(f, "tags", "x")) for f in found] == [0, 3, 0]


def test_all_methods_and_threads_agree(tagger: Tagger) -> None:
    sentences = [[w for w, _ in s] for s in SENTENCES] + [["Foo", "bars", "the", "old", "baz"]]
    expected = [getattr(f, "tags", None) for f in tagger.tag_many(sentences, threads=1)]
    methods: list[MethodName] = ["refine", "paper", "full", "dominance"]
    for method in methods:
        found = tagger.tag_many(sentences, method=method, threads=2)
        assert [getattr(f, "tags", None) for f in found] == expected


def test_many_candidates_go_to_the_engine() -> None:
    tags = [f"T{i}" for i in range(40)]
    sentences = [[(f"w{i}", t), (f"v{i}", tags[i * 7 % 40])] for i, t in enumerate(tags)]
    tagger = Tagger.train_with(sentences, small_options(floor=0.0, lexicalize=0))
    words = ["unseen", "words", "in", "a", "row"]
    (found,) = tagger.tag_many([words])
    assert isinstance(found, Tagged)
    assert found.certificate.exact
    assert found.certificate.method == "dominance"
    methods: list[MethodName] = ["full", "refine"]
    for method in methods:
        other = tagger.tag(words, method=method)
        assert other.log_weight == pytest.approx(found.log_weight, abs=1e-9)


@pytest.mark.parametrize("word", ["", "a b", "\ud800"])
def test_bad_words_are_told(tagger: Tagger, word: str) -> None:
    with pytest.raises((ModelError, UnicodeEncodeError)):
        tagger.tag(["The", word])
    with pytest.raises((ModelError, UnicodeEncodeError)):
        tagger.marginals(["The", word])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"order": 0}, "order is 0, expected 1 to 9"),
        ({"order": 10}, "order is 10, expected 1 to 9"),
        ({"transitions": "katz"}, "transitions is 'katz', expected kneser-ney or deleted-interpolation"),
        ({"guesser": "sufix"}, "guesser is 'sufix', expected .*; did you mean suffix"),
        ({"floor": 1.0}, "floor is 1.0, expected at least 0, below 1"),
        ({"guess_weight": -1}, "guess_weight is -1, expected at least 0"),
        ({"rare": 0}, "rare is 0, expected at least 1"),
        ({"theta": math.nan}, "theta is nan"),
    ],
)
def test_bad_options_are_told(options: dict[str, object], error: str) -> None:
    with pytest.raises((ModelError, UnknownSymbolError), match=error):
        TaggerOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentences", "error"),
    [
        ([], "no tagged word"),
        ([[]], "no tagged word"),
        ([[("a", "</s>")]], "reserved"),
        ([[("a", "x y")]], "without white space"),
        ([[("a", "x␟y")]], "without ␟"),
        ([[("a b", "x")]], "contains white space"),
        ([[("", "x")]], "is empty"),
    ],
)
def test_bad_training_text_is_told(sentences: list[list[tuple[str, str]]], error: str) -> None:
    with pytest.raises(ModelError, match=error):
        Tagger.train(sentences)


def test_the_order_is_chosen_on_held_out_sentences() -> None:
    trials: list[OrderTrial] = []
    tagger = Tagger.train(
        SENTENCES, order="auto", max_order=4, on_trial=trials.append, emissions="generative"
    )
    assert [t.order for t in tagger.trials] == [2, 3, 4]
    assert list(tagger.trials) == trials
    assert tagger.order == max(trials, key=lambda t: (t.accuracy, -t.order)).order
    with pytest.raises(ModelError, match="expected at least 10"):
        Tagger.train(SENTENCES[:5], order="auto", emissions="generative")


# Guessers


def test_a_log_linear_guess_learns_what_it_sees() -> None:
    rows = [(f"w{i}ing", False, [(0, 1.0)]) for i in range(20)]
    rows += [(f"w{i}ly", False, [(1, 1.0)]) for i in range(20)]
    guesser = LogLinearGuesser.train(2, rows, 20, 0.3, 0.1, 2, 1)
    for word, tag in (("frobbing", 0), ("frobly", 1)):
        probs = [math.exp(p) for p in guesser.guess(word, False)]
        assert sum(probs) == pytest.approx(1)
        assert probs[tag] > 0.9
    again = LogLinearGuesser.train(2, rows, 20, 0.3, 0.1, 2, 1)
    assert (again.weights == guesser.weights).all()


def test_features_of_a_word() -> None:
    (row,) = [("Ab-1", True, [(0, 1.0)])]
    found = set(LogLinearGuesser.train(1, [row, row], 0, 0.3, 1.0, 1, 1).features)
    assert {"b", "s1", "s-1", "sb-1", "sab-1", "pa", "pab", "pab-", "pab-1"} <= found
    assert {"c1", "c11", "c1-1", "c1b-1", "hAa-0", "eAa-0", "y1", "u", "d"} <= found
    assert len(found) == 18


@pytest.mark.parametrize(
    ("word", "first", "expected"),
    [
        ("dog", False, "a"),
        ("Dog", False, "A"),
        ("Dog", True, "1"),
        ("DOG", True, "C"),
        ("I", False, "A"),
        ("4x", False, "0"),
        ("x-y", False, "-"),
        ("Éa", False, "A"),
        ("Я", False, "A"),
        ("U.S.", False, "C"),
    ],
)
def test_classes_of_words(word: str, first: bool, expected: str) -> None:
    assert SuffixGuesser.class_of(word, first, True) == expected


def test_lower_case_is_that_of_python() -> None:
    ranges = [range(0x20, 0x180), range(0x391, 0x3CA), range(0x400, 0x460), range(0x531, 0x557)]
    letters = [chr(c) for r in ranges for c in r if len(chr(c).lower()) == 1]
    assert len(letters) > 450
    assert [lower_case(c) for c in letters] == [c.lower() for c in letters]


# Model files


def test_a_model_file_is_the_same_tagger(tmp_path: Path, tagger: Tagger) -> None:
    for options in (
        TaggerOptions(epochs=2),
        TaggerOptions.tnt(order=4),
        small_options(guesser="suffix", shapes=True),
    ):
        trained = Tagger.train_with(SENTENCES, options)
        trained.save(tmp_path / "a")
        loaded = Tagger.load(tmp_path / "a")
        loaded.save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        words = ["The", "dogs", "bark", "Zzz", "."]
        assert loaded.tag(words) == trained.tag(words)
        assert loaded.marginals(words) == trained.marginals(words)
        assert loaded.model.options == options


def damage(source: Path, target: Path, name: str, content: bytes | None) -> Path:
    """A copy of a model with one member changed, or left out."""
    members = members_of(source)
    del members[name]
    with target.open("wb") as out:
        changed = [] if content is None else [(name, content)]
        write_members(out, [*members.items(), *changed], compress=False)
    return target


def test_damaged_model_files_are_refused(tmp_path: Path, tagger: Tagger) -> None:
    good = tmp_path / "good"
    tagger.save(good)
    members = members_of(good)
    header, begin = json.loads(members["header.json"]), members["begin.npy"]
    bad = tmp_path / "bad"
    for name in members:
        for content in (None, b"", b"\xff\0", b"[1]"):
            with pytest.raises(FormatError, match="expected"):
                Tagger.load(damage(good, bad, name, content))
    with pytest.raises(FormatError, match="expected"):
        Tagger.load(damage(good, bad, "tag.npy", begin))
    with pytest.raises(FormatError, match="has version 99, expected 1"):
        Tagger.load(damage(good, bad, "header.json", json.dumps(header | {"version": 99}).encode()))
    fewer = json.dumps(header | {"tags": header["tags"][:2]}).encode()
    with pytest.raises(FormatError):
        Tagger.load(damage(good, bad, "header.json", fewer))
    for size in (0, 10, 500, good.stat().st_size - 10):
        bad.write_bytes(good.read_bytes()[:size])
        with pytest.raises(
            FormatError, match=r"cut (off|short).*; expected a file that `hiddenite tag train`"
        ):
            Tagger.load(bad)
    with pytest.raises(FormatError, match="cannot be opened"):
        Tagger.load(tmp_path / "none")
    with pytest.raises(FormatError, match="is a directory"):
        Tagger.load(tmp_path)


# Scores


def test_a_score_counts_by_kind(tagger: Tagger) -> None:
    zog = tagger.tag("The zog barks .").tags[1]
    gold = [
        [("The", "DT"), ("dog", "NN"), ("barks", "VBZ"), (".", ".")],
        [],
        [("The", "DT"), ("zog", zog), ("barks", "XX"), (".", ".")],
    ]
    found = score(tagger, gold)
    assert (found.tokens, found.sentences, found.certified) == (8, 2, 2)
    assert found.known_tokens == 7
    assert found.unseen_tags == 1
    assert found.confusions[0] == ("XX", "VBZ", 1)
    assert found.sentence == 0.5
    assert found.accuracy == pytest.approx(7 / 8)
    assert sum(b.tokens for b in found.bins) == 8
    assert 0 <= (found.calibration_error or 0) <= 1
    assert score(tagger, gold, calibration=False).calibration_error is None
    assert score(tagger, gold, objective="mbr").tokens == 8


def test_calibration_error_by_hand(tagger: Tagger) -> None:
    gold = [s for s in SENTENCES if len(s) == 4]
    found = score(tagger, gold)
    total = 0.0
    groups: dict[int, list[tuple[bool, float]]] = {}
    for sentence in gold:
        words = [w for w, _ in sentence]
        best, slots = tagger.tag(words), tagger.marginals(words).slots
        for tag, slot, (_, right) in zip(best.tags, slots, sentence, strict=True):
            p = dict(slot)[tag]
            groups.setdefault(min(int(p * 20), 19), []).append((tag == right, p))
    for rows in groups.values():
        total += abs(sum(r for r, _ in rows) - sum(p for _, p in rows))
    assert found.calibration_error == pytest.approx(total / found.tokens)


def test_nothing_to_score(tagger: Tagger) -> None:
    found = score(tagger, [])
    assert found.accuracy is None
    assert found.calibration_error is None
    assert found.to_dict()["tokens"] == 0


def test_a_plot_is_drawn(tmp_path: Path, tagger: Tagger) -> None:
    pytest.importorskip("matplotlib")
    plot_reliability(score(tagger, SENTENCES), str(tmp_path / "x.png"))
    assert (tmp_path / "x.png").stat().st_size > 1000
