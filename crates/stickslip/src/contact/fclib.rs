//! Coulomb problems as FCLIB files (HDF5): reading and writing problems in local and
//! global form, solutions and guesses.
//!
//! Layout: group `fclib_local` (`spacedim`, `W`, `vectors/q`, `vectors/mu`) or `fclib_global`
//! (`spacedim`, `M`, `H`, `vectors/f`, `vectors/w`, `vectors/mu`), texts in `info`; a matrix is a group
//! of `m`, `n`, `nzmax`, `nz`, `p`, `i`, `x` where `nz` = −2 means compressed rows, −1 compressed columns and a
//! number ≥ 0 that many triplets. A solution is the group `solution` with `u`, `r` and, for global
//! problems, `v`; guesses are `guesses/1`, `guesses/2`, ... beside `guesses/number_of_guesses`. The
//! reference library takes the sizes of a solution from the problem in the same file, so a
//! solution is always written together with its problem. Problems with equality constraints (`G` or `V`,
//! `R`) are refused.

use super::coulomb::ContactProblemError;
use super::global_form::GlobalForm;
use super::{ContactProblem, CoulombData};
use crate::algebra::memory::check_memory;
use crate::algebra::sparse_rows::{SparseRows, SparseRowsError};
use hdf5_pure::{Dataset, File, FileBuilder, GroupBuilder};
use std::path::Path;
use thiserror::Error;

/// Why a problem file could not be read or written.
#[derive(Debug, Error)]
pub enum FclibError {
    /// The HDF5 layer failed.
    #[error("{path}: {message}")]
    File {
        /// File concerned.
        path: String,
        /// What the HDF5 layer reported.
        message: String,
    },
    /// A dataset is missing or has the wrong type or length.
    #[error("{path}: dataset {dataset}: {message}")]
    Dataset {
        /// File concerned.
        path: String,
        /// Path of the dataset inside the file.
        dataset: String,
        /// What is wrong.
        message: String,
    },
    /// The file holds neither a local nor a global problem.
    #[error("{path}: neither fclib_local nor fclib_global is present")]
    NoProblem {
        /// File concerned.
        path: String,
    },
    /// The problem has equality constraints.
    #[error("{path}: equality constraints ({group}) are not supported")]
    Equalities {
        /// File concerned.
        path: String,
        /// The group that holds them.
        group: String,
    },
    /// A matrix is malformed.
    #[error("{path}: matrix {matrix}: {source}")]
    Matrix {
        /// File concerned.
        path: String,
        /// Path of the matrix.
        matrix: String,
        /// What is wrong.
        source: SparseRowsError,
    },
    /// A size that is negative, does not fit the others, or is more than memory holds.
    #[error("{path}: {what}: {problem}")]
    Size {
        /// File concerned.
        path: String,
        /// What has the size.
        what: String,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// The data do not form a problem.
    #[error("{path}: {source}")]
    Problem {
        /// File concerned.
        path: String,
        /// What is wrong.
        source: ContactProblemError,
    },
}

/// A problem in either form.
#[derive(Clone, Debug)]
// One value per file: a box would only be one more thing to open.
#[allow(clippy::large_enum_variant)]
pub enum FclibProblem {
    /// u = W r + q.
    Local(ContactProblem),
    /// M v = H r + f, u = Hᵀ v + w.
    Global(GlobalForm),
}

/// Impulses and velocities stored beside a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FclibSolution {
    /// Generalized velocity, global problems only.
    pub v: Option<Vec<f64>>,
    /// Local velocities.
    pub u: Vec<f64>,
    /// Impulses.
    pub r: Vec<f64>,
}

/// Everything a file may hold.
///
/// ```
/// use stickslip::contact::ContactProblem;
/// use stickslip::contact::fclib::{FclibFile, FclibProblem};
///
/// let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
/// let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5])?;
/// let path = std::env::temp_dir().join(format!("stickslip-problem-{}.hdf5", std::process::id()));
/// FclibFile::new(FclibProblem::Local(problem)).write(&path)?;
/// let FclibProblem::Local(again) = FclibFile::read(&path)?.problem else { return Err("another form".into()) };
/// assert_eq!(again.free(), [-1.0, -5.0, 0.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FclibFile {
    /// Title, where given.
    pub title: String,
    /// Description, where given.
    pub description: String,
    /// The problem.
    pub problem: FclibProblem,
    /// The solution, where given.
    pub solution: Option<FclibSolution>,
    /// Initial guesses.
    pub guesses: Vec<FclibSolution>,
}

impl FclibFile {
    /// A file with a problem only.
    pub fn new(problem: FclibProblem) -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            problem,
            solution: None,
            guesses: Vec::new(),
        }
    }

    /// Reads a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FclibError> {
        let name = path.as_ref().display().to_string();
        let failed = |message: String| FclibError::File {
            path: name.clone(),
            message,
        };
        // A pipe would wait for a writer, a device has no end.
        let kind = std::fs::metadata(path.as_ref()).map_err(|error| failed(error.to_string()))?;
        if !kind.is_file() {
            return Err(failed("not a regular file".to_string()));
        }
        check_memory("the file", kind.len() as f64).map_err(|error| failed(error.to_string()))?;
        let file = File::open(path.as_ref()).map_err(|error| failed(error.to_string()))?;
        Reader {
            file,
            path: name,
            length: kind.len() as f64,
        }
        .read()
    }

    /// Reads the bytes of a file; `name` is what mistakes call it.
    pub fn from_bytes(bytes: Vec<u8>, name: &str) -> Result<Self, FclibError> {
        let length = bytes.len() as f64;
        let file = File::from_bytes(bytes).map_err(|error| FclibError::File {
            path: name.to_string(),
            message: error.to_string(),
        })?;
        let path = name.to_string();
        Reader { file, path, length }.read()
    }

    /// Writes a file, replacing what was there.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), FclibError> {
        let mut builder = FileBuilder::new();
        let data = match &self.problem {
            FclibProblem::Local(local) => local.coulomb_data(),
            FclibProblem::Global(global) => Some(CoulombData {
                dimension: global.dimension(),
                friction: global.friction().to_vec(),
            }),
        };
        let data = data.ok_or_else(|| FclibError::File {
            path: path.as_ref().display().to_string(),
            message: "the format knows Coulomb's law with discs in one dimension only".into(),
        })?;
        let (name, groups) = match &self.problem {
            FclibProblem::Local(local) => ("fclib_local", vec![("W", local.delassus().to_rows())]),
            FclibProblem::Global(global) => (
                "fclib_global",
                vec![
                    ("M", global.mass().clone()),
                    ("H", global.jacobian().clone()),
                ],
            ),
        };
        let mut group = builder.create_group(name);
        integers(&mut group, "spacedim", &[data.dimension as i32]);
        for (name, matrix) in &groups {
            let mut inner = group.create_group(name);
            write_matrix(&mut inner, matrix);
            group.add_group(inner.finish());
        }
        let mut vectors = group.create_group("vectors");
        match &self.problem {
            FclibProblem::Local(local) => {
                numbers(&mut vectors, "q", local.free());
            }
            FclibProblem::Global(global) => {
                numbers(&mut vectors, "f", global.force());
                numbers(&mut vectors, "w", global.imposed_velocity());
            }
        }
        numbers(&mut vectors, "mu", &data.friction);
        group.add_group(vectors.finish());
        let mut info = group.create_group("info");
        for (name, text) in [
            ("title", self.title.as_str()),
            ("description", self.description.as_str()),
            ("math_info", "-"),
        ] {
            text_dataset(&mut info, name, text);
        }
        group.add_group(info.finish());
        builder.add_group(group.finish());
        if let Some(solution) = &self.solution {
            let mut group = builder.create_group("solution");
            write_solution(&mut group, solution);
            builder.add_group(group.finish());
        }
        if !self.guesses.is_empty() {
            let mut group = builder.create_group("guesses");
            integers(
                &mut group,
                "number_of_guesses",
                &[self.guesses.len() as i32],
            );
            for (k, guess) in self.guesses.iter().enumerate() {
                let mut inner = group.create_group(&(k + 1).to_string());
                write_solution(&mut inner, guess);
                group.add_group(inner.finish());
            }
            builder.add_group(group.finish());
        }
        builder
            .write(path.as_ref())
            .map_err(|error| FclibError::File {
                path: path.as_ref().display().to_string(),
                message: error.to_string(),
            })
    }
}

/// Arrays of at least this length are compressed.
const COMPRESS_FROM: usize = 256;

fn integers(group: &mut GroupBuilder, name: &str, values: &[i32]) {
    let dataset = group.create_dataset(name);
    dataset.with_i32_data(values);
    if values.len() >= COMPRESS_FROM {
        dataset
            .with_chunks(&[values.len().min(1 << 17) as u64])
            .with_shuffle()
            .with_deflate(4);
    }
}

fn numbers(group: &mut GroupBuilder, name: &str, values: &[f64]) {
    let dataset = group.create_dataset(name);
    dataset.with_f64_data(values);
    if values.len() >= COMPRESS_FROM {
        dataset
            .with_chunks(&[values.len().min(1 << 16) as u64])
            .with_shuffle()
            .with_deflate(4);
    }
}

/// A text in the fixed-length form that the reference library reads; an empty one becomes a dash.
fn text_dataset(group: &mut GroupBuilder, name: &str, text: &str) {
    let text = if text.is_empty() { "-" } else { text };
    let mut stored = text.to_owned();
    stored.push('\0');
    // One element of the length of the text always fits its own width.
    let _ = group
        .create_dataset(name)
        .with_strings(&[stored.as_str()])
        .map(|dataset| dataset.with_shape(&[]));
}

fn write_matrix(group: &mut GroupBuilder, matrix: &SparseRows) {
    let (start, column, value) = matrix.parts();
    let as_i32 = |list: &[usize]| list.iter().map(|&x| x as i32).collect::<Vec<_>>();
    integers(group, "nzmax", &[value.len() as i32]);
    integers(group, "m", &[matrix.rows() as i32]);
    integers(group, "n", &[matrix.columns() as i32]);
    integers(group, "nz", &[-2]);
    integers(group, "p", &as_i32(start));
    integers(group, "i", &as_i32(column));
    numbers(group, "x", value);
}

fn write_solution(group: &mut GroupBuilder, solution: &FclibSolution) {
    if let Some(v) = &solution.v {
        numbers(group, "v", v);
    }
    numbers(group, "u", &solution.u);
    numbers(group, "r", &solution.r);
}

/// Deflate packs at most so many bytes into one.
const PACKED: f64 = 1032.0;
/// Bytes of numbers that a chunk may promise whatever the length of the file: writers choose chunks longer than their data.
const CHUNK: f64 = (1 << 26) as f64;

struct Reader {
    file: File,
    path: String,
    /// Bytes of the file.
    length: f64,
}

impl Reader {
    fn read(&self) -> Result<FclibFile, FclibError> {
        let groups = self.groups("/");
        let has = |name: &str| groups.iter().any(|g| g == name);
        let (root, problem) = if has("fclib_local") {
            ("fclib_local", self.local()?)
        } else if has("fclib_global") {
            ("fclib_global", self.global()?)
        } else {
            return Err(FclibError::NoProblem {
                path: self.path.clone(),
            });
        };
        let solution = if has("solution") {
            Some(self.solution("solution", &problem)?)
        } else {
            None
        };
        let mut guesses = Vec::new();
        if has("guesses") {
            for k in 1..=self.size("guesses/number_of_guesses")? {
                guesses.push(self.solution(&format!("guesses/{k}"), &problem)?);
            }
        }
        Ok(FclibFile {
            title: self.text(&format!("{root}/info/title")),
            description: self.text(&format!("{root}/info/description")),
            problem,
            solution,
            guesses,
        })
    }

    fn groups(&self, path: &str) -> Vec<String> {
        let group = if path == "/" {
            Ok(self.file.root())
        } else {
            self.file.group(path)
        };
        group.and_then(|g| g.groups()).unwrap_or_default()
    }

    fn local(&self) -> Result<FclibProblem, FclibError> {
        self.refuse("fclib_local", &["V", "R"])?;
        let q = self.numbers("fclib_local/vectors/q")?;
        let matrix = self.matrix("fclib_local/W", (q.len(), q.len()))?;
        let problem = ContactProblem::coulomb_from_rows(
            self.size("fclib_local/spacedim")?,
            &matrix,
            q,
            self.numbers("fclib_local/vectors/mu")?,
        );
        problem
            .map(FclibProblem::Local)
            .map_err(|source| self.wrong(source))
    }

    fn global(&self) -> Result<FclibProblem, FclibError> {
        self.refuse("fclib_global", &["G"])?;
        let f = self.numbers("fclib_global/vectors/f")?;
        let w = self.numbers("fclib_global/vectors/w")?;
        let problem = GlobalForm::new(
            self.size("fclib_global/spacedim")?,
            self.matrix("fclib_global/M", (f.len(), f.len()))?,
            self.matrix("fclib_global/H", (f.len(), w.len()))?,
            f,
            w,
            self.numbers("fclib_global/vectors/mu")?,
        );
        problem
            .map(FclibProblem::Global)
            .map_err(|source| self.wrong(source))
    }

    fn refuse(&self, root: &str, names: &[&str]) -> Result<(), FclibError> {
        let groups = self.groups(root);
        match names.iter().find(|name| groups.iter().any(|g| g == *name)) {
            None => Ok(()),
            Some(name) => Err(FclibError::Equalities {
                path: self.path.clone(),
                group: format!("{root}/{name}"),
            }),
        }
    }

    fn wrong(&self, source: ContactProblemError) -> FclibError {
        FclibError::Problem {
            path: self.path.clone(),
            source,
        }
    }

    fn solution(&self, group: &str, problem: &FclibProblem) -> Result<FclibSolution, FclibError> {
        let rows = match problem {
            FclibProblem::Local(local) => local.free().len(),
            FclibProblem::Global(global) => global.imposed_velocity().len(),
        };
        let solution = FclibSolution {
            v: self.numbers(&format!("{group}/v")).ok(),
            u: self.numbers(&format!("{group}/u"))?,
            r: self.numbers(&format!("{group}/r"))?,
        };
        for (name, list) in [("u", &solution.u), ("r", &solution.r)] {
            if list.len() != rows {
                let problem = format!("{} entries, expected {rows}", list.len());
                return Err(self.wrong_size(&format!("{group}/{name}"), problem));
            }
        }
        Ok(solution)
    }

    /// A matrix of the size that the vectors of the problem ask for; nothing is allocated for another one.
    fn matrix(
        &self,
        group: &str,
        (rows, columns): (usize, usize),
    ) -> Result<SparseRows, FclibError> {
        let (m, n) = (
            self.size(&format!("{group}/m"))?,
            self.size(&format!("{group}/n"))?,
        );
        let nz = self.integer(&format!("{group}/nz"))?;
        if (m, n) != (rows, columns) {
            let problem = format!("{m} rows and {n} columns, expected {rows} and {columns}");
            return Err(self.wrong_size(group, problem));
        }
        if nz < -2 {
            let problem = format!("nz = {nz}, expected -2, -1 or a number of triplets");
            return Err(self.wrong_size(group, problem));
        }
        let p = self.indices(&format!("{group}/p"))?;
        let i = self.indices(&format!("{group}/i"))?;
        let x = self.numbers(&format!("{group}/x"))?;
        let wrong = |source| FclibError::Matrix {
            path: self.path.clone(),
            matrix: group.to_owned(),
            source,
        };
        let lines = if nz == -2 { m } else { n };
        if nz < 0 && p.len() != lines + 1 {
            let problem = format!("{} pointers, expected {}", p.len(), lines + 1);
            return Err(self.wrong_size(group, problem));
        }
        if nz == -2 {
            return SparseRows::new(n, p, i, x).map_err(wrong);
        }
        if nz == -1 {
            return SparseRows::new(m, p, i, x)
                .map(|a| a.transposed())
                .map_err(wrong);
        }
        // Triplets: p holds rows and i columns; some writers swap them.
        let count = nz as usize;
        let shortest = p.len().min(i.len()).min(x.len());
        if count > shortest {
            let problem = format!("{count} triplets promised, {shortest} given");
            return Err(self.wrong_size(group, problem));
        }
        let fits = |rows: &[usize], columns: &[usize]| {
            rows.iter().all(|&r| r < m) && columns.iter().all(|&c| c < n)
        };
        let (rows, columns) = if fits(&p[..count], &i[..count]) {
            (&p, &i)
        } else {
            (&i, &p)
        };
        if !fits(&rows[..count], &columns[..count]) {
            return Err(wrong(SparseRowsError::RowPointers { row: 0 }));
        }
        let triplets: Vec<_> = (0..count).map(|k| (rows[k], columns[k], x[k])).collect();
        Ok(SparseRows::from_triplets(m, n, &triplets))
    }

    fn bad(&self, dataset: &str, message: impl ToString) -> FclibError {
        FclibError::Dataset {
            path: self.path.clone(),
            dataset: dataset.to_owned(),
            message: message.to_string(),
        }
    }

    fn wrong_size(&self, what: &str, problem: String) -> FclibError {
        FclibError::Size {
            path: self.path.clone(),
            what: what.to_owned(),
            problem,
        }
    }

    /// A dataset whose numbers fit into its file and into memory: packed data may promise any number of them.
    fn dataset(&self, name: &str) -> Result<Dataset, FclibError> {
        let dataset = self.file.dataset(name).map_err(|e| self.bad(name, e))?;
        let shape = dataset.shape().map_err(|e| self.bad(name, e))?;
        let chunk = dataset.chunk_shape().map_err(|e| self.bad(name, e))?;
        let count = |shape: &[u64]| -> f64 { shape.iter().map(|&n| n as f64).product() };
        let elements = count(&shape).max(chunk.map_or(0.0, |chunk| count(&chunk)));
        if 8.0 * elements > PACKED * self.length + CHUNK {
            let problem = format!("{elements} numbers, more than a file of this length can hold");
            return Err(self.wrong_size(name, problem));
        }
        // The packed bytes, the numbers and one copy of them.
        check_memory(format!("{elements} numbers"), 24.0 * elements)
            .map_err(|error| self.wrong_size(name, error.to_string()))?;
        Ok(dataset)
    }

    fn numbers(&self, dataset: &str) -> Result<Vec<f64>, FclibError> {
        let numbers = self.dataset(dataset)?.read_f64();
        numbers.map_err(|e| self.bad(dataset, e))
    }

    fn indices(&self, dataset: &str) -> Result<Vec<usize>, FclibError> {
        let list = self.dataset(dataset)?.read_i32();
        let list = list.map_err(|e| self.bad(dataset, e))?;
        match list.iter().find(|&&x| x < 0) {
            None => Ok(list.into_iter().map(|x| x as usize).collect()),
            Some(x) => Err(self.bad(dataset, format!("negative index {x}"))),
        }
    }

    /// A size, which is not negative.
    fn size(&self, dataset: &str) -> Result<usize, FclibError> {
        let size = self.integer(dataset)?;
        usize::try_from(size)
            .map_err(|_| self.wrong_size(dataset, format!("{size}, expected a number from 0")))
    }

    fn integer(&self, dataset: &str) -> Result<i64, FclibError> {
        let list = self.dataset(dataset)?.read_i32();
        let list = list.map_err(|e| self.bad(dataset, e))?;
        list.first()
            .map(|&x| i64::from(x))
            .ok_or_else(|| self.bad(dataset, "empty"))
    }

    fn text(&self, dataset: &str) -> String {
        let read = self.dataset(dataset).ok().map(|d| d.read_string());
        let text = read
            .and_then(Result::ok)
            .and_then(|list| list.into_iter().next());
        text.unwrap_or_default().trim_end_matches('\0').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A local problem of one contact in the plane with some sizes replaced.
    fn hostile(sizes: [i32; 4], p: &[i32], guesses: Option<i32>) -> Result<FclibFile, FclibError> {
        let [dimension, m, n, nz] = sizes;
        let mut builder = FileBuilder::new();
        let mut group = builder.create_group("fclib_local");
        integers(&mut group, "spacedim", &[dimension]);
        let mut matrix = group.create_group("W");
        for (name, value) in [("m", m), ("n", n), ("nz", nz), ("nzmax", 2)] {
            integers(&mut matrix, name, &[value]);
        }
        integers(&mut matrix, "p", p);
        integers(&mut matrix, "i", &[0, 1]);
        numbers(&mut matrix, "x", &[1.0, 1.0]);
        group.add_group(matrix.finish());
        let mut vectors = group.create_group("vectors");
        numbers(&mut vectors, "q", &[-1.0, 0.0]);
        numbers(&mut vectors, "mu", &[0.3]);
        group.add_group(vectors.finish());
        builder.add_group(group.finish());
        if let Some(count) = guesses {
            let mut group = builder.create_group("guesses");
            integers(&mut group, "number_of_guesses", &[count]);
            builder.add_group(group.finish());
        }
        let name = format!(
            "stickslip-hostile-{}-{sizes:?}{p:?}.hdf5",
            std::process::id()
        );
        let path = std::env::temp_dir().join(name);
        builder.write(&path).unwrap();
        let read = FclibFile::read(&path);
        std::fs::remove_file(&path).unwrap();
        read
    }

    #[test]
    fn sizes_that_no_problem_has_are_refused_before_anything_is_allocated() {
        let rows = [0, 1, 2];
        assert!(hostile([2, 2, 2, -2], &rows, None).is_ok());
        assert!(hostile([2, 2, 2, 2], &[0, 1], None).is_ok(), "triplets");
        for sizes in [
            [2, -2, 2, -2],
            [2, 2, -2, -2],
            [2, i32::MAX, i32::MAX, 2],
            [2, i32::MAX, i32::MAX, -1],
            [2, 2, 2, -3],
            [2, 2, 2, i32::MIN],
            [2, 2, 2, i32::MAX],
            [-2, 2, 2, -2],
            [i32::MAX, 2, 2, -2],
        ] {
            let error = hostile(sizes, &rows, None).unwrap_err().to_string();
            assert!(error.contains(".hdf5: "), "{sizes:?}: {error}");
        }
        for (p, nz) in [
            (&[0, 5, 2][..], -2),
            (&[0, 2], -2),
            (&[0, -1, 2], -2),
            (&[], -1),
            (&[0, 9], 2),
        ] {
            assert!(hostile([2, 2, 2, nz], p, None).is_err(), "{p:?}");
        }
        assert!(hostile([2, 2, 2, -2], &rows, Some(i32::MAX)).is_err());
        assert!(hostile([2, 2, 2, -2], &rows, Some(-1)).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_no_problem_file() {
        let error = FclibFile::read("/dev/zero").unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }

    #[test]
    fn written_files_read_back_the_same() {
        let w: Vec<f64> = (0..36).map(|k| 1.0 / (1.0 + k as f64)).collect();
        let local =
            ContactProblem::coulomb_from_dense(3, &w, vec![0.5; 6], vec![0.3, 0.0]).unwrap();
        let mut file = FclibFile::new(FclibProblem::Local(local));
        file.title = "two contacts".into();
        file.description = "none".into();
        let solution = FclibSolution {
            v: None,
            u: vec![1.0; 6],
            r: vec![2.0; 6],
        };
        file.solution = Some(solution.clone());
        file.guesses = vec![solution.clone(), solution];
        let path =
            std::env::temp_dir().join(format!("stickslip-fclib-{}.hdf5", std::process::id()));
        file.write(&path).unwrap();
        let back = FclibFile::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let (FclibProblem::Local(there), FclibProblem::Local(here)) =
            (&file.problem, &back.problem)
        else {
            panic!("a local problem");
        };
        assert_eq!(here.dense(), there.dense());
        assert_eq!(here.free(), there.free());
        assert_eq!(here.coulomb_data(), there.coulomb_data());
        assert_eq!(
            (back.title, back.description),
            (file.title, file.description)
        );
        assert_eq!((back.solution, back.guesses), (file.solution, file.guesses));
    }
}
