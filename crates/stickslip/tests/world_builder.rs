//! Worlds from Rust and from scenes are the same worlds: every key of a scene has its counterpart in `World::builder()`.

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::CascadeSolver;
use stickslip::stepping::WorldStepping;
use stickslip::systems::World;
use stickslip::systems::world::{
    CollisionDetection, Dimension, DrivenMotion, Fill, FillAmount, FillShape, FillSize, ForceSums,
    Grid, Load, Monitor, MonitorQuantity, PairLaw, PlacedShape, Pose, Recording, Shape, Twist,
    Weight, WorldBody, WorldError,
};

fn scene(text: &str) -> Scene {
    let source = SourceText::new("builder.toml", text);
    Scene::parse(source).unwrap_or_else(|error| panic!("{error}"))
}

/// Same bodies, laws, records; bits where numbers are given, and where they are computed the same way.
fn same(built: &World, read: &World) {
    assert_eq!(built.dimension, read.dimension);
    assert_eq!(built.gravity, read.gravity);
    assert_eq!(built.slop, read.slop);
    assert_eq!(built.bodies.len(), read.bodies.len());
    for (a, b) in built.bodies.iter().zip(&read.bodies) {
        assert_eq!(a.name, b.name);
        assert_eq!(a.mass, b.mass, "{}", a.name);
        assert_eq!(a.inertia, b.inertia, "{}", a.name);
        assert_eq!(a.shapes, b.shapes, "{}", a.name);
        assert_eq!(a.start, b.start, "{}", a.name);
        assert_eq!((a.size, a.radius), (b.size, b.radius), "{}", a.name);
        assert_eq!(a.material, b.material, "{}", a.name);
        assert_eq!(a.is_free(), b.is_free(), "{}", a.name);
        assert_eq!((a.collides, a.group), (b.collides, b.group), "{}", a.name);
        assert_eq!(a.ignores, b.ignores, "{}", a.name);
    }
    assert_eq!(built.laws.materials(), read.laws.materials());
    let count = built.laws.materials().len() as u32;
    for (a, b) in (0..count).flat_map(|a| (a..count).map(move |b| (a, b))) {
        let law = |world: &World| {
            let law = world.laws.law(world.laws.find(a, b)?).clone();
            Some((law.coefficients(), law.contact.impact(), law.rows()))
        };
        assert_eq!(law(built), law(read), "{a} {b}");
    }
    assert_eq!(built.recording, read.recording);
    assert_eq!(built.monitors, read.monitors);
}

/// Both make the same steps.
fn steps_alike(built: World, read: &Scene, theta: f64) {
    let detection = CollisionDetection::new(&built).unwrap();
    let (q, v) = (built.start_coordinates(), built.start_velocities());
    let mut own = Simulation::new(
        Box::new(built),
        Box::new(WorldStepping::moreau_jean(theta, Box::new(detection)).unwrap()),
        Box::new(CascadeSolver::for_blocks_from(24, 1e-10)),
        (&q, &v),
        SimulationSettings::fixed(1e-3),
    )
    .unwrap();
    let mut other = read.simulation().unwrap();
    for _ in 0..20 {
        own.step_towards(1.0);
        other.step_towards(1.0);
    }
    let pairs = own.state().q.iter().zip(&other.state().q);
    for (a, b) in pairs {
        assert!((a - b).abs() <= 1e-9, "{a} {b}");
    }
}

struct Shaking;

impl DrivenMotion for Shaking {
    fn pose(&self, t: f64) -> Pose {
        Pose::turned([0.1 * (10.0 * t).sin(), 0.0, 0.5], [0.0, 0.0, 2.0 * t])
    }

    fn velocity(&self, t: f64) -> Twist {
        Twist {
            velocity: [(10.0 * t).cos(), 0.0, 0.0],
            spin: [0.0, 0.0, 2.0],
        }
    }
}

const SPACE: &str = r#"
title = "Everything"
step = 1e-3
until = 0.1
record = { bodies = ["stone"], contacts = "none", forces = "pairs" }

[world]
gravity = [0.1, 0, -9]
slop = 2e-4

[[materials]]
name = "brick"
density = 1800
friction = 0.6

[[materials]]
name = "steel"
density = 7800
friction = 0.15
rolling_friction = 1e-3
drilling_friction = 2e-3
restitution = 0.3

[[materials]]
name = "ice"
density = 900

[[pairs]]
between = ["brick", "steel"]
friction = 0.45
restitution = 0.2
impact = "poisson"

[[bodies]]
name = "floor"
fixed = true
material = "brick"
shape = { half_space = [0, 0, 1] }

[[bodies]]
name = "table"
material = "steel"
group = "machine"
motion = { position = ["0.1*sin(10*t)", 0, 0.5], rotation = [0, 0, "2*t"] }
shape = { box = [1, 1, 0.1] }

[[bodies]]
name = "stone"
material = "brick"
shape = { box = [0.2, 0.1, 0.06] }
position = [2, 0, 0.03]
repeat = { count = [3, 2, 2], spacing = [0.25, 0.2, 0.06], stagger = [0.05, 0, 0] }

[[bodies]]
name = "arm"
material = "ice"
group = "machine"
ignores = ["floor"]
shapes = [{ capsule = { radius = 0.05, length = 0.4 }, at = [0, 0, 0.2] }, { ball = 0.1, at = [0.1, 0, 0], rotation = [0, 0.3, 0] }]
position = [0, 3, 2]
rotation = [0.1, 0.2, 0.3]
velocity = [1, 0, 0]
spin = [0, 0, 1]
force = [0, "-x", 1]
torque = [0, 0, "-wz"]

[[bodies]]
name = "ghost"
material = "ice"
collides = false
mass = 2
inertia = [0.2, 0.3, 0.4, 0.01, 0, 0]
centre = [0.01, 0, 0]
shape = { cone = { radius = 0.1, length = 0.3 } }
position = [0, -3, 1]
quaternion = [0.6, 0, 0.8, 0]

[[fill]]
name = "grain"
material = "brick"
region = { box = [1, 1, 1], at = [5, 0, 1] }
count = 40
seed = 7
velocity = [0, 0, -1]
shapes = [{ shape = { ball = 0.03 }, weight = 2, uniform = [0.5, 1.5] }, { shape = { box = [0.04, 0.05, 0.06] }, lognormal = [1, 0.2] }]

[[monitors]]
name = "energy of stones"
energy = "stone"
"#;

fn everything(read: &World) -> World {
    let law = |friction: f64, rolling: f64, drilling: f64, impact: ImpactLaw| {
        let parts = [friction, rolling, drilling];
        PairLaw::of_coefficients(Dimension::Space, parts, impact).unwrap()
    };
    let newton = |restitution: f64| ImpactLaw::Newton { restitution };
    let weigh = |density: f64| Weight {
        density: Some(density),
        ..Weight::default()
    };
    let space = Dimension::Space;
    let placed = |shape: Shape, position: [f64; 3], rotation: [f64; 3]| PlacedShape {
        shape,
        pose: Pose::turned(position, rotation),
    };
    let of = |name: &str, shapes: &[PlacedShape], weight: Weight| {
        WorldBody::of_shapes(name, shapes, &weight, space).unwrap()
    };
    let stone = Shape::cuboid([0.2, 0.1, 0.06]).unwrap();
    let (stone, frame) = of("stone", &[stone.into()], weigh(1800.0));
    let stone = stone.at(Pose::at([2.0, 0.0, 0.03]).times(&frame));
    let table = Shape::cuboid([1.0, 1.0, 0.1]).unwrap();
    let mut table = WorldBody::obstacle("table", &[table.into()], space)
        .unwrap()
        .driven(Shaking, 0.0)
        .of(1);
    table.group = 1;
    let parts = [
        placed(
            Shape::capsule(0.05, 0.4).unwrap(),
            [0.0, 0.0, 0.2],
            [0.0; 3],
        ),
        placed(Shape::ball(0.1).unwrap(), [0.1, 0.0, 0.0], [0.0, 0.3, 0.0]),
    ];
    let (arm, frame) = of("arm", &parts, weigh(900.0));
    let mut arm = arm
        .at(Pose::turned([0.0, 3.0, 2.0], [0.1, 0.2, 0.3]).times(&frame))
        .moving([1.0, 0.0, 0.0], frame.body_direction([0.0, 0.0, 1.0]))
        .of(2)
        .under(|_t: f64, pose: &Pose, twist: &Twist| Load {
            force: [0.0, -pose.position[0], 1.0],
            torque: [0.0, 0.0, -twist.spin[2]],
        });
    arm.group = 1;
    arm.ignores = vec![0];
    let weight = Weight {
        mass: Some(2.0),
        inertia: Some([[0.2, 0.01, 0.0], [0.01, 0.3, 0.0], [0.0, 0.0, 0.4]]),
        centre: Some([0.01, 0.0, 0.0]),
        density: Some(900.0),
    };
    let (ghost, frame) = of("ghost", &[Shape::cone(0.1, 0.3).unwrap().into()], weight);
    let pose = Pose {
        position: [0.0, -3.0, 1.0],
        rotation: [0.6, 0.0, 0.8, 0.0],
    };
    let mut ghost = ghost.at(pose.times(&frame)).of(2);
    ghost.collides = false;
    let grid = Grid {
        count: [3, 2, 2],
        spacing: [0.25, 0.2, 0.06],
        stagger: [0.05, 0.0, 0.0],
    };
    let grains = grains(40).bodies(space).unwrap();
    let stones: Vec<u32> = (2..14).collect();
    World::builder()
        .gravity([0.1, 0.0, -9.0])
        .slop(2e-4)
        .material("brick")
        .material("steel")
        .material("ice")
        .pair(
            0,
            0,
            law(0.6, 0.0, 0.0, ImpactLaw::Newton { restitution: 0.0 }),
        )
        .pair(1, 1, law(0.15, 1e-3, 2e-3, newton(0.3)))
        .pair(
            2,
            2,
            ContactLaw::new(
                FrictionSection::None,
                ImpactLaw::Newton { restitution: 0.0 },
            )
            .unwrap(),
        )
        .pair(
            0,
            1,
            law(0.45, 0.0, 0.0, ImpactLaw::Poisson { restitution: 0.2 }),
        )
        .mean_pairs()
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
        .body(table)
        .repeat(&stone, grid)
        .body(arm)
        .body(ghost)
        .bodies(grains)
        .record(Recording {
            bodies: Some(stones.clone()),
            contacts: false,
            forces: Some(ForceSums::Pairs),
        })
        .monitor(Monitor {
            name: read.monitors[0].name.clone(),
            quantity: MonitorQuantity::Energy { group: stones },
        })
        .build()
        .unwrap()
}

fn grains(count: usize) -> Fill {
    Fill {
        name: "grain".to_string(),
        material: 0,
        density: 1800.0,
        sides: [1.0; 3],
        at: [5.0, 0.0, 1.0],
        amount: FillAmount::Count(count),
        shapes: vec![
            FillShape {
                shape: Shape::ball(0.03).unwrap().into(),
                weight: 2.0,
                size: FillSize::Uniform(0.5, 1.5),
            },
            FillShape {
                shape: Shape::cuboid([0.04, 0.05, 0.06]).unwrap().into(),
                weight: 1.0,
                size: FillSize::Lognormal(1.0, 0.2),
            },
        ],
        velocity: [0.0, 0.0, -1.0],
        seed: 7,
        most: 1000,
    }
}

#[test]
fn every_key_of_a_world_in_space_is_there_from_rust() {
    let read = scene(SPACE);
    let built = everything(read.world().unwrap());
    same(&built, read.world().unwrap());
    steps_alike(built, &read, 1.0);
}

#[test]
fn a_world_in_the_plane_is_there_from_rust() {
    let read = scene(
        "title = \"Plane\"\nstep = 1e-3\nuntil = 0.1\n[world]\ndimension = 2\n[[materials]]\nname = \"m\"\ndensity = 100\n\
         friction = 0.5\nrolling_friction = 0.01\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { half_plane = [0, 1] }\n\
         [[bodies]]\nname = \"block\"\nshape = { polygon = [[0, 0], [0.3, 0], [0, 0.2]] }\nposition = [0, 0.4]\nrotation = 0.2\nspin = 1\n\
         [[bodies]]\nname = \"disc\"\nshape = { disc = 0.1 }\nposition = [2, 0.1]\nvelocity = [1, 0]\n\
         repeat = { count = [3, 2], spacing = [0.3, 0.25], stagger = [0.1, 0] }\n",
    );
    let plane = Dimension::Plane;
    let weight = Weight {
        density: Some(100.0),
        ..Weight::default()
    };
    let law = PairLaw::of_coefficients(
        plane,
        [0.5, 0.01, 0.0],
        ImpactLaw::Newton { restitution: 0.0 },
    )
    .unwrap();
    let triangle = Shape::polygon(&[[0.0, 0.0], [0.3, 0.0], [0.0, 0.2]]).unwrap();
    let (block, frame) = WorldBody::of_shapes("block", &[triangle.into()], &weight, plane).unwrap();
    let block = block
        .at(Pose::planar(0.0, 0.4, 0.2).times(&frame))
        .moving([0.0; 3], [0.0, 0.0, 1.0]);
    let (disc, _) =
        WorldBody::of_shapes("disc", &[Shape::ball(0.1).unwrap().into()], &weight, plane).unwrap();
    let disc = disc
        .at(Pose::planar(2.0, 0.1, 0.0))
        .moving([1.0, 0.0, 0.0], [0.0; 3]);
    let grid = Grid {
        count: [3, 2, 1],
        spacing: [0.3, 0.25, 0.0],
        stagger: [0.1, 0.0, 0.0],
    };
    let built = World::builder()
        .dimension(plane)
        .material("m")
        .pair(0, 0, law)
        .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 1.0, 0.0]))
        .body(block)
        .repeat(&disc, grid)
        .build()
        .unwrap();
    same(&built, read.world().unwrap());
    steps_alike(built, &read, 1.0);
}

#[test]
fn a_grid_shifts_the_motion_of_driven_bodies() {
    let body = WorldBody::new("table", 1.0, [1.0; 3]).driven(Shaking, 0.0);
    let other = body.shifted("other", [0.0, 2.0, 0.0]);
    let stickslip::systems::world::BodyMotion::Driven(motion) = &other.motion else {
        panic!("driven")
    };
    let (here, there) = (Shaking.pose(0.3), motion.pose(0.3));
    assert_eq!(there.position[1], here.position[1] + 2.0);
    assert_eq!(other.start.0.position[1], body.start.0.position[1] + 2.0);
    assert_eq!(motion.velocity(0.3), Shaking.velocity(0.3));
}

#[test]
fn fills_that_cannot_be_are_refused_by_name() {
    let space = Dimension::Space;
    let refused = |change: &dyn Fn(&mut Fill)| {
        let mut fill = grains(10);
        change(&mut fill);
        fill.bodies(space).unwrap_err()
    };
    assert_eq!(refused(&|f| f.shapes.clear()), WorldError::NoShape);
    assert!(matches!(
        refused(&|f| f.amount = FillAmount::Fraction(0.9)),
        WorldError::Full { .. } | WorldError::TooMany { .. }
    ));
    assert_eq!(refused(&|f| f.most = 9), WorldError::TooMany { most: 9 });
    for error in [
        refused(&|f| f.sides[1] = -1.0),
        refused(&|f| f.amount = FillAmount::Fraction(f64::NAN)),
        refused(&|f| f.shapes[0].weight = f64::NAN),
        refused(&|f| f.shapes[0].size = FillSize::Uniform(2.0, 1.0)),
        refused(&|f| f.shapes[1].size = FillSize::Lognormal(1.0, 3.0)),
    ] {
        assert!(matches!(error, WorldError::Number { .. }), "{error}");
    }
    let mut full = grains(10);
    full.sides = [0.1; 3];
    assert!(matches!(
        full.bodies(space),
        Err(WorldError::Full { wanted: 10, .. })
    ));
}
