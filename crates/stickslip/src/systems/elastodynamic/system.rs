//! The elastodynamic system.

use std::ops::Range;
use std::sync::Arc;

use crate::algebra::SymmetricMatrix;
use crate::systems::wrapped_system::WrappedSystem;
use crate::systems::{
    BilateralConstraint, ForceDependence, Instant, LinearPart, MechanicalSystem, Sparsity,
    UnilateralConstraint,
};

use super::assembly::{Assembly, Coupling};
use super::body::Body;
use super::builder::{ElastodynamicBuilder, LoadFactor};
use super::finite_strain::FiniteStrain;
use super::nodes::NodeMap;
use super::obstacle::Obstacle;
use super::{ElastodynamicError, Mesh};

/// A load vector with its factor in time.
#[derive(Clone)]
pub(crate) struct Load {
    pub values: Vec<f64>,
    pub factor: Option<LoadFactor>,
}

/// Nodes of one contact surface with the constraints they own.
#[derive(Clone, Debug)]
pub struct ContactSurface {
    /// Name: the group, with that of the other surface where there is one.
    pub name: String,
    /// Nodes, in the order of the constraints.
    pub nodes: Vec<u32>,
    /// Area that belongs to each node.
    pub areas: Vec<f64>,
    /// Constraints of the system.
    pub constraints: Range<usize>,
    /// The obstacle that the nodes meet; none for the surface of another body.
    pub obstacle: Option<Arc<Obstacle>>,
}

/// A spatially discretised elastic system `M dv + (K q + C v) dt = F dt + H di`.
///
/// ```
/// use stickslip::systems::ElastodynamicSystem;
/// use stickslip::systems::elastodynamic::{ElementKind, Formulation, Material, Mesh};
///
/// // A bar of 1 m and 1 cm² hangs by its left end; 2100 N pull at the other and lengthen it by F L/(E A) = 0.1 mm.
/// let bar = ElastodynamicSystem::builder(Mesh::bar(1, 1.0, 10, ElementKind::Line2))
///     .region("all", Material::new(210e9, 0.3, 7800.0), Formulation::Bar { area: 1e-4 })
///     .support("left", &[0])
///     .nodal_force("right", [2100.0, 0.0, 0.0], |_t| 1.0)
///     .build()?;
/// let displacement = bar.static_solution(0.0).map_err(|_| "no static solution")?;
/// let end = displacement.iter().fold(0.0f64, |most, u| most.max(*u));
/// assert!((end - 1e-4).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// q holds the free nodal displacements (and beam rotations), relative to the mesh. Held
/// components are eliminated; those that move in a given way act through
/// `F = … − K_fs q_s − C_fs v_s − M_fs a_s`. Gravity, body forces and tractions are dead loads in F.
/// Contacts are one constraint per node of a marked surface.
///
/// # Source
/// [AcaryCollinsCraft2023], section 2; the elements are the usual displacement elements.
///
/// # Guarantees
/// M, K and C are symmetric, share one pattern and have the same bits for any number of threads.
/// With linear elements the scheme's energy account is exact for the discrete system.
///
/// # Behaviour to know
/// Energies are those of the free degrees of freedom: the work of given motions is booked as
/// external. Strains are linearised: a body that turns by an angle α without
/// [`Self::with_finite_strain`] grows by 1 − cos α.
///
/// # Cost
/// Assembly is linear in the number of elements; a step costs two sparse solves.
///
/// # Tested by
/// `systems/elastodynamic/tests.rs`, `tests/elastic_*.rs`.
pub struct ElastodynamicSystem {
    pub(crate) mesh: Option<Mesh>,
    pub(crate) nodes: Arc<NodeMap>,
    pub(crate) assembly: Option<Assembly>,
    pub(crate) mass: SymmetricMatrix,
    pub(crate) linear: LinearPart,
    pub(crate) rayleigh: (f64, f64),
    pub(crate) couplings: Vec<Coupling>,
    pub(crate) loads: Vec<Load>,
    pub(crate) sparsity: Option<Sparsity>,
    pub(crate) constraints: Vec<UnilateralConstraint>,
    pub(crate) surfaces: Vec<ContactSurface>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) coordinate_names: Vec<String>,
    pub(crate) velocity_names: Vec<String>,
    pub(crate) finite: Option<FiniteStrain>,
}

impl std::fmt::Debug for ElastodynamicSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ElastodynamicSystem")
            .field("dof", &self.mass.order())
            .field("constraints", &self.constraints.len())
            .finish()
    }
}

impl ElastodynamicSystem {
    /// Starts a system on a mesh.
    pub fn builder(mesh: Mesh) -> ElastodynamicBuilder {
        ElastodynamicBuilder::new(mesh)
    }

    /// The mesh, where the system was built from one.
    pub fn mesh(&self) -> Option<&Mesh> {
        self.mesh.as_ref()
    }

    /// Degrees of freedom of the nodes.
    #[doc(hidden)]
    pub fn nodes(&self) -> &NodeMap {
        &self.nodes
    }

    /// Mass matrix.
    pub fn mass_matrix(&self) -> &SymmetricMatrix {
        &self.mass
    }

    /// Stiffness matrix; the tangent at rest for a system with finite strain.
    pub fn stiffness_matrix(&self) -> Option<&SymmetricMatrix> {
        match &self.finite {
            Some(finite) => Some(&finite.rest),
            None => self.linear.stiffness.as_ref(),
        }
    }

    /// Contact surfaces.
    pub fn surfaces(&self) -> &[ContactSurface] {
        &self.surfaces
    }

    /// Connected parts.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// What a user should know: parts that nothing holds and nothing touches.
    pub fn report(&self) -> Vec<String> {
        let touched = |body: &Body| {
            let contact = self.sparsity.as_ref().map_or(&[][..], |s| &s.contact_dofs);
            body.dofs
                .iter()
                .any(|dof| contact.binary_search(dof).is_ok())
        };
        self.bodies
            .iter()
            .filter(|body| !body.is_supported() && !touched(body) && self.mesh.is_some())
            .map(|body| {
                format!(
                    "part `{}` ({} nodes, first {}) has neither support nor contact: it will fly away",
                    body.name,
                    body.nodes.len(),
                    body.nodes[0]
                )
            })
            .collect()
    }

    /// A step that resolves waves on the mesh: the smallest time a wave needs through an element.
    pub fn suggested_step(&self) -> f64 {
        self.bodies
            .iter()
            .map(|body| body.element_transit)
            .fold(f64::INFINITY, f64::min)
    }

    /// Refuses a step that resolves no elastic motion at all (wrong units, most often).
    pub fn check_step(&self, h: f64) -> Result<(), ElastodynamicError> {
        let transit = self
            .bodies
            .iter()
            .map(Body::transit_time)
            .fold(0.0, f64::max);
        if transit > 0.0 && h > transit {
            return Err(ElastodynamicError::HopelessStep {
                h,
                transit,
                suggested: self.suggested_step(),
            });
        }
        Ok(())
    }

    /// Vector of free degrees of freedom with the given translation at every node.
    pub fn uniform(&self, value: [f64; 3]) -> Vec<f64> {
        self.field(|_| value)
    }

    /// Vector of free degrees of freedom with a translation that depends on the place.
    pub fn field(&self, value: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<f64> {
        let mut out = vec![0.0; self.nodes.free_count];
        for n in 0..self.nodes.len() as u32 {
            let x = value(self.nodes.reference(n));
            for (k, x) in x.into_iter().enumerate().take(self.nodes.space) {
                if let Some(dof) = self.nodes.free_dof(n, k) {
                    out[dof] = x;
                }
            }
        }
        out
    }

    /// Writes the loads at a time, those of given motions included.
    pub fn load(&self, t: f64, out: &mut [f64]) {
        out.fill(0.0);
        for load in &self.loads {
            let factor = load.factor.as_ref().map_or(1.0, |factor| factor(t));
            for (o, f) in out.iter_mut().zip(&load.values) {
                *o += factor * f;
            }
        }
        let motions: Vec<[f64; 3]> = self.nodes.motions.iter().map(|m| m(t)).collect();
        let (a, b) = self.rayleigh;
        for c in &self.couplings {
            let [x, v, acceleration] = motions[c.motion as usize];
            let damping = a * c.mass + b * c.stiffness;
            out[c.row as usize] -= c.stiffness * x + damping * v + c.mass * acceleration;
        }
    }

    /// Elastic energy of every body at finite strain; none for linear strain.
    pub(crate) fn finite_energies(&self, q: &[f64]) -> Option<Vec<f64>> {
        let finite = self.finite.as_ref()?;
        Some(finite.energies(self, q))
    }

    /// Static equilibrium under the loads at time `t` without contact.
    ///
    /// # Errors
    /// The row of a pivot that is not positive, where the supports leave a rigid motion.
    pub fn static_solution(&self, t: f64) -> Result<Vec<f64>, usize> {
        let mut force = vec![0.0; self.dof()];
        self.load(t, &mut force);
        let mut factor = crate::algebra::CholeskyFactor::default();
        match self.stiffness_matrix() {
            Some(stiffness) => factor.factor(stiffness)?,
            None => return Err(0),
        }
        factor.solve_in_place(&mut force);
        Ok(force)
    }
}

impl MechanicalSystem for ElastodynamicSystem {
    fn dof(&self) -> usize {
        self.mass.order()
    }
    fn sparsity(&self) -> Option<&Sparsity> {
        self.sparsity.as_ref()
    }
    fn coordinate_names(&self) -> &[String] {
        &self.coordinate_names
    }
    fn velocity_names(&self) -> &[String] {
        &self.velocity_names
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], out: &mut SymmetricMatrix) {
        out.copy_from(&self.mass);
    }
    fn covariant_force(&self, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn force_dependence(&self) -> ForceDependence {
        if self.loads.is_empty() && self.couplings.is_empty() {
            ForceDependence::None
        } else {
            ForceDependence::Time
        }
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        self.load(at.t, out);
    }
    fn has_potential(&self) -> bool {
        self.finite.is_some()
    }
    fn potential(&self, q: &[f64]) -> f64 {
        match &self.finite {
            Some(finite) => finite.energy(self, q),
            None => 0.0,
        }
    }
    fn potential_gradient(&self, q: &[f64], out: &mut [f64]) {
        match &self.finite {
            Some(finite) => finite.gradient(self, q, out),
            None => out.fill(0.0),
        }
    }
    fn potential_hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        match &self.finite {
            Some(finite) => finite.hessian(self, q, out),
            None => false,
        }
    }
    fn discrete_gradient(&self, q0: &[f64], q1: &[f64], out: &mut [f64]) -> bool {
        match &self.finite {
            Some(finite) => {
                finite.force_between(self, q0, q1, out);
                true
            }
            None => false,
        }
    }
    fn linear_part(&self) -> Option<&LinearPart> {
        Some(&self.linear)
    }
    fn warnings(&self) -> Vec<String> {
        self.report()
    }
    fn constraints(&self) -> &[UnilateralConstraint] {
        &self.constraints
    }
    fn joints(&self) -> &[BilateralConstraint] {
        &[]
    }
}

/// A shared system, so that files and accounts can read it beside the run.
impl WrappedSystem for Arc<ElastodynamicSystem> {
    fn system(&self) -> &dyn MechanicalSystem {
        self.as_ref()
    }
}
