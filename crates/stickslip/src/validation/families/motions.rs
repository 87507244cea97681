//! Motions with frictionless impacts: the bouncing ball and billiards, by time stepping.

use std::ops::ControlFlow;

use crate::laws::{ContactLaw, ImpactLaw};
use crate::records::{ContactMode, StepRecord};
use crate::stepping::MoreauJeanSettings;
use crate::systems::functions::GivenScalar;
use crate::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};
use crate::validation::engine::{run_until, simulation, theta_scheme};
use crate::validation::{Answer, CaseError, CaseInput};

/// The theta scheme of motions: θ = ½, otherwise the defaults.
fn midpoint() -> Result<Box<dyn crate::stepping::TimeSteppingScheme>, CaseError> {
    theta_scheme(MoreauJeanSettings {
        theta: Some(0.5),
        ..Default::default()
    })
}

/// A wall `normal·x ≥ offset` of the plane.
fn wall(
    name: String,
    normal: [f64; 2],
    offset: f64,
    restitution: f64,
) -> Result<UnilateralConstraint, CaseError> {
    let gap = GivenScalar {
        value: move |q: &[f64]| normal[0] * q[0] + normal[1] * q[1] - offset,
        gradient: move |_: &[f64], row: &mut [f64]| row.copy_from_slice(&normal),
    };
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution })?;
    Ok(UnilateralConstraint::new(name, gap).with_point(ContactFrame::Frictionless, law))
}

/// `ball`: impacts of a ball dropped from rest, unit mass.
pub(super) fn ball(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (h0, g) = (params.number("h0")?, params.number("g")?);
    let (restitution, t_end) = (params.number("e")?, params.number("T")?);
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0,
    };
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution })?;
    let ground =
        UnilateralConstraint::new("ground", gap).with_point(ContactFrame::Frictionless, law);
    let system = GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .dead_load(&[-g])
        .constraint(ground)
        .build(&[h0])?;
    // The unit of time is the fall; the run ends when the ball has been at rest for one of them.
    let fall = (2.0 * h0 / g).sqrt();
    // The flight before the twelfth impact lasts 2 e^11 falls: a dozen steps resolve it.
    let resolved = (6.0 / restitution.powi(11)).clamp(500.0, 12_000.0);
    let h = fall / (resolved * refinement as f64);
    let longest = (1.0 + restitution) / (1.0 - restitution).max(1e-2) * fall + fall;
    let mut run = simulation(system, midpoint()?, (&[h0], &[0.0]), h, true)?;
    let mut impacts = Vec::new();
    let mut energies = vec![run.record().kinetic + run.record().potential];
    let mut at_end = None;
    let (mut closed, mut rest) = (false, None);
    run_until(&mut run, t_end.max(longest), |record| {
        let touching = record.contacts[0].mode != ContactMode::Open;
        if touching && !closed {
            impacts.push(record.t);
            energies.push(record.kinetic + record.potential);
            rest = Some(record.t);
        }
        closed = touching;
        if at_end.is_none() && record.t >= t_end - 0.5 * h {
            at_end = Some([record.q[0], record.velocity[0]]);
        }
        let settled = closed && rest.is_some_and(|rest| record.t > rest + fall);
        if at_end.is_some() && settled {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let count = if restitution == 0.0 { 1 } else { 12 };
    impacts.truncate(count);
    energies.resize(
        5.max(energies.len()),
        energies.last().copied().unwrap_or(0.0),
    );
    energies.truncate(5);
    Ok(group! {
        "first_impacts" => impacts,
        "zeno_time" => rest,
        "state_T" => at_end.map(Answer::from),
        "E_after_k" => energies,
    })
}

/// First impulse of a contact after a step without one.
fn new_hits(record: &StepRecord, closed: &mut [bool]) -> Vec<usize> {
    let mut hits = Vec::new();
    for (i, contact) in record.contacts.iter().enumerate() {
        let touching = contact.mode != ContactMode::Open;
        if touching && !closed[i] {
            hits.push(i);
        }
        closed[i] = touching;
    }
    hits
}

/// `wedge-billiard`: reflections of a particle between two walls.
pub(super) fn wedge_billiard(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let angle = params.number("alpha_deg")?.to_radians();
    let (p0, v0) = (params.vector::<2>("p0")?, params.vector::<2>("v0")?);
    let restitution = params.number("e")?;
    let normals = [[0.0, 1.0], [angle.sin(), -angle.cos()]];
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .constraint(wall("wall 1".into(), normals[0], 0.0, restitution)?)
        .constraint(wall("wall 2".into(), normals[1], 0.0, restitution)?)
        .build(&p0)?;
    let (distance, speed) = (p0[0].hypot(p0[1]), v0[0].hypot(v0[1]));
    let h = distance / speed / (5_000 * refinement) as f64;
    let leaves = |v: &[f64]| normals.iter().all(|n| n[0] * v[0] + n[1] * v[1] >= 0.0);
    let mut run = simulation(system, midpoint()?, (&p0, &v0), h, true)?;
    let mut hits = Vec::new();
    let mut closed = [false; 2];
    let mut v_final = v0.to_vec();
    let mut before = p0.to_vec();
    // A straight flight that leaves both walls never returns; at most π/α + 1 reflections happen.
    run_until(&mut run, 1e4 * distance / speed, |record| {
        for wall in new_hits(record, &mut closed) {
            hits.push(Answer::from([
                record.t,
                (wall + 1) as f64,
                before[0],
                before[1],
            ]));
        }
        before.clone_from(&record.q);
        v_final.clone_from(&record.velocity);
        if leaves(&record.velocity) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(group! { "reflections" => hits.len(), "hits" => hits, "v_final" => v_final })
}

/// `box-billiard`: a particle in a rectangle.
pub(super) fn box_billiard(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (a, b) = (params.number("a")?, params.number("b")?);
    let (p0, v0) = (params.vector::<2>("p0")?, params.vector::<2>("v0")?);
    let (restitution, t_end) = (params.number("e")?, params.number("T")?);
    let mut builder = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0, 1.0]);
    for (name, normal, offset) in [
        ("left", [1.0, 0.0], 0.0),
        ("right", [-1.0, 0.0], -a),
        ("bottom", [0.0, 1.0], 0.0),
        ("top", [0.0, -1.0], -b),
    ] {
        builder = builder.constraint(wall(name.into(), normal, offset, restitution)?);
    }
    let steps = 5_000 * refinement;
    let h = t_end / steps as f64;
    let mut run = simulation(builder.build(&p0)?, midpoint()?, (&p0, &v0), h, true)?;
    run_until(&mut run, t_end, |_| ControlFlow::Continue(()))?;
    Ok(group! { "p_T" => &run.state().q, "v_T" => &run.state().v })
}
