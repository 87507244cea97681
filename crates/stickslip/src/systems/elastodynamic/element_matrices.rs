//! Stiffness and mass of one element.

use super::element::NODES_MAX;
use super::quadrature::{QuadraturePoint, rule};
use super::{ElementKind, Formulation, Material};

/// How mass is distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MassKind {
    /// Consistent with the shape functions.
    #[default]
    Consistent,
    /// Diagonal: row sums for first order, scaled diagonal for second order (whose row sums can
    /// be negative).
    Lumped,
}

/// Shape functions at the points of a rule, tabulated once per region.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub points: Vec<QuadraturePoint>,
    values: Vec<f64>,
    slopes: Vec<[f64; 3]>,
    nodes: usize,
}

impl Table {
    pub fn new(kind: ElementKind, level: usize) -> Self {
        let points = rule(kind, level);
        let nodes = kind.node_count();
        let mut values = vec![0.0; nodes * points.len()];
        let mut slopes = vec![[0.0; 3]; nodes * points.len()];
        for (k, (x, _)) in points.iter().enumerate() {
            let range = k * nodes..(k + 1) * nodes;
            kind.shape(*x, &mut values[range.clone()], &mut slopes[range]);
        }
        Self {
            points,
            values,
            slopes,
            nodes,
        }
    }

    pub fn value(&self, k: usize) -> &[f64] {
        &self.values[k * self.nodes..(k + 1) * self.nodes]
    }

    pub fn slope(&self, k: usize) -> &[[f64; 3]] {
        &self.slopes[k * self.nodes..(k + 1) * self.nodes]
    }
}

/// Everything about the elements of one kind in one region.
#[derive(Clone, Debug)]
pub(crate) struct ElementData {
    pub kind: ElementKind,
    pub formulation: Formulation,
    pub material: Material,
    pub mass: MassKind,
    pub elasticity: Vec<f64>,
    pub stiffness_table: Table,
    pub mass_table: Table,
}

impl ElementData {
    pub fn new(
        kind: ElementKind,
        formulation: Formulation,
        material: Material,
        mass: MassKind,
    ) -> Self {
        let extra = usize::from(formulation == Formulation::Axisymmetric);
        Self {
            kind,
            formulation,
            material,
            mass,
            elasticity: formulation.elasticity(&material),
            stiffness_table: Table::new(kind, extra),
            mass_table: Table::new(kind, 1 + extra),
        }
    }

    /// Degrees of freedom per node of the element in a space of dimension `space`.
    pub fn components(&self, space: usize) -> usize {
        match self.formulation {
            Formulation::Beam { .. } => space + 1,
            _ => space,
        }
    }

    /// Writes stiffness and mass (both of order nodes × components, row-major); on failure
    /// returns the offending Jacobian determinant.
    pub fn matrices(
        &self,
        x: &[[f64; 3]],
        space: usize,
        stiffness: &mut [f64],
        mass: &mut [f64],
    ) -> Result<(), f64> {
        stiffness.fill(0.0);
        mass.fill(0.0);
        match self.formulation {
            Formulation::Beam { area, inertia } => {
                self.beam(x, area, inertia, stiffness, mass)?;
                return Ok(());
            }
            Formulation::Bar { area } => {
                self.bar_stiffness(x, space, area, stiffness)?;
                self.scalar_mass(x, space, mass, |det, _| Ok(det * area))?;
            }
            _ => {
                self.solid_stiffness(x, stiffness)?;
                self.scalar_mass(x, space, mass, |det, radius| {
                    if det > 0.0 {
                        Ok(det * self.measure(radius))
                    } else {
                        Err(det)
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Thickness, circumference or one.
    fn measure(&self, radius: f64) -> f64 {
        match self.formulation {
            Formulation::PlaneStrain { thickness } | Formulation::PlaneStress { thickness } => {
                thickness
            }
            Formulation::Axisymmetric => std::f64::consts::TAU * radius,
            _ => 1.0,
        }
    }

    /// Derivatives of the shape functions in space and the determinant at one point.
    pub fn gradients(
        &self,
        x: &[[f64; 3]],
        slope: &[[f64; 3]],
        out: &mut [[f64; 3]; NODES_MAX],
    ) -> f64 {
        let d = self.kind.dimension();
        let j = jacobian(x, slope);
        let (det, inverse) = invert(&j, d);
        for (a, s) in slope.iter().enumerate() {
            let mut g = [0.0; 3];
            for (i, g) in g.iter_mut().enumerate().take(d) {
                for (k, s) in s.iter().enumerate().take(d) {
                    *g += inverse[k][i] * s;
                }
            }
            out[a] = g;
        }
        det
    }

    fn solid_stiffness(&self, x: &[[f64; 3]], stiffness: &mut [f64]) -> Result<(), f64> {
        let (nodes, d) = (x.len(), self.kind.dimension());
        let order = nodes * d;
        let strains = self.formulation.strains();
        let mut gradient = [[0.0; 3]; NODES_MAX];
        for (k, (_, weight)) in self.stiffness_table.points.iter().enumerate() {
            let det = self.gradients(x, self.stiffness_table.slope(k), &mut gradient);
            if !(det > 0.0) {
                return Err(det);
            }
            let shape = self.stiffness_table.value(k);
            let radius: f64 = shape.iter().zip(x).map(|(n, x)| n * x[0]).sum();
            let factor = weight * det * self.measure(radius);
            for b in 0..nodes {
                for j in 0..d {
                    // Stress of a unit displacement of (b, j), times the weight.
                    let strain = self.strain(gradient[b], shape[b] / radius, j);
                    let mut stress = [0.0; 6];
                    for (r, stress) in stress.iter_mut().enumerate().take(strains) {
                        let row = &self.elasticity[r * strains..(r + 1) * strains];
                        *stress = factor * row.iter().zip(&strain).map(|(d, e)| d * e).sum::<f64>();
                    }
                    let column = b * d + j;
                    for a in 0..=b {
                        for i in 0..d {
                            let row = a * d + i;
                            if row > column {
                                break;
                            }
                            let e = self.strain(gradient[a], shape[a] / radius, i);
                            let sum: f64 = e
                                .iter()
                                .zip(&stress)
                                .take(strains)
                                .map(|(e, s)| e * s)
                                .sum();
                            stiffness[row * order + column] += sum;
                        }
                    }
                }
            }
        }
        for row in 0..order {
            for column in row + 1..order {
                stiffness[column * order + row] = stiffness[row * order + column];
            }
        }
        Ok(())
    }

    /// Strain of a unit displacement in direction `i` of a node with gradient `g`.
    #[inline]
    pub fn strain(&self, g: [f64; 3], over_radius: f64, i: usize) -> [f64; 6] {
        match (self.formulation, i) {
            (Formulation::Solid, 0) => [g[0], 0.0, 0.0, g[1], 0.0, g[2]],
            (Formulation::Solid, 1) => [0.0, g[1], 0.0, g[0], g[2], 0.0],
            (Formulation::Solid, _) => [0.0, 0.0, g[2], 0.0, g[1], g[0]],
            (Formulation::Axisymmetric, 0) => [g[0], 0.0, over_radius, g[1], 0.0, 0.0],
            (Formulation::Axisymmetric, _) => [0.0, g[1], 0.0, g[0], 0.0, 0.0],
            (_, 0) => [g[0], 0.0, g[1], 0.0, 0.0, 0.0],
            (_, _) => [0.0, g[1], g[0], 0.0, 0.0, 0.0],
        }
    }

    fn bar_stiffness(
        &self,
        x: &[[f64; 3]],
        space: usize,
        area: f64,
        stiffness: &mut [f64],
    ) -> Result<(), f64> {
        let nodes = x.len();
        let order = nodes * space;
        for (k, (_, weight)) in self.stiffness_table.points.iter().enumerate() {
            let slope = self.stiffness_table.slope(k);
            let (det, tangent) = line_jacobian(x, slope)?;
            let factor = weight * self.material.young * area / det;
            for a in 0..nodes {
                for b in 0..nodes {
                    for i in 0..space {
                        for j in 0..space {
                            stiffness[(a * space + i) * order + b * space + j] +=
                                factor * slope[a][0] * slope[b][0] * tangent[i] * tangent[j];
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Mass ∫ρ N_a N_b, the same in every direction, with the volume per weight from `volume`
    /// (determinant, radius).
    fn scalar_mass(
        &self,
        x: &[[f64; 3]],
        components: usize,
        mass: &mut [f64],
        volume: impl Fn(f64, f64) -> Result<f64, f64>,
    ) -> Result<(), f64> {
        let nodes = x.len();
        let order = nodes * components;
        let mut scalar = [0.0; NODES_MAX * NODES_MAX];
        for (k, (_, weight)) in self.mass_table.points.iter().enumerate() {
            let (shape, slope) = (self.mass_table.value(k), self.mass_table.slope(k));
            let det = if self.kind.dimension() == 1 {
                line_jacobian(x, slope)?.0
            } else {
                determinant(&jacobian(x, slope), self.kind.dimension())
            };
            let radius: f64 = shape.iter().zip(x).map(|(n, x)| n * x[0]).sum();
            let factor = weight * self.material.density * volume(det, radius)?;
            for a in 0..nodes {
                for b in 0..=a {
                    scalar[a * nodes + b] += factor * shape[a] * shape[b];
                }
            }
        }
        for a in 0..nodes {
            for b in 0..a {
                scalar[b * nodes + a] = scalar[a * nodes + b];
            }
        }
        if self.mass == MassKind::Lumped {
            lump(&mut scalar[..nodes * nodes], nodes, self.kind.order());
        }
        for a in 0..nodes {
            for b in 0..nodes {
                for i in 0..components {
                    mass[(a * components + i) * order + b * components + i] = scalar[a * nodes + b];
                }
            }
        }
        Ok(())
    }

    /// Planar Euler-Bernoulli beam: axial and bending stiffness, consistent or lumped mass.
    fn beam(
        &self,
        x: &[[f64; 3]],
        area: f64,
        inertia: f64,
        stiffness: &mut [f64],
        mass: &mut [f64],
    ) -> Result<(), f64> {
        let (dx, dy) = (x[1][0] - x[0][0], x[1][1] - x[0][1]);
        let l = dx.hypot(dy);
        if !(l > 0.0) {
            return Err(l);
        }
        let (c, s) = (dx / l, dy / l);
        let (ea, ei) = (
            self.material.young * area / l,
            self.material.young * inertia,
        );
        let (k1, k2, k3) = (12.0 * ei / (l * l * l), 6.0 * ei / (l * l), ei / l);
        #[rustfmt::skip]
        let k = [
            [ea, 0.0, 0.0, -ea, 0.0, 0.0],
            [0.0, k1, k2, 0.0, -k1, k2],
            [0.0, k2, 4.0 * k3, 0.0, -k2, 2.0 * k3],
            [-ea, 0.0, 0.0, ea, 0.0, 0.0],
            [0.0, -k1, -k2, 0.0, k1, -k2],
            [0.0, k2, 2.0 * k3, 0.0, -k2, 4.0 * k3],
        ];
        let m = self.material.density * area * l;
        let consistent = self.mass == MassKind::Consistent;
        let n = m / 420.0;
        #[rustfmt::skip]
        let full = [
            [140.0 * n, 0.0, 0.0, 70.0 * n, 0.0, 0.0],
            [0.0, 156.0 * n, 22.0 * l * n, 0.0, 54.0 * n, -13.0 * l * n],
            [0.0, 22.0 * l * n, 4.0 * l * l * n, 0.0, 13.0 * l * n, -3.0 * l * l * n],
            [70.0 * n, 0.0, 0.0, 140.0 * n, 0.0, 0.0],
            [0.0, 54.0 * n, 13.0 * l * n, 0.0, 156.0 * n, -22.0 * l * n],
            [0.0, -13.0 * l * n, -3.0 * l * l * n, 0.0, -22.0 * l * n, 4.0 * l * l * n],
        ];
        let mut diagonal = [[0.0; 6]; 6];
        for (i, entry) in [0.5 * m, 0.5 * m, m * l * l / 24.0].into_iter().enumerate() {
            diagonal[i][i] = entry;
            diagonal[i + 3][i + 3] = entry;
        }
        let local = if consistent { full } else { diagonal };
        // Rotation of each node's (x, y, angle).
        let turn = [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]];
        for (source, target) in [(&k, stiffness), (&local, mass)] {
            for i in 0..6 {
                for j in 0..6 {
                    let mut sum = 0.0;
                    for p in 0..3 {
                        for q in 0..3 {
                            sum += turn[p][i % 3]
                                * source[3 * (i / 3) + p][3 * (j / 3) + q]
                                * turn[q][j % 3];
                        }
                    }
                    target[i * 6 + j] = sum;
                }
            }
        }
        Ok(())
    }
}

/// Diagonal mass in place.
fn lump(mass: &mut [f64], nodes: usize, order: usize) {
    let total: f64 = mass.iter().sum();
    let trace: f64 = (0..nodes).map(|a| mass[a * nodes + a]).sum();
    for a in 0..nodes {
        let row = &mut mass[a * nodes..(a + 1) * nodes];
        let entry = if order == 1 {
            row.iter().sum()
        } else {
            row[a] * total / trace
        };
        row.fill(0.0);
        row[a] = entry;
    }
}

/// Jacobian dx/dξ: entry [i][k] = ∂x_i/∂ξ_k.
pub(crate) fn jacobian(x: &[[f64; 3]], slope: &[[f64; 3]]) -> [[f64; 3]; 3] {
    let mut j = [[0.0; 3]; 3];
    for (x, s) in x.iter().zip(slope) {
        for (row, x) in j.iter_mut().zip(x) {
            for (entry, s) in row.iter_mut().zip(s) {
                *entry += x * s;
            }
        }
    }
    j
}

fn determinant(j: &[[f64; 3]; 3], d: usize) -> f64 {
    match d {
        1 => j[0][0],
        2 => j[0][0] * j[1][1] - j[0][1] * j[1][0],
        _ => {
            j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1])
                - j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0])
                + j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0])
        }
    }
}

/// Determinant and inverse.
fn invert(j: &[[f64; 3]; 3], d: usize) -> (f64, [[f64; 3]; 3]) {
    let det = determinant(j, d);
    let f = 1.0 / det;
    let mut out = [[0.0; 3]; 3];
    match d {
        1 => out[0][0] = f,
        2 => {
            out[0][0] = j[1][1] * f;
            out[0][1] = -j[0][1] * f;
            out[1][0] = -j[1][0] * f;
            out[1][1] = j[0][0] * f;
        }
        _ => {
            for (r, row) in out.iter_mut().enumerate() {
                for (c, entry) in row.iter_mut().enumerate() {
                    let (a, b) = ((c + 1) % 3, (c + 2) % 3);
                    let (p, q) = ((r + 1) % 3, (r + 2) % 3);
                    *entry = f * (j[a][p] * j[b][q] - j[a][q] * j[b][p]);
                }
            }
        }
    }
    (det, out)
}

/// Length per reference length and unit tangent of a line element.
pub(crate) fn line_jacobian(x: &[[f64; 3]], slope: &[[f64; 3]]) -> Result<(f64, [f64; 3]), f64> {
    let mut t = [0.0; 3];
    for (x, s) in x.iter().zip(slope) {
        for (t, x) in t.iter_mut().zip(x) {
            *t += x * s[0];
        }
    }
    let length = t.iter().map(|t| t * t).sum::<f64>().sqrt();
    if length > 0.0 {
        Ok((length, t.map(|t| t / length)))
    } else {
        Err(length)
    }
}
