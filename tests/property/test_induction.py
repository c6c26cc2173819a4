"""Inductions as a whole: the log joint by definition, export, determinism, resuming, and odd texts."""

import contextlib
import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hiddenite
from hiddenite import FormatError, HiddeniteError, InduceOptions, Induction, ModelError, induce
from hiddenite.induction import diagnostics
from hiddenite.induction.export import chain_counts
from hiddenite.induction.options import PAPER_MODELS as MODELS
from hiddenite.induction.options import SAMPLERS, VARIANTS
from tests.induce_oracle import Exact, Model, restaurant

RTOL = 1e-7  # the core keeps ratios of seatings as floats
TEXT = [
    "the dog barks",
    "a cat sleeps",
    "",
    "the cat sees the dog",
    "dogs bark",
    "a dog",
    "cats see a dog and the dog sees cats",
    "bark !",
]
CASES = [
    *((model, "") for model in MODELS),
    ("lex", "singletons"),
    ("lex+lm", "singletons"),
    ("lex+lm", "heads"),
]


def small(model: str = "lex+lm", **options: Any) -> Induction:
    chosen = {"iterations": 4, "start_iterations": 2, "seed": 1} | options
    if not model.startswith("lex") and model != "consensus":
        chosen.pop("start_iterations")
    return hiddenite.induce(TEXT, options.get("tags", 3), model=model, **_without(chosen, "tags"))


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    return {k: v for k, v in options.items() if k != name}


# The log joint, from the counts and the definition


def level(rows: dict[object, list[tuple[int, int]]], a: float, b: float) -> float:
    return sum(math.log(restaurant(dishes, a, b)) for dishes in rows.values())


def log_joint(run: Induction) -> float:
    counts = run.counts()
    parameters, num_tags = counts.parameters, run.options.tags
    total = 0.0
    for n, (customers, tables) in enumerate(counts.transitions):
        rows = cells(np.arange(len(customers)) // (num_tags + 1), customers, tables)
        total += level(rows, *parameters[f"transition{n}"])
    total -= math.log(num_tags + 1) * int(counts.transitions[0][1].sum())
    e = counts.emissions
    total += level(cells(e.tag, e.customers, e.tables), *parameters["emission"])
    total += spelling_part(run) + lexicon_part(run)
    if counts.spelling is None or counts.lexicon == "heads":
        words = np.full(num_tags, float(len(run.text.words)))
        if counts.lexicon != "none":
            assert counts.classes is not None
            words = np.bincount(counts.classes[1], minlength=num_tags).astype(float)
        total -= float((np.log(words[e.tag]) * e.tables).sum())
    return total


def cells(
    places: NDArray[Any], customers: NDArray[Any], tables: NDArray[Any]
) -> dict[object, list[tuple[int, int]]]:
    rows: defaultdict[object, list[tuple[int, int]]] = defaultdict(list)
    for place, c, t in zip(places.tolist(), customers.tolist(), tables.tolist(), strict=True):
        if c:
            rows[place].append((c, t))
    return rows


def spelling_part(run: Induction) -> float:
    counts = run.counts()
    if counts.spelling is None:
        return 0.0
    lower, upper = counts.spelling
    places = upper.tag.astype(np.int64) * 1000 + upper.before
    total = level(cells(places, upper.customers, upper.tables), *counts.parameters["spelling1"])
    last = upper
    if run.options.spelling == "hierarchical":
        total += level(cells(lower.tag, lower.customers, lower.tables), *counts.parameters["spelling0"])
        last = lower
    return total - math.log(len(run.text.characters()) + 1) * int(last.tables.sum())


def lexicon_part(run: Induction) -> float:
    counts, k = run.counts(), run.options.tags
    if counts.lexicon == "none":
        return 0.0
    assert counts.classes is not None
    state = run._chains[run.best_chain].state()
    class_sets, seats = (np.asarray(state[name]) for name in ("class_sets", f"seats{_last(state)}"))
    sizes = class_sets.reshape(-1, k).sum(axis=1).tolist()
    dishes = [(int(c), int(t)) for c, t in seats.reshape(-1, 2)]
    oracle = Exact(Model(tags=k, lexicon=counts.lexicon, geometric=run.options.geometric), [], [], {})
    least = 2 if counts.lexicon == "singletons" else 1
    inside = [(s, d) for s, d in zip(sizes, dishes, strict=True) if d[0] and s >= least]
    total = sum(d[1] * math.log(oracle.class_base(s, least)) for s, d in inside)
    total += math.log(restaurant([d for _, d in inside], *counts.parameters["class"])) if inside else 0.0
    of_word = np.diff(counts.classes[0])
    if counts.lexicon == "singletons":
        single, others = int((of_word == 1).sum()), int((of_word > 1).sum())
        total += single * math.log(oracle.class_base(1))
        total += others * math.log1p(-k * oracle.class_base(1)) if others else 0.0
    if counts.lexicon == "heads":
        total -= float(np.log(of_word).sum())
    return total


def _last(state: dict[str, Any]) -> int:
    return max(int(name.removeprefix("seats")) for name in state if name.startswith("seats"))


@pytest.mark.parametrize("spelling", ["hierarchical", "dirichlet"])
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize(("model", "variant"), CASES)
def test_the_log_joint_is_that_of_the_counts(model: str, variant: str, order: int, spelling: str) -> None:
    if not model.endswith("+lm"):
        spelling = "hierarchical"  # which is not looked at
    run = small(model, variant=variant, order=order, spelling=spelling)
    for sweep in run:
        if sweep.stage == "main":
            assert sweep.log_joint == pytest.approx(log_joint(run), rel=RTOL)
    run._chains[0].check()


def test_a_wrong_log_joint_is_found_out() -> None:
    """The twin: one table less at the bottom."""
    run = small("pyp").run()
    assert run.last_sweep().log_joint != pytest.approx(log_joint(run) + math.log(4), rel=RTOL)


# Results


@pytest.mark.parametrize(("model", "variant"), CASES)
def test_tags_lexicon_and_export(model: str, variant: str, tmp_path: Path) -> None:
    run = small(model, variant=variant).run()
    tags = run.tags()
    assert [len(t) for t in tags] == [len(s.split()) for s in TEXT]
    assert {t for s in tags for t in s} <= {"T0", "T1", "T2"}
    lexicon = run.lexicon()
    assert sum(row.types for row in lexicon) == pytest.approx(len(run.text.words))
    assert sum(row.tokens for row in lexicon) == pytest.approx(len(run.text.tokens))
    assert sum(row.share for row in lexicon) == pytest.approx(1.0)
    assert set(run.classes_of_words()) == {w for s in TEXT for w in s.split()}
    if model.startswith("one-tag"):
        assert all(len(row.tags) == 1 for row in lexicon)
    tagger = run.export()
    tagger.save(tmp_path / "m.tagger")
    again = hiddenite.Tagger.load(tmp_path / "m.tagger")
    for sentence in ("the dog sees", "zzz dog 🙂", "", "x" * 200):
        found = tagger.tag(sentence)
        assert found.certificate.exact
        assert again.tag(sentence) == found


def test_the_export_weighs_as_the_chain_predicts() -> None:
    """p(tags) of a sentence by the chain's own counts, at full precision."""
    run = small("pyp", order=3, iterations=6).run()
    tagger, counts = run.export(), run.counts()
    boundary = run.options.tags

    def prob(tag: int, history: Sequence[int]) -> float:
        p = 1.0 / (boundary + 1)
        for n, (customers, tables) in enumerate(counts.transitions):
            a, b = counts.parameters[f"transition{n}"]
            shape = (boundary + 1,) * (n + 1)
            place = tuple(history[len(history) - n :])
            c, t = customers.reshape(shape)[place], tables.reshape(shape)[place]
            p = (c[tag] - a * t[tag] + (b + a * t.sum()) * p) / (b + c.sum())
        return float(p)

    model = tagger.model.transitions
    for tags in itertools.product(range(3), repeat=3):
        history, names = [boundary, boundary], ["<s>"]
        for tag in (*tags, boundary):
            name = "</s>" if tag == boundary else f"T{tag}"
            expected = math.log(prob(tag, history))
            assert model.log_prob(name, names) == pytest.approx(expected, abs=1e-5)
            history.append(tag)
            names.append(name)


def test_chain_counts_are_of_the_model() -> None:
    run = small("pyp").run()
    counts = chain_counts(run._chains[0], run.options)
    assert counts.classes is None
    assert counts.emissions.customers.sum() == len(run.text.tokens)
    assert counts.transitions[2][0].sum() == len(run.text.tokens) + len(TEXT) - 1  # the empty line is none


# Determinism, chains, files


def summary(run: Induction) -> tuple[object, ...]:
    return run.tags(), [s.log_joint.tolist() for s in run.history], run.parameters(), run.lexicon()


@pytest.mark.parametrize("model", ["pyp", "one-tag+lm", "lex+lm"])
def test_the_seed_decides_and_threads_do_not(model: str) -> None:
    one, two = (small(model, chains=3, threads=n).run() for n in (1, 3))
    assert summary(one) == summary(two)
    assert summary(one) != summary(small(model, chains=3, seed=2).run())
    rows = one.log_joints()
    assert rows.shape == (3, 4)
    assert len({tuple(row) for row in rows.tolist()}) == 3
    assert one.best_chain == int(np.argmax(rows[:, 2:].mean(axis=1)))


@pytest.mark.parametrize("stop", [1, 3, 5])
@pytest.mark.parametrize(("model", "variant"), [("lex+lm", "heads"), ("lex+lm", "singletons"), ("pyp", "")])
def test_a_saved_run_goes_on_bit_by_bit(tmp_path: Path, model: str, variant: str, stop: int) -> None:
    whole = small(model, variant=variant, chains=2, iterations=5).run()
    run = small(model, variant=variant, chains=2, iterations=5)
    for _ in itertools.islice(run, stop):
        pass
    run.save(tmp_path / "run")
    again = Induction.load(tmp_path / "run")
    assert again.tags() == run.tags()
    assert summary(again.run()) == summary(whole)


def test_a_checkpoint_is_gone_on_with(tmp_path: Path) -> None:
    whole = small(iterations=5).run()
    run = small(iterations=5, checkpoint=tmp_path / "c")
    with contextlib.closing(iter(run)) as sweeps:
        for _ in itertools.islice(sweeps, 3):
            pass
    again = small(iterations=5, checkpoint=tmp_path / "c")
    assert again.num_done("start") + again.num_done("main") == 3
    assert summary(again.run()) == summary(whole)
    finished = small(iterations=5, checkpoint=tmp_path / "c")
    assert finished.is_finished
    assert summary(finished) == summary(whole)
    with pytest.raises(FormatError, match="is a run with seed 1, not 3"):
        small(iterations=5, seed=3, checkpoint=tmp_path / "c")
    with pytest.raises(FormatError, match="is a run of another text"):
        hiddenite.induce(
            ["a b"], 3, model="lex+lm", iterations=5, start_iterations=2, checkpoint=tmp_path / "c"
        )


def test_a_kept_run_can_be_combined_otherwise(tmp_path: Path) -> None:
    """Tolerance and kinds say nothing about sweeps, so these are kept; and so is what was said last."""

    def run(seed: int = 1, **options: Any) -> Induction:
        text = ["the dog barks , loudly", "a cat , 7 dogs", "the cat sleeps ."] * 4
        return hiddenite.induce(
            text,
            4,
            iterations=2,
            start_iterations=2,
            chains=4,
            seed=seed,
            checkpoint=tmp_path / "c",
            **options,
        )

    run().run()
    mixed = run(kinds="mix", tolerance=0.5)
    assert mixed.is_finished
    mixed.run()
    assert Induction.load(tmp_path / "c").options.kinds == "mix"
    assert Induction.load(tmp_path / "c").tags() == mixed.tags()
    assert run().is_finished
    with pytest.raises(FormatError, match="is a run with seed 1, not 2"):
        run(seed=2, kinds="mix")


def test_damaged_runs_are_refused(tmp_path: Path) -> None:
    run = small().run()
    run.save(tmp_path / "run")
    content = (tmp_path / "run").read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    (tmp_path / "text").write_text("no archive", encoding="utf-8")
    for name in ("cut", "text", "none"):
        with pytest.raises(FormatError):
            Induction.load(tmp_path / name)
    for i in range(0, len(content), 997):  # a flipped byte is refused, or changes nothing that matters
        (tmp_path / "flipped").write_bytes(content[:i] + bytes([content[i] ^ 255]) + content[i + 1 :])
        try:
            Induction.load(tmp_path / "flipped")
        except FormatError:
            continue


# Starts and odd texts


def test_clusters_are_a_start() -> None:
    clusters = {w: i % 3 for i, w in enumerate(sorted({w for s in TEXT for w in s.split()}))}
    run = hiddenite.induce(TEXT, 3, model="one-tag", start=clusters, iterations=1, seed=1)
    first = run._chains[0].tags()
    assert first.tolist() == [clusters[w] for s in TEXT for w in s.split()]
    with pytest.raises(ModelError, match="the cluster of 'dog' is 7, expected 0 to 2"):
        hiddenite.induce(TEXT, 3, model="one-tag", start={"dog": 7}, seed=1)


ODD_TEXTS = {
    "one word": ["a"],
    "one-word sentences": ["a", "b", "a", "c"],
    "one type": ["a a a", "a"],
    "long words": ["x" * 200 + " " + "y" * 200, "x" * 200],
    "outside the plane": ["🙂 𝒳 🙂", "𐍈𐍈 🙂"],
    "special": ["<s> <unk> </s>", "T0 $"],
}


@pytest.mark.parametrize("tags", [1, 2, 30])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_and_numbers_of_tags(text: str, model: str, tags: int) -> None:
    sentences = ODD_TEXTS[text]
    options: dict[str, Any] = {"start_iterations": 1} if model.startswith("lex") else {}
    run = hiddenite.induce(sentences, tags, model=model, iterations=3, seed=1, order=2, **options).run()
    assert [len(t) for t in run.tags()] == [len(s.split()) for s in sentences]
    assert math.isfinite(run.last_sweep().log_joint)
    assert run.export().tag(sentences[0] + " unseen").certificate.exact


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_tag_with_each_variant(variant: str) -> None:
    run = small("lex+lm", tags=1, variant=variant).run()
    assert {t for s in run.tags() for t in s} == {"T0"}


def test_what_is_refused() -> None:
    for options, error in (
        ({"tags": 0}, "tags is 0, expected 1 to 255"),
        ({"model": "hmm"}, "model is 'hmm', expected consensus, pyp,"),
        ({"model": "lex+lm", "sampler": "one-tag"}, "sampler is 'one-tag', expected lex, local"),
        ({"iterations": 5, "burn_in": 5}, "burn_in is 5, expected less than the 5 iterations"),
        ({"order": 1}, "order is 1, expected 2 to 8"),
        ({"tags": 100, "order": 6}, "use fewer tags or a lower order"),
        ({"model": "lex", "variant": "heads"}, "variant is heads, which needs a model that spells"),
        ({"model": "one-tag", "start": "one-tag"}, "cannot start from itself; use type"),
        ({"model": "pyp", "sampler": "sentence", "order": 4}, "use sentence-pf"),
        ({"model": "lex", "geometric": 1.0}, "geometric is 1.0, expected"),
        ({"seed": -1}, "seed is -1, expected at least 0"),
    ):
        with pytest.raises(HiddeniteError, match=error):
            InduceOptions(**({"tags": 3} | options))
    with pytest.raises(ModelError, match="there is no word to learn from"):
        hiddenite.induce(["", " "], 3)
    with pytest.raises(ModelError, match="contains white space"):
        hiddenite.induce([["a b"]], 3)


def test_every_sampler_runs_with_every_order() -> None:
    for family, samplers in SAMPLERS.items():
        for sampler, order in itertools.product(samplers, (2, 3)):
            run = small(family, sampler=sampler, order=order, iterations=2).run()
            assert math.isfinite(run.last_sweep().log_joint)


# Diagnostics


def test_diagnostics_of_independent_draws(rng: np.random.Generator) -> None:
    draws = rng.normal(size=(4, 2000))
    assert diagnostics.r_hat(draws) == pytest.approx(1.0, abs=0.01)
    assert diagnostics.effective_sample_size(draws) == pytest.approx(8000, rel=0.15)


def test_diagnostics_of_a_slow_chain(rng: np.random.Generator) -> None:
    """An autoregression with coefficient 0.9 is worth (1 - 0.9) / (1 + 0.9) of its draws."""
    draws = np.zeros((4, 20000))
    noise = rng.normal(size=draws.shape)
    for i in range(1, draws.shape[1]):
        draws[:, i] = 0.9 * draws[:, i - 1] + noise[:, i]
    assert diagnostics.effective_sample_size(draws) == pytest.approx(80000 / 19, rel=0.2)
    assert diagnostics.r_hat(draws + np.arange(4)[:, None]) > 1.05
    assert math.isnan(diagnostics.r_hat(draws[:, :3]))


@pytest.mark.parametrize("tags", [1, 3, 30])
def test_a_run_can_begin_with_exchange_classes(tags: int) -> None:
    corpus = ["<s> the dog barks", "", "a cat <unk>", "the cat sees a dog"]
    runs = [
        induce(corpus, tags, model="one-tag", start="exchange", iterations=2, seed=s).run() for s in (1, 1)
    ]
    assert runs[0].tags() == runs[1].tags()
    classes = runs[0].text.exchange_classes(tags)
    assert len(classes) == len(runs[0].text.words)
    assert set(classes.tolist()) <= set(range(tags))


def test_a_mixed_start_has_chains_of_both_kinds() -> None:
    run = small("consensus", chains=4, tags=5)
    text, wide = run.text, run.options.num_tags("start")
    first = [np.asarray(chain.tags()) for chain in run._chains]
    assert len({tuple(tags.tolist()) for tags in first}) == 4
    for number in (1, 3):
        random = np.random.default_rng([run.options.seed, number])
        classes = text.exchange_classes(wide, random)
        assert ((classes >= 0) & (classes < wide)).all()
        assert (first[number] == classes[text.tokens]).all()
    assert (text.exchange_classes(wide) == text.exchange_classes(wide)).all()
