//! The contacts of two shapes from step to step: reuse while nothing moved, slots that follow the points.

use serde::{Deserialize, Serialize};

use super::overlay::PointPair;
use super::vector::{Transform, Vector, along, distance, dot, norm, sub};

/// No place in the last list.
pub(super) const NONE: u32 = u32::MAX;

/// Relative motion up to which geometry is kept: rotation, and shift along the surface in parts of the size.
const KEEP: f64 = 1e-6;
/// A point is the one of the last step if it lies within this part of the size.
const MATCH: f64 = 0.05;

/// A point of contact in the frames of both shapes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ContactPoint {
    /// In the frame of the first shape.
    pub on_a: Vector,
    /// In the frame of the second shape.
    pub on_b: Vector,
    /// From the first to the second, in the frame of the first.
    pub normal: Vector,
    pub gap: f64,
    pub slot: u32,
    /// Place in the last list of contacts.
    pub last: u32,
}

/// The points of two shapes and where they were computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifold {
    pub points: Vec<ContactPoint>,
    pub a_from_b: Transform,
    /// Gap up to which points were looked for.
    pub reach: f64,
}

impl Default for Manifold {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            a_from_b: Transform::IDENTITY,
            reach: 0.0,
        }
    }
}

impl Manifold {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.points.clear();
        self.reach = 0.0;
    }

    /// Brings the gaps up to date if the shapes have hardly moved against each other; false if they have.
    pub fn refresh(&mut self, a_from_b: &Transform, reach: f64, size: f64) -> bool {
        if self.points.is_empty() || reach > self.reach {
            return false;
        }
        let turned = (0..3)
            .map(|i| norm(sub(a_from_b.rotation[i], self.a_from_b.rotation[i])))
            .fold(0.0, f64::max);
        if turned > KEEP {
            return false;
        }
        for p in &self.points {
            let shift = sub(a_from_b.point(p.on_b), self.a_from_b.point(p.on_b));
            let along_surface = along(shift, -dot(shift, p.normal), p.normal);
            if norm(along_surface) > KEEP * size {
                return false;
            }
        }
        for p in &mut self.points {
            p.gap = dot(p.normal, sub(a_from_b.point(p.on_b), p.on_a));
        }
        true
    }

    /// Takes over new points; each inherits the slot of the nearest old one, as seen from either shape.
    pub fn replace(&mut self, found: &[PointPair], a_from_b: &Transform, reach: f64, size: f64) {
        let mut fresh = [None::<ContactPoint>; super::reduction::POINTS_MAX];
        let count = found.len();
        for (new, p) in fresh.iter_mut().zip(found) {
            *new = Some(ContactPoint {
                on_a: p.on_a,
                on_b: a_from_b.inverse_point(p.on_b),
                normal: p.normal,
                gap: p.gap,
                slot: NONE,
                last: NONE,
            });
        }
        // Nearest pairs first; each point is used once.
        let mut old_used = 0u32;
        loop {
            let mut best: Option<(usize, usize, f64)> = None;
            for (i, new) in fresh[..count].iter().flatten().enumerate() {
                if new.slot != NONE {
                    continue;
                }
                for (j, old) in self.points.iter().enumerate() {
                    if old_used >> j & 1 == 1 {
                        continue;
                    }
                    let d = distance(new.on_a, old.on_a).min(distance(new.on_b, old.on_b));
                    if d <= MATCH * size && best.is_none_or(|b| d < b.2) {
                        best = Some((i, j, d));
                    }
                }
            }
            let Some((i, j, _)) = best else { break };
            old_used |= 1 << j;
            if let Some(new) = &mut fresh[i] {
                new.slot = self.points[j].slot;
                new.last = self.points[j].last;
            }
        }
        // Points that were not there before take free slots.
        for i in 0..count {
            if fresh[i].is_some_and(|p| p.slot == NONE) {
                let taken = |slot: u32| fresh[..count].iter().flatten().any(|p| p.slot == slot);
                let free = (0..).find(|&slot| !taken(slot)).unwrap_or(0);
                if let Some(new) = &mut fresh[i] {
                    new.slot = free;
                }
            }
        }
        self.points.clear();
        self.points.extend(fresh[..count].iter().flatten());
        self.points.sort_by_key(|p| p.slot);
        self.a_from_b = *a_from_b;
        self.reach = reach;
    }
}
