"""Constraints on text as constraints on tokens, whatever tokens the text is cut into.

An automaton over characters says what text is allowed. A token is a piece of text, so from each state it
leads where its characters lead: the automaton over tokens accepts exactly the token sequences whose text is
accepted, all tokenisations of it alike. Tokens of byte-level vocabularies may end inside a character, hence
the walk is over UTF-8 bytes, for all tokens and states at once: states x tokens x bytes of the longest token.

A constraint on words becomes one on characters first: words are what stands between separators.
"""

from __future__ import annotations

import functools
import json
import os
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import FormatError, ModelError
from hiddenite.hmmlm.automata import DEAD, MAX_STATES, Table, TokenAutomaton, from_columns
from hiddenite.hmmlm.word_automata import WordAutomaton

SPACES = " \t\n\r\v\f"
SEPARATORS = SPACES + string.punctuation + "“”„‘’«»–—…¿¡"
_CONTINUATION = range(0x80, 0xC0)


def words_as_text(automaton: WordAutomaton, separators: str) -> WordAutomaton:
    """Return the automaton over characters of texts whose words the given automaton accepts.

    A state is the state before a word and what has been read of it: nothing, the beginning of a word that
    is told apart, or of some other word.
    """
    used = {c for word in automaton.words for c in word}
    stops = [c for c in dict.fromkeys(separators) if c not in used]
    between, unlisted = "", None  # what has been read of a word
    numbers: dict[tuple[int, str | None], int] = {(0, between): 0}
    order: list[tuple[int, str | None]] = [(0, between)]
    prefixes = [{word[:n] for word in edges for n in range(1, len(word) + 1)} for edges in automaton.edges]

    def number(q: int, read: str | None) -> int:
        if q == DEAD:
            return DEAD
        if (q, read) not in numbers:
            if len(numbers) == 16 * MAX_STATES:
                raise ModelError(
                    "the constraint needs too many automaton states; use fewer or shorter keywords"
                )
            numbers[q, read] = len(order)
            order.append((q, read))
        return numbers[q, read]

    def finish(q: int, read: str | None) -> int:
        if read == between:
            return q
        return automaton.other[q] if read is None else automaton.step(q, read)

    other: list[int] = []
    edges: list[dict[str, int]] = []
    for q, read in order:  # grows as it is walked
        row = dict.fromkeys(stops, number(finish(q, read), between))
        if read is not None:
            longer = {p[len(read)] for p in prefixes[q] if len(p) == len(read) + 1 and p.startswith(read)}
            row |= {c: number(q, read + c) for c in sorted(longer)}
        edges.append(row)
        other.append(number(q, unlisted))
    ends = [finish(q, read) for q, read in order]
    return WordAutomaton(tuple(q != DEAD and automaton.accepts[q] for q in ends), tuple(other), tuple(edges))


def after_space(automaton: WordAutomaton) -> WordAutomaton:
    """Accept a space and then what the automaton accepts, and nothing if it accepts that."""
    number = len(automaton.accepts)
    swap = [number, *range(1, number), 0]  # the new start is state 0, the old one the last

    def moved(q: int) -> int:
        return DEAD if q == DEAD else swap[q]

    others = [moved(q) for q in automaton.other]
    rows = [{c: moved(q) for c, q in row.items()} for row in automaton.edges]
    return WordAutomaton(
        (automaton.accepts[0], *automaton.accepts[1:], automaton.accepts[0]),
        (DEAD, *others[1:], others[0]),
        ({" ": number}, *rows[1:], rows[0]),
    )


def byte_table(automaton: WordAutomaton) -> tuple[NDArray[np.bool_], Table]:
    """Return which states accept, and the table [state, byte] of an automaton over characters.

    Further states stand inside a character: the bytes of one that is told apart, or a number of bytes to come
    before another state. Bytes that are no UTF-8 lead nowhere.
    """
    State = tuple[
        int, bytes, int
    ]  # the state before a character; bytes read of it; or: bytes that still come
    order: list[State] = [(q, b"", 0) for q in range(len(automaton.accepts))]
    numbers = {state: i for i, state in enumerate(order)}
    spelled = [{c.encode(): q for c, q in row.items()} for row in automaton.edges]

    def number(q: int, read: bytes, left: int) -> int:
        if q == DEAD and not read:
            return DEAD
        state = (q, read, left)
        if state not in numbers:
            numbers[state] = len(order)
            order.append(state)
        return numbers[state]

    def length(first: int) -> int:
        return 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4

    def target(state: State, byte: int) -> int:
        q, read, left = state
        if left:
            return number(q, b"", left - 1) if byte in _CONTINUATION else DEAD
        known = read + bytes([byte])
        if not read and byte >= 0x80 and not 0xC2 <= byte < 0xF5:
            return DEAD
        if read and byte not in _CONTINUATION:
            return DEAD
        if known in spelled[q]:
            return number(spelled[q][known], b"", 0)
        if any(c.startswith(known) for c in spelled[q]):
            return number(q, known, 0)
        remaining = length(known[0]) - len(known) if known[0] >= 0x80 else 0
        return number(automaton.other[q], b"", remaining)

    rows = [[target(state, byte) for byte in range(256)] for state in _growing(order)]
    accepts = [not read and not left and automaton.accepts[q] for q, read, left in order]
    return np.array(accepts), np.array(rows, np.int32)


def _growing(order: list[Any]) -> Iterable[Any]:
    yield from order


def token_automaton(automaton: WordAutomaton, texts: Sequence[bytes | None]) -> TokenAutomaton:
    """Return the automaton over tokens with these texts; one without a text leads nowhere."""
    accepts, table = byte_table(automaton)
    small = from_columns(accepts, table).minimised()
    step = np.vstack(
        [small.target[:, small.class_of], np.full((1, 256), DEAD, np.int32)]
    )  # DEAD reads the last
    lengths = np.array([0 if text is None else len(text) for text in texts])
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    letters = np.zeros((longest, len(texts)), np.uint8)
    for place, i in enumerate(order.tolist()):
        text = texts[i]
        if text:
            letters[: len(text), place] = np.frombuffer(text, np.uint8)
    states = np.repeat(np.arange(small.num_states, dtype=np.int32)[:, None], len(texts), axis=1)
    for position in range(longest):
        number = int(np.searchsorted(-lengths[order], -position))  # tokens that are longer
        states[:, :number] = step[states[:, :number], letters[position, :number]]
    columns = np.empty_like(states)
    columns[:, order] = states
    columns[:, [i for i, text in enumerate(texts) if text is None]] = DEAD
    return from_columns(small.accepts, columns).minimised()


# ------------------------------------------------------------------- tokenizer files


@dataclass(frozen=True)
class Tokenizer:
    """What a ``tokenizer.json`` of Hugging Face says about its tokens."""

    tokens: tuple[str, ...]  # [id]: as the file spells them
    texts: tuple[bytes | None, ...]  # [id]: the text that a token stands for; None: a mark

    def __len__(self) -> int:
        return len(self.tokens)

    def text(self, ids: Iterable[int]) -> str:
        """Return the text of a token sequence."""
        return b"".join(self.texts[i] or b"" for i in ids).decode("utf-8", "replace")


@functools.cache
def _byte_letters() -> dict[str, int]:
    """Return the letters that stand for bytes in byte-level vocabularies: printable ones are themselves."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(others)}


def read_tokenizer(path: str | os.PathLike[str]) -> Tokenizer:
    """Read a ``tokenizer.json``: BPE (byte-level or with ▁ for spaces), WordPiece, Unigram, word level."""
    name = os.fspath(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return _tokenizer(content)
    except OSError as error:
        raise FormatError(name, None, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            name, None, f"is no tokenizer.json ({error!r:.80}), expected one of Hugging Face"
        ) from None


def _kinds(part: dict[str, Any] | None) -> set[str]:
    """Return the types of a component and of those inside it."""
    if not part:
        return set()
    inner = part.get("decoders") or part.get("pretokenizers") or []
    return {str(part.get("type"))}.union(*(_kinds(p) for p in inner))


def _tokenizer(content: dict[str, Any]) -> Tokenizer:
    model = content["model"]
    vocabulary = model["vocab"]
    if isinstance(vocabulary, dict):
        ids = {int(i): str(token) for token, i in vocabulary.items()}
    else:
        ids = {i: str(piece[0]) for i, piece in enumerate(vocabulary)}
    added = content.get("added_tokens") or []
    ids |= {int(token["id"]): str(token["content"]) for token in added}
    marks = {int(token["id"]) for token in added if token.get("special")}
    plain = {int(token["id"]) for token in added if not token.get("special")}
    tokens = tuple(ids.get(i, f"<id {i}>") for i in range(max(ids, default=-1) + 1))
    kinds = _kinds(content.get("decoder")) | _kinds(content.get("pre_tokenizer"))
    unknown = model.get("unk_token")

    def text(i: int, token: str) -> bytes | None:
        if i in marks or i not in ids or (token == unknown and i not in plain):
            return None
        return token.encode() if i in plain else _token_text(token, kinds, model)

    return Tokenizer(tokens, tuple(text(i, token) for i, token in enumerate(tokens)))


def _token_text(token: str, kinds: set[str], model: dict[str, Any]) -> bytes:
    if "ByteLevel" in kinds:
        letters = _byte_letters()
        return bytes(letters[c] for c in token) if all(c in letters for c in token) else token.encode()
    if token.startswith("<0x") and len(token) == 6 and model.get("byte_fallback"):
        return bytes([int(token[3:5], 16)])
    if model.get("type") == "WordPiece" or "WordPiece" in kinds:
        mark = str(model.get("continuing_subword_prefix", "##"))
        return token[len(mark) :].encode() if token.startswith(mark) else b" " + token.encode()
    if "Metaspace" in kinds or "▁" in token:
        return token.replace("▁", " ").encode()
    if model.get("type") == "WordLevel":
        return b" " + token.encode()
    return token.encode()
