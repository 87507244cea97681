//! Outcomes over any number of parameters, on all cores, to be gone on with after an interruption.
//!
//! A sweep is a grid of points, a function that gives the outcomes of a point, and the file that keeps what is done. The file
//! is an `.npz` archive with
//!
//! | array | shape | what |
//! | --- | --- | --- |
//! | `axes` | (k,) | names of the parameters |
//! | `axis_0`, `axis_1`, ... | (n_i,) | their values |
//! | `outcomes` | (m,) | names of the outcomes |
//! | `values` | (n_0, ..., n_{k-1}, m) | outcomes; NaN where not done or not known |
//! | `done` | (n_0, ..., n_{k-1}) | whether the point was computed |
//! | `certified` | same | whether its run was certified |
//! | `reason` | same | why not, or why the run stopped |
//! | `subject` | () | digest of what was swept |
//!
//! Points are independent: their values do not depend on the number of threads nor on interruptions.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::clock::Stopwatch;
use crate::records::{Array, Npz};

/// Time between saves.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// Most points: what a day of small runs computes.
pub(crate) const POINTS_MAX: usize = 50_000_000;

/// A parameter with its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepAxis {
    /// Parameter of the scene.
    pub name: String,
    /// Values, in order.
    pub values: Vec<f64>,
}

/// What came out at one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepPoint {
    /// Outcomes, in the order of their names.
    pub values: Vec<f64>,
    /// Whether the run was certified.
    pub certified: bool,
    /// Why not, or why it stopped; empty where there is nothing to say.
    pub reason: String,
}

/// Why a sweep could not be set up, saved or gone on with.
#[derive(Debug, Error)]
pub enum SweepError {
    /// No axis, an axis without values, one name twice, or too many points.
    #[error("{0}")]
    Grid(String),
    /// The file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file holds another sweep.
    #[error("{path} holds another sweep ({what} differ); choose another folder")]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
}

/// A sweep: its grid and what is known of it.
///
/// ```
/// use stickslip::simulation::studies::sweep::{Sweep, SweepAxis, SweepPoint};
///
/// let axis = |name: &str, values: &[f64]| SweepAxis { name: name.into(), values: values.to_vec() };
/// let axes = vec![axis("mu", &[0.25, 0.5]), axis("v", &[1.0, 2.0, 4.0])];
/// let mut sweep = Sweep::new(axes, vec!["distance".into()], "sliding to rest".into())?;
/// let slide = |at: &[f64]| SweepPoint { values: vec![at[1] * at[1] / (20.0 * at[0])], certified: true, reason: String::new() };
/// assert!(sweep.run(slide, |_| Ok(()), || false)?);
/// assert_eq!(sweep.parameters(4), [0.5, 2.0]);
/// assert_eq!(sweep.points()[4].as_ref().map(|p| p.values[0]), Some(0.4));
/// # Ok::<(), stickslip::simulation::studies::sweep::SweepError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sweep {
    axes: Vec<SweepAxis>,
    outcomes: Vec<String>,
    subject: String,
    points: Vec<Option<SweepPoint>>,
}

impl Sweep {
    /// A sweep of which nothing is known; `subject` is a digest of all that the outcomes depend on besides the axes.
    pub fn new(
        axes: Vec<SweepAxis>,
        outcomes: Vec<String>,
        subject: String,
    ) -> Result<Self, SweepError> {
        let twice = |list: &[&str]| (1..list.len()).any(|i| list[..i].contains(&list[i]));
        let names: Vec<&str> = axes.iter().map(|a| a.name.as_str()).collect();
        let count = axes
            .iter()
            .try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()));
        let grid = |message: String| Err(SweepError::Grid(message));
        if axes.is_empty() || axes.iter().any(|a| a.values.is_empty()) {
            return grid("a sweep needs a parameter with values".to_string());
        }
        if twice(&names) {
            return grid("one parameter is swept twice".to_string());
        }
        if outcomes.is_empty() {
            return grid("a sweep needs an outcome".to_string());
        }
        match count {
            Some(count) if count <= POINTS_MAX => Ok(Self {
                points: vec![None; count],
                axes,
                outcomes,
                subject,
            }),
            _ => grid(format!("more than {POINTS_MAX} points")),
        }
    }

    /// The axes.
    pub fn axes(&self) -> &[SweepAxis] {
        &self.axes
    }

    /// Names of the outcomes.
    pub fn outcomes(&self) -> &[String] {
        &self.outcomes
    }

    /// Digest of what is swept.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Points, the last axis fastest; none where not computed yet.
    pub fn points(&self) -> &[Option<SweepPoint>] {
        &self.points
    }

    /// Enters what was computed elsewhere.
    ///
    /// # Panics
    /// If there is no such point, or the number of values is not that of the outcomes.
    pub fn enter(&mut self, point: usize, found: SweepPoint) {
        assert_eq!(
            found.values.len(),
            self.outcomes.len(),
            "one value per outcome"
        );
        self.points[point] = Some(found);
    }

    /// Number of points that are computed.
    pub fn done(&self) -> usize {
        self.points.iter().flatten().count()
    }

    /// Values of the parameters at a point.
    pub fn parameters(&self, mut point: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.axes.len()];
        for (value, axis) in values.iter_mut().zip(&self.axes).rev() {
            *value = axis.values[point % axis.values.len()];
            point /= axis.values.len();
        }
        values
    }

    /// Computes what is missing on all cores; `save` sees the sweep at first and every two seconds. It stops, with what is done, when
    /// `stop` says so. Says whether all points are done.
    pub fn run(
        &mut self,
        evaluate: impl Fn(&[f64]) -> SweepPoint + Sync,
        mut save: impl FnMut(&Self) -> Result<(), SweepError>,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<bool, SweepError> {
        let missing: Vec<usize> = (0..self.points.len())
            .filter(|&k| self.points[k].is_none())
            .collect();
        let mut saved: Option<Stopwatch> = None;
        // Few at a time, so that an interruption loses little.
        for part in missing.chunks(4 * rayon::current_num_threads()) {
            let found: Vec<Option<SweepPoint>> = part
                .par_iter()
                .map(|&k| (!stop()).then(|| evaluate(&self.parameters(k))))
                .collect();
            for (&k, point) in part.iter().zip(found) {
                self.points[k] = point;
            }
            if stop() {
                break;
            }
            if saved.is_none_or(|saved| saved.elapsed() >= SAVE_EVERY) {
                save(self)?;
                saved = Some(Stopwatch::start());
            }
        }
        save(self)?;
        Ok(self.points.iter().all(Option::is_some))
    }

    /// Writes the file.
    pub fn save(&self, path: &Path) -> Result<(), SweepError> {
        self.to_npz().write(path).map_err(|source| SweepError::Io {
            path: path.to_path_buf(),
            source,
        })
    }

    /// Takes over what a file of the same sweep holds; nothing if there is no file.
    pub fn resume(&mut self, path: &Path) -> Result<(), SweepError> {
        let npz = match Npz::read(path) {
            Ok(npz) => npz,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => {
                let path = path.to_path_buf();
                return Err(SweepError::Io { path, source });
            }
        };
        let expected = self.to_npz();
        let mut same = vec!["axes", "outcomes", "subject", "done"];
        let numbered: Vec<String> = (0..self.axes.len()).map(|k| format!("axis_{k}")).collect();
        same.extend(numbered.iter().map(String::as_str));
        for name in same {
            let agree = match (npz.get(name), expected.get(name)) {
                (Some(Array::Flags(a, _)), Some(Array::Flags(b, _))) => a == b,
                (found, known) => found == known,
            };
            if !agree {
                return Err(SweepError::Other {
                    path: path.to_path_buf(),
                    what: match name {
                        "subject" => "scene or changes",
                        "outcomes" => "outcomes",
                        _ => "parameters",
                    },
                });
            }
        }
        let (width, count) = (self.outcomes.len(), self.points.len());
        if let (
            Some(Array::Numbers(_, values)),
            Some(Array::Flags(_, done)),
            Some(Array::Flags(_, certified)),
            Some(Array::Texts(_, reason)),
        ) = (
            npz.get("values"),
            npz.get("done"),
            npz.get("certified"),
            npz.get("reason"),
        ) && [
            done.len(),
            certified.len(),
            reason.len(),
            values.len() / width,
        ] == [count; 4]
        {
            for k in (0..count).filter(|&k| done[k]) {
                self.points[k] = Some(SweepPoint {
                    values: values[k * width..(k + 1) * width].to_vec(),
                    certified: certified[k],
                    reason: reason[k].clone(),
                });
            }
        }
        Ok(())
    }

    /// The arrays of the file.
    pub fn to_npz(&self) -> Npz {
        let shape: Vec<usize> = self.axes.iter().map(|a| a.values.len()).collect();
        let mut wide = shape.clone();
        wide.push(self.outcomes.len());
        let mut npz = Npz::default();
        let names: Vec<String> = self.axes.iter().map(|a| a.name.clone()).collect();
        npz.push("axes", Array::Texts(vec![names.len()], names));
        for (k, axis) in self.axes.iter().enumerate() {
            let values = axis.values.clone();
            npz.push(
                &format!("axis_{k}"),
                Array::Numbers(vec![values.len()], values),
            );
        }
        let outcomes = self.outcomes.clone();
        npz.push("outcomes", Array::Texts(vec![outcomes.len()], outcomes));
        let unknown = vec![f64::NAN; self.outcomes.len()];
        let value = |point: &Option<SweepPoint>| match point {
            Some(point) => point.values.clone(),
            None => unknown.clone(),
        };
        let values = self.points.iter().flat_map(value).collect();
        npz.push("values", Array::Numbers(wide, values));
        let done = self.points.iter().map(Option::is_some).collect();
        npz.push("done", Array::Flags(shape.clone(), done));
        let certified = |point: &Option<SweepPoint>| point.as_ref().is_some_and(|p| p.certified);
        let certified = self.points.iter().map(certified).collect();
        npz.push("certified", Array::Flags(shape.clone(), certified));
        let reason = |point: &Option<SweepPoint>| {
            let reason = point.as_ref().map(|p| p.reason.replace('\0', " "));
            reason.unwrap_or_default()
        };
        let reasons = self.points.iter().map(reason).collect();
        npz.push("reason", Array::Texts(shape, reasons));
        npz.push("subject", Array::Texts(vec![], vec![self.subject.clone()]));
        npz
    }

    /// One line per computed point: parameters, outcomes, certified (0 or 1), reason.
    pub fn to_csv(&self) -> String {
        let quoted = |text: &str| {
            if text.contains([',', '"', '\n', '\r']) {
                format!(
                    "\"{}\"",
                    text.replace('"', "\"\"").replace(['\n', '\r'], " ")
                )
            } else {
                text.to_string()
            }
        };
        let heads = self.axes.iter().map(|a| quoted(&a.name));
        let heads = heads.chain(self.outcomes.iter().map(|o| quoted(o)));
        let mut heads: Vec<String> = heads.collect();
        heads.extend(["certified", "reason"].map(String::from));
        // An outcome that has a column already, `certified` among them, has no second one.
        let new: Vec<bool> = (0..heads.len())
            .map(|k| !heads[..k].contains(&heads[k]))
            .collect();
        let line = |words: &[String]| {
            let columns = words.iter().zip(&new).filter(|(_, new)| **new);
            let words: Vec<&str> = columns.map(|(word, _)| word.as_str()).collect();
            words.join(",") + "\n"
        };
        let mut out = line(&heads);
        for (k, point) in self.points.iter().enumerate() {
            let Some(point) = point else { continue };
            let parameters = self.parameters(k);
            let numbers = parameters.iter().chain(&point.values);
            let mut words: Vec<String> = numbers.map(|x| format!("{x:?}")).collect();
            words.push(u8::from(point.certified).to_string());
            words.push(quoted(&point.reason));
            out += &line(&words);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn sweep() -> Sweep {
        let axis = |name: &str, values: &[f64]| SweepAxis {
            name: name.to_string(),
            values: values.to_vec(),
        };
        let axes = vec![
            axis("a", &[1.0, 2.0]),
            axis("b", &[0.1, 0.2, 0.3]),
            axis("c", &[5.0, 6.0, 7.0, 8.0]),
        ];
        Sweep::new(axes, vec!["sum".into(), "product".into()], "subject".into()).unwrap()
    }

    fn outcome(p: &[f64]) -> SweepPoint {
        SweepPoint {
            values: vec![p.iter().sum(), p.iter().product()],
            certified: p[0] < 2.0,
            reason: if p[0] < 2.0 {
                String::new()
            } else {
                "a, large".into()
            },
        }
    }

    #[test]
    fn an_interrupted_sweep_goes_on_where_it_stopped() {
        let path = std::env::temp_dir().join(format!("stickslip-sweep-{}.npz", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut whole = sweep();
        assert!(whole.run(outcome, |_| Ok(()), || false).unwrap());
        assert_eq!(whole.parameters(17), [2.0, 0.2, 6.0]);
        let calls = AtomicUsize::new(0);
        let counted = |p: &[f64]| {
            calls.fetch_add(1, Ordering::SeqCst);
            outcome(p)
        };
        let mut first = sweep();
        let all = first
            .run(
                counted,
                |s| s.save(&path),
                || calls.load(Ordering::SeqCst) >= 5,
            )
            .unwrap();
        let done = first.done();
        assert!(!all && (5..24).contains(&done), "{done}");
        let mut second = sweep();
        second.resume(&path).unwrap();
        assert_eq!(second.done(), done);
        assert!(second.run(counted, |s| s.save(&path), || false).unwrap());
        assert_eq!(
            calls.load(Ordering::SeqCst),
            24,
            "no point is computed twice"
        );
        assert_eq!(second.points(), whole.points());
        assert_eq!(second.to_csv(), whole.to_csv());
        let line = second.to_csv().lines().nth(18).unwrap().to_string();
        assert_eq!(
            line,
            format!("2.0,0.2,6.0,8.2,{:?},0,\"a, large\"", 2.0 * 0.2 * 6.0)
        );
        // Another grid is another sweep.
        let mut other = Sweep::new(
            vec![SweepAxis {
                name: "a".into(),
                values: vec![1.0],
            }],
            vec!["sum".into()],
            "subject".into(),
        )
        .unwrap();
        assert!(matches!(other.resume(&path), Err(SweepError::Other { .. })));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn every_column_of_the_table_has_its_own_name() {
        let axis = SweepAxis {
            name: "a".into(),
            values: vec![1.0, 2.0],
        };
        let outcomes = vec!["certified".into(), "sum".into()];
        let mut sweep = Sweep::new(vec![axis], outcomes, "subject".into()).unwrap();
        let found = |p: &[f64]| SweepPoint {
            values: vec![1.0, p[0]],
            certified: true,
            reason: String::new(),
        };
        assert!(sweep.run(found, |_| Ok(()), || false).unwrap());
        assert_eq!(
            sweep.to_csv(),
            "a,certified,sum,reason\n1.0,1.0,1.0,\n2.0,1.0,2.0,\n"
        );
    }
}
