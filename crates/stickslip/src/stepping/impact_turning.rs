//! What joints turn on after an impact.
//!
//! An explicit step whose positions are corrected takes half of what the rows of a joint turn along a chord on either
//! side of the place between two chords: `G v₁ = −τ` with `τ = G v₀` there, so that joints do no work. τ is quadratic
//! in the velocity. After an impact it belongs to the velocity that is left: what v₀ turned would carry on a body that
//! the impact has stopped. It is taken in the part of the kinetic energy that the impact leaves to all that the joint acts on
//! within the step: the whole of it where nothing is lost, so that joints do as little work in an elastic impact as in any
//! step, and nothing where everything stops. In between they give back less than the contacts take, by the factor `|λ τ|/2T` of
//! an angle within a step. The turning of the velocity after would fit the next chord better, and do work of first order in
//! elastic impacts of several bodies.

use crate::algebra::SymmetricMatrix;
use crate::contact::ContactProblem;

use super::joints::JointSystem;

/// Groups of velocities that mass, joints and contacts join, and their kinetic energies.
#[derive(Debug, Default)]
pub(crate) struct ImpactTurning {
    group: Vec<usize>,
    row: Vec<f64>,
    momentum: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    left: Vec<f64>,
    /// What the last change of the turning did to the velocity.
    pub shift: Vec<f64>,
}

impl ImpactTurning {
    /// Finds the groups of a step that begins with the velocity v.
    pub fn begin(
        &mut self,
        mass: &SymmetricMatrix,
        joints: &JointSystem,
        problem: &ContactProblem,
        v: &[f64],
    ) {
        let n = v.len();
        self.group.clear();
        self.group.extend(0..n);
        for i in 0..n {
            for j in (0..i).filter(|&j| mass.get(i, j) != 0.0) {
                join(&mut self.group, i, j);
            }
        }
        for row in joints.rows(n) {
            join_row(&mut self.group, row);
        }
        for block in problem.blocks() {
            for i in block.range() {
                self.row.clear();
                self.row.resize(n, 0.0);
                problem.row_add(i, 1.0, &mut self.row);
                join_row(&mut self.group, &self.row);
            }
        }
        energies(&self.group, mass, v, &mut self.momentum, &mut self.before);
    }

    /// Turns the joints by what the velocity v after the impact leaves of their turning; `shift` is what that changes of the
    /// velocity.
    pub fn turn(&mut self, mass: &SymmetricMatrix, joints: &mut JointSystem, v: &[f64]) {
        energies(&self.group, mass, v, &mut self.momentum, &mut self.after);
        self.left.clear();
        for row in joints.rows(v.len()) {
            let first = row.iter().position(|&x| x != 0.0);
            let left = first.map_or(1.0, |i| {
                let g = self.group[i];
                let (after, before) = (self.after[g], self.before[g]);
                if after < before { after / before } else { 1.0 }
            });
            self.left.push(left);
        }
        self.shift.clear();
        self.shift.resize(v.len(), 0.0);
        joints.keep_turning(&self.left, &mut self.shift);
    }
}

/// Gives both groups one name.
fn join(group: &mut [usize], i: usize, j: usize) {
    let (a, b) = (group[i], group[j]);
    if a != b {
        let (least, other) = (a.min(b), a.max(b));
        group
            .iter_mut()
            .filter(|g| **g == other)
            .for_each(|g| *g = least);
    }
}

fn join_row(group: &mut [usize], row: &[f64]) {
    let mut acted = (0..row.len()).filter(|&i| row[i] != 0.0);
    if let Some(first) = acted.next() {
        acted.for_each(|i| join(group, first, i));
    }
}

/// Twice the kinetic energy of each group.
fn energies(
    group: &[usize],
    mass: &SymmetricMatrix,
    v: &[f64],
    momentum: &mut Vec<f64>,
    out: &mut Vec<f64>,
) {
    momentum.resize(v.len(), 0.0);
    mass.multiply(v, momentum);
    out.clear();
    out.resize(v.len(), 0.0);
    for ((&g, v), p) in group.iter().zip(v).zip(momentum.iter()) {
        out[g] += v * p;
    }
}
