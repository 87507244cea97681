//! The path of a given motion between two nodes, and integrals along it.

use crate::algebra::{CholeskyFactor, PivotedCholesky, dot};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use super::friction::mean;
use super::place::{Place, force};
use super::quadrature::{GAUSS, Integral, integral, sign_changes};
use super::{MotionNode, Quadrature};

/// Parts at whose ends configurations that do not add (quaternions) are kept, and substeps of each part, extrapolated from half as many.
const PARTS: usize = 32;
const SUBSTEPS: usize = 2;

/// Panels in which a force that is not constant is looked at first, between the places where it is known to jump; fewer where coordinates do
/// not add.
const PANELS: usize = 32;
const PANELS_TURNING: usize = 4;

/// The motion between two nodes.
pub(super) struct Path<'a> {
    pub system: &'a dyn MechanicalSystem,
    pub from: &'a MotionNode,
    pub to: &'a MotionNode,
    pub quadrature: Quadrature,
    /// Configurations at even parts of the interval, where coordinates do not add.
    grid: Vec<Vec<f64>>,
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
    /// ∫ |f| dt.
    pub size: Vec<f64>,
    /// What these integrals may be off: the error of the rule, and where the path is free its range.
    pub slack: Vec<f64>,
    /// What the velocity may be off in between where the path is free.
    pub wander: Vec<f64>,
}

impl<'a> Path<'a> {
    /// The path from one node to the next.
    pub fn new(
        system: &'a dyn MechanicalSystem,
        (from, to): (&'a MotionNode, &'a MotionNode),
        quadrature: Quadrature,
    ) -> Self {
        let mut path = Self {
            system,
            from,
            to,
            quadrature,
            grid: Vec::new(),
        };
        if system.coordinate_count() != system.dof() {
            let mut grid = vec![from.q.clone()];
            for part in 0..PARTS {
                let ends = (part as f64 / PARTS as f64, (part + 1) as f64 / PARTS as f64);
                grid.push(path.extrapolated(&grid[part], ends));
            }
            path.grid = grid;
        }
        path
    }

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
        if self.grid.is_empty() {
            return self.moved(&self.from.q, (0.0, s), 1);
        }
        let part = ((s * PARTS as f64) as usize).min(self.grid.len() - 1);
        let start = part as f64 / PARTS as f64;
        self.extrapolated(&self.grid[part], (start, s))
    }

    /// The middle velocities of ever shorter substeps converge in second order, which one extrapolation squares.
    fn extrapolated(&self, q: &[f64], ends: (f64, f64)) -> Vec<f64> {
        let fine = self.moved(q, ends, SUBSTEPS);
        let coarse = self.moved(q, ends, SUBSTEPS / 2);
        let pairs = fine.iter().zip(&coarse);
        pairs.map(|(f, c)| f + (f - c) / 3.0).collect()
    }

    /// A configuration moved from one part of the interval to another.
    fn moved(&self, from: &[f64], (start, end): (f64, f64), substeps: usize) -> Vec<f64> {
        let step = (end - start) / substeps as f64;
        let mut q = from.to_vec();
        let mut next = q.clone();
        for k in 0..substeps {
            let middle = self.velocity(start + step * (k as f64 + 0.5));
            let h = step * self.length();
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

    /// Parts of the interval at which gaps are looked at.
    pub fn looks() -> impl Iterator<Item = f64> {
        GAUSS.into_iter().map(|(s, _)| s)
    }

    /// The ends of the interval, 0 and 1, and the places between them where forces or friction are known to jump or bend.
    pub fn switches(&self) -> Vec<f64> {
        sign_changes(&mut |s, values| self.write_switches(s, values))
    }

    /// The functions that change their sign there.
    pub fn write_switches(&self, s: f64, values: &mut Vec<f64>) {
        let (q, v) = (self.configuration(s), self.velocity(s));
        let t = self.from.t + s * self.length();
        self.system.switches(&Instant::new(t, &q, &v), values);
    }

    /// Local velocities at the part s of the interval.
    pub fn local(&self, s: f64) -> Vec<f64> {
        self.place(s).local(&self.velocity(s))
    }

    /// ∫ f dt, halved until it converges.
    fn impulse(&self, floor: &[f64]) -> Integral {
        let (h, system) = (self.length(), self.system);
        let steady = system.force_dependence() == ForceDependence::None
            && (!system.has_potential() || system.potential_is_linear());
        let panels = match system.coordinate_count() == system.dof() {
            _ if steady => 1,
            true => PANELS,
            false => PANELS_TURNING,
        };
        integral(&self.switches(), panels, floor, &mut |s, out| {
            let (q, v) = (self.configuration(s), self.velocity(s));
            let push = force(system, self.from.t + s * h, &q, &v);
            out.iter_mut().zip(push).for_each(|(o, f)| *o = h * f);
        })
    }

    /// Momentum, forces and reactions over the interval; of each momentum nothing matters below its `floor`.
    pub fn sum(&self, floor: &[f64]) -> IntervalSum {
        let (n, system) = (self.system.dof(), self.system);
        let change: Vec<f64> = (self.to.v_left.iter().zip(&self.from.v_right))
            .map(|(x, y)| x - y)
            .collect();
        // Momentum, reaction and joints, one after the other.
        let count = 2 + system.joints().len();
        // Joints are directions only.
        let mut floors = vec![f64::INFINITY; count * n];
        floors[..2 * n].copy_from_slice(&[floor, floor].concat());
        let rows = integral(&[0.0, 1.0], 1, &floors, &mut |s, out| {
            let place = self.place(s);
            place.mass.multiply(&change, &mut out[..n]);
            let reaction = place.generalized_impulse(&self.to.smooth);
            out[n..2 * n].copy_from_slice(&reaction);
            for (row, now) in out[2 * n..].chunks_mut(n).zip(&place.joints) {
                row.copy_from_slice(now);
            }
        });
        let impulse = self.impulse(floor);
        let mut sum = IntervalSum {
            momentum: rows.value[..n].to_vec(),
            impulse: impulse.value,
            reaction: rows.value[n..2 * n].to_vec(),
            joints: rows.value[2 * n..].chunks(n).map(<[f64]>::to_vec).collect(),
            size: impulse.size,
            slack: impulse.error,
            wander: vec![0.0; n],
        };
        for (i, slack) in sum.slack.iter_mut().enumerate() {
            *slack += rows.error[n + i];
            // A velocity that is a step function changes at the end of the interval.
            if self.quadrature != Quadrature::Step {
                *slack += rows.error[i];
            }
        }
        if self.quadrature == Quadrature::Step {
            let end = Place::at(system, self.to.t, &self.to.q, &self.to.v_left);
            end.mass.multiply(&change, &mut sum.momentum);
        }
        if self.quadrature == Quadrature::Free {
            self.add_range(&mut sum);
        }
        sum
    }

    /// Adds half of the change of force, mass and rows over the interval: what a path that is not known may add to the momentum, and so
    /// to the velocity in between.
    fn add_range(&self, sum: &mut IntervalSum) {
        let (h, n) = (self.length(), self.system.dof());
        let (a, b) = (self.from, self.to);
        let start = Place::at(self.system, a.t, &a.q, &a.v_right);
        let end = Place::at(self.system, b.t, &b.q, &b.v_left);
        let change: Vec<f64> = (b.v_left.iter().zip(&a.v_right))
            .map(|(x, y)| x - y)
            .collect();
        let held = sum.held_by_joints();
        let parts = |place: &Place, node: &MotionNode, v: &[f64]| {
            let mut momentum = vec![0.0; n];
            place.mass.multiply(&change, &mut momentum);
            let push = force(self.system, node.t, &node.q, v);
            let push = push.iter().map(|f| h * f).collect();
            let mut parts = vec![momentum, push, place.generalized_impulse(&b.smooth)];
            // Reactions of joints turn with their rows.
            let joints = place.joints.iter().zip(&held);
            parts.extend(joints.map(|(row, p)| row.iter().map(|g| p * g).collect()));
            parts
        };
        let (first, last) = (parts(&start, a, &a.v_right), parts(&end, b, &b.v_left));
        let mut factor = CholeskyFactor::default();
        let factored = factor.factor(&end.mass).is_ok();
        for (x, y) in first.iter().zip(&last) {
            let half: Vec<f64> = x.iter().zip(y).map(|(x, y)| 0.5 * (x - y)).collect();
            let mut answer = half.clone();
            let mut bend = 0.0;
            if factored {
                factor.solve_in_place(&mut answer);
                // What turns by an angle leaves the chord between its ends by an eighth of the square of that: where a component has its
                // largest value in between, it is the same at both ends.
                let square = dot(&half, &answer).max(0.0);
                let mut middle: Vec<f64> = x.iter().zip(y).map(|(x, y)| 0.5 * (x + y)).collect();
                let size = factor.dual_norm(&mut middle);
                bend = square / (2.0 * size).max(square.sqrt()).max(f64::MIN_POSITIVE);
            }
            for i in 0..n {
                let reach = end.mass.get(i, i).max(f64::MIN_POSITIVE).sqrt();
                sum.slack[i] += half[i].abs() + bend * reach;
                if factored {
                    sum.wander[i] += answer[i].abs() + bend / reach;
                }
            }
        }
    }

    /// Velocity in the middle of the interval.
    pub fn mean_velocity(&self) -> Vec<f64> {
        match self.quadrature {
            Quadrature::Step => self.from.v_right.clone(),
            Quadrature::Affine | Quadrature::Free => mean(&self.from.v_right, &self.to.v_left),
        }
    }
}

impl IntervalSum {
    /// What momentum, forces and reactions leave for joints.
    pub fn defect(&self) -> Vec<f64> {
        let parts = self.momentum.iter().zip(&self.impulse).zip(&self.reaction);
        parts.map(|((m, f), r)| m - f - r).collect()
    }

    /// The impulse of each joint that the motion tells: what is nearest to the defect.
    fn held_by_joints(&self) -> Vec<f64> {
        let (count, defect) = (self.joints.len(), self.defect());
        let mut held: Vec<f64> = self.joints.iter().map(|row| dot(row, &defect)).collect();
        let gram: Vec<f64> = (0..count * count)
            .map(|e| dot(&self.joints[e / count], &self.joints[e % count]))
            .collect();
        if count > 0 {
            let mut factor = PivotedCholesky::default();
            factor.factor(count, &gram);
            factor.solve_in_place(&mut held);
        }
        held
    }
}
