"""hiddenite: inference in hidden Markov models of language whose answers carry their proof."""

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
from hiddenite.tag import Tagger as Tagger
from hiddenite.tag import TaggerOptions as TaggerOptions

__version__ = "0.1.0"
