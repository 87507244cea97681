//! Newton's method on all contacts at once, which finishes a sweep that creeps.
//!
//! # What it computes
//!
//! A zero of the natural map of Coulomb's law, block by block with ρ = 1/W_NN:
//! `p_N − max(p_N − ρ w_N, p_min)` and `p_T − P_{z D}(p_T − ρ w_T)` with z the first maximum. The map is piecewise
//! smooth; each step solves the linear system of the pieces the iterate lies on.
//!
//! # Source
//!
//! The law of [AcaryCollinsCraft2023]; Newton's method on piecewise smooth maps, [QiSun1993]. To start it from a sweep is
//! ours.
//!
//! # Guarantees
//!
//! What it accepts satisfies every law to the tolerance; otherwise the impulses are left as they were.
//!
//! # Behaviour to know
//!
//! It is for few contacts with nearly dependent rows, where a sweep would need 10⁵ rounds: a rod that comes to lie on
//! its two ends, a block on its feet. It may cycle where `μ|W_NT| > W_NN`; then the sweep goes on. Discs and intervals
//! only.
//!
//! # Cost
//!
//! At most 40 dense eliminations of the order of the problem; no allocation once warm.
//!
//! # Tested by
//!
//! Tests below, family rigid_rod_two_ends of `validate`.

use crate::algebra::dot;
use crate::algebra::small_dense::solve_in_place;
use crate::contact::{BlockKind, ContactBlock, ContactProblem};
use crate::laws::{FlowRule, FrictionSection};

/// Largest number of steps.
const STEPS: usize = 40;
/// Added to the diagonal, so that exactly dependent rows leave a solvable system.
const REGULARIZATION: f64 = 1e-13;

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct NewtonFinish {
    impulse: Vec<f64>,
    velocity: Vec<f64>,
    map: Vec<f64>,
    jacobian: Vec<f64>,
    /// ρ of the block of each row.
    rho: Vec<f64>,
    /// p_T − ρ w_T of one block.
    shifted: Vec<f64>,
    /// Differential of z of one block.
    slope: Vec<f64>,
}

/// Whether the law of a block is one whose pieces are known here.
fn supported(block: &ContactBlock) -> bool {
    block.flow_rule == FlowRule::Coulomb
        && matches!(
            block.kind,
            BlockKind::Unilateral { .. } | BlockKind::KnownNormal { .. }
        )
        && matches!(
            block.section,
            FrictionSection::None | FrictionSection::Disc { .. } | FrictionSection::Interval { .. }
        )
}

impl NewtonFinish {
    /// Tries to solve from the given impulses; `scale` is the largest velocity of the problem. Writes the
    /// impulses and returns true where the natural map falls below `tolerance · scale`.
    pub fn finish(
        &mut self,
        problem: &ContactProblem,
        impulse: &mut [f64],
        scale: f64,
        tolerance: f64,
    ) -> bool {
        let m = problem.size();
        let w = &problem.dense();
        self.rho.clear();
        for block in problem.blocks() {
            let stiffness = w[block.start * m + block.start];
            if !supported(block) || stiffness.is_nan() || stiffness <= 0.0 {
                return false;
            }
            let rows = self.rho.len() + block.size;
            self.rho.resize(rows, 1.0 / stiffness);
        }
        self.impulse.clear();
        self.impulse.extend_from_slice(impulse);
        self.velocity.resize(m, 0.0);
        for _ in 0..STEPS {
            problem.local_velocity(&self.impulse, &mut self.velocity);
            self.map.clear();
            self.map.resize(m, 0.0);
            self.jacobian.clear();
            self.jacobian.resize(m * m, 0.0);
            for block in problem.blocks() {
                self.linearize(block, w, m);
            }
            let largest = self
                .map
                .iter()
                .zip(&self.rho)
                .map(|(f, rho)| (f / rho).abs())
                .fold(0.0, f64::max);
            if largest <= tolerance * scale {
                impulse.copy_from_slice(&self.impulse);
                return true;
            }
            // In units of velocity, p = ρ x, every entry is of order one.
            for i in 0..m {
                for j in 0..m {
                    self.jacobian[i * m + j] *= self.rho[j] / self.rho[i];
                }
                self.jacobian[i * m + i] += REGULARIZATION;
                self.map[i] /= self.rho[i];
            }
            if !solve_in_place(&mut self.jacobian, &mut self.map) {
                return false;
            }
            for ((p, step), rho) in self.impulse.iter_mut().zip(&self.map).zip(&self.rho) {
                *p -= rho * step;
            }
            if self.impulse.iter().any(|p| !p.is_finite()) {
                return false;
            }
        }
        false
    }

    /// Natural map of a block and the differential of its piece.
    fn linearize(&mut self, block: &ContactBlock, w: &[f64], m: usize) {
        let (s, rho) = (block.start, self.rho[block.start]);
        let (p, u) = (&self.impulse, &self.velocity);
        let forecast = p[s] - rho * u[s];
        let (normal, pressed) = match block.kind {
            BlockKind::Unilateral { minimum } if forecast > minimum => (forecast, true),
            BlockKind::Unilateral { minimum } => (minimum, false),
            BlockKind::KnownNormal { impulse } => (impulse, false),
            BlockKind::Bilateral | BlockKind::Bounded { .. } => {
                unreachable!("refused before the first step")
            }
        };
        self.slope.clear();
        self.slope.resize(m, 0.0);
        if pressed {
            for (slope, w) in self.slope.iter_mut().zip(&w[s * m..(s + 1) * m]) {
                *slope = -rho * w;
            }
            self.slope[s] += 1.0;
        }
        self.map[s] = p[s] - normal;
        for j in 0..m {
            self.jacobian[s * m + j] = -self.slope[j];
        }
        self.jacobian[s * m + s] += 1.0;

        let tangents = s + 1..s + block.size;
        self.shifted.clear();
        self.shifted
            .extend(tangents.clone().map(|i| p[i] - rho * u[i]));
        let length = dot(&self.shifted, &self.shifted).sqrt();
        for (k, i) in tangents.enumerate() {
            // Where friction stops the slip the map is ρ w, else p minus a point of the boundary.
            let (limit, turning) = match block.section {
                FrictionSection::Interval { lower, upper } => {
                    let b = self.shifted[k];
                    if b < lower * normal {
                        (Some(lower), 0.0)
                    } else if b > upper * normal {
                        (Some(upper), 0.0)
                    } else {
                        (None, 0.0)
                    }
                }
                FrictionSection::Disc { mu, .. } if length > mu * normal && length > 0.0 => {
                    (Some(mu * self.shifted[k] / length), mu * normal / length)
                }
                _ => (None, 0.0),
            };
            let row = &mut self.jacobian[i * m..(i + 1) * m];
            let Some(limit) = limit else {
                self.map[i] = rho * u[i];
                for (o, w) in row.iter_mut().zip(&w[i * m..(i + 1) * m]) {
                    *o = rho * w;
                }
                continue;
            };
            self.map[i] = p[i] - limit * normal;
            for (o, slope) in row.iter_mut().zip(&self.slope) {
                *o = -limit * slope;
            }
            row[i] += 1.0;
            if turning != 0.0 {
                for (l, j) in (s + 1..s + block.size).enumerate() {
                    let same = f64::from(u8::from(l == k));
                    let weight =
                        turning * (same - self.shifted[k] * self.shifted[l] / (length * length));
                    row[j] -= weight;
                    for (o, w) in row.iter_mut().zip(&w[j * m..(j + 1) * m]) {
                        *o += weight * rho * w;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{
        ContactKey, ContactResidual, ContactSolution, ContactSolver, SolveStatus,
    };
    use crate::solvers::GaussSeidel;

    /// Contacts with the given rows (dimension 3, mass diagonal (1, 1, 1/12)) and velocity.
    fn problem(
        rows: &[[f64; 3]],
        size: usize,
        section: FrictionSection,
        v: [f64; 3],
    ) -> ContactProblem {
        let inverse = [1.0, 1.0, 12.0];
        let m = rows.len();
        let product =
            |a: &[f64; 3], b: &[f64; 3]| -> f64 { (0..3).map(|k| a[k] * inverse[k] * b[k]).sum() };
        let w = (0..m * m)
            .map(|k| product(&rows[k / m], &rows[k % m]))
            .collect();
        let q = rows.iter().map(|row| dot(row, &v)).collect();
        let blocks = (0..m / size)
            .map(|c| ContactBlock {
                key: ContactKey::declared(c, 0),
                start: c * size,
                size,
                section: section.clone(),
                flow_rule: FlowRule::Coulomb,
                kind: BlockKind::Unilateral { minimum: 0.0 },
            })
            .collect();
        ContactProblem::from_dense(w, q, blocks)
    }

    #[test]
    fn a_rod_that_nearly_lies_flat_is_solved() {
        for (tilt, v, mu) in [
            (1e-5, [1e-3, -0.01, 0.3], 0.3),
            (-7e-6, [0.02, -0.05, -0.01], 0.5),
            (3e-9, [-0.4, -0.1, 0.0], 0.2),
            (0.0, [1e-3, -0.01, 0.02], 0.3),
        ] {
            let angle = std::f64::consts::FRAC_PI_2 + tilt;
            let mut rows = Vec::new();
            for sign in [-0.5, 0.5] {
                let (x, y) = (sign * f64::sin(angle), sign * f64::cos(angle));
                rows.extend([[0.0, 1.0, -x], [1.0, 0.0, y]]);
            }
            let section = FrictionSection::segment(mu).unwrap();
            let problem = problem(&rows, 2, section, v);
            let mut solution = ContactSolution::default();
            solution.prepare(4);
            GaussSeidel::default().solve(&problem, &mut solution);
            assert_eq!(solution.status, SolveStatus::Converged, "{tilt}");
            let mut residual = ContactResidual::default();
            residual.measure(&problem, &solution.impulse);
            assert!(residual.worst() <= 1e-11, "{tilt}: {}", residual.worst());
        }
    }

    #[test]
    fn discs_in_space_reach_the_law_from_rest() {
        // Six rows in three coordinates are dependent.
        for mu in [0.05, 0.3, 0.8] {
            let rows = [
                [0.2, 1.0, 0.1],
                [1.0, 0.1, 0.2],
                [0.1, -0.1, 0.3],
                [-0.3, 1.0, -0.2],
                [0.9, 0.2, -0.1],
                [0.0, 0.2, 0.4],
            ];
            let section = FrictionSection::disc(mu).unwrap();
            let problem = problem(&rows, 3, section, [0.7, -1.0, 0.3]);
            let mut impulse = vec![0.0; 6];
            let mut newton = NewtonFinish::default();
            assert!(newton.finish(&problem, &mut impulse, 1.0, 1e-13), "{mu}");
            let mut residual = ContactResidual::default();
            residual.measure(&problem, &impulse);
            assert!(residual.worst() <= 1e-11, "{mu}: {}", residual.worst());
        }
    }
}
