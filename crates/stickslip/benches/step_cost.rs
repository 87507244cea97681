//! Cost of one step of small systems: nanoseconds and allocations, one core.
//!
//! `cargo bench -p stickslip --bench step_cost` prints one row per system and scheme. The figures
//! include the record, its residual certificate and the energy account of every step.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{MoreauContactDynamics, MoreauJean, TimeSteppingScheme};
use stickslip::systems::functions::{GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Counts allocations.
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

fn ball() -> GeneralizedSystem {
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.9 }).expect("valid");
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0,
    };
    GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .dead_load(&[-9.81])
        .constraint(
            UnilateralConstraint::new("ground", gap).with_point(ContactFrame::Frictionless, law),
        )
        .build(&[1.0])
        .expect("valid")
}

/// Uniform rod of half length 0.5 whose tip slides on the ground.
fn rod(flow_rule: FlowRule) -> GeneralizedSystem {
    let l = 0.5;
    let law = ContactLaw::new(
        FrictionSection::segment(0.3).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid")
    .with_flow_rule(flow_rule);
    let gap = GivenScalar {
        value: move |q: &[f64]| q[1] - l * q[2].sin(),
        gradient: move |q: &[f64], row: &mut [f64]| {
            row.copy_from_slice(&[0.0, 1.0, -l * q[2].cos()]);
        },
    };
    let tangent = GivenRows(move |q: &[f64], rows: &mut [f64]| {
        rows.copy_from_slice(&[1.0, 0.0, l * q[2].sin()]);
    });
    GeneralizedSystem::builder(["x", "y", "theta"])
        .mass_diagonal(&[1.0, 1.0, 1.0 / 12.0])
        .dead_load(&[0.0, -9.81, 0.0])
        .constraint(
            UnilateralConstraint::new("tip", gap)
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(&[0.0, l * 1.0f64.sin(), 1.0])
        .expect("valid")
}

fn measure(name: &str, mut make: impl FnMut() -> Simulation, limit: f64) {
    // A word on the command line chooses rows by name.
    if std::env::args()
        .skip(1)
        .any(|word| !word.starts_with('-') && !name.contains(&word))
    {
        return;
    }
    const STEPS: usize = 20_000;
    // Warm means that every buffer has been used once: the ball first touches after 4,500 steps.
    const WARM: usize = 12_000;
    let (mut best, mut allocations) = (f64::INFINITY, 0);
    let rounds = if std::env::var_os("STEP_COST_ONCE").is_some() {
        1
    } else {
        15
    };
    for _ in 0..rounds {
        let mut simulation = make();
        for _ in 0..WARM {
            simulation.step_towards(f64::INFINITY);
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let start = Instant::now();
        for _ in 0..STEPS {
            simulation.step_towards(f64::INFINITY);
        }
        best = best.min(start.elapsed().as_secs_f64() / STEPS as f64 * 1e9);
        // Events are logged by the run, not by the step: their list grows now and then.
        allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert!(
            simulation.ledger().is_closed(),
            "{name}: the ledger is open"
        );
    }
    println!(
        "{name:<44} {best:>8.0} ns/step (mark {limit:>5.0})   {allocations} allocations in {STEPS} steps"
    );
}

fn simulation(
    system: GeneralizedSystem,
    scheme: Box<dyn TimeSteppingScheme>,
    q: &[f64],
    v: &[f64],
    h: f64,
) -> Simulation {
    Simulation::new(
        Box::new(system),
        scheme,
        Box::new(GaussSeidel::default()),
        (q, v),
        SimulationSettings::fixed(h),
    )
    .expect("valid")
}

fn main() {
    let y = 0.5 * 1.0f64.sin();
    measure(
        "bouncing ball, moreau-jean",
        || {
            simulation(
                ball(),
                Box::new(MoreauJean::default()),
                &[1.0],
                &[0.0],
                1e-4,
            )
        },
        300.0,
    );
    measure(
        "bouncing ball, moreau",
        || {
            simulation(
                ball(),
                Box::new(MoreauContactDynamics::default()),
                &[1.0],
                &[0.0],
                1e-4,
            )
        },
        300.0,
    );
    measure(
        "rod with friction, moreau-jean, coulomb",
        || {
            simulation(
                rod(FlowRule::Coulomb),
                Box::new(MoreauJean::default()),
                &[0.0, y, 1.0],
                &[0.0; 3],
                1e-5,
            )
        },
        1000.0,
    );
    measure(
        "rod with friction, moreau, argmin",
        || {
            let scheme = Box::new(MoreauContactDynamics::default());
            simulation(
                rod(FlowRule::KineticProjection),
                scheme,
                &[0.0, y, 1.0],
                &[0.0; 3],
                1e-5,
            )
        },
        1000.0,
    );
}
