//! W written as Hᵀ M⁻¹ H with few columns: bodies where they are known, otherwise
//! a skeleton of W itself.
//!
//! # What it computes
//!
//! For bodies: M block-diagonal, H the jacobian. Without bodies: a set J of rows such that
//! W = W[:,J] W[J,J]⁻¹ W[J,:] to rounding, found by [`crate::algebra::spanning_rows`]; then M = W[J,J] and
//! H = W[J,:] are as sparse as W. It works for unsymmetric W too.
//!
//! # Source
//!
//! Skeleton (CUR) decompositions are standard; their use as stand-in for unknown bodies is our own.
//!
//! # Guarantees
//!
//! Exact for W of rank |J|; callers refine against W.
//!
//! # Behaviour to know
//!
//! The rank is that of W to 1e-11; rows chosen keep a thousandth of their diagonal wherever possible.
//!
//! # Cost
//!
//! Skeleton: one rank-one update of a front per row chosen.
//!
//! # Tested by
//!
//! Tests below, `crates/stickslip/tests/solver_suite.rs`.

use super::scaled_problem::ScaledProblem;
use crate::algebra::multifrontal::{PatternBlock, SymbolicMultifrontal};
use crate::algebra::spanning_rows::spanning_rows;
use crate::contact::delassus::BodyForm;

/// One contact seen from one node.
#[derive(Clone, Debug)]
struct NodeLink {
    node: usize,
    /// Rows of Hᵀ: 3 × size, row-major.
    right: Vec<f64>,
    /// Columns of H: size × 3, row-major.
    left: Vec<f64>,
}

/// The part of H that belongs to one contact, gathered from its nodes.
#[derive(Clone, Debug)]
pub(crate) struct ContactLinks {
    pub nodes: Vec<usize>,
    /// First freedom of each node among those of the contact; their number at the end.
    pub first: Vec<usize>,
    /// Columns of H: three numbers per freedom.
    pub left: Vec<f64>,
    /// Rows of Hᵀ, one after the other: 3 × freedoms.
    pub right: Vec<f64>,
}

impl ContactLinks {
    fn new(links: Vec<NodeLink>) -> Self {
        let mut first = vec![0];
        let mut left = Vec::new();
        for link in &links {
            left.extend_from_slice(&link.left);
            first.push(left.len() / 3);
        }
        let mut right = Vec::with_capacity(left.len());
        for row in 0..3 {
            for link in &links {
                let size = link.right.len() / 3;
                right.extend_from_slice(&link.right[row * size..(row + 1) * size]);
            }
        }
        Self {
            nodes: links.into_iter().map(|link| link.node).collect(),
            first,
            left,
            right,
        }
    }

    /// Number of freedoms of the contact.
    pub fn freedoms(&self) -> usize {
        self.left.len() / 3
    }
}

/// W = Hᵀ M⁻¹ H in scaled variables.
#[derive(Clone, Debug)]
pub struct ReducedForm {
    pub(crate) sizes: Vec<usize>,
    /// Blocks of M: row node, column node, row-major values.
    pub(crate) mass: Vec<(usize, usize, Vec<f64>)>,
    pub(crate) links: Vec<ContactLinks>,
}

impl ReducedForm {
    /// Reduced form from bodies; `None` in the plane.
    pub fn from_bodies(problem: &ScaledProblem, bodies: &BodyForm) -> Option<Self> {
        if problem.dimension != 3 {
            return None;
        }
        let sizes: Vec<usize> = bodies.freedoms.iter().map(Vec::len).collect();
        let mass = bodies
            .mass
            .iter()
            .enumerate()
            .map(|(b, mass)| (b, b, mass.clone()))
            .collect();
        let links = bodies
            .links
            .iter()
            .zip(&problem.scale)
            .map(|(links, s)| {
                let links = links
                    .iter()
                    .map(|link| {
                        let size = sizes[link.body];
                        let right: Vec<f64> = link.jacobian.iter().map(|h| h / s).collect();
                        let mut left = vec![0.0; 3 * size];
                        for r in 0..3 {
                            for k in 0..size {
                                left[3 * k + r] = right[r * size + k];
                            }
                        }
                        NodeLink {
                            node: link.body,
                            right,
                            left,
                        }
                    })
                    .collect();
                ContactLinks::new(links)
            })
            .collect();
        Some(Self { sizes, mass, links })
    }

    /// Skeleton of W; `None` if the rank exceeds the given fraction of the rows.
    pub fn skeleton(problem: &ScaledProblem, largest_fraction: f64) -> Option<Self> {
        if problem.dimension != 3 {
            return None;
        }
        let chosen = independent_rows(problem, largest_fraction)?;
        // Rows of each contact that belong to J, and their place among those of the contact.
        let n = problem.contacts();
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); n];
        for &row in &chosen {
            rows[row / 3].push(row % 3);
        }
        for list in &mut rows {
            list.sort_unstable();
        }
        let sizes: Vec<usize> = rows.iter().map(Vec::len).collect();
        let mut mass = Vec::new();
        let mut links: Vec<Vec<NodeLink>> = vec![Vec::new(); n];
        let entry = |k: usize, r: usize, c: usize| problem.value[9 * k + 3 * c + r];
        for i in 0..n {
            for k in problem.row_start[i] as usize..problem.row_start[i + 1] as usize {
                let j = problem.column[k] as usize;
                // W[i, J of j] is the right part of contact i at node j.
                if sizes[j] > 0 {
                    let mut right = Vec::with_capacity(3 * sizes[j]);
                    for r in 0..3 {
                        right.extend(rows[j].iter().map(|&c| entry(k, r, c)));
                    }
                    link_at(&mut links[i], j, sizes[j]).right = right;
                }
                // W[J of i, j] is the left part of contact j at node i.
                if sizes[i] > 0 {
                    let mut left = Vec::with_capacity(3 * sizes[i]);
                    for &r in &rows[i] {
                        left.extend((0..3).map(|c| entry(k, r, c)));
                    }
                    link_at(&mut links[j], i, sizes[i]).left = left;
                }
                if sizes[i] > 0 && sizes[j] > 0 {
                    let mut block = Vec::with_capacity(sizes[i] * sizes[j]);
                    for &r in &rows[i] {
                        block.extend(rows[j].iter().map(|&c| entry(k, r, c)));
                    }
                    mass.push((i, j, block));
                }
            }
        }
        let links = links.into_iter().map(ContactLinks::new).collect();
        Some(Self { sizes, mass, links })
    }
}

/// The link to a node, made with zeros if new.
fn link_at(links: &mut Vec<NodeLink>, node: usize, size: usize) -> &mut NodeLink {
    let at = match links.binary_search_by_key(&node, |link| link.node) {
        Ok(at) => at,
        Err(at) => {
            links.insert(
                at,
                NodeLink {
                    node,
                    right: vec![0.0; 3 * size],
                    left: vec![0.0; 3 * size],
                },
            );
            at
        }
    };
    &mut links[at]
}

/// Rows that span W.
fn independent_rows(problem: &ScaledProblem, largest_fraction: f64) -> Option<Vec<usize>> {
    let n = problem.contacts();
    let mut blocks = Vec::with_capacity(problem.column.len());
    let mut values = Vec::with_capacity(9 * problem.column.len());
    for i in 0..n {
        for k in problem.row_start[i] as usize..problem.row_start[i + 1] as usize {
            blocks.push(PatternBlock {
                row: i,
                column: problem.column[k] as usize,
                value: values.len(),
            });
            let block = &problem.value[9 * k..9 * k + 9];
            for r in 0..3 {
                values.extend((0..3).map(|c| block[3 * c + r]));
            }
        }
    }
    let diagonal: Vec<f64> = (0..3 * n)
        .map(|r| problem.diagonal[r / 3][4 * (r % 3)])
        .collect();
    let symbolic = SymbolicMultifrontal::new(&vec![3; n], &blocks);
    let limit = (largest_fraction * 3.0 * n as f64) as usize;
    spanning_rows(&symbolic, &values, &diagonal, limit)
}
