// A level grid below the machine that fades with the distance, and the shadows that fall on it. It goes along with what is
// looked at by whole cells, so its lines stand still in the world.

import {BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, ShadowMaterial, Vector3} from "three";
import {across, round} from "./geometry";
import type {Theme} from "./theme";

export class Grid {
  readonly group = new Group();
  readonly cell: number; // m
  private readonly axes: [Vector3, Vector3];
  private readonly ink = new LineBasicMaterial({vertexColors: true, transparent: true, depthWrite: false});
  private readonly shade = new ShadowMaterial({depthWrite: false});

  /** At the height `level` along `up`; `reach` is how far what is looked at goes from its middle. */
  constructor(private readonly up: Vector3, reach: number, private readonly level: number) {
    this.axes = across(up);
    const [e, f] = this.axes;
    this.cell = round(reach / 4);
    const n = Math.ceil((2.2 * reach) / this.cell);
    const positions: number[] = [];
    const colors: number[] = [];
    const put = (i: number, j: number) => {
      positions.push(...e.clone().multiplyScalar(i * this.cell).addScaledVector(f, j * this.cell).toArray());
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
    plane.position.copy(up).multiplyScalar(-1e-3 * reach);
    plane.receiveShadow = true;
    const lines = new LineSegments(geometry, this.ink);
    lines.frustumCulled = false;
    this.group.add(lines, plane);
  }

  /** Its middle is the crossing of lines nearest to a point. */
  move(center: Vector3) {
    this.group.position.copy(this.up).multiplyScalar(this.level);
    for (const axis of this.axes) this.group.position.addScaledVector(axis, this.cell * Math.round(center.dot(axis) / this.cell));
  }

  paint(theme: Theme) {
    this.ink.color.set(theme.grid);
    this.shade.opacity = theme.dark ? 0.4 : 0.14;
  }

  dispose() {
    this.group.traverse((node) => (node instanceof Mesh || node instanceof LineSegments) && node.geometry.dispose());
    this.ink.dispose();
    this.shade.dispose();
  }
}
