//! A trajectory streamed to disk as one structured NumPy array.
//!
//! The file is an ordinary `.npy` file (format version 1.0; 3.0 where a name is not ASCII) whose rows are records with named
//! columns, so that `numpy.load("trajectory.npy")["y"]` reads a column. Rows are appended; the
//! number of rows in the header is written last, at every [`TrajectoryFile::commit`], so a reader
//! never sees a row that is not whole, and a run that was killed is cut back to the last commit
//! when it is resumed. Memory does not grow with the length of the run.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::world_rows::BodySelection;
use super::{Digest, RowFile, RowFormat, StepRecord, open_regular};

/// Why a trajectory file could not be opened or written.
#[derive(Debug, Error)]
pub enum TrajectoryFileError {
    /// Reading or writing failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file holds other columns than the run writes.
    #[error("{path}: the columns of this file are not those of the run")]
    OtherColumns {
        /// The file.
        path: PathBuf,
    },
    /// The file holds fewer rows than the checkpoint says.
    #[error("{path}: {found} rows, the checkpoint says {expected}")]
    TooShort {
        /// The file.
        path: PathBuf,
        /// Rows in the file.
        found: u64,
        /// Rows of the checkpoint.
        expected: u64,
    },
    /// The rows were changed after they were written.
    #[error(
        "{path}: changed since it was written: the first {rows} rows have the digest {found}, expected {expected}"
    )]
    Edited {
        /// The file.
        path: PathBuf,
        /// Rows of the checkpoint.
        rows: u64,
        /// Their digest.
        found: String,
        /// Digest the checkpoint states.
        expected: String,
    },
}

/// Most bytes of a header; the columns of a million contacts need less.
const HEADER_MAX: u32 = 1 << 28;

/// Names of the columns, which fix the width of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryLayout {
    columns: Vec<String>,
    contacts: usize,
    /// Bodies of a world.
    bodies: Option<BodySelection>,
    /// Number of columns of the projection of positions.
    moved: usize,
}

impl TrajectoryLayout {
    /// Columns for a system: `t`, the step `dt`, coordinates, velocities (`v_` and the name), left velocities
    /// (`left_`), and for each contact its gap, mode (0 open, 1 stick, 2 slip, 3 closed without
    /// friction), impulses, sliding velocities, γ and margin to the Painlevé region (NaN unless the contact is
    /// active and has friction); then energies, ledger terms summed from the start
    /// (so that a thinned file still holds the whole account), residual, the displacement by which the end position was
    /// projected (`moved_` and the name of the velocity, where `projected` names them), and further accounts.
    ///
    /// `contacts` lists name and number of rows of every contact point, `accounts` the names of
    /// [`StepRecord::accounts`].
    pub fn new(
        coordinates: &[String],
        velocities: &[String],
        contacts: &[(String, usize)],
        projected: &[String],
        accounts: &[String],
    ) -> Self {
        let mut columns = vec!["t".to_string(), "dt".to_string()];
        columns.extend(coordinates.iter().cloned());
        let plain = |name: &String| name.trim_end_matches('\'').to_string();
        columns.extend(velocities.iter().map(|name| format!("v_{}", plain(name))));
        columns.extend(
            velocities
                .iter()
                .map(|name| format!("left_{}", plain(name))),
        );
        for (name, rows) in contacts {
            columns.push(format!("{name}.gap"));
            columns.push(format!("{name}.mode"));
            for prefix in ["p", "u"] {
                columns.push(format!("{name}.{prefix}_n"));
                columns.extend((1..*rows).map(|k| format!("{name}.{prefix}_t{k}")));
            }
            columns.push(format!("{name}.gamma"));
            columns.push(format!("{name}.margin"));
        }
        let moved = projected
            .iter()
            .map(|name| format!("moved_{}", plain(name)));
        let further: Vec<String> = moved.chain(accounts.iter().cloned()).collect();
        push_account_columns(&mut columns, &further);
        make_unique(&mut columns, coordinates.len());
        Self {
            columns,
            contacts: contacts.len(),
            bodies: None,
            moved: projected.len(),
        }
    }

    /// Columns of a world: `t`, `dt`, coordinates and velocities of the selected bodies, whose names `bodies` lists, energies
    /// and account as in every run, residual, and further accounts.
    pub fn of_world(selection: BodySelection, bodies: &[String], accounts: &[String]) -> Self {
        let mut columns = vec!["t".to_string(), "dt".to_string()];
        columns.extend_from_slice(bodies);
        push_account_columns(&mut columns, accounts);
        make_unique(&mut columns, bodies.len());
        Self {
            columns,
            contacts: 0,
            bodies: Some(selection),
            moved: 0,
        }
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    fn format(&self) -> RowFormat {
        RowFormat::Columns(self.columns.clone())
    }

    /// Appends the numbers of one record to `row`.
    pub fn fill(&self, record: &StepRecord, row: &mut Vec<f64>) {
        row.push(record.t);
        row.push(record.h);
        match &self.bodies {
            Some(bodies) => bodies.fill_columns(record, row),
            None => {
                row.extend_from_slice(&record.q);
                row.extend_from_slice(&record.velocity);
                row.extend_from_slice(&record.velocity_left);
            }
        }
        for i in 0..self.contacts {
            let contact = &record.contacts[i];
            row.push(contact.gap);
            row.push(f64::from(contact.mode.code()));
            row.extend_from_slice(record.impulse(i));
            row.extend_from_slice(record.local_velocity(i));
            row.push(contact.painleve.map_or(f64::NAN, |p| p.gamma));
            row.push(contact.painleve.map_or(f64::NAN, |p| p.margin));
        }
        row.push(record.kinetic);
        row.push(record.potential);
        row.extend(record.energy_totals.terms().iter().map(|(_, value)| *value));
        row.push(record.residual);
        for i in 0..self.moved {
            row.push(record.projection.get(i).copied().unwrap_or(0.0));
        }
        row.extend_from_slice(&record.accounts);
        debug_assert_eq!(
            row.len() % self.columns.len(),
            0,
            "a record fills whole rows"
        );
    }
}

/// A trajectory file being written.
#[derive(Debug)]
pub struct TrajectoryFile {
    layout: TrajectoryLayout,
    file: RowFile,
    buffer: Vec<f64>,
}

impl TrajectoryFile {
    /// Creates the file with no rows.
    pub fn create(path: &Path, layout: TrajectoryLayout) -> Result<Self, TrajectoryFileError> {
        let file = RowFile::create(path, layout.format())?;
        Ok(Self::new(layout, file))
    }

    /// Opens an existing file to append after its first `rows` rows; later ones are cut off. With the `digest` of those
    /// rows, a file whose rows are others is refused.
    pub fn resume(
        path: &Path,
        layout: TrajectoryLayout,
        rows: u64,
        digest: Option<&str>,
    ) -> Result<Self, TrajectoryFileError> {
        let file = RowFile::resume(path, layout.format(), rows, digest)?;
        Ok(Self::new(layout, file))
    }

    fn new(layout: TrajectoryLayout, file: RowFile) -> Self {
        Self {
            layout,
            file,
            buffer: Vec::new(),
        }
    }

    /// Appends a record; it counts once committed.
    pub fn push(&mut self, record: &StepRecord) -> Result<(), TrajectoryFileError> {
        self.buffer.clear();
        self.layout.fill(record, &mut self.buffer);
        self.file.push(&self.buffer)
    }

    /// Makes all rows so far durable: first the rows, then the number of rows in the header.
    pub fn commit(&mut self) -> Result<(), TrajectoryFileError> {
        self.file.commit()
    }

    /// Number of rows pushed.
    pub fn rows(&self) -> u64 {
        self.file.rows()
    }

    /// Digest of the rows pushed.
    pub fn digest(&self) -> String {
        self.file.digest()
    }
}

impl TrajectoryLayout {
    /// Reads the committed rows of a file: names of the columns and row-major values.
    pub fn read(path: &Path) -> Result<(Vec<String>, Vec<f64>), TrajectoryFileError> {
        let mut reader = TrajectoryReader::open(path)?;
        let (mut values, mut row) = (Vec::new(), Vec::new());
        while reader.next_row(&mut row)? {
            values.extend_from_slice(&row);
        }
        Ok((reader.columns, values))
    }
}

/// Reads a trajectory file row by row, in constant memory; only committed rows are seen.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::records::TrajectoryReader;
/// use stickslip::simulation::RunFolder;
///
/// let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-10.0]).build(&[1.0])?;
/// let mut run = Simulation::of(ball, (&[1.0], &[0.0]), 0.25)?;
/// let path = std::env::temp_dir().join(format!("stickslip-rows-{}", std::process::id()));
/// let mut folder = RunFolder::create(&path, &run, 1)?;
/// while run.state().t < 0.5 {
///     folder.push(run.step_towards(0.5))?;
/// }
/// folder.commit()?;
/// let mut rows = TrajectoryReader::open(&path.join("trajectory.npy"))?;
/// let (mut row, mut times) = (Vec::new(), Vec::new());
/// while rows.next_row(&mut row)? {
///     times.push(row[0]);
/// }
/// assert_eq!(rows.columns()[0], "t");
/// assert_eq!(times, [0.0, 0.25, 0.5]);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TrajectoryReader {
    path: PathBuf,
    columns: Vec<String>,
    table: Option<(usize, usize)>,
    rows: u64,
    left: u64,
    reader: BufReader<File>,
    bytes: Vec<u8>,
    digest: Digest,
}

impl TrajectoryReader {
    /// Opens a file at its first row.
    pub fn open(path: &Path) -> Result<Self, TrajectoryFileError> {
        let io = |source| io_error(path, source);
        let bad = || {
            let message = "not a trajectory file";
            io(io::Error::new(io::ErrorKind::InvalidData, message))
        };
        let mut file = open_regular(path).map_err(io)?;
        let available = file.metadata().map_err(io)?.len();
        let mut start = [0u8; 12];
        file.read_exact(&mut start).map_err(io)?;
        let (prefix, length) = if start[6] == 1 {
            (10, u32::from(u16::from_le_bytes([start[8], start[9]])))
        } else {
            let bytes = [start[8], start[9], start[10], start[11]];
            (12, u32::from_le_bytes(bytes))
        };
        if &start[..6] != b"\x93NUMPY"
            || length > HEADER_MAX
            || u64::from(length) + prefix > available
        {
            return Err(bad());
        }
        file.seek(SeekFrom::Start(prefix)).map_err(io)?;
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(io)?;
        let text = String::from_utf8_lossy(&header);
        let columns: Vec<String> = text
            .split("('")
            .skip(1)
            .filter_map(|part| part.split('\'').next().map(String::from))
            .collect();
        let shape = text
            .split("'shape': (")
            .nth(1)
            .and_then(|part| part.split(',').next())
            .ok_or_else(bad)?;
        let rows: u64 = shape.trim().parse().map_err(|_| bad())?;
        let table = text
            .split("'shape': (")
            .nth(1)
            .and_then(|part| part.split(')').next())
            .and_then(|part| {
                let mut sizes = part.split(',').skip(1).map(|size| size.trim().parse());
                Some((sizes.next()?.ok()?, sizes.next()?.ok()?))
            });
        // The number of rows is written after the rows: a file that is shorter is not ours.
        let numbers = table.map_or(Some(columns.len()), |(lines, columns): (usize, usize)| {
            lines.checked_mul(columns)
        });
        let width = numbers
            .and_then(|numbers| (numbers as u64).checked_mul(8))
            .ok_or_else(bad)?;
        let needed = rows
            .checked_mul(width)
            .and_then(|size| size.checked_add(prefix + u64::from(length)));
        if width == 0 || needed.is_none_or(|needed| needed > available) {
            return Err(bad());
        }
        Ok(Self {
            path: path.to_path_buf(),
            bytes: vec![0; width as usize],
            columns,
            table,
            rows,
            left: rows,
            reader: BufReader::with_capacity(1 << 16, file),
            digest: Digest::default(),
        })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Lines and columns of the table that a row is, for a file without named columns.
    pub fn table(&self) -> Option<(usize, usize)> {
        self.table
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Digest of the rows read so far.
    pub fn digest(&self) -> String {
        self.digest.text()
    }

    /// Reads the next row; false after the last.
    pub fn next_row(&mut self, row: &mut Vec<f64>) -> Result<bool, TrajectoryFileError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.reader
            .read_exact(&mut self.bytes)
            .map_err(|source| io_error(&self.path, source))?;
        self.digest.update(&self.bytes);
        row.clear();
        // chunks_exact(8) yields slices of 8 bytes, so the conversion cannot fail.
        let value = |b: &[u8]| f64::from_le_bytes(b.try_into().expect("8 bytes"));
        row.extend(self.bytes.chunks_exact(8).map(value));
        Ok(true)
    }
}

/// Energies, ledger terms, residual and further accounts, as every run has them.
fn push_account_columns(columns: &mut Vec<String>, accounts: &[String]) {
    columns.extend(["kinetic", "potential"].map(String::from));
    let terms = super::EnergyEntry::default().terms();
    columns.extend(terms.iter().map(|(name, _)| format!("energy.{name}")));
    columns.push("residual".to_string());
    columns.extend_from_slice(accounts);
}

/// Two columns of one name cannot be read. Coordinates, which come after `t` and `dt`, keep their
/// names; another column of the same name gets an underscore.
fn make_unique(columns: &mut [String], coordinates: usize) {
    let mut seen = std::collections::BTreeSet::new();
    let own = 2..2 + coordinates;
    let others = (0..own.start).chain(own.end..columns.len());
    for i in own.chain(others) {
        // The name as the header writes it, which is text of Python on one line.
        let unfit = |c: char| c == '\'' || c == '\\' || c.is_control();
        let mut name = columns[i].replace(unfit, "_");
        while !seen.insert(name.clone()) {
            name.push('_');
        }
        columns[i] = name;
    }
}

/// Digest of the next `length` bytes of a file.
pub(super) fn digest_of(file: &mut File, length: u64) -> io::Result<Digest> {
    let mut digest = Digest::default();
    let mut buffer = vec![0; 1 << 16];
    let mut left = length;
    while left > 0 {
        let count = left.min(buffer.len() as u64) as usize;
        file.read_exact(&mut buffer[..count])?;
        digest.update(&buffer[..count]);
        left -= count as u64;
    }
    Ok(digest)
}

pub(super) fn io_error(path: &Path, source: io::Error) -> TrajectoryFileError {
    TrajectoryFileError::Io {
        path: path.to_path_buf(),
        source,
    }
}
