//! The generator of random samples: splitmix64, which depends on its seed alone, on every machine.

/// A sequence of numbers; the seed it began with, moved on by one constant for every number.
pub(crate) struct Splitmix(pub u64);

/// 2⁶⁴ divided by the golden ratio.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Splitmix {
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STRIDE);
        (mixed(self.0) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// What [`Self::unit`] gives for the time number `k` after a start with `seed`, from zero on.
    pub fn number(seed: u64, k: u64) -> f64 {
        Self(seed.wrapping_add(k.wrapping_mul(STRIDE))).unit()
    }
}

/// Scatters the bits of a state.
pub(crate) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the published generator gives for the seed 1234567.
    #[test]
    fn the_sequence_is_the_published_one() {
        let published = [
            6_457_827_717_110_365_317u64,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        let mut sequence = Splitmix(1_234_567);
        for (k, &bits) in published.iter().enumerate() {
            let expected = (bits >> 11) as f64 / (1u64 << 53) as f64;
            assert_eq!(sequence.unit(), expected);
            assert_eq!(mixed(sequence.0), bits);
            assert_eq!(Splitmix::number(1_234_567, k as u64), expected);
        }
    }
}
