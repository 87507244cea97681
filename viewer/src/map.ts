// The map of regimes over two parameters, filled row by row in a worker of its own, with the present point on it.

import { pattern, sample } from "./chart";
import { regimeArea } from "./colours";
import { el } from "./element";
import { Engine } from "./engine";
import type { Live } from "./lab";
import { plain } from "./words";

const COUNT = 36;
export class RegimeMap {
  readonly section: HTMLElement;
  private readonly canvas = el("canvas", { class: "map", role: "img", "aria-label": "Map of regimes; click to choose a point" });
  private readonly cells: string[][] = [];
  private readonly legend = el("p", { class: "small" });
  private point: [number, number] | null = null;

  constructor(
    module: WebAssembly.Module,
    private readonly live: Live,
    choose: (x: number, y: number) => void,
  ) {
    this.section = el("section", { id: "map" }, el("h2", {}, "Where Coulomb's law is regular"), this.canvas, this.legend);
    this.canvas.addEventListener("click", (e) => {
      const box = this.canvas.getBoundingClientRect();
      const [[, x0, x1], [, y0, y1]] = this.ranges();
      const sx = (e.clientX - box.left - 34) / (box.width - 40);
      const sy = 1 - (e.clientY - box.top - 6) / (box.height - 36);
      if (sx >= 0 && sx <= 1 && sy >= 0 && sy <= 1) choose(x0 + sx * (x1 - x0), y0 + sy * (y1 - y0));
    });
    void this.fill(new Engine(module, Infinity));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  private ranges(): [[string, number, number], [string, number, number]] {
    return this.live.map ?? [["", 0, 1], ["", 0, 1]];
  }

  private async fill(engine: Engine) {
    const [[xName, x0, x1], [yName, y0, y1]] = this.ranges();
    const xs = Array.from({ length: COUNT }, (_, k) => x0 + ((k + 0.5) / COUNT) * (x1 - x0));
    for (let j = 0; j < COUNT; j++) {
      const y = y0 + ((j + 0.5) / COUNT) * (y1 - y0);
      const answer = await engine.ask({ task: "map", name: this.live.name, scene: this.live.scene, gap: this.live.gap, row: [xName, xs], column: [yName, y] });
      const cells = answer ? (JSON.parse(answer.text) as { cells?: string[] }).cells : undefined;
      this.cells.push(cells ?? []);
      this.draw();
    }
    this.section.dataset.whole = "true";
    engine.cancel();
  }

  mark(x: number, y: number) {
    this.point = [x, y];
    this.draw();
  }

  private draw() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!w || !h) return;
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    const c = this.canvas.getContext("2d");
    if (!c) return;
    c.scale(ratio, ratio);
    const [[xName, x0, x1], [yName, y0, y1]] = this.ranges();
    const left = 34;
    const [pw, ph] = [w - 40, h - 36];
    const fills = new Map<string, CanvasPattern | string | CanvasGradient>();
    this.cells.forEach((row, j) =>
      row.forEach((word, i) => {
        c.fillStyle = fills.get(word) ?? pattern(c, regimeArea(word));
        fills.set(word, c.fillStyle);
        c.fillRect(left + (i * pw) / COUNT, 6 + ph - ((j + 1) * ph) / COUNT, pw / COUNT + 0.5, ph / COUNT + 0.5);
      }),
    );
    const ink = getComputedStyle(this.section).color;
    c.strokeStyle = c.fillStyle = ink;
    c.strokeRect(left, 6, pw, ph);
    c.font = "11px system-ui, sans-serif";
    c.fillText(plain(x0), left, h - 16);
    c.textAlign = "right";
    c.fillText(plain(x1), left + pw, h - 16);
    c.fillText(plain(y0), left - 4, 6 + ph);
    c.fillText(plain(y1), left - 4, 15);
    c.textAlign = "center";
    c.fillText(xName, left + pw / 2, h - 4);
    c.save();
    c.translate(11, 6 + ph / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(yName, 0, 0);
    c.restore();
    if (this.point) {
      const [x, y] = [left + (pw * (this.point[0] - x0)) / (x1 - x0), 6 + ph - (ph * (this.point[1] - y0)) / (y1 - y0)];
      c.beginPath();
      c.arc(x, y, 9, 0, 2 * Math.PI);
      c.fillStyle = "#ffffffcc";
      c.fill();
      c.strokeStyle = "#000000";
      c.lineWidth = 2;
      c.beginPath();
      c.arc(x, y, 5, 0, 2 * Math.PI);
      c.moveTo(x - 9, y);
      c.lineTo(x + 9, y);
      c.moveTo(x, y - 9);
      c.lineTo(x, y + 9);
      c.stroke();
    }
    this.legend.replaceChildren();
    for (const word of fills.keys()) this.legend.append(el("span", { class: "sign" }, sample(regimeArea(word)), word));
  }
}
