"""Part-of-speech induction: tags from plain text, by Pitman-Yor hidden Markov models."""

from hiddenite.induction.diagnostics import Diagnostics as Diagnostics
from hiddenite.induction.evaluation import Comparison as Comparison
from hiddenite.induction.evaluation import compare as compare
from hiddenite.induction.evaluation import many_to_one as many_to_one
from hiddenite.induction.evaluation import one_to_one as one_to_one
from hiddenite.induction.evaluation import v_measure as v_measure
from hiddenite.induction.induction import Induction as Induction
from hiddenite.induction.induction import induce as induce
from hiddenite.induction.lexicon import AmbiguityClass as AmbiguityClass
from hiddenite.induction.options import InduceOptions as InduceOptions
from hiddenite.induction.state import Sweep as Sweep
