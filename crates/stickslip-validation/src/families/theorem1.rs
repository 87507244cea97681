//! Theorem 1: A and the limit of A_ε for the rod and the bar.

use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::simulation::studies::attainable::Attainable;
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// `theorem1-rod`, `theorem1-bar`.
pub(super) fn theorem1(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let system = match params.word("model")? {
        "rod" => rod(params)?,
        "bar" => bar(params)?,
        other => {
            return Err(CaseError::bad_parameter("model", other, "rod or bar"));
        }
    };
    let found = Attainable::at(&system, &params.numbers("q")?, &params.numbers("u_minus")?)
        .map_err(CaseError::not_computed)?;
    let branch = match found.sign {
        1 => "gamma>0",
        0 => "gamma=0",
        _ => "gamma<0",
    };
    let undecided = || CaseError::not_computed("whether gamma is positive arbitrarily near");
    Ok(group! {
        "gamma" => found.gamma,
        "branch" => branch,
        "A" => found.shape.word(),
        "u_tilde" => &found.jam,
        "neighbours_with_gamma_positive_outside_IntK" => found.positive_neighbours.ok_or_else(undecided)?,
        "limit_of_A_eps" => found.limit.ok_or_else(undecided)?.word(),
        "hausdorff_converges" => found.converges.ok_or_else(undecided)?,
    })
}

fn law(params: &Inputs) -> Result<ContactLaw, CaseError> {
    let section = FrictionSection::segment(params.number("mu")?)?;
    Ok(ContactLaw::new(section, ImpactLaw::Inelastic)?.with_flow_rule(FlowRule::KineticProjection))
}

/// Free rod, uniform: J = m l²/3.
fn rod(params: &Inputs) -> Result<GeneralizedSystem, CaseError> {
    let (m, l) = (
        params.number_or("defaults.m", 1.0)?,
        params.number_or("defaults.l", 0.5)?,
    );
    let tip = move |q: &[Jet]| [q[0] - q[2].cos() * l, q[1] - q[2].sin() * l];
    let ground =
        UnilateralConstraint::new("ground", AutoScalar(move |_: Jet, q: &[Jet]| tip(q)[1]))
            .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law(params)?);
    Ok(GeneralizedSystem::builder(["x", "y", "theta"])
        .mass_diagonal(&[m, m, m * l * l / 3.0])
        .constraint(ground)
        .build(&params.numbers("q")?)?)
}

/// Bar with its centre on a line.
fn bar(params: &Inputs) -> Result<GeneralizedSystem, CaseError> {
    let (m, l) = (
        params.number_or("defaults.m", 1.0)?,
        params.number_or("defaults.l", 1.0)?,
    );
    let inertia = params.number_or("defaults.J", 1.0 / 3.0)?;
    let theta0 = params.number("defaults.theta0")?;
    let tip = move |q: &[Jet]| [q[0] + q[1].cos() * l, q[1].sin() * l];
    let axis =
        UnilateralConstraint::new("axis", AutoScalar(move |_: Jet, q: &[Jet]| q[1] - theta0))
            .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law(params)?);
    Ok(GeneralizedSystem::builder(["x", "theta"])
        .mass_diagonal(&[m, inertia])
        .constraint(axis)
        .build(&params.numbers("q")?)?)
}
