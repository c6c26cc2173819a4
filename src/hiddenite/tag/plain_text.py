"""Plain text as sentences to tag: words and sentence ends found, places kept, written as CoNLL-U.

``# text`` holds the sentence as it stands, ``SpaceAfter=No`` in the last column says where no white space
followed, and ``TokenRange=begin:end`` where the word is in the file, in characters from 0. Words are cut as
the tagger's own words are (:class:`hiddenite.segments.Segmenter`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode
from hiddenite.segments import Segmenter, is_mark, sentences
from hiddenite.tag.formats import Record

MANY = 3  # glued words that are worth a warning
_LOOKED_AT = 2000  # words
_GLUED = ".,;:!?…。，！？،؛؟।"


def read_plain_text(reader: ChunkReader, segmenter: Segmenter) -> Iterator[Record]:
    """Give the sentences of a file, as records whose lines are CoNLL-U without tags."""
    try:
        text = decode(b"".join(iter(reader, b"")), reader.name)
    except FormatError as error:
        raise FormatError(reader.name, error.line, error.message) from None
    yield from text_records(text, segmenter)


def text_records(text: str, segmenter: Segmenter) -> Iterator[Record]:
    """Give the sentences of a text."""
    spans = segmenter.words(text)
    line, counted = 1, 0
    for number, (first, last) in enumerate(sentences(text, spans), 1):
        start, end = spans[first].start, spans[last - 1].end
        line += text.count("\n", counted, start)
        counted = start
        lines = [f"# sent_id = {number}", f"# text = {' '.join(text[start:end].split())}"]
        words = []
        for i, span in enumerate(spans[first:last], 1):
            word = text[span.start : span.end]
            words.append(word)
            place = f"TokenRange={span.start}:{span.end}"
            is_glued = span.end < len(text) and not text[span.end].isspace()
            misc = f"SpaceAfter=No|{place}" if is_glued else place
            lines.append("\t".join([str(i), word, *["_"] * 7, misc]))
        yield Record(tuple(words), (), line, tuple(lines))


def glued_words(records: Iterable[Record], known: frozenset[str]) -> list[str]:
    """Return words, of the first ones, that end in punctuation and that the tagger does not know so."""
    found = []
    looked_at = 0
    for record in records:
        for word in record.words:
            if len(word) > 1 and word[-1] in _GLUED and not is_mark(word) and word not in known:
                found.append(word)
        looked_at += len(record.words)
        if looked_at > _LOOKED_AT:
            break
    return found
