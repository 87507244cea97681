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

    /// Changes every number as `change` says; returns how many were changed.
    fn draw(&mut self, change: Change, key: &str, value: &mut serde_json::Value) -> usize {
        if TIED.contains(&key) {
            return 0;
        }
        match value {
            serde_json::Value::Array(list) => {
                list.iter_mut().map(|x| self.draw(change, key, x)).sum()
            }
            serde_json::Value::Object(map) => {
                let mut changed = 0;
                // A start that is given lies on the ground with the length that is given.
                let start = map.contains_key("z0");
                for (key, x) in map.iter_mut() {
                    let before = x.clone();
                    let count = self.draw(change, key, x);
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
                let drawn = x * change.factor(key, self);
                let drawn = match range(key) {
                    Some(largest) if x.abs() <= largest => drawn.clamp(-largest, largest),
                    _ => drawn,
                };
                *value = drawn.into();
                usize::from(drawn != x)
            }
            _ => 0,
        }
    }
}

/// What is changed of the parameters of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// All of them, by factors of 1/4 to 4.
    All,
    /// The senses of velocities, rates and forces.
    Senses,
    /// The end time alone, from a thirtieth to four times.
    End,
    /// The coefficients of friction alone, by factors of 1/5 to 4.
    Friction,
    /// All of them, by up to a tenth.
    Little,
}

impl Change {
    fn factor(self, key: &str, draw: &mut Draw) -> f64 {
        let within = |low: f64, high: f64, draw: &mut Draw| low * (high / low).powf(draw.unit());
        match self {
            Self::All => within(0.25, 4.0, draw),
            Self::Senses if key.starts_with(['v', 'w', 'f', 'V']) || key.contains("dot") => {
                [-1.0, 1.0][usize::from(draw.unit() >= 0.5)]
            }
            Self::End if key == "T" => within(1.0 / 30.0, 4.0, draw),
            Self::Friction if key.starts_with("mu") => within(0.2, 4.0, draw),
            Self::Little => within(0.9, 1.1, draw),
            _ => 1.0,
        }
    }
}

/// The largest size of a parameter in its family: coefficients of restitution, slopes that carry, angles of a bar above its axis, friction that
/// stays positive.
fn range(key: &str) -> Option<f64> {
    match key {
        "e" => Some(1.0),
        "eps" => Some(0.95),
        "mu" => Some(5.0),
        "theta" | "theta0" => Some(1.5),
        _ if key.ends_with("_deg") => Some(85.0),
        _ => None,
    }
}

/// What says that drawn numbers are not those of the family: a start inside an obstacle, and the like.
fn is_outside(problem: &str) -> bool {
    let words = [
        "is violated at the start",
        "the history violates",
        "is shorter than the step",
        ", expected ",
    ];
    words.iter().any(|word| problem.contains(word))
}

/// Every family computes every quantity of its cases for other parameters than those of the files, whatever regime they
/// lead to: ends long before and after what happens, starts that move away, little and much friction.
#[test]
fn parameters_drawn_within_the_families_are_all_computed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut draw = Draw(17);
    let (mut drawn, mut outside, mut missing) = (0, 0, Vec::new());
    for file in CaseFile::embedded() {
        let name = format!("{}.json", file.name.trim_end_matches(".json"));
        let text = std::fs::read_to_string(directory.join(&name)).expect("a case file");
        let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for case in file["cases"].as_array().expect("a list") {
            for change in [Change::All, Change::Senses, Change::End, Change::Friction] {
                // Drawn again where it is none of the family, in the end near the case itself.
                for change in [change, change, change, change, Change::Little] {
                    let mut other = file.clone();
                    other["cases"] = serde_json::json!([case]);
                    let params = &mut other["cases"][0]["params"];
                    let count = draw.draw(change, "params", params);
                    if count == 0 {
                        break;
                    }
                    let params = params.clone();
                    let parsed = CaseFile::parse(&name, &other.to_string()).expect("a case file");
                    let report = run_case(&name, parsed.cases().next().expect("a case"));
                    if report.problem.as_deref().is_some_and(is_outside) {
                        outside += 1;
                        continue;
                    }
                    drawn += count;
                    let head = format!("{} {} {change:?} {params}", report.family, report.id);
                    missing.extend(report.problem.iter().map(|p| format!("{head}: {p}")));
                    for q in &report.quantities {
                        if q.computed.is_null() && !q.pass || q.computed == "nan" {
                            missing.push(format!("{head}: {} is {}", q.name, q.computed));
                        }
                    }
                    break;
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} of {drawn} draws: {missing:#?}",
        missing.len()
    );
    assert!(drawn > 1300, "only {drawn} numbers were drawn");
    assert!(outside < 100, "{outside} draws were outside their families");
}

/// What happens behind the end time of a case is computed, and what never happens is said to be infinite or none. By hand.
#[test]
fn what_happens_late_or_never_is_an_answer() {
    let text = r#"{"name": "mine", "cases": [
        {"id": "stops after T", "family": "slope_1d", "kind": "motion", "params": {"beta_deg": 20, "mu": 0.5, "g": 10, "v0": 3, "T": 0.5},
         "expected": {"t_stop": T_STOP, "x_stop": X_STOP, "rests": true, "x_T": X_T}},
        {"id": "never stops", "family": "slope_1d", "kind": "motion", "params": {"beta_deg": 30, "mu": 0.3, "g": 10, "v0": 3, "T": 0.5},
         "expected": {"t_stop": "+inf", "x_stop": "+inf", "accelerates": true, "rests": false, "t_turn": "+inf", "x_turn": "none"}},
        {"id": "turns after T", "family": "slope_1d", "kind": "motion", "params": {"beta_deg": 30, "mu": 0, "g": 10, "v0": -3, "T": 0.1},
         "expected": {"t_turn": 0.6, "x_turn": -0.9, "rests": false, "t_stop": "+inf", "x_stop": "+inf", "x_T": -0.275}},
        {"id": "across, too steep", "family": "slope_3d_oblique", "kind": "motion",
         "params": {"beta_deg": 45, "mu": 0.5, "g": 10, "v0": 2, "psi0_deg": 0, "T": 1, "critical": false}, "given": ["at.t"],
         "expected": {"at": {"t": 1, "x": 3.7677669529663684, "y": 0}, "t_stop": "+inf", "x_stop": "+inf", "y_stop": "none",
                      "terminal_speed": "+inf"}},
        {"id": "moves away", "family": "pendulum-at-wall",
         "params": {"m": 2.0, "l": 0.7, "theta": -0.6108652381980153, "thetadot": 1.0, "mu": 0.8, "e": 0.0},
         "expected": {"thetadot_plus_generalized": 1.0, "wall_impulse_frictionless": 0.0, "rod_impulse": 0.0}},
        {"id": "separates", "family": "bar-impact-limit",
         "params": {"m": 1.0, "J": 0.08333333333333333, "l": 0.5, "g": 9.81, "mu": 0.5, "theta": 1.0, "v_minus": [1, 2, 0]},
         "expected": {"S": "none", "S_from_jumps": "none", "impulse_N": 0.0, "v_plus": [1, 2, 0]}},
        {"id": "wedges not", "family": "pinned-bar", "params": {"J": 0.5, "l": 1.0, "angle_deg": 20, "mu": 0.1, "f_theta": 2.0,
         "thetadot0": 0.0, "e": 0.0, "T": 1.0}, "expected": {"P6_family": {"r_n": "none", "r_t": "none", "check_r_theta": "none"}}},
        {"id": "stops after T", "family": "painleve-bar-motion", "params": {"m": 1.0, "J": 0.3333333333333333, "l": 1.0,
         "theta0": -0.7853981633974483, "mu": 0.5, "V0": 1.0, "f_x": 0.0, "f_theta": -2.0, "T": 0.01},
         "expected": {"Pprime3": {"stop_time": 0.35355339059327384, "x_stop": 0.17677669529663692, "then": "stick"}}},
        {"id": "comes down after T", "family": "max_functional_force", "kind": "motion",
         "params": {"A": 0, "ell": 0.5, "delta": 0.1, "y0": 0.6, "v0": 2.0, "g": 10}, "given": ["y_at.t"],
         "expected": {"t_apex": 0.2, "y_apex": 0.8, "t_impact": 0.6, "v_impact": -4, "y_at": {"t": 0.01, "y": 0.6195}}},
        {"id": "friction ends", "family": "mu_linear_in_x", "params": {"mu0": 0.2, "a": -0.2, "g": 10, "v0": 2, "T": 1},
         "expected": {"t_stop": 1}}]}"#
        .replace("T_STOP", "2.3469373046450266")
        .replace("X_STOP", "3.5204059569675397")
        .replace("X_T", "1.3402172911658932");
    let report = run(&[CaseFile::parse("mine.json", &text).unwrap()]);
    let (last, others) = report.cases.split_last().expect("cases");
    assert_eq!(
        failures(&Report::new(others.to_vec())),
        Vec::<String>::new()
    );
    let problem = last.problem.as_deref().unwrap_or_default();
    // mu = 0 at x = 1, where v² = 4 − 2 g (0.2 − 0.1) = 2.
    assert!(
        problem.contains("`mu` is below zero beyond x = 1.0"),
        "{problem}"
    );
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

/// A case that is refused says so by its name, and the others of its file are judged.
#[test]
fn a_case_with_negative_friction_is_refused_and_the_others_are_judged() {
    let case = |id: &str, mu0: f64| {
        format!(
            r#"{{"id": "{id}", "family": "mu_linear_in_x", "kind": "motion", "given": [],
                "params": {{"mu0": {mu0}, "a": 0.0, "g": 10.0, "v0": 3.0, "T": 2.0}},
                "expected": {{"t_stop": 0.6, "x_stop": 0.9}}, "tol": {{"default": 1e-8, "keys": {{}}, "skip": [], "roundoff": []}}}}"#
        )
    };
    let cases = [case("bad", -0.5), case("good", 0.5)].join(", ");
    let text = format!(r#"{{"name": "slide", "cases": [{cases}]}}"#);
    let file = CaseFile::parse("slide.json", &text).unwrap_or_else(|e| panic!("{e}"));
    let report = run(&[file]);
    let problem = report.cases[0].problem.as_deref().unwrap_or_default();
    assert!(problem.contains("friction coefficient -0.5"), "{problem}");
    let good = Report::new(vec![report.cases[1].clone()]);
    assert!(good.all_passed(), "{:?}", failures(&good));
}
