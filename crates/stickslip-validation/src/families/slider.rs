//! A slider on a plane: exact steps, jitter, and motions with friction.

use std::f64::consts::PI;
use std::ops::ControlFlow;

use crate::engine::{
    midpoint, run_steps, run_until, scheme_settings, simulation, status, step_count, stop_if,
    theta_scheme,
};
use crate::reference::{Start, slips, sticks};
use crate::{Answer, CaseError, CaseInput};
use stickslip::algebra::SymmetricMatrix;
use stickslip::internals::dot;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::Simulation;
use stickslip::stepping::MoreauJeanSettings;
use stickslip::systems::GeneralizedSystem;

use super::sweeping::plane;

/// Point mass pressed on a plane by its weight: coordinates x (tangential), then the height.
struct Slider {
    m: f64,
    g: f64,
    /// Stiffness of a spring along the first tangent.
    k: f64,
    section: FrictionSection,
}

impl Slider {
    fn system(&self, impact: ImpactLaw, x0: &[f64]) -> Result<GeneralizedSystem, CaseError> {
        let (d, n) = (x0.len(), x0.len() + 1);
        let weight = self.m * self.g;
        let law = ContactLaw::new(self.section.clone(), impact)?;
        let names = ["x1", "x2"].into_iter().take(d).chain(["height"]);
        let mut builder = GeneralizedSystem::builder(names)
            .mass_diagonal(&vec![self.m; n])
            .load(move |_, out: &mut [f64]| {
                out.fill(0.0);
                out[d] = -weight;
            })
            .constraint(plane(d, law));
        if self.k > 0.0 {
            let mut stiffness = vec![0.0; n];
            stiffness[0] = self.k;
            builder = builder.stiffness(SymmetricMatrix::diagonal(&stiffness));
        }
        Ok(builder.build(&[x0, &[0.0]].concat())?)
    }

    /// A run that starts on the plane.
    fn run(
        &self,
        impact: ImpactLaw,
        settings: MoreauJeanSettings,
        (x0, v0): (&[f64], &[f64]),
        h: f64,
    ) -> Result<Simulation, CaseError> {
        let system = self.system(impact, x0)?;
        let (q, v) = ([x0, &[0.0]].concat(), [v0, &[0.0]].concat());
        simulation(system, theta_scheme(settings)?, (&q, &v), h, false)
    }
}

/// The law with a name of the case files, without restitution.
fn law(word: &str) -> Result<ImpactLaw, CaseError> {
    let restitution = 0.0;
    match word {
        "standard" | "newton_coulomb" => Ok(ImpactLaw::Newton { restitution }),
        "fremond" => Ok(ImpactLaw::Fremond { restitution }),
        other => Err(CaseError::bad_parameter(
            "law",
            other,
            "standard or fremond",
        )),
    }
}

/// `slider_discrete_exact`: N steps of a braked slider.
pub(super) fn discrete_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let slider = Slider {
        m: params.number_or("m", 1.0)?,
        g: params.number("g")?,
        k: 0.0,
        section: FrictionSection::segment(params.number("mu")?)?,
    };
    let (h, steps) = (params.number("h")?, params.count("N")?);
    let settings = scheme_settings(params, params.number("theta")?)?;
    let start = (&[0.0][..], &[params.number("v0")?][..]);
    let mut run = slider.run(law(params.word("law")?)?, settings, start, h)?;
    let (mut x, mut v, mut modes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut works, mut losses) = (Vec::new(), Vec::new());
    run_steps(&mut run, h, steps, |record| {
        x.push(record.q[0]);
        v.push(record.velocity[0]);
        modes.push(status(record.contacts[0].mode));
        works.push(record.energy.contact_tangential);
        losses.push(record.energy.numerical_mass);
    })?;
    Ok(group! { "v" => v, "x" => x, "status" => modes, "W_T" => works, "D_num" => losses })
}

/// `stick_jitter`: the tangential velocity of a stuck slider under both laws.
pub(super) fn stick_jitter(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let slider = Slider {
        m: params.number("m")?,
        g: params.number("g")?,
        k: params.number("k")?,
        section: FrictionSection::segment(params.number("mu")?)?,
    };
    let h = params.number("h")?;
    let steps = step_count(params.number("T")?, h);
    let start = ([params.number("x0")?], [params.number("v0")?]);
    let mut rows = Vec::new();
    for row in input.given.rows("rows")? {
        let theta = row.number("theta")?;
        let settings = scheme_settings(params, theta)?;
        let name = row.word("law")?;
        let mut run = slider.run(law(name)?, settings, (&start.0, &start.1), h)?;
        let mut speeds = Vec::new();
        run_steps(&mut run, h, steps, |record| speeds.push(record.velocity[0]))?;
        let last = &speeds[speeds.len().saturating_sub(4)..];
        rows.push(group! {
            "law" => name,
            "theta" => theta,
            "x_end" => run.state().q[0],
            "last_speeds" => last,
            "jitter" => last.iter().fold(0.0f64, |m, v| m.max(v.abs())),
        });
    }
    Ok(group! { "rows" => rows })
}

/// `coulomb_oscillator`: a mass on a spring brought to rest by friction.
pub(super) fn coulomb_oscillator(
    input: &CaseInput,
    refinement: usize,
) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, k] = params.each(["m", "k"])?;
    let [mu, g] = params.each(["mu", "g"])?;
    let slider = Slider {
        m,
        g,
        k,
        section: FrictionSection::segment(mu)?,
    };
    // Every half cycle takes 2 δ from the amplitude; the step does not divide it.
    let (omega, delta) = ((k / m).sqrt(), mu * m * g / k);
    let half_cycle = PI / omega;
    let h = half_cycle / (400.3 * refinement as f64);
    let start = ([params.number("x0")?], [params.number("v0")?]);
    let amplitude = start.0[0].hypot(start.1[0] / omega) + delta;
    let longest = (amplitude / (2.0 * delta) + 3.0) * half_cycle;
    let mut run = slider.run(law("standard")?, midpoint(), (&start.0, &start.1), h)?;
    let mut turning = vec![start.0[0]];
    let mut before = start.1[0];
    let mut at_rest = None;
    run_until(&mut run, longest, |record| {
        let now = record.velocity[0];
        // At rest the law makes the velocity zero up to rounding.
        let still = now.abs() <= 1e-12 * omega * amplitude;
        if before != 0.0 && (still || now * before < 0.0) {
            turning.push(record.q[0]);
        }
        before = if still { 0.0 } else { now };
        at_rest = if still {
            at_rest.or(Some(record.t))
        } else {
            None
        };
        // Half a cycle without motion is rest.
        stop_if(at_rest.is_some_and(|t| record.t > t + half_cycle))
    })?;
    Ok(group! {
        "delta" => delta,
        "omega" => omega,
        "n_half_cycles" => turning.len() - 1,
        "x_rest" => run.state().q[0],
        "turning_points" => turning,
        "t_rest" => at_rest,
        "dissipated" => -run.ledger().totals.contact_tangential,
    })
}

/// `coulomb_oscillator`, event by event.
pub(super) fn coulomb_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, k] = params.each(["m", "k"])?;
    let [mu, g] = params.each(["mu", "g"])?;
    let slider = Slider {
        m,
        g,
        k,
        section: FrictionSection::segment(mu)?,
    };
    let [x0, v0] = params.each(["x0", "v0"])?;
    let start = Start {
        system: slider.system(law("standard")?, &[x0])?,
        q: vec![x0, 0.0],
        v: vec![v0, 0.0],
    };
    let mut motion = start.reference();
    let before = motion_energy(m, k, x0, v0);
    // To rest, which may come after the time of the case: every half cycle takes 2 δ from the amplitude.
    let (omega, delta) = ((k / m).sqrt(), mu * m * g / k);
    let amplitude = x0.hypot(v0 / omega) + delta;
    let longest = (amplitude / (2.0 * delta) + 3.0) * PI / omega;
    let end = params.number("T")?;
    motion.run(if longest.is_finite() {
        longest.max(end)
    } else {
        end
    })?;
    let mut turning = vec![x0];
    let events = motion.motion.events();
    let turns = events
        .iter()
        .filter(|event| event.t > 0.0 && (sticks(event) || slips(event)));
    turning.extend(turns.map(|event| event.q[0]));
    let rest = events.iter().find(|event| sticks(event));
    let (x, v) = (motion.motion.q()[0], motion.motion.v()[0]);
    Ok(group! {
        "delta" => mu * m * g / k,
        "omega" => (k / m).sqrt(),
        "n_half_cycles" => turning.len() - 1,
        "x_rest" => x,
        "turning_points" => turning,
        "t_rest" => rest.map(|event| event.t),
        "dissipated" => before - motion_energy(m, k, x, v),
    })
}

/// Energy of the mass and its spring.
fn motion_energy(m: f64, k: f64, x: f64, v: f64) -> f64 {
    0.5 * m * v * v + 0.5 * k * x * x
}

/// `anisotropic_slider`, event by event.
pub(super) fn anisotropic_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let axes = [params.number("mu1")?, params.number("mu2")?];
    let v0 = params.vector::<2>("v0")?;
    let (m, g) = (params.number_or("m", 1.0)?, params.number("g")?);
    let slider = Slider {
        m,
        g,
        k: 0.0,
        section: FrictionSection::ellipse(axes)?,
    };
    let start = Start {
        system: slider.system(law("standard")?, &[0.0; 2])?,
        q: vec![0.0; 3],
        v: vec![v0[0], v0[1], 0.0],
    };
    let t = input.given.number("at.t")?;
    let mut motion = start.reference();
    motion.run(t)?;
    let sample = motion.motion.v()[..2].to_vec();
    let longest = dot(&v0, &v0).sqrt() / (axes[0].min(axes[1]) * g);
    let stop = motion.run_to_event(longest, 10.0 * longest, sticks)?;
    let v = motion.motion.v();
    Ok(group! {
        "t_stop" => stop.as_ref().map(|event| event.t),
        "x_stop" => stop.as_ref().map(|event| event.q[..2].to_vec()),
        "at" => group! { "t" => t, "v" => sample },
        "dissipated" => 0.5 * m * (dot(&v0, &v0) - dot(&v[..2], &v[..2])),
    })
}

/// `anisotropic_slider`: a slider stopped by elliptic friction.
pub(super) fn anisotropic(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let axes = [params.number("mu1")?, params.number("mu2")?];
    let v0 = params.vector::<2>("v0")?;
    let g = params.number("g")?;
    let slider = Slider {
        m: params.number_or("m", 1.0)?,
        g,
        k: 0.0,
        section: FrictionSection::ellipse(axes)?,
    };
    let longest = dot(&v0, &v0).sqrt() / (axes[0].min(axes[1]) * g);
    let t_sample = input.given.number("at.t")?;
    let h = longest / (1000 * refinement) as f64;
    let mut run = slider.run(law("standard")?, midpoint(), (&[0.0; 2], &v0), h)?;
    let mut sample = None;
    let mut before = (0.0, v0.to_vec());
    let mut stopped = None;
    run_until(&mut run, 2.0 * longest, |record| {
        if sample.is_none() && record.t >= t_sample {
            // Linear between the ends of the step.
            let part = (t_sample - before.0) / record.h;
            let v: Vec<f64> = (0..2)
                .map(|i| before.1[i] + part * (record.velocity[i] - before.1[i]))
                .collect();
            sample = Some(v);
        }
        before = (record.t, record.velocity.clone());
        if record.velocity[..2]
            .iter()
            .all(|v| v.abs() <= 1e-12 * longest * g)
        {
            stopped = Some((record.t, record.q[..2].to_vec()));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let (t_stop, x_stop) = stopped.unzip();
    Ok(group! {
        "t_stop" => t_stop,
        "x_stop" => x_stop,
        "at" => group! { "t" => t_sample, "v" => sample },
        "dissipated" => -run.ledger().totals.contact_tangential,
    })
}
