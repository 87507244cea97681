//! Summing up a run.

use crate::contact::{Certificate, ContactKey, VELOCITY_FACTOR, Worst};
use crate::laws::generalized_set;
use crate::quantity::typed;
use crate::records::{EventKind, EventLog, StepOutcome, WorldWatch, painleve_watch};
use crate::simulation::positions::{DRIFT_LIMIT, LargestOf};
use crate::simulation::run_warnings::run_warnings;
use crate::simulation::{Hypotheses, RunEnd, SceneFacts, Simulation, WorldSummary};
use crate::systems::world::Recording;

use super::{
    CERTIFIED_RESIDUAL, CertificateSummary, DependentRows, EnergySummary, EventCounts,
    FinalContact, NamedValues, PainleveSummary, PositionSummary, RunOutcome, RunSettings,
    RunSummary, SUMMARY_FORMAT, SummaryEvent, WorstOf,
};

/// No motion that is meant has such a number for a velocity, in any unit.
const RUNAWAY: f64 = 1e30;

impl RunSummary {
    /// Sums up a run that has come to an end or a halt. Everything but the wall time follows from
    /// the state that a checkpoint holds, so that a resumed run gives the same summary.
    #[doc(hidden)]
    pub fn new(
        simulation: &Simulation,
        (settings, facts): (RunSettings, &SceneFacts),
        end: RunEnd,
        wall_time: f64,
    ) -> Self {
        let names = simulation.contact_names();
        let (outcome, reason) = match end {
            RunEnd::Finished => (RunOutcome::Finished, String::new()),
            RunEnd::Interrupted => (RunOutcome::Interrupted, String::new()),
            RunEnd::Stopped { outcome, .. } => {
                (RunOutcome::Stopped, stop_reason(simulation, outcome))
            }
        };
        let energy = energy(simulation);
        let world = WorldSummary::of(simulation);
        let closed = energy.closed && simulation.momentum_ledger().is_closed();
        let certificate = certificate(simulation, settings.tolerance, closed);
        let positions = positions(simulation);
        let ended = outcome != RunOutcome::Stopped;
        let certified = certificate.certified && positions.hold && ended;
        // Velocities that are solved to a part of their size may drift by that part of the motion.
        let within = positions_hold(simulation, DRIFT_LIMIT.max(10.0 * settings.tolerance));
        let solved_to_tolerance = certificate.solved_to_tolerance && within && ended;
        let state = simulation.state();
        let system = simulation.system();
        let events = events(simulation);
        let accounts = simulation.elastic_accounts().cloned().unwrap_or_default();
        // The bodies of a large world are in its files.
        let large = system
            .as_world()
            .is_some_and(|world| world.bodies.len() > Recording::COLUMNS_MAX);
        let kept = |values| {
            if large {
                NamedValues::default()
            } else {
                values
            }
        };
        let mut summary = Self {
            format: SUMMARY_FORMAT,
            solver: simulation.solver_name().to_string(),
            outcome,
            reason,
            certified,
            time: state.t,
            steps: simulation.steps(),
            coordinates: kept(named(system.coordinate_names(), &state.q)),
            velocities: kept(named(system.velocity_names(), simulation.end_velocity())),
            contacts: contacts(simulation, &names),
            event_counts: counts(simulation.events()),
            events,
            certificate: CertificateSummary {
                certified,
                solved_to_tolerance,
                ..certificate
            },
            energy,
            bodies: accounts.bodies,
            surfaces: accounts.surfaces,
            world,
            positions,
            momentum: simulation.momentum_ledger().clone(),
            painleve: painleve(simulation),
            thresholds: thresholds(simulation),
            stick_jitter: simulation.stick_jitter(),
            hypotheses: Hypotheses::of(simulation, &settings, facts),
            warnings: simulation.warnings(),
            settings,
            wall_time,
        };
        summary
            .warnings
            .extend(run_warnings(&summary, simulation.energy_of_step()));
        let found = summary.certificate.several_solutions > 0;
        let void = facts.void_choice.clone().filter(|_| !found);
        summary.warnings.extend(void);
        summary
    }
}

fn named(names: &[String], values: &[f64]) -> NamedValues {
    let plain = names.iter().map(|n| n.trim_end_matches('\'').to_string());
    NamedValues(plain.zip(values.iter().copied()).collect())
}

/// Name of a contact: that of its constraint and point, or of its two bodies and its slot between them.
fn contact_name(simulation: &Simulation, key: ContactKey) -> String {
    let system = simulation.system();
    if key.is_found() {
        let body = |b: u32| match system.as_world().and_then(|w| w.bodies.get(b as usize)) {
            Some(body) => body.name.clone(),
            None => b.to_string(),
        };
        return format!(
            "{}|{}#{}",
            body(key.owners[0]),
            body(key.owners[1]),
            key.slot
        );
    }
    match system.constraints().get(key.constraint()) {
        Some(c) if c.points().len() > 1 => format!("{}-{}", c.name(), key.point()),
        Some(c) => c.name().to_string(),
        None => String::new(),
    }
}

impl Simulation {
    /// Why a step ended a run, in words.
    #[doc(hidden)]
    pub fn stop_words(&self, outcome: StepOutcome) -> String {
        stop_reason(self, outcome)
    }
}

fn stop_reason(simulation: &Simulation, outcome: StepOutcome) -> String {
    let named = |contact| contact_name(simulation, contact);
    match outcome {
        StepOutcome::NoSolution { contact } => format!(
            "the contact problem has no solution at contact `{}`",
            named(contact)
        ),
        StepOutcome::BadCoefficient { contact } => format!(
            "the friction coefficient of contact `{}` became negative or infinite",
            named(contact)
        ),
        StepOutcome::StoppedAtSeveral { contact } => format!(
            "the contact law has several solutions (contact `{}`) and on_several is stop; `stickslip branches` \
             lists them",
            named(contact)
        ),
        StepOutcome::DegenerateGap { contact } => format!(
            "contact `{}` was passed through: its gap does not change sign there, its gradient vanishes where the gap \
             does (as that of y^2), or it was pressed through to another side of its obstacle",
            named(contact)
        ),
        StepOutcome::ForeignNormal { contact } => format!(
            "the normal of contact `{}` is not that of its gap here: the gap must grow along the normal and stay the \
             same along the surface, everywhere on it (without `normal` it is taken from the gap)",
            named(contact)
        ),
        StepOutcome::SeveralLayers { contact } => format!(
            "under the energetic law contact `{}` closes or jams together with another one that acts on it, or is closed by its \
             impact: what they do depends on the ratio of their stiffnesses, which rigid contacts do not have \
             (scheme = \"penalty\" has them, or choose another impact law)",
            named(contact)
        ),
        StepOutcome::SlipNotUnique { contact } if simulation.record().step_advised == 0.0 => {
            format!(
                "friction of contact `{}` falls so steeply with the slip speed that its impact has several answers, whatever the \
             step (impact = \"energetic\" and scheme = \"penalty\" follow the slip speed through the impact)",
                named(contact)
            )
        }
        StepOutcome::SlipNotUnique { contact } => format!(
            "friction of contact `{}` falls so steeply with the slip speed that a step has several answers; a step of \
             at most {} has one",
            named(contact),
            typed(simulation.record().step_advised, 4)
        ),
        StepOutcome::SlipNotConverged { contact } => format!(
            "the iteration on the slip speed of contact `{}`, which its friction depends on, did not converge: take a \
             smaller step",
            named(contact)
        ),
        StepOutcome::GapNotFinite { constraint } => gap_not_finite(simulation, constraint),
        StepOutcome::ReactionsNotUnique { contact } => format!(
            "contact `{}` and others press in dependent directions: their reactions are not unique, and scheme = \
             \"event-driven\" cannot tell which of them stick (the other schemes can)",
            named(contact)
        ),
        StepOutcome::JamOfSeveral { contact } => format!(
            "contact `{}` and others touch where no acceleration obeys the law, and an impact without collision of more than one touching contact \
             is not computed by scheme = \"event-driven\" (the other schemes do)",
            named(contact)
        ),
        StepOutcome::StaysAtKink { contact } => format!(
            "contact `{}` stays at a kink of its gap (`min`, `max`, `abs`, `if`), where two normals press it and it has \
             one at a time: give it a contact for each side",
            named(contact)
        ),
        StepOutcome::GapJumps { contact } => format!(
            "the gap of contact `{}` jumps below zero here (`if`, `sign`): its obstacle has no face that could be met; write \
             one, as a gap whose sides agree where it changes, or as a contact of its own",
            named(contact)
        ),
        StepOutcome::LeaptOver { contact } => format!(
            "the obstacle of contact `{}` rises within the step more than the step can see, which would lift the body onto it: \
             take a shorter step, which meets its side (`--step`)",
            named(contact)
        ),
        StepOutcome::JointBends { joint } => format!(
            "joint `{}` has a kink here (`abs`, `min`, `max`, `if`), which a step does not follow: scheme = \"event-driven\" \
             computes the impulse of the joint there",
            simulation.system().joints()[joint].name()
        ),
        StepOutcome::JointJumps { joint } => format!(
            "the equation of joint `{}` jumps here (`if`, `sign`): no motion satisfies it on both sides",
            simulation.system().joints()[joint].name()
        ),
        StepOutcome::NoProgress if gap_ahead_not_finite(simulation).is_some() => {
            let constraint = gap_ahead_not_finite(simulation).unwrap_or_default();
            gap_not_finite(simulation, constraint)
        }
        StepOutcome::NoProgress => {
            "the motion does not get on: its modes change again and again at one instant, or its \
             integration takes too many steps (a force too stiff for scheme = \"event-driven\")"
                .to_string()
        }
        StepOutcome::NonFinite => not_finite(simulation),
        StepOutcome::SingularMass => "the mass matrix lost definiteness".to_string(),
        // The others do not stop a run.
        other => format!("{other:?}"),
    }
}

/// The gap that is no number, as the scene writes it.
fn gap_not_finite(simulation: &Simulation, constraint: usize) -> String {
    let constraint = &simulation.system().constraints()[constraint];
    let gap = match constraint.expression() {
        "" => String::new(),
        text => format!(", `{text}`,"),
    };
    let name = constraint.name();
    format!("the gap{gap} of contact `{name}` or its rate is not a finite number")
}

/// The first constraint whose gap is no number at the end of a straight step from here.
fn gap_ahead_not_finite(simulation: &Simulation) -> Option<usize> {
    let (system, state) = (simulation.system(), simulation.state());
    let h = simulation.first_step();
    let mut q = vec![0.0; state.q.len()];
    system.displace(&state.q, &state.v, h, &mut q);
    let mut constraints = system.constraints().iter();
    constraints.position(|constraint| !constraint.gap().value(state.t + h, &q).is_finite())
}

/// Which velocity is largest where a quantity stopped to be a number, and what to try.
fn not_finite(simulation: &Simulation) -> String {
    let what = "a quantity became infinite or undefined";
    let velocities = simulation.state().v.iter().enumerate();
    let largest = velocities.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let Some((place, value)) = largest.filter(|(_, v)| v.abs() > RUNAWAY) else {
        return what.to_string();
    };
    let name = simulation.system().velocity_names()[place].trim_end_matches('\'');
    let cure = match simulation.scheme_name() {
        scheme @ ("moreau" | "sweeping-process" | "penalty") => format!(
            ": scheme = \"{scheme}\" takes forces from the start of a step, and one that is stiff or damps strongly needs a smaller \
             step, or scheme = \"moreau-jean\", which takes it implicitly"
        ),
        _ => String::new(),
    };
    format!(
        "{what}; `{name}` had reached the velocity {}{cure}",
        typed(*value, 4)
    )
}

/// The largest overlap of a world as a part of what it may be.
fn overlap(simulation: &Simulation) -> f64 {
    let accounts = simulation.world_accounts();
    let worst = accounts.and_then(|accounts| accounts.watch.overlap);
    worst.map_or(0.0, |(value, ..)| value)
}

/// Whether the positions of a run can be believed, with drifts up to a limit.
fn positions_hold(simulation: &Simulation, limit: f64) -> bool {
    let verdict = simulation.positions();
    !verdict.drifts_beyond(limit)
        && verdict.crossings == 0
        && !verdict.whirls()
        && !verdict.leans()
        && overlap(simulation) <= 1.0
}

fn positions(simulation: &Simulation) -> PositionSummary {
    let verdict = simulation.positions();
    let system = simulation.system();
    let worst = |worst: &LargestOf, name: &dyn Fn(usize) -> String| WorstOf {
        value: worst.largest.value,
        t: worst.largest.t,
        contact: worst.of.map_or_else(String::new, name),
    };
    let contact = |c: usize| system.constraints()[c].name().to_string();
    let joint = |i: usize| system.joints()[i].name().to_string();
    let of_world = |worst: fn(&WorldWatch) -> Option<(f64, f64, ContactKey)>| {
        let (value, t, key) = worst(&simulation.world_accounts()?.watch)?;
        let contact = system.as_world()?.contact_name(key);
        Some(WorstOf { value, t, contact })
    };
    let overlap = of_world(|watch| watch.overlap).unwrap_or_default();
    PositionSummary {
        hold: positions_hold(simulation, DRIFT_LIMIT),
        limit: DRIFT_LIMIT,
        penetration: of_world(|watch| watch.penetration)
            .unwrap_or_else(|| worst(&verdict.penetration, &contact)),
        overlap,
        drift: worst(&verdict.drift, &contact),
        joint: worst(&verdict.joint, &joint),
        joint_drift: worst(&verdict.joint_drift, &joint),
        crossings: verdict.crossings,
        first_crossing: verdict
            .first_crossing
            .map_or_else(WorstOf::default, |crossing| WorstOf {
                value: -crossing.depth,
                t: crossing.t,
                contact: contact(crossing.constraint),
            }),
        turn: WorstOf {
            value: verdict.turn.value,
            t: verdict.turn.t,
            contact: String::new(),
        },
        lean: WorstOf {
            value: verdict.lean.value,
            t: verdict.lean.t,
            contact: String::new(),
        },
    }
}

fn painleve(simulation: &Simulation) -> Option<PainleveSummary> {
    let watch = simulation.painleve();
    let (margin, t, contact) = watch.smallest?;
    Some(PainleveSummary {
        smallest_margin: margin,
        t,
        contact: contact_name(simulation, contact),
        steps_inside: watch.steps_inside,
        steps_near: watch.steps_near,
    })
}

fn thresholds(simulation: &Simulation) -> NamedValues {
    let mut values = vec![
        ("criticality".to_string(), generalized_set::CRITICAL),
        ("painleve_near".to_string(), painleve_watch::NEAR),
    ];
    let mut points = simulation
        .system()
        .constraints()
        .iter()
        .flat_map(|constraint| constraint.points());
    let firmness = points.find_map(|p| Some(p.law.flow_rule().generalized()?.firmness));
    values.extend(firmness.map(|value| ("firmness".to_string(), value)));
    NamedValues(values)
}

fn contacts(simulation: &Simulation, names: &[String]) -> Vec<FinalContact> {
    let (state, modes) = (simulation.state(), simulation.events().modes());
    let constraints = simulation.system().constraints();
    let gaps = constraints.iter().flat_map(|constraint| {
        let gap = constraint.gap().value(state.t, &state.q);
        constraint.points().iter().map(move |_| gap)
    });
    let parts = names.iter().zip(gaps).zip(modes);
    parts
        .map(|((name, gap), mode)| FinalContact {
            name: name.clone(),
            gap,
            mode: mode.word().to_string(),
        })
        .collect()
}

fn events(simulation: &Simulation) -> Vec<SummaryEvent> {
    let events = simulation.events().events.iter();
    events
        .map(|event| SummaryEvent {
            t: event.t,
            kind: event.kind,
            contact: contact_name(simulation, event.contact),
            approach: event.approach,
            impulse: event.impulse,
            energy: matches!(
                event.kind,
                EventKind::Impact | EventKind::TangentialImpact | EventKind::EnergyGain
            )
            .then_some(event.energy),
            count: (event.kind == EventKind::Accumulation).then_some(event.count),
        })
        .collect()
}

fn counts(events: &EventLog) -> EventCounts {
    let count = |kind| events.count(kind);
    EventCounts {
        impacts: count(EventKind::Impact),
        lift_offs: count(EventKind::LiftOff),
        sticks: count(EventKind::Stick),
        slips: count(EventKind::Slip),
        tangential_impacts: count(EventKind::TangentialImpact),
        accumulations: count(EventKind::Accumulation),
        energy_gains: count(EventKind::EnergyGain),
        dropped: events.dropped,
    }
}

fn energy(simulation: &Simulation) -> EnergySummary {
    let (ledger, state) = (simulation.ledger(), simulation.state());
    let terms = ledger.totals.terms();
    EnergySummary {
        start: ledger.energy_start,
        end: state.kinetic + state.potential,
        kinetic: state.kinetic,
        potential: state.potential,
        totals: NamedValues(terms.map(|(name, x)| (name.to_string(), x)).to_vec()),
        contact_works: contact_works(simulation),
        worst_imbalance: ledger.worst_imbalance,
        worst_ratio: ledger.worst_ratio,
        open_steps: ledger.open_steps,
        closed: ledger.is_closed(),
    }
}

fn contact_works(simulation: &Simulation) -> NamedValues {
    let works = simulation.events().works;
    let terms = [
        ("law", works.law),
        ("theta", works.theta),
        ("theta_gain", works.theta_gain),
        ("sticking", works.sticking),
    ];
    NamedValues(terms.map(|(name, x)| (name.to_string(), x)).to_vec())
}

fn certificate(simulation: &Simulation, tolerance: f64, closed: bool) -> CertificateSummary {
    let certificate: &Certificate = simulation.certificate();
    let limit = CERTIFIED_RESIDUAL;
    let asked = 10.0 * tolerance;
    let worst_of = |worst: &Worst| WorstOf {
        value: worst.value,
        t: worst.t,
        contact: match worst.value {
            0.0 => String::new(),
            _ => contact_name(simulation, worst.contact),
        },
    };
    CertificateSummary {
        certified: certificate.holds(limit) && closed,
        limit,
        solved_to_tolerance: certificate.worst() > limit && certificate.holds(asked) && closed,
        worst: certificate.worst(),
        natural_map: worst_of(&certificate.natural_map),
        cone: worst_of(&certificate.cone),
        signorini: worst_of(&certificate.signorini),
        dissipation: worst_of(&certificate.dissipation),
        velocity: worst_of(&certificate.velocity),
        velocity_limit: VELOCITY_FACTOR * limit,
        problems: certificate.problems,
        strict: worst_of(&certificate.strict),
        tangential_power: worst_of(&certificate.tangential_power),
        several_solutions: certificate.several_solutions,
        uniqueness_not_examined: certificate.uniqueness_not_examined,
        laws_not_listed: certificate.laws_not_listed,
        dependent_rows: certificate.rank_deficiency.map(|found| DependentRows {
            rank_deficiency: found.deficiency as u64,
            rows: found.rows as u64,
            t: found.t,
            motion: match found.motion_is_unique {
                Some(true) => "unique",
                Some(false) => "several",
                None => "not examined",
            }
            .to_string(),
        }),
        no_solution: certificate.no_solution,
        not_converged: certificate.not_converged,
        at_rounding_floor: certificate.at_rounding_floor,
        nonlinear_failures: certificate.nonlinear_failures,
        nonlinear_failure: certificate.first_nonlinear_failure.map_or_else(
            String::new,
            |(t, i)| {
                let name = simulation.system().velocity_names().get(i);
                let name = name.map_or("?", |name| name.trim_end_matches('\''));
                format!("the force on `{name}` at t = {t} s")
            },
        ),
    }
}
