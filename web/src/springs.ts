// Springs as coils between their ends; distances kept by a rod, and what else acts between two points, as thin rods.

import {Curve, Group, InstancedMesh, Matrix4, Mesh, MeshStandardMaterial, Quaternion as Turn, TubeGeometry, Vector3} from "three";
import type {Link, Scene} from "./data";
import type {Place} from "./arrows";
import {between, cylinder} from "./primitives";
import type {Theme} from "./theme";

const TURNS = 8;
const END = 0.12; // straight part at either end, of the length

/** A coil of length 1 along z with straight ends; `r` is its radius. */
class Coil extends Curve<Vector3> {
  constructor(private readonly r: number) {
    super();
  }

  override getPoint(s: number, out = new Vector3()): Vector3 {
    if (s <= END || s >= 1 - END) return out.set(0, 0, s);
    const u = (s - END) / (1 - 2 * END);
    const grow = Math.min(1, 12 * Math.min(u, 1 - u));
    const angle = 2 * Math.PI * TURNS * u;
    return out.set(this.r * grow * Math.cos(angle), this.r * grow * Math.sin(angle), s);
  }
}

export class Springs {
  readonly group = new Group();
  private readonly steel = new MeshStandardMaterial({roughness: 0.4, metalness: 0.15});
  private readonly coils: {mesh: Mesh; link: Link}[] = [];
  private readonly rods: Link[];
  private readonly rodMesh: InstancedMesh;

  constructor(
    scene: Scene,
    private readonly symbol: number,
  ) {
    const pairs = [...scene.forces, ...scene.joints.filter((joint) => joint.kind === "distance")].filter(
      (link) => link.points.length === 2 && link.bodies[0] !== link.bodies[1],
    );
    const springs = pairs.filter((link) => link.kind === "spring");
    const coiled = springs.length <= 300 ? springs : [];
    this.rods = pairs.filter((link) => link.kind === "distance" || link.kind === "actuator" || (link.kind === "spring" && coiled.length === 0));
    for (const link of coiled) {
      const mesh = new Mesh(undefined, this.steel);
      mesh.matrixAutoUpdate = false;
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      this.coils.push({mesh, link});
      this.group.add(mesh);
    }
    this.rodMesh = new InstancedMesh(cylinder(), this.steel, Math.max(1, this.rods.length));
    this.rodMesh.count = this.rods.length;
    this.rodMesh.frustumCulled = false;
    this.rodMesh.castShadow = true;
    this.group.add(this.rodMesh);
  }

  get count() {
    return this.coils.length + this.rods.length;
  }

  update(shown: boolean, place: Place, holds: (link: Link) => boolean) {
    this.group.visible = shown;
    if (!shown) return;
    const [a, b, m] = [new Vector3(), new Vector3(), new Matrix4()];
    const ends = (link: Link) => {
      place(link.bodies[0], link.points[0], a);
      place(link.bodies[1], link.points[1], b);
    };
    for (const {mesh, link} of this.coils) {
      ends(link);
      this.stretch(mesh, a, b);
    }
    this.rods.forEach((link, i) => {
      ends(link);
      this.rodMesh.setMatrixAt(i, holds(link) ? between(a, b, 0.3 * this.symbol, m) : m.makeScale(0, 0, 0));
    });
    this.rodMesh.instanceMatrix.needsUpdate = true;
  }

  /** The geometry is made for the length that a spring has first; later it is stretched along its axis. */
  private stretch(mesh: Mesh, a: Vector3, b: Vector3) {
    const along = b.clone().sub(a);
    const length = Math.max(along.length(), 1e-6 * this.symbol);
    if (!mesh.userData.made) {
      const r = Math.min(1.5 * this.symbol, 0.16 * length) / length;
      mesh.geometry = new TubeGeometry(new Coil(r), 24 * TURNS, 0.16 * r, 7);
      mesh.userData.made = length;
    }
    const made = mesh.userData.made as number;
    const turn = new Turn().setFromUnitVectors(new Vector3(0, 0, 1), along.normalize());
    mesh.matrix.compose(a, turn, new Vector3(made, made, length));
  }

  paint(theme: Theme) {
    this.steel.color.set(theme.dark ? "#c3c9cf" : "#6b7279");
  }
}
