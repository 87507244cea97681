//! One contact solved exactly: the block of a Gauss-Seidel sweep and the whole of a single impact.
//!
//! u = W p + q with m = 1 + d rows, normal first; W is row-major with a positive semidefinite
//! symmetric part and W_nn > 0; q is the velocity at p = 0, bias included; D the friction section,
//! K its cone. Three laws:
//!
//! * [`solve_coulomb`]: 0 ≤ p_n − p_min ⟂ u_n ≥ 0, −u_t ∈ N_{p_n D}(p_t);
//! * [`solve_known_normal`]: p_n given, −u_t ∈ N_{p_n D}(p_t) (Tresca);
//! * [`solve_kinetic`]: S(q, v), least kinetic energy at u_n = 0; [`solve_jam`]: its limit as the approach vanishes, where γ < 0.
//!
//! No allocation for one tangential direction, for the disc in space and for products of discs under Coulomb's law.

mod coulomb;
pub mod coulomb_disc;
mod coulomb_product;
mod gamma;
mod kinetic;
mod kinetic_disc;
mod known_normal;
mod outcome;
pub mod planar;

pub use coulomb::solve_coulomb;
pub(crate) use coulomb::{from_disc_frame, in_disc_frame};
pub use gamma::gamma;
pub use kinetic::{solve_jam, solve_kinetic};
pub use known_normal::solve_known_normal;
pub use outcome::{LocalOutcome, LocalScratch, LocalState, OneContact};

#[cfg(test)]
mod tests;
