"""Runs the papers' experiments and writes docs/experiments.md from what they find.

    python experiments/run_all.py [PAPER ...] [--data DIR] [--size tiny|small|reduced|full]

All papers by default. Data: ``--data``, HIDDENITE_DATA, or ../shared/data beside the checkout; where none of
them is there, built-in texts. Results are kept under build/experiments: a run that was stopped goes on, and
``--again`` begins anew. With real data, those of the sizes reduced and full are recorded in
experiments/results and its folder full, and page and pictures go to docs; others stay in build/experiments.
At full size, pieces that are recorded count as done.
``--page`` writes the pages of what is recorded. ``--pieces`` runs these pieces of one paper alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.cells import scores
from experiments.common import (
    BUILD,
    FULL_RESULTS,
    PAPERS,
    RESULTS,
    ROOT,
    Setting,
    compare_module,
    draw,
    parser,
    section,
    table,
    take_over,
)

DOCS = ROOT / "docs"
OF_LANGUAGES = ("dubbin2012", "dubbin2014")  # papers with claims that experiments/languages.py decides
PICTURES, FULL_PICTURES = "img/experiments-", "img/experiments-full-"  # beside the pages
INTRODUCTION = """\
# The papers' tables and figures

Five papers stand behind this project. Their experiments are repeated here, at a size that a laptop does in
half an hour, and every claim of theirs is held against our numbers by a rule. The rules are code
(`experiments/*/compare.py`): nothing here is judged by hand, and what does not hold is said.

```
make experiments                                             # all of it, with the data if they are there
python experiments/run_all.py carter2012 --data DIR          # one paper
python experiments/carter2012/run.py tagging --size full     # a part of it, on built-in text
```

Without data, the World English Bible and texts drawn from models stand in. Times are processor times of one
run: only their ratios mean anything. A verdict says what these data show at this size, no more: what is
claimed of 16,000 states is not refuted by a model of 256, and where a rule compares a run or two, a small
difference may be chance. Nor were all rules fixed beforehand: some were changed after first figures, among
them how an exponential is fitted to times, what search errors are counted against, how many messages and
sweeps are run, and that "matches or improves" stands beside "equals" for the lexicon model.
"""


FULL_INTRODUCTION = """\
# The papers at their own size

What [the reduced runs](experiments.md) do in half an hour, with more text and larger models:
`make experiments-full`, which takes hours, goes on where it was stopped and can be run piece by piece. The
rules are the same code as those of the reduced runs, written before these, but for the last paper, which has
rules of its own here and says when they were fixed. A piece that has not been run yet decides nothing: its
claim is then "not testable here". Induction in many languages has
[a page of its own](experiments-languages.md).
"""


def data_directory(given: Path | None) -> Path | None:
    """Return where the real data are, if they are anywhere."""
    if given is not None:
        return given
    beside = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
    return beside if (beside / "lm").is_dir() else None


def page(
    records: Sequence[Mapping[str, Any]], pictures: str = PICTURES, introduction: str = INTRODUCTION
) -> str:
    """Return the page: what became of the claims, then paper by paper."""
    rows = []
    for record in records:
        compare = compare_module(record["paper"], record["size"])
        counts = Counter(claim.judged(record["pieces"]).holds for claim in compare.CLAIMS)
        rows.append(
            [f"[{compare.TITLE}](#{_anchor(compare.TITLE)})", *(counts[v] for v in (True, False, None))]
        )
    summary = table(["paper", "claims that hold", "that do not", "not testable here"], rows)
    return "\n".join([introduction, summary, *(section(record, pictures) for record in records)])


def _anchor(title: str) -> str:
    """Return the name that a heading gets."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return "-".join(kept.split())


def recorded(directory: Path, papers: Iterable[str] = PAPERS) -> list[dict[str, Any]]:
    """Return the results that are there, in the order of the page."""
    files = (directory / f"{paper}.json" for paper in papers)
    records = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    for record in records:
        if record["data"] == "real" and record["paper"] in OF_LANGUAGES:
            record["pieces"]["languages"] = scores()
    return records


def write_page(results: Path, target: Path, pictures: str) -> None:
    """Write page and pictures of the results in a directory."""
    full = results == FULL_RESULTS
    records, name = recorded(results), "experiments-full.md" if full else "experiments.md"
    target.mkdir(parents=True, exist_ok=True)
    text = page(records, pictures, FULL_INTRODUCTION if full else INTRODUCTION)
    (target / name).write_text(text, encoding="utf-8")
    for record in records:
        draw(record, f"{target}/{pictures}")
    print(f"wrote {target / name}")


def write_pages() -> None:
    """Write the pages of what is recorded."""
    write_page(RESULTS, DOCS, PICTURES)
    if FULL_RESULTS.exists():
        write_page(FULL_RESULTS, DOCS, FULL_PICTURES)


def main() -> None:
    """Run the papers one after the other; one that fails stops no other."""
    options = parser(__doc__)
    options.add_argument("papers", nargs="*", metavar="PAPER", default=[])
    options.add_argument("--pieces", nargs="+", metavar="PIECE", default=[], help="of one paper")
    options.add_argument("--page", action="store_true")
    given = options.parse_args()
    for paper in given.papers:
        if paper not in PAPERS:
            options.error(f"no paper {paper}, expected {', '.join(PAPERS)}")
    if given.pieces and len(given.papers) != 1:
        options.error("--pieces needs one PAPER")
    if given.page:
        write_pages()
        return
    setting = Setting(data_directory(given.data), given.size, given.output)
    shared = [*given.pieces, "--size", given.size, "--output", str(given.output), *["--again"] * given.again]
    shared += [] if setting.data is None else ["--data", str(setting.data)]
    kept = _recorded_in(setting)
    failed = []
    for paper in given.papers or PAPERS:
        script = ROOT / "experiments" / paper / "run.py"
        if kept == FULL_RESULTS:
            take_over(kept / f"{paper}.json", setting.directory / paper)
        if subprocess.run([sys.executable, str(script), *shared], check=False).returncode != 0:
            failed.append(paper)
        elif kept is not None:
            kept.mkdir(exist_ok=True)
            shutil.copyfile(setting.directory / f"{paper}.json", kept / f"{paper}.json")
    if kept is not None:
        write_pages()
    else:
        write_page(setting.directory, setting.directory, "")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def _recorded_in(setting: Setting) -> Path | None:
    """Return where the results of these runs are recorded, if they are."""
    if setting.data is None or setting.output != BUILD:
        return None
    return {"reduced": RESULTS, "full": FULL_RESULTS}.get(setting.size)


if __name__ == "__main__":
    main()
