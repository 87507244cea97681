//! Where the nodes of a motion come from: memory, a file that is read row by row, or a run that is made again.

use std::error::Error;
use std::ops::ControlFlow;

use thiserror::Error;

use super::{Motion, MotionNode};

/// Nodes in the order of time that can be gone through any number of times, with the same nodes each time. A run of any
/// length is judged in the memory of a few of them.
pub trait MotionSource {
    /// Shows every node, until `see` breaks off.
    fn visit(
        &self,
        see: &mut dyn FnMut(&MotionNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError>;
}

/// Why nodes could not be had.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct MotionSourceError(#[from] pub Box<dyn Error + Send + Sync>);

impl MotionSource for Motion {
    fn visit(
        &self,
        see: &mut dyn FnMut(&MotionNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        // Whoever breaks off has seen enough; that is no error.
        let _ = self.nodes.iter().try_for_each(see);
        Ok(())
    }
}
