// Asks mermaid's own parser, under jsdom, whether it takes each diagram of a JSON list on stdin. See .ci/extra.
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html>");
Object.assign(globalThis, { window, document: window.document });
const { default: mermaid } = await import("mermaid");

let text = "";
for await (const part of process.stdin) text += part;
const diagrams = JSON.parse(text);
let refused = 0;
for (const diagram of diagrams) {
  try {
    await mermaid.parse(diagram);
  } catch (error) {
    refused += 1;
    console.error(`refused: ${error.message}\n${diagram.slice(0, 500)}`);
  }
}
console.log(`mermaid: ${diagrams.length} diagrams, ${refused} refused`);
process.exit(refused || !diagrams.length ? 1 : 0);
