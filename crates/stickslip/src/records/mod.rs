//! Step records, trajectories and the energy ledger.
