//! Named arrays in one file, as `numpy.load("name.npz")` reads them.
//!
//! An `.npz` file is a ZIP archive of `.npy` files. Arrays are stored as they are, without compression, as
//! `numpy.savez` does; compressed archives are refused by name.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use super::open_regular;

/// Largest archive that is read or written: what the plain ZIP format can address.
const SIZE_MAX: u64 = u32::MAX as u64;

/// An array with its shape, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Numbers.
    Numbers(Vec<usize>, Vec<f64>),
    /// True or false.
    Flags(Vec<usize>, Vec<bool>),
    /// Texts.
    Texts(Vec<usize>, Vec<String>),
}

/// Named arrays, in order.
///
/// ```
/// use stickslip::records::{Array, Npz};
///
/// let mut archive = Npz::default();
/// archive.push("speeds", Array::Numbers(vec![3], vec![1.0, 0.5, 0.25]));
/// let path = std::env::temp_dir().join(format!("stickslip-arrays-{}.npz", std::process::id()));
/// archive.write(&path)?;
/// let speeds = Array::Numbers(vec![3], vec![1.0, 0.5, 0.25]);
/// assert_eq!(Npz::read(&path)?.get("speeds"), Some(&speeds));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Npz {
    entries: Vec<(String, Array)>,
}

fn bad(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

impl Npz {
    /// Adds an array.
    ///
    /// # Panics
    /// If the number of values is not that of the shape.
    pub fn push(&mut self, name: &str, array: Array) {
        let (shape, count) = match &array {
            Array::Numbers(shape, values) => (shape, values.len()),
            Array::Flags(shape, values) => (shape, values.len()),
            Array::Texts(shape, values) => (shape, values.len()),
        };
        let expected: usize = shape.iter().product();
        assert_eq!(
            count, expected,
            "as many values of `{name}` as its shape says"
        );
        self.entries.push((name.to_string(), array));
    }

    /// The array of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.entries.iter().find(|e| e.0 == name).map(|e| &e.1)
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let bytes = self.to_bytes()?;
        let temporary = path.with_extension("npz.new");
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, array) in &self.entries {
            let (name, data) = (format!("{name}.npy"), array.to_npy());
            let start = out.len() as u64;
            if start + data.len() as u64 + (1 << 16) > SIZE_MAX {
                return Err(bad("more than 4 GB of arrays"));
            }
            let size = (data.len() as u32).to_le_bytes();
            // Version 2.0, names in UTF-8, stored, first of January 1980.
            let mut common = [20u16, 1 << 11, 0, 0, 0x21].map(u16::to_le_bytes).concat();
            common.extend(crc32(&data).to_le_bytes());
            common.extend(size.iter().chain(&size));
            common.extend((name.len() as u16).to_le_bytes());
            out.extend(0x0403_4b50u32.to_le_bytes());
            out.extend(&common);
            out.extend([0; 2]);
            out.extend(name.as_bytes());
            out.extend(data);
            directory.extend(0x0201_4b50u32.to_le_bytes());
            directory.extend(20u16.to_le_bytes());
            directory.extend(&common);
            // No extra field, no remark, disk 0, no attributes.
            directory.extend([0; 12]);
            directory.extend((start as u32).to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, count) = (out.len() as u32, self.entries.len() as u16);
        let length = directory.len() as u32;
        out.extend(directory);
        out.extend(0x0605_4b50u32.to_le_bytes());
        out.extend([0; 4]);
        out.extend(count.to_le_bytes().iter().chain(&count.to_le_bytes()));
        out.extend(length.to_le_bytes());
        out.extend(start.to_le_bytes());
        out.extend([0; 2]);
        Ok(out)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        if file.metadata()?.len() > SIZE_MAX {
            return Err(bad("more than 4 GB of arrays"));
        }
        let mut bytes = Vec::new();
        file.take(SIZE_MAX).read_to_end(&mut bytes)?;
        Self::from_bytes(&bytes)
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let cut = || bad("the archive ends too early");
        let end = bytes
            .windows(4)
            .rposition(|w| w == 0x0605_4b50u32.to_le_bytes())
            .ok_or_else(|| bad("not an archive of arrays"))?;
        let count = number(bytes, end + 10, 2).ok_or_else(cut)?;
        let mut at = number(bytes, end + 16, 4).ok_or_else(cut)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let field = |offset: usize, size: usize| number(bytes, at + offset, size);
            let head = || -> Option<[usize; 7]> {
                Some([
                    field(0, 4)?,
                    field(10, 2)?,
                    field(20, 4)?,
                    field(28, 2)?,
                    field(30, 2)? + field(32, 2)?,
                    field(42, 4)?,
                    field(16, 4)?,
                ])
            };
            let [mark, method, size, name, behind, start, crc] = head().ok_or_else(cut)?;
            if mark != 0x0201_4b50 {
                return Err(cut());
            }
            let text = bytes.get(at + 46..at + 46 + name).ok_or_else(cut)?;
            let text = String::from_utf8_lossy(text).into_owned();
            if method != 0 {
                return Err(bad(format!("`{text}` is compressed; save it uncompressed")));
            }
            at += 46 + name + behind;
            // The local head has a name and extra fields of its own.
            let skip = number(bytes, start + 26, 2).zip(number(bytes, start + 28, 2));
            let (name, extra) = skip.ok_or_else(cut)?;
            let first = start + 30 + name + extra;
            let data = bytes.get(first..first + size).ok_or_else(cut)?;
            if crc32(data) as usize != crc {
                return Err(bad(format!("`{text}` is damaged")));
            }
            let array = Array::from_npy(data)
                .ok_or_else(|| bad(format!("`{text}` is no array of numbers, flags or texts")))?;
            entries.push((text.trim_end_matches(".npy").to_string(), array));
        }
        Ok(Self { entries })
    }
}

/// A little-endian number of a few bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let slice = bytes.get(at..at.checked_add(size)?)?;
    let value = slice.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    usize::try_from(value).ok()
}

impl Array {
    /// The bytes of an `.npy` file.
    fn to_npy(&self) -> Vec<u8> {
        let (shape, kind, width) = match self {
            Self::Numbers(shape, _) => (shape, "<f8".to_string(), 8),
            Self::Flags(shape, _) => (shape, "|b1".to_string(), 1),
            Self::Texts(shape, texts) => {
                let longest = texts.iter().map(|t| t.chars().count()).max();
                let longest = longest.unwrap_or(0).max(1);
                (shape, format!("<U{longest}"), 4 * longest)
            }
        };
        let sizes: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
        let text = format!(
            "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}",
            sizes.join(" ")
        );
        let total = (10 + text.len() + 1).div_ceil(64) * 64;
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend(((total - 10) as u16).to_le_bytes());
        out.extend(text.as_bytes());
        out.resize(total - 1, b' ');
        out.push(b'\n');
        match self {
            Self::Numbers(_, values) => out.extend(values.iter().flat_map(|x| x.to_le_bytes())),
            Self::Flags(_, values) => out.extend(values.iter().map(|&x| u8::from(x))),
            Self::Texts(_, texts) => {
                for text in texts {
                    let end = out.len() + width;
                    out.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
                    out.resize(end, 0);
                }
            }
        }
        out
    }

    fn from_npy(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(b"\x93NUMPY") {
            return None;
        }
        let (prefix, size) = match bytes.get(6)? {
            1 => (10, 2),
            _ => (12, 4),
        };
        let data = prefix + number(bytes, 8, size)?;
        let header = std::str::from_utf8(bytes.get(prefix..data)?).ok()?;
        let data = &bytes[data..];
        let field = |name: &str, open: char, close: char| -> Option<&str> {
            let rest = header.split(name).nth(1)?.split_once(open)?.1;
            Some(rest.split_once(close)?.0)
        };
        if header.contains("'fortran_order': True") {
            return None;
        }
        let kind = field("'descr':", '\'', '\'')?;
        let shape: Option<Vec<usize>> = field("'shape':", '(', ')')?
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().ok())
            .collect();
        let shape = shape?;
        let count = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m))?;
        let cells = |width: usize| {
            let size = count.checked_mul(width)?;
            (width > 0).then_some(data.get(..size)?.chunks_exact(width))
        };
        Some(match (kind, kind.strip_prefix("<U")) {
            ("<f8", _) => {
                let value = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap_or_default());
                Self::Numbers(shape, cells(8)?.map(value).collect())
            }
            ("|b1", _) => Self::Flags(shape, cells(1)?.map(|b| b[0] != 0).collect()),
            (_, Some(length)) => {
                let width = 4usize.checked_mul(length.parse().ok()?)?;
                let text = |cell: &[u8]| -> Option<String> {
                    let letters = cell.chunks_exact(4);
                    let code = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap_or_default());
                    letters
                        .map(code)
                        .take_while(|&c| c != 0)
                        .map(char::from_u32)
                        .collect()
                };
                let texts: Option<Vec<String>> = cells(width)?.map(text).collect();
                Self::Texts(shape, texts?)
            }
            _ => return None,
        })
    }
}

/// The check sum of ZIP archives.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut n = 0;
        while n < 256 {
            let (mut c, mut k) = (n as u32, 0);
            while k < 8 {
                c = if c & 1 == 1 {
                    0xedb8_8320 ^ (c >> 1)
                } else {
                    c >> 1
                };
                k += 1;
            }
            table[n] = c;
            n += 1;
        }
        table
    };
    !bytes.iter().fold(!0u32, |c, &byte| {
        TABLE[((c ^ u32::from(byte)) & 0xff) as usize] ^ (c >> 8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Npz {
        let mut npz = Npz::default();
        npz.push(
            "values",
            Array::Numbers(vec![2, 3], vec![1.0, -2.5, f64::NAN, 0.0, 1e300, 7.0]),
        );
        npz.push("done", Array::Flags(vec![3], vec![true, false, true]));
        let texts = ["", "µ = 0,3", "plain"].map(String::from).to_vec();
        npz.push("reason", Array::Texts(vec![3, 1], texts));
        npz.push("scene", Array::Texts(vec![], vec!["one".to_string()]));
        npz
    }

    #[test]
    fn arrays_read_back() {
        let bytes = sample().to_bytes().unwrap();
        let back = Npz::from_bytes(&bytes).unwrap();
        // NaN is not equal to itself: compare what is printed.
        assert_eq!(format!("{back:?}"), format!("{:?}", sample()));
    }

    #[test]
    fn the_check_sum_is_that_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn damaged_archives_are_refused_without_a_panic() {
        let bytes = sample().to_bytes().unwrap();
        for k in 0..bytes.len() {
            let _ = Npz::from_bytes(&bytes[..k]);
            for bit in [1u8, 0x80] {
                let mut changed = bytes.clone();
                changed[k] ^= bit;
                let _ = Npz::from_bytes(&changed);
            }
        }
        assert!(Npz::from_bytes(b"PK").is_err());
    }
}
