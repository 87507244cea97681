//! What is left of a run when it is over: plain data for people, files and programs.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::contact::{Certificate, ContactKey, Worst};
use crate::laws::generalized_set;
use crate::quantity::typed;
use crate::records::{EventKind, MomentumLedger, StepOutcome, painleve_watch};

use super::positions::{DRIFT_LIMIT, LargestOf};
use super::run_warnings::run_warnings;
use super::{
    BodyAccount, Hypotheses, RunEnd, SceneFacts, Simulation, SurfaceAccount, WorldSummary,
};
use crate::systems::world::Recording;

/// Version of the format; readers accept all earlier ones.
pub const SUMMARY_FORMAT: u32 = 1;

/// Largest residual with which a run counts as certified, whatever the tolerance of its solver: the residual reached decides.
pub const CERTIFIED_RESIDUAL: f64 = 1e-8;

/// Numbers by name, in a fixed order; a table in files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedValues(pub Vec<(String, f64)>);

impl NamedValues {
    /// The number with this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| *value)
    }
}

impl Serialize for NamedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for NamedValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = NamedValues;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a table of numbers")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<NamedValues, M::Error> {
                let mut values = Vec::new();
                // A number that is not finite is null in JSON.
                while let Some((name, value)) = map.next_entry::<String, Option<f64>>()? {
                    values.push((name, value.unwrap_or(f64::NAN)));
                }
                Ok(NamedValues(values))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// JSON has no number for what is not finite: null stands for it.
pub(super) fn nan_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// How a run was set up, in the words of a scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Name of the scene.
    pub scene: String,
    /// What it shows.
    pub title: String,
    /// Time-stepping scheme.
    pub scheme: String,
    /// Friction law.
    pub law: String,
    /// Impact law.
    pub impact: String,
    /// Time step.
    pub step: f64,
    /// End time.
    pub until: f64,
    /// Tolerance of the contact solver.
    pub tolerance: f64,
    /// Every n-th step is kept in the trajectory.
    pub every: u64,
    /// What a step with several solutions does.
    #[serde(default)]
    pub on_several: String,
    /// Which of several solutions the run takes.
    #[serde(default)]
    pub several_rule: String,
    /// Whether positions were corrected.
    #[serde(default)]
    pub projection: String,
    /// Parameters of the scene.
    pub parameters: NamedValues,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// The end time was reached.
    Finished,
    /// The run was interrupted and can be resumed.
    Interrupted,
    /// A step could not be made.
    Stopped,
}

/// One event, with the name of its contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryEvent {
    /// End of the step in which it happened.
    pub t: f64,
    /// What happened.
    pub kind: EventKind,
    /// Name of the contact.
    pub contact: String,
    /// Normal velocity before the step (negative: approaching).
    #[serde(deserialize_with = "nan_if_null")]
    pub approach: f64,
    /// Normal impulse of the step.
    #[serde(deserialize_with = "nan_if_null")]
    pub impulse: f64,
    /// Energy that the contacts gave at an impact (J; negative: took).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<f64>,
    /// Number of impacts of an accumulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// How often each kind of event happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Open contacts that closed.
    pub impacts: u64,
    /// Closed contacts that opened.
    pub lift_offs: u64,
    /// Contacts that began to stick.
    pub sticks: u64,
    /// Contacts that began to slip.
    pub slips: u64,
    /// Impacts without collision.
    #[serde(default)]
    pub tangential_impacts: u64,
    /// Accumulation points of impacts.
    #[serde(default)]
    pub accumulations: u64,
    /// Impacts that gained energy.
    #[serde(default)]
    pub energy_gains: u64,
    /// Events beyond the number that is kept; their kinds are not counted.
    pub dropped: u64,
}

/// State of one contact at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinalContact {
    /// Name.
    pub name: String,
    /// Gap.
    #[serde(deserialize_with = "nan_if_null")]
    pub gap: f64,
    /// Mode: open, stick, slip or closed (without friction).
    pub mode: String,
}

/// The energy account of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergySummary {
    /// Kinetic plus potential energy at the start.
    #[serde(deserialize_with = "nan_if_null")]
    pub start: f64,
    /// Kinetic plus potential energy at the end.
    #[serde(deserialize_with = "nan_if_null")]
    pub end: f64,
    /// Kinetic energy at the end.
    #[serde(deserialize_with = "nan_if_null")]
    pub kinetic: f64,
    /// Potential energy at the end.
    #[serde(deserialize_with = "nan_if_null")]
    pub potential: f64,
    /// Every term of the account, summed over the run.
    pub totals: NamedValues,
    /// How the work of the contacts on the motion relative to their obstacles came about: `law` (contact, friction and
    /// impact), `theta` (the weight of the scheme), and the part of the last that gave energy where the law took it
    /// (`theta_gain`).
    #[serde(default)]
    pub contact_works: NamedValues,
    /// Largest imbalance of one step.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst_imbalance: f64,
    /// Largest imbalance in units of what rounding allows.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst_ratio: f64,
    /// Number of steps whose account did not close.
    pub open_steps: u64,
    /// Whether the account of every step closed.
    pub closed: bool,
}

/// The largest value of one measure, with the name of the contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorstOf {
    /// The value.
    #[serde(deserialize_with = "nan_if_null")]
    pub value: f64,
    /// Time of the step.
    pub t: f64,
    /// Name of the contact; empty if nothing was measured.
    pub contact: String,
}

/// The certificate of a run: how far every step satisfied its laws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CertificateSummary {
    /// Whether every problem was solved with residuals at most `limit` and every account closed.
    pub certified: bool,
    /// Largest residual with which the run counts as certified.
    pub limit: f64,
    /// Whether a run that is not certified misses it only because its solver was asked for less: all residuals are within ten
    /// times the tolerance asked, which lies above the limit.
    #[serde(default)]
    pub solved_to_tolerance: bool,
    /// Largest of all residuals.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst: f64,
    /// Natural-map residual of the unrelaxed law.
    pub natural_map: WorstOf,
    /// Cone violation.
    pub cone: WorstOf,
    /// Signorini violation.
    pub signorini: WorstOf,
    /// Defect of maximal dissipation.
    pub dissipation: WorstOf,
    /// Contact problems solved.
    pub problems: u64,
    /// Distance of the steps of the generalized law to P'4 as the paper writes it; not part of `worst`, since that law
    /// need not have a solution.
    #[serde(default)]
    pub strict: WorstOf,
    /// Largest power ⟨r_τ, v⁺⟩ of the tangential reaction under the generalized law; positive where it drives.
    #[serde(default)]
    pub tangential_power: WorstOf,
    /// Problems with several solutions, of which a rule chose one.
    pub several_solutions: u64,
    /// Steps in which it is not known whether the motion is unique: too many contacts, or a law that is not enumerated.
    #[serde(default)]
    pub uniqueness_not_examined: u64,
    /// Contact rows that depend on each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependent_rows: Option<DependentRows>,
    /// Problems without solution.
    pub no_solution: u64,
    /// Problems that stalled or ran into the iteration limit.
    pub not_converged: u64,
    /// Problems whose answer was accepted at the floor of rounding, above the tolerance of the solver.
    #[serde(default)]
    pub at_rounding_floor: u64,
    /// Steps whose implicit iteration did not converge.
    pub nonlinear_failures: u64,
    /// Where the first of them failed; empty if there is none.
    #[serde(default)]
    pub nonlinear_failure: String,
}

/// How far the positions of a run left their constraints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionSummary {
    /// Whether drift and joint violation stay below `limit` and no obstacle was crossed within a step.
    pub hold: bool,
    /// Largest drift and joint violation of a certified run, as a part of the size of the motion.
    pub limit: f64,
    /// Deepest penetration, in the unit of the gap. A scheme may overshoot by the approach of one step.
    pub penetration: WorstOf,
    /// Penetration beyond that, as a part of the size of the motion.
    pub drift: WorstOf,
    /// Largest violation of a joint, in its unit; `contact` names the joint.
    pub joint: WorstOf,
    /// The same as a part of the size of the motion.
    pub joint_drift: WorstOf,
    /// Steps that went through an obstacle: out on another side than in, or past a contact between two open ends.
    pub crossings: u64,
    /// The first of them: most negative gap on the way.
    pub first_crossing: WorstOf,
}

/// Contact rows that depend on each other: their impulses are not unique.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DependentRows {
    /// Largest number of rows beyond the rank of W.
    pub rank_deficiency: u64,
    /// Rows of that problem.
    pub rows: u64,
    /// Time at which it was met.
    pub t: f64,
    /// Whether the motion is unique all the same: `unique`, `several` or `not examined`.
    pub motion: String,
}

/// How near the contacts of a run came to the Painlevé region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PainleveSummary {
    /// Smallest margin γ/W_NN of an active contact; at most 0 inside the region.
    #[serde(deserialize_with = "nan_if_null")]
    pub smallest_margin: f64,
    /// Time of that step.
    pub t: f64,
    /// Its contact.
    pub contact: String,
    /// Steps with an active contact inside the region.
    pub steps_inside: u64,
    /// Steps outside the region but near its boundary.
    pub steps_near: u64,
}

/// A run, summed up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Version of this format.
    pub format: u32,
    /// How the run was set up.
    #[serde(flatten)]
    pub settings: RunSettings,
    /// Name of the contact solver.
    pub solver: String,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// Why it stopped early; empty otherwise.
    pub reason: String,
    /// Whether the certificate holds.
    pub certified: bool,
    /// Time reached.
    pub time: f64,
    /// Steps made.
    pub steps: u64,
    /// Final coordinates.
    pub coordinates: NamedValues,
    /// Final velocities.
    pub velocities: NamedValues,
    /// Final state of the contacts.
    pub contacts: Vec<FinalContact>,
    /// How often each kind of event happened.
    pub event_counts: EventCounts,
    /// Events, oldest first, up to a limit.
    pub events: Vec<SummaryEvent>,
    /// Where the energy went.
    pub energy: EnergySummary,
    /// Accounts of the bodies of an elastic run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<BodyAccount>,
    /// Accounts of the contact surfaces of an elastic run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceAccount>,
    /// Bodies, contacts and accounts of a world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<WorldSummary>,
    /// How far the steps satisfied their laws.
    pub certificate: CertificateSummary,
    /// How far positions left their constraints.
    #[serde(default)]
    pub positions: PositionSummary,
    /// The account of momentum; without entries where no free body keeps one.
    #[serde(default)]
    pub momentum: MomentumLedger,
    /// How near the contacts came to the Painlevé region; none without friction.
    #[serde(default)]
    pub painleve: Option<PainleveSummary>,
    /// Thresholds that decide between two laws: criticality, firmness.
    #[serde(default)]
    pub thresholds: NamedValues,
    /// Largest speed of stuck contacts that only alternate (Frémond's law).
    #[serde(deserialize_with = "nan_if_null")]
    pub stick_jitter: f64,
    /// Which theorems cover the run, and which of their hypotheses fail where.
    #[serde(default)]
    pub hypotheses: Hypotheses,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Seconds this took.
    pub wall_time: f64,
}

impl RunSummary {
    /// Sums up a run that has come to an end or a halt. Everything but the wall time follows from
    /// the state that a checkpoint holds, so that a resumed run gives the same summary.
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
        let certified = certificate.certified && positions.hold && outcome != RunOutcome::Stopped;
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
            event_counts: counts(&events, simulation.events().dropped),
            events,
            certificate: CertificateSummary {
                certified,
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
        summary.warnings.extend(run_warnings(&summary));
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

fn stop_reason(simulation: &Simulation, outcome: StepOutcome) -> String {
    match outcome {
        StepOutcome::NoSolution { contact } => format!(
            "the contact problem has no solution at contact `{}`",
            contact_name(simulation, contact)
        ),
        StepOutcome::BadCoefficient { contact } => format!(
            "the friction coefficient of contact `{}` became negative or infinite",
            contact_name(simulation, contact)
        ),
        StepOutcome::StoppedAtSeveral { contact } => format!(
            "the contact law has several solutions (contact `{}`) and on_several is stop; `stickslip branches` \
             lists them",
            contact_name(simulation, contact)
        ),
        StepOutcome::DegenerateGap { contact } => format!(
            "contact `{}` was passed through: its gap does not change sign there, its gradient vanishes where the gap \
             does (as that of y^2), or it was pressed through to another side of its obstacle",
            contact_name(simulation, contact)
        ),
        StepOutcome::SeveralLayers { contact } => format!(
            "contact `{}` closes together with another one under the energetic law with friction: their impact \
             depends on the ratio of their stiffnesses, which rigid contacts do not have (scheme = \"penalty\" has \
             them, or choose another impact law)",
            contact_name(simulation, contact)
        ),
        StepOutcome::SlipNotUnique { contact } => format!(
            "friction of contact `{}` falls so steeply with the slip speed that a step has several answers; a step of \
             at most {} has one",
            contact_name(simulation, contact),
            typed(simulation.record().step_advised, 4)
        ),
        StepOutcome::SlipNotConverged { contact } => format!(
            "the iteration on the slip speed of contact `{}`, which its friction depends on, did not converge: take a \
             smaller step",
            contact_name(simulation, contact)
        ),
        StepOutcome::GapNotFinite { constraint } => {
            let name = simulation.system().constraints()[constraint].name();
            let expression = simulation.system().constraints()[constraint].expression();
            let gap = match expression {
                "" => String::new(),
                text => format!(", `{text}`,"),
            };
            format!("the gap{gap} of contact `{name}` or its rate is not a finite number")
        }
        StepOutcome::NoProgress => {
            "the motion does not get on: its modes change again and again at one instant, or its \
             integration takes too many steps (a force too stiff for scheme = \"event-driven\")"
                .to_string()
        }
        StepOutcome::NonFinite => "a quantity became infinite or undefined".to_string(),
        StepOutcome::SingularMass => "the mass matrix lost definiteness".to_string(),
        // The others do not stop a run.
        other => format!("{other:?}"),
    }
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
    PositionSummary {
        hold: !verdict.drifts() && verdict.crossings == 0,
        limit: DRIFT_LIMIT,
        penetration: worst(&verdict.penetration, &contact),
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

fn counts(events: &[SummaryEvent], dropped: u64) -> EventCounts {
    let count = |kind| events.iter().filter(|e| e.kind == kind).count() as u64;
    EventCounts {
        impacts: count(EventKind::Impact),
        lift_offs: count(EventKind::LiftOff),
        sticks: count(EventKind::Stick),
        slips: count(EventKind::Slip),
        tangential_impacts: count(EventKind::TangentialImpact),
        accumulations: count(EventKind::Accumulation),
        energy_gains: count(EventKind::EnergyGain),
        dropped,
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
        solved_to_tolerance: !certificate.holds(limit) && certificate.holds(asked) && closed,
        worst: certificate.worst(),
        natural_map: worst_of(&certificate.natural_map),
        cone: worst_of(&certificate.cone),
        signorini: worst_of(&certificate.signorini),
        dissipation: worst_of(&certificate.dissipation),
        problems: certificate.problems,
        strict: worst_of(&certificate.strict),
        tangential_power: worst_of(&certificate.tangential_power),
        several_solutions: certificate.several_solutions,
        uniqueness_not_examined: certificate.uniqueness_not_examined,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_values_keep_their_order() {
        let values = NamedValues(vec![("z".into(), 1.0), ("a".into(), f64::NAN)]);
        let text = serde_json::to_string(&values).expect("plain numbers");
        assert_eq!(text, r#"{"z":1.0,"a":null}"#);
        let back: NamedValues = serde_json::from_str(&text).expect("the same format");
        assert!(back.0[0] == ("z".into(), 1.0) && back.0[1].1.is_nan());
    }
}
