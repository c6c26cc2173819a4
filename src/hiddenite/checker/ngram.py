"""Check that an answer is the best of all, with the ARPA file and the proof and nothing else.

    python ngram.py LM.arpa[.gz|.bz2|.xz] PROOF.jsonl[.gz]        needs Python 3.11 alone

The weight of words x_1 .. x_L, one candidate of each position, is the sum of ln p(x_i | <s> x_1 .. x_(i-1)),
of the candidates' weights, and of ln p(</s> | ..) if the text ends. A record claims that its words weigh most.

Numbers. The model's are the file's log10 times ln 10, rounded to single precision; -99 and -inf are zero
probability. An n-gram implies its context and its suffix: where the file leaves them out, they have the
probability that backing off gives, in single precision. Sums are rounded upwards, so what is accepted holds
for real numbers. A claim may be off by the rounding of doubles: TOLERANCE, relative to the sizes of its terms.

The proof. It lists contexts for each position, each with an upper weight: whatever follows weighs no more.
    closed s   all histories whose longest listed suffix is s; w costs p(w | s)
    open s     all histories that end in s; w costs the most that it costs after any of them, max p(w | .. s)
After a word, what is known of the history decides which contexts of the next position hold; any of them may be
used, and the one that knows most is. The proof is right if for each context s and each candidate w
    ln bound(w | s) + weight(w) + upper(next context) <= upper(s),
since then, from the last position to the first, no path weighs more than the upper weight of the start, and if
the claimed words weigh as much. Nothing else in the file is believed. Candidates' weights are measured from the
best of their position, so that their size costs no digits.

max p(w | .. s). With left extensions c = x s, and b(s) the back-off weight of s,
    mb(s)    = b(s) max(1, max over c of mb(c))
    mf(s, w) = max(p(w | s) max(1, max over c without w of mb(c)), max over c with w of mf(c, w)),
and the bound is mf(s, w) if (s, w) is listed, else mb(s) p(w | s without its first word). A context that begins
with <s> has no left extension. (docs/theory-exact.md has the proof.)
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import sys
from array import array
from collections.abc import Iterable, Iterator
from hashlib import sha256
from struct import Struct
from typing import Any

FORMAT, VERSION = "hiddenite proof of n-gram decoding", 1
LN_10 = 2.302585092994045684
TOLERANCE = 2.0**-50  # per position, and per word of the model's order and a few more
UNKNOWN, BEGIN, END = b"<unk>", b"<s>", b"</s>"
ZERO = -math.inf
SINGLES = Struct("<ff")


class Refused(Exception):  # what is wrong, in one line
    pass


def up(x: float) -> float:  # a rounded sum, moved to where it is not below the true one
    return x if x == ZERO else math.nextafter(x, math.inf)


def suffix(ngram: bytes) -> bytes:  # without the first word
    return ngram.partition(b" ")[2]


def context(ngram: bytes) -> bytes:  # without the last word
    return ngram.rpartition(b" ")[0]


def length(ngram: bytes) -> int:  # in words
    return ngram.count(b" ") + 1 if ngram else 0


def begins(ngram: bytes) -> bool:  # with <s>
    return (ngram + b" ").startswith(b"<s> ")


def number(value: Any) -> float:  # null is ln 0
    if value is not None and (type(value) not in (int, float) or not math.isfinite(value)):
        raise Refused(f"found {value!r}, expected a number")
    return ZERO if value is None else float(value)


def singles(log10_values: list[float]) -> list[float]:
    return array("f", [ZERO if x == -99 else x * LN_10 + 0.0 for x in log10_values]).tolist()


def open_file(path: str) -> Iterable[bytes]:  # lines, decompressed if the first bytes say so
    stream: Any = open(path, "rb")
    head = stream.peek(6)
    for magic, module in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ\0", lzma)):
        if head.startswith(magic):
            stream = io.BufferedReader(module.open(stream), 1 << 20)
    return stream


class Model:
    """An ARPA file. An n-gram is its words' bytes with single blanks between them."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.order = 0
        self.prob: dict[bytes, float] = {}  # ln p of every n-gram, shorter ones first
        self.backoff: dict[bytes, float] = {}  # ln b of the contexts that have successors or a weight
        self.read(lines)
        self.close()
        self.extensions: dict[bytes, list[tuple[float, bytes]]] = {}  # of s: (ln mb(c), c) above 0, largest first
        self.max_prob: dict[bytes, float] = {}  # ln mf where it is above ln p
        self.maximize()

    def read(self, lines: Iterable[bytes]) -> None:
        n, batch = 0, []
        for line in lines:
            if n and line[:1] != b"\\":
                batch.append(line)
                if len(batch) < 1 << 16:
                    continue
            if batch:
                self.add(n, batch)
                batch = []
            marker = line.strip().removeprefix(b"\xef\xbb\xbf")
            if marker == b"\\data\\":  # what stands before it is a preamble, be it a model
                self.order = n = 0
                self.prob, self.backoff = {}, {}
            elif marker.startswith(b"\\") and marker.endswith(b"-grams:"):
                n = int(marker[1:-7])
            elif marker == b"\\end\\":
                n = 0
            elif n == 0 and marker.startswith(b"ngram ") and not self.prob:
                self.order = max(self.order, int(marker[6:].partition(b"=")[0]))
        if n or not self.prob:
            raise Refused("the model is no ARPA file, or its end is missing")

    def add(self, n: int, lines: list[bytes]) -> None:  # log10 p, n words, or also log10 b, or also two columns
        rows = [fields for line in lines if (fields := line.split())]
        ngrams = [b" ".join(fields[1 : n + 1]).replace(b"<UNK>", UNKNOWN) for fields in rows]
        size = len(self.prob) + len(ngrams)
        self.prob.update(zip(ngrams, singles([float(fields[0]) for fields in rows]), strict=True))
        self.prob.update((s, ZERO) for s in ngrams if s.endswith(BEGIN) and (b" " + s).endswith(b" <s>"))
        if len(self.prob) != size or length(ngrams[0]) != n:
            raise Refused(f"the model lists an n-gram twice, or one that is not of {n} words")
        if n > 1:
            self.backoff.update((c, 0.0) for s in ngrams if (c := context(s)) not in self.backoff)
        if n < self.order:
            weights = singles([float(f[n + 1]) if len(f) in (n + 2, n + 4) else 0.0 for f in rows])
            self.backoff.update((s, b) for s, b in zip(ngrams, weights, strict=True) if b)

    def close(self) -> None:
        implied = {w for w in (UNKNOWN, BEGIN, END) if w not in self.prob}
        stack = [s for s in self.prob if b" " in s]
        while stack:
            ngram = stack.pop()
            missing = [s for s in (context(ngram), suffix(ngram)) if s not in self.prob and s not in implied]
            implied.update(missing)
            stack += missing
        for ngram in sorted(implied, key=length):
            backed_off = self.weight(context(ngram)) + self.prob.get(suffix(ngram), ZERO)
            self.prob[ngram] = array("f", [backed_off])[0]
            self.backoff.setdefault(context(ngram), 0.0)
        if implied:
            self.prob = dict(sorted(self.prob.items(), key=lambda item: length(item[0])))

    def weight(self, s: bytes) -> float:  # ln b(s)
        return self.backoff.get(s, 0.0)

    def max_weight(self, s: bytes) -> float:  # ln mb(s)
        return up(self.weight(s) + self.extensions[s][0][0]) if s in self.extensions else self.weight(s)

    def maximize(self) -> None:
        above = {s for s, weight in self.backoff.items() if weight > 0}
        for n in range(self.order - 1, 0, -1):
            for c in [s for s in above if length(s) == n]:
                if self.max_weight(c) > 0 and not begins(suffix(c)):
                    self.extensions.setdefault(suffix(c), []).append((self.max_weight(c), c))
                    above.add(suffix(c))
            for found in self.extensions.values():
                found.sort(reverse=True)
        best = self.max_prob
        for ngram, prob in reversed(self.prob.items()):
            value = best.get(ngram, prob)
            if self.extensions and (raised := up(prob + self.gain(ngram))) > value:
                best[ngram] = value = raised
            s = suffix(ngram)
            if s and value > self.prob[s] and value > best.get(s, ZERO) and not begins(s):
                best[s] = value

    def gain(self, ngram: bytes) -> float:  # ln max(1, max over left extensions without the word of mb)
        s, _, word = ngram.rpartition(b" ")
        weights = (weight for weight, c in self.extensions.get(s, ()) if c + b" " + word not in self.prob)
        return next(weights, 0.0)

    def checksum(self) -> str:  # sum of the SHA-256 of every n-gram's words, tab, ln p and ln b in singles
        total, weight, pack = 0, self.backoff.get, SINGLES.pack
        for ngram, prob in self.prob.items():
            total += int.from_bytes(sha256(ngram + b"\t" + pack(prob, weight(ngram, 0.0))).digest())
        return f"{total % 2**256:064x}"

    def own(self, s: bytes) -> bytes:  # its longest suffix that predicts anything of its own: all else is as after it
        while s and s not in self.backoff:
            s = suffix(s)
        return s

    def terms(self, word: bytes, history: bytes) -> list[float]:  # of ln p(word | history)
        s, found = b" ".join(history.split(b" ")[1 - self.order :]) if self.order > 1 else b"", []
        while (ngram := s + b" " + word if s else word) not in self.prob:
            found.append(self.weight(s))
            s = suffix(s)
        return [*found, self.prob[ngram]]


class Record:
    """One claim and its proof."""

    def __init__(self, model: Model, record: dict[str, Any]) -> None:
        self.model = model
        self.words = [word.encode() for word in record["words"]]
        self.log_weight = number(record["log_weight"])
        rows = [[(word.encode(), number(w)) for w, words in slot for word in words] for slot in record["slots"]]
        self.given = [dict(slot) for slot in rows]
        if [*map(len, rows)] != [*map(len, self.given)]:
            raise Refused("a position has a candidate twice")
        self.best = [max(slot.values()) for slot in self.given]
        self.weights: list[dict[bytes, float]] = []  # of the model's words, measured from the best
        for slot, best in zip(self.given, self.best, strict=True):
            weights: dict[bytes, float] = {}
            for spelling, weight in slot.items():
                if weight > ZERO:
                    word = self.model_word(spelling)
                    weights[word] = max(weights.get(word, ZERO), up(weight - best))
            self.weights.append(weights)
        self.weights += [{END: 0.0}] if record["end"] is True else []
        self.uppers: list[dict[tuple[bytes, bool], float]] = []  # by context and whether it is closed
        for listed in record["contexts"]:
            kinds = [(words.encode(), {"open": False, "closed": True}[kind], upper) for words, kind, upper in listed]
            self.uppers.append({(model.own(s) if closed else s, closed): number(u) for s, closed, u in kinds})
        if len(self.uppers) != len(self.weights):
            raise Refused(f"{len(self.uppers)} positions have contexts, expected {len(self.weights)}")
        self.rows: dict[tuple[int, bytes, bool], list[tuple[float, bytes]]] = {}

    def model_word(self, spelling: bytes) -> bytes:
        return spelling if spelling in self.model.prob and b" " not in spelling else UNKNOWN

    def check(self) -> float:  # how far above the claimed words the optimum can lie
        weight, size = self.claim()
        for i in range(len(self.weights) - 1, -1, -1):
            for (s, closed), upper in self.uppers[i].items():
                if (value := self.largest(i, s, closed)) > upper:
                    place = f"position {i + 1}, {'closed' if closed else 'open'} context '{s.decode()}'"
                    raise Refused(f"{place}: {value!r} may follow, above its upper weight {upper!r}")
        gap = self.upper(0, BEGIN, True) - weight
        if not gap <= self.tolerance(size):
            raise Refused(f"the bound is {gap!r} above the words: they are not proved to be the best")
        return max(gap, 0.0)

    def tolerance(self, size: float) -> float:
        return TOLERANCE * (self.model.order + 8) * (len(self.weights) + 1) * size

    def claim(self) -> tuple[float, float]:  # the words' weight, measured from the best, and its terms' sizes
        if len(self.words) != len(self.given) or any(w not in s for w, s in zip(self.words, self.given, strict=True)):
            raise Refused("the claimed words are not one candidate of each position")
        words = [self.model_word(word) for word in self.words] + [END] * (len(self.weights) - len(self.words))
        histories = [b" ".join([BEGIN, *words[:i]]) for i in range(len(words))]
        terms = [x for word, before in zip(words, histories, strict=True) for x in self.model.terms(word, before)]
        channel = [slot[word] for slot, word in zip(self.given, self.words, strict=True)]
        if ZERO in terms or ZERO in channel:
            raise Refused("the claimed words have probability zero")
        total = math.fsum([*channel, *terms])
        if not abs(total - self.log_weight) <= self.tolerance(math.fsum(map(abs, [*channel, *terms]))):
            raise Refused(f"the words weigh {total!r}, the record claims {self.log_weight!r}")
        below = [weight - best for weight, best in zip(channel, self.best, strict=True)]
        size = 1 + math.fsum(map(abs, [*below, *terms]))
        return math.fsum([*channel, *terms, *(-best for best in self.best)]), size

    def largest(self, i: int, s: bytes, closed: bool) -> float:
        """The most that a candidate of position i, and what may follow it, weighs after a context.

        Words that s lists have a row of their own. The others cost a back-off weight and what they cost after
        the suffix of s, and leave the same context behind as after it; and so on, down to the words alone.
        """
        largest, backoff, longer = ZERO, 0.0, None
        while True:
            for value, word in self.row(i, s, closed):
                if longer is None or longer + b" " + word not in self.model.prob:
                    largest = max(largest, up(backoff + value))
                    break
            if not s:
                return largest
            backoff = up(backoff + (self.model.weight(s) if closed else self.model.max_weight(s)))
            s, closed, longer = suffix(s), True, s

    def row(self, i: int, s: bytes, closed: bool) -> list[tuple[float, bytes]]:
        if (i, s, closed) not in self.rows:
            model, n, found = self.model, length(s) + 1, []
            bounds = model.prob if closed else model.max_prob
            for word, weight in self.weights[i].items():
                ngram = s + b" " + word if s else word
                if ngram in model.prob and (bound := bounds.get(ngram, model.prob[ngram])) > ZERO:
                    after = ngram if n < model.order else suffix(ngram)
                    rest = self.upper(i + 1, after, closed or n >= model.order - 1)
                    found.append((up(up(bound + weight) + rest), word))
            self.rows[i, s, closed] = sorted(found, reverse=True)
        return self.rows[i, s, closed]

    def upper(self, i: int, s: bytes, closed: bool) -> float:  # of what holds at position i, if s is known
        if i == len(self.weights):
            return 0.0
        if closed and (self.model.own(s), True) in self.uppers[i]:
            return self.uppers[i][self.model.own(s), True]
        while (s, False) not in self.uppers[i]:
            if not s:
                raise Refused(f"position {i + 1}: no context holds after some of the words before it")
            s = suffix(s)
        return self.uppers[i][s, False]


def check_record(model: Model, record: dict[str, Any]) -> float:
    try:
        if "error" in record:
            raise Refused(f"there is no proof: {record['error']}")
        return Record(model, record).check()
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise Refused(f"the record is not a proof: {error!r}") from None


def check_lines(model: Model, lines: Iterable[bytes]) -> Iterator[tuple[Any, str]]:
    """Each record's id and what is wrong with it; at last None and what is wrong with the file."""
    read = (json.loads(line) for line in lines)
    count = 0
    try:
        header = next(read)
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise Refused(f"expected a file of the format '{FORMAT}', version {VERSION}")
        if header["model"] != model.checksum():
            raise Refused("the proofs are about another model")
        while "records" not in (record := next(read)):
            count += 1
            try:
                check_record(model, record)
                yield record.get("id"), ""
            except Refused as error:
                yield record.get("id"), str(error)
        if record["records"] != count or next(read, None) is not None:
            raise Refused(f"the file says that it has {record['records']} records, it has {count} or more")
        yield None, ""
    except Refused as error:
        yield None, str(error)
    except (AttributeError, EOFError, LookupError, OSError, StopIteration, TypeError, ValueError) as error:
        yield None, f"the file is damaged or not complete: {error!r}"


if __name__ == "__main__":
    results = list(check_lines(Model(open_file(sys.argv[1])), open_file(sys.argv[2])))
    for name, reason in results:
        print(name, reason or "accepted")
    sys.exit(any(reason for _, reason in results))
