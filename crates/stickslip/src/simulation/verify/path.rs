//! The path of a given motion between two nodes, and integrals along it.

use crate::systems::MechanicalSystem;

use super::friction::mean;
use super::place::{Place, force};
use super::{MotionNode, Quadrature};

/// Gauss's rule with five points on [0, 1]: places and weights.
const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_004, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_23),
    (0.5, 0.284_444_444_444_444_44),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_23),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];

/// Substeps for coordinates that do not add (quaternions), extrapolated from half as many.
const SUBSTEPS: usize = 64;

/// The motion between two nodes.
pub(super) struct Path<'a> {
    pub system: &'a dyn MechanicalSystem,
    pub from: &'a MotionNode,
    pub to: &'a MotionNode,
    pub quadrature: Quadrature,
}

/// What acts over an interval, integrated along its path.
pub(super) struct IntervalSum {
    /// ∫ M dv.
    pub momentum: Vec<f64>,
    /// ∫ f dt.
    pub impulse: Vec<f64>,
    /// ∫ H dp with a density that does not change.
    pub reaction: Vec<f64>,
    /// Means of the rows of joints.
    pub joints: Vec<Vec<f64>>,
    /// What these integrals may be off: the error of the rule, and where the path is free its range.
    pub slack: Vec<f64>,
}

impl Path<'_> {
    fn length(&self) -> f64 {
        self.to.t - self.from.t
    }

    /// Velocity at the part s of the interval.
    pub fn velocity(&self, s: f64) -> Vec<f64> {
        let (a, b) = (&self.from.v_right, &self.to.v_left);
        match self.quadrature {
            Quadrature::Step => a.clone(),
            Quadrature::Affine | Quadrature::Free => {
                let pairs = a.iter().zip(b);
                pairs.map(|(a, b)| (1.0 - s) * a + s * b).collect()
            }
        }
    }

    /// Configuration at the part s of the interval: the first one moved with the velocity.
    pub fn configuration(&self, s: f64) -> Vec<f64> {
        if self.system.coordinate_count() == self.system.dof() {
            return self.moved(s, 1);
        }
        // The middle velocities of ever shorter substeps converge in second order, which one extrapolation squares.
        let (fine, coarse) = (self.moved(s, SUBSTEPS), self.moved(s, SUBSTEPS / 2));
        let pairs = fine.iter().zip(&coarse);
        pairs.map(|(f, c)| f + (f - c) / 3.0).collect()
    }

    fn moved(&self, s: f64, substeps: usize) -> Vec<f64> {
        let h = s * self.length() / substeps as f64;
        let mut q = self.from.q.clone();
        let mut next = q.clone();
        for k in 0..substeps {
            let middle = self.velocity(s * (k as f64 + 0.5) / substeps as f64);
            self.system.displace(&q, &middle, h, &mut next);
            std::mem::swap(&mut q, &mut next);
        }
        q
    }

    /// The place at the part s of the interval.
    pub fn place(&self, s: f64) -> Place {
        let t = self.from.t + s * self.length();
        Place::at(self.system, t, &self.configuration(s), &self.velocity(s))
    }

    /// Mean of a function of the part of the interval.
    pub fn mean(&self, mut function: impl FnMut(f64) -> f64) -> f64 {
        GAUSS.iter().map(|&(s, weight)| weight * function(s)).sum()
    }

    /// Parts of the interval at which gaps are looked at.
    pub fn looks() -> impl Iterator<Item = f64> {
        GAUSS.into_iter().map(|(s, _)| s)
    }

    /// Momentum, forces and reactions over the interval.
    pub fn sum(&self) -> IntervalSum {
        let whole = self.sum_over(&[(0.0, 1.0)]);
        let mut sum = self.sum_over(&[(0.0, 0.5), (0.5, 1.0)]);
        let pairs = [
            (&whole.momentum, &sum.momentum),
            (&whole.impulse, &sum.impulse),
            (&whole.reaction, &sum.reaction),
        ];
        let mut slack = vec![0.0; sum.momentum.len()];
        for (a, b) in pairs {
            let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            slack.iter_mut().zip(off).for_each(|(s, x)| *s += x);
        }
        if self.quadrature == Quadrature::Free {
            self.range()
                .iter()
                .zip(&mut slack)
                .for_each(|(x, s)| *s += x);
        }
        sum.slack = slack;
        sum
    }

    fn sum_over(&self, intervals: &[(f64, f64)]) -> IntervalSum {
        let (h, n) = (self.length(), self.system.dof());
        let change: Vec<f64> = (self.to.v_left.iter().zip(&self.from.v_right))
            .map(|(x, y)| x - y)
            .collect();
        let mut sum = IntervalSum {
            momentum: vec![0.0; n],
            impulse: vec![0.0; n],
            reaction: vec![0.0; n],
            joints: vec![vec![0.0; n]; self.system.joints().len()],
            slack: Vec::new(),
        };
        let add = |to: &mut [f64], weight: f64, from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(t, x)| *t += weight * x);
        };
        for &(low, high) in intervals {
            for (s, weight) in GAUSS {
                let (s, weight) = (low + (high - low) * s, (high - low) * weight);
                let place = self.place(s);
                let (t, q) = (self.from.t + s * h, self.configuration(s));
                // A velocity that is a step function changes at the end of the interval.
                if self.quadrature != Quadrature::Step {
                    let mut part = vec![0.0; n];
                    place.mass.multiply(&change, &mut part);
                    add(&mut sum.momentum, weight, &part);
                }
                let push = force(self.system, t, &q, &self.velocity(s));
                add(&mut sum.impulse, weight * h, &push);
                let reaction = place.generalized_impulse(&self.to.smooth);
                add(&mut sum.reaction, weight, &reaction);
                for (row, now) in sum.joints.iter_mut().zip(&place.joints) {
                    add(row, weight, now);
                }
            }
        }
        if self.quadrature == Quadrature::Step {
            let end = Place::at(self.system, self.to.t, &self.to.q, &self.to.v_left);
            end.mass.multiply(&change, &mut sum.momentum);
        }
        sum
    }

    /// Half of the change of force, mass and rows over the interval: what a path that is not known may add.
    fn range(&self) -> Vec<f64> {
        let (h, n) = (self.length(), self.system.dof());
        let (a, b) = (self.from, self.to);
        let start = Place::at(self.system, a.t, &a.q, &a.v_right);
        let end = Place::at(self.system, b.t, &b.q, &b.v_left);
        let change: Vec<f64> = (b.v_left.iter().zip(&a.v_right))
            .map(|(x, y)| x - y)
            .collect();
        let parts = |place: &Place, node: &MotionNode, v: &[f64]| {
            let mut momentum = vec![0.0; n];
            place.mass.multiply(&change, &mut momentum);
            [
                momentum,
                force(self.system, node.t, &node.q, v)
                    .iter()
                    .map(|f| h * f)
                    .collect(),
                place.generalized_impulse(&b.smooth),
            ]
        };
        let (first, last) = (parts(&start, a, &a.v_right), parts(&end, b, &b.v_left));
        let mut out = vec![0.0; n];
        for (x, y) in first.iter().zip(&last) {
            for ((o, x), y) in out.iter_mut().zip(x).zip(y) {
                *o += 0.5 * (x - y).abs();
            }
        }
        out
    }

    /// Velocity in the middle of the interval.
    pub fn mean_velocity(&self) -> Vec<f64> {
        match self.quadrature {
            Quadrature::Step => self.from.v_right.clone(),
            Quadrature::Affine | Quadrature::Free => mean(&self.from.v_right, &self.to.v_left),
        }
    }
}
