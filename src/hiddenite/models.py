r"""Model files of any kind: recognised, opened, described.

All models but ARPA text say what they are in their first bytes, and how they were trained in their header.
ARPA text has no room for that: KenLM accepts nothing before ``\data\`` and nothing after ``\end\``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hiddenite.align.aligner import FORMAT as ALIGNER
from hiddenite.align.aligner import Aligner
from hiddenite.correct.archive import FORMAT as CORRECTOR
from hiddenite.correct.corrector import Corrector
from hiddenite.errors import FormatError
from hiddenite.files.container import KIND, Members, container_kind
from hiddenite.hmmlm.archive import FORMAT as HMM
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.induction.archive import FORMAT as INDUCTION
from hiddenite.induction.induction import CHECKPOINT_FILE, Induction
from hiddenite.ngram import NgramModel
from hiddenite.restore.archive import FORMAT as RESTORER
from hiddenite.restore.restorer import Restorer
from hiddenite.tag.archive import FORMAT as TAGGER
from hiddenite.tag.tagger import Tagger

AnyModel = NgramModel | Tagger | Aligner | HMMLanguageModel | Induction | Corrector | Restorer
_LOADERS: dict[str, Callable[[str], AnyModel]] = {
    TAGGER: Tagger.load,
    ALIGNER: Aligner.load,
    HMM: HMMLanguageModel.load,
    INDUCTION: Induction.load,
    CORRECTOR: Corrector.load,
    RESTORER: Restorer.load,
}
_HINT = "expected a model: an ARPA file, or a file that hiddenite wrote"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a model file holds and how it was made."""

    kind: str  # (compiled) n-gram model, tagger, aligner, HMM language model, induction, corrector, restorer
    file: str
    bytes: int
    sizes: dict[str, Any]  # by kind: order, words, n-grams, states, tags ...
    options: dict[str, Any]  # of the training; empty where the file does not say
    training: dict[str, Any]  # seed, and the size of the text
    checksums: str  # agree, not compared, or none

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object: the fields, those of ``sizes`` beside the others."""
        record = {"kind": self.kind, "file": self.file, "bytes": self.bytes, **self.sizes}
        return record | {"options": self.options, "training": self.training, "checksums": self.checksums}


class Model:
    """Any model file; see :meth:`load` and :meth:`info`."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> AnyModel:
        """Open a model file of whatever kind; :attr:`ModelInfo.kind` lists them."""
        name = os.fspath(path)
        if os.path.isfile(os.path.join(name, CHECKPOINT_FILE)):
            return Induction.load(name)
        if not os.path.isfile(name) or container_kind(name) != KIND:
            return NgramModel.load(name)
        found = json.loads(Members(name, "model file", _HINT).read("header.json")).get("format")
        if found not in _LOADERS:
            raise FormatError(name, None, f"is a {found}, {_HINT}")
        return _LOADERS[found](name)

    @staticmethod
    def info(path: str | os.PathLike[str], *, verify: bool = False) -> ModelInfo:
        """Describe a model file; ``verify`` compares the checksums of a compiled model too."""
        name, model = os.fspath(path), Model.load(path)
        checksums = "agree"  # they are compared when such a file is read
        if isinstance(model, NgramModel):
            if verify and model.is_compiled:
                model.verify()
            checksums = "agree" if verify else "not compared"
            checksums = checksums if model.is_compiled else "none"
        size = os.path.getsize(os.path.join(name, CHECKPOINT_FILE) if os.path.isdir(name) else name)
        return ModelInfo(_kind(model), name, size, _sizes(model), *_training(model), checksums)


def _kind(model: AnyModel) -> str:
    match model:
        case NgramModel():
            return "compiled n-gram model" if model.is_compiled else "n-gram model"
        case Tagger():
            return "tagger"
        case Aligner():
            return "aligner"
        case HMMLanguageModel():
            return "HMM language model"
        case Corrector():
            return "corrector"
        case Restorer():
            return "restorer"
    return "induction"


def _sizes(model: AnyModel) -> dict[str, Any]:
    match model:
        case NgramModel():
            return ngram_sizes(model)
        case Tagger():
            words = len(model.model.lexicon.words)
            return {"order": model.order, "tags": len(model.tags), "words": words}
        case Aligner():
            tables = model.model.tables
            source, target = map(len, tables.words)
            return {"source_words": source, "target_words": target, "word_pairs": len(tables.pair_source)}
        case HMMLanguageModel():
            members = len(model.members)
            sizes = {"states": model.num_states, "members": members, "words": len(model.words)}
            return sizes | {"lexicalised": model.is_lexicalised}
        case Corrector():
            pairs = len(model.learnt.pairs)
            return {"language_model": ngram_sizes(model.lm), "words": len(model.words), "learnt_pairs": pairs}
        case Restorer():
            sizes = {"order": model.lm.order, "ngrams": sum(model.lm.ngram_counts)}
            return sizes | {"words": len(model.entries), "events": len(model.folding.events)}
    done = model.num_done("start") + model.num_done("main")
    return {"tags": model.options.tags, "chains": model.num_chains, "sweeps_done": done}


def ngram_sizes(model: NgramModel) -> dict[str, Any]:
    """Return how large an n-gram model is."""
    return {
        "order": model.order,
        "vocabulary": len(model.vocabulary),
        "ngrams": list(model.ngram_counts),
        "unknown_words": model.knows_unknown,
        "memory_bytes": model.memory_bytes,
        "bytes_per_ngram": round(model.memory_bytes / sum(model.ngram_counts), 1),
        "compiled": model.is_compiled,
    }


def _training(model: AnyModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of a training and what else is known of it."""
    match model:
        case NgramModel():
            return {}, {}
        case Restorer():
            return {"what": list(model.folding.what), "max_events": model.max_events}, {}
        case Tagger():
            induced = dict(model.model.training)
            options = induced.pop("induced", None) or _plain(model.model.options)
            return options, induced
        case Aligner():
            return _plain(model.options), model.training
        case HMMLanguageModel():
            about = dict(model.training)
            return about.pop("options", {}), about
        case Corrector():
            return model.settings.to_dict(), {}
    text = model.text
    size = {"sentences": len(text.begin) - 1, "tokens": len(text.tokens), "words": len(text.words)}
    return model.options.to_dict(), size


def _plain(options: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(options).items() if value is not None}
