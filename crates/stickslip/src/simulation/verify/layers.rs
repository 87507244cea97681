//! Impacts of the energetic law: what is left of impulses without those of the layers that the law names.

use std::cell::Cell;

use crate::laws::{SpatialImpact, energetic_impact_at_slip, energetic_impact_in_space};
use crate::systems::{Instant, MechanicalSystem};

use super::friction::Contact;
use super::judge::Judge;
use super::place::Place;
use super::run_steps::RESTING;
use super::{Formulation, Line, Verification};

/// Couplings below this part of their size are rounding.
const UNCOUPLED: f64 = 1e-12;

impl Judge<'_> {
    /// Restitution that velocities show after the layers of an impact.
    pub(super) fn restitution(&self, contact: &Contact) -> f64 {
        match self.formulation {
            Formulation::Energetic => 0.0,
            _ => contact.restitution,
        }
    }

    /// The impulses `p` less those of the layers of the contacts that approach with the local velocity `before`, or that slip
    /// jams; what is left obeys the inelastic law on the velocity after. Friction is read by `system` at an instant.
    ///
    /// A contact that does not approach, and that its friction drives into the obstacle, may have slid on with the reaction which
    /// holds it: per unit of its normal impulse that presses it in as its layer does at first. An impulse that does not is a jam, and
    /// is all of its layer. Layers that act on each other are no answer of the law.
    pub(super) fn without_layers(
        &self,
        system: &dyn MechanicalSystem,
        place: &Place,
        at: &Instant,
        (before, p): (&[f64], &[f64]),
        report: &mut Verification,
    ) -> Vec<f64> {
        let mut left = p.to_vec();
        if self.formulation != Formulation::Energetic || p.iter().all(|&p| p == 0.0) {
            return left;
        }
        let mut struck: Vec<&Contact> = Vec::new();
        for contact in place.contacts.iter().filter(|c| c.closed) {
            let (i, rows) = (contact.start, contact.start..contact.start + contact.size);
            let own = &p[rows.clone()];
            if !(own[0] > 0.0) {
                continue;
            }
            let resting = RESTING * self.row_speed(place, i);
            let mut u = before[rows.clone()].to_vec();
            let strikes = u[0] < -resting;
            if !strikes {
                u[0] = 0.0;
            }
            if u.iter().all(|u| u.abs() <= resting) {
                continue;
            }
            let Some(layer) = self.layer(system, place, contact, at, &u) else {
                report.note(
                    Line::ImpactLaw,
                    at.t,
                    f64::INFINITY,
                    self.name(contact.constraint),
                );
                continue;
            };
            if !strikes && !jams(place, contact, own, &layer) {
                continue;
            }
            if struck.iter().any(|other| coupled(place, other, contact)) {
                report.note(
                    Line::ImpactLaw,
                    at.t,
                    f64::INFINITY,
                    self.name(contact.constraint),
                );
            }
            struck.push(contact);
            let size = own.iter().fold(0.0f64, |m, p| m.max(p.abs()));
            let left = &mut left[rows];
            left.iter_mut()
                .zip(&layer.impulse)
                .for_each(|(x, p)| *x -= p);
            if left
                .iter()
                .all(|x| x.abs() <= self.settings.tolerance * size)
            {
                left.fill(0.0);
            }
        }
        left
    }

    /// The layer of a contact from the velocity u; none where it has no end or friction is no coefficient.
    fn layer(
        &self,
        system: &dyn MechanicalSystem,
        place: &Place,
        contact: &Contact,
        at: &Instant,
        u: &[f64],
    ) -> Option<SpatialImpact> {
        let (m, start, size) = (place.rows.len(), contact.start, contact.size);
        let entry = |e: usize| place.delassus[(start + e / size) * m + start + e % size];
        let w: Vec<f64> = (0..size * size).map(entry).collect();
        let point = &self.system.constraints()[contact.constraint].points()[contact.point];
        let e = contact.restitution;
        let Some(slip) = &point.slip else {
            let layer = energetic_impact_in_space(&w, u, &contact.section, e);
            return Some(layer).filter(|layer| layer.finished);
        };
        let at = Instant {
            past: system.past(),
            ..*at
        };
        let section = point.section_without_slip(&at).ok()?;
        let bad = Cell::new(false);
        let factor = |s: f64| {
            let value = slip.factor(&at, s);
            let allowed = value >= 0.0 && value.is_finite();
            bad.set(bad.get() || !allowed);
            if allowed { value } else { 0.0 }
        };
        let layer = energetic_impact_at_slip(&w, u, &section, &factor, e);
        Some(layer).filter(|layer| layer.finished && !bad.get())
    }
}

/// Whether an impulse of a contact that does not approach is a jam, and not that of sliding on.
fn jams(place: &Place, contact: &Contact, p: &[f64], layer: &SpatialImpact) -> bool {
    let row = contact.start * place.rows.len() + contact.start;
    let lift = |p: &[f64]| {
        let parts = p.iter().zip(&place.delassus[row..]).map(|(p, w)| w * p);
        parts.sum::<f64>() / p[0]
    };
    let first = layer.path.iter().find(|p| p.iter().any(|&p| p != 0.0));
    layer.impulse[0] > 0.0 && first.is_some_and(|first| lift(p) > 0.5 * lift(first))
}

/// Whether an impulse at one contact is felt at the other.
fn coupled(place: &Place, a: &Contact, b: &Contact) -> bool {
    let m = place.rows.len();
    let w = |i: usize, j: usize| place.delassus[i * m + j];
    (a.start..a.start + a.size).any(|i| {
        (b.start..b.start + b.size).any(|j| w(i, j).abs() > UNCOUPLED * (w(i, i) * w(j, j)).sqrt())
    })
}
