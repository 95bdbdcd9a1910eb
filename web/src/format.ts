// Numbers as text: as many digits as say something, a true minus sign, and units beside them.

export function format(value: number, digits = 5): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text: string;
  if (value === 0) text = "0";
  else if (size >= 1e6 || size < 1e-4) text = value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  else text = String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

/** A unit as it is read: "m/s^2" as m/s², "-" as nothing. */
export function pretty(unit: string): string {
  return unit === "-" ? "" : unit.replace(/\^2/g, "²").replace(/\^3/g, "³").replace(/(\w) (?=\w)/g, "$1 ");
}

export const withUnit = (value: number, unit: string) => (pretty(unit) ? `${format(value)} ${pretty(unit)}` : format(value));

/** A number with its estimated error, if that is known: `1.25 ± 0.003 m`. */
export function withError(value: number, error: number, unit: string): string {
  if (Number.isNaN(error)) return withUnit(value, unit);
  const text = `${format(value)} ± ${format(error, 2)}`;
  return pretty(unit) ? `${text} ${pretty(unit)}` : text;
}

/** A label with its unit: `angle [rad]`. */
export const label = (name: string, unit: string) => `${name} [${unit === "-" ? "-" : pretty(unit)}]`;

/** Times of a run from `start` to `end`: the same number of digits for all of them. */
export function clock(t: number, start: number, end: number): string {
  const span = end > start ? end - start : 1;
  const decimals = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(span))));
  return t.toFixed(decimals).replace(/-/g, "−");
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${format(1000 * seconds, 3)} ms`;
  if (seconds < 120) return `${format(seconds, 3)} s`;
  return seconds < 7200 ? `${format(seconds / 60, 3)} min` : `${format(seconds / 3600, 3)} h`;
}
