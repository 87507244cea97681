//! A particle with friction on a plane: families of the sweeping process.

use crate::engine::{run_until, simulation};
use crate::families::SweepTarget;
use crate::reference::{Start, slips, sticks};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::internals::{ReferenceEvent, ReferenceEventKind};
use stickslip::laws::{ContactLaw, FrictionCoefficient, FrictionSection, ImpactLaw, LawError};
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
    let [mu, g, v0] = params.each(["mu", "g", "v0"])?;
    let stop = motion.run_to_rest(t_end, v0.abs() / (mu * g))?;
    let (t_stop, x_stop) = stop.map_or((f64::INFINITY, f64::INFINITY.copysign(v0)), |event| {
        (event.t, event.q[0])
    });
    let mut answer = group! { "t_stop" => t_stop, "x_stop" => x_stop };
    if let Some(n) = input.given.find("discrete.n") {
        let n = n.as_u64().unwrap_or(1) as usize;
        let h = t_stop / n as f64;
        let x = if t_stop.is_finite() && t_stop > 0.0 {
            plane_start(params)?.sweep(1.5 * t_stop, n + n / 2, 1.5 * t_stop)?[0]
        } else {
            x_stop
        };
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
    let [mu, g, vx] = input.params.each(["mu", "g", "vx"])?;
    let [height, vy] = input.params.each(["height", "vy"])?;
    let flight = (vy + (vy * vy + 2.0 * g * height).sqrt()) / g;
    let slide = vx.abs() / (mu * g);
    motion.run(t_end.max(1.1 * flight))?;
    let stop = motion.run_to_rest(t_end, flight + slide)?;
    let events = motion.motion.events();
    let impact = events
        .iter()
        .find(|event| event.kind == ReferenceEventKind::Impact);
    let (t_stop, x_stop) = stop.map(|event| (event.t, event.q[0])).unzip();
    // A start on the ground without approach has no impact; a slide without friction no stop.
    Ok(group! {
        "t_impact" => impact.map_or(f64::INFINITY, |i| i.t),
        "vN_minus" => Answer::or_none(impact.map(|i| i.velocity_before[1])),
        "vT_minus" => Answer::or_none(impact.map(|i| i.velocity_before[0])),
        "vT_plus" => Answer::or_none(impact.map(|i| i.velocity[0])),
        "t_stop" => t_stop.unwrap_or(f64::INFINITY),
        "x_stop" => x_stop.unwrap_or(f64::INFINITY.copysign(vx)),
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
    let [t_end, v0, mu, g] = params.each(["T", "v0", "mu", "g"])?;
    let (sin, cos) = params.number("beta_deg")?.to_radians().sin_cos();
    let mut motion = slope_start(params)?.reference();
    motion.run(t_end)?;
    let (x, v) = (motion.motion.q()[0], motion.motion.v()[0]);
    // A slide has a constant acceleration: where that drives it on it never ends, and else after this time, which may be later
    // than that of the case.
    let slides = if v0 == 0.0 { 1.0 } else { v0.signum() };
    let length = -v0 / (g * sin - mu * g * cos * slides);
    let ends = |event: &ReferenceEvent| sticks(event) || (event.t > 0.0 && slips(event));
    let end = if length >= 0.0 && length.is_finite() {
        motion.run_to_event(length.max(t_end), 2.0 * length.max(t_end), ends)?
    } else {
        None
    };
    let rests = end.as_ref().is_some_and(sticks);
    let (time, place) = match &end {
        Some(end) => (end.t, end.q[0]),
        None => (f64::INFINITY, f64::INFINITY.copysign(v0)),
    };
    let (t_stop, x_stop) = if rests || end.is_none() {
        (time, place)
    } else {
        // It turns and slides down for ever.
        (f64::INFINITY, f64::INFINITY)
    };
    let mut answer = group! {
        "t_stop" => t_stop, "x_stop" => x_stop, "rests" => rests,
        "accelerates" => end.is_none(), "x_T" => x, "v_T" => v,
    };
    if v0 < 0.0 {
        answer.insert("t_turn", time);
        answer.insert("x_turn", place);
    } else {
        // Downhill it never turns.
        answer.insert("t_turn", f64::INFINITY);
        answer.insert("x_turn", Answer::none());
    }
    Ok(answer)
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
    let [mu, v0, g] = params.each(["mu", "v0", "g"])?;
    let (sin, cos) = params.number("beta_deg")?.to_radians().sin_cos();
    let (time, excess) = (v0.abs() / (g * sin), mu * cos - sin);
    let steeper = excess < 0.0;
    // Friction takes more than the weight gives, by this at least.
    let longest = v0.abs() / (g * excess);
    if excess.abs() <= 1e-9 {
        // The lateral velocity decays like exp(−t/time).
        motion.run(40.0 * time)?;
        let v = motion.motion.v();
        answer.insert("terminal_speed", v[0].hypot(v[1]));
        answer.insert("t_stop", f64::INFINITY);
        answer.insert("x_stop", f64::INFINITY);
        answer.insert("y_stop", Answer::none());
    } else {
        answer.insert("terminal_speed", if steeper { f64::INFINITY } else { 0.0 });
        let stop = if steeper {
            None
        } else {
            motion.run_to_rest(time, longest)?
        };
        answer.insert("t_stop", stop.as_ref().map_or(f64::INFINITY, |s| s.t));
        answer.insert("x_stop", stop.as_ref().map_or(f64::INFINITY, |s| s.q[0]));
        answer.insert("y_stop", Answer::or_none(stop.map(|s| s.q[1])));
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

/// The coefficient of friction at a place.
fn coefficient(params: &Inputs) -> Result<impl Fn(f64) -> f64 + Send + Sync + 'static, CaseError> {
    let mu0 = params.number("mu0")?;
    let (a, eps) = (params.number_or("a", 0.0)?, params.number_or("eps", 0.0)?);
    let k = params.number_or("k", 0.0)?;
    Ok(move |x: f64| (mu0 + a * x) * (1.0 + eps * (k * x).sin()))
}

/// Where the coefficient falls below zero before friction has taken all energy: no law of friction goes on there.
fn end_of_friction(params: &Inputs) -> Result<Option<f64>, CaseError> {
    let [mu0, g, v0] = params.each(["mu0", "g", "v0"])?;
    let mu = coefficient(params)?;
    let wave = params.number_or("k", 0.0)?.abs();
    let step = (1e-4 * v0 * v0 / (g * mu0)).min(0.01 / wave);
    let (mut energy, mut x) = (0.5 * v0 * v0, 0.0);
    for _ in 0..1_000_000 {
        let place = x * v0.signum();
        if mu(place) < 0.0 {
            return Ok(Some(place));
        }
        energy -= g * mu(place) * step;
        if energy <= 0.0 {
            break;
        }
        x += step;
    }
    Ok(None)
}

fn uneven_start(params: &Inputs) -> Result<Start, CaseError> {
    let [g, v0] = params.each(["g", "v0"])?;
    let mu = coefficient(params)?;
    // At the start no run has to find out that there is no friction law.
    let value = mu(0.0);
    if !(value >= 0.0 && value.is_finite()) {
        return Err(LawError::Coefficient { value }.into());
    }
    let factor = FrictionCoefficient::function(move |_, q| mu(q[0]));
    let law = friction(1.0, 1)?.with_coefficient(factor)?;
    on_plane(law, &[0.0, -g], &[0.0, 0.0], &[v0, 0.0])
}

/// `mu_linear_in_x`, `mu_periodic_in_x`: friction that depends on the place.
pub(super) fn uneven(input: &CaseInput) -> Result<Answer, CaseError> {
    let [t_end, mu0, g, v0] = input.params.each(["T", "mu0", "g", "v0"])?;
    let mut motion = uneven_start(&input.params)?.reference();
    let stop = motion.run_to_rest(t_end, 100.0 * v0.abs() / (mu0 * g));
    if stop.is_err() {
        if let Some(x) = end_of_friction(&input.params)? {
            let found = format!("below zero beyond x = {x:.4}, where the body still slides");
            let expected = "a positive coefficient of friction all the way";
            return Err(CaseError::bad_parameter("mu", found, expected));
        }
    }
    let (t_stop, x_stop) = stop?.map_or((f64::INFINITY, f64::INFINITY.copysign(v0)), |event| {
        (event.t, event.q[0])
    });
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
