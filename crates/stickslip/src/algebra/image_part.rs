//! The part of a vector that a small Gram matrix can answer.

use super::eigen2::Eigen2;

/// Takes out of `y` what lies off the image of the Gram matrix `a` of some covectors, of each of which the square size `negligible` is
/// rounding: directions in which the covectors are none.
///
/// Of two covectors any direction counts, so that the answer does not depend on how they are turned; of more the covectors themselves.
pub(crate) fn keep_image_part(a: &[f64], negligible: &[f64], y: &mut [f64]) {
    let d = y.len();
    for (i, y) in y.iter_mut().enumerate() {
        if a[i * d + i] <= negligible[i] {
            *y = 0.0;
        }
    }
    let (&[first, off, _, second], [x, z]) = (a, y) else {
        return;
    };
    let axes = Eigen2::new(first, off, second);
    // Each covector in its own unit: one may tell metres and the other an angle.
    let rounding = first * negligible[1] + second * negligible[0];
    if axes.small * axes.large <= rounding && *x != 0.0 && *z != 0.0 {
        let along = axes.to_axes([*x, *z])[0];
        [*x, *z] = axes.out_of_axes([along, 0.0]);
    }
}

#[cfg(test)]
mod tests {
    use super::keep_image_part;

    #[test]
    fn what_no_covector_reads_is_taken_out_however_they_are_turned() {
        let (c, s) = (0.6, 0.8);
        // Covectors of a plane of which one direction, (−s, c), is none.
        let a = [c * c, c * s, c * s, s * s];
        let mut y = [3.0 * c - 2.0 * s, 3.0 * s + 2.0 * c];
        keep_image_part(&a, &[1e-12; 2], &mut y);
        assert!((y[0] - 3.0 * c).abs() < 1e-15 && (y[1] - 3.0 * s).abs() < 1e-15);
        let mut lone = [0.7];
        keep_image_part(&[1e-14], &[1e-12], &mut lone);
        assert_eq!(lone, [0.0]);
    }
}
