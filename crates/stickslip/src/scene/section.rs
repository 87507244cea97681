//! Poincaré sections of a run: the state at the instants of a period, or where an expression passes zero.

use std::ops::ControlFlow;

use crate::records::StepRecord;
use crate::simulation::studies::sweep::SweepPoint;
use crate::simulation::{RunEnd, RunSummary, Simulation};

use crate::systems::MechanicalSystem;

use super::Scene;
use super::row_expression::RowExpression;
use super::scene::Mechanics;
use super::scene_sweep::first_line;

/// When a run is looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum SectionRule {
    /// At the instants phase + k·period, where steps are made to end.
    Period {
        /// Time between looks, positive.
        period: f64,
        /// First look.
        phase: f64,
    },
    /// Where an expression over the columns passes zero.
    Crossing {
        /// The expression.
        expression: String,
        /// In which direction.
        direction: Direction,
    },
}

/// In which direction a section is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From below.
    Up,
    /// From above.
    Down,
    /// Both.
    Both,
}

/// A section of a run.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::scene::SectionRule;
///
/// let scene = Scene::parse(SourceText::new("spring.toml", r#"
///     title = "Spring"
///     until = 4
///     [system]
///     coordinates = ["x"]
///     kinetic_energy = "x'^2/2"
///     potential = "pi^2*x^2/2"
///     [initial]
///     x = 1
/// "#))?;
/// // It swings with the period 2 s: half a period turns it over.
/// let rule = SectionRule::Period { period: 1.0, phase: 0.0 };
/// let section = scene.section(&rule, &["x".to_string()], (0, 3))?;
/// let x: Vec<f64> = section.points.iter().map(|point| point[0]).collect();
/// assert!((x[0] - 1.0).abs() < 1e-4 && (x[1] + 1.0).abs() < 1e-4 && (x[2] - 1.0).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What was read at every point.
    pub columns: Vec<String>,
    /// Points, one row each.
    pub points: Vec<Vec<f64>>,
    /// Whether the run was certified.
    pub certified: bool,
    /// Why not, or why it stopped; empty where there is nothing to say.
    pub reason: String,
}

impl Scene {
    /// The names of what a section shows if nothing else is asked for: time, coordinates and velocities.
    #[must_use]
    pub fn section_columns(&self) -> Vec<String> {
        let mut columns = vec!["t".to_string()];
        columns.extend(self.coordinate_names());
        match &self.mechanics {
            Mechanics::World(model) => {
                columns.extend(model.world.velocity_names().iter().cloned());
            }
            Mechanics::Body(_) => {
                let names = ["vx", "vy", "vz", "wx", "wy", "wz"];
                columns.extend(names.map(|name| format!("v_{name}")));
            }
            Mechanics::Generalized(_) | Mechanics::Elastic(_) => {
                let coordinates = self.coordinate_names().into_iter();
                columns.extend(coordinates.map(|name| name + "_dot"));
            }
        }
        columns
    }

    /// The section of the run of the scene: the first `most` points after the first `skip`.
    ///
    /// # Behaviour to know
    /// A crossing is placed on the straight line between the steps before and after it, an error of the square of the step; in a
    /// step with an impulse the velocities are those after it.
    pub fn section(
        &self,
        rule: &SectionRule,
        columns: &[String],
        (skip, most): (usize, usize),
    ) -> Result<Section, String> {
        let mut run = self.simulation().map_err(|e| first_line(&e))?;
        let layout = run.trajectory_layout();
        let names = layout.columns().to_vec();
        let parse = |text: &String| RowExpression::parse(text, &names, &self.parameters);
        let shown: Result<Vec<RowExpression>, String> = columns.iter().map(parse).collect();
        let mut taken = Taken {
            shown: shown?,
            registers: Vec::new(),
            seen: 0,
            limits: (skip, most),
            points: Vec::new(),
        };
        let mut row = Vec::new();
        let fill = |record: &StepRecord, row: &mut Vec<f64>| {
            row.clear();
            layout.fill(record, row);
        };
        let until = self.settings.until;
        let mut end = RunEnd::Finished;
        match rule {
            SectionRule::Period { period, phase } => {
                let instants = (0u64..).map(|k| phase + k as f64 * period);
                for t in instants.take_while(|&t| t <= until * (1.0 + 1e-12)) {
                    end = run.run_until(t, |_| ControlFlow::Continue(()));
                    if end != RunEnd::Finished || taken.full() {
                        break;
                    }
                    fill(run.record(), &mut row);
                    taken.enter(&row);
                }
            }
            SectionRule::Crossing {
                expression,
                direction,
            } => {
                let section = RowExpression::parse(expression, &names, &self.parameters)?;
                end = crossings(&mut run, until, &names, (&section, *direction), &mut taken);
            }
        }
        let enough = taken.full();
        let facts = self.facts(run.system());
        let summary = RunSummary::new(&run, (self.run_settings(""), &facts), end, 0.0);
        Ok(Section {
            columns: columns.to_vec(),
            points: taken.points,
            certified: summary.certified && (enough || end == RunEnd::Finished),
            reason: summary.reason,
        })
    }

    /// The values of one expression at the points of a section, as a point of a sweep: NaN where there are fewer points.
    pub fn section_outcome(
        &self,
        rule: &SectionRule,
        of: &str,
        (skip, most): (usize, usize),
    ) -> Result<SweepPoint, String> {
        let section = self.section(rule, &[of.to_string()], (skip, most))?;
        let mut values: Vec<f64> = section.points.iter().map(|point| point[0]).collect();
        values.resize(most, f64::NAN);
        Ok(SweepPoint {
            values,
            certified: section.certified,
            reason: section.reason,
        })
    }
}

/// The points that are kept.
struct Taken {
    shown: Vec<RowExpression>,
    registers: Vec<f64>,
    seen: usize,
    limits: (usize, usize),
    points: Vec<Vec<f64>>,
}

impl Taken {
    fn full(&self) -> bool {
        self.points.len() >= self.limits.1
    }

    fn enter(&mut self, row: &[f64]) {
        self.seen += 1;
        if self.seen > self.limits.0 && !self.full() {
            let registers = &mut self.registers;
            let point = self.shown.iter().map(|e| e.value(row, registers)).collect();
            self.points.push(point);
        }
    }
}

fn crossings(
    run: &mut Simulation,
    until: f64,
    names: &[String],
    (section, direction): (&RowExpression, Direction),
    taken: &mut Taken,
) -> RunEnd {
    let layout = run.trajectory_layout();
    let impulses: Vec<usize> = (0..names.len())
        .filter(|&k| names[k].contains(".p_"))
        .collect();
    let velocities: Vec<usize> = (0..names.len())
        .filter(|&k| names[k].starts_with("v_") || names[k].starts_with("left_"))
        .collect();
    let (mut registers, mut before, mut row) = (Vec::new(), Vec::new(), Vec::new());
    layout.fill(run.record(), &mut before);
    let mut g0 = section.value(&before, &mut registers);
    run.run_until(until, |record| {
        row.clear();
        layout.fill(record, &mut row);
        let g1 = section.value(&row, &mut registers);
        let (up, down) = (g0 < 0.0 && g1 >= 0.0, g0 > 0.0 && g1 <= 0.0);
        let passes = match direction {
            Direction::Up => up,
            Direction::Down => down,
            Direction::Both => up || down,
        };
        if passes {
            let s = g0 / (g0 - g1);
            let mut at: Vec<f64> = before
                .iter()
                .zip(&row)
                .map(|(a, b)| a + s * (b - a))
                .collect();
            if impulses.iter().any(|&k| row[k] != 0.0) {
                for &k in &velocities {
                    at[k] = row[k];
                }
            }
            taken.enter(&at);
        }
        g0 = g1;
        std::mem::swap(&mut before, &mut row);
        if taken.full() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
}
