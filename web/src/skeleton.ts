// Lines from each body's centre of mass to where it is held, some pixels wide however far away: without them a machine
// of many small parts would vanish.

import {Color, type InstancedInterleavedBuffer, type InterleavedBufferAttribute, type Matrix4, Vector3} from "three";
import {LineMaterial} from "three/addons/lines/LineMaterial.js";
import {LineSegments2} from "three/addons/lines/LineSegments2.js";
import {LineSegmentsGeometry} from "three/addons/lines/LineSegmentsGeometry.js";
import type {Scene} from "./data";
import {armsOf, bodyColor, vector} from "./primitives";

export class Skeleton {
  readonly lines: LineSegments2;
  private readonly bones: {body: number; arm: Vector3}[];
  private readonly ends: InstancedInterleavedBuffer;

  constructor(scene: Scene) {
    this.bones = armsOf(scene).flatMap((arms, body) => arms.map((arm) => ({body, arm: vector(arm)})));
    const geometry = new LineSegmentsGeometry();
    geometry.setPositions(new Float32Array(6 * this.bones.length));
    geometry.setColors(this.bones.flatMap(({body}) => [...color(body), ...color(body)]));
    this.ends = (geometry.getAttribute("instanceStart") as InterleavedBufferAttribute).data as InstancedInterleavedBuffer;
    this.lines = new LineSegments2(geometry, new LineMaterial({vertexColors: true, linewidth: 2}));
    this.lines.frustumCulled = false;
  }

  update(shown: boolean, bodies: Matrix4[]) {
    this.lines.visible = shown;
    if (!shown) return;
    const p = new Vector3();
    this.bones.forEach(({body, arm}, i) => {
      p.setFromMatrixPosition(bodies[body]).toArray(this.ends.array, 6 * i);
      p.copy(arm).applyMatrix4(bodies[body]).toArray(this.ends.array, 6 * i + 3);
    });
    this.ends.needsUpdate = true;
  }

  resize(width: number, height: number) {
    this.lines.material.resolution.set(width, height);
  }
}

const color = (body: number) => new Color(bodyColor(body)).toArray();
