//! Geometry against closed formulas and exact positions, at random orientations.

mod detection;
mod mass;
mod refined;
mod refused;
mod shapes;
mod terrain;

use super::vector::Vector;
use crate::systems::world::Pose;

/// Random numbers with a seed (SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self, size: f64) -> Vector {
        std::array::from_fn(|_| self.between(-size, size))
    }

    pub fn pose(&mut self) -> Pose {
        Pose::turned(self.vector(5.0), self.vector(3.0))
    }

    pub fn planar_pose(&mut self) -> Pose {
        Pose::planar(
            self.between(-5.0, 5.0),
            self.between(-5.0, 5.0),
            self.between(-3.0, 3.0),
        )
    }
}
