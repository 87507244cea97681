//! Building an elastodynamic system from a mesh.

use std::sync::Arc;

use crate::algebra::SymmetricMatrix;
use crate::laws::ContactLaw;
use crate::systems::{ContactFrame, LinearPart, Sparsity, UnilateralConstraint};

use super::assembly::Assembly;
use super::contact_pair::{MasterSurface, NodeOnObstacle, NodeOnSurface};
use super::element_matrices::{ElementData, MassKind};
use super::nodes::{Motion, NONE, NodeMap};
use super::obstacle::Obstacle;
use super::surface_load::{self, SurfaceMeasure};
use super::system::{Body, ContactSurface, ElastodynamicSystem, Load};
use super::{ElastodynamicError, Formulation, Material, Mesh, modes};

/// Factor of a load at a time.
pub type LoadFactor = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// Damping besides the contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Damping {
    /// None.
    #[default]
    None,
    /// C = `mass` M + `stiffness` K.
    Rayleigh {
        /// Factor of M, per time.
        mass: f64,
        /// Factor of K, time.
        stiffness: f64,
    },
    /// The same ratio to critical damping in every mode; fills C, for small systems.
    Modal {
        /// Ratio.
        ratio: f64,
    },
}

enum Target {
    Obstacle(Obstacle),
    Surface(String),
}

struct ContactSpec {
    name: String,
    surface: String,
    target: Target,
    law: ContactLaw,
}

/// Collects what an [`ElastodynamicSystem`] is made of.
pub struct ElastodynamicBuilder {
    mesh: Mesh,
    regions: Vec<(String, Material, Formulation)>,
    mass: MassKind,
    damping: Damping,
    gravity: [f64; 3],
    body_forces: Vec<(String, [f64; 3], Option<LoadFactor>)>,
    tractions: Vec<(String, [f64; 3], Option<LoadFactor>)>,
    point_forces: Vec<(String, [f64; 3], Option<LoadFactor>)>,
    supports: Vec<(String, Vec<usize>)>,
    prescriptions: Vec<(String, usize, Motion)>,
    contacts: Vec<ContactSpec>,
}

/// Largest system with modal damping.
const MODAL_LIMIT: usize = 2000;

impl ElastodynamicBuilder {
    pub(super) fn new(mesh: Mesh) -> Self {
        Self {
            mesh,
            regions: Vec::new(),
            mass: MassKind::default(),
            damping: Damping::default(),
            gravity: [0.0; 3],
            body_forces: Vec::new(),
            tractions: Vec::new(),
            point_forces: Vec::new(),
            supports: Vec::new(),
            prescriptions: Vec::new(),
            contacts: Vec::new(),
        }
    }

    /// Gives a group of elements a material and a formulation.
    pub fn region(mut self, group: &str, material: Material, formulation: Formulation) -> Self {
        self.regions
            .push((group.to_string(), material, formulation));
        self
    }

    /// Distribution of mass.
    pub fn mass(mut self, mass: MassKind) -> Self {
        self.mass = mass;
        self
    }

    /// Damping.
    pub fn damping(mut self, damping: Damping) -> Self {
        self.damping = damping;
        self
    }

    /// Acceleration of gravity.
    pub fn gravity(mut self, gravity: [f64; 3]) -> Self {
        self.gravity = gravity;
        self
    }

    /// Constant force per volume on a group of elements.
    pub fn body_force(mut self, group: &str, force: [f64; 3]) -> Self {
        self.body_forces.push((group.to_string(), force, None));
        self
    }

    /// Constant traction (force per area) on a group of facets; on points, a force on each.
    pub fn traction(mut self, group: &str, traction: [f64; 3]) -> Self {
        self.tractions.push((group.to_string(), traction, None));
        self
    }

    /// Traction that varies in time.
    pub fn traction_in_time(
        mut self,
        group: &str,
        traction: [f64; 3],
        factor: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.tractions
            .push((group.to_string(), traction, Some(Arc::new(factor))));
        self
    }

    /// The same force on every node of a group, varying in time.
    pub fn nodal_force(
        mut self,
        group: &str,
        force: [f64; 3],
        factor: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.point_forces
            .push((group.to_string(), force, Some(Arc::new(factor))));
        self
    }

    /// Holds components (0, 1, 2, and the rotation last) of the nodes of a group.
    pub fn support(mut self, group: &str, components: &[usize]) -> Self {
        self.supports.push((group.to_string(), components.to_vec()));
        self
    }

    /// Moves a component of the nodes of a group: displacement, velocity, acceleration at a time.
    pub fn prescribe(
        mut self,
        group: &str,
        component: usize,
        motion: impl Fn(f64) -> [f64; 3] + Send + Sync + 'static,
    ) -> Self {
        self.prescriptions
            .push((group.to_string(), component, Arc::new(motion)));
        self
    }

    /// Contact of the nodes of a surface with a rigid obstacle.
    pub fn contact(mut self, surface: &str, obstacle: Obstacle, law: ContactLaw) -> Self {
        self.contacts.push(ContactSpec {
            name: surface.to_string(),
            surface: surface.to_string(),
            target: Target::Obstacle(obstacle),
            law,
        });
        self
    }

    /// Contact of the nodes of one surface with another surface of the mesh.
    pub fn contact_between(mut self, surface: &str, master: &str, law: ContactLaw) -> Self {
        self.contacts.push(ContactSpec {
            name: format!("{surface}-{master}"),
            surface: surface.to_string(),
            target: Target::Surface(master.to_string()),
            law,
        });
        self
    }

    fn group(&self, name: &str) -> Result<&[u32], ElastodynamicError> {
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

    fn group_nodes(&self, name: &str) -> Result<Vec<u32>, ElastodynamicError> {
        self.group(name)?;
        // The group exists: it was just found.
        Ok(self.mesh.group_nodes(name).unwrap_or_default())
    }

    /// Region of every element, and the data of each region and kind.
    fn elements(&self) -> Result<ElementLists, ElastodynamicError> {
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
                        element: e as usize,
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
    fn number(
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
                    node: node as usize,
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

    /// Builds the system.
    pub fn build(self) -> Result<ElastodynamicSystem, ElastodynamicError> {
        let space = self.mesh.dimension();
        for (n, x) in self.mesh.nodes().iter().enumerate() {
            if let Some(value) = x.iter().find(|x| !x.is_finite()) {
                return Err(ElastodynamicError::NonFinite {
                    what: format!("a coordinate of node {n}"),
                    value: *value,
                });
            }
        }
        let (elements, data, region_names) = self.elements()?;
        let nodes = Arc::new(self.number(&elements, &data)?);
        let assembly = Assembly::new(&self.mesh, &nodes, elements, data, region_names);
        let (stiffness, mass, couplings) = assembly.matrices(&self.mesh, &nodes)?;
        let bodies = self.bodies(&assembly, &nodes)?;
        let mut mass = SymmetricMatrix::from_sparse(mass);
        let mut stiffness = SymmetricMatrix::from_sparse(stiffness);
        let mut rayleigh = (0.0, 0.0);
        let damping = match self.damping {
            Damping::None => None,
            Damping::Rayleigh {
                mass: a,
                stiffness: b,
            } => {
                rayleigh = (a, b);
                let mut damping = mass.clone();
                damping.clear();
                damping.add_scaled(a, &mass);
                damping.add_scaled(b, &stiffness);
                Some(damping)
            }
            Damping::Modal { ratio } => {
                if nodes.free_count > MODAL_LIMIT {
                    return Err(ElastodynamicError::ModalDamping {
                        found: nodes.free_count,
                        limit: MODAL_LIMIT,
                    });
                }
                let damping = modes::modal_damping(&mass, &stiffness, ratio);
                mass = modes::dense(&mass);
                stiffness = modes::dense(&stiffness);
                Some(damping)
            }
        };
        let loads = self.loads(&assembly, &nodes)?;
        let (constraints, surfaces, contact_dofs) = self.contacts(&nodes, &assembly)?;
        let sparsity = mass.sparse().map(|mass| Sparsity {
            pattern: mass.pattern().clone(),
            contact_dofs,
        });
        let letters = ["x", "y", "z"];
        let mut names = vec![(String::new(), String::new()); nodes.free_count];
        for n in 0..nodes.len() as u32 {
            for (k, dof) in nodes.range(n).enumerate() {
                if nodes.free[dof] != NONE {
                    let letter = if k < space { letters[k] } else { "angle" };
                    names[nodes.free[dof] as usize] =
                        (format!("u{letter}{n}"), format!("v{letter}{n}"));
                }
            }
        }
        let (coordinate_names, velocity_names) = names.into_iter().unzip();
        Ok(ElastodynamicSystem {
            mesh: Some(self.mesh),
            nodes,
            assembly: Some(assembly),
            mass,
            linear: LinearPart {
                stiffness: Some(stiffness),
                damping,
            },
            rayleigh,
            couplings,
            loads,
            sparsity,
            constraints,
            surfaces,
            bodies,
            coordinate_names,
            velocity_names,
            finite: None,
        })
    }

    /// Connected parts of the mesh.
    fn bodies(
        &self,
        assembly: &Assembly,
        nodes: &NodeMap,
    ) -> Result<Vec<Body>, ElastodynamicError> {
        let mut parent: Vec<u32> = (0..nodes.len() as u32).collect();
        fn root(parent: &mut [u32], mut n: u32) -> u32 {
            while parent[n as usize] != n {
                parent[n as usize] = parent[parent[n as usize] as usize];
                n = parent[n as usize];
            }
            n
        }
        for &(e, _) in &assembly.elements {
            let list = self.mesh.element(e as usize).1;
            let a = root(&mut parent, list[0]);
            for &n in &list[1..] {
                let b = root(&mut parent, n);
                // The smaller number leads, so that bodies come in the order of their first node.
                let (low, high) = (a.min(b), a.max(b));
                parent[high as usize] = low;
                if low != a {
                    parent[a as usize] = low;
                }
            }
        }
        let mut number = vec![NONE; nodes.len()];
        let mut bodies: Vec<Body> = Vec::new();
        let mut of_node = vec![NONE; nodes.len()];
        for n in 0..nodes.len() as u32 {
            if nodes.range(n).is_empty() {
                continue;
            }
            let r = root(&mut parent, n);
            if number[r as usize] == NONE {
                number[r as usize] = bodies.len() as u32;
                bodies.push(Body::new(n));
            }
            let b = number[r as usize];
            of_node[n as usize] = b;
            let body = &mut bodies[b as usize];
            body.nodes.push(n);
            for (k, dof) in nodes.range(n).enumerate() {
                match nodes.free[dof] {
                    NONE => body.held[k.min(3)] += 1,
                    free => body.dofs.push(free),
                }
            }
        }
        for &(e, d) in &assembly.elements {
            let list = self.mesh.element(e as usize).1;
            let data = &assembly.data[d as usize];
            let body = &mut bodies[of_node[list[0] as usize] as usize];
            body.density_max = body.density_max.max(data.material.density);
            body.measure_element(&self.mesh, list, data);
        }
        for body in &bodies {
            if body.density_max > 0.0 {
                continue;
            }
            let motions = ["motion along x", "motion along y", "motion along z"];
            let space = nodes.space;
            if let Some(k) = (0..space).find(|&k| body.held[k] == 0) {
                return Err(ElastodynamicError::SingularWithoutMass {
                    node: body.nodes[0] as usize,
                    motion: motions[k],
                });
            }
            let rigid = [1, 3, 6][space - 1];
            if space > 1 && body.held.iter().sum::<usize>() < rigid {
                return Err(ElastodynamicError::SingularWithoutMass {
                    node: body.nodes[0] as usize,
                    motion: "rotation",
                });
            }
        }
        Ok(bodies)
    }

    /// Thickness or rotational symmetry of surfaces, from the first region.
    fn surface_measure(&self) -> SurfaceMeasure {
        match self.regions.first().map(|region| region.2) {
            Some(
                Formulation::PlaneStrain { thickness } | Formulation::PlaneStress { thickness },
            ) => SurfaceMeasure::Thickness(thickness),
            Some(Formulation::Axisymmetric) => SurfaceMeasure::Circle,
            _ => SurfaceMeasure::Thickness(1.0),
        }
    }

    fn loads(&self, assembly: &Assembly, nodes: &NodeMap) -> Result<Vec<Load>, ElastodynamicError> {
        let n = nodes.free_count;
        let mut constant = vec![0.0; n];
        let mut loads = Vec::new();
        if self.gravity.iter().any(|&g| g != 0.0) {
            surface_load::volume_force(&self.mesh, nodes, assembly, None, |data, force| {
                for (f, g) in force.iter_mut().zip(self.gravity) {
                    *f = data.material.density * g;
                }
            })
            .iter()
            .zip(&mut constant)
            .for_each(|(f, c)| *c += f);
        }
        let mut enter = |values: Vec<f64>, factor: &Option<LoadFactor>| match factor {
            None => values.iter().zip(&mut constant).for_each(|(f, c)| *c += f),
            Some(factor) => loads.push(Load {
                values,
                factor: Some(factor.clone()),
            }),
        };
        for (group, force, factor) in &self.body_forces {
            let members = self.group(group)?;
            let values =
                surface_load::volume_force(&self.mesh, nodes, assembly, Some(members), |_, f| {
                    *f = *force;
                });
            enter(values, factor);
        }
        for (group, traction, factor) in &self.tractions {
            let mut values = vec![0.0; n];
            for &e in self.group(group)? {
                surface_load::for_each_share(
                    &self.mesh,
                    e as usize,
                    self.surface_measure(),
                    |node, share| {
                        nodes.visit(node, *traction, share, |dof, value| values[dof] += value);
                    },
                );
            }
            enter(values, factor);
        }
        for (group, force, factor) in &self.point_forces {
            let mut values = vec![0.0; n];
            for node in self.group_nodes(group)? {
                nodes.visit(node, *force, 1.0, |dof, value| values[dof] += value);
            }
            enter(values, factor);
        }
        if constant.iter().any(|&f| f != 0.0) {
            loads.insert(
                0,
                Load {
                    values: constant,
                    factor: None,
                },
            );
        }
        Ok(loads)
    }

    /// Constraints, contact surfaces and the degrees of freedom they can touch.
    fn contacts(
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
            let target = match &spec.target {
                Target::Obstacle(obstacle) => {
                    if let Some(problem) = obstacle.problem() {
                        return Err(ElastodynamicError::Obstacle {
                            surface: spec.surface.clone(),
                            problem,
                        });
                    }
                    Pair::Obstacle(Arc::new(obstacle.clone()))
                }
                Target::Surface(master) => {
                    let mut pieces = Vec::new();
                    for &e in self.group(master)? {
                        let (kind, list) = self.mesh.element(e as usize);
                        if kind.dimension() + 1 != space {
                            return Err(ElastodynamicError::WrongDimension {
                                name: master.clone(),
                                kind: format!("{kind:?}"),
                                expected: space - 1,
                            });
                        }
                        for piece in kind.flat_pieces() {
                            let mut entry = [NONE; 3];
                            for (entry, &k) in entry.iter_mut().zip(*piece) {
                                *entry = list[k];
                            }
                            pieces.push(entry);
                        }
                        list.iter().for_each(|&n| touch(n));
                    }
                    Pair::Surface(Arc::new(MasterSurface {
                        nodes: nodes.clone(),
                        pieces,
                        depth: element_size,
                    }))
                }
            };
            let first = constraints.len();
            let mut used = Vec::new();
            for node in list {
                if nodes.range(node).is_empty() {
                    return Err(ElastodynamicError::UnusedNode {
                        group: spec.surface.clone(),
                        node: node as usize,
                    });
                }
                if (0..space).all(|k| nodes.free_dof(node, k).is_none()) {
                    continue; // held on all sides: nothing to do for a contact
                }
                touch(node);
                let name = format!("{}-{node}", spec.name);
                let constraint = match &target {
                    Pair::Obstacle(obstacle) => {
                        let pair = NodeOnObstacle {
                            nodes: nodes.clone(),
                            node,
                            obstacle: obstacle.clone(),
                        };
                        let frame = material_frame(space, pair.clone());
                        UnilateralConstraint::new(name, pair).with_point(frame, spec.law.clone())
                    }
                    Pair::Surface(surface) => {
                        let pair = NodeOnSurface {
                            node,
                            surface: surface.clone(),
                        };
                        let frame = material_frame(space, pair.clone());
                        UnilateralConstraint::new(name, pair).with_point(frame, spec.law.clone())
                    }
                };
                constraints.push(constraint);
                used.push(node);
            }
            surfaces.push(ContactSurface {
                name: spec.name.clone(),
                areas: used.iter().map(|&n| area[n as usize]).collect(),
                nodes: used,
                constraints: first..constraints.len(),
            });
        }
        touched.sort_unstable();
        touched.dedup();
        Ok((constraints, surfaces, touched))
    }
}

type ElementLists = (Vec<(u32, u32)>, Vec<ElementData>, Vec<String>);
type Contacts = (Vec<UnilateralConstraint>, Vec<ContactSurface>, Vec<u32>);

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
