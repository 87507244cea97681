//! The discrete Coulomb problem in global form, M v = H r + f and u = Hᵀ v + w, and its
//! condensation to the local form.
//!
//! M is split in the parts that no entry couples (rigid bodies); small parts are
//! inverted densely and kept as a [`BodyForm`], so that W is assembled block by block and
//! solvers may work on bodies. A large part (a mesh) is factored once by a sparse LU and W becomes dense
//! on the contacts it carries.

use super::ContactProblem;
use super::coulomb::{ContactProblemError, check_friction, check_matrix, check_size, check_vector};
use super::delassus::{BodyForm, BodyLink};
use crate::algebra::block_sparse::{BlockSparse, BlockSparseBuilder};
use crate::algebra::memory::check_memory;
use crate::algebra::small_inverse::invert;
use crate::algebra::sparse_factor::SparseFactor;
use crate::algebra::sparse_rows::SparseRows;

/// Parts of M with more freedoms than this are factored sparsely instead of inverted.
const LARGEST_BODY: usize = 24;

/// Coulomb problem in global form: what a file or a code of one's own gives before it is condensed.
///
/// ```
/// use stickslip::algebra::SparseRows;
/// use stickslip::contact::GlobalForm;
///
/// // A mass of 2 kg over a floor: M v = f + H r, u = Hᵀ v + w, here with f = M v_free.
/// let mass = SparseRows::from_dense(2, 2, &[2.0, 0.0, 0.0, 2.0]);
/// let rows = SparseRows::from_dense(2, 2, &[1.0, 0.0, 0.0, 1.0]);
/// let global = GlobalForm::new(2, mass, rows, vec![-2.0, 6.0], vec![0.0, 0.0], vec![0.5])?;
/// let condensed = global.condense()?;
/// assert_eq!((condensed.local.w(0, 0), condensed.local.free()), (0.5, &[-1.0, 3.0][..]));
/// assert_eq!(condensed.generalized_velocity(&global, &[2.0, -1.0]), [0.0, 2.5]);
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalForm {
    dimension: usize,
    mass: SparseRows,
    jacobian: SparseRows,
    force: Vec<f64>,
    velocity: Vec<f64>,
    friction: Vec<f64>,
}

/// A global problem condensed to its contacts, with what is needed to go back.
#[derive(Debug)]
pub struct CondensedProblem {
    /// The local form.
    pub local: ContactProblem,
    inverse: MassInverse,
}

/// M⁻¹ as blocks or as a factorisation.
#[derive(Debug)]
enum MassInverse {
    Bodies(Vec<(Vec<usize>, Vec<f64>)>),
    Factor(Box<SparseFactor>),
}

impl GlobalForm {
    /// Checks sizes and finiteness. `mass` is M, `jacobian` H (freedoms × contact components), `force` f,
    /// `velocity` w.
    pub fn new(
        dimension: usize,
        mass: SparseRows,
        jacobian: SparseRows,
        force: Vec<f64>,
        velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, ContactProblemError> {
        if dimension != 2 && dimension != 3 {
            return Err(ContactProblemError::Dimension(dimension));
        }
        check_size("M columns", mass.columns(), mass.rows())?;
        check_size("H", jacobian.rows(), mass.rows())?;
        check_size("H columns", jacobian.columns(), dimension * friction.len())?;
        check_size("f", force.len(), mass.rows())?;
        check_size("w", velocity.len(), jacobian.columns())?;
        check_vector("f", &force)?;
        check_vector("w", &velocity)?;
        check_friction(&friction)?;
        for (what, matrix) in [("M", &mass), ("H", &jacobian)] {
            check_matrix(what, matrix.first_not_finite())?;
        }
        Ok(Self {
            dimension,
            mass,
            jacobian,
            force,
            velocity,
            friction,
        })
    }

    /// Space dimension.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// M.
    pub fn mass(&self) -> &SparseRows {
        &self.mass
    }

    /// H.
    pub fn jacobian(&self) -> &SparseRows {
        &self.jacobian
    }

    /// f.
    pub fn force(&self) -> &[f64] {
        &self.force
    }

    /// w.
    pub fn imposed_velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// μ of each contact.
    pub fn friction(&self) -> &[f64] {
        &self.friction
    }

    /// W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹ f + w, with the bodies attached where M is block-diagonal.
    pub fn condense(&self) -> Result<CondensedProblem, ContactProblemError> {
        let parts = self.uncoupled_parts();
        if parts.iter().any(|part| part.len() > LARGEST_BODY) {
            return self.condense_mesh();
        }
        let form = self.body_form(parts)?;
        let matrix = assemble(&form, self.dimension);
        let inverse = MassInverse::Bodies(
            form.freedoms
                .iter()
                .cloned()
                .zip(form.inverse_mass.iter().cloned())
                .collect(),
        );
        let q = self.free_velocity(&inverse);
        let local = ContactProblem::coulomb(matrix, q, self.friction.clone())?.with_bodies(form);
        Ok(CondensedProblem { local, inverse })
    }

    fn condense_mesh(&self) -> Result<CondensedProblem, ContactProblemError> {
        // W is full, and its rows are copied once.
        let size = self.jacobian.columns() as f64;
        check_memory(format!("W of {size} rows"), 16.0 * size * size)?;
        let factor = SparseFactor::new(&self.mass)
            .map_err(|row| ContactProblemError::SingularMass { row })?;
        let inverse = MassInverse::Factor(Box::new(factor));
        let q = self.free_velocity(&inverse);
        let columns = self.jacobian.transposed();
        let order = columns.rows();
        let mut dense = vec![0.0; order * order];
        let mut x = vec![0.0; self.mass.rows()];
        let mut w = vec![0.0; order];
        for j in 0..order {
            x.fill(0.0);
            for (i, a) in columns.row(j) {
                x[i] += a;
            }
            inverse.apply(&mut x);
            w.fill(0.0);
            columns.multiply_add(&x, &mut w);
            for i in 0..order {
                dense[i * order + j] = w[i];
            }
        }
        let local =
            ContactProblem::coulomb_from_dense(self.dimension, &dense, q, self.friction.clone())?;
        Ok(CondensedProblem { local, inverse })
    }

    fn free_velocity(&self, inverse: &MassInverse) -> Vec<f64> {
        let mut v = self.force.clone();
        inverse.apply(&mut v);
        let mut q = self.velocity.clone();
        self.jacobian.multiply_transpose_add(&v, &mut q);
        q
    }

    /// Splits the freedoms: blocks of one rigid body in storage order where M allows it, else
    /// the connected parts of M.
    fn uncoupled_parts(&self) -> Vec<Vec<usize>> {
        let n = self.mass.rows();
        let rigid = if self.dimension == 3 { 6 } else { 3 };
        let in_blocks = n.is_multiple_of(rigid)
            && (0..n).all(|i| {
                self.mass
                    .row(i)
                    .all(|(j, a)| a == 0.0 || j / rigid == i / rigid)
            });
        if in_blocks {
            return (0..n / rigid)
                .map(|b| (rigid * b..rigid * (b + 1)).collect())
                .collect();
        }
        // Union-find with the smallest index as representative.
        let mut parent: Vec<usize> = (0..n).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        for i in 0..n {
            for (j, a) in self.mass.row(i) {
                if a != 0.0 {
                    let (a, b) = (root(&mut parent, i), root(&mut parent, j));
                    parent[a.max(b)] = a.min(b);
                }
            }
        }
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); n];
        for i in 0..n {
            let r = root(&mut parent, i);
            parts[r].push(i);
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    fn body_form(&self, parts: Vec<Vec<usize>>) -> Result<BodyForm, ContactProblemError> {
        let d = self.dimension;
        let mut place = vec![(0, 0); self.mass.rows()];
        for (body, part) in parts.iter().enumerate() {
            for (k, &i) in part.iter().enumerate() {
                place[i] = (body, k);
            }
        }
        let mut form = BodyForm {
            links: vec![Vec::new(); self.friction.len()],
            ..BodyForm::default()
        };
        for part in &parts {
            let size = part.len();
            let mut mass = vec![0.0; size * size];
            for (k, &i) in part.iter().enumerate() {
                for (j, a) in self.mass.row(i) {
                    if a != 0.0 {
                        mass[k * size + place[j].1] += a;
                    }
                }
            }
            let inverse =
                invert(&mass, size).ok_or(ContactProblemError::SingularMass { row: part[0] })?;
            form.mass.push(mass);
            form.inverse_mass.push(inverse);
        }
        for (i, &(body, k)) in place.iter().enumerate() {
            let size = parts[body].len();
            for (j, a) in self.jacobian.row(i) {
                if a == 0.0 {
                    continue;
                }
                let links = &mut form.links[j / d];
                let at = match links.iter().position(|link| link.body == body) {
                    Some(at) => at,
                    None => {
                        links.push(BodyLink {
                            body,
                            jacobian: vec![0.0; d * size],
                        });
                        links.len() - 1
                    }
                };
                links[at].jacobian[(j % d) * size + k] += a;
            }
        }
        form.freedoms = parts;
        Ok(form)
    }
}

impl CondensedProblem {
    /// v = M⁻¹(H r + f).
    pub fn generalized_velocity(&self, problem: &GlobalForm, r: &[f64]) -> Vec<f64> {
        let mut v = problem.force.clone();
        problem.jacobian.multiply_add(r, &mut v);
        self.inverse.apply(&mut v);
        v
    }
}

impl MassInverse {
    /// x ← M⁻¹ x.
    fn apply(&self, x: &mut [f64]) {
        match self {
            Self::Factor(factor) => factor.solve(x),
            Self::Bodies(bodies) => {
                for (freedoms, inverse) in bodies {
                    let size = freedoms.len();
                    let old: Vec<f64> = freedoms.iter().map(|&i| x[i]).collect();
                    for (k, &i) in freedoms.iter().enumerate() {
                        let row = &inverse[k * size..(k + 1) * size];
                        x[i] = row.iter().zip(&old).map(|(a, b)| a * b).sum();
                    }
                }
            }
        }
    }
}

/// W from bodies: W_ij = Σ over common bodies of H_iᵀ M⁻¹ H_j.
fn assemble(form: &BodyForm, d: usize) -> BlockSparse {
    let contacts = form.links.len();
    let mut on_body: Vec<Vec<(usize, usize)>> = vec![Vec::new(); form.mass.len()];
    for (i, links) in form.links.iter().enumerate() {
        for (k, link) in links.iter().enumerate() {
            on_body[link.body].push((i, k));
        }
    }
    let mut builder = BlockSparseBuilder::new(d, contacts);
    let mut slot = vec![usize::MAX; contacts];
    let mut columns = Vec::new();
    let mut half = Vec::new();
    for (i, links) in form.links.iter().enumerate() {
        columns.clear();
        columns.push(i);
        slot[i] = 0;
        for link in links {
            for &(j, _) in &on_body[link.body] {
                if slot[j] == usize::MAX {
                    slot[j] = 0;
                    columns.push(j);
                }
            }
        }
        columns.sort_unstable();
        for (k, &j) in columns.iter().enumerate() {
            slot[j] = k;
        }
        let first = builder.start_row(&columns);
        for link in links {
            // half = H_iᵀ M⁻¹ of this body, d × size.
            let size = form.freedoms[link.body].len();
            let inverse = &form.inverse_mass[link.body];
            half.clear();
            half.resize(d * size, 0.0);
            for row in 0..d {
                for k in 0..size {
                    let h = link.jacobian[row * size + k];
                    if h != 0.0 {
                        for c in 0..size {
                            half[row * size + c] += h * inverse[k * size + c];
                        }
                    }
                }
            }
            for &(j, k) in &on_body[link.body] {
                let other = &form.links[j][k].jacobian;
                let block = &mut builder.value[first + d * d * slot[j]..][..d * d];
                for c in 0..d {
                    for row in 0..d {
                        block[d * c + row] += half[row * size..(row + 1) * size]
                            .iter()
                            .zip(&other[c * size..(c + 1) * size])
                            .map(|(a, b)| a * b)
                            .sum::<f64>();
                    }
                }
            }
        }
        for &j in &columns {
            slot[j] = usize::MAX;
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_unit_masses_and_one_contact_between_them() {
        // Two points of mass 2 in the plane of three freedoms each, the contact sees their difference.
        let mass =
            SparseRows::from_triplets(6, 6, &(0..6).map(|i| (i, i, 2.0)).collect::<Vec<_>>());
        let jacobian = SparseRows::from_triplets(
            6,
            2,
            &[(0, 0, 1.0), (3, 0, -1.0), (1, 1, 1.0), (4, 1, -1.0)],
        );
        let global = GlobalForm::new(
            2,
            mass,
            jacobian,
            vec![-2.0, 0.0, 0.0, 2.0, 0.0, 0.0],
            vec![0.5, 0.0],
            vec![0.3],
        )
        .unwrap();
        let condensed = global.condense().unwrap();
        let local = &condensed.local;
        assert_eq!(
            local.delassus().blocks().unwrap().diagonal(0),
            [1.0, 0.0, 0.0, 1.0]
        );
        assert_eq!(local.free(), [-1.5, 0.0]);
        assert_eq!(local.delassus().body_form().unwrap().links[0].len(), 2);
        let v = condensed.generalized_velocity(&global, &[1.0, 0.0]);
        assert_eq!(v, [-0.5, 0.0, 0.0, 0.5, 0.0, 0.0]);
    }
}
