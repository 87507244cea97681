//! Integrals of shape functions over surfaces and volumes: tractions, body forces, areas.

use super::assembly::Assembly;
use super::element_matrices::{ElementData, Table, jacobian, line_jacobian};
use super::nodes::NodeMap;
use super::{Formulation, Mesh};

/// What a surface measure is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SurfaceMeasure {
    /// Thickness of a plane body; one in space.
    Thickness(f64),
    /// Full circle about the axis.
    Circle,
}

/// Shows the share ∫N_a dS of each node of a facet; a point has the share one.
pub(crate) fn for_each_share(
    mesh: &Mesh,
    e: usize,
    measure: SurfaceMeasure,
    mut share: impl FnMut(u32, f64),
) {
    let (kind, nodes) = mesh.element(e);
    if kind.dimension() == 0 {
        share(nodes[0], 1.0);
        return;
    }
    let x: Vec<[f64; 3]> = nodes.iter().map(|&n| mesh.nodes()[n as usize]).collect();
    let table = Table::new(kind, 1);
    for (k, (_, weight)) in table.points.iter().enumerate() {
        let (shape, slope) = (table.value(k), table.slope(k));
        let radius: f64 = shape.iter().zip(&x).map(|(n, x)| n * x[0]).sum();
        let area = if kind.dimension() == 1 {
            line_jacobian(&x, slope).map_or(0.0, |(length, _)| length)
        } else {
            let j = jacobian(&x, slope);
            let n = [
                j[1][0] * j[2][1] - j[2][0] * j[1][1],
                j[2][0] * j[0][1] - j[0][0] * j[2][1],
                j[0][0] * j[1][1] - j[1][0] * j[0][1],
            ];
            n.iter().map(|n| n * n).sum::<f64>().sqrt()
        };
        let factor = weight
            * area
            * match measure {
                SurfaceMeasure::Thickness(t) => t,
                SurfaceMeasure::Circle => std::f64::consts::TAU * radius,
            };
        for (&node, n) in nodes.iter().zip(shape) {
            share(node, factor * n);
        }
    }
}

/// Smallest distance between corner nodes of an element.
pub(crate) fn size(mesh: &Mesh, e: usize) -> f64 {
    let (_, nodes) = mesh.element(e);
    let mut smallest = f64::INFINITY;
    for (i, &a) in nodes.iter().enumerate() {
        for &b in &nodes[..i] {
            let (x, y) = (mesh.nodes()[a as usize], mesh.nodes()[b as usize]);
            let d: f64 = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum();
            smallest = smallest.min(d.sqrt());
        }
    }
    smallest
}

/// Nodal forces of a force per volume, chosen by `force(data, out)`, over `members` (all elements
/// by default).
pub(crate) fn volume_force(
    mesh: &Mesh,
    nodes: &NodeMap,
    assembly: &Assembly,
    members: Option<&[u32]>,
    force: impl Fn(&ElementData, &mut [f64; 3]),
) -> Vec<f64> {
    let mut out = vec![0.0; nodes.free_count];
    let mut x = Vec::new();
    for k in 0..assembly.elements.len() {
        let (e, d) = assembly.elements[k];
        if members.is_some_and(|members| members.binary_search(&e).is_err()) {
            continue;
        }
        let data = &assembly.data[d as usize];
        let mut density = [0.0; 3];
        force(data, &mut density);
        assembly.coordinates(mesh, k, &mut x);
        let list = mesh.element(e as usize).1;
        let table = &data.mass_table;
        for (p, (_, weight)) in table.points.iter().enumerate() {
            let (shape, slope) = (table.value(p), table.slope(p));
            let radius: f64 = shape.iter().zip(&x).map(|(n, x)| n * x[0]).sum();
            let factor = weight * volume(data, &x, slope, radius);
            for (&node, n) in list.iter().zip(shape) {
                nodes.visit(node, density, factor * n, |dof, value| out[dof] += value);
            }
            if let (Formulation::Beam { .. }, 0) = (data.formulation, p) {
                beam_moments(nodes, list, &x, density, data, &mut out);
            }
        }
    }
    out
}

fn volume(data: &ElementData, x: &[[f64; 3]], slope: &[[f64; 3]], radius: f64) -> f64 {
    match data.formulation {
        Formulation::Bar { area } | Formulation::Beam { area, .. } => {
            area * line_jacobian(x, slope).map_or(0.0, |(length, _)| length)
        }
        formulation => {
            let mut gradient = [[0.0; 3]; super::element::NODES_MAX];
            let det = data.gradients(x, slope, &mut gradient);
            det * match formulation {
                Formulation::PlaneStrain { thickness } | Formulation::PlaneStress { thickness } => {
                    thickness
                }
                Formulation::Axisymmetric => std::f64::consts::TAU * radius,
                _ => 1.0,
            }
        }
    }
}

/// End moments ±q l²/12 of a uniform transverse load on a beam.
fn beam_moments(
    nodes: &NodeMap,
    list: &[u32],
    x: &[[f64; 3]],
    density: [f64; 3],
    data: &ElementData,
    out: &mut [f64],
) {
    let Formulation::Beam { area, .. } = data.formulation else {
        return;
    };
    let (dx, dy) = (x[1][0] - x[0][0], x[1][1] - x[0][1]);
    let l = dx.hypot(dy);
    let transverse = area * (density[1] * dx - density[0] * dy) / l;
    for (&node, sign) in list.iter().zip([1.0, -1.0]) {
        if let Some(dof) = nodes.free_dof(node, nodes.space) {
            out[dof] += sign * transverse * l * l / 12.0;
        }
    }
}
