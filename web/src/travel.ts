// Whether the machine as a whole goes far, and with which body.

import {Vector3} from "three";
import type {Data} from "./data";
import {extent} from "./geometry";

export interface Travel {
  body: number; // the heaviest one that goes along
  direction: Vector3; // level, in which it begins
  length: number; // of the box about its way [m]
}

const FAR = 3; // times its own size
const MOST_FRAMES = 200;

/** The way of the centre of mass, if it is long beside the machine's `size`. */
export function travelOf(data: Data, up: Vector3, size: number): Travel | null {
  const {bodies} = data.raw.scene;
  const n = data.time.length;
  const count = Math.min(n, MOST_FRAMES);
  if (bodies.length === 0 || count < 2) return null;
  const total = bodies.reduce((sum, {mass}) => sum + (mass > 0 ? mass : 0), 0);
  const weight = (body: number) => (total > 0 ? Math.max(0, bodies[body].mass) / total : 1 / bodies.length);
  const frames = Array.from({length: count}, (_, i) => Math.round((i * (n - 1)) / (count - 1)));
  const at = (frame: number, body: number, out: Vector3) => out.fromArray(data.poses, (frame * bodies.length + body) * 7);
  const [p, far] = [new Vector3(), (points: Vector3[]) => extent(points).reduce((low, high) => high.clone().sub(low)).length()];
  const way = frames.map((frame) => bodies.reduce((sum, _, body) => (weight(body) > 0 ? sum.addScaledVector(at(frame, body, p), weight(body)) : sum), new Vector3()));
  const known = way.filter(({x, y, z}) => Number.isFinite(x + y + z));
  if (known.length < 2) return null;
  const level = known.map((point) => point.clone().addScaledVector(up, -point.dot(up)));
  const length = far(level);
  if (!(length > FAR * size)) return null;
  const heavy = bodies.map((_, body) => body).sort((a, b) => bodies[b].mass - bodies[a].mass || a - b);
  const body = heavy.find((one) => {
    const own = frames.map((frame) => at(frame, one, new Vector3())).filter(({x, y, z}) => Number.isFinite(x + y + z));
    return own.length > 1 && far(own) > 0.5 * length;
  });
  if (body === undefined) return null;
  const later = level.find((point) => point.distanceTo(level[0]) > 0.5 * size) ?? level[level.length - 1];
  return {body, direction: later.clone().sub(level[0]).normalize(), length};
}
