"""Raw text through ``hiddenite correct``: what is not named as a change comes out as it went in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from correct_data import DATA, ROOT
from report import Row, table


def raw_texts(share: int) -> dict[str, str]:
    """Return ten megabytes of edited text as it comes: prose, code, Markdown, other line ends and signs."""
    wiki, ptb = (
        "".join(
            (DATA / "lm" / name / part).read_text(encoding="utf-8").replace("<unk>", "Smith")
            for part in parts
        )
        for name, parts in (("wikitext-2", ("valid.txt", "test.txt")), ("ptb", ("train.txt",)))
    )
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    code = "".join(file.read_text(encoding="utf-8", errors="ignore") for file in files)
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md")))
    signs = "".join(f"{line} \U0001f600 שלום عالم\n" for line in wiki[:400_000].split("\n"))
    texts = {
        "WikiText-2": wiki,
        "Penn Treebank, small letters": ptb[:3_500_000],
        "Python code as plain text": code[:2_200_000],
        "Markdown": pages,
        "CRLF": wiki[:600_000].replace("\n", "\r\n"),
        "tabs": wiki[:300_000].replace(" ", "\t"),
        "emoji, right to left": signs,
    }
    return {name: text[: len(text) // share] for name, text in texts.items()}


def round_trip(share: int) -> Row:
    """Row 9: the command with its default model; what it says it changed is all that differs."""
    lines, size, broken = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in raw_texts(share).items():
            file = Path(folder) / ("page.md" if name == "Markdown" else "text.txt")
            file.write_bytes(text.encode())
            command = [str(Path(sys.executable).with_name("hiddenite")), "correct", str(file), "--quiet"]
            made = subprocess.run(command, capture_output=True, check=True).stdout.decode()
            told = subprocess.run([*command, "--json"], capture_output=True, check=True).stdout.decode()
            before = re.split("\r?\n", text)
            places = [change for line in told.splitlines() for change in json.loads(line)["changes"]]
            for change in sorted(places, key=lambda one: (-one["line"], -one["column"])):
                line, begin = change["line"] - 1, change["column"] - 1
                whole, old = before[line], change["old"]
                broken += whole[begin : begin + len(old)] != old
                before[line] = whole[:begin] + change["new"] + whole[begin + len(old) :]
            end = "\r\n" if name == "CRLF" else "\n"
            same = end.join(before) == made
            broken += not same
            words = len(text.split())
            size += len(text.encode())
            lines.append((name, f"{words:,}", len(places), f"{100 * len(places) / words:.2f}", same))
    return Row(
        "Ten megabytes of raw text through the command",
        "outside the changes that it names, every byte is the same",
        f"{size / 1e6:.1f} MB, {broken} differences",
        broken == 0,
        table(("text", "words", "changes", "%", "all else the same"), lines),
    )
