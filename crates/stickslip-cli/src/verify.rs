//! `stickslip verify`: whether a motion solves a formulation, line by line.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use stickslip::internals::quantity::digits;
use stickslip::scene::{NoFormulation, SceneRun, VerifyRunError};
use stickslip::simulation::verify::{
    Formulation, Line, Motion, MotionError, Verification, Violation,
};

use crate::exit::{complain, does_not_apply, not_certified, say};
use crate::scene_argument::{self, SceneOptions};

/// Test a motion against every line of a formulation.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  stickslip verify runs/sliding-block\n  \
    stickslip verify runs/sliding-block --problem P5\n  \
    stickslip verify motion.json --scene painleve-rod --problem \"P3'\"\n\n\
    A run is judged step by step where its scheme states its laws; a motion file is judged as it stands. It is\n\
    JSON: {\"nodes\": [{\"t\", \"q\", \"v_left\", \"v_right\", \"smooth\", \"atom\"}, ..], \"quadrature\": \"affine\"}.\n\
    The displacement between two nodes is the integral of the velocity: `affine` between v_right and the next v_left,\n\
    `step` (constant), or `free` (within h/2 times the change of velocity); the change of momentum likewise.\n\
    `smooth` and `atom` that are left out are no reaction, which is told.\n\
    --set, --law, --impact, --sections and --active-space judge a run under another problem than its own.\n\
    The limit does not move with the tolerance that was asked of a solver: a run that holds to a looser one only is told\n\
    so, with exit code 2, or 0 with --accept-tolerance.\n\
    Exit codes: 0 accepted, 2 refused, 3 the formulations do not apply, 1 bad input.")]
pub struct VerifyArgs {
    /// Folder of a run, or a motion file.
    #[arg(value_name = "MOTION")]
    motion: PathBuf,
    /// P2, P3, P4, P5, P6, P3', P4', P4'-literal, fremond, energetic or world; the scene's own if left out.
    #[arg(long)]
    problem: Option<String>,
    /// Scene whose system moves; a run folder brings its own.
    #[arg(long)]
    scene: Option<String>,
    #[command(flatten)]
    options: SceneOptions,
    /// Exit with 0 where a run that is refused by the limit holds every line to the tolerance that its solver was asked for.
    #[arg(long)]
    accept_tolerance: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &VerifyArgs) -> ExitCode {
    let mut asked = None;
    if let Some(name) = &args.problem {
        asked = Formulation::named(name);
        if asked.is_none() {
            let known = Formulation::ALL.map(|f| f.to_string()).join(", ");
            return complain(format!("no formulation `{name}`; known: {known}"));
        }
    }
    let judged = match read(args, asked) {
        Ok(judged) => judged,
        Err(message) => return complain(message),
    };
    let report = match judged {
        Judged::Report(report) => report,
        Judged::Outside(reason) => return not_judged(args, &reason),
    };
    if let Some(reason) = &report.does_not_apply {
        return not_judged(args, reason);
    }
    if args.json {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => say(text),
            Err(error) => return complain(error),
        }
    } else {
        tell(&report, asked.is_none());
    }
    let held = args.accept_tolerance && report.to_tolerance.is_some();
    if report.accepted() || held {
        ExitCode::SUCCESS
    } else {
        not_certified()
    }
}

fn tell(report: &Verification, own: bool) {
    let formulation = report.formulation;
    let own = if own {
        ", the formulation of the scene"
    } else {
        ""
    };
    if report.accepted() {
        let nodes = report.nodes;
        say!("accepted under {formulation}{own}: every line holds at {nodes} instants");
    } else {
        match report.to_tolerance {
            Some(asked) => say!(
                "accepted to the tolerance asked ({}), not under the limit, which {formulation}{own} refuses:",
                digits(asked, 2)
            ),
            None => say!("refused under {formulation}{own}:"),
        }
        for violation in &report.violations {
            say!("  {violation}");
        }
    }
    if let Some(literal) = &report.literal {
        let verdict = if literal.accepted() {
            "accepted as well"
        } else {
            "refused (it need not have a solution)"
        };
        say!(
            "as written, against all test velocities ({}): {verdict}",
            literal.formulation
        );
        for violation in &literal.violations {
            say!("  {violation}");
        }
    }
}

fn not_judged(args: &VerifyArgs, reason: &dyn std::fmt::Display) -> ExitCode {
    if args.json {
        say(json!({ "does_not_apply": reason.to_string() }));
    } else {
        say!("does not apply: {reason}");
    }
    does_not_apply()
}

/// A judgement, or why there is none.
enum Judged {
    Report(Verification),
    Outside(NoFormulation),
}

/// Judges what was named.
fn read(args: &VerifyArgs, asked: Option<Formulation>) -> Result<Judged, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    if args.motion.is_dir() {
        SceneRun::read_manifest(&args.motion).map_err(|e| text(&e))?;
        refuse_of_run(args)?;
        let scene = SceneRun::read_scene(&args.motion).map_err(|e| text(&e))?;
        let changes = args.options.changes();
        let judged = if changes.is_empty() {
            scene.verify_folder(&args.motion, asked)
        } else {
            let changed =
                SceneRun::read_scene_with(&args.motion, &changes).map_err(|e| text(&e))?;
            changed.verify_folder_of(&scene, &args.motion, asked)
        };
        let (report, again) = match judged {
            Ok(judged) => judged,
            Err(VerifyRunError::NoFormulation(reason)) => return Ok(Judged::Outside(reason)),
            Err(error) => return Err(text(&error)),
        };
        let kept = |v: &Violation| v.line != Line::KeptSteps;
        if again && report.violations.iter().all(kept) && !args.json {
            say("what was not recorded is computed again; what was recorded agrees");
        }
        return Ok(Judged::Report(report));
    }
    if !args.motion.exists() {
        let asked = args.motion.display();
        return Err(format!("there is no folder or file `{asked}`"));
    }
    let Some(name) = &args.scene else {
        return Err("a motion file needs --scene with the system that moves".into());
    };
    let named = scene_argument::load(name, &args.options.changes()).map_err(|e| text(&e))?;
    let motion = std::fs::read_to_string(&args.motion)
        .map_err(|e| format!("{}: {e}", args.motion.display()))?;
    let motion = Motion::from_json(&motion).map_err(|e| text(&e))?;
    let system = named.scene.system().map_err(|e| text(&e))?;
    let told = match named.scene.verify(&motion, asked) {
        Ok(report) => Judged::Report(report),
        Err(reason) => return Ok(Judged::Outside(reason)),
    };
    let in_file = |e: MotionError| format!("{}: {e}", args.motion.display());
    motion.check(system.as_ref()).map_err(in_file)?;
    let untold = motion.untold(system.as_ref());
    if untold > 0 && !args.json {
        let all = motion.nodes.len();
        say!("{untold} of {all} nodes leave out `smooth` or `atom`: no reaction is read there");
    }
    Ok(told)
}

/// Options that say how a run is made have no meaning for one that is there.
fn refuse_of_run(args: &VerifyArgs) -> Result<(), String> {
    let options = &args.options;
    let given = [
        ("--scene", args.scene.is_some()),
        ("--scheme", options.scheme.is_some()),
        ("--on-several", options.on_several.is_some()),
        ("--several-rule", options.several_rule.is_some()),
        ("--projection", options.projection.is_some()),
        ("--step", options.step.is_some()),
        ("--until", options.until.is_some()),
        ("--tolerance", options.tolerance.is_some()),
        ("--every", options.every.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some(("--scene", _)) => {
            Err("a run folder brings its own scene: --scene belongs to motion files".to_string())
        }
        Some((option, _)) => Err(format!(
            "{option} says how a run is made, and this one is there already: `verify` judges it as it is, under another problem with --set, --law, \
             --impact, --sections or --active-space"
        )),
        None => Ok(()),
    }
}
