"""hiddenite correct: correct text; learn from pairs; evaluate. The commands are in the files beside."""

from __future__ import annotations

from hiddenite.cli.command import command, default_group
from hiddenite.cli.correct_learn import EvaluateOptions, LearnOptions, evaluate_command, learn
from hiddenite.cli.correct_run import CorrectOptions, correct

app = default_group("Correct raw text: misspelt, misread or badly typed.", "run")

command(app, "run", CorrectOptions, example="hiddenite correct letter.txt --changes", is_default=True)(
    correct
)
command(
    app,
    "learn",
    LearnOptions,
    example="hiddenite correct learn noisy.txt clean.txt --kind ocr --output archive.corrector",
)(learn)
command(
    app,
    "evaluate",
    EvaluateOptions,
    example="hiddenite correct evaluate pairs.tsv --model archive.corrector",
)(evaluate_command)
