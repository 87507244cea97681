//! A particle whose forces or friction read its past: families of the sweeping process.

use crate::reference::{Start, event_rows, slips, sticks};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::internals::ReferenceEventKind;
use stickslip::laws::{ContactLaw, ImpactLaw};
use stickslip::systems::functions::GivenScalar;
use stickslip::systems::past_motion::{Kernel, PastReading, PastView, Psi};
use stickslip::systems::{ContactFrame, GeneralizedSystem, Instant, UnilateralConstraint};

use super::sweeping::{Targets, expected, friction, plane, plane_with};

/// Delayed spring, damping and load along x; on a rough plane where there is friction.
pub(super) fn delayed_start(params: &Inputs) -> Result<Start, CaseError> {
    let c = params.number_or("c", 0.0)?;
    let g0 = params.number_or("g0", 0.0)?;
    let tau = params.number("tau")?;
    let [x0, v0] = params.each(["x0", "v0"])?;
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
    let [mu, g] = params.each(["mu", "g"])?;
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
    let [kx, gx, g] = params.each(["kx", "gx", "g"])?;
    let [kap, l0] = params.each(["kap", "L0"])?;
    let [tau, mu] = params.each(["tau", "mu"])?;
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
    let [k, pull, g] = params.each(["k", "V", "g"])?;
    let [mu_s, mu_d] = params.each(["mu_s", "mu_d"])?;
    let [delta, ell] = params.each(["delta", "ell"])?;
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
    // Classical limit of a vanishing memory.
    let [k, pull, g] = params.each(["k", "V", "g"])?;
    let [mu_s, mu_d] = params.each(["mu_s", "mu_d"])?;
    let jump = (mu_s - mu_d) * g;
    let omega = k.sqrt();
    let stick = 2.0 * jump / (k * pull);
    let slip = 2.0 / omega * (std::f64::consts::PI - (jump * omega / (k * pull)).atan());
    // Two periods, behind T too: what does not happen in five happens never.
    let longest = mu_s * g / (k * pull).abs() + 5.0 * (stick.abs() + slip.abs());
    let mut seen = 0;
    while seen < 50 && t_end + 0.02 * f64::from(seen) * longest < longest {
        let events = motion.motion.events();
        let slipped = events.iter().filter(|e| slips(e)).count();
        if slipped >= 3 {
            break;
        }
        seen += 1;
        motion.run(t_end + 0.02 * f64::from(seen) * longest)?;
    }
    let events = motion.motion.events();
    let starts: Vec<f64> = events.iter().filter(|e| slips(e)).map(|e| e.t).collect();
    let stops: Vec<_> = events.iter().filter(|e| sticks(e)).collect();
    let until =
        |times: &[f64]| -> Vec<f64> { times.iter().copied().filter(|&t| t <= t_end).collect() };
    let stop_times: Vec<f64> = stops.iter().map(|e| e.t).collect();
    Ok(group! {
        "t_first_slip" => starts.first().copied().unwrap_or(f64::INFINITY),
        "period" => match starts[..] {
            [_, second, third, ..] => third - second,
            _ => f64::INFINITY,
        },
        "slip_duration" => match (starts.first(), stops.get(1)) {
            (Some(start), Some(stop)) => stop.t - start,
            _ => f64::INFINITY,
        },
        "slip_distance" => stops.get(1).map_or(f64::INFINITY, |stop| stop.q[0]),
        "slip_starts" => until(&starts),
        "stick_starts" => until(&stop_times),
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
    let [a, ell, g] = params.each(["A", "ell", "g"])?;
    let [y0, v0] = params.each(["y0", "v0"])?;
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
    let [y0, v0, g] = input.params.each(["y0", "v0", "g"])?;
    // The force pulls down, too.
    let longest = t.max((v0 + (v0 * v0 + 2.0 * g * y0).sqrt()) / g);
    let hit = motion.run_to_event(longest, 2.0 * longest, |event| {
        event.kind == ReferenceEventKind::Impact
    })?;
    let apex = motion
        .motion
        .events()
        .iter()
        .find(|event| event.kind == ReferenceEventKind::Watched(0));
    let apex = if v0 > 0.0 {
        apex.map(|event| (event.t, event.q[0]))
    } else {
        Some((0.0, y0))
    };
    Ok(group! {
        "t_apex" => apex.map(|apex| apex.0),
        "y_apex" => apex.map(|apex| apex.1),
        "t_impact" => hit.as_ref().map_or(f64::INFINITY, |event| event.t),
        "v_impact" => Answer::or_none(hit.as_ref().map(|event| event.velocity_before[0])),
        "y_at" => group! { "t" => t, "y" => y },
    })
}

pub(super) fn throw_sweep(input: &CaseInput, steps: usize) -> Result<Targets, CaseError> {
    let t = input.given.number("y_at.t")?;
    let q = throw_start(&input.params)?.sweep(t, steps, t)?;
    Ok(vec![expected("y_at.y", q[0])])
}

fn vector_start(params: &Inputs) -> Result<Start, CaseError> {
    let [k, c, tau] = params.each(["k", "c", "tau"])?;
    let (sin, cos) = params.number("angle_deg")?.to_radians().sin_cos();
    let [mu, g] = params.each(["mu", "g"])?;
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
