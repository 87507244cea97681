//! The text of a scene file: reading within limits, lines and columns.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::diagnostic::SceneError;

/// Largest scene file, in bytes. The largest scene of the gallery needs less than a hundredth.
pub const FILE_SIZE_MAX: usize = 1 << 20;

/// Why a scene could not be loaded from a file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("cannot read `{name}`: {error}")]
    Unreadable {
        /// File as the user named it.
        name: String,
        /// What the operating system says.
        #[source]
        error: std::io::Error,
    },
    /// The file is larger than a scene can be.
    #[error("`{name}` is larger than {FILE_SIZE_MAX} bytes, the limit for a scene")]
    TooLarge {
        /// File as the user named it.
        name: String,
    },
    /// The file is not text.
    #[error("`{name}` is not UTF-8 text: byte {offset} is invalid")]
    NotText {
        /// File as the user named it.
        name: String,
        /// Offset of the first invalid byte.
        offset: usize,
    },
    /// The scene has mistakes.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// A named text.
///
/// ```
/// use stickslip::scene::{Scene, SourceText};
///
/// let text = SourceText::new("ball.toml", "title = \"Ball\"\nuntill = 2\n");
/// assert_eq!(text.position(15), (2, 1));
/// // Mistakes are told with their line.
/// let mistakes = Scene::parse(text).map(|_| ()).unwrap_err().to_string();
/// assert!(mistakes.contains("ball.toml:2:1") && mistakes.contains("did you mean `until`?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    name: String,
    text: String,
}

impl SourceText {
    /// A text with the name under which mistakes are reported.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Reads a file, never more than [`FILE_SIZE_MAX`] bytes of it.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let name = path.display().to_string();
        let unreadable = |error| LoadError::Unreadable {
            name: name.clone(),
            error,
        };
        let file = File::open(path).map_err(unreadable)?;
        // The stated size may lie (a pipe, a device): the limit holds for what is read.
        let mut bytes = Vec::new();
        let limit = FILE_SIZE_MAX as u64 + 1;
        file.take(limit)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() > FILE_SIZE_MAX {
            return Err(LoadError::TooLarge { name });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(LoadError::NotText {
                name,
                offset: error.utf8_error().valid_up_to(),
            }),
        }
    }

    /// Name of the text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..self.boundary(offset)];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |k| k + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// Bytes of the line that holds `offset`, without its end.
    #[must_use]
    pub fn line_range(&self, offset: usize) -> Range<usize> {
        let offset = self.boundary(offset);
        let start = self.text[..offset].rfind('\n').map_or(0, |k| k + 1);
        let end = self.text[offset..]
            .find('\n')
            .map_or(self.text.len(), |k| offset + k);
        let end = if end > start && self.text.as_bytes()[end - 1] == b'\r' {
            end - 1
        } else {
            end
        };
        start..end.max(start)
    }

    /// The nearest character boundary at or before `offset`.
    pub(super) fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}
