"""Mixed, pruned and rounded models on the Penn Treebank and WikiText-2.

``python benchmarks/model_tools.py DATA``: DATA is a folder with ``ptb`` and ``wikitext-2``, each with
train.txt and valid.txt, and ``hansard`` with train.txt and heldout.txt, which is pruned only. Prints the
rows of RESULTS.md.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from hiddenite import NgramModel
from hiddenite._core import mixture_log_probs
from hiddenite.ngram_tools import HISTORIES, mix, prune_to, quantize, tune_weights
from hiddenite.ngram_training import TrainingOptions

ORDER = 5
CUTS = ([0, 0, 1], [0, 1, 1], [0, 1, 2], [0, 2, 4])


def train(folder: Path, prune: list[int] | None = None) -> NgramModel:
    return NgramModel.train_files([folder / "train.txt"], TrainingOptions(order=ORDER, prune=prune or ()))


def show(name: str, model: NgramModel, text: bytes, full: int) -> float:
    size = sum(model.ngram_counts)
    perplexity = model.score_text(text).summary().perplexity_without_oov
    print(
        f"  {name:28} {size:>10,} n-grams {100 * size / full:5.1f} %  perplexity {perplexity:.2f}", flush=True
    )
    return perplexity


def mixtures(models: dict[str, NgramModel], texts: dict[str, bytes]) -> None:
    both = list(models.values())
    for name, text in texts.items():
        found = tune_weights(both, text)
        probs = np.exp(np.stack(mixture_log_probs([m._table for m in both], text, name)))
        probs = probs[:, probs.max(axis=0) > 0]
        grid = np.arange(1, 1000) / 1000
        best = grid[int(np.argmax([np.log(x * probs[0] + (1 - x) * probs[1]).sum() for x in grid]))]
        static = mix(both, found.weights)
        scores = [m.score_text(text).summary().perplexity_without_oov for m in (*both, static)]
        print(
            f"mix for {name}: EM {found.weights[0]:.4f}, grid {best:.3f}; dynamic {found.perplexity:.2f}; "
            f"A, B, static without OOV {scores[0]:.2f} {scores[1]:.2f} {scores[2]:.2f}",
            flush=True,
        )


def pruned(folder: Path, text: bytes) -> None:
    model = train(folder)
    full = sum(model.ngram_counts)
    print(f"prune {folder.name}")
    show("all", model, text, full)
    for share in (0.5, 0.2, 0.1):
        show(f"entropy, {share:.0%}", prune_to(model, int(share * full))[0], text, full)
    for cut in CUTS:
        counted = train(folder, cut)
        size = sum(counted.ngram_counts)
        show(f"counts {cut}", counted, text, full)
        for histories in HISTORIES:
            show(f"entropy {histories}, same size", prune_to(model, size, histories)[0], text, full)


def rounded(model: NgramModel, text: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        model.save(place / "a.arpa")
        arpa = (place / "a.arpa").stat().st_size
        rows = {"compact": model, **{f"{bits} bits": quantize(model, bits) for bits in (8, 10, 12)}}
        for label, one in rows.items():
            one.compact(place / "a.hlm")
            start = time.process_time()
            again = NgramModel.load(place / "a.hlm")
            seconds = time.process_time() - start
            perplexity = again.score_text(text).summary().perplexity
            share = (place / "a.hlm").stat().st_size / arpa
            print(
                f"{label:8} {share:.3f} of {arpa:,} bytes, perplexity {perplexity:.3f}, "
                f"opened in {seconds:.2f} s",
                flush=True,
            )
        start = time.process_time()
        NgramModel.load(place / "a.arpa")
        print(f"the text is read in {time.process_time() - start:.2f} s", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    data = Path(sys.argv[1])
    folders = {name: data / name for name in ("ptb", "wikitext-2")}
    texts = {name: (folder / "valid.txt").read_bytes() for name, folder in folders.items()}
    models = {name: train(folder) for name, folder in folders.items()}
    rounded(models["wikitext-2"], texts["wikitext-2"])
    mixtures(models, texts)
    for name, folder in folders.items():
        pruned(folder, texts[name])
    pruned(data / "hansard", (data / "hansard" / "heldout.txt").read_bytes())


if __name__ == "__main__":
    main()
