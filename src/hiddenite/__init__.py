"""hiddenite: inference in hidden Markov models of language whose answers carry their proof.

A public name brings its module when it is first asked for (PEP 562): a process that only scores text carries
neither the aligner nor NumPy, so that many processes that share one model stay small.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from hiddenite.version import VERSION

__version__ = VERSION

# Module -> the public names that it holds; type checkers read the same from the imports below.
_MODULES = {
    "_core": "State",
    "align.aligner": "Aligner",
    "align.answers": "Alignment",
    "align.options": "AlignerOptions",
    "align.projection": "Projection project",
    "candidates": "Candidates",
    "channel": "Classes Confusion Keypad Slots Typo TypoRates WordMap",
    "correct.answers": "Alternative Change Correction",
    "correct.corrector": "Corrector",
    "correct.evaluation": "Evaluation",
    "correct.tokens": "Protect",
    "errors": "BudgetExceeded EmptySupportError FormatError HiddeniteError HiddeniteWarning ModelError "
    "OptionError UnknownSymbolError",
    "hmmlm": "HMMLanguageModel",
    "hmmlm.guide": "Guide",
    "induction.induction": "Induction induce",
    "induction.options": "InduceOptions",
    "inference": "decode decode_many kbest kbest_many marginals marginals_many sample sample_many search",
    "lattice": "read_lattices write_lattices",
    "models": "Model ModelInfo",
    "ngram": "NgramModel",
    "ngram_training": "TrainingOptions",
    "proof": "prove verify verify_alignments write_proofs",
    "query": "Budget Rejection",
    "restore.restorer": "Restorer",
    "results": "Certificate Decoded Failure Hypothesis KBest Marginals Proof Sample Samples Step",
    "scores": "Discount ScoreSummary SentenceScore SentenceScores",
    "tag": "Tagger TaggerOptions",
    "tag.answers": "Tagged TagSample TagSequence",
    "vocabulary": "Vocabulary",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = [*_HOMES]  # noqa: PLE0604  (all are strings)

if TYPE_CHECKING:
    from hiddenite._core import State as State
    from hiddenite.align.aligner import Aligner as Aligner
    from hiddenite.align.answers import Alignment as Alignment
    from hiddenite.align.options import AlignerOptions as AlignerOptions
    from hiddenite.align.projection import Projection as Projection
    from hiddenite.align.projection import project as project
    from hiddenite.candidates import Candidates as Candidates
    from hiddenite.channel import Classes as Classes
    from hiddenite.channel import Confusion as Confusion
    from hiddenite.channel import Keypad as Keypad
    from hiddenite.channel import Slots as Slots
    from hiddenite.channel import Typo as Typo
    from hiddenite.channel import TypoRates as TypoRates
    from hiddenite.channel import WordMap as WordMap
    from hiddenite.correct.answers import Alternative as Alternative
    from hiddenite.correct.answers import Change as Change
    from hiddenite.correct.answers import Correction as Correction
    from hiddenite.correct.corrector import Corrector as Corrector
    from hiddenite.correct.evaluation import Evaluation as Evaluation
    from hiddenite.correct.tokens import Protect as Protect
    from hiddenite.errors import BudgetExceeded as BudgetExceeded
    from hiddenite.errors import EmptySupportError as EmptySupportError
    from hiddenite.errors import FormatError as FormatError
    from hiddenite.errors import HiddeniteError as HiddeniteError
    from hiddenite.errors import HiddeniteWarning as HiddeniteWarning
    from hiddenite.errors import ModelError as ModelError
    from hiddenite.errors import OptionError as OptionError
    from hiddenite.errors import UnknownSymbolError as UnknownSymbolError
    from hiddenite.hmmlm import HMMLanguageModel as HMMLanguageModel
    from hiddenite.hmmlm.guide import Guide as Guide
    from hiddenite.induction.induction import Induction as Induction
    from hiddenite.induction.induction import induce as induce
    from hiddenite.induction.options import InduceOptions as InduceOptions
    from hiddenite.inference import decode as decode
    from hiddenite.inference import decode_many as decode_many
    from hiddenite.inference import kbest as kbest
    from hiddenite.inference import kbest_many as kbest_many
    from hiddenite.inference import marginals as marginals
    from hiddenite.inference import marginals_many as marginals_many
    from hiddenite.inference import sample as sample
    from hiddenite.inference import sample_many as sample_many
    from hiddenite.inference import search as search
    from hiddenite.lattice import read_lattices as read_lattices
    from hiddenite.lattice import write_lattices as write_lattices
    from hiddenite.models import Model as Model
    from hiddenite.models import ModelInfo as ModelInfo
    from hiddenite.ngram import NgramModel as NgramModel
    from hiddenite.ngram_training import TrainingOptions as TrainingOptions
    from hiddenite.proof import prove as prove
    from hiddenite.proof import verify as verify
    from hiddenite.proof import verify_alignments as verify_alignments
    from hiddenite.proof import write_proofs as write_proofs
    from hiddenite.query import Budget as Budget
    from hiddenite.query import Rejection as Rejection
    from hiddenite.restore.restorer import Restorer as Restorer
    from hiddenite.results import Certificate as Certificate
    from hiddenite.results import Decoded as Decoded
    from hiddenite.results import Failure as Failure
    from hiddenite.results import Hypothesis as Hypothesis
    from hiddenite.results import KBest as KBest
    from hiddenite.results import Marginals as Marginals
    from hiddenite.results import Proof as Proof
    from hiddenite.results import Sample as Sample
    from hiddenite.results import Samples as Samples
    from hiddenite.results import Step as Step
    from hiddenite.scores import Discount as Discount
    from hiddenite.scores import ScoreSummary as ScoreSummary
    from hiddenite.scores import SentenceScore as SentenceScore
    from hiddenite.scores import SentenceScores as SentenceScores
    from hiddenite.tag import Tagger as Tagger
    from hiddenite.tag import TaggerOptions as TaggerOptions
    from hiddenite.tag.answers import Tagged as Tagged
    from hiddenite.tag.answers import TagSample as TagSample
    from hiddenite.tag.answers import TagSequence as TagSequence
    from hiddenite.vocabulary import Vocabulary as Vocabulary
else:

    def __getattr__(name: str) -> object:
        """Bring a public name, or a module."""
        if name.startswith("_") or not name.isidentifier():
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
    return sorted([*_HOMES, "__version__"])
