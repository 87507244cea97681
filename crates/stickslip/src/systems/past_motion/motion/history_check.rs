//! What a given history must be.

use super::super::{InitialHistory, PastError, PastReading};
use crate::systems::MechanicalSystem;

/// The history must be usable, end where the motion starts and stay in the admissible set.
pub(super) fn check_history(
    system: &dyn MechanicalSystem,
    reading: &PastReading,
    (q, v): (&[f64], &[f64]),
) -> Result<(), PastError> {
    let count = q.len();
    let integrals = reading.integrals.iter().map(|spec| spec.coordinate);
    let maxima = reading
        .maxima
        .iter()
        .flat_map(|m| m.psi.coordinates().iter().copied());
    let observed = reading.coordinates(count);
    for coordinate in observed.iter().copied().chain(integrals).chain(maxima) {
        if coordinate >= count || !observed.contains(&coordinate) {
            return Err(PastError::Coordinate { coordinate, count });
        }
    }
    let history = reading.initial_history();
    if let InitialHistory::Samples { times, values } = history {
        if values.iter().any(|row| row.len() != count) {
            let reason = format!("every configuration needs {count} coordinates");
            return Err(PastError::Samples { reason });
        }
        if times[0] > -reading.delay_max() * (1.0 - 1e-12) {
            let reason = format!(
                "it starts at {}, the longest delay reaches back to {}",
                times[0],
                -reading.delay_max()
            );
            return Err(PastError::Samples { reason });
        }
    }
    let names = system.coordinate_names();
    for i in 0..count {
        let found = history.value(i, 0.0, (q, v));
        if !((found - q[i]).abs() <= 1e-9 * (1.0 + q[i].abs())) {
            return Err(PastError::Jump {
                coordinate: names[i].clone(),
                found,
                expected: q[i],
            });
        }
    }
    if v.len() != count && matches!(history, InitialHistory::Uniform) {
        return Ok(());
    }
    let mut past = vec![0.0; count];
    for j in 0..=64 {
        let s = -reading.delay_max() * (j as f64 / 64.0);
        for i in 0..count {
            past[i] = history.value(i, s, (q, v));
            if !past[i].is_finite() {
                return Err(PastError::NonFinite {
                    coordinate: names[i].clone(),
                    value: past[i],
                    time: s,
                });
            }
        }
        for constraint in system.constraints() {
            let gap = constraint.gap().value(s, &past);
            if gap < -1e-9 {
                return Err(PastError::Inadmissible {
                    constraint: constraint.name().to_string(),
                    gap,
                    time: s,
                });
            }
        }
    }
    Ok(())
}
