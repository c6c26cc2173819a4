"""hiddenite align: train a word aligner, align, symmetrize, score. The commands are in the files beside."""

from __future__ import annotations

import typer

from hiddenite.cli import align_corpus, align_links, align_run, align_train

app = typer.Typer(help="Word alignment.", no_args_is_help=True)
app.command("train", epilog=align_train.EPILOG)(align_train.train)
app.command("run", epilog=align_run.EPILOG)(align_run.run)
app.command("corpus", epilog=align_corpus.EPILOG)(align_corpus.corpus)
app.command("symmetrize", epilog=align_links.SYMMETRIZE_EPILOG)(align_links.symmetrize)
app.command("score", epilog=align_links.SCORE_EPILOG)(align_links.score)
