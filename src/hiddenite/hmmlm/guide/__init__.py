"""Guides: a hidden Markov model that steers another language model towards a constraint."""

from hiddenite.hmmlm.guide.guide import Guide as Guide
from hiddenite.hmmlm.guide.guide import GuideState as GuideState
from hiddenite.hmmlm.guide.models import GuideModel as GuideModel
from hiddenite.hmmlm.guide.models import read_checkpoint as read_checkpoint
from hiddenite.hmmlm.guide.models import write_checkpoint as write_checkpoint
from hiddenite.hmmlm.guide.processors import GuideLogitsProcessor as GuideLogitsProcessor
from hiddenite.hmmlm.guide.processors import guided_sample as guided_sample
from hiddenite.hmmlm.guide.weighing import Weighed as Weighed
from hiddenite.hmmlm.guide.weighing import weigh as weigh
from hiddenite.hmmlm.subwords import Tokenizer as Tokenizer
from hiddenite.hmmlm.subwords import read_tokenizer as read_tokenizer
