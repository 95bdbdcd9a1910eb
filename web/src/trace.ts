// The path of a point of a body along the run: faint as a whole, strong as far as it has come.

import {Group, type Color, Vector3, Quaternion as Turn} from "three";
import {Line2} from "three/addons/lines/Line2.js";
import {LineGeometry} from "three/addons/lines/LineGeometry.js";
import {LineMaterial} from "three/addons/lines/LineMaterial.js";
import type {Data, Vector} from "./data";

export class Trace {
  readonly group = new Group();
  private readonly past: Line2;
  private readonly materials: LineMaterial[] = [];

  constructor(data: Data, body: number, offset: Vector, color: Color) {
    const count = data.raw.scene.bodies.length;
    const points: number[] = [];
    const [p, q] = [new Vector3(), new Turn()];
    let last = [0, 0, 0];
    for (let frame = 0; frame < data.time.length; frame++) {
      const at = (frame * count + body) * 7;
      const [x, y, z, w, i, j, k] = data.poses.subarray(at, at + 7);
      p.set(...offset).applyQuaternion(q.set(i, j, k, w));
      const here = [p.x + x, p.y + y, p.z + z];
      if (here.every(Number.isFinite)) last = here; // where it is nowhere, it stays
      points.push(...last);
    }
    if (points.length < 6) points.push(...points);
    const line = (opacity: number, width: number) => {
      const material = new LineMaterial({color: color.getHex(), linewidth: width, transparent: true, opacity, depthWrite: false});
      this.materials.push(material);
      const made = new Line2(new LineGeometry().setPositions(points), material);
      made.frustumCulled = false;
      this.group.add(made);
      return made;
    };
    line(0.3, 1.2);
    this.past = line(0.95, 2.2);
  }

  update(shown: boolean, [frame]: [number, number]) {
    this.group.visible = shown;
    this.past.geometry.instanceCount = frame;
  }

  resize(width: number, height: number) {
    for (const material of this.materials) material.resolution.set(width, height);
  }

  dispose() {
    for (const material of this.materials) material.dispose();
    this.group.traverse((node) => node instanceof Line2 && node.geometry.dispose());
  }
}
