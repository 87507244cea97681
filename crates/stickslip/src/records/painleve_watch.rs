//! Watches how near the contacts of a run come to the Painlevé region.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

use super::StepRecord;

/// Steps with a margin γ/W_NN below this are near the region.
pub const NEAR: f64 = 0.05;
/// Margins at most this count as inside: at the critical coefficient γ is rounding.
const INSIDE: f64 = 1e-12;

/// Smallest margin met and how many steps were in or near the region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PainleveWatch {
    /// Smallest margin of an active contact, with its time and contact.
    pub smallest: Option<(f64, f64, ContactKey)>,
    /// Steps with an active contact inside the region (γ ≤ 0).
    pub steps_inside: u64,
    /// Steps outside the region but near its boundary.
    pub steps_near: u64,
}

impl PainleveWatch {
    /// Takes note of one step.
    pub fn observe(&mut self, record: &StepRecord) {
        let mut least = f64::INFINITY;
        for contact in &record.contacts {
            let Some(painleve) = contact.painleve else {
                continue;
            };
            least = least.min(painleve.margin);
            if self
                .smallest
                .is_none_or(|(margin, ..)| painleve.margin < margin)
            {
                self.smallest = Some((painleve.margin, record.t, contact.key));
            }
        }
        if least <= INSIDE {
            self.steps_inside += 1;
        } else if least < NEAR {
            self.steps_near += 1;
        }
    }
}
