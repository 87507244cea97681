//! Time per step of worlds, ours beside Rapier's (f64, its settings for accuracy), from the same start, in one run.
//!
//! `cargo run --release [-- SCENE ... ours]` in this folder. Scenes: pack1000 compacting pack5000 pyramid wall towers heavy column drum
//! growth-flow; without one the table of all but growth. Growth of settled packs: the bench `pack_growth` of the engine. CPU time of the process, both on one thread. Rapier is compiled for this machine with
//! `RUSTFLAGS=-Ctarget-cpu=native`.

mod ours;
mod rapier;
mod scene;

use scene::Scene;

/// What a run of one engine gave.
pub struct Figures {
    /// Seconds of each step.
    pub times: Vec<f64>,
    pub contacts: f64,
    /// Residual and sweeps of each step; empty where the engine tells none.
    pub residuals: Vec<f64>,
    pub sweeps: Vec<f64>,
    /// Means of seconds per step: finding, building, solving, judging, rest.
    pub phases: [f64; 5],
    /// Worst penetration over the size of a body.
    pub penetration: f64,
    /// Allocations per step.
    pub allocations: f64,
}

/// CPU time of all threads in seconds.
pub fn cpu_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a valid timespec that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Runs a scene and prints its figures; the median time of a step, and the mean of a sweep.
fn run(mut scene: Scene, compare: bool) -> (f64, f64) {
    let start = cpu_time();
    let run = ours::settle(&mut scene);
    let settled = cpu_time() - start;
    let ours = ours::run(&scene, run);
    let (a, b) = (1e3 * median(&ours.times), 1e3 * mean(&ours.times));
    let within = ours.residuals.iter().filter(|&&r| r <= 1e-8).count() as f64;
    let worst = ours.residuals.iter().copied().fold(0.0, f64::max);
    println!("{}", scene.name);
    println!(
        "  ours    {a:8.3} ms median {b:8.3} mean, {:6.0} contacts, {:5.1} % of steps at 1e-8 (worst {worst:.1e}), sweeps {} median {:.1} mean, penetration {:.1e}, allocations {:.1}",
        ours.contacts,
        100.0 * within / ours.residuals.len() as f64,
        median(&ours.sweeps),
        mean(&ours.sweeps),
        ours.penetration,
        ours.allocations,
    );
    println!(
        "          find {:.3} build {:.3} solve {:.3} judge {:.3} finish {:.3} ms; settled in {settled:.1} s",
        1e3 * ours.phases[0],
        1e3 * ours.phases[1],
        1e3 * ours.phases[2],
        1e3 * ours.phases[3],
        1e3 * ours.phases[4]
    );
    if compare {
        let theirs = rapier::run(&scene);
        let (c, d) = (1e3 * median(&theirs.times), 1e3 * mean(&theirs.times));
        println!(
            "  Rapier  {c:8.3} ms median {d:8.3} mean, {:6.0} contacts, penetration {:.1e}",
            theirs.contacts, theirs.penetration
        );
        println!("  ratio   {:8.2}    median {:8.2} mean", a / c, b / d);
    }
    (median(&ours.times), ours.phases[2] / mean(&ours.sweeps))
}

/// How the time of a step and that of a sweep grow from 1,000 to 20,000 balls.
fn growth(name: &str, scene: impl Fn(usize) -> Scene) {
    let [few, many] = [1000, 20_000].map(|count| run(scene(count), false));
    let exponent = |a: f64, b: f64| (b / a).ln() / 20f64.ln();
    println!(
        "growth of {name}: step {:.2}, sweep {:.2}",
        exponent(few.0, many.0),
        exponent(few.1, many.1)
    );
}

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    one.build_global().expect("the first pool");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let compare = !words.iter().any(|w| w == "ours");
    let mut scenes: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|&w| w != "ours")
        .collect();
    if scenes.is_empty() {
        scenes = vec![
            "pack1000",
            "compacting",
            "pack5000",
            "pyramid",
            "wall",
            "towers",
            "heavy",
            "column",
            "drum",
        ];
    }
    for word in scenes {
        match word {
            "pack1000" => _ = run(scene::pack(1000), compare),
            "compacting" => _ = run(scene::compacting(1000), compare),
            "pack5000" => _ = run(scene::pack(5000), compare),
            "pyramid" => _ = run(scene::pyramid(13), compare),
            "wall" => _ = run(scene::wall(10, 10), compare),
            "towers" => _ = run(scene::towers(16, 10), compare),
            "heavy" => _ = run(scene::heavy_tower(10), compare),
            "column" => _ = run(scene::column(1000), compare),
            "drum" => _ = run(scene::drum(1000), compare),
            "growth-flow" => growth("flow", |count| scene::Scene {
                steps: 60,
                ..scene::column(count)
            }),
            other => {
                eprintln!("no scene {other}");
                std::process::exit(1);
            }
        };
    }
}
