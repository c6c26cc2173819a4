"""Options that several ``align`` commands share, and how those of training become AlignerOptions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from hiddenite.align.answers import DIRECTIONS
from hiddenite.align.fertilities import ESTIMATORS
from hiddenite.align.options import AlignerOptions
from hiddenite.align.symmetrize import METHODS
from hiddenite.align.training import MAX_SEED
from hiddenite.errors import HiddeniteError

BUDGET = 10.0  # seconds per sentence pair
_T = TypeVar("_T")

Source = Annotated[
    str, typer.Argument(metavar="SRC", help="Source text, or 'source ||| target' lines; - is stdin.")
]
Target = Annotated[str | None, typer.Argument(metavar="[TGT]", help="Target text, line by line.")]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed; drawn and shown if not given.")
]
Sweeps = Annotated[
    str | None,
    typer.Option(
        "--sweeps",
        metavar="A,B,C",
        help="Sweeps with the lexicon alone, with jumps, with fertilities; by the corpus' size if not given.",
    ),
]
Chains = Annotated[int | None, typer.Option("--chains", min=1, help="Independent runs to average.")]
StringPrior = Annotated[
    bool,
    typer.Option("--string-prior/--no-string-prior", help="Words spelt alike are likelier translations."),
]
Fertilities = Annotated[
    str, typer.Option("--fertilities", help=f"How they are smoothed: {', '.join(ESTIMATORS)}.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any other training option, e.g. coupling=3; repeatable."
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option("--checkpoint", metavar="FILE", help="Kept after each sweep; gone on from if it exists."),
]
Direction = Annotated[str, typer.Option("--direction", help=f"One of {', '.join(DIRECTIONS)}.")]
SymmetrizeWith = Annotated[str, typer.Option("--symmetrize", help=f"One of {', '.join(METHODS)}.")]
BudgetOption = Annotated[
    float,
    typer.Option("--budget", min=0.0, help="Seconds per sentence pair; then the best so far and its gap."),
]


def usage(make: Callable[[], _T]) -> _T:
    """Turn a refused option into a usage error."""
    try:
        return make()
    except HiddeniteError as error:
        raise typer.BadParameter(str(error)) from None


def training_options(
    sweeps: str | None,
    chains: int | None,
    string_prior: bool,
    settings: list[str] | None,
    fertilities: str,
) -> AlignerOptions:
    """Return what the options of training say; a refused one is a usage error."""
    fields: dict[str, object] = {"chains": chains, "string_prior": string_prior, "fertilities": fertilities}
    if sweeps is not None:
        counts = sweeps.split(",")
        if len(counts) != 3 or not all(c.strip().isdecimal() for c in counts):
            raise typer.BadParameter(
                f"found '{sweeps}', expected three counts such as 8,8,32", param_hint="--sweeps"
            )
        names = ("model1_sweeps", "hmm_sweeps", "fertility_sweeps")
        fields |= dict(zip(names, map(int, counts), strict=True))
    fields |= dict(map(_setting, settings or ()))
    return usage(lambda: AlignerOptions(**fields))  # type: ignore[arg-type]


def _setting(text: str) -> tuple[str, float]:
    kinds = {
        field.name: type(field.default)
        for field in dataclasses.fields(AlignerOptions)
        if isinstance(field.default, int | float) and not isinstance(field.default, bool)
    }
    name, _, value = text.partition("=")
    if name not in kinds:
        raise typer.BadParameter(f"found '{name}', expected one of {', '.join(kinds)}", param_hint="--set")
    try:
        return name, kinds[name](value)
    except ValueError:
        raise typer.BadParameter(
            f"found '{value}' for {name}, expected {'a whole' if kinds[name] is int else 'a'} number",
            param_hint="--set",
        ) from None
