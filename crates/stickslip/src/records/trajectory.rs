//! A trajectory in memory.

use super::StepRecord;

/// Records of a run kept in memory, for tests, studies and short runs; long runs stream to a
/// [`super::TrajectoryFile`].
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    records: Vec<StepRecord>,
}

impl Trajectory {
    /// Appends a copy of the record.
    pub fn push(&mut self, record: &StepRecord) {
        self.records.push(record.clone());
    }

    /// All records, oldest first.
    pub fn records(&self) -> &[StepRecord] {
        &self.records
    }

    /// Last record.
    pub fn last(&self) -> Option<&StepRecord> {
        self.records.last()
    }
}
