"""hiddenite hmmlm train --method gradient|neural: the part that needs jax, loaded only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from hiddenite.errors import ModelError
from hiddenite.hmmlm.clusters import Clusters
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.training import read_text

if TYPE_CHECKING:
    from hiddenite.hmmlm.neural.task import NeuralTraining


def gradient_training(
    text: str,
    model: dict[str, Any],
    trainer: dict[str, Any],
    *,
    seed: int,
    valid: str | None,
    clusters: Clusters | None,
    start: str | None,
    threads: int,
    checkpoint: str | None,
) -> NeuralTraining:
    """Return a training that is ready to run; raises ModelError without the extra."""
    try:
        from hiddenite.hmmlm.neural import ModelOptions, NeuralTraining, TrainerOptions  # noqa: PLC0415
    except ImportError as error:
        raise ModelError(
            f"training by gradients needs the extra 'neural' ({error}): pip install 'hiddenite[neural]', "
            "or use --method em"
        ) from None
    try:
        chosen, how = ModelOptions(**model), TrainerOptions(**trainer)
    except ModelError as error:
        raise typer.BadParameter(str(error)) from None
    return NeuralTraining(
        read_text(text),
        chosen,
        how,
        seed=seed,
        valid=None if valid is None else read_text(valid),
        clusters=clusters,
        start=None if start is None else HMMLanguageModel.load(start),
        threads=threads,
        checkpoint=checkpoint,
        names=("<stdin>" if text == "-" else text, valid or ""),
    )
