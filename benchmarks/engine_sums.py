"""Sums that leave out a certified share: what that saves, and whether every bound is true."""

from __future__ import annotations

from driver import Driver
from engine_walk import Sizes, ratio, seconds
from report import Row, mean, milliseconds, table
from sms import CORPORA, messages, model_file, type_keys

from hiddenite.candidates import Candidates
from hiddenite.channel import Keypad
from hiddenite.inference import marginals
from hiddenite.ngram import NgramModel

LENGTHS = {5: 50, 10: 50, 20: 18}  # words: messages; the Hansard's sentences are short
EPSILON = 1e-9
DRAWS = 1000


def is_true(lm: NgramModel, candidates: Candidates) -> bool:
    """Compare every bound with the sum that leaves out nothing."""
    found, exact = marginals(lm, candidates, epsilon=EPSILON), marginals(lm, candidates, epsilon=0.0)
    if not found.log_partition_lower <= exact.log_partition <= found.log_partition_upper:
        return False
    margin = found.error_bound + exact.error_bound
    return all(
        abs(prob - expected[word]) <= margin
        for slot, other in zip(found.slots, exact.slots, strict=True)
        for expected in [dict(other)]
        for word, prob in slot
    )


def certified_sums(sizes: Sizes) -> Row:
    """Marginals and draws with epsilon 1e-9, beside nothing left out and beside the best path; order 5."""
    model = model_file(CORPORA["hansard"], 5)
    lm = NgramModel.load(model)
    keypad = Keypad(lm.vocabulary)
    best = "direct:decode:dominance"
    asks = {
        "marginals": "direct:marginals:full",
        f"{DRAWS} draws": f"direct:sample:full:{DRAWS}",
    }
    rows, saved, costs, false = [], [], [], 0
    with Driver(model) as driver:
        for length, count in LENGTHS.items():
            keys = type_keys(messages(CORPORA["hansard"], length, min(count, sizes.messages)))
            size = driver.read_keypad(keys)
            every = [f"{ask}:epsilon={epsilon:g}" for ask in asks.values() for epsilon in (0.0, EPSILON)]
            timed = driver.time([best, *every], sizes.repeats)
            false += sum(not is_true(lm, keypad(message)) for message in keys)
            for name, ask in asks.items():
                all_of_it, most = timed[f"{ask}:epsilon=0"], timed[f"{ask}:epsilon={EPSILON:g}"]
                saved.append(ratio(all_of_it, most))
                costs.append(ratio(most, timed[best]))
                states = [mean(t.states for t in timings) for timings in (all_of_it, most)]
                rows.append(
                    [
                        length,
                        f"{size:.0f}",
                        name,
                        milliseconds(mean(seconds(timed[best]))),
                        milliseconds(mean(seconds(all_of_it))),
                        milliseconds(mean(seconds(most))),
                        f"**{saved[-1]:.1f}**",
                        f"**{costs[-1]:.1f}**",
                        " / ".join(f"{n:.0f}" for n in states),
                    ]
                )
    head = ["words", "candidates", "task", "1-best ms", "all ms", "epsilon ms", "saved", "cost", "states"]
    return Row(
        "certified sums, epsilon 1e-9, order 5",
        "at least 10x faster than epsilon 0 and at most 10x the best path's time; every bound true",
        f"{min(saved):.1f}x to {max(saved):.1f}x faster, {min(costs):.1f}x to {max(costs):.1f}x the best "
        f"path's time; {false} bounds false",
        min(saved) >= 10 and max(costs) <= 10 and false == 0,
        table(head, rows),
    )
