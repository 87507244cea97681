//! A quantity of a scene over two of its parameters.

use rayon::prelude::*;
use serde::Serialize;

pub use crate::simulation::studies::sweep::SweepAxis as MapAxis;
use crate::simulation::studies::sweep::{Sweep, SweepError, SweepPoint};
use crate::simulation::{RunEnd, RunSummary};
use crate::solvers::enumeration::{EnumerationError, EnumerationSettings, Verdict};
use crate::solvers::one_contact::gamma;

use super::scene_sweep::NOT_CERTIFIED;
use super::{Changes, Scene, SceneError, SourceText};

/// What a map shows.
#[derive(Clone, Debug, PartialEq)]
pub enum MapQuantity {
    /// Verdict on the first step under Coulomb's law: regular, indeterminate, inconsistent; whether it jams.
    Regime {
        /// Gap up to which a constraint counts as active.
        gap: f64,
    },
    /// Smallest margin γ/W_NN of the active contacts at the start.
    Margin {
        /// Gap up to which a constraint counts as active.
        gap: f64,
    },
    /// An entry of the summary of a whole run, by its path: `coordinates.x`, `energy.end`, `outcome`.
    Summary {
        /// Keys and list indices joined by dots.
        path: String,
    },
}

/// One value of a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// What a map knows of one point.
#[derive(Clone, Debug, PartialEq)]
pub struct MapPoint {
    /// The value.
    pub cell: Cell,
    /// Whether the run behind it was certified; verdicts and margins of the start need none.
    pub certified: bool,
}

impl MapPoint {
    fn refused() -> Self {
        Self {
            cell: Cell::Word(REFUSED.to_string()),
            certified: false,
        }
    }
}

/// A map: `cells[j * x.values.len() + i]` belongs to `(x.values[i], y.values[j])`.
///
/// ```
/// use stickslip::scene::{Cell, Changes, MapQuantity, SceneChart, find_in_gallery};
/// use stickslip::simulation::studies::sweep::SweepAxis;
///
/// let source = find_in_gallery("painleve-rod").ok_or("no such scene")?.source();
/// let chart = SceneChart { source, changes: Changes::new(), quantity: MapQuantity::Margin { gap: 1e-3 } };
/// let axis = |name: &str, values: &[f64]| SweepAxis { name: name.into(), values: values.to_vec() };
/// let map = chart.map(axis("theta0", &[0.8, 1.0]), axis("mu", &[0.0, 3.0]), None)?;
/// // Without friction the margin is one; with much of it the rod is beyond Painlevé's limit.
/// assert!(matches!(map.cells[0], Cell::Number(margin) if (margin - 1.0).abs() < 1e-12));
/// assert!(matches!(map.cells[2], Cell::Number(margin) if margin < 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneMap {
    /// First parameter.
    pub x: MapAxis,
    /// Second parameter.
    pub y: MapAxis,
    /// Values, row by row.
    pub cells: Vec<Cell>,
    /// Whether the run behind the cell was certified.
    pub certified: Vec<bool>,
    /// Points (x, y) where the word changes, or the number passes the level, located by bisection.
    pub boundary: Vec<[f64; 2]>,
}

/// Word of a cell whose scene was refused.
const REFUSED: &str = "refused";

/// Halvings of a cell while a boundary is located: a cell of one ends at 2e-10.
const HALVINGS: usize = 32;

/// Longest step of a verdict: impulses and forces are told apart by what shrinks with the step, and the boundary
/// between them is found to about ten times this number.
const REGIME_STEP: f64 = 1e-8;

/// A scene with two free parameters.
///
/// ```
/// use stickslip::scene::{Cell, Changes, MapQuantity, SceneChart, find_in_gallery};
///
/// let chart = SceneChart {
///     source: find_in_gallery("painleve-rod").ok_or("no such scene")?.source(),
///     changes: Changes::new(),
///     quantity: MapQuantity::Margin { gap: 1e-3 },
/// };
/// // Without friction the margin of a contact is one.
/// let margin = chart.at(("theta0", 1.0), ("mu", 0.0))?;
/// assert!(matches!(margin, Cell::Number(x) if (x - 1.0).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneChart {
    /// The scene.
    pub source: SourceText,
    /// Changes common to all points.
    pub changes: Changes,
    /// What is shown.
    pub quantity: MapQuantity,
}

impl SceneChart {
    /// The quantity at one point.
    pub fn at(&self, x: (&str, f64), y: (&str, f64)) -> Result<Cell, SceneError> {
        self.point(x, y).map(|point| point.cell)
    }

    /// The quantity at one point, and whether it is certified.
    pub fn point(&self, x: (&str, f64), y: (&str, f64)) -> Result<MapPoint, SceneError> {
        let changes = self.changes.clone();
        let changes = changes.parameter(x.0, x.1).parameter(y.0, y.1);
        let source = changes.apply(&self.source)?;
        // A run puts itself together; the other quantities belong to scenes that could run.
        let scene = match self.quantity {
            MapQuantity::Summary { .. } => Scene::read(source)?,
            MapQuantity::Regime { .. } | MapQuantity::Margin { .. } => Scene::parse(source)?,
        };
        scene.quantity(&self.quantity)
    }

    /// The whole map, rows shared out over all cores; the order is fixed. A scene that is refused at one point makes
    /// the cell `refused`; one that is refused everywhere is an error. `level` asks for the places where a number
    /// passes it.
    pub fn map(&self, x: MapAxis, y: MapAxis, level: Option<f64>) -> Result<SceneMap, SceneError> {
        let value = |a: f64, b: f64| self.point((&x.name, a), (&y.name, b));
        let found: Vec<Result<MapPoint, SceneError>> = y
            .values
            .par_iter()
            .flat_map_iter(|&b| x.values.iter().map(|&a| value(a, b)).collect::<Vec<_>>())
            .collect();
        if found.iter().all(Result::is_err)
            && let Some(Err(error)) = found.first()
        {
            return Err(error.clone());
        }
        let points = found
            .into_iter()
            .map(|point| point.unwrap_or_else(|_| MapPoint::refused()));
        Ok(self.with_points(x, y, points.collect(), level))
    }

    /// The map of points that are known, row by row, with its boundary.
    pub fn with_points(
        &self,
        x: MapAxis,
        y: MapAxis,
        points: Vec<MapPoint>,
        level: Option<f64>,
    ) -> SceneMap {
        let (cells, certified): (Vec<Cell>, Vec<bool>) =
            points.into_iter().map(|p| (p.cell, p.certified)).unzip();
        let value = |a: f64, b: f64| self.at((&x.name, a), (&y.name, b));
        let side = |cell: &Cell| -> Option<String> {
            match (cell, level) {
                (Cell::Word(word), _) => Some(word.clone()),
                (Cell::Number(number), Some(level)) => Some((*number > level).to_string()),
                (Cell::Number(_), None) => None,
            }
        };
        let columns = x.values.len();
        let changes: Vec<(usize, usize)> = (0..columns)
            .flat_map(|i| (1..y.values.len()).map(move |j| (i, j)))
            .filter(|&(i, j)| side(&cells[j * columns + i]) != side(&cells[(j - 1) * columns + i]))
            .collect();
        let boundary = changes
            .par_iter()
            .map(|&(i, j)| {
                let a = x.values[i];
                let (mut low, mut high) = (y.values[j - 1], y.values[j]);
                let below = side(&cells[(j - 1) * columns + i]);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    let here = value(a, middle).ok().and_then(|cell| side(&cell));
                    if here == below {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                [a, 0.5 * (low + high)]
            })
            .collect();
        SceneMap {
            x,
            y,
            cells,
            certified,
            boundary,
        }
    }
}

impl SceneMap {
    /// The map in the form of a sweep, over x and y: a cell that is a word has no value and the word as its reason.
    pub fn to_sweep(&self, of: &str, subject: String) -> Result<Sweep, SweepError> {
        let axes = vec![self.x.clone(), self.y.clone()];
        let mut sweep = Sweep::new(axes, vec![of.to_string()], subject)?;
        for (k, cell) in self.cells.iter().enumerate() {
            let (i, j) = (k % self.x.values.len(), k / self.x.values.len());
            let certified = self.certified[k];
            let (value, reason) = match cell {
                Cell::Number(number) if certified => (*number, String::new()),
                Cell::Number(number) => (*number, NOT_CERTIFIED.to_string()),
                Cell::Word(word) => (f64::NAN, word.clone()),
            };
            let point = SweepPoint {
                values: vec![value],
                certified,
                reason,
            };
            sweep.enter(i * self.y.values.len() + j, point);
        }
        Ok(sweep)
    }

    /// The points of a sweep over x and y that [`Self::to_sweep`] could have made; none where one is not done.
    pub fn points_of(sweep: &Sweep) -> Option<Vec<MapPoint>> {
        let [x, y] = sweep.axes() else { return None };
        let (columns, rows) = (x.values.len(), y.values.len());
        let read = |k: usize| {
            let (i, j) = (k % columns, k / columns);
            let point = sweep.points()[i * rows + j].as_ref()?;
            let cell = match point.reason.as_str() {
                "" | NOT_CERTIFIED => Cell::Number(point.values[0]),
                word if word.starts_with(REFUSED) => return Some(MapPoint::refused()),
                word => Cell::Word(word.to_string()),
            };
            let certified = point.certified;
            Some(MapPoint { cell, certified })
        };
        (0..columns * rows).map(read).collect()
    }
}

impl Scene {
    /// A quantity of a map for this scene as it stands.
    fn quantity(&self, quantity: &MapQuantity) -> Result<MapPoint, SceneError> {
        let cell = match quantity {
            MapQuantity::Regime { gap } => Cell::Word(self.regime(*gap)?),
            MapQuantity::Margin { gap } => Cell::Number(self.margin(*gap)?),
            MapQuantity::Summary { path } => return self.summary_entry(path),
        };
        let certified = true;
        Ok(MapPoint { cell, certified })
    }

    fn regime(&self, gap: f64) -> Result<String, SceneError> {
        let h = self.settings.step.min(REGIME_STEP);
        let study = match self.branches(gap, h, &EnumerationSettings::default())? {
            Ok(study) => study,
            Err(EnumerationError::NotFinite { .. }) => return Ok("not finite".to_string()),
            Err(_) => return Ok("not of Coulomb's law".to_string()),
        };
        let jams = study.impulsive.iter().any(|&x| x);
        let word = match (study.verdict, jams) {
            (Verdict::Regular, _) => "regular",
            (Verdict::Indeterminate { .. }, false) => "indeterminate",
            (Verdict::Indeterminate { .. }, true) => "indeterminate, may jam",
            (Verdict::InconsistentWithoutImpact, true) => "inconsistent, jams",
            (Verdict::InconsistentWithoutImpact, false) => "inconsistent",
            (Verdict::Undecided, _) => "undecided",
            (Verdict::NoneFound, _) => "no solution found",
            (Verdict::NotExamined, _) => "not examined",
        };
        Ok(word.to_string())
    }

    fn margin(&self, gap: f64) -> Result<f64, SceneError> {
        let problem = self.first_problem(gap, 0.0)?;
        let m = problem.size();
        let margins = problem.blocks().iter().map(|b| {
            let normal = &problem.dense()[b.start * m + b.start..][..b.size];
            gamma(normal, &b.section) / normal[0]
        });
        Ok(margins.fold(f64::NAN, f64::min))
    }

    fn summary_entry(&self, path: &str) -> Result<MapPoint, SceneError> {
        let mut run = self.simulation()?;
        let until = self.settings.until;
        let end = run.run_until(until, |_| std::ops::ControlFlow::Continue(()));
        let facts = self.facts(run.system());
        let summary = RunSummary::new(&run, (self.run_settings(""), &facts), end, 0.0);
        let certified = summary.certified && end == RunEnd::Finished;
        // Plain numbers, words and lists always become JSON.
        let mut value = serde_json::to_value(&summary).unwrap_or_default();
        for key in path.split('.') {
            value = match (key.parse::<usize>(), &mut value) {
                (Ok(index), serde_json::Value::Array(list)) if index < list.len() => {
                    list.swap_remove(index)
                }
                (_, other) => other
                    .get_mut(key)
                    .map_or(serde_json::Value::Null, |v| v.take()),
            };
        }
        let cell = match value {
            serde_json::Value::Number(number) => Cell::Number(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(word) => Cell::Word(word),
            serde_json::Value::Bool(word) => Cell::Word(word.to_string()),
            _ => Cell::Number(f64::NAN),
        };
        Ok(MapPoint { cell, certified })
    }
}
