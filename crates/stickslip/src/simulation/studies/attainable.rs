//! The sets A(q, v⁻) and A_ε(q, v⁻) of a sliding contact, and the verdict of Theorem 1.
//!
//! A holds the velocities that the law allows right after v⁻ with zero normal velocity; A_ε(q, v⁻) those that Moreau's S
//! reaches from positions and velocities nearer than ε. [Paoli2015] asks whether A_ε tends to A.

use rayon::prelude::*;
use serde::Serialize;

use crate::contact::{ContactProblem, ContactSolution, ContactSolver};
use crate::laws::FlowRule;
use crate::solvers::GaussSeidel;
use crate::solvers::one_contact::{gamma, planar};
use crate::stepping::MoreauContactDynamics;
use crate::systems::MechanicalSystem;

use super::one_step_problem;

/// |γ| at most this part of W_NN counts as zero.
const CRITICAL: f64 = 1e-12;

/// Shape of a set of velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// {v⁻}.
    Point,
    /// {v⁻, ṽ}: go on, or jam.
    Pair,
    /// [v⁻, ṽ].
    Segment,
}

impl Shape {
    /// Word for reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Pair => "pair",
            Self::Segment => "segment",
        }
    }
}

/// What Theorem 1 says at (q, v⁻).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attainable {
    /// γ divided by the square of the Euclidean norm of the normal row.
    pub gamma: f64,
    /// −1, 0 or 1: the sign of γ, with the criticality threshold.
    pub sign: i8,
    /// Velocity before.
    pub velocity: Vec<f64>,
    /// Jam velocity ṽ (v⁻ where there is none).
    pub jam: Vec<f64>,
    /// Shape of A.
    pub shape: Shape,
    /// Whether points with φ ≤ 0 and γ > 0 exist arbitrarily near.
    pub positive_neighbours: bool,
    /// Shape of the limit of A_ε.
    pub limit: Shape,
    /// Whether A_ε tends to A.
    pub converges: bool,
}

/// A sample of A_ε with its distances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// ε.
    pub epsilon: f64,
    /// Velocities S(q′, v′).
    pub velocities: Vec<Vec<f64>>,
    /// max over the sample of the distance to the predicted limit: reliable.
    pub excess: f64,
    /// max over the predicted limit of the distance to the sample: an upper bound that falls with
    /// the size of the sample.
    pub gap: f64,
}

/// Why a study is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttainableError {
    /// Not exactly one planar contact is active.
    #[error(
        "the sets A and A_ε are those of one active contact with one tangent; {blocks} blocks are active here"
    )]
    NotOnePlanarContact {
        /// Active blocks.
        blocks: usize,
    },
}

fn problem_at(system: &dyn MechanicalSystem, q: &[f64], v: &[f64]) -> ContactProblem {
    let mut scheme = MoreauContactDynamics::new(1e-9);
    let mut problem = one_step_problem(system, &mut scheme, (0.0, q, v), 0.0);
    for block in problem.blocks_mut() {
        block.flow_rule = FlowRule::KineticProjection;
    }
    problem
}

/// γ over W_NN of the active contact at q; none without contact.
fn margin_at(system: &dyn MechanicalSystem, q: &[f64]) -> Option<f64> {
    let problem = problem_at(system, q, &vec![0.0; system.dof()]);
    let block = problem.blocks().first()?;
    let w = problem.dense();
    Some(gamma(&w[..2], &block.section) / w[0])
}

/// A, the limit of A_ε and the verdict of Theorem 1 at a sliding contact.
pub fn attainable(
    system: &dyn MechanicalSystem,
    q: &[f64],
    v: &[f64],
) -> Result<Attainable, AttainableError> {
    let problem = problem_at(system, q, v);
    let (1, 2) = (problem.blocks().len(), problem.size()) else {
        return Err(AttainableError::NotOnePlanarContact {
            blocks: problem.blocks().len(),
        });
    };
    let w = problem.dense();
    let block = &problem.blocks()[0];
    let local = gamma(&w[..2], &block.section);
    let margin = local / w[0];
    let sign: i8 = if margin.abs() <= CRITICAL {
        0
    } else if margin > 0.0 {
        1
    } else {
        -1
    };
    let mut impulse = [0.0; 2];
    if let (true, Some(ends)) = (sign <= 0, block.section.ends()) {
        planar::solve_jam_planar(&w, problem.free(), ends, &mut impulse);
    }
    let mut jam = vec![0.0; v.len()];
    problem.velocity(&impulse, &mut jam);
    let jams = impulse[0] > 0.0;
    let positive_neighbours = match sign {
        1 => true,
        _ => has_positive_neighbours(system, q),
    };
    let shape = match (jams, sign) {
        (false, _) => Shape::Point,
        (true, 0) => Shape::Segment,
        (true, _) => Shape::Pair,
    };
    let limit = match (jams, sign, positive_neighbours) {
        (false, ..) => Shape::Point,
        (true, 0, true) => Shape::Segment,
        (true, ..) => Shape::Pair,
    };
    let normal = problem.row(0);
    Ok(Attainable {
        gamma: local / crate::algebra::dot(normal, normal),
        sign,
        velocity: v.to_vec(),
        jam,
        shape,
        positive_neighbours,
        limit,
        converges: shape == limit,
    })
}

/// Whether γ > 0 at sampled points of a small ball with φ ≤ 0.
fn has_positive_neighbours(system: &dyn MechanicalSystem, q: &[f64]) -> bool {
    let radius = 1e-5;
    (0..400u64).any(|k| {
        let near = in_ball(q, radius, 7, k);
        margin_at(system, &near).is_some_and(|margin| margin > 1e3 * CRITICAL)
    })
}

/// A_ε: S at random points of the balls around q and v⁻, approach velocities over many decades.
pub fn sample(
    system: &dyn MechanicalSystem,
    (q, v): (&[f64], &[f64]),
    epsilon: f64,
    samples: usize,
    seed: u64,
) -> Result<Sampled, AttainableError> {
    let expected = attainable(system, q, v)?;
    let normal: Vec<f64> = {
        let problem = problem_at(system, q, v);
        problem.row(0).to_vec()
    };
    let length = crate::algebra::dot(&normal, &normal);
    let velocities: Vec<Vec<f64>> = (0..samples as u64)
        .into_par_iter()
        .map(|k| {
            let near = in_ball(q, epsilon, seed, 2 * k);
            let mut velocity = in_ball(v, 0.5 * epsilon, seed, 2 * k + 1);
            // Log-uniform approach: otherwise the ratio v_n/γ that selects a point is never met.
            let decades = unit(seed ^ 0x5DEE_CE66, k) * 8.0;
            let approach = 0.4 * epsilon * 10f64.powf(-decades);
            let problem = problem_at(system, &near, &velocity);
            let Some(&u) = problem.free().first() else {
                return velocity;
            };
            for (x, n) in velocity.iter_mut().zip(&normal) {
                *x -= (u + approach) * n / length;
            }
            project(system, &near, &velocity)
        })
        .collect();
    let distance = |x: &[f64]| match expected.limit {
        Shape::Point => apart(x, &expected.velocity),
        Shape::Pair => apart(x, &expected.velocity).min(apart(x, &expected.jam)),
        Shape::Segment => to_segment(x, &expected.velocity, &expected.jam),
    };
    let excess = velocities.iter().map(|x| distance(x)).fold(0.0, f64::max);
    let targets = match expected.limit {
        Shape::Point => 0,
        Shape::Pair => 1,
        Shape::Segment => 50,
    };
    let gap = (0..=targets)
        .map(|k| {
            let t = if targets == 0 {
                0.0
            } else {
                f64::from(k) / f64::from(targets)
            };
            let target: Vec<f64> = expected
                .velocity
                .iter()
                .zip(&expected.jam)
                .map(|(a, b)| a + t * (b - a))
                .collect();
            velocities
                .iter()
                .map(|x| apart(x, &target))
                .fold(f64::INFINITY, f64::min)
        })
        .fold(0.0, f64::max);
    Ok(Sampled {
        epsilon,
        velocities,
        excess,
        gap,
    })
}

/// S(q, v).
fn project(system: &dyn MechanicalSystem, q: &[f64], v: &[f64]) -> Vec<f64> {
    let problem = problem_at(system, q, v);
    if problem.blocks().is_empty() {
        return v.to_vec();
    }
    let mut solution = ContactSolution::default();
    solution.prepare(problem.size());
    GaussSeidel::default().solve(&problem, &mut solution);
    let mut after = vec![0.0; v.len()];
    problem.velocity(&solution.impulse, &mut after);
    after
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
}

fn to_segment(x: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let along: Vec<f64> = b.iter().zip(a).map(|(b, a)| b - a).collect();
    let from: Vec<f64> = x.iter().zip(a).map(|(x, a)| x - a).collect();
    let length = crate::algebra::dot(&along, &along);
    let t = if length > 0.0 {
        (crate::algebra::dot(&along, &from) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let nearest: Vec<f64> = a.iter().zip(&along).map(|(a, d)| a + t * d).collect();
    apart(x, &nearest)
}

/// Point number `k` of a uniform sample of the Euclidean ball.
fn in_ball(centre: &[f64], radius: f64, seed: u64, k: u64) -> Vec<f64> {
    let n = centre.len();
    for attempt in 0.. {
        let point: Vec<f64> = (0..n)
            .map(|i| 2.0 * unit(seed, (k * 64 + attempt) * 16 + i as u64) - 1.0)
            .collect();
        if crate::algebra::dot(&point, &point) <= 1.0 || attempt > 60 {
            return centre
                .iter()
                .zip(&point)
                .map(|(c, x)| c + radius * x)
                .collect();
        }
    }
    centre.to_vec()
}

/// Number `k` of a sequence in [0, 1).
fn unit(seed: u64, k: u64) -> f64 {
    let mut z = seed.wrapping_add((k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
