"""The report of induced classes, and names given to them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import hiddenite
from hiddenite import FormatError, Induction
from hiddenite.cli.induce_report_page import page
from hiddenite.induction.naming import ClassNames
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
