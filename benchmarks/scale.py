"""Scale and reliability: compiled models, memory, throughput, jobs that are killed.

    python benchmarks/scale.py [ROW ...] [--quick] [--write]

Needs the Penn Treebank and Hansard texts (``lm/ptb``, ``lm/hansard``) beside the checkout as
``../shared/data`` or where ``HIDDENITE_DATA`` says. Models are trained once and kept under ``build/bench``.
Memory is what the kernel reports: the proportional set size (Pss) counts a page that n processes share as one
nth in each, so the sum over processes is what they take of the machine together.
"""

from __future__ import annotations

import functools
import os
import random
import signal
import statistics
import subprocess
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from report import Row, run_rows, table

from hiddenite import Keypad, NgramModel, decode

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench" / "scale"
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
HIDDENITE = str(Path(sysconfig.get_path("scripts"), "hiddenite"))
ORDER = 5
PROCESSES = 4


def command(*arguments: str | Path) -> list[str]:
    """Return the arguments of a run of the command."""
    return [HIDDENITE, *map(str, arguments)]


def model_files(name: str) -> tuple[Path, Path]:
    """Return the ARPA file and the compiled form of a corpus' model of order 5."""
    BUILD.mkdir(parents=True, exist_ok=True)
    arpa, compiled = BUILD / f"{name}.arpa", BUILD / f"{name}.hlm"
    if not arpa.exists():
        text = DATA / "lm" / name / "train.txt"
        subprocess.run(
            command("lm", "train", text, "--order", str(ORDER), "--output", arpa, "-q"), check=True
        )
    subprocess.run(command("lm", "compile", arpa, "--output", compiled, "-q"), check=True)
    return arpa, compiled


def best_time(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest wall-clock time of the repeats."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


# -------------------------------------------------------------------------------------------- compiled models


def opening(quick: bool) -> Row:
    """Time to open a compiled model against reading its text."""
    names = ("ptb",) if quick else ("ptb", "hansard")
    measured = [opening_times(*model_files(name), repeats=1 if quick else 3) for name in names]
    ratios = [load / opened for load, opened, *_ in measured]
    rows = [
        (
            name,
            f"{load:.2f} s",
            f"{1e3 * opened:.2f} ms",
            f"{load / opened:.0f} ×",
            f"{1e3 * verified:.0f} ms",
            f"{built:.2f} s",
            f"{1e3 * mapped:.0f} ms",
        )
        for name, (load, opened, verified, built, mapped) in zip(names, measured, strict=True)
    ]
    head = ("model", "text", "compiled", "ratio", "with all checksums", "first answer: text", "compiled")
    return Row(
        f"Opening a compiled model of order {ORDER}",
        "at least 100 × faster than loading the text",
        f"at least {min(ratios):.0f} ×",
        min(ratios) >= 100,
        table(head, rows),
    )


def opening_times(arpa: Path, compiled: Path, repeats: int) -> tuple[float, ...]:
    """Return the times of loading, opening, opening with checksums, and to a first answer in both forms."""
    return (
        best_time(lambda: NgramModel.load(arpa), repeats),
        best_time(lambda: NgramModel.load(compiled), 20),
        best_time(lambda: NgramModel.load(compiled).verify(), repeats),
        best_time(lambda: first_decode(NgramModel.load(arpa)), 1),
        best_time(lambda: first_decode(NgramModel.load(compiled)), repeats),
    )


def first_decode(model: NgramModel) -> None:
    """Ask something that needs the index of states."""
    decode(model, Keypad(model.vocabulary)("843 5673 47"), method="dominance")


HOLD = """
import sys
from hiddenite import Keypad, NgramModel, decode
model = NgramModel.load(sys.argv[1])
text = open(sys.argv[2], "rb").read()
model.score_text(text, threads=1)
if sys.argv[3] == "decode":
    decode(model, Keypad(model.vocabulary)("843 5673 47"), method="dominance")
print("ready", flush=True)
sys.stdin.read()
"""


def total_pss(paths: tuple[str | Path, ...], count: int) -> float:
    """Return the memory of so many processes that hold a model and have used it, in MB."""
    arguments = [sys.executable, "-c", HOLD, *map(str, paths)]
    pipe = subprocess.PIPE
    running = [subprocess.Popen(arguments, stdin=pipe, stdout=pipe) for _ in range(count)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    total = sum(pss(process.pid) for process in running)
    for process in running:
        process.communicate()
    return total


def pss(process: int) -> float:
    """Return the proportional set size of a process in MB."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise ValueError("the kernel reports no Pss")


def sharing(quick: bool) -> Row:
    """Memory of four processes with one model against that of one."""
    arpa, compiled = model_files("ptb" if quick else "hansard")
    text = DATA / "lm" / "ptb" / "test.txt"
    empty = BUILD / "empty.hlm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NgramModel.train(["the lord is", "the lord"] * 10, 2).compile(empty)
    rows = []
    ratios = {}
    for use in ("score", "decode"):
        bare = [total_pss((empty, text, use), count) for count in (1, PROCESSES)]
        for form, path in (("text", arpa), ("compiled", compiled)):
            one, four = (total_pss((path, text, use), count) for count in (1, PROCESSES))
            model = [one - bare[0], four - bare[1]]
            ratios[use, form] = (four / one, model[1] / model[0])
            cells = (f"{x:.0f}" for x in (one, four, bare[0], bare[1], *model))
            rows.append((use, form, *cells, f"{four / one:.2f}", f"{model[1] / model[0]:.2f}"))
    worst = max(ratios[use, "compiled"][1] for use in ("score", "decode"))
    whole = max(ratios[use, "compiled"][0] for use in ("score", "decode"))
    head = (
        "use",
        "form",
        "one, MB",
        "four",
        "without model: one",
        "four",
        "model: one",
        "four",
        "ratio",
        "of the model",
    )
    return Row(
        "Resident memory of four processes with one compiled model",
        "at most 1.2 × that of one",
        f"the model itself {worst:.2f} ×; the processes as a whole {whole:.2f} ×, the interpreters included",
        whole <= 1.2,
        table(head, rows),
    )


# ---------------------------------------------------------------------------------------------------- batches


@functools.cache
def keys_file(count: int) -> Path:
    """Return so many messages of one to five words as key presses; the model knows the words."""
    path = BUILD / f"keys.{count}.txt"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        lines = (DATA / "lm" / "hansard" / "train.txt").read_text(encoding="utf-8").split("\n")
        short = [line for line in lines if 1 <= len(line.split()) <= 5]
        chosen = random.Random(1).choices(short, k=count)
        text = "\n".join(chosen) + "\n"
        encoded = subprocess.run(
            command("encode", "--channel", "keypad", "-q"),
            input=text.encode(),
            capture_output=True,
            check=True,
        )
        path.write_bytes(encoded.stdout)
    return path


@functools.cache
def compiled_hansard() -> Path:
    """Return the model of the jobs."""
    return model_files("hansard")[1]


def decode_job(count: int, output: Path, *more: str) -> list[str]:
    """Return the command that decodes so many messages."""
    compiled = compiled_hansard()
    common = ("decode", "--lm", compiled, "--channel", "keypad", "--json", "-q")
    return command(*common, keys_file(count), "--output", output, *more)


def run_measured(arguments: list[str]) -> tuple[float, float]:
    """Run a command; return its seconds and the peak of its private memory in MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(arguments)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, anonymous(process.pid))
        time.sleep(0.05)
    if process.returncode != 0:
        raise RuntimeError(f"exit status {process.returncode}")
    return time.perf_counter() - begin, peak


def anonymous(process: int) -> float:
    """Return the memory of a process that is no file's, in MB; 0 when it has ended."""
    try:
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def streaming(quick: bool) -> Row:
    """Memory and throughput of jobs of ten thousand to a million messages."""
    sizes = (1000, 4000) if quick else (10_000, 100_000, 1_000_000)
    rows = []
    memory, rates = [], []
    for size in sizes:
        output = BUILD / "out.json"
        start = run_measured(decode_job(1000, output))[0] if not quick else 0.0
        seconds, peak = run_measured(decode_job(size, output))
        rate = (size - 1000) / (seconds - start) if not quick else size / seconds
        memory.append(peak)
        rates.append(rate)
        per_core = rate / (os.cpu_count() or 1)
        rows.append((f"{size:,}", f"{seconds:.1f}", f"{peak:.0f}", f"{rate:,.0f}", f"{per_core:,.0f}"))
    drift = max(memory) / min(memory) - 1
    spread = max(rates) / min(rates) - 1
    return Row(
        "Short messages decoded, from ten thousand to a million",
        "memory flat within 10 %; throughput per core within 10 %",
        f"peak memory within {100 * drift:.0f} %, throughput within {100 * spread:.0f} %",
        drift <= 0.1 and spread <= 0.1,
        table(
            ("messages", "seconds", "peak private memory, MB", "messages a second", "a second and core"), rows
        )
        + "\nThroughput leaves out start and the first thousand messages.\n",
    )


def killed(quick: bool) -> Row:
    """Jobs that are killed twenty times at random moments."""
    count, kills = (20_000, 3) if quick else (200_000, 20)
    whole, ended = BUILD / "whole.json", BUILD / "killed.json"
    for leftover in BUILD.glob("killed.json*"):
        leftover.unlink()
    seconds = best_time(lambda: subprocess.run(decode_job(count, whole), check=True), 1)
    dice = random.Random(1)
    done = 0
    kept = []
    for _ in range(kills):
        process = subprocess.Popen(decode_job(count, ended, "--resume"))
        time.sleep(dice.uniform(0.3, 0.3 + 1.6 * seconds / kills))
        process.send_signal(signal.SIGKILL)
        done += process.wait() == -signal.SIGKILL
        partial = ended.with_name("killed.json.partial")
        kept.append(partial.stat().st_size if partial.exists() else 0)
    subprocess.run(decode_job(count, ended, "--resume"), check=True)
    same = whole.read_bytes() == ended.read_bytes()
    return Row(
        f"kill −9 at random moments, then --resume ({count:,} messages)",
        "output byte-identical, no record lost or doubled",
        f"{done} of {kills} runs killed, the output is {'the same' if same else 'another'}",
        same and done > 0,
        f"Bytes kept after each kill: {', '.join(f'{k:,}' for k in kept)}, of {whole.stat().st_size:,}. "
        f"An uninterrupted run takes {seconds:.1f} s.\n",
    )


def cluster(quick: bool) -> Row:
    """A local Ray cluster against threads, and one worker against two."""
    count = 5000 if quick else 100_000
    output = BUILD / "ray.json"
    threads = statistics.median(run_measured(decode_job(count, BUILD / "threads.json"))[0] for _ in range(3))
    ray = statistics.median(run_measured(decode_job(count, output, "--ray", "local"))[0] for _ in range(3))
    same = output.read_bytes() == (BUILD / "threads.json").read_bytes()
    return Row(
        f"A local Ray cluster against threads ({count:,} messages)",
        "identical output; at most 15 % slower",
        f"{'identical' if same else 'different'}, {100 * (ray / threads - 1):.0f} % slower, start included",
        same and ray <= 1.15 * threads,
        f"threads {threads:.1f} s, Ray {ray:.1f} s\n",
    )


ROWS = {"opening": opening, "sharing": sharing, "streaming": streaming, "killed": killed, "cluster": cluster}


if __name__ == "__main__":
    run_rows("Scale and reliability", __doc__, ROWS, lambda _, quick: quick)
