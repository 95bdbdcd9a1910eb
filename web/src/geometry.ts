// Extents of points and directions in space.

import {Vector3} from "three";

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
