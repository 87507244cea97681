// The data that the engine writes: a head in JSON and tables in bytes (crates/stickslip/src/view/encode.rs).

export interface Block {
  name: string;
  kind: "real" | "fixed";
  rows: number;
  columns: number;
  offset: number;
  low: number;
  step: number;
}

export interface Geometry {
  balls: [number, number, number, number][];
  points: number[];
  faces: number[][];
  half_spaces: number[][];
}

export interface Body {
  name: string;
  geometry: number;
  mass: number;
  free: boolean;
  moving: number | null;
  start: number[];
}

export interface Line {
  count: number;
  radius: number | null;
  label: string | null;
  moving: boolean;
}

export interface Obstacle {
  kind: "plane" | "sphere" | "cylinder";
  point: number[];
  direction: number[];
  radius: number;
  inside: boolean;
}

export interface RunEvent {
  t: number;
  kind: string;
  contact: string;
  approach: number | null;
  impulse: number | null;
  energy?: number | null;
  count?: number | null;
}

export interface Worst {
  value: number | null;
  t: number;
  contact: string;
}

export interface Summary {
  outcome: string;
  reason: string;
  certified: boolean;
  steps: number;
  solver: string;
  warnings: string[];
  energy: { start: number; end: number; closed: boolean; worst_ratio: number | null };
  certificate: {
    worst: number | null;
    limit: number;
    natural_map: Worst;
    several_solutions: number;
    no_solution: number;
    not_converged: number;
    uniqueness_not_examined: number;
  };
  painleve: { smallest_margin: number | null; t: number; contact: string; steps_inside: number } | null;
  positions?: { penetration: Worst; joint: Worst };
  world?: { penetration?: { worst: number; time: number; pair: string } } | null;
}

export interface Settings {
  scene: string;
  scheme: string;
  law: string;
  impact: string;
  step: number;
  until: number;
  tolerance: number;
  on_several: string;
  several_rule: string;
  parameters: Record<string, number | null>;
}

export interface Head {
  format: number;
  engine: string;
  name: string;
  title: string;
  description: string;
  look_for: string;
  source: string;
  settings: Settings;
  planar: boolean;
  geometries: Geometry[];
  bodies: Body[];
  lines: Line[];
  mesh: { points: number[]; faces: number[][] } | null;
  obstacles: Obstacle[];
  sections: { mu: number | null; outline: [number, number][] }[];
  contacts: { name: string; bodies: [number, number] | null }[];
  energy_columns: string[];
  motion_columns: string[];
  events: RunEvent[];
  summary: Summary | null;
  branches: { parent: number | null; t_start: number; choice: number; finished: boolean }[];
  branches_left_out: number;
  notes: string[];
  frames: number;
  contact_width: number;
  blocks: Block[];
}

/** A table of numbers, row after row. */
export interface Table {
  rows: number;
  columns: number;
  values: Float64Array | Float32Array;
}

export const FORMAT = 1;

/** Reads one block. */
export function decode(block: Block, bytes: Uint8Array): Table {
  const { rows, columns, offset } = block;
  const count = rows * columns;
  if (block.kind === "fixed") {
    const values = new Float32Array(count);
    for (let c = 0; c < columns; c++) {
      let sum = 0;
      for (let r = 0; r < rows; r++) {
        const at = offset + c * rows + r;
        sum = (sum + bytes[at] * 256 + bytes[at + count]) & 0xffff;
        values[r * columns + c] = block.low + sum * block.step;
      }
    }
    return { rows, columns, values };
  }
  const values = new Float64Array(count);
  // Doubles of this machine: least significant byte first everywhere a browser runs.
  const raw = new Uint8Array(values.buffer);
  for (let plane = 0; plane < 5; plane++) {
    const from = offset + plane * count;
    for (let c = 0; c < columns; c++) {
      let at = from + c * rows;
      for (let r = 0; r < rows; r++) raw[8 * (r * columns + c) + 7 - plane] = bytes[at++];
    }
  }
  return { rows, columns, values };
}

/** Bytes of a text in base 64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const modern = (Uint8Array as unknown as { fromBase64?: (t: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (modern) return modern.call(Uint8Array, text);
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) out[k] = binary.charCodeAt(k);
  return out;
}

/** Unpacks bytes that were packed with zlib. */
export async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
