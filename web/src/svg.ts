// A plot as a picture: an SVG file written from the data.

import {format, label, pretty} from "./format";

export interface Line {
  name: string;
  unit: string;
  color: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  band?: ArrayLike<number> | null; // half the height of a band about it
  dash?: number[] | undefined; // lengths of dashes and gaps; none: a full line
}

export interface Picture {
  title: string;
  x: {name: string; unit: string; range: [number, number]};
  log: boolean;
  lines: Line[];
  ranges: Map<string, [number, number]>; // by unit
  marks: {x: number; name: string}[];
  colors: {text: string; muted: string; line: string; paper: string};
}

const escape = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const FEWEST = 3; // ticks of an axis

/** Round numbers across a range, at least three of them. */
export function ticks(low: number, high: number, about: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  if (span < 1e-13 * Math.max(Math.abs(low), Math.abs(high))) return [low, high]; // there are no round ones
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  let result: number[] = [];
  for (const digit of [10, 5, 2, 1, 0.5]) {
    const step = digit * power;
    if (step < 0.999 * rough && result.length >= FEWEST) break;
    const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
    result = Array.from({length: Math.max(0, last - first + 1)}, (_, i) => Number(((first + i) * step).toPrecision(15)));
  }
  return result;
}

/** Powers of ten across a range; where there are few of them, simple multiples too, or round numbers: at least three ticks. */
export function logTicks(low: number, high: number): number[] {
  if (!(low > 0) || !(high > low)) return [low];
  const [a, b] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const skip = Math.max(1, Math.ceil((b - a) / 8));
  const of = (digits: number[]) => {
    const result: number[] = [];
    for (let power = Math.ceil(a / skip) * skip; power <= b; power += skip)
      for (const digit of digits) result.push(Number(`${digit}e${power}`));
    return result.filter((tick) => tick >= low && tick <= high);
  };
  const choices = [...(b - a <= 3 ? [[1, 2, 5]] : [[1], [1, 2, 5]]), [1, 2, 3, 4, 5, 6, 7, 8, 9]];
  for (const digits of choices) {
    const found = of(digits);
    if (found.length >= FEWEST) return found;
  }
  return ticks(low, high, 4);
}

/** The ticks' texts: as many digits as tell neighbours apart. */
export function tickTexts(at: number[]): string[] {
  const largest = Math.max(...at.map(Math.abs));
  const least = at.slice(1).reduce((gap, value, i) => Math.min(gap, value - at[i]), Infinity);
  const digits = Math.min(15, Math.max(6, Math.ceil(Math.log10(largest / least)) + 2));
  return at.map((value) => format(value, Number.isFinite(digits) ? digits : 6));
}

/** A curve's point and how far the band about it reaches; on a logarithmic scale not below a thousandth of the point. */
export function bandAt({y, band}: Line, i: number, log: boolean): [number, number] {
  const half = band && Number.isFinite(band[i]) ? band[i] : 0;
  return [log ? Math.max(y[i] - half, 1e-3 * y[i]) : y[i] - half, y[i] + half];
}

/** The pieces of a curve that have a band: from the first, up to before the second number. */
export function bandPieces({x, y, band}: Line, log: boolean): [number, number][] {
  const pieces: [number, number][] = [];
  const there = (i: number) => Number.isFinite(band![i]) && Number.isFinite(x[i]) && Number.isFinite(y[i]) && (!log || y[i] > 0);
  for (let i = 0; band && i < y.length; i++) {
    if (!there(i)) continue;
    const first = i;
    while (i < y.length && there(i)) i++;
    pieces.push([first, i]);
  }
  return pieces;
}

const DECADES = 1e-9; // what is smaller beside the largest is next to nothing

/** The range of what lies between x[0] and x[1], with a little air; on a logarithmic scale of what is above zero. */
export function range(lines: Line[], x: [number, number], log: boolean): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines)
    for (let i = 0; i < line.y.length; i++) {
      const y = line.y[i];
      if (!(line.x[i] >= x[0] && line.x[i] <= x[1]) || !Number.isFinite(y) || (log && y <= 0)) continue;
      const [below, above] = bandAt(line, i, log);
      if (below < low) low = below;
      if (above > high) high = above;
    }
  if (low > high) return log ? [0.1, 1] : [0, 1];
  if (log) return low === high ? [low / 2, high * 2] : [Math.max(low, DECADES * high) / 1.3, high * 1.3];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const air = high - low > 1e-12 * size ? 0.06 * (high - low) : size * 0.1 || 1; // a change by round-off is none
  return [low - air, high + air];
}

export function svg(picture: Picture, width = 760, height = 420): string {
  const {x, log, lines, colors} = picture;
  const units = [...new Set(lines.map((line) => line.unit))];
  const left = 70;
  const right = 20 + 62 * Math.max(0, units.length - 1);
  const top = 40 + 18 * lines.length;
  const bottom = 46;
  const [w, h] = [width - left - right, height - bottom - top + 18 * lines.length];
  height = top + h + bottom;
  const out: string[] = [];
  const px = (value: number) => left + ((value - x.range[0]) / (x.range[1] - x.range[0])) * w;
  const text = (at: number, y: number, words: string, more = "") => out.push(`<text x="${at.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escape(words)}</text>`);
  const rule = (x1: number, y1: number, x2: number, y2: number, look = `stroke="${colors.line}"`) =>
    out.push(`<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" ${look}/>`);
  text(left, 22, picture.title, `font-size="14" font-weight="600" fill="${colors.text}"`);
  lines.forEach((line, i) => {
    const y = 40 + 18 * i;
    out.push(`<line x1="${left}" y1="${y - 4}" x2="${left + 18}" y2="${y - 4}" stroke="${line.color}" stroke-width="2"${dashes(line)}/>`);
    text(left + 24, y, label(line.name, line.unit), `fill="${colors.text}"`);
  });
  const xTicks = ticks(x.range[0], x.range[1], 8);
  xTicks.forEach((tick, i) => {
    rule(px(tick), top, px(tick), top + h);
    text(px(tick), top + h + 17, tickTexts(xTicks)[i], `text-anchor="middle" fill="${colors.muted}"`);
  });
  text(left + w / 2, height - 9, label(x.name, x.unit), `text-anchor="middle" fill="${colors.text}"`);
  for (const mark of picture.marks)
    if (mark.x >= x.range[0] && mark.x <= x.range[1]) {
      rule(px(mark.x), top, px(mark.x), top + h, `stroke="${colors.muted}" stroke-dasharray="3 3"`);
      const before = px(mark.x) > left + 0.8 * w; // its name does not reach beyond the plot
      text(px(mark.x) + (before ? -3 : 3), top + 10, mark.name, `font-size="10" text-anchor="${before ? "end" : "start"}" fill="${colors.muted}"`);
    }
  out.push(`<clipPath id="inside"><rect x="${left}" y="${top}" width="${w}" height="${h}"/></clipPath>`);
  units.forEach((unit, k) => {
    const own = lines.filter((line) => line.unit === unit);
    const [low, high] = picture.ranges.get(unit)!;
    const scale = (value: number) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    const py = (value: number) => top + h - scale(value) * h;
    const at = k === 0 ? left - 7 : left + w + 7 + 62 * (k - 1);
    const yTicks = log ? logTicks(low, high) : ticks(low, high, 6);
    const texts = tickTexts(yTicks);
    yTicks.forEach((tick, i) => {
      if (k === 0) rule(left, py(tick), left + w, py(tick));
      text(at, py(tick) + 4, texts[i], `text-anchor="${k === 0 ? "end" : "start"}" fill="${colors.muted}"`);
    });
    text(at, top - 7, `[${pretty(unit) || "-"}]`, `text-anchor="${k === 0 ? "end" : "start"}" fill="${colors.text}"`);
    for (const line of own) out.push(...bands(line, px, py, log));
    for (const line of own) out.push(path(line, px, py, log));
  });
  out.push(`<rect x="${left}" y="${top}" width="${w}" height="${h}" fill="none" stroke="${colors.muted}"/>`);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif" font-size="12"><rect width="100%" height="100%" fill="${colors.paper}"/>\n${out.join("\n")}\n</svg>\n`
  );
}

function bands(line: Line, px: (x: number) => number, py: (y: number) => number, log: boolean): string[] {
  return bandPieces(line, log).map(([first, end]) => {
    const points: string[] = [];
    for (let i = first; i < end; i++) points.push(`${px(line.x[i]).toFixed(2)} ${py(bandAt(line, i, log)[1]).toFixed(2)}`);
    for (let i = end - 1; i >= first; i--) points.push(`${px(line.x[i]).toFixed(2)} ${py(bandAt(line, i, log)[0]).toFixed(2)}`);
    return `<path class="band" d="M${points.join("L")}Z" fill="${line.color}" fill-opacity="0.25" clip-path="url(#inside)"/>`;
  });
}

function path(line: Line, px: (x: number) => number, py: (y: number) => number, log: boolean): string {
  let d = "";
  let pen = false;
  for (let i = 0; i < line.y.length; i++) {
    const there = Number.isFinite(line.y[i]) && Number.isFinite(line.x[i]) && (!log || line.y[i] > 0);
    if (there) d += `${pen ? "L" : "M"}${px(line.x[i]).toFixed(2)} ${py(line.y[i]).toFixed(2)}`;
    pen = there;
  }
  return `<path d="${d}" fill="none" stroke="${line.color}" stroke-width="1.6" stroke-linejoin="round"${dashes(line)} clip-path="url(#inside)"/>`;
}

const dashes = ({dash}: Line) => (dash ? ` stroke-dasharray="${dash.join(" ")}"` : "");

/** The same picture in pixels. */
export async function png(text: string, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = scale * image.naturalWidth;
  canvas.height = scale * image.naturalHeight;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}
