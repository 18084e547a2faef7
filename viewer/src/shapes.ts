// What a kind of entity and a state of a fact look like: by shape and line as well as by colour.

import { polygonHull } from "d3-polygon";
import type { Entity, Fact, Point, State } from "./graph";

export const KINDS = ["person", "organisation", "place", "time", "thing"] as const;
export type Kind = (typeof KINDS)[number];
const COLOURS = ["ground", "raised", "line", "text", "muted", "accent", "edge", "edge-past", "person", "organisation", "place",
  "when", "thing", "hull-0", "hull-1", "hull-2", "hull-3", "hull-4"] as const;
export type Colours = Record<(typeof COLOURS)[number], string>;

/** The colours of the present theme. */
export function colours(): Colours {
  const probe = document.body.appendChild(document.createElement("i"));
  const found = COLOURS.map((name) => { probe.style.color = `var(--${name})`; return [name, getComputedStyle(probe).color]; });
  probe.remove();
  return Object.fromEntries(found) as Colours;
}

export function kindOf(entity: Entity): Kind {
  if (entity.kind === "number") return "time";
  return (KINDS as readonly string[]).includes(entity.kind) ? (entity.kind as Kind) : "thing";
}

export function colourOf(kind: Kind, palette: Colours): string {
  return palette[kind === "time" ? "when" : kind];
}

/** Adds the outline of a kind to a path: circle, diamond, square, triangle; a small circle for things. */
export function trace(path: Path2D | CanvasRenderingContext2D, kind: Kind, x: number, y: number, r: number): void {
  if (kind === "place") path.rect(x - r * 0.89, y - r * 0.89, r * 1.78, r * 1.78);
  else if (kind === "organisation") corners(path, [[x, y - r * 1.25], [x + r * 1.25, y], [x, y + r * 1.25], [x - r * 1.25, y]]);
  else if (kind === "time") corners(path, [[x, y - r * 1.2], [x + r * 1.1, y + r * 0.8], [x - r * 1.1, y + r * 0.8]]);
  else { const s = kind === "thing" ? r * 0.82 : r; path.moveTo(x + s, y); path.arc(x, y, s, 0, 2 * Math.PI); }
}

function corners(path: Path2D | CanvasRenderingContext2D, points: [number, number][]): void {
  points.forEach(([x, y], place) => (place ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
}

export const DASHES: Record<State, number[]> = { current: [], past: [6, 4], planned: [1.5, 4], later: [] };

/** The points of the curve of a fact between the rims of its entities: start, control point, end. */
export function curve({ source, target, bend }: Fact): [number, number, number, number, number, number] {
  if (source === target) {
    const { x, y, radius } = source;
    return [x - radius * 0.6, y - radius * 0.8, x, y - radius - 46 - Math.abs(bend), x + radius * 0.6, y - radius * 0.8];
  }
  const dx = target.x - source.x, dy = target.y - source.y, length = Math.hypot(dx, dy) || 1;
  const cx = (source.x + target.x) / 2 - (dy / length) * bend * 2, cy = (source.y + target.y) / 2 + (dx / length) * bend * 2;
  const [sx, sy] = rim(source, cx, cy, 1), [ex, ey] = rim(target, cx, cy, 2);
  return [sx, sy, cx, cy, ex, ey];
}

function rim(entity: Entity, x: number, y: number, gap: number): [number, number] {
  const dx = x - entity.x, dy = y - entity.y, length = Math.hypot(dx, dy) || 1, reach = entity.radius + gap;
  return [entity.x + (dx / length) * reach, entity.y + (dy / length) * reach];
}

/** The middle of a curve. */
export function middle([sx, sy, cx, cy, ex, ey]: ReturnType<typeof curve>): [number, number] {
  return [(sx + 2 * cx + ex) / 4, (sy + 2 * cy + ey) / 4];
}

/** Where a name may stand at an outline: a place, and whether it is the upper (-1) or the lower (1) side. */
type Corner = [number, number, -1 | 1];

/** A rounded outline around the entities of a memory point, and the places for its name, the topmost first. */
export function outline({ nodes }: Point): { path: Path2D; corners: Corner[] } {
  const rims: [number, number][] = [];
  for (const { x, y, radius } of nodes) {
    for (let step = 0; step < 14; step++) {
      const angle = (step / 14) * 2 * Math.PI, reach = radius + 15;
      rims.push([x + reach * Math.cos(angle), y + reach * Math.sin(angle)]);
    }
  }
  const hull = polygonHull(rims) ?? rims, path = new Path2D();
  const between = (a: [number, number], b: [number, number]): [number, number] => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  path.moveTo(...between(hull[hull.length - 1]!, hull[0]!));
  hull.forEach((corner, place) => path.quadraticCurveTo(...corner, ...between(corner, hull[(place + 1) % hull.length]!)));
  path.closePath();
  const mean = hull.reduce((sum, [, y]) => sum + y / hull.length, 0);
  const corners = hull.map(([x, y]): Corner => [x, y, y < mean ? -1 : 1]);
  return { path, corners: corners.sort((a, b) => a[2] - b[2] || (a[1] - b[1]) * -a[2]) };
}
