// Pages of a few machines whose motion is known in closed form, made without alphastep: to work on the page and to test it.
// usage: node fixtures.mjs [FOLDER]     (default: ../build/web; reads report.html there, writes NAME.html)

import {mkdirSync, readFileSync, realpathSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {deflateSync} from "node:zlib";

// ---- how the data is written -----------------------------------------------------------------------

export function pack(values, type = "f32") {
  const typed = {f32: Float32Array, f64: Float64Array, u32: Uint32Array}[type].from(values);
  const bytes = deflateSync(Buffer.from(typed.buffer));
  return {type, n: typed.length, deflate: true, base64: bytes.toString("base64")};
}

const escapeHtml = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const escapeJson = (text) =>
  text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The page of a run: the template with its title and data. */
export function fill(template, data) {
  const element = `<script type="application/json" id="alphastep-data">${escapeJson(JSON.stringify(data))}</script>`;
  return template
    .replace("<!--alphastep-title-->", () => escapeHtml(data.title))
    .replace("<!--alphastep-data-->", () => element);
}

/** A channel with its extremes: all rows are known, every `skip`-th is in the page. */
function channel(name, unit, time, values, skip, buckets = 500) {
  const rows = values.length;
  const best = (better) => values.reduce((at, value, i) => (better(value, values[at]) ? i : at), 0);
  const low = best((a, b) => a < b);
  const high = best((a, b) => a > b);
  if (values[low] === values[high]) return {name, unit, min: values[low], tmin: time[0], max: values[low], tmax: time[0], constant: true};
  const result = {
    name, unit, min: values[low], tmin: time[low], max: values[high], tmax: time[high],
    values: pack(values.filter((_, i) => i % skip === 0 || i === rows - 1)),
  };
  if (skip === 1) return result;
  const picked = [];
  for (let k = 0; k < buckets; k++) {
    const begin = Math.floor((k * rows) / buckets);
    const end = Math.floor(((k + 1) * rows) / buckets);
    let a = begin;
    let b = begin;
    for (let i = begin; i < end; i++) {
      if (values[i] < values[a]) a = i;
      if (values[i] > values[b]) b = i;
    }
    picked.push(...new Set([Math.min(a, b), Math.max(a, b)]));
  }
  result.extremes = {t: pack(picked.map((i) => time[i]), "f64"), value: pack(picked.map((i) => values[i]))};
  return result;
}

/** The data of a run: `pose(t)` gives 7 numbers for each body, `channels(t)` {"name [unit]": value}. */
function page({title, description = null, scene, t0 = 0, t1, rows, skip = 1, pose, channels, events = [], complete = true, summary = {}, model}) {
  const all = Array.from({length: rows}, (_, i) => t0 + ((t1 - t0) * i) / Math.max(1, rows - 1));
  const time = all.filter((_, i) => i % skip === 0 || i === rows - 1);
  const table = all.map(channels);
  const names = Object.keys(table[0]);
  return {
    format: 1, version: "0.1.0", title, description, complete,
    summary: {
      status: complete ? "done" : "stopped", message: "", version: "0.1.0", model: "model.yaml", title,
      options: {method: "index2", rho_inf: 0.8, step: null, rtol: 1e-5, min_step: 0, max_step: null, t_end: t1, max_steps: 0, interval: 0.01},
      machine: {bodies: scene.bodies.length, joints: scene.joints.length, forces: scene.forces.length, degrees_of_freedom: 1, redundant_rows: 0, gap: 1e-15},
      t: t1, rows, channels: names.length, largest: {"energy.balance": 1e-3, "drift.position": 1e-12, "drift.velocity": 1e-9},
      statistics: {steps: 453, failed_steps: 0, rejected_steps: 47, newton_iterations: 1377, factorizations: 184, solves: 1736, force_evaluations: 1385, jacobian_evaluations: 175, last_step: 0.01, position_drift: 1e-13, velocity_drift: 6e-10},
      seconds: 0.1333, ...summary,
    },
    model: [{path: "model.yaml", text: model ?? `alphastep: 1\ntitle: ${title}\n`}],
    scene: {size: 1, gravity: [0, 0, -9.81], shapes: [], frames: [], ...scene},
    rows, frames: time.length, time: pack(time, "f64"), poses: pack(time.flatMap((t) => pose(t).flat())),
    channels: names.map((name) => {
      const [, plain, unit] = /^(.*) \[(.*)\]$/.exec(name);
      return channel(plain, unit, all, table.map((row) => row[name]), skip);
    }),
    events,
  };
}

// ---- motions ---------------------------------------------------------------------------------------

const times = ([aw, ax, ay, az], [bw, bx, by, bz]) => [
  aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
  aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw,
];
const turn = (axis, angle) => [Math.cos(angle / 2), ...axis.map((x) => x * Math.sin(angle / 2))];
const apply = (q, v) => times(times(q, [0, ...v]), [q[0], -q[1], -q[2], -q[3]]).slice(1);
const X = [1, 0, 0];
const Y = [0, 1, 0];
const Z = [0, 0, 1];
const unit = [1, 0, 0, 0];
const rod = (m, l) => [1e-3 * m * l * l, (m * l * l) / 12, (m * l * l) / 12, 0, 0, 0];

/** A top that precesses steadily; drawn from its inertia. */
function top() {
  const q = (t) => times(times(turn(Z, 1.2 * t), turn(X, -0.35 - 0.05 * Math.cos(6 * t))), turn(Z, 40 * t));
  const at = (t) => apply(q(t), [0, 0, 1]);
  return page({
    title: "Heavy top", description: "A spinning top on a ball joint that goes round under its weight.",
    t1: 6, rows: 601,
    scene: {
      size: 1.2, bodies: [{name: "top", mass: 15, inertia: [0.8, 0.8, 1.4, 0, 0, 0], point: false}],
      frames: [{name: "centre", body: 0, position: [0, 0, 0], quaternion: unit}],
      joints: [{name: "tip", kind: "spherical", bodies: [-1, 0], points: [[0, 0, 0], [0, 0, -1]], axis: Z}], forces: [],
    },
    pose: (t) => [[...at(t), ...q(t)]],
    channels: (t) => ({
      "joints.tip.force.x [N]": 10 * Math.cos(1.2 * t), "joints.tip.force.y [N]": 10 * Math.sin(1.2 * t), "joints.tip.force.z [N]": 147 + 4 * Math.cos(6 * t),
      "energy.kinetic [J]": 900 + Math.sin(6 * t), "energy.potential [J]": 147 * at(t)[2], "energy.balance [J]": 1e-3 * Math.sin(t) * t,
      "drift.position [m]": 1e-13 * (1.1 + Math.sin(9 * t)), "drift.velocity [m/s]": 1e-9 * (1.1 + Math.cos(9 * t)), "solver.h [s]": 0.004 * (1.5 + Math.sin(t)),
    }),
  });
}

/** A four-bar linkage in the plane x, z, driven at the crank, with a spring. */
function fourBar() {
  const [a, b, c, d] = [0.3, 0.9, 0.7, 0.8];
  const solve = (t) => {
    const crank = 2 * t;
    const p = [a * Math.cos(crank), a * Math.sin(crank)];
    const [ex, ez] = [d - p[0], -p[1]];
    const e = Math.hypot(ex, ez);
    const coupler = Math.atan2(ez, ex) + Math.acos((b * b + e * e - c * c) / (2 * b * e));
    const k = [p[0] + b * Math.cos(coupler), p[1] + b * Math.sin(coupler)];
    return {crank, coupler, rocker: Math.atan2(k[1], k[0] - d), p, k};
  };
  const bar = (x0, z0, l, angle) => [x0 + (l / 2) * Math.cos(angle), 0, z0 + (l / 2) * Math.sin(angle), ...turn(Y, -angle)];
  const joint = (name, bodies, points) => ({name, kind: "revolute", bodies, points, axis: Y});
  return page({
    title: "Four-bar linkage", t1: 6.28, rows: 401,
    scene: {
      size: 1.3,
      bodies: [["crank", 1, a], ["coupler", 3, b], ["rocker", 2, c]].map(([name, m, l]) => ({name, mass: m, inertia: rod(m, l), point: false})),
      frames: [{name: "coupler point", body: 1, position: [0, 0, 0.35], quaternion: unit}],
      joints: [
        joint("crank pin", [-1, 0], [[0, 0, 0], [-a / 2, 0, 0]]), joint("elbow", [0, 1], [[a / 2, 0, 0], [-b / 2, 0, 0]]),
        joint("knee", [1, 2], [[b / 2, 0, 0], [c / 2, 0, 0]]), joint("rocker pin", [-1, 2], [[d, 0, 0], [-c / 2, 0, 0]]),
      ],
      forces: [{name: "return spring", kind: "spring", bodies: [-1, 2], points: [[1.4, 0, 0.3], [0.1, 0, 0]]}],
    },
    pose: (t) => {
      const s = solve(t);
      return [bar(0, 0, a, s.crank), bar(...s.p, b, s.coupler), bar(d, 0, c, s.rocker)];
    },
    channels: (t) => {
      const s = solve(t);
      return {
        "joints.crank pin.angle [rad]": s.crank, "joints.rocker pin.angle [rad]": s.rocker,
        "joints.knee.force.x [N]": 40 * Math.sin(2 * t), "joints.knee.force.y [N]": 0, "joints.knee.force.z [N]": 25 * Math.cos(4 * t),
        "forces.return spring.force.x [N]": 30 + 5 * Math.cos(2 * t), "forces.return spring.force.y [N]": 0, "forces.return spring.force.z [N]": 5 * Math.sin(2 * t),
        "energy.balance [J]": 1e-5 * Math.sin(t),
      };
    },
  });
}

/** Links in a row that swing like a rope; too many to be drawn one by one. */
function chain(n = 1000) {
  const poses = (t) => {
    const result = [];
    let [x, z] = [0, 0];
    for (let i = 0; i < n; i++) {
      const angle = 0.9 * Math.sin(2 * t - (6 * i) / n) * Math.sqrt((i + 1) / n) - Math.PI / 2 + 0.4;
      result.push([x + 0.5 * Math.cos(angle), 0, z + 0.5 * Math.sin(angle), ...turn(Y, -angle)]);
      x += Math.cos(angle);
      z += Math.sin(angle);
    }
    return result;
  };
  return page({
    title: `Chain of ${n} links`, t1: 10, rows: 201,
    scene: {
      size: n,
      bodies: Array.from({length: n}, (_, i) => ({name: `link ${i + 1}`, mass: 1, inertia: rod(1, 1), point: false})),
      joints: Array.from({length: n}, (_, i) => ({name: `ball ${i + 1}`, kind: "spherical", bodies: [i - 1, i], points: [i ? [0.5, 0, 0] : [0, 0, 0], [-0.5, 0, 0]], axis: Z})),
      forces: [],
    },
    pose: poses,
    channels: (t) => ({"energy.balance [J]": Math.sin(t), "drift.position [m]": 1e-12 * (1 + Math.sin(t) ** 2)}),
  });
}

/** Every shape, every kind of joint, forces, events, rows that were left out and names that try to be more than text. */
function zoo() {
  const kinds = ["box", "sphere", "cylinder", "capsule", "polyline", "mesh", "none", "point"];
  const joints = ["revolute", "prismatic", "spherical", "universal", "cylindrical", "fixed", "planar", "distance"];
  const corners = [[0, 0, 0.2], [0.2, 0, -0.1], [-0.1, 0.17, -0.1], [-0.1, -0.17, -0.1]];
  const shape = (kind, body) => {
    const all = {
      box: {size: [0.4, 0.2, 0.3]}, sphere: {radius: 0.18}, cylinder: {radius: 0.1, length: 0.4}, capsule: {radius: 0.1, length: 0.3},
      polyline: {points: [[-0.2, 0, -0.1], [0, 0.1, 0.2], [0.2, 0, 0], [0.2, 0.2, 0.2]], radius: 0.02},
      mesh: {triangles: pack([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]].flat().flatMap((i) => corners[i])), color: [0.8, 0.5, 0.1, 0.6]},
    };
    return {body, kind, position: [0, 0, 0], quaternion: unit, color: null, ...all[kind]};
  };
  const height = (i, t) => 0.6 + 0.25 * Math.sin(2 * t + i);
  const spike = (t) => (Math.abs(t - 3.3333) < 0.0006 ? 50 : Math.sin(2 * t));
  const img = "<img src=x onerror=document.title='broken'>";
  return page({
    title: `</script>${img}`, description: "Everything that the page can draw & <b>more</b>.",
    t1: 8, rows: 8001, skip: 20, complete: false,
    summary: {status: "failed", message: "Newton did not converge at t = 8 s, joint \"knee\": |r| = 0.31 > 1e-08 after 10 iterations", warnings: [`The body ${img} touches nothing.`]},
    model: `alphastep: 1\ntitle: "</script>${img}"\nbodies:\n  "${img}": {mass: 1}\n`,
    scene: {
      size: 4,
      bodies: kinds.map((kind, i) => ({name: i === 0 ? img : kind, mass: 2, inertia: [0.02, 0.03, 0.04, 0.005, 0, 0], point: kind === "point"})),
      shapes: [
        ...kinds.slice(0, 6).map(shape),
        {body: -1, kind: "box", position: [1.75, 0, -0.05], quaternion: unit, size: [5, 1.6, 0.1], color: [0.7, 0.7, 0.72, 1]},
      ],
      frames: [{name: `tip ${img}`, body: 0, position: [0.2, 0.1, 0.15], quaternion: unit}],
      joints: joints.map((kind, i) => ({name: `joint ${kind}`, kind, bodies: [-1, i], points: [[i / 2, 0, 0.1], [0, 0, -0.3]], axis: i % 2 ? Z : Y})),
      forces: [
        {name: "spring", kind: "spring", bodies: [-1, 1], points: [[0.5, 0, 1.6], [0, 0, 0.18]]},
        {name: "push", kind: "load", bodies: [0], points: [[0, 0, 0.15]]},
        {name: "touch", kind: "contact", bodies: [-1, 2], points: [[1, 0, 0], [0, 0, -0.2]]},
        {name: "twist", kind: "torsion", bodies: [-1, 3], points: [[1.5, 0, 0.1], [0, 0, -0.3]], axis: Y},
        {name: "drive", kind: "motor", bodies: [0, 4], points: [[0, 0, 0.2], [0, 0, 0.2]], axis: X},
        {name: "mount", kind: "bushing", bodies: [-1, 5], points: [[2.5, 0, 0.1], [0, 0, -0.3]], axis: Z},
      ],
      switches: [{event: "impact", joint: 7, active: false}, {event: `late ${img}`, joint: 7, active: true}],
    },
    pose: (t) => kinds.map((_, i) => [i / 2, 0, height(i, t), ...turn(i % 2 ? Z : Y, t)]),
    channels: (t) => ({
      [`bodies.${img}.velocity.z [m/s]`]: 0.5 * Math.cos(2 * t), "joints.joint revolute.angle [rad]": t,
      "joints.joint prismatic.displacement [m]": height(1, t), "joints.joint prismatic.displacement_rate [m/s]": 0.5 * Math.cos(2 * t + 1),
      "forces.push.force.x [N]": spike(t), "forces.push.force.y [N]": 0, "forces.push.force.z [N]": 3,
      "forces.spring.tension [N]": 2, "forces.twist.moment [N m]": 3, "forces.drive.drive [N m]": -4, "joints.joint fixed.torque.x [N m]": 0,
      "joints.joint fixed.torque.y [N m]": 0, "joints.joint fixed.torque.z [N m]": t, "joints.joint spherical.force.x [N]": 1, "joints.joint spherical.force.y [N]": Math.sin(t), "joints.joint spherical.force.z [N]": 9,
      "energy.kinetic [J]": 1 + Math.cos(2 * t) ** 2, "energy.potential [J]": 20 * height(0, t), "energy.balance [J]": 1e-4 * t,
      "drift.position [m]": 1e-13 * (1 + t), "solver.h [s]": t < 3.3 ? 0.01 : 0.002, "events.impact.time [s]": t < 3.3333 ? NaN : 3.3333,
    }),
    events: [{t: 3.3333, name: "impact", text: `of ${img}`}, {t: 5, name: `late ${img}`}],
  });
}

/** A car on its way, known in closed form: a wide sine to the side; with a road, cones, curves that coincide, and what only trembles. */
function car() {
  const [v, r, T] = [20, 0.3, 5];
  const y = (t) => 1.75 * (1 - Math.cos((2 * Math.PI * t) / T));
  const rate = (t) => ((1.75 * 2 * Math.PI) / T) * Math.sin((2 * Math.PI * t) / T);
  const heading = (t) => Math.atan2(rate(t), v);
  const wheels = [["front left", 1.3, 0.75], ["front right", 1.3, -0.75], ["rear left", -1.3, 0.75], ["rear right", -1.3, -0.75]];
  const upright = turn(X, -Math.PI / 2); // z of a wheel's shape along y
  const cone = (i) => ({body: -1, kind: "cone", position: [10 + 8 * i, 1.75, 0.3], quaternion: unit, radius: 0.2, top: 0.03, length: 0.6, color: [0.95, 0.4, 0.1, 1]});
  const strip = (offset, width, more) => ({body: -1, kind: "strip", position: [0, offset, 0], quaternion: unit, points: [[-20, 0, 0], [140, 0, 0]], width, ...more});
  return page({
    title: "Lane change of a car with a rather long name: an_unbroken_identifier_that_goes_on_and_on_and_on", t1: T, rows: 501,
    summary: {model: "vehicles/passenger_car_of_the_year.double_lane_change_and_back_again.model.yaml"},
    scene: {
      size: 4.2,
      bodies: [
        {name: "chassis", mass: 1400, inertia: [500, 2200, 2400, 0, 0, 0], point: false},
        ...wheels.map(([name]) => ({name: `wheel ${name}`, mass: 20, inertia: [0.5, 0.9, 0.5, 0, 0, 0], point: false})),
      ],
      shapes: [
        {body: 0, kind: "box", position: [0, 0, 0], quaternion: unit, size: [4.2, 1.6, 0.5], color: [0.7, 0.2, 0.15, 1]},
        ...wheels.map((_, i) => ({body: i + 1, kind: "wheel", position: [0, 0, 0], quaternion: upright, radius: r, length: 0.2, color: null})),
        strip(1.75, 8, {color: [0.36, 0.37, 0.39, 1]}), strip(1.75, 0.12, {color: [1, 1, 1, 1], dash: [3, 6]}), ...Array.from({length: 10}, (_, i) => cone(i)),
      ],
      joints: wheels.map(([name, x, at], i) => ({name: `hub ${name}`, kind: "revolute", bodies: [0, i + 1], points: [[x, at, -0.2], [0, 0, 0]], axis: Y})), forces: [],
    },
    pose: (t) => {
      const [q, place] = [turn(Z, heading(t)), [v * t, y(t), 0.5]];
      const corner = (x, at) => apply(q, [x, at, -0.2]).map((part, k) => place[k] + part);
      return [[...place, ...q], ...wheels.map(([, x, at]) => [...corner(x, at), ...times(q, turn(Y, (v / r) * t))])];
    },
    channels: (t) => ({
      "bodies.chassis.position.x [m]": v * t, "bodies.chassis.position.y [m]": y(t), "bodies.chassis.position.z [m]": 0.5 + 1e-12 * Math.sin(90 * t),
      "bodies.chassis.velocity.x [m/s]": v + 1e-13 * Math.sin(70 * t), "bodies.chassis.velocity.y [m/s]": rate(t), "bodies.chassis.velocity.z [m/s]": 1e-14 * Math.sin(80 * t),
      ...Object.fromEntries(wheels.map(([name], i) => [`joints.hub ${name}.angle [rad]`, (v / r) * t + (i === 3 ? 40 : 0)])), "joints.steer.angle [rad]": 1e-11 * Math.sin(t),
      "forces.damper front left.tension [N]": 2000 + 500 * Math.sin(3 * t), "forces.damper front right.tension [N]": 2000 - 500 * Math.sin(3 * t),
      "blocks.idle [V]": 3, "blocks.hum [V]": 3 + 2e-9 * Math.sin(50 * t), "drift.position [m]": 3e-13 * (1 + 0.3 * Math.sin(9 * t)), "solver.h [s]": 0.011 + 0.003 * Math.sin(t),
    }),
  });
}

/** Wheels that turn on the spot: what is seen of that are the marks on them. */
function spinners() {
  const shapes = ["wheel", "cylinder"].map((kind, body) => ({body, kind, position: [0, 0, 0], quaternion: unit, radius: 0.5, length: 0.2, color: null}));
  return page({
    title: "Spinners", t1: 1, rows: 101,
    scene: {size: 2, shapes, bodies: shapes.map(({kind}) => ({name: kind, mass: 1, inertia: [1, 1, 2, 0, 0, 0], point: false})), joints: [], forces: []},
    pose: (t) => [0, 1.5].map((x) => [x, 0, 0.5, ...times(turn(X, 0.8), turn(Z, t))]), channels: (t) => ({"energy.balance [J]": t}),
  });
}

/** A run that failed at once: one row, bodies without shape, one of them nowhere, channels without values. */
function moment() {
  return page({
    title: "A moment", t1: 0, rows: 1, complete: false, summary: {status: "failed", message: "No step could be made."},
    scene: {size: 0, gravity: [0, 0, 0], bodies: ["speck", "gone"].map((name) => ({name, mass: 0, inertia: [0, 0, 0, 0, 0, 0], point: false})), joints: [], forces: []},
    pose: () => [[0, 0, 0, ...unit], [NaN, NaN, NaN, ...unit]],
    channels: () => ({"energy.kinetic [J]": 0, "energy.balance [J]": NaN, "drift.position [m]": 0, "solver.h [s]": NaN}),
  });
}

/** Nothing but the ground. */
function nothing() {
  return page({
    title: "Nothing", t1: 1, rows: 3, scene: {size: 1, bodies: [], joints: [], forces: []}, pose: () => [], channels: (t) => ({"energy.work [J]": t}),
  });
}

export const machines = {car, spinners, top, "four-bar": fourBar, chain, zoo, moment, nothing};

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "../build/web");
  const template = readFileSync(join(folder, "report.html"), "utf8");
  mkdirSync(folder, {recursive: true});
  for (const [name, make] of Object.entries(machines)) writeFileSync(join(folder, `${name}.html`), fill(template, make()));
}
