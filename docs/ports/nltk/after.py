"""Tag text with TnT's recipe: `python after.py TAGGED < TEXT`; TAGGED has lines of word/tag pairs."""

import sys
from pathlib import Path

import hiddenite

lines = Path(sys.argv[1]).read_text().splitlines()
sentences = [[tuple(pair.rsplit("/", 1)) for pair in line.split()] for line in lines]
tagger = hiddenite.Tagger.train_with(sentences, hiddenite.TaggerOptions.tnt())
for line in sys.stdin:
    print(" ".join(f"{word}/{tag}" for word, tag in tagger.tag(line.split())))
