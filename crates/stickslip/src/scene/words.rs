//! The words a scene and the command line use for schemes, laws and rules.
//!
//! Options of the engine get their words on the engine's own enum; only what a scene chooses between types or
//! combinations of them has an enum here.

use crate::laws::{ActiveSpace, Sections, SetUnit};
use crate::simulation::studies::branches::ChoiceRule;
use crate::stepping::{Activation, InternalForce, JointVelocity, Projection};

/// A word among several, with what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word itself.
    pub name: &'static str,
    /// One line of documentation.
    pub description: &'static str,
}

pub(super) const fn word(name: &'static str, description: &'static str) -> Word {
    Word { name, description }
}

/// Words for an enum, which has one value for each of them.
pub trait SceneWords: Copy + PartialEq + 'static {
    /// All words.
    const WORDS: &'static [Word];
    /// The values, in the order of the words.
    const VALUES: &'static [Self];

    /// The word of this value; empty for a value that no scene can name.
    #[must_use]
    fn word(self) -> &'static str {
        let at = Self::VALUES.iter().position(|value| *value == self);
        at.map_or("", |at| Self::WORDS[at].name)
    }

    /// The value with this word.
    #[must_use]
    fn from_word(name: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|word| word.name == name)?;
        Some(Self::VALUES[at])
    }
}

macro_rules! words_of {
    ($type:ident { $($variant:ident = $word:expr,)* }) => {
        impl SceneWords for $type {
            const WORDS: &'static [Word] = &[$($word,)*];
            const VALUES: &'static [Self] = &[$(Self::$variant,)*];
        }
    };
}

pub(super) use words_of;

/// An enum of the scene's own with its words.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        words_of! { $type { $($variant = $word,)* } }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(super) use words;

words! {
    /// Time-stepping scheme.
    Scheme {
        /// Moreau's contact dynamics.
        Moreau = word("moreau", "Moreau's contact dynamics: explicit position, implicit contact"),
        /// The theta scheme of Moreau and Jean.
        MoreauJean = word("moreau-jean", "theta scheme of Moreau and Jean with an exact energy account"),
        /// The sweeping process with delay.
        SweepingProcess = word("sweeping-process", "sweeping process: explicit, first velocity then position; reads the past"),
        /// Normal compliance.
        Penalty = word("penalty", "normal compliance with exact friction; needs compliance_time"),
        /// Events located to tight tolerance.
        EventDriven = word("event-driven", "near-exact reference that locates every event; for small systems"),
    }
}

words! {
    /// Friction law.
    Law {
        /// No friction anywhere.
        Frictionless = word("frictionless", "friction is switched off at every contact"),
        /// Coulomb's law at material points.
        Coulomb = word("coulomb", "friction opposes the slip of the material contact points"),
        /// Moreau's least kinetic energy.
        Argmin = word("argmin", "least kinetic energy among the reachable velocities (Moreau's S)"),
        /// Generalized reactions.
        Generalized = word("generalized", "friction stated on generalized reactions: one motion, no energy gain"),
    }
}

words! {
    /// Impact law.
    Impact {
        /// No rebound.
        Inelastic = word("inelastic", "no rebound; restitution is ignored"),
        /// Restitution of normal velocities.
        Newton = word("newton", "restitution between normal velocities"),
        /// Restitution of impulses.
        Poisson = word("poisson", "restitution between the impulses of compression and expansion"),
        /// Reflection of the kinetic projection.
        Moreau = word("moreau", "reflection of the kinetic projection on the closing constraints"),
        /// Newton's law with friction on the mean slip; always dissipative.
        Fremond = word("fremond", "Newton's normal law, friction on the mean slip: always dissipative"),
        /// Restitution of energy.
        Energetic = word("energetic", "restitution of the energy of compression, friction that follows the slip"),
    }
}

words! {
    /// What a step with several solutions does.
    OnSeveral {
        /// Go on by the rule of the solver.
        Choose = word("choose", "go on with the solution chosen by rule (take-off, stick, slip) and count it"),
        /// Stop there.
        Stop = word("stop", "list all solutions of every step and stop where there are several"),
        /// Follow them all.
        Branch = word("branch", "list all solutions of every step and follow every branch, up to branches_max"),
    }
}

words! {
    /// Solver of the contact problem of a step.
    Solver {
        /// Chosen by the size of the problem.
        Automatic = word("automatic", "exact sweeps for few contacts, the cascade for many"),
        /// The cascade from three contacts on.
        Cascade = word("cascade", "portfolio of sweeps, proximal Newton and interior point, for many contacts"),
        /// Sweeps only.
        GaussSeidel = word("gauss-seidel", "damped sweeps over exact one-contact solutions, any friction set"),
        /// Sweeps with momentum.
        AcceleratedGaussSeidel = word("accelerated-gauss-seidel", "sweeps with momentum"),
        /// Sweeps in coloured order.
        ColouredGaussSeidel = word("coloured-gauss-seidel", "damped sweeps in coloured order, on several threads with the bits of one"),
        /// Projected gradient.
        ProjectedGradient = word("projected-gradient", "accelerated projected gradient with lagged De Saxce term"),
        /// First-order methods in turn.
        Portfolio = word("portfolio", "sweeps with and without momentum and projected gradient in turn"),
        /// Proximal Newton.
        ProximalNewton = word("proximal-newton", "proximal point with semismooth Newton, after 100 sweeps"),
        /// Interior point.
        InteriorPoint = word("interior-point", "interior point, then proximal Newton"),
        /// Pivoting in the plane.
        Lemke = word("lemke", "Lemke's pivoting, for few contacts in the plane"),
    }
}

words_of! {
    Sections {
        PerConstraint = word("per-constraint", "each constraint has its own set, scaled by its own normal impulse"),
        Joint = word("joint", "the total reaction lies in the sum of all real cones"),
    }
}

words_of! {
    ActiveSpace {
        All = word("all", "all active constraints"),
        Firm = word("firm", "only constraints with a firm normal impulse"),
    }
}

words_of! {
    ChoiceRule {
        TakeOffFirst = word("take-off-first", "take-off before stick before slip, contact by contact"),
        LeastEnergy = word("least-energy", "the least kinetic energy after the step"),
        SmallestImpulse = word("smallest-impulse", "the smallest impulse"),
    }
}

words_of! {
    SetUnit {
        CoulombCone = word("coulomb-cone", "real Coulomb cones at the material points; the generalized sets are built from them"),
        PerGradient = word("gradient", "generalized sets themselves, per unit of the gradient of the gap"),
        PerUnitNormal = word("unit-normal", "generalized sets themselves, per unit of the kinetic unit normal n*"),
    }
}

words_of! {
    Activation {
        Paper = word("paper", "closed at the forecast position and approaching"),
        Forecast = word("forecast", "closed at the forecast position"),
        Guard = word("guard", "closed at the forecast position; a separating contact does no work"),
    }
}

words_of! {
    InternalForce {
        AtTheta = word("theta", "gradient at the theta position; the energy defect is booked"),
        DiscreteGradient = word("discrete-gradient", "discrete gradient: no energy defect at theta = 1/2"),
    }
}

words_of! {
    JointVelocity {
        End = word("end", "velocity at the end of the step: robust, dissipates a little"),
        Theta = word("theta", "theta velocity: joints do no work at all"),
    }
}

words_of! {
    Projection {
        None = word("none", "the bare schemes of the papers: positions may drift off curved obstacles and out of joints"),
        Combined = word("combined", "laws on the geometry of the middle of the step, end position projected on obstacles and joints"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_are_in_one_order() {
        assert_eq!(Scheme::from_word("moreau-jean"), Some(Scheme::MoreauJean));
        assert_eq!(Scheme::EventDriven.to_string(), "event-driven");
        assert_eq!(Impact::from_word("fremond"), Some(Impact::Fremond));
        assert_eq!(Law::from_word("Coulomb"), None);
        for (value, word) in Impact::VALUES.iter().zip(Impact::WORDS) {
            assert_eq!(value.word(), word.name);
        }
    }
}
