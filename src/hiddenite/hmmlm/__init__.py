"""Hidden Markov language models: clusters, training, queries."""

from hiddenite.hmmlm.clusters import Clustering as Clustering
from hiddenite.hmmlm.clusters import Clusters as Clusters
from hiddenite.hmmlm.interpolation import Interpolation as Interpolation
from hiddenite.hmmlm.model import HMMLanguageModel as HMMLanguageModel
from hiddenite.hmmlm.options import HMMOptions as HMMOptions
from hiddenite.hmmlm.options import Smoothing as Smoothing
from hiddenite.hmmlm.training import Training as Training
