//! A particle with friction and delay: the families of the sweeping process.

use crate::engine::{run_until, simulation};
use crate::families::SweepTarget;
use crate::reference::{Start, event_rows, slips, sticks};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionCoefficient, FrictionSection, ImpactLaw};
use stickslip::simulation::Simulation;
use stickslip::stepping::{ReferenceEventKind, SweepingProcess};
use stickslip::systems::functions::{AutoScalar, GivenRows, GivenScalar};
use stickslip::systems::past_motion::{Kernel, PastReading, PastView, Psi};
use stickslip::systems::{ContactFrame, GeneralizedSystem, Instant, UnilateralConstraint};

/// What a sweep compares.
type Targets = Vec<(SweepTarget, f64)>;

fn expected(path: &str, value: f64) -> (SweepTarget, f64) {
    (SweepTarget::Expected(path.into()), value)
}

fn number(target: f64, value: f64) -> (SweepTarget, f64) {
    (SweepTarget::Value(target), value)
}

/// The plane `last coordinate ≥ 0` with the other coordinates as tangents.
fn plane(d: usize, law: ContactLaw) -> UnilateralConstraint {
    plane_with(d, |frame, plane| plane.with_point(frame, law))
}

fn plane_with(
    d: usize,
    attach: impl FnOnce(ContactFrame, UnilateralConstraint) -> UnilateralConstraint,
) -> UnilateralConstraint {
    let n = d + 1;
    let gap = GivenScalar {
        value: move |q: &[f64]| q[d],
        gradient: move |_: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            row[d] = 1.0;
        },
    };
    let rows = GivenRows(move |_: &[f64], rows: &mut [f64]| {
        rows.fill(0.0);
        for i in 0..d {
            rows[i * n + i] = 1.0;
        }
    });
    attach(
        ContactFrame::tangents(d, rows),
        UnilateralConstraint::new("plane", gap),
    )
}

fn friction(mu: f64, d: usize) -> Result<ContactLaw, CaseError> {
    Ok(ContactLaw::new(
        FrictionSection::ball(mu, d)?,
        ImpactLaw::Inelastic,
    )?)
}

/// Unit mass above the plane under a constant force.
fn on_plane(law: ContactLaw, force: &[f64], q: &[f64], v: &[f64]) -> Result<Start, CaseError> {
    let d = q.len() - 1;
    let names = ["x", "y", "z"];
    let system = GeneralizedSystem::builder(names.into_iter().take(d + 1))
        .mass_diagonal(&vec![1.0; d + 1])
        .dead_load(force)
        .constraint(plane(d, law))
        .build(q)?;
    Ok(Start {
        system,
        q: q.to_vec(),
        v: v.to_vec(),
    })
}

// ---- sliding on a plane ----

fn plane_start(params: &Inputs) -> Result<Start, CaseError> {
    let (mu, g, v0) = (
        params.number("mu")?,
        params.number("g")?,
        params.number("v0")?,
    );
    on_plane(friction(mu, 1)?, &[0.0, -g], &[0.0, 0.0], &[v0, 0.0])
}

/// `plane_stop`: a block braked by friction, and where the algorithm stops it.
pub(super) fn plane_stop(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let mut motion = plane_start(params)?.reference();
    let stop = motion.run_to_event(t_end, t_end, sticks)?;
    let (t_stop, x_stop) = stop.map(|event| (event.t, event.q[0])).unzip();
    let mut answer = group! { "t_stop" => t_stop, "x_stop" => x_stop };
    if let (Some(t_stop), Some(n)) = (t_stop, input.given.find("discrete.n")) {
        let n = n.as_u64().unwrap_or(1) as usize;
        let h = t_stop / n as f64;
        let x = plane_start(params)?.sweep(1.5 * t_stop, n + n / 2, 1.5 * t_stop)?[0];
        answer.insert("discrete", group! { "h" => h, "n" => n, "x_final" => x });
    }
    Ok(answer)
}

/// Sweep of motions that end at rest on the plane.
fn sweep_to_rest(input: &CaseInput, start: Start, steps: usize) -> Result<Targets, CaseError> {
    let t_end = input.params.number("T")?;
    let q = start.sweep(t_end, steps, t_end)?;
    Ok(vec![expected("x_stop", q[0]), number(0.0, q[1])])
}

pub(super) fn plane_stop_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    sweep_to_rest(input, plane_start(&input.params)?, steps)
}

fn drop_start(params: &Inputs) -> Result<Start, CaseError> {
    let (mu, g) = (params.number("mu")?, params.number("g")?);
    let q = [0.0, params.number("height")?];
    let v = [params.number("vx")?, params.number("vy")?];
    on_plane(friction(mu, 1)?, &[0.0, -g], &q, &v)
}

/// `drop_then_slide`: falls, hits, slides to rest.
pub(super) fn drop_then_slide(input: &CaseInput) -> Result<Answer, CaseError> {
    let t_end = input.params.number("T")?;
    let mut motion = drop_start(&input.params)?.reference();
    let stop = motion.run_to_event(t_end, 10.0 * t_end, sticks)?;
    let events = motion.motion.events();
    let impact = events
        .iter()
        .find(|event| event.kind == ReferenceEventKind::Impact);
    let (t_stop, x_stop) = stop.map(|event| (event.t, event.q[0])).unzip();
    // A start on the ground without approach has no impact; a slide without friction no stop.
    Ok(group! {
        "t_impact" => impact.map(|i| i.t),
        "vN_minus" => impact.map(|i| i.velocity_before[1]),
        "vT_minus" => impact.map(|i| i.velocity_before[0]),
        "vT_plus" => impact.map(|i| i.velocity[0]),
        "t_stop" => t_stop.unwrap_or(f64::INFINITY),
        "x_stop" => x_stop.unwrap_or(f64::INFINITY),
        "sticks_at_impact" => impact.is_some() && t_stop == impact.map(|i| i.t),
    })
}

pub(super) fn drop_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    sweep_to_rest(input, drop_start(&input.params)?, steps)
}

fn slope_start(params: &Inputs) -> Result<Start, CaseError> {
    let (mu, g) = (params.number("mu")?, params.number("g")?);
    let (sin, cos) = params.number("beta_deg")?.to_radians().sin_cos();
    let v = [params.number("v0")?, 0.0];
    on_plane(friction(mu, 1)?, &[g * sin, -g * cos], &[0.0, 0.0], &v)
}

/// `slope_1d`: down or up a slope.
pub(super) fn slope(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (t_end, uphill) = (params.number("T")?, params.number("v0")? < 0.0);
    let mut motion = slope_start(params)?.reference();
    motion.run(t_end)?;
    let turn = motion
        .motion
        .events()
        .iter()
        .find(|event| event.t > 0.0)
        .cloned();
    let (x, v) = (motion.motion.q()[0], motion.motion.v()[0]);
    let rests = turn.as_ref().is_some_and(sticks);
    Ok(match (turn, uphill) {
        (Some(turn), true) => {
            group! { "t_turn" => turn.t, "x_turn" => turn.q[0], "rests" => rests, "x_T" => x }
        }
        (Some(stop), false) => {
            group! { "t_stop" => stop.t, "x_stop" => stop.q[0], "rests" => rests }
        }
        (None, _) => group! { "accelerates" => v > 0.0, "x_T" => x, "v_T" => v, "rests" => false },
    })
}

pub(super) fn slope_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let mut motion = slope_start(params)?.reference();
    motion.run(t_end)?;
    let q = slope_start(params)?.sweep(t_end, steps, t_end)?;
    Ok(vec![number(motion.motion.q()[0], q[0]), number(0.0, q[1])])
}

fn oblique_start(params: &Inputs) -> Result<Start, CaseError> {
    let (beta, g) = (params.number("beta_deg")?.to_radians(), params.number("g")?);
    let (mu, v0) = (params.number("mu")?, params.number("v0")?);
    let psi = params.number("psi0_deg")?.to_radians();
    let v = [v0 * psi.cos(), v0 * psi.sin(), 0.0];
    let force = [g * beta.sin(), 0.0, -g * beta.cos()];
    on_plane(friction(mu, 2)?, &force, &[0.0; 3], &v)
}

/// `slope_3d_oblique`: across a slope.
pub(super) fn oblique(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let t = input.given.number("at.t")?;
    let mut motion = oblique_start(params)?.reference();
    motion.run(t)?;
    let (q, v) = (motion.motion.q().to_vec(), motion.motion.v().to_vec());
    let mut answer = group! {
        "at" => group! { "t" => t, "x" => q[0], "y" => q[1], "vx" => v[0], "vy" => v[1] },
    };
    let critical = params.find("critical").and_then(|x| x.as_bool()) == Some(true);
    let time = params.number("v0")?
        / (params.number("g")? * params.number("beta_deg")?.to_radians().sin());
    if critical {
        // The lateral velocity decays like exp(−t/time).
        motion.run(40.0 * time)?;
        let v = motion.motion.v();
        answer.insert("terminal_speed", v[0].hypot(v[1]));
    } else if let Some(stop) = motion.run_to_event(time, 1e3 * time, sticks)? {
        answer.insert("t_stop", stop.t);
        answer.insert("x_stop", stop.q[0]);
        answer.insert("y_stop", stop.q[1]);
    }
    Ok(answer)
}

pub(super) fn oblique_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let q = oblique_start(params)?.sweep(t_end, steps, t_end)?;
    let critical = params.find("critical").and_then(|x| x.as_bool()) == Some(true);
    let (x, y) = if critical {
        ("at.x", "at.y")
    } else {
        ("x_stop", "y_stop")
    };
    Ok(vec![
        expected(x, q[0]),
        expected(y, q[1]),
        number(0.0, q[2]),
    ])
}

fn uneven_start(params: &Inputs) -> Result<Start, CaseError> {
    let (mu0, g, v0) = (
        params.number("mu0")?,
        params.number("g")?,
        params.number("v0")?,
    );
    let factor = if params.has("a") {
        let a = params.number("a")?;
        FrictionCoefficient::function(move |_, q| mu0 + a * q[0])
    } else {
        let (eps, k) = (params.number("eps")?, params.number("k")?);
        FrictionCoefficient::function(move |_, q| mu0 * (1.0 + eps * (k * q[0]).sin()))
    };
    let law = friction(1.0, 1)?.with_coefficient(factor)?;
    on_plane(law, &[0.0, -g], &[0.0, 0.0], &[v0, 0.0])
}

/// `mu_linear_in_x`, `mu_periodic_in_x`: friction that depends on the place.
pub(super) fn uneven(input: &CaseInput) -> Result<Answer, CaseError> {
    let t_end = input.params.number("T")?;
    let mut motion = uneven_start(&input.params)?.reference();
    let stop = motion.run_to_event(t_end, 100.0 * t_end, sticks)?;
    let (t_stop, x_stop) = stop.map(|event| (event.t, event.q[0])).unzip();
    Ok(group! { "t_stop" => t_stop, "x_stop" => x_stop })
}

pub(super) fn uneven_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    sweep_to_rest(input, uneven_start(&input.params)?, steps)
}

// ---- curved surfaces ----

/// A particle outside (`side` 1) or inside (−1) a circle of radius R.
fn circle(
    params: &Inputs,
    side: f64,
) -> Result<(GeneralizedSystem, [f64; 2], [f64; 2]), CaseError> {
    let (radius, g, mu) = (
        params.number("R")?,
        params.number("g")?,
        params.number("mu")?,
    );
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
            "t_takeoff" => f64::INFINITY,
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
        });
    }
    Ok(group! {
        "stops" => false,
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
    let (radius, g, mu) = (
        params.number("R")?,
        params.number("g")?,
        params.number("mu")?,
    );
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

/// Delayed spring, damping and load along x; on a rough plane where there is friction.
fn delayed_start(params: &Inputs) -> Result<Start, CaseError> {
    let c = params.number_or("c", 0.0)?;
    let g0 = params.number_or("g0", 0.0)?;
    let tau = params.number("tau")?;
    let (x0, v0) = (params.number("x0")?, params.number("v0")?);
    let mut reading = PastReading::new();
    reading.observe(&[0]);
    type Drive = Box<dyn Fn(&PastView) -> f64 + Send + Sync>;
    let drive: Drive = if params.has("kappa") {
        let kappa = params.number("kappa")?;
        let mean = reading.integral(0, tau, Kernel::Constant)?;
        Box::new(move |past| -kappa * past.integral(&mean))
    } else {
        let k = params.number("k")?;
        reading.point_delay(tau)?;
        Box::new(move |past| -k * past.delayed(0, tau))
    };
    let force = move |past: &PastView, v: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        out[0] = drive(past) + g0 - c * v[0];
    };
    if !params.has("mu") {
        let system = GeneralizedSystem::builder(["x"])
            .mass_diagonal(&[1.0])
            .delayed_force(reading, force)
            .build(&[x0])?;
        return Ok(Start {
            system,
            q: vec![x0],
            v: vec![v0],
        });
    }
    let (mu, g) = (params.number("mu")?, params.number("g")?);
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -g])
        .delayed_force(reading, force)
        .constraint(plane(1, friction(mu, 1)?))
        .build(&[x0, 0.0])?;
    Ok(Start {
        system,
        q: vec![x0, 0.0],
        v: vec![v0, 0.0],
    })
}

/// `delay_*`, `distributed_delay_friction`: samples and phases.
pub(super) fn delayed(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let mut motion = delayed_start(params)?.reference();
    let mut rows = Vec::new();
    for row in input.given.rows("at")? {
        let t = row.number("t")?;
        motion.run(t)?;
        rows.push(group! { "t" => t, "x" => motion.motion.q()[0], "v" => motion.motion.v()[0] });
    }
    let mut answer = group! { "at" => rows };
    if params.has("mu") {
        motion.run(params.number("T")?)?;
        answer.insert("events", event_rows(motion.motion.events()));
    }
    Ok(answer)
}

pub(super) fn delayed_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t_end = input.params.number("T")?;
    let q = delayed_start(&input.params)?.sweep(t_end, steps, t_end)?;
    let last = input.given.rows("at")?.len() - 1;
    Ok(vec![expected(&format!("at.{last}.x"), q[0])])
}

fn hopper_start(params: &Inputs) -> Result<Start, CaseError> {
    let (kx, gx, g) = (
        params.number("kx")?,
        params.number("gx")?,
        params.number("g")?,
    );
    let (kap, l0) = (params.number("kap")?, params.number("L0")?);
    let (tau, mu) = (params.number("tau")?, params.number("mu")?);
    let q = vec![params.number("x0")?, params.number("y0")?];
    let v = vec![params.number("vx0")?, params.number("vy0")?];
    let mut reading = PastReading::new();
    reading.point_delay(tau)?;
    let force = move |past: &PastView, _: &[f64], out: &mut [f64]| {
        out[0] = -kx * past.delayed(0, tau) + gx;
        out[1] = -g + kap * (l0 - past.delayed(1, tau));
    };
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .delayed_force(reading, force)
        .constraint(plane(1, friction(mu, 1)?))
        .build(&q)?;
    Ok(Start { system, q, v })
}

/// `delayed_hopper`: take-off, flight, impact, stick and slip under delayed feedback.
pub(super) fn hopper(input: &CaseInput) -> Result<Answer, CaseError> {
    let mut motion = hopper_start(&input.params)?.reference();
    let mut rows = Vec::new();
    for row in input.given.rows("at")? {
        let t = row.number("t")?;
        motion.run(t)?;
        let (q, v) = (motion.motion.q(), motion.motion.v());
        rows.push(group! { "t" => t, "x" => q[0], "y" => q[1], "vx" => v[0], "vy" => v[1] });
    }
    motion.run(input.params.number("T")?)?;
    Ok(group! { "at" => rows, "events" => event_rows(motion.motion.events()) })
}

pub(super) fn hopper_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t_end = input.params.number("T")?;
    let q = hopper_start(&input.params)?.sweep(t_end, steps, t_end)?;
    let last = input.given.rows("at")?.len() - 1;
    Ok(vec![
        expected(&format!("at.{last}.x"), q[0]),
        expected(&format!("at.{last}.y"), q[1]),
    ])
}

fn memory_start(params: &Inputs) -> Result<Start, CaseError> {
    let (k, pull, g) = (
        params.number("k")?,
        params.number("V")?,
        params.number("g")?,
    );
    let (mu_s, mu_d) = (params.number("mu_s")?, params.number("mu_d")?);
    let (delta, ell) = (params.number("delta")?, params.number("ell")?);
    let mut reading = PastReading::new();
    reading.observe(&[0]).window(delta)?;
    let memory = move |at: &Instant| {
        let d = at.past_view().deviation(&[0], delta);
        mu_d + (mu_s - mu_d) * (1.0 - d / ell).max(0.0)
    };
    let law = friction(1.0, 1)?;
    let ground = plane_with(1, |frame, plane| {
        plane.with_remembering_point(frame, law, memory)
    });
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -g])
        .past(reading)
        .force(move |t, q, _, out| {
            out[0] = k * (pull * t - q[0]);
            out[1] = 0.0;
        })
        .constraint(ground)
        .build(&[0.0, 0.0])?;
    Ok(Start {
        system,
        q: vec![0.0; 2],
        v: vec![0.0; 2],
    })
}

/// `history_friction_stick_slip`: friction that remembers rest.
pub(super) fn memory(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let mut motion = memory_start(params)?.reference();
    let mut samples = Vec::new();
    for row in input.given.rows("x_at")? {
        let t = row.number("t")?;
        motion.run(t)?;
        samples.push(group! { "t" => t, "x" => motion.motion.q()[0] });
    }
    motion.run(t_end)?;
    let events = motion.motion.events();
    let starts: Vec<f64> = events.iter().filter(|e| slips(e)).map(|e| e.t).collect();
    let stops: Vec<_> = events.iter().filter(|e| sticks(e)).collect();
    let stop_times: Vec<f64> = stops.iter().map(|e| e.t).collect();
    // Classical limit of a vanishing memory.
    let (k, pull, g) = (
        params.number("k")?,
        params.number("V")?,
        params.number("g")?,
    );
    let jump = (params.number("mu_s")? - params.number("mu_d")?) * g;
    let omega = k.sqrt();
    let stick = 2.0 * jump / (k * pull);
    let slip = 2.0 / omega * (std::f64::consts::PI - (jump * omega / (k * pull)).atan());
    Ok(group! {
        // What does not happen until T happens never, as far as T goes.
        "t_first_slip" => starts.first().copied().unwrap_or(f64::INFINITY),
        "period" => match starts[..] {
            [_, second, third, ..] => third - second,
            _ => f64::INFINITY,
        },
        "slip_duration" => match (starts.first(), stops.get(1)) {
            (Some(start), Some(stop)) => stop.t - start,
            _ => f64::INFINITY,
        },
        "slip_distance" => stops.get(1).map_or(motion.motion.q()[0], |stop| stop.q[0]),
        "slip_starts" => starts,
        "stick_starts" => stop_times,
        "classical_limit" => group! { "T_stick" => stick, "T_slip" => slip, "period" => stick + slip },
        "x_at" => samples,
    })
}

pub(super) fn memory_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t = input.given.number("x_at.1.t")?;
    let q = memory_start(&input.params)?.sweep(input.params.number("T")?, steps, t)?;
    Ok(vec![expected("x_at.1.x", q[0])])
}

fn throw_start(params: &Inputs) -> Result<Start, CaseError> {
    let (a, ell, g) = (
        params.number("A")?,
        params.number("ell")?,
        params.number("g")?,
    );
    let (y0, v0) = (params.number("y0")?, params.number("v0")?);
    let mut reading = PastReading::new();
    let top = reading.window_maximum(params.number("delta")?, Psi::Coordinate(0))?;
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0,
    };
    let law = ContactLaw::frictionless(ImpactLaw::Inelastic)?;
    let system = GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .delayed_force(reading, move |past, _, out| {
            out[0] = -g - a * (-past.maximum(&top) / ell).exp();
        })
        .constraint(
            UnilateralConstraint::new("ground", gap).with_point(ContactFrame::Frictionless, law),
        )
        .build(&[y0])?;
    Ok(Start {
        system,
        q: vec![y0],
        v: vec![v0],
    })
}

/// `max_functional_force`: a throw against a force that remembers the highest point.
pub(super) fn throw(input: &CaseInput) -> Result<Answer, CaseError> {
    let t = input.given.number("y_at.t")?;
    let mut motion = throw_start(&input.params)?.reference();
    motion.motion.watch(|_, _, v| v[0]);
    motion.run(t)?;
    let y = motion.motion.q()[0];
    let hit = motion.run_to_event(t, 10.0 * t, |event| {
        event.kind == ReferenceEventKind::Impact
    })?;
    let apex = motion
        .motion
        .events()
        .iter()
        .find(|event| event.kind == ReferenceEventKind::Watched(0));
    Ok(group! {
        "t_apex" => apex.map(|event| event.t),
        "y_apex" => apex.map(|event| event.q[0]),
        "t_impact" => hit.as_ref().map(|event| event.t),
        "v_impact" => hit.as_ref().map(|event| event.velocity_before[0]),
        "y_at" => group! { "t" => t, "y" => y },
    })
}

pub(super) fn throw_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t = input.given.number("y_at.t")?;
    let q = throw_start(&input.params)?.sweep(t, steps, t)?;
    Ok(vec![expected("y_at.y", q[0])])
}

fn vector_start(params: &Inputs) -> Result<Start, CaseError> {
    let (k, c, tau) = (
        params.number("k")?,
        params.number("c")?,
        params.number("tau")?,
    );
    let (sin, cos) = params.number("angle_deg")?.to_radians().sin_cos();
    let (mu, g) = (params.number("mu")?, params.number("g")?);
    let (q0, v0) = (params.vector::<2>("q0")?, params.vector::<2>("v0")?);
    let (q, v) = (vec![q0[0], q0[1], 0.0], vec![v0[0], v0[1], 0.0]);
    let mut reading = PastReading::new();
    reading.point_delay(tau)?;
    let force = move |past: &PastView, v: &[f64], out: &mut [f64]| {
        let (x, y) = (past.delayed(0, tau), past.delayed(1, tau));
        out[0] = -k * (cos * x - sin * y) - c * v[0];
        out[1] = -k * (sin * x + cos * y) - c * v[1];
        out[2] = 0.0;
    };
    let system = GeneralizedSystem::builder(["x", "y", "z"])
        .mass_diagonal(&[1.0; 3])
        .dead_load(&[0.0, 0.0, -g])
        .delayed_force(reading, force)
        .constraint(plane(2, friction(mu, 2)?))
        .build(&q)?;
    Ok(Start { system, q, v })
}

/// `delay_friction_plane_vector`: rotated delayed spring on a rough plane.
pub(super) fn vector(input: &CaseInput) -> Result<Answer, CaseError> {
    let t = input.given.number("at.t")?;
    let mut motion = vector_start(&input.params)?.reference();
    motion.run(t)?;
    let (q, v) = (&motion.motion.q()[..2], &motion.motion.v()[..2]);
    Ok(group! { "at" => group! { "t" => t, "q" => q, "v" => v } })
}

pub(super) fn vector_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t_end = input.params.number("T")?;
    let q = vector_start(&input.params)?.sweep(t_end, steps, t_end)?;
    Ok(vec![expected("at.q.0", q[0]), expected("at.q.1", q[1])])
}

/// `exact_discrete_steps`: the algorithm step by step.
pub(super) fn discrete(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (h, steps) = (params.number("h")?, params.count("N")?);
    let start = delayed_start(params)?;
    let scheme = Box::new(SweepingProcess::default());
    let mut run: Simulation = simulation(start.system, scheme, (&start.q, &start.v), h, true)?;
    let (mut x, mut v) = (vec![start.q[0]], Vec::new());
    run_until(&mut run, steps as f64 * h, |record| {
        x.push(record.q[0]);
        v.push(record.velocity[0]);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(group! { "x" => x, "v" => v })
}
