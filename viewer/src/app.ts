// The page: state, keys, time, selection.

import { Chart, type Curve } from "./chart";
import { IMPACT, OPEN, SLIP, STICK, css, curveColour, modeColour } from "./colours";
import { el, rows } from "./element";
import { KEYS, about, bodyRows, contactRows, futures, verdict } from "./panels";
import { meshPanel, meshScale, niceDeformation } from "./mesh";
import { pickBody, pickContact } from "./pick";
import { type Look, Picture } from "./picture";
import { type Run, type Vec, dot, norm } from "./run";
import { Stage, VIEWS } from "./stage";
import { plain, time } from "./words";

type Selection = { kind: "contact" | "body"; index: number; run: number } | null;

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const TINT = curveColour(5);
const EVENT_COLOURS: Record<string, number> = { impact: IMPACT, "lift-off": OPEN, stick: STICK, slip: SLIP, "tangential-impact": IMPACT, accumulation: curveColour(4), "energy-gain": curveColour(5) };
const EVENTS_MAX = 400;

export class App {
  runs: Run[] = [];
  pictures: Picture[] = [];
  t = 0;
  playing = false;
  speed = 1;
  selection: Selection = null;
  following = false;
  readonly look: Look = { contacts: true, cones: true, chains: false, ghost: false, labels: true, arrows: 1, deformation: 1, field: "stress", dark: false };
  readonly stage: Stage;
  readonly energy: Chart;
  /** Panels of the laboratory stand above the others. */
  readonly above = el("div");
  private readonly side: HTMLElement;
  private readonly card = el("div");
  private readonly cardChart: Chart;
  private readonly labels = el("div", { id: "labels", "aria-hidden": "true" });
  private readonly names = el("div", { id: "names" });
  private readonly scale = el("div", { id: "scale" });
  private readonly legend = el("div", { id: "legend" });
  private readonly slider = el("input", { type: "range", min: "0", max: "1", step: "1", "aria-label": "Time" });
  private readonly events = el("div", { id: "events" });
  private readonly clock = el("output", { id: "clock" });
  private readonly play = el("button", { "aria-label": "Play", title: "Play (space)" }, "▶");
  private readonly speedLabel = el("span", { class: "small" });
  private readonly title = el("h1");
  private readonly badge = el("span", { class: "badge" });
  private readonly toggles: [HTMLButtonElement, () => boolean][] = [];
  private readonly help = el("dialog", { "aria-label": "Help" });
  private panels = el("div");
  private hashTimer = 0;

  constructor(root: HTMLElement) {
    const stored = matchMedia("(prefers-color-scheme: dark)");
    this.look.dark = stored.matches;
    stored.addEventListener("change", () => this.setTheme(stored.matches));
    const stageHost = el("div", { id: "stage" });
    const plot = el("div", { class: "plot" });
    const chartHost = el("div", { id: "chart" }, this.legend, plot);
    this.side = el("aside", { "aria-label": "About the run" });
    const toggle = (label: string, title: string, get: () => boolean, set: (on: boolean) => void) => {
      const button = el("button", { title, click: () => (set(!get()), this.refresh()) }, label);
      this.toggles.push([button, get]);
      return button;
    };
    const header = el(
      "header",
      {},
      this.title,
      this.badge,
      el("span", { class: "grow" }),
      toggle("Contacts", "Contact forces (C)", () => this.look.contacts, (on) => (this.look.contacts = on)),
      toggle("Cones", "Friction cones (K)", () => this.look.cones, (on) => (this.look.cones = on)),
      toggle("Chains", "Force chains (H)", () => this.look.chains, (on) => (this.look.chains = on)),
      toggle("Ghost", "The start as a ghost (G)", () => this.look.ghost, (on) => (this.look.ghost = on)),
      el("button", { title: "Show everything (F)", click: () => this.stage.look("default") }, "Fit"),
      el("button", { title: "Light or dark (T)", click: () => this.setTheme(!this.look.dark) }, "Theme"),
      el("button", { title: "Save the picture (P)", click: () => this.savePicture() }, "Save PNG"),
      el("button", { title: "Help (?)", "aria-label": "Help", click: () => this.help.showModal() }, "?"),
    );
    const bar = el(
      "div",
      { id: "bar" },
      this.play,
      el("button", { "aria-label": "Slower", title: "Slower ([)", click: () => this.changeSpeed(-1) }, "−"),
      this.speedLabel,
      el("button", { "aria-label": "Faster", title: "Faster (])", click: () => this.changeSpeed(1) }, "+"),
      el("div", { class: "track" }, this.events, this.slider),
      this.clock,
    );
    root.append(header, stageHost, bar, chartHost, this.side, this.help);
    this.stage = new Stage(stageHost);
    stageHost.append(this.labels, this.names, this.scale);
    this.energy = new Chart(plot);
    this.energy.chosen = (t) => this.seek(t);
    const cardPlot = el("div", { style: "height: 130px" });
    this.cardChart = new Chart(cardPlot);
    this.cardChart.chosen = (t) => this.seek(t);
    this.side.append(this.above, el("section", { id: "card", "aria-live": "polite" }, this.card, cardPlot), this.panels);
    this.help.append(
      el("h2", {}, "Keys"),
      rows(KEYS),
      el("p", {}, "Click a contact or a body for its numbers. Arrows are mean forces of a frame: blue and solid where the contact sticks, orange and in pieces where it slips, green without friction, purple at an impact."),
      el("button", { click: () => this.help.close() }, "Close"),
    );
    this.play.addEventListener("click", () => this.setPlaying(!this.playing));
    this.slider.addEventListener("input", () => this.seekFrame(Number(this.slider.value)));
    this.stage.moved = () => this.placeLabels();
    this.pointer();
    addEventListener("keydown", (e) => this.key(e));
    addEventListener("hashchange", () => this.fromHash());
    this.setTheme(this.look.dark);
    this.changeSpeed(0);
  }

  get run(): Run {
    return this.runs[0];
  }
  get frame(): number {
    return this.run.frameAt(this.t);
  }
  get end(): number {
    return Math.max(...this.runs.map((r) => r.end));
  }

  /** Shows runs; `keep` leaves camera, time and selection as they are. */
  setRuns(runs: Run[], keep = false) {
    const first = this.runs.length === 0;
    this.pictures.forEach((p) => p.dispose());
    this.runs = runs;
    this.pictures = runs.map((run, k) => new Picture(run, k === 0 ? null : TINT));
    this.stage.show(this.pictures, keep && !first);
    const head = this.run.head;
    document.title = head.title || head.name;
    this.title.textContent = [...new Set(runs.map((r) => r.head.title || r.head.name))].join(" and ");
    const summary = head.summary;
    this.badge.textContent = summary?.certified ? "certified" : "not certified";
    this.badge.className = `badge ${summary?.certified ? "good" : "bad"}`;
    this.slider.max = String(Math.max(1, this.run.frames - 1));
    this.energy.stack(this.run);
    this.legend.replaceChildren(
      ...this.energy.legend().map((entry) => {
        if (entry.area) return el("span", {}, entry.area, entry.label);
        const sign = el("i", { class: entry.dash ? "dash" : "" });
        sign.style.borderColor = entry.colour;
        return el("span", {}, sign, entry.label);
      }),
    );
    this.names.replaceChildren(...(runs.length > 1 ? runs.map((_, k) => el("span", {}, this.nameOf(k))) : []));
    this.showEvents();
    this.showPanels();
    // Enlarged where nothing would be seen otherwise.
    this.look.deformation = niceDeformation(this.run, this.pictures[0].size);
    this.stage.canvas.setAttribute("aria-label", `Picture of ${head.title || head.name}`);
    if (!keep) this.selection = null;
    if (first) this.speed = this.niceSpeed();
    this.changeSpeed(0);
    this.seek(Math.min(this.t, this.end));
    if (first) this.fromHash();
    this.stage.render();
    document.documentElement.dataset.ready = "true";
  }

  /** The name of a run, with what differs from the other one. */
  private nameOf(k: number): string {
    const [own, other] = [this.runs[k].head, this.runs[1 - k]?.head];
    const differs = Object.entries(own.settings.parameters).filter(([n, v]) => other && other.settings.parameters[n] !== v);
    const words = (["law", "impact", "scheme"] as const).filter((w) => other && other.settings[w] !== own.settings[w]).map((w) => own.settings[w]);
    return [own.name, ...words, ...differs.slice(0, 3).map(([n, v]) => `${n} = ${plain(v ?? NaN)}`)].join(", ");
  }

  /** A run lasts between four and thirty seconds. */
  private niceSpeed(): number {
    return SPEEDS.find((s) => this.end / s <= 12) ?? 10;
  }

  private showEvents() {
    const all = this.run.head.events;
    const every = Math.max(1, Math.ceil(all.length / EVENTS_MAX));
    this.events.replaceChildren(
      ...all
        .filter((_, k) => k % every === 0)
        .map((e) => {
          const button = el("button", { title: `${e.kind} of ${e.contact} at ${time(e.t, this.end)}`, "aria-label": `${e.kind} of ${e.contact} at ${time(e.t, this.end)}`, tabindex: "-1", click: () => this.seek(e.t) });
          button.style.left = `${(100 * e.t) / (this.end || 1)}%`;
          button.style.background = css(EVENT_COLOURS[e.kind] ?? OPEN);
          return button;
        }),
    );
  }

  private showPanels() {
    const parts: (HTMLElement | null)[] = [];
    if (this.runs.length > 1) {
      const set = (overlaid: boolean) => {
        this.stage.setOverlaid(overlaid);
        this.showPanels();
        this.refresh();
      };
      parts.push(
        el(
          "section",
          { id: "two" },
          el("h2", {}, "Two runs"),
          el("p", { class: "small" }, `${this.nameOf(0)} in blue, ${this.nameOf(1)} in orange`),
          el(
            "div",
            { class: "buttons" },
            el("button", { "aria-pressed": String(this.stage.overlaid), click: () => set(true) }, "Overlaid"),
            el("button", { "aria-pressed": String(!this.stage.overlaid), click: () => set(false) }, "Side by side"),
          ),
        ),
      );
    }
    for (const run of this.runs) {
      parts.push(verdict(run));
      parts.push(
        futures(run, (k) => {
          run.branch = k;
          this.showPanels();
          this.refresh();
        }),
      );
    }
    parts.push(about(this.run));
    parts.push(this.contactList());
    const parameters = Object.entries(this.run.head.settings.parameters);
    if (parameters.length) parts.push(el("section", {}, el("h2", {}, "Parameters"), rows(parameters.map(([k, v]) => [k, plain(v ?? NaN)]))));
    if (this.run.head.mesh) parts.push(meshPanel(this.look, () => this.refresh(), () => this.showPanels()));
    parts.push(el("p", { class: "small" }, `stickslip ${this.run.head.engine}`));
    const panels = el("div");
    for (const part of parts) if (part) panels.append(part);
    this.panels.replaceWith(panels);
    this.panels = panels;
  }

  private contactList(): HTMLElement | null {
    const { contacts } = this.run.head;
    if (!contacts.length || contacts.length > 40) return null;
    const buttons = el("div", { class: "buttons" });
    contacts.forEach((c, k) => buttons.append(el("button", { click: () => this.select({ kind: "contact", index: k, run: 0 }) }, c.name)));
    return el("section", {}, el("h2", {}, "Contacts"), buttons);
  }

  /** Goes to a time. */
  seek(t: number) {
    this.t = Math.min(Math.max(0, t), this.end);
    this.refresh();
  }

  seekFrame(k: number) {
    const frame = Math.min(Math.max(0, Math.round(k)), this.run.frames - 1);
    this.seek(this.run.times[frame]);
  }

  /** Draws everything anew that depends on time, selection or options. */
  refresh() {
    if (!this.runs.length) return;
    const frame = this.frame;
    this.runs.forEach((run, k) => this.pictures[k].update(run.frameAt(this.t), this.look));
    if (this.following && this.selection?.kind === "body") {
      const pose = this.runs[this.selection.run].pose(this.selection.index, frame, []);
      this.stage.follow([pose[0], pose[1], pose[2]]);
    } else this.stage.follow(null);
    this.slider.value = String(frame);
    this.slider.setAttribute("aria-valuetext", time(this.t, this.end));
    this.clock.textContent = time(this.t, this.end);
    this.energy.at(this.t);
    this.cardChart.at(this.t);
    for (const [button, get] of this.toggles) button.setAttribute("aria-pressed", String(get()));
    this.showCard();
    this.scale.replaceChildren(...meshScale(this.look, this.pictures[0]));
    this.stage.request();
    document.documentElement.dataset.frame = String(frame);
    clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => this.toHash(), 250);
  }

  private showCard() {
    const card = document.getElementById("card");
    if (card) card.hidden = !this.selection;
    if (!this.selection) return;
    const { kind, index, run: k } = this.selection;
    const run = this.runs[k];
    const frame = run.frameAt(this.t);
    const close = el("button", { "aria-label": "Close the card", click: () => this.select(null) }, "×");
    if (kind === "contact") {
      const c = run.contacts(frame).find((c) => c.contact === index);
      const name = run.head.contacts[index].name;
      this.card.replaceChildren(
        el("h2", {}, `Contact ${name} `, close),
        c ? rows(contactRows(run, frame, c)) : el("p", { class: "small" }, "Not in contact in this frame."),
      );
    } else {
      this.card.replaceChildren(
        el("h2", {}, `Body ${run.head.bodies[index].name} `, close),
        rows(bodyRows(run, frame, index)),
        el("div", { class: "buttons" }, el("button", { "aria-pressed": String(this.following), click: () => ((this.following = !this.following), this.refresh()) }, "Follow (B)")),
      );
    }
  }

  select(selection: Selection) {
    this.selection = selection;
    if (selection?.kind !== "body") this.following = false;
    this.refresh();
    if (!selection) return;
    const run = this.runs[selection.run];
    if (selection.kind === "contact") {
      const series = run.contactSeries(selection.index);
      const force = (part: "n" | "t") =>
        series.map((c, f) => {
          if (!c || !(run.spans[f] > 0)) return c ? 0 : NaN;
          const pn = dot(c.impulse, c.normal);
          return (part === "n" ? pn : norm([0, 1, 2].map((k) => c.impulse[k] - pn * c.normal[k]) as Vec)) / run.spans[f];
        });
      const curves: Curve[] = [
        { label: "normal force", colour: css(modeColour(1)), dash: [], values: force("n") },
        { label: "tangential force", colour: css(modeColour(2)), dash: [5, 3], values: force("t") },
      ];
      this.cardChart.plot(run.times, curves, "N");
    } else {
      const pose: number[] = [];
      const up = run.head.planar ? 1 : 2;
      const column = (axis: number) => Float64Array.from({ length: run.frames }, (_, f) => run.pose(selection.index, f, pose)[axis]);
      const curves: Curve[] = [
        { label: "x", colour: css(modeColour(1)), dash: [], values: column(0) },
        { label: up === 1 ? "y" : "z", colour: css(modeColour(2)), dash: [5, 3], values: column(up) },
      ];
      this.cardChart.plot(run.times, curves, "m");
    }
    this.cardChart.at(this.t);
  }

  private placeLabels() {
    if (!this.runs.length) return;
    const marks: HTMLElement[] = [];
    const frame = this.frame;
    const put = (p: Vec, k: number, element: HTMLElement) => {
      const at = this.stage.project(p, k);
      if (!at) return;
      element.style.left = `${at[0]}px`;
      element.style.top = `${at[1]}px`;
      marks.push(element);
    };
    if (this.look.labels) {
      const { values, at } = this.run.drawnPoints(frame);
      let k = at;
      for (const line of this.run.head.lines) {
        const last = k + 2 * (line.count - 1);
        if (line.label) put([values[last], values[last + 1], 0], 0, el("span", {}, line.label));
        k += 2 * line.count;
      }
    }
    if (this.selection) {
      const run = this.runs[this.selection.run];
      const frame = run.frameAt(this.t);
      if (this.selection.kind === "body") {
        const pose = run.pose(this.selection.index, frame, []);
        put([pose[0], pose[1], pose[2]], this.selection.run, el("span", { class: "mark" }));
      } else {
        const c = run.contacts(frame).find((c) => c.contact === this.selection?.index);
        if (c && Number.isFinite(c.place[0])) put(c.place, this.selection.run, el("span", { class: "mark" }));
      }
    }
    this.labels.replaceChildren(...marks);
    document.documentElement.dataset.cost = this.stage.cost.toFixed(1);
  }

  private pointer() {
    const canvas = this.stage.canvas;
    let down: [number, number] | null = null;
    canvas.addEventListener("pointerdown", (e) => (down = [e.offsetX, e.offsetY]));
    canvas.addEventListener("pointerup", (e) => {
      if (down && Math.hypot(e.offsetX - down[0], e.offsetY - down[1]) < 5) this.pick(e.offsetX, e.offsetY);
      down = null;
    });
  }

  /** Selects what lies under a place on the screen. */
  pick(x: number, y: number) {
    for (let k = 0; k < this.runs.length; k++) {
      const frame = this.runs[k].frameAt(this.t);
      const project = (p: Vec) => this.stage.project(p, k);
      const contact = this.look.contacts ? pickContact(this.pictures[k], frame, project, [x, y], 22) : null;
      if (contact) return this.select({ kind: "contact", index: contact.contact, run: k });
      const body = pickBody(this.pictures[k], frame, project, [x, y], 40);
      if (body !== null) return this.select({ kind: "body", index: body, run: k });
    }
    this.select(null);
  }

  setPlaying(on: boolean) {
    this.playing = on;
    this.play.textContent = on ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    if (this.t >= this.end - 1e-12) this.t = 0;
    let before = performance.now();
    const tick = (now: number) => {
      if (!this.playing) return;
      const t = this.t + ((now - before) / 1000) * this.speed;
      before = now;
      this.seek(t);
      if (t >= this.end) this.setPlaying(false);
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  private changeSpeed(by: number) {
    const near = SPEEDS.reduce((best, s, k) => (Math.abs(Math.log(s / this.speed)) < Math.abs(Math.log(SPEEDS[best] / this.speed)) ? k : best), 0);
    this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, near + by))];
    this.speedLabel.textContent = `× ${plain(this.speed)}`;
  }

  setTheme(dark: boolean) {
    this.look.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    if (!this.runs.length) return;
    this.energy.draw();
    this.cardChart.draw();
    this.refresh();
  }

  /** Saves picture, title and time as one PNG. */
  savePicture(): string {
    this.stage.render();
    const source = this.stage.canvas;
    const out = el("canvas");
    out.width = source.width;
    out.height = source.height;
    const context = out.getContext("2d");
    if (!context) return "";
    const style = getComputedStyle(document.documentElement);
    context.fillStyle = style.getPropertyValue("--ground");
    context.fillRect(0, 0, out.width, out.height);
    context.drawImage(source, 0, 0);
    context.fillStyle = style.getPropertyValue("--ink");
    const size = Math.round(source.width / 60);
    context.font = `${size}px system-ui, sans-serif`;
    context.fillText(`${this.run.head.title || this.run.head.name}, t = ${time(this.t, this.end)}`, size, 1.6 * size);
    const url = out.toDataURL("image/png");
    el("a", { href: url, download: `${this.run.head.name}-${this.t.toFixed(4)}.png` }).click();
    return url;
  }

  private key(e: KeyboardEvent) {
    const tag = (e.target as HTMLElement).tagName;
    if (e.ctrlKey || e.metaKey || e.altKey || tag === "SELECT" || tag === "TEXTAREA") return;
    const typing = tag === "INPUT" && e.target !== this.slider;
    if (typing && !["Escape"].includes(e.key)) return;
    const actions: Record<string, () => void> = {
      " ": () => this.setPlaying(!this.playing),
      ArrowRight: () => this.seekFrame(this.frame + (e.shiftKey ? 10 : 1)),
      ArrowLeft: () => this.seekFrame(this.frame - (e.shiftKey ? 10 : 1)),
      Home: () => this.seek(0),
      End: () => this.seek(this.end),
      "[": () => this.changeSpeed(-1),
      "]": () => this.changeSpeed(1),
      f: () => this.stage.look("default"),
      t: () => this.setTheme(!this.look.dark),
      c: () => ((this.look.contacts = !this.look.contacts), this.refresh()),
      k: () => ((this.look.cones = !this.look.cones), this.refresh()),
      g: () => ((this.look.ghost = !this.look.ghost), this.refresh()),
      h: () => ((this.look.chains = !this.look.chains), this.refresh()),
      b: () => ((this.following = this.selection?.kind === "body" && !this.following), this.refresh()),
      p: () => this.savePicture(),
      "?": () => this.help.showModal(),
      Escape: () => this.select(null),
    };
    VIEWS.forEach((view, k) => (actions[String(k + 1)] = () => this.stage.look(view)));
    const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action || (e.key === " " && tag === "BUTTON")) return;
    e.preventDefault();
    action();
  }

  private toHash() {
    const parts = [`t=${Number(this.t.toPrecision(9))}`];
    if (this.selection) parts.push(`${this.selection.kind === "contact" ? "c" : "b"}=${this.selection.index}`);
    const keep = location.hash.slice(1).split("&").filter((p) => p.startsWith("scene="));
    history.replaceState(null, "", `#${[...keep, ...parts].join("&")}`);
  }

  private fromHash() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const t = Number(parts.get("t"));
    if (parts.has("t") && Number.isFinite(t)) this.seek(t);
    const contact = Number(parts.get("c"));
    if (parts.has("c") && contact < this.run.head.contacts.length) this.select({ kind: "contact", index: contact, run: 0 });
    const body = Number(parts.get("b"));
    if (parts.has("b") && body < this.run.head.bodies.length) this.select({ kind: "body", index: body, run: 0 });
  }
}
