"""hiddenite serve: the playground, with models of your own or with small ones from the built-in texts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite.channel import Keypad
from hiddenite.cli import demo, demo_correct, serve_models
from hiddenite.cli.common import Quiet
from hiddenite.cli.serve_models import Report, Served
from hiddenite.correct.corrector import Corrector
from hiddenite.errors import ModelError
from hiddenite.inference import decode
from hiddenite.options import option

PORT = 8017
INDUCED_SENTENCES = 40  # of the built-in text, to find classes in
LOADERS: Mapping[str, Callable[[str | None, Report], Served[Any]]] = {
    "hmm": serve_models.generator,
    "tagger": serve_models.tagger,
    "aligner": serve_models.aligner,
    "lm": serve_models.language_model,
}


@dataclass(frozen=True, kw_only=True)
class ServeOptions(Quiet):
    """The options of serve."""

    lm: str | None = option(None, "Language model for decoding.", metavar="LM")
    corrector: str | None = option(None, "Model of hiddenite correct learn.", metavar="MODEL")
    tagger: str | None = option(None, "Model of hiddenite tag train.", metavar="MODEL")
    aligner: str | None = option(None, "Model of hiddenite align train.", metavar="MODEL")
    hmm: str | None = option(None, "HMM language model, for generation.", metavar="MODEL")
    host: str = option("127.0.0.1", "Address to listen at; the default is this machine alone.")
    port: int = option(PORT, "Port; 0 is any free one.", least=0, most=65535)
    allow_host: tuple[str, ...] = option(
        (),
        "Answer for this host name too, as a proxy or a name server gives it; may be repeated.",
        metavar="NAME",
    )


def serve(options: ServeOptions) -> None:
    """Serve a page for trying things out, and a JSON API described at /openapi.json.

    What no option names is learned from the built-in texts at the first start, in half a minute or so, and
    kept in the user's cache. Needs the extra "web": pip install "hiddenite[web]".
    """
    try:
        from hiddenite import web  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        raise ModelError(
            f'the playground needs {error.name}, which is not installed: pip install "hiddenite[web]"'
        ) from None
    options.hush()
    report: Report = (
        (lambda _: None) if options.quiet else (lambda line: print(f"hiddenite: {line}", file=sys.stderr))
    )
    listener = web.open_port(
        options.host, options.port
    )  # what can fail comes first; what takes time comes last
    # Files that are named come first: what is wrong with them is said before anything is learned.
    named = {
        kind: load(path, report)
        for kind, load in LOADERS.items()
        if (path := getattr(options, kind)) is not None
    }
    corrector = None if options.corrector is None else Corrector.load(options.corrector)
    served = {kind: named.get(kind) or load(None, report) for kind, load in LOADERS.items()}
    decode(
        served["lm"].model, Keypad(served["lm"].model.vocabulary)("0")
    )  # the first question builds the index
    files = {kind: one.file for kind, one in served.items() if one.file}
    about = options.corrector or ""
    if corrector is not None:
        files["corrector"] = os.path.abspath(about)
    else:
        corrector, about = demo_correct.load_corrector(served["lm"].model, report)
        files |= {} if about == demo_correct.DEFAULT else {"corrector_lm": served["lm"].file}
    models = web.Models(
        lm=served["lm"].model,
        tagger=served["tagger"].model,
        aligner=served["aligner"].model,
        generator=served["hmm"].model,
        corrector=corrector,
        names={"corrector": about} | {kind: one.name for kind, one in served.items()},
        examples=_examples(served),
        files=files,
    )
    hosts = [options.host, *options.allow_host]
    web.serve(models, listener, lambda url: report(f"the playground is at {url} (Control-C ends it)"), hosts)


def _examples(served: Mapping[str, Served[Any]]) -> dict[str, Sequence[Any]]:
    """Return what the tabs begin with; those of a model of the user's own begin empty."""
    sentences = served["lm"].examples
    induced = ["\n".join(demo.built_in_text()[1][:INDUCED_SENTENCES])] if sentences else []
    return {
        "correct": demo_correct.EXAMPLES,
        "decode": sentences,
        "tag": served["tagger"].examples,
        "align": served["aligner"].examples,
        "score": ["\n".join(sentences[:3])] if sentences else [],
        "induce": induced,
        "generate": served["hmm"].examples,
    }


COMMANDS = {"serve": (serve, ServeOptions, "hiddenite serve --port 8017")}
