"""Long commands, inputs on which they take seconds, and Control-C at chosen moments.

Moments and delays are measured in processor time: a busy machine makes any clock late. A command that can be
continued is interrupted again and again, each time continuing, and ends with the bytes of one that nobody
interrupted.
"""

import os
import resource
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiddenite.hmmlm.model import HMMLanguageModel
from tests.e2e.command import start, succeed
from tests.hmm_oracle import random_chain
from tests.models import train
from tests.shared import machine_speed

MOST_CPU_SECONDS = 2 * 0.5  # after the signal: half a second for each of two threads
FIRST, LAST = 0.3, 2.5  # moments, in seconds of processor time; before the first the interpreter begins
NUM_WORDS = 5000
LINES = 60_000
SHORT_PART = 24_000  # lines on which commands that are run to their end take about a second
AGAIN = "no output was changed, run the command again"

ONCE = {
    "lm train": "lm train text.txt --order 6 --output out --quiet",
    "lm train on disk": "lm train text.txt --order 5 --memory 4M --temporary . --output out --quiet",
    "lm maximize": "lm maximize model.arpa --output out",
    "lm compile": "lm compile model.arpa --output out",
    "hmmlm score": "hmmlm score --model model.hmm text.txt --threads 2 --output out --quiet",
    "hmmlm cluster": "hmmlm cluster text.txt --clusters 400 --threads 2 --output out",
    "hmmlm generate": "hmmlm generate --model model.hmm -n 20000 --length 30 --seed 1 --output out --quiet",
    "hmmlm train em": "hmmlm train em text.txt --states 1024 --clusters 8 --threads 2 --seed 1 --output out "
    "--quiet",
    "induce run": "induce run text.txt --tags 20 --model pyp --iterations 50 --seed 1 --output out --quiet",
    "induce run with chains": "induce run text.txt --tags 10 --model lex --chains 2 --iterations 50 --seed 1 "
    "--threads 2 --output out --quiet",
    "tag train": "tag train gold.tsv --output out --quiet",
    "hmmlm train neural": "hmmlm train neural few.txt --states 256 --clusters 8 --seed 1 --output out -q",
    "verify": "verify --lm model.arpa --proof model.proof --output out --quiet",
}
TYPOS = "--lm model.arpa --channel typo --distance 1 --output out --quiet"
CHECKPOINT = "--seed 1 --checkpoint state --output out --quiet"
SWEEPS = f"few.txt other.txt --sweeps 3,3,8 --chains 1 {CHECKPOINT}"
# The command, and the option with which later runs continue it, where the first has none for that.
CONTINUED = {
    "lm score": ("lm score --lm model.arpa part.txt --threads 1 --output out --quiet", "--resume"),
    "decode": (f"decode few.txt {TYPOS}", "--resume"),
    "sample": (f"sample fewer.txt -n 5 --seed 1 {TYPOS}", "--resume"),
    "marginals": (f"marginals fewer.txt {TYPOS}", "--resume"),
    "tag run": ("tag run --model model.tagger --marginals few.txt --json --output out --quiet", "--resume"),
    "align run": ("align run --model model.align some.txt other-some.txt --output out --quiet", "--resume"),
    "align train": (f"align train {SWEEPS}", ""),
    "align corpus": (f"align corpus {SWEEPS}", ""),
    "induce run": (f"induce run few.txt --tags 10 --model pyp --iterations 12 {CHECKPOINT}", ""),
    "hmmlm train em": (
        f"hmmlm train em few.txt --states 256 --clusters 8 --epochs 12 --threads 2 {CHECKPOINT}",
        "",
    ),
    "hmmlm train gradient": (
        f"hmmlm train gradient few.txt --states 256 --clusters 8 --epochs 1 --threads 2 {CHECKPOINT}",
        "",
    ),
}


def make_inputs(folder: Path, part: int = LINES) -> None:
    """Write a text of three megabytes or more, its first lines in several forms, and a model of each kind."""
    rng = np.random.default_rng(1)
    size, part = round(LINES * machine_speed()), round(part * machine_speed())
    rows = [row[: rng.integers(4, 11)] % NUM_WORDS for row in rng.zipf(1.3, size=(size, 10))]
    lines = [" ".join(f"w{i}" for i in row) for row in rows]
    other = [" ".join(f"v{i}" for i in reversed(row)) for row in rows]
    few = part // 6
    (folder / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "part.txt").write_text("".join(f"{line}\n" for line in lines[:part]))
    (folder / "few.txt").write_text("".join(f"{line}\n" for line in lines[:few]))
    (folder / "other.txt").write_text("".join(f"{line}\n" for line in other[:few]))
    (folder / "fewer.txt").write_text("".join(f"{line}\n" for line in lines[: few // 3]))
    some = few // 10
    (folder / "some.txt").write_text("".join(f"{line}\n" for line in lines[:some]))
    (folder / "other-some.txt").write_text("".join(f"{line}\n" for line in other[:some]))
    tags = [[f"w{i}\tT{(i * i + k) % 40}\n" for k, i in enumerate(row)] for row in rows]
    tagged = "".join("".join(sentence) + "\n" for sentence in tags)
    (folder / "gold.tsv").write_text(tagged)
    train(lines, 5).save(folder / "model.arpa")
    chain = random_chain(rng, "brown", 1024, 50)
    words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(50))]
    HMMLanguageModel(words, [chain]).save(folder / "model.hmm")
    tag = "tag train gold.tsv --recipe tnt --order 3 --output model.tagger --quiet"
    succeed(folder, *tag.split())
    align = "align train few.txt other.txt --sweeps 1,1,2 --chains 1 --seed 1 --output model.align --quiet"
    succeed(folder, *align.split())
    (folder / "proved.txt").write_text("".join(f"{line}\n" for line in lines[: size // 180]))
    prove = f"decode proved.txt --proof model.proof {TYPOS}"
    succeed(folder, *prove.split())
    (folder / "out").unlink()


@dataclass(frozen=True)
class Interrupted:
    """How a command answered Control-C."""

    cpu_seconds: float  # of processor time, from the signal to the end
    seconds: float  # on the clock
    message: str


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(folder: Path, command: str, moment: float) -> Interrupted | None:
    """Interrupt a command at a moment of its processor time; None if it was done before."""
    process = start(folder, command.split())
    begun = cpu_seconds(process)
    while process.poll() is None and cpu_seconds(process) - begun < moment:
        time.sleep(0.005)
    if process.poll() is not None:
        process.communicate()
        assert process.returncode == 0
        return None
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    used, sent = cpu_seconds(process), time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    waited = time.monotonic() - sent
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    assert stdout == b""
    if process.returncode in (0, -signal.SIGINT):  # all was written, the interpreter about to end
        return None
    assert process.returncode == 130, stderr
    message = stderr.decode()
    assert message.startswith("hiddenite: interrupted; "), message
    assert message.count("\n") == 1, message
    return Interrupted(total - used, waited, message)
