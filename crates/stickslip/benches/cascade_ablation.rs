//! What each figure of [`CascadeSettings`] is worth: every one changed alone, over a folder of problems.
//!
//! `cargo bench --bench cascade_ablation -- [--tolerance 1e-8] [--seconds 5] FILES...`; without files the problems of `tests/data/fclib`.
//! Times are CPU times of the thread. A line tells the geometric mean of the ratios to the default, the smallest and largest of them, and what was solved.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickslip::contact::ContactProblem;
use stickslip::contact::fclib::{FclibFile, FclibProblem};
use stickslip::internals::CascadeSettings;
use stickslip::solvers::SolverLimits;
use stickslip::solvers::cascade::{CoulombMethod, solve};

/// A name and what it changes.
type Variant = (String, CascadeSettings);

fn main() {
    let mut files: Vec<String> = Vec::new();
    let (mut tolerance, mut seconds) = (1e-8, 5.0);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().and_then(|value| value.parse().ok());
            value.expect("a number after the option")
        };
        match argument.as_str() {
            "--tolerance" => tolerance = number(),
            "--seconds" => seconds = number(),
            "--bench" => {}
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/fclib");
        let entries = std::fs::read_dir(folder).expect("the folder of the suite");
        files.extend(entries.filter_map(|e| Some(e.ok()?.path().to_string_lossy().into_owned())));
    }
    files.sort();
    let problems: Vec<ContactProblem> = files.iter().filter_map(|file| read(file)).collect();
    println!(
        "{} problems to {tolerance:e}, at most {seconds} s each",
        problems.len()
    );
    let variants = variants();
    let limits = |settings: &CascadeSettings| SolverLimits {
        tolerance,
        time: Some(Duration::from_secs_f64(seconds)),
        cascade: settings.clone(),
        ..SolverLimits::default()
    };
    let default = limits(&CascadeSettings::default());
    let mut lines: Vec<Line> = variants.iter().map(|_| Line::default()).collect();
    let mut solved_by_default = 0;
    for problem in &problems {
        let (base, solved) = solve_time(problem, &default);
        solved_by_default += usize::from(solved);
        for ((_, settings), line) in variants.iter().zip(&mut lines) {
            let (time, solved) = solve_time(problem, &limits(settings));
            line.enter(time / base, solved);
        }
    }
    println!("{:<44} solved {solved_by_default}", "as it is");
    for ((name, _), line) in variants.iter().zip(&lines) {
        println!("{name:<44} {}", line.text());
    }
}

/// Ratios of one variant.
#[derive(Default)]
struct Line {
    logarithms: f64,
    count: usize,
    range: Option<(f64, f64)>,
    solved: usize,
}

impl Line {
    fn enter(&mut self, ratio: f64, solved: bool) {
        self.logarithms += ratio.ln();
        self.count += 1;
        let (low, high) = self.range.unwrap_or((ratio, ratio));
        self.range = Some((low.min(ratio), high.max(ratio)));
        self.solved += usize::from(solved);
    }

    fn text(&self) -> String {
        let mean = (self.logarithms / self.count.max(1) as f64).exp();
        let (low, high) = self.range.unwrap_or((1.0, 1.0));
        format!(
            "solved {}, time x {mean:.2} ({low:.2} to {high:.2})",
            self.solved
        )
    }
}

fn read(file: &str) -> Option<ContactProblem> {
    match FclibFile::read(file).ok()?.problem {
        FclibProblem::Local(local) => Some(local),
        FclibProblem::Global(global) => global.condense().ok().map(|condensed| condensed.local),
    }
}

/// CPU seconds of this thread, as the kernel counts them; the wall clock elsewhere.
fn cpu_seconds(begin: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| begin.elapsed().as_secs_f64(), |ns| 1e-9 * ns)
}

/// CPU seconds of one solve, from as many as fill a fifth of a second (the kernel counts in ticks), and whether the problem was solved.
fn solve_time(problem: &ContactProblem, limits: &SolverLimits) -> (f64, bool) {
    let begin = Instant::now();
    let before = cpu_seconds(begin);
    let mut solves = 0;
    loop {
        let solution = solve(problem, CoulombMethod::Cascade, limits, None);
        solves += 1;
        if begin.elapsed().as_secs_f64() > 0.2 {
            let spent = cpu_seconds(begin) - before;
            return (spent / f64::from(solves), solution.status.is_solved());
        }
    }
}

fn variants() -> Vec<Variant> {
    let d = CascadeSettings::default;
    let mut all: Vec<Variant> = Vec::new();
    let mut add = |name: &str, settings: CascadeSettings| all.push((name.to_string(), settings));
    macro_rules! each {
        ($field:ident: $($value:expr),+) => {
            $(add(
                &format!(concat!(stringify!($field), " {:?}, was {:?}"), $value, d().$field),
                CascadeSettings { $field: $value, ..d() },
            );)+
        };
    }
    each!(visited_blocks_max: 0, 10_000);
    each!(pivoted_contacts_max: 0, 40);
    each!(blocks_for_bodies: 5, 1_000_000);
    each!(first_products: 100, 1600);
    each!(first_newton_steps: 8, 120);
    each!(second_order_weight: 0.1, 1.0);
    each!(other_sweeps_weight: 0.7, 6.0);
    each!(fair_start: 1e-6, 1e-2);
    each!(poor_start_weight: 1.0, 4.0);
    each!(standstill: 0.4, 0.95);
    each!(lag: 1.5, 30.0);
    each!(kappas_from_sweeps: [1e-4, 1e-6, 1e-3, 1e-2]);
    each!(kappas_from_interior: [1e-6, 1e-4, 1e-3, 1e-2]);
    each!(weight_from_sweeps: 1e-2, 1.0);
    each!(weight_from_interior: 1e-4, 1e-2);
    each!(newton_patience: 100, 2500);
    each!(interior_iterations: 20, 80);
    each!(skeleton_operations: 2e6, 1e30);
    each!(patch_contacts_max: 100, 1600);
    each!(patch_seeds_max: 0, 240);
    each!(patch_share: 0.9, 0.999);
    each!(patch_sweeps: 100, 1600);
    each!(patch_newton_steps: 0, 160);
    all
}
