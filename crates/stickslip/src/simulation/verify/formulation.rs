//! The formulations a motion can be judged against.

use std::fmt;

use serde::Serialize;

use super::generalized::TestVelocities;

/// A formulation of the dynamics with unilateral contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Formulation {
    /// Frictionless contact.
    P2,
    /// Coulomb friction of a particle on one surface.
    P3,
    /// Friction of a particle on several surfaces, stated on the sum of their discs ([CharlesBallard2016], section 4):
    /// not Coulomb's law surface by surface, which is P6.
    P4,
    /// Coulomb friction of real-world reactions, one constraint.
    P5,
    /// Coulomb friction of real-world reactions, several constraints.
    P6,
    /// Friction of generalized reactions, one constraint.
    P3Prime,
    /// Friction of generalized reactions, several constraints, read on the velocities tangential to all.
    P4Prime,
    /// Friction of generalized reactions, several constraints, against all test velocities: P4' as it is written, which
    /// need not have a solution.
    P4PrimeLiteral,
    /// Newton's normal law with friction on the mean tangential velocity.
    Fremond,
    /// The energetic law: Coulomb friction at every instant of an impact, and the work of restitution a part of that of compression.
    Energetic,
    /// A world of bodies: contacts that are found, each under the law of its pair of materials.
    World,
}

impl fmt::Display for Formulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P2 => "P2",
            Self::P3 => "P3",
            Self::P4 => "P4",
            Self::P5 => "P5",
            Self::P6 => "P6",
            Self::P3Prime => "P3'",
            Self::P4Prime => "P4'",
            Self::P4PrimeLiteral => "P4'-literal",
            Self::Fremond => "fremond",
            Self::Energetic => "energetic",
            Self::World => "world",
        })
    }
}

impl Formulation {
    /// All formulations.
    pub const ALL: [Self; 11] = [
        Self::P2,
        Self::P3,
        Self::P4,
        Self::P5,
        Self::P6,
        Self::P3Prime,
        Self::P4Prime,
        Self::P4PrimeLiteral,
        Self::Fremond,
        Self::Energetic,
        Self::World,
    ];

    /// The formulation with a name: P2, P3, P4, P5, P6, P3' (or P'3), P4' (or P'4), P4'-literal, fremond, energetic, world.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "P'3" => Some(Self::P3Prime),
            "P'4" => Some(Self::P4Prime),
            _ => Self::ALL.into_iter().find(|f| f.to_string() == name),
        }
    }

    /// Whether it has one constraint only.
    pub(super) fn one_constraint(self) -> bool {
        matches!(self, Self::P3 | Self::P5 | Self::P3Prime)
    }

    /// Whether it is about a particle, whose mass is a multiple of the identity.
    pub(super) fn particle(self) -> bool {
        matches!(self, Self::P3 | Self::P4)
    }

    /// The velocities against which friction on the reaction as a whole is read; none where friction is stated contact
    /// by contact.
    pub(super) fn test_velocities(self) -> Option<TestVelocities> {
        match self {
            Self::P3Prime | Self::P4Prime => Some(TestVelocities::Tangential),
            Self::P4 | Self::P4PrimeLiteral => Some(TestVelocities::All),
            _ => None,
        }
    }

    /// Whether contact never gives energy.
    pub(super) fn dissipative(self) -> bool {
        matches!(
            self,
            Self::P2
                | Self::P4
                | Self::P3Prime
                | Self::P4Prime
                | Self::P4PrimeLiteral
                | Self::Fremond
        )
    }
}
