// One plot: curves of channels against time or against another channel. uPlot draws axes and carries the cursor; the
// curves are drawn from what the page knows of each channel, the extremes between its rows too.

import uPlot from "uplot";
import type {Channel, Curve} from "./data";
import {make, toggle, download} from "./dom";
import {clock, format, label, pretty, withError} from "./format";
import {Picker} from "./picker";
import type {Session} from "./session";
import {bandAt, bandPieces, logTicks, png, range, svg, tickTexts, ticks, type Line, type Picture} from "./svg";

export interface PlotDef {
  title: string;
  channels: Channel[];
  x?: Channel | null;
  log?: boolean;
  fixed?: boolean; // its channels cannot be changed
  height?: number;
}

type Range = [number, number];

const readable = (text: string) => text.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "plot";

export class Plot {
  readonly element: HTMLElement;
  onRemove: () => void = () => undefined;
  private channels: Channel[];
  private x: Channel | null;
  private log: boolean;
  private curves: Curve[] = [];
  private across: Curve | null = null; // the horizontal axis' curve, unless it is time
  private view: {x: Range; y: Map<string, Range>} | null = null; // of a plot against a channel, zoomed
  private chart: uPlot | null = null;
  private readonly host: HTMLElement;
  private readonly legend = make("ul", {className: "legend"});
  private readonly note = make("p", {className: "note muted"});
  private readonly needle = make("div", {className: "needle"});
  private values: HTMLElement[] = [];
  private under: number[] = []; // of each curve: the earlier one that it lies on, -1: none
  private when: HTMLElement | null = null;
  private hovered = NaN;
  private ticks: Record<string, number[]> = {}; // of x and of each unit
  private readonly ends: (() => void)[];
  private readonly picker: Picker | null = null;

  constructor(
    private readonly session: Session,
    readonly def: PlotDef,
  ) {
    this.channels = [...def.channels];
    this.x = def.x ?? null;
    this.log = def.log ?? false;
    this.host = make("div", {className: "chart", tabIndex: 0, role: "group", onkeydown: (event: KeyboardEvent) => this.key(event)});
    if (!def.fixed) this.picker = new Picker(session.data, {
      picked: () => this.channels, across: () => this.x,
      pick: (channel, on) => this.set(on ? [...this.channels, channel] : this.channels.filter((other) => other !== channel), this.x),
      lay: (channel) => this.set(this.channels, channel),
    });
    this.element = make("article", {className: "plot", "aria-label": def.title}, this.head(), ...(this.picker ? [this.picker.element] : []), this.legend, this.host, this.note);
    this.ends = [session.on("time", () => this.showTime()), session.on("window", () => this.scale()), session.on("theme", () => this.build())];
    new ResizeObserver(() => this.resize()).observe(this.host);
    void this.set(this.channels, this.x);
  }

  private head(): HTMLElement {
    const save = (name: string, title: string, action: () => void) => make("button", {type: "button", title, onclick: action}, name);
    const right = [
      toggle("Log", this.log, "Logarithmic scale", (on) => {
        this.log = on;
        this.build();
      }),
      save("SVG", "Download as SVG", () => download(`${this.fileName()}.svg`, new Blob([svg(this.picture())], {type: "image/svg+xml"}))),
      save("PNG", "Download as PNG", () => void png(svg(this.picture())).then((blob) => download(`${this.fileName()}.png`, blob))),
      save("CSV", "Download the values as CSV", () => download(`${this.fileName()}.csv`, new Blob([this.csv()], {type: "text/csv"}))),
    ];
    const left: Node[] = [make("h3", {title: this.def.title}, this.def.title)];
    if (this.picker) {
      left.push(this.picker.button);
      right.push(make("button", {type: "button", "aria-label": `Remove ${this.def.title}`, title: "Remove this plot", onclick: () => this.onRemove()}, "×"));
    }
    return make("div", {className: "row head"}, ...left, make("span", {className: "row right"}, ...right));
  }

  /** Shows these channels against x (null: time). */
  async set(channels: Channel[], x: Channel | null) {
    this.channels = channels;
    this.x = x;
    this.view = null;
    const [curves, across] = await Promise.all([Promise.all(channels.map((channel) => this.session.data.curve(channel))), x ? this.session.data.curve(x) : null]);
    if (this.channels !== channels || this.x !== x) return; // something else was asked for meanwhile
    this.curves = curves;
    this.across = across;
    this.under = coinciding(curves);
    this.picker?.update();
    this.build();
  }

  /** Of what it shows. */
  get units(): Set<string> {
    return new Set(this.channels.map((channel) => channel.unit));
  }

  add(channel: Channel) {
    if (!this.channels.includes(channel)) void this.set([...this.channels, channel], this.x);
  }

  remove() {
    for (const end of this.ends) end();
    this.chart?.destroy();
    this.element.remove();
  }

  private fileName() {
    return readable(`${this.session.data.raw.title}-${this.channels[0]?.name ?? this.def.title}`);
  }

  // ---- what is drawn ---------------------------------------------------------------------------------

  /** Against a channel only the part of the run in the window is drawn. */
  private lines(): Line[] {
    const {curves: colors} = this.session.theme;
    const [first, end] = this.rows();
    const x = this.across?.values.subarray(first, end);
    return this.curves.map(({channel, values, errors, t, y, band}, i) => ({
      name: channel.name, unit: channel.unit, color: colors[i % colors.length], x: x ?? t, y: x ? values.subarray(first, end) : y,
      band: x ? (errors?.subarray(first, end) ?? null) : band, dash: this.dash(i),
    }));
  }

  /** A curve that lies on others is dashed, so that these are seen in its gaps; so is one whose colour is taken. */
  private dash(i: number): number[] | undefined {
    let below = 0;
    for (let k = this.under[i]; k >= 0; k = this.under[k]) below++;
    const again = i >= this.session.theme.curves.length ? 1 : 0;
    return below + again > 0 ? DASHES[Math.min(below + again, DASHES.length) - 1] : undefined;
  }

  /** The rows that hold the window: from the first, up to before the second number. */
  private rows(): Range {
    const {data, window: [a, b]} = this.session;
    const [last, part] = data.at(b);
    return [data.at(a)[0], last + (part > 0 ? 2 : 1)];
  }

  private xRange(lines: Line[]): Range {
    const [a, b] = this.session.window;
    if (!this.across) return b > a ? [a, b] : [a - 0.5, a + 0.5]; // of a run of one row
    if (this.view) return this.view.x;
    return range(lines.slice(0, 1).map((line) => ({...line, y: line.x, band: null})), [-Infinity, Infinity], false);
  }

  private yRange(unit: string, lines: Line[], x: Range): Range {
    return this.view?.y.get(unit) ?? range(lines.filter((line) => line.unit === unit), x, this.log);
  }

  private picture(): Picture {
    const {theme, data} = this.session;
    const lines = this.lines();
    const x = this.across ? this.across.channel : {name: "time", unit: "s"};
    const across = this.xRange(lines);
    return {
      title: `${data.raw.title}: ${this.def.title}`, x: {name: x.name, unit: x.unit, range: across}, log: this.log, lines,
      ranges: new Map(lines.map(({unit}) => [unit, this.yRange(unit, lines, across)])),
      marks: this.across ? [] : data.raw.events.slice(0, 100).map((event) => ({x: event.t, name: event.name})),
      colors: {text: theme.text, muted: theme.muted, line: theme.line, paper: theme.stage},
    };
  }

  /** The values in the window, a row for each time; where a channel has no value of its own the field is empty. */
  private csv(): string {
    const quote = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    const {time} = this.session.data;
    const [a, b] = this.session.window;
    const columns = [...(this.across ? [this.across] : []), ...this.curves];
    const series = columns.map((curve) => (this.across ? {t: time, y: curve.values} : curve));
    const next = series.map(() => 0);
    const rows = [["time [s]", ...columns.map(({channel}) => `${channel.name} [${channel.unit}]`)].map(quote).join(",")];
    for (;;) {
      const t = Math.min(...series.map((one, i) => one.t[next[i]] ?? Infinity));
      if (!Number.isFinite(t)) break;
      const values = series.map((one, i) => (one.t[next[i]] === t ? one.y[next[i]++] : null));
      if (t >= a && t <= b) rows.push([String(t), ...values.map((value) => (value === null ? "" : digits(value)))].join(","));
    }
    return `${rows.join("\n")}\n`;
  }

  private build() {
    this.chart?.destroy();
    this.chart = null;
    this.showLegend();
    const lines = this.lines();
    const units = [...new Set(lines.map((line) => line.unit))];
    const x = this.xRange(lines);
    const {theme} = this.session;
    const font = "11px system-ui, sans-serif";
    const axis = {stroke: theme.muted, font, labelFont: font, grid: {stroke: theme.line, width: 1}, ticks: {stroke: theme.line, width: 1}};
    const values = (_: uPlot, splits: number[]) => tickTexts(splits);
    const room = (_: uPlot, texts: string[] | null) => 22 + 6.6 * Math.max(3, ...(texts ?? []).map((text) => text.length));
    const all = (_: uPlot, splits: number[]) => splits;
    // At least 76 pixels from tick to tick along x, 34 along y.
    const along = (u: uPlot, _: number, low: number, high: number) => (this.ticks.x = ticks(low, high, Math.max(3, Math.min(10, u.width / 76))));
    const height = this.def.height ?? 240;
    const upward = (unit: string) => (_: uPlot, __: number, low: number, high: number) => (this.ticks[unit] = this.log ? logTicks(low, high) : ticks(low, high, Math.max(3, height / 42)));
    this.ticks = {};
    const scales: uPlot.Scales = {x: {time: false, auto: false, min: x[0], max: x[1]}};
    const axes: uPlot.Axis[] = [{...axis, label: this.across ? label(this.across.channel.name, this.across.channel.unit) : "time [s]", labelSize: 18, size: 30, values, splits: along, filter: all}];
    units.forEach((unit, i) => {
      const [min, max] = this.yRange(unit, lines, x);
      scales[unit] = {auto: false, min, max, ...(this.log ? {distr: 3 as const, log: 10 as const} : {})};
      axes.push({...axis, scale: unit, side: i === 0 ? 3 : 1, size: room, splits: upward(unit), filter: all, label: `[${pretty(unit) || "-"}]`, labelSize: 16, values, grid: {...axis.grid, show: i === 0}});
    });
    if (units.length === 0) {
      scales.y = {auto: false, min: 0, max: 1};
      axes.push({...axis, scale: "y", size: 52});
    }
    const options: uPlot.Options = {
      width: Math.max(160, this.host.clientWidth), height, scales, axes, legend: {show: false},
      padding: [10, 12, 0, 0],
      series: [{}, ...lines.map((line) => ({scale: line.unit, stroke: line.color, width: 1.6, ...(line.dash ? {dash: line.dash} : {}), points: {show: false}, paths: (u: uPlot) => trail(u, line, this.log)}))],
      cursor: {
        points: {show: false}, y: this.across !== null, drag: {x: true, y: this.across !== null, setScale: false},
        bind: {dblclick: () => () => (this.reset(), null)},
      },
      hooks: {setSelect: [(u) => this.choose(u)], setCursor: [(u) => this.hover(u)], drawAxes: [(u) => this.drawMarks(u), (u) => this.drawBands(u)]},
    };
    const dummy = [x[0], x[1]];
    this.chart = new uPlot(options, [dummy, ...lines.map(() => dummy)] as uPlot.AlignedData, this.host);
    this.chart.over.append(this.needle);
    this.listen(this.chart.over);
    this.host.setAttribute("aria-label", this.describe());
    this.note.textContent = this.log && lines.some((line) => Array.prototype.some.call(line.y, (value: number) => value <= 0)) ? "Values that are not above zero cannot be drawn on a logarithmic scale." : "";
    this.showTime();
  }

  private describe(): string {
    const names = this.channels.map((channel) => channel.name).join(", ") || "no channels";
    return `Plot of ${names} against ${this.x ? this.x.name : "time"}. Arrow keys move the time, plus and minus zoom, 0 shows the whole run.`;
  }

  /** Follows the window without building anew. */
  private scale() {
    if (!this.chart) return;
    if (this.across) return this.build();
    const lines = this.lines();
    const [min, max] = this.xRange(lines);
    this.chart.batch(() => {
      this.chart!.setScale("x", {min, max});
      for (const unit of new Set(lines.map((line) => line.unit))) {
        const [low, high] = this.yRange(unit, lines, [min, max]);
        this.chart!.setScale(unit, {min: low, max: high});
      }
    });
    this.showTime();
  }

  private resize() {
    if (this.chart && this.host.clientWidth > 0) this.chart.setSize({width: this.host.clientWidth, height: this.chart.height});
    this.showTime();
  }

  private drawMarks(u: uPlot) {
    if (this.across) return;
    const {ctx, bbox} = u;
    const [a, b] = this.session.window;
    ctx.save();
    ctx.strokeStyle = this.session.theme.muted;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    for (const event of this.session.data.raw.events.slice(0, 300)) {
      if (event.t < a || event.t > b) continue;
      const at = Math.round(u.valToPos(event.t, "x", true)) + 0.5;
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.restore();
  }

  /** Estimated errors: a band about each curve. */
  private drawBands(u: uPlot) {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.25;
    for (const line of this.lines()) {
      ctx.fillStyle = line.color;
      for (const [first, end] of bandPieces(line, this.log)) {
        ctx.beginPath();
        const go = (i: number, side: 0 | 1) => ctx.lineTo(u.valToPos(line.x[i], "x", true), u.valToPos(bandAt(line, i, this.log)[side], line.unit, true));
        for (let i = first; i < end; i++) go(i, 1);
        for (let i = end - 1; i >= first; i--) go(i, 0);
        ctx.fill();
      }
    }
    ctx.restore();
  }

  // ---- what is pointed at ----------------------------------------------------------------------------

  private listen(over: HTMLElement) {
    let down: [number, number] | null = null;
    over.addEventListener("mousedown", (event) => (down = [event.clientX, event.clientY]));
    over.addEventListener("mouseup", (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 3) return;
      const box = over.getBoundingClientRect();
      this.session.playing = false;
      this.session.time = this.timeAt(event.clientX - box.left, event.clientY - box.top);
    });
  }

  /** The time that a point of the plot stands for; against a channel, that of the nearest point of a curve. */
  private timeAt(left: number, top: number): number {
    const u = this.chart!;
    if (!this.across) return u.posToVal(left, "x");
    let [best, least] = [0, Infinity];
    for (const line of this.lines())
      for (let i = 0; i < line.y.length; i++) {
        const far = Math.hypot(u.valToPos(line.x[i], "x") - left, u.valToPos(line.y[i], line.unit) - top);
        if (far < least) [best, least] = [i, far];
      }
    return this.session.data.time[this.rows()[0] + best];
  }

  private choose(u: uPlot) {
    const {left, top, width, height} = u.select;
    if (width < 4) return;
    const x: Range = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    const units = [...new Set(this.channels.map((channel) => channel.unit))];
    const y = new Map(units.map((unit): [string, Range] => [unit, [u.posToVal(top + height, unit), u.posToVal(top, unit)]]));
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    if (!this.across) this.session.window = x;
    else if (height > 4) {
      this.view = {x, y};
      this.build();
    }
  }

  private reset() {
    this.view = null;
    this.session.wholeRun();
  }

  private hover(u: uPlot) {
    const {left = -1, top = -1} = u.cursor;
    this.hovered = left >= 0 && this.chart === u && this.curves.length > 0 ? this.timeAt(left, top) : NaN;
    this.showValues();
  }

  private key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.host) return;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.session.step(event.shiftKey ? -10 : -1), ArrowRight: () => this.session.step(event.shiftKey ? 10 : 1),
      Home: () => (this.session.time = this.session.window[0]), End: () => (this.session.time = this.session.window[1]),
      "+": () => this.session.zoom(0.5), "=": () => this.session.zoom(0.5), "-": () => this.session.zoom(2), "0": () => this.reset(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  private showLegend() {
    this.legend.replaceChildren();
    this.values = [];
    const {curves: colors} = this.session.theme;
    if (this.channels.length === 0) this.legend.append(make("li", {className: "muted"}, "No channels yet: choose some."));
    this.curves.forEach(({channel}, i) => {
      const swatch = make("i", {});
      const color = colors[i % colors.length];
      const dash = this.dash(i);
      swatch.style.background = dash ? `repeating-linear-gradient(to right, ${color} 0 4px, transparent 4px 6px)` : color;
      const on = this.under[i] >= 0 ? this.curves[this.under[i]].channel.name : "";
      const value = make("b", {});
      const {min, max, tmin, tmax, error, terror} = channel;
      const off = Number.isNaN(error) ? "" : `; estimated error at most ${format(error, 2)} ${pretty(channel.unit)} at ${format(terror)} s`;
      const title = Number.isNaN(min) ? channel.name : `${channel.name}: from ${format(min)} at ${format(tmin)} s to ${format(max)} ${pretty(channel.unit)} at ${format(tmax)} s${off}`;
      const item = make("li", {title: on ? `${title}; lies on ${on}` : title}, swatch, make("span", {className: "name"}, channel.name), value);
      if (on) item.append(make("span", {className: "on muted"}, `lies on ${differing(on, channel.name)}`));
      if (!this.def.fixed)
        item.append(make("button", {type: "button", className: "quiet", "aria-label": `Remove ${channel.name}`, onclick: () => void this.set(this.channels.filter((other) => other !== channel), this.x)}, "×"));
      this.values.push(value);
      this.legend.append(item);
    });
    this.when = make("li", {className: "when muted"});
    if (this.channels.length > 0) this.legend.append(this.when);
  }

  private showValues() {
    const {data, time} = this.session;
    const t = Number.isNaN(this.hovered) ? time : this.hovered;
    const read = (curve: Curve) => withError(Number.isNaN(this.hovered) ? data.value(curve, t) : interpolate(curve, t), data.error(curve, t), curve.channel.unit);
    this.curves.forEach((curve, i) => (this.values[i].textContent = read(curve)));
    const x = this.across ? `${this.across.channel.name} ${read(this.across)} ` : "";
    if (this.when) this.when.textContent = `${x}at ${clock(t, data.start, data.end)} s`;
  }

  private showTime() {
    this.showValues();
    const u = this.chart;
    if (!u) return;
    const {data, time} = this.session;
    const dot = this.across !== null && this.curves.length > 0;
    this.needle.classList.toggle("dot", dot);
    const x = u.valToPos(dot ? data.value(this.across!, time) : time, "x");
    const y = dot ? u.valToPos(data.value(this.curves[0], time), this.curves[0].channel.unit) : 0;
    this.needle.hidden = !(x >= -0.5 && x <= u.bbox.width / devicePixelRatio + 0.5);
    this.needle.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** What the plot shows, for tests. */
  get shown() {
    const lines = this.lines();
    const x = this.xRange(lines);
    return {
      title: this.def.title, channels: lines.map((line) => line.name), ticks: this.ticks, dashed: lines.map((line) => line.dash !== undefined), x: this.across?.channel.name ?? "time", log: this.log, range: x,
      ranges: Object.fromEntries(lines.map((line) => [line.unit, this.yRange(line.unit, lines, x)])),
      bands: lines.map((line) => (line.band ? Math.max(...Array.from(line.band).filter(Number.isFinite)) : NaN)),
      extremes: lines.map((line) => [Math.min(...Array.from(line.y).filter(Number.isFinite)), Math.max(...Array.from(line.y).filter(Number.isFinite))]),
    };
  }
}

const DASHES = [[7, 6], [2.5, 5], [10, 4, 2, 4]];

/** Of each curve the earlier one of its unit that it lies on: nowhere farther away than a line is wide. */
function coinciding(curves: Curve[]): number[] {
  const span = new Map<string, [low: number, high: number]>(); // of each unit
  for (const {channel: {unit}, values} of curves) {
    let [low, high] = span.get(unit) ?? [Infinity, -Infinity];
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    span.set(unit, [low, high]);
  }
  const same = (a: Curve, b: Curve) => {
    if (a.channel.unit !== b.channel.unit) return false;
    const [low, high] = span.get(a.channel.unit)!;
    const within = 4e-3 * (high - low);
    for (let i = 0; i < a.values.length; i++) {
      const known = Number.isFinite(a.values[i]);
      if (known !== Number.isFinite(b.values[i]) || (known && Math.abs(a.values[i] - b.values[i]) > within)) return false;
    }
    return true;
  };
  return curves.map((curve, i) => {
    for (let k = Math.min(i, 30) - 1; k >= 0; k--) if (same(curves[k], curve)) return k;
    return -1;
  });
}

/** The parts of a channel's name in which another one differs. */
function differing(name: string, other: string): string {
  const [a, b] = [name.split("."), other.split(".")];
  if (a.length !== b.length) return name;
  return a.filter((part, i) => part !== b[i]).join(".") || name;
}

/** A number as text; of one that was kept with 32 bits the digits that these have. */
function digits(value: number): string {
  if (Math.fround(value) !== value) return String(value);
  const enough = [6, 7, 8, 9].map((n) => Number(value.toPrecision(n))).find((short) => Math.fround(short) === value);
  return String(enough ?? value);
}

/** A value between the points of a curve that are known, the extremes too. */
function interpolate({t, y}: Curve, at: number): number {
  let low = 0;
  let high = t.length - 1;
  if (at <= t[0]) return y[0];
  if (at >= t[high]) return y[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= at) low = middle;
    else high = middle;
  }
  return t[high] > t[low] ? y[low] + ((at - t[low]) / (t[high] - t[low])) * (y[high] - y[low]) : y[high];
}

function trail(u: uPlot, {x, y, unit}: Line, log: boolean): uPlot.Series.Paths {
  const stroke = new Path2D();
  const there = (i: number) => Number.isFinite(y[i]) && Number.isFinite(x[i]) && (!log || y[i] > 0);
  for (let i = 0; i < y.length; i++) {
    if (!there(i)) continue;
    const [px, py] = [u.valToPos(x[i], "x", true), u.valToPos(y[i], unit, true)];
    if (i > 0 && there(i - 1)) stroke.lineTo(px, py);
    else stroke.moveTo(px, py);
    if (!(i > 0 && there(i - 1)) && !there(i + 1)) stroke.arc(px, py, 2 * devicePixelRatio, 0, 2 * Math.PI); // alone
  }
  return {stroke, fill: null, clip: null, gaps: null, flags: 0} as unknown as uPlot.Series.Paths;
}
