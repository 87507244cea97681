//! `stickslip study start`: one start under every law, in one figure.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;
use stickslip::scene::Changes;
use stickslip::simulation::studies::branches::{Branch, BranchTree};

use crate::exit::{Failure, say};
use crate::plot::{Figure, Panel, Sample, curve_stroke};
use crate::scene_argument;
use crate::study::save_picture;

/// Run one start under Moreau's S, the generalized law, every branch of Coulomb's law and the penalty method.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip study start painleve-start")]
pub struct StartArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Give a parameter another value; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene_argument::assignment)]
    set: Vec<(String, String)>,
    /// Time step, in seconds.
    #[arg(long, value_name = "SECONDS")]
    step: Option<String>,
    /// End time, in seconds.
    #[arg(long, value_name = "SECONDS")]
    until: Option<String>,
    /// Compliance times of the penalty method; the step is a fiftieth of each.
    #[arg(long, value_delimiter = ',', default_values_t = [1e-3, 1e-4])]
    compliance_times: Vec<f64>,
    /// Folder for `start.svg` and `start.png`.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// Print the motions as JSON.
    #[arg(long)]
    json: bool,
}

/// One motion of the figure: times, coordinates at these, and the velocity at the end.
#[derive(Serialize)]
struct Curve {
    name: String,
    t: Vec<f64>,
    q: Vec<Vec<f64>>,
    v: Vec<f64>,
}

impl Curve {
    fn new(name: String, branch: Branch) -> Self {
        Self {
            name,
            v: branch.v.last().cloned().unwrap_or_default(),
            t: branch.t,
            q: branch.q,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &StartArgs) -> Result<(), Failure> {
    scene_argument::refuse_world(&args.scene, "study start")?;
    let base = changes(args);
    let first = scene_argument::load(&args.scene, &base)?;
    let (curves, left_out) = motions(args, &base)?;
    let names = first.scene.coordinate_names();
    let picture = figure(&first.scene.title, &names, &curves);
    if args.json {
        save_picture(&picture, &args.output, true)?;
        say(json!({ "coordinates": names, "motions": curves, "left_out": left_out }));
        return Ok(());
    }
    for curve in &curves {
        let end: Vec<String> = names
            .iter()
            .zip(curve.q.last().into_iter().flatten())
            .zip(&curve.v)
            .map(|((name, q), v)| format!("{name} = {q:.5} ({v:+.5})"))
            .collect();
        say!("{:<42} {}", curve.name, end.join(", "));
    }
    if left_out > 0 {
        say!("{left_out} branches beyond branches_max were left out");
    }
    save_picture(&picture, &args.output, false)
}

/// What the options change in the scene.
fn changes(args: &StartArgs) -> Changes {
    let mut changes = Changes::new();
    for (name, value) in &args.set {
        changes = changes.parameter(name, value);
    }
    for (key, value) in [("step", &args.step), ("until", &args.until)] {
        if let Some(value) = value {
            changes = changes.key(key, value);
        }
    }
    changes
}

/// The motions under every law, and the number of branches that were left out.
fn motions(args: &StartArgs, base: &Changes) -> Result<(Vec<Curve>, usize), Failure> {
    let tree = |changes: &Changes| -> Result<BranchTree, Failure> {
        let named = scene_argument::load(&args.scene, changes)?;
        Ok(named.scene.branch_tree()?)
    };
    let first = |name: String, changes: &Changes| -> Result<Option<Curve>, Failure> {
        let branch = tree(changes)?.branches.into_iter().next();
        Ok(branch.map(|branch| Curve::new(name, branch)))
    };
    let mut curves = Vec::new();
    let rigid = base
        .clone()
        .key("scheme", "moreau")
        .key("impact", "inelastic");
    for (law, name) in [
        ("argmin", "Moreau's S"),
        ("generalized", "generalized (P'3)"),
    ] {
        curves.extend(first(name.to_string(), &rigid.clone().key("law", law))?);
    }
    // Coulomb's law keeps the scheme of the scene: one that reads contacts at the start of the step sees all its futures.
    let coulomb = base.clone().key("law", "coulomb");
    let all = tree(&coulomb.clone().key("on_several", "branch"))?;
    for (k, branch) in all.branches.into_iter().enumerate() {
        let (number, t) = (k + 1, branch.t_start);
        let name = format!("Coulomb (P5), branch {number} from t = {t:.4} s");
        curves.push(Curve::new(name, branch));
    }
    for &tau in &args.compliance_times {
        let penalty = coulomb.clone().key("scheme", "penalty");
        let penalty = penalty.key("compliance_time", tau).key("step", tau / 50.0);
        curves.extend(first(
            format!("penalty, compliance time {tau} s"),
            &penalty,
        )?);
    }
    Ok((curves, all.left_out))
}

fn figure(title: &str, names: &[String], curves: &[Curve]) -> Figure {
    let panels = names.iter().enumerate().map(|(i, name)| {
        let mut panel = Panel {
            x_label: "time t [s]".to_string(),
            y_label: name.clone(),
            ..Panel::default()
        };
        for (k, curve) in curves.iter().enumerate() {
            let points = curve.t.iter().zip(&curve.q).map(|(&t, q)| [t, q[i]]);
            panel.add_curve(points.collect(), curve_stroke(k), None);
        }
        panel
    });
    let legend = curves.iter().enumerate();
    Figure {
        name: "start".to_string(),
        title: format!("{title}: one start, every law"),
        subtitle: "branches in the order in which they were found".to_string(),
        legend: legend
            .map(|(k, curve)| (curve.name.clone(), Sample::Line(curve_stroke(k))))
            .collect(),
        panels: panels.collect(),
        columns: 2,
        panel_size: (480.0, 300.0),
        ..Figure::default()
    }
}
