"""The SMS task: language models trained by hiddenite, and held-out text typed on a phone's keys with slips.

The task of Carter, Dymetman & Bouchard (2012, section 3): sentences of a given number of words, each word one
press per character, candidates all words of the vocabulary with as many characters. Models are trained once
and kept as ARPA text under ``build/bench``, or where HIDDENITE_BENCH says.

``python benchmarks/sms.py CORPUS ORDER LENGTH COUNT`` prints messages and their key presses.
"""

from __future__ import annotations

import functools
import itertools
import lzma
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hiddenite.channel import encoder_from_name
from hiddenite.ngram import NgramModel
from hiddenite.ngram_training import TrainingOptions

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
BUILD = Path(os.environ.get("HIDDENITE_BENCH", ROOT / "build" / "bench"))
SENTENCE_ENDS = {".", "?", "!"}
NO_WORDS = {"<unk>", "<s>", "</s>"}


@dataclass(frozen=True)
class Corpus:
    """Texts to train on, one to take messages from, and how many words are kept."""

    name: str
    train: tuple[str, ...]
    heldout: str
    num_words: int | None = None  # the most frequent ones; None: all
    paragraphs: bool = False  # lines hold several sentences
    one_in: int = 1  # of the sentences is trained on; the vocabulary is that of all
    lower: bool = False  # capitals are made small

    def sentences(self, file: str) -> Iterator[list[str]]:
        """Yield the sentences of one of the texts."""
        opened = lzma.open if file.endswith(".xz") else open
        with opened(DATA / file, "rt", encoding="utf-8") as lines:
            for line in lines:
                words = (line.lower() if self.lower else line).split()
                if not self.paragraphs:
                    yield words
                elif words[:1] != ["="]:  # no heading
                    yield from _split_sentences(words)

    def training_sentences(self) -> Iterator[list[str]]:
        """Yield the sentences of all training texts."""
        for file in self.train:
            # These texts hold some Hansard too, and may hold what is held out.
            with_hansard = file.startswith(("align/", "lm/english/"))
            left_out = set(map(tuple, self.sentences(self.heldout))) if with_hansard else set()
            yield from (s for s in self.sentences(file) if tuple(s) not in left_out)

    @functools.cache  # noqa: B019  (a handful of corpora)
    def words(self) -> set[str]:
        """Return the vocabulary."""
        counts = Counter(word for sentence in self.training_sentences() for word in sentence)
        return {word for word, _ in counts.most_common(self.num_words)} - NO_WORDS


HANSARD = ("lm/hansard/train.txt",)
ALL = (*HANSARD, "lm/wikitext-2/train.txt", "lm/ptb/train.txt", "align/hansards/train.en")
CORPORA = {
    corpus.name: corpus
    for corpus in [
        Corpus("hansard", HANSARD, "lm/hansard/heldout.txt", 10_000),
        Corpus("hansard-all", HANSARD, "lm/hansard/heldout.txt"),
        Corpus("ptb", ("lm/ptb/train.txt",), "lm/ptb/valid.txt"),
        Corpus("wikitext", ("lm/wikitext-2/train.txt",), "lm/wikitext-2/valid.txt", paragraphs=True),
        # For the size of the model: one vocabulary, more and more text.
        Corpus("all", ALL, "lm/hansard/heldout.txt", 10_000, paragraphs=True),
        Corpus("all-4", ALL, "lm/hansard/heldout.txt", 10_000, paragraphs=True, one_in=4),
        Corpus("all-16", ALL, "lm/hansard/heldout.txt", 10_000, paragraphs=True, one_in=16),
        Corpus("all-64", ALL, "lm/hansard/heldout.txt", 10_000, paragraphs=True, one_in=64),
        Corpus(
            "everything",
            (*ALL, "lm/english/train.txt.xz"),
            "lm/hansard/heldout.txt",
            10_000,
            paragraphs=True,
            lower=True,
        ),
        Corpus("all-long", ALL, "lm/ptb/valid.txt", 10_000, paragraphs=True),
    ]
}


def _split_sentences(words: Sequence[str]) -> Iterator[list[str]]:
    begin = 0
    for i, word in enumerate(words, 1):
        if word in SENTENCE_ENDS or i == len(words):
            yield list(words[begin:i])
            begin = i


# ---------------------------------------------------------------------- models


def model_file(corpus: Corpus, order: int) -> Path:
    """Return the ARPA file of a corpus' model, trained if it is not there."""
    path = BUILD / "models" / f"{corpus.name}-{order}.arpa"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.with_suffix(".txt")
        with open(text, "w", encoding="utf-8") as out:
            chosen = itertools.islice(corpus.training_sentences(), 0, None, corpus.one_in)
            out.writelines(" ".join(sentence) + "\n" for sentence in chosen)
        options = TrainingOptions(order=order, vocabulary=sorted(corpus.words()))
        NgramModel.train_files([text], options).save(path)
        text.unlink()
    return path


def num_ngrams(path: Path) -> int:
    """Return the number of n-grams that an ARPA file says it has."""
    total = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("ngram "):
                total += int(line.partition("=")[2])
            elif line.startswith("\\1-grams"):
                break
    return total


# -------------------------------------------------------------------- messages


def messages(corpus: Corpus, length: int, count: int) -> list[str]:
    """Return held-out messages of ``length`` words, all of them in the vocabulary.

    First whole sentences of that length; if there are too few, the beginnings of longer ones; if there are
    still too few, beginnings of sentences whose unknown words are left out. In the order of the text, none
    twice.
    """
    vocabulary = corpus.words()
    whole, begun, patched = [], [], []
    for sentence in corpus.sentences(corpus.heldout):
        known = [word for word in sentence if word in vocabulary]
        if len(known) < length:
            continue
        if len(known) < len(sentence):
            patched.append(known[:length])
        elif len(sentence) == length:
            whole.append(sentence)
        else:
            begun.append(sentence[:length])
    found = dict.fromkeys(" ".join(words) for words in [*whole, *begun, *patched])
    if len(found) < count:
        raise SystemExit(f"{corpus.heldout} has {len(found)} messages of {length} words, expected {count}")
    return list(found)[:count]


def type_keys(texts: Sequence[str], ambiguity: float = 64.0, seed: int = 1) -> list[str]:
    """Return the key presses of messages, with slips drawn from the channel's own noise."""
    encoder = encoder_from_name("keypad", ambiguity)
    text = "".join(f"{message}\n" for message in texts).encode()
    return encoder.encode_text(text, seed, "<messages>").decode().splitlines()


if __name__ == "__main__":
    chosen = CORPORA[sys.argv[1]]
    print(model_file(chosen, int(sys.argv[2])))
    meant = messages(chosen, int(sys.argv[3]), int(sys.argv[4]))
    for message, keys in zip(meant, type_keys(meant), strict=True):
        print(message, keys, sep="\t")
