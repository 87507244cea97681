//! Values of the past motion inside expressions.
//!
//! A functional of the past enters the graph as one more input, which whoever evaluates the tape
//! reads from the past motion; its derivatives with respect to the present state are zero.

use super::graph::Expression;

/// What is read of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functional {
    /// A coordinate, or a velocity, a time ago.
    Delay,
    /// Largest value of a coordinate, or of an expression of coordinates, over a window.
    Maximum,
    /// Smallest value of a coordinate over a window.
    Minimum,
    /// Mean of a coordinate over a window.
    Mean,
    /// Integral of a coordinate over a window.
    Integral,
    /// Largest distance of coordinates from where they are now, over a window.
    Deviation,
    /// A coordinate a varying time ago.
    VaryingDelay,
    /// Integral over a window with a weight that decays with the age.
    Fading,
    /// Integral over a window with any weight.
    Weighted,
}

/// What a functional needs besides its operands and its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PastDetail {
    /// Nothing.
    None,
    /// The delay, an expression of time and coordinates, and its smallest value.
    Varying {
        /// The delay.
        delay: Expression,
        /// Its smallest value.
        shortest: f64,
    },
    /// Rate at which the weight decays.
    Rate(f64),
    /// The weight, an expression of input 0 as the age, and its integral over the window.
    Kernel {
        /// The weight.
        kernel: Expression,
        /// About its integral.
        mass: f64,
    },
}

/// One value of the past.
#[derive(Clone, Debug, PartialEq)]
pub struct PastTerm {
    /// What is read.
    pub functional: Functional,
    /// Inputs it is read of: coordinates, or for a delay one coordinate or velocity.
    pub inputs: Vec<usize>,
    /// The expression of these coordinates that is read; none for the first of them itself.
    pub operand: Option<Expression>,
    /// Largest delay or length of the window, positive.
    pub length: f64,
    /// What else it needs.
    pub detail: PastDetail,
}

impl PastTerm {
    /// The value for a motion that has rested for ever; `present` gives the inputs, `value` expressions of them.
    pub fn at_rest(
        &self,
        coordinates: usize,
        present: impl Fn(usize) -> f64,
        value: impl Fn(Expression) -> f64,
    ) -> f64 {
        let input = self.inputs[0];
        let now = || self.operand.map_or_else(|| present(input), value);
        match self.functional {
            Functional::Delay if input > coordinates => 0.0,
            Functional::Delay
            | Functional::VaryingDelay
            | Functional::Maximum
            | Functional::Minimum
            | Functional::Mean => now(),
            Functional::Integral | Functional::Fading | Functional::Weighted => {
                now() * self.kernel_mass()
            }
            Functional::Deviation => 0.0,
        }
    }

    fn kernel_mass(&self) -> f64 {
        match self.detail {
            PastDetail::Rate(rate) if rate != 0.0 => -(-rate * self.length).exp_m1() / rate,
            PastDetail::Kernel { mass, .. } => mass,
            _ => self.length,
        }
    }
}
