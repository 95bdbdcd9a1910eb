// The page: reads its data and brings it to life.

import {Vector3, type PerspectiveCamera} from "three";
import {firstPlots, type FirstPlot} from "./choice";
import {Data, type Channel} from "./data";
import {byId, make} from "./dom";
import {format, withUnit} from "./format";
import {Inspector} from "./inspector";
import {startPlayer} from "./player";
import {Plot, type PlotDef} from "./plot";
import {Session} from "./session";
import {showEvents, showModel, showNotices, showSummary} from "./summary";
import {FORCES} from "./symbols";
import {startTheme} from "./theme";
import {LAYERS, View, type Layer} from "./view";

const still = matchMedia("(prefers-reduced-motion: reduce)");

// ---- plots -----------------------------------------------------------------------------------------

class PlotList {
  readonly plots: Plot[] = [];
  private made = 0;

  constructor(private readonly session: Session) {
    byId("add-plot").addEventListener("click", () => this.add({channels: []}).element.querySelector<HTMLButtonElement>("[aria-expanded]")!.click());
    const whole = byId<HTMLButtonElement>("unzoom");
    whole.addEventListener("click", () => session.wholeRun());
    session.on("window", () => (whole.disabled = !session.zoomed));
  }

  add({title, channels, x}: Partial<FirstPlot> & {channels: Channel[]}): Plot {
    const plot = new Plot(this.session, {title: title ?? `Plot ${++this.made}`, channels, x: x ?? null});
    plot.onRemove = () => {
      plot.remove();
      this.plots.splice(this.plots.indexOf(plot), 1);
      byId("add-plot").focus();
    };
    this.plots.push(plot);
    byId("plot-list").append(plot.element);
    return plot;
  }

  /** Adds channels to the last plot, or to a new one if their unit is not there yet. */
  extend(channels: Channel[]) {
    const last = this.plots.at(-1);
    if (last && (last.units.size === 0 || last.units.has(channels[0].unit))) for (const channel of channels) last.add(channel);
    else this.add({channels});
  }
}

function showChecks(session: Session): Plot[] {
  const {data} = session;
  const pick = (pattern: RegExp) => data.channels.filter((channel) => pattern.test(channel.name));
  const some = (channels: Channel[]) => { // without what is nothing all along
    const there = channels.filter(({min, max}) => min !== 0 || max !== 0);
    return there.length > 0 ? there : channels;
  };
  const wanted: [PlotDef, string][] = [
    [{title: "Energy", channels: some(pick(/^energy\.(?!balance)/))}, "energy"],
    [{title: "Energy balance", channels: pick(/^energy\.balance$/)}, "energy.balance"],
    [{title: "Constraint drift", channels: pick(/^drift\./), log: true}, "drift"],
    [{title: "Step size", channels: pick(/^solver\.h$/), log: true}, "solver.h"],
  ];
  const plots: Plot[] = [];
  for (const [def, channels] of wanted) {
    if (def.channels.length === 0) byId("checks").append(make("article", {className: "plot"}, make("h3", {}, def.title), make("p", {className: "muted"}, `Not recorded: add ${channels} to the channels of the output.`)));
    else {
      const plot = new Plot(session, {...def, fixed: true, height: 200});
      byId("checks").append(plot.element);
      plots.push(plot);
    }
  }
  return plots;
}

// ---- animation -------------------------------------------------------------------------------------

async function startView(session: Session): Promise<View | null> {
  try {
    const view = await View.create(byId<HTMLCanvasElement>("view"), session.data, session.theme);
    session.on("time", () => view.setTime(session.time));
    session.on("theme", () => view.paint(session.theme));
    return view;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    byId("stage").replaceChildren(make("p", {className: "notice warn"}, `This browser does not draw in 3D (${reason}), so there is no animation here. Plots and numbers are complete.`));
    return null;
  }
}

function showTools(session: Session, view: View) {
  const {scene} = session.data.raw;
  byId("fit").addEventListener("click", () => view.fit());
  const follow = byId<HTMLSelectElement>("follow");
  follow.append(make("option", {value: ""}, "nothing"));
  for (const kind of ["bodies", "frames"] as const) {
    if (scene[kind].length === 0) continue;
    const options = scene[kind].map(({name}, i) => make("option", {value: `${kind} ${i}`}, name));
    follow.append(make("optgroup", {label: kind}, ...options));
  }
  follow.addEventListener("change", () => {
    const [kind, index] = follow.value.split(" ");
    view.follow(kind === "bodies" || kind === "frames" ? {kind, index: Number(index)} : null);
    turn.disabled = follow.value === "";
    if (follow.value === "" && view.travel) view.fit();
  });
  const turn = make("input", {type: "checkbox", disabled: true, title: "The view turns with the heading of what is followed", onchange: () => (view.turning = turn.checked)});
  turn.id = "turn";
  if (view.travel) {
    follow.value = `bodies ${view.travel.body}`;
    follow.dispatchEvent(new Event("change"));
  }
  const there: Record<Layer, number> = {
    bodies: scene.bodies.length, names: view.names.count, ground: view.ground.points.length, joints: scene.joints.length, frames: scene.frames.length,
    springs: scene.forces.filter((force) => ["spring", "actuator"].includes(force.kind) || force.kind in FORCES).length + scene.joints.filter((joint) => joint.kind === "distance").length,
    forces: view.arrows.count.forces, reactions: view.arrows.count.reactions, traces: scene.bodies.length, grid: 1,
  };
  for (const layer of LAYERS) {
    const box = make("input", {type: "checkbox", checked: view.shown[layer] && there[layer] > 0, disabled: there[layer] === 0, onchange: () => view.show(layer, box.checked)});
    box.dataset.layer = layer;
    byId("layers").append(make("label", {}, box, layer));
  }
  const length = make("input", {type: "range", min: "-1", max: "1", step: "0.05", value: "0", "aria-label": "Length of arrows", oninput: () => {
    view.arrows.scale = 10 ** Number(length.value);
    view.update();
  }});
  byId("layers").append(make("label", {className: "wide"}, "arrows ", length), make("label", {className: "wide"}, turn, "follow the heading, too"));
  const scale = () => {
    const parts = [`grid ${withUnit(view.cell, "m")}`];
    for (const kind of ["forces", "reactions"] as const) {
      const largest = view.arrows.largest(kind).filter(({value}) => value > 0).map(({value, unit}) => withUnit(Number(value.toPrecision(3)), unit));
      if (view.shown[kind] && largest.length > 0) parts.push(`${kind}: longest ${largest.join(", ")}`);
    }
    byId("scale").textContent = parts.join(" · ");
  };
  view.onGrid = scale;
  view.arrows.onLoad = () => {
    view.update();
    scale();
  };
  byId("layers").addEventListener("change", scale);
  scale();
  const menu = byId<HTMLDetailsElement>("show");
  document.addEventListener("pointerdown", (event) => {
    if (!menu.contains(event.target as Node)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")!.focus();
  });
}

/** What beams and flexible bodies are coloured by, with its scale, and how much their deformation is magnified. */
function showBeams(view: View) {
  const {beams, meshes} = view;
  if (beams.lines.length + meshes.parts.length === 0) return;
  const paint = (title: string) => {
    meshes.colour(title);
    return beams.colour(title);
  };
  const choice = make("select", {"aria-label": "Colour of beams", onchange: () => void paint(choice.value)});
  choice.id = "colour";
  const titles = new Set([...beams.quantities, ...meshes.quantities].map(({title}) => title));
  choice.append(make("option", {value: ""}, "nothing"), ...[...titles].map((title) => make("option", {value: title}, title)));
  const slider = make("input", {type: "range", min: "0", max: "3", step: "0.05", value: "0", "aria-label": "Magnified deformation", oninput: () => {
    beams.magnify = meshes.magnify = Number(slider.value) === 0 ? 1 : Number((10 ** Number(slider.value)).toPrecision(2));
    view.update();
    show();
  }});
  slider.id = "magnify";
  byId("layers").append(make("label", {className: "wide"}, beams.lines.length > 0 ? "beams " : "flexible ", choice), make("label", {className: "wide"}, "deformation ", slider));
  const show = () => {
    const quantity = beams.quantity ?? meshes.quantities.find(({title}) => title === meshes.title) ?? null;
    const {range, scale} = beams.quantity ? beams : meshes;
    const texts = [...(quantity ? [quantity.title] : []), ...(beams.magnify === 1 ? [] : [`deformation × ${format(beams.magnify, 2)}`])];
    byId("legend").hidden = texts.length === 0;
    byId("legend-name").textContent = texts.join(", ");
    byId("legend-low").textContent = quantity ? format(range[0], 3) : "";
    byId("legend-high").textContent = quantity ? withUnit(Number(range[1].toPrecision(3)), quantity.unit) : "";
    byId("legend-bar").hidden = !quantity;
    byId("legend-bar").style.background = scale.length > 1 ? `linear-gradient(to right, ${scale.map((color) => `#${color.getHexString()}`).join(", ")})` : "";
  };
  beams.onLoad = () => {
    if (beams.quantity && meshes.title) beams.range = meshes.range = [Math.min(beams.range[0], 0), Math.max(beams.range[1], meshes.range[1])];
    view.update();
    show();
  };
  choice.value = [...titles][0] ?? "";
  void paint(choice.value);
}

/** Which way the axes point, in a corner. */
function showAxes(view: View) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.getElementById("gizmo")!;
  const colors = ["#d9544f", "#4aa564", "#4a7fd9"];
  const parts = ["x", "y", "z"].map((name, i) => {
    const line = document.createElementNS(space, "line");
    line.setAttribute("stroke", colors[i]);
    const text = document.createElementNS(space, "text");
    text.textContent = name;
    text.setAttribute("fill", colors[i]);
    svg.append(line, text);
    return {line, text};
  });
  view.onTurn = (camera: PerspectiveCamera) => {
    const axis = new Vector3();
    parts.forEach(({line, text}, i) => {
      axis.set(0, 0, 0).setComponent(i, 1).transformDirection(camera.matrixWorldInverse);
      line.setAttribute("x2", (24 * axis.x).toFixed(1));
      line.setAttribute("y2", (-24 * axis.y).toFixed(1));
      text.setAttribute("x", (32 * axis.x).toFixed(1));
      text.setAttribute("y", (-32 * axis.y + 4).toFixed(1));
    });
  };
  view.draw();
}

/** Points that are worth following with the eye: a few named frames, or the only body. */
function firstTraces(session: Session, view: View) {
  const {bodies, frames} = session.data.raw.scene;
  if (view.travel) return view.trace({kind: "bodies", index: view.travel.body}, true);
  const moving = frames.map((frame, index) => ({frame, index})).filter(({frame}) => frame.body >= 0);
  if (moving.length > 0 && moving.length <= 3) for (const {index} of moving) view.trace({kind: "frames", index}, true);
  else if (moving.length === 0 && bodies.length <= 2) bodies.forEach((_, index) => view.trace({kind: "bodies", index}, true));
}

function startKeys(session: Session) {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, button, summary, a")) return;
    const actions: Record<string, () => void> = {
      " ": () => (session.playing = !session.playing), ",": () => session.step(-1), ".": () => session.step(1), "0": () => session.wholeRun(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
}

// ---- the page --------------------------------------------------------------------------------------

async function start() {
  let session: Session | null = null;
  const theme = startTheme(byId("theme"), (changed) => session && (session.theme = changed));
  const data = await Data.read(byId("alphastep-data")?.textContent ?? "");
  session = new Session(data, theme);
  const {raw} = data;
  byId("title").textContent = raw.title;
  byId("description").textContent = raw.description ?? "";
  byId("description").hidden = !raw.description;
  byId("footer").textContent = `alphastep ${raw.version}. This page is one file and asks nothing of any network. It contains three and uPlot (MIT licence; the texts are in the page's source).`;
  showNotices(session);
  startPlayer(session);
  const view = await startView(session);
  const plots = new PlotList(session);
  const inspector = new Inspector(session, view, (channels) => plots.extend(channels));
  if (view) {
    showTools(session, view);
    showBeams(view);
    showAxes(view);
    firstTraces(session, view);
    view.onPick = (body) => inspector.select("bodies", body ?? -1);
    view.onHover = (body) => (byId("hover").textContent = body === null ? "" : raw.scene.bodies[body].name);
  }
  for (const first of firstPlots(data, view?.travel ?? null)) plots.add(first);
  showSummary(session);
  const checks = showChecks(session);
  showEvents(session);
  showModel(session);
  startKeys(session);
  const asked = /^#t=([\d.e+-]+)$/.exec(location.hash);
  if (asked && Number.isFinite(Number(asked[1]))) session.time = Number(asked[1]);
  else session.playing = view !== null && !still.matches;
  expose(session, view, inspector, plots, checks);
}

/** A way for tests and the curious to read what is shown; it changes nothing. */
function expose(session: Session, view: View | null, inspector: Inspector, plots: PlotList, checks: Plot[]) {
  const hook = {
    get time() { return session.time; },
    get playing() { return session.playing; },
    get window() { return [...session.window]; },
    get selected() { return inspector.name; },
    get plots() { return plots.plots.map((plot) => plot.shown); },
    get checks() { return checks.map((plot) => plot.shown); },
    get animated() { return view !== null; },
    get held() { return session.data.raw.scene.joints.filter((joint) => session.data.holds(joint, session.time)).map((joint) => joint.name); },
    /** What beams are coloured by, and where a station is drawn in which colour. */
    get colours() {
      const {quantity, range, magnify} = view!.beams;
      return {quantity: quantity?.title ?? null, unit: quantity?.unit ?? null, range, magnify};
    },
    station: (name: string, station: number) => view?.beamAt(name, station) ?? null,
    /** A point of a flexible body's mesh as it is drawn in its frame; the scale of the meshes' colours. */
    meshPoint: (name: string, point: number) => view?.meshAt(name, point) ?? null,
    get meshes() {
      const {title, range, magnify} = view!.meshes;
      return {quantity: title, range, magnify};
    },
    get camera() { return view?.eye ?? null; },
    get names() { return view && view.shown.names ? view.names.shown : []; },
    get ground() { return view ? {points: view.ground.points.map((point) => point.toArray()), bars: view.ground.bars.length, shown: view.shown.ground} : null; },
    arrows: (kind: "forces" | "reactions") => view?.arrowsOf(kind) ?? [],
    position: (name: string) => {
      const index = session.data.raw.scene.bodies.findIndex((body) => body.name === name);
      return index < 0 || !view ? null : view.position(index);
    },
  };
  Object.defineProperty(window, "alphastep", {value: Object.freeze(hook)});
  document.documentElement.dataset.ready = "true";
}

start().catch((error: unknown) => {
  byId("notices").append(make("p", {className: "notice bad"}, `This page cannot be shown: ${error instanceof Error ? error.message : format(NaN)}`));
});
