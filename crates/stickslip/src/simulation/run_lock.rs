//! The lock of a run folder: one writer at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::RunFolderError;

/// Name of the file that carries the lock.
const FILE: &str = "run.lock";

/// The right to write into a run folder, held until it is dropped or the process dies, however it dies: the operating
/// system keeps the lock, not the file, which stays behind empty.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    // Held open for its lock.
    _file: File,
}

impl RunLock {
    /// Takes the folder, which is made if it does not exist; an error if somebody writes into it now.
    pub fn acquire(path: &Path) -> Result<Self, RunFolderError> {
        let io = |source| RunFolderError::Io {
            path: path.to_path_buf(),
            source,
        };
        fs::create_dir_all(path).map_err(io)?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path.join(FILE))
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_path_buf(),
                _file: file,
            }),
            Err(TryLockError::WouldBlock) => Err(RunFolderError::Locked {
                path: path.to_path_buf(),
            }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a folder holds files that are not those of a run: anything, without the manifest of a run.
    pub fn is_foreign(path: &Path) -> bool {
        let Ok(entries) = fs::read_dir(path) else {
            return false;
        };
        let other = |name: &std::ffi::OsStr| name != FILE;
        let filled = entries.flatten().any(|entry| other(&entry.file_name()));
        filled && !path.join("run.json").exists() && !path.join("checkpoint.json").exists()
    }
}
