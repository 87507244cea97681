//! Cost of one step of N balls on a plane with declared contacts: growth with N, allocations, memory per contact.
//!
//! `cargo bench -p stickslip --bench world_scale` prints one row per N and the growth exponent between the smallest and the
//! largest. The figures include rows, solve, certificate, accounts and records of every step; half of the balls slide, half roll.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::BodySweepSolver;
use stickslip::stepping::WorldStepping;
use stickslip::systems::World;
use stickslip::systems::world::{DeclaredPairs, Pose, WorldBody};

/// Counts allocations and live bytes.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on unchanged to the system allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: same layout, same contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn balls(count: usize) -> World {
    let law = ContactLaw::new(
        FrictionSection::disc(0.3).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let mut builder = World::builder().pair(0, 0, law).body(WorldBody::half_space(
        "floor",
        [0.0; 3],
        [0.0, 0.0, 1.0],
    ));
    for i in 0..count {
        let place = [0.3 * (i % 100) as f64, 0.3 * (i / 100) as f64, 0.1];
        let speed = if i % 2 == 0 { 5.0 } else { 0.5 };
        let ball = WorldBody::ball(format!("ball[{i}]"), 1.0, 0.1)
            .at(Pose::at(place))
            .moving([speed, 0.0, 0.0], [0.0; 3]);
        builder = builder.body(ball);
    }
    builder.build().expect("a world")
}

fn simulation(count: usize) -> Simulation {
    let world = balls(count);
    let pairs = (1..=count as u32).map(|ball| (0, ball));
    let source = DeclaredPairs::new(&world, pairs).expect("balls on a plane");
    let (q, v) = (world.start_coordinates(), world.start_velocities());
    let scheme = WorldStepping::moreau_jean(1.0, Box::new(source)).expect("a theta");
    Simulation::new(
        Box::new(world),
        Box::new(scheme),
        Box::new(BodySweepSolver::default()),
        (&q, &v),
        SimulationSettings::fixed(1e-3),
    )
    .expect("a run")
}

fn main() {
    println!(
        "{:>6} {:>12} {:>12} {:>10} {:>14} {:>8}",
        "balls", "ms/step", "ns/contact", "allocs", "bytes/contact", "sweeps"
    );
    let mut costs = Vec::new();
    for count in [1000, 2000, 4000, 8000] {
        let mut run = simulation(count);
        let before = LIVE.load(Ordering::Relaxed);
        for _ in 0..5 {
            run.step_towards(1.0);
        }
        let bytes = LIVE.load(Ordering::Relaxed).saturating_sub(before);
        let (steps, mut sweeps) = (20, 0);
        // The median of single steps: other work on the machine disturbs the mean.
        let mut times = Vec::with_capacity(steps);
        let allocations = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..steps {
            let start = Instant::now();
            sweeps += run.step_towards(1.0).iterations;
            times.push(start.elapsed().as_secs_f64());
        }
        let allocated = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
        times.sort_by(f64::total_cmp);
        let time = times[steps / 2];
        println!(
            "{count:>6} {:>12.3} {:>12.0} {:>10} {:>14} {:>8.1}",
            1e3 * time,
            1e9 * time / count as f64,
            allocated,
            bytes / count as u64,
            sweeps as f64 / steps as f64
        );
        assert!(run.ledger().is_closed(), "the account is closed");
        costs.push((count as f64, time));
    }
    let ((n0, t0), (n1, t1)) = (costs[0], costs[costs.len() - 1]);
    println!("growth exponent {:.2}", (t1 / t0).ln() / (n1 / n0).ln());
}
