//! Shapes that lie across rough ground: whatever triangle is inside them is told of.

use super::Random;
use super::shapes::{SPACE, points};
use crate::systems::world::geometry::vector::{
    Vector, add, along, cross, direction, dot, norm, scale, sub,
};
use crate::systems::world::{Pose, Shape};

/// Distance of the hull of points from a triangle along n.
fn separation(hull: &[Vector], triangle: &[Vector; 3], n: Vector) -> f64 {
    let lowest = hull
        .iter()
        .map(|&p| dot(n, p))
        .fold(f64::INFINITY, f64::min);
    let top = triangle.iter().map(|&p| dot(n, p)).fold(f64::MIN, f64::max);
    lowest - top
}

/// The largest distance of the hull of points from a triangle, over the normals of all planes through them and of all pairs of edges.
fn apart(hull: &[Vector], triangle: &[Vector; 3]) -> f64 {
    let edges: Vec<Vector> = (0..hull.len())
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .filter_map(|(i, j)| direction(sub(hull[i], hull[j])))
        .collect();
    let sides = [0, 1, 2].map(|k| sub(triangle[(k + 1) % 3], triangle[k]));
    let mut most = f64::MIN;
    let mut look = |x: Vector, y: Vector| {
        let n = cross(x, y);
        if norm(n) > 1e-9 * norm(x) * norm(y)
            && let Some(n) = direction(n)
        {
            for n in [n, scale(n, -1.0)] {
                most = most.max(separation(hull, triangle, n));
            }
        }
    };
    look(sides[0], sides[1]);
    for (k, &x) in edges.iter().enumerate() {
        edges[..k].iter().for_each(|&y| look(x, y));
        sides.iter().for_each(|&y| look(x, y));
    }
    most
}

/// Corners, edges and faces of wedges and boxes at the middle of ground that is a saddle, a pit, a summit or none of them: no triangle lies
/// deeper in a shape in front of it than the points tell.
#[test]
fn triangles_inside_a_shape_are_told_of() {
    let mut random = Random(91);
    let mut across = 0;
    for case in 0..6000 {
        let steep = random.between(0.1, 1.0);
        let heights: [f64; 9] = std::array::from_fn(|_| steep * random.between(-1.0, 1.0));
        let ground = Shape::height_field(&heights, [3, 3], [2.0, 2.0]).expect("valid");
        let at = |k: usize| {
            let (i, j) = (k % 3, k / 3);
            [i as f64 - 1.0, j as f64 - 1.0, heights[k]]
        };
        let hull: Vec<Vector> = if case % 2 == 0 {
            (0..8)
                .map(|k| std::array::from_fn(|i| if k >> i & 1 == 1 { 0.3 } else { -0.3 }))
                .collect()
        } else {
            let corners = [
                [1.0, 1.0, 1.0],
                [1.0, -1.0, -1.0],
                [-1.0, 1.0, -1.0],
                [-1.0, -1.0, 1.0],
            ];
            corners
                .map(|p| add(scale(p, 0.3), random.vector(0.15)))
                .to_vec()
        };
        // Collision detection sees shapes about their middle.
        let sum = hull.iter().fold([0.0; 3], |sum, &p| add(sum, p));
        let hull: Vec<Vector> = hull
            .iter()
            .map(|&p| along(p, -1.0 / hull.len() as f64, sum))
            .collect();
        let Ok(shape) = Shape::hull(&hull) else {
            continue;
        };
        let size = 0.6;
        // A corner, or a place on an edge, a little below or above the middle of the ground.
        let turned = Pose::turned([0.0; 3], std::array::from_fn(|_| random.between(-3.0, 3.0)));
        let mut corners: Vec<Vector> = hull.iter().map(|&p| turned.direction(p)).collect();
        corners.sort_by(|p, q| p[2].total_cmp(&q[2]));
        let (p, q) = (corners[0], corners[1]);
        let lowest = along(p, random.unit() * f64::from(case % 3 == 0), sub(q, p));
        let off: Vector = std::array::from_fn(|_| 10f64.powf(random.between(-5.0, -2.0)));
        let place = add(
            sub(at(4), lowest),
            sub(off, scale(off, 2.0 * random.unit())),
        );
        let pose = Pose {
            position: place,
            ..turned
        };
        let world: Vec<Vector> = hull.iter().map(|&p| pose.point(p)).collect();
        let floor = Pose::turned([0.0; 3], [0.0; 3]);
        let found = points((&shape, &pose), (&ground, &floor), SPACE, 1e-2);
        let cells = [0, 1, 3, 4].into_iter();
        let triangles: Vec<[Vector; 3]> = cells
            .flat_map(|c| [[c, c + 1, c + 4], [c, c + 4, c + 3]])
            .map(|triangle| triangle.map(at))
            .collect();
        let depths = triangles.iter().map(|t| -apart(&world, t));
        let depths: Vec<f64> = depths.collect();
        // Not deeper than bodies come in a step, wherever they touch.
        if depths.iter().any(|&d| d > 2e-2 * size) {
            continue;
        }
        let told = found.iter().map(|p| -p.gap).fold(0.0, f64::max);
        for (triangle, depth) in triangles.iter().zip(depths) {
            let [a, b, c] = *triangle;
            let in_front = dot(cross(sub(b, a), sub(c, a)), sub(pose.position, a)) > 0.0;
            if in_front && depth > 1e-5 * size {
                across += 1;
                assert!(
                    depth <= told + 1e-5 * size,
                    "case {case}: {depth} {told} {triangle:?} {world:?} {found:?}"
                );
            }
        }
    }
    assert!(across > 1000, "{across}");
}
