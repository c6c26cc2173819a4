"""Word alignment: fertility HMMs of both directions, with exact answers and link probabilities.

=============  ===========================================================
aligner        train, align, save, load
training       training as an iterator of sweeps, with checkpoints
corpus         the links of the training pairs themselves
answers        questions and answers as records
decisions      links by probability: draws, and what they prove
proofs         why a best alignment is the best, for others to check
symmetrize     one set of links from two directions
links          Pharaoh and gold links as text
evaluation     precision, recall, alignment error rate
bitext         parallel text
priors         dictionaries, and priors in eflomal's format
online         an aligner that learns from one pair after the other
evidence       link probabilities of a model or of a file
projection     labels carried from one side to the other
spans          spans of greatest expected agreement
placing        inline markers put into a translation
report         what a page about the links shows
=============  ===========================================================

A name brings its module when it is first asked for (PEP 562).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hiddenite.align.aligner import Aligner as Aligner
    from hiddenite.align.answers import Alignment as Alignment
    from hiddenite.align.answers import Question as Question
    from hiddenite.align.bitext import Bitext as Bitext
    from hiddenite.align.corpus import CorpusDecoding as CorpusDecoding
    from hiddenite.align.corpus import align_corpus as align_corpus
    from hiddenite.align.decisions import LinkCertificate as LinkCertificate
    from hiddenite.align.decisions import Sampling as Sampling
    from hiddenite.align.evaluation import AlignmentScore as AlignmentScore
    from hiddenite.align.online import OnlineAligner as OnlineAligner
    from hiddenite.align.options import AlignerOptions as AlignerOptions
    from hiddenite.align.priors import Priors as Priors
    from hiddenite.align.projection import Projection as Projection
    from hiddenite.align.projection import project as project
    from hiddenite.align.proofs import AlignmentProof as AlignmentProof
    from hiddenite.align.proofs import write_alignment_proofs as write_alignment_proofs
    from hiddenite.align.training import Sweep as Sweep
    from hiddenite.align.training import Training as Training

# Module -> its names, as above.
_MODULES = {
    "aligner": "Aligner",
    "answers": "Alignment Question",
    "bitext": "Bitext",
    "corpus": "CorpusDecoding align_corpus",
    "decisions": "LinkCertificate Sampling",
    "evaluation": "AlignmentScore",
    "online": "OnlineAligner",
    "options": "AlignerOptions",
    "priors": "Priors",
    "projection": "Projection project",
    "proofs": "AlignmentProof write_alignment_proofs",
    "training": "Sweep Training",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Bring a public name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
