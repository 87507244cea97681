//! What happened in one step.

use crate::contact::ContactKey;

use super::{EnergyEntry, Event, MomentumEntry, PresentContact};

/// Mode of one contact in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContactMode {
    /// No impulse.
    #[default]
    Open,
    /// The friction impulse is strictly inside its section.
    Stick,
    /// The friction impulse is on the boundary of its section.
    Slip,
    /// An impulse at a contact without friction.
    Closed,
}

impl ContactMode {
    /// Small number used in files: 0 open, 1 stick, 2 slip, 3 closed without friction.
    pub fn code(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Stick => 1,
            Self::Slip => 2,
            Self::Closed => 3,
        }
    }

    /// Word used in summaries and files of text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::Slip => "slip",
            Self::Closed => "closed",
        }
    }
}

/// How the step ended; never hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOutcome {
    /// Every law was satisfied to the tolerance.
    #[default]
    Solved,
    /// A contact had several solutions; the rule take-off, stick, slip chose one.
    SeveralSolutions {
        /// The contact.
        contact: ContactKey,
    },
    /// A contact had several solutions and the run was asked to stop there.
    StoppedAtSeveral {
        /// The contact.
        contact: ContactKey,
    },
    /// A contact has no solution.
    NoSolution {
        /// The contact.
        contact: ContactKey,
    },
    /// Contacts whose rows depend on each other: their reactions are not unique, and those looked at fit no acceleration.
    ReactionsNotUnique {
        /// The first of the contacts.
        contact: ContactKey,
    },
    /// Friction that would stop the slip by an impact without collision at one of several touching contacts, which is not computed.
    JamOfSeveral {
        /// The first of the contacts.
        contact: ContactKey,
    },
    /// Contacts under the energetic law that act on each other close or jam together, or one closes another: their impact depends on
    /// the ratios of their stiffnesses.
    SeveralLayers {
        /// The contact.
        contact: ContactKey,
    },
    /// The contact solver stopped above its tolerance.
    NotConverged,
    /// The implicit iteration on nonlinear forces stopped above its tolerance.
    NonlinearNotConverged,
    /// A quantity became NaN or infinite.
    NonFinite,
    /// A friction coefficient was negative or not finite.
    BadCoefficient {
        /// The contact.
        contact: ContactKey,
    },
    /// Friction that falls with the slip speed too steeply for one answer per step; the record tells the step that
    /// would do.
    SlipNotUnique {
        /// The contact.
        contact: ContactKey,
    },
    /// The iteration on slip speeds that friction depends on did not come to an end.
    SlipNotConverged {
        /// The contact.
        contact: ContactKey,
    },
    /// A gap or its rate is NaN or infinite.
    GapNotFinite {
        /// Constraint.
        constraint: usize,
    },
    /// The mass matrix lost definiteness at this configuration.
    SingularMass,
    /// A constraint was passed through although its gap stayed positive, or a spring was pressed through it: its normal
    /// turned within the step.
    DegenerateGap {
        /// The contact.
        contact: ContactKey,
    },
    /// The normal of a contact is not that of its gap: its impulse would push along the obstacle.
    ForeignNormal {
        /// The contact.
        contact: ContactKey,
    },
    /// A contact stays where its gap has a kink: it is pressed by two normals there, of which it has one at a time.
    StaysAtKink {
        /// The contact.
        contact: ContactKey,
    },
    /// A gap jumps below zero: the obstacle has no face there that could be met.
    GapJumps {
        /// The contact.
        contact: ContactKey,
    },
    /// A step went over an obstacle that rises or turns within it more than the step can see.
    LeaptOver {
        /// The contact.
        contact: ContactKey,
    },
    /// A joint has a kink where a step passed it.
    JointBends {
        /// Its number.
        joint: usize,
    },
    /// The equation of a joint jumps.
    JointJumps {
        /// Its number.
        joint: usize,
    },
    /// A delay was negative or longer than announced: the motion is not known there.
    DelayOutOfRange,
    /// Events follow each other without the motion getting on, or its integration takes more steps than it may.
    NoProgress,
}

impl StepOutcome {
    /// Whether the step could not be made; the state is then that before the step.
    pub fn is_fatal(self) -> bool {
        matches!(
            self,
            Self::NoSolution { .. }
                | Self::ReactionsNotUnique { .. }
                | Self::JamOfSeveral { .. }
                | Self::StoppedAtSeveral { .. }
                | Self::SeveralLayers { .. }
                | Self::NonFinite
                | Self::SlipNotUnique { .. }
                | Self::SlipNotConverged { .. }
                | Self::GapNotFinite { .. }
                | Self::BadCoefficient { .. }
                | Self::SingularMass
                | Self::DelayOutOfRange
                | Self::NoProgress
                | Self::DegenerateGap { .. }
                | Self::ForeignNormal { .. }
                | Self::StaysAtKink { .. }
                | Self::GapJumps { .. }
                | Self::JointJumps { .. }
                | Self::LeaptOver { .. }
                | Self::JointBends { .. }
        )
    }

    /// Whether the step satisfies its laws.
    pub fn is_solved(self) -> bool {
        matches!(self, Self::Solved | Self::SeveralSolutions { .. })
    }
}

/// State of one contact point after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactRecord {
    /// The contact.
    pub key: ContactKey,
    /// Gap at the end of the step.
    pub gap: f64,
    /// Mode.
    pub mode: ContactMode,
    /// First row in [`StepRecord::impulses`].
    pub start: usize,
    /// Number of rows.
    pub size: usize,
    /// Work of the normal impulse.
    pub work_normal: f64,
    /// Work of the friction impulse.
    pub work_tangential: f64,
    /// Energy that the law of the contact itself gave (positive) or took: the impulse on the mean of the
    /// velocities before and after the step, relative to the obstacle.
    pub work_law: f64,
    /// Parts of both works that the motion of the obstacle does.
    pub work_support: [f64; 2],
    /// How much of `work_law` the forces of the step may have made: the impulse on the change of velocity that
    /// they bring.
    pub work_forces: f64,
    /// The impulse on the changes of velocity that impulses bring, normal and tangential: what an impact answers is an approach, or slip that
    /// jams.
    pub answers: [f64; 2],
    /// Whether slip jammed the contact without an approach and what that compressed sprang back: the energetic law tells so itself.
    pub jammed: bool,
    /// Normal velocity before the step, read with the frame of the step.
    pub approach: f64,
    /// Answer of the normal velocity to a unit normal impulse, of an active contact; zero of others.
    pub inverse_mass: f64,
    /// γ and the margin to the Painlevé region, of an active contact.
    pub painleve: Option<PainleveMargin>,
}

impl ContactRecord {
    /// Whether the contact took no part in the step: no impulse, and no problem with it.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.mode == ContactMode::Open && self.painleve.is_none()
    }

    /// Works of the normal impulse and of friction on the velocity relative to the obstacle.
    pub(crate) fn relative_works(&self) -> [f64; 2] {
        let [normal, tangential] = self.work_support;
        [self.work_normal - normal, self.work_tangential - tangential]
    }
}

/// How far a contact is from the Painlevé region.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PainleveMargin {
    /// γ = W_NN − σ_D(−W_NT): least normal velocity one unit of normal impulse can produce.
    pub gamma: f64,
    /// γ/W_NN: 1 without coupling, ≤ 0 where friction alone can jam the contact.
    pub margin: f64,
}

/// Seconds of processor time spent in the phases of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PhaseTimes {
    /// Finding contacts.
    pub find: f64,
    /// Rows, biases and the problem.
    pub build: f64,
    /// Solving it.
    pub solve: f64,
    /// Measuring the solution again.
    pub certify: f64,
    /// Moving the bodies, accounts and records.
    pub finish: f64,
}

/// Everything about one step; the buffers are reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct StepRecord {
    /// Number of the step; 0 is the initial instant.
    pub step: u64,
    /// Time at the end of the step.
    pub t: f64,
    /// Length of the step (0 for the impact at the initial instant).
    pub h: f64,
    /// Configuration at the end of the step.
    pub q: Vec<f64>,
    /// Left velocity: free velocity that would hold without contact impulses.
    pub velocity_left: Vec<f64>,
    /// Right velocity at the end of the step.
    pub velocity: Vec<f64>,
    /// All contact points, in the order of the system.
    pub contacts: Vec<ContactRecord>,
    /// Contacts of a world that took part in this step, in the order of their keys.
    pub present: Vec<PresentContact>,
    /// Contact impulses, row by row.
    pub impulses: Vec<f64>,
    /// Local velocities that the friction law read (the sliding velocity of the scheme).
    pub local_velocities: Vec<f64>,
    /// Joint impulses.
    pub joint_impulses: Vec<f64>,
    /// Displacement by which the end position was projected; empty where the scheme does not project.
    pub projection: Vec<f64>,
    /// Kinetic energy at the end.
    pub kinetic: f64,
    /// Potential energy at the end (elastic part included).
    pub potential: f64,
    /// Sum of the sizes of the terms of the potential energy, the unit of its rounding; 0 where the energy itself is.
    pub potential_size: f64,
    /// Where the energy went.
    pub energy: EnergyEntry,
    /// Speed that gravity gains in the step; worlds only.
    pub gravity_gain: f64,
    /// Whether sweeps left an island to second-order methods; worlds only.
    pub second_order: bool,
    /// Whether positions were projected because bodies overlapped; worlds only.
    pub projected: bool,
    /// Where the momentum of free bodies went, for schemes that keep this account.
    pub momentum: Option<MomentumEntry>,
    /// Seconds spent in the phases of the step; worlds only.
    #[doc(hidden)]
    pub phases: PhaseTimes,
    /// Size of the products that cancel in the terms of the account: `h Σ |v_i f_i|` over all forces.
    pub energy_size: f64,
    /// Sum of the energy entries from the start to this step.
    pub energy_totals: EnergyEntry,
    /// Further accounts of the run, in the columns its layout names (bodies and surfaces).
    pub accounts: Vec<f64>,
    /// Speed of stuck contacts that only reverse their tangential velocity (Frémond's law).
    pub stick_jitter: f64,
    /// Step length that would have one answer, where friction falls too steeply with the slip speed; 0 where no step has, at an impact.
    pub step_advised: f64,
    /// Velocity whose balance is farthest from holding, where the iteration on nonlinear forces did not converge.
    pub unbalanced: Option<usize>,
    /// Worst contact residual of the step.
    pub residual: f64,
    /// Iterations of the contact solver.
    pub iterations: usize,
    /// How the step ended.
    pub outcome: StepOutcome,
    /// Events located inside the step, by schemes that locate them; none where the records themselves must tell.
    pub located: Option<Vec<Event>>,
}

impl StepRecord {
    /// Whether no declared contact took part in the step.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.contacts.iter().all(ContactRecord::is_idle)
    }

    /// Number of contacts that carry an impulse.
    pub fn active_contacts(&self) -> usize {
        let declared = self.contacts.iter().map(|contact| contact.mode);
        let present = self.present.iter().map(|contact| contact.mode);
        declared
            .chain(present)
            .filter(|mode| *mode != ContactMode::Open)
            .count()
    }

    /// Impulse of a contact, normal first.
    pub fn impulse(&self, contact: usize) -> &[f64] {
        let c = &self.contacts[contact];
        &self.impulses[c.start..c.start + c.size]
    }

    /// Local velocity of a contact, normal first.
    pub fn local_velocity(&self, contact: usize) -> &[f64] {
        let c = &self.contacts[contact];
        &self.local_velocities[c.start..c.start + c.size]
    }
}
