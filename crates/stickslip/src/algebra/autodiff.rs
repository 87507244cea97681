//! Automatic differentiation of functions given as closures.
//!
//! A closure is written once over [`Jet`] (a hyper-dual number); values, gradients and second
//! derivatives follow without finite differences. Each helper evaluates the closure once per pair
//! of directions, so a gradient costs `n` evaluations and a Hessian `n (n + 1) / 2`.

use super::Jet;

/// Longest argument list that is differentiated without allocating.
const INLINE: usize = 24;

/// Runs `body` on a scratch list of jets that hold `x` without derivatives.
pub fn with_jets<R>(x: &[f64], body: impl FnOnce(&mut [Jet]) -> R) -> R {
    if x.len() <= INLINE {
        let mut buffer = [Jet::constant(0.0); INLINE];
        for (jet, &value) in buffer.iter_mut().zip(x) {
            jet.re = value;
        }
        body(&mut buffer[..x.len()])
    } else {
        let mut buffer: Vec<Jet> = x.iter().map(|&value| Jet::constant(value)).collect();
        body(&mut buffer)
    }
}

/// Gradient of `f` at `x`, written to `out`.
pub fn gradient(x: &[f64], f: impl Fn(&[Jet]) -> Jet, out: &mut [f64]) {
    with_jets(x, |jets| {
        for i in 0..jets.len() {
            jets[i].eps1 = 1.0;
            out[i] = f(jets).eps1;
            jets[i].eps1 = 0.0;
        }
    });
}

/// Second derivatives of `f` at `x`, written row-major to `out`.
pub fn hessian(x: &[f64], f: impl Fn(&[Jet]) -> Jet, out: &mut [f64]) {
    let n = x.len();
    with_jets(x, |jets| {
        for i in 0..n {
            jets[i].eps1 = 1.0;
            for j in 0..=i {
                jets[j].eps2 = 1.0;
                let second = f(jets).eps1eps2;
                out[i * n + j] = second;
                out[j * n + i] = second;
                jets[j].eps2 = 0.0;
            }
            jets[i].eps1 = 0.0;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_a_product_are_exact() {
        let f = |x: &[Jet]| x[0].sin() * x[1] * x[1];
        let x = [0.7, -1.3];
        let mut first = [0.0; 2];
        gradient(&x, f, &mut first);
        assert_eq!(first[0], x[0].cos() * x[1] * x[1]);
        assert!((first[1] - 2.0 * x[0].sin() * x[1]).abs() < 1e-15);
        let mut second = [0.0; 4];
        hessian(&x, f, &mut second);
        assert!((second[1] - 2.0 * x[0].cos() * x[1]).abs() < 1e-15);
        assert!((second[3] - 2.0 * x[0].sin()).abs() < 1e-15);
    }
}
