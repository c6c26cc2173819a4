"""The slots channel's JSON against Python's, on records as they should be and on damaged ones."""

import json
import math
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from hiddenite.candidates import Candidates
from hiddenite.channel import Slots
from hiddenite.errors import ModelError
from tests.channel_oracle import unigram_model

VOCABULARY = unigram_model(["the", "toe", "dog", "é"]).vocabulary
CHANNEL = Slots(VOCABULARY)

Slot = list[tuple[str, float]]

characters = st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp"))
words = st.sampled_from(["the", "toe", "dog", "é", "<unk>", '"', "\\", "😀"]) | st.text(
    characters, min_size=1
)
weights = st.floats(allow_nan=False, allow_infinity=False) | st.just(-math.inf) | st.integers(-9, 9)
slots = st.dictionaries(words.filter(lambda w: w not in ("<s>", "</s>")), weights, max_size=5)
ids = st.text(characters) | st.integers(-(10**60), 10**60) | st.none()
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(characters),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(characters), inner, max_size=3),
    max_leaves=5,
)


def pairs(slot: dict[str, float]) -> list[list[Any]]:
    return [[word, None if weight == -math.inf else weight] for word, weight in slot.items()]


records = st.builds(
    lambda name, lists, extra: extra | {"id": name, "slots": [pairs(slot) for slot in lists]},
    ids,
    st.lists(slots, max_size=4),
    st.dictionaries(st.text(characters), anything, max_size=2),
)
lines = st.builds(
    json.dumps,
    records,
    ensure_ascii=st.booleans(),
    sort_keys=st.booleans(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
)


def as_slots(candidates: Candidates) -> list[Slot]:
    return [candidates.slot(position) for position in range(len(candidates))]


@given(records, st.booleans())
def test_a_record_is_read_as_it_was_written(record: dict[str, Any], ensure_ascii: bool) -> None:
    candidates = CHANNEL(json.dumps(record, ensure_ascii=ensure_ascii))
    expected = [
        [(word, -math.inf if weight is None else float(weight)) for word, weight in slot]
        for slot in record["slots"]
    ]
    assert as_slots(candidates) == expected
    assert candidates.id == (record["id"] if record["id"] != "" else None)
    assert type(candidates.id) is type(candidates.id if record["id"] == "" else record["id"])
    again = Candidates.from_slots(VOCABULARY, expected, candidates.id)
    assert as_slots(again) == expected
    assert again.word_ids.tolist() == candidates.word_ids.tolist()
    assert again.begin.tolist() == candidates.begin.tolist()


# Python's parser as a second opinion on damaged records


class Refused(Exception):
    pass


class Object(list[tuple[str, Any]]):
    """A JSON object with its keys as they came."""


def check_text(text: str) -> None:
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text):
        raise Refused


def check_strings(value: object) -> None:
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, Object):
        for key, inner in value:
            check_text(key)
            check_strings(inner)
    elif isinstance(value, list):
        for inner in value:
            check_strings(inner)


class TooSmall(float):
    """A number that is not zero but becomes it as a double."""


def parse_number(text: str) -> float:
    digits = text.lower().partition("e")[0]
    return TooSmall() if float(text) == 0.0 and digits.strip("-0.") else float(text)


def reference_slot(slot: object) -> Slot:
    if not isinstance(slot, list) or isinstance(slot, Object):
        raise Refused
    result: Slot = []
    for pair in slot:
        match pair:
            case [str(word), None | int() | float() as weight] if not isinstance(pair, Object):
                if isinstance(weight, bool | TooSmall) or word in ("", "<s>", "</s>", *dict(result)):
                    raise Refused
                if any(space in word for space in " \t\r\v\f\n"):
                    raise Refused
                value = -math.inf if weight is None else float(weight)
                if weight is not None and not math.isfinite(value):
                    raise Refused
                result.append((word, value))
            case _:
                raise Refused
    return result


def refuse_constant(_: str) -> float:
    raise Refused


def reference(line: str) -> list[Slot] | None:
    """The slots by Python's parser and the rules of the format; None if they refuse the line."""
    try:
        if not line.strip(" \t\r\n"):
            return []
        record = json.loads(
            line, object_pairs_hook=Object, parse_constant=refuse_constant, parse_float=parse_number
        )
        if not isinstance(record, Object):
            return None
        check_strings(record)
        keys = [key for key, _ in record]
        if keys.count("slots") != 1 or keys.count("id") > 1:
            return None
        name = dict(record).get("id")
        if isinstance(name, bool | float | list) or (isinstance(name, int) and abs(name) >= 10**63):
            return None
        lists = dict(record)["slots"]
        if not isinstance(lists, list) or isinstance(lists, Object):
            return None
        return [reference_slot(slot) for slot in lists]
    except (Refused, ValueError, OverflowError):
        return None


@st.composite
def damaged_lines(draw: st.DrawFn) -> str:
    line = draw(lines)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(line)))
        cut = draw(st.integers(0, 2))
        patch = draw(st.text('[]{},:"\\u08deE.+-1nulNaI \té\x01', max_size=2))
        line = line[:place] + patch + line[place + cut :]
    return line


@given(damaged_lines())
def test_damage_is_refused_exactly_when_it_should_be(line: str) -> None:
    expected = reference(line)
    try:
        found: list[Slot] | None = as_slots(CHANNEL(line))
    except ModelError:
        found = None
    assert found == expected, line


@given(st.text())
def test_no_text_is_too_strange(line: str) -> None:
    try:
        assert as_slots(CHANNEL(line)) == reference(line)
    except ModelError:
        assert reference(line) is None or "\x00" in line
