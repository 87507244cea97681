//! Friction sets C*_q of the generalized law, and the unit of normal reaction they are measured per.
//!
//! # What it computes
//!
//! With dφ the normal row of a constraint, tᵢ its tangent rows, W = HᵀM⁻¹H, cᵢ = W_nᵢ/W_nn, the covectors
//! Rᵢ = tᵢ − cᵢ dφ are kinetically orthogonal to dφ: an impulse along them never changes the normal
//! velocity. In the coordinates s of r_t = Σ sᵢ Rᵢ every set met here is
//!
//! `C* = {s : g_D(s) + c·s ≤ 1}`, g_D the gauge of a section D ∋ 0, c the *tilt*:
//!
//! * built from Coulomb cones with section D: the tilt is W_nt/W_nn, since a kinetic normal impulse
//!   λ leaves the real normal impulse p_n = λ − c·s and friction asks s ∈ p_n D. Several material
//!   points that share the normal row are one section [`FrictionSection::Hull`];
//! * given by the user: the tilt is 0 and C* = D, an interval (ends may be infinite), ellipse,
//!   polygon with rays ([`super::Polyhedron`]), projection or support function.
//!
//! Support by conic duality, without building the set: `S(w) = min {t ≥ 0 : σ_D(w − t c) ≤ t}`, infinite if
//! there is no such t. C* is bounded exactly when `γ/W_nn = 1 − σ_D(−c) > 0`.
//!
//! # Source
//!
//! [CharlesBallard2016], 6.1 and 6.2; duality: [Rockafellar1970]. The gauge form is ours: it holds in
//! the plane, in space and for any number of points.
//!
//! # Guarantees
//!
//! Sets per unit of dφ and per unit of n* = dφ/‖dφ‖* are different types; only
//! [`GeneralizedSet::per_unit_normal`] and [`GeneralizedSet::per_gradient`] turn one into the other.
//!
//! # Behaviour to know
//!
//! `1 − σ_D(−c) ≤ 1e-12` counts as unbounded: at the critical coefficient the difference is rounding
//! and must not become a finite end of 1e16. `0 · C* = {0}` even where C* is unbounded: the jump between
//! grazing and firm contact.
//!
//! # Cost
//!
//! Support: closed form for intervals and discs, some ten support points of D otherwise.
//!
//! # Tested by
//!
//! `laws/generalized_set/tests.rs`, `tests/property_generalized.rs`.

use std::marker::PhantomData;

use super::FrictionSection;
use crate::algebra::small_dense::{dot, norm};

#[cfg(test)]
mod tests;

/// Below this part of W_nn a margin to the Painlevé region counts as zero: the set is unbounded.
pub const CRITICAL: f64 = 1e-12;

/// Unit: per multiplier of the normal row dφ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerGradient;

/// Unit: per multiplier of the unit normal covector n* = dφ/‖dφ‖*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerUnitNormal;

/// A friction set C*_q in the coordinates s of its covectors R; see the module page.
#[derive(Clone, Debug)]
pub struct GeneralizedSet<Unit> {
    section: FrictionSection,
    tilt: Vec<f64>,
    unit: PhantomData<Unit>,
}

/// A piece of a set with one tangential direction or of a polyhedral one.
#[derive(Clone, Debug, PartialEq)]
pub enum SetGeometry {
    /// {s : lower ≤ s ≤ upper}.
    Interval {
        /// Lower end, −∞ if unbounded.
        lower: f64,
        /// Upper end, +∞ if unbounded.
        upper: f64,
    },
    /// Convex hull of the vertices plus the cone of the rays.
    Polyhedron {
        /// Vertices.
        vertices: Vec<Vec<f64>>,
        /// Directions of recession.
        rays: Vec<Vec<f64>>,
    },
    /// Region bounded by a conic: ellipse (margin > 0), parabola (0), branch of a hyperbola (< 0).
    Conic {
        /// 1 − σ_D(−c).
        margin: f64,
    },
    /// Known only by its support function and projection.
    Implicit,
}

impl<Unit> GeneralizedSet<Unit> {
    fn new(section: FrictionSection, tilt: Vec<f64>) -> Self {
        assert_eq!(
            section.dimension(),
            tilt.len(),
            "the tilt has one entry per tangential direction"
        );
        Self {
            section,
            tilt,
            unit: PhantomData,
        }
    }

    /// Set given by the user, in this unit; any closed convex section that contains 0.
    pub fn given(section: FrictionSection) -> Self {
        let tilt = vec![0.0; section.dimension()];
        Self::new(section, tilt)
    }

    /// Number of tangential directions.
    pub fn dimension(&self) -> usize {
        self.tilt.len()
    }

    /// The section D.
    pub fn section(&self) -> &FrictionSection {
        &self.section
    }

    /// The tilt c.
    pub fn tilt(&self) -> &[f64] {
        &self.tilt
    }

    /// 1 − σ_D(−c): positive exactly when the set is bounded and D is; −∞ for an unbounded D.
    pub fn margin(&self) -> f64 {
        let minus: Vec<f64> = self.tilt.iter().map(|c| -c).collect();
        1.0 - self.section.support(&minus)
    }

    /// Whether the set is bounded.
    pub fn is_bounded(&self) -> bool {
        self.section.is_bounded() && self.margin() > CRITICAL
    }

    /// Ends of a set with one tangential direction.
    pub fn ends(&self) -> Option<(f64, f64)> {
        if self.dimension() != 1 {
            return None;
        }
        let (lower, upper) = self.section.ends()?;
        let c = self.tilt[0];
        // s ≤ upper (1 − c s); 1/upper + c → c for an infinite end.
        let end = |slope: f64| {
            if slope == 0.0 {
                return 0.0;
            }
            let reach = 1.0 / slope + c;
            if reach * slope.signum() <= CRITICAL / slope.abs() {
                f64::INFINITY.copysign(slope)
            } else {
                1.0 / reach
            }
        };
        Some((end(lower), end(upper)))
    }

    /// sup {w·s : s ∈ C*}, by conic duality.
    pub fn support(&self, w: &[f64]) -> f64 {
        if let Some((lower, upper)) = self.ends() {
            return match w[0] {
                x if x > 0.0 => upper * x,
                x if x < 0.0 => lower * x,
                _ => 0.0,
            };
        }
        if w.iter().all(|&x| x == 0.0) {
            return 0.0;
        }
        if self.tilt.iter().all(|&c| c == 0.0) {
            return self.section.support(w);
        }
        if let FrictionSection::Disc { mu, .. } = self.section {
            return self.support_of_disc(mu, w);
        }
        self.support_by_newton(w)
    }

    /// Least t ≥ 0 with μ|w − t c| ≤ t.
    fn support_of_disc(&self, mu: f64, w: &[f64]) -> f64 {
        let c = &self.tilt;
        let (ww, wc, cc) = (dot(w, w), dot(w, c), dot(c, c));
        // (1 − μ²c²) t² + 2μ² w·c t − μ² w² ≥ 0, t ≥ 0: the smaller t with equality on the branch.
        let leading = 1.0 - mu * mu * cc;
        let (half, last) = (mu * mu * wc, mu * mu * ww);
        if leading > CRITICAL {
            let root = (half * half + leading * last).sqrt();
            // The positive root, without cancellation.
            return if half > 0.0 {
                last / (half + root)
            } else {
                (root - half) / leading
            };
        }
        // Parabola or hyperbola: a t exists only for w·c > 0 and a real root.
        if leading.abs() <= CRITICAL {
            return if wc > 0.0 && half > CRITICAL * last {
                last / (2.0 * half)
            } else {
                f64::INFINITY
            };
        }
        let discriminant = half * half + leading * last;
        if half <= 0.0 || discriminant < 0.0 {
            return f64::INFINITY;
        }
        last / (half + discriminant.sqrt())
    }

    /// Newton from the left on the convex function σ_D(w − t c) − t.
    fn support_by_newton(&self, w: &[f64]) -> f64 {
        let d = self.dimension();
        let mut argument = w.to_vec();
        let mut point = vec![0.0; d];
        let size = norm(w);
        let mut t = 0.0;
        for _ in 0..200 {
            for i in 0..d {
                argument[i] = w[i] - t * self.tilt[i];
            }
            let value = self.section.support(&argument) - t;
            if value.is_infinite() {
                return f64::INFINITY;
            }
            if value <= 4.0 * f64::EPSILON * (t + size) {
                return t;
            }
            self.section.support_point(&argument, &mut point);
            let slope = -dot(&self.tilt, &point) - 1.0;
            if slope >= -CRITICAL {
                return f64::INFINITY;
            }
            let next = t - value / slope;
            if next <= t {
                return t;
            }
            t = next;
        }
        t
    }

    /// Whether −C* lets a firm contact keep the velocity w: w ∈ −cl D(S).
    pub fn allows(&self, w: &[f64]) -> bool {
        let minus: Vec<f64> = w.iter().map(|x| -x).collect();
        self.support(&minus).is_finite()
    }

    /// g_D(s) + c·s − scale: nonpositive inside `scale` C*, in units of normal impulse.
    pub fn excess(&self, s: &[f64], scale: f64) -> f64 {
        if scale <= 0.0 {
            return norm(s);
        }
        self.section.gauge(s) + dot(&self.tilt, s) - scale
    }

    /// Whether s is in `scale` C* up to `tolerance` (in units of normal impulse).
    pub fn contains(&self, s: &[f64], scale: f64, tolerance: f64) -> bool {
        self.excess(s, scale) <= tolerance
    }

    /// What the set looks like: ends, vertices and rays, or the kind of conic.
    pub fn geometry(&self) -> SetGeometry {
        if let Some((lower, upper)) = self.ends() {
            return SetGeometry::Interval { lower, upper };
        }
        if let Some(generators) = self.generators() {
            return self.polyhedron(&generators);
        }
        match self.section {
            FrictionSection::Disc { .. } | FrictionSection::Ellipse { .. } => SetGeometry::Conic {
                margin: self.margin(),
            },
            _ => SetGeometry::Implicit,
        }
    }

    /// Points d of a polyhedral D, such that the cone is generated by the (1, d).
    fn generators(&self) -> Option<Vec<Vec<f64>>> {
        match &self.section {
            FrictionSection::Polytope { polytope, scale } => Some(
                polytope
                    .vertices()
                    .map(|v| v.iter().map(|x| scale * x).collect())
                    .collect(),
            ),
            FrictionSection::Hull { parts, scale } => {
                // Every point alone carries the unit of normal impulse.
                let d = self.dimension();
                let mut all = Vec::new();
                let mut start = 0;
                for part in parts.iter() {
                    let (lower, upper) = part.ends().filter(|_| part.dimension() == 1)?;
                    for end in [lower, upper] {
                        let mut generator = vec![0.0; d];
                        generator[start] = scale * end;
                        all.push(generator);
                    }
                    start += 1;
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// Vertices d/(1 + c·d) and rays of the slice of the cone generated by the (1, d).
    fn polyhedron(&self, generators: &[Vec<f64>]) -> SetGeometry {
        let reach: Vec<f64> = generators
            .iter()
            .map(|d| {
                let value = 1.0 + dot(&self.tilt, d);
                if value.abs() <= CRITICAL { 0.0 } else { value }
            })
            .collect();
        let mut vertices = Vec::new();
        let mut rays = Vec::new();
        for (d, &g) in generators.iter().zip(&reach) {
            if g > 0.0 {
                vertices.push(d.iter().map(|x| x / g).collect());
            } else if g == 0.0 {
                rays.push(d.clone());
            }
        }
        // A pair on both sides of the slice meets the plane at infinity.
        for (a, &ga) in generators.iter().zip(&reach).filter(|(_, g)| **g > 0.0) {
            for (b, &gb) in generators.iter().zip(&reach).filter(|(_, g)| **g < 0.0) {
                rays.push(a.iter().zip(b).map(|(a, b)| ga * b - gb * a).collect());
            }
        }
        SetGeometry::Polyhedron { vertices, rays }
    }

    /// `factor` times the set.
    fn times(&self, factor: f64) -> (FrictionSection, Vec<f64>) {
        (
            self.section.scaled(factor),
            self.tilt.iter().map(|c| c / factor).collect(),
        )
    }
}

impl GeneralizedSet<PerGradient> {
    /// Set of a Coulomb cone with section D, from the row-major block W of the contact, normal
    /// first ([CharlesBallard2016], 6.1). A coupling of rounding is none: it would bound an unbounded section, at a place that the
    /// units tell.
    pub fn from_cone(w: &[f64], section: FrictionSection) -> Self {
        let m = 1 + section.dimension();
        assert_eq!(w.len(), m * m, "W has one row per direction");
        let coupled = |i: usize| w[i].abs() > CRITICAL * (w[0] * w[i * m + i]).sqrt();
        let tilt = |i: usize| if coupled(i) { w[i] / w[0] } else { 0.0 };
        let tilt = (1..m).map(tilt).collect();
        Self::new(section, tilt)
    }

    /// The same set per unit of n*; `gradient_norm` is ‖dφ‖* = √W_nn.
    pub fn per_unit_normal(&self, gradient_norm: f64) -> GeneralizedSet<PerUnitNormal> {
        let (section, tilt) = self.times(1.0 / gradient_norm);
        GeneralizedSet::new(section, tilt)
    }
}

impl GeneralizedSet<PerUnitNormal> {
    /// The same set per unit of dφ; `gradient_norm` is ‖dφ‖* = √W_nn.
    pub fn per_gradient(&self, gradient_norm: f64) -> GeneralizedSet<PerGradient> {
        let (section, tilt) = self.times(gradient_norm);
        GeneralizedSet::new(section, tilt)
    }
}
