//! Solution of small dense linear systems kept in plain row-major slices.

pub use super::vectors::dot;

/// Solves A x = b by elimination with row pivoting; A and b are overwritten, b by x.
///
/// Returns false, with b meaningless, when a pivot is below `1e-300` or not finite.
pub fn solve_in_place(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    debug_assert_eq!(a.len(), n * n);
    for k in 0..n {
        // Largest pivot of the column.
        let mut pivot = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[pivot * n + k].abs() {
                pivot = i;
            }
        }
        let value = a[pivot * n + k];
        if !(value.abs() > 1e-300 && value.is_finite()) {
            return false;
        }
        if pivot != k {
            for j in k..n {
                a.swap(k * n + j, pivot * n + j);
            }
            b.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / value;
            if factor != 0.0 {
                for j in k + 1..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                b[i] -= factor * b[k];
            }
        }
    }
    // Back substitution.
    for k in (0..n).rev() {
        let mut sum = b[k];
        for j in k + 1..n {
            sum -= a[k * n + j] * b[j];
        }
        b[k] = sum / a[k * n + k];
    }
    true
}

/// Euclidean norm, by plain summation.
#[inline]
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// y = A x for a row-major matrix with `x.len()` columns.
#[inline]
pub fn matrix_vector(a: &[f64], x: &[f64], y: &mut [f64]) {
    let n = x.len();
    for (i, value) in y.iter_mut().enumerate() {
        *value = dot(&a[i * n..(i + 1) * n], x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_system_that_needs_pivoting_and_refuses_a_singular_one() {
        let mut a = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0, 1.0];
        let mut b = [7.0, 3.0, 6.0];
        assert!(solve_in_place(&mut a, &mut b));
        for (x, exact) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - exact).abs() < 1e-14);
        }
        let mut a = [0.0, 0.0, 0.0, 1.0];
        assert!(!solve_in_place(&mut a, &mut [1.0, 1.0]));
    }
}
