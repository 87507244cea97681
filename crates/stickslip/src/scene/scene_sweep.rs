//! Outcomes of the runs of a scene, for sweeps over its parameters.

use std::ops::ControlFlow;
use std::path::Path;

use crate::records::Digest;
use crate::simulation::studies::sweep::{Sweep, SweepAxis, SweepError, SweepPoint};
use crate::simulation::{RunEnd, RunSummary};

use super::row_expression::RowExpression;
use super::{Changes, Scene, SourceText};

/// Reason of a point whose run finished, but not with the residuals that count.
pub(super) const NOT_CERTIFIED: &str = "not certified";

/// What is asked of a run.
///
/// `certified`, `steps`, `event_counts.impacts`, `coordinates.x`: an entry of the summary. `final(e)`, `max(e)`, `min(e)`, `mean(e)`:
/// an expression over the columns of the trajectory (see [`RowExpression`]) at the end, or over all steps (the mean is
/// that over time). `at(t, e)`: its value after the first step that reaches the time t, not a number if none does. Anything else is an
/// expression at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutcome {
    /// Name in tables.
    pub name: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Summary(String),
    Rows(Fold, String),
}

/// How the values of the steps become one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fold {
    Final,
    Max,
    Min,
    Mean,
    /// The value at a time.
    At(f64),
}

impl SweepOutcome {
    /// The text that [`Self::parse`] reads as this outcome.
    pub fn text(&self) -> String {
        let asked = match &self.kind {
            Kind::Summary(path) => path.clone(),
            Kind::Rows(Fold::Final, inner) => format!("final({inner})"),
            Kind::Rows(Fold::Max, inner) => format!("max({inner})"),
            Kind::Rows(Fold::Min, inner) => format!("min({inner})"),
            Kind::Rows(Fold::Mean, inner) => format!("mean({inner})"),
            Kind::Rows(Fold::At(t), inner) => format!("at({t:?}, {inner})"),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.name.chars().all(plain) && !self.name.is_empty() {
            true => format!("{}={asked}", self.name),
            // A name with other signs is the outcome itself, as it was asked for.
            false => self.name.clone(),
        }
    }

    /// Reads `NAME=OUTCOME` or `OUTCOME`.
    pub fn parse(text: &str) -> Self {
        let named = text.split_once('=').filter(|(name, _)| {
            let name = name.trim();
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let (name, asked) = named.unwrap_or((text, text));
        let (name, asked) = (name.trim().to_string(), asked.trim());
        let folds = [
            ("final", Fold::Final),
            ("max", Fold::Max),
            ("min", Fold::Min),
            ("mean", Fold::Mean),
        ];
        for (word, fold) in folds {
            let inner = asked
                .strip_prefix(word)
                .and_then(|rest| only_argument(rest.trim()));
            if let Some(inner) = inner {
                let kind = Kind::Rows(fold, inner.to_string());
                return Self { name, kind };
            }
        }
        if let Some((t, inner)) = asked.strip_prefix("at").and_then(time_and_expression) {
            let kind = Kind::Rows(Fold::At(t), inner.to_string());
            return Self { name, kind };
        }
        let path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == ' ';
        let word = ["certified", "steps", "time", "outcome"].contains(&asked);
        let kind = if word || (asked.contains('.') && asked.chars().all(path) && !is_number(asked))
        {
            Kind::Summary(asked.to_string())
        } else {
            Kind::Rows(Fold::Final, asked.to_string())
        };
        Self { name, kind }
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// The inside of brackets that hold one argument and end with the text.
fn only_argument(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => return None,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    Some(inner)
}

/// Time and expression of `(t, e)`.
fn time_and_expression(text: &str) -> Option<(f64, &str)> {
    let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (time, inner) = inside.split_once(',')?;
    let t = time.trim().parse().ok().filter(|t: &f64| t.is_finite())?;
    Some((t, inner.trim()))
}

/// A scene whose parameters are swept.
///
/// ```
/// use stickslip::scene::{Changes, SceneSweep, SweepOutcome, find_in_gallery};
/// use stickslip::simulation::studies::sweep::SweepAxis;
///
/// let subject = SceneSweep {
///     source: find_in_gallery("bouncing-ball").ok_or("no such scene")?.source(),
///     changes: Changes::new().key("until", 0.1),
///     outcomes: vec![SweepOutcome::parse("y")],
/// };
/// let names = ["e".to_string()];
/// let mut sweep = subject.sweep(vec![SweepAxis { name: "e".into(), values: vec![0.2, 0.8] }])?;
/// let done = sweep.run(|values| subject.evaluate(&names, values), |_| Ok(()), || false)?;
/// assert!(done && sweep.points().len() == 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneSweep {
    /// The scene.
    pub source: SourceText,
    /// Changes common to all points.
    pub changes: Changes,
    /// What is asked of every run.
    pub outcomes: Vec<SweepOutcome>,
}

impl SceneSweep {
    /// The sweep over some axes, of which nothing is known yet.
    pub fn sweep(&self, axes: Vec<SweepAxis>) -> Result<Sweep, SweepError> {
        let names = self.outcomes.iter().map(|o| o.name.clone()).collect();
        let mut subject = format!(
            "{:?}\n{:?}\n{:?}",
            self.source.text(),
            self.changes,
            self.outcomes
        );
        // Tables and meshes are part of what is swept.
        let files = self.scene_at(&[], &[]).map(|scene| scene.files());
        let beside = Path::new(self.source.name()).parent();
        for file in files.unwrap_or_default() {
            let path = beside.unwrap_or(Path::new("")).join(file);
            subject += &std::fs::read(path).map_or(String::new(), |bytes| Digest::of(&bytes));
        }
        Sweep::new(axes, names, Digest::of(subject.as_bytes()))
    }

    /// The scene at a point: a name is that of a parameter, or of a key such as `step`.
    pub fn scene_at(&self, names: &[String], values: &[f64]) -> Result<Scene, String> {
        point_scene(&self.source, &self.changes, names, values)
    }

    /// What comes out at a point; a scene that is refused there is a point without values, with the reason.
    pub fn evaluate(&self, names: &[String], values: &[f64]) -> SweepPoint {
        match self
            .scene_at(names, values)
            .and_then(|scene| self.outcomes_of(&scene))
        {
            Ok(point) => point,
            Err(reason) => SweepPoint {
                values: vec![f64::NAN; self.outcomes.len()],
                certified: false,
                reason,
            },
        }
    }

    fn outcomes_of(&self, scene: &Scene) -> Result<SweepPoint, String> {
        let mut run = scene.simulation().map_err(|e| first_line(&e))?;
        let layout = run.trajectory_layout();
        let compile = |outcome: &SweepOutcome| match &outcome.kind {
            // A column of a world has a point in its name, as entries of the summary have.
            Kind::Summary(path) if layout.columns().contains(path) => {
                let columns = layout.columns();
                RowExpression::column(path, columns).map(|e| Some((Fold::Final, e)))
            }
            Kind::Summary(_) => Ok(None),
            Kind::Rows(fold, text) => {
                RowExpression::parse(text, layout.columns(), &scene.parameters)
                    .map(|e| Some((*fold, e)))
            }
        };
        let rows: Result<Vec<_>, String> = self.outcomes.iter().map(compile).collect();
        let rows = rows?;
        let mut values: Vec<f64> = vec![f64::NAN; rows.len()];
        let mut sums = vec![0.0; rows.len()];
        let mut found = vec![false; rows.len()];
        let (mut row, mut registers, mut whole) = (Vec::new(), Vec::new(), 0.0);
        let mut see = |record: &crate::records::StepRecord| {
            row.clear();
            layout.fill(record, &mut row);
            whole += record.h;
            for (k, (fold, expression)) in rows
                .iter()
                .enumerate()
                .filter_map(|(k, r)| Some((k, r.as_ref()?)))
            {
                let x = expression.value(&row, &mut registers);
                sums[k] += record.h * x;
                values[k] = match fold {
                    Fold::Final => x,
                    Fold::Max => values[k].max(x),
                    Fold::Min => values[k].min(x),
                    Fold::Mean => sums[k] / whole,
                    Fold::At(t) if !found[k] && record.t >= t - 1e-9 * record.h => {
                        found[k] = true;
                        x
                    }
                    Fold::At(_) => values[k],
                };
            }
            ControlFlow::Continue(())
        };
        let _ = see(run.record());
        let end = run.run_until(scene.settings.until, see);
        let facts = scene.facts(run.system());
        let summary = RunSummary::new(&run, (scene.run_settings(""), &facts), end, 0.0);
        // Plain numbers, words and lists always become JSON.
        let json = serde_json::to_value(&summary).unwrap_or_default();
        for ((value, outcome), row) in values.iter_mut().zip(&self.outcomes).zip(&rows) {
            if let (Kind::Summary(path), None) = (&outcome.kind, row) {
                *value = entry(&json, path)
                    .ok_or_else(|| format!("the summary has no number `{path}`"))?;
            }
        }
        Ok(SweepPoint {
            values,
            certified: summary.certified && end == RunEnd::Finished,
            reason: match summary.reason.is_empty() {
                false => format!("stopped at t = {}: {}", summary.time, summary.reason),
                true if summary.certified => String::new(),
                true => NOT_CERTIFIED.to_string(),
            },
        })
    }
}

/// A scene with parameters, or keys where it has no parameter of that name, at other values.
pub(super) fn point_scene(
    source: &SourceText,
    changes: &Changes,
    names: &[String],
    values: &[f64],
) -> Result<Scene, String> {
    const KEYS: [&str; 5] = ["step", "until", "theta", "tolerance", "compliance_time"];
    let mut changes = changes.clone();
    for (name, value) in names.iter().zip(values) {
        changes = if KEYS.contains(&name.as_str()) {
            changes.key(name, value)
        } else {
            changes.parameter(name, value)
        };
    }
    let text = changes.apply(source).map_err(|e| first_line(&e))?;
    Scene::parse(text).map_err(|e| first_line(&e))
}

/// The first line of a message, without its head.
pub(super) fn first_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_string()
}

/// A number, or a truth as 0 or 1, in a summary by its path. Names may have points themselves (`coordinates.box.x`).
fn entry(summary: &serde_json::Value, path: &str) -> Option<f64> {
    let (mut value, mut rest) = (summary, path);
    while !rest.is_empty() {
        // A part that this run does not have: no Painlevé margin without friction.
        if value.is_null() {
            return Some(f64::NAN);
        }
        if let Some(whole) = value.get(rest) {
            (value, rest) = (whole, "");
            continue;
        }
        let (key, further) = rest.split_once('.').unwrap_or((rest, ""));
        value = match key.parse::<usize>() {
            // An event that did not happen.
            Ok(index) if value.is_array() && value.get(index).is_none() => return Some(f64::NAN),
            Ok(index) if value.is_array() => value.get(index)?,
            _ => value.get(key)?,
        };
        rest = further;
    }
    match value {
        serde_json::Value::Number(number) => number.as_f64(),
        serde_json::Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        // What is not a number in Rust is none in JSON.
        serde_json::Value::Null => Some(f64::NAN),
        _ => None,
    }
}
