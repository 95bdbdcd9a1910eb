// What joints, and forces about an axis, look like, by their kind: of size 1, their axis along z.

import {BoxGeometry, type BufferGeometry, Curve, OctahedronGeometry, SphereGeometry, TorusGeometry, TubeGeometry, Vector3} from "three";
import {cylinder} from "./primitives";

/** These act on joints or between wheels that are drawn anyway. */
export const UNSEEN = new Set(["motion", "coupling", "distance"]);

export const SYMBOLS: Record<string, () => BufferGeometry> = {
  revolute: () => new TorusGeometry(0.85, 0.3, 10, 28),
  cylindrical: () => cylinder().scale(0.55, 0.55, 3.2),
  screw: () => cylinder().scale(0.55, 0.55, 3.2),
  prismatic: () => new BoxGeometry(0.9, 0.9, 3.2),
  "point-on-line": () => new BoxGeometry(0.5, 0.5, 3.2),
  spherical: () => new SphereGeometry(0.95, 20, 14),
  universal: () => new OctahedronGeometry(1.25),
  "constant-velocity": () => new OctahedronGeometry(1.25),
  planar: () => new BoxGeometry(2.6, 2.6, 0.25),
  "point-on-plane": () => new BoxGeometry(2.6, 2.6, 0.25),
  fixed: () => new BoxGeometry(1.2, 1.2, 1.2),
  other: () => new SphereGeometry(0.6, 12, 8),
};

/** A flat coil about z, wider than a revolute joint's ring. */
class Spiral extends Curve<Vector3> {
  constructor() {
    super();
  }

  override getPoint(s: number, out = new Vector3()): Vector3 {
    const [r, angle] = [1.5 + 1.7 * s, 5 * Math.PI * s];
    return out.set(r * Math.cos(angle), r * Math.sin(angle), 0);
  }
}

export const FORCES: Record<string, () => BufferGeometry> = {
  torsion: () => new TubeGeometry(new Spiral(), 90, 0.16, 6),
  bushing: () => new TorusGeometry(1.9, 0.7, 10, 28),
  motor: () => new TorusGeometry(2, 0.4, 4, 8),
};
