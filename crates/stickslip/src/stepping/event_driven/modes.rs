//! Modes of the contacts between two events.

use crate::laws::FrictionSection;
use crate::systems::MechanicalSystem;

use crate::stepping::ContactLayout;

/// Friction state of one group of tangents.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) enum Friction {
    /// The tangential velocity stays zero.
    Stick,
    /// Slip against the velocity; with one tangent the direction is its sign.
    Slip(Vec<f64>),
    /// Slip in several tangents that begins from rest, along the acceleration it has itself, near this direction, until it
    /// has gathered speed.
    Begin(Vec<f64>),
}

impl Friction {
    /// Direction of a slip.
    pub fn slip(&self) -> Option<&[f64]> {
        match self {
            Self::Stick => None,
            Self::Slip(direction) | Self::Begin(direction) => Some(direction),
        }
    }
}

/// Mode of one contact point.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Mode {
    pub closed: bool,
    pub friction: Vec<Friction>,
}

/// Tangents that slip or stick together: all of a contact, or one factor of a product section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// First tangent row inside the contact (1 is the first tangent).
    pub start: usize,
    pub size: usize,
    /// Which factor of the section, or all of it.
    pub factor: Option<usize>,
}

/// Groups of every contact point.
pub(super) fn groups(system: &dyn MechanicalSystem, layout: &ContactLayout) -> Vec<Vec<Group>> {
    layout
        .slots()
        .iter()
        .map(|slot| {
            let point = &system.constraints()[slot.key.constraint()].points()[slot.key.point()];
            match point.law.base_section() {
                FrictionSection::Product { factors, .. } => {
                    let mut start = 1;
                    let mut groups = Vec::new();
                    for (k, factor) in factors.iter().enumerate() {
                        let size = factor.dimension();
                        if size > 0 {
                            groups.push(Group {
                                start,
                                size,
                                factor: Some(k),
                            });
                        }
                        start += size;
                    }
                    groups
                }
                section if section.dimension() > 0 => vec![Group {
                    start: 1,
                    size: section.dimension(),
                    factor: None,
                }],
                _ => Vec::new(),
            }
        })
        .collect()
}

/// The section of a group.
pub(super) fn section_of(section: &FrictionSection, group: &Group) -> FrictionSection {
    match (section, group.factor) {
        (FrictionSection::Product { factors, scale }, Some(k)) => factors[k].scaled(*scale),
        _ => section.clone(),
    }
}
