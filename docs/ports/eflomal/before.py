"""Align a parallel text: `python before.py SOURCE TARGET LINKS`."""

import sys
import tempfile
from pathlib import Path

import eflomal

source, target, links = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, open(source) as left, open(target) as right:
    forward, reverse = (Path(folder, name) for name in ("forward", "reverse"))
    eflomal.Aligner().align(left, right, links_filename_fwd=str(forward), links_filename_rev=str(reverse))
    pairs = zip(forward.read_text().splitlines(), reverse.read_text().splitlines(), strict=True)
    common = [sorted({*one.split()} & {*other.split()}) for one, other in pairs]
Path(links).write_text("".join(" ".join(line) + "\n" for line in common))
