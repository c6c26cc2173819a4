"""Lattice files: read as their tools mean them, written and read again, refused with file and line."""

import copy
import gzip
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import FormatError, HiddeniteError, HiddeniteWarning, ModelError, OptionError
from hiddenite.lattice import Edge, Lattice, Scales, read_lattices, write_lattices
from hiddenite.lattice.drawing import draw_svg
from hiddenite.lattice.fst import read_symbols, scaled_weight
from hiddenite.lattice.lattice import Final
from hiddenite.lattice.srilm import mesh_lattice
from hiddenite.rescoring import LatticeWeights, Rescored
from tests.strategies import mutations

SLF = """VERSION=1.1
UTTERANCE=utt1
base=10 lmscale=2 wdpenalty=-1 acscale=0.5
N=4 L=5
I=0 t=0.00 W=!NULL
I=1 t=0.30
I=2 t=0.60
I=3 t=1.00
J=0 S=0 E=1 W=the a=-10 l=-1
J=1 S=0 E=1 W=a a=-11 l=-1.2
J=2 S=1 E=2 W=dog a=-20 l=-2 r=-0.5
J=3 S=1 E=3 W=!NULL
J=4 S=2 E=3 W="new york" a=-1
"""
KALDI = (
    "utt1\n0 1 the 1.5,10,3_3_4\n0 1 a 1,11,3_3\n1 2 dog 2,20,5_5\n2 0.5,0,\n\nutt2\n0 1 <eps> 0,0,\n1\n\n"
)
PFSG = (
    "name g\nnodes 5 NULL the dog NULL cat\ninitial 0\nfinal 3\ntransitions 4\n"
    "0 1 0\n1 2 -6931\n1 4 -6931\n2 3 -100\n"
)
MESH = "name m\nnumaligns 2\nposterior 1\nalign 0 the 0.75 *DELETE* 0.25\nalign 1 dog 1\n"


def read(tmp_path: Path, text: str | bytes, name: str = "file", **details: object) -> list[Lattice]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_lattices(path, **details))  # type: ignore[arg-type]


def paths(lattice: Lattice, node: int | None = None) -> Iterator[tuple[tuple[str, ...], float]]:
    """The words and the weight of every path, by the lattice's own scores."""
    node = lattice.start if node is None else node
    final = lattice.finals.get(node)
    if final is not None:
        yield (), lattice.scales.acoustic * final.acoustic + lattice.scales.language * final.language
    for edge in lattice.edges:
        if edge.start == node:
            for words, weight in paths(lattice, edge.end):
                yield (*edge.word.split(), *words), weight + scaled_weight(lattice, edge)


def law(lattice: Lattice, digits: int = 6) -> Counter[tuple[tuple[str, ...], float]]:
    return Counter((w, round(x, digits)) for w, x in paths(lattice) if x > -math.inf)


def test_slf_scores_have_their_base_and_scales(tmp_path: Path) -> None:
    (lattice,) = read(tmp_path, SLF)
    ten = math.log(10)
    assert lattice.id == "utt1"
    assert lattice.times == {0: 0.0, 1: 0.3, 2: 0.6, 3: 1.0}
    assert lattice.scales.language == 2.0
    assert lattice.scales.word_penalty == pytest.approx(-ten)
    weights = dict(paths(lattice))
    assert set(weights) == {("the",), ("a",), ("the", "dog", "new", "york"), ("a", "dog", "new", "york")}
    assert weights[("the",)] == pytest.approx(ten * (0.5 * -10 + 2 * -1 - 1))


def test_slf_words_on_nodes_belong_to_the_links_that_lead_there(tmp_path: Path) -> None:
    text = "VERSION=1.0\nN=4 L=4\nI=0 W=<s>\nI=1 W=a\nI=2 W=b\nI=3 W=</s>\n" + (
        "J=0 S=0 E=1 a=-1\nJ=1 S=0 E=2 a=-2\nJ=2 S=1 E=3 a=-3\nJ=3 S=2 E=3 a=-4\n"
    )
    (lattice,) = read(tmp_path, text)
    best = Rescored(lattice).best()
    assert (best.words, best.log_weight) == (("a",), -4.0)
    assert Counter(w for w, _ in paths(lattice)) == Counter([("<s>", "a", "</s>"), ("<s>", "b", "</s>")])


def test_a_word_may_begin_with_an_apostrophe(tmp_path: Path) -> None:
    (lattice,) = read(tmp_path, SLF.replace("W=dog", "W='cause"))
    assert "'cause" in {edge.word for edge in lattice.edges}


def test_compressed_files_are_read(tmp_path: Path) -> None:
    assert law(read(tmp_path, gzip.compress(SLF.encode()))[0]) == law(read(tmp_path, SLF)[0])


def test_kaldi_costs_and_frames(tmp_path: Path) -> None:
    first, second = read(tmp_path, KALDI, frame_seconds=0.02)
    assert (first.id, second.id) == ("utt1", "utt2")
    assert first.edges[0] == Edge(0, 1, "the", -10.0, -1.5, 0.0, "3_3_4")
    assert first.finals == {2: Final(0.0, -0.5)}
    assert first.times[1] == pytest.approx(0.06)
    assert list(paths(second)) == [((), 0.0)]


def test_kaldi_labels_need_their_symbols(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("<eps> 0\nthe 7\n", encoding="utf-8")
    symbols = read_symbols(tmp_path / "words.txt")
    (lattice,) = read(tmp_path, "u\n0 1 3 7 1,2\n1 2 4 0 0,0\n2 0,0\n\n", symbols=symbols)
    assert [edge.word for edge in lattice.edges] == ["the", ""]
    with pytest.raises(FormatError, match=r":2: found label 8"):
        read(tmp_path, "u\n0 1 8 1,2,\n1 0,0,\n\n", symbols=symbols)


def test_what_a_format_does_not_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a 1\n")
    symbols = read_symbols(tmp_path / "words.txt")
    slf = "VERSION=1.0\nN=2 L=1\nI=0\nI=1\nJ=0 S=0 E=1 W=a\n"
    with pytest.raises(OptionError, match="symbols has no effect"):
        read(tmp_path, slf, symbols=symbols)
    with pytest.raises(OptionError, match="frame_seconds has no effect"):
        read(tmp_path, slf, frame_seconds=0.02)


def test_lattices_are_compared_by_what_they_hold() -> None:
    edges = [(0, 1, "a", -1.0), (1, 2, "b", -2.0)]
    assert Lattice.from_edges(edges) == copy.deepcopy(Lattice.from_edges(edges))
    assert Lattice.from_edges(edges) != Lattice.from_edges(edges[:1])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Lattice.from_edges([(-1, 0, "a", -1.0)]),
        lambda: Rescored("lattice.slf"),  # type: ignore[arg-type]
        lambda: Rescored(Lattice.from_edges([(0, 1, "a", -1.0)]), "model.arpa"),  # type: ignore[arg-type]
        lambda: LatticeWeights(lm_weight="2"),  # type: ignore[arg-type]
        lambda: Rescored(Lattice.from_edges([(0, 1, "a", -1.0)])).kbest(2**64),
        lambda: Rescored(Lattice.from_edges([(0, 1, "a", -1.0)])).sample(1, seed=-1),
    ],
)
def test_what_is_no_lattice_model_or_weight_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(ModelError, match="expected"):
        wrong()


def test_openfst_labels_and_weights(tmp_path: Path) -> None:
    (acceptor,) = read(tmp_path, "0 1 the 0.5\n0 1 a 1.5\n1 2.25\n")
    assert law(acceptor) == Counter([(("the",), -2.75), (("a",), -3.75)])
    (transducer,) = read(tmp_path, "0 1 x the 0.5\n0 1 y <eps>\n1\n")
    assert law(transducer) == Counter([(("the",), -0.5), ((), 0.0)])
    with pytest.raises(FormatError, match="openfst-acceptor or openfst-transducer"):
        read(tmp_path, "0 1 5 7\n1\n")
    (told,) = read(tmp_path, "0 1 5 7\n1\n", format="openfst-acceptor")
    assert law(told) == Counter([(("5",), -7.0)])


def test_slf_has_long_names_of_fields(tmp_path: Path) -> None:
    (short,) = read(tmp_path, SLF)
    names = {"N": "NODES", "L": "LINKS", "S": "START", "E": "END", "W": "WORD"}
    names |= {"a": "acoustic", "l": "language", "t": "time"}
    text = SLF
    for old, new in names.items():
        text = re.sub(rf"\b{old}=", f"{new}=", text)
    (long,) = read(tmp_path, text)
    assert (long.edges, long.times, long.id) == (short.edges, short.times, short.id)
    with pytest.raises(FormatError, match=r":9: found W= twice"):
        read(tmp_path, SLF.replace("W=the", "W=the WORD=a"))


def test_pfsg_weights_are_intlogs(tmp_path: Path) -> None:
    (lattice,) = read(tmp_path, PFSG)
    assert law(lattice, 4) == Counter([(("the", "dog"), round(-7031 / 10000.5, 4))])


def test_meshes_have_slots_without_a_word(tmp_path: Path) -> None:
    (lattice,) = read(tmp_path, MESH)
    expected = [(("the", "dog"), round(math.log(0.75), 6)), (("dog",), round(math.log(0.25), 6))]
    assert law(lattice) == Counter(expected)


def test_lists_of_the_n_best(tmp_path: Path) -> None:
    (srilm,) = read(tmp_path, "-10 -2 2 the dog\n-11 -1 1 dogs\n", format="nbest")
    ten = math.log(10)
    expected = [(("the", "dog"), round(-12 * ten, 6)), (("dogs",), round(-12 * ten, 6))]
    assert law(srilm) == Counter(expected)
    first, second = read(tmp_path, "0 ||| a b ||| f= 1 ||| -1.5\n0 ||| a ||| ||| -2\n1 ||| c ||| ||| -3\n")
    assert law(first) == Counter([(("a", "b"), -1.5), (("a",), -2.0)])
    assert law(second) == Counter([(("c",), -3.0)])


def test_lists_of_the_decipher_recogniser_are_in_bytelogs(tmp_path: Path) -> None:
    bytelog = 1024 * math.log(1.0001)
    plain, again = read(tmp_path, "NBestList1.0\n(-100) the dog\n(-200) a\nNBestList1.0\n(-3) b\n")
    assert law(plain) == Counter(
        [(("the", "dog"), round(-100 * bytelog, 6)), (("a",), round(-200 * bytelog, 6))]
    )
    assert law(again) == Counter([(("b",), round(-3 * bytelog, 6))])
    timed = (
        "NBestList2.0\n(-99) the ( st: 0.0 et: 0.3 g: -10 a: -50 ) dh ( st: 0.0 et: 0.1 g: 0 a: -20 ) "
        "dog ( st: 0.3 et: 0.6 g: -9 a: -90 )\n"
    )
    (lattice,) = read(tmp_path, timed)
    (edge, _) = lattice.edges  # a phone within its word is no word
    assert (edge.acoustic, edge.language) == pytest.approx((-140 * bytelog, -19 * bytelog))


# ---------------------------------------------------------------- round trips

scores = st.floats(-1e4, 0).map(lambda x: round(x, 3))


@st.composite
def drawn_lattices(draw: st.DrawFn) -> Lattice:
    nodes = draw(st.integers(2, 6))
    words = st.sampled_from(["", "a", "b'c", "größe", "new"])
    spans = [(a, b) for b in range(1, nodes) for a in range(b)]
    edges = [Edge(i, i + 1, "w", -1.0) for i in range(nodes - 1)]
    edges += [
        Edge(a, b, draw(words), draw(scores), draw(scores))
        for a, b in draw(st.lists(st.sampled_from(spans), max_size=6))
    ]
    finals = {nodes - 1: Final()} | ({0: Final(-1.0, -2.0)} if draw(st.booleans()) else {})
    return Lattice(edges, finals, id="u", scales=draw(st.sampled_from([Scales(), Scales(0.5, 2, 1, -1)])))


@pytest.mark.parametrize("format", ["slf", "kaldi", "kaldi-compact", "openfst", "pfsg", "json"])
@given(lattice=drawn_lattices())
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, format: str, lattice: Lattice
) -> None:
    path = tmp_path_factory.getbasetemp() / f"lattice.{format}"
    path.write_text("".join(f"{line}\n" for line in write_lattices([lattice], format)), encoding="utf-8")
    (again,) = read_lattices(path, format if format != "openfst" else "openfst-acceptor")
    if format.startswith("kaldi"):  # which has no scales
        lattice = Lattice(lattice.edges, lattice.finals, lattice.start, lattice.id)
    digits = 2 if format == "pfsg" else 5
    assert sum(law(again, digits).values()) == sum(law(lattice, digits).values())
    for (words, weight), (others, other) in zip(
        sorted(paths(again), key=lambda p: (p[0], p[1])),
        sorted(paths(lattice), key=lambda p: (p[0], p[1])),
        strict=True,
    ):
        assert words == others
        assert weight == pytest.approx(other, abs=1e-3 if format == "pfsg" else 1e-6)


def test_a_mesh_is_written_and_read_again(tmp_path: Path) -> None:
    made = mesh_lattice([[("the", 0.75), ("", 0.25)], [("dog", 1.0)]], "m")
    (again,) = read(tmp_path, "".join(f"{line}\n" for line in write_lattices([made], "mesh")))
    assert law(again) == law(made)
    with pytest.raises(ModelError, match="no mesh"):
        list(
            write_lattices(
                [Lattice.from_edges([(0, 1, "a", 0.0), (1, 2, "b", 0.0), (0, 2, "c", 0.0)])], "mesh"
            )
        )


# -------------------------------------------------------------------- refusals

BAD = {
    "cycle": (SLF.replace("J=3 S=1 E=3 W=!NULL", "J=3 S=2 E=1 W=x"), r":12: the edges make a cycle|:11: "),
    "NaN": (SLF.replace("a=-20", "a=nan"), r":11: found a= 'nan', expected a number"),
    "infinity": (SLF.replace("a=-20", "a=inf"), r":11: found a= inf"),
    "cut short": (SLF[: SLF.index("J=3")], r":12: found 3 links, the line N= L= says 5; the file may be cut"),
    "no sizes": ("VERSION=1.0\nI=0\n", r": found no line N="),
    "a node too many": (SLF.replace("E=2 W=dog", "E=9 W=dog"), r":11: found node 9, the line N= L= says 4"),
    "twice": (SLF.replace("S=0 E=1 W=the", "S=0 S=0 E=1"), r":9: found S= twice"),
    "no path": ("name m\nnumaligns 1\nalign 0 a 0 b x\n", r":3: found the probability of b 'x'"),
    "half a slot": ("numaligns 1\nalign 0 a\n", r":2: expected pairs"),
    "a missing slot": ("numaligns 2\nalign 0 a 1\n", r"found no slot 1"),
    "kaldi cut short": (KALDI[:30], r"the file may be cut short"),
    "kaldi weight": ("u\n0 1 a x,1,\n1\n\n", r":2: found cost 'x'"),
    "kaldi cycle": ("u\n0 1 a 1,1,\n1 0 a 1,1,\n1 0,0,\n\n", r":[23]: the edges make a cycle"),
    "no way to the end": ("u\n0 1 a 1,1,\n2 0,0,\n\n", r":2: no path leads"),
    "fst columns": ("0 1 a b c d 0.1\n", r":1: found 7 columns"),
    "fst end": ("0 1 a 0.5\n", r"found no final state"),
    "pfsg node": (PFSG.replace("1 4 -6931", "1 9 -6931"), r":8: found node 9"),
    "pfsg cut short": (PFSG[: PFSG.index("2 3 -100")], r"cut short"),
    "json": ('{"lattice": [[0, 1, "a", NaN]]}\n', r":1: is no JSON"),
    "json edge": ('{"lattice": [[0, 1, "a"]]}\n', r":1: edge 1: expected"),
    "json cycle": ('{"lattice": [[0, 0, "a", 1]]}\n', r":1: the edges make a cycle"),
    "something else": ("once upon a time\n", r":1: the format is not clear"),
    "nothing": ("", r":1: the file is empty, expected a lattice"),
    "blank lines": ("\n\n", r":1: the file is empty, expected a lattice"),
    "decipher score": ("NBestList1.0\n-100 the\n", r":2: found '-100 the', expected \(score\)"),
    "decipher marks": ("NBestList2.0\n(-1) the ( st: 0\n", r":2: found 'the \( st: 0', expected word"),
    "huge node": ("0 99999999999999 a 0.5\n1\n", r":1: found node 99999999999999"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_one_line_with_their_place(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert caught.value.line is not None


def test_unknown_fields_are_named_once(tmp_path: Path) -> None:
    text = SLF.replace("W=dog", "W=dog zz=1").replace("W=the", "W=the zz=1")
    with pytest.warns(HiddeniteWarning, match=r":9: found the field zz=") as caught:
        read(tmp_path, text)
    assert len(caught) == 1


@given(data=st.data(), which=st.sampled_from([SLF, KALDI, PFSG, MESH, "0 1 a 0.5\n1 2 b 1\n2\n"]))
def test_damaged_files_never_crash(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, which: str
) -> None:
    damaged = data.draw(mutations(which.encode()))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(damaged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        message = ""
        try:
            for lattice in read_lattices(path):
                Rescored(lattice, max_states=1000).kbest(3)
        except HiddeniteError as error:
            message = str(error)
    assert "\n" not in message


def test_a_picture_is_drawn_of_small_lattices_only(tmp_path: Path) -> None:
    (lattice,) = read(tmp_path, KALDI.split("\n\n", maxsplit=1)[0] + "\n\n")
    picture = draw_svg(lattice, [0.5, 0.5, 1.0])
    assert picture.count("<path") == 3
    assert "dog 1.00" in picture
    many = Lattice.from_edges([(i, i + 1, "a", 0.0) for i in range(500)])
    with pytest.raises(ModelError, match="prune it first"):
        draw_svg(many)


def test_large_lattices_are_read_and_answered(tmp_path: Path) -> None:
    size = 20_000
    lines = [f"{i // 2} {i // 2 + 1} w{i % 7} {(i * 37) % 11 / 4}" for i in range(size)]
    (lattice,) = read(tmp_path, "\n".join([*lines, f"{size // 2}", ""]), format="openfst-acceptor")
    assert len(Rescored(lattice).best().words) == size // 2
