//! Coulomb's law for one contact with rolling and drilling friction.
//!
//! # What it computes
//!
//! p with p_n > 0, u_n = 0 and −u_k ∈ N_{p_n D_k}(p_k) for every factor D_k, a disc or a symmetric interval of radius μ_k, u = W p + q:
//! the zero of
//!
//! ```text
//! F_n = u_n,      F_k = p_k − P(p_k − u_k; μ_k p_n),
//! ```
//!
//! P(y; R) the projection on the ball of radius R, with every block of p and u scaled to a unit block of W.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; semismooth Newton, [QiSun1993], with the derivative of P in y and in R.
//!
//! # Guarantees
//!
//! Only a point at which F of every block is rounding of the terms of that block is returned; the scalar equation of [`super::solve_coulomb`] serves where there is none.
//!
//! # Behaviour to know
//!
//! Starts at the guess, so that a contact in a sweep takes one to three steps. Where W couples normal and tangents strongly and the law has several
//! solutions, the one near the guess is found.
//!
//! # Cost
//!
//! A system of at most six equations per step, on the stack.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::OneContact;
use crate::laws::FrictionSection;

/// Most rows: normal, two tangents, two of rolling, one of drilling.
const ROWS: usize = 6;
/// Steps at most.
const STEPS: usize = 12;
/// |F| of a block over the size of its terms that is rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A factor: its rows and its radius per unit of normal impulse, scaled.
#[derive(Clone, Copy, Default)]
struct Ball {
    start: usize,
    size: usize,
    radius: f64,
}

/// The contact in scaled rows.
struct Scaled {
    rows: usize,
    w: [[f64; ROWS]; ROWS],
    q: [f64; ROWS],
    scale: [f64; ROWS],
    balls: [Ball; ROWS],
    factors: usize,
}

/// F at a point.
struct Map {
    f: [f64; ROWS],
    length: f64,
    /// u = W z + q.
    u: [f64; ROWS],
    /// Whether F of every block is rounding of its own terms.
    is_rounding: bool,
}

/// Improves the guess in `p`; false, and `p` as it was, where the section is no product of balls or no point was found.
pub(super) fn solve(contact: &OneContact, p: &mut [f64]) -> bool {
    let Some(scaled) = Scaled::new(contact) else {
        return false;
    };
    let mut z = [0.0; ROWS];
    if p[0] > 0.0 && p.iter().all(|p| p.is_finite()) {
        for (z, (p, c)) in z.iter_mut().zip(p.iter().zip(&scaled.scale)) {
            *z = p / c;
        }
    } else {
        z[0] = -scaled.q[0];
    }
    if !scaled.newton(&mut z) {
        return false;
    }
    for (p, (z, c)) in p.iter_mut().zip(z.iter().zip(&scaled.scale)) {
        *p = z * c;
    }
    true
}

impl Scaled {
    fn new(contact: &OneContact) -> Option<Self> {
        let FrictionSection::Product { factors, scale } = contact.section else {
            return None;
        };
        let rows = contact.rows();
        if rows > ROWS || !(contact.w[0] > 0.0) {
            return None;
        }
        let mut out = Self {
            rows,
            w: [[0.0; ROWS]; ROWS],
            q: [0.0; ROWS],
            scale: [1.0; ROWS],
            balls: [Ball::default(); ROWS],
            factors: factors.len(),
        };
        out.scale[0] = 1.0 / contact.w[0].sqrt();
        let mut start = 1;
        for (ball, factor) in out.balls.iter_mut().zip(factors.iter()) {
            let (size, radius) = match factor {
                FrictionSection::Disc { mu, dimension } => (*dimension, *mu),
                FrictionSection::Interval { lower, upper } if *lower == -*upper => (1, *upper),
                _ => return None,
            };
            let diagonal = (start..start + size).map(|i| contact.w[i * rows + i]);
            let largest = diagonal.fold(0.0, f64::max);
            if !(largest > 0.0 && radius.is_finite()) {
                return None;
            }
            let unit = 1.0 / largest.sqrt();
            out.scale[start..start + size].fill(unit);
            *ball = Ball {
                start,
                size,
                radius: scale * radius * out.scale[0] / unit,
            };
            start += size;
        }
        if start != rows {
            return None;
        }
        for i in 0..rows {
            out.q[i] = out.scale[i] * contact.q[i];
            for j in 0..rows {
                out.w[i][j] = out.scale[i] * contact.w[i * rows + j] * out.scale[j];
            }
        }
        Some(out)
    }

    /// Newton's method from z; true where F is rounding.
    fn newton(&self, z: &mut [f64; ROWS]) -> bool {
        let mut map = self.map(z);
        for _ in 0..STEPS {
            if map.is_rounding {
                return true;
            }
            let Some(step) = self.step(z, &map) else {
                return false;
            };
            let trials = [1.0, 0.5, 0.25, 0.125].map(|fraction| {
                let mut trial = *z;
                trial
                    .iter_mut()
                    .zip(&step)
                    .for_each(|(z, d)| *z += fraction * d);
                trial
            });
            let next = trials
                .iter()
                .filter(|trial| trial[0] > 0.0)
                .find_map(|trial| {
                    let next = self.map(trial);
                    (next.is_rounding || next.length < map.length).then_some((*trial, next))
                });
            let Some(next) = next else {
                return false;
            };
            (*z, map) = next;
        }
        map.is_rounding
    }

    fn map(&self, z: &[f64; ROWS]) -> Map {
        let (mut u, mut terms) = (self.q, [0.0; ROWS]);
        for i in 0..self.rows {
            terms[i] = self.q[i].abs() + z[i].abs();
            for j in 0..self.rows {
                let term = self.w[i][j] * z[j];
                u[i] += term;
                terms[i] += term.abs();
            }
        }
        let mut f = [0.0; ROWS];
        f[0] = u[0];
        let mut is_rounding = f[0].abs() <= ROUNDING * terms[0];
        for ball in &self.balls[..self.factors] {
            let (y, length) = self.point(ball, z, &u);
            let radius = ball.radius * z[0];
            let (mut own, mut size) = (0.0, 0.0);
            for k in 0..ball.size {
                let i = ball.start + k;
                f[i] = if length > radius {
                    z[i] - radius / length * y[k]
                } else {
                    u[i]
                };
                own += f[i] * f[i];
                size += terms[i] * terms[i];
            }
            is_rounding &= own.sqrt() <= ROUNDING * size.sqrt();
        }
        Map {
            length: f.iter().map(|f| f * f).sum::<f64>().sqrt(),
            f,
            u,
            is_rounding,
        }
    }

    /// z_k − u_k and its length.
    fn point(&self, ball: &Ball, z: &[f64; ROWS], u: &[f64; ROWS]) -> ([f64; 2], f64) {
        let mut y = [0.0; 2];
        for (k, y) in y.iter_mut().enumerate().take(ball.size) {
            *y = z[ball.start + k] - u[ball.start + k];
        }
        (y, (y[0] * y[0] + y[1] * y[1]).sqrt())
    }

    /// The solution of F'(z) d = −F.
    fn step(&self, z: &[f64; ROWS], map: &Map) -> Option<[f64; ROWS]> {
        let mut matrix = self.w;
        for ball in &self.balls[..self.factors] {
            let (y, length) = self.point(ball, z, &map.u);
            let radius = ball.radius * z[0];
            if !(length > radius) {
                continue;
            }
            // P = R e, e = y/|y|: dP = (R/|y|)(I − e eᵀ) dy + e dR, dy = dz_k − W_k dz, dR = μ dz_n.
            let (factor, e) = (radius / length, y.map(|y| y / length));
            for k in 0..ball.size {
                let mut row = [0.0; ROWS];
                row[ball.start + k] = 1.0;
                row[0] -= e[k] * ball.radius;
                for l in 0..ball.size {
                    let slope = factor * (f64::from(u8::from(k == l)) - e[k] * e[l]);
                    row[ball.start + l] -= slope;
                    for (r, w) in row.iter_mut().zip(&self.w[ball.start + l]) {
                        *r += slope * w;
                    }
                }
                matrix[ball.start + k] = row;
            }
        }
        eliminate(matrix, map.f.map(|f| -f), self.rows)
    }
}

/// Solves a small system by elimination with partial pivoting.
fn eliminate(
    mut matrix: [[f64; ROWS]; ROWS],
    mut right: [f64; ROWS],
    rows: usize,
) -> Option<[f64; ROWS]> {
    for i in 0..rows {
        let pivot = (i..rows).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs()))?;
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        let head = matrix[i];
        if !(head[i].abs() > 1e-14) {
            return None;
        }
        for j in i + 1..rows {
            let factor = matrix[j][i] / head[i];
            if factor != 0.0 {
                for (a, b) in matrix[j][i..rows].iter_mut().zip(&head[i..rows]) {
                    *a -= factor * b;
                }
                right[j] -= factor * right[i];
            }
        }
    }
    for i in (0..rows).rev() {
        let rest: f64 = (i + 1..rows).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - rest) / matrix[i][i];
    }
    right.iter().all(|x| x.is_finite()).then_some(right)
}
