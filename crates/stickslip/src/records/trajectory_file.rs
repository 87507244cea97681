//! A trajectory streamed to disk as one structured NumPy array.
//!
//! The file is an ordinary `.npy` file (format version 1.0; 3.0 where a name is not ASCII) whose rows are records with named
//! columns, so that `numpy.load("trajectory.npy")["y"]` reads a column. Rows are appended; the
//! number of rows in the header is written last, at every [`TrajectoryFile::commit`], so a reader
//! never sees a row that is not whole, and a run that was killed is cut back to the last commit
//! when it is resumed. Memory does not grow with the length of the run.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Digest, StepRecord, open_regular};

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
}

impl TrajectoryLayout {
    /// Columns for a system: `t`, the step `dt`, coordinates, velocities (`v_` and the name), left velocities
    /// (`left_`), and for each contact its gap, mode (0 open, 1 stick, 2 slip, 3 closed without
    /// friction), impulses, sliding velocities, γ and margin to the Painlevé region (NaN unless the contact is
    /// active and has friction); then energies, ledger terms summed from the start
    /// (so that a thinned file still holds the whole account), residual, and further accounts.
    ///
    /// `contacts` lists name and number of rows of every contact point, `accounts` the names of
    /// [`StepRecord::accounts`].
    pub fn new(
        coordinates: &[String],
        velocities: &[String],
        contacts: &[(String, usize)],
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
        columns.extend(["kinetic", "potential"].map(String::from));
        let terms = super::EnergyEntry::default().terms();
        columns.extend(terms.iter().map(|(name, _)| format!("energy.{name}")));
        columns.push("residual".to_string());
        columns.extend_from_slice(accounts);
        make_unique(&mut columns, coordinates.len());
        Self {
            columns,
            contacts: contacts.len(),
        }
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Appends the numbers of one record to `row`.
    pub fn fill(&self, record: &StepRecord, row: &mut Vec<f64>) {
        row.push(record.t);
        row.push(record.h);
        row.extend_from_slice(&record.q);
        row.extend_from_slice(&record.velocity);
        row.extend_from_slice(&record.velocity_left);
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
        row.extend_from_slice(&record.accounts);
        debug_assert_eq!(
            row.len() % self.columns.len(),
            0,
            "a record fills whole rows"
        );
    }

    /// The header of the file, of fixed length, for the given number of rows.
    fn header(&self, rows: u64) -> Vec<u8> {
        let fields: Vec<String> = self
            .columns
            .iter()
            .map(|name| format!("('{name}', '<f8')"))
            .collect();
        let text = format!(
            "{{'descr': [{}], 'fortran_order': False, 'shape': ({rows:>20},), }}",
            fields.join(", ")
        );
        // Magic, version and length take 10 (version 1) or 12 bytes; the whole is padded to 64. Version 2 is for long
        // headers; version 3 says that the names are UTF-8, where the others are Latin-1.
        let version = match text.len() + 1 + 64 > usize::from(u16::MAX) {
            _ if !text.is_ascii() => 3,
            true => 2,
            false => 1,
        };
        let prefix = if version == 1 { 10 } else { 12 };
        let total = (prefix + text.len() + 1).div_ceil(64) * 64;
        let mut header = b"\x93NUMPY".to_vec();
        let length = total - prefix;
        header.extend([version, 0]);
        if version > 1 {
            header.extend((length as u32).to_le_bytes());
        } else {
            header.extend((length as u16).to_le_bytes());
        }
        header.extend(text.as_bytes());
        header.resize(total - 1, b' ');
        header.push(b'\n');
        header
    }
}

/// A trajectory file being written.
#[derive(Debug)]
pub struct TrajectoryFile {
    path: PathBuf,
    layout: TrajectoryLayout,
    writer: BufWriter<File>,
    rows: u64,
    digest: Digest,
    buffer: Vec<f64>,
    bytes: Vec<u8>,
}

impl TrajectoryFile {
    /// Creates the file with no rows.
    pub fn create(path: &Path, layout: TrajectoryLayout) -> Result<Self, TrajectoryFileError> {
        let file = File::create(path).map_err(|source| io_error(path, source))?;
        let mut this = Self::new(path, layout, file, 0);
        let header = this.layout.header(0);
        this.writer
            .write_all(&header)
            .map_err(|source| io_error(path, source))?;
        this.commit()?;
        Ok(this)
    }

    /// Opens an existing file to append after its first `rows` rows; later ones are cut off. With the `digest` of those
    /// rows, a file whose rows are others is refused.
    pub fn resume(
        path: &Path,
        layout: TrajectoryLayout,
        rows: u64,
        digest: Option<&str>,
    ) -> Result<Self, TrajectoryFileError> {
        let io = |source| io_error(path, source);
        drop(open_regular(path).map_err(io)?);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(io)?;
        let expected = layout.header(rows);
        let mut header = vec![0; expected.len()];
        file.read_exact(&mut header).map_err(io)?;
        // The headers agree except for the number of rows.
        let text = String::from_utf8_lossy(&header);
        let expected_text = String::from_utf8_lossy(&expected);
        let same = |text: &str| text.split("'shape'").next().map(str::to_owned);
        if same(&text) != same(&expected_text) {
            return Err(TrajectoryFileError::OtherColumns {
                path: path.to_path_buf(),
            });
        }
        let width = 8 * layout.columns.len() as u64;
        let length = rows
            .checked_mul(width)
            .and_then(|size| size.checked_add(expected.len() as u64));
        let found = file.metadata().map_err(io)?.len();
        let Some(length) = length.filter(|length| found >= *length) else {
            let found = found.saturating_sub(expected.len() as u64) / width;
            return Err(TrajectoryFileError::TooShort {
                path: path.to_path_buf(),
                found,
                expected: rows,
            });
        };
        let written = digest_of(&mut file, length - expected.len() as u64).map_err(io)?;
        if let Some(expected) = digest.filter(|digest| **digest != written.text()) {
            return Err(TrajectoryFileError::Edited {
                path: path.to_path_buf(),
                rows,
                found: written.text(),
                expected: expected.to_string(),
            });
        }
        file.set_len(length).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut this = Self::new(path, layout, file, rows);
        this.digest = written;
        this.commit()?;
        Ok(this)
    }

    fn new(path: &Path, layout: TrajectoryLayout, file: File, rows: u64) -> Self {
        let writer = BufWriter::with_capacity(1 << 16, file);
        Self {
            path: path.to_path_buf(),
            layout,
            writer,
            rows,
            digest: Digest::default(),
            buffer: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Appends a record; it counts once committed.
    pub fn push(&mut self, record: &StepRecord) -> Result<(), TrajectoryFileError> {
        self.buffer.clear();
        self.layout.fill(record, &mut self.buffer);
        self.bytes.clear();
        for value in &self.buffer {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
        self.digest.update(&self.bytes);
        self.writer
            .write_all(&self.bytes)
            .map_err(|source| io_error(&self.path, source))?;
        self.rows += 1;
        Ok(())
    }

    /// Makes all rows so far durable: first the rows, then the number of rows in the header.
    pub fn commit(&mut self) -> Result<(), TrajectoryFileError> {
        let header = self.layout.header(self.rows);
        let mut write = || -> io::Result<()> {
            self.writer.flush()?;
            let file = self.writer.get_mut();
            file.sync_data()?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.seek(SeekFrom::End(0))?;
            file.sync_data()
        };
        write().map_err(|source| io_error(&self.path, source))
    }

    /// Number of rows pushed.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Digest of the rows pushed.
    pub fn digest(&self) -> String {
        self.digest.text()
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
#[derive(Debug)]
pub struct TrajectoryReader {
    path: PathBuf,
    columns: Vec<String>,
    rows: u64,
    left: u64,
    reader: BufReader<File>,
    bytes: Vec<u8>,
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
        // The number of rows is written after the rows: a file that is shorter is not ours.
        let width = 8 * columns.len() as u64;
        let needed = rows
            .checked_mul(width)
            .and_then(|size| size.checked_add(prefix + u64::from(length)));
        if columns.is_empty() || needed.is_none_or(|needed| needed > available) {
            return Err(bad());
        }
        Ok(Self {
            path: path.to_path_buf(),
            bytes: vec![0; width as usize],
            columns,
            rows,
            left: rows,
            reader: BufReader::with_capacity(1 << 16, file),
        })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
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
        row.clear();
        // chunks_exact(8) yields slices of 8 bytes, so the conversion cannot fail.
        let value = |b: &[u8]| f64::from_le_bytes(b.try_into().expect("8 bytes"));
        row.extend(self.bytes.chunks_exact(8).map(value));
        Ok(true)
    }
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
fn digest_of(file: &mut File, length: u64) -> io::Result<Digest> {
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

fn io_error(path: &Path, source: io::Error) -> TrajectoryFileError {
    TrajectoryFileError::Io {
        path: path.to_path_buf(),
        source,
    }
}
