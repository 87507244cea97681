//! Contact problems from arrays and files, without bodies and without time.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stickslip::algebra::SparseRows;
use stickslip::contact::fclib::{FclibFile, FclibProblem, FclibSolution};
use stickslip::contact::{CondensedProblem, ContactResidual, GlobalForm, Judgement};
use stickslip::internals::one_contact::gamma;
use stickslip::solvers::SolverLimits;
use stickslip::solvers::cascade::{CoulombMethod, solve};
use stickslip::solvers::enumeration::{EnumerationSettings, enumerate};

use crate::array::{array, floats, indices};
use crate::error::problem_error;
use crate::threads::detached;

/// A Coulomb problem, u = W r + q.
#[pyclass(subclass, frozen, module = "stickslip._stickslip")]
pub struct ContactProblem {
    form: Form,
    title: String,
}

enum Form {
    Local(Box<stickslip::contact::ContactProblem>),
    Global(Box<GlobalForm>, Box<CondensedProblem>),
}

/// A sparse matrix: number of columns, starts of rows, columns, values.
type Rows<'py> = (
    usize,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
);

fn sparse(rows: &Rows<'_>) -> PyResult<SparseRows> {
    let (columns, starts, column, values) = rows;
    SparseRows::new(
        *columns,
        indices(starts)?,
        indices(column)?,
        floats(values)?,
    )
    .map_err(problem_error)
}

impl ContactProblem {
    fn local(&self) -> &stickslip::contact::ContactProblem {
        match &self.form {
            Form::Local(local) => local,
            Form::Global(_, condensed) => &condensed.local,
        }
    }

    fn check_length(&self, what: &str, found: usize) -> PyResult<()> {
        let expected = self.local().size();
        match found == expected {
            true => Ok(()),
            false => Err(problem_error(format!(
                "{what} has {found} entries, expected {expected}"
            ))),
        }
    }
}

#[pymethods]
impl ContactProblem {
    /// From W, q and mu.
    #[staticmethod]
    fn of_local(
        dimension: usize,
        w: Rows<'_>,
        q: &Bound<'_, PyAny>,
        mu: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (w, q, mu) = (sparse(&w)?, floats(q)?, floats(mu)?);
        let local = stickslip::contact::ContactProblem::coulomb_from_rows(dimension, &w, q, mu);
        Ok(Self {
            form: Form::Local(Box::new(local.map_err(problem_error)?)),
            title: String::new(),
        })
    }

    /// From M, H, f, w and mu: M v = H r + f, u = Hᵀ v + w.
    #[staticmethod]
    fn of_mass(
        dimension: usize,
        mass: Rows<'_>,
        jacobian: Rows<'_>,
        force: &Bound<'_, PyAny>,
        imposed: &Bound<'_, PyAny>,
        mu: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (mass, jacobian) = (sparse(&mass)?, sparse(&jacobian)?);
        let (force, imposed, mu) = (floats(force)?, floats(imposed)?, floats(mu)?);
        let global = GlobalForm::new(dimension, mass, jacobian, force, imposed, mu);
        let global = global.map_err(problem_error)?;
        let condensed = global.condense().map_err(problem_error)?;
        Ok(Self {
            form: Form::Global(Box::new(global), Box::new(condensed)),
            title: String::new(),
        })
    }

    /// Reads an FCLIB file; also returns the impulses stored beside the problem, if there are any.
    #[staticmethod]
    fn read<'py>(py: Python<'py>, path: PathBuf) -> PyResult<(Self, Option<Bound<'py, PyAny>>)> {
        let file = FclibFile::read(&path).map_err(problem_error)?;
        let stored = file.solution.map(|s| array(py, s.r)).transpose()?;
        let form = match file.problem {
            FclibProblem::Local(local) => Form::Local(Box::new(local)),
            FclibProblem::Global(global) => {
                let condensed = global.condense().map_err(problem_error)?;
                Form::Global(Box::new(global), Box::new(condensed))
            }
        };
        let title = file.title;
        Ok((Self { form, title }, stored))
    }

    /// Writes an FCLIB file, with impulses and velocities if they are given.
    #[pyo3(signature = (path, title, impulses = None))]
    fn write(
        &self,
        path: PathBuf,
        title: &str,
        impulses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let problem = match &self.form {
            Form::Local(local) => FclibProblem::Local(local.as_ref().clone()),
            Form::Global(global, _) => FclibProblem::Global(global.as_ref().clone()),
        };
        let mut file = FclibFile::new(problem);
        file.title = title.to_string();
        if let Some(impulses) = impulses {
            let r = floats(impulses)?;
            self.check_length("impulses", r.len())?;
            let mut u = vec![0.0; r.len()];
            self.local().local_velocity(&r, &mut u);
            let v = match &self.form {
                Form::Local(_) => None,
                Form::Global(global, condensed) => Some(condensed.generalized_velocity(global, &r)),
            };
            file.solution = Some(FclibSolution { v, u, r });
        }
        file.write(&path).map_err(problem_error)
    }

    /// Title of the file it was read from.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// Number of contacts.
    #[getter]
    fn contacts(&self) -> usize {
        self.local().blocks().len()
    }

    /// 2 in the plane, 3 in space.
    #[getter]
    fn dimension(&self) -> usize {
        self.local().blocks().first().map_or(3, |block| block.size)
    }

    /// Free velocity q.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.local().free().to_vec())
    }

    /// Friction coefficients.
    #[getter]
    fn mu<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let data = self.local().coulomb_data();
        array(py, data.map_or_else(Vec::new, |data| data.friction))
    }

    /// W, row by row.
    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.local().dense().into_owned())
    }

    /// W r + q.
    fn local_velocity<'py>(
        &self,
        py: Python<'py>,
        impulses: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let r = floats(impulses)?;
        self.check_length("impulses", r.len())?;
        let mut u = vec![0.0; r.len()];
        self.local().local_velocity(&r, &mut u);
        array(py, u)
    }

    /// v, for problems from M and H.
    fn generalized_velocity<'py>(
        &self,
        py: Python<'py>,
        impulses: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let r = floats(impulses)?;
        self.check_length("impulses", r.len())?;
        match &self.form {
            Form::Local(_) => Ok(None),
            Form::Global(global, condensed) => {
                array(py, condensed.generalized_velocity(global, &r)).map(Some)
            }
        }
    }

    /// Solves it.
    #[pyo3(signature = (tolerance, method, seconds = None, guess = None))]
    fn solved<'py>(
        &self,
        py: Python<'py>,
        tolerance: f64,
        method: &str,
        seconds: Option<f64>,
        guess: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(chosen) = CoulombMethod::from_name(method) else {
            let names: Vec<_> = CoulombMethod::ALL.iter().map(|m| m.name()).collect();
            let message = format!("unknown solver `{method}`; known: {}", names.join(", "));
            return Err(problem_error(message));
        };
        let time = seconds.map(Duration::try_from_secs_f64).transpose();
        let limits = SolverLimits {
            tolerance,
            time: time.map_err(|e| PyValueError::new_err(e.to_string()))?,
            ..SolverLimits::default()
        };
        let guess = guess.map(floats).transpose()?;
        if let Some(guess) = &guess {
            self.check_length("guess", guess.len())?;
        }
        let solution = detached(py, || {
            solve(self.local(), chosen, &limits, guess.as_deref())
        });
        let judgement = solution.judgement.unwrap_or_default();
        let dict = PyDict::new(py);
        dict.set_item("status", solution.status.name())?;
        dict.set_item("solved", solution.status.is_solved())?;
        dict.set_item("residual", judgement.published)?;
        dict.set_item("scaled_residual", judgement.residual.worst())?;
        dict.set_item("iterations", solution.cost.products)?;
        dict.set_item("method", solution.cost.method)?;
        dict.set_item("seconds", solution.cost.time.as_secs_f64())?;
        dict.set_item("impulses", array(py, solution.impulse)?)?;
        dict.set_item("velocities", array(py, solution.local_velocity)?)?;
        Ok(dict)
    }

    /// Measures of impulses that somebody else computed: of the whole problem, then per contact natural map, cone,
    /// Signorini and dissipation parts; and the velocities.
    fn judged<'py>(
        &self,
        py: Python<'py>,
        impulses: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let r = floats(impulses)?;
        self.check_length("impulses", r.len())?;
        if let Some(k) = r.iter().position(|x| !x.is_finite()) {
            return Err(problem_error(format!("impulse {k} is {}", r[k])));
        }
        let (judgement, velocity) = Judgement::with_velocity(self.local(), &r);
        let mut residual = ContactResidual::default();
        residual.measure(self.local(), &r);
        let parts: Vec<f64> = residual
            .blocks()
            .iter()
            .flat_map(|b| [b.natural_map, b.cone, b.signorini, b.dissipation])
            .collect();
        let dict = PyDict::new(py);
        dict.set_item("residual", judgement.published)?;
        dict.set_item("rounding_floor", judgement.published_floor)?;
        dict.set_item("scaled_residual", judgement.residual.worst())?;
        dict.set_item("scaled_floor", judgement.floor)?;
        dict.set_item("parts", array(py, parts)?)?;
        dict.set_item("velocities", array(py, velocity)?)?;
        Ok(dict)
    }

    /// All solutions, as JSON.
    fn enumerated(&self, py: Python<'_>, starts: usize) -> PyResult<String> {
        let settings = EnumerationSettings {
            starts,
            ..EnumerationSettings::default()
        };
        let local = self.local();
        let found = detached(py, || enumerate(local, &settings)).map_err(problem_error)?;
        let margins: Vec<f64> = local
            .blocks()
            .iter()
            .map(|block| {
                let row: Vec<f64> = block.range().map(|j| local.w(block.start, j)).collect();
                gamma(&row, &block.section) / row[0]
            })
            .collect();
        let verdict = found.verdict();
        let json = serde_json::json!({
            "verdict": verdict.word(),
            "text": verdict.to_string(),
            "method": found.method,
            "margins": margins,
            "solutions": found.solutions.iter().map(|s| serde_json::json!({
                "modes": s.modes,
                "impulse": s.impulse,
                "velocity": s.local_velocity,
                "residual": s.residual,
                "continuum": s.continuum,
            })).collect::<Vec<_>>(),
        });
        Ok(json.to_string())
    }
}
