"""A job that is killed again and again."""

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.test_batch import SENTENCES, kill_often
from tests.models import train


@pytest.mark.statistical
def test_a_job_killed_twenty_times(tmp_path: Path, rng: np.random.Generator) -> None:
    train(SENTENCES, 3).compile(tmp_path / "lm.hlm")
    (tmp_path / "job").mkdir()
    kill_often(tmp_path / "job", tmp_path / "lm.hlm", rng, kills=20, records=100_000)
