"""Gradient training of hidden Markov language models, and the neural models they are compared with.

Needs the extra ``neural`` (jax and optax). What is trained here is an ordinary
:class:`~hiddenite.hmmlm.model.HMMLanguageModel` in the end: every query runs without jax.
"""

from hiddenite.hmmlm.neural.baselines import NetworkModel as NetworkModel
from hiddenite.hmmlm.neural.baselines import NetworkOptions as NetworkOptions
from hiddenite.hmmlm.neural.baselines import train_network as train_network
from hiddenite.hmmlm.neural.options import ModelOptions as ModelOptions
from hiddenite.hmmlm.neural.options import TrainerOptions as TrainerOptions
from hiddenite.hmmlm.neural.task import NeuralTraining as NeuralTraining
from hiddenite.hmmlm.neural.trainer import Report as Report
