//! What is left of a run when it is over: plain data for people, files and programs.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::records::{EventKind, MomentumLedger};

use super::{BodyAccount, Hypotheses, SurfaceAccount, WorldSummary};

mod of_run;

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

/// How often each kind of event happened, kept or not; in worlds to pairs of bodies.
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
    /// Events beyond the number that is kept. Changes between stick and slip of worlds are only counted.
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
    /// (`theta_gain`); `sticking` is the part of friction in contacts that stuck all along, to obstacles whose velocity changes from step to
    /// step.
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
    /// times the tolerance asked, which lies above the limit, and positions drift by no larger part of the motion.
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
    /// Largest error of a local velocity that a residual stands for, as a part of the largest velocity so far; zero where residuals are rounding.
    #[serde(default)]
    pub velocity: WorstOf,
    /// Largest one with which the run counts as certified.
    #[serde(default)]
    pub velocity_limit: f64,
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
    /// Those of them whose law is not enumerated, however few their contacts.
    #[serde(default)]
    pub laws_not_listed: u64,
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
    /// Whether drift and joint violation stay below `limit`, no obstacle was crossed within a step, none turned a body by more than half a
    /// turn, corrections did not hold what impulses should, and bodies of a world overlap by no more than their slop.
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
    /// Worlds: largest overlap where contacts are stated, in parts of the slop of the two bodies.
    #[serde(default)]
    pub overlap: WorstOf,
    /// Largest angle by which a step turned a body whose orientation matters, in radians.
    #[serde(default)]
    pub turn: WorstOf,
    /// Part of their way by which sixteen steps in a row, or more, were moved back by the correction of positions: it held what no
    /// impulse held.
    #[serde(default)]
    pub lean: WorstOf,
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

/// A run, summed up: what `summary.json` holds, every table of which `serde_json::to_value` gives by its name. What a run in
/// memory tells of its events, certificate and positions is read from [`Simulation`](super::Simulation) itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Version of this format.
    pub format: u32,
    /// How the run was set up.
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub contacts: Vec<FinalContact>,
    /// How often each kind of event happened.
    #[doc(hidden)]
    pub event_counts: EventCounts,
    /// Events, oldest first, up to a limit.
    #[doc(hidden)]
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
    #[doc(hidden)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<WorldSummary>,
    /// How far the steps satisfied their laws.
    #[doc(hidden)]
    pub certificate: CertificateSummary,
    /// How far positions left their constraints.
    #[doc(hidden)]
    #[serde(default)]
    pub positions: PositionSummary,
    /// The account of momentum; without entries where no free body keeps one.
    #[serde(default)]
    pub momentum: MomentumLedger,
    /// How near the contacts came to the Painlevé region; none without friction.
    #[doc(hidden)]
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
