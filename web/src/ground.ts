// The ground's part of a linkage: a support where a joint holds the machine to the ground, and bars between these.

import {CylinderGeometry, Group, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion as Turn, Vector3} from "three";
import type {Scene} from "./data";
import {between, cylinder, vector} from "./primitives";
import type {Theme} from "./theme";

const MOST = 200; // supports
const SUPPORT = 2.2; // half the height of one, in sizes of a joint's symbol
/** These hold something to a surface, not to a point of the ground. */
const ANYWHERE = new Set(["rolling", "skate", "planar", "point-on-plane", "motion", "coupling", "other"]);

export class Ground {
  readonly group = new Group();
  readonly points: Vector3[] = [];
  readonly bars: [Vector3, Vector3][] = [];
  private readonly material = new MeshStandardMaterial({roughness: 0.8});

  /** `size` is that of a joint's symbol. */
  constructor(scene: Scene, up: Vector3, size: number) {
    for (const joint of scene.joints) {
      if (ANYWHERE.has(joint.kind) || !joint.bodies.some((body) => body >= 0)) continue;
      joint.bodies.forEach((body, i) => {
        const point = body < 0 && joint.points[i] ? vector(joint.points[i]) : null;
        if (point && this.points.length < MOST && !this.points.some((other) => other.distanceTo(point) < 0.5 * size)) this.points.push(point);
      });
    }
    this.join();
    const turn = new Turn().setFromUnitVectors(new Vector3(0, 1, 0), up);
    const supports = new InstancedMesh(new CylinderGeometry(0.3, 1.5, 2.2, 4).rotateY(Math.PI / 4).translate(0, -1.1, 0), this.material, this.points.length);
    const scale = new Vector3(1, 1, 1).multiplyScalar(SUPPORT * size);
    this.points.forEach((point, i) => supports.setMatrixAt(i, new Matrix4().compose(point, turn, scale)));
    const rods = new InstancedMesh(cylinder(), this.material, this.bars.length);
    const low = up.clone().multiplyScalar(-2 * SUPPORT * size); // bars go along the feet of the supports
    this.bars.forEach(([a, b], i) => rods.setMatrixAt(i, between(a.clone().add(low), b.clone().add(low), 0.3 * SUPPORT * size, new Matrix4())));
    for (const mesh of [supports, rods]) {
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      this.group.add(mesh);
    }
  }

  /** Bars of the least length that join all points. */
  private join() {
    const free = this.points.slice(1).map((point) => ({point, to: this.points[0], far: point.distanceTo(this.points[0])}));
    while (free.length > 0) {
      let k = 0;
      free.forEach(({far}, i) => far < free[k].far && (k = i));
      const [{point, to}] = free.splice(k, 1);
      this.bars.push([to, point]);
      for (const other of free) {
        const far = other.point.distanceTo(point);
        if (far < other.far) Object.assign(other, {to: point, far});
      }
    }
  }

  paint(theme: Theme) {
    this.material.color.set(theme.dark ? "#79828b" : "#8c939a");
  }
}
