//! The direction in which slip in several tangents begins.
//!
//! Slip that begins from rest goes along the acceleration it has itself: `a_T(d) = α d` with `|d| = 1` and `α ≥ 0`. At the edge of
//! the cone `α` vanishes, and `d ← a_T/|a_T|` runs away from the solution; Newton's method on `a_T − (d·a_T) d` does not know `α`. While
//! the speed is still next to nothing the direction keeps to this balance: what differs from it dies out at the rate `μ λ_N W/|u|`, which no
//! explicit integration follows.

use crate::algebra::dot;

use super::accelerations::Accelerations;
use super::full_pivoting::solve_full_pivoting;
use super::modes::{Friction, Mode};

/// A misfit of the directions below this part of the accelerations is none.
const SETTLED: f64 = 1e-11;
/// Slip that begins may brake by this part of the accelerations: rounding at the edge of the cone.
const FORWARD: f64 = 1e-9;
/// Turn of a direction for differences of order two.
const TURN: f64 = 1e-4;

impl Accelerations {
    /// Solves with the directions in which slip begins, sought from several starts. False if there are none.
    pub(super) fn settle_directions(&mut self, modes: &mut [Mode]) -> bool {
        self.solve(modes);
        let begins = beginning(modes);
        if begins.is_empty() {
            return true;
        }
        for start in [Self::aim_along_force, Self::aim_along_acceleration] {
            if start(self, &begins, modes)
                && self.balance(&begins, modes)
                && self.goes_forward(&begins, modes)
            {
                return true;
            }
        }
        self.relax(&begins, modes)
            && self.balance(&begins, modes)
            && self.goes_forward(&begins, modes)
    }

    /// Solves with the directions of slip that has begun, near those of its modes, which stay as they are. False if they are lost.
    pub(super) fn follow_directions(&mut self, modes: &[Mode]) -> bool {
        let begins = beginning(modes);
        if begins.is_empty() {
            self.solve(modes);
            return true;
        }
        let mut near = modes.to_vec();
        self.solve(&near);
        self.balance(&begins, &mut near)
    }

    /// Starts against the friction that would hold the contacts: exact at the edge of the cone.
    fn aim_along_force(&mut self, begins: &[(usize, usize)], modes: &mut [Mode]) -> bool {
        let mut held = modes.to_vec();
        for &(s, g) in begins {
            held[s].friction[g] = Friction::Stick;
        }
        self.solve(&held);
        let found = begins.iter().all(|&(s, g)| {
            let force = self.group_reaction(s, &self.groups[s][g]);
            let against: Vec<f64> = force.iter().map(|f| -f).collect();
            point(&mut modes[s].friction[g], &against)
        });
        self.solve(modes);
        found
    }

    /// Starts along the accelerations without this friction.
    fn aim_along_acceleration(&mut self, begins: &[(usize, usize)], modes: &mut [Mode]) -> bool {
        for &(s, g) in begins {
            modes[s].friction[g] = Friction::Begin(vec![0.0; self.groups[s][g].size]);
        }
        self.solve(modes);
        let found = begins.iter().all(|&(s, g)| {
            let along = self.group_acceleration(s, g);
            point(&mut modes[s].friction[g], &along)
        });
        self.solve(modes);
        found
    }

    /// Turns the directions towards their accelerations, as a slow slip does itself, in strides that shrink where the misfit grows.
    fn relax(&mut self, begins: &[(usize, usize)], modes: &mut [Mode]) -> bool {
        if !self.aim_along_acceleration(begins, modes) {
            return false;
        }
        let (mut stride, mut misfit) = (0.5, f64::INFINITY);
        for _ in 0..200 {
            let off = self.imbalance(begins, modes);
            let size = largest(&off);
            if size > misfit {
                stride *= 0.5;
            }
            misfit = size;
            self.turn(begins, modes, &off, stride);
        }
        true
    }

    /// Newton's method on the part of the accelerations across the directions.
    fn balance(&mut self, begins: &[(usize, usize)], modes: &mut [Mode]) -> bool {
        let mut off = self.imbalance(begins, modes);
        let mut misfit = largest(&off);
        for _ in 0..40 {
            if !(misfit > 1e-15) {
                break;
            }
            let mut jacobian = self.turning(begins, modes);
            let mut right: Vec<f64> = off.iter().map(|x| -x).collect();
            let (step, _) = solve_full_pivoting(&mut jacobian, &mut right, None);
            let before: Vec<Mode> = modes.to_vec();
            let mut stride = 1.0 / largest(&step).max(1.0);
            let mut better = false;
            for _ in 0..12 {
                self.turn(begins, modes, &step, stride);
                let next = self.imbalance(begins, modes);
                if largest(&next) < misfit {
                    (off, misfit, better) = (next.clone(), largest(&next), true);
                    break;
                }
                modes.clone_from_slice(&before);
                stride *= 0.5;
            }
            if !better {
                self.solve(modes);
                break;
            }
        }
        misfit <= SETTLED
    }

    /// Moves every direction by a part of `step` and solves.
    fn turn(&mut self, begins: &[(usize, usize)], modes: &mut [Mode], step: &[f64], stride: f64) {
        let mut parts = step.iter();
        for &(s, g) in begins {
            let moved: Vec<f64> = direction(&modes[s].friction[g])
                .iter()
                .zip(&mut parts)
                .map(|(d, x)| d + stride * x)
                .collect();
            point(&mut modes[s].friction[g], &moved);
        }
        self.solve(modes);
    }

    /// Derivatives of the imbalance with respect to the directions, row-major.
    fn turning(&mut self, begins: &[(usize, usize)], modes: &mut [Mode]) -> Vec<f64> {
        let m: usize = begins.iter().map(|&(s, g)| self.groups[s][g].size).sum();
        let mut jacobian = vec![0.0; m * m];
        let mut column = 0;
        for &(s, g) in begins {
            for k in 0..self.groups[s][g].size {
                let given = modes[s].friction[g].clone();
                for sign in [1.0, -1.0] {
                    if let Friction::Begin(direction) = &mut modes[s].friction[g] {
                        direction[k] += sign * TURN;
                    }
                    self.solve(modes);
                    let off = self.imbalance(begins, modes);
                    for (row, x) in off.iter().enumerate() {
                        jacobian[row * m + column] += sign * x / (2.0 * TURN);
                    }
                    modes[s].friction[g] = given.clone();
                }
                column += 1;
            }
        }
        jacobian
    }

    /// The part of the accelerations solved last across the directions, in parts of the scale, and along them how far they are from length one.
    fn imbalance(&self, begins: &[(usize, usize)], modes: &[Mode]) -> Vec<f64> {
        let scale = self.scale();
        let mut off = Vec::new();
        for &(s, g) in begins {
            let given = direction(&modes[s].friction[g]);
            let length = dot(given, given).sqrt();
            let acceleration = self.group_acceleration(s, g);
            let along = dot(&acceleration, given) / length;
            off.extend(acceleration.iter().zip(given).map(|(a, d)| {
                let unit = d / length;
                (a - along * unit) / scale + unit * (length - 1.0)
            }));
        }
        off
    }

    /// Whether no slip that begins is braked by its own friction.
    fn goes_forward(&self, begins: &[(usize, usize)], modes: &[Mode]) -> bool {
        let least = -FORWARD * self.scale();
        begins.iter().all(|&(s, g)| {
            dot(
                &self.group_acceleration(s, g),
                direction(&modes[s].friction[g]),
            ) >= least
        })
    }

    fn group_acceleration(&self, s: usize, g: usize) -> Vec<f64> {
        let group = self.groups[s][g];
        (group.start..group.start + group.size)
            .map(|i| self.row_acceleration(s, i))
            .collect()
    }
}

/// Groups of closed contacts whose slip begins.
fn beginning(modes: &[Mode]) -> Vec<(usize, usize)> {
    let closed = modes.iter().enumerate().filter(|(_, mode)| mode.closed);
    closed
        .flat_map(|(s, mode)| {
            let begins = |f: &Friction| matches!(f, Friction::Begin(_));
            let groups = (0..mode.friction.len()).filter(move |&g| begins(&mode.friction[g]));
            groups.map(move |g| (s, g))
        })
        .collect()
}

fn direction(friction: &Friction) -> &[f64] {
    match friction {
        Friction::Begin(direction) | Friction::Slip(direction) => direction,
        Friction::Stick => &[],
    }
}

/// Lets slip begin along a vector; false if it is zero.
fn point(friction: &mut Friction, along: &[f64]) -> bool {
    let length = dot(along, along).sqrt();
    if !(length > 0.0) {
        return false;
    }
    *friction = Friction::Begin(along.iter().map(|x| x / length).collect());
    true
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| {
        if x.is_nan() {
            f64::INFINITY
        } else {
            m.max(x.abs())
        }
    })
}
