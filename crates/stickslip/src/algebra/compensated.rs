//! Sums of products that cancel.

/// A number as a sum of two with 26 bits each, so that products of the halves are exact.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0; // 2²⁷ + 1
    let c = FACTOR * a;
    let high = c - (c - a);
    (high, a - high)
}

/// Σ aₖ bₖ over the pairs, as if summed with twice the digits and rounded once.
///
/// # What it computes
/// The sum of products and, beside it, the sum of all rounding errors, which are floating-point
/// numbers themselves (of a product by splitting its factors, of a sum by two differences).
///
/// # Source
/// [OgitaRumpOishi2005], algorithm Dot2.
///
/// # Guarantees
/// Error at most ε|Σ| + n² ε² Σ|aₖ bₖ| where nothing overflows or underflows.
///
/// # Behaviour to know
/// Factors beyond 1e300 overflow in the splitting.
///
/// # Cost
/// About ten cycles per pair.
///
/// # Tested by
/// `algebra/compensated.rs`.
#[inline]
pub(crate) fn compensated_dot(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut error) = (0.0, 0.0);
    for (a, b) in pairs {
        let product = a * b;
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        let lost = ((ah * bh - product) + ah * bl + al * bh) + al * bl;
        let next = sum + product;
        let part = next - sum;
        error += ((sum - (next - part)) + (product - part)) + lost;
        sum = next;
    }
    sum + error
}

/// Vectors longer than this are multiplied with compensation.
const LONG: usize = 1024;

/// `a · b`, with compensation where the vectors are long: the rounding of a plain sum grows with
/// their length, and energies are judged by a few units of rounding.
pub fn long_dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() <= LONG {
        super::dot(a, b)
    } else {
        compensated_dot(a.iter().copied().zip(b.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cancels_is_exact() {
        // (2²⁷+1)² − 2⁵⁴ − 2²⁸ = 1: no plain sum of rounded products gives it.
        let a = 134_217_729.0;
        let pairs = [
            (a, a),
            (-134_217_728.0, 134_217_728.0),
            (-2.0, 134_217_728.0),
        ];
        assert_eq!(compensated_dot(pairs.into_iter()), 1.0);
        let pairs = [(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0), (0.1, 10.0)];
        assert_eq!(compensated_dot(pairs.into_iter()), 2.0);
    }
}
