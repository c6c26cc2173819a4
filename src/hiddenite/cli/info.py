"""hiddenite info: what a model file holds, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hiddenite.cli.common import Json, Quiet, json_line
from hiddenite.errors import OptionError
from hiddenite.options import MISSING, argument, option

if TYPE_CHECKING:
    from hiddenite.models import ModelInfo


@dataclass(frozen=True, kw_only=True)
class InfoOptions(Quiet, Json):
    """The options of info."""

    file: str = argument(MISSING, "Model file of any kind, or the folder of an induction.", "FILE")
    verify: bool = option(False, "Read all of a compiled model and compare its checksums.")


def info(options: InfoOptions) -> None:
    """Describe a model file of any kind: its sizes, its options, the text it was trained on.

    Kinds: n-gram models (ARPA or compiled), taggers, aligners, HMM language models, inductions, correctors,
    restorers.
    """
    from hiddenite.models import Model  # noqa: PLC0415  (it brings all tasks; `lm` has this command too)

    options.hush()
    found = Model.info(options.file, verify=options.verify)
    if options.verify and found.kind != "compiled n-gram model":
        why = "an ARPA file has no checksums" if found.checksums == "none" else "they are always compared"
        raise OptionError("verify", f"has no effect: {why}")
    print(json_line(found.to_dict()) if options.json else _text(found), end="")


def _text(found: ModelInfo) -> str:
    rows: dict[str, Any] = {"kind": found.kind, "file": f"{found.file}, {found.bytes:,} bytes"}
    if found.kind.endswith("n-gram model"):
        rows |= ngram_rows(found.sizes)
    else:
        rows |= {name.replace("_", " "): _size(value) for name, value in found.sizes.items()}
    rows |= {name.replace("_", " "): value for name, value in found.training.items()}
    rows["options"] = ", ".join(f"{name}={value}" for name, value in found.options.items()) or "not recorded"
    rows["checksums"] = found.checksums + (": --verify" if found.checksums == "not compared" else "")
    return "".join(f"{name:<16} {value}\n" for name, value in rows.items())


def _size(value: Any) -> str:
    """Return a number, yes or no, or an n-gram model inside another model, in one line."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {size}" for name, size in ngram_rows(value).items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}"


def ngram_rows(sizes: dict[str, Any]) -> dict[str, str]:
    """Return the sizes of an n-gram model as they are shown."""
    rows = {
        "order": str(sizes["order"]),
        "vocabulary": f"{sizes['vocabulary']:,} words, <unk>, <s> and </s> included",
    }
    rows |= {f"{n}-grams": f"{count:,}" for n, count in enumerate(sizes["ngrams"], 1)}
    rows["unknown words"] = "as <unk>" if sizes["unknown_words"] else "probability zero"
    rows["memory"] = f"{sizes['memory_bytes'] / 1e6:.1f} MB, {sizes['bytes_per_ngram']} bytes per n-gram"
    return rows


COMMANDS = {"info": (info, InfoOptions, "hiddenite info corpus.arpa.gz")}
