//! Friction at known normal impulse (Tresca).
//!
//! # What it computes
//!
//! p_n given: p_t ∈ p_n D that minimises ½ p_t·W_tt p_t + (q_t + W_tn p_n)·p_t, that is
//! −u_t ∈ N_{p_n D}(p_t). With a skew part in W_tt the second form is meant.
//!
//! # Source
//!
//! The friction half of Coulomb's law, [AcaryCollinsCraft2023]; the tangential problem is
//! `laws::section_quadratic`.
//!
//! # Guarantees
//!
//! A solution exists for every bounded D; u_t is unique for symmetric W, p_t if W_tt is definite.
//!
//! # Behaviour to know
//!
//! One tangent, disc, ellipse and polygon: accurate to rounding. Other sets: natural map of 1e-15, limited
//! by the accuracy of their projection.
//!
//! # Cost
//!
//! One tangent: a clip. Disc: about five 2 × 2 systems. Others: see
//! `algebra::projected_newton`. Allocates for the others only.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::{LocalOutcome, LocalScratch, LocalState, OneContact, planar};
use crate::laws::section_quadratic::minimize_in_section_checked;

/// Relative natural map above which an iteration has stalled.
pub(super) const STALLED: f64 = 1e-10;

/// Writes the tangential impulse at the normal impulse p[0].
pub fn solve_known_normal(
    contact: &OneContact,
    p: &mut [f64],
    scratch: &mut LocalScratch,
) -> LocalOutcome {
    if p[0] <= 0.0 {
        p.fill(0.0);
        return LocalOutcome::Open;
    }
    let (normal, tangential) = (p[0], &mut p[1..]);
    let residual = tangential_impulse(contact, normal, tangential, scratch);
    if residual > STALLED {
        return LocalOutcome::Stalled { residual };
    }
    state_of(contact, p).into()
}

/// Stick if the tangential velocity vanishes within 1e-11 of the terms it is the sum of.
pub(super) fn state_of(contact: &OneContact, p: &[f64]) -> LocalState {
    let m = contact.rows();
    let (mut velocity, mut terms) = (0.0, 0.0);
    for i in 1..m {
        let mut sum = contact.q[i];
        let mut size = contact.q[i].abs();
        for (w, p) in contact.w[i * m..(i + 1) * m].iter().zip(p) {
            let term = w * p;
            sum += term;
            size += term.abs();
        }
        velocity += sum * sum;
        terms += size * size;
    }
    if p[0] <= 0.0 {
        LocalState::Open
    } else if velocity.sqrt() <= 1e-11 * terms.sqrt() {
        LocalState::Stick
    } else {
        LocalState::Slip
    }
}

/// p_t at normal impulse `normal`, from the guess in p_t; returns the relative natural map.
pub(super) fn tangential_impulse(
    contact: &OneContact,
    normal: f64,
    p_t: &mut [f64],
    scratch: &mut LocalScratch,
) -> f64 {
    let m = contact.rows();
    let d = m - 1;
    if d == 0 || normal <= 0.0 || contact.section.is_frictionless() {
        p_t.fill(0.0);
        return 0.0;
    }
    if let (1, Some(ends)) = (d, contact.section.ends()) {
        p_t[0] = planar::tangential_at_known_normal(contact.w, contact.q, ends, normal);
        return 0.0;
    }
    // Tangential problem: A = W_tt, b = q_t + W_tn p_n.
    let numbers = scratch.take(2 * d * d + 2 * d);
    let (a, rest) = numbers.split_at_mut(d * d);
    let (b, work) = rest.split_at_mut(d);
    for i in 0..d {
        b[i] = contact.q[i + 1] + contact.w[(i + 1) * m] * normal;
        for j in 0..d {
            a[i * d + j] = contact.w[(i + 1) * m + j + 1];
        }
    }
    minimize_in_section_checked(contact.section, a, b, normal, p_t, work)
}
