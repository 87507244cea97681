//! `stickslip branches`: every solution of one step, with a verdict.

use std::process::ExitCode;

use stickslip::internals::quantity::digits;
use stickslip::scene::{Scene, SceneError};
use stickslip::solvers::enumeration::{EnumerationSettings, FoundSolution, Method};

use crate::exit::{complain, say};
use crate::scene_argument::{self, SceneOptions};

/// Find all solutions of the first step of a scene under Coulomb's law.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip branches painleve-rod --set mu=2 --gap 1e-4")]
pub struct BranchesArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    #[command(flatten)]
    options: SceneOptions,
    /// Gap up to which a constraint counts as active; contacts of a world are those that its step finds.
    #[arg(long, default_value_t = 1e-9)]
    gap: f64,
    /// Starts of the search, per contact, for contacts in space.
    #[arg(long, default_value_t = 400)]
    starts: usize,
    /// Print the solutions as JSON.
    #[arg(long)]
    json: bool,
}

/// Names of the contacts that a world finds in its first step; none elsewhere.
fn world_names(scene: &Scene, gap: f64, h: f64) -> Result<Vec<String>, SceneError> {
    let Some(world) = scene.world() else {
        return Ok(Vec::new());
    };
    let problem = scene.first_problem(gap, h)?;
    let names = problem.blocks().iter().map(|b| world.contact_name(b.key));
    Ok(names.collect())
}

/// Runs the subcommand.
pub fn run(args: &BranchesArgs) -> ExitCode {
    // Only Coulomb's law has several solutions.
    let changes = match &args.options.law {
        Some(_) => args.options.changes(),
        None => args.options.changes().key("law", "coulomb"),
    };
    let named = match scene_argument::load(&args.scene, &changes) {
        Ok(named) => named,
        Err(error) => return complain(error),
    };
    let settings = EnumerationSettings {
        starts: args.starts,
        ..EnumerationSettings::default()
    };
    let h = named.scene.settings.step;
    let study = match named.scene.branches(args.gap, h, &settings) {
        Ok(Ok(study)) => study,
        Ok(Err(error)) => return complain(error),
        Err(error) => return complain(error),
    };
    if args.json {
        return match serde_json::to_string_pretty(&study.to_json()) {
            Ok(text) => {
                say(text);
                ExitCode::SUCCESS
            }
            Err(error) => complain(error),
        };
    }
    say!("{}: step of {h} s: {}", named.name, study.verdict);
    let method = match study.enumeration.method {
        Method::Exact => "all contact modes enumerated: the list is complete",
        Method::Truncated => "the tree of modes was cut at its bound: there may be more",
        Method::Search => "a search from many starts: there may be more",
    };
    say(method);
    let names = match world_names(&named.scene, args.gap, h) {
        Ok(names) => names,
        Err(error) => return complain(error),
    };
    for (k, margin) in study.margins.iter().enumerate() {
        let name = names.get(k).cloned().unwrap_or_else(|| (k + 1).to_string());
        say!("contact {name}: margin to the Painleve region {margin:.6} of W_nn");
    }
    let (rank, count) = study.normal_rank;
    if rank < count {
        say!("impulses are not unique: the normal rows have rank {rank} of {count}");
    }
    for (k, solution) in study.enumeration.solutions.iter().enumerate() {
        let kind = if study.impulsive[k] {
            "impact: the impulse does not shrink with the step"
        } else {
            "smooth"
        };
        say!("\nmotion {}: {} ({kind})", k + 1, modes(solution));
        say!("  velocity  {}", list(&study.velocities[k]));
        tell_impulses(solution);
    }
    if let Some(limit) = &study.degenerate {
        say(
            "\nnearly degenerate: gamma is zero within the rounding of the data; as the step vanishes:",
        );
        for solution in &limit.solutions {
            say!("  {}", modes(solution));
            tell_impulses(solution);
        }
    }
    ExitCode::SUCCESS
}

fn modes(solution: &FoundSolution) -> String {
    let words: Vec<&str> = solution.modes.iter().map(|m| m.word()).collect();
    words.join(", ")
}

/// The set of impulses of a motion.
fn tell_impulses(solution: &FoundSolution) {
    say!("  impulse   {}", list(&solution.impulse));
    say!("  residual  {}", digits(solution.residual, 2));
    let Some(continuum) = &solution.continuum else {
        return;
    };
    let what = if continuum.moves_velocity {
        "velocities differ along it"
    } else {
        "internal forces only"
    };
    say!(
        "  one of a continuum of dimension {} ({what})",
        continuum.dimension
    );
    for (end, word) in continuum.ends.iter().zip(["from", "to  "]) {
        let grazing = end.iter().all(|p| p.abs() < 1e-12);
        let note = if grazing {
            "  (grazing: no impulse)"
        } else {
            ""
        };
        say!("  {word} {}{note}", list(end));
    }
    for direction in &continuum.unbounded {
        say!("  without end along {}", list(direction));
    }
    if continuum.ends.is_empty() && continuum.unbounded.is_empty() {
        say!("  met from  {}", list(&solution.range.least));
        say!("       to   {}", list(&solution.range.largest));
    }
    if continuum.moves_velocity {
        let range = &solution.velocity_range;
        let widths = range.largest.iter().zip(&range.least).map(|(a, b)| a - b);
        let apart = digits(widths.fold(0.0, f64::max), 3);
        say!("  its motions met differ by at most {apart} in a velocity of a contact");
    }
}

fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|x| format!("{x:.9}")).collect();
    words.join("  ")
}
