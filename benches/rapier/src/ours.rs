//! Stickslip: the defaults of worlds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use stickslip::contact::{ContactProblem, ContactSolution, ContactSolver};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::{BodySweepSettings, BodySweepSolver};
use stickslip::stepping::WorldStepping;
use stickslip::systems::World;
use stickslip::systems::world::{
    CollisionDetection, Dimension, DrivenMotion, Load, PlacedShape, Pose, Shape, Twist, Weight,
    WorldBody,
};

use crate::scene::{Form, Obstacle, Scene};
use crate::{Figures, cpu_time};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on unchanged to the system allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: same layout, same contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sides and angle about y of the plates of a drum.
pub fn plates(radius: f64, length: f64, count: usize) -> Vec<([f64; 3], f64)> {
    let half = std::f64::consts::PI / count as f64;
    let thick = 0.1 * radius;
    let wide = 2.0 * (radius + thick) * half.tan();
    (0..count)
        .map(|i| ([wide, length, thick], 2.0 * half * i as f64))
        .collect()
}

fn about_y(angle: f64) -> [f64; 4] {
    [(0.5 * angle).cos(), 0.0, (0.5 * angle).sin(), 0.0]
}

struct Turning(f64);

impl DrivenMotion for Turning {
    fn pose(&self, t: f64) -> Pose {
        Pose {
            position: [0.0; 3],
            rotation: about_y(self.0 * t),
        }
    }
    fn velocity(&self, _t: f64) -> Twist {
        Twist {
            velocity: [0.0; 3],
            spin: [0.0, self.0, 0.0],
        }
    }
}

/// −20/s times the momentum, until then.
fn drag(mass: f64, until: f64) -> impl Fn(f64, &Pose, &Twist) -> Load {
    move |t, _: &Pose, twist: &Twist| {
        let rate = if t < until { 20.0 } else { 0.0 };
        Load {
            force: twist.velocity.map(|v| -rate * mass * v),
            ..Load::default()
        }
    }
}

fn world(scene: &Scene) -> World {
    let law = ContactLaw::new(
        FrictionSection::disc(scene.friction).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let mut builder = World::builder().pair(0, 0, law);
    for (i, obstacle) in scene.obstacles.iter().enumerate() {
        builder = builder.body(match *obstacle {
            Obstacle::Plane(place, normal) => {
                WorldBody::half_space(format!("plane{i}"), place, normal)
            }
            Obstacle::Drum(radius, length, rate, count) => {
                let shapes: Vec<PlacedShape> = plates(radius, length, count)
                    .into_iter()
                    .map(|(sides, angle)| {
                        let reach = radius + 0.5 * sides[2];
                        PlacedShape {
                            shape: Shape::cuboid(sides).expect("a plate"),
                            pose: Pose {
                                position: [-reach * angle.sin(), 0.0, -reach * angle.cos()],
                                rotation: about_y(angle),
                            },
                        }
                    })
                    .collect();
                let weight = Weight {
                    mass: Some(1.0),
                    ..Weight::default()
                };
                let (body, _) = WorldBody::of_shapes("drum", &shapes, &weight, Dimension::Space)
                    .expect("a drum");
                body.driven(Turning(rate), 0.0)
            }
        });
    }
    for (i, item) in scene.items.iter().enumerate() {
        let name = format!("body[{i}]");
        let body = match item.form {
            Form::Ball(radius) => WorldBody::ball(name, item.mass(), radius),
            Form::Box(sides) => {
                let weight = Weight {
                    mass: Some(item.mass()),
                    ..Weight::default()
                };
                let shape = Shape::cuboid(sides).expect("a box");
                let shapes = [PlacedShape::from(shape)];
                WorldBody::of_shapes(name, &shapes, &weight, Dimension::Space)
                    .expect("a box")
                    .0
            }
        };
        let pose = Pose {
            position: item.place,
            rotation: item.turn,
        };
        let mut body = body.at(pose).moving(item.velocity, item.spin);
        if scene.drag_until > 0.0 {
            body = body.under(drag(item.mass(), scene.drag_until));
        }
        builder = builder.body(body);
    }
    builder.build().expect("a world")
}

/// Sweeps that are coarse until they are told to be exact: impulses are remembered from one to the other.
struct Settling {
    exact: Arc<AtomicBool>,
    first: BodySweepSolver,
    then: BodySweepSolver,
}

impl Settling {
    fn now(&mut self) -> &mut BodySweepSolver {
        if self.exact.load(Ordering::Relaxed) {
            &mut self.then
        } else {
            &mut self.first
        }
    }
}

impl ContactSolver for Settling {
    fn name(&self) -> &str {
        "body-sweep"
    }
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        ContactSolver::solve(self.now(), problem, solution);
    }
    fn guess_tolerance(&self, problem: &ContactProblem) -> Option<f64> {
        let exact = self.exact.load(Ordering::Relaxed);
        let now = if exact { &self.then } else { &self.first };
        now.guess_tolerance(problem)
    }
    fn solve_within(&mut self, tolerance: f64, problem: &ContactProblem, to: &mut ContactSolution) {
        self.now().solve_within(tolerance, problem, to);
    }
}

fn simulation(scene: &Scene, solver: Settling) -> Simulation {
    let world = world(scene);
    let source = CollisionDetection::new(&world).expect("shapes");
    let (q, v) = (world.start_coordinates(), world.start_velocities());
    let scheme = WorldStepping::moreau_jean(1.0, Box::new(source)).expect("a theta");
    Simulation::new(
        Box::new(world),
        Box::new(scheme),
        Box::new(solver),
        (&q, &v),
        SimulationSettings::fixed(1e-3),
    )
    .expect("a run")
}

/// Lets the scene settle, so that both engines start at what it became; the run that goes on from there.
pub fn settle(scene: &mut Scene) -> Simulation {
    if let Some(friction) = scene.settling_friction.take() {
        let mut first = Scene {
            friction,
            ..scene.clone()
        };
        settle(&mut first);
        *scene = Scene {
            items: first.items,
            settle: 100,
            drag_until: 0.0,
            ..scene.clone()
        };
    }
    let exact = Arc::new(AtomicBool::new(scene.settle <= 100));
    // Thousands of steps need not be certified; a few are made as they will be.
    let coarse = BodySweepSettings {
        tolerance: 1e-6,
        sweeps_max: 300,
        rounds_max: 0,
        ..BodySweepSettings::default()
    };
    let solver = Settling {
        exact: exact.clone(),
        first: BodySweepSolver::new(coarse),
        then: BodySweepSolver::default(),
    };
    let mut run = simulation(scene, solver);
    for _ in 0..scene.settle {
        run.step_towards(1e9);
    }
    exact.store(true, Ordering::Relaxed);
    let first = scene.obstacles.len();
    let state = run.state();
    for (i, item) in scene.items.iter_mut().enumerate() {
        let (q, v) = (&state.q[7 * (first + i)..], &state.v[6 * (first + i)..]);
        item.place.copy_from_slice(&q[..3]);
        item.turn.copy_from_slice(&q[3..7]);
        item.velocity.copy_from_slice(&v[..3]);
        item.spin.copy_from_slice(&v[3..6]);
    }
    run
}

/// Makes the steps of a scene.
pub fn run(scene: &Scene, mut run: Simulation) -> Figures {
    let mut figures = Figures {
        times: Vec::new(),
        contacts: 0.0,
        residuals: Vec::new(),
        sweeps: Vec::new(),
        phases: [0.0; 5],
        penetration: 0.0,
        allocations: 0.0,
    };
    // The first steps are those that find what coarse ones have left.
    for _ in 0..5 {
        run.step_towards(1e9);
    }
    let steps = scene.steps as f64;
    for _ in 0..scene.steps {
        let allocated = ALLOCATIONS.load(Ordering::Relaxed);
        let start = cpu_time();
        let record = run.step_towards(1e9);
        figures.times.push(cpu_time() - start);
        figures.allocations += (ALLOCATIONS.load(Ordering::Relaxed) - allocated) as f64 / steps;
        figures.residuals.push(record.residual);
        figures.sweeps.push(record.iterations as f64);
        figures.contacts += record.present.len() as f64 / steps;
        for contact in &record.present {
            figures.penetration = f64::max(figures.penetration, -contact.gap / scene.size);
        }
        let phases = &record.phases;
        let each = [
            phases.find,
            phases.build,
            phases.solve,
            phases.certify,
            phases.finish,
        ];
        for (sum, time) in figures.phases.iter_mut().zip(each) {
            *sum += time / steps;
        }
    }
    figures
}
