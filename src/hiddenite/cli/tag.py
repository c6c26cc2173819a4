"""hiddenite tag: train, run, export, score and report on part-of-speech taggers."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenite.cli.command import command, group
from hiddenite.cli.common import Output
from hiddenite.cli.tag_report import ReportOptions, report_command
from hiddenite.cli.tag_run import Model, RunOptions, run
from hiddenite.cli.tag_score import ScoreOptions, score_command
from hiddenite.cli.tag_suggest import SuggestOptions, suggest_command
from hiddenite.cli.tag_train import TrainOptions, train
from hiddenite.tag.tagger import Tagger

app = group("Part-of-speech tagging.")

command(
    app,
    "train",
    TrainOptions,
    example="hiddenite tag train train.conllu --column xpos --output english.tagger",
)(train)
command(app, "run", RunOptions, example="echo 'The dog barks .' | hiddenite tag run --model english.tagger")(
    run
)


command(
    app,
    "suggest",
    SuggestOptions,
    example="hiddenite tag suggest --model english.tagger -n 50 raw.txt --output next.conllu",
)(suggest_command)


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Model, Output):
    """The options of tag export."""


@command(
    app, "export", ExportOptions, example="hiddenite tag export --model english.tagger --output tags.arpa"
)
def export(options: ExportOptions) -> None:
    """Write the tagger's model of tag sequences as ARPA text: what `verify --lm` needs for proofs of tags."""
    options.hush()
    Tagger.load(options.model).model.transitions.save(options.output)


command(
    app, "score", ScoreOptions, example="hiddenite tag score --model english.tagger --column xpos test.conllu"
)(score_command)
command(
    app,
    "report",
    ReportOptions,
    example="hiddenite tag report --model english.tagger test.conllu --html report.html",
)(report_command)
