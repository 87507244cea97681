//! The sets A(q, v⁻) and A_ε(q, v⁻) of a sliding contact, and the verdict of Theorem 1.
//!
//! A holds the velocities that the law allows right after v⁻ with zero normal velocity; A_ε(q, v⁻) those that Moreau's S
//! reaches from positions and velocities nearer than ε. [Paoli2015] asks whether A_ε tends to A.

use rayon::prelude::*;
use serde::Serialize;

use crate::algebra::PivotedCholesky;
use crate::algebra::lcp::{LcpOutcome, solve_lcp};
use crate::algebra::splitmix::Splitmix;
use crate::contact::{ContactKey, ContactProblem, ContactSolution, ContactSolver};
use crate::laws::{FlowRule, FrictionSection};
use crate::solvers::GaussSeidel;
use crate::solvers::one_contact::{OneContact, gamma, solve_jam};
use crate::solvers::uniqueness::Component;
use crate::stepping::MoreauContactDynamics;
use crate::systems::MechanicalSystem;

use super::StudyError;
use super::joint_surface::{JointSurface, ROUNDED};
use super::nearby::{apart, nearby};
use super::one_step_problem;
use super::positive_neighbours::positive_arbitrarily_near;

/// |γ| at most this part of W_NN is its rounding.
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

/// Which hypothesis of Theorem 1 on the friction set holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hypothesis {
    /// (H4): friction has one dimension.
    OneDimension,
    /// (H'4): the friction set is strictly convex.
    StrictlyConvex,
    /// Neither; the direction of the jam is unique all the same, which is what the proof uses.
    UniqueJam,
    /// Neither, and the direction of the jam is not unique: the theorem says nothing.
    None,
}

impl Hypothesis {
    /// Words for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::OneDimension => "(H4): one-dimensional friction",
            Self::StrictlyConvex => "(H'4): a strictly convex friction set",
            Self::UniqueJam => {
                "neither (H4) nor (H'4), but one direction of the jam, as the proof needs"
            }
            Self::None => {
                "neither (H4) nor (H'4), and several directions of the jam: the theorem says nothing here"
            }
        }
    }
}

/// What Theorem 1 says at (q, v⁻).
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::attainable::Attainable;
///
/// let scene = Scene::parse(find_in_gallery("painleve-rod").ok_or("no such scene")?.source())?;
/// let (q, v) = scene.initial_state();
/// let found = Attainable::at(scene.system()?.as_ref(), &q, &v)?;
/// assert_eq!(f64::from(found.sign), found.gamma.signum());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attainable {
    /// γ divided by the square of the Euclidean norm of the normal row.
    pub gamma: f64,
    /// −1, 0 or 1: the sign of γ, zero within its rounding.
    pub sign: i8,
    /// Velocity before.
    pub velocity: Vec<f64>,
    /// Jam velocity ṽ (v⁻ where there is none).
    pub jam: Vec<f64>,
    /// Shape of A. In space with γ < 0 the directions of jams form an arc; A is read as {v⁻, ṽ} with the ṽ of least
    /// kinetic energy, which is what S tends to. So it is, as [v⁻, ṽ], where γ = 0 along a side of a polygon.
    pub shape: Shape,
    /// Whether points with φ ≤ 0 and γ > 0 exist arbitrarily near, by the behaviour of γ on rays and shells of the kinetic metric down to its rounding;
    /// none where that does not tell.
    pub positive_neighbours: Option<bool>,
    /// Shape of the limit of A_ε, where it is known.
    pub limit: Option<Shape>,
    /// Whether A_ε tends to A, where that is known.
    pub converges: Option<bool>,
    /// Which hypothesis on the friction set holds.
    pub hypothesis: Hypothesis,
}

/// A sample of A_ε with its distances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// ε.
    pub epsilon: f64,
    /// Velocities S(q′, v′).
    pub velocities: Vec<Vec<f64>>,
    /// max over the sample of the distance to the predicted limit (to A, which holds it, where none is predicted): reliable.
    pub excess: f64,
    /// max over the predicted limit of the distance to the sample: an upper bound that falls with
    /// the size of the sample.
    pub gap: f64,
}

fn problem_within(
    system: &dyn MechanicalSystem,
    (q, v): (&[f64], &[f64]),
    gap: f64,
) -> ContactProblem {
    let mut scheme = MoreauContactDynamics::new(gap);
    let mut problem = one_step_problem(system, &mut scheme, (0.0, q, v), 0.0);
    for block in problem.blocks_mut() {
        block.flow_rule = FlowRule::KineticProjection;
    }
    problem
}

fn problem_at(system: &dyn MechanicalSystem, q: &[f64], v: &[f64]) -> ContactProblem {
    problem_within(system, (q, v), 1e-9)
}

/// The normal of the first contact, also where rows are sparse.
fn normal_of(problem: &ContactProblem, dof: usize) -> Vec<f64> {
    let mut normal = vec![0.0; dof];
    problem.row_add(0, 1.0, &mut normal);
    normal
}

/// γ over W_NN of the contact `key` at q, touching or not.
pub(super) fn margin_at(system: &dyn MechanicalSystem, q: &[f64], key: ContactKey) -> Option<f64> {
    let still = vec![0.0; system.dof()];
    let problem = problem_within(system, (q, &still), f64::INFINITY);
    let block = problem.blocks().iter().find(|b| b.key == key)?;
    let m = problem.size();
    let w = problem.dense();
    let row = &w[block.start * m + block.start..][..block.size];
    Some(gamma(row, &block.section) / row[0])
}

/// The rows of the contact `key` at q, touching or not, and the unit impulse that attains γ.
pub(super) fn least_impulse(
    system: &dyn MechanicalSystem,
    q: &[f64],
    key: ContactKey,
) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
    let still = vec![0.0; system.dof()];
    let problem = problem_within(system, (q, &still), f64::INFINITY);
    let index = problem.blocks().iter().position(|b| b.key == key)?;
    Some(rows_and_parts(&problem, index))
}

fn rows_and_parts(problem: &ContactProblem, index: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let block = &problem.blocks()[index];
    let row = |i: usize| {
        let mut row = vec![0.0; problem.dof()];
        problem.row_add(i, 1.0, &mut row);
        row
    };
    let (start, size) = (block.start, block.size);
    let minus: Vec<f64> = (1..size).map(|i| -problem.w(start, start + i)).collect();
    let mut parts = vec![1.0; size];
    block.section.support_point(&minus, &mut parts[1..]);
    (block.range().map(row).collect(), parts)
}

impl Attainable {
    /// A, the limit of A_ε and the verdict of Theorem 1 at a sliding contact.
    pub fn at(system: &dyn MechanicalSystem, q: &[f64], v: &[f64]) -> Result<Self, StudyError> {
        let problem = problem_at(system, q, v);
        let [block] = problem.blocks() else {
            return Err(StudyError::NotOneContact {
                blocks: problem.blocks().len(),
            });
        };
        if block.size < 2 || block.section.is_frictionless() {
            return Err(StudyError::NotOneContact { blocks: 1 });
        }
        if !block.section.is_bounded() {
            return Err(StudyError::Unbounded);
        }
        let joints = JointSurface::new(system, q)?;
        if !joints.allows(q, v) {
            return Err(StudyError::AgainstJoints);
        }
        let w = problem.dense();
        let (rows, _) = rows_and_parts(&problem, 0);
        let rank = friction_rank(&problem, &rows, &joints);
        if !(w[0] > 0.0 && joints.cancels(q, &rows[..1], &[1.0]) < 1.0 / CRITICAL) {
            return Err(StudyError::HeldGap);
        }
        slides(&problem, v)?;
        let local = gamma(&w[..block.size], &block.section);
        let margin = local / w[0];
        let sign: i8 = if margin.abs() <= CRITICAL {
            0
        } else if margin > 0.0 {
            1
        } else {
            -1
        };
        let impulse = match sign {
            1 => vec![0.0; block.size],
            0 => critical_jam(&problem, rank)?,
            _ => jam(&problem),
        };
        let mut after = vec![0.0; v.len()];
        problem.velocity(&impulse, &mut after);
        let jams = impulse[0] > 0.0;
        let positive_neighbours = match sign {
            1 => Some(true),
            0 => positive_arbitrarily_near(system, q, block.key, &joints),
            // γ is continuous: near a negative value there are negative ones only.
            _ => Some(false),
        };
        let shape = match (jams, sign) {
            (false, _) => Shape::Point,
            (true, 0) => Shape::Segment,
            (true, _) => Shape::Pair,
        };
        let hypothesis = match rank {
            0 | 1 => Hypothesis::OneDimension,
            _ => hypothesis(&block.section, &w[1..block.size], sign),
        };
        let limit = match (jams, sign, positive_neighbours) {
            (false, ..) => Some(Shape::Point),
            (true, 0, None) => None,
            // Along which of its directions neighbours jam, γ does not tell.
            (true, 0, _) if hypothesis == Hypothesis::None => None,
            (true, 0, Some(true)) => Some(Shape::Segment),
            (true, ..) => Some(Shape::Pair),
        };
        let normal = normal_of(&problem, v.len());
        Ok(Self {
            gamma: local / crate::algebra::dot(&normal, &normal),
            sign,
            velocity: v.to_vec(),
            jam: after,
            shape,
            positive_neighbours,
            limit,
            converges: limit.map(|limit| shape == limit),
            hypothesis,
        })
    }
}

/// Whether v⁻ has no normal velocity, but for the rounding of what people write.
fn slides(problem: &ContactProblem, v: &[f64]) -> Result<(), StudyError> {
    let speed = problem.free()[0];
    let mut normal = vec![0.0; v.len()];
    problem.row_add(0, 1.0, &mut normal);
    let terms = normal.iter().zip(v).map(|(n, v)| (n * v).abs());
    let rate = (speed - crate::algebra::dot(&normal, v)).abs();
    if speed.abs() <= ROUNDED * (terms.sum::<f64>() + rate) {
        Ok(())
    } else {
        Err(StudyError::NotSliding { speed })
    }
}

/// How many dimensions of motion friction moves: joints may leave one of two tangents.
fn friction_rank(problem: &ContactProblem, rows: &[Vec<f64>], joints: &JointSurface) -> usize {
    let d = rows.len() - 1;
    // As parts of what the tangents move without joints, beside which rounding is seen.
    let free: Vec<f64> = rows.iter().map(|row| joints.free_size(row)).collect();
    let part = |i: usize, j: usize| {
        let part = problem.w(i, j) / (free[i] * free[j]);
        if part.abs() > CRITICAL { part } else { 0.0 }
    };
    let tangential: Vec<f64> = (0..d * d).map(|k| part(1 + k / d, 1 + k % d)).collect();
    let mut factor = PivotedCholesky::default();
    factor.factor(d, &tangential);
    factor.rank()
}

/// Which hypothesis covers a section whose W_NT is `coupling`.
fn hypothesis(section: &FrictionSection, coupling: &[f64], sign: i8) -> Hypothesis {
    let minus: Vec<f64> = coupling.iter().map(|w| -w).collect();
    match section {
        _ if section.dimension() == 1 => Hypothesis::OneDimension,
        FrictionSection::Disc { .. } => Hypothesis::StrictlyConvex,
        FrictionSection::Ellipse { map } => {
            let determinant = map[0][0] * map[1][1] - map[0][1] * map[1][0];
            let size: f64 = map.iter().flatten().map(|x| x * x).sum();
            if determinant.abs() > 1e-12 * size {
                Hypothesis::StrictlyConvex
            } else {
                Hypothesis::OneDimension
            }
        }
        // At γ = 0 the jam goes along the point of the set that attains γ: unique unless a side does.
        _ if sign == 0 && attained_once(section, &minus) => Hypothesis::UniqueJam,
        _ => Hypothesis::None,
    }
}

/// Whether the support in a direction is attained in one point: that of nearby directions is the same or near it.
fn attained_once(section: &FrictionSection, direction: &[f64]) -> bool {
    let d = direction.len();
    let size = crate::algebra::dot(direction, direction).sqrt();
    if size == 0.0 {
        return false;
    }
    let point = |towards: &[f64]| {
        let mut out = vec![0.0; d];
        section.support_point(towards, &mut out);
        out
    };
    let centre = point(direction);
    let reach = crate::algebra::dot(&centre, &centre).sqrt();
    (0..d).all(|i| {
        [1.0, -1.0].iter().all(|sign| {
            let mut near = direction.to_vec();
            near[i] += sign * 1e-7 * size;
            apart(&point(&near), &centre) <= 1e-3 * reach
        })
    })
}

/// Jam at γ = 0: the only direction without normal velocity is that of the point that attains γ, or there are those of a side.
fn critical_jam(problem: &ContactProblem, rank: usize) -> Result<Vec<f64>, StudyError> {
    let (m, w) = (problem.size(), problem.dense());
    let minus: Vec<f64> = w[1..m].iter().map(|x| -x).collect();
    let section = &problem.blocks()[0].section;
    // Where friction moves one dimension, all points that attain γ move it alike.
    if !attained_once(section, &minus) && rank > 1 {
        return side_jam(problem);
    }
    let mut direction = vec![0.0; m];
    direction[0] = 1.0;
    section.support_point(&minus, &mut direction[1..]);
    let response: Vec<f64> = (0..m)
        .map(|i| crate::algebra::dot(&w[i * m..(i + 1) * m], &direction))
        .collect();
    let slope: f64 = crate::algebra::dot(&direction[1..], &problem.free()[1..]);
    let curvature = crate::algebra::dot(&direction, &response);
    let length = if curvature > 0.0 {
        (-slope / curvature).max(0.0)
    } else {
        0.0
    };
    Ok(direction.iter().map(|x| length * x).collect())
}

/// Jam at γ = 0 where γ is attained along a side of a polygon: the least energy ½ p·W p + q·p over the impulses p = E z, z ≥ 0, of its vertices,
/// none of which has a normal velocity.
fn side_jam(problem: &ContactProblem) -> Result<Vec<f64>, StudyError> {
    let (m, w) = (problem.size(), problem.dense());
    let FrictionSection::Polytope { polytope, scale } = &problem.blocks()[0].section else {
        return Err(StudyError::SeveralJams);
    };
    let dot = crate::algebra::dot;
    let edge = |vertex: &[f64]| -> Vec<f64> {
        let tangents = vertex.iter().map(|x| scale * x);
        std::iter::once(1.0).chain(tangents).collect()
    };
    let edges: Vec<Vec<f64>> = (polytope.vertices().map(edge))
        .filter(|edge| dot(&w[..m], edge) <= 2.0 * CRITICAL * w[0])
        .collect();
    let response = |edge: &Vec<f64>| -> Vec<f64> {
        let mut velocity: Vec<f64> = w.chunks(m).map(|row| dot(row, edge)).collect();
        velocity[0] = 0.0;
        velocity
    };
    let responses: Vec<Vec<f64>> = edges.iter().map(response).collect();
    let matrix: Vec<f64> = (edges.iter())
        .flat_map(|e| responses.iter().map(|r| dot(e, r)))
        .collect();
    let slopes = edges.iter().map(|e| dot(&e[1..], &problem.free()[1..]));
    let slopes: Vec<f64> = slopes.collect();
    let mut parts = vec![0.0; edges.len()];
    if solve_lcp(&matrix, &slopes, &mut parts) != LcpOutcome::Solved {
        return Err(StudyError::SeveralJams);
    }
    let impulse = |i: usize| edges.iter().zip(&parts).map(|(e, z)| z * e[i]).sum();
    Ok((0..m).map(impulse).collect())
}

/// Jam at γ < 0: what Moreau's S tends to as the approach vanishes.
fn jam(problem: &ContactProblem) -> Vec<f64> {
    let mut impulse = vec![0.0; problem.size()];
    let contact = OneContact {
        w: &problem.dense(),
        q: problem.free(),
        section: &problem.blocks()[0].section,
        normal_impulse_min: 0.0,
    };
    solve_jam(&contact, &mut impulse);
    impulse
}

impl Sampled {
    /// A_ε: S at random points of the balls around q and v⁻, approach velocities over many decades, every other one where γ > 0 of the size that
    /// selects a point inside the segment.
    pub fn around(
        system: &dyn MechanicalSystem,
        (q, v): (&[f64], &[f64]),
        epsilon: f64,
        samples: usize,
        seed: u64,
    ) -> Result<Self, StudyError> {
        let expected = Attainable::at(system, q, v)?;
        let normal = normal_of(&problem_at(system, q, v), v.len());
        let key = problem_at(system, q, v).blocks()[0].key;
        let joints = JointSurface::new(system, q)?;
        let dot = crate::algebra::dot;
        let velocities: Vec<Vec<f64>> = (0..samples as u64)
            .into_par_iter()
            .map(|k| {
                let (near, mut velocity) = nearby(&joints, (q, v), epsilon, (seed, k));
                // Log-uniform approach: otherwise the ratio v_n/γ that selects a point is never met.
                let decades = Splitmix::number(seed ^ 0x5DEE_CE66, k) * 8.0;
                let mut approach = 0.4 * epsilon * 10f64.powf(-decades);
                let Some((problem, _)) = alone(problem_at(system, &near, &velocity), key) else {
                    return velocity;
                };
                if k % 2 == 1 {
                    approach = approach.min(selecting_approach(&problem, decades - 4.0));
                }
                // Where normals turn from place to place, the approach drawn is reached at the second attempt.
                let along = match joints.is_empty() {
                    true => normal.clone(),
                    false => joints.response(&near, &normal),
                };
                let (mut speed, mut slope) = (problem.free()[0], dot(&normal, &along));
                for _ in 0..2 {
                    let length = (speed + approach) / slope;
                    for (x, a) in velocity.iter_mut().zip(&along) {
                        *x -= length * a;
                    }
                    let problem = problem_at(system, &near, &velocity);
                    let Some((problem, _)) = alone(problem, key) else {
                        break;
                    };
                    let reached = problem.free()[0];
                    let seen = (speed - reached) / length;
                    slope = if seen > 0.5 * slope { seen } else { slope };
                    speed = reached;
                }
                project(system, (&near, &velocity), key)
            })
            .collect();
        let limit = expected.limit.unwrap_or(expected.shape);
        let distance = |x: &[f64]| match limit {
            Shape::Point => apart(x, &expected.velocity),
            Shape::Pair => apart(x, &expected.velocity).min(apart(x, &expected.jam)),
            Shape::Segment => to_segment(x, &expected.velocity, &expected.jam),
        };
        let excess = velocities.iter().map(|x| distance(x)).fold(0.0, f64::max);
        let targets = match limit {
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
        Ok(Self {
            epsilon,
            velocities,
            excess,
            gap,
        })
    }
}

/// An approach of the size of γ times the slip, times a power of ten up to a hundred: friction then makes of it an impulse that changes the slip by the like.
fn selecting_approach(problem: &ContactProblem, decades: f64) -> f64 {
    let (w, block) = (problem.dense(), &problem.blocks()[0]);
    let local = gamma(&w[..block.size], &block.section);
    if !(local > 0.0) {
        return f64::INFINITY;
    }
    let m = block.size;
    let tangential: f64 = (1..m).map(|i| w[i * m + i]).sum();
    let slip = &problem.free()[1..m];
    let slip = crate::algebra::dot(slip, slip).sqrt();
    let scale = (w[0] * tangential).sqrt();
    let selecting = local / scale * slip * 10f64.powf(0.5 * decades);
    if selecting > 0.0 {
        selecting
    } else {
        f64::INFINITY
    }
}

/// The problem of one contact and the blocks of the whole one: A_ε is that of a single constraint, also where a ball reaches another.
fn alone(problem: ContactProblem, key: ContactKey) -> Option<(ContactProblem, usize)> {
    let index = problem.blocks().iter().position(|b| b.key == key)?;
    match problem.blocks().len() {
        1 => Some((problem, 0)),
        _ => Some((Component::new(&problem, &[index]).problem, index)),
    }
}

/// S(q, v).
fn project(system: &dyn MechanicalSystem, (q, v): (&[f64], &[f64]), key: ContactKey) -> Vec<f64> {
    let problem = problem_at(system, q, v);
    let Some((own, index)) = alone(problem.clone(), key) else {
        return v.to_vec();
    };
    let mut solution = ContactSolution::default();
    solution.prepare(own.size());
    GaussSeidel::default().solve(&own, &mut solution);
    let mut impulse = vec![0.0; problem.size()];
    impulse[problem.blocks()[index].range()].copy_from_slice(&solution.impulse);
    let mut after = vec![0.0; v.len()];
    problem.velocity(&impulse, &mut after);
    after
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
