use super::Random;
use crate::laws::{ContactLaw, FrictionSection, ImpactLaw};
use crate::systems::world::{
    CollisionDetection, ContactSource, Dimension, FoundContact, PlacedShape, Pose, Shape, Weight,
    World, WorldBody, WorldBuilder, WorldState,
};

fn builder() -> WorldBuilder {
    let law = ContactLaw::new(FrictionSection::disc(0.3).unwrap(), ImpactLaw::Inelastic).unwrap();
    World::builder().material("stone").pair(0, 0, law)
}

fn state(world: &World) -> WorldState {
    let mut state = WorldState::default();
    state.read(
        world,
        0.0,
        &world.start_coordinates(),
        &world.start_velocities(),
    );
    state
}

fn solid(name: &str, shape: Shape, pose: Pose) -> WorldBody {
    let weight = Weight {
        density: Some(1000.0),
        ..Weight::default()
    };
    let shapes: [PlacedShape; 1] = [shape.into()];
    let (body, frame) = WorldBody::of_shapes(name, &shapes, &weight, Dimension::Space).unwrap();
    body.at(pose.times(&frame))
}

fn floor() -> WorldBody {
    WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0])
}

fn mixed(count: usize, seed: u64) -> World {
    let mut random = Random(seed);
    let mut builder = builder().body(floor());
    for k in 0..count {
        let size = random.between(0.05, 0.4);
        let shape = match k % 4 {
            0 => Shape::ball(size).unwrap(),
            1 => Shape::cuboid([size, 1.3 * size, 0.8 * size]).unwrap(),
            2 => Shape::cylinder(0.5 * size, size).unwrap(),
            _ => Shape::capsule(0.4 * size, size).unwrap(),
        };
        let at = [
            random.between(-1.0, 1.0),
            random.between(-1.0, 1.0),
            random.between(0.0, 1.5),
        ];
        let pose = Pose::turned(at, random.vector(3.0));
        let body =
            solid(&format!("b{k}"), shape, pose).moving(random.vector(1.0), random.vector(2.0));
        builder = builder.body(body);
    }
    builder.build().unwrap()
}

/// Moves all bodies by their velocities, as a run would.
fn drift(state: &mut WorldState, h: f64) {
    for (pose, twist) in state.poses.iter_mut().zip(&state.twists) {
        let turn = Pose::turned([0.0; 3], twist.spin.map(|w| w * h));
        let moved: [f64; 3] = std::array::from_fn(|k| pose.position[k] + h * twist.velocity[k]);
        *pose = Pose {
            position: moved,
            rotation: pose.times(&turn).rotation,
        };
    }
}

#[test]
fn contacts_do_not_depend_on_when_the_list_was_made() {
    let world = mixed(60, 5);
    let mut state = state(&world);
    let h = 1e-3;
    let mut kept = CollisionDetection::new(&world).unwrap();
    let (mut found, mut again) = (Vec::new(), Vec::new());
    let mut counts = 0;
    for _ in 0..200 {
        kept.find(&world, &state, h, &mut found);
        // A new detection knows no slots; places, normals and gaps are the same bits.
        let mut fresh = CollisionDetection::new(&world).unwrap();
        fresh.find(&world, &state, h, &mut again);
        let bare = |list: &[FoundContact]| {
            let mut bare: Vec<_> = list
                .iter()
                .map(|c| (c.key.owners, c.place.map(f64::to_bits), c.gap.to_bits()))
                .collect();
            bare.sort_unstable();
            bare
        };
        assert_eq!(bare(&found), bare(&again));
        assert!(found.windows(2).all(|w| w[0].key < w[1].key));
        counts += found.len();
        drift(&mut state, h);
    }
    assert!(counts > 2000, "{counts}");
}

#[test]
fn a_recalled_memory_goes_on_with_the_same_bits() {
    let world = mixed(60, 6);
    let mut state = state(&world);
    let h = 1e-3;
    let mut detection = CollisionDetection::new(&world).unwrap();
    let mut found = Vec::new();
    for _ in 0..50 {
        detection.find(&world, &state, h, &mut found);
        drift(&mut state, h);
    }
    let memory = detection.memory();
    let text = serde_json::to_string(&memory).unwrap();
    let mut resumed = CollisionDetection::new(&world).unwrap();
    assert!(resumed.recall(&serde_json::from_str(&text).unwrap()));
    let mut again = Vec::new();
    for _ in 0..50 {
        detection.find(&world, &state, h, &mut found);
        resumed.find(&world, &state, h, &mut again);
        assert_eq!(found, again);
        drift(&mut state, h);
    }
    assert!(!resumed.recall(&serde_json::json!({ "proxies": 3, "pairs": [] })));
    assert!(!resumed.recall(&serde_json::json!("nonsense")));
}

#[test]
fn every_pair_within_reach_is_found() {
    // Balls only: the distance of any two centres tells.
    let mut random = Random(7);
    let mut builder = builder();
    for k in 0..200 {
        let radius = random.between(0.02, 0.2);
        let body = solid(
            &format!("b{k}"),
            Shape::ball(radius).unwrap(),
            Pose::at(random.vector(1.0)),
        );
        builder = builder.body(body.moving(random.vector(3.0), random.vector(1.0)));
    }
    let world = builder.build().unwrap();
    let mut state = state(&world);
    let mut detection = CollisionDetection::new(&world).unwrap();
    let (h, mut found, mut total) = (1e-3, Vec::new(), 0);
    for _ in 0..100 {
        detection.find(&world, &state, h, &mut found);
        let mut expected = 0;
        for a in 0..200 {
            for b in a + 1..200 {
                let d: f64 = (0..3)
                    .map(|k| (state.poses[a].position[k] - state.poses[b].position[k]).powi(2))
                    .sum::<f64>()
                    .sqrt();
                let gap = d - world.bodies[a].radius - world.bodies[b].radius;
                let near: f64 = (0..3)
                    .map(|k| (state.twists[a].velocity[k] - state.twists[b].velocity[k]).powi(2))
                    .sum::<f64>()
                    .sqrt();
                if gap <= h * near {
                    expected += 1;
                    let key = [a as u32, b as u32];
                    assert!(
                        found
                            .iter()
                            .any(|c| c.key.owners == key && (c.gap - gap).abs() < 1e-14)
                    );
                }
            }
        }
        total += expected;
        drift(&mut state, h);
    }
    assert!(total > 5000, "{total}");
}

#[test]
fn a_resting_box_keeps_its_keys_and_hands_its_contacts_on() {
    let world = builder()
        .body(floor())
        .body(solid(
            "low",
            Shape::cuboid([1.0; 3]).unwrap(),
            Pose::at([0.0, 0.0, 0.5]),
        ))
        .body(solid(
            "high",
            Shape::cuboid([1.0; 3]).unwrap(),
            Pose::at([0.1, 0.0, 1.5]),
        ))
        .build()
        .unwrap();
    let mut state = state(&world);
    let mut detection = CollisionDetection::new(&world).unwrap();
    let (mut last, mut found) = (Vec::new(), Vec::new());
    for step in 0..100 {
        detection.find(&world, &state, 1e-3, &mut found);
        assert_eq!(found.len(), 8, "step {step}");
        if step > 0 {
            for (k, contact) in found.iter().enumerate() {
                assert_eq!(contact.matched, Some(k as u32));
                let before: &FoundContact = &last[k];
                assert_eq!(before.key, contact.key);
            }
        }
        last.clone_from(&found);
        // Rounding and a slow slide, first below and then above what is kept.
        let slide = if step < 50 { 1e-9 } else { 1e-4 };
        state.poses[2].position[0] += slide;
        state.poses[2].position[2] += 1e-13 * (-1f64).powi(step);
    }
}

#[test]
fn groups_ignored_bodies_and_fixed_pairs_do_not_touch() {
    let ball = |name: &str, x: f64| solid(name, Shape::ball(0.5).unwrap(), Pose::at([x, 0.0, 0.0]));
    let mut a = ball("a", 0.0);
    a.group = 3;
    let mut b = ball("b", 0.9);
    b.group = 3;
    let mut c = ball("c", 1.8);
    c.ignores = vec![1];
    let mut d = ball("d", 2.7);
    d.collides = false;
    let world = builder().body(a).body(b).body(c).body(d).build().unwrap();
    let mut found = Vec::new();
    let mut detection = CollisionDetection::new(&world).unwrap();
    detection.find(&world, &state(&world), 1e-3, &mut found);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn parts_of_compounds_have_keys_of_their_own() {
    // A table of two legs and a plate: the plate never touches the floor, each leg with four corners.
    let weight = Weight {
        mass: Some(10.0),
        ..Weight::default()
    };
    let part = |sides: [f64; 3], at: [f64; 3]| PlacedShape {
        shape: Shape::cuboid(sides).unwrap(),
        pose: Pose::at(at),
    };
    let shapes = [
        part([2.0, 1.0, 0.1], [0.0, 0.0, 1.05]),
        part([0.1, 1.0, 1.0], [-0.9, 0.0, 0.5]),
        part([0.1, 1.0, 1.0], [0.9, 0.0, 0.5]),
    ];
    let (table, _) = WorldBody::of_shapes("table", &shapes, &weight, Dimension::Space).unwrap();
    let world = builder().body(floor()).body(table).build().unwrap();
    let mut found = Vec::new();
    let mut detection = CollisionDetection::new(&world).unwrap();
    detection.find(&world, &state(&world), 1e-3, &mut found);
    assert_eq!(found.len(), 8);
    assert!(found.windows(2).all(|w| w[0].key < w[1].key));
    for contact in &found {
        assert!(contact.gap.abs() < 1e-12 && contact.normal[2] < -1.0 + 1e-12);
    }
}

#[test]
fn hostile_states_give_no_panic() {
    let mut world_state = state(&mixed(20, 8));
    let world = mixed(20, 8);
    for (k, value) in [f64::NAN, 1e300, f64::INFINITY, -1e12].iter().enumerate() {
        world_state.poses[3 + k].position = [*value; 3];
        world_state.twists[5 + k].velocity = [*value; 3];
    }
    // Two bodies at one place.
    world_state.poses[10] = world_state.poses[11];
    let mut found = Vec::new();
    let mut detection = CollisionDetection::new(&world).unwrap();
    for _ in 0..3 {
        detection.find(&world, &world_state, 1e-3, &mut found);
    }
}
