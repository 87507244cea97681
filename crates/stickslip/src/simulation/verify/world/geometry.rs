//! Where bodies touch, and whether they overlap.

use crate::systems::world::{Dimension, Pose, World, separating_direction, shapes_of_slot};

use super::form::{Form, PlacedForm};
use super::node::NodeContact;
use super::placed::Placed;
use super::surface::{OnSurface, depth_in};
use super::vector::{Vector, along, cross, dot, norm, sub, unit};

/// Places and normals are right to this part of the size: geometry is kept while bodies move by a millionth of it.
pub(super) const PRECISION: f64 = 1e-5;

/// The forms of all bodies.
pub(super) struct Geometry<'a> {
    world: &'a World,
    forms: Vec<Vec<PlacedForm>>,
}

/// Distance of a from b along n, which points from b to a; none if one of them is not convex.
fn separation(a: &Placed, b: &Placed, n: Vector) -> Option<f64> {
    Some(-a.height(n.map(|x| -x))? - b.height(n)?)
}

/// How far a contact is from the surfaces, how far aside of where they have its normal, and how much that leans along a straight side; lengths.
#[derive(Clone, Copy)]
struct OffSurface {
    place: f64,
    aside: f64,
    lean: f64,
}

impl OffSurface {
    fn most(&self) -> f64 {
        self.place.max(self.aside).max(self.lean)
    }
}

/// Straight sides that cross at a smaller angle, seen along the normal, lie along each other, and touch at the ends of what they have in common.
const PARALLEL: f64 = 1e-4;

/// How far aside contacts of straight sides that nearly lie along each other may be: they are told on one of them.
fn between_parallels(x: &Placed, y: &Placed, n: Vector) -> f64 {
    let sides = [x, y].map(|p| -> Vec<Vector> {
        let sides = p.form.sides(p.pose.body_direction(n)).into_iter();
        let across = sides.map(|side| p.pose.direction(side));
        across
            .filter(|&u| dot(n, u).abs() <= 0.5 * norm(u))
            .collect()
    });
    let mut most: f64 = 0.0;
    for &u in &sides[0] {
        for &v in &sides[1] {
            let (a, b) = (norm(u), norm(v));
            if dot(n, cross(u, v)).abs() <= 2.0 * PARALLEL * a * b {
                most = most.max(PARALLEL * a.min(b));
            }
        }
    }
    most
}

/// A contact by bodies and shapes, with its gap, its number and how far it is off.
type Found = ([usize; 4], f64, usize, OffSurface);

/// A defect of a contact: its size in parts of the size of the bodies.
pub(super) type Defect = (usize, f64);

impl<'a> Geometry<'a> {
    pub fn new(world: &'a World) -> Self {
        let forms = |body: &crate::systems::world::WorldBody| {
            let shapes = body.shapes.iter();
            shapes.map(|s| PlacedForm::of(s, world.dimension)).collect()
        };
        Self {
            world,
            forms: world.bodies.iter().map(forms).collect(),
        }
    }

    fn placed(&self, body: usize, shape: usize, pose: &Pose) -> Placed<'_> {
        let placed = &self.forms[body][shape];
        Placed {
            form: &placed.form,
            pose: pose.times(&placed.pose),
        }
    }

    fn size(&self, a: usize, b: usize) -> f64 {
        let bodies = &self.world.bodies;
        bodies[a].size.min(bodies[b].size)
    }

    /// How far lengths of a pair may be off: a millionth of a turn of the larger body is kept as well.
    fn slack(&self, a: usize, b: usize) -> f64 {
        let bodies = &self.world.bodies;
        let radius = bodies[a].radius.min(bodies[b].radius);
        PRECISION * self.size(a, b) + 4e-6 * radius
    }

    /// The first contact that is not where its bodies touch: its points lie on both surfaces at its gap, with the normal of
    /// a smooth surface; and the least gap of two convex shapes is their separation along its normal, which makes it their
    /// distance.
    pub fn misplaced(&self, poses: &[Pose], contacts: &[NodeContact]) -> Option<Defect> {
        let mut worst: Option<Defect> = None;
        let mut note = |k: usize, defect: f64| {
            if !(defect <= 1.0) && worst.is_none_or(|w| !(w.1 >= defect)) {
                worst = Some((k, defect));
            }
        };
        let mut found: Vec<Found> = Vec::new();
        for (k, contact) in contacts.iter().enumerate() {
            let [a, b] = contact.bodies;
            if self.world.dimension == Dimension::Plane {
                // Contacts of the plane lie in it.
                let (place, lean) = (contact.place[2], self.size(a, b) * contact.normal[2]);
                note(k, place.abs().max(lean.abs()) / self.slack(a, b));
            }
            let (shapes, off) = self.shapes_of(poses, contact);
            found.push(([a, b, shapes[0], shapes[1]], contact.gap, k, off));
        }
        found.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
        for pair in found.chunk_by(|x, y| x.0 == y.0) {
            let ([a, b, i, j], least, first, _) = pair[0];
            let (x, y) = (self.placed(a, i, &poses[a]), self.placed(b, j, &poses[b]));
            let (slack, size) = (self.slack(a, b), self.size(a, b));
            // What a surface recedes by where it leans is in proportion to its radius.
            let length = size.max(x.form.radius()).max(y.form.radius());
            let normal = contacts[first].normal;
            if let Some(apart) = separation(&x, &y, normal)
                && !self.leaves_nearer((a, b), (&x, &y), (least, apart))
            {
                note(first, (least - apart).abs() / slack);
            }
            let many = [x.form, y.form].map(|form| matches!(form, Form::Surface(_)));
            let alike =
                |k: usize, l: usize| norm(sub(contacts[k].normal, contacts[l].normal)) <= PRECISION;
            for &(_, gap, k, off) in pair {
                // The far end of a round shape that leans touches where it would lie flat: against the nearest point, and against that over
                // the same triangle.
                let over_same = pair
                    .iter()
                    .find(|near| many != [false; 2] && alike(near.2, k));
                let lean = |&(_, least, near, _): &Found| {
                    let way = sub(contacts[k].place, contacts[near].place);
                    let rise = (gap - least) * (gap - least) / dot(way, way).max(f64::MIN_POSITIVE);
                    let rise = rise.min(1.0);
                    length * rise / (1.0 + (1.0 - rise).sqrt())
                };
                let lean = lean(&pair[0]).max(over_same.map_or(0.0, lean));
                let contact = &contacts[k];
                let point = |sign: f64| along(contact.place, 0.5 * sign * gap, contact.normal);
                let least = over_same.map_or(gap, |near| near.1);
                let on_surface = |outward: f64| OnSurface {
                    on_surface: point(-outward),
                    on_shape: point(outward),
                    normal: contact.normal.map(|n| outward * n),
                    gap,
                    least,
                };
                let within = (size, slack, lean);
                // Farther points of convex shapes have the normal of the nearest, whatever side they lie on.
                let defect = match (x.form, y.form) {
                    (Form::Surface(surface), _) => {
                        let place = off.place.max(off.aside);
                        on_surface(-1.0).off(&y, (surface, &x.pose), place, within)
                    }
                    (_, Form::Surface(surface)) => {
                        let place = off.place.max(off.aside);
                        on_surface(1.0).off(&x, (surface, &y.pose), place, within)
                    }
                    _ => {
                        let leans = if k == first { off.lean } else { 0.0 };
                        let (mut place, mut aside) = (off.place, off.aside);
                        if place.max(aside) > slack + lean {
                            let parallels = between_parallels(&x, &y, contact.normal);
                            aside -= parallels;
                            // Beside the tip of a cone its surface recedes as far.
                            if [x.form, y.form].iter().any(|form| form.has_tip()) {
                                place -= parallels;
                            }
                        }
                        place.max(aside).max(leans) / (slack + lean)
                    }
                };
                note(k, defect);
            }
        }
        worst
    }

    /// Whether two shapes are nearer to each other at a contact that is not recorded. Under a restitution those that are open and are
    /// not reached in the step do not take part; the normal is then the right one if no direction keeps the shapes
    /// farther apart.
    fn leaves_nearer(
        &self,
        (a, b): (usize, usize),
        (x, y): (&Placed, &Placed),
        (least, apart): (f64, f64),
    ) -> bool {
        let (slack, world) = (self.slack(a, b), self.world);
        let bodies = &world.bodies;
        let law = world.laws.find(bodies[a].material, bodies[b].material);
        let bounces =
            law.is_some_and(|law| world.laws.law(law).contact.impact().restitution() > 0.0);
        bounces
            && apart < least - slack
            && apart > world.slop_of(a, b) - slack
            && -self.convex_depth((x, y), &[], (f64::NEG_INFINITY, self.size(a, b)))
                <= apart + slack
    }

    /// The shapes of both bodies between which a contact is, and how far it is off their surfaces.
    fn shapes_of(&self, poses: &[Pose], contact: &NodeContact) -> ([usize; 2], OffSurface) {
        let [a, b] = contact.bodies;
        let size = self.size(a, b);
        let off = |body: usize, shape: usize, sign: f64| {
            let outward = contact.normal.map(|n| -sign * n);
            let point = along(contact.place, 0.5 * sign * contact.gap, contact.normal);
            let placed = self.placed(body, shape, &poses[body]);
            let (p, n) = (
                placed.pose.body_point(point),
                placed.pose.body_direction(outward),
            );
            OffSurface {
                place: placed.form.off_surface(p) - placed.form.recess(n),
                aside: placed.form.off_normal(p, n, size),
                lean: placed.form.lean(p, n, size),
            }
        };
        // Numbers tell the shapes; of other numbers, those on whose surfaces it lies best.
        let counts = [a, b].map(|body| self.forms[body].len());
        let nearest = |body: usize, sign: f64| {
            let shapes = 0..self.forms[body].len();
            let most = |&shape: &usize| off(body, shape, sign).most();
            shapes
                .min_by(|x, y| most(x).total_cmp(&most(y)))
                .unwrap_or_default()
        };
        let [i, j] = shapes_of_slot(contact.index, counts)
            .unwrap_or_else(|| [nearest(a, 1.0), nearest(b, -1.0)]);
        let (on_a, on_b) = (off(a, i, 1.0), off(b, j, -1.0));
        let off = OffSurface {
            place: on_a.place.max(on_b.place),
            aside: on_a.aside.max(on_b.aside),
            lean: on_a.lean.max(on_b.lean),
        };
        ([i, j], off)
    }

    /// Pairs of bodies that overlap by more than the slop, the deepest first of all: bodies and depth in parts of the slop.
    pub fn overlap(&self, poses: &[Pose], contacts: &[NodeContact]) -> Option<([usize; 2], f64)> {
        let mut worst: Option<([usize; 2], f64)> = None;
        let mut normals: Vec<([usize; 2], Vector)> =
            contacts.iter().map(|c| (c.bodies, c.normal)).collect();
        normals.sort_by_key(|n| n.0);
        let mut known = Vec::new();
        self.near(poses, |a, b| {
            let allowed = self.world.slop_of(a, b) + self.slack(a, b);
            let first = normals.partition_point(|n| n.0 < [a, b]);
            let own = normals[first..].iter().take_while(|n| n.0 == [a, b]);
            known.clear();
            known.extend(own.map(|n| n.1));
            let depth = self.depth(poses, [a, b], &known, allowed) / allowed;
            if !(depth <= 1.0) && worst.is_none_or(|w| !(w.1 >= depth)) {
                worst = Some(([a, b], depth));
            }
        });
        worst
    }

    /// How deep some bodies overlap others, or nearly so, by pairs.
    pub fn depths(
        &self,
        poses: &[Pose],
        bodies: impl Iterator<Item = usize>,
    ) -> Vec<([usize; 2], f64)> {
        let bodies: Vec<usize> = bodies.collect();
        let mut depths = Vec::new();
        self.near(poses, |a, b| {
            if bodies.contains(&a) || bodies.contains(&b) {
                let depth = self.depth(poses, [a, b], &[], f64::NEG_INFINITY);
                depths.push(([a, b], depth));
            }
        });
        depths
    }

    /// How deep two bodies overlap at most; what is shallower than `enough` is not looked at closely.
    fn depth(&self, poses: &[Pose], [a, b]: [usize; 2], known: &[Vector], enough: f64) -> f64 {
        let mut depth = f64::NEG_INFINITY;
        for i in 0..self.forms[a].len() {
            for j in 0..self.forms[b].len() {
                let (x, y) = (self.placed(a, i, &poses[a]), self.placed(b, j, &poses[b]));
                let size = self.size(a, b);
                let reach = |k: usize| 2.0 * self.world.bodies[k].radius;
                depth = depth.max(match (x.form, y.form) {
                    (Form::Surface(surface), _) => {
                        let known: Vec<Vector> = known.iter().map(|n| n.map(|x| -x)).collect();
                        depth_in((surface, &x.pose), (&y, reach(b)), &known, (enough, size))
                    }
                    (_, Form::Surface(surface)) => {
                        depth_in((surface, &y.pose), (&x, reach(a)), known, (enough, size))
                    }
                    _ => self.convex_depth((&x, &y), known, (enough, size)),
                });
            }
        }
        depth
    }

    /// The least depth along directions that may keep two convex shapes apart.
    fn convex_depth(
        &self,
        (a, b): (&Placed, &Placed),
        known: &[Vector],
        (enough, unit_length): (f64, f64),
    ) -> f64 {
        let depth = |n: Vector| separation(a, b, n).map_or(f64::INFINITY, |s| -s);
        let mut least = f64::INFINITY;
        let mut holds = |n: Vector| {
            least = least.min(depth(n));
            least <= enough
        };
        let turned = |p: &Placed, n: Vector, sign: f64| p.pose.direction(n).map(|x| sign * x);
        let planes = [(a, -1.0), (b, 1.0)]
            .into_iter()
            .filter_map(|(p, sign)| match p.form {
                Form::HalfSpace { normal } => Some(turned(p, *normal, sign)),
                _ => None,
            });
        let centres = unit(sub(a.middle(), b.middle()));
        let mut directions = planes.chain(known.iter().copied()).chain(centres);
        if directions.any(&mut holds) {
            return least;
        }
        for (p, sign) in [(a, -1.0), (b, 1.0)] {
            let mut faces = p.form.faces(self.world.dimension).into_iter();
            if faces.any(|n| holds(turned(p, n, sign))) {
                return least;
            }
        }
        if self.world.dimension == Dimension::Plane {
            // Between corners and centres.
            for p in a.form.corners() {
                for q in b.form.corners() {
                    let apart = sub(a.pose.point(*p), b.pose.point(*q));
                    if unit(apart).is_some_and(&mut holds) {
                        return least;
                    }
                }
            }
            return least;
        }
        // Whoever proposes a direction, the supports decide.
        let start = centres.unwrap_or([0.0, 0.0, 1.0]);
        let towards = start.map(|x| -x);
        let proposed =
            separating_direction(|d| a.support(d), |d| b.support(d), (unit_length, towards));
        if let Some(n) = proposed {
            holds(n.map(|x| -x));
        }
        least
    }

    /// Shows all pairs of bodies that may touch and whose spheres meet.
    fn near(&self, poses: &[Pose], mut see: impl FnMut(usize, usize)) {
        let bodies = &self.world.bodies;
        let reach = |k: usize| bodies[k].radius;
        let finite = |k: &usize| reach(*k).is_finite();
        let mut order: Vec<usize> = (0..bodies.len()).filter(finite).collect();
        let low = |k: usize| poses[k].position[0] - reach(k);
        order.sort_by(|&i, &j| low(i).total_cmp(&low(j)));
        let mut pair = |i: usize, j: usize| {
            if self.world.may_touch(i, j) && self.has_law(i, j) {
                see(i.min(j), i.max(j));
            }
        };
        for (place, &i) in order.iter().enumerate() {
            let high = poses[i].position[0] + reach(i);
            for &j in order[place + 1..].iter().take_while(|&&j| low(j) <= high) {
                let apart = sub(poses[i].position, poses[j].position);
                let sum = reach(i) + reach(j);
                if dot(apart, apart) <= sum * sum {
                    pair(i, j);
                }
            }
        }
        for i in (0..bodies.len()).filter(|k| !reach(*k).is_finite()) {
            for j in 0..bodies.len() {
                if finite(&j) || j > i {
                    pair(i, j);
                }
            }
        }
    }

    fn has_law(&self, a: usize, b: usize) -> bool {
        let bodies = &self.world.bodies;
        self.world
            .laws
            .find(bodies[a].material, bodies[b].material)
            .is_some()
    }
}
