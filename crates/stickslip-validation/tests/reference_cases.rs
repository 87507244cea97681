//! The reference cases, computed by the code of `stickslip validate` and compared.
//!
//! Source of the numbers: `crates/stickslip-validation/cases/README.md`. Tolerances are those of the files.

use std::path::Path;

use stickslip_validation::{CaseFile, CaseKind, Report, family, run, run_case, run_family};

/// Families of which the engine computes only a part: the energetic law comes with the penalty method.
const PARTIAL: [&str; 1] = ["kane-pendulum"];

fn failures(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for case in report.cases.iter().filter(|case| !case.pass) {
        let head = format!("{} {}", case.family, case.id);
        found.extend(
            case.problem
                .iter()
                .map(|problem| format!("{head}: {problem}")),
        );
        for q in case.quantities.iter().filter(|q| !q.pass) {
            found.push(format!(
                "{head} {}: {} instead of {} ({:?})",
                q.name, q.computed, q.expected, q.note
            ));
        }
    }
    found
}

#[test]
fn every_case_of_a_supported_family_passes() {
    let (mut cases, mut quantities) = (0, 0);
    for file in CaseFile::embedded() {
        for case in file.cases() {
            if family(&case.family).is_none() || PARTIAL.contains(&case.family.as_str()) {
                continue;
            }
            let report = run_case(&file.name, case);
            cases += 1;
            quantities += report.quantities.len();
            let found = failures(&Report::new(vec![report]));
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
    }
    assert!(cases >= 100, "only {cases} cases");
    assert!(quantities >= 1900, "only {quantities} quantities");
}

#[test]
fn partly_supported_families_fail_only_where_nothing_is_computed() {
    let files = CaseFile::embedded();
    for name in PARTIAL {
        let report = run_family(&files, Some(name));
        assert!(!report.cases.is_empty(), "{name}");
        for case in &report.cases {
            for q in case.quantities.iter().filter(|q| !q.pass) {
                assert!(
                    q.name.starts_with("darboux_keller_energetic"),
                    "{name} {}: {}",
                    case.id,
                    q.name
                );
            }
        }
    }
}

#[test]
fn a_wrong_expected_value_fails() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    for (name, leaf) in [
        ("impact_laws.json", "/expected/newton/v_plus/0"),
        ("rod3.json", "/expected/S_of_v_minus_eps/S/1"),
        (
            "energy-moreau-jean.json",
            "/expected/standard/samples/0/q/0",
        ),
        ("energy-moreau-jean.json", "/expected/turning_points/1"),
        ("frictionless.json", "/expected/qdot_plus/0"),
        ("frictionless.json", "/expected/state_T/1"),
    ] {
        let text = std::fs::read_to_string(directory.join(name)).unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let cases = file["cases"].as_array_mut().unwrap();
        cases.retain(|case| case.pointer(leaf).is_some());
        cases.truncate(1);
        let clean = file.to_string();
        let target = file["cases"][0].pointer_mut(leaf).unwrap();
        *target = (target.as_f64().unwrap() + 0.01).into();
        let report = |text: &str| run(&[CaseFile::parse(name, text).unwrap()]);
        assert_eq!(report(&clean).failed, 0, "{name}");
        let spoiled = report(&file.to_string());
        assert_eq!(
            (spoiled.passed, spoiled.failed),
            (0, 1),
            "{name} {leaf}\n{}",
            spoiled.table()
        );
    }
}

#[test]
fn what_cannot_be_computed_is_reported_and_fails() {
    let text = r#"{"name": "impact-laws", "cases": [
        {"id": "a", "params": {"M": [[1]], "D": [[1]], "v_minus": [-1]}, "expected": {"u_minus": [-1]}},
        {"id": "b", "family": "impact-lows", "params": {}, "expected": {"x": 1}},
        {"id": "c", "params": {"M": [[-1]], "D": [[1]], "v_minus": [-1], "e": [0]}, "expected": {"u_minus": [-1]}},
        {"id": "d", "params": {"M": [[1]], "D": [[1]], "v_minus": [-1], "e": [0]}, "expected": {"weight": 1}},
        {"id": "e", "params": {"M": [[1]], "D": [[1]], "v_minus": [-1], "e": [0]}, "expected": {}}]}"#;
    let report = run(&[CaseFile::parse("mine.json", text).unwrap()]);
    assert_eq!((report.passed, report.failed), (0, 5));
    let problem = |i: usize| report.cases[i].problem.clone().unwrap_or_default();
    assert_eq!(problem(0), "parameter `e` is missing");
    assert!(problem(1).contains("impact-lows") && problem(1).contains("impact-laws"));
    assert!(problem(2).contains("positive definite"), "{}", problem(2));
    assert_eq!(
        report.cases[3].quantities[0].note.as_deref(),
        Some("not computed")
    );
}

#[test]
fn motions_show_their_errors_at_three_steps() {
    for file in CaseFile::embedded() {
        for case in file.cases() {
            if family(&case.family).is_none() || case.kind != CaseKind::Motion {
                continue;
            }
            // one per family is enough here
            if !["geodesic", "coulomb_oscillator"].contains(&case.family.as_str()) {
                continue;
            }
            let order = run_case(&file.name, case).order.expect("an order study");
            assert_eq!(order.errors.len(), 3);
            assert!(order.pass, "{} {}", case.family, order.summary());
        }
    }
}

#[test]
fn the_report_has_the_documented_form() {
    let report = run_family(&CaseFile::embedded(), Some("theta_bound_violation"));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["passed"], 1);
    assert_eq!(json["failed"], 0);
    let case = &json["cases"][0];
    assert_eq!(case["family"], "theta_bound_violation");
    for key in ["file", "id", "pass", "quantities"] {
        assert!(case.get(key).is_some(), "{key}");
    }
    for key in ["name", "computed", "expected", "error", "tolerance", "pass"] {
        assert!(case["quantities"][0].get(key).is_some(), "{key}");
    }
}
