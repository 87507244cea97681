//! How a scene is run: scheme, laws, step, end, tolerance.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::reader::Reader;
use super::value::{Table, Value, tables};
use super::words::{Impact, Law, OnSeveral, Scheme, Solver};
use crate::laws::{ActiveSpace, Sections, SetUnit};
use crate::quantity::digits;
use crate::simulation::studies::branches::ChoiceRule;
use crate::stepping::{Activation, InternalForce, JointVelocity, Projection};

/// How a scene is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Time-stepping scheme.
    #[doc(hidden)]
    pub scheme: Scheme,
    /// Friction law.
    #[doc(hidden)]
    pub law: Law,
    /// Impact law of contacts that do not name their own.
    #[doc(hidden)]
    pub impact: Impact,
    /// Implicitness; none leaves the choice to the scheme.
    pub theta: Option<f64>,
    /// Activation rule of the theta scheme.
    pub activation: Activation,
    /// How a nonlinear potential enters the theta scheme.
    pub internal_force: InternalForce,
    /// Velocity on which the theta scheme enforces joints.
    pub joint_velocity: JointVelocity,
    /// Whether positions are corrected.
    pub projection: Projection,
    /// How friction sets act together under the generalized law.
    pub sections: Sections,
    /// Normal space of the generalized law.
    pub active_space: ActiveSpace,
    /// What a step with several solutions does.
    #[doc(hidden)]
    pub on_several: OnSeveral,
    /// Compliance time of compliant contacts.
    pub compliance_time: Option<f64>,
    /// Damping ratio of compliant contacts.
    pub compliance_damping: f64,
    /// Which of several solutions a run takes.
    pub several_rule: ChoiceRule,
    /// Most trajectories that are followed.
    pub branches_max: u64,
    /// What the friction sets of the generalized law are measured per.
    pub friction_per: SetUnit,
    /// Firmness threshold of the generalized law.
    pub firmness: f64,
    /// Gap up to which a contact takes part in a step of the scheme moreau.
    pub contact_gap: f64,
    /// Stiffness of every contact point, where it is given.
    pub contact_stiffness: Vec<f64>,
    /// Time step, the first one if the step is adaptive.
    pub step: f64,
    /// Tolerance on positions of an adaptive step; none for a fixed step.
    pub adaptive: Option<f64>,
    /// End time.
    pub until: f64,
    /// Tolerance of the contact solver.
    pub tolerance: f64,
    /// Solver of the contact problem.
    #[doc(hidden)]
    pub solver: Solver,
    /// Every n-th step is recorded.
    pub every: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scheme: Scheme::MoreauJean,
            law: Law::Coulomb,
            impact: Impact::Newton,
            theta: None,
            activation: Activation::Guard,
            internal_force: InternalForce::AtTheta,
            joint_velocity: JointVelocity::End,
            projection: Projection::Combined,
            sections: Sections::PerConstraint,
            active_space: ActiveSpace::All,
            on_several: OnSeveral::Choose,
            compliance_time: None,
            compliance_damping: 0.0,
            several_rule: ChoiceRule::TakeOffFirst,
            branches_max: 16,
            friction_per: SetUnit::CoulombCone,
            firmness: 1e-11,
            contact_gap: 0.0,
            contact_stiffness: Vec::new(),
            step: 1e-3,
            adaptive: None,
            until: 1.0,
            tolerance: 1e-12,
            solver: Solver::Automatic,
            every: 1,
        }
    }
}

/// Tolerance of worlds that give none: their contacts are many.
const WORLD_TOLERANCE: f64 = 1e-8;

/// Most steps of one run; more are a slip in `step` or `until`.
const STEPS_MAX: f64 = 1e12;

impl Settings {
    /// Whether a step lists its solutions: the ordinary solver takes off first and does not look for more.
    pub fn lists_solutions(&self) -> bool {
        self.on_several != OnSeveral::Choose || self.several_rule != ChoiceRule::TakeOffFirst
    }

    pub(super) fn read(reader: &mut Reader, table: &Table) -> Self {
        let default = Self::default();
        let contact_stiffness = contact_stiffness(reader, table);
        let mut number = |key: &str, expected: &str, accept: fn(f64) -> bool| {
            reader.number(table, key, expected, accept)
        };
        let positive = |x: f64| x > 0.0;
        let law = table.word("law").unwrap_or(default.law);
        // The generalized law has one scheme.
        let scheme = match law {
            Law::Generalized => Scheme::Moreau,
            _ => default.scheme,
        };
        let tolerance = match table.get("world") {
            Some(_) => WORLD_TOLERANCE,
            None => default.tolerance,
        };
        let mut settings = Self {
            scheme: table.word("scheme").unwrap_or(scheme),
            law,
            impact: table.word("impact").unwrap_or(default.impact),
            theta: number("theta", "from 0.5 to 1", |x| (0.5..=1.0).contains(&x)),
            activation: table.word("activation").unwrap_or(default.activation),
            internal_force: table
                .word("internal_force")
                .unwrap_or(default.internal_force),
            joint_velocity: table
                .word("joint_velocity")
                .unwrap_or(default.joint_velocity),
            projection: table.word("projection").unwrap_or(default.projection),
            sections: table.word("sections").unwrap_or(default.sections),
            active_space: table.word("active_space").unwrap_or(default.active_space),
            on_several: table.word("on_several").unwrap_or(default.on_several),
            compliance_time: number("compliance_time", "positive", positive),
            compliance_damping: number("compliance_damping", "from 0 to below 1", |x| {
                (0.0..1.0).contains(&x)
            })
            .unwrap_or(default.compliance_damping),
            several_rule: table.word("several_rule").unwrap_or(default.several_rule),
            branches_max: count(table, "branches_max").unwrap_or(default.branches_max),
            friction_per: table.word("friction_per").unwrap_or(default.friction_per),
            firmness: number("firmness", "from 0 to 0.1", |x| (0.0..=0.1).contains(&x))
                .unwrap_or(default.firmness),
            contact_gap: number("contact_gap", "zero or positive", |x| x >= 0.0)
                .unwrap_or(default.contact_gap),
            contact_stiffness,
            step: number("step", "positive", positive).unwrap_or(default.step),
            adaptive: number("adaptive", "positive", positive),
            until: number("until", "positive", positive).unwrap_or(default.until),
            tolerance: number("tolerance", "from 1e-16 to 0.1", |x| {
                (1e-16..=0.1).contains(&x)
            })
            .unwrap_or(tolerance),
            solver: table.word("solver").unwrap_or(default.solver),
            every: count(table, "every").unwrap_or(default.every),
        };
        settings.check_projection(reader, table);
        if let Some(value) = table.value("scheme").filter(|_| {
            settings.scheme == Scheme::Penalty && table.get("compliance_time").is_none()
        }) {
            let message = "the scheme `penalty` needs `compliance_time`";
            let help = "for instance compliance_time = 0.001 with step = 0.0001";
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        }
        if let Some(place) = table.value("step").or(table.value("until")) {
            settings.check_steps(reader, settings.step, &place.span);
        }
        settings
    }

    /// Refuses steps so short that the run would not come to an end: those of the scheme, or of a controller that samples.
    pub(super) fn check_steps(&self, reader: &mut Reader, step: f64, place: &Range<usize>) {
        let count = self.until / step;
        if count > STEPS_MAX {
            let [count, most] = [digits(count, 2), digits(STEPS_MAX, 1)];
            let message = format!("the run would take {count} steps, more than {most}");
            reader.report(Diagnostic::at(place.clone(), message));
        }
    }

    /// Refuses a projection that the scheme does not have, and takes the one it has where none is asked for.
    fn check_projection(&mut self, reader: &mut Reader, table: &Table) {
        let guard = self.activation == Activation::Guard;
        let (own, message, help) = match self.scheme {
            _ if table.get("world").is_some() => (
                Projection::Combined,
                "worlds always remove the overlaps of their bodies",
                "leave `projection` out",
            ),
            Scheme::Penalty => (
                Projection::None,
                "compliant contacts penetrate by their law, nothing is projected",
                "use moreau-jean, moreau or sweeping-process, or projection = \"none\"",
            ),
            Scheme::EventDriven => (
                Projection::None,
                "the scheme `event-driven` keeps contacts and joints closed in its equations, nothing is projected at the end of a step",
                "use moreau-jean, moreau or sweeping-process, or projection = \"none\"",
            ),
            Scheme::MoreauJean if !guard => (
                Projection::None,
                "the activations `paper` and `forecast` are rules of the bare scheme",
                "use projection = \"none\" with them, or activation = \"guard\"",
            ),
            Scheme::MoreauJean | Scheme::Moreau | Scheme::SweepingProcess => {
                // The generalized law is stated on true velocities at the place of contact, not on those of a path.
                if self.law == Law::Generalized && table.value("projection").is_none() {
                    self.projection = Projection::None;
                }
                return;
            }
        };
        if let Some(value) = table.value("projection").filter(|_| self.projection != own) {
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        }
        self.projection = own;
    }
}

/// A whole number.
fn count(table: &Table, key: &str) -> Option<u64> {
    // The shape was checked: a whole number from 1 to 1e15.
    table.number(key).map(|n| n as u64)
}

/// Stiffness of every contact point; none if no contact has one.
fn contact_stiffness(reader: &mut Reader, table: &Table) -> Vec<f64> {
    let (mut values, mut without) = (Vec::new(), None);
    for (_, value, contact) in tables(table.list("contacts")) {
        let points = contact.value("points").and_then(Value::as_list);
        match reader.number(contact, "stiffness", "positive", |x| x > 0.0) {
            Some(stiffness) => {
                values.extend(std::iter::repeat_n(
                    stiffness,
                    points.map_or(1, <[Value]>::len),
                ));
            }
            None => without = Some(value.span.clone()),
        }
    }
    if let Some(span) = without.filter(|_| !values.is_empty()) {
        let message = "`stiffness` is given for some contacts and not for this one";
        let help = "give every contact its stiffness, or none: the ratios decide what coinciding impacts do";
        reader.report(Diagnostic::at(span, message).with_help(help));
    }
    values
}
