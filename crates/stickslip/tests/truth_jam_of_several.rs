//! Two bars in Painlevé's region at once: each is stopped by an impact without collision.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::scene::{Changes, Scene, SourceText};
use stickslip::simulation::RunSummary;

const BARS: &str = r#"
title = "bars"
law = "coulomb"
step = 0.001
until = 0.01
[parameters]
c = 0
[system]
coordinates = ["x0", "a0", "x1", "a1"]
kinetic_energy = "x0'^2/2 + a0'^2/6 + x1'^2/2 + a1'^2/6 + c*x0'*x1'"
forces = { a0 = -2, a1 = -2 }
[[contacts]]
name = "axis0"
gap = "a0 + pi/4"
point = ["x0 + cos(a0)", "sin(a0)"]
friction = 1.5
[[contacts]]
name = "axis1"
gap = "a1 + pi/4"
point = ["x1 + cos(a1)", "sin(a1)"]
friction = 1.5
[initial]
a0 = "-pi/4"
x0_dot = 1
a1 = "-pi/4"
x1_dot = 1
"#;

fn run(scheme: &str, coupling: &str) -> (RunSummary, Vec<f64>) {
    let source = SourceText::new("bars.toml", BARS.replace("c = 0", coupling));
    let source = Changes::new().key("scheme", scheme).apply(&source).unwrap();
    let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap();
    let end = run.run_until(0.01, |_| ControlFlow::Continue(()));
    let facts = scene.facts(run.system());
    let summary = RunSummary::new(&run, (RunSettings::default(), &facts), end, 0.0);
    (summary, run.state().v.clone())
}

/// Steps stop both bars at once, as each is alone. The near-exact motion does so where the bars do not act on each other; of bars that do it does
/// not know two such impacts, and says that, not that there is none.
#[test]
fn several_contacts_that_jam_at_once_are_refused_by_name_where_they_are_not_computed() {
    let apart = ["moreau", "event-driven"].map(|scheme| (scheme, "c = 0"));
    for (scheme, coupling) in apart.into_iter().chain([("moreau", "c = 0.3")]) {
        let (summary, stopped) = run(scheme, coupling);
        let still = stopped.iter().all(|v| v.abs() < 1e-9);
        assert!(still && summary.certified, "{scheme}: {stopped:?}");
    }
    let (summary, _) = run("event-driven", "c = 0.3");
    let told = summary.reason;
    assert!(!told.contains("no solution"), "{told}");
    assert!(
        told.contains("`axis0` and others") && told.contains("more than one touching"),
        "{told}"
    );
}
