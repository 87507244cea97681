//! Least value of a convex quadratic over half-lines and round cones under linear equations.
//!
//! # What it computes
//!
//! min ½ x·P x + c·x over x ∈ K, A x = b, with P symmetric positive semidefinite and K a product of half-lines and Lorentz cones
//! x₀ ≥ |x₁|; with it y = P x + c + Aᵀτ ∈ K, x·y = 0.
//!
//! # Source
//!
//! Interior points with the scaling of Nesterov and Todd and a corrector are standard, as for the contact problem in
//! `solvers/interior_point.rs`. The end game is a semismooth Newton method ([QiSun1993]) on the natural map of x, τ.
//!
//! # Guarantees
//!
//! The defect told is that of the returned point, by its own evaluation.
//!
//! # Behaviour to know
//!
//! Equations that depend on others are left out: they have the multiplier zero. Where A x = b meets K in its boundary alone the interior method ends early, and
//! the end game does the rest.
//!
//! # Cost
//!
//! Ten to twenty eliminations of order n + k, whatever the data are.
//!
//! # Tested by
//!
//! Tests below, `tests/property_generalized.rs`.

use super::lorentz::{self, Scaling};
use super::small_dense::{dot, matrix_vector, norm, solve_in_place};

/// Parts of the terms of the conditions that rounding leaves.
const TARGET: f64 = 4e-15;
/// Steps of the interior method at most.
const STEPS: usize = 100;
/// Steps of the end game at most.
const NEWTON: usize = 12;
/// Part of the defect that a good step of the interior method leaves,
const FAR: f64 = 0.3;
/// part of x·y per unit missed, of that at the start, which is kept,
const BEHIND: f64 = 1.0;
/// and part of the mean of all x∘y that each of them keeps.
const CENTRED: f64 = 1e-4;
/// Equations of which less than this part is left beside the others depend on them.
const DEPENDENT: f64 = 1e-11;

/// A program; its matrices are row-major.
pub(crate) struct ConeProgram {
    /// P.
    matrix: Vec<f64>,
    /// c.
    linear: Vec<f64>,
    /// A, without rows that depend on others.
    rows: Vec<f64>,
    /// b.
    right: Vec<f64>,
    /// Sizes of the cones, in the order of the variables; 1 is a half-line.
    cones: Vec<usize>,
    /// Which equations were kept.
    kept: Vec<usize>,
    equations: usize,
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct ConePoint {
    pub x: Vec<f64>,
    /// τ of every equation.
    pub multipliers: Vec<f64>,
    /// Steps of both methods.
    pub steps: usize,
    /// Defect of the conditions, as a part of their terms.
    pub defect: f64,
}

/// An iterate.
#[derive(Clone)]
struct Iterate {
    x: Vec<f64>,
    y: Vec<f64>,
    tau: Vec<f64>,
}

impl ConeProgram {
    /// A program whose blocks are about as large as one another: callers scale them.
    pub fn new(
        matrix: Vec<f64>,
        linear: Vec<f64>,
        (rows, right): (&[f64], &[f64]),
        cones: Vec<usize>,
    ) -> Self {
        let n = linear.len();
        let (mut basis, mut kept): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
        for k in 0..right.len() {
            let row = &rows[k * n..(k + 1) * n];
            let mut rest = row.to_vec();
            // Twice: once leaves rounding of what it takes away.
            for b in basis.iter().chain(&basis) {
                let part = dot(b, &rest);
                rest.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
            }
            let length = norm(&rest);
            if length > DEPENDENT * norm(row) {
                rest.iter_mut().for_each(|x| *x /= length);
                basis.push(rest);
                kept.push(k);
            }
        }
        Self {
            matrix,
            linear,
            rows: (kept.iter())
                .flat_map(|&k| rows[k * n..(k + 1) * n].iter().copied())
                .collect(),
            right: kept.iter().map(|&k| right[k]).collect(),
            cones,
            kept,
            equations: rows.len() / n.max(1),
        }
    }

    /// Minimises.
    pub fn solve(&self) -> ConePoint {
        let (n, k) = (self.linear.len(), self.right.len());
        // Impulses and velocities of the size that the data have.
        let size = (self.linear.iter().chain(&self.right)).fold(0.0f64, |s, x| s.max(x.abs()));
        let mut at = Iterate {
            x: vec![0.0; n],
            y: vec![0.0; n],
            tau: vec![0.0; k],
        };
        if size == 0.0 || n == 0 {
            return self.point(at, 0, 0.0);
        }
        self.each(|range| {
            at.x[range.start] = size;
            at.y[range.start] = size;
        });
        let mut best = (self.defect(&at), at.clone());
        let mut steps = 0;
        let first = self.gap(&at) / self.missed(&at).max(f64::MIN_POSITIVE);
        while steps < STEPS && best.0 > TARGET && self.interior_step(&mut at, first) {
            steps += 1;
            let defect = self.defect(&at);
            if defect < best.0 {
                best = (defect, at.clone());
            } else if defect > 1e3 * best.0 {
                break;
            }
        }
        for _ in 0..NEWTON {
            let mut trial = best.1.clone();
            if best.0 <= TARGET || !self.newton_step(&mut trial) {
                break;
            }
            steps += 1;
            let defect = self.defect(&trial);
            if !(defect < best.0) {
                break;
            }
            best = (defect, trial);
        }
        // The point itself lies in the cones.
        let (defect, mut at) = best;
        self.each(|range| lorentz::project(&mut at.x[range]));
        self.point(at, steps, defect)
    }

    fn point(&self, at: Iterate, steps: usize, defect: f64) -> ConePoint {
        let mut multipliers = vec![0.0; self.equations];
        for (&k, tau) in self.kept.iter().zip(&at.tau) {
            multipliers[k] = *tau;
        }
        ConePoint {
            x: at.x,
            multipliers,
            steps,
            defect,
        }
    }

    fn each(&self, mut act: impl FnMut(std::ops::Range<usize>)) {
        let mut start = 0;
        for size in &self.cones {
            act(start..start + size);
            start += size;
        }
    }

    /// P x + c + Aᵀτ.
    fn slope(&self, x: &[f64], tau: &[f64]) -> Vec<f64> {
        let n = x.len();
        let mut slope = vec![0.0; n];
        matrix_vector(&self.matrix, x, &mut slope);
        for (i, s) in slope.iter_mut().enumerate() {
            *s += self.linear[i];
            *s += (tau.iter().enumerate())
                .map(|(k, t)| t * self.rows[k * n + i])
                .sum::<f64>();
        }
        slope
    }

    /// A x − b.
    fn miss(&self, x: &[f64]) -> Vec<f64> {
        let mut miss = vec![0.0; self.right.len()];
        matrix_vector(&self.rows, x, &mut miss);
        miss.iter_mut().zip(&self.right).for_each(|(m, b)| *m -= b);
        miss
    }

    /// Natural map of the point and what it misses of the equations, as parts of the sizes of x, c and b.
    fn defect(&self, at: &Iterate) -> f64 {
        let slope = self.slope(&at.x, &at.tau);
        let mut image: Vec<f64> = at.x.iter().zip(&slope).map(|(x, s)| x - s).collect();
        self.each(|range| lorentz::project(&mut image[range]));
        let apart: Vec<f64> = at.x.iter().zip(&image).map(|(x, y)| x - y).collect();
        let size = norm(&image) + norm(&self.linear) + norm(&self.right);
        let defect = (norm(&apart) + norm(&self.miss(&at.x))) / size;
        if defect.is_finite() {
            defect
        } else {
            f64::INFINITY
        }
    }

    /// Norm of what an iterate misses of the equations, y = P x + c + Aᵀτ among them.
    fn missed(&self, at: &Iterate) -> f64 {
        let slope = self.slope(&at.x, &at.tau);
        let dual: Vec<f64> = slope.iter().zip(&at.y).map(|(s, y)| s - y).collect();
        norm(&dual) + norm(&self.miss(&at.x))
    }

    /// A predictor and its corrector; false where the method is at its end. `first` is what x·y was at the start per unit that was missed.
    fn interior_step(&self, at: &mut Iterate, first: f64) -> bool {
        let n = at.x.len();
        let mut scalings = Vec::with_capacity(self.cones.len());
        self.each(|range| {
            scalings.push(Scaling::of(&at.x[range.clone()], &at.y[range]));
        });
        if scalings.iter().any(|s| !s.is_finite()) {
            return false;
        }
        let slope = self.slope(&at.x, &at.tau);
        let dual: Vec<f64> = slope.iter().zip(&at.y).map(|(s, y)| s - y).collect();
        let miss = self.miss(&at.x);
        let gap = self.gap(at);

        // x∘y falls to nothing, then to what the predictor leaves of it, with its own second order.
        let mut target = vec![0.0; n];
        self.each_scaled(&scalings, |scaling, range| {
            scaling.towards(&mut target[range])
        });
        let Some(predicted) = self.direction(&scalings, (&dual, &miss), &target) else {
            return false;
        };
        let ahead = self.reach(at, &predicted).min(1.0);
        // The second order of a long step that is then cut may lead in circles: less of it, nearer to the centre, where it does not lead far.
        // Nor may x·y run ahead of the equations: what they lack would be out of reach near the boundary.
        let due = BEHIND * first * (norm(&dual) + norm(&miss));
        let behind = if gap < due { due.min(10.0 * gap) } else { 0.0 };
        let (mut left_over, mut next) = (f64::INFINITY, None);
        for (weight, centre) in [
            (1.0, (1.0 - ahead).powi(3)),
            (ahead * ahead, 0.1),
            (0.0, 0.5),
        ] {
            let left = centre.clamp(1e-10, 1.0) * gap + behind;
            self.each_scaled(&scalings, |scaling, range| {
                let (dx, dy) = (&predicted.x[range.clone()], &predicted.y[range.clone()]);
                scaling.corrected((dx, dy, weight), left, &mut target[range]);
            });
            let Some(step) = self.direction(&scalings, (&dual, &miss), &target) else {
                continue;
            };
            let Some((way, trial)) = self.centred_step(at, &step) else {
                continue;
            };
            // What is left of x·y, and of the equations.
            let rest = self.gap(&trial) / gap.max(due) + (1.0 - way);
            if rest < left_over {
                (left_over, next) = (rest, Some(trial));
            }
            if left_over < FAR {
                break;
            }
        }
        let Some(next) = next else {
            return false;
        };
        *at = next;
        true
    }

    /// Mean of x·y over the cones.
    fn gap(&self, at: &Iterate) -> f64 {
        dot(&at.x, &at.y) / self.cones.len() as f64
    }

    /// The longest part of a step that stays off the boundary, and all products x∘y at least a part of their mean.
    fn centred_step(&self, at: &Iterate, step: &Iterate) -> Option<(f64, Iterate)> {
        let mut way = (0.995 * self.reach(at, step)).min(1.0);
        while way > 1e-10 {
            let moved = |from: &[f64], along: &[f64]| -> Vec<f64> {
                from.iter().zip(along).map(|(v, d)| v + way * d).collect()
            };
            let trial = Iterate {
                x: moved(&at.x, &step.x),
                y: moved(&at.y, &step.y),
                tau: moved(&at.tau, &step.tau),
            };
            let least = (CENTRED * self.gap(&trial)).sqrt();
            let mut centred = true;
            self.each(|range| {
                centred &= Scaling::of(&trial.x[range.clone()], &trial.y[range]).least() >= least;
            });
            if centred {
                return Some((way, trial));
            }
            way *= 0.8;
        }
        None
    }

    fn each_scaled(
        &self,
        scalings: &[Scaling],
        mut act: impl FnMut(&Scaling, std::ops::Range<usize>),
    ) {
        let mut scaling = scalings.iter();
        self.each(|range| {
            scaling
                .next()
                .into_iter()
                .for_each(|s| act(s, range.clone()))
        });
    }

    /// The step with V dx + V⁻¹ dy = `target`, P dx + Aᵀdτ − dy = −dual and A dx = −miss.
    fn direction(
        &self,
        scalings: &[Scaling],
        (dual, miss): (&[f64], &[f64]),
        target: &[f64],
    ) -> Option<Iterate> {
        let (n, k) = (dual.len(), miss.len());
        let m = n + k;
        let mut matrix = self.saddle();
        let mut right = vec![0.0; m];
        self.each_scaled(scalings, |scaling, range| {
            scaling.add_square(&mut matrix, m, range.start);
            scaling.apply(&target[range.clone()], &mut right[range]);
        });
        let drawn = right[..n].to_vec();
        right.iter_mut().zip(dual).for_each(|(r, d)| *r -= d);
        right[n..].iter_mut().zip(miss).for_each(|(r, d)| *r = -d);
        // To unit diagonal: the scalings of cones differ by many powers of ten.
        let mut units: Vec<f64> = (0..n).map(|i| matrix[i * m + i].sqrt()).collect();
        for row in 0..k {
            let parts = (0..n).map(|i| matrix[(n + row) * m + i] / units[i]);
            units.push(parts.map(|x| x * x).sum::<f64>().sqrt());
        }
        for (i, row) in matrix.chunks_mut(m).enumerate() {
            let scale = row.iter_mut().zip(&units);
            scale.for_each(|(x, unit)| *x /= unit * units[i]);
        }
        right
            .iter_mut()
            .zip(&units)
            .for_each(|(r, unit)| *r /= unit);
        if !solve_in_place(&mut matrix, &mut right) {
            return None;
        }
        right
            .iter_mut()
            .zip(&units)
            .for_each(|(r, unit)| *r /= unit);
        if right.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let tau = right.split_off(n);
        let mut y = drawn;
        self.each_scaled(scalings, |scaling, range| {
            scaling.subtract_square(&right[range.clone()], &mut y[range]);
        });
        Some(Iterate { x: right, y, tau })
    }

    /// [P Aᵀ; A 0].
    fn saddle(&self) -> Vec<f64> {
        let (n, k) = (self.linear.len(), self.right.len());
        let m = n + k;
        let mut matrix = vec![0.0; m * m];
        for i in 0..n {
            matrix[i * m..i * m + n].copy_from_slice(&self.matrix[i * n..(i + 1) * n]);
            for row in 0..k {
                matrix[i * m + n + row] = self.rows[row * n + i];
                matrix[(n + row) * m + i] = self.rows[row * n + i];
            }
        }
        matrix
    }

    /// Largest part of a step that stays in the cones.
    fn reach(&self, at: &Iterate, step: &Iterate) -> f64 {
        let mut reach = f64::INFINITY;
        self.each(|range| {
            for (x, d) in [(&at.x, &step.x), (&at.y, &step.y)] {
                let way = lorentz::to_boundary(&x[range.clone()], &d[range.clone()]);
                reach = reach.min(way);
            }
        });
        reach
    }

    /// Newton's step for the natural map x − Proj_K(x − y(x, τ)) and the equations; false where there is none.
    fn newton_step(&self, at: &mut Iterate) -> bool {
        let (n, k) = (at.x.len(), at.tau.len());
        let m = n + k;
        let slope = self.slope(&at.x, &at.tau);
        let point: Vec<f64> = at.x.iter().zip(&slope).map(|(x, s)| x - s).collect();
        let mut image = point.clone();
        self.each(|range| lorentz::project(&mut image[range]));
        // I − D (I − P) and D Aᵀ, D the slope of the projection.
        let saddle = self.saddle();
        let mut matrix = saddle.clone();
        self.each(|range| {
            let slope = lorentz::projection_slope(&point[range.clone()]);
            for (i, row) in range.clone().zip(slope.chunks(range.len())) {
                for j in 0..m {
                    let parts = row.iter().zip(range.clone());
                    let pulled: f64 = parts.map(|(d, l)| d * saddle[l * m + j]).sum();
                    let kept = if range.contains(&j) {
                        row[j - range.start]
                    } else {
                        0.0
                    };
                    matrix[i * m + j] = pulled - kept + f64::from(i == j);
                }
            }
        });
        let mut right: Vec<f64> = image.iter().zip(&at.x).map(|(p, x)| p - x).collect();
        right.extend(self.miss(&at.x).iter().map(|d| -d));
        let step = super::rank_revealing::solve_any_rank(&matrix, &right, 1e-13).point;
        if step.iter().any(|x| !x.is_finite()) {
            return false;
        }
        at.x.iter_mut().zip(&step).for_each(|(x, d)| *x += d);
        at.tau.iter_mut().zip(&step[n..]).for_each(|(t, d)| *t += d);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest point of a round cone with a given axis: on the disc of that radius, or inside it.
    #[test]
    fn a_round_cone_cut_across_is_a_disc() {
        let identity = |n: usize| (0..n * n).map(|e| f64::from(e % (n + 1) == 0)).collect();
        for (point, radius, exact) in [
            ([3.0, 4.0], 2.0, [1.2, 1.6]),
            ([0.3, -0.4], 2.0, [0.3, -0.4]),
            ([0.0, -7.0], 1e-6, [0.0, -1e-6]),
        ] {
            // The equation is given twice.
            let rows = [1.0, 0.0, 0.0, 2.0, 0.0, 0.0];
            let linear = vec![5.0, -point[0], -point[1]];
            let program = ConeProgram::new(
                identity(3),
                linear,
                (&rows, &[radius, 2.0 * radius]),
                vec![3],
            );
            let found = program.solve();
            assert!(found.defect < 1e-13, "{found:?}");
            assert!((found.x[0] - radius).abs() < 1e-13);
            for (x, exact) in found.x[1..].iter().zip(exact) {
                assert!((x - exact).abs() < 1e-12, "{found:?}");
            }
        }
    }

    /// Nearly opposite half-lines: a predictor with its corrector went round in four points here, 2 % off.
    #[test]
    fn half_lines_in_a_wedge_do_not_lead_in_circles() {
        let p = [
            [
                1.0,
                -0.05682199,
                -0.02997572,
                -0.42258628,
                0.50197448,
                0.23169704,
            ],
            [
                -0.05682199,
                1.0,
                0.80364203,
                0.28962397,
                -0.17056350,
                -0.20494117,
            ],
            [
                -0.02997572,
                0.80364203,
                1.0,
                0.37979700,
                -0.19364430,
                0.17821510,
            ],
            [
                -0.42258628,
                0.28962397,
                0.37979700,
                1.0,
                -0.71879629,
                -0.19286799,
            ],
            [
                0.50197448,
                -0.17056350,
                -0.19364430,
                -0.71879629,
                1.0,
                0.68372679,
            ],
            [
                0.23169704,
                -0.20494117,
                0.17821510,
                -0.19286799,
                0.68372679,
                1.0,
            ],
        ];
        let c = vec![
            -0.30903906,
            0.13408537,
            0.31244831,
            -0.03980221,
            -0.06659060,
            0.13841296,
        ];
        let rows = [
            0.44599977,
            0.86537487,
            0.74588276,
            0.06736300,
            0.08920393,
            -0.02713938,
            0.07172036,
            0.04100897,
            0.31596513,
            0.33435032,
            0.37601553,
            0.81926410,
        ];
        let right = [0.00847255, 0.00565615];
        let program = ConeProgram::new(p.concat(), c.clone(), (&rows, &right), vec![1; 6]);
        let found = program.solve();
        assert!(found.steps < 40, "{found:?}");
        // The conditions, one by one.
        for i in 0..6 {
            let pulled: f64 = (0..2).map(|k| found.multipliers[k] * rows[6 * k + i]).sum();
            let slope = dot(&p[i], &found.x) + c[i] + pulled;
            assert!(
                found.x[i] >= 0.0 && slope > -1e-12,
                "{i}: {} {slope}",
                found.x[i]
            );
            assert!(
                (found.x[i] * slope).abs() < 1e-12,
                "{i}: {} {slope}",
                found.x[i]
            );
        }
        for k in 0..2 {
            assert!((dot(&rows[6 * k..6 * k + 6], &found.x) - right[k]).abs() < 1e-12);
        }
    }
}
