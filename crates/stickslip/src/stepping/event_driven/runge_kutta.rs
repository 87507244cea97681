//! Dormand and Prince's explicit pair of orders 5 and 4.

/// Nodes of the stages.
pub(super) const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

/// Rows of the tableau; the last one is also the solution of order 5.
pub(super) const A: [&[f64]; 7] = [
    &[],
    &[0.2],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
    ],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];

/// Difference of the two solutions.
pub(super) const E: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// Stages and end of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub k: [Vec<f64>; 7],
    pub y: Vec<f64>,
    stage: Vec<f64>,
}

impl Step {
    /// One step of length `h` from (t, y); `slope` writes the derivative. The first stage is taken
    /// from `k[0]`, which must hold the derivative at (t, y).
    pub fn take(
        &mut self,
        t: f64,
        y: &[f64],
        h: f64,
        mut slope: impl FnMut(f64, &[f64], &mut [f64]),
    ) {
        for k in &mut self.k {
            k.resize(y.len(), 0.0);
        }
        for i in 1..7 {
            self.stage.clear();
            self.stage.extend_from_slice(y);
            for (j, &a) in A[i].iter().enumerate() {
                if a != 0.0 {
                    for (s, k) in self.stage.iter_mut().zip(&self.k[j]) {
                        *s += h * a * k;
                    }
                }
            }
            slope(t + C[i] * h, &self.stage, &mut self.k[i]);
        }
        // the last stage sits at the end of the step
        self.y.clone_from(&self.stage);
    }

    /// Largest error estimate of the first entries in units of the tolerance, which is a part of their sizes.
    pub fn error(&self, sizes: &[f64], h: f64, tolerance: f64) -> f64 {
        let mut worst = 0.0f64;
        for (i, size) in sizes.iter().enumerate() {
            let mut e = 0.0;
            for (weight, k) in E.iter().zip(&self.k) {
                e += weight * k[i];
            }
            // What has no size yet has that of the step itself.
            let scale = tolerance * size.max(self.y[i].abs()).max(f64::MIN_POSITIVE / tolerance);
            let ratio = (h * e).abs() / scale;
            if !(ratio <= worst) {
                worst = ratio;
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quintics_are_integrated_exactly_and_the_order_is_five() {
        let mut step = Step::default();
        step.k[0] = vec![0.0];
        step.take(0.0, &[0.0], 2.0, |t, _, out| out[0] = 5.0 * t.powi(4));
        assert!((step.y[0] - 32.0).abs() < 1e-12);
        let error = |n: usize| {
            let h = 1.0 / n as f64;
            let mut y = vec![1.0];
            for i in 0..n {
                step.k[0] = vec![y[0]];
                step.take(i as f64 * h, &y.clone(), h, |_, y, out| out[0] = y[0]);
                y.clone_from(&step.y);
            }
            (y[0] - 1f64.exp()).abs()
        };
        let mut error = error;
        let (coarse, fine) = (error(8), error(16));
        assert!((coarse / fine).log2() > 4.7, "{coarse} {fine}");
    }
}
