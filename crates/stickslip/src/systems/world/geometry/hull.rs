//! Convex hulls as triangles, in coordinates in which thin clouds are as thick as wide.

use parry3d_f64::math::Vector as Point;
use parry3d_f64::transformation::try_convex_hull;

use super::shape::ShapeError;
use super::vector::{Vector, add, distance, dot, scale, sub};

/// Coordinates in which a cloud of points has the same spread in all directions.
pub(super) struct Isotropic {
    pub centre: Vector,
    /// Rows: principal directions times their spread.
    axes: [Vector; 3],
    spread: Vector,
}

impl Isotropic {
    pub fn of(points: &[Vector]) -> Self {
        let count = points.len() as f64;
        let sum = points.iter().fold([0.0; 3], |sum, &v| add(sum, v));
        let centre = scale(sum, 1.0 / count);
        let mut covariance = [[0.0; 3]; 3];
        for &p in points {
            let d = sub(p, centre);
            for i in 0..3 {
                for j in 0..3 {
                    covariance[i][j] += d[i] * d[j] / count;
                }
            }
        }
        let (squares, columns) = super::mass::principal_axes(covariance);
        let spread = squares.map(|s| s.max(0.0).sqrt());
        let axes = std::array::from_fn(|k| {
            let direction = [columns[0][k], columns[1][k], columns[2][k]];
            scale(direction, spread[k])
        });
        Self {
            centre,
            axes,
            spread,
        }
    }

    /// A point in these coordinates.
    pub fn point(&self, p: Vector) -> Vector {
        let d = sub(p, self.centre);
        std::array::from_fn(|k| dot(self.axes[k], d) / (self.spread[k] * self.spread[k]))
    }

    /// The covector of a normal in these coordinates.
    pub fn covector(&self, n: Vector) -> Vector {
        self.axes.map(|axis| dot(axis, n))
    }

    /// The point with these coordinates.
    pub fn back(&self, y: Vector) -> Vector {
        let mut p = self.centre;
        for (y, axis) in y.into_iter().zip(self.axes) {
            p = super::vector::along(p, y, axis);
        }
        p
    }
}

/// Hull as outward triangles, computed in coordinates of even spread; points that coincide are given once.
pub(super) fn triangulated_hull(
    points: &[Vector],
) -> Result<(Vec<Vector>, Vec<[u32; 3]>), ShapeError> {
    let even = Isotropic::of(points);
    let mut unique: Vec<(Vector, Vector)> = Vec::new();
    for &p in points {
        let y = even.point(p);
        if !unique.iter().any(|&(_, z)| distance(y, z) <= 1e-12) {
            unique.push((p, y));
        }
    }
    let given: Vec<Point> = unique
        .iter()
        .map(|(_, y)| Point::new(y[0], y[1], y[2]))
        .collect();
    let (vertices, triangles) =
        try_convex_hull(&given).map_err(|error| ShapeError::Hull(error.to_string()))?;
    // The points as they were given, not there and back.
    let nearest = |v: &Point| {
        let v = [v.x, v.y, v.z];
        let mut best = &unique[0];
        for candidate in &unique {
            if distance(candidate.1, v) < distance(best.1, v) {
                best = candidate;
            }
        }
        best.0
    };
    Ok((vertices.iter().map(nearest).collect(), triangles))
}
