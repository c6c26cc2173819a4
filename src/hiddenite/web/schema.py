"""What requests may hold, as JSON Schema: one table for the checks here and for the OpenAPI description.

``check`` knows the few keywords that the tables use. Its messages are one line each and name the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hiddenite.align.answers import MARGINALS
from hiddenite.align.answers import METHODS as ALIGN_METHODS
from hiddenite.errors import ModelError
from hiddenite.inference import METHODS
from hiddenite.web.models import LEVELS, Limits

Schema = Mapping[str, Any]
MAX_SEED = 2**53 - 1  # what every JSON reader keeps as it is

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def check(value: Any, schema: Schema, place: str = "the request") -> None:
    """Raise ModelError if the value is not what the schema describes."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in kinds):
        raise ModelError(f"{place}: found {_short(value)}, expected {' or '.join(map(_article, kinds))}")
    if "enum" in schema and value not in schema["enum"]:
        raise ModelError(f"{place}: found {_short(value)}, expected {' or '.join(map(str, schema['enum']))}")
    if isinstance(value, str):
        _check_size(len(value), schema, "Length", "characters", place)
    elif isinstance(value, list):
        _check_size(len(value), schema, "Items", "items", place)
        for number, item in enumerate(value, 1):
            check(item, _item(schema, number), f"{place}, item {number}")
    elif isinstance(value, dict):
        _check_object(value, schema, place)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        if not low <= value <= high:
            raise ModelError(f"{place}: found {_short(value)}, expected {low} to {high}")


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()  # 1.0 is an integer to JSON Schema
    return isinstance(value, _KINDS[kind])


def _item(schema: Schema, number: int) -> Schema:
    """Return what the item of this number must be."""
    each: Schema = schema["items"] if "items" in schema else schema["prefixItems"][number - 1]
    return each


def _check_size(size: int, schema: Schema, what: str, unit: str, place: str) -> None:
    low, high = schema.get(f"min{what}", 0), schema.get(f"max{what}", size)
    if not low <= size <= high:
        raise ModelError(f"{place}: found {size} {unit}, expected {low} to {high}")


def _check_object(value: dict[str, Any], schema: Schema, place: str) -> None:
    known = schema["properties"]
    for name in schema.get("required", ()):
        if name not in value:
            raise ModelError(f"{place} has no '{name}', expected one")
    for name, item in value.items():
        if name not in known:
            raise ModelError(f"{place} has a field {_short(name)}, expected {', '.join(known)}")
        check(item, known[name], f"'{name}'")


def _article(kind: str) -> str:
    if kind == "null":
        return "null"
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else text[:37] + "..."


def with_defaults(request: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the checked request, with every field that it leaves out."""
    check(request, schema)
    known = schema["properties"]
    filled = {name: request.get(name, known[name].get("default")) for name in known}
    return {k: int(v) if known[k]["type"] == "integer" else v for k, v in filled.items()}


# ------------------------------------------------------------------- requests


def _text(limits: Limits, about: str, **more: Any) -> Schema:
    return {"type": "string", "maxLength": limits.characters, "description": about, **more}


def _whole(low: int, high: int, default: int, about: str) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high, "default": default, "description": about}


def _choice(names: list[str], about: str) -> Schema:
    return {"type": "string", "enum": names, "default": names[0], "description": about}


def _object(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required or [],
        "additionalProperties": False,
    }


def _observation(limits: Limits) -> dict[str, Schema]:
    pair = {
        "type": "array",
        "prefixItems": [
            {"type": "string", "minLength": 1, "maxLength": 100},
            {"type": "number", "minimum": -1e6, "maximum": 1e6},
        ],
        "minItems": 2,
        "maxItems": 2,
    }
    slot = {"type": "array", "items": pair, "maxItems": limits.listed}
    return {
        "message": _text(limits, "Words that are meant; the channel types them, with slips."),
        "input": _text(limits, "What was typed: key presses, or words with slips."),
        "slots": {
            "type": "array",
            "items": slot,
            "maxItems": limits.words,
            "description": "Candidates of your own: per position pairs of a word and its natural-log weight.",
        },
        "channel": _choice(["keypad", "typo"], "How a message is typed and an input read."),
        "noise": _whole(0, LEVELS, 6, "How many slips the channel makes and expects."),
        "seed": _whole(0, MAX_SEED, 1, "Of the slips in a message, and of samples."),
    }


def requests(limits: Limits) -> dict[str, Schema]:
    """Return what each question may hold, by the last part of its path."""
    observed = _observation(limits)
    method = _choice(list(METHODS), "All are exact, at different cost.")
    samplers = [name for name in METHODS if name != "dominance"]
    sentence = _text(limits, "A sentence, words separated by spaces.")
    return {
        "decode": _object(
            {
                **observed,
                "method": method,
                "objective": _choice(["map", "mbr"], "Best path, or fewest errors."),
            }
        ),
        "kbest": _object({**observed, "method": method, "k": _whole(1, limits.best, 5, "How many.")}),
        "sample": _object(
            {
                **observed,
                "method": _choice(samplers, "All are exact."),
                "n": _whole(1, limits.samples, 25, "Draws."),
            }
        ),
        "marginals": _object(dict(observed)),
        "beam": _object({**observed, "width": _whole(1, limits.beam, 3, "Hypotheses kept.")}),
        "search": _object({**observed, "method": _choice(["refine", "paper"], "Which search to watch.")}),
        "tag": _object({"text": sentence}, ["text"]),
        "align": _object(
            {
                "source": sentence,
                "target": sentence,
                "method": _choice([m for m in ALIGN_METHODS if m != "hmm"], "How links are found."),
                "marginals": {
                    "type": ["string", "null"],
                    "enum": [*MARGINALS, None],
                    "default": None,
                    "description": "Link probabilities: of the chain alone, or shares of exact samples.",
                },
                "samples": _whole(1, limits.samples, 100, "Behind the probabilities."),
                "seed": observed["seed"],
            },
            ["source", "target"],
        ),
        "generate": _object(
            {
                "keywords": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1, "maxLength": 100},
                    "maxItems": limits.keywords,
                    "default": [],
                    "description": "Words or phrases that must occur, in any order.",
                },
                "length": {
                    "type": ["integer", "null"],
                    "minimum": 1,
                    "maximum": limits.generated_words,
                    "default": None,
                    "description": "Words of a sentence, exactly; null for any number up to max_length.",
                },
                "max_length": _whole(1, limits.generated_words, 20, "Most words of a sentence."),
                "n": _whole(1, limits.sentences, 5, "Sentences."),
                "method": _choice(
                    ["sample", "rescore", "best"], "Draws, the best of many draws, or the best."
                ),
                "seed": observed["seed"],
            }
        ),
    }
