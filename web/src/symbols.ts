// What joints look like, by their kind: of size 1, their axis along z.

import {BoxGeometry, type BufferGeometry, OctahedronGeometry, SphereGeometry, TorusGeometry} from "three";
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
