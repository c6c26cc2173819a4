"""All that one training gives, as text files: links of each direction, probabilities, scores, tables.

forward, reverse   Pharaoh links, source first in both: each word's most probable partner where it beats NULL
symmetrized        these two combined
probabilities      ``i-j:p`` of the links of probability 0.01 and more
scores             forward TAB reverse: ln weight of the best alignment (viterbi) for each generated word,
                   which is low for pairs that do not translate each other
lexicon            source TAB target TAB p(target | source) TAB p(source | target) TAB links, mean of both
fertilities        direction TAB word TAB p(0) TAB p(1) ...

Lines of the first five belong to the text's lines. Moses, Marian and others read the first three as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hiddenite._core import AlignmentTables
from hiddenite.align.aligner import BATCH, Aligner
from hiddenite.align.answers import LEAST_SHOWN, Question
from hiddenite.align.corpus import CorpusDecoding, align_corpus
from hiddenite.align.links import format_links
from hiddenite.align.training import Training
from hiddenite.arrays import np
from hiddenite.results import Failure

LEAST_LINKS = 0.5  # expected, of a pair in the lexicon: half a link of the mean direction


def links_lines(training: Training, direction: str, symmetrize: str) -> Iterator[str]:
    """Give links of most probable partners: of one direction, or of both combined."""
    decoding = CorpusDecoding("probabilities", direction=direction, symmetrize=symmetrize)
    for answer in align_corpus(training, decoding):
        assert not isinstance(answer, Failure)
        yield format_links(answer.links or ()) + "\n"


def probability_lines(training: Training) -> Iterator[str]:
    """Give the probabilities of the links that are listed."""
    for answer in align_corpus(training, CorpusDecoding("probabilities")):
        assert not isinstance(answer, Failure)
        assert answer.probabilities is not None
        p = answer.probabilities
        cells = np.argwhere(p >= LEAST_SHOWN).tolist()
        yield " ".join(f"{i}-{j}:{p[i, j]:.4f}" for i, j in cells) + "\n"


def score_lines(training: Training, aligner: Aligner, threads: int = 0) -> Iterator[str]:
    """Give ln weight a generated word of each direction's best alignment; nothing for an empty side."""
    task = Question("viterbi").task()
    for first in range(0, len(training), BATCH):
        last = min(first + BATCH, len(training))
        answers = aligner.model.align_trained(training.finished(), task, first, last, threads)
        for answer in answers:
            lengths = answer.target_length, answer.source_length
            cells = []
            for d, length in enumerate(lengths):
                best = answer.direction(d).best
                known = best is not None and length > 0
                cells.append(f"{best.log_weights[0] / length:.4f}" if known and best is not None else "")
            yield "\t".join(cells) + "\n"


def lexicon_lines(tables: AlignmentTables) -> Iterator[str]:
    """Give the pairs of words that are linked, by the source word, the most frequent first."""
    source, target = tables.pair_source, tables.pair_target
    counts = [count.astype(np.float64) for count in tables.pair_count]
    links = np.mean(counts, axis=0)
    totals = [np.bincount(source, counts[0]), np.bincount(target, counts[1])]
    for p in np.lexsort((-links, source)):
        if links[p] < LEAST_LINKS:
            continue
        e, f = int(source[p]), int(target[p])
        given = counts[0][p] / max(totals[0][e], 1e-9), counts[1][p] / max(totals[1][f], 1e-9)
        words = tables.words[0][e], tables.words[1][f]
        yield f"{words[0]}\t{words[1]}\t{given[0]:.6f}\t{given[1]:.6f}\t{links[p]:.2f}\n"


def fertility_lines(tables: AlignmentTables) -> Iterator[str]:
    """Give each word's shares of 0, 1, 2 ... generated words."""
    for name, words, table in zip(("forward", "reverse"), tables.words, tables.fertility, strict=True):
        if not words:
            continue
        counts = table.astype(np.float64).reshape(len(words), -1)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)
        for word, row in zip(words, shares, strict=True):
            yield "\t".join([name, word, *(f"{share:.4f}" for share in row)]) + "\n"


def files_of(
    training: Training, aligner: Aligner, symmetrize: str, threads: int = 0
) -> dict[str, Callable[[], Iterator[str]]]:
    """Return, by the name of its option, what makes the lines of each file."""
    return {
        "forward": lambda: links_lines(training, "forward", symmetrize),
        "reverse": lambda: links_lines(training, "reverse", symmetrize),
        "symmetrized": lambda: links_lines(training, "both", symmetrize),
        "probabilities": lambda: probability_lines(training),
        "scores": lambda: score_lines(training, aligner, threads),
        "write_lexicon": lambda: lexicon_lines(aligner.model.tables),
        "write_fertilities": lambda: fertility_lines(aligner.model.tables),
    }
