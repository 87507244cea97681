//! `stickslip study bounds`: the a-priori bounds of the sweeping process beside what a run realised.

use stickslip::internals::quantity::{digits, typed};
use stickslip::scene::Changes;
use stickslip::simulation::studies::BoundsStudy;

use crate::exit::{Failure, say};
use crate::scene_argument::{self, assignment};

/// A-priori bounds of the sweeping process on speed, penetration and variation, with the realised values.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip study bounds delayed-oscillator\n  \
        stickslip study bounds particle-in-bowl --set mu=0.2 --until 1")]
pub struct BoundsArgs {
    /// Name of a scene of the gallery, or a scene file; it is run with the scheme `sweeping-process`.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Give a parameter another value; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Time step, in seconds.
    #[arg(long, value_name = "SECONDS")]
    step: Option<String>,
    /// End time, in seconds.
    #[arg(long, value_name = "SECONDS")]
    until: Option<String>,
    /// Print the study as JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the study.
pub fn run(args: &BoundsArgs) -> Result<(), Failure> {
    scene_argument::refuse_world(&args.scene, "study bounds")?;
    let mut changes = Changes::new().key("scheme", "sweeping-process");
    for (name, value) in &args.set {
        changes = changes.parameter(name, value);
    }
    for (name, value) in [("step", &args.step), ("until", &args.until)] {
        if let Some(value) = value {
            changes = changes.key(name, value);
        }
    }
    let named = scene_argument::read(&args.scene, &changes)?;
    let mut run = named.scene.simulation()?;
    let study = BoundsStudy::of_run(&mut run, named.scene.settings.until);
    if study.outcome.is_fatal() {
        return Err(format!(
            "the run stopped at t = {}: {:?}",
            run.state().t,
            study.outcome
        )
        .into());
    }
    if args.json {
        let text = serde_json::to_string_pretty(&as_json(&study, &named.name));
        say(text?);
    } else {
        print(&study);
    }
    Ok(())
}

fn quantities(study: &BoundsStudy) -> [(&'static str, f64, Option<f64>); 3] {
    let bound =
        |read: fn(&stickslip::stepping::SweepingBounds) -> f64| study.bounds.as_ref().map(read);
    [
        ("speed", study.realised.speed, bound(|b| b.speed)),
        (
            "penetration",
            study.realised.penetration,
            bound(|b| b.penetration),
        ),
        (
            "variation",
            study.realised.variation,
            bound(|b| b.variation),
        ),
    ]
}

fn print(study: &BoundsStudy) {
    let data = &study.data;
    say("velocities in the norm of the kinetic energy, |v|^2 = v'Mv");
    say!(
        "constants: |v-| = {:.4}, T = {:.4}, h = {}, force {:.4}, friction {:.4}, |grad gap| {:.4}, its slope {:.4}, \
         slope of the normal {:.4}",
        data.speed,
        data.duration,
        typed(data.step, 3),
        data.force,
        data.friction,
        data.gradient,
        data.gradient_slope,
        data.normal_slope
    );
    say!("{:>12}  {:>11}  {:>11}", "", "realised", "bound");
    for (name, realised, bound) in quantities(study) {
        let bound = bound.map_or("none".to_string(), |x| digits(x, 5));
        say!("{name:>12}  {:>11}  {bound:>11}", digits(realised, 5));
    }
    for reservation in &study.reservations {
        say!("no bound is proved: {reservation}");
    }
    if let Some(bounds) = &study.bounds {
        let holds = study.realised.within(bounds);
        say(if holds {
            "all bounds hold"
        } else {
            "a bound is VIOLATED"
        });
    }
}

fn as_json(study: &BoundsStudy, scene: &str) -> serde_json::Value {
    let data = &study.data;
    let rows: Vec<_> = quantities(study)
        .into_iter()
        .map(|(name, realised, bound)| {
            serde_json::json!({ "quantity": name, "realised": realised, "bound": bound })
        })
        .collect();
    serde_json::json!({
        "scene": scene,
        "constants": {
            "speed": data.speed, "duration": data.duration, "step": data.step, "force": data.force,
            "friction": data.friction, "gradient": data.gradient,
            "gradient_slope": data.gradient_slope, "normal_slope": data.normal_slope,
        },
        "rows": rows,
        "reservations": study.reservations,
        "holds": study.bounds.as_ref().map(|bounds| study.realised.within(bounds)),
    })
}
