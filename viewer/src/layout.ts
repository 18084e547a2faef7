// Where the entities are drawn: a force simulation (d3-force) that runs in slices of time, so that the page stays usable.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { Entity, Fact, Graph, Point } from "./graph";

const FIRST_MS = 150; // before the first drawing
const SLICE_MS = 24; // between two drawings, of many entities
const MANY = 400; // entities from which forces are weaker and the layout settles sooner

export class Layout {
  private readonly simulation = forceSimulation<Entity>().stop();
  private readonly link = forceLink<Entity, Fact>();
  private readonly charge = forceManyBody<Entity>();
  private readonly collide = forceCollide<Entity>();
  private points: Point[] = [];
  private running = false;
  private many = false;

  constructor(private readonly drawn: () => void) {
    this.simulation
      .force("link", this.link).force("charge", this.charge).force("collide", this.collide)
      .force("points", (alpha) => this.gather(alpha));
  }

  /** Takes the entities and facts that are drawn, and places what is new. */
  set(entities: Entity[], facts: Fact[], graph: Graph, again: boolean, aspect: number): void {
    const many = (this.many = entities.length > MANY), few = entities.length < 30;
    this.link.links(facts.filter(({ source, target }) => source !== target)).distance(few ? 105 : many ? 34 : 70);
    this.charge.strength(few ? -520 : many ? -55 : -260).distanceMax(many ? 400 : 900).theta(many ? 1.2 : 0.9);
    this.collide.radius((entity) => entity.radius + (few ? 22 : many ? 2 : 10));
    const pull = many ? 0.05 : 0.065, wide = Math.max(0.6, Math.min(1.8, aspect)); // a wide canvas, a wide drawing
    this.simulation.force("x", forceX<Entity>(0).strength(pull / wide / wide)).force("y", forceY<Entity>(0).strength(pull * wide));
    this.simulation.alphaDecay(many ? 0.045 : 0.03).nodes(entities);
    const shown = new Set(entities);
    this.points = [...graph.points.values()].filter((point) => point.nodes.every((node) => shown.has(node)));
    this.simulation.alpha(again ? 0.5 : 1);
    this.ticks(FIRST_MS);
    if (!again) this.turn(aspect);
    this.run();
  }

  /** Holds an entity where the pointer is, and lets the others follow. */
  hold(entity: Entity, x: number, y: number): void {
    entity.fx = x;
    entity.fy = y;
    this.simulation.alphaTarget(0.12);
    this.run();
  }

  release(entity: Entity): void {
    entity.fx = entity.fy = null;
    this.simulation.alphaTarget(0);
  }

  private run(): void {
    if (this.running) return;
    this.running = true;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = () => {
      const held = this.simulation.alphaTarget() > 0, going = this.ticks(SLICE_MS, held || (!still && !this.many));
      if (!still || !going) this.drawn();
      if (going) requestAnimationFrame(step); else this.running = false;
    };
    requestAnimationFrame(step);
  }

  /** Lets the simulation go on for a while; returns whether it goes on after that. */
  private ticks(milliseconds: number, once = false): boolean {
    const end = performance.now() + milliseconds;
    do {
      this.simulation.tick();
      if (this.simulation.alpha() < this.simulation.alphaMin() && this.simulation.alphaTarget() === 0) return false;
    } while (!once && performance.now() < end);
    return true;
  }

  /** Turns a drawing that is higher than wide for a canvas that is wider than high, and the other way round. */
  private turn(aspect: number): void {
    const nodes = this.simulation.nodes(), spread = (axis: "x" | "y") => nodes.reduce((sum, node) => sum + node[axis] ** 2, 0);
    if (aspect > 1 === spread("x") > spread("y")) return;
    for (const node of nodes) [node.x, node.y, node.vx, node.vy] = [node.y, node.x, node.vy, node.vx];
  }

  /** Draws the entities of a memory point together. */
  private gather(alpha: number): void {
    for (const { nodes } of this.points) {
      let x = 0, y = 0;
      for (const node of nodes) { x += node.x / nodes.length; y += node.y / nodes.length; }
      const pull = 0.09 * alpha;
      for (const node of nodes) { node.vx! += (x - node.x) * pull; node.vy! += (y - node.y) * pull; }
    }
  }
}
