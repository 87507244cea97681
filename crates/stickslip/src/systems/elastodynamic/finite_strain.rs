//! Large displacements and rotations: the Saint Venant-Kirchhoff material.

use rayon::prelude::*;

use crate::algebra::SymmetricMatrix;

use super::element::NODES_MAX;
use super::element_matrices::ElementData;
use super::system::ElastodynamicSystem;
use super::{ElastodynamicError, Formulation};

/// Elements computed together before they are added.
const CHUNK: usize = 4096;

/// Strain energy `∫ ½ E : D : E` of the Green-Lagrange strain E.
///
/// # What it computes
/// With F = I + ∇u, E = ½ (FᵀF − I), S = D E: the forces ∫ F S ∇N, the tangent at a configuration, and
/// between two configurations the force ∫ F̄ S̄ ∇N with the mean F̄ = ½ (F₀ + F₁) and the averaged
/// stress S̄ = D ½ (E₀ + E₁).
///
/// # Source
/// [AcaryCollinsCraft2023] on nonlinear forces; the averaged strain is the classical
/// energy-conserving stress of this material.
///
/// # Guarantees
/// The force between two configurations does exactly the work ΔV on Δq, because
/// sym(F̄ᵀ ΔF) = ΔE; the energy account closes to the tolerance of the iteration.
///
/// # Behaviour to know
/// The material softens in strong compression and allows elements to turn inside out there; it is
/// meant for large rotations with moderate strains.
///
/// # Cost
/// One pass over the elements per force; the tangent is factored once per step.
///
/// # Tested by
/// `systems/elastodynamic/tests.rs`, `tests/elastic_truths.rs`.
#[derive(Clone, Debug)]
pub(crate) struct FiniteStrain {
    /// Tangent at rest: the linear stiffness.
    pub rest: SymmetricMatrix,
}

type Gradient = [[f64; 3]; 3];

/// Index pairs of the strain components.
fn pairs(formulation: Formulation) -> &'static [[usize; 2]] {
    match formulation {
        Formulation::Solid => &[[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]],
        _ => &[[0, 0], [1, 1], [0, 1]],
    }
}

/// Green-Lagrange strain with engineering shear.
fn green(h: &Gradient, pairs: &[[usize; 2]]) -> [f64; 6] {
    let mut out = [0.0; 6];
    for (out, &[i, j]) in out.iter_mut().zip(pairs) {
        let product = h[0][i] * h[0][j] + h[1][i] * h[1][j] + h[2][i] * h[2][j];
        *out = if i == j {
            h[i][i] + 0.5 * product
        } else {
            h[i][j] + h[j][i] + product
        };
    }
    out
}

fn stress(data: &ElementData, strain: &[f64; 6], n: usize) -> [f64; 6] {
    let mut out = [0.0; 6];
    for (r, out) in out.iter_mut().enumerate().take(n) {
        *out = (0..n).map(|c| data.elasticity[r * n + c] * strain[c]).sum();
    }
    out
}

/// Stress as a symmetric matrix.
fn tensor(s: &[f64; 6], pairs: &[[usize; 2]]) -> Gradient {
    let mut out = [[0.0; 3]; 3];
    for (s, &[i, j]) in s.iter().zip(pairs) {
        out[i][j] = *s;
        out[j][i] = *s;
    }
    out
}

impl ElastodynamicSystem {
    /// The same system with finite strain in place of the linear stiffness.
    ///
    /// # Errors
    /// If the mesh holds bars, beams or rotational symmetry, if motions are given, or if the
    /// system was made of matrices.
    pub fn with_finite_strain(mut self) -> Result<Self, ElastodynamicError> {
        let problem = |problem: &str| ElastodynamicError::Matrix {
            what: "of finite strain",
            problem: problem.to_string(),
        };
        let Some(assembly) = &self.assembly else {
            return Err(problem("a system made of matrices has no elements"));
        };
        let flat = |f: Formulation| {
            matches!(
                f,
                Formulation::Bar { .. } | Formulation::Beam { .. } | Formulation::Axisymmetric
            )
        };
        if assembly.data.iter().any(|data| flat(data.formulation)) {
            return Err(problem(
                "only plane strain, plane stress and solid elements have it",
            ));
        }
        if !self.nodes.motions.is_empty() {
            return Err(problem("given motions of nodes are for linear systems"));
        }
        let Some(rest) = self.linear.stiffness.take() else {
            return Err(problem("the system has finite strain already"));
        };
        self.finite = Some(FiniteStrain { rest });
        Ok(self)
    }
}

/// Data of one element at its quadrature points.
struct Points<'a> {
    data: &'a ElementData,
    nodes: &'a [u32],
    /// Gradients of the shape functions and volume of every point.
    points: Vec<([[f64; 3]; NODES_MAX], f64)>,
}

impl FiniteStrain {
    fn points<'a>(&self, system: &'a ElastodynamicSystem, k: usize) -> Points<'a> {
        // A system with finite strain has a mesh: it is checked at construction.
        let (assembly, mesh) = (
            system.assembly.as_ref().expect("a mesh"),
            system.mesh.as_ref().expect("a mesh"),
        );
        let (e, d) = assembly.elements[k];
        let data = &assembly.data[d as usize];
        let mut x = Vec::with_capacity(NODES_MAX);
        assembly.coordinates(mesh, k, &mut x);
        let table = &data.stiffness_table;
        let thickness = match data.formulation {
            Formulation::PlaneStrain { thickness } | Formulation::PlaneStress { thickness } => {
                thickness
            }
            _ => 1.0,
        };
        let points = (0..table.points.len())
            .map(|p| {
                let mut gradient = [[0.0; 3]; NODES_MAX];
                let det = data.gradients(&x, table.slope(p), &mut gradient);
                (gradient, table.points[p].1 * det * thickness)
            })
            .collect();
        Points {
            data,
            nodes: mesh.element(e as usize).1,
            points,
        }
    }

    fn count(&self, system: &ElastodynamicSystem) -> usize {
        system
            .assembly
            .as_ref()
            .map_or(0, |assembly| assembly.elements.len())
    }

    /// Displacement gradient at a point.
    fn gradient_of(u: &[[f64; 3]], g: &[[f64; 3]; NODES_MAX]) -> Gradient {
        let mut h = [[0.0; 3]; 3];
        for (u, g) in u.iter().zip(g) {
            for (row, u) in h.iter_mut().zip(u) {
                for (entry, g) in row.iter_mut().zip(g) {
                    *entry += u * g;
                }
            }
        }
        h
    }

    fn displacements(system: &ElastodynamicSystem, q: &[f64], nodes: &[u32]) -> Vec<[f64; 3]> {
        nodes
            .iter()
            .map(|&n| system.nodes.displacement(0.0, q, n))
            .collect()
    }

    /// Strain energy of one element.
    fn element_energy(&self, system: &ElastodynamicSystem, q: &[f64], k: usize) -> f64 {
        let element = self.points(system, k);
        let u = Self::displacements(system, q, element.nodes);
        let pairs = pairs(element.data.formulation);
        let mut sum = 0.0;
        for (g, volume) in &element.points {
            let strain = green(&Self::gradient_of(&u, g), pairs);
            let stress = stress(element.data, &strain, pairs.len());
            let product: f64 = strain.iter().zip(&stress).map(|(a, b)| a * b).sum();
            sum += 0.5 * volume * product;
        }
        sum
    }

    /// Strain energy of every body.
    pub fn energies(&self, system: &ElastodynamicSystem, q: &[f64]) -> Vec<f64> {
        let mut body_of = vec![0; system.nodes.len()];
        for (b, body) in system.bodies.iter().enumerate() {
            body.nodes.iter().for_each(|&n| body_of[n as usize] = b);
        }
        let mut out = vec![0.0; system.bodies.len()];
        for k in 0..self.count(system) {
            let node = self.points(system, k).nodes[0];
            out[body_of[node as usize]] += self.element_energy(system, q, k);
        }
        out
    }

    /// Strain energy.
    pub fn energy(&self, system: &ElastodynamicSystem, q: &[f64]) -> f64 {
        let element = |k: usize| self.element_energy(system, q, k);
        let count = self.count(system);
        let sums: Vec<f64> = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|c| (c * CHUNK..((c + 1) * CHUNK).min(count)).map(element).sum())
            .collect();
        sums.iter().sum()
    }

    /// Writes the gradient of the energy.
    pub fn gradient(&self, system: &ElastodynamicSystem, q: &[f64], out: &mut [f64]) {
        self.force_between(system, q, q, out);
    }

    /// Writes the force whose work on q₁ − q₀ is the change of energy.
    pub fn force_between(
        &self,
        system: &ElastodynamicSystem,
        q0: &[f64],
        q1: &[f64],
        out: &mut [f64],
    ) {
        let element = |k: usize| {
            let element = self.points(system, k);
            let pairs = pairs(element.data.formulation);
            let (u0, u1) = (
                Self::displacements(system, q0, element.nodes),
                Self::displacements(system, q1, element.nodes),
            );
            let mut force = vec![[0.0; 3]; element.nodes.len()];
            for (g, volume) in &element.points {
                let (h0, h1) = (Self::gradient_of(&u0, g), Self::gradient_of(&u1, g));
                let (e0, e1) = (green(&h0, pairs), green(&h1, pairs));
                let mut mean = [0.0; 6];
                for (mean, (a, b)) in mean.iter_mut().zip(e0.iter().zip(&e1)) {
                    *mean = 0.5 * (a + b);
                }
                let s = tensor(&stress(element.data, &mean, pairs.len()), pairs);
                // P = F̄ S̄
                let mut p = [[0.0; 3]; 3];
                for i in 0..3 {
                    for j in 0..3 {
                        p[i][j] = s[i][j]
                            + (0..3)
                                .map(|k| 0.5 * (h0[i][k] + h1[i][k]) * s[k][j])
                                .sum::<f64>();
                    }
                }
                for (force, g) in force.iter_mut().zip(g) {
                    for (force, p) in force.iter_mut().zip(&p) {
                        *force += volume * (p[0] * g[0] + p[1] * g[1] + p[2] * g[2]);
                    }
                }
            }
            force
        };
        out.fill(0.0);
        let count = self.count(system);
        for first in (0..count).step_by(CHUNK) {
            let last = (first + CHUNK).min(count);
            let forces: Vec<Vec<[f64; 3]>> = (first..last).into_par_iter().map(element).collect();
            for (k, force) in (first..last).zip(&forces) {
                // The same mesh as in `points`.
                let assembly = system.assembly.as_ref().expect("a mesh");
                let mesh = system.mesh.as_ref().expect("a mesh");
                let nodes = mesh.element(assembly.elements[k].0 as usize).1;
                for (&node, force) in nodes.iter().zip(force) {
                    system
                        .nodes
                        .visit(node, *force, 1.0, |dof, value| out[dof] += value);
                }
            }
        }
    }

    /// Writes the second derivatives of the energy.
    pub fn hessian(
        &self,
        system: &ElastodynamicSystem,
        q: &[f64],
        out: &mut SymmetricMatrix,
    ) -> bool {
        let (Some(assembly), Some(mesh)) = (&system.assembly, &system.mesh) else {
            return false;
        };
        if out.sparse().is_none() {
            return false;
        }
        let d = system.nodes.space;
        let element = |k: usize| {
            let element = self.points(system, k);
            let pairs = pairs(element.data.formulation);
            let n = pairs.len();
            let u = Self::displacements(system, q, element.nodes);
            let order = element.nodes.len() * d;
            let mut matrix = vec![0.0; order * order];
            for (g, volume) in &element.points {
                let h = Self::gradient_of(&u, g);
                let s = tensor(&stress(element.data, &green(&h, pairs), n), pairs);
                // δE of a unit displacement (a, i): F_iI g_J, symmetrised.
                let strain = |a: usize, i: usize| {
                    let f = |k: usize| h[i][k] + if i == k { 1.0 } else { 0.0 };
                    let mut out = [0.0; 6];
                    for (out, &[p, r]) in out.iter_mut().zip(pairs) {
                        *out = if p == r {
                            f(p) * g[a][p]
                        } else {
                            f(p) * g[a][r] + f(r) * g[a][p]
                        };
                    }
                    out
                };
                for b in 0..element.nodes.len() {
                    for j in 0..d {
                        let column = stress(element.data, &strain(b, j), n);
                        for a in 0..=b {
                            let geometric: f64 = (0..3)
                                .map(|r| g[a][r] * (0..3).map(|c| s[r][c] * g[b][c]).sum::<f64>())
                                .sum();
                            for i in 0..d {
                                let e = strain(a, i);
                                let mut sum: f64 = e.iter().zip(&column).map(|(e, s)| e * s).sum();
                                if i == j {
                                    sum += geometric;
                                }
                                matrix[(a * d + i) * order + b * d + j] += volume * sum;
                            }
                        }
                    }
                }
            }
            // Blocks below the diagonal mirror those above.
            for b in 0..element.nodes.len() {
                for a in 0..b {
                    for i in 0..d {
                        for j in 0..d {
                            matrix[(b * d + j) * order + a * d + i] =
                                matrix[(a * d + i) * order + b * d + j];
                        }
                    }
                }
            }
            matrix
        };
        out.clear();
        let count = assembly.elements.len();
        for first in (0..count).step_by(CHUNK) {
            let last = (first + CHUNK).min(count);
            let matrices: Vec<Vec<f64>> = (first..last).into_par_iter().map(element).collect();
            for (k, matrix) in (first..last).zip(&matrices) {
                let values = out.values_mut();
                assembly.scatter(mesh, &system.nodes, k, matrix, values, |_, _, _| {});
            }
        }
        true
    }
}
