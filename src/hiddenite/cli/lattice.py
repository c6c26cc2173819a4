"""hiddenite lattice: word lattices of recognisers, read, rescored, written in the formats of other tools."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass

from hiddenite.cli.command import command, group
from hiddenite.cli.common import Json, OnlyJson, json_line
from hiddenite.cli.lattice_decode import DecodeOptions, decode
from hiddenite.cli.lattice_options import LatticeInput, LatticeSums
from hiddenite.consensus import mesh
from hiddenite.errors import ModelError, OptionError
from hiddenite.lattice import Lattice, write_lattices
from hiddenite.lattice.drawing import draw_svg
from hiddenite.lattice.formats import WRITTEN
from hiddenite.lattice.srilm import write_mesh
from hiddenite.options import option
from hiddenite.records import json_number

app = group("Word lattices: rescore, prune, convert; confusion networks and posteriors.")

# -------------------------------------------------------------- convert, info


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(LatticeInput):
    """The options of lattice convert."""

    to: str = option("slf", "Format to write.", choices=WRITTEN)


@command(app, "convert", ConvertOptions, example="hiddenite lattice convert lattice.slf --to openfst")
def convert(options: ConvertOptions) -> int:
    """Write lattices in another format.

    slf and kaldi keep acoustic and language scores apart, the others add them up by the file's scales. slf
    and openfst hold one lattice a file; pfsg rounds weights to 1/10000; a mesh needs nodes in a row (`lattice
    mesh` makes such). Numbers of nodes may change.
    """
    options.hush()
    return options.write(_converter(options.to))


def _converter(to: str) -> Callable[[Lattice, int], str]:
    def make(lattice: Lattice, number: int) -> str:
        if number and to in ("slf", "openfst"):
            raise ModelError(f"{to} holds one lattice a file, found more; convert to kaldi or json")
        return "".join(f"{line}\n" for line in write_lattices([lattice], to))

    return make


@dataclass(frozen=True, kw_only=True)
class InfoOptions(LatticeInput, OnlyJson):
    """The options of lattice info."""


@command(app, "info", InfoOptions, example="hiddenite lattice info lattice.slf")
def info(options: InfoOptions) -> int:
    """Describe lattices as JSON: sizes, paths, words, scales, times."""

    def make(lattice: Lattice, number: int) -> str:
        del number
        words = {word for edge in lattice.edges for word in edge.word.split()}
        trimmed = lattice.trimmed()
        paths = trimmed.num_paths()
        record = {
            "id": lattice.id,
            "nodes": lattice.num_nodes,
            "edges": len(lattice.edges),
            "edges_on_paths": len(trimmed.edges),
            "edges_without_word": sum(not edge.word for edge in lattice.edges),
            "paths": paths if paths < 2**53 else float(paths) if paths < 10**300 else None,
            "words": len(words),
            "seconds": max(lattice.times.values(), default=None),
            "scales": dataclasses.asdict(lattice.scales),
        }
        return json_line(record)

    return options.write(make)


command(
    app,
    "decode",
    DecodeOptions,
    example="hiddenite lattice decode lattice.slf --lm corpus.arpa.gz --lm-weight 8",
)(decode)

# ---------------------------------------------------------- posteriors, mesh


@dataclass(frozen=True, kw_only=True)
class PosteriorsOptions(LatticeSums, OnlyJson):
    """The options of lattice posteriors."""

    min_probability: float = option(0.0, "Leave out edges of a lower probability.", least=0, most=1)


@command(
    app,
    "posteriors",
    PosteriorsOptions,
    example="hiddenite lattice posteriors lattice.slf --lm corpus.arpa.gz",
)
def posteriors(options: PosteriorsOptions) -> int:
    """Give the exact probability of each edge, one JSON object a lattice.

    {"id", "edges": [[from, to, word, probability], ...], "log_partition", "error_bound"}; log_partition is ln
    of the sum of the weights of all paths, and no probability is further than error_bound from the true one.
    """
    rescore = options.scorer()

    def make(lattice: Lattice, number: int) -> str:
        del number
        scored = rescore(lattice, options.temperature)
        rows = zip(lattice.edges, scored.posteriors(), strict=True)
        edges = [[e.start, e.end, e.word, prob] for e, prob in rows if prob >= options.min_probability]
        record = {
            "id": lattice.id,
            "edges": edges,
            "log_partition": json_number(scored.log_partition),
            "error_bound": scored.error_bound,
        }
        return json_line(record)

    return options.write(make)


@dataclass(frozen=True, kw_only=True)
class MeshOptions(LatticeSums, Json):
    """The options of lattice mesh."""

    min_probability: float = option(1e-6, "Words of a lower probability become no word.", least=0, most=1)


@command(app, "mesh", MeshOptions, example="hiddenite lattice mesh lattice.slf --lm corpus.arpa.gz")
def make_mesh(options: MeshOptions) -> int:
    """Make confusion networks: slots of words with their exact posterior probabilities.

    Along every path the slots ascend, so that a slot's probabilities are those of events that exclude each
    other; *DELETE* is no word there. Text is SRILM's format of word meshes.
    """
    rescore = options.scorer()

    def make(lattice: Lattice, number: int) -> str:
        del number
        made = mesh(rescore(lattice, options.temperature), min_probability=options.min_probability)
        return (
            json_line(made.to_dict())
            if options.json
            else "".join(f"{line}\n" for line in write_mesh(made.slots, made.id))
        )

    return options.write(make)


# ---------------------------------------------------------------- prune, plot


@dataclass(frozen=True, kw_only=True)
class PruneOptions(LatticeSums):
    """The options of lattice prune."""

    beam: float | None = option(
        None, "Keep edges whose best path weighs at most so much less than the best of all.", least=0
    )
    min_probability: float | None = option(None, "Keep edges at least so probable.", least=0, most=1)
    to: str = option("slf", "Format to write.", choices=WRITTEN)

    def check_effects(self, given: Collection[str]) -> None:
        """Require something to prune by."""
        super().check_effects(given)
        if self.beam is None and self.min_probability is None:
            raise OptionError("beam", "or --min-probability is needed: what is pruned")
        if "temperature" in given and self.min_probability is None:
            raise OptionError("temperature", "has no effect on --beam; it needs --min-probability")


@command(app, "prune", PruneOptions, example="hiddenite lattice prune lattice.slf --beam 10")
def prune(options: PruneOptions) -> int:
    """Leave out edges that hardly matter; the best path always stays.

    By the weight of the best path through an edge (--beam, in the weights of `lattice decode`), or by the
    edge's posterior probability (--min-probability), under the model or by the lattice's own scores.
    """
    rescore, write = options.scorer(), _converter(options.to)

    def make(lattice: Lattice, number: int) -> str:
        scored = rescore(lattice, 1.0)
        keep = set(map(id, scored.best_edges()))
        best = scored.best().log_weight
        through = scored.best_through()
        is_probable = options.min_probability is not None
        probs = rescore(lattice, options.temperature).posteriors() if is_probable else None
        for i, edge in enumerate(lattice.edges):
            wide = options.beam is None or through[i] >= best - options.beam
            probable = probs is None or probs[i] >= (options.min_probability or 0.0)
            if wide and probable and through[i] > float("-inf"):
                keep.add(id(edge))
        pruned = lattice.with_edges([edge for edge in lattice.edges if id(edge) in keep])
        return write(pruned.trimmed(), number)

    return options.write(make)


@dataclass(frozen=True, kw_only=True)
class PlotOptions(LatticeSums):
    """The options of lattice plot."""


@command(app, "plot", PlotOptions, example="hiddenite lattice plot lattice.slf --output lattice.svg")
def plot(options: PlotOptions) -> int:
    """Draw a small lattice as SVG, with the posterior probabilities of its edges."""
    rescore = options.scorer()

    def make(lattice: Lattice, number: int) -> str:
        if number:
            raise ModelError("a picture shows one lattice, found more; choose one")
        trimmed = lattice.trimmed()
        return draw_svg(trimmed, rescore(trimmed, options.temperature).posteriors())

    return options.write(make)
