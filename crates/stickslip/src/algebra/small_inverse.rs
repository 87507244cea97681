//! Small dense matrices, row-major: inverse and solution by elimination with partial pivoting.

/// Inverse of the row-major `a` of the given order; `None` if a pivot vanishes to rounding.
pub fn invert(a: &[f64], order: usize) -> Option<Vec<f64>> {
    let mut lu = a.to_vec();
    let mut inverse = vec![0.0; order * order];
    for i in 0..order {
        inverse[i * order + i] = 1.0;
    }
    let size = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for k in 0..order {
        let pivot = (k..order)
            .max_by(|&i, &j| lu[i * order + k].abs().total_cmp(&lu[j * order + k].abs()))?;
        if lu[pivot * order + k].abs() <= 1e-300_f64.max(1e-32 * size) {
            return None;
        }
        if pivot != k {
            for c in 0..order {
                lu.swap(k * order + c, pivot * order + c);
                inverse.swap(k * order + c, pivot * order + c);
            }
        }
        let scale = 1.0 / lu[k * order + k];
        for c in 0..order {
            lu[k * order + c] *= scale;
            inverse[k * order + c] *= scale;
        }
        for i in 0..order {
            let factor = lu[i * order + k];
            if i == k || factor == 0.0 {
                continue;
            }
            for c in 0..order {
                lu[i * order + c] -= factor * lu[k * order + c];
                inverse[i * order + c] -= factor * inverse[k * order + c];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_of_a_permuted_triangle() {
        let inverse = invert(&[0.0, 2.0, 1.0, 3.0], 2).unwrap();
        for (a, b) in inverse.iter().zip([-1.5, 1.0, 0.5, 0.0]) {
            assert!((a - b).abs() < 1e-15);
        }
        assert!(invert(&[1.0, 2.0, 2.0, 4.0], 2).is_none());
    }
}
