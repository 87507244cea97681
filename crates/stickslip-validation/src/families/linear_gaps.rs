//! Impacts on several frictionless constraints with constant rows.

use crate::engine::{LocalView, impact, touching};
use crate::{Answer, CaseError, CaseInput};
use stickslip::laws::{ContactLaw, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::systems::functions::GivenScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

use stickslip::internals::dot;

use stickslip::algebra::SymmetricMatrix;

/// System with the gaps `D q ≥ 0`, touching at q = 0, one law per row.
fn system(
    mass: &SymmetricMatrix,
    rows: &[Vec<f64>],
    laws: &[ImpactLaw],
) -> Result<GeneralizedSystem, CaseError> {
    let n = mass.order();
    let names: Vec<String> = (1..=n).map(|i| format!("q{i}")).collect();
    let mut builder = GeneralizedSystem::builder(names).mass_matrix(mass.clone());
    for (a, (row, &law)) in rows.iter().zip(laws).enumerate() {
        if row.len() != n {
            return Err(CaseError::bad_parameter(
                "D",
                format!("a row of length {}", row.len()),
                "rows as long as the mass matrix",
            ));
        }
        let (value, gradient) = (row.clone(), row.clone());
        let gap = GivenScalar {
            value: move |q: &[f64]| dot(&value, q),
            gradient: move |_: &[f64], out: &mut [f64]| out.copy_from_slice(&gradient),
        };
        let constraint = UnilateralConstraint::new(format!("constraint {a}"), gap)
            .with_point(ContactFrame::Frictionless, ContactLaw::frictionless(law)?);
        builder = builder.constraint(constraint);
    }
    Ok(builder.build(&vec![0.0; n])?)
}

/// The impact of all rows at once.
fn impact_of(
    mass: &SymmetricMatrix,
    rows: &[Vec<f64>],
    v: &[f64],
    laws: &[ImpactLaw],
) -> Result<StepRecord, CaseError> {
    let q = vec![0.0; v.len()];
    impact(system(mass, rows, laws)?, touching(0.5)?, (&q, v))
}

/// `moreau-law`: kinetic projection on `{D v ≥ 0}` and its reflection.
pub(super) fn moreau_law(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (mass, rows) = (params.matrix("M")?, params.table("D")?);
    let (v, restitution) = (params.numbers("v_minus")?, params.number("e")?);
    let laws = vec![ImpactLaw::Moreau { restitution }; rows.len()];
    let record = impact_of(&mass, &rows, &v, &laws)?;
    let view = LocalView::new(&system(&mass, &rows, &laws)?, &vec![0.0; v.len()], &v)?;
    Ok(group! {
        "v_plus" => &record.velocity,
        "impulses" => &record.impulses,
        "KE_minus" => record.kinetic - record.energy.kinetic_change,
        "KE_plus" => record.kinetic,
        "u_plus" => view.of(&record.velocity),
    })
}

/// `impact-laws`: Newton, Poisson and Moreau on the same impact.
pub(super) fn impact_laws(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (mass, rows) = (params.matrix("M")?, params.table("D")?);
    let (v, e) = (params.numbers("v_minus")?, params.one_or_more("e")?);
    if e.len() != rows.len() {
        return Err(CaseError::bad_parameter(
            "e",
            format!("{} entries", e.len()),
            "one restitution per row of D",
        ));
    }
    let outcome = |law: &dyn Fn(f64) -> ImpactLaw, e: &[f64]| {
        let laws: Vec<ImpactLaw> = e.iter().map(|&e| law(e)).collect();
        let record = impact_of(&mass, &rows, &v, &laws)?;
        Ok::<_, CaseError>(group! {
            "v_plus" => &record.velocity,
            "p" => &record.impulses,
            "KE_change" => record.energy.kinetic_change,
        })
    };
    let view = {
        let laws = vec![ImpactLaw::Inelastic; rows.len()];
        LocalView::new(&system(&mass, &rows, &laws)?, &vec![0.0; v.len()], &v)?
    };
    let newton = outcome(&|restitution| ImpactLaw::Newton { restitution }, &e)?;
    let poisson = outcome(&|restitution| ImpactLaw::Poisson { restitution }, &e)?;
    let first = vec![e[0]; e.len()];
    let mut moreau = outcome(&|restitution| ImpactLaw::Moreau { restitution }, &first)?;
    moreau.insert("e", e[0]);
    Ok(group! {
        "u_minus" => view.velocity(),
        "newton" => newton,
        "poisson" => poisson,
        "moreau_uniform_e0" => moreau,
    })
}

/// `cradle`: balls in contact on a line.
pub(super) fn cradle(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let masses = params.numbers("masses")?;
    let (v, restitution) = (params.numbers("v_minus")?, params.number("e")?);
    let n = masses.len();
    let mass = SymmetricMatrix::diagonal(&masses);
    let rows: Vec<Vec<f64>> = (1..n)
        .map(|i| {
            let mut row = vec![0.0; n];
            (row[i - 1], row[i]) = (-1.0, 1.0);
            row
        })
        .collect();
    let laws = vec![ImpactLaw::Moreau { restitution }; rows.len()];
    let together = impact_of(&mass, &rows, &v, &laws)?;
    // Balls that touch without pressing meet pair by pair, from the left, until none approaches.
    let sequence = if restitution == 1.0 {
        let mut v = v.clone();
        let speed = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let law = [ImpactLaw::Newton { restitution }];
        while let Some(row) = rows.iter().find(|row| dot(row, &v) < -1e-13 * speed) {
            v = impact_of(&mass, std::slice::from_ref(row), &v, &law)?.velocity;
        }
        Some(v)
    } else {
        None
    };
    Ok(group! {
        "v_plus_moreau" => &together.velocity,
        "v_plus_sequential_limit" => sequence,
    })
}
