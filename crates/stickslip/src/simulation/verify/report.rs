//! The lines of formulations, and what a verification says.

use serde::Serialize;

use super::Formulation;
use crate::quantity::digits;

/// A line of a formulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// Times increase and all numbers are finite, with as many as the system has.
    WellFormed,
    /// A thinned run keeps the steps that its scene makes.
    KeptSteps,
    /// A motion that says that it is a run closes no contact farther away than its scene does.
    ContactGap,
    /// The motion starts where it should.
    InitialCondition,
    /// Positions move with the velocities.
    Kinematics,
    /// A projection of positions moves them along normals of joints and contacts that are closed after it.
    Projection,
    /// M dv = f dt + dr on intervals.
    EquationOfMotion,
    /// M (v⁺ − v⁻) = r at atoms.
    ImpactEquation,
    /// Joints hold.
    Joints,
    /// Gaps are not negative.
    NonPenetration,
    /// The way between two nodes goes through no obstacle.
    Passage,
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
    /// Normals of material points are those of their gaps.
    Frame,
    /// Contacts of a world lie where its bodies touch.
    ContactGeometry,
    /// Recorded velocities and modes of contacts are those of the motion.
    ContactRecord,
    /// Recorded energies are those of the motion.
    Energy,
    /// Recorded sums over bodies and contacts of a world are those of the motion.
    Monitor,
    /// Recorded outputs of controllers are those of their samples.
    ControlRecord,
    /// The trajectory, and the files of a world beside it, are those that the run wrote.
    Edited,
}

impl Line {
    /// Words for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::WellFormed => "the motion is not well formed",
            Self::KeptSteps => "a kept step is not that of the scene run again",
            Self::ContactGap => "a contact gap of its own, larger than that of the scene",
            Self::InitialCondition => "initial condition",
            Self::Kinematics => "positions do not follow the velocities",
            Self::Projection => {
                "positions corrected without need, or not onto what they were projected on"
            }
            Self::EquationOfMotion => "equation of motion between impacts",
            Self::ImpactEquation => "equation of motion at an impact",
            Self::Joints => "a joint does not hold",
            Self::NonPenetration => "non-penetration",
            Self::Passage => "an obstacle is passed through on the way between two instants",
            Self::Admissible => "right velocity closes a contact",
            Self::Complementarity => "a reaction without contact",
            Self::NormalSign => "a normal reaction that pulls",
            Self::FrictionCone => "a reaction outside its friction set",
            Self::FrictionLaw => "friction law",
            Self::Variational => "variational form of the friction law against test reactions",
            Self::ImpactLaw => "impact law",
            Self::Dissipation => "contact gives energy",
            Self::Frame => "a contact whose normal is not that of its gap",
            Self::ContactGeometry => "a contact that is not where its bodies touch",
            Self::ContactRecord => "a contact whose velocity or mode is not that of the motion",
            Self::Energy => "energies that are not those of the motion",
            Self::Monitor => "a monitor that is not the sum over its bodies or contacts",
            Self::ControlRecord => "an output of a controller that is not that of its sample",
            Self::Edited => "a file was changed after the run wrote it",
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
        write!(f, ", size {}", digits(self.size, 4))
    }
}

/// Accepted, refused with the worst violation of every violated line, or not to be judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The formulation.
    pub formulation: Formulation,
    /// Why the formulation says nothing about this system or motion, if so.
    pub does_not_apply: Option<String>,
    /// Violations, in the order of the lines.
    pub violations: Vec<Violation>,
    /// Nodes tested.
    pub nodes: usize,
    /// The tolerance asked of the solver of a refused run, where it is looser than the limit and every line holds to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_tolerance: Option<f64>,
    /// The verdict on P4' as it is written, beside that on tangential test velocities; it does not decide about acceptance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal: Option<Box<Verification>>,
}

impl Verification {
    /// Whether the formulation applies and every line holds.
    pub fn accepted(&self) -> bool {
        self.does_not_apply.is_none() && self.violations.is_empty()
    }

    /// A refused run whose solver was asked for less than the limit: told to hold `asked` where `loosely`, its judgement to that, is without
    /// violations.
    pub(crate) fn told_to<E>(
        mut self,
        asked: Option<f64>,
        loosely: impl FnOnce(f64) -> Result<Self, E>,
    ) -> Result<Self, E> {
        if let Some(asked) = asked.filter(|_| !self.violations.is_empty())
            && loosely(asked)?.accepted()
        {
            self.to_tolerance = Some(asked);
        }
        Ok(self)
    }

    /// Enters a violation, unless a worse one of the same line is known.
    pub(crate) fn note(&mut self, line: Line, t: f64, size: f64, constraint: Option<&str>) {
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
