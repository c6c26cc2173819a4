"""The API under requests that its own OpenAPI description suggests, valid and not.

Whatever comes, the answer is one that the description allows: never a 5xx, and never a 2xx for what the
schema forbids. Slow; needs schemathesis: ``make slow``.
"""

from typing import Any

import hypothesis
import pytest

from hiddenite.web import create_app
from hiddenite.web.questions import QUESTIONS
from tests.web_models import models

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def api() -> Any:
    schemathesis = pytest.importorskip("schemathesis")
    return schemathesis.openapi.from_asgi("/openapi.json", create_app(models()))


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("name", [*QUESTIONS, "search"])
def test_whatever_comes(api: Any, name: str, mode: str) -> None:
    generation = pytest.importorskip("schemathesis.generation")
    checks = pytest.importorskip("schemathesis.specs.openapi.checks")
    strategy = api[f"/api/{name}"]["POST"].as_strategy(generation_mode=generation.GenerationMode(mode))

    @hypothesis.settings(max_examples=200, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(case=strategy)
    def answer_is_allowed(case: Any) -> None:
        response = case.call()
        excluded = [checks.positive_data_acceptance]  # an unknown word has the right shape, and is refused
        if response.status_code == 413:
            excluded.append(checks.negative_data_rejection)  # it does not know that this is a refusal
        case.validate_response(response, excluded_checks=excluded)

    answer_is_allowed()
