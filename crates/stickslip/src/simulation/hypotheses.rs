//! Which theorems of the papers cover a run, and which of their hypotheses fail where.
//!
//! A certificate says that every step solves its laws. Whether the motion exists, is the only one and is what the steps
//! converge to are questions to theorems; [`Hypotheses`] puts their assumptions beside what the system, the
//! expressions of the scene and the run itself show.

use serde::{Deserialize, Serialize};

use crate::algebra::dot;
use crate::algebra::splitmix::Splitmix;
use crate::laws::{
    ActiveSpace, ContactLaw, FlowRule, FrictionCoefficient, FrictionSection, ImpactLaw, Sections,
};
use crate::quantity::digits;
use crate::stepping::PositionCorrection;
use crate::systems::MechanicalSystem;
use crate::systems::constraint::{ContactPoint, UnilateralConstraint};

use super::gap_zero::{Draws, Outset, Zero, ZeroSearch};
use super::joint_space::JointSpace;
use super::{RunSettings, Simulation};

mod theorems;

/// Whether a hypothesis holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was checked and holds.
    Holds,
    /// It was checked and fails.
    Fails,
    /// It could not be decided.
    Unknown,
}

impl From<Option<bool>> for Status {
    fn from(known: Option<bool>) -> Self {
        match known {
            Some(true) => Self::Holds,
            Some(false) => Self::Fails,
            None => Self::Unknown,
        }
    }
}

/// One hypothesis and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Short name, by which theorems refer to it.
    pub name: String,
    /// What it says.
    pub statement: String,
    /// Whether it holds.
    pub status: Status,
    /// Where it fails or why it is not known; empty otherwise.
    pub note: String,
}

/// A theorem beside a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheoremCover {
    /// What it would give: `existence`, `uniqueness`, `convergence`, `bounds` or `dissipation`.
    pub about: String,
    /// What it says and where it stands.
    pub theorem: String,
    /// Whether all of its hypotheses hold.
    pub status: Status,
    /// Names of the hypotheses that fail.
    pub fails: Vec<String>,
    /// Names of the hypotheses that are not known.
    pub unknown: Vec<String>,
}

/// The page `hypotheses` of a summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hypotheses {
    /// What is known of each hypothesis.
    pub hypotheses: Vec<Hypothesis>,
    /// Which theorems cover the run.
    pub theorems: Vec<TheoremCover>,
}

/// What a scene tells beyond its system: whether forces and friction are Lipschitz and gaps smooth, with the reason where
/// they are not or where it is not known, whether all data are analytic, what moves by itself, and θ of its scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFacts {
    /// Forces, over all states.
    pub forces: (Option<bool>, String),
    /// Forces, on bounded sets.
    pub forces_locally: (Option<bool>, String),
    /// Whether gaps are continuously differentiable where they vanish.
    pub gaps: (Option<bool>, String),
    /// Contacts whose gap vanishes with its gradient somewhere, with the place.
    pub flat: Vec<(String, String)>,
    /// Whether equations of joints are twice continuously differentiable where they hold.
    pub joints: (Option<bool>, String),
    /// Friction sets in place and time.
    pub friction: (Option<bool>, String),
    /// Whether coefficients of friction are bounded over all places.
    pub friction_bounded: (Option<bool>, String),
    /// All data.
    pub analytic: Option<bool>,
    /// Whether obstacles and joints rest: gaps and joints do not depend on time, and no surface runs along itself.
    pub resting: Option<bool>,
    /// Whether forces read the present state only.
    pub present: Option<bool>,
    /// θ of the scheme, where it has one.
    pub theta: Option<f64>,
    /// What is told of words that choose among solutions which nobody lists.
    pub void_choice: Option<String>,
}

impl Default for SceneFacts {
    fn default() -> Self {
        let unknown = (None, "given by functions, not by expressions".to_string());
        Self {
            forces: unknown.clone(),
            forces_locally: unknown.clone(),
            gaps: unknown.clone(),
            flat: Vec::new(),
            joints: unknown.clone(),
            friction: unknown.clone(),
            friction_bounded: unknown,
            analytic: None,
            resting: None,
            present: None,
            theta: None,
            void_choice: None,
        }
    }
}

/// Names of the hypotheses.
const GRADIENT: &str = "gradient";
const INDEPENDENT: &str = "independent";
const SMOOTH_GAPS: &str = "smooth gaps";
const SMOOTH_JOINTS: &str = "smooth joints";
const RIGID: &str = "rigid";
const AS_WRITTEN: &str = "as written";
const FORCES: &str = "forces";
const FORCES_LOCALLY: &str = "forces on bounded sets";
const FRICTION: &str = "friction";
const BOUNDED: &str = "bounded";
const DELAYS: &str = "delays";
const ONE: &str = "one contact";
const PARTICLE: &str = "particle";
const INELASTIC: &str = "inelastic";
const FRICTIONLESS: &str = "frictionless";
const COULOMB: &str = "coulomb";
const GENERALIZED: &str = "generalized";
const ANALYTIC: &str = "analytic";
const SWEEPING: &str = "sweeping process";
const MEAN: &str = "mean law";
const RIGHT: &str = "right velocity";
const ISOTROPIC: &str = "isotropic";
const CONSTANT: &str = "constant friction";
const RESTING: &str = "resting";
const PRESENT: &str = "present";
const THETA: &str = "theta";

impl Hypotheses {
    /// The page of a run.
    #[doc(hidden)]
    pub fn of(simulation: &Simulation, settings: &RunSettings, data: &SceneFacts) -> Self {
        let mut page = Self::default();
        let state = simulation.state();
        let from = Outset {
            t: state.t,
            q: &state.q,
            v: &state.v,
            h: settings.step,
        };
        page.geometry(simulation, from, data);
        page.data(simulation, data);
        page.structure(simulation, from, settings);
        page.laws(simulation, settings);
        page.scheme(simulation, settings, data);
        page.theorems();
        page
    }

    fn add(&mut self, name: &str, statement: &str, status: impl Into<Status>, note: String) {
        let status = status.into();
        self.hypotheses.push(Hypothesis {
            name: name.to_string(),
            statement: statement.to_string(),
            status,
            note: if status == Status::Holds {
                String::new()
            } else {
                note
            },
        });
    }

    /// Gradients of the gaps.
    fn geometry(&mut self, simulation: &Simulation, from: Outset, data: &SceneFacts) {
        let system = simulation.system();
        let (mut unknown, mut vanishing) = (Vec::new(), Vec::new());
        // Gaps of meshes are distances to surfaces.
        if system.sparsity().is_none() {
            for constraint in system.constraints() {
                match ZeroSearch::beside_joints(system, constraint.gap()).around_state(from) {
                    Zero::NotReached => unknown.push(constraint.name()),
                    Zero::Degenerate => vanishing.push(constraint.name()),
                    Zero::Regular => {}
                }
            }
        }
        // A gap that vanishes with its gradient where the start leads to is refused, or stops the run where it is met.
        let (regular, note) = match (vanishing.is_empty(), unknown.is_empty()) {
            (true, _) if !data.flat.is_empty() => {
                let places = data
                    .flat
                    .iter()
                    .map(|(name, place)| format!("{name} at {place}"));
                let places: Vec<String> = places.collect();
                let note = format!("the gap vanishes with its gradient: {}", places.join("; "));
                (Some(false), note)
            }
            (true, true) => (Some(true), String::new()),
            (true, false) => {
                let names = unknown.join(", ");
                (
                    None,
                    format!("no zero of the gap was found from here: {names}"),
                )
            }
            (false, _) => {
                let names = vanishing.join(", ");
                (
                    Some(false),
                    format!("the gap vanishes where nothing that joints allow changes it: {names}"),
                )
            }
        };
        let statement = "gradients of the gaps do not vanish where the gaps do, beside joints";
        self.add(GRADIENT, statement, regular, note);
        let (smooth, why) = data.gaps.clone();
        let statement = "gaps are continuously differentiable where they vanish";
        self.add(SMOOTH_GAPS, statement, smooth, why);
        let (smooth, why) = match system.joints() {
            [] => (Some(true), String::new()),
            _ => data.joints.clone(),
        };
        let statement = "equations of joints are twice continuously differentiable";
        self.add(SMOOTH_JOINTS, statement, smooth, why);
        let certificate = simulation.certificate();
        let (dependent, note) = match certificate.dependent_normals {
            Some(t) => (Some(false), format!("from t = {t} s on")),
            None if !flat_joints(system, from).is_empty() => {
                let names = flat_joints(system, from).join(", ");
                let note = format!("the equation of a joint vanishes with its gradient: {names}");
                (Some(false), note)
            }
            None if JointSpace::at(system, from.t, from.q).is_some_and(|s| s.depends()) => {
                let note = "gradients of joints depend on each other".to_string();
                (Some(false), note)
            }
            None if certificate.rank_not_measured || system.as_world().is_some() => {
                let note = "too many contacts at once to measure the rank".to_string();
                (None, note)
            }
            None => (Some(true), String::new()),
        };
        let statement = "gradients of active gaps and of joints are linearly independent";
        self.add(INDEPENDENT, statement, dependent, note);
    }

    /// Forces, friction, delays.
    fn data(&mut self, simulation: &Simulation, data: &SceneFacts) {
        let system = simulation.system();
        let (forces, why) = data.forces.clone();
        self.add(FORCES, "forces are Lipschitz continuous", forces, why);
        let (forces, why) = data.forces_locally.clone();
        let statement = "forces are Lipschitz continuous on bounded sets";
        self.add(FORCES_LOCALLY, statement, forces, why);
        let (friction, why) = if points(system).any(|p| p.slip.is_some()) {
            (
                Some(false),
                "friction depends on the slip speed".to_string(),
            )
        } else if points(system).any(|p| p.memory.is_some()) {
            let why = "friction depends on the past motion, the proof knows that of places only";
            (Some(false), why.to_string())
        } else {
            data.friction.clone()
        };
        let statement = "friction sets are Lipschitz continuous in place and time";
        self.add(FRICTION, statement, friction, why);
        let why = |known: Option<bool>, fails: &str| match known {
            None => "given by functions, not by expressions".to_string(),
            Some(_) => fails.to_string(),
        };
        let statement = "obstacles and joints do not move";
        let moves = why(
            data.resting,
            "an obstacle, a support or a joint is moved as time tells, or a surface runs along itself, as a belt does",
        );
        self.add(RESTING, statement, data.resting, moves);
        let statement = "forces depend on the present state only";
        let reads = why(data.present, "a force reads the past");
        self.add(PRESENT, statement, data.present, reads);
        let points = || points(system);
        let state = simulation.state();
        let section = |p: &ContactPoint| p.law.section_at(state.t, &state.q).unwrap_or_default();
        let unbounded = points().any(|p| !section(p).is_bounded());
        let generalized = points().any(|p| p.law.flow_rule().generalized().is_some());
        let critical = simulation.painleve().smallest.filter(|s| s.0 <= 1e-12);
        let (bounded, note) = match critical {
            _ if unbounded => {
                let note = "a friction set is given as unbounded".to_string();
                (Some(false), note)
            }
            Some((margin, t, ..)) if generalized => (
                Some(false),
                format!("a friction set is unbounded at t = {t} s (margin {margin:.3})"),
            ),
            _ if points().all(is_number) => (Some(true), String::new()),
            _ => data.friction_bounded.clone(),
        };
        let statement = "friction sets are bounded, over all places";
        self.add(BOUNDED, statement, bounded, note);
        // Shorter ones are refused before the first step.
        let statement = "delays are not shorter than the step";
        self.add(DELAYS, statement, Some(true), String::new());
    }

    /// What kind of system.
    fn structure(&mut self, simulation: &Simulation, from: Outset, settings: &RunSettings) {
        let system = simulation.system();
        let (count, joints) = (points(system).count(), system.joints().len());
        let world = system.as_world().is_some();
        let note = if world {
            "bodies that meet each other".to_string()
        } else {
            format!("{count} contacts, {joints} joints")
        };
        let one = count <= 1 && joints == 0 && !world;
        self.add(ONE, "there is one contact and no joint", Some(one), note);
        let unit = match has_unit_mass(system) {
            true => has_unit_frames(system, from),
            false => Some(false),
        };
        let note = match unit {
            Some(_) => {
                "the mass is not a multiple of the identity, or contacts are not those of points"
            }
            None => "no place was found where contacts can touch: their frames are not known",
        };
        let statement = "the system is a particle or several of one mass";
        self.add(PARTICLE, statement, unit, note.to_string());
        let note = "contacts are compliant: they give way, and rebound as their springs do";
        let rigid = Some(!simulation.contacts_are_compliant());
        self.add(RIGID, "contacts are rigid", rigid, note.to_string());
        let generalized = points(system).all(|p| p.law.flow_rule().generalized().is_some());
        let statement = "friction is stated on generalized reactions";
        let note = format!("the law is {}", settings.law);
        self.add(GENERALIZED, statement, Some(generalized && count > 0), note);
        let extended = |p: &ContactPoint| {
            p.law.flow_rule().generalized().is_some_and(|rule| {
                rule.sections == Sections::Joint || rule.active_space == ActiveSpace::Firm
            })
        };
        // Of one constraint both choices say the same.
        let written = system.constraints().len() <= 1 || !points(system).any(extended);
        let note = "sections = \"joint\" and active_space = \"firm\" are extensions of P'4";
        let statement = "the law of several constraints is that of the paper";
        self.add(AS_WRITTEN, statement, Some(written), note.to_string());
    }

    /// Laws of declared contacts, or of all pairs of materials of a world.
    fn laws(&mut self, simulation: &Simulation, settings: &RunSettings) {
        let (system, state) = (simulation.system(), simulation.state());
        let laws = laws(system);
        let rough = || laws.iter().filter(|law| law.tangent_dimension() > 0);
        let elastic = largest_restitution(&laws);
        let compliant = simulation.contacts_are_compliant();
        let note = if compliant {
            "springs of contacts give back what they took".to_string()
        } else {
            format!("restitution up to {elastic}")
        };
        let inelastic = Some(elastic == 0.0 && !compliant);
        self.add(INELASTIC, "impacts are inelastic", inelastic, note);
        let note = "there is friction".to_string();
        let frictionless = rough().next().is_none();
        self.add(
            FRICTIONLESS,
            "contact is frictionless",
            Some(frictionless),
            note,
        );
        let coulomb = laws.iter().all(|law| law.flow_rule() == FlowRule::Coulomb);
        let note = format!("the law is {}", settings.law);
        self.add(COULOMB, "friction is Coulomb's", Some(coulomb), note);
        let round =
            rough().all(|law| is_round(&law.section_at(state.t, &state.q).unwrap_or_default()));
        let note = "a friction set is no disc and no symmetric interval".to_string();
        let statement = "friction is the same in all directions";
        self.add(ISOTROPIC, statement, Some(round), note);
        let number = rough().all(|law| is_constant(law)) && points(system).all(is_number);
        let note = "a coefficient depends on place, time, past or slip speed".to_string();
        let statement = "coefficients of friction are numbers";
        self.add(CONSTANT, statement, Some(number), note);
        let mean = rough().all(|law| matches!(law.impact(), ImpactLaw::Fremond { .. }));
        let why = "a contact with friction has another impact law than fremond".to_string();
        let statement = "friction reads the mean velocity (fremond)";
        self.add(MEAN, statement, Some(mean), why);
        let right = rough().all(|law| match law.impact() {
            ImpactLaw::Fremond { .. } => false,
            ImpactLaw::Moreau { restitution } => restitution == 0.0,
            _ => true,
        });
        let why = "friction of an impact reads a mean velocity".to_string();
        let statement = "friction of impacts reads the velocity after them";
        self.add(RIGHT, statement, Some(right), why);
    }

    /// Smoothness that uniqueness needs, and the scheme.
    fn scheme(&mut self, simulation: &Simulation, settings: &RunSettings, data: &SceneFacts) {
        let system = simulation.system();
        let why = "an operation has kinks, poles or jumps".to_string();
        self.add(ANALYTIC, "all data are analytic", data.analytic, why);
        let others = not_sweeping(simulation, settings);
        let statement = "steps are those of the sweeping process: of one length, positions left where they lead";
        let sweeping = Some(others.is_empty());
        self.add(SWEEPING, statement, sweeping, others.join("; "));
        let note = format!("the scheme is {}", settings.scheme);
        // Another scheme has no θ; a system without a scene does not tell it.
        let limit = (1.0 + 1e-12) / (1.0 + largest_restitution(&laws(system)));
        let theta = match data.theta {
            Some(theta) => Some(theta <= limit),
            None if settings.scheme == "moreau-jean" => None,
            None => Some(false),
        };
        let statement = "steps are Moreau-Jean's with θ at most 1/(1 + e)";
        self.add(THETA, statement, theta, note);
    }
}

/// In what the steps of a run are not those of the sweeping process: another scheme, lengths that change, positions that are moved.
fn not_sweeping(simulation: &Simulation, settings: &RunSettings) -> Vec<String> {
    let mut others = Vec::new();
    if settings.scheme != "sweeping-process" {
        others.push(format!("the scheme is {}", settings.scheme));
        return others;
    }
    if simulation.changes_its_steps() {
        others.push("steps have several lengths".to_string());
    }
    match simulation.position_correction() {
        PositionCorrection::Path => others.push(
            "positions are brought back to the obstacle, and laws read along the way to them: projection = \"combined\""
                .to_string(),
        ),
        // A flat obstacle that no step overshoots is left as it is without it.
        PositionCorrection::Overshoot => others.extend(simulation.first_projected().map(|t| {
            let t = digits(t, 6);
            format!("positions are brought back to the obstacle from t = {t} s on: projection = \"combined\"")
        })),
        PositionCorrection::None => {}
    }
    others
}

/// Names of the joints whose equation vanishes with its gradient where the state leads.
fn flat_joints<'a>(system: &'a dyn MechanicalSystem, from: Outset) -> Vec<&'a str> {
    if system.sparsity().is_some() {
        return Vec::new();
    }
    let joints = system.joints().iter();
    let flat = joints.filter(|joint| {
        ZeroSearch::new(system, joint.function()).at_state(from) == Zero::Degenerate
    });
    flat.map(|joint| joint.name()).collect()
}

fn is_constant(law: &ContactLaw) -> bool {
    matches!(law.coefficient(), FrictionCoefficient::Constant(_))
}

/// Whether the friction of a contact is a number times its set, neither of place nor of past nor of slip speed.
fn is_number(point: &ContactPoint) -> bool {
    is_constant(&point.law) && point.memory.is_none() && point.slip.is_none()
}

fn points(system: &dyn MechanicalSystem) -> impl Iterator<Item = &ContactPoint> {
    system.constraints().iter().flat_map(|c| c.points())
}

/// Laws of declared contacts, or of the pairs of materials of a world.
fn laws(system: &dyn MechanicalSystem) -> Vec<&ContactLaw> {
    match system.as_world() {
        Some(world) => world.laws.laws().iter().map(|pair| &pair.contact).collect(),
        None => points(system).map(|p| &p.law).collect(),
    }
}

fn largest_restitution(laws: &[&ContactLaw]) -> f64 {
    let restitutions = laws.iter().map(|law| law.impact().restitution());
    restitutions.fold(0.0, f64::max)
}

/// Whether a section is the same in all directions.
fn is_round(section: &FrictionSection) -> bool {
    match section {
        FrictionSection::None | FrictionSection::Disc { .. } => true,
        FrictionSection::Interval { lower, upper } => -lower == *upper,
        _ => false,
    }
}

/// Whether the mass is one multiple of the identity everywhere.
fn has_unit_mass(system: &dyn MechanicalSystem) -> bool {
    let n = system.dof();
    let dense = system.as_world().is_none() && system.sparsity().is_none();
    if !dense || !system.mass_is_constant() || system.coordinate_count() != n {
        return false;
    }
    let mut mass = system.new_matrix();
    system.mass(&vec![0.0; n], &mut mass);
    let unit = mass.get(0, 0);
    (0..n * n).all(|e| {
        let target = if e / n == e % n { unit } else { 0.0 };
        (mass.get(e / n, e % n) - target).abs() <= 1e-12 * unit.abs()
    })
}

/// Places at which frames are looked at.
const PLACES: u64 = 200;

/// Makes seeds of times of those of places.
const TIMES: u64 = 0x5851_F42D_4C95_7F2D;

/// Whether the rows of every contact are orthonormal where it touches, as those of a point are: no lever couples normal and
/// tangent, and slip is measured by the same length everywhere. Places are drawn around the state, near and far, and
/// brought to the obstacle; none if no such place was found.
fn has_unit_frames(system: &dyn MechanicalSystem, from: Outset) -> Option<bool> {
    let mut seen = Some(true);
    for constraint in system.constraints() {
        let search = ZeroSearch::new(system, constraint.gap());
        let draws = Draws::new(&search, from);
        let mut touched = false;
        for seed in 0..PLACES {
            let t = from.t * Splitmix(seed ^ TIMES).unit();
            let Some(q) = search.zero_from(&draws, Outset { t, ..from }, seed) else {
                continue;
            };
            touched = true;
            if !is_unit_frame(constraint, t, &q) {
                return Some(false);
            }
        }
        seen = seen.filter(|_| touched);
    }
    seen
}

fn is_unit_frame(constraint: &UnilateralConstraint, t: f64, q: &[f64]) -> bool {
    let n = q.len();
    let mut gradient = vec![0.0; n];
    constraint.gap().gradient(t, q, &mut gradient);
    constraint.points().iter().all(|point| {
        let count = 1 + point.frame.tangent_count();
        let mut rows = vec![0.0; count * n];
        point.frame.rows(t, q, &gradient, &mut rows);
        let row = |k: usize| &rows[k * n..(k + 1) * n];
        let product = |k: usize, l: usize| dot(row(k), row(l));
        // The normal row may have any length.
        (1..count).all(|k| {
            let size = product(0, 0).sqrt();
            let other = |l: usize| product(k, l).abs() <= 1e-9;
            (product(k, k) - 1.0).abs() <= 1e-9
                && product(k, 0).abs() <= 1e-9 * size
                && (1..k).all(other)
        })
    })
}
