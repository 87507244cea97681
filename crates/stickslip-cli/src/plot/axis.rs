//! An axis: its range and its ticks.

use stickslip::internals::quantity::{grouped, power, prefix};

/// A range of values with ticks at round numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Least value shown.
    pub low: f64,
    /// Greatest value shown.
    pub high: f64,
    /// Whether equal factors take equal lengths.
    pub logarithmic: bool,
    /// Values of the ticks and their labels.
    pub ticks: Vec<(f64, String)>,
    /// Prefix of the unit in which the labels are written.
    pub prefix: &'static str,
}

/// Least and greatest of the finite values, if there are any.
pub fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|v| v.is_finite())
        .fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((v.min(low), v.max(high))),
        })
}

impl Axis {
    /// An axis over exactly this range, with about `count` ticks.
    pub fn exact(low: f64, high: f64, count: usize) -> Self {
        let (low, high) = widened(low, high);
        let step = round_step((high - low) / count.max(1) as f64);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let values: Vec<f64> = (first..=last).map(|k| k as f64 * step).collect();
        let ticks = values.iter().map(|&v| (v, label(v, step, low, high)));
        Self {
            low,
            high,
            logarithmic: false,
            ticks: ticks.collect(),
            prefix: "",
        }
    }

    /// The same range with labels in a unit, whose prefix is chosen where numbers would be long.
    pub fn in_unit(self, unit: &str, count: usize) -> Self {
        let size = self.low.abs().max(self.high.abs());
        if self.logarithmic || (0.01..1e4).contains(&size) {
            return self;
        }
        let (factor, prefix) = prefix(size, unit);
        let inner = Self::exact(self.low / factor, self.high / factor, count);
        let ticks = inner.ticks.into_iter();
        Self {
            ticks: ticks.map(|(value, text)| (value * factor, text)).collect(),
            prefix,
            ..self
        }
    }

    /// An axis with some room on both sides of the range.
    pub fn padded(low: f64, high: f64, count: usize) -> Self {
        let (low, high) = widened(low, high);
        let room = 0.06 * (high - low);
        Self::exact(low - room, high + room, count)
    }

    /// An axis of powers of ten around a positive range.
    pub fn powers(low: f64, high: f64, count: usize) -> Self {
        Self::decades(low.log10() - 0.1, high.log10() + 0.1, count)
    }

    /// An axis of powers of ten that holds those with these exponents.
    pub fn decades(low: f64, high: f64, count: usize) -> Self {
        let first = low.floor();
        let last = high.ceil().max(first + 1.0);
        let every = (((last - first) / count.max(1) as f64).ceil() as i64).max(1);
        let ticks = (first as i64..=last as i64)
            .filter(|k| k.rem_euclid(every) == 0)
            .map(|k| (10f64.powi(k as i32), power("1", &k.to_string())));
        Self {
            low: 10f64.powf(first),
            high: 10f64.powf(last),
            logarithmic: true,
            ticks: ticks.collect(),
            prefix: "",
        }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end.
    pub fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// A range that is wide enough to have ticks: values that differ by rounding are one value.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size && high - low > 1e-12 {
        (low, high)
    } else {
        let middle = 0.5 * (low + high);
        let room = if size > 1e-12 { 0.1 * size } else { 1.0 };
        (middle - room, middle + room)
    }
}

/// The nearest of 1, 2, 5 times a power of ten, from above.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|f| step <= f * power * (1.0 + 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A tick as short as its step allows.
fn label(value: f64, step: f64, low: f64, high: f64) -> String {
    // A tick at zero computed as a difference may be a rounding error.
    let value = if value.abs() < 1e-9 * step {
        0.0
    } else {
        value
    };
    let size = low.abs().max(high.abs());
    if value == 0.0 {
        return "0".to_string();
    }
    if !(1e-3..1e6).contains(&size) {
        let digits = (size.log10().floor() - step.log10().floor()).max(0.0) as usize;
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        return power(mantissa, exponent);
    }
    let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
    grouped(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_short() {
        assert_eq!(
            labels(&Axis::exact(0.0, 1.0, 5)),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(&Axis::exact(-3.0, 7.0, 4)), ["0", "5"]);
        assert_eq!(
            labels(&Axis::exact(0.0, 3e-5, 3)),
            ["0", "10⁻⁵", "2·10⁻⁵", "3·10⁻⁵"]
        );
        assert_eq!(
            labels(&Axis::exact(99.0, 101.0, 4)),
            ["99.0", "99.5", "100.0", "100.5", "101.0"]
        );
    }

    #[test]
    fn labels_are_in_the_unit_people_would_use() {
        let axis = Axis::exact(0.0, 3e-5, 3).in_unit("J", 3);
        assert_eq!(
            (labels(&axis), axis.prefix),
            (vec!["0", "10", "20", "30"], "μ")
        );
        assert!((axis.ticks[3].0 - 3e-5).abs() < 1e-18);
        let axis = Axis::exact(0.0, 40_000.0, 2).in_unit("Pa", 2);
        assert_eq!((labels(&axis), axis.prefix), (vec!["0", "20", "40"], "k"));
        // Angles and short numbers stay as they are.
        let axis = Axis::exact(0.0, 20_000.0, 2).in_unit("rad", 2);
        assert_eq!(
            (labels(&axis), axis.prefix),
            (vec!["0", "10,000", "20,000"], "")
        );
        let axis = Axis::exact(0.0, 0.5, 1).in_unit("m", 1);
        assert_eq!((labels(&axis), axis.prefix), (vec!["0", "0.5"], ""));
    }

    #[test]
    fn a_constant_has_an_axis() {
        for value in [0.0, 1.0, -5e3, 1e-17] {
            let axis = Axis::padded(value, value, 4);
            assert!(axis.low < value && value < axis.high && axis.ticks.len() > 1);
            assert!((axis.share(value) - 0.5).abs() < 1e-6);
        }
    }

    #[test]
    fn powers_of_ten() {
        let axis = Axis::powers(2e-4, 3.0, 3);
        assert_eq!(labels(&axis), ["10⁻⁴", "10⁻²", "10⁰"]);
        assert!((axis.share(axis.high) - 1.0).abs() < 1e-12);
    }
}
