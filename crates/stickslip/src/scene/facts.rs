//! What the expressions of a scene tell about the hypotheses of theorems.

use crate::simulation::SceneFacts;
use crate::stepping::default_theta;
use crate::systems::MechanicalSystem;

use super::expression::Smoothness;
use super::scene::{Mechanics, Scene};
use super::words::Scheme;

impl Scene {
    /// Smoothness of forces and friction from the expressions, θ from the settings.
    #[doc(hidden)]
    #[must_use]
    pub fn facts(&self, system: &dyn MechanicalSystem) -> SceneFacts {
        let theta = (self.settings.scheme == Scheme::MoreauJean)
            .then(|| self.settings.theta.unwrap_or_else(|| default_theta(system)));
        let fact = |smoothness: Smoothness| (smoothness.is_lipschitz(), reason(&smoothness));
        let Mechanics::Generalized(model) = &self.mechanics else {
            // Weights, springs and coefficients that are numbers.
            return SceneFacts {
                forces: (Some(true), String::new()),
                friction: (Some(true), String::new()),
                analytic: None,
                theta,
            };
        };
        let graph = &model.graph;
        let mut forces = Smoothness::Analytic;
        for &force in model.system.force.iter().flatten() {
            forces = forces.and(graph.smoothness(force));
        }
        if let Some(potential) = model.system.potential {
            forces = forces.and(graph.gradient_smoothness(potential));
        }
        for &force in &model.system.covariant_force {
            forces = forces.and(graph.smoothness(force));
        }
        let points = model.contacts.iter().flat_map(|c| &c.points);
        let coefficients = points.filter_map(|p| p.friction.coefficient);
        let friction = coefficients
            .map(|c| graph.smoothness(c))
            .fold(Smoothness::Analytic, Smoothness::and);
        let gaps = model.contacts.iter().map(|c| graph.smoothness(c.gap));
        let gaps = gaps.fold(Smoothness::Analytic, Smoothness::and);
        let all = forces.clone().and(friction.clone()).and(gaps);
        SceneFacts {
            forces: fact(forces),
            friction: fact(friction),
            analytic: match all {
                Smoothness::Analytic => Some(true),
                Smoothness::Lipschitz | Smoothness::Rough(_) => Some(false),
                Smoothness::Unknown(_) => None,
            },
            theta,
        }
    }
}

fn reason(smoothness: &Smoothness) -> String {
    match smoothness {
        Smoothness::Analytic | Smoothness::Lipschitz => String::new(),
        Smoothness::Unknown(why) | Smoothness::Rough(why) => why.clone(),
    }
}
