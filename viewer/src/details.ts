// What is known of one thing: its facts over time, the words behind each, and its memory points.

import { byId, count, element } from "./dom";
import { type Entity, type Fact, type Graph, type Item, type Point, type SourceRow, type State, dateOf, span, stateAt } from "./graph";
import { short, words } from "./picture";
import { kindOf } from "./shapes";

interface Deeds { select(item: Item | null): void; centre(item: Item): void }

/** The state of a fact in a word. An event that is over has happened; nothing took its place. */
function nameOf(fact: Fact, state: State): string {
  return state === "past" && fact.row.kind === "event" ? "happened" : state;
}

export class Details {
  /** Fetches what lies around an entity; null where nothing can be asked. */
  expand: ((entity: Entity) => void) | null = null;
  private readonly place = byId<HTMLDivElement>("details");

  constructor(private readonly graph: Graph, private readonly deeds: Deeds) {}

  /** Shows an item as of a time; null shows nothing. Returns what to say of it. */
  show(item: Item | null, time: number): string {
    this.place.hidden = !item;
    if (!item) { this.place.replaceChildren(); return ""; }
    const back = element("button", { type: "button", className: "back", onclick: () => this.deeds.select(null) }, "← All entities");
    const parts = item.type === "entity" ? this.entity(item, time) : item.type === "fact" ? this.fact(item, time) : this.point(item, time);
    this.place.replaceChildren(back, ...parts);
    this.place.scrollTop = 0;
    return this.summary(item, time);
  }

  /** Puts the focus on the way back: what had it may be gone. */
  focus(): void { this.place.querySelector<HTMLElement>(".back")?.focus(); }

  /** Returns a line about an item. */
  summary(item: Item, time: number): string {
    return item.type === "point" ? `Memory point: ${item.name}` : item.type === "fact" ? factLine(item, time) : `${item.name}, ${about(item, time)}`;
  }

  private entity(entity: Entity, time: number): Node[] {
    const facts = [...entity.facts].sort((a, b) => a.since - b.since || a.until - b.until);
    const missing = entity.known > new Set(facts.map(({ source, row }) => `${source.id} ${row.relation}`)).size;
    const deeds = element("div", { className: "deeds" });
    if (this.expand) {
      const expand = () => this.expand?.(entity);
      deeds.append(element("button", { type: "button", id: "expand", onclick: expand }, missing ? "Show more around it" : "Look around it"));
    }
    deeds.append(element("button", { type: "button", onclick: () => this.deeds.centre(entity) }, "Centre"));
    return [
      element("h2", {}, entity.name), element("p", { className: "about" }, about(entity, time)), deeds,
      ...(facts.length ? [element("h3", {}, "Timeline"), ...this.rows(facts, time, entity)] : []),
      ...this.pointList(entity.points),
    ];
  }

  private fact(fact: Fact, time: number): Node[] {
    const follower = this.graph.facts.get(fact.row.superseded_by ?? "");
    return [
      element("h2", {}, fact.name), element("p", { className: "about" }, factLine(fact, time, false)),
      element("div", { className: "deeds" }, ...[...new Set([fact.source, fact.target])].map((entity) => this.chip(entity))),
      element("h3", {}, "Said"), this.words(fact),
      ...(follower ? [element("h3", {}, "Superseded by"), this.row(follower, time, scaleOf([fact, follower]))] : []),
    ];
  }

  private point(point: Point, time: number): Node[] {
    const between = point.nodes.flatMap(({ facts }) => facts).filter(({ source, target }) => point.nodes.includes(source) && point.nodes.includes(target));
    return [
      element("h2", {}, point.name), element("p", { className: "about" }, `Memory point${point.goal ? `, made for: ${point.goal}` : ""}`),
      element("h3", {}, "Joins"), element("div", { className: "deeds" }, ...point.nodes.map((entity) => this.chip(entity))),
      ...(point.sources.length ? [element("h3", {}, "Said"), element("div", { className: "words" }, ...point.sources.map(quote))] : []),
      ...(between.length ? [element("h3", {}, "Facts between them"), ...this.rows([...new Set(between)], time)] : []),
    ];
  }

  private pointList(points: Point[]): Node[] {
    if (!points.length) return [];
    return [element("h3", {}, "Memory points"), element("div", { className: "deeds" }, ...points.map((point) => this.chip(point)))];
  }

  private chip(item: Item): HTMLElement {
    return element("button", { type: "button", className: "chip", title: item.name, onclick: () => this.deeds.select(item) }, short(item.name, 60));
  }

  private rows(facts: Fact[], time: number, of?: Entity): HTMLElement[] {
    const ends = scaleOf(facts, time);
    return facts.map((fact) => this.row(fact, time, ends, of));
  }

  /** A fact as a line with a bar of its time; it opens to show the words behind it. */
  private row(fact: Fact, time: number, [first, last]: [number, number], of?: Entity): HTMLElement {
    const state = stateAt(fact, time), part = (at: number) => Math.max(0, Math.min(100, ((at - first) / (last - first || 1)) * 100));
    const piece = element("i"), start = part(fact.since);
    piece.style.left = `${Math.min(start, 98)}%`;
    piece.style.width = `${Math.max(part(fact.until) - start, 0)}%`;
    const mark = element("b");
    mark.style.left = `${part(time)}%`;
    const said = fact.source === of ? `${words(fact)} ${fact.target.name}` : fact.name;
    const line = element("span", { className: "what" }, element("span", {}, said), element("span", { className: "state" }, nameOf(fact, state)));
    const bar = element("span", { className: "bar" }, piece, mark);
    bar.ariaHidden = "true";
    bar.style.display = "block";
    const behind = element("div", { hidden: true });
    const button = element("button", { type: "button", onclick: () => {
      behind.hidden = !behind.hidden;
      button.ariaExpanded = String(!behind.hidden);
      if (!behind.hidden && !behind.firstChild) behind.append(this.words(fact));
    } }, line, element("span", { className: "when" }, span(fact) || "time unknown"), bar);
    button.ariaExpanded = "false";
    return element("div", { className: `row ${nameOf(fact, state)}` }, button, behind);
  }

  private words(fact: Fact): HTMLElement {
    const { confidence, superseded_by } = fact.row, sources = fact.row.sources ?? [];
    const sure = confidence === undefined ? "" : `Confidence ${confidence.toFixed(2)}`;
    return element("div", { className: "words" },
      ...(sources.length ? sources.map(quote) : [element("p", { className: "about" }, "Nobody's words are kept for it.")]),
      element("p", { className: "about" }, [sure, superseded_by && "superseded by a later value"].filter(Boolean).join(", ")));
  }
}

function quote({ quote, speaker, time, session }: SourceRow): HTMLElement {
  const when = time && !isNaN(Date.parse(time)) ? dateOf(Date.parse(time)) : "";
  return element("blockquote", {}, quote ?? "", element("footer", {}, [speaker, when, session].filter(Boolean).join(" · ")));
}

function about(entity: Entity, time: number): string {
  const states = entity.facts.map((fact) => stateAt(fact, time)), current = states.filter((state) => state === "current").length;
  const kind = entity.kind ? kindOf(entity) : "";
  return [kind, `${count(entity.facts.length, "fact")}, ${current} current`, entity.points.length && `in ${count(entity.points.length, "memory point")}`]
    .filter(Boolean).join(" · ");
}

function factLine(fact: Fact, time: number, named = true): string {
  return [named && fact.name, nameOf(fact, stateAt(fact, time)), span(fact)].filter(Boolean).join(" · ");
}

/** The first and the last moment of some facts, for a common scale. */
function scaleOf(facts: Fact[], time = Date.now()): [number, number] {
  const known = facts.flatMap(({ since, until }) => [since, until]).filter(isFinite);
  const first = Math.min(time, ...known), last = Math.max(time, ...known), edge = (last - first) * 0.04 || 86_400_000;
  return [first - edge, last + edge];
}
