//! Four numbers at once, in plain code and with AVX2 and FMA, with the same bits.
//!
//! The kernels are written once over [`Lanes`]. Every operation is one of IEEE 754 rounded once (the product-sum included, in
//! plain code too), and comparisons choose by masks, so that both implementations give the same bits; a test of the sweep
//! compares them.

/// Four lanes of f64.
pub(super) trait Lanes: Copy {
    /// Answer of a comparison, lane by lane.
    type Mask: Copy;

    /// All lanes equal.
    fn splat(x: f64) -> Self;
    fn load(x: &[f64; 4]) -> Self;
    fn store(self, out: &mut [f64; 4]);
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn sqrt(self) -> Self;
    /// self·b + c, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// c − self·b, rounded once.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// self < b, false where one is not a number.
    fn less(self, b: Self) -> Self::Mask;
    /// self ≤ b, false where one is not a number.
    fn at_most(self, b: Self) -> Self::Mask;
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn any(mask: Self::Mask) -> bool;
    fn all(mask: Self::Mask) -> bool;
    /// a where the mask holds, b elsewhere.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// Rows become columns.
    fn transpose(rows: [Self; 4]) -> [Self; 4];

    /// The larger one; b where one is not a number.
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Self::select(b.less(self), self, b)
    }

    /// The smaller one; b where one is not a number.
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        Self::select(self.less(b), self, b)
    }

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
}

/// Plain code.
#[derive(Clone, Copy)]
pub(super) struct Plain([f64; 4]);

impl Plain {
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|k| f(self.0[k], b.0[k])))
    }
}

impl Lanes for Plain {
    type Mask = [bool; 4];

    fn splat(x: f64) -> Self {
        Self([x; 4])
    }
    fn load(x: &[f64; 4]) -> Self {
        Self(*x)
    }
    fn store(self, out: &mut [f64; 4]) {
        *out = self.0;
    }
    fn add(self, b: Self) -> Self {
        self.zip(b, |a, b| a + b)
    }
    fn sub(self, b: Self) -> Self {
        self.zip(b, |a, b| a - b)
    }
    fn mul(self, b: Self) -> Self {
        self.zip(b, |a, b| a * b)
    }
    fn div(self, b: Self) -> Self {
        self.zip(b, |a, b| a / b)
    }
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k].mul_add(b.0[k], c.0[k])))
    }
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|k| {
            (-self.0[k]).mul_add(b.0[k], c.0[k])
        }))
    }
    fn less(self, b: Self) -> [bool; 4] {
        std::array::from_fn(|k| self.0[k] < b.0[k])
    }
    fn at_most(self, b: Self) -> [bool; 4] {
        std::array::from_fn(|k| self.0[k] <= b.0[k])
    }
    fn and(a: [bool; 4], b: [bool; 4]) -> [bool; 4] {
        std::array::from_fn(|k| a[k] && b[k])
    }
    fn or(a: [bool; 4], b: [bool; 4]) -> [bool; 4] {
        std::array::from_fn(|k| a[k] || b[k])
    }
    fn any(mask: [bool; 4]) -> bool {
        mask.contains(&true)
    }
    fn all(mask: [bool; 4]) -> bool {
        !mask.contains(&false)
    }
    fn select(mask: [bool; 4], a: Self, b: Self) -> Self {
        Self(std::array::from_fn(
            |k| {
                if mask[k] { a.0[k] } else { b.0[k] }
            },
        ))
    }
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        std::array::from_fn(|r| Self(std::array::from_fn(|c| rows[c].0[r])))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Lanes;
    use core::arch::x86_64::*;

    /// AVX2 and FMA. Its operations may only run on a machine that has both: kernels over it are called from functions with
    /// these features enabled, which are entered after [`Instructions`](crate::solvers::sweep::Instructions) found them.
    #[derive(Clone, Copy)]
    pub(in crate::solvers::bodies) struct Avx2(__m256d);

    // SAFETY of all blocks below: the machine has AVX2 and FMA (see the type), and the references are to four numbers.
    impl Lanes for Avx2 {
        type Mask = __m256d;

        #[inline(always)]
        fn splat(x: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(x) })
        }
        #[inline(always)]
        fn load(x: &[f64; 4]) -> Self {
            Self(unsafe { _mm256_loadu_pd(x.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, out: &mut [f64; 4]) {
            unsafe { _mm256_storeu_pd(out.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, b: Self) -> Self {
            Self(unsafe { _mm256_add_pd(self.0, b.0) })
        }
        #[inline(always)]
        fn sub(self, b: Self) -> Self {
            Self(unsafe { _mm256_sub_pd(self.0, b.0) })
        }
        #[inline(always)]
        fn mul(self, b: Self) -> Self {
            Self(unsafe { _mm256_mul_pd(self.0, b.0) })
        }
        #[inline(always)]
        fn div(self, b: Self) -> Self {
            Self(unsafe { _mm256_div_pd(self.0, b.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
        }
        #[inline(always)]
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(unsafe { _mm256_fnmadd_pd(self.0, b.0, c.0) })
        }
        #[inline(always)]
        fn less(self, b: Self) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, b.0) }
        }
        #[inline(always)]
        fn at_most(self, b: Self) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, b.0) }
        }
        #[inline(always)]
        fn and(a: __m256d, b: __m256d) -> __m256d {
            unsafe { _mm256_and_pd(a, b) }
        }
        #[inline(always)]
        fn or(a: __m256d, b: __m256d) -> __m256d {
            unsafe { _mm256_or_pd(a, b) }
        }
        #[inline(always)]
        fn any(mask: __m256d) -> bool {
            unsafe { _mm256_movemask_pd(mask) != 0 }
        }
        #[inline(always)]
        fn all(mask: __m256d) -> bool {
            unsafe { _mm256_movemask_pd(mask) == 15 }
        }
        #[inline(always)]
        fn select(mask: __m256d, a: Self, b: Self) -> Self {
            Self(unsafe { _mm256_blendv_pd(b.0, a.0, mask) })
        }
        #[inline(always)]
        fn transpose(rows: [Self; 4]) -> [Self; 4] {
            unsafe {
                let a = _mm256_unpacklo_pd(rows[0].0, rows[1].0);
                let b = _mm256_unpackhi_pd(rows[0].0, rows[1].0);
                let c = _mm256_unpacklo_pd(rows[2].0, rows[3].0);
                let d = _mm256_unpackhi_pd(rows[2].0, rows[3].0);
                [
                    Self(_mm256_permute2f128_pd::<0x20>(a, c)),
                    Self(_mm256_permute2f128_pd::<0x20>(b, d)),
                    Self(_mm256_permute2f128_pd::<0x31>(a, c)),
                    Self(_mm256_permute2f128_pd::<0x31>(b, d)),
                ]
            }
        }
    }
}
