"""hiddenite serve: the playground, with models of your own or with small ones from the built-in texts."""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from hiddenite.align.aligner import Aligner
from hiddenite.channel import Keypad
from hiddenite.cli import demo, demo_align
from hiddenite.cli.common import Quiet, hush
from hiddenite.cli.demo_tags import SENTENCES as TAG_EXAMPLES
from hiddenite.cli.demo_tags import tagged_sentences
from hiddenite.errors import HiddeniteWarning, ModelError
from hiddenite.inference import decode
from hiddenite.ngram import NgramModel
from hiddenite.tag.tagger import Tagger

PORT = 8017
NUM_EXAMPLES = 6
EPILOGS = {"serve": "Example: hiddenite serve --port 8017"}

_Model = TypeVar("_Model")
Report = Callable[[str], None]


def serve(
    *,
    lm: Annotated[str | None, typer.Option("--lm", metavar="LM", help="ARPA file for decoding.")] = None,
    tagger: Annotated[
        str | None, typer.Option("--tagger", metavar="MODEL", help="Model of hiddenite tag train.")
    ] = None,
    aligner: Annotated[
        str | None, typer.Option("--aligner", metavar="MODEL", help="Model of hiddenite align train.")
    ] = None,
    hmm: Annotated[
        str | None, typer.Option("--hmm", metavar="MODEL", help="HMM language model, for generation.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; the default is this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 is any free one.")] = PORT,
    quiet: Quiet = False,
) -> None:
    """Serve a page for trying things out, and a JSON API described at /openapi.json.

    What no option names is learned from the built-in texts when the server starts, in a few seconds. Needs
    the extra "web": pip install "hiddenite[web]".
    """
    try:
        from hiddenite.web import Models  # noqa: PLC0415  (an extra)
        from hiddenite.web import serve as run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ModelError(
            f'the playground needs {error.name}, which is not installed: pip install "hiddenite[web]"'
        ) from None
    hush(quiet)
    report: Report = (
        (lambda _: None) if quiet else (lambda line: print(f"hiddenite: {line}", file=sys.stderr))
    )
    generator = None if hmm is None else _load_hmm(hmm)  # first, because the others may have to be learned
    language_model, about_lm, messages = _language_model(lm, report)
    alignment, about_aligner, pairs = _aligner(aligner, report)
    tags, about_tagger, sentences = _tagger(tagger, report)
    models = Models(
        lm=language_model,
        tagger=tags,
        aligner=alignment,
        generator=generator,
        names={"lm": about_lm, "tagger": about_tagger, "aligner": about_aligner, "hmm": hmm or ""},
        examples={"decode": messages, "tag": sentences, "align": pairs},
    )
    run(models, host, port, lambda url: report(f"the playground is at {url} (Control-C ends it)"))


def _timed(report: Report, what: str, make: Callable[[], _Model]) -> _Model:
    report(f"learning {what} ...")
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        model = make()
    report(f"learned {what} in {time.perf_counter() - begun:.1f} s")
    return model


def _language_model(path: str | None, report: Report) -> tuple[NgramModel, str, list[str]]:
    if path is not None:
        model, name, messages = NgramModel.load(path), path, []
    else:
        source, sentences = demo.built_in_text()
        held_out = [s for s in sentences[:: demo.HELD_OUT] if len(s.split()) in demo.LENGTHS]
        training = [s for i, s in enumerate(sentences) if i % demo.HELD_OUT] or sentences
        name = f"order {demo.ORDER}, {source}"
        messages = (held_out or sentences)[:NUM_EXAMPLES]
        model = _timed(report, f"a language model from {source}", lambda: demo.train_model(training))
    decode(model, Keypad(model.vocabulary)("0"))  # the first question builds the index
    return model, name, messages


def _aligner(path: str | None, report: Report) -> tuple[Aligner, str, list[list[str]]]:
    if path is not None:
        return Aligner.load(path), path, []
    source, verses = demo_align.verses()
    pairs = [(" ".join(e), " ".join(f)) for e, f in verses]
    model = _timed(
        report,
        f"to align {source}",
        lambda: Aligner.train(pairs, seed=demo_align.SEED, options=demo_align.OPTIONS),
    )
    return model, source, _instructive(model, pairs)


def _instructive(model: Aligner, pairs: list[tuple[str, str]]) -> list[list[str]]:
    """Return short pairs, first those on which the search without fertilities is wrong."""
    short = [pair for pair in pairs if max(len(side.split()) for side in pair) in demo_align.LENGTHS]
    fitting = [pair for pair in short or pairs[:NUM_EXAMPLES] if pair[0] != pair[1]]
    exact, viterbi = (
        list(model.align_many(fitting, method=method, budget=1.0)) for method in ("exact", "viterbi")
    )
    order = sorted(range(len(fitting)), key=lambda i: exact[i].links == viterbi[i].links)  # type: ignore[union-attr]
    return [list(fitting[i]) for i in order[:NUM_EXAMPLES]]


def _tagger(path: str | None, report: Report) -> tuple[Tagger, str, list[str]]:
    if path is not None:
        return Tagger.load(path), path, []
    sentences = tagged_sentences()
    name = f"{len(sentences)} tagged sentences"
    return _timed(report, f"to tag from {name}", lambda: Tagger.train(sentences, order=2)), name, TAG_EXAMPLES


def _load_hmm(path: str) -> Any:
    try:
        package = importlib.import_module("hiddenite.hmmlm")
    except ModuleNotFoundError:
        raise ModelError("this version has no HMM language models; leave out --hmm") from None
    return package.HMMLanguageModel.load(path)
