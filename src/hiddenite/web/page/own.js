// The user's own candidates, as JSON: words by position, or the edges of a lattice.

const FORMS = 'expected positions, [["the", "a"], [["king", -0.5], ["thing", -2]]], or edges, [[0, 1, "the", 0], [1, 2, "king", -0.5]]';

export const EXAMPLES = {
  slots: '[["the", "a"], [["king", -0.5], ["thing", -0.2]], ["said", "sad"], ["to"], ["him", "hymn"]]',
  lattice: '[[0, 1, "the", 0], [1, 2, "king", -0.5], [0, 2, "thinking", -1], [2, 3, "said", 0], [3, 5, "unto", -1], [3, 4, "on", -0.5], [4, 5, "to", -0.5], [5, 6, "him", 0]]',
};

const isEdge = (one) => Array.isArray(one) && one.length === 4 && typeof one[0] === "number" && typeof one[1] === "number";
const weighted = (one) => (typeof one === "string" ? [one, 0] : one);

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the candidates are not JSON (${error.message}); ${FORMS}`);
  }
}

// Returns { slots } or { lattice }; the server checks the rest.
export function readOwn(text) {
  let given = parse(text);
  given = given.slots ?? given.lattice ?? given;
  if (!Array.isArray(given) || given.length === 0 || !given.every(Array.isArray)) throw new Error(`the candidates have another form; ${FORMS}`);
  return given.every(isEdge) ? { lattice: given } : { slots: given.map((slot) => slot.map(weighted)) };
}
