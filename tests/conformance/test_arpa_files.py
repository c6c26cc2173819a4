"""ARPA files from other toolkits: each loads with all its numbers, or is refused at the right line."""

import bz2
import gzip
import math
import warnings
from pathlib import Path

import pytest

from hiddenite import FormatError, NgramModel
from tests.oracle import BOS, EOS, UNK, Ngram

NO_UNK = "lists no <unk>: words outside its vocabulary have probability zero"
NO_BOS = "lists no <s>: sentences begin without a context"

# [file]: n-grams the file lists, per order; n-grams of each order that closing the table adds; warnings.
USABLE: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]] = {
    # Blanks for tabs, </s> without a back-off weight, <unk> with successors.
    "0.1k_3gram_unpruned.arpa": ((100, 246, 282), (0, 0, 0), ()),
    # CMU toolkit: a preamble with a sample of the format, <UNK>, -98.9998 for <s>, blanks at line ends.
    "100.lm.bz2": ((400, 1082, 1307), (0, 0, 0), ()),
    "100.lm.gz": ((400, 1082, 1307), (0, 0, 0), ()),
    # CMU toolkit, unigrams only, <UNK>.
    "an4_full.flat_unigram.lm": ((102,), (0,), ()),
    # Probabilities of one, far from normalised.
    "bugs_bunny_kenlm.arpa": ((5, 5), (0, 0), ()),
    # Back-off weights above 1, words beyond ASCII.
    "dummy.3gram.lm": ((490, 1023, 1119), (0, 0, 0), (NO_UNK,)),
    # Missing back-off weights, blanks before others; the suffix (b </s>) of a 3-gram is not listed.
    "input.arpa": ((4, 2, 2), (0, 1, 0), (NO_UNK,)),
    # The same, and the context (a b) of a 3-gram is not listed.
    "missing_backoffs.arpa": ((4, 1, 2), (0, 2, 0), (NO_UNK,)),
    # The same without <s>.
    "missing_bos.arpa": ((3, 1, 1), (0, 1, 0), (NO_UNK, NO_BOS)),
    # Unigrams only, tabs and blanks.
    "task.arpabo": ((4,), (0,), (NO_UNK,)),
    # Back-off weights above 1.
    "test_2gram.lm.gz": ((30, 45), (0, 0), (NO_UNK,)),
    # QuickLM: back-off weights on </s>, a probability for <s>.
    "turtle.lm": ((91, 212, 177), (0, 0, 0), (NO_UNK,)),
    # 4-grams whose contexts and suffixes are not listed.
    "unused_backoffs.arpa": ((4, 2, 2, 2), (0, 3, 3, 0), (NO_UNK,)),
    # CMU toolkit, a closed vocabulary.
    "weather.lm": ((779, 14416, 46976), (0, 0, 0), (NO_UNK,)),
}

REFUSED = {
    # The text ends after seven of the nine 1-grams; the archive is whole.
    "105.lm.gz": (18, "the file ends after 7 of 9 1-grams, expected '\\end\\'; is it complete?"),
    # One of the 91 1-grams that the header announces, and nothing else.
    "too-many-ngrams.arpa": (12, "the file ends after 1 of 91 1-grams, expected '\\end\\'; is it complete?"),
}


def test_every_file_is_in_one_of_the_tables(data: Path) -> None:
    assert {path.name for path in (data / "arpa").iterdir()} == USABLE.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(data: Path, name: str) -> None:
    line, message = REFUSED[name]
    with pytest.raises(FormatError) as caught:
        NgramModel.load(data / "arpa" / name)
    assert (caught.value.line, caught.value.message) == (line, message)


@pytest.mark.parametrize("name", USABLE)
def test_usable(data: Path, name: str) -> None:
    path = data / "arpa" / name
    counts, added, messages = USABLE[name]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = NgramModel.load(path)
    assert [str(w.message) for w in found] == [f"{path}: {message}" for message in messages]
    rows = listed(path)
    assert tuple(sum(len(g) == n for g in rows) for n in range(1, len(counts) + 1)) == counts
    absent = sum((w,) not in rows for w in (UNK, BOS, EOS))  # words that every model has
    expected = [counts[n] + added[n] + (absent if n == 0 else 0) for n in range(len(counts))]
    assert model.ngram_counts == tuple(expected)
    for ngram, log10_prob in rows.items():
        value = -math.inf if ngram[-1] == BOS or log10_prob == -99 else log10_prob * math.log(10)
        # A file's number is kept as a float.
        assert model.log_prob(ngram[-1], ngram[:-1]) == pytest.approx(value, rel=2**-24), ngram


def listed(path: Path) -> dict[Ngram, float]:
    """The n-grams of the file's last model and log10 of their probabilities."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".bz2":
        data = bz2.decompress(data)
    lines = [line.strip() for line in data.decode().splitlines()]
    last = max(i for i, line in enumerate(lines) if line == "\\data\\")
    rows: dict[Ngram, float] = {}
    n = 0
    for line in lines[last:]:
        if line.endswith("-grams:"):
            n = int(line[1 : line.index("-")])
        elif n > 0 and line and line != "\\end\\":
            fields = line.split()
            rows[tuple(UNK if w == "<UNK>" else w for w in fields[1 : n + 1])] = float(fields[0])
    return rows
