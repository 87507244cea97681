//! A digest of bytes, to tell whether a file is the one that was written.
//!
//! XXH64 with seed 0: sixteen hexadecimal digits, several gigabytes a second, so that a trajectory can be digested while
//! it is written. It finds accidents and edits; it is no protection against somebody who computes it anew.

const PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];
const STRIPE: usize = 32;

/// A digest that grows with the bytes it is given.
#[derive(Clone, Debug)]
pub struct Digest {
    lanes: [u64; 4],
    held: [u8; STRIPE],
    held_count: usize,
    length: u64,
}

impl Default for Digest {
    fn default() -> Self {
        let [p1, p2, ..] = PRIMES;
        Self {
            lanes: [p1.wrapping_add(p2), p2, 0, 0u64.wrapping_sub(p1)],
            held: [0; STRIPE],
            held_count: 0,
            length: 0,
        }
    }
}

impl Digest {
    /// The digest of some bytes, as text.
    pub fn of(bytes: &[u8]) -> String {
        let mut digest = Self::default();
        digest.update(bytes);
        digest.text()
    }

    /// Takes in further bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        if self.held_count > 0 {
            let taken = bytes.len().min(STRIPE - self.held_count);
            self.held[self.held_count..self.held_count + taken].copy_from_slice(&bytes[..taken]);
            self.held_count += taken;
            bytes = &bytes[taken..];
            if self.held_count < STRIPE {
                return;
            }
            let stripe = self.held;
            self.stripe(&stripe);
            self.held_count = 0;
        }
        let mut stripes = bytes.chunks_exact(STRIPE);
        for stripe in &mut stripes {
            self.stripe(stripe);
        }
        let rest = stripes.remainder();
        self.held[..rest.len()].copy_from_slice(rest);
        self.held_count = rest.len();
    }

    fn stripe(&mut self, stripe: &[u8]) {
        for (lane, word) in self.lanes.iter_mut().zip(stripe.chunks_exact(8)) {
            *lane = round(*lane, word_of(word));
        }
    }

    /// The digest of the bytes so far.
    pub fn value(&self) -> u64 {
        let [p1, p2, p3, p4, p5] = PRIMES;
        let mut hash = if self.length >= STRIPE as u64 {
            let turned = self.lanes.iter().zip([1, 7, 12, 18]);
            let start = turned.fold(0u64, |sum, (lane, by)| {
                sum.wrapping_add(lane.rotate_left(by))
            });
            self.lanes.iter().fold(start, |hash, &lane| {
                (hash ^ round(0, lane)).wrapping_mul(p1).wrapping_add(p4)
            })
        } else {
            p5
        };
        hash = hash.wrapping_add(self.length);
        let mut words = self.held[..self.held_count].chunks_exact(8);
        for word in &mut words {
            hash = (hash ^ round(0, word_of(word))).rotate_left(27);
            hash = hash.wrapping_mul(p1).wrapping_add(p4);
        }
        let mut rest = words.remainder();
        if rest.len() >= 4 {
            let half = u64::from(u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]));
            hash = (hash ^ half.wrapping_mul(p1)).rotate_left(23);
            hash = hash.wrapping_mul(p2).wrapping_add(p3);
            rest = &rest[4..];
        }
        for &byte in rest {
            hash = (hash ^ u64::from(byte).wrapping_mul(p5)).rotate_left(11);
            hash = hash.wrapping_mul(p1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(p2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(p3);
        hash ^ (hash >> 32)
    }

    /// The digest of the bytes so far, as sixteen hexadecimal digits.
    pub fn text(&self) -> String {
        format!("{:016x}", self.value())
    }
}

fn round(lane: u64, word: u64) -> u64 {
    let sum = lane.wrapping_add(word.wrapping_mul(PRIMES[1]));
    sum.rotate_left(31).wrapping_mul(PRIMES[0])
}

fn word_of(bytes: &[u8]) -> u64 {
    // Callers hand over slices of 8 bytes.
    u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation of xxHash.
    #[test]
    fn known_digests() {
        assert_eq!(Digest::of(b""), "ef46db3751d8e999");
        assert_eq!(Digest::of(b"a"), "d24ec4f1a98c6e5b");
        assert_eq!(Digest::of(b"abc"), "44bc2cf5ad770999");
        let sentence = b"Nobody inspects the spammish repetition";
        assert_eq!(Digest::of(sentence), "fbcea83c8a378bf1");
    }

    #[test]
    fn pieces_give_the_digest_of_the_whole() {
        let bytes: Vec<u8> = (0..1000u32).map(|k| (k * 31 + k / 7) as u8).collect();
        for piece in [1, 3, 8, 31, 32, 33, 64, 999] {
            let mut digest = Digest::default();
            bytes.chunks(piece).for_each(|part| digest.update(part));
            assert_eq!(digest.text(), Digest::of(&bytes), "pieces of {piece}");
        }
    }
}
