"""Files of counts: what a text has, written and read again, and what is wrong with some."""

import contextlib
import gzip
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import FormatError, ModelError, NgramModel
from hiddenite.files.count_folder import CountFolder
from hiddenite.ngram_training import SMOOTHINGS, TrainingOptions
from tests.models import save, train, without_warnings
from tests.oracle import BOS, EOS, Ngram, Sentence
from tests.strategies import corpora, examples, mutations


def counts_of(texts: Sequence[Sentence], order: int, **options: object) -> bytes:
    """The file of a text."""
    trainer = TrainingOptions(order=order, **options).trainer()  # type: ignore[arg-type]
    chunks = iter([" ".join(text).encode() + b"\n" for text in texts])
    trainer.add(lambda: next(chunks, b""), "text")
    parts: list[bytes] = []
    trainer.finish_counts(parts.append)
    return b"".join(parts)


def counted(texts: Sequence[Sentence], order: int) -> dict[Ngram, int]:
    """How often each n-gram occurs, <s> once a sentence."""
    found: Counter[Ngram] = Counter()
    for text in texts:
        tokens = (BOS, *text, EOS)
        for n in range(1, order + 1):
            found.update(tokens[i : i + n] for i in range(len(tokens) - n + 1))
    return dict(found)


def parsed(file: bytes) -> dict[Ngram, int]:
    rows = [line.split("\t") for line in file.decode().splitlines()]
    assert len({ngram for ngram, _ in rows}) == len(rows)
    return {tuple(ngram.split(" ")): int(count) for ngram, count in rows}


def model_of(path: Path, order: int, **options: object) -> bytes:
    with without_warnings():
        return save(NgramModel.train_counts(path, TrainingOptions(order=order, **options)))  # type: ignore[arg-type]


@given(corpora(), st.integers(1, 5))
def test_counts_are_those_of_the_text(texts: list[Sentence], order: int) -> None:
    assert parsed(counts_of(texts, order)) == counted(texts, order)


@pytest.mark.parametrize("smoothing", list(SMOOTHINGS))
@examples(0.3)
@given(
    texts=corpora(),
    order=st.integers(1, 5),
    prune=st.sampled_from([(), (0, 0, 1)]),
    limits=st.sampled_from([{}, {"unknown_below": 2}, {"vocabulary": ["a", "b", "unseen"]}]),
)
def test_a_model_of_the_counts_is_that_of_the_text(
    smoothing: str,
    texts: list[Sentence],
    order: int,
    prune: tuple[int, ...],
    limits: dict[str, object],
) -> None:
    path = Path(tempfile.mkdtemp()) / "counts"
    path.write_bytes(counts_of(texts, order))
    options = {"smoothing": smoothing, "prune": prune, **limits}
    assert model_of(path, order, **options) == save(train(texts, order, **options))


def test_a_lower_order_of_the_same_file(tmp_path: Path) -> None:
    texts = [["a", "b", "a"], ["b", "b"], ["a"]]
    path = tmp_path / "counts"
    path.write_bytes(counts_of(texts, 4))
    assert model_of(path, 2) == save(train(texts, 2))


def test_counts_without_rare_ngrams(tmp_path: Path) -> None:
    """Google's counts leave out what is rare: words keep their counts, Kneser-Ney refuses."""
    texts = [["a", "b", "a"], ["a", "b"], ["b", "c", "a"]]
    path = tmp_path / "counts"
    rows = counted(texts, 2)
    kept = {g: c for g, c in rows.items() if len(g) == 1 or c > 1}
    path.write_text("".join(f"{' '.join(g)}\t{c}\n" for g, c in kept.items()))
    with without_warnings():
        model = NgramModel.train_counts(path, TrainingOptions(order=2, smoothing="witten-bell"))
    tokens = sum(c for g, c in rows.items() if len(g) == 1 and g != (BOS,))
    types = len({g for g in rows if len(g) == 1} - {(BOS,)})
    expected = (rows["b",] + types / (types + 1)) / (tokens + types)  # <unk> is one more word
    assert model.log_prob("b") == pytest.approx(math.log(expected), abs=1e-6)
    with pytest.raises(
        FormatError, match=r"counts:\d+: found .*Kneser-Ney needs complete counts of the order"
    ):
        NgramModel.train_counts(path, TrainingOptions(order=2))


def test_folders_as_google_has_them(tmp_path: Path) -> None:
    texts = [["a", "b", "a"], ["b", "b"], ["a"]]
    lines = counts_of(texts, 2).decode().replace("<s>", "<S>").replace("</s>", "</S>").splitlines()
    (tmp_path / "1gms").mkdir()
    (tmp_path / "2gms").mkdir()
    words = "".join(f"{line}\n" for line in lines if " " not in line)
    pairs = [f"{line}\n" for line in lines if " " in line]
    for name in ("vocab.gz", "vocab_cs.gz"):
        (tmp_path / "1gms" / name).write_bytes(gzip.compress(words.encode()))
    (tmp_path / "2gms" / "2gm-0000").write_text("".join(pairs[:2]))
    (tmp_path / "2gms" / "2gm-0001").write_text("".join(pairs[2:]))
    (tmp_path / "2gms" / "2gm.idx").write_text("not counts")
    assert model_of(tmp_path, 2) == save(train(texts, 2))


@given(texts=corpora(), order=st.integers(1, 3), lines=st.integers(1, 4))
def test_folders_as_google_has_them_are_written_and_read(
    tmp_path_factory: pytest.TempPathFactory, texts: Sequence[Sentence], order: int, lines: int
) -> None:
    path = tmp_path_factory.mktemp("google") / "counts"
    counts = counts_of(texts, order)
    with CountFolder(str(path), lines) as folder:
        for place in range(0, len(counts), 7):
            folder.write(counts[place : place + 7])
    assert sorted(file.name for file in path.iterdir()) == [f"{n}gms" for n in range(1, order + 1)]
    found: Counter[Ngram] = Counter()
    for file in path.glob("*/*.gz"):
        rows = gzip.decompress(file.read_bytes()).decode().splitlines()
        assert [row.split("\t")[0].encode() for row in rows] == sorted(
            row.split("\t")[0].encode() for row in rows
        )
        assert file.name == "vocab.gz" or len(rows) <= lines
        for row in rows:
            ngram, count = row.split("\t")
            names = {"<S>": BOS, "</S>": EOS, "<UNK>": "<unk>"}
            found[tuple(names.get(word, word) for word in ngram.split(" "))] = int(count)
    assert found == counted(texts, order)
    with pytest.raises(FormatError, match="is there already"), CountFolder(str(path)):
        pass


def test_a_folder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with CountFolder(str(tmp_path / "counts")) as folder:
            folder.write(b"a\t1\n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_counts(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a folder without counts, expected files in 1gms"):
        NgramModel.train_counts(tmp_path, TrainingOptions())


WHOLE = "<s>\t1\n</s>\t1\na\t2\n<s> a\t1\na a\t1\na </s>\t1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "counts: holds no counts, expected lines of n-gram TAB count"),
        (WHOLE + "a b\n", "counts:7: found 'b' at the end, expected an n-gram, a tab and a whole number"),
        (WHOLE + "7\n", "counts:7: found '7' at the end"),
        (WHOLE + "a a\t1.5\n", "counts:7: found '1.5' at the end"),
        (WHOLE + "a a\t-1\n", "counts:7: found '-1' at the end"),
        (WHOLE + "a a\t1\n", "counts:7: found 'a a' again; each n-gram may appear once"),
        (WHOLE + "a <s>\t1\n", "counts:7: found <s> within an n-gram"),
        (WHOLE + "</s> a\t1\n", "counts:7: found </s> within an n-gram"),
        (WHOLE + "b a\t1\n", "counts:7: found 'b a' without a count of its first 1 words"),
        (WHOLE + "a b\t1\n", "counts:7: found 'a b' without a count of its last 1 words"),
        (
            WHOLE.replace("a\t2", "a\t1", 1),
            "counts:3: found 1 of 'a', but the n-grams of 2 words that end in it",
        ),
        (WHOLE.replace("a\t2", "a\t3", 1), "counts:3: found 3 of 'a', but only 2 of the n-grams of 2 words"),
        (WHOLE + "\xff\t1\n", "counts:7: column 1: found a byte that is not UTF-8"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "counts"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError) as error:
        NgramModel.train_counts(path, TrainingOptions(order=2))
    assert message in str(error.value)


def test_counts_without_sentences(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    path.write_text("a\t2\n")
    with pytest.raises(ModelError, match="the counts have no </s>"):
        NgramModel.train_counts(path, TrainingOptions(order=1))


@given(st.data())
def test_damaged_files_never_crash(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    file = data.draw(mutations(data.draw(mutations(WHOLE.encode()))))
    path = tmp_path_factory.mktemp("counts") / "counts"
    path.write_bytes(file)
    smoothing = data.draw(st.sampled_from(list(SMOOTHINGS)))
    with contextlib.suppress(FormatError, ModelError):
        model_of(path, 2, smoothing=smoothing)
