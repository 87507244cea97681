//! What pairs of materials do to each other.

use crate::laws::{
    ContactLaw, FlowRule, FrictionCoefficient, FrictionSection, ImpactLaw, LawError,
};

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
    /// Sliding friction with rolling and drilling friction, lengths of zero for none: the disc, or the product of discs.
    pub fn of_coefficients(
        dimension: Dimension,
        [sliding, rolling, drilling]: [f64; 3],
        impact: ImpactLaw,
    ) -> Result<Self, LawError> {
        let tangents = dimension.axes() - 1;
        let mut parts = vec![FrictionSection::ball(sliding, tangents)?];
        if rolling > 0.0 {
            parts.push(FrictionSection::ball(rolling, tangents)?);
        }
        if drilling > 0.0 {
            parts.push(FrictionSection::ball(drilling, 1)?);
        }
        let section = match parts.len() {
            1 => parts.remove(0),
            _ => FrictionSection::product(parts)?,
        };
        Ok(Self {
            contact: ContactLaw::new(section, impact)?,
            rolling: rolling > 0.0,
            drilling: drilling > 0.0,
        })
    }

    /// Coefficients of sliding, rolling and drilling friction; none where friction varies or is not the same in all directions. Without friction
    /// the first is zero.
    pub fn coefficients(&self) -> Option<[f64; 3]> {
        let FrictionCoefficient::Constant(factor) = *self.contact.coefficient() else {
            return None;
        };
        let disc = |section: &FrictionSection| match section {
            FrictionSection::Disc { mu, .. } => Some(*mu),
            _ => None,
        };
        let parts: Vec<f64> = match self.contact.base_section() {
            FrictionSection::None => return Some([0.0; 3]),
            FrictionSection::Product { factors, scale } => {
                let parts = factors.iter().map(|f| disc(f).map(|mu| scale * mu));
                parts.collect::<Option<_>>()?
            }
            single => vec![disc(single)?],
        };
        let mut parts = parts.into_iter();
        let mut next = |there: bool| {
            let part = if there { parts.next() } else { Some(0.0) };
            part.map(|mu| factor * mu)
        };
        Some([next(true)?, next(self.rolling)?, next(self.drilling)?])
    }

    /// What two materials do to each other where nothing is told: the geometric means of what each does to itself, and the impact of
    /// the larger restitution. None where a friction is not one number.
    pub fn mean(&self, other: &Self, dimension: Dimension) -> Option<Self> {
        let (a, b) = (self.coefficients()?, other.coefficients()?);
        let (x, y) = (self.contact.impact(), other.contact.impact());
        let impact = if x.restitution() >= y.restitution() {
            x
        } else {
            y
        };
        let slides = |law: &Self| law.contact.tangent_dimension() > 0;
        let law = if slides(self) && slides(other) {
            let means = std::array::from_fn(|k| (a[k] * b[k]).sqrt());
            Self::of_coefficients(dimension, means, impact).ok()?
        } else {
            ContactLaw::frictionless(impact).ok()?.into()
        };
        Some(Self {
            contact: law.contact.with_flow_rule(self.contact.flow_rule()),
            ..law
        })
    }

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

    /// Gives pairs without a law the means of what both materials do to themselves.
    pub(super) fn fill_with_means(&mut self, dimension: Dimension) {
        let count = self.materials.len() as u32;
        for a in 0..count {
            for b in a + 1..count {
                let (None, Some(x), Some(y)) = (self.find(a, b), self.find(a, a), self.find(b, b))
                else {
                    continue;
                };
                if let Some(mean) = self.law(x).mean(self.law(y), dimension) {
                    self.set(a, b, mean);
                }
            }
        }
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
