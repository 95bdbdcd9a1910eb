// The machine in 3D at one time. Bodies are instances of a few geometries, so thousands of them are a few draw calls.
// A picture is drawn when something changed, never otherwise.

import {
  BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, DynamicDrawUsage, HemisphereLight, InstancedMesh,
  LineBasicMaterial, LineSegments, Line as ThinLine, Matrix4, MeshStandardMaterial, PerspectiveCamera, Quaternion as Turn,
  Raycaster, Scene as Stage, Vector2, Vector3, WebGLRenderer,
} from "three";
import {OrbitControls} from "three/addons/controls/OrbitControls.js";
import type {Data, Link, Vector} from "./data";
import {Arrows} from "./arrows";
import {Beams} from "./beams";
import {Meshes} from "./meshes";
import {SELECTED, bodyColor, primitives, rotation, symbolSize, vector, type Primitive} from "./primitives";
import {across, cornersOf, extent, extremes, spread} from "./geometry";
import {Grid} from "./grid";
import {Ground} from "./ground";
import {Names, type Named} from "./names";
import {Skeleton} from "./skeleton";
import {Springs} from "./springs";
import {FORCES, SYMBOLS, UNSEEN} from "./symbols";
import {Trace} from "./trace";
import {travelOf, type Travel} from "./travel";
import type {Theme} from "./theme";

export const LAYERS = ["bodies", "names", "ground", "joints", "frames", "springs", "forces", "reactions", "traces", "grid"] as const;
export type Layer = (typeof LAYERS)[number];

/** What can be chosen: a body, or a frame fixed to one. */
export type Target = {kind: "bodies" | "frames"; index: number};

interface Batch {
  mesh: InstancedMesh;
  parts: Primitive[];
}

const isFinitePoint = (point: Vector3) => Number.isFinite(point.x + point.y + point.z);

export class View {
  readonly arrows: Arrows;
  readonly beams: Beams;
  readonly meshes: Meshes;
  readonly shown: Record<Layer, boolean>;
  onPick: (body: number | null) => void = () => undefined;
  onHover: (body: number | null) => void = () => undefined;
  onTurn: (camera: PerspectiveCamera) => void = () => undefined;
  onGrid: () => void = () => undefined;
  turning = false; // with the heading of what is followed
  readonly travel: Travel | null;
  readonly ground: Ground;
  readonly names: Names;

  private readonly renderer: WebGLRenderer;
  private readonly stage = new Stage();
  private readonly camera = new PerspectiveCamera(28, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly sun = new DirectionalLight(0xffffff, 2.1);
  private readonly sky = new HemisphereLight(0xffffff, 0xb4b0aa, 2);
  private readonly lamp = new DirectionalLight(0xffffff, 0.5); // beside the camera
  private readonly up: Vector3;
  private readonly symbol: number;
  private readonly batches: Batch[] = [];
  private readonly thin: {line: ThinLine; part: Primitive}[] = [];
  private readonly symbols: {mesh: InstancedMesh; links: Link[]; layer: Layer}[] = [];
  private readonly triads: LineSegments;
  private readonly springs: Springs;
  private readonly skeleton: Skeleton | null;
  private readonly traces = new Map<string, Trace>();
  private grid!: Grid;
  private gridReach = NaN;
  private floor = 0; // height of the grid,
  private lift = 0; // and how much above it is drawn, of how far it reaches
  private readonly sizeAtStart: number;
  private readonly bodies: Matrix4[] = []; // body to world; the ground is the last
  private readonly corners: Vector3[][] = []; // of what is drawn of each body
  private readonly center = new Vector3(); // of the run
  private reach = 1;
  private run: Vector3[] = []; // points of the machine along the run
  private followed: Target | null = null;
  private readonly anchor = new Vector3();
  private heading = 0;
  private theme: Theme;
  private time = NaN;
  private pending = false;
  private readonly pace = {last: -Infinity, slow: 0};
  private fine = true;
  private readonly ink: MeshStandardMaterial;

  static async create(canvas: HTMLCanvasElement, data: Data, theme: Theme): Promise<View> {
    const meshes = new Meshes(data);
    await meshes.load();
    return new View(canvas, data, theme, await primitives(data, Beams.shapes(data.raw.scene.beams)), meshes);
  }

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly data: Data,
    theme: Theme,
    drawn: Primitive[],
    meshes: Meshes,
  ) {
    const {scene} = data.raw;
    const count = scene.bodies.length;
    this.theme = theme;
    const context = canvas.getContext("webgl2", {antialias: true, preserveDrawingBuffer: true});
    if (!context) throw new Error("it has no WebGL 2");
    this.renderer = new WebGLRenderer({canvas, context});
    this.renderer.debug.checkShaderErrors = false; // asking would wait for each program
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = count <= 300;
    const gravity = vector(scene.gravity);
    this.up = gravity.length() > 0 ? gravity.normalize().negate() : new Vector3(0, 0, 1);
    this.camera.up.copy(this.up);
    this.symbol = symbolSize(scene);
    this.ink = new MeshStandardMaterial({roughness: 0.6, depthTest: false, transparent: true, opacity: 0.85});
    this.shown = {
      bodies: true, names: false, ground: true, joints: scene.joints.length <= 300, frames: scene.frames.length <= 50, springs: true,
      forces: scene.forces.length <= 30, reactions: false, traces: true, grid: true,
    };
    for (let i = 0; i <= count; i++) this.bodies.push(new Matrix4());
    this.addBodies(drawn);
    this.beams = new Beams(data);
    this.meshes = meshes;
    for (const {body, points} of meshes.parts)
      for (let i = 0; i < points.length; i += 3 * Math.max(1, Math.floor(points.length / 300))) this.corners[body.body].push(new Vector3(points[i], points[i + 1], points[i + 2]));
    for (const {beam} of this.beams.lines)
      for (const row of beam.stations) this.corners.at(row[0])!.push(new Vector3(row[1], row[2], row[3]));
    const placed = scene.forces.filter((force) => force.kind !== "torsion" && force.kind !== "other"); // the others act anywhere
    for (const link of [...scene.joints, ...placed, ...scene.frames.map((frame) => ({bodies: [frame.body], points: [frame.position]}))])
      link.points.forEach((point, i) => this.corners.at(link.bodies[i])!.push(vector(point)));
    this.addSymbols();
    this.triads = this.addFrames();
    this.springs = new Springs(scene, this.symbol);
    this.arrows = new Arrows(data, scene.size);
    this.stage.add(this.springs.group, this.arrows.group, this.beams.group, meshes.group);
    this.skeleton = this.symbol < 0.003 * scene.size ? new Skeleton(scene) : null;
    if (this.skeleton) this.stage.add(this.skeleton.lines);
    this.ground = new Ground(scene, this.up, this.symbol);
    this.stage.add(this.ground.group);
    // Where the ground has a look of its own, that says how it holds the machine.
    this.shown.ground = this.ground.points.length > 0 && this.ground.points.length <= 20 && !scene.shapes.some(({body}) => body < 0);
    this.names = new Names(canvas.parentElement!.querySelector<HTMLElement>("#names")!, this.named());
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.draw());
    this.place(data.start);
    this.sizeAtStart = this.sizeNow();
    this.travel = travelOf(data, this.up, this.sizeAtStart);
    this.measure();
    this.addLights();
    this.focus();
    this.listen();
    this.paint(theme);
    this.setTime(data.start);
    this.fit();
  }

  // ---- what there is ---------------------------------------------------------------------------------

  private addBodies(drawn: Primitive[]) {
    const groups = new Map<string, Primitive[]>();
    this.bodies.forEach(() => this.corners.push([]));
    for (const part of drawn) {
      const key = `${part.key} ${part.opacity} ${part.layer}`;
      if (part.line) this.addThinLine(part);
      else if (groups.has(key)) groups.get(key)!.push(part);
      else groups.set(key, [part]);
    }
    for (const parts of groups.values()) {
      const {opacity} = parts[0];
      const geometry = parts[0].geometry();
      const material = new MeshStandardMaterial({roughness: 0.62, metalness: 0.04, side: parts[0].key.startsWith("mesh") ? DoubleSide : 0});
      Object.assign(material, {opacity, transparent: opacity < 1, depthWrite: opacity >= 1, vertexColors: parts[0].shaded === true});
      const {layer} = parts[0];
      if (layer !== undefined) Object.assign(material, {side: DoubleSide, roughness: 0.95, polygonOffset: true, polygonOffsetFactor: -layer, polygonOffsetUnits: -2 * layer});
      const mesh = new InstancedMesh(geometry, material, parts.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.receiveShadow = true;
      mesh.castShadow = layer === undefined;
      parts.forEach((part, i) => mesh.setColorAt(i, part.color));
      this.batches.push({mesh, parts});
      this.stage.add(mesh);
      const corners = cornersOf(parts[0].key, geometry, parts.length > 300);
      for (const part of parts) for (const corner of corners) this.corners.at(part.body)!.push(corner.clone().applyMatrix4(part.place));
    }
  }

  private addThinLine(part: Primitive) {
    const line = new ThinLine(part.geometry(), new LineBasicMaterial({color: part.color}));
    line.matrixAutoUpdate = false;
    line.frustumCulled = false;
    this.thin.push({line, part});
    this.stage.add(line);
    const points = part.geometry().getAttribute("position");
    for (let i = 0; i < points.count; i++)
      this.corners.at(part.body)!.push(new Vector3().fromBufferAttribute(points, i).applyMatrix4(part.place));
  }

  /** Symbols of joints, and of forces that act about an axis. */
  private addSymbols() {
    const kinds = new Map<string, Link[]>();
    const add = (look: string, link: Link) => {
      if (kinds.has(look)) kinds.get(look)!.push(link);
      else kinds.set(look, [link]);
    };
    const {joints, forces} = this.data.raw.scene;
    for (const joint of joints)
      if (joint.points.length > 0 && !UNSEEN.has(joint.kind)) add(SYMBOLS[joint.kind] ? joint.kind : "other", joint);
    for (const force of forces) if (force.points.length > 0 && FORCES[force.kind]) add(force.kind, force);
    for (const [look, links] of kinds) {
      const mesh = new InstancedMesh((FORCES[look] ?? SYMBOLS[look])(), this.ink, links.length);
      mesh.frustumCulled = false;
      mesh.renderOrder = 2;
      this.symbols.push({mesh, links, layer: FORCES[look] ? "springs" : "joints"});
      this.stage.add(mesh);
    }
  }

  private addFrames(): LineSegments {
    const n = this.data.raw.scene.frames.length;
    const colors = [[0.85, 0.25, 0.25], [0.25, 0.65, 0.3], [0.25, 0.45, 0.9]].flatMap((color) => [...color, ...color]);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(18 * n), 3));
    geometry.setAttribute("color", new BufferAttribute(Float32Array.from({length: 18 * n}, (_, i) => colors[i % 18]), 3));
    const lines = new LineSegments(geometry, new LineBasicMaterial({vertexColors: true, depthTest: false, transparent: true}));
    lines.frustumCulled = false;
    lines.renderOrder = 3;
    this.stage.add(lines);
    return lines;
  }

  /** What can have a name in the picture: bodies, and beams and flexible bodies instead of their nodes. */
  private named(): Named[] {
    const {scene} = this.data.raw;
    const {beams = [], flexible = []} = scene;
    const middle = (body: number) => {
      const corners = this.corners[body].filter(isFinitePoint);
      if (corners.length === 0) return new Vector3();
      const [low, high] = extent(corners);
      return low.clone().add(high).multiplyScalar(0.5);
    };
    const of = (name: string, body: number): Named => {
      const point = middle(body);
      return {name, body, at: (out) => out.copy(point).applyMatrix4(this.bodies[body])};
    };
    const nodes = [...beams, ...flexible].map(({name}) => `${name}.`);
    return [
      ...scene.bodies.map(({name}, body) => of(name, body)).filter(({name, body}) => !scene.bodies[body].node && !nodes.some((start) => name.startsWith(start))),
      ...beams.map(({name, stations}, i): Named => ({name, body: -1, at: (out) => out.copy(this.beams.lines[i].drawn[stations.length >> 1].x)})),
      ...flexible.map(({name, body}) => of(name, body)),
    ];
  }

  /** Where the ground holds the machine. */
  private get anchors(): Vector3[] {
    const {scene} = this.data.raw;
    const links = [...scene.joints, ...scene.forces.filter((force) => force.kind === "spring")];
    const points = links.flatMap((link) => link.points.filter((_, i) => link.bodies[i] < 0).map(vector));
    return points.filter((point) => point.distanceTo(new Vector3().setFromMatrixPosition(this.bodies[0])) < 3 * scene.size);
  }

  /** Points of the machine along the run, from which views are fitted. */
  private samples(frames: number[]): Vector3[] {
    const points: Vector3[] = [];
    for (const frame of frames) {
      this.place(this.data.time[frame]);
      for (let body = 0; body < this.bodies.length - 1; body++) {
        const corners = this.corners[body];
        if (corners.length === 0) points.push(new Vector3().setFromMatrixPosition(this.bodies[body]));
        for (const corner of corners) points.push(corner.clone().applyMatrix4(this.bodies[body]));
      }
    }
    if (points.length === 0) points.push(...this.corners[this.bodies.length - 1]);
    points.push(...this.anchors);
    const finite = points.filter(isFinitePoint); // a run may have left for infinity
    return finite.length > 0 ? finite : [new Vector3(-1, -1, -1), new Vector3(1, 1, 1)];
  }

  /**
   * Of a run in which something goes far away: what stays near where the machine was at the start. If nothing does, the
   * whole way where it can still be seen, or the start.
   */
  private nearby(points: Vector3[], wayIsSeen: boolean): Vector3[] {
    const start = this.samples([0]);
    const [low, high] = extent(start);
    const home = low.clone().add(high).multiplyScalar(0.5);
    const near = (point: Vector3) => point.distanceTo(home) < 0.5 * high.distanceTo(low) + 0.75 * this.data.raw.scene.size;
    this.place(this.data.end);
    if (this.bodies.slice(0, -1).some((body) => near(new Vector3().setFromMatrixPosition(body)))) return [...start, ...points.filter(near)];
    return wayIsSeen ? points : start;
  }

  /** Where the machine goes, and with it lights, shadows and the grid. */
  private measure() {
    const last = this.data.time.length - 1;
    const {size} = this.data.raw.scene;
    const count = Math.max(2, Math.min(last + 1, 40, Math.ceil(60000 / this.corners.flat().length)));
    const frames = Array.from({length: count}, (_, i) => Math.round((i * last) / (count - 1)));
    let points = this.samples(frames);
    let [low, high] = extent(points);
    if (high.distanceTo(low) > 12 * size) {
      points = this.nearby(points, high.distanceTo(low) < 60 * size);
      [low, high] = extent(points);
    }
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const base = this.corners[this.bodies.length - 1].filter((corner) => corner.distanceTo(middle) < 0.7 * high.distanceTo(low));
    points = [...points, ...base]; // a base, but not a floor
    [low, high] = extent(points);
    this.run = points;
    this.center.copy(low).add(high).multiplyScalar(0.5);
    this.reach = Math.max(0.5 * high.distanceTo(low), 0.05 * size);
    const ground = this.corners[this.bodies.length - 1].map((corner) => corner.dot(this.up));
    const lowest = this.run.reduce((least, point) => Math.min(least, point.dot(this.up)), Infinity);
    const surface = ground.filter((height) => height <= lowest + 0.03 * this.sizeAtStart);
    // A machine that travels is seen to do so by lines on the surface below it, unless that has a road.
    const lined = this.travel !== null && surface.length > 0 && !this.data.raw.scene.shapes.some(({body, kind}) => body < 0 && kind === "strip");
    this.floor = lined ? Math.max(lowest, ...surface) : Math.min(lowest, ...ground);
    this.lift = lined ? 3e-3 : ground.length > 0 ? -1e-3 : 0;
  }

  /** From end to end of the machine where it is now. */
  private sizeNow(): number {
    const points = this.pointsNow().filter(isFinitePoint);
    if (points.length === 0) return this.data.raw.scene.size;
    const [low, high] = extent(points);
    return Math.max(high.distanceTo(low), 1e-3 * this.data.raw.scene.size);
  }

  /** Corners of all bodies where they are now; about a point only of those near it. */
  private pointsNow(about?: Vector3, within = Infinity): Vector3[] {
    const points: Vector3[] = [];
    const center = new Vector3();
    for (let body = 0; body < this.bodies.length - 1; body++) {
      center.setFromMatrixPosition(this.bodies[body]);
      if (about && !(center.distanceTo(about) < within)) continue;
      const corners = this.corners[body];
      if (corners.length === 0) points.push(center.clone());
      for (const corner of corners) points.push(corner.clone().applyMatrix4(this.bodies[body]));
    }
    return points;
  }

  /** What lights, shadows and the grid are about: the whole run, or what is followed where the machine goes far. */
  private focus() {
    const near = this.travel !== null && this.followed !== null;
    const reach = near ? Math.min(this.reach, 1.6 * this.sizeAtStart) : this.reach;
    const center = near ? this.anchor : this.center;
    if (!this.grid || this.gridReach !== reach) {
      if (this.grid) {
        this.stage.remove(this.grid.group);
        this.grid.dispose();
      }
      this.gridReach = reach;
      this.grid = new Grid(this.up, reach, this.floor + this.lift * reach);
      this.grid.paint(this.theme);
      this.grid.group.visible = this.shown.grid;
      this.stage.add(this.grid.group);
      this.shine(reach);
      this.onGrid();
    }
    this.grid.move(center);
    const [e, f] = across(this.up);
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).addScaledVector(this.up, 3 * reach).addScaledVector(e, 1.1 * reach).addScaledVector(f, -1.6 * reach);
  }

  private shine(reach: number) {
    this.sun.shadow.normalBias = 0.004 * reach;
    const box = this.sun.shadow.camera;
    Object.assign(box, {left: -1.3 * reach, right: 1.3 * reach, top: 1.3 * reach, bottom: -1.3 * reach, near: 0.1 * reach, far: 8 * reach});
    box.updateProjectionMatrix();
  }

  private addLights() {
    this.sky.position.copy(this.up);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 4;
    this.camera.add(this.lamp);
    this.stage.add(this.sky, this.sun, this.sun.target, this.camera);
  }

  // ---- time ------------------------------------------------------------------------------------------

  /** Sets the bodies' matrices; between frames along a straight line and the shortest turn. */
  private place(t: number) {
    const {poses} = this.data;
    const count = this.bodies.length - 1;
    const [frame, part] = this.data.at(t);
    const one = new Vector3(1, 1, 1);
    const [p, q, p1, q1] = [new Vector3(), new Turn(), new Vector3(), new Turn()];
    for (let body = 0; body < count; body++) {
      let at = (frame * count + body) * 7;
      p.set(poses[at], poses[at + 1], poses[at + 2]);
      q.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
      if (part > 0) {
        at += count * 7;
        p.lerp(p1.set(poses[at], poses[at + 1], poses[at + 2]), part);
        q.slerp(q1.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]), part);
      }
      this.bodies[body].compose(p, q.normalize(), one);
    }
  }

  private point(body: number, local: Vector, out = new Vector3()): Vector3 {
    return out.set(...local).applyMatrix4(this.bodies.at(body)!);
  }

  setTime(t: number) {
    if (t === this.time) return;
    this.time = t;
    this.keepUp(performance.now());
    this.update();
  }

  /** Gives up shadows and fine pixels where pictures come slower than 20 a second. */
  private keepUp(now: number) {
    const passed = now - this.pace.last;
    this.pace.last = now;
    if (passed > 1000) this.pace.slow = 0; // it was not playing
    else this.pace.slow = passed > 50 ? this.pace.slow + 1 : Math.max(0, this.pace.slow - 2);
    if (this.pace.slow < 12 || !this.fine) return;
    this.fine = false;
    this.sun.castShadow = false;
    this.renderer.setPixelRatio(1);
    this.resize();
  }

  update() {
    const t = this.time;
    this.place(t);
    const m = new Matrix4();
    for (const {mesh, parts} of this.batches) {
      mesh.visible = this.shown.bodies;
      parts.forEach((part, i) => mesh.setMatrixAt(i, m.multiplyMatrices(this.bodies.at(part.body)!, part.place)));
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // of all instances: needed when one is looked for
    }
    for (const {line, part} of this.thin) {
      line.visible = this.shown.bodies;
      line.matrix.multiplyMatrices(this.bodies.at(part.body)!, part.place);
    }
    this.skeleton?.update(this.shown.bodies, this.bodies);
    this.updateSymbols();
    this.updateFrames();
    const at = (body: number, local: Vector, out: Vector3) => this.point(body, local, out);
    this.springs.update(this.shown.springs, at, (link) => this.data.holds(link, t));
    this.arrows.update(t, this.shown, at);
    const frame = this.data.at(t);
    this.beams.update(this.shown.bodies, this.bodies, frame);
    this.meshes.update(this.shown.bodies, this.bodies, frame);
    for (const trace of this.traces.values()) trace.update(this.shown.traces, frame);
    this.grid.group.visible = this.shown.grid;
    this.ground.group.visible = this.shown.ground;
    if (this.followed) this.moveAlong();
    this.draw();
  }

  private updateSymbols() {
    const [m, p, axis, turn] = [new Matrix4(), new Vector3(), new Vector3(), new Turn()];
    const scale = new Vector3(this.symbol, this.symbol, this.symbol);
    for (const {mesh, links, layer} of this.symbols) {
      mesh.visible = this.shown[layer];
      if (!mesh.visible) continue;
      links.forEach((link, i) => {
        const end = link.points.length - 1;
        this.point(link.bodies[end], link.points[end], p);
        axis.set(...(link.axis ?? [0, 0, 1])).transformDirection(this.bodies.at(link.bodies[0])!);
        const holds = this.data.holds(link, this.time);
        mesh.setMatrixAt(i, holds ? m.compose(p, turn.setFromUnitVectors(new Vector3(0, 0, 1), axis), scale) : m.makeScale(0, 0, 0));
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private updateFrames() {
    this.triads.visible = this.shown.frames;
    if (!this.triads.visible) return;
    const positions = this.triads.geometry.getAttribute("position") as BufferAttribute;
    const [p, tip] = [new Vector3(), new Vector3()];
    this.data.raw.scene.frames.forEach((frame, i) => {
      const turn = rotation(frame.quaternion);
      const origin = vector(frame.position);
      this.point(frame.body, frame.position, p);
      for (let axis = 0; axis < 3; axis++) {
        tip.set(0, 0, 0).setComponent(axis, 3 * this.symbol).applyQuaternion(turn).add(origin).applyMatrix4(this.bodies.at(frame.body)!);
        positions.setXYZ(6 * i + 2 * axis, p.x, p.y, p.z);
        positions.setXYZ(6 * i + 2 * axis + 1, tip.x, tip.y, tip.z);
      }
    });
    positions.needsUpdate = true;
  }

  // ---- what is seen ----------------------------------------------------------------------------------

  show(layer: Layer, on: boolean) {
    this.shown[layer] = on;
    this.update();
  }

  private whereIs(target: Target): Vector3 {
    if (target.kind === "bodies") return new Vector3().setFromMatrixPosition(this.bodies[target.index]);
    const frame = this.data.raw.scene.frames[target.index];
    return this.point(frame.body, frame.position);
  }

  /** Where a body's centre of mass is drawn now [m]. */
  position(body: number): Vector {
    return this.whereIs({kind: "bodies", index: body}).toArray();
  }

  /** Where a beam's station is drawn now, and the value that it is coloured by. */
  beamAt(name: string, station: number) {
    const line = this.beams.lines.find(({beam}) => beam.name === name);
    if (!line) return null;
    const value = line.values ? this.beams.value(line, station, 0, this.data.at(this.time)) : NaN;
    return {position: line.drawn[station].x.toArray(), value};
  }

  /** Where a point of a flexible body is drawn in its frame now, and the value that it is coloured by. */
  meshAt(name: string, point: number) {
    return this.meshes.at(name, point, this.data.at(this.time));
  }

  /** The arrows that are drawn now. */
  arrowsOf(kind: "forces" | "reactions") {
    return this.arrows.shown(kind, this.time, (body, local, out) => this.point(body, local, out));
  }

  traced(target: Target): boolean {
    return this.traces.has(`${target.kind} ${target.index}`);
  }

  trace(target: Target, on: boolean) {
    const key = `${target.kind} ${target.index}`;
    const old = this.traces.get(key);
    if (on && !old) {
      const {frames} = this.data.raw.scene;
      const [body, offset] = target.kind === "bodies" ? [target.index, [0, 0, 0] as Vector] : [frames[target.index].body, frames[target.index].position];
      const trace = new Trace(this.data, body, offset, bodyColor(body));
      this.traces.set(key, trace);
      this.stage.add(trace.group);
    } else if (!on && old) {
      this.traces.delete(key);
      this.stage.remove(old.group);
      old.dispose();
    }
    this.resize();
    this.update();
  }

  select(body: number) {
    for (const {mesh, parts} of this.batches) {
      parts.forEach((part, i) => mesh.setColorAt(i, part.body === body && body >= 0 ? part.color.clone().lerp(SELECTED, 0.75) : part.color));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    this.beams.selected = this.meshes.selected = this.names.selected = body;
    this.update();
  }

  follow(target: Target | null) {
    this.followed = target;
    this.anchor.copy(this.controls.target);
    if (target && isFinitePoint(this.whereIs(target))) {
      this.anchor.copy(this.whereIs(target));
      this.heading = this.headingOf(target);
      this.camera.position.add(this.anchor).sub(this.controls.target);
      this.controls.target.copy(this.anchor);
    }
    this.focus();
    if (this.travel) return this.fit();
    this.controls.update();
    this.draw();
  }

  /** How far what is followed has turned about the vertical [rad]. */
  private headingOf(target: Target): number {
    const body = target.kind === "bodies" ? target.index : this.data.raw.scene.frames[target.index].body;
    const {x, y, z, w} = new Turn().setFromRotationMatrix(this.bodies.at(body)!);
    return 2 * Math.atan2(this.up.dot(new Vector3(x, y, z)), w);
  }

  /** Where the camera is and what it looks at, for tests. */
  get eye() {
    return {position: this.camera.position.toArray(), target: this.controls.target.toArray(), followed: this.followed, turning: this.turning, grid: this.grid.group.position.toArray(), cell: this.grid.cell};
  }

  private moveAlong() {
    const now = this.whereIs(this.followed!);
    if (!isFinitePoint(now)) return; // it has left for infinity: wait where it was last
    const moved = now.clone().sub(this.anchor);
    this.anchor.copy(now);
    this.camera.position.add(moved);
    this.controls.target.add(moved);
    const heading = this.headingOf(this.followed!);
    const turned = Math.atan2(Math.sin(heading - this.heading), Math.cos(heading - this.heading));
    this.heading = heading;
    if (this.turning)
      for (const point of [this.camera.position, this.controls.target]) point.sub(now).applyAxisAngle(this.up, turned).add(now);
    this.focus();
    this.controls.update();
  }

  /** Looks at what is followed, where the machine goes far, from behind and beside its way. */
  private fitNear({direction}: Travel) {
    const points = this.pointsNow(this.anchor, 1.5 * this.sizeAtStart).filter(isFinitePoint);
    if (points.length === 0) points.push(this.anchor);
    const ahead = direction.clone();
    if (this.turning) ahead.applyAxisAngle(this.up, this.heading);
    const away = ahead.multiplyScalar(-0.72).addScaledVector(this.up.clone().cross(direction), -0.55).addScaledVector(this.up, 0.42).normalize();
    this.frame(points, away, 0.5);
  }

  /** Looks at the whole run from a good side: along the thin direction of what is flat. */
  fit() {
    if (this.travel && this.followed) return this.fitNear(this.travel);
    const [e, f] = across(this.up);
    const [a, b, c] = [e, f, this.up].map((axis) => spread(this.run, axis));
    let azimuth = -1.05; // from e towards f [rad]
    let height = 0.38;
    if (b < 0.35 * a) azimuth = -1.3;
    else if (a < 0.35 * b) azimuth = -0.27;
    else if (c < 0.12 * Math.max(a, b)) height = 0.9;
    if (c < 0.12 * Math.max(a, b) && Math.min(a, b) < 0.35 * Math.max(a, b)) height = 0.5;
    const away = e.multiplyScalar(Math.cos(azimuth)).addScaledVector(f, Math.sin(azimuth)).multiplyScalar(Math.cos(height)).addScaledVector(this.up, Math.sin(height));
    this.frame(this.run, away);
  }

  /** Puts the camera where all points are just seen from the direction `away`, in a part `fill` of the picture. */
  private frame(points: Vector3[], away: Vector3, fill = 0.86) {
    const right = this.up.clone().cross(away).normalize();
    const above = away.clone().cross(right);
    const slope = Math.tan((this.camera.fov * Math.PI) / 360) * fill;
    const aspect = this.camera.aspect;
    const [low, high] = extent(points);
    const target = low.add(high).multiplyScalar(0.5);
    let distance = 0;
    for (let round = 0; round < 3; round++) {
      const side = [right, above].map((axis) => extremes(points, axis));
      target.addScaledVector(right, (side[0][0] + side[0][1]) / 2 - target.dot(right));
      target.addScaledVector(above, (side[1][0] + side[1][1]) / 2 - target.dot(above));
    }
    const p = new Vector3();
    for (const point of points) {
      p.copy(point).sub(target);
      const need = Math.max(Math.abs(p.dot(right)) / (slope * aspect), Math.abs(p.dot(above)) / slope);
      distance = Math.max(distance, p.dot(away) + need);
    }
    distance = Math.max(distance, 1e-6 * this.reach);
    this.camera.position.copy(target).addScaledVector(away, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance + 40 * this.reach;
    this.controls.minDistance = distance / 100;
    this.controls.maxDistance = distance + 20 * this.reach;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.update();
    this.draw();
  }

  /** Turns, moves or zooms by a key; false if the key means nothing here. */
  key(event: KeyboardEvent): boolean {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const right = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const above = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    const arrows: Record<string, [number, number]> = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) {
      const step = 0.04 * offset.length();
      this.controls.target.addScaledVector(right, arrow[0] * step).addScaledVector(above, arrow[1] * step);
    } else if (arrow) {
      offset.applyAxisAngle(this.up, arrow[0] * 0.12);
      const polar = offset.angleTo(this.up);
      if (polar - 0.1 * arrow[1] > 0.05 && polar - 0.1 * arrow[1] < 3.09) offset.applyAxisAngle(right, -0.1 * arrow[1]);
    } else if (event.key === "+" || event.key === "=") offset.multiplyScalar(0.88);
    else if (event.key === "-") offset.multiplyScalar(1 / 0.88);
    else if (event.key === "f" || event.key === "F") {
      this.fit();
      return true;
    } else return false;
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.draw();
    return true;
  }

  private listen() {
    let down: [number, number] | null = null;
    this.canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    this.canvas.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4) this.onPick(this.pick(event));
      down = null;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons) this.onHover(this.pick(event));
    });
    this.canvas.addEventListener("pointerleave", () => this.onHover(null));
    this.canvas.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event)) event.preventDefault();
    });
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement!);
    this.resize();
  }

  private pick(event: PointerEvent): number | null {
    const box = this.canvas.getBoundingClientRect();
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2), this.camera);
    const [hit] = caster.intersectObjects([...this.batches.map((batch) => batch.mesh), ...this.beams.group.children, ...this.meshes.group.children], false);
    const line = this.beams.lines.find(({mesh}) => mesh === hit?.object);
    if (line) {
      const body = line.beam.stations[line.stationOf(hit.face!.a)][0];
      if (body >= 0) return body;
    }
    const part = this.meshes.parts.find(({mesh}) => mesh === hit?.object);
    if (part) return part.body.body;
    if (hit?.instanceId !== undefined) {
      const {body} = this.batches.find((batch) => batch.mesh === hit.object)!.parts[hit.instanceId];
      if (body >= 0) return body;
    }
    return this.nearest(event.clientX - box.left, event.clientY - box.top, box);
  }

  /** The body whose centre is seen within some pixels of a point: many are too thin to be hit. */
  private nearest(x: number, y: number, {width, height}: DOMRect): number | null {
    const p = new Vector3();
    let [best, least]: [number | null, number] = [null, 12];
    for (let body = 0; body < this.bodies.length - 1; body++) {
      p.setFromMatrixPosition(this.bodies[body]).project(this.camera);
      const far = Math.hypot(((p.x + 1) / 2) * width - x, ((1 - p.y) / 2) * height - y);
      if (far < least && p.z < 1) [best, least] = [body, far];
    }
    return best;
  }

  private resize() {
    const {clientWidth, clientHeight} = this.canvas.parentElement!;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.skeleton?.resize(clientWidth, clientHeight);
    for (const trace of this.traces.values()) trace.resize(clientWidth, clientHeight);
    const first = this.camera.aspect === 1;
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    if (first && this.run.length > 0) this.fit();
    this.draw();
  }

  paint(theme: Theme) {
    this.stage.background = new Color(theme.stage);
    this.ink.color.set(theme.ink);
    this.theme = theme;
    this.springs.paint(theme);
    this.ground.paint(theme);
    this.grid.paint(theme);
    this.sun.intensity = theme.dark ? 1.6 : 1.8;
    this.sky.intensity = theme.dark ? 1.5 : 2;
    this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.renderer.render(this.stage, this.camera);
      const {clientWidth, clientHeight} = this.canvas.parentElement!;
      this.names.update(this.shown.names, this.camera, clientWidth, clientHeight);
      this.onTurn(this.camera);
    });
  }

  /** Side of a cell of the grid [m]. */
  get cell(): number {
    return this.grid.cell;
  }
}
