//! Curvilinear coordinates: the law and the free motion do not depend on the parametrisation.

use std::f64::consts::PI;

use crate::engine::{impact, midpoint, run_steps, simulation, theta_scheme, touching};
use crate::reference::Start;
use crate::{Answer, CaseError, CaseInput};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::systems::functions::{AutoScalar, GivenRows};
use stickslip::systems::{
    BilateralConstraint, ContactFrame, GeneralizedSystem, UnilateralConstraint,
};

/// `polar`: a particle at a rough wall, in polar and in Cartesian coordinates.
///
/// The mass of a particle is isotropic, so the kinetic normal is the geometric one and Newton's
/// normal law with Coulomb friction on the slip after is the law of the case.
pub(super) fn polar(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let m = params.number("m")?;
    let [r, angle] = params.each(["r", "theta"])?;
    let v = params.vector::<2>("qdot_minus")?;
    let law = || -> Result<ContactLaw, CaseError> {
        let impact = ImpactLaw::Newton {
            restitution: params.number("e")?,
        };
        Ok(ContactLaw::new(
            FrictionSection::segment(params.number("mu")?)?,
            impact,
        )?)
    };
    let q = [r, angle];
    // The wall is where the particle touches it.
    let wall = r * angle.cos();
    let tangent = GivenRows(|q: &[f64], row: &mut [f64]| {
        row.copy_from_slice(&[q[1].sin(), q[0] * q[1].cos()]);
    });
    let polar = GeneralizedSystem::builder(["r", "theta"])
        .kinetic_energy(move |q: &[Jet], v: &[Jet]| {
            (v[0] * v[0] + q[0] * q[0] * v[1] * v[1]) * (0.5 * m)
        })
        .constraint(
            UnilateralConstraint::new(
                "wall",
                AutoScalar(move |_: Jet, q: &[Jet]| q[0] * q[1].cos() - wall),
            )
            .with_point(ContactFrame::tangents(1, tangent), law()?),
        )
        .build(&q)?;
    let in_polar = impact(polar, touching(0.5)?, (&q, &v))?;

    let x = [r * angle.cos(), r * angle.sin()];
    let (sin, cos) = angle.sin_cos();
    let velocity = [cos * v[0] - r * sin * v[1], sin * v[0] + r * cos * v[1]];
    let tangent = GivenRows(|_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 1.0]));
    let cartesian = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[m, m])
        .constraint(
            UnilateralConstraint::new("wall", AutoScalar(move |_: Jet, q: &[Jet]| q[0] - wall))
                .with_point(ContactFrame::tangents(1, tangent), law()?),
        )
        .build(&x)?;
    let in_cartesian = impact(cartesian, touching(0.5)?, (&x, &velocity))?;
    Ok(group! {
        "qdot_plus" => &in_polar.velocity,
        "cartesian_v_plus" => &in_cartesian.velocity,
        "p_real" => &in_polar.impulses,
    })
}

/// `geodesic`: free motion in polar coordinates is a straight line.
pub(super) fn geodesic_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let q = [params.number("r")?, params.number("theta")?];
    let v = [params.number("rdot")?, params.number("thetadot")?];
    let start = Start {
        system: free_particle(&q)?,
        q: q.to_vec(),
        v: v.to_vec(),
    };
    let mut motion = start.reference();
    motion.run(params.number("T")?)?;
    let (q, v) = (motion.motion.q(), motion.motion.v());
    // The angle in (−π, π].
    let angle = PI - (PI - q[1]).rem_euclid(2.0 * PI);
    Ok(group! { "r" => q[0], "theta" => angle, "rdot" => v[0], "thetadot" => v[1] })
}

/// A free particle of unit mass in polar coordinates.
fn free_particle(q: &[f64]) -> Result<GeneralizedSystem, CaseError> {
    Ok(GeneralizedSystem::builder(["r", "theta"])
        .kinetic_energy(|q: &[Jet], v: &[Jet]| (v[0] * v[0] + q[0] * q[0] * v[1] * v[1]) * 0.5)
        .build(q)?)
}

/// `geodesic`: by time stepping.
pub(super) fn geodesic(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let q = [params.number("r")?, params.number("theta")?];
    let v = [params.number("rdot")?, params.number("thetadot")?];
    let system = free_particle(&q)?;
    let steps = 2000 * refinement;
    let h = params.number("T")? / steps as f64;
    let scheme = theta_scheme(midpoint())?;
    let mut run = simulation(system, scheme, (&q, &v), h, true)?;
    run_steps(&mut run, h, steps, |_| ())?;
    let state = run.state();
    // The angle in (−π, π].
    let angle = PI - (PI - state.q[1]).rem_euclid(2.0 * PI);
    Ok(group! {
        "r" => state.q[0],
        "theta" => angle,
        "rdot" => state.v[0],
        "thetadot" => state.v[1],
    })
}

/// `pendulum-at-wall`: the same impact in the angle and in Cartesian coordinates with a rod.
///
/// In the angle the only covector is the normal one, so the section of the generalized reaction is
/// {0}: the friction of the wall has no effect.
pub(super) fn pendulum_at_wall(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, l] = params.each(["m", "l"])?;
    let [angle, rate] = params.each(["theta", "thetadot"])?;
    let restitution = params.number("e")?;
    let law = || ContactLaw::frictionless(ImpactLaw::Newton { restitution });
    let wall = l * angle.sin();
    let reduced = GeneralizedSystem::builder(["theta"])
        .mass_diagonal(&[m * l * l])
        .constraint(
            UnilateralConstraint::new(
                "wall",
                AutoScalar(move |_: Jet, q: &[Jet]| q[0].sin() * l - wall),
            )
            .with_point(ContactFrame::Frictionless, law()?),
        )
        .build(&[angle])?;
    let in_angle = impact(reduced, touching(0.5)?, (&[angle], &[rate]))?;

    let q = [l * angle.sin(), -l * angle.cos()];
    let v = [l * rate * angle.cos(), l * rate * angle.sin()];
    let rod = AutoScalar(move |_: Jet, q: &[Jet]| (q[0] * q[0] + q[1] * q[1]).sqrt() - l);
    let constrained = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[m, m])
        .joint(BilateralConstraint::new("rod", rod))
        .constraint(
            UnilateralConstraint::new("wall", AutoScalar(move |_: Jet, q: &[Jet]| q[0] - wall))
                .with_point(ContactFrame::Frictionless, law()?),
        )
        .build(&q)?;
    let record = impact(constrained, touching(0.5)?, (&q, &v))?;
    // Where nothing strikes there is no problem, and no impulse of the rod.
    Ok(group! {
        "thetadot_plus_generalized" => in_angle.velocity[0],
        "wall_impulse_frictionless" => record.impulses.first().copied().unwrap_or(0.0),
        "rod_impulse" => record.joint_impulses.first().copied().unwrap_or(0.0),
    })
}
