// The two pictures of a search: its bounds, and its automaton.

import { byId, number, plural, svg, table } from "./dom.js";

const NARROWEST = 260;
const HEIGHT = 220;
const LEFT = 8;
const RIGHT = 96; // room for the labels at the lines' ends
const TOP = 14;
const BOTTOM = 26;

// `steps` are the turns so far; bounds that are not finite are null.
export function drawBounds(parent, steps) {
  const known = steps.flatMap((s) => [s.upper, s.lower]).filter((x) => x !== null);
  if (known.length === 0) return;
  const width = Math.max(NARROWEST, parent.clientWidth);
  const high = Math.max(...known);
  const low = Math.min(...known);
  const x = (i) => LEFT + ((width - LEFT - RIGHT) * i) / Math.max(1, steps.length - 1);
  const y = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - value)) / (high - low || 1);
  const points = (name) =>
    steps.map((s, i) => [i, s[name]]).filter(([, value]) => value !== null).map(([i, value]) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
  const last = steps[steps.length - 1];
  const upper = points("upper");
  const lower = points("lower");
  const [upperY, lowerY] = last.lower === null ? [y(last.upper), HEIGHT - BOTTOM] : apart(y(last.upper), y(last.lower));
  const text = `Upper bound ${number(last.upper)}, lower bound ${number(last.lower)} after ${steps.length} steps.`;
  parent.replaceChildren(
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width: width, role: "img", "aria-label": text },
      svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: HEIGHT - BOTTOM + 4, y2: HEIGHT - BOTTOM + 4 }),
      svg("polygon", { class: "between", points: [...upper, ...[...lower].reverse()].join(" ") }),
      svg("polyline", { class: "upper", points: upper.join(" ") }),
      svg("polyline", { class: "lower", points: lower.join(" ") }),
      svg("text", { class: "upper-label", x: width - RIGHT + 6, y: upperY + 4 }, `upper ${number(last.upper, 2)}`),
      svg("text", { class: "lower-label", x: width - RIGHT + 6, y: lowerY + 4 }, `lower ${number(last.lower, 2)}`),
      svg("text", { x: LEFT, y: HEIGHT - 6 }, "steps"),
      svg("text", { x: width - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, String(steps.length)),
    ),
  );
}

function apart(a, b) {
  const middle = (a + b) / 2;
  return b - a >= 16 ? [a, b] : [middle - 8, middle + 8];
}

const COLUMN = 66;
const ROW = 42;

// `picture` is the server's `automaton` event, `words` q's best path.
export function drawAutomaton(parent, picture, words) {
  const columns = picture.positions;
  const rows = Math.max(...columns.map((c) => c.lengths.length));
  const margin = 78;
  const width = margin + COLUMN * columns.length;
  const height = ROW * rows + 34;
  const x = (i) => margin + COLUMN * (i + 0.5);
  const y = (n) => ROW * (n + 0.5);
  const largest = Math.max(...columns.flatMap((c) => c.lengths));
  const radius = (count) => 9 + 9 * Math.sqrt(count / largest);
  const label = `${picture.states} states; contexts of up to ${rows - 1} words.`;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (let n = 0; n < rows; n++) {
    drawing.append(svg("text", { x: 0, y: y(n) + 4 }, n === 0 ? "nothing" : n === 1 ? "1 word" : `${n} words`));
  }
  drawing.append(svg("polyline", { class: "path", points: columns.map((c, i) => `${x(i)},${y(c.path)}`).join(" ") }));
  columns.forEach((column, i) => {
    column.lengths.forEach((count, n) => {
      if (count === 0) return;
      const kind = `state${n > 0 && i > 0 ? " refined" : ""}${n === column.path ? " on-path" : ""}`;
      const contexts = column.contexts.filter((c) => c.length === n).map((c) => c.join(" "));
      drawing.append(
        svg("g", {},
          svg("circle", { class: kind, cx: x(i), cy: y(n), r: radius(count).toFixed(1) }),
          svg("text", { class: "count", x: x(i), y: y(n) + 4 }, String(count)),
          svg("title", {}, [`${count} states that know ${n} words`, ...contexts.map((c) => `… ${c}`)].join("\n")),
        ),
      );
    });
    if (i < words.length) {
      drawing.append(svg("text", { class: "word", x: x(i) + COLUMN / 2, y: height - 8 }, short(words[i])));
    }
  });
  const scrolled = parent.scrollLeft;
  parent.replaceChildren(drawing);
  parent.scrollLeft = scrolled;
  const heads = Array.from({ length: rows }, (_, n) => (n === 0 ? "#know nothing" : `#know ${plural(n, "word")}`));
  const counts = columns.map((c, i) => [String(i), words[i] ?? "end", ...heads.map((_, n) => String(c.lengths[n] ?? 0)), c.contexts.map((one) => one.join(" ")).join("; ")]);
  byId("automaton-rows").replaceChildren(table(["#words before", "next on q’s path", ...heads, "some of the longest contexts"], counts));
}

const short = (word) => (word.length > 9 ? `${word.slice(0, 8)}…` : word);
