/** Elements in one call. Text is always set as text, so nothing that a link or a scenario says becomes HTML. */

type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function button(text: string, act: () => void, attributes: Record<string, string | boolean> = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

export function select(
  label: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
  change: (value: string) => void,
): HTMLLabelElement {
  const list = element("select", { "aria-label": label });
  for (const [value, text] of options) list.append(element("option", { value, selected: value === chosen }, text));
  list.addEventListener("change", () => change(list.value));
  return element("label", {}, element("span", {}, label), list);
}

export function field(label: string, value: string, change: (value: string) => void, hint = ""): HTMLLabelElement {
  const input = element("input", { type: "text", value, title: hint, spellcheck: "false", autocomplete: "off" });
  input.addEventListener("change", () => change(input.value.trim()));
  return element("label", { title: hint }, element("span", {}, label), input);
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}
