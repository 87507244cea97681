//! Friction sections: the set of tangential impulses one unit of normal impulse can carry.
//!
//! # What it computes
//!
//! For a closed convex set D ∋ 0 of R^d: support function σ_D, support point, projection on r D,
//! gauge, membership. The reaction cone is K = {(p_n, p_t) : p_n ≥ 0, p_t ∈ p_n D}.
//!
//! | variant | D |
//! | --- | --- |
//! | `Disc` | \|s\| ≤ μ in R^d (d = 1: symmetric interval) |
//! | `Interval` | lower ≤ s ≤ upper; an end may be infinite |
//! | `Ellipse` | {E z : \|z\| ≤ 1}, E any 2 × 2 matrix: anisotropic friction |
//! | `Polytope` | convex hull of points |
//! | `Product` | D_1 × … × D_k: sliding with rolling and drilling friction |
//! | `Hull` | {Σ gauge_i(s_i) ≤ 1}: several material points that share one normal row |
//! | `General` | a user's set, by projection or by support function |
//!
//! # Source
//!
//! [Paoli2015], hypothesis (H3): D any closed convex set that contains 0. Product and ellipse:
//! rolling and anisotropic friction of [AcaryCollinsCraft2023]; hull: [CharlesBallard2016], 6.1.
//!
//! # Guarantees
//!
//! Constructors refuse sets without 0, negative or non-finite sizes, naming the value. Projections
//! of disc, interval, polygon and products of these are exact to rounding, ellipse and hull to
//! 1e-14 of the point.
//!
//! # Behaviour to know
//!
//! `scale` is the normal impulse; at scale 0 every section, also an unbounded one, is {0}.
//!
//! # Cost
//!
//! No allocation for disc, interval, ellipse, polygon and products of these.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use std::sync::Arc;

use super::{FrictionSet, Polytope, hull};
use crate::algebra::ball_quadratic::minimize_in_ball;
use crate::algebra::small_dense::{dot, norm};

#[cfg(test)]
mod tests;

use super::LawError;

/// Friction section D of one contact; cheap to clone.
///
/// ```
/// use stickslip::laws::FrictionSection;
///
/// // Twice as much friction across the grain as along it.
/// let wood = FrictionSection::ellipse([0.2, 0.4])?;
/// assert_eq!(wood.support(&[0.0, 3.0]), 1.2000000000000002);
/// let mut nearest = [0.0; 2];
/// wood.project(&[0.0, 5.0], 1.0, &mut nearest);
/// assert!((nearest[1] - 0.4).abs() < 1e-15);
/// # Ok::<(), stickslip::laws::LawError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub enum FrictionSection {
    /// No friction and no tangential rows.
    #[default]
    None,
    /// |s| ≤ mu in R^dimension.
    Disc {
        /// Coefficient μ ≥ 0.
        mu: f64,
        /// Number of tangential directions, at least 1.
        dimension: usize,
    },
    /// lower ≤ s ≤ upper with one tangential direction.
    Interval {
        /// Lower end, ≤ 0.
        lower: f64,
        /// Upper end, ≥ 0.
        upper: f64,
    },
    /// {E z : |z| ≤ 1} with two tangential directions.
    Ellipse {
        /// Rows of E.
        map: [[f64; 2]; 2],
    },
    /// `scale` times a convex hull of points.
    Polytope {
        /// The hull.
        polytope: Arc<Polytope>,
        /// Factor.
        scale: f64,
    },
    /// `scale` times the cartesian product of the factors.
    Product {
        /// The factors, in the order of the tangential rows.
        factors: Arc<[FrictionSection]>,
        /// Factor.
        scale: f64,
    },
    /// `scale` times {Σ gauge_i(s_i) ≤ 1}.
    Hull {
        /// The parts, in the order of the tangential rows.
        parts: Arc<[FrictionSection]>,
        /// Factor.
        scale: f64,
    },
    /// `scale` times a set of the user.
    General {
        /// The set.
        set: Arc<dyn FrictionSet>,
        /// Factor.
        scale: f64,
    },
}

/// Constructors.
impl FrictionSection {
    /// Coulomb friction with two tangential directions.
    pub fn disc(mu: f64) -> Result<Self, LawError> {
        Self::ball(mu, 2)
    }

    /// Coulomb friction with one tangential direction.
    pub fn segment(mu: f64) -> Result<Self, LawError> {
        Self::ball(mu, 1)
    }

    /// Coulomb friction with any number of tangential directions.
    pub fn ball(mu: f64, dimension: usize) -> Result<Self, LawError> {
        coefficient(mu)?;
        if dimension == 0 {
            return Err(LawError::EmptyPart { index: 0 });
        }
        Ok(FrictionSection::Disc { mu, dimension })
    }

    /// Friction that depends on the sense of sliding: lower ≤ 0 ≤ upper.
    pub fn interval(lower: f64, upper: f64) -> Result<Self, LawError> {
        if lower <= 0.0 && upper >= 0.0 {
            Ok(FrictionSection::Interval { lower, upper })
        } else {
            Err(LawError::Interval { lower, upper })
        }
    }

    /// Ellipse with semi-axes along the tangential directions.
    pub fn ellipse(semi_axes: [f64; 2]) -> Result<Self, LawError> {
        coefficient(semi_axes[0])?;
        coefficient(semi_axes[1])?;
        Ok(FrictionSection::Ellipse {
            map: [[semi_axes[0], 0.0], [0.0, semi_axes[1]]],
        })
    }

    /// The image of the unit disc under a matrix given by rows.
    pub fn ellipse_from_map(map: [[f64; 2]; 2]) -> Result<Self, LawError> {
        for (row, entries) in map.iter().enumerate() {
            for (column, &value) in entries.iter().enumerate() {
                if !value.is_finite() {
                    return Err(LawError::EllipseNotFinite { row, column, value });
                }
            }
        }
        Ok(FrictionSection::Ellipse { map })
    }

    /// Convex hull of points that contains 0.
    pub fn polytope(vertices: &[Vec<f64>]) -> Result<Self, LawError> {
        Ok(FrictionSection::Polytope {
            polytope: Arc::new(Polytope::new(vertices)?),
            scale: 1.0,
        })
    }

    /// Cartesian product: each factor bounds its own tangential rows by the same normal impulse.
    pub fn product(factors: Vec<FrictionSection>) -> Result<Self, LawError> {
        check_parts(&factors)?;
        Ok(FrictionSection::Product {
            factors: factors.into(),
            scale: 1.0,
        })
    }

    /// Joint section of several material points that share one normal row.
    pub fn hull(parts: Vec<FrictionSection>) -> Result<Self, LawError> {
        check_parts(&parts)?;
        Ok(FrictionSection::Hull {
            parts: parts.into(),
            scale: 1.0,
        })
    }

    /// A set of the user; refused if 0 is not its own projection.
    pub fn general(set: impl FrictionSet + 'static) -> Result<Self, LawError> {
        let section = FrictionSection::General {
            set: Arc::new(set),
            scale: 1.0,
        };
        section.validate()?;
        Ok(section)
    }

    /// Checks a section that was not built by a constructor.
    pub fn validate(&self) -> Result<(), LawError> {
        match self {
            FrictionSection::None => Ok(()),
            FrictionSection::Disc { mu, dimension } => Self::ball(*mu, *dimension).map(drop),
            FrictionSection::Interval { lower, upper } => Self::interval(*lower, *upper).map(drop),
            FrictionSection::Ellipse { map } => Self::ellipse_from_map(*map).map(drop),
            FrictionSection::Polytope { scale, .. } => coefficient(*scale),
            FrictionSection::Product {
                factors: parts,
                scale,
            }
            | FrictionSection::Hull { parts, scale } => {
                coefficient(*scale)?;
                check_parts(parts)
            }
            FrictionSection::General { set, scale } => {
                coefficient(*scale)?;
                let d = set.dimension();
                if d == 0 {
                    return Err(LawError::EmptyPart { index: 0 });
                }
                let mut nearest = vec![0.0; d];
                set.project(&vec![0.0; d], 1.0, &mut nearest);
                let distance = norm(&nearest);
                if distance <= 1e-9 {
                    Ok(())
                } else {
                    Err(LawError::OriginOutside { distance })
                }
            }
        }
    }
}

/// Geometry.
impl FrictionSection {
    /// Number of tangential directions d.
    #[inline]
    pub fn dimension(&self) -> usize {
        match self {
            FrictionSection::None => 0,
            FrictionSection::Disc { dimension, .. } => *dimension,
            FrictionSection::Interval { .. } => 1,
            FrictionSection::Ellipse { .. } => 2,
            FrictionSection::Polytope { polytope, .. } => polytope.dimension(),
            FrictionSection::Product { factors: parts, .. }
            | FrictionSection::Hull { parts, .. } => {
                parts.iter().map(FrictionSection::dimension).sum()
            }
            FrictionSection::General { set, .. } => set.dimension(),
        }
    }

    /// Ends of the section with one tangential direction, where they are known in closed form.
    #[inline]
    pub fn ends(&self) -> Option<(f64, f64)> {
        match self {
            FrictionSection::Disc { mu, dimension: 1 } => Some((-mu, *mu)),
            FrictionSection::Interval { lower, upper } => Some((*lower, *upper)),
            _ if self.dimension() == 1 => Some((-self.support(&[-1.0]), self.support(&[1.0]))),
            _ => None,
        }
    }

    /// sup {direction·s : s ∈ D}; infinite for a direction of recession.
    pub fn support(&self, direction: &[f64]) -> f64 {
        match self {
            FrictionSection::None => 0.0,
            FrictionSection::Disc { mu, .. } => mu * norm(direction),
            FrictionSection::Interval { lower, upper } => {
                let d = direction[0];
                // 0 times an infinite end is 0.
                if d > 0.0 {
                    upper * d
                } else if d < 0.0 {
                    lower * d
                } else {
                    0.0
                }
            }
            FrictionSection::Ellipse { map } => {
                let z = transposed(map, direction);
                z[0].hypot(z[1])
            }
            FrictionSection::Polytope { polytope, scale } => scale * polytope.support(direction),
            FrictionSection::Product { factors, scale } => scale_support(
                *scale,
                hull::each(factors, direction)
                    .map(|(f, d)| f.support(d))
                    .sum(),
            ),
            FrictionSection::Hull { parts, scale } => scale_support(
                *scale,
                hull::each(parts, direction)
                    .map(|(f, d)| f.support(d))
                    .fold(0.0, f64::max),
            ),
            FrictionSection::General { set, scale } => {
                scale_support(*scale, set.support(direction))
            }
        }
    }

    /// A point of D where the support is attained; meaningful only where the support is finite.
    pub fn support_point(&self, direction: &[f64], out: &mut [f64]) {
        match self {
            FrictionSection::None => {}
            FrictionSection::Disc { mu, .. } => {
                let length = norm(direction);
                let factor = if length > 0.0 { mu / length } else { 0.0 };
                out.iter_mut()
                    .zip(direction)
                    .for_each(|(o, d)| *o = factor * d);
            }
            FrictionSection::Interval { lower, upper } => {
                let d = direction[0];
                out[0] = if d > 0.0 {
                    *upper
                } else if d < 0.0 {
                    *lower
                } else {
                    0.0
                };
            }
            FrictionSection::Ellipse { map } => {
                let z = transposed(map, direction);
                let length = z[0].hypot(z[1]);
                let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
                for i in 0..2 {
                    out[i] = factor * dot(&map[i], &z);
                }
            }
            FrictionSection::Polytope { polytope, scale } => {
                polytope.support_point(direction, out);
                out.iter_mut().for_each(|x| *x *= scale);
            }
            FrictionSection::Product { factors, scale } => {
                let mut start = 0;
                for (factor, d) in hull::each(factors, direction) {
                    let end = start + d.len();
                    factor.support_point(d, &mut out[start..end]);
                    start = end;
                }
                out.iter_mut().for_each(|x| *x *= scale);
            }
            FrictionSection::Hull { parts, scale } => {
                out.fill(0.0);
                let (mut start, mut best, mut range) = (0, 0.0, 0..0);
                let mut chosen = None;
                for (part, d) in hull::each(parts, direction) {
                    let value = part.support(d);
                    if value > best {
                        best = value;
                        range = start..start + d.len();
                        chosen = Some((part, d));
                    }
                    start += d.len();
                }
                if let Some((part, d)) = chosen {
                    part.support_point(d, &mut out[range]);
                }
                out.iter_mut().for_each(|x| *x *= scale);
            }
            FrictionSection::General { set, scale } => {
                set.support_point(direction, out);
                out.iter_mut().for_each(|x| *x *= scale);
            }
        }
    }

    /// The point of `scale` D nearest to `point`.
    pub fn project(&self, point: &[f64], scale: f64, out: &mut [f64]) {
        if scale <= 0.0 {
            out.fill(0.0);
            return;
        }
        match self {
            FrictionSection::None => {}
            FrictionSection::Disc { mu, .. } => {
                let (radius, length) = (mu * scale, norm(point));
                let factor = if length > radius {
                    radius / length
                } else {
                    1.0
                };
                out.iter_mut().zip(point).for_each(|(o, x)| *o = factor * x);
            }
            FrictionSection::Interval { lower, upper } => {
                out[0] = point[0].clamp(scale * lower, scale * upper);
            }
            FrictionSection::Ellipse { map } => project_on_ellipse(map, point, scale, out),
            FrictionSection::Polytope {
                polytope,
                scale: own,
            } => polytope.project(point, scale * own, out),
            FrictionSection::Product {
                factors,
                scale: own,
            } => {
                let mut start = 0;
                for (factor, x) in hull::each(factors, point) {
                    let end = start + x.len();
                    factor.project(x, scale * own, &mut out[start..end]);
                    start = end;
                }
            }
            FrictionSection::Hull { parts, scale: own } => {
                hull::project(parts, point, scale * own, out)
            }
            FrictionSection::General { set, scale: own } => set.project(point, scale * own, out),
        }
    }

    /// Smallest a ≥ 0 with point ∈ a D; infinite if there is none.
    pub fn gauge(&self, point: &[f64]) -> f64 {
        let ratio = |x: f64, reach: f64| if x == 0.0 { 0.0 } else { x / reach };
        match self {
            FrictionSection::None => 0.0,
            FrictionSection::Disc { mu, .. } => ratio(norm(point), *mu),
            FrictionSection::Interval { lower, upper } => {
                ratio(point[0].abs(), if point[0] > 0.0 { *upper } else { -lower })
            }
            FrictionSection::Product { factors, scale } => ratio(
                hull::each(factors, point)
                    .map(|(f, x)| f.gauge(x))
                    .fold(0.0, f64::max),
                *scale,
            ),
            FrictionSection::Hull { parts, scale } => ratio(hull::gauge(parts, point), *scale),
            FrictionSection::Ellipse {
                map: [[a, b], [c, d]],
            } if a * d != b * c => {
                // |E⁻¹ x|.
                let x = [d * point[0] - b * point[1], a * point[1] - c * point[0]];
                x[0].hypot(x[1]) / (a * d - b * c).abs()
            }
            FrictionSection::Ellipse { .. }
            | FrictionSection::Polytope { .. }
            | FrictionSection::General { .. } => self.gauge_by_cuts(point),
        }
    }

    /// Whether point is within `tolerance` of `scale` D.
    pub fn contains(&self, point: &[f64], scale: f64, tolerance: f64) -> bool {
        self.distance(point, scale) <= tolerance
    }

    /// Euclidean distance of point to `scale` D.
    pub fn distance(&self, point: &[f64], scale: f64) -> f64 {
        let scale = scale.max(0.0);
        match self {
            FrictionSection::None => 0.0,
            FrictionSection::Disc { mu, .. } => (norm(point) - mu * scale).max(0.0),
            _ => {
                let mut stack = [0.0; 8];
                let mut heap;
                let nearest = if point.len() <= 8 {
                    &mut stack[..point.len()]
                } else {
                    heap = vec![0.0; point.len()];
                    &mut heap[..]
                };
                self.project(point, scale, nearest);
                nearest
                    .iter()
                    .zip(point)
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum::<f64>()
                    .sqrt()
            }
        }
    }

    /// `factor` times the section, factor ≥ 0; no allocation.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut section = self.clone();
        match &mut section {
            FrictionSection::None => {}
            FrictionSection::Disc { mu, .. } => *mu *= factor,
            FrictionSection::Interval { lower, upper } => {
                // 0 times an unbounded interval is {0}, as at normal impulse 0.
                *lower = -scale_support(factor, -*lower);
                *upper = scale_support(factor, *upper);
            }
            FrictionSection::Ellipse { map } => map.iter_mut().flatten().for_each(|x| *x *= factor),
            FrictionSection::Polytope { scale, .. }
            | FrictionSection::Product { scale, .. }
            | FrictionSection::Hull { scale, .. }
            | FrictionSection::General { scale, .. } => *scale *= factor,
        }
        section
    }

    /// Whether D = {0}, so that no tangential impulse is possible.
    pub fn is_frictionless(&self) -> bool {
        match self {
            FrictionSection::None => true,
            FrictionSection::Disc { mu, .. } => *mu == 0.0,
            FrictionSection::Interval { lower, upper } => *lower == 0.0 && *upper == 0.0,
            FrictionSection::Ellipse { map } => map.iter().flatten().all(|&x| x == 0.0),
            FrictionSection::Polytope { polytope, scale } => {
                *scale == 0.0 || polytope.vertices().flatten().all(|&x| x == 0.0)
            }
            FrictionSection::Product {
                factors: parts,
                scale,
            }
            | FrictionSection::Hull { parts, scale } => {
                *scale == 0.0 || parts.iter().all(FrictionSection::is_frictionless)
            }
            FrictionSection::General { scale, .. } => *scale == 0.0,
        }
    }

    /// Whether the support is finite along every coordinate, both ways.
    pub fn is_bounded(&self) -> bool {
        let d = self.dimension();
        let mut direction = vec![0.0; d];
        for i in 0..d {
            for sign in [1.0, -1.0] {
                direction[i] = sign;
                if self.support(&direction).is_infinite() {
                    return false;
                }
            }
            direction[i] = 0.0;
        }
        true
    }

    /// Gauge by cutting planes: every normal d of a D at x ∉ a D proves gauge ≥ d·x/σ(d).
    fn gauge_by_cuts(&self, point: &[f64]) -> f64 {
        let size = norm(point);
        if size == 0.0 {
            return 0.0;
        }
        let mut normal = point.to_vec();
        let mut gauge: f64 = 0.0;
        for _ in 0..100 {
            let support = self.support(&normal);
            let reach = dot(&normal, point);
            if support <= 1e-14 * reach / size.max(1.0) {
                return f64::INFINITY;
            }
            let next = reach / support;
            if next <= gauge * (1.0 + 2e-16) {
                break;
            }
            gauge = next;
            self.project(point, gauge, &mut normal);
            normal.iter_mut().zip(point).for_each(|(n, x)| *n = x - *n);
            if norm(&normal) <= 1e-15 * size {
                break;
            }
        }
        gauge
    }
}

/// `factor` times a support value, with 0 · ∞ = 0.
fn scale_support(factor: f64, value: f64) -> f64 {
    if factor == 0.0 { 0.0 } else { factor * value }
}

fn coefficient(value: f64) -> Result<(), LawError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(LawError::Coefficient { value })
    }
}

fn check_parts(parts: &[FrictionSection]) -> Result<(), LawError> {
    if parts.is_empty() {
        return Err(LawError::EmptyPart { index: 0 });
    }
    for (index, part) in parts.iter().enumerate() {
        part.validate()?;
        if part.dimension() == 0 {
            return Err(LawError::EmptyPart { index });
        }
    }
    Ok(())
}

/// Eᵀ d.
fn transposed(map: &[[f64; 2]; 2], d: &[f64]) -> [f64; 2] {
    [
        map[0][0] * d[0] + map[1][0] * d[1],
        map[0][1] * d[0] + map[1][1] * d[1],
    ]
}

/// Nearest point of {E z : |z| ≤ scale}: a quadratic in a ball.
fn project_on_ellipse(map: &[[f64; 2]; 2], x: &[f64], scale: f64, out: &mut [f64]) {
    let column = |j: usize| [map[0][j], map[1][j]];
    let mut a = [0.0; 4];
    for i in 0..2 {
        for j in 0..2 {
            a[2 * i + j] = dot(&column(i), &column(j));
        }
    }
    let minus = [-x[0], -x[1]];
    let b = transposed(map, &minus);
    let mut z = [0.0; 2];
    let nu = minimize_in_ball(&a, &b, scale, &mut z, &mut [0.0; 6]);
    let determinant = map[0][0] * map[1][1] - map[0][1] * map[1][0];
    if nu == 0.0 && determinant.abs() > 1e-7 * (a[0] + a[3]) {
        // Inside: the point itself, free of the rounding of E⁻¹.
        out[..2].copy_from_slice(&x[..2]);
    } else {
        for i in 0..2 {
            out[i] = dot(&map[i], &z);
        }
    }
}
