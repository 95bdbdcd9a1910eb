// Names of bodies beside them, in front of the picture. A name stays on the side of its body where it is as long as there is room; of
// names that would overlap the one that is there already stays, so they do not jump or flicker.

import {Vector3, type Camera} from "three";
import {make} from "./dom";

export interface Named {
  name: string;
  body: number; // -1: none of its own
  at: (out: Vector3) => Vector3; // in the world, now
}

interface Label extends Named {
  element: HTMLElement | null;
  side: number;
  shown: boolean;
  width: number;
  height: number;
}

const MOST = 60; // at a time
const GAP = 7; // px
const SIDES = [[0, -1], [-1, -1], [0, 0], [-1, 0]]; // of the point: right above, left above, right below, left below

export class Names {
  selected = -1;
  private readonly labels: Label[];
  private readonly p = new Vector3();

  constructor(
    private readonly host: HTMLElement,
    named: Named[],
  ) {
    this.labels = named.map((one) => ({...one, element: null, side: 0, shown: false, width: 0, height: 0}));
  }

  get count() {
    return this.labels.length;
  }

  /** Lays them anew; `shown` says whether there are any at all. */
  update(shown: boolean, camera: Camera, width: number, height: number) {
    this.host.hidden = !shown;
    if (!shown) return;
    const taken: [number, number, number, number][] = [];
    const free = (left: number, top: number, w: number, h: number) => taken.every(([l, t, r, b]) => left + w < l || left > r || top + h < t || top > b);
    const rank = (label: Label) => (label.body >= 0 && label.body === this.selected ? 0 : label.shown ? 1 : 2);
    let count = 0;
    for (const label of [...this.labels].sort((a, b) => rank(a) - rank(b))) {
      const place = count < MOST ? this.place(label, camera, width, height, free) : null;
      label.shown = place !== null;
      if (label.element) label.element.hidden = !label.shown;
      if (!place) continue;
      count++;
      taken.push([place[0], place[1], place[0] + label.width, place[1] + label.height]);
      label.element!.style.transform = `translate(${place[0].toFixed(1)}px, ${place[1].toFixed(1)}px)`;
    }
  }

  /** The upper left corner of a label, null: it has no room. */
  private place(label: Label, camera: Camera, width: number, height: number, free: (left: number, top: number, w: number, h: number) => boolean): [number, number] | null {
    const p = label.at(this.p).project(camera);
    if (!Number.isFinite(p.x + p.y) || p.z > 1 || Math.abs(p.x) > 1 || Math.abs(p.y) > 1) return null;
    const [x, y] = [((p.x + 1) / 2) * width, ((1 - p.y) / 2) * height];
    this.measure(label);
    for (let k = 0; k < SIDES.length; k++) {
      const side = (label.side + k) % SIDES.length; // first where it is
      const left = x + (SIDES[side][0] < 0 ? -GAP - label.width : GAP);
      const top = y + (SIDES[side][1] < 0 ? -GAP - label.height : GAP);
      if (left < 0 || top < 0 || left + label.width > width || top + label.height > height || !free(left, top, label.width, label.height)) continue;
      label.side = side;
      return [left, top];
    }
    return null;
  }

  private measure(label: Label) {
    if (label.element) return;
    label.element = make("span", {title: label.name}, label.name);
    this.host.append(label.element);
    label.width = label.element.offsetWidth;
    label.height = label.element.offsetHeight;
  }

  /** Which are shown, and where, for tests. */
  get shown() {
    return this.labels.filter((label) => label.shown).map(({name, element}) => ({name, box: element!.getBoundingClientRect().toJSON() as DOMRect}));
  }
}
