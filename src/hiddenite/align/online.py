"""An aligner that learns while it is used: a sentence pair in, its links out, and its counts added.

>>> online = OnlineAligner(Aligner.load("en-fr.model"))  # doctest: +SKIP
>>> online.learn("the house", "la maison").links  # doctest: +SKIP
((0, 0), (1, 1))

A pair is aligned by the best alignments of both directions, with their proof, and counted as if training had
linked it so: words, links, fertilities, jumps. That takes well below a millisecond a pair. It is not what a
training of the whole text gives, where links are drawn again and again in the light of all others; a text of
some size is better added by ``align train --from``.
"""

from __future__ import annotations

import os

from hiddenite._core import AlignAnswer
from hiddenite.align.aligner import Aligner
from hiddenite.align.answers import Alignment, Question, read_answer
from hiddenite.align.bitext import normalize_text
from hiddenite.errors import ModelError
from hiddenite.files.corpus import Sentence, sentence_text, sentence_words, tokenize
from hiddenite.results import Failure

_QUESTION = Question(budget=10.0)


class OnlineAligner:
    """A copy of an aligner's model that changes with each pair it learns; not for several threads at once."""

    def __init__(self, aligner: Aligner) -> None:
        self.options = aligner.options
        self._training = dict(aligner.training)
        self._model = aligner.model.copy()
        self._task = _QUESTION.task()
        self.num_learnt = 0  # sentence pairs

    def align(self, source: Sentence, target: Sentence) -> Alignment:
        """Return the links of the best alignments, symmetrized, and their certificate."""
        return self._read(self._ask(source, target)[0])

    def learn(self, source: Sentence, target: Sentence) -> Alignment:
        """Align a pair, count it, and return its links."""
        answer, sides = self._ask(source, target)
        found = self._read(answer)
        best = [answer.direction(d).best for d in (0, 1)]
        assert best[0] is not None
        assert best[1] is not None
        words = [tokenize(side.decode()) for side in sides]
        self._model.learn(words[0], words[1], best[0].links[0], best[1].links[0])
        self.num_learnt += 1
        return found

    def aligner(self) -> Aligner:
        """Return what has been learnt so far, as an aligner of its own."""
        pairs = int(self._training.get("sentence_pairs", 0)) + self.num_learnt
        return Aligner(self._model.copy(), self.options, self._training | {"sentence_pairs": pairs})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        self.aligner().save(path)

    def _ask(self, source: Sentence, target: Sentence) -> tuple[AlignAnswer, list[bytes]]:
        sides = [sentence_text([" ".join(sentence_words(side))]) for side in (source, target)]
        if self.options.normalize:
            sides = [normalize_text(side) for side in sides]
        return self._model.align_lines(sides[0], sides[1], self._task, 0, 1)[0], sides

    @staticmethod
    def _read(answer: AlignAnswer) -> Alignment:
        found = read_answer(answer, _QUESTION)
        if isinstance(found, Failure):
            raise ModelError(found.error)
        return found
