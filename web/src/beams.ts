// Beams: the section swept along the line, coloured by what was recorded in its stations, with its deformation magnified.
//
// Beams that share a node are one group with one rigid frame G, the motion of a station that is held by something else, or of the
// line between the ends of a free beam. What is at X at rest and at x now is drawn at G X + m (x - G X), so parts stay together.

import {BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Matrix4, Mesh, MeshStandardMaterial, Vector3} from "three";
import type {Beam, Channel, Curve, Data} from "./data";
import {SELECTED, rotation} from "./primitives";

/** How a section's numbers become one. */
interface Quantity {
  title: string;
  parts: string[]; // ends of the channels' names
  size: boolean; // that of the vector of all parts; else the number itself, with its sign
  unit: string;
}

const QUANTITIES: Omit<Quantity, "unit">[] = [
  {title: "stress", parts: ["stress"], size: true},
  {title: "bending moment", parts: ["moment.y", "moment.z"], size: true},
  {title: "torque", parts: ["moment.x"], size: false},
  {title: "axial force", parts: ["force.x"], size: false},
  {title: "shear force", parts: ["force.y", "force.z"], size: true},
  {title: "stretch", parts: ["strain.x"], size: false},
  {title: "curvature", parts: ["bend.y", "bend.z"], size: true},
  {title: "twist", parts: ["bend.x"], size: false},
  {title: "deflection", parts: ["deflection.x", "deflection.y", "deflection.z"], size: true},
  {title: "stress on top", parts: ["stress_top"], size: false},
  {title: "stress on the bottom", parts: ["stress_bottom"], size: false},
  {title: "stress on the left", parts: ["stress_left"], size: false},
  {title: "stress on the right", parts: ["stress_right"], size: false},
];

/** From least to greatest; of quantities with a sign the middle is zero. */
const RISING = ["#2b2f77", "#2a6f97", "#3aa68a", "#9ccc4c", "#fde047"];
const SIGNED = ["#1d4ea3", "#6ea3d8", "#d5d8db", "#eb9a6b", "#b32017"];
const PLAIN = new Color("#737f94");
const MOST_RINGS = 6000;

const scaleOf = (signed: boolean) => (signed ? SIGNED : RISING).map((hex) => new Color(hex));

/** The section's outline at unit half sizes: points and normals, corners twice. */
function outline(round: boolean): {y: number; z: number; ny: number; nz: number}[] {
  if (round)
    return Array.from({length: 13}, (_, i) => [Math.cos((i * Math.PI) / 6), Math.sin((i * Math.PI) / 6)]).map(([y, z]) => ({y, z, ny: y, nz: z}));
  return [[1, 0], [0, 1], [-1, 0], [0, -1]].flatMap(([ny, nz]) => [{y: ny + nz, z: nz - ny, ny, nz}, {y: ny - nz, z: nz + ny, ny, nz}]);
}

/** A section in space: where it is, and its axes. */
interface Section {
  x: Vector3;
  axes: [Vector3, Vector3, Vector3];
}

const section = (): Section => ({x: new Vector3(), axes: [new Vector3(), new Vector3(), new Vector3()]});

function takeMatrix(m: Matrix4, out: Section) {
  out.x.setFromMatrixPosition(m);
  m.extractBasis(...out.axes);
}

class Line {
  readonly mesh: Mesh;
  readonly drawn: Section[];
  readonly rest: Matrix4[];
  readonly inBody: Matrix4[];
  values: Float32Array[] | null = null; // of each station along the frames
  private readonly outline;
  private readonly steps: number; // pieces of an element
  private readonly rings: number;

  constructor(
    readonly beam: Beam,
    stations: number,
    private readonly ground: number,
  ) {
    const n = beam.stations.length;
    const one = new Vector3(1, 1, 1);
    const place = (row: number[], at: number) => new Matrix4().compose(new Vector3(row[at], row[at + 1], row[at + 2]), rotation([row[at + 3], row[at + 4], row[at + 5], row[at + 6]]), one);
    this.inBody = beam.stations.map((row) => place(row, 1));
    this.rest = beam.stations.map((row) => place(row, 10));
    this.drawn = beam.stations.map(section);
    this.outline = outline(beam.round);
    this.steps = Math.max(1, Math.min(4, Math.floor(MOST_RINGS / stations)));
    this.rings = this.steps * (n - 1) + 1;
    const count = (this.rings + 2) * this.outline.length; // the ends' faces have points of their own
    const geometry = new BufferGeometry();
    for (const name of ["position", "normal", "color"]) geometry.setAttribute(name, new BufferAttribute(new Float32Array(3 * count), 3).setUsage(DynamicDrawUsage));
    geometry.setIndex(this.faces());
    this.mesh = new Mesh(geometry, new MeshStandardMaterial({vertexColors: true, roughness: 0.62, metalness: 0.04}));
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
  }

  private faces(): number[] {
    const m = this.outline.length;
    const index: number[] = [];
    for (let ring = 0; ring + 1 < this.rings; ring++)
      for (let k = 0; k + 1 < m; k += this.beam.round ? 1 : 2) {
        const [a, b] = [ring * m + k, (ring + 1) * m + k];
        index.push(a, b, a + 1, a + 1, b, b + 1);
      }
    for (let k = 1; k + 1 < m; k++) {
      const [first, last] = [this.rings * m, (this.rings + 1) * m];
      index.push(first, first + k + 1, first + k, last, last + k, last + k + 1);
    }
    return index;
  }

  /** The body of a station; the ground is the last of the matrices. */
  body(station: number): number {
    const body = this.beam.stations[station][0];
    return body < 0 ? this.ground : body;
  }

  /** The station whose face was hit. */
  stationOf(vertex: number): number {
    const ring = Math.floor(vertex / this.outline.length);
    if (ring >= this.rings) return ring === this.rings ? 0 : this.beam.stations.length - 1;
    return Math.round(ring / this.steps);
  }

  /** Where the stations are drawn: G X + m (x - G X), axes likewise, set at right angles again. */
  deform(bodies: Matrix4[], frame: Matrix4, factor: number) {
    const [now, carried] = [new Matrix4(), new Matrix4()];
    const rigid = section();
    this.drawn.forEach((out, i) => {
      takeMatrix(now.multiplyMatrices(bodies[this.body(i)], this.inBody[i]), out);
      if (factor === 1) return;
      takeMatrix(carried.multiplyMatrices(frame, this.rest[i]), rigid);
      out.x.sub(rigid.x).multiplyScalar(factor).add(rigid.x);
      out.axes.forEach((axis, k) => axis.sub(rigid.axes[k]).multiplyScalar(factor).add(rigid.axes[k]));
      const [x, y, z] = out.axes;
      if (x.lengthSq() < 1e-6) x.copy(rigid.axes[0]);
      x.normalize();
      y.addScaledVector(x, -y.dot(x));
      if (y.lengthSq() < 1e-6) y.copy(z).cross(x);
      y.normalize();
      z.crossVectors(x, y);
    });
  }

  /** Writes the surface; `color` is that of a place between two stations. */
  sweep(color: (station: number, part: number, out: Color) => void) {
    const {geometry} = this.mesh;
    const [position, normal, tint] = ["position", "normal", "color"].map((name) => geometry.getAttribute(name) as BufferAttribute);
    const m = this.outline.length;
    const [x, t, y, z, paint] = [new Vector3(), new Vector3(), new Vector3(), new Vector3(), new Color()];
    const put = (ring: number, hy: number, hz: number, face: number) =>
      this.outline.forEach((p, k) => {
        const at = ring * m + k;
        position.setXYZ(at, x.x + p.y * hy * y.x + p.z * hz * z.x, x.y + p.y * hy * y.y + p.z * hz * z.y, x.z + p.y * hy * y.z + p.z * hz * z.z);
        if (face === 0) normal.setXYZ(at, p.ny * y.x + p.nz * z.x, p.ny * y.y + p.nz * z.y, p.ny * y.z + p.nz * z.z);
        else normal.setXYZ(at, face * t.x, face * t.y, face * t.z);
        tint.setXYZ(at, paint.r, paint.g, paint.b);
      });
    for (let ring = 0; ring < this.rings; ring++) {
      const i = Math.min(Math.floor(ring / this.steps), this.drawn.length - 2);
      const s = ring / this.steps - i;
      const [a, b] = [this.drawn[i], this.drawn[i + 1]];
      const chord = a.x.distanceTo(b.x);
      const [h0, h1, h2, h3] = [1 + s * s * (2 * s - 3), chord * s * (1 + s * (s - 2)), s * s * (3 - 2 * s), chord * s * s * (s - 1)];
      x.set(0, 0, 0).addScaledVector(a.x, h0).addScaledVector(a.axes[0], h1).addScaledVector(b.x, h2).addScaledVector(b.axes[0], h3);
      t.lerpVectors(a.axes[0], b.axes[0], s).normalize();
      y.lerpVectors(a.axes[1], b.axes[1], s);
      y.addScaledVector(t, -y.dot(t)).normalize();
      z.crossVectors(t, y);
      const [p, q] = [this.beam.stations[i], this.beam.stations[i + 1]];
      const [hy, hz] = [8, 9].map((at) => (1 - s) * p[at] + s * q[at]);
      color(i, s, paint);
      put(ring, hy, hz, 0);
      if (ring === 0) put(this.rings, hy, hz, -1);
      if (ring === this.rings - 1) put(this.rings + 1, hy, hz, 1);
    }
    for (const attribute of [position, normal, tint]) attribute.needsUpdate = true;
    geometry.boundingSphere = null;
  }
}

/** Whose rigid motion a group is drawn against: a held station, or both ends of a line that nothing holds. */
interface Reference {
  line: Line;
  station: number; // -1: the line between the ends
}

export class Beams {
  readonly group = new Group();
  readonly quantities: Quantity[] = [];
  readonly lines: Line[];
  magnify = 1;
  selected = -1; // body
  onLoad: () => void = () => undefined;
  private readonly references: Reference[] = []; // of each line
  private shown: Quantity | null = null;
  private limits: [number, number] = [0, 0];
  private colors: Color[] = [];

  constructor(private readonly data: Data) {
    const {scene} = data.raw;
    const beams = scene.beams ?? [];
    const stations = beams.reduce((sum, beam) => sum + beam.stations.length, 0);
    this.lines = beams.map((beam) => new Line(beam, stations, scene.bodies.length));
    for (const line of this.lines) this.group.add(line.mesh);
    for (const quantity of QUANTITIES) {
      const channel = this.lines.map((line) => this.channels(line, quantity.parts)).find((found) => found.some((list) => list !== null))?.find((list) => list !== null)?.[0];
      if (channel) this.quantities.push({...quantity, unit: channel.unit});
    }
    this.findReferences();
  }

  /** The numbers of the shapes that are not drawn, since these sections stand for them. */
  static shapes(beams: Beam[] | undefined): Set<number> {
    return new Set((beams ?? []).flatMap(({shape, stations}) => stations.map((_, i) => shape + i)));
  }

  private findReferences() {
    const {bodies} = this.data.raw.scene;
    const owner = new Map<number, number>(); // node to the first line of its group
    const group = this.lines.map((_, i) => i);
    const root = (i: number): number => (group[i] === i ? i : root(group[i]));
    const own = (line: Line, station: number) => bodies[line.beam.stations[station][0]]?.name === `${line.beam.name}.${station}`;
    this.lines.forEach((line, i) => line.beam.stations.forEach((row, k) => own(line, k) && owner.set(row[0], i)));
    this.lines.forEach((line, i) => line.beam.stations.forEach(([body]) => owner.has(body) && (group[root(i)] = root(owner.get(body)!))));
    this.lines.forEach((_, i) => {
      const members = this.lines.filter((_line, k) => root(k) === root(i));
      const held = members.flatMap((line) => [0, line.beam.stations.length - 1].filter((k) => !owner.has(line.beam.stations[k][0])).map((station) => ({line, station})));
      this.references.push(held[0] ?? {line: members[0], station: -1});
    });
  }

  /** Of each station the channels of a quantity; null: it was not recorded there. */
  private channels(line: Line, parts: string[]): (Channel[] | null)[] {
    return line.beam.stations.map((_, i) => {
      const found = parts.map((part) => this.data.byName.get(`beams.${line.beam.name}.${i}.${part}`));
      return found.every((channel) => channel !== undefined) ? (found as Channel[]) : null;
    });
  }

  get quantity(): Quantity | null {
    return this.shown;
  }

  /** Least and greatest number of the scale. */
  get range(): [number, number] {
    return this.limits;
  }

  /** A scale that others share. */
  set range(range: [number, number]) {
    this.limits = range;
  }

  get scale(): Color[] {
    return this.colors;
  }

  /** Colours by a quantity, by name; "" by none. */
  async colour(title: string) {
    const quantity = this.quantities.find((one) => one.title === title) ?? null;
    this.shown = quantity;
    for (const line of this.lines) line.values = null;
    this.colors = [];
    if (quantity) {
      const all = await Promise.all(this.lines.map((line) => this.load(line, quantity)));
      if (this.shown !== quantity) return;
      this.lines.forEach((line, i) => (line.values = all[i]));
      this.setLimits(quantity);
    }
    this.onLoad();
  }

  private async load(line: Line, quantity: Quantity): Promise<Float32Array[]> {
    const frames = this.data.time.length;
    return Promise.all(this.channels(line, quantity.parts).map(async (list) => {
      const values = new Float32Array(frames).fill(NaN);
      if (!list) return values;
      const curves: Curve[] = await Promise.all(list.map((channel) => this.data.curve(channel)));
      for (let i = 0; i < frames; i++) values[i] = quantity.size ? Math.hypot(...curves.map((curve) => curve.values[i])) : curves[0].values[i];
      return values;
    }));
  }

  /** Of all frames; of one channel with what lies between them. */
  private setLimits({parts, size}: Quantity) {
    let [low, high] = [Infinity, -Infinity];
    const take = (value: number) => {
      if (!Number.isFinite(value)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const line of this.lines) {
      for (const values of line.values ?? []) values.forEach(take);
      if (parts.length > 1) continue;
      for (const list of this.channels(line, parts)) for (const value of list ? [list[0].min, list[0].max] : []) take(size ? Math.abs(value) : value);
    }
    if (low > high) [low, high] = [0, 0];
    const nothing = 1e-9 * Math.max(-low, high); // what is left of zero
    [low, high] = [low, high].map((x) => (Math.abs(x) < nothing ? 0 : x));
    const signed = low < 0 && high > 0;
    if (signed) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
    this.limits = [low, high];
    this.colors = scaleOf(signed);
  }

  /** The value of a place between two stations at a time; NaN: it is not known. */
  value(line: Line, station: number, part: number, at: [frame: number, part: number]): number {
    const of = (i: number) => {
      const values = line.values![i];
      return at[1] > 0 ? values[at[0]] + at[1] * (values[at[0] + 1] - values[at[0]]) : values[at[0]];
    };
    return part > 0 ? of(station) + part * (of(station + 1) - of(station)) : of(station);
  }

  private paint(value: number, out: Color) {
    const [low, high] = this.limits;
    const last = this.colors.length - 1;
    if (!Number.isFinite(value) || last < 0) return void out.copy(PLAIN);
    const place = last * Math.min(1, Math.max(0, high > low ? (value - low) / (high - low) : 0.5));
    const i = Math.min(Math.floor(place), last - 1);
    out.copy(this.colors[i]).lerp(this.colors[i + 1], place - i);
  }

  /** The rigid motion of a group: from where it is at rest to now. */
  private rigid({line, station}: Reference, bodies: Matrix4[]): Matrix4 {
    const now = (i: number) => new Matrix4().multiplyMatrices(bodies[line.body(i)], line.inBody[i]);
    if (station >= 0) return now(station).multiply(line.rest[station].clone().invert());
    const last = line.rest.length - 1;
    const between = (first: Matrix4, second: Matrix4, y: Vector3) => {
      const [a, b] = [first, second].map((m) => new Vector3().setFromMatrixPosition(m));
      const along = b.sub(a).normalize();
      const across = y.addScaledVector(along, -y.dot(along)).normalize();
      return new Matrix4().makeBasis(along, across, along.clone().cross(across)).setPosition(a);
    };
    const [a, b] = [0, last].map((i) => new Vector3().setFromMatrixPosition(line.rest[i]));
    if (a.distanceTo(b) < 1e-9) return now(0).multiply(line.rest[0].clone().invert());
    // An axis of the first section that is not along the line, carried by that section.
    const axes = [1, 2].map((k) => new Vector3().setFromMatrixColumn(line.rest[0], k));
    const k = Math.abs(axes[0].dot(b.clone().sub(a))) <= Math.abs(axes[1].dot(b.clone().sub(a))) ? 0 : 1;
    const then = between(line.rest[0], line.rest[last], axes[k]);
    return between(now(0), now(last), new Vector3().setFromMatrixColumn(now(0), k + 1)).multiply(then.invert());
  }

  update(visible: boolean, bodies: Matrix4[], at: [frame: number, part: number]) {
    this.group.visible = visible;
    if (!visible) return;
    this.lines.forEach((line, i) => {
      line.deform(bodies, this.rigid(this.references[i], bodies), this.magnify);
      line.sweep((station, part, out) => {
        this.paint(line.values ? this.value(line, station, part, at) : NaN, out);
        const body = line.beam.stations[part < 0.5 ? station : station + 1][0];
        if (body >= 0 && body === this.selected) out.lerp(SELECTED, 0.75);
      });
    });
  }
}
