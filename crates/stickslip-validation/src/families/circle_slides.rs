//! A particle on a circle or sphere, inside or outside: families of the sweeping process.

use crate::reference::{Start, slips, sticks};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::Jet;
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

use super::sweeping::{Targets, expected, friction, number};

/// A particle outside (`side` 1) or inside (−1) a circle of radius R.
fn circle(
    params: &Inputs,
    side: f64,
) -> Result<(GeneralizedSystem, [f64; 2], [f64; 2]), CaseError> {
    let [radius, g, mu] = params.each(["R", "g", "mu"])?;
    let (sin, cos) = params.number("theta0_deg")?.to_radians().sin_cos();
    let v0 = params.number("v0")?;
    // theta from the top outside, from the bottom inside, growing towards +x
    let q = [radius * sin, side * radius * cos];
    let v = [v0 * cos, -side * v0 * sin];
    let gap =
        AutoScalar(move |_: Jet, q: &[Jet]| ((q[0] * q[0] + q[1] * q[1]).sqrt() - radius) * side);
    let frame = ContactFrame::planar_point_on(
        |q: &[Jet]| [q[0], q[1]],
        move |q: &[f64]| {
            let r = q[0].hypot(q[1]);
            [side * q[0] / r, side * q[1] / r]
        },
    );
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -g])
        .constraint(UnilateralConstraint::new("circle", gap).with_point(frame, friction(mu, 1)?))
        .build(&q)?;
    Ok((system, q, v))
}

fn circle_start(params: &Inputs, side: f64) -> Result<Start, CaseError> {
    let (system, q, v) = circle(params, side)?;
    Ok(Start {
        system,
        q: q.to_vec(),
        v: v.to_vec(),
    })
}

/// `sphere_exterior`: slides off, or stops.
pub(super) fn sphere_exterior(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let angle = |q: &[f64]| q[0].atan2(q[1]);
    let mut motion = circle_start(params, 1.0)?.reference();
    let mut sample = None;
    if let Some(t) = input.given.find("at.t").and_then(|t| t.as_f64()) {
        motion.run(t)?;
        let (q, v) = (motion.motion.q(), motion.motion.v());
        sample = Some(group! { "t" => t, "theta" => angle(q), "v" => v[0].hypot(v[1]) });
    }
    let end = motion.run_to_event(t_end, 100.0 * t_end, |event| event.t > 0.0)?;
    let Some(end) = end else {
        // At rest on top, or on its way for ever.
        let v = motion.motion.v();
        return Ok(group! {
            "stops" => v[0].hypot(v[1]) < 1e-12,
            "theta_stop" => angle(motion.motion.q()),
            "t_stop" => if v[0].hypot(v[1]) < 1e-12 { 0.0 } else { f64::INFINITY },
            "stays_at_rest" => v[0].hypot(v[1]) < 1e-12,
            "theta_takeoff" => Answer::none(),
            "t_takeoff" => f64::INFINITY,
            "v_takeoff" => Answer::none(),
            "at" => sample,
        });
    };
    if sticks(&end) {
        motion.run(end.t + 10.0 * t_end)?;
        let v = motion.motion.v();
        return Ok(group! {
            "stops" => true,
            "theta_stop" => angle(&end.q),
            "t_stop" => end.t,
            "stays_at_rest" => v[0] == 0.0 && v[1] == 0.0 || v[0].hypot(v[1]) < 1e-12,
            "theta_takeoff" => Answer::none(),
            "t_takeoff" => f64::INFINITY,
            "v_takeoff" => Answer::none(),
            "at" => sample,
        });
    }
    Ok(group! {
        "stops" => false,
        "theta_stop" => Answer::none(),
        "t_stop" => f64::INFINITY,
        "stays_at_rest" => false,
        "theta_takeoff" => angle(&end.q),
        "t_takeoff" => end.t,
        "v_takeoff" => end.velocity[0].hypot(end.velocity[1]),
        "at" => sample,
    })
}

/// Sweep of a circle against the reference motion at the same time.
fn circle_sweep(input: &CaseInput, side: f64, steps: usize) -> Result<Targets, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let mut motion = circle_start(params, side)?.reference();
    motion.run(t_end)?;
    let exact = motion.motion.q().to_vec();
    let q = circle_start(params, side)?.sweep(t_end, steps, t_end)?;
    Ok(vec![number(exact[0], q[0]), number(exact[1], q[1])])
}

pub(super) fn sphere_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    circle_sweep(input, 1.0, steps)
}

/// `bowl_planar`: swings until friction holds it.
pub(super) fn bowl_planar(input: &CaseInput) -> Result<Answer, CaseError> {
    let t_end = input.params.number("T")?;
    let mut motion = circle_start(&input.params, -1.0)?.reference();
    let rest = motion.run_to_event(t_end, 100.0 * t_end, |event| event.t > 0.0 && sticks(event))?;
    let turns: Vec<_> = motion
        .motion
        .events()
        .iter()
        .filter(|event| event.t > 0.0 && (sticks(event) || slips(event)))
        .collect();
    let angle = |q: &[f64]| q[0].atan2(-q[1]);
    let angles: Vec<f64> = turns.iter().map(|event| angle(&event.q)).collect();
    let times: Vec<f64> = turns.iter().map(|event| event.t).collect();
    Ok(group! {
        "final_angle" => rest.as_ref().map(|event| angle(&event.q)),
        "t_rest" => rest.as_ref().map(|event| event.t),
        "turning_angles" => angles,
        "turning_times" => times,
    })
}

pub(super) fn bowl_planar_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    circle_sweep(input, -1.0, steps)
}

fn bowl_start(params: &Inputs) -> Result<Start, CaseError> {
    let [radius, g, mu] = params.each(["R", "g", "mu"])?;
    let (q, v) = (params.vector::<3>("r0")?, params.vector::<3>("v0")?);
    let gap = AutoScalar(move |_: Jet, q: &[Jet]| {
        -(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt() + radius
    });
    let frame = ContactFrame::spatial_point(
        |q: &[Jet]| [q[0], q[1], q[2]],
        |q: &[f64]| {
            let r = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt();
            [-q[0] / r, -q[1] / r, -q[2] / r]
        },
    );
    let system = GeneralizedSystem::builder(["x", "y", "z"])
        .mass_diagonal(&[1.0; 3])
        .dead_load(&[0.0, 0.0, -g])
        .constraint(UnilateralConstraint::new("bowl", gap).with_point(frame, friction(mu, 2)?))
        .build(&q)?;
    Ok(Start {
        system,
        q: q.to_vec(),
        v: v.to_vec(),
    })
}

/// `bowl_3d`: inside a sphere.
pub(super) fn bowl(input: &CaseInput) -> Result<Answer, CaseError> {
    let t = input.given.number("at.t")?;
    let mut motion = bowl_start(&input.params)?.reference();
    motion.run(t)?;
    Ok(group! {
        "at" => group! { "t" => t, "q" => motion.motion.q(), "v" => motion.motion.v() },
    })
}

pub(super) fn bowl_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t_end = input.params.number("T")?;
    let q = bowl_start(&input.params)?.sweep(t_end, steps, t_end)?;
    Ok((0..3)
        .map(|i| expected(&format!("at.q.{i}"), q[i]))
        .collect())
}

// ---- delays ----
