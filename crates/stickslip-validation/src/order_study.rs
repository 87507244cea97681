//! Errors of a time-stepping scheme at three steps, for values of the continuous motion.

use serde::Serialize;

use super::comparison::compare;
use super::{Answer, Case, CaseError, Quantity, RoundoffRule};

/// Errors at three steps and the order they fall with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OrderStudy {
    /// Number of steps per unit of the case, relative to the coarsest run: 1, 4, 16.
    pub refinements: Vec<usize>,
    /// Largest error of the numbers at each refinement.
    pub errors: Vec<f64>,
    /// Order observed between the first and the last run.
    pub observed: Option<f64>,
    /// Order of the scheme through impacts and friction.
    pub order: f64,
    /// Whether the errors fall at that order.
    pub pass: bool,
    /// Why the order means nothing here; it is not judged then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Whether the errors of numbers fall at that order, whatever words and counts say.
    #[serde(skip)]
    falls: bool,
    /// Errors of each quantity at each refinement.
    pub quantities: Vec<(String, Vec<Option<f64>>)>,
}

/// Refinements of the three runs.
const REFINEMENTS: [usize; 3] = [1, 4, 16];
/// A constant that wanders by this factor from run to run still counts as first order: the place of
/// an impact inside its step is arbitrary.
const SLACK: f64 = 3.0;

impl OrderStudy {
    /// One line of text.
    pub fn summary(&self) -> String {
        let errors: Vec<String> = self.errors.iter().map(|e| format!("{e:.2e}")).collect();
        format!(
            "order: errors {} at refinements {:?}, observed {}, scheme {}: {}",
            errors.join(", "),
            self.refinements,
            self.observed.map_or("-".into(), |x| format!("{x:.2}")),
            self.order,
            match (&self.not_judged, self.pass) {
                (Some(why), _) => format!("not judged: {why}"),
                (None, true) => "pass".to_string(),
                (None, false) => "FAIL".to_string(),
            }
        )
    }

    /// The study of a motion that is known exactly: numbers alone have an order, and where one of them jumps at the end the steps
    /// say nothing of it.
    pub(super) fn beside_exact(self, jumps_at_end: bool) -> Self {
        let why = "the motion has an impact at its end, where velocities jump";
        Self {
            pass: self.falls,
            not_judged: jumps_at_end.then(|| why.to_string()),
            ..self
        }
    }

    /// Runs the scheme at three steps; returns the study and the comparison of the finest run.
    pub(super) fn run(
        case: &Case,
        rule: RoundoffRule,
        order: f64,
        mut at: impl FnMut(usize) -> Result<Answer, CaseError>,
    ) -> Result<(Self, Vec<Quantity>), CaseError> {
        let mut runs = Vec::new();
        for refinement in REFINEMENTS {
            runs.push(compare(case, &at(refinement)?, rule));
        }
        let largest =
            |rows: &[Quantity]| rows.iter().filter_map(|row| row.error).fold(0.0, f64::max);
        let errors: Vec<f64> = runs.iter().map(|rows| largest(rows)).collect();
        let finest = REFINEMENTS[2] as f64;
        let allowed = (0..2)
            .map(|i| errors[i] * (REFINEMENTS[i] as f64 / finest).powf(order))
            .fold(0.0, f64::max);
        // Words, counts and lengths of lists of the finest run must agree whatever the step.
        let discrete = runs[2].iter().all(|row| row.error.is_some() || row.pass);
        let within = runs[2].iter().all(|row| row.pass);
        let observed = (errors[0] > 0.0 && errors[2] > 0.0)
            .then(|| (errors[0] / errors[2]).ln() / finest.ln());
        let quantities = runs[2]
            .iter()
            .map(|row| {
                let errors = runs.iter().map(|rows| {
                    let same = rows.iter().find(|other| other.name == row.name);
                    same.and_then(|other| other.error)
                });
                (row.name.clone(), errors.collect())
            })
            .collect();
        let falls = within || errors[2] <= SLACK * allowed;
        let study = Self {
            refinements: REFINEMENTS.to_vec(),
            pass: within || (discrete && falls),
            not_judged: None,
            falls,
            errors,
            observed,
            order,
            quantities,
        };
        // The last run is there: three were pushed.
        let finest = runs.pop().unwrap_or_default();
        Ok((study, finest))
    }
}
