//! The contact conditions of an island, linearised, and the sweep over them.

use super::krylov_island::{Island, Matrix, Vector, difference, dot, slip, sum};

/// Where a contact stands in the linearisation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Open,
    Sticks,
    Slides,
}

/// The conditions A δr + B δu = −F of the contacts that press, and the sweep over them.
#[derive(Debug, Default)]
pub(super) struct Linearised {
    /// Impulses with open contacts removed.
    pub(super) start: Vec<Vector>,
    place: Vec<Place>,
    rate: Vec<Matrix>,
    defect: Vec<Vector>,
    /// (A + (1 + α) B W_ii)⁻¹.
    inverse: Vec<Matrix>,
    weight: f64,
    velocity: Vec<f64>,
}

impl Linearised {
    /// Linearises at the impulses `r`, with a proximal weight.
    pub(super) fn set(&mut self, island: &Island, r: &[Vector], weight: f64) {
        let n = r.len();
        let mut v = std::mem::take(&mut self.velocity);
        island.velocity(r, &mut v);
        self.weight = weight;
        self.start.clear();
        self.start.extend_from_slice(r);
        self.place.clear();
        for (i, c) in island.contacts.iter().enumerate() {
            let u = sum(&island.product(i, &v), &island.free[i]);
            let z: Vector = std::array::from_fn(|k| r[i][k] - c.rho * u[k]);
            self.place.push(if z[0] <= 0.0 {
                Place::Open
            } else if slip(&z) <= c.mu * z[0] {
                Place::Sticks
            } else {
                Place::Slides
            });
        }
        for (i, start) in self.start.iter_mut().enumerate() {
            if self.place[i] == Place::Open {
                island.push(i, &start.map(|p| -p), &mut v);
                *start = [0.0; 3];
            }
        }
        for matrices in [&mut self.rate, &mut self.inverse] {
            matrices.clear();
            matrices.resize(n, [[0.0; 3]; 3]);
        }
        self.defect.clear();
        self.defect.resize(n, [0.0; 3]);
        for i in 0..n {
            self.linearise(island, i, &r[i], &v);
        }
        self.velocity = v;
    }

    fn linearise(&mut self, island: &Island, i: usize, r: &Vector, v: &[f64]) {
        if self.place[i] == Place::Open {
            return;
        }
        let c = &island.contacts[i];
        let u = sum(&island.product(i, v), &island.free[i]);
        let z: Vector = std::array::from_fn(|k| r[k] - c.rho * u[k]);
        let size = slip(&z);
        let (mut a, mut b) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        let defect = &mut self.defect[i];
        if self.place[i] == Place::Sticks || size == 0.0 {
            for k in 0..3 {
                b[k][k] = c.rho;
                defect[k] = c.rho * u[k];
            }
        } else {
            let d = [z[1] / size, z[2] / size];
            let limit = c.mu * z[0].max(0.0);
            let share = (limit / size).min(1.0);
            b[0][0] = c.rho;
            defect[0] = c.rho * u[0];
            for k in 0..2 {
                defect[1 + k] = r[1 + k] - limit * d[k];
                a[1 + k][0] = -c.mu * d[k];
                b[1 + k][0] = c.mu * d[k] * c.rho;
                for l in 0..2 {
                    let one = f64::from(k == l);
                    let across = one - d[k] * d[l];
                    a[1 + k][1 + l] = one - share * across;
                    b[1 + k][1 + l] = share * across * c.rho;
                }
            }
        }
        let mut matrix = a;
        for k in 0..3 {
            for l in 0..3 {
                let own: f64 = (0..3).map(|j| b[k][j] * c.w[j][l]).sum();
                matrix[k][l] += (1.0 + self.weight) * own;
            }
        }
        self.inverse[i] = inverse(&matrix);
        self.rate[i] = b;
    }

    /// One sweep from `x`, with the right-hand side or without.
    pub(super) fn sweep(
        &mut self,
        island: &Island,
        x: &[Vector],
        driven: bool,
        out: &mut Vec<Vector>,
    ) {
        out.clear();
        out.extend_from_slice(x);
        let mut v = std::mem::take(&mut self.velocity);
        island.velocity(x, &mut v);
        for (i, c) in island.contacts.iter().enumerate() {
            if self.place[i] == Place::Open {
                out[i] = [0.0; 3];
                continue;
            }
            let u = island.product(i, &v);
            let others: Vector =
                std::array::from_fn(|k| u[k] - (1.0 + self.weight) * dot(&c.w[k], &out[i]));
            let rhs: Vector = std::array::from_fn(|k| {
                let defect = if driven { self.defect[i][k] } else { 0.0 };
                -defect - dot(&self.rate[i][k], &others)
            });
            let new: Vector = std::array::from_fn(|k| dot(&self.inverse[i][k], &rhs));
            island.push(i, &difference(&new, &out[i]), &mut v);
            out[i] = new;
        }
        self.velocity = v;
    }
}

/// The inverse of a small matrix; zero where it is singular, so that the contact stays as it is.
fn inverse(m: &Matrix) -> Matrix {
    let minor = |i: usize, j: usize| {
        let ((a, b), (c, d)) = (((j + 1) % 3, (j + 2) % 3), ((i + 1) % 3, (i + 2) % 3));
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(1, 0) + m[0][2] * minor(2, 0);
    if determinant == 0.0 {
        return [[0.0; 3]; 3];
    }
    std::array::from_fn(|i| std::array::from_fn(|j| minor(i, j) / determinant))
}
