"""A component for spaCy: hiddenite's tags in a pipeline. Needs the extra ``spacy``.

    nlp = spacy.blank("en")
    nlp.add_pipe("hiddenite_tagger", config={"model": "english.tagger"})

The factory is found through the package's entry point, or by importing this module. Sentences are those of
the document if the pipeline has found them before (``sentencizer``, ``parser``), else the document is one.
White space is no word: such tokens get what spaCy itself gives them. The model is saved with the pipeline.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Token
except ImportError as error:  # pragma: no cover
    raise ImportError("hiddenite.tag.spacy needs spaCy: pip install 'hiddenite[spacy]'") from error

from hiddenite.errors import ModelError
from hiddenite.results import Failure
from hiddenite.tag.tagger import Tagger

NAME = "hiddenite_tagger"
Attribute = Literal["tag", "pos"]
_SPACE = {"tag": "_SP", "pos": "SPACE"}
_FILE = "model.tagger"


class TaggerComponent:
    """Sets ``token.tag_``, or with ``attribute="pos"`` ``token.pos_``, by a tagger."""

    def __init__(self, name: str, model: str | None, attribute: Attribute = "tag") -> None:
        if attribute not in _SPACE:
            raise ModelError(f"the attribute is '{attribute}', expected tag or pos")
        self.name = name
        self.attribute: Attribute = attribute
        self.tagger: Tagger | None = None if model is None else Tagger.load(model)

    def __call__(self, doc: Doc) -> Doc:
        """Tag a document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Tag many documents, on all cores; the same tags as one by one."""
        if self.tagger is None:
            raise ModelError(f'{self.name} has no model; say config={{"model": FILE}} when it is added')
        documents = iter(stream)
        while batch := list(itertools.islice(documents, batch_size)):
            sentences = [words for doc in batch for words in _sentences(doc)]
            answers = self.tagger.tag_many([_text(token) for token in words] for words in sentences)
            for tokens, answer in zip(sentences, answers, strict=True):
                if isinstance(answer, Failure):
                    raise ModelError(answer.error)
                self._set(tokens, answer.tags)
            for doc in batch:
                spaces = [token for token in doc if token.is_space]
                self._set(spaces, [_SPACE[self.attribute]] * len(spaces))
            yield from batch

    def _set(self, tokens: Sequence[Token], tags: Iterable[str]) -> None:
        for token, tag in zip(tokens, tags, strict=True):
            if self.attribute == "tag":
                token.tag_ = tag
                continue
            try:
                token.pos_ = tag
            except ValueError:
                raise ModelError(
                    f"the tag {tag} is not a universal one, which pos must be; say attribute=tag"
                ) from None

    # What spaCy calls when a pipeline is saved and loaded.

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        if self.tagger is not None:
            self.tagger.save(Path(path, _FILE))

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> TaggerComponent:
        """Read it again."""
        file = Path(path, _FILE)
        self.tagger = Tagger.load(file) if file.exists() else None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model file."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            file = Path(folder, _FILE)
            return file.read_bytes() if file.exists() else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TaggerComponent:
        """Read it again."""
        with tempfile.TemporaryDirectory() as folder:
            if data:
                Path(folder, _FILE).write_bytes(data)
            return self.from_disk(folder)


def _sentences(doc: Doc) -> Iterator[list[Token]]:
    """Give the words of each sentence; no empty ones."""
    spans: Iterable[Iterable[Token]] = doc.sents if doc.has_annotation("SENT_START") else [doc]
    for span in spans:
        words = [token for token in span if not token.is_space]
        if words:
            yield words


def _text(token: Token) -> str:
    """Return a token's text as one word: white space inside, as in numbers, is no boundary."""
    return "\u00a0".join(token.text.split())


@Language.factory(  # type: ignore[untyped-decorator,unused-ignore]
    NAME,
    assigns=["token.tag", "token.pos"],
    default_config={"model": None, "attribute": "tag"},
    default_score_weights={"tag_acc": 1.0},
)
def make_component(nlp: Language, name: str, model: str | None, attribute: str) -> Any:
    """Make the component, as spaCy does for ``nlp.add_pipe``."""
    return TaggerComponent(name, model, attribute)  # type: ignore[arg-type]
