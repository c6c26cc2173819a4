"""What presets mean, and the steps in which a lexicalised model loses its states."""

import itertools

import pytest

from hiddenite import HMMLanguageModel, OptionError
from hiddenite.hmmlm import HMMOptions
from hiddenite.hmmlm.lexical_pruning import pruning_steps
from hiddenite.hmmlm.options import EM_PRESETS, LexicalOptions

TEXT = ["the cat sat", "the dog sat", "a dog ran"] * 9


def test_what_is_given_counts_before_the_preset() -> None:
    assert HMMOptions.of_preset() == HMMOptions()
    for preset, values in EM_PRESETS.items():
        found = HMMOptions.of_preset(preset, states=512, epochs=None, folds=3)
        assert (found.states, found.folds) == (512, 3)
        assert found.epochs == values.get("epochs", HMMOptions().epochs)
    with pytest.raises(OptionError, match="expected single, mixture or best"):
        HMMOptions.of_preset("fast")


def test_a_preset_is_a_mixture() -> None:
    model = HMMLanguageModel.train(TEXT, 6, 3, preset="mixture", epochs=2, folds=2)
    assert len(model.members) == EM_PRESETS["mixture"]["members"]
    assert sum(model.weights) == pytest.approx(1)


def test_more_words_get_more_states_and_contexts() -> None:
    few, many = (LexicalOptions().settings(900_000, words) for words in (10_000, 30_000))
    assert few.states == 1 << 17
    assert few.prunes_again
    assert many.states is not None
    assert many.states > 8 << 17
    assert not many.prunes_again  # it would take longer than it is worth
    assert all(a < b for a, b in zip(many.tokens_per_context, few.tokens_per_context, strict=True))
    assert LexicalOptions(states=1000).settings(900_000, 30_000).states == 1000
    assert LexicalOptions(preset="fast").settings(900_000, 30_000).tokens_per_context[2] == 0


def test_more_text_gets_more_hidden_states_a_class() -> None:
    found = [
        LexicalOptions().settings(tokens, 10_000).states_per_class for tokens in (900_000, 2 * 10**6, 10**8)
    ]
    assert found == [12, 16, 16]
    assert LexicalOptions(preset="best").settings(10**8, 10_000).states_per_class == 16


def test_states_go_step_by_step() -> None:
    steps = pruning_steps(1000)
    assert steps[0] == 2000
    assert steps[-1] == 1000
    assert all(a > b for a, b in itertools.pairwise(steps))
