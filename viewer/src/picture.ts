// The picture of one run: everything that is drawn of a frame.

import * as THREE from "three";
import { BODIES, HELD, IMPACT, curveColour, modeColour, ramp } from "./colours";
import { type Run, type Vec, dot, norm } from "./run";
import { STROKE_TRIANGLES, Triangles, arrowGeometry, arrowMatrix, ballMaterial, coneCorners, planarGeometry, spatialGeometry } from "./glyphs";

export interface Look {
  contacts: boolean;
  cones: boolean;
  chains: boolean;
  ghost: boolean;
  labels: boolean;
  /** Factor of arrows. */
  arrows: number;
  /** Factor of displacements. */
  deformation: number;
  field: "stress" | "displacement";
  dark: boolean;
}

const rgb = (c: number): [number, number, number] => {
  const colour = new THREE.Color(c);
  return [colour.r, colour.g, colour.b];
};
const CONES_MAX = 300;
const EDGES_MAX = 6000;

interface Instances {
  mesh: THREE.InstancedMesh;
  bodies: number[];
}

export class Picture {
  readonly scene = new THREE.Scene();
  readonly group = new THREE.Group();
  readonly low: Vec;
  readonly high: Vec;
  readonly size: number;
  /** Length of an arrow per unit of force. */
  readonly arrowScale: number;
  /** Planes in space. */
  private readonly sheets: THREE.Object3D[] = [];
  private readonly strokes = new Triangles(new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide }));
  private readonly ghosts = new Triangles(
    new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, transparent: true, opacity: 0.25, depthWrite: false }),
  );
  private readonly faces: Triangles;
  private readonly cones = new Triangles(
    new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, transparent: true, opacity: 0.22, depthWrite: false }),
  );
  private readonly edges = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x303030, transparent: true, opacity: 0.5 }));
  private readonly solid: THREE.InstancedMesh;
  private readonly dashed: THREE.InstancedMesh;
  private readonly chains: THREE.InstancedMesh;
  private readonly instances: Instances[] = [];
  private readonly ghostInstances: THREE.InstancedMesh[] = [];
  private balls: THREE.Points | null = null;
  private ghostBalls: THREE.Points | null = null;
  private readonly ballBodies: { body: number; at: Vec; radius: number }[] = [];
  private readonly obstacles: THREE.Object3D[] = [];
  private readonly ambient = new THREE.HemisphereLight(0xffffff, 0x8899aa, 1.9);
  private readonly sun = new THREE.DirectionalLight(0xffffff, 1.9);

  constructor(
    readonly run: Run,
    readonly tint: number | null = null,
  ) {
    [this.low, this.high] = run.bounds();
    this.size = Math.max(this.high[0] - this.low[0], this.high[1] - this.low[1], this.high[2] - this.low[2], 1e-9);
    const sizes = run.forceSizes();
    const typical = sizes.length ? sizes[Math.floor(0.9 * (sizes.length - 1))] : 1;
    this.faces = new Triangles(
      run.head.planar
        ? new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide })
        : new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide, flatShading: true }),
    );
    const most = Math.max(1, run.contactsMost());
    this.arrowScale = (0.16 * this.size) / (typical || 1) / Math.max(1, Math.sqrt(most / 12));
    const marks = (geometry: THREE.BufferGeometry, count: number) => {
      const mesh = new THREE.InstancedMesh(geometry, new THREE.MeshLambertMaterial({ color: 0xffffff }), count);
      mesh.frustumCulled = false;
      mesh.count = 0;
      // So that marks inside bodies are seen.
      (mesh.material as THREE.Material).depthTest = false;
      mesh.renderOrder = 3;
      return mesh;
    };
    this.solid = marks(arrowGeometry(false), most);
    this.dashed = marks(arrowGeometry(true), most);
    this.chains = marks(new THREE.CylinderGeometry(1, 1, 1, 6).translate(0, 0.5, 0), most);
    this.cones.mesh.renderOrder = 2;
    this.ghosts.mesh.renderOrder = -1;
    this.sun.position.set(0.4, -0.7, 1);
    this.scene.add(this.group, this.ambient, this.sun);
    this.group.add(this.strokes.mesh, this.ghosts.mesh, this.faces.mesh, this.cones.mesh, this.edges, this.solid, this.dashed, this.chains);
    this.bodies();
    this.makeObstacles();
  }

  private bodyColour(k: number): number {
    const body = this.run.head.bodies[k];
    if (this.tint !== null) return this.tint;
    return body.free ? BODIES[k % BODIES.length] : HELD;
  }

  private bodies() {
    const { head } = this.run;
    const byGeometry = new Map<number, number[]>();
    head.bodies.forEach((body, k) => {
      const g = head.geometries[body.geometry];
      for (const b of g.balls) this.ballBodies.push({ body: k, at: [b[0], b[1], b[2]], radius: b[3] || 0.012 * this.size });
      if (g.faces.length) byGeometry.set(body.geometry, [...(byGeometry.get(body.geometry) ?? []), k]);
      for (const h of g.half_spaces) {
        const plane = this.plane([h[0] + body.start[0], h[1] + body.start[1], h[2] + body.start[2]], [h[3], h[4], h[5]]);
        this.group.add(plane);
      }
    });
    for (const [number, list] of byGeometry) {
      const g = head.geometries[number];
      const geometry = head.planar ? planarGeometry(g.points, g.faces, this.size) : spatialGeometry(g.points, g.faces, this.size);
      const material = head.planar
        ? new THREE.MeshBasicMaterial({ side: THREE.DoubleSide })
        : new THREE.MeshLambertMaterial({ flatShading: true, side: THREE.DoubleSide });
      const mesh = new THREE.InstancedMesh(geometry, material, list.length);
      mesh.frustumCulled = false;
      list.forEach((k, i) => mesh.setColorAt(i, new THREE.Color(this.bodyColour(k))));
      this.group.add(mesh);
      this.instances.push({ mesh, bodies: list });
      const ghost = new THREE.InstancedMesh(geometry, material.clone(), list.length);
      (ghost.material as THREE.MeshBasicMaterial).transparent = true;
      (ghost.material as THREE.MeshBasicMaterial).opacity = 0.18;
      (ghost.material as THREE.MeshBasicMaterial).depthWrite = false;
      ghost.frustumCulled = false;
      ghost.visible = false;
      ghost.renderOrder = 1;
      this.group.add(ghost);
      this.ghostInstances.push(ghost);
    }
    if (this.ballBodies.length && !head.planar) {
      this.balls = this.ballPoints(1);
      this.ghostBalls = this.ballPoints(0.25);
      this.ghostBalls.visible = false;
      this.group.add(this.balls, this.ghostBalls);
    }
  }

  private ballPoints(opacity: number): THREE.Points {
    const count = this.ballBodies.length;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    geometry.setAttribute("radius", new THREE.BufferAttribute(Float32Array.from(this.ballBodies, (b) => b.radius), 1));
    const colours = new Float32Array(3 * count);
    this.ballBodies.forEach((b, k) => colours.set(rgb(this.bodyColour(b.body)), 3 * k));
    geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    const material = ballMaterial();
    material.uniforms.opacity.value = opacity;
    material.transparent = opacity < 1;
    const points = new THREE.Points(geometry, material);
    points.frustumCulled = false;
    return points;
  }

  /** The ground behind a plane: a square in space, a hatched band in the plane. */
  private plane(point: Vec, normal: Vec): THREE.Object3D {
    const length = norm(normal) || 1;
    const n = normal.map((x) => x / length) as Vec;
    const middle: Vec = [0, 1, 2].map((k) => 0.5 * (this.low[k] + this.high[k])) as Vec;
    const off = dot(n, [middle[0] - point[0], middle[1] - point[1], middle[2] - point[2]]);
    const foot: Vec = [0, 1, 2].map((k) => middle[k] - off * n[k]) as Vec;
    const object = new THREE.Group();
    if (this.run.head.planar) {
      const reach = 1.4 * this.size;
      const depth = 0.05 * this.size;
      const t: Vec = [n[1], -n[0], 0];
      const at = (s: number, d: number): Vec => [foot[0] + s * t[0] - d * n[0], foot[1] + s * t[1] - d * n[1], -0.02 * this.size];
      const band = new Triangles(new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide }));
      const count = 60;
      band.begin(STROKE_TRIANGLES * (count + 1));
      const ink = rgb(0x888888);
      const [a, b] = [at(-reach, 0), at(reach, 0)];
      band.stroke(a[0], a[1], b[0], b[1], 0.006 * this.size, a[2], ink);
      for (let k = 0; k < count; k++) {
        const s = -reach + (2 * reach * (k + 0.5)) / count;
        const [p, q] = [at(s, 0), at(s - depth * 0.6, depth * 0.6)];
        band.stroke(p[0], p[1], q[0], q[1], 0.003 * this.size, p[2], ink);
      }
      band.end();
      object.add(band.mesh);
      return object;
    }
    const side = 2.4 * this.size;
    const q = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...n));
    const sheet = new THREE.Mesh(
      new THREE.PlaneGeometry(side, side),
      new THREE.MeshBasicMaterial({ color: HELD, side: THREE.DoubleSide, transparent: true, opacity: 0.35, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2 }),
    );
    const grid = new THREE.GridHelper(side, 24, 0x777777, 0x999999);
    grid.rotation.x = Math.PI / 2;
    grid.position.z = -0.001 * this.size;
    (grid.material as THREE.Material).transparent = true;
    (grid.material as THREE.Material).opacity = 0.4;
    object.add(sheet, grid);
    object.quaternion.copy(q);
    object.position.set(...foot);
    this.sheets.push(object);
    return object;
  }

  private makeObstacles() {
    for (const o of this.run.head.obstacles) {
      const point = o.point as Vec;
      let object: THREE.Object3D;
      if (o.kind === "plane") object = this.plane(point, o.direction as Vec);
      else {
        const planar = this.run.head.planar;
        const geometry =
          planar || o.kind === "sphere"
            ? planar
              ? new THREE.RingGeometry(Math.max(0, o.radius - (o.inside ? 0 : o.radius)), o.radius + (o.inside ? 0.02 * this.size : 0), 72)
              : new THREE.SphereGeometry(o.radius, 40, 24)
            : new THREE.CylinderGeometry(o.radius, o.radius, 2 * this.size, 40, 1, true);
        const material = planar
          ? new THREE.MeshBasicMaterial({ color: HELD, side: THREE.DoubleSide })
          : new THREE.MeshLambertMaterial({ color: HELD, transparent: o.inside, opacity: o.inside ? 0.25 : 1, side: o.inside ? THREE.BackSide : THREE.FrontSide });
        object = new THREE.Mesh(geometry, material);
        object.position.set(...point);
        if (planar) object.position.z = -0.02 * this.size;
        if (!planar && o.kind === "cylinder")
          object.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...(o.direction as Vec)).normalize());
      }
      object.userData.start = object.position.clone();
      this.obstacles.push(object);
      this.group.add(object);
    }
  }

  /** Draws a frame. */
  update(frame: number, look: Look) {
    this.ambient.intensity = look.dark ? 1.5 : 1.9;
    (this.edges.material as THREE.LineBasicMaterial).color.set(look.dark ? 0xdddddd : 0x303030);
    this.drawStrokes(frame, look);
    this.drawBodies(frame, look);
    this.drawMesh(frame, look);
    this.drawContacts(frame, look);
    const moves = this.run.obstacleMoves;
    if (moves.rows)
      this.obstacles.forEach((o, k) => {
        const start = o.userData.start as THREE.Vector3;
        const at = frame * moves.columns + 3 * k;
        o.position.set(start.x + moves.values[at], start.y + moves.values[at + 1], start.z + moves.values[at + 2]);
      });
  }

  private drawLines(out: Triangles, frame: number, fixed: boolean, colour: [number, number, number], ink: [number, number, number]) {
    const { values, at } = this.run.drawnPoints(frame);
    const width = 0.012 * this.size;
    let k = at;
    for (const line of this.run.head.lines) {
      const c = line.moving ? colour : ink;
      if (line.radius === null) {
        for (let p = 0; p + 1 < line.count; p++)
          if (line.moving || fixed)
            out.stroke(values[k + 2 * p], values[k + 2 * p + 1], values[k + 2 * p + 2], values[k + 2 * p + 3], line.moving ? width : 0.6 * width, 0, c);
      } else if (line.radius === 0) out.dot(values[k], values[k + 1], 0.9 * width, 0.001 * this.size, c);
      else if (line.moving || fixed) {
        for (let s = 0; s < 48; s++) {
          const [a, b] = [(2 * Math.PI * s) / 48, (2 * Math.PI * (s + 1)) / 48];
          const r = line.radius;
          out.stroke(values[k] + r * Math.cos(a), values[k + 1] + r * Math.sin(a), values[k] + r * Math.cos(b), values[k + 1] + r * Math.sin(b), 0.5 * width, 0, c);
        }
      }
      k += 2 * line.count;
    }
  }

  private drawStrokes(frame: number, look: Look) {
    const { head } = this.run;
    const discs = head.planar ? this.ballBodies : [];
    const count = head.lines.reduce((n, l) => n + l.count, 0) * 50 * STROKE_TRIANGLES + discs.length * (48 + 48 * 3 + STROKE_TRIANGLES);
    const colour = rgb(this.tint ?? curveColour(0));
    const ink = rgb(look.dark ? 0xbbbbbb : 0x444444);
    this.strokes.begin(count);
    this.drawLines(this.strokes, frame, true, colour, ink);
    const pose: number[] = [];
    for (const b of discs) {
      this.run.pose(b.body, frame, pose);
      const angle = 2 * Math.atan2(pose[6], pose[3]);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      const [x, y] = [pose[0] + c * b.at[0] - s * b.at[1], pose[1] + s * b.at[0] + c * b.at[1]];
      const rim = rgb(look.dark ? 0x1d2b3a : 0x41566d);
      this.strokes.dot(x, y, b.radius, -0.002 * this.size, rim, 32);
      this.strokes.dot(x, y, 0.93 * b.radius, -0.001 * this.size, rgb(this.bodyColour(b.body)), 32);
      this.strokes.stroke(x, y, x + 0.9 * b.radius * c, y + 0.9 * b.radius * s, 0.08 * b.radius, 0, rim);
    }
    this.strokes.end();
    this.ghosts.begin(look.ghost ? count : 0);
    if (look.ghost) this.drawLines(this.ghosts, 0, false, rgb(0x777777), ink);
    this.ghosts.end();
  }

  private drawBodies(frame: number, look: Look) {
    const pose: number[] = [];
    const matrix = new THREE.Matrix4();
    const [p, q, one] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3(1, 1, 1)];
    const place = (k: number, f: number) => {
      this.run.pose(k, f, pose);
      return matrix.compose(p.set(pose[0], pose[1], pose[2]), q.set(pose[4], pose[5], pose[6], pose[3]), one);
    };
    this.instances.forEach(({ mesh, bodies }, i) => {
      bodies.forEach((k, j) => mesh.setMatrixAt(j, place(k, frame)));
      mesh.instanceMatrix.needsUpdate = true;
      const ghost = this.ghostInstances[i];
      ghost.visible = look.ghost;
      if (look.ghost) {
        bodies.forEach((k, j) => ghost.setMatrixAt(j, place(k, 0)));
        ghost.instanceMatrix.needsUpdate = true;
      }
    });
    if (!this.run.head.mesh) this.drawEdges(frame);
    if (this.ghostBalls) this.ghostBalls.visible = look.ghost;
    for (const [points, f] of [[this.balls, frame], [look.ghost ? this.ghostBalls : null, 0]] as const) {
      if (!points) continue;
      const array = points.geometry.getAttribute("position").array as Float32Array;
      this.ballBodies.forEach((b, k) => {
        this.run.pose(b.body, f, pose);
        p.set(...b.at);
        if (b.at[0] || b.at[1] || b.at[2]) p.applyQuaternion(q.set(pose[4], pose[5], pose[6], pose[3]));
        array[3 * k] = p.x + pose[0];
        array[3 * k + 1] = p.y + pose[1];
        array[3 * k + 2] = p.z + pose[2];
      });
      points.geometry.getAttribute("position").needsUpdate = true;
    }
  }

  /** Edges of bodies with few faces. */
  private drawEdges(frame: number) {
    const { head } = this.run;
    const lines: number[] = [];
    const pose: number[] = [];
    const [p, q] = [new THREE.Vector3(), new THREE.Quaternion()];
    for (const { bodies } of this.instances)
      for (const k of bodies) {
        const g = head.geometries[head.bodies[k].geometry];
        if (g.faces.length > 14 || lines.length > 6 * EDGES_MAX) break;
        this.run.pose(k, frame, pose);
        q.set(pose[4], pose[5], pose[6], pose[3]);
        const at = (c: number) => {
          p.set(g.points[3 * c], g.points[3 * c + 1], g.points[3 * c + 2]).applyQuaternion(q);
          return [p.x + pose[0], p.y + pose[1], p.z + pose[2]];
        };
        for (const face of g.faces) if (face.length > 2) face.forEach((c, i) => lines.push(...at(c), ...at(face[(i + 1) % face.length])));
      }
    this.edges.geometry.dispose();
    this.edges.geometry = new THREE.BufferGeometry();
    this.edges.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(lines), 3));
    this.edges.position.z = head.planar ? 0.001 * this.size : 0;
    this.edges.frustumCulled = false;
  }

  private drawMesh(frame: number, look: Look) {
    const { head, displacements, stresses } = this.run;
    const mesh = head.mesh;
    if (!mesh) return;
    const at = frame * displacements.columns;
    const count = mesh.faces.reduce((n, f) => n + Math.max(STROKE_TRIANGLES, f.length - 2), 0);
    this.faces.begin(count);
    // The whole displacement is not enlarged, only what differs from the mean.
    const mean: Vec = [0, 0, 0];
    const nodes = mesh.points.length / 3;
    for (let n = 0; n < nodes; n++) for (let k = 0; k < 3; k++) mean[k] += displacements.values[at + 3 * n + k] / nodes;
    const node = (n: number): Vec =>
      [0, 1, 2].map((k) => mesh.points[3 * n + k] + mean[k] + look.deformation * (displacements.values[at + 3 * n + k] - mean[k])) as Vec;
    const lines: number[] = [];
    const showEdges = mesh.faces.length <= EDGES_MAX;
    const furthest = this.displacementMax();
    mesh.faces.forEach((face, f) => {
      const corners = face.map(node);
      let share = stresses.values[frame * stresses.columns + f] / (this.run.stressMax || 1);
      if (look.field === "displacement") {
        const u = face.map((n) => norm([0, 1, 2].map((k) => displacements.values[at + 3 * n + k]) as Vec));
        share = u.reduce((a, b) => a + b, 0) / u.length / (furthest || 1);
      }
      const c = new THREE.Color(...ramp(share)).convertSRGBToLinear();
      const colour = [c.r, c.g, c.b];
      if (corners.length === 2) this.faces.stroke(corners[0][0], corners[0][1], corners[1][0], corners[1][1], 0.014 * this.size, 0, colour);
      else this.faces.fan(corners, colour);
      if (showEdges && corners.length > 2) corners.forEach((a, k) => lines.push(...a, ...corners[(k + 1) % corners.length]));
    });
    this.faces.end();
    this.edges.geometry.dispose();
    this.edges.geometry = new THREE.BufferGeometry();
    this.edges.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(lines), 3));
    this.edges.position.z = head.planar ? 0.001 * this.size : 0;
    this.edges.frustumCulled = false;
  }

  private furthest = -1;
  displacementMax(): number {
    if (this.furthest < 0) {
      this.furthest = 0;
      const v = this.run.displacements.values;
      for (let k = 0; k + 2 < v.length; k += 3) this.furthest = Math.max(this.furthest, v[k] ** 2 + v[k + 1] ** 2 + v[k + 2] ** 2);
      this.furthest = Math.sqrt(this.furthest);
    }
    return this.furthest;
  }

  /** Contacts at which an impact happened within the frame. */
  impacts(frame: number): Set<string> {
    const from = frame > 0 ? this.run.times[frame - 1] : -Infinity;
    const to = this.run.times[frame] + 1e-12;
    const hit = this.run.head.events.filter((e) => e.t > from && e.t <= to && (e.kind === "impact" || e.kind === "tangential-impact"));
    return new Set(hit.map((e) => e.contact));
  }

  private drawContacts(frame: number, look: Look) {
    const contacts = look.contacts || look.chains ? this.run.contacts(frame) : [];
    const hit = this.impacts(frame);
    const names = this.run.head.contacts;
    let [solid, dashed, chain] = [0, 0, 0];
    const matrix = new THREE.Matrix4();
    const colour = new THREE.Color();
    const drawn = look.contacts ? contacts.filter((c) => Number.isFinite(c.place[0])) : [];
    const coned = look.cones && drawn.length <= CONES_MAX ? drawn : [];
    this.cones.begin(coned.length * 52);
    for (const c of drawn) {
      const force = this.run.force(c, frame);
      const length = norm(force) * this.arrowScale * look.arrows;
      const impact = hit.has(names[c.contact].name);
      if (!(length > 1e-3 * this.size)) continue;
      // An impact is as long as a picture allows; forces are to scale.
      const shown = Math.min(length, (impact ? 0.5 : 1.2) * this.size);
      const mesh = c.mode === 2 ? this.dashed : this.solid;
      const index = c.mode === 2 ? dashed++ : solid++;
      const thickness = (0.11 * this.size) / Math.max(1, Math.sqrt(drawn.length / 24));
      mesh.setMatrixAt(index, arrowMatrix(matrix, c.place, force, shown, thickness));
      mesh.setColorAt(index, colour.set(impact ? IMPACT : modeColour(c.mode)));
    }
    for (const c of coned) {
      const section = this.run.head.sections[c.section];
      if (!section?.outline.length || c.mode === 0) continue;
      // Many cones are small, so that they do not cover each other.
      const size = (0.13 * this.size) / Math.max(1, Math.sqrt(coned.length / 5));
      const side = this.run.side(c);
      const normal = c.normal.map((x) => side * x) as Vec;
      const tangent = c.tangent.map((x) => side * x) as Vec;
      const rim = coneCorners(c.place, normal, tangent, section.outline, size);
      const tone = rgb(modeColour(c.mode));
      const pairs = rim.length === 2 ? [[rim[0], rim[1]]] : rim.map((p, k) => [p, rim[(k + 1) % rim.length]]);
      for (const [a, b] of pairs) {
        this.cones.corner(...c.place, tone);
        this.cones.corner(...a, tone);
        this.cones.corner(...b, tone);
      }
    }
    this.cones.end();
    if (look.chains) {
      const pose: number[] = [];
      for (const c of contacts) {
        const bodies = names[c.contact].bodies;
        if (!bodies) continue;
        const force = norm(this.run.force(c, frame));
        const radius = Math.sqrt(force * this.arrowScale * this.size) * 0.02;
        if (!(radius > 5e-4 * this.size)) continue;
        const ends = bodies.map((b) => {
          const body = this.run.head.bodies[b];
          this.run.pose(b, frame, pose);
          // The middle of an obstacle is nowhere in particular: the chain ends at the contact.
          return (body.free ? [pose[0], pose[1], pose[2]] : c.place) as Vec;
        });
        const along: Vec = [0, 1, 2].map((k) => ends[1][k] - ends[0][k]) as Vec;
        if (norm(along) > 0) this.chains.setMatrixAt(chain, arrowMatrix(matrix, ends[0], along, norm(along), Math.min(radius, 0.03 * this.size)));
        this.chains.setColorAt(chain++, colour.set(modeColour(c.mode)));
      }
    }
    for (const [mesh, count] of [[this.solid, solid], [this.dashed, dashed], [this.chains, chain]] as const) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** What depends on the view: the planes that are seen, the shader of balls. */
  prepare(camera: THREE.Camera, height: number) {
    // A plane that is seen from behind would hide what stands before it.
    for (const sheet of this.sheets) {
      const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(sheet.quaternion);
      sheet.visible = normal.dot(camera.position.clone().sub(sheet.position)) > 0;
    }
    for (const points of [this.balls, this.ghostBalls]) {
      if (!points) continue;
      const { uniforms } = points.material as THREE.ShaderMaterial;
      uniforms.height.value = height;
      uniforms.projection.value.copy(camera.projectionMatrix);
    }
  }

  dispose() {
    this.scene.traverse((object) => {
      const mesh = object as THREE.Mesh;
      mesh.geometry?.dispose();
      const material = mesh.material;
      if (material) for (const m of Array.isArray(material) ? material : [material]) m.dispose();
    });
  }
}
