//! Triangles from STL and OBJ files.

use std::path::Path;

use super::vector::Vector;

/// Why a file of triangles was refused.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileError {
    /// The file could not be read.
    #[error("cannot read `{file}`: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// The cause.
        #[source]
        error: std::io::Error,
    },
    /// The ending of the name is not known.
    #[error("`{file}` must end in .stl or .obj")]
    Kind {
        /// The file.
        file: String,
    },
    /// The text of the file is wrong at a line.
    #[error("`{file}`, line {line}: {message}")]
    Line {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A binary file has another length than its number of triangles says.
    #[error("`{file}` has {found} bytes, {triangles} triangles need {needed}")]
    Length {
        /// The file.
        file: String,
        /// Bytes found.
        found: usize,
        /// Number of triangles it claims.
        triangles: u32,
        /// Bytes they need.
        needed: usize,
    },
    /// There are no triangles or points.
    #[error("`{file}` holds no triangles")]
    Empty {
        /// The file.
        file: String,
    },
}

/// Vertices and triangles of a file.
///
/// ```
/// use stickslip::systems::world::MeshFile;
///
/// let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
/// let mesh = MeshFile::parse("square.obj", square.as_bytes())?;
/// assert_eq!(mesh.vertices.len(), 4);
/// assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
/// # Ok::<(), stickslip::systems::world::MeshFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// Vertices.
    pub vertices: Vec<[f64; 3]>,
    /// Corners of each triangle, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Largest file that is read, in bytes.
const SIZE_MAX: u64 = 1 << 28;

impl MeshFile {
    /// Reads an STL file (text or binary) or the vertices and faces of an OBJ file.
    pub fn read(path: &Path) -> Result<Self, MeshFileError> {
        let file = path.display().to_string();
        let unreadable = |error| MeshFileError::Unreadable {
            file: file.clone(),
            error,
        };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > SIZE_MAX {
            let error = std::io::Error::other(format!("{size} bytes, the limit is {SIZE_MAX}"));
            return Err(unreadable(error));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Self::parse(&file, &bytes)
    }

    /// Reads the bytes of a file whose name ends in .stl or .obj.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, MeshFileError> {
        let file = file.to_owned();
        let ending = Path::new(&file).extension();
        let ending = ending.map(|e| e.to_string_lossy().to_lowercase());
        let mesh = match ending.as_deref() {
            Some("stl") => stl(&file, bytes)?,
            Some("obj") => obj(&file, &String::from_utf8_lossy(bytes))?,
            _ => return Err(MeshFileError::Kind { file }),
        };
        if mesh.triangles.is_empty() {
            return Err(MeshFileError::Empty { file });
        }
        Ok(mesh)
    }
}

fn number(file: &str, line: usize, word: Option<&str>) -> Result<f64, MeshFileError> {
    let word = word.unwrap_or_default();
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(MeshFileError::Line {
            file: file.to_owned(),
            line,
            message: format!("expected a number, found `{word}`"),
        }),
    }
}

fn stl(file: &str, bytes: &[u8]) -> Result<MeshFile, MeshFileError> {
    let count = bytes
        .get(80..84)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    // A binary file may begin with the word of text files; its length tells.
    let binary = count.is_some_and(|n| bytes.len() as u64 == 84 + 50 * u64::from(n));
    match std::str::from_utf8(bytes) {
        Ok(text) if !binary && text.trim_start().starts_with("solid") => stl_text(file, text),
        _ => stl_binary(file, bytes, count.unwrap_or(0)),
    }
}

fn stl_text(file: &str, text: &str) -> Result<MeshFile, MeshFileError> {
    let mut corners: Vec<Vector> = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() == Some("vertex") {
            let mut point = [0.0; 3];
            for value in &mut point {
                *value = number(file, k + 1, words.next())?;
            }
            corners.push(point);
        }
    }
    if !corners.len().is_multiple_of(3) {
        return Err(MeshFileError::Line {
            file: file.to_owned(),
            line: text.lines().count(),
            message: format!("{} vertices do not make triangles", corners.len()),
        });
    }
    Ok(joined(corners))
}

fn stl_binary(file: &str, bytes: &[u8], triangles: u32) -> Result<MeshFile, MeshFileError> {
    let needed = 84 + 50 * triangles as usize;
    if bytes.len() != needed {
        return Err(MeshFileError::Length {
            file: file.to_owned(),
            found: bytes.len(),
            triangles,
            needed,
        });
    }
    let mut corners = Vec::new();
    for (k, facet) in bytes[84..].chunks_exact(50).enumerate() {
        for corner in 0..3 {
            let mut point = [0.0; 3];
            for (axis, value) in point.iter_mut().enumerate() {
                let at = 12 + 12 * corner + 4 * axis;
                let four = [facet[at], facet[at + 1], facet[at + 2], facet[at + 3]];
                *value = single(u32::from_le_bytes(four));
                if !value.is_finite() {
                    return Err(MeshFileError::Line {
                        file: file.to_owned(),
                        line: k + 1,
                        message: "a coordinate of this facet is not finite".to_owned(),
                    });
                }
            }
            corners.push(point);
        }
    }
    Ok(joined(corners))
}

/// A number of single precision from its bits.
fn single(bits: u32) -> f64 {
    let sign = if bits >> 31 == 1 { -1.0 } else { 1.0 };
    let exponent = (bits >> 23 & 0xff) as i32;
    let fraction = f64::from(bits & 0x7f_ffff) / f64::from(1u32 << 23);
    match exponent {
        0 => sign * fraction * 2f64.powi(-126),
        255 => f64::NAN,
        e => sign * (1.0 + fraction) * 2f64.powi(e - 127),
    }
}

/// Corners of triangles, equal ones given once.
fn joined(corners: Vec<Vector>) -> MeshFile {
    let mut order: Vec<usize> = (0..corners.len()).collect();
    let compare = |p: &Vector, q: &Vector| {
        let by = |i: usize| p[i].total_cmp(&q[i]);
        by(0).then(by(1)).then(by(2))
    };
    order.sort_by(|&a, &b| compare(&corners[a], &corners[b]).then(a.cmp(&b)));
    let mut index = vec![0u32; corners.len()];
    let mut vertices: Vec<Vector> = Vec::new();
    for &k in &order {
        if vertices.last() != Some(&corners[k]) {
            vertices.push(corners[k]);
        }
        index[k] = vertices.len() as u32 - 1;
    }
    let triangles = index.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    MeshFile {
        vertices,
        triangles,
    }
}

fn obj(file: &str, text: &str) -> Result<MeshFile, MeshFileError> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut point = [0.0; 3];
                for value in &mut point {
                    *value = number(file, k + 1, words.next())?;
                }
                vertices.push(point);
            }
            Some("f") => {
                let wrong = |message: String| MeshFileError::Line {
                    file: file.to_owned(),
                    line: k + 1,
                    message,
                };
                let mut corners: Vec<u32> = Vec::new();
                for word in words {
                    // Only the vertex of `vertex/texture/normal`; negative numbers count from the end.
                    let first = word.split('/').next().unwrap_or_default();
                    let given: i64 = first
                        .parse()
                        .map_err(|_| wrong(format!("expected a vertex, found `{word}`")))?;
                    let count = vertices.len() as i64;
                    let index = if given < 0 { count + given } else { given - 1 };
                    if index < 0 || index >= count {
                        return Err(wrong(format!("vertex {given} is not known here")));
                    }
                    corners.push(index as u32);
                }
                if corners.len() < 3 {
                    return Err(wrong("a face needs three vertices".to_owned()));
                }
                for i in 1..corners.len() - 1 {
                    triangles.push([corners[0], corners[i], corners[i + 1]]);
                }
            }
            _ => {}
        }
    }
    Ok(MeshFile {
        vertices,
        triangles,
    })
}
