// The viewer: connects the graph, the canvas, the list, the details and the time slider with where the graph comes from.

import { Details } from "./details";
import { byId, count, say } from "./dom";
import { type Entity, Graph, type Item, type Page } from "./graph";
import { Host, type HostContext, type Source, inside, saved } from "./host";
import { List } from "./list";
import { Stage } from "./stage";
import { Times } from "./times";

const MOST_PAGES = 60; // fetched at once: 6,000 facts
const HEIGHT = 560; // asked of a host that shows the viewer within its text

class Viewer {
  readonly graph = new Graph();
  readonly stage: Stage;
  private readonly times: Times;
  private readonly list: List;
  private readonly details: Details;
  private selected: Item | null = null;

  constructor(readonly source: Source) {
    const select = (item: Item | null) => this.select(item), active = (item: Item | null) => this.activate(item);
    this.stage = new Stage(this.graph, { select, active, dressed: (palette) => this.times?.draw(palette) });
    this.times = new Times(this.graph, (text) => this.timeChanged(text));
    this.list = new List(this.graph, { select, active });
    this.details = new Details(this.graph, { select, centre: (item) => this.stage.centre(item) });
    for (const name of ["past", "hulls"] as const) {
      const box = byId<HTMLInputElement>(name);
      box.onchange = () => { this.stage.choice[name] = box.checked; this.stage.refresh(false); };
    }
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && this.selected) this.select(null); });
    this.stage.dress();
  }

  /** Lets the person ask for more, where the source can. */
  allow(): void {
    if (!this.source.graph) return;
    this.list.look = (name) => void this.expand({ entity: name, depth: 1 });
    this.details.expand = (entity) => void this.expand({ entity: entity.name, depth: 1 }, entity);
  }

  /** Shows a graph: its first page, then those that follow. */
  async show(page: Page): Promise<void> {
    const centre = page.entity;
    this.add(page);
    if (page.as_of && this.source.graph) { // the graph as of a time: the slider shows the others
      const moment = Date.parse(page.as_of);
      page = await this.source.graph({ space: page.space, ...this.centre(centre), depth: 2 });
      this.add(page);
      this.times.go(moment);
    }
    const node = centre === undefined ? undefined : this.graph.entities.get(centre);
    if (node) { this.title(node.name); this.select(node); }
    await this.follow(page);
  }

  problem(text: string): void {
    say(text);
    byId("empty").textContent = text;
    byId("empty").hidden = this.graph.entities.size > 0;
  }

  title(entity: string | undefined): void {
    byId("title").textContent = document.title = entity ? `What is known of ${entity}` : this.graph.space ? `Memory: ${this.graph.space}` : "Memory";
  }

  private centre(id: string | undefined): { entity?: string } {
    const name = id === undefined ? undefined : this.graph.entities.get(id)?.name;
    return name === undefined ? {} : { entity: name };
  }

  private add(page: Page, near?: Entity): number {
    const added = this.graph.add(page, near);
    if (added || !this.graph.entities.size) this.grown();
    return added;
  }

  private async follow(page: Page | undefined): Promise<void> {
    try {
      for (let pages = 0; page?.next && this.source.next && pages < MOST_PAGES; pages++) {
        page = await this.source.next(page.next);
        this.graph.add(page);
        if (!page.next || pages % 10 === 9 || pages === MOST_PAGES - 1) this.grown();
      }
    } catch (error) {
      this.grown(); // with what came before
      this.problem((error as Error).message);
    }
  }

  private async expand(ask: { entity: string; depth: number }, entity?: Entity): Promise<void> {
    say(`Looking for what is known of ${ask.entity}`);
    try {
      const page = await this.source.graph!({ ...ask, space: this.graph.space }), added = this.add(page, entity);
      const centre = this.graph.entities.get(page.entity ?? "") ?? entity;
      if (centre) this.select(centre);
      await this.follow(page);
      say(added ? `${count(added, "thing")} added around ${ask.entity}` : `Nothing more is known of ${ask.entity}`);
    } catch (error) { this.problem((error as Error).message); }
  }

  private grown(): void {
    this.times.refresh();
    this.stage.choice.time = this.times.time;
    this.stage.refresh(true);
    this.times.draw(this.stage.colours);
    this.list.fill();
    this.count();
    if (!this.graph.entities.size) this.problem("Nothing is known yet. Facts appear here when something was remembered.");
  }

  private count(): void {
    const { total, graph: { entities, facts, points } } = { total: this.graph.total, graph: this.graph };
    const of = (part: number, whole: number, noun: string) => (part < whole ? `${part.toLocaleString("en")} of ` : "") + count(whole, noun);
    byId("counts").textContent = [of(entities.size, total.nodes, "entity"), of(facts.size, total.edges, "fact"),
      total.hyperedges && of(points.size, total.hyperedges, "memory point")].filter(Boolean).join(" · ");
    if (!byId("title").textContent!.includes("known of")) this.title(undefined);
  }

  private select(item: Item | null): void {
    if (!item && !this.selected) return;
    const focused = document.activeElement, within = (id: string) => byId(id).contains(focused);
    const [fromList, fromDetails] = [within("list") || within("search"), within("details")]; // before they change
    this.selected = this.stage.choice.selected = item;
    this.stage.refresh(false);
    say(this.details.show(item, this.times.time));
    this.list.hidden = !!item;
    if (item && (fromList || fromDetails)) this.details.focus();
    if (!item && (fromDetails || focused === document.body)) this.list.focus();
  }

  private activate(item: Item | null): void {
    this.stage.choice.active = item?.type === "entity" ? item : null;
    if (item && document.activeElement === byId("canvas")) say(this.details.summary(item, this.times.time));
    this.stage.draw();
  }

  private timeChanged(text: string): void {
    this.stage.choice.time = this.times.time;
    this.stage.refresh(false);
    this.times.draw(this.stage.colours);
    const kept = byId("details").scrollTop;
    this.details.show(this.selected, this.times.time);
    byId("details").scrollTop = kept;
    const current = [...this.graph.facts.values()].filter((fact) => fact.since <= this.times.time && fact.until > this.times.time).length;
    say(`${text}: ${count(current, "fact")} current`);
  }
}

/** Dresses the page as the host does: light or dark, its font, its place. */
function dress(viewer: Viewer, host: Host, { theme, styles, displayMode, availableDisplayModes, containerDimensions }: HostContext): void {
  const root = document.documentElement;
  if (theme) root.style.colorScheme = theme;
  const font = styles?.variables?.["--font-sans"];
  if (font) root.style.setProperty("--font-sans", font);
  const larger = byId("larger");
  if (availableDisplayModes?.includes("fullscreen")) larger.hidden = false;
  if (displayMode) {
    const full = displayMode === "fullscreen";
    viewer.stage.within = displayMode === "inline";
    larger.textContent = full ? "Smaller" : "Full screen";
    larger.onclick = () => void host.enlarge(full ? "inline" : "fullscreen");
    if (!full) host.resized(containerDimensions?.height ?? Math.min(HEIGHT, containerDimensions?.maxHeight ?? HEIGHT));
  }
  viewer.stage.dress();
}

function start(): Viewer {
  const data = inside();
  if (data) {
    const viewer = new Viewer(saved);
    viewer.allow();
    void viewer.show(data.graph);
    return viewer;
  }
  const host: Host = new Host({
    page: (page) => { viewer.allow(); void viewer.show(page); },
    waiting: (entity) => viewer.title(entity),
    problem: (text) => viewer.problem(text),
    dress: (context) => dress(viewer, host, context),
  });
  const viewer = new Viewer(host);
  if (parent === window) viewer.problem("A host with MCP Apps shows this page; in a browser, run mcp-memory view.");
  else void host.greet().then(() => viewer.allow());
  return viewer;
}

Object.assign(window, { viewer: start() }); // for the console, and for tests
