//! `stickslip list`: the gallery.

use std::process::ExitCode;

use stickslip::scene::{Scene, gallery};

use crate::exit::{complain, say};

/// List the scenes that come with the engine, one a line, name first.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip list")]
pub struct ListArgs {
    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &ListArgs) -> ExitCode {
    let mut rows = Vec::new();
    for entry in gallery() {
        match Scene::read(entry.source()) {
            Ok(scene) => rows.push((entry.name, scene)),
            Err(error) => return complain(error),
        }
    }
    if args.json {
        let list: Vec<_> = rows
            .iter()
            .map(|(name, scene)| {
                serde_json::json!({
                    "name": name,
                    "title": scene.title,
                    "source": scene.source,
                    "look_for": scene.look_for,
                })
            })
            .collect();
        say(serde_json::json!(list));
        return ExitCode::SUCCESS;
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, scene) in &rows {
        say!("{name:<width$}  {}", scene.title);
    }
    ExitCode::SUCCESS
}
