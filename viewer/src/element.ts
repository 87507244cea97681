// Elements of a page in one call.

type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string | boolean | ((e: Event) => void)> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") out.addEventListener(name, value);
    else if (typeof value === "boolean") out.toggleAttribute(name, value);
    else out.setAttribute(name, value);
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) out.append(child);
  return out;
}

/** A table of names and values. */
export function rows(entries: [string, string][]): HTMLTableElement {
  const table = el("table");
  for (const [name, value] of entries) table.append(el("tr", {}, el("td", {}, name), el("td", {}, value)));
  return table;
}
