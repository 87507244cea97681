//! `stickslip compare`: one scene under several laws, schemes or step sizes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::scene::{Changes, SceneRun};
use stickslip::simulation::{RunOutcome, RunSummary};

use crate::comparison::{Outcome, as_html, as_text, table};
use crate::exit::{complain, interrupted, not_certified, say};
use crate::interrupt::Interrupt;
use crate::plot::{RunData, Variant, drawings, overlays};
use crate::plot_command::read_run;
use crate::progress;
use crate::scene_argument::{self, assignment};

/// More variants than this are a slip.
const VARIANTS: usize = 64;

/// Run one scene under several laws, schemes or step sizes: a table and one HTML report.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip compare slender-rod --impacts newton,fremond\n  \
        stickslip compare bouncing-ball --steps 1e-2,1e-3,1e-4 --output compare/steps\n  \
        stickslip compare kane-pendulum --laws coulomb,frictionless --schemes moreau-jean,moreau")]
pub struct CompareArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Friction laws to compare, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "LAW,...")]
    laws: Vec<String>,
    /// Impact laws to compare.
    #[arg(long, value_delimiter = ',', value_name = "IMPACT,...")]
    impacts: Vec<String>,
    /// Schemes to compare.
    #[arg(long, value_delimiter = ',', value_name = "SCHEME,...")]
    schemes: Vec<String>,
    /// Step sizes to compare, in seconds.
    #[arg(long, value_delimiter = ',', value_name = "SECONDS,...")]
    steps: Vec<String>,
    /// Give a parameter another value in all variants; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// End time of all variants, in seconds.
    #[arg(long, value_name = "SECONDS")]
    until: Option<String>,
    /// Tolerance of the contact solver in all variants.
    #[arg(long, value_name = "NUMBER")]
    tolerance: Option<String>,
    /// Folder of the report and the runs; `compare/NAME` (or `compare/NAME-2`, ...) if not given.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print the summaries as JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Say nothing but mistakes.
    #[arg(long)]
    quiet: bool,
}

/// One combination of what is compared.
#[derive(Clone, Debug, Default)]
struct Combination {
    label: Vec<String>,
    changes: Changes,
}

impl CompareArgs {
    /// All combinations of the lists, in the order of the command line.
    fn combinations(&self) -> Vec<Combination> {
        let mut changes = Changes::new();
        for (name, value) in &self.set {
            changes = changes.parameter(name, value);
        }
        for (name, value) in [("until", &self.until), ("tolerance", &self.tolerance)] {
            if let Some(value) = value {
                changes = changes.key(name, value);
            }
        }
        let mut all = vec![Combination {
            label: Vec::new(),
            changes,
        }];
        for (key, values) in [
            ("law", &self.laws),
            ("impact", &self.impacts),
            ("scheme", &self.schemes),
            ("step", &self.steps),
        ] {
            if values.is_empty() {
                continue;
            }
            let extended = all.iter().flat_map(|base| {
                values.iter().map(move |value| {
                    let mut next = base.clone();
                    next.changes = next.changes.key(key, value);
                    next.label.push(match key {
                        "step" => format!("step {value}"),
                        _ => value.clone(),
                    });
                    next
                })
            });
            all = extended.collect();
        }
        all
    }
}

/// Runs the subcommand. The exit code is 1 if no variant could be run, 2 if one was not certified.
pub fn run(args: &CompareArgs) -> ExitCode {
    let combinations = args.combinations();
    if combinations.len() < 2 {
        return complain(
            "nothing to compare\n  = give two values of --laws, --impacts, --schemes or --steps, \
             for example --impacts newton,fremond",
        );
    }
    if combinations.len() > VARIANTS {
        let count = combinations.len();
        return complain(format!(
            "{count} variants, more than the {VARIANTS} allowed"
        ));
    }
    // The scene and what is common to all variants must be right in any case.
    let name = match scene_argument::source(&args.scene) {
        Ok((name, _)) => name,
        Err(error) => return complain(error),
    };
    let folder = args.output.clone().unwrap_or_else(|| free_folder(&name));
    if folder.join("report.html").exists() {
        return complain(format!("{} already holds a comparison", folder.display()));
    }
    let interrupt = Interrupt::watch("interrupted");
    let mut outcomes = Vec::new();
    for (k, combination) in combinations.iter().enumerate() {
        let label = combination.label.join(", ");
        let part = folder.join(format!("{:02}-{}", k + 1, file_name(&label)));
        let result = run_variant(args, combination, &part, &interrupt);
        if let Ok(summary) = &result
            && summary.outcome == RunOutcome::Interrupted
        {
            return interrupted();
        }
        outcomes.push(Outcome { label, result });
    }
    conclude(args, &folder, &outcomes)
}

/// The first of `compare/NAME`, `compare/NAME-2`, ... that holds no comparison.
fn free_folder(name: &str) -> PathBuf {
    let base = Path::new("compare");
    let numbered = (2..).map(|k| base.join(format!("{name}-{k}")));
    let mut candidates = std::iter::once(base.join(name)).chain(numbered);
    // The numbers do not end.
    candidates
        .find(|folder| !folder.exists())
        .unwrap_or_default()
}

fn file_name(label: &str) -> String {
    let plain = label.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || c == '-' || c == '.' => c,
        _ => '_',
    });
    plain.collect()
}

fn run_variant(
    args: &CompareArgs,
    combination: &Combination,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<RunSummary, String> {
    let named = scene_argument::read(&args.scene, &combination.changes).map_err(first_line)?;
    let mut run = SceneRun::start(&named.name, named.scene, folder).map_err(first_line)?;
    let driven = progress::drive(&mut run, interrupt, args.quiet || args.json);
    driven.map(|(_, summary)| summary).map_err(first_line)
}

/// The head of a message, for a table.
fn first_line(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_string()
}

/// The table, the report and the exit code.
fn conclude(args: &CompareArgs, folder: &Path, outcomes: &[Outcome]) -> ExitCode {
    let ran = |outcome: &&Outcome| outcome.result.is_ok();
    if !outcomes.iter().any(|outcome| ran(&outcome)) {
        let reasons: Vec<String> = outcomes
            .iter()
            .filter_map(|o| Some(format!("{}: {}", o.label, o.result.as_ref().err()?)))
            .collect();
        return complain(format!(
            "no variant could be run\n  {}",
            reasons.join("\n  ")
        ));
    }
    let report = folder.join("report.html");
    if let Err(error) = write_report(folder, outcomes) {
        return complain(error);
    }
    if args.json {
        let list: Vec<_> = outcomes
            .iter()
            .map(|outcome| match &outcome.result {
                Ok(summary) => serde_json::json!({ "variant": outcome.label, "summary": summary }),
                Err(reason) => serde_json::json!({ "variant": outcome.label, "refused": reason }),
            })
            .collect();
        say(serde_json::json!({ "report": report, "variants": list }));
    } else if !args.quiet {
        say(as_text(&table(outcomes)));
        say!("Report {}", report.display());
    }
    let certified = outcomes
        .iter()
        .filter_map(|outcome| outcome.result.as_ref().ok())
        .all(|summary| summary.certified);
    if certified {
        ExitCode::SUCCESS
    } else {
        not_certified()
    }
}

fn write_report(folder: &Path, outcomes: &[Outcome]) -> Result<(), String> {
    let mut runs: Vec<(&str, RunData)> = Vec::new();
    for (k, outcome) in outcomes.iter().enumerate() {
        if outcome.result.is_ok() {
            let part = folder.join(format!("{:02}-{}", k + 1, file_name(&outcome.label)));
            let data = read_run(&part).map_err(|error| error.to_string())?;
            runs.push((&outcome.label, data));
        }
    }
    let variants: Vec<Variant> = runs
        .iter()
        .map(|(label, run)| Variant { label, run })
        .collect();
    let scene = runs.first().map(|(_, run)| &run.scene);
    let title = scene.map_or("", |scene| scene.title.as_str());
    let lead = scene.map_or("", |scene| scene.description.as_str());
    // The same drawings as files, for slides and papers.
    let figures = overlays(title, &variants);
    let plots = folder.join("plots");
    let saved = std::fs::create_dir_all(&plots)
        .and_then(|()| figures.iter().try_for_each(|figure| figure.save(&plots)));
    saved.map_err(|error| format!("{}: {error}", plots.display()))?;
    let page = as_html(
        &format!("{title}: {} variants", outcomes.len()),
        lead,
        &table(outcomes),
        &drawings(&figures),
    );
    let path = folder.join("report.html");
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}
