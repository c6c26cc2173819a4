"""``python -m hiddenite`` is the command."""

from hiddenite.cli import main

if __name__ == "__main__":
    main()
