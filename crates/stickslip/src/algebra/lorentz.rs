//! Lorentz cones x₀ ≥ |x₁| of any dimension and half-lines: projection, ways to the boundary, the scaling of Nesterov and Todd.

use super::small_dense::{dot, norm};

/// (x₀ − |x₁|)(x₀ + |x₁|): the factored form does not cancel.
fn determinant(x: &[f64]) -> f64 {
    let t = norm(&x[1..]);
    (x[0] - t) * (x[0] + t)
}

/// Projects on the cone.
pub(super) fn project(x: &mut [f64]) {
    let t = norm(&x[1..]);
    if x.len() == 1 || x[0] <= -t {
        x[0] = x[0].max(0.0);
        x[1..].fill(0.0);
    } else if x[0] < t {
        let half = 0.5 * (x[0] + t);
        x[0] = half;
        x[1..].iter_mut().for_each(|x| *x *= half / t);
    }
}

/// Derivative of the projection, row-major; on an edge between two pieces that of one of them.
pub(super) fn projection_slope(x: &[f64]) -> Vec<f64> {
    let d = x.len();
    let t = norm(&x[1..]);
    let mut slope = vec![0.0; d * d];
    if x[0] >= t {
        (0..d).for_each(|i| slope[i * d + i] = 1.0);
        return slope;
    }
    if d == 1 || x[0] <= -t {
        return slope;
    }
    // ½ (1, e; eᵀ, (1 + x₀/t) I − x₀/t e eᵀ) with e = x₁/t
    let ratio = x[0] / t;
    slope[0] = 0.5;
    for i in 1..d {
        slope[i] = 0.5 * x[i] / t;
        slope[i * d] = slope[i];
        for j in 1..d {
            slope[i * d + j] = -0.5 * ratio * (x[i] / t) * (x[j] / t);
        }
        slope[i * d + i] += 0.5 * (1.0 + ratio);
    }
    slope
}

/// Largest step from x along d inside the cone.
pub(super) fn to_boundary(x: &[f64], d: &[f64]) -> f64 {
    let mut step = f64::INFINITY;
    if x.len() > 1 {
        let a = d[0] * d[0] - dot(&d[1..], &d[1..]);
        let b = x[0] * d[0] - dot(&x[1..], &d[1..]);
        let c = determinant(x).max(0.0);
        // a α² + 2 b α + c = 0, smallest positive root; and the axis must stay positive.
        let discriminant = b * b - a * c;
        if a < 0.0 || (b < 0.0 && discriminant >= 0.0) {
            let denominator = discriminant.max(0.0).sqrt() - b;
            if denominator > 0.0 {
                step = c / denominator;
            }
        }
    }
    if d[0] < 0.0 {
        step = step.min(-x[0] / d[0]);
    }
    step
}

/// x∘y = (x·y, x₀ y₁ + y₀ x₁).
fn jordan(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut out = vec![dot(x, y)];
    out.extend((1..x.len()).map(|i| x[0] * y[i] + y[0] * x[i]));
    out
}

/// The map V = η (2 w w' …)½ with V x = V⁻¹ y = λ, for x and y inside the cone.
pub(super) struct Scaling {
    w: Vec<f64>,
    eta: f64,
    /// λ.
    middle: Vec<f64>,
}

impl Scaling {
    pub fn of(x: &[f64], y: &[f64]) -> Self {
        let d = x.len();
        let mut scaling = if d == 1 {
            Self {
                w: vec![1.0],
                eta: (y[0] / x[0]).sqrt(),
                middle: vec![0.0],
            }
        } else {
            let (dx, dy) = (determinant(x).sqrt(), determinant(y).sqrt());
            let cosine = dot(x, y) / (dx * dy);
            let gamma = (0.5 * (1.0 + cosine)).sqrt();
            let w = (0..d).map(|i| {
                let sign = if i == 0 { 1.0 } else { -1.0 };
                (y[i] / dy + sign * x[i] / dx) / (2.0 * gamma)
            });
            Self {
                w: w.collect(),
                eta: (dy / dx).sqrt(),
                middle: vec![0.0; d],
            }
        };
        let mut middle = vec![0.0; d];
        scaling.apply(x, &mut middle);
        scaling.middle = middle;
        scaling
    }

    pub fn is_finite(&self) -> bool {
        self.eta > 0.0 && self.eta.is_finite() && self.middle.iter().all(|x| x.is_finite())
    }

    /// Smallest eigenvalue of λ.
    pub fn least(&self) -> f64 {
        self.middle[0] - norm(&self.middle[1..])
    }

    /// V x.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        self.map(x, 1.0, self.eta, out);
    }

    /// V⁻¹ x.
    fn unapply(&self, x: &[f64], out: &mut [f64]) {
        self.map(x, -1.0, 1.0 / self.eta, out);
    }

    fn map(&self, x: &[f64], sign: f64, eta: f64, out: &mut [f64]) {
        let w = &self.w;
        let along = dot(&w[1..], &x[1..]);
        out[0] = eta * (w[0] * x[0] + sign * along);
        let factor = sign * x[0] + along / (1.0 + w[0]);
        for i in 1..x.len() {
            out[i] = eta * (x[i] + factor * w[i]);
        }
    }

    /// Adds V² = η² (2 w wᵀ − J) to a matrix of order m, from row and column `at` on.
    pub fn add_square(&self, matrix: &mut [f64], m: usize, at: usize) {
        let square = self.eta * self.eta;
        for i in 0..self.w.len() {
            for j in 0..self.w.len() {
                matrix[(at + i) * m + at + j] += square * 2.0 * self.w[i] * self.w[j];
            }
            let sign = if i == 0 { 1.0 } else { -1.0 };
            matrix[(at + i) * m + at + i] -= square * sign;
        }
    }

    /// Subtracts V² x.
    pub fn subtract_square(&self, x: &[f64], out: &mut [f64]) {
        let (mut once, mut twice) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        self.apply(x, &mut once);
        self.apply(&once, &mut twice);
        out.iter_mut().zip(&twice).for_each(|(o, t)| *o -= t);
    }

    /// What V dx + V⁻¹ dy has to be for x∘y to vanish: −λ.
    pub fn towards(&self, out: &mut [f64]) {
        out.iter_mut().zip(&self.middle).for_each(|(o, m)| *o = -m);
    }

    /// The same for x∘y = `left` times the unit, less a part of the second order of a predicted step:
    /// λ∘(…) = −λ∘λ − weight (V⁻¹dy)∘(V dx) + left e.
    pub fn corrected(&self, (dx, dy, weight): (&[f64], &[f64], f64), left: f64, out: &mut [f64]) {
        let d = dx.len();
        let (mut a, mut b) = (vec![0.0; d], vec![0.0; d]);
        self.apply(dx, &mut a);
        self.unapply(dy, &mut b);
        let second = jordan(&a, &b);
        let mut r: Vec<f64> = jordan(&self.middle, &self.middle);
        r.iter_mut()
            .zip(&second)
            .for_each(|(r, s)| *r = -*r - weight * s);
        r[0] += left;
        // l∘out = r
        let l = &self.middle;
        if d == 1 {
            out[0] = r[0] / l[0];
            return;
        }
        out[0] = (l[0] * r[0] - dot(&l[1..], &r[1..])) / determinant(l);
        for i in 1..d {
            out[i] = (r[i] - l[i] * out[0]) / l[0];
        }
    }
}
