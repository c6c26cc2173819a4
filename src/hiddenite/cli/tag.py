"""hiddenite tag: train, run and score part-of-speech taggers."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, cast

import typer

from hiddenite._core import TaskKind
from hiddenite.cli.batch import (
    Block,
    Job,
    OnError,
    Outcome,
    Ray,
    Resume,
    choose_seed,
    file_state,
    run_batch,
)
from hiddenite.cli.common import AsJson, Output, Quiet, Threads, byte_progress, hush, json_line
from hiddenite.cli.proofs import ProofOption, check_proof_options, written_proofs
from hiddenite.copies import here
from hiddenite.corpus import ChunkReader, atomic_output, file_bytes
from hiddenite.errors import BudgetExceeded, FormatError, HiddeniteError
from hiddenite.inference import METHODS, Budget, MethodName, Query
from hiddenite.proof import ProofWriter, header_of
from hiddenite.results import Failure, Proof
from hiddenite.tag.answers import TagAnswer, Tagged, TagKBest, TagMarginals, TagSamples
from hiddenite.tag.evaluation import plot_reliability, score
from hiddenite.tag.formats import (
    COLUMNS,
    FORMATS,
    FormatName,
    Record,
    TaggedSentence,
    format_of,
    read_records,
    read_tagged,
    write_record,
)
from hiddenite.tag.tagger import BATCH, GUESSERS, MAX_ORDER, OrderTrial, Tagger, TaggerOptions, kind_of
from hiddenite.tag.transitions import TRANSITIONS

app = typer.Typer(help="Part-of-speech tagging.", no_args_is_help=True)

TOP_TAGS = 5  # of each word, in the marginals' text form
AUTO_ORDERS = range(2, 7)

Model = Annotated[str, typer.Option("--model", metavar="MODEL", help="File that `tag train` wrote.")]
Column = Annotated[
    str, typer.Option("--column", help="CoNLL-U column of the tags: upos or xpos.", metavar="upos|xpos")
]
Format = Annotated[
    str,
    typer.Option("--format", help=f"One of {', '.join(FORMATS)}; auto goes by the file's name."),
]


def _choice(found: str, known: Iterable[str], option: str) -> Any:
    """Return what was found if it is one of the known; a usage error otherwise."""
    names = list(known)
    if found not in names:
        raise typer.BadParameter(f"found '{found}', expected {', '.join(names)}", param_hint=option)
    return found


# ---------------------------------------------------------------------- train


@app.command(
    "train", epilog="Example: hiddenite tag train train.conllu --column xpos --output english.tagger"
)
def train(
    tagged: Annotated[
        list[str],
        typer.Argument(metavar="TAGGED", help="word TAB tag, empty lines between sentences; or CoNLL-U."),
    ],
    *,
    output: Output,
    order: Annotated[
        str, typer.Option(metavar="N|auto", help="Longest n-grams of tags, 1 to 9; auto: by held-out text.")
    ] = "3",
    column: Column = "xpos",
    format: Format = "auto",
    recipe: Annotated[
        str, typer.Option(help="What the other options are by default: best, or tnt (Brants 2000).")
    ] = "best",
    transitions: Annotated[str | None, typer.Option(help=f"{' or '.join(TRANSITIONS)}.")] = None,
    lexicalize: Annotated[
        int | None, typer.Option(min=0, help="So many frequent words are seen by the transitions.")
    ] = None,
    guesser: Annotated[str | None, typer.Option(help=f"Of unseen words: {' or '.join(GUESSERS)}.")] = None,
    rare: Annotated[
        int | None, typer.Option(min=1, help="It learns from words seen at most so often.")
    ] = None,
    guess_weight: Annotated[
        float | None, typer.Option(min=0.0, help="Observations that the guess is worth for a seen word.")
    ] = None,
    floor: Annotated[
        float | None, typer.Option(min=0.0, help="Leave out a word's tags below this share of its best.")
    ] = None,
    suffix_length: Annotated[int | None, typer.Option(min=0, help="suffix: longest ending.")] = None,
    shapes: Annotated[
        bool | None, typer.Option("--shapes", help="suffix: keep digits and hyphens apart too.")
    ] = None,
    theta: Annotated[
        float | None, typer.Option(min=0.0, help="suffix: weight of the shorter ending.")
    ] = None,
    tag_dictionary: Annotated[
        bool | None, typer.Option("--tag-dictionary", help="A seen word has no other tags than it had.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="log-linear: order of the examples.")] = None,
    quiet: Quiet = False,
) -> None:
    """Train a tagger from tagged text.

    With --order auto the orders 2 to 6 are tried on a held-out tenth of the text; each one's accuracy and
    seconds are shown on stderr, and the best is trained on all of it.
    """
    hush(quiet)
    _choice(column, COLUMNS, "--column")
    _choice(format, FORMATS, "--format")
    changes = {
        "transitions": transitions,
        "lexicalize": lexicalize,
        "guesser": guesser,
        "rare": rare,
        "guess_weight": guess_weight,
        "floor": floor,
        "suffix_length": suffix_length,
        "shapes": shapes,
        "theta": theta,
        "tag_dictionary": tag_dictionary,
        "seed": seed,
    }
    chosen = {name: value for name, value in changes.items() if value is not None}
    recipes = {"best": TaggerOptions(), "tnt": TaggerOptions.tnt()}
    start = recipes[_choice(recipe, recipes, "--recipe")]
    try:
        options = dataclasses.replace(start, order=_fixed_order(order), **chosen)  # type: ignore[arg-type]
    except HiddeniteError as error:
        raise typer.BadParameter(str(error)) from None
    sentences = list(_read_all(tagged, format, column, quiet))
    if order == "auto":
        tagger = Tagger.choose_order(sentences, options, AUTO_ORDERS, None if quiet else _show_trial)
        if not quiet:
            print(f"hiddenite: order {tagger.order} is chosen", file=sys.stderr)
    else:
        tagger = Tagger.train_with(sentences, options)
    tagger.save(output)


def _fixed_order(order: str) -> int:
    """Return the order, a valid one if it is still to be chosen."""
    if order == "auto":
        return AUTO_ORDERS[-1]
    if not order.isdecimal() or not 1 <= int(order) <= MAX_ORDER:
        raise typer.BadParameter(f"found '{order}', expected 1 to {MAX_ORDER} or auto", param_hint="--order")
    return int(order)


def _show_trial(trial: OrderTrial) -> None:
    print(
        f"hiddenite: order {trial.order}: {100 * trial.accuracy:.2f} % of the held-out words, "
        f"{trial.seconds:.1f} s",
        file=sys.stderr,
    )


def _read_all(paths: list[str], file_format: str, column: str, quiet: bool) -> Iterator[TaggedSentence]:
    """Give the sentences of all files; an error if there is no word at all."""
    empty = True
    done = 0
    with byte_progress("reading", file_bytes(paths), quiet) as report:
        for path in paths:
            last = 0

            def told(bytes_read: int, before: int = done) -> None:
                nonlocal last
                last = bytes_read
                report(before + bytes_read)

            for record in read_tagged(path, file_format, column, told):  # type: ignore[arg-type]
                if record.words:
                    empty = False
                    yield record.pairs()
            done += last
    if empty:
        raise FormatError(", ".join(paths), None, "holds no tagged word, expected word TAB tag or CoNLL-U")


# ------------------------------------------------------------------------ run


@app.command("run", epilog="Example: echo 'The dog barks .' | hiddenite tag run --model english.tagger")
def run(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="Plain text, TSV or CoNLL-U; - is stdin.")
    ] = "-",
    *,
    model: Model,
    k: Annotated[int | None, typer.Option("-k", min=1, help="The k best tag sequences.")] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Each tag's posterior probability at each word.")
    ] = False,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Draw N tag sequences.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of --sample; drawn and shown if not given.")
    ] = None,
    objective: Annotated[
        str, typer.Option(help="map: the most probable tags; mbr: the fewest expected wrong tags.")
    ] = "map",
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = "auto",
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0.0, help="Seconds per sentence; then the best so far and its gap."),
    ] = None,
    max_states: Annotated[int | None, typer.Option("--max-states", min=1, help="The same in states.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exit 3 if an answer is not certified.")] = False,
    proof: ProofOption = None,
    column: Column = "xpos",
    format: Format = "auto",
    to: Annotated[
        str, typer.Option("--to", help=f"Output format: {', '.join(FORMATS)}; auto is that of the input.")
    ] = "auto",
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "record",
    ray: Ray = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tag text: the best tags of each sentence, with the proof that they are.

    Plain text has one sentence a line and gives a line of tags; TSV gives word TAB tag; of CoNLL-U the
    column is filled and all else passes as it is. With --json each line is an object with id, words, tags,
    log_weight and certificate. -k, --marginals and --sample give other answers, in the form of the commands
    decode -k, marginals and sample.
    """
    hush(quiet)
    _choice(column, COLUMNS, "--column")
    source: FormatName = _choice(format, FORMATS, "--format")
    target: FormatName = _choice(to, FORMATS, "--to")
    if source == "auto":
        source = format_of(text, "plain")
    if target == "auto":
        target = source
    limits = Budget.of(budget)
    if max_states is not None:
        limits = dataclasses.replace(limits, states=max_states)
    chosen = choose_seed(seed, quiet, output, resume) if sample is not None else 0
    start = Query(kind_of(_choice(objective, ("map", "mbr"), "--objective")), method, budget=limits)
    query = _query(start, k=k, marginals=marginals, sample=sample, seed=chosen)
    query.task()  # a bad option is told before the model is loaded
    check_proof_options(proof, query, resume=resume, ray=ray)
    options = {"model": file_state(model), "seed": chosen, "json": json, "query": query}
    formats = {"format": source, "to": target, "column": column}
    cluster = {"ray": ray, "processes": threads, "files": (model,)}
    job = Job("tag run", {**options, **formats}, output, resume, on_error, exact, **cluster)  # type: ignore[arg-type]
    as_text = _json if json else functools.partial(_text, target=target, column=column)
    with (
        byte_progress("tagging", file_bytes([text]), quiet) as report,
        ChunkReader(text, report) as reader,
        written_proofs(proof) as proofs,
    ):
        make = functools.partial(_answerer, model, query, as_text, threads if ray is None else 1, proofs)
        run_batch(job, reader.name, _blocks(read_records(reader, source, column)), make)


def _answerer(
    model: str,
    query: Query,
    as_text: Callable[[Record, TagAnswer | Failure], str],
    threads: int,
    proofs: ProofWriter | None,
) -> Callable[[Block[list[Record]]], list[Outcome]]:
    """Load the tagger; return what answers a block of sentences."""
    tagger = Tagger.load(here(model))
    if proofs is not None:
        proofs.begin(header_of(tagger.model.transitions))
        return functools.partial(_prove_block, tagger, query, as_text, proofs)

    def answer(block: Block[list[Record]]) -> list[Outcome]:
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


def _query(start: Query, *, k: int | None, marginals: bool, sample: int | None, seed: int) -> Query:
    """Return what the options ask; a usage error if they ask two things at once."""
    asked = [name for name, given in (("-k", k), ("--marginals", marginals), ("--sample", sample)) if given]
    if start.kind == TaskKind.MBR:
        asked.append("--objective mbr")
    if len(asked) > 1:
        raise typer.BadParameter(f"{' and '.join(asked)} exclude each other")
    if k is not None:
        return dataclasses.replace(start, kind=TaskKind.KBEST, count=k)
    if marginals:
        return Query(TaskKind.MARGINALS, start.method, budget=start.budget)
    if sample is not None:
        return dataclasses.replace(start, kind=TaskKind.SAMPLE, count=sample, seed=seed)
    return start


def _is_exact(answer: TagAnswer | Failure) -> bool:
    match answer:
        case Tagged() | TagKBest():
            return answer.certificate.exact
        case TagSamples():
            return answer.exact
    return True


def _json(record: Record, answer: TagAnswer | Failure) -> str:
    return json_line(answer.to_dict() | {"id": record.id})


def _text(record: Record, answer: TagAnswer | Failure, target: FormatName, column: str) -> str:
    match answer:
        case Tagged():
            return write_record(record, answer.tags, target, column)
        case TagKBest():
            return "".join(f"{s.log_weight:.6f}\t{' '.join(s.tags)}\n" for s in answer) + "\n"
        case TagSamples():
            rows = (f"{s.count}\t{s.log_weight:.6f}\t{' '.join(s.tags)}\n" for s in answer.samples)
            return "".join(rows) + "\n"
        case TagMarginals():
            slots = (" ".join(f"{tag}:{prob:.4f}" for tag, prob in s[:TOP_TAGS]) for s in answer.slots)
            return "\t".join(slots) + "\n"
    return "\n"


# --------------------------------------------------------------------- export


@app.command("export", epilog="Example: hiddenite tag export --model english.tagger --output tags.arpa")
def export(model: Model, output: Output = "-") -> None:
    """Write the tagger's model of tag sequences as ARPA text: what `verify --lm` needs for proofs of tags."""
    Tagger.load(model).model.transitions.save(output)


# ---------------------------------------------------------------------- score


@app.command("score", epilog="Example: hiddenite tag score --model english.tagger --column xpos test.conllu")
def score_command(
    gold: Annotated[str, typer.Argument(metavar="[GOLD]", help="Tagged text, TSV or CoNLL-U.")] = "-",
    *,
    model: Model,
    column: Column = "xpos",
    format: Format = "auto",
    objective: Annotated[str, typer.Option(help="map or mbr, as for `tag run`.")] = "map",
    confusions: Annotated[int, typer.Option(min=0, help="So many of the most frequent confusions.")] = 10,
    calibration: Annotated[
        bool, typer.Option(help="Measure whether the posterior probabilities can be trusted.")
    ] = True,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Reliability diagram; needs matplotlib.")
    ] = None,
    output: Output = "-",
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare a tagger with gold tags: one JSON object.

    accuracy, known, unknown (words not seen in training) and sentence are fractions; confusions are gold tag,
    tag found and tokens; unseen_tags counts gold tags that training never saw, which no answer can match. The
    output is JSON with and without --json.
    """
    del json
    hush(quiet)
    _choice(column, COLUMNS, "--column")
    _choice(format, FORMATS, "--format")
    _choice(objective, ("map", "mbr"), "--objective")
    if plot is not None and not calibration:
        raise typer.BadParameter("--plot shows the calibration; leave out --no-calibration")
    tagger = Tagger.load(model)
    with byte_progress("scoring", file_bytes([gold]), quiet) as report:
        records = read_tagged(gold, format, column, report)  # type: ignore[arg-type]
        result = score(
            tagger,
            (record.pairs() for record in records),
            objective=objective,  # type: ignore[arg-type]
            calibration=calibration,
            threads=threads,
        )
    if result.tokens == 0:
        raise FormatError(gold, None, "holds no tagged word, expected word TAB tag or CoNLL-U")
    if plot is not None:
        plot_reliability(result, plot)
    record = result.to_dict()
    record["confusions"] = record["confusions"][:confusions]
    with atomic_output(output) as out:
        out.write(json_line(record).encode())
