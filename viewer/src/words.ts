// Numbers as people write them.

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];

/** Four digits, without needless zeros. */
export function plain(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const a = Math.abs(x);
  const text = a >= 1e5 || a < 1e-4 ? power(x) : String(Number(x.toPrecision(4)));
  return text.replace("-", "−");
}

function power(x: number): string {
  const e = Math.floor(Math.log10(Math.abs(x)));
  const up = String(e).replace(/./g, (c) => ({ "-": "⁻" })[c] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]);
  return `${Number((x / 10 ** e).toPrecision(3))}·10${up}`;
}

/** A number with its unit: 2.846 kPa. */
export function quantity(x: number, unit: string): string {
  if (!Number.isFinite(x)) return plain(x);
  const a = Math.abs(x);
  if (a === 0 || !unit || unit.includes("/") || unit === "rad") return `${plain(x)}${unit ? ` ${unit}` : ""}`;
  const [factor, prefix] = PREFIXES.find(([f]) => a >= f) ?? PREFIXES[PREFIXES.length - 1];
  if (a < 1e-9) return `${plain(x)} ${unit}`;
  return `${plain(x / factor)} ${prefix}${unit}`;
}

/** A time with as many digits as a run of this length needs. */
export function time(t: number, end: number): string {
  const digits = Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(Math.max(end, 1e-9)))));
  return `${t.toFixed(digits)} s`;
}
