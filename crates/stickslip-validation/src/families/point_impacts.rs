//! Impacts of a point mass under the theta scheme.

use crate::engine::{impact, scheme_settings, status, theta_scheme};
use crate::{Answer, CaseError, CaseInput};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::systems::functions::{GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Point mass touching the plane `q₀ = 0`; the other coordinates are tangential.
pub(super) fn point_on_plane(
    mass: f64,
    tangents: usize,
    law: ContactLaw,
) -> Result<GeneralizedSystem, CaseError> {
    let n = 1 + tangents;
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            row[0] = 1.0;
        },
    };
    let frame = if tangents == 0 {
        ContactFrame::Frictionless
    } else {
        let rows = GivenRows(move |_: &[f64], rows: &mut [f64]| {
            rows.fill(0.0);
            for i in 0..tangents {
                rows[i * n + i + 1] = 1.0;
            }
        });
        ContactFrame::tangents(tangents, rows)
    };
    let names = ["n", "t1", "t2", "t3"].into_iter().take(n);
    Ok(GeneralizedSystem::builder(names)
        .mass_diagonal(&vec![mass; n])
        .constraint(UnilateralConstraint::new("plane", gap).with_point(frame, law))
        .build(&vec![0.0; n])?)
}

/// `fremond_point_impact`: one impact per θ under Frémond's law, one under Newton's.
pub(super) fn fremond(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [mass, mu] = params.each(["m", "mu"])?;
    let restitution = params.number("e")?;
    let tangential = params.one_or_more("uT_minus")?;
    let v = [vec![params.number("uN_minus")?], tangential.clone()].concat();
    let d = tangential.len();
    if d == 0 {
        return Err(CaseError::bad_parameter(
            "uT_minus",
            "an empty list",
            "at least one tangential component",
        ));
    }
    let at = |law: ImpactLaw, theta: f64| -> Result<StepRecord, CaseError> {
        let law = ContactLaw::new(FrictionSection::ball(mu, d)?, law)?;
        let scheme = theta_scheme(scheme_settings(params, theta)?)?;
        impact(
            point_on_plane(mass, d, law)?,
            scheme,
            (&vec![0.0; 1 + d], &v),
        )
    };
    let mut rows = Vec::new();
    for row in input.given.rows("fremond")? {
        let theta = row.number("theta")?;
        let record = at(ImpactLaw::Fremond { restitution }, theta)?;
        let energy = &record.energy;
        rows.push(group! {
            "theta" => theta,
            "status" => status(record.contacts[0].mode),
            "uN_plus" => record.velocity[0],
            "uT_plus" => &record.velocity[1..],
            "pN" => record.impulses[0],
            "pT" => &record.impulses[1..],
            "dE" => energy.kinetic_change,
            "W_N" => energy.contact_normal,
            "W_T" => energy.contact_tangential,
            "D_num" => energy.numerical_mass,
            "identity_residual" => energy.imbalance(),
        });
    }
    let standard = at(ImpactLaw::Newton { restitution }, 1.0)?;
    Ok(group! {
        "fremond" => rows,
        "newton_coulomb" => group! {
            "status" => status(standard.contacts[0].mode),
            "uN_plus" => standard.velocity[0],
            "uT_plus" => &standard.velocity[1..],
            "pN" => standard.impulses[0],
            "pT" => &standard.impulses[1..],
            "dE" => standard.energy.kinetic_change,
        },
    })
}

/// `theta_bound_violation`: normal work of an impact beyond the bound on θ.
pub(super) fn theta_bound(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let law = ContactLaw::frictionless(ImpactLaw::Newton {
        restitution: params.number("e")?,
    })?;
    let scheme = theta_scheme(scheme_settings(params, params.number("theta")?)?)?;
    let system = point_on_plane(params.number("m")?, 0, law)?;
    let record = impact(system, scheme, (&[0.0], &[params.number("uN_minus")?]))?;
    let energy = &record.energy;
    Ok(group! {
        "W_N" => energy.contact_normal,
        "D_num" => energy.numerical_mass,
        "dE" => energy.kinetic_change,
        "closes" => energy.imbalance(),
        "W_N_positive" => energy.contact_normal > 0.0,
    })
}
