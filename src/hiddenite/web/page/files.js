// Files of the user's, read in the browser; they go to the server only as the text of a question.

import { byId, showError } from "./dom.js";

async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not UTF-8 text; save it as UTF-8 and choose it again`);
  }
}

// The text of the chosen file, if it is not too long.
export async function chosenText(input, most) {
  const [file] = input.files;
  const text = await readText(file);
  const { length } = [...text];
  if (length > most) throw new Error(`${file.name} has ${length.toLocaleString("en")} characters, expected at most ${most.toLocaleString("en")}; use the command for whole files`);
  return text.replaceAll("\r\n", "\n").replace(/\n$/, "");
}

// A file that is chosen fills a field as if it had been typed; it may have been chosen before the page had started.
export function fillFrom(inputId, fieldId, errorId, most, change = (text) => text) {
  const input = byId(inputId);
  const fill = async () => {
    if (input.files.length === 0) return;
    try {
      byId(fieldId).value = change(await chosenText(input, most));
      byId(fieldId).dispatchEvent(new Event("input"));
    } catch (error) {
      showError(byId(errorId), error);
    }
    input.value = ""; // the same file can be chosen again
  };
  input.addEventListener("change", fill);
  fill();
}
