//! `stickslip verify`: whether a motion solves a formulation, line by line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::records::TrajectoryLayout;
use stickslip::scene::read_scene;
use stickslip::simulation::verify::{Formulation, Motion, MotionNode, VerifySettings, verify};
use stickslip::systems::MechanicalSystem;

use crate::exit::{complain, not_certified, say};
use crate::scene_argument::{self, SceneOptions};

/// Test a motion against every line of a formulation.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  stickslip verify runs/sliding-block --problem P5\n  \
    stickslip verify motion.json --scene painleve-rod --problem \"P3'\"\n\n\
    A motion file is JSON: {\"nodes\": [{\"t\", \"q\", \"v_left\", \"v_right\", \"smooth\", \"atom\"}, ..]}.\n\
    Exit codes: 0 accepted, 2 refused, 1 bad input."
)]
pub struct VerifyArgs {
    /// Folder of a run, or a motion file.
    #[arg(value_name = "MOTION")]
    motion: PathBuf,
    /// P2, P3, P4, P5, P6, P3', P4' or fremond.
    #[arg(long)]
    problem: String,
    /// Scene whose system moves; a run folder brings its own.
    #[arg(long)]
    scene: Option<String>,
    #[command(flatten)]
    options: SceneOptions,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &VerifyArgs) -> ExitCode {
    let Some(formulation) = Formulation::named(&args.problem) else {
        let known = "P2, P3, P4, P5, P6, P3', P4', fremond";
        return complain(format!("no formulation `{}`; known: {known}", args.problem));
    };
    let (system, motion) = match read(args) {
        Ok(read) => read,
        Err(message) => return complain(message),
    };
    let report = verify(
        system.as_ref(),
        &motion,
        formulation,
        &VerifySettings::default(),
    );
    if args.json {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => say(text),
            Err(error) => return complain(error),
        }
    } else if report.accepted() {
        say(format!(
            "accepted under {}: every line holds at {} instants",
            args.problem, report.nodes
        ));
    } else {
        say(format!("refused under {}:", args.problem));
        for violation in &report.violations {
            say(format!("  {violation}"));
        }
    }
    if report.accepted() {
        ExitCode::SUCCESS
    } else {
        not_certified()
    }
}

fn read(args: &VerifyArgs) -> Result<(Box<dyn MechanicalSystem>, Motion), String> {
    if args.motion.is_dir() {
        let scene = read_scene(&args.motion).map_err(|e| e.to_string())?;
        if scene.settings.every != 1 {
            return Err(format!(
                "{}: only every {}th step was kept, and a motion is judged step by step: run with --every 1",
                args.motion.display(),
                scene.settings.every
            ));
        }
        let system = scene.system().map_err(|e| e.to_string())?;
        let motion = read_run(&args.motion, system.as_ref())?;
        return Ok((system, motion));
    }
    let Some(name) = &args.scene else {
        return Err("a motion file needs --scene with the system that moves".into());
    };
    let named = scene_argument::load(name, &args.options.changes()).map_err(|e| e.to_string())?;
    let system = named.scene.system().map_err(|e| e.to_string())?;
    let text = std::fs::read_to_string(&args.motion)
        .map_err(|e| format!("{}: {e}", args.motion.display()))?;
    Ok((system, Motion::from_json(&text).map_err(|e| e.to_string())?))
}

/// The trajectory of a run folder as a motion; every step must be in it.
fn read_run(folder: &Path, system: &dyn MechanicalSystem) -> Result<Motion, String> {
    let path = folder.join("trajectory.npy");
    let (columns, values) = TrajectoryLayout::read(&path).map_err(|e| e.to_string())?;
    let find = |name: &str| {
        columns
            .iter()
            .position(|c| c == name)
            .ok_or_else(|| format!("{}: no column `{name}`", path.display()))
    };
    let named = |prefix: &str, names: &[String]| -> Result<Vec<usize>, String> {
        names
            .iter()
            .map(|n| find(&format!("{prefix}{}", n.trim_end_matches('\''))))
            .collect()
    };
    let t = find("t")?;
    let q = named("", system.coordinate_names())?;
    let right = named("v_", system.velocity_names())?;
    let left = named("left_", system.velocity_names())?;
    // Impulses follow their contact in the order of the rows.
    let impulses: Vec<usize> = (0..columns.len())
        .filter(|&i| columns[i].contains(".p_"))
        .collect();
    let mut motion = Motion::of_run();
    for row in values.chunks(columns.len().max(1)) {
        let take = |places: &[usize]| places.iter().map(|&i| row[i]).collect::<Vec<f64>>();
        motion.nodes.push(MotionNode {
            t: row[t],
            q: take(&q),
            v_left: take(&left),
            v_right: take(&right),
            smooth: Vec::new(),
            atom: take(&impulses),
        });
    }
    Ok(motion)
}
