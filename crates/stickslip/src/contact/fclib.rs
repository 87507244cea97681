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
use crate::algebra::sparse_rows::{SparseRows, SparseRowsError};
use hdf5_pure::{File, FileBuilder, GroupBuilder};
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
        let file = File::open(path.as_ref()).map_err(|error| FclibError::File {
            path: name.clone(),
            message: error.to_string(),
        })?;
        Reader { file, path: name }.read()
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

struct Reader {
    file: File,
    path: String,
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
            Some(self.solution("solution")?)
        } else {
            None
        };
        let mut guesses = Vec::new();
        if has("guesses") {
            for k in 1..=self.integer("guesses/number_of_guesses")? {
                guesses.push(self.solution(&format!("guesses/{k}"))?);
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
        let matrix = self.matrix("fclib_local/W")?;
        let problem = ContactProblem::coulomb_from_rows(
            self.integer("fclib_local/spacedim")? as usize,
            &matrix,
            self.numbers("fclib_local/vectors/q")?,
            self.numbers("fclib_local/vectors/mu")?,
        );
        problem
            .map(FclibProblem::Local)
            .map_err(|source| self.wrong(source))
    }

    fn global(&self) -> Result<FclibProblem, FclibError> {
        self.refuse("fclib_global", &["G"])?;
        let problem = GlobalForm::new(
            self.integer("fclib_global/spacedim")? as usize,
            self.matrix("fclib_global/M")?,
            self.matrix("fclib_global/H")?,
            self.numbers("fclib_global/vectors/f")?,
            self.numbers("fclib_global/vectors/w")?,
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

    fn solution(&self, group: &str) -> Result<FclibSolution, FclibError> {
        Ok(FclibSolution {
            v: self.numbers(&format!("{group}/v")).ok(),
            u: self.numbers(&format!("{group}/u"))?,
            r: self.numbers(&format!("{group}/r"))?,
        })
    }

    fn matrix(&self, group: &str) -> Result<SparseRows, FclibError> {
        let size = |name: &str| self.integer(&format!("{group}/{name}"));
        let (m, n, nz) = (size("m")? as usize, size("n")? as usize, size("nz")?);
        let p = self.indices(&format!("{group}/p"))?;
        let i = self.indices(&format!("{group}/i"))?;
        let x = self.numbers(&format!("{group}/x"))?;
        let wrong = |source| FclibError::Matrix {
            path: self.path.clone(),
            matrix: group.to_owned(),
            source,
        };
        if nz == -2 {
            return SparseRows::new(n, p, i, x).map_err(wrong);
        }
        if nz == -1 {
            return SparseRows::new(m, p, i, x)
                .map(|a| a.transposed())
                .map_err(wrong);
        }
        // Triplets: p holds rows and i columns; some writers swap them.
        let count = (nz as usize).min(p.len()).min(i.len()).min(x.len());
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

    fn numbers(&self, dataset: &str) -> Result<Vec<f64>, FclibError> {
        self.file
            .dataset(dataset)
            .and_then(|d| d.read_f64())
            .map_err(|e| self.bad(dataset, e))
    }

    fn indices(&self, dataset: &str) -> Result<Vec<usize>, FclibError> {
        let list = self
            .file
            .dataset(dataset)
            .and_then(|d| d.read_i32())
            .map_err(|e| self.bad(dataset, e))?;
        match list.iter().find(|&&x| x < 0) {
            None => Ok(list.into_iter().map(|x| x as usize).collect()),
            Some(x) => Err(self.bad(dataset, format!("negative index {x}"))),
        }
    }

    fn integer(&self, dataset: &str) -> Result<i64, FclibError> {
        let list = self
            .file
            .dataset(dataset)
            .and_then(|d| d.read_i32())
            .map_err(|e| self.bad(dataset, e))?;
        list.first()
            .map(|&x| i64::from(x))
            .ok_or_else(|| self.bad(dataset, "empty"))
    }

    fn text(&self, dataset: &str) -> String {
        let read = self.file.dataset(dataset).and_then(|d| d.read_string());
        let text = read.ok().and_then(|list| list.into_iter().next());
        text.unwrap_or_default().trim_end_matches('\0').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
