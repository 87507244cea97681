//! Errors over a list of steps or compliance times, with the orders they show.

use serde::Serialize;

use super::StudyError;

/// A result whose own step no longer matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// The result.
    pub result: Vec<f64>,
    /// Step of the run.
    pub step: f64,
    /// Change of the result when the step was last halved.
    pub step_error: f64,
    /// Whether that change is small enough beside the error that is studied.
    pub resolved: bool,
}

impl Resolved {
    /// Halves the step of a run from `step` on until halving changes the result by at most a twentieth of the error that
    /// is studied, `error(result)`; at most ten times.
    pub fn in_step<E>(
        mut run: impl FnMut(f64) -> Result<Vec<f64>, E>,
        mut step: f64,
        mut error: impl FnMut(&[f64], f64) -> Result<f64, E>,
    ) -> Result<Self, E> {
        let mut coarse = run(step)?;
        let mut resolved = Self {
            result: coarse.clone(),
            step,
            step_error: f64::INFINITY,
            resolved: false,
        };
        for _ in 0..10 {
            step *= 0.5;
            let fine = run(step)?;
            let changes = coarse.iter().zip(&fine).map(|(a, b)| (a - b).abs());
            let step_error = changes.fold(0.0, f64::max);
            let studied = error(&fine, step)?;
            resolved = Self {
                resolved: step_error <= 0.05 * studied,
                result: fine.clone(),
                step,
                step_error,
            };
            if resolved.resolved {
                break;
            }
            coarse = fine;
        }
        Ok(resolved)
    }
}

/// One run of a study.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConvergenceRow {
    /// Step or compliance time.
    pub value: f64,
    /// Largest difference to the reference.
    pub error: f64,
    /// Order against the row above.
    pub order: Option<f64>,
}

/// Errors of runs that differ in one small parameter, coarsest first.
///
/// A reference may be a run of the same kind with a smaller value f. Differences to it are C (x^p − f^p), not C x^p, and the order p is
/// that of the former: read as the latter, three runs halved from 4 f to f would have the order 1.58 for 1.
///
/// ```
/// use stickslip::simulation::studies::ConvergenceStudy;
/// // results that differ from 1 by 3 h²
/// let steps = [0.1, 0.05, 0.025];
/// let results: Vec<Vec<f64>> = steps.iter().map(|h| vec![1.0 + 3.0 * h * h]).collect();
/// let study = ConvergenceStudy::new(&steps, &results, &[1.0])?;
/// assert!((study.order().unwrap() - 2.0).abs() < 1e-9);
/// let study = ConvergenceStudy::against_run(&steps[..2], &results[..2], (0.025, &results[2]))?;
/// assert!((study.order().unwrap() - 2.0).abs() < 1e-9);
/// # Ok::<(), stickslip::simulation::studies::StudyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConvergenceStudy {
    /// The runs, coarsest first.
    pub rows: Vec<ConvergenceRow>,
    /// Step or compliance time of the run that is the reference; 0 for one without an error of this kind.
    pub reference: f64,
}

/// Orders among which that of differences to a run is looked for.
const ORDERS: (f64, f64) = (1e-3, 20.0);

impl ConvergenceStudy {
    /// Compares results with a reference, in the largest component.
    pub fn new(
        values: &[f64],
        results: &[Vec<f64>],
        reference: &[f64],
    ) -> Result<Self, StudyError> {
        Self::against_run(values, results, (0.0, reference))
    }

    /// The same with the value that the reference itself was computed with, smaller than all others.
    pub fn against_run(
        values: &[f64],
        results: &[Vec<f64>],
        (finest, reference): (f64, &[f64]),
    ) -> Result<Self, StudyError> {
        let mut runs: Vec<(f64, &Vec<f64>)> = values.iter().copied().zip(results).collect();
        runs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let distinct = runs.windows(2).all(|pair| pair[0].0 > pair[1].0);
        if runs.len() < 2
            || !distinct
            || !runs.iter().all(|run| run.0 > finest && run.0.is_finite())
            || !(finest >= 0.0)
        {
            return Err(StudyError::Values {
                found: values.to_vec(),
            });
        }
        let mut rows: Vec<ConvergenceRow> = Vec::new();
        for (value, result) in runs {
            if result.len() != reference.len() {
                return Err(StudyError::Length {
                    value,
                    found: result.len(),
                    expected: reference.len(),
                });
            }
            let error = result
                .iter()
                .zip(reference)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            let mut row = ConvergenceRow {
                value,
                error,
                order: None,
            };
            row.order = rows.last().and_then(|last| order_of(&[*last, row], finest));
            rows.push(row);
        }
        Ok(Self {
            rows,
            reference: finest,
        })
    }

    /// The order p at which the errors fit C (x^p − f^p) best, x the values and f that of the reference, in logarithms by least squares;
    /// none where an error vanishes, or where none fits.
    pub fn order(&self) -> Option<f64> {
        order_of(&self.rows, self.reference)
    }
}

fn order_of(rows: &[ConvergenceRow], finest: f64) -> Option<f64> {
    if rows.iter().any(|row| !(row.error > 0.0)) {
        return None;
    }
    if finest == 0.0 {
        return Some(slope(rows.iter().map(|row| row.value.ln()), rows));
    }
    // ln(x^p − f^p) = p ln x + ln(1 − (f/x)^p). Its slope against the errors is 1 at the order, below which it is more: x^p − f^p
    // grows the faster with x the higher p is.
    let model = |p: f64, row: &ConvergenceRow| {
        let ratio = (finest / row.value).ln();
        p * row.value.ln() + (-(p * ratio).exp_m1()).ln()
    };
    let steep = |p: f64| slope(rows.iter().map(|row| model(p, row)), rows) > 1.0;
    let (mut low, mut high) = ORDERS;
    if !steep(low) || steep(high) {
        return None;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if steep(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

/// Slope of the logarithms of the errors over `abscissas`, by least squares.
fn slope(abscissas: impl Iterator<Item = f64> + Clone, rows: &[ConvergenceRow]) -> f64 {
    let n = rows.len() as f64;
    let points = || abscissas.clone().zip(rows.iter().map(|row| row.error.ln()));
    let (mean_x, mean_y) = points().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (mut top, mut bottom) = (0.0, 0.0);
    for (x, y) in points() {
        top += (x - mean_x) * (y - mean_y);
        bottom += (x - mean_x) * (x - mean_x);
    }
    top / bottom
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results with an error of τ and one of the step that a fixed fraction of τ does not make small.
    #[test]
    fn the_step_is_halved_until_the_order_is_that_of_the_compliance_time() {
        let times = [4e-3, 2e-3, 1e-3];
        let result =
            |tau: f64, h: f64| vec![1.0 + 0.5 * tau + 40.0 * (h / tau).powi(2) * tau.sqrt()];
        let fixed: Vec<Vec<f64>> = times.iter().map(|&tau| result(tau, tau / 50.0)).collect();
        let order = ConvergenceStudy::new(&times, &fixed, &[1.0])
            .unwrap()
            .order();
        // 0.5 τ + 0.016 √τ: by hand ln(3.01/1.006)/ln 4 = 0.79 between the ends.
        assert!((order.unwrap() - 0.79).abs() < 0.01, "{order:?}");
        let found: Vec<Vec<f64>> = times
            .iter()
            .map(|&tau| {
                let run = |h: f64| Ok::<_, StudyError>(result(tau, h));
                let error = |r: &[f64], _: f64| Ok((r[0] - 1.0).abs());
                let resolved = Resolved::in_step(run, tau / 50.0, error).unwrap();
                assert!(resolved.resolved);
                resolved.result
            })
            .collect();
        let order = ConvergenceStudy::new(&times, &found, &[1.0])
            .unwrap()
            .order();
        assert!((order.unwrap() - 1.0).abs() < 0.05, "{order:?}");
    }

    /// By hand: with errors 3 x and the reference at f, the differences to it are 3 (x − f); to those of x = 8 f, 4 f and 2 f, which are 21 f,
    /// 9 f and 3 f, a line in logarithms gives ln 7/ln 4 = 1.40.
    #[test]
    fn differences_to_the_finest_run_have_the_order_of_the_errors() {
        for order in [0.5, 1.0, 2.0, 4.0f64] {
            let result = |x: f64| vec![2.0 - 3.0 * x.powf(order), 1.0];
            let values = [0.08, 0.04, 0.02];
            let results = values.map(result);
            let reference = (0.01, &result(0.01)[..]);
            let study = ConvergenceStudy::against_run(&values, &results, reference).unwrap();
            let found = [study.order(), study.rows[1].order, study.rows[2].order];
            for found in found {
                assert!((found.unwrap() - order).abs() < 1e-6, "{order}: {study:?}");
            }
            let plain = ConvergenceStudy::new(&values, &results, reference.1).unwrap();
            assert!(order != 1.0 || (plain.order().unwrap() - 7f64.ln() / 4f64.ln()).abs() < 1e-9);
        }
        // Differences that do not fall have no order.
        let results = [1.2, 1.3].map(|x| vec![x]);
        let study = ConvergenceStudy::against_run(&[0.4, 0.2], &results, (0.1, &[1.0])).unwrap();
        assert_eq!(study.order(), None);
        // The reference is the finest.
        assert!(ConvergenceStudy::against_run(&[0.4, 0.2], &results, (0.2, &[1.0])).is_err());
    }
}
