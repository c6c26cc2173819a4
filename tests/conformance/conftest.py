"""Real data is not part of the project: it lies beside the checkout, or where HIDDENITE_DATA says."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    path = Path(os.environ.get("HIDDENITE_DATA", beside))
    if not path.is_dir():
        pytest.skip(f"no real data: {path} is no directory (set HIDDENITE_DATA to where it is)")
    return path
