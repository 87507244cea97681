//! Motion files whose nodes are right and whose intervals are not: forces, gaps, friction and slip are those of the whole way.

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion, Verification};

fn judge(scene: &str, motion: &str) -> Verification {
    let scene = format!("title = \"interval\"\nuntil = 1.0\n{scene}");
    let scene = Scene::parse(SourceText::new("interval.toml", &scene))
        .unwrap_or_else(|e| panic!("{e}\n{scene}"));
    let motion = Motion::from_json(motion).unwrap_or_else(|e| panic!("{e}\n{motion}"));
    scene
        .verify(&motion, None)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn lines(report: &Verification) -> Vec<Line> {
    report.violations.iter().map(|v| v.line).collect()
}

/// A particle of 1 kg along x from rest, in one interval of a second, which ends with this velocity.
fn pushed(force: &str, potential: bool, end: f64) -> Verification {
    let push = if potential {
        format!("potential = \"-({force})\"")
    } else {
        format!("forces = {{ x = \"{force}\" }}")
    };
    let scene = format!("[system]\ncoordinates = [\"x\"]\nkinetic_energy = \"x'^2/2\"\n{push}\n");
    judge(
        &scene,
        &format!(
            r#"{{"nodes": [{{"t": 0, "q": [0], "v_left": [0], "v_right": [0]}},
            {{"t": 1, "q": [{}], "v_left": [{end}], "v_right": [{end}]}}]}}"#,
            0.5 * end
        ),
    )
}

#[test]
fn forces_that_jump_give_what_they_give_in_all() {
    for (force, gives) in [
        ("if(t<0.3,10,0)", 3.0),
        ("1000*if(abs(t-0.17)<0.01,1,0)", 20.0),
        ("if(t>0.17 and t<0.17001,1e6,0)", 10.0),
        ("5+5*sign(0.3-t)", 3.0),
        ("abs(t-0.3)", 0.29),
        ("max(0,1e4*(1e-3-abs(t-0.61)))", 0.01),
        (
            "10*exp(-((t-0.37)/0.01)^2)",
            0.1 * std::f64::consts::PI.sqrt(),
        ),
    ] {
        let report = pushed(force, false, gives);
        assert!(report.accepted(), "{force}: {report:?}");
        for wrong in [0.0, 0.999 * gives, 1.001 * gives, 7.0 / 6.0 * gives] {
            let report = pushed(force, false, wrong);
            assert!(
                lines(&report).contains(&Line::EquationOfMotion),
                "{force} {wrong}"
            );
        }
    }
}

#[test]
fn forces_that_jump_in_place_give_what_they_give_in_all() {
    // x = v²t²/2 passes 0.5 at t = 1/√v: 4 N act for that long, of the 1 s; v = 4/√v.
    let end = 16f64.cbrt();
    let force = "if(x<0.5,4,0)";
    assert!(pushed(force, false, end).accepted());
    assert!(!pushed(force, false, 1.001 * end).accepted());
    assert!(pushed("4*min(x,0.5)", true, end).accepted());
    assert!(!pushed("4*min(x,0.5)", true, 1.001 * end).accepted());
}

/// A particle of 1 kg that glides along the first axis with 1 m/s over a floor and is carried all the way by 10 N.
fn carried(axes: &[&str], metre: f64, floor: &str) -> Verification {
    let squares: Vec<String> = axes.iter().map(|q| format!("{q}'^2")).collect();
    let last = axes[axes.len() - 1];
    let scene = format!(
        "[system]\ncoordinates = {axes:?}\nkinetic_energy = \"({})/2\"\nforces = {{ {last} = {:?} }}\n\
         [[contacts]]\nname = \"floor\"\ngap = \"{last} + {floor}\"\n[initial]\n\"x'\" = {metre:?}\n",
        squares.join(" + "),
        -10.0 * metre
    );
    let rest = ", 0".repeat(axes.len() - 1);
    let v = format!("\"v_left\": [{metre:?}{rest}], \"v_right\": [{metre:?}{rest}]");
    let motion = format!(
        r#"{{"nodes": [{{"t": 0, "q": [0{rest}], {v}}}, {{"t": 1, "q": [{metre:?}{rest}], {v}, "smooth": [{:?}]}}]}}"#,
        10.0 * metre
    );
    judge(&scene, &motion)
}

#[test]
fn a_reaction_of_an_interval_needs_contact_all_the_way() {
    for axes in [&["x", "y"][..], &["x", "y", "z"]] {
        for metre in [1.0, 1e-3, 1e3] {
            // A floor at rest, one that moves by rounding alone, and one that does so in place.
            for floor in [
                "0".to_string(),
                format!("{metre:?}*(sin(t)^2+cos(t)^2-1)"),
                format!("{metre:?}*(sin(x/{metre:?})^2+cos(x/{metre:?})^2-1)"),
            ] {
                let report = carried(axes, metre, &floor);
                assert!(report.accepted(), "{metre} {floor}: {report:?}");
            }
            for floor in [
                // Dips in place, in time, and one that is narrow.
                format!("{:?}*sin(2*pi*x/{metre:?})^2", 0.1 * metre),
                format!("{:?}*sin(2*pi*t)^2", 0.1 * metre),
                format!("{:?}*sin(20*pi*t)^2", 1e-4 * metre),
                format!("{:?}*max(0,0.02-abs(t-0.37))", metre),
            ] {
                let report = carried(axes, metre, &floor);
                assert_eq!(lines(&report), [Line::Complementarity], "{metre} {floor}");
            }
        }
    }
}

/// A particle of 1 kg that moves with 1 m/s along the first axis on a floor that presses 10 N, in even intervals; on each the friction impulse is
/// `friction` of its ends, times `part`.
fn slides(
    axes: &[&str],
    contact: &str,
    push: &str,
    friction: &dyn Fn(f64, f64) -> f64,
    parts: usize,
    part: f64,
) -> Verification {
    let squares: Vec<String> = axes.iter().map(|q| format!("{q}'^2")).collect();
    let last = axes[axes.len() - 1];
    let scene = format!(
        "[system]\ncoordinates = {axes:?}\nkinetic_energy = \"({})/2\"\nforces = {{ x = \"{push}\", {last} = -10 }}\n\
         [[contacts]]\nname = \"floor\"\ngap = \"{last}\"\n{contact}\n[initial]\n\"x'\" = 1\n",
        squares.join(" + ")
    );
    let rest = ", 0".repeat(axes.len() - 1);
    let across = ", 0".repeat(axes.len() - 2);
    let mut nodes = Vec::new();
    let (mut x, mut v) = (0.0, 1.0);
    nodes.push(format!(
        r#"{{"t": 0, "q": [0{rest}], "v_left": [1{rest}], "v_right": [1{rest}]}}"#
    ));
    for k in 0..parts {
        let (a, b) = (k as f64 / parts as f64, (k + 1) as f64 / parts as f64);
        let (exact, h) = (friction(a, b), b - a);
        let p = part * exact;
        // What is too much or too little of friction, the balance takes up.
        let end = v + p - exact;
        x += 0.5 * h * (v + end);
        v = end;
        nodes.push(format!(
            r#"{{"t": {b:?}, "q": [{x:?}{rest}], "v_left": [{v:?}{rest}], "v_right": [{v:?}{rest}], "smooth": [{:?}, {p:?}{across}]}}"#,
            10.0 * h
        ));
    }
    judge(&scene, &format!(r#"{{"nodes": [{}]}}"#, nodes.join(", ")))
}

/// Accepted as it is, and refused a thousandth off.
fn judged_to_a_thousandth(
    axes: &[&str],
    contact: &str,
    push: &str,
    friction: &dyn Fn(f64, f64) -> f64,
    parts: usize,
) {
    let report = slides(axes, contact, push, friction, parts, 1.0);
    assert!(report.accepted(), "{contact} {parts}: {report:?}");
    for part in [0.999, 1.001] {
        let report = slides(axes, contact, push, friction, parts, part);
        let found = lines(&report);
        assert!(
            found.contains(&Line::FrictionLaw) || found.contains(&Line::FrictionCone),
            "{contact} {parts} {part}: {report:?}"
        );
    }
}

#[test]
fn friction_that_changes_on_the_way_is_that_of_the_whole_way() {
    // ∫ (0.2 + 0.3 s²) 10 ds.
    let varying = |a: f64, b: f64| -(2.0 * (b - a) + (b.powi(3) - a.powi(3)));
    for axes in [&["x", "y"][..], &["x", "y", "z"]] {
        let point = format!("point = {axes:?}\n");
        for (coefficient, push) in [
            ("0.2+0.3*t^2", "10*(0.2+0.3*t^2)"),
            ("0.2+0.3*x^2", "10*(0.2+0.3*t^2)"),
        ] {
            let contact = format!("{point}friction = \"{coefficient}\"");
            for parts in [1, 10] {
                judged_to_a_thousandth(axes, &contact, push, &varying, parts);
            }
        }
        // A patch of ice in the middle of the way.
        let contact = format!("{point}friction = \"if(abs(x-0.4)<0.1,0,0.5)\"");
        judged_to_a_thousandth(axes, &contact, "if(abs(t-0.4)<0.1,0,5)", &|_, _| -4.0, 1);
    }
}

#[test]
fn friction_of_a_belt_that_overtakes_is_that_of_both_senses() {
    // The slip 8 (t - 1/2)² - 1 is negative for 1/√2 of the second, in which the belt drives.
    let driven = 5.0 * (2f64.sqrt() - 1.0);
    for axes in [&["x", "y"][..], &["x", "y", "z"]] {
        let across = if axes.len() == 3 { ", \"y'\"" } else { "" };
        let contact = format!("slip = [\"x'-(2-8*(t-0.5)^2)\"{across}]\nfriction = 0.5");
        let push = "if(abs(t-0.5)<sqrt(1/8),-5,5)";
        judged_to_a_thousandth(axes, &contact, push, &|_, _| driven, 1);
        // A steady push with the same impulse is met by friction at no time.
        let steady = format!("{:?}", -driven);
        let report = slides(axes, &contact, &steady, &|_, _| driven, 1, 1.0);
        assert!(lines(&report).contains(&Line::FrictionLaw), "{report:?}");
        // Friction that drives all the way is none of this belt.
        let report = slides(axes, &contact, "-5", &|_, _| 5.0, 1, 1.0);
        assert!(lines(&report).contains(&Line::FrictionLaw), "{report:?}");
    }
}

#[test]
fn friction_follows_the_weight_that_changes_on_the_way() {
    // The floor presses (20 t) N: ∫ (0.2 + 0.3 t²) 20 t dt = 3.5.
    let scene = "[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2+y'^2)/2\"\n\
                 forces = { x = \"20*t*(0.2+0.3*t^2)\", y = \"-20*t\" }\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\n\
                 point = [\"x\", \"y\"]\nfriction = \"0.2+0.3*t^2\"\n[initial]\n\"x'\" = 1\n";
    let motion = |p: f64| {
        let end = 1.0 + 3.5 + p;
        format!(
            r#"{{"nodes": [{{"t": 0, "q": [0, 0], "v_left": [1, 0], "v_right": [1, 0]}},
            {{"t": 1, "q": [{}, 0], "v_left": [{end}, 0], "v_right": [{end}, 0], "smooth": [10, {p}]}}]}}"#,
            0.5 * (1.0 + end)
        )
    };
    let report = judge(scene, &motion(-3.5));
    assert!(report.accepted(), "{report:?}");
    assert!(!judge(scene, &motion(-3.0)).accepted());
    assert!(!judge(scene, &motion(-3.4965)).accepted());
}

#[test]
fn a_slider_does_not_turn_round_because_its_friction_cancels() {
    // Under 2 N it goes from 1 to -1 m/s in a second, as if there were no friction: against both senses it would give nothing in all.
    for (scene, rest) in [
        (
            "coordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2+y'^2)/2\"\nforces = { x = -2, y = -10 }\n\
          [[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]",
            ", 0",
        ),
        (
            "coordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2+y'^2+z'^2)/2\"\nforces = { x = -2, z = -10 }\n\
          [[contacts]]\nname = \"floor\"\ngap = \"z\"\npoint = [\"x\", \"y\", \"z\"]",
            ", 0, 0",
        ),
    ] {
        let scene = format!("[system]\n{scene}\nfriction = 0.5\n[initial]\n\"x'\" = 1\n");
        let state =
            |v: i32| format!(r#""q": [0{rest}], "v_left": [{v}{rest}], "v_right": [{v}{rest}]"#);
        let motion = format!(
            r#"{{"nodes": [{{"t": 0, {}}}, {{"t": 1, {}, "smooth": [10{rest}]}}]}}"#,
            state(1),
            state(-1)
        );
        let report = judge(&scene, &motion);
        assert_eq!(lines(&report), [Line::FrictionLaw], "{report:?}");
    }
}

/// A particle of 1 kg on the unit circle, held there by `holder`, that is driven along it: its angle is t + t^2. Exact nodes every `h`, with the
/// reaction that bends its way, `factor` times.
fn on_a_circle(holder: &str, h: f64, factor: f64) -> String {
    let is_contact = holder.contains("[[contacts]]");
    let mut nodes = Vec::new();
    let count = (0.9 / h).round() as usize;
    for k in 0..=count {
        let t = k as f64 * h;
        let (angle, rate) = (t + t * t, 1.0 + 2.0 * t);
        let (x, y) = (angle.cos(), angle.sin());
        let v = format!("[{:?}, {:?}]", -rate * y, rate * x);
        // The integral of the square of the rate.
        let bent = |t: f64| (1.0 + 2.0 * t).powi(3) / 6.0;
        let smooth = match k {
            0 => 0.0,
            _ => factor * (bent(t) - bent(t - h)),
        };
        let smooth = if is_contact {
            format!(", \"smooth\": [{smooth:?}], \"atom\": [0]")
        } else {
            String::new()
        };
        nodes.push(format!(
            "{{\"t\": {t:?}, \"q\": [{x:?}, {y:?}], \"v_left\": {v}, \"v_right\": {v}{smooth}}}"
        ));
    }
    format!(
        "{{\"quadrature\": \"free\", \"nodes\": [{}]}}",
        nodes.join(",")
    )
}

#[test]
fn exact_motions_on_curved_ways_are_accepted_where_their_path_is_free() {
    let system = "[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n\
        forces = { x = \"-2*y\", y = \"2*x\" }\n[initial]\nx = 1\n\"y'\" = 1\n";
    let joint = format!("{system}[[joints]]\nequation = \"x^2 + y^2 - 1\"\n");
    let bowl = format!("{system}[[contacts]]\nname = \"bowl\"\ngap = \"(1 - x^2 - y^2)/2\"\n");
    for holder in [&joint, &bowl] {
        for h in [0.1, 0.01, 0.003] {
            let report = judge(holder, &on_a_circle(holder, h, 1.0));
            assert!(report.accepted(), "{h}: {:?}", report.violations);
        }
    }
    // A reaction that is not that of the way, and a drive that is another.
    let h = 0.01;
    for factor in [0.9, 1.1] {
        let report = judge(&bowl, &on_a_circle(&bowl, h, factor));
        assert!(lines(&report).contains(&Line::EquationOfMotion), "{factor}");
    }
    for holder in [&joint, &bowl] {
        let other = holder.replace("-2*y", "-2.2*y").replace("2*x", "2.2*x");
        let report = judge(&other, &on_a_circle(holder, h, 1.0));
        assert!(lines(&report).contains(&Line::EquationOfMotion), "{holder}");
    }
}
