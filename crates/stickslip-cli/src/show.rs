//! `stickslip show`: one scene, explained.

use std::process::ExitCode;

use stickslip::scene::Changes;

use crate::exit::{complain, say};
use crate::scene_argument;

/// Show a scene: what it is, its source, what to look for, its parameters and its text.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  stickslip show bouncing-ball\n  stickslip show woodpecker --text > my-woodpecker.toml"
)]
pub struct ShowArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Print only the text of the scene file, to start one of your own.
    #[arg(long)]
    text: bool,
}

/// Runs the subcommand.
pub fn run(args: &ShowArgs) -> ExitCode {
    if args.text {
        return match scene_argument::source(&args.scene) {
            Ok((_, source)) => {
                say(source.text().trim_end());
                ExitCode::SUCCESS
            }
            Err(error) => complain(error),
        };
    }
    let named = match scene_argument::read(&args.scene, &Changes::new()) {
        Ok(named) => named,
        Err(error) => return complain(error),
    };
    let (name, scene) = (&named.name, &named.scene);
    say!("{name}: {}", scene.title);
    for (head, text) in [
        ("", &scene.description),
        ("Look for: ", &scene.look_for),
        ("Source: ", &scene.source),
    ] {
        if !text.is_empty() {
            say!("{head}{text}");
        }
    }
    let settings = &scene.settings;
    say!(
        "Run: scheme {}, law {}, impact {}, step {} s, until {} s",
        settings.scheme,
        settings.law,
        settings.impact,
        settings.step,
        settings.until
    );
    say!("Coordinates: {}", scene.coordinate_names().join(", "));
    let contacts = scene.contact_names();
    if !contacts.is_empty() {
        say!("Contacts: {}", contacts.join(", "));
    }
    let parameters: Vec<String> = scene
        .parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !parameters.is_empty() {
        say!("Parameters (--set): {}", parameters.join(", "));
    }
    say!("\n{}", scene.text().text().trim_end());
    ExitCode::SUCCESS
}
