//! Meshes: nodes, elements, named groups.

use std::collections::BTreeMap;

use super::ElementKind;

/// A named set of elements of one dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Elements of the group, sorted.
    pub elements: Vec<u32>,
}

/// Nodes, elements and groups.
///
/// The group `all` holds the elements of the highest dimension; built-in meshes name their sides,
/// Gmsh files name their physical groups.
///
/// ```
/// use stickslip::systems::elastodynamic::{ElementKind, Mesh};
///
/// // Eight cells, and twelve edges around them.
/// let plate = Mesh::rectangle((2.0, 1.0), (4, 2), ElementKind::Quad4);
/// assert_eq!((plate.nodes().len(), plate.element_count()), (15, 8 + 12));
/// assert_eq!(plate.group_nodes("bottom").map(|nodes| nodes.len()), Some(5));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    dimension: usize,
    nodes: Vec<[f64; 3]>,
    kinds: Vec<ElementKind>,
    start: Vec<u32>,
    element_nodes: Vec<u32>,
    groups: BTreeMap<String, Group>,
    /// First node and name of every mesh that was joined or named.
    parts: Vec<(u32, String)>,
    /// Numbers of nodes and elements in the file they come from; empty if they are counted from 0.
    file_numbers: [Vec<u64>; 2],
}

impl Mesh {
    /// Name of the group that holds all elements of the highest dimension.
    pub const ALL: &str = "all";

    /// Empty mesh in a space of the given dimension (1, 2 or 3).
    pub fn new(dimension: usize) -> Self {
        assert!((1..=3).contains(&dimension), "dimension 1, 2 or 3");
        Self {
            dimension,
            start: vec![0],
            ..Self::default()
        }
    }

    /// Adds a node and returns its number.
    pub fn add_node(&mut self, x: [f64; 3]) -> u32 {
        self.nodes.push(x);
        self.nodes.len() as u32 - 1
    }

    /// Adds an element and returns its number.
    ///
    /// # Panics
    /// If the number of nodes is not that of the kind or a node does not exist.
    pub fn add_element(&mut self, kind: ElementKind, nodes: &[u32]) -> u32 {
        assert_eq!(nodes.len(), kind.node_count(), "nodes of a {kind:?}");
        assert!(
            nodes.iter().all(|&n| (n as usize) < self.nodes.len()),
            "nodes exist"
        );
        self.kinds.push(kind);
        self.element_nodes.extend_from_slice(nodes);
        self.start.push(self.element_nodes.len() as u32);
        self.kinds.len() as u32 - 1
    }

    /// Adds an element to a group, which is made where it does not exist.
    pub fn add_to_group(&mut self, group: &str, element: u32) {
        match self.groups.get_mut(group) {
            Some(group) => group.elements.push(element),
            None => {
                let elements = vec![element];
                self.groups.insert(group.to_string(), Group { elements });
            }
        }
    }

    /// Makes the group `all` and sorts the groups.
    pub fn finish(mut self) -> Self {
        let highest = self.kinds.iter().map(|kind| kind.dimension()).max();
        let elements = (0..self.kinds.len() as u32)
            .filter(|&e| Some(self.kinds[e as usize].dimension()) == highest)
            .collect();
        self.groups
            .entry(Mesh::ALL.to_string())
            .or_insert(Group { elements });
        for group in self.groups.values_mut() {
            group.elements.sort_unstable();
            group.elements.dedup();
        }
        self
    }

    /// Joins another mesh to this one; the names of its groups get the given prefix.
    pub fn join(mut self, other: &Mesh, prefix: &str) -> Self {
        let (nodes, elements) = (self.nodes.len() as u32, self.kinds.len() as u32);
        self.dimension = self.dimension.max(other.dimension);
        self.nodes.extend_from_slice(&other.nodes);
        for e in 0..other.element_count() {
            let list: Vec<u32> = other.element(e).1.iter().map(|n| n + nodes).collect();
            self.add_element(other.kinds[e], &list);
        }
        for (name, group) in &other.groups {
            let name = if name == Mesh::ALL {
                prefix.trim_end_matches('-').to_string()
            } else {
                format!("{prefix}{name}")
            };
            for &e in &group.elements {
                self.add_to_group(&name, e + elements);
            }
        }
        self.groups.remove(Mesh::ALL);
        self.parts
            .push((nodes, prefix.trim_end_matches('-').to_string()));
        self.file_numbers = Default::default();
        self.finish()
    }

    /// Numbers of nodes and elements in the file the mesh comes from, by which mistakes are told.
    pub(super) fn with_file_numbers(mut self, nodes: Vec<u64>, elements: Vec<u64>) -> Self {
        self.file_numbers = [nodes, elements];
        self
    }

    /// Number of a node in its file; its place from 0 in a mesh that has no file or several.
    pub fn node_number(&self, node: u32) -> u64 {
        let numbers = &self.file_numbers[0];
        numbers
            .get(node as usize)
            .copied()
            .unwrap_or(u64::from(node))
    }

    /// Number of an element in its file; its place from 0 in a mesh that has no file or several.
    pub fn element_number(&self, element: u32) -> u64 {
        let numbers = &self.file_numbers[1];
        numbers
            .get(element as usize)
            .copied()
            .unwrap_or(u64::from(element))
    }

    /// Names the mesh, for the accounts of its bodies.
    pub fn named(mut self, name: &str) -> Self {
        self.parts = vec![(0, name.to_string())];
        self
    }

    /// Name of the part that a node belongs to, where it has one.
    pub fn part_of(&self, node: u32) -> Option<&str> {
        let after = self.parts.partition_point(|&(first, _)| first <= node);
        let part = self.parts.get(after.checked_sub(1)?)?;
        Some(part.1.as_str()).filter(|name| !name.is_empty())
    }

    /// Kinds of all elements.
    pub fn kinds(&self) -> impl Iterator<Item = ElementKind> + '_ {
        self.kinds.iter().copied()
    }

    /// Applies a map to every node.
    pub fn mapped(mut self, map: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        for node in &mut self.nodes {
            *node = map(*node);
        }
        self
    }

    /// Dimension of space.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Coordinates of the nodes.
    pub fn nodes(&self) -> &[[f64; 3]] {
        &self.nodes
    }

    /// Number of elements of all dimensions.
    pub fn element_count(&self) -> usize {
        self.kinds.len()
    }

    /// Kind and nodes of an element.
    #[inline]
    pub fn element(&self, e: usize) -> (ElementKind, &[u32]) {
        let range = self.start[e] as usize..self.start[e + 1] as usize;
        (self.kinds[e], &self.element_nodes[range])
    }

    /// The groups by name.
    pub fn groups(&self) -> &BTreeMap<String, Group> {
        &self.groups
    }

    /// A group.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.get(name)
    }

    /// Nodes of a group, sorted.
    pub fn group_nodes(&self, name: &str) -> Option<Vec<u32>> {
        let group = self.group(name)?;
        let mut nodes: Vec<u32> = group
            .elements
            .iter()
            .flat_map(|&e| self.element(e as usize).1.iter().copied())
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        Some(nodes)
    }
}
