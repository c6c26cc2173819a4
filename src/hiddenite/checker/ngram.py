"""Check that an answer is the best of all, with the ARPA file and the proof and nothing else.

    python ngram.py LM.arpa[.gz|.bz2|.xz] PROOF.jsonl[.gz]        needs Python 3.11 alone

The weight of words x_1 .. x_L, one candidate of each position, is the sum of ln p(x_i | <s> x_1 .. x_(i-1)),
of the candidates' weights, and of ln p(</s> | ..) if the text ends. A record claims that its words weigh the
most. The candidates and their weights belong to the claim: whoever checks it compares them with their own.

Numbers. The model's are the file's log10 times ln 10, rounded to single precision; -99 and -inf are ln 0. An
n-gram implies its context and its suffix: where the file leaves them out, they have the probability that
backing off gives, in single precision. Sums are rounded upwards, so what is accepted holds for real numbers,
but for the rounding of the claimed weight itself: TOLERANCE, relative to the sizes of its terms.

The proof lists contexts for each position, each with an upper weight: whatever follows weighs no more.
    closed s   all histories whose longest listed suffix is s; w costs p(w | s)
    open s     all histories that end in s; w costs the most that it costs after any, max p(w | .. s)
After a word, any context of the next position that holds may be used; the one that knows most is. The proof
is right if the claimed words weigh as much as the start's upper weight and, for each s and candidate w,
    ln bound(w | s) + weight(w) + upper(next context) <= upper(s).
Weights are measured from the best of their position, so that their size costs no digits.

max p(w | .. s). With left extensions c = x s, and b(s) the back-off weight of s,
    mb(s)    = b(s) max(1, max over c of mb(c))
    mf(s, w) = max(p(w | s) max(1, max over c without w of mb(c)), max over c with w of mf(c, w)),
and the bound is mf(s, w) if (s, w) is listed, else mb(s) p(w | s without its first word). <s> stands at the
beginning of a context and nowhere else. docs/theory-exact.md has the proofs.
"""

import bz2
import gzip
import json
import lzma
import math
import sys
from array import array
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import groupby
from struct import pack
from typing import Any

FORMAT, VERSION = "hiddenite proof of n-gram decoding", 1
TOLERANCE = 2.0**-50  # for each position, and for each word of the model's order and eight more
UNKNOWN, BEGIN, END, ZERO = b"<unk>", b"<s>", b"</s>", -math.inf


class Refused(Exception):
    """What is wrong, in one line."""


def add(a: float, b: float) -> float:  # a + b, rounded upwards: what rounding took is known exactly
    total = a + b
    part = total - a
    return math.nextafter(total, math.inf) if (a - (total - part)) + (b - part) > 0 else total


def suffix(ngram: bytes) -> bytes:  # without the first word
    return ngram.partition(b" ")[2]


def context(ngram: bytes) -> bytes:  # without the last word
    return ngram.rpartition(b" ")[0]


def length(ngram: bytes) -> int:  # in words
    return ngram.count(b" ") + 1 if ngram else 0


def number(value: Any) -> float:  # null is ln 0
    if value is not None and (type(value) not in (int, float) or not math.isfinite(value)):
        raise Refused(f"found {value!r}, expected a number")
    return ZERO if value is None else float(value)


def singles(log10_values: list[float]) -> list[float]:  # times ln 10; no negative zero
    return array("f", [ZERO if x == -99 else x * 2.302585092994045684 + 0.0 for x in log10_values]).tolist()


def read_lines(path: str) -> Iterator[bytes]:  # decompressed if the first bytes say so
    kinds: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
    with open(path, "rb") as file:
        opened = [kind(file) for magic, kind in kinds.items() if file.peek(5).startswith(magic)]
        yield from opened[0] if opened else file


class Model:
    """An ARPA file. An n-gram is its words' bytes with single blanks between them."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        n = self.order = 0
        self.prob: dict[bytes, float] = {}  # ln p of every n-gram, shorter ones first
        self.backoff: dict[bytes, float] = {}  # ln b of contexts with successors or a weight
        for is_marker, group in groupby(lines, lambda line: line[:1] == b"\\"):
            if is_marker:
                markers = [line.strip() for line in group]
                if b"\\data\\" in markers:  # before it is a preamble, be it a model
                    self.prob, self.backoff = {}, {}
                n = int(markers[-1][1:-7]) if markers[-1].endswith(b"-grams:") else 0
            elif n:
                self.add(n, group)
            else:
                self.order = sum(line.startswith(b"ngram ") for line in group) or self.order
        if n or not 0 < length(next(reversed(self.prob), b"")) <= self.order:
            raise Refused("the model is no ARPA file, or its end is missing")
        self.close()
        self.raised: dict[bytes, list[tuple[float, bytes]]] = {}  # [s]: (ln mb(c), c) above 0, largest first
        self.max_prob: dict[bytes, float] = {}  # ln mf where it is above ln p
        self.maximize()

    def add(self, n: int, lines: Iterable[bytes]) -> None:  # log10 p, n words, log10 b, two columns more
        ngrams, probs, weights = [], [], []
        for line in lines:
            row = line.replace(b"<UNK>", UNKNOWN).split()
            if len(row) > n:
                ngrams.append(b" ".join(row[1 : n + 1]))
                probs.append(float(row[0]))
                weights.append(float(row[n + 1]) if n < self.order and len(row) in (n + 2, n + 4) else 0.0)
        self.prob.update(zip(ngrams, singles(probs), strict=True))
        self.prob.update((s, ZERO) for s in ngrams if s.endswith(BEGIN) and (b" " + s).endswith(b" <s>"))
        self.backoff.update((s, 0.0) for s in map(context, ngrams) if s not in self.backoff)
        self.backoff.update((s, weight) for s, weight in zip(ngrams, singles(weights), strict=True) if weight)

    def close(self) -> None:
        stack = [UNKNOWN, BEGIN, END, *(s for s in self.backoff if s not in self.prob)]
        stack += (s for s in map(suffix, self.prob) if s not in self.prob)
        implied = set()
        while stack:
            ngram = stack.pop()
            if ngram and ngram not in self.prob and ngram not in implied:
                implied.add(ngram)
                stack += [context(ngram), suffix(ngram)]
        for ngram in sorted(implied, key=length):
            value = self.weight(context(ngram)) + self.prob[suffix(ngram)] if b" " in ngram else ZERO
            self.prob[ngram] = array("f", [value])[0]
            self.backoff.setdefault(context(ngram), 0.0)
        if implied:
            self.prob = dict(sorted(self.prob.items(), key=lambda item: length(item[0])))

    def weight(self, s: bytes, closed: bool = True) -> float:  # ln b(s), or ln mb(s)
        weight = self.backoff.get(s, 0.0)
        return weight if closed or s not in self.raised else add(weight, self.raised[s][0][0])

    def maximize(self) -> None:
        above = {s for s, weight in self.backoff.items() if weight > 0}
        for n in range(self.order - 1, 0, -1):
            for c in [s for s in above if length(s) == n]:
                if (weight := self.weight(c, False)) > 0 and b" <s> " not in c + b" ":  # it only begins
                    self.raised.setdefault(suffix(c), []).append((weight, c))
                    above.add(suffix(c))
            for found in self.raised.values():
                found.sort(reverse=True)
        best = self.max_prob
        for ngram, prob in reversed(self.prob.items()):
            value, s = best.get(ngram, prob), suffix(ngram)
            if self.raised:
                before, _, word = ngram.rpartition(b" ")
                gains = [b for b, c in self.raised.get(before, ()) if c + b" " + word not in self.prob]
                if gains and (raised := add(prob, gains[0])) > value:
                    best[ngram] = value = raised
            if s and value > self.prob[s] and value > best.get(s, ZERO) and b" <s> " not in ngram + b" ":
                best[s] = value

    def checksum(self) -> str:  # sum of the SHA-256 of each n-gram's words, a tab, ln p and ln b in singles
        total, weight = 0, self.backoff.get
        for ngram, prob in self.prob.items():
            line = ngram + b"\t" + pack("<ff", prob, weight(ngram, 0.0))
            total += int.from_bytes(sha256(line).digest())
        return f"{total % 2**256:064x}"

    def own(self, s: bytes) -> bytes:  # the longest suffix that is a context: after both follows the same
        while s and s not in self.backoff:
            s = suffix(s)
        return s

    def terms(self, words: list[bytes]) -> list[float]:  # of ln p(last word | those before)
        found, ngram = [], b" ".join(words[-self.order :])
        while ngram not in self.prob:
            found.append(self.weight(context(ngram)))
            ngram = suffix(ngram)
        return [*found, self.prob[ngram]]


class Record:
    """One claim and its proof."""

    def __init__(self, model: Model, record: dict[str, Any]) -> None:
        if "error" in record:
            raise Refused(f"there is no proof: {record['error']}")
        self.model, self.log_weight = model, number(record["log_weight"])
        self.words = [word.encode() for word in record["words"]]
        self.slots: list[dict[bytes, float]] = []  # weights by spelling
        self.weights: list[dict[bytes, float]] = []  # by the model's words, measured from the best
        for slot in record["slots"]:
            given = {word.encode(): number(weight) for weight, words in slot for word in words}
            best = max(given.values())
            pairs = sorted((weight, self.known(word)) for word, weight in given.items() if weight > ZERO)
            self.weights.append({word: add(weight, -best) for weight, word in pairs})
            self.slots.append(given)
        self.weights += [{END: 0.0}] if record["end"] is True else []
        self.uppers: list[dict[tuple[bytes, bool], float]] = []  # by context, and whether it is closed
        for contexts in record["contexts"]:
            rows = [(s.encode(), {"open": False, "closed": True}[kind], upper) for s, kind, upper in contexts]
            self.uppers.append({(model.own(s) if closed else s, closed): number(u) for s, closed, u in rows})
        if len(self.words) != len(self.slots) or len(self.uppers) != len(self.weights):
            raise Refused("words, slots and contexts have different numbers of positions")
        self.rows: dict[tuple[int, bytes, bool], list[tuple[float, bytes]]] = {}

    def known(self, word: bytes) -> bytes:
        return word if word in self.model.prob and b" " not in word else UNKNOWN

    def check(self) -> float:  # how far above the claimed words the optimum can lie
        weight, tolerance = self.claim()
        for i in range(len(self.weights) - 1, -1, -1):
            for (s, closed), upper in self.uppers[i].items():
                if (value := self.largest(i, s, closed)) > upper:
                    place = f"position {i + 1}, {'closed' if closed else 'open'} '{s.decode()}'"
                    raise Refused(f"{place}: {value!r} may follow, more than its upper weight {upper!r}")
        gap = self.upper(0, BEGIN, True) - weight
        if not gap <= tolerance:
            raise Refused(f"the bound is {gap!r} above the words: they are not proved to be the best")
        return max(gap, 0.0)

    def claim(self) -> tuple[float, float]:  # the words' weight, measured from the best, and its tolerance
        channel = [slot[word] for slot, word in zip(self.slots, self.words, strict=True)]
        path = [BEGIN, *map(self.known, self.words), *[END] * (len(self.weights) - len(self.slots))]
        terms = [x for i in range(2, len(path) + 1) for x in self.model.terms(path[:i])]
        if ZERO in terms or ZERO in channel:
            raise Refused("the claimed words have probability zero")
        tolerance = TOLERANCE * (self.model.order + 8) * (len(self.weights) + 1)
        total = math.fsum([*channel, *terms])
        if not abs(total - self.log_weight) <= tolerance * math.fsum(map(abs, [*channel, *terms])):
            raise Refused(f"the words weigh {total!r}, the record claims {self.log_weight!r}")
        best = [max(slot.values()) for slot in self.slots]
        size = math.fsum([1.0, *map(abs, terms), *best, *(-weight for weight in channel)])
        return math.fsum([*channel, *terms, *(-weight for weight in best)]), tolerance * size

    def largest(self, i: int, s: bytes, closed: bool) -> float:  # what a candidate and all after it weigh
        # Words that s lists have a row of their own. The others cost a back-off weight and what they cost
        # after the suffix of s, and leave the same behind as after it; and so on, down to the words alone.
        largest, backoff, longer = ZERO, 0.0, b""
        while True:
            for value, word in self.row(i, s, closed):
                if not longer or longer + b" " + word not in self.model.prob:
                    largest = max(largest, add(backoff, value))
                    break
            if not s:
                return largest
            backoff = add(backoff, self.model.weight(s, closed))
            s, closed, longer = suffix(s), True, s

    def row(self, i: int, s: bytes, closed: bool) -> list[tuple[float, bytes]]:  # of words that s lists
        if (i, s, closed) not in self.rows:
            prob, order, n, prefix = self.model.prob, self.model.order, length(s) + 1, s + b" " if s else s
            bounds, found = prob if closed else self.model.max_prob, []
            for word, weight in self.weights[i].items():
                ngram = prefix + word
                if ngram in prob and (bound := bounds.get(ngram, prob[ngram])) > ZERO:
                    after = ngram if n < order else suffix(ngram)
                    rest = self.upper(i + 1, after, closed or n >= order - 1)
                    found.append((add(add(bound, weight), rest), word))
            self.rows[i, s, closed] = sorted(found, reverse=True)
        return self.rows[i, s, closed]

    def upper(self, i: int, s: bytes, closed: bool) -> float:  # after a history that ends in s, or is closed
        if i == len(self.weights):
            return 0.0
        if closed and (self.model.own(s), True) in self.uppers[i]:
            return self.uppers[i][self.model.own(s), True]
        while s and (s, False) not in self.uppers[i]:
            s = suffix(s)
        return self.uppers[i].get((s, False), math.inf)  # no context holds: anything may follow


def check_lines(model: Model, lines: Iterable[bytes]) -> Iterator[tuple[Any, float, str]]:
    """Give each record's id, gap, and what is wrong with it; at last None, 0, what is wrong with the file."""
    read, count, fault = map(json.loads, lines), 0, ""
    try:
        header: Any = next(read, {})
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise Refused(f"expected the format '{FORMAT}', version {VERSION}")
        if header["model"] != model.checksum():
            raise Refused("the proofs are about another model")
        while "records" not in (record := next(read, {"records": "nothing"})):
            count += 1
            try:
                yield record.get("id"), Record(model, record).check(), ""
            except Exception as error:
                wrong = str(error) if isinstance(error, Refused) else f"it is damaged: {error!r}"
                yield record.get("id"), math.inf, wrong
        if record["records"] != count or next(read, None) is not None:
            raise Refused(f"found {count} records or more, its last line says {record['records']}")
    except Exception as error:
        fault = str(error) if isinstance(error, Refused) else f"it is damaged: {error!r}"
    yield None, 0.0, fault


if __name__ == "__main__":
    results = [*check_lines(Model(read_lines(sys.argv[1])), read_lines(sys.argv[2]))]
    print(*results, sep="\n")
    sys.exit(any(fault for *_, fault in results))
