//! What is left of the run of a world.

use serde::{Deserialize, Serialize};

use crate::records::{PhaseTimes, StepRecord, WorldWatch};
use crate::systems::world::{Dimension, World};

use super::Simulation;
use super::summary::nan_if_null;

/// Accounts of a world over a run, kept in checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldAccounts {
    /// Contacts, sweeps, overlaps.
    pub watch: WorldWatch,
}

impl WorldAccounts {
    /// Enters a step of a world.
    pub(super) fn enter(&mut self, record: &StepRecord, world: &World) {
        self.watch
            .observe(record, |[a, b]| world.slop_of(a as usize, b as usize));
    }
}

/// Most and mean of a number over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MostAndMean {
    /// Largest.
    pub most: u64,
    /// Mean.
    pub mean: f64,
}

/// The worst overlap of two bodies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PenetrationSummary {
    /// Depth; 0 where no bodies overlapped.
    pub worst: f64,
    /// Time of the step.
    pub time: f64,
    /// The contact; empty where there is none.
    pub pair: String,
}

/// The momentum account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentumSummary {
    /// Largest imbalance of linear momentum in one step.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst_linear: f64,
    /// Largest imbalance of angular momentum in one step.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst_angular: f64,
    /// Largest imbalance in units of what rounding allows.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst_ratio: f64,
    /// Whether the account of every step closed.
    pub closed: bool,
}

/// Bodies, contacts and accounts of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldSummary {
    /// 2 or 3.
    pub dimension: u32,
    /// Names of all bodies, in the order of their numbers.
    pub bodies: Vec<String>,
    /// Numbers of the bodies whose motion is written.
    pub recorded: Vec<u32>,
    /// Gap, relative to the size of a body, below which a contact is closed.
    pub slop: f64,
    /// Worst overlap.
    pub penetration: PenetrationSummary,
    /// Contacts per step.
    pub contacts: MostAndMean,
    /// Iterations of the contact solver per step.
    pub sweeps: MostAndMean,
    /// Steps in which positions were projected.
    pub projections: u64,
    /// Steps in which sweeps left an island to second-order methods.
    #[serde(default)]
    pub second_order: u64,
    /// Steps whose contact problem was left above the tolerance of the solver.
    pub unsolved: u64,
    /// The momentum account.
    pub momentum: MomentumSummary,
    /// Seconds per phase since the run was started or resumed.
    pub phases: PhaseTimes,
}

impl WorldSummary {
    /// Sums up a world; none for another system.
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let world = simulation.system().as_world()?;
        let WorldAccounts { watch } = simulation.world_accounts()?;
        let momentum = simulation.momentum_ledger();
        let steps = watch.steps.max(1) as f64;
        let penetration = match watch.penetration {
            Some((worst, time, key)) => PenetrationSummary {
                worst,
                time,
                pair: world.contact_name(key),
            },
            None => PenetrationSummary::default(),
        };
        Some(Self {
            dimension: match world.dimension {
                Dimension::Plane => 2,
                Dimension::Space => 3,
            },
            bodies: world.bodies.iter().map(|body| body.name.clone()).collect(),
            recorded: world.recording.bodies(world.bodies.len()),
            slop: world.slop,
            penetration,
            contacts: MostAndMean {
                most: watch.contacts_most,
                mean: watch.contacts_sum as f64 / steps,
            },
            sweeps: MostAndMean {
                most: watch.sweeps_most,
                mean: watch.sweeps_sum as f64 / steps,
            },
            projections: watch.projections,
            second_order: watch.second_order,
            unsolved: watch.unsolved,
            momentum: MomentumSummary {
                worst_linear: momentum.worst_linear,
                worst_angular: momentum.worst_angular,
                worst_ratio: momentum.worst_ratio,
                closed: momentum.is_closed(),
            },
            phases: watch.times,
        })
    }
}
