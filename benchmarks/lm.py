"""The n-gram layer against KenLM: the same model, and what it costs to train, load, score and hold it.

    python benchmarks/lm.py [ROW ...] [--lmplz PATH] [--quick] [--write]

Needs the ``kenlm`` module and, beside the checkout as ``../shared/data`` or where ``HIDDENITE_DATA`` says,
the Penn Treebank and WikiText-2 texts (``lm/ptb``, ``lm/wikitext-2``: ``train.txt``, ``valid.txt``,
``test.txt``). ``--lmplz`` or ``LMPLZ`` names KenLM's estimator (docs/benchmarks.md says how to build it);
without it the rows that compare with its files and its time are left out. ``--write`` puts the rows into
RESULTS.md.

Times are wall-clock times, the two programs in turn, and the best of the repeats counts. Scoring is the work
of one thread and is timed by the processor time of that thread.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from report import Row, machine, table, write_section

from hiddenite import NgramModel, __version__

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench" / "lm"
ORDER = 5
# The texts hold <unk> as a word. lmplz refuses it, hiddenite takes it for the unknown word; renamed, it is an
# ordinary word to both.
RENAMED = b"<unk>", b"rare-word"
LN_10 = math.log(10)


@dataclass(frozen=True)
class Setup:
    """What the rows need to know."""

    data: Path
    lmplz: str | None
    repeats: int


@dataclass(frozen=True)
class Corpus:
    """A text with its models."""

    name: str
    folder: str
    expected: tuple[float, float]  # perplexity of valid and test under lmplz's model of order 5

    @property
    def slug(self) -> str:
        """Return the folder's own name."""
        return self.folder.rpartition("/")[2]


CORPORA = (
    Corpus("Penn Treebank", "lm/ptb", (148.01, 141.19)),
    Corpus("WikiText-2", "lm/wikitext-2", (239.98, 224.81)),
)


# ------------------------------------------------------------------------------------------- texts and models


def text(setup: Setup, corpus: Corpus, part: str) -> Path:
    """Return a part of the corpus with ``<unk>`` as an ordinary word."""
    path = BUILD / f"{corpus.slug}.{part}.txt"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        words = (setup.data / corpus.folder / f"{part}.txt").read_bytes()
        path.write_bytes(words.replace(*RENAMED))
    return path


def sentences(setup: Setup, corpus: Corpus, part: str) -> list[str]:
    """Return the lines of a part."""
    return text(setup, corpus, part).read_text(encoding="utf-8").splitlines()


def train_ours(source: Path, target: Path) -> None:
    """Train with the command line, as a user would."""
    command = Path(sys.executable).with_name("hiddenite")
    run(command, "lm", "train", source, "--order", ORDER, "--output", target, "--quiet")


def train_theirs(lmplz: str, source: Path, target: Path) -> None:
    """Train with lmplz; a gigabyte of memory is ample for these texts and faster than its default of 80 %."""
    run(lmplz, "-o", ORDER, "-S", "1G", "-T", BUILD, "--text", source, "--arpa", target)


def run(*command: object) -> None:
    """Run a program that is expected to succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")


def our_model(setup: Setup, corpus: Corpus) -> Path:
    """Return hiddenite's ARPA file, trained anew once a process: the code may have changed."""
    return _our_model(text(setup, corpus, "train"), BUILD / f"{corpus.slug}.hiddenite.arpa")


@functools.cache
def _our_model(source: Path, target: Path) -> Path:
    train_ours(source, target)
    return target


def their_model(setup: Setup, corpus: Corpus) -> Path | None:
    """Return lmplz's ARPA file."""
    path = BUILD / f"{corpus.slug}.lmplz.arpa"
    if setup.lmplz and not path.exists():
        train_theirs(setup.lmplz, text(setup, corpus, "train"), path)
    return path if path.exists() else None


# ----------------------------------------------------------------------------------------------------- timing


def best_in_turn(
    repeats: int,
    *jobs: Callable[[], object],
    in_a_row: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the best time of each job in seconds; in turn, so that all meet the same disturbances."""
    best = [math.inf] * len(jobs)
    for _ in range(repeats):
        for i, job in enumerate(jobs):
            for _ in range(in_a_row):
                begin = clock()
                job()
                best[i] = min(best[i], clock() - begin)
    return best


# ------------------------------------------------------------------------------------------------------- rows


def perplexity(setup: Setup) -> Row:
    """Perplexity of held-out text, and that of lmplz's model as it is known."""
    lines, worst = [], 0.0
    for corpus in CORPORA:
        model = NgramModel.load(our_model(setup, corpus))
        for part, expected in zip(("valid", "test"), corpus.expected, strict=True):
            found = model.score(sentences(setup, corpus, part)).summary().perplexity
            off = abs(found / expected - 1)
            worst = max(worst, off)
            lines.append((corpus.name, part, f"{found:.2f}", f"{expected:.2f}", f"{100 * off:.3f} %"))
    return Row(
        "Perplexity, order 5",
        "within 0.1 % of lmplz's model",
        f"at most {100 * worst:.3f} % off",
        worst <= 1e-3,
        table(("text", "part", "hiddenite", "lmplz", "off"), lines),
    )


def agreement(setup: Setup) -> Row:
    """N-grams and numbers of the two files for the same text."""
    if setup.lmplz is None:
        return left_out("N-grams and numbers against lmplz's file")
    lines, worst, same = [], 0.0, True
    for corpus in CORPORA:
        theirs = their_model(setup, corpus)
        assert theirs is not None
        found = compare_arpa(our_model(setup, corpus), theirs)
        worst, same = max(worst, found.max_difference), same and found.same_ngrams
        lines.append((corpus.name, f"{found.num_ngrams:,}", found.same_ngrams, f"{found.max_difference:.1e}"))
    return Row(
        "N-grams and numbers against lmplz's file, order 5",
        "the same n-grams, log10 within 1e-4",
        f"{'the same' if same else 'other'} n-grams, at most {worst:.1e} off",
        same and worst <= 1e-4,
        table(("text", "n-grams", "the same", "largest difference of log10 p or bow"), lines),
    )


@dataclass(frozen=True)
class Comparison:
    """Two ARPA files."""

    num_ngrams: int
    same_ngrams: bool
    max_difference: float  # of log10 probabilities and back-off weights


def compare_arpa(ours: Path, theirs: Path) -> Comparison:
    """Compare two files order by order; a reader of its own, so that no bug of ours can hide."""
    total, same, worst = 0, True, 0.0
    for left, right in zip(arpa_levels(ours), arpa_levels(theirs), strict=True):
        total += len(left)
        same = same and left.keys() == right.keys()
        for ngram in left.keys() & right.keys():
            for a, b in zip(left[ngram], right[ngram], strict=True):
                worst = max(worst, abs(a - b))
    return Comparison(total, same, worst)


def arpa_levels(path: Path) -> Iterator[dict[bytes, tuple[float, float]]]:
    """Yield, for each order, n-gram -> (log10 p, log10 bow); p(<s>) is no probability and becomes 0."""
    level: dict[bytes, tuple[float, float]] = {}
    with open(path, "rb") as lines:
        for line in lines:
            fields = line.rstrip(b"\n").split(b"\t")
            if line.startswith(b"\\") and level:
                yield level
                level = {}
            elif len(fields) > 1:
                log_prob = 0.0 if fields[1] == b"<s>" else float(fields[0])
                level[fields[1]] = log_prob, float(fields[2]) if len(fields) > 2 else 0.0


def training(setup: Setup) -> Row:
    """Text file to ARPA file, both programs with their command lines."""
    if setup.lmplz is None:
        return left_out("Training time")
    lines, worst = [], 0.0
    for corpus in CORPORA:
        source = text(setup, corpus, "train")
        ours, theirs = best_in_turn(
            setup.repeats,
            functools.partial(train_ours, source, BUILD / "timed.ours.arpa"),
            functools.partial(train_theirs, setup.lmplz, source, BUILD / "timed.theirs.arpa"),
        )
        worst = max(worst, ours / theirs)
        lines.append((corpus.name, f"{ours:.2f} s", f"{theirs:.2f} s", f"{ours / theirs:.2f}"))
    return Row(
        "Training, order 5, text to ARPA file",
        "at most 1.0 × lmplz",
        f"at most {worst:.2f} ×",
        worst <= 1.0,
        table(("text", "hiddenite lm train", "lmplz -S 1G", "ratio"), lines)
        + "\nTwo commands from start to end, the interpreter's start included; both use all cores.\n",
    )


def scoring(setup: Setup) -> Row:
    """Sentences from Python: all in one call with one thread, against kenlm's score() for each."""
    lines, worst = [], math.inf
    for corpus in CORPORA:
        path = their_model(setup, corpus) or our_model(setup, corpus)
        model, other = NgramModel.load(path), load_kenlm(path)
        lines_of_text = sentences(setup, corpus, "test")
        ours, theirs = best_in_turn(
            setup.repeats,
            functools.partial(model.score, lines_of_text, threads=1),
            functools.partial(score_kenlm, other, lines_of_text),
            in_a_row=5,
            clock=time.thread_time,
        )
        found = model.score(lines_of_text).summary()
        expected = LN_10 * score_kenlm(other, lines_of_text)
        rates = (f"{found.tokens / seconds / 1e6:.1f} M" for seconds in (ours, theirs))
        worst = min(worst, theirs / ours)
        off = f"{abs(found.log_prob / expected - 1):.0e}"
        lines.append((corpus.name, *rates, f"{theirs / ours:.2f}", off))
    head = ("text", "score(all)", "kenlm score(one)", "ratio", "sums differ by")
    return Row(
        "Scoring from Python, one thread, tokens per second",
        "at least 2 × kenlm's score()",
        f"at least {worst:.2f} ×",
        worst >= 2.0,
        table(head, lines)
        + "\nThe same sentences and the same model; `</s>` counts as a token. One call has all"
        "\nsentences; a call for each is measured by usage.py.\n",
    )


def score_kenlm(model: object, lines: Iterable[str]) -> float:
    """Return the sum of log10 probabilities under kenlm."""
    score = model.score  # type: ignore[attr-defined]
    return sum(score(line) for line in lines)


def load_kenlm(path: Path) -> object:
    """Load a file as kenlm does by default, without its progress bar."""
    import kenlm  # noqa: PLC0415  (the other rows can do without)

    config = kenlm.Config()
    config.show_progress = False
    return kenlm.Model(str(path), config)


def loading(setup: Setup) -> Row:
    """Text ARPA files into memory, the file in the system's cache."""
    lines, worst = [], 0.0
    for corpus in CORPORA:
        files = {"hiddenite": our_model(setup, corpus), "lmplz": their_model(setup, corpus)}
        for writer, path in files.items():
            if path is None:
                continue
            ours, theirs = best_in_turn(
                setup.repeats, functools.partial(NgramModel.load, path), functools.partial(load_kenlm, path)
            )
            worst = max(worst, ours / theirs)
            size = f"{path.stat().st_size / 1e6:.0f} MB"
            ratio = f"{ours / theirs:.2f}"
            lines.append((corpus.name, writer, size, f"{ours:.2f} s", f"{theirs:.2f} s", ratio))
    return Row(
        "Loading a text ARPA file, order 5",
        "at most 1.0 × kenlm.Model(file)",
        f"at most {worst:.2f} ×",
        worst <= 1.0,
        table(("text", "written by", "size", "NgramModel.load", "kenlm.Model", "ratio"), lines)
        + "\nkenlm builds its default structure (probing). hiddenite sorts levels on a "
        + "second core while it reads"
        "\nand computes the max columns.\n",
    )


MEASURE_MEMORY = """
import sys
from hiddenite import NgramModel
def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4096
before = resident()
model = NgramModel.load(sys.argv[1])
print(model.memory_bytes, sum(model.ngram_counts), resident() - before)
"""


def memory(setup: Setup) -> Row:
    """The table with its max columns and vocabulary, and the growth of the process as a check."""
    lines, worst = [], 0.0
    for corpus in CORPORA:
        command = [sys.executable, "-c", MEASURE_MEMORY, str(our_model(setup, corpus))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        table_bytes, ngrams, growth = map(int, done.stdout.split())
        worst = max(worst, table_bytes / ngrams)
        each = (f"{table_bytes / ngrams:.1f}", f"{growth / ngrams:.1f}")
        lines.append((corpus.name, f"{ngrams:,}", f"{table_bytes / 1e6:.1f} MB", *each))
    head = ("text", "n-grams", "table", "bytes per n-gram", "growth of the process per n-gram")
    return Row(
        "Memory after loading, order 5, max columns included",
        "at most 40 bytes per n-gram",
        f"at most {worst:.1f} bytes",
        worst <= 40.0,
        table(head, lines),
    )


def left_out(what: str) -> Row:
    """Return a row that needs lmplz."""
    return Row(what, "needs lmplz", "left out: no lmplz (give --lmplz PATH or set LMPLZ)", None)


ROWS: dict[str, Callable[[Setup], Row]] = {
    "perplexity": perplexity,
    "agreement": agreement,
    "training": training,
    "scoring": scoring,
    "loading": loading,
    "memory": memory,
}


# ------------------------------------------------------------------------------------------------------- main


def find_data() -> Path:
    """Return the folder of the texts, or stop with a message."""
    data = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
    missing = [corpus.folder for corpus in CORPORA if not (data / corpus.folder / "train.txt").is_file()]
    if missing:
        sys.exit(
            f"benchmarks/lm.py: no {' and no '.join(missing)} under {data}; "
            "set HIDDENITE_DATA to the folder that holds them"
        )
    return data


def find_lmplz(given: str | None) -> str | None:
    """Return the path of lmplz, None if there is none; stop if the one that was given cannot be run."""
    found = shutil.which(given or os.environ.get("LMPLZ", "lmplz"))
    if given and found is None:
        sys.exit(f"benchmarks/lm.py: {given} is no program")
    return found


def versions() -> str:
    """Return the versions of all that was measured."""
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=False).stdout
    parts = [f"hiddenite {__version__}", f"Python {sys.version.split()[0]}"]
    parts += [f"{name} {importlib.metadata.version(name)}" for name in ("kenlm", "numpy")]
    return ", ".join([*parts, compiler.splitlines()[0] if compiler else "unknown compiler"])


def main() -> None:
    """Run the rows asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--lmplz", metavar="PATH")
    parser.add_argument("--quick", action="store_true", help="one repeat, to see that everything runs")
    parser.add_argument("--write", action="store_true", help="put the rows into RESULTS.md")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.rows if name not in ROWS]
    if unknown:
        parser.error(f"no row {unknown[0]}, expected {', '.join(ROWS)}")
    setup = Setup(find_data(), find_lmplz(arguments.lmplz), 1 if arguments.quick else 5)
    print(f"{machine()}\n{versions()}, {time.strftime('%Y-%m-%d')}")
    for name in arguments.rows or ROWS:
        row = ROWS[name](setup)
        print(f"\n{row.what}\n   bar: {row.bar}\n   measured: {row.measured}: {row.verdict}\n\n{row.details}")
        if arguments.write:
            details = f"{row.details}\n<sub>{versions()}, {time.strftime('%Y-%m-%d')}</sub>\n"
            write_section(
                "N-gram language models", {name: Row(row.what, row.bar, row.measured, row.met, details)}
            )


if __name__ == "__main__":
    main()
