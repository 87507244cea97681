//! Case files.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::inputs::prune;

/// Why a case file was refused.
#[derive(Debug, Error)]
pub enum CaseFileError {
    /// The file could not be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not JSON, or lacks the list `cases`.
    #[error("{path}: {source}")]
    Parse {
        /// The file.
        path: String,
        /// What the parser said, with line and column.
        source: serde_json::Error,
    },
}

/// Whether a value belongs to a scheme or to the continuous motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseKind {
    /// Algebra: one step, one impact, or a scheme with the given step.
    #[default]
    Step,
    /// Value of the continuous-time motion.
    Motion,
}

/// Tolerances by dotted path; the longest matching prefix wins.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct Tolerances {
    /// Where nothing else matches.
    pub default: f64,
    /// By prefix.
    pub keys: BTreeMap<String, f64>,
    /// Not compared.
    pub skip: Vec<String>,
    /// Zero up to rounding.
    pub roundoff: Vec<String>,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self {
            default: 1e-8,
            keys: BTreeMap::new(),
            skip: Vec::new(),
            roundoff: Vec::new(),
        }
    }
}

/// Errors of the plain algorithm at several step counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Sweep {
    #[serde(rename = "N")]
    pub steps: Vec<usize>,
    #[serde(rename = "err")]
    pub errors: Vec<f64>,
}

/// One case.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Name inside its file.
    #[serde(default)]
    pub id: Value,
    /// Family; empty where the file gives it by its name.
    #[serde(default)]
    pub family: String,
    /// Kind.
    #[serde(default)]
    pub kind: CaseKind,
    /// Parameters.
    pub params: Value,
    /// Expected values: compared, never used to compute.
    pub(super) expected: Value,
    /// Tolerances.
    #[serde(default)]
    pub tol: Tolerances,
    /// Paths of expected values that are inputs of their row.
    #[serde(default)]
    pub given: Vec<String>,
    #[serde(default)]
    pub(super) sweep: Option<Sweep>,
}

impl Case {
    /// The identifier as text.
    pub fn name(&self) -> String {
        match &self.id {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The inputs among the expected values: rows of `given` and queries kept under `tol.skip`.
    pub(super) fn given_values(&self) -> Value {
        prune(
            &self.expected,
            &[self.given.as_slice(), &self.tol.skip].concat(),
        )
    }
}

/// A file of cases; a case that cannot be read stays in the list with the reason.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// Name shown in the report.
    pub name: String,
    pub(super) cases: Vec<Result<Case, (String, String)>>,
}

#[derive(Deserialize)]
struct RawFile {
    #[serde(default)]
    name: String,
    cases: Vec<Value>,
}

impl CaseFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, CaseFileError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| CaseFileError::Read {
            path: shown.clone(),
            source,
        })?;
        let name = path
            .file_name()
            .map_or(shown, |name| name.to_string_lossy().into_owned());
        Self::parse(&name, &text)
    }

    /// Parses the text of a file.
    pub fn parse(name: &str, text: &str) -> Result<Self, CaseFileError> {
        let raw: RawFile = serde_json::from_str(text).map_err(|source| CaseFileError::Parse {
            path: name.to_string(),
            source,
        })?;
        let cases = raw
            .cases
            .into_iter()
            .map(|value| {
                let id = value.get("id").map_or(String::new(), |id| {
                    id.as_str().map_or_else(|| id.to_string(), String::from)
                });
                let case: Result<Case, _> = serde_json::from_value(value);
                let mut case = case.map_err(|error| (id, error.to_string()))?;
                if case.family.is_empty() {
                    case.family.clone_from(&raw.name);
                }
                Ok(case)
            })
            .collect();
        Ok(Self {
            name: name.to_string(),
            cases,
        })
    }

    /// The project's own copy of all cases.
    pub fn embedded() -> Vec<Self> {
        EMBEDDED
            .iter()
            .map(|(name, text)| {
                // The copies are part of the crate; a test parses them all.
                Self::parse(name, text).expect("an embedded case file parses")
            })
            .collect()
    }

    /// Leaves out the cases of families that this version does not compute; returns their number.
    pub fn leave_out_unknown_families(&mut self) -> usize {
        let before = self.cases.len();
        self.cases.retain(|case| {
            case.as_ref()
                .map_or(true, |case| super::families::family(&case.family).is_some())
        });
        before - self.cases.len()
    }

    /// The cases that could be read.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter_map(|case| case.as_ref().ok())
    }
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../cases/", $name)))),*]
    };
}

const EMBEDDED: &[(&str, &str)] = embedded![
    "corner.json",
    "energy-moreau-jean.json",
    "friction_sets.json",
    "frictionless.json",
    "impact_laws.json",
    "kane.json",
    "p4_step.json",
    "painleve_bar.json",
    "positions.json",
    "rod3.json",
    "schatzman.json",
    "sweeping-delay.json",
    "theorem1.json",
    "wedged_bars.json",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_case_is_read() {
        let files = CaseFile::embedded();
        assert_eq!(files.len(), EMBEDDED.len());
        for file in &files {
            for case in &file.cases {
                let case = case
                    .as_ref()
                    .unwrap_or_else(|e| panic!("{}: {e:?}", file.name));
                assert!(!case.family.is_empty(), "{} {}", file.name, case.name());
            }
        }
    }

    #[test]
    fn a_malformed_case_fails_alone() {
        let text =
            r#"{"name": "f", "cases": [{"id": 1}, {"id": "b", "params": {}, "expected": {}}]}"#;
        let file = CaseFile::parse("x", text).unwrap();
        assert_eq!(file.cases[0].as_ref().unwrap_err().0, "1");
        assert_eq!(file.cases[1].as_ref().unwrap().family, "f");
        assert!(CaseFile::parse("x", "{").is_err());
    }
}
