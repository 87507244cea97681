//! Cost of a step of a scene file over the cost of the same system written as closures.
//!
//! `cargo bench -p stickslip --bench scene_cost` prints one row per system; both figures come from
//! one run, so their ratio does not depend on the machine. The mark is a ratio of 2.

use std::time::Instant;

use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::{GaussSeidel, GaussSeidelSettings};
use stickslip::stepping::MoreauJean;
use stickslip::systems::functions::{GivenInertia, GivenPotential, GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

const BALL: &str = r#"
title = "Ball"
step = 1e-4
[system]
coordinates = ["y"]
kinetic_energy = "y'^2/2"
potential = "9.81*y"
[[contacts]]
gap = "y"
restitution = 0.9
[initial]
y = 1
"#;

const ROD: &str = r#"
title = "Rod"
step = 1e-5
impact = "inelastic"
[parameters]
l = 0.5
[system]
coordinates = ["x", "y", "theta"]
kinetic_energy = "(x'^2 + y'^2)/2 + theta'^2/24"
potential = "9.81*y"
[[contacts]]
gap = "y - l*sin(theta)"
point = ["x - l*cos(theta)", "y - l*sin(theta)"]
friction = 0.3
[initial]
y = "l*sin(1)"
theta = 1
"#;

const PENDULUM: &str = r#"
title = "Double pendulum of uniform rods"
step = 1e-5
[system]
coordinates = ["a", "b"]
kinetic_energy = "(4/3*a'^2 + 1/3*b'^2 + cos(a - b)*a'*b')/2"
potential = "-9.81*(3*cos(a) + cos(b))/2"
[[contacts]]
gap = "3 - cos(a) - cos(b)"
point = ["sin(a) + sin(b)", "-cos(a) - cos(b)"]
friction = 0.5
restitution = 0.5
[initial]
a = 0.4
b = 1
"#;

fn from_scene(text: &str) -> Simulation {
    let scene = Scene::parse(SourceText::new("bench.toml", text)).expect("a valid scene");
    scene.simulation().expect("a valid simulation")
}

fn from_system(system: GeneralizedSystem, q: &[f64], h: f64) -> Simulation {
    let v = vec![0.0; q.len()];
    let solver = GaussSeidel::new(GaussSeidelSettings {
        tolerance: 1e-12,
        ..GaussSeidelSettings::default()
    });
    let scheme = Box::new(MoreauJean::default());
    let settings = SimulationSettings::fixed(h);
    Simulation::new(
        Box::new(system),
        scheme,
        Box::new(solver),
        (q, &v),
        settings,
    )
    .expect("valid")
}

fn ball() -> Simulation {
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.9 }).expect("valid");
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0,
    };
    let system = GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .dead_load(&[-9.81])
        .constraint(
            UnilateralConstraint::new("ground", gap).with_point(ContactFrame::Frictionless, law),
        )
        .build(&[1.0])
        .expect("valid");
    from_system(system, &[1.0], 1e-4)
}

fn rod() -> Simulation {
    let l = 0.5;
    let section = FrictionSection::segment(0.3).expect("valid");
    let law = ContactLaw::new(section, ImpactLaw::Inelastic).expect("valid");
    let gap = GivenScalar {
        value: move |q: &[f64]| q[1] - l * q[2].sin(),
        gradient: move |q: &[f64], row: &mut [f64]| {
            row.copy_from_slice(&[0.0, 1.0, -l * q[2].cos()]);
        },
    };
    let tangent = GivenRows(move |q: &[f64], rows: &mut [f64]| {
        rows.copy_from_slice(&[1.0, 0.0, l * q[2].sin()]);
    });
    let q = [0.0, l * 1.0_f64.sin(), 1.0];
    let system = GeneralizedSystem::builder(["x", "y", "theta"])
        .mass_diagonal(&[1.0, 1.0, 1.0 / 12.0])
        .dead_load(&[0.0, -9.81, 0.0])
        .constraint(
            UnilateralConstraint::new("tip", gap)
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(&q)
        .expect("valid");
    from_system(system, &q, 1e-5)
}

fn pendulum_contact() -> UnilateralConstraint {
    let section = FrictionSection::segment(0.5).expect("valid");
    let law = ContactLaw::new(section, ImpactLaw::Newton { restitution: 0.5 }).expect("valid");
    let gap = GivenScalar {
        value: |q: &[f64]| 3.0 - q[0].cos() - q[1].cos(),
        gradient: |q: &[f64], row: &mut [f64]| row.copy_from_slice(&[q[0].sin(), q[1].sin()]),
    };
    let tangent = GivenRows(|q: &[f64], rows: &mut [f64]| {
        rows.copy_from_slice(&[q[0].cos(), q[1].cos()]);
    });
    UnilateralConstraint::new("floor", gap).with_point(ContactFrame::tangents(1, tangent), law)
}

/// Every derivative written by hand: the fastest closures there are.
fn pendulum_by_hand() -> Simulation {
    let inertia = GivenInertia {
        mass: |q: &[f64], m: &mut [f64]| {
            let coupling = 0.5 * (q[0] - q[1]).cos();
            m.copy_from_slice(&[4.0 / 3.0, coupling, coupling, 1.0 / 3.0]);
        },
        covariant_force: |q: &[f64], v: &[f64], f: &mut [f64]| {
            let s = 0.5 * (q[0] - q[1]).sin();
            f.copy_from_slice(&[-s * v[1] * v[1], s * v[0] * v[0]]);
        },
    };
    let potential = GivenPotential {
        value: |q: &[f64]| -9.81 * (3.0 * q[0].cos() + q[1].cos()) / 2.0,
        gradient: |q: &[f64], g: &mut [f64]| {
            g.copy_from_slice(&[9.81 * 1.5 * q[0].sin(), 9.81 * 0.5 * q[1].sin()]);
        },
    };
    let system = GeneralizedSystem::builder(["a", "b"])
        .inertia(inertia)
        .potential_function(potential)
        .constraint(pendulum_contact())
        .build(&[0.4, 1.0])
        .expect("valid");
    from_system(system, &[0.4, 1.0], 1e-5)
}

/// Energies as closures over jets: what a user writes.
fn pendulum_by_jets() -> Simulation {
    let system = GeneralizedSystem::builder(["a", "b"])
        .kinetic_energy(|q: &[Jet], v: &[Jet]| {
            (v[0] * v[0] * (4.0 / 3.0) + v[1] * v[1] / 3.0 + (q[0] - q[1]).cos() * v[0] * v[1])
                * 0.5
        })
        .potential(|q: &[Jet]| (q[0].cos() * 3.0 + q[1].cos()) * (-9.81 / 2.0))
        .constraint(pendulum_contact())
        .build(&[0.4, 1.0])
        .expect("valid");
    from_system(system, &[0.4, 1.0], 1e-5)
}

/// Nanoseconds per step, best of several rounds; the two are measured in turn.
fn measure(name: &str, closures: fn() -> Simulation, scene: &str) {
    const STEPS: usize = 10_000;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..15 {
        for (best, mut run) in best.iter_mut().zip([closures(), from_scene(scene)]) {
            for _ in 0..500 {
                run.step_towards(f64::INFINITY);
            }
            let start = Instant::now();
            for _ in 0..STEPS {
                run.step_towards(f64::INFINITY);
            }
            *best = best.min(start.elapsed().as_secs_f64() / STEPS as f64 * 1e9);
            assert!(run.ledger().is_closed(), "{name}: the ledger is open");
        }
    }
    let [closures, scene] = best;
    println!(
        "{name:<34} closures {closures:>7.0} ns   scene {scene:>7.0} ns   ratio {:.2} (mark 2)",
        scene / closures
    );
}

fn main() {
    measure("bouncing ball", ball, BALL);
    measure("rod with friction", rod, ROD);
    measure(
        "pendulum, hand-made derivatives",
        pendulum_by_hand,
        PENDULUM,
    );
    measure(
        "pendulum, automatic derivatives",
        pendulum_by_jets,
        PENDULUM,
    );
}
