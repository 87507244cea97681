//! Files that a scene names: they lie below the folder of the scene, are regular files, and fit into memory.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::algebra::memory::check_memory;
use crate::records::open_regular;

use super::reader::Reader;
use super::value::Value;

/// Reads a file that a scene names; what goes wrong is reported at its place.
pub(super) fn read_file(reader: &mut Reader, value: &Value) -> Option<Vec<u8>> {
    let name = value.as_text()?;
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let folder = folder_of(reader.source.name());
    let path = folder.join(name);
    let outside = |reader: &mut Reader, how: &str| {
        let message = format!("`{name}` does not lie beside the scene{how}");
        let help = "give a path below the folder of the scene, without `..`";
        reader.refuse_with(&value.span, message, help)
    };
    if !inside {
        return outside(reader, "");
    }
    match read_below(&folder, &path) {
        Ok(Some(bytes)) => Some(bytes),
        Ok(None) => outside(reader, ": it is a link to another place"),
        Err(error) => reader.refuse(
            &value.span,
            format!("cannot read `{}`: {error}", path.display()),
        ),
    }
}

/// The folder of a scene file.
fn folder_of(scene: &str) -> PathBuf {
    match Path::new(scene).parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The bytes of a file; none if the name leads out of the folder.
fn read_below(folder: &Path, path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !path.canonicalize()?.starts_with(folder.canonicalize()?) {
        return Ok(None);
    }
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    // The bytes, and what is read from them.
    check_memory("the file", 4.0 * size as f64).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
