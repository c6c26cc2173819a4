"""What a watched search tells of its automaton."""

from hiddenite import Keypad, search
from tests.web_models import language_model


def test_contexts_grow_from_one_state_a_position() -> None:
    lm = language_model()
    candidates = Keypad(lm.vocabulary, ambiguity=2.0)("843 369 753377 86337")
    turns = search(lm, candidates)
    first = next(turns)
    assert [turns.contexts(i) for i in range(5)] == [[("<s>",)], [()], [()], [()], [()]]
    assert first.states == 5
    last = [first, *turns][-1]
    assert turns.done
    sizes = [len(turns.contexts(i)) for i in range(5)]
    assert sum(sizes) == last.states
    assert max(len(context) for context in turns.contexts(4)) <= lm.order - 1
    assert list(turns) == []
