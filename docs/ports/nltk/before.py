"""Tag text with TnT: `python before.py TAGGED < TEXT`; TAGGED has lines of word/tag pairs."""

import sys
from pathlib import Path

from nltk.tag.tnt import TnT

lines = Path(sys.argv[1]).read_text().splitlines()
sentences = [[tuple(pair.rsplit("/", 1)) for pair in line.split()] for line in lines]
tagger = TnT()
tagger.train(sentences)
for line in sys.stdin:
    print(" ".join(f"{word}/{tag}" for word, tag in tagger.tag(line.split())))
