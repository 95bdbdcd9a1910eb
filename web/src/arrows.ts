// Arrows of forces and reactions: from where they act, as long as they are strong. The longest of a kind along the
// whole run has a set length, so arrows of one kind can be compared at all times.

import {ConeGeometry, CylinderGeometry, Group, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion as Turn, Vector3} from "three";
import type {Curve, Data, Link, Vector} from "./data";

export type Place = (body: number, local: Vector, out: Vector3) => Vector3;

type Kind = "forces" | "reactions";
const COLORS: Record<Kind, string> = {forces: "#d4473a", reactions: "#2f8f5b"};

interface Arrow {
  link: Link;
  curves: Curve[]; // x, y, z
}

interface Family {
  arrows: Arrow[];
  largest: number; // N
  shafts: InstancedMesh;
  heads: InstancedMesh;
}

export class Arrows {
  readonly group = new Group();
  readonly count: Record<Kind, number>;
  scale = 1;
  onLoad: () => void = () => undefined;
  private readonly links: Record<Kind, Link[]>;
  private readonly families = new Map<Kind, Family | "loading">();

  constructor(
    private readonly data: Data,
    private readonly size: number,
  ) {
    const {scene} = data.raw;
    const recorded = (group: string) => (link: Link) =>
      link.points.length > 0 && ["x", "y", "z"].every((axis) => data.byName.has(`${group}.${link.name}.force.${axis}`));
    this.links = {forces: scene.forces.filter(recorded("forces")), reactions: scene.joints.filter(recorded("joints"))};
    this.count = {forces: this.links.forces.length, reactions: this.links.reactions.length};
  }

  /** The strongest of a kind along the run [N]; NaN as long as it is not known. */
  largest(kind: Kind): number {
    const family = this.families.get(kind);
    return family && family !== "loading" ? family.largest : NaN;
  }

  private async load(kind: Kind) {
    this.families.set(kind, "loading");
    const group = kind === "forces" ? "forces" : "joints";
    const get = (link: Link, axis: string) => this.data.curve(this.data.byName.get(`${group}.${link.name}.force.${axis}`)!);
    const arrows = await Promise.all(
      this.links[kind].map(async (link) => ({link, curves: await Promise.all(["x", "y", "z"].map((axis) => get(link, axis)))})),
    );
    let largest = 0;
    for (const {curves: [x, y, z]} of arrows)
      for (let i = 0; i < x.values.length; i++) {
        const strength = Math.hypot(x.values[i], y.values[i], z.values[i]);
        if (strength > largest) largest = strength;
      }
    const material = new MeshStandardMaterial({color: COLORS[kind], roughness: 0.5, depthTest: false, transparent: true, opacity: 0.9});
    const make = (geometry: CylinderGeometry) => {
      const mesh = new InstancedMesh(geometry.rotateX(Math.PI / 2), material, arrows.length);
      mesh.frustumCulled = false;
      mesh.renderOrder = 4; // seen through the bodies that they act on
      this.group.add(mesh);
      return mesh;
    };
    const shafts = make(new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0));
    const heads = make(new ConeGeometry(1, 1, 18).translate(0, -0.5, 0));
    this.families.set(kind, {arrows, largest, shafts, heads});
    this.onLoad();
  }

  update(t: number, shown: Record<Kind, boolean>, place: Place) {
    for (const kind of ["forces", "reactions"] as const) {
      const family = this.families.get(kind);
      if (!family && shown[kind] && this.links[kind].length > 0) void this.load(kind);
      if (!family || family === "loading") continue;
      family.shafts.visible = family.heads.visible = shown[kind];
      if (shown[kind]) this.lay(family, t, place);
    }
  }

  private lay({arrows, largest, shafts, heads}: Family, t: number, place: Place) {
    const [from, force, tip, m, turn] = [new Vector3(), new Vector3(), new Vector3(), new Matrix4(), new Turn()];
    const longest = 0.3 * this.size * this.scale;
    arrows.forEach(({link, curves}, i) => {
      const end = link.points.length - 1;
      place(link.bodies[end], link.points[end], from);
      force.set(...(curves.map((curve) => this.data.value(curve, t)) as Vector));
      const strength = force.length();
      const length = largest > 0 && strength > 0 ? (longest * strength) / largest : 0;
      if (!(length > 1e-4 * this.size)) {
        shafts.setMatrixAt(i, m.makeScale(0, 0, 0));
        heads.setMatrixAt(i, m);
        return;
      }
      force.divideScalar(strength);
      turn.setFromUnitVectors(new Vector3(0, 0, 1), force);
      const head = Math.min(0.045 * this.size, 0.45 * length);
      tip.copy(from).addScaledVector(force, length);
      shafts.setMatrixAt(i, m.compose(from, turn, new Vector3(0.14 * head, 0.14 * head, length - head)));
      heads.setMatrixAt(i, m.compose(tip, turn, new Vector3(0.38 * head, 0.38 * head, head)));
    });
    shafts.instanceMatrix.needsUpdate = heads.instanceMatrix.needsUpdate = true;
  }
}
