"""What the rows about projection share: where data lies, how much of it, and eflomal's links."""

from __future__ import annotations

import functools
import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hiddenite.align.links import Link, read_links


@dataclass(frozen=True)
class Size:
    """How much to measure."""

    sentences: int
    seeds: int


@functools.cache
def data() -> Path:
    """Return where data lies."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("HIDDENITE_DATA", beside))


def eflomal_intersection(source: Sequence[str], target: Sequence[str]) -> list[set[Link]]:
    """Return the links that both directions of eflomal have; it takes no seed, each run is another draw."""
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder, name)) for name in ("source", "target", "forward", "reverse")]
        for name, lines in zip(names, (source, target), strict=False):
            Path(name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        program = Path(sysconfig.get_path("scripts")) / "eflomal-align"
        flags = [word for pair in zip(("-s", "-t", "-f", "-r"), names, strict=True) for word in pair]
        subprocess.run([program, "--model", "3", *flags], check=True, capture_output=True)
        forward, reverse = (list(read_links(name)) for name in names[2:])
    return [set(a) & set(b) for a, b in zip(forward, reverse, strict=True)]
