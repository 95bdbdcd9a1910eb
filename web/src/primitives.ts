// What bodies look like: their shapes, or without any a box with their inertia and thin rods to their joints, as
// geometries that many instances share, each with its place in a body.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CatmullRomCurve3, Color, CurvePath, CylinderGeometry,
  LineCurve3, Matrix4, Quaternion as Turn, SphereGeometry, TubeGeometry, Vector3,
} from "three";
import type {Body, Data, Quaternion, Scene, Shape, Vector} from "./data";
import {RIM_COLOR, TYRE_COLOR, cone, disk, rim, strip, tyre} from "./road";

export interface Primitive {
  key: string; // of the geometry
  geometry: () => BufferGeometry;
  body: number;
  place: Matrix4; // primitive to body, scale included
  color: Color;
  opacity: number;
  line: boolean; // a thin line, not a solid
  shaded?: boolean; // its corners have colours
  layer?: number; // of flat strips: which of them lies on which
}

const PALETTE = ["#5f83ad", "#cf9150", "#6d9f7d", "#a8738f", "#c5ad57", "#6aa2b8", "#8d7db5", "#b3705f"].map((hex) => new Color(hex));
export const SELECTED = new Color("#ff7a1a");
const GROUND = new Color("#b3b6b9");

export const vector = (v: Vector) => new Vector3(...v);
export const rotation = ([w, x, y, z]: Quaternion) => new Turn(x, y, z, w);

/** The colour of a body without one of its own. */
export const bodyColor = (body: number) => (body < 0 ? GROUND : PALETTE[body % PALETTE.length]);

/** How large symbols of joints and thin rods are drawn: small beside the machine and beside its parts. */
export function symbolSize(scene: Scene): number {
  const arms: number[] = [];
  for (const joint of scene.joints)
    joint.points.forEach((point, i) => {
      const arm = Math.hypot(...point);
      if (joint.bodies[i] >= 0 && arm > 0) arms.push(arm);
    });
  arms.sort((a, b) => a - b);
  const arm = arms.length > 0 ? arms[arms.length >> 1] : Infinity;
  return Math.min(0.014 * scene.size, 0.12 * arm);
}

/** Eigenvalues and eigenvectors (columns) of a symmetric matrix by Jacobi's rotations. */
function principal([xx, yy, zz, xy, xz, yz]: number[]): [values: number[], axes: number[][]] {
  const a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 20; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) <= 1e-14 * (Math.abs(a[p][p]) + Math.abs(a[q][q]))) continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (const m of [a, v])
        for (const row of m) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
    }
  return [[a[0][0], a[1][1], a[2][2]], v];
}

/** The box of even density that has this mass and inertia, no flatter than `thin` and no longer than `long`. */
function equivalentBox(body: Body, thin: number, long: number): Matrix4 {
  const [moments, axes] = principal(body.inertia);
  const sum = moments[0] + moments[1] + moments[2];
  const sides = moments.map((moment) => Math.sqrt(Math.max(0, (6 * (sum - 2 * moment)) / body.mass)));
  const shrink = Math.min(1, long / Math.max(...sides));
  const [x, y, z] = [0, 1, 2].map((i) => new Vector3(axes[0][i], axes[1][i], axes[2][i]));
  if (x.clone().cross(y).dot(z) < 0) z.negate();
  const size = sides.map((side) => Math.max(thin, shrink * side)) as Vector;
  return new Matrix4().makeBasis(x, y, z).scale(vector(size));
}

/**
 * The prism of eight sides that stands for a round disk or drum of this mass and inertia: one sees it turn. Null if the
 * body is not round or is slender.
 */
function equivalentDisk(body: Body, long: number): Matrix4 | null {
  const [moments, axes] = principal(body.inertia);
  const near = (a: number, b: number) => Math.abs(a - b) < 1e-3 * Math.max(a, b);
  const axis = [0, 1, 2].find((i) => near(moments[(i + 1) % 3], moments[(i + 2) % 3]));
  if (axis === undefined) return null;
  const r2 = (2 * moments[axis]) / body.mass;
  const l2 = (12 * moments[(axis + 1) % 3]) / body.mass - 3 * r2;
  if (!(r2 > 0) || l2 > 16 * r2 || l2 < -0.05 * r2) return null;
  const [x, y, z] = [1, 2, 0].map((k) => (axis + k) % 3).map((i) => new Vector3(axes[0][i], axes[1][i], axes[2][i]));
  if (x.clone().cross(y).dot(z) < 0) x.negate();
  const r = Math.min(Math.sqrt(r2), long / 2);
  const l = Math.max(Math.min(Math.sqrt(Math.max(0, l2)), long), 0.04 * r);
  return new Matrix4().makeBasis(x, y, z).scale(new Vector3(r, r, l));
}

/** A cylinder (along z, of length and radius 1) from a to b. */
export function between(a: Vector3, b: Vector3, radius: number, out: Matrix4): Matrix4 {
  const along = b.clone().sub(a);
  const length = along.length();
  const turn = new Turn().setFromUnitVectors(new Vector3(0, 0, 1), length > 0 ? along.divideScalar(length) : new Vector3(0, 0, 1));
  return out.compose(a.clone().add(b).multiplyScalar(0.5), turn, new Vector3(radius, radius, Math.max(length, 1e-9)));
}

const box = () => new BoxGeometry();
const prism = () => {
  const geometry = new CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).toNonIndexed();
  geometry.computeVertexNormals(); // flat sides
  return geometry;
};
const MANY = 200; // bodies; beyond that each is drawn with fewer triangles
const sphere = () => new SphereGeometry(1, 32, 20);
const coarseSphere = () => new SphereGeometry(1, 12, 8);
export const cylinder = () => new CylinderGeometry(1, 1, 1, 32).rotateX(Math.PI / 2);
export const coarseCylinder = () => new CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2);

function polyline(points: Vector[], radius: number): BufferGeometry {
  const path = points.map(vector);
  if (!(radius > 0)) return new BufferGeometry().setFromPoints(path);
  const curve = new CurvePath<Vector3>();
  for (let i = 1; i < path.length; i++) curve.add(new LineCurve3(path[i - 1], path[i]));
  const smooth = path.length === 2 ? path : curve.getSpacedPoints(8 * path.length);
  return new TubeGeometry(new CatmullRomCurve3(smooth), 16 * path.length, radius, 10);
}

async function ofShape(shape: Shape, at: number, data: Data): Promise<Primitive | Primitive[] | null> {
  const place = new Matrix4().compose(vector(shape.position), rotation(shape.quaternion), new Vector3(1, 1, 1));
  const {radius = 0, length = 0, points = []} = shape;
  const many = data.raw.scene.bodies.length > MANY;
  const make = (key: string, geometry: () => BufferGeometry, scale: Vector = [1, 1, 1], line = false): Primitive => ({
    key, geometry, line, body: shape.body, place: place.scale(vector(scale)),
    color: shape.color ? new Color().setRGB(shape.color[0], shape.color[1], shape.color[2], "srgb") : bodyColor(shape.body),
    opacity: shape.color?.[3] ?? 1,
  });
  switch (shape.kind) {
    case "box":
      return make("box", box, shape.size);
    case "sphere":
      return make("sphere", many ? coarseSphere : sphere, [radius, radius, radius]);
    case "cylinder":
      if (length < 2 * radius) return {...make(`disk ${many}`, disk(many), [radius, radius, length]), shaded: true};
      return make("cylinder", many ? coarseCylinder : cylinder, [radius, radius, length]);
    case "capsule": // its ends stay round: all lengths in radii
      return make(`capsule ${(length / radius).toPrecision(6)}`, () => new CapsuleGeometry(1, length / radius, many ? 3 : 10, many ? 10 : 28).rotateX(Math.PI / 2), [radius, radius, radius]);
    case "cone": {
      const top = Number(((shape.top ?? 0) / radius).toPrecision(6));
      return make(`cone ${top}`, cone(top, many), [radius, radius, length]);
    }
    case "wheel": {
      const one = {...make(`tyre ${many}`, tyre(many), [radius, radius, length]), shaded: true};
      if (!shape.color) one.color = TYRE_COLOR;
      return [one, {...one, key: `rim ${many}`, geometry: rim(many), color: RIM_COLOR, shaded: false}];
    }
    case "strip":
      return points.length > 1 ? {...make(`strip ${at}`, () => strip(shape)), layer: at + 1} : null;
    case "polyline":
      return points.length > 1 ? make(`polyline ${at}`, () => polyline(points, radius), [1, 1, 1], !(radius > 0)) : null;
    case "mesh": {
      const triangles = await data.triangles(shape);
      return make(`mesh ${shape.triangles_of ?? at}`, () => {
        const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(triangles, 3));
        geometry.computeVertexNormals();
        return geometry;
      });
    }
    default:
      return null;
  }
}

/** A body without shapes: its inertia, and rods to where something holds it. */
function ofInertia(scene: Scene, body: number, thin: number, arms: Vector[]): Primitive[] {
  const given = scene.bodies[body];
  const many = scene.bodies.length > MANY;
  const make = (key: string, geometry: () => BufferGeometry, place: Matrix4): Primitive => ({
    key, geometry, body, place, color: bodyColor(body), opacity: 1, line: false,
  });
  const rods = arms
    .filter((arm) => Math.hypot(...arm) > thin)
    .map((arm) => make("cylinder", many ? coarseCylinder : cylinder, between(new Vector3(), vector(arm), 0.4 * thin, new Matrix4())));
  if (given.point || !(given.mass > 0) || !(Math.max(given.inertia[0], given.inertia[1], given.inertia[2]) > 0)) {
    const radius = given.node ? 0.7 * thin : 2 * thin;
    return [make("sphere", many ? coarseSphere : sphere, new Matrix4().makeScale(radius, radius, radius)), ...rods];
  }
  const long = scene.bodies.length > 1 ? scene.size : 1.5 * scene.size;
  const disk = equivalentDisk(given, long);
  return [disk ? make("prism", prism, disk) : make("box", box, equivalentBox(given, thin, long)), ...rods];
}

/** Where each body is held, by joints and springs; from its centre of mass, body axes. */
export function armsOf(scene: Scene): Vector[][] {
  const arms: Vector[][] = scene.bodies.map(() => []);
  const springs = scene.forces.filter((force) => force.kind === "spring");
  for (const link of [...scene.joints.filter((joint) => joint.kind !== "distance"), ...springs])
    link.points.forEach((point, i) => {
      const body = link.bodies[i];
      if (body >= 0 && arms[body].length < 12) arms[body].push(point);
    });
  return arms;
}

/** Of all shapes but those that are left out, and of bodies without shapes. */
export async function primitives(data: Data, leftOut: Set<number>): Promise<Primitive[]> {
  const {scene} = data.raw;
  const thin = symbolSize(scene);
  const shaped = new Set(scene.shapes.map((shape) => shape.body));
  const arms = armsOf(scene);
  const drawn = await Promise.all(scene.shapes.map((shape, at) => (leftOut.has(at) ? null : ofShape(shape, at, data))));
  const result = drawn.flat().filter((primitive) => primitive !== null);
  const strips = result.filter(({layer}) => layer !== undefined);
  strips.forEach((one, i) => (one.layer = Math.min(4, i + 1)));
  scene.bodies.forEach((_, body) => {
    if (!shaped.has(body)) result.push(...ofInertia(scene, body, thin, arms[body]));
  });
  return result;
}
