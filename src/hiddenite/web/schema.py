"""What requests and answers hold: these classes decode and check a request, and make its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct

from hiddenite.errors import ModelError

WORDS = 48  # of a message, a sentence
LEVELS = 10  # of noise; 0 is none
CHARACTERS = 2_000  # of a sentence
TEXT_CHARACTERS = 8_000  # of a text to correct or to score
LONG_CHARACTERS = 30_000  # of a text to find classes in, of a side of a parallel text
CLASSES = 20
EDGES = 400  # of a lattice
SHOWN_LINKS = 20  # of a report, in the answer itself
KEYWORDS = 4
GENERATED_WORDS = 40
MAX_SEED = 2**53 - 1  # what every JSON reader keeps as it is

_Text = Annotated[str, Meta(max_length=CHARACTERS)]
_RawText = Annotated[str, Meta(max_length=TEXT_CHARACTERS)]
_LongText = Annotated[str, Meta(max_length=LONG_CHARACTERS)]
_Sentence = Annotated[_Text, Meta(description="A sentence, words separated by spaces.")]
_Word = Annotated[str, Meta(min_length=1, max_length=100)]
_LogWeight = Annotated[float, Meta(ge=-1e6, le=1e6)]
_Slot = Annotated[list[tuple[_Word, _LogWeight]], Meta(max_length=1_000)]
_Slots = Annotated[
    list[_Slot],
    Meta(max_length=WORDS, description="Your own candidates: per position, words and natural-log weights."),
]
_Node = Annotated[int, Meta(ge=0, le=EDGES)]
_Lattice = Annotated[
    list[tuple[_Node, _Node, _Word, _LogWeight]],
    Meta(
        max_length=EDGES,
        description="Your own lattice: from node, to a higher node, word, natural-log weight.",
    ),
]
_FileName = Annotated[str, Meta(min_length=1, max_length=200)]
_Seed = Annotated[int, Meta(ge=0, le=MAX_SEED, description="Of the slips in a message, and of samples.")]
_Method = Literal["auto", "refine", "paper", "full", "dominance", "sparse"]
_Ranker = Literal["auto", "refine", "paper", "dominance"]  # the lists of "full" take a gigabyte
_Sampler = Literal["auto", "refine", "paper", "full", "sparse"]


# -------------------------------------------------------------------- requests


class Request(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One question."""


class Noisy(Request, frozen=True, kw_only=True):
    """A question about noisy text: exactly one of message, input, slots and lattice."""

    message: Annotated[_Text, Meta(description="What is meant; it is typed with slips.")] | None = None
    input: Annotated[_Text, Meta(description="What was typed: keys, or words with slips.")] | None = None
    slots: _Slots | None = None
    lattice: _Lattice | None = None
    channel: Annotated[Literal["keypad", "typo"], Meta(description="How it is typed and read.")] = "keypad"
    noise: Annotated[int, Meta(ge=0, le=LEVELS, description="How many slips are made and expected.")] = 6
    seed: _Seed = 1

    def __post_init__(self) -> None:
        given = [name for name in ("message", "input", "slots", "lattice") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"found {found}, expected exactly one of message, input, slots and lattice")


class Decode(Noisy, frozen=True, kw_only=True):
    method: Annotated[_Method, Meta(description="All are exact, at different cost.")] = "auto"
    objective: Annotated[Literal["map", "mbr"], Meta(description="Best path, or fewest errors.")] = "map"


class KBest(Noisy, frozen=True, kw_only=True):
    method: _Ranker = "auto"
    k: Annotated[int, Meta(ge=1, le=50, description="How many.")] = 5


class Sample(Noisy, frozen=True, kw_only=True):
    method: _Sampler = "auto"
    n: Annotated[int, Meta(ge=1, le=200, description="Draws.")] = 25


class Beam(Noisy, frozen=True, kw_only=True):
    width: Annotated[int, Meta(ge=1, le=50, description="Hypotheses kept.")] = 3


class Search(Noisy, frozen=True, kw_only=True):
    method: Annotated[Literal["refine", "paper"], Meta(description="Which search to watch.")] = "refine"


class Correct(Request, frozen=True, kw_only=True):
    text: Annotated[_RawText, Meta(description="Raw text, as it was typed or read.")]
    noise: Annotated[int, Meta(ge=0, le=LEVELS, description="Slips that are added before; 0: none.")] = 0
    careful: Annotated[bool, Meta(description="Only changes that are almost certain.")] = False
    seed: _Seed = 1


class Tag(Request, frozen=True, kw_only=True):
    text: _Sentence


class Align(Request, frozen=True, kw_only=True):
    source: _Sentence
    target: _Sentence
    method: Annotated[Literal["exact", "paper", "viterbi"], Meta(description="Of finding links.")] = "exact"
    direction: Annotated[
        Literal["both", "forward", "reverse"],
        Meta(description="forward: a source word for each target word."),
    ] = "both"
    symmetrize: Annotated[
        Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"],
        Meta(description="How the links of both directions become one."),
    ] = "grow-diag-final-and"
    marginals: (
        Annotated[
            Literal["hmm", "samples"],
            Meta(description="Link probabilities: of the HMM alone, or shares of exact samples."),
        ]
        | None
    ) = None
    samples: Annotated[int, Meta(ge=1, le=200, description="Behind the probabilities.")] = 100
    seed: _Seed = 1


class Report(Request, frozen=True, kw_only=True):
    source: Annotated[_LongText, Meta(description="A text, one sentence a line.")]
    target: Annotated[_LongText, Meta(description="Its translation, line by line.")]
    source_name: _FileName = "source"
    target_name: _FileName = "target"
    seed: _Seed = 1


class Score(Request, frozen=True, kw_only=True):
    text: Annotated[_RawText, Meta(description="Sentences, one a line, words separated by spaces.")]


class Induce(Request, frozen=True, kw_only=True):
    text: Annotated[_LongText, Meta(description="Sentences, one a line, words separated by spaces.")]
    tags: Annotated[int, Meta(ge=2, le=CLASSES, description="How many classes.")] = 6
    seed: _Seed = 1


class Generate(Request, frozen=True, kw_only=True):
    keywords: Annotated[
        tuple[_Word, ...], Meta(max_length=KEYWORDS, description="Words or phrases that must occur.")
    ] = ()
    length: Annotated[int, Meta(ge=1, le=GENERATED_WORDS, description="Words, exactly.")] | None = None
    max_length: Annotated[int, Meta(ge=1, le=GENERATED_WORDS, description="Most words.")] = 20
    n: Annotated[int, Meta(ge=1, le=20, description="Sentences.")] = 5
    method: Annotated[
        Literal["sample", "rescore", "best"], Meta(description="Draws, the best of many draws, or the best.")
    ] = "sample"
    seed: _Seed = 1


_Request = TypeVar("_Request", bound=Request)
_NAMES = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def read(body: bytes, kind: type[_Request]) -> _Request:
    """Read a request; raise ModelError with one line that names the field."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        found, _, place = str(error).partition(" - at `$.")
        field = place.rstrip("`")
        text = re.sub(r"`([^`]*)`", lambda match: _plain(match[1]), found)
        if text.startswith("Invalid enum value"):
            text += f", expected {' or '.join(_choices(kind, field))}"
        raise ModelError(f"'{field}': {text[0].lower()}{text[1:]}" if field else text) from None
    except (ValueError, RecursionError):
        raise ModelError("the body is not JSON") from None


def _plain(name: str) -> str:
    """Return what JSON calls a type; other names in quotes."""
    return " or ".join(_NAMES.get(one, f"'{one}'") for one in name.split(" | "))


def _choices(kind: type[Request], field: str) -> list[str]:
    """Return the names that a field may have."""
    annotation = next(f.type for f in msgspec.structs.fields(kind) if f.name == field)
    inner = [part for part in (annotation, *get_args(annotation)) if type(part) is type(Literal["a"])]
    return [str(name) for part in inner for name in get_args(part)]


# --------------------------------------------------------------------- answers

_NUMBER = float | None  # null: not finite
_FIELDS: dict[str, Any] = {  # of all answers; a name means the same in each
    **dict.fromkeys(("words", "tags", "source", "target"), list[str]),
    **dict.fromkeys(("log_weight", "log_prob", "upper", "lower", "gap", "left_out"), _NUMBER),
    **dict.fromkeys(("log_partition", "log_partition_error", "constraint_log_prob"), _NUMBER),
    **dict.fromkeys(("log_partition_lower", "log_partition_upper"), _NUMBER),
    **dict.fromkeys(("total_variation", "error_bound"), float),
    **dict.fromkeys(("count", "trials", "width", "refinements", "states"), int),
    **dict.fromkeys(("method", "error", "text", "old", "new"), str),
    **dict.fromkeys(("start", "end"), int),
    **dict.fromkeys(("probability", "posterior"), float),
    "id": str | int | None,
    "exact": bool,
    "input": Annotated[str | None, Meta(description="What was typed; null for slots.")],
    "meant": Annotated[str | None, Meta(description="What is typed without slips; null without a message.")],
    "unknown": Annotated[list[str], Meta(description="Words that the model does not know.")],
    "slots": list[list[tuple[str, float]]],
    "links": list[tuple[int, int]],
    **dict.fromkeys(("sentences", "tokens", "oov", "sweeps", "planned_sweeps", "pairs"), int),
    **dict.fromkeys(("perplexity", "perplexity_without_oov", "log_joint", "doubt"), _NUMBER),
    **dict.fromkeys(("tag", "html", "model"), str),
    "log_probs": list[_NUMBER],
    "orders": list[int],
    "members": list[tuple[str, int]],
    "tagged": list[list[tuple[str, str]]],
    "dubious": list[tuple[int, str, str, float]],
    "probabilities": list[tuple[int, int, float]] | None,
}


def _answer(name: str, fields: str, **own: Any) -> type[Struct]:
    return msgspec.defstruct(name, [(f, _FIELDS[f]) for f in fields.split()] + list(own.items()))


_PROOF = _answer("Certificate", "exact upper lower gap method refinements states")
_PATH = _answer("Hypothesis", "words log_weight")
_DRAW = _answer("Draw", "words log_weight count")
_SENTENCE = _answer("Sentence", "words log_prob")
_ALTERNATIVE = _answer("Alternative", "text probability")
_SCORED = _answer("Scored", "words log_probs orders log_prob")
_CLASS = _answer("WordClass", "tag tokens members")
_CHANGE = _answer(
    "Change",
    "start end old new probability posterior",
    alternatives=list[_ALTERNATIVE],  # type: ignore[valid-type]
)
_READ_PROOF = _answer("ReadingCertificate", "exact upper lower gap method refinements states left_out")
_SUM = "log_partition log_partition_lower log_partition_upper"

ANSWERS = {
    "correct": _answer(
        "Corrected",
        "input text unknown",
        changes=list[_CHANGE],  # type: ignore[valid-type]
        certificate=_READ_PROOF,
    ),
    "decode": _answer("Decoded", "id input words log_weight meant unknown", certificate=_PROOF),
    "kbest": _answer("Best", "id input", kbest=list[_PATH], certificate=_PROOF),  # type: ignore[valid-type]
    "sample": _answer(
        "Samples",
        f"id input {_SUM} log_partition_error count total_variation trials exact method",
        samples=list[_DRAW],  # type: ignore[valid-type]
    ),
    "marginals": _answer("Marginals", f"id input slots {_SUM} error_bound"),
    "beam": _answer("BeamReading", "words log_weight width input"),
    "tag": _answer("Tagged", "id words tags log_weight slots log_partition unknown", certificate=_PROOF),
    "align": _answer(
        "Aligned",
        "id links log_weight probabilities source target",
        unknown=dict[str, list[str]],  # by side
        certificate=_PROOF | None,
    ),
    "report": _answer("LinkReport", "html pairs doubt dubious", links=int, samples=int),
    "score": _answer(
        "TextScore",
        "sentences tokens oov log_prob perplexity perplexity_without_oov unknown",
        scored=list[_SCORED],  # type: ignore[valid-type]
    ),
    "induce": _answer(
        "Induced",
        "tagged sweeps planned_sweeps model log_joint",
        classes=list[_CLASS],  # type: ignore[valid-type]
    ),
    "generate": _answer("Generated", "constraint_log_prob", sentences=list[_SENTENCE]),  # type: ignore[valid-type]
}
ERROR = _answer("Error", "error")


def components(kinds: Iterable[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a reference to each class, and the JSON Schemas that they refer to."""
    references, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    return list(references), schemas
