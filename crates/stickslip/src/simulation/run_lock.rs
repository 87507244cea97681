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
    /// Held open for its lock.
    file: File,
}

/// Ends of the names of files that a run writes.
const WRITTEN: [&str; 7] = [".lock", ".json", ".npy", ".new", ".toml", ".npz", ".csv"];

/// A file of a folder that a run would write through: a link, which may lead anywhere, or a pipe, which may block for ever.
fn irregular(path: &Path) -> std::io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if WRITTEN.iter().any(|end| name.ends_with(end)) && !entry.file_type()?.is_file() {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

impl RunLock {
    /// Takes the folder, which is made if it does not exist; an error if somebody writes into it now.
    pub fn acquire(path: &Path) -> Result<Self, RunFolderError> {
        let io = |source| RunFolderError::Io {
            path: path.to_path_buf(),
            source,
        };
        fs::create_dir_all(path).map_err(io)?;
        if let Some(path) = irregular(path).map_err(io)? {
            return Err(RunFolderError::Irregular { path });
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path.join(FILE))
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_path_buf(),
                file,
            }),
            Err(TryLockError::WouldBlock) => Err(RunFolderError::Locked {
                path: path.to_path_buf(),
            }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// An error if the file of the lock is no longer in its place: somebody else may have taken the folder.
    pub fn check(&self) -> Result<(), RunFolderError> {
        let path = self.path.join(FILE);
        let same = || -> std::io::Result<bool> {
            let (own, there) = (self.file.metadata()?, fs::symlink_metadata(&path)?);
            Ok(is_same(&own, &there))
        };
        if same().unwrap_or(false) {
            return Ok(());
        }
        Err(RunFolderError::LockLost { path })
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

/// Whether both are one file, as far as the operating system tells.
#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, b: &fs::Metadata) -> bool {
    b.is_file()
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

    #[cfg(unix)]
    #[test]
    fn links_are_not_written_through_and_a_lock_that_was_deleted_is_missed() {
        let folder = std::env::temp_dir().join(format!("stickslip-link-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let victim = folder.join("victim");
        fs::write(&victim, "precious").unwrap();
        let run = folder.join("run");
        fs::create_dir_all(&run).unwrap();
        for name in ["trajectory.npy", "checkpoint.new", "run.lock"] {
            std::os::unix::fs::symlink(&victim, run.join(name)).unwrap();
            let refused = RunLock::acquire(&run).unwrap_err();
            assert!(
                matches!(refused, RunFolderError::Irregular { .. }),
                "{name}: {refused}"
            );
            fs::remove_file(run.join(name)).unwrap();
        }
        let lock = RunLock::acquire(&run).unwrap();
        lock.check().unwrap();
        fs::remove_file(run.join(FILE)).unwrap();
        assert!(lock.check().is_err(), "deleted");
        let other = RunLock::acquire(&run).unwrap();
        assert!(lock.check().is_err(), "taken by another");
        other.check().unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
