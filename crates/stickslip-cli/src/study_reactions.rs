//! `stickslip study reactions`: the normal reactions of a compliant run, atoms and continuous part.

use std::ops::ControlFlow;

use stickslip::internals::quantity::{quantity, typed};
use stickslip::scene::Changes;
use stickslip::simulation::RunEnd;
use stickslip::simulation::studies::{ReactionRecorder, ReactionSplit};

use crate::exit::{Failure, say};
use crate::scene_argument::{self, assignment};

/// Atoms that are listed per contact; the table ends there.
const LISTED: usize = 20;

/// Impacts and lasting contact in the reactions of a compliant run: the atomic and the continuous part.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip study reactions bar-penalty\n  \
        stickslip study reactions painleve-penalty --json")]
pub struct ReactionsArgs {
    /// Name of a scene of the gallery, or a scene file, with the scheme `penalty`.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Give a parameter another value; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Compliance time, in seconds; the step is a fiftieth of it.
    #[arg(long, value_name = "SECONDS")]
    compliance_time: Option<f64>,
    /// End time, in seconds.
    #[arg(long, value_name = "SECONDS")]
    until: Option<String>,
    /// Print the study as JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the study.
pub fn run(args: &ReactionsArgs) -> Result<(), Failure> {
    scene_argument::refuse_world(&args.scene, "study reactions")?;
    let mut changes = Changes::new();
    for (name, value) in &args.set {
        changes = changes.parameter(name, value);
    }
    if let Some(time) = args.compliance_time {
        changes = changes.key("scheme", "penalty");
        changes = changes
            .key("compliance_time", time)
            .key("step", time / 50.0);
    }
    if let Some(until) = &args.until {
        changes = changes.key("until", until);
    }
    let named = scene_argument::read(&args.scene, &changes)?;
    let settings = &named.scene.settings;
    let Some(time) = settings.compliance_time else {
        return Err(format!(
            "`{}` has rigid contacts; give --compliance-time to make them compliant",
            named.name
        )
        .into());
    };
    let mut run = named.scene.simulation()?;
    let mut recorder = ReactionRecorder::new(run.state().t, &run.state().v);
    let end = run.run_until(settings.until, |record| {
        recorder.observe(record);
        ControlFlow::Continue(())
    });
    if let RunEnd::Stopped { t, outcome } = end {
        return Err(format!("the run stopped at t = {t}: {}", run.stop_words(outcome)).into());
    }
    let split = recorder.split(time);
    let names = run.contact_names();
    if args.json {
        let data =
            serde_json::json!({ "scene": named.name, "contact_names": names, "reactions": split });
        say(serde_json::to_string_pretty(&data)?);
    } else {
        print(&split, &names);
    }
    Ok(())
}

fn print(split: &ReactionSplit, names: &[String]) {
    say!(
        "compliance time {} s, {:.4} s of motion, variation of the velocity {:.4}",
        typed(split.compliance_time, 4),
        split.duration,
        split.variation
    );
    for (contact, name) in split.contacts.iter().zip(names) {
        say!(
            "{name}: normal impulse {:.5} = atoms {:.5} + continuous {:.5}; friction {:.5}; level {}",
            contact.normal,
            contact.atomic,
            contact.continuous,
            contact.tangential,
            quantity(contact.level, "N")
        );
        if !contact.atoms.is_empty() {
            say!(
                "{:>12}  {:>10}  {:>10}  friction per normal impulse",
                "time",
                "duration",
                "impulse"
            );
        }
        for atom in contact.atoms.iter().take(LISTED) {
            let friction: Vec<String> = atom.friction.iter().map(|x| format!("{x:.5}")).collect();
            say!(
                "{:>12.6}  {:>10.3e}  {:>10.5}  {}",
                atom.t,
                atom.duration,
                atom.normal,
                friction.join(" ")
            );
        }
        if contact.atoms.len() > LISTED {
            say!("and {} more", contact.atoms.len() - LISTED);
        }
    }
}
