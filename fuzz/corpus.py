"""The seeds of the ARPA fuzzer: small texts, each with one thing that real files have.

    python fuzz/corpus.py DIRECTORY

writes one file per seed. Some are valid, some are not; the fuzzer starts from both.
"""

from __future__ import annotations

import sys
from pathlib import Path

BIGRAMS = r"""
\data\
ngram 1=5
ngram 2=5

\1-grams:
-1.2	<unk>	0
0	<s>	-0.3
-0.9	</s>	0
-0.6	a	-0.2
-0.7	b	-0.1

\2-grams:
-0.4	<s> a
-0.5	a b
-0.6	a </s>
-0.3	b a
-0.2	b </s>

\end\
"""

TRIGRAMS = r"""
\data\
ngram 1=5
ngram 2=5
ngram 3=3

\1-grams:
-1.2	<unk>	0
-99	<s>	-0.3
-0.9	</s>
-0.6	a	-0.2
-0.7	b	-0.1

\2-grams:
-0.4	<s> a	-0.1
-0.5	a b	0.05
-0.6	a </s>
-0.3	b a	-0.4
-0.2	b </s>

\3-grams:
-0.1	<s> a b
-0.2	a b </s>
-0.15	b a b

\end\
"""

MAX_COLUMNS = r"""
\data\
ngram 1=4
ngram 2=2

\1-grams:
-1.2	<unk>	0	-1.2	0
-99	<s>	-0.3	-99	-0.3
-0.9	</s>	0	-0.6	0
-0.6	a	-0.2	-0.4	-0.2

\2-grams:
-0.4	<s> a	-0.4	0
-0.6	a </s>	-0.6	0

\end\
"""

PREAMBLE = r"""
A model in the format
\data\
ngram 1=N
\1-grams:
...
\end\
follows.

\data\
ngram 1 = 3
\1-grams:
-99 <s>
-0.3 </s>
-3.0e-1 a
\end\
"""

EMPTY_TOP_ORDER = r"""
\data\
ngram 1=3
ngram 2=0

\1-grams:
-1 <s> -0.5
-0.5 </s>
-0.25 a

\2-grams:

\end\
"""


def without(text: str, n: int, *lines: str) -> str:
    """Return the text with these lines gone and the count of order n put right."""
    for line in lines:
        text = text.replace(f"{line}\n", "")
    counted = next(line for line in text.splitlines() if line.startswith(f"ngram {n}="))
    return text.replace(counted, f"ngram {n}={int(counted.split('=')[1]) - len(lines)}")


SEEDS: dict[str, bytes] = {
    "bigrams": BIGRAMS.encode(),
    "trigrams": TRIGRAMS.encode(),
    "max-columns": MAX_COLUMNS.encode(),
    "preamble": PREAMBLE.encode(),
    "empty-top-order": EMPTY_TOP_ORDER.encode(),
    "crlf": TRIGRAMS.replace("\n", "\r\n").encode(),
    "byte-order-mark": BIGRAMS.lstrip().encode("utf-8-sig"),
    "spaces": TRIGRAMS.replace("\t", "  ").encode(),
    "no-blank-lines": TRIGRAMS.replace("\n\n", "\n").encode(),
    "upper-case-unk": TRIGRAMS.replace("<unk>", "<UNK>").encode(),
    "no-unk": without(BIGRAMS, 1, "-1.2\t<unk>\t0").encode(),
    "no-begin": without(without(BIGRAMS, 1, "0\t<s>\t-0.3"), 2, "-0.4\t<s> a").encode(),
    "context-not-listed": without(TRIGRAMS, 2, "-0.5\ta b\t0.05", "-0.3\tb a\t-0.4").encode(),
    "suffix-not-listed": without(TRIGRAMS, 2, "-0.2\tb </s>").encode(),
    "top-backoffs": BIGRAMS.replace("<s> a\n", "<s> a\t-0.5\n").encode(),
    "weights-above-one": TRIGRAMS.replace("0.05", "1.5").replace("-0.2\n", "0.7\n").encode(),
    "infinities": TRIGRAMS.replace("-99", "-inf").replace("-0.4", "-Infinity").encode(),
    "begin-inside": TRIGRAMS.replace("b a b", "b <s> b").encode(),
    "accents": TRIGRAMS.replace("a", "é").replace("dété", "data").replace("grém", "gram").encode(),
    "duplicate": TRIGRAMS.replace("b a b", "<s> a b").encode(),
    "duplicate-word": BIGRAMS.replace("b\t-0.1", "a\t-0.1").encode(),
    "positive": BIGRAMS.replace("-0.5", "0.5").encode(),
    "not-a-number": BIGRAMS.replace("-0.5", "nan").encode(),
    "wrong-count": BIGRAMS.replace("ngram 2=5", "ngram 2=6").encode(),
    "unlisted-word": BIGRAMS.replace("b a", "c a").encode(),
    "no-end": BIGRAMS.replace("\\end\\\n", "").encode(),
    "truncated": TRIGRAMS.encode()[:150],
    "latin-1": BIGRAMS.replace("\ta\t", "\té\t").encode("latin-1"),
    "kenlm-binary": b"mmap lm http://kheafield.com/code format version 5\n\x00\x00\x00",
    "srilm-binary": b"SRILM_BINARY_NGRAM_002\n\x00",
    "nothing": b"",
}


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python fuzz/corpus.py DIRECTORY")
    directory = Path(arguments[0])
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in SEEDS.items():
        (directory / f"{name}.arpa").write_bytes(text)


if __name__ == "__main__":
    main(sys.argv[1:])
