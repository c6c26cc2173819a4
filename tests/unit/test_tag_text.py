"""Plain text cut into words and sentences, and the sentences that are suggested for annotation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Tagger
from hiddenite.segments import Segmenter, sentences, words
from hiddenite.tag.formats import write_record
from hiddenite.tag.plain_text import glued_words, text_records
from hiddenite.tag.suggestion import HALF, READING, suggest
from tests.strategies import examples

SENTENCES = [
    [("The", "D"), ("dog", "N"), ("barks", "V")],
    [("A", "D"), ("cat", "N"), ("sleeps", "V")],
    [("Dogs", "N"), ("bark", "V")],
] * 4


def cut(text: str, known: tuple[str, ...] = ()) -> list[str]:
    return [text[a:b] for a, b in Segmenter(known).words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.5 dogs, U.S.A. (x)...", ["3.5", "dogs", ",", "U.S.A", ".", "(", "x", ")", "..."]),
        ("https://x.org/a. a@b.org :)", ["https://x.org/a", ".", "a@b.org", ":)"]),
        ("我们在。", ["我", "们", "在", "。"]),
        ("カタカナと", ["カタカナ", "と"]),
        ("हिन्दी में है।", ["हिन्दी", "में", "है", "।"]),
        ("Ẹ̀kọ́ e\u0323\u0300", ["Ẹ̀kọ́", "e\u0323\u0300"]),
        ("كيف حالك؟", ["كيف", "حالك", "؟"]),
        ("well-known", ["well", "-", "known"]),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_known_words_say_where_to_cut() -> None:
    known = ("Mr.", "do", "n't", "'s", "dog", "l'", "well-known")
    assert cut("Mr. X don't dog's l'homme well-known", known) == [
        "Mr.", "X", "do", "n't", "dog", "'s", "l'", "homme", "well-known",
    ]  # fmt: skip


@examples(1)
@given(st.text(max_size=60))
def test_no_character_is_lost(text: str) -> None:
    for spans in (words(text), Segmenter(("a'b", "a.", "x-y", "'s", "n't")).words(text)):
        place = 0
        for start, end in spans:
            assert place <= start < end
            assert not text[place:start].strip()
            place = end
        assert not text[place:].strip()
        assert [i for a, b in sentences(text, spans) for i in range(a, b)] == list(range(len(spans)))


def test_plain_text_becomes_conllu_with_places() -> None:
    text = "The dog barks.  It\nsleeps!"
    records = list(text_records(text, Segmenter()))
    assert [r.words for r in records] == [("The", "dog", "barks", "."), ("It", "sleeps", "!")]
    assert [r.line for r in records] == [1, 1]
    out = write_record(records[0], ["D", "N", "V", "P"], "conllu", "upos")
    assert "# text = The dog barks.\n" in out
    assert "3\tbarks\t_\tV\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=8:13\n" in out
    for record in records:
        for line, word in zip(record.lines[2:], record.words, strict=True):
            begin, end = line.rpartition("TokenRange=")[2].split(":")
            assert text[int(begin) : int(end)] == word


def test_glued_punctuation_is_found() -> None:
    records = list(text_records("a b", Segmenter()))
    assert glued_words(records, frozenset()) == []
    glued = [type(records[0])(("dog.", "Mr.", "...", "is"), (), 1)]
    assert glued_words(glued, frozenset(["Mr."])) == ["dog."]


def test_suggestions_are_the_greedy_choice() -> None:
    """Against gains computed anew for every sentence at every step."""
    tagger = Tagger.train(SENTENCES, order=2)
    text = [s.split() for s in ("zork dog", "The zork", "The dog barks", "blah blah zork A", "The dog barks")]
    doubt = [[1 - max(p for _, p in slot) for slot in tagger.marginals(s).slots] for s in text]
    total: dict[str, float] = {}
    for sentence, row in zip(text, doubt, strict=True):
        for word, u in zip(sentence, row, strict=True):
            total[word] = total.get(word, 0.0) + u
    found = list(suggest(tagger, text, 10))
    assert len(found) == 4  # one is there twice
    asked: dict[str, int] = {}
    left = {0, 1, 2, 3}
    for one in found:
        number = 2 if one.number == 4 else one.number  # the same sentence
        gains = {n: sum(total[w] * HALF ** asked.get(w, 0) for w in set(text[n])) for n in left}
        best = max(gains[n] / (len(text[n]) + READING) for n in left)
        assert gains[number] / (len(one.words) + READING) == pytest.approx(best)
        assert one.gain == pytest.approx(gains[number])
        assert one.expected_errors == pytest.approx(sum(doubt[number]))
        left.remove(number)
        for w in set(one.words):
            asked[w] = asked.get(w, 0) + 1
    assert len(list(suggest(tagger, text, 2))) == 2
