// What the page shows: the data that the C side wrote into it, unpacked when it is needed.

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number]; // w, x, y, z

export interface Packed {
  type: "f32" | "f64" | "u32" | "i32";
  n: number;
  columns?: number; // i32: one after the other, of each differences of differences,
  exponents?: number[]; // of what are multiples of these powers of two
  base64: string;
  deflate?: boolean;
  planes?: boolean; // the first bytes of all numbers, then the second ones and so on
}

export interface Body {
  name: string;
  mass: number; // kg
  inertia: number[]; // xx, yy, zz, xy, xz, yz [kg m^2]
  point: boolean;
  node?: boolean; // of a flexible structure: it has no mass of its own
}

export interface Shape {
  body: number; // -1: the ground
  kind: string;
  position: Vector; // m, from the centre of mass, body axes
  quaternion: Quaternion; // shape to body
  size?: Vector;
  radius?: number;
  length?: number;
  top?: number; // of a cone: its radius there
  width?: number; // of a strip
  dash?: [number, number]; // lengths of its pieces and of the gaps between
  points?: Vector[];
  triangles?: Packed; // 9 numbers each
  triangles_of?: number; // the shape that has the same
  color?: number[] | null;
}

export interface Frame {
  name: string;
  body: number;
  position: Vector;
  quaternion: Quaternion;
}

/** A beam: its section is drawn along its line instead of `stations.length` shapes from number `shape` on. */
export interface Beam {
  name: string;
  shape: number;
  round: boolean;
  /** Body; place (3) and quaternion (4) of the section in it; half sizes along y and z; place and quaternion at rest in the world. */
  stations: number[][];
}

/** The mesh of a flexible body, in the axes of its frame. */
export interface FlexibleBody {
  name: string;
  body: number; // its frame
  coordinates: number; // n: channels flexible.NAME.z1.value ...
  points: Packed; // at rest, 3 each
  triangles: Packed; // 3 points each
  shapes: Packed; // of each point 3 rows of n
  stresses?: Packed; // of each point 6 rows of n
}

export interface Link {
  name: string;
  kind: string;
  bodies: number[];
  points: Vector[];
  axis?: Vector; // of the first body
  inactive?: boolean; // a joint that does not hold at the start
}

/** What an event does to a joint whenever it happens. */
export interface Switch {
  event: string;
  joint: number;
  active: boolean;
}

export interface Scene {
  size: number; // m
  gravity: Vector; // m/s^2
  bodies: Body[];
  shapes: Shape[];
  beams?: Beam[];
  flexible?: FlexibleBody[];
  frames: Frame[];
  joints: Link[];
  forces: Link[];
  switches?: Switch[];
}

export interface RunEvent {
  t: number;
  name: string;
  text?: string;
}

interface PackedChannel {
  name: string;
  unit: string;
  min?: number | null;
  tmin?: number | null;
  max?: number | null;
  tmax?: number | null;
  offset?: number;
  constant?: boolean; // min all along, and no values
  values?: Packed; // left out where the poses have them
  extremes?: {t: Packed; value: Packed};
  error?: {max: number; t: number; values: Packed}; // estimated: its largest size, and one for each frame
}

interface Raw {
  format: number;
  version: string;
  title: string;
  description: string | null;
  complete: boolean;
  summary: Record<string, unknown>;
  model: {path: string; text: string}[];
  scene: Scene;
  rows: number;
  frames: number;
  time: Packed;
  poses: Packed;
  channels: PackedChannel[];
  events: RunEvent[];
}

/** The values of one channel along the run; NaN where there is none. */
export interface Curve {
  channel: Channel;
  values: Float64Array; // one for each frame of the page
  errors: Float64Array | null; // sizes of the estimated errors of these; null: none are known
  t: Float64Array; // all that is known, the extremes between frames too
  y: Float64Array;
  band: Float64Array | null; // the errors there
}

/** A channel's name and unit; its values are unpacked by Data.curve(). */
export interface Channel {
  name: string;
  unit: string;
  min: number;
  tmin: number;
  max: number;
  tmax: number;
  error: number; // the largest estimated error
  terror: number;
}

async function unpack(array: Packed): Promise<Float32Array | Float64Array | Uint32Array> {
  if (array.type === "i32") return multiples(array, (await unpack({...array, type: "u32"})) as Uint32Array);
  const text = atob(array.base64);
  let bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  if (array.deflate) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const Type = {f32: Float32Array, f64: Float64Array, u32: Uint32Array, i32: Uint32Array}[array.type];
  if (bytes.byteLength !== array.n * Type.BYTES_PER_ELEMENT)
    throw new Error(`an array of ${array.n} numbers has ${bytes.byteLength} bytes`);
  return new Type((array.planes ? join(bytes, Type.BYTES_PER_ELEMENT) : bytes).buffer);
}

/** The table, row after row, from the differences of the differences of its columns. */
function multiples({columns = 1, exponents = []}: Packed, changes: Uint32Array): Float64Array {
  const rows = changes.length / columns;
  const table = new Float64Array(changes.length);
  for (let c = 0; c < columns; c++) {
    const unit = 2 ** exponents[c];
    let [last, step] = [0, 0];
    for (let r = 0; r < rows; r++) {
      const change = changes[c * rows + r];
      step = (step + ((change >>> 1) ^ -(change & 1))) | 0;
      last = (last + step) | 0;
      table[r * columns + c] = unit * last;
    }
  }
  return table;
}

/** Numbers of `width` bytes from the planes of their bytes. */
function join(planes: Uint8Array, width: number) {
  const bytes = new Uint8Array(planes.length);
  const n = planes.length / width;
  for (let k = 0; k < width; k++) for (let i = 0; i < n; i++) bytes[i * width + k] = planes[k * n + i];
  return bytes;
}

const POSE = ["position.x", "position.y", "position.z", "quaternion.w", "quaternion.x", "quaternion.y", "quaternion.z"];

export class Data {
  readonly channels: Channel[] = [];
  readonly byName = new Map<string, Channel>();
  private readonly packed = new Map<Channel, PackedChannel>();
  private readonly fromPoses = new Map<Channel, [body: number, part: number]>();
  private readonly curves = new Map<Channel, Promise<Curve>>();
  private readonly switched = new Map<Link, {t: number; active: boolean}[]>();

  private constructor(
    readonly raw: Raw,
    readonly time: Float64Array,
    readonly poses: Float64Array,
  ) {
    for (const from of raw.channels) {
      const number = (value: number | null | undefined) => value ?? NaN;
      const {min, tmin, max, tmax} = from;
      const channel = {name: from.name, unit: from.unit, min: number(min), tmin: number(tmin), max: number(max), tmax: number(tmax), error: number(from.error?.max), terror: number(from.error?.t)};
      this.add(channel);
      this.packed.set(channel, from);
    }
    raw.scene.bodies.forEach((body, index) => {
      POSE.slice(0, body.point ? 3 : 7).forEach((part, at) => {
        const name = `bodies.${body.name}.${part}`;
        const known = this.byName.get(name);
        const from = known && this.packed.get(known)!;
        if (known && !from!.values && !from!.constant) this.fromPoses.set(known, [index, at]);
        if (known) return;
        const channel = {name, unit: at < 3 ? "m" : "-", min: NaN, tmin: NaN, max: NaN, tmax: NaN, error: NaN, terror: NaN};
        this.add(channel);
        this.fromPoses.set(channel, [index, at]);
      });
    });
    this.readSwitches();
  }

  static async read(text: string): Promise<Data> {
    const raw = JSON.parse(text) as Raw;
    if (raw.format !== 1) throw new Error(`this page shows data of format 1, not ${raw.format}`);
    const time = Float64Array.from(await unpack(raw.time));
    const poses = Float64Array.from(await unpack(raw.poses));
    if (!(raw.scene.size > 0)) raw.scene.size = 1;
    if (time.length === 0) throw new Error("the run has no rows");
    if (poses.length !== time.length * raw.scene.bodies.length * 7) throw new Error("the poses are not those of this run");
    return new Data(raw, time, poses);
  }

  /** Notes when events released or activated joints. */
  private readSwitches() {
    const {scene, events} = this.raw;
    for (const {event, joint, active} of scene.switches ?? []) {
      const link = scene.joints[joint];
      const times = events.filter(({name}) => name === event).map(({t}) => ({t, active}));
      this.switched.set(link, [...(this.switched.get(link) ?? []), ...times].sort((a, b) => a.t - b.t));
    }
  }

  /** Whether a joint holds at time t: as at the start, or as the last event before has left it. */
  holds(joint: Link, t: number): boolean {
    const last = this.switched.get(joint)?.filter((change) => change.t <= t).at(-1);
    return last ? last.active : !joint.inactive;
  }

  private add(channel: Channel) {
    this.channels.push(channel);
    this.byName.set(channel.name, channel);
  }

  get start() {
    return this.time[0];
  }

  get end() {
    return this.time[this.time.length - 1];
  }

  get thinned() {
    return this.raw.rows > this.raw.frames;
  }

  /** The frame at or before t, and how far t is on the way to the next one, 0..1. */
  at(t: number): [frame: number, part: number] {
    const time = this.time;
    const last = time.length - 1;
    if (!(t > time[0])) return [0, 0];
    if (t >= time[last]) return [last, 0];
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (time[middle] <= t) low = middle;
      else high = middle;
    }
    const span = time[high] - time[low];
    return [low, span > 0 ? (t - time[low]) / span : 0];
  }

  /** A channel with its least and greatest values, which of those from poses are looked for now. */
  known(channel: Channel): Channel {
    const pose = this.fromPoses.get(channel);
    if (!pose || !Number.isNaN(channel.min)) return channel;
    const width = this.raw.scene.bodies.length * 7;
    for (let i = 0; i < this.time.length; i++) {
      const value = this.poses[i * width + pose[0] * 7 + pose[1]];
      if (!Number.isFinite(value)) continue;
      if (!(value >= channel.min)) Object.assign(channel, {min: value, tmin: this.time[i]});
      if (!(value <= channel.max)) Object.assign(channel, {max: value, tmax: this.time[i]});
    }
    return channel;
  }

  curve(channel: Channel): Promise<Curve> {
    let curve = this.curves.get(channel);
    if (!curve) {
      curve = this.load(channel);
      this.curves.set(channel, curve);
    }
    return curve;
  }

  private async load(channel: Channel): Promise<Curve> {
    const pose = this.fromPoses.get(channel);
    const n = this.time.length;
    if (pose) {
      const [body, part] = pose;
      const width = this.raw.scene.bodies.length * 7;
      const values = new Float64Array(n);
      for (let i = 0; i < n; i++) values[i] = this.poses[i * width + body * 7 + part];
      const packed = this.packed.get(channel);
      const errors = packed?.error ? Float64Array.from(await unpack(packed.error.values)) : null;
      return {channel, values, errors, t: this.time, y: values, band: errors};
    }
    const packed = this.packed.get(channel)!;
    const offset = packed.offset ?? 0;
    const constant = () => new Float64Array(n).fill(channel.min);
    const values = packed.values ? Float64Array.from(await unpack(packed.values), (value) => offset + value) : constant();
    if (values.length !== n) throw new Error(`${channel.name} has ${values.length} values`);
    const errors = packed.error ? Float64Array.from(await unpack(packed.error.values)) : null;
    if (errors && errors.length !== n) throw new Error(`${channel.name} has ${errors.length} errors`);
    if (!packed.extremes) return {channel, values, errors, t: this.time, y: values, band: errors};
    const t = Float64Array.from(await unpack(packed.extremes.t));
    const y = Float64Array.from(await unpack(packed.extremes.value), (value) => offset + value);
    const all = merge(this.time, values, t, y);
    return {channel, values, errors, ...all, band: errors && all.t.map((at) => this.between(errors, at))};
  }

  /** A curve's value at time t, on the straight line between frames. */
  value(curve: Curve, t: number): number {
    return this.between(curve.values, t);
  }

  /** The estimated error of that value; NaN: it is not known. */
  error(curve: Curve, t: number): number {
    return curve.errors ? this.between(curve.errors, t) : NaN;
  }

  private between(values: Float64Array, t: number): number {
    const [i, part] = this.at(t);
    return part > 0 ? values[i] + part * (values[i + 1] - values[i]) : values[i];
  }

  numbers(array: Packed): Promise<Float32Array> {
    return unpack(array).then((numbers) => Float32Array.from(numbers));
  }

  async triangles(shape: Shape): Promise<Float32Array> {
    const {triangles, triangles_of: other} = shape;
    if (triangles) return Float32Array.from(await unpack(triangles));
    return other === undefined ? new Float32Array() : this.triangles(this.raw.scene.shapes[other]);
  }
}

/** Two series in the order of time; a point that is in both is there once. */
function merge(t0: Float64Array, y0: Float64Array, t1: Float64Array, y1: Float64Array) {
  const t = new Float64Array(t0.length + t1.length);
  const y = new Float64Array(t.length);
  let n = 0;
  let i = 0;
  let j = 0;
  while (i < t0.length || j < t1.length) {
    const first = j >= t1.length || (i < t0.length && t0[i] <= t1[j]);
    if (first && j < t1.length && t0[i] === t1[j] && y0[i] === y1[j]) j++;
    t[n] = first ? t0[i] : t1[j];
    y[n++] = first ? y0[i++] : y1[j++];
  }
  return {t: t.subarray(0, n), y: y.subarray(0, n)};
}
