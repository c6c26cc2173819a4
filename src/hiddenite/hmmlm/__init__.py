"""Hidden Markov language models: clusters, training, queries."""

from hiddenite.hmmlm.batches import ChainGradient as ChainGradient
from hiddenite.hmmlm.batches import Gradient as Gradient
from hiddenite.hmmlm.batches import filter_many as filter_many
from hiddenite.hmmlm.batches import gradient as gradient
from hiddenite.hmmlm.batches import posterior_many as posterior_many
from hiddenite.hmmlm.clusters import Clustering as Clustering
from hiddenite.hmmlm.clusters import Clusters as Clusters
from hiddenite.hmmlm.histories import Histories as Histories
from hiddenite.hmmlm.interpolation import Interpolation as Interpolation
from hiddenite.hmmlm.lexical import LexicalTraining as LexicalTraining
from hiddenite.hmmlm.model import HMMLanguageModel as HMMLanguageModel
from hiddenite.hmmlm.options import HMMOptions as HMMOptions
from hiddenite.hmmlm.options import LexicalOptions as LexicalOptions
from hiddenite.hmmlm.options import Smoothing as Smoothing
from hiddenite.hmmlm.training import Training as Training
