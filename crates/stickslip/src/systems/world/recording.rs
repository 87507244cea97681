//! What a run of a world keeps: recorded bodies and contacts, and sums to be watched.

/// What is written of bodies and contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Bodies whose motion is written, by number and in order; none for all.
    pub bodies: Option<Vec<u32>>,
    /// Whether contacts are written.
    pub contacts: bool,
    /// Which sums of contact forces are written, if any.
    pub forces: Option<ForceSums>,
}

/// Sums of contact forces that a run writes in every kept step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceSums {
    /// On every body, from all others.
    Bodies,
    /// On the first body of every touching pair, from the second.
    Pairs,
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            bodies: None,
            contacts: true,
            forces: None,
        }
    }
}

impl Recording {
    /// Bodies up to this number have named columns in the trajectory; more of them a file of their own.
    pub const COLUMNS_MAX: usize = 256;

    /// Numbers of the recorded bodies of a world of `count`.
    pub fn bodies(&self, count: usize) -> Vec<u32> {
        match &self.bodies {
            Some(bodies) => bodies.clone(),
            None => (0..count as u32).collect(),
        }
    }
}

/// A group of bodies, by number.
pub type BodyGroup = Vec<u32>;

/// A sum over bodies or contacts that is recorded in every step.
#[derive(Clone, Debug, PartialEq)]
pub enum MonitorQuantity {
    /// Force on the first group by the contacts with the second: impulses of the step over its length.
    Force {
        /// Who receives it, and from whom.
        between: [BodyGroup; 2],
    },
    /// Linear momentum, and angular momentum about the origin.
    Momentum {
        /// Whose.
        group: BodyGroup,
    },
    /// Number of contacts that carry an impulse between two groups.
    Contacts {
        /// Which groups.
        between: [BodyGroup; 2],
    },
    /// Kinetic and potential energy.
    Energy {
        /// Whose.
        group: BodyGroup,
    },
}

/// A named sum.
///
/// ```
/// use stickslip::systems::world::{Monitor, MonitorQuantity};
///
/// // The force of the floor, body 0, on two bricks.
/// let between = [vec![1, 2], vec![0]];
/// let weight = Monitor { name: "weight".into(), quantity: MonitorQuantity::Force { between } };
/// assert_eq!(weight.columns(), ["weight.fx", "weight.fy", "weight.fz"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    /// Name, the beginning of its columns.
    pub name: String,
    /// What is summed.
    pub quantity: MonitorQuantity,
}

impl Monitor {
    /// Names of its columns.
    pub fn columns(&self) -> Vec<String> {
        let endings: &[&str] = match self.quantity {
            MonitorQuantity::Force { .. } => &["fx", "fy", "fz"],
            MonitorQuantity::Momentum { .. } => &["px", "py", "pz", "lx", "ly", "lz"],
            MonitorQuantity::Contacts { .. } => &["contacts"],
            MonitorQuantity::Energy { .. } => &["kinetic", "potential"],
        };
        endings
            .iter()
            .map(|ending| format!("{}.{ending}", self.name))
            .collect()
    }
}
