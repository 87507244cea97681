//! Contacts in space that graze at γ = 0: continua of motions, and motions that just go on.

use std::ops::ControlFlow;

use stickslip::scene::{Changes, Scene, SourceText};
use stickslip::simulation::studies::branches::BranchStudy;
use stickslip::solvers::enumeration::{EnumerationSettings, Method, Mode, Verdict};
use stickslip::stepping::MoreauContactDynamics;

fn text(body: &str) -> String {
    format!(
        "title = \"grazing\"\nuntil = 0.1\nstep = 1e-3\nlaw = \"coulomb\"\nscheme = \"moreau\"\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
         kinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n{body}"
    )
}

fn study(body: &str) -> BranchStudy {
    let scene = Scene::parse(SourceText::new("grazing.toml", text(body)));
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    let (q, v) = scene.initial_state();
    let system = scene.system().unwrap();
    let mut scheme = MoreauContactDynamics::new(1e-9);
    let settings = EnumerationSettings::default();
    BranchStudy::of_step(system.as_ref(), &mut scheme, (0.0, &q, &v), 1e-3, &settings).unwrap()
}

/// W = [1, 1, 0; 1, 2, 0; 0, 0, 1]: γ = 1 − μ. The impulses (s, −s, 0) take s of the slip and nothing of the normal velocity.
fn particle(friction: &str, slip: [f64; 2]) -> String {
    format!(
        "[[contacts]]\ngap = \"z\"\ntangents = [[1, 0, 1], [0, 1, 0]]\nfriction = {friction}\n[initial]\nx_dot = {}\ny_dot = {}\n",
        slip[0], slip[1]
    )
}

#[test]
fn at_gamma_zero_a_disc_and_an_ellipse_stop_a_slip_by_any_part() {
    for friction in ["1", "0.9999999999999999", "{ ellipse = [1, 0.5] }"] {
        let found = study(&particle(friction, [1.0, 0.0]));
        assert_eq!(
            found.verdict,
            Verdict::Indeterminate { solutions: 1 },
            "{friction}"
        );
        assert_eq!(found.enumeration.method, Method::Exact);
        let degenerate = found.degenerate.expect("gamma is zero");
        for only in [&found.enumeration.solutions[0], &degenerate.solutions[0]] {
            let continuum = only.continuum.as_ref().expect("a continuum");
            assert!(continuum.moves_velocity, "{friction}");
            let [none, stop] = &continuum.ends[..] else {
                panic!("{continuum:?}")
            };
            assert!(none.iter().all(|p| p.abs() < 1e-12), "{none:?}");
            let expected = [1.0, -1.0, 0.0];
            let off = stop.iter().zip(expected).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{stop:?}");
        }
    }
}

/// The motions of that continuum have the velocities (1 − s, 0, 0): the least energy stops, the smallest impulse and taking off go on. A run counts it
/// as several motions.
#[test]
fn rules_choose_within_a_continuum_and_runs_count_it() {
    let planar =
        "[[contacts]]\ngap = \"y\"\ntangents = [[1, 1, 0]]\nfriction = 1\n[initial]\nx_dot = 1\n"
            .to_string();
    for body in [
        particle("1", [1.0, 0.0]),
        particle("{ ellipse = [1, 0.5] }", [1.0, 0.0]),
        planar,
    ] {
        for (rule, speed) in [
            ("least-energy", 0.0),
            ("smallest-impulse", 1.0),
            ("take-off-first", 1.0),
        ] {
            let source = SourceText::new("grazing.toml", text(&body));
            let source = Changes::new()
                .key("several_rule", rule)
                .apply(&source)
                .unwrap();
            let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
            let mut run = scene.simulation().unwrap();
            run.run_until(0.01, |_| ControlFlow::Continue(()));
            let v = run.state().v[0];
            assert!((v - speed).abs() < 1e-12, "{rule}: {v}\n{body}");
            assert!(run.certificate().several_solutions > 0, "{rule}\n{body}");
        }
    }
}

/// Without a load a slip across the friction that would jam goes on: no impulse solves the law.
#[test]
fn a_grazing_slip_that_no_friction_can_jam_goes_on() {
    let polygon = "{ polygon = [[1, 0], [0, 0.5], [-1, 0], [0, -0.5]] }";
    let twice = particle("0.5", [1.0, 0.2]).replace(
        "[initial]",
        "[[contacts]]\nname = \"other\"\ngap = \"z\"\ntangents = [[1, 0, 1], [0, 1, 0]]\nfriction = 0.3\n[initial]",
    );
    for body in [
        particle("1", [1.0, 0.2]),
        particle("{ ellipse = [1, 0.5] }", [1.0, 0.2]),
        particle("{ ellipse = [0.9, 0.5] }", [1.0, 0.2]),
        particle(polygon, [-1.0, 0.2]),
        twice,
    ] {
        let found = study(&body);
        assert_eq!(
            found.verdict,
            Verdict::Regular,
            "{body}\n{:?}",
            found.enumeration
        );
        let only = &found.enumeration.solutions[0];
        assert!(
            only.modes.iter().all(|m| *m == Mode::Open),
            "{body}: {only:?}"
        );
        assert!(only.impulse.iter().all(|&p| p == 0.0), "{body}: {only:?}");
        assert_eq!(found.impulsive, [false], "{body}");
    }
}
