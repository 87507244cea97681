//! Bodies that land on bodies come to rest after their bounces, whatever else is brought back to its obstacle meanwhile, and
//! their runs are certified and accepted.

use std::ops::ControlFlow;

use stickslip::records::StepRecord;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::Motion;
use stickslip::simulation::{RunEnd, RunSummary};

const SCHEMES: [&str; 3] = ["moreau-jean", "moreau", "sweeping-process"];

/// Lengths, times and masses of a second, a metre and a kilogram: SI, millimetres and grams, hours.
const UNITS: [[f64; 3]; 3] = [[1.0, 1.0, 1.0], [1e3, 1.0, 1e3], [1.0, 1.0 / 3600.0, 1.0]];

/// Runs a scene; its summary, its last record and what `verify` says against it.
fn judged(text: &str) -> (RunSummary, StepRecord, Vec<String>) {
    let scene = Scene::parse(SourceText::new("tower.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut motion = Motion::of_run(scene.discretisation().expect("steps"))
        .with_correction(sim.position_correction());
    motion.push(sim.record());
    let end = sim.run_until(scene.settings.until, |record| {
        motion.push(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    let facts = scene.facts(sim.system());
    let summary = RunSummary::new(&sim, (scene.run_settings("t"), &facts), end, 0.0);
    let report = scene.verify(&motion, None).expect("a formulation");
    let violations = report.violations.iter().map(|v| format!("{v:?}"));
    (summary, sim.record().clone(), violations.collect())
}

fn assert_accepted(name: &str, summary: &RunSummary, violations: &[String]) {
    assert!(summary.certified, "{name}: {:?}", summary.warnings);
    assert!(violations.is_empty(), "{name}: {violations:?}");
}

/// Where a ball of 0.5 kg falls 5 cm onto one of 1 kg that rests.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// On a line.
    Line,
    /// Along the normal of a slope in the plane, down which both slide.
    Plane,
    /// The same in space.
    Space,
    /// On a line, beside a pendulum held by a joint.
    BesidePendulum,
}

const G: f64 = 9.81;
const DROP: f64 = 0.05;
const STEP: f64 = 1e-3;

/// The text of the scene, and the part of gravity along the normal.
fn ball_on_ball(
    place: Place,
    scheme: &str,
    e: f64,
    [length, time, mass]: [f64; 3],
) -> (String, f64) {
    let (g, m) = (G * length / (time * time), [mass, 0.5 * mass]);
    let normal: &[f64] = match place {
        Place::Line | Place::BesidePendulum => &[1.0],
        Place::Plane => &[0.6, 0.8],
        Place::Space => &[2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0],
    };
    let sum = |ball: &str| -> String {
        let parts = normal.iter().enumerate();
        let parts: Vec<String> = parts.map(|(i, n)| format!("{n:?}*{ball}{i}")).collect();
        parts.join(" + ")
    };
    let (n, up) = (normal.len(), normal.len() - 1);
    let mut coordinates: Vec<String> = Vec::new();
    let (mut kinetic, mut initial) = (Vec::new(), String::new());
    for (ball, m) in ["a", "b"].into_iter().zip(m) {
        for i in 0..n {
            coordinates.push(format!("\"{ball}{i}\""));
            kinetic.push(format!("{m:?}*{ball}{i}'^2/2"));
        }
    }
    for (i, x) in normal.iter().enumerate() {
        initial += &format!("b{i} = {:?}\n", x * DROP * length);
    }
    let mut potential = format!("{g:?}*({:?}*a{up} + {:?}*b{up})", m[0], m[1]);
    let mut joint = String::new();
    if let Place::BesidePendulum = place {
        coordinates.extend(["\"x\"".into(), "\"y\"".into()]);
        kinetic.push(format!("{mass:?}*(x'^2 + y'^2)/2"));
        potential += &format!(" + {g:?}*{mass:?}*y");
        initial += &format!("x = {:?}\ny = {:?}\n", 0.6 * length, -0.8 * length);
        let square = length * length;
        joint = format!("[[joints]]\nname = \"rod\"\nequation = \"x^2 + y^2 - {square:?}\"\n");
    }
    let text = format!(
        "title = \"ball on ball\"\nscheme = \"{scheme}\"\nstep = {:?}\nuntil = {:?}\n\
         [system]\ncoordinates = [{}]\nkinetic_energy = \"{}\"\npotential = \"{potential}\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"{}\"\nrestitution = 0\n\
         [[contacts]]\nname = \"balls\"\ngap = \"{} - ({})\"\nrestitution = {e:?}\n\
         {joint}[initial]\n{initial}",
        STEP * time,
        2.5 * time,
        coordinates.join(", "),
        kinetic.join(" + "),
        sum("a"),
        sum("b"),
        sum("a"),
    );
    (text, g * normal[up])
}

#[test]
fn a_ball_that_falls_on_one_that_rests_comes_to_rest() {
    let cases = [
        (Place::Line, 0.5, 0),
        (Place::Line, 0.5, 1),
        (Place::Line, 0.5, 2),
        (Place::Line, 0.3, 0),
        (Place::Line, 0.7, 0),
        (Place::Plane, 0.5, 0),
        (Place::Plane, 0.6, 1),
        (Place::Space, 0.5, 0),
        (Place::Space, 0.4, 2),
        (Place::BesidePendulum, 0.5, 0),
        (Place::BesidePendulum, 0.6, 1),
    ];
    for (place, e, unit) in cases {
        for scheme in SCHEMES {
            let units = UNITS[unit];
            let [length, time, mass] = units;
            let (text, g) = ball_on_ball(place, scheme, e, units);
            let (summary, record, violations) = judged(&text);
            let name = format!("{place:?}, {scheme}, e = {e}, units {unit}");
            assert_accepted(&name, &summary, &violations);
            // The falls last √(2 d/g) (1 + 2e + 2e² + ...), which is 1.5 s at most. The last of them are shorter than a step, and so low.
            let last = &record.contacts[1];
            let low = g * STEP * STEP * time * time;
            assert!(last.gap.abs() <= low, "{name}: {}", last.gap);
            let speed = record.local_velocities[last.start].abs();
            assert!(speed < 1e-9 * length / time, "{name}: {speed}");
            // A ball at rest is lifted by what it overshot, h times its approach at the most, once for each of its bounces.
            let fastest = (2.0 * g * DROP * length).sqrt();
            let depths = STEP * time * fastest / (1.0 - e);
            let lifted = summary.energy.totals.get("projection").unwrap_or(0.0);
            let joints = match place {
                Place::BesidePendulum => summary.energy.totals.get("joints").unwrap_or(0.0).abs(),
                _ => 0.0,
            };
            assert!(
                lifted.abs() <= 0.5 * mass * g * depths + 10.0 * joints,
                "{name}: {lifted} J of {} J",
                summary.energy.start
            );
        }
    }
}

/// Three balls above a floor and each other, under a law.
fn tower(law: &str, scheme: &str, [length, time, mass]: [f64; 3]) -> String {
    let g = G * length / (time * time);
    let (radius, initial) = (0.1 * length, [0.1, 0.25, 0.4].map(|x| x * length));
    format!(
        "title = \"tower\"\nlaw = \"{law}\"\nscheme = \"{scheme}\"\nstep = {:?}\nuntil = {:?}\n\
         [system]\ncoordinates = [\"a\", \"b\", \"c\"]\nkinetic_energy = \"{mass:?}*(a'^2/2 + b'^2 + c'^2/4)\"\n\
         potential = \"{g:?}*{mass:?}*(a + 2*b + 0.5*c)\"\n\
         [[contacts]]\nname = \"fa\"\ngap = \"a\"\nrestitution = 0.8\n\
         [[contacts]]\nname = \"ab\"\ngap = \"b - a - {radius:?}\"\nrestitution = 0.6\n\
         [[contacts]]\nname = \"bc\"\ngap = \"c - b - {radius:?}\"\nrestitution = 0.5\n\
         [initial]\na = {:?}\nb = {:?}\nc = {:?}\n",
        STEP * time,
        1.5 * time,
        initial[0],
        initial[1],
        initial[2],
    )
}

#[test]
fn towers_that_bounce_come_to_rest_and_are_accepted() {
    for scheme in SCHEMES {
        for (unit, units) in UNITS.into_iter().enumerate() {
            let [length, time, _] = units;
            let (summary, record, violations) = judged(&tower("coulomb", scheme, units));
            let name = format!("{scheme}, units {unit}");
            assert_accepted(&name, &summary, &violations);
            let fastest = record.velocity.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
            assert!(
                fastest < 1e-9 * length / time,
                "{name}: {:?}",
                record.velocity
            );
            assert!(summary.event_counts.accumulations <= 4, "{name}");
        }
    }
}

#[test]
fn towers_under_the_generalized_law_are_certified_whatever_the_units() {
    for (unit, units) in UNITS.into_iter().enumerate() {
        let (summary, _, violations) = judged(&tower("generalized", "moreau", units));
        assert_accepted(&format!("units {unit}"), &summary, &violations);
    }
}

#[test]
fn balls_that_land_on_each_other_without_a_bounce_are_accepted_from_every_height() {
    for law in ["coulomb", "frictionless", "argmin"] {
        for scheme in ["moreau", "sweeping-process"] {
            for k in 0..12 {
                let (low, high) = (0.02 + 0.003 * f64::from(k), 0.145 + 0.004 * f64::from(k));
                let text = format!(
                    "title = \"stack\"\nlaw = \"{law}\"\nscheme = \"{scheme}\"\nimpact = \"inelastic\"\nstep = 1e-3\nuntil = 0.25\n\
                     [system]\ncoordinates = [\"y0\", \"y1\"]\nkinetic_energy = \"0.424*y0'^2/2 + 0.997*y1'^2/2\"\n\
                     potential = \"9.81*(0.424*y0 + 0.997*y1)\"\n[[contacts]]\nname = \"c0\"\ngap = \"y0\"\n\
                     [[contacts]]\nname = \"c1\"\ngap = \"y1 - y0 - 0.1\"\n[initial]\ny0 = {low:?}\ny1 = {high:?}\n"
                );
                let (summary, _, violations) = judged(&text);
                assert_accepted(&format!("{law}, {scheme}, {k}"), &summary, &violations);
            }
        }
    }
}

#[test]
fn a_contact_that_opens_and_is_stopped_by_the_impacts_of_others_gives_no_energy() {
    // Moreau's law at a theta above 1/(1 + e): the second ball leaves the first and is struck down in the same step.
    for [length, time, mass] in UNITS {
        let g = G * length / (time * time);
        let masses = [2.663, 0.86, 0.544, 2.374].map(|m| m * mass);
        let (restitutions, start) = ([0.35, 0.95, 0.28, 0.55], [0.111, 0.237, 0.37, 0.5]);
        let terms = |term: fn(f64, usize) -> String| -> String {
            let terms: Vec<String> = (0..4).map(|i| term(masses[i], i)).collect();
            terms.join(" + ")
        };
        let mut text = format!(
            "title = \"tower\"\nimpact = \"moreau\"\ntheta = 0.864\nstep = {:?}\nuntil = {time:?}\n\
             [system]\ncoordinates = [\"y0\", \"y1\", \"y2\", \"y3\"]\nkinetic_energy = \"{}\"\npotential = \"{g:?}*({})\"\n",
            STEP * time,
            terms(|m, i| format!("{m:?}*y{i}'^2/2")),
            terms(|m, i| format!("{m:?}*y{i}")),
        );
        for (i, e) in restitutions.iter().enumerate() {
            let gap = match i {
                0 => "y0".to_owned(),
                _ => format!("y{i} - y{} - {:?}", i - 1, 0.1 * length),
            };
            text +=
                &format!("[[contacts]]\nname = \"c{i}\"\ngap = \"{gap}\"\nrestitution = {e:?}\n");
        }
        text += "[initial]\n";
        for (i, y) in start.iter().enumerate() {
            text += &format!("y{i} = {:?}\n", y * length);
        }
        let (summary, _, violations) = judged(&text);
        assert_accepted(&format!("{length} {time}"), &summary, &violations);
    }
}
