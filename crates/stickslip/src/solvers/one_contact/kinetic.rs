//! Kinetic projection S(q, v) of one contact, every friction set.
//!
//! # What it computes
//!
//! For q_n < 0 the impulse p ∈ K with u_n = 0 and least kinetic energy ½ p·W p + q·p, u = W p + q;
//! p = 0 otherwise.
//!
//! # Source
//!
//! [Paoli2015], (7). One tangent: a clip ([`super::planar`]). Disc and, after a change of tangents,
//! ellipse: `kinetic_disc`. Other sets: the multiplier s of u_n = 0. With n the normal,
//! p(s) = argmin {½ p·W p + (q + s W n)·p : p ∈ K}, and u_n(p(s)) decreases from a value ≥ 0 at
//! s = 0 (where u_n = σ_D(−u_t)) to q_n < 0: a scalar root over convex problems on the cone.
//!
//! # Guarantees
//!
//! The velocity after exists and is unique for q in the range of W, whatever D, also for dependent rows and γ ≤ 0;
//! the kinetic energy never increases.
//!
//! # Behaviour to know
//!
//! S is discontinuous at q_n = 0 when γ ≤ 0: `normal_tolerance` is the approach velocity that still
//! counts as zero. A caller that knows the velocity v and the unit normal covector uses
//! tol (1 + ‖v‖) ‖dφ‖* with tol = 1e-12, so that rounding never decides between grazing and jam.
//! Only the symmetric part of W is meaningful. `normal_impulse_min` is not read.
//!
//! # Cost
//!
//! One tangent: twenty operations. Disc: about ten evaluations of quadratic polynomials. Others:
//! about fifteen cone problems, 0.1 to 1 ms.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::coulomb::{from_disc_frame, in_disc_frame};
use super::known_normal::{STALLED, state_of};
use super::{LocalOutcome, LocalScratch, OneContact, kinetic_disc, planar};
use crate::algebra::projected_newton;
use crate::algebra::root::bracketed_root;
use crate::algebra::small_dense::dot;
use crate::laws::FrictionSection;
use crate::laws::section_quadratic::block_scales;

/// Writes the impulse of S; `normal_tolerance` ≥ 0 in units of u_n.
pub fn solve_kinetic(
    contact: &OneContact,
    normal_tolerance: f64,
    p: &mut [f64],
    _scratch: &mut LocalScratch,
) -> LocalOutcome {
    let (w, q, m) = (contact.w, contact.q, contact.rows());
    debug_assert_eq!(m, 1 + contact.section.dimension());
    if -q[0] <= normal_tolerance {
        p.fill(0.0);
        return LocalOutcome::Open;
    }
    if contact.section.is_frictionless() {
        p.fill(0.0);
        p[0] = -q[0] / w[0];
        return LocalOutcome::Slip;
    }
    if let (2, Some(ends)) = (m, contact.section.ends()) {
        return planar::solve_kinetic_planar(w, q, ends, normal_tolerance, p);
    }
    let exact = match contact.section {
        FrictionSection::Disc { mu, dimension: 2 } => kinetic_disc::solve(w, q, *mu),
        FrictionSection::Ellipse { map } => {
            let (w, q) = in_disc_frame(contact.w, contact.q, map);
            kinetic_disc::solve(&w, &q, 1.0).map(|(mut p, state)| {
                from_disc_frame(map, &mut p);
                (p, state)
            })
        }
        _ => None,
    };
    if let Some((impulse, state)) = exact {
        p.copy_from_slice(&impulse);
        return state.into();
    }
    multiplier_root(contact, p)
}

/// The impulse that S tends to as the approach vanishes, where friction can jam the contact (γ < 0); q[0] is not read.
///
/// S(q, c v) = c S(q, v), and at u_n = 0 before the same convex problem has one solution without an approach: on the disc a wedge between two
/// directions, else the multiplier, which is bounded since some impulse of the cone approaches. A small approach instead would lose as many
/// digits as it is smaller than the slip.
pub fn solve_jam(contact: &OneContact, p: &mut [f64]) -> LocalOutcome {
    let mut grazing = contact.q.to_vec();
    grazing[0] = 0.0;
    let contact = OneContact {
        q: &grazing,
        ..*contact
    };
    match (contact.rows(), contact.section) {
        (2, section) => {
            if let Some(ends) = section.ends() {
                return planar::solve_jam_planar(contact.w, &grazing, ends, p);
            }
        }
        (_, FrictionSection::Disc { mu, dimension: 2 }) => {
            p.copy_from_slice(&kinetic_disc::jam(contact.w, &grazing, *mu));
            return state_of(&contact, p).into();
        }
        (_, FrictionSection::Ellipse { map }) => {
            let (w, q) = in_disc_frame(contact.w, contact.q, map);
            p.copy_from_slice(&kinetic_disc::jam(&w, &q, 1.0));
            from_disc_frame(map, p);
            return state_of(&contact, p).into();
        }
        _ => {}
    }
    p.fill(0.0);
    multiplier_root(&contact, p)
}

/// Root of u_n in the multiplier s, in coordinates scaled to unit diagonal blocks.
fn multiplier_root(contact: &OneContact, p: &mut [f64]) -> LocalOutcome {
    let m = contact.rows();
    let (section, factor) = scaled_cone(contact);
    let w: Vec<f64> = (0..m * m)
        .map(|k| {
            let (i, j) = (k / m, k % m);
            0.5 * (contact.w[i * m + j] + contact.w[j * m + i]) * factor[i] * factor[j]
        })
        .collect();
    let q: Vec<f64> = contact.q.iter().zip(&factor).map(|(q, c)| q * c).collect();
    let mut z: Vec<f64> = p.iter().zip(&factor).map(|(p, c)| p / c).collect();
    let mut shifted = q.clone();
    let mut residual = 0.0;
    let mut normal_velocity = |s: f64, z: &mut Vec<f64>| {
        for i in 0..m {
            shifted[i] = q[i] + s * w[i * m];
        }
        residual = projected_newton::solve(&w, &shifted, z, &mut |x, out| {
            section.project_on_cone(x, out)
        });
        q[0] + dot(&w[..m], z)
    };
    // s = 0 gives u_n ≥ 0; a large s closes the cone.
    let mut low = 0.0;
    let mut at_low = normal_velocity(low, &mut z);
    // How large, the tangential velocities tell as well: an approach at rounding beside them says nothing.
    let size = dot(&q, &q).sqrt() / w[0];
    let mut high = (-q[0] / w[0]).max(f64::EPSILON * size);
    let mut at_high;
    loop {
        at_high = normal_velocity(high, &mut z);
        if at_high <= 0.0 || high > 1e15 * size {
            break;
        }
        (low, at_low) = (high, at_high);
        high *= 2.0;
    }
    let s = if at_low <= 0.0 {
        low
    } else if !(at_high <= 0.0) {
        high
    } else {
        bracketed_root(low, at_low, high, at_high, |s| normal_velocity(s, &mut z))
    };
    normal_velocity(s, &mut z);
    p.iter_mut()
        .zip(z.iter().zip(&factor))
        .for_each(|(p, (z, c))| *p = z * c);
    if residual > STALLED {
        return LocalOutcome::Stalled { residual };
    }
    state_of(contact, p).into()
}

/// Section and factors with p = factor · z for which W has unit diagonal blocks.
fn scaled_cone(contact: &OneContact) -> (FrictionSection, Vec<f64>) {
    let m = contact.rows();
    let d = m - 1;
    let c_n = 1.0 / contact.w[0].sqrt();
    let tangential: Vec<f64> = (0..d * d)
        .map(|k| contact.w[(k / d + 1) * m + k % d + 1])
        .collect();
    let mut factor = vec![c_n];
    let section = match contact.section {
        FrictionSection::Product {
            factors: parts,
            scale,
        }
        | FrictionSection::Hull { parts, scale } => {
            let scales = block_scales(&tangential, d, parts);
            let mut scaled = Vec::with_capacity(parts.len());
            for (part, c) in parts.iter().zip(scales) {
                scaled.push(part.scaled(scale * c_n / c));
                factor.extend(std::iter::repeat_n(c, part.dimension()));
            }
            if matches!(contact.section, FrictionSection::Product { .. }) {
                FrictionSection::Product {
                    factors: scaled.into(),
                    scale: 1.0,
                }
            } else {
                FrictionSection::Hull {
                    parts: scaled.into(),
                    scale: 1.0,
                }
            }
        }
        section => {
            let size = (0..d).map(|i| tangential[i * d + i]).fold(0.0, f64::max);
            let c = if size > 0.0 { 1.0 / size.sqrt() } else { 1.0 };
            factor.extend(std::iter::repeat_n(c, d));
            section.scaled(c_n / c)
        }
    };
    (section, factor)
}
