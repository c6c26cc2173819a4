"""The playground's API: answers in the results' schema, every fault one line, limits that hold."""

import asyncio
import json
import math
import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import msgspec
import pytest
from starlette.testclient import TestClient

from hiddenite import Keypad, decode, kbest, marginals, sample
from hiddenite.web import Limits, Models, create_app, questions, schema
from tests.web_models import language_model, models

MESSAGE = "the quick fox sleeps under the old tree ."
NOISY = {"message": MESSAGE, "noise": 8, "seed": 3}


def client_of(app: Any, **options: Any) -> TestClient:
    return TestClient(app, base_url="http://localhost", **options)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with client_of(create_app(models())) as client:
        yield client


def ask(client: TestClient, name: str, **question: Any) -> dict[str, Any]:
    response = client.post(f"/api/{name}", json=question)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    check_answer(answer, name)
    return answer


def check_answer(answer: dict[str, Any], name: str) -> None:
    """An answer is what the description says; fields beyond it are the result's own business."""
    msgspec.convert(answer, schema.ANSWERS[name])


def refuse(response: httpx2.Response, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.json().keys() == {"error"}
    message: str = response.json()["error"]
    assert message
    assert "\n" not in message
    assert "Traceback" not in message
    return message


# --------------------------------------------------------------------- answers


def test_answers_about_noisy_text_are_the_librarys(client: TestClient) -> None:
    lm = language_model()
    channel = Keypad(lm.vocabulary, 4096.0 / 2**8)
    typed = channel.encode(MESSAGE, 3)
    candidates = channel(typed)
    assert ask(client, "decode", **NOISY) == decode(lm, candidates).to_dict() | {
        "input": typed,
        "meant": channel.encode(MESSAGE, None),
        "unknown": [],
    }
    assert ask(client, "kbest", **NOISY, k=4) == kbest(lm, candidates, 4).to_dict() | {"input": typed}
    assert ask(client, "marginals", **NOISY) == marginals(lm, candidates).to_dict() | {"input": typed}
    drawn = sample(lm, candidates, 7, seed=3).to_dict()
    assert ask(client, "sample", **NOISY, n=7) == drawn | {"input": typed}


def test_what_was_typed_reads_like_the_message(client: TestClient) -> None:
    from_message = ask(client, "decode", **NOISY)
    from_input = ask(client, "decode", input=from_message["input"], noise=8)
    assert from_input == from_message | {"meant": None}


def test_words_that_the_model_does_not_know(client: TestClient) -> None:
    answer = ask(client, "decode", message="the xyzzy sleeps", channel="typo", noise=0)
    assert "xyzzy" in answer["unknown"]
    assert "the" not in answer["unknown"]
    assert answer["meant"] == "the xyzzy sleeps"
    assert ask(client, "decode", input="843")["meant"] is None
    assert ask(client, "decode", input="843")["unknown"] == []
    assert ask(client, "tag", text="the xyzzy .")["unknown"] == ["xyzzy"]


def test_no_noise_means_no_slip(client: TestClient) -> None:
    assert ask(client, "decode", message=MESSAGE, noise=0, channel="typo")["input"] == MESSAGE


def test_slots(client: TestClient) -> None:
    answer = ask(client, "decode", slots=[[["the", -0.5], ["a", -0.1]], [["dog", 0], ["tree", -9]]])
    assert answer["words"] == ["the", "dog"]
    assert answer["input"] is None
    assert answer["certificate"]["exact"]


def test_an_empty_message_has_the_empty_reading(client: TestClient) -> None:
    assert ask(client, "decode", message="  ")["words"] == []


@pytest.mark.parametrize("noise", range(11))
@pytest.mark.parametrize("channel", ["keypad", "typo"])
def test_every_level_of_noise(client: TestClient, channel: str, noise: int) -> None:
    assert ask(client, "decode", message=MESSAGE, channel=channel, noise=noise)["certificate"]["exact"]


@pytest.mark.parametrize("width", [1, 3, 50])
def test_a_beam_is_never_better(client: TestClient, width: int) -> None:
    best = ask(client, "decode", **NOISY)["log_weight"]
    found = ask(client, "beam", **NOISY, width=width)
    assert found["log_weight"] <= best + 1e-9  # 30 additions of numbers below 100
    if width == 50:
        assert found["log_weight"] == pytest.approx(best, abs=1e-9)


def test_tags(client: TestClient) -> None:
    answer = ask(client, "tag", text="she can open the can .")
    assert answer["tags"] == ["PRON", "AUX", "VERB", "DET", "NOUN", "PUNCT"]
    assert all(math.isclose(sum(p for _, p in slot), 1, abs_tol=1e-6) for slot in answer["slots"])


def test_correct_keeps_all_but_the_words(client: TestClient) -> None:
    answer = ask(client, "correct", text="The qick  fox, 😀 sleeps\tnear!\n")
    assert answer["text"] == "The quick  fox, 😀 sleeps\tnear!\n"
    (change,) = answer["changes"]
    assert (change["start"], change["old"], change["new"]) == (4, "qick", "quick")
    assert answer["certificate"]["exact"]
    assert ask(client, "correct", text="the quick fox")["changes"] == []
    assert ask(client, "correct", text="")["text"] == ""


def test_slips_are_added_to_words_alone(client: TestClient) -> None:
    text = "the quick brown fox, 12 times!  the lazy dog\n"
    noisy = ask(client, "correct", text=text, noise=10, seed=5)["input"]
    assert noisy != text
    assert ask(client, "correct", text=text, noise=10, seed=5)["input"] == noisy
    assert re.sub(r"[a-z]+", "w", noisy) == re.sub(r"[a-z]+", "w", text)


@pytest.mark.parametrize("method", ["exact", "viterbi", "paper"])
def test_links(client: TestClient, method: str) -> None:
    answer = ask(client, "align", source="thou hast a lamp", target="you have a lamp", method=method)
    assert [3, 3] in answer["links"]
    assert answer["probabilities"] is None


def test_link_probabilities(client: TestClient) -> None:
    answer = ask(client, "align", source="he hath", target="he has", marginals="samples", samples=50)
    assert answer["sampling"]["draws"] == 50
    assert all(0 <= p <= 1.000001 for _, _, p in answer["probabilities"])


def test_words_that_the_aligner_does_not_know_are_named(client: TestClient) -> None:
    answer = ask(client, "align", source="He hath xyzzy", target="he has frob frob")
    assert answer["unknown"] == {"source": ["xyzzy"], "target": ["frob", "frob"]}


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_client_that_leaves_is_no_fault(is_whole: bool) -> None:
    """Whoever types on leaves an answer behind with every key: the server's log stays empty."""
    body = json.dumps({"message": " ".join([MESSAGE] * 5), "width": 30}).encode()
    heard = [{"type": "http.request", "body": body, "more_body": not is_whole}, {"type": "http.disconnect"}]
    said: list[Any] = []

    async def receive() -> Any:
        return heard.pop(0)

    async def send(message: Any) -> None:
        said.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/beam", "query_string": b"", "headers": headers}

    async def visit() -> None:
        await create_app(models())(scope, receive, send)

    asyncio.run(visit())
    assert said[0]["status"] in ({200, 400} if is_whole else {400})  # the answer may come before it is known


def test_generation(client: TestClient) -> None:
    answer = ask(client, "generate", keywords=["dog"], n=2)
    assert [s["words"] for s in answer["sentences"]] == [["here", "dog"]] * 2
    assert answer["constraint_log_prob"] == pytest.approx(math.log(0.25))


# ------------------------------------------------------------------ the stream


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    assert sum(len(f"event: {name}\ndata: {data}\n\n") for name, data in found) == len(text)
    return [(name, json.loads(data)) for name, data in found]


@pytest.mark.parametrize("method", ["refine", "paper"])
def test_the_search_is_told_step_by_step(client: TestClient, method: str) -> None:
    response = client.post("/api/search", json=NOISY | {"method": method})
    assert response.headers["content-type"].startswith("text/event-stream")
    told = events(response.text)
    steps = [data for name, data in told if name == "step"]
    assert [step["number"] for step in steps] == list(range(len(steps)))
    uppers = [step["upper"] for step in steps]
    assert uppers == sorted(uppers, reverse=True)
    best = ask(client, "decode", **NOISY)
    assert steps[-1]["words"] == best["words"]
    assert steps[-1]["upper"] == steps[-1]["lower"] == pytest.approx(best["log_weight"], abs=1e-9)
    name, end = told[-1]
    assert (name, end["exact"], end["steps"]) == ("done", True, len(steps))


def test_pictures_of_the_automaton_count_its_states(client: TestClient) -> None:
    told = events(client.post("/api/search", json=NOISY).text)
    pictures = [data for name, data in told if name == "automaton"]
    for picture in pictures:
        assert len(picture["positions"]) == len(MESSAGE.split()) + 1
        assert sum(sum(column["lengths"]) for column in picture["positions"]) == picture["states"]
        assert all(column["lengths"][column["path"]] > 0 for column in picture["positions"])
    assert pictures[-1]["states"] == told[-1][1]["states"]


def test_a_watched_search_ends_at_its_limit() -> None:
    with client_of(create_app(models(Limits(steps=2)))) as client:
        name, end = events(client.post("/api/search", json=NOISY).text)[-1]
    assert (name, end["exact"], end["steps"]) == ("done", False, 2)


def test_a_search_by_refinement_ends_at_its_limit() -> None:
    with client_of(create_app(models(Limits(states=1)))) as client:
        proof = ask(client, "decode", **NOISY, method="paper")["certificate"]
        assert not proof["exact"]
        assert proof["gap"] > 0
        assert ask(client, "decode", **NOISY)["certificate"]["exact"]  # walks only what the model lists


# --------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("name", "question", "about"),
    [
        ("decode", {}, "exactly one of"),
        ("decode", {"message": "a", "input": "2"}, "message and input"),
        ("decode", {"message": 3}, "'message': expected a string or null, got an integer"),
        ("decode", {"message": "a", "nosie": 3}, "'nosie'"),
        ("decode", {"message": "a", "noise": 11}, "'noise': expected an integer <= 10"),
        ("decode", {"message": "a", "noise": True}, "'noise': expected an integer, got true or false"),
        ("decode", {"message": "a", "channel": "confusion:/etc/passwd"}, "keypad or typo"),
        ("decode", {"message": "a\u0000"}, "column 2"),
        ("decode", {"message": "x " * 49}, "49 words"),
        ("decode", {"message": "x" * 2001}, "'message': expected a string of length <= 2000"),
        ("decode", {"input": "22222222222222222"}, ""),
        ("decode", {"slots": [[["a b", 0]]]}, "expected a word"),
        ("decode", {"slots": [[["a", 0], ["a", 1]]]}, "a"),
        ("decode", {"slots": [[]]}, ""),
        ("decode", {"slots": [[["a"]]]}, "'slots[0][0]': expected a list of length 2"),
        ("sample", {"message": "a", "n": 201}, "'n': expected an integer <= 200"),
        ("sample", {"message": "a", "method": "dominance"}, "'method'"),
        ("kbest", {"message": "a", "k": 0}, "'k'"),
        ("search", {"message": "a", "method": "auto"}, "refine or paper"),
        ("search", {}, "exactly one of"),
        ("tag", {}, "missing required field 'text'"),
        ("align", {"source": "a"}, "'target'"),
        ("generate", {"keywords": ["a"] * 5}, "'keywords': expected a list of length <= 4"),
        ("generate", {"keywords": ["unheard-of"]}, "unknown word"),
    ],
)
def test_a_bad_request_is_refused_in_one_line(
    client: TestClient, name: str, question: dict[str, Any], about: str
) -> None:
    assert about in refuse(client.post(f"/api/{name}", json=question), 400)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"3", b'{"message": NaN}', b"\xff", b"[" * 50_000], ids=range(7)
)
def test_a_body_that_is_no_object_is_refused(client: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    refuse(client.post("/api/decode", content=body, headers=headers), 400)


def test_half_a_surrogate_pair_is_refused(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    refuse(client.post("/api/tag", content=b'{"text": "\\ud800"}', headers=headers), 400)


def test_a_large_body_is_refused(client: TestClient) -> None:
    refuse(client.post("/api/decode", json={"message": "x" * 70_000}), 413)


def test_other_types_verbs_and_paths_are_refused(client: TestClient) -> None:
    refuse(client.post("/api/decode", content=b"{}", headers={"Content-Type": "text/plain"}), 415)
    refuse(client.get("/api/decode"), 405)
    for path in ("/api/nothing", "/../pyproject.toml", "/%2e%2e/server.py", "/page/index.html"):
        refuse(client.get(path), 404)


def test_questions_without_a_model_say_how_to_get_one() -> None:
    with client_of(create_app(Models())) as client:
        for name, question, option in [
            ("decode", {"message": "a"}, "--lm"),
            ("correct", {"text": "a"}, "--corrector"),
            ("tag", {"text": "a"}, "--tagger"),
            ("align", {"source": "a", "target": "b"}, "--aligner"),
            ("generate", {}, "--hmm"),
        ]:
            assert option in refuse(client.post(f"/api/{name}", json=question), 404)
        assert client.get("/api/models").json()["models"] == {}


def replace_tag(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    tag = questions.QUESTIONS["tag"]
    monkeypatch.setitem(questions.QUESTIONS, "tag", tag._replace(function=function))


def test_a_bug_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> dict[str, Any]:
        raise RuntimeError("secret")

    replace_tag(monkeypatch, fail)
    with client_of(create_app(models()), raise_server_exceptions=False) as client:
        response = client.post("/api/tag", json={"text": "a"})
    assert "secret" not in refuse(response, 500)
    assert response.headers["x-frame-options"] == "DENY"


def test_a_full_house_refuses_at_once_and_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, finish = threading.Event(), threading.Event()

    def wait(*_: Any) -> dict[str, Any]:
        begun.set()
        assert finish.wait(60)
        return {}

    replace_tag(monkeypatch, wait)
    with client_of(create_app(models(Limits(workers=1, waiting=0)))) as client:
        other = threading.Thread(target=client.post, args=("/api/tag",), kwargs={"json": {"text": "a"}})
        other.start()
        assert begun.wait(60)
        response = client.post("/api/decode", json={"message": "the"})
        finish.set()
        other.join()
        assert "busy" in refuse(response, 429)
        assert response.headers["retry-after"] == "1"
        assert client.post("/api/decode", json={"message": "the"}).status_code == 200


def test_streams_are_counted_and_given_back() -> None:
    with client_of(create_app(models(Limits(streams=1)))) as client:
        for _ in range(3):
            assert client.post("/api/search", json=NOISY).status_code == 200
            refuse(client.post("/api/search", json={}), 400)
    with client_of(create_app(models(Limits(streams=0)))) as client:
        refuse(client.post("/api/search", json=NOISY), 429)


# ------------------------------------------------------------- page, description


def test_the_page_and_its_headers(client: TestClient) -> None:
    page = client.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert {"main.js", "style.css", "icon.svg"} <= set(named)
    for path in named:
        assert client.get(f"/{path}").status_code == 200
    assert not re.search(r"https?://|style=|onclick|<style|<script>", page.text)


def test_the_description_covers_every_path(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert document["paths"].keys() == {f"/api/{name}" for name in [*questions.QUESTIONS, "search", "models"]}
    for path in document["paths"]:
        verb = client.get if "get" in document["paths"][path] else client.post
        assert verb(path).status_code in {200, 415}


def test_what_is_loaded(client: TestClient) -> None:
    summary = client.get("/api/models").json()
    assert summary["models"].keys() == {"corrector", "lm", "tagger", "aligner", "hmm"}
    assert summary["models"]["lm"] == "seven sentences"


# --------------------------------------------------------------- the other tasks


def test_scores_are_the_language_models(client: TestClient) -> None:
    lm = language_model()
    answer = ask(client, "score", text="the zebra sleeps .\n\nthe dog")
    text = ["the zebra sleeps .", "", "the dog"]
    for one, line in zip(answer["scored"], text, strict=True):
        assert one["log_probs"] == [log_prob for log_prob, _, _ in lm.full_scores(line)]
    assert answer["unknown"] == ["zebra"]
    assert answer["perplexity"] == pytest.approx(lm.perplexity(text))


def test_classes_hold_every_word_once(client: TestClient) -> None:
    text = "the dog sleeps\na dog runs\n\nthe fox runs"
    answer = ask(client, "induce", text=text, tags=3, seed=2)
    words = [word for one in answer["classes"] for word, _ in one["members"]]
    assert sorted(words) == sorted({*text.split()})
    assert sum(one["tokens"] for one in answer["classes"]) == len(text.split())
    assert answer == ask(client, "induce", text=text, tags=3, seed=2)
    message = refuse(client.post("/api/induce", json={"text": "a b", "tags": 2}), 400)
    assert "2 different words, expected more than 2" in message


def test_an_induction_that_takes_too_long_says_how_far_it_came() -> None:
    limits = Limits(quick_seconds=0.01, seconds=0.4)
    text = "\n".join(f"word{n} follows word{n + 1} and word{n * 7 % 500}" for n in range(700))
    with client_of(create_app(models(limits))) as client:
        response = client.post("/api/induce", json={"text": text, "tags": 20})
    if response.status_code == 200:
        assert response.json()["sweeps"] <= response.json()["planned_sweeps"]
    else:
        assert "no answer within 0.4 s" in refuse(response, 422)


def test_directions_of_an_alignment(client: TestClient) -> None:
    pair = {"source": "thou hast a lamp", "target": "you have a lamp"}
    forward, reverse = (ask(client, "align", **pair, direction=one) for one in ("forward", "reverse"))
    both = {
        name: ask(client, "align", **pair, symmetrize=name)["links"] for name in ("union", "intersection")
    }
    links = [{tuple(link) for link in one["links"]} for one in (forward, reverse)]
    assert {tuple(link) for link in both["union"]} == links[0] | links[1]
    assert {tuple(link) for link in both["intersection"]} == links[0] & links[1]


def test_a_report(client: TestClient) -> None:
    answer = ask(client, "report", source="thou hast\nhe hath\n", target="you have\nhe has\n")
    assert answer["pairs"] == 2
    assert answer["html"].startswith("<!doctype html>")
    message = refuse(client.post("/api/report", json={"source": "a\nb", "target": "a"}), 400)
    assert "2 lines" in message


def test_a_lattice_is_read(client: TestClient) -> None:
    edges = [[0, 1, "the", 0], [1, 2, "dog", -1], [0, 2, "fox", -2], [2, 3, "sleeps", 0]]
    best = ask(client, "decode", lattice=edges)
    assert best["words"] == ["the", "dog", "sleeps"]
    assert ask(client, "beam", lattice=edges, width=5)["words"] == best["words"]
    message = refuse(client.post("/api/decode", json={"lattice": [[1, 0, "the", 0]]}), 400)
    assert "edge 1" in message


def test_the_page_is_compressed_for_those_who_read_it(client: TestClient) -> None:
    packed = client.get("/style.css", headers={"Accept-Encoding": "br, gzip;q=0.5"})
    plain = client.get("/style.css", headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert packed.content == plain.content
    assert int(packed.headers["Content-Length"]) < len(plain.content) / 2
