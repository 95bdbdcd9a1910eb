// What all parts of the page share: the data, the time that is shown, the part of the run that is looked at, the theme.

import type {Data} from "./data";
import type {Theme} from "./theme";

type Topic = "time" | "window" | "theme" | "playing";

export class Session {
  private readonly listeners: Record<Topic, (() => void)[]> = {time: [], window: [], theme: [], playing: []};
  private now: number;
  private part: [number, number];
  private runs = false;

  constructor(
    readonly data: Data,
    private look: Theme,
  ) {
    this.now = data.start;
    this.part = [data.start, data.end];
  }

  /** Calls a listener at each change from now on; what it returns ends that. */
  on(topic: Topic, listener: () => void): () => void {
    this.listeners[topic].push(listener);
    return () => (this.listeners[topic] = this.listeners[topic].filter((other) => other !== listener));
  }

  private tell(topic: Topic) {
    for (const listener of this.listeners[topic]) listener();
  }

  get time() {
    return this.now;
  }

  set time(t: number) {
    this.now = Math.min(this.data.end, Math.max(this.data.start, t));
    this.tell("time");
  }

  /** The times that plots against time show and that are played. */
  get window(): [number, number] {
    return this.part;
  }

  set window([a, b]: [number, number]) {
    const {start, end} = this.data;
    const least = 1e-6 * (end - start);
    if (!(b - a > least)) return;
    this.part = [Math.max(start, a), Math.min(end, b)];
    this.tell("window");
  }

  get zoomed() {
    return this.part[0] > this.data.start || this.part[1] < this.data.end;
  }

  get playing() {
    return this.runs;
  }

  set playing(on: boolean) {
    if (on === this.runs) return;
    this.runs = on && this.data.end > this.data.start;
    this.tell("playing");
  }

  get theme() {
    return this.look;
  }

  set theme(theme: Theme) {
    this.look = theme;
    this.tell("theme");
  }

  /** One row forward or back from the time that is shown. */
  step(rows: number) {
    const {data} = this;
    const [frame, part] = data.at(this.now);
    const next = rows > 0 ? frame + rows : part > 0 ? frame + rows + 1 : frame + rows;
    this.playing = false;
    this.time = data.time[Math.max(0, Math.min(data.time.length - 1, next))];
  }

  /** Narrows or widens the window about the time that is shown. */
  zoom(factor: number) {
    const [a, b] = this.part;
    const middle = Math.min(b, Math.max(a, this.now));
    this.window = [middle - (middle - a) * factor, middle + (b - middle) * factor];
  }

  wholeRun() {
    this.window = [this.data.start, this.data.end];
  }
}
