"""What is missing in a text put back: punctuation, capitals, diacritics, blanks, or any events of a list.

An n-gram model over words and events says which restored text is likely; a lexicon says what each form that
is seen can stand for. Every way to restore a line is a path of an acyclic graph
(``cpp/hiddenite/channel/restoration.hpp``), and the exact engine finds the best one, the k best, or the
probability of each event, with the proof.
"""

from hiddenite.restore.evaluation import RestorationScore, evaluate
from hiddenite.restore.folding import WHAT, Folding
from hiddenite.restore.restorer import Restored, Restorer
from hiddenite.restore.training import train_restorer

__all__ = ["WHAT", "Folding", "RestorationScore", "Restored", "Restorer", "evaluate", "train_restorer"]
