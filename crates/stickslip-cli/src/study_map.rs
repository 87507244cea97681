//! `stickslip study map`: a quantity over two parameters.

use std::path::PathBuf;

use stickslip::internals::Digest;
use stickslip::internals::expression::{Graph, Scope, Tape, parse};
use stickslip::internals::map::grid;
use stickslip::internals::quantity::digits;
use stickslip::scene::{
    Cell, MapAxis, MapPoint, MapQuantity, SceneChart, SceneMap, SceneSweep, SweepOutcome,
};
use stickslip::simulation::studies::sweep::Sweep;

use crate::dask;
use crate::exit::{Failure, say};
use crate::plot::map_figure;
use crate::scene_argument::{self, SceneOptions};

/// Map a quantity over two parameters of a scene, with the boundary between its values.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip study map painleve-rod --x theta0=0.2:1.5:200 --y mu=0.5:3:200 --of margin --level 0 \\\n    \
        --formula \"(1/3 + cos(theta0)^2)/(sin(theta0)*cos(theta0))\"\n  \
        stickslip study map painleve-rod --x theta0=0.2:1.5:60 --y mu=0.5:3:60 --of regime\n  \
        stickslip study map sliding-block --x mu=0.1:1:20 --y v0=1:4:20 --of coordinates.x\n\n\
        --of takes regime (verdict on the first step under Coulomb's law), margin (gamma/W_nn), or a path\n\
        into summary.json of the run.")]
pub struct MapArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// First parameter and its values.
    #[arg(long, value_name = "NAME=FROM:TO:COUNT", value_parser = axis)]
    x: MapAxis,
    /// Second parameter and its values.
    #[arg(long, value_name = "NAME=FROM:TO:COUNT", value_parser = axis)]
    y: MapAxis,
    /// What is shown: regime, margin, or an entry of the summary such as coordinates.x or energy.end.
    #[arg(long, default_value = "regime")]
    of: String,
    /// Find where a number passes this level.
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    level: Option<f64>,
    /// Known boundary: the second parameter as an expression of the first, drawn over the map.
    #[arg(long, value_name = "EXPRESSION")]
    formula: Option<String>,
    /// Gap up to which a constraint counts as active, for regime and margin.
    #[arg(long, default_value_t = 1e-9)]
    gap: f64,
    #[command(flatten)]
    options: SceneOptions,
    /// Folder for `map.svg`, `map.png`, `map.json`, and `map.npz` and `map.csv` in the form of `study sweep`.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// Let the workers of a Dask scheduler compute the cells, through the Python package; the result is the same.
    #[arg(long, value_name = "tcp://HOST:PORT")]
    dask: Option<String>,
    /// Print the map as JSON.
    #[arg(long)]
    json: bool,
}

fn axis(text: &str) -> Result<MapAxis, String> {
    let wrong = || "expected NAME=FROM:TO:COUNT, for example mu=0.5:3:200".to_string();
    let (name, range) = scene_argument::assignment(text)?;
    let parts: Vec<&str> = range.split(':').collect();
    let [from, to, count] = parts[..] else {
        return Err(wrong());
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    match (number(from), number(to), count.parse::<usize>()) {
        (Some(from), Some(to), Ok(count)) if (2..=2000).contains(&count) && from < to => {
            let values = grid(from, to, count);
            Ok(MapAxis { name, values })
        }
        _ => Err(wrong()),
    }
}

/// Runs the subcommand.
pub fn run(args: &MapArgs) -> Result<(), Failure> {
    let (name, source) = scene_argument::source(&args.scene)?;
    let gap = args.gap;
    let quantity = match args.of.as_str() {
        "regime" => MapQuantity::Regime { gap },
        "margin" => MapQuantity::Margin { gap },
        path => MapQuantity::Summary {
            path: path.to_string(),
        },
    };
    let chart = SceneChart {
        source,
        // The verdict is one on Coulomb's law, whatever the scene runs with.
        changes: options(args).changes(),
        quantity,
    };
    let formula = match &args.formula {
        Some(text) => Some(curve(text, &args.x)?),
        None => None,
    };
    std::fs::create_dir_all(&args.output)
        .map_err(|error| format!("{}: {error}", args.output.display()))?;
    let (x, y) = (args.x.clone(), args.y.clone());
    let subject = Subject::new(args, &chart)?;
    let map = match &args.dask {
        Some(scheduler) => chart.with_points(x, y, subject.points(scheduler, args)?, args.level),
        None => chart.map(x, y, args.level)?,
    };
    let numbers = |cell: &Cell| matches!(cell, Cell::Number(x) if x.is_nan());
    if map.cells.iter().all(numbers) {
        return Err(format!("`{}` is no number or word of this scene", args.of).into());
    }
    let line = formula
        .as_ref()
        .map(|f| (f.text.as_str(), f.points(&args.x)));
    let title = format!("{name}: {}", args.of);
    map_figure(&map, (title, &args.of), line)
        .save(&args.output)
        .map_err(|error| format!("{}: {error}", args.output.display()))?;
    let sweep = map.to_sweep(&args.of, subject.digest)?;
    sweep.save(&args.output.join("map.npz"))?;
    let csv = args.output.join("map.csv");
    std::fs::write(&csv, sweep.to_csv()).map_err(|e| format!("{}: {e}", csv.display()))?;
    let text = serde_json::to_string(&map)?;
    let file = args.output.join("map.json");
    std::fs::write(&file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
    if args.json {
        say(text);
    } else {
        tell(&map, formula.as_ref());
        say!(
            "Pictures {}: map (SVG and PNG), numbers in map.json, map.npz and map.csv",
            args.output.display()
        );
    }
    Ok(())
}

/// The changes; a regime is that of Coulomb's law unless another one is named.
fn options(args: &MapArgs) -> SceneOptions {
    let mut options = args.options.clone();
    if args.of == "regime" && options.law.is_none() {
        options.law = Some("coulomb".to_string());
    }
    options
}

/// What is mapped, in the form of a sweep.
struct Subject {
    sweep: SceneSweep,
    options: SceneOptions,
    also: String,
    digest: String,
}

impl Subject {
    fn new(args: &MapArgs, chart: &SceneChart) -> Result<Self, Failure> {
        let options = options(args);
        let sweep = SceneSweep {
            source: chart.source.clone(),
            changes: options.changes(),
            outcomes: vec![SweepOutcome::parse(&args.of)],
        };
        let axes = vec![args.x.clone(), args.y.clone()];
        let plain = sweep.sweep(axes)?;
        let also = format!("map of {}, gap {:?}", args.of, args.gap);
        let digest = Digest::of(format!("{}\n{also}", plain.subject()).as_bytes());
        Ok(Self {
            sweep,
            options,
            also,
            digest,
        })
    }

    /// The points, computed by the workers of a scheduler; those that `map.npz` holds already are taken from there.
    fn points(&self, scheduler: &str, args: &MapArgs) -> Result<Vec<MapPoint>, Failure> {
        let axes = [args.x.clone(), args.y.clone()];
        let path = args.output.join("map.npz");
        dask::compute(&dask::Request {
            scheduler,
            subject: &self.sweep,
            options: &self.options,
            axes: &axes,
            quantity: Some((&args.of, args.gap)),
            also: &self.also,
            path: &path,
        })?;
        let names = vec![args.of.clone()];
        let mut found = Sweep::new(axes.to_vec(), names, self.digest.clone())?;
        found.resume(&path)?;
        let missing = || format!("{}: points are missing", path.display());
        Ok(SceneMap::points_of(&found).ok_or_else(missing)?)
    }
}

fn tell(map: &SceneMap, formula: Option<&Formula>) {
    let mut words: Vec<(&str, usize)> = Vec::new();
    let (mut low, mut high, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for cell in &map.cells {
        match cell {
            Cell::Word(word) => match words.iter_mut().find(|(w, _)| w == word) {
                Some((_, n)) => *n += 1,
                None => words.push((word, 1)),
            },
            Cell::Number(x) => {
                (low, high) = (low.min(*x), high.max(*x));
                count += 1;
            }
        }
    }
    for (word, n) in words {
        say!("{n:>8}  {word}");
    }
    if count > 0 {
        say!("{count:>8}  numbers from {low} to {high}");
    }
    let doubtful = map
        .certified
        .iter()
        .filter(|certified| !**certified)
        .count();
    if doubtful > 0 {
        say!("{doubtful:>8}  not certified");
    }
    if map.boundary.is_empty() {
        return;
    }
    say!("{} points of a boundary", map.boundary.len());
    if let Some(formula) = formula {
        let apart = map
            .boundary
            .iter()
            .map(|p| (p[1] - formula.at(p[0])).abs())
            .filter(|d| d.is_finite());
        let near: Vec<f64> = apart.filter(|d| *d < 1e-3).collect();
        let worst = near.iter().fold(0.0f64, |s, d| s.max(*d));
        say!(
            "{} of them belong to the formula, at most {} from it",
            near.len(),
            digits(worst, 2)
        );
    }
}

/// A boundary y = f(x) known in advance.
struct Formula {
    text: String,
    tape: Tape,
}

impl Formula {
    fn at(&self, x: f64) -> f64 {
        let mut out = [0.0];
        let mut registers = self.tape.registers();
        self.tape.evaluate(&[x], &mut registers, &mut out);
        out[0]
    }

    fn points(&self, x: &MapAxis) -> Vec<[f64; 2]> {
        let (Some(&from), Some(&to)) = (x.values.first(), x.values.last()) else {
            return Vec::new();
        };
        let values = grid(from, to, 600);
        values.iter().map(|&x| [x, self.at(x)]).collect()
    }
}

fn curve(text: &str, x: &MapAxis) -> Result<Formula, String> {
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    let input = graph.input(0);
    scope.define(x.name.as_str(), input);
    let expression = parse(text, &mut graph, &scope).map_err(|errors| {
        let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
        format!("--formula: {}", reasons.join("; "))
    })?;
    Ok(Formula {
        text: text.to_string(),
        tape: Tape::compile(&graph, &[expression]),
    })
}
