// The laboratory: the engine runs in the page, and everything follows the sliders.

import type { App } from "./app";
import { el, rows } from "./element";
import { type Answer, Engine, type Request } from "./engine";
import { type Head, fromBase64, inflate } from "./format";
import { RegimeMap } from "./map";
import { Run } from "./run";
import { plain } from "./words";

export interface Live {
  name: string;
  scene: string;
  guide: string[];
  map: [[string, number, number], [string, number, number]] | null;
  gap: number;
}

interface Verdict {
  error?: string;
  verdict: string;
  text: string;
  method: "exact" | "truncated" | "search";
  margins: (number | null)[];
  solutions: { words: string[]; impact: boolean }[];
}

/** What a pointer holds: a point of the drawing, and the parameter that moves it. */
interface Hand {
  point: number;
  parameter: string | null;
  target: [number, number] | null;
  busy: boolean;
  before: Record<string, string>;
  gone?: boolean;
}

const CHOICES: [string, string, string[]][] = [
  ["law", "friction law", ["", "frictionless", "coulomb", "argmin", "generalized"]],
  ["impact", "impact law", ["", "inelastic", "newton", "poisson", "moreau", "fremond", "energetic"]],
  ["scheme", "scheme", ["", "moreau", "moreau-jean", "sweeping-process", "penalty", "event-driven"]],
  ["projection", "positions", ["", "combined", "none"]],
  ["several_rule", "of several solutions", ["", "take-off-first", "least-energy", "smallest-impulse"]],
];

/** Loads a classic script; pages opened from disk may do that where they may not fetch. */
function script(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    document.head.append(el("script", { src: address, load: () => resolve(), error: () => reject(new Error(`${address} is missing`)) }));
  });
}

export async function startLab(app: App) {
  const own = document.getElementById("live");
  const site = document.getElementById("site");
  const shared = window as unknown as { stickslipScene?: Live; stickslipEngine?: string };
  let live: Live | null = own ? (JSON.parse(own.textContent ?? "") as Live) : null;
  let packed = document.getElementById("engine")?.textContent?.trim();
  if (site) {
    const name = new URLSearchParams(location.hash.slice(1)).get("scene") ?? "slender-rod";
    if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`there is no scene ${name}`);
    await Promise.all([script("engine.js"), script(`scenes/${name}.js`)]);
    live = shared.stickslipScene ?? null;
    packed = shared.stickslipEngine;
  }
  if (!live || !packed) return;
  const module = await WebAssembly.compile(await inflate(fromBase64(packed)));
  const lab = new Lab(app, live, module);
  Object.assign(window, { lab });
  await lab.rerun();
}

export class Lab {
  readonly parameters: Record<string, string> = {};
  readonly keys: Record<string, string> = {};
  /** Milliseconds of the last run in the engine. */
  cost = 0;
  private readonly engine: Engine;
  private readonly judge: Engine;
  /** Where a dragged point would be: not in the way of verdicts. */
  private readonly hand: Engine;
  private readonly status = el("p", { class: "small", role: "status" });
  private readonly sliders = el("div");
  private readonly verdictPanel = el("section", { id: "uniqueness", "aria-live": "polite" });
  private readonly map: RegimeMap | null;
  private built = false;

  constructor(
    readonly app: App,
    readonly live: Live,
    module: WebAssembly.Module,
  ) {
    this.engine = new Engine(module);
    this.judge = new Engine(module, 50);
    this.hand = new Engine(module, Infinity);
    const selects = el("div");
    for (const [key, label, words] of CHOICES) {
      const select = el("select", { "aria-label": label, "data-key": key }, ...words.map((w) => el("option", { value: w }, w || "as in the scene")));
      select.addEventListener("change", () => {
        if (select.value) this.keys[key] = select.value;
        else delete this.keys[key];
        void this.rerun();
      });
      selects.append(el("label", { class: "row choice" }, label, select));
    }
    const section = el(
      "section",
      { id: "lab", "aria-label": "Laboratory" },
      el("h2", {}, "Laboratory"),
      ...live.guide.map((text) => el("p", {}, text)),
      this.sliders,
      selects,
      el("div", { class: "buttons" }, el("button", { click: () => this.reset() }, "As in the scene")),
      this.status,
    );
    this.map = live.map ? new RegimeMap(module, live, (x, y) => this.setParameters({ [live.map?.[0][0] ?? ""]: x, [live.map?.[1][0] ?? ""]: y })) : null;
    app.above.append(section);
    this.placeBeside();
    this.dragStart();
  }

  /** Verdict and map stand beside the motion, where they are seen while a slider is dragged; on narrow screens below the sliders. */
  private placeBeside() {
    const beside = el("div", { id: "beside" }, ...(this.map ? [this.map.section] : []), this.verdictPanel);
    const wide = matchMedia("(min-width: 900px)");
    const place = () => (wide.matches ? this.app.stage.host : this.app.above).append(beside);
    wide.addEventListener("change", place);
    place();
  }

  private request(task: Request["task"]): Request {
    return { task, name: this.live.name, scene: this.live.scene, parameters: { ...this.parameters }, keys: { ...this.keys }, gap: this.live.gap };
  }

  private reset() {
    for (const table of [this.parameters, this.keys]) for (const key of Object.keys(table)) delete table[key];
    this.app.above.querySelectorAll("select").forEach((s) => (s.value = ""));
    this.built = false;
    void this.rerun();
  }

  setParameters(values: Record<string, number>) {
    for (const [name, value] of Object.entries(values)) {
      this.parameters[name] = String(Number(value.toPrecision(8)));
      const input = this.sliders.querySelector<HTMLInputElement>(`input[data-name="${name}"]`);
      if (input) {
        input.value = String(value);
        const output = input.parentElement?.querySelector("output");
        if (output) output.textContent = plain(value);
      }
    }
    void this.rerun();
  }

  /** Runs the scene with the present values, and judges its start. */
  async rerun(): Promise<void> {
    this.status.textContent = "running…";
    const asked = this.engine.ask(this.request("run"));
    void this.judge.ask(this.request("verdict")).then((answer) => answer && this.showVerdict(JSON.parse(answer.text) as Verdict));
    const answer = await asked;
    if (answer) this.show(answer);
  }

  private show(answer: Answer) {
    const head = JSON.parse(answer.text) as Head & { error?: string };
    this.cost = answer.cost;
    if (head.error) {
      this.status.replaceChildren(el("pre", { class: "bad" }, head.error));
      return;
    }
    const run = new Run(head, answer.table);
    this.app.setRuns([run], this.app.runs.length > 0);
    this.status.textContent = `${head.summary?.steps ?? 0} steps in ${answer.cost.toFixed(0)} ms`;
    if (!this.built) this.buildSliders(head);
    const x = this.live.map?.map(([name]) => Number(head.settings.parameters[name]));
    if (x) this.map?.mark(x[0], x[1]);
    document.documentElement.dataset.live = String(Number(document.documentElement.dataset.live ?? 0) + 1);
  }

  private buildSliders(head: Head) {
    this.built = true;
    this.sliders.replaceChildren();
    for (const [name, given] of Object.entries(head.settings.parameters)) {
      const value = given ?? 0;
      const reach = Math.abs(value) || 1;
      const mapped = this.live.map?.find(([n]) => n === name);
      const [low, high] = mapped ? [Math.min(mapped[1], value), Math.max(mapped[2], value)] : value > 0 ? [0, 2.5 * value] : [value - reach, value + reach];
      const input = el("input", { type: "range", min: String(low), max: String(high), step: "any", value: String(value), "data-name": name, "aria-label": name });
      const output = el("output", {}, plain(value));
      input.addEventListener("input", () => {
        this.parameters[name] = String(Number(Number(input.value).toPrecision(6)));
        output.textContent = plain(Number(input.value));
        void this.rerun();
      });
      this.sliders.append(el("label", { class: "row" }, name, input, output));
    }
  }

  private showVerdict(verdict: Verdict) {
    const panel = this.verdictPanel;
    if (verdict.error) {
      panel.replaceChildren();
      panel.dataset.verdict = "";
      return;
    }
    panel.dataset.verdict = verdict.verdict;
    panel.replaceChildren(
      el("h2", {}, "The first step under Coulomb's law"),
      el("p", { class: verdict.verdict === "regular" ? "good" : "bad" }, verdict.text),
      rows(verdict.margins.map((m, k) => [`Painlevé margin of contact ${k + 1}`, plain(m ?? NaN)])),
    );
    if (verdict.solutions.length < 2) return;
    panel.append(el("p", {}, `Several solutions: choose one.${verdict.method === "exact" ? "" : " There may be more."}`));
    const buttons = el("div", { class: "buttons" });
    verdict.solutions.forEach((s, k) => {
      const text = `${s.words.join(", ")}${s.impact ? " (an impact)" : ""}`;
      buttons.append(el("button", { "data-solution": String(k), click: () => void this.follow(k) }, text));
    });
    panel.append(buttons);
  }

  /** Follows every branch and shows the one that takes a solution first. */
  private async follow(choice: number) {
    const request = this.request("run");
    request.keys = { ...request.keys, on_several: "branch", law: "coulomb" };
    const answer = await this.engine.ask(request);
    if (!answer) return;
    this.show(answer);
    const run = this.app.run;
    const first = run.head.branches.findIndex((b, k) => k > 0 && b.choice === choice);
    if (first > 0) run.branch = first;
    this.app.refresh();
  }

  /** Drags the drawn shapes at the start: the one parameter that follows the hand best is changed. Escape puts it back. */
  private dragStart() {
    const { canvas } = this.app.stage;
    let hand: Hand | null = null;
    this.status.after(el("p", { class: "small" }, "Hold Shift and drag a moving part at the start; Escape puts it back."));
    canvas.addEventListener(
      "pointerdown",
      (e) => {
        if (!e.shiftKey || !this.app.runs.length || !this.app.run.head.lines.length) return;
        this.app.seek(0);
        const point = this.nearest(e.offsetX, e.offsetY);
        if (point === null) return;
        hand = { point, parameter: null, target: null, busy: false, before: { ...this.parameters } };
        e.stopPropagation();
        this.app.stage.steering = false;
        canvas.setPointerCapture(e.pointerId);
      },
      { capture: true },
    );
    canvas.addEventListener("pointermove", (e) => {
      if (!hand) return;
      hand.target = this.app.stage.unproject(e.offsetX, e.offsetY);
      void this.drag(hand);
    });
    const release = () => {
      hand = null;
      this.app.stage.steering = true;
    };
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(end, release);
    addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || !hand) return;
      const { before } = hand;
      hand.gone = true;
      release();
      for (const key of Object.keys(this.parameters)) delete this.parameters[key];
      Object.assign(this.parameters, before);
      this.built = false;
      void this.rerun();
    });
  }

  /** The moving point of the drawing at the start that is nearest to a place on the screen. */
  private nearest(x: number, y: number): number | null {
    const { values, at } = this.app.run.drawnPoints(0);
    let k = at;
    let least = 40;
    let found: number | null = null;
    for (const line of this.app.run.head.lines)
      for (let p = 0; p < line.count; p++, k += 2) {
        const place = line.moving ? this.app.stage.project([values[k], values[k + 1], 0]) : null;
        const d = place ? Math.hypot(place[0] - x, place[1] - y) : Infinity;
        if (d < least) [least, found] = [d, (k - at) / 2];
      }
    return found;
  }

  /** Follows the hand, one place after the other; places that were left meanwhile are skipped. */
  private async drag(hand: Hand) {
    if (hand.busy) return;
    hand.busy = true;
    while (hand.target && !hand.gone) {
      const { target } = hand;
      hand.target = null;
      await this.move(hand, target);
    }
    hand.busy = false;
  }

  private async move(hand: Hand, target: [number, number]) {
    const place = async (changes: Record<string, string>) => {
      const request = this.request("start");
      request.parameters = { ...request.parameters, ...changes };
      const answer = await this.hand.ask(request);
      const points = answer ? (JSON.parse(answer.text) as { points?: number[] }).points : undefined;
      return points ? [points[2 * hand.point], points[2 * hand.point + 1]] : null;
    };
    const here = await place({});
    if (!here) return;
    const want = [target[0] - here[0], target[1] - here[1]];
    const present = this.app.run.head.settings.parameters;
    const names = hand.parameter ? [hand.parameter] : Object.keys(present);
    let best: { name: string; value: number; gain: number } | null = null;
    for (const name of names) {
      const value = Number(this.parameters[name] ?? present[name]);
      const delta = 1e-4 * (Math.abs(value) || 1);
      const there = await place({ [name]: String(value + delta) });
      if (!there) continue;
      const slope = [(there[0] - here[0]) / delta, (there[1] - here[1]) / delta];
      const square = slope[0] ** 2 + slope[1] ** 2;
      if (!(square > 1e-12)) continue;
      const along = slope[0] * want[0] + slope[1] * want[1];
      const gain = (along * along) / square;
      if (!best || gain > best.gain) best = { name, value: value + along / square, gain };
    }
    if (!best || hand.gone) return;
    hand.parameter = best.name;
    this.setParameters({ [best.name]: best.value });
  }
}
