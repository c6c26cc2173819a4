"""What hypothesis draws: back-off tables, small corpora, damaged ARPA text.

Tables are drawn as rows of an ARPA file (see `oracle.ArpaRows`): any set of n-grams over a tiny vocabulary,
so that suffixes and contexts are missing, words have no successors, n-grams begin with <s> or hold it where
it cannot stand. The vocabulary shrinks with the order, to keep "try every context" cheap.
"""

import random

from hypothesis import settings
from hypothesis import strategies as st

from tests.oracle import BOS, EOS, UNK, ArpaRows, Ngram, Sentence, arpa_text


def examples(factor: float) -> settings:
    """More or fewer examples than the profile in use says (`--hypothesis-profile=thorough`)."""
    profile = settings.default
    assert profile is not None
    return settings(max_examples=round(factor * profile.max_examples))


# Words of different lengths in characters and bytes, for ids go by length.
WORDS = ("a", "b", "é", "cc", "東京", "x-1")
MAX_WORDS = {1: 6, 2: 6, 3: 6, 4: 4, 5: 3, 6: 2}  # [order]: words beside <unk>, <s> and </s>
MAX_NGRAMS = 14  # of each order above the first

# Three decimals, as files have them, and the special values.
log10_probs = st.one_of(
    st.integers(-4000, 0).map(lambda i: i / 1000),
    st.sampled_from([0.0, -99.0, -98.5, -99.999, -100.5, -1e-7, -12.3456789]),
)
log10_backoffs = st.one_of(
    st.integers(-2000, 0).map(lambda i: i / 1000),
    st.integers(1, 1500).map(lambda i: i / 1000),  # weights above 1
    st.sampled_from([0.0, -99.0, 1e-9]),
)


@st.composite
def vocabularies(draw: st.DrawFn, order: int) -> list[str]:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=MAX_WORDS[order], unique=True))
    special = draw(st.sampled_from([[UNK, BOS, EOS], [UNK, BOS, EOS], [BOS, EOS], [UNK, EOS]]))
    return draw(st.permutations([*special, *words]))


@st.composite
def ngram_sets(draw: st.DrawFn, vocabulary: list[str], order: int) -> list[Ngram]:
    """N-grams of the orders from 2 on, at least one of the highest."""
    # <s> where it can stand and, rarely, where it cannot.
    inner = [w for w in vocabulary if w != BOS]
    first = st.sampled_from(vocabulary)
    other = st.sampled_from(inner * 4 + vocabulary)
    ngrams: list[Ngram] = []
    for n in range(2, order + 1):
        one = st.tuples(first, *[other] * (n - 1))
        least = 1 if n == order else 0
        ngrams += draw(st.lists(one, min_size=least, max_size=MAX_NGRAMS, unique=True))
    return ngrams


def closure(ngrams: list[Ngram]) -> list[Ngram]:
    """The n-grams with their contexts and suffixes."""
    found = dict.fromkeys(ngrams)
    queue = list(ngrams)
    while queue:
        g = queue.pop()
        for part in (g[:-1], g[1:]):
            if part and part not in found:
                found[part] = None
                queue.append(part)
    return sorted(found, key=len)


@st.composite
def tables(
    draw: st.DrawFn,
    closed: bool = False,
    probs: st.SearchStrategy[float] = log10_probs,
    empty_orders: bool = False,
) -> dict[Ngram, tuple[float, float | None]]:
    """The rows of an ARPA file of order 1 to 6, closed or not.

    With `empty_orders` the file announces higher ones, and the highest listed has back-off weights too.
    """
    order = draw(st.integers(1, 6))
    vocabulary = draw(vocabularies(order))
    ngrams = draw(ngram_sets(vocabulary, order))
    if closed:
        ngrams = [g for g in closure(ngrams) if len(g) > 1]
    backoffs = st.one_of(st.none(), log10_backoffs)
    return {
        g: (draw(probs), draw(backoffs) if empty_orders or len(g) < order else None)
        for g in [*((w,) for w in vocabulary), *ngrams]
    }


# Corpora

TAGS = ("DT", "NN", "VB")
CHARACTERS = ("a", "b", "ß", "_")


@st.composite
def corpora(draw: st.DrawFn) -> list[Sentence]:
    """A few sentences of words, tags or characters, some of them empty, repeated or with <unk>."""
    alphabet = draw(st.sampled_from([WORDS, TAGS, CHARACTERS, (*WORDS, UNK)]))
    sentence = st.lists(st.sampled_from(alphabet), max_size=10)
    sentences = draw(st.lists(sentence, min_size=1, max_size=20))
    repeated = draw(st.lists(st.sampled_from(sentences), max_size=10))
    return [*sentences, *repeated]


def zipfian_corpus(generator: random.Random, num_sentences: int, num_words: int) -> list[Sentence]:
    """Text with many rare words and a few frequent ones, whose closed-form discounts exist.

    A word is followed by one of two favourites half of the time, so that long n-grams repeat too.
    """
    words = [f"w{i}" for i in range(num_words)]
    weights = [1 / (i + 1) for i in range(num_words)]
    sentences: list[Sentence] = []
    for _ in range(num_sentences):
        sentence: list[str] = []
        for _ in range(generator.randrange(16)):
            if sentence and generator.random() < 0.5:
                favourite = 3 * words.index(sentence[-1]) + generator.randrange(2)
                sentence.append(words[favourite % num_words])
            else:
                sentence += generator.choices(words, weights)
        sentences.append(sentence)
    return sentences


zipfian_corpora = st.builds(
    zipfian_corpus,
    st.integers(0, 2**32).map(random.Random),
    num_sentences=st.integers(50, 200),
    num_words=st.integers(10, 400),
)


# Damaged ARPA text

# What damage is made of: pieces that mean something to a reader of ARPA files, and bytes that do not.
PIECES = (
    b"\\data\\", b"\\end\\", b"\\1-grams:", b"\\2-grams:", b"ngram 2=1", b"ngram 1=3", b"ngram 7=", b"=",
    b"\n", b"\n\n\n", b"\r", b"\t", b" ", b"\\", b"\0", b"\xff", b"\xef\xbb\xbf", b"-99", b"-inf", b"inf",
    b"nan", b"1e-400", b"-1e400", b"1e30", b"+", b"-", b".", b"0", b"18446744073709551616", b"<unk>",
    b"<UNK>", b"<s>", b"</s>", b"a", b"a b", b"\\data\\\nngram 1=1\n\\1-grams:\n-1 a\n\\end\\\n",
)  # fmt: skip


@st.composite
def mutations(draw: st.DrawFn, text: bytes) -> bytes:
    """One edit: a piece put in or over, a stretch cut out, lines exchanged or repeated, the end cut off."""
    kind = draw(st.sampled_from(["insert", "replace", "delete", "swap", "repeat", "truncate"]))
    if kind in {"swap", "repeat"}:
        lines = text.split(b"\n")
        i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        if kind == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines.insert(i, lines[j])
        return b"\n".join(lines)
    start = draw(st.integers(0, len(text)))
    if kind == "truncate":
        return text[:start]
    piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)))
    length = draw(st.integers(0, 12))
    if kind == "insert":
        return text[:start] + piece + text[start:]
    return text[:start] + (piece if kind == "replace" else b"") + text[start + length :]


@st.composite
def damaged_arpa(draw: st.DrawFn) -> bytes:
    """An ARPA file after one to four edits."""
    rows: ArpaRows = draw(tables())
    text = arpa_text(rows).encode()
    for _ in range(draw(st.integers(1, 4))):
        text = draw(mutations(text))
    return text
