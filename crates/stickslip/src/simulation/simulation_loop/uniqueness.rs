//! Other motions than the one a step took: several solutions, impacts without collision.

use crate::contact::ContactProblem;
use crate::records::{ContactMode, StepOutcome};
use crate::solvers::uniqueness::Uniqueness;
use crate::stepping::{MoreauContactDynamics, PosedImpact};

use super::super::simulation_settings::OnSeveral;
use super::super::studies::touching_problem;
use super::super::uniqueness_watch::{UniquenessWatch, Wanted};
use super::{Simulation, step_start};

/// What was found in a step from event to event.
#[derive(Default)]
struct Examined {
    several: Option<StepOutcome>,
    /// Whether something could not be examined.
    unknown: bool,
    /// Whether the solver has counted several motions already.
    told: bool,
}

/// Part of the distance of two records that stands for an instant of a scheme from event to event.
const SHORT: f64 = 1e-3;

/// A problem that was posed beside the run, in which velocities up to `resting` are none.
fn heard(mut problem: ContactProblem, resting: f64) -> ContactProblem {
    problem.set_noise(resting);
    problem
}

impl Simulation {
    /// Looks for other motions than the one taken, where the contacts, their modes or their couplings changed.
    #[inline(never)] // What judges a step is counted by its name.
    pub(super) fn examine_uniqueness(&mut self, h: f64) {
        // What the solver left of a velocity moves nothing.
        let resting = self.stage.resting_speed();
        self.stage.problem.set_noise(resting);
        let (problem, watch) = (&self.stage.problem, &mut self.uniqueness);
        let certificate = &mut self.stage.certificate;
        if self.world.is_some() && !UniquenessWatch::takes_world(problem) {
            // Islands of many bodies are solved, not enumerated.
            certificate.uniqueness_not_examined += 1;
            return;
        }
        if !self.scheme.poses_one_problem() {
            self.examine_between_events(h);
            return;
        }
        let start = step_start(&self.positions, &self.saved);
        let wanted = watch.wanted((problem, &self.record), &start);
        let found = match wanted {
            Wanted::Nothing => None,
            Wanted::Problem => watch.examine(problem, self.record.t, certificate),
            Wanted::Touching => {
                let state = &self.saved;
                let posed = self.past.is_none().then(|| {
                    let touching: Vec<bool> = start.touching().collect();
                    touching_problem(
                        self.system.as_ref(),
                        self.scheme.as_mut(),
                        (state.t, &state.q, &state.v),
                        h,
                        &touching,
                    )
                });
                let posed = posed.map(|problem| heard(problem, resting));
                // A past that has gone on with the step cannot be read at its start again.
                certificate.uniqueness_not_examined += u64::from(posed.is_none());
                let posed = posed.as_ref().unwrap_or(problem);
                watch.examine(posed, self.record.t, certificate)
            }
        };
        let found = match wanted {
            Wanted::Nothing => None,
            _ => found.or_else(|| self.examine_ahead(h)),
        };
        self.tell_of_several(found);
    }

    /// Counts what was found, and tells of it in the record.
    fn tell_of_several(&mut self, found: Option<StepOutcome>) {
        let certificate = &mut self.stage.certificate;
        self.uniqueness.count(certificate);
        // What the solver found by itself is counted already.
        let solver_knows = matches!(self.record.outcome, StepOutcome::SeveralSolutions { .. });
        let Some(outcome) = found.filter(|_| !solver_knows) else {
            return;
        };
        certificate.several_solutions += 1;
        if self.record.outcome == StepOutcome::Solved {
            self.record.outcome = outcome;
        }
    }

    /// Stops before a step with several solutions where that is asked for.
    pub(super) fn stop_at_several(&mut self) {
        if self.settings.on_several == OnSeveral::Stop
            && let StepOutcome::SeveralSolutions { contact } = self.record.outcome
        {
            self.state.clone_from(&self.saved);
            self.record.outcome = StepOutcome::StoppedAtSeveral { contact };
        }
    }

    /// Contacts that touch at the start of the step take part in it where the solver lists solutions.
    pub(super) fn admit_touching(&mut self) {
        self.stage.also.clear();
        // Those of a step that was given up.
        self.stage.impacts.iter_mut().for_each(Vec::clear);
        if self.world.is_none() && self.stage.lists_solutions() {
            let start = step_start(&self.positions, &self.saved);
            self.stage.also.extend(start.touching());
        }
    }

    /// The same with normals at the end of the step where contacts of a small world may jam and normals are read before: what a spin lifts off is
    /// another motion.
    fn examine_ahead(&mut self, h: f64) -> Option<StepOutcome> {
        let problem = &self.stage.problem;
        let empty = problem.blocks().is_empty();
        if self.world.is_none() || empty || !self.uniqueness.may_jam(problem) {
            return None;
        }
        let memory = self.scheme.memory()?;
        let ahead = self.scheme.look_ahead(true).then(|| {
            let (state, scheme) = (&self.saved, self.scheme.as_mut());
            let at = (state.t, &state.q[..], &state.v[..]);
            touching_problem(self.system.as_ref(), scheme, at, h, &[])
        });
        self.scheme.look_ahead(false);
        self.scheme.recall(&memory);
        let ahead = heard(ahead?, self.stage.resting_speed());
        self.uniqueness.examine_ahead(&ahead)
    }

    /// The same for a scheme that goes from event to event: every impact as it was posed, and contacts that touch at the start of the step by
    /// the problem that a short time step poses there.
    fn examine_between_events(&mut self, h: f64) {
        self.uniqueness.forget_law();
        let impacts = self.examine_impacts();
        let lasting = self.examine_touching(h);
        let certificate = &mut self.stage.certificate;
        if impacts.unknown || lasting.unknown {
            self.uniqueness.count_unknown(certificate);
        }
        let Some(outcome) = impacts.several.or(lasting.several) else {
            return;
        };
        certificate.several_solutions += u64::from(!impacts.told);
        if self.record.outcome == StepOutcome::Solved {
            self.record.outcome = outcome;
        }
    }

    /// Looks for other motions in the impacts of the step, whether its contacts stay or not.
    fn examine_impacts(&mut self) -> Examined {
        let resting = self.stage.resting_speed();
        let mut examined = Examined::default();
        let impacts = self.stage.impacts.as_mut().map(std::mem::take);
        for PosedImpact { t, problem, told } in impacts.unwrap_or_default() {
            let (problem, certificate) = (heard(problem, resting), &mut self.stage.certificate);
            examined.told |= told;
            match self.uniqueness.examine_impact(&problem, t, certificate) {
                Uniqueness::Unique => {}
                Uniqueness::NotExamined => examined.unknown = true,
                Uniqueness::Several { block } => {
                    let contact = problem.blocks()[block].key;
                    let outcome = StepOutcome::SeveralSolutions { contact };
                    examined.several.get_or_insert(outcome);
                }
            }
        }
        examined
    }

    /// The same for what touches at the start of the step.
    fn examine_touching(&mut self, h: f64) -> Examined {
        let resting = self.stage.resting_speed();
        let watch = &mut self.uniqueness;
        let certificate = &mut self.stage.certificate;
        let start = step_start(&self.positions, &self.saved);
        let touching = start.touching().filter(|&touches| touches).count();
        let mut examined = Examined::default();
        // The normal forces of springs are known.
        if self.scheme.is_compliant() || touching == 0 && self.record.active_contacts() < 2 {
            return examined;
        }
        if self.control.is_some() || self.system.past_reading().is_some() {
            examined.unknown = true;
            return examined;
        }
        let (state, touching) = (&self.saved, start.touching().collect::<Vec<bool>>());
        let posed = touching_problem(
            self.system.as_ref(),
            // Frames at its end: normals turn, and what they turn may lift a contact.
            &mut MoreauContactDynamics::default(),
            (state.t, &state.q, &state.v),
            SHORT * h,
            &touching,
        );
        let posed = heard(posed, resting);
        match watch.wanted((&posed, &self.record), &start) {
            Wanted::Nothing => {}
            Wanted::Problem => examined.several = watch.examine(&posed, self.record.t, certificate),
            Wanted::Touching => {
                // Contacts that met within the step are examined where it ends.
                if !posed.blocks().is_empty() {
                    examined.several = watch.examine(&posed, state.t, certificate);
                    examined.unknown = watch.is_unknown();
                }
                let mut closed = vec![false; touching.len()];
                for contact in &self.record.contacts {
                    closed[contact.key.constraint()] |= contact.mode != ContactMode::Open;
                }
                let (system, end) = (self.system.as_ref(), &self.state);
                let at = (end.t, &end.q[..], &end.v[..]);
                let scheme = &mut MoreauContactDynamics::default();
                let posed = touching_problem(system, scheme, at, SHORT * h, &closed);
                let found = watch.examine(&heard(posed, resting), end.t, certificate);
                examined.several = examined.several.or(found);
            }
        }
        examined.unknown |= watch.is_unknown();
        examined
    }
}
