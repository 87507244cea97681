//! From cases to verdicts.

use super::comparison::compare;
use super::engine::{CaseSolver, with_solver};
use super::families::{self, Evaluator, Family};
use super::inputs::{Inputs, lookup};
use super::{
    Answer, Case, CaseError, CaseFile, CaseInput, CaseReport, OrderStudy, Quantity, Report,
};

/// Computes and compares every case of the files.
pub fn run(files: &[CaseFile]) -> Report {
    run_family(files, None)
}

/// Computes and compares the cases of one family, or of all.
pub fn run_family(files: &[CaseFile], family: Option<&str>) -> Report {
    let mut reports = Vec::new();
    for file in files {
        for case in &file.cases {
            match case {
                Ok(case) if family.is_none_or(|name| name == case.family) => {
                    reports.push(run_case(&file.name, case));
                }
                Err((id, message)) if family.is_none() => {
                    let message = message.clone();
                    reports.push(CaseReport {
                        file: file.name.clone(),
                        family: String::new(),
                        id: id.clone(),
                        pass: false,
                        problem: Some(CaseError::Malformed { message }.to_string()),
                        quantities: Vec::new(),
                        order: None,
                    });
                }
                _ => {}
            }
        }
    }
    Report::new(reports)
}

/// Computes and compares one case with a solver of choice.
pub fn run_case_with(solver: CaseSolver, file: &str, case: &Case) -> CaseReport {
    with_solver(solver, || run_case(file, case))
}

/// Computes and compares one case.
pub fn run_case(file: &str, case: &Case) -> CaseReport {
    let mut report = CaseReport {
        file: file.to_string(),
        family: case.family.clone(),
        id: case.name(),
        pass: false,
        problem: None,
        quantities: Vec::new(),
        order: None,
    };
    let outcome = match families::family(&case.family) {
        Some(family) => unless_broken(|| evaluate(family, case, &mut report)),
        None => Err(CaseError::UnknownFamily {
            family: case.family.clone(),
            nearest: families::nearest(&case.family).to_string(),
        }),
    };
    match outcome {
        // A case that asks for nothing proves nothing.
        Ok(()) => {
            let order = report.order.as_ref();
            let falls = order.is_none_or(|study| study.pass || study.not_judged.is_some());
            let quantities = &report.quantities;
            report.pass = falls && !quantities.is_empty() && quantities.iter().all(|q| q.pass)
        }
        Err(error) => report.problem = Some(error.to_string()),
    }
    report
}

/// What a case comes to, where the engine breaks off as well: one case must not take the others with it. Its quantities are those found so far.
fn unless_broken(evaluate: impl FnOnce() -> Result<(), CaseError>) -> Result<(), CaseError> {
    // What a case has built is its own, and left behind with it; of what it writes to only whole values are kept.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(evaluate)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = words.unwrap_or("without a word").to_owned();
        Err(CaseError::BrokenOff { message })
    })
}

fn evaluate(family: &Family, case: &Case, report: &mut CaseReport) -> Result<(), CaseError> {
    let given = case.given_values();
    let input = CaseInput {
        params: Inputs::new(&case.params),
        given: Inputs::new(&given),
    };
    match family.evaluator {
        Evaluator::Step(compute) => {
            report.quantities = compare(case, &compute(&input)?, family.roundoff);
        }
        Evaluator::Motion {
            order,
            at_refinement,
            exact,
        } => {
            let study = OrderStudy::run(case, family.roundoff, order, |n| at_refinement(&input, n));
            match exact {
                // The exact motion decides on the values, the study on the order of the scheme.
                Some(exact) => {
                    report.quantities = compare(case, &exact(&input)?, family.roundoff);
                    let jumps = family.jumps_at_end.is_some_and(|jumps| jumps(&input));
                    report.order = study.ok().map(|(study, _)| study.beside_exact(jumps));
                }
                None => {
                    let (study, mut rows) = study?;
                    if study.pass {
                        for row in rows.iter_mut().filter(|row| !row.pass) {
                            row.pass = true;
                            row.note = Some("by the order of the scheme".into());
                        }
                    }
                    report.quantities = rows;
                    report.order = Some(study);
                }
            }
        }
    }
    if let Some(sweep) = family.sweep {
        report
            .quantities
            .extend(compare_sweep(case, &input, sweep)?);
    }
    Ok(())
}

/// The error of the plain algorithm at the finest tabulated step count, which may exceed the
/// tabulated one by a fifth.
fn compare_sweep(
    case: &Case,
    input: &CaseInput,
    sweep: families::SweepRun,
) -> Result<Option<Quantity>, CaseError> {
    let table = case.sweep.as_ref();
    let Some((&steps, &tabulated)) = table.and_then(|s| s.steps.last().zip(s.errors.last())) else {
        return Ok(None);
    };
    let mut error = 0.0f64;
    for (target, value) in sweep(input, steps)? {
        let target = match target {
            families::SweepTarget::Value(x) => x,
            families::SweepTarget::Expected(path) => lookup(&case.expected, &path)
                .and_then(serde_json::Value::as_f64)
                .ok_or(CaseError::MissingParameter { name: path })?,
        };
        let difference = (value - target).abs();
        error = if difference.is_nan() {
            f64::NAN
        } else {
            error.max(difference)
        };
    }
    Ok(Some(Quantity {
        name: format!("sweep.err at {steps} steps"),
        computed: Answer::Number(error).to_json(),
        expected: tabulated.into(),
        error: Some(error),
        tolerance: Some(1.2 * tabulated),
        pass: error <= 1.2 * tabulated,
        note: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_in_which_the_engine_breaks_off_is_a_failed_case() {
        for (broken, words) in [
            (unless_broken(|| panic!("index {}", 7)), "index 7"),
            (unless_broken(|| panic!("no room")), "no room"),
        ] {
            let problem = broken.unwrap_err().to_string();
            assert!(
                problem.contains("broke off") && problem.contains(words),
                "{problem}"
            );
        }
        assert!(unless_broken(|| Ok(())).is_ok());
    }
}
