//! Cost of one step of small systems: nanoseconds and allocations, one core.
//!
//! `cargo bench -p stickslip --bench step_cost` prints one row per system and scheme. The figures
//! include the record, its residual certificate and the energy account of every step; the last columns are the shares of
//! the residual of the contact problem and of all that the run does around the scheme (records, account, events, margins, positions, uniqueness), of which
//! judging is a part.
//!
//! All judging inside a run (residual and certificate, uniqueness, positions, passages) is counted in instructions, which
//! do not depend on what else a machine does, by `benches/judging_share.py`: it runs one row, chosen by its name, once
//! (`STEP_COST_ONCE=1`) under `valgrind --tool=callgrind --toggle-collect='*Simulation::step_towards'`. Instructions of the rows
//! that compare projections are had in the same way, one kind at a time (`rod ..., ratio, none`, `rod ..., ratio, combined`).

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use stickslip::internals::{ContactLayout, ContactStage};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    MoreauContactDynamics, MoreauJean, MoreauJeanSettings, Projection, State, TimeSteppingScheme,
};
use stickslip::systems::functions::{AffineScalar, GivenRows, GivenScalar};
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
    let gap = AffineScalar {
        gradient: vec![1.0],
        offset: 0.0,
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

/// Block that slides on two feet.
fn block() -> GeneralizedSystem {
    let foot = |name: &str, x: f64| {
        let law = ContactLaw::new(
            FrictionSection::segment(0.3).expect("valid"),
            ImpactLaw::Inelastic,
        )
        .expect("valid");
        let gap = GivenScalar {
            value: move |q: &[f64]| q[1] + x * q[2].sin() + 0.4 * (1.0 - q[2].cos()),
            gradient: move |q: &[f64], row: &mut [f64]| {
                row.copy_from_slice(&[0.0, 1.0, x * q[2].cos() + 0.4 * q[2].sin()]);
            },
        };
        let tangent = GivenRows(move |q: &[f64], rows: &mut [f64]| {
            rows.copy_from_slice(&[1.0, 0.0, 0.4 * q[2].cos() - x * q[2].sin()]);
        });
        UnilateralConstraint::new(name, gap).with_point(ContactFrame::tangents(1, tangent), law)
    };
    GeneralizedSystem::builder(["x", "y", "theta"])
        .mass_diagonal(&[1.0, 1.0, 0.1])
        .dead_load(&[0.0, -9.81, 0.0])
        .constraint(foot("rear", -0.5))
        .constraint(foot("front", 0.5))
        .build(&[0.0; 3])
        .expect("valid")
}

/// A run before it starts.
struct Parts {
    system: GeneralizedSystem,
    scheme: Box<dyn TimeSteppingScheme>,
    q: Vec<f64>,
    v: Vec<f64>,
    h: f64,
}

impl Parts {
    fn simulation(self) -> Simulation {
        Simulation::new(
            Box::new(self.system),
            self.scheme,
            Box::new(GaussSeidel::default()),
            (&self.q, &self.v),
            SimulationSettings::fixed(self.h),
        )
        .expect("valid")
    }
}

const STEPS: usize = 20_000;
// Warm means that every buffer has been used once: the ball first touches after 4,500 steps.
const WARM: usize = 12_000;

/// Seconds per step of the scheme alone, which measures the residual of its problems, and of that measurement.
fn bare(parts: Parts) -> (f64, f64) {
    let (h, system) = (parts.h, parts.system);
    let mut state = State {
        t: 0.0,
        q: parts.q,
        v: parts.v,
        kinetic: 0.0,
        potential: 0.0,
        impulses: vec![0.0; ContactLayout::new(&system).rows()],
    };
    let mut stage = ContactStage::new(Box::new(GaussSeidel::default()));
    let (mut scheme, mut record) = (parts.scheme, StepRecord::default());
    let mut step = |stage: &mut ContactStage, k: usize| {
        scheme.step(
            &system,
            &mut state,
            h,
            (k + 1) as f64 * h,
            stage,
            &mut record,
        );
    };
    (0..WARM).for_each(|k| step(&mut stage, k));
    let start = Instant::now();
    (0..STEPS).for_each(|k| step(&mut stage, WARM + k));
    let steps = start.elapsed().as_secs_f64() / STEPS as f64;
    let start = Instant::now();
    (0..STEPS).for_each(|_| {
        std::hint::black_box(stage.certify(1.0));
    });
    (steps, start.elapsed().as_secs_f64() / STEPS as f64)
}

/// Words on the command line choose rows by name.
fn chosen(name: &str) -> bool {
    let mut words = std::env::args().skip(1);
    words.all(|word| word.starts_with('-') || name.contains(&word))
}

/// So many rounds, or one.
fn rounds(most: usize) -> usize {
    match std::env::var_os("STEP_COST_ONCE") {
        Some(_) => 1,
        None => most,
    }
}

fn measure(name: &str, make: impl Fn() -> Parts, limit: f64) {
    if !chosen(&format!("{name}, step")) {
        return;
    }
    let (mut best, mut allocations) = (f64::INFINITY, 0);
    let (mut alone, mut residual) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds(15) {
        let mut simulation = make().simulation();
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
        // The same steps without the run, in turn with it: machines are not quiet.
        let (step, certify) = bare(make());
        (alone, residual) = (alone.min(1e9 * step), residual.min(1e9 * certify));
    }
    println!(
        "{name:<44} {best:>8.0} ns/step (mark {limit:>5.0})   {allocations} allocations in {STEPS} steps   judging: \
         residual {:.1} %; around the scheme {:.1} % (records, account, events, judging)",
        100.0 * residual / best,
        100.0 * (best - alone) / best
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

/// Pieces of a run that is compared with another in turn: what else a machine does takes longer than two pieces.
const SLICES: usize = 50;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Cost of corrected positions against the bare scheme, in one run: at most 1.3, and 1.0 where gaps are flat. The median
/// over pairs of pieces of 200 steps.
fn ratios(y: f64) {
    let theta = |projection| {
        let settings = MoreauJeanSettings {
            projection,
            ..Default::default()
        };
        Box::new(MoreauJean::new(settings).expect("valid"))
    };
    let moreau =
        |projection| Box::new(MoreauContactDynamics::default().with_projection(projection));
    type Make<'a> = Box<dyn Fn(Projection) -> Simulation + 'a>;
    let rows: [(&str, Make); 4] = [
        (
            "bouncing ball, moreau-jean",
            Box::new(|p| simulation(ball(), theta(p), &[1.0], &[0.0], 1e-4)),
        ),
        (
            "bouncing ball, moreau",
            Box::new(|p| simulation(ball(), moreau(p), &[1.0], &[0.0], 1e-4)),
        ),
        (
            "rod with friction, moreau-jean, coulomb",
            Box::new(|p| {
                let system = rod(FlowRule::Coulomb);
                simulation(system, theta(p), &[0.0, y, 1.0], &[0.0; 3], 1e-5)
            }),
        ),
        (
            "rod with friction, moreau, argmin",
            Box::new(|p| {
                let system = rod(FlowRule::KineticProjection);
                simulation(system, moreau(p), &[0.0, y, 1.0], &[0.0; 3], 1e-5)
            }),
        ),
    ];
    for (name, make) in rows {
        let kinds = [
            (Projection::None, "none"),
            (Projection::Combined, "combined"),
        ];
        let wanted = kinds.map(|(_, kind)| chosen(&format!("{name}, ratio, {kind}")));
        let mut pairs = Vec::new();
        for _ in 0..rounds(9) {
            let mut runs = kinds.map(|(projection, _)| make(projection));
            let mut advance = |kind: usize, steps: usize| {
                let start = Instant::now();
                for _ in 0..if wanted[kind] { steps } else { 0 } {
                    runs[kind].step_towards(f64::INFINITY);
                }
                start.elapsed().as_secs_f64()
            };
            (0..2).for_each(|kind| _ = advance(kind, 6_000));
            pairs.extend((0..SLICES).map(|_| {
                let none = advance(0, 10_000 / SLICES);
                advance(1, 10_000 / SLICES) / none
            }));
        }
        if wanted == [false; 2] {
            continue;
        }
        println!(
            "{name:<44} ratio projection combined/none {:.2}",
            median(pairs)
        );
    }
}

fn main() {
    let y = 0.5 * 1.0f64.sin();
    ratios(y);
    measure(
        "bouncing ball, moreau-jean",
        || Parts {
            system: ball(),
            scheme: Box::new(MoreauJean::default()),
            q: vec![1.0],
            v: vec![0.0],
            h: 1e-4,
        },
        300.0,
    );
    measure(
        "bouncing ball, moreau",
        || Parts {
            system: ball(),
            scheme: Box::new(MoreauContactDynamics::default()),
            q: vec![1.0],
            v: vec![0.0],
            h: 1e-4,
        },
        300.0,
    );
    measure(
        "rod with friction, moreau-jean, coulomb",
        || Parts {
            system: rod(FlowRule::Coulomb),
            scheme: Box::new(MoreauJean::default()),
            q: vec![0.0, y, 1.0],
            v: vec![0.0; 3],
            h: 1e-5,
        },
        1000.0,
    );
    measure(
        "rod with friction, moreau, argmin",
        || Parts {
            system: rod(FlowRule::KineticProjection),
            scheme: Box::new(MoreauContactDynamics::default()),
            q: vec![0.0, y, 1.0],
            v: vec![0.0; 3],
            h: 1e-5,
        },
        1000.0,
    );
    measure(
        "block on two feet, moreau-jean, coulomb",
        || Parts {
            system: block(),
            scheme: Box::new(MoreauJean::default()),
            q: vec![0.0; 3],
            v: vec![2.0, 0.0, 0.0],
            h: 1e-5,
        },
        2000.0,
    );
}
