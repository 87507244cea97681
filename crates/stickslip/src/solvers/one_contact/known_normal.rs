//! Friction at known normal impulse (Tresca).
//!
//! # What it computes
//!
//! p_n given: p_t ∈ p_n D that minimises ½ p_t·W_tt p_t + (q_t + W_tn p_n)·p_t, that is
//! −u_t ∈ N_{p_n D}(p_t). With a skew part in W_tt the second form is meant.
//!
//! # Source
//!
//! The friction half of Coulomb's law, [AcaryCollinsCraft2023]; disc and ellipse by the secular equation
//! of [`crate::algebra::ball_quadratic`].
//!
//! # Guarantees
//!
//! A solution exists for every bounded D; u_t is unique for symmetric W, p_t if W_tt is definite.
//!
//! # Behaviour to know
//!
//! One tangent, disc and ellipse: accurate to rounding. Other sets: natural map of 1e-15, limited
//! by the accuracy of their projection. Factors of a product and parts of a hull are scaled by their own block of W_tt, so
//! rolling friction in other units does no harm.
//!
//! # Cost
//!
//! One tangent: a clip. Disc: about five 2 × 2 systems. Others: see
//! `projected_newton`. Allocates for the others only.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::{LocalOutcome, LocalScratch, LocalState, OneContact, planar, projected_newton};
use crate::algebra::ball_quadratic::minimize_in_ball;
use crate::algebra::small_dense::norm;
use crate::laws::FrictionSection;

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
    match contact.section {
        FrictionSection::Disc { mu, .. } => {
            minimize_in_ball(a, b, mu * normal, p_t, work);
            0.0
        }
        FrictionSection::Ellipse { map } => {
            ellipse(a, b, map, normal, p_t, work);
            0.0
        }
        FrictionSection::Product {
            factors: parts,
            scale,
        }
        | FrictionSection::Hull { parts, scale } => {
            let product = matches!(contact.section, FrictionSection::Product { .. });
            blocks(a, b, parts, product, scale * normal, p_t)
        }
        section => {
            projected_newton::solve(a, b, p_t, &mut |x, out| section.project(x, normal, out))
        }
    }
}

/// p_t = E z, |z| ≤ p_n.
fn ellipse(
    a: &[f64],
    b: &[f64],
    map: &[[f64; 2]; 2],
    normal: f64,
    p_t: &mut [f64],
    work: &mut [f64],
) {
    let mut transformed = [0.0; 4];
    let mut rhs = [0.0; 2];
    for i in 0..2 {
        for j in 0..2 {
            rhs[i] += map[j][i] * b[j];
            for k in 0..2 {
                for l in 0..2 {
                    transformed[2 * i + j] += map[k][i] * a[2 * k + l] * map[l][j];
                }
            }
        }
    }
    let mut z = [0.0; 2];
    minimize_in_ball(&transformed, &rhs, normal, &mut z, work);
    for i in 0..2 {
        p_t[i] = map[i][0] * z[0] + map[i][1] * z[1];
    }
}

/// Scale c_i of each block with c_i² |A_ii| = 1.
pub(super) fn block_scales(a: &[f64], d: usize, parts: &[FrictionSection]) -> Vec<f64> {
    let mut scales = Vec::with_capacity(parts.len());
    let mut start = 0;
    for part in parts {
        let end = start + part.dimension();
        let size = (start..end).map(|i| a[i * d + i]).fold(0.0, f64::max);
        scales.push(if size > 0.0 { 1.0 / size.sqrt() } else { 1.0 });
        start = end;
    }
    scales
}

/// Product or hull, each block of coordinates scaled to a unit block of A.
fn blocks(
    a: &[f64],
    b: &[f64],
    parts: &[FrictionSection],
    product: bool,
    normal: f64,
    p_t: &mut [f64],
) -> f64 {
    let d = b.len();
    let scales = block_scales(a, d, parts);
    let factor: Vec<f64> = parts
        .iter()
        .zip(&scales)
        .flat_map(|(part, &c)| std::iter::repeat_n(c, part.dimension()))
        .collect();
    let scaled_a: Vec<f64> = (0..d * d)
        .map(|k| a[k] * factor[k / d] * factor[k % d])
        .collect();
    let scaled_b: Vec<f64> = (0..d).map(|i| b[i] * factor[i]).collect();
    let scaled_parts: Vec<FrictionSection> = parts
        .iter()
        .zip(&scales)
        .map(|(part, c)| part.scaled(1.0 / c))
        .collect();
    let section = if product {
        FrictionSection::Product {
            factors: scaled_parts.into(),
            scale: 1.0,
        }
    } else {
        FrictionSection::Hull {
            parts: scaled_parts.into(),
            scale: 1.0,
        }
    };
    let mut z: Vec<f64> = p_t.iter().zip(&factor).map(|(p, c)| p / c).collect();
    let residual = projected_newton::solve(&scaled_a, &scaled_b, &mut z, &mut |x, out| {
        section.project(x, normal, out)
    });
    p_t.iter_mut()
        .zip(z.iter().zip(&factor))
        .for_each(|(p, (z, c))| *p = z * c);
    debug_assert!(norm(p_t).is_finite());
    residual
}
