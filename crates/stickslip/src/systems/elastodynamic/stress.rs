//! Stresses of elements, for pictures and files.

use super::element::NODES_MAX;
use super::{ElastodynamicSystem, Formulation};

/// Stress of one element, averaged over its quadrature points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElementStress {
    /// Cauchy stress xx, yy, zz, xy, yz, zx (rr, zz, hoop in the first places with rotational
    /// symmetry: x is the radius, y the axis, z the hoop direction).
    pub components: [f64; 6],
    /// Equivalent stress of von Mises.
    pub von_mises: f64,
}

impl ElementStress {
    fn new(s: [f64; 6]) -> Self {
        let difference = (s[0] - s[1]).powi(2) + (s[1] - s[2]).powi(2) + (s[2] - s[0]).powi(2);
        let shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
        Self {
            components: s,
            von_mises: (0.5 * difference + 3.0 * shear).sqrt(),
        }
    }
}

impl ElastodynamicSystem {
    /// Elements that carry stress, in the order of [`Self::stresses`].
    pub fn stressed_elements(&self) -> Vec<u32> {
        self.assembly
            .as_ref()
            .map_or(Vec::new(), |a| a.elements.iter().map(|&(e, _)| e).collect())
    }

    /// Stress of every element of the regions at time `t`.
    pub fn stresses(&self, t: f64, q: &[f64]) -> Vec<ElementStress> {
        let (Some(assembly), Some(mesh)) = (&self.assembly, &self.mesh) else {
            return Vec::new();
        };
        let mut x = Vec::new();
        (0..assembly.elements.len())
            .map(|k| {
                let (e, d) = assembly.elements[k];
                let data = &assembly.data[d as usize];
                assembly.coordinates(mesh, k, &mut x);
                let list = mesh.element(e as usize).1;
                let u: Vec<[f64; 3]> = list
                    .iter()
                    .map(|&n| self.nodes.displacement(t, q, n))
                    .collect();
                ElementStress::new(self.element_stress(data, &x, &u))
            })
            .collect()
    }

    fn element_stress(
        &self,
        data: &super::element_matrices::ElementData,
        x: &[[f64; 3]],
        u: &[[f64; 3]],
    ) -> [f64; 6] {
        let mut out = [0.0; 6];
        if data.formulation.element_dimension() == 1 {
            // Axial stress between the ends.
            let d = [0, 1, 2].map(|k| x[1][k] - x[0][k]);
            let square: f64 = d.iter().map(|d| d * d).sum();
            let stretch: f64 = (0..3).map(|k| d[k] * (u[1][k] - u[0][k])).sum();
            out[0] = data.material.young * stretch / square;
            return out;
        }
        let table = &data.stiffness_table;
        let strains = data.formulation.strains();
        let d = data.kind.dimension();
        let share = 1.0 / table.points.len() as f64;
        for p in 0..table.points.len() {
            let mut g = [[0.0; 3]; NODES_MAX];
            data.gradients(x, table.slope(p), &mut g);
            let shape = table.value(p);
            let radius: f64 = shape.iter().zip(x).map(|(n, x)| n * x[0]).sum();
            let mut strain = [0.0; 6];
            for (a, u) in u.iter().enumerate() {
                for (i, u) in u.iter().enumerate().take(d) {
                    let e = data.strain(g[a], shape[a] / radius, i);
                    for (strain, e) in strain.iter_mut().zip(&e).take(strains) {
                        *strain += u * e;
                    }
                }
            }
            let mut h = [[0.0; 3]; 3];
            if self.finite.is_some() {
                for (u, g) in u.iter().zip(&g) {
                    for i in 0..3 {
                        for j in 0..3 {
                            h[i][j] += u[i] * g[j];
                        }
                    }
                }
                let pairs: &[[usize; 2]] = match data.formulation {
                    Formulation::Solid => &[[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]],
                    _ => &[[0, 0], [1, 1], [0, 1]],
                };
                for (strain, &[i, j]) in strain.iter_mut().zip(pairs) {
                    let product: f64 = (0..3).map(|k| h[k][i] * h[k][j]).sum();
                    *strain += if i == j { 0.5 * product } else { product };
                }
            }
            let mut s = [0.0; 6];
            for (r, s) in s.iter_mut().enumerate().take(strains) {
                *s = (0..strains)
                    .map(|c| data.elasticity[r * strains + c] * strain[c])
                    .sum();
            }
            let mut full = match data.formulation {
                Formulation::Solid => s,
                Formulation::Axisymmetric => [s[0], s[1], s[2], s[3], 0.0, 0.0],
                Formulation::PlaneStrain { .. } => {
                    let zz = data.material.poisson * (s[0] + s[1]);
                    [s[0], s[1], zz, s[2], 0.0, 0.0]
                }
                _ => [s[0], s[1], 0.0, s[2], 0.0, 0.0],
            };
            if self.finite.is_some() {
                full = push_forward(&h, &full);
            }
            for (out, s) in out.iter_mut().zip(&full) {
                *out += share * s;
            }
        }
        out
    }
}

/// Cauchy stress F S Fᵀ/det F of a second Piola-Kirchhoff stress.
fn push_forward(h: &[[f64; 3]; 3], s: &[f64; 6]) -> [f64; 6] {
    let mut f = *h;
    for (i, row) in f.iter_mut().enumerate() {
        row[i] += 1.0;
    }
    let det = f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1])
        - f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0])
        + f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0]);
    let m = [[s[0], s[3], s[5]], [s[3], s[1], s[4]], [s[5], s[4], s[2]]];
    let entry = |i: usize, j: usize| -> f64 {
        let mut sum = 0.0;
        for a in 0..3 {
            for b in 0..3 {
                sum += f[i][a] * m[a][b] * f[j][b];
            }
        }
        sum / det
    };
    [
        entry(0, 0),
        entry(1, 1),
        entry(2, 2),
        entry(0, 1),
        entry(1, 2),
        entry(2, 0),
    ]
}
