"""What exactness means, counted: agreement of methods, the bounds behind dominance, the errors of beams."""

from __future__ import annotations

import subprocess

from driver import Driver, Timing
from engine_walk import Sizes, wrong_answers
from report import Row, mean, table
from sms import BUILD, CORPORA, DATA, messages, model_file, type_keys

TOLERANCE = 1e-9
METHODS = ("full", "dominance", "refine", "auto")


def _agreeing(timed: dict[str, list[Timing]]) -> tuple[int, int]:
    """Return how many records have one weight by all methods, and a certificate from all of them."""
    columns = list(zip(*timed.values(), strict=True))
    equal = sum(all(abs(t.log_weight - r[0].log_weight) <= TOLERANCE for t in r) for r in columns)
    certified = sum(all(t.exact for t in row) for row in columns)
    return equal, certified


def agreement(sizes: Sizes) -> Row:
    """All methods on real messages; `paper` on short ones."""
    rows = []
    total = agreed = certified = 0
    each = sizes.messages  # messages a length
    for order in (3, 4, 5):
        classes = [
            ("hansard", "1–10", range(1, 11), METHODS, each),
            ("hansard", "1–5", range(1, 6), (*METHODS, "paper"), max(1, each // 5)),
            ("ptb", "20, 30, 40", (20, 30, 40), METHODS, each),
        ]
        for corpus, name, lengths, methods, count in classes:
            slowest = 0.0
            counts = same = proved = 0
            with Driver(model_file(CORPORA[corpus], order)) as driver:
                for length in lengths:
                    driver.read_keypad(type_keys(messages(CORPORA[corpus], length, count)))
                    timed = driver.time([f"engine:decode:{method}" for method in methods], 1, sizes.cap)
                    for method in methods:  # each answer is that method's own
                        used = {t.method for t in timed[f"engine:decode:{method}"]}
                        assert method == "auto" or used == {method}, (method, used)
                    now_same, now_proved = _agreeing(timed)
                    counts, same, proved = counts + count, same + now_same, proved + now_proved
                    slowest = max(slowest, *(t.seconds for ts in timed.values() for t in ts))
            total, agreed, certified = total + counts, agreed + same, certified + proved
            rows.append([corpus, order, name, ", ".join(methods), counts, same, proved, f"{slowest:.2f} s"])
    head = [
        "corpus",
        "order",
        "words",
        "methods",
        "messages",
        "equal weights",
        "all certified",
        "slowest answer",
    ]
    return Row(
        "Agreement of all methods on real SMS sentences",
        "100 %, every one certified",
        f"{agreed} of {total} agree to {TOLERANCE:g}, {certified} certified by every method",
        agreed == certified == total,
        table(head, rows),
    )


def beam_errors(sizes: Sizes) -> Row:
    """How often a beam of a usual width is wrong, on sharp and flat channels."""
    rows, errors = [], []
    exact, widths = "direct:decode:dominance", (10, 100)
    asks = [exact, *(f"direct:beam:sparse:{width}" for width in widths)]
    for corpus, length in (("hansard", 10), ("ptb", 20), ("wikitext", 20)):
        texts = messages(CORPORA[corpus], length, sizes.messages)
        with Driver(model_file(CORPORA[corpus], 5)) as driver:
            for ambiguity in (64, 16, 4, 1):
                size = driver.read_keypad(type_keys(texts, ambiguity), ambiguity)
                timed = driver.time(asks, 1)
                wrong = [wrong_answers(timed[ask], timed[exact]) / len(texts) for ask in asks[1:]]
                lost = [
                    mean(e.log_weight - t.log_weight for t, e in zip(timed[ask], timed[exact], strict=True))
                    for ask in asks[1:]
                ]
                errors.append(wrong)
                cost = [mean(t.seconds for t in timed[a]) for a in asks]
                rows.append(
                    [
                        corpus,
                        length,
                        f"{size:.0f}",
                        ambiguity,
                        *(f"{w:.1%}" for w in wrong),
                        *(f"{x:.3f}" for x in lost),
                        *(f"{1e3 * x:.2f}" for x in cost),
                    ]
                )
    head = [
        "corpus",
        "words",
        "candidates",
        "k",
        "beam 10 wrong",
        "beam 100 wrong",
        "nats lost, beam 10",
        "beam 100",
        "dominance ms",
        "beam 10 ms",
        "beam 100 ms",
    ]
    return Row(
        "Beam search of width 10 and 100, sharp and flat channels, order 5",
        "none: its error rate shows what exactness buys",
        f"beam 10 wrong on {min(e[0] for e in errors):.1%} to {max(e[0] for e in errors):.1%} of messages, "
        f"beam 100 on {min(e[1] for e in errors):.1%} to {max(e[1] for e in errors):.1%}",
        None,
        table(head, rows),
    )


def bounds(sizes: Sizes) -> Row:
    """Random continuations against d+ and d-."""
    count = 1_000_000 if sizes.messages >= 100 else 10_000
    models = [
        ("hansard, order 5", model_file(CORPORA["hansard"], 5), 0.0),
        ("hansard, order 5, noise", model_file(CORPORA["hansard"], 5), 1.0),
        ("hansard, order 3, noise", model_file(CORPORA["hansard"], 3), 1.0),
        ("weather.lm", DATA / "arpa" / "weather.lm", 0.0),
        ("turtle.lm", DATA / "arpa" / "turtle.lm", 0.0),
    ]
    rows, violations = [], 0
    for name, path, noise in models:
        command = [BUILD / "check_bounds", path, str(count), "1", str(noise)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        _, wrong, above_one, reached, excess = done.stdout.split()
        violations += int(wrong)
        rows.append([name, count, wrong, above_one, reached, excess])
    head = ["model", "continuations", "outside", "contexts with bow > 1", "reach a bound", "largest excess"]
    return Row(
        "The bounds d⁺ and d⁻",
        "1 M random continuations inside them, also with back-off weights above 1",
        f"{violations} of {count * len(models)} outside",
        violations == 0,
        table(head, rows),
    )
