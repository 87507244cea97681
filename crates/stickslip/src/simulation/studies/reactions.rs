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
/// part `R_N 1{R_N ≤ Λ}`, except that the flanks of an atom belong to it: what presses without a break within `π τ`, the
/// length of an impact, before or after a force above Λ. Pieces of one uninterrupted contact that rise above Λ are one
/// atom.
///
/// # Source
/// [Schatzman] decomposes the approximations of the reaction into a sum of which one term tends to the
/// continuous and one to the atomic part of the limit. The level is ours.
///
/// # Guarantees
/// The part above Λ lives on a set of length at most `√(T τ)` (Chebyshev), its flanks on one of length O(τ) per atom: both
/// shrink to nothing. An impact has a force of order 1/τ and lasts O(τ): with its flanks it is an atom entirely, and a
/// force-free impact leaves no continuous part. A force that stays bounded falls under Λ, which grows like `τ^{−1/2}`.
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
///
/// ```
/// use stickslip::laws::NormalCompliance;
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::ReactionRecorder;
///
/// let law = ContactLaw::frictionless(ImpactLaw::Inelastic)?;
/// let ground = UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
///     .with_point(ContactFrame::Frictionless, law);
/// let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-10.0]);
/// let ball = ball.constraint(ground).build(&[0.2])?;
/// let compliance = NormalCompliance::new(1e-4)?;
/// let (scheme, solver) = (Box::new(NormalCompliancePenalty::new(compliance)), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(5e-6);
/// let mut run = Simulation::new(Box::new(ball), scheme, solver, (&[0.2], &[0.0]), settings)?;
/// let mut reactions = ReactionRecorder::new(0.0, &[0.0]);
/// run.run_until(0.3, |step| { reactions.observe(step); ControlFlow::Continue(()) });
/// // One elastic impact at 2 m/s: an impulse of 4 Ns, and no lasting contact.
/// let ground = &reactions.split(1e-4).contacts[0];
/// assert_eq!(ground.atoms.len(), 1);
/// assert!((ground.atoms[0].normal - 4.0).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
                .map(|presses| {
                    let window = (duration * compliance_time).sqrt();
                    split(presses, window, std::f64::consts::PI * compliance_time)
                })
                .collect(),
        }
    }
}

/// Which steps belong to an atom: those above the level, and what presses without a break within `flank` of them.
fn atomic_steps(presses: &[Press], level: f64, flank: f64) -> Vec<bool> {
    let above: Vec<bool> = presses
        .iter()
        .map(|press| press.impulse[0] > level * press.h)
        .collect();
    let mut marked = above.clone();
    // Forwards from the last step above the level, then backwards.
    let mut reach = f64::NEG_INFINITY;
    for (k, press) in presses.iter().enumerate() {
        if !press.follows {
            reach = f64::NEG_INFINITY;
        }
        if above[k] {
            reach = press.t + press.h + flank;
        }
        marked[k] |= press.t < reach;
    }
    let mut reach = f64::INFINITY;
    for (k, press) in presses.iter().enumerate().rev() {
        if above[k] {
            reach = press.t - flank;
        }
        marked[k] |= press.t + press.h > reach;
        if !press.follows {
            reach = f64::INFINITY;
        }
    }
    marked
}

fn split(presses: &[Press], window: f64, flank: f64) -> ContactReaction {
    let normal: f64 = presses.iter().map(|press| press.impulse[0]).sum();
    let mut reaction = ContactReaction {
        normal,
        level: if window > 0.0 { normal / window } else { 0.0 },
        ..ContactReaction::default()
    };
    // Whether the contact has been closed without a break since the last atom.
    let mut joined = false;
    let atomic = atomic_steps(presses, reaction.level, flank);
    for (press, atomic) in presses.iter().zip(atomic) {
        joined &= press.follows;
        let p = press.impulse[0];
        let friction = &press.impulse[1..];
        reaction.tangential += friction.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !atomic {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::ContactRecord;

    /// A run in which the normal force at time t is `force(t)`.
    fn recorded(force: impl Fn(f64) -> f64, h: f64, steps: usize) -> ReactionRecorder {
        let mut recorder = ReactionRecorder::new(0.0, &[0.0]);
        for k in 0..steps {
            let t = (k + 1) as f64 * h;
            recorder.observe(&StepRecord {
                t,
                h,
                velocity: vec![0.0],
                contacts: vec![ContactRecord {
                    size: 1,
                    ..Default::default()
                }],
                impulses: vec![h * force(t - 0.5 * h).max(0.0)],
                ..Default::default()
            });
        }
        recorder
    }

    #[test]
    fn a_force_free_impact_is_an_atom_entirely() {
        let tau = 1e-3;
        let pulse = |t: f64| {
            let s = (t - 0.3) / tau;
            if (0.0..std::f64::consts::PI).contains(&s) {
                s.sin() / tau
            } else {
                0.0
            }
        };
        let split = recorded(pulse, tau / 50.0, 50_000).split(tau);
        let contact = &split.contacts[0];
        assert_eq!(contact.continuous, 0.0);
        assert_eq!(contact.atoms.len(), 1);
        assert!((contact.atoms[0].normal - 2.0).abs() < 1e-3);
    }

    #[test]
    fn the_weight_after_an_impact_stays_continuous() {
        for tau in [1e-3, 1e-4] {
            let force = |t: f64| {
                let s = (t - 0.3) / tau;
                let weight = if t > 0.3 { 5.0 } else { 0.0 };
                if (0.0..std::f64::consts::PI).contains(&s) {
                    weight + s.sin() / tau
                } else {
                    weight
                }
            };
            let steps = (1.0 / (tau / 20.0)).round() as usize;
            let contact = recorded(force, tau / 20.0, steps).split(tau).contacts[0].clone();
            // the weight of the impact itself and of its flank, both O(τ), count with the atom
            assert!(
                (contact.atomic - 2.0).abs() < 5.0 * 7.0 * tau,
                "{contact:?}"
            );
            assert!((contact.continuous - 3.5).abs() < 5.0 * 7.0 * tau);
        }
    }
}
