//! Every solution of a step with a verdict in words, and runs that stop, choose or follow them all.

use serde::{Deserialize, Serialize};

use crate::algebra::PivotedCholesky;
use crate::contact::ContactProblem;
use crate::simulation::Simulation;
use crate::solvers::enumeration::{
    Enumeration, EnumerationError, EnumerationSettings, FoundSolution, Verdict, Work,
    enumerate_under, natural_map_size, reach,
};
use crate::stepping::TimeSteppingScheme;
use crate::systems::MechanicalSystem;

use super::{one_step_problem, touching_problem};

pub use super::choice::{BranchControl, ChoiceRule, EnumeratingSolver};

/// |γ| at most this part of W_NN is zero within the rounding of typical data, and counts as zero where the step vanishes.
const NEARLY_DEGENERATE: f64 = 1e-8;

/// All solutions of one step.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::solvers::enumeration::EnumerationSettings;
///
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// // The ball is in the air: it falls, and nothing else.
/// let study = scene.branches(1e-9, 1e-3, &EnumerationSettings::default())??;
/// assert_eq!(study.velocities.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchStudy {
    /// What the law says.
    pub verdict: Verdict,
    /// The solutions, one per motion.
    pub enumeration: Enumeration,
    /// Generalized velocity after the step, per solution.
    pub velocities: Vec<Vec<f64>>,
    /// Whether the impulse of a solution stays finite as the step shrinks.
    pub impulsive: Vec<bool>,
    /// γ/W_NN per block.
    pub margins: Vec<f64>,
    /// Rank and number of the normal rows: impulses are not unique where they differ.
    pub normal_rank: (usize, usize),
    /// Where some γ is zero within the rounding of the data: the solutions as the step vanishes. A continuum
    /// that reaches down to no impulse at all (the grazing end) is seen only there.
    pub degenerate: Option<Enumeration>,
}

impl BranchStudy {
    /// The study for programs; a range without end is `null` there.
    pub fn to_json(&self) -> serde_json::Value {
        let set = |s: &FoundSolution| {
            serde_json::json!({
                "example": s.impulse,
                "least": s.range.least,
                "largest": s.range.largest,
                "unique": s.continuum.is_none(),
                "continuum": s.continuum,
            })
        };
        let motion = |(k, s): (usize, &FoundSolution)| {
            serde_json::json!({
                "modes": s.modes,
                "words": s.modes.iter().map(|mode| mode.word()).collect::<Vec<_>>(),
                "velocity": self.velocities[k],
                "local_velocity": s.local_velocity,
                "local_velocities": { "least": s.velocity_range.least, "largest": s.velocity_range.largest },
                "decided": s.decided,
                "impact": self.impulsive[k],
                "impulses": set(s),
                "residual": s.residual,
            })
        };
        let found = &self.enumeration;
        let limit = self.degenerate.as_ref();
        serde_json::json!({
            "verdict": self.verdict.word(),
            "text": self.verdict.to_string(),
            "motions": found.solutions.len(),
            "method": found.method,
            "groups": found.groups,
            "margins": self.margins,
            "normal_rank": self.normal_rank.0,
            "normal_rows": self.normal_rank.1,
            "nearly_degenerate": limit.is_some(),
            "solutions": found.solutions.iter().enumerate().map(motion).collect::<Vec<_>>(),
            "as_the_step_vanishes": limit.map(|e| e.solutions.iter().map(set).collect::<Vec<_>>()),
        })
    }
}

impl BranchStudy {
    /// Finds all solutions of the step of length h from (t, q, v) under Coulomb's law.
    ///
    /// All contacts take part that an impact at the instant has, opening or not. In a world the scheme is its own, and all contacts that it finds
    /// within reach take part.
    ///
    /// The verdict is *inconsistent without impact* where no contact approaches and yet every solution has an impulse that
    /// does not shrink with the step (seen by comparing h with h/2).
    pub fn of_step(
        system: &dyn MechanicalSystem,
        scheme: &mut dyn TimeSteppingScheme,
        (t, q, v): (f64, &[f64], &[f64]),
        h: f64,
        settings: &EnumerationSettings,
    ) -> Result<Self, EnumerationError> {
        Self::under(system, scheme, (t, q, v), h, (settings, &Work::default()))
    }

    /// The same under somebody's eyes, who may end it.
    pub fn under(
        system: &dyn MechanicalSystem,
        scheme: &mut dyn TimeSteppingScheme,
        (t, q, v): (f64, &[f64], &[f64]),
        h: f64,
        (settings, work): (&EnumerationSettings, &Work),
    ) -> Result<Self, EnumerationError> {
        let instant = one_step_problem(system, scheme, (t, q, v), 0.0);
        let touching = touching(system, &instant);
        let problem = touching_problem(system, scheme, (t, q, v), h, &touching);
        let enumeration = enumerate_under(&problem, settings, work)?;
        let half = touching_problem(system, scheme, (t, q, v), 0.5 * h, &touching);
        let impulsive: Vec<bool> = enumeration
            .solutions
            .iter()
            .map(|s| is_impulsive(s, &half))
            .collect();
        let scale = instant.free().iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let approaches = instant
            .blocks()
            .iter()
            .any(|b| instant.free()[b.start] < -1e-9 * scale);
        let verdict = match enumeration.verdict() {
            open @ (Verdict::NoneFound | Verdict::NotExamined) => open,
            _ if !approaches && impulsive.iter().all(|&x| x) => Verdict::InconsistentWithoutImpact,
            other => other,
        };
        let velocities = enumeration
            .solutions
            .iter()
            .map(|s| {
                let mut out = vec![0.0; problem.dof()];
                problem.velocity(&s.impulse, &mut out);
                if let Some(world) = system.as_world() {
                    world.unwhiten(v, &mut out);
                }
                out
            })
            .collect();
        let m = problem.size();
        let w = problem.dense();
        let margins: Vec<f64> = problem
            .blocks()
            .iter()
            .map(|b| {
                let normal = &w[b.start * m + b.start..][..b.size];
                crate::solvers::one_contact::gamma(normal, &b.section) / normal[0]
            })
            .collect();
        let degenerate = margins.iter().any(|x| x.abs() <= NEARLY_DEGENERATE);
        let degenerate = match degenerate {
            true => {
                let rounding = NEARLY_DEGENERATE.max(settings.rounding);
                let settings = EnumerationSettings {
                    rounding,
                    ..*settings
                };
                Some(enumerate_under(&instant, &settings, work)?)
            }
            false => None,
        };
        let rows: Vec<usize> = problem.blocks().iter().map(|b| b.start).collect();
        let mut normals = Vec::with_capacity(rows.len() * rows.len());
        for &i in &rows {
            normals.extend(rows.iter().map(|&j| w[i * m + j]));
        }
        let mut factor = PivotedCholesky::default();
        factor.factor(rows.len(), &normals);
        Ok(Self {
            verdict,
            velocities,
            impulsive,
            margins,
            enumeration,
            normal_rank: (factor.rank(), rows.len()),
            degenerate,
        })
    }
}

/// The constraints of an impact at the instant: contacts that touch take part in the step, too, though they may be forecast to open.
fn touching(system: &dyn MechanicalSystem, instant: &ContactProblem) -> Vec<bool> {
    let mut touching = vec![false; system.constraints().len()];
    // Contacts of a world are those that its step finds.
    if !touching.is_empty() && system.as_world().is_none() {
        for block in instant.blocks() {
            touching[block.key.constraint()] = true;
        }
    }
    touching
}

/// Whether an impulse stays finite as the step shrinks: at half the step it is nearer to a solution than its half. A
/// continuum does only if both of its ends do.
fn is_impulsive(solution: &FoundSolution, half: &ContactProblem) -> bool {
    let stays = |impulse: &[f64]| {
        if half.size() != impulse.len() {
            return impulse.iter().any(|&p| p != 0.0);
        }
        // Impulses that move nothing beyond rounding are none.
        if reach(half, impulse) <= half.noise() {
            return false;
        }
        let halved: Vec<f64> = impulse.iter().map(|p| 0.5 * p).collect();
        natural_map_size(half, impulse) < natural_map_size(half, &halved)
    };
    let ends = solution.continuum.iter().flat_map(|c| &c.ends);
    stays(&solution.impulse) && ends.into_iter().all(|end| stays(end))
}

/// One trajectory of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Branch it left, if any.
    pub parent: Option<usize>,
    /// Time at which it left.
    pub t_start: f64,
    /// Which solution it took there.
    pub choice: usize,
    /// Times.
    pub t: Vec<f64>,
    /// Configurations.
    pub q: Vec<Vec<f64>>,
    /// Velocities.
    pub v: Vec<Vec<f64>>,
    /// Whether it reached the end time.
    pub finished: bool,
}

/// All trajectories of a start, up to a bound.
///
/// ```
/// use stickslip::prelude::*;
///
/// // A rod that slides, inside Painlevé's region: it may take off, slide on or jam.
/// let scene = Scene::parse(find_in_gallery("painleve-start").ok_or("no such scene")?.source())?;
/// let tree = scene.branch_tree()?;
/// assert_eq!((tree.branches.len(), tree.left_out), (3, 0));
/// assert!(tree.branches.iter().all(|branch| branch.finished));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BranchTree {
    /// The branches; the first one follows the rule throughout.
    pub branches: Vec<Branch>,
    /// Branchings that were left out at the bound.
    pub left_out: usize,
}

impl BranchTree {
    /// Follows every branch of a run from its present state to `t_end`.
    ///
    /// `simulation` must use an [`EnumeratingSolver`] with this `control`. A trajectory branches where the number of
    /// solutions becomes larger than one, not again while it stays so: a bar that may jam at any time would
    /// otherwise branch at every step. An impact at the initial instant is a step like the others.
    pub fn follow(
        simulation: &mut Simulation,
        control: &BranchControl,
        t_end: f64,
        branches_max: usize,
    ) -> Self {
        let mut tree = Self::default();
        // An impact at the initial instant is a step that has been made.
        let (found, chosen) = match simulation.has_struck_at_start() {
            true => control.last(),
            false => (1, 0),
        };
        let start = Some(simulation.checkpoint());
        let mut waiting = vec![(None, chosen, start, None)];
        for k in (0..found).filter(|&k| k != chosen) {
            if waiting.len() < branches_max {
                waiting.insert(0, (Some(0), k, None, Some(k)));
            } else {
                tree.left_out += 1;
            }
        }
        while let Some((parent, choice, checkpoint, forced)) = waiting.pop() {
            control.release();
            let mut forced: Option<usize> = forced;
            let mut several = forced.is_some() || tree.branches.is_empty() && found > 1;
            // The checkpoint is one of this simulation; without one the initial impact is made again.
            let made = match checkpoint {
                Some(checkpoint) => simulation.restore(checkpoint).is_ok(),
                None => {
                    forced.take().into_iter().for_each(|k| control.force(k));
                    simulation.begin_again()
                }
            };
            if !made {
                continue;
            }
            let index = tree.branches.len();
            let mut branch = Branch {
                parent,
                t_start: simulation.state().t,
                choice,
                t: Vec::new(),
                q: Vec::new(),
                v: Vec::new(),
                finished: false,
            };
            loop {
                let state = simulation.state();
                branch.t.push(state.t);
                branch.q.push(state.q.clone());
                branch.v.push(state.v.clone());
                if simulation.has_reached(t_end) {
                    branch.finished = true;
                    break;
                }
                let before = simulation.checkpoint();
                if let Some(k) = forced.take() {
                    control.force(k);
                }
                let fatal = simulation.step_towards(t_end).outcome.is_fatal();
                let (found, chosen) = control.last();
                if found > 1 && !several {
                    for k in (0..found).filter(|&k| k != chosen) {
                        if tree.branches.len() + 1 + waiting.len() < branches_max {
                            waiting.push((Some(index), k, Some(before.clone()), Some(k)));
                        } else {
                            tree.left_out += 1;
                        }
                    }
                }
                several = found > 1;
                if fatal {
                    break;
                }
            }
            tree.branches.push(branch);
        }
        tree
    }
}
