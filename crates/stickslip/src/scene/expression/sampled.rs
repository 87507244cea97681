//! A function given by samples, as expressions call it.
//!
//! # What it computes
//! Between samples (x_k, y_k) with increasing x either the straight line or the natural cubic spline (twice continuously
//! differentiable, second derivative zero at both ends), and the derivatives of that function.
//!
//! # Behaviour to know
//! Outside of the samples there is no function: the value is NaN, which stops a run, unless the ends are held. A billionth of
//! the whole range is allowed beyond the ends, for times that are sums.
//!
//! # Cost
//! One binary search per value.

/// How samples are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// Straight lines.
    Linear,
    /// Natural cubic spline.
    Cubic,
}

/// What holds outside of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Nothing: the value is NaN.
    Nothing,
    /// The value of the nearest sample.
    Hold,
}

/// A sampled function.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledFunction {
    x: Vec<f64>,
    /// Value and divided derivatives at the left end of each piece: y = c0 + d (c1 + d (c2 + d c3)).
    pieces: Vec<[f64; 4]>,
    last: f64,
    joining: Joining,
    beyond: Beyond,
}

impl SampledFunction {
    /// A function through samples with increasing finite x, at least two of them; none if they are not.
    #[must_use]
    pub fn new(x: Vec<f64>, y: &[f64], joining: Joining, beyond: Beyond) -> Option<Self> {
        let increasing = x.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = x.iter().chain(y).all(|value| value.is_finite());
        let (&last, true) = (y.last()?, x.len() >= 2 && x.len() == y.len()) else {
            return None;
        };
        if !(increasing && finite) {
            return None;
        }
        let curvature = match joining {
            Joining::Linear => vec![0.0; x.len()],
            Joining::Cubic => curvatures(&x, y),
        };
        let piece = |k: usize| {
            let (h, m0, m1) = (x[k + 1] - x[k], curvature[k], curvature[k + 1]);
            let slope = (y[k + 1] - y[k]) / h - h * (2.0 * m0 + m1) / 6.0;
            [y[k], slope, 0.5 * m0, (m1 - m0) / (6.0 * h)]
        };
        let pieces = (0..x.len() - 1).map(piece).collect();
        Some(Self {
            x,
            pieces,
            last,
            joining,
            beyond,
        })
    }

    /// Degree of the pieces: derivatives of higher order vanish.
    #[must_use]
    pub fn degree(&self) -> u8 {
        match self.joining {
            Joining::Linear => 1,
            Joining::Cubic => 3,
        }
    }

    /// First and last x.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        // There are at least two samples.
        (self.x[0], self.x[self.x.len() - 1])
    }

    /// Where the derivative after that of this order jumps.
    #[must_use]
    pub fn breaks(&self, order: u8) -> Vec<f64> {
        let (low, high) = self.range();
        match (self.degree(), self.is_held()) {
            (degree, _) if order + 1 >= degree => self.x.clone(),
            (_, true) => vec![low, high],
            (_, false) => Vec::new(),
        }
    }

    /// Where a derivative jumps, with its values before, at and after the place.
    #[must_use]
    pub fn jumps(&self, order: u8) -> Vec<(f64, [f64; 3])> {
        let count = self.x.len();
        let around = |k: usize| {
            let before = match k {
                0 => self.beyond(order)?,
                _ => self.piece(order, k - 1, self.x[k] - self.x[k - 1]),
            };
            let after = match k + 1 == count {
                true => self.beyond(order)?,
                false => self.piece(order, k, 0.0),
            };
            Some((before, after))
        };
        let sides = (0..count).filter_map(|k| {
            let (before, after) = around(k)?;
            (before != after).then(|| (self.x[k], [before, self.value(order, self.x[k]), after]))
        });
        sides.collect()
    }

    /// A derivative beyond the ends, where there is one.
    fn beyond(&self, order: u8) -> Option<f64> {
        (self.beyond == Beyond::Hold && order > 0).then_some(0.0)
    }

    /// Smallest and largest value of the derivative of some order (0: the value).
    #[must_use]
    pub fn bounds(&self, order: u8) -> [f64; 2] {
        let mut bounds = match self.beyond(order) {
            Some(value) => [value; 2],
            None => [f64::INFINITY, f64::NEG_INFINITY],
        };
        for k in 0..self.pieces.len() {
            let width = self.x[k + 1] - self.x[k];
            // The next derivative is a parabola at most: its zeros are the turning points.
            let [slope, bend] = [1, 2].map(|more| self.piece(order + more, k, 0.0));
            let third = self.piece(order + 3, k, 0.0);
            let turns = roots_of_parabola(0.5 * third, bend, slope);
            let inside = turns.into_iter().filter(|d| (0.0..=width).contains(d));
            for d in inside.chain([0.0, width]) {
                let value = self.piece(order, k, d);
                bounds = [bounds[0].min(value), bounds[1].max(value)];
            }
        }
        bounds
    }

    /// Whether the function has a value everywhere.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.beyond == Beyond::Hold
    }

    /// The derivative of some order (0: the value) at x.
    #[must_use]
    pub fn value(&self, order: u8, x: f64) -> f64 {
        let (low, high) = self.range();
        if !(x >= low && x <= high) {
            if self.beyond == Beyond::Hold && !x.is_nan() {
                let end = if x < low {
                    self.pieces[0][0]
                } else {
                    self.last
                };
                return if order == 0 { end } else { 0.0 };
            }
            let slack = 1e-9 * (high - low);
            if !(x >= low - slack && x <= high + slack) {
                return f64::NAN;
            }
        }
        let k = self.x.partition_point(|&left| left <= x);
        let k = k.saturating_sub(1).min(self.pieces.len() - 1);
        self.piece(order, k, x - self.x[k])
    }

    /// A derivative of piece k at a distance from its left end.
    fn piece(&self, order: u8, k: usize, d: f64) -> f64 {
        let [c0, c1, c2, c3] = self.pieces[k];
        match order {
            0 => c0 + d * (c1 + d * (c2 + d * c3)),
            1 => c1 + d * (2.0 * c2 + d * 3.0 * c3),
            2 => 2.0 * c2 + 6.0 * c3 * d,
            3 => 6.0 * c3,
            _ => 0.0,
        }
    }
}

/// Real zeros of a d² + b d + c; none where a and b vanish.
fn roots_of_parabola(a: f64, b: f64, c: f64) -> Vec<f64> {
    let root = (b * b - 4.0 * a * c).sqrt();
    let sum = -0.5 * (b + root.copysign(b));
    let zeros = [sum / a, c / sum];
    zeros.into_iter().filter(|d| d.is_finite()).collect()
}

/// Second derivatives of the natural cubic spline at the samples, by elimination in the tridiagonal system.
fn curvatures(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    let (mut above, mut right) = (vec![0.0; n], vec![0.0; n]);
    for k in 1..n - 1 {
        let (h0, h1) = (x[k] - x[k - 1], x[k + 1] - x[k]);
        let jump = 6.0 * ((y[k + 1] - y[k]) / h1 - (y[k] - y[k - 1]) / h0);
        let pivot = 2.0 * (h0 + h1) - h0 * above[k - 1];
        above[k] = h1 / pivot;
        right[k] = (jump - h0 * right[k - 1]) / pivot;
    }
    for k in (1..n - 1).rev() {
        right[k] -= above[k] * right[k + 1];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_and_what_lies_beyond() {
        let f = SampledFunction::new(
            vec![0.0, 1.0, 3.0],
            &[1.0, 3.0, -1.0],
            Joining::Linear,
            Beyond::Nothing,
        )
        .unwrap();
        for (x, value, slope) in [(0.0, 1.0, 2.0), (0.5, 2.0, 2.0), (2.0, 1.0, -2.0)] {
            assert_eq!((f.value(0, x), f.value(1, x)), (value, slope));
        }
        assert_eq!(f.value(0, 3.0), -1.0);
        assert!(f.value(0, 3.1).is_nan() && f.value(0, -0.1).is_nan());
        assert!((f.value(0, 3.0 + 1e-12) + 1.0).abs() < 1e-11);
        let held = SampledFunction::new(vec![0.0, 1.0], &[1.0, 3.0], Joining::Linear, Beyond::Hold)
            .unwrap();
        assert_eq!((held.value(0, -5.0), held.value(0, 9.0)), (1.0, 3.0));
        assert_eq!((held.value(1, -5.0), held.value(1, 0.3)), (0.0, 2.0));
        assert!(held.value(0, f64::NAN).is_nan());
    }

    /// The sine has no curvature at multiples of π: its natural spline converges with order four, within the bound
    /// 5/384 h⁴ max|f⁗| of cubic splines.
    #[test]
    fn the_spline_of_a_sine_is_as_near_as_theory_says() {
        for n in [8, 16, 32] {
            let h = 2.0 * std::f64::consts::PI / f64::from(n);
            let x: Vec<f64> = (0..=n).map(|k| h * f64::from(k)).collect();
            let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
            let spline = SampledFunction::new(x, &y, Joining::Cubic, Beyond::Nothing).unwrap();
            let at = |k: i32| 2.0 * std::f64::consts::PI * f64::from(k) / 1000.0;
            let worst = |order: u8, f: &dyn Fn(f64) -> f64| {
                (0..=1000).fold(0.0f64, |s, k| {
                    s.max((spline.value(order, at(k)) - f(at(k))).abs())
                })
            };
            let error = worst(0, &f64::sin);
            assert!(error <= 5.0 / 384.0 * h.powi(4) + 1e-12, "{n}: {error}");
            let slope = worst(1, &f64::cos);
            assert!(slope <= h.powi(3) / 24.0 + 1e-12, "{n}: {slope}");
            let bend = worst(2, &|x: f64| -x.sin());
            assert!(bend <= 0.375 * h * h + 1e-12, "{n}: {bend}");
        }
    }

    /// Between samples a spline goes beyond them; the bounds hold and are reached.
    #[test]
    fn bounds_are_those_of_values_between_samples() {
        let (x, y) = (vec![0.0, 0.4, 1.0, 1.1, 3.0], [0.3, 1.0, -0.2, 0.9, 0.8]);
        for joining in [Joining::Linear, Joining::Cubic] {
            for beyond in [Beyond::Hold, Beyond::Nothing] {
                let f = SampledFunction::new(x.clone(), &y, joining, beyond).unwrap();
                for order in 0..=3 {
                    let at = |k: i32| f.value(order, 3.0 * f64::from(k) / 1e5);
                    let all = || (0..=100_000).map(at);
                    let [low, high] = f.bounds(order);
                    let (least, most) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
                    let slack = 1e-3 * (high - low);
                    let low = low.min(0.0);
                    assert!(low <= least && least <= low + slack, "{low} {least}");
                    assert!(most <= high && high - slack <= most, "{high} {most}");
                }
            }
        }
    }

    #[test]
    fn samples_out_of_order_are_refused() {
        let make = |x: Vec<f64>, y: &[f64]| {
            SampledFunction::new(x, y, Joining::Linear, Beyond::Nothing).is_some()
        };
        assert!(make(vec![0.0, 1.0], &[0.0, 0.0]));
        assert!(!make(vec![0.0, 0.0], &[0.0, 0.0]));
        assert!(!make(vec![0.0], &[0.0]));
        assert!(!make(vec![0.0, 1.0], &[0.0, f64::NAN]));
        assert!(!make(vec![], &[]));
    }
}
