//! Hyper-dual numbers: a value, two first derivatives and their mixed second derivative.
//!
//! With ε₁² = ε₂² = 0 and ε₁ε₂ ≠ 0, f(x + ε₁ + ε₂) = f(x) + f'(x) (ε₁ + ε₂) + f''(x) ε₁ε₂: derivatives
//! to rounding, without a step length. [FikeAlonso2011]

use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Number that carries a value, two first derivatives and their mixed second derivative.
///
/// Closures of a system are written over it, as over `f64`:
///
/// ```
/// use stickslip::algebra::Jet;
/// let energy = |q: &[Jet]| 1.0 - q[0].cos();
/// let angle = Jet::new(0.5, 1.0, 1.0, 0.0);
/// assert_eq!(energy(&[angle]).eps1, 0.5_f64.sin());
/// assert_eq!(energy(&[angle]).eps1eps2, 0.5_f64.cos());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jet {
    /// The value.
    pub re: f64,
    /// First derivative in the first direction.
    pub eps1: f64,
    /// First derivative in the second direction.
    pub eps2: f64,
    /// Mixed second derivative.
    pub eps1eps2: f64,
}

impl Jet {
    /// A number from its value, its two first derivatives and the mixed second derivative.
    #[inline]
    #[must_use]
    pub const fn new(re: f64, eps1: f64, eps2: f64, eps1eps2: f64) -> Self {
        Self {
            re,
            eps1,
            eps2,
            eps1eps2,
        }
    }

    /// A number without derivatives.
    #[inline]
    #[must_use]
    pub const fn constant(value: f64) -> Self {
        Self::new(value, 0.0, 0.0, 0.0)
    }

    /// f of this number, from f, f' and f'' at its value.
    #[inline]
    fn chain(self, f: f64, first: f64, second: f64) -> Self {
        Self::new(
            f,
            self.eps1 * first,
            self.eps2 * first,
            self.eps1eps2 * first + self.eps1 * self.eps2 * second,
        )
    }

    /// The power xⁿ with a whole exponent.
    #[inline]
    #[must_use]
    pub fn powi(self, n: i32) -> Self {
        match n {
            0 => Self::constant(1.0),
            1 => self,
            2 => self * self,
            _ => {
                let (a, b) = (f64::from(n), f64::from(n) - 1.0);
                self.chain(
                    self.re.powi(n),
                    a * self.re.powi(n - 1),
                    a * b * self.re.powi(n - 2),
                )
            }
        }
    }

    /// The power xᵃ with a real exponent.
    #[inline]
    #[must_use]
    pub fn powf(self, a: f64) -> Self {
        // Whole exponents keep the derivatives at x = 0, where x^(a - 2) may have none.
        if a == 0.0 || a == 1.0 || a == 2.0 {
            return self.powi(a as i32);
        }
        self.chain(
            self.re.powf(a),
            a * self.re.powf(a - 1.0),
            a * (a - 1.0) * self.re.powf(a - 2.0),
        )
    }

    /// The power xʸ, both with derivatives.
    #[inline]
    #[must_use]
    pub fn powd(self, y: Self) -> Self {
        (self.ln() * y).exp()
    }

    /// Sine and cosine together.
    #[inline]
    #[must_use]
    pub fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.re.sin_cos();
        (self.chain(s, c, -s), self.chain(c, -s, -c))
    }

    /// The angle of the point (x, self), in the whole circle.
    #[inline]
    #[must_use]
    pub fn atan2(self, x: Self) -> Self {
        // d atan2(y, x) = (x dy - y dx)/r²; its derivative once more, both directions.
        let (y, r2) = (self, x.re * x.re + self.re * self.re);
        let first1 = (x.re * y.eps1 - y.re * x.eps1) / r2;
        let first2 = (x.re * y.eps2 - y.re * x.eps2) / r2;
        let radial2 = 2.0 * (x.re * x.eps2 + y.re * y.eps2) / r2;
        let mixed = (x.eps2 * y.eps1 + x.re * y.eps1eps2 - y.eps2 * x.eps1 - y.re * x.eps1eps2)
            / r2
            - first1 * radial2;
        Self::new(y.re.atan2(x.re), first1, first2, mixed)
    }

    /// The absolute value, with the derivative of the branch that holds.
    #[inline]
    #[must_use]
    pub fn abs(self) -> Self {
        if self.re < 0.0 { -self } else { self }
    }
}

/// Functions of one variable: name, and its value, first and second derivative at x.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($x:ident) => $derivatives:block)*) => {
        impl Jet {$(
            $(#[$doc])*
            #[inline]
            #[must_use]
            pub fn $name(self) -> Self {
                let $x = self.re;
                let (f, first, second) = $derivatives;
                self.chain(f, first, second)
            }
        )*}
    };
}
functions! {
    /// The reciprocal 1/x.
    recip(x) => {
        let r = x.recip();
        (r, -r * r, 2.0 * r * r * r)
    }
    /// The square root.
    sqrt(x) => {
        let first = 0.5 / x.sqrt();
        (x.sqrt(), first, -0.5 * first / x)
    }
    /// The exponential.
    exp(x) => { (x.exp(), x.exp(), x.exp()) }
    /// The natural logarithm.
    ln(x) => { (x.ln(), x.recip(), -x.recip() * x.recip()) }
    /// The sine.
    sin(x) => {
        let (s, c) = x.sin_cos();
        (s, c, -s)
    }
    /// The cosine.
    cos(x) => {
        let (s, c) = x.sin_cos();
        (c, -s, -c)
    }
    /// The tangent.
    tan(x) => {
        let first = 1.0 + x.tan() * x.tan();
        (x.tan(), first, 2.0 * x.tan() * first)
    }
    /// The inverse sine.
    asin(x) => {
        let r = (1.0 - x * x).recip();
        (x.asin(), r.sqrt(), x * r.sqrt() * r)
    }
    /// The inverse cosine.
    acos(x) => {
        let r = (1.0 - x * x).recip();
        (x.acos(), -r.sqrt(), -x * r.sqrt() * r)
    }
    /// The inverse tangent.
    atan(x) => {
        let first = (1.0 + x * x).recip();
        (x.atan(), first, -2.0 * x * first * first)
    }
    /// The hyperbolic sine.
    sinh(x) => { (x.sinh(), x.cosh(), x.sinh()) }
    /// The hyperbolic cosine.
    cosh(x) => { (x.cosh(), x.sinh(), x.cosh()) }
    /// The hyperbolic tangent.
    tanh(x) => {
        let first = 1.0 - x.tanh() * x.tanh();
        (x.tanh(), first, -2.0 * x.tanh() * first)
    }
}

impl From<f64> for Jet {
    #[inline]
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

impl Neg for Jet {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.re, -self.eps1, -self.eps2, -self.eps1eps2)
    }
}

impl Add for Jet {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Self::new(
            self.re + b.re,
            self.eps1 + b.eps1,
            self.eps2 + b.eps2,
            self.eps1eps2 + b.eps1eps2,
        )
    }
}

impl Sub for Jet {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        Self::new(
            self.re - b.re,
            self.eps1 - b.eps1,
            self.eps2 - b.eps2,
            self.eps1eps2 - b.eps1eps2,
        )
    }
}

impl Mul for Jet {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        Self::new(
            self.re * b.re,
            b.eps1 * self.re + self.eps1 * b.re,
            b.eps2 * self.re + self.eps2 * b.re,
            b.eps1eps2 * self.re + self.eps1 * b.eps2 + b.eps1 * self.eps2 + self.eps1eps2 * b.re,
        )
    }
}

impl Div for Jet {
    type Output = Self;
    #[inline]
    fn div(self, b: Self) -> Self {
        // From c b = a: each part of the quotient follows from the parts before it.
        let re = self.re / b.re;
        let eps1 = (self.eps1 - re * b.eps1) / b.re;
        let eps2 = (self.eps2 - re * b.eps2) / b.re;
        let mixed = self.eps1eps2 - re * b.eps1eps2 - eps1 * b.eps2 - eps2 * b.eps1;
        Self::new(re, eps1, eps2, mixed / b.re)
    }
}

/// Operations with a constant, whose derivatives are exactly zero, and the assigning forms.
macro_rules! operations {
    ($($operation:ident $function:ident, $assign:ident $assigning:ident,
       |$a:ident, $b:ident| $with_constant:expr;)*) => {$(
        impl $operation<f64> for Jet {
            type Output = Jet;
            #[inline]
            fn $function(self, $b: f64) -> Jet {
                let $a = self;
                $with_constant
            }
        }
        impl $operation<Jet> for f64 {
            type Output = Jet;
            #[inline]
            fn $function(self, b: Jet) -> Jet {
                Jet::constant(self).$function(b)
            }
        }
        impl $assign for Jet {
            #[inline]
            fn $assigning(&mut self, b: Jet) {
                *self = self.$function(b);
            }
        }
        impl $assign<f64> for Jet {
            #[inline]
            fn $assigning(&mut self, b: f64) {
                *self = self.$function(b);
            }
        }
    )*};
}
operations! {
    Add add, AddAssign add_assign, |a, b| Jet { re: a.re + b, ..a };
    Sub sub, SubAssign sub_assign, |a, b| Jet { re: a.re - b, ..a };
    Mul mul, MulAssign mul_assign, |a, b| Jet::new(a.re * b, a.eps1 * b, a.eps2 * b, a.eps1eps2 * b);
    Div div, DivAssign div_assign, |a, b| Jet::new(a.re / b, a.eps1 / b, a.eps2 / b, a.eps1eps2 / b);
}

impl Sum for Jet {
    #[inline]
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::constant(0.0), Add::add)
    }
}

impl Product for Jet {
    #[inline]
    fn product<I: Iterator<Item = Self>>(factors: I) -> Self {
        factors.fold(Self::constant(1.0), Mul::mul)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and second derivative of f at x by extrapolated central differences, which share
    /// no rule with the jets.
    fn differences(f: impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
        let first = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
        let second = |h: f64| (f(x + h) - 2.0 * f(x) + f(x - h)) / (h * h);
        let (h, k) = (1e-3, 5e-4);
        (
            (4.0 * first(k) - first(h)) / 3.0,
            (4.0 * second(k) - second(h)) / 3.0,
        )
    }

    #[test]
    fn every_function_has_its_derivatives() {
        let functions: [(&str, fn(f64) -> f64, fn(Jet) -> Jet); 22] = [
            ("recip", f64::recip, Jet::recip),
            ("sqrt", f64::sqrt, Jet::sqrt),
            ("exp", f64::exp, Jet::exp),
            ("ln", f64::ln, Jet::ln),
            ("sin", f64::sin, Jet::sin),
            ("cos", f64::cos, Jet::cos),
            ("tan", f64::tan, Jet::tan),
            ("asin", f64::asin, Jet::asin),
            ("acos", f64::acos, Jet::acos),
            ("atan", f64::atan, Jet::atan),
            ("sinh", f64::sinh, Jet::sinh),
            ("cosh", f64::cosh, Jet::cosh),
            ("tanh", f64::tanh, Jet::tanh),
            ("abs", |x| (-x).abs(), |x| (-x).abs()),
            ("cube", |x| x.powi(3), |x| x.powi(3)),
            ("inverse square", |x| x.powi(-2), |x| x.powi(-2)),
            ("square", |x| x.powf(2.0), |x| x.powf(2.0)),
            ("power", |x| x.powf(1.7), |x| x.powf(1.7)),
            ("x to the x", |x| x.powf(x), |x| x.powd(x)),
            (
                "quotient",
                |x| (1.0 + x.sin()) / (2.0 - x * x),
                |x| (1.0 + x.sin()) / (2.0 - x * x),
            ),
            (
                "angle",
                |x| (x - 0.5).atan2(-x * x),
                |x| (x - 0.5).atan2(-x * x),
            ),
            (
                "constants on both sides",
                |x| 3.0 / (2.0 * (5.0 - x) / 4.0 - 1.0),
                |x| 3.0 / (2.0 * (5.0 - x) / 4.0 - 1.0),
            ),
        ];
        for (name, real, jet) in functions {
            for x in [0.31, 0.62, 0.87] {
                let (first, second) = differences(real, x);
                // Along the directions 2 and -3: first derivatives scale, the mixed one by both.
                let got = jet(Jet::new(x, 2.0, -3.0, 0.0));
                assert_eq!(got.re, real(x), "{name} at {x}");
                let near = |a: f64, b: f64| (a - b).abs() < 1e-7 * (1.0 + b.abs());
                assert!(near(got.eps1, 2.0 * first), "{name} at {x}: {got:?}");
                assert!(near(got.eps2, -3.0 * first), "{name} at {x}: {got:?}");
                assert!(near(got.eps1eps2, -6.0 * second), "{name} at {x}: {got:?}");
                // A second derivative of the argument itself passes through the first of f.
                let bent = jet(Jet::new(x, 2.0, -3.0, 0.7));
                assert!(near(bent.eps1eps2 - got.eps1eps2, 0.7 * first), "{name}");
            }
        }
    }

    #[test]
    fn powers_have_derivatives_at_zero() {
        for (n, first, second) in [(0, 0.0, 0.0), (1, 1.0, 0.0), (2, 0.0, 2.0), (3, 0.0, 0.0)] {
            for jet in [
                Jet::new(0.0, 1.0, 1.0, 0.0).powi(n),
                Jet::new(0.0, 1.0, 1.0, 0.0).powf(f64::from(n)),
            ] {
                assert_eq!((jet.eps1, jet.eps1eps2), (first, second), "power {n}");
            }
        }
    }

    #[test]
    fn sums_and_products_over_lists() {
        let x = Jet::new(2.0, 1.0, 1.0, 0.0);
        let list = [x, x * x, Jet::from(3.0)];
        assert_eq!(
            list.iter().copied().sum::<Jet>(),
            Jet::new(9.0, 5.0, 5.0, 2.0)
        );
        // 3 x³
        assert_eq!(
            list.iter().copied().product::<Jet>(),
            Jet::new(24.0, 36.0, 36.0, 36.0)
        );
    }
}
