// Playing: the clock, the scrubber and the speed.

import {byId, make} from "./dom";
import {clock, format} from "./format";
import type {Session} from "./session";

const FACTORS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

/** How fast a run is played at first: as it was, unless that takes too short or too long to watch. */
function firstSpeed(span: number): number {
  if (!(span > 0) || (span >= 2 && span <= 40)) return 1;
  const rough = span / 10;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((digit) => digit * power).find((speed) => speed >= rough)!;
}

function icon(path: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

const PLAY = "M4 2.5v11l9.5-5.5z";
const PAUSE = "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z";
const BACK = "M3 3h2v10H3zM13 3v10L6 8z";
const FORWARD = "M11 3h2v10h-2zM3 3v10l7-5z";

export function startPlayer(session: Session) {
  const {data} = session;
  const span = data.end - data.start;
  const play = byId<HTMLButtonElement>("play");
  const scrub = byId<HTMLInputElement>("scrub");
  const speed = byId<HTMLSelectElement>("speed");
  const output = byId("clock");
  const base = firstSpeed(span);
  for (const factor of FACTORS) {
    const value = base * factor;
    speed.append(make("option", {value: String(value), selected: factor === 1}, `${format(value, 3)}×`));
  }
  byId("back").append(icon(BACK));
  byId("forward").append(icon(FORWARD));
  byId("back").addEventListener("click", () => session.step(-1));
  byId("forward").addEventListener("click", () => session.step(1));
  play.addEventListener("click", () => (session.playing = !session.playing));

  scrub.min = String(data.start);
  scrub.max = String(data.end);
  scrub.addEventListener("input", () => {
    session.playing = false;
    session.time = Number(scrub.value);
  });
  scrub.addEventListener("keydown", (event) => {
    const rows: Record<string, number> = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10};
    if (!(event.key in rows)) return;
    event.preventDefault();
    session.step(rows[event.key]);
  });

  const show = () => {
    scrub.value = String(session.time);
    scrub.style.setProperty("--part", `${span > 0 ? (100 * (session.time - data.start)) / span : 0}%`);
    const text = `${clock(session.time, data.start, data.end)} s`;
    scrub.setAttribute("aria-valuetext", text);
    output.textContent = `${text} / ${clock(data.end, data.start, data.end)} s`;
  };
  const showWindow = () => {
    const [a, b] = session.window.map((t) => (100 * (t - data.start)) / (span || 1));
    const range = byId("range");
    range.hidden = !session.zoomed;
    range.style.left = `${a}%`;
    range.style.width = `${b - a}%`;
  };
  session.on("time", show);
  session.on("window", showWindow);

  let last = NaN;
  const tick = (now: number) => {
    if (!session.playing) return;
    const [begin, end] = session.window;
    const passed = Number.isNaN(last) ? 0 : Math.min(0.1, (now - last) / 1000) * Number(speed.value);
    last = now;
    const next = session.time + passed;
    session.time = next > end || next < begin ? begin : next;
    requestAnimationFrame(tick);
  };
  session.on("playing", () => {
    play.replaceChildren(icon(session.playing ? PAUSE : PLAY));
    play.setAttribute("aria-label", session.playing ? "Pause" : "Play");
    if (!session.playing) return;
    last = NaN;
    requestAnimationFrame(tick);
  });
  play.append(icon(PLAY));
  for (const event of data.raw.events.slice(0, 300)) {
    const mark = make("i", {});
    mark.style.left = `${(100 * (event.t - data.start)) / (span || 1)}%`;
    byId("marks").append(mark);
  }
  show();
  showWindow();
}
