// Two files that belong together, line by line: a page about all their links, to be kept.

import { ask } from "./api.js";
import { byId, card, mark, number, percent, plural, table } from "./dom.js";
import { chosenText } from "./files.js";
import { reportPrograms } from "./programs.js";
import { turns } from "./turn.js";
import { showUse } from "./use.js";

const SEED = 1;

const begin = turns("report-error", () => [card("report")]);

function show(answer, names, files) {
  byId("report-note").textContent = `${plural(answer.pairs, "sentence pair")}, ${plural(answer.links, "link")} of probability 0.5 or more. `
    + `Of all decisions, link or no link, about ${number(answer.doubt, 1)} are expected to be wrong under this model. The page that you can download shows every pair.`;
  const rows = answer.dubious.map(([line, source, target, p]) => [String(line), source, target, percent(p)]);
  byId("report").replaceChildren(table(["#line", "source word", "target word", "#probability"], rows));
  showUse("align", [["Download report", "links.html", answer.html]], reportPrograms(files, ...names, answer.samples, SEED), "report-use");
}

export function startReport(info) {
  const inputs = ["report-source", "report-target"].map(byId);
  mark([card("report")], "empty");
  const update = () => {
    const isEmpty = inputs.some((one) => one.files.length === 0);
    inputs.forEach((one, i) => {
      byId(`${one.id}-name`).textContent = one.files[0]?.name ?? ["no source file", "no target file"][i];
    });
    begin(isEmpty, async (signal) => {
      const [source, target] = await Promise.all(inputs.map((one) => chosenText(one, info.limits.long_characters)));
      const names = inputs.map((one) => one.files[0].name);
      show(await ask("report", { source, target, source_name: names[0], target_name: names[1], seed: SEED }, signal), names, info.files);
    });
  };
  for (const one of inputs) one.addEventListener("change", update);
  if (inputs.some((one) => one.files.length)) update(); // chosen before the page had started
}
