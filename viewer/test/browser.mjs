// Drives the pages in Chromium: no console errors, no requests, keys, time, picking, themes, two runs, futures, live runs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { readNpy } from "./npy.mjs";

const program = process.argv[2];
const pictures = process.argv[3];
const work = mkdtempSync(join(tmpdir(), "stickslip-browser-"));
const call = (...args) => execFileSync(program, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
if (pictures) mkdirSync(pictures, { recursive: true });

/** A browser that cannot be had is no failure: 77 says so. */
async function begin() {
  try {
    const browser = await chromium.launch({
      executablePath: process.env.BROWSER,
      headless: true,
      timeout: 120000,
      args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
    });
    const page = await browser.newPage();
    const draws = await page.evaluate(() => document.createElement("canvas").getContext("webgl2") !== null);
    await page.close();
    if (draws) return browser;
    console.error("the browser has no WebGL");
  } catch (error) {
    console.error(String(error).split("\n")[0]);
  }
  process.exit(77);
}
const browser = await begin();

/** Opens a page from disk; whatever it says on the console as an error, and whatever it asks of a network, fails the test. */
async function open(file, { hash = "", dark = false, size = { width: 1120, height: 720 } } = {}) {
  const context = await browser.newContext({ offline: true, viewport: size, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(180000);
  const problems = [];
  page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  page.on("pageerror", (e) => problems.push(String(e)));
  page.on("request", (r) => /^(file|data|blob):/.test(r.url()) || problems.push(`request ${r.url()}`));
  const began = performance.now();
  await page.goto(pathToFileURL(join(work, file)) + hash);
  await page.waitForSelector("html[data-ready]", { timeout: 180000, state: "attached" });
  const opened = performance.now() - began;
  return {
    page,
    opened,
    app: (code, arg) => page.evaluate(code, arg),
    frame: () => page.evaluate(() => window.stickslip.frame),
    shot: async (name) => pictures && (await page.screenshot({ path: join(pictures, `${name}.png`) })),
    close: async () => {
      assert.deepEqual(problems, [], file);
      await context.close();
    },
  };
}

async function mechanism() {
  call("view", "slender-rod", "--until", "1", "--html", "rod.html");
  const p = await open("rod.html", { hash: "#t=0.35&c=0" });
  const { page } = p;
  // The address restores time and contact.
  assert.ok(Math.abs((await p.app(() => window.stickslip.t)) - 0.35) < 1e-6);
  assert.deepEqual(await p.app(() => window.stickslip.selection), { kind: "contact", index: 0, run: 0 });
  await page.keyboard.press("Escape");
  const before = await p.frame();
  await page.keyboard.press("ArrowRight");
  assert.equal(await p.frame(), before + 1);
  await page.keyboard.press("Shift+ArrowLeft");
  assert.equal(await p.frame(), before - 9);
  await page.keyboard.press("End");
  assert.equal(await p.frame(), await p.app(() => window.stickslip.run.frames - 1));
  await page.keyboard.press("Home");
  assert.equal(await p.frame(), 0);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.stickslip.frame > 3);
  await page.keyboard.press(" ");
  assert.equal(await p.app(() => window.stickslip.playing), false);
  const speed = await p.app(() => window.stickslip.speed);
  await page.keyboard.press("]");
  assert.ok((await p.app(() => window.stickslip.speed)) > speed);
  // Scrubbing moves the cursor of the energies.
  const cursor = () => p.app(() => Number(document.querySelector("#chart .plot canvas").dataset.cursor));
  const left = await cursor();
  await page.locator('input[aria-label="Time"]').evaluate((s) => {
    s.value = String(Number(s.max) / 2);
    s.dispatchEvent(new Event("input"));
  });
  assert.ok((await cursor()) > left + 50);
  const box = await page.locator("#chart .plot canvas").boundingBox();
  await page.mouse.click(box.x + box.width * 0.75, box.y + box.height / 2);
  assert.ok((await p.app(() => window.stickslip.t / window.stickslip.end)) > 0.6);
  // An event on the line of time.
  await page.locator("#events button").first().click({ force: true });
  const t = await p.app(() => [window.stickslip.t, window.stickslip.run.head.events[0].t]);
  assert.ok(Math.abs(t[0] - t[1]) < 1e-9);
  // The energies that are stacked add up to what was there and what was supplied.
  const gap = await p.app(() => {
    const run = window.stickslip.run;
    const columns = run.head.energy_columns.filter((n) => n.startsWith("energy.") && !n.endsWith("_change"));
    let worst = 0;
    for (let f = 0; f < run.frames; f++) {
      const supply = columns.reduce((s, n) => s + run.column(n)[f], 0);
      const energy = run.column("kinetic")[f] + run.column("potential")[f] - run.column("kinetic")[0] - run.column("potential")[0];
      worst = Math.max(worst, Math.abs(energy - supply));
    }
    return worst;
  });
  assert.ok(gap < 1e-6, `energies are off by ${gap}`);
  await page.keyboard.press("t");
  assert.equal(await p.app(() => document.documentElement.dataset.theme), "dark");
  const download = page.waitForEvent("download");
  await page.keyboard.press("p");
  assert.match((await download).suggestedFilename(), /^slender-rod-.*\.png$/);
  await p.app(() => window.stickslip.seek(0.31));
  await page.keyboard.press("t");
  await page.keyboard.press("g");
  await p.app(() => window.stickslip.select({ kind: "contact", index: 0, run: 0 }));
  await page.waitForTimeout(100);
  await p.shot("view-slender-rod");
  const unlabelled = await p.app(() => [...document.querySelectorAll("button, input, select")].filter((b) => !(b.textContent.trim() || b.getAttribute("aria-label"))).length);
  assert.equal(unlabelled, 0, "every control has a label");
  await p.close();
  const dark = await open("rod.html", { dark: true });
  assert.equal(await dark.app(() => document.documentElement.dataset.theme), "dark");
  await dark.close();
  const phone = await open("rod.html", { size: { width: 390, height: 800 } });
  assert.ok(await phone.app(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out on a phone");
  await phone.close();
  return `mechanism: opened in ${p.opened.toFixed(0)} ms`;
}

async function world() {
  call("run", "masonry-arch", "--until", "0.1", "--quiet", "--output", "arch");
  call("view", "arch", "--no-open");
  const p = await open("arch/view.html", { hash: "#t=0.06" });
  const contacts = readNpy(join(work, "arch/contacts.npy"));
  const frame = await p.frame();
  const t = await p.app(() => window.stickslip.run.times[window.stickslip.frame]);
  const rows = contacts.filter((c) => Math.abs(c.t - t) < 1e-9);
  assert.ok(rows.length > 20);
  const shown = await p.app((f) => window.stickslip.run.contacts(f), frame);
  assert.equal(shown.length, rows.length);
  // Click the contact with the largest impulse; card and file agree.
  const size = (c) => Math.hypot(c.impulse[0], c.impulse[1], c.impulse[2]);
  const strongest = shown.reduce((a, b) => (size(b) > size(a) ? b : a));
  const at = await p.app((place) => window.stickslip.stage.project(place), strongest.place);
  const box = await p.page.locator("#stage canvas").boundingBox();
  await p.page.mouse.click(box.x + at[0], box.y + at[1]);
  const chosen = await p.app(() => window.stickslip.selection);
  assert.equal(chosen.kind, "contact");
  const picked = shown.find((c) => c.contact === chosen.index);
  const row = rows.reduce((a, b) => (Math.hypot(b.x - picked.place[0], b.y - picked.place[1]) < Math.hypot(a.x - picked.place[0], a.y - picked.place[1]) ? b : a));
  const near = (a, b, scale) => assert.ok(Math.abs(a - b) <= 2 ** -28 * Math.max(scale, Math.abs(b)), `${a} and ${b}`);
  ["px", "py", "pz"].forEach((k, i) => near(picked.impulse[i], row[k], 0));
  ["ux", "uy", "uz"].forEach((k, i) => near(picked.velocity[i], row[k], 0));
  ["x", "y", "z"].forEach((k, i) => near(picked.place[i], row[k], 0));
  near(picked.gap, row.gap, 0);
  assert.equal(picked.mode, row.mode);
  const pn = row.px * row.nx + row.py * row.ny + row.pz * row.nz;
  const card = await p.page.locator("#card").innerText();
  const told = Number(/normal impulse\s+(−?[\d.]+)/.exec(card)[1].replace("−", "-"));
  const digits = Number(pn.toPrecision(4));
  assert.ok([1, 1e3, 1e-3, 1e6].some((f) => Math.abs(told * f - digits) < 1e-9 * f + 1e-6 * Math.abs(digits)), `the card says ${told}, the file ${pn}`);
  await p.page.keyboard.press("h");
  await p.page.waitForTimeout(100);
  await p.shot("view-masonry-arch");
  await p.close();
  return `world: ${rows.length} contacts, numbers of the picked one equal those of contacts.npy`;
}

async function others() {
  call("view", "elastic-block", "--until", "0.12", "--html", "block.html");
  const block = await open("block.html", { hash: "#t=0.09" });
  assert.ok(await block.app(() => window.stickslip.run.stressMax > 0));
  await block.shot("view-elastic-block");
  await block.close();
  call("view", "spinning-top", "--until", "0.1", "--html", "top.html");
  const top = await open("top.html");
  for (const key of ["1", "2", "3", "4", "5", "6", "f"]) await top.page.keyboard.press(key);
  await top.close();
  call("view", "dice", "--until", "0.4", "--html", "dice.html");
  const dice = await open("dice.html", { hash: "#t=0.24" });
  const at = await dice.app(() => {
    const run = window.stickslip.run;
    const k = run.head.bodies.findIndex((b) => b.free);
    window.stickslip.select({ kind: "body", index: k, run: 0 });
    window.stickslip.following = true;
    window.stickslip.refresh();
    return k;
  });
  assert.match(await dice.page.locator("#card").innerText(), /mass/);
  assert.ok(at >= 0);
  await dice.page.keyboard.press("k");
  await dice.page.waitForTimeout(100);
  await dice.shot("view-dice");
  await dice.close();
  for (const [name, mu] of [["a", "0.2"], ["b", "0.9"]]) call("run", "slender-rod", "--set", `mu=${mu}`, "--until", "1", "--quiet", "--output", name);
  call("view", "a", "b", "--html", "two.html");
  const two = await open("two.html", { hash: "#t=0.6" });
  assert.equal(await two.app(() => window.stickslip.runs.length), 2);
  const alike = () => two.app(() => window.stickslip.stage.canvas.toDataURL());
  const overlaid = await alike();
  await two.page.getByRole("button", { name: "Side by side" }).click();
  await two.page.waitForTimeout(150);
  assert.notEqual(await alike(), overlaid);
  await two.shot("view-two-runs");
  await two.close();
  call("view", "painleve-start", "--html", "futures.html");
  const futures = await open("futures.html", { hash: "#t=0.08" });
  const points = () => futures.app(() => { const r = window.stickslip.run; const { values, at } = r.drawnPoints(window.stickslip.frame); return [values[at], values[at + 1]]; });
  const rule = await points();
  await futures.page.locator("#futures button").nth(1).click();
  assert.notDeepEqual(await points(), rule, "another future moves otherwise");
  await futures.shot("view-painleve-futures");
  await futures.close();
  return "elastic bodies, bodies in space, two runs, futures";
}

async function live() {
  call("view", "slender-rod", "--live", "--html", "live.html");
  const p = await open("live.html");
  const state = () => p.app(() => { const r = window.stickslip.run; const { values, at } = r.drawnPoints(r.frames - 1); return [values[at], values[at + 1]]; });
  const runs = () => p.app(() => Number(document.documentElement.dataset.live));
  const again = async (change) => {
    const before = await runs();
    await change();
    await p.page.waitForFunction((n) => Number(document.documentElement.dataset.live) > n, before, { timeout: 180000 });
  };
  const end = await state();
  const slide = (name, value) => p.page.locator(`input[data-name="${name}"]`).evaluate((s, v) => { s.value = String(v); s.dispatchEvent(new Event("input")); }, value);
  await again(() => slide("mu", 0.05));
  assert.notDeepEqual(await state(), end, "the slider changes the motion");
  const costs = [];
  for (const mu of [0.1, 0.2, 0.3]) {
    await again(() => slide("mu", mu));
    costs.push(await p.app(() => window.lab.cost));
  }
  const steps = await p.app(() => window.stickslip.run.head.summary.steps);
  await again(() => p.page.locator('select[data-key="impact"]').selectOption("newton"));
  assert.equal(await p.app(() => window.stickslip.run.head.settings.impact), "newton");
  await p.close();
  call("lab", "--output", "site", "--no-pictures", "painleve-start", "slender-rod");
  const lab = await open("site/lab.html", { hash: "#scene=painleve-start" });
  const verdict = () => lab.page.locator("#uniqueness").getAttribute("data-verdict");
  const becomes = (word) => lab.page.waitForFunction((w) => document.getElementById("uniqueness").dataset.verdict === w, word, { timeout: 180000 });
  const mu = (v) => lab.page.locator('input[data-name="mu"]').evaluate((s, v) => { s.value = String(v); s.dispatchEvent(new Event("input")); }, v);
  await becomes("indeterminate");
  await mu(0.6);
  await becomes("regular");
  await mu(2);
  await becomes("indeterminate");
  assert.ok((await lab.page.locator("#uniqueness button").count()) >= 2, await verdict());
  await dragged(lab);
  await lab.page.waitForSelector("#map[data-whole]", { timeout: 180000, state: "attached" });
  await lab.app(() => window.stickslip.seek(0.02));
  await lab.page.waitForTimeout(100);
  await lab.shot("lab-painleve");
  await lab.close();
  const index = await browser.newPage();
  await index.goto(pathToFileURL(join(work, "site/index.html")).href);
  assert.ok((await index.locator("a.card").count()) >= 3);
  await index.close();
  return `live: slender-rod, ${steps} steps in ${Math.min(...costs).toFixed(0)} ms (best of three)`;
}

/** Shift and drag turns the rod about its tip: of all parameters the angle follows the hand. Escape puts it back. */
async function dragged(lab) {
  const angle = () => lab.app(() => { const { values, at } = window.stickslip.run.drawnPoints(0); return Math.atan2(values[at + 3] - values[at + 1], values[at + 2] - values[at]); });
  const place = (a) => lab.app((a) => window.stickslip.stage.project([2 * Math.cos(a), 2 * Math.sin(a), 0]), a);
  const turned = (a) => lab.page.waitForFunction((a) => { const { values, at } = window.stickslip.run.drawnPoints(0); return Math.abs(Math.atan2(values[at + 3], values[at + 2]) - a) < 0.02; }, a, { timeout: 180000 });
  const { mouse, keyboard } = lab.page;
  const before = await angle();
  const box = await lab.page.locator("#stage > canvas").boundingBox();
  const to = async (a) => { const [x, y] = await place(a); await mouse.move(box.x + x, box.y + y, { steps: 6 }); };
  await lab.app(() => window.stickslip.seek(0));
  await to(before);
  await keyboard.down("Shift");
  await mouse.down();
  await to(before - 0.3);
  await turned(before - 0.3);
  assert.deepEqual(await lab.app(() => Object.keys(window.lab.parameters).sort()), ["mu", "theta0"]);
  // A hand that moves on: what was begun for an earlier place gives way.
  for (const a of [0.1, 0.2, 0.3, 0.4]) await to(before - 0.3 + a);
  await turned(before + 0.1);
  await keyboard.press("Escape");
  await turned(before);
  await mouse.up();
  await keyboard.up("Shift");
  assert.deepEqual(await lab.app(() => Object.keys(window.lab.parameters)), ["mu"]);
}

async function large() {
  const text = readFileSync(new URL("./balls.toml", import.meta.url), "utf8");
  const { writeFileSync } = await import("node:fs");
  const [side, frames] = process.env.STICKSLIP_LARGE ? [100, 300] : [22, 100];
  // No two balls fall alike.
  const height = (i, j) => (0.04 * (1 + Math.sin(12.9898 * i + 78.233 * j) * Math.cos(3.7 * i * j))).toFixed(4);
  const ground = Array.from({ length: 60 }, (_, i) => `[${Array.from({ length: 60 }, (_, j) => height(i, j)).join(", ")}]`);
  const scene = text.replace("COUNT", `[${side}, ${side}, 1]`).replace("UNTIL", String(frames * 2e-3)).replace("GROUND", `[${ground.join(", ")}]`);
  writeFileSync(join(work, "balls.toml"), scene);
  call("view", "balls.toml", "--html", "balls.html");
  const p = await open("balls.html");
  const count = await p.app(() => window.stickslip.run.head.bodies.length);
  const cost = await p.app(() => { window.stickslip.seek(window.stickslip.end / 2); window.stickslip.stage.measure(); return window.stickslip.stage.measure(); });
  await p.shot("view-balls");
  await p.close();
  const size = statSync(join(work, "balls.html")).size;
  return `balls: ${count - 1} of them, ${frames} frames, page ${(size / 1e6).toFixed(1)} MB, opened in ${(p.opened / 1000).toFixed(1)} s, a frame ${cost.toFixed(0)} ms`;
}

try {
  for (const test of [mechanism, world, others, live, large]) console.log(await test());
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
