// The list of channels that can be searched: which are drawn, and which one is the horizontal axis.

import type {Channel, Data} from "./data";
import {make} from "./dom";
import {label} from "./format";

const MOST = 200; // shown at a time

export interface Choice {
  picked: () => Channel[];
  across: () => Channel | null;
  pick: (channel: Channel, on: boolean) => void;
  lay: (channel: Channel | null) => void;
}

let count = 0;

export class Picker {
  readonly element: HTMLElement;
  readonly button: HTMLButtonElement;
  private readonly search: HTMLInputElement;
  private readonly list = make("ul", {className: "channels"});
  private readonly more = make("p", {className: "muted"});
  private readonly mode: HTMLSelectElement;

  constructor(
    private readonly data: Data,
    private readonly choice: Choice,
  ) {
    const id = `picker-${++count}`;
    this.search = make("input", {type: "search", placeholder: "Search, e.g. pivot angle", "aria-label": "Search channels", oninput: () => this.update()});
    this.mode = make("select", {"aria-label": "What the list chooses", onchange: () => this.update()}, make("option", {value: "y"}, "Curves"), make("option", {value: "x"}, "Horizontal axis"));
    this.element = make("div", {className: "picker", id, hidden: true, onkeydown: (event: KeyboardEvent) => this.key(event)}, make("div", {className: "row"}, this.search, this.mode), this.list, this.more);
    this.button = make("button", {type: "button", "aria-expanded": false, "aria-controls": id, onclick: () => this.open(this.element.hidden === true)}, "Channels");
  }

  open(on: boolean) {
    this.element.hidden = !on;
    this.button.setAttribute("aria-expanded", String(on));
    if (!on) return this.button.focus();
    this.update();
    this.search.focus();
  }

  private key(event: KeyboardEvent) {
    const boxes = [...this.list.querySelectorAll("input")];
    const at = boxes.indexOf(document.activeElement as HTMLInputElement);
    if (event.key === "Escape") this.open(false);
    else if (event.key === "ArrowDown" && document.activeElement !== this.mode) boxes[Math.min(at + 1, boxes.length - 1)]?.focus();
    else if (event.key === "ArrowUp" && at >= 0) (at > 0 ? boxes[at - 1] : this.search).focus();
    else if (event.key === "Enter" && at >= 0) boxes[at].click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  update() {
    if (this.element.hidden) return;
    const focus = (document.activeElement as HTMLElement | null)?.dataset?.channel;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const axis = this.mode.value === "x";
    const found = this.data.channels.filter((channel) => words.every((word) => channel.name.toLowerCase().includes(word)));
    const picked = this.choice.picked();
    if (!axis && words.length === 0) found.sort((a, b) => Number(picked.includes(b)) - Number(picked.includes(a)));
    const items = found.slice(0, MOST).map((channel) => this.item(channel.name, label(channel.name, channel.unit), axis, axis ? this.choice.across() === channel : picked.includes(channel), (on) => {
      if (axis) this.choice.lay(channel);
      else this.choice.pick(channel, on);
    }));
    if (axis) items.unshift(this.item("", "time [s]", true, this.choice.across() === null, () => this.choice.lay(null)));
    this.list.replaceChildren(...items);
    this.more.textContent = found.length > MOST ? `and ${found.length - MOST} more: type a part of a name` : found.length === 0 ? "No channel has such a name." : "";
    if (focus !== undefined) [...this.list.querySelectorAll("input")].find((input) => input.dataset.channel === focus)?.focus();
  }

  private item(name: string, text: string, axis: boolean, on: boolean, changed: (on: boolean) => void): HTMLLIElement {
    const input = make("input", {type: axis ? "radio" : "checkbox", checked: on, onchange: () => changed(input.checked)});
    input.dataset.channel = name;
    return make("li", {}, make("label", {}, input, text));
  }
}
