"""A conditional random field as the tagger's rival: CRFsuite, L-BFGS, the usual features."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

Tagged = list[tuple[str, str]]
GRID = ((0.0, 0.1), (0.0, 1.0), (0.1, 0.1), (0.5, 0.1))  # c1, c2
MAX_TUNING = 1500  # sentences


def shape(word: str) -> str:
    """Return letters as A and a, digits as 0."""
    return "".join("A" if c.isupper() else "0" if c.isdigit() else "a" if c.isalpha() else c for c in word)


def features(words: Sequence[str]) -> list[list[str]]:
    """Return the CRF's features of each word."""
    padded = ["<2>", "<1>", *words, "</1>", "</2>"]
    result = []
    for i, word in enumerate(words):
        low = word.lower()
        row = ["b", f"w={word}", f"l={low}", f"h={shape(word)}", f"first={i == 0}"]
        row += [f"p={low[:k]}" for k in range(1, min(5, len(low)) + 1)]
        row += [f"s={low[-k:]}" for k in range(1, min(5, len(low)) + 1)]
        row += [f"-={'-' in word}", f"d={any(c.isdigit() for c in word)}", f"C={word.isupper()}"]
        row += [f"{d}={padded[i + 2 + d].lower()}" for d in (-2, -1, 1, 2)]
        for d in (-1, 1):
            other = padded[i + 2 + d]
            row += [f"{d}s={other[-k:].lower()}" for k in (1, 2, 3)] + [f"{d}h={shape(other)}"]
        result.append(row)
    return result


class Crf:
    """A CRFsuite model."""

    def __init__(self, train: Sequence[Tagged], c1: float, c2: float, iterations: int) -> None:
        import pycrfsuite  # noqa: PLC0415

        trainer = pycrfsuite.Trainer(verbose=False)
        for sentence in train:
            trainer.append(features([w for w, _ in sentence]), [t for _, t in sentence])
        trainer.set_params({"c1": c1, "c2": c2, "max_iterations": iterations})
        with tempfile.TemporaryDirectory() as directory:
            path = str(Path(directory, "crf"))
            trainer.train(path)
            self._tagger = pycrfsuite.Tagger()
            self._model = Path(path).read_bytes()  # the tagger reads it as long as it lives
            self._tagger.open_inmemory(self._model)

    def tag(self, words: Sequence[str]) -> list[str]:
        """Return the best tags."""
        return self.tag_features(features(words))

    def tag_features(self, rows: list[list[str]]) -> list[str]:
        """Return the best tags of words whose features are made."""
        return list(self._tagger.tag(rows))


def accuracy(
    tag: Callable[[Sequence[str]], Sequence[str]], gold: Sequence[Tagged], seen: frozenset[str]
) -> tuple[float, float]:
    """Return the share of right tags in percent, of all words and of those that were not seen."""
    right = total = unseen_right = unseen = 0
    for sentence in gold:
        for found, (word, tag_) in zip(tag([w for w, _ in sentence]), sentence, strict=True):
            right += found == tag_
            total += 1
            if word not in seen:
                unseen += 1
                unseen_right += found == tag_
    return 100 * right / total, 100 * unseen_right / max(unseen, 1)


def tuned_crf(train: Sequence[Tagged], iterations: int) -> tuple[float, float]:
    """Return c1 and c2 that tag a held-out fifth best."""
    part = train[:MAX_TUNING]
    cut = len(part) * 4 // 5
    found = {
        (c1, c2): accuracy(Crf(part[:cut], c1, c2, iterations).tag, part[cut:], frozenset())[0]
        for c1, c2 in GRID
    }
    return max(found, key=lambda pair: found[pair])
