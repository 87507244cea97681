//! Whether the account of a step closes: the rule of both ledgers.

/// The allowance is this many units of rounding of the sum of the sizes of the terms.
pub(crate) const ROUNDING_UNITS: f64 = 50.0;

/// An imbalance over what rounding allows terms of this size.
pub(super) fn ratio(imbalance: f64, size: f64) -> f64 {
    if imbalance == 0.0 {
        0.0
    } else {
        imbalance / (ROUNDING_UNITS * f64::EPSILON * size)
    }
}

/// Enters the ratio of the step that ends at `t` into the worst ratio and its time, and counts steps that do not close; returns
/// whether this one does. A NaN does not, and stays the worst.
pub(super) fn enter(
    (t, ratio): (f64, f64),
    (worst, worst_time): (&mut f64, &mut f64),
    open_steps: &mut u64,
) -> bool {
    if ratio > *worst || (ratio.is_nan() && !worst.is_nan()) {
        (*worst, *worst_time) = (ratio, t);
    }
    let closed = ratio <= 1.0;
    if !closed {
        *open_steps += 1;
    }
    closed
}
