"""Runs the benchmarks, one script after the other: ``python benchmarks/run.py [OPTION ...]``.

Options go to every script; ``--write`` puts the figures into RESULTS.md, ``--quick`` only sees that all runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("lm.py",)


def main() -> None:
    """Run all scripts, and fail if one does."""
    folder = Path(__file__).resolve().parent
    failed = []
    for script in SCRIPTS:
        print(f"== {script}", flush=True)
        done = subprocess.run([sys.executable, str(folder / script), *sys.argv[1:]], check=False)
        if done.returncode != 0:
            failed.append(script)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
