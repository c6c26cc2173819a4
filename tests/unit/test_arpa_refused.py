"""What is wrong with ARPA files: a table of what is said about each, and where."""

from pathlib import Path

import pytest

from hiddenite import FormatError
from tests.unit.test_arpa import MODEL, NO_UNKNOWN, SAMPLE, edited, load


def header(*counts: object) -> str:
    return "\\data\\\n" + "".join(f"ngram {n}={count}\n" for n, count in enumerate(counts, 1))


# What is wrong: the text, the line to blame and a part of what is said about it.
REFUSED: dict[str, tuple[str | bytes, int, str]] = {
    "empty": ("", 1, "found no line '\\data\\', expected an ARPA file"),
    "blank": ("\n\n", 2, "found no line '\\data\\'"),
    "no model": ("the cat sat\non the mat\n", 2, "found no line '\\data\\'"),
    "ends in the header": ("\\data\\\nngram 1=5\n", 2, "the file ends in the header, expected '\\1-grams:'"),
    "no counts": (
        "\\data\\\n\n\\1-grams:\n-1 a\n\\end\\\n",
        3,
        "found '\\1-grams:' before any 'ngram 1=COUNT'",
    ),
    "no count of order 1": ("\\data\\\nngram 2=3\n", 2, "found the count of order 2, expected order 1"),
    "a count twice": (edited("ngram 2=3", "ngram 1=3"), 3, "found the count of order 1, expected order 2"),
    "a negative count": (
        edited("ngram 1=5", "ngram 1=-5"),
        2,
        "found 'ngram 1=-5', expected 'ngram 1=COUNT'",
    ),
    "a count that is no number": (edited("ngram 2=3", "ngram 2=3.0"), 3, "expected 'ngram 2=COUNT'"),
    "a count beyond 64 bits": (edited("ngram 1=5", f"ngram 1={2**64}"), 2, "expected 'ngram 1=COUNT'"),
    "an order above 64": (header(*[1] * 65), 66, "the order is above 64"),
    "more unigrams": (edited("ngram 1=5", "ngram 1=4"), 10, "found more than the 4 1-grams that the header"),
    "fewer unigrams": (
        edited("ngram 1=5", "ngram 1=6"),
        12,
        "found 5 1-grams, expected the 6 that the header",
    ),
    "more bigrams": (edited("ngram 2=3", "ngram 2=2"), 15, "found more than the 2 2-grams"),
    "fewer bigrams": (edited("ngram 2=3", "ngram 2=9"), 17, "found 3 2-grams, expected the 9"),
    "more than a huge count": (
        edited("ngram 1=5", f"ngram 1={2**64 - 1}"),
        12,
        f"found 5 1-grams, expected the {2**64 - 1}",
    ),
    "no unigrams": (header(0) + "\\1-grams:\n-1 a\n", 4, "found more than the 0 1-grams"),
    "bigrams that are not announced": (
        edited("ngram 2=3\n", ""),
        11,
        "found '\\2-grams:', expected '\\end\\'",
    ),
    "no section of bigrams": (
        edited("\\2-grams:", "\\3-grams:"),
        12,
        "found '\\3-grams:', expected '\\2-grams:'",
    ),
    "ends before the bigrams": (
        MODEL.split("\\2", maxsplit=1)[0] + "\\end\\\n",
        12,
        "found '\\end\\', expected '\\2-grams:'",
    ),
    "a section twice": (edited("\\2-grams:", "\\1-grams:"), 12, "found '\\1-grams:', expected '\\2-grams:'"),
    "no \\end\\": (edited("\\end\\\n", ""), 16, "the file ends after 3 of 3 2-grams, expected '\\end\\'"),
    "cut off in a section": (MODEL[: MODEL.index("-0.125")], 13, "the file ends after 1 of 3 2-grams"),
    "cut off in a line": (
        MODEL[: MODEL.index(" b\n-1.5")],
        14,
        "found '-0.125?a', expected a log10 probability, 2",
    ),
    "cut off in \\end\\": (MODEL[:-3], 17, "found '\\en', expected an n-gram or the section's end"),
    "a unigram twice": (edited("b\t0.4", "a\t0.4"), 10, "found the 1-gram 'a' a second time"),
    "<unk> twice": (edited("b\t0.4", "<UNK>\t0.4"), 10, "found the 1-gram '<unk>' a second time"),
    "<s> twice": (edited("b\t0.4", "<s>"), 10, "found the 1-gram '<s>' a second time"),
    "a bigram twice": (
        edited("b </s>", "<s> a"),
        15,
        "found a 2-gram a second time, expected each n-gram once",
    ),
    "a bigram twice, blank lines between": (
        edited(
            "-0.125",
            "\n\n-0.125",
            edited("b </s>\n", "\n\n\n<s> a\n\n").replace("-1.5\t\n\n\n", "\n\n\n-1.5\t"),
        ),
        20,
        "found a 2-gram a second time",
    ),
    "a bigram twice in a row": (edited("a b", "<s> a"), 14, "found a 2-gram a second time"),
    "a bigram twice by <UNK>": (
        edited("a b", "<unk> b", edited("b </s>", "<UNK> b")),
        15,
        "a 2-gram a second time",
    ),
    "a positive probability": (edited("-0.5\t", "0.5\t"), 9, "found the positive log10 probability '0.5'"),
    "a positive probability of a bigram": (
        edited("-1.5\t", "1e-9\t"),
        15,
        "the positive log10 probability '1e-9'",
    ),
    "an infinite probability": (edited("-0.5\t", "inf\t"), 9, "found the positive log10 probability 'inf'"),
    "not a number": (edited("-0.5\t", "nan\t"), 9, "found 'nan', expected a number (the log10 probability)"),
    "minus not a number": (edited("-0.5\t", "-NaN\t"), 9, "found '-NaN', expected a number"),
    "not a number as weight": (
        edited("a\t-0.3", "a\tnan"),
        9,
        "expected a number (the log10 back-off weight)",
    ),
    "a decimal comma": (edited("-0.5\t", "-0,5\t"), 9, "found '-0,5', expected a number"),
    "two signs": (edited("-0.5\t", "+-0.5\t"), 9, "found '+-0.5', expected a number"),
    "a hexadecimal number": (edited("-0.5\t", "-0x1p-1\t"), 9, "found '-0x1p-1', expected a number"),
    "beyond a double": (edited("-0.5\t", "-1e400\t"), 9, "found '-1e400', expected a number"),
    "a probability beyond floats": (
        edited("-0.5\t", "-1e39\t"),
        9,
        "found the log10 probability '-1e39', expected at least -1e38, or -inf for zero",
    ),
    "a weight beyond floats": (
        edited("a\t-0.3", "a\t-2e38"),
        9,
        "found the log10 back-off weight '-2e38', expected at least -1e38, or -inf for zero",
    ),
    "an infinite weight": (
        edited("a\t-0.3", "a\tinf"),
        9,
        "the log10 back-off weight 'inf', expected less than 99",
    ),
    "an absurd weight": (
        edited("a\t-0.3", "a\t1e30"),
        9,
        "the log10 back-off weight '1e30', expected less than 99",
    ),
    "a max column that is no number": (
        edited("a b", "a b\t-0.1\tx"),
        14,
        "expected a number (the max column)",
    ),
    "no word": (edited("-0.5\ta\t-0.3", "-0.5"), 9, "found '-0.5', expected a log10 probability, 1 word and"),
    "no probability": (edited("-0.5\ta\t-0.3", "a\t-0.3"), 9, "found 'a', expected a number"),
    "a word too many": (
        edited("-0.5\ta\t", "-0.5\ta a\t"),
        9,
        "expected a log10 probability, 1 word and at most a",
    ),
    "a word too many without a weight": (edited("a\t-0.3", "a a"), 9, "found 'a', expected a number"),
    "a word too few": (
        edited("a b", "a"),
        14,
        "expected a log10 probability, 2 words and at most a log10 back-off",
    ),
    "two numbers below the highest order": (
        edited("a\t-0.3", "a\t-0.3 0.1"),
        9,
        "at most a log10 back-off weight",
    ),
    "four numbers": (edited("a b", "a b 0 0 0 0"), 14, "at most a log10 back-off weight"),
    "a word that is no unigram": (
        edited("a b", "a c"),
        14,
        "found the word 'c', which is no 1-gram of this file",
    ),
    "an unlisted <unk> in a bigram": (
        edited("a b", "<unk> b", NO_UNKNOWN),
        13,
        "found the word '<unk>', which is no 1-gram of this file",
    ),
    "no UTF-8": (
        MODEL.replace("b\t0.4", "b\xe9\t0.4").encode("latin-1"),
        10,
        "column 8: found a byte that is not UTF-8",
    ),
    "no UTF-8 in a bigram": (
        MODEL.replace("a b", "a b\xe9").encode("latin-1"),
        14,
        "column 11: found a byte that is not UTF-8",
    ),
    "a NUL in a word": (edited("b\t0.4", "b\0\t0.4"), 10, "column 8: found a NUL byte"),
    "UTF-16": (MODEL.encode("utf-16"), 1, "found binary data, expected ARPA text"),
    "binary": (b"\x7fELF\x02\x01\x01\0\0\0" + bytes(range(256)), 1, "found binary data"),
    "binary after a line": (b"model\n" + bytes(range(256)), 2, "found binary data"),
    "binary after the end": (MODEL.encode() + b"\0\0", 18, "found binary data"),
    "KenLM's binary format": (
        b"mmap lm http://kheafield.com/code format version 5\n\0\0\0\0",
        1,
        "found a KenLM binary file, expected ARPA",
    ),
    "SRILM's binary format": (
        b"SRILM_BINARY_NGRAM_002\n\x01\0",
        1,
        "found an SRILM binary file, expected ARPA text",
    ),
    "a line beyond all measure": (b"x" * (17 << 20), 1, "the line is longer than 16 MiB"),
    "a model after a sample is broken": (
        SAMPLE + edited("-0.5\t", "nan\t"),
        16,
        "found 'nan', expected a number",
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path: Path, text: str | bytes, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(tmp_path, text)
    assert message in caught.value.message
    assert caught.value.line == line
    assert str(caught.value) == f"{tmp_path / 'm.arpa'}:{line}: {caught.value.message}"
    assert "\n" not in str(caught.value)
