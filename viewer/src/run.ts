// One run: its head and its tables, and what is asked of them.

import { type Block, type Head, type Table, decode } from "./format";

export type Vec = [number, number, number];

/** A contact in one frame; vectors in world axes, impulses summed over the steps of the frame. */
export interface Contact {
  contact: number;
  mode: number;
  section: number;
  place: Vec;
  normal: Vec;
  tangent: Vec;
  impulse: Vec;
  velocity: Vec;
  gap: number;
}

export const dot = (a: Vec, b: Vec) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const norm = (a: Vec) => Math.sqrt(dot(a, a));

export const MODES = ["open", "stick", "slip", "closed"];

const EMPTY: Table = { rows: 0, columns: 0, values: new Float64Array(0) };

export class Run {
  readonly times: ArrayLike<number>;
  readonly spans: ArrayLike<number>;
  readonly points: Table;
  readonly places: Table;
  readonly rotations: Table;
  readonly displacements: Table;
  readonly stresses: Table;
  readonly obstacleMoves: Table;
  readonly energy: Table;
  readonly motion: Table;
  private readonly starts: ArrayLike<number>;
  private readonly rows: Table;
  /** Column of the rotation of each moving body; -1 for balls, which turn unseen. */
  private readonly turning: number[] = [];
  /** Largest stress of the run. */
  readonly stressMax: number;
  /** The future that is shown in place of the run itself; -1 for the run. */
  branch = -1;
  private readonly branchTables: { times: Table; points: Table }[];

  constructor(
    readonly head: Head,
    bytes: Uint8Array,
  ) {
    const byName = new Map<string, Block>(head.blocks.map((b) => [b.name, b]));
    const table = (name: string) => {
      const block = byName.get(name);
      return block ? decode(block, bytes) : EMPTY;
    };
    this.times = table("times").values;
    this.spans = table("spans").values;
    this.points = table("points");
    this.places = table("places");
    this.rotations = table("rotations");
    this.displacements = table("displacements");
    this.stresses = table("stresses");
    this.obstacleMoves = table("obstacle_moves");
    this.energy = table("energy");
    this.motion = table("motion");
    this.starts = table("contact_starts").values;
    this.rows = table("contacts");
    let column = 0;
    for (const body of head.bodies) {
      if (body.moving === null) continue;
      const g = head.geometries[body.geometry];
      const round = g.faces.length === 0 && !head.planar && g.balls.every((b) => !b[0] && !b[1] && !b[2]);
      this.turning.push(round ? -1 : column);
      if (!round) column += 4;
    }
    let most = 0;
    for (const s of this.stresses.values) if (s > most) most = s;
    this.stressMax = most;
    this.branchTables = head.branches.map((_, k) => ({ times: table(`branch${k}.times`), points: table(`branch${k}.points`) }));
  }

  get frames(): number {
    return this.times.length;
  }
  get end(): number {
    return this.frames ? this.times[this.frames - 1] : 0;
  }

  /** The last frame that is not after `t`. */
  frameAt(t: number): number {
    let low = 0;
    let high = this.frames - 1;
    const near = 1e-9 * Math.max(1e-9, this.end);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= t + near) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Place and quaternion (w, x, y, z) of a body. */
  pose(body: number, frame: number, out: number[]): number[] {
    const b = this.head.bodies[body];
    for (let k = 0; k < 7; k++) out[k] = b.start[k];
    if (b.moving === null) return out;
    const p = frame * this.places.columns + 3 * b.moving;
    for (let k = 0; k < 3; k++) out[k] = this.places.values[p + k];
    const turning = this.turning[b.moving];
    if (turning >= 0) {
      const r = frame * this.rotations.columns + turning;
      for (let k = 0; k < 4; k++) out[3 + k] = this.rotations.values[r + k];
    }
    return out;
  }

  private row(k: number): Contact {
    const v = this.rows.values;
    const at = k * this.rows.columns;
    const vector = (i: number): Vec => [v[at + i], v[at + i + 1], v[at + i + 2]];
    return {
      contact: v[at],
      mode: v[at + 1],
      section: v[at + 2],
      place: vector(3),
      normal: vector(6),
      tangent: vector(9),
      impulse: vector(12),
      velocity: vector(15),
      gap: v[at + 18],
    };
  }

  contacts(frame: number): Contact[] {
    const out: Contact[] = [];
    for (let k = this.starts[frame] ?? 0; k < (this.starts[frame + 1] ?? 0); k++) out.push(this.row(k));
    return out;
  }

  /** Largest number of contacts in a frame. */
  contactsMost(): number {
    let most = 0;
    for (let f = 0; f < this.frames; f++) most = Math.max(most, this.starts[f + 1] - this.starts[f]);
    return most;
  }

  /** One contact over all frames; none where it is not listed. */
  contactSeries(contact: number): (Contact | null)[] {
    const out: (Contact | null)[] = [];
    const v = this.rows.values;
    for (let f = 0; f < this.frames; f++) {
      let found: Contact | null = null;
      for (let k = this.starts[f]; k < this.starts[f + 1]; k++) {
        if (v[k * this.rows.columns] === contact) {
          found = this.row(k);
          break;
        }
      }
      out.push(found);
    }
    return out;
  }

  /** The sign that makes an impulse act on a body that can move: worlds tell that on the first body, which may be an obstacle. */
  side(contact: Contact): 1 | -1 {
    const bodies = this.head.contacts[contact.contact].bodies;
    return bodies && !this.head.bodies[bodies[0]].free ? -1 : 1;
  }

  /** Mean force of a frame on a contact; the impulse itself where the frame covers no time. */
  force(contact: Contact, frame: number): Vec {
    const span = this.spans[frame];
    const f = this.side(contact) * (span > 0 ? 1 / span : 1);
    return [contact.impulse[0] * f, contact.impulse[1] * f, contact.impulse[2] * f];
  }

  /** Sizes of all forces of the run that are not zero, in order. */
  forceSizes(): number[] {
    const out: number[] = [];
    const v = this.rows.values;
    const w = this.rows.columns;
    const every = Math.max(1, Math.floor(this.rows.rows / 20000));
    for (let f = 0; f < this.frames; f++) {
      const span = this.spans[f];
      for (let k = this.starts[f]; k < this.starts[f + 1]; k += every) {
        const p = Math.hypot(v[k * w + 12], v[k * w + 13], v[k * w + 14]);
        if (p > 0 && span > 0) out.push(p / span);
      }
    }
    return out.sort((a, b) => a - b);
  }

  /** Points of the drawn shapes: of the run, or of the future that was chosen. */
  drawnPoints(frame: number): { values: ArrayLike<number>; at: number } {
    const chosen = this.branchTables[this.branch];
    if (!chosen || chosen.times.rows === 0) return { values: this.points.values, at: frame * this.points.columns };
    const t = this.times[frame];
    let k = 0;
    while (k + 1 < chosen.times.rows && chosen.times.values[k + 1] <= t + 1e-12) k++;
    // Before it left, a future is one with its parent.
    if (chosen.times.values[0] > t) {
      const own = this.branch;
      this.branch = this.head.branches[own].parent ?? -1;
      const answer = this.drawnPoints(frame);
      this.branch = own;
      return answer;
    }
    return { values: chosen.points.values, at: k * chosen.points.columns };
  }

  column(name: string): Float64Array {
    const k = this.head.energy_columns.indexOf(name);
    const out = new Float64Array(this.frames);
    if (k >= 0) for (let f = 0; f < this.frames; f++) out[f] = this.energy.values[f * this.energy.columns + k];
    return out;
  }

  motionColumn(k: number): Float64Array {
    const out = new Float64Array(this.frames);
    for (let f = 0; f < this.frames; f++) out[f] = this.motion.values[f * this.motion.columns + k];
    return out;
  }

  /** Corners of the box of everything that is seen, over all frames. */
  bounds(): [Vec, Vec] {
    const low: Vec = [Infinity, Infinity, Infinity];
    const high: Vec = [-Infinity, -Infinity, -Infinity];
    const add = (x: number, y: number, z: number, r = 0) => {
      const p = [x, y, z];
      for (let k = 0; k < 3; k++) {
        if (!Number.isFinite(p[k])) continue;
        low[k] = Math.min(low[k], p[k] - r);
        high[k] = Math.max(high[k], p[k] + r);
      }
    };
    const head = this.head;
    const radii = head.geometries.map((g) => {
      let r = 0;
      for (const b of g.balls) r = Math.max(r, Math.hypot(b[0], b[1], b[2]) + b[3]);
      for (let k = 0; k < g.points.length; k += 3) r = Math.max(r, Math.hypot(g.points[k], g.points[k + 1], g.points[k + 2]));
      return r;
    });
    const every = Math.max(1, Math.floor(this.frames / 40));
    const pose: number[] = [];
    let moved = false;
    for (let f = 0; f < this.frames; f += every) {
      const { values, at } = this.drawnPoints(f);
      let k = at;
      for (const line of head.lines) {
        for (let p = 0; p < line.count; p++, k += 2) add(values[k], values[k + 1], 0, line.radius ?? 0);
      }
      for (let b = 0; b < head.bodies.length; b++) {
        if (!head.bodies[b].free) continue;
        this.pose(b, f, pose);
        add(pose[0], pose[1], pose[2], radii[head.bodies[b].geometry]);
        moved = true;
      }
      if (head.mesh) {
        const points = head.mesh.points;
        const at = f * this.displacements.columns;
        for (let n = 0; n < points.length; n += 3)
          add(points[n] + this.displacements.values[at + n], points[n + 1] + this.displacements.values[at + n + 1], points[n + 2] + this.displacements.values[at + n + 2]);
      }
      if (!head.lines.length && !head.bodies.length && !head.mesh) for (const c of this.contacts(f)) add(...c.place);
    }
    if (!moved) head.bodies.forEach((b) => radii[b.geometry] > 0 && add(b.start[0], b.start[1], b.start[2], radii[b.geometry]));
    for (let k = 0; k < 3; k++) if (!(low[k] <= high[k])) [low[k], high[k]] = [-0.5, 0.5];
    if (head.planar) [low[2], high[2]] = [0, 0];
    return [low, high];
  }
}
