//! Values of the past motion inside expressions.
//!
//! A functional of the past enters the graph as one more input, which whoever evaluates the tape
//! reads from the past motion; its derivatives with respect to the present state are zero.

/// What is read of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functional {
    /// A coordinate, or a velocity, a time ago.
    Delay,
    /// Largest value of a coordinate over a window.
    Maximum,
    /// Smallest value of a coordinate over a window.
    Minimum,
    /// Mean of a coordinate over a window.
    Mean,
    /// Integral of a coordinate over a window.
    Integral,
    /// Largest distance of coordinates from where they are now, over a window.
    Deviation,
}

/// One value of the past.
#[derive(Clone, Debug, PartialEq)]
pub struct PastTerm {
    /// What is read.
    pub functional: Functional,
    /// Inputs it is read of: coordinates, or for a delay one coordinate or velocity.
    pub inputs: Vec<usize>,
    /// Delay or length of the window, positive.
    pub length: f64,
}

impl PastTerm {
    /// The value for a motion that has rested for ever; `present` gives the inputs.
    pub fn at_rest(&self, coordinates: usize, present: impl Fn(usize) -> f64) -> f64 {
        let input = self.inputs[0];
        match self.functional {
            Functional::Delay if input > coordinates => 0.0,
            Functional::Delay | Functional::Maximum | Functional::Minimum | Functional::Mean => {
                present(input)
            }
            Functional::Integral => present(input) * self.length,
            Functional::Deviation => 0.0,
        }
    }
}
