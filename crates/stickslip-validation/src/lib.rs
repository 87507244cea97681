//! Reference cases: the engine computes what others computed before, and is compared.
//!
//! A case file lists cases `{id, family, kind, params, expected, tol}` (format and origin:
//! `crates/stickslip-validation/cases/README.md`). A family is a function that builds systems through the
//! public face of the library and returns an [`Answer`], a tree with the shape of `expected`. It
//! receives the parameters and the rows marked as inputs; the expected values stay with the
//! comparison and cannot be read by a family.
//!
//! ```
//! use stickslip_validation::{CaseFile, CaseFileError, run};
//!
//! let file = CaseFile::parse("mine.json", r#"{"name": "impact-laws", "cases": [{"id": "ball", "kind": "step",
//!     "params": {"M": [[2.0]], "D": [[1.0]], "v_minus": [-1.0], "e": [0.5]},
//!     "expected": {"newton": {"v_plus": [0.5], "KE_change": -0.75}}}]}"#)?;
//! let report = run(&[file]);
//! assert_eq!((report.passed, report.failed), (1, 0));
//! # Ok::<(), CaseFileError>(())
//! ```

#[macro_use]
mod answer;
mod case_error;
mod case_file;
mod comparison;
mod engine;
mod families;
mod inputs;
mod order_study;
mod reference;
mod report;
mod verdict;

pub use answer::Answer;
pub use case_error::CaseError;
pub use case_file::{Case, CaseFile, CaseFileError, CaseKind, Tolerances};
pub use comparison::RoundoffRule;
pub use engine::CaseSolver;
pub use families::{Evaluator, Family, family, family_names};
pub use inputs::{CaseInput, Inputs};
pub use order_study::OrderStudy;
pub use report::{CaseReport, Quantity, Report};
pub use verdict::{run, run_case, run_case_with, run_family};
