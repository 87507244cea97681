//! Scenes of the gallery whose positions are corrected, against exact motions.

use std::ops::ControlFlow;

use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::scene::{Changes, Scene, find_in_gallery};
use stickslip::simulation::Simulation;

/// Runs a scene with parameters of the case of the same name, and its step and end.
fn run(params: &Inputs, scene: &str, names: &[&str]) -> Result<Simulation, CaseError> {
    let failed = |reason: String| CaseError::NotComputed { reason };
    let entry = find_in_gallery(scene).ok_or_else(|| failed(format!("no scene {scene}")))?;
    let mut changes = Changes::new()
        .key("step", params.number("h")?)
        .key("until", params.number("T")?);
    for name in names {
        changes = changes.parameter(*name, params.number(name)?);
    }
    let source = changes
        .apply(&entry.source())
        .map_err(|e| failed(e.to_string()))?;
    let scene = Scene::parse(source).map_err(|e| failed(e.to_string()))?;
    let mut run = scene.simulation().map_err(|e| failed(e.to_string()))?;
    run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    Ok(run)
}

/// `ring_slide`: a bead inside a smooth ring keeps speed and radius.
pub(super) fn ring(input: &CaseInput) -> Result<Answer, CaseError> {
    let run = run(&input.params, "ring-slide", &["m", "r", "v0"])?;
    let (q, state) = (&run.state().q, run.state());
    Ok(group! {
        "kinetic_end" => state.kinetic,
        "radius_end" => q[0].hypot(q[1]),
        "q_end" => q.as_slice(),
        "impacts" => run.events().events.len() as f64,
        "drift" => run.positions().drift.largest.value,
    })
}

/// `joint_pendulum`: a particle on a circle keeps length and energy.
pub(super) fn pendulum(input: &CaseInput) -> Result<Answer, CaseError> {
    let run = run(&input.params, "joint-pendulum", &["m", "l", "g"])?;
    let (q, state) = (&run.state().q, run.state());
    Ok(group! {
        "length_end" => q[0].hypot(q[1]),
        "energy_end" => state.kinetic + state.potential,
        "q_end" => q.as_slice(),
    })
}

/// `spinning_ball`: a hollow ball ends up rolling.
pub(super) fn ball(input: &CaseInput) -> Result<Answer, CaseError> {
    let run = run(
        &input.params,
        "spinning-ball",
        &["r", "v0", "w0", "mu", "e"],
    )?;
    let v = &run.state().v;
    Ok(group! {
        "v_end" => &v[..3],
        "momentum_closed" => f64::from(u8::from(run.momentum_ledger().is_closed())),
    })
}

/// `pd_arm`: a stiff controller.
pub(super) fn arm(input: &CaseInput) -> Result<Answer, CaseError> {
    let run = run(
        &input.params,
        "pd-arm",
        &["J", "kp", "kd", "target", "stop"],
    )?;
    Ok(group! { "p_end" => run.state().q[0] })
}
