// Curves and stacked areas over time, with a cursor.

import { SUPPLIES, TERMS } from "./colours";
import type { Run } from "./run";
import { plain, unitPrefix } from "./words";

export interface Curve {
  label: string;
  colour: string;
  dash: number[];
  values: ArrayLike<number>;
}

interface Filling {
  colour: string;
  ground: string;
  hatch: string;
}

interface Area extends Filling {
  label: string;
  values: Float64Array;
}

const MARGIN = { left: 58, right: 22, top: 8, bottom: 20 };

/** The ledger as areas whose sum is the energy at the start plus what was supplied. */
export function ledger(run: Run): { areas: Area[]; total: Float64Array } {
  const potential = run.column("potential");
  let lowest = Infinity;
  for (const v of potential) if (v < lowest) lowest = v;
  const areas: Area[] = [];
  for (const term of TERMS) {
    const values = new Float64Array(run.frames);
    for (const name of term.columns) {
      const column = run.column(name);
      for (let f = 0; f < run.frames; f++) values[f] += name === "potential" ? column[f] - lowest : name === "kinetic" ? column[f] : -column[f];
    }
    const scale = Math.max(...values.map(Math.abs));
    if (scale > 0) areas.push({ label: term.label, colour: term.colour, ground: term.ground, hatch: term.hatch, values });
  }
  const total = new Float64Array(run.frames);
  const external = SUPPLIES.map((n) => run.column(n));
  // The first frame may follow an impact at the start.
  const before = ["energy.kinetic_change", "energy.potential_change"].reduce((sum, n) => sum + (run.column(n)[0] ?? 0), 0);
  const start = run.frames ? run.column("kinetic")[0] + potential[0] - lowest - before : 0;
  for (let f = 0; f < run.frames; f++) total[f] = start + external.reduce((sum, c) => sum + c[f], 0);
  return { areas, total };
}

function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / Math.max(1, count);
  const unit = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= raw) ?? raw;
  const out: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return out;
}

/** Round values over a range, with the factor and the prefix of the unit in which all of them are written. */
export function marksOf(low: number, high: number, count: number, unit: string) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const [factor, prefix] = unitPrefix(size >= 0.01 && size < 1 ? 1 : size, unit);
  return { marks: ticks(low, high, count), factor, prefix };
}

const TILE = 8;

/** The filling of an area: its ground, and a hatch that tells it without colours. */
export function pattern(context: CanvasRenderingContext2D, { colour, ground, hatch }: Filling): CanvasPattern | string {
  if (!hatch) return ground;
  const tile = document.createElement("canvas");
  tile.width = tile.height = TILE;
  const c = tile.getContext("2d");
  if (!c) return ground;
  c.fillStyle = ground;
  c.fillRect(0, 0, TILE, TILE);
  c.strokeStyle = c.fillStyle = colour;
  const line = (x0: number, y0: number, x1: number, y1: number) => {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
  };
  const h = TILE / 2;
  if (hatch === "dots") c.fillRect(h - 1, h - 1, 2, 2);
  if (hatch === "horizontal") line(0, h + 0.5, TILE, h + 0.5);
  if (hatch === "vertical") line(h + 0.5, 0, h + 0.5, TILE);
  for (const s of [-TILE, 0, TILE]) {
    if (hatch === "rising" || hatch === "cross") line(s, TILE, s + TILE, 0);
    if (hatch === "falling" || hatch === "cross") line(s, 0, s + TILE, TILE);
  }
  return context.createPattern(tile, "repeat") ?? ground;
}

export function sample(area: Filling): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [22, 12];
  const context = canvas.getContext("2d");
  if (context) {
    context.fillStyle = pattern(context, area);
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.strokeStyle = area.colour;
    context.strokeRect(0.5, 0.5, canvas.width - 1, canvas.height - 1);
  }
  return canvas;
}

/** Energies of which all are smaller are rounding: a run in which nothing moves. */
const NOTHING = 1e-16;

export class Chart {
  readonly canvas = document.createElement("canvas");
  private areas: Area[] = [];
  private curves: Curve[] = [];
  private times: ArrayLike<number> = [];
  private low = 0;
  private high = 1;
  private unit = "";
  private picture: ImageData | null = null;
  /** Called with a time that was clicked. */
  chosen: (t: number) => void = () => {};
  private cursor = 0;

  constructor(readonly host: HTMLElement) {
    host.append(this.canvas);
    this.canvas.setAttribute("role", "img");
    const choose = (event: PointerEvent) => {
      const box = this.canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
      this.chosen(Math.min(1, Math.max(0, share)) * this.end());
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      choose(e);
    });
    this.canvas.addEventListener("pointermove", (e) => e.buttons && choose(e));
    new ResizeObserver(() => this.draw()).observe(host);
  }

  private end(): number {
    return this.times.length ? this.times[this.times.length - 1] : 1;
  }

  stack(run: Run) {
    const { areas, total } = ledger(run);
    this.areas = areas;
    this.times = run.times;
    this.unit = "J";
    this.curves = [{ label: "start and supply", colour: "", dash: [5, 3], values: total }];
    this.range([0, ...total]);
    for (let f = 0; f < run.frames; f++) {
      let [up, down] = [0, 0];
      for (const a of areas) a.values[f] > 0 ? (up += a.values[f]) : (down += a.values[f]);
      this.high = Math.max(this.high, up);
      this.low = Math.min(this.low, down);
    }
    if (this.high - this.low < NOTHING) [this.low, this.high] = [0, 1];
    this.canvas.setAttribute("aria-label", `Energy over time: ${areas.map((a) => a.label).join(", ")}, stacked`);
    this.draw();
  }

  plot(times: ArrayLike<number>, curves: Curve[], unit: string) {
    this.areas = [];
    this.curves = curves;
    this.times = times;
    this.unit = unit;
    this.range(curves.flatMap((c) => Array.from(c.values)));
    this.canvas.setAttribute("aria-label", `${curves.map((c) => c.label).join(", ")} over time`);
    this.draw();
  }

  private range(values: number[]) {
    [this.low, this.high] = [Infinity, -Infinity];
    for (const v of values)
      if (Number.isFinite(v)) {
        this.low = Math.min(this.low, v);
        this.high = Math.max(this.high, v);
      }
    if (!(this.low <= this.high)) [this.low, this.high] = [0, 1];
    if (this.low > 0 && this.low < 0.4 * this.high) this.low = 0;
    if (this.high - this.low < 1e-12 * Math.max(1e-12, Math.abs(this.high))) {
      this.high += Math.abs(this.high) * 0.5 || 1;
      this.low -= Math.abs(this.low) * 0.5;
    }
  }

  /** Names with their signs: a filled canvas for an area, a line for a curve. */
  legend(): { label: string; colour: string; dash: boolean; area: HTMLCanvasElement | null }[] {
    const ink = getComputedStyle(this.host).color;
    return [
      ...this.areas.map((a) => ({ label: a.label, colour: a.colour, dash: false, area: sample(a) })),
      ...this.curves.map((c) => ({ label: c.label, colour: c.colour || ink, dash: c.dash.length > 0, area: null })),
    ];
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [this.host.clientWidth, this.host.clientHeight];
    if (w < 80 || h < 40) return;
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    this.canvas.style.width = `${w}px`;
    this.canvas.style.height = `${h}px`;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!context) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.host);
    const ink = style.color;
    const faint = style.getPropertyValue("--line") || "#ccc";
    context.font = "11px system-ui, sans-serif";
    const x = (t: number) => MARGIN.left + (t / (this.end() || 1)) * (w - MARGIN.left - MARGIN.right);
    const y = (v: number) => h - MARGIN.bottom - ((v - this.low) / (this.high - this.low)) * (h - MARGIN.top - MARGIN.bottom);
    context.lineWidth = 1;
    const { marks, factor, prefix } = marksOf(this.low, this.high, h / 42, this.unit);
    for (const v of marks) {
      context.strokeStyle = faint;
      context.beginPath();
      context.moveTo(MARGIN.left, y(v));
      context.lineTo(w - MARGIN.right, y(v));
      context.stroke();
      context.fillStyle = ink;
      context.textAlign = "right";
      context.fillText(plain(Number((v / factor).toPrecision(6))), MARGIN.left - 6, y(v) + 4);
    }
    context.textAlign = "center";
    for (const t of ticks(0, this.end(), w / 110)) context.fillText(plain(Number(t.toPrecision(6))), x(t), h - 5);
    context.textAlign = "left";
    context.fillText(`${prefix}${this.unit}`, 4, 12);
    context.textAlign = "right";
    context.fillText("s", w - 2, h - 5);
    const up = new Float64Array(this.times.length);
    const down = new Float64Array(this.times.length);
    for (const area of this.areas) {
      const base = Float64Array.from(area.values, (v, f) => (v >= 0 ? up[f] : down[f]));
      const top = Float64Array.from(area.values, (v, f) => base[f] + v);
      area.values.forEach((v, f) => (v >= 0 ? (up[f] += v) : (down[f] += v)));
      context.beginPath();
      for (let f = 0; f < top.length; f++) context.lineTo(x(this.times[f]), y(top[f]));
      for (let f = top.length - 1; f >= 0; f--) context.lineTo(x(this.times[f]), y(base[f]));
      context.closePath();
      context.fillStyle = pattern(context, area);
      context.fill();
    }
    for (const curve of this.curves) {
      context.beginPath();
      let pen = false;
      for (let f = 0; f < this.times.length; f++) {
        const v = curve.values[f];
        if (!Number.isFinite(v)) {
          pen = false;
          continue;
        }
        pen ? context.lineTo(x(this.times[f]), y(v)) : context.moveTo(x(this.times[f]), y(v));
        pen = true;
      }
      context.setLineDash(curve.dash);
      context.strokeStyle = curve.colour || ink;
      context.lineWidth = 1.5;
      context.stroke();
      context.setLineDash([]);
    }
    this.picture = context.getImageData(0, 0, this.canvas.width, this.canvas.height);
    this.at(this.cursor);
  }

  /** Puts the cursor at a time. */
  at(t: number) {
    this.cursor = t;
    const context = this.canvas.getContext("2d");
    if (!context || !this.picture) return;
    context.putImageData(this.picture, 0, 0);
    const w = this.host.clientWidth;
    const x = MARGIN.left + (t / (this.end() || 1)) * (w - MARGIN.left - MARGIN.right);
    context.strokeStyle = getComputedStyle(this.host).color;
    context.lineWidth = 1.2;
    context.beginPath();
    context.moveTo(x, MARGIN.top);
    context.lineTo(x, this.host.clientHeight - MARGIN.bottom);
    context.stroke();
    this.canvas.dataset.cursor = String(x);
  }
}
