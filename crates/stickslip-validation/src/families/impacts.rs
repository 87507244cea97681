//! One impact of a mechanism under Newton's and Frémond's laws.

use crate::engine::{LocalView, impact, scheme_settings, status, theta_scheme};
use crate::{Answer, CaseError, CaseInput};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Both laws on the impact of a system at (q, v).
fn both_laws(
    input: &CaseInput,
    build: &dyn Fn(ContactLaw) -> Result<GeneralizedSystem, CaseError>,
    (q, v): (&[f64], &[f64]),
) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [restitution, mu] = params.each(["e", "mu"])?;
    let mut answer = group! {};
    for (name, impact_law) in [
        ("newton_coulomb", ImpactLaw::Newton { restitution }),
        ("fremond", ImpactLaw::Fremond { restitution }),
    ] {
        let law = || ContactLaw::new(FrictionSection::segment(mu)?, impact_law);
        let law = || law().map_err(CaseError::from);
        let scheme = theta_scheme(scheme_settings(params, 0.5)?)?;
        let record = impact(build(law()?)?, scheme, (q, v))?;
        let view = LocalView::new(&build(law()?)?, q, v)?;
        let energy = &record.energy;
        let before = record.kinetic - energy.kinetic_change;
        answer.insert(
            name,
            group! {
                "status" => status(record.contacts[0].mode),
                "p" => &record.impulses,
                "u_plus" => view.of(&record.velocity),
                "dE" => energy.kinetic_change,
                "W_N" => energy.contact_normal,
                "W_T" => energy.contact_tangential,
                "dE_over_E" => energy.kinetic_change / before,
            },
        );
    }
    Ok(answer)
}

/// `rod_impact`: a free rod whose lower end hits the floor.
pub(super) fn rod(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, length] = params.each(["m", "L"])?;
    let tilt = params.number("angle_from_vertical_deg")?.to_radians();
    let v = params.vector::<3>("v")?;
    let half = 0.5 * length;
    // The angle turns counterclockwise from the given position.
    let point = move |q: &[Jet]| {
        let (x, y) = (-half * tilt.sin(), -half * tilt.cos());
        let (sin, cos) = (q[2].sin(), q[2].cos());
        [q[0] + cos * x - sin * y, q[1] + sin * x + cos * y]
    };
    let height = half * tilt.cos();
    let build = |law: ContactLaw| {
        let floor =
            UnilateralConstraint::new("floor", AutoScalar(move |_: Jet, q: &[Jet]| point(q)[1]))
                .with_point(ContactFrame::planar_point(point, [0.0, 1.0]), law);
        Ok(GeneralizedSystem::builder(["x", "y", "angle"])
            .mass_diagonal(&[m, m, m * length * length / 12.0])
            .constraint(floor)
            .build(&[0.0, height, 0.0])?)
    };
    both_laws(input, &build, (&[0.0, height, 0.0], &v))
}

/// `double_pendulum_impact`: two rods in series whose tip hits the floor.
pub(super) fn double_pendulum(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, length] = params.each(["m", "L"])?;
    let q = params.vector::<2>("q_deg")?.map(f64::to_radians);
    let v = params.vector::<2>("qdot")?;
    let point = move |q: &[Jet]| {
        [
            (q[0].sin() + q[1].sin()) * length,
            (q[0].cos() + q[1].cos()) * -length,
        ]
    };
    let floor = -length * (q[0].cos() + q[1].cos());
    let energy = move |q: &[Jet], v: &[Jet]| {
        // Rod by rod: velocity of the centre and spin about it.
        let inertia = m * length * length / 12.0;
        let first = [
            q[0].cos() * v[0] * (0.5 * length),
            q[0].sin() * v[0] * (0.5 * length),
        ];
        let second = [
            q[0].cos() * v[0] * length + q[1].cos() * v[1] * (0.5 * length),
            q[0].sin() * v[0] * length + q[1].sin() * v[1] * (0.5 * length),
        ];
        let square = |u: [Jet; 2]| u[0] * u[0] + u[1] * u[1];
        (square(first) + square(second)) * (0.5 * m) + (v[0] * v[0] + v[1] * v[1]) * (0.5 * inertia)
    };
    let build = |law: ContactLaw| {
        let ground = UnilateralConstraint::new(
            "floor",
            AutoScalar(move |_: Jet, q: &[Jet]| point(q)[1] - floor),
        )
        .with_point(ContactFrame::planar_point(point, [0.0, 1.0]), law);
        Ok(GeneralizedSystem::builder(["q1", "q2"])
            .kinetic_energy(energy)
            .constraint(ground)
            .build(&q)?)
    };
    both_laws(input, &build, (&q, &v))
}
