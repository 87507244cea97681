//! The velocities of contacts that a run recorded.

use crate::laws::ImpactLaw;

use super::friction::Contact;
use super::judge::Judge;
use super::place::Place;
use super::{Discretisation, Line, MotionNode, Verification};

/// Two ways to add up one velocity differ by this part of the sizes that were summed.
const ROUNDING: f64 = 1e-9;
/// Velocities below this part of the speeds of the motion are known to fewer digits: a spin that turns leaves its rounding in rows that rest.
const SLOW: f64 = 1e-5;

impl Judge<'_> {
    /// Recorded velocities of contacts are those of the step that began with the velocity v, where its laws read them: after it, and
    /// under Frémond's law in its mean along the tangents. A contact that took no part has none; without impulse either is right.
    pub(super) fn sliding(
        &self,
        place: &Place,
        (rule, friction): (Discretisation, f64),
        v: &[f64],
        b: &MotionNode,
        report: &mut Verification,
    ) {
        if b.sliding.is_empty() {
            return;
        }
        let (before, after) = (place.local(v), place.local(&b.v_right));
        let points = self.system.constraints().iter().flat_map(|c| c.points());
        let mut last = None;
        for (contact, point) in place.contacts.iter().zip(points) {
            // One normal velocity stands for all points of a constraint, or each of them tells it.
            let shares = last == Some(contact.constraint) && b.sliding[contact.start] == 0.0;
            last = Some(contact.constraint);
            let mean = matches!(point.law.impact(), ImpactLaw::Fremond { .. });
            let weight = match rule {
                Discretisation::Theta { .. } if mean => friction,
                _ => 1.0,
            };
            let off = |i: usize, part: f64| {
                let weight = if i == contact.start { 1.0 } else { weight };
                let read = (1.0 - weight) * before[i] + weight * after[i];
                let size = place.local_size(i, v).max(place.local_size(i, &b.v_right));
                (b.sliding[i] - part * read).abs() / size.max(SLOW * self.row_speed(place, i))
            };
            let rows = || contact.start + usize::from(shares)..contact.start + contact.size;
            let worst = |part: f64| rows().map(|i| off(i, part)).fold(0.0, f64::max);
            // A contact without impulse may have taken part or not.
            let pushed = rows_of(contact).any(|i| b.atom.get(i).is_some_and(|&p| p != 0.0));
            let size = if pushed {
                worst(1.0)
            } else {
                worst(1.0).min(worst(0.0))
            };
            if !(size <= ROUNDING) {
                report.note(
                    Line::ContactRecord,
                    b.t,
                    size,
                    self.name(contact.constraint),
                );
            }
        }
    }
}

fn rows_of(contact: &Contact) -> std::ops::Range<usize> {
    contact.start..contact.start + contact.size
}
