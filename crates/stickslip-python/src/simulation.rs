//! Runs, step by step or to an end, with their records in memory.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stickslip::internals::TrajectoryLayout;
use stickslip::simulation::{Checkpoint, RunEnd, RunSummary};
use stickslip::systems::{Drive, ForceDependence};

use crate::array::{Numbers, array};
use crate::callback::{Known, PythonController, PythonForce, Raised};
use crate::error::{run_error, scene_error};
use crate::scene::Scene;
use crate::threads::detached;

/// Time between looks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The clock is read every so many steps: reading it costs as much as a small step.
const CLOCK_EVERY: u32 = 16;
/// Systems with fewer coordinates than this keep the interpreter in a single step: handing it over costs a third of one.
const SMALL: usize = 100;

/// A simulation that keeps its records.
#[pyclass(subclass, module = "stickslip._stickslip")]
pub struct Simulation {
    engine: stickslip::simulation::Simulation,
    scene: Arc<stickslip::scene::Scene>,
    name: String,
    layout: TrajectoryLayout,
    /// Rows of the trajectory; shared with runs that were handed out, and copied only if those are still alive.
    rows: Arc<Vec<f64>>,
    every: u64,
    recording: bool,
    /// Steps since the last row that was kept.
    unkept: u64,
    /// The row of the last step, where that was made by the simulation this one is a copy of.
    inherited: Option<Vec<f64>>,
    driven: bool,
    raised: Raised,
    end: RunEnd,
    seconds: f64,
}

/// What a program adds to the system of a scene.
fn drive(
    scene: &stickslip::scene::Scene,
    force: Option<(Py<PyAny>, String)>,
    controllers: Vec<(String, Py<PyAny>, f64, Vec<f64>)>,
    raised: &Raised,
) -> PyResult<Drive> {
    let mut drive = Drive::default();
    if let Some((function, depends)) = force {
        let dependence = match depends.as_str() {
            "time" => ForceDependence::Time,
            "state" => ForceDependence::State,
            other => {
                let message = format!("force_depends_on is `{other}`, expected `time` or `state`");
                return Err(PyValueError::new_err(message));
            }
        };
        drive.force = Some(Arc::new(PythonForce {
            function,
            dependence,
            raised: raised.clone(),
            known: Known::default(),
            arrays: Default::default(),
        }));
    }
    if controllers.is_empty() {
        return Ok(drive);
    }
    let system = scene.system().map_err(|e| scene_error(&e))?;
    let plain = |name: &String| name.trim_end_matches('\'').to_string();
    let outputs: Vec<String> = system.velocity_names().iter().map(plain).collect();
    for (name, function, period, state) in controllers {
        if !(period > 0.0 && period.is_finite()) {
            let message = format!("the period of `{name}` is {period}, expected a positive number");
            return Err(PyValueError::new_err(message));
        }
        drive.controllers.push(Arc::new(PythonController {
            name,
            function,
            period,
            state,
            outputs: outputs.clone(),
            raised: raised.clone(),
        }));
    }
    Ok(drive)
}

impl Simulation {
    /// Enters the record of the last step.
    fn keep(&mut self, always: bool) {
        self.inherited = None;
        if !self.recording {
            return;
        }
        self.unkept += 1;
        if always || self.unkept >= self.every {
            self.unkept = 0;
            self.layout
                .fill(self.engine.record(), Arc::make_mut(&mut self.rows));
        }
    }

    /// Steps until a time or for a number of steps; a signal or an exception of a force ends it between two steps.
    fn proceed(&mut self, until: f64, mut steps: u64) -> PyResult<RunEnd> {
        let began = Instant::now();
        let (mut looked, mut count) = (Instant::now(), 0u32);
        let nearly = until - 1e-9 * self.scene.settings.step;
        let (mut end, mut error) = (RunEnd::Finished, None);
        while steps > 0 && self.engine.state().t < nearly {
            let t = self.engine.state().t;
            let outcome = self.engine.step_towards(until).outcome;
            if let Some(raised) = self.raised.take() {
                (end, error) = (RunEnd::Interrupted, Some(raised));
                break;
            }
            if outcome.is_fatal() {
                end = RunEnd::Stopped { t, outcome };
                break;
            }
            self.keep(self.engine.state().t >= nearly);
            steps -= 1;
            count = count.wrapping_add(1);
            if count.is_multiple_of(CLOCK_EVERY) && looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    (end, error) = (RunEnd::Interrupted, Some(signal));
                    break;
                }
            }
        }
        if end == RunEnd::Finished && self.engine.state().t < nearly {
            end = RunEnd::Interrupted;
        }
        if end == RunEnd::Finished && until.is_finite() {
            // The end of a run closes its account of the end velocity, too.
            end = self.engine.run_until(until, |_| ControlFlow::Continue(()));
        }
        self.end = end;
        self.seconds += began.elapsed().as_secs_f64();
        error.map_or(Ok(end), Err)
    }

    fn last_row(&self) -> Vec<f64> {
        if let Some(row) = &self.inherited {
            return row.clone();
        }
        let mut row = Vec::new();
        self.layout.fill(self.engine.record(), &mut row);
        row
    }

    fn stopped(&self, t: f64) -> PyErr {
        let reason = self.summed_up().reason;
        run_error(format!("stopped at t = {t}: {reason}"))
    }

    fn summed_up(&self) -> RunSummary {
        let settings = self.scene.run_settings(&self.name);
        // Steps may have gone on beyond the end of the scene.
        let until = self.engine.state().t.max(self.scene.settings.until);
        let mut facts = self.scene.facts_until(self.engine.system(), until);
        if self.driven {
            let why = "a force or a controller is a Python function".to_string();
            facts.forces = (None, why.clone());
            facts.forces_locally = (None, why);
            facts.analytic = None;
            facts.present = None;
        }
        RunSummary::new(&self.engine, (settings, &facts), self.end, self.seconds)
    }
}

#[pymethods]
impl Simulation {
    /// The simulation of a scene at its start.
    #[new]
    #[pyo3(signature = (scene, force = None, controllers = Vec::new(), record = true))]
    fn new(
        py: Python<'_>,
        scene: PyRef<'_, Scene>,
        force: Option<(Py<PyAny>, String)>,
        controllers: Vec<(String, Py<PyAny>, f64, Vec<f64>)>,
        record: bool,
    ) -> PyResult<Self> {
        let raised = Raised::default();
        let inner = scene.scene.clone();
        let drive = drive(&inner, force, controllers, &raised)?;
        let driven = !drive.is_empty();
        let engine = detached(py, || inner.driven_simulation(drive));
        if let Some(error) = raised.take() {
            return Err(error);
        }
        let engine = engine.map_err(|e| scene_error(&e))?;
        let layout = engine.trajectory_layout();
        let mut rows = Vec::new();
        if record {
            layout.fill(engine.record(), &mut rows);
        }
        Ok(Self {
            layout,
            rows: Arc::new(rows),
            every: inner.settings.every.max(1),
            recording: record,
            unkept: 0,
            inherited: None,
            driven,
            raised,
            end: RunEnd::Interrupted,
            seconds: 0.0,
            engine,
            scene: inner,
            name: scene.name.clone(),
        })
    }

    /// One step; returns the time it leads to. A step that cannot be made raises `RunError` and changes nothing.
    ///
    /// >>> import stickslip
    /// >>> sim = stickslip.scene("sliding-block").simulation()
    /// >>> sim.step()
    /// 0.001
    fn step(&mut self, py: Python<'_>) -> PyResult<f64> {
        let before = self.engine.state().t;
        let outcome = if self.driven || self.engine.state().q.len() < SMALL {
            self.engine.step_towards(f64::INFINITY).outcome
        } else {
            let engine = &mut self.engine;
            detached(py, || engine.step_towards(f64::INFINITY).outcome)
        };
        if self.raised.is_set()
            && let Some(error) = self.raised.take()
        {
            return Err(error);
        }
        if outcome.is_fatal() {
            self.end = RunEnd::Stopped { t: before, outcome };
            return Err(self.stopped(before));
        }
        self.end = RunEnd::Interrupted;
        self.keep(false);
        Ok(self.engine.state().t)
    }

    /// Some steps at once, while other threads have the interpreter; returns the time they lead to. Ctrl-C ends it between two
    /// steps.
    ///
    /// >>> import stickslip
    /// >>> sim = stickslip.scene("sliding-block").simulation()
    /// >>> round(sim.advance(100), 9)
    /// 0.1
    fn advance(&mut self, py: Python<'_>, steps: u64) -> PyResult<f64> {
        let end = match self.driven {
            true => self.proceed(f64::INFINITY, steps)?,
            false => detached(py, || self.proceed(f64::INFINITY, steps))?,
        };
        match end {
            RunEnd::Stopped { t, .. } => Err(self.stopped(t)),
            _ => Ok(self.engine.state().t),
        }
    }

    /// Steps until a time, or to the end of the scene.
    #[pyo3(signature = (until = None))]
    #[pyo3(name = "_run_until")]
    fn run_until(&mut self, py: Python<'_>, until: Option<f64>) -> PyResult<()> {
        let until = until.unwrap_or(self.scene.settings.until);
        if !until.is_finite() {
            return Err(PyValueError::new_err("the end time is not finite"));
        }
        match self.driven {
            true => self.proceed(until, u64::MAX)?,
            false => detached(py, || self.proceed(until, u64::MAX))?,
        };
        Ok(())
    }

    /// Time.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("sliding-block").simulation().t
    /// 0.0
    #[getter]
    fn t(&self) -> f64 {
        self.engine.state().t
    }

    /// Coordinates, a copy that does not change with the simulation.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("bouncing-ball").simulation().q.tolist()
    /// [0.4]
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.engine.state().q.clone())
    }

    /// Velocity, a copy that does not change with the simulation.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("bouncing-ball").simulation().v.tolist()
    /// [0.0]
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.engine.state().v.clone())
    }

    /// Steps made.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("bouncing-ball").simulation().steps
    /// 0
    #[getter]
    fn steps(&self) -> u64 {
        self.engine.steps()
    }

    /// Whether a force or a controller is a Python function.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("bouncing-ball").simulation(force=lambda t, q, v: 0.0).driven
    /// True
    #[getter]
    fn driven(&self) -> bool {
        self.driven
    }

    /// Names of the columns of the trajectory.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("bouncing-ball").simulation().columns[:4]
    /// ['t', 'dt', 'y', 'v_y']
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.layout.columns().to_vec()
    }

    /// What the user should know before the run.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("bouncing-ball").simulation().warnings
    /// []
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.engine.warnings()
    }

    /// The row of the last step, as in the trajectory.
    #[pyo3(name = "_row")]
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.last_row())
    }

    /// Names of the contact points, and for each first column and number of rows.
    #[pyo3(name = "_contact_names")]
    fn contact_names(&self) -> Vec<String> {
        self.engine.contact_names()
    }

    /// Contacts that are present in the last step of a world: bodies, gap, normal and impulse.
    #[pyo3(name = "_present_now")]
    fn present<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let record = self.engine.record();
        let mut found = Vec::new();
        for contact in &record.present {
            let impulse = array(py, contact.impulse.to_vec())?;
            let velocity = array(py, contact.velocity.to_vec())?;
            let place = array(py, contact.place.to_vec())?;
            let normal = array(py, contact.normal.to_vec())?;
            let owners = contact.key.owners;
            let mode = contact.mode.code();
            let all = (owners, contact.gap, mode, place, normal, impulse, velocity);
            found.push(all.into_pyobject(py)?);
        }
        Ok(found)
    }

    /// The rows kept so far, shared without a copy.
    #[pyo3(name = "_rows")]
    fn rows(&self) -> Numbers {
        Numbers::new(self.rows.clone())
    }

    /// The summary as JSON.
    #[pyo3(name = "_summary_json")]
    fn summary_json(&self) -> String {
        // Plain numbers, words and lists always become JSON.
        serde_json::to_string(&self.summed_up()).unwrap_or_default()
    }

    /// Goes on where another simulation of the same scene is, with its rows.
    #[pyo3(name = "_take_over")]
    fn take_over(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        let kept: Checkpoint = other.engine.checkpoint();
        self.engine.restore(kept).map_err(run_error)?;
        self.inherited = Some(other.last_row());
        self.rows = other.rows.clone();
        self.unkept = other.unkept;
        self.end = other.end;
        self.seconds = other.seconds;
        Ok(())
    }
}
