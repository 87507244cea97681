//! `stickslip study neighbours`: the fan of end states from nudged starts.

use std::path::PathBuf;

use stickslip::simulation::studies::neighbours::NeighbourStudy;

use crate::exit::{Failure, say};
use crate::plot::{Figure, Panel, dot_color};
use crate::scene_argument::{self, SceneOptions};
use crate::study::save_picture;

/// Run a scene from nudged starts and tell whether the end states come together as the nudge shrinks.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip study neighbours flat-force --nudge 1e-7 --runs 200\n  \
        stickslip study neighbours bouncing-ball --nudge 1e-6 --runs 60 --until 1")]
pub struct NeighboursArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    #[command(flatten)]
    options: SceneOptions,
    /// Largest difference of a coordinate or velocity at the start; a tenth and a hundredth of it follow.
    #[arg(long, default_value_t = 1e-9)]
    nudge: f64,
    /// Runs in all, a third of them at each nudge.
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Seed of the nudges.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for `neighbours.svg` and `neighbours.png`.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// Print the study as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &NeighboursArgs) -> Result<(), Failure> {
    if !(args.nudge > 0.0 && args.nudge.is_finite()) || args.runs == 0 {
        return Err("--nudge must be positive and --runs at least 1".into());
    }
    let named = scene_argument::load(&args.scene, &args.options.changes())?;
    let scene = &named.scene;
    let until = scene.settings.until;
    let study = scene.neighbours(args.nudge, args.runs, args.seed)?;
    if args.json {
        say(serde_json::to_string_pretty(&study)?);
    } else {
        say!("{}: end states at t = {until} s", named.name);
        say!("{:>10}  {:>6}  {:>12}", "nudge", "runs", "spread");
        for fan in &study.fans {
            say!(
                "{:>10.1e}  {:>6}  {:>12.3e}{}",
                fan.nudge,
                fan.ends.len(),
                fan.spread,
                match fan.stopped {
                    0 => String::new(),
                    k => format!("  ({k} stopped before the end)"),
                }
            );
        }
        for (spread, step) in
            study
                .at_smaller_steps
                .iter()
                .zip(["the step", "a quarter of it", "a sixteenth"])
        {
            say!("the run farthest away, at {step}: {spread:.3e}");
        }
        for [nudge, spread] in &study.at_smaller_nudges {
            say!("the run farthest away, at a nudge of {nudge:.1e}: {spread:.3e}");
        }
        say(study.words());
    }
    save_picture(&picture(&scene.title, &study), &args.output, args.json)
}

/// The ends of every fan: the first coordinate against its velocity.
fn picture(title: &str, study: &NeighbourStudy) -> Figure {
    let n = study.centre.len() / 2;
    let place = |end: &[f64]| [end[0], end[end.len() - n.max(1)]];
    let panels: Vec<Panel> = study
        .fans
        .iter()
        .enumerate()
        .map(|(k, fan)| {
            let mut panel = Panel {
                title: format!("nudge {:.0e}, {} runs", fan.nudge, fan.ends.len()),
                x_label: "first coordinate at the end".to_string(),
                y_label: "its velocity".to_string(),
                portrait: true,
                ..Panel::default()
            };
            let ends = fan.ends.iter().map(|end| place(end)).collect();
            panel.add_dots(ends, 2.0, dot_color(k), false, Some("nudged starts"));
            let centre = vec![place(&study.centre)];
            panel.add_dots(centre, 6.0, dot_color(4), true, Some("not nudged"));
            panel
        })
        .collect();
    Figure {
        name: "neighbours".to_string(),
        title: format!("{title}: end states from nudged starts"),
        subtitle: study.words(),
        columns: panels.len().min(3),
        panels,
        panel_size: (360.0, 320.0),
        ..Figure::default()
    }
}
