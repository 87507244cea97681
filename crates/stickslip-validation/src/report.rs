//! What a validation found.

use serde::Serialize;
use serde_json::Value;

use super::OrderStudy;

/// One compared quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantity {
    /// Dotted path below `expected`.
    pub name: String,
    /// Computed value; null where there is none.
    pub computed: Value,
    /// Expected value.
    pub expected: Value,
    /// `|computed − x| / max(1, |x|)` for numbers, `|computed|` over its scale where zero up to rounding is
    /// expected, null for words and missing values.
    pub error: Option<f64>,
    /// Largest error that passes; null for words.
    pub tolerance: Option<f64>,
    /// Verdict.
    pub pass: bool,
    /// Why there is no value, or by which rule a quantity outside its tolerance passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// All quantities of one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseReport {
    /// File.
    pub file: String,
    /// Family.
    pub family: String,
    /// Identifier.
    pub id: String,
    /// Whether every quantity passed and the case could be computed.
    pub pass: bool,
    /// Why the case could not be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Quantities in the order of their paths.
    pub quantities: Vec<Quantity>,
    /// Errors of the time-stepping scheme at several steps, for values of a continuous motion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderStudy>,
}

impl CaseReport {
    /// Largest error of the numbers, in units of their tolerance.
    pub fn worst(&self) -> f64 {
        self.quantities
            .iter()
            .filter_map(|q| Some(q.error? / q.tolerance?))
            .fold(0.0, f64::max)
    }

    /// Largest error of the numbers.
    pub fn worst_error(&self) -> f64 {
        self.quantities
            .iter()
            .filter_map(|q| q.error)
            .fold(0.0, f64::max)
    }
}

/// The whole validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Cases in the order of the files.
    pub cases: Vec<CaseReport>,
    /// Number of cases that passed.
    pub passed: usize,
    /// Number of cases that failed.
    pub failed: usize,
}

impl Report {
    /// Collects case reports.
    pub fn new(cases: Vec<CaseReport>) -> Self {
        let passed = cases.iter().filter(|case| case.pass).count();
        let failed = cases.len() - passed;
        Self {
            cases,
            passed,
            failed,
        }
    }

    /// Whether every case passed.
    pub fn all_passed(&self) -> bool {
        self.failed == 0
    }

    /// One row per quantity and one line per case.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let width = self
            .cases
            .iter()
            .flat_map(|case| &case.quantities)
            .map(|q| q.name.chars().count())
            .max()
            .unwrap_or(8)
            .clamp(8, 40);
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        for case in &self.cases {
            let verdict = if case.pass { "passed" } else { "FAILED" };
            line(format!(
                "{}  {}  {}: {verdict}",
                case.file, case.family, case.id
            ));
            if let Some(problem) = &case.problem {
                line(format!("  {problem}"));
            }
            if !case.quantities.is_empty() {
                line(format!(
                    "  {:<width$} {:>24} {:>24} {:>9} {:>9}  verdict",
                    "quantity", "computed", "expected", "error", "tolerance"
                ));
            }
            for q in &case.quantities {
                let number = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.2e}"));
                line(format!(
                    "  {:<width$} {:>24} {:>24} {:>9} {:>9}  {}{}",
                    q.name,
                    shown(&q.computed),
                    shown(&q.expected),
                    number(q.error),
                    number(q.tolerance),
                    if q.pass { "pass" } else { "FAIL" },
                    q.note
                        .as_ref()
                        .map_or(String::new(), |note| format!(" ({note})")),
                ));
            }
            if let Some(order) = &case.order {
                line(format!("  {}", order.summary()));
            }
        }
        line(format!("{} passed, {} failed", self.passed, self.failed));
        text
    }

    /// One line per family: cases passed and failed, largest error.
    pub fn families(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for case in &self.cases {
            if !names.contains(&case.family.as_str()) {
                names.push(&case.family);
            }
        }
        let mut text = format!(
            "{:<34} {:>6} {:>6} {:>12} {:>16}\n",
            "family", "passed", "failed", "worst error", "of its tolerance"
        );
        for name in names {
            let cases = || self.cases.iter().filter(|case| case.family == name);
            let passed = cases().filter(|case| case.pass).count();
            let worst = cases().map(CaseReport::worst_error).fold(0.0, f64::max);
            let ratio = cases().map(CaseReport::worst).fold(0.0, f64::max);
            text.push_str(&format!(
                "{name:<34} {passed:>6} {:>6} {worst:>12.2e} {ratio:>16.2e}\n",
                cases().count() - passed
            ));
        }
        text
    }
}

/// A value in at most 24 characters.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_string(),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    if text.chars().count() > 24 {
        text.chars().take(21).chain("...".chars()).collect()
    } else {
        text
    }
}
