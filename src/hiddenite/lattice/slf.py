"""HTK's Standard Lattice Format, versions 1.0 and 1.1, as HTK and SRILM write it.

A header (``base=``, ``lmscale=``, ``acscale=``, ``wdpenalty=``, ``N= L=``), then nodes ``I=0 t=0.00 W=word``
and links ``J=0 S=0 E=1 a=-12.3 l=-4.5 r=-0.1``. Words stand on links or on nodes; one on a node belongs to
the links that lead to it. ``base=`` is that of the logarithms, e if it is not given, and 0 where scores are
probabilities. The long names of fields (``NODES=``, ``START=``, ``acoustic=``) are read as the short ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from hiddenite.errors import ModelError
from hiddenite.lattice.lattice import Edge, Final, Lattice, Scales
from hiddenite.lattice.source import Source, format_number, plain_word

_SCALES = ("acscale", "lmscale", "prscale", "wdpenalty")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HEADER = _names(
    "VERSION U SUBLAT base lmname lmscale lminscale wdpenalty acscale amscale prscale tscale "
    "duscale vocab ngname hmms start end N L dir x1scale x2scale x3scale"
)
_NODE = _names("I t W v L s SUBLAT p n d a l r")
_LINK = _names("J S E W v d a n l r p s")
_SHORT = {
    "V": "VERSION", "UTTERANCE": "U", "NODES": "N", "nodes": "N", "LINKS": "L", "links": "L", "time": "t",
    "WORD": "W", "word": "W", "var": "v", "START": "S", "END": "E", "div": "d", "acoustic": "a",
    "ngram": "n", "language": "l", "posterior": "p",
}  # fmt: skip
_QUOTED = r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"""
_BARE = r"(?:[^\s\\]|\\.)+"  # pocketsphinx writes W='cause
_FIELD = re.compile(rf"\s*([A-Za-z_]\w*)=({_QUOTED}|{_BARE}|)(?=\s|\Z)")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
Fields = dict[str, str]


def read_slf(source: Source) -> Iterator[Lattice]:
    """Read the one lattice of a file."""
    yield _Reader(source).read()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.header: Fields = {}
        self.sizes: tuple[int, int] | None = None
        self.sizes_line = 0
        self.nodes: dict[int, Fields] = {}
        self.node_lines: dict[int, int] = {}
        self.links: list[tuple[int, Fields]] = []

    def read(self) -> Lattice:
        for line, text in enumerate(self.source.lines, 1):
            if text.strip() and not text.lstrip().startswith("#"):
                self._sort(line, self._fields(line, text))
        self._check_sizes()
        return self._lattice()

    def _fields(self, line: int, text: str) -> Fields:
        fields: Fields = {}
        at = 0
        text = text.rstrip()
        while at < len(text):
            found = _FIELD.match(text, at)
            if found is None:
                rest = text[at:].strip()
                raise self.source.error(line, f"found '{rest:.40}', expected fields such as S=0 or W=word")
            name, value = found.groups()
            name = _SHORT.get(name, name)
            if name in fields:
                raise self.source.error(line, f"found {name}= twice, expected it once")
            fields[name] = _unquoted(value)
            at = found.end()
        return fields

    def _sort(self, line: int, fields: Fields) -> None:
        if "I" in fields:
            self._check_known(line, fields, _NODE)
            node = self.source.node(line, fields["I"])
            if node in self.nodes:
                raise self.source.error(line, f"found node {node} again, expected each node once")
            self.nodes[node] = fields
            self.node_lines[node] = line
        elif "J" in fields or ("S" in fields and "E" in fields):
            self._check_known(line, fields, _LINK)
            for name in ("S", "E"):
                if name not in fields:
                    raise self.source.error(line, f"the link has no {name}=, expected S= and E=")
            self.links.append((line, fields))
        else:
            self._check_known(line, fields, _HEADER)
            self._head(line, fields)

    def _head(self, line: int, fields: Fields) -> None:
        if "SUBLAT" in fields:
            raise self.source.error(
                line, "found SUBLAT=, expected one plain lattice; expand sub-lattices with HTK"
            )
        nodes, links = fields.get("N"), fields.get("L")
        if nodes is not None and links is not None:
            self.sizes = self.source.count(line, nodes, "N="), self.source.count(line, links, "L=")
            self.sizes_line = line
            if self.sizes[0] > 1000 + 16 * len(self.source.lines):
                found = len(self.source.lines)
                raise self.source.error(line, f"found N={nodes:.40} nodes in a file of {found:,} lines")
        for name, value in fields.items():
            self.header[name] = value
            if name in (*_SCALES, "base"):
                self.source.finite(line, value, f"{name}=")
            if name in ("start", "end"):
                self.source.node(line, value)
            if name == "base" and float(value) < 0:
                raise self.source.error(line, f"found base={value}, expected 0 or a base above 1")

    def _check_known(self, line: int, fields: Fields, known: frozenset[str]) -> None:
        for name in fields:
            if name not in known and not re.fullmatch(r"x\d+(scale)?", name):
                message = f"found the field {name}=, which SLF does not have; it is not used"
                self.source.warn_once(line, name, message)

    def _check_sizes(self) -> None:
        last = len(self.source.lines)
        if self.sizes is None:
            if not self.links and not self.nodes:
                raise self.source.error(last, "found no node and no link, expected a lattice in HTK's SLF")
            raise self.source.error(last, "found no line N=... L=..., expected it before the nodes")
        for found, wanted, what in (
            (len(self.nodes), self.sizes[0], "nodes"),
            (len(self.links), self.sizes[1], "links"),
        ):
            # Nodes without a word and a time need no line.
            if (what == "links" or found > wanted) and found != wanted:
                hint = "; the file may be cut short" if found < wanted else ""
                place = last if found < wanted else self.sizes_line
                raise self.source.error(
                    place, f"found {found:,} {what}, the line N= L= says {wanted:,}{hint}"
                )

    # -------------------------------------------------------------- to lattice

    def _lattice(self) -> Lattice:
        assert self.sizes is not None
        on_nodes = {n: plain_word(f.get("W", "")) for n, f in self.nodes.items()}
        edges = [self._edge(line, fields, on_nodes) for line, fields in self.links]
        for node in self.nodes:
            if node >= self.sizes[0]:
                line = self.node_lines[node]
                raise self.source.error(
                    line, f"found node {node}, the line N= L= says {self.sizes[0]:,} nodes"
                )
        start = self._end_of("start", edges, {edge.end for edge in edges})
        end = self._end_of("end", edges, {edge.start for edge in edges})
        nodes = self.sizes[0]
        self.source.found(self.sizes_line, [line for line, _ in self.links])
        if on_nodes.get(start):  # a word before the first link
            edges.append(Edge(nodes, start, on_nodes[start]))
            start, nodes = nodes, nodes + 1
        times = {
            node: self.source.finite(self.node_lines[node], fields["t"], "t=")
            for node, fields in self.nodes.items()
            if "t" in fields
        }
        return Lattice(
            edges, {end: Final()}, start, self.header.get("U"), times,
            self._scales(), nodes,
        )  # fmt: skip

    def _edge(self, line: int, fields: Fields, on_nodes: dict[int, str]) -> Edge:
        assert self.sizes is not None
        start, end = (self.source.node(line, fields[name]) for name in ("S", "E"))
        for node in (start, end):
            if node >= self.sizes[0]:
                raise self.source.error(
                    line, f"found node {node}, the line N= L= says {self.sizes[0]:,} nodes"
                )
        word = plain_word(fields.get("W", ""))
        acoustic, language, pronunciation = (self._score(line, fields, name) for name in "alr")
        return Edge(start, end, word or on_nodes.get(end, ""), acoustic, language, pronunciation)

    def _score(self, line: int, fields: Fields, name: str) -> float:
        text = fields.get(name)
        if text is None:
            return 0.0
        value = self.source.log_score(line, text, f"{name}=")
        base = float(self.header.get("base", "0")) if "base" in self.header else math.e
        if base == 0.0:  # probabilities
            if not value >= 0.0:
                raise self.source.error(line, f"found {name}={text} with base=0, expected a probability")
            return math.log(value) if value > 0 else -math.inf
        if base == 1.0:
            raise self.source.error(
                line, "found base=1, which has no logarithms; expected 0 or a base above 1"
            )
        return value * math.log(base) if base != math.e else value

    def _scales(self) -> Scales:
        values = {name: float(self.header[name]) for name in _SCALES if name in self.header}
        base = float(self.header.get("base", "0"))
        penalty = values.get("wdpenalty", 0.0) * (math.log(base) if base > 0 and base != 1 else 1.0)
        return Scales(
            values.get("acscale", 1.0), values.get("lmscale", 1.0), values.get("prscale", 1.0), penalty
        )

    def _end_of(self, name: str, edges: Sequence[Edge], inside: set[int]) -> int:
        """Return the first or last node: named in the header, or the one nothing leads to or from."""
        assert self.sizes is not None
        if name in self.header:
            node = int(self.header[name])
            if node >= self.sizes[0]:
                message = f"found {name}={node}, the line N= L= says {self.sizes[0]:,} nodes"
                raise self.source.error(self.sizes_line, message)
            return node
        if not edges:
            if self.sizes[0] == 0:
                raise self.source.error(self.sizes_line, "found N=0, expected at least one node")
            return 0
        outside = sorted({edge.start if name == "start" else edge.end for edge in edges} - inside)
        if len(outside) == 1:
            return outside[0]
        if not outside:
            raise self.source.error(self.links[0][0], "the edges make a cycle, expected an acyclic graph")
        message = (
            f"nodes {', '.join(map(str, outside[:4]))} could all be the {name}; say {name}= in the header"
        )
        raise self.source.error(self.sizes_line, message)


def _unquoted(value: str) -> str:
    if value[:1] in ('"', "'") and len(value) > 1 and value[-1] == value[0]:
        value = value[1:-1]
    if "\\" not in value:
        return value
    octets = _ESCAPE.sub(lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else m[1], value)
    try:
        return octets.encode("latin-1").decode()  # \303\244 is one letter
    except (UnicodeEncodeError, UnicodeDecodeError):
        return octets


# ----------------------------------------------------------------------- write


def write_slf(lattice: Lattice) -> Iterator[str]:
    """Give the lines of a lattice, words on links, natural logarithms."""
    if list(lattice.finals.values()) != [Final()]:
        lattice = with_one_final(lattice)
    (end,) = lattice.finals
    yield "VERSION=1.1"
    if lattice.id is not None:
        yield f"UTTERANCE={quoted(str(lattice.id))}"
    scales = lattice.scales
    yield f"base={math.e!r}"
    yield f"acscale={format_number(scales.acoustic)} lmscale={format_number(scales.language)} " + (
        f"prscale={format_number(scales.pronunciation)} wdpenalty={format_number(scales.word_penalty)}"
    )
    yield f"start={lattice.start} end={end}"
    yield f"N={lattice.num_nodes} L={len(lattice.edges)}"
    for node in range(lattice.num_nodes):
        time = lattice.times.get(node)
        yield f"I={node}" + ("" if time is None else f" t={format_number(time)}")
    for number, edge in enumerate(lattice.edges):
        scores = "".join(
            f" {name}={format_number(value)}"
            for name, value in (("a", edge.acoustic), ("l", edge.language), ("r", edge.pronunciation))
        )
        yield f"J={number} S={edge.start} E={edge.end} W={quoted(edge.word or '!NULL')}{scores}"


def quoted(word: str) -> str:
    """Return a word as SLF has it."""
    if "\n" in word:
        raise ModelError(f"the word {word!r:.40} has a line break, which SLF cannot hold")
    if re.search(r"[\s\"'\\]", word) or not word:
        escaped = word.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return word


def with_one_final(lattice: Lattice) -> Lattice:
    """Return the same paths with one last node, which nothing leaves."""
    end = lattice.num_nodes
    edges = [
        *lattice.edges,
        *(Edge(node, end, "", final.acoustic, final.language) for node, final in lattice.finals.items()),
    ]
    times = dict(lattice.times)
    if lattice.finals and all(node in times for node in lattice.finals):
        times[end] = max(times[node] for node in lattice.finals)
    return Lattice(edges, {end: Final()}, lattice.start, lattice.id, times, lattice.scales, end + 1)
