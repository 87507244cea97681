//! The formulation a scene belongs to, and the judgement of its motions.

use std::path::Path;

use thiserror::Error;

use crate::laws::{ActiveSpace, FlowRule, ImpactLaw, Sections};
use crate::records::TrajectoryFileError;
use crate::simulation::summary::CERTIFIED_RESIDUAL;
use crate::simulation::verify::{
    Discretisation, Formulation, Line, Motion, MotionSourceError, Opening, Verification,
    VerifySettings, contact_rows, verify, verify_run,
};
use crate::stepping::{Activation, InternalForce, MoreauJean, MoreauJeanSettings};
use crate::systems::MechanicalSystem;
use crate::systems::constraint::ContactPoint;

use super::build::theta_settings;
use super::diagnostic::SceneError;
use super::run_manifest::SceneRunError;
use super::run_nodes::RunNodes;
use super::scene::Scene;
use super::settings::Settings;
use super::words::{Law, Scheme};
use super::world_nodes::WorldNodes;

/// Why the motions of a scene are neither solutions of one of the formulations nor refused by it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoFormulation {
    /// Springs in the contacts.
    #[error("the contacts are compliant, and the formulations are about rigid contact")]
    Compliant,
    /// Contacts that are found.
    #[error(
        "a world is judged as a run, whose folder holds its contacts, and under the formulation `world` alone; the other \
         formulations are about declared constraints"
    )]
    World,
    /// Records that hold several events.
    #[error(
        "a record of the scheme event-driven holds everything since the last one, not one step"
    )]
    Events,
    /// An impact law of none of them.
    #[error(
        "constraint `{constraint}`: the impact law {law} is part of none of the formulations{with}"
    )]
    Impact {
        /// Constraint.
        constraint: String,
        /// The law.
        law: &'static str,
        /// Under which circumstance.
        with: &'static str,
    },
    /// Two laws of friction in one system.
    #[error("some contacts have the impact law {law} and others not: no formulation has both")]
    MixedImpacts {
        /// The law.
        law: &'static str,
    },
    /// Moreau's S with the mean velocity of Frémond's law.
    #[error(
        "Moreau's law S reads the velocity after an impact, Frémond's impact law makes it read a mean: no formulation has both"
    )]
    ProjectedMean,
    /// Choices that the paper does not make.
    #[error("{choice} is an extension of P4'")]
    Extension {
        /// The choice.
        choice: &'static str,
    },
    /// Moreau's S at several contacts in space.
    #[error("the law argmin at several contacts in space is none of the formulations")]
    SeveralProjections,
    /// The scene cannot be built.
    #[error("the scene has no system: {0}")]
    Scene(String),
}

/// Why a run was not judged.
#[derive(Debug, Error)]
pub enum VerifyRunError {
    /// No formulation is about it.
    #[error(transparent)]
    NoFormulation(#[from] NoFormulation),
    /// Its steps could not be read.
    #[error(transparent)]
    Nodes(#[from] MotionSourceError),
    /// Its folder could not be read.
    #[error(transparent)]
    Folder(#[from] SceneRunError),
    /// Its trajectory could not be read.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryFileError),
    /// Its scene could not be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Steps that are not there cannot be made by another problem.
    #[error(
        "{path}: the run keeps only a part of its steps, bodies or contacts, and the rest is computed again by its own scene: under another problem \
         there is nothing to judge"
    )]
    Incomplete {
        /// The folder.
        path: String,
    },
    /// A change that is about how a run is made, which it has been.
    #[error(
        "{path}: {what} would change how the run was made, which is written down in its folder: `verify` judges the run that is there, under \
         another problem (--set, --law, --impact, --sections, --active-space) where that is asked for"
    )]
    Made {
        /// The folder.
        path: String,
        /// The setting.
        what: &'static str,
    },
    /// Another problem with other rows.
    #[error(
        "{path}: a step of the run has {found} rows of contacts, and one of the changed problem {expected}"
    )]
    Rows {
        /// The folder.
        path: String,
        /// Rows of the run.
        found: usize,
        /// Rows of the problem.
        expected: usize,
    },
    /// Its trajectory lacks a column.
    #[error("{path}: no column `{column}`")]
    Column {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
}

impl Scene {
    /// The formulation whose solutions the runs of this scene should be.
    pub fn formulation(&self) -> Result<Formulation, NoFormulation> {
        let system = self.judged_system()?;
        let system = system.as_ref();
        if system.as_world().is_some() {
            return Ok(Formulation::World);
        }
        let points = || system.constraints().iter().flat_map(|c| c.points());
        let frictional = |p: &&ContactPoint| p.law.tangent_dimension() > 0;
        let energetic = |p: &ContactPoint| matches!(p.law.impact(), ImpactLaw::Energetic { .. });
        if points().any(energetic) {
            return (points().all(energetic).then_some(Formulation::Energetic))
                .ok_or(NoFormulation::MixedImpacts { law: "energetic" });
        }
        if points().filter(frictional).count() == 0 {
            return Ok(Formulation::P2);
        }
        let one = system.constraints().len() == 1;
        let either = |single, several| if one { single } else { several };
        let rules = || points().map(|p| p.law.flow_rule());
        if let Some(rule) = rules().find_map(|r| r.generalized().copied()) {
            if !one && rule.sections == Sections::Joint {
                let choice = "sections = \"joint\"";
                return Err(NoFormulation::Extension { choice });
            }
            if !one && rule.active_space == ActiveSpace::Firm {
                let choice = "active_space = \"firm\"";
                return Err(NoFormulation::Extension { choice });
            }
            return Ok(either(Formulation::P3Prime, Formulation::P4Prime));
        }
        let mean = |p: &ContactPoint| matches!(p.law.impact(), ImpactLaw::Fremond { .. });
        // Moreau's S is the inelastic P'3 of one contact, in the metric of the step, and in the plane Coulomb's law.
        if rules().any(|r| r == FlowRule::KineticProjection) {
            if points().filter(frictional).any(mean) {
                return Err(NoFormulation::ProjectedMean);
            }
            let planar = points().all(|p| p.law.tangent_dimension() <= 1);
            return match (one, planar) {
                (true, _) => Ok(Formulation::P3Prime),
                (false, true) => Ok(Formulation::P6),
                (false, false) => Err(NoFormulation::SeveralProjections),
            };
        }
        if points().filter(frictional).any(mean) {
            let all = points().filter(frictional).all(mean);
            return all
                .then_some(Formulation::Fremond)
                .ok_or(NoFormulation::MixedImpacts { law: "fremond" });
        }
        let inelastic = points().all(|p| p.law.impact().restitution() == 0.0);
        Ok(if inelastic && self.of_particles(system) {
            // Several surfaces one by one are P6; P4 is about the sum of their discs.
            either(Formulation::P3, Formulation::P6)
        } else {
            either(Formulation::P5, Formulation::P6)
        })
    }

    /// Where the steps of the scene's scheme read their laws.
    pub fn discretisation(&self) -> Result<Discretisation, NoFormulation> {
        let system = self.judged_system()?;
        if system.as_world().is_some() {
            return Err(NoFormulation::World);
        }
        let broken = |e: &dyn std::fmt::Display| NoFormulation::Scene(e.to_string());
        Ok(match self.settings.scheme {
            Scheme::Moreau => Discretisation::EndOfStep {
                contact_gap: self.settings.contact_gap,
            },
            Scheme::SweepingProcess => Discretisation::StartOfStep { contact_gap: 0.0 },
            Scheme::MoreauJean => {
                let settings: MoreauJeanSettings = theta_settings(&self.settings);
                let contact_gap = settings.gap_tolerance;
                let scheme = MoreauJean::new(settings).map_err(|e| broken(&e))?;
                Discretisation::Theta {
                    theta: scheme.theta(system.as_ref()),
                    opening: match self.settings.activation {
                        Activation::Guard => Opening::MeanVelocity,
                        Activation::Forecast => Opening::Restitution,
                        Activation::Paper => Opening::Free,
                    },
                    contact_gap,
                    discrete_gradient: self.settings.internal_force
                        == InternalForce::DiscreteGradient,
                }
            }
            Scheme::Penalty => return Err(NoFormulation::Compliant),
            Scheme::EventDriven => return Err(NoFormulation::Events),
        })
    }

    /// Tests every line of a formulation, or of the scene's own, on a motion of the scene.
    pub fn verify(
        &self,
        motion: &Motion,
        formulation: Option<Formulation>,
    ) -> Result<Verification, NoFormulation> {
        let system = self.judged_system()?;
        if system.as_world().is_some() {
            return Err(NoFormulation::World);
        }
        let formulation = formulation.map_or_else(|| self.formulation(), Ok)?;
        let is_run = motion.discretisation.is_some();
        let judged = |tolerance: Option<f64>| {
            let settings = self.verify_settings(is_run, tolerance);
            Ok(verify(system.as_ref(), motion, formulation, &settings))
        };
        judged(None)?.told_to(self.loose_tolerance().filter(|_| is_run), |asked| {
            judged(Some(asked))
        })
    }

    /// The tolerance asked of the solver, where it is looser than that of a certificate: a run is judged by one limit whatever was asked, and by this one
    /// only to tell what it was solved to.
    pub(super) fn loose_tolerance(&self) -> Option<f64> {
        let asked = self.settings.tolerance;
        (asked > CERTIFIED_RESIDUAL).then_some(asked)
    }

    /// Tests every line of a formulation, or of the scene's own, on the run of this scene in a folder. Also tells whether
    /// steps that the folder does not hold were computed again.
    pub fn verify_folder(
        &self,
        folder: &Path,
        formulation: Option<Formulation>,
    ) -> Result<(Verification, bool), VerifyRunError> {
        if let Some(world) = self.world() {
            return match formulation {
                None | Some(Formulation::World) => self.verify_world_folder(folder, world),
                Some(_) => Err(NoFormulation::World.into()),
            };
        }
        let nodes = RunNodes::open(folder, self)?;
        let report = self.verify_run((&nodes, &nodes), formulation)?;
        Ok((report, nodes.thinned()))
    }

    /// The same for the run of `made` in a folder under the problem of this scene: with other parameters, or another law.
    pub fn verify_folder_of(
        &self,
        made: &Self,
        folder: &Path,
        formulation: Option<Formulation>,
    ) -> Result<(Verification, bool), VerifyRunError> {
        let path = || folder.display().to_string();
        let (own, others) = (&self.settings, &made.settings);
        let bits = |x: Option<f64>| x.map(f64::to_bits);
        let numbers = |s: &Settings| {
            let gap = (s.contact_gap.to_bits(), s.compliance_damping.to_bits());
            (bits(s.theta), gap, bits(s.compliance_time), s.projection)
        };
        let changed = [
            ("the scheme", own.scheme != others.scheme),
            ("the step", own.step.to_bits() != others.step.to_bits()),
            ("the step", bits(own.adaptive) != bits(others.adaptive)),
            ("the end", own.until.to_bits() != others.until.to_bits()),
            ("the steps that are kept", own.every != others.every),
            (
                "the tolerance",
                own.tolerance.to_bits() != others.tolerance.to_bits(),
            ),
            ("a number of the scheme", numbers(own) != numbers(others)),
        ];
        if let Some((what, _)) = changed.into_iter().find(|(_, changed)| *changed) {
            return Err(VerifyRunError::Made { path: path(), what });
        }
        if let Some(world) = self.world() {
            if !WorldNodes::open(folder, made, world)?.complete() {
                return Err(VerifyRunError::Incomplete { path: path() });
            }
            return self.verify_folder(folder, formulation);
        }
        if made.settings.every > 1 {
            return Err(VerifyRunError::Incomplete { path: path() });
        }
        let nodes = RunNodes::open(folder, self)?;
        let expected = contact_rows(self.judged_system()?.as_ref());
        if nodes.contact_rows() != expected {
            let found = nodes.contact_rows();
            return Err(VerifyRunError::Rows {
                path: path(),
                found,
                expected,
            });
        }
        // What was recorded beside the motion is that of the problem that was run.
        let records = RunNodes::open(folder, made)?;
        Ok((self.verify_run((&nodes, &records), formulation)?, false))
    }

    /// Tests every line of a formulation, or of the scene's own, on a run of the scene, in the memory of a few steps.
    fn verify_run(
        &self,
        (nodes, records): (&RunNodes, &RunNodes),
        formulation: Option<Formulation>,
    ) -> Result<Verification, VerifyRunError> {
        let system = self.judged_system()?;
        let formulation = formulation.map_or_else(|| self.formulation(), Ok)?;
        let judged = |tolerance: Option<f64>| -> Result<Verification, VerifyRunError> {
            let settings = self.verify_settings(true, tolerance);
            let system = system.as_ref();
            let mut report = verify_run(system, nodes, nodes.run(), formulation, &settings)?;
            if report.does_not_apply.is_none() {
                if let Some((t, size)) = nodes.difference() {
                    report.note(Line::KeptSteps, t, size, None);
                }
                records.judge_records(&mut report)?;
            }
            Ok(report)
        };
        judged(None)?.told_to(self.loose_tolerance(), |asked| judged(Some(asked)))
    }

    fn verify_settings(&self, is_run: bool, tolerance: Option<f64>) -> VerifySettings {
        let mut settings = VerifySettings {
            initial: Some(self.initial_state()),
            impact_map: self.impact_rule(),
            contact_gap: self
                .discretisation()
                .map_or(0.0, Discretisation::contact_gap),
            ..VerifySettings::default()
        };
        settings.tolerance = tolerance.unwrap_or(settings.tolerance);
        if is_run {
            settings.admits_touching = self.settings.lists_solutions();
        }
        settings
    }

    /// The system, unless its motions are outside of all formulations.
    fn judged_system(&self) -> Result<Box<dyn MechanicalSystem>, NoFormulation> {
        if self.settings.scheme == Scheme::Penalty || self.settings.compliance_time.is_some() {
            return Err(NoFormulation::Compliant);
        }
        let system = self
            .system()
            .map_err(|e| NoFormulation::Scene(e.to_string()))?;
        for constraint in system.constraints() {
            for point in constraint.points() {
                let friction = point.law.tangent_dimension() > 0;
                let (law, with) = match point.law.impact() {
                    ImpactLaw::Energetic { .. }
                        if friction && self.settings.law != Law::Coulomb =>
                    {
                        (
                            "energetic",
                            " with another friction than Coulomb's, which it follows through the impact",
                        )
                    }
                    ImpactLaw::Poisson { .. } => {
                        ("poisson", ": its two phases are one impulse in a record")
                    }
                    ImpactLaw::Moreau { .. } if friction && self.settings.law == Law::Coulomb => (
                        "moreau",
                        " with Coulomb's friction, which then reads a mean velocity",
                    ),
                    _ => continue,
                };
                let constraint = constraint.name().to_string();
                return Err(NoFormulation::Impact {
                    constraint,
                    law,
                    with,
                });
            }
        }
        Ok(system)
    }

    /// Whether the mass is everywhere the same multiple of the identity.
    fn of_particles(&self, system: &dyn MechanicalSystem) -> bool {
        let mut mass = system.new_matrix();
        system.mass(&self.initial_state().0, &mut mass);
        let n = system.dof();
        let unit = mass.get(0, 0);
        system.mass_is_constant()
            && system.coordinate_count() == n
            && (0..n * n).all(|e| {
                let target = if e / n == e % n { unit } else { 0.0 };
                (mass.get(e / n, e % n) - target).abs() <= 1e-12 * unit
            })
    }
}
