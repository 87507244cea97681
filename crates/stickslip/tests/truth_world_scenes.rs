//! Exact answers for worlds written as scenes: grippers, towers, arches, grains in a box, and mechanisms that are also systems.

use std::ops::ControlFlow;

use stickslip::records::{EventKind, PresentContact, StepRecord};
use stickslip::scene::{Changes, Scene, SourceText, find_in_gallery};
use stickslip::simulation::{RunEnd, Simulation};

const G: f64 = 9.81;

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("truth.toml", text)).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scene: &Scene, mut see: impl FnMut(&StepRecord)) -> Simulation {
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = run.run_until(scene.settings.until, |record| {
        see(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    assert!(run.ledger().is_closed());
    assert!(run.momentum_ledger().is_closed());
    run
}

/// Two pads press on a box from both sides; a pad is held up by the force it needs, so that the box alone may slip.
fn gripper(friction: f64, press: f64) -> f64 {
    let weight = 2.0 * G;
    let pad = |name: &str, x: f64, push: f64| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmass = 1\nshape = {{ box = [0.05, 0.1, 0.1] }}\n\
             position = [{x}, 0, 1]\nforce = [{push}, 0, \"{G} + {weight}/2 - 1e3*vz - 1e5*(z - 1)\"]\n\
             torque = [\"-wx\", \"-wy\", \"-wz\"]\n"
        )
    };
    let text = format!(
        "title = \"Gripper\"\nstep = 1e-3\nuntil = 0.2\n[world]\n[[materials]]\nname = \"rubber\"\nfriction = {friction}\n\
         {}{}[[bodies]]\nname = \"load\"\nmass = 2\nshape = {{ box = [0.2, 0.1, 0.1] }}\nposition = [0, 0, 1]\n",
        pad("left", -0.125, press),
        pad("right", 0.125, -press),
    );
    let end = run(&parse(&text), |_| ());
    1.0 - end.state().q[14 + 2]
}

#[test]
fn a_gripper_holds_from_twice_friction_times_pressure_equal_to_the_weight_on() {
    // 2 μ P = w at P = w/(2 μ).
    let (friction, weight) = (0.4, 2.0 * G);
    let exact = weight / (2.0 * friction);
    assert!(gripper(friction, 1.02 * exact).abs() < 1e-3);
    let sunk = gripper(friction, 0.9 * exact);
    // A tenth of the weight is left: it falls with a tenth of gravity, while the pads are pulled down less.
    assert!((sunk - 0.5 * 0.1 * G * 0.04).abs() < 2e-3, "{sunk}");
}

fn tower(count: usize, ratio: f64) -> Scene {
    parse(&format!(
        "title = \"Tower\"\nstep = 1e-3\nuntil = 0.05\ntolerance = 1e-14\n[world]\n[[materials]]\nname = \"stone\"\ndensity = 1000\n\
         friction = 0.6\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_space = [0, 0, 1] }}\n[[bodies]]\n\
         name = \"box\"\nshape = {{ box = [0.2, 0.2, 0.2] }}\nposition = [0, 0, 0.1]\n\
         repeat = {{ count = [1, 1, {}], spacing = [1, 1, 0.2] }}\n[[bodies]]\nname = \"top\"\nmass = {}\n\
         shape = {{ box = [0.2, 0.2, 0.2] }}\nposition = [0, 0, {}]\n",
        count - 1,
        8.0 * ratio,
        0.1 + 0.2 * (count - 1) as f64
    ))
}

#[test]
fn a_tower_of_boxes_carries_the_weights_above_at_any_ratio_of_masses() {
    for (count, ratio) in [(10, 1e3), (6, 1e6)] {
        let scene = tower(count, ratio);
        let world = scene.world().unwrap();
        let end = run(&scene, |_| ());
        let mut forces = vec![0.0; count];
        for contact in &end.record().present {
            let [a, b] = contact.key.owners.map(|k| k as usize);
            assert_eq!(b, a + 1);
            // The lower body is pushed down by the upper one.
            forces[a] -= contact.impulse[2] / end.record().h;
            assert!(contact.gap.abs() <= 1e-4 * 0.2, "{}", contact.gap);
        }
        for (lower, force) in forces.iter().enumerate() {
            let above: f64 = world.bodies[lower + 1..].iter().map(|b| b.mass).sum();
            let size = 1e-15 * count as f64 * ratio;
            assert!(
                (force / (above * G) - 1.0).abs() < size.max(1e-11),
                "{lower} {force} {above}"
            );
        }
        let drift = |k: usize| {
            end.state().q[7 * k]
                .abs()
                .max(end.state().q[7 * k + 1].abs())
        };
        assert!((1..=count).all(|k| drift(k) <= 1e-4 * 0.2));
    }
}

#[test]
fn a_tower_with_a_heavy_top_stands_without_sinking() {
    // The scene of the gallery with default settings; a minute gives the same and takes ten times as long.
    let source = Changes::new().key("until", "6");
    let source = source.apply(&find_in_gallery("heavy-tower").unwrap().source());
    let scene = Scene::parse(source.unwrap()).unwrap();
    let (side, slop) = (0.2, 1e-4 * 0.2);
    let (mut deepest, mut steps) = (0.0f64, 0u32);
    let end = run(&scene, |record| {
        steps += 1;
        for contact in &record.present {
            deepest = deepest.max(-contact.gap);
        }
    });
    assert_eq!(steps, 6000);
    assert!(deepest <= 1e-9 * side, "{deepest}");
    // Where it stood: neither sideways nor up or down by more than the slop, and at rest.
    for k in 0..10 {
        let at = &end.state().q[7 * (k + 1)..];
        let start = [0.0, 0.0, 0.1 + 0.2 * k as f64];
        for (x, x0) in at.iter().zip(start) {
            assert!((x - x0).abs() <= slop, "{k}: {:?}", &at[..3]);
        }
    }
    // Contacts were opened by a thousandth of the slop, 2e-8 m: boxes may be on their way back, by that in a step at most.
    assert!(end.state().v.iter().all(|v| v.abs() < 1e-5));
}

/// Sum of the impulses on each body, and of their moments about its centre.
fn loads(present: &[PresentContact], q: &[f64], bodies: usize) -> Vec<[f64; 3]> {
    let mut sums = vec![[0.0; 3]; bodies];
    for contact in present {
        for (owner, sign) in contact.key.owners.into_iter().zip([1.0, -1.0]) {
            let i = owner as usize;
            let p = contact.impulse.map(|p| sign * p);
            let arm = [contact.place[0] - q[3 * i], contact.place[1] - q[3 * i + 1]];
            let [x, y, turn] = &mut sums[i];
            *x += p[0];
            *y += p[1];
            *turn += arm[0] * p[1] - arm[1] * p[0];
        }
    }
    sums
}

#[test]
fn the_forces_of_a_standing_arch_hold_every_block() {
    let source = Changes::new().key("until", "0.1");
    let source = source.apply(&find_in_gallery("masonry-arch").unwrap().source());
    let scene = Scene::parse(source.unwrap()).unwrap();
    let world = scene.world().unwrap();
    let (mut before, mut checked) = (Vec::new(), 0);
    run(&scene, |record| {
        // At rest the impulses of a step hold the weights: what is left is the change of momentum.
        if record.t > 0.05 && !record.projected {
            let sums = loads(&record.present, &record.q, world.bodies.len());
            for (i, body) in world.bodies.iter().enumerate().filter(|(_, b)| b.is_free()) {
                let v = |k: usize| record.velocity[3 * i + k] - before[3 * i + k];
                let weight = body.mass * G * record.h;
                let off = [
                    sums[i][0] - body.mass * v(0),
                    sums[i][1] - weight - body.mass * v(1),
                    (sums[i][2] - body.inertia[2] * v(2)) / body.size,
                ];
                assert!(
                    off.iter().all(|x: &f64| x.abs() < 1e-7 * weight),
                    "{} {off:?}",
                    body.name
                );
                checked += 1;
            }
        }
        before.clone_from(&record.velocity);
    });
    assert!(checked > 500);
}

#[test]
fn floor_and_walls_of_a_box_of_grains_carry_weight_times_time_and_the_change_of_momentum() {
    let scene = parse(
        "title = \"Grains\"\nstep = 2e-3\nuntil = 0.2\n[world]\n[[materials]]\nname = \"sand\"\ndensity = 2500\nfriction = 0.5\n\
         [[bodies]]\nname = \"floor\"\nfixed = true\nshape = { half_space = [0, 0, 1] }\n\
         [[bodies]]\nname = \"left\"\nfixed = true\nshape = { half_space = [1, 0, 0] }\nposition = [-0.1, 0, 0]\n\
         [[bodies]]\nname = \"right\"\nfixed = true\nshape = { half_space = [-1, 0, 0.2] }\nposition = [0.1, 0, 0]\n\
         [[bodies]]\nname = \"back\"\nfixed = true\nshape = { half_space = [0, 1, 0] }\nposition = [0, -0.1, 0]\n\
         [[bodies]]\nname = \"front\"\nfixed = true\nshape = { half_space = [0, -1, 0] }\nposition = [0, 0.1, 0]\n\
         [[fill]]\nname = \"grain\"\nregion = { box = [0.16, 0.16, 0.3], at = [0, 0, 0.18] }\ncount = 25\nseed = 5\n\
         shapes = [{ shape = { ball = 0.015 } }, { shape = { box = [0.02, 0.025, 0.03] } }]\n",
    );
    let world = scene.world().unwrap();
    let masses: Vec<f64> = world
        .bodies
        .iter()
        .map(|b| if b.is_free() { b.mass } else { 0.0 })
        .collect();
    let weight = G * masses.iter().sum::<f64>();
    let momentum =
        |v: &[f64]| -> f64 { masses.iter().zip(v.chunks(6)).map(|(m, v)| m * v[2]).sum() };
    let (mut supports, mut sizes, mut last) = (0.0, 0.0, 0.0);
    let end = run(&scene, |record| {
        for contact in &record.present {
            let [a, b] = contact
                .key
                .owners
                .map(|k| world.bodies[k as usize].is_free());
            if a != b {
                // The impulse on the free one.
                supports += if a {
                    contact.impulse[2]
                } else {
                    -contact.impulse[2]
                };
                sizes += contact.impulse[2].abs();
            }
        }
        last = supports - weight * record.t - momentum(&record.velocity);
        assert!(
            last.abs() < 1e-12 * (sizes + weight * record.t),
            "{last} at {}",
            record.t
        );
    });
    assert!(supports > 0.2 * weight * end.state().t);
}

/// A disc that starts without spin on a rough slope, as a world and as a system of three coordinates.
fn rolling_disc(step: f64) -> [f64; 2] {
    let world = parse(&format!(
        "title = \"Disc\"\nstep = {step}\nuntil = 0.5\n[world]\ndimension = 2\ngravity = [3, -9]\n[[materials]]\nname = \"rubber\"\n\
         friction = 0.2\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_plane = [0, 1] }}\n[[bodies]]\nname = \"disc\"\n\
         mass = 2\nshape = {{ disc = 0.1 }}\nposition = [0, 0.1]\nvelocity = [1, 0]\n"
    ));
    let system = parse(&format!(
        "title = \"Disc\"\nstep = {step}\nuntil = 0.5\ntheta = 1\n[system]\ncoordinates = [\"x\", \"y\", \"a\"]\n\
         kinetic_energy = \"x'^2 + y'^2 + 0.005*a'^2\"\npotential = \"-6*x + 18*y\"\n[[contacts]]\ngap = \"y\"\n\
         slip = \"x' + 0.1*a'\"\nfriction = 0.2\n[initial]\nx_dot = 1\n"
    ));
    let of_world = run(&world, |_| ());
    let of_system = run(&system, |_| ());
    let place = |q: &[f64], v: &[f64]| [q[0], v[0]];
    let a = place(&of_world.state().q[3..], &of_world.state().v[3..]);
    let b = place(&of_system.state().q, &of_system.state().v);
    // In statics and in steady motion impulses are equal; that of the world is the one on the floor.
    let p = of_world.record().present[0].impulse;
    let r = &of_system.record().impulses;
    assert!(
        (p[1] + r[0]).abs() < 1e-9 && (p[0] + r[1]).abs() < 1e-8,
        "{p:?} {r:?}"
    );
    [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()]
}

#[test]
fn the_same_mechanism_as_a_world_and_as_a_system_moves_alike() {
    let (coarse, fine) = (rolling_disc(4e-3), rolling_disc(1e-3));
    for k in 0..2 {
        assert!(coarse[k] < 8e-3, "{coarse:?}");
        // Order one, unless both are the same to rounding.
        assert!(
            fine[k] < 0.35 * coarse[k] || fine[k] < 1e-9,
            "{coarse:?} {fine:?}"
        );
    }
}

/// A ball falls from `height` and bounces with restitution e: impacts at t₁, t₁(1 + 2e), t₁(1 + 2e + 2e²), ..., t₁ = √(2H/g), each with e times the approach of
/// the one before, to an accumulation at t₁(1 + e)/(1 − e).
#[test]
fn a_ball_that_bounces_in_a_world_has_its_impacts_as_events() {
    let (e, height, h) = (0.5f64, 0.5, 1e-4);
    for (dimension, shape, floor, z) in [
        (3, "ball", "half_space = [0, 0, 1]", "0, 0"),
        (2, "disc", "half_plane = [0, 1]", "0"),
    ] {
        let text = format!(
            "title = \"Ball\"\nstep = {h}\nuntil = 1.2\n[world]\ndimension = {dimension}\n[[materials]]\nname = \"rubber\"\n\
             density = 1000\nrestitution = {e}\nfriction = 0.3\n[[bodies]]\nname = \"floor\"\nfixed = true\n\
             shape = {{ {floor} }}\n[[bodies]]\nname = \"ball\"\nshape = {{ {shape} = 0.1 }}\nposition = [{z}, {}]\n",
            height + 0.1
        );
        let end = run(&parse(&text), |_| ());
        let events = end.events();
        let impacts: Vec<_> = events
            .events
            .iter()
            .filter(|event| event.kind == EventKind::Impact)
            .collect();
        let first = (2.0 * height / G).sqrt();
        for (n, impact) in impacts.iter().take(6).enumerate() {
            let bounced = e.powi(n as i32);
            let t = first * (1.0 + 2.0 * (e - e * bounced) / (1.0 - e));
            // Each bounce moves the next ones by a step of its own approach.
            let error = 2.0 * h * (n as f64 + 1.0);
            assert!(
                (impact.t - t).abs() < error,
                "{dimension}: {} {t}",
                impact.t
            );
            let approach = -G * first * bounced;
            assert!(
                (impact.approach - approach).abs() < 2.0 * G * error,
                "{impact:?}"
            );
        }
        let end_of_bounces = first * (1.0 + e) / (1.0 - e);
        let last: Vec<_> = events
            .events
            .iter()
            .filter(|event| event.kind == EventKind::Accumulation)
            .collect();
        assert_eq!(last.len(), 1, "{dimension}");
        assert!((last[0].t - end_of_bounces).abs() < 0.01, "{:?}", last[0]);
        assert_eq!(last[0].count, impacts.len() as u64);
        assert_eq!(events.count(EventKind::Impact), impacts.len() as u64);
        assert_eq!(events.count(EventKind::EnergyGain), 0);
    }
}

/// Newton's law with friction gives a long rod that strikes with its end more energy than it had: (Kane) the work of the impulse is positive.
#[test]
fn an_impact_that_gains_energy_in_a_world_is_an_event() {
    // A rod in the plane, unit mass, half length 1, at an angle a, end towards the floor; W of the lower end.
    let scene = |restitution: f64, slide: f64| {
        parse(&format!(
            "title = \"Rod\"\nstep = 1e-4\nuntil = 0.01\n[world]\ndimension = 2\ngravity = [0, 0]\n[[materials]]\nname = \"steel\"\n\
             friction = 0.4\nrestitution = {restitution}\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_plane = [0, 1] }}\n\
             [[bodies]]\nname = \"rod\"\nmass = 1\ninertia = \"1/3\"\nshape = {{ rectangle = [2, 1e-6] }}\nrotation = 0.9\n\
             position = [0, \"sin(0.9) + 1e-3\"]\nvelocity = [{slide}, -1]\n"
        ))
    };
    let gains = |scene: &Scene| {
        let mut energy = f64::NAN;
        let end = run(scene, |record| {
            if energy.is_nan() {
                energy = record.kinetic;
            }
        });
        let gain = end.state().kinetic - energy;
        (gain, end.events().count(EventKind::EnergyGain))
    };
    let mut both = [false; 2];
    for slide in [-3.0, -0.5, 0.5, 3.0] {
        for restitution in [0.5, 0.9] {
            let (gain, told) = gains(&scene(restitution, slide));
            assert_eq!(
                told > 0,
                gain > 1e-6,
                "{slide} {restitution}: {gain} {told}"
            );
            both[usize::from(told > 0)] = true;
        }
    }
    assert_eq!(both, [true; 2]);
}

/// Faces with four contacts between sliding neighbours leave directions in which impulses drift. Fifty bodies have at most 500 contacts, which the cascade solves too; the
/// last factorisations over bodies are tested by themselves in `solvers/bodies/tests.rs`.
#[test]
fn boxes_and_balls_that_settle_in_a_bin_are_solved_in_every_step() {
    let wall = |name: &str, normal: &str, place: &str| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nfixed = true\nshape = {{ half_space = {normal} }}\nposition = {place}\n"
        )
    };
    let text = format!(
        "title = \"Bin\"\nstep = 2e-3\nuntil = 0.7\n[world]\n[[materials]]\nname = \"wood\"\ndensity = 700\nfriction = 0.4\n{}{}{}{}{}\
         [[fill]]\nname = \"thing\"\nregion = {{ box = [0.28, 0.28, 1.6], at = [0, 0, 0.85] }}\ncount = 50\nseed = 11\nshapes = [\
         {{ shape = {{ box = [0.08, 0.06, 0.05] }}, weight = 1 }}, {{ shape = {{ ball = 0.035 }}, weight = 1 }}]\n\
         [record]\ncontacts = \"none\"\n",
        wall("floor", "[0, 0, 1]", "[0, 0, 0]"),
        wall("left", "[1, 0, 0]", "[-0.15, 0, 0]"),
        wall("right", "[-1, 0, 0]", "[0.15, 0, 0]"),
        wall("front", "[0, 1, 0]", "[0, -0.15, 0]"),
        wall("back", "[0, -1, 0]", "[0, 0.15, 0]"),
    );
    let end = run(&parse(&text), |_| ());
    let worst = end.certificate().worst();
    assert!(worst <= 1.01e-8, "{worst}");
}
