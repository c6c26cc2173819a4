"""Compiled models: the same answers as the text, and damage that is found."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hiddenite import FormatError, HiddeniteWarning, Keypad, ModelError, NgramModel, decode
from tests.models import train

SENTENCES = ["the dog barks .", "the cat sleeps .", "a dog sleeps .", "the dog and the cat bark !"] * 2
HEAD_BYTES = 64 + 32 * 13  # header and directory of a model without index


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> NgramModel:
    path = tmp_path_factory.mktemp("text") / "lm.arpa"
    train(SENTENCES, 3).save(path)
    return NgramModel.load(path)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, text_model: NgramModel) -> Path:
    path = tmp_path_factory.mktemp("compiled") / "model.bin"  # told by its first bytes, not by its name
    text_model.compile(path, index=False)
    return path


def damaged(path: Path, data: bytes | bytearray) -> Path:
    path.write_bytes(data)
    return path


def test_a_compiled_model_is_the_same_model(tmp_path: Path, text_model: NgramModel, file: Path) -> None:
    model = NgramModel.load(file)
    assert model.is_compiled
    assert not text_model.is_compiled
    assert list(model.vocabulary) == list(text_model.vocabulary)
    assert model.ngram_counts == text_model.ngram_counts
    words = list(model.vocabulary)
    for a in words:
        for b in words:
            assert model.log_prob(a, ["the", b]) == text_model.log_prob(a, ["the", b])
            assert model.max_log_prob(a, [b]) == text_model.max_log_prob(a, [b])
    model.save(tmp_path / "again.arpa", max_columns=True)
    text_model.save(tmp_path / "text.arpa", max_columns=True)
    assert (tmp_path / "again.arpa").read_bytes() == (tmp_path / "text.arpa").read_bytes()
    model.compile(tmp_path / "again.bin", index=False)
    assert (tmp_path / "again.bin").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("end", [False, True])
def test_inference_is_the_same(tmp_path: Path, text_model: NgramModel, index: bool, end: bool) -> None:
    text_model.compile(tmp_path / "lm.hlm", index=index)
    model = NgramModel.load(tmp_path / "lm.hlm")
    for method in ("auto", "refine", "full", "dominance"):
        answers = [
            decode(lm, Keypad(lm.vocabulary)("843 364 263 843 228 2275 0"), method=method, end=end)
            for lm in (model, text_model)
        ]
        assert answers[0] == answers[1]


def test_scores_outlive_their_mapping(file: Path) -> None:
    score = NgramModel.load(file).score  # nothing else holds the model
    assert score(["the dog barks ."])[0].log_prob < 0


@pytest.mark.parametrize("size", [0, 1, 7, 8, 63, 64, 100, HEAD_BYTES, -1, -64, -5000])
def test_a_file_cut_short_is_refused(tmp_path: Path, file: Path, size: int) -> None:
    whole = file.read_bytes()
    with pytest.raises(FormatError) as caught:
        NgramModel.load(damaged(tmp_path / "cut", whole[:size]))
    assert "\n" not in str(caught.value)


def test_a_longer_file_is_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(FormatError, match="that the header announces"):
        NgramModel.load(damaged(tmp_path / "long", file.read_bytes() + bytes(64)))


def test_another_version_is_refused(tmp_path: Path, file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[8] += 1
    with pytest.raises(FormatError, match="of version 2, expected version 1; compile the model again"):
        NgramModel.load(damaged(tmp_path / "new", data))


def test_every_byte_of_header_and_directory_counts(
    tmp_path: Path, file: Path, rng: np.random.Generator
) -> None:
    whole = file.read_bytes()
    for at in range(HEAD_BYTES):
        data = bytearray(whole)
        data[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(FormatError) as caught:
            NgramModel.load(damaged(tmp_path / "flipped", data))
        assert "\n" not in str(caught.value)


def fault(model: NgramModel) -> str:
    """What the checksums say, empty if they agree."""
    try:
        model.verify()
    except FormatError as error:
        return str(error)
    return ""


def flips(whole: bytes, rng: np.random.Generator, count: int) -> Iterator[tuple[int, bytes]]:
    for at in rng.integers(HEAD_BYTES, len(whole), count):
        data = bytearray(whole)
        data[at] ^= 1 << int(rng.integers(8))
        yield int(at), bytes(data)


def test_damage_behind_the_directory_is_safe_and_found(
    tmp_path: Path, text_model: NgramModel, rng: np.random.Generator
) -> None:
    text_model.compile(tmp_path / "whole", index=True)
    whole = (tmp_path / "whole").read_bytes()
    refused = found = 0
    for _, data in flips(whole, rng, 500):
        try:
            model = NgramModel.load(damaged(tmp_path / "flipped", data))
        except FormatError:
            refused += 1
            continue
        model.score(SENTENCES * 4)  # wrong numbers at worst
        if re.search("the checksum of '.*' differs", fault(model)):
            found += 1
            with pytest.raises(FormatError, match="checksum"):
                _ = model.engine  # inference trusts what it reads
            with pytest.raises(FormatError, match="checksum"):
                model.save(tmp_path / "never.arpa")
        else:  # between the arrays there are zeros that nobody reads
            assert model.score(SENTENCES).log_prob.tolist() == text_model.score(SENTENCES).log_prob.tolist()
    assert refused > 0
    assert found > 0
    assert not (tmp_path / "never.arpa").exists()


def test_an_unknown_word_without_probability(tmp_path: Path) -> None:
    (tmp_path / "x.arpa").write_text("\\data\\\nngram 1=3\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 the\n\\end\\\n")
    with pytest.warns(HiddeniteWarning, match="lists no <unk>"):
        NgramModel.load(tmp_path / "x.arpa").compile(tmp_path / "x.hlm")
    with pytest.warns(HiddeniteWarning, match="lists no <unk>"):
        model = NgramModel.load(tmp_path / "x.hlm")
    assert not model.knows_unknown
    with pytest.raises(ModelError, match="when it is compiled"):
        NgramModel.load(tmp_path / "x.hlm", unknown_log10=-3)
    NgramModel.load(tmp_path / "x.arpa", unknown_log10=-3).compile(tmp_path / "y.hlm")
    assert NgramModel.load(tmp_path / "y.hlm").knows_unknown


def test_a_compiled_model_is_not_compressed(tmp_path: Path, text_model: NgramModel) -> None:
    with pytest.raises(ModelError, match="mapped as it is"):
        text_model.compile(tmp_path / "x.hlm.gz")
    assert list(tmp_path.iterdir()) == []
