//! The columns of a trajectory, thinned while they are read so that memory stays bounded.

use std::collections::BTreeSet;
use std::path::Path;

use stickslip::records::{TrajectoryFileError, TrajectoryReader};

/// Trajectories up to this many rows are kept whole, if they are not wide.
const WHOLE: u64 = 8000;
/// Longer ones are cut into this many stretches.
const STRETCHES: u64 = 2000;
/// Most numbers that are kept: 100 MB.
const NUMBERS: u64 = 12_500_000;

/// Columns of a trajectory.
///
/// Of each stretch of a long trajectory the first and last row are kept, and those in which some
/// column is least or greatest: no peak of any column is lost, and all columns stay rows of one
/// instant. Of wide trajectories (meshes) the peaks are those of as many columns as memory allows, from the last: energies,
/// accounts and contacts come before nodes.
#[derive(Clone, Debug, Default)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    /// Reads the rows of a trajectory file whose time lies in a window.
    pub fn read(path: &Path, (from, to): (f64, f64)) -> Result<Self, TrajectoryFileError> {
        let mut reader = TrajectoryReader::open(path)?;
        let names = reader.columns().to_vec();
        let width = names.len() as u64;
        let time = names.iter().position(|name| name == "t");
        let mut table = Self {
            columns: vec![Vec::new(); names.len()],
            names,
        };
        let mut row = Vec::new();
        // A window is counted first, so that a short one is seen in full.
        let rows = if from > f64::NEG_INFINITY || to < f64::INFINITY {
            let mut inside = 0;
            let mut count = TrajectoryReader::open(path)?;
            while count.next_row(&mut row)? {
                inside += u64::from(time.is_none_or(|k| (from..=to).contains(&row[k])));
            }
            inside
        } else {
            reader.rows()
        };
        let room = (NUMBERS / width.max(1)).max(16);
        let stretches = STRETCHES.min(room / 8).max(2);
        let length = match rows {
            rows if rows <= WHOLE.min(room) => 1,
            rows => rows.div_ceil(stretches) as usize,
        };
        // First, last, and two rows for each column whose peaks are kept.
        let peaks = ((room / stretches).saturating_sub(2) / 2) as usize;
        let mut stretch: Vec<Vec<f64>> = Vec::new();
        while reader.next_row(&mut row)? {
            if time.is_some_and(|k| !(from..=to).contains(&row[k])) {
                continue;
            }
            stretch.push(row.clone());
            if stretch.len() == length {
                table.keep(&stretch, peaks);
                stretch.clear();
            }
        }
        table.keep(&stretch, peaks);
        Ok(table)
    }

    fn keep(&mut self, stretch: &[Vec<f64>], peaks: usize) {
        if stretch.is_empty() {
            return;
        }
        let mut rows = BTreeSet::from([0, stretch.len() - 1]);
        if stretch.len() > 2 {
            for column in (0..self.columns.len()).rev().take(peaks) {
                let by_value =
                    |a: &usize, b: &usize| stretch[*a][column].total_cmp(&stretch[*b][column]);
                rows.extend((0..stretch.len()).min_by(by_value));
                rows.extend((0..stretch.len()).max_by(by_value));
            }
        }
        for row in rows {
            for (column, value) in self.columns.iter_mut().zip(&stretch[row]) {
                column.push(*value);
            }
        }
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let index = self.names.iter().position(|other| other == name)?;
        Some(&self.columns[index])
    }

    /// `count` columns side by side from the one with a name.
    pub fn columns_from(&self, name: &str, count: usize) -> Option<&[Vec<f64>]> {
        let index = self.names.iter().position(|other| other == name)?;
        self.columns.get(index..index + count)
    }

    /// Times.
    pub fn times(&self) -> &[f64] {
        self.column("t").unwrap_or_default()
    }

    /// Names of the columns that end in `.` and the given word, without that ending.
    pub fn owners(&self, word: &str) -> Vec<&str> {
        let names = self.names.iter();
        names
            .filter_map(|name| name.strip_suffix(word)?.strip_suffix('.'))
            .collect()
    }

    /// Names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The row nearest to a time.
    pub fn row_at(&self, t: f64) -> usize {
        let times = self.times();
        let after = times.partition_point(|&other| other < t);
        match (after.checked_sub(1), times.get(after)) {
            (Some(before), Some(next)) if t - times[before] <= next - t => before,
            (_, Some(_)) => after,
            (before, None) => before.unwrap_or(0),
        }
    }

    /// Pairs of two columns.
    pub fn curve(&self, x: &str, y: &str) -> Vec<[f64; 2]> {
        let (x, y) = (self.column(x), self.column(y));
        let pairs = x.unwrap_or_default().iter().zip(y.unwrap_or_default());
        pairs.map(|(&x, &y)| [x, y]).collect()
    }
}
