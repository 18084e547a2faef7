// The canvas: pointer, wheel, touch and keyboard; it draws at most once a frame.

import { drag } from "d3-drag";
import { select } from "d3-selection";
import { type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import { byId, element } from "./dom";
import type { Entity, Graph, Item } from "./graph";
import { Layout } from "./layout";
import { type Choice, Picture } from "./picture";
import { type Colours, DASHES, KINDS, colourOf, colours, trace } from "./shapes";

interface Deeds { select(item: Item | null): void; active(item: Item | null): void; dressed(palette: Colours): void }

export class Stage {
  readonly choice: Choice = { time: Date.now(), past: true, hulls: true, selected: null, active: null, hovered: null };
  /** Whether a host shows the viewer within its text. */
  within = false;
  private readonly canvas = byId<HTMLCanvasElement>("canvas");
  private readonly picture = new Picture(this.canvas.getContext("2d", { alpha: false })!);
  private readonly layout: Layout;
  private readonly zoom = zoom<HTMLCanvasElement, unknown>().scaleExtent([0.05, 6]);
  private transform: ZoomTransform = zoomIdentity;
  colours = colours();
  private fitting = true; // until the person moves the drawing
  private asked = false;

  constructor(private readonly graph: Graph, private readonly deeds: Deeds) {
    this.layout = new Layout(() => { this.picture.moved(); if (this.fitting) this.fit(); this.draw(); });
    this.listen();
    new ResizeObserver(() => { if (this.fitting) this.fit(); this.draw(); }).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.dress());
  }

  /** Takes a graph that has grown, or another choice of what is visible; lays out what is new. */
  refresh(grown: boolean): void {
    const before = this.picture.entities.length;
    this.picture.choose(this.graph, this.choice);
    if (grown) {
      const { clientWidth, clientHeight } = this.canvas;
      this.layout.set([...this.graph.entities.values()], [...this.graph.facts.values()], this.graph, before > 0, clientWidth / clientHeight || 1);
      this.picture.moved();
      if (this.fitting) this.fit();
    }
    byId("empty").hidden = this.picture.entities.length > 0;
    this.draw();
  }

  /** Where an entity is on the canvas, in CSS pixels. */
  place(entity: Entity): [number, number] { return this.transform.apply([entity.x, entity.y]); }

  dress(): void {
    this.colours = colours();
    this.fillLegend();
    this.deeds.dressed(this.colours);
    this.draw();
  }

  draw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const ratio = Math.min(devicePixelRatio || 1, 2), { clientWidth, clientHeight } = this.canvas;
      const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
      if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
      if (width && height) this.picture.draw(this.colours, this.transform, this.choice, getComputedStyle(document.documentElement).fontFamily);
    });
  }

  /** Shows everything, or an item in the middle. */
  fit(item?: Item): void {
    const { clientWidth: width, clientHeight: height } = this.canvas, around = item ? partsOf(item) : this.picture.entities;
    if (!around.length || !width || !height) return;
    const [left, right] = range(around.map(({ x }) => x)), [top, bottom] = range(around.map(({ y }) => y));
    const k = Math.max(0.08, Math.min(item ? 1.4 : 1.15, (width - 150) / (right - left + 1), (height - 90) / (bottom - top + 1)));
    const x = width / 2 - 20 - (k * (left + right)) / 2, y = height / 2 - (k * (top + bottom)) / 2;
    this.move(zoomIdentity.translate(x, y).scale(k));
  }

  centre(item: Item): void { this.fitting = false; this.fit(item); this.draw(); }

  private move(transform: ZoomTransform): void { select(this.canvas).call(this.zoom.transform, transform); }

  private listen(): void {
    const canvas = select(this.canvas), at = (event: MouseEvent | Touch) => {
      const { left, top } = this.canvas.getBoundingClientRect();
      return this.transform.invert([event.clientX - left, event.clientY - top]);
    };
    const found = (event: MouseEvent | Touch) => this.picture.at(...at(event), this.transform.k);
    const entityAt = (event: any) => { const item = found(event.touches?.[0] ?? event); return item?.type === "entity" ? item : null; };
    this.zoom
      .filter((event) => (event.type === "wheel" ? this.wheels(event) : !event.button && !entityAt(event)))
      .on("zoom", ({ transform, sourceEvent }) => { this.transform = transform; if (sourceEvent) this.fitting = false; this.draw(); });
    canvas.call(drag<HTMLCanvasElement, unknown, Entity>()
      .filter((event) => !event.button && !!entityAt(event))
      .subject(({ sourceEvent }) => entityAt(sourceEvent)!)
      .on("drag", ({ subject, sourceEvent }) => {
        this.fitting = false;
        this.layout.hold(subject, ...at(sourceEvent.touches?.[0] ?? sourceEvent));
      })
      .on("end", ({ subject }) => this.layout.release(subject)) as any);
    canvas.call(this.zoom).on("dblclick.zoom", null);
    canvas.on("click", (event: MouseEvent) => { if (!event.defaultPrevented) this.deeds.select(found(event)); });
    canvas.on("dblclick", (event: MouseEvent) => { const item = found(event); if (item) this.centre(item); });
    canvas.on("pointermove", (event: PointerEvent) => { if (!event.buttons && event.pointerType === "mouse") this.hover(found(event)); });
    canvas.on("pointerleave", () => this.hover(null));
    this.canvas.onkeydown = (event) => this.key(event);
    this.canvas.onblur = () => this.deeds.active(null);
    byId("closer").onclick = () => this.scale(1.4);
    byId("farther").onclick = () => this.scale(1 / 1.4);
    byId("fit").onclick = () => { this.fitting = true; this.fit(); };
  }

  /** Within a text, the wheel scrolls on over the drawing until the person has clicked into it. */
  private wheels(event: WheelEvent): boolean {
    return !this.within || event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
  }

  private hover(item: Item | null): void {
    if (item === this.choice.hovered) return;
    this.choice.hovered = item;
    this.canvas.classList.toggle("over", !!item);
    this.draw();
  }

  private scale(by: number): void { this.fitting = false; select(this.canvas).call(this.zoom.scaleBy, by); }

  private key(event: KeyboardEvent): void {
    const directions: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[event.key], { active } = this.choice;
    if (direction) this.deeds.active(this.next(active, direction));
    else if (event.key === "Enter" && active) this.deeds.select(active);
    else if (event.key === "+" || event.key === "=") this.scale(1.4);
    else if (event.key === "-") this.scale(1 / 1.4);
    else if (event.key === "0") { this.fitting = true; this.fit(); }
    else return;
    event.preventDefault();
  }

  /** The nearest entity in a direction; without one to begin at, that with the most facts. */
  private next(from: Entity | null, [dx, dy]: [number, number]): Entity | null {
    const selected = this.choice.selected, begin = from ?? (selected?.type === "entity" ? selected : null), { entities } = this.picture;
    if (!begin) return entities.reduce<Entity | null>((best, entity) => (!best || entity.facts.length > best.facts.length ? entity : best), null);
    let best = begin, least = Infinity;
    for (const entity of entities) {
      const along = (entity.x - begin.x) * dx + (entity.y - begin.y) * dy, aside = Math.abs((entity.x - begin.x) * dy) + Math.abs((entity.y - begin.y) * dx);
      if (entity !== begin && along > 0 && aside <= along * 1.5 && along + 2 * aside < least) { least = along + 2 * aside; best = entity; }
    }
    const [x, y] = this.place(best), { clientWidth, clientHeight } = this.canvas;
    if (x < 20 || y < 20 || x > clientWidth - 20 || y > clientHeight - 20) { this.fitting = false; select(this.canvas).call(this.zoom.translateTo, best.x, best.y); }
    return best;
  }

  private fillLegend(): void {
    const line = (name: string, paint: (context: CanvasRenderingContext2D) => void) => {
      const canvas = element("canvas", { width: 56, height: 36 }), context = canvas.getContext("2d")!;
      context.scale(2, 2);
      paint(context);
      return element("li", {}, canvas, name);
    };
    const node = (kind: (typeof KINDS)[number], hollow = false) => (context: CanvasRenderingContext2D) => {
      context.fillStyle = context.strokeStyle = colourOf(kind, this.colours);
      context.lineWidth = 2;
      trace(context, kind, 14, 9, 6);
      if (hollow) context.stroke(); else context.fill();
    };
    const stroke = (state: "current" | "past" | "planned") => (context: CanvasRenderingContext2D) => {
      context.strokeStyle = this.colours[state === "current" ? "edge" : "edge-past"];
      context.lineWidth = 1.6;
      context.setLineDash(DASHES[state]);
      context.moveTo(1, 9);
      context.lineTo(27, 9);
      context.stroke();
    };
    const hull = (context: CanvasRenderingContext2D) => {
      context.strokeStyle = context.fillStyle = this.colours["hull-0"];
      context.roundRect(2, 2, 24, 14, 7);
      context.stroke();
      context.globalAlpha = 0.15;
      context.fill();
    };
    const names = { person: "person", organisation: "organisation", place: "place", time: "time or number", thing: "anything else" };
    byId("legend").querySelector("ul")!.replaceChildren(
      ...KINDS.map((kind) => line(names[kind], node(kind))), line("nothing current about it", node("person", true)),
      line("current fact", stroke("current")), line("past fact", stroke("past")), line("planned", stroke("planned")), line("memory point", hull));
  }
}

function partsOf(item: Item): Entity[] {
  if (item.type === "fact") return [item.source, item.target];
  if (item.type === "point") return item.nodes;
  return [item, ...item.facts.flatMap(({ source, target }) => [source, target])];
}

/** The least and the largest of some numbers; there may be more than a call takes as arguments. */
function range(numbers: number[]): [number, number] {
  return numbers.reduce(([least, most], number) => [Math.min(least, number), Math.max(most, number)], [Infinity, -Infinity]);
}
