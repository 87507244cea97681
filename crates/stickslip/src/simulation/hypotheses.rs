//! Which theorems of the papers cover a run, and which of their hypotheses fail where.
//!
//! A certificate says that every step solves its laws. Whether the motion exists, is the only one and is what the steps
//! converge to are questions to theorems; [`Hypotheses`] puts their assumptions beside what the system, the
//! expressions of the scene and the run itself show.

use serde::{Deserialize, Serialize};

use crate::laws::{FlowRule, ImpactLaw};
use crate::systems::MechanicalSystem;

use super::gap_zero::{GapZero, gap_zero};
use super::{RunSettings, Simulation};

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

/// What a scene tells beyond its system: whether forces and friction are Lipschitz, with the reason where
/// they are not or where it is not known, whether all data are analytic, and θ of its scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFacts {
    /// Forces.
    pub forces: (Option<bool>, String),
    /// Friction sets in place and time.
    pub friction: (Option<bool>, String),
    /// All data.
    pub analytic: Option<bool>,
    /// θ of the scheme, where it has one.
    pub theta: Option<f64>,
}

impl Default for SceneFacts {
    fn default() -> Self {
        let unknown = (None, "given by functions, not by expressions".to_string());
        Self {
            forces: unknown.clone(),
            friction: unknown,
            analytic: None,
            theta: None,
        }
    }
}

/// Names of the hypotheses.
const GRADIENT: &str = "gradient";
const INDEPENDENT: &str = "independent";
const FORCES: &str = "forces";
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
const THETA: &str = "theta";

impl Hypotheses {
    /// The page of a run.
    #[doc(hidden)]
    pub fn of(simulation: &Simulation, settings: &RunSettings, data: &SceneFacts) -> Self {
        let mut page = Self::default();
        page.geometry(simulation);
        page.data(simulation, data);
        page.structure(simulation.system(), settings, data);
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
    fn geometry(&mut self, simulation: &Simulation) {
        let (system, state) = (simulation.system(), simulation.state());
        let mut unknown = Vec::new();
        // Gaps of meshes are distances to surfaces.
        if system.sparsity().is_none() {
            for (c, constraint) in system.constraints().iter().enumerate() {
                if gap_zero(system, c, state.t, &state.q) == GapZero::NotReached {
                    unknown.push(constraint.name());
                }
            }
        }
        // A gap that vanishes with its gradient is refused, or stops the run where it is met.
        self.add(
            GRADIENT,
            "gradients of the gaps do not vanish where the gaps do",
            unknown.is_empty().then_some(true),
            format!(
                "no zero of the gap was found from here: {}",
                unknown.join(", ")
            ),
        );
        let certificate = simulation.certificate();
        let (dependent, note) = match certificate.dependent_normals {
            Some(t) => (Some(false), format!("from t = {t} s on")),
            None if certificate.rank_not_measured || system.as_world().is_some() => {
                let note = "too many contacts at once to measure the rank".to_string();
                (None, note)
            }
            None => (Some(true), String::new()),
        };
        let statement = "gradients of active gaps are linearly independent";
        self.add(INDEPENDENT, statement, dependent, note);
    }

    /// Forces, friction, delays.
    fn data(&mut self, simulation: &Simulation, data: &SceneFacts) {
        let system = simulation.system();
        let (forces, why) = data.forces.clone();
        self.add(FORCES, "forces are Lipschitz continuous", forces, why);
        let (friction, why) = data.friction.clone();
        let statement = "friction sets are Lipschitz continuous in place and time";
        self.add(FRICTION, statement, friction, why);
        let points = || system.constraints().iter().flat_map(|c| c.points());
        let state = simulation.state();
        let section = |p: &crate::systems::constraint::ContactPoint| {
            p.law.section_at(state.t, &state.q).unwrap_or_default()
        };
        let unbounded = points().any(|p| !section(p).is_bounded());
        let generalized = points().any(|p| p.law.flow_rule().generalized().is_some());
        let critical = simulation.painleve().smallest.filter(|s| s.0 <= 1e-12);
        let (bounded, note) = match critical {
            _ if unbounded => (false, "a friction set is given as unbounded".to_string()),
            Some((margin, t, ..)) if generalized => (
                false,
                format!("a friction set is unbounded at t = {t} s (margin {margin:.3})"),
            ),
            _ => (true, String::new()),
        };
        self.add(BOUNDED, "friction sets are bounded", Some(bounded), note);
        // Shorter ones are refused before the first step.
        let statement = "delays are not shorter than the step";
        self.add(DELAYS, statement, Some(true), String::new());
    }

    /// What kind of system under which law.
    fn structure(
        &mut self,
        system: &dyn MechanicalSystem,
        settings: &RunSettings,
        data: &SceneFacts,
    ) {
        let points = || system.constraints().iter().flat_map(|c| c.points());
        let count = points().count();
        let joints = system.joints().len();
        // Contacts of a world come and go; what is said of declared ones is not known of them.
        let world = system.as_world().is_some();
        let known = |holds: bool| (!world).then_some(holds);
        let one = count <= 1 && joints == 0 && !world;
        let note = if world {
            "bodies that meet each other".to_string()
        } else {
            format!("{count} contacts, {joints} joints")
        };
        self.add(ONE, "there is one contact and no joint", Some(one), note);
        let note = "the mass is not a multiple of the identity".to_string();
        let particle = is_particle(system);
        self.add(
            PARTICLE,
            "the system is a particle or several of one mass",
            Some(particle),
            note,
        );
        let impact = |p: &crate::systems::constraint::ContactPoint| p.law.impact();
        let elastic = points()
            .map(|p| impact(p).restitution())
            .fold(0.0, f64::max);
        let note = format!("restitution up to {elastic}");
        self.add(
            INELASTIC,
            "impacts are inelastic",
            known(elastic == 0.0),
            note,
        );
        let friction = points().any(|p| p.law.tangent_dimension() > 0);
        let note = "there is friction".to_string();
        self.add(
            FRICTIONLESS,
            "contact is frictionless",
            known(!friction),
            note,
        );
        let coulomb = points().all(|p| p.law.flow_rule() == FlowRule::Coulomb);
        let note = format!("the law is {}", settings.law);
        self.add(
            COULOMB,
            "friction is Coulomb's",
            known(coulomb),
            note.clone(),
        );
        let generalized = points().all(|p| p.law.flow_rule().generalized().is_some());
        let statement = "friction is stated on generalized reactions";
        self.add(GENERALIZED, statement, Some(generalized && count > 0), note);
        let why = "an operation has kinks, poles or jumps".to_string();
        self.add(ANALYTIC, "all data are analytic", data.analytic, why);
        let note = format!("the scheme is {}", settings.scheme);
        let sweeping = settings.scheme == "sweeping-process";
        self.add(
            SWEEPING,
            "steps are those of the sweeping process",
            Some(sweeping),
            note.clone(),
        );
        let mean = points()
            .filter(|p| p.law.tangent_dimension() > 0)
            .all(|p| matches!(impact(p), ImpactLaw::Fremond { .. }));
        let why = "a contact with friction has another impact law than fremond".to_string();
        self.add(
            MEAN,
            "friction reads the mean velocity (fremond)",
            Some(mean),
            why,
        );
        // Another scheme has no θ; a system without a scene does not tell it.
        let limit = (1.0 + 1e-12) / (1.0 + elastic);
        let theta = match data.theta {
            Some(theta) => Some(theta <= limit),
            None if settings.scheme == "moreau-jean" => None,
            None => Some(false),
        };
        let statement = "steps are Moreau-Jean's with θ at most 1/(1 + e)";
        self.add(THETA, statement, theta, note);
    }

    fn theorems(&mut self) {
        let list: [(&str, &str, &[&str]); 8] = [
            (
                "existence",
                "a particle with friction on one surface has a motion: Theorem 1.3 of [MonteiroMarquesDzonou2017]",
                &[
                    ONE, PARTICLE, COULOMB, INELASTIC, GRADIENT, FORCES, FRICTION, BOUNDED, DELAYS,
                ],
            ),
            (
                "convergence",
                "subsequences of the sweeping process converge to a motion as the step shrinks: Theorem 1.3 of \
                 [MonteiroMarquesDzonou2017]",
                &[
                    SWEEPING, ONE, PARTICLE, COULOMB, INELASTIC, GRADIENT, FORCES, FRICTION,
                    BOUNDED, DELAYS,
                ],
            ),
            (
                "bounds",
                "speed, penetration and variation of the velocity are bounded beforehand: Lemmas 1.1, 1.4 and 1.5 of \
                 [MonteiroMarquesDzonou2017]; see `study bounds`",
                &[
                    SWEEPING, ONE, PARTICLE, COULOMB, INELASTIC, GRADIENT, FORCES, FRICTION,
                    BOUNDED, DELAYS,
                ],
            ),
            (
                "existence",
                "frictionless motions exist: section 1.3 of [CharlesBallard2016]",
                &[FRICTIONLESS, GRADIENT, INDEPENDENT, FORCES],
            ),
            (
                "uniqueness",
                "frictionless motions of analytic data are unique: section 1.3 of [CharlesBallard2016]",
                &[FRICTIONLESS, ANALYTIC, GRADIENT, INDEPENDENT],
            ),
            (
                "uniqueness",
                "motions of particles with friction and analytic data are unique: section 5 of [CharlesBallard2016]",
                &[PARTICLE, ANALYTIC, GRADIENT, INDEPENDENT, BOUNDED],
            ),
            (
                "uniqueness",
                "the velocity after an impact is determined by that before: P'3 and P'4 of [CharlesBallard2016]",
                &[GENERALIZED, GRADIENT, INDEPENDENT],
            ),
            (
                "dissipation",
                "contacts take energy in every step, whatever its length: [AcaryCollinsCraft2023]",
                &[THETA, MEAN],
            ),
        ];
        for (about, theorem, needed) in list {
            let of = |wanted: Status| -> Vec<String> {
                let has = |h: &&Hypothesis| needed.contains(&h.name.as_str()) && h.status == wanted;
                let found = self.hypotheses.iter().filter(has);
                found.map(|h| h.name.clone()).collect()
            };
            let (fails, unknown) = (of(Status::Fails), of(Status::Unknown));
            let status = match (fails.is_empty(), unknown.is_empty()) {
                (false, _) => Status::Fails,
                (true, false) => Status::Unknown,
                (true, true) => Status::Holds,
            };
            self.theorems.push(TheoremCover {
                about: about.to_string(),
                theorem: theorem.to_string(),
                status,
                fails,
                unknown,
            });
        }
    }
}

/// Whether the mass is one multiple of the identity everywhere.
fn is_particle(system: &dyn MechanicalSystem) -> bool {
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
