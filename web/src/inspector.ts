// What is chosen, and its values at the time that is shown.

import type {Channel, Curve} from "./data";
import {byId, make} from "./dom";
import {format, pretty, withUnit} from "./format";
import type {Session} from "./session";
import type {Target, View} from "./view";

type Group = "bodies" | "frames" | "joints" | "forces";
const GROUPS: Group[] = ["bodies", "frames", "joints", "forces"];

/** Channels that are components of one thing share a row. */
interface Row {
  name: string;
  unit: string;
  channels: Channel[];
}

export class Inspector {
  private group: Group = "bodies";
  private index = -1;
  private rows: {curves: Curve[]; cells: HTMLElement[]}[] = [];
  private readonly choose = byId<HTMLSelectElement>("choose");
  private readonly host = byId("values");
  private readonly button = byId<HTMLButtonElement>("trace");

  constructor(
    private readonly session: Session,
    private readonly view: View | null,
    private readonly plot: (channels: Channel[]) => void,
  ) {
    const {scene} = session.data.raw;
    this.choose.append(make("option", {value: ""}, "– nothing –"));
    for (const group of GROUPS) {
      if (scene[group].length === 0) continue;
      const options = make("optgroup", {label: group});
      scene[group].forEach(({name}, i) => options.append(make("option", {value: `${group} ${i}`}, name)));
      this.choose.append(options);
    }
    this.choose.addEventListener("change", () => {
      const [group, index] = this.choose.value.split(" ");
      this.select((group || "bodies") as Group, index === undefined ? -1 : Number(index));
    });
    this.button.addEventListener("click", () => {
      const target = this.target();
      if (!target || !this.view) return;
      this.view.trace(target, !this.view.traced(target));
      this.showTrace();
    });
    session.on("time", () => this.update());
    this.select("bodies", -1);
  }

  /** What has a path of its own: bodies and frames. */
  private target(): Target | null {
    if (this.index < 0 || (this.group !== "bodies" && this.group !== "frames")) return null;
    return {kind: this.group, index: this.index};
  }

  get name(): string | null {
    return this.index < 0 ? null : this.session.data.raw.scene[this.group][this.index].name;
  }

  select(group: Group, index: number) {
    this.group = group;
    this.index = index;
    this.choose.value = index < 0 ? "" : `${group} ${index}`;
    this.view?.select(group === "bodies" ? index : -1);
    this.showTrace();
    void this.show();
  }

  private showTrace() {
    const target = this.target();
    const ground = target?.kind === "frames" && this.session.data.raw.scene.frames[target.index].body < 0;
    this.button.disabled = !target || ground || !this.view;
    this.button.setAttribute("aria-pressed", String(target !== null && (this.view?.traced(target) ?? false)));
  }

  private async show() {
    const {data} = this.session;
    const {group, index, name} = this;
    this.rows = [];
    if (name === null) {
      this.host.replaceChildren(make("p", {className: "muted"}, "Click a body, or choose from the list, to see its values."));
      return;
    }
    const found = gather(data.channels, `${group}.${name}.`);
    const curves = await Promise.all(found.map((row) => Promise.all(row.channels.map((channel) => data.curve(channel)))));
    if (this.group !== group || this.index !== index) return;
    const table = make("tbody", {});
    found.forEach((row, i) => {
      const cells = row.channels.map(() => make("td", {className: "number"}));
      const add = make("button", {type: "button", className: "quiet", title: "Add to a plot", "aria-label": `Plot ${row.name}`, onclick: () => this.plot(row.channels)}, "plot");
      const wide = cells.length === 1 ? Object.assign(cells[0], {colSpan: 4}) : null;
      const filled = wide ? cells : [...cells, ...Array.from({length: 4 - cells.length}, () => make("td", {}))];
      table.append(make("tr", {}, make("th", {scope: "row"}, row.name), ...filled, make("td", {className: "muted"}, pretty(row.unit)), make("td", {}, add)));
      this.rows.push({curves: curves[i], cells});
    });
    const facts = this.facts();
    const nothing = found.length === 0 ? [make("p", {className: "muted"}, "None of its channels was recorded.")] : [];
    this.host.replaceChildren(...(facts ? [make("p", {className: "muted"}, facts)] : []), ...nothing, make("div", {className: "scroll"}, make("table", {}, table)));
    this.update();
  }

  private facts(): string {
    const {scene} = this.session.data.raw;
    if (this.group === "bodies" && scene.bodies[this.index].node) return "node of a flexible structure";
    if (this.group === "bodies") return `mass ${withUnit(scene.bodies[this.index].mass, "kg")}`;
    const title = (body: number) => (body < 0 ? "ground" : scene.bodies[body].name);
    if (this.group === "frames") return `of ${title(scene.frames[this.index].body)}`;
    const link = scene[this.group][this.index];
    return `${link.kind.replace(/[-_]/g, " ")}: ${link.bodies.map(title).join(" and ")}`;
  }

  private update() {
    for (const {curves, cells} of this.rows)
      curves.forEach((curve, i) => {
        const {data, time} = this.session;
        cells[i].textContent = format(data.value(curve, time));
        const error = data.error(curve, time);
        cells[i].title = Number.isNaN(error) ? "" : `estimated error: ± ${format(error, 2)} ${pretty(curve.channel.unit)}`.trim();
      });
  }
}

function gather(channels: Channel[], prefix: string): Row[] {
  const rows = new Map<string, Row>();
  for (const channel of channels) {
    if (!channel.name.startsWith(prefix)) continue;
    const rest = channel.name.slice(prefix.length);
    const name = rest.replace(/\.[wxyz]$/, "");
    const row = rows.get(name);
    if (row) row.channels.push(channel);
    else rows.set(name, {name: name.replace(/_/g, " "), unit: channel.unit, channels: [channel]});
  }
  return [...rows.values()];
}
