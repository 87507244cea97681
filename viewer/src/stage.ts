// The window onto one or two pictures: camera, views, rendering on demand.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Picture } from "./picture";
import type { Vec } from "./run";

export type View = "default" | "front" | "side" | "top" | "back" | "below";
export const VIEWS: View[] = ["default", "front", "side", "top", "back", "below"];

/** Distance in a direction from which all corners of a box are seen. */
function distanceOf(half: THREE.Vector3, towards: THREE.Vector3, slope: number, aspect: number): number {
  const right = new THREE.Vector3(0, 0, 1).cross(towards).normalize();
  const up = towards.clone().cross(right);
  let distance = 1e-9;
  for (let k = 0; k < 8; k++) {
    const corner = half.clone().multiply(new THREE.Vector3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
    const off = Math.max(Math.abs(corner.dot(right)) / aspect, Math.abs(corner.dot(up))) / slope;
    distance = Math.max(distance, corner.dot(towards) + off);
  }
  return distance;
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: THREE.WebGLRenderer;
  private camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  private controls: OrbitControls;
  pictures: Picture[] = [];
  overlaid = true;
  /** Milliseconds that the last picture took. */
  cost = 0;
  /** Called after the camera has moved. */
  moved: () => void = () => {};
  private waiting = 0;

  constructor(readonly host: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.renderer.autoClear = false;
    this.canvas = this.renderer.domElement;
    this.canvas.setAttribute("role", "img");
    this.canvas.tabIndex = 0;
    host.append(this.canvas);
    this.camera = new THREE.PerspectiveCamera();
    this.controls = new OrbitControls(this.camera, this.canvas);
    new ResizeObserver(() => this.resize()).observe(host);
  }

  show(pictures: Picture[], keepCamera = false) {
    const planar = pictures[0].run.head.planar;
    const same = keepCamera && planar === this.camera instanceof THREE.OrthographicCamera;
    this.pictures = pictures;
    if (same) return;
    this.controls.dispose();
    this.camera = planar ? new THREE.OrthographicCamera() : new THREE.PerspectiveCamera(35);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableRotate = !planar;
    if (planar) this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
    if (planar) this.controls.touches.ONE = THREE.TOUCH.PAN;
    this.controls.addEventListener("change", () => this.request());
    this.resize();
    this.look("default");
  }

  get planar(): boolean {
    return this.camera instanceof THREE.OrthographicCamera;
  }

  private box(): [Vec, Vec] {
    const low: Vec = [...this.pictures[0].low];
    const high: Vec = [...this.pictures[0].high];
    for (const p of this.pictures)
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k], p.low[k]);
        high[k] = Math.max(high[k], p.high[k]);
      }
    return [low, high];
  }

  /** Puts the camera where everything is seen. */
  look(view: View) {
    if (!this.pictures.length) return;
    const [low, high] = this.box();
    const middle = new THREE.Vector3(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]));
    const aspect = this.aspect();
    if (this.camera instanceof THREE.OrthographicCamera) {
      const half = 0.6 * Math.max(high[1] - low[1], (high[0] - low[0]) / aspect, 1e-9);
      this.camera.top = half;
      this.camera.bottom = -half;
      this.camera.left = -half * aspect;
      this.camera.right = half * aspect;
      this.camera.zoom = 1;
      this.camera.near = -100 * half;
      this.camera.far = 100 * half;
      this.camera.position.set(middle.x, middle.y, half);
      this.controls.target.set(middle.x, middle.y, 0);
      this.camera.up.set(0, 1, 0);
    } else {
      const from: Record<View, Vec> = {
        default: [0.55, -0.75, 0.38],
        front: [0, -1, 0],
        side: [1, 0, 0],
        top: [0, -1e-3, 1],
        back: [0, 1, 0.15],
        below: [0, -1e-3, -1],
      };
      const d = new THREE.Vector3(...from[view]).normalize();
      const half = new THREE.Vector3(high[0] - low[0], high[1] - low[1], high[2] - low[2]).multiplyScalar(0.5);
      const distance = distanceOf(half, d, 0.9 * Math.tan((this.camera.fov * Math.PI) / 360), aspect);
      d.multiplyScalar(distance);
      this.camera.up.set(0, 0, 1);
      this.camera.near = 0.01 * distance;
      this.camera.far = 20 * distance;
      this.camera.position.copy(middle).add(d);
      this.controls.target.copy(middle);
    }
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.request();
  }

  private followed: THREE.Vector3 | null = null;
  /** Moves the camera with a body. */
  follow(place: Vec | null) {
    if (!place) {
      this.followed = null;
      return;
    }
    const at = new THREE.Vector3(...place);
    if (this.followed) {
      const d = at.clone().sub(this.followed);
      this.camera.position.add(d);
      this.controls.target.add(d);
      this.controls.update();
    }
    this.followed = at;
  }

  private get side(): boolean {
    return this.pictures.length > 1 && !this.overlaid;
  }

  private aspect(): number {
    const { clientWidth: w, clientHeight: h } = this.host;
    return Math.max(0.05, (this.side ? w / 2 : w) / Math.max(1, h));
  }

  private resize() {
    const { clientWidth: w, clientHeight: h } = this.host;
    if (!w || !h) return;
    this.renderer.setSize(w, h);
    const aspect = this.aspect();
    if (this.camera instanceof THREE.PerspectiveCamera) this.camera.aspect = aspect;
    else {
      this.camera.left = -this.camera.top * aspect;
      this.camera.right = this.camera.top * aspect;
    }
    this.camera.updateProjectionMatrix();
    this.request();
  }

  setOverlaid(overlaid: boolean) {
    this.overlaid = overlaid;
    this.resize();
    this.look("default");
  }

  /** Draws soon, once. */
  request() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.render();
    });
  }

  render() {
    const began = performance.now();
    const { clientWidth: w, clientHeight: h } = this.host;
    const ratio = this.renderer.getPixelRatio();
    this.renderer.setScissorTest(true);
    this.renderer.setViewport(0, 0, w, h);
    this.renderer.setScissor(0, 0, w, h);
    this.renderer.clear();
    this.pictures.forEach((picture, k) => {
      const x = this.side ? (k * w) / 2 : 0;
      const width = this.side ? w / 2 : w;
      this.renderer.setViewport(x, 0, width, h);
      this.renderer.setScissor(x, 0, width, h);
      picture.prepare(this.camera, h * ratio);
      this.renderer.render(picture.scene, this.camera);
    });
    this.cost = performance.now() - began;
    this.moved();
  }

  /** Draws and waits until it is drawn; returns the milliseconds it took. */
  measure(): number {
    const began = performance.now();
    this.render();
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now() - began;
  }

  /** Place on the screen of a point, in the window of picture `k`; none behind the camera. */
  project(p: Vec, k = 0): [number, number] | null {
    const v = new THREE.Vector3(...p).project(this.camera);
    if (v.z < -1 || v.z > 1) return null;
    const { clientWidth: w, clientHeight: h } = this.host;
    const width = this.side ? w / 2 : w;
    return [(this.side ? k * width : 0) + (0.5 + 0.5 * v.x) * width, (0.5 - 0.5 * v.y) * h];
  }

  /** The place in the plane under a place on the screen. */
  unproject(x: number, y: number): [number, number] {
    const { clientWidth: w, clientHeight: h } = this.host;
    const v = new THREE.Vector3((2 * x) / w - 1, 1 - (2 * y) / h, 0).unproject(this.camera);
    return [v.x, v.y];
  }

  set steering(on: boolean) {
    this.controls.enabled = on;
  }
}
