//! Sweeps over parameters, in the file format of `stickslip study sweep`.

use std::path::PathBuf;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stickslip::internals::Digest;
use stickslip::scene::{
    Cell, MapPoint, MapQuantity, SceneChart, SceneSweep, SourceText, SweepOutcome,
};
use stickslip::simulation::studies::sweep::{SweepAxis, SweepPoint};

use crate::array::array;
use crate::error::sweep_error;
use crate::scene::changes;
use crate::threads::detached;

/// Pairs of a name and a text.
type Pairs = Vec<(String, String)>;
/// Values, whether certified, reason.
type Point = (Vec<f64>, bool, String);

/// What every point of a sweep has in common, as a worker receives it.
#[derive(FromPyObject)]
pub struct Subject {
    file: String,
    text: String,
    parameters: Pairs,
    settings: Pairs,
    outcomes: Vec<String>,
}

impl Subject {
    fn read(self) -> SceneSweep {
        let outcomes = self.outcomes.iter().map(|text| SweepOutcome::parse(text));
        SceneSweep {
            source: SourceText::new(self.file, self.text),
            changes: changes(self.parameters, self.settings),
            outcomes: outcomes.collect(),
        }
    }
}

/// What comes out at one point, further changes included.
#[pyfunction]
#[pyo3(signature = (subject, names, values, parameters = Vec::new(), settings = Vec::new()))]
pub fn evaluate_point(
    py: Python<'_>,
    mut subject: Subject,
    names: Vec<String>,
    values: Vec<f64>,
    parameters: Pairs,
    settings: Pairs,
) -> Point {
    subject.parameters.extend(parameters);
    subject.settings.extend(settings);
    let point = detached(py, || subject.read().evaluate(&names, &values));
    (point.values, point.certified, point.reason)
}

/// One point of `stickslip study map`: a number or a word, whether it is certified, or the reason why the scene was refused there.
#[pyfunction]
pub fn map_cell(
    py: Python<'_>,
    subject: Subject,
    of: &str,
    gap: f64,
    x: (String, f64),
    y: (String, f64),
) -> (Option<f64>, Option<String>, bool, String) {
    let quantity = match of {
        "regime" => MapQuantity::Regime { gap },
        "margin" => MapQuantity::Margin { gap },
        path => MapQuantity::Summary {
            path: path.to_string(),
        },
    };
    let subject = subject.read();
    let chart = SceneChart {
        source: subject.source,
        changes: subject.changes,
        quantity,
    };
    match detached(py, || chart.point((&x.0, x.1), (&y.0, y.1))) {
        Ok(MapPoint { cell, certified }) => match cell {
            Cell::Number(number) => (Some(number), None, certified, String::new()),
            Cell::Word(word) => (None, Some(word), certified, String::new()),
        },
        Err(error) => (None, None, false, error.to_string()),
    }
}

/// A sweep and what is known of it.
#[pyclass(module = "stickslip._stickslip")]
pub struct Sweep {
    sweep: stickslip::simulation::studies::sweep::Sweep,
}

#[pymethods]
impl Sweep {
    /// A sweep of which nothing is known; `also` is what the outcomes depend on besides the scene, empty for sweeps
    /// that the command line could have made.
    #[new]
    fn new(
        subject: Subject,
        axes: Vec<(String, Vec<f64>)>,
        names: Vec<String>,
        also: &str,
    ) -> PyResult<Self> {
        let axes = axes
            .into_iter()
            .map(|(name, values)| SweepAxis { name, values });
        let axes: Vec<SweepAxis> = axes.collect();
        let plain = subject.read();
        let sweep = plain.sweep(axes.clone()).map_err(sweep_error)?;
        if also.is_empty() {
            return Ok(Self { sweep });
        }
        let text = format!("{}\n{also}", sweep.subject());
        let digest = Digest::of(text.as_bytes());
        let sweep = stickslip::simulation::studies::sweep::Sweep::new(axes, names, digest);
        Ok(Self {
            sweep: sweep.map_err(sweep_error)?,
        })
    }

    /// Names of the axes with their values.
    #[getter]
    fn axes(&self) -> Vec<(String, Vec<f64>)> {
        let axes = self.sweep.axes().iter();
        axes.map(|a| (a.name.clone(), a.values.clone())).collect()
    }

    /// Names of the outcomes.
    #[getter]
    fn outcomes(&self) -> Vec<String> {
        self.sweep.outcomes().to_vec()
    }

    /// Digest of what is swept, the grid left out.
    #[getter]
    fn subject(&self) -> &str {
        self.sweep.subject()
    }

    /// Takes over what a file holds.
    fn resume(&mut self, path: PathBuf) -> PyResult<()> {
        self.sweep.resume(&path).map_err(sweep_error)
    }

    /// Writes the file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.sweep.save(&path)).map_err(sweep_error)
    }

    /// The table with one line per point.
    fn to_csv(&self) -> String {
        self.sweep.to_csv()
    }

    /// Points that are not computed.
    fn missing(&self) -> Vec<usize> {
        let points = self.sweep.points().iter().enumerate();
        let missing = points.filter(|(_, point)| point.is_none());
        missing.map(|(k, _)| k).collect()
    }

    /// Values of the axes at a point.
    fn parameters(&self, point: usize) -> Vec<f64> {
        self.sweep.parameters(point)
    }

    /// Enters what was computed.
    fn enter(&mut self, point: usize, found: Point) -> PyResult<()> {
        let (values, certified, reason) = found;
        let fits = values.len() == self.sweep.outcomes().len();
        if point >= self.sweep.points().len() || !fits {
            return Err(PyIndexError::new_err("no such point of the sweep"));
        }
        let found = SweepPoint {
            values,
            certified,
            reason,
        };
        self.sweep.enter(point, found);
        Ok(())
    }

    /// Values (point by point, outcome by outcome), done, certified, reasons.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let points = self.sweep.points();
        let unknown = vec![f64::NAN; self.sweep.outcomes().len()];
        let values = points
            .iter()
            .flat_map(|p| p.as_ref().map_or(&unknown, |p| &p.values).clone());
        let dict = PyDict::new(py);
        dict.set_item("values", array(py, values.collect())?)?;
        let done: Vec<bool> = points.iter().map(Option::is_some).collect();
        dict.set_item("done", done)?;
        let certified = |p: &Option<SweepPoint>| p.as_ref().is_some_and(|p| p.certified);
        dict.set_item(
            "certified",
            points.iter().map(certified).collect::<Vec<_>>(),
        )?;
        let reason = |p: &Option<SweepPoint>| p.as_ref().map_or("", |p| &p.reason).to_string();
        dict.set_item("reason", points.iter().map(reason).collect::<Vec<_>>())?;
        Ok(dict)
    }
}
