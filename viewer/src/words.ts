// Numbers as people write them.

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "μ"],
  [1e-9, "n"],
];

/** Four digits, without needless zeros. */
export function plain(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const a = Math.abs(x);
  const text = a >= 1e6 || a < 1e-3 ? power(x) : grouped(String(Number(x.toPrecision(Math.max(4, Math.floor(Math.log10(a)) + 1)))));
  return text.replace("-", "−");
}

/** Commas between groups of three digits, from five digits on. */
const grouped = (text: string) => text.replace(/^(-?)(\d{5,})/, (_, sign, whole) => sign + whole.replace(/\B(?=(\d{3})+$)/g, ","));

function power(x: number): string {
  const e = Math.floor(Math.log10(Math.abs(x)));
  const up = String(e).replace(/./g, (c) => ({ "-": "⁻" })[c] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]);
  const mantissa = Number((x / 10 ** e).toPrecision(3));
  return Math.abs(mantissa) === 1 ? `${mantissa < 0 ? "-" : ""}10${up}` : `${mantissa}·10${up}`;
}

/** Factor and sign of the prefix with which a value is written; angles, pure numbers and powers of units have none. As in crates/stickslip/src/quantity.rs. */
export function unitPrefix(x: number, unit: string): [number, string] {
  const a = Math.abs(x);
  const first = unit.split(/[ /*·]/)[0];
  if ((a >= 0.1 && a < 999.95) || a > 1e12 || !["m", "s", "g", "N", "Pa", "J", "W"].includes(first)) return [1, ""];
  return PREFIXES.find(([f]) => a >= 0.99995 * f) ?? [1, ""];
}

/** A number with its unit: 2.846 kPa. */
export function quantity(x: number, unit: string): string {
  if (!Number.isFinite(x)) return plain(x);
  const [factor, prefix] = unitPrefix(x, unit);
  return `${plain(x / factor)}${unit ? ` ${prefix}${unit}` : ""}`;
}

/** A time with as many digits as a run of this length needs. */
export function time(t: number, end: number): string {
  const digits = Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(Math.max(end, 1e-9)))));
  return `${t.toFixed(digits)} s`;
}
