//! Assembly into a fixed pattern with precomputed positions.

use std::sync::Arc;

use rayon::prelude::*;

use crate::algebra::{SparsePattern, SparseSymmetric};

use super::element_matrices::ElementData;
use super::nodes::{NONE, NodeMap};
use super::{ElastodynamicError, Mesh};

/// Elements computed together before they are added; bounds the memory of a chunk.
const CHUNK: usize = 4096;

/// Elements of the regions and where their matrices go.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    /// Element number and index of its data, in the order of the mesh.
    pub elements: Vec<(u32, u32)>,
    pub data: Vec<ElementData>,
    pub region_names: Vec<String>,
    pub pattern: Arc<SparsePattern>,
    /// Offset of node b in the rows of node a, for all pairs of nodes of each element.
    pair_offset: Vec<u32>,
    pair_start: Vec<usize>,
}

/// Entry that couples a free degree of freedom to one that moves in a given way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coupling {
    pub row: u32,
    pub motion: u32,
    pub stiffness: f64,
    pub mass: f64,
}

/// Neighbours of each node, itself included, with the offset of their first entry in its rows.
fn neighbours(mesh: &Mesh, nodes: &NodeMap, elements: &[(u32, u32)]) -> Vec<Vec<(u32, u32)>> {
    // Elements around each node.
    let count = mesh.nodes().len();
    let mut start = vec![0u32; count + 1];
    for &(e, _) in elements {
        for &n in mesh.element(e as usize).1 {
            start[n as usize + 1] += 1;
        }
    }
    for n in 0..count {
        start[n + 1] += start[n];
    }
    let mut next = start.clone();
    let mut around = vec![0u32; start[count] as usize];
    for &(e, _) in elements {
        for &n in mesh.element(e as usize).1 {
            around[next[n as usize] as usize] = e;
            next[n as usize] += 1;
        }
    }
    let free_of = |n: u32| {
        nodes
            .range(n)
            .filter(|&dof| nodes.free[dof] != NONE)
            .count() as u32
    };
    (0..count)
        .into_par_iter()
        .map(|n| {
            let mut list: Vec<u32> = around[start[n] as usize..start[n + 1] as usize]
                .iter()
                .flat_map(|&e| mesh.element(e as usize).1.iter().copied())
                .collect();
            list.sort_unstable();
            list.dedup();
            let mut offset = 0;
            list.into_iter()
                .map(|m| {
                    let here = offset;
                    offset += free_of(m);
                    (m, here)
                })
                .collect()
        })
        .collect()
}

impl Assembly {
    pub fn new(
        mesh: &Mesh,
        nodes: &NodeMap,
        elements: Vec<(u32, u32)>,
        data: Vec<ElementData>,
        region_names: Vec<String>,
    ) -> Self {
        let count = mesh.nodes().len();
        let neighbours = neighbours(mesh, nodes, &elements);
        // Rows: the free components of all neighbours.
        let mut row_start = vec![0u32];
        let mut column = Vec::new();
        for n in 0..count as u32 {
            for dof in nodes.range(n) {
                if nodes.free[dof] == NONE {
                    continue;
                }
                for &(m, _) in &neighbours[n as usize] {
                    column.extend(nodes.range(m).map(|d| nodes.free[d]).filter(|&d| d != NONE));
                }
                row_start.push(column.len() as u32);
            }
        }
        let mut pair_start = Vec::with_capacity(elements.len() + 1);
        pair_start.push(0);
        for &(e, _) in &elements {
            let k = mesh.element(e as usize).1.len();
            pair_start.push(pair_start.last().copied().unwrap_or(0) + k * k);
        }
        let pair_offset = elements
            .par_iter()
            .flat_map_iter(|&(e, _)| {
                let list = mesh.element(e as usize).1;
                let neighbours = &neighbours;
                list.iter().flat_map(move |&a| {
                    let near = &neighbours[a as usize];
                    list.iter().map(move |&b| {
                        // Nodes of one element are neighbours by construction.
                        let k = near.binary_search_by_key(&b, |pair| pair.0);
                        near[k.expect("a neighbour")].1
                    })
                })
            })
            .collect();
        Self {
            elements,
            data,
            region_names,
            pattern: Arc::new(SparsePattern::from_trusted_parts(row_start, column)),
            pair_offset,
            pair_start,
        }
    }

    /// Adds the matrix of element number `k` (row-major, node by node) to `values`; entries that
    /// couple to a held degree of freedom are shown to `coupled(row, dof, value)`.
    #[inline]
    pub fn scatter(
        &self,
        mesh: &Mesh,
        nodes: &NodeMap,
        k: usize,
        matrix: &[f64],
        values: &mut [f64],
        mut coupled: impl FnMut(u32, usize, f64),
    ) {
        let (e, data) = self.elements[k];
        let list = mesh.element(e as usize).1;
        let components = self.data[data as usize].components(nodes.space);
        let order = list.len() * components;
        let offsets = &self.pair_offset[self.pair_start[k]..self.pair_start[k + 1]];
        let (row_start, _) = self.pattern.parts();
        for (a, &na) in list.iter().enumerate() {
            let first_a = nodes.first[na as usize] as usize;
            for i in 0..components {
                let row = nodes.free[first_a + i];
                if row == NONE {
                    continue;
                }
                let base = row_start[row as usize];
                let entries =
                    &matrix[(a * components + i) * order..(a * components + i + 1) * order];
                for (b, &nb) in list.iter().enumerate() {
                    let first_b = nodes.first[nb as usize] as usize;
                    let mut position = (base + offsets[a * list.len() + b]) as usize;
                    for j in 0..components {
                        let value = entries[b * components + j];
                        if nodes.free[first_b + j] != NONE {
                            values[position] += value;
                            position += 1;
                        } else if value != 0.0 {
                            coupled(row, first_b + j, value);
                        }
                    }
                }
            }
        }
    }

    /// Coordinates of the nodes of element number `k`.
    pub fn coordinates(&self, mesh: &Mesh, k: usize, out: &mut Vec<[f64; 3]>) {
        out.clear();
        let list = mesh.element(self.elements[k].0 as usize).1;
        out.extend(list.iter().map(|&n| mesh.nodes()[n as usize]));
    }

    /// Stiffness and mass. Elements are computed in parallel and added in their order, so that
    /// the result does not depend on the number of threads.
    pub fn matrices(
        &self,
        mesh: &Mesh,
        nodes: &NodeMap,
    ) -> Result<(SparseSymmetric, SparseSymmetric, Vec<Coupling>), ElastodynamicError> {
        let mut stiffness = SparseSymmetric::zeros(self.pattern.clone());
        let mut mass = SparseSymmetric::zeros(self.pattern.clone());
        let mut couplings = Vec::new();
        let mut buffer: Vec<Result<Vec<f64>, f64>> = Vec::new();
        for first in (0..self.elements.len()).step_by(CHUNK) {
            let last = (first + CHUNK).min(self.elements.len());
            (first..last)
                .into_par_iter()
                .map_init(Vec::new, |x, k| {
                    let (_, data) = self.elements[k];
                    let data = &self.data[data as usize];
                    self.coordinates(mesh, k, x);
                    let order = x.len() * data.components(nodes.space);
                    let mut both = vec![0.0; 2 * order * order];
                    let (k, m) = both.split_at_mut(order * order);
                    data.matrices(x, nodes.space, k, m).map(|()| both)
                })
                .collect_into_vec(&mut buffer);
            for (k, both) in (first..last).zip(&buffer) {
                let both = match both {
                    Ok(both) => both,
                    Err(determinant) => return Err(self.inverted(mesh, k, *determinant)),
                };
                let (ke, me) = both.split_at(both.len() / 2);
                let mut couple = |row: u32, dof: usize, stiffness: f64, mass: f64| {
                    let motion = nodes.motion[dof];
                    if motion != NONE {
                        couplings.push(Coupling {
                            row,
                            motion,
                            stiffness,
                            mass,
                        });
                    }
                };
                self.scatter(mesh, nodes, k, ke, stiffness.values_mut(), |row, dof, x| {
                    couple(row, dof, x, 0.0)
                });
                self.scatter(mesh, nodes, k, me, mass.values_mut(), |row, dof, x| {
                    couple(row, dof, 0.0, x)
                });
            }
        }
        Ok((stiffness, mass, merged(couplings)))
    }

    fn inverted(&self, mesh: &Mesh, k: usize, determinant: f64) -> ElastodynamicError {
        let (e, data) = self.elements[k];
        let (kind, nodes) = mesh.element(e as usize);
        ElastodynamicError::Inverted {
            element: mesh.element_number(e),
            region: self.region_names[data as usize].clone(),
            kind: format!("{kind:?}"),
            nodes: nodes.iter().map(|&n| mesh.node_number(n)).collect(),
            determinant,
        }
    }
}

/// Couplings with equal row and motion added up.
fn merged(mut couplings: Vec<Coupling>) -> Vec<Coupling> {
    // Stable, so that sums run in the order of the elements.
    couplings.sort_by_key(|c| (c.row, c.motion));
    let mut out: Vec<Coupling> = Vec::new();
    for c in couplings {
        match out.last_mut() {
            Some(last) if last.row == c.row && last.motion == c.motion => {
                last.stiffness += c.stiffness;
                last.mass += c.mass;
            }
            _ => out.push(c),
        }
    }
    out
}
