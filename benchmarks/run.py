"""Runs the benchmarks, one script after the other: ``python benchmarks/run.py [--quick] [--write]``.

``--write`` puts the figures into RESULTS.md, ``--quick`` only sees that everything runs. What a script needs
is said at its head; a script that cannot run says so, and the others go on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "usage.py",
    "lm.py",
    "engine.py",
    "proofs.py",
    "correct.py",
    "align.py",
    "tagger.py",
    "induce.py",
    "hmmlm.py",
    "hmmlm_neural.py",
    "scale.py",
    "web.py",
)


def main() -> None:
    """Run all scripts, and fail if one does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    options = [f"--{name}" for name, given in vars(arguments).items() if given]
    failed = []
    for script in SCRIPTS:
        print(f"== {script}", flush=True)
        path = Path(__file__).resolve().with_name(script)
        if subprocess.run([sys.executable, str(path), *options], check=False).returncode != 0:
            failed.append(script)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
