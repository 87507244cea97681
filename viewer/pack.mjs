// Packs what the crate stickslip-view embeds: `node pack.mjs page`, `node pack.mjs engine FILE.wasm`; with `--check` compares the page only.
// The program zopfli packs 5 % smaller than Node does, and wasm-opt of Binaryen leaves out functions of the engine that are
// the same (2 %; its other passes make what is packed larger); both are used where they are installed.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { fileURLToPath } from "node:url";

const assets = fileURLToPath(new URL("../crates/stickslip-view/assets/", import.meta.url));
const [what, file] = process.argv.slice(2);
const given = what === "page" || what === "--check" ? fileURLToPath(new URL("dist/index.html", import.meta.url)) : file;
const target = `${assets}${what === "engine" ? "engine.wasm.z" : "view.html.z"}`;
const source = what === "engine" ? withoutDuplicates(given) : given;
const bytes = readFileSync(source);

/** What `run` returns; where its program is not installed, says so and returns `without()`. */
function where(program, run, without, cost) {
  try {
    return run();
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    console.warn(`${program} is not installed: ${cost}`);
    return without();
  }
}

function withoutDuplicates(file) {
  const smaller = join(mkdtempSync(join(tmpdir(), "engine-")), "engine.wasm");
  const run = () => {
    execFileSync("wasm-opt", ["--duplicate-function-elimination", "--all-features", file, "-o", smaller]);
    return smaller;
  };
  return where("wasm-opt", run, () => file, "the engine is 2 % larger");
}

function pack() {
  const run = () => execFileSync("zopfli", ["--zlib", "-c", source], { maxBuffer: 1 << 26 });
  return where("zopfli", run, () => deflateSync(bytes, { level: 9 }), "packed by Node, 5 % larger");
}

if (what === "--check") {
  if (!inflateSync(readFileSync(target)).equals(bytes)) {
    console.error("the kept page is not the one that viewer/ builds: run `npm run build` in viewer/ and commit the result");
    process.exit(1);
  }
  console.log("the kept page is the one that viewer/ builds");
} else {
  const packed = pack();
  writeFileSync(target, packed);
  console.log(`${target}: ${bytes.length} bytes, packed ${packed.length}`);
}
