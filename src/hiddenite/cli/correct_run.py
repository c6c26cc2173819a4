"""hiddenite correct: documents in, documents out, every change with its probability."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from hiddenite.cli.common import Batch, Json, Seed, json_line
from hiddenite.cli.correct_model import Loader, ModelChoice
from hiddenite.cli.correct_output import FORMS, Answered, Form
from hiddenite.cli.progress import progress
from hiddenite.correct.answers import Correction
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.documents import Passage
from hiddenite.correct.formats import FORMATS, read_passages
from hiddenite.correct.tokens import Protect
from hiddenite.errors import OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes
from hiddenite.files.parquet import SUFFIX as PARQUET
from hiddenite.jobs.batch import AnswerBlock, Block, Outcome, run_batch
from hiddenite.options import argument, check_choice, option

BATCH = 256  # passages in a block
OUTPUT = "What is written"
PROTECTED = ("numbers", "urls", "addresses", "names", "tags", "code", "inner_capitals")
_ALONE = {"changes": (False,), "diff": (False,), "html": (False,)}


@dataclass(frozen=True, kw_only=True)
class CorrectOptions(ModelChoice, Json, Batch, Seed):
    """The options of correct."""

    file: str = argument("-", "Text, Markdown, hOCR, ALTO or PAGE XML, SRT or VTT; - is stdin.", "[FILE]")
    format: str = option("auto", "Of FILE; auto goes by content and name.", choices=FORMATS)
    paragraphs: bool = option(False, "Lines belong together up to an empty line: wrapped plain text.")
    min_probability: float | None = option(
        None, "Make only changes that are at least so probable.", least=0, most=1, when={"samples": (None,)}
    )
    careful: bool = option(
        False,
        "Make only changes that are almost certain.",
        when={"min_probability": (None,), "samples": (None,)},
    )
    unprotect: tuple[str, ...] = option(
        (), f"Change these too, of {', '.join(PROTECTED)}; may be repeated.", metavar="WHAT"
    )
    changes: bool = option(
        False,
        "A line a change: line:column, old, new, probability, alternatives.",
        section=OUTPUT,
        when={"json": (False,), "diff": (False,), "html": (False,)},
    )
    diff: bool = option(False, "A unified diff.", section=OUTPUT, when={"json": (False,), "html": (False,)})
    html: bool = option(
        False,
        "A page with the changes marked and the alternatives at hand.",
        section=OUTPUT,
        when={"json": (False,)},
    )
    samples: int | None = option(
        None,
        "N whole texts drawn from the posterior, of plain text.",
        least=1,
        most=1_000_000,
        section=OUTPUT,
        when=_ALONE,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.unprotect:
            check_choice("unprotect", name.replace("-", "_"), PROTECTED)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse a seed without draws, and forms that are no records in a table."""
        super().check_effects(given)
        if "seed" in given and self.samples is None:
            raise OptionError("seed", "has no effect without --samples")
        for name in ("diff", "html"):
            if getattr(self, name) and self.output.endswith(PARQUET):
                raise OptionError(name, "cannot be written as a table; give another --output")

    def protect(self) -> Protect:
        """Return what stays as it is."""
        return Protect(**{name.replace("-", "_"): False for name in self.unprotect})

    def form(self) -> str:
        """Return the name of what is written."""
        return next((name for name in ("changes", "diff", "html", "json") if getattr(self, name)), "text")


def correct(options: CorrectOptions) -> int:
    """Correct misspelt, misread or badly typed text: raw text in, raw text out.

    All comes out as it went in, byte for byte, except for the words that change. Each change has a
    probability, shown by --changes, --json and --html. Numbers, URLs, addresses, @names, #tags, code and
    words with inner capitals stay as they are. Without a model of your own, English is corrected by a default
    model that is built at first use, in a few seconds, from word frequencies and public-domain texts (extra
    "english").

    A line that is not UTF-8 stays as it is and gives a line on stderr; the others go on, and the exit status
    is 1.
    """
    options.hush()
    seed = options.choose_seed(options.seed) if options.samples is not None else 0
    load = options.prepare(options.quiet)
    job = options.job("correct", load.files(), results={"seed": seed})
    with (
        progress("correcting", file_bytes([options.file]), options.quiet) as report,
        ChunkReader(options.file, report, keeps_mark=True) as reader,
    ):
        form, passages = read_passages(reader, options.format, paragraphs=options.paragraphs)
        if form != "plain" and (options.samples is not None or options.paragraphs):
            name = "samples" if options.samples is not None else "paragraphs"
            raise OptionError(name, f"needs plain text; {reader.name} is {form}")
        make = functools.partial(_answerer, load, options, form, seed, reader.name)
        return run_batch(job, reader.name, _blocks(passages), make)


def _blocks(passages: Iterable[Passage]) -> Iterator[Block[list[Passage]]]:
    rest = iter(passages)
    done = 0
    while batch := list(itertools.islice(rest, BATCH)):
        source = "".join(one.raw for one in batch).encode(errors="surrogateescape")
        yield Block(batch, done, len(batch), source)
        done += len(batch)


def _answerer(
    load: Loader, options: CorrectOptions, form: str, seed: int, name: str
) -> AnswerBlock[list[Passage]]:
    """Load the corrector; return what answers a block of passages."""
    corrector = load()
    if options.samples is not None:
        return functools.partial(_draw, corrector, options, seed)
    write: Form = FORMS[options.form()]
    settings = {
        "min_probability": options.min_probability,
        "careful": options.careful,
        "protect": options.protect(),
    }
    label = form if options.json else name

    def answer(block: Block[list[Passage]], threads: int) -> list[Outcome]:
        sound = [one for one in block.item if one.fault is None]
        texts, seen = [one.text for one in sound], [one.seen() for one in sound]
        found = corrector.correct_many(texts, threads=threads, seen=seen, **settings)  # type: ignore[arg-type]
        corrections: list[Correction | None] = [
            None if one.fault is not None else next(found) for one in block.item
        ]
        pairs = zip(block.item, corrections, strict=True)
        answered = [Answered.of(passage, correction, form) for passage, correction in pairs]
        return write(answered, corrections, block.first, label)

    return answer


def _draw(
    corrector: Corrector, options: CorrectOptions, seed: int, block: Block[list[Passage]], threads: int
) -> list[Outcome]:
    """Return texts drawn from the posterior of each line; line l draws from a seed of its own."""
    del threads
    count = options.samples or 1
    outcomes = []
    for passage in block.item:
        raw = passage.raw.rstrip("\r\n")
        own_seed = ((seed << 32) + passage.line & 2**64 - 1) ^ seed >> 32
        draws = [] if passage.fault else corrector.sample(raw, count, own_seed, protect=options.protect())
        if options.json:
            record: dict[str, object] = {"id": passage.line, "error": passage.fault, "position": None}
            if passage.fault is None:
                samples = [{"text": text, "count": number} for text, number in draws]
                record = {"id": passage.line, "samples": samples, "count": count}
            written = json_line(record)
        else:
            written = "".join(f"{number}\t{text}\n" for text, number in draws) + "\n"
        outcomes.append(Outcome(written, passage.line, passage.fault))
    return outcomes
