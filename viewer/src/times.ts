// The time slider: which moment is shown, and when how much changed. Arrow keys go from change to change.

import { byId } from "./dom";
import { type Graph, dateOf } from "./graph";
import type { Colours } from "./shapes";

const DAY = 86_400_000, BARS = 120;

export class Times {
  time = Date.now();
  private readonly slider = byId<HTMLInputElement>("time");
  private readonly canvas = byId<HTMLCanvasElement>("changes");
  private changes: number[] = [];
  private first = 0;
  private last = 1;
  private following = true; // at the right end: now

  constructor(private readonly graph: Graph, private readonly changed: (spoken: string) => void) {
    this.slider.oninput = () => this.go(this.first + Number(this.slider.value) * (this.last - this.first));
    this.slider.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (step) { this.step(step); event.preventDefault(); }
    };
    byId("before").onclick = () => this.step(-1);
    byId("after").onclick = () => this.step(1);
    byId("now").onclick = () => { this.following = true; this.go(Date.now()); };
  }

  /** Takes the times of a graph that has grown. */
  refresh(): void {
    this.changes = this.graph.changes();
    const now = Date.now(), [first = now - 365 * DAY] = this.changes;
    this.last = Math.max(now, this.changes.at(-1) ?? now);
    this.first = first - (this.last - first) * 0.02 - DAY;
    if (this.following) this.time = now;
    byId("before").toggleAttribute("disabled", !this.changes.length);
    byId("after").toggleAttribute("disabled", !this.changes.length);
    this.label();
  }

  go(time: number): void {
    this.time = Math.max(this.first, Math.min(this.last, time));
    this.following = Math.abs(this.time - Date.now()) < DAY / 2;
    if (this.following) this.time = Date.now();
    this.changed(this.label());
  }

  /** Draws how many facts begin or end when. */
  draw(palette: Colours): void {
    const ratio = Math.min(devicePixelRatio, 2), { clientWidth, clientHeight } = this.canvas, context = this.canvas.getContext("2d")!;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    const bars = new Array<number>(BARS).fill(0), place = (time: number) => (time - this.first) / (this.last - this.first);
    for (const { since, until } of this.graph.facts.values()) {
      for (const time of [since, until]) if (isFinite(time)) bars[Math.min(BARS - 1, Math.floor(place(time) * BARS))]! += 1;
    }
    const most = Math.max(1, ...bars), wide = this.canvas.width / BARS;
    bars.forEach((number, index) => {
      if (!number) return;
      const high = (0.25 + 0.75 * Math.sqrt(number / most)) * this.canvas.height;
      context.fillStyle = index / BARS <= place(this.time) ? palette.accent : palette["edge-past"];
      context.fillRect(index * wide, this.canvas.height - high, Math.max(1, wide - ratio), high);
    });
  }

  private step(direction: number): void {
    const now = Date.now(), stops = [...this.changes.filter((time) => time < now), now, ...this.changes.filter((time) => time > now)];
    const next = direction > 0 ? stops.find((time) => time > this.time + 1) : stops.findLast((time) => time < this.time - (this.following ? DAY / 2 : 1));
    if (next !== undefined) { this.following = next === now; this.go(next); }
  }

  private label(): string {
    this.slider.value = String((this.time - this.first) / (this.last - this.first));
    const text = this.following ? "now" : dateOf(this.time);
    byId("moment").textContent = this.following ? `${dateOf(this.time)} (now)` : text;
    this.slider.setAttribute("aria-valuetext", text);
    byId("now").toggleAttribute("disabled", this.following);
    return text;
  }
}

