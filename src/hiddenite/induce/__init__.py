"""Part-of-speech induction: tags from plain text, by Pitman-Yor hidden Markov models."""

from hiddenite.induce.diagnostics import Diagnostics as Diagnostics
from hiddenite.induce.evaluation import Comparison as Comparison
from hiddenite.induce.evaluation import compare as compare
from hiddenite.induce.evaluation import many_to_one as many_to_one
from hiddenite.induce.evaluation import one_to_one as one_to_one
from hiddenite.induce.evaluation import v_measure as v_measure
from hiddenite.induce.induction import Induction as Induction
from hiddenite.induce.induction import Sweep as Sweep
from hiddenite.induce.induction import induce as induce
from hiddenite.induce.lexicon import AmbiguityClass as AmbiguityClass
from hiddenite.induce.options import InduceOptions as InduceOptions
