"""hiddenite correct learn and evaluate: from pairs of a noisy text and its right version."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hiddenite.cli.common import Json, Output, OutputFile, json_line, say
from hiddenite.cli.correct_model import MODEL, ModelChoice
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.evaluation import Evaluation, evaluate
from hiddenite.correct.gold import nonempty, read_lines, read_pairs
from hiddenite.errors import OptionError
from hiddenite.files.output import atomic_output
from hiddenite.options import MISSING, argument, option, same

OBJECTIVES = ("f1", "f0.5", "wer")
_TOKENS = "One token a line, seen TAB meant, and an empty line between texts."


@dataclass(frozen=True, kw_only=True)
class LearnOptions(ModelChoice, OutputFile):
    """The options of correct learn."""

    noisy: str = argument(MISSING, "Noisy text, or noisy TAB right lines.", "NOISY")
    clean: str | None = argument(None, "The right version, line by line.", "[CLEAN]")
    model: str | None = same(ModelChoice, "model", flags=("--from",), help="Continue with this model.")
    tokens: bool = option(False, _TOKENS, when={"clean": (None,), "unpaired": (False,)})
    unpaired: bool = option(
        False, "NOISY has no right version: one pass of unsupervised learning.", when={"clean": (None,)}
    )
    tune: str | None = option(
        None, "Other pairs, for thresholds and calibration.", metavar="DEV", section="Tuning"
    )
    objective: str = option(
        "f1",
        "What the threshold is chosen for; wer: fewest wrong words.",
        choices=OBJECTIVES,
        section="Tuning",
    )

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse an objective without pairs to tune on."""
        super().check_effects(given)
        if "objective" in given and self.tune is None:
            raise OptionError("objective", "has no effect without --tune")


def learn(options: LearnOptions) -> None:
    """Learn to correct from noisy text and its right version.

    Learnt are which letters go wrong how, which words go with which, and how often words are split, joined,
    hyphenated or wrong at all. Lines may have different numbers of words. Without --from and --lm, the
    default model of --language is the beginning.
    """
    options.hush()
    corrector = options.prepare(options.quiet)()
    if options.unpaired:
        texts = [line for line, _, _ in read_lines(options.noisy)]
        learnt = corrector.learn_unpaired(texts)
        say(f"learnt from {len(texts):,} lines", options.quiet)
    else:
        pairs = nonempty(read_pairs(options.noisy, options.clean, tokens=options.tokens), options.noisy)
        learnt = corrector.learn(pairs)
        say(f"learnt from {len(pairs):,} pairs", options.quiet)
    if options.tune is not None:
        learnt = _tuned(learnt, options)
    learnt.save(options.output)


def _tuned(corrector: Corrector, options: LearnOptions) -> Corrector:
    assert options.tune is not None
    pairs = nonempty(read_pairs(options.tune, tokens=options.tokens), options.tune)
    tuned = corrector.tune(pairs, options.objective)
    settings = tuned.settings
    say(
        f"tuned on {len(pairs):,} pairs: changes of at least {settings.threshold:.2f}, "
        f"careful {settings.careful_threshold:.2f}",
        options.quiet,
    )
    return tuned


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(ModelChoice, Json, Output):
    """The options of correct evaluate."""

    gold: str = argument(MISSING, "Noisy TAB right lines, or the noisy text.", "GOLD")
    clean: str | None = argument(None, "The right version, line by line.", "[CLEAN]")
    model: str | None = same(ModelChoice, "model", section=MODEL)
    tokens: bool = option(False, _TOKENS, when={"clean": (None,)})
    careful: bool = option(False, "Make only changes that are almost certain.")


def evaluate_command(options: EvaluateOptions) -> None:
    """Compare corrections with the right text.

    Printed are precision, recall and F of the changes, the share of good words that are spoilt, word and
    character errors before and after, whether the probabilities can be trusted, and the most frequent
    mistakes. With --json one object.
    """
    options.hush()
    corrector = options.prepare(options.quiet)()
    pairs = nonempty(read_pairs(options.gold, options.clean, tokens=options.tokens), options.gold)
    result = evaluate(corrector, pairs, careful=options.careful)
    text = json_line(result.to_dict()) if options.json else to_text(result)
    with atomic_output(options.output) as out:
        out.write(text.encode())


def to_text(result: Evaluation) -> str:
    """Return the figures for people."""
    lines = [
        f"words              {result.words:,}, of which {result.errors:,} wrong",
        f"changes            {result.true + result.wrong:,}, of which {result.true:,} right",
        f"precision          {100 * result.precision:.1f} %",
        f"recall             {100 * result.recall:.1f} %",
        f"F1, F0.5           {100 * result.f1:.1f} %, {100 * result.f05:.1f} %",
        f"good words spoilt  {100 * result.spoilt:.2f} %",
        f"word error         {_change(result.word_error_before, result.word_error)}",
        f"character error    {_change(result.character_error_before, result.character_error)}",
        f"calibration error  {result.calibration_error:.3f}",
    ]
    for one in result.bins:
        said, true = f"{100 * one.probability:.0f} %", f"{100 * one.true:.0f} %"
        lines.append(f"  said {said:>5}, right {true:>5}  of {one.count:,}")
    if result.mistakes:
        lines.append("most frequent mistakes")
    for mistake in result.mistakes:
        what = f"{mistake.seen} -> {mistake.made}, right: {mistake.right or 'nothing'}"
        lines.append(f"  {mistake.count:>4}  {what}   («{mistake.context}»)")
    return "\n".join(lines) + "\n"


def _change(before: float, after: float) -> str:
    return f"{100 * before:.2f} % before, {100 * after:.2f} % after"
