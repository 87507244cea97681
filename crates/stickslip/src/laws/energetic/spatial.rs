//! The frozen layer of one contact with any number of tangential directions.

mod slip_speed;

use super::energetic_impact;
use super::polygon::{corners, polygon_impact};
use crate::algebra::root::bracketed_root;
use crate::algebra::small_dense::dot;
use crate::laws::FrictionSection;
use crate::laws::section_quadratic::minimize_in_section;

/// Error of one step of the integration, relative to the normal work of the impact and to its velocity.
const TOLERANCE: f64 = 1e-12;
/// Steps after which an impact counts as endless.
const STEPS_MAX: usize = 100_000;
/// Rows of the extrapolation table: 1, 2, 3 and 4 implicit Euler steps.
const ROWS: usize = 4;
/// Longest step, in normal impulses so far or that stop the approach: friction that changes and changes back hides in no step.
const LONGEST: f64 = 0.05;
/// A row of the slip below this part of the terms that cancel in it has stopped.
const STOPPED: f64 = 2e-14;

/// An impact of one contact: impulse and velocity after it, normal component first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpatialImpact {
    /// Impulse.
    pub impulse: Vec<f64>,
    /// Velocity after.
    pub velocity: Vec<f64>,
    /// Normal work taken up in compression, positive.
    pub compression: f64,
    /// Whether the impact ended; false where the contact would feed on itself for ever.
    pub finished: bool,
    /// Impulses so far at the ends of the pieces of the layer: what other contacts feel meanwhile.
    pub path: Vec<Vec<f64>>,
}

impl SpatialImpact {
    /// Work of the normal impulse along an impact that ended: restitution gives back its part of what compression took.
    pub fn normal_work(&self, restitution: f64) -> f64 {
        -(1.0 - restitution * restitution) * self.compression
    }

    /// By how much that exceeds the normal impulse on the mean of the normal velocities before, `approach`, and after it.
    pub fn excess(&self, approach: f64, restitution: f64) -> f64 {
        let mean = 0.5 * (approach + self.velocity[0]);
        self.normal_work(restitution) - self.impulse[0] * mean
    }
}

/// Impact of one contact with the energetic coefficient `restitution`, in the plane or in space.
///
/// # What it computes
/// With the accumulated normal impulse p as variable and W the Delassus matrix of the contact (row-major,
/// normal first): `du/dp = W (1, s)`, `s ∈ D`, `−u_t ∈ N_D(s)`: friction opposes the slip at every instant
/// of the impact (the support point of the section against it), in stick `s` is the force that holds the
/// point, and where slip begins again it is the point of D for which slip and friction agree. The compression
/// takes up `∫ u_n⁻ dp`, the impact ends when `∫ u_n⁺ dp` is `e²` times that, summed over all
/// compressions if there are several. Where friction depends on the slip speed, D is `factor(|u_t|)` times the section at every instant.
///
/// # Source
/// [Schatzman] for e = 1 in the plane (limit of the penalty method); Darboux and Keller's equations and
/// the energetic coefficient ([Stronge1990]) for any section and below 1 are ours to combine. The inclusion is
/// monotone in the metric W_tt⁻¹, so it has one solution; it is integrated by implicit Euler steps, each an
/// exact convex program (`laws::section_quadratic`; on the slip speed at its end by iteration), extrapolated to order four with step
/// control. Where slip stops, reverses or changes from one edge to another, friction jumps: steps end there. One tangent is computed exactly by [`energetic_impact`], a polygon from event to event, no friction in closed form.
///
/// # Guarantees
/// `p_n ≥ 0`; friction inside its section and no gain of energy for e in [0, 1], both to 1e-11 of the impact.
///
/// # Behaviour to know
/// The direction of slip turns during the impact wherever W couples the tangents: a disc does not leave
/// along its approach. From u_n = 0 nothing happens but where friction drives the contact into the obstacle: then slip compresses it, until it stops, and
/// there is a rebound. Friction that falls with the slip speed has one layer, however steeply it falls. Corners of a polygon hold the slip on the ray of an edge. Several contacts that close
/// together and act on each other are not covered, with friction or without: their impact depends on the ratios of their stiffnesses.
///
/// # Cost
/// 11 convex programs per step of the integration, some hundred steps: about a millisecond per impact, up to a tenth of a second where
/// several sections act at once.
///
/// # Tested by
/// `laws/energetic/spatial/tests.rs`, `laws/energetic/spatial/tests/reversals.rs`, `laws/energetic/spatial/slip_speed.rs`, `tests/truth_energetic_impact.rs`, `tests/truth_energetic_jam.rs`.
pub fn energetic_impact_in_space(
    w: &[f64],
    velocity: &[f64],
    section: &FrictionSection,
    restitution: f64,
) -> SpatialImpact {
    let m = velocity.len();
    assert_eq!(w.len(), m * m, "W is a square matrix of the contact's rows");
    if m == 1 || section.is_frictionless() {
        return frictionless(w, velocity, restitution);
    }
    if let (2, Some(ends)) = (m, section.ends()) {
        let u = [velocity[0], velocity[1]];
        let impact = energetic_impact([w[0], w[1], w[3]], u, ends, restitution);
        return SpatialImpact {
            impulse: impact.impulse.to_vec(),
            velocity: impact.velocity.to_vec(),
            compression: impact.compression,
            finished: impact.finished,
            path: impact.path(),
        };
    }
    if let Some(corners) = corners(section).filter(|_| m == 3) {
        return polygon_impact(w, velocity, section, corners, restitution);
    }
    Layer::new(w, velocity, section).run(restitution)
}

/// The same where friction is that of the `section` times the `factor` of the slip speed.
pub(crate) fn energetic_impact_at_slip(
    w: &[f64],
    velocity: &[f64],
    section: &FrictionSection,
    factor: &dyn Fn(f64) -> f64,
    restitution: f64,
) -> SpatialImpact {
    if velocity.len() == 1 || section.is_frictionless() {
        return frictionless(w, velocity, restitution);
    }
    let mut layer = Layer::new(w, velocity, section);
    layer.factor = Some(factor);
    layer.run(restitution)
}

/// Without friction the velocities are linear in p.
fn frictionless(w: &[f64], u: &[f64], restitution: f64) -> SpatialImpact {
    let m = u.len();
    let p = (-(1.0 + restitution) * u[0] / w[0]).max(0.0);
    let mut impulse = vec![0.0; m];
    impulse[0] = p;
    SpatialImpact {
        path: vec![impulse.clone()],
        impulse,
        velocity: (0..m).map(|i| u[i] + w[i * m] * p).collect(),
        compression: 0.5 * u[0].min(0.0).powi(2) / w[0],
        finished: true,
    }
}

/// The state of an impact and the buffers of its steps.
struct Layer<'a> {
    w: &'a [f64],
    section: &'a FrictionSection,
    /// Factor of the section at a slip speed, where it depends on it.
    factor: Option<&'a dyn Fn(f64) -> f64>,
    /// W_tt and W_tn.
    tangential: Vec<f64>,
    coupling: Vec<f64>,
    u: Vec<f64>,
    impulse: Vec<f64>,
    scaled: Vec<f64>,
    right: Vec<f64>,
    friction: Vec<f64>,
    /// Friction at the end of the last step, once there was one.
    reached: Option<Vec<f64>>,
    scratch: Vec<f64>,
}

/// What one step adds: the tangential impulse, then the normal work, in one list; its error estimate; and the
/// friction at its start and at its end, extrapolated from inside.
struct Gain {
    values: Vec<f64>,
    errors: Vec<f64>,
    first: Vec<f64>,
    last: Vec<f64>,
}

impl<'a> Layer<'a> {
    fn new(w: &'a [f64], u: &[f64], section: &'a FrictionSection) -> Self {
        let m = u.len();
        let d = m - 1;
        let mut tangential = vec![0.0; d * d];
        for i in 0..d {
            let row = &w[(i + 1) * m..(i + 2) * m];
            tangential[i * d..(i + 1) * d].copy_from_slice(&row[1..]);
        }
        Self {
            w,
            section,
            factor: None,
            coupling: (1..m).map(|i| w[i * m]).collect(),
            u: u.to_vec(),
            impulse: vec![0.0; m],
            scaled: vec![0.0; d * d],
            right: vec![0.0; d],
            friction: vec![0.0; d],
            reached: None,
            scratch: vec![0.0; 2 * (d * d + d)],
            tangential,
        }
    }

    fn run(mut self, restitution: f64) -> SpatialImpact {
        let m = self.u.len();
        // Sizes of the impact: kinetic energy of all rows, and of the approach.
        let energy: f64 = (0..m)
            .filter(|&i| self.w[i * m + i] > 0.0)
            .map(|i| 0.5 * self.u[i] * self.u[i] / self.w[i * m + i])
            .sum();
        let approach = 0.5 * self.u[0].min(0.0).powi(2) / self.w[0];
        let floor = 1e-24 * energy;
        let reach = (2.0 * energy / self.w[0]).sqrt();
        let mut result = SpatialImpact {
            impulse: self.impulse.clone(),
            velocity: self.u.clone(),
            compression: 0.0,
            finished: true,
            path: Vec::new(),
        };
        // Without approach nothing happens unless friction itself presses the point in.
        if self.u[0] > 0.0 || energy == 0.0 {
            return result;
        }
        if self.u[0] == 0.0 {
            let trial = 1e-12 * reach;
            let gain = self.gain(trial);
            if self.after(trial, &gain)[0] >= -1e-12 * self.w[0] * trial {
                return result;
            }
        }
        let (mut taken, mut given) = (0.0f64, 0.0f64);
        let mut dp = 0.01 * (2.0 * approach.max(floor) / self.w[0]).sqrt();
        result.finished = false;
        for _ in 0..STEPS_MAX {
            let size = approach.max(taken).max(floor);
            let (length, mut gain, next) = self.controlled(dp, size);
            dp = next;
            let mut length = length;
            let mut end = self.after(length, &gain)[0];
            let start = self.u[0];
            // A change of sign of the normal velocity ends the step.
            let turns = start * end < 0.0 || (start != 0.0 && end == 0.0);
            if turns && end != 0.0 {
                length = bracketed_root(0.0, start, length, end, |dp| {
                    let gain = self.gain(dp);
                    self.after(dp, &gain)[0]
                });
                gain = self.gain(length);
                end = 0.0;
            }
            let expands = start > 0.0 || (start == 0.0 && end > 0.0);
            let owed = restitution * restitution * taken - given;
            if expands && self.work(&gain) >= owed {
                // The work of restitution is complete inside this step.
                length = bracketed_root(0.0, -owed, length, self.work(&gain) - owed, |dp| {
                    let gain = self.gain(dp);
                    self.work(&gain) - owed
                });
                gain = self.gain(length);
                self.apply(length, &gain);
                result.path.push(self.impulse.clone());
                result.finished = true;
                break;
            }
            let work = self.work(&gain);
            self.apply(length, &gain);
            result.path.push(self.impulse.clone());
            if expands {
                given += work;
            } else {
                taken -= work;
            }
            if turns {
                self.u[0] = 0.0;
                if restitution == 0.0 && !expands {
                    result.finished = true;
                    break;
                }
            }
        }
        result.impulse = self.impulse;
        result.velocity = self.u;
        result.compression = taken;
        result
    }

    fn work(&self, gain: &Gain) -> f64 {
        gain.values[self.u.len() - 1]
    }

    /// A step whose error is within the tolerance: its length, what it adds, and the length to try next.
    fn controlled(&mut self, dp: f64, size: f64) -> (f64, Gain, f64) {
        let scale = (2.0 * size / self.w[0]).sqrt();
        let shortest = TOLERANCE * scale;
        let mut dp = dp.min(LONGEST * scale.max(self.impulse[0]));
        loop {
            // A jump of the friction is passed by a step too short to matter, which ends on the edge or at the stop itself.
            if dp <= shortest {
                return (shortest, self.single(shortest), 4.0 * shortest);
            }
            let gain = self.gain(dp);
            let d = self.right.len();
            let spread = self.spread(&gain.errors[..d]);
            let error = (0.5 * spread / size)
                .sqrt()
                .max(gain.errors[d].abs() / size)
                / TOLERANCE;
            let error = error.max(self.kink((dp, scale), &gain, size) / TOLERANCE);
            let factor = (0.9 * error.max(1e-12).powf(-0.2)).clamp(0.1, 4.0);
            if error <= 1.0 {
                return (dp, gain, dp * factor);
            }
            dp *= factor.min(0.8);
        }
    }

    /// How far the friction at the start of a step of length `dp` is from what the step itself leads back to, as an error of its
    /// impulse. A jump of the friction inside a step may leave no other trace: before a quarter of it every substep reads the friction
    /// after the jump, and beyond three quarters their sums still extrapolate to the friction before it.
    fn kink(&mut self, (dp, scale): (f64, f64), gain: &Gain, size: f64) -> f64 {
        self.euler((TOLERANCE * scale).min(0.1 * dp), 1);
        // Where an edge holds the slip, so short a step tells its rounding: then the step before knows the friction.
        let known = [Some(&self.friction), self.reached.as_ref()];
        let known = known.into_iter().flatten();
        known
            .map(|friction| {
                let pairs = friction.iter().zip(&gain.first);
                let difference: Vec<f64> = pairs.map(|(a, b)| dp * (a - b)).collect();
                (0.5 * self.spread(&difference) / size).sqrt()
            })
            .fold(f64::INFINITY, f64::min)
    }

    /// x·W_tt x.
    fn spread(&self, x: &[f64]) -> f64 {
        let d = x.len();
        let row = |i: usize| &self.tangential[i * d..(i + 1) * d];
        let sum: f64 = (0..d).map(|i| x[i] * dot(row(i), x)).sum();
        sum.max(0.0)
    }

    /// Tangential impulse and normal work of a step of length `dp`, extrapolated to order four.
    fn gain(&mut self, dp: f64) -> Gain {
        let count = self.u.len();
        let d = count - 1;
        // Per row of the table: tangential impulse, work, first and last friction.
        let width = count + 2 * d;
        let mut previous: Vec<Vec<f64>> = Vec::new();
        let mut errors = vec![0.0; count];
        for j in 0..ROWS {
            let mut row = vec![self.euler(dp, j + 1)];
            for k in 1..=j {
                let weight = 1.0 / ((j + 1) as f64 / (j + 1 - k) as f64 - 1.0);
                let (finer, coarser) = (&row[k - 1], &previous[k - 1]);
                let next = (0..width).map(|i| finer[i] + weight * (finer[i] - coarser[i]));
                row.push(next.collect());
            }
            if j + 1 == ROWS {
                for (i, error) in errors.iter_mut().enumerate() {
                    *error = row[j][i] - row[j - 1][i];
                }
            }
            previous = row;
        }
        let mut values = previous.swap_remove(ROWS - 1);
        let last = values.split_off(count + d);
        let first = values.split_off(count);
        Gain {
            values,
            errors,
            first,
            last,
        }
    }

    /// The same by one implicit Euler step.
    fn single(&mut self, dp: f64) -> Gain {
        let count = self.u.len();
        let d = count - 1;
        let mut values = self.euler(dp, 1);
        let last = values.split_off(count + d);
        let first = values.split_off(count);
        Gain {
            values,
            errors: vec![0.0; count],
            first,
            last,
        }
    }

    /// The same by `steps` implicit Euler steps, friction opposing the slip at the end of each, followed by the friction of the first
    /// and of the last one.
    fn euler(&mut self, dp: f64, steps: usize) -> Vec<f64> {
        let m = self.u.len();
        let d = m - 1;
        let h = dp / steps as f64;
        let mut u = self.u.clone();
        let mut sums = vec![0.0; m];
        let mut first = Vec::with_capacity(2 * d);
        for (scaled, a) in self.scaled.iter_mut().zip(&self.tangential) {
            *scaled = h * a;
        }
        for _ in 0..steps {
            for i in 0..d {
                self.right[i] = u[i + 1] + h * self.coupling[i];
            }
            match self.factor {
                Some(factor) => self.oppose_at_slip(factor, &u[1..]),
                None => self.oppose(1.0),
            }
            for (i, u) in u.iter_mut().enumerate() {
                let row = &self.w[i * m..(i + 1) * m];
                *u += h * (row[0] + dot(&row[1..], &self.friction));
            }
            for i in 0..d {
                sums[i] += h * self.friction[i];
            }
            sums[d] += h * u[0];
            if first.is_empty() {
                first.extend_from_slice(&self.friction);
            }
        }
        sums.append(&mut first);
        sums.extend_from_slice(&self.friction);
        sums
    }

    /// The friction of `scale` times the section that opposes the slip at the end of the substep at hand.
    fn oppose(&mut self, scale: f64) {
        let (friction, scratch) = (&mut self.friction, &mut self.scratch);
        if scale > 0.0 {
            minimize_in_section(
                self.section,
                &self.scaled,
                &self.right,
                scale,
                friction,
                scratch,
            );
        } else {
            friction.fill(0.0);
        }
    }

    /// Velocity after a step.
    fn after(&self, dp: f64, gain: &Gain) -> Vec<f64> {
        let m = self.u.len();
        (0..m)
            .map(|i| {
                let row = &self.w[i * m..(i + 1) * m];
                self.u[i] + row[0] * dp + dot(&row[1..], &gain.values[..m - 1])
            })
            .collect()
    }

    fn apply(&mut self, dp: f64, gain: &Gain) {
        self.move_by(dp, gain);
        self.reached = Some(gain.last.clone());
        self.impulse[0] += dp;
        for (p, extra) in self.impulse[1..].iter_mut().zip(&gain.values) {
            *p += extra;
        }
    }

    /// Takes over the velocity after a step; a slip within the rounding of the terms that cancel in it has stopped.
    fn move_by(&mut self, dp: f64, gain: &Gain) {
        let m = self.u.len();
        let mut after = self.after(dp, gain);
        for i in 1..m {
            let row = &self.w[i * m..(i + 1) * m];
            let terms = row[1..].iter().zip(&gain.values);
            let size: f64 = self.u[i].abs()
                + (row[0] * dp).abs()
                + terms.map(|(w, p)| (w * p).abs()).sum::<f64>();
            if after[i].abs() <= STOPPED * size {
                after[i] = 0.0;
            }
        }
        self.u = after;
    }
}

#[cfg(test)]
mod tests;
