//! A particle with friction on a plane: families of the sweeping process.

use crate::engine::{run_until, simulation};
use crate::families::SweepTarget;
use crate::reference::{Start, sticks};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::internals::ReferenceEventKind;
use stickslip::laws::{ContactLaw, FrictionCoefficient, FrictionSection, ImpactLaw};
use stickslip::simulation::Simulation;
use stickslip::stepping::SweepingProcess;
use stickslip::systems::functions::{GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

use super::delays::delayed_start;

/// What a sweep compares.
pub(super) type Targets = Vec<(SweepTarget, f64)>;

pub(super) fn expected(path: &str, value: f64) -> (SweepTarget, f64) {
    (SweepTarget::Expected(path.into()), value)
}

pub(super) fn number(target: f64, value: f64) -> (SweepTarget, f64) {
    (SweepTarget::Value(target), value)
}

/// The plane `last coordinate ≥ 0` with the other coordinates as tangents.
pub(super) fn plane(d: usize, law: ContactLaw) -> UnilateralConstraint {
    plane_with(d, |frame, plane| plane.with_point(frame, law))
}

pub(super) fn plane_with(
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

pub(super) fn friction(mu: f64, d: usize) -> Result<ContactLaw, CaseError> {
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
    let [mu, g, v0] = params.each(["mu", "g", "v0"])?;
    on_plane(friction(mu, 1)?, &[0.0, -g], &[0.0, 0.0], &[v0, 0.0])
}

/// `plane_stop`: a block braked by friction, and where the algorithm stops it.
pub(super) fn plane_stop(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let t_end = params.number("T")?;
    let mut motion = plane_start(params)?.reference();
    // It may stop after the time of the case.
    let stop = motion.run_to_event(t_end, 1e3 * t_end, sticks)?;
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
    let [mu, g] = params.each(["mu", "g"])?;
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
    let [mu, g] = params.each(["mu", "g"])?;
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
    let [mu, v0] = params.each(["mu", "v0"])?;
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
    let [mu0, g, v0] = params.each(["mu0", "g", "v0"])?;
    let factor = if params.has("a") {
        let a = params.number("a")?;
        FrictionCoefficient::function(move |_, q| mu0 + a * q[0])
    } else {
        let [eps, k] = params.each(["eps", "k"])?;
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
