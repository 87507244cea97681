//! Contact laws from the words of a scene.

use std::sync::Arc;

use crate::laws::{
    ContactLaw, FlowRule, FrictionCoefficient, FrictionSection, GeneralizedRule, ImpactLaw,
    LawError, Polyhedron,
};

use super::build_generalized::reads_slip;
use super::contact::{ContactModel, PointModel};
use super::expression::Graph;
use super::friction::FrictionPart;
use super::program::Program;
use super::settings::Settings;
use super::words::{Impact, Law};

pub(super) fn contact_law(
    contact: &ContactModel,
    point: &PointModel,
    graph: &Graph,
    n: usize,
    settings: &Settings,
) -> Result<ContactLaw, LawError> {
    let section = section(&point.friction.parts)?;
    let impact = impact_law(contact.impact, contact.restitution);
    let mut law = ContactLaw::new(section, impact)?.with_flow_rule(flow_rule(settings));
    if let Some(coefficient) = point.friction.coefficient {
        // Friction that reads the past is attached to the point, not to the law.
        let elsewhere = graph.reads_past(coefficient) || reads_slip(graph, coefficient);
        if point.friction.parts.is_empty() || elsewhere {
            return Ok(law);
        }
        let program = Arc::new(Program::compile(graph, &[coefficient], n));
        let factor = FrictionCoefficient::function(move |t, q| program.value(t, q));
        law = law.with_coefficient(factor)?;
    }
    Ok(law)
}

pub(super) fn flow_rule(settings: &Settings) -> FlowRule {
    match settings.law {
        Law::Frictionless | Law::Coulomb => FlowRule::Coulomb,
        Law::Argmin => FlowRule::KineticProjection,
        Law::Generalized => FlowRule::Generalized(GeneralizedRule {
            sections: settings.sections,
            active_space: settings.active_space,
            unit: settings.friction_per,
            firmness: settings.firmness,
        }),
    }
}

pub(super) fn impact_law(impact: Impact, restitution: f64) -> ImpactLaw {
    match impact {
        Impact::Inelastic => ImpactLaw::Inelastic,
        Impact::Energetic => ImpactLaw::Energetic { restitution },
        Impact::Newton => ImpactLaw::Newton { restitution },
        Impact::Poisson => ImpactLaw::Poisson { restitution },
        Impact::Moreau => ImpactLaw::Moreau { restitution },
        Impact::Fremond => ImpactLaw::Fremond { restitution },
    }
}

pub(super) fn section(parts: &[FrictionPart]) -> Result<FrictionSection, LawError> {
    let single = |part: &FrictionPart| match part {
        FrictionPart::Disc { radius, dimension } => FrictionSection::ball(*radius, *dimension),
        FrictionPart::Ellipse(axes) => FrictionSection::ellipse(*axes),
        FrictionPart::Interval([lower, upper]) => FrictionSection::interval(*lower, *upper),
        FrictionPart::Polygon(vertices) => {
            let vertices: Vec<Vec<f64>> = vertices.iter().map(|v| v.to_vec()).collect();
            FrictionSection::polytope(&vertices)
        }
        FrictionPart::Polyhedron(vertices, rays) => {
            let lists = |points: &[[f64; 2]]| points.iter().map(|v| v.to_vec()).collect();
            FrictionSection::general(Polyhedron::new(lists(vertices), lists(rays))?)
        }
    };
    match parts {
        [] => Ok(FrictionSection::None),
        [part] => single(part),
        parts => {
            let factors: Result<Vec<FrictionSection>, LawError> =
                parts.iter().map(single).collect();
            FrictionSection::product(factors?)
        }
    }
}
