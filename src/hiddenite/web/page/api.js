// Questions to the server.

const RETRIES = 4;
const GONE = "The server does not answer: is hiddenite serve still running, and this machine online? Type again to ask again.";

// What a browser says of a lost connection differs, and helps nobody.
function lost(error) {
  throw isAbort(error) ? error : new Error(GONE);
}

async function post(name, question, signal) {
  const options = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
    signal,
  };
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`api/${name}`, options).catch(lost);
    if (response.ok) return response;
    if (response.status === 429 && attempt < RETRIES) {
      await new Promise((resume) => setTimeout(resume, 200 * 2 ** attempt));
      continue;
    }
    const { error } = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
    throw new Error(error);
  }
}

export async function ask(name, question, signal) {
  return (await post(name, question, signal)).json().catch(lost);
}

// Calls `on(event, data)` for each server-sent event.
export async function watch(name, question, signal, on) {
  const response = await post(name, question, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read().catch(lost);
    if (done) return;
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const [event, data] = part.split("\n").map((line) => line.slice(line.indexOf(" ") + 1));
      if (event === "error") throw new Error(JSON.parse(data).error);
      on(event, JSON.parse(data));
    }
  }
}

export const isAbort = (error) => error.name === "AbortError";
