//! Rows of numbers appended to a NumPy file that is whole at every instant.
//!
//! The file is an ordinary `.npy` file (format version 1.0; 2.0 for long headers, 3.0 where a name is not ASCII). Rows are
//! appended; the number of rows in the header is written last, at every [`RowFile::commit`], so a reader never sees a row
//! that is not whole, and a run that was killed is cut back to the last commit when it is resumed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::trajectory_file::{digest_of, io_error};
use super::{Digest, TrajectoryFileError, open_regular};

/// What a row of a file is.
#[derive(Clone, Debug, PartialEq)]
pub enum RowFormat {
    /// Named columns: a structured array.
    Columns(Vec<String>),
    /// A table of numbers per row: an array of rows × lines × columns.
    Table {
        /// Lines of the table.
        lines: usize,
        /// Columns of the table.
        columns: usize,
    },
}

impl RowFormat {
    /// Numbers of a row.
    pub fn width(&self) -> usize {
        match self {
            Self::Columns(names) => names.len(),
            Self::Table { lines, columns } => lines * columns,
        }
    }

    /// The header of the file, of fixed length, for the given number of rows.
    fn header(&self, rows: u64) -> Vec<u8> {
        let (kind, shape) = match self {
            Self::Columns(names) => {
                let fields: Vec<String> = names
                    .iter()
                    .map(|name| format!("('{name}', '<f8')"))
                    .collect();
                (format!("[{}]", fields.join(", ")), String::new())
            }
            Self::Table { lines, columns } => ("'<f8'".to_string(), format!(" {lines}, {columns}")),
        };
        let text =
            format!("{{'descr': {kind}, 'fortran_order': False, 'shape': ({rows:>20},{shape}), }}");
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

/// A file of rows being written.
#[derive(Debug)]
pub struct RowFile {
    path: PathBuf,
    format: RowFormat,
    writer: BufWriter<File>,
    rows: u64,
    digest: Digest,
    bytes: Vec<u8>,
}

impl RowFile {
    /// Creates the file with no rows.
    pub fn create(path: &Path, format: RowFormat) -> Result<Self, TrajectoryFileError> {
        let file = File::create(path).map_err(|source| io_error(path, source))?;
        let mut this = Self::new(path, format, file, 0);
        let header = this.format.header(0);
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
        format: RowFormat,
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
        let expected = format.header(rows);
        let mut header = vec![0; expected.len()];
        file.read_exact(&mut header).map_err(io)?;
        // The headers agree except for the number of rows.
        let text = String::from_utf8_lossy(&header);
        let expected_text = String::from_utf8_lossy(&expected);
        let same = |text: &str| {
            let (before, shape) = text.split_once("'shape'")?;
            let table = shape.split_once(',')?.1;
            Some((before.to_owned(), table.to_owned()))
        };
        if same(&text) != same(&expected_text) {
            return Err(TrajectoryFileError::OtherColumns {
                path: path.to_path_buf(),
            });
        }
        let width = 8 * format.width() as u64;
        let length = rows
            .checked_mul(width)
            .and_then(|size| size.checked_add(expected.len() as u64));
        let found = file.metadata().map_err(io)?.len();
        let Some(length) = length.filter(|length| found >= *length) else {
            let found = found.saturating_sub(expected.len() as u64) / width.max(1);
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
        let mut this = Self::new(path, format, file, rows);
        this.digest = written;
        this.commit()?;
        Ok(this)
    }

    fn new(path: &Path, format: RowFormat, file: File, rows: u64) -> Self {
        let writer = BufWriter::with_capacity(1 << 16, file);
        Self {
            path: path.to_path_buf(),
            format,
            writer,
            rows,
            digest: Digest::default(),
            bytes: Vec::new(),
        }
    }

    /// Appends whole rows; they count once committed.
    ///
    /// # Panics
    /// If the numbers do not fill whole rows.
    pub fn push(&mut self, numbers: &[f64]) -> Result<(), TrajectoryFileError> {
        let width = self.format.width().max(1);
        assert_eq!(numbers.len() % width, 0, "numbers fill whole rows");
        self.bytes.clear();
        for value in numbers {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
        self.digest.update(&self.bytes);
        self.writer
            .write_all(&self.bytes)
            .map_err(|source| io_error(&self.path, source))?;
        self.rows += (numbers.len() / width) as u64;
        Ok(())
    }

    /// Makes all rows so far durable: first the rows, then the number of rows in the header.
    pub fn commit(&mut self) -> Result<(), TrajectoryFileError> {
        let header = self.format.header(self.rows);
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
