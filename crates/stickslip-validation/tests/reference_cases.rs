//! The reference cases, computed by the code of `stickslip validate` and compared.
//!
//! Source of the numbers: `crates/stickslip-validation/cases/README.md`. Tolerances are those of the files.

use std::path::Path;

use stickslip_validation::{
    CaseFile, CaseKind, CaseSolver, Report, family, run, run_case, run_case_with, run_family,
};

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

/// Cases in the files; one that is dropped by mistake must not go unseen.
const CASES: usize = 175;

#[test]
fn every_case_passes() {
    let (mut cases, mut quantities) = (0, 0);
    for file in CaseFile::embedded() {
        for case in file.cases() {
            assert!(
                family(&case.family).is_some(),
                "{} has no family",
                case.family
            );
            let report = run_case(&file.name, case);
            cases += 1;
            quantities += report.quantities.len();
            let found = failures(&Report::new(vec![report]));
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
    }
    assert_eq!(cases, CASES);
    assert!(quantities >= 1900, "only {quantities} quantities");
}

/// The same cases with their contact problems solved by the cascade for large problems.
#[test]
fn every_case_passes_through_the_cascade() {
    let mut found = Vec::new();
    for file in CaseFile::embedded() {
        for case in file.cases() {
            let report = run_case_with(CaseSolver::Cascade, &file.name, case);
            found.extend(failures(&Report::new(vec![report])));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Parameters that are no free numbers of their family: counts, steps and tolerances of a scheme, data that must fit others
/// (a configuration that touches, matrices of one system), and what only repeats other parameters.
const TIED: [&str; 35] = [
    "n",
    "nx",
    "ny",
    "N",
    "discrete_n",
    "slip_sign",
    "eps_u",
    "eps_g",
    "h",
    "theta",
    "bound",
    "q",
    "q0",
    "p0",
    "z0",
    "r0",
    "M",
    "C",
    "D",
    "K",
    "F",
    "W",
    "H",
    "rows",
    "dphi",
    "tangents",
    "masses",
    "friction",
    "contact_from_com",
    "u_minus",
    "E_minus",
    "defaults",
    "J_over_ml2",
    "I_over_mR2",
    "x0",
];

/// A dimension, the radius of a bowl on which the body starts, and sets that must hold 0.
const KEPT: [&str; 3] = ["dim", "R", "sets"];

/// A random generator of the tests.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Changes every number by up to a tenth; coefficients of restitution stay below one. Returns how many were changed.
    fn change(&mut self, key: &str, value: &mut serde_json::Value) -> usize {
        if TIED.contains(&key) {
            return 0;
        }
        match value {
            serde_json::Value::Array(list) => list.iter_mut().map(|x| self.change(key, x)).sum(),
            serde_json::Value::Object(map) => {
                let mut changed = 0;
                // A start that is given lies on the ground with the length that is given.
                let start = map.contains_key("z0");
                for (key, x) in map.iter_mut() {
                    let before = x.clone();
                    let count = self.change(key, x);
                    if KEPT.contains(&key.as_str()) || (start && key == "l") {
                        *x = before;
                    } else {
                        changed += count;
                    }
                }
                changed
            }
            serde_json::Value::Number(x) => {
                let x = x.as_f64().expect("a number");
                let drawn = x * (1.0 + 0.2 * (self.unit() - 0.5));
                *value = if key == "e" { drawn.min(1.0) } else { drawn }.into();
                1
            }
            _ => 0,
        }
    }
}

/// Every family computes every quantity of its cases for other parameters than those of the files, whatever regime they
/// lead to.
#[test]
fn parameters_drawn_within_the_families_are_all_computed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut draw = Draw(17);
    let (mut drawn, mut missing) = (0, Vec::new());
    for file in CaseFile::embedded() {
        let name = format!("{}.json", file.name.trim_end_matches(".json"));
        let text = std::fs::read_to_string(directory.join(&name)).expect("a case file");
        let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for case in file["cases"].as_array_mut().expect("a list") {
            drawn += draw.change("params", &mut case["params"]);
        }
        let parsed = CaseFile::parse(&name, &file.to_string()).expect("a case file");
        for case in parsed.cases() {
            let report = run_case(&name, case);
            let head = format!("{} {}", report.family, report.id);
            missing.extend(report.problem.iter().map(|p| format!("{head}: {p}")));
            for q in &report.quantities {
                if q.note.as_deref() == Some("not computed") {
                    missing.push(format!("{head}: {} is not computed", q.name));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} of {drawn} draws: {missing:#?}",
        missing.len()
    );
    assert!(drawn > 500, "only {drawn} numbers were drawn");
}

#[test]
fn starts_with_a_velocity_and_answers_without_end_are_computed() {
    let text = r#"{"name": "mine", "cases": [
        {"id": "rests after T", "family": "coulomb_oscillator", "params": {"m": 1.0, "k": 25.0, "mu": 0.1, "g": 9.81, "x0": 0.5,
         "v0": 0.0, "T": 1.0},
         "expected": {"n_half_cycles": 6, "t_rest": 3.7699111843077517, "x_rest": 0.02912, "dissipated": 3.11440032}},
        {"id": "thrown", "family": "ball", "kind": "motion", "params": {"h0": 0.0, "v0": 3.0, "e": 0.5, "g": 10.0, "T": 2.0},
         "expected": {"first_impacts": [0.6, 0.9, 1.05, 1.125, 1.1625, 1.18125, 1.190625, 1.1953125, 1.19765625, 1.198828125,
                      1.1994140625, 1.19970703125], "zeno_time": 1.2, "state_T": [0, 0]}},
        {"id": "elastic", "family": "ball", "kind": "motion", "params": {"h0": 1.25, "e": 1.0, "g": 10.0, "T": 0.75},
         "expected": {"zeno_time": "+inf", "state_T": [0.9375, 2.5]}},
        {"id": "bounces", "family": "pinned-bar", "params": {"J": 0.5, "l": 1.0, "angle_deg": 20, "mu": 0.1, "f_theta": -2.0,
         "thetadot0": 4.0, "e": 0.5, "T": 2.5},
         "expected": {"Pprime3": {"theta_T": 0.5, "thetadot_T": 0.0, "r_theta": 0.0, "zeno_time": 4.0}}},
        {"id": "leaves", "family": "pinned-bar", "params": {"J": 0.5, "l": 1.0, "angle_deg": 20, "mu": 0.1, "f_theta": 2.0,
         "thetadot0": -4.0, "e": 0.5, "T": 1.0},
         "expected": {"Pprime3": {"theta_T": 4.0, "thetadot_T": 6.0, "r_theta": 0.0, "zeno_time": "+inf"}}},
        {"id": "slides on", "family": "painleve-bar-motion", "params": {"m": 1.0, "J": 0.3333333333333333, "l": 1.0,
         "theta0": -0.7853981633974483, "mu": 0.5, "V0": 1.0, "f_x": 0.0, "f_theta": -2.0, "T": 0.25},
         "expected": {"Pprime3": {"x_T": 0.16161165235168157, "xdot_T": 0.29289321881345254}}}]}"#;
    let report = run(&[CaseFile::parse("mine.json", text).unwrap()]);
    assert_eq!(failures(&report), Vec::<String>::new());
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

/// An order that does not show fails its case; words without a number have none, and at an impact, where the velocity jumps, it means nothing.
#[test]
fn an_order_is_judged_or_said_to_mean_nothing() {
    let text = r#"{"name": "mine", "cases": [
        {"id": "ends at an impact", "family": "ball", "kind": "motion", "params": {"h0": 0.5, "v0": -2, "e": 0.3, "g": 5, "T": 0.2},
         "expected": {"state_T": [0.0, 0.9]}},
        {"id": "elastic", "family": "ball", "kind": "motion", "params": {"h0": 1, "v0": 0, "e": 1, "g": 10, "T": 7.3},
         "expected": {"zeno_time": "+inf", "state_T": [0.8954795439508725, -1.4458247200067333]}}]}"#;
    let report = run(&[CaseFile::parse("mine.json", text).unwrap()]);
    assert_eq!(failures(&report), Vec::<String>::new());
    let lines = [0, 1].map(|k| report.cases[k].order.as_ref().unwrap().summary());
    assert!(
        lines[0]
            .ends_with("not judged: the motion has an impact at its end, where velocities jump"),
        "{}",
        lines[0]
    );
    assert!(lines[1].ends_with("pass"), "{}", lines[1]);
    assert!(!report.table().contains("FAIL"));
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
