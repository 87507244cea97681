//! Deterministic random numbers for property tests; the seed is printed by the failing assertion.

/// Splitmix generator.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Vector with entries uniform in [-1, 1).
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.uniform(-1.0, 1.0)).collect()
    }

    /// B Bᵀ + shift I with random B of n rows and k columns, row-major.
    pub fn gram(&mut self, n: usize, k: usize, shift: f64) -> Vec<f64> {
        let b = self.vector(n * k);
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..k).map(|l| b[i * k + l] * b[j * k + l]).sum();
                a[i * n + j] = sum + if i == j { shift } else { 0.0 };
                a[j * n + i] = a[i * n + j];
            }
        }
        a
    }
}
