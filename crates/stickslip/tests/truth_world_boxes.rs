//! Exact answers for boxes, capsules and discs whose contacts are found: slopes, ladders, rollers.

use crate::worlds::{G, law, run, simulation_with};
use stickslip::laws::ImpactLaw;
use stickslip::simulation::Simulation;
use stickslip::systems::World;
use stickslip::systems::world::{
    CollisionDetection, Dimension, Load, PlacedShape, Pose, Shape, Twist, Weight, WorldBody,
};

fn found(world: World, h: f64) -> Simulation {
    let source = CollisionDetection::new(&world).unwrap();
    simulation_with(world, Some(1.0), h, Box::new(source))
}

fn shaped(name: &str, shape: Shape, mass: f64, dimension: Dimension, at: Pose) -> WorldBody {
    let weight = Weight {
        mass: Some(mass),
        ..Weight::default()
    };
    let (body, frame) =
        WorldBody::of_shapes(name, &[PlacedShape::from(shape)], &weight, dimension).unwrap();
    body.at(at.times(&frame))
}

/// A box of base b and height c on a plane tilted by `slope`, after 0.3 s: speed and turning speed.
fn box_on_slope(base: f64, height: f64, friction: f64, slope: f64) -> (f64, f64) {
    let body = shaped(
        "box",
        Shape::Box {
            sides: [base, 0.7 * base, height],
        },
        1.7,
        Dimension::Space,
        Pose::at([0.0, 0.0, 0.5 * height]),
    );
    let world = World::builder()
        .gravity([G * slope.sin(), 0.0, -G * slope.cos()])
        .pair(0, 0, law(Dimension::Space, friction, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
        .body(body)
        .build()
        .unwrap();
    let mut run_now = found(world, 1e-3);
    run(&mut run_now, 0.3);
    let v = &run_now.state().v[6..];
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    (size(&v[..3]), size(&v[3..6]))
}

#[test]
fn box_on_a_slope_rests_slides_or_tips() {
    // Broad box: friction decides.
    let (speed, turning) = box_on_slope(0.2, 0.1, 0.5, 0.49f64.atan());
    assert!(speed < 1e-8 && turning < 1e-7, "{speed} {turning}");
    let slope = 0.52f64.atan();
    let (speed, turning) = box_on_slope(0.2, 0.1, 0.5, slope);
    let expected = 0.3 * G * (slope.sin() - 0.5 * slope.cos());
    assert!(
        (speed - expected).abs() < 1e-7 && turning < 1e-6,
        "{speed} {expected} {turning}"
    );
    // Tall box: its base decides.
    let (speed, turning) = box_on_slope(0.08, 0.2, 0.9, 0.39f64.atan());
    assert!(speed < 1e-8 && turning < 1e-7, "{speed} {turning}");
    let (_, turning) = box_on_slope(0.08, 0.2, 0.9, 0.41f64.atan());
    assert!(turning > 0.05, "{turning}");
}

/// Fall of the centre of a ladder after 0.3 s.
fn ladder(angle: f64, floor: f64, wall: f64) -> f64 {
    let (length, radius) = (2.0, 1e-3);
    // The capsule touches floor and wall with its caps.
    let centre = [
        radius + 0.5 * length * angle.cos(),
        radius + 0.5 * length * angle.sin(),
    ];
    // It leans to the left wall: its upper end is at x = radius.
    let body = shaped(
        "ladder",
        Shape::Capsule { radius, length },
        3.0,
        Dimension::Plane,
        Pose::planar(centre[0], centre[1], -angle),
    )
    .of(2);
    let dimension = Dimension::Plane;
    let world = World::builder()
        .dimension(dimension)
        .material("floor")
        .material("wall")
        .material("ladder")
        .pair(0, 2, law(dimension, floor, ImpactLaw::Inelastic))
        .pair(1, 2, law(dimension, wall, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 1.0, 0.0]))
        .body(WorldBody::half_space("wall", [0.0; 3], [1.0, 0.0, 0.0]).of(1))
        .body(body)
        .build()
        .unwrap();
    let mut run_now = found(world, 1e-3);
    run(&mut run_now, 0.3);
    centre[1] - run_now.state().q[7]
}

#[test]
fn a_ladder_stands_from_the_exact_angle_on() {
    for (floor, wall) in [(0.3f64, 0.4f64), (0.5, 0.1)] {
        let limit = ((1.0 - floor * wall) / (2.0 * floor)).atan();
        let stands = ladder(limit + 0.01, floor, wall);
        assert!(stands.abs() < 1e-7, "{stands}");
        let falls = ladder(limit - 0.01, floor, wall);
        assert!(falls > 1e-4, "{falls}");
    }
}

#[test]
fn a_slab_on_rollers_feels_three_eighths_of_their_mass() {
    let (mass, roller, radius, force, h) = (5.0, 2.0, 0.1, 7.0, 1e-3);
    let slab = shaped(
        "slab",
        Shape::Box {
            sides: [2.0, 0.1, 1.0],
        },
        mass,
        Dimension::Plane,
        Pose::planar(0.0, 2.0 * radius + 0.05, 0.0),
    )
    .under(move |_: f64, _: &Pose, _: &Twist| Load {
        force: [force, 0.0, 0.0],
        torque: [0.0; 3],
    });
    let disc =
        |name: &str, x: f64| WorldBody::disc(name, roller, radius).at(Pose::planar(x, radius, 0.0));
    let world = World::builder()
        .dimension(Dimension::Plane)
        .pair(0, 0, law(Dimension::Plane, 0.9, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 1.0, 0.0]))
        .body(disc("first", -0.5))
        .body(disc("second", 0.5))
        .body(slab)
        .build()
        .unwrap();
    let mut run_now = found(world, h);
    run(&mut run_now, 0.3);
    let v = &run_now.state().v;
    let expected = 0.3 * force / (mass + 3.0 / 8.0 * 2.0 * roller);
    // Gaps of the slop and arms at the start of each step: order 1.
    assert!((v[9] / expected - 1.0).abs() < 2e-3, "{} {expected}", v[9]);
    for disc in [1, 2] {
        assert!((v[3 * disc] / (0.5 * v[9]) - 1.0).abs() < 2e-3, "{v:?}");
    }
}

/// Ratio of the turning speeds after and before a block of base b and height c, rocking about one corner, lands on the other.
fn rocking(base: f64, height: f64, friction: f64, h: f64, dimension: Dimension) -> f64 {
    let tilt = 0.05f64;
    let (shape, gravity, up) = match dimension {
        Dimension::Space => (
            Shape::Box {
                sides: [base, 0.7 * base, height],
            },
            [0.0, 0.0, -G],
            [0.0, 0.0, 1.0],
        ),
        Dimension::Plane => (
            Shape::rectangle([base, height]).unwrap(),
            [0.0, -G, 0.0],
            [0.0, 1.0, 0.0],
        ),
    };
    // Turned about its left corner, which stays at the origin.
    let centre = [
        0.5 * base * tilt.cos() - 0.5 * height * tilt.sin(),
        0.5 * base * tilt.sin() + 0.5 * height * tilt.cos(),
    ];
    let half = [(0.5 * tilt).cos(), (0.5 * tilt).sin()];
    let pose = match dimension {
        Dimension::Space => Pose {
            position: [centre[0], 0.0, centre[1]],
            rotation: [half[0], 0.0, -half[1], 0.0],
        },
        Dimension::Plane => Pose {
            position: [centre[0], centre[1], 0.0],
            rotation: [half[0], 0.0, 0.0, half[1]],
        },
    };
    let world = World::builder()
        .dimension(dimension)
        .gravity(gravity)
        .pair(0, 0, law(dimension, friction, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], up))
        .body(shaped("block", shape, 2.3, dimension, pose))
        .build()
        .unwrap();
    let mut run = found(world, h);
    let turning = |run: &Simulation| match dimension {
        Dimension::Space => -run.state().v[6 + 4],
        Dimension::Plane => run.state().v[3 + 2],
    };
    let mut before = 0.0;
    for _ in 0..(0.5 / h) as usize {
        run.step_towards(1.0);
        let now = turning(&run);
        // The landing is over when nothing but gravity slows the block down.
        if now.abs() < 0.97 * f64::abs(before) {
            for _ in 0..3 {
                run.step_towards(1.0);
            }
            return turning(&run) / before;
        }
        before = now;
    }
    panic!("it has not landed");
}

#[test]
fn a_rocking_block_loses_what_the_angular_momentum_says() {
    for dimension in [Dimension::Space, Dimension::Plane] {
        for (base, height) in [(0.2, 0.4), (0.2, 0.6), (0.2, 0.25)] {
            let sine = base / f64::hypot(base, height);
            let k = 1.0 - 1.5 * sine * sine;
            // Gravity acts during the steps of the landing: order 1 in h.
            let error = |h: f64| (rocking(base, height, 1.0, h, dimension) - k).abs();
            let (coarse, fine) = (error(4e-4), error(1e-4));
            assert!(fine < 1e-2, "{dimension:?} {height}: {fine}");
            let order = (coarse / fine).log(4.0);
            assert!((order - 1.0).abs() < 0.1, "{dimension:?} {height}: {order}");
        }
        // Too low to rock: it stops.
        let ratio = rocking(0.2, 0.12, 1.0, 1e-4, dimension);
        assert!(ratio.abs() < 1e-6, "{dimension:?}: {ratio}");
    }
}
