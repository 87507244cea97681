//! Coulomb's law of one contact, and what a friction law reads.

use crate::algebra::dot;
use crate::laws::{FrictionSection, SetUnit};

use super::generalized::distance;
use super::interval_friction::IntervalLaws;

/// One contact at an instant.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    /// Rows of the contact in the local arrays: start and number.
    pub start: usize,
    pub size: usize,
    pub section: FrictionSection,
    /// What the section is measured per, where friction is stated on generalized reactions.
    pub unit: SetUnit,
    pub constraint: usize,
    /// Which of its points.
    pub point: usize,
    pub restitution: f64,
    /// Whether it may carry an impulse, and whether it must obey the laws of contact even without one.
    pub closed: bool,
    pub sure: bool,
}

impl Contact {
    /// Slip speed in these local velocities.
    pub fn slip_speed(&self, local: &[f64]) -> f64 {
        let tangents = &local[self.start + 1..self.start + self.size];
        tangents.iter().map(|u| u * u).sum::<f64>().sqrt()
    }
}

/// What is wrong with a reaction, relative to its size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrictionDefect {
    pub normal: f64,
    pub cone: f64,
    pub law: f64,
}

impl FrictionDefect {
    pub fn worst(self) -> f64 {
        [self.normal, self.cone, self.law]
            .into_iter()
            .fold(0.0, |s, x| if x.is_nan() || x > s { x } else { s })
    }
}

/// The local velocities (all rows) that friction reads.
pub(super) enum Reads<'a> {
    /// One velocity.
    One(&'a [f64]),
    /// Those along a path that is known. Where friction is stated on the reaction as a whole, one direction of it holds all the way.
    Along(&'a IntervalLaws),
    /// Any velocities between both: the reaction lies between those that the ends ask for.
    Between(&'a [f64], &'a [f64]),
}

impl Reads<'_> {
    /// Distance of the reaction `from` to what the law asks for; `wanted` gives that for a velocity.
    pub fn defect(&self, from: &[f64], wanted: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
        match self {
            Self::One(u) => distance(from, &wanted(u)),
            Self::Along(laws) => {
                let off = laws.velocities.iter().map(|u| distance(from, &wanted(u)));
                off.fold(0.0, |s, x| if x.is_nan() || x > s { x } else { s })
            }
            Self::Between(a, b) => {
                let mean = distance(from, &wanted(&mean(a, b)));
                (mean - distance(&wanted(a), &wanted(b))).max(0.0)
            }
        }
    }

    /// Whether something holds of every velocity that is told.
    pub fn all(&self, holds: impl Fn(&[f64]) -> bool) -> bool {
        match self {
            Self::One(u) => holds(u),
            Self::Along(laws) => laws.velocities.iter().all(|u| holds(u)),
            Self::Between(a, b) => holds(a) && holds(b),
        }
    }

    /// The velocity in the middle.
    pub fn middle(&self) -> Vec<f64> {
        match self {
            Self::One(u) => u.to_vec(),
            Self::Along(laws) => mean(&laws.velocities[0], &laws.velocities[1]),
            Self::Between(a, b) => mean(a, b),
        }
    }
}

/// Half of the sum.
pub(super) fn mean(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect()
}

/// Coulomb's law of one contact: its impulse p, the velocities that friction reads; `size` and `fastest` are those of
/// the reaction as a whole.
///
/// The point of p_N D that a slip u asks for is the nearest to p_T − ρ u; distances to it see a wrong direction
/// in first order, where the power of friction sees it in second order only.
pub(super) fn real(
    contact: &Contact,
    p: &[f64],
    reads: &Reads,
    (size, fastest): (f64, f64),
) -> FrictionDefect {
    let normal = p[0].max(0.0);
    let mut defect = FrictionDefect {
        normal: (-p[0]).max(0.0) / size,
        ..FrictionDefect::default()
    };
    if p.len() == 1 {
        return defect;
    }
    let nearest = |point: &[f64]| {
        let mut out = vec![0.0; point.len()];
        contact.section.project(point, normal, &mut out);
        out
    };
    let inside = nearest(&p[1..]);
    defect.cone = distance(&p[1..], &inside) / size;
    let wanted = |u: &[f64]| {
        let slip = &u[contact.start + 1..contact.start + contact.size];
        let rate = if fastest > 0.0 { size / fastest } else { 0.0 };
        let moved: Vec<f64> = inside.iter().zip(slip).map(|(p, u)| p - rate * u).collect();
        nearest(&moved)
    };
    defect.law = reads.defect(&inside, wanted) / size;
    defect
}

/// The variational form of a particle's law in lasting contact: r_n (v·x) ≥ (r·v) x_n for every test reaction x of
/// the cone; the largest violation, which is attained at the support point of the section in the direction −u.
///
/// [MonteiroMarquesDzonou2017], 1.4, the characterization of case 3 of its problem.
pub(super) fn variational(contact: &Contact, p: &[f64], u: &[f64]) -> f64 {
    if p.len() == 1 {
        return 0.0;
    }
    let minus: Vec<f64> = u[1..].iter().map(|x| -x).collect();
    let support = if p[0] > 0.0 {
        p[0] * contact.section.support(&minus)
    } else {
        0.0
    };
    dot(&p[1..], &u[1..]) + support
}
