//! The energy account: one entry per step, whose terms must add up to rounding.
//!
//! `ΔT + ΔV = W_ext + W_damp + D_mass + D_stiffness + D_potential + D_covariant + W_joints + Σ(W_N + W_T) + W_supports + D_projection`

use serde::{Deserialize, Serialize};

use super::{StepRecord, closing};

/// Where the energy went in one step (or, summed, in a run).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyEntry {
    /// Change of kinetic energy.
    pub kinetic_change: f64,
    /// Change of potential energy, elastic part included.
    pub potential_change: f64,
    /// Work of external forces.
    pub external: f64,
    /// Work of linear damping.
    pub damping: f64,
    /// Numerical dissipation of the scheme, `(½ − θ)|Δv|²_M`; in worlds, whose contact works take the mean velocity of the
    /// step, `(½ − θ) h f·Δv`.
    pub numerical_mass: f64,
    /// Numerical dissipation of the scheme, `(½ − θ)|Δq|²_K`.
    pub numerical_stiffness: f64,
    /// Integration defect of a nonlinear potential, `ΔV − Δq·∇V` at the point of evaluation.
    pub potential_defect: f64,
    /// Integration defect of the covariant term and of a configuration-dependent mass.
    pub covariant_defect: f64,
    /// Work of joint impulses.
    pub joints: f64,
    /// Work of normal contact impulses.
    pub contact_normal: f64,
    /// Work of friction impulses.
    pub contact_tangential: f64,
    /// Work of supports: of moving obstacles and driven bodies at their contacts, whose other works are those on the
    /// relative motion.
    #[serde(default)]
    pub supports: f64,
    /// Change of potential energy by a projection of positions.
    #[serde(default)]
    pub projection: f64,
}

impl EnergyEntry {
    /// Sum of all works and defects.
    pub fn supply(&self) -> f64 {
        let [_, _, supplied @ ..] = self.terms();
        supplied.iter().map(|(_, term)| term).sum()
    }

    /// Change of energy minus what was supplied; must be rounding.
    pub fn imbalance(&self) -> f64 {
        self.kinetic_change + self.potential_change - self.supply()
    }

    /// Terms with their names, in the order of the account.
    pub fn terms(&self) -> [(&'static str, f64); 13] {
        [
            ("kinetic_change", self.kinetic_change),
            ("potential_change", self.potential_change),
            ("external", self.external),
            ("damping", self.damping),
            ("numerical_mass", self.numerical_mass),
            ("numerical_stiffness", self.numerical_stiffness),
            ("potential_defect", self.potential_defect),
            ("covariant_defect", self.covariant_defect),
            ("joints", self.joints),
            ("contact_normal", self.contact_normal),
            ("contact_tangential", self.contact_tangential),
            ("supports", self.supports),
            ("projection", self.projection),
        ]
    }

    /// The entry whose terms come one after the other, in the order of [`Self::terms`].
    pub(crate) fn from_terms(mut next: impl FnMut() -> f64) -> Self {
        Self {
            kinetic_change: next(),
            potential_change: next(),
            external: next(),
            damping: next(),
            numerical_mass: next(),
            numerical_stiffness: next(),
            potential_defect: next(),
            covariant_defect: next(),
            joints: next(),
            contact_normal: next(),
            contact_tangential: next(),
            supports: next(),
            projection: next(),
        }
    }

    /// Sum of the absolute terms, without those of contacts.
    fn absolute_sum(&self) -> f64 {
        let [before @ .., _, _, supports, projection] = self.terms();
        let own = before.into_iter().chain([supports, projection]);
        own.map(|(_, term)| term.abs()).sum()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let (own, other) = (self.terms(), other.terms());
        let mut sums = own.iter().zip(&other).map(|((_, a), (_, b))| a + b);
        *self = Self::from_terms(|| sums.next().unwrap_or_default());
    }
}

/// Sums the entries of a run and checks each of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyLedger {
    /// Sum of all entries.
    pub totals: EnergyEntry,
    /// Energy at the start (kinetic plus potential).
    pub energy_start: f64,
    /// Largest imbalance in units of the rounding allowance; at most 1 means closed.
    pub worst_ratio: f64,
    /// Largest absolute imbalance of one step.
    pub worst_imbalance: f64,
    /// Time of the largest ratio.
    pub worst_time: f64,
    /// Number of steps that did not close.
    pub open_steps: u64,
    /// Number of entries.
    pub entries: u64,
}

impl EnergyLedger {
    /// Starts an account at the given energy.
    pub fn new(energy_start: f64) -> Self {
        Self {
            energy_start,
            ..Self::default()
        }
    }

    /// Enters a step; returns whether it closed within 50 units of rounding.
    pub fn enter(&mut self, record: &StepRecord) -> bool {
        let (t, entry) = (record.t, &record.energy);
        self.totals.add(entry);
        self.entries += 1;
        let imbalance = entry.imbalance().abs();
        // The works of several contacts may cancel; each of them is a term.
        let works: f64 = record
            .contacts
            .iter()
            .map(|contact| contact.work_normal.abs() + contact.work_tangential.abs())
            .sum();
        let present: f64 = record
            .present
            .iter()
            .map(|contact| contact.work_normal.abs() + contact.work_tangential.abs())
            .sum();
        let size = entry.absolute_sum()
            + works
            + present
            + record.energy_size
            + record.kinetic.abs()
            + record.potential.abs().max(record.potential_size);
        if imbalance > self.worst_imbalance || imbalance.is_nan() {
            self.worst_imbalance = imbalance;
        }
        let worst = (&mut self.worst_ratio, &mut self.worst_time);
        let ratio = closing::ratio(imbalance, size);
        closing::enter((t, ratio), worst, &mut self.open_steps)
    }

    /// Whether every step closed.
    pub fn is_closed(&self) -> bool {
        self.open_steps == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::ContactRecord;

    fn record(t: f64, change: f64, works: &[f64]) -> StepRecord {
        let contact = |&work_normal: &f64| ContactRecord {
            work_normal,
            ..Default::default()
        };
        StepRecord {
            t,
            kinetic: 0.5,
            energy: EnergyEntry {
                kinetic_change: change,
                contact_normal: works.iter().sum(),
                ..Default::default()
            },
            contacts: works.iter().map(contact).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn an_account_that_does_not_add_up_is_reported() {
        let mut ledger = EnergyLedger::new(1.0);
        assert!(ledger.enter(&record(0.1, -0.5, &[-0.5])));
        assert!(!ledger.enter(&record(0.2, -0.5, &[-0.5 + 1e-13])));
        assert_eq!((ledger.open_steps, ledger.worst_time), (1, 0.2));
    }

    #[test]
    fn works_that_cancel_are_terms_of_their_own() {
        // 1e3 J and -1e3 J leave a rounding of 1e3 J, however small their sum is.
        let mut ledger = EnergyLedger::new(1.0);
        let defect = 20.0 * 1e3 * f64::EPSILON;
        assert!(ledger.enter(&record(0.1, 0.0, &[1e3 + defect, -1e3])));
        assert!(!ledger.enter(&record(0.2, 0.0, &[defect, 0.0])));
    }
}
