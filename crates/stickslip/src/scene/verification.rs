//! The formulation a scene belongs to, and the judgement of its motions.

use std::path::Path;

use thiserror::Error;

use crate::laws::{ActiveSpace, FlowRule, ImpactLaw, Sections};
use crate::records::TrajectoryFileError;
use crate::simulation::verify::{
    Discretisation, Formulation, Line, Motion, MotionSourceError, Opening, Verification,
    VerifySettings, verify, verify_run,
};
use crate::stepping::{Activation, InternalForce, MoreauJean, MoreauJeanSettings};
use crate::systems::MechanicalSystem;
use crate::systems::constraint::ContactPoint;

use super::build::theta_settings;
use super::diagnostic::SceneError;
use super::run_manifest::SceneRunError;
use super::run_nodes::RunNodes;
use super::scene::Scene;
use super::words::{Law, Scheme};

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
        let settings = self.verify_settings(motion.discretisation.is_some());
        Ok(verify(system.as_ref(), motion, formulation, &settings))
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
        let report = self.verify_run(&nodes, formulation)?;
        Ok((report, nodes.thinned()))
    }

    /// Tests every line of a formulation, or of the scene's own, on a run of the scene, in the memory of a few steps.
    pub(super) fn verify_run(
        &self,
        nodes: &RunNodes,
        formulation: Option<Formulation>,
    ) -> Result<Verification, VerifyRunError> {
        let system = self.judged_system()?;
        let formulation = formulation.map_or_else(|| self.formulation(), Ok)?;
        let settings = self.verify_settings(true);
        let mut report = verify_run(system.as_ref(), nodes, nodes.run(), formulation, &settings)?;
        if let Some((t, size)) = nodes
            .difference()
            .filter(|_| report.does_not_apply.is_none())
        {
            report.note(Line::KeptSteps, t, size, None);
        }
        if report.does_not_apply.is_none() {
            nodes.judge_records(system.as_ref(), &mut report)?;
        }
        Ok(report)
    }

    fn verify_settings(&self, is_run: bool) -> VerifySettings {
        let mut settings = VerifySettings {
            initial: Some(self.initial_state()),
            impact_map: self.impact_rule(),
            contact_gap: self
                .discretisation()
                .map_or(0.0, Discretisation::contact_gap),
            ..VerifySettings::default()
        };
        // A run is as precise as its contact problems were solved.
        if is_run {
            settings.tolerance = settings.tolerance.max(100.0 * self.settings.tolerance);
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
