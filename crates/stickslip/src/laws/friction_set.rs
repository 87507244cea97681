//! Friction sets of a user: any closed convex set containing 0.
//!
//! # What it computes
//!
//! For a closed convex set D ⊂ R^d with 0 ∈ D: the support function σ_D(s) = sup {s·x : x ∈ D}, a
//! point that attains it, and the nearest point of r D to a given point. [`SetFromProjection`] and
//! [`SetFromSupport`] derive all three from the one the user has.
//!
//! # Source
//!
//! Convex analysis ([Rockafellar1970]); projection from the support function by Moreau's
//! decomposition Proj_D = Id − prox_σ, evaluated in the plane by the angle of the normal (gauge first,
//! then distance: both unimodal), otherwise with Wolfe's nearest-point method ([Wolfe1976]).
//!
//! # Guarantees
//!
//! For sets given by a projection all results are accurate to about 1e-14 of the size of the set.
//!
//! # Behaviour to know
//!
//! A support function without support points is differentiated by central differences: support points
//! are then accurate to about 1e-10 of the size of the set, less near corners of σ. With support points
//! projections are accurate to 1e-14 in the plane and were so for a ball in R³.
//!
//! # Cost
//!
//! Support from a projection: some ten projections. Projection from a support function: some fifty
//! support points.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use std::f64::consts::FRAC_PI_2;
use std::fmt;

use super::nearest_point::nearest_point;
use crate::algebra::root::bracketed_root;
use crate::algebra::small_dense::{dot, norm};

/// A closed convex set that contains 0.
pub trait FrictionSet: Send + Sync + fmt::Debug {
    /// Number of tangential directions.
    fn dimension(&self) -> usize;
    /// sup {direction·x : x in the set}; may be infinite.
    fn support(&self, direction: &[f64]) -> f64;
    /// A point of the set where the support is attained.
    fn support_point(&self, direction: &[f64], out: &mut [f64]);
    /// The point of `scale` times the set nearest to `point`; `scale ≥ 0`.
    fn project(&self, point: &[f64], scale: f64, out: &mut [f64]);
}

/// A set known by its projection `(point, out)`.
///
/// ```
/// use stickslip::laws::{FrictionSection, SetFromProjection};
///
/// // A square: friction of two independent directions.
/// let square = SetFromProjection::new(2, |x: &[f64], out: &mut [f64]| {
///     for (out, x) in out.iter_mut().zip(x) {
///         *out = x.clamp(-0.5, 0.5);
///     }
/// });
/// let section = FrictionSection::general(square)?;
/// assert!((section.support(&[1.0, 2.0]) - 1.5).abs() < 1e-12);
/// # Ok::<(), stickslip::laws::LawError>(())
/// ```
pub struct SetFromProjection<F> {
    dimension: usize,
    project: F,
}

impl<F: Fn(&[f64], &mut [f64]) + Send + Sync> SetFromProjection<F> {
    /// `project` writes the point of the set nearest to its first argument.
    pub fn new(dimension: usize, project: F) -> Self {
        SetFromProjection { dimension, project }
    }
}

impl<F> fmt::Debug for SetFromProjection<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SetFromProjection(R^{})", self.dimension)
    }
}

impl<F: Fn(&[f64], &mut [f64]) + Send + Sync> FrictionSet for SetFromProjection<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn support(&self, direction: &[f64]) -> f64 {
        let mut point = vec![0.0; self.dimension];
        self.support_point(direction, &mut point);
        let value = dot(&point, direction);
        // The point runs away along a direction of recession.
        if norm(&point) > 1e12 {
            f64::INFINITY
        } else {
            value
        }
    }

    fn support_point(&self, direction: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let length = norm(direction);
        if length == 0.0 {
            return;
        }
        // Proximal points of −direction·x: contracts by R/(R + t) for a boundary of radius R.
        let mut moved = vec![0.0; self.dimension];
        let mut step = 1.0;
        for _ in 0..200 {
            for i in 0..self.dimension {
                moved[i] = out[i] + step * direction[i] / length;
            }
            let before = dot(out, direction);
            (self.project)(&moved, out);
            let size = norm(out);
            if dot(out, direction) - before <= 1e-17 * size * length && step > 30.0 * size
                || size > 1e13
            {
                break;
            }
            step = (step * 2.0).min(1e3 * size.max(step * 1e-3)).max(step);
        }
    }

    fn project(&self, point: &[f64], scale: f64, out: &mut [f64]) {
        if scale <= 0.0 {
            out.fill(0.0);
            return;
        }
        let scaled: Vec<f64> = point.iter().map(|x| x / scale).collect();
        (self.project)(&scaled, out);
        out.iter_mut().for_each(|x| *x *= scale);
    }
}

type SupportPoint = Box<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// A bounded set known by its support function.
///
/// ```
/// use stickslip::laws::{FrictionSection, SetFromSupport};
///
/// // A disc with the radius 0.5, by σ(d) = 0.5 |d|.
/// let disc = SetFromSupport::new(2, |d: &[f64]| 0.5 * d[0].hypot(d[1]))
///     .with_support_point(|d, out| for (out, d_i) in out.iter_mut().zip(d) {
///         *out = 0.5 * d_i / d[0].hypot(d[1]);
///     });
/// let mut nearest = [0.0; 2];
/// FrictionSection::general(disc)?.project(&[3.0, 4.0], 1.0, &mut nearest);
/// assert!((nearest[0] - 0.3).abs() < 1e-12 && (nearest[1] - 0.4).abs() < 1e-12);
/// # Ok::<(), stickslip::laws::LawError>(())
/// ```
pub struct SetFromSupport<F> {
    dimension: usize,
    support: F,
    point: Option<SupportPoint>,
}

impl<F: Fn(&[f64]) -> f64 + Send + Sync> SetFromSupport<F> {
    /// `support` returns sup {direction·x}; it is positively homogeneous.
    pub fn new(dimension: usize, support: F) -> Self {
        SetFromSupport {
            dimension,
            support,
            point: None,
        }
    }

    /// The same with a function that writes a point where the support is attained.
    pub fn with_support_point(
        mut self,
        point: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        self.point = Some(Box::new(point));
        self
    }

    /// Nearest point in the plane, by angles of the normal.
    fn project_in_plane(&self, x: &[f64], scale: f64, out: &mut [f64]) {
        let direction = |angle: f64| [angle.cos(), angle.sin()];
        // (d·x, d⊥·x, σ(d), d⊥·y) at an angle, y the support point.
        let parts = |angle: f64| {
            let d = direction(angle);
            let mut y = [0.0; 2];
            self.support_point(&d, &mut y);
            let across = |v: &[f64]| d[0] * v[1] - d[1] * v[0];
            [
                dot(&d, x),
                across(x),
                scale * (self.support)(&d),
                scale * across(&y),
            ]
        };
        // d·x/σ(d) is unimodal where d·x > 0; its largest value is the gauge.
        let middle = x[1].atan2(x[0]);
        let (left, right) = (middle - FRAC_PI_2, middle + FRAC_PI_2);
        let ratio = |angle: f64| {
            let [along, across, support, turn] = parts(angle);
            across * support - along * turn
        };
        let (at_left, at_right) = (ratio(left), ratio(right));
        let mut angle = if at_left > 0.0 && at_right < 0.0 {
            bracketed_root(left, at_left, right, at_right, ratio)
        } else {
            middle
        };
        let [along, _, support, _] = parts(angle);
        if along <= support {
            out.copy_from_slice(x);
            return;
        }
        // Outside: f = d·x − σ(d) is positive there, and unimodal where it is positive.
        let slope = |angle: f64| {
            let [_, across, _, turn] = parts(angle);
            across - turn
        };
        let mut value = slope(angle);
        let mut step = 1e-9_f64.copysign(value);
        for _ in 0..40 {
            let next = angle + step;
            let at_next = slope(next);
            if at_next.signum() != value.signum() {
                angle = bracketed_root(angle, value, next, at_next, slope);
                break;
            }
            (angle, value) = (next, at_next);
            step *= 2.0;
        }
        let d = direction(angle);
        let distance = (dot(&d, x) - scale * (self.support)(&d)).max(0.0);
        out[0] = x[0] - distance * d[0];
        out[1] = x[1] - distance * d[1];
    }
}

impl<F> fmt::Debug for SetFromSupport<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SetFromSupport(R^{})", self.dimension)
    }
}

impl<F: Fn(&[f64]) -> f64 + Send + Sync> FrictionSet for SetFromSupport<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn support(&self, direction: &[f64]) -> f64 {
        (self.support)(direction)
    }

    fn support_point(&self, direction: &[f64], out: &mut [f64]) {
        if let Some(point) = &self.point {
            point(direction, out);
            return;
        }
        // Gradient of the support function, by central differences.
        let length = norm(direction);
        if length == 0.0 {
            out.fill(0.0);
            return;
        }
        let mut d: Vec<f64> = direction.iter().map(|x| x / length).collect();
        let step = 6e-6;
        for i in 0..self.dimension {
            let middle = d[i];
            d[i] = middle + step;
            let above = (self.support)(&d);
            d[i] = middle - step;
            let below = (self.support)(&d);
            d[i] = middle;
            out[i] = (above - below) / (2.0 * step);
        }
    }

    fn project(&self, point: &[f64], scale: f64, out: &mut [f64]) {
        if scale <= 0.0 {
            out.fill(0.0);
            return;
        }
        if self.dimension == 2 {
            return self.project_in_plane(point, scale, out);
        }
        nearest_point(point, out, |direction, vertex| {
            self.support_point(direction, vertex);
            vertex.iter_mut().for_each(|x| *x *= scale);
        });
    }
}
