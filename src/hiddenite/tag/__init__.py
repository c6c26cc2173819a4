"""Part-of-speech tagging with hidden Markov models of any order, exactly."""

from hiddenite.tag.answers import Tagged as Tagged
from hiddenite.tag.answers import TagKBest as TagKBest
from hiddenite.tag.answers import TagMarginals as TagMarginals
from hiddenite.tag.answers import TagSamples as TagSamples
from hiddenite.tag.evaluation import TagScore as TagScore
from hiddenite.tag.evaluation import score as score
from hiddenite.tag.formats import read_tagged as read_tagged
from hiddenite.tag.tagger import OrderTrial as OrderTrial
from hiddenite.tag.tagger import Tagger as Tagger
from hiddenite.tag.tagger import TaggerOptions as TaggerOptions
