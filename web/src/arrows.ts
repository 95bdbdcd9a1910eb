// Arrows of forces and torques: at the second body, on which they act, as long as they are strong; those of torques have
// two heads and lie along the axis. The longest of a kind along the whole run has a set length, so arrows of one kind can
// be compared at all times.

import {ConeGeometry, CylinderGeometry, Group, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion as Turn, Vector3} from "three";
import type {Channel, Curve, Data, Link, Scene, Vector} from "./data";

export type Place = (body: number, local: Vector, out: Vector3) => Vector3;

type Kind = "forces" | "reactions";
type Unit = "N" | "N m";
const UNITS: Unit[] = ["N", "N m"];
const COLORS: Record<Kind, Record<Unit, string>> = {forces: {N: "#d4473a", "N m": "#b5489c"}, reactions: {N: "#2f8f5b", "N m": "#2a7fa8"}};

/** Which way a strength points: three components; along the line to the second point; along the axis. */
type Way = "vector" | "line" | "axis";

interface Source {
  link: Link;
  channels: Channel[];
  way: Way;
  sign: number;
}

interface Family {
  arrows: {source: Source; curves: Curve[]}[];
  unit: Unit;
  largest: number;
  shafts: InstancedMesh;
  heads: InstancedMesh;
}

/** What is known of a force or torque on the second body, from the channels that were recorded. */
function sourceOf(data: Data, scene: Scene, group: "forces" | "joints", link: Link, unit: Unit): Source | null {
  const get = (part: string) => data.byName.get(`${group}.${link.name}.${part}`);
  const from = (channels: (Channel | undefined)[], way: Way, sign = 1): Source | null =>
    channels.every((channel) => channel !== undefined) ? {link, channels: channels as Channel[], way, sign} : null;
  const components = (name: string) => from(["x", "y", "z"].map((axis) => get(`${name}.${axis}`)), "vector");
  if (group === "joints") return components(unit === "N" ? "force" : "torque");
  if (unit === "N") {
    const pull = link.kind === "spring" ? from([get("tension")], "line", -1) : null;
    const push = link.kind === "actuator" && get("length") ? from([get("drive")], "line") : null;
    return components("force") ?? pull ?? push;
  }
  // The recorded torque of a force is about the body's centre of mass, so it is no torque of its own to be drawn.
  if (link.kind === "torsion") return from([get("moment")], "axis", -1);
  const universal = scene.joints.some((joint) => joint.kind === "universal" && joint.bodies.every((body) => link.bodies.includes(body)));
  return link.kind === "motor" && !universal ? from([get("drive")], "axis") : null;
}

export class Arrows {
  readonly group = new Group();
  readonly count: Record<Kind, number>;
  scale = 1;
  onLoad: () => void = () => undefined;
  private readonly sources: Record<Kind, Record<Unit, Source[]>>;
  private readonly families = new Map<Kind, Family[] | "loading">();

  constructor(
    private readonly data: Data,
    private readonly size: number,
  ) {
    const {scene} = data.raw;
    const find = (group: "forces" | "joints", unit: Unit) =>
      scene[group].filter((link) => link.points.length > 0).map((link) => sourceOf(data, scene, group, link, unit)).filter((source) => source !== null);
    this.sources = {
      forces: {N: find("forces", "N"), "N m": find("forces", "N m")},
      reactions: {N: find("joints", "N"), "N m": find("joints", "N m")},
    };
    const sum = (kind: Kind) => UNITS.reduce((n, unit) => n + this.sources[kind][unit].length, 0);
    this.count = {forces: sum("forces"), reactions: sum("reactions")};
  }

  /** The strongest of a kind along the run; none as long as it is not known. */
  largest(kind: Kind): {value: number; unit: Unit}[] {
    const families = this.families.get(kind);
    return families && families !== "loading" ? families.map(({largest, unit}) => ({value: largest, unit})) : [];
  }

  private async load(kind: Kind) {
    this.families.set(kind, "loading");
    const families = await Promise.all(UNITS.map((unit) => this.family(kind, unit)));
    this.families.set(kind, families.filter((family) => family.arrows.length > 0));
    this.onLoad();
  }

  private async family(kind: Kind, unit: Unit): Promise<Family> {
    const arrows = await Promise.all(
      this.sources[kind][unit].map(async (source) => ({source, curves: await Promise.all(source.channels.map((channel) => this.data.curve(channel)))})),
    );
    let largest = 0;
    for (const {curves} of arrows)
      for (let i = 0; i < this.data.time.length; i++) {
        const strength = Math.hypot(...curves.map((curve) => curve.values[i]));
        if (strength > largest) largest = strength;
      }
    const material = new MeshStandardMaterial({color: COLORS[kind][unit], roughness: 0.5, depthTest: false, transparent: true, opacity: 0.9});
    const make = (geometry: CylinderGeometry, n: number) => {
      const mesh = new InstancedMesh(geometry.rotateX(Math.PI / 2), material, n);
      mesh.frustumCulled = false;
      mesh.renderOrder = 4; // seen through the bodies that they act on
      this.group.add(mesh);
      return mesh;
    };
    const shafts = make(new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), arrows.length);
    const heads = make(new ConeGeometry(1, 1, 18).translate(0, -0.5, 0), (unit === "N" ? 1 : 2) * arrows.length);
    return {arrows, unit, largest, shafts, heads};
  }

  update(t: number, shown: Record<Kind, boolean>, place: Place) {
    for (const kind of ["forces", "reactions"] as const) {
      const families = this.families.get(kind);
      if (!families && shown[kind] && this.count[kind] > 0) void this.load(kind);
      if (!families || families === "loading") continue;
      for (const family of families) {
        family.shafts.visible = family.heads.visible = shown[kind];
        if (shown[kind]) this.lay(family, t, place);
      }
    }
  }

  /** A force or torque at time t, in the world. */
  private strength({source: {link, way, sign}, curves}: Family["arrows"][number], t: number, place: Place, out: Vector3): Vector3 {
    const values = curves.map((curve) => sign * this.data.value(curve, t));
    if (way === "vector") return out.set(...(values as Vector));
    const from = place(link.bodies[0], link.points[0], new Vector3());
    const axis = link.axis ?? [0, 0, 1];
    if (way === "line") place(link.bodies.at(-1)!, link.points.at(-1)!, out);
    else place(link.bodies[0], link.points[0].map((x, i) => x + axis[i]) as Vector, out);
    return out.sub(from).normalize().multiplyScalar(values[0]);
  }

  private lay({arrows, unit, largest, shafts, heads}: Family, t: number, place: Place) {
    const [from, force, tip, m, turn] = [new Vector3(), new Vector3(), new Vector3(), new Matrix4(), new Turn()];
    const longest = (unit === "N" ? 0.3 : 0.2) * this.size * this.scale;
    const two = unit === "N m";
    arrows.forEach((arrow, i) => {
      const {link} = arrow.source;
      place(link.bodies.at(-1)!, link.points.at(-1)!, from);
      const strength = this.strength(arrow, t, place, force).length();
      const length = largest > 0 && strength > 0 ? (longest * strength) / largest : 0;
      if (!(length > 1e-4 * this.size)) {
        shafts.setMatrixAt(i, m.makeScale(0, 0, 0));
        heads.setMatrixAt(i, m);
        if (two) heads.setMatrixAt(arrows.length + i, m);
        return;
      }
      force.divideScalar(strength);
      turn.setFromUnitVectors(new Vector3(0, 0, 1), force);
      const head = Math.min(0.045 * this.size, (two ? 0.3 : 0.45) * length);
      tip.copy(from).addScaledVector(force, length);
      shafts.setMatrixAt(i, m.compose(from, turn, new Vector3(0.14 * head, 0.14 * head, length - head)));
      const wide = new Vector3(0.38 * head, 0.38 * head, head);
      heads.setMatrixAt(i, m.compose(tip, turn, wide));
      if (two) heads.setMatrixAt(arrows.length + i, m.compose(tip.addScaledVector(force, -0.75 * head), turn, wide));
    });
    shafts.instanceMatrix.needsUpdate = heads.instanceMatrix.needsUpdate = true;
  }

  /** The arrows of a kind at time t, for tests: where they begin and what they stand for. */
  shown(kind: Kind, t: number, place: Place) {
    const families = this.families.get(kind);
    if (!families || families === "loading") return [];
    return families.flatMap((family) => family.arrows.map((arrow) => ({
      name: arrow.source.link.name, unit: family.unit,
      at: place(arrow.source.link.bodies.at(-1)!, arrow.source.link.points.at(-1)!, new Vector3()).toArray(),
      vector: this.strength(arrow, t, place, new Vector3()).toArray(),
    })));
  }
}
