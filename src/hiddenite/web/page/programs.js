// The same question as a shell command and as Python. They run as they are shown: a test runs them.

const sh = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const py = (value) => JSON.stringify(value); // a string of JSON is one of Python
const lines = (...rows) => rows.filter((row) => row !== "").join("\n");
const echo = (text) => `printf '%s\\n' ${sh(text)}`;

export function correctPrograms(files, text, careful) {
  const lm = files.corrector_lm;
  if (lm === "") return null;
  const model = lm ? `--lm ${sh(lm)} ` : files.corrector ? `--model ${sh(files.corrector)} ` : "";
  const made = lm ? `Corrector.from_ngram(NgramModel.load(${py(lm)}))` : `Corrector.load(${files.corrector ? py(files.corrector) : "default_model()"})`;
  return {
    command: `${echo(text)} | hiddenite correct ${model}--format plain${text.includes("\n") ? " --paragraphs" : ""}${careful ? " --careful" : ""}`,
    python: lines(
      `from hiddenite import Corrector${lm ? ", NgramModel" : ""}`,
      lm || files.corrector ? "" : "from hiddenite.correct.defaults import default_model",
      `corrector = ${made}`,
      `found = corrector.correct(${py(text)}${careful ? ", careful=True" : ""})`,
      "print(found.text)",
      "for change in found.changes:",
      "    print(change.old, change.new, change.probability)",
    ),
  };
}

// `asked` is what /api/decode was asked, with `input` instead of a message.
export function decodePrograms(files, asked, keep) {
  if (!files.lm) return null;
  const rate = (0.01 + 0.02 * asked.noise).toFixed(2);
  const own = asked.slots ? { slots: asked.slots } : asked.lattice ? { lattice: asked.lattice } : null;
  const options = own ? "--channel slots"
    : asked.channel === "keypad" ? `--channel keypad --ambiguity ${4096 / 2 ** asked.noise} --keep ${keep}`
    : `--channel typo --error-rate ${rate} --keep ${keep}`;
  const made = asked.slots ? `hiddenite.Candidates.from_slots(lm.vocabulary, ${py(asked.slots)})`
    : asked.lattice ? `hiddenite.Candidates.from_lattice(lm.vocabulary, ${py(asked.lattice)})`
    : asked.channel === "keypad" ? `hiddenite.Keypad(lm.vocabulary, ${4096 / 2 ** asked.noise}, ${keep})(${py(asked.input)})`
    : `hiddenite.Typo(lm.vocabulary, rates=hiddenite.TypoRates(error_rate=${rate}), keep=${keep})(${py(asked.input)})`;
  return {
    command: `${echo(own ? JSON.stringify(own) : asked.input)} | hiddenite decode --lm ${sh(files.lm)} ${options} --json`,
    python: lines(
      "import hiddenite",
      `lm = hiddenite.NgramModel.load(${py(files.lm)})`,
      `candidates = ${made}`,
      "best = hiddenite.decode(lm, candidates)",
      "print(*best.words)",
      "print(best.log_weight, best.certificate)",
    ),
  };
}

export function tagPrograms(files, text) {
  if (!files.tagger) return null;
  return {
    command: `${echo(text)} | hiddenite tag run --model ${sh(files.tagger)} --json`,
    python: lines(
      "import hiddenite",
      `tagger = hiddenite.Tagger.load(${py(files.tagger)})`,
      `best = tagger.tag(${py(text)})`,
      "print(*zip(best.words, best.tags))",
      "print(best.certificate)",
    ),
  };
}

// `asked` is what /api/align was asked.
export function alignPrograms(files, asked) {
  if (!files.aligner) return null;
  const { source, target, direction, symmetrize, samples, seed } = asked;
  const both = direction === "both";
  return {
    command: `${echo(`${source} ||| ${target}`)} | hiddenite align run --model ${sh(files.aligner)} --method exact --direction ${direction}${both ? ` --symmetrize ${symmetrize}` : ""} --marginals samples --samples ${samples} --seed ${seed} --json -`,
    python: lines(
      "import hiddenite",
      `aligner = hiddenite.Aligner.load(${py(files.aligner)})`,
      `found = aligner.align(${py(source)}, ${py(target)}, direction=${py(direction)},`,
      `                      ${both ? `symmetrize=${py(symmetrize)}, ` : ""}samples=${samples}, seed=${seed})`,
      "print(found.links, found.certificate)",
      "print(found.probabilities)",
    ),
  };
}

export function reportPrograms(files, sourceName, targetName, samples, seed) {
  if (!files.aligner) return null;
  return {
    command: `hiddenite align report ${sh(sourceName)} ${sh(targetName)} --model ${sh(files.aligner)} --samples ${samples} --seed ${seed} --html links.html`,
    python: lines(
      "from pathlib import Path",
      "from hiddenite import Aligner",
      "from hiddenite.align.evidence import model_probabilities",
      "from hiddenite.align.report import make_report",
      "from hiddenite.align.report_page import page",
      `names = ${py(sourceName)}, ${py(targetName)}`,
      'sides = [[line.split() for line in Path(name).read_text("utf-8").splitlines()] for name in names]',
      "pairs = list(zip(*sides, strict=True))",
      `links = model_probabilities(Aligner.load(${py(files.aligner)}), pairs, samples=${samples}, seed=${seed})`,
      "report = make_report(pairs, links, threshold=0.5, most_pairs=1000, most_links=1000, most_words=5000)",
      'Path("links.html").write_text(page(report, *names), "utf-8")',
    ),
  };
}

export function scorePrograms(files, text) {
  if (!files.lm) return null;
  return {
    command: `${echo(text)} | hiddenite lm score --lm ${sh(files.lm)} --summary`,
    python: lines(
      "import hiddenite",
      `lm = hiddenite.NgramModel.load(${py(files.lm)})`,
      `sentences = ${py(text)}.split("\\n")`,
      "for sentence in sentences:",
      '    words = [*sentence.split(), "</s>"]',
      "    for word, (log_prob, length, is_unknown) in zip(words, lm.full_scores(sentence)):",
      "        print(word, log_prob, is_unknown)",
      "print(lm.perplexity(sentences))",
    ),
  };
}

export function inducePrograms(text, tags, answer, seed) {
  const { model, planned_sweeps: sweeps } = answer;
  if (answer.sweeps < sweeps) return null; // the server's time ended first: a command would go on
  return {
    command: `${echo(text)} | hiddenite induce run - --tags ${tags} --model ${model} --iterations ${sweeps} --seed ${seed}`,
    python: lines(
      "import hiddenite",
      `text = ${py(text)}.split("\\n")`,
      `run = hiddenite.induce(text, ${tags}, model=${py(model)}, iterations=${sweeps}, seed=${seed}).run()`,
      "for sentence in run.tagged():",
      "    print(*sentence)",
    ),
  };
}

// `asked` is what /api/generate was asked.
export function generatePrograms(files, asked) {
  if (!files.hmm) return null;
  const { keywords, method, n, seed, length } = asked;
  const draws = method === "best" ? "" : ` -n ${n} --seed ${seed}`;
  return {
    command: `hiddenite hmmlm generate --model ${sh(files.hmm)}${keywords.length ? ` --keywords ${sh(keywords.join(", ") + (keywords.length === 1 ? "," : ""))}` : ""} --method ${method}${draws}${length ? ` --length ${length}` : ""}`,
    python: lines(
      "import hiddenite",
      `model = hiddenite.HMMLanguageModel.load(${py(files.hmm)})`,
      `found = model.generate(${method === "best" ? 1 : n}, keywords=${py(keywords)}, method=${py(method)}, seed=${seed},`,
      `                       ${length ? `length=${length}` : `max_length=${asked.max_length}`})`,
      "for sentence in found.sentences:",
      "    print(sentence.log_prob, *sentence.words)",
    ),
  };
}
