"""hiddenite hmmlm: cluster words; train hidden Markov language models, score, generate."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenite.cli import hmmlm_distill, hmmlm_lexical, hmmlm_train
from hiddenite.cli.command import command, group
from hiddenite.cli.common import Json, OnlyJson, Output, OutputFile, Threads, json_line, random_seed, say
from hiddenite.cli.progress import progress
from hiddenite.errors import OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes, line_blocks, tokenize
from hiddenite.files.output import atomic_output
from hiddenite.hmmlm.clusters import FORMATS, MAX_PASSES, Clustering, Clusters
from hiddenite.hmmlm.generation import LONGEST
from hiddenite.hmmlm.interpolation import Interpolation
from hiddenite.hmmlm.model import MAX_LENGTH, HMMLanguageModel
from hiddenite.hmmlm.options import MAX_SEED
from hiddenite.hmmlm.training import read_text
from hiddenite.ngram import NgramModel
from hiddenite.options import MISSING, Options, argument, option
from hiddenite.scores import ScoreSummary

GENERATORS = ("sample", "rescore", "best")

app = group("Hidden Markov language models.")

hmmlm_lexical.add_to(hmmlm_train.app)
app.add_typer(hmmlm_train.app, name="train")
hmmlm_distill.add_to(app)


@dataclass(frozen=True, kw_only=True)
class Model(Options):
    """A command that needs a hidden Markov language model."""

    model: str = option(MISSING, "File of `hmmlm train`.", metavar="MODEL")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(OutputFile, Threads):
    """The options of hmmlm cluster."""

    text: str = argument(MISSING, "Text, one sentence a line; - is stdin.", "TEXT")
    clusters: int = option(128, "Number of classes.", least=1)
    format: str = option("tsv", "word, class, count; or bits, word, count.", choices=tuple(FORMATS))
    start: str | None = option(None, "Classes to continue from, in either format.", metavar="FILE")
    passes: int = option(MAX_PASSES, "Passes over the words, at most.", least=1)


@command(
    app,
    "cluster",
    ClusterOptions,
    example="hiddenite hmmlm cluster corpus.txt --clusters 8 --output clusters.tsv",
)
def cluster(options: ClusterOptions) -> None:
    """Cluster words by exchange so that neighbouring classes tell most about each other (Brown's objective).

    The result is the same for any number of threads. With --start, words keep their class until a better one
    is found, and new words get one.
    """
    options.hush()
    clustering = Clustering(
        [read_text(options.text)],
        options.clusters,
        start=None if options.start is None else Clusters.load(options.start),
        passes=options.passes,
        threads=options.threads,
        names=["<stdin>" if options.text == "-" else options.text],
    )
    with progress("clustering", options.passes, options.quiet) as report:
        for turn in clustering:
            report(turn.number, f"moved {turn.moved:,}, information {turn.average_mutual_information:.4f}")
    clustering.result().save(options.output, options.format)


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Model, Output, Threads, OnlyJson):
    """The options of hmmlm score."""

    text: str = argument("-", "Text, one sentence a line; - is stdin.", "[TEXT]")
    summary: bool = option(False, "Totals and perplexities instead of sentences.")
    lm: str | None = option(None, "ARPA file to interpolate with; needs --valid.", metavar="LM")
    valid: str | None = option(None, "Text on which the weights are fitted; needs --lm.", metavar="TEXT")


@command(app, "score", ScoreOptions, example="hiddenite hmmlm score --model corpus.hmm heldout.txt --summary")
def score(options: ScoreOptions) -> None:
    """Score sentences: one JSON object a line with log_prob (natural), tokens (</s> included) and oov.

    Unknown words count as <unk> and are counted in oov.
    """
    options.hush()
    if (options.lm is None) != (options.valid is None):
        raise OptionError("valid", "needs --lm, and --lm needs --valid: the weights are fitted on that text")
    model = HMMLanguageModel.load(options.model)
    mixed = None
    if options.lm is not None and options.valid is not None:
        mixed = Interpolation.fit(
            [model, NgramModel.load(options.lm)], read_text(options.valid), options.threads
        )
        say(f"weight of the hidden Markov model {mixed.weights[0]:.4f}", options.quiet)
    total = ScoreSummary(0, 0, 0, 0.0, 0.0)
    with (
        progress("scoring", file_bytes([options.text]), options.quiet) as report,
        ChunkReader(options.text, report) as reader,
        atomic_output(options.output) as out,
    ):
        for lines, first_line in line_blocks(reader):
            if mixed is None:
                scores = model.score_text(lines, options.threads, reader.name, first_line)
            else:
                tokens = model.read(lines, reader.name, first_line)
                scores = model.scores(tokens, mixed.token_log_probs(lines, options.threads))
            total += scores.summary()
            if not options.summary:
                out.write("".join(json_line(s.to_dict()) for s in scores).encode())
        if options.summary:
            out.write(json_line(total.to_dict()).encode())


def _phrases(keywords: str) -> list[str]:
    """Words, or phrases between commas; a comma after a backslash is part of a word."""
    parts = [part.replace("\0", ",") for part in keywords.replace("\\,", "\0").split(",")]
    found = [part for part in parts if part.strip()] if len(parts) > 1 else tokenize(parts[0])
    if keywords and not found:
        raise OptionError("keywords", f"has no word: '{keywords}'; a comma that is a word is written \\,")
    return found


@dataclass(frozen=True, kw_only=True)
class GenerateOptions(Model, Output, Threads, Json):
    """The options of hmmlm generate."""

    keywords: str = option(
        "",
        r"Words that must occur, in any order; phrases between commas; \, is a comma.",
        metavar="WORDS",
    )
    pattern: str | None = option(
        None, r"Regular expression over words: 'the (dog|cat) .* \.'", metavar="REGEX"
    )
    length: int | None = option(None, f"Words; up to {MAX_LENGTH} if not given.", least=0, most=LONGEST)
    n: int = option(1, "Sentences.", "-n", least=1, when={"method": ("sample", "rescore")})
    method: str = option(
        "sample",
        "sample: independent draws; rescore: the best of many; best: words and states.",
        choices=GENERATORS,
    )
    candidates: int = option(100, "Draws to choose from.", least=1, when={"method": ("rescore",)})
    budget: float | None = option(
        None, "Seconds; it is an error if they do not suffice.", metavar="S", least=0
    )
    seed: int | None = option(
        None,
        "Seed; drawn and shown if not given.",
        least=0,
        most=MAX_SEED,
        when={"method": ("sample", "rescore")},
    )


@command(
    app,
    "generate",
    GenerateOptions,
    example="hiddenite hmmlm generate --model corpus.hmm --keywords 'dog tree' --length 8 --seed 1",
)
def generate(options: GenerateOptions) -> None:
    """Generate sentences that satisfy a constraint, exactly as the model would if it had to.

    With --json one object a line: words, log_prob, and the exact log probability of the constraint.
    """
    options.hush()
    model = HMMLanguageModel.load(options.model)
    phrases = _phrases(options.keywords)
    seed = 0
    if options.method != "best":
        seed = random_seed() if options.seed is None else options.seed
        say(f"seed {seed}", options.quiet)
    result = model.generate(
        options.n,
        length=options.length,
        keywords=phrases,
        pattern=options.pattern,
        method=options.method,
        candidates=options.candidates,
        budget=options.budget,
        seed=seed,
        threads=options.threads,
    )
    with atomic_output(options.output) as out:
        for sentence in result.sentences:
            record = sentence.to_dict() | {"constraint_log_prob": result.to_dict()["constraint_log_prob"]}
            out.write((json_line(record) if options.json else " ".join(sentence.words) + "\n").encode())
