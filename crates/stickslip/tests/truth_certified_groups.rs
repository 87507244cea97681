//! A certificate says of every group of bodies that act on each other whether its motion is right, whatever flies past or is heavy elsewhere: runs
//! that it accepts have the exact motion, and those whose errors are small beside their own motion are accepted.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunSummary, Simulation};

const G: f64 = 8.0;

fn run(text: &str) -> (Simulation, RunSummary) {
    let scene = Scene::parse(SourceText::new("groups", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    let facts = scene.facts(run.system());
    let summary = RunSummary::new(&run, (RunSettings::default(), &facts), end, 0.0);
    (run, summary)
}

/// A block of mass M that slides on a floor of its own, and a small one that slides on a plate at rest.
fn blocks(solver: &str, heavy: f64, fast: f64) -> String {
    format!(
        "title = \"groups\"\nstep = 1e-3\nuntil = 0.08\nsolver = \"{solver}\"\n[system]\n\
         coordinates = [\"X\", \"Y\", \"x\", \"y\", \"u\", \"w\", \"th\"]\n\
         kinetic_energy = \"{heavy:?}*(X'^2 + Y'^2)/2 + 2e-3*(x'^2 + y'^2)/2 + 1.5e-3*(u'^2 + w'^2)/2 + 2e-5*th'^2/2\"\n\
         potential = \"{G:?}*({heavy:?}*Y + 2e-3*y + 1.5e-3*w)\"\n\
         [[contacts]]\nname = \"heavy\"\ngap = \"Y\"\npoint = [\"X\", \"Y\"]\nfriction = 0.25\n\
         [[contacts]]\nname = \"left\"\ngap = \"y - 0.25*th\"\nslip = \"x' + 0.08*th'\"\nfriction = 0.25\n\
         [[contacts]]\nname = \"right\"\ngap = \"y + 0.25*th\"\nslip = \"x' + 0.08*th'\"\nfriction = 0.25\n\
         [[contacts]]\nname = \"top\"\ngap = \"w - y\"\nslip = \"u' - x'\"\nfriction = 0.25\n\
         [initial]\nX_dot = {fast:?}\nu_dot = 0.5\n"
    )
}

/// Errors of the small block, which loses μ g t, and of the plate, which rests: what friction would turn it about its feet with is
/// half of what they hold.
fn errors(run: &Simulation) -> [f64; 2] {
    let v = &run.state().v;
    [
        (v[4] - (0.5 - 0.25 * G * 0.08)).abs(),
        v[2].abs().max(v[6].abs()),
    ]
}

#[test]
fn a_solution_that_is_right_for_a_heavy_block_alone_is_not_certified() {
    // The solver keeps to its tolerance of all impulses, among which those of the plate are rounding.
    let (wrong, summary) = run(&blocks("cascade", 2e9, 300.0));
    let [block, plate] = errors(&wrong);
    assert!(block > 0.1 && plate > 1.0, "{block} {plate}");
    assert!(!summary.certified && summary.certificate.worst < 1e-12);
    assert!(summary.certificate.velocity.value > 0.1);
    // The plate goes down through the floor while its feet act, which they do not excuse.
    assert!(!summary.positions.hold && summary.positions.drift.value > 0.1);
    assert_eq!(summary.positions.drift.contact, "left");
}

#[test]
fn errors_of_a_small_motion_are_seen_beside_any_other() {
    for fast in [3.0, 300.0] {
        for heavy in [2e6, 2e9] {
            for solver in ["automatic", "gauss-seidel", "cascade", "interior-point"] {
                let (found, summary) = run(&blocks(solver, heavy, fast));
                let [block, plate] = errors(&found);
                let what = format!("{solver} {heavy} {fast}: {block} {plate}");
                // Certified velocities are right to a thousandth of those of their group.
                assert!(
                    !summary.certified || block.max(0.1 * plate) < 1e-3 * 0.5,
                    "{what}"
                );
                assert!(summary.certified || solver != "automatic", "{what}");
            }
        }
    }
}

#[test]
fn a_small_motion_that_is_right_is_certified_beside_a_fast_one() {
    // Nothing moves in the gaps of the plate but what the solver leaves: 1e-8 m/s beside a block that slides on it with half a metre per second.
    for (solver, heavy, fast) in [
        ("gauss-seidel", 2.0, 12.0),
        ("gauss-seidel", 1.0, 9.0),
        ("cascade", 4.0, 8.0),
    ] {
        let (found, summary) = run(&blocks(solver, heavy, fast));
        let [block, plate] = errors(&found);
        let what = format!("{solver} {heavy}: {block} {plate} {}", summary.reason);
        assert!(block < 1e-6 && plate < 1e-4, "{what}");
        assert!(summary.certified, "{what}");
        assert_eq!(summary.event_counts.lift_offs, 0, "{what}");
    }
}

/// A plate at rest under a load that slides on it, and a ball that flies past.
fn tower(load: f64, ball: f64) -> String {
    let bullet = format!(
        "[[bodies]]\nname = \"ball\"\nmaterial = \"m\"\nshape = {{ ball = 0.04 }}\nmass = 2e-3\nposition = [3, -2, 0.7]\nvelocity = [{ball:?}, 0, 0]\n"
    );
    format!(
        "title = \"tower\"\nstep = 1e-3\nuntil = 0.08\n[world]\ngravity = [0, 0, -{G:?}]\n\
         [[materials]]\nname = \"m\"\nfriction = 0.4\n[[materials]]\nname = \"ground\"\nfriction = 0.5\n\
         [[pairs]]\nbetween = [\"m\", \"ground\"]\nfriction = 0.8\n\
         [[bodies]]\nname = \"floor\"\nmaterial = \"ground\"\nfixed = true\nshape = {{ half_space = [0, 0, 1] }}\n\
         [[bodies]]\nname = \"plate\"\nmaterial = \"m\"\nshape = {{ box = [0.4, 0.3, 0.08] }}\nmass = 2e-3\nposition = [0, 0, 0.04]\n\
         [[bodies]]\nname = \"load\"\nmaterial = \"m\"\nshape = {{ box = [0.2, 0.2, 0.2] }}\nmass = {load:?}\nposition = [0, 0, 0.18]\n\
         velocity = [0.6, 0, 0]\n{}",
        if ball > 0.0 { bullet.as_str() } else { "" }
    )
}

#[test]
fn what_flies_past_a_stack_does_not_certify_it() {
    for load in [2.0, 1e11] {
        let told: Vec<(bool, f64)> = [0.0, 900.0]
            .map(|ball| {
                let (found, summary) = run(&tower(load, ball));
                // Bodies are floor, plate, load: the load loses μ g t, the plate rests.
                let v = &found.state().v;
                let (block, plate) = ((v[12] - (0.6 - 0.4 * G * 0.08)).abs(), v[6].abs());
                let right = block.max(plate) < 1e-3 * 0.6;
                assert!(
                    right || !summary.certified,
                    "{load} {ball}: {block} {plate}"
                );
                assert!(summary.certified == (load < 1e3), "{load} {ball}");
                (summary.certified, summary.certificate.velocity.value)
            })
            .to_vec();
        // With the ball or without it.
        assert!(told[0].1 < 1e-3 || told[1].1 > 0.1 * told[0].1, "{told:?}");
    }
}

#[test]
fn one_stack_does_not_certify_another() {
    for (heavy, fast) in [(5e8, -300.0), (2e9, -350.0), (1.0, -3.0)] {
        for solver in ["gauss-seidel", "proximal-newton"] {
            let stack = |names: [&str; 2], x: f64, [below, above]: [f64; 2], width: f64, v: f64| {
                let body = |name: &str, width: f64, mass: f64, y: f64, v: f64| {
                    format!(
                        "[[bodies]]\nname = \"{name}\"\nmaterial = \"m\"\nshape = {{ rectangle = [{width:?}, 0.1] }}\nmass = {mass:?}\n\
                         position = [{x:?}, {y:?}]\nvelocity = [{v:?}, 0]\n"
                    )
                };
                body(names[0], 0.4, below, 0.05, 0.0) + &body(names[1], width, above, 0.15, v)
            };
            let text = format!(
                "title = \"stacks\"\nstep = 1e-3\nuntil = 0.08\nsolver = \"{solver}\"\n[world]\ndimension = 2\ngravity = [0, -{G:?}]\n\
                 [[materials]]\nname = \"m\"\nfriction = 0.25\n\
                 [[bodies]]\nname = \"floor\"\nmaterial = \"m\"\nfixed = true\nshape = {{ half_plane = [0, 1] }}\n{}{}",
                stack(["h1", "h2"], -6.0, [heavy; 2], 0.4, fast),
                stack(["plate", "top"], 6.0, [2e-3, 1.5e-3], 0.2, 0.5)
            );
            let (found, summary) = run(&text);
            // Floor, two heavy blocks, plate, top: three velocities each.
            let v = &found.state().v;
            let (top, plate) = ((v[12] - (0.5 - 0.25 * G * 0.08)).abs(), v[9].abs());
            let right = top.max(plate) < 1e-3 * 0.5;
            let what = format!("{solver} {heavy}: {top} {plate}");
            assert!(right || !summary.certified, "{what}");
            assert!(summary.certified || heavy > 1.0, "{what}");
        }
    }
}
