//! How the time of a step grows with the number of balls in settled packs.
//!
//! `cargo bench --workspace --bench pack_growth [-- COUNT ... | steps=N | seed=N]`, without counts those of 1,000, 5,000 and 20,000 balls; one row each and the exponents. CPU time of one thread.
//! Made packs are kept as checkpoints below `target/tmp/packs`, since making the largest takes many minutes; what is there is used, so remove the folder
//! where packs are to be made anew.
//!
//! All packs are made alike. A quarter of the balls comes to rest without friction, in a drag, in a shaft of a quarter of the floor. The planes of two
//! walls of the shaft mirror it: a ball that touches a smooth wall touches its image with the same force, so that the four quarters are at rest without the walls.
//! Friction is then switched on and the drag off, and every ball is thrown in a random direction, which breaks the symmetry (without friction such a pack
//! flows from there: what a wall held is held by an image that may give way). The clock runs when the balls have come to rest again, all packs alike. Steps before the
//! last twenty are coarse.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stickslip::contact::{ContactProblem, ContactSolution, ContactSolver};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Checkpoint, Simulation, SimulationSettings};
use stickslip::solvers::{BodySweepSettings, BodySweepSolver};
use stickslip::stepping::WorldStepping;
use stickslip::systems::World;
use stickslip::systems::world::{CollisionDetection, Load, Pose, Twist, WorldBody};

/// Floor and walls, the first bodies of a world.
const WALLS: usize = 5;
/// Mean radius of a ball, and the pitch of the lattice that they fall from.
const R: f64 = 0.02;
const PITCH: f64 = 2.3 * R;
/// Speed that breaks the symmetry, along every axis at most: half a thousandth of a radius in a step.
const THROW: f64 = 0.01;
/// Rate of the drag.
const DRAG: f64 = 20.0;
/// A quarter has come to rest when its balls move slower than this, root mean square; looked at every so many steps of 1 ms, of which a
/// shaft of 35 layers makes some thousands.
const REST: f64 = 3e-3;
const LOOK: usize = 250;
/// What does not come to rest is taken as it is after so many steps.
const FALL: usize = 8000;
/// A pack with friction is settled when its balls move slower than this, root mean square; what does not come to rest is taken as it is after so many steps.
const SETTLED: f64 = 1e-4;
const FRICTION: usize = 3000;
/// Exact steps before the clock runs: they find what coarse ones have left.
const BEFORE: usize = 20;

/// Numbers in [-1/2, 1/2).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// A ball at rest or thrown.
#[derive(Clone, Copy)]
struct Ball {
    radius: f64,
    place: [f64; 3],
    velocity: [f64; 3],
}

/// Balls on a square floor between four walls, the first corner at the origin.
#[derive(Clone)]
struct Pack {
    side: f64,
    balls: Vec<Ball>,
}

impl Pack {
    /// Balls of unequal size on a lattice above a square of so many columns.
    fn lattice(count: usize, columns: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let balls = (0..count).map(|i| {
            let radius = R * (1.0 + 0.2 * random.next());
            let cell = [i % columns, (i / columns) % columns, i / columns / columns];
            Ball {
                radius,
                place: cell.map(|c| PITCH * (c as f64 + 0.5) + 0.15 * R * random.next()),
                velocity: [0.0; 3],
            }
        });
        Self {
            side: PITCH * columns as f64,
            balls: balls.collect(),
        }
    }

    /// The pack and its three images beyond its far walls, around the corner that they share.
    fn mirrored(&self) -> Self {
        let side = 2.0 * self.side;
        let image = |axes: [bool; 2]| {
            self.balls.iter().map(move |ball| {
                let mut ball = *ball;
                for (k, _) in axes.iter().enumerate().filter(|&(_, &mirrors)| mirrors) {
                    ball.place[k] = side - ball.place[k];
                    ball.velocity[k] = -ball.velocity[k];
                }
                ball
            })
        };
        let quarters = [[false, false], [true, false], [false, true], [true, true]];
        Self {
            side,
            balls: quarters.into_iter().flat_map(image).collect(),
        }
    }

    /// The pack with every ball thrown in a random direction.
    fn thrown(mut self) -> Self {
        let mut random = Random(54321);
        for ball in &mut self.balls {
            ball.velocity = std::array::from_fn(|_| 2.0 * THROW * random.next());
        }
        self
    }

    fn world(&self, friction: f64, drag: f64) -> World {
        let section = FrictionSection::disc(friction).expect("valid");
        let law = ContactLaw::new(section, ImpactLaw::Inelastic).expect("valid");
        let mut builder = World::builder().pair(0, 0, law);
        for (name, place, normal) in [
            ("floor", [0.0; 3], [0.0, 0.0, 1.0]),
            ("left", [0.0; 3], [1.0, 0.0, 0.0]),
            ("right", [self.side, 0.0, 0.0], [-1.0, 0.0, 0.0]),
            ("front", [0.0; 3], [0.0, 1.0, 0.0]),
            ("back", [0.0, self.side, 0.0], [0.0, -1.0, 0.0]),
        ] {
            builder = builder.body(WorldBody::half_space(name, place, normal));
        }
        for (i, ball) in self.balls.iter().enumerate() {
            let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * ball.radius.powi(3);
            let mut body = WorldBody::ball(format!("ball[{i}]"), mass, ball.radius)
                .at(Pose::at(ball.place))
                .moving(ball.velocity, [0.0; 3]);
            if drag > 0.0 {
                body = body.under(move |_, _: &Pose, twist: &Twist| Load {
                    force: twist.velocity.map(|v| -drag * mass * v),
                    ..Load::default()
                });
            }
            builder = builder.body(body);
        }
        builder.build().expect("a world")
    }

    /// Makes coarse steps without friction in the drag, and keeps where the balls are then.
    fn settle(&mut self) {
        let mut run = simulation(self.world(0.0, DRAG), Box::new(coarse()));
        for step in 1..=FALL {
            run.step_towards(1e9);
            // Balls in the air still fall.
            if step % LOOK == 0 && step >= 4 * LOOK && speed(&run) <= REST {
                println!("  a quarter at rest after {step} steps");
                break;
            }
        }
        let state = run.state();
        for (i, ball) in self.balls.iter_mut().enumerate() {
            ball.place.copy_from_slice(&state.q[7 * (WALLS + i)..][..3]);
            ball.velocity
                .copy_from_slice(&state.v[6 * (WALLS + i)..][..3]);
        }
    }
}

/// Root mean square of the speeds of the balls.
fn speed(run: &Simulation) -> f64 {
    let velocities = &run.state().v[6 * WALLS..];
    let squares = velocities.chunks(6).flat_map(|v| &v[..3]).map(|v| v * v);
    (squares.sum::<f64>() / (velocities.len() / 6) as f64).sqrt()
}

/// For steps that need not be certified.
fn coarse() -> BodySweepSolver {
    BodySweepSolver::new(BodySweepSettings {
        tolerance: 1e-6,
        sweeps_max: 300,
        rounds_max: 0,
        ..BodySweepSettings::default()
    })
}

/// Coarse until it is told to be exact.
struct Either {
    exact: Arc<AtomicBool>,
    coarse: BodySweepSolver,
    default: BodySweepSolver,
}

impl Either {
    fn now(&mut self) -> &mut BodySweepSolver {
        if self.exact.load(Ordering::Relaxed) {
            &mut self.default
        } else {
            &mut self.coarse
        }
    }
}

impl ContactSolver for Either {
    fn name(&self) -> &str {
        "body-sweep"
    }
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        ContactSolver::solve(self.now(), problem, solution);
    }
    fn solve_within(&mut self, tolerance: f64, problem: &ContactProblem, to: &mut ContactSolution) {
        self.now().solve_within(tolerance, problem, to);
    }
}

fn simulation(world: World, solver: Box<dyn ContactSolver>) -> Simulation {
    let source = CollisionDetection::new(&world).expect("shapes");
    let (q, v) = (world.start_coordinates(), world.start_velocities());
    let scheme = WorldStepping::moreau_jean(1.0, Box::new(source)).expect("a theta");
    let settings = SimulationSettings::fixed(1e-3);
    Simulation::new(
        Box::new(world),
        Box::new(scheme),
        solver,
        (&q, &v),
        settings,
    )
    .expect("a run")
}

/// CPU time of this thread in seconds. What the system tells of a thread in `/proc` is counted in ticks of 4 ms, a step of 1,000 balls.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn cpu() -> f64 {
    const THREAD: i32 = 3;
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: a function of the C library that every program here is linked with; seconds and nanoseconds are two words of 64 bits.
    let failed = unsafe { clock_gettime(THREAD, &raw mut time) };
    assert_eq!(failed, 0, "the clock of a thread");
    time[0] as f64 + 1e-9 * time[1] as f64
}

/// Elapsed time where the system does not tell that of a thread.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn cpu() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Number of balls, median and mean of the time of a step.
type Row = [f64; 3];

/// A pack of about so many balls, four times the deep column of a quarter of them, as it is when the clock starts to run; number of balls and the run.
fn made(count: usize, seed: u64) -> (usize, Simulation) {
    // As deep as the packs of `benches/rapier`: columns of 1.3 times their number.
    let columns = (0.5 * (count as f64 / 1.3).cbrt()).round() as usize;
    let mut quarter = Pack::lattice(count / 4, columns.max(2), seed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("packs");
    let file = folder.join(format!("{count}-{seed}.json"));
    let kept = Checkpoint::load(&file).ok();
    if kept.is_none() {
        quarter.settle();
    }
    let pack = quarter.mirrored().thrown();
    let exact = Arc::new(AtomicBool::new(false));
    let solver = Either {
        exact: exact.clone(),
        coarse: coarse(),
        default: BodySweepSolver::default(),
    };
    let mut run = simulation(pack.world(0.5, 0.0), Box::new(solver));
    if let Some(kept) = kept {
        run.restore(kept).expect("a checkpoint of this pack");
        exact.store(true, Ordering::Relaxed);
        return (pack.balls.len(), run);
    }
    for step in 1..=FRICTION {
        run.step_towards(1e9);
        if step % 10 == 0 && speed(&run) <= SETTLED {
            println!("  settled after {step} steps");
            break;
        }
    }
    exact.store(true, Ordering::Relaxed);
    for _ in 0..BEFORE {
        run.step_towards(1e9);
    }
    std::fs::create_dir_all(&folder).expect("a folder for the packs");
    run.checkpoint().save(&file).expect("the pack is kept");
    (pack.balls.len(), run)
}

/// Measures so many steps of a pack.
fn measure(count: usize, seed: u64, steps: usize) -> Row {
    let start = cpu();
    let (balls, mut run) = made(count, seed);
    let made = cpu() - start;
    let fast = speed(&run);
    let (mut times, mut sweeps, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut worst, mut within, mut deepest) = (0.0, 0, 0.0);
    for _ in 0..steps {
        let start = cpu();
        let record = run.step_towards(1e9);
        times.push(cpu() - start);
        sweeps.push(record.iterations as f64);
        contacts.push(record.present.len() as f64);
        worst = f64::max(worst, record.residual);
        within += usize::from(record.residual <= 1e-8);
        for contact in &record.present {
            deepest = f64::max(deepest, -contact.gap / (2.0 * R));
        }
    }
    println!(
        "{:>6} {:>8.0} {:>9.2} {:>9.2} {:>9.1} {:>6.0} {:>7.1} {within:>4}/{steps} {worst:>8.1e} {deepest:>8.1e} {fast:>8.1e} {made:>8.0}",
        balls,
        mean(&contacts),
        1e3 * median(&times),
        1e3 * mean(&times),
        1e3 * times.iter().copied().fold(0.0, f64::max),
        median(&sweeps),
        mean(&sweeps),
    );
    [balls as f64, median(&times), mean(&times)]
}

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    one.build_global().expect("the first pool");
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let set = |name: &str| -> Option<u64> {
        let mut values = words.iter().filter_map(|word| word.strip_prefix(name));
        values.next()?.parse().ok()
    };
    let steps = set("steps=").unwrap_or(100) as usize;
    let seed = set("seed=").unwrap_or(12345);
    let mut counts: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    if counts.is_empty() {
        counts = vec![1000, 5000, 20_000];
    }
    println!(
        "{:>6} {:>8} {:>9} {:>9} {:>9} {:>6} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "balls",
        "contacts",
        "median ms",
        "mean ms",
        "worst ms",
        "sweeps",
        "mean",
        "at 1e-8",
        "worst",
        "overlap",
        "m/s",
        "made in s"
    );
    let rows: Vec<Row> = counts
        .iter()
        .map(|&count| measure(count, seed, steps))
        .collect();
    for pair in rows.windows(2) {
        let grows = |k: usize| (pair[1][k] / pair[0][k]).ln() / (pair[1][0] / pair[0][0]).ln();
        println!(
            "from {:.0} to {:.0} balls: the median with the power {:.2}, the mean with {:.2}",
            pair[0][0],
            pair[1][0],
            grows(1),
            grows(2)
        );
    }
    if let [first, .., last] = rows[..] {
        let grows = |k: usize| (last[k] / first[k]).ln() / (last[0] / first[0]).ln();
        println!("in all {:.2} and {:.2}", grows(1), grows(2));
    }
}
