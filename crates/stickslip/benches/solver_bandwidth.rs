//! How close the kernels come to the memory: one exact Gauss-Seidel sweep against the time to
//! read W at the measured triad bandwidth, the matrix-free sweep per contact, and two threads
//! against one in coloured order.
//!
//! The limit is that of main memory; a W that fits the cache can be read faster, which the second figure tells.
//!
//! `cargo bench --bench solver_bandwidth -- FILES...`; without files two lattices of bodies are made. All figures
//! are best of several repetitions in one run.

use std::time::Instant;
use stickslip::algebra::SparseRows;
use stickslip::contact::ContactProblem;
use stickslip::contact::GlobalForm;
use stickslip::contact::fclib::{FclibFile, FclibProblem};
use stickslip::internals::BodySweep;
use stickslip::internals::ColouredSweep;
use stickslip::internals::{Instructions, SweepMemory, product, sweep};
use stickslip::internals::{ScaledProblem, StoppingTest};

/// Bytes no cache holds.
const MAIN_MEMORY: usize = 256 << 20;

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let mut problems: Vec<(String, ContactProblem)> = Vec::new();
    for file in files {
        match FclibFile::read(&file) {
            Ok(read) => {
                let local = match read.problem {
                    FclibProblem::Local(local) => Some(local),
                    FclibProblem::Global(global) => global.condense().ok().map(|c| c.local),
                };
                problems.extend(local.map(|local| (file, local)));
            }
            Err(error) => eprintln!("{error}"),
        }
    }
    if problems.is_empty() {
        problems.push(("lattice, 1 point per pair".into(), lattice(14, 1)));
        problems.push(("lattice, 4 points per pair".into(), lattice(9, 4)));
    }
    for (name, problem) in &problems {
        report(name, problem);
    }
}

fn report(name: &str, problem: &ContactProblem) {
    let scaled = ScaledProblem::new(problem, StoppingTest::Published).expect("a Coulomb problem");
    let how = Instructions::detect();
    let n = problem.blocks().len();
    let bytes = 76.0 * problem.delassus().blocks().map_or(0, |w| w.stored_blocks()) as f64;
    let one = triad(bytes as usize, 1);
    let main_memory = triad(MAIN_MEMORY, 1);
    let two = triad(MAIN_MEMORY, 2);
    println!(
        "{name}: {n} contacts, W {:.1} MB, triad of main memory {main_memory:.1} GB/s, by two threads {two:.1} GB/s, as large as W \
         {one:.1} GB/s",
        bytes / 1e6
    );
    // A point in the middle of the solve, so that contacts stick, slip and open.
    let mut memory = SweepMemory::new(&scaled);
    let mut x = vec![0.0; 3 * n];
    for _ in 0..20 {
        let previous = x.clone();
        sweep(&scaled, how, &mut memory, &mut x, &previous);
    }
    let previous = x.clone();
    let start = x.clone();
    let limit = bytes / main_memory / n as f64;
    let own = bytes / one / n as f64;
    let line = |what: &str, seconds: f64| {
        let ns = 1e9 * seconds / n as f64;
        println!(
            "  {what:<34} {ns:>8.1} ns per contact, {:>5.2} x the limit of memory {limit:.1}, {:>5.2} x that of W's size {own:.1}",
            ns / limit,
            ns / own
        );
    };
    let mut u = vec![0.0; 3 * n];
    line("product", best(|| product(&scaled, how, &x, &mut u)));
    let seconds = best(|| {
        x.copy_from_slice(&start);
        sweep(&scaled, how, &mut memory, &mut x, &previous);
    });
    line("exact sweep, storage order", seconds);
    if let Some(mut bodies) = problem
        .delassus()
        .body_form()
        .and_then(|b| BodySweep::new(&scaled, b))
    {
        bodies.set_impulses(&start);
        let mut y = start.clone();
        line(
            "matrix-free sweep",
            best(|| {
                bodies.sweep(&scaled, how, &mut memory, &mut y, &previous);
            }),
        );
    }
    let run = |threads: usize| {
        let mut coloured = ColouredSweep::new(&scaled);
        coloured.set(&start);
        let seconds = best(|| {
            coloured.sweeps(10, threads);
        }) / 10.0;
        // Bits are compared from a fresh start: sweeps remember damping and frozen contacts.
        let mut fresh = ColouredSweep::new(&scaled);
        fresh.set(&start);
        fresh.sweeps(5, threads);
        (seconds, fresh.get())
    };
    let (t1, x1) = run(1);
    let (t2, x2) = run(2);
    line("coloured sweep, one thread", t1);
    line("coloured sweep, two threads", t2);
    println!(
        "  two threads: {:.2} times one, bandwidth {:.2} times, share {:.0} %, same bits: {}",
        t1 / t2,
        two / main_memory,
        100.0 * (t1 / t2) / (two / main_memory),
        x1 == x2
    );
}

/// Shortest of several repetitions, in seconds.
fn best(mut f: impl FnMut()) -> f64 {
    let mut shortest = f64::INFINITY;
    let begin = Instant::now();
    for repetition in 0..200 {
        let start = Instant::now();
        f();
        shortest = shortest.min(start.elapsed().as_secs_f64());
        if repetition >= 10 && begin.elapsed().as_secs_f64() > 1.0 {
            break;
        }
    }
    shortest
}

/// Bandwidth of a = b + s c over arrays of together `bytes`, in GB/s.
fn triad(bytes: usize, threads: usize) -> f64 {
    let length = (bytes / 24 / threads).max(1000);
    let mut parts: Vec<[Vec<f64>; 3]> = (0..threads)
        .map(|_| [vec![0.0; length], vec![1.0; length], vec![2.0; length]])
        .collect();
    let repetitions = (500_000_000 / bytes.max(1)).clamp(2, 20);
    let mut shortest = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for part in &mut parts {
                scope.spawn(move || {
                    for _ in 0..repetitions {
                        let [a, b, c] = part;
                        for ((a, b), c) in a.iter_mut().zip(&*b).zip(&*c) {
                            *a = b + 0.5 * c;
                        }
                        std::hint::black_box(part.as_mut_slice());
                    }
                });
            }
        });
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    24.0 * (length * threads * repetitions) as f64 / shortest / 1e9
}

/// Cubic lattice of bodies pressed together, `points` contacts between neighbours.
fn lattice(side: usize, points: usize) -> ContactProblem {
    let bodies = side * side * side;
    let index = |x: usize, y: usize, z: usize| (z * side + y) * side + x;
    let mut h = Vec::new();
    let mut contacts = 0;
    let mut add = |a: usize, b: Option<usize>, axis: usize| {
        let (t1, t2) = ((axis + 1) % 3, (axis + 2) % 3);
        for p in 0..points {
            // Arms from the centre of each body to the point.
            let corner = [[0.4, 0.4], [-0.4, 0.4], [-0.4, -0.4], [0.4, -0.4]][p % 4];
            let offset = if points == 1 { [0.0, 0.0] } else { corner };
            for (r, direction) in [axis, t1, t2].into_iter().enumerate() {
                for (body, sign, side) in [(Some(a), 1.0, -0.5), (b, -1.0, 0.5)] {
                    let Some(body) = body else { continue };
                    let mut arm = [0.0; 3];
                    arm[axis] = side;
                    arm[t1] = offset[0];
                    arm[t2] = offset[1];
                    let mut d = [0.0; 3];
                    d[direction] = sign;
                    let torque = [
                        arm[1] * d[2] - arm[2] * d[1],
                        arm[2] * d[0] - arm[0] * d[2],
                        arm[0] * d[1] - arm[1] * d[0],
                    ];
                    for k in 0..3 {
                        h.push((6 * body + k, 3 * contacts + r, d[k]));
                        h.push((6 * body + 3 + k, 3 * contacts + r, torque[k]));
                    }
                }
            }
            contacts += 1;
        }
    };
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                let a = index(x, y, z);
                add(a, z.checked_sub(1).map(|z| index(x, y, z)), 2);
                if x > 0 {
                    add(a, Some(index(x - 1, y, z)), 0);
                }
                if y > 0 {
                    add(a, Some(index(x, y - 1, z)), 1);
                }
            }
        }
    }
    let mass: Vec<_> = (0..6 * bodies)
        .map(|i| (i, i, if i % 6 < 3 { 1.0 } else { 0.17 }))
        .collect();
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let f: Vec<f64> = (0..6 * bodies)
        .map(|i| 0.2 * random() - if i % 6 == 2 { 0.1 } else { 0.0 })
        .collect();
    let global = GlobalForm::new(
        3,
        SparseRows::from_triplets(6 * bodies, 6 * bodies, &mass),
        SparseRows::from_triplets(6 * bodies, 3 * contacts, &h),
        f,
        vec![0.0; 3 * contacts],
        vec![0.4; contacts],
    );
    // The lattice is well-formed by construction.
    global
        .and_then(|g| g.condense())
        .expect("a lattice is a valid problem")
        .local
}
