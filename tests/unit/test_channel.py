"""What all channels share: candidates from Python data, names, limits, refusals."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiddenite.candidates import Candidates
from hiddenite.channel import (
    CHANNEL_NAMES,
    Confusion,
    Keypad,
    Slots,
    Typo,
    channel_from_name,
    encoder_from_name,
)
from hiddenite.errors import HiddeniteError, ModelError, UnknownSymbolError
from tests.channel_oracle import unigram_model
from tests.models import without_warnings

VOCABULARY = unigram_model(["the", "toe", "dog", "fog", "a"]).vocabulary


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "ocr.tsv"
    path.write_text("rn\tm\t0.01\n", encoding="utf-8")
    return str(path)


# Candidates


def test_slots_are_arrays_and_words() -> None:
    candidates = Candidates.from_slots(
        VOCABULARY, [[("the", -0.1), ("xx", -2)], [], [("yy", 0.0), ("<unk>", -1), ("zz", -math.inf)]], "s1"
    )
    assert len(candidates) == 3
    assert candidates.id == "s1"
    assert candidates.begin.tolist() == [0, 2, 2, 5]
    assert candidates.word_ids.tolist() == [VOCABULARY.id("the"), 0, 0, 0, 0]
    assert candidates.log_weights.tolist() == [-0.1, -2.0, 0.0, -1.0, -math.inf]
    assert candidates.spellings == {1: "xx", 2: "yy", 4: "zz"}
    assert [candidates.words(i) for i in range(3)] == [["the", "xx"], [], ["yy", "<unk>", "zz"]]
    assert candidates.slot(0) == [("the", -0.1), ("xx", -2.0)]
    types = [array.dtype.name for array in (candidates.begin, candidates.word_ids, candidates.log_weights)]
    assert types == ["uint64", "uint32", "float64"]


def test_candidates_cannot_be_changed() -> None:
    candidates = Candidates.from_slots(VOCABULARY, [[("the", -0.1)]])
    with pytest.raises(AttributeError):
        candidates.vocabulary = VOCABULARY  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        candidates.log_weights[0] = 0.0


def test_arrays_outlive_their_candidates() -> None:
    weights = Keypad(VOCABULARY)("843 364").log_weights
    assert len(weights) == 8
    assert np.isfinite(weights).all()


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ([[("the", 0.0), ("the", 1.0)]], 'position 1: found "the" twice, expected each word once'),
        ([[], [("xx", 0.0), ("a", 0.0), ("xx", 1.0)]], 'position 2: found "xx" twice'),
        (
            [[("a", math.nan)]],
            'position 1: found the log weight nan of "a", expected a finite number or -inf',
        ),
        ([[("a", math.inf)]], "position 1: found the log weight inf"),
        ([[("<s>", 0.0)]], "position 1: found <s>, which cannot be a candidate: sentence ends are added"),
        ([[("a", 0.0)], [("</s>", 0.0)]], "position 2: found </s>"),
        ([[("", 0.0)]], "position 1: found an empty word"),
        ([[("a b", 0.0)]], "position 1: found white space in a word"),
        ([[("\ud800", 0.0)]], r"position 1: column 1: found '\ud800', expected Unicode text"),
    ],
)
def test_bad_slots_are_refused(slots: list[list[tuple[str, float]]], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        Candidates.from_slots(VOCABULARY, slots)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("position", [-1, 1])
def test_a_position_that_is_not_there(position: int) -> None:
    with pytest.raises(IndexError):
        Candidates.from_slots(VOCABULARY, [[("a", 0.0)]]).words(position)


# Names


def test_names_give_channels(table: str) -> None:
    assert isinstance(channel_from_name("keypad", VOCABULARY), Keypad)
    assert isinstance(channel_from_name("typo", VOCABULARY, distance=1, ambiguity=None), Typo)
    assert isinstance(channel_from_name("slots", VOCABULARY, keep=3), Slots)
    assert isinstance(channel_from_name(f"confusion:{table}", VOCABULARY, beam=3.0), Confusion)


def test_options_reach_the_channel() -> None:
    flat = channel_from_name("keypad", VOCABULARY, ambiguity=0.0, keep=2)("843")
    assert flat.words(0) == ["the", "toe"]
    assert flat.log_weights == pytest.approx([-3 * math.log(10)] * 2)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("kepad", ("keypad",)),
        ("Typo", ("typo",)),
        ("confusions:x", ("confusion:FILE",)),
        ("morse", CHANNEL_NAMES),
        ("", CHANNEL_NAMES),
    ],
)
def test_an_unknown_name_is_told_the_near_ones(name: str, near: tuple[str, ...]) -> None:
    with pytest.raises(UnknownSymbolError, match="unknown channel") as caught:
        channel_from_name(name, VOCABULARY)
    assert caught.value.near == near


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("confusion", {}, "the channel is 'confusion', expected the table's file too: confusion:FILE"),
        ("confusion:", {}, "expected the table's file too"),
        ("keypad:x", {}, "the channel is 'keypad:x', expected 'keypad': it takes no file"),
        ("slots", {"ambiguity": 3.0}, "the channel slots has no option 'ambiguity', expected keep"),
        ("keypad", {"beam": 3.0}, "the channel keypad has no option 'beam', expected ambiguity or keep"),
    ],
)
def test_a_name_that_does_not_fit_is_refused(name: str, options: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        channel_from_name(name, VOCABULARY, **options)
    assert message in str(caught.value)


def test_names_give_encoders(table: str) -> None:
    assert encoder_from_name("keypad", ambiguity=3.0).encode("a dog!") == "2 3640"
    assert encoder_from_name("typo").encode("a  dog!") == "a dog!"
    assert encoder_from_name(f"confusion:{table}").encode("modern") == "modern"
    with pytest.raises(ModelError, match="the channel slots cannot encode text"):
        encoder_from_name("slots")
    with pytest.raises(ModelError, match="the channel typo has no ambiguity"):
        encoder_from_name("typo", ambiguity=1.0)


# Limits


@pytest.mark.parametrize("keep", [0, -1])
def test_keep_is_at_least_one(keep: int, table: str) -> None:
    message = f"keep is {keep}, expected at least 1 candidate a position"
    with pytest.raises(ModelError, match=message):
        Keypad(VOCABULARY, keep=keep)
    with pytest.raises(ModelError, match=message):
        Typo(VOCABULARY, keep=keep)
    with pytest.raises(ModelError, match=message):
        Confusion(VOCABULARY, table, keep=keep)
    with pytest.raises(ModelError, match=message):
        Slots(VOCABULARY, keep=keep)


@pytest.mark.parametrize("name", ["keypad", "typo", "slots"])
@pytest.mark.parametrize("line", ["", " ", "\t \r\n"])
def test_an_empty_line_is_an_empty_record(name: str, line: str) -> None:
    candidates = channel_from_name(name, VOCABULARY)(line)
    assert len(candidates) == 0
    assert candidates.id is None


@pytest.mark.parametrize("name", ["keypad", "typo", "slots"])
def test_text_that_is_none_is_refused(name: str) -> None:
    channel = channel_from_name(name, VOCABULARY)
    with pytest.raises(ModelError, match=r"column 3: found '\\ud800', expected Unicode text"):
        channel("a \ud800")
    with pytest.raises(ModelError, match="column 3: found a NUL byte, expected text"):
        channel("é \0")


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_seeds_have_64_bits(seed: int) -> None:
    with pytest.raises(ModelError, match="expected 0 to 2\\^64 - 1"):
        Keypad(VOCABULARY).encode("a", seed=seed)


def test_encoders_refuse_what_is_no_text() -> None:
    encoder = encoder_from_name("keypad")
    with pytest.raises(HiddeniteError, match=r"<text>:1: column 2: found a byte that is not UTF-8"):
        encoder.encode_text(b"a\xff", None, "<text>")
    with pytest.raises(ModelError, match="expected Unicode text"):
        encoder.encode("\udc00")


def test_a_channel_outlives_its_model() -> None:
    channel = Typo(unigram_model(["word"]).vocabulary)
    candidates = channel("wrod")
    assert candidates.words(0) == ["wrod", "word"]


# The manual


def test_the_manuals_examples_run() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "channels.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", manual, flags=re.MULTILINE | re.DOTALL)
    assert len(examples) == 4
    names: dict[str, Any] = {}
    with without_warnings():
        for example in examples:
            exec(example, names)
    assert names["channel"].encode("the dog barks") == "843 364 22757"
    assert names["candidates"].words(1)[:2] == ["the", "dog"]
    record = re.search(r"^```json\n(.*?)^```$", manual, flags=re.MULTILINE | re.DOTALL)
    assert record
    assert Slots(VOCABULARY)(record[1]).words(1) == ["dog", "Rex"]


# Noise by line


def test_a_line_has_its_own_noise() -> None:
    encoder = encoder_from_name("keypad", ambiguity=1.0)
    text = "\n".join(["many words that are the same"] * 5).encode() + b"\n"
    whole = encoder.encode_text(text, 7, "<text>").splitlines()
    assert len(set(whole)) == 5
    rest = encoder.encode_text(text[text.index(b"\n") + 1 :], 7, "<text>", first_line=2).splitlines()
    assert whole[1:] == rest
    assert encoder.encode("many words that are the same", seed=7).encode() == whole[0]
    assert encoder.encode_text(text, 8, "<text>").splitlines() != whole
