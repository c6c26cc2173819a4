"""Which ARPA files are usable, a table of them; archives, unknown words and long lines."""

import bz2
import gzip
import lzma
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hiddenite import FormatError, HiddeniteWarning, ModelError, NgramModel

# Five unigrams on the lines 6 to 10 and three bigrams on the lines 13 to 15.
MODEL = """\
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-2\t<unk>\t-0.1
-99\t<s>\t-0.2
-1.25\t</s>
-0.5\ta\t-0.3
-0.75\tb\t0.4

\\2-grams:
-0.25\t<s> a
-0.125\ta b
-1.5\tb </s>

\\end\\
"""
# log10 p(word | context), by hand.
EXPECTED = {
    ("a", "<s>"): -0.25,
    ("b", "a"): -0.125,
    ("</s>", "b"): -1.5,
    ("a", ""): -0.5,
    ("b", "<s>"): -0.2 - 0.75,
    ("a", "b"): 0.4 - 0.5,
    ("</s>", "a"): -0.3 - 1.25,
    ("new", "a"): -0.3 - 2,
    ("<unk>", ""): -2,
    ("<s>", "a"): -math.inf,
    ("b", "new"): -0.1 - 0.75,
}
RTOL = 2**-22  # two floats added


def edited(old: str, new: str, text: str = MODEL) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@dataclass(frozen=True)
class Usable:
    """A file that loads."""

    text: str | bytes
    log10: dict[tuple[str, str], float] = field(default_factory=lambda: EXPECTED)  # all else as in EXPECTED
    warnings: tuple[str, ...] = ()
    order: int = 2
    unknown_log10: float | None = None


NO_UNKNOWN = edited("ngram 1=5", "ngram 1=4", edited("-2\t<unk>\t-0.1\n", ""))
SAMPLE = "\\data\\\nngram 1=1\n\n\\1-grams:\n-0.1 sample\n\n\\end\\\n"

USABLE = {
    "as it is": Usable(MODEL),
    "carriage returns": Usable(MODEL.replace("\n", "\r\n")),
    "byte order mark": Usable("\ufeff" + MODEL),
    "byte order mark before a preamble": Usable("\ufeffA comment\n" + MODEL),
    "preamble": Usable("This is a model.\n\nngram 1=7\n\\end\\\n-1 a\n" + MODEL),
    "preamble that is no UTF-8": Usable("Mod\xe8le fran\xe7ais\n".encode("latin-1") + MODEL.encode()),
    "preamble with a sample header": Usable("\\data\\\nngram 1=nr\nngram 2=nr\n\\1-grams:\np w b\n" + MODEL),
    "preamble with \\data\\ twice": Usable("\\data\\\n" + MODEL),
    "preamble with a sample that has counts": Usable(
        "\\data\\\nngram 1=2\n\\1-grams:\np_1 wd_1 bo_wt_1\n\\end\\\n" + MODEL,
        warnings=("model at line 1 is taken for a sample, because another one follows at line 6",),
    ),
    "preamble with a sample that is a model": Usable(
        SAMPLE + "Like that. The model:\n" + MODEL,
        warnings=("model at line 1 is taken for a sample, because another one follows at line 9",),
    ),
    "text after the end": Usable(
        MODEL + "\nBest regards\n", warnings=("the text after '\\end\\' is ignored (line 19)",)
    ),
    "no line end at the end": Usable(MODEL.removesuffix("\n")),
    "blanks for tabs": Usable(MODEL.replace("\t", " ")),
    "tabs for blanks": Usable(MODEL.replace("<s> a", "<s>\ta").replace("a b", "a\tb")),
    "blanks and other space everywhere": Usable(
        "".join(f" \t{line}\t \v\f\n" for line in MODEL.splitlines())
    ),
    "blanks in the counts": Usable(edited("ngram 1=5", "ngram  1 =\t5")),
    "no blank lines": Usable(MODEL.replace("\n\n", "\n")),
    "many blank lines": Usable(MODEL.replace("\n", "\n\n\n")),
    "scientific notation": Usable(
        edited("-0.5\t", "-5.0e-1\t", edited("-1.25", "-125E-2", edited("-0.75", "-.75")))
    ),
    "digits without end": Usable(edited("-0.25\t", "-0.25000000000000000000000000001\t")),
    "a point without digits": Usable(edited("-2\t<unk>", "-2.\t<unk>")),
    "a plus sign": Usable(edited("0.4", "+0.4")),
    "minus infinity": Usable(edited("-99\t", "-inf\t")),
    "minus infinity in capitals": Usable(edited("-99\t", "-Infinity\t")),
    "a zero for <s>": Usable(edited("-99\t", "0\t")),
    "a probability of zero": Usable(edited("-1.5\t", "-99\t"), {("</s>", "b"): -math.inf}),
    "zero in other words": Usable(edited("-1.5\t", "-9.90e1\t"), {("</s>", "b"): -math.inf}),
    "less than -99": Usable(edited("-1.5\t", "-99.999\t"), {("</s>", "b"): -99.999}),
    "much less than -99": Usable(edited("-1.5\t", "-1e30\t"), {("</s>", "b"): -1e30}),
    "a word of probability zero": Usable(
        edited("-0.75\tb", "-99\tb"),
        {("b", "<s>"): -math.inf, ("b", "new"): -math.inf},
        ("gives 1 word the probability zero (log10 of -99 or -inf): 'b'",),
    ),
    "two words of probability zero": Usable(
        edited("-0.75\tb", "-inf\tb", edited("-1.25\t</s>", "-99.0\t</s>")),
        {("b", "<s>"): -math.inf, ("b", "new"): -math.inf, ("</s>", "a"): -math.inf},
        ("gives 2 words the probability zero (log10 of -99 or -inf): '</s>' and others",),
    ),
    "<unk> of probability zero": Usable(
        edited("-2\t<unk>", "-99\t<unk>"),
        {("new", "a"): -math.inf, ("<unk>", ""): -math.inf},
        ("gives 1 word the probability zero (log10 of -99 or -inf): '<unk>'",),
    ),
    "words of very small probability": Usable(
        edited("-0.75\tb", "-100.5\tb", edited("-1.25\t</s>", "-99.9990\t</s>")),
        {("b", "<s>"): -100.7, ("b", "new"): -100.6, ("</s>", "a"): -100.299},
    ),
    "a probability just above zero": Usable(edited("-1.5\t", "-98.9998\t"), {("</s>", "b"): -98.9998}),
    "a probability of one": Usable(edited("-1.5\t", "0.0\t"), {("</s>", "b"): 0.0}),
    "a back-off weight of zero": Usable(
        edited("a\t-0.3", "a\t-99"), {("</s>", "a"): -math.inf, ("new", "a"): -math.inf}
    ),
    "a large back-off weight": Usable(edited("b\t0.4", "b\t12"), {("a", "b"): 11.5}),
    "a missing back-off weight": Usable(edited("a\t-0.3", "a"), {("</s>", "a"): -1.25, ("new", "a"): -2}),
    "<UNK>": Usable(edited("<unk>", "<UNK>")),
    "<UNK> in an n-gram": Usable(
        edited("a b", "<UNK> b", edited("<unk>", "<UNK>")), {("b", "new"): -0.125, ("b", "a"): -1.05}
    ),
    "no <unk>": Usable(
        NO_UNKNOWN,
        {("new", "a"): -math.inf, ("<unk>", ""): -math.inf, ("b", "new"): -0.75},
        ("lists no <unk>: words outside its vocabulary have probability zero",),
    ),
    "no <unk>, but a probability for it": Usable(
        NO_UNKNOWN, {("new", "a"): -4.3, ("<unk>", ""): -4, ("b", "new"): -0.75}, unknown_log10=-4
    ),
    "no <unk>, but a very small probability for it": Usable(
        NO_UNKNOWN, {("new", "a"): -100.3, ("<unk>", ""): -100, ("b", "new"): -0.75}, unknown_log10=-100
    ),
    "<unk> and a probability for none": Usable(MODEL, unknown_log10=-4),
    "no <s>": Usable(
        edited(
            "ngram 2=3", "ngram 2=2", edited("5\nngram", "4\nngram", edited("-99\t<s>\t-0.2\n", ""))
        ).replace("-0.25\t<s> a\n", ""),
        {("a", "<s>"): -0.5, ("b", "<s>"): -0.75},
        ("lists no <s>: sentences begin without a context",),
    ),
    "no </s>": Usable(
        edited("ngram 2=3", "ngram 2=2", edited("5\nngram", "4\nngram", edited("-1.25\t</s>\n", ""))).replace(
            "-1.5\tb </s>\n", ""
        ),
        {("</s>", "b"): -math.inf, ("</s>", "a"): -math.inf},
        ("lists no </s>: every whole sentence has probability zero",),
    ),
    "an empty highest order": Usable(
        edited("ngram 2=3", "ngram 2=3\nngram 3=0", edited("\\end\\", "\\3-grams:\n\n\\end\\"))
    ),
    "an empty highest order without a section": Usable(edited("ngram 2=3", "ngram 2=3\nngram 3=0")),
    "an empty highest order that gives back-off weights effect": Usable(
        edited(
            "ngram 2=3", "ngram 2=3\nngram 3=0", edited("a b", "a b\t-0.7", edited("<s> a", "<s> a\t0.5"))
        ),
        {("</s>", "a b"): -0.7 - 1.5, ("b", "<s> a"): 0.5 - 0.125, ("new", "a b"): -0.7 + 0.4 - 2},
        order=3,
    ),
    "two empty orders above unigrams": Usable(
        edited("ngram 2=3\n", "ngram 2=0\nngram 3=0\n", MODEL.split("\\2-grams", maxsplit=1)[0] + "\\end\\"),
        {("a", "<s>"): -0.2 - 0.5, ("b", "a"): -0.3 - 0.75, ("</s>", "b"): 0.4 - 1.25},
    ),
    "an empty order in the middle": Usable(
        edited(
            "ngram 2=3",
            "ngram 2=0\nngram 3=1",
            MODEL.split("\\2-grams", maxsplit=1)[0] + "\\3-grams:\n-0.1 a b a\n\\end\\\n",
        ),
        {("a", "a b"): -0.1, ("a", "b"): -0.1, ("b", "a"): -1.05, ("a", "<s>"): -0.7, ("</s>", "b"): -0.85},
        order=3,
    ),
    "unigrams only": Usable(
        edited(
            "ngram 2=3\n", "", MODEL.split("\\2-grams", maxsplit=1)[0].replace("\t-0.", " -0.") + "\\end\\"
        ),
        {
            ("a", "<s>"): -0.5,
            ("b", "a"): -0.75,
            ("</s>", "b"): -1.25,
            ("b", "<s>"): -0.75,
            ("a", "b"): -0.5,
            ("</s>", "a"): -1.25,
            ("new", "a"): -2,
            ("b", "new"): -0.75,
        },
        ("back-off weights on the highest order are ignored (4 n-grams)",),
        order=1,
    ),
    "back-off weights on the highest order": Usable(
        edited("a b", "a b\t-0.7", edited("<s> a", "<s> a\t0")),
        warnings=("back-off weights on the highest order are ignored (1 n-grams)",),
    ),
    "max columns": Usable(
        edited(
            "a b", "a b\t-0.1\t0", edited("<s> a", "<s> a\t-0.1\t0", edited("a\t-0.3", "a\t-0.3\t-0.1\t0.2"))
        )
    ),
    "words that look like something else": Usable(
        edited("b\t0.4", "\\end\\\t0.4", edited("a b", "a \\end\\", edited("b </s>", "\\end\\ </s>"))),
        {
            ("\\end\\", "a"): -0.125,
            ("</s>", "\\end\\"): -1.5,
            ("b", "a"): -2.3,
            ("a", "b"): -0.6,
            ("</s>", "b"): -1.35,
            ("b", "<s>"): -2.2,
            ("b", "new"): -2.1,
        },
    ),
    "a word with a no-break space": Usable(
        edited("b\t0.4", "b\u00a0b\t0.4", edited("a b", "a b\u00a0b", edited("b </s>", "b\u00a0b </s>"))),
        {
            ("b\u00a0b", "a"): -0.125,
            ("b", "a"): -2.3,
            ("a", "b"): -0.6,
            ("</s>", "b"): -1.35,
            ("b", "<s>"): -2.2,
            ("b", "new"): -2.1,
        },
    ),
}


def load(
    tmp_path: Path, text: str | bytes, name: str = "m.arpa", unknown_log10: float | None = None
) -> NgramModel:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return NgramModel.load(path, unknown_log10)


@pytest.mark.parametrize("case", USABLE.values(), ids=USABLE)
def test_usable(tmp_path: Path, case: Usable) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = load(tmp_path, case.text, unknown_log10=case.unknown_log10)
    assert model.order == case.order
    for (word, context), log10_prob in {**EXPECTED, **case.log10}.items():
        expected = pytest.approx(log10_prob * math.log(10), rel=RTOL)
        assert model.log_prob(word, context.split()) == expected, (word, context)
    assert all(w.category is HiddeniteWarning for w in found)
    assert len(found) == len(case.warnings), [str(w.message) for w in found]
    for warning, message in zip(found, case.warnings, strict=True):
        assert message in str(warning.message)
        assert str(warning.message).startswith(str(tmp_path / "m.arpa: "))


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
}


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_compression_is_told_by_the_content(tmp_path: Path, kind: str) -> None:
    model = load(tmp_path, COMPRESSORS[kind](MODEL.encode()), name="no-suffix")
    assert model.log_prob("b", ["a"]) == pytest.approx(-0.125 * math.log(10), rel=RTOL)


@pytest.mark.parametrize("missing", [1, 7, 20])
@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_truncated_archive_is_refused(tmp_path: Path, kind: str, missing: int) -> None:
    # Even if all of the text is there and only the archive's check sum is cut off.
    with pytest.raises(FormatError, match=r"m.arpa:\d+: the archive ends early"):
        load(tmp_path, COMPRESSORS[kind](MODEL.encode())[:-missing])


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_truncated_archive_is_refused_when_the_cut_is_behind_the_model(tmp_path: Path, kind: str) -> None:
    # What follows the model exceeds the reader's chunks, so the model has been read when the cut is met.
    text = MODEL.encode() + b"".join(b"%d\n" % i for i in range(200_000))
    with pytest.raises(FormatError, match="the archive ends early"):
        load(tmp_path, COMPRESSORS[kind](text)[:-2000])


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_damaged_archive_is_refused(tmp_path: Path, kind: str) -> None:
    data = bytearray(COMPRESSORS[kind](MODEL.encode()))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(FormatError, match=r"m.arpa:\d+: the file cannot be read"):
        load(tmp_path, bytes(data))


def test_garbage_after_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the file cannot be read"):
        load(tmp_path, gzip.compress(MODEL.encode()) + b"garbage")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a directory, expected a file") as caught:
        NgramModel.load(tmp_path)
    assert caught.value.line is None


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"absent\.arpa: cannot be opened: No such file") as caught:
        NgramModel.load(tmp_path / "absent.arpa")
    assert caught.value.line is None


@pytest.mark.parametrize("log10_prob", [0.5, math.nan, math.inf])
def test_a_probability_of_unknown_words_is_at_most_one(tmp_path: Path, log10_prob: float) -> None:
    with pytest.raises(ModelError, match=r"expected -1e\+38 to 0, or -inf"):
        load(tmp_path, NO_UNKNOWN, unknown_log10=log10_prob)


def test_a_long_line_within_measure_is_read(tmp_path: Path) -> None:
    word = "x" * (3 << 20)  # over several chunks
    model = load(
        tmp_path, edited("b\t0.4", f"{word}\t0.4").replace("a b", f"a {word}").replace("b </s>", "a a")
    )
    assert model.log_prob(word, ["a"]) == pytest.approx(-0.125 * math.log(10), rel=RTOL)
