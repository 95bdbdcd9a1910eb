// Flexible bodies: their meshes moved with the frame, deformed by the elastic coordinates that were recorded, and coloured.
//
// A point is drawn at R (X + m Psi z) + x, with m the factor that deformation is magnified by. Stresses are S z.

import {BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, Matrix4, Mesh, MeshStandardMaterial} from "three";
import type {Data, FlexibleBody} from "./data";
import {SELECTED} from "./primitives";

const PLAIN = new Color("#737f94");
const RISING = ["#2b2f77", "#2a6f97", "#3aa68a", "#9ccc4c", "#fde047"].map((hex) => new Color(hex));

/** How many points and times are looked at for the ends of a scale. */
const LOOKED_AT = {points: 400, frames: 120};

const mises = (s: number[]) =>
  Math.sqrt(((s[0] - s[1]) ** 2 + (s[1] - s[2]) ** 2 + (s[2] - s[0]) ** 2) / 2 + 3 * (s[3] ** 2 + s[4] ** 2 + s[5] ** 2));

class Part {
  readonly mesh: Mesh;
  readonly z: (Float64Array | null)[]; // of each coordinate along the frames; null: it was not recorded

  private constructor(
    readonly body: FlexibleBody,
    readonly points: Float32Array,
    readonly shapes: Float32Array,
    readonly stresses: Float32Array | null,
    triangles: Float32Array,
    curves: (Float64Array | null)[],
  ) {
    this.z = curves;
    const geometry = new BufferGeometry();
    for (const name of ["position", "color"]) geometry.setAttribute(name, new BufferAttribute(new Float32Array(points.length), 3).setUsage(DynamicDrawUsage));
    geometry.setIndex(Array.from(triangles));
    this.mesh = new Mesh(geometry, new MeshStandardMaterial({vertexColors: true, roughness: 0.62, metalness: 0.04, flatShading: true, side: DoubleSide}));
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.matrixAutoUpdate = false;
  }

  static async create(data: Data, body: FlexibleBody): Promise<Part> {
    const [points, shapes, triangles, stresses] = await Promise.all([body.points, body.shapes, body.triangles, body.stresses].map((array) => array && data.numbers(array)));
    const curves = await Promise.all(Array.from({length: body.coordinates}, async (_, i) => {
      const channel = data.byName.get(`flexible.${body.name}.z${i + 1}.value`);
      return channel ? (await data.curve(channel)).values : null;
    }));
    return new Part(body, points!, shapes!, stresses ?? null, triangles!, curves);
  }

  get count() {
    return this.points.length / 3;
  }

  /** z at a time; what was not recorded is 0. */
  coordinates([frame, part]: [number, number]): Float64Array {
    return Float64Array.from(this.z, (values) => (values ? values[frame] + (part > 0 ? part * (values[frame + 1] - values[frame]) : 0) : 0));
  }

  /** Row `row` of `rows` of a point's matrix, times z. */
  product(matrix: Float32Array, rows: number, point: number, row: number, z: Float64Array): number {
    const from = (point * rows + row) * z.length;
    let sum = 0;
    for (let j = 0; j < z.length; j++) sum += matrix[from + j] * z[j];
    return sum;
  }

  value(title: string, point: number, z: Float64Array): number {
    if (title === "deflection") return Math.hypot(...[0, 1, 2].map((row) => this.product(this.shapes, 3, point, row, z)));
    if (title !== "stress" || !this.stresses) return NaN;
    return mises([0, 1, 2, 3, 4, 5].map((row) => this.product(this.stresses!, 6, point, row, z)));
  }
}

export class Meshes {
  readonly group = new Group();
  readonly quantities: {title: string; unit: string}[] = [];
  parts: Part[] = [];
  magnify = 1;
  selected = -1; // body
  range: [number, number] = [0, 0];
  readonly scale = RISING;
  title = "";

  constructor(private readonly data: Data) {}

  async load() {
    const bodies = this.data.raw.scene.flexible ?? [];
    this.parts = await Promise.all(bodies.map((body) => Part.create(this.data, body)));
    for (const part of this.parts) this.group.add(part.mesh);
    if (this.parts.some((part) => part.stresses)) this.quantities.push({title: "stress", unit: "Pa"});
    if (this.parts.length > 0) this.quantities.push({title: "deflection", unit: "m"});
  }

  /** Colours by a quantity, by name; "" by none. */
  colour(title: string) {
    this.title = this.quantities.some((one) => one.title === title) ? title : "";
    this.range = [0, 0];
    if (!this.title) return;
    const frames = this.data.time.length;
    const step = Math.max(1, Math.floor(frames / LOOKED_AT.frames));
    for (const part of this.parts) {
      const skip = Math.max(1, Math.floor(part.count / LOOKED_AT.points));
      for (let frame = 0; frame < frames; frame += step) {
        const z = part.coordinates([frame, 0]);
        for (let point = 0; point < part.count; point += skip) {
          const value = part.value(this.title, point, z);
          if (value > this.range[1]) this.range[1] = value;
        }
      }
    }
  }

  private paint(value: number, out: Color) {
    const [low, high] = this.range;
    if (!Number.isFinite(value)) return void out.copy(PLAIN);
    const place = (RISING.length - 1) * Math.min(1, Math.max(0, high > low ? (value - low) / (high - low) : 0));
    const i = Math.min(Math.floor(place), RISING.length - 2);
    out.copy(RISING[i]).lerp(RISING[i + 1], place - i);
  }

  /** A point as it is drawn, in its frame, and the value that it is coloured by. */
  at(name: string, point: number, time: [frame: number, part: number]) {
    const part = this.parts.find(({body}) => body.name === name);
    if (!part || point >= part.count) return null;
    const z = part.coordinates(time);
    const place = [0, 1, 2].map((k) => part.points[3 * point + k] + this.magnify * part.product(part.shapes, 3, point, k, z));
    return {place, value: this.title ? part.value(this.title, point, z) : NaN, points: part.count};
  }

  update(visible: boolean, bodies: Matrix4[], time: [frame: number, part: number]) {
    this.group.visible = visible;
    if (!visible) return;
    const color = new Color();
    for (const part of this.parts) {
      const {geometry} = part.mesh;
      const [position, tint] = ["position", "color"].map((name) => geometry.getAttribute(name) as BufferAttribute);
      const z = part.coordinates(time);
      for (let i = 0; i < part.count; i++) {
        const u = [0, 1, 2].map((row) => part.product(part.shapes, 3, i, row, z));
        position.setXYZ(i, part.points[3 * i] + this.magnify * u[0], part.points[3 * i + 1] + this.magnify * u[1], part.points[3 * i + 2] + this.magnify * u[2]);
        this.paint(this.title === "deflection" ? Math.hypot(...u) : this.title ? part.value(this.title, i, z) : NaN, color);
        if (part.body.body === this.selected) color.lerp(SELECTED, 0.75);
        tint.setXYZ(i, color.r, color.g, color.b);
      }
      position.needsUpdate = tint.needsUpdate = true;
      geometry.boundingSphere = null;
      part.mesh.matrix.copy(bodies[part.body.body]);
      part.mesh.matrixWorldNeedsUpdate = true;
    }
  }
}
