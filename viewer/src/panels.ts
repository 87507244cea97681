// What stands beside the picture: the verdict in words, the scene, cards of contacts and bodies, the tree of futures.

import { el, rows } from "./element";
import type { Summary } from "./format";
import { type Contact, MODES, type Run, type Vec, dot, norm } from "./run";
import { plain, quantity, time } from "./words";

/** Keys, and what they do. */
export const KEYS: [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "one frame; with Shift ten"],
  ["Home End", "start, end"],
  ["[ ]", "slower, faster"],
  ["1 – 6", "views"],
  ["F", "show everything"],
  ["C K G H", "contacts, cones, ghost of the start, force chains"],
  ["B", "follow the chosen body"],
  ["T", "light or dark"],
  ["P", "save the picture"],
  ["?", "this help"],
];

/** The certificate in words. */
export function verdict(run: Run): HTMLElement {
  const { summary, settings } = run.head;
  const section = el("section", { id: "verdict", "aria-label": "Verdict" });
  if (!summary) {
    section.append(el("h2", {}, "Verdict"), el("p", { class: "bad" }, "The run is not over."));
    return section;
  }
  const c = summary.certificate;
  const outcome = summary.outcome === "finished" ? "finished" : `${summary.outcome}${summary.reason ? `: ${summary.reason}` : ""}`;
  section.append(
    el("h2", {}, "Verdict"),
    el("p", { class: summary.certified ? "good" : "bad" }, summary.certified ? `${outcome}, certified` : `${outcome}, not certified`),
    rows([
      ["worst residual", plain(c.worst ?? NaN)],
      ["at most", plain(c.limit)],
      ["energy account", summary.energy.closed ? "closed in every step" : "open"],
      ...positions(summary),
      ...(summary.painleve ? ([["smallest Painlevé margin", plain(summary.painleve.smallest_margin ?? NaN)]] as [string, string][]) : []),
      ["problems with several solutions", String(c.several_solutions)],
      ["steps", `${summary.steps} of ${quantity(settings.step, "s")}`],
      ["law, impact, scheme", `${settings.law}, ${settings.impact}, ${settings.scheme}`],
    ]),
  );
  for (const warning of summary.warnings) section.append(el("p", { class: "small" }, `Warning: ${warning}`));
  return section;
}

/** How far positions left their constraints. */
function positions(summary: Summary): [string, string][] {
  const { world, positions: found } = summary;
  if (world?.penetration) return [["deepest overlap", quantity(world.penetration.worst, "m")]];
  const out: [string, string][] = [];
  if (found) out.push(["deepest penetration", quantity(found.penetration.value ?? NaN, "m")]);
  if (found?.joint.value) out.push(["worst joint violation", plain(found.joint.value)]);
  return out;
}

export function about(run: Run): HTMLElement | null {
  const { head } = run;
  if (!head.description && !head.look_for && !head.source && !head.notes.length) return null;
  const section = el("section", { "aria-label": "The scene" }, el("h2", {}, "The scene"));
  for (const text of [head.description, head.look_for && `Look for: ${head.look_for}`]) if (text) section.append(el("p", {}, text));
  if (head.source) section.append(el("p", { class: "small" }, `Source: ${head.source}`));
  for (const note of head.notes) section.append(el("p", { class: "small" }, note));
  return section;
}

const vector = (v: Vec, unit: string) => `(${v.map((x) => plain(Math.abs(x) < 1e-14 ? 0 : x)).join(", ")}) ${unit}`;

/** Numbers of a contact in a frame. */
export function contactRows(run: Run, frame: number, c: Contact): [string, string][] {
  const pn = dot(c.impulse, c.normal);
  const tangential: Vec = [0, 1, 2].map((k) => c.impulse[k] - pn * c.normal[k]) as Vec;
  const pt = norm(tangential);
  const un = dot(c.velocity, c.normal);
  const ut = norm([0, 1, 2].map((k) => c.velocity[k] - un * c.normal[k]) as Vec);
  const section = run.head.sections[c.section];
  const span = run.spans[frame];
  return [
    ["mode", MODES[c.mode] ?? "?"],
    ["gap", quantity(c.gap, "m")],
    ["normal impulse", quantity(pn, "N s")],
    ["tangential impulse", quantity(pt, "N s")],
    ...(span > 0 ? ([["mean normal force", quantity(pn / span, "N")], ["mean tangential force", quantity(pt / span, "N")]] as [string, string][]) : []),
    ["tangential over normal", pn > 0 ? plain(pt / pn) : "–"],
    ...(section?.mu !== null && section?.mu !== undefined ? ([["friction coefficient", plain(section.mu)]] as [string, string][]) : []),
    ["normal velocity", quantity(un, "m/s")],
    ["sliding speed", quantity(ut, "m/s")],
    ...(Number.isFinite(c.place[0]) ? ([["place", vector(c.place, "m")]] as [string, string][]) : []),
  ];
}

export function bodyRows(run: Run, frame: number, body: number): [string, string][] {
  const b = run.head.bodies[body];
  const pose = run.pose(body, frame, []);
  const other = run.pose(body, Math.max(0, frame - 1), []);
  const dt = frame > 0 ? run.times[frame] - run.times[frame - 1] : 0;
  const speed = dt > 0 ? Math.hypot(pose[0] - other[0], pose[1] - other[1], pose[2] - other[2]) / dt : 0;
  const touching = run.contacts(frame).filter((c) => c.mode > 0 && run.head.contacts[c.contact].bodies?.includes(body));
  return [
    ["mass", b.mass < 1 ? quantity(b.mass * 1000, "g") : `${plain(b.mass)} kg`],
    ["place", vector([pose[0], pose[1], pose[2]], "m")],
    ["mean speed of the frame", quantity(speed, "m/s")],
    ["contacts", String(touching.length)],
  ];
}

/** The tree of futures; a click chooses one. */
export function futures(run: Run, choose: (k: number) => void): HTMLElement | null {
  const { branches, branches_left_out, settings } = run.head;
  if (branches.length < 2) return null;
  const section = el("section", { id: "futures", "aria-label": "Futures" }, el("h2", {}, `${branches.length} futures from one start`));
  const [w, h] = [290, 18 * branches.length + 16];
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
  svg.setAttribute("width", "100%");
  const x = (t: number) => 8 + ((w - 16) * t) / (settings.until || 1);
  const y = (k: number) => 14 + 18 * k;
  branches.forEach((b, k) => {
    const path = document.createElementNS(ns, "path");
    const from = b.parent === null ? "" : `M${x(b.t_start)} ${y(b.parent)} V${y(k)} `;
    path.setAttribute("d", `${from || `M${x(b.t_start)} ${y(k)} `}H${x(settings.until)}`);
    path.setAttribute("fill", "none");
    const chosen = run.branch === k || (run.branch < 0 && k === 0);
    path.setAttribute("stroke", chosen ? "var(--accent)" : "var(--soft)");
    path.setAttribute("stroke-width", chosen ? "4" : "2");
    if (!b.finished) path.setAttribute("stroke-dasharray", "5 3");
    svg.append(path);
  });
  section.append(svg);
  const buttons = el("div", { class: "buttons" });
  branches.forEach((b, k) => {
    const chosen = run.branch === k || (run.branch < 0 && k === 0);
    const name = b.parent === null ? "the rule's" : `${k + 1}: leaves at ${time(b.t_start, settings.until)}`;
    buttons.append(el("button", { "aria-pressed": String(chosen), click: () => choose(k) }, name));
  });
  section.append(buttons);
  if (branches_left_out) section.append(el("p", { class: "small" }, `${branches_left_out} branchings were left out at the bound.`));
  section.append(el("p", { class: "small" }, "Contacts and energies are those of the run itself; a future shows its motion."));
  return section;
}
