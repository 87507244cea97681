//! `stickslip study attainable`: the sets A and A_eps of a sliding contact.

use std::path::PathBuf;

use stickslip::internals::quantity::digits;
use stickslip::simulation::studies::attainable::{Attainable, Hypothesis, Sampled, Shape};

use crate::exit::{Failure, say};
use crate::plot::{Figure, Item, Panel, Stroke, curve_stroke, dot_color};
use crate::scene_argument::{self, SceneOptions};
use crate::study::save_picture;

/// Sample the velocities that a sliding contact can reach, and compare with what Theorem 1 of [Paoli2015] says.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  \
        stickslip study attainable painleve-rod --set mu=1.7\n\n\
        The contact must touch and slide at the start, without approach.")]
pub struct AttainableArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    #[command(flatten)]
    options: SceneOptions,
    /// Radii of the balls around position and velocity.
    #[arg(long, value_delimiter = ',', default_values_t = [1e-1, 1e-2, 1e-3])]
    epsilons: Vec<f64>,
    /// Points of each sample.
    #[arg(long, default_value_t = 6000)]
    samples: usize,
    /// Seed of the samples.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for `attainable.svg` and `attainable.png`.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// Print the study as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &AttainableArgs) -> Result<(), Failure> {
    scene_argument::refuse_world(&args.scene, "study attainable")?;
    let named = scene_argument::load(&args.scene, &args.options.changes())?;
    let system = named.scene.system()?;
    let (q, v) = named.scene.initial_state();
    let expected = Attainable::at(system.as_ref(), &q, &v)?;
    let mut samples = Vec::new();
    for &epsilon in &args.epsilons {
        let start = (&q[..], &v[..]);
        let found = Sampled::around(system.as_ref(), start, epsilon, args.samples, args.seed);
        samples.push(found?);
    }
    if args.json {
        let rows: Vec<_> = samples
            .iter()
            .map(|s| serde_json::json!({ "epsilon": s.epsilon, "excess": s.excess, "gap": s.gap }))
            .collect();
        let data = serde_json::json!({
            "scene": named.name, "expected": expected, "seed": args.seed,
            "samples": args.samples, "distances": rows,
            "text": verdict(&expected), "doubt": doubt(&expected, &samples),
        });
        say(serde_json::to_string_pretty(&data)?);
    } else {
        tell(&named.name, &expected, &samples);
    }
    save_picture(
        &picture(&named.scene.title, &expected, &samples),
        &args.output,
        args.json,
    )
}

fn tell(name: &str, expected: &Attainable, samples: &[Sampled]) {
    let sign = ["gamma < 0", "gamma = 0", "gamma > 0"][(expected.sign + 1) as usize];
    say!("{name}: {sign} (gamma = {})", digits(expected.gamma, 7));
    say!("v-       {}", list(&expected.velocity));
    say!("jam to   {}", list(&expected.jam));
    say!("hypothesis {}", expected.hypothesis.words());
    say(verdict(expected));
    say!(
        "{:>10}  {:>14}  {:>14}",
        "eps",
        "sample to set",
        "set to sample"
    );
    for s in samples {
        say!(
            "{:>10.1e}  {:>14.3e}  {:>14.3e}",
            s.epsilon,
            s.excess,
            s.gap
        );
    }
    say("the first distance is reliable; the second is an upper bound that falls with the sample");
    if let Some(doubt) = doubt(expected, samples) {
        say(doubt);
    }
}

/// What Theorem 1 says, in words.
fn verdict(expected: &Attainable) -> String {
    let shape = expected.shape.word();
    match (expected.limit, expected.converges) {
        (Some(limit), Some(converges)) => format!(
            "A is a {shape}; A_eps tends to a {}: A_eps {} to A ({})",
            limit.word(),
            if converges {
                "converges"
            } else {
                "does not converge"
            },
            match expected.hypothesis {
                Hypothesis::None =>
                    "not by Theorem 1, which says nothing here: judge by the sample",
                _ => "Theorem 1",
            }
        ),
        _ if expected.hypothesis == Hypothesis::None => format!(
            "A is read as a {shape}, to the jam of least energy; what A_eps tends to is not decided: friction may jam along several directions, \
             where Theorem 1 says nothing: judge by the sample"
        ),
        _ => format!(
            "A is a {shape}; whether A_eps tends to it or to the pair of its ends is not decided: gamma changes its sign nearby in a way that \
             rounding hides"
        ),
    }
}

/// What the samples of the smallest radius say against the prediction.
fn doubt(expected: &Attainable, samples: &[Sampled]) -> Option<&'static str> {
    let way = expected.jam.iter().zip(&expected.velocity);
    let length = way.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let least = samples
        .iter()
        .min_by(|a, b| a.epsilon.total_cmp(&b.epsilon))?;
    let Some(limit) = expected.limit else {
        return (least.excess > 0.25 * length).then_some(
            "at the smallest radius the sample holds velocities off the way from v- to the jam of least energy",
        );
    };
    match limit {
        Shape::Segment if least.gap > 0.25 * length => Some(
            "at the smallest radius the sample leaves part of the segment empty: points with gamma > 0 are rare, or gamma is rounding there",
        ),
        Shape::Pair if least.excess > 0.25 * length => Some(
            "at the smallest radius the sample holds velocities between the two of the pair: the prediction is in doubt",
        ),
        _ => None,
    }
}

/// The sample over the predicted set: along the way from v- to the jam, and across it.
fn picture(title: &str, expected: &Attainable, samples: &[Sampled]) -> Figure {
    let way: Vec<f64> = expected
        .jam
        .iter()
        .zip(&expected.velocity)
        .map(|(a, b)| a - b)
        .collect();
    let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    let unit: Vec<f64> = if length > 0.0 {
        way.iter().map(|x| x / length).collect()
    } else {
        let speed = expected.velocity.iter().map(|x| x * x).sum::<f64>().sqrt();
        expected.velocity.iter().map(|x| x / speed).collect()
    };
    let place = |v: &[f64]| -> [f64; 2] {
        let off: Vec<f64> = v
            .iter()
            .zip(&expected.velocity)
            .map(|(a, b)| a - b)
            .collect();
        let along: f64 = off.iter().zip(&unit).map(|(a, b)| a * b).sum();
        let total: f64 = off.iter().map(|x| x * x).sum();
        [along, (total - along * along).max(0.0).sqrt()]
    };
    let mut panels = Vec::new();
    for (k, s) in samples.iter().enumerate() {
        let mut panel = Panel {
            title: format!("eps = {:.0e}, {} points", s.epsilon, s.velocities.len()),
            x_label: "from v- towards the jam velocity".to_string(),
            y_label: "distance across".to_string(),
            portrait: true,
            ..Panel::default()
        };
        let limit = expected.limit.unwrap_or(expected.shape);
        if limit == Shape::Segment {
            let line = Stroke {
                width: 4.0,
                ..curve_stroke(5)
            };
            let ends = vec![[0.0, 0.0], [length, 0.0]];
            panel.add_curve(ends, line, Some("predicted limit of A_eps".to_string()));
        }
        let points = s.velocities.iter().map(|v| place(v)).collect();
        panel.add_dots(
            points,
            1.5,
            dot_color(k),
            false,
            Some("S at sampled points"),
        );
        let mut ends = vec![[0.0, 0.0]];
        if limit != Shape::Point {
            ends.push([length, 0.0]);
        }
        let name = (limit != Shape::Segment).then_some("predicted limit of A_eps");
        panel.add_dots(ends, 6.0, dot_color(4), true, name);
        panel.items.push(Item::Note([0.0, 0.0], "v-".to_string()));
        if length > 0.0 {
            let jam = Item::Note([length, 0.0], "jam".to_string());
            panel.items.push(jam);
        }
        panels.push(panel);
    }
    Figure {
        name: "attainable".to_string(),
        title: format!("{title}: attainable velocities"),
        subtitle: format!(
            "A is a {}, A_eps tends to a {}",
            expected.shape.word(),
            expected.limit.map_or("limit not decided", Shape::word)
        ),
        columns: panels.len().min(2),
        panels,
        panel_size: (480.0, 340.0),
        ..Figure::default()
    }
}

fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|x| format!("{x:.6}")).collect();
    words.join("  ")
}
