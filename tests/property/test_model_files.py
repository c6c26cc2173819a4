"""Model files that were damaged: what is loaded is what was saved, or there is one line and nothing else.

Bytes of a file are flipped, cut off and added. Then the same is done to its members, which get new checksums,
so that the damage comes through to those who read them: such a model may answer something else, but it
answers, or it is refused when it is loaded. A process of its own with little memory does that: a crash ends
it, and what allocates by a number of the file fails there.
"""

import contextlib
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hiddenite.errors import FormatError, HiddeniteError
from hiddenite.files.container import write_members
from tests.archives import members_of
from tests.unit.test_container import KINDS

QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
SPARE_BYTES = 1 << 30  # above what the process has when it begins
ROUNDS = 150


@pytest.fixture(scope="module", params=list(KINDS))
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = tmp_path_factory.mktemp("model") / "model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KINDS[request.param].make().save(path)
    return request.param, path


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content, flipped, cut or with more in it, at any place."""
    at = draw(st.integers(0, len(content)))
    match draw(st.sampled_from(["flip", "cut", "insert", "replace"])):
        case "flip" if at < len(content):
            flipped = bytes([content[at] ^ draw(st.integers(1, 255))])
            return content[:at] + flipped + content[at + 1 :]
        case "cut":
            return content[:at]
        case "replace":
            number = draw(st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**62, 2**64 - 1])).to_bytes(8, "little")
            return content[:at] + number + content[at + 8 :]
    return content[:at] + draw(st.binary(min_size=1, max_size=70)) + content[at:]


def ask(kind: str, model: Any) -> None:
    """Ask a model for everything that it is for."""
    if kind == "tagger":
        model.tag("the dog xyz")
    elif kind == "aligner":
        model.align("the dog", "a cat xyz")
    elif kind == "hmmlm":
        model.score(["the dog", "xyz a"])
    else:
        next(iter(model), None)


def refusal_of(kind: str, file: Path) -> str | None:
    """What loading the file is refused with; None if it is loaded and answers."""
    try:
        model = KINDS[kind].load(file)
    except FormatError as error:
        return str(error)
    with contextlib.suppress(HiddeniteError):  # an answer may be an error
        ask(kind, model)
    return None


@QUICK
@given(data=st.data())
def test_a_damaged_file_is_the_same_model_or_is_refused(data: st.DataObject, saved: tuple[str, Path]) -> None:
    kind, path = saved
    bad = path.with_name("bad")
    bad.write_bytes(data.draw(damaged(path.read_bytes())))
    refusal = refusal_of(kind, bad)
    if refusal is None:
        assert members_of(bad) == members_of(path)  # the damage is between two members
    else:
        assert "\n" not in refusal
        assert str(bad) in refusal


# What follows is run by a process of its own: `python -m tests.property.test_model_files KIND FILE`.


def other_json(draw: st.DrawFn, content: bytes) -> bytes:
    """A header in which one value is another or missing."""
    header = json.loads(content)
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            places.append((node, key))
            if isinstance(value, dict | list):
                collect(value)

    collect(header)
    node, key = draw(st.sampled_from(places))
    if draw(st.integers(0, 9)) == 0:
        del node[key]
    else:
        values: list[Any] = [
            0,
            -1,
            1,
            3,
            10**6,
            2**31,
            2**63,
            10**30,
            -0.5,
            1e300,
            float("nan"),
            None,
            True,
            "",
            "x",
            [],
            {},
        ]
        node[key] = draw(st.sampled_from(values))
    return json.dumps(header).encode()


@st.composite
def resealed(draw: st.DrawFn, members: dict[str, bytes]) -> dict[str, bytes]:
    """The members, one of them damaged."""
    name = draw(st.sampled_from(sorted(members)))
    content = members[name]
    if name == "header.json" and draw(st.booleans()):
        return {**members, name: other_json(draw, content)}
    return {**members, name: draw(damaged(content))}


def load_and_ask(kind: str, file: str) -> None:
    """Load damaged files and ask what could be loaded; anything but an answer or a refusal is raised."""
    import resource  # noqa: PLC0415  (for this process)

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_BYTES,) * 2)
    warnings.simplefilter("ignore")
    members = members_of(Path(file))
    bad = Path(file).with_name("bad")

    @settings(QUICK, max_examples=ROUNDS)
    @given(changed=resealed(members))
    def run(changed: dict[str, bytes]) -> None:
        with bad.open("wb") as out:
            write_members(out, changed.items(), compress=False)
        refusal = refusal_of(kind, bad) or ""
        assert "\n" not in refusal
        assert "MemoryError" not in refusal
        assert "bad_alloc" not in refusal

    run()


def test_a_damaged_member_is_answered_with_or_refused(saved: tuple[str, Path]) -> None:
    kind, path = saved
    done = subprocess.run(
        [sys.executable, "-m", __name__, kind, str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stderr[-3000:]}"


if __name__ == "__main__":
    load_and_ask(*sys.argv[1:])
