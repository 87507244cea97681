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

    /// Whether a folder holds files, and none that a run leaves in it: its lock, its manifest, a checkpoint. A run that was killed before it wrote its manifest
    /// leaves its lock, and may be begun again.
    pub fn is_foreign(path: &Path) -> bool {
        let filled = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        let own = [FILE, "run.json", "checkpoint.json"];
        filled && !own.iter().any(|name| path.join(name).exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_left_that_died_at_once_is_its_own_and_other_files_are_not() {
        let folder = std::env::temp_dir().join(format!("stickslip-lock-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(!RunLock::is_foreign(&folder), "an empty folder");
        fs::write(folder.join("scene.new"), "title").unwrap();
        assert!(RunLock::is_foreign(&folder), "somebody's file");
        drop(RunLock::acquire(&folder).unwrap());
        assert!(!RunLock::is_foreign(&folder), "a run that died early");
        fs::remove_dir_all(&folder).unwrap();
    }
}
