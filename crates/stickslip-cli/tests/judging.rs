//! What the command line says of results: certified or not, several motions, events, hypotheses, verdicts.

use crate::common::Folder;
use serde_json::Value;
use stickslip::quantity::digits;

fn events<'a>(summary: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = summary["events"].as_array().expect("a list of events");
    all.iter().filter(|e| e["kind"] == kind).collect()
}

/// What was asked of the solver does not move the limit of the certificate.
#[test]
fn a_loose_tolerance_is_told_and_not_certified() {
    let folder = Folder::new("loose");
    let loose = |output: &'static str| {
        let scene = ["run", "elastic-two-blocks", "--until", "0.01"];
        let how = ["--tolerance", "1e-2", "--no-plots", "--output", output];
        [&scene[..], &how[..]].concat()
    };
    let summary = folder.json(2, &loose("one"));
    let certificate = &summary["certificate"];
    assert_eq!(summary["certified"], false);
    assert_eq!(certificate["solved_to_tolerance"], true);
    assert_eq!(certificate["limit"], 1e-8);
    let reached = certificate["worst"].as_f64().expect("a number");
    assert!(reached > 1e-8 && reached < 0.1, "{reached}");
    // The words say the same, and the user may take it.
    let (out, _) = folder.expect(2, &loose("two"));
    let told = "Solved to the tolerance asked, not certified";
    assert!(out.contains(told), "{out}");
    assert!(
        out.contains(&format!("worst residual {}", digits(reached, 2))),
        "{reached:e}: {out}"
    );
    folder.expect(0, &[&loose("three")[..], &["--accept-tolerance"]].concat());
    // A tolerance that was asked and is tight enough is certified.
    let tight = ["run", "sliding-block", "--tolerance", "1e-12", "--no-plots"];
    let tight = [&tight[..], &["--output", "tight"]].concat();
    assert_eq!(folder.json(0, &tight)["certified"], true);
    // A run that stops is not saved by the option.
    let stop = [
        "run",
        "painleve-start",
        "--on-several",
        "stop",
        "--accept-tolerance",
        "--output",
        "stop",
    ];
    folder.expect(2, &stop);
}

#[test]
fn several_motions_dependent_rows_and_hypotheses_are_told() {
    let folder = Folder::new("several-told");
    let run = [
        "run",
        "v-groove-bar",
        "--law",
        "coulomb",
        "--until",
        "0.1",
        "--output",
        "groove",
    ];
    let summary = folder.json(0, &run);
    let several = summary["certificate"]["several_solutions"].as_u64();
    assert!(several > Some(0), "{}", summary["certificate"]);
    let theorems = summary["hypotheses"]["theorems"]
        .as_array()
        .expect("a list");
    assert!(theorems.len() >= 5);
    let found = folder.json(0, &["branches", "v-groove-bar", "--law", "coulomb"]);
    assert_eq!(found["verdict"], "indeterminate");
    assert_eq!(found["motions"], 2);
}

#[test]
fn events_of_runs_are_told_with_their_numbers() {
    let folder = Folder::new("told-events");
    let rod = folder.json(
        0,
        &["run", "painleve-rod", "--until", "0.02", "--output", "rod"],
    );
    let found = events(&rod, "tangential-impact");
    assert_eq!(found.len(), 1, "{}", rod["events"]);
    let impulse = found[0]["impulse"].as_f64().expect("newton seconds");
    assert!((impulse - 1.628).abs() < 5e-3, "{impulse}");
    let ball = folder.json(
        0,
        &[
            "run",
            "bouncing-ball",
            "--scheme",
            "event-driven",
            "--output",
            "ball",
        ],
    );
    let first = events(&ball, "impact")[0]["t"].as_f64().expect("a time");
    assert!((first - (0.8f64 / 9.81).sqrt()).abs() < 1e-9, "{first}");
    assert_eq!(events(&ball, "accumulation").len(), 1);
    let kane = folder.json(
        0,
        &[
            "run",
            "kane-pendulum",
            "--until",
            "0.05",
            "--output",
            "kane",
        ],
    );
    let gain = events(&kane, "energy-gain")[0]["energy"].as_f64();
    assert!(gain > Some(0.0), "{gain:?}");
    assert!(
        kane["warnings"].to_string().contains("gained energy"),
        "{}",
        kane["warnings"]
    );
}

#[test]
fn attainable_sets_at_gamma_zero_and_fans_of_neighbours_are_told() {
    let folder = Folder::new("gamma-zero");
    let degenerate = ["painleve-rod", "--set", "mu=4/3", "--set", "theta0=atan(2)"];
    let found = folder.json(0, &[&["study", "attainable"][..], &degenerate].concat());
    assert_eq!(found["expected"]["limit"], "segment", "{found}");
    let fan = [
        "study",
        "neighbours",
        "bouncing-ball",
        "--scheme",
        "event-driven",
        "--until",
        "0.5",
        "--nudge",
        "1e-6",
        "--runs",
        "6",
    ];
    let (out, _) = folder.expect(0, &fan);
    assert!(out.contains("shrink"), "{out}");
}

/// A scene with rigid contacts is made compliant by its study, and the order is that of the compliance time.
#[test]
fn the_limit_of_stiff_contacts_is_studied_for_rigid_scenes_too() {
    let folder = Folder::new("stiff");
    for scene in ["bar-impact", "bar-penalty"] {
        let study = [
            "study",
            "convergence",
            scene,
            "--compliance-times",
            "8e-3,4e-3,2e-3",
            "--until",
            "0.2",
        ];
        let found = folder.json(0, &study);
        let order = found["order"].as_f64().expect("an order");
        assert!((order - 1.0).abs() < 0.25, "{scene}: {found}");
    }
}
