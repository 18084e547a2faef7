// One picture of the graph on the canvas: what is visible at a time, and how it is drawn.

import type { ZoomTransform } from "d3-zoom";
import { type Entity, type Fact, type Graph, type Item, type Point, type State, span, stateAt } from "./graph";
import { type Colours, DASHES, type Kind, colourOf, curve, kindOf, middle, outline, trace } from "./shapes";

const MOST_ENTITIES = 2500; // drawn; of more, those with the most facts
const MOST_LABELS = 160;
const FEW_FACTS = 90; // up to which each fact has its words
const FEW_HULLS = 40; // up to which all memory points have outlines
const MANY = 700; // facts or entities from which lines are hairlines, and arrows and rims come with zooming in
const CHUNK = 50; // shapes in one path; filling larger ones takes many times as long without a graphics card

/** What to show: the choices of the person. */
export interface Choice {
  time: number; past: boolean; hulls: boolean; selected: Item | null; active: Entity | null; hovered: Item | null;
}

interface Paths { edges: Map<string, Path2D>; nodes: Map<string, Path2D[]>; hulls: Map<Point, ReturnType<typeof outline>> }

export class Picture {
  entities: Entity[] = [];
  facts: Fact[] = [];
  points: Point[] = [];
  readonly states = new Map<Fact, State>();
  private readonly solid = new Set<Entity>();
  private readonly widths = new Map<string, number>();
  private near = new Set<Item>();
  private paths: Paths | null = null;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  /** Chooses what is visible. */
  choose(graph: Graph, choice: Choice): void {
    const { time, past, selected } = choice, shown = new Set<Entity>();
    this.states.clear();
    this.solid.clear();
    for (const fact of graph.facts.values()) {
      const state = stateAt(fact, time);
      if (state === "later" || (state === "past" && !past && fact !== selected)) continue;
      this.states.set(fact, state);
      shown.add(fact.source).add(fact.target);
      if (state === "current") this.solid.add(fact.source).add(fact.target);
    }
    this.points = choice.hulls ? [...graph.points.values()] : selected?.type === "point" ? [selected] : [];
    for (const point of this.points) for (const node of point.nodes) if (!node.facts.length) shown.add(node);
    if (selected?.type === "entity") shown.add(selected);
    this.near = nearOf(selected, this.states);
    this.entities = [...shown];
    if (shown.size > MOST_ENTITIES) {
      const rank = (entity: Entity) => (this.near.has(entity) ? Infinity : entity.facts.length);
      this.entities = this.entities.sort((a, b) => rank(b) - rank(a)).slice(0, MOST_ENTITIES);
    }
    const drawn = new Set(this.entities);
    this.facts = [...this.states.keys()].filter(({ source, target }) => drawn.has(source) && drawn.has(target));
    this.points = this.points.filter(({ nodes }) => nodes.every((node) => drawn.has(node)));
    if (this.points.length > FEW_HULLS) this.points = this.points.filter((point) => this.near.has(point) || point === selected);
    this.moved();
  }

  /** Forgets where everything was. */
  moved(): void { this.paths = null; }

  draw(palette: Colours, { x, y, k }: ZoomTransform, choice: Choice, font: string): void {
    const context = this.context, { width, height } = context.canvas, ratio = width / context.canvas.clientWidth || 1;
    this.paths ??= this.trace();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    context.setTransform(ratio * k, 0, 0, ratio * k, ratio * x, ratio * y);
    this.drawHulls(palette, k, choice);
    this.drawEdges(palette, k);
    this.drawNodes(palette, k, choice);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawLabels(palette, { x, y, k }, choice, font, width / ratio, height / ratio);
    context.globalAlpha = 1;
  }

  /** Returns what is drawn at a place, in coordinates of the layout; entities before facts before points. */
  at(x: number, y: number, k: number): Item | null {
    let best: Item | null = null, least = Math.max(4, 12 / k);
    for (const entity of this.entities) {
      const distance = Math.hypot(entity.x - x, entity.y - y) - entity.radius;
      if (distance < least) { least = Math.max(distance, 0); best = entity; }
    }
    if (best) return best;
    least = 6 / k;
    for (const fact of this.facts) {
      const distance = distanceTo(curve(fact), x, y);
      if (distance < least) { least = distance; best = fact; }
    }
    if (best) return best;
    const inside = [...(this.paths?.hulls ?? [])].filter(([, { path }]) => {
      this.context.setTransform(1, 0, 0, 1, 0, 0);
      return this.context.isPointInPath(path, x, y);
    });
    return inside.sort(([a], [b]) => a.nodes.length - b.nodes.length)[0]?.[0] ?? null;
  }

  private trace(): Paths {
    const edges = new Map<string, Path2D>(), nodes = new Map<string, Path2D[]>(), sizes = new Map<string, number>();
    for (const fact of this.facts) {
      const key = `${this.states.get(fact)} ${this.depth(fact)}`, [sx, sy, cx, cy, ex, ey] = curve(fact);
      const line = edges.get(key) ?? edges.set(key, new Path2D()).get(key)!;
      line.moveTo(sx, sy);
      if (fact.bend || fact.source === fact.target) line.quadraticCurveTo(cx, cy, ex, ey); else line.lineTo(ex, ey);
    }
    for (const entity of this.entities) {
      const kind = kindOf(entity), look = this.solid.has(entity) || !entity.facts.length ? "solid" : "hollow";
      const key = `${kind} ${look} ${this.depth(entity)}`, size = sizes.get(key) ?? 0, chunks = nodes.get(key) ?? nodes.set(key, []).get(key)!;
      if (size % CHUNK === 0) chunks.push(new Path2D());
      sizes.set(key, size + 1);
      trace(chunks.at(-1)!, kind, entity.x, entity.y, entity.radius);
    }
    return { edges, nodes, hulls: new Map(this.points.map((point) => [point, outline(point)])) };
  }

  /** "far" for what does not touch the selection, if there is one. */
  private depth(item: Item): "near" | "far" { return this.near.size && !this.near.has(item) ? "far" : "near"; }

  private drawHulls(palette: Colours, k: number, { selected, hovered }: Choice): void {
    const context = this.context;
    for (const [point, { path }] of this.paths!.hulls) {
      const strong = point === selected || point === hovered;
      const faint = this.near.size > 0 && !strong && !this.near.has(point);
      context.fillStyle = context.strokeStyle = palette[`hull-${point.hue}` as keyof Colours];
      context.globalAlpha = faint ? 0.03 : strong ? 0.2 : 0.1;
      context.fill(path);
      context.globalAlpha = faint ? 0.25 : 0.9;
      context.lineWidth = (strong ? 2.2 : 1.1) / k;
      context.setLineDash([]);
      context.stroke(path);
    }
  }

  private drawEdges(palette: Colours, k: number): void {
    const context = this.context, many = this.facts.length > MANY, arrows = !many || k > 1.3;
    const pixel = context.canvas.clientWidth / context.canvas.width || 1;
    for (const [key, path] of this.paths!.edges) {
      const [state, depth] = key.split(" ") as [State, "near" | "far"];
      const chosen = this.near.size > 0 && depth === "near";
      context.globalAlpha = depth === "far" ? 0.22 : 1;
      context.strokeStyle = chosen ? palette.accent : state === "current" ? palette.edge : palette["edge-past"];
      context.lineWidth = (many && !chosen ? pixel : (state === "current" ? 1.5 : 1.2) * (chosen ? 1.3 : 1)) / k;
      context.setLineDash(DASHES[state].map((length) => length / k));
      context.stroke(path);
      if (!arrows) continue;
      context.setLineDash([]);
      const heads = new Path2D();
      for (const fact of this.facts) if (`${this.states.get(fact)} ${this.depth(fact)}` === key) arrow(heads, fact, 8 / Math.max(k, 0.5));
      context.fillStyle = context.strokeStyle;
      if (state === "current") context.fill(heads); else context.stroke(heads);
    }
  }

  private drawNodes(palette: Colours, k: number, { selected, active, hovered }: Choice): void {
    const context = this.context, rims = this.entities.length <= MANY || k > 1;
    context.setLineDash([]);
    for (const [key, paths] of this.paths!.nodes) {
      const [kind, look, depth] = key.split(" ") as [Kind, string, string], colour = colourOf(kind, palette);
      context.globalAlpha = depth === "far" ? 0.3 : 1;
      context.fillStyle = look === "solid" ? colour : palette.ground;
      context.strokeStyle = look === "solid" ? palette.ground : colour;
      context.lineWidth = (look === "solid" ? 1.5 : 2) / k;
      for (const path of paths) {
        context.fill(path);
        if (rims || look === "hollow") context.stroke(path);
      }
    }
    context.globalAlpha = 1;
    for (const [item, colour, width] of [[hovered, palette.muted, 2], [selected, palette.accent, 3], [active, palette.text, 2]] as const) {
      if (item?.type !== "entity" || !this.entities.includes(item)) continue;
      context.beginPath();
      trace(context, kindOf(item), item.x, item.y, item.radius + 4 / Math.max(k, 0.6));
      context.strokeStyle = colour;
      context.lineWidth = width / k;
      context.stroke();
    }
  }

  private drawLabels(palette: Colours, { x, y, k }: { x: number; y: number; k: number }, choice: Choice, font: string,
    width: number, height: number): void {
    const context = this.context, taken: [number, number, number, number][] = [], { selected, hovered, active } = choice;
    const put = (text: string, sx: number, sy: number, colour: string, centred: boolean, must: boolean, faint: boolean) => {
      const wide = this.widthOf(text, context.font), free = Math.max(4, width - wide - 4);
      const left = centred ? (sx > 0 && sx < width ? Math.max(4, Math.min(free, sx - wide / 2)) : sx - wide / 2) : sx, box = [left - 2, sy - 8, left + wide + 2, sy + 8] as const;
      if (box[2] < 0 || box[0] > width || box[3] < 0 || box[1] > height) return false;
      if (!must && taken.some(([a, b, c, d]) => box[0] < c && box[2] > a && box[1] < d && box[3] > b)) return false;
      taken.push([...box]);
      context.globalAlpha = faint ? 0.35 : 1;
      context.strokeText(text, left, sy);
      context.fillStyle = colour;
      context.fillText(text, left, sy);
      return true;
    };
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = palette.ground;
    const important = (item: Item) => Number(item === selected || item === hovered || item === active) * 2 + Number(this.near.has(item));
    const seen = this.entities.filter((e) => { const sx = e.x * k + x, sy = e.y * k + y; return sx > -150 && sx < width && sy > -20 && sy < height + 20; });
    const crowded = seen.length > MANY / 2, most = crowded ? 40 : MOST_LABELS; // in a crowd names cover what has fewer facts
    if (!crowded) for (const entity of seen) taken.push([entity.x * k + x - entity.radius * k * 0.7, entity.y * k + y - entity.radius * k * 0.7, entity.x * k + x + entity.radius * k * 0.7, entity.y * k + y + entity.radius * k * 0.7]);
    seen.sort((a, b) => important(b) - important(a) || b.facts.length - a.facts.length);
    context.font = `500 12.5px ${font}`;
    let labels = 0;
    for (const entity of seen) {
      if (labels >= most) break;
      const faint = this.near.size > 0 && !this.near.has(entity);
      if (faint && entity !== hovered && this.entities.length > 60) continue;
      const name = short(entity.name, 32), gap = entity.radius * k + 4, sx = entity.x * k + x, wide = this.widthOf(name, context.font);
      const left = sx + gap + wide > width && sx - gap - wide > 0 ? sx - gap - wide : sx + gap; // beside it, where there is room
      labels += Number(put(name, left, entity.y * k + y, palette.text, false, important(entity) > 1, faint));
    }
    context.font = `600 12px ${font}`;
    for (const [point, { corners }] of this.paths!.hulls) {
      if (this.near.size > 0 && !this.near.has(point) && point !== selected) continue;
      const name = short(point.name, 38), colour = palette[`hull-${point.hue}` as keyof Colours];
      const places = corners.map(([cx, cy, side]) => [cx * k + x, cy * k + y + side * 9] as const);
      const free = places.some(([sx, sy]) => put(name, sx, sy, colour, true, false, false));
      if (!free && (point === selected || point === hovered)) put(name, ...places[0]!, colour, true, true, false);
    }
    context.font = `11.5px ${font}`;
    const few = this.facts.length <= FEW_FACTS && k > 0.65;
    for (const fact of few ? this.facts : this.facts.filter((fact) => this.near.has(fact) || fact === hovered)) {
      if (this.near.size > 0 && !this.near.has(fact) && fact !== hovered) continue;
      const [mx, my] = middle(curve(fact)), when = this.near.has(fact) || fact === hovered ? span(fact) : "";
      put(short(words(fact), 28) + (when && ` · ${when}`), mx * k + x, my * k + y, palette.muted, true, fact === hovered || fact === selected, false);
    }
  }

  private widthOf(text: string, font: string): number {
    const key = font + text, known = this.widths.get(key);
    if (known !== undefined) return known;
    const { width } = this.context.measureText(text);
    this.widths.set(key, width);
    return width;
  }
}

/** The relation of a fact as words. */
export function words(fact: Fact): string { return fact.row.label ?? fact.row.relation.replaceAll("_", " "); }

export function short(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** What touches the selection: it stays clear while the rest fades. */
function nearOf(selected: Item | null, states: Map<Fact, State>): Set<Item> {
  if (!selected) return new Set();
  if (selected.type === "fact") return new Set([selected, selected.source, selected.target]);
  if (selected.type === "point") {
    const between = selected.nodes.flatMap(({ facts }) => facts).filter(({ source, target }) => selected.nodes.includes(source) && selected.nodes.includes(target));
    return new Set([selected, ...selected.nodes, ...between]);
  }
  const facts = selected.facts.filter((fact) => states.has(fact));
  return new Set([selected, ...facts, ...facts.flatMap(({ source, target }) => [source, target]), ...selected.points, ...selected.points.flatMap(({ nodes }) => nodes)]);
}

function arrow(path: Path2D, fact: Fact, size: number): void {
  const [, , cx, cy, ex, ey] = curve(fact), angle = Math.atan2(ey - cy, ex - cx);
  path.moveTo(ex, ey);
  path.lineTo(ex - size * Math.cos(angle - 0.4), ey - size * Math.sin(angle - 0.4));
  path.lineTo(ex - size * Math.cos(angle + 0.4), ey - size * Math.sin(angle + 0.4));
  path.closePath();
}

/** The distance of a place from a curve, which is taken as sixteen straight pieces. */
function distanceTo([sx, sy, cx, cy, ex, ey]: ReturnType<typeof curve>, x: number, y: number): number {
  let least = Infinity, [ax, ay] = [sx, sy];
  for (let step = 1; step <= 16; step++) {
    const t = step / 16, u = 1 - t;
    const bx = u * u * sx + 2 * u * t * cx + t * t * ex, by = u * u * sy + 2 * u * t * cy + t * t * ey;
    const dx = bx - ax, dy = by - ay, along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    least = Math.min(least, Math.hypot(ax + along * dx - x, ay + along * dy - y));
    [ax, ay] = [bx, by];
  }
  return least;
}
