//! Motion files judged by the scales of what moves: their own contact gap, the time at which they start, bodies of other sizes beside them.

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion, Verification};

fn judge(scene: &str, motion: &str) -> Verification {
    let scene = format!("title = \"scale\"\nuntil = 1.0\n{scene}");
    let scene = Scene::parse(SourceText::new("scale.toml", &scene))
        .unwrap_or_else(|e| panic!("{e}\n{scene}"));
    let motion = Motion::from_json(motion).unwrap_or_else(|e| panic!("{e}\n{motion}"));
    scene
        .verify(&motion, None)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn lines(report: &Verification) -> Vec<Line> {
    report.violations.iter().map(|v| v.line).collect()
}

/// A ball of 1 kg, a metre above the floor in the given unit of length, which rebounds from nothing in every step.
fn hovering(metre: f64, rule: &str, settings: &str) -> Verification {
    let (fall, height) = (0.01 * metre, metre);
    let scene = format!(
        "step = 1e-3\n{settings}\n[system]\ncoordinates = [\"y\"]\nkinetic_energy = \"y'^2/2\"\nforces = {{ y = {:?} }}\n\
         [[contacts]]\nname = \"floor\"\ngap = \"y\"\n[initial]\ny = {height:?}\n",
        -10.0 * metre
    );
    let node = |t: f64| {
        format!(
            r#"{{"t": {t}, "q": [{height}], "v_left": [{}], "v_right": [0], "atom": [{fall}]}}"#,
            -fall
        )
    };
    let motion = format!(
        r#"{{"discretisation": {rule}, "nodes": [{{"t": 0, "q": [{height}], "v_left": [0], "v_right": [0]}}, {}, {}]}}"#,
        node(0.001),
        node(0.002)
    );
    judge(&scene, &motion)
}

#[test]
fn a_file_does_not_choose_how_far_away_a_contact_acts() {
    for metre in [1.0, 1e-6, 1e6] {
        let gap = 10.0 * metre;
        for rule in [
            format!(r#"{{"end-of-step": {{"contact_gap": {gap}}}}}"#),
            format!(
                r#"{{"theta": {{"theta": 1.0, "opening": "mean-velocity", "contact_gap": {gap}}}}}"#
            ),
        ] {
            let report = hovering(metre, &rule, "");
            assert!(
                lines(&report).contains(&Line::ContactGap),
                "{metre} {rule}: {report:?}"
            );
        }
    }
    // What the scene grants its own runs, its files may have.
    let rule = r#"{"end-of-step": {"contact_gap": 1.0}}"#;
    let report = hovering(1.0, rule, "scheme = \"moreau\"\ncontact_gap = 1.0");
    assert!(!lines(&report).contains(&Line::ContactGap), "{report:?}");
}

/// Free fall from rest over a time of 0.3 s in the given unit of time, which begins `late` seconds after the start of the scene.
fn falling(second: f64, late: f64, axes: &[&str]) -> Verification {
    let g = 10.0 / (second * second);
    let squares: Vec<String> = axes.iter().map(|q| format!("{q}'^2")).collect();
    let last = axes[axes.len() - 1];
    let scene = format!(
        "[system]\ncoordinates = {axes:?}\nkinetic_energy = \"({})/2\"\nforces = {{ {last} = {:?} }}\n[initial]\n{last} = 1.0\n",
        squares.join(" + "),
        -g
    );
    let (h, start) = (0.3 * second, late * second);
    let zeros = "0, ".repeat(axes.len() - 1);
    let motion = format!(
        r#"{{"nodes": [{{"t": {start:?}, "q": [{zeros}1], "v_left": [{zeros}0], "v_right": [{zeros}0]}},
        {{"t": {:?}, "q": [{zeros}{:?}], "v_left": [{zeros}{:?}], "v_right": [{zeros}{:?}]}}]}}"#,
        start + h,
        1.0 - 0.5 * g * h * h,
        -g * h,
        -g * h
    );
    judge(&scene, &motion)
}

#[test]
fn a_motion_that_starts_late_is_refused_in_every_unit_of_time() {
    for axes in [&["y"][..], &["x", "y"], &["x", "y", "z"]] {
        // Microseconds, seconds, years.
        for second in [1e6, 1.0, 1.0 / 31_557_600.0] {
            let report = falling(second, 0.0, axes);
            assert!(report.accepted(), "{second}: {report:?}");
            for late in [1e-3, -1e-3, 0.6] {
                let report = falling(second, late, axes);
                assert_eq!(lines(&report), [Line::InitialCondition], "{second} {late}");
            }
        }
    }
}

#[test]
fn a_motion_under_a_controller_is_judged_as_a_run_only() {
    let scene = "[system]\ncoordinates = [\"x\"]\nkinetic_energy = \"x'^2/2\"\nforces = { x = \"u\" }\n\
                 [[controllers]]\nname = \"c\"\nperiod = 0.1\noutput = { u = \"1 + x\" }\n";
    let motion = r#"{"nodes": [{"t": 0, "q": [0], "v_left": [0], "v_right": [0]},
        {"t": 0.1, "q": [0.005], "v_left": [0.1], "v_right": [0.1]}]}"#;
    let report = judge(scene, motion);
    let reason = report.does_not_apply.as_deref().unwrap_or_default();
    assert!(reason.contains("controllers"), "{report:?}");
}

/// A bead of 0.1 g falls 20 µm under 10 m/s² beside a truck of 10 t at 30 m/s, which it never meets; `metre` and `kilogram` are the units.
/// The bead has its place, left and right velocity and impulse at 2 ms, and as many tangents as `axes` has beside the height.
fn beside_a_truck(axes: &[&str], (metre, kilogram): (f64, f64), bead: [f64; 4]) -> Verification {
    let (y, left, right, impulse) = (
        metre * bead[0],
        metre * bead[1],
        metre * bead[2],
        metre * kilogram * bead[3],
    );
    let n = 1 + axes.len();
    let mass = |i: usize| {
        if i == 0 {
            1e4 * kilogram
        } else {
            1e-4 * kilogram
        }
    };
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| if i == j { mass(i) } else { 0.0 }).collect())
        .collect();
    let names: Vec<&str> = std::iter::once("X").chain(axes.iter().copied()).collect();
    let last = axes[axes.len() - 1];
    let scene = format!(
        "[system]\ncoordinates = {names:?}\nmass_matrix = {rows:?}\nforces = {{ {last} = {:?} }}\n\
         [[contacts]]\nname = \"floor\"\ngap = \"{last}\"\n[initial]\n\"X'\" = {:?}\n{last} = {:?}\n",
        -1e-3 * metre * kilogram,
        30.0 * metre,
        2e-5 * metre
    );
    let zeros = "0, ".repeat(axes.len() - 1);
    let state = |q: f64, y: f64, left: f64, right: f64| {
        let v = 30.0 * metre;
        format!(
            r#""q": [{q:?}, {zeros}{y:?}], "v_left": [{v:?}, {zeros}{left:?}], "v_right": [{v:?}, {zeros}{right:?}]"#
        )
    };
    judge(
        &scene,
        &format!(
            r#"{{"nodes": [{{"t": 0, {}}}, {{"t": 0.002, {}, "smooth": [0], "atom": [{impulse:?}]}}]}}"#,
            state(0.0, 2e-5 * metre, 0.0, 0.0),
            state(0.06 * metre, y, left, right)
        ),
    )
}

#[test]
fn a_bead_beside_a_truck_is_judged_by_its_own_speed() {
    for axes in [&["y"][..], &["x", "y"], &["x", "y", "z"]] {
        for units in [(1.0, 1.0), (1e3, 1e3), (1e-3, 1e-6)] {
            let report = beside_a_truck(axes, units, [0.0, -0.02, 0.0, 2e-6]);
            assert!(report.accepted(), "{units:?}: {report:?}");
            // It hovers, falls too slowly, or rebounds without restitution.
            for (bead, line) in [
                ([2e-5, 0.0, 0.0, 0.0], Line::EquationOfMotion),
                ([2e-8, -0.01998, 0.0, 1.998e-6], Line::EquationOfMotion),
                ([0.0, -0.02, 0.02, 4e-6], Line::ImpactLaw),
                ([0.0, -0.02, 2e-5, 2.002e-6], Line::ImpactLaw),
            ] {
                let report = beside_a_truck(axes, units, bead);
                assert!(
                    lines(&report).contains(&line),
                    "{units:?} {bead:?}: {report:?}"
                );
            }
        }
    }
}

#[test]
fn a_bead_is_not_carried_above_the_floor_because_a_train_travels_far() {
    for metre in [1.0, 1e-3, 1e3] {
        let scene = format!(
            "[system]\ncoordinates = [\"X\", \"y\"]\nmass_matrix = [[1, 0], [0, 1]]\nforces = {{ y = {:?} }}\n\
             [[contacts]]\nname = \"floor\"\ngap = \"y\"\n[initial]\n\"X'\" = {:?}\ny = {:?}\n",
            -10.0 * metre,
            3e4 * metre,
            2e-5 * metre
        );
        let (v, y) = (3e4 * metre, 2e-5 * metre);
        let state = format!(r#""v_left": [{v:?}, 0], "v_right": [{v:?}, 0]"#);
        let report = judge(
            &scene,
            &format!(
                r#"{{"nodes": [{{"t": 0, "q": [0, {y:?}], {state}}}, {{"t": 1, "q": [{v:?}, {y:?}], {state}, "smooth": [{:?}]}}]}}"#,
                10.0 * metre
            ),
        );
        assert_eq!(lines(&report), [Line::Complementarity], "{metre}");
    }
}
