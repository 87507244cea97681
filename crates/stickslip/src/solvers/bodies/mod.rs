//! Sweeps over bodies: the fast solver of worlds, and of every problem whose W comes from few freedoms per body.
//!
//! [`BodySweepSolver`] is what one calls. Inside: `islands` finds what is connected; `schedule` puts contacts in batches of four without
//! changing the order of the sweep, `packing` writes them there, `batch` visits four at once by `local`, over the `lanes` of
//! the machine, with less to read where contacts are `central`; `alone` visits what has another law; `rest` finds the islands whose guess is a solution; `drive` sweeps until each `track` is within the tolerance; `finish` hands small islands on which sweeps crawl to Newton's method, `patches` solves around the few contacts that hold up a large one, with the `ray` where impulses drift, `newton_krylov` does without a matrix for large ones that slide, with the contacts of `krylov_island`, `linearised` and solved by `gmres`; `partition` and `team` let several threads
//! work on one island with the bits of one thread.

mod alone;
mod batch;
mod central;
mod drive;
mod finish;
mod gmres;
mod group;
mod kernels;
mod krylov_island;
mod lanes;
mod linearised;
mod local;
mod newton_krylov;
mod packing;
mod partition;
mod patches;
mod ray;
mod rest;
mod schedule;
mod shared;
mod solver;
mod team;
mod track;
mod workspace;

pub use solver::{BodySweepSettings, BodySweepSolver};

#[cfg(test)]
mod tests;
