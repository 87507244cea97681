// Geometry of marks: thick lines in the plane, arrows, cones.

import * as THREE from "three";
import { type Vec, cross, norm } from "./run";

/** Triangles whose corners are set anew for every picture. */
export class Triangles {
  readonly mesh: THREE.Mesh;
  private positions = new Float32Array(0);
  private colours = new Float32Array(0);
  private count = 0;

  constructor(material: THREE.Material, lit = false) {
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.lit = lit;
  }
  private readonly lit: boolean;

  begin(triangles: number) {
    this.count = 0;
    if (this.positions.length < 9 * triangles) {
      this.positions = new Float32Array(9 * triangles);
      this.colours = new Float32Array(9 * triangles);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
      geometry.setAttribute("color", new THREE.BufferAttribute(this.colours, 3));
      this.mesh.geometry.dispose();
      this.mesh.geometry = geometry;
    }
  }

  corner(x: number, y: number, z: number, c: ArrayLike<number>) {
    if (this.count + 3 > this.positions.length) return;
    this.positions.set([x, y, z], this.count);
    this.colours.set(c, this.count);
    this.count += 3;
  }

  end() {
    const geometry = this.mesh.geometry;
    geometry.setDrawRange(0, this.count / 3);
    for (const name of ["position", "color"]) {
      const attribute = geometry.getAttribute(name);
      if (attribute) attribute.needsUpdate = true;
    }
    if (this.lit && this.count) geometry.computeVertexNormals();
    this.mesh.visible = this.count > 0;
  }

  /** A thick line in the plane with round ends. */
  stroke(ax: number, ay: number, bx: number, by: number, width: number, z: number, c: ArrayLike<number>) {
    const length = Math.hypot(bx - ax, by - ay);
    if (!Number.isFinite(length)) return;
    if (length > 0) {
      const nx = ((ay - by) / length) * 0.5 * width;
      const ny = ((bx - ax) / length) * 0.5 * width;
      this.corner(ax + nx, ay + ny, z, c);
      this.corner(ax - nx, ay - ny, z, c);
      this.corner(bx + nx, by + ny, z, c);
      this.corner(bx + nx, by + ny, z, c);
      this.corner(ax - nx, ay - ny, z, c);
      this.corner(bx - nx, by - ny, z, c);
    }
    this.dot(ax, ay, 0.5 * width, z, c, 8);
    this.dot(bx, by, 0.5 * width, z, c, 8);
  }

  dot(x: number, y: number, r: number, z: number, c: ArrayLike<number>, sides = 24) {
    for (let k = 0; k < sides; k++) {
      const a = (2 * Math.PI * k) / sides;
      const b = (2 * Math.PI * (k + 1)) / sides;
      this.corner(x, y, z, c);
      this.corner(x + r * Math.cos(a), y + r * Math.sin(a), z, c);
      this.corner(x + r * Math.cos(b), y + r * Math.sin(b), z, c);
    }
  }

  /** A polygon that is seen from all its corners, as a fan. */
  fan(points: Vec[], c: ArrayLike<number>) {
    for (let k = 1; k + 1 < points.length; k++) {
      this.corner(...points[0], c);
      this.corner(...points[k], c);
      this.corner(...points[k + 1], c);
    }
  }
}

export const STROKE_TRIANGLES = 18;

/** An arrow of length 1 along y from the origin: solid, or with a shaft in pieces. */
export function arrowGeometry(dashed: boolean): THREE.BufferGeometry {
  const parts: THREE.BufferGeometry[] = [];
  const head = new THREE.ConeGeometry(0.09, 0.26, 12);
  head.translate(0, 0.87, 0);
  parts.push(head);
  const pieces = dashed ? [0, 0.28, 0.56] : [0];
  const length = dashed ? 0.18 : 0.76;
  for (const from of pieces) {
    const shaft = new THREE.CylinderGeometry(0.035, 0.035, length, 8);
    shaft.translate(0, from + length / 2, 0);
    parts.push(shaft);
  }
  return merged(parts);
}

/** One geometry of several, without indices. */
export function merged(parts: THREE.BufferGeometry[]): THREE.BufferGeometry {
  const flat = parts.map((p) => (p.index ? p.toNonIndexed() : p));
  const out = new THREE.BufferGeometry();
  for (const name of ["position", "normal"]) {
    const length = flat.reduce((sum, p) => sum + p.getAttribute(name).array.length, 0);
    const all = new Float32Array(length);
    let at = 0;
    for (const p of flat) {
      all.set(p.getAttribute(name).array as Float32Array, at);
      at += p.getAttribute(name).array.length;
    }
    out.setAttribute(name, new THREE.BufferAttribute(all, 3));
  }
  return out;
}

const UP = new THREE.Vector3(0, 1, 0);
const scratch = { d: new THREE.Vector3(), q: new THREE.Quaternion(), p: new THREE.Vector3(), s: new THREE.Vector3() };

/** The matrix that puts an arrow of length 1 along y at `from`, along `along`, its length and thickness given. */
export function arrowMatrix(out: THREE.Matrix4, from: Vec, along: Vec, length: number, thickness: number): THREE.Matrix4 {
  scratch.d.set(...along).normalize();
  scratch.q.setFromUnitVectors(UP, scratch.d);
  return out.compose(scratch.p.set(...from), scratch.q, scratch.s.set(thickness, length, thickness));
}

/** The friction cone of a contact as triangles: from the apex along the normal, as far as its outline at height 1 times `size`. */
export function coneCorners(place: Vec, normal: Vec, tangent: Vec, outline: [number, number][], size: number): Vec[] {
  const second = cross(normal, tangent);
  return outline.map(([a, b]) => {
    const v: Vec = [0, 1, 2].map((k) => normal[k] + a * tangent[k] + b * second[k]) as Vec;
    return [0, 1, 2].map((k) => place[k] + size * v[k]) as Vec;
  });
}

/** Shaded balls as points: a square is drawn for each, in which the pixels of the ball are found, with their true depth. */
export function ballMaterial(): THREE.ShaderMaterial {
  return new THREE.ShaderMaterial({
    uniforms: {
      height: { value: 600 },
      projection: { value: new THREE.Matrix4() },
      opacity: { value: 1 },
    },
    vertexShader: `
      attribute float radius; attribute vec3 color; uniform float height;
      varying vec3 tint; varying vec3 middle; varying float r;
      void main() {
        vec4 at = modelViewMatrix * vec4(position, 1.0);
        tint = color; middle = at.xyz; r = radius;
        gl_Position = projectionMatrix * at;
        float w = projectionMatrix[3][3] == 0.0 ? -at.z : 1.0;
        gl_PointSize = max(1.0, radius * projectionMatrix[1][1] * height / max(w, 1e-9));
      }`,
    fragmentShader: `
      uniform mat4 projection; uniform float opacity;
      varying vec3 tint; varying vec3 middle; varying float r;
      void main() {
        vec2 p = 2.0 * gl_PointCoord - 1.0; p.y = -p.y;
        float s = dot(p, p);
        if (s > 1.0) discard;
        vec3 n = vec3(p, sqrt(1.0 - s));
        vec4 clip = projection * vec4(middle + r * n, 1.0);
        gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
        float light = 0.45 + 0.55 * max(0.0, dot(n, normalize(vec3(0.35, 0.6, 0.7))));
        gl_FragColor = vec4(tint * light, opacity);
        #include <colorspace_fragment>
      }`,
    transparent: false,
  });
}

/** Faces in space; a face of two corners is a thin rod. */
export function spatialGeometry(points: number[], faces: number[][], size: number): THREE.BufferGeometry {
  const out: number[] = [];
  const at = (k: number) => points.slice(3 * k, 3 * k + 3);
  const thin: THREE.BufferGeometry[] = [];
  for (const face of faces) {
    if (face.length === 2) {
      const [a, b] = [at(face[0]), at(face[1])] as [Vec, Vec];
      const along: Vec = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
      const rod = new THREE.CylinderGeometry(0.006 * size, 0.006 * size, 1, 8).translate(0, 0.5, 0);
      if (norm(along) > 0) thin.push(rod.applyMatrix4(arrowMatrix(new THREE.Matrix4(), a, along, norm(along), 1)));
    }
    for (let k = 1; k + 1 < face.length; k++) out.push(...at(face[0]), ...at(face[k]), ...at(face[k + 1]));
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(out), 3));
  geometry.computeVertexNormals();
  return thin.length ? merged([geometry, ...thin]) : geometry;
}

/** Faces in the plane; a face of two corners is a stripe. */
export function planarGeometry(points: number[], faces: number[][], size: number): THREE.BufferGeometry {
  const out: number[] = [];
  const width = 0.008 * size;
  for (const face of faces) {
    if (face.length > 2) {
      for (let k = 1; k + 1 < face.length; k++)
        for (const c of [face[0], face[k], face[k + 1]]) out.push(points[3 * c], points[3 * c + 1], 0);
    } else {
      const [a, b] = face.map((c) => [points[3 * c], points[3 * c + 1]]);
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
      const [nx, ny] = [((a[1] - b[1]) / length) * width, ((b[0] - a[0]) / length) * width];
      out.push(a[0] + nx, a[1] + ny, 0, a[0] - nx, a[1] - ny, 0, b[0] + nx, b[1] + ny, 0);
      out.push(b[0] + nx, b[1] + ny, 0, a[0] - nx, a[1] - ny, 0, b[0] - nx, b[1] - ny, 0);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(out), 3));
  return geometry;
}
