//! Cost of a step that reads the past over the cost of the same step without it.
//!
//! `cargo bench -p stickslip --bench past_cost` prints one row per functional for 1,000 delayed
//! coordinates and delays of 10,000 steps, with the memory held; all figures come from one run, so
//! their ratio does not depend on the machine. The mark is a ratio of 2.

use std::time::Instant;

use stickslip::algebra::SymmetricMatrix;
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::SweepingProcess;
use stickslip::systems::GeneralizedSystem;
use stickslip::systems::past_motion::{Kernel, PastReading, Psi};

const COUNT: usize = 1000;
const STEPS: usize = 10_000;
const H: f64 = 1e-3;

/// 1,000 oscillators whose springs read the present or the past.
fn simulation(name: &str) -> Simulation {
    let tau = STEPS as f64 * H;
    let names: Vec<String> = (0..COUNT).map(|i| format!("x{i}")).collect();
    let builder =
        GeneralizedSystem::builder(names).mass_matrix(SymmetricMatrix::diagonal(&vec![1.0; COUNT]));
    let mut reading = PastReading::new();
    let builder = match name {
        "no past" => builder.force(|_, q, v, out| {
            for i in 0..COUNT {
                out[i] = -q[i] - 0.1 * v[i];
            }
        }),
        "point delays" => {
            reading.point_delay(tau).expect("delay");
            builder.delayed_force(reading, move |past, v, out| {
                for i in 0..COUNT {
                    out[i] = -past.delayed(i, tau) - 0.1 * v[i];
                }
            })
        }
        "constant kernels" => {
            let handles: Vec<_> = (0..COUNT)
                .map(|i| reading.integral(i, tau, Kernel::Constant).expect("kernel"))
                .collect();
            builder.delayed_force(reading, move |past, v, out| {
                for i in 0..COUNT {
                    out[i] = -past.mean(&handles[i]) - 0.1 * v[i];
                }
            })
        }
        _ => {
            let handles: Vec<_> = (0..COUNT)
                .map(|i| {
                    reading
                        .window_maximum(tau, Psi::Absolute(i))
                        .expect("window")
                })
                .collect();
            builder.delayed_force(reading, move |past, v, out| {
                for i in 0..COUNT {
                    out[i] = -past.q()[i] - 1e-3 * past.maximum(&handles[i]) - 0.1 * v[i];
                }
            })
        }
    };
    let q: Vec<f64> = (0..COUNT).map(|i| 1.0 + 1e-3 * i as f64).collect();
    let system = builder.build(&q).expect("valid");
    Simulation::new(
        Box::new(system),
        Box::new(SweepingProcess::default()),
        Box::new(GaussSeidel::default()),
        (&q, &vec![0.0; COUNT]),
        SimulationSettings::fixed(H),
    )
    .expect("valid")
}

fn main() {
    let mut base = None;
    for name in [
        "no past",
        "point delays",
        "constant kernels",
        "window maxima",
    ] {
        let mut sim = simulation(name);
        // fill the window first
        for _ in 0..STEPS + 100 {
            sim.step_towards(1e9);
        }
        let memory = sim.past().map_or(0, |past| past.memory());
        let count = 400;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            for _ in 0..count {
                sim.step_towards(1e9);
            }
            best = best.min(start.elapsed().as_secs_f64() / count as f64);
        }
        // the window is full: only the candidates of maxima still vary
        let later = sim.past().map_or(0, |past| past.memory());
        assert!(later <= memory + memory / 2, "memory grows");
        let base = *base.get_or_insert(best);
        println!(
            "{name:>18}: {:8.1} us per step, ratio {:.2}, {:.0} MB held",
            1e6 * best,
            best / base,
            memory as f64 / 1e6
        );
    }
}
