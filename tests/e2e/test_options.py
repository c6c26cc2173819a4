"""Every option of every command: it changes the output, or the run says why it cannot."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

from hiddenite.cli.reference import commands, page
from hiddenite.errors import OptionError
from hiddenite.options import MISSING, Option, Options, options_of
from tests.e2e.command import run, succeed

ALL: dict[str, type[Options]] = {name.removeprefix("hiddenite "): c.cls.kind for name, c in commands()}
TEXT = [
    "the dog barks .",
    "the cat sleeps .",
    "a dog sleeps .",
    "the dog and the cat bark !",
    "an old dog sees the old cat .",
] * 3
FRENCH = [
    "le chien aboie .",
    "le chat dort .",
    "un chien dort .",
    "le chien et le chat aboient !",
    "un vieux chien voit le vieux chat .",
] * 3
TAGS = {"the": "D", "a": "D", "an": "D", "dog": "N", "cat": "N", ".": "P", "!": "P", "and": "C", "old": "A"}
UPOS = {word: tag.lower().replace("a", "n") for word, tag in TAGS.items()}

# How an option is given where it has an effect: further arguments, or a base of its own after "=".
# What only says how a command runs is looked at elsewhere (threads, resume, on_error: test_batch.py; ray:
# test_ray.py; checkpoints: the tests of each training; the server: test_serve.py).
ELSEWHERE = {"quiet", "threads", "resume", "on_error", "ray", "output", "checkpoint", "temporary", "memory"}
KEYPAD = "decode --lm lm.arpa --channel keypad --json keys.txt"
SAMPLE = "sample --lm lm.arpa --channel keypad --json --seed 1 -n 20 keys.txt"
# The weights of decode, sample and marginals, and how maps are read.
TYPED = "--channel map:words.map --json"
MAPPED = "--lm lm.arpa --json mapped.txt --channel"
WEIGHTS = {
    "vocabulary": "--vocabulary words.txt",
    "mix_lm": "--mix-lm lm2.arpa",
    "lm_weight": "--lm-weight 3",
    "channel_weight": "--channel-weight 0.1",
    "word_penalty": "--word-penalty -2",
    "temperature": "--temperature 3",
    "no_begin": "--no-begin",
    "no_end": "--no-end",
}
MARGINALS = "marginals --lm lm.arpa --channel keypad --json keys.txt"
ALIGN = "align run --model align.model --json en.txt fr.txt"
PROJECT = "align project gold.tsv fr.txt --links forward.txt"
INDUCE = "induce run text.txt --tags 3 --model pyp --iterations 4 --seed 1"
CONSENSUS = "induce run text.txt --tags 4 --iterations 1 --start-iterations 1 --seed 1 --confidence out.sure"
LEX = "induce run text.txt --tags 3 --model lex+lm --iterations 4 --seed 1 --save out.model"
HMM = "hmmlm train em text.txt --states 8 --clusters 2 --epochs 2 --seed 1"
HMM_SHAPE = {
    "valid": "--valid text2.txt",
    "epochs": "--epochs 3",
    "seed": "--seed 2",
    "states": "--states 9",
    "clusters": "--clusters 3",
    "sets": "--sets uniform",
    "states_per_word": "--states-per-word 2 --sets uniform",
}
LONGER = "--states 8 --clusters 2 --epochs 9 --rate 1 --seed 1 --output out"
HMM_GRADIENT = {
    "start": "--start hmm.model = hmmlm train gradient text.txt --epochs 2 --seed 1 --output out",
    "transitions": "--transitions full",
    "dropout": "--dropout state",
    "dropout_rate": "--dropout-rate 0.1 --dropout state",
    "batching": "--batching document",
    "batch_tokens": "--batch-tokens 16",
    "rate": "--rate 0.1",
}
GENERATE = "hmmlm generate --model hmm.model --json --seed 1 -n 3"
CORRECT = "correct typos.txt --lm lm.arpa --json"
LEARN = "correct learn pairs.tsv --lm lm.arpa --output out"
EVALUATE = "correct evaluate pairs.tsv --lm lm.arpa"
LATTICE = "lattice decode l.slf --lm lm.arpa --json"
READING = {"format": "--format openfst", "symbols": "--symbols absent.txt", "frame_seconds": "="}
WEIGHING = dict.fromkeys(  # shared by the lattice commands; looked at where they decode
    (
        "lm",
        "unk_log10",
        "vocabulary",
        "lm_weight",
        "channel_weight",
        "old_lm_weight",
        "word_penalty",
        "transparent",
        "no_begin",
        "mix_lm",
        "mix_weights",
        "no_end",
        "max_states",
    ),
    "=",
)
CASES: dict[str, dict[str, str]] = {
    "lattice convert": {"": "lattice convert l.slf", **READING, "to": "--to json"},
    "lattice info": {"": "lattice info l.slf", **READING},
    "lattice decode": {
        "": LATTICE,
        "format": "--format openfst",
        "symbols": "--symbols words.sym = lattice decode l.kaldi",
        "frame_seconds": "--frame-seconds 0.03 = lattice decode l.kaldi --to ctm",
        "lm": "--lm lm2.arpa",
        "mix_lm": "--mix-lm lm2.arpa",
        "mix_weights": "--mix-weights 1,9 = lattice decode l.slf --lm lm.arpa --json --mix-lm lm2.arpa",
        "unk_log10": "--unk-log10 -1 = lattice decode l.slf --lm bare.arpa --json",
        "vocabulary": "--vocabulary words.txt",
        "lm_weight": "--lm-weight 3",
        "channel_weight": "--acoustic-weight 3",
        "old_lm_weight": "--old-lm-weight 1",
        "word_penalty": "--word-penalty -2",
        "transparent": "--transparent words.txt",
        "no_begin": "--no-begin",
        "no_end": "--no-end",
        "max_states": "--max-states 2",
        "k": "-k 2",
        "distinct": "--distinct sum -k 2 = lattice decode l.slf --lm lm.arpa --json -k 2",
        "objective": "--objective mbr",
        "method": "--method refine",
        "budget": "--budget 0",
        "to": "--to ctm = lattice decode l.slf --lm lm.arpa",
        "temperature": "--temperature 3 = lattice decode l.slf --lm lm.arpa --json --objective mbr",
        "exact": "=",  # all of these are
        "json": "--json = lattice decode l.slf --lm lm.arpa",
    },
    "lattice posteriors": {
        "": "lattice posteriors l.slf",
        **READING,
        **WEIGHING,
        "temperature": "--temperature 3",
        "min_probability": "--min-probability 0.5",
    },
    "lattice mesh": {
        "": "lattice mesh l.slf",
        **READING,
        **WEIGHING,
        "temperature": "--temperature 3",
        "min_probability": "--min-probability 0.5",
        "json": "--json",
    },
    "lattice prune": {
        "": "lattice prune l.slf --beam 2",
        **READING,
        **WEIGHING,
        "temperature": "--temperature 30 = lattice prune l.slf --min-probability 0.2",
        "beam": "--beam 0.1",
        "min_probability": "--min-probability 0.5",
        "to": "--to json",
    },
    "lattice plot": {"": "lattice plot l.slf", **READING, **WEIGHING, "temperature": "--temperature 3"},
    "correct": {
        "": CORRECT,
        "model": "--model other.corrector = correct typos.txt --json --model any.corrector",
        "lm": "--lm lm2.arpa",
        "vocabulary": "--vocabulary words.txt",
        "kind": "--kind ocr",
        "language": "--language xx",
        "text": "--text absent.txt = correct typos.txt --json",
        "words": "--words typed.txt",
        "format": "--format alto",
        "paragraphs": "--paragraphs",
        "min_probability": "--min-probability 1",
        "careful": "--careful = correct doubt.txt --lm lm.arpa --json",
        "unprotect": "--unprotect names = correct named.txt --lm lm.arpa --json",
        "changes": "--changes = correct typos.txt --lm lm.arpa",
        "diff": "--diff = correct typos.txt --lm lm.arpa",
        "html": "--html = correct typos.txt --lm lm.arpa",
        "json": "--json = correct typos.txt --lm lm.arpa",
        "samples": "--samples 3 --seed 1",
        "seed": "--seed 2 = correct typos.txt --lm lm.arpa --samples 50 --seed 1",
    },
    "correct learn": {
        "": LEARN,
        "model": "--from other.corrector = correct learn pairs.tsv --from any.corrector --output out",
        "lm": "--lm lm2.arpa",
        "vocabulary": "--vocabulary words.txt",
        "kind": "--kind ocr",
        "language": "--language xx",
        "text": "--text absent.txt = correct learn pairs.tsv --output out",
        "words": "--words typed.txt",
        "tokens": "--tokens = correct learn tokens.tsv --lm lm.arpa --output out",
        "unpaired": "--unpaired",
        "tune": "--tune pairs.tsv",
        "objective": "--objective f0.5 --tune pairs.tsv",
    },
    "correct evaluate": {
        "": EVALUATE,
        "model": "--model other.corrector = correct evaluate pairs.tsv --model any.corrector",
        "lm": "--lm lm2.arpa",
        "vocabulary": "--vocabulary words.txt",
        "kind": "--kind ocr",
        "language": "--language xx",
        "text": "--text absent.txt = correct evaluate pairs.tsv",
        "words": "--words typed.txt",
        "tokens": "--tokens",
        "careful": "--careful = correct evaluate doubt.tsv --lm lm.arpa",
        "json": "--json",
    },
    "decode": {
        "": KEYPAD,
        "lm": "--lm lm2.arpa",
        "channel": "--channel typo",
        "keep": "--keep 1",
        "ambiguity": "--ambiguity 2",
        "distance": "--distance 0 = decode --lm lm.arpa --channel typo --json typos.txt",
        "error_rate": "--error-rate 0.3 = decode --lm lm.arpa --channel typo --json typos.txt",
        "unknown_cost": "--unknown-cost 0.1 = decode --lm lm.arpa --channel typo --json typos.txt",
        "min_probability": "--min-probability 1 = decode --lm lm.arpa --channel typo typos.txt",
        **WEIGHTS,
        "unk_log10": f"--unk-log10 -1 = decode --lm bare.arpa {TYPED} typos.txt",
        "mix_weights": f"--mix-weights 1,9 = {KEYPAD} --mix-lm lm2.arpa",
        "map_numbers": f"--map-numbers ln = decode {MAPPED} map:logs.map --map-numbers log10",
        "map_joiner": f"--map-joiner _ = decode {MAPPED} map:words.map",
        "temperature": f"--temperature 3 = {KEYPAD} --objective mbr",
        "max_states": "--max-states 2 --method full",
        "budget": "--budget 0",
        "json": "--json = decode --lm lm.arpa --channel keypad keys.txt",
        "k": "-k 2",
        "method": "--method refine",
        "objective": "--objective mbr",
        "exact": "--exact --budget 0",
        "proof": "--proof out.proof",
    },
    "sample": {
        "": SAMPLE,
        "lm": "--lm lm2.arpa",
        "channel": "--channel typo",
        "keep": "--keep 1",
        "ambiguity": "--ambiguity 2",
        "distance": "--distance 0 = sample --lm lm.arpa --channel typo --json --seed 1 -n 20 typos.txt",
        "error_rate": "--error-rate 0.3 = sample --lm lm.arpa --channel typo --json --seed 1 -n 20 typos.txt",
        "unknown_cost": "--unknown-cost 0.1 = sample --lm lm.arpa --channel typo --seed 1 -n 20 typos.txt",
        **WEIGHTS,
        "unk_log10": f"--unk-log10 -1 = sample --seed 1 -n 20 --lm bare.arpa {TYPED} typos.txt",
        "mix_weights": f"--mix-weights 1,9 = {SAMPLE} --mix-lm lm2.arpa",
        "map_numbers": f"--map-numbers ln = sample --seed 1 -n 20 {MAPPED} map:logs.map --map-numbers log10",
        "map_joiner": f"--map-joiner _ = sample --seed 1 -n 20 {MAPPED} map:words.map",
        "max_states": "--max-states 1 --method full",
        "budget": "--budget 0",
        "json": "--json = sample --lm lm.arpa --channel keypad --seed 1 -n 20 keys.txt",
        "seed": "--seed 2",
        "n": "-n 21",
        "method": "--method refine",
        "epsilon": "--epsilon 0.9",
    },
    "marginals": {
        "": MARGINALS,
        "lm": "--lm lm2.arpa",
        "channel": "--channel typo",
        "keep": "--keep 1",
        "ambiguity": "--ambiguity 2",
        "distance": "--distance 0 = marginals --lm lm.arpa --channel typo --json typos.txt",
        "error_rate": "--error-rate 0.3 = marginals --lm lm.arpa --channel typo --json typos.txt",
        "unknown_cost": "--unknown-cost 0.1 = marginals --lm lm.arpa --channel typo --json typos.txt",
        **WEIGHTS,
        "unk_log10": f"--unk-log10 -1 = marginals --lm bare.arpa {TYPED} typos.txt",
        "mix_weights": f"--mix-weights 1,9 = {MARGINALS} --mix-lm lm2.arpa",
        "map_numbers": f"--map-numbers ln = marginals {MAPPED} map:logs.map --map-numbers log10",
        "map_joiner": f"--map-joiner _ = marginals {MAPPED} map:words.map",
        "max_states": "--max-states 1",
        "budget": "--budget 0",
        "json": "--json = marginals --lm lm.arpa --channel keypad keys.txt",
        "epsilon": "--epsilon 0",
    },
    "encode": {
        "": "encode --noise --seed 1 text.txt",
        "channel": "--channel typo",
        "noise": "--noise --seed 1 = encode text.txt",
        "seed": "--seed 2",
        "ambiguity": "--ambiguity 1",
        "map_numbers": "--map-numbers ln = encode --channel map:logs.map --map-numbers log10 "
        "--noise --seed 1 en.txt",
        "map_joiner": "--map-joiner _ = encode --channel map:words.map joined.txt",
    },
    "verify": {
        "": "verify --proof ok.proof --lm lm.arpa",
        "proof": "--proof other.proof",
        "lm": "--lm lm2.arpa",
        "model": "= verify --proof align.proof --model align.model",
        "json": "--json",
    },
    "lm train": {
        "": "lm train text.txt --output out",
        "order": "--order 2",
        "prune": "--prune 0,0,3",
        "vocabulary": "--vocabulary words.txt",
        "unk_below": "--unk-below 4",
        "counts": "--counts text.counts = lm train --output out",
        "smoothing": "--smoothing witten-bell",
        "add": "--add 0.1 = lm train text.txt --smoothing add-k --output out",
    },
    "lm count": {
        "": "lm count text.txt",
        "google": "=",  # writes a folder
        "order": "--order 2",
        "vocabulary": "--vocabulary words.txt",
        "unk_below": "--unk-below 4",
    },
    "lm score": {
        "": "lm score --lm lm.arpa text.txt",
        "lm": "--lm lm2.arpa",
        "summary": "--summary",
        "words": "--words",
        "unk_log10": "--unk-log10 -3 = lm score --lm bare.arpa typos.txt",
        "vocabulary": "--vocabulary words.txt",
        "mix_lm": "--mix-lm lm2.arpa",
        "mix_weights": "--mix-weights 1,9 = lm score --lm lm.arpa text.txt --mix-lm lm2.arpa",
    },
    "restore train": {
        "": "restore train written.txt --output out",
        "what": "--what case",
        "events": "--events marks.txt --what events",
        "order": "--order 2",
        "min_count": "--min-count 9",
        "max_events": "--max-events 2",
    },
    "restore run": {
        "": "restore run --model a.restorer --json unwritten.txt",
        "model": "--model b.restorer",
        "json": "--json = restore run --model a.restorer unwritten.txt",
        "k": "-k 3",
        "min_probability": "--min-probability 0.9",
    },
    "restore evaluate": {
        "": "restore evaluate --model a.restorer written.txt",
        "model": "--model b.restorer",
    },
    "lm mix": {
        "": "lm mix bare.arpa lm2.arpa --output out",
        "weights": "--weights 3,1",
        "tune": "--tune text.txt",
        "unk_log10": "--unk-log10 -3",
    },
    "lm prune": {
        "": "lm prune bare.arpa --entropy 1e-2 --output out",
        "entropy": "--entropy 1e-3",
        "keep": "--keep 20 = lm prune bare.arpa --output out",
        "histories": "--histories stolcke",
        "unk_log10": "--unk-log10 -3",
    },
    "lm filter": {
        "": "lm filter bare.arpa --vocabulary words.txt --output out",
        "vocabulary": "--vocabulary typed2.txt",
        "renormalize": "--no-renormalize",
        "unk_log10": "--unk-log10 -3",
    },
    "lm limit": {
        "": "lm limit bare.arpa --order 2 --output out",
        "order": "--order 1",
        "unk_log10": "--unk-log10 -3",
    },
    "lm quantize": {
        "": "lm quantize bare.arpa --output out",
        "bits": "--bits 4 = lm quantize varied.arpa --output out",
        "unk_log10": "--unk-log10 -3",
    },
    "lm sample": {
        "": "lm sample bare.arpa --seed 1",
        "n": "-n 3",
        "seed": "--seed 2",
        "prefix": "--prefix dog",
        "max_words": "--max-words 2",
        "json": "--json",
        "unk_log10": "--unk-log10 -0.1",
        "vocabulary": "--vocabulary words.txt",
    },
    "lm compare": {
        "": "lm compare bare.arpa lm2.arpa typos.txt",
        "unk_log10": "--unk-log10 -3",
        "vocabulary": "--vocabulary words.txt",
    },
    "lm compile": {
        "": "lm compile bare.arpa --output out",
        "compact": "--compact",
        "index": "--no-index",
        "unk_log10": "--unk-log10 -3",
    },
    "lm maximize": {"": "lm maximize bare.arpa --output out", "unk_log10": "--unk-log10 -3"},
    "info": {"": "info lm.hlm", "verify": "--verify", "json": "--json"},
    "lm info": {"": "lm info lm.hlm", "verify": "--verify", "json": "--json"},
    "tag train": {
        "": "tag train gold.tsv --output out",
        "order": "--order 2",
        "column": "--column upos = tag train gold.conllu --output out",
        "format": "--format tsv = tag train gold.conllu --output out",
        "recipe": "--recipe tnt",
        "emissions": "--emissions generative",
        "parts": "--parts yes = tag train rich.tsv --output out",
        "raw": "--raw text2.txt",
        "lexicon": "--lexicon tagwords.tsv",
        "lexicon_rule": "--lexicon-rule hard = tag train gold.tsv --lexicon tagwords.tsv --output out",
        "projected": "--projected soft.tsv",
        "normal_form": "--normal-form none",
        "transitions": "--transitions deleted-interpolation",
        "lexicalize": "--lexicalize 0",
        "guesser": "--guesser suffix",
        "rare": "--rare 1",
        "guess_weight": "--guess-weight 2",
        "floor": "--floor 0.5",
        "suffix_length": "--suffix-length 1 --guesser suffix",
        "shapes": "--shapes = tag train gold.tsv --guesser suffix --output out",
        "theta": "--theta 3 = tag train gold.tsv --guesser suffix --output out",
        "tag_dictionary": "--tag-dictionary",
        "seed": "--seed 9",
    },
    "tag run": {
        "": "tag run --model tag.model text.txt",
        "model": "--model tag2.model",
        "proof": "--proof out.proof --json",
        "json": "--json",
        "seed": "--seed 2 = tag run --model weak.model --sample 50 --seed 1 typos.txt",
        "k": "-k 2",
        "marginals": "--marginals",
        "sample": "--sample 3 --seed 1",
        "objective": "--objective mbr --json",
        "method": "--method refine --json",
        "budget": "--budget 0 --json",
        "max_states": "--max-states 1 --json --method full",
        "exact": "--exact --budget 0",
        "column": "--column upos = tag run --model tag.model gold.conllu",
        "raw_text": "--raw-text",
        "format": "--format tsv",
        "to": "--to tsv",
    },
    "tag suggest": {
        "": "tag suggest --model weak.model text.txt",
        "model": "--model tag2.model",
        "count": "--count 1",
        "raw_text": "--raw-text = tag suggest --model weak.model caps.txt",
        "format": "--format plain = tag suggest --model weak.model test.tsv",
    },
    "tag report": {
        "": "tag report --model weak.model test.tsv --html out",
        "model": "--model tag.model",
        "column": "--column upos = tag report --model tag.model gold.conllu --html out",
        "format": "--format conllu",
        "html": "--html out2",
        "train": "--train gold.tsv",
        "sentences": "--sentences 1",
        "confusions": "--confusions 0",
        "examples": "--examples 0",
    },
    "tag export": {"": "tag export --model tag.model", "model": "--model tag2.model"},
    "tag score": {
        "": "tag score --model tag.model gold.tsv",
        "model": "--model tag2.model",
        "column": "--column upos = tag score --model tag.model gold.conllu",
        "format": "--format conllu",
        "objective": "--objective mbr = tag score --model weak.model test.tsv",
        "confusions": "--confusions 0 = tag score --model weak.model test.tsv",
        "calibration": "--no-calibration",
        "plot": "--plot out.svg",
    },
    "align train": {
        "": "align train en.txt fr.txt --seed 1 --sweeps 1,1,2 --output out",
        "seed": "--seed 2",
        "sweeps": "--sweeps 2,2,4",
        "chains": "--chains 2",
        "string_prior": "--no-string-prior",
        "fertilities": "--fertilities hierarchical",
        "settings": "--set coupling=3",
        "estimator": "--estimator em = align train en.txt fr.txt --sweeps 1,1,2 --output out",
        "earlier": "--from align.model",
        "normalize": "--as-written = align train caps.txt fr.txt --seed 1 --sweeps 1,1,2 --output out",
        "lexicon": "--lexicon lexicon.tsv",
        "priors": "--priors priors.txt",
        "shards": "--shards 2",
    },
    "align run": {
        "": ALIGN,
        "model": "--model align2.model",
        "direction": "--direction forward",
        "symmetrize": "--symmetrize intersection = align run --model align.model --json en.txt fr2.txt",
        "budget": "--budget 0 --marginals samples --seed 1",
        "proof": "--proof out.proof",
        "json": "--json = align run --model align.model en.txt fr.txt",
        "seed": "--seed 2 = align run --model align.model --json --marginals samples --seed 1 en.txt fr.txt",
        "method": "--method paper",
        "k": "-k 2 --direction forward",
        "marginals": "--marginals hmm",
        "samples": "--samples 7 --marginals samples --seed 1",
        "threshold": "--threshold 0.9 --seed 1",
        "iterations": "--iterations 1 = align run --model align.model --json --method paper en.txt fr2.txt",
        "step": "--step constant = align run --model align.model --json --method paper en.txt fr2.txt",
        "scale": "--scale 9 = align run --model align.model --json --method paper en.txt fr2.txt",
        "exactly_all": "--any-number = align run --model align.model --json --method paper en.txt fr2.txt",
        "max_states": "--max-states 1 = align run --model align.model --json en.txt fr2.txt",
        "exact": "--exact = align run --model align.model --max-states 1 --json en.txt fr2.txt",
    },
    "align corpus": {
        "": "align corpus en.txt fr.txt --seed 1 --sweeps 1,1,2 --json",
        "direction": "--direction forward",
        "symmetrize": "--symmetrize union --decode viterbi",
        "budget": "--budget 0 --decode exact",
        "seed": "--seed 2",
        "sweeps": "--sweeps 2,2,4",
        "chains": "--chains 2",
        "string_prior": "--no-string-prior",
        "fertilities": "--fertilities hierarchical --decode exact",
        "settings": "--set coupling=3",
        "json": "--json = align corpus en.txt fr.txt --seed 1 --sweeps 1,1,2",
        "model": "--model out.model",
        "earlier": "--from align.model",
        "normalize": "--as-written = align corpus caps.txt fr.txt --seed 1 --sweeps 1,1,2 --json",
        "lexicon": "--lexicon lexicon.tsv",
        "priors": "--priors priors.txt",
        "forward": "--forward out",
        "reverse": "--reverse out",
        "symmetrized": "--symmetrized out",
        "probabilities": "--probabilities out",
        "scores": "--scores out",
        "write_lexicon": "--write-lexicon out",
        "write_fertilities": "--write-fertilities out",
        "decode": "--decode exact",
        "threshold": "--threshold 0.99",
    },
    "align symmetrize": {"": "align symmetrize forward.txt reverse.txt", "method": "--method intersection"},
    "align score": {
        "": "align score forward.txt reverse.txt",
        "alpha": "--alpha 0.9",
        "source": "--source text.txt --target tags.txt",
        "target": "--target tags.txt --source text.txt",
    },
    "align project": {
        "": "align project gold.tsv fr.txt --seed 1",
        "seed": "--seed 2",
        "model": "--model align.model",
        "links": f"--links reverse.txt = {PROJECT}",
        "samples": "--samples 3 = align project gold.tsv strange.txt --model align.model --seed 1",
        "budget": "--budget 0 = align project gold.tsv fr.txt --model align.model --seed 1",
        "spans": "--spans = align project spans.tsv fr.txt --links forward.txt",
        "markers": "--markers = align project marked.txt fr.txt --links forward.txt",
        "separate": "--separate = align project marked.txt fr.txt --markers --links forward.txt",
        "column": "--column xpos = align project gold.conllu fr.txt --links forward.txt",
        "format": "--format tsv = align project gold.tsv.txt fr.txt --links forward.txt",
        "target_format": "--target-format tsv = align project gold.tsv gold.tsv.txt --links forward.txt",
        "smoothing": "--smoothing none",
        "threshold": "--threshold 1",
        "json": "--json",
    },
    "align strip": {"": "align strip marked.txt", "separate": "--separate"},
    "align report": {
        "": "align report en.txt fr.txt --seed 1 --html out",
        "seed": "--seed 2",
        "model": "--model align.model",
        "links": "--links reverse.txt = align report en.txt fr.txt --links forward.txt --html out",
        "samples": "--samples 7 --model align.model",
        "budget": "--budget 0 = align report en.txt fr.txt --model align.model --seed 1 --html out",
        "html": "--html out2",
        "threshold": "--threshold 0.9",
        "pairs": "--pairs 2",
        "words": "--words 1",
    },
    "induce run": {
        "": INDUCE,
        "column": "--column upos = induce run gold.conllu --tags 3 --iterations 2 --seed 1",
        "tags": "--tags 4",
        "model": "--model lex",
        "iterations": "--iterations 9",
        "burn_in": "--burn-in 0",
        "chains": "--chains 9 --iterations 1",
        "seed": "--seed 2",
        "sampler": "--sampler local",
        "order": "--order 2",
        "particles": "--particles 2",
        "chunk": "--chunk 1",
        "start": "--start type",
        "width": f"--width 3 = {CONSENSUS}",
        "tolerance": f"--tolerance 1 = {CONSENSUS}",
        "case": f"--case keep = {CONSENSUS.replace('text.txt', 'written.txt')}",
        "kinds": f"--kinds mix = {CONSENSUS.replace('--tags 4', '--tags 2')}",
        "confidence": "--confidence out.confidence",
        "start_iterations": f"--start-iterations 1 = {LEX}",
        "variant": f"--variant singletons = {LEX}",
        "geometric": f"--geometric 0.01 = {LEX}",
        "spelling": f"--spelling dirichlet = {LEX}",
        "save": "--save out.model",
        "format": "--format tsv = induce run gold.tsv.txt --tags 3 --iterations 2 --seed 1",
        "to": "--to plain",
    },
    "induce score": {
        "": "induce score gold.tsv other.tsv",
        "column": "--column upos = induce score gold.conllu other.tsv",
        "format": "--format conllu",
        "tagged_format": "--tagged-format conllu",
        "tables": "--tables",
        "learn": "--learn gold.tsv other.tsv",
    },
    "induce report": {
        "": "induce report run --html out",
        "html": "--html out2",
        "words": "--words 1",
        "sentences": "--sentences 1",
    },
    "induce label": {
        "": "induce label other.tsv --mapping names.json",
        "mapping": "--mapping names2.json",
        "column": "--column upos",
        "format": "--format conllu",
        "to": "--to tsv",
    },
    "induce plot": {
        "": "induce plot run --kind table --output out",
        "kind": "--kind log-joint --output out.svg",
        "seconds": "--seconds = induce plot run --output out.svg",
        "number": "--number 1",
    },
    "hmmlm cluster": {
        "": "hmmlm cluster text.txt --clusters 3 --output out",
        "clusters": "--clusters 4",
        "format": "--format brown",
        "start": "--start classes.tsv",
        "passes": "--passes 1 = hmmlm cluster varied.txt --clusters 4 --output out",
    },
    "hmmlm train em": {
        "": f"{HMM} --output out",
        **HMM_SHAPE,
        "preset": "--preset mixture",
        "members": "--members 2",
        "rounds": "--rounds 1",
        "folds": "--folds 2",
    },
    "hmmlm train gradient": {
        "": f"{HMM.replace('em', 'gradient')} --output out",
        **HMM_SHAPE,
        **HMM_GRADIENT,
        "valid": f"--valid typos.txt = hmmlm train gradient text.txt {LONGER}",
    },
    "hmmlm train neural": {
        "": f"{HMM.replace('em', 'neural')} --width 4 --output out",
        **dict.fromkeys([*HMM_SHAPE, *HMM_GRADIENT], "="),  # the same class and function as gradient's
        "tying": "--tying all",
        "width": "--width 8",
    },
    "hmmlm train lexical": {
        "": "hmmlm train lexical text.txt --preset fast --seed 1 --output out",
        "valid": "--valid text2.txt",
        "preset": "--preset default",
        "states": "--states 12",
        "seed": "--seed 2 = hmmlm train lexical varied.txt --seed 1 --output out",
    },
    "hmmlm distill": {
        "": f"hmmlm distill --samples ids.jsonl --end 0 {HMM.partition('text.txt ')[2]} --output out",
        "samples": "--samples ids2.jsonl",
        "end": "--end 3",
        "padding": "--padding 4",
        "valid": "--valid ids2.jsonl",
        "epochs": "--epochs 3",
        "seed": "--seed 2",
        "states": "--states 9",
        "clusters": "--clusters 3",
        "embeddings": "--embeddings vectors.npy",
        "lexical": "--lexical fast = hmmlm distill --samples ids.jsonl --end 0 --seed 1 --output out",
        "members": "--members 2",
        "rounds": "--rounds 1",
    },
    "hmmlm score": {
        "": "hmmlm score --model hmm.model text.txt",
        "model": "--model hmm2.model",
        "summary": "--summary",
        "lm": "--lm lm.arpa --valid text2.txt",
        "valid": "--valid text.txt = hmmlm score --model hmm.model text.txt --lm lm.arpa --valid text2.txt",
    },
    "hmmlm generate": {
        "": GENERATE,
        "model": "--model hmm2.model",
        "keywords": "--keywords dog",
        "pattern": "--pattern 'the .*'",
        "length": "--length 3",
        "n": "-n 2",
        "method": "--method rescore",
        "candidates": "--candidates 2 --method rescore",
        "budget": "--budget 0",
        "seed": "--seed 2",
        "json": "--json = hmmlm generate --model hmm.model --seed 1",
    },
}
UNTESTED = {"demo", "serve"}  # test_infer.py and test_serve.py


# ----------------------------------------------------------------------- rules


def conditions() -> Iterator[tuple[str, str, str]]:
    for command, kind in ALL.items():
        for name, found in options_of(kind).items():
            for other in found.when:
                yield command, name, other


def some_value(kind: Any, found: Option, *, but: tuple[object, ...] = ()) -> object:
    """A value of an option that is none of these."""
    text = str(kind)
    if found.choices:
        return next(choice for choice in found.choices if choice not in but and choice)
    if "bool" in text:
        return next(value for value in (True, False) if value not in but)
    if "tuple" in text:
        return ("x",)
    number = next(n for n in (found.least or 0, (found.least or 0) + 1) if n not in but)
    return "x" if "str" in text else float(number) if "float" in text else int(number)


@pytest.mark.parametrize(("command", "name", "other"), list(conditions()))
def test_an_option_without_effect_is_refused(command: str, name: str, other: str) -> None:
    kind = ALL[command]
    known, types = options_of(kind), get_type_hints(kind)
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    values = {n: some_value(types[n], found) for n, found in known.items() if defaults[n] is MISSING}
    wanted = tuple(known[name].when[other])
    if None in wanted or defaults[other] in wanted:
        values[other] = some_value(types[other], known[other], but=wanted)
    values[name] = some_value(types[name], known[name], but=(defaults[name],))
    with pytest.raises(OptionError) as refused:
        kind(**values)
    assert refused.value.option in {name, other, *known[other].when, *known[name].when}
    assert "has no effect" in str(refused.value)


def test_numbers_that_no_machine_counts_to_are_refused() -> None:
    for command, kind in ALL.items():
        known, types = options_of(kind), get_type_hints(kind)
        defaults = {field.name: field.default for field in dataclasses.fields(kind)}
        needed = {n: some_value(types[n], found) for n, found in known.items() if defaults[n] is MISSING}
        for name, found in known.items():
            if types[name] not in (int, int | None) or found.choices or found.when:
                continue
            with pytest.raises(OptionError) as refused:
                kind(**needed | {name: 10**30})
            assert refused.value.option == name, command


def test_the_manual_lists_all_options() -> None:
    path = Path(__file__).parents[2] / "docs" / "commands.md"
    assert path.read_text("utf-8") == page(), "python -m hiddenite.cli.reference > docs/commands.md"


def test_every_option_is_looked_at() -> None:
    for command, kind in ALL.items():
        if command in UNTESTED:
            continue
        named = {n for n, found in options_of(kind).items() if not (found.is_argument or found.is_hidden)}
        assert named - ELSEWHERE == CASES[command].keys() - {""}, command


# --------------------------------------------------------------------- effects


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files of every kind."""
    place = tmp_path_factory.mktemp("options")
    conllu = "".join(
        "".join(
            f"{i}\t{word}\t_\t{UPOS.get(word, 'v')}\t{TAGS.get(word, 'V')}\t_\t_\t_\t_\t_\n"
            for i, word in enumerate(line.split(), 1)
        )
        + "\n"
        for line in TEXT
    )
    tsv = "".join("".join(f"{w}\t{TAGS.get(w, 'V')}\n" for w in line.split()) + "\n" for line in TEXT)
    files = {
        "text.txt": "".join(f"{line}\n" for line in TEXT),
        "text2.txt": "the dog sleeps .\nthe old cat barks !\n" * 5,
        "varied.txt": "".join(
            f"{' '.join(f'w{i * i * j % 17}' for j in range(i % 9))}\n" for i in range(200)
        ),
        "keys.txt": "843 364 22757 0\n843 228 753377 0\n2 364 753377 0\n",
        "typos.txt": "teh dgo brks .\na caat sleps .\n",
        "words.txt": "the\ndog\ncat\n.\n",
        "words.map": "td the_dog 0.9 a_dog 0.1 cat 0.2\nbarks barks 0.3 bark\n",
        "logs.map": "dgo dog -1 cat -2\ndgi dog -1.5\n",
        "joined.txt": "the_dog barks\n",
        "mapped.txt": "td barks\na dgo sleeps .\n",
        "text.counts": "<s>\t2\n</s>\t2\na\t1\n<s> a\t1\n<s> </s>\t1\na </s>\t1\n<s> a </s>\t1\n",
        "words.sym": "the 1\ndog 2\n",
        "l.kaldi": "u\n0 1 1 1,1,1_1\n1 2 2 1,1,1_1\n2 0,0,\n\n",
        "l.slf": "VERSION=1.0\nN=4 L=7\nI=0 t=0\nI=1 t=0.3\nI=2 t=0.5\nI=3 t=1\n"
        "J=0 S=0 E=1 W=the a=-1 l=-1\nJ=1 S=0 E=1 W=a a=-1.5 l=-2\nJ=2 S=1 E=2 W=dog a=-3 l=-2\n"
        "J=3 S=1 E=2 W=dgo a=-2.5 l=-1\nJ=4 S=2 E=3 W=barks a=-1 l=-4\nJ=5 S=2 E=3 W=bark a=-1.2 l=-1\n"
        "J=6 S=0 E=1 W=the a=-2 l=-3\n",
        "typed.txt": "dgo\nsleps\n",
        "written.txt": "The dog barks .\nThe cat , an old one , sleeps !\nRex sees the dog .\n" * 4
        + "A Dog .\n",
        "unwritten.txt": "the cat sleeps\nrex an old one\n",
        "marks.txt": ", !\n",
        "typed2.txt": "dog\nsleeps\n",
        "strange.txt": "uu vv ww xx\n" * len(TEXT),
        "pairs.tsv": "teh dgo brks .\tthe dog barks .\n\na caat\ta cat\nthe old\tthe old\n",
        "doubt.txt": "teh dgo brks .\nthe ct sees teh dg .\nsleeps slep bak oll en se\n",
        "doubt.tsv": "the ct sees teh dg .\tthe cat sees the dog .\nsleeps slep bak oll en se\tx\n",
        "tokens.tsv": "The\tThe\nDgo\tDog\nCaat\tCat\n",
        "named.txt": "@teh dgo\n",
        "gold.tsv": tsv,
        "rich.tsv": tsv.replace("\tN", "\tN|a|b").replace("\tV", "\tV|a"),
        "tagwords.tsv": "dog\tN\nfrob\tN V\n",
        "soft.tsv": "the\tD\t0.9\nfrob\tN\t0.6\n\n",
        "gold.tsv.txt": tsv,
        "gold.conllu": conllu,
        "spans.tsv": tsv.replace("\tN", "\tB-X")
        .replace("\tD", "\tO")
        .replace("\tV", "\tO")
        .replace("\tP", "\tO")
        .replace("\tC", "\tO")
        .replace("\tA", "\tO"),
        "marked.txt": "".join(f"«{line.replace('dog', '<b>dog</b>')}\n" for line in TEXT),
        "names.json": '{"format": "hiddenite class names", "version": 1, "names": {"X": "DET"}}',
        "names2.json": '{"format": "hiddenite class names", "version": 1, "names": {"X": "D"}}',
        "other.tsv": tsv.replace("\tD", "\tX").replace("\tA", "\tN"),
        "test.tsv": "the\tD\nbark\tN\nsleeps\tV\n.\tP\n\na\tD\nsees\tN\nbarks\tN\n!\tP\n\n",
        "en.txt": "".join(f"{line}\n" for line in TEXT),
        "fr.txt": "".join(f"{line}\n" for line in FRENCH),
        "fr2.txt": "".join(f"{' '.join(w for w in line.split() for _ in 'ab')}\n" for line in FRENCH),
        "caps.txt": "".join(f"{line.upper() if n % 2 else line}\n" for n, line in enumerate(TEXT)),
        "lexicon.tsv": "dog\tdort\t50\nthe\tchat\t50\n",
        "priors.txt": "LEX\tdog\tdort\t50\nFERF\tthe\t2\t50\nHMMF\t-1\t9\n",
        "tags.txt": "x\n" * len(TEXT),
        "forward.txt": "0-0 1-1 2-2\n" * len(TEXT),
        "ids.jsonl": "[5, 3, 4, 6, 0]\n[3, 7, 5, 0]\n[4, 4, 8, 0]\n" * 4,
        "ids2.jsonl": "[5, 4, 3, 0]\n[8, 6, 7, 0]\n" * 4,
        "reverse.txt": "0-0 1-1 2-1\n" * len(TEXT),
    }
    for name, content in files.items():
        (place / name).write_text(content)
    np.save(place / "vectors.npy", np.arange(18.0).reshape(9, 2) ** 2 % 7)
    for line in [
        "lm train text.txt --order 3 --output lm.arpa",
        "lm train text2.txt --order 2 --output lm2.arpa",
        "lm train varied.txt --order 3 --output varied.arpa",
        "lm compile lm.arpa --output lm.hlm",
        "restore train written.txt --output a.restorer",
        "restore train written.txt --what case --order 1 --output b.restorer",
        "correct learn pairs.tsv --lm lm.arpa --output any.corrector",
        "correct learn pairs.tsv --lm lm2.arpa --kind ocr --output other.corrector",
        "decode --lm lm.arpa --channel keypad keys.txt --proof ok.proof",
        "decode --lm lm.arpa --channel keypad keys.txt --no-end --proof other.proof",
        "tag train gold.tsv --output tag.model",
        "tag train gold.conllu --column upos --output tag2.model",
        "tag train gold.tsv --recipe tnt --order 1 --output weak.model",
        "align train en.txt fr.txt --seed 1 --sweeps 2,2,4 --output align.model",
        "align train en.txt fr.txt --seed 2 --sweeps 1,1,2 --output align2.model",
        "align run --model align.model en.txt fr.txt --proof align.proof",
        "induce run text.txt --tags 3 --model lex --iterations 3 --seed 1 --checkpoint run --output run.tsv",
        f"{HMM} --output hmm.model",
        "hmmlm train em text2.txt --states 8 --clusters 2 --epochs 2 --seed 2 --output hmm2.model",
        "hmmlm cluster text2.txt --clusters 3 --output classes.tsv",
    ]:
        succeed(place, *line.split(), "--quiet")
    lines = (place / "lm.arpa").read_text().splitlines(keepends=True)
    unknown = next(line for line in lines if "<unk>" in line)
    bare = "".join(line for line in lines if line != unknown)
    count = next(line for line in lines if line.startswith("ngram 1="))
    (place / "bare.arpa").write_text(bare.replace(count, f"ngram 1={int(count[8:]) - 1}\n"))
    return place


def outcome(place: Path, arguments: list[str]) -> tuple[int, bytes, dict[str, bytes]]:
    """The exit status, standard output, and the files that a run writes."""
    before = {path.name for path in place.iterdir()}
    done = run(place, *arguments)
    assert "Traceback" not in done.stderr, done.stderr
    written = {}
    for path in place.iterdir():
        if path.name not in before:
            written[path.name] = path.read_bytes()
            path.unlink()
    return done.status, done.stdout + (done.stderr.encode() if done.status else b""), written


@pytest.mark.parametrize("command", CASES)
def test_every_option_changes_something(folder: Path, command: str) -> None:
    default = CASES[command][""].split()
    bases: dict[str, object] = {}
    for name, given in CASES[command].items():
        if not name:
            continue
        extra, _, own = given.partition("=") if given.startswith("=") or " = " in given else (given, "", "")
        base = own.split() if own else default
        key = " ".join(base)
        if key not in bases:
            bases[key] = outcome(folder, base)
        if not extra.strip():
            continue
        changed = outcome(folder, [*base, *(part.strip("'") for part in extra.split())])
        if changed[0] == 1 and b"extra 'neural'" in changed[1]:
            continue  # not installed
        assert changed != bases[key], f"{command} {given} changes nothing"
