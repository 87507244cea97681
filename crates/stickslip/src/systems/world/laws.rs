//! What pairs of materials do to each other.

use crate::laws::{ContactLaw, FlowRule, ImpactLaw};

use super::{Dimension, WorldError};

/// Law of a pair of materials.
///
/// The section of the law covers, in this order, the tangents (two in space, one in the plane), then the rolling part
/// (angular velocity about the tangents in space, about z in the plane) and the drilling part (about the normal; only
/// in space) where present. Directions of a section that is not round belong to the first body of the contact: the
/// first tangent is its x axis projected on the tangent plane (its y axis where x is the normal).
#[derive(Clone, Debug)]
pub struct PairLaw {
    /// Friction and impact.
    pub contact: ContactLaw,
    /// Whether the section has a rolling part.
    pub rolling: bool,
    /// Whether the section has a drilling part.
    pub drilling: bool,
}

impl From<ContactLaw> for PairLaw {
    fn from(contact: ContactLaw) -> Self {
        Self {
            contact,
            rolling: false,
            drilling: false,
        }
    }
}

impl PairLaw {
    /// Rows of a contact under this law.
    pub fn rows(&self) -> usize {
        1 + self.contact.tangent_dimension()
    }

    /// Tangential rows that the parts need.
    fn expected_dimension(&self, dimension: Dimension) -> usize {
        match dimension {
            Dimension::Plane => 1 + usize::from(self.rolling),
            Dimension::Space => 2 + 2 * usize::from(self.rolling) + usize::from(self.drilling),
        }
    }

    /// Refuses what worlds do not compute.
    fn check(
        &self,
        dimension: Dimension,
        pair: &dyn Fn() -> [String; 2],
    ) -> Result<(), WorldError> {
        let refuse = |reason| {
            Err(WorldError::Law {
                between: pair(),
                reason,
            })
        };
        let found = self.contact.tangent_dimension();
        if found > 0 && found != self.expected_dimension(dimension) {
            return Err(WorldError::SectionDimension {
                between: pair(),
                found,
                expected: self.expected_dimension(dimension),
            });
        }
        if self.drilling && dimension == Dimension::Plane {
            return refuse("drilling friction acts in space only");
        }
        if matches!(self.contact.impact(), ImpactLaw::Energetic { .. }) && found > 0 {
            return refuse("the energetic impact with friction is not computed in worlds");
        }
        match self.contact.flow_rule() {
            FlowRule::Generalized(_) => refuse(
                "the generalized law reads one frame for all contacts and is not computed in worlds",
            ),
            FlowRule::KineticProjection if self.contact.impact().restitution() > 0.0 => refuse(
                "the law S(q, v) (kinetic projection) is inelastic, restitution needs Coulomb's flow rule",
            ),
            FlowRule::KineticProjection | FlowRule::Coulomb => Ok(()),
        }
    }
}

/// Laws by pair of materials.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    materials: Vec<String>,
    laws: Vec<PairLaw>,
    /// Index of the law, row by row over the materials.
    index: Vec<Option<u32>>,
}

impl PairTable {
    pub(super) fn new(materials: Vec<String>) -> Self {
        let count = materials.len();
        Self {
            materials,
            laws: Vec::new(),
            index: vec![None; count * count],
        }
    }

    pub(super) fn set(&mut self, a: u32, b: u32, law: PairLaw) {
        let count = self.materials.len();
        let entry = Some(self.laws.len() as u32);
        self.laws.push(law);
        self.index[a as usize * count + b as usize] = entry;
        self.index[b as usize * count + a as usize] = entry;
    }

    pub(super) fn check(&self, dimension: Dimension) -> Result<(), WorldError> {
        let count = self.materials.len();
        for a in 0..count {
            for b in a..count {
                if let Some(law) = self.index[a * count + b] {
                    let pair = || [a, b].map(|m| self.materials[m].clone());
                    self.laws[law as usize].check(dimension, &pair)?;
                }
            }
        }
        Ok(())
    }

    /// Names of the materials.
    pub fn materials(&self) -> &[String] {
        &self.materials
    }

    /// All laws.
    pub fn laws(&self) -> &[PairLaw] {
        &self.laws
    }

    /// A law by its index.
    #[inline]
    pub fn law(&self, index: u32) -> &PairLaw {
        &self.laws[index as usize]
    }

    /// Index of the law of two materials, if they have one.
    #[inline]
    pub fn find(&self, a: u32, b: u32) -> Option<u32> {
        self.index[a as usize * self.materials.len() + b as usize]
    }
}
