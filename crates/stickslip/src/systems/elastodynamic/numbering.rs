//! Which elements belong to which region, and which degrees of freedom are free.

use super::ElastodynamicError;
use super::builder::ElastodynamicBuilder;
use super::element_matrices::ElementData;
use super::nodes::{NONE, NodeMap};

/// Elements with the number of their data, the data, and the region of each data.
pub(super) type ElementLists = (Vec<(u32, u32)>, Vec<ElementData>, Vec<String>);

impl ElastodynamicBuilder {
    pub(super) fn group(&self, name: &str) -> Result<&[u32], ElastodynamicError> {
        match self.mesh.group(name) {
            Some(group) => Ok(&group.elements),
            None => Err(ElastodynamicError::MissingGroup {
                name: name.to_string(),
                known: self
                    .mesh
                    .groups()
                    .keys()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    pub(super) fn group_nodes(&self, name: &str) -> Result<Vec<u32>, ElastodynamicError> {
        self.group(name)?;
        // The group exists: it was just found.
        Ok(self.mesh.group_nodes(name).unwrap_or_default())
    }

    /// Region of every element, and the data of each region and kind.
    pub(super) fn elements(&self) -> Result<ElementLists, ElastodynamicError> {
        if self.regions.is_empty() {
            return Err(ElastodynamicError::NoRegion);
        }
        let mut region_of = vec![NONE; self.mesh.element_count()];
        let mut data: Vec<ElementData> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (r, (name, material, formulation)) in self.regions.iter().enumerate() {
            formulation.check(name, material)?;
            let first = data.len();
            for &e in self.group(name)? {
                let (kind, _) = self.mesh.element(e as usize);
                if kind.dimension() != formulation.element_dimension() {
                    return Err(ElastodynamicError::WrongDimension {
                        name: name.clone(),
                        kind: format!("{kind:?}"),
                        expected: formulation.element_dimension(),
                    });
                }
                let before = region_of[e as usize];
                if before != NONE {
                    return Err(ElastodynamicError::TwoRegions {
                        element: self.mesh.element_number(e),
                        first: names[before as usize].to_string(),
                        second: self.regions[r].0.clone(),
                    });
                }
                let known = (first..data.len()).find(|&k| data[k].kind == kind);
                let index = known.unwrap_or_else(|| {
                    data.push(ElementData::new(kind, *formulation, *material, self.mass));
                    names.push(name.clone());
                    data.len() - 1
                });
                region_of[e as usize] = index as u32;
            }
        }
        let list = (0..region_of.len() as u32)
            .filter(|&e| region_of[e as usize] != NONE)
            .map(|e| (e, region_of[e as usize]))
            .collect();
        Ok((list, data, names))
    }

    /// Numbers the degrees of freedom.
    pub(super) fn number(
        &self,
        elements: &[(u32, u32)],
        data: &[ElementData],
    ) -> Result<NodeMap, ElastodynamicError> {
        let space = self.mesh.dimension();
        let count = self.mesh.nodes().len();
        let mut components = vec![0u32; count];
        for &(e, d) in elements {
            let c = data[d as usize].components(space) as u32;
            for &n in self.mesh.element(e as usize).1 {
                components[n as usize] = components[n as usize].max(c);
            }
        }
        let mut first = vec![0u32];
        for c in &components {
            first.push(first.last().copied().unwrap_or(0) + c);
        }
        let total = first[count] as usize;
        let mut held = vec![false; total];
        let mut motion = vec![NONE; total];
        let mut motions = Vec::new();
        let place = |group: &str, node: u32, component: usize| {
            let have = components[node as usize] as usize;
            if have == 0 {
                Err(ElastodynamicError::UnusedNode {
                    group: group.to_string(),
                    node: self.mesh.node_number(node),
                })
            } else if component >= have {
                Err(ElastodynamicError::Component {
                    group: group.to_string(),
                    component,
                    count: have,
                })
            } else {
                Ok(first[node as usize] as usize + component)
            }
        };
        for (group, list) in &self.supports {
            for node in self.group_nodes(group)? {
                for &component in list {
                    held[place(group, node, component)?] = true;
                }
            }
        }
        for (group, component, given) in &self.prescriptions {
            let number = motions.len() as u32;
            motions.push(given.clone());
            for node in self.group_nodes(group)? {
                let dof = place(group, node, *component)?;
                held[dof] = true;
                motion[dof] = number;
            }
        }
        let mut next = 0;
        let free: Vec<u32> = held
            .iter()
            .map(|&held| {
                if held {
                    NONE
                } else {
                    next += 1;
                    next - 1
                }
            })
            .collect();
        if next == 0 {
            return Err(ElastodynamicError::NothingFree);
        }
        Ok(NodeMap {
            space,
            x: self.mesh.nodes().to_vec(),
            first,
            free,
            motion,
            motions,
            free_count: next as usize,
        })
    }
}
