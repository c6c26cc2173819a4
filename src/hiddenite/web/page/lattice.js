// A lattice of readings: every way from left to right is one. Positions in a row are a lattice too.

import { percent, svg } from "./dom.js";

const COLUMN = 118;
const LANE = 30;
const EDGE = 26; // room above and below
const SHOWN = 4; // words between two nodes

// `answer` is that of /api/marginals, `best` that of /api/decode.
function edgesOf(answer, best) {
  const spans = answer.spans ?? answer.slots.map((_, i) => [i, i + 1]);
  const nodes = best.nodes ?? best.words.map((_, i) => i).concat(best.words.length);
  const chosen = new Map(best.words.map((word, i) => [`${nodes[i]}-${nodes[i + 1]}`, word]));
  return spans.flatMap(([from, to], i) => {
    const word = chosen.get(`${from}-${to}`);
    const isBest = (name) => name === word;
    const rows = [...answer.slots[i]].sort((a, b) => isBest(b[0]) - isBest(a[0]) || b[1] - a[1]).slice(0, SHOWN);
    return rows.map(([name, p]) => ({ from, to, word: name, p, isBest: isBest(name), hidden: answer.slots[i].length - rows.length }));
  });
}

// The column of a node: the longest way to it.
function columnsOf(edges) {
  const column = new Map([[0, 0]]);
  for (const { from, to } of [...edges].sort((a, b) => a.from - b.from)) {
    column.set(to, Math.max(column.get(to) ?? 0, (column.get(from) ?? 0) + 1));
  }
  return column;
}

// Each edge gets the first lane that is free on all its way; the best reading is laid first.
function layOut(edges, column) {
  const taken = [];
  const order = [...edges].sort((a, b) => b.isBest - a.isBest || (a.to - a.from) - (b.to - b.from) || b.p - a.p);
  for (const edge of order) {
    const way = [];
    for (let c = column.get(edge.from); c < column.get(edge.to); c++) way.push(c);
    let lane = 0;
    while (way.some((c) => taken[lane]?.has(c))) lane += 1;
    taken[lane] ??= new Set();
    for (const c of way) taken[lane].add(c);
    edge.lane = lane;
  }
  return taken.length;
}

const short = (word) => ([...word].length > 11 ? `${[...word].slice(0, 10).join("")}…` : word);

export function drawLattice(parent, answer, best) {
  const edges = edgesOf(answer, best);
  const column = columnsOf(edges);
  const lanes = Math.max(1, layOut(edges, column));
  const last = Math.max(...column.values());
  const width = COLUMN * last + 2 * EDGE;
  const height = LANE * (lanes - 1) + 2 * EDGE;
  const x = (node) => EDGE + COLUMN * (column.get(node) ?? 0);
  const y = (lane) => EDGE + LANE * lane;
  const label = `Lattice of ${column.size} nodes and ${edges.length} words that are drawn. Best reading: ${best.words.join(" ")}. The probabilities are listed below.`;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (const edge of [...edges].sort((a, b) => a.isBest - b.isBest)) {
    const [x0, x1, y0, y1] = [x(edge.from), x(edge.to), y(0), y(edge.lane)];
    const path = `M ${x0} ${y0} C ${x0 + 18} ${y0}, ${x0 + 10} ${y1}, ${x0 + 30} ${y1} L ${x1 - 30} ${y1} C ${x1 - 10} ${y1}, ${x1 - 18} ${y0}, ${x1} ${y0}`;
    drawing.append(svg("g", { class: edge.isBest ? "edge best" : "edge" },
      svg("path", { d: path, "stroke-width": (1 + 3 * edge.p).toFixed(2) }),
      svg("text", { x: (x0 + x1) / 2, y: y1 - 5, "text-anchor": "middle" }, short(edge.word)),
      svg("title", {}, `${edge.word}: ${percent(edge.p)}`)));
  }
  for (const node of column.keys()) drawing.append(svg("circle", { class: "node", cx: x(node), cy: y(0), r: 5 }));
  parent.replaceChildren(drawing);
}
