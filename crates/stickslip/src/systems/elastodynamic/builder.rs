//! Building an elastodynamic system from a mesh.

use std::sync::Arc;

use crate::algebra::SymmetricMatrix;
use crate::laws::ContactLaw;
use crate::systems::{LinearPart, Sparsity};

use super::assembly::Assembly;
use super::body::free_translations;
use super::element_matrices::MassKind;
use super::nodes::{Motion, NONE};
use super::obstacle::Obstacle;
use super::system::ElastodynamicSystem;
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

pub(super) enum Target {
    Obstacle(Obstacle),
    Surface(String),
}

pub(super) struct ContactSpec {
    pub(super) name: String,
    pub(super) surface: String,
    pub(super) target: Target,
    pub(super) law: ContactLaw,
}

/// Collects what an [`ElastodynamicSystem`] is made of.
pub struct ElastodynamicBuilder {
    pub(super) mesh: Mesh,
    pub(super) regions: Vec<(String, Material, Formulation)>,
    pub(super) mass: MassKind,
    pub(super) damping: Damping,
    pub(super) gravity: [f64; 3],
    pub(super) body_forces: Vec<(String, [f64; 3], Option<LoadFactor>)>,
    pub(super) tractions: Vec<(String, [f64; 3], Option<LoadFactor>)>,
    pub(super) point_forces: Vec<(String, [f64; 3], Option<LoadFactor>)>,
    pub(super) supports: Vec<(String, Vec<usize>)>,
    pub(super) prescriptions: Vec<(String, usize, Motion)>,
    pub(super) contacts: Vec<ContactSpec>,
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

    /// Dimension of space.
    pub fn space(&self) -> usize {
        self.mesh.dimension()
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

    /// Force per volume that varies in time.
    pub fn body_force_in_time(
        mut self,
        group: &str,
        force: [f64; 3],
        factor: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.body_forces
            .push((group.to_string(), force, Some(Arc::new(factor))));
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

    /// Gives the contact added last a name of its own, which its constraints and accounts carry.
    pub fn named(mut self, name: &str) -> Self {
        if let Some(last) = self.contacts.last_mut() {
            last.name = name.to_string();
        }
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
        let translations = free_translations(&bodies, &nodes);
        Ok(ElastodynamicSystem {
            mesh: Some(self.mesh),
            nodes,
            assembly: Some(assembly),
            mass,
            linear: LinearPart {
                stiffness: Some(stiffness),
                damping,
                compensated: true,
                translations,
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
}
