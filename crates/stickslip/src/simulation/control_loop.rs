//! The controllers of a run: their states, and what they hold.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::systems::{Instant, MechanicalSystem, SampledController};

/// Controllers with their states. The instants at which they sample are multiples of their period, at which steps end.
#[derive(Clone, Debug)]
pub struct ControlLoop {
    controllers: Vec<Arc<dyn SampledController>>,
    t_start: f64,
    memory: ControlMemory,
    /// First output of each controller among those held.
    first: Vec<usize>,
}

/// What a run remembers of its controllers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlMemory {
    /// State of each controller.
    pub states: Vec<Vec<f64>>,
    /// Samples each has taken.
    pub samples: Vec<u64>,
    /// Outputs of all, held since the last sample of each.
    pub held: Vec<f64>,
}

impl ControlLoop {
    /// The controllers of a system, which sample at the start; none if it has none.
    pub fn start(system: &dyn MechanicalSystem, (t, q, v): (f64, &[f64], &[f64])) -> Option<Self> {
        let controllers = system.controllers().to_vec();
        if controllers.is_empty() {
            return None;
        }
        let mut first = Vec::new();
        let mut count = 0;
        for controller in &controllers {
            first.push(count);
            count += controller.outputs().len();
        }
        let mut this = Self {
            memory: ControlMemory {
                states: controllers
                    .iter()
                    .map(|c| c.initial_state().to_vec())
                    .collect(),
                samples: vec![0; controllers.len()],
                held: vec![0.0; count],
            },
            controllers,
            t_start: t,
            first,
        };
        this.observe(t, q, v);
        Some(this)
    }

    /// The next instant at which one of them samples.
    pub fn next_sample(&self) -> f64 {
        let times = self.controllers.iter().zip(&self.memory.samples);
        times
            .map(|(controller, &k)| self.t_start + k as f64 * controller.period())
            .fold(f64::INFINITY, f64::min)
    }

    /// Lets those sample whose instant is t, to a billionth of their period.
    pub fn observe(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let at = Instant::new(t, q, v);
        for (i, controller) in self.controllers.iter().enumerate() {
            let (period, k) = (controller.period(), self.memory.samples[i]);
            if t < self.t_start + k as f64 * period - 1e-9 * period {
                continue;
            }
            let outputs = self.first[i]..self.first[i] + controller.outputs().len();
            let held = &mut self.memory.held[outputs];
            controller.sample(&at, &mut self.memory.states[i], held);
            self.memory.samples[i] += 1;
        }
    }

    /// The outputs that are held.
    pub fn held(&self) -> &[f64] {
        &self.memory.held
    }

    /// Columns of the outputs in a trajectory.
    pub fn columns(&self) -> Vec<String> {
        let names = self.controllers.iter().flat_map(|controller| {
            let outputs = controller.outputs().iter();
            outputs.map(move |output| format!("{}.{output}", controller.name()))
        });
        names.collect()
    }

    /// What to keep.
    pub fn memory(&self) -> &ControlMemory {
        &self.memory
    }

    /// Goes back to what was kept; false if it is of other controllers.
    pub fn restore(&mut self, memory: &ControlMemory) -> bool {
        let lengths = |m: &ControlMemory| -> Vec<usize> { m.states.iter().map(Vec::len).collect() };
        let fits = lengths(memory) == lengths(&self.memory)
            && memory.samples.len() == self.memory.samples.len()
            && memory.held.len() == self.memory.held.len();
        if fits {
            self.memory.clone_from(memory);
        }
        fits
    }
}
