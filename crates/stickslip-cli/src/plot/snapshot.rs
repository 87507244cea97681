//! One frame of a run, from the data of every picture: drawn shapes, bodies, meshes, obstacles, contact forces.

use stickslip::internals::view::palette::{BODIES, HELD};
use stickslip::internals::view::{ContactRow, Geometry};
use stickslip::systems::world::Pose;
use stickslip::view::ViewData;

use super::canvas::{Color, Fill, Point, Stroke};
use super::faces::{piece, pieces};
use super::ground::{half_plane, surface};
use super::panel::Item;
use super::style;

/// Pictures with more faces are drawn without edges.
const EDGES: usize = 6000;
/// Pictures with more balls are drawn without highlights.
const HIGHLIGHTS: usize = 3000;

/// Where bodies are seen from: the front, the right and above; z is up. Rows: right, up, away from the eye.
pub(super) const VIEW: [[f64; 3]; 3] = [
    [0.866, 0.5, 0.0],
    [-0.171, 0.296, 0.94],
    [-0.47, 0.814, -0.342],
];

/// Place on paper and depth behind it.
pub fn project(x: [f64; 3], planar: bool) -> (Point, f64) {
    if planar {
        return ([x[0], x[1]], 0.0);
    }
    let [right, up, away] = VIEW.map(|axis| dot(axis, x));
    ([right, up], away)
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
}

/// A rectangle of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Lower left corner.
    pub low: Point,
    /// Upper right corner.
    pub high: Point,
}

impl Window {
    /// Nothing yet.
    pub const EMPTY: Self = Self {
        low: [f64::INFINITY; 2],
        high: [f64::NEG_INFINITY; 2],
    };

    /// Takes in a place with room around it.
    pub fn add(&mut self, p: Point, room: f64) {
        for k in 0..2 {
            if p[k].is_finite() {
                self.low[k] = self.low[k].min(p[k] - room);
                self.high[k] = self.high[k].max(p[k] + room);
            }
        }
    }

    /// The longer side; none where nothing was taken in.
    pub fn size(&self) -> Option<f64> {
        let size = (0..2)
            .map(|k| self.high[k] - self.low[k])
            .fold(0.0, f64::max);
        let whole = (0..2).all(|k| self.high[k] >= self.low[k]);
        (whole && size > 0.0 && size.is_finite()).then_some(size)
    }

    /// The rectangle with room around it.
    pub fn padded(&self, room: f64) -> Self {
        Self {
            low: self.low.map(|x| x - room),
            high: self.high.map(|x| x + room),
        }
    }

    /// Its middle.
    pub fn middle(&self) -> Point {
        std::array::from_fn(|k| 0.5 * (self.low[k] + self.high[k]))
    }
}

/// How strongly a frame is drawn: 1 as it is, less where it lies in the past of another.
pub type Strength = f64;

/// What is drawn of one body or face, with the depth that sorts it.
pub(super) struct Piece {
    pub depth: f64,
    pub items: Vec<Item>,
}

/// A frame of a run.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    /// The run.
    pub view: &'a ViewData,
    /// Which of its frames.
    pub frame: usize,
}

/// A drawn shape: number of its line, and its points in a frame.
pub type DrawnLine = (usize, Vec<Point>);

impl<'a> Snapshot<'a> {
    /// Its time.
    pub fn time(&self) -> f64 {
        self.view.times[self.frame]
    }

    /// The drawn shapes of a planar mechanism.
    pub fn lines(&self) -> Vec<DrawnLine> {
        let frames = self.view.times.len().max(1);
        let mut at = self.frame * (self.view.points.len() / frames);
        let points = &self.view.points;
        let mut line = |count: usize| -> Vec<Point> {
            let from = at;
            at += 2 * count;
            (0..count)
                .map(|k| [points[from + 2 * k], points[from + 2 * k + 1]])
                .collect()
        };
        let counts = self.view.lines.iter().map(|shape| shape.count);
        counts.map(&mut line).enumerate().collect()
    }

    /// Pose of a body in this frame.
    fn pose(&self, body: usize) -> Pose {
        let body = &self.view.bodies[body];
        let moving = self.view.poses.len() / (7 * self.view.times.len().max(1));
        let n: &[f64] = match body.moving {
            Some(number) => &self.view.poses[7 * (self.frame * moving + number as usize)..][..7],
            None => &body.start,
        };
        Pose {
            position: [n[0], n[1], n[2]],
            rotation: [n[3], n[4], n[5], n[6]],
        }
    }

    fn geometry(&self, body: usize) -> &'a Geometry {
        &self.view.geometries[self.view.bodies[body].geometry as usize]
    }

    /// Takes in what moves: large obstacles do not set the scale.
    pub fn bound(&self, window: &mut Window) {
        let planar = self.view.planar;
        for (k, points) in self.lines() {
            let line = &self.view.lines[k];
            let room = line.radius.unwrap_or(0.0);
            for p in points {
                // Of what stands still, its height.
                let p = if line.moving { p } else { [f64::NAN, p[1]] };
                window.add(p, room);
            }
        }
        for (k, body) in self.view.bodies.iter().enumerate() {
            if body.free {
                self.bound_body(k, window);
            }
        }
        for corner in self.nodes() {
            window.add(project(corner, planar).0, 0.0);
        }
    }

    fn bound_body(&self, k: usize, window: &mut Window) {
        let planar = self.view.planar;
        let (pose, geometry) = (self.pose(k), self.geometry(k));
        for ball in &geometry.balls {
            let place = pose.point([ball[0], ball[1], ball[2]]);
            window.add(project(place, planar).0, ball[3]);
        }
        for p in geometry.points.chunks_exact(3) {
            let place = pose.point([p[0], p[1], p[2]]);
            window.add(project(place, planar).0, 0.0);
        }
    }

    /// Mean size of the free bodies on paper.
    pub fn body_size(&self) -> f64 {
        let free = self
            .view
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, body)| body.free);
        let (mut sum, mut count) = (0.0, 0.0);
        for (k, _) in free {
            let mut window = Window::EMPTY;
            self.bound_body(k, &mut window);
            sum += window.size().unwrap_or(0.0);
            count += 1.0;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// Middle of the nodes of an elastic body.
    pub fn middle(&self) -> [f64; 3] {
        let nodes = self.nodes();
        let part = 1.0 / nodes.len().max(1) as f64;
        std::array::from_fn(|k| part * nodes.iter().map(|x| x[k]).sum::<f64>())
    }

    /// Places of the nodes of an elastic body.
    fn nodes(&self) -> Vec<[f64; 3]> {
        let Some(mesh) = &self.view.mesh else {
            return Vec::new();
        };
        let count = mesh.points.len();
        let moved = &self.view.displacements[self.frame * count..(self.frame + 1) * count];
        let place = |k: usize| std::array::from_fn(|i| mesh.points[3 * k + i] + moved[3 * k + i]);
        (0..count / 3).map(place).collect()
    }

    /// Everything but half-spaces and contacts.
    pub fn items(&self, strength: Strength) -> Vec<Item> {
        let tint = |colour: Color| Color::WHITE.mixed(colour, strength);
        let mut out = Vec::new();
        self.draw_lines(strength, &mut out);
        let mut pieces = Vec::new();
        let faces: usize = (0..self.view.bodies.len())
            .map(|k| self.geometry(k).faces.len())
            .sum();
        let balls: usize = (0..self.view.bodies.len())
            .map(|k| self.geometry(k).balls.len())
            .sum();
        for (k, body) in self.view.bodies.iter().enumerate() {
            // Obstacles do not move: they are drawn once.
            if body.free || strength >= 1.0 {
                let colour = match body.free {
                    true => BODIES[k % BODIES.len()],
                    false => HELD,
                };
                let fine = (faces <= EDGES, balls <= HIGHLIGHTS);
                self.body(k, tint(colour), fine, &mut pieces);
            }
        }
        self.mesh(tint(BODIES[0]), &mut pieces);
        // What lies behind is drawn first.
        pieces.sort_by(|a, b| b.depth.total_cmp(&a.depth));
        out.extend(pieces.into_iter().flat_map(|piece| piece.items));
        out
    }

    fn draw_lines(&self, strength: Strength, out: &mut Vec<Item>) {
        for (k, points) in self.lines() {
            let line = &self.view.lines[k];
            let (colour, width) = match line.moving {
                true => (style::color(0), 2.0),
                false => (Color::INK, 1.4),
            };
            if !line.moving && strength < 1.0 {
                continue;
            }
            let stroke = Stroke::solid(Color::WHITE.mixed(colour, strength), width);
            let last = points.last().copied();
            match line.radius {
                None => out.push(Item::Curve(points, stroke)),
                Some(0.0) => out.push(Item::Dots {
                    points,
                    radius: 3.0,
                    color: stroke.color,
                    hollow: false,
                }),
                Some(radius) => {
                    let centre = points[0];
                    out.push(Item::Disc(centre, radius, None, Some(stroke)));
                }
            }
            if let (Some(label), Some(place), true) = (&line.label, last, strength >= 1.0) {
                out.push(Item::Note(place, label.clone()));
            }
        }
    }

    fn body(
        &self,
        k: usize,
        colour: Color,
        (edges, highlights): (bool, bool),
        out: &mut Vec<Piece>,
    ) {
        let planar = self.view.planar;
        let (pose, geometry) = (self.pose(k), self.geometry(k));
        let rim = Stroke::solid(
            colour.mixed(Color::BLACK, 0.55),
            if planar { 0.9 } else { 0.4 },
        );
        for ball in &geometry.balls {
            let (radius, middle) = (ball[3], [ball[0], ball[1], ball[2]]);
            let (centre, depth) = project(pose.point(middle), planar);
            let mut items = vec![Item::Disc(
                centre,
                radius,
                Some(Fill::Solid(colour)),
                Some(rim),
            )];
            if planar {
                // A spoke, so that rolling is seen.
                let (end, _) =
                    project(pose.point([middle[0] + radius, middle[1], middle[2]]), true);
                items.push(Item::Curve(vec![centre, end], rim));
            } else if highlights {
                let light = Fill::Solid(colour.mixed(Color::WHITE, 0.5));
                let place = [centre[0] - 0.28 * radius, centre[1] + 0.36 * radius];
                items.push(Item::Disc(place, 0.4 * radius, Some(light), None));
            }
            // The front of a ball decides what it hides.
            out.push(Piece {
                depth: depth - 0.5 * radius,
                items,
            });
        }
        let corners: Vec<[f64; 3]> = geometry
            .points
            .chunks_exact(3)
            .map(|p| pose.point([p[0], p[1], p[2]]))
            .collect();
        out.extend(pieces(
            &corners,
            &geometry.faces,
            planar,
            (colour, edges.then_some(rim)),
        ));
    }

    fn mesh(&self, colour: Color, out: &mut Vec<Piece>) {
        let Some(mesh) = &self.view.mesh else { return };
        let nodes = self.nodes();
        let edge = Stroke::solid(colour.mixed(Color::BLACK, 0.45), 0.4);
        let edge = (mesh.faces.len() <= EDGES).then_some(edge);
        // The elements of a mesh are what there is to see.
        for face in &mesh.faces {
            let places: Vec<[f64; 3]> = face.iter().map(|&i| nodes[i as usize]).collect();
            let every = edge.map(|stroke| (stroke, vec![true; face.len()]));
            out.extend(piece(&places, self.view.planar, colour, every));
        }
    }

    /// Half-spaces: in the plane what lies behind their line, in space their surface.
    pub fn grounds(&self, window: Window) -> Vec<Item> {
        let mut out = Vec::new();
        let Some(size) = window.size() else {
            return out;
        };
        for k in 0..self.view.bodies.len() {
            let pose = self.pose(k);
            for half in &self.geometry(k).half_spaces {
                let point = pose.point([half[0], half[1], half[2]]);
                let normal = pose.direction([half[3], half[4], half[5]]);
                match self.view.planar {
                    true => half_plane(point, normal, (window, size), &mut out),
                    false => surface(point, normal, (window, size), &mut out),
                }
            }
        }
        out
    }

    /// Size of a force.
    pub fn force(&self, contact: &ContactRow) -> f64 {
        match self.view.spans[self.frame] {
            span if span > 0.0 => length(contact.impulse) / span,
            _ => 0.0,
        }
    }

    /// Contacts with forces, none where a contact has no place.
    pub fn contacts(&self) -> impl Iterator<Item = &'a ContactRow> {
        let contacts = self.view.contacts_at(self.frame).iter();
        contacts.filter(|c| c.place.iter().all(|x| x.is_finite()) && length(c.impulse) > 0.0)
    }

    /// Forces as lines through their contacts, `reach` long where they are as large as `strongest`, as the root of the force.
    pub fn chains(&self, strongest: f64, reach: f64) -> Vec<Item> {
        let mut out = Vec::new();
        for contact in self.contacts() {
            let force = self.force(contact);
            let half = 0.5 * reach * (force / strongest).sqrt().min(1.0) / length(contact.impulse);
            let end = |sign: f64| {
                let place = |k: usize| contact.place[k] + sign * half * contact.impulse[k];
                project(std::array::from_fn(place), self.view.planar).0
            };
            let stroke = style::mode(contact.mode, 1.8);
            out.push(Item::Curve(vec![end(-1.0), end(1.0)], stroke));
        }
        out
    }

    /// Forces as arrows on their friction cones, `reach` long where they are as large as `strongest`.
    pub fn arrows(&self, strongest: f64, reach: f64) -> Vec<Item> {
        let mut out = Vec::new();
        for contact in self.contacts() {
            let size = reach * (self.force(contact) / strongest).min(1.3);
            let place = [contact.place[0], contact.place[1]];
            let along = |v: [f64; 3], s: f64| [place[0] + s * v[0], place[1] + s * v[1]];
            let stroke = style::mode(contact.mode, 2.0);
            let outline = &self.view.sections[contact.section as usize].outline;
            if let [a, b] = outline[..] {
                let edge = |end: [f64; 2]| {
                    let sum = |k: usize| contact.normal[k] + end[0] * contact.tangent[k];
                    along(std::array::from_fn(sum), 0.75 * reach)
                };
                let cone = vec![place, edge(a), edge(b)];
                out.push(Item::Area(cone, Fill::Veil(stroke.color, 0.14)));
            }
            let unit = contact.impulse.map(|x| x / length(contact.impulse));
            let tip = along(unit, size);
            out.push(Item::Curve(vec![place, along(unit, 0.8 * size)], stroke));
            let across = [-unit[1], unit[0], 0.0];
            let side = |s: f64| {
                let back = along(unit, size - 0.16 * reach);
                [back[0] + s * across[0], back[1] + s * across[1]]
            };
            let width = 0.06 * reach;
            let head = vec![tip, side(width), side(-width)];
            out.push(Item::Area(head, Fill::Solid(stroke.color)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_keeps_lengths() {
        // Right, up and away are unit vectors across each other: balls are seen as discs.
        for (i, a) in VIEW.iter().enumerate() {
            for (j, b) in VIEW.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((dot(*a, *b) - expected).abs() < 2e-3, "{i} {j}");
            }
        }
        // What is in front is less deep: the eye is at the front (-y), right (+x) and above (+z).
        let depth = |x| project(x, false).1;
        assert!(depth([0.0, -1.0, 0.0]) < 0.0 && depth([0.0, 0.0, 1.0]) < 0.0);
        assert!(depth([1.0, 0.0, 0.0]) < 0.0);
        assert_eq!(project([1.0, 2.0, 3.0], true), ([1.0, 2.0], 0.0));
    }
}
