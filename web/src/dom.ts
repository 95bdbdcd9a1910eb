// Elements by name and elements made. Text from the run becomes text nodes only, never markup.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

type Properties = Record<string, string | number | boolean | ((event: never) => void)>;

/** A new element: `on...` are listeners, what has a dash or is `role`, `for`, `scope` is an attribute, the rest are properties. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as (event: Event) => void);
    else if (name.includes("-") || name === "role" || name === "for" || name === "scope") element.setAttribute(name, String(value));
    else Object.assign(element, {[name]: value});
  }
  element.append(...children);
  return element;
}

/** A text that may be broken behind what joins the parts of names and paths, and not within a word. */
export function breakable(text: string): (Node | string)[] {
  const parts = text.match(/[^/._\-\s]*[/._\-\s]+|[^/._\-\s]+/g) ?? [text];
  return parts.flatMap((part, i) => (i > 0 ? [make("wbr"), part] : [part]));
}

/** A button with a pressed state. */
export function toggle(label: string, on: boolean, title: string, changed: (on: boolean) => void): HTMLButtonElement {
  const button = make("button", {type: "button", title, "aria-pressed": on, onclick: () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    changed(now);
  }}, label);
  return button;
}

/** Gives the reader a file. */
export function download(name: string, content: Blob) {
  const url = URL.createObjectURL(content);
  make("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
