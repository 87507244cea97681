//! Back on the constraints after a step: rounding and tolerance only.

use crate::algebra::dot;
use crate::systems::{Instant, MechanicalSystem};

use super::full_pivoting::solve_full_pivoting;
use super::integrator::Integrator;
use super::modes::Friction;

impl Integrator {
    /// Puts the state back on its closed contacts and joints (rounding and tolerance only).
    pub(super) fn project(&mut self, system: &dyn MechanicalSystem) {
        let (nq, n) = (self.nq, self.n);
        if nq != n {
            // The integration leaves the norm of a quaternion by its error.
            let (old, still) = (self.y[..nq].to_vec(), vec![0.0; n]);
            system.displace(&old, &still, 0.0, &mut self.y[..nq]);
        }
        let rigid = self.settings.compliance.is_none();
        let closed = rigid && self.modes.iter().any(|mode| mode.closed);
        let sticks = self
            .modes
            .iter()
            .any(|mode| mode.closed && mode.friction.iter().any(|f| matches!(f, Friction::Stick)));
        if !closed && !sticks && system.joints().is_empty() {
            return;
        }
        let y = std::mem::take(&mut self.y);
        let (mut q, mut v) = (y[..nq].to_vec(), y[nq..nq + n].to_vec());
        // Positions: gaps and joints to zero.
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut values = Vec::new();
        let mut seen = Vec::new();
        if rigid {
            for (s, mode) in self.modes.iter().enumerate() {
                let c = self.accelerations.layout.slots()[s].key.constraint();
                if mode.closed && !seen.contains(&c) {
                    seen.push(c);
                    let gap = system.constraints()[c].gap();
                    let mut row = vec![0.0; n];
                    gap.gradient(self.t, &q, &mut row);
                    rows.push(row);
                    values.push(gap.value(self.t, &q));
                }
            }
        }
        for joint in system.joints() {
            let mut row = vec![0.0; n];
            joint.function().gradient(self.t, &q, &mut row);
            rows.push(row);
            values.push(joint.function().value(self.t, &q));
        }
        let correction = self.correction(&rows, &values);
        let old = q.clone();
        system.displace(&old, &correction, 1.0, &mut q);
        // Velocities: closed normals, stuck tangents and joints.
        let at = Instant {
            t: self.t,
            q: &q,
            v: &v,
            past: self.past.as_ref(),
            held: &[],
        };
        self.accelerations.place(system, &at, false);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        let acc = &self.accelerations;
        for (s, mode) in self.modes.iter().enumerate() {
            if !mode.closed {
                continue;
            }
            let slot = acc.layout.slots()[s];
            if rigid {
                rows.push(acc.row(s, 0).to_vec());
                values.push(acc.local[slot.start]);
            }
            for (group, friction) in acc.groups[s].iter().zip(&mode.friction) {
                if *friction == Friction::Stick {
                    for i in group.start..group.start + group.size {
                        rows.push(acc.row(s, i).to_vec());
                        values.push(acc.local[slot.start + i]);
                    }
                }
            }
        }
        for joint in system.joints() {
            let mut row = vec![0.0; n];
            joint.function().gradient(self.t, &q, &mut row);
            values.push(dot(&row, &v) + joint.function().rate(self.t, &q));
            rows.push(row);
        }
        let correction = self.correction(&rows, &values);
        for (v, c) in v.iter_mut().zip(&correction) {
            *v += c;
        }
        self.y = y;
        self.y[..nq].copy_from_slice(&q);
        self.y[nq..nq + n].copy_from_slice(&v);
    }

    /// Shortest vector in the kinetic metric whose products with the rows are minus the values.
    pub(super) fn correction(&self, rows: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
        self.answer(rows, values).0
    }

    /// The same with the multipliers of the rows.
    pub(super) fn answer(&self, rows: &[Vec<f64>], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let m = rows.len();
        let responses: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let mut x = row.clone();
                self.accelerations.factor.solve_in_place(&mut x);
                x
            })
            .collect();
        let mut matrix = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..m {
                matrix[i * m + j] = dot(&rows[i], &responses[j]);
            }
        }
        let mut right: Vec<f64> = values.iter().map(|x| -x).collect();
        let multipliers = if m == 0 {
            Vec::new()
        } else {
            solve_full_pivoting(&mut matrix, &mut right, None).0
        };
        let mut out = vec![0.0; self.n];
        for (response, x) in responses.iter().zip(&multipliers) {
            for (o, r) in out.iter_mut().zip(response) {
                *o += x * r;
            }
        }
        (out, multipliers)
    }
}
