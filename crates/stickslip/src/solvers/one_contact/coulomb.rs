//! Coulomb's law for one contact, every friction set.
//!
//! # What it computes
//!
//! p with p_n ≥ p_min, u_n ≥ 0, (p_n − p_min) u_n = 0 and −u_t ∈ N_{p_n D}(p_t), u = W p + q.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023], Coulomb-Signorini in De Saxcé's form. One tangent: closed form
//! ([`super::planar`]). Disc, and ellipse after a change of tangents: [`super::coulomb_disc`]. Products of discs: `coulomb_product`.
//! Otherwise a scalar equation in p_n: with p_t(p_n) the solution at known
//! normal impulse, u_n(p_n) = q_n + W_nn p_n + W_nt·p_t(p_n) = 0.
//!
//! # Guarantees
//!
//! u_n(p_n) is a continuous function even where p_t is not unique, since W ⪰ 0 puts W_tn in the range
//! of W_tt. A root exists for q_n < 0, bounded D and symmetric W ≻ 0: u_n(0) = q_n < 0, and
//! u_n(p_n)/p_n → W_nn + W_nt·s with s = argmin {½ s·W_tt s + W_tn·s : s ∈ D}. Testing the minimum
//! with 0 gives (W_tt s + W_tn)·s ≤ 0, hence
//! W_nn + W_nt·s = (1, s)·W(1, s) − (W_tt s + W_tn)·s ≥ (1, s)·W(1, s) > 0.
//! With p_min > 0 the same bracket starts at p_min.
//!
//! # Behaviour to know
//!
//! q_n ≥ 0 gives take-off, also where other solutions exist (Painlevé). With one tangent all
//! solutions are counted; with more, one is returned: the root of the first bracket found by doubling
//! from the frictionless impulse. A singular W may have no solution: the bracket then passes 1e15
//! times the frictionless impulse.
//!
//! # Cost
//!
//! Ten to twenty problems at known normal impulse. No allocation for one tangent and the disc.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::coulomb_disc::{DiscOutcome, PreparedDisc};
use super::known_normal::{STALLED, state_of, tangential_impulse};
use super::{LocalOutcome, LocalScratch, OneContact, coulomb_product, planar};
use crate::algebra::root::bracketed_root;
use crate::algebra::small_dense::dot;
use crate::laws::FrictionSection;

/// Solves Coulomb's law; p holds a guess and receives the solution.
pub fn solve_coulomb(
    contact: &OneContact,
    p: &mut [f64],
    scratch: &mut LocalScratch,
) -> LocalOutcome {
    let m = contact.rows();
    debug_assert_eq!(m, 1 + contact.section.dimension());
    if m == 1 {
        let normal = (-contact.q[0] / contact.w[0])
            .max(contact.normal_impulse_min)
            .max(0.0);
        p[0] = normal;
        return if normal > 0.0 {
            LocalOutcome::Slip
        } else {
            LocalOutcome::Open
        };
    }
    if let (2, Some(ends)) = (m, contact.section.ends()) {
        return planar::solve_coulomb_planar(
            contact.w,
            contact.q,
            ends,
            contact.normal_impulse_min,
            p,
        );
    }
    if contact.q[0] >= 0.0 && contact.normal_impulse_min <= 0.0 {
        p.fill(0.0);
        return LocalOutcome::Open;
    }
    if contact.normal_impulse_min <= 0.0 {
        match contact.section {
            FrictionSection::Disc { mu, dimension: 2 } => return disc(contact, *mu, p),
            FrictionSection::Ellipse { map } => return ellipse(contact, map, p),
            FrictionSection::Product { .. } if coulomb_product::solve(contact, p) => {
                return state_of(contact, p).into();
            }
            _ => {}
        }
    }
    scalar_root(contact, p, scratch)
}

/// The disc in space.
fn disc(contact: &OneContact, mu: f64, p: &mut [f64]) -> LocalOutcome {
    let (mut w, mut q) = ([0.0; 9], [0.0; 3]);
    w.copy_from_slice(contact.w);
    q.copy_from_slice(contact.q);
    let (impulse, outcome) = PreparedDisc::new(&w, mu, 0.0).solve(&q, &mut 0.0);
    p.copy_from_slice(&impulse);
    match outcome {
        DiscOutcome::Open => LocalOutcome::Open,
        DiscOutcome::Stick => LocalOutcome::Stick,
        DiscOutcome::Slip => LocalOutcome::Slip,
        DiscOutcome::NoSolution => LocalOutcome::NoSolution,
    }
}

/// D = {E z, |z| ≤ 1}: the disc of coefficient 1 for the tangents Eᵀ t.
fn ellipse(contact: &OneContact, map: &[[f64; 2]; 2], p: &mut [f64]) -> LocalOutcome {
    let (w, q) = in_disc_frame(contact.w, contact.q, map);
    let unit = FrictionSection::Disc {
        mu: 1.0,
        dimension: 2,
    };
    let problem = OneContact {
        w: &w,
        q: &q,
        section: &unit,
        normal_impulse_min: 0.0,
    };
    let outcome = disc(&problem, 1.0, p);
    from_disc_frame(map, p);
    outcome
}

/// W and q for the tangents Eᵀ t.
pub(crate) fn in_disc_frame(
    given: &[f64],
    free: &[f64],
    map: &[[f64; 2]; 2],
) -> ([f64; 9], [f64; 3]) {
    let t = [
        [1.0, 0.0, 0.0],
        [0.0, map[0][0], map[0][1]],
        [0.0, map[1][0], map[1][1]],
    ];
    let (mut w, mut q) = ([0.0; 9], [0.0; 3]);
    for i in 0..3 {
        for k in 0..3 {
            q[i] += t[k][i] * free[k];
            for j in 0..3 {
                for l in 0..3 {
                    w[3 * i + j] += t[k][i] * given[3 * k + l] * t[l][j];
                }
            }
        }
    }
    (w, q)
}

/// p_t = E z.
pub(crate) fn from_disc_frame(map: &[[f64; 2]; 2], p: &mut [f64]) {
    let z = [p[1], p[2]];
    for i in 0..2 {
        p[i + 1] = map[i][0] * z[0] + map[i][1] * z[1];
    }
}

/// Root of u_n(p_n) above p_min.
fn scalar_root(contact: &OneContact, p: &mut [f64], scratch: &mut LocalScratch) -> LocalOutcome {
    let (w, q, m) = (contact.w, contact.q, contact.rows());
    let least = contact.normal_impulse_min.max(0.0);
    let mut worst: f64 = 0.0;
    let (first, p_t) = p.split_at_mut(1);
    let mut previous = first[0];
    let mut normal_velocity = |normal: f64, p_t: &mut [f64]| {
        // The last solution, carried along the cone, is the guess.
        if previous > 0.0 && normal > 0.0 {
            p_t.iter_mut().for_each(|x| *x *= normal / previous);
        }
        worst = tangential_impulse(contact, normal, p_t, scratch);
        previous = normal;
        q[0] + w[0] * normal + dot(&w[1..m], p_t)
    };
    // Least impulse, if it already keeps the contact closed.
    let at_least = normal_velocity(least, p_t);
    let normal = if at_least >= 0.0 {
        least
    } else {
        let frictionless = (-q[0] / w[0]).max(least);
        let (mut low, mut f_low) = (least, at_least);
        let (mut high, mut f_high);
        let mut trial = frictionless;
        loop {
            high = trial;
            f_high = normal_velocity(high, p_t);
            if f_high >= 0.0 {
                break;
            }
            (low, f_low) = (high, f_high);
            trial *= 2.0;
            if trial.is_nan() || trial > 1e15 * frictionless {
                p.fill(0.0);
                return LocalOutcome::NoSolution;
            }
        }
        bracketed_root(low, f_low, high, f_high, |normal| {
            normal_velocity(normal, p_t)
        })
    };
    normal_velocity(normal, p_t);
    first[0] = normal;
    if worst > STALLED {
        return LocalOutcome::Stalled { residual: worst };
    }
    state_of(contact, p).into()
}
