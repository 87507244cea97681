//! `stickslip study start`: one start under every law, in one figure.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;
use stickslip::scene::Changes;

use crate::exit::{Failure, say};
use crate::plot::{Figure, Panel, Sample, curve_stroke};
use crate::scene_argument::{self, NamedScene};

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

/// Runs the subcommand.
pub fn run(args: &StartArgs) -> Result<(), Failure> {
    let mut base = Changes::new();
    for (name, value) in &args.set {
        base = base.parameter(name, value);
    }
    for (key, value) in [("step", &args.step), ("until", &args.until)] {
        if let Some(value) = value {
            base = base.key(key, value);
        }
    }
    let load = |changes: &Changes| -> Result<NamedScene, Failure> {
        Ok(scene_argument::load(&args.scene, changes)?)
    };
    let first = load(&base)?;
    let mut curves = Vec::new();
    let rigid = base
        .clone()
        .key("scheme", "moreau")
        .key("impact", "inelastic");
    for (law, name) in [
        ("argmin", "Moreau's S"),
        ("generalized", "generalized (P'3)"),
    ] {
        let scene = load(&rigid.clone().key("law", law))?.scene;
        let tree = scene.branch_tree()?;
        curves.extend(tree.branches.into_iter().take(1).map(|b| Curve {
            name: name.to_string(),
            v: b.v.last().cloned().unwrap_or_default(),
            t: b.t,
            q: b.q,
        }));
    }
    // Coulomb's law keeps the scheme of the scene: one that reads contacts at the start of the step sees all its futures.
    let coulomb = base
        .clone()
        .key("law", "coulomb")
        .key("on_several", "branch");
    let tree = load(&coulomb)?.scene.branch_tree()?;
    let left_out = tree.left_out;
    for (k, branch) in tree.branches.into_iter().enumerate() {
        curves.push(Curve {
            name: format!(
                "Coulomb (P5), branch {} from t = {:.4} s",
                k + 1,
                branch.t_start
            ),
            v: branch.v.last().cloned().unwrap_or_default(),
            t: branch.t,
            q: branch.q,
        });
    }
    for &tau in &args.compliance_times {
        let changes = base
            .clone()
            .key("law", "coulomb")
            .key("scheme", "penalty")
            .key("compliance_time", tau)
            .key("step", tau / 50.0);
        let scene = load(&changes)?.scene;
        let tree = scene.branch_tree()?;
        curves.extend(tree.branches.into_iter().take(1).map(|b| Curve {
            name: format!("penalty, compliance time {tau} s"),
            v: b.v.last().cloned().unwrap_or_default(),
            t: b.t,
            q: b.q,
        }));
    }
    let names = first.scene.coordinate_names();
    std::fs::create_dir_all(&args.output)
        .and_then(|()| figure(&first.scene.title, &names, &curves).save(&args.output))
        .map_err(|error| format!("{}: {error}", args.output.display()))?;
    if args.json {
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
        say(format!("{:<42} {}", curve.name, end.join(", ")));
    }
    if left_out > 0 {
        say(format!(
            "{left_out} branches beyond branches_max were left out"
        ));
    }
    say(format!(
        "Picture {}: start (SVG and PNG)",
        args.output.display()
    ));
    Ok(())
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
        scale: None,
        name: "start".to_string(),
        title: format!("{title}: one start, every law"),
        subtitle: "branches in the order in which they were found".to_string(),
        legend: legend
            .map(|(k, curve)| (curve.name.clone(), Sample::Line(curve_stroke(k))))
            .collect(),
        panels: panels.collect(),
        columns: 2,
        panel_size: (480.0, 300.0),
    }
}
