// Shapes of roads and vehicles: flat strips, wheels with spokes, disks with sectors, cones.

import {BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, LatheGeometry, Vector2, Vector3} from "three";
import {mergeGeometries} from "three/addons/utils/BufferGeometryUtils.js";
import type {Shape} from "./data";

/** A cone of radius 1 and length 1 along z, whose top has the radius `top`. */
export const cone = (top: number, many: boolean) => () => new CylinderGeometry(top, 1, 1, many ? 10 : 32).rotateX(Math.PI / 2);

/** Gives each triangle a brightness by the angle of its middle about z. */
function shade(geometry: BufferGeometry, brightness: (angle: number) => number): BufferGeometry {
  const separate = geometry.index ? geometry.toNonIndexed() : geometry;
  const points = separate.getAttribute("position");
  const colors = new Float32Array(3 * points.count);
  for (let i = 0; i < points.count; i += 3) {
    const [x, y] = [0, 1].map((axis) => points.getComponent(i, axis) + points.getComponent(i + 1, axis) + points.getComponent(i + 2, axis));
    colors.fill(brightness(Math.atan2(y, x)), 3 * i, 3 * i + 9);
  }
  return separate.setAttribute("color", new BufferAttribute(colors, 3));
}

const SECTORS = 8;

/** A flat cylinder along z: its sectors differ a little, so that one sees it turn. */
export const disk = (many: boolean) => () =>
  shade(new CylinderGeometry(1, 1, 1, many ? 16 : 64).rotateX(Math.PI / 2), (angle) => (Math.floor(((angle + Math.PI) / (2 * Math.PI)) * SECTORS) % 2 === 0 ? 1 : 0.76));

const RIM = 0.66; // radius of a tyre's inside, of 1
const SPOKES = 5;

/** A tyre of radius 1 and width 1 about z. Its shoulders have marks. */
export const tyre = (many: boolean) => () => {
  const profile = [[RIM, -0.38], [0.8, -0.5], [0.93, -0.49], [1, -0.34], [1, 0.34], [0.93, 0.49], [0.8, 0.5], [RIM, 0.38], [RIM, -0.38]];
  const geometry = new LatheGeometry(profile.map(([r, z]) => new Vector2(r, z)), many ? 16 : 64).rotateX(Math.PI / 2);
  return shade(geometry, (angle) => (Math.floor(((angle + Math.PI) / (2 * Math.PI)) * 32) % 8 === 0 ? 1.9 : 1));
};

/** The rim of such a wheel: a ring, a hub and spokes. */
export const rim = (many: boolean) => () => {
  const parts: BufferGeometry[] = [
    new LatheGeometry([[RIM, -0.4], [RIM, 0.4], [RIM - 0.07, 0.36], [RIM - 0.07, -0.36], [RIM, -0.4]].map(([r, z]) => new Vector2(r, z)), many ? 16 : 48).rotateX(Math.PI / 2),
    new CylinderGeometry(0.17, 0.17, 0.7, many ? 8 : 24).rotateX(Math.PI / 2),
  ];
  for (let i = 0; i < SPOKES; i++) parts.push(new BoxGeometry(RIM - 0.1, 0.11, 0.36).translate((RIM - 0.1) / 2 + 0.08, 0, 0).rotateZ((2 * Math.PI * i) / SPOKES));
  return mergeGeometries(parts.map((part) => part.toNonIndexed()));
};

/** Points along a line, `from` to `to` of its length from the beginning, with their directions. */
function piece(points: Vector3[], at: number[], from: number, to: number): Vector3[] {
  const result: Vector3[] = [];
  const between = (s: number) => {
    let k = 1;
    while (k < at.length - 1 && at[k] < s) k++;
    return points[k - 1].clone().lerp(points[k], at[k] > at[k - 1] ? (s - at[k - 1]) / (at[k] - at[k - 1]) : 0);
  };
  result.push(between(from));
  points.forEach((point, i) => at[i] > from && at[i] < to && result.push(point));
  result.push(between(to));
  return result;
}

const MOST_PIECES = 20000;

/** A strip across z along a line, in pieces where it is dashed. Its corners are mitred. */
export function strip({points = [], width = 0, dash}: Shape): BufferGeometry {
  const line = points.map((point) => new Vector3(...point)).filter((point, i, all) => i === 0 || point.distanceTo(all[i - 1]) > 0 || all.length === 2);
  const at = [0];
  for (let i = 1; i < line.length; i++) at.push(at[i - 1] + line[i].distanceTo(line[i - 1]));
  const length = at[at.length - 1];
  const pieces: Vector3[][] = [];
  if (!dash || !(length > 0) || length / (dash[0] + dash[1]) > MOST_PIECES) pieces.push(line);
  else for (let s = 0; s < length; s += dash[0] + dash[1]) pieces.push(piece(line, at, s, Math.min(length, s + dash[0])));
  const positions: number[] = [];
  const across = (a: Vector3, b: Vector3) => {
    const side = new Vector3(-(b.y - a.y), b.x - a.x, 0);
    return side.lengthSq() > 0 ? side.normalize() : new Vector3(0, 1, 0);
  };
  for (const one of pieces) {
    const edges = one.map((point, i) => {
      const before = across(one[Math.max(0, i - 1)], one[Math.max(1, i)]);
      const after = across(one[Math.min(i, one.length - 2)], one[Math.min(i + 1, one.length - 1)]);
      const side = before.clone().add(after);
      if (side.lengthSq() < 1e-6) side.copy(after);
      side.normalize().multiplyScalar(width / 2 / Math.max(0.3, side.dot(after)));
      return [point.clone().sub(side), point.clone().add(side)];
    });
    for (let i = 1; i < edges.length; i++) {
      const [[a, b], [c, d]] = [edges[i - 1], edges[i]];
      for (const corner of [a, c, d, a, d, b]) positions.push(corner.x, corner.y, corner.z);
    }
  }
  const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.computeVertexNormals();
  return geometry;
}

export const RIM_COLOR = new Color("#c6cbd1");
export const TYRE_COLOR = new Color("#2c2f33");
