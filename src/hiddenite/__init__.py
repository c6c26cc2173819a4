"""hiddenite: inference in hidden Markov models of language whose answers carry their proof.

A public name brings its module when it is first asked for (PEP 562): a process that only scores text carries
neither the aligner nor NumPy, so that many processes that share one model stay small.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Module -> the public names that it holds; type checkers read the same from the imports below.
_MODULES = {
    "align.aligner": ("Aligner",),
    "align.answers": ("Alignment",),
    "align.options": ("AlignerOptions",),
    "channel": (
        "Candidates",
        "Confusion",
        "Keypad",
        "Slots",
        "Typo",
    ),
    "errors": (
        "BudgetExceeded",
        "EmptySupportError",
        "FormatError",
        "HiddeniteError",
        "HiddeniteWarning",
        "ModelError",
        "UnknownSymbolError",
    ),
    "hmmlm": ("HMMLanguageModel",),
    "induce.induction": (
        "Induction",
        "induce",
    ),
    "induce.options": ("InduceOptions",),
    "inference": (
        "Budget",
        "Rejection",
        "decode",
        "decode_many",
        "kbest",
        "kbest_many",
        "marginals",
        "marginals_many",
        "sample",
        "sample_many",
        "search",
    ),
    "ngram": (
        "NgramModel",
        "TrainingOptions",
    ),
    "proof": (
        "prove",
        "verify",
        "verify_alignments",
        "write_proofs",
    ),
    "tag": (
        "Tagger",
        "TaggerOptions",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [*_HOMES]  # noqa: PLE0604  (all are strings)

if TYPE_CHECKING:
    from hiddenite.align.aligner import Aligner as Aligner
    from hiddenite.align.answers import Alignment as Alignment
    from hiddenite.align.options import AlignerOptions as AlignerOptions
    from hiddenite.channel import Candidates as Candidates
    from hiddenite.channel import Confusion as Confusion
    from hiddenite.channel import Keypad as Keypad
    from hiddenite.channel import Slots as Slots
    from hiddenite.channel import Typo as Typo
    from hiddenite.errors import BudgetExceeded as BudgetExceeded
    from hiddenite.errors import EmptySupportError as EmptySupportError
    from hiddenite.errors import FormatError as FormatError
    from hiddenite.errors import HiddeniteError as HiddeniteError
    from hiddenite.errors import HiddeniteWarning as HiddeniteWarning
    from hiddenite.errors import ModelError as ModelError
    from hiddenite.errors import UnknownSymbolError as UnknownSymbolError
    from hiddenite.hmmlm import HMMLanguageModel as HMMLanguageModel
    from hiddenite.induce.induction import Induction as Induction
    from hiddenite.induce.induction import induce as induce
    from hiddenite.induce.options import InduceOptions as InduceOptions
    from hiddenite.inference import Budget as Budget
    from hiddenite.inference import Rejection as Rejection
    from hiddenite.inference import decode as decode
    from hiddenite.inference import decode_many as decode_many
    from hiddenite.inference import kbest as kbest
    from hiddenite.inference import kbest_many as kbest_many
    from hiddenite.inference import marginals as marginals
    from hiddenite.inference import marginals_many as marginals_many
    from hiddenite.inference import sample as sample
    from hiddenite.inference import sample_many as sample_many
    from hiddenite.inference import search as search
    from hiddenite.ngram import NgramModel as NgramModel
    from hiddenite.ngram import TrainingOptions as TrainingOptions
    from hiddenite.proof import prove as prove
    from hiddenite.proof import verify as verify
    from hiddenite.proof import verify_alignments as verify_alignments
    from hiddenite.proof import write_proofs as write_proofs
    from hiddenite.tag import Tagger as Tagger
    from hiddenite.tag import TaggerOptions as TaggerOptions
else:

    def __getattr__(name: str) -> object:
        """Bring a public name, or a module."""
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name in _HOMES:
            globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
            return globals()[name]
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise  # an extra is missing
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


class _Package(ModuleType):
    """The package itself: ``induce`` is its function, though a subpackage has that name too."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):  # as the import of a submodule would
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
