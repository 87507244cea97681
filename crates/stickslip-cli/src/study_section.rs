//! `stickslip study poincare` and `study bifurcation`: runs seen at the instants of a period or where they pass a section.

use std::path::PathBuf;

use stickslip::internals::Digest;
use stickslip::internals::expression::{Graph, Scope, parse};
use stickslip::records::{Array, Npz};
use stickslip::scene::{Direction, Scene, SceneSweep, SectionRule};
use stickslip::simulation::studies::sweep::{Sweep, SweepAxis, SweepPoint};

use crate::exit::Failure;
use crate::plot::{Figure, Panel, dot_color};
use crate::scene_argument::{self, SceneOptions};
use crate::study_sweep::{drive, sweep_axis};

/// When a run is looked at.
#[derive(clap::Args, Debug, Clone)]
pub struct SectionOptions {
    /// Look every so many seconds: a number or an expression of the parameters, such as "2*pi/omega".
    #[arg(long, value_name = "EXPRESSION", required_unless_present = "section")]
    period: Option<String>,
    /// First look, in seconds; an expression, too.
    #[arg(
        long,
        value_name = "EXPRESSION",
        default_value = "0",
        requires = "period"
    )]
    phase: String,
    /// Look where an equation between columns of the trajectory comes to hold, such as "x = 0".
    #[arg(long, value_name = "EQUATION", conflicts_with = "period")]
    section: Option<String>,
    /// Direction in which the left side passes the right one: up, down, both.
    #[arg(long, default_value = "up", value_parser = ["up", "down", "both"])]
    direction: String,
}

impl SectionOptions {
    /// The rule for a scene.
    fn rule(&self, scene: &Scene) -> Result<SectionRule, String> {
        if let Some(equation) = &self.section {
            let (left, right) = equation
                .split_once('=')
                .ok_or("--section: expected an equation such as \"x = 0\"")?;
            return Ok(SectionRule::Crossing {
                expression: format!("({}) - ({})", left.trim(), right.trim()),
                direction: match self.direction.as_str() {
                    "down" => Direction::Down,
                    "both" => Direction::Both,
                    _ => Direction::Up,
                },
            });
        }
        let value = |what: &str, text: &str| {
            constant(text, &scene.parameters).map_err(|e| format!("{what}: {e}"))
        };
        let period = value("--period", self.period.as_deref().unwrap_or_default())?;
        let phase = value("--phase", &self.phase)?;
        if !(period > 0.0 && period.is_finite() && phase >= 0.0) {
            return Err(format!(
                "--period: {period} is not a positive number of seconds"
            ));
        }
        Ok(SectionRule::Period { period, phase })
    }
}

/// The value of an expression of parameters.
fn constant(text: &str, parameters: &[(String, f64)]) -> Result<f64, String> {
    let (mut graph, mut scope) = (Graph::new(), Scope::new());
    for (name, value) in parameters {
        let value = graph.constant(*value);
        scope.define(name.as_str(), value);
    }
    let expression = parse(text, &mut graph, &scope).map_err(|errors| {
        let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
        reasons.join("; ")
    })?;
    graph
        .constant_value(expression)
        .ok_or_else(|| format!("`{text}` is not a number"))
}

/// Points of a run on a Poincare section: `poincare.npz`, `poincare.csv` and a picture.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip study poincare my-oscillator.toml --period \"2*pi/omega\" --skip 100 --until 5000\n  \
        stickslip study poincare my-scene.toml --section \"x = 0\" --of y --of y_dot")]
pub struct PoincareArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    #[command(flatten)]
    section: SectionOptions,
    /// What is read at every point: expressions over the columns of the trajectory; the first two are drawn. Time,
    /// coordinates and velocities if not given, of which the first coordinate and its velocity are drawn.
    #[arg(long, value_name = "EXPRESSION")]
    of: Vec<String>,
    /// Points left out at the beginning.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Most points.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    keep: usize,
    #[command(flatten)]
    options: SceneOptions,
    /// Folder for the files.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
}

/// Runs `study poincare`.
pub fn poincare(args: &PoincareArgs) -> Result<bool, Failure> {
    let named = scene_argument::load(&args.scene, &args.options.changes())?;
    let scene = &named.scene;
    let columns = match args.of.is_empty() {
        true => scene.section_columns(),
        false => args.of.clone(),
    };
    let rule = args.section.rule(scene)?;
    let section = scene.section(&rule, &columns, (args.skip, args.keep))?;
    let failed = |e: std::io::Error| format!("{}: {e}", args.output.display());
    std::fs::create_dir_all(&args.output).map_err(failed)?;
    let mut npz = Npz::default();
    npz.push(
        "columns",
        Array::Texts(vec![columns.len()], columns.clone()),
    );
    let shape = vec![section.points.len(), columns.len()];
    npz.push("points", Array::Numbers(shape, section.points.concat()));
    npz.push("certified", Array::Flags(vec![], vec![section.certified]));
    npz.push("reason", Array::Texts(vec![], vec![section.reason.clone()]));
    npz.write(&args.output.join("poincare.npz"))
        .map_err(failed)?;
    let mut csv = columns.join(",") + "\n";
    for point in &section.points {
        let words: Vec<String> = point.iter().map(|x| format!("{x:?}")).collect();
        csv += &(words.join(",") + "\n");
    }
    std::fs::write(args.output.join("poincare.csv"), csv).map_err(failed)?;
    // The first two that were asked for, or the first coordinate and its velocity.
    let coordinates = scene.coordinate_names().len();
    let (i, j) = match args.of.len() {
        0 => (1, 1 + coordinates),
        1 => (0, 0),
        _ => (0, 1),
    };
    let mut panel = Panel {
        x_label: columns[i].clone(),
        y_label: columns[j].clone(),
        ..Panel::default()
    };
    let dots = section.points.iter().map(|p| [p[i], p[j]]).collect();
    panel.add_dots(dots, 1.2, dot_color(0), false, None);
    let figure = Figure {
        name: "poincare".to_string(),
        title: format!("{}: Poincaré section", named.name),
        subtitle: format!("{} points", section.points.len()),
        panels: vec![panel],
        columns: 1,
        panel_size: (640.0, 480.0),
        ..Figure::default()
    };
    figure.save(&args.output).map_err(failed)?;
    say!(
        "{} points{}",
        section.points.len(),
        if section.certified { ", certified" } else { "" }
    );
    if !section.reason.is_empty() {
        say!("the run stopped: {}", section.reason);
    }
    say!(
        "Files {}: poincare.npz, poincare.csv and the plot poincare (SVG and PNG)",
        args.output.display()
    );
    Ok(true)
}

/// Values on a section over a parameter, after transients: `bifurcation.npz`, `bifurcation.csv` and a picture.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  \
        stickslip study bifurcation my-oscillator.toml --over omega=1:3:200 --period \"2*pi/omega\" --of x --skip 200 --keep 50\n\n\
        --until must leave time for skip + keep points. The file has the arrays of `study sweep`; the same command\n\
        again goes on where it was interrupted.")]
pub struct BifurcationArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// The parameter and its values.
    #[arg(long, value_name = "NAME=FROM:TO:COUNT|NAME=A,B,...", value_parser = sweep_axis)]
    over: SweepAxis,
    #[command(flatten)]
    section: SectionOptions,
    /// What is drawn: an expression over the columns of the trajectory.
    #[arg(long, value_name = "EXPRESSION")]
    of: String,
    /// Points left out at the beginning of each run.
    #[arg(long, value_name = "N", default_value_t = 100)]
    skip: usize,
    /// Points kept of each run.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = keep)]
    keep: usize,
    #[command(flatten)]
    options: SceneOptions,
    /// Folder for the files.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// Number of threads; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

fn keep(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n| (1..=10_000).contains(n));
    number.ok_or_else(|| "expected a number from 1 to 10000".to_string())
}

/// Runs `study bifurcation`; false if it was interrupted.
pub fn bifurcation(args: &BifurcationArgs) -> Result<bool, Failure> {
    let named = scene_argument::load(&args.scene, &args.options.changes())?;
    let (_, source) = scene_argument::source(&args.scene)?;
    args.section.rule(&named.scene)?;
    let subject = SceneSweep {
        source: source.clone(),
        changes: args.options.changes(),
        outcomes: Vec::new(),
    };
    let names = vec![args.over.name.clone()];
    let limits = (args.skip, args.keep);
    let evaluate = |values: &[f64]| -> SweepPoint {
        let point = subject.scene_at(&names, values).and_then(|scene| {
            let rule = args.section.rule(&scene)?;
            scene.section_outcome(&rule, &args.of, limits)
        });
        point.unwrap_or_else(|reason| SweepPoint {
            values: vec![f64::NAN; args.keep],
            certified: false,
            reason,
        })
    };
    let first = evaluate(&[args.over.values[0]]);
    if first.values.iter().all(|x| x.is_nan()) && !first.reason.is_empty() {
        return Err(first.reason.into());
    }
    let outcomes = (0..args.keep)
        .map(|k| format!("{}[{k}]", args.of))
        .collect();
    let subject_text = format!(
        "{:?}{:?}{:?}{limits:?}",
        source.text(),
        subject.changes,
        args.section
    );
    let sweep = Sweep::new(
        vec![args.over.clone()],
        outcomes,
        Digest::of(subject_text.as_bytes()),
    )?;
    let title = format!("{}: bifurcations of {}", named.name, args.of);
    drive(
        sweep,
        ("bifurcation", &title),
        &args.output,
        args.threads,
        evaluate,
    )
}
