//! `stickslip check`: all mistakes of scene files at once.

use std::process::ExitCode;

use stickslip::scene::{Changes, Finding, LoadError};

use crate::exit::{bad_input, complain, say};
use crate::scene_argument::{self, NamedScene, SceneArgumentError};

/// Check scene files and report all mistakes at once, with file, line and column.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  stickslip check my-scene.toml\n  stickslip check --json scenes/*.toml"
)]
pub struct CheckArgs {
    /// Scene files, or names of the gallery.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Print the mistakes as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand; the exit code is 0 if no file has a mistake.
pub fn run(args: &CheckArgs) -> ExitCode {
    let mut findings: Vec<Finding> = Vec::new();
    let mut wrong = false;
    for file in &args.files {
        let result = scene_argument::read(file, &Changes::new());
        // What only shows when the run is put together is a mistake of the scene, too.
        let result = result.and_then(|named| {
            let warnings = named.scene.simulation()?.warnings();
            Ok((named, warnings))
        });
        match result {
            Ok((named, warnings)) if !args.json => {
                say!("{file}: {}", praise(&named));
                for warning in named.scene.warnings() {
                    say!("{file}: warning: {warning}");
                }
                for warning in warnings {
                    say!("{file}: warning: {warning}");
                }
            }
            Ok(_) => {}
            Err(error) => {
                wrong = true;
                if args.json {
                    findings.extend(as_findings(file, &error));
                } else {
                    complain(&error);
                }
            }
        }
    }
    if args.json {
        say(serde_json::json!({ "mistakes": findings }));
    }
    if wrong {
        bad_input()
    } else {
        ExitCode::SUCCESS
    }
}

fn praise(named: &NamedScene) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    if let Some(world) = named.scene.world() {
        let free = world.bodies.iter().filter(|b| b.is_free()).count();
        return format!(
            "no mistakes ({}, {free} of them free)",
            if world.bodies.len() == 1 {
                "1 body".to_owned()
            } else {
                format!("{} bodies", world.bodies.len())
            }
        );
    }
    format!(
        "no mistakes ({}, {})",
        count(named.scene.coordinate_names().len(), "coordinate"),
        count(named.scene.contact_names().len(), "contact")
    )
}

fn as_findings(file: &str, error: &SceneArgumentError) -> Vec<Finding> {
    match error {
        SceneArgumentError::Scene(error) | SceneArgumentError::Load(LoadError::Scene(error)) => {
            error.findings()
        }
        other => vec![Finding {
            file: file.to_string(),
            line: None,
            column: None,
            text: None,
            message: other.to_string(),
            help: None,
        }],
    }
}
