//! Files that are files: no pipe that blocks for ever, no device without an end.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a file to read, if it is a regular one. A pipe would wait for a writer before it could be refused, so what the name
/// stands for is asked first.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    let message = "not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}
