"""hiddenite lattice decode: the best words of lattices, the k best, or those of the least expected errors."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from hiddenite.cli.common import Json, json_line
from hiddenite.cli.infer_output import decoded_text, kbest_text
from hiddenite.cli.lattice_options import TEMPERATURE_HELP, LatticeScores
from hiddenite.cli.weights import WEIGHTS
from hiddenite.consensus import least_errors
from hiddenite.errors import ModelError, OptionError
from hiddenite.lattice import Lattice
from hiddenite.lattice.nbest import write_nbest
from hiddenite.options import option
from hiddenite.rescoring import METHODS, Distinct, LatticeMethod, Rescored
from hiddenite.results import Failure
from hiddenite.searching import WATCHED


@dataclass(frozen=True, kw_only=True)
class DecodeOptions(LatticeScores, Json):
    """The options of lattice decode."""

    k: int | None = option(None, "The k best word sequences.", "-k", least=1, when={"objective": ("map",)})
    distinct: str = option(
        "max",
        "A word sequence weighs its best path (max) or the sum of its paths (sum); or list paths one by one.",
        choices=("max", "sum", "paths"),
        when={"objective": ("map",)},
    )
    objective: str = option(
        "map", "map: the most probable words; mbr: the least expected word errors.", choices=("map", "mbr")
    )
    method: str = option(
        "auto", "How the best is found; all give the same.", choices=METHODS, when={"objective": ("map",)}
    )
    budget: float | None = option(
        None,
        "Seconds per lattice; then the best so far and its gap.",
        least=0,
        when={"method": ("auto", "dominance", "refine", "paper")},
    )
    to: str = option(
        "text", "text; ctm: words with times; nbest: SRILM's list of the k best.",
        choices=("text", "ctm", "nbest"), when={"json": (False,)},
    )  # fmt: skip
    temperature: float | None = option(None, TEMPERATURE_HELP, least=1e-6, section=WEIGHTS)
    exact: bool = option(False, "Exit with status 3 if an answer is not certified.")

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what changes nothing."""
        super().check_effects(given)
        self._check_method()
        if "temperature" in given and self.objective == "map" and self.distinct != "sum":
            raise OptionError(
                "temperature", "has no effect on maxima; it needs --objective mbr or --distinct sum"
            )
        if "distinct" in given and self.distinct == "paths" and self.k is None:
            raise OptionError("distinct", "paths needs -k")
        if self.to == "nbest" and self.k is None:
            raise OptionError("to", "nbest needs -k")
        if self.to == "ctm" and (self.k is not None or self.objective == "mbr" or self.distinct == "sum"):
            raise OptionError("to", "ctm has the best path alone; leave out -k, --distinct and --objective")

    def _check_method(self) -> None:
        if self.method in WATCHED:
            if self.lm is None or self.mix_lm is not None:
                raise OptionError(
                    "method", f"{self.method} refines a bound of one model; it needs --lm without --mix-lm"
                )
            if self.distinct == "sum":
                raise OptionError("method", f"{self.method} finds paths, not sums of paths; leave out one")
        elif self.budget is not None and (self.k is not None or self.distinct == "sum"):
            raise OptionError("budget", "has no effect with -k or --distinct sum; it needs --method refine")

    def failed(self, lattice: Lattice, error: str) -> str:
        """Return an empty line, or an error object."""
        return json_line(Failure(error, None, lattice.id).to_dict()) if self.json else "\n"


def decode(options: DecodeOptions) -> int:
    """Find the best words of each lattice, with the proof that they are.

    With --lm the model takes the place of the recogniser's language scores. Edges without a word (!NULL,
    <eps>, *DELETE*), sentence ends and -pau- are not seen by the model; --transparent names more such words.
    With --objective mbr the answer's expected word errors have bounds.
    """
    rescore = options.scorer(cast(LatticeMethod, options.method), options.budget)
    uncertified = 0
    is_sum = options.objective == "mbr" or options.distinct == "sum"

    def make(lattice: Lattice, number: int) -> str:
        del number
        nonlocal uncertified
        scored = rescore(lattice, options.temperature if is_sum else 1.0)
        if options.to == "ctm":
            uncertified += not scored.best().certificate.exact
            return _ctm(scored)
        if options.objective == "mbr":
            answer = least_errors(scored, seconds=math.inf if options.budget is None else options.budget)
        elif options.k is None and options.distinct == "max":
            answer = scored.best()
        else:
            ranked = scored.kbest(options.k or 1, cast(Distinct, options.distinct))
            uncertified += not ranked.certificate.exact
            if options.to == "nbest":
                rows = [(h.words, h.log_weight, 0.0) for h in ranked]
                return "".join(f"{line}\n" for line in write_nbest(rows))
            if options.k is None:
                return json_line(ranked.to_dict()) if options.json else " ".join(ranked[0].words) + "\n"
            return json_line(ranked.to_dict()) if options.json else kbest_text(ranked) + "\n"
        uncertified += not answer.certificate.exact
        return json_line(answer.to_dict()) if options.json else decoded_text(answer) + "\n"

    status = options.write(make)
    return status or (3 if options.exact and uncertified else 0)


def _ctm(scored: Rescored) -> str:
    """Return lines of NIST's CTM: recording, channel, start, duration, word, posterior probability."""
    lattice = scored.lattice
    posterior = dict(zip(map(id, lattice.edges), scored.posteriors(), strict=True))
    lines = []
    for edge in scored.best_edges():
        words = [word for word in edge.word.split() if word in scored.words]
        if not words:
            continue
        if edge.start not in lattice.times or edge.end not in lattice.times:
            raise ModelError("the lattice has no times, which ctm needs; write text or json")
        begin, length = lattice.times[edge.start], lattice.times[edge.end] - lattice.times[edge.start]
        for i, word in enumerate(words):
            start = begin + i * length / len(words)
            prob = posterior[id(edge)]
            lines.append(f"{lattice.id} 1 {start:.3f} {length / len(words):.3f} {word} {prob:.4f}\n")
    return "".join(lines)
