//! The past of a motion, for forces and friction that remember.
//!
//! A system says with a [`PastReading`] what it reads: which coordinates, how far back, which
//! window maxima and integrals, and the motion before the start ([`InitialHistory`]). The
//! simulation then keeps a [`PastMotion`] and forces read it through the [`PastView`] of the
//! instant they are evaluated at. A system without reading pays nothing.
//!
//! ```
//! use stickslip::systems::GeneralizedSystem;
//! use stickslip::systems::past_motion::PastReading;
//!
//! // x'' = −4 x(t − 0.25)
//! let mut reading = PastReading::new();
//! reading.point_delay(0.25)?;
//! let oscillator = GeneralizedSystem::builder(["x"])
//!     .mass_diagonal(&[1.0])
//!     .delayed_force(reading, |past, _v, out| out[0] = -4.0 * past.delayed(0, 0.25))
//!     .build(&[1.0])?;
//! # let _ = oscillator;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod history;
mod kernel;
pub(crate) mod motion;
pub(crate) mod quadrature;
mod reading;
mod ring;
mod view;
mod with_past;

#[cfg(test)]
mod tests;

pub use history::InitialHistory;
pub use kernel::Kernel;
pub(crate) use motion::{Interpolation, PastMotion, PastSnapshot};
pub use reading::{
    FunctionIntegral, PastError, PastFunction, PastIntegral, PastReading, Psi, WindowMaximum,
};
pub use view::PastView;
pub(crate) use with_past::SystemWithPast;
