"""Restored text against every way to restore it, tried one by one."""

import itertools
import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hiddenite import Failure, Model
from hiddenite.errors import ModelError, OptionError
from hiddenite.restore import Folding, Restorer, evaluate, train_restorer
from hiddenite.restore.folding import parse_what

# So small a text has too few counts for the discounts.
pytestmark = pytest.mark.filterwarnings("ignore::hiddenite.errors.HiddeniteWarning")
PATTERNS = [
    "The old dog barks .",
    "Does Rex bark , or does Ana ?",
    "Ana , the cat , sleeps .",
    "Rex sees the Old Town .",
    "It was él , not el .",
    "The el stops .",
]


def text(seed: int, size: int) -> list[str]:
    return random.Random(seed).choices(PATTERNS, k=size)


def trained(what: str, size: int = 30, **options: int) -> Restorer:
    lines = text(7, size)
    return train_restorer(lambda: lines, parse_what(what), 3, max_events=options.get("max_events", 1))


def ways(restorer: Restorer, seen: str) -> Iterator[tuple[str, float]]:
    """Every restoration of a line with its log weight, by definition."""
    entries = [entry for entry in restorer.entries if entry.form]
    events = [entry.spelling for entry in restorer.entries if not entry.form]
    most = restorer.max_events if events else 0
    gaps = [run for n in range(most + 1) for run in itertools.product(events, repeat=n)]

    forms = {entry.form for entry in entries}
    joined = "spaces" in restorer.folding.what

    def words(rest: str) -> Iterator[list[tuple[str, str, float]]]:
        if not rest:
            yield []
        for n in range(1, len(rest) + 1 if joined else 0):  # what the lexicon lacks, a letter at a price
            for kind, weight in restorer.kinds if rest[:n] not in forms else ():
                spelled = {"<title>": str.capitalize, "<upper>": str.upper}.get(kind, str)(rest[:n])
                for after in words(rest[n:]):
                    yield [(spelled, kind, weight - n * math.log(26)), *after]
        for entry in entries:
            if rest.startswith(entry.form) and (joined or rest[len(entry.form) :][:1] in ("", " ")):
                for after in words(rest[len(entry.form) :].lstrip(" ")):
                    yield [(entry.spelling, entry.word, entry.log_weight), *after]

    for row in words(seen):
        for between in itertools.product(gaps, repeat=len(row) + 1):
            spelled, scored = list(between[0]), list(between[0])
            weight = 0.0
            for (spelling, word, log_weight), gap in zip(row, between[1:], strict=True):
                spelled += [spelling, *gap]
                scored += [word, *gap]
                weight += log_weight
            yield " ".join(spelled), weight + restorer.lm.score(" ".join(scored))


CASES = [
    ("case", "the old dog barks", {}),
    ("diacritics", "It was el , not el", {}),
    ("case,diacritics", "the el barks", {}),
    ("punctuation", "Ana sleeps Rex", {}),
    ("punctuation,case", "does rex bark", {}),
    ("punctuation", "the dog", {"max_events": 2}),
    ("spaces", "sleeps.Rex", {}),
    ("spaces,case,punctuation", "rex", {}),
]


@pytest.mark.parametrize(("what", "seen", "options"), CASES)
def test_the_best_text_is_the_best_of_all_ways(what: str, seen: str, options: dict[str, int]) -> None:
    restorer = trained(what, **options)
    weights = dict(sorted(ways(restorer, seen), key=lambda pair: pair[1]))
    found = restorer.restore(seen)
    assert found.certificate.exact
    assert found.log_weight == pytest.approx(max(weights.values()), abs=1e-5)
    assert weights[found.text] == pytest.approx(found.log_weight, abs=1e-5)
    best = restorer.kbest(seen, 4)
    expected = sorted((w for _, w in ways(restorer, seen)), reverse=True)[:4]
    assert [weight for _, weight in best] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("what", ["spaces", "spaces,case", "spaces,punctuation", "punctuation,case"])
def test_joint_by_joint_and_slot_by_slot_agree(what: str) -> None:
    """The best text alone is searched for in another way than the k best are."""
    restorer = trained(what, size=60)
    generator = random.Random(11)
    letters = sorted(set("".join(PATTERNS).replace(" ", "")))
    for _ in range(40):
        line = " ".join(generator.choices(PATTERNS, k=2)) if generator.random() < 0.7 else "Ana é"
        for _ in range(generator.randrange(4)):
            place = generator.randrange(len(line))
            line = line[:place] + generator.choice(letters) + line[place + 1 :]
        found = restorer.restore(line)
        (other,) = restorer.kbest(line, 1)
        assert found.certificate.exact
        assert found.log_weight == pytest.approx(other[1], abs=1e-9)


@pytest.mark.parametrize("case", [0, 3, 4, 5])
def test_probabilities_are_shares_of_all_ways(case: int) -> None:
    what, seen, options = CASES[case]
    restorer = trained(what, **options)
    found = next(restorer.probabilities([seen]))
    assert not isinstance(found, Failure)
    all_ways = list(ways(restorer, seen))
    total = math.fsum(math.exp(weight) for _, weight in all_ways)
    counted: dict[tuple[int, str], float] = {}
    for line, weight in all_ways:
        place = 0
        for token in line.split():
            is_event = restorer.folding.is_event(token)
            key = (2 * place, token) if is_event else (2 * place + 1, token)
            counted[key] = counted.get(key, 0.0) + math.exp(weight) / total
            place += not is_event
    for place, word in enumerate(found.words):
        assert dict(word) == pytest.approx(
            {t: p for (k, t), p in counted.items() if k == 2 * place + 1}, abs=1e-5
        )
    for place, event in enumerate(found.events):
        expected = {t: p for (k, t), p in counted.items() if k == 2 * place}
        if restorer.folding.events:
            assert dict(event) == pytest.approx(expected, abs=1e-5)


def test_a_restored_text_folds_to_what_was_seen() -> None:
    restorer = trained("punctuation,case,diacritics")
    lines = ["zzz the cat sleeps é", "", "ÜBER ana", "does rex bark ."]
    for line, found in zip(lines, restorer.restore_many(lines), strict=True):
        assert not isinstance(found, Failure)
        assert restorer.seen(found.text) == restorer.seen(line)


def test_only_what_is_probable_is_put_back() -> None:
    restorer = trained("punctuation,case", size=200)
    posterior = next(restorer.probabilities(["does rex bark or does ana"]))
    assert not isinstance(posterior, Failure)
    everything, nothing = ([word for word, _ in posterior.tokens(p)] for p in (0.5, 1.0))
    assert " ".join(everything) == "Does Rex bark , or does Ana ?"
    assert " ".join(nothing) == "does Rex bark or does Ana"  # no other spelling of the names was ever seen


def test_events_of_a_list() -> None:
    lines = ["so <b> we go <b> home"] * 5 + ["we go"] * 2
    restorer = train_restorer(lambda: lines, ("events",), 3, events=["<b>"])
    assert restorer.restore("so we go home").text == "so <b> we go <b> home"
    with pytest.raises(ModelError, match="never has the event"):
        train_restorer(lambda: lines, ("events",), 3, events=["<c>"])
    with pytest.raises(OptionError, match="needs"):
        train_restorer(lambda: lines, ("events",), 3)


def test_a_restorer_survives_its_file(tmp_path: Path) -> None:
    restorer = trained("punctuation,case", size=50)
    restorer.save(tmp_path / "a.restorer")
    again = Restorer.load(tmp_path / "a.restorer")
    line = "ana the cat sleeps in zanzibar"
    assert again.restore(line) == restorer.restore(line)
    assert Model.info(tmp_path / "a.restorer").kind == "restorer"


def test_scores_count_words_and_events() -> None:
    folding = Folding(("punctuation", "case", "spaces"), frozenset(",."))
    score = evaluate(folding, ["Ana , a cat ."], ["ana a , c at ."])
    assert (score.words, score.right_words, score.found_words, score.right_spans) == (3, 1, 4, 2)
    assert (score.events, score.found_events, score.right_events) == (2, 2, 1)
    assert evaluate(folding, ["Ana ."], ["Ana ."]).event_f1 == 1.0


# ------------------------------------------------------- what users give it


def test_a_text_where_lines_are_expected_is_refused() -> None:
    restorer = trained("case")
    for ask in (restorer.restore_many, restorer.probabilities, lambda x: restorer.kbest_many(x, 2)):
        with pytest.raises(ModelError, match="expected a list"):
            list(ask("the dog"))


def test_lines_may_be_a_generator_bytes_or_words() -> None:
    restorer = trained("punctuation,case")
    lines: list[str | bytes | list[str]] = ["does rex bark", b"the old dog barks", ["ana", "sleeps"]]
    found = [
        one.text for one in restorer.restore_many(line for line in lines) if not isinstance(one, Failure)
    ]
    assert found == [restorer.restore(x).text for x in ("does rex bark", "the old dog barks", "ana sleeps")]
    assert len(list(restorer.probabilities(line for line in lines))) == 3


def test_a_line_end_within_a_line_is_a_blank() -> None:
    restorer = trained("punctuation,case")
    broken = [
        one.text for one in restorer.restore_many(["does\nrex bark", "ana"]) if not isinstance(one, Failure)
    ]
    assert broken == [restorer.restore("does rex bark").text, restorer.restore("ana").text]


def test_the_best_texts_come_with_their_proof() -> None:
    (found,) = trained("case").kbest_many(["the old dog"], 3)
    assert not isinstance(found, Failure)
    assert found.certificate.exact
    assert found.certificate.upper == found[0].log_weight


def test_what_is_not_sure_stays_as_it_was_given() -> None:
    (found,) = trained("case").probabilities(["old ThE dog"])
    assert not isinstance(found, Failure)
    assert max(prob for _, prob in found.words[1]) < 1
    assert found.tokens(1.0)[1][0] == "ThE"
