//! Collision detection: contacts found between the shapes of bodies.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ShapeError;
use super::broad_phase::{BroadPhase, Proxy, body_reaches, frame_of};
use super::manifold::{ContactPoint, Manifold, NONE};
use super::pairs::{Workspace, collide};
use super::solid::Solid;
use super::vector::{Transform, Vector, along, distance, dot, norm, scale, sub};
use crate::contact::ContactKey;
use crate::systems::world::{
    ContactSource, FoundContact, Pose, Shape, World, WorldError, WorldState,
};

/// Finds the contacts between all shapes of a world.
///
/// Pairs come from a list of neighbours with a margin, which is made anew only when a body has used its margin up. Two
/// balls, and a ball on a plane, are measured directly; other pairs keep their points from step to step: as long as the
/// relative motion is below 1e-6 (rotation; shift in parts of the size) only the gaps change, otherwise the points are
/// computed anew and inherit the slots of those near them (5 % of the size, seen from either body).
///
/// A pair of shapes has at most eight points; a curved pair has one. Half-spaces, balls, capsules, boxes, small hulls and
/// all shapes of the plane are exact (normals of faces to the last digit); larger hulls, cylinders and cones are measured
/// from cores that lie 2 % of their size inside, which leaves faces and edges where they are. The round face of a cylinder
/// or cone touches at eight points of its rim, one of them the lowest.
///
/// The contacts depend only on the world, the state and the memory, never on when the list was made. A run with it:
/// [`WorldStepping`](crate::stepping::WorldStepping).
#[derive(Clone, Debug)]
pub struct CollisionDetection {
    proxies: Vec<Proxy>,
    /// First proxy of each body, and the end.
    first: Vec<u32>,
    broad: BroadPhase,
    pairs: Vec<Pair>,
    fresh: Vec<Pair>,
    candidates: Vec<[u32; 2]>,
    released: Vec<u32>,
    manifolds: Vec<Manifold>,
    free: Vec<u32>,
    frames: Vec<Transform>,
    reaches: Vec<f64>,
    spins: Vec<f64>,
    workspace: Workspace,
}

/// A pair of proxies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    /// Proxies, in the order of their bodies.
    proxies: [u32; 2],
    bodies: [u32; 2],
    law: u32,
    kind: Kind,
}

/// How a pair is measured and what it remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Two balls: place in the last list.
    Balls { radii: [f64; 2], last: u32 },
    /// Anything else: its manifold.
    Shapes { manifold: u32 },
}

/// A remembered pair.
#[derive(Serialize, Deserialize)]
struct Remembered {
    proxies: [u32; 2],
    last: Option<u32>,
    points: Vec<ContactPoint>,
    rotation: [Vector; 3],
    translation: Vector,
    reach: f64,
}

/// Slots of one pair of shapes; more than the points it can have.
const SLOTS: u32 = 32;

/// The shapes of two bodies with so many of them between which the contact in a slot is; none beyond the last pair.
pub(crate) fn shapes_of_slot(slot: usize, [of_a, of_b]: [usize; 2]) -> Option<[usize; 2]> {
    let pair = slot / SLOTS as usize;
    (pair < of_a * of_b).then(|| [pair / of_b, pair % of_b])
}

/// Points are looked for somewhat farther than needed, so that they can be kept when the reach varies.
const FARTHER: f64 = 1.25;

impl CollisionDetection {
    /// Prepares the shapes of a world; refuses those that have no extent, are flat or belong to another dimension.
    pub fn new(world: &World) -> Result<Self, WorldError> {
        let mut proxies = Vec::new();
        let mut first = Vec::new();
        // Bodies made from one description follow each other and share their working shape.
        let mut recent: Vec<(Shape, (Solid, Vector))> = Vec::new();
        for (index, body) in world.bodies.iter().enumerate() {
            first.push(proxies.len() as u32);
            if !body.collides {
                continue;
            }
            for (k, placed) in body.shapes.iter().enumerate() {
                let known = recent
                    .iter()
                    .rev()
                    .find(|(shape, _)| *shape == placed.shape);
                let (solid, middle) = match known {
                    Some((_, solid)) => solid.clone(),
                    None => {
                        let refuse = |error: ShapeError| WorldError::Shape {
                            body: body.name.clone(),
                            error,
                        };
                        placed.shape.checked(world.dimension).map_err(refuse)?;
                        let solid = Solid::about_its_middle(&placed.shape, world.dimension)
                            .map_err(refuse)?;
                        if recent.len() == 16 {
                            recent.remove(0);
                        }
                        recent.push((placed.shape.clone(), solid.clone()));
                        solid
                    }
                };
                let pose = placed.pose.times(&Pose::at(middle));
                proxies.push(Proxy::new(index as u32, k as u32, solid, &pose));
            }
        }
        first.push(proxies.len() as u32);
        Ok(Self {
            proxies,
            first,
            broad: BroadPhase::default(),
            pairs: Vec::new(),
            fresh: Vec::new(),
            candidates: Vec::new(),
            released: Vec::new(),
            manifolds: Vec::new(),
            free: Vec::new(),
            frames: Vec::new(),
            reaches: Vec::new(),
            spins: Vec::new(),
            workspace: Workspace::default(),
        })
    }

    fn take_manifold(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.manifolds.push(Manifold::default());
            self.manifolds.len() as u32 - 1
        })
    }

    /// A pair that remembers nothing yet; none if it cannot touch.
    fn new_pair(&mut self, world: &World, [p, q]: [u32; 2]) -> Option<Pair> {
        let (x, y) = (&self.proxies[p as usize], &self.proxies[q as usize]);
        let bodies = [x.body, y.body];
        if !world.may_touch(bodies[0] as usize, bodies[1] as usize) {
            return None;
        }
        let material = |k: usize| world.bodies[bodies[k] as usize].material;
        let law = world.laws.find(material(0), material(1))?;
        let kind = match (&x.solid, &y.solid) {
            (Solid::Ball { radius: r }, Solid::Ball { radius: s }) => Kind::Balls {
                radii: [*r, *s],
                last: NONE,
            },
            _ => Kind::Shapes { manifold: NONE },
        };
        Some(Pair {
            proxies: [p, q],
            bodies,
            law,
            kind,
        })
    }

    /// Makes the list of neighbours anew; pairs that stay keep what they remember.
    fn make_list(&mut self, world: &World, state: &WorldState) {
        let mut found = std::mem::take(&mut self.candidates);
        found.clear();
        self.broad.pairs(
            world,
            state,
            (&self.proxies, &self.frames),
            &self.reaches,
            |p, q| found.push([p.min(q), p.max(q)]),
        );
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        for &proxies in &found {
            fresh.extend(self.new_pair(world, proxies));
        }
        self.candidates = found;
        fresh.sort_unstable_by_key(|pair| pair.proxies);
        let mut old = self.pairs.iter().peekable();
        let mut released = std::mem::take(&mut self.released);
        released.clear();
        let release = |pair: &Pair, released: &mut Vec<u32>| {
            if let Kind::Shapes { manifold } = pair.kind {
                released.push(manifold);
            }
        };
        for pair in &mut fresh {
            while let Some(gone) = old.next_if(|o| o.proxies < pair.proxies) {
                release(gone, &mut released);
            }
            if let Some(same) = old.next_if(|o| o.proxies == pair.proxies) {
                pair.kind = same.kind;
            }
        }
        for gone in old {
            release(gone, &mut released);
        }
        for &manifold in &released {
            self.manifolds[manifold as usize].clear();
            self.free.push(manifold);
        }
        self.released = released;
        for pair in &mut fresh {
            if let Kind::Shapes { manifold } = &mut pair.kind
                && *manifold == NONE
            {
                *manifold = self.take_manifold();
            }
        }
        self.fresh = std::mem::replace(&mut self.pairs, fresh);
    }

    /// Slot of the first point of a pair of shapes among those of its bodies.
    fn first_slot(&self, pair: &Pair) -> u32 {
        let (x, y) = (
            &self.proxies[pair.proxies[0] as usize],
            &self.proxies[pair.proxies[1] as usize],
        );
        let [_, b] = pair.bodies.map(|b| b as usize);
        let shapes = self.first[b + 1] - self.first[b];
        (x.shape * shapes + y.shape) * SLOTS
    }

    /// Largest gap that the pair can close in the step, as [`World::reach`].
    fn reach(&self, world: &World, state: &WorldState, [a, b]: [u32; 2], h: f64) -> f64 {
        let (a, b) = (a as usize, b as usize);
        let (x, y) = (&world.bodies[a], &world.bodies[b]);
        let apart = if self.spins[a] > 0.0 || self.spins[b] > 0.0 {
            distance(state.poses[a].position, state.poses[b].position)
        } else {
            0.0
        };
        let spin = |size: f64, arm: f64| if size == 0.0 { 0.0 } else { size * arm };
        let approach = distance(state.twists[a].velocity, state.twists[b].velocity)
            + spin(self.spins[a], x.radius.min(apart + y.radius))
            + spin(self.spins[b], y.radius.min(apart + x.radius));
        2.0 * h * (approach + h * world.gravity_size()) + 2.0 * world.slop_of(a, b)
    }
}

impl ContactSource for CollisionDetection {
    fn find(&mut self, world: &World, state: &WorldState, h: f64, out: &mut Vec<FoundContact>) {
        out.clear();
        self.frames.clear();
        self.frames.extend(
            self.proxies
                .iter()
                .map(|proxy| frame_of(proxy, &state.poses[proxy.body as usize])),
        );
        self.spins.clear();
        self.spins.extend(state.twists.iter().map(|t| norm(t.spin)));
        body_reaches(world, state, h, &mut self.reaches);
        if !self.broad.holds(world, state, &self.reaches) {
            self.make_list(world, state);
        }
        let gravity = world.gravity_size();
        for index in 0..self.pairs.len() {
            let pair = self.pairs[index];
            let [a, b] = pair.bodies;
            let [p, q] = pair.proxies.map(|k| k as usize);
            match pair.kind {
                Kind::Balls { radii, last } => {
                    let (x, y) = (self.frames[p].translation, self.frames[q].translation);
                    let apart = sub(x, y);
                    let square = dot(apart, apart);
                    let sum = radii[0] + radii[1];
                    // Rotation does not bring balls together; those off the centre of their body are rare.
                    let (u, v) = (&state.twists[a as usize], &state.twists[b as usize]);
                    let reach = if self.proxies[p].centred && self.proxies[q].centred {
                        2.0 * h * (distance(u.velocity, v.velocity) + h * gravity)
                            + 2.0 * world.slop_of(a as usize, b as usize)
                    } else {
                        self.reach(world, state, pair.bodies, h)
                    };
                    let mut place_in_list = NONE;
                    if square <= (sum + reach) * (sum + reach) {
                        let length = square.sqrt();
                        // Balls about one centre have no normal of their own: any direction leads out.
                        let normal = if length > 0.0 {
                            scale(apart, 1.0 / length)
                        } else {
                            [0.0, 1.0, 0.0]
                        };
                        let gap = length - sum;
                        place_in_list = out.len() as u32;
                        out.push(FoundContact {
                            key: ContactKey::found(a, b, self.first_slot(&pair)),
                            place: along(y, radii[1] + 0.5 * gap, normal),
                            normal,
                            gap,
                            law: pair.law,
                            matched: (last != NONE).then_some(last),
                        });
                    }
                    self.pairs[index].kind = Kind::Balls {
                        radii,
                        last: place_in_list,
                    };
                }
                Kind::Shapes { manifold } => {
                    let reach = self.reach(world, state, pair.bodies, h);
                    let size = world.bodies[a as usize]
                        .size
                        .min(world.bodies[b as usize].size);
                    let first_slot = self.first_slot(&pair);
                    let frame = self.frames[p];
                    let a_from_b = frame.relative(&self.frames[q]);
                    let (x, y) = (&self.proxies[p].solid, &self.proxies[q].solid);
                    let manifold = &mut self.manifolds[manifold as usize];
                    let rolls = matches!(x, Solid::Ball { .. }) || matches!(y, Solid::Ball { .. });
                    if rolls || !manifold.refresh(&a_from_b, reach, size) {
                        let wide = FARTHER * reach;
                        collide(x, y, &a_from_b, (wide, size), &mut self.workspace);
                        manifold.replace(&self.workspace.points, &a_from_b, wide, size);
                    }
                    let mut any = false;
                    for point in &mut manifold.points {
                        let matched = (point.last != NONE).then_some(point.last);
                        point.last = NONE;
                        if point.gap > reach {
                            continue;
                        }
                        any = true;
                        point.last = out.len() as u32;
                        let middle = scale(
                            super::vector::add(point.on_a, a_from_b.point(point.on_b)),
                            0.5,
                        );
                        out.push(FoundContact {
                            key: ContactKey::found(a, b, first_slot + point.slot),
                            place: frame.point(middle),
                            normal: scale(frame.vector(point.normal), -1.0),
                            gap: point.gap,
                            law: pair.law,
                            matched,
                        });
                    }
                    // What is out of reach is forgotten, so that the memory does not depend on the list.
                    if !any {
                        manifold.clear();
                    }
                }
            }
        }
    }

    fn memory(&self) -> serde_json::Value {
        let mut remembered = Vec::new();
        for pair in &self.pairs {
            match pair.kind {
                Kind::Balls { last, .. } if last != NONE => remembered.push(Remembered {
                    proxies: pair.proxies,
                    last: Some(last),
                    points: Vec::new(),
                    rotation: Transform::IDENTITY.rotation,
                    translation: [0.0; 3],
                    reach: 0.0,
                }),
                Kind::Shapes { manifold } => {
                    let manifold = &self.manifolds[manifold as usize];
                    if !manifold.points.is_empty() {
                        remembered.push(Remembered {
                            proxies: pair.proxies,
                            last: None,
                            points: manifold.points.clone(),
                            rotation: manifold.a_from_b.rotation,
                            translation: manifold.a_from_b.translation,
                            reach: manifold.reach,
                        });
                    }
                }
                Kind::Balls { .. } => {}
            }
        }
        json!({ "proxies": self.proxies.len(), "pairs": remembered })
    }

    fn recall(&mut self, memory: &serde_json::Value) -> bool {
        if memory["proxies"].as_u64() != Some(self.proxies.len() as u64) {
            return false;
        }
        let Ok(remembered) = Vec::<Remembered>::deserialize(&memory["pairs"]) else {
            return false;
        };
        let known = |k: u32| (k as usize) < self.proxies.len();
        let ordered = remembered.windows(2).all(|w| w[0].proxies < w[1].proxies);
        if !ordered
            || !remembered
                .iter()
                .all(|r| r.proxies.iter().all(|&k| known(k)))
        {
            return false;
        }
        self.pairs.clear();
        self.manifolds.clear();
        self.free.clear();
        self.broad.forget();
        for r in remembered {
            let bodies = r.proxies.map(|k| self.proxies[k as usize].body);
            let kind = match r.last {
                Some(last) => Kind::Balls {
                    radii: r.proxies.map(|k| match self.proxies[k as usize].solid {
                        Solid::Ball { radius } => radius,
                        _ => 0.0,
                    }),
                    last,
                },
                None => {
                    self.manifolds.push(Manifold {
                        points: r.points,
                        a_from_b: Transform {
                            rotation: r.rotation,
                            translation: r.translation,
                        },
                        reach: r.reach,
                    });
                    Kind::Shapes {
                        manifold: self.manifolds.len() as u32 - 1,
                    }
                }
            };
            // The law is looked up when the list is made; only what is remembered matters here.
            self.pairs.push(Pair {
                proxies: r.proxies,
                bodies,
                law: 0,
                kind,
            });
        }
        true
    }
}
