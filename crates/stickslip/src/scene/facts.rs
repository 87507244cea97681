//! What the expressions of a scene tell about the hypotheses of theorems.

use crate::quantity::digits;
use crate::simulation::SceneFacts;
use crate::stepping::default_theta;
use crate::systems::MechanicalSystem;

use super::contact::ContactModel;
use super::expression::{Domain, Expression, Graph, Smoothness, both};
use super::mechanics::GeneralizedModel;
use super::scene::{Mechanics, Scene};
use super::scene_reading::void_choice;
use super::words::Scheme;

/// What was read of elastic bodies and worlds by expressions.
#[derive(Clone, Debug)]
pub(super) struct DataRead {
    /// Times of the run.
    pub domain: Domain,
    /// Smoothness of loads and of prescribed motions.
    pub forces: Smoothness,
    /// Whether slopes of loads in places and velocities are bounded.
    pub growth: Option<bool>,
    /// Smoothness of friction coefficients.
    pub friction: Smoothness,
    /// How they grow with places, and whether they are bounded.
    pub steepness: Steepness,
    /// Whether an obstacle, a support or a body moves as it is told.
    pub moves: bool,
}

impl Default for DataRead {
    fn default() -> Self {
        Self {
            domain: Domain::default(),
            forces: Smoothness::Analytic,
            growth: Some(true),
            friction: Smoothness::Analytic,
            steepness: Steepness::default(),
            moves: false,
        }
    }
}

/// How friction coefficients grow with places.
#[derive(Clone, Debug)]
pub(super) struct Steepness {
    /// Whether their slopes are bounded.
    growth: Option<bool>,
    /// Whether all are bounded over all states.
    bounded: Option<bool>,
}

impl Default for Steepness {
    fn default() -> Self {
        Self {
            growth: Some(true),
            bounded: Some(true),
        }
    }
}

impl Steepness {
    fn read(&mut self, graph: &Graph, coefficient: Expression, domain: &Domain) {
        self.growth = both(self.growth, graph.has_bounded_slopes(coefficient, domain));
        self.bounded = both(self.bounded, graph.is_bounded(coefficient, domain));
    }

    /// The paper keeps friction angles away from a right angle; it says of places near each other only that they are.
    fn bounded(&self) -> (Option<bool>, String) {
        match self.bounded {
            Some(true) => (Some(true), String::new()),
            Some(false) => {
                let why = "a coefficient of friction grows without bound with the place: its angle comes as near to a right angle as one likes";
                (Some(false), why.to_string())
            }
            None => {
                let why =
                    "whether a coefficient of friction is bounded over all places was not decided";
                (None, why.to_string())
            }
        }
    }
}

impl DataRead {
    pub fn force(&mut self, graph: &Graph, expression: Expression) {
        let known = std::mem::replace(&mut self.forces, Smoothness::Analytic);
        self.forces = known.and(graph.smoothness(expression, &self.domain));
        let growth = graph.has_bounded_slopes(expression, &self.domain);
        self.growth = both(self.growth, growth);
    }

    /// A load by the acceleration of a motion with this velocity.
    pub fn driven(&mut self, graph: &Graph, velocity: Expression) {
        let known = std::mem::replace(&mut self.forces, Smoothness::Analytic);
        self.forces = known.and(graph.gradient_smoothness(velocity, &[0], &self.domain));
    }

    pub fn coefficient(&mut self, graph: &Graph, expression: Expression) {
        let known = std::mem::replace(&mut self.friction, Smoothness::Analytic);
        self.friction = known.and(graph.smoothness(expression, &self.domain));
        self.steepness.read(graph, expression, &self.domain);
    }

    fn facts(&self, theta: Option<f64>) -> SceneFacts {
        SceneFacts {
            forces: global(&self.forces, self.growth),
            forces_locally: fact(&self.forces),
            // Distances of bodies and meshes have corners.
            gaps: (None, "distances of bodies and surfaces".to_string()),
            flat: Vec::new(),
            joints: (Some(true), String::new()),
            friction: everywhere(&self.friction, self.steepness.growth),
            friction_bounded: self.steepness.bounded(),
            // Distances of shapes and meshes have kinks.
            analytic: None,
            resting: Some(!self.moves),
            present: Some(true),
            theta,
            void_choice: None,
        }
    }
}

impl Scene {
    /// Smoothness of forces and friction from the expressions, θ from the settings.
    #[doc(hidden)]
    #[must_use]
    pub fn facts(&self, system: &dyn MechanicalSystem) -> SceneFacts {
        self.facts_until(system, self.settings.until)
    }

    /// The same for a run that goes on to a time; loads of elastic bodies and worlds are read for that of the scene.
    #[doc(hidden)]
    #[must_use]
    pub fn facts_until(&self, system: &dyn MechanicalSystem, until: f64) -> SceneFacts {
        let theta = (self.settings.scheme == Scheme::MoreauJean)
            .then(|| self.settings.theta.unwrap_or_else(|| default_theta(system)));
        let facts = match &self.mechanics {
            Mechanics::Generalized(model) => {
                let start = [&model.q0[..], &model.v0].concat();
                generalized_facts(model, &Domain { until, start }, theta)
            }
            Mechanics::Body(_) | Mechanics::Elastic(_) | Mechanics::World(_) => {
                self.data.facts(theta)
            }
        };
        SceneFacts {
            void_choice: void_choice(&self.settings),
            ..facts
        }
    }
}

fn generalized_facts(model: &GeneralizedModel, domain: &Domain, theta: Option<f64>) -> SceneFacts {
    let graph = &model.graph;
    let mut forces = Smoothness::Analytic;
    let given = || model.system.force.iter().flatten();
    for &force in given() {
        forces = forces.and(graph.smoothness(force, domain));
        forces = forces.and(graph.past_smoothness(force, model.coordinates.len(), domain));
        if graph.reads_held(force) {
            let why = "outputs of controllers jump at their samples".to_string();
            forces = forces.and(Smoothness::Rough(why));
        }
    }
    let mut growth = (given().map(|&e| graph.has_bounded_slopes(e, domain))).fold(Some(true), both);
    if let Some(potential) = model.system.potential {
        let mut graph = graph.clone();
        let mut places = graph.inputs_of(potential);
        places.retain(|&input| input > 0);
        forces = forces.and(graph.gradient_smoothness(potential, &places, domain));
        let slopes = graph.gradient(potential, &places);
        let slopes = (slopes.iter()).map(|&slope| graph.has_bounded_slopes(slope, domain));
        growth = slopes.fold(growth, both);
    }
    for &force in &model.system.covariant_force {
        forces = forces.and(graph.smoothness(force, domain));
    }
    let points = || model.contacts.iter().flat_map(|c| &c.points);
    let (mut friction, mut steepness) = (Smoothness::Analytic, Steepness::default());
    for coefficient in points().filter_map(|p| p.friction.coefficient) {
        friction = friction.and(graph.smoothness(coefficient, domain));
        if graph.reads_past(coefficient) {
            let why = "friction depends on the past motion, the proof knows that of places only";
            friction = friction.and(Smoothness::Rough(why.to_string()));
        }
        steepness.read(graph, coefficient, domain);
    }
    let gaps = (model.contacts.iter()).map(|c| graph.smoothness_near(c.gap, c.gap, domain));
    let gaps = gaps.fold(Smoothness::Analytic, Smoothness::and);
    let surfaces = (model.contacts.iter()).map(|c| graph.smoothness_of_surface(c.gap, domain));
    let surfaces = surfaces.fold(Smoothness::Analytic, Smoothness::and);
    // Where there are joints, they decide which of these places there are.
    let flat = match model.joints.is_empty() {
        true => (model.contacts.iter())
            .filter_map(|contact| flat_place(model, contact, domain))
            .collect(),
        false => Vec::new(),
    };
    let equations = || model.joints.iter().map(|joint| joint.equation);
    let joints = (equations().map(|e| graph.smoothness_of_equation(e, domain)))
        .fold(Smoothness::Analytic, Smoothness::and);
    // What else the motion is made of: joints, inertia, and where a gap vanishes the rows along which its contact slips.
    let others = equations().chain(model.system.mass.iter().copied());
    let others =
        (others.map(|e| graph.smoothness(e, domain))).fold(Smoothness::Analytic, Smoothness::and);
    let rows = model.contacts.iter().flat_map(|contact| {
        let points = contact.points.iter();
        let rows = points.flat_map(|p| p.normal_row.iter().chain(&p.tangent_rows));
        let rows: Vec<Expression> = rows.flatten().copied().collect();
        rows.into_iter()
            .map(|row| graph.smoothness_near(row, contact.gap, domain))
    });
    let rows = rows.fold(Smoothness::Analytic, Smoothness::and);
    // Largest and smallest values of the past bend where another instant takes over.
    let bends = given().any(|&e| graph.reads_extremes(e));
    let all = forces
        .clone()
        .and(friction.clone())
        .and(gaps)
        .and(rows)
        .and(others);
    // Slip of a belt, or of an obstacle that moves.
    let slips = points()
        .flat_map(|p| &p.drift)
        .any(|&e| graph.constant_value(e) != Some(0.0));
    let mut held = model.contacts.iter().map(|c| c.gap);
    let moves = held.any(|e| graph.reads_time(e))
        || model.joints.iter().any(|j| graph.reads_time(j.equation));
    SceneFacts {
        forces: global(&forces, growth),
        forces_locally: fact(&forces),
        gaps: fact(&surfaces),
        flat,
        joints: fact(&joints),
        friction: everywhere(&friction, steepness.growth),
        friction_bounded: steepness.bounded(),
        analytic: match all {
            _ if bends => Some(false),
            Smoothness::Analytic => Some(true),
            Smoothness::Lipschitz | Smoothness::Rough(_) => Some(false),
            Smoothness::Unknown(_) => None,
        },
        resting: Some(!slips && !moves),
        present: Some(!given().any(|&e| graph.reads_past(e))),
        theta,
        void_choice: None,
    }
}

/// A contact whose gap vanishes with its gradient, with the place.
fn flat_place(
    model: &GeneralizedModel,
    contact: &ContactModel,
    domain: &Domain,
) -> Option<(String, String)> {
    let place = model.graph.flat_place(contact.gap, domain)?;
    let name = |input: usize| match input.checked_sub(1) {
        None => "t",
        Some(k) => model.coordinates[k].as_str(),
    };
    let place = place.into_iter();
    let place: Vec<String> = place
        .map(|(input, x)| format!("{} = {}", name(input), digits(x, 6)))
        .collect();
    Some((contact.name.clone(), place.join(", ")))
}

fn fact(smoothness: &Smoothness) -> (Option<bool>, String) {
    (smoothness.is_lipschitz(), reason(smoothness))
}

/// Whether forces are Lipschitz over all states.
fn global(smoothness: &Smoothness, growth: Option<bool>) -> (Option<bool>, String) {
    match (smoothness.is_lipschitz(), growth) {
        (Some(true), Some(false)) => {
            let why = "on bounded sets only: slopes grow without bound, and the motion may end in a finite time";
            (Some(false), why.to_string())
        }
        (Some(true), None) => {
            let why = "on bounded sets; whether slopes are bounded over all states was not decided";
            (None, why.to_string())
        }
        _ => fact(smoothness),
    }
}

/// Whether friction is Lipschitz over all places.
fn everywhere(smoothness: &Smoothness, growth: Option<bool>) -> (Option<bool>, String) {
    match (smoothness.is_lipschitz(), growth) {
        (Some(true), Some(false)) => {
            let why = "on bounded sets only: the slope of a coefficient grows without bound";
            (Some(false), why.to_string())
        }
        _ => global(smoothness, growth),
    }
}

fn reason(smoothness: &Smoothness) -> String {
    match smoothness {
        Smoothness::Analytic | Smoothness::Lipschitz => String::new(),
        Smoothness::Unknown(why) | Smoothness::Rough(why) => why.clone(),
    }
}
