//! Principal axes of a symmetric 2 × 2 matrix, graded entries and dependent rows included.

/// A = R diag(large, small) Rᵀ with R = [cos −sin; sin cos].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eigen2 {
    /// Larger eigenvalue.
    pub large: f64,
    /// Smaller eigenvalue, from the determinant: accurate when the rows differ by orders of magnitude.
    pub small: f64,
    /// Cosine of the axis of the larger eigenvalue.
    pub cos: f64,
    /// Sine of that axis.
    pub sin: f64,
}

impl Eigen2 {
    /// Decomposes [[a, off], [off, b]]; negative eigenvalues come from rounding and are set to 0.
    pub fn new(a: f64, off: f64, b: f64) -> Self {
        let half = 0.5 * (a - b);
        let radius = half.hypot(off);
        let (x, y) = if half >= 0.0 {
            (half + radius, off)
        } else {
            (off, radius - half)
        };
        let length = x.hypot(y);
        let (cos, sin) = if length > 0.0 {
            (x / length, y / length)
        } else {
            (1.0, 0.0)
        };
        let large = (0.5 * (a + b) + radius).max(0.0);
        let small = if large > 0.0 {
            ((a * b - off * off) / large).clamp(0.0, large)
        } else {
            0.0
        };
        Eigen2 {
            large,
            small,
            cos,
            sin,
        }
    }

    /// Coordinates along the axes.
    #[inline]
    pub fn to_axes(self, x: [f64; 2]) -> [f64; 2] {
        [
            self.cos * x[0] + self.sin * x[1],
            self.cos * x[1] - self.sin * x[0],
        ]
    }

    /// Back from the axes.
    #[inline]
    pub fn out_of_axes(&self, x: [f64; 2]) -> [f64; 2] {
        [
            self.cos * x[0] - self.sin * x[1],
            self.sin * x[0] + self.cos * x[1],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Eigen2;

    #[test]
    fn graded_matrix_keeps_its_small_eigenvalue() {
        let axes = Eigen2::new(1e6, 0.5, 1e-6);
        assert!((axes.large * axes.small - 0.75).abs() < 1e-12);
        let back = axes.out_of_axes(axes.to_axes([0.3, -0.7]));
        assert!((back[0] - 0.3).abs() < 1e-15 && (back[1] + 0.7).abs() < 1e-15);
    }
}
