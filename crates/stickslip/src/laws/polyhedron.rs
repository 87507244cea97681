//! Convex hull of points plus a cone of rays: polygons that may be unbounded.
//!
//! # What it computes
//!
//! C = conv V + cone R with 0 ∈ C: support, support point, nearest point.
//!
//! # Source
//!
//! Friction sets of [CharlesBallard2016] (unbounded ones included). The nearest point is the
//! quadratic program min ½|x − V b − R d|², b, d ≥ 0, Σ b ≤ scale, by Lemke's method
//! ([CottlePangStone1992]); Σ b ≤ scale suffices since 0 ∈ C.
//!
//! # Guarantees
//!
//! The nearest point is exact to rounding. A set without 0 is refused.
//!
//! # Behaviour to know
//!
//! `scale` multiplies the vertices only: a cone is its own multiple. At scale 0 the set is {0}.
//!
//! # Cost
//!
//! One linear complementarity problem of order |V| + |R| + 1 per projection.
//!
//! # Tested by
//!
//! `laws/polyhedron.rs`, `tests/property_generalized.rs`.

use super::{FrictionSet, LawError};
use crate::algebra::lcp::{LcpOutcome, solve_lcp};
use crate::algebra::small_dense::{dot, norm};

/// conv V + cone R, containing 0.
///
/// ```
/// use stickslip::laws::{FrictionSection, Polyhedron};
///
/// // A guide that holds sideways whatever the pressure, and along itself up to μ = 0.5.
/// let guide = Polyhedron::new(vec![vec![0.5, 0.0], vec![-0.5, 0.0]], vec![vec![0.0, 1.0], vec![0.0, -1.0]])?;
/// let section = FrictionSection::general(guide)?;
/// assert_eq!(section.support(&[2.0, 0.0]), 1.0);
/// assert_eq!(section.support(&[0.0, 1.0]), f64::INFINITY);
/// # Ok::<(), stickslip::laws::LawError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    dimension: usize,
    vertices: Vec<Vec<f64>>,
    rays: Vec<Vec<f64>>,
}

impl Polyhedron {
    /// The set with the given vertices (at least one) and rays, all with the same number of
    /// coordinates.
    pub fn new(vertices: Vec<Vec<f64>>, rays: Vec<Vec<f64>>) -> Result<Self, LawError> {
        let dimension = vertices.first().map_or(0, Vec::len);
        if dimension == 0 {
            return Err(LawError::NoVertices);
        }
        for (index, point) in vertices.iter().chain(&rays).enumerate() {
            if point.len() != dimension {
                return Err(LawError::VertexDimension {
                    index,
                    expected: dimension,
                    found: point.len(),
                });
            }
            if let Some(&value) = point.iter().find(|x| !x.is_finite()) {
                return Err(LawError::VertexNotFinite { index, value });
            }
        }
        let set = Self {
            dimension,
            vertices,
            rays,
        };
        // 0 must be its own nearest point; here with Σ b = 1 imposed by the far side.
        let distance = set.distance_of_origin();
        let size = set.vertices.iter().map(|v| norm(v)).fold(0.0, f64::max);
        if distance > 1e-9 * size {
            return Err(LawError::OriginOutside { distance });
        }
        Ok(set)
    }

    /// The vertices.
    pub fn vertices(&self) -> &[Vec<f64>] {
        &self.vertices
    }

    /// The rays.
    pub fn rays(&self) -> &[Vec<f64>] {
        &self.rays
    }

    /// Distance from 0 to conv V + cone R: nearest point relative to the first vertex.
    fn distance_of_origin(&self) -> f64 {
        let base = &self.vertices[0];
        let shifted: Vec<Vec<f64>> = self
            .vertices
            .iter()
            .map(|v| v.iter().zip(base).map(|(v, b)| v - b).collect())
            .collect();
        let target: Vec<f64> = base.iter().map(|b| -b).collect();
        let mut nearest = vec![0.0; self.dimension];
        nearest_in(&shifted, &self.rays, &target, 1.0, &mut nearest);
        let gap: Vec<f64> = nearest.iter().zip(&target).map(|(a, b)| a - b).collect();
        norm(&gap)
    }
}

/// Nearest point of {V b + R d : b, d ≥ 0, Σ b ≤ scale}.
fn nearest_in(
    vertices: &[Vec<f64>],
    rays: &[Vec<f64>],
    point: &[f64],
    scale: f64,
    out: &mut [f64],
) {
    let k = vertices.len();
    let generators: Vec<&[f64]> = vertices.iter().chain(rays).map(Vec::as_slice).collect();
    let n = generators.len() + 1;
    let mut matrix = vec![0.0; n * n];
    let mut rhs = vec![0.0; n];
    for (i, a) in generators.iter().enumerate() {
        for (j, b) in generators.iter().enumerate() {
            matrix[i * n + j] = dot(a, b);
        }
        rhs[i] = -dot(a, point);
        if i < k {
            matrix[i * n + n - 1] = 1.0;
            matrix[(n - 1) * n + i] = -1.0;
        }
    }
    rhs[n - 1] = scale;
    let mut z = vec![0.0; n];
    let outcome = solve_lcp(&matrix, &rhs, &mut z);
    debug_assert_eq!(
        outcome,
        LcpOutcome::Solved,
        "a convex program with the feasible point 0"
    );
    out.fill(0.0);
    for (generator, weight) in generators.iter().zip(&z) {
        for (o, g) in out.iter_mut().zip(*generator) {
            *o += weight * g;
        }
    }
}

impl FrictionSet for Polyhedron {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn support(&self, direction: &[f64]) -> f64 {
        let size = norm(direction);
        if self
            .rays
            .iter()
            .any(|ray| dot(ray, direction) > 1e-14 * size * norm(ray))
        {
            return f64::INFINITY;
        }
        self.vertices
            .iter()
            .map(|v| dot(v, direction))
            .fold(0.0, f64::max)
    }

    fn support_point(&self, direction: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut best = 0.0;
        for vertex in &self.vertices {
            let value = dot(vertex, direction);
            if value > best {
                best = value;
                out.copy_from_slice(vertex);
            }
        }
    }

    fn project(&self, point: &[f64], scale: f64, out: &mut [f64]) {
        if scale <= 0.0 {
            out.fill(0.0);
        } else {
            nearest_in(&self.vertices, &self.rays, point, scale, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_points_of_a_half_strip() {
        let set = Polyhedron::new(
            vec![vec![-0.5, -1.0], vec![-0.5, 1.0]],
            vec![vec![1.0, 0.0]],
        )
        .unwrap();
        let mut out = [0.0; 2];
        for (point, scale, expected) in [
            ([-3.0, 0.2], 1.0, [-0.5, 0.2]),
            ([40.0, 5.0], 1.0, [40.0, 1.0]),
            ([40.0, 5.0], 0.5, [40.0, 0.5]),
            ([0.1, 0.1], 1.0, [0.1, 0.1]),
        ] {
            set.project(&point, scale, &mut out);
            assert!(
                (out[0] - expected[0]).abs() < 1e-13 && (out[1] - expected[1]).abs() < 1e-13,
                "{point:?}: {out:?}"
            );
        }
        assert_eq!(set.support(&[1.0, 0.0]), f64::INFINITY);
        assert_eq!(set.support(&[-1.0, 0.0]), 0.5);
        assert_eq!(set.support(&[0.0, -2.0]), 2.0);
    }

    #[test]
    fn a_set_without_zero_is_refused() {
        let refused = Polyhedron::new(vec![vec![1.0, 0.0]], vec![vec![1.0, 1.0]]);
        assert!(matches!(refused, Err(LawError::OriginOutside { .. })));
    }
}
