//! What is refused before the first step.

use crate::laws::{FlowRule, ImpactLaw};
use crate::stepping::TimeSteppingScheme;
use crate::systems::MechanicalSystem;
use crate::systems::constraint::ContactPoint;
use crate::systems::functions::ScalarFunction;
use crate::systems::past_motion::PastError;

use super::super::gap_zero::{Outset, Zero, ZeroSearch};
use super::super::simulation_settings::{SimulationError, SimulationSettings};
use super::super::step_control::StepControl;

/// The scheme knows how to step the system, and its steps are neither longer than delays nor beyond its stability; adaptive
/// steps are held to that.
pub(super) fn check_scheme(
    system: &dyn MechanicalSystem,
    scheme: &dyn TimeSteppingScheme,
    q: &[f64],
    control: &mut StepControl,
) -> Result<(), SimulationError> {
    let name = scheme.name();
    if let Some(reason) = scheme.refusal(system) {
        return Err(SimulationError::Scheme {
            scheme: name,
            reason,
        });
    }
    if !scheme.keeps_past() {
        check_delays(system, name, control)?;
    }
    let Some(limit) = scheme.step_limit(system, q) else {
        return Ok(());
    };
    match control {
        StepControl::Fixed { h } if *h >= limit.stable => Err(SimulationError::UnstableStep {
            scheme: name,
            step: *h,
            stable: limit.stable,
            advised: limit.advised,
        }),
        StepControl::Fixed { .. } => Ok(()),
        StepControl::Adaptive { h, h_max, .. } => {
            *h_max = h_max.min(limit.advised);
            *h = h.min(limit.advised);
            Ok(())
        }
    }
}

/// No scheme may need the unknown end of its step: the step is at most the shortest delay.
fn check_delays(
    system: &dyn MechanicalSystem,
    scheme: &'static str,
    control: &mut StepControl,
) -> Result<(), SimulationError> {
    let Some(delay) = system
        .past_reading()
        .and_then(|reading| reading.delay_min())
    else {
        return Ok(());
    };
    match control {
        StepControl::Fixed { h } if *h > delay * (1.0 + 1e-12) => {
            Err(SimulationError::Past(PastError::ShorterThanStep {
                delay,
                step: *h,
                scheme,
            }))
        }
        StepControl::Fixed { .. } => Ok(()),
        StepControl::Adaptive { h, h_max, .. } => {
            *h_max = h_max.min(delay);
            *h = h.min(delay);
            Ok(())
        }
    }
}

/// Gaps that vanish with their gradients have no normal, and such joints no direction in which they hold; meshes have gaps that
/// are distances.
pub(super) fn check_gradients(
    system: &dyn MechanicalSystem,
    (q, v): (&[f64], &[f64]),
    settings: &SimulationSettings,
) -> Result<(), SimulationError> {
    if system.sparsity().is_some() {
        return Ok(());
    }
    let (t, h) = (settings.t_start, settings.control.initial());
    let degenerate = |function: &dyn ScalarFunction| {
        let search = ZeroSearch::new(system, function);
        search.at_state(Outset { t, q, v, h }) == Zero::Degenerate
    };
    for constraint in system.constraints() {
        if degenerate(constraint.gap()) {
            let constraint = constraint.name().to_string();
            return Err(SimulationError::DegenerateGap { constraint });
        }
    }
    for joint in system.joints() {
        if degenerate(joint.function()) {
            let joint = joint.name().to_string();
            return Err(SimulationError::DegenerateJoint { joint });
        }
    }
    Ok(())
}

/// Sizes, finiteness, positive steps, and laws that cannot be combined.
pub(super) fn check(
    system: &dyn MechanicalSystem,
    q: &[f64],
    v: &[f64],
    settings: &SimulationSettings,
) -> Result<(), SimulationError> {
    for (what, values, names) in [
        ("position", q, system.coordinate_names()),
        ("velocity", v, system.velocity_names()),
    ] {
        if values.len() != names.len() {
            return Err(SimulationError::Dimension {
                what,
                found: values.len(),
                expected: names.len(),
            });
        }
        for (name, &value) in names.iter().zip(values) {
            if !value.is_finite() {
                return Err(SimulationError::NonFinite {
                    name: name.clone(),
                    value,
                });
            }
        }
    }
    let positive = |what, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(SimulationError::NotPositive { what, value })
        }
    };
    positive("the step", settings.control.initial())?;
    if let StepControl::Adaptive {
        tolerance,
        h_min,
        h_max,
        ..
    } = settings.control
    {
        positive("the tolerance of the adaptive step", tolerance)?;
        positive("the shortest step", h_min)?;
        positive("the longest step", h_max)?;
    }
    for constraint in system.constraints() {
        let energetic = |p: &ContactPoint| matches!(p.law.impact(), ImpactLaw::Energetic { .. });
        let points = constraint.points();
        if points.len() > 1
            && points.iter().any(energetic)
            && points
                .iter()
                .any(|p| !p.law.base_section().is_frictionless())
        {
            return Err(SimulationError::SeveralLayers {
                constraint: constraint.name().to_string(),
                what: "its points",
            });
        }
        for point in constraint.points() {
            let restitution = point.law.impact().restitution();
            if point.law.flow_rule() == FlowRule::KineticProjection && restitution > 0.0 {
                let constraint = constraint.name().to_string();
                return Err(SimulationError::ElasticProjection {
                    constraint,
                    restitution,
                });
            }
        }
    }
    Ok(())
}

/// Worlds have schemes of their own, whose contacts are remembered from step to step.
pub(super) fn check_world(
    system: &dyn MechanicalSystem,
    scheme: &dyn TimeSteppingScheme,
    control: &StepControl,
) -> Result<(), SimulationError> {
    let reason = match (system.as_world().is_some(), scheme.steps_worlds()) {
        (true, false) => "does not step worlds of bodies",
        (false, true) => "steps worlds of bodies only",
        (true, true) if matches!(control, StepControl::Adaptive { .. }) => {
            "takes fixed steps only, for trial steps would change what contacts remember"
        }
        _ => return Ok(()),
    };
    Err(SimulationError::World {
        scheme: scheme.name(),
        reason,
    })
}

/// The generalized law is solved for all contacts at once, by the scheme that reads true velocities.
pub(super) fn check_generalized(
    system: &dyn MechanicalSystem,
    scheme: &'static str,
) -> Result<(), SimulationError> {
    let generalized = |rule: FlowRule| rule.generalized().is_some();
    let points = || {
        system
            .constraints()
            .iter()
            .flat_map(|c| c.points().iter().map(move |p| (c, p)))
    };
    if !points().any(|(_, p)| generalized(p.law.flow_rule())) {
        return Ok(());
    }
    for (constraint, point) in points() {
        let reason = if !generalized(point.law.flow_rule()) {
            "acts on all contacts at once and cannot be mixed with another one"
        } else if scheme != "moreau" {
            "is stepped by the scheme `moreau`"
        } else if matches!(point.law.impact(), ImpactLaw::Fremond { .. }) {
            "reads the tangential velocity after the impact, Fremond's law the mean one"
        } else if matches!(point.law.impact(), ImpactLaw::Energetic { .. }) {
            "has a normal impact of its own, the energetic law follows Coulomb's friction through the impact"
        } else {
            continue;
        };
        return Err(SimulationError::Generalized {
            constraint: constraint.name().to_string(),
            reason,
        });
    }
    Ok(())
}
