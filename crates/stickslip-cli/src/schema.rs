//! `stickslip schema`: the JSON schema of scenes.

use std::process::ExitCode;

use crate::exit::{complain, say};

/// Print the JSON schema of scene files, for editors.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip schema > stickslip.schema.json")]
pub struct SchemaArgs {}

/// Runs the subcommand.
pub fn run(_: &SchemaArgs) -> ExitCode {
    match serde_json::to_string_pretty(&stickslip::scene::Scene::schema()) {
        Ok(text) => {
            say(text);
            ExitCode::SUCCESS
        }
        Err(error) => complain(error),
    }
}
