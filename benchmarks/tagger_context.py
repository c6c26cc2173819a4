"""The tagger with context emissions against a conditional random field, on treebanks of many languages.

    python benchmarks/tagger_context.py [ROW ...] [--quick] [--write]

Needs ``python-crfsuite`` and the tagged texts of ``sms.DATA``. The CRF is trained by L-BFGS with the
features of words, affixes, shapes and the words within two places; c1 and c2 are chosen on a held-out fifth
of (at most 1,500 sentences of) the training text. Ours is what ``hiddenite tag train`` does by default. Both
see the same tokens; nothing is chosen on test text. Times are processor seconds of one training with the
settings that were chosen, and of the choice. Speed is that of one thread on text that it has not seen before;
that of the CRF is given with and without the making of its features, which are Python here.

Row 4 trains and tests in different Unicode forms, row 5 with little annotation: the first sentences, and the
words of the others as raw text for ours.
"""

from __future__ import annotations

import functools
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from crf import Crf, Tagged, accuracy, features, tuned_crf
from report import Row, mean, run_rows, table
from sms import DATA

from hiddenite.tag import Tagger, TaggerOptions, read_tagged, score, train_with_raw
from hiddenite.tag.choice import chooses, name_of

SETS = {
    "Tamil": "ta_upos",
    "tweets": "tweet_upos",
    "Faroese XPOS": "fo_xpos",
    "Yoruba": "mas_yor",
    "Turkish": "tr_upos",
    "Basque": "eu_upos",
    "Swedish": "sv_upos",
    "Danish": "da_pos",
}
ENGLISH = ("WSJ sample", "EWT XPOS")
BARS = {
    "Tamil": 84.7,
    "tweets": 91.1,
    "Yoruba": 93.5,
    "Turkish": 92.6,
    "Basque": 95.6,
    "Swedish": 97.1,
    "Danish": 97.3,
    "WSJ sample": 96.8,
    "EWT XPOS": 95.1,
}
LITTLE_BARS = {("Danish", 100): 86.0, ("Basque", 100): 79.0}
Form = Literal["NFC", "NFD"]
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """What is measured."""

    names: Sequence[str]
    iterations: int  # of L-BFGS


QUICK = Sizes(("Tamil",), 20)
FULL = {"1": Sizes(tuple(SETS)[:4], 100), "2": Sizes(tuple(SETS)[4:], 100), "3": Sizes(ENGLISH, 100)}
FULL |= {"4": Sizes(("Yoruba",), 0), "5": Sizes(("Danish", "Basque"), 100)}


def _read(file: str) -> list[Tagged]:
    return [r.pairs() for r in read_tagged(str(DATA / "tagged" / file), column="xpos") if r.words]


@functools.cache
def corpus(name: str) -> tuple[list[Tagged], list[Tagged]]:
    """Return training and test sentences."""
    if name == "WSJ sample":
        wsj = _read("wsj-sample.tsv")
        return wsj[:3500], wsj[3500:]
    if name == "EWT XPOS":
        return _read("en_ewt-ud-train.conllu"), _read("en_ewt-ud-test.conllu")
    return _read(f"ud/{SETS[name]}-train.tsv"), _read(f"ud/{SETS[name]}-test.tsv")


# ------------------------------------------------------------------------ rows


@dataclass(frozen=True)
class Figures:
    """What was measured on one set."""

    ours: float
    ours_unseen: float
    crf: float
    crf_unseen: float
    before: float  # generative emissions, order 3
    seconds: float  # of one training
    choice_seconds: float
    crf_seconds: float
    crf_choice_seconds: float
    speed: float  # tokens a second
    crf_speed: float
    crf_bare_speed: float  # without making features
    certified: bool
    setting: str


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what the work gives, and its processor seconds."""
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def speed_of(tagger: Tagger, sentences: Sequence[Sequence[str]]) -> float:
    """Return tokens a second, the best of three taggers that have seen nothing yet."""
    text = [list(words) for words in sentences]
    runs = []
    for _ in range(3):
        fresh = Tagger(tagger.model)
        fresh.tag(["x"])
        runs.append(timed(lambda fresh=fresh: list(fresh.tag_many(text, threads=1)))[1])  # type: ignore[misc]
    return sum(map(len, text)) / min(runs)


def measure(name: str, sizes: Sizes) -> Figures:
    """Train both on one set and test them."""
    train, test = corpus(name)
    words = [[w for w, _ in sentence] for sentence in test]
    tokens = sum(map(len, words))
    options, choice = TaggerOptions(), 0.0
    if chooses(options, len(train)):
        chosen, choice = timed(lambda: Tagger.choose_order(train, TaggerOptions()))
        options = chosen.model.options
    tagger, seconds = timed(lambda: Tagger.train_with(train, options))
    found = score(tagger, test, calibration=False)
    old = TaggerOptions(emissions="generative", normal_form="none")
    before = score(Tagger.train_with(train, old), test, calibration=False)
    (c1, c2), crf_choice = timed(lambda: tuned_crf(train, sizes.iterations))
    crf, crf_seconds = timed(lambda: Crf(train, c1, c2, sizes.iterations))
    all_words, unseen = accuracy(crf.tag, test, frozenset(w for s in train for w, _ in s))
    made, making = timed(lambda: [features(sentence) for sentence in words])
    _, bare = timed(lambda: [crf.tag_features(rows) for rows in made])
    return Figures(
        100 * (found.accuracy or 0),
        100 * (found.unknown or 0),
        all_words,
        unseen,
        100 * (before.accuracy or 0),
        seconds,
        choice - seconds if choice else 0.0,
        crf_seconds,
        crf_choice,
        speed_of(tagger, words),
        tokens / (making + bare),
        tokens / bare,
        found.certified == found.sentences,
        f"c1 {c1}, c2 {c2}; {name_of(options)}, order {options.order}",
    )


def context(sizes: Sizes) -> Row:
    """Accuracy on all sets."""
    found = {}
    for name in sizes.names:
        found[name] = measure(name, sizes)
        print(name, found[name], flush=True)
    return row_of(found)


def row_of(found: Mapping[str, Figures]) -> Row:
    """Return the figures of some sets with the bar's fate."""
    gain = mean(f.ours - f.crf for f in found.values())
    unseen = mean(f.ours_unseen - f.crf_unseen for f in found.values())
    met = gain >= 0.4 and unseen >= 0 and all(f.ours >= f.crf and f.certified for f in found.values())
    met = met and all(f.ours >= BARS.get(name, 0) for name, f in found.items())
    head = ["set", "generative", "CRF", "context", "bar", "unseen words: CRF", "context", "certified"]
    rows = [
        [
            *(name, f"{f.before:.2f}", f"{f.crf:.2f}", f"{f.ours:.2f}", BARS.get(name, "–")),
            *(f"{f.crf_unseen:.2f}", f"{f.ours_unseen:.2f}", "all" if f.certified else "**not all**"),
        ]
        for name, f in found.items()
    ]
    return Row(
        f"Context emissions against a tuned CRF on {len(found)} texts, trained and tested on the same tokens",
        "at least the CRF everywhere, +0.4 on average; unseen words too; every answer certified",
        f"mean {gain:+.2f}, unseen words {unseen:+.2f}",
        met,
        table(head, rows) + "\n" + costs(found),
    )


def costs(found: Mapping[str, Figures]) -> str:
    """Return the table of times."""
    head = ["set", "training: CRF s", "context s", "choice: CRF s", "context s"]
    head += ["k tokens/s: CRF", "CRF, features given", "context", "settings"]
    rows = [
        [
            *(name, f"{f.crf_seconds:.1f}", f"{f.seconds:.1f}", f"{f.crf_choice_seconds:.1f}"),
            *(f"{f.choice_seconds:.1f}", f"{f.crf_speed / 1e3:.0f}", f"{f.crf_bare_speed / 1e3:.0f}"),
            *(f"{f.speed / 1e3:.0f}", f.setting),
        ]
        for name, f in found.items()
    ]
    return table(head, rows)


# ---------------------------------------------------------- forms, few sentences


def in_form(sentences: Sequence[Tagged], form: Form) -> list[Tagged]:
    """Return the sentences in a Unicode form."""
    return [[(unicodedata.normalize(form, w), t) for w, t in s] for s in sentences]


def forms(sizes: Sizes) -> Row:
    """Train in one Unicode form, test in another."""
    train, test = corpus("Yoruba")
    names: tuple[Form, ...] = ("NFC", "NFD")
    found = {}
    for learnt in names:
        tagger = Tagger.choose_order(in_form(train, learnt), TaggerOptions())
        for tested in names:
            found[learnt, tested] = score(tagger, in_form(test, tested), calibration=False)
    worst = max(
        100 * abs((found[a, b].accuracy or 0) - (found[a, a].accuracy or 0)) for a in names for b in names
    )
    rows = [
        [a, b, f"{100 * (f.accuracy or 0):.2f}", f"{100 * (f.unknown or 0):.2f}"]
        for (a, b), f in found.items()
    ]
    return Row(
        "Yoruba, trained in one Unicode form and tested in another",
        "within 0.2 of the same form",
        f"at most {worst:.2f} apart",
        worst <= 0.2,
        table(["trained", "tested", "accuracy", "unseen words"], rows),
    )


def little(sizes: Sizes) -> Row:
    """Few tagged sentences, the words of the others raw."""
    rows, met = [], True
    for name in sizes.names:
        train, test = corpus(name)
        for size in (100, 500):
            tagged, raw = train[:size], [[w for w, _ in s] for s in train[size:]]
            tagger, seconds = timed(lambda tagged=tagged, raw=raw: train_with_raw(tagged, raw))  # type: ignore[misc]
            ours = score(tagger, test, calibration=False)
            alone = score(Tagger.choose_order(tagged, TaggerOptions()), test, calibration=False)
            crf = Crf(tagged, *tuned_crf(tagged, sizes.iterations), sizes.iterations)
            theirs, unseen = accuracy(crf.tag, test, frozenset(w for s in tagged for w, _ in s))
            bar = LITTLE_BARS.get((name, size), 0.0)
            accuracy_ = 100 * (ours.accuracy or 0)
            met = met and accuracy_ >= bar and accuracy_ > theirs
            chosen = max((t for t in tagger.trials if t.on_all), key=lambda trial: trial.accuracy).setting
            rows.append(
                [
                    *(name, size, f"{theirs:.2f}", f"{100 * (alone.accuracy or 0):.2f}", f"{accuracy_:.2f}"),
                    *(
                        bar or "–",
                        f"{unseen:.2f}",
                        f"{100 * (ours.unknown or 0):.2f}",
                        f"{seconds:.0f}",
                        chosen,
                    ),
                ]
            )
            print(rows[-1], flush=True)
    head = ["set", "sentences", "CRF", "ours without raw text", "ours with it", "bar", "unseen words: CRF"]
    head += ["ours with it", "seconds", "best trial"]
    return Row(
        "Few tagged sentences, the words of the others as raw text",
        "above the CRF at both sizes",
        "see the table",
        met,
        table(head, rows),
    )


ROWS: dict[str, Callable[[Sizes], Row]] = {"1": context, "2": context, "3": context, "4": forms, "5": little}


def _sizes(row: str, quick: bool) -> Sizes:
    """Return what a row measures: 1 the small treebanks, 2 the others, 3 English with its many tags, …."""
    return QUICK if quick else FULL[row]


def main() -> None:
    """Run the rows asked for."""
    run_rows("Tagger with context", __doc__, ROWS, _sizes)


if __name__ == "__main__":
    main()
