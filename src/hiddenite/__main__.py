"""``python -m hiddenite`` is the command."""

from hiddenite.cli import run

if __name__ == "__main__":
    run()
