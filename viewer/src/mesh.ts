// What stands beside and on the picture of an elastic body.

import { marksOf } from "./chart";
import { ramp } from "./colours";
import { el } from "./element";
import type { Look, Picture } from "./picture";
import type { Run, Vec } from "./run";
import { plain, quantity } from "./words";

/** The factor of displacements with which they are seen: enlarged where nothing would be seen otherwise. */
export function niceDeformation(run: Run, size: number): number {
  const { mesh } = run.head;
  if (!mesh) return 1;
  let spread = 0;
  const { values, columns } = run.displacements;
  for (let f = 0; f < run.frames; f += Math.max(1, Math.floor(run.frames / 20))) {
    const low: Vec = [Infinity, Infinity, Infinity];
    const high: Vec = [-Infinity, -Infinity, -Infinity];
    for (let n = 0; n < columns; n++) {
      low[n % 3] = Math.min(low[n % 3], values[f * columns + n]);
      high[n % 3] = Math.max(high[n % 3], values[f * columns + n]);
    }
    spread = Math.max(spread, ...[0, 1, 2].map((k) => high[k] - low[k]));
  }
  const want = (0.05 * size) / (spread || 1);
  return want > 1.5 ? Number(want.toPrecision(1)) : 1;
}

/** What is chosen of an elastic body: the field that colours it, the factor of deformations. */
export function meshPanel(look: Look, refresh: () => void, renew: () => void): HTMLElement {
  const input = el("input", { type: "range", min: "0", max: "100", value: String(20 * Math.log10(look.deformation)), "aria-label": "Factor of deformations" });
  const output = el("output", {}, `× ${plain(look.deformation)}`);
  input.addEventListener("input", () => {
    look.deformation = Number((10 ** (Number(input.value) / 20)).toPrecision(2));
    output.textContent = `× ${plain(look.deformation)}`;
    refresh();
  });
  const choose = (field: Look["field"]) => {
    look.field = field;
    renew();
    refresh();
  };
  return el(
    "section",
    {},
    el("h2", {}, "The mesh"),
    el("label", { class: "row" }, "deformation", input, output),
    el(
      "div",
      { class: "buttons" },
      el("button", { "aria-pressed": String(look.field === "stress"), click: () => choose("stress") }, "Stress"),
      el("button", { "aria-pressed": String(look.field === "displacement"), click: () => choose("displacement") }, "Displacement"),
    ),
  );
}

/** The bar of colours, with its ticks. */
export function meshScale(look: Look, picture: Picture): HTMLElement[] {
  if (!picture.run.head.mesh) return [];
  const stress = look.field === "stress";
  const top = stress ? picture.run.stressMax : picture.displacementMax();
  const bar = el("div", { class: "ramp" });
  const stops = [0, 0.25, 0.5, 0.75, 1].map((s) => `rgb(${ramp(s).map((c) => Math.round(255 * c)).join(" ")}) ${100 * s}%`);
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const unit = stress ? "Pa" : "m";
  const { marks, factor, prefix } = marksOf(0, top, 4, unit);
  const ticks = el(
    "div",
    { class: "ticks" },
    ...marks.map((v) => {
      const tick = el("span", {}, plain(Number((v / factor).toPrecision(6))));
      tick.style.left = `${(100 * v) / (top || 1)}%`;
      return tick;
    }),
  );
  return [el("div", {}, `${stress ? "von Mises stress" : "displacement"} in ${prefix}${unit}, to ${quantity(top, unit)}`), bar, ticks];
}
