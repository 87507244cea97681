//! The picture of a run folder.

use std::path::Path;

use thiserror::Error;

use crate::records::{TrajectoryFileError, TrajectoryReader};
use crate::scene::{SceneError, SceneRun, SceneRunError};

use super::{ViewBuilder, ViewData, ViewOptions};

/// Why a picture of a run folder could not be had.
#[derive(Debug, Error)]
pub enum ViewError {
    /// The folder could not be read.
    #[error(transparent)]
    Folder(#[from] SceneRunError),
    /// Its tables could not be read.
    #[error(transparent)]
    Table(#[from] TrajectoryFileError),
    /// The scene could not be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The folder holds no step.
    #[error("{path}: the trajectory has no rows")]
    Empty {
        /// The folder.
        path: String,
    },
}

impl ViewData {
    /// Reads a run, finished or not.
    pub fn of_folder(path: &Path, options: &ViewOptions) -> Result<Self, ViewError> {
        let manifest = SceneRun::read_manifest(path)?;
        let scene = SceneRun::read_scene(path)?;
        let mut trajectory = TrajectoryReader::open(&path.join("trajectory.npy"))?;
        if trajectory.rows() == 0 {
            let path = path.display().to_string();
            return Err(ViewError::Empty { path });
        }
        let columns = trajectory.columns().to_vec();
        let mut builder = ViewBuilder::new(&scene, &manifest.scene, &columns, options)?;
        let open = |name: &str| {
            let file = path.join(name);
            file.exists()
                .then(|| TrajectoryReader::open(&file))
                .transpose()
        };
        let mut bodies = open("bodies.npy")?;
        let mut contacts = ContactFile {
            reader: open("contacts.npy")?,
            row: Vec::new(),
        };
        let (mut row, mut body_row, mut contact_rows) = (Vec::new(), Vec::new(), Vec::new());
        while trajectory.next_row(&mut row)? {
            if let Some(bodies) = &mut bodies {
                bodies.next_row(&mut body_row)?;
            }
            contacts.read_step(row[0], &mut contact_rows)?;
            builder.push(&row, &body_row, &contact_rows);
        }
        let summary = SceneRun::read_summary(path)?;
        let tree = SceneRun::read_branches(path)?;
        Ok(builder.finish(summary.as_ref(), tree.as_ref()))
    }
}

/// The rows of `contacts.npy`, in the order of time.
struct ContactFile {
    reader: Option<TrajectoryReader>,
    /// A row that belongs to a later step.
    row: Vec<f64>,
}

impl ContactFile {
    /// All rows of the step that ends at time `t`.
    fn read_step(&mut self, t: f64, out: &mut Vec<f64>) -> Result<(), TrajectoryFileError> {
        out.clear();
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        loop {
            if self.row.is_empty() && !reader.next_row(&mut self.row)? {
                self.row.clear();
                return Ok(());
            }
            // The time of a contact is that of its step, to the bit.
            if self.row[1] > t {
                return Ok(());
            }
            if self.row[1] == t {
                out.extend_from_slice(&self.row);
            }
            self.row.clear();
        }
    }
}
