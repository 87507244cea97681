//! The surface of elastic bodies, and the obstacles they meet.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::systems::ElastodynamicSystem;
use crate::systems::elastodynamic::{ElementKind, ObstacleShape};

/// The part of a mesh that is seen: all faces in the plane, the outer ones in space.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewMesh {
    /// Numbers of its nodes in the mesh.
    #[serde(skip)]
    pub nodes: Vec<u32>,
    /// Number among the stressed elements of the element that each face belongs to.
    #[serde(skip)]
    pub elements: Vec<u32>,
    /// Places of its nodes at rest, one after the other.
    pub points: Vec<f64>,
    /// Corners of its faces, numbered as in `nodes`.
    pub faces: Vec<Vec<u32>>,
}

/// A rigid obstacle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ViewObstacle {
    /// `plane`, `sphere` or `cylinder`.
    pub kind: &'static str,
    /// A point of the plane or of the axis, or the centre.
    pub point: [f64; 3],
    /// Normal to the free side, or direction of the axis.
    pub direction: [f64; 3],
    /// Radius.
    pub radius: f64,
    /// Whether bodies are kept inside.
    pub inside: bool,
}

/// Corners of the faces of an element; of plane elements, their outline.
fn outlines(kind: ElementKind) -> &'static [&'static [usize]] {
    match kind {
        ElementKind::Line2 | ElementKind::Line3 => &[&[0, 1]],
        ElementKind::Tri3 => &[&[0, 1, 2]],
        ElementKind::Tri6 => &[&[0, 3, 1, 4, 2, 5]],
        ElementKind::Quad4 => &[&[0, 1, 2, 3]],
        ElementKind::Quad8 | ElementKind::Quad9 => &[&[0, 4, 1, 5, 2, 6, 3, 7]],
        ElementKind::Tet4 | ElementKind::Tet10 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
        ElementKind::Hex8 | ElementKind::Hex20 | ElementKind::Hex27 => &[
            &[0, 3, 2, 1],
            &[4, 5, 6, 7],
            &[0, 1, 5, 4],
            &[1, 2, 6, 5],
            &[2, 3, 7, 6],
            &[3, 0, 4, 7],
        ],
        ElementKind::Point => &[],
    }
}

impl ViewMesh {
    /// The faces that are seen of a mesh: all of plane elements, in space those of one element only.
    #[must_use]
    pub fn of(system: &ElastodynamicSystem) -> Option<Self> {
        let mesh = system.mesh()?;
        let mut all: Vec<(Vec<u32>, u32)> = Vec::new();
        let mut count: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        let sorted = |nodes: &[u32]| {
            let mut key = nodes.to_vec();
            key.sort_unstable();
            key
        };
        for (k, &e) in system.stressed_elements().iter().enumerate() {
            let (kind, list) = mesh.element(e as usize);
            for outline in outlines(kind) {
                let nodes: Vec<u32> = outline.iter().map(|&i| list[i]).collect();
                if kind.dimension() == 3 {
                    *count.entry(sorted(&nodes)).or_default() += 1;
                }
                all.push((nodes, k as u32));
            }
        }
        all.retain(|(nodes, _)| count.get(&sorted(nodes)).is_none_or(|&n| n == 1));
        let mut nodes: Vec<u32> = all.iter().flat_map(|(nodes, _)| nodes).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        // Every corner is one of the nodes.
        let number = |node: &u32| nodes.binary_search(node).unwrap_or(0) as u32;
        Some(Self {
            faces: all
                .iter()
                .map(|(list, _)| list.iter().map(number).collect())
                .collect(),
            elements: all.iter().map(|(_, element)| *element).collect(),
            points: nodes
                .iter()
                .flat_map(|&n| mesh.nodes()[n as usize])
                .collect(),
            nodes,
        })
    }

    /// Appends the displacements of the nodes and the stresses of the faces.
    pub(super) fn push(
        &self,
        system: &ElastodynamicSystem,
        (t, q): (f64, &[f64]),
        displacements: &mut Vec<f64>,
        stresses: &mut Vec<f64>,
    ) {
        let nodes = system.nodes();
        displacements.extend(self.nodes.iter().flat_map(|&n| nodes.displacement(t, q, n)));
        let all = system.stresses(t, q);
        stresses.extend(self.elements.iter().map(|&e| all[e as usize].von_mises));
    }
}

/// The obstacles of the contact surfaces.
pub(super) fn obstacles(system: &ElastodynamicSystem) -> Vec<ViewObstacle> {
    let surfaces = system.surfaces().iter();
    let all = surfaces.filter_map(|surface| surface.obstacle.as_ref());
    all.map(|obstacle| match *obstacle.shape() {
        ObstacleShape::Plane { point, normal } => ViewObstacle {
            kind: "plane",
            point,
            direction: normal,
            radius: 0.0,
            inside: false,
        },
        ObstacleShape::Sphere {
            centre,
            radius,
            inside,
        } => ViewObstacle {
            kind: "sphere",
            point: centre,
            direction: [0.0; 3],
            radius,
            inside,
        },
        ObstacleShape::Cylinder {
            point,
            axis,
            radius,
            inside,
        } => ViewObstacle {
            kind: "cylinder",
            point,
            direction: axis,
            radius,
            inside,
        },
    })
    .collect()
}

/// Appends the displacements of the obstacles at time `t`.
pub(super) fn push_obstacles(system: &ElastodynamicSystem, t: f64, out: &mut Vec<f64>) {
    for surface in system.surfaces() {
        if let Some(obstacle) = &surface.obstacle {
            out.extend(obstacle.displacement(t));
        }
    }
}
