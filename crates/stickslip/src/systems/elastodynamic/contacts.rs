//! Constraints of the contact surfaces of a mesh.

use std::sync::Arc;

use crate::systems::{ContactFrame, UnilateralConstraint};

use super::ElastodynamicError;
use super::assembly::Assembly;
use super::builder::{ContactSpec, ElastodynamicBuilder, Target};
use super::contact_pair::{NodeOnObstacle, NodeOnSurface};
use super::master_surface::MasterSurface;
use super::nodes::{NONE, NodeMap};
use super::obstacle::Obstacle;
use super::surface_load;
use super::system::ContactSurface;

impl ElastodynamicBuilder {
    /// Constraints, contact surfaces and the degrees of freedom they can touch.
    pub(super) fn contacts(
        &self,
        nodes: &Arc<NodeMap>,
        assembly: &Assembly,
    ) -> Result<Contacts, ElastodynamicError> {
        let space = nodes.space;
        let (mut constraints, mut surfaces) = (Vec::new(), Vec::new());
        let mut touched: Vec<u32> = Vec::new();
        let mut touch = |node: u32| {
            touched.extend((0..space).filter_map(|k| nodes.free_dof(node, k).map(|d| d as u32)));
        };
        // Size of the facets, which bounds the depth of a penetration.
        let element_size = assembly
            .elements
            .first()
            .map_or(1.0, |&(e, _)| surface_load::size(&self.mesh, e as usize));
        for spec in &self.contacts {
            let tangents = spec.law.tangent_dimension();
            if tangents > 0 && tangents + 1 != space {
                return Err(ElastodynamicError::Tangents {
                    surface: spec.surface.clone(),
                    found: tangents,
                    expected: space - 1,
                });
            }
            let list = self.group_nodes(&spec.surface)?;
            let mut area = vec![0.0; nodes.len()];
            for &e in self.group(&spec.surface)? {
                let share = |node: u32, share: f64| area[node as usize] += share;
                surface_load::for_each_share(&self.mesh, e as usize, self.surface_measure(), share);
            }
            let target = self.pair(spec, nodes, element_size)?;
            if let Target::Surface(master) = &spec.target {
                for &e in self.group(master)? {
                    self.mesh
                        .element(e as usize)
                        .1
                        .iter()
                        .for_each(|&n| touch(n));
                }
            }
            let first = constraints.len();
            let mut used = Vec::new();
            for node in list {
                if nodes.range(node).is_empty() {
                    return Err(ElastodynamicError::UnusedNode {
                        group: spec.surface.clone(),
                        node: self.mesh.node_number(node),
                    });
                }
                if (0..space).all(|k| nodes.free_dof(node, k).is_none()) {
                    continue; // held on all sides: nothing to do for a contact
                }
                touch(node);
                let name = format!("{}-{node}", spec.name);
                constraints.push(target.constraint(spec, name, nodes, node));
                used.push(node);
            }
            surfaces.push(ContactSurface {
                name: spec.name.clone(),
                areas: used.iter().map(|&n| area[n as usize]).collect(),
                nodes: used,
                constraints: first..constraints.len(),
                obstacle: match &target {
                    Pair::Obstacle(obstacle) => Some(obstacle.clone()),
                    Pair::Surface(_) => None,
                },
            });
        }
        touched.sort_unstable();
        touched.dedup();
        Ok((constraints, surfaces, touched))
    }

    /// What the nodes of a surface meet.
    fn pair(
        &self,
        spec: &ContactSpec,
        nodes: &Arc<NodeMap>,
        element_size: f64,
    ) -> Result<Pair, ElastodynamicError> {
        let master = match &spec.target {
            Target::Obstacle(obstacle) => {
                return match obstacle.problem() {
                    None => Ok(Pair::Obstacle(Arc::new(obstacle.clone()))),
                    Some(problem) => Err(ElastodynamicError::Obstacle {
                        surface: spec.surface.clone(),
                        problem,
                    }),
                };
            }
            Target::Surface(master) => master,
        };
        let mut pieces = Vec::new();
        for &e in self.group(master)? {
            let (kind, list) = self.mesh.element(e as usize);
            if kind.dimension() + 1 != nodes.space {
                return Err(ElastodynamicError::WrongDimension {
                    name: master.clone(),
                    kind: format!("{kind:?}"),
                    expected: nodes.space - 1,
                });
            }
            for piece in kind.flat_pieces() {
                let mut entry = [NONE; 3];
                for (entry, &k) in entry.iter_mut().zip(*piece) {
                    *entry = list[k];
                }
                pieces.push(entry);
            }
        }
        let surface = MasterSurface::new(nodes.clone(), pieces, element_size);
        Ok(Pair::Surface(Arc::new(surface)))
    }
}

impl Pair {
    /// The constraint of one node.
    fn constraint(
        &self,
        spec: &ContactSpec,
        name: String,
        nodes: &Arc<NodeMap>,
        node: u32,
    ) -> UnilateralConstraint {
        let (space, law) = (nodes.space, spec.law.clone());
        match self {
            Self::Obstacle(obstacle) => {
                let pair = NodeOnObstacle {
                    nodes: nodes.clone(),
                    node,
                    obstacle: obstacle.clone(),
                };
                let frame = material_frame(space, pair.clone());
                UnilateralConstraint::new(name, pair).with_point(frame, law)
            }
            Self::Surface(surface) => {
                let pair = NodeOnSurface {
                    node,
                    surface: surface.clone(),
                };
                let frame = material_frame(space, pair.clone());
                UnilateralConstraint::new(name, pair).with_point(frame, law)
            }
        }
    }
}

pub(super) type Contacts = (Vec<UnilateralConstraint>, Vec<ContactSurface>, Vec<u32>);

enum Pair {
    Obstacle(Arc<Obstacle>),
    Surface(Arc<MasterSurface>),
}

fn material_frame(
    space: usize,
    rows: impl crate::systems::functions::FrameRows + 'static,
) -> ContactFrame {
    ContactFrame::Material {
        count: space - 1,
        rows: Box::new(rows),
    }
}
