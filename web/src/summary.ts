// The run in numbers: what was asked for, what it took, how good it is; its events; the model's text.

import {breakable, byId, make} from "./dom";
import {clock, duration, format, pretty, withUnit} from "./format";
import type {Session} from "./session";

type Row = [name: string, value: string];
type Bag = Record<string, unknown>;

const bag = (value: unknown): Bag => (typeof value === "object" && value !== null ? (value as Bag) : {});
const words = (key: string) => key.replace(/_/g, " ");

/** What is only a size: no more digits than say something. */
const rough = (value: unknown) => (typeof value === "number" ? Number(value.toPrecision(3)) : value);

/** A number with its unit, a text as it is, nothing for what is not there. */
function row(name: string, value: unknown, unit = "-"): Row[] {
  if (typeof value === "number") return [[name, withUnit(value, unit)]];
  return typeof value === "string" && value !== "" ? [[name, value]] : [];
}

function card(title: string, rows: Row[]): HTMLElement[] {
  if (rows.length === 0) return [];
  const list = make("dl", {});
  for (const [name, value] of rows) list.append(make("div", {}, make("dt", {}, ...breakable(name)), make("dd", value.length > 40 ? {title: value} : {}, ...breakable(value))));
  return [make("div", {className: "card"}, make("h3", {}, title), list)];
}

interface ChannelError {
  name: string;
  unit: string;
  error: number;
  relative: number;
}

/** How the errors were estimated, and where they are largest. */
function accuracyRows(accuracy: Bag): Row[] {
  if (!Array.isArray(accuracy.channels)) return [];
  const all = (accuracy.channels as ChannelError[]).slice().sort((a, b) => b.relative - a.relative);
  const worst = all.slice(0, 5).map(({name, unit, error}): Row => [name, `± ${format(error, 2)} ${pretty(unit)}`]);
  return [
    ["by a run with", typeof accuracy.step === "number" ? `steps of ${withUnit(accuracy.step, "s")}` : `a tolerance of ${format(Number(accuracy.rtol), 3)}`], ...row("its steps", accuracy.steps), ...row("rows compared", accuracy.rows),
    ...(Number(accuracy.rows_between_events) > 0 ? row("rows between events", accuracy.rows_between_events) : []), ...worst,
  ];
}

export function showSummary(session: Session) {
  const {raw} = session.data;
  const summary = bag(raw.summary);
  const [options, machine, statistics, largest] = ["options", "machine", "statistics", "largest"].map((key) => bag(summary[key]));
  const seconds = summary.seconds;
  const simulated = typeof summary.t === "number" ? summary.t : session.data.end;
  const began = typeof summary.resumed_at === "number" ? summary.resumed_at : session.data.start;
  const speed: Row[] = typeof seconds === "number" ? [["wall time", duration(seconds)], ["real-time factor", seconds > 0 ? `${format((simulated - began) / seconds, 3)}×` : "–"]] : [];
  const automatic = options.step === null;
  const steps = Number(statistics.steps);
  const perStep: Row[] = steps > 0 && typeof statistics.newton_iterations === "number" ? [["Newton iterations per step", format(statistics.newton_iterations / steps, 3)]] : [];
  const known = new Set(["steps", "rejected_steps", "failed_steps", "newton_iterations", "factorizations", "last_step", "position_drift", "velocity_drift"]);
  const units: Record<string, string> = {"energy.balance": "J", "drift.position": "m", "drift.velocity": "m/s"};
  byId("facts").append(
    ...card("Run", [
      ...row("status", summary.status), ...row("model", summary.model), ...row("simulated to", summary.t, "s"), ...row("rows", summary.rows),
      ...row("channels", summary.channels), ...speed, ["alphastep", raw.version],
    ]),
    ...card("Method", [
      ...row("method", options.method), ...row("ρ∞", options.rho_inf), ...(automatic ? ([["step", "automatic"]] as Row[]) : row("step", options.step, "s")),
      ...row("relative tolerance", options.rtol), ...(Number(options.min_step) > 0 ? row("smallest step", options.min_step, "s") : []),
      ...row("largest step", options.max_step, "s"), ...row("until", options.t_end, "s"), ...row("interval of rows", options.interval, "s"),
    ]),
    ...card("Work", [
      ...row("steps", statistics.steps), ...row("rejected", statistics.rejected_steps), ...row("failed", statistics.failed_steps),
      ...row("Newton iterations", statistics.newton_iterations), ...perStep, ...row("factorizations", statistics.factorizations),
      ...Object.keys(statistics).filter((key) => !known.has(key)).flatMap((key) => row(words(key), statistics[key])), ...row("last step", statistics.last_step, "s"),
    ]),
    ...card("Machine", Object.keys(machine).flatMap((key) => row(key === "gap" ? "gap at the start" : words(key), key === "gap" ? rough(machine[key]) : machine[key], key === "gap" ? "m" : "-"))),
    ...card("Estimated errors", accuracyRows(bag(summary.accuracy))),
    ...card("Largest", Object.keys(largest).flatMap((key) => row(key, rough(largest[key]), units[key] ?? "-"))),
  );
}

/** What a reader must know before believing what he sees. */
export function showNotices(session: Session) {
  const {raw, thinned} = session.data;
  const {message, status, warnings} = raw.summary as {message?: string; status?: string; warnings?: unknown[]};
  const add = (kind: string, text: string) => byId("notices").append(make("p", {className: `notice ${kind}`}, text));
  if (!raw.complete) add("bad", `This run did not finish${status ? ` (${status})` : ""}. ${message ?? ""}`.trim());
  else if (message) add("", message);
  const texts = (Array.isArray(warnings) ? warnings : []).map((warning) => (typeof warning === "string" ? warning : JSON.stringify(warning)));
  if (texts.length <= 2) for (const text of texts) add("warn", text);
  else {
    const lines = texts.map((text) => make("li", {}, text));
    byId("notices").append(make("details", {className: "notice warn"}, make("summary", {}, `${texts.length} warnings`), make("ul", {}, ...lines)));
  }
  const doubt = bag(raw.summary.accuracy).message;
  if (typeof doubt === "string" && doubt !== "") add("warn", doubt);
  if (thinned) add("", `This page shows ${raw.frames} of ${raw.rows} rows; highest and lowest values are kept.`);
}

export function showEvents(session: Session) {
  const {data} = session;
  const {events} = data.raw;
  const host = byId("event-table");
  if (events.length === 0) {
    host.append(make("p", {className: "muted"}, "No events."));
    return;
  }
  const body = make("tbody", {});
  for (const event of events.slice(0, 1000)) {
    const go = make("button", {type: "button", className: "link", title: "Go to this time", onclick: () => {
      session.playing = false;
      session.time = event.t;
    }}, `${clock(event.t, data.start, data.end)} s`);
    body.append(make("tr", {}, make("td", {}, go), make("td", {}, ...breakable(event.name)), make("td", {}, event.text ?? "")));
  }
  const head = make("tr", {}, ...["time", "event", ""].map((name) => make("th", {scope: "col"}, name)));
  host.append(make("div", {className: "scroll", tabIndex: 0, role: "region", "aria-label": "Events"}, make("table", {}, make("thead", {}, head), body)));
  const all = Math.max(events.length, Number(bag(data.raw.summary).number_of_events) || 0);
  const shown = Math.min(events.length, 1000);
  if (all > shown) host.append(make("p", {className: "muted"}, `The first ${shown} of ${all} events.`));
}

export function showModel(session: Session) {
  for (const {path, text} of session.data.raw.model) {
    const lines = text.replace(/\n$/, "").split("\n");
    const numbers = make("pre", {className: "numbers", "aria-hidden": "true"}, lines.map((_, i) => i + 1).join("\n"));
    const code = make("pre", {tabIndex: 0, role: "region", "aria-label": `Text of ${path}`}, lines.join("\n"));
    byId("model-text").append(make("details", {className: "file", open: lines.length <= 60}, make("summary", {title: path}, ...breakable(path)), make("div", {className: "listing"}, numbers, code)));
  }
  if (session.data.raw.model.length === 0) byId("model-text").append(make("p", {className: "muted"}, "The model's text was not kept."));
}
