//! GMRES of Saad and Schultz over vectors of contacts, its memory kept from solve to solve.

use super::krylov_island::{Vector, difference, inner};

/// Working memory and answer.
#[derive(Debug, Default)]
pub(super) struct Gmres {
    /// The solution found last.
    pub(super) x: Vec<Vector>,
    basis: Vec<Vec<Vector>>,
    image: Vec<Vector>,
    /// Columns of the triangle, one after the other.
    columns: Vec<f64>,
    column: Vec<f64>,
    turns: Vec<(f64, f64)>,
    rhs: Vec<f64>,
}

/// First entry of column `j` of a packed triangle.
fn first(j: usize) -> usize {
    j * (j + 1) / 2
}

impl Gmres {
    /// Solves (I − G) x = b with `sweep` writing G x; |b − (I − G) x|/|b|.
    pub(super) fn solve(
        &mut self,
        b: &[Vector],
        (vectors, accuracy): (usize, f64),
        mut sweep: impl FnMut(&[Vector], &mut Vec<Vector>),
    ) -> f64 {
        let size = inner(b, b).sqrt();
        self.x.clear();
        self.x.resize(b.len(), [0.0; 3]);
        if !(size > 0.0) {
            return 0.0;
        }
        self.columns.clear();
        self.turns.clear();
        self.rhs.clear();
        self.rhs.push(size);
        self.set(0, b, 1.0 / size);
        let mut k = 0;
        for j in 0..vectors {
            let mut image = std::mem::take(&mut self.image);
            sweep(&self.basis[j], &mut image);
            let length = self.orthogonalise(j, &mut image);
            let more = self.rotate(j, length);
            if more.is_some() {
                k = j + 1;
            }
            let over = more.is_none_or(|left| left <= accuracy * size || length == 0.0);
            if !over {
                self.set(j + 1, &image, 1.0 / length);
            }
            self.image = image;
            if over {
                break;
            }
        }
        self.combine(k);
        self.rhs[k].abs() / size
    }

    /// Basis vector `j` is a multiple of `from`.
    fn set(&mut self, j: usize, from: &[Vector], factor: f64) {
        if self.basis.len() <= j {
            self.basis.push(Vec::new());
        }
        let vector = &mut self.basis[j];
        vector.clear();
        vector.extend(from.iter().map(|x| x.map(|x| factor * x)));
    }

    /// Makes (I − G) of basis vector `j` orthogonal to the basis; its length, its parts in the column.
    fn orthogonalise(&mut self, j: usize, image: &mut [Vector]) -> f64 {
        for (w, q) in image.iter_mut().zip(&self.basis[j]) {
            *w = difference(q, w);
        }
        self.column.clear();
        for q in &self.basis[..=j] {
            let along = inner(image, q);
            self.column.push(along);
            for (w, q) in image.iter_mut().zip(q) {
                for k in 0..3 {
                    w[k] -= along * q[k];
                }
            }
        }
        inner(image, image).sqrt()
    }

    /// Turns the column into the triangle; what is left of the right-hand side, `None` where the column vanishes.
    fn rotate(&mut self, j: usize, length: f64) -> Option<f64> {
        let column = &mut self.column;
        for (i, &(cos, sin)) in self.turns.iter().enumerate() {
            let turned = cos * column[i] + sin * column[i + 1];
            column[i + 1] = cos * column[i + 1] - sin * column[i];
            column[i] = turned;
        }
        let radius = column[j].hypot(length);
        if !(radius > 0.0) {
            return None;
        }
        let (cos, sin) = (column[j] / radius, length / radius);
        column[j] = radius;
        self.turns.push((cos, sin));
        let last = self.rhs[j];
        self.rhs[j] = cos * last;
        self.rhs.push(-sin * last);
        self.columns.extend_from_slice(column);
        Some((sin * last).abs())
    }

    /// x from the first `k` columns.
    fn combine(&mut self, k: usize) {
        let y = &mut self.column;
        y.clear();
        y.resize(k, 0.0);
        for i in (0..k).rev() {
            let known: f64 = (i + 1..k).map(|j| self.columns[first(j) + i] * y[j]).sum();
            y[i] = (self.rhs[i] - known) / self.columns[first(i) + i];
        }
        for (q, y) in self.basis.iter().zip(y.iter()) {
            for (x, q) in self.x.iter_mut().zip(q) {
                for l in 0..3 {
                    x[l] += y * q[l];
                }
            }
        }
    }
}
