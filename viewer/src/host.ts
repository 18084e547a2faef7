// Where the graph comes from: a host with MCP Apps (JSON-RPC by postMessage, revision 2026-01-26), or the page itself,
// which `mcp-memory view` has filled.

import type { Page } from "./graph";

export interface Ask { entity?: string; depth?: number; as_of?: string; space?: string }

/** What the viewer can ask for more; null where it cannot. */
export interface Source {
  graph: ((ask: Ask) => Promise<Page>) | null;
  next: ((uri: string) => Promise<Page>) | null;
}

interface Events {
  page(page: Page): void;
  waiting(entity: string | undefined): void;
  problem(text: string): void;
  dress(context: HostContext): void;
}

export interface HostContext {
  theme?: "light" | "dark"; styles?: { variables?: Record<string, string | undefined> }; displayMode?: string;
  availableDisplayModes?: string[]; containerDimensions?: { height?: number; maxHeight?: number };
}
interface Result { content?: { type: string; text?: string }[]; structuredContent?: unknown; isError?: boolean }
interface Message { jsonrpc?: string; id?: number | string; method?: string; params?: any; result?: any; error?: { message: string } }

/** Returns the graph inside this file, or null if there is none. */
export function inside(): { graph: Page } | null {
  return JSON.parse(document.getElementById("data")?.textContent ?? "null");
}

export const saved: Source = { graph: null, next: null };

/** The host that shows this page in a frame. */
export class Host implements Source {
  graph: Source["graph"] = null;
  next: Source["next"] = null;
  private readonly waiting = new Map<number, { done(result: any): void; fail(error: Error): void }>();
  private count = 0;

  constructor(private readonly events: Events) {
    addEventListener("message", ({ source, data }) => { if (source === parent) this.receive(data); });
  }

  async greet(): Promise<void> {
    const about = { appInfo: { name: "mcp-memory", version: "1" }, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } };
    const told = await this.request("ui/initialize", { ...about, protocolVersion: "2026-01-26" });
    const can = told.hostCapabilities ?? {};
    if (can.serverTools) this.graph = async (ask) => pageOf(await this.request("tools/call", { name: "memory_graph", arguments: ask }));
    if (can.serverResources) this.next = async (uri) => JSON.parse((await this.request("resources/read", { uri })).contents[0].text);
    this.events.dress(told.hostContext ?? {});
    this.notify("ui/notifications/initialized", {});
  }

  async enlarge(mode: "inline" | "fullscreen"): Promise<void> {
    this.events.dress({ displayMode: (await this.request("ui/request-display-mode", { mode })).mode });
  }

  resized(height: number): void {
    this.notify("ui/notifications/size-changed", { width: document.documentElement.clientWidth, height });
  }

  private receive(message: Message): void {
    if (message?.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      const { done, fail } = this.waiting.get(message.id as number) ?? {};
      this.waiting.delete(message.id as number);
      if (message.error) fail?.(new Error(message.error.message)); else done?.(message.result);
      return;
    }
    switch (message.method) {
      case "ui/notifications/tool-input": return this.events.waiting(message.params?.arguments?.entity);
      case "ui/notifications/tool-result": return this.show(message.params);
      case "ui/notifications/tool-cancelled": return this.events.problem("The call was cancelled.");
      case "ui/notifications/host-context-changed": return this.events.dress(message.params ?? {});
    }
    if (message.id === undefined) return;
    const known = message.method === "ping" || message.method === "ui/resource-teardown";
    this.send(known ? { id: message.id, result: {} } : { id: message.id, error: { code: -32601, message: "Method not found" } as any });
  }

  private show(result: Result): void {
    try { this.events.page(pageOf(result)); } catch (error) { this.events.problem((error as Error).message); }
  }

  private request(method: string, params: object): Promise<any> {
    const id = ++this.count;
    this.send({ id, method, params });
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  private notify(method: string, params: object): void { this.send({ method, params }); }
  private send(message: Message): void { parent.postMessage({ jsonrpc: "2.0", ...message }, "*"); }
}

function pageOf(result: Result): Page {
  const text = result.content?.find((part) => part.type === "text")?.text;
  if (result.isError || !result.structuredContent) throw new Error(text ?? "The memory gave no graph.");
  return result.structuredContent as Page;
}
