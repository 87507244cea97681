// The kept engine for browsers against the program: the same end states to 1e-9, and what it refuses.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import assert from "node:assert/strict";

const program = process.argv[2];
const packed = readFileSync(new URL("../../crates/stickslip-view/assets/engine.wasm.z", import.meta.url));
const module = new WebAssembly.Module(inflateSync(packed));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the engine asks nothing of its host");
const engine = new WebAssembly.Instance(module, {}).exports;

function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = engine.request(bytes.length);
  new Uint8Array(engine.memory.buffer).set(bytes, at);
  engine.answer();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.text(), engine.text_length())));
}

const work = mkdtempSync(join(tmpdir(), "stickslip-engine-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));
const scene = (name) => readFileSync(new URL(`../../scenes/${name}.toml`, import.meta.url), "utf8");
for (const [name, until] of [["bouncing-ball", 1], ["slender-rod", 0.5], ["block-on-incline", 0.2]]) {
  const text = execFileSync(program, ["run", name, "--until", String(until), "--json", "--no-plots", "--output", join(work, name)], { encoding: "utf8" });
  const native = JSON.parse(text);
  const { summary } = ask({ task: "run", name, scene: scene(name), keys: { until: String(until) } });
  assert.equal(summary.outcome, "finished");
  assert.equal(summary.certified, native.certified);
  for (const part of ["coordinates", "velocities"])
    for (const [key, value] of Object.entries(native[part])) {
      const mine = summary[part][key];
      const stale = "the kept engine is older than the sources: run `npm run engine` in viewer/ and commit the result";
      assert.ok(Math.abs(mine - value) <= 1e-9 * Math.max(1, Math.abs(value)), `${name} ${key}: ${mine} in the browser, ${value} here; ${stale}`);
    }
}
const start = { name: "painleve-start", scene: scene("painleve-start"), gap: 1e-3 };
assert.equal(ask({ ...start, task: "verdict" }).verdict, "indeterminate");
assert.equal(ask({ ...start, task: "verdict", parameters: { mu: "0.5" } }).verdict, "regular");
const row = ask({ ...start, task: "map", row: ["theta0", [1.0472]], column: ["mu", 0.5] });
assert.deepEqual(row.cells, ["regular"]);
assert.match(ask({ ...start, task: "run", parameters: { nu: "1" } }).error, /no parameter `nu`/);
assert.match(ask({ ...start, task: "run", scene: "title = " }).error, /painleve-start.toml/);
const page = readFileSync(new URL("../../crates/stickslip-view/assets/view.html.z", import.meta.url));
assert.ok(page.length <= 250e3, `the page has ${page.length} bytes packed, more than 250 kB`);
assert.ok(page.length + packed.length <= 1.3e6, `page and engine have ${page.length + packed.length} bytes packed, more than 1.3 MB`);
console.log(`engine for browsers: ${packed.length} bytes packed, agrees with the program to 1e-9`);
