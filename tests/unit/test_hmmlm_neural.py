"""Gradient training of hidden Markov models: the gradient, every form of the model, the trainer.

Skipped without jax, which comes with the extra `neural`.
"""

import dataclasses
import itertools
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra `neural` is not installed")
pytest.importorskip("optax", reason="the extra `neural` is not installed")

import jax
import jax.numpy as jnp

from hiddenite.errors import FormatError, ModelError
from hiddenite.hmmlm import HMMLanguageModel, Interpolation
from hiddenite.hmmlm.arrays import dense_transition
from hiddenite.hmmlm.neural.baselines import KINDS as NETWORKS
from hiddenite.hmmlm.neural.baselines import NetworkModel, NetworkOptions, train_network
from hiddenite.hmmlm.neural.batches import batches, sentence_lines, with_pairs
from hiddenite.hmmlm.neural.evidence import log_evidence, plain_log_evidence
from hiddenite.hmmlm.neural.layout import export_chain, import_chain, make_layout
from hiddenite.hmmlm.neural.options import BATCHINGS, TYINGS, ModelOptions, TrainerOptions
from hiddenite.hmmlm.neural.outputs import OUTPUTS
from hiddenite.hmmlm.neural.parameters import Hmm, init_parameters, tables_of_chain
from hiddenite.hmmlm.neural.task import NeuralTraining, hmm_loss
from hiddenite.hmmlm.neural.trainer import Report, Trainer
from tests.hmm_oracle import random_chain

ATOL = 1e-10  # doubles: sums of some hundred products
TEXT = b"the cat sat on the mat\na dog ran\n\nthe dog sat\na cat ran on the long long mat\n" * 3
VALID = b"the dog ran on the mat\na bird sat\n"
TINY = TrainerOptions(epochs=2, batch_tokens=64, segment=8, warmup=2)
FORMS = [
    ModelOptions(states=6, clusters=2, width=4, layers=1, sets=sets, parameterisation=kind, transitions=form)
    for kind in ("scalar", "neural")
    for sets, form in (("brown", "factored"), ("brown", "full"), ("uniform", "full"))
]


def form_name(options: ModelOptions) -> str:
    return f"{options.parameterisation}-{options.sets}-{options.transitions}"


every_form = pytest.mark.parametrize("options", FORMS, ids=form_name)


def training(options: ModelOptions, trainer: TrainerOptions = TINY, **more: Any) -> NeuralTraining:
    return NeuralTraining(TEXT, options, trainer, seed=1, **more)


def prepared_batch(run: NeuralTraining) -> Any:
    return run.task.prepare(run.task.batches(np.random.default_rng(1))[0])


# The gradient of the evidence


def evidence_case(rng: np.random.Generator) -> tuple[Any, ...]:
    rows, length, k, pairs = 3, 5, 4, 3
    first = rng.random((rows, k))
    mask = np.arange(length)[None, :] < np.array([5, 3, 0])[:, None]
    pair = rng.integers(pairs, size=(rows, length)).astype(np.int32)
    blocks, emit = rng.random((pairs, k, k)), rng.random((rows, length, k))
    blocks[0, 1], emit[0, 1, 2] = 0.0, 0.0  # the gradient there is not zero, but no edge has mass
    return first, blocks, emit, pair, mask


@pytest.mark.parametrize("few", [0, 16])
def test_edge_marginals_are_the_gradient(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("hiddenite.hmmlm.neural.evidence.FEW_BLOCKS", few)  # both ways to add them up
    with jax.enable_x64(True):
        *floats, pair, mask = (jnp.asarray(a) for a in evidence_case(rng))
        weights = jnp.asarray(rng.random(3))

        def ours(*x: Any) -> Any:
            return (weights * log_evidence(*x, pair, mask)[0]).sum()

        def judge(*x: Any) -> Any:
            return (weights * plain_log_evidence(*(*x, pair, mask))).sum()

        assert float(ours(*floats)) == pytest.approx(float(judge(*floats)), abs=ATOL)
        found, expected = (jax.grad(f, argnums=(0, 1, 2))(*floats) for f in (ours, judge))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=ATOL)


def test_a_wrong_marginal_is_seen(rng: np.random.Generator) -> None:
    with jax.enable_x64(True):
        *floats, pair, mask = (jnp.asarray(a) for a in evidence_case(rng))
        gradient = jax.grad(lambda b: plain_log_evidence(floats[0], b, floats[2], pair, mask).sum())(
            floats[1]
        )
        wrong = jax.grad(lambda b: log_evidence(floats[0], b, floats[2], pair, ~mask)[0].sum())(floats[1])
        assert np.abs(gradient - wrong).max() > 1e-3


def test_evidence_by_enumeration(rng: np.random.Generator) -> None:
    first, blocks, emit, pair, mask = evidence_case(rng)
    with jax.enable_x64(True):
        found = log_evidence(*(jnp.asarray(a) for a in (first, blocks, emit, pair, mask)))[0]
    for row, length in enumerate(mask.sum(axis=1)):
        total = 0.0
        for path in itertools.product(range(4), repeat=int(length) + 1):
            p = first[row, path[0]]
            for t, (i, j) in enumerate(itertools.pairwise(path)):
                p *= blocks[pair[row, t], i, j] * emit[row, t, j]
            total += p
        # Nothing is divided by the sum of `first` in a row without words.
        assert float(found[row]) == pytest.approx(math.log(total) if length else 0.0, abs=ATOL)


@every_form
def test_gradient_of_each_parameter(options: ModelOptions, rng: np.random.Generator) -> None:
    """By automatic differentiation of the plain recursion, and by finite differences in one direction."""
    with jax.enable_x64(True):
        run = training(options)
        hmm, prepared = Hmm(run.task.layout, options), prepared_batch(run)
        params = init_parameters(rng, run.task.layout, options)
        # A network whose biases are zero lies in the kink of its rectifiers wherever a layer's input is zero.
        params = jax.tree.map(lambda x: np.asarray(x) + rng.normal(size=x.shape) / 8, params)

        def loss(p: Any) -> Any:
            return hmm_loss(hmm, p, prepared, None, None)[0]

        both = jax.jit(jax.value_and_grad(loss))
        gradient = both(params)[1]
        direction = jax.tree.map(lambda x: rng.normal(size=x.shape), params)  # NumPy: nothing to compile
        step = 1e-5
        ahead, behind = (
            both(jax.tree.map(lambda p, d, h=h: p + h * d, params, direction))[0] for h in (step, -step)
        )
        slope = sum(
            float((np.asarray(g) * d).sum())
            for g, d in zip(*map(jax.tree.leaves, (gradient, direction)), strict=True)
        )
        # The error of central differences is about step^2 times a third derivative in the hundreds.
        assert (float(ahead) - float(behind)) / (2 * step) == pytest.approx(slope, rel=1e-5, abs=1e-5)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "hiddenite.hmmlm.neural.task.log_evidence",
                lambda first, *rest: (plain_log_evidence(first, *rest), first),
            )
            judge = jax.jit(jax.grad(loss))(params)
        for a, b in zip(*map(jax.tree.leaves, (gradient, judge)), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=ATOL)


# Every form of the model is a chain


@every_form
def test_exported_chain_has_the_same_likelihood(options: ModelOptions) -> None:
    run = training(options)
    hmm = Hmm(run.task.layout, options)
    params = run.trainer.params
    loss = jax.jit(lambda prepared: hmm_loss(hmm, params, prepared, None, None)[0])
    chain = run.task.chain(params)
    model = run.model()
    for batch in run.task.batches(np.random.default_rng(1)):
        found = -float(loss(with_pairs(batch, run.task.layout)))
        words = [
            [model.words[w] for w in row[m][:-1]]
            for row, m in zip(batch.words, batch.mask, strict=True)
            if m[0]
        ]
        expected = float(model.score(words).log_prob.sum())
        assert found == pytest.approx(expected, rel=1e-5)
    assert chain.initial.sum() == pytest.approx(1, abs=1e-9)


@every_form
def test_a_chain_that_is_imported_stays_itself(options: ModelOptions, rng: np.random.Generator) -> None:
    """A scalar model is the chain; a neural one starts there, with networks that are silent."""
    chain = random_chain(rng, options.sets, 6, 5)
    layout = make_layout(chain)
    tables = tables_of_chain(layout, options, *import_chain(layout, chain))
    params = init_parameters(rng, layout, options, tables)
    hmm = Hmm(layout, options, tables if options.parameterisation == "neural" else None)
    back = export_chain(layout, *hmm.probabilities(params))
    assert back.initial == pytest.approx(chain.initial, abs=1e-6)
    found, expected = dense_transition(back), dense_transition(chain)
    expected[-1] = chain.initial  # a sentence begins with a transition from </s>
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert back.emission == pytest.approx(chain.emission, abs=1e-6)


def test_full_and_factored_rows_sum_to_one() -> None:
    for options in FORMS:
        run = training(options)
        transition, emission = Hmm(run.task.layout, options).probabilities(run.trainer.params)
        live = run.task.layout.live
        np.testing.assert_allclose(transition[live].sum(axis=1), 1, atol=1e-5)
        totals = np.zeros(run.task.layout.num_states)
        words = run.task.layout.emitted
        np.add.at(totals, run.task.layout.sets[run.task.layout.set_of_word[words]], emission[words])
        np.testing.assert_allclose(totals[live], 1, atol=1e-5)


# Dropout


def test_state_dropout_keeps_n_states_of_each_set() -> None:
    options = dataclasses.replace(FORMS[3], states=12, dropout="state", dropout_rate=0.5)
    run = training(options)
    kept = Hmm(run.task.layout, options).keep(jax.random.key(5))
    assert kept.states.shape == (3, 3)
    assert np.asarray(kept.valid)[:2].all()
    assert np.asarray(kept.valid)[2].tolist() == [True, False, False]  # </s> keeps its state
    assert (np.asarray(kept.states) // 6 == np.arange(3)[:, None]).all()


@pytest.mark.parametrize("options", [o for o in FORMS if o.sets == "brown"], ids=form_name)
def test_state_dropout_is_the_model_without_the_dropped_states(options: ModelOptions) -> None:
    """p(z' | z) with dropout is p(z' | z) restricted to the kept states and normalised anew."""
    dropped = dataclasses.replace(options, states=12, dropout="state")
    run = training(dropped)
    hmm, layout = Hmm(run.task.layout, dropped), run.task.layout
    params = run.trainer.params
    kept = hmm.keep(jax.random.key(5))
    pairs = jnp.asarray(list(itertools.product(range(3), repeat=2)), dtype=jnp.int32)
    blocks = np.exp(np.asarray(hmm.blocks(params, kept, pairs)))
    whole, _ = hmm.probabilities(params)
    states, valid = np.asarray(kept.states), np.asarray(kept.valid)
    columns = states[valid]
    of_set = columns // layout.set_size
    for p, (a, b) in enumerate(np.asarray(pairs)):
        rows = states[a][valid[a]]
        restricted = whole[np.ix_(rows, columns)]
        if dropped.transitions == "full":
            expected = restricted / restricted.sum(axis=1, keepdims=True)
        else:
            classes = whole[rows].reshape(len(rows), 3, -1).sum(axis=2)[:, of_set]
            sums = np.stack([restricted[:, of_set == s].sum(axis=1) for s in range(3)], axis=1)[:, of_set]
            expected = classes * restricted / sums
        found = blocks[p][valid[a]][:, valid[b]]
        np.testing.assert_allclose(found, expected[:, of_set == b], atol=1e-5)


def test_unstructured_dropout_masks_the_same_pairs_everywhere() -> None:
    """Rows still sum to one over all blocks: the normaliser saw the same mask as each block."""
    for options in FORMS:
        dropped = dataclasses.replace(options, dropout="unstructured")
        run = training(dropped)
        hmm = Hmm(run.task.layout, dropped)
        kept = hmm.keep(jax.random.key(5))
        if not run.task.layout.partitioned:
            matrix = np.exp(np.asarray(hmm.dense_log_transition(run.trainer.params, kept.key)))
        else:
            pairs = jnp.asarray(list(itertools.product(range(3), repeat=2)), dtype=jnp.int32)
            blocks = np.exp(np.asarray(hmm.blocks(run.trainer.params, kept, pairs)))
            matrix = blocks.reshape(3, 3, 3, 3).transpose(0, 2, 1, 3).reshape(9, 9)[run.task.layout.live]
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
        assert 0 < (matrix < 1e-10).mean() < 1  # e^-30 is 1e-13


# Batches


@pytest.mark.parametrize("batching", ["sentences", "document"])
def test_batches_hold_every_word_once(batching: str) -> None:
    run = training(FORMS[0])
    lines = sentence_lines(run.model().read(TEXT))
    options = dataclasses.replace(TINY, batching=batching)
    made = batches(lines, options, np.random.default_rng(1))
    found = np.concatenate([batch.words[batch.mask] for batch in made])
    np.testing.assert_array_equal(np.sort(found), np.sort(np.concatenate(lines)))
    assert len({batch.words.shape for batch in made}) == 1


def test_a_document_is_scored_as_its_sentences() -> None:
    """The state that is carried over a border makes the pieces one text."""
    options = dataclasses.replace(TINY, batching="document", batch_tokens=16, segment=8)
    for form in (*FORMS[:2], FORMS[5]):  # every layout, and both kinds of parameters
        run = NeuralTraining(TEXT, form, options, seed=1)
        task, params = run.task, run.trainer.params
        total, carry, loss_of = 0.0, None, jax.jit(task.loss)
        for batch in task.batches(np.random.default_rng(1)):
            prepared = task.prepare(batch)
            carry = task.carry(prepared) if carry is None else carry
            loss, carry = loss_of(params, None, prepared, None, carry)
            total -= float(loss)
        # Two streams: the second begins in the middle of a sentence, as if one had ended there.
        model = run.model()
        stream = np.concatenate(sentence_lines(model.read(TEXT)))
        middle = -(-len(stream) // 2)
        words = model.words
        expected = 0.0
        for part in (stream[:middle], stream[middle:]):
            ends = np.flatnonzero(part == 2)
            cut = np.split(part, ends + 1)
            expected += sum(
                model.score([[words[w] for w in line[:-1]]]).log_prob.sum()
                for line in cut
                if len(line) and line[-1] == 2
            )
            if len(cut[-1]):
                text = " ".join(words[w] for w in cut[-1]).encode()
                expected += model.token_log_probs(text)[:-1].sum()
        assert total == pytest.approx(expected, rel=1e-5)


# The trainer


@every_form
def test_training_learns(options: ModelOptions) -> None:
    batching = "document" if options.transitions == "full" else "sentences"
    trainer = dataclasses.replace(TINY, epochs=6, rate=0.03, batching=batching, batch_tokens=16)
    run = training(
        dataclasses.replace(options, dropout="unstructured", dropout_rate=0.2), trainer, valid=VALID
    )
    before = run.model().perplexity(TEXT)
    reports = list(run)
    assert run.model().perplexity(TEXT) < 0.9 * before
    best = min(r.valid_perplexity for r in reports if r.valid_perplexity is not None)
    assert run.model().perplexity(VALID) == pytest.approx(best, rel=1e-9)


def test_ties_share_vectors() -> None:
    sizes = []
    for tying in TYINGS:
        run = training(dataclasses.replace(FORMS[3], tying=tying))
        assert math.isfinite(run.model().perplexity(TEXT))
        sizes.append(sum(x.size for x in jax.tree.leaves(run.trainer.params)))
    vectors = 9 * 4  # three sets of three slots
    assert sizes == [sizes[2] + 2 * vectors, sizes[2] + vectors, sizes[2]]


@pytest.mark.parametrize("kind", ["scalar", "neural"])
def test_starts_at_a_trained_model(kind: str) -> None:
    start = HMMLanguageModel.train(TEXT, states=6, clusters=2, epochs=3, seed=2)
    options = ModelOptions(parameterisation=kind, width=4, layers=1)
    run = training(options, dataclasses.replace(TINY, rate=0.01), start=start)
    assert run.model().perplexity(TEXT) == pytest.approx(start.perplexity(TEXT), rel=1e-5)
    assert run.run().model().perplexity(TEXT) < start.perplexity(TEXT)
    wild = training(options, dataclasses.replace(TINY, rate=0.5, warmup=0), start=start, valid=VALID)
    assert wild.run().model().perplexity(VALID) <= start.perplexity(VALID) * (1 + 1e-5)


def test_refuses_to_start_at_other_models() -> None:
    mixture = HMMLanguageModel.train(TEXT, states=6, clusters=2, epochs=2, members=2)
    with pytest.raises(ModelError, match="2 members to start from"):
        training(FORMS[0], start=mixture)


@pytest.mark.parametrize(("batching", "stop"), [("sentences", 1), ("document", 3)])
def test_resumes_bit_by_bit(tmp_path: Path, batching: str, stop: int) -> None:
    options = dataclasses.replace(FORMS[3], dropout="state")
    trainer = dataclasses.replace(TINY, batching=batching, batch_tokens=32, checkpoint_steps=1)
    whole = training(options, trainer, valid=VALID).run().model()
    path = tmp_path / "checkpoint"
    begun = training(options, trainer, valid=VALID, checkpoint=path)
    for _ in itertools.islice(begun.trainer.steps(), stop):
        pass
    resumed = training(options, trainer, valid=VALID, checkpoint=path)
    assert resumed.trainer.num_steps_done == stop
    assert (resumed.run().model().chains[0].transition == whole.chains[0].transition).all()
    assert (resumed.model().chains[0].emission == whole.chains[0].emission).all()
    assert training(options, trainer, valid=VALID, checkpoint=path).trainer.is_done


def test_refuses_the_checkpoint_of_another_training(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    training(FORMS[0], checkpoint=path).run()
    with pytest.raises(FormatError, match="another options"):
        training(FORMS[1], checkpoint=path)
    with pytest.raises(FormatError, match="another trainer"):
        training(FORMS[0], dataclasses.replace(TINY, epochs=3), checkpoint=path)
    assert training(FORMS[0], dataclasses.replace(TINY, rate=1e-4), checkpoint=path).trainer.is_done
    path.write_bytes(b"nothing")
    with pytest.raises(FormatError, match="delete it"):
        training(FORMS[0], checkpoint=path)


def test_a_loss_that_is_no_number_stops(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    trainer = dataclasses.replace(TINY, batch_tokens=16, rate=1e30, warmup=0, schedule="constant")
    run = training(FORMS[3], trainer, checkpoint=path)
    with pytest.raises(ModelError, match=r"not a finite number at step \d+; the state before it is in"):
        run.run()
    done = run.trainer.num_steps_done
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(run.trainer.params))
    lower = dataclasses.replace(trainer, rate=1e-4)
    assert training(FORMS[3], lower, checkpoint=path).trainer.num_steps_done == done


def test_stops_early() -> None:
    trainer = dataclasses.replace(TINY, epochs=50, patience=2, rate=0.3, batch_tokens=16)
    reports = list(training(FORMS[0], trainer, valid=b"long long long long\n"))
    assert len(reports) < 50
    assert not any(r.is_best for r in reports[-2:])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"transitions": "half"}, "full"),
        ({"sets": "uniform"}, "no classes"),
        ({"sets": "uniform", "transitions": "full", "dropout": "state"}, "needs the sets brown"),
        ({"dropout_rate": 1.0}, "dropout_rate is 1.0"),
        ({"width": 0}, "at least 1"),
    ],
    ids=["form", "factored", "partitions", "rate", "width"],
)
def test_refuses_wrong_options(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ModelOptions(**wrong)


# Networks


@pytest.mark.parametrize("batching", ["sentences", "document"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_networks_learn_and_interpolate(kind: str, batching: str) -> None:
    trainer = dataclasses.replace(TINY, epochs=5, batching=batching, rate=0.02, batch_tokens=32)
    model = train_network(TEXT, NetworkOptions(kind, 8, 0.1), trainer, seed=1, valid=VALID)
    assert len(model.token_log_probs(TEXT)) == len(TEXT.split()) + TEXT.count(b"\n")
    assert model.perplexity(TEXT) < len(model.words) - 1
    hmm = HMMLanguageModel.train(TEXT, states=6, clusters=2, epochs=3)
    both = Interpolation.fit([model, hmm], VALID)
    # EM of the weights ends after 200 turns, a little before a weight of zero.
    assert both.perplexity(VALID) <= min(model.perplexity(VALID), hmm.perplexity(VALID)) * (1 + 1e-4)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(("kind", "batching"), list(zip(NETWORKS, BATCHINGS, strict=True)))
def test_networks_predict_distributions(
    kind: str, batching: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """p(next word | before) sums to one over the vocabulary, and later words change nothing before."""
    for name, value in (("NUM_FREQUENT", 3), ("NUM_CLASSES", 2), ("CLASS_WORDS", 3)):
        monkeypatch.setattr(f"hiddenite.hmmlm.neural.outputs.{name}", value)
    trainer = dataclasses.replace(TINY, batching=batching, epochs=1)
    model = train_network(TEXT, NetworkOptions(kind, 8, 0.1, output), trainer, seed=1)
    line = "the cat sat on a"
    nexts = [
        model.token_log_probs(f"{line} {w}".encode())[5] for w in model.words if w not in ("<s>", "</s>")
    ]
    end = model.token_log_probs(line.encode())[5]
    assert math.fsum(map(math.exp, [*nexts, end])) == pytest.approx(1, abs=1e-5)


def test_a_factored_output_is_trained_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It learns; stopped after an epoch, it goes on to the same bits."""
    monkeypatch.setattr("hiddenite.hmmlm.neural.outputs.NUM_FREQUENT", 3)
    options = NetworkOptions("feed-forward", 8, 0.1, "factored")
    trainer = dataclasses.replace(TINY, epochs=3, rate=0.02, batch_tokens=32)

    def train(checkpoint: Path | None, stop_after: int = 3) -> NetworkModel:
        def stop(report: Report) -> None:
            if report.number == stop_after < trainer.epochs:
                raise InterruptedError

        return train_network(
            TEXT, options, trainer, seed=1, valid=VALID, on_epoch=stop, checkpoint=checkpoint
        )

    whole = train(None)
    assert whole.perplexity(TEXT) < len(whole.words) - 1
    with pytest.raises(InterruptedError):
        train(tmp_path / "kept", stop_after=1)
    np.testing.assert_array_equal(whole.token_log_probs(TEXT), train(tmp_path / "kept").token_log_probs(TEXT))


# Several devices

SHARDED = """
import json, sys
import jax, numpy as np
from hiddenite.hmmlm.neural import ModelOptions, NeuralTraining, TrainerOptions
text = sys.argv[1].encode()
answers = []
for devices in (jax.devices()[:1], jax.devices()):
    run = NeuralTraining(
        text,
        ModelOptions(states=12, clusters=3, width=8),
        TrainerOptions(batch_tokens=128),
        seed=1,
        devices=devices,
    )
    task, trainer = run.task, run.trainer
    prepared = trainer.place(task.prepare(task.batches(np.random.default_rng(1))[0]))
    used = len(prepared.batch.words.sharding.device_set)
    spread = not prepared.batch.words.sharding.is_fully_replicated
    loss = lambda p: task.loss(p, None, prepared, None, ())[0]
    value, gradient = jax.jit(jax.value_and_grad(loss))(trainer.params)
    flat = np.concatenate([np.ravel(x) for x in jax.tree.leaves(gradient)])
    answers.append({"devices": used, "spread": spread, "loss": float(value), "gradient": flat.tolist()})
print(json.dumps(answers))
"""


def test_two_devices_give_the_same_loss_and_gradient() -> None:
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-c", SHARDED, TEXT.decode()],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one, two = json.loads(done.stdout)
    assert (one["devices"], two["devices"], two["spread"]) == (1, 2, True)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-6)
    np.testing.assert_allclose(two["gradient"], one["gradient"], atol=1e-6 * max(map(abs, one["gradient"])))


def test_trainer_takes_a_batch_that_devices_do_not_divide() -> None:
    run = training(FORMS[0], dataclasses.replace(TINY, batch_tokens=48))
    assert isinstance(run.trainer, Trainer)
    assert len(list(run)) == 2
