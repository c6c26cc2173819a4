"""Part-of-speech tagging with hidden Markov models of any order, exactly."""

from hiddenite.tag.adapters import NltkTagger as NltkTagger
from hiddenite.tag.adapters import TaggerEstimator as TaggerEstimator
from hiddenite.tag.adapters import nltk_tagger as nltk_tagger
from hiddenite.tag.adapters import tag_columns as tag_columns
from hiddenite.tag.answers import Tagged as Tagged
from hiddenite.tag.answers import TagSample as TagSample
from hiddenite.tag.answers import TagSequence as TagSequence
from hiddenite.tag.evaluation import TagScore as TagScore
from hiddenite.tag.evaluation import score as score
from hiddenite.tag.formats import read_tagged as read_tagged
from hiddenite.tag.model import OrderTrial as OrderTrial
from hiddenite.tag.options import TaggerOptions as TaggerOptions
from hiddenite.tag.raw_text import train_with_raw as train_with_raw
from hiddenite.tag.tagger import Tagger as Tagger
