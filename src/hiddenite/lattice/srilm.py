"""SRILM's own formats: PFSGs (probabilistic finite-state grammars) and word meshes.

A PFSG has words on nodes and whole numbers on transitions, 10000.5 ln p. A word mesh has slots of words with
probabilities; ``*DELETE*`` is that of no word.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hiddenite.errors import ModelError
from hiddenite.lattice.fst import scaled_weight
from hiddenite.lattice.lattice import Edge, Final, Lattice
from hiddenite.lattice.slf import with_one_final
from hiddenite.lattice.source import Source, format_number, plain_word

INTLOG = 10000.5  # of a natural logarithm
LARGEST = 2**53 / INTLOG  # what a PFSG can say
LARGEST_LOG = 700.0  # of the numbers of a mesh: e^700 is a double
DELETE = "*DELETE*"
Mesh = Sequence[Sequence[tuple[str, float]]]  # [slot]: words and probabilities, "" being no word

# ------------------------------------------------------------------------ PFSG


def read_pfsg(source: Source) -> Iterator[Lattice]:
    """Read the grammars of a file."""
    section: dict[str, tuple[int, list[str]]] = {}
    edges: list[tuple[int, int, float]] = []
    left = 0
    for line, text in enumerate(source.lines, 1):
        fields = text.split()
        if not fields:
            continue
        if left:
            edges.append(_transition(source, line, fields, section))
            left -= 1
        elif fields[0] in ("name", "nodes", "initial", "final", "transitions"):
            section[fields[0]] = line, fields[1:]
            _check_section(source, line, fields, section)
            if fields[0] == "transitions":
                left = source.count(line, fields[1], "number of transitions")
        else:
            expected = "name, nodes, initial, final or transitions"
            raise source.error(line, f"found '{fields[0]:.40}', expected {expected}")
        if "transitions" in section and not left:
            yield _pfsg(source, line, section, edges)
            section, edges = {}, []
    if section:
        raise source.error(len(source.lines), "the grammar is incomplete; the file may be cut short")


def _check_section(
    source: Source, line: int, fields: list[str], section: dict[str, tuple[int, list[str]]]
) -> None:
    if len(fields) < 2:
        raise source.error(line, f"found '{fields[0]}' alone, expected its value")
    if fields[0] == "nodes" and source.count(line, fields[1], "number of nodes") != len(fields) - 2:
        raise source.error(line, f"found {len(fields) - 2:,} words, expected {fields[1]}: one for each node")
    if fields[0] in ("initial", "final", "transitions") and "nodes" not in section:
        raise source.error(line, f"found '{fields[0]}', expected the line of nodes before it")
    if fields[0] in ("initial", "final"):
        _node(source, line, fields[1], section)


def _node(source: Source, line: int, text: str, section: dict[str, tuple[int, list[str]]]) -> int:
    node, count = source.node(line, text), len(section["nodes"][1]) - 1
    if node >= count:
        raise source.error(line, f"found node {node}, expected one below {count:,}")
    return node


def _transition(
    source: Source, line: int, fields: list[str], section: dict[str, tuple[int, list[str]]]
) -> tuple[int, int, float]:
    if len(fields) != 3:
        raise source.error(line, f"found {len(fields)} columns, expected from, to and 10000.5 ln p")
    start, end = (_node(source, line, text, section) for text in fields[:2])
    return start, end, source.log_score(line, fields[2], "weight") / INTLOG


def _pfsg(
    source: Source,
    line: int,
    section: dict[str, tuple[int, list[str]]],
    edges: list[tuple[int, int, float]],
) -> Lattice:
    for name in ("nodes", "initial", "final"):
        if name not in section:
            raise source.error(line, f"the grammar has no '{name}', expected it before the transitions")
    words = [plain_word(word) for word in section["nodes"][1][1:]]
    start, end = int(section["initial"][1][0]), int(section["final"][1][0])
    made = [Edge(a, b, words[b], weight) for a, b, weight in edges]
    nodes = len(words)
    if words[start]:
        made.append(Edge(nodes, start, words[start]))
        start, nodes = nodes, nodes + 1
    title = " ".join(section["name"][1]) if "name" in section else None
    source.found(section["nodes"][0], list(range(line - len(edges) + 1, line + 1)))  # if no line is empty
    return Lattice(made, {end: Final()}, start, title, num_nodes=nodes)


def write_pfsg(lattice: Lattice) -> Iterator[str]:
    """Give the lines of a grammar; weights are rounded to 1/10000.5."""
    if list(lattice.finals.values()) != [Final()]:
        lattice = with_one_final(lattice)
    # A node for each pair of a node and the word that leads to it.
    place: dict[tuple[int, str], int] = {(lattice.start, ""): 0}
    for edge in lattice.edges:
        if len(edge.word.split()) > 1:
            raise ModelError(f"an edge has the words '{edge.word:.40}', expected one word; convert to slf")
        place.setdefault((edge.end, edge.word), len(place))
    of_node: dict[int, list[int]] = {}
    for (node, _), number in place.items():
        of_node.setdefault(node, []).append(number)
    (end,) = lattice.finals
    rows = []
    for edge in lattice.edges:
        weight = scaled_weight(lattice, edge)
        if abs(weight) > LARGEST and weight > -math.inf:
            raise ModelError(
                f"an edge weighs {weight:g}, more than a PFSG's whole numbers hold; convert to slf"
            )
        if weight > -math.inf:
            to = place[edge.end, edge.word]
            rows += [(number, to, round(weight * INTLOG)) for number in of_node.get(edge.start, ())]
    words = [word or "NULL" for _, word in place] + ["NULL"]
    last = len(place)
    rows += [(number, last, 0) for number in of_node.get(end, ())]
    yield f"name {'lattice' if lattice.id is None else lattice.id}"
    yield f"nodes {len(words)} {' '.join(words)}"
    yield "initial 0"
    yield f"final {last}"
    yield f"transitions {len(rows)}"
    yield from (f"{start} {to} {weight}" for start, to, weight in rows)
    yield ""


# --------------------------------------------------------------------- meshes

_MESH_LINES = ("reference", "hyps", "info", "time", "phones", "version", "acscale", "lmscale")


def read_mesh(source: Source) -> Iterator[Lattice]:
    """Read the meshes of a file; each begins with its name or its number of slots."""
    name: str | None = None
    slots: dict[int, list[tuple[str, float]]] = {}
    count: tuple[int, int] | None = None
    for line, text in enumerate(source.lines, 1):
        fields = text.split()
        if not fields or fields[0] in _MESH_LINES:
            continue
        if fields[0] in ("name", "numaligns") and count is not None:
            yield _mesh_lattice(source, line, name, count, slots)
            name, slots, count = None, {}, None
        if len(fields) < 2:
            raise source.error(line, f"found '{fields[0]:.40}' alone, expected its value")
        if fields[0] == "name":
            name = " ".join(fields[1:])
        elif fields[0] == "numaligns":
            count = line, source.count(line, fields[1], "number of slots")
        elif fields[0] == "align":
            slot = source.count(line, fields[1], "slot")
            if slot in slots:
                raise source.error(line, f"found slot {slot} again, expected each slot once")
            slots[slot] = _slot(source, line, fields[2:])
        elif fields[0] == "posterior":
            source.number(line, fields[1], "posterior")
        else:
            known = "name, numaligns, posterior, align, reference, hyps, info or time"
            raise source.error(line, f"found '{fields[0]:.40}', expected {known}")
    if count is None:
        raise source.error(len(source.lines), "found no line numaligns, expected a word mesh")
    yield _mesh_lattice(source, len(source.lines), name, count, slots)


def _slot(source: Source, line: int, fields: list[str]) -> list[tuple[str, float]]:
    if not fields or len(fields) % 2:
        raise source.error(line, "expected pairs of a word and its probability after the slot's number")
    words = []
    for word, text in zip(fields[::2], fields[1::2], strict=True):
        prob = source.number(line, text, f"the probability of {word:.40}")
        if not 0.0 <= prob < math.inf:
            raise source.error(line, f"found the probability {text} of {word:.40}, expected 0 or more")
        words.append((plain_word(word), prob))
    return words


def _mesh_lattice(
    source: Source,
    line: int,
    name: str | None,
    count: tuple[int, int],
    slots: dict[int, list[tuple[str, float]]],
) -> Lattice:
    missing = next((slot for slot in range(count[1]) if slot not in slots), None)
    if missing is not None or len(slots) != count[1]:
        found = f"found no slot {missing}" if missing is not None else f"found {len(slots):,} slots"
        message = f"{found}, the line numaligns says {count[1]:,}; the file may be cut short"
        raise source.error(count[0] if missing is None else line, message)
    source.found(count[0], [])
    return mesh_lattice([slots[i] for i in range(count[1])], name)


def mesh_lattice(mesh: Mesh, id: str | int | None = None) -> Lattice:
    """Return a mesh as a lattice: a node between two slots, an edge for each word."""
    edges = [
        Edge(i, i + 1, word, math.log(prob) if prob > 0 else -math.inf)
        for i, slot in enumerate(mesh)
        for word, prob in slot
    ]
    return Lattice(edges, {len(mesh): Final()}, id=id, num_nodes=len(mesh) + 1)


def write_mesh(mesh: Mesh, id: str | int | None = None) -> Iterator[str]:
    """Give the lines of a mesh; slots that have no word but ``*DELETE*`` are kept."""
    if id is not None:
        yield f"name {id}"
    yield f"numaligns {len(mesh)}"
    yield "posterior 1"
    for number, slot in enumerate(mesh):
        words = (f"{word or DELETE} {format_number(prob)}" for word, prob in slot)
        yield f"align {number} {' '.join(words)}"
    yield ""


def as_mesh(lattice: Lattice) -> list[list[tuple[str, float]]]:
    """Return a lattice whose nodes stand in a row as a mesh; ModelError for another one."""
    order = lattice.order()
    place = {node: number for number, node in enumerate(order)}
    slots: list[list[tuple[str, float]]] = [[] for _ in order[1:]]
    for edge in lattice.edges:
        if place[edge.end] != place[edge.start] + 1:
            raise ModelError("the lattice is no mesh: its nodes do not stand in a row; use `lattice mesh`")
        weight = scaled_weight(lattice, edge)
        if weight > LARGEST_LOG:
            raise ModelError(
                f"an edge weighs e^{weight:g}, more than a mesh's numbers hold; use `lattice mesh`"
            )
        slots[place[edge.start]].append((edge.word, math.exp(weight)))
    if list(lattice.finals.items()) != [(order[-1], Final())] or order[0] != lattice.start:
        raise ModelError("the lattice is no mesh: paths end before its last node; use `lattice mesh`")
    return slots
