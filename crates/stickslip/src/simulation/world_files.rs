//! The files of a world beside its trajectory: contacts, and bodies where they are many.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::records::world_rows::{
    BODY_NUMBERS, BodySelection, CONTACT_COLUMNS, FORCE_COLUMNS, fill_contacts, fill_forces,
};
use crate::records::{RowFile, RowFormat, StepRecord, TrajectoryFileError};
use crate::systems::World;
use crate::systems::world::{Dimension, ForceSums, Recording};

/// Rows of a file that a checkpoint counts, and their digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMark {
    /// Rows.
    pub rows: u64,
    /// Digest of those rows.
    pub digest: String,
}

impl FileMark {
    fn of(file: &RowFile) -> Self {
        Self {
            rows: file.rows(),
            digest: file.digest(),
        }
    }
}

/// Marks of the files of a world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldMarks {
    /// Of `contacts.npy`.
    pub contacts: Option<FileMark>,
    /// Of `bodies.npy`.
    pub bodies: Option<FileMark>,
    /// Of `forces.npy`.
    #[serde(default)]
    pub forces: Option<FileMark>,
}

/// The bodies that are written, and whether they have a file of their own.
pub(super) fn selection(world: &World) -> (BodySelection, bool) {
    let bodies = world.recording.bodies(world.bodies.len());
    let own_file = bodies.len() > Recording::COLUMNS_MAX;
    let planar = world.dimension == Dimension::Plane;
    (BodySelection { bodies, planar }, own_file)
}

/// Contacts of a body in a heap, in the plane and in space: what the size of a run is estimated with.
const CONTACTS_OF_A_BODY: [usize; 2] = [2, 4];

/// Numbers that a kept step writes beside the trajectory: of bodies, and of contacts as many as a heap has.
pub(crate) fn numbers_per_row(world: &World) -> (usize, usize) {
    let (selection, own_file) = selection(world);
    let bodies = if own_file {
        BODY_NUMBERS * selection.bodies.len()
    } else {
        0
    };
    let contacts = CONTACTS_OF_A_BODY[usize::from(world.dimension == Dimension::Space)];
    let recorded = world.recording.contacts;
    let contacts = usize::from(recorded) * contacts * world.bodies.len() * CONTACT_COLUMNS.len();
    (bodies, contacts)
}

/// Writes `contacts.npy` (one row per present contact and kept step), `forces.npy` where sums are asked for and, above 256 recorded
/// bodies, `bodies.npy` (rows × bodies × 13), in step with the trajectory.
#[derive(Debug)]
pub(super) struct WorldFiles {
    contacts: Option<RowFile>,
    bodies: Option<(RowFile, BodySelection)>,
    forces: Option<(RowFile, ForceSums)>,
    buffer: Vec<f64>,
}

impl WorldFiles {
    /// Creates the files in a folder, or continues them from the marks of a checkpoint.
    pub fn open(
        path: &Path,
        world: &World,
        marks: Option<&WorldMarks>,
    ) -> Result<Self, TrajectoryFileError> {
        let open = |name: &str, format: RowFormat, mark: Option<&FileMark>| {
            let path = path.join(name);
            match marks {
                None => RowFile::create(&path, format),
                Some(_) => {
                    let rows = mark.map_or(0, |mark| mark.rows);
                    let digest = mark.map(|mark| mark.digest.as_str());
                    RowFile::resume(&path, format, rows, digest)
                }
            }
        };
        let contacts = world.recording.contacts.then(|| {
            let columns = CONTACT_COLUMNS.map(String::from).to_vec();
            let mark = marks.and_then(|marks| marks.contacts.as_ref());
            open("contacts.npy", RowFormat::Columns(columns), mark)
        });
        let forces = world.recording.forces.map(|sums| {
            let columns = FORCE_COLUMNS.map(String::from).to_vec();
            let mark = marks.and_then(|marks| marks.forces.as_ref());
            Ok((open("forces.npy", RowFormat::Columns(columns), mark)?, sums))
        });
        let (selection, own_file) = selection(world);
        let bodies = own_file.then(|| {
            let format = RowFormat::Table {
                lines: selection.bodies.len(),
                columns: BODY_NUMBERS,
            };
            let mark = marks.and_then(|marks| marks.bodies.as_ref());
            Ok((open("bodies.npy", format, mark)?, selection))
        });
        Ok(Self {
            contacts: contacts.transpose()?,
            bodies: bodies.transpose()?,
            forces: forces.transpose()?,
            buffer: Vec::new(),
        })
    }

    /// Appends a step.
    pub fn push(&mut self, record: &StepRecord) -> Result<(), TrajectoryFileError> {
        if let Some(file) = &mut self.contacts {
            self.buffer.clear();
            fill_contacts(record, &mut self.buffer);
            file.push(&self.buffer)?;
        }
        if let Some((file, sums)) = &mut self.forces {
            self.buffer.clear();
            fill_forces(record, *sums == ForceSums::Bodies, &mut self.buffer);
            file.push(&self.buffer)?;
        }
        if let Some((file, selection)) = &mut self.bodies {
            self.buffer.clear();
            selection.fill_table(record, &mut self.buffer);
            file.push(&self.buffer)?;
        }
        Ok(())
    }

    /// Makes all rows so far durable.
    pub fn commit(&mut self) -> Result<(), TrajectoryFileError> {
        if let Some(file) = &mut self.contacts {
            file.commit()?;
        }
        if let Some((file, _)) = &mut self.bodies {
            file.commit()?;
        }
        if let Some((file, _)) = &mut self.forces {
            file.commit()?;
        }
        Ok(())
    }

    /// What a checkpoint says of the files.
    pub fn marks(&self) -> WorldMarks {
        WorldMarks {
            contacts: self.contacts.as_ref().map(FileMark::of),
            bodies: self.bodies.as_ref().map(|(file, _)| FileMark::of(file)),
            forces: self.forces.as_ref().map(|(file, _)| FileMark::of(file)),
        }
    }
}
