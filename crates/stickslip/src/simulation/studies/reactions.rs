//! The normal reaction of a compliant run, split into what becomes atoms and what stays continuous.

use serde::Serialize;

use crate::records::StepRecord;

/// An impact of a compliant contact: what becomes a Dirac mass of the reaction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReactionAtom {
    /// Time at which the reaction rises above its level.
    pub t: f64,
    /// How long it stays there.
    pub duration: f64,
    /// Normal impulse.
    pub normal: f64,
    /// Tangential impulse per unit of normal impulse, −μ S of the source in the plane.
    pub friction: Vec<f64>,
}

/// The reaction of one contact over a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ContactReaction {
    /// ∫ R_N dt.
    pub normal: f64,
    /// ∫ |R_T| dt.
    pub tangential: f64,
    /// Level Λ of the force that separates the two parts.
    pub level: f64,
    /// Normal impulse above the level.
    pub atomic: f64,
    /// Normal impulse below the level.
    pub continuous: f64,
    /// Time spent above the level.
    pub atomic_time: f64,
    /// The atoms in order of time.
    pub atoms: Vec<ReactionAtom>,
}

/// The reactions of a run of length T with the compliance time τ, split into two parts.
///
/// # What it computes
/// For every contact, with `P = ∫ R_N dt` and `Λ = P/√(T τ)`: the atomic part `R_N 1{R_N > Λ}` and the continuous
/// part `R_N 1{R_N ≤ Λ}`. Pieces of one uninterrupted contact that rise above Λ are one atom.
///
/// # Source
/// [Schatzman] decomposes the approximations of the reaction into a sum of which one term tends to the
/// continuous and one to the atomic part of the limit. The level is ours.
///
/// # Guarantees
/// The atomic part lives on a set of length at most `√(T τ)` (Chebyshev), which shrinks to nothing. An impact
/// has a force of order 1/τ and lasts O(τ), so that of its impulse at most `Λ O(τ) = O(√τ)` is missed; a force that
/// stays bounded falls under Λ, which grows like `τ^{−1/2}`.
///
/// # Behaviour to know
/// At a given τ impacts much slower than the rest count as continuous: about those with a normal velocity below
/// `W_NN P √(τ/T)`.
///
/// # Cost
/// Two numbers per step in contact are kept.
///
/// # Tested by
/// `tests/property_penalty.rs`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReactionSplit {
    /// Length T of the run.
    pub duration: f64,
    /// Compliance time τ.
    pub compliance_time: f64,
    /// Variation of the velocity, in the Euclidean norm of the coordinates.
    pub variation: f64,
    /// The contacts in the order of the records.
    pub contacts: Vec<ContactReaction>,
}

/// One step in contact.
#[derive(Clone, Debug)]
struct Press {
    t: f64,
    h: f64,
    impulse: Vec<f64>,
    /// Whether the contact pressed in the step before.
    follows: bool,
}

/// Collects the reactions of a run, step by step.
#[derive(Clone, Debug)]
pub struct ReactionRecorder {
    start: f64,
    end: f64,
    velocity: Vec<f64>,
    variation: f64,
    presses: Vec<Vec<Press>>,
    pressed: Vec<bool>,
}

impl ReactionRecorder {
    /// Starts at time `t` with the velocity `v`.
    pub fn new(t: f64, v: &[f64]) -> Self {
        Self {
            start: t,
            end: t,
            velocity: v.to_vec(),
            variation: 0.0,
            presses: Vec::new(),
            pressed: Vec::new(),
        }
    }

    /// Reads a step.
    pub fn observe(&mut self, record: &StepRecord) {
        self.end = record.t;
        let changes = record.velocity.iter().zip(&self.velocity);
        self.variation += changes.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        self.velocity.clone_from(&record.velocity);
        self.presses.resize(record.contacts.len(), Vec::new());
        self.pressed.resize(record.contacts.len(), false);
        for (c, contact) in record.contacts.iter().enumerate() {
            let impulse = &record.impulses[contact.start..contact.start + contact.size];
            let presses = impulse.first().is_some_and(|&p| p > 0.0);
            if presses {
                self.presses[c].push(Press {
                    t: record.t - record.h,
                    h: record.h,
                    impulse: impulse.to_vec(),
                    follows: self.pressed[c],
                });
            }
            self.pressed[c] = presses;
        }
    }

    /// Splits what was read, for the compliance time τ.
    pub fn split(&self, compliance_time: f64) -> ReactionSplit {
        let duration = self.end - self.start;
        ReactionSplit {
            duration,
            compliance_time,
            variation: self.variation,
            contacts: self
                .presses
                .iter()
                .map(|presses| split(presses, (duration * compliance_time).sqrt()))
                .collect(),
        }
    }
}

fn split(presses: &[Press], window: f64) -> ContactReaction {
    let normal: f64 = presses.iter().map(|press| press.impulse[0]).sum();
    let mut reaction = ContactReaction {
        normal,
        level: if window > 0.0 { normal / window } else { 0.0 },
        ..ContactReaction::default()
    };
    // Whether the contact has been closed without a break since the last atom.
    let mut joined = false;
    for press in presses {
        joined &= press.follows;
        let p = press.impulse[0];
        let friction = &press.impulse[1..];
        reaction.tangential += friction.iter().map(|x| x * x).sum::<f64>().sqrt();
        if p <= reaction.level * press.h {
            reaction.continuous += p;
            continue;
        }
        reaction.atomic += p;
        reaction.atomic_time += press.h;
        match reaction.atoms.last_mut().filter(|_| joined) {
            Some(atom) => {
                atom.duration = press.t + press.h - atom.t;
                atom.normal += p;
                for (sum, x) in atom.friction.iter_mut().zip(friction) {
                    *sum += x;
                }
            }
            None => reaction.atoms.push(ReactionAtom {
                t: press.t,
                duration: press.h,
                normal: p,
                friction: friction.to_vec(),
            }),
        }
        joined = true;
    }
    for atom in &mut reaction.atoms {
        atom.friction.iter_mut().for_each(|x| *x /= atom.normal);
    }
    reaction
}
