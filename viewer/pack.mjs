// Packs what the crate stickslip-view embeds: `node pack.mjs page`, `node pack.mjs engine FILE.wasm`; with `--check` compares the page only.
// The program zopfli packs 5 % smaller than Node does; it is used where it is installed.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync, inflateSync } from "node:zlib";
import { fileURLToPath } from "node:url";

const assets = fileURLToPath(new URL("../crates/stickslip-view/assets/", import.meta.url));
const [what, file] = process.argv.slice(2);
const source = what === "page" || what === "--check" ? fileURLToPath(new URL("dist/index.html", import.meta.url)) : file;
const target = `${assets}${what === "engine" ? "engine.wasm.z" : "view.html.z"}`;
const bytes = readFileSync(source);

function pack() {
  try {
    return execFileSync("zopfli", ["--zlib", "-c", source], { maxBuffer: 1 << 26 });
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    console.warn("zopfli is not installed: packed by Node, 5 % larger");
    return deflateSync(bytes, { level: 9 });
  }
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
