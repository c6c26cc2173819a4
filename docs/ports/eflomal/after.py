"""Align a parallel text: `python after.py SOURCE TARGET LINKS`."""

import sys
from pathlib import Path

from hiddenite.align import Bitext, Training, align_corpus

source, target, links = sys.argv[1:]
training = Training(Bitext.read(Path(source), Path(target)), seed=1).run()
lines = [" ".join(f"{i}-{j}" for i, j in answer.links) for answer in align_corpus(training)]
Path(links).write_text("".join(line + "\n" for line in lines))
