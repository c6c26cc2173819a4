"""Models mixed word by word, against enumeration of the paths of lattices and the definition."""

import itertools
import math
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import (
    Budget,
    Candidates,
    ModelError,
    NgramModel,
    OptionError,
    decode,
    kbest,
    marginals,
    sample,
)
from hiddenite.lattice import Edge, Lattice
from hiddenite.lattice.lattice import Final
from hiddenite.ngram_mixture import ModelMixture
from hiddenite.ngram_tools import mix, tune_weights
from hiddenite.rescoring import LatticeWeights, Rescored
from tests.models import load, save, train

ATOL = 1e-9
NEWS = ["a b c", "a b d", "b c d a", "d d a b c", "c a b"]
LETTERS = ["a c b e", "e e a", "b a c e", "c b a", "a e b"]  # without d, with e
OUTSIDE = "z"  # in neither
Path = tuple[Edge, ...]


def models() -> list[NgramModel]:
    return [train(NEWS, order=3), train(LETTERS, order=2)]


def drawn_lattice(rng: random.Random) -> Lattice:
    nodes = rng.randint(2, 5)
    words = ["a", "b", "c", "d", "e", OUTSIDE, "", "a e"]
    edges = [Edge(i, i + 1, rng.choice(words), -rng.random()) for i in range(nodes - 1)]
    for _ in range(rng.randint(0, 6)):
        start, end = sorted(rng.sample(range(nodes), 2))
        edges.append(Edge(start, end, rng.choice(words), -3 * rng.random()))
    return Lattice(edges, {nodes - 1: Final()})


def paths(lattice: Lattice, node: int = 0) -> Iterator[Path]:
    if node in lattice.finals:
        yield ()
    for edge in lattice.edges:
        if edge.start == node:
            yield from ((edge, *rest) for rest in paths(lattice, edge.end))


def words_of(path: Path) -> tuple[str, ...]:
    return tuple(word for edge in path for word in edge.word.split())


def mixed(models: list[NgramModel], shares: list[float], word: str, history: list[str]) -> float:
    """The definition: words that some model lists have probability zero in those that do not."""
    known = [word == "</s>" or word in model for model in models]
    chosen = known if any(known) else [True] * len(models)
    total = sum(
        share * math.exp(model.log_prob(word, history))
        for share, model, counts in zip(shares, models, chosen, strict=True)
        if counts
    )
    return math.log(total) if total else -math.inf


def log_weight(
    path: Path, both: list[NgramModel], shares: list[float], *, lm_weight: float, begin: bool, end: bool
) -> float:
    history = ["<s>"] if begin else []
    total = sum(edge.acoustic for edge in path)
    for word in [*words_of(path), *(["</s>"] if end else [])]:
        total += lm_weight * mixed(both, shares, word, history)
        history.append(word)
    return total


@given(
    seed=st.integers(0, 10**6), begin=st.booleans(), end=st.booleans(), lm_weight=st.sampled_from([1.0, 2.5])
)
def test_every_answer_is_that_of_enumeration(seed: int, begin: bool, end: bool, lm_weight: float) -> None:
    rng = random.Random(seed)
    both, share, lattice = models(), rng.uniform(0.05, 0.95), drawn_lattice(rng)
    shares = [share, 1 - share]
    every = [
        (log_weight(path, both, shares, lm_weight=lm_weight, begin=begin, end=end), path)
        for path in paths(lattice)
    ]
    scored = Rescored(
        lattice, ModelMixture(both, shares), LatticeWeights(lm_weight=lm_weight), begin=begin, end=end
    )
    highest = max(weight for weight, _ in every)
    best = scored.best()
    assert best.log_weight == pytest.approx(highest, abs=ATOL)
    assert best.certificate.exact
    assert best.certificate.method == "dominance"
    assert any(words_of(path) == best.words for weight, path in every if weight >= highest - ATOL)
    total = math.log(math.fsum(math.exp(weight - highest) for weight, _ in every)) + highest
    assert scored.log_partition == pytest.approx(total, abs=ATOL)
    for edge, prob in zip(lattice.edges, scored.posteriors(), strict=True):
        through = math.fsum(
            math.exp(weight - total) for weight, path in every if any(one is edge for one in path)
        )
        assert prob == pytest.approx(through, abs=ATOL)
    ranked = [hypothesis.log_weight for hypothesis in scored.kbest(4, "paths")]
    assert ranked == pytest.approx(sorted((weight for weight, _ in every), reverse=True)[:4], abs=ATOL)


def test_a_text_is_as_probable_as_the_mixture_of_scores() -> None:
    both = models()
    found = tune_weights(both, b"a b e c\nd a e z\n")
    mixture = ModelMixture(both, found.weights)
    log_prob = sum(
        Rescored(Lattice.from_edges([(i, i + 1, word, 0.0) for i, word in enumerate(line)]), mixture)
        .best()
        .log_weight
        for line in (["a", "b", "e", "c"], ["d", "a", "e", "z"])
    )
    assert math.exp(-log_prob / 10) == pytest.approx(found.perplexity)


def test_the_table_of_a_mixture_says_something_else_after_contexts_that_few_models_list() -> None:
    """Else there would be no use for the mixture itself."""
    both = models()
    static, dynamic = mix(both, [0.5, 0.5]), ModelMixture(both, [0.5, 0.5])
    contexts = [("a", "b"), ("b", "c"), ("e",), ("a", "e")]
    gaps = [
        abs(static.log_prob(word, context) - dynamic.log_prob(word, context))
        for context in contexts
        for word in "abcde"
    ]
    assert max(gaps) > 1e-3


def test_the_mixture_sums_to_one() -> None:
    both = models()
    mixture = ModelMixture(both, [3, 1])
    assert mixture.weights == (0.75, 0.25)
    # <unk> of a model stands for the words that neither lists
    for context in (("<s>",), ("a", "b"), ("e", "e"), ("z",)):
        total = sum(math.exp(mixture.log_prob(word, context)) for word in [*"abcde", "</s>", OUTSIDE])
        assert total == pytest.approx(1.0, abs=1e-6)


def test_words_of_no_model_end_a_path_where_no_model_has_unk() -> None:
    bare = []
    for model in models():
        lines = save(model).decode().splitlines(keepends=True)
        lines[1] = f"ngram 1={int(lines[1].partition('=')[2]) - 1}\n"
        bare.append(load("".join(line for line in lines if "<unk>" not in line)))
    lattice = Lattice.from_edges([(0, 1, "a", 0.0), (1, 2, OUTSIDE, 0.0)])
    with pytest.raises(ModelError, match=r"does not know \('z'\)"):
        Rescored(lattice, ModelMixture(bare))
    Rescored(lattice, ModelMixture(models()))


def test_what_is_no_mixture_is_refused() -> None:
    both = models()
    with pytest.raises(ModelError, match="two language models or more"):
        ModelMixture(both[:1])
    with pytest.raises(OptionError, match="has 3 numbers, expected 2"):
        ModelMixture(both, [1, 1, 1])
    with pytest.raises(OptionError, match="above 0"):
        ModelMixture(both, [1, 0])
    two = Lattice.from_edges([(0, 1, "a", 0.0), (1, 2, "b", 0.0)])
    few = Rescored(two, ModelMixture(both), max_states=1)
    assert not few.best().certificate.exact
    with pytest.raises(ModelError, match="states under this model"):
        few.posteriors()
    with pytest.raises(ModelError, match="one language model"):
        Rescored(Lattice.from_edges([(0, 1, "a", 0.0)]), ModelMixture(both), method="refine")


@given(seed=st.integers(0, 10**6), end=st.booleans())
def test_candidates_under_a_mixture_are_those_of_enumeration(seed: int, end: bool) -> None:
    rng = random.Random(seed)
    both, share = models(), rng.uniform(0.05, 0.95)
    shares = [share, 1 - share]
    mixture = ModelMixture(both, shares)
    slots = [
        [(word, round(rng.uniform(-3, 0), 3)) for word in rng.sample([*"abcde", OUTSIDE], rng.randint(1, 4))]
        for _ in range(rng.randint(0, 4))
    ]
    candidates = Candidates.from_slots(mixture.vocabulary, slots, id="r")
    every = []
    for chosen in itertools.product(*slots):
        history, total = ["<s>"], sum(weight for _, weight in chosen)
        for word in [*(word for word, _ in chosen), *(["</s>"] if end else [])]:
            total += mixed(both, shares, word, history)
            history.append(word)
        every.append((total, tuple(word for word, _ in chosen)))
    every.sort(key=lambda row: -row[0])
    highest = every[0][0]
    log_z = math.log(math.fsum(math.exp(weight - highest) for weight, _ in every)) + highest
    for method in ("auto", "full", "dominance"):
        best = decode(mixture, candidates, method=method, end=end)
        assert best.log_weight == pytest.approx(highest, abs=ATOL)
        assert (best.certificate.exact, best.nodes, best.id) == (True, (), "r")
    ranked = kbest(mixture, candidates, 5, end=end)
    assert [one.log_weight for one in ranked] == pytest.approx([w for w, _ in every[:5]], abs=ATOL)
    found = marginals(mixture, candidates, end=end)
    assert found.log_partition == pytest.approx(log_z, abs=ATOL)
    assert found.spans == ()
    for i, slot in enumerate(found.slots):
        for word, prob in slot:
            expected = math.fsum(math.exp(w - log_z) for w, words in every if words[i] == word)
            assert prob == pytest.approx(expected, abs=ATOL)
    fewest = decode(mixture, candidates, objective="mbr", end=end)
    assert fewest.certificate.exact
    assert fewest.expected_errors == pytest.approx(sum(1 - slot[0][1] for slot in found.slots), abs=ATOL)
    drawn = sample(mixture, candidates, 20, seed=seed, end=end)
    assert sum(one.count for one in drawn.samples) == 20
    weights = {words: weight for weight, words in every}
    assert all(one.log_weight == pytest.approx(weights[one.words], abs=ATOL) for one in drawn.samples)
    budgeted = decode(mixture, candidates, budget=Budget(states=1), end=end).certificate
    assert budgeted.lower - ATOL <= highest <= budgeted.upper + ATOL


def test_scores_of_text_under_a_mixture() -> None:
    both = models()
    mixture = ModelMixture(both, [0.3, 0.7])
    lines = ["a b e c", "d a z e", "", "z z"]
    scores = mixture.score_text("".join(f"{line}\n" for line in lines).encode())
    for line, score in zip(lines, scores, strict=True):
        history, total, known, oov = ["<s>"], 0.0, 0.0, 0
        for word in [*line.split(), "</s>"]:
            one = mixed(both, [0.3, 0.7], word, history)
            history.append(word)
            total += one
            known += one if word != OUTSIDE else 0.0
            oov += word == OUTSIDE
        assert score.log_prob == pytest.approx(total, abs=ATOL)
        assert (score.tokens, score.oov) == (len(line.split()) + 1, oov)
    words = mixture.full_scores("a b e c")
    assert math.fsum(log_prob for log_prob, _, _ in words) == pytest.approx(scores[0].log_prob, abs=ATOL)
    assert scores.summary().oov == 3


def test_what_a_mixture_cannot_be_asked_is_said() -> None:
    mixture = ModelMixture(models())
    candidates = Candidates.from_slots(mixture.vocabulary, [[("a", 0.0), ("b", 0.0)]])
    with pytest.raises(ModelError, match="one language model"):
        decode(mixture, candidates, method="refine")
    with pytest.raises(ModelError, match="mixture"):
        decode(mixture, candidates, proof=True)
    with pytest.raises(ModelError, match="another vocabulary"):
        decode(mixture, Candidates.from_slots(models()[0].vocabulary, [[("a", 0.0)]]))
    lattice = Candidates.from_lattice(mixture.vocabulary, [(0, 1, "a", 0.0), (1, 2, "b", 0.0)])
    assert decode(mixture, lattice).nodes == (0, 1, 2)
    assert marginals(mixture, lattice).spans == ((0, 1), (1, 2))
    with pytest.raises(ModelError, match="lattice decode"):
        decode(mixture, lattice, objective="mbr")
