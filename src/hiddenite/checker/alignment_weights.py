"""The weights of a sentence pair, from the counts in an alignment model's file.

Written for checking, from the formulas of docs/alignment.md: nothing here is shared with the engine.
"""

import json
import math
import unicodedata
from collections import Counter
from typing import Any

from hiddenite.checker.model_file import read_members, read_numbers, read_words

SIDES, WAYS, ZERO = ("source", "target"), ("forward", "reverse"), -math.inf


def log(x: float) -> float:
    return math.log(x) if x > 0 else ZERO


def shares(counts: list[float]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


def stem_of(word: str) -> str:  # four letters without marks; an ideograph stands for four
    stem, room = "", 4
    for c in word:
        if room <= 0:
            break
        if "\u0300" <= c <= "\u036f":
            continue
        composed = "\u00c0" <= c <= "\u024f" or "\u0370" <= c <= "\u052f" or "\u1e00" <= c <= "\u1fff"
        stem += unicodedata.normalize("NFD", c)[0] if composed else c
        ideograph = "\u3400" <= c <= "\u9fff" or "\uf900" <= c <= "\ufaff" or 0x20000 <= ord(c) <= 0x3FFFF
        room -= 4 if ideograph else 1
    return stem or word


def likeness(a: bytes, b: bytes) -> float:  # of two spellings
    short, long = sorted((len(a), len(b)))
    if a == b or a[:1] != b[:1] or long > 64 or short < 3:
        return float(a == b)
    common = next((k for k in range(short) if a[k] != b[k]), short)
    if common >= 3 and common >= 0.5 * long:
        return 0.5 * common / long
    row = [0] * (len(b) + 1)  # the longest common subsequence
    for x in a:
        diagonal = 0
        for k, y in enumerate(b, 1):
            diagonal, row[k] = row[k], diagonal + 1 if x == y else max(row[k], row[k - 1])
    return 0.5 * row[-1] / long if row[-1] / long >= 0.6 else 0.0


class Model:
    """Expected counts of both directions; [0] is the source side or the forward direction."""

    def __init__(self, content: bytes) -> None:
        from hashlib import sha256  # noqa: PLC0415  (takes memory that only this needs)

        self.checksum, files = sha256(content).hexdigest(), read_members(content)
        self.o = json.loads(files["header.json"])["options"]
        self.words = [read_words(files[f"words.{side}.txt"]) for side in SIDES]
        tables = {name[:-4]: read_numbers(data) for name, data in files.items() if name.endswith(".npy")}
        self.seen, self.partners, self.alike = (
            [tables[f"{kind}.{side}"] for side in SIDES] for kind in ("word_count", "partners", "likeness")
        )
        self.null, self.fertility = ([tables[f"{k}.{d}"] for d in WAYS] for k in ("null_count", "fertility"))
        width = self.o["max_fertility"] + 1
        self.of_all = [shares([0.01 + sum(t[c::width]) for c in range(width)]) for t in self.fertility]
        self.uniform = self.o["uniform_jump"]
        self.jumps = [
            [shares([x + 1e-3 for x in tables[f"jumps.{kind}.{d}"]]) for kind in ("start", "inner", "end")]
            for d in WAYS
        ]
        self.stems: list[Counter[str]] = [Counter({"<unk>": 0, "<s>": 0, "</s>": 0}) for _ in SIDES]
        for words, stems, seen in zip(self.words, self.stems, self.seen, strict=True):
            for word, k in words.items():
                stems[stem_of(word)] += int(seen[k])
        # Links of a direction: of pairs of words and of stems, of words and of stems, and stems' partners.
        self.links: list[Counter[Any]] = [Counter(), Counter()]
        self.stem_partners: list[Counter[str]] = [Counter(), Counter()]
        spelt = [list(words) for words in self.words]
        sides = (map(int, tables[f"pair_{side}"]) for side in SIDES)
        for *pair, forward, reverse in zip(*sides, *(tables[f"pair_count.{d}"] for d in WAYS), strict=True):
            stem = stem_of(spelt[0][int(pair[0])]), stem_of(spelt[1][int(pair[1])])
            for d, count in enumerate((forward, reverse)):
                self.stem_partners[d][stem[d]] += stem not in self.links[d]
                for key in (tuple(pair), stem, pair[d], stem[d]):
                    self.links[d][key] += count

    def lexicon(self, d: int, e: str, f: str) -> float:  # p(f | e)
        o, links, way = self.o, self.links[d], 1 if d == 0 else -1
        by, to = self.words[d].get(e), self.words[1 - d].get(f)
        alike = likeness(e.encode(), f.encode()) if o["string_prior"] else 0.0
        own, total, all_alike, partners = 0.0, 0.0, 0.0, len(self.words[1 - d]) + 1.0
        if by is not None:
            own, total, all_alike = links[(by, to)[::way]], links[by], self.alike[d][by]
            partners = max(self.partners[d][by], 1.0)
        if o["stem_weight"] > 0:
            stem, other, share = stem_of(e), stem_of(f), 1.0
            stem_partners = len(self.stems[1 - d]) + 1.0
            if stem in self.stems[d]:
                stem_partners = max(self.stem_partners[d][stem], 1.0)
            if other in self.stems[1 - d]:  # a new word is taken to have been seen once
                seen = 1.0 if to is None else self.seen[1 - d][to]
                share = seen / max(self.stems[1 - d][other] + (to is None), 1.0)
            prior = o["stem_prior"]
            ratio = (links[(stem, other)[::way]] + prior) / (links[stem] + prior * stem_partners)
            own += o["stem_weight"] * share * ratio
        prior = o["lexicon_prior"]
        total += prior * partners + max(all_alike, alike) + o["stem_weight"]
        return float((own + prior + alike) / total)

    def jump(self, d: int, kind: int, distance: int) -> float:
        table, most = self.jumps[d][kind], self.o["max_jump"]
        p = table[max(-most, min(distance, most)) + most]
        return math.log((1 - self.uniform) * p + self.uniform / len(table))

    def fertilities(self, d: int, word: str, num_generated: int) -> list[float]:
        if not any(map(any, self.fertility)):
            return [0.0] * (num_generated + 1)  # a plain HMM
        weight, width, k = self.o["fertility_weight"], len(self.of_all[d]), self.words[d].get(word)
        counts = [0.0] * width if k is None else self.fertility[d][k * width : (k + 1) * width]
        pairs = zip(counts, self.of_all[d], strict=True)
        return [log((count + weight * share) / (sum(counts) + weight)) for count, share in pairs]

    def weights(self, d: int, by: list[str], to: list[str]) -> tuple[list[list[float]], ...]:
        """Return emission [j][i], jump [from][to - 1], [end] and fertility [i - 1][count]; NULL is i = 0."""
        every, null, o = range(1, len(by) + 1), self.null[d], self.o
        p0, total = o["null_probability"], sum(null) + o["null_prior"] * (len(null) + 1)
        emission = []
        for f in to:
            k = self.words[1 - d].get(f)
            own = p0 * ((0.0 if k is None else null[k]) + o["null_prior"]) / total
            emission.append([log(own), *(log((1 - p0) * self.lexicon(d, e, f)) for e in by)])
        jump = [[self.jump(d, 1, i - k) for i in every] for k in every]
        end = [0.0, *(self.jump(d, 2, len(by) + 1 - k) for k in every)]
        fertility = [self.fertilities(d, e, len(to)) for e in by]
        return emission, [[self.jump(d, 0, i) for i in every], *jump], [end], fertility
