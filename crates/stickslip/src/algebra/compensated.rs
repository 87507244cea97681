//! Sums of products that cancel.

/// A number as a sum of two with 26 bits each, so that products of the halves are exact.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0; // 2²⁷ + 1
    let c = FACTOR * a;
    let high = c - (c - a);
    (high, a - high)
}

/// A sum that keeps the rounding errors of its additions beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CompensatedSum {
    sum: f64,
    error: f64,
}

impl CompensatedSum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let next = self.sum + term;
        let part = next - self.sum;
        self.error += (self.sum - (next - part)) + (term - part);
        self.sum = next;
    }

    /// The sum as if added with twice the digits and rounded once.
    #[inline]
    pub fn value(&self) -> f64 {
        self.sum + self.error
    }
}

impl FromIterator<f64> for CompensatedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
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

/// Two sums of products with common left factors, each as of [`compensated_dot`]; the two lanes do the same
/// operations, so that a processor can do them together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairSum {
    sum: [f64; 2],
    error: [f64; 2],
}

impl PairSum {
    /// Adds `a x` to both sums. With `FUSED` the rounding of a product is found by a fused multiplication,
    /// which is only fast where the processor has one; it is the same number.
    #[inline(always)]
    pub fn add<const FUSED: bool>(&mut self, a: f64, x: [f64; 2]) {
        let (ah, al) = split(a);
        let mut sum = [0.0; 2];
        let mut error = [0.0; 2];
        for k in 0..2 {
            let product = a * x[k];
            let lost = if FUSED {
                a.mul_add(x[k], -product)
            } else {
                let (xh, xl) = split(x[k]);
                ((ah * xh - product) + ah * xl + al * xh) + al * xl
            };
            sum[k] = self.sum[k] + product;
            let part = sum[k] - self.sum[k];
            error[k] =
                self.error[k] + (((self.sum[k] - (sum[k] - part)) + (product - part)) + lost);
        }
        *self = Self { sum, error };
    }

    /// The two sums.
    #[inline(always)]
    pub fn value(self) -> [f64; 2] {
        [self.sum[0] + self.error[0], self.sum[1] + self.error[1]]
    }
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
        let (mut split, mut fused) = (PairSum::default(), PairSum::default());
        for (a, b) in pairs {
            split.add::<false>(b, [a, -2.0 * a]);
            fused.add::<true>(b, [a, -2.0 * a]);
        }
        assert_eq!(split.value(), [1.0, -2.0]);
        assert_eq!(fused.value(), [1.0, -2.0]);
        let pairs = [(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0), (0.1, 10.0)];
        assert_eq!(compensated_dot(pairs.into_iter()), 2.0);
    }
}
