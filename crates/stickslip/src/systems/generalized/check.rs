//! What is refused when a system is built, and what is only reported.

use crate::algebra::{CholeskyFactor, PivotedCholesky, SymmetricMatrix, dot};
use crate::systems::{Instant, MechanicalSystem, SystemError};

/// Names must be present and different.
pub(crate) fn check_names(system: &dyn MechanicalSystem) -> Result<(), SystemError> {
    let constraints: Vec<&str> = system.constraints().iter().map(|c| c.name()).collect();
    let joints: Vec<&str> = system.joints().iter().map(|j| j.name()).collect();
    let coordinates: Vec<&str> = system
        .coordinate_names()
        .iter()
        .map(String::as_str)
        .collect();
    for (what, names) in [
        ("coordinates", coordinates),
        ("constraints", constraints),
        ("joints", joints),
    ] {
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                return Err(SystemError::DuplicateName {
                    what,
                    name: (*name).to_string(),
                });
            }
        }
    }
    Ok(())
}

/// K and C must have the right order, be finite, symmetric and positive semidefinite.
pub(crate) fn check_matrices(
    system: &dyn MechanicalSystem,
    tolerance: f64,
) -> Result<(), SystemError> {
    let Some(linear) = system.linear_part() else {
        return Ok(());
    };
    for (what, matrix) in [
        ("stiffness", &linear.stiffness),
        ("damping", &linear.damping),
    ] {
        let Some(matrix) = matrix else { continue };
        check_matrix(what, matrix, system.dof())?;
        // A tiny shift makes a semidefinite matrix definite, an indefinite one stays indefinite.
        let mut shifted = matrix.clone();
        let largest = matrix.values().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for i in 0..matrix.order() {
            shifted.set(
                i,
                i,
                matrix.get(i, i) + tolerance * largest.max(f64::MIN_POSITIVE),
            );
        }
        if CholeskyFactor::default().factor(&shifted).is_err() && largest > 0.0 {
            return Err(SystemError::NotSemidefinite {
                what: if what == "stiffness" {
                    "stiffness"
                } else {
                    "damping"
                },
            });
        }
    }
    Ok(())
}

fn check_matrix(what: &str, matrix: &SymmetricMatrix, dof: usize) -> Result<(), SystemError> {
    if matrix.order() != dof {
        let (found, expected) = (matrix.order() * matrix.order(), dof * dof);
        return Err(SystemError::Dimension {
            what: format!("the {what} matrix"),
            found,
            expected,
        });
    }
    if let Some((i, j)) = matrix.first_non_finite() {
        let what = format!("entry ({i}, {j}) of the {what} matrix");
        return Err(SystemError::NonFinite {
            what,
            value: matrix.get(i, j),
        });
    }
    let asymmetry = matrix.asymmetry();
    if asymmetry > 1e-12 {
        return Err(SystemError::NotSymmetric {
            what: format!("the {what} matrix"),
            asymmetry,
        });
    }
    Ok(())
}

/// Everything that can be evaluated at the initial configuration is evaluated and checked.
pub(crate) fn check_configuration(
    system: &dyn MechanicalSystem,
    q: &[f64],
    penetration_tolerance: Option<f64>,
) -> Result<(), SystemError> {
    let n = system.dof();
    if q.len() != system.coordinate_count() {
        let what = "the initial configuration".to_string();
        return Err(SystemError::Dimension {
            what,
            found: q.len(),
            expected: system.coordinate_count(),
        });
    }
    for (name, &value) in system.coordinate_names().iter().zip(q) {
        finite(|| format!("the initial value of `{name}`"), value)?;
    }

    // Mass.
    let mut mass = SymmetricMatrix::zeros(n);
    system.mass(q, &mut mass);
    check_matrix("mass", &mass, n)?;
    if let Err(pivot) = CholeskyFactor::default().factor(&mass) {
        let coordinate = system.velocity_names()[pivot].clone();
        return Err(SystemError::NotPositiveDefinite { coordinate });
    }

    // Forces at rest.
    let rest = vec![0.0; n];
    let mut force = vec![0.0; n];
    let at = Instant::new(0.0, q, &rest);
    // What the controllers hold after their first sample.
    let mut held = Vec::new();
    for controller in system.controllers() {
        let mut outputs = vec![0.0; controller.outputs().len()];
        let mut state = controller.initial_state().to_vec();
        controller.sample(&at, &mut state, &mut outputs);
        held.extend(outputs);
    }
    system.force(&Instant { held: &held, ..at }, &mut force);
    all_finite("the external force", system.velocity_names(), &force)?;
    finite(|| "the potential".to_string(), system.potential(q))?;
    system.potential_gradient(q, &mut force);
    all_finite(
        "the gradient of the potential",
        system.velocity_names(),
        &force,
    )?;
    system.covariant_force(q, &rest, &mut force);
    all_finite("the covariant force", system.velocity_names(), &force)?;

    check_constraints(system, q, penetration_tolerance)?;
    for joint in system.joints() {
        let value = joint.function().value(0.0, q);
        finite(|| format!("joint `{}`", joint.name()), value)?;
        let mut gradient = vec![0.0; system.dof()];
        joint.function().gradient(0.0, q, &mut gradient);
        let tolerance = penetration_tolerance.unwrap_or_else(|| closed_within(value, &gradient, q));
        if value.abs() > tolerance {
            let joint = joint.name().to_string();
            return Err(SystemError::OpenJoint {
                joint,
                value,
                tolerance,
            });
        }
    }
    Ok(())
}

/// What counts as zero of a function with this value and gradient at q: 1e-9 of the numbers that cancel in it.
fn closed_within(value: f64, gradient: &[f64], q: &[f64]) -> f64 {
    let terms = gradient.iter().zip(q).map(|(g, q)| g * q);
    let (sum, sizes) = terms.fold((0.0, 0.0), |(s, a), x| (s + x, a + x.abs()));
    1e-9 * (sizes + (value - sum).abs())
}

fn check_constraints(
    system: &dyn MechanicalSystem,
    q: &[f64],
    tolerance: Option<f64>,
) -> Result<(), SystemError> {
    let n = system.dof();
    let mut gradient = vec![0.0; n];
    for constraint in system.constraints() {
        let name = constraint.name();
        let gap = constraint.gap().value(0.0, q);
        finite(|| format!("the gap of `{name}`"), gap)?;
        constraint.gap().gradient(0.0, q, &mut gradient);
        all_finite(
            &format!("the gap gradient of `{name}`"),
            system.velocity_names(),
            &gradient,
        )?;
        if gradient.iter().all(|&g| g == 0.0) {
            return Err(SystemError::VanishingGradient {
                constraint: name.to_string(),
            });
        }
        let tolerance = tolerance.unwrap_or_else(|| closed_within(gap, &gradient, q));
        if gap < -tolerance {
            return Err(SystemError::InitialPenetration {
                constraint: name.to_string(),
                gap,
                tolerance,
            });
        }
        if constraint.points().is_empty() {
            return Err(SystemError::NoContactPoint {
                constraint: name.to_string(),
            });
        }
        for point in constraint.points() {
            let (section, tangents) = (point.law.tangent_dimension(), point.frame.tangent_count());
            if section != tangents && section != 0 {
                return Err(SystemError::FrictionDimension {
                    constraint: name.to_string(),
                    section,
                    tangents,
                });
            }
            let mut rows = vec![0.0; (1 + tangents) * n];
            point.frame.rows(0.0, q, &gradient, &mut rows);
            if let Some(&value) = rows.iter().find(|x| !x.is_finite()) {
                return Err(SystemError::NonFinite {
                    what: format!("a frame row of `{name}`"),
                    value,
                });
            }
        }
    }
    Ok(())
}

/// Constraints that depend on each other at `q`: reported with the consequence, never refused.
pub(crate) fn dependent_constraints(system: &dyn MechanicalSystem, q: &[f64]) -> Vec<String> {
    let n = system.dof();
    let mut gradient = vec![0.0; n];
    let touching = system.constraints().iter().enumerate().filter(|(_, c)| {
        let gap = c.gap().value(0.0, q);
        c.gap().gradient(0.0, q, &mut gradient);
        gap <= closed_within(gap, &gradient, q)
    });
    let touching: Vec<usize> = touching.map(|(c, _)| c).collect();
    let mut mass = SymmetricMatrix::zeros(n);
    system.mass(q, &mut mass);
    let mut factor = CholeskyFactor::default();
    if touching.len() < 2 || factor.factor(&mass).is_err() {
        return Vec::new();
    }
    // Gram matrix of the gap covectors in the dual kinetic metric, with unit diagonal.
    let mut rows = vec![0.0; touching.len() * n];
    for (row, &c) in rows.chunks_mut(n).zip(&touching) {
        system.constraints()[c].gap().gradient(0.0, q, row);
        factor.solve_lower_in_place(row);
        let norm = dot(row, row).sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
    }
    let m = touching.len();
    let gram: Vec<f64> = (0..m * m)
        .map(|k| dot(&rows[k / m * n..][..n], &rows[k % m * n..][..n]))
        .collect();
    let mut pivoted = PivotedCholesky::default();
    pivoted.factor(m, &gram);
    if pivoted.rank() == m {
        return Vec::new();
    }
    let names: Vec<&str> = touching
        .iter()
        .map(|&c| system.constraints()[c].name())
        .collect();
    vec![format!(
        "constraints {} are dependent ({} of {m} independent): the motion is computed, the individual \
         impulses are not unique",
        names.join(", "),
        pivoted.rank()
    )]
}

fn finite(what: impl Fn() -> String, value: f64) -> Result<(), SystemError> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(SystemError::NonFinite {
            what: what(),
            value,
        })
    }
}

fn all_finite(what: &str, names: &[String], values: &[f64]) -> Result<(), SystemError> {
    for (name, &value) in names.iter().zip(values) {
        finite(|| format!("{what}, component `{name}`,"), value)?;
    }
    Ok(())
}
