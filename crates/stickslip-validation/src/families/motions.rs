//! Motions with frictionless impacts: the bouncing ball and billiards, by time stepping.

use std::ops::ControlFlow;

use crate::engine::{midpoint, run_until, simulation, stop_if, theta_scheme};
use crate::reference::Start;
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::internals::{ReferenceEvent, ReferenceEventKind};
use stickslip::laws::{ContactLaw, ImpactLaw};
use stickslip::records::{ContactMode, StepRecord};
use stickslip::systems::functions::GivenScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

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

/// A ball of unit mass above the ground.
fn ball_system(params: &Inputs) -> Result<GeneralizedSystem, CaseError> {
    let [h0, g] = params.each(["h0", "g"])?;
    let restitution = params.number("e")?;
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0,
    };
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution })?;
    let ground =
        UnilateralConstraint::new("ground", gap).with_point(ContactFrame::Frictionless, law);
    Ok(GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .dead_load(&[-g])
        .constraint(ground)
        .build(&[h0])?)
}

/// Time from the start at height h with velocity v to the ground.
fn flight_time(h: f64, v: f64, g: f64) -> f64 {
    (v + (v * v + 2.0 * g * h).sqrt()) / g
}

/// Whether the end time of a `ball` is that of an impact, to the rounding of both.
pub(super) fn ball_ends_at_impact(input: &CaseInput) -> bool {
    let read = || -> Result<bool, CaseError> {
        let [h0, g] = input.params.each(["h0", "g"])?;
        let [restitution, end] = input.params.each(["e", "T"])?;
        let v0 = input.params.number_or("v0", 0.0)?;
        let mut impact = flight_time(h0, v0, g);
        let mut speed = (v0 * v0 + 2.0 * g * h0).sqrt();
        for _ in 0..1000 {
            if (impact - end).abs() <= 1e-9 * end {
                return Ok(true);
            }
            speed *= restitution;
            let flight = 2.0 * speed / g;
            if impact > end || flight <= 1e-9 * end {
                break;
            }
            impact += flight;
        }
        Ok(false)
    };
    read().unwrap_or(false)
}

/// `ball`, event by event.
pub(super) fn ball_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [h0, g] = params.each(["h0", "g"])?;
    let [restitution, t_end] = params.each(["e", "T"])?;
    let v0 = params.number_or("v0", 0.0)?;
    let fall = flight_time(h0, v0, g);
    let start = Start {
        system: ball_system(params)?,
        q: vec![h0],
        v: vec![v0],
    };
    let mut motion = start.reference();
    motion.run(t_end)?;
    let state = [motion.motion.q()[0], motion.motion.v()[0]];
    // Long enough for the impacts that are asked for, or for all of them.
    let count = if restitution == 0.0 { 1 } else { 12 };
    let mut longest = t_end;
    loop {
        let events = motion.motion.events();
        let hits = events
            .iter()
            .filter(|event| event.kind == ReferenceEventKind::Impact)
            .count();
        let over = events.iter().any(|event| {
            matches!(
                event.kind,
                ReferenceEventKind::Accumulation { .. } | ReferenceEventKind::Closed
            )
        });
        if (over && (hits >= count || restitution == 0.0)) || (hits >= count && restitution == 1.0)
        {
            break;
        }
        if longest > 1e4 * fall {
            break;
        }
        longest += 10.0 * fall;
        motion.run(longest)?;
    }
    let events = motion.motion.events();
    let hits: Vec<_> = events
        .iter()
        .filter(|event| event.kind == ReferenceEventKind::Impact)
        .collect();
    let end = events.iter().find_map(|event| match event.kind {
        ReferenceEventKind::Accumulation { end } => Some(end),
        _ => None,
    });
    let energy = |event: &ReferenceEvent| 0.5 * event.velocity[0].powi(2) + g * event.q[0];
    let mut energies = vec![g * h0 + 0.5 * v0 * v0];
    energies.extend(hits.iter().map(|event| energy(event)));
    energies.resize(5.max(energies.len()), 0.0);
    energies.truncate(5);
    let mut times: Vec<f64> = hits.iter().map(|event| event.t).collect();
    times.truncate(count);
    let zeno = if restitution == 0.0 {
        times.first().copied()
    } else if restitution == 1.0 {
        // It bounces for ever.
        Some(f64::INFINITY)
    } else {
        end
    };
    Ok(group! {
        "first_impacts" => times,
        "zeno_time" => zeno,
        "state_T" => state,
        "E_after_k" => energies,
    })
}

/// `ball`: impacts of a ball dropped from rest, unit mass.
pub(super) fn ball(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [h0, g] = params.each(["h0", "g"])?;
    let [restitution, t_end] = params.each(["e", "T"])?;
    let system = ball_system(params)?;
    // The unit of time is the fall; the run ends when the ball has been at rest for one of them.
    let v0 = params.number_or("v0", 0.0)?;
    let fall = flight_time(h0, v0, g);
    // The flight before the twelfth impact lasts 2 e^11 falls: a dozen steps resolve it.
    let resolved = (6.0 / restitution.powi(11)).clamp(500.0, 12_000.0);
    let h = fall / (resolved * refinement as f64);
    let longest = (1.0 + restitution) / (1.0 - restitution).max(1e-2) * fall + fall;
    let mut run = simulation(system, theta_scheme(midpoint())?, (&[h0], &[v0]), h, true)?;
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
        stop_if(at_end.is_some() && settled)
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

/// A particle between two walls through the origin, with the normals of the walls.
fn wedge(params: &Inputs) -> Result<(GeneralizedSystem, [[f64; 2]; 2]), CaseError> {
    let angle = params.number("alpha_deg")?.to_radians();
    let restitution = params.number("e")?;
    let normals = [[0.0, 1.0], [angle.sin(), -angle.cos()]];
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .constraint(wall("wall 1".into(), normals[0], 0.0, restitution)?)
        .constraint(wall("wall 2".into(), normals[1], 0.0, restitution)?)
        .build(&params.vector::<2>("p0")?)?;
    Ok((system, normals))
}

/// `wedge-billiard`, event by event.
pub(super) fn wedge_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (p0, v0) = (params.vector::<2>("p0")?, params.vector::<2>("v0")?);
    let (system, _) = wedge(params)?;
    let start = Start {
        system,
        q: p0.to_vec(),
        v: v0.to_vec(),
    };
    let mut motion = start.reference();
    motion.run(1e3 * p0[0].hypot(p0[1]) / v0[0].hypot(v0[1]))?;
    let hits: Vec<Answer> = motion
        .motion
        .events()
        .iter()
        .filter(|event| event.kind == ReferenceEventKind::Impact)
        .map(|event| {
            let wall = (event.constraint + 1) as f64;
            Answer::from([event.t, wall, event.q[0], event.q[1]])
        })
        .collect();
    Ok(group! {
        "reflections" => hits.len(),
        "hits" => hits,
        "v_final" => motion.motion.v(),
    })
}

/// `wedge-billiard`: reflections of a particle between two walls.
pub(super) fn wedge_billiard(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (p0, v0) = (params.vector::<2>("p0")?, params.vector::<2>("v0")?);
    let (system, normals) = wedge(params)?;
    let (distance, speed) = (p0[0].hypot(p0[1]), v0[0].hypot(v0[1]));
    let h = distance / speed / (5_000 * refinement) as f64;
    let leaves = |v: &[f64]| normals.iter().all(|n| n[0] * v[0] + n[1] * v[1] >= 0.0);
    let mut run = simulation(system, theta_scheme(midpoint())?, (&p0, &v0), h, true)?;
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
        stop_if(leaves(&record.velocity))
    })?;
    Ok(group! { "reflections" => hits.len(), "hits" => hits, "v_final" => v_final })
}

/// A particle in a rectangle.
fn rectangle(params: &Inputs) -> Result<GeneralizedSystem, CaseError> {
    let [a, b] = params.each(["a", "b"])?;
    let restitution = params.number("e")?;
    let mut builder = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0, 1.0]);
    for (name, normal, offset) in [
        ("left", [1.0, 0.0], 0.0),
        ("right", [-1.0, 0.0], -a),
        ("bottom", [0.0, 1.0], 0.0),
        ("top", [0.0, -1.0], -b),
    ] {
        builder = builder.constraint(wall(name.into(), normal, offset, restitution)?);
    }
    Ok(builder.build(&params.vector::<2>("p0")?)?)
}

/// `box-billiard`, event by event.
pub(super) fn box_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let start = Start {
        system: rectangle(params)?,
        q: params.vector::<2>("p0")?.to_vec(),
        v: params.vector::<2>("v0")?.to_vec(),
    };
    let mut motion = start.reference();
    motion.run(params.number("T")?)?;
    Ok(group! { "p_T" => motion.motion.q(), "v_T" => motion.motion.v() })
}

/// `box-billiard`: a particle in a rectangle.
pub(super) fn box_billiard(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (p0, v0) = (params.vector::<2>("p0")?, params.vector::<2>("v0")?);
    let t_end = params.number("T")?;
    let steps = 5_000 * refinement;
    let h = t_end / steps as f64;
    let mut run = simulation(
        rectangle(params)?,
        theta_scheme(midpoint())?,
        (&p0, &v0),
        h,
        true,
    )?;
    run_until(&mut run, t_end, |_| ControlFlow::Continue(()))?;
    Ok(group! { "p_T" => &run.state().q, "v_T" => &run.state().v })
}
