"""Proofs that leave the house, measured: how many are accepted, how large they are, what checking costs.

    python benchmarks/proofs.py [ROW ...] [--quick] [--write]

Messages are those of ``sms.py`` (keypad, 10 k words, order 5), sentences those of UD English-EWT under a
tagger of order 5; needs the texts of ``sms.DATA``. Every answer is proved by the engine and checked by
``hiddenite.checker.ngram``, which reads the ARPA file itself. Times are those of the processor.
"""

from __future__ import annotations

import copy
import functools
import gzip
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sms
from report import Row, run_rows, table

from hiddenite import Keypad, NgramModel, Tagger, decode
from hiddenite.checker import ngram as checker
from hiddenite.results import Decoded, Proof
from hiddenite.tag import read_tagged

ORDER = 5
READ = "--read-alone"
MOST_BYTES, MOST_SECONDS, MOST_READING = 200_000, 2.0, 60.0


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    messages: dict[int, int]  # by number of words
    sentences: int
    changes: int


QUICK = Sizes({5: 3, 10: 3}, 5, 40)
FULL = Sizes({5: 241, 10: 241, 20: 18}, 500, 2000)


@dataclass(frozen=True)
class Checked:
    """What became of one proof."""

    accepted: bool
    num_bytes: int  # as JSON
    num_packed: int  # compressed
    refinements: int
    contexts: int
    prove: float  # seconds
    check: float
    gap: float


def checked(model: checker.Model, proof: Proof, prove: float) -> Checked:
    """Check a proof as a reader of its file does."""
    text = json.dumps(proof.to_dict(), ensure_ascii=False, separators=(",", ":")).encode()
    begin = time.process_time()
    try:
        gap = checker.Record(model, json.loads(text)).check()
    except checker.Refused:
        gap = float("inf")
    seconds = time.process_time() - begin
    contexts = sum(map(len, proof.contexts))
    packed = len(gzip.compress(text, 6))
    return Checked(gap < 1e-9, len(text), packed, proof.refinements, contexts, prove, seconds, gap)


def proved(answer: Callable[[], Any]) -> tuple[Proof, float]:
    """Return a proof and the time that decoding and proving took."""
    begin = time.process_time()
    proof = answer().proof
    return proof, time.process_time() - begin


HEAD = (
    "words",
    "proofs",
    "accepted",
    "refinements",
    "contexts",
    "decoded and proved, ms",
    "kB",
    "kB, gzip",
    "checked, s",
)


def summary(name: object, rows: list[Checked]) -> list[object]:
    """Return a row of the table: medians and, in parentheses, the largest."""

    def both(values: Iterable[float], form: str) -> str:
        given = list(values)
        return f"{statistics.median(given):{form}} ({max(given):{form}})"

    return [
        name,
        len(rows),
        sum(row.accepted for row in rows),
        both((row.refinements for row in rows), ".0f"),
        both((row.contexts for row in rows), ".0f"),
        both((1e3 * row.prove for row in rows), ".3g"),
        both((row.num_bytes / 1e3 for row in rows), ".3g"),
        both((row.num_packed / 1e3 for row in rows), ".3g"),
        both((row.check for row in rows), ".2g"),
    ]


def verdict(what: str, groups: dict[Any, list[Checked]], note: str) -> Row:
    """Return the row of a task."""
    rows = [row for group in groups.values() for row in group]
    accepted = sum(row.accepted for row in rows)
    size = statistics.median(row.num_bytes for row in rows)
    slowest = max(row.check for row in rows)
    gap = max(row.gap for row in rows)
    return Row(
        what,
        "100 % accepted; median below 200 kB; each checked in less than 2 s",
        f"{accepted} of {len(rows)} accepted, median {size / 1e3:.3g} kB, slowest check {slowest:.2g} s",
        accepted == len(rows) and size < MOST_BYTES and slowest < MOST_SECONDS,
        table(HEAD, [summary(name, group) for name, group in groups.items()])
        + f"\nMedians, in parentheses the largest. {note} The largest gap, which is rounding: {gap:.1e}.\n",
    )


# ---------------------------------------------------------------------- tasks


@functools.cache
def language_model() -> tuple[NgramModel, checker.Model]:
    """Return the Hansard model as the engine and as the checker have it."""
    path = sms.model_file(sms.CORPORA["hansard"], ORDER)
    return NgramModel.load(path), checker.Model(checker.read_lines(str(path)))


@functools.cache
def tagger() -> tuple[Tagger, checker.Model]:
    """Return the tagger, and its model of tags as the checker has it."""
    trained = Tagger.train(sentences("train"), order=ORDER)
    path = sms.BUILD / "models" / f"ewt-tags-{ORDER}.arpa"
    path.parent.mkdir(parents=True, exist_ok=True)
    trained.model.transitions.save(path)
    return trained, checker.Model(checker.read_lines(str(path)))


def sentences(part: str) -> list[list[tuple[str, str]]]:
    """Return the sentences of a part of EWT."""
    file = sms.DATA / "tagged" / f"en_ewt-ud-{part}.conllu"
    return [record.pairs() for record in read_tagged(str(file), column="xpos") if record.words]


def messages(length: int, count: int) -> list[Callable[[], Decoded]]:
    """Return what decodes and proves each message."""
    lm, _ = language_model()
    channel = Keypad(lm.vocabulary)
    keys = sms.type_keys(sms.messages(sms.CORPORA["hansard"], length, count))
    return [functools.partial(decode, lm, channel(line), proof=True) for line in keys]


def of_messages(sizes: Sizes) -> Row:
    """Prove and check messages."""
    _, model = language_model()
    messages(5, 1)[0]()  # the engine builds its index on first use
    groups = {
        length: [checked(model, *proved(answer)) for answer in messages(length, count)]
        for length, count in sizes.messages.items()
    }
    total = sum(sizes.messages.values())
    return verdict(
        f"Proofs of {total} messages typed on a keypad, order {ORDER}",
        groups,
        "A position has about 700 candidates; they and their weights are most of a proof.",
    )


def of_sentences(sizes: Sizes) -> Row:
    """Prove and check tagged sentences."""
    trained, model = tagger()
    rows = []
    for sentence in sentences("test")[: sizes.sentences]:
        words = [word for word, _ in sentence]
        rows.append(checked(model, *proved(functools.partial(trained.tag, words, proof=True))))
    what = f"Proofs of {len(rows)} tagged sentences, order {ORDER}"
    return verdict(what, {"all": rows}, "UD English-EWT, test.")


def of_reading(_: Sizes) -> Row:
    """Read a model with the checker."""
    path = str(sms.model_file(sms.CORPORA["hansard"], ORDER))
    # In a process of its own: memory that was in use before would hide what this takes.
    done = subprocess.run([sys.executable, __file__, READ, path], capture_output=True, check=True)
    count, read, total, memory, name = json.loads(done.stdout)
    begin = time.process_time()
    same = NgramModel.load(path).fingerprint == name
    engine = time.process_time() - begin
    two_million = 2e6 * total / count
    return Row(
        f"A model read by the checker: {count / 1e6:.2f} million n-grams of order {ORDER}",
        "2 million in at most 60 s",
        f"{total:.1f} s, that is {two_million:.1f} s for 2 million",
        two_million <= MOST_READING and same,
        table(
            (
                "n-grams",
                "read and maximised, s",
                "with the checksum, s",
                "memory, GB",
                "the engine's load and checksum, s",
            ),
            [(f"{count:,}", f"{read:.1f}", f"{total:.1f}", f"{memory:.2f}", f"{engine:.1f}")],
        ),
    )


def read_alone(path: str) -> None:
    """Print number of n-grams, seconds without and with the checksum, gigabytes, and the checksum."""
    begin = time.process_time()
    model = checker.Model(checker.read_lines(path))
    read = time.process_time() - begin
    name = model.checksum()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps([len(model.prob), read, time.process_time() - begin, memory, name]))


# -------------------------------------------------------------------- changes


def lower(rng: random.Random, record: dict[str, Any]) -> None:
    """Lower an upper weight by a millionth."""
    row = rng.choice([row for rows in record["contexts"] for row in rows if row[2] is not None])
    row[2] -= 1e-6 * (1 + abs(row[2]))


def reweigh(rng: random.Random, record: dict[str, Any]) -> None:
    """Change the claimed weight by a millionth."""
    record["log_weight"] += rng.choice([-1e-6, 1e-6]) * (1 + abs(record["log_weight"]))


def swap(rng: random.Random, record: dict[str, Any]) -> None:
    """Claim another candidate, its channel weight put right."""
    open_positions = [i for i, slot in enumerate(record["slots"]) if sum(len(words) for _, words in slot) > 1]
    if not open_positions:
        return reweigh(rng, record)
    i = rng.choice(open_positions)
    weights = {word: weight for weight, words in record["slots"][i] for word in words}
    word = rng.choice([word for word in weights if word != record["words"][i]])
    record["log_weight"] += weights[word] - weights[record["words"][i]]
    record["words"][i] = word
    return None


def raise_candidate(rng: random.Random, record: dict[str, Any]) -> None:
    """Give the claimed word a better channel weight."""
    i = rng.randrange(len(record["words"]))
    row = next(row for row in record["slots"][i] if record["words"][i] in row[1])
    row[0] += 0.01


def drop_start(rng: random.Random, record: dict[str, Any]) -> None:
    """Leave out the contexts of a position."""
    rng.choice(record["contexts"]).clear()


CHANGES = (lower, reweigh, swap, raise_candidate, drop_start)


def of_changes(sizes: Sizes) -> Row:
    """Change real proofs, each so that it proves nothing any more, and check them."""
    rng = random.Random(1)
    length = min(sizes.messages)
    proofs = [(language_model()[1], answer().proof) for answer in messages(length, sizes.messages[length])]
    trained, tags = tagger()
    for sentence in sentences("test")[: sizes.sentences]:
        proofs.append((tags, trained.tag([word for word, _ in sentence], proof=True).proof))
    told: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for number in range(sizes.changes):
        change = CHANGES[number % len(CHANGES)]
        model, proof = rng.choice(proofs)
        assert proof is not None
        record = copy.deepcopy(proof.to_dict())
        change(rng, record)
        told[change.__name__] += 1
        try:
            checker.Record(model, record).check()
        except checker.Refused:
            refused[change.__name__] += 1
    return Row(
        f"{sizes.changes} changes of real proofs, of messages of {length} words and of tagged sentences",
        "100 % refused",
        f"{refused.total()} of {told.total()} refused",
        refused == told,
        table(
            ("change", "proofs", "refused"),
            [(change.__doc__, told[change.__name__], refused[change.__name__]) for change in CHANGES],
        ),
    )


ROWS: dict[str, Callable[[Sizes], Row]] = {
    "1": of_messages,
    "2": of_sentences,
    "3": of_reading,
    "4": of_changes,
}


def main() -> None:
    """Run the rows asked for."""
    if sys.argv[1:2] == [READ]:
        return read_alone(sys.argv[2])
    return run_rows("Proofs", __doc__, ROWS, lambda _, quick: QUICK if quick else FULL)


if __name__ == "__main__":
    main()
