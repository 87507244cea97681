//! A disc on the ground with sliding and rolling friction.

use std::ops::ControlFlow;

use crate::engine::{midpoint, run_until, simulation, theta_scheme};
use crate::reference::Start;
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::internals::ReferenceEventKind;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::systems::functions::{GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// A phase of the motion: its word, and the state (t, v, ω, x) at its start and end.
struct Phase {
    word: &'static str,
    start: [f64; 4],
    end: [f64; 4],
}

/// The disc on the ground: coordinates x, height, turn.
fn disc_system(params: &Inputs) -> Result<GeneralizedSystem, CaseError> {
    let [radius, m, g] = params.each(["R", "m", "g"])?;
    let inertia = params.number("I_over_mR2")? * m * radius * radius;
    let [mu, mu_r] = params.each(["mu", "mu_r"])?;
    let gap = GivenScalar {
        value: |q: &[f64]| q[1],
        gradient: |_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 1.0, 0.0]),
    };
    // Slip v − R ω, then the spin on which the rolling moment acts.
    let rows = GivenRows(move |_: &[f64], rows: &mut [f64]| {
        rows.copy_from_slice(&[1.0, 0.0, -radius, 0.0, 0.0, 1.0]);
    });
    let section = FrictionSection::product(vec![
        FrictionSection::segment(mu)?,
        FrictionSection::segment(mu_r)?,
    ])?;
    let law = ContactLaw::new(section, ImpactLaw::Inelastic)?;
    Ok(GeneralizedSystem::builder(["x", "height", "turn"])
        .mass_diagonal(&[m, m, inertia])
        .load(move |_, out: &mut [f64]| out.copy_from_slice(&[0.0, -m * g, 0.0]))
        .constraint(
            UnilateralConstraint::new("ground", gap)
                .with_point(ContactFrame::tangents(2, rows), law),
        )
        .build(&[0.0; 3])?)
}

/// A time in which everything that comes to an end has done so.
fn longest_motion(speed: f64, radius: f64, ratio: f64, (mu, mu_r): (f64, f64), g: f64) -> f64 {
    let part = |x: f64| if x.is_finite() { x } else { 0.0 };
    let slides = part(speed / (mu * g));
    let rolls = part(2.0 * speed * radius * (1.0 + ratio) / (mu_r * g));
    let unit = radius / speed.max(f64::MIN_POSITIVE);
    (slides + rolls).max(10.0 * unit.min(1e6))
}

/// `rolling_friction_disc`, event by event: the first group of tangents is the slip, the second the spin.
pub(super) fn disc_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [radius, g] = params.each(["R", "g"])?;
    let ratio = params.number("I_over_mR2")?;
    let [mu, mu_r] = params.each(["mu", "mu_r"])?;
    let [v0, spin] = params.each(["v0", "omega0"])?;
    let speed = v0.abs() + radius * spin.abs();
    let longest = longest_motion(speed, radius, ratio, (mu, mu_r), g);
    let start = Start {
        system: disc_system(params)?,
        q: vec![0.0; 3],
        v: vec![v0, 0.0, spin],
    };
    let mut motion = start.reference();
    motion.run(2.0 * longest)?;
    let mut rows: Vec<Answer> = Vec::new();
    let mut phase: Option<(&str, f64, f64)> = None;
    let mut stop = None;
    let (mut slipping, mut spinning) = (false, false);
    let events = motion.motion.events();
    let mut k = 0;
    while k < events.len() && stop.is_none() {
        // events of one instant belong together
        let event = &events[k];
        while k < events.len() && events[k].t == event.t {
            match &events[k].kind {
                ReferenceEventKind::Slip { group: 0, .. } => slipping = true,
                ReferenceEventKind::Stick { group: 0 } => slipping = false,
                ReferenceEventKind::Slip { .. } => spinning = true,
                ReferenceEventKind::Stick { .. } => spinning = false,
                _ => {}
            }
            k += 1;
        }
        let word = match (slipping, spinning) {
            (true, _) => "slip",
            (false, true) => "roll",
            (false, false) => "rest",
        };
        if phase.is_some_and(|(old, ..)| old == word) {
            continue;
        }
        if let Some((old, t0, v_start)) = phase {
            let (v, omega) = (event.velocity[0], event.velocity[2]);
            let mut row = group! {
                "phase" => old, "t_end" => event.t, "v" => v, "omega" => omega, "x" => event.q[0],
            };
            if old == "roll" {
                row.insert("decel", ((v_start - v) / (event.t - t0)).abs());
            }
            rows.push(row);
        }
        phase = Some((word, event.t, event.velocity[0]));
        if word == "rest" {
            stop = Some((event.t, event.q[0]));
        }
    }
    // Without friction or without rolling friction it never stops.
    let (t_stop, x_stop) = stop.unwrap_or((f64::INFINITY, f64::INFINITY.copysign(v0)));
    Ok(group! { "phases" => rows, "t_stop" => t_stop, "x_stop" => x_stop })
}

/// `rolling_friction_disc`: slips, rolls, stops.
pub(super) fn disc(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [radius, m, g] = params.each(["R", "m", "g"])?;
    let inertia = params.number("I_over_mR2")? * m * radius * radius;
    let [mu, mu_r] = params.each(["mu", "mu_r"])?;
    let [v0, spin] = params.each(["v0", "omega0"])?;
    let system = disc_system(params)?;
    // Times of sliding and of rolling, large enough in sum to hold the whole motion.
    let speed = v0.abs() + radius * spin.abs();
    let ratio = inertia / (m * radius * radius);
    let longest = longest_motion(speed, radius, ratio, (mu, mu_r), g);
    let h = longest / (20_000 * refinement) as f64;
    let scheme = theta_scheme(midpoint())?;
    let mut run = simulation(system, scheme, (&[0.0; 3], &[v0, 0.0, spin]), h, false)?;
    let zero = 1e-11 * speed;
    let word = |v: f64, spin: f64| {
        if (v - radius * spin).abs() > zero {
            "slip"
        } else {
            "roll"
        }
    };
    let mut phases: Vec<Phase> = Vec::new();
    let mut before = [0.0, v0, spin, 0.0];
    let mut stop = None;
    run_until(&mut run, 2.0 * longest, |record| {
        let now = [
            record.t,
            record.velocity[0],
            record.velocity[2],
            record.q[0],
        ];
        // A step belongs to the phase in which it starts.
        let word = word(before[1], before[2]);
        match phases.last_mut() {
            Some(phase) if phase.word == word => phase.end = now,
            _ => phases.push(Phase {
                word,
                start: before,
                end: now,
            }),
        }
        before = now;
        if now[1].abs() <= zero && radius * now[2].abs() <= zero {
            stop = Some((now[0], now[3]));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let rows: Vec<Answer> = phases
        .iter()
        .map(|phase| {
            let [t, v, omega, x] = phase.end;
            let mut row = group! { "phase" => phase.word, "t_end" => t, "v" => v, "omega" => omega, "x" => x };
            if phase.word == "roll" {
                let rate = (phase.start[1] - v) / (t - phase.start[0]);
                row.insert("decel", rate.abs());
            }
            row
        })
        .collect();
    // Without friction or without rolling friction it never stops.
    let (t_stop, x_stop) = stop.unwrap_or((f64::INFINITY, f64::INFINITY.copysign(v0)));
    Ok(group! { "phases" => rows, "t_stop" => t_stop, "x_stop" => x_stop })
}
