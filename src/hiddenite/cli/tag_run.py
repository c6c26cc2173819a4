"""hiddenite tag run: tags of text, with the proof that they are the best."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import cast

from hiddenite._core import TaskKind
from hiddenite.cli.common import Json, Seed, json_line
from hiddenite.cli.progress import progress
from hiddenite.cli.proofs import Proofs, written_proofs
from hiddenite.errors import BudgetExceeded, HiddeniteError, HiddeniteWarning, OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes
from hiddenite.jobs.batch import AnswerBlock, Block, Outcome, run_batch
from hiddenite.jobs.model_cache import local_path
from hiddenite.options import MISSING, Options, argument, option
from hiddenite.proof import ProofWriter, header_of
from hiddenite.query import METHODS, Budget, MethodName, Query
from hiddenite.results import Failure, KBest, Marginals, Proof, Samples
from hiddenite.segments import Segmenter
from hiddenite.tag.answers import TagAnswer, Tagged
from hiddenite.tag.archive import model_column
from hiddenite.tag.formats import COLUMNS, FORMATS, FormatName, Record, format_of, read_records, write_record
from hiddenite.tag.plain_text import MANY, glued_words, read_plain_text
from hiddenite.tag.tagger import BATCH, Tagger

TOP_TAGS = 5  # of each word, in the marginals' text form
OBJECTIVES = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
_BEST_ONLY = {"marginals": (False,), "sample": (None,), "proof": (None,)}


@dataclass(frozen=True, kw_only=True)
class Model(Options):
    """A command that needs a tagger."""

    model: str = option(MISSING, "File that `tag train` wrote.", metavar="MODEL")


@dataclass(frozen=True, kw_only=True)
class RunOptions(Model, Proofs, Json, Seed):
    """The options of tag run."""

    text: str = argument("-", "Plain text, TSV or CoNLL-U; - is stdin.", "[TEXT]")
    k: int | None = option(
        None, "The k best tag sequences.", "-k", least=1, when={"objective": ("map",), **_BEST_ONLY}
    )
    marginals: bool = option(
        False,
        "Each tag's posterior probability at each word.",
        when={"objective": ("map",), "sample": (None,), "proof": (None,)},
    )
    sample: int | None = option(
        None, "Draw N tag sequences.", least=1, when={"objective": ("map",), "proof": (None,)}
    )
    objective: str = option(
        "map",
        "map: the most probable tags; mbr: the fewest expected wrong tags.",
        choices=tuple(OBJECTIVES),
        when={"proof": (None,)},
    )
    method: str = option("auto", "How the answer is found.", choices=tuple(METHODS))
    budget: float | None = option(None, "Seconds per sentence; then the best so far and its gap.", least=0)
    max_states: int | None = option(None, "States that the search may look at, per sentence.", least=1)
    exact: bool = option(False, "Exit with status 3 if an answer is not certified.")
    column: str = option("xpos", "CoNLL-U column of the tags.", choices=COLUMNS)
    raw_text: bool = option(
        False, "TEXT is running text of any script: find its words and sentences. Gives CoNLL-U."
    )
    format: str = option(
        "auto",
        "Of the input; auto goes by the file's name.",
        choices=FORMATS,
        when={"raw_text": (False,)},
    )
    to: str = option(
        "auto", "Of the output; auto is that of the input.", choices=FORMATS, when={"json": (False,)}
    )

    def query(self) -> Query:
        """Return what is asked of each sentence."""
        limits = Budget.of(self.budget)
        if self.max_states is not None:
            limits = dataclasses.replace(limits, states=self.max_states)
        query = Query(OBJECTIVES[self.objective], self.method, budget=limits)
        if self.k is not None:
            return dataclasses.replace(query, kind=TaskKind.KBEST, count=self.k)
        if self.marginals:
            return dataclasses.replace(query, kind=TaskKind.MARGINALS)
        if self.sample is not None:
            seed = self.choose_seed(self.seed)
            return dataclasses.replace(query, kind=TaskKind.SAMPLE, count=self.sample, seed=seed)
        return query

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse a seed without draws too."""
        super().check_effects(given)
        if "seed" in given and self.sample is None:
            raise OptionError("seed", "has no effect without --sample")


def check_model_column(model: str, column: str, formats: Collection[str]) -> None:
    """Refuse another CoNLL-U column than the one that the tagger was trained on."""
    trained = model_column(local_path(model)) if "conllu" in formats else None
    if trained is not None and trained != column:
        raise OptionError(
            "column", f"is {column}, but {model} was trained on {trained}; say --column {trained}"
        )


def run(options: RunOptions) -> int:
    """Tag text: the best tags of each sentence, with the proof that they are.

    Plain text has one sentence a line and gives a line of tags; TSV gives word TAB tag; of CoNLL-U the
    column is filled and all else passes as it is. With --json each line is an object with id, words, tags,
    log_weight and certificate. -k, --marginals and --sample give other answers, in the form of the commands
    decode -k, marginals and sample.
    """
    options.hush()
    query = options.query()
    query.task()  # a bad option is an error before the model is loaded
    source = _source(options)
    target = source if options.to == "auto" else cast(FormatName, options.to)
    check_model_column(options.model, options.column, {source, target})
    results = {"seed": query.seed, "format": source, "to": target}
    job = options.job("tag run", (options.model,), exact=options.exact, results=results)
    as_text = _json if options.json else functools.partial(_text, target=target, column=options.column)
    with (
        progress("tagging", file_bytes([options.text]), options.quiet) as report,
        ChunkReader(options.text, report) as reader,
        written_proofs(options.proof) as proofs,
    ):
        make = functools.partial(_answerer, options.model, query, as_text, proofs)
        return run_batch(job, reader.name, _blocks(_read(reader, source, options)), make)


def _source(options: RunOptions) -> FormatName:
    """Return the format of the input; running text is made into CoNLL-U."""
    if options.raw_text:
        return "conllu"
    return format_of(options.text, "plain") if options.format == "auto" else cast(FormatName, options.format)


def _read(reader: ChunkReader, source: FormatName, options: RunOptions) -> Iterator[Record]:
    """Give the sentences; warn where plain text has its punctuation glued to words."""
    if not options.raw_text and source != "plain":
        yield from read_records(reader, source, options.column)
        return
    known = frozenset(Tagger.load(local_path(options.model)).model.lexicon.words)
    if options.raw_text:
        yield from read_plain_text(reader, Segmenter(known))
        return
    records = read_records(reader, source, options.column)
    yield from warned_of_glue(records, known, reader.name, "say --raw-text if it is running text")


def warned_of_glue(
    records: Iterator[Record], known: frozenset[str], name: str, advice: str
) -> Iterator[Record]:
    """Give the sentences of plain text; warn first if punctuation is glued to words that are not known."""
    begin = list(itertools.islice(records, BATCH))
    glued = glued_words(begin, known)
    if len(glued) >= MANY:
        warnings.warn(
            f"{name}: {len(glued)} words of the first sentences end in punctuation,"
            f" as «{glued[0]}»; {advice}",
            HiddeniteWarning,
            stacklevel=1,
        )
    yield from itertools.chain(begin, records)


def _answerer(
    model: str,
    query: Query,
    as_text: Callable[[Record, TagAnswer | Failure], str],
    proofs: ProofWriter | None,
) -> AnswerBlock[list[Record]]:
    """Load the tagger; return what answers a block of sentences."""
    tagger = Tagger.load(local_path(model))
    if proofs is not None:
        proofs.begin(header_of(tagger.model.transitions))

    def answer(block: Block[list[Record]], threads: int) -> list[Outcome]:
        if proofs is not None:
            return _prove_block(tagger, query, as_text, proofs, block)
        answers = tagger.answer_many([record.words for record in block.item], query, threads, block.first)
        pairs = zip(block.item, answers, strict=True)
        return [_outcome(record, as_text, _or_fault(record, one)) for record, one in pairs]

    return answer


def _prove_block(
    tagger: Tagger,
    query: Query,
    as_text: Callable[[Record, TagAnswer | Failure], str],
    proofs: ProofWriter,
    block: Block[list[Record]],
) -> list[Outcome]:
    """Answer the sentences of a block one by one, each with its proof."""
    pairs = [_tag_with_proof(tagger, record, query) for record in block.item]
    proofs.add(
        block.first, [(record.id, proof) for record, (_, proof) in zip(block.item, pairs, strict=True)]
    )
    return [
        _outcome(record, as_text, answer)._replace(error=proof if isinstance(proof, str) else None)
        for record, (answer, proof) in zip(block.item, pairs, strict=True)
    ]


def _tag_with_proof(tagger: Tagger, record: Record, query: Query) -> tuple[Tagged | Failure, Proof | str]:
    """Return the answer and its proof, or why there is none."""
    if record.fault is not None:
        return Failure(record.fault), record.fault
    method = cast(MethodName, query.method)
    try:
        answer = tagger.tag(record.words, method=method, budget=query.budget, proof=True)
    except BudgetExceeded as error:
        return cast(Tagged, error.partial), f"no proof: {error}"
    except HiddeniteError as error:
        return Failure(str(error)), str(error)
    return answer, cast(Proof, answer.proof)


def _or_fault(record: Record, answer: TagAnswer | Failure) -> TagAnswer | Failure:
    """Return the answer, or why there is nothing to answer."""
    return answer if record.fault is None else Failure(record.fault)


def _outcome(
    record: Record, as_text: Callable[[Record, TagAnswer | Failure], str], answer: TagAnswer | Failure
) -> Outcome:
    error = answer.error if isinstance(answer, Failure) else None
    return Outcome(as_text(record, answer), record.line, error, _is_exact(answer))


def _blocks(records: Iterator[Record]) -> Iterator[Block[list[Record]]]:
    done = 0
    while batch := list(itertools.islice(records, BATCH)):
        read = "\0".join(record.fault or "\n".join(record.lines or record.words) for record in batch)
        yield Block(batch, done, len(batch), read.encode())
        done += len(batch)


def _is_exact(answer: TagAnswer | Failure) -> bool:
    match answer:
        case Tagged() | KBest():
            return answer.certificate.exact
        case Samples():
            return answer.exact
    return True


def _json(record: Record, answer: TagAnswer | Failure) -> str:
    return json_line(answer.to_dict() | {"id": record.id})


def _text(record: Record, answer: TagAnswer | Failure, target: FormatName, column: str) -> str:
    match answer:
        case Tagged():
            return write_record(record, answer.tags, target, column)
        case KBest():
            return "".join(f"{s.log_weight:.6f}\t{' '.join(s.tags)}\n" for s in answer) + "\n"
        case Samples():
            rows = (f"{s.count}\t{s.log_weight:.6f}\t{' '.join(s.tags)}\n" for s in answer.samples)
            return "".join(rows) + "\n"
        case Marginals():
            slots = (" ".join(f"{tag}:{prob:.4f}" for tag, prob in s[:TOP_TAGS]) for s in answer.slots)
            return "\t".join(slots) + "\n"
    return "\n"
