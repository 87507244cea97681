//! Time stepping of worlds of rigid bodies.
//!
//! A step is a drift, a kick and a drift: bodies move freely over (1 − θ)h, contacts are found there and all impulses act at
//! once, then bodies move on over θh. [`WorldStepping`] is both of its schemes: `moreau-jean` with θ in [½, 1] and `moreau`,
//! which is θ = 0.

mod account;
mod bodies;
mod contacts;
mod impulses;
mod phases;
mod posing;
mod prediction;
mod projection;
mod scheme;
mod spin;

pub use scheme::WorldStepping;
