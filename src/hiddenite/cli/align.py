"""hiddenite align: train a word aligner, align, symmetrize, score. The commands are in the files beside."""

from __future__ import annotations

from hiddenite.cli import align_corpus, align_links, align_project, align_report, align_run, align_train
from hiddenite.cli.command import command, group

app = group("Word alignment.")
for module in (align_train, align_run, align_corpus, align_links, align_project, align_report):
    for name, (function, options, example) in module.COMMANDS.items():
        command(app, name, options, example=example)(function)
