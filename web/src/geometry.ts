// Extents of points and directions in space.

import {Vector3, type BufferGeometry} from "three";

export function extent(points: Vector3[]): [Vector3, Vector3] {
  const [low, high] = [points[0].clone(), points[0].clone()];
  for (const point of points) {
    low.min(point);
    high.max(point);
  }
  return [low, high];
}

export function extremes(points: Vector3[], axis: Vector3): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const point of points) {
    const along = point.dot(axis);
    low = Math.min(low, along);
    high = Math.max(high, along);
  }
  return [low, high];
}

export function spread(points: Vector3[], axis: Vector3): number {
  const [low, high] = extremes(points, axis);
  return high - low;
}

/** Two unit vectors across `up`: x and y where z is up. */
export function across(up: Vector3): [Vector3, Vector3] {
  const e = new Vector3(1, 0, 0);
  if (Math.abs(up.x) > 0.9) e.set(0, 1, 0);
  e.addScaledVector(up, -e.dot(up)).normalize();
  return [e, up.clone().cross(e)];
}

/** The largest of 1, 2, 5 times a power of ten that is not above x. */
export function round(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

/** Points that stand for what a geometry fills: corners of its box, or of what is round (about z) points on its rims. */
export function cornersOf(key: string, geometry: BufferGeometry, few: boolean): Vector3[] {
  geometry.computeBoundingBox();
  const {min, max} = geometry.boundingBox!;
  if (/^sphere/.test(key)) return [0, 1, 2].flatMap((axis) => [min, max].map((end) => new Vector3().setComponent(axis, end.getComponent(axis))));
  const round = /^(cylinder|capsule|disk|tyre|cone|prism)/.test(key);
  if (!round) return Array.from({length: 8}, (_, k) => new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z));
  const n = few ? 6 : 16;
  const rim = Array.from({length: n}, (_, i) => [Math.cos((2 * Math.PI * i) / n), Math.sin((2 * Math.PI * i) / n)]);
  const low = /^capsule/.test(key) ? min.z + max.x : min.z;
  const high = /^capsule/.test(key) ? max.z - max.x : max.z;
  const ends = low > min.z ? [new Vector3(0, 0, min.z), new Vector3(0, 0, max.z)] : [];
  return [...rim.flatMap(([x, y]) => [low, high].map((z) => new Vector3(x * max.x, y * max.x, z))), ...ends];
}
