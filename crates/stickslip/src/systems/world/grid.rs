//! Equal bodies in a grid.

use std::sync::Arc;

use super::{BodyMotion, Dimension, DrivenMotion, Pose, Twist, WorldBody};

/// A grid of equal bodies, x fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Bodies along each axis, at least one.
    pub count: [usize; 3],
    /// Distance of neighbours along each axis.
    pub spacing: [f64; 3],
    /// Shift of the odd layers: those with an odd index along the last axis.
    pub stagger: [f64; 3],
}

impl Grid {
    /// Number of bodies.
    #[must_use]
    pub fn total(&self) -> usize {
        self.count
            .iter()
            .fold(1, |n, &c| n.saturating_mul(c.max(1)))
    }

    /// Place of body number `k` relative to the first.
    #[must_use]
    pub(crate) fn shift(&self, k: usize, dimension: Dimension) -> [f64; 3] {
        let [nx, ny, _] = self.count.map(|c| c.max(1));
        let index = [k % nx, k / nx % ny, k / (nx * ny)];
        let odd = index[dimension.axes() - 1] % 2 == 1;
        std::array::from_fn(|i| {
            index[i] as f64 * self.spacing[i] + if odd { self.stagger[i] } else { 0.0 }
        })
    }
}

impl WorldBody {
    /// The same body at another name and place, its motion shifted with it.
    #[must_use]
    pub fn shifted(&self, name: impl Into<String>, shift: [f64; 3]) -> Self {
        let mut body = self.clone();
        body.name = name.into();
        for (x, s) in body.start.0.position.iter_mut().zip(shift) {
            *x += s;
        }
        if let BodyMotion::Driven(motion) = &self.motion
            && shift != [0.0; 3]
        {
            body.motion = BodyMotion::Driven(Arc::new(Shifted {
                motion: motion.clone(),
                shift,
            }));
        }
        body
    }
}

/// A motion elsewhere.
struct Shifted {
    motion: Arc<dyn DrivenMotion>,
    shift: [f64; 3],
}

impl DrivenMotion for Shifted {
    fn pose(&self, t: f64) -> Pose {
        let mut pose = self.motion.pose(t);
        for (x, s) in pose.position.iter_mut().zip(self.shift) {
            *x += s;
        }
        pose
    }

    fn velocity(&self, t: f64) -> Twist {
        self.motion.velocity(t)
    }
}
