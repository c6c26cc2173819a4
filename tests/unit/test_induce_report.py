"""The report of induced classes, and names given to them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import hiddenite
from hiddenite import FormatError, Induction
from hiddenite.cli.induce_report_page import page
from hiddenite.induction.naming import ClassNames, Fit
from hiddenite.induction.report import make_report, neighbour_similarity

TEXT = ["the dog barks .", "a cat sleeps .", "", "the cat sees </script> the dog .", "dogs bark !", "a dog ."]


def run_of(model: str) -> Induction:
    return hiddenite.induce(TEXT, 4, model=model, iterations=3, seed=1).run()


@pytest.mark.parametrize("model", ["consensus", "pyp", "lex+lm"])
def test_a_report_counts_every_token_once(model: str) -> None:
    run = run_of(model)
    found = make_report(run, most_words=100, most_sentences=2, context=2)
    assert sum(one.tokens for one in found.classes) == found.tokens == len(run.text.tokens)
    assert [one.tokens for one in found.classes] == sorted(
        (one.tokens for one in found.classes), reverse=True
    )
    for one in found.classes:
        assert sum(word.tokens for word in one.typical) == one.tokens
        assert 0 < one.confidence <= 1
        assert all(word.probability < 0.9 for word in one.dubious)
        assert all(0 <= word.other_probability <= 1 - word.probability + 1e-9 for word in one.typical)
        assert len(one.occurrences) <= 2
        for place in one.occurrences:
            words = TEXT[place.sentence - 1].split()
            assert " ".join([*place.left, place.word, *place.right]) in " ".join(words)
        assert one.tag not in [tag for tag, _ in one.similar]
    few = make_report(run, most_words=1)
    assert [one.typical + one.others for one in few.classes] == [one.typical for one in found.classes]
    assert found.confidence == pytest.approx(
        sum(one.confidence * one.tokens for one in found.classes) / found.tokens
    )


def test_similarity_is_that_of_the_neighbours() -> None:
    run = run_of("consensus")
    found = neighbour_similarity(run, run.token_tags())
    assert np.diag(found)[np.unique(run.token_tags())] == pytest.approx(1.0)
    assert found == pytest.approx(found.T)
    assert ((found > -1e-9) & (found < 1 + 1e-9)).all()


def test_the_page_holds_its_data_and_nothing_of_it_is_markup() -> None:
    text = page(make_report(run_of("consensus")), "<run & more>")
    assert "<title>Classes of &lt;run &amp; more&gt;</title>" in text
    assert text.count("</script>") == 2
    held = re.search(r'id="data">(.*?)</script>', text)
    assert held is not None
    record = json.loads(held[1])
    assert {"</script>"} <= {word for one in record["classes"] for word, *_ in one["w"]}
    assert not re.search(r'(src|href)="', text)


def test_a_page_says_which_run_it_shows_and_lists_typical_words() -> None:
    first, other = run_of("pyp"), hiddenite.induce(TEXT, 4, model="pyp", iterations=3, seed=2).run()
    assert (first.token_tags() != other.token_tags()).any()
    reports = [make_report(run, most_words=n) for run, n in ((first, 60), (first, 1), (other, 60))]
    assert reports[0].run == reports[1].run != reports[2].run
    assert re.fullmatch("[0-9a-f]{16}", reports[0].run)
    held = [re.search(r'id="data">(.*?)</script>', page(report, "run")) for report in reports]
    records = [json.loads(found[1]) for found in held if found is not None]
    assert [record["run"] for record in records] == [report.run for report in reports]
    assert records[0]["typical"] == records[1]["typical"]  # not only those that are shown
    for one in records[0]["classes"]:
        assert records[0]["typical"][one["t"]].split(" ") == [word for word, *_ in one["w"]][:10]


def test_one_word_is_not_many() -> None:
    text = page(make_report(hiddenite.induce(["word"], 2, iterations=2, seed=1).run()), "run")
    assert "1 class in a text of 1 token, 1 different word, 1 sentence;" in text


def test_names_merge_and_split(tmp_path: Path) -> None:
    record = {
        "format": "hiddenite class names",
        "version": 1,
        "names": {"T0": "NOUN", "T1": "NOUN", "T2": "VERB"},
        "words": {"T2": {"can": "AUX"}, "T3": {"of": "ADP"}},
    }
    (tmp_path / "names.json").write_text(json.dumps(record), encoding="utf-8")
    names = ClassNames.load(tmp_path / "names.json")
    found = names.label(["dog", "cat", "can", "sees", "of", "to"], ["T0", "T1", "T2", "T2", "T3", "T3"])
    assert found == ["NOUN", "NOUN", "AUX", "VERB", "ADP", "T3"]
    assert names.knows("T3")
    assert not names.knows("T4")


TYPICAL = {f"T{t}": [f"word{t}{i}" for i in range(4)] for t in range(5)}


def counts_of(shift: int, every: int = 1) -> dict[tuple[str, str], int]:
    """Tokens of the typical words; of every so many, the class is another one."""
    pairs = [(word, t) for t, words in enumerate(TYPICAL.values()) for word in words]
    return {(word, f"T{(t + shift * (i % every == 0)) % 5}"): 3 for i, (word, t) in enumerate(pairs)}


def test_a_mapping_fits_the_classes_it_was_made_for() -> None:
    names = ClassNames({"T0": "A"}, typical=TYPICAL)
    assert names.fit(counts_of(0)) == Fit(20, 20)
    assert not names.fit(counts_of(0)).is_refuted
    assert names.fit(counts_of(1, every=3)) == Fit(20, 13)  # a tagger decides otherwise here and there
    assert not names.fit(counts_of(1, every=3)).is_refuted
    assert names.fit(counts_of(1)) == Fit(20, 0)
    assert names.fit(counts_of(1)).is_refuted
    assert not ClassNames({"T0": "A"}).fit(counts_of(1)).is_refuted  # written by hand


def test_what_says_nothing_about_a_mapping() -> None:
    names = ClassNames({"T0": "A"}, typical=TYPICAL)
    wrong = counts_of(1)
    few = dict(list(wrong.items())[:9])
    assert names.fit(few) == Fit(9, 0)
    assert not names.fit(few).is_refuted
    assert names.fit({("other", "T1"): 5, ("word00", "NOUN"): 5}) == Fit(0, 0)  # unknown, and named before
    both = ClassNames({}, typical={"T0": ["that"], "T1": ["that"], "T2": ["the"]})
    assert both.fit({("that", "T0"): 5, ("that", "T1"): 5, ("that", "T2"): 9}) == Fit(1, 1)
    assert both.fit({("that", "T0"): 4, ("that", "T1"): 4, ("that", "T2"): 9}) == Fit(1, 0)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("names", r"names\.json:1: is not JSON \(Expecting value\)"),
        ('{"format": "hiddenite class names",\n"version": 1,\n}', r"names\.json:3: is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("{}", "has no names of classes"),
        ('{"format": "hiddenite class names", "version": 7}', "has version 7, expected 1"),
        (
            '{"format": "hiddenite class names", "version": 1, "names": {"T0": "a b"}}',
            "one word without spaces",
        ),
        ('{"format": "hiddenite class names", "version": 1, "names": {"T0": ""}}', "one word without spaces"),
        (
            r'{"format": "hiddenite class names", "version": 1, "names": {"T0": "\ud800"}}',
            "one word without spaces",
        ),
        (
            r'{"format": "hiddenite class names", "version": 1, "names": {"T0": "a\u0000"}}',
            "one word without spaces",
        ),
        ('{"format": "hiddenite class names", "version": 1, "typical": {"T0": 3}}', "no object «typical»"),
        ('{"format": "hiddenite class names", "version": 1, "typical": "T0"}', "no object «typical»"),
        ('{"format": "hiddenite class names", "version": 1, "names": 3}', "has no object «names»"),
        ('{"format": "hiddenite class names", "version": 1, "words": {"T0": 3}}', "«words of T0»"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, error: str) -> None:
    (tmp_path / "names.json").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=error):
        ClassNames.load(tmp_path / "names.json")
    with pytest.raises(FormatError, match="cannot be read"):
        ClassNames.load(tmp_path / "none.json")
