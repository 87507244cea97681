//! Exact answers for balls and planes: rolling, slopes, bounces, belts, collisions.
//!
//! Tolerances: what is exact per step to 1e-9 (solver at 1e-13), times and distances to a few steps of motion (order 1).

use crate::worlds::{self, G, Random, Theta, law, newton, run, simulation};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{RunEnd, Simulation};
use stickslip::systems::World;
use stickslip::systems::world::{Dimension, DrivenMotion, Load, PairLaw, Pose, Twist, WorldBody};

const THETAS: [Theta; 4] = [Some(1.0), Some(0.75), Some(0.5), None];

fn velocity(simulation: &Simulation, body: usize) -> [f64; 3] {
    let v = &simulation.state().v[6 * body..];
    [v[0], v[1], v[2]]
}

fn spin(simulation: &Simulation, body: usize) -> [f64; 3] {
    let v = &simulation.state().v[6 * body..];
    [v[3], v[4], v[5]]
}

/// A ball of inertia `ratio` m r² on a plane whose normal is tilted against gravity by `slope`.
fn ball_on_slope(
    ratio: f64,
    friction: f64,
    slope: f64,
    speed: f64,
    theta: Theta,
    h: f64,
) -> Simulation {
    let (mass, radius) = (0.7, 0.13);
    let mut ball = WorldBody::ball("ball", mass, radius)
        .at(Pose::at([0.0, 0.0, radius]))
        .moving([speed, 0.0, 0.0], [0.0; 3]);
    ball.inertia = [ratio * mass * radius * radius; 3];
    let world = World::builder()
        .gravity([G * slope.sin(), 0.0, -G * slope.cos()])
        .pair(0, 0, law(Dimension::Space, friction, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
        .body(ball)
        .build()
        .unwrap();
    simulation(world, theta, h)
}

#[test]
fn sliding_ball_rolls_at_five_sevenths_of_its_speed() {
    let (speed, friction) = (2.0, 0.3);
    for theta in THETAS {
        for (ratio, share) in [(0.4, 5.0 / 7.0), (2.0 / 3.0, 3.0 / 5.0)] {
            // Slip ends at (1 - share) v0/(mu g); the way until then is (1 - share²) v0²/(2 mu g).
            let end = (1.0 - share) * speed / (friction * G);
            let way = (1.0 - share * share) * speed * speed / (2.0 * friction * G);
            let mut errors = Vec::new();
            for h in [2e-3, 1e-3] {
                let mut run_now = ball_on_slope(ratio, friction, 0.0, speed, theta, h);
                let later = 0.4;
                run(&mut run_now, later);
                let v = velocity(&run_now, 1);
                assert!((v[0] - share * speed).abs() < 1e-9, "{theta:?} {v:?}");
                assert!((spin(&run_now, 1)[1] * 0.13 - share * speed).abs() < 1e-9);
                let distance = run_now.state().q[7] - (later - end) * share * speed;
                errors.push((distance - way).abs());
                assert!(errors.last().unwrap() / way < 2.0 * h / end, "{errors:?}");
            }
        }
    }
}

#[test]
fn ball_on_a_slope_rolls_or_slides() {
    let slope: f64 = 0.5;
    let limit = 2.0 / 7.0 * slope.tan();
    for theta in THETAS {
        for (friction, acceleration) in [
            (1.01 * limit, 5.0 / 7.0 * G * slope.sin()),
            (0.99 * limit, G * (slope.sin() - 0.99 * limit * slope.cos())),
        ] {
            let mut run_now = ball_on_slope(0.4, friction, slope, 0.0, theta, 1e-3);
            run(&mut run_now, 0.2);
            let speed = velocity(&run_now, 1)[0];
            assert!(
                (speed - 0.2 * acceleration).abs() < 1e-9,
                "{theta:?} {speed}"
            );
        }
    }
}

/// One bounce of a ball against the floor without gravity; velocities after it.
fn bounce(
    friction: f64,
    impact: ImpactLaw,
    v: [f64; 3],
    w: [f64; 3],
    theta: Theta,
) -> ([f64; 3], [f64; 3]) {
    let (mass, radius) = (1.3, 0.2);
    let h = 1e-3;
    let ball = WorldBody::ball("ball", mass, radius)
        .at(Pose::turned([0.1, -0.3, radius + 1e-4], [0.3, 0.2, -0.4]));
    // The spin is given in body axes.
    let turned = ball.start.0.body_direction(w);
    let world = World::builder()
        .gravity([0.0; 3])
        .pair(0, 0, law(Dimension::Space, friction, impact))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
        .body(ball.moving(v, turned))
        .build()
        .unwrap();
    let mut run_now = simulation(world, theta, h);
    run(&mut run_now, 20.0 * h);
    let q = &run_now.state().q[7..];
    let pose = Pose {
        position: [q[0], q[1], q[2]],
        rotation: [q[3], q[4], q[5], q[6]],
    };
    (velocity(&run_now, 1), pose.direction(spin(&run_now, 1)))
}

#[test]
fn bounce_with_spin_is_exact() {
    let radius = 0.2;
    let mut random = Random(7);
    for k in 0..40 {
        let (friction, e) = (0.4 * (1.0 + random.next()), 0.5 * (1.0 + random.next()));
        let (mut v, w) = (random.vector(), random.vector().map(|x| 10.0 * x));
        v[2] = -1.0 - v[2].abs();
        let theta = THETAS[k % 4];
        // Velocity of the contact point, arm (0, 0, -r).
        let slip = [v[0] - w[1] * radius, v[1] + w[0] * radius];
        let size = slip[0].hypot(slip[1]);
        // Impulse per mass on the contact point: sticks if it can.
        let change = (2.0 / 7.0 * size).min(friction * (1.0 + e) * v[2].abs());
        let dv = [-change * slip[0] / size, -change * slip[1] / size];
        let expected = [v[0] + dv[0], v[1] + dv[1], -e * v[2]];
        let dw = [2.5 / radius * dv[1], -2.5 / radius * dv[0]];
        let laws = [newton(e), ImpactLaw::Poisson { restitution: e }];
        for impact in laws {
            let (after, spin_after) = bounce(friction, impact, v, w, theta);
            for (a, b) in after.iter().zip(expected) {
                assert!(
                    (a - b).abs() < 1e-10,
                    "{impact:?} {theta:?}: {after:?} {expected:?}"
                );
            }
            let expected_spin = [w[0] + dw[0], w[1] + dw[1], w[2]];
            for (a, b) in spin_after.iter().zip(expected_spin) {
                assert!((a - b).abs() < 1e-9, "{spin_after:?} {expected_spin:?}");
            }
        }
        // Frémond's friction reads a mean, at the latest at 1/(1 + e): the slip that stops there goes on the other way.
        let reflection = theta.map_or(1.0, |theta| ((1.0 - theta) / theta).max(e));
        let change = (2.0 / 7.0 * (1.0 + reflection) * size).min(friction * (1.0 + e) * v[2].abs());
        let expected = [0, 1].map(|i| v[i] - change * slip[i] / size);
        let (after, _) = bounce(friction, ImpactLaw::Fremond { restitution: e }, v, w, theta);
        for (a, b) in after.iter().zip(expected) {
            assert!((a - b).abs() < 1e-10, "{theta:?}: {after:?} {expected:?}");
        }
        // Without friction all laws are one.
        for impact in [
            ImpactLaw::Moreau { restitution: e },
            ImpactLaw::Fremond { restitution: e },
            ImpactLaw::Energetic { restitution: e },
        ] {
            let (after, _) = bounce(0.0, impact, v, w, theta);
            assert!(
                (after[2] + e * v[2]).abs() < 1e-12 && after[0] == v[0],
                "{impact:?}"
            );
        }
    }
}

#[test]
fn energetic_impact_with_friction_is_refused_by_name() {
    let refused = World::builder()
        .pair(
            0,
            0,
            law(
                Dimension::Space,
                0.1,
                ImpactLaw::Energetic { restitution: 0.5 },
            ),
        )
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
        .body(WorldBody::ball("ball", 1.0, 0.1))
        .build()
        .unwrap_err();
    assert!(refused.to_string().contains("energetic"), "{refused}");
}

/// A plane that moves along x.
struct Belt {
    speed: f64,
}

impl DrivenMotion for Belt {
    fn pose(&self, t: f64) -> Pose {
        Pose::at([self.speed * t, 0.0, 0.0])
    }
    fn velocity(&self, _t: f64) -> Twist {
        Twist {
            velocity: [self.speed, 0.0, 0.0],
            spin: [0.0; 3],
        }
    }
}

#[test]
fn body_dropped_on_a_belt_slips_for_speed_over_friction_times_gravity() {
    let (speed, friction, mass, radius, h) = (1.5, 0.4, 2.0, 0.1, 1e-3);
    for theta in THETAS {
        // Turning is ruled out by an inertia that nothing moves.
        let mut block = WorldBody::ball("block", mass, radius).at(Pose::at([0.0, 0.0, radius]));
        block.inertia = [1e9; 3];
        let world = World::builder()
            .pair(0, 0, law(Dimension::Space, friction, ImpactLaw::Inelastic))
            .body(
                WorldBody::half_space("belt", [0.0; 3], [0.0, 0.0, 1.0])
                    .driven(Belt { speed }, 0.0),
            )
            .body(block)
            .build()
            .unwrap();
        let mut run_now = simulation(world, theta, h);
        let end = speed / (friction * G);
        run(&mut run_now, 0.9 * end);
        let v = velocity(&run_now, 1);
        assert!(
            (v[0] - friction * G * run_now.state().t).abs() < 1e-9,
            "{v:?}"
        );
        run(&mut run_now, 1.5 * end);
        assert!((velocity(&run_now, 1)[0] - speed).abs() < 1e-9);
        let slip = speed * run_now.state().t - run_now.state().q[7];
        let expected = speed * speed / (2.0 * friction * G);
        assert!(
            (slip - expected).abs() < 2.0 * speed * h,
            "{slip} {expected}"
        );
        // The belt gives twice the kinetic energy: half of it goes into friction.
        let totals = run_now.ledger().totals;
        assert!(
            (totals.supports / (mass * speed * speed) - 1.0).abs() < 1e-9,
            "{totals:?}"
        );
        assert!((totals.contact_tangential / (-0.5 * mass * speed * speed) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn equal_balls_leave_at_right_angles_after_an_elastic_hit() {
    for theta in THETAS {
        let (radius, mass) = (0.1, 0.4);
        let world = World::builder()
            .gravity([0.0; 3])
            .pair(0, 0, law(Dimension::Space, 0.0, newton(1.0)))
            .body(WorldBody::ball("still", mass, radius))
            .body(
                WorldBody::ball("moving", mass, radius)
                    .at(Pose::at([-0.5, 0.11, 0.05]))
                    .moving([3.0, 0.0, 0.0], [1.0, 2.0, 3.0]),
            )
            .build()
            .unwrap();
        let mut run_now = simulation(world, theta, 1e-3);
        run(&mut run_now, 0.5);
        let (a, b) = (velocity(&run_now, 0), velocity(&run_now, 1));
        let product: f64 = (0..3).map(|k| a[k] * b[k]).sum();
        assert!(
            product.abs() < 1e-12 && a[0] > 0.1 && b[0] > 0.1,
            "{a:?} {b:?}"
        );
        for (k, expected) in [3.0, 0.0, 0.0].iter().enumerate() {
            assert!((a[k] + b[k] - expected).abs() < 1e-15 * 10.0);
        }
    }
}

#[test]
fn free_body_keeps_energy_and_angular_momentum() {
    for theta in THETAS {
        let body = WorldBody::new("body", 2.0, [0.3, 0.5, 0.6])
            .moving([0.1, -0.2, 3.0], [0.02, 5.0, -0.1]);
        let world = World::builder()
            .gravity([0.0; 3])
            .body(body)
            .build()
            .unwrap();
        let mut run_now = simulation(world, theta, 5e-3);
        let energy = run_now.state().kinetic;
        run(&mut run_now, 10.0);
        assert!((run_now.state().kinetic / energy - 1.0).abs() < 1e-12);
        let momentum = run_now.momentum_ledger();
        assert!(
            momentum.worst_angular < 1e-14 && momentum.worst_linear == 0.0,
            "{momentum:?}"
        );
    }
}

#[test]
fn constant_torque_and_force_give_their_exact_motion_and_work() {
    for theta in THETAS {
        let body =
            WorldBody::new("wheel", 2.0, [0.5; 3]).under(|_: f64, _: &Pose, _: &Twist| Load {
                force: [3.0, 0.0, 0.0],
                torque: [0.0, 0.0, 0.25],
            });
        let world = World::builder().body(body).build().unwrap();
        let mut run_now = simulation(world, theta, 1e-3);
        run(&mut run_now, 1.0);
        let (v, w) = (velocity(&run_now, 0), spin(&run_now, 0));
        assert!(
            (v[0] - 1.5).abs() < 1e-12 && (v[2] + G).abs() < 1e-11 && (w[2] - 0.5).abs() < 1e-12
        );
        let energy = 0.5 * (2.0 * 1.5f64.powi(2) + 0.5 * 0.5f64.powi(2));
        let work = run_now.ledger().totals.external;
        assert!((work - energy).abs() < 3.0 * 1.5 * 1e-3, "{work} {energy}");
    }
}

#[test]
fn column_of_balls_carries_the_weights_above() {
    let (count, ratio, radius) = (6, 1e6, 0.05);
    let mut builder = World::builder()
        .pair(0, 0, law(Dimension::Space, 0.5, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]));
    let masses: Vec<f64> = (0..count)
        .map(|i| if i + 1 == count { ratio } else { 1.0 })
        .collect();
    for (i, &mass) in masses.iter().enumerate() {
        let height = radius * (2 * i + 1) as f64;
        builder = builder.body(
            WorldBody::ball(format!("ball[{i}]"), mass, radius).at(Pose::at([0.0, 0.0, height])),
        );
    }
    let h = 1e-3;
    let mut run_now = simulation(builder.build().unwrap(), Some(1.0), h);
    run(&mut run_now, 0.05);
    for contact in &run_now.record().present {
        let [a, b] = contact.key.owners;
        let [lower, upper] = [a.min(b), a.max(b)];
        if upper != lower + 1 {
            continue;
        }
        let above: f64 = masses[lower as usize..].iter().sum();
        let force = contact.impulse[2].abs() / h;
        assert!(
            (force / (above * G) - 1.0).abs() < 1e-14 * ratio,
            "{contact:?} {above}"
        );
        assert!(contact.gap.abs() < 1e-9 * radius);
    }
}

#[test]
fn balls_in_a_box_close_their_accounts_under_every_scheme_and_law() {
    let mut random = Random(99);
    for theta in THETAS {
        for impact in [
            ImpactLaw::Inelastic,
            newton(0.6),
            ImpactLaw::Poisson { restitution: 0.6 },
            ImpactLaw::Moreau { restitution: 0.4 },
            ImpactLaw::Fremond { restitution: 0.5 },
        ] {
            let mut builder = World::builder()
                .pair(0, 0, law(Dimension::Space, 0.3, impact))
                .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
                .body(WorldBody::half_space(
                    "left",
                    [-0.4, 0.0, 0.0],
                    [1.0, 0.0, 0.0],
                ))
                .body(WorldBody::half_space(
                    "right",
                    [0.4, 0.0, 0.0],
                    [-1.0, 0.0, 0.2],
                ))
                .body(WorldBody::half_space(
                    "back",
                    [0.0, 0.4, 0.0],
                    [0.0, -1.0, 0.0],
                ))
                .body(WorldBody::half_space(
                    "front",
                    [0.0, -0.4, 0.0],
                    [0.0, 1.0, 0.0],
                ));
            for i in 0..10 {
                let place = [
                    0.25 * (i % 3) as f64 - 0.25,
                    0.25 * (i / 3 % 3) as f64 - 0.25,
                    0.15 + 0.25 * (i / 9) as f64,
                ];
                let radius = 0.1 + 0.02 * random.next();
                let mut ball =
                    WorldBody::ball(format!("ball[{i}]"), 1.0 + 0.9 * random.next(), radius)
                        .at(Pose::turned(place, random.vector()))
                        .moving(
                            random.vector().map(|x| 2.0 * x),
                            random.vector().map(|x| 9.0 * x),
                        );
                // Eccentric mass: unequal moments, gyroscopic terms.
                let j = ball.inertia[0];
                ball.inertia = [j, 1.3 * j, 1.6 * j];
                builder = builder.body(ball);
            }
            let mut run_now = simulation(builder.build().unwrap(), theta, 2e-3);
            let end = run_now.run_until(0.3, |_| std::ops::ControlFlow::Continue(()));
            assert_eq!(end, RunEnd::Finished);
            worlds::check_accounts(&run_now);
            let momentum = run_now.momentum_ledger();
            // Nothing leaves the box: the supports carry the weight and stop the fall.
            let weight: f64 = 0.3
                * G
                * run_now
                    .system()
                    .as_world()
                    .unwrap()
                    .bodies
                    .iter()
                    .filter(|b| b.is_free())
                    .map(|b| b.mass)
                    .sum::<f64>();
            assert!((-momentum.forces.linear[2] / weight - 1.0).abs() < 1e-12);
            assert!(
                run_now
                    .state()
                    .q
                    .chunks(7)
                    .skip(5)
                    .all(|q| q[2] > 0.07 && q[0].abs() < 0.6)
            );
        }
    }
}

/// Three equal discs: two on the floor that touch, one on top. Materials: disc 0, floor 1.
fn three_cylinders(between: f64, floor: f64) -> World {
    let radius = 0.1;
    let at = |x: f64, y: f64| Pose::at([x, y, 0.0]);
    let height = radius * (1.0 + 3f64.sqrt());
    World::builder()
        .dimension(Dimension::Plane)
        .material("disc")
        .material("floor")
        .pair(0, 0, law(Dimension::Plane, between, ImpactLaw::Inelastic))
        .pair(0, 1, law(Dimension::Plane, floor, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 1.0, 0.0]).of(1))
        .body(WorldBody::disc("left", 2.0, radius).at(at(-radius, radius)))
        .body(WorldBody::disc("right", 2.0, radius).at(at(radius, radius)))
        .body(WorldBody::disc("top", 2.0, radius).at(at(0.0, height)))
        .build()
        .unwrap()
}

/// Four equal balls: a triangle on the floor, one on top.
fn four_balls(between: f64, floor: f64) -> World {
    let radius = 0.1;
    let side = 2.0 * radius / 3f64.sqrt();
    let mut builder = World::builder()
        .material("ball")
        .material("floor")
        .pair(0, 0, law(Dimension::Space, between, ImpactLaw::Inelastic))
        .pair(0, 1, law(Dimension::Space, floor, ImpactLaw::Inelastic))
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]).of(1));
    for k in 0..3 {
        let angle = 0.3 + f64::from(k) * std::f64::consts::TAU / 3.0;
        let place = [side * angle.cos(), side * angle.sin(), radius];
        builder =
            builder.body(WorldBody::ball(format!("base[{k}]"), 2.0, radius).at(Pose::at(place)));
    }
    let height = radius * (1.0 + (8.0f64 / 3.0).sqrt());
    builder
        .body(WorldBody::ball("top", 2.0, radius).at(Pose::at([0.0, 0.0, height])))
        .build()
        .unwrap()
}

/// Fall of the last body after 0.2 s.
fn fall(world: World, axis: usize) -> f64 {
    let coordinates = world.dimension.coordinates();
    let at = (world.bodies.len() - 1) * coordinates + axis;
    let mut run_now = simulation(world, Some(1.0), 1e-3);
    let start = run_now.state().q[at];
    run(&mut run_now, 0.2);
    start - run_now.state().q[at]
}

#[test]
fn piles_of_cylinders_and_balls_stand_from_the_exact_friction_on() {
    // Between the bodies and at the floor, in the plane and in space.
    let cylinders = [2.0 - 3f64.sqrt(), (2.0 - 3f64.sqrt()) / 3.0];
    let balls = [
        3f64.sqrt() - 2f64.sqrt(),
        0.25 * (3f64.sqrt() - 2f64.sqrt()),
    ];
    for (pile, limits, axis) in [
        (three_cylinders as fn(f64, f64) -> World, cylinders, 1),
        (four_balls, balls, 2),
    ] {
        let stands = fall(pile(1.01 * limits[0], 1.01 * limits[1]), axis);
        assert!(stands.abs() < 1e-7, "{stands}");
        for (between, floor) in [(0.98, 1.5), (1.5, 0.98)] {
            let fallen = fall(pile(between * limits[0], floor * limits[1]), axis);
            assert!(fallen > 1e-4, "{between} {floor}: {fallen}");
        }
    }
}

#[test]
fn rolling_friction_stops_a_ball_and_drilling_friction_its_spin() {
    // Rolling with moment c N about the tangents: m g c = (7/5) m r a, a ball at v0 stops after v0/a.
    let (radius, mass, friction, rolling, drilling) = (0.1, 0.5, 0.8, 0.004, 0.003);
    let section = FrictionSection::product(vec![
        FrictionSection::disc(friction).unwrap(),
        FrictionSection::disc(rolling).unwrap(),
        FrictionSection::segment(drilling).unwrap(),
    ])
    .unwrap();
    let speed = 1.0;
    for theta in THETAS {
        let law = PairLaw {
            contact: ContactLaw::new(section.clone(), ImpactLaw::Inelastic).unwrap(),
            rolling: true,
            drilling: true,
        };
        let ball = WorldBody::ball("ball", mass, radius)
            .at(Pose::at([0.0, 0.0, radius]))
            .moving([speed, 0.0, 0.0], [0.0, speed / radius, 3.0]);
        let world = World::builder()
            .pair(0, 0, law)
            .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
            .body(ball)
            .build()
            .unwrap();
        let mut run_now = simulation(world, theta, 1e-3);
        let deceleration = 5.0 / 7.0 * rolling * G / radius;
        let spin_down = drilling * G / (0.4 * radius * radius);
        // The spin about the vertical is in body axes here: the ball rolls about y, so read it early.
        run(&mut run_now, 0.1);
        let q = &run_now.state().q[7..];
        let pose = Pose {
            position: [q[0], q[1], q[2]],
            rotation: [q[3], q[4], q[5], q[6]],
        };
        let vertical = pose.direction(spin(&run_now, 1))[2];
        assert!(
            (vertical - (3.0 - 0.1 * spin_down)).abs() < 1e-9,
            "{vertical}"
        );
        let v = velocity(&run_now, 1);
        assert!((v[0] - (speed - 0.1 * deceleration)).abs() < 1e-9, "{v:?}");
        run(&mut run_now, 1.1 * speed / deceleration);
        let v = velocity(&run_now, 1);
        assert!(
            v[0].abs() < 1e-9 && spin(&run_now, 1)[1].abs() < 1e-8,
            "{v:?}"
        );
    }
}

#[test]
fn an_ellipse_of_friction_follows_its_body() {
    // A ball that cannot turn, pushed along x and y on a floor whose friction is 0.2 along x and 0.6 along y.
    let slide = |turn: f64, push: [f64; 2]| {
        let section = FrictionSection::ellipse([0.2, 0.6]).unwrap();
        let contact = ContactLaw::new(section, ImpactLaw::Inelastic).unwrap();
        let mut ball = WorldBody::ball("ball", 1.0, 0.1).at(Pose::at([0.0, 0.0, 0.1]));
        ball.inertia = [1e9; 3];
        let force = [push[0] * G, push[1] * G, 0.0];
        let ball = ball.under(move |_: f64, _: &Pose, _: &Twist| Load {
            force,
            torque: [0.0; 3],
        });
        let floor = WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0])
            .at(Pose::turned([0.0; 3], [0.0, 0.0, turn]));
        let world = World::builder()
            .pair(0, 0, contact)
            .body(floor)
            .body(ball)
            .build()
            .unwrap();
        let mut run_now = simulation(world, Some(1.0), 1e-3);
        run(&mut run_now, 0.1);
        let v = velocity(&run_now, 1);
        [v[0], v[1]]
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    assert!(slide(0.0, [0.19, 0.0])[0].abs() < 1e-9 && slide(0.0, [0.0, 0.59])[1].abs() < 1e-9);
    assert!((slide(0.0, [0.3, 0.0])[0] - 0.1 * 0.1 * G).abs() < 1e-7);
    assert!((slide(quarter, [0.0, 0.3])[1] - 0.1 * 0.1 * G).abs() < 1e-7);
    assert!(slide(quarter, [0.59, 0.0])[0].abs() < 1e-7);
}
