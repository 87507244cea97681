//! The Gauss-Seidel sweep without W: impulses act on body velocities.
//!
//! # What it computes
//!
//! The same sweep as [`super::sweep`], with u_i = q_i + Σ_b J_ib v_b read from the velocities
//! v = M⁻¹ H x that the impulses have given to the bodies, and v_b += M_b⁻¹ J_ibᵀ Δx_i after each visit. For contacts between at
//! most two bodies of at most six freedoms each.
//!
//! # Source
//!
//! Standard in engines for rigid bodies.
//!
//! # Guarantees
//!
//! The same iterates as with W up to rounding; v is recomputed from x now and then, since rounding piles up in it.
//!
//! # Behaviour to know
//!
//! The cost does not depend on the number of neighbours: it wins above about 15 blocks per row of W.
//!
//! # Cost
//!
//! About 1 kB per contact and sweep.
//!
//! # Tested by
//!
//! Tests below, `benches/solver_bandwidth.rs`.

#![allow(clippy::needless_range_loop)]

use super::scaled_problem::ScaledProblem;
use super::sweep::{ContactState, Instructions, SweepMemory, SweepSums, after_visit, visit};
use crate::contact::delassus::BodyForm;

/// One contact seen from its two bodies.
#[derive(Clone, Copy, Debug)]
struct ContactOnBodies {
    body: [u32; 2],
    /// Columns of J_b (three numbers per freedom), both bodies.
    jacobian: [[f64; 18]; 2],
    /// Columns of M_b⁻¹ J_bᵀ (six numbers per component), both bodies.
    response: [[f64; 18]; 2],
}

/// Bodies and contacts laid out for the sweep, with the velocities of the bodies.
#[derive(Clone, Debug)]
pub struct BodySweep {
    contacts: Vec<ContactOnBodies>,
    /// Eight numbers per body, six used.
    velocity: Vec<[f64; 8]>,
}

impl BodySweep {
    /// Lays out the problem; `None` if a contact has more than two bodies, a body more than six freedoms, or the
    /// problem is planar.
    pub fn new(problem: &ScaledProblem, bodies: &BodyForm) -> Option<Self> {
        if problem.dimension != 3 || bodies.freedoms.iter().any(|f| f.len() > 6) {
            return None;
        }
        // The last body is the ground, which never moves.
        let ground = bodies.freedoms.len();
        let mut contacts = Vec::with_capacity(problem.contacts());
        for (links, s) in bodies.links.iter().zip(&problem.scale) {
            if links.len() > 2 {
                return None;
            }
            let mut contact = ContactOnBodies {
                body: [ground as u32; 2],
                jacobian: [[0.0; 18]; 2],
                response: [[0.0; 18]; 2],
            };
            for (side, link) in links.iter().enumerate() {
                let size = bodies.freedoms[link.body].len();
                let inverse = &bodies.inverse_mass[link.body];
                contact.body[side] = link.body as u32;
                for r in 0..3 {
                    for k in 0..size {
                        contact.jacobian[side][3 * k + r] = link.jacobian[r * size + k] / s;
                        contact.response[side][6 * r + k] = (0..size)
                            .map(|l| inverse[k * size + l] * link.jacobian[r * size + l] / s)
                            .sum();
                    }
                }
            }
            contacts.push(contact);
        }
        Some(Self {
            contacts,
            velocity: vec![[0.0; 8]; ground + 1],
        })
    }

    /// v = M⁻¹ H x from scratch.
    pub fn set_impulses(&mut self, x: &[f64]) {
        for v in &mut self.velocity {
            *v = [0.0; 8];
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            scatter(
                contact,
                &mut self.velocity,
                &[x[3 * i], x[3 * i + 1], x[3 * i + 2]],
            );
        }
    }

    /// The same, keeping the difference to velocities of before: rounding that only one of them is freed of would grow with the momentum.
    pub(crate) fn refresh(&mut self, x: &[f64], previous: &mut [[f64; 8]]) {
        let mut shift = |factor: f64, velocity: &[[f64; 8]]| {
            for (previous, velocity) in previous
                .as_flattened_mut()
                .iter_mut()
                .zip(velocity.as_flattened())
            {
                *previous += factor * velocity;
            }
        };
        shift(-1.0, &self.velocity);
        self.set_impulses(x);
        shift(1.0, &self.velocity);
    }

    /// Adds the effect of a change of the impulse of contact i.
    pub(crate) fn add_impulse(&mut self, i: usize, change: &[f64; 3]) {
        scatter(&self.contacts[i], &mut self.velocity, change);
    }

    /// Velocities of the bodies, for extrapolation.
    pub(crate) fn velocities(&mut self) -> &mut Vec<[f64; 8]> {
        &mut self.velocity
    }

    /// One sweep in place on `x`, which the velocities must belong to.
    pub fn sweep(
        &mut self,
        problem: &ScaledProblem,
        how: Instructions,
        memory: &mut SweepMemory,
        x: &mut [f64],
        previous: &[f64],
    ) -> SweepSums {
        assert_eq!(
            x.len(),
            3 * self.contacts.len(),
            "three numbers per contact"
        );
        assert_eq!(previous.len(), x.len(), "previous iterate of the same size");
        #[cfg(target_arch = "x86_64")]
        if how.has_avx2() {
            // SAFETY: the flag says that the machine has AVX2 and FMA.
            return unsafe { self.sweep_avx2(problem, memory, x, previous) };
        }
        let _ = how;
        self.sweep_body(problem, memory, x, previous)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn sweep_avx2(
        &mut self,
        problem: &ScaledProblem,
        memory: &mut SweepMemory,
        x: &mut [f64],
        previous: &[f64],
    ) -> SweepSums {
        self.sweep_body(problem, memory, x, previous)
    }

    #[inline(always)]
    fn sweep_body(
        &mut self,
        problem: &ScaledProblem,
        memory: &mut SweepMemory,
        x: &mut [f64],
        previous: &[f64],
    ) -> SweepSums {
        let mut sums = SweepSums::default();
        let visit_all = memory.begin();
        let (contacts, velocity) = (&self.contacts, &mut self.velocity);
        for (i, contact) in contacts.iter().enumerate() {
            let state: &mut ContactState = memory.state(i);
            if state.is_frozen() && !visit_all {
                continue;
            }
            let sum = gather(contact, velocity);
            let y = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
            let new = visit(problem, i, state, &sum, &y);
            let old = [previous[3 * i], previous[3 * i + 1], previous[3 * i + 2]];
            let change = after_visit(problem, i, state, &new, &y, &old, &mut sums);
            if change != [0.0; 3] {
                scatter(contact, velocity, &change);
                x[3 * i..3 * i + 3].copy_from_slice(&new);
            }
        }
        sums
    }
}

#[inline(always)]
fn gather(contact: &ContactOnBodies, velocity: &[[f64; 8]]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for side in 0..2 {
        let v = &velocity[contact.body[side] as usize];
        let j = &contact.jacobian[side];
        for k in 0..6 {
            for r in 0..3 {
                sum[r] += j[3 * k + r] * v[k];
            }
        }
    }
    sum
}

#[inline(always)]
fn scatter(contact: &ContactOnBodies, velocity: &mut [[f64; 8]], change: &[f64; 3]) {
    for side in 0..2 {
        let v = &mut velocity[contact.body[side] as usize];
        let m = &contact.response[side];
        for k in 0..6 {
            v[k] += m[k] * change[0] + m[6 + k] * change[1] + m[12 + k] * change[2];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sweep::sweep;
    use super::*;
    use crate::algebra::sparse_rows::SparseRows;
    use crate::contact::GlobalForm;
    use crate::solvers::scaled_problem::StoppingTest;

    #[test]
    fn sweeps_with_and_without_the_matrix_agree() {
        // A line of bodies with three contacts between neighbours.
        let bodies = 6;
        let mut state = 5u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 11) as f64 / (1u64 << 53) as f64) - 0.5
        };
        let mut mass = Vec::new();
        for i in 0..6 * bodies {
            mass.push((i, i, 1.0 + random()));
        }
        let (mut h, mut contacts) = (Vec::new(), 0);
        for b in 0..bodies {
            for _ in 0..3 {
                for r in 0..3 {
                    for k in 0..6 {
                        h.push((6 * b + k, 3 * contacts + r, random()));
                        if b + 1 < bodies {
                            h.push((6 * b + 6 + k, 3 * contacts + r, random()));
                        }
                    }
                }
                contacts += 1;
            }
        }
        let mass = SparseRows::from_triplets(6 * bodies, 6 * bodies, &mass);
        let h = SparseRows::from_triplets(6 * bodies, 3 * contacts, &h);
        let f: Vec<f64> = (0..6 * bodies).map(|_| random()).collect();
        let w: Vec<f64> = (0..3 * contacts).map(|_| random() - 0.2).collect();
        let global = GlobalForm::new(3, mass, h, f, w, vec![0.4; contacts]).unwrap();
        let local = global.condense().unwrap().local;
        let problem = ScaledProblem::new(&local, StoppingTest::Published).unwrap();
        let mut bodies = BodySweep::new(&problem, local.delassus().body_form().unwrap()).unwrap();
        let (mut memory_a, mut memory_b) = (SweepMemory::new(&problem), SweepMemory::new(&problem));
        let (mut a, mut b) = (vec![0.0; 3 * contacts], vec![0.0; 3 * contacts]);
        for _ in 0..5 {
            let previous = a.clone();
            sweep(
                &problem,
                Instructions::portable(),
                &mut memory_a,
                &mut a,
                &previous,
            );
            bodies.sweep(
                &problem,
                Instructions::detect(),
                &mut memory_b,
                &mut b,
                &previous,
            );
        }
        let size = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9 * size));
        assert!(size > 0.0);
    }
}
