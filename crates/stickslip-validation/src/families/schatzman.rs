//! The penalised bar in the limit of vanishing compliance.

use crate::engine::{LocalView, impact, touching};
use crate::reference::Start;
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::Jet;
use stickslip::internals::{
    EnergeticImpact, ImpactPhaseKind, ReferenceEventKind, dot, energetic_impact,
};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// The bar above the ground; its lower end touches where `Y = l sin θ`, or at `height`.
fn bar(params: &Inputs, q: &[f64], height: f64) -> Result<GeneralizedSystem, CaseError> {
    let [m, l, g] = params.each(["m", "l", "g"])?;
    let inertia = params.number_or("J", m / 12.0)?;
    let section = FrictionSection::segment(params.number("mu")?)?;
    let law = ContactLaw::new(section, ImpactLaw::Energetic { restitution: 1.0 })?;
    let gap = AutoScalar(move |_: Jet, q: &[Jet]| q[1] - q[2].sin() * l - height);
    let tip = move |q: &[Jet]| [q[0] - q[2].cos() * l, q[1] - q[2].sin() * l];
    let ground = UnilateralConstraint::new("ground", gap)
        .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
    Ok(GeneralizedSystem::builder(["X", "Y", "theta"])
        .mass_diagonal(&[m, m, inertia])
        .dead_load(&[0.0, -m * g, 0.0])
        .constraint(ground)
        .build(q)?)
}

/// The bar at the angle of an impact case, its tip on the ground.
fn touching_bar(params: &Inputs) -> Result<(GeneralizedSystem, [f64; 3]), CaseError> {
    let theta = params.number("theta")?;
    let q = [0.0, params.number("l")? * theta.sin(), theta];
    Ok((bar(params, &q, 0.0)?, q))
}

/// The layer of an impact and the velocities around it.
fn layer(params: &Inputs) -> Result<(EnergeticImpact, LocalView, Vec<f64>, f64), CaseError> {
    let v = params.vector::<3>("v_minus")?;
    let mu = params.number("mu")?;
    let (system, q) = touching_bar(params)?;
    let view = LocalView::new(&system, &q, &v)?;
    let w = view.delassus();
    let u = [view.velocity()[0], view.velocity()[1]];
    let result = energetic_impact([w[0], w[1], w[3]], u, (-mu, mu), 1.0);
    let after = view.after(&result.impulse);
    Ok((result, view, after, mu))
}

/// `bar-impact-limit`: the frozen boundary layer, and the same through a scheme.
pub(super) fn impact_limit(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let v = params.vector::<3>("v_minus")?;
    let (result, view, _, mu) = layer(params)?;
    let (system, q) = touching_bar(params)?;
    let record = impact(system, touching(1.0)?, (&q, &v))?;
    let after = &record.velocity;
    let masses = [
        params.number("m")?,
        params.number("m")?,
        params.number("J")?,
    ];
    let energy = |v: &[f64]| -> f64 { (0..3).map(|i| 0.5 * masses[i] * v[i] * v[i]).sum() };
    let phases: Vec<Answer> = result
        .phases
        .iter()
        .map(|phase| {
            let word = match phase.kind {
                ImpactPhaseKind::Slip => "slip",
                ImpactPhaseKind::Stick => "stick",
            };
            Answer::List(vec![
                word.into(),
                (-phase.friction / mu).into(),
                phase.impulse.into(),
            ])
        })
        .collect();
    Ok(group! {
        "S" => ratio(-record.impulses[1], mu * record.impulses[0]),
        "S_from_jumps" => ratio(-(after[0] - v[0]), mu * (after[1] - v[1])),
        "impulse_N" => record.impulses[0],
        "impulse_T" => record.impulses[1],
        "v_plus" => after,
        "u_plus" => view.of(after),
        "phases" => phases,
        "KE_change" => energy(after) - energy(&v),
    })
}

/// A part of the friction of an impact; of an impact without an impulse there is none.
fn ratio(part: f64, of: f64) -> Answer {
    Answer::or_none((of != 0.0).then(|| part / of))
}

/// `bar-tangential-limit`: an impact without collision.
pub(super) fn tangential_limit(input: &CaseInput) -> Result<Answer, CaseError> {
    let (result, view, after, mu) = layer(&input.params)?;
    Ok(group! {
        "S" => result.friction_factor(mu),
        "v_plus" => &after,
        "u_plus" => view.of(&after),
        "impulse_N" => result.impulse[0],
        "impulse_T" => result.impulse[1],
    })
}

fn start(params: &Inputs) -> Result<Start, CaseError> {
    let z = params.vector::<6>("z0")?;
    // A tip that is given on the ground up to rounding starts on it.
    let height = z[1] - params.number("l")? * z[2].sin();
    let height = if height.abs() < 1e-12 { height } else { 0.0 };
    Ok(Start {
        system: bar(params, &z[..3], height)?,
        q: z[..3].to_vec(),
        v: z[3..].to_vec(),
    })
}

/// `bar-bounce-trajectory`: flight and impacts.
pub(super) fn bounce(input: &CaseInput) -> Result<Answer, CaseError> {
    let mut motion = start(&input.params)?.reference();
    motion.run(input.params.number("T")?)?;
    let hits = motion
        .motion
        .events()
        .iter()
        .filter(|event| event.kind == ReferenceEventKind::Impact)
        .count();
    Ok(group! {
        "limit_state" => [motion.motion.q(), motion.motion.v()].concat(),
        "impacts" => hits,
    })
}

/// `bar-slide-trajectory`: the tip stays in contact.
pub(super) fn slide(input: &CaseInput) -> Result<Answer, CaseError> {
    let mut motion = start(&input.params)?.reference();
    motion.run(input.params.number("T")?)?;
    let mode = motion
        .motion
        .events()
        .iter()
        .rev()
        .find_map(|event| match &event.kind {
            ReferenceEventKind::Slip { direction, .. } if direction[0] > 0.0 => Some("+"),
            ReferenceEventKind::Slip { .. } => Some("-"),
            ReferenceEventKind::Stick { .. } => Some("stick"),
            ReferenceEventKind::Open => Some("open"),
            _ => None,
        });
    Ok(group! {
        "limit_state" => [motion.motion.q(), motion.motion.v()].concat(),
        "mode" => mode.map(Answer::from),
    })
}

/// `point-slide`: Coulomb sliding of a point, the limit of the penalised one.
pub(super) fn point(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let q = [0.0, 0.0, 0.0];
    let start = Start {
        system: bar(params, &q, 0.0)?,
        q: q.to_vec(),
        v: vec![params.number("V")?, 0.0, 0.0],
    };
    let mut motion = start.reference();
    motion.run(params.number("T")?)?;
    debug_assert!(dot(motion.motion.v(), &[0.0, 1.0, 0.0]).abs() < 1e-9);
    Ok(group! { "x_T" => motion.motion.q()[0], "xdot_T" => motion.motion.v()[0] })
}
