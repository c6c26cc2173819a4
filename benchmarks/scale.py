"""Scale and reliability: compiled models, memory, throughput, kills, clusters, fuzzing, a soak.

    python benchmarks/scale.py [ROW ...] [--quick] [--write]

Needs the Penn Treebank, Hansard and WikiText-2 texts (``lm/ptb``, ``lm/hansard``, ``lm/wikitext-2``) beside
the checkout as ``../shared/data`` or where ``HIDDENITE_DATA`` says; ``nodes`` and ``workers`` need the extra
ray, ``fuzzing`` needs Clang. All rows take two and a half hours, most of it fuzzing. Models are kept in
``build/bench``.
Memory is what the kernel reports: the proportional set size (Pss) counts a page that n processes share as one
nth in each, so the sum over processes is what they take of the machine together.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ray_nodes import answering_processes, ray_nodes
from report import Row, run_rows, table

from hiddenite import Keypad, NgramModel, decode

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench" / "scale"
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
HIDDENITE = str(Path(sysconfig.get_path("scripts"), "hiddenite"))
ORDER = 5
PROCESSES = 4
ALL_TEXTS = "ptb+hansard+wikitext-2"  # a model of them all is named so


def command(*arguments: str | Path) -> list[str]:
    """Return the arguments of a run of the command."""
    return [HIDDENITE, *map(str, arguments)]


def model_files(name: str) -> tuple[Path, Path]:
    """Return the ARPA file and the compiled form of a corpus' model of order 5."""
    BUILD.mkdir(parents=True, exist_ok=True)
    arpa, compiled = BUILD / f"{name}.arpa", BUILD / f"{name}.hlm"
    if not arpa.exists():
        texts = [DATA / "lm" / part / "train.txt" for part in name.split("+")]
        subprocess.run(
            command("lm", "train", *texts, "--order", str(ORDER), "--output", arpa, "-q"), check=True
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
    names = ("ptb",) if quick else ("hansard", ALL_TEXTS)
    text = DATA / "lm" / "ptb" / "test.txt"
    empty = BUILD / "empty.hlm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NgramModel.train(["the lord is", "the lord"] * 10, 2).compile(empty)
    rows = []
    ratios = {}
    for use, name in itertools.product(("score", "decode"), names):
        bare = [total_pss((empty, text, use), count) for count in (1, PROCESSES)]
        arpa, compiled = model_files(name)
        forms = {"text": arpa, "compiled": compiled} if name == names[0] else {"compiled": compiled}
        for form, path in forms.items():
            one, four = (total_pss((path, text, use), count) for count in (1, PROCESSES))
            model = [one - bare[0], four - bare[1]]
            if form == "compiled":
                ratios[use, name] = (four / one, model[1] / model[0])
            cells = (f"{x:.0f}" for x in (one, four, bare[0], bare[1], *model))
            rows.append((use, name, form, *cells, f"{four / one:.2f}", f"{model[1] / model[0]:.2f}"))
    worst = max(of_model for _, of_model in ratios.values())
    whole = {use: [f"{ratios[use, name][0]:.2f} ×" for name in names] for use in ("score", "decode")}
    head = (
        "use",
        "model",
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
        f"the model itself {worst:.2f} ×; whole processes, the interpreters included: "
        f"{' and '.join(whole['decode'])} decoding, {' and '.join(whole['score'])} scoring",
        max(ratio for ratio, _ in ratios.values()) <= 1.2,
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


class Measured(NamedTuple):
    """What a command has used."""

    seconds: float
    cpu_seconds: float
    peak: float  # of its private memory, MB


def run_measured(arguments: list[str]) -> Measured:
    """Run a command to its end."""
    return to_the_end(subprocess.Popen(arguments))


def to_the_end(process: subprocess.Popen[bytes]) -> Measured:
    """Wait for a command and say what it has used from now on."""
    begin = time.perf_counter()
    peak = 0.0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        peak = max(peak, anonymous(process.pid))
        time.sleep(0.05)
    if status != 0:
        raise RuntimeError(f"exit status {status}")
    return Measured(time.perf_counter() - begin, used.ru_utime + used.ru_stime, peak)


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
    sizes = (4000, 16_000) if quick else (10_000, 100_000, 1_000_000)
    output = BUILD / "out.json"
    start = run_measured(decode_job(1000, output))
    rows = []
    memory, rates = [], []
    for size in sizes:
        used = run_measured(decode_job(size, output))
        rate = (size - 1000) / (used.cpu_seconds - start.cpu_seconds)
        memory.append(used.peak)
        rates.append(rate)
        cells = (f"{size:,}", f"{used.seconds:.1f}", f"{used.cpu_seconds:.1f}", f"{used.peak:.0f}")
        rows.append((*cells, f"{rate:,.0f}"))
    drift = max(memory) / min(memory) - 1
    spread = max(rates) / min(rates) - 1
    head = (
        "messages",
        "seconds",
        "seconds of a core",
        "peak private memory, MB",
        "messages a second and core",
    )
    return Row(
        "Short messages decoded, from ten thousand to a million",
        "memory flat within 10 %; throughput per core within 10 %",
        f"peak memory within {100 * drift:.0f} %, throughput per core within {100 * spread:.0f} %",
        drift <= 0.1 and spread <= 0.1,
        table(head, rows) + "\nThroughput leaves out start and the first thousand messages.\n",
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


def throughput(quick: bool) -> Row:
    """Processor time and bytes of a record, by command: what a plan for a large job multiplies."""
    count = 10_000 if quick else 100_000
    lm = ("--lm", compiled_hansard())
    channel = (*lm, "--channel", "keypad", "--json")
    commands = {
        "decode": ("decode", *channel),
        "sample -n 3": ("sample", "-n", "3", "--seed", "1", *channel),
        "marginals --keep 20": ("marginals", "--keep", "20", *channel),
        "lm score": ("lm", "score", *lm),
    }
    rows = []
    for name, arguments in commands.items():
        used = [cpu_seconds(arguments, n) for n in (count // 10, count)]
        each = (used[1] - used[0]) / (count - count // 10)
        read, written = ((path.stat().st_size / count) for path in (keys_file(count), BUILD / "cpu.json"))
        rows.append((name, f"{1e3 * each:.3f}", f"{1 / each:,.0f}", f"{read:.0f}", f"{written:.0f}"))
    head = ("command", "ms of a core a record", "records a second and core", "bytes in", "bytes out")
    return Row(
        f"What a record of one to five words costs, of {count:,}, start left out",
        "none: it is what plans are made of",
        f"decode takes {rows[0][1]} ms of a core",
        None,
        table(head, rows),
    )


def cpu_seconds(arguments: tuple[str | Path, ...], count: int) -> float:
    """Return the processor time of a command over so many messages, with one thread."""
    more = (keys_file(count), "--output", BUILD / "cpu.json", "--threads", "1", "-q")
    return run_measured(command(*arguments, *more)).cpu_seconds


# --------------------------------------------------------------------------------------------------- clusters


def steady_rate(count: int, *more: str) -> float:
    """Return the messages a second of a job, start and the first tenth left out."""
    few = count // 10
    first = run_measured(decode_job(few, BUILD / "few.json", *more)).seconds
    return (count - few) / (run_measured(decode_job(count, BUILD / "many.json", *more)).seconds - first)


def workers(quick: bool) -> Row:
    """Two processes of a local Ray cluster against one, and against two threads."""
    count, repeats = (20_000, 1) if quick else (200_000, 3)
    ways = {
        "2 threads": ("--threads", "2"),
        "1 Ray process": ("--ray", "--threads", "1"),
        "2 Ray processes": ("--ray", "--threads", "2"),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):  # in turn, so that what else the machine does hits all
        for name, options in ways.items():
            rates[name].append(steady_rate(count, *options))
    best = {name: max(values) for name, values in rates.items()}
    speedup = best["2 Ray processes"] / best["1 Ray process"]
    overhead = best["2 threads"] / best["2 Ray processes"] - 1
    return Row(
        f"Ray processes on this machine ({count:,} messages, start left out)",
        "two at least 1.6 × as fast as one; at most 15 % slower than threads",
        f"{speedup:.2f} ×; {100 * overhead:.0f} % slower than threads",
        speedup >= 1.6 and overhead <= 0.15,
        table(("who", "messages a second, best"), [(name, f"{rate:,.0f}") for name, rate in best.items()]),
    )


def nodes(quick: bool) -> Row:
    """A cluster of two nodes, one of whose processes is killed in the middle."""
    count = 20_000 if quick else 300_000
    output, expected = BUILD / "nodes.json", BUILD / "threads.json"
    shutil.rmtree(BUILD / "nodes.json.parts", ignore_errors=True)
    subprocess.run(decode_job(count, expected), check=True)
    with ray_nodes() as address:
        process = subprocess.Popen(decode_job(count, output, "--ray", address))
        begun = BUILD / "nodes.json.parts" / "part-00000.partial"
        victims: list[int] = []
        while process.poll() is None and not (len(victims) == 2 and begun.exists() and begun.stat().st_size):
            time.sleep(0.01)
            victims = answering_processes()
        if process.poll() is None:
            os.kill(victims[0], signal.SIGKILL)
        used = to_the_end(process)
    same = output.read_bytes() == expected.read_bytes()
    return Row(
        f"Two Ray nodes, one of {len(victims)} processes killed in the middle ({count:,} messages)",
        "complete and identical output",
        "identical" if same else "different",
        same and len(victims) == 2,
        f"The driver used {used.cpu_seconds:.1f} s of a core, its start included, and {used.peak:.0f} MB.\n",
    )


# ------------------------------------------------------------------------------------------------------ hours


def fuzzing(quick: bool) -> Row:
    """The readers of model files under libFuzzer with sanitizers, half an hour each."""
    duration = 20 if quick else 1800
    rows, executions, crashes = [], [], 0
    for form in ("arpa", "compiled", "container"):
        before = set((ROOT / "build" / "fuzz").glob("*-*"))
        done = subprocess.run(
            ["make", "-C", ROOT / "fuzz", "run", f"FORMATS={form}", f"DURATION={duration}"],
            capture_output=True,
            text=True,
            check=False,
        )
        found = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        executions.append(int(found[1]) if found else 0)
        names = ("crash-", "leak-", "timeout-", "oom-")
        new = [p for p in set((ROOT / "build" / "fuzz").glob("*-*")) - before if p.name.startswith(names)]
        crashes += len(new) + (done.returncode != 0)
        rows.append(
            (form, f"{duration} s", f"{executions[-1]:,}", f"{executions[-1] / duration:,.0f}", len(new))
        )
    return Row(
        "Fuzzing the readers of model files, with AddressSanitizer and UndefinedBehaviorSanitizer",
        "at least a million executions a format, no crash",
        f"{min(executions):,} executions at least, {crashes} crashes",
        min(executions) >= 1_000_000 and crashes == 0,
        table(("format", "time", "executions", "a second", "crashes"), rows),
    )


def soak(quick: bool) -> Row:
    """Three commands that are fed without an end, ten minutes each: their memory over time."""
    seconds = 10.0 if quick else 600.0
    compiled = compiled_hansard()
    keys = keys_file(1000 if quick else 100_000).read_bytes()
    rows, drifts = [], []
    for name, *options in (
        ("decode",),
        ("sample", "--keep", "20", "-n", "3", "--seed", "1"),
        ("marginals", "--keep", "20"),
    ):
        arguments = command(name, "--lm", compiled, "--channel", "keypad", "--json", "-q", *options)
        records, trace = feed(arguments, keys, seconds)
        warm = trace[len(trace) // 10 :]  # what is built on first use is there
        drifts.append(max(warm) / warm[0] - 1)
        shown = ", ".join(f"{trace[i * (len(trace) - 1) // 9]:.0f}" for i in range(10))
        rows.append((name, f"{seconds:.0f} s", f"{records:,}", shown, f"{100 * drifts[-1]:.1f} %"))
    return Row(
        f"A soak of {3 * seconds / 60:.0f} minutes: private memory of commands that are fed without an end",
        "memory flat within 10 %",
        f"at most {100 * max(drifts):.1f} % above that after a tenth of the time",
        max(drifts) <= 0.1,
        table(("command", "time", "records", "MB over time", "growth"), rows),
    )


def feed(arguments: list[str], text: bytes, seconds: float) -> tuple[int, list[float]]:
    """Feed a command a text again and again; return the records and its private memory twice a second."""
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    stdin = process.stdin
    records = 0
    end = time.monotonic() + seconds

    def write() -> None:
        nonlocal records
        while time.monotonic() < end:
            stdin.write(text)
            records += text.count(b"\n")
        stdin.close()

    writer = threading.Thread(target=write)
    writer.start()
    trace = []
    while writer.is_alive():
        time.sleep(0.5)
        trace.append(anonymous(process.pid))
    writer.join()
    if process.wait() != 0:
        raise RuntimeError(f"exit status {process.returncode}")
    return records, [value for value in trace if value > 0]


ROWS = {
    "opening": opening,
    "sharing": sharing,
    "streaming": streaming,
    "throughput": throughput,
    "killed": killed,
    "nodes": nodes,
    "workers": workers,
    "fuzzing": fuzzing,
    "soak": soak,
}


if __name__ == "__main__":
    run_rows("Scale and reliability", __doc__, ROWS, lambda _, quick: quick)
