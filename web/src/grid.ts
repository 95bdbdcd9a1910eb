// A level grid below the machine that fades with the distance, and the shadows that fall on it.

import {BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, ShadowMaterial, Vector3} from "three";
import {across, round} from "./geometry";
import type {Theme} from "./theme";

export class Grid {
  readonly group = new Group();
  readonly cell: number; // m
  private readonly ink = new LineBasicMaterial({vertexColors: true, transparent: true, depthWrite: false});
  private readonly shade = new ShadowMaterial({depthWrite: false});

  /** About `center`, at the height `level` along `up`; `reach` is how far the machine goes from the centre. */
  constructor(up: Vector3, center: Vector3, reach: number, level: number) {
    const [e, f] = across(up);
    this.cell = round(reach / 4);
    const n = Math.ceil((2.2 * reach) / this.cell);
    const middle = [e, f].map((axis) => Math.round(center.dot(axis) / this.cell));
    const positions: number[] = [];
    const colors: number[] = [];
    const put = (i: number, j: number) => {
      const [x, y] = [(i + middle[0]) * this.cell, (j + middle[1]) * this.cell];
      const point = e.clone().multiplyScalar(x).addScaledVector(f, y).addScaledVector(up, level);
      positions.push(...point.toArray());
      colors.push(1, 1, 1, Math.max(0, 1 - Math.hypot(i, j) / n) ** 1.5);
    };
    for (let i = -n; i <= n; i++)
      for (let j = -n; j < n; j++) {
        for (const k of [j, j + 1]) put(i, k);
        for (const k of [j, j + 1]) put(k, i);
      }
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(colors), 4));
    const plane = new Mesh(new PlaneGeometry(5 * reach, 5 * reach), this.shade);
    plane.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), up);
    plane.position.copy(center).addScaledVector(up, level - center.dot(up) - 1e-3 * reach);
    plane.receiveShadow = true;
    this.group.add(new LineSegments(geometry, this.ink), plane);
  }

  paint(theme: Theme) {
    this.ink.color.set(theme.grid);
    this.shade.opacity = theme.dark ? 0.4 : 0.14;
  }
}
