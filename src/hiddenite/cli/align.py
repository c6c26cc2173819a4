"""hiddenite align: train a word aligner, align, symmetrize, score. The commands are in the files beside."""

from __future__ import annotations

import importlib

import typer

from hiddenite.cli.command import command, group

_FILES = {
    "train": "align_train",
    "run": "align_run",
    "corpus": "align_corpus",
    "symmetrize": "align_links",
    "score": "align_links",
    "project": "align_project",
    "strip": "align_project",
    "report": "align_report",
}


def make_group(wanted: str | None = None) -> typer.Typer:
    """Return the group, with the wanted command alone: the others need modules and memory of their own."""
    app = group("Word alignment.")
    for file in dict.fromkeys([_FILES[wanted]] if wanted in _FILES else _FILES.values()):
        module = importlib.import_module(f"hiddenite.cli.{file}")
        for name, (function, options, example) in module.COMMANDS.items():
            command(app, name, options, example=example)(function)
    return app
