//! Projection on the reaction cone of a section.
//!
//! # What it computes
//!
//! The point of K = {(p_n, p_t) : p_n ≥ 0, p_t ∈ p_n D} nearest to (x_n, x_t).
//!
//! # Source
//!
//! Disc: the second-order cone. Otherwise the derivative of the squared distance along p_n,
//! p_n − x_n − σ_D(x_t − Proj_{p_n D} x_t) = 0, which increases with p_n ([Rockafellar1970], derivative of a
//! distance).
//!
//! # Guarantees
//!
//! Accurate to the accuracy of the projection on D times (1 + reach of D).
//!
//! # Behaviour to know
//!
//! For an unbounded section the cone meant is its closure without the rays at p_n = 0.
//!
//! # Cost
//!
//! Disc: closed form. Others: about ten projections on D.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use super::FrictionSection;
use crate::algebra::root::bracketed_root;
use crate::algebra::small_dense::norm;

impl FrictionSection {
    /// The point of the reaction cone nearest to `point`, normal component first.
    pub(crate) fn project_on_cone(&self, point: &[f64], out: &mut [f64]) {
        let (x_n, x_t) = (point[0], &point[1..]);
        if let FrictionSection::None = self {
            out[0] = x_n.max(0.0);
            return;
        }
        if let FrictionSection::Disc { mu, .. } = self {
            return project_on_disc_cone(*mu, x_n, x_t, out);
        }
        let (first, out_t) = out.split_at_mut(1);
        // In the polar cone: the projection is 0.
        let support = self.support(x_t);
        if x_n + support <= 0.0 {
            first[0] = 0.0;
            out_t.fill(0.0);
            return;
        }
        let mut slope = |normal: f64| {
            self.project(x_t, normal, out_t);
            out_t.iter_mut().zip(x_t).for_each(|(z, x)| *z = x - *z);
            normal - x_n - self.support(out_t)
        };
        // Between the point itself and the point plus all that the tangent can lift.
        let low = x_n.max(0.0);
        let at_low = slope(low);
        let normal = if at_low >= 0.0 {
            low
        } else {
            let mut high = x_n + support;
            if !high.is_finite() {
                high = low + norm(point);
            }
            let mut at_high = slope(high);
            while at_high < 0.0 {
                high += norm(point) + high.abs();
                at_high = slope(high);
            }
            bracketed_root(low, at_low, high, at_high, slope)
        };
        first[0] = normal;
        self.project(x_t, normal, out_t);
    }
}

fn project_on_disc_cone(mu: f64, x_n: f64, x_t: &[f64], out: &mut [f64]) {
    let length = norm(x_t);
    if length <= mu * x_n {
        out[0] = x_n;
        out[1..].copy_from_slice(x_t);
    } else if mu * length <= -x_n {
        out.fill(0.0);
    } else {
        let normal = (x_n + mu * length) / (1.0 + mu * mu);
        out[0] = normal;
        for (o, x) in out[1..].iter_mut().zip(x_t) {
            *o = mu * normal / length * x;
        }
    }
}
