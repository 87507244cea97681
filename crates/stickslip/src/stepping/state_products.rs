//! Products of the matrices of a mesh with the state at one instant.

use crate::algebra::SymmetricMatrix;
use crate::algebra::compensated::compensated_dot;
use crate::systems::{LinearPart, MechanicalSystem};

/// K q, K v, M v and C v of one state, kept from the end of a step to the start of the next.
///
/// A step of a linear mesh needs the matrices nowhere else: `K q_θ`, the energies and the numerical
/// dissipation are sums of these vectors at both ends, and one pass over the shared pattern gives them.
/// They depend on the state alone, so that a run that goes on from a checkpoint has the same bits.
#[derive(Debug, Default)]
pub(crate) struct StateProducts {
    known: bool,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Displacement and velocity, less the translations that K does not resist.
    relative: Vec<[f64; 2]>,
    /// K q and K v.
    pub elastic: Vec<[f64; 2]>,
    /// M v.
    pub momentum: Vec<f64>,
    /// C v; empty without damping.
    pub viscous: Vec<f64>,
}

/// Mass and linear part of a system to which the products apply: sparse matrices of one pattern.
pub(crate) fn sparse_linear<'a>(
    system: &'a dyn MechanicalSystem,
    mass: &SymmetricMatrix,
) -> Option<&'a LinearPart> {
    let linear = system.linear_part()?;
    let stiffness = linear.stiffness.as_ref()?.sparse()?;
    let shared = mass.sparse()?.shares_pattern(stiffness);
    (shared && linear.compensated).then_some(linear)
}

impl StateProducts {
    /// Makes sure that the products are those of (q, v).
    pub fn ensure(&mut self, mass: &SymmetricMatrix, linear: &LinearPart, q: &[f64], v: &[f64]) {
        if self.known && self.q == q && self.v == v {
            return;
        }
        let (Some(mass), Some(stiffness)) = (
            mass.sparse(),
            linear.stiffness.as_ref().and_then(|k| k.sparse()),
        ) else {
            return;
        };
        self.q.clear();
        self.q.extend_from_slice(q);
        self.v.clear();
        self.v.extend_from_slice(v);
        self.relative.clear();
        self.relative.extend(q.iter().zip(v).map(|(&q, &v)| [q, v]));
        for list in &linear.translations {
            let shift = list
                .first()
                .map_or([0.0; 2], |&first| [q[first as usize], v[first as usize]]);
            for &i in list {
                let x = &mut self.relative[i as usize];
                *x = [x[0] - shift[0], x[1] - shift[1]];
            }
        }
        self.elastic.resize(q.len(), [0.0; 2]);
        self.momentum.resize(q.len(), 0.0);
        let out = (&mut self.elastic[..], &mut self.momentum[..]);
        stiffness.multiply_state(mass, &self.relative, v, out);
        if let Some(damping) = &linear.damping {
            self.viscous.resize(q.len(), 0.0);
            damping.multiply(v, &mut self.viscous);
        }
        self.known = true;
    }

    /// ½ v·M v.
    pub fn kinetic(&self) -> f64 {
        let pairs = self.v.iter().zip(&self.momentum);
        0.5 * compensated_dot(pairs.map(|(&v, &p)| (v, p)))
    }

    /// ½ q·K q.
    pub fn elastic_energy(&self) -> f64 {
        let pairs = self.relative.iter().zip(&self.elastic);
        0.5 * compensated_dot(pairs.map(|(x, f)| (x[0], f[0])))
    }

    /// |Δv|² in M and |h v_θ|² in K between two instants, and the work −h v_θ·C v_θ of damping.
    pub fn between(&self, end: &Self, h: f64, theta: f64) -> [f64; 3] {
        let (a, b) = (1.0 - theta, theta);
        let (mut mass, mut stiffness, mut damping) = (0.0, 0.0, 0.0);
        for i in 0..self.v.len() {
            mass += (end.v[i] - self.v[i]) * (end.momentum[i] - self.momentum[i]);
            let rate = a * self.relative[i][1] + b * end.relative[i][1];
            stiffness += rate * (a * self.elastic[i][1] + b * end.elastic[i][1]);
        }
        if !self.viscous.is_empty() {
            let mean = |x: &[f64], y: &[f64], i: usize| a * x[i] + b * y[i];
            damping = -h
                * compensated_dot((0..self.v.len()).map(|i| {
                    let force = mean(&self.viscous, &end.viscous, i);
                    (mean(&self.v, &end.v, i), force)
                }));
        }
        [mass, h * h * stiffness, damping]
    }
}
