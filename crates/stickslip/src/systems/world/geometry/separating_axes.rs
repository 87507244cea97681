//! Largest separation of two convex polyhedra along the normals of their faces and the common normals of their edges.

use super::polyhedron::{Polyhedron, support};
use super::vector::{Transform, Vector, cross, direction, dot, norm, scale};

/// The axis of largest separation, from the first to the second, in the frame of the first.
///
/// Where the polyhedra overlap this is the way out of least length; where they are apart the separation is at most their
/// distance, and equal to it unless two vertices, or a vertex and an edge, are closest. Faces are preferred to edges, and
/// faces of the first to those of the second, within rounding, so that the axis does not change from step to step.
/// None if the separation exceeds `limit`.
pub(super) fn separating_axis(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Transform,
    limit: f64,
) -> Option<(Vector, f64)> {
    let tie = 1e-9 * a.smallest_extent().min(b.smallest_extent());
    let mut best = ([0.0; 3], f64::NEG_INFINITY);
    for face in a.faces() {
        let inward = a_from_b.inverse_vector(scale(face.normal, -1.0));
        let lowest =
            -dot(support(b.vertices(), inward), inward) + dot(face.normal, a_from_b.translation);
        let separation = lowest - face.offset;
        if separation > limit {
            return None;
        }
        if separation > best.1 {
            best = (face.normal, separation);
        }
    }
    let mut margin = tie;
    for face in b.faces() {
        let outward = a_from_b.vector(face.normal);
        let highest = dot(support(a.vertices(), scale(outward, -1.0)), outward);
        let separation = highest - dot(outward, a_from_b.translation) - face.offset;
        if separation > limit {
            return None;
        }
        if separation > best.1 + margin {
            best = (scale(outward, -1.0), separation);
            margin = 0.0;
        }
    }
    // Edges must beat the faces by more than rounding.
    let by_faces = best.1 + tie;
    for &own in a.edge_directions() {
        for &other in b.edge_directions() {
            let axis = cross(own, a_from_b.vector(other));
            if norm(axis) < 1e-6 {
                continue;
            }
            let Some(axis) = direction(axis) else {
                continue;
            };
            for axis in [axis, scale(axis, -1.0)] {
                let inward = a_from_b.inverse_vector(scale(axis, -1.0));
                let lowest =
                    -dot(support(b.vertices(), inward), inward) + dot(axis, a_from_b.translation);
                let separation = lowest - dot(support(a.vertices(), axis), axis);
                if separation > limit {
                    return None;
                }
                if separation > best.1.max(by_faces) {
                    best = (axis, separation);
                }
            }
        }
    }
    Some(best)
}
