//! What events are measured by and records do not know: which contacts act on each other, and how fast things move there.

use crate::contact::ContactKey;

/// Told by who knows the bodies, and only where something may have happened.
pub(crate) trait ActingTogether {
    /// The group of a contact in this step: contacts of different groups know nothing of each other.
    fn group(&self, contact: ContactKey) -> usize;
    /// Sum of the sizes of what makes up the velocities of a contact, before the step or after it: the unit of their rounding.
    fn speed(&self, contact: ContactKey) -> f64;
}

/// One group, in which everything moves at this speed.
#[cfg(test)]
pub(super) struct OneGroup(pub f64);

#[cfg(test)]
impl ActingTogether for OneGroup {
    fn group(&self, _contact: ContactKey) -> usize {
        0
    }

    fn speed(&self, _contact: ContactKey) -> f64 {
        self.0
    }
}
