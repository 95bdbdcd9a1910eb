// What is worth seeing first: a few plots of what moves, each of one unit and of one kind of channel.
//
// Kinds come in this order: where a machine goes that travels, coordinates of joints, signals, forces, reactions, deformations, motion of
// bodies. A plot has channels whose ranges are like that of the widest, so none is a straight line beside the others. All of it
// is found from least and greatest values, in time linear in the number of channels; what is not known yet, in the values.

import type {Channel, Data} from "./data";
import type {Travel} from "./travel";

export interface FirstPlot {
  title: string;
  channels: Channel[];
  x?: Channel;
}

const MOST_PLOTS = 4;
const MOST_CURVES = 6;
const ROUND_OFF = 1e-8; // of the largest value of a unit
const ALIKE = 30; // ranges in one plot
const FARTHEST = 4; // a plot's scale, in ranges of its widest curve

interface Kind {
  title: string;
  pattern: RegExp; // if it has a group, channels of one plot agree in it
  seen?: boolean; // how bodies move, which the animation shows, too: only where there are no two plots of more
}

const KINDS: Kind[] = [
  {title: "Joint angles", pattern: /^joints\..*\.angle(?:\.[xyz])?$/},
  {title: "Joint displacements", pattern: /^joints\..*\.displacement(?:\.[xyz])?$/},
  {title: "Joint rotations", pattern: /^(joints\..*\.rotation)\.[xyz]$/},
  {title: "Signals", pattern: /^blocks\./},
  {title: "Forces", pattern: /^forces\..*\.(?:tension|drive|moment)$/},
  {title: "Force", pattern: /^(forces\..*\.(?:force|torque))\.[xyz]$/},
  {title: "Reaction", pattern: /^(joints\..*\.(?:force|torque))\.[xyz]$/},
  {title: "Drives", pattern: /^joints\..*\.drive$/},
  {title: "Deflection", pattern: /^((?:beams|flexible)\..*\.deflection)\.[xyz]$/},
  {title: "Velocity", pattern: /^(bodies\..*\.velocity)\.[xyz]$/, seen: true},
  {title: "Position", pattern: /^(frames\..*\.position)\.[xyz]$/, seen: true},
  {title: "Position", pattern: /^(bodies\..*\.position)\.[xyz]$/, seen: true},
  {title: "Roll, pitch, yaw", pattern: /^(bodies\..*\.roll_pitch_yaw)\.[xyz]$/, seen: true},
  {title: "Angular velocity", pattern: /^(bodies\..*\.angular_velocity)\.[xyz]$/, seen: true},
  {title: "Acceleration", pattern: /^(bodies\..*\.acceleration)\.[xyz]$/, seen: true},
  {title: "Elastic coordinates", pattern: /^(flexible\..*)\.z\d+\.value$/},
  {title: "Orientation", pattern: /^(bodies\..*\.quaternion)\.[wxyz]$/, seen: true},
];
/** Of a machine that travels these of its main body come first. */
const ON_THE_WAY = ["velocity", "roll_pitch_yaw", "angular_velocity", "acceleration"];

const range = ({min, max}: Channel) => max - min; // NaN where it has no numbers

/** Whether a channel changes by more than round-off and than its estimated error. */
export function movers(data: Data): (channel: Channel) => boolean {
  const largest = new Map<string, number>(); // of all channels of a unit
  for (const {unit, min, max} of data.channels) {
    const size = Math.max(Math.abs(min), Math.abs(max));
    if (size > (largest.get(unit) ?? 0)) largest.set(unit, size);
  }
  return (channel) => {
    const way = range(data.known(channel));
    return way > ROUND_OFF * (largest.get(channel.unit) ?? 0) && !(way <= 2 * channel.error);
  };
}

/** Those whose ranges are like that of the widest and that lie near it, so that all are seen to move; in the order in which they came. */
function alike(channels: Channel[], most: number): Channel[] {
  const wide = channels.slice().sort((a, b) => range(b) - range(a));
  if (wide.length === 0) return [];
  const chosen = new Set<Channel>();
  let {min, max} = wide[0];
  for (const channel of wide) {
    const [low, high] = [Math.min(min, channel.min), Math.max(max, channel.max)];
    if (chosen.size === most || range(channel) * ALIKE < range(wide[0]) || high - low > FARTHEST * range(wide[0])) continue;
    chosen.add(channel);
    [min, max] = [low, high];
  }
  return channels.filter((channel) => chosen.has(channel));
}

/** The plot of one kind: of the thing and unit of the channel that goes farthest. */
function plotOf(kind: Kind, moving: Channel[], prefer: string): FirstPlot | null {
  const found = moving.filter(({name}) => kind.pattern.test(name));
  if (found.length === 0) return null;
  const stem = ({name}: Channel) => kind.pattern.exec(name)![1];
  const own = found.filter(({name}) => prefer !== "" && name.startsWith(prefer));
  const widest = (own.length > 0 ? own : found).reduce((best, channel) => (range(channel) > range(best) ? channel : best));
  const group = found.filter((channel) => channel.unit === widest.unit && stem(channel) === stem(widest));
  const channels = alike(group, MOST_CURVES);
  const of = stem(widest)?.replace(/^[^.]*\./, "").replace(/\.[^.]*$/, "");
  const title = kind.title === "Reaction" && /\.torque/.test(widest.name) ? "Reaction torque" : kind.title;
  return {title: of && !/^\d*$/.test(of) ? `${title} of ${of}` : title, channels};
}

/** The way seen from above, and how the main body moves. */
function onTheWay(data: Data, travel: Travel, moves: (channel: Channel) => boolean): FirstPlot[] {
  const {name} = data.raw.scene.bodies[travel.body];
  const get = (part: string) => data.byName.get(`bodies.${name}.${part}`);
  const plots: FirstPlot[] = [];
  const level = ["x", "y", "z"].filter((_, i) => Math.abs(data.raw.scene.gravity[i]) <= 1e-6 * Math.hypot(...data.raw.scene.gravity));
  const places = level.map((axis) => get(`position.${axis}`)).filter((channel) => channel !== undefined && moves(channel)) as Channel[];
  places.sort((a, b) => range(b) - range(a));
  const [along, aside] = places;
  if (aside && range(aside) > 1e-4 * range(along)) plots.push({title: `Path of ${name}`, channels: [aside], x: along});
  else if (along) plots.push({title: `Position of ${name}`, channels: [along]});
  for (const part of ON_THE_WAY) {
    const channels = ["x", "y", "z"].map((axis) => get(`${part}.${axis}`)).filter((channel) => channel !== undefined && moves(channel)) as Channel[];
    const shown = alike(channels, 3);
    if (shown.length > 0 && plots.length < 3) plots.push({title: `${part.replace(/_/g, " ").replace(/^./, (c) => c.toUpperCase())} of ${name}`, channels: shown});
  }
  return plots;
}

export function firstPlots(data: Data, travel: Travel | null): FirstPlot[] {
  const moves = movers(data);
  const {joints} = data.raw.scene;
  // Where the ground holds what travels, its joints say once more how far that is.
  const told = new Set(travel ? joints.filter((joint) => joint.bodies.includes(-1)).map(({name}) => `joints.${name}.displacement`) : []);
  const moving = data.channels.filter((channel) => moves(channel) && !told.has(channel.name.replace(/\.[xyz]$/, "")));
  const plots = travel ? onTheWay(data, travel, moves) : [];
  const {bodies} = data.raw.scene;
  const prefer = travel ? `bodies.${bodies[travel.body].name}.` : "";
  for (const kind of KINDS) {
    if (plots.length === MOST_PLOTS) break;
    if (kind.seen && plots.length >= 2) continue;
    const plot = plotOf(kind, moving, prefer);
    if (plot && !plots.some(({channels}) => plot.channels.every((channel) => channels.includes(channel)))) plots.push(plot);
  }
  return plots;
}
