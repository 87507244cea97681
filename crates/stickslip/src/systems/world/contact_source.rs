//! Who says which contacts may act in a step.

use crate::contact::ContactKey;

use super::{World, WorldState};

/// A contact within reach of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundContact {
    /// Its name from step to step: `owners` are the bodies a and b.
    pub key: ContactKey,
    /// Place in the world where both bodies are touched: on the surface of the free one where the other is fixed or driven,
    /// in the middle of the gap between two free ones.
    pub place: [f64; 3],
    /// Unit normal from b to a.
    pub normal: [f64; 3],
    /// Gap, negative where the bodies overlap.
    pub gap: f64,
    /// Law, an index of [`super::PairTable::laws`].
    pub law: u32,
    /// Contact of the last list whose impulse it inherits.
    pub matched: Option<u32>,
}

/// Finds the contacts of a step: [`CollisionDetection`](super::CollisionDetection) or [`DeclaredPairs`](super::DeclaredPairs).
///
/// The run owns the source; the world stays as it is. A source may keep what speeds it up, as long as the contacts it
/// finds depend only on the world, the states it has seen and its memory.
pub trait ContactSource: Send + Sync {
    /// Writes all contacts that can act in a step of length `h` from `state`, in the order of their keys. The reach
    /// covers twice the approach of each pair in the step, rotation included ([`World::reach`]).
    #[doc(hidden)]
    fn find(&mut self, world: &World, state: &WorldState, h: f64, out: &mut Vec<FoundContact>);

    /// What must be found again to go on with the same bits.
    #[doc(hidden)]
    fn memory(&self) -> serde_json::Value;

    /// Takes up a memory; false if it does not fit.
    #[doc(hidden)]
    fn recall(&mut self, memory: &serde_json::Value) -> bool;
}
