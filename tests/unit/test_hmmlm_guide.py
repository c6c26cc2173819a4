"""Guides in use: processors, tokenizer files, checkpoints, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiddenite import FormatError, HMMLanguageModel, ModelError, UnknownSymbolError
from hiddenite._core import DenseHmm
from hiddenite.hmmlm import constraints as c
from hiddenite.hmmlm.guide import (
    Guide,
    GuideLogitsProcessor,
    GuideModel,
    guided_sample,
    read_checkpoint,
    read_tokenizer,
    write_checkpoint,
)
from hiddenite.hmmlm.guide.processors import _draw
from tests.hmm_oracle import END, random_chain

WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c"]


@pytest.fixture
def model(rng: np.random.Generator) -> HMMLanguageModel:
    return HMMLanguageModel(WORDS, [random_chain(rng, "brown", 4, 3), random_chain(rng, "dense", 3, 3)])


def uniform(_: object) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.zeros(len(WORDS))


def test_guided_sentences_satisfy_their_constraint(model: HMMLanguageModel, rng: np.random.Generator) -> None:
    guide = Guide(model, c.all_of("a", "b c") & ~c.keyword("c c"), max_length=8)
    for _ in range(50):
        tokens = guided_sample(guide, uniform, rng)
        assert tokens[-1] == END
        text = " ".join(WORDS[t] for t in tokens[:-1])
        assert "a" in text
        assert "b c" in text
        assert "c c" not in text


def other_model() -> np.ndarray[Any, np.dtype[np.float64]]:
    """ln p of each word, whatever the words before."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log([0.0, 0.0, 0.3, 0.1, 0.2, 0.4]))


def test_the_importance_of_a_draw_is_its_probability_over_that_of_drawing_it(model: HMMLanguageModel) -> None:
    """Its mean is p(constraint) under the other model; |z| < 5.5 has a false alarm of 4e-8."""
    longest, draws = 3, 4000
    guide = Guide(model, ["a"], max_length=longest, threads=1)
    exact = sum(0.7**n - 0.6**n for n in range(1, longest + 1)) * 0.3
    rng = np.random.default_rng(5)
    found = [_draw(guide, lambda _: other_model() + 7.0, rng, (), 2.0)[1] for _ in range(draws)]
    importance = np.exp(found)
    error = importance.std() / np.sqrt(draws)
    assert abs(importance.mean() - exact) < 5.5 * error
    assert abs(importance.mean() - 1.3 * exact) > 5.5 * error  # such a mean would be noticed


def test_one_of_many_draws_follows_the_other_model(model: HMMLanguageModel) -> None:
    guide = Guide(model, ["a"], max_length=2, threads=1)
    sentences = {(3,): 0.1, (3, 3): 0.01, (3, 4): 0.02, (3, 5): 0.04, (4, 3): 0.02, (5, 3): 0.04}
    total = sum(sentences.values())

    def distance(choose_from: int) -> float:
        rng = np.random.default_rng(6)
        draws = [  # at such a temperature the guide says little but what is possible
            guided_sample(guide, lambda _: other_model(), rng, temperature=50.0, choose_from=choose_from)
            for _ in range(200)
        ]
        found = [tuple(tokens[:-1]) for tokens in draws]
        return sum(abs(found.count(s) / len(found) - p / total) for s, p in sentences.items()) / 2

    assert distance(32) < 0.15
    assert distance(1) > 0.2
    with pytest.raises(ModelError, match="at least 1"):
        guided_sample(guide, lambda _: other_model(), np.random.default_rng(1), choose_from=0)


def test_a_batch_is_weighed_row_by_row(model: HMMLanguageModel) -> None:
    guide = Guide(model, ["a"], max_length=5)
    processor = GuideLogitsProcessor(guide, prompt_length=1)
    scores = np.zeros((2, len(WORDS) + 1))
    both = processor(np.array([[3, 4], [4, 3]]), scores)
    for row, (prompt, token) in zip(both, [(3, 4), (4, 3)], strict=True):
        expected = guide.start([prompt]).advance(token).log_weights()
        np.testing.assert_allclose(row[:-1], expected)
        assert row[-1] == -np.inf  # a score beyond the vocabulary
    one = GuideLogitsProcessor(guide, prompt_length=1)([3, 4], scores[0])
    np.testing.assert_allclose(one, both[0])


def test_temperature_divides_and_keeps_what_is_impossible(model: HMMLanguageModel) -> None:
    state = Guide(model, ["a"], max_length=1, min_length=1).start()
    weights, warm = state.log_weights(), state.log_weights(temperature=2.0)
    np.testing.assert_allclose(warm, weights / 2)
    assert np.isfinite(weights).sum() == 1
    with pytest.raises(ModelError, match="temperature"):
        state.log_weights(temperature=0)


def test_where_the_chain_says_nothing_the_automaton_decides() -> None:
    """The chain never emits c after a: the guide backs off and c is still found."""
    words = ["<unk>", "<s>", "</s>", "a", "c"]
    from hiddenite._core import SparseHmm  # noqa: PLC0415
    from hiddenite.hmmlm.shape import dense_shape  # noqa: PLC0415

    emission = np.array([[0.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 0.0]]).reshape(-1)
    chain = SparseHmm(dense_shape(5, 2, True), np.array([0.5, 0.5]), np.full(4, 0.5, np.float32), emission)
    guide = Guide(HMMLanguageModel(words, [chain]), ["c"], max_length=3)
    state = guide.start()
    assert state.log_prob() == -np.inf
    for token in (3, 3):
        assert state.log_weights()[token] > -np.inf
        state = state.advance(token)
    allowed = np.isfinite(state.log_weights())
    assert allowed.tolist() == [False, False, False, False, True]
    assert state.advance(4).is_satisfied


def test_a_fixed_position_rules_out_words_that_the_chain_never_emits(model: HMMLanguageModel) -> None:
    state = Guide(model, ["a"], max_length=5, fixed={0: 4}).start()
    for weights in (state.log_weights(), state.log_weights(tokens=list(range(len(model.words))))):
        assert np.flatnonzero(weights > -np.inf).tolist() == [4]


def test_a_sentence_does_not_end_unsatisfied_where_the_chain_never_ends_it() -> None:
    """State 0 never ends a sentence, so that the end is a word that says nothing there."""
    emission = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], np.float32)  # a, b, the end
    transition = np.array([[1.0, 0.0], [0.5, 0.5]], np.float32)
    chain = DenseHmm(np.array([1.0, 0.0]), transition.reshape(-1), emission.T.reshape(-1).copy(), 3, 2)
    mixed = DenseHmm(np.array([0.5, 0.5]), transition.reshape(-1), emission.T.reshape(-1).copy(), 3, 2)
    texts = [b" a", b" b", None]
    for of, min_length in ((chain, 2), (mixed, 0)):
        state = Guide(GuideModel.dense(of, texts, end=2), ["b"], max_length=2, min_length=min_length).start()
        for tokens in (None, [0, 1, 2]):
            assert state.log_weights(tokens=tokens)[2] == -np.inf
        assert state.advance(1).log_weights()[2] == (-np.inf if min_length else 0.0)


def test_checkpoints_are_read_in_every_form(tmp_path: Path, rng: np.random.Generator) -> None:
    z, v = 5, 7
    arrays = {
        "initial": rng.dirichlet(np.ones(z)),
        "transition": rng.dirichlet(np.ones(z), z),
        "emission": rng.dirichlet(np.ones(v), z),
    }
    names = [("startprob_", "transmat_", "emissionprob_"), ("gamma", "alpha", "beta"), tuple(arrays)]
    values = []
    for i, keys in enumerate(names):
        path = tmp_path / f"{i}.npz"
        np.savez(path, **dict(zip(keys, arrays.values(), strict=True)))  # type: ignore[arg-type]
        values.append(first_weights(path))
    for other in values[1:]:
        np.testing.assert_array_equal(values[0], other)


def first_weights(path: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    chain = read_checkpoint(path, end=0)
    texts = [None, *(f" w{i}".encode() for i in range(1, chain.num_words))]
    return Guide(GuideModel.dense(chain, texts, end=0), ["w2"], max_length=4).start().log_weights()


def test_an_exported_checkpoint_guides_alike(tmp_path: Path, model: HMMLanguageModel) -> None:
    path = tmp_path / "model.safetensors"
    write_checkpoint(path, model)
    header = path.read_bytes()
    length = int.from_bytes(header[:8], "little")
    entries = json.loads(header[8 : 8 + length])
    assert entries["beta"]["shape"] == [model.num_states, 5]
    words = entries["__metadata__"]["words"].split("\n")
    chain = read_checkpoint(path, end=words.index("</s>"))
    texts = [None if w.startswith("<") else b" " + w.encode() for w in words]
    weights = Guide(GuideModel.dense(chain, texts, end=1), ["a"], max_length=4).start().log_weights()
    expected = Guide(model, c.keyword("a") & c.words(1, 4), max_length=4).start().log_weights()
    order = [WORDS.index(w) for w in words[1:]]
    # In floats, and without <unk>, which has no text.
    assert np.argsort(weights[1:]).tolist() == np.argsort(expected[order]).tolist()


@pytest.mark.parametrize("content", [b"", b"garbage!" * 4, (99).to_bytes(8, "little") + b"{}"])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"x\.safetensors"):
        read_checkpoint(path)


def test_tokenizer_files_give_the_texts_of_tokens(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(
        json.dumps(
            {
                "added_tokens": [{"id": 4, "content": "<|end|>", "special": True}],
                "decoder": {"type": "ByteLevel"},
                "model": {"type": "BPE", "vocab": {"a": 0, "Ġdog": 1, "Ã": 2, "©": 3, "Ċ": 5}},
            }
        )
    )
    tokenizer = read_tokenizer(path)
    assert tokenizer.texts == (b"a", b" dog", b"\xc3", b"\xa9", None, b"\n")
    assert tokenizer.text([0, 2, 3, 1]) == "aé dog"
    pieces = {"decoder": {"type": "WordPiece"}, "model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1}}}
    path.write_text(json.dumps(pieces))
    assert read_tokenizer(path).texts == (b" a", b"b")
    path.write_text('{"model": 3}')
    with pytest.raises(FormatError, match=r"tokenizer\.json"):
        read_tokenizer(path)


def test_unknown_words_are_named_in_keywords_and_patterns(model: HMMLanguageModel) -> None:
    for wanted in (c.keyword("aa"), c.pattern("a aa .*")):
        with pytest.raises(UnknownSymbolError, match="aa"):
            Guide(model, wanted, max_length=3)
    with pytest.raises(UnknownSymbolError, match="aa"):
        model.generate(pattern="aa .*")


def test_what_makes_no_sense_is_refused(model: HMMLanguageModel) -> None:
    with pytest.raises(ModelError, match="smaller first"):
        Guide(model, ["a"], min_length=5, max_length=3)
    with pytest.raises(ModelError, match="gives one sentence"):
        model.generate(2, method="best")
    with pytest.raises(ModelError, match="at most"):
        model.generate(length=10**9)
    with pytest.raises(ModelError, match="no continuation"):
        Guide(model, ["a"], max_length=0).start().log_weights()
    with pytest.raises(ModelError, match="expected 0 to 5"):
        Guide(model, ["a"], max_length=2).start().advance(6)


def test_generation_takes_any_constraint(model: HMMLanguageModel) -> None:
    drawn = model.generate(20, constraint=c.none_of("a") & c.text("(b|c| )*"), max_length=4, seed=1)
    assert all(set(s.words) <= {"b", "c"} for s in drawn.sentences)
