//! Formulations, their lines, and what a verification says.

use serde::Serialize;

/// A formulation of the dynamics with unilateral contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Formulation {
    /// Frictionless contact.
    P2,
    /// Coulomb friction of a particle on one surface.
    P3,
    /// Coulomb friction of a particle on several surfaces.
    P4,
    /// Coulomb friction of real-world reactions, one constraint.
    P5,
    /// Coulomb friction of real-world reactions, several constraints.
    P6,
    /// Friction of generalized reactions, one constraint.
    P3Prime,
    /// Friction of generalized reactions, several constraints, read on the velocities tangential to all.
    P4Prime,
    /// Newton's normal law with friction on the mean tangential velocity.
    Fremond,
}

impl Formulation {
    /// The formulation with a name: P2, P3, P4, P5, P6, P3', P4', fremond.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "P2" => Self::P2,
            "P3" => Self::P3,
            "P4" => Self::P4,
            "P5" => Self::P5,
            "P6" => Self::P6,
            "P3'" | "P'3" => Self::P3Prime,
            "P4'" | "P'4" => Self::P4Prime,
            "fremond" => Self::Fremond,
            _ => return None,
        })
    }

    /// Whether it has one constraint only.
    pub(super) fn one_constraint(self) -> bool {
        matches!(self, Self::P3 | Self::P5 | Self::P3Prime)
    }

    /// Whether it is about a particle, whose mass is a multiple of the identity.
    pub(super) fn particle(self) -> bool {
        matches!(self, Self::P3 | Self::P4)
    }

    /// Whether friction is stated on generalized reactions.
    pub(super) fn generalized(self) -> bool {
        matches!(self, Self::P3Prime | Self::P4Prime)
    }

    /// Whether contact never gives energy.
    pub(super) fn dissipative(self) -> bool {
        matches!(
            self,
            Self::P2 | Self::P3Prime | Self::P4Prime | Self::Fremond
        )
    }
}

/// A line of a formulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The formulation applies to the system at all.
    Applicable,
    /// Times increase and all numbers are finite, with as many as the system has.
    WellFormed,
    /// The motion starts where it should.
    InitialCondition,
    /// Positions move with the velocities.
    Kinematics,
    /// M dv = f dt + dr on intervals.
    EquationOfMotion,
    /// M (v⁺ − v⁻) = r at atoms.
    ImpactEquation,
    /// Gaps are not negative.
    NonPenetration,
    /// Velocities after do not close an active contact.
    Admissible,
    /// Reactions act at closed contacts only.
    Complementarity,
    /// Normal reactions push.
    NormalSign,
    /// The reaction lies in the cone or in λ C*.
    FrictionCone,
    /// Friction takes most power: the integrated law against test velocities.
    FrictionLaw,
    /// r_n (v·x) ≥ (r·v) x_n for test reactions x of the cone of a particle.
    Variational,
    /// Normal velocity after an impact.
    ImpactLaw,
    /// Contact gives no energy over any interval.
    Dissipation,
}

impl Line {
    /// Words for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Applicable => "the formulation does not apply to this system",
            Self::WellFormed => "the motion is not well formed",
            Self::InitialCondition => "initial condition",
            Self::Kinematics => "positions do not follow the velocities",
            Self::EquationOfMotion => "equation of motion between impacts",
            Self::ImpactEquation => "equation of motion at an impact",
            Self::NonPenetration => "non-penetration",
            Self::Admissible => "right velocity closes a contact",
            Self::Complementarity => "a reaction without contact",
            Self::NormalSign => "a normal reaction that pulls",
            Self::FrictionCone => "a reaction outside its friction set",
            Self::FrictionLaw => "friction law",
            Self::Variational => "variational form of the friction law against test reactions",
            Self::ImpactLaw => "impact law",
            Self::Dissipation => "contact gives energy",
        }
    }
}

/// A violated line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violation {
    /// The line.
    pub line: Line,
    /// Time at which it is violated most.
    pub t: f64,
    /// Size of the violation relative to the scale of the line.
    pub size: f64,
    /// Constraint, where one is to blame.
    pub constraint: Option<String>,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at t = {}", self.line.words(), self.t)?;
        if let Some(name) = &self.constraint {
            write!(f, ", constraint `{name}`")?;
        }
        write!(f, ", size {:.3e}", self.size)
    }
}

/// Accepted, or the worst violation of every violated line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The formulation.
    pub formulation: Formulation,
    /// Violations, in the order of the lines.
    pub violations: Vec<Violation>,
    /// Nodes tested.
    pub nodes: usize,
}

impl Verification {
    /// Whether every line holds.
    pub fn accepted(&self) -> bool {
        self.violations.is_empty()
    }

    pub(super) fn note(&mut self, line: Line, t: f64, size: f64, constraint: Option<&str>) {
        let constraint = constraint.map(str::to_string);
        let violation = Violation {
            line,
            t,
            size,
            constraint,
        };
        match self.violations.iter_mut().find(|v| v.line == line) {
            // A NaN is the worst of all.
            Some(worst) if size > worst.size || size.is_nan() => *worst = violation,
            Some(_) => {}
            None => self.violations.push(violation),
        }
    }
}
