//! `stickslip branches`: every solution of one step, with a verdict.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use stickslip::internals::quantity::digits;
use stickslip::scene::{Scene, SceneError};
use stickslip::simulation::studies::branches::BranchStudy;
use stickslip::solvers::enumeration::{
    EnumerationError, EnumerationSettings, Examined, FoundSolution, Method, Work,
};

use crate::exit::{complain, interrupted, say};
use crate::interrupt::Interrupt;
use crate::scene_argument::{self, SceneOptions};

/// How often the progress is shown and Ctrl-C looked for.
const GLANCE: Duration = Duration::from_millis(100);

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
    /// Operations, about, that contacts may take that feel each other and are more than six in the plane or two in space; what
    /// is left open is told.
    #[arg(long, default_value_t = EnumerationSettings::default().work_max)]
    work: f64,
    /// Print the solutions as JSON.
    #[arg(long)]
    json: bool,
}

/// The study, on a thread of its own under a count of what it has done; Ctrl-C ends it with what it has found.
fn watched(
    scene: &Scene,
    (gap, h): (f64, f64),
    settings: &EnumerationSettings,
) -> (
    Result<Result<BranchStudy, EnumerationError>, SceneError>,
    bool,
) {
    let interrupt = Interrupt::watch("interrupted");
    let work = Work::default();
    let bar = match std::io::stderr().is_terminal() {
        true => ProgressBar::new_spinner(),
        false => ProgressBar::hidden(),
    };
    // The template is a constant that the crate accepts.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    let study = std::thread::scope(|threads| {
        let study = threads.spawn(|| scene.branches_under(gap, h, settings, &work));
        while !study.is_finished() {
            std::thread::sleep(GLANCE.min(Duration::from_millis(5 + work.done())));
            bar.set_message(format!(
                "{} lists of modes and starts examined",
                work.done()
            ));
            bar.tick();
            if interrupt.raised() {
                work.end();
            }
        }
        study.join()
    });
    bar.finish_and_clear();
    match study {
        Ok(study) => (study, work.is_ended()),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// What was examined, where that is not all or not everything together.
fn tell_groups(groups: &[Examined]) {
    let told = groups.len() > 1 || groups.iter().any(|g| g.method == Method::Truncated);
    for group in groups.iter().filter(|_| told) {
        let contacts = match group.blocks.len() {
            1 => "1 contact".to_string(),
            several => format!("{several} contacts that feel each other"),
        };
        let motions = match group.motions {
            0 => "no motion".to_string(),
            1 => "one motion".to_string(),
            several => format!("{several} motions"),
        };
        let effort = group.effort;
        match group.method {
            Method::Exact => say!("{contacts}: {motions}, the list is complete"),
            Method::Search => say!("{contacts}: {motions} met from {effort} starts"),
            Method::Truncated if effort == 0 => {
                say!(
                    "{contacts}: not examined, even one list of their modes is beyond the bound of work (--work)"
                );
            }
            Method::Truncated => {
                say!(
                    "{contacts}: {motions} found, stopped after {effort} lists of modes or starts (--work)"
                );
            }
        }
    }
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
        work_max: args.work,
        ..EnumerationSettings::default()
    };
    let h = named.scene.settings.step;
    let (study, ended) = watched(&named.scene, (args.gap, h), &settings);
    let study = match study {
        Ok(Ok(study)) => study,
        Ok(Err(error)) => return complain(error),
        Err(error) => return complain(error),
    };
    let code = match ended {
        true => interrupted(),
        false => ExitCode::SUCCESS,
    };
    if args.json {
        return match serde_json::to_string_pretty(&study.to_json()) {
            Ok(text) => {
                say(text);
                code
            }
            Err(error) => complain(error),
        };
    }
    say!("{}: step of {h} s: {}", named.name, study.verdict);
    let method = match study.enumeration.method {
        Method::Exact => "all contact modes enumerated: the list is complete",
        Method::Truncated if ended => "interrupted: there may be more",
        Method::Truncated => "the list was cut at its bound of work: there may be more",
        Method::Search => "a search from many starts: there may be more",
    };
    say(method);
    tell_groups(&study.enumeration.groups);
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
    code
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
