// A real server over stdio, for what the host passes on; and its commands.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const python = process.env.PYTHON ?? "python3";

export class Server {
  #waiting = new Map();
  #count = 0;

  constructor(store) {
    this.environment = { ...process.env, MCP_MEMORY_STORAGE_URI: store, MCP_MEMORY_SPACE: "default" };
    this.process = spawn(python, ["-m", "mcp_memory"], { env: this.environment, stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const { done, fail } = this.#waiting.get(id) ?? {};
      this.#waiting.delete(id);
      if (error) fail?.(new Error(error.message)); else done?.(result);
    });
  }

  async open() {
    const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
    const about = { protocolVersion: "2025-11-25", capabilities: { extensions }, clientInfo: { name: "test-host", version: "1" } };
    const told = await this.request("initialize", about);
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return told;
  }

  request(method, params) {
    const id = ++this.#count;
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((done, fail) => this.#waiting.set(id, { done, fail }));
  }

  async call(name, args = {}) {
    const result = await this.request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(result.content[0].text);
    return result;
  }

  // Resolves to the file that `mcp-memory view` shows until the server is closed.
  view() {
    this.viewing = spawn(python, ["-m", "mcp_memory", "view", "--no-browser"], { env: this.environment });
    return new Promise((done) => createInterface({ input: this.viewing.stdout }).once("line", (line) => done(line.split(" ").at(-1))));
  }

  async close() {
    this.viewing?.kill("SIGINT");
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.stdin.end();
    await ended;
  }
}
