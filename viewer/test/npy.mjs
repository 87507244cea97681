// Reads NumPy arrays of doubles with named columns.
import { readFileSync } from "node:fs";

export function readNpy(path) {
  const bytes = readFileSync(path);
  const wide = bytes[6] > 1;
  const length = wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8);
  const start = (wide ? 12 : 10) + length;
  const header = bytes.subarray(wide ? 12 : 10, start).toString("utf8");
  const names = [...header.matchAll(/\('([^']*)', '<f8'\)/g)].map((m) => m[1]);
  const rows = Number(/'shape': \( *(\d+)/.exec(header)[1]);
  return Array.from({ length: rows }, (_, r) =>
    Object.fromEntries(names.map((name, k) => [name, bytes.readDoubleLE(start + 8 * (r * names.length + k))])),
  );
}
