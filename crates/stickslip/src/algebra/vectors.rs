//! Scalar products and copies of vectors that are mostly short: systems in generalized coordinates have one to three
//! velocities, for which a call or the start of a vectorised loop costs more than the work.

/// Scalar product, summed from the first to the last entry.
#[inline(always)] // Short vectors cost less than a call.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    match (a, b) {
        ([a], [x]) => a * x,
        ([a, b], [x, y]) => a * x + b * y,
        ([a, b, c], [x, y, z]) => a * x + b * y + c * z,
        // Rows of two contacts of the plane.
        ([a, b, c, d], [x, y, z, w]) => a * x + b * y + c * z + d * w,
        // Rows of three of them, of two in space, and velocities of a body.
        ([a, b, c, d, e, f], [x, y, z, w, v, u]) => a * x + b * y + c * z + d * w + e * v + f * u,
        _ => long_dot(a, b),
    }
}

/// The same for vectors of any length, out of the way of short ones.
#[inline(never)]
fn long_dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `Σ |a_i x_i|`, summed from the first to the last entry that both have.
#[inline(always)] // Short vectors cost less than a call.
pub(crate) fn absolute_dot(a: &[f64], x: &[f64]) -> f64 {
    match (a, x) {
        ([a], [x]) => (a * x).abs(),
        ([a, b], [x, y]) => (a * x).abs() + (b * y).abs(),
        ([a, b, c], [x, y, z]) => (a * x).abs() + (b * y).abs() + (c * z).abs(),
        _ => long_absolute_dot(a, x),
    }
}

#[inline(never)]
fn long_absolute_dot(a: &[f64], x: &[f64]) -> f64 {
    a.iter().zip(x).fold(0.0, |sum, (a, x)| sum + (a * x).abs())
}

/// `Σ m_i x_i²`, summed from the first to the last entry that both have.
#[inline]
pub(crate) fn weighted_square(m: &[f64], x: &[f64]) -> f64 {
    match (m, x) {
        ([a], [x]) => a * x * x,
        ([a, b], [x, y]) => a * x * x + b * y * y,
        ([a, b, c], [x, y, z]) => a * x * x + b * y * y + c * z * z,
        _ => long_weighted_square(m, x),
    }
}

#[inline(never)]
fn long_weighted_square(m: &[f64], x: &[f64]) -> f64 {
    m.iter().zip(x).map(|(m, x)| m * x * x).sum()
}

/// `Σ m_i (a_i − b_i)²`, summed from the first to the last entry that all have.
#[inline]
pub(crate) fn weighted_distance_square(m: &[f64], a: &[f64], b: &[f64]) -> f64 {
    match (m, a, b) {
        ([m], [a], [b]) => m * (a - b) * (a - b),
        ([m, n, o], [a, c, e], [b, d, f]) => {
            let (x, y, z) = (a - b, c - d, e - f);
            m * x * x + n * y * y + o * z * z
        }
        _ => long_weighted_distance_square(m, a, b),
    }
}

#[inline(never)]
fn long_weighted_distance_square(m: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| a - b);
    m.iter().zip(differences).map(|(m, x)| m * x * x).sum()
}

/// Largest of a size and those of all entries; entries that are no numbers do not count.
#[inline]
pub(crate) fn largest_size(size: f64, x: &[f64]) -> f64 {
    let larger = |size: f64, x: &f64| if x.abs() > size { x.abs() } else { size };
    match x {
        [x] => larger(size, x),
        [x, y] => larger(larger(size, x), y),
        [x, y, z] => larger(larger(larger(size, x), y), z),
        [x, y, z, w] => larger(larger(larger(larger(size, x), y), z), w),
        _ => long_largest_size(size, x),
    }
}

#[cold]
#[inline(never)]
fn long_largest_size(size: f64, x: &[f64]) -> f64 {
    x.iter()
        .fold(size, |size, x| if x.abs() > size { x.abs() } else { size })
}

/// Widens the box between two corners so that it holds a point, over the coordinates that all have; what is no number
/// moves nothing.
#[inline]
pub(crate) fn widen(lower: &mut [f64], upper: &mut [f64], x: &[f64]) {
    let hold = |lower: &mut f64, upper: &mut f64, x: f64| {
        *lower = if x < *lower { x } else { *lower };
        *upper = if x > *upper { x } else { *upper };
    };
    match (lower, upper, x) {
        ([a], [b], [x]) => hold(a, b, *x),
        ([a, b, c], [d, e, f], [x, y, z]) => {
            hold(a, d, *x);
            hold(b, e, *y);
            hold(c, f, *z);
        }
        (lower, upper, x) => {
            for ((lower, upper), x) in lower.iter_mut().zip(upper).zip(x) {
                hold(lower, upper, *x);
            }
        }
    }
}

/// Makes a buffer the difference of two vectors of the same length.
#[inline]
pub(crate) fn assign_difference(to: &mut Vec<f64>, a: &[f64], b: &[f64]) {
    match (to.as_mut_slice(), a, b) {
        ([to], [a], [b]) => *to = a - b,
        ([to, too], [a, c], [b, d]) => (*to, *too) = (a - b, c - d),
        ([x, y, z], [a, c, e], [b, d, f]) => (*x, *y, *z) = (a - b, c - d, e - f),
        _ => {
            to.clear();
            to.extend(a.iter().zip(b).map(|(a, b)| a - b));
        }
    }
}

/// Makes a buffer the middle between two vectors of the same length.
#[inline]
pub(crate) fn assign_middle(to: &mut Vec<f64>, a: &[f64], b: &[f64]) {
    match (to.as_mut_slice(), a, b) {
        ([x, y, z], [a, c, e], [b, d, f]) => {
            (*x, *y, *z) = (0.5 * a + 0.5 * b, 0.5 * c + 0.5 * d, 0.5 * e + 0.5 * f);
        }
        _ => {
            to.clear();
            to.extend(a.iter().zip(b).map(|(a, b)| 0.5 * a + 0.5 * b));
        }
    }
}

/// Writes the point at part s of the straight line between two.
#[inline]
pub(crate) fn write_between(to: &mut [f64], (a, b): (&[f64], &[f64]), s: f64) {
    let at = |a: f64, b: f64| (1.0 - s) * a + s * b;
    match (to, a, b) {
        ([x, y, z], [a, c, e], [b, d, f]) => (*x, *y, *z) = (at(*a, *b), at(*c, *d), at(*e, *f)),
        (to, a, b) => {
            for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                *to = at(*a, *b);
            }
        }
    }
}

/// Vector product.
#[inline]
pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Copies a vector into another of the same length.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub(crate) fn copy(to: &mut [f64], from: &[f64]) {
    match (to, from) {
        ([], []) => {}
        ([a], [x]) => *a = *x,
        ([a, b], [x, y]) => (*a, *b) = (*x, *y),
        ([a, b, c], [x, y, z]) => (*a, *b, *c) = (*x, *y, *z),
        (to, from) => to.copy_from_slice(from),
    }
}

/// `to += factor x`.
#[inline]
pub(crate) fn add_scaled(to: &mut [f64], factor: f64, x: &[f64]) {
    match (to, x) {
        ([a], [x]) => *a += factor * x,
        ([a, b], [x, y]) => {
            *a += factor * x;
            *b += factor * y;
        }
        ([a, b, c], [x, y, z]) => {
            *a += factor * x;
            *b += factor * y;
            *c += factor * z;
        }
        (to, x) => {
            for (to, x) in to.iter_mut().zip(x) {
                *to += factor * x;
            }
        }
    }
}

/// Makes `to` a multiple of a vector and `change` what that changes of it.
#[inline]
pub(crate) fn assign_scaled(to: &mut [f64], change: &mut [f64], factor: f64, x: &[f64]) {
    let assign = |to: &mut f64, change: &mut f64, x: f64| {
        // From zero, as sums of several multiples are: a zero has no sign.
        let scaled = 0.0 + factor * x;
        (*change, *to) = (scaled - *to, scaled);
    };
    match (to, change, x) {
        ([a, b, c], [d, e, f], [x, y, z]) => {
            assign(a, d, *x);
            assign(b, e, *y);
            assign(c, f, *z);
        }
        (to, change, x) => {
            for ((to, change), x) in to.iter_mut().zip(change).zip(x) {
                assign(to, change, *x);
            }
        }
    }
}

/// Makes a buffer a copy of a vector.
#[inline]
pub(crate) fn assign(to: &mut Vec<f64>, from: &[f64]) {
    if to.len() == from.len() {
        copy(to, from);
    } else {
        assign_anew(to, from);
    }
}

#[inline(never)]
fn assign_anew(to: &mut Vec<f64>, from: &[f64]) {
    to.clear();
    to.extend_from_slice(from);
}

/// Makes a buffer a vector of `n` zeros.
#[inline]
pub(crate) fn assign_zeros(to: &mut Vec<f64>, n: usize) {
    if to.len() != n {
        to.resize(n, 0.0);
    }
    match to.as_mut_slice() {
        [] => {}
        [a] => *a = 0.0,
        [a, b] => (*a, *b) = (0.0, 0.0),
        [a, b, c] => (*a, *b, *c) = (0.0, 0.0, 0.0),
        long => long.fill(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_vectors_have_the_bits_of_long_ones() {
        let a = [0.1, -0.7, 1e-3, 5.5, 0.3, -2.6, 4.1];
        let b = [3.3, 0.9, -7e2, 0.2, -1.1, 0.6, 1e-2];
        for n in 0..=a.len() {
            let sum: f64 = a[..n].iter().zip(&b[..n]).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a[..n], &b[..n]).to_bits(), sum.to_bits());
            let mut buffer = vec![1.0; 2];
            assign(&mut buffer, &a[..n]);
            assert_eq!(buffer, a[..n]);
            let size: f64 = a[..n].iter().zip(&b[..n]).map(|(x, y)| (x * y).abs()).sum();
            assert_eq!(
                absolute_dot(&a[..n], &b[..n]).to_bits(),
                size.abs().to_bits()
            );
            let middle: Vec<f64> = a[..n]
                .iter()
                .zip(&b[..n])
                .map(|(x, y)| 0.5 * x + 0.5 * y)
                .collect();
            assign_middle(&mut buffer, &b[..n], &a[..n]);
            assert_eq!(buffer, middle);
            assign_middle(&mut buffer, &a[..n], &b[..n]);
            assert_eq!(buffer, middle);
            write_between(&mut buffer, (&a[..n], &b[..n]), 0.5);
            assert_eq!(buffer, middle);
            let square: f64 = a[..n].iter().zip(&b[..n]).map(|(m, x)| m * x * x).sum();
            let short = weighted_square(&a[..n], &b[..n]);
            assert_eq!(short.to_bits(), square.to_bits());
            let apart = |m: &f64, a: &f64, b: &f64| m * (a - b) * (a - b);
            let pairs = a[..n].iter().zip(&b[..n]);
            let square: f64 = pairs.map(|(a, b)| apart(a, a, b)).sum();
            let short = weighted_distance_square(&a[..n], &a[..n], &b[..n]);
            assert_eq!(short.to_bits(), square.to_bits());
            let difference: Vec<f64> = a[..n].iter().zip(&b[..n]).map(|(x, y)| x - y).collect();
            assign_difference(&mut buffer, &a[..n], &b[..n]);
            assert_eq!(buffer, difference);
            assign_difference(&mut buffer, &b[..n], &a[..n]);
            assert!(buffer.iter().zip(&difference).all(|(x, y)| *x == -y));
            assign(&mut buffer, &b[..n]);
            assert_eq!(buffer, b[..n]);
            add_scaled(&mut buffer, 0.3, &a[..n]);
            let sum = |i: usize| b[i] + 0.3 * a[i];
            assert_eq!(buffer, (0..n).map(sum).collect::<Vec<_>>());
            let (mut total, mut change) = (b, [0.0; 7]);
            assign_scaled(&mut total[..n], &mut change[..n], 0.3, &a[..n]);
            for i in 0..n {
                assert_eq!((total[i], change[i]), (0.3 * a[i], 0.3 * a[i] - b[i]));
            }
            assert_eq!(total[n..], b[n..]);
            let size = b[..n].iter().fold(0.4f64, |size, x| size.max(x.abs()));
            assert_eq!(largest_size(0.4, &b[..n]), size);
            let (mut lower, mut upper) = (a, a);
            widen(&mut lower[..n], &mut upper[..n], &b[..n]);
            for i in 0..a.len() {
                let other = if i < n { b[i] } else { a[i] };
                assert_eq!((lower[i], upper[i]), (a[i].min(other), a[i].max(other)));
            }
            assign_zeros(&mut buffer, 4);
            assert_eq!(buffer, [0.0; 4]);
            assign_zeros(&mut buffer, n);
            assert_eq!(buffer, vec![0.0; n]);
        }
    }
}
