//! One contact with one tangential direction, in closed form.
//!
//! # What it computes
//!
//! D = [lower, upper], an end may be infinite. Coulomb: every solution of
//! 0 ≤ p_n − p_min ⟂ u_n ≥ 0, p_t ∈ p_n D, −u_t ∈ N_{p_n D}(p_t), by candidates:
//!
//! * take-off: p_n = p_min (p = 0 if p_min = 0), u_n ≥ 0;
//! * stick: u_n = 0, u_t = 0, p_t ∈ p_n D;
//! * slip: u_n = 0, p_t = upper p_n with u_t < 0, or p_t = lower p_n with u_t > 0.
//!
//! Kinetic projection: p_t = clip(−û/Ŵ, lo, hi) on the slice u_n = 0, with Ŵ = W_tt − W_nt²/W_nn,
//! û = q_t − W_nt q_n/W_nn, hi = upper a/(W_nn + upper W_nt), a = −q_n, or +∞ if the denominator is
//! not positive, lo likewise. Known normal: p_t clipped between the two ends.
//!
//! # Source
//!
//! Candidates: the three cases of Coulomb's law, [AcaryCollinsCraft2023]; projection: [Paoli2015], (7).
//!
//! # Guarantees
//!
//! All solutions are found; the rule take-off, then stick, then slip (upper before lower) chooses.
//! For q_n < 0, p_min = 0, bounded D and W positive definite there is at least one.
//!
//! # Behaviour to know
//!
//! Several solutions exist in the Painlevé region W_nn < max(−upper W_nt, −lower W_nt). With a
//! singular W a contact may have none: [`LocalOutcome::NoSolution`], impulse 0. On the border
//! between two candidates the one with the smaller violation is taken.
//!
//! # Cost
//!
//! Some thirty operations, no allocation.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::{LocalOutcome, LocalState};

/// Relative size under which W_tt − W_nt²/W_nn counts as zero.
const DEFICIENT: f64 = 1e-14;
/// Criticality of W_nn + μ W_nt: below this part of W_nn it is zero.
const CRITICAL: f64 = 1e-12;

/// Reduced problem on the slice u_n = 0: (Ŵ, û), with Ŵ = 0 for dependent rows.
fn slice(w: &[f64], q: &[f64]) -> (f64, f64) {
    let schur = w[3] - w[2] / w[0] * w[1];
    let free = q[1] - w[2] / w[0] * q[0];
    (
        if schur <= DEFICIENT * w[3] {
            0.0
        } else {
            schur
        },
        free,
    )
}

/// −free/curvature, kept between two ends; 0 if possible where both vanish.
fn clipped(curvature: f64, free: f64, lo: f64, hi: f64, noise: f64) -> f64 {
    if curvature > 0.0 {
        (-free / curvature).clamp(lo, hi)
    } else if free.abs() <= noise {
        0.0_f64.clamp(lo, hi)
    } else if free > 0.0 {
        lo
    } else {
        hi
    }
}

/// p_t at known normal impulse p_n: the point of p_n D that u_t = (q_t + W_tn p_n) + W_tt p_t opposes.
#[inline]
pub fn tangential_at_known_normal(w: &[f64], q: &[f64], ends: (f64, f64), normal: f64) -> f64 {
    if normal <= 0.0 {
        return 0.0;
    }
    let noise = 4.0 * f64::EPSILON * (q[1].abs() + (w[2] * normal).abs());
    clipped(
        w[3],
        q[1] + w[2] * normal,
        ends.0 * normal,
        ends.1 * normal,
        noise,
    )
}

/// Coulomb's law; writes the chosen solution in p.
pub fn solve_coulomb_planar(
    w: &[f64],
    q: &[f64],
    (lower, upper): (f64, f64),
    normal_impulse_min: f64,
    p: &mut [f64],
) -> LocalOutcome {
    let least = normal_impulse_min;
    let mut solutions = Solutions::default();

    // Take-off, or the prescribed least impulse.
    let (takeoff, velocity) = if least > 0.0 {
        let tangential = tangential_at_known_normal(w, q, (lower, upper), least);
        ([least, tangential], q[0] + w[0] * least + w[1] * tangential)
    } else {
        ([0.0; 2], q[0])
    };
    let state = match () {
        _ if least <= 0.0 => LocalState::Open,
        _ if takeoff[1] > lower * least && takeoff[1] < upper * least => LocalState::Stick,
        _ => LocalState::Slip,
    };
    let velocity_scale = q[0].abs() + q[1].abs() + (w[0] * least).abs() + (w[1] * takeoff[1]).abs();
    solutions.consider(takeoff, state, -velocity, velocity_scale, velocity >= 0.0);

    // Frictionless contact: tangential velocity is free.
    if lower == 0.0 && upper == 0.0 {
        let normal = -q[0] / w[0];
        if normal > least {
            solutions.consider([normal, 0.0], LocalState::Slip, 0.0, 1.0, true);
        }
        return solutions.finish(p);
    }

    // Stick on the slice u_n = 0.
    let (schur, free) = slice(w, q);
    let noise = 16.0 * f64::EPSILON * (q[1].abs() + (w[2] / w[0] * q[0]).abs());
    if schur > 0.0 || free.abs() <= noise {
        let tangential = if schur > 0.0 { -free / schur } else { 0.0 };
        let normal = (-q[0] - w[1] * tangential) / w[0];
        let violation = (least - normal)
            .max(tangential - upper * normal)
            .max(lower * normal - tangential);
        let scale = normal.abs() + tangential.abs() + least;
        let inside = normal > least && violation <= 0.0;
        // An end at infinity gives no violation but needs a positive normal impulse.
        let violation = if violation.is_nan() {
            f64::INFINITY
        } else {
            violation
        };
        solutions.consider(
            [normal, tangential],
            LocalState::Stick,
            violation,
            scale,
            inside,
        );
    }

    // Slip at either end; strict in u_t so that the border with stick is not counted twice.
    for (end, sense) in [(upper, 1.0), (lower, -1.0)] {
        if !end.is_finite() {
            continue;
        }
        let denominator = w[0] + end * w[1];
        if denominator.abs() <= CRITICAL * w[0] {
            continue;
        }
        let normal = -q[0] / denominator;
        let velocity = q[1] + (w[2] + end * w[3]) * normal;
        let scale = q[1].abs() + (w[2] * normal).abs() + (end * w[3] * normal).abs();
        let against = sense * velocity;
        if normal > least {
            let strict = against < -8.0 * f64::EPSILON * scale;
            solutions.consider(
                [normal, end * normal],
                LocalState::Slip,
                against,
                scale,
                strict,
            );
        }
    }
    solutions.finish(p)
}

/// Kinetic projection; `normal_tolerance` is the approach velocity that still counts as zero.
pub fn solve_kinetic_planar(
    w: &[f64],
    q: &[f64],
    (lower, upper): (f64, f64),
    normal_tolerance: f64,
    p: &mut [f64],
) -> LocalOutcome {
    let approach = -q[0];
    if approach <= normal_tolerance {
        p[..2].fill(0.0);
        return LocalOutcome::Open;
    }
    clip_on_slice(w, q, (lower, upper), approach, p)
}

/// Jam of a grazing contact: least kinetic energy at u_n = 0 from q_n = 0, where γ ≤ 0 allows an impulse.
///
/// The normal component of q is taken as zero. `Open` if no impulse lowers the energy.
pub fn solve_jam_planar(w: &[f64], q: &[f64], ends: (f64, f64), p: &mut [f64]) -> LocalOutcome {
    let outcome = clip_on_slice(w, &[0.0, q[1]], ends, 0.0, p);
    if p[0] > 0.0 {
        outcome
    } else {
        LocalOutcome::Open
    }
}

/// Minimum of the kinetic energy on the slice W_n·p = approach.
fn clip_on_slice(
    w: &[f64],
    q: &[f64],
    (lower, upper): (f64, f64),
    approach: f64,
    p: &mut [f64],
) -> LocalOutcome {
    let end = |slope: f64| {
        if slope == 0.0 {
            return 0.0;
        }
        let denominator = w[0] / slope + w[1];
        // w_nn/slope + w_nt → w_nt for an infinite end.
        if denominator * slope.signum() <= CRITICAL * w[0] / slope.abs() {
            f64::INFINITY.copysign(slope)
        } else {
            approach / denominator
        }
    };
    let (hi, lo) = (end(upper), end(lower));
    let (schur, free) = slice(w, q);
    let noise = 16.0 * f64::EPSILON * (q[1].abs() + (w[2] / w[0] * q[0]).abs());
    let tangential = clipped(schur, free, lo, hi, noise);
    if !tangential.is_finite() {
        // Dependent rows and a direction of recession: q is not a velocity of this W.
        p[..2].fill(0.0);
        return LocalOutcome::NoSolution;
    }
    p[0] = ((approach - w[1] * tangential) / w[0]).max(0.0);
    p[1] = tangential;
    if tangential > lo && tangential < hi || free.abs() <= noise {
        LocalOutcome::Stick
    } else {
        LocalOutcome::Slip
    }
}

/// Solutions met so far, and the best near miss.
#[derive(Default)]
struct Solutions {
    first: Option<([f64; 2], LocalState)>,
    count: usize,
    miss: Option<(f64, [f64; 2], LocalState)>,
}

impl Solutions {
    fn consider(
        &mut self,
        p: [f64; 2],
        state: LocalState,
        violation: f64,
        scale: f64,
        accepted: bool,
    ) {
        if accepted {
            self.count += 1;
            if self.first.is_none() {
                self.first = Some((p, state));
            }
        } else if p[0] >= 0.0 && violation <= 1e-12 * scale {
            let relative = if scale > 0.0 { violation / scale } else { 0.0 };
            if self.miss.is_none_or(|(best, ..)| relative < best) {
                self.miss = Some((relative, p, state));
            }
        }
    }

    fn finish(self, p: &mut [f64]) -> LocalOutcome {
        // A solution lost to rounding on the border of two cases.
        let Some((solution, state)) = self.first.or(self.miss.map(|(_, p, state)| (p, state)))
        else {
            p[..2].fill(0.0);
            return LocalOutcome::NoSolution;
        };
        p[..2].copy_from_slice(&solution);
        if self.count > 1 {
            LocalOutcome::Several {
                chosen: state,
                count: self.count,
            }
        } else {
            state.into()
        }
    }
}
