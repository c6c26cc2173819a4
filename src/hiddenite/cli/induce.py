"""hiddenite induce: parts of speech from plain text. The commands are in the files beside."""

from __future__ import annotations

from hiddenite.cli import induce_label, induce_report, induce_run, induce_score
from hiddenite.cli.command import command, group

app = group("Part-of-speech induction from plain text.")
for module in (induce_run, induce_score, induce_report, induce_label):
    for name, (function, options, example) in module.COMMANDS.items():
        command(app, name, options, example=example)(function)
