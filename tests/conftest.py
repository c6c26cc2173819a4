"""Seeds and hypothesis profiles of the whole suite.

A test that needs randomness takes the `rng` fixture. Its stream depends on the suite's seed and on the test's
own name, so it is the same alone, in parallel and in any order. `--seed N` tries another one; the seed in use
stands in the header of every run.
"""

import atexit
import os
import shutil
import tempfile
import zlib

import hypothesis
import numpy as np
import pytest

# No deadline: a loaded machine is not a bug. `quick` draws the same cases every time, so that nothing but a
# change turns a run red; `thorough` draws new ones and is for the evening, e.g. before a release.
patient = hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.register_profile("quick", patient, max_examples=60, derandomize=True)
hypothesis.settings.register_profile("thorough", patient, max_examples=5000)
hypothesis.settings.load_profile("quick")

# Networks here are tiny: what jax compiles for them runs once or twice, so that compiling is all the time it
# takes. What is compiled once serves all tests of this process and the commands that they start, which read
# this too. (Two processes cannot share a folder: jax does not write its files at once.)
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"
os.environ["JAX_COMPILATION_CACHE_DIR"] = compiled = tempfile.mkdtemp(prefix="jax-")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
atexit.register(shutil.rmtree, compiled, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=1, help="seed of the `rng` fixture (default: 1)")


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.getoption('--seed')}"


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator of the test's own, drawn from the suite's seed and the test's name."""
    return np.random.default_rng(
        [request.config.getoption("--seed"), zlib.crc32(request.node.nodeid.encode())]
    )
