//! What our own front ends, benches, tests and reference cases call beyond the public face. Nothing here is promised to stay.

pub use crate::algebra::autodiff::{gradient, hessian};
pub use crate::algebra::cholesky::CholeskyFactor;
pub use crate::algebra::covectors::Covectors;
pub use crate::algebra::feasibility::LinearSystem;
pub use crate::algebra::root::bracketed_root;
pub use crate::algebra::small_dense::solve_in_place;
pub use crate::algebra::sparse_symmetric::{SparsePattern, SparseSymmetric};
pub use crate::algebra::vectors::dot;
pub use crate::contact::certificate::RankDeficiency;
pub use crate::contact::delassus::{BodyOperator, Delassus, NO_BODY};
pub use crate::contact::normal_stage::NormalStage;
pub use crate::laws::energetic::spatial::{SpatialImpact, energetic_impact_in_space};
pub use crate::laws::energetic::{EnergeticImpact, ImpactPhase, ImpactPhaseKind, energetic_impact};
pub use crate::laws::generalized_set::{GeneralizedSet, PerGradient, PerUnitNormal, SetGeometry};
pub use crate::records::digest::Digest;
pub use crate::records::step_record::PhaseTimes;
pub use crate::records::trajectory_file::TrajectoryLayout;
pub use crate::scene::diagnostic::Diagnostic;
pub use crate::scene::drawing::Shape as DrawingShape;
pub use crate::scene::edit::is_setting;
pub use crate::scene::gallery::nearest_in_gallery;
pub use crate::simulation::elastic_ledger::contact_fields;
pub use crate::simulation::hypotheses::SceneFacts;
pub use crate::simulation::positions::TURN_LIMIT;
pub use crate::solvers::body_sweep::BodySweep;
pub use crate::solvers::cascade::settings::CascadeSettings;
pub use crate::solvers::coloured_sweep::ColouredSweep;
pub use crate::solvers::generalized_reaction::{project, support};
pub use crate::solvers::impact_consistency::check_impact;
pub use crate::solvers::scaled_problem::{ScaledProblem, StoppingTest};
pub use crate::solvers::sweep::{Instructions, SweepMemory, product, sweep};
pub use crate::stepping::assembly::ContactLayout;
pub use crate::stepping::contact_stage::ContactStage;
pub use crate::stepping::event_driven::{ReferenceEvent, ReferenceEventKind, ReferenceMotion};
pub use crate::stepping::scheme::StepLimit;
pub use crate::stepping::sweeping_bounds::SweepingData;
pub use crate::systems::constraint::{ContactPoint, FrictionMemory, SlipFriction};
pub use crate::systems::elastodynamic::matrix_market::{MatrixMarketError, read_matrix_market};
pub use crate::systems::elastodynamic::modes::natural_modes;
pub use crate::systems::linear_part::LinearPart;
pub use crate::systems::past_motion::motion::PastMotion;
pub use crate::systems::system::Sparsity;
pub use crate::systems::world::contact_source::FoundContact;

/// Words of scene files.
pub mod words {
    pub use crate::scene::words::*;
}

/// The tables of `summary.json`.
pub mod summary {
    pub use crate::simulation::elastic_accounts::ElasticAccounts;
    pub use crate::simulation::summary::*;
    pub use crate::simulation::world_summary::*;
}

/// Numbers as people write them.
pub mod quantity {
    pub use crate::quantity::*;
}

/// Expressions of scene files.
pub mod expression {
    pub use crate::scene::expression::*;
}

/// Exact solutions of one contact.
pub mod one_contact {
    pub use crate::solvers::enumeration::disc::{DiscKind, enumerate_disc};
    pub use crate::solvers::one_contact::*;
}

/// Whether the solution of a contact problem is the only one.
pub mod uniqueness {
    pub use crate::solvers::uniqueness::*;
}

/// Impact laws as maps of the normal velocities.
pub mod impact_map {
    pub use crate::laws::impact_map::*;
}

/// Quantities over grids of two parameters.
pub mod map {
    pub use crate::simulation::studies::map::*;
}

/// Judges motions of worlds.
pub mod verify_world {
    pub use crate::simulation::verify::world::*;
}

/// Pictures of runs, in parts, with their colours and marks.
pub mod view {
    pub use crate::view::bodies::{Geometry, ViewBody};
    pub use crate::view::contacts::{ContactRow, ViewContact};
    pub use crate::view::data::VIEW_FORMAT;
    pub use crate::view::encode::{Block, BlockKind, Encoded};
    pub use crate::view::mesh::{ViewMesh, ViewObstacle};

    /// Colours and marks.
    pub mod palette {
        pub use crate::view::palette::*;
    }
}

/// Files for ParaView.
pub mod paraview {
    pub use crate::systems::elastodynamic::vtu::{ContactFields, VtuSeries, contact_columns};
    pub use crate::systems::world::vtp::{ContactGlyph, VtpSeries, WorldShot};
}
