// The list beside the canvas: the same content for the keyboard and for screen readers, and the search.

import { byId, count, element, say } from "./dom";
import type { Graph, Item } from "./graph";
import { kindOf } from "./shapes";

const MOST = 250; // in the list; a search finds the others

const MARKS = { person: "●", organisation: "◆", place: "■", time: "▲", thing: "•" };

interface Deeds { select(item: Item | null): void; active(item: Item | null): void }

export class List {
  private readonly place = byId<HTMLDivElement>("list");
  private readonly notes = byId<HTMLDivElement>("notes");
  private readonly field = byId<HTMLInputElement>("search");
  /** Looks for an entity outside the drawing; null where nothing can be asked. */
  look: ((name: string) => void) | null = null;
  private items: Item[] = [];
  private active = -1;

  constructor(private readonly graph: Graph, private readonly deeds: Deeds) {
    this.field.oninput = () => { this.deeds.select(null); this.fill(); say(count(this.items.length, "result")); };
    this.field.onkeydown = (event) => {
      if (event.key === "ArrowDown") { this.place.focus(); this.go(0); event.preventDefault(); }
      else if (event.key === "Enter") { this.enter(); event.preventDefault(); } // else it would press what now has the focus
      else if (event.key === "Escape" && this.field.value) { this.field.value = ""; this.fill(); event.stopPropagation(); }
    };
    this.place.onkeydown = (event) => this.key(event);
    this.place.onfocus = () => { if (this.active < 0) this.go(0); };
    this.place.onblur = () => this.deeds.active(null);
  }

  set hidden(hidden: boolean) { this.place.hidden = this.notes.hidden = hidden; }
  focus(): void { this.place.focus(); }

  fill(): void {
    const query = this.field.value.trim(), found = this.graph.search(query);
    this.items = found.slice(0, MOST);
    this.active = -1;
    this.place.replaceChildren(...this.items.map((item, place) => this.option(item, place)));
    const note = (content: string | HTMLElement) => this.notes.append(element("p", {}, content));
    this.notes.replaceChildren();
    if (found.length > MOST) note(`${count(found.length - MOST, "more result")}: type to narrow them down.`);
    if (!found.length) note(query ? "Nothing here has these words." : "Nothing is known yet.");
    if (query && this.look) note(element("button", { type: "button", onclick: () => this.look?.(query) }, `Look for “${query}” in the memory`));
    this.place.removeAttribute("aria-activedescendant");
  }

  private option(item: Item, place: number): HTMLElement {
    const tag = item.type === "entity" ? count(item.facts.length, "fact") : item.type === "fact" ? "fact" : "memory point";
    const made = element("div", { className: "option", id: `option-${place}`, role: "option", onclick: () => this.deeds.select(item) },
      markOf(item), element("span", { className: "name" }, item.name), element("span", { className: "tag" }, tag));
    made.ariaSelected = "false";
    return made;
  }

  private key(event: KeyboardEvent): void {
    const page = 10, moves: Record<string, number> = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page,
      Home: 0, End: this.items.length - 1,
    };
    if (event.key in moves) { this.go(moves[event.key]!); event.preventDefault(); }
    else if (event.key === "Enter" || event.key === " ") { this.enter(); event.preventDefault(); }
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) this.field.focus();
  }

  private enter(): void {
    const item = this.items[Math.max(this.active, 0)];
    if (item) this.deeds.select(item); else this.look?.(this.field.value.trim());
  }

  private go(place: number): void {
    const options = this.place.querySelectorAll<HTMLElement>(".option");
    options[this.active]?.classList.remove("active");
    if (options[this.active]) options[this.active]!.ariaSelected = "false";
    this.active = Math.max(0, Math.min(this.items.length - 1, place));
    const option = options[this.active];
    if (!option) return;
    option.classList.add("active");
    option.ariaSelected = "true";
    option.scrollIntoView({ block: "nearest" });
    this.place.setAttribute("aria-activedescendant", option.id);
    this.deeds.active(this.items[this.active]!);
  }
}

/** The shape of an item in its colour. */
function markOf(item: Item): HTMLElement {
  const kind = item.type === "entity" ? kindOf(item) : item.type;
  const mark = element("span", { className: `mark ${kind}` }, item.type === "entity" ? MARKS[kindOf(item)] : item.type === "fact" ? "→" : "⬭");
  mark.ariaHidden = "true";
  return mark;
}
