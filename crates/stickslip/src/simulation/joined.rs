//! Velocities that act on each other: joined by mass, joints, stiffness and contacts.

use crate::algebra::{Covectors, SymmetricMatrix};
use crate::contact::ContactKey;
use crate::systems::MechanicalSystem;

/// Velocities that mass, joints, stiffness and the contacts `acting` join at some times and places, each with the number of one of those it is joined to.
pub(super) fn joined<'a>(
    system: &dyn MechanicalSystem,
    places: impl Iterator<Item = (f64, &'a [f64])>,
    acting: &[ContactKey],
) -> Vec<usize> {
    let mut parts = Parts::new(system.dof());
    if let Some(sparsity) = system.sparsity() {
        let pattern = &sparsity.pattern;
        for i in 0..pattern.order() {
            (pattern.row(i).iter()).for_each(|&j| parts.join(i, j as usize));
        }
    }
    if let Some(linear) = system.linear_part() {
        let matrices = [&linear.stiffness, &linear.damping].into_iter().flatten();
        matrices.for_each(|matrix| parts.join_matrix(matrix));
    }
    let mut mass = system.new_matrix();
    for (t, q) in places {
        system.mass(q, &mut mass);
        parts.join_matrix(&mass);
        for joint in system.joints() {
            let mut row = vec![0.0; system.dof()];
            joint.function().gradient(t, q, &mut row);
            parts.join_all((0..row.len()).filter(|&i| row[i] != 0.0));
        }
        for &contact in acting {
            let rows = rows(system, contact, (t, q));
            parts.join_all((0..rows.len()).flat_map(|i| touched(&rows, i)));
        }
    }
    parts.numbers()
}

/// The gradient of the gap of a declared contact, and its rows after it.
pub(super) fn rows(
    system: &dyn MechanicalSystem,
    contact: ContactKey,
    (t, q): (f64, &[f64]),
) -> Covectors {
    let n = system.dof();
    let constraint = &system.constraints()[contact.constraint()];
    let (mut gradient, mut rows) = (Covectors::default(), Covectors::default());
    gradient.clear_sparse(n);
    if !constraint.gap().sparse_gradient(t, q, &mut gradient) {
        let mut dense = vec![0.0; n];
        constraint.gap().gradient(t, q, &mut dense);
        gradient.push_nonzeros(&dense);
    }
    rows.clear_sparse(n);
    rows.push_row_of(&gradient, 0);
    if let Some(point) = constraint.points().get(contact.point()) {
        point.frame.sparse_rows(t, q, (&gradient, 0), &mut rows);
    }
    rows
}

/// Velocities that a row reads.
pub(super) fn touched(rows: &Covectors, i: usize) -> impl Iterator<Item = usize> {
    let (index, value) = rows.sparse(i);
    let parts = index.iter().zip(value).filter(|(_, x)| **x != 0.0);
    parts.map(|(&j, _)| j as usize)
}

/// Things that are joined to each other, directly or through others.
pub(super) struct Parts {
    parent: Vec<usize>,
}

impl Parts {
    pub fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    pub fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Joins all of them to each other.
    fn join_all(&mut self, mut touched: impl Iterator<Item = usize>) {
        if let Some(first) = touched.next() {
            touched.for_each(|i| self.join(first, i));
        }
    }

    /// Joins what the entries of a matrix couple.
    fn join_matrix(&mut self, matrix: &SymmetricMatrix) {
        if let Some(sparse) = matrix.sparse() {
            for i in 0..matrix.order() {
                let row = sparse.pattern().row(i);
                row.iter().for_each(|&j| self.join(i, j as usize));
            }
            return;
        }
        let n = matrix.order();
        for e in (0..n * n).filter(|&e| matrix.values()[e] != 0.0) {
            self.join(e / n, e % n);
        }
    }

    pub fn numbers(mut self) -> Vec<usize> {
        (0..self.parent.len()).map(|i| self.root(i)).collect()
    }
}
