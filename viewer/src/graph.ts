// The graph in memory: pages of the resource `graph`, merged; and what held when.

import type { SimulationNodeDatum } from "d3-force";

export interface SourceRow { id: string; session: string; speaker?: string; time?: string; quote?: string }
interface NodeRow { id: string; name: string; kind?: string; facts?: number }
interface FactRow {
  id: string; from: string; to: string; label?: string; relation: string; text: string; kind: string; status: string;
  valid_from?: string; valid_to?: string; precision?: string; confidence?: number; superseded_by?: string;
  sources?: SourceRow[];
}
interface PointRow { id: string; text: string; goal?: string; nodes: string[]; sources?: SourceRow[] }
export interface Page {
  space: string; entity?: string; as_of?: string; next?: string; nodes: NodeRow[]; edges: FactRow[];
  hyperedges: PointRow[]; total: { nodes: number; edges: number; hyperedges: number };
}

/** A fact holds at a time, is over, is to come, or was only announced. */
export type State = "current" | "past" | "later" | "planned";

export interface Entity extends SimulationNodeDatum {
  type: "entity"; id: string; name: string; kind: string; known: number; facts: Fact[]; points: Point[];
  radius: number; x: number; y: number;
}
export interface Fact {
  type: "fact"; id: string; name: string; source: Entity; target: Entity; row: FactRow; since: number; until: number;
  bend: number;
}
export interface Point { type: "point"; id: string; name: string; goal: string; nodes: Entity[]; sources: SourceRow[]; hue: number }
export type Item = Entity | Fact | Point;

const DAY = 86_400_000;

export class Graph {
  readonly entities = new Map<string, Entity>();
  readonly facts = new Map<string, Fact>();
  readonly points = new Map<string, Point>();
  space = "";
  total = { nodes: 0, edges: 0, hyperedges: 0 };

  /** Adds a page; new entities appear beside `near`, if it is given. Returns how many entities and facts are new. */
  add(page: Page, near?: Entity): number {
    const before = this.entities.size + this.facts.size + this.points.size;
    for (const row of page.nodes) this.addEntity(row, near);
    for (const row of page.edges) this.addFact(row);
    for (const row of page.hyperedges) this.addPoint(row);
    this.space = page.space;
    this.total = {
      nodes: Math.max(this.total.nodes, page.total.nodes, this.entities.size),
      edges: Math.max(this.total.edges, page.total.edges, this.facts.size),
      hyperedges: Math.max(this.total.hyperedges, page.total.hyperedges, this.points.size),
    };
    for (const entity of this.entities.values()) entity.radius = 5 + Math.min(11, 2.1 * Math.sqrt(entity.facts.length));
    return this.entities.size + this.facts.size + this.points.size - before;
  }

  private addEntity(row: NodeRow, near?: Entity): void {
    const known = this.entities.get(row.id);
    if (known) { known.known = Math.max(known.known, row.facts ?? 0); return; }
    // NaN: the simulation places it. Beside an entity that was expanded it begins there.
    const angle = this.entities.size * 2.4;
    const place = near ? { x: near.x + 40 * Math.cos(angle), y: near.y + 40 * Math.sin(angle) } : { x: NaN, y: NaN };
    this.entities.set(row.id, {
      type: "entity", id: row.id, name: row.name, kind: row.kind ?? "", known: row.facts ?? 0, facts: [], points: [],
      radius: 6, ...place,
    });
  }

  private addFact(row: FactRow): void {
    const source = this.entities.get(row.from), target = this.entities.get(row.to);
    if (this.facts.has(row.id) || !source || !target) return;
    const fact: Fact = {
      type: "fact", id: row.id, name: row.text, source, target, row, bend: 0,
      since: moment(row.valid_from, -Infinity), until: moment(row.valid_to, Infinity),
    };
    this.facts.set(row.id, fact);
    source.facts.push(fact);
    if (target !== source) target.facts.push(fact);
    const beside = source.facts.filter((other) => other.target === target || other.source === target);
    beside.forEach((other, place) => {
      const side = other.source === source ? 1 : -1; // seen from its own source
      other.bend = side * (place - (beside.length - 1) / 2) * 26;
    });
  }

  private addPoint(row: PointRow): void {
    const nodes = row.nodes.map((id) => this.entities.get(id)).filter((node) => node !== undefined);
    if (this.points.has(row.id) || !nodes.length) return;
    const point: Point = {
      type: "point", id: row.id, name: row.text, goal: row.goal ?? "", nodes, sources: row.sources ?? [],
      hue: this.points.size % 5,
    };
    this.points.set(row.id, point);
    for (const node of nodes) node.points.push(point);
  }

  /** Moments at which a known fact begins or ends, in order, each once. */
  changes(): number[] {
    const moments = new Set<number>();
    for (const { since, until } of this.facts.values()) for (const time of [since, until]) if (isFinite(time)) moments.add(time);
    return [...moments].sort((a, b) => a - b);
  }

  /** Entities, then points, then facts whose names contain all words of a query; without one, all entities and points. */
  search(query: string): Item[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (item: Item) => { const name = item.name.toLowerCase(); return words.every((word) => name.includes(word)); };
    const entities = [...this.entities.values()].filter(fits).sort((a, b) => b.facts.length - a.facts.length);
    const points = [...this.points.values()].filter(fits);
    return [...entities, ...points, ...(words.length ? [...this.facts.values()].filter(fits) : [])];
  }
}

export function stateAt(fact: Fact, time: number): State {
  if (fact.row.kind === "planned") return "planned";
  return fact.since > time ? "later" : fact.until <= time ? "past" : "current";
}

/** Milliseconds of an ISO time; a date is its first instant in UTC. */
function moment(text: string | undefined, otherwise: number): number {
  const time = text ? Date.parse(text) : NaN;
  return isNaN(time) ? otherwise : time;
}

const dates = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const months = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });

export function dateOf(time: number, precision?: string): string {
  if (precision === "year") return String(new Date(time).getUTCFullYear());
  return (precision === "month" ? months : dates).format(time);
}

/** "1 Mar 2015 – 2 Oct 2019", "since 2019", "until 3 May 2020"; empty without times. */
export function span(fact: Fact): string {
  const { since, until, row } = fact, begins = isFinite(since), ends = isFinite(until);
  const first = begins ? dateOf(since, row.precision) : "";
  if (row.kind === "event" && begins && until - since <= DAY) return first;
  if (row.precision === "before" && begins && row.kind === "event") return `by ${first}`;
  if (begins && ends) return `${first} – ${dateOf(until)}`;
  return begins ? `since ${first}` : ends ? `until ${dateOf(until)}` : "";
}
