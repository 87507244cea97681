//! Contacts of pairs given by hand: balls against balls and half-spaces.

use crate::contact::ContactKey;

use super::{ContactSource, FoundContact, Shape, World, WorldError, WorldState};

/// What a declared pair measures.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Two balls with their centres in the body frames.
    Balls {
        centres: [[f64; 3]; 2],
        radii: [f64; 2],
    },
    /// A ball on a half-space.
    BallOnHalfSpace {
        centre: [f64; 3],
        radius: f64,
        point: [f64; 3],
        normal: [f64; 3],
        /// Whether the half-space is the second body.
        second: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    key: ContactKey,
    law: u32,
    form: Form,
}

/// Declared pairs of bodies, each with one shape: ball against ball, or ball against half-space.
///
/// Every pair has one contact, found where it is within reach; a contact of the last step hands on its impulse. Use
/// collision detection for other shapes and for worlds whose pairs are not known beforehand.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::stepping::WorldStepping;
/// use stickslip::systems::world::{DeclaredPairs, Pose, WorldBody};
///
/// let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 1.0 })?;
/// let ball = |name, x| WorldBody::ball(name, 1.0, 0.1).at(Pose::at([x, 0.0, 0.0]));
/// let world = World::builder()
///     .material("steel")
///     .pair(0, 0, law)
///     .body(ball("striker", 0.0).moving([1.0, 0.0, 0.0], [0.0; 3]))
///     .body(ball("target", 0.5))
///     .build()?;
/// let scheme = WorldStepping::moreau_jean(0.5, Box::new(DeclaredPairs::new(&world, [(0, 1)])?))?;
/// let (q, v) = (world.start_coordinates(), world.start_velocities());
/// let (scheme, solver) = (Box::new(scheme), Box::new(CascadeSolver::default()));
/// let mut run = Simulation::new(Box::new(world), scheme, solver, (&q, &v), SimulationSettings::fixed(1e-3))?;
/// run.run_until(1.0, |_| ControlFlow::Continue(()));
/// // The target takes the whole momentum.
/// assert!(run.state().v[0].abs() < 1e-12 && (run.state().v[6] - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeclaredPairs {
    pairs: Vec<Pair>,
    /// Place of each pair in the last list.
    last: Vec<Option<u32>>,
}

impl DeclaredPairs {
    /// The given pairs of bodies, in any order.
    pub fn new(
        world: &World,
        pairs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, WorldError> {
        let mut declared = Vec::new();
        for (a, b) in pairs {
            declared.push(pair(world, a.min(b), a.max(b))?);
        }
        declared.sort_by_key(|pair| pair.key);
        declared.dedup_by_key(|pair| pair.key);
        let last = vec![None; declared.len()];
        Ok(Self {
            pairs: declared,
            last,
        })
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

fn pair(world: &World, a: u32, b: u32) -> Result<Pair, WorldError> {
    let name = |body: u32| {
        let body = world.bodies.get(body as usize);
        body.map_or_else(|| format!("number {a}"), |body| body.name.clone())
    };
    let refuse = |reason| {
        Err(WorldError::Pair {
            between: [name(a), name(b)],
            reason,
        })
    };
    let (Some(x), Some(y)) = (world.bodies.get(a as usize), world.bodies.get(b as usize)) else {
        return refuse("no such body");
    };
    if a == b || !(x.is_free() || y.is_free()) {
        return refuse("one of two different bodies must be free");
    }
    let ([first], [second]) = (&x.shapes[..], &y.shapes[..]) else {
        return refuse("each body must have one shape");
    };
    let on_half_space =
        |centre, radius, placed: &super::PlacedShape, normal, second| Form::BallOnHalfSpace {
            centre,
            radius,
            point: placed.pose.position,
            normal: placed.pose.direction(normal),
            second,
        };
    let form = match (&first.shape, &second.shape) {
        (Shape::Ball { radius: r }, Shape::Ball { radius: s }) => Form::Balls {
            centres: [first.pose.position, second.pose.position],
            radii: [*r, *s],
        },
        (Shape::Ball { radius }, Shape::HalfSpace { normal }) => {
            on_half_space(first.pose.position, *radius, second, *normal, true)
        }
        (Shape::HalfSpace { normal }, Shape::Ball { radius }) => {
            on_half_space(second.pose.position, *radius, first, *normal, false)
        }
        _ => return refuse("declared pairs are balls against balls or half-spaces"),
    };
    let Some(law) = world.laws.find(x.material, y.material) else {
        return refuse("their materials have no law");
    };
    Ok(Pair {
        key: ContactKey::found(a, b, 0),
        law,
        form,
    })
}

/// Place, normal from b to a, and gap; none where two centres coincide.
fn measure(
    form: &Form,
    state: &WorldState,
    [a, b]: [usize; 2],
    free: [bool; 2],
) -> Option<([f64; 3], [f64; 3], f64)> {
    match form {
        Form::Balls { centres, radii } => {
            let x = state.poses[a].point(centres[0]);
            let y = state.poses[b].point(centres[1]);
            let apart: [f64; 3] = std::array::from_fn(|i| x[i] - y[i]);
            let distance = apart.iter().map(|d| d * d).sum::<f64>().sqrt();
            if distance <= 0.0 {
                return None;
            }
            let normal = apart.map(|d| d / distance);
            let gap = distance - radii[0] - radii[1];
            // In the middle of the gap, or on the free body where the other one is not: its arm is then its radius.
            let share = match free {
                [true, true] => 0.5,
                [true, false] => 1.0,
                _ => 0.0,
            };
            let place = std::array::from_fn(|i| y[i] + (radii[1] + share * gap) * normal[i]);
            Some((place, normal, gap))
        }
        Form::BallOnHalfSpace {
            centre,
            radius,
            point,
            normal,
            second,
        } => {
            let (ball, plane) = if *second { (a, b) } else { (b, a) };
            let x = state.poses[ball].point(*centre);
            let (point, normal) = (
                state.poses[plane].point(*point),
                state.poses[plane].direction(*normal),
            );
            let height: f64 = (0..3).map(|i| (x[i] - point[i]) * normal[i]).sum();
            let gap = height - radius;
            let place = std::array::from_fn(|i| x[i] - radius * normal[i]);
            let sign = if *second { 1.0 } else { -1.0 };
            Some((place, normal.map(|n| sign * n), gap))
        }
    }
}

impl ContactSource for DeclaredPairs {
    fn find(&mut self, world: &World, state: &WorldState, h: f64, out: &mut Vec<FoundContact>) {
        out.clear();
        for (pair, last) in self.pairs.iter().zip(&mut self.last) {
            let [a, b] = pair.key.owners.map(|owner| owner as usize);
            let free = [a, b].map(|body| world.bodies[body].is_free());
            let matched = last.take();
            let Some((place, normal, gap)) = measure(&pair.form, state, [a, b], free) else {
                continue;
            };
            if gap <= world.reach(state, a, b, h) {
                *last = Some(out.len() as u32);
                out.push(FoundContact {
                    key: pair.key,
                    place,
                    normal,
                    gap,
                    law: pair.law,
                    matched,
                });
            }
        }
    }

    fn memory(&self) -> serde_json::Value {
        serde_json::json!(self.last)
    }

    fn recall(&mut self, memory: &serde_json::Value) -> bool {
        match serde_json::from_value::<Vec<Option<u32>>>(memory.clone()) {
            Ok(last) if last.len() == self.pairs.len() => {
                self.last = last;
                true
            }
            _ => false,
        }
    }
}
