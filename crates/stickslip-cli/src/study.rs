//! `stickslip study`: many runs of one scene, seen together.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::internals::quantity::typed;
use stickslip::internals::words::Scheme;
use stickslip::scene::{Changes, Scene};
use stickslip::simulation::RunEnd;
use stickslip::simulation::studies::{ConvergenceStudy, Resolved};

use crate::exit::{Failure, complain, interrupted, say};
use crate::plot::{Figure, Panel, curve_stroke, dot_color};
use crate::scene_argument::{self, NamedScene, assignment};
use crate::study_attainable::{self, AttainableArgs};
use crate::study_map::{self, MapArgs};
use crate::study_start::{self, StartArgs};
use crate::{study_bounds, study_neighbours, study_reactions, study_section, study_sweep};

/// Study a scene: convergence, bounds, reactions, maps and sweeps over parameters, Poincare sections, attainable velocities, one start
/// under every law.
#[derive(clap::Args, Debug)]
pub struct StudyArgs {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(clap::Subcommand, Debug)]
enum Kind {
    Convergence(ConvergenceArgs),
    Map(MapArgs),
    Sweep(study_sweep::SweepArgs),
    Poincare(study_section::PoincareArgs),
    Bifurcation(study_section::BifurcationArgs),
    Attainable(AttainableArgs),
    Start(StartArgs),
    Bounds(study_bounds::BoundsArgs),
    Reactions(study_reactions::ReactionsArgs),
    Neighbours(study_neighbours::NeighboursArgs),
}

/// Errors at the end time over a list of steps or compliance times, with measured orders.
#[derive(clap::Args, Debug, Clone)]
#[command(after_help = "Examples:\n  \
        stickslip study convergence sliding-block --steps 1e-2,1e-3,1e-4\n  \
        stickslip study convergence delayed-hopper --steps 4e-3,2e-3,1e-3,5e-4 --output study\n  \
        stickslip study convergence bar-penalty --compliance-times 2e-3,1e-3,5e-4 --against finest\n  \
        stickslip study convergence sliding-block --against x=0.6796,y=0")]
pub struct ConvergenceArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Steps to compare, in seconds; eight, four, two and one times the step of the scene if not given.
    #[arg(long, value_delimiter = ',', value_name = "SECONDS,...")]
    steps: Vec<f64>,
    /// Compliance times to compare instead of steps; the step of each is halved until its own error is small beside that of
    /// the compliance time.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SECONDS,...",
        conflicts_with = "steps"
    )]
    compliance_times: Vec<f64>,
    /// What is true: `event-driven` (the default; `finest` for worlds, which have no such scheme), `finest`, or final coordinates `x=1.5,y=0`.
    #[arg(long)]
    against: Option<String>,
    /// Give a parameter another value in all runs; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Scheme of the runs.
    #[arg(long)]
    scheme: Option<String>,
    /// End time of all runs, in seconds.
    #[arg(long, value_name = "SECONDS")]
    until: Option<String>,
    /// Folder for the plot `convergence.svg` and `.png`; none is drawn if not given.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print the study as JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &StudyArgs) -> ExitCode {
    let done = match &args.kind {
        Kind::Convergence(args) => convergence(args),
        Kind::Map(args) => study_map::run(args),
        Kind::Attainable(args) => study_attainable::run(args),
        Kind::Start(args) => study_start::run(args),
        Kind::Bounds(args) => study_bounds::run(args),
        Kind::Reactions(args) => study_reactions::run(args),
        Kind::Neighbours(args) => study_neighbours::run(args),
        Kind::Sweep(args) => return ended(study_sweep::run(args)),
        Kind::Poincare(args) => return ended(study_section::poincare(args)),
        Kind::Bifurcation(args) => return ended(study_section::bifurcation(args)),
    };
    ended(done.map(|()| true))
}

/// The exit code of a study; false stands for an interrupted one.
fn ended(done: Result<bool, Failure>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => interrupted(),
        Err(message) => complain(message),
    }
}

impl ConvergenceArgs {
    fn against(&self) -> &str {
        self.against.as_deref().unwrap_or("event-driven")
    }
}

fn convergence(args: &ConvergenceArgs) -> Result<(), Failure> {
    let by_compliance = !args.compliance_times.is_empty();
    if by_compliance || args.against() == "event-driven" && args.against.is_some() {
        scene_argument::refuse_world(
            &args.scene,
            "a comparison with compliant or event-driven runs",
        )?;
    }
    let base = base_changes(args);
    let first = load(args, &base)?;
    let mut args = args.clone();
    if first.scene.world().is_some() && args.against.is_none() {
        args.against = Some("finest".to_string());
    }
    let args = &args;
    let values: Vec<f64> = if by_compliance {
        args.compliance_times.clone()
    } else if args.steps.is_empty() {
        let h = first.scene.settings.step;
        [8.0, 4.0, 2.0, 1.0].map(|k| k * h).to_vec()
    } else {
        args.steps.clone()
    };
    let mut steps = Vec::new();
    let (results, reference) = if by_compliance {
        compliant(args, &base, &first.scene, &values, &mut steps)?
    } else {
        let mut results = Vec::new();
        for &value in &values {
            let changes = base.clone().key("step", value);
            results.push(final_coordinates(&load(args, &changes)?.scene)?);
        }
        let reference = reference(args, &base, &first.scene, &values, &results)?;
        (results, reference)
    };
    // What the reference itself was computed with; one whose error is of another kind has none.
    let own = match args.against() {
        "finest" => values[finest(&values)],
        "event-driven" if by_compliance => compliance_of_reference(&values),
        _ => 0.0,
    };
    // The finest run cannot be compared with itself.
    let (values, results) = if args.against() == "finest" {
        let finest = finest(&values);
        let others = (0..values.len()).filter(|&k| k != finest);
        others.map(|k| (values[k], results[k].clone())).unzip()
    } else {
        (values, results)
    };
    let study = ConvergenceStudy::against_run(&values, &results, (own, &reference))?;
    let what = if by_compliance {
        "compliance time"
    } else {
        "step"
    };
    if args.json {
        let data = serde_json::json!({
            "scene": first.name, "over": what, "against": args.against(),
            "rows": study.rows, "order": study.order(), "reference": study.reference, "steps": steps,
        });
        say(serde_json::to_string_pretty(&data)?);
    } else {
        print_table(&study, what, args);
        for (value, run) in args.compliance_times.iter().zip(&steps) {
            let word = if run.resolved {
                "small enough for the order to be that of the compliance time"
            } else {
                "NOT small enough: the error is partly that of the step"
            };
            say!(
                "compliance time {}: step {}, {word}",
                typed(*value, 4),
                typed(run.step, 4)
            );
        }
    }
    if let Some(folder) = &args.output {
        plot(&study, &first, what, args.against(), folder)?;
        if !args.json {
            say!("plot in {}", folder.join("convergence.svg").display());
        }
    }
    Ok(())
}

/// Runs over compliance times, each with a step whose own error is small beside that of the compliance time, and their
/// reference.
fn compliant(
    args: &ConvergenceArgs,
    base: &Changes,
    scene: &Scene,
    values: &[f64],
    steps: &mut Vec<Resolved>,
) -> Result<(Vec<Vec<f64>>, Vec<f64>), Failure> {
    // Rigid contacts become compliant: the limit is what is studied.
    let rigid = !matches!(scene.settings.scheme, Scheme::Penalty | Scheme::EventDriven);
    let at = |time: f64, step: f64| {
        let mut changes = base.clone().key("compliance_time", time);
        if rigid {
            changes = changes.key("scheme", "penalty");
        }
        final_coordinates(&load(args, &changes.key("step", step))?.scene)
    };
    let apart = |a: &[f64], b: &[f64]| {
        let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    };
    let known = match args.against() {
        "finest" => None,
        _ => Some(reference(args, base, scene, values, &[])?),
    };
    for &time in values {
        let resolved = Resolved::in_step(
            |step| at(time, step),
            time / 50.0,
            |result, step| match &known {
                Some(known) => Ok(apart(result, known)),
                // Without a reference: what half the compliance time changes.
                None => Ok(apart(result, &at(0.5 * time, 0.5 * step)?)),
            },
        )?;
        steps.push(resolved);
    }
    let results: Vec<Vec<f64>> = steps.iter().map(|run| run.result.clone()).collect();
    let reference = match known {
        Some(known) => known,
        None => reference(args, base, scene, values, &results)?,
    };
    Ok((results, reference))
}

fn base_changes(args: &ConvergenceArgs) -> Changes {
    let mut changes = Changes::new();
    for (name, value) in &args.set {
        changes = changes.parameter(name, value);
    }
    for (name, value) in [("scheme", &args.scheme), ("until", &args.until)] {
        if let Some(value) = value {
            changes = changes.key(name, value);
        }
    }
    changes
}

fn load(args: &ConvergenceArgs, changes: &Changes) -> Result<NamedScene, Failure> {
    Ok(scene_argument::read(&args.scene, changes)?)
}

/// Coordinates at the end of a run.
fn final_coordinates(scene: &Scene) -> Result<Vec<f64>, Failure> {
    let mut run = scene.simulation()?;
    match run.run_until(scene.settings.until, |_| ControlFlow::Continue(())) {
        RunEnd::Stopped { t, outcome } => Err(format!(
            "the run with the scheme `{}` stopped at t = {t}: {}",
            scene.settings.scheme,
            run.stop_words(outcome)
        )
        .into()),
        RunEnd::Finished | RunEnd::Interrupted => Ok(run.state().q.clone()),
    }
}

fn finest(values: &[f64]) -> usize {
    let smallest = values.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    smallest.map_or(0, |(k, _)| k)
}

/// Compliance time of the reference: the limit of rigid contacts, up to a 64th of the error of the finest run.
fn compliance_of_reference(values: &[f64]) -> f64 {
    values[finest(values)] / 64.0
}

/// The coordinates that count as true.
fn reference(
    args: &ConvergenceArgs,
    base: &Changes,
    scene: &Scene,
    values: &[f64],
    results: &[Vec<f64>],
) -> Result<Vec<f64>, Failure> {
    match args.against() {
        "finest" => Ok(results[finest(values)].clone()),
        "event-driven" => {
            let until = scene.settings.until;
            let mut changes = base.clone().key("scheme", "event-driven");
            changes = changes.key("step", until / 100.0);
            if !args.compliance_times.is_empty() {
                changes = changes.key("compliance_time", compliance_of_reference(values));
            }
            final_coordinates(&load(args, &changes)?.scene)
        }
        list => {
            let names = scene.coordinate_names();
            let mut given = vec![None; names.len()];
            for part in list.split(',') {
                let (name, value) = assignment(part)?;
                let place = names.iter().position(|n| *n == name);
                let place = place.ok_or_else(|| {
                    format!(
                        "`{name}` is no coordinate; the scene has {}",
                        names.join(", ")
                    )
                })?;
                given[place] = Some(value.parse::<f64>().map_err(|e| format!("{value}: {e}"))?);
            }
            let missing = names.iter().zip(&given).find(|(_, value)| value.is_none());
            match missing {
                Some((name, _)) => {
                    Err(format!("--against lacks the final value of `{name}`").into())
                }
                None => Ok(given.into_iter().flatten().collect()),
            }
        }
    }
}

fn print_table(study: &ConvergenceStudy, what: &str, args: &ConvergenceArgs) {
    let column = if args.against() == "finest" {
        let finest = typed(study.reference, 4);
        say!(
            "differences at the end against finest, the run with {finest}; orders allow for its own error"
        );
        "difference"
    } else {
        say!("errors at the end against {}", args.against());
        "error"
    };
    say!("{what:>16}  {column:>10}  {:>6}", "order");
    for row in &study.rows {
        let order = row.order.map_or("-".to_string(), |x| format!("{x:.2}"));
        say!("{:>16.3e}  {:>10.3e}  {order:>6}", row.value, row.error);
    }
    if let Some(order) = study.order() {
        say!("order {order:.2} over all rows");
    }
}

/// Log-log plot with a line of the measured order.
fn plot(
    study: &ConvergenceStudy,
    scene: &NamedScene,
    what: &str,
    against: &str,
    folder: &Path,
) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let shown: Vec<[f64; 2]> = study
        .rows
        .iter()
        .filter(|row| row.error > 0.0)
        .map(|row| [row.value.log10(), row.error])
        .collect();
    let mut panel = Panel {
        x_label: format!("log10 of the {what} (s)"),
        y_label: "largest error of a coordinate at the end".into(),
        portrait: true,
        logarithmic: true,
        ..Panel::default()
    };
    let name = match study.order() {
        Some(order) => format!("measured, order {order:.2}"),
        None => "measured".to_string(),
    };
    panel.add_curve(shown.clone(), curve_stroke(0), Some(name));
    if let (Some(first), Some(last)) = (shown.first(), shown.last()) {
        // Order one through the finest run: a line, or what differences to a run of order one are.
        let own = study.reference;
        let at = |t: f64| 10f64.powf(first[0] + t * (last[0] - first[0]));
        let line = (0..=50).map(|k| at(f64::from(k) / 50.0)).map(|x| {
            let height = last[1] * (x - own) / (10f64.powf(last[0]) - own);
            [x.log10(), height]
        });
        let line = line.collect();
        panel.add_curve(line, curve_stroke(1), Some("order 1".into()));
    }
    panel.add_dots(shown, 3.5, dot_color(0), false, None);
    let figure = Figure {
        name: "convergence".into(),
        title: format!("{}: convergence", scene.scene.title),
        subtitle: format!("scheme {}, against {against}", scene.scene.settings.scheme),
        panels: vec![panel],
        columns: 1,
        panel_size: (560.0, 400.0),
        ..Figure::default()
    };
    figure.save(folder)
}

/// Writes the picture of a study into its folder, and tells so unless JSON is asked for.
pub fn save_picture(figure: &Figure, folder: &Path, json: bool) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .and_then(|()| figure.save(folder))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    if !json {
        say!(
            "Picture {}: {} (SVG and PNG)",
            folder.display(),
            figure.name
        );
    }
    Ok(())
}
