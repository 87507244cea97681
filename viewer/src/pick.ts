// What lies under a place on the screen.

import type { Picture } from "./picture";
import { type Contact, type Vec, norm } from "./run";

type Project = (p: Vec) => [number, number] | null;

/** The contact nearest to a place on the screen, within some pixels. */
export function pickContact(picture: Picture, frame: number, project: Project, [x, y]: [number, number], reach: number): Contact | null {
  let best: Contact | null = null;
  let least = reach;
  for (const c of picture.run.contacts(frame)) {
    if (!Number.isFinite(c.place[0])) continue;
    const force = picture.run.force(c, frame);
    const length = Math.min(norm(force) * picture.arrowScale, picture.size);
    const size = norm(force) || 1;
    // The point itself and the middle of its arrow.
    for (const s of [0, 0.5 * length]) {
      const at = project([0, 1, 2].map((k) => c.place[k] + (s * force[k]) / size) as Vec);
      if (!at) continue;
      const d = Math.hypot(at[0] - x, at[1] - y) + (s ? 1 : 0);
      if (d < least) [best, least] = [c, d];
    }
  }
  return best;
}

/** The body nearest to a place on the screen. */
export function pickBody(picture: Picture, frame: number, project: Project, [x, y]: [number, number], reach: number): number | null {
  let best: number | null = null;
  let least = reach;
  const pose: number[] = [];
  picture.run.head.bodies.forEach((body, k) => {
    if (!body.free) return;
    picture.run.pose(k, frame, pose);
    const at = project([pose[0], pose[1], pose[2]]);
    if (!at) return;
    const d = Math.hypot(at[0] - x, at[1] - y);
    if (d < least) [best, least] = [k, d];
  });
  return best;
}
