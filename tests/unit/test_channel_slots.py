"""The slots channel: what it says to each kind of bad record."""

import math

import pytest

from hiddenite.channel import Slots
from hiddenite.errors import ModelError
from tests.channel_oracle import unigram_model

CHANNEL = Slots(unigram_model(["the", "toe", "dog"]).vocabulary)


def test_a_record() -> None:
    candidates = CHANNEL(
        '{"id": "s1", "slots": [[["the", -0.1], ["toe", -2.3]], [["xyz", 1e-3], ["dog", null]], []]}'
    )
    assert candidates.id == "s1"
    assert [candidates.slot(i) for i in range(3)] == [
        [("the", -0.1), ("toe", -2.3)],
        [("xyz", 0.001), ("dog", -math.inf)],
        [],
    ]


@pytest.mark.parametrize(
    ("written", "read"), [('"s1"', "s1"), ("7", 7), ("-7", -7), ("null", None), ('""', None), ('"7"', "7")]
)
def test_ids_come_back_as_they_were(written: str, read: str | int | None) -> None:
    assert CHANNEL(f'{{"slots": [], "id": {written}}}').id == read


def test_escapes_and_other_keys() -> None:
    line = (
        r'{"x": {"slots": [1, true, {"id": null}]}, "slots": [[["\u00e9\ud83d\ude00\/\"", 0]]], "y": -1.5e+3}'
    )
    assert CHANNEL(line).words(0) == ['é😀/"']


def test_a_lattice() -> None:
    line = (
        '{"id": 3, "lattice": [[0, 2, "dog", -1], [1, 2, "toe", null], [0, 1, "xyz", 2], [0, 2, "the", -3]]}'
    )
    candidates = CHANNEL(line)
    assert candidates.id == 3
    assert candidates.spans == [(0, 1), (0, 2), (1, 2)]
    assert [candidates.slot(i) for i in range(3)] == [
        [("xyz", 2.0)],
        [("dog", -1.0), ("the", -3.0)],
        [("toe", -math.inf)],
    ]


def test_keep_keeps_the_order_given() -> None:
    channel = Slots(unigram_model({"the": -1.0, "toe": -0.5, "dog": -0.5}).vocabulary, keep=2)
    assert channel('{"slots": [[["xyz", -9], ["dog", -1], ["xx", 0], ["the", -8]]]}').words(0) == [
        "dog",
        "xx",
    ]
    assert channel('{"slots": [[["the", -1], ["dog", -1], ["toe", -1]]]}').words(0) == ["dog", "toe"]
    edges = '[[0, 1, "the", -1], [0, 1, "dog", -1], [1, 2, "the", 0], [0, 1, "toe", -1]]'
    assert [channel(f'{{"lattice": {edges}}}').words(i) for i in range(2)] == [["dog", "toe"], ["the"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[", "column 1: found '[', expected '{' and a record such as"),
        ("{", "column 2: found the end of the line, expected a key in quotes"),
        ('{"id": 1}', 'the record has no "slots", expected'),
        ('{"slots": 5}', "column 11: found '5', expected '[' and the list of slots"),
        ('{"slots": ["the"]}', "column 12: found '\"', expected '[' and a list of"),
        ('{"slots": [["the"]]}', "column 13: found '\"', expected '[' and a pair"),
        ('{"slots": [[["the"]]]}', "column 19: found ']', expected ',' and the word's log weight"),
        ('{"slots": [[["the" 1]]]}', "column 20: found '1', expected ','"),
        ('{"slots": [[["the", 1, 2]]]}', "column 22: found ',', expected ']' after the weight"),
        ('{"slots": [[[1, "the"]]]}', "column 14: found '1', expected a word in quotes"),
        (
            '{"slots": [[["the", NaN]]]}',
            "column 21: found 'NaN', expected a finite number as log weight; null",
        ),
        ('{"slots": [[["the", -Infinity]]]}', "column 21: found '-Infinity', expected a finite number"),
        ('{"slots": [[["the", "-1"]]]}', "column 21: found '\"', expected a finite number"),
        (
            '{"slots": [[["the", 1e999]]]}',
            "column 21: found '1e999', expected a number within a double's range",
        ),
        ('{"slots": [[["the", 01]]]}', "column 21: found '01', expected a finite number"),
        ('{"slots": [[["the", .5]]]}', "column 21: found '.5'"),
        ('{"slots": [[["the", 5.]]]}', "column 21: found '5.'"),
        ('{"slots": [[["the", +5]]]}', "column 21: found '+5'"),
        (
            '{"slots": [[["the", 0], ["the", 1]]]}',
            'column 26: found "the" twice in slot 1, expected each word once',
        ),
        ('{"slots": [[], [["é", 0], ["xé", 0], ["é", 1]]]}', 'column 39: found "é" twice in slot 2'),
        ('{"slots": [[["<s>", 0]]]}', "column 14: found <s>, which cannot be a candidate"),
        ('{"slots": [[["", 0]]]}', "column 14: found an empty word"),
        ('{"slots": [[["a b", 0]]]}', "column 14: found white space in a word"),
        ('{"slots": [[["a\\nb", 0]]]}', "column 14: found white space in a word"),
        ('{"slots": [[["a\tb", 0]]]}', "column 16: found '\t', expected an escape"),
        ('{"slots": [[["\\x", 0]]]}', "column 15: found '\\x', expected one of the escapes"),
        ('{"slots": [[["\\u12g4", 0]]]}', "column 15: found an incomplete \\u escape"),
        ('{"slots": [[["\\ud800", 0]]]}', "column 15: found half of a surrogate pair"),
        ('{"slots": [[["\\ude00", 0]]]}', "column 15: found half of a surrogate pair"),
        ('{"slots": [[["\\u0000", 0]]]}', "column 15: found \\u0000, expected text"),
        ('{"slots": [[["the', "column 18: found the end of the line, expected the '\"'"),
        ('{"slots": []} x', "column 15: found 'x', expected the end of the line; one record a line"),
        ('{"slots": [],}', "column 14: found '}', expected a key in quotes"),
        ('{"slots": [[["the", 0],]]}', "column 24: found ']', expected '[' and a pair"),
        ('{"slots": [], "slots": []}', 'column 15: found the key "slots" again, expected it once'),
        ('{"id": 1, "id": 2, "slots": []}', 'column 11: found the key "id" again'),
        ('{"id": 1.5, "slots": []}', "column 8: found '1.5', expected a string or an integer as id"),
        ('{"id": [1], "slots": []}', "column 8: found '[', expected a string or an integer as id"),
        ('{"x": ' + "[" * 100 + "]" * 100 + "}", "column 72: found '[', expected at most 64 lists"),
        ('{"x": nul}', "column 7: found 'nul', expected a JSON value"),
        ("slots", "column 1: found 'slots', expected '{'"),
        ('{"slots": [], "lattice": []}', 'the record has "slots" and a "lattice", expected one of them'),
        ('{"lattice": [], "lattice": []}', 'column 17: found the key "lattice" again'),
        ('{"lattice": [0]}', "column 14: found '0', expected '[' and an edge"),
        ('{"lattice": [[-1, 1, "the", 0]]}', "column 15: found '-1', expected the number of a node"),
        ('{"lattice": [[0, 1.0, "the", 0]]}', "column 18: found '1.0', expected the number of a node"),
        ('{"lattice": [[0, 99999999999, "the", 0]]}', "column 18: found '99999999999', expected the number"),
        ('{"lattice": [[0, 1, the, 0]]}', "column 21: found 'the', expected a word in quotes"),
        ('{"lattice": [[0, 1, "the"]]}', "column 26: found ']', expected ',' and the word's log weight"),
        (
            '{"lattice": [[0, 1, "the", 0], [1, 1, "dog", 0]]}',
            "edge 2: found one from node 1 to node 1, expected nodes numbered so that edges lead upwards",
        ),
        (
            '{"lattice": [[0, 4000000000, "the", 0]]}',
            "edge 1: found node 4000000000 among 1 edges, expected nodes numbered 0, 1, 2 and so on",
        ),
        (
            '{"lattice": [[0, 1, "the", 0], [0, 1, "toe", 0], [0, 1, "the", -1]]}',
            'edge 3: found "the" from node 0 to node 1 again, expected it once',
        ),
        ('{"lattice": [[0, 1, "</s>", 0]]}', "edge 1: found </s>, which cannot be a candidate"),
    ],
)
def test_bad_records_are_refused(line: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        CHANNEL(line)
    assert str(caught.value).startswith(message)
