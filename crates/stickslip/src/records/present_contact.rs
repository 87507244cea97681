//! A contact that is present in a step of a world.

use crate::contact::ContactKey;

use super::ContactMode;

/// A contact that took part in one step: found contacts come and go, so each step has its own list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PresentContact {
    /// Its name from step to step.
    pub key: ContactKey,
    /// Place in the world.
    pub place: [f64; 3],
    /// Normal from body b to body a.
    pub normal: [f64; 3],
    /// Gap where the contact was found: at the position at which the step evaluates its contacts.
    pub gap: f64,
    /// Mode.
    pub mode: ContactMode,
    /// Normal velocity before the impulses, relative to b.
    pub approach: f64,
    /// Impulse on body a, world axes.
    pub impulse: [f64; 3],
    /// Moment of rolling and drilling friction on body a, world axes.
    pub moment: [f64; 3],
    /// Velocity of a relative to b at the end of the step, world axes.
    pub velocity: [f64; 3],
    /// Work of the normal impulse on the relative motion.
    pub work_normal: f64,
    /// Work of friction on the relative motion.
    pub work_tangential: f64,
}
