"""hiddenite: inference in hidden Markov models of language whose answers carry their proof."""

from hiddenite.errors import FormatError as FormatError
from hiddenite.errors import HiddeniteError as HiddeniteError
from hiddenite.errors import HiddeniteWarning as HiddeniteWarning
from hiddenite.errors import ModelError as ModelError
from hiddenite.errors import UnknownSymbolError as UnknownSymbolError
from hiddenite.ngram import NgramModel as NgramModel
from hiddenite.ngram import TrainingOptions as TrainingOptions
from hiddenite.results import ScoreSummary as ScoreSummary
from hiddenite.results import SentenceScore as SentenceScore
from hiddenite.results import SentenceScores as SentenceScores
from hiddenite.vocabulary import Vocabulary as Vocabulary

__version__ = "0.1.0"
