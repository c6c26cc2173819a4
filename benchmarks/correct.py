"""Text correction against peers: ``python benchmarks/correct.py [--quick] [--write] [ROW...]``.

Data, models and peers: ``correct_data.py``. Figures are those of ``hiddenite.correct.evaluation``, whose head
defines them, for all systems alike; letters of any case are equal. Beside these:

- all figures: defaults and rules were chosen while looking at these same dev files, and no test part was kept
  back; figures on texts that nobody has looked at will be lower.
- row 1: two ways to cut. Even and odd lines share writers and subjects; first and second half hardly do. The
  bar must be met both ways. All systems see the same lines, only hiddenite learns.
- row 2, non-words: a token that is no word of the list and that two or more of four references change is
  an error; a change is true if some reference makes it of such an error, wrong if none makes it. Spoilt:
  share of the words that at least three references keep and that change to something no reference has.
  Pieces of words that tokenising cut (do n't, it 's) are left out for all systems.
- row 4: a token is right if it becomes the gold form; P = right changes / changes, R = right changes / tokens
  whose gold form is another. The most frequent replacement is that of the training folds.
- row 5: the best word for a misspelling alone, by ln p(seen | word) + ln p(word); words that the list or the
  model has.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from correct_data import (
    DATA,
    PEERS,
    Fix,
    Pairs,
    correction,
    corrector,
    language_model,
    noisy,
    pairs,
    symspell,
    tweets,
    word_list,
)
from correct_raw import round_trip
from report import Row, run_rows, table

from hiddenite.correct.answers import Change
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.evaluation import Evaluation, Tally, f_measure
from hiddenite.correct.pairs import align, lower, span_text
from hiddenite.correct.tokens import tokens

TITLE = "Correcting text"
HEAD = ("system", "precision", "recall", "F1", "F0.5", "good words spoilt", "word error", "character error")
LEARN, TUNE = 6000, 8700  # lines of the OCR training part: learnt from the first, tuned on those from here
FOLDS = 5
NON_WORD_REFERENCES, GOOD_REFERENCES = 2, 3
FRAGMENTS = frozenset(("n't", "nt", "s", "t", "m", "d", "ll", "ve", "re", "ca", "wo"))


def percent(x: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * x:.2f}"


def figures(name: str, e: Evaluation) -> tuple[str, ...]:
    """Return a table's row."""
    before_after = [f"{percent(a)} to {percent(b)}" for a, b in _errors(e)]
    return (name, *map(percent, (e.precision, e.recall, e.f1, e.f05, e.spoilt)), *before_after)


def _errors(e: Evaluation) -> list[tuple[float, float]]:
    return [(e.word_error_before, e.word_error), (e.character_error_before, e.character_error)]


def judge_peer(fix: Fix, rows: Pairs) -> Evaluation:
    """Return a peer's figures."""
    tally = Tally()
    for seen, right in rows:
        tally.add(seen, right, fix(seen))
    return tally.evaluation()


def add(tally: Tally, model: Corrector, rows: Pairs, *, careful: bool = False) -> Tally:
    """Judge a corrector's answers."""
    answers = model.correct_many((seen for seen, _ in rows), careful=careful)
    for (seen, right), answer in zip(rows, answers, strict=True):
        tally.add(seen, right, answer)
    return tally


def peers(rows: Pairs) -> dict[str, Evaluation]:
    """Return the figures of the peers that are installed."""
    made = {name: make() for name, make in PEERS.items()}
    return {name: judge_peer(fix, rows) for name, fix in made.items() if fix is not None}


# ------------------------------------------------------------------------- rows


def typing(share: int) -> Row:
    """Row 1: poor spellers."""
    rows = pairs("typing-holbrook.dev")[::share]
    middle = len(rows) // 2
    cuts = {"even and odd lines": (rows[::2], rows[1::2]), "halves": (rows[:middle], rows[middle:])}
    found = peers(rows)
    jam = found.get("JamSpell")
    lines = [figures(name, e) for name, e in found.items()]
    lines.append(figures("hiddenite, no pairs", add(Tally(), corrector("typing"), rows).evaluation()))
    said, met = [], []
    for name, (a, b) in cuts.items():
        ours, sure = _two_folds(a, b)
        lines += [figures(f"learnt, {name}", ours), figures(f"learnt, {name}, careful", sure)]
        if jam:
            ratios = ours.f1 / jam.f1, sure.f05 / jam.f05
            said.append(f"{name}: {ratios[0]:.2f} and {ratios[1]:.2f} times, {percent(sure.spoilt)} % spoilt")
            met.append(min(ratios) >= 1.75 and sure.spoilt <= 0.004)
    return Row(
        "Poor spellers (Holbrook), learnt on one half, tested on the other",
        "F1 and, careful, F0.5 at least 1.75 times JamSpell's; careful: at most 0.4 % good words spoilt",
        "; ".join(said) or "no JamSpell",
        all(met) if met else None,
        table(HEAD, lines),
    )


def _two_folds(a: Pairs, b: Pairs) -> tuple[Evaluation, Evaluation]:
    """Return the figures of both folds together, by default and careful."""
    plain, careful = Tally(), Tally()
    for learnt_from, tested in ((a, b), (b, a)):
        model = corrector("typing").learn(learnt_from)
        add(plain, model, tested)
        add(careful, model, tested, careful=True)
    return plain.evaluation(), careful.evaluation()


def learners(share: int) -> Row:
    """Row 2: learners' sentences, non-words."""
    rows = noisy("learner-jfleg.dev")[::share]
    model = corrector("typing")
    answers = model.correct_many(row[0] for row in rows)
    counts = {"hiddenite": Counter[str]()}
    for row, answer in zip(rows, answers, strict=True):
        counts["hiddenite"] += _non_words(row, answer.changes)
    for name, make in PEERS.items():
        if (fix := make()) is not None:
            counts[name] = Counter()
            for row in rows:
                counts[name] += _non_words(row, fix(row[0]).changes)
    scores = {name: _scores(count) for name, count in counts.items()}
    f1, spoilt = scores["hiddenite"][2], scores["hiddenite"][4]
    jam = scores.get("JamSpell")
    return Row(
        "Learners' sentences (JFLEG), non-words, no pairs learnt",
        "F1 at least JamSpell's + 5; at most 0.1 % of the good words spoilt",
        f"F1 {percent(f1)}, JamSpell {percent(jam[2]) if jam else 'absent'}; {percent(spoilt)} % spoilt",
        jam and f1 >= jam[2] + 0.05 and spoilt <= 0.001,
        table(HEAD[:6], [(name, *map(percent, row)) for name, row in scores.items()]),
    )


def _non_words(row: Sequence[str], changes: Sequence[Change]) -> Counter[str]:
    """Count errors, changes, true ones and good words of a sentence with several references."""
    text = row[0]
    readings: dict[int, list[str]] = defaultdict(list)
    for reference in row[1:]:
        for piece in align(text, reference):
            if len(piece.noisy) == 1:
                readings[piece.noisy[0].start].append(lower(span_text(reference, piece.clean)))
    made = {change.start: change for change in changes}
    counts: Counter[str] = Counter()
    for token in tokens(text):
        seen = lower(text[token.start : token.end])
        if seen in FRAGMENTS:
            continue
        others = readings.get(token.start, [])
        if token.kind != "word" or not others:
            continue
        is_error = seen not in word_list() and sum(o != seen for o in others) >= NON_WORD_REFERENCES
        is_good = sum(o == seen for o in others) >= GOOD_REFERENCES
        change = made.get(token.start)
        is_true = change is not None and lower(change.new) in others
        counts["errors"] += is_error
        counts["good"] += is_good
        counts["changes"] += change is not None and (is_error or not is_true)
        counts["true"] += is_error and is_true
        counts["spoilt"] += is_good and change is not None and not is_true
    return counts


def _scores(count: Counter[str]) -> tuple[float, ...]:
    precision = count["true"] / max(count["changes"], 1)
    recall = count["true"] / max(count["errors"], 1)
    both = f_measure(precision, recall, 1.0), f_measure(precision, recall, 0.5)
    return (precision, recall, *both, count["spoilt"] / max(count["good"], 1))


def scanned(share: int) -> Row:
    """Row 3: OCR of newspapers."""
    rows = pairs("ocr-bln600.dev")[::share]
    training = pairs("ocr-bln600.train")
    base = corrector("ocr")
    learnt = base.learn(training[: LEARN // share]).tune(training[TUNE::share], "wer")
    found = peers(rows)
    found["hiddenite, no pairs"] = add(Tally(), base, rows).evaluation()
    found["hiddenite, learnt"] = add(Tally(), learnt, rows).evaluation()
    reduction = {name: 1 - e.word_error / e.word_error_before for name, e in found.items()}
    ours, none, jam = (
        reduction.get(n, 0.0) for n in ("hiddenite, learnt", "hiddenite, no pairs", "JamSpell")
    )
    return Row(
        "Newspapers read by a machine (BLN600), learnt on the training part",
        "word error reduced by at least 32 % and twice JamSpell's share; without pairs by 25 %",
        f"{percent(ours)} %, JamSpell {percent(jam)} %; without pairs {percent(none)} %",
        ours >= max(0.32, 2 * jam) and none >= 0.25,
        table(HEAD, [figures(name, e) for name, e in found.items()]),
    )


def chat(share: int) -> Row:
    """Row 4: tweets to normal forms."""
    rows = tweets()[::share]
    ours, frequent = Counter[str](), Counter[str]()
    for fold in range(FOLDS):
        training = [t for i, t in enumerate(rows) if i % FOLDS != fold]
        tested = rows[fold::FOLDS]
        lines = [(" ".join(a for a, _ in t), " ".join(b for _, b in t)) for t in training]
        model = corrector("normalise").learn(lines)
        for tweet, made in zip(tested, _normalised(model, tested), strict=True):
            ours += _token_counts(tweet, made)
        forms: dict[str, Counter[str]] = defaultdict(Counter)
        for tweet in training:
            for a, b in tweet:
                forms[a.lower()][b.lower()] += 1
        for tweet in tested:
            found = [forms[a.lower()].most_common(1) if a.lower() in forms else [] for a, _ in tweet]
            frequent += _token_counts(
                tweet, [f[0][0] if f else a.lower() for f, (a, _) in zip(found, tweet, strict=True)]
            )
    f1, base = _scores(ours)[2], _scores(frequent)[2]
    return Row(
        "Tweets to normal forms (LexNorm 2015), five folds",
        "F1 at least that of the most frequent replacement + 1",
        f"{percent(f1)}, most frequent replacement {percent(base)}",
        f1 >= base + 0.01,
        table(
            HEAD[:4],
            [(n, *map(percent, _scores(c)[:3])) for n, c in (("hiddenite", ours), ("replacement", frequent))],
        ),
    )


def _normalised(model: Corrector, rows: list[list[tuple[str, str]]]) -> Iterator[list[str]]:
    lines = [" ".join(a for a, _ in tweet) for tweet in rows]
    for tweet, answer in zip(rows, model.correct_many(lines), strict=True):
        made, place = [], 0
        for token, _ in tweet:
            inside = [c for c in answer.changes if place <= c.start and c.end <= place + len(token)]
            shifted = [replace(c, start=c.start - place, end=c.end - place) for c in inside]
            made.append(correction(token, shifted).text.lower())
            place += len(token) + 1
        yield made


def _token_counts(tweet: list[tuple[str, str]], made: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (a, b), form in zip(tweet, made, strict=True):
        seen, right = a.lower(), b.lower()
        counts["errors"] += right != seen
        counts["changes"] += form != seen
        counts["true"] += form == right != seen
    return counts


def misspellings(share: int) -> Row:
    """Row 5: words alone."""
    model, lm, peer = corrector("typing"), language_model(), symspell()
    lines, gains = [], []
    for name in ("words-wikipedia", "words-birkbeck"):
        rows = [(a.lower(), b.lower()) for a, b in pairs(name)[::share] if a != b and " " not in a + b]
        rows = [(a, b) for a, b in rows if model.is_known(b)]
        right = 0
        for a, b in rows:
            readings = model.candidates(a)
            found = readings[0][1][1:] if len(readings) == 1 else []
            best = max(
                found, key=lambda r: r[1] + sum(lm.log_prob(w, []) for w in r[0].split()), default=("", 0)
            )
            right += best[0] == b
        theirs = sum(peer(a).text.lower() == b for a, b in rows) if peer else 0
        gains.append((right - theirs) / len(rows))
        lines.append((name, len(rows), percent(right / len(rows)), percent(theirs / len(rows))))
    return Row(
        "Misspelt words alone, no pairs learnt: the first proposal",
        "at least symspellpy's accuracy + 5",
        " and ".join(f"{100 * gain:+.1f}" for gain in gains),
        min(gains) >= 0.05 if peer else None,
        table(("words", "number", "hiddenite", "symspellpy"), lines),
    )


def calibration(share: int) -> Row:
    """Row 6: printed probabilities against what is true."""
    rows = pairs("typing-holbrook.dev")[::share]
    typed = Tally()
    for half, tested in ((rows[::2], rows[1::2]), (rows[1::2], rows[::2])):
        tuned = corrector("typing").learn(half[::2]).tune(half[1::2])
        settings = tuned.settings
        model = corrector("typing").learn(half)
        fitted = replace(
            model.settings,
            calibration=settings.calibration,
            threshold=settings.threshold,
            known_threshold=settings.threshold,
        )
        add(typed, model.with_settings(fitted), tested)
    training = pairs("ocr-bln600.train")
    learnt = corrector("ocr").learn(training[: LEARN // share]).tune(training[TUNE::share], "wer")
    read = add(Tally(), learnt, pairs("ocr-bln600.dev")[::share]).evaluation()
    both = {"typing": typed.evaluation(), "OCR": read}
    lines = [
        (name, b.count, percent(b.probability), percent(b.true)) for name, e in both.items() for b in e.bins
    ]
    errors = [e.calibration_error for e in both.values()]
    return Row(
        "Calibration of printed probabilities, typing and OCR",
        "expected calibration error at most 0.05",
        " and ".join(f"{error:.3f}" for error in errors),
        max(errors) <= 0.05,
        table(("text", "changes", "mean probability", "true"), lines),
    )


def clean(share: int) -> Row:
    """Row 7: edited text stays."""
    model, total, lines = corrector("typing"), 0, []
    changed = 0
    for name in ("wikitext-2", "ptb"):
        text = (
            (DATA / "lm" / name / "valid.txt").read_text(encoding="utf-8").splitlines(keepends=True)[::share]
        )
        words = sum(len(line.split()) for line in text)
        answers = list(model.correct_many(text))
        changes = sum(len(answer.changes) for answer in answers)
        same = all(a.text == line for a, line in zip(answers, text, strict=True) if not a.changes)
        lines.append((name, words, changes, percent(changes / words), same))
        total, changed = total + words, changed + changes
    return Row(
        "Edited text: what changes by default",
        "at most 0.15 % of the words; all else character for character",
        f"{percent(changed / total)} %",
        changed / total <= 0.0015 and all(line[4] for line in lines),
        table(("text", "words", "changes", "%", "untouched text the same"), lines),
    )


def speed(share: int) -> Row:
    """Row 8: tokens a second of processor time, on one thread."""
    lines, measured = [], []
    for kind, name in (("typing", "learner-jfleg.dev"), ("ocr", "ocr-bln600.dev")):
        model = Corrector.from_ngram(language_model(), kind=kind, words=word_list())
        texts = [row[0] for row in noisy(name)[::share]]
        count = sum(len(tokens(text)) for text in texts)
        rates = []
        for _ in range(3):
            begin = time.process_time()
            for _answer in model.correct_many(texts, threads=1):
                pass
            rates.append(count / (time.process_time() - begin))
        measured.append((rates[0], max(rates[1:])))
        lines.append((name, count, f"{rates[0]:,.0f}", f"{max(rates[1:]):,.0f}"))
    cold, warm = measured[0]
    return Row(
        "Speed on one core, probabilities included",
        "warm at least 15,000 tokens a second, cold 4,000 (typing)",
        f"warm {warm:,.0f}, cold {cold:,.0f}",
        warm >= 15_000 and cold >= 4_000,
        table(("text", "tokens", "cold, tokens/s", "warm, tokens/s"), lines),
    )


ROWS = {
    "1": typing,
    "2": learners,
    "3": scanned,
    "4": chat,
    "5": misspellings,
    "6": calibration,
    "7": clean,
    "8": speed,
    "9": round_trip,
}


def main() -> None:
    """Run the rows."""
    run_rows(TITLE, __doc__, ROWS, lambda _, quick: 8 if quick else 1)


if __name__ == "__main__":
    main()
