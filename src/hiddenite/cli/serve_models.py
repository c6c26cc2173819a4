"""Models of the built-in texts for serve: trained at the first start, then found in the user's cache.

::

    ~/.cache/hiddenite/playground-lm-4cf5e2a07b1d9c38        or below $XDG_CACHE_HOME

The name holds a digest of all that a model depends on: the version of hiddenite, the text and the options. A
file that cannot be read is trained again. Where the cache cannot be written, the model is used without a
file. A model file has a name, so the page can show the command that asks the same.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from hiddenite.align.aligner import Aligner
from hiddenite.cli import demo, demo_align
from hiddenite.cli.demo_tags import SENTENCES as TAG_EXAMPLES
from hiddenite.cli.demo_tags import tagged_sentences
from hiddenite.correct.defaults import cache_folder
from hiddenite.errors import HiddeniteError, HiddeniteWarning
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.training import Epoch
from hiddenite.ngram import NgramModel
from hiddenite.tag.tagger import Tagger
from hiddenite.version import VERSION

NUM_EXAMPLES = 6
_RECIPE = 1  # is raised when a model trained in another way must not be found any more
HMM_SENTENCES, HMM_STATES, HMM_CLUSTERS, HMM_EPOCHS = 8000, 512, 64, 8
HMM_SEED = 1
KEYWORDS = (["king, city"], ["fox, hill"])  # to begin with: of the book, of the few sentences

_Model = TypeVar("_Model")
Report = Callable[[str], None]


@dataclass(frozen=True)
class Served(Generic[_Model]):
    """A model, what it is in a few words, where it is, and examples to begin with."""

    model: _Model
    name: str
    file: str = ""
    examples: tuple[Any, ...] = ()


def language_model(path: str | None, report: Report) -> Served[NgramModel]:
    """Load a language model, or train one of the built-in text; some of its sentences are kept apart."""
    if path is not None:
        return Served(NgramModel.load(path), path, os.path.abspath(path))
    source, sentences = demo.built_in_text()
    held_out = [s for s in sentences[:: demo.HELD_OUT] if len(s.split()) in demo.LENGTHS]
    training = [s for i, s in enumerate(sentences) if i % demo.HELD_OUT] or sentences
    model, file = _kept(
        "lm",
        (training, demo.ORDER),
        lambda: _timed(report, f"a language model from {source}", lambda: demo.train_model(training)),
        NgramModel.load,
        lambda model, path: model.compile(path),
    )
    examples = tuple((held_out or sentences)[:NUM_EXAMPLES])
    return Served(model, f"order {demo.ORDER}, {source}", file, examples)


def aligner(path: str | None, report: Report) -> Served[Aligner]:
    """Load an aligner, or train one of the built-in verses."""
    if path is not None:
        return Served(Aligner.load(path), path, os.path.abspath(path))
    source, verses = demo_align.verses()
    pairs = [(" ".join(e), " ".join(f)) for e, f in verses]
    options, seed = demo_align.OPTIONS, demo_align.SEED
    model, file = _kept(
        "aligner",
        (pairs, options, seed),
        lambda: _timed(
            report, f"to align {source}", lambda: Aligner.train(pairs, seed=seed, options=options)
        ),
        Aligner.load,
        lambda model, path: model.save(path),
    )
    return Served(model, source, file, tuple(_instructive(model, pairs)))


def _instructive(model: Aligner, pairs: list[tuple[str, str]]) -> list[list[str]]:
    """Return short pairs, first those on which the search without fertilities is wrong."""
    short = [pair for pair in pairs if max(len(side.split()) for side in pair) in demo_align.LENGTHS]
    fitting = [pair for pair in short or pairs[:NUM_EXAMPLES] if pair[0] != pair[1]]
    exact, viterbi = (
        list(model.align_many(fitting, method=method, budget=1.0)) for method in ("exact", "viterbi")
    )
    order = sorted(range(len(fitting)), key=lambda i: exact[i].links == viterbi[i].links)  # type: ignore[union-attr]
    return [list(fitting[i]) for i in order[:NUM_EXAMPLES]]


def tagger(path: str | None, report: Report) -> Served[Tagger]:
    """Load a tagger, or train one of the built-in sentences."""
    if path is not None:
        return Served(Tagger.load(path), path, os.path.abspath(path))
    sentences = tagged_sentences()
    name = f"{len(sentences)} tagged sentences"
    model, file = _kept(
        "tagger",
        (sentences, 2),
        lambda: _timed(report, f"to tag from {name}", lambda: Tagger.train(sentences, order=2)),
        Tagger.load,
        lambda model, path: model.save(path),
    )
    return Served(model, name, file, tuple(TAG_EXAMPLES))


def generator(path: str | None, report: Report) -> Served[HMMLanguageModel]:
    """Load an HMM language model, or train a small one of the built-in text."""
    if path is not None:
        return Served(HMMLanguageModel.load(path), path, os.path.abspath(path))
    source, sentences = demo.built_in_text()
    text = sentences[:HMM_SENTENCES]
    is_small = len(text) < HMM_SENTENCES
    states, clusters = (24, 8) if is_small else (HMM_STATES, HMM_CLUSTERS)

    def train() -> HMMLanguageModel:
        def on_epoch(epoch: Epoch) -> None:
            report(f"  {epoch.number} of {epoch.total}: perplexity {math.exp(-epoch.log_prob):.0f}")

        return HMMLanguageModel.train(
            text,
            states,
            clusters,
            seed=HMM_SEED,
            epochs=HMM_EPOCHS,
            folds=2,
            on_epoch=None if is_small else on_epoch,
        )

    model, file = _kept(
        "hmm",
        (text, states, clusters, HMM_EPOCHS, HMM_SEED),
        lambda: _timed(report, f"to write like {source}", train),
        HMMLanguageModel.load,
        lambda model, path: model.save(path),
    )
    return Served(model, f"{model.num_states:,} states, {source}", file, tuple(KEYWORDS[is_small]))


def _timed(report: Report, what: str, make: Callable[[], _Model]) -> _Model:
    report(f"learning {what} ...")
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        model = make()
    report(f"learned {what} in {time.perf_counter() - begun:.1f} s")
    return model


def _kept(
    kind: str,
    made_of: Iterable[object],
    train: Callable[[], _Model],
    load: Callable[[str], _Model],
    save: Callable[[_Model, str], None],
) -> tuple[_Model, str]:
    """Return the model of the cache and its file; it is trained and written if there is none."""
    digest = hashlib.sha256(repr((VERSION, _RECIPE, *made_of)).encode()).hexdigest()[:16]
    path = Path(cache_folder(), f"playground-{kind}-{digest}").absolute()
    if path.is_file():
        try:
            return load(str(path)), str(path)
        except HiddeniteError:
            pass  # damaged, or of another format: it is written anew
    model = train()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        save(model, str(path))
    except (OSError, HiddeniteError):
        return model, ""
    return model, str(path)
