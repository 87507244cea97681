//! Several material points that share one normal row: the joint section of their cones.
//!
//! # What it computes
//!
//! D = {(s_1, …, s_k) : Σ g_i(s_i) ≤ 1}, g_i the gauge of D_i: one unit of normal impulse is shared
//! by the points in all possible ways, s_i ∈ a_i D_i, a_i ≥ 0, Σ a_i ≤ 1. Support max_i σ_i(d_i).
//!
//! # Source
//!
//! Section 6.1 of [CharlesBallard2016] (sum of the real cones), in contact coordinates.
//!
//! # Guarantees
//!
//! The projection solves its optimality condition: σ_i(x_i − z_i) = η for every part with a_i > 0,
//! ≤ η otherwise, one η for all; a monotone scalar equation.
//!
//! # Behaviour to know
//!
//! The shares a_i are not unique in general; the tangential impulses are.
//!
//! # Cost
//!
//! Some twenty evaluations of the shares; closed form for discs and intervals, a scalar root each
//! for other parts.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use super::FrictionSection;
use crate::algebra::root::bracketed_root;
use crate::algebra::small_dense::norm;

/// Projection of x on `scale` times the hull of `parts`.
pub(super) fn project(parts: &[FrictionSection], x: &[f64], scale: f64, out: &mut [f64]) {
    if scale <= 0.0 {
        out.fill(0.0);
        return;
    }
    // Inside already.
    if gauge(parts, x) <= scale {
        out.copy_from_slice(x);
        return;
    }
    let total = |eta: f64| -> f64 {
        each(parts, x)
            .map(|(part, x)| share(part, x, eta, scale))
            .sum::<f64>()
            - scale
    };
    let highest = each(parts, x)
        .map(|(part, x)| part.support(x))
        .fold(0.0, f64::max);
    let at_zero = total(0.0);
    let eta = if at_zero <= 0.0 || highest == 0.0 {
        0.0
    } else {
        bracketed_root(0.0, at_zero, highest, -scale, total)
    };
    let mut start = 0;
    for (part, x) in each(parts, x) {
        let end = start + part.dimension();
        part.project(x, share(part, x, eta, scale), &mut out[start..end]);
        start = end;
    }
}

/// Sum of the gauges of the parts.
pub(super) fn gauge(parts: &[FrictionSection], x: &[f64]) -> f64 {
    each(parts, x).map(|(part, x)| part.gauge(x)).sum()
}

/// The parts with their coordinates of x.
pub(super) fn each<'a>(
    parts: &'a [FrictionSection],
    x: &'a [f64],
) -> impl Iterator<Item = (&'a FrictionSection, &'a [f64])> {
    let mut rest = x;
    parts.iter().map(move |part| {
        let (own, others) = rest.split_at(part.dimension());
        rest = others;
        (part, own)
    })
}

/// Share a in [0, limit] with σ(x − Proj_{aD} x) = η.
fn share(part: &FrictionSection, x: &[f64], eta: f64, limit: f64) -> f64 {
    let along = |reach: f64, length: f64| {
        // σ = reach (length − reach a) for a segment or disc of that reach.
        if reach * length <= eta {
            0.0
        } else {
            ((length - eta / reach) / reach).clamp(0.0, limit)
        }
    };
    match part {
        FrictionSection::Disc { mu, .. } => along(*mu, norm(x)),
        FrictionSection::Interval { lower, upper } => {
            if x[0] >= 0.0 {
                along(*upper, x[0])
            } else {
                along(-lower, -x[0])
            }
        }
        _ => {
            let mut nearest = vec![0.0; x.len()];
            let mut excess = |a: f64| {
                part.project(x, a, &mut nearest);
                nearest.iter_mut().zip(x).for_each(|(z, x)| *z = x - *z);
                part.support(&nearest) - eta
            };
            let at_zero = excess(0.0);
            if at_zero <= 0.0 {
                return 0.0;
            }
            let at_limit = excess(limit);
            if at_limit >= 0.0 {
                return limit;
            }
            bracketed_root(0.0, at_zero, limit, at_limit, excess)
        }
    }
}
