"""Restored text beside unigram and bigram Viterbi: ``python benchmarks/restore.py DATA``.

DATA is a folder with ``lm/hansard``, ``lm/wikitext-2`` and ``tagged/ud``. Prints the rows of RESULTS.md: for
each text and order the accuracy of words, F1 of punctuation and of segmentation, how many answers are proved,
and tokens per second of one thread, all of the answering included.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from pathlib import Path

from hiddenite.restore import Restored, evaluate, train_restorer
from hiddenite.restore.folding import parse_what

ORDERS = (1, 2, 5)
MOST_LINES = 1000  # of the text that is restored


def lines(path: Path, most: int | None = None) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [line.strip() for line in itertools.islice(file, most)]


def tagged(path: Path) -> list[str]:
    """The sentences of a file of word TAB tag."""
    blocks = path.read_text("utf-8").split("\n\n")
    rows = ([row.split("\t")[0] for row in block.split("\n") if row] for block in blocks)
    return [" ".join(word.replace(" ", "_") for word in row) for row in rows if row]


def row(name: str, train: list[str], test: list[str], what: str) -> None:
    for order in ORDERS:
        restorer = train_restorer(lambda: train, parse_what(what), order)
        seen = [restorer.seen(line) for line in test]
        restorer.restore(seen[0])  # builds the index
        start = time.process_time()
        found = [one for one in restorer.restore_many(seen, threads=1) if isinstance(one, Restored)]
        seconds = time.process_time() - start
        score = evaluate(restorer.folding, test, [one.text for one in found])
        proved = sum(one.certificate.exact for one in found)
        print(
            f"{name:12} {what:22} order {order}: words {100 * score.word_accuracy:.2f} "
            f"events F1 {100 * score.event_f1:.2f} segmentation F1 {100 * score.span_f1:.2f} "
            f"proved {proved}/{len(test)}, {score.words / seconds:,.0f} tokens/s",
            flush=True,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    data = Path(sys.argv[1])
    wanted = sys.argv[2:]
    wiki, hansard, ud = data / "lm" / "wikitext-2", data / "lm" / "hansard", data / "tagged" / "ud"
    texts = {
        "wikitext-2": (lines(wiki / "train.txt"), lines(wiki / "test.txt", MOST_LINES)),
        "hansard": (lines(hansard / "train.txt", 300_000), lines(hansard / "heldout.txt", MOST_LINES)),
    }
    jobs = [("wikitext-2", what) for what in ("punctuation", "case", "punctuation,case", "spaces")]
    jobs += [("hansard", what) for what in ("punctuation", "spaces")]
    for language, name in (("spanish", "conll07_esp"), ("swedish", "sv_upos")):
        texts[language] = (tagged(ud / f"{name}-train.tsv"), tagged(ud / f"{name}-test.tsv"))
        jobs.append((language, "diacritics"))
    for name, what in jobs:
        if not wanted or name in wanted:
            row(name, *texts[name], what)


if __name__ == "__main__":
    main()
