"""The corrector: raw text in, raw text out, every change with its probability.

A text is cut into tokens and sentences (:mod:`hiddenite.correct.tokens`). Each sentence becomes a lattice of
what can have been meant, which the exact engine decodes and sums over (``cpp/hiddenite/correct``): the best
reading with its proof, and the exact marginal of each change. A logistic map fitted on held-out pairs makes
a probability of the marginal, and changes below a threshold are not made. Everything else of the text stays
as it is, character for character.
"""

from __future__ import annotations

import array
import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hiddenite._core import (
    Corrections,
    EditModel,
    SeenWords,
    SentenceChange,
    SentenceCorrection,
    WordLexicon,
    rare_words,
)
from hiddenite.candidates import Candidates
from hiddenite.correct.answers import Alternative, Change, Correction
from hiddenite.correct.changes import apply_changes, cased, certificate
from hiddenite.correct.cutting import Cut, Cutter, Seen, own_letters
from hiddenite.correct.inputs import as_text, each_pair, each_text, listed_words
from hiddenite.correct.pairs import lower
from hiddenite.correct.settings import Settings, check_probability, default_settings
from hiddenite.correct.tokens import PROTECT_ALL, Protect, tokens
from hiddenite.errors import ModelError
from hiddenite.ngram import NgramModel
from hiddenite.options import check_seed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 256  # texts that cross into the core together
RARE = 2  # words that at most so many different words precede teach how rare words are spelled
LETTER_ORDER = 6
_LETTERS = "abcdefghijklmnopqrstuvwxyz'-."
MAX_LETTERS = 96


@dataclass(frozen=True)
class Learnt:
    """What a corrector has learnt from pairs; the core makes probabilities of it."""

    keys: NDArray[np.uint64]  # pieces of words (in any buffer: a start that loads no NumPy is short),
    counts: NDArray[np.float64]  # and how often each is expected
    pairs: Mapping[tuple[str, str], float]  # (seen, meant): how often
    totals: Mapping[str, float]  # meant: how often
    alphabet: str = ""  # the letters that the keys count by

    @classmethod
    def nothing(cls) -> Learnt:
        """Return what is known before."""
        return cls(cast("Any", array.array("Q")), cast("Any", array.array("d")), {}, {})


class Corrector:
    """Corrects text; immutable, and safe to share between threads."""

    def __init__(
        self,
        lm: NgramModel,
        settings: Settings,
        words: Mapping[str, float] | None = None,
        *,
        learnt: Learnt | None = None,
        letters: NgramModel | None = None,
        lexicon: WordLexicon | None = None,
    ) -> None:
        self.lm = lm
        self.settings = settings
        self.words = dict(words or {})
        self.learnt = learnt or Learnt.nothing()
        self.letters = letters or _letter_model(lm)
        table, letter_table = lm._table, self.letters._table
        self._lexicon = lexicon or WordLexicon(
            table,
            letter_table,
            list(self.words),
            [weight**0.75 for weight in self.words.values()],
            settings.trusts_list and bool(self.words),
            settings.rare_below,
        )
        self.alphabet = _alphabet(self._lexicon.characters(), self.learnt.alphabet)
        self._model = EditModel(self.alphabet, settings.slip_kind, self.learnt.keys, self.learnt.counts)
        self._seen = SeenWords(
            self._lexicon,
            self._model,
            settings.rates.to_list(),
            settings.memory_weight,
            settings.map_power,
            settings.keep,
            settings.least_unknown,
            settings.least_known,
            settings.beam,
            settings.max_prefixes,
            settings.num_alike,
            [(seen, meant, count) for (seen, meant), count in self.learnt.pairs.items()],
            list(self.learnt.totals.items()),
        )
        self._core = Corrections(lm.engine, self._seen, settings.kind == "ocr")
        opened = frozenset(seen for seen, _ in self.learnt.pairs if seen.isdigit())
        listed = self.words if self._lexicon.lists_language else {}
        letters_of_language = own_letters(self.alphabet, listed, len(listed))
        self._cutter = Cutter(settings.kind, letters_of_language, opened)
        self._learnt_words = frozenset(seen for seen, _ in self.learnt.pairs)

    def __repr__(self) -> str:
        return f"<Corrector {self.settings.kind}, {len(self._lexicon):,} words>"

    # ------------------------------------------------------------------ make

    @classmethod
    def from_ngram(
        cls,
        lm: NgramModel,
        *,
        kind: str = "typing",
        words: Iterable[str] | Mapping[str, float] | None = None,
    ) -> Corrector:
        """Make a corrector without pairs: a language model of lower-case words and what is known of errors.

        ``words`` are good words that the model may lack, with frequencies if there are any.
        """
        if not isinstance(lm, NgramModel):
            raise ModelError(f"found {lm!r:.40}, expected a language model; NgramModel.load reads one")
        return cls(lm, default_settings(kind), listed_words(words))

    def with_settings(self, settings: Settings) -> Corrector:
        """Return the same corrector with other numbers."""
        return self.with_learnt(self.learnt, settings)

    def with_learnt(self, learnt: Learnt, settings: Settings) -> Corrector:
        """Return a corrector of the same words that has learnt something else."""
        same = all(getattr(settings, x) == getattr(self.settings, x) for x in ("trusts_list", "rare_below"))
        lexicon = self._lexicon if same else None
        return Corrector(self.lm, settings, self.words, learnt=learnt, letters=self.letters, lexicon=lexicon)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Corrector:
        """Read a model file; ``verify=False`` if it was checked since it was last changed."""
        from hiddenite.correct.archive import read_corrector  # noqa: PLC0415  (it needs this module)

        return read_corrector(path, verify=verify)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file: the language model, the words and all that was learnt."""
        from hiddenite.correct.archive import write_corrector  # noqa: PLC0415

        write_corrector(path, self)

    # --------------------------------------------------------------- correct

    def correct(
        self,
        text: str,
        *,
        min_probability: float | None = None,
        careful: bool = False,
        protect: Protect = PROTECT_ALL,
    ) -> Correction:
        """Return a text corrected: changes of at least ``min_probability``, or the careful threshold."""
        one = self.correct_many(
            [text], min_probability=min_probability, careful=careful, protect=protect, threads=1
        )
        return next(one)

    def correct_many(
        self,
        texts: Iterable[str],
        *,
        min_probability: float | None = None,
        careful: bool = False,
        protect: Protect = PROTECT_ALL,
        threads: int = 0,
        seen: Iterable[Sequence[Seen]] | None = None,
    ) -> Iterator[Correction]:
        """Correct many texts on all cores (``threads=0``), in order; answers do not depend on the threads.

        ``seen`` has, for each text, the words that a recogniser was not sure of: (from, to, its other
        readings with their shares).
        """
        least = self._threshold(min_probability, careful)
        given = zip(each_text(texts), itertools.repeat(()) if seen is None else seen, strict=seen is not None)
        while batch := list(itertools.islice(given, BATCH)):
            cuts = [self._cutter.cut(text, protect, words) for text, words in batch]
            answers = iter(self._core.correct([row for cut in cuts for row in cut.rows], threads))
            for cut in cuts:
                yield self._correction(cut, list(itertools.islice(answers, len(cut.rows))), least)

    def _threshold(self, min_probability: float | None, careful: bool) -> float | None:
        """Return the least probability of all changes; None: what the settings say."""
        if min_probability is None:
            return max(self.settings.careful_threshold, self.settings.known_threshold) if careful else None
        if careful:
            raise ModelError(
                "careful and min_probability both say how sure a change must be; give one of them"
            )
        check_probability("min_probability", min_probability)
        return min_probability

    def _correction(self, cut: Cut, answers: list[SentenceCorrection], least: float | None) -> Correction:
        changes = []
        for (begin, _), answer in zip(cut.sentences, answers, strict=True):
            for change in answer.changes:
                made = self._change(cut, begin, change)
                if made is not None and made.probability >= self._least(made.old, least, change.was_known):
                    changes.append(made)
        return Correction(apply_changes(cut.text, changes), tuple(changes), certificate(answers))

    def _least(self, old: str, least: float | None, was_known: bool) -> float:
        """Return the threshold of a change: normalisation is careful with words that it has not learnt."""
        if least is None:
            least = self.settings.known_threshold if was_known else self.settings.threshold
        if self.settings.kind == "normalise" and lower(old) not in self._learnt_words:
            return max(least, self.settings.careful_threshold)
        return least

    def _change(self, cut: Cut, begin: int, change: SentenceChange) -> Change | None:
        first, last = cut.tokens[begin + change.first], cut.tokens[begin + change.end - 1]
        old = cut.text[first.start : last.end]
        new = cased(change.choice.words, old)
        if new == old:
            return None
        posterior = min(max(change.choice.prob, 0.0), 1.0)
        others = (Alternative(cased(one.words, old), one.prob) for one in change.alternatives)
        probability = self.settings.calibration(posterior, change.was_known)
        return Change(first.start, last.end, old, new, probability, posterior, tuple(others))

    # ------------------------------------------------------------ look inside

    def sample(
        self, text: str, count: int, seed: int, *, protect: Protect = PROTECT_ALL
    ) -> list[tuple[str, int]]:
        """Draw whole corrected texts from the posterior: each with how often it was drawn, most first."""
        import numpy as np  # noqa: PLC0415  (correcting does without)

        if count < 1:
            raise ModelError(f"count is {count}, expected at least 1")
        text, seed = as_text(text), check_seed(seed)
        cut = self._cutter.cut(text, protect)
        drawn: list[list[Change]] = [[] for _ in range(count)]
        rng = np.random.default_rng(seed)
        for stream, ((begin, _), row) in enumerate(zip(cut.sentences, cut.rows, strict=True)):
            draws = self._core.sample(row, count, seed, stream)
            order = rng.permutation(count)
            number = 0
            for draw in draws:
                changes = [self._change(cut, begin, part) for part in draw.parts]
                for _ in range(draw.count):
                    drawn[order[number]].extend(c for c in changes if c is not None)
                    number += 1
        counts = Counter(apply_changes(text, changes) for changes in drawn)
        return counts.most_common()

    def is_known(self, text: str) -> bool:
        """Return whether all words of a text are known ones."""
        text = as_text(text)
        return all(
            lower(text[t.start : t.end]) in self._lexicon for t in tokens(text) if t.kind in ("word", "mixed")
        )

    def candidates(self, text: str) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return each word of a text with what it can have been meant as: (words, ln p(seen | meant))."""
        text = as_text(text)
        return [
            (
                text[t.start : t.end],
                [(" ".join(w), v) for w, v in self._seen.meant(lower(text[t.start : t.end]))[0]],
            )
            for t in tokens(text)
            if t.kind == "word"
        ]

    def lattice(self, text: str, *, protect: Protect = PROTECT_ALL) -> list[Candidates]:
        """Return the lattice of each sentence, as :mod:`hiddenite.inference` reads it."""
        cut = self._cutter.cut(as_text(text), protect)
        return [Candidates(self.lm.vocabulary, self._core.lattice(row)) for row in cut.rows]

    # ----------------------------------------------------------------- learn

    def learn(self, pairs: Iterable[tuple[str, str]], *, kind: str | None = None) -> Corrector:
        """Return a corrector that has also learnt from pairs of a noisy and a clean text."""
        from hiddenite.correct.learning import learn  # noqa: PLC0415

        return learn(self, each_pair(pairs), kind)

    def learn_unpaired(self, texts: Iterable[str]) -> Corrector:
        """Return a corrector that has seen noisy texts: one pass of unsupervised EM."""
        from hiddenite.correct.learning import learn_unpaired  # noqa: PLC0415

        return learn_unpaired(self, each_text(texts))

    def tune(self, pairs: Iterable[tuple[str, str]], objective: str = "f1") -> Corrector:
        """Return the corrector with thresholds and calibration fitted to pairs that it has not seen."""
        from hiddenite.correct.tuning import tune  # noqa: PLC0415

        return tune(self, each_pair(pairs), objective)


def _letter_model(lm: NgramModel) -> NgramModel:
    """Return a model over the characters of rare words."""
    import warnings  # noqa: PLC0415

    rare = rare_words(lm._table, RARE)
    words = rare if len(rare) > 100 else rare_words(lm._table, 1 << 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small texts fall back to fixed discounts
        return NgramModel.train((list(word) for word in words or ["a"]), order=LETTER_ORDER)


def _alphabet(characters: str, known: str) -> str:
    """Return the characters that slips are told apart by: those that were learnt with keep their numbers."""
    known = known or _LETTERS
    return (known + "".join(c for c in characters if c not in known))[:MAX_LETTERS]
