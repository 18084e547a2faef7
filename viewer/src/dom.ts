// Elements. Whatever is stored becomes text, never markup: only textContent is set.

type Content = Node | string | null | false;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name, properties: Partial<HTMLElementTagNameMap[Name]> & { role?: string } = {}, ...children: Content[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child): child is Node | string => child !== null && child !== false));
  return made;
}

export function byId<Type extends HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

/** Says something to a screen reader. */
export function say(text: string): void { byId("said").textContent = text; }

export function count(number: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
