use super::Random;
use crate::systems::world::geometry::overlay::PointPair;
use crate::systems::world::geometry::pairs::{Workspace, collide};
use crate::systems::world::geometry::solid::Solid;
use crate::systems::world::geometry::vector::{
    Transform, Vector, along, cross, dot, norm, scale, sub,
};
use crate::systems::world::{Dimension, Pose, Shape};

/// Contact points of two placed shapes, in the world: normals from the first to the second.
pub(super) fn points(
    (a, at_a): (&Shape, &Pose),
    (b, at_b): (&Shape, &Pose),
    dimension: Dimension,
    reach: f64,
) -> Vec<PointPair> {
    let (frame, other) = (Transform::of(at_a), Transform::of(at_b));
    let mut workspace = Workspace::default();
    let solids = [a, b].map(|s| Solid::new(s, dimension).unwrap());
    collide(
        &solids[0],
        &solids[1],
        &frame.relative(&other),
        (reach, 1.0),
        &mut workspace,
    );
    workspace
        .points
        .iter()
        .map(|p| PointPair {
            on_a: frame.point(p.on_a),
            on_b: frame.point(p.on_b),
            normal: frame.vector(p.normal),
            gap: p.gap,
        })
        .collect()
}

pub(super) const SPACE: Dimension = Dimension::Space;
const PLANE: Dimension = Dimension::Plane;

fn close(a: Vector, b: Vector, tolerance: f64) -> bool {
    norm(sub(a, b)) <= tolerance
}

/// Every expected place has a point and the other way round; all have the normal and the gap.
fn expect(
    found: &[PointPair],
    (places, normal, gap): (&[Vector], Vector, f64),
    tolerance: f64,
    what: &str,
) {
    assert_eq!(found.len(), places.len(), "{what}: {found:?} {places:?}");
    for p in found {
        assert!(
            close(p.normal, normal, tolerance),
            "{what}: {p:?} {normal:?}"
        );
        assert!((p.gap - gap).abs() <= tolerance, "{what}: {p:?} {gap}");
        let middle = scale(super::super::vector::add(p.on_a, p.on_b), 0.5);
        assert!(
            places.iter().any(|&q| close(middle, q, tolerance)),
            "{what}: {middle:?} {places:?}"
        );
        let apart = sub(p.on_b, p.on_a);
        assert!(close(apart, scale(normal, gap), tolerance), "{what}: {p:?}");
    }
}

fn box_hull(sides: Vector) -> Shape {
    let points: Vec<Vector> = (0..8)
        .map(|k: u32| {
            let pick = |bit: usize| sides[bit] * (f64::from(k >> bit & 1) - 0.5);
            [pick(0), pick(1), pick(2)]
        })
        .collect();
    Shape::hull(&points).unwrap()
}

/// A prism over a regular polygon, with many edges so that closest points are used, not separating axes.
pub(super) fn prism(corners: usize, radius: f64, length: f64) -> Shape {
    let mut points = Vec::new();
    for k in 0..corners {
        let angle = std::f64::consts::TAU * k as f64 / corners as f64;
        for z in [-0.5 * length, 0.5 * length] {
            points.push([radius * angle.cos(), radius * angle.sin(), z]);
        }
    }
    Shape::hull(&points).unwrap()
}

#[test]
fn boxes_and_hulls_that_share_a_face_touch_at_the_corners_of_their_overlap() {
    let mut random = Random(11);
    for case in 0..2000 {
        let frame = random.pose();
        let sides = [0, 1].map(|_| [0, 1, 2].map(|_| random.between(0.5, 1.5)));
        // Exactly touching in a third of the cases, slightly open or overlapping in the others.
        let gap = [0.0, random.between(0.0, 1e-3), random.between(-1e-3, 0.0)][case % 3];
        let shift = [random.between(-0.4, 0.4), random.between(-0.4, 0.4)];
        let [s, t] = sides;
        let above = Pose::at([shift[0], shift[1], 0.5 * (s[2] + t[2]) + gap]);
        let upper = frame.times(&above);
        let hulls = case % 2 == 1;
        let shape = |sides: Vector| {
            if hulls {
                box_hull(sides)
            } else {
                Shape::cuboid(sides).unwrap()
            }
        };
        let found = points((&shape(s), &frame), (&shape(t), &upper), SPACE, 1e-2);
        let range = |k: usize| {
            let low = (-0.5 * s[k]).max(shift[k] - 0.5 * t[k]);
            let high = (0.5 * s[k]).min(shift[k] + 0.5 * t[k]);
            [low, high]
        };
        let z = 0.5 * s[2] + 0.5 * gap;
        let mut corners = Vec::new();
        for x in range(0) {
            for y in range(1) {
                corners.push(frame.point([x, y, z]));
            }
        }
        let normal = frame.direction([0.0, 0.0, 1.0]);
        expect(
            &found,
            (&corners, normal, gap),
            1e-10,
            &format!("case {case}"),
        );
    }
}

#[test]
fn prisms_end_to_end_have_the_normal_of_their_faces() {
    let mut random = Random(12);
    for case in 0..500 {
        let frame = random.pose();
        let (m, n) = (7 + case % 4, 9 + case % 3);
        let (a, b) = (prism(m, 0.6, 1.0), prism(n, 0.5, 0.8));
        let gap = [0.0, 1e-4, -1e-4][case % 3];
        let upper = Pose::turned(
            [0.05, -0.1, 0.9 + gap],
            [0.0, 0.0, random.between(0.0, 3.0)],
        );
        let upper = frame.times(&upper);
        let normal = frame.direction([0.0, 0.0, 1.0]);
        let found = points((&a, &frame), (&b, &upper), SPACE, 1e-3);
        assert!(found.len() >= 4, "case {case}: {found:?}");
        for p in found {
            assert!(close(p.normal, normal, 1e-12), "case {case}: {p:?}");
            assert!((p.gap - gap).abs() < 1e-11, "case {case}: {p:?}");
        }
    }
}

#[test]
fn crossing_edges_of_boxes_and_prisms_touch_at_one_point() {
    let mut random = Random(13);
    for case in 0..500 {
        let frame = random.pose();
        // Two boxes standing on edge, their edges crossing at an angle above each other.
        let on_edge = |angle: f64, z: f64| {
            let lean = Pose::turned([0.0, 0.0, 0.0], [std::f64::consts::FRAC_PI_4, 0.0, 0.0]);
            let turn = Pose::turned([0.0, 0.0, z], [0.0, 0.0, angle]);
            turn.times(&lean)
        };
        let gap = [0.0, random.between(0.0, 1e-3), random.between(-1e-3, 0.0)][case % 3];
        let half = 0.5f64.sqrt();
        let angle = random.between(0.3, 2.8);
        let lower = frame.times(&on_edge(0.0, -half));
        let upper = frame.times(&on_edge(angle, half + gap));
        let cube = if case % 2 == 0 {
            Shape::cuboid([1.0; 3]).unwrap()
        } else {
            box_hull([1.0; 3])
        };
        let found = points((&cube, &lower), (&cube, &upper), SPACE, 1e-3);
        let normal = frame.direction([0.0, 0.0, 1.0]);
        let place = frame.point([0.0, 0.0, 0.5 * gap]);
        // Points of the sloping faces may be within reach of each other near the crossing.
        let deepest = found
            .iter()
            .min_by(|p, q| p.gap.total_cmp(&q.gap))
            .unwrap_or_else(|| panic!("case {case}: no point"));
        expect(
            &[*deepest],
            (&[place], normal, gap),
            1e-10,
            &format!("case {case}"),
        );
    }
}

#[test]
fn cylinders_touch_along_lines_at_ends_and_crossing() {
    let mut random = Random(14);
    for case in 0..500 {
        let frame = random.pose();
        let gap = [0.0, random.between(0.0, 1e-3), random.between(-1e-3, 0.0)][case % 3];
        let normal = frame.direction([0.0, 0.0, 1.0]);
        let cylinder = Shape::cylinder(0.3, 1.0).unwrap();
        let lying = |angle: f64, z: f64| {
            let down = Pose::turned([0.0; 3], [0.0, std::f64::consts::FRAC_PI_2, 0.0]);
            Pose::turned([0.0, 0.0, z], [0.0, 0.0, angle]).times(&down)
        };
        // On a box: along a line of the length of the cylinder.
        let slab = Shape::cuboid([3.0, 3.0, 0.5]).unwrap();
        let upper = frame.times(&lying(random.between(0.0, 3.0), 0.25 + 0.3 + gap));
        let found = points((&slab, &frame), (&cylinder, &upper), SPACE, 1e-3);
        let ends = [-0.5, 0.5].map(|z| along(upper.point([0.0, 0.0, z]), -0.3 - 0.5 * gap, normal));
        expect(&found, (&ends, normal, gap), 2e-8, &format!("line {case}"));
        // Standing on the box: at eight points of the rim.
        let upper = frame.times(&Pose::at([0.1, -0.2, 0.25 + 0.5 + gap]));
        let found = points((&slab, &frame), (&cylinder, &upper), SPACE, 1e-3);
        assert_eq!(found.len(), 8, "case {case}");
        for p in &found {
            assert!(close(p.normal, normal, 1e-12) && (p.gap - gap).abs() < 1e-11);
        }
        // Crossing another cylinder: one point.
        let angle = random.between(0.2, 2.9);
        let (low, high) = (
            frame.times(&lying(0.0, 0.0)),
            frame.times(&lying(angle, 0.6 + gap)),
        );
        let found = points((&cylinder, &low), (&cylinder, &high), SPACE, 1e-3);
        let place = frame.point([0.0, 0.0, 0.3 + 0.5 * gap]);
        expect(
            &found,
            (&[place], normal, gap),
            1e-6,
            &format!("crossing {case}"),
        );
        // Along another cylinder, shifted: the ends of the part in common.
        let high = frame.times(&Pose::at([0.2, 0.0, 0.6 + gap]).times(&lying(0.0, 0.0)));
        let found = points((&cylinder, &low), (&cylinder, &high), SPACE, 1e-3);
        let ends = [-0.3, 0.5].map(|x| frame.point([x, 0.0, 0.3 + 0.5 * gap]));
        expect(
            &found,
            (&ends, normal, gap),
            1e-6,
            &format!("parallel {case}"),
        );
    }
}

#[test]
fn capsules_touch_each_other_and_boxes_where_they_should() {
    let mut random = Random(15);
    for case in 0..500 {
        let frame = random.pose();
        let gap = [0.0, random.between(0.0, 1e-2), random.between(-1e-2, 0.0)][case % 3];
        let normal = frame.direction([0.0, 0.0, 1.0]);
        let capsule = Shape::capsule(0.2, 1.0).unwrap();
        let lying = |angle: f64, z: f64| {
            let down = Pose::turned([0.0; 3], [0.0, std::f64::consts::FRAC_PI_2, 0.0]);
            Pose::turned([0.0, 0.0, z], [0.0, 0.0, angle]).times(&down)
        };
        let low = frame.times(&lying(0.0, 0.0));
        let high = frame.times(&lying(random.between(0.2, 2.9), 0.4 + gap));
        let found = points((&capsule, &low), (&capsule, &high), SPACE, 2e-2);
        let place = frame.point([0.0, 0.0, 0.2 + 0.5 * gap]);
        expect(&found, (&[place], normal, gap), 1e-12, "crossing");
        let high = frame.times(&lying(0.0, 0.4 + gap));
        let found = points((&capsule, &low), (&capsule, &high), SPACE, 2e-2);
        let ends = [-0.5, 0.5].map(|x| frame.point([x, 0.0, 0.2 + 0.5 * gap]));
        expect(&found, (&ends, normal, gap), 1e-12, "parallel");
        let slab = Shape::cuboid([3.0, 3.0, 0.5]).unwrap();
        let high = frame.times(&lying(random.between(0.0, 3.0), 0.45 + gap));
        let found = points((&slab, &frame), (&capsule, &high), SPACE, 2e-2);
        let ends = [-0.5, 0.5].map(|z| along(high.point([0.0, 0.0, z]), -0.2 - 0.5 * gap, normal));
        expect(&found, (&ends, normal, gap), 1e-11, "on a box");
    }
}

#[test]
fn balls_meet_faces_edges_and_corners_along_the_normal_there() {
    let mut random = Random(16);
    let solids = [
        Shape::cuboid([1.0, 0.8, 0.6]).unwrap(),
        box_hull([1.0, 0.8, 0.6]),
    ];
    for case in 0..1000 {
        let frame = random.pose();
        let shape = &solids[case % 2];
        // A point of a face, an edge or a corner, and an outward direction of its cone.
        let half = [0.5, 0.4, 0.3];
        let count = 1 + case % 3;
        let first = case / 3 % 3;
        let mut place = [0, 1, 2].map(|k| random.between(-0.9, 0.9) * half[k]);
        let mut outward = [0.0; 3];
        for j in 0..count {
            let k = (first + j) % 3;
            let side = if random.unit() < 0.5 { -1.0 } else { 1.0 };
            place[k] = side * half[k];
            outward[k] = side * random.between(0.1, 1.0);
        }
        let outward = scale(outward, 1.0 / norm(outward));
        let (radius, gap) = (random.between(0.05, 2.0), random.between(-0.02, 0.02));
        let ball = Shape::ball(radius).unwrap();
        let centre = along(place, radius + gap, outward);
        let at = Pose::turned(frame.point(centre), random.vector(3.0));
        let found = points((shape, &frame), (&ball, &at), SPACE, 0.03);
        let normal = frame.direction(outward);
        let middle = frame.point(along(place, 0.5 * gap, outward));
        expect(
            &found,
            (&[middle], normal, gap),
            1e-9,
            &format!("case {case}"),
        );
    }
    // Cylinder: side, face and rim.
    let cylinder = Shape::cylinder(0.5, 0.8).unwrap();
    for case in 0..300 {
        let frame = random.pose();
        let angle = random.between(-3.0, 3.0);
        let radial = [angle.cos(), angle.sin(), 0.0];
        let lean = random.between(0.1, 1.4);
        let (place, outward) = match case % 3 {
            0 => (
                [0.5 * radial[0], 0.5 * radial[1], random.between(-0.3, 0.3)],
                radial,
            ),
            1 => ([0.3 * radial[0], 0.3 * radial[1], -0.4], [0.0, 0.0, -1.0]),
            _ => (
                [0.5 * radial[0], 0.5 * radial[1], 0.4],
                [lean.cos() * radial[0], lean.cos() * radial[1], lean.sin()],
            ),
        };
        let gap = random.between(-0.02, 0.02);
        let ball = Shape::ball(0.2).unwrap();
        let at = Pose::at(frame.point(along(place, 0.2 + gap, outward)));
        let found = points((&ball, &at), (&cylinder, &frame), SPACE, 0.03);
        let normal = scale(frame.direction(outward), -1.0);
        let middle = frame.point(along(place, 0.5 * gap, outward));
        expect(
            &found,
            (&[middle], normal, gap),
            1e-12,
            &format!("cylinder {case}"),
        );
    }
}

#[test]
fn shapes_on_a_half_space_touch_with_their_lowest_points() {
    let mut random = Random(17);
    for case in 0..300 {
        let frame = random.pose();
        let ground = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let gap = [0.0, random.between(0.0, 1e-3), random.between(-1e-3, 0.0)][case % 3];
        let normal = frame.direction([0.0, 0.0, 1.0]);
        let cuboid = Shape::cuboid([0.4, 0.6, 0.8]).unwrap();
        let at = frame.times(&Pose::turned([0.3, 0.1, 0.4 + gap], [0.0, 0.0, 1.0]));
        let found = points((&ground, &frame), (&cuboid, &at), SPACE, 1e-2);
        let corners: Vec<Vector> = [[-0.2, -0.3], [0.2, -0.3], [0.2, 0.3], [-0.2, 0.3]]
            .iter()
            .map(|c| along(at.point([c[0], c[1], -0.4]), -0.5 * gap, normal))
            .collect();
        expect(&found, (&corners, normal, gap), 1e-12, "box");
        // A tilted cylinder stands on the lowest point of its rim: height R sin + half cos.
        let tilt = random.between(0.05, 0.6);
        let cylinder = Shape::cylinder(0.3, 1.0).unwrap();
        let height = 0.3 * tilt.sin() + 0.5 * tilt.cos() + gap;
        let at = frame.times(&Pose::turned([0.0, 0.0, height], [tilt, 0.0, 0.0]));
        let found = points((&ground, &frame), (&cylinder, &at), SPACE, 2e-3);
        let deepest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        assert!((deepest - gap).abs() < 1e-12, "case {case}: {found:?}");
    }
}

/// Edges and corners lie farther from the core of a shape than its faces: what leans on triangles is found as deep as it is.
#[test]
fn edges_and_corners_that_lean_on_triangles_are_found_where_they_are() {
    let mut random = Random(77);
    let ground = Shape::height_field(&[0.25; 63], [9, 7], [4.0, 3.0]).unwrap();
    let corners: Vec<[f64; 3]> = (0..8)
        .map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| bit as f64 - 0.5))
        .map(|[x, y, z]| [0.7 * x, 0.5 * y, 0.3 * z])
        .collect();
    let spike = vec![
        [0.4, 0.0, -0.2],
        [-0.2, 0.3, -0.2],
        [-0.2, -0.3, -0.2],
        [0.0, 0.0, 0.6],
    ];
    let farthest = |points: &[[f64; 3]], d: [f64; 3]| {
        let along = |p: &[f64; 3]| p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
        points.iter().map(along).fold(f64::NEG_INFINITY, f64::max)
    };
    for case in 0..400 {
        let tilt = random.between(0.02, 1.4);
        let turn = random.between(0.0, std::f64::consts::TAU);
        let lean = Pose::turned([0.0; 3], [tilt * turn.cos(), tilt * turn.sin(), 0.0]);
        let down = lean.body_direction([0.0, 0.0, -1.0]);
        let lateral = down[0].hypot(down[1]);
        let (shape, below) = match case % 4 {
            0 => (Shape::cuboid([0.7, 0.5, 0.3]), farthest(&corners, down)),
            1 => (
                Shape::cylinder(0.3, 1.0),
                0.3 * lateral + 0.5 * down[2].abs(),
            ),
            2 => {
                let rim = 0.5 * lateral - 0.4 * down[2];
                (Shape::cone(0.5, 0.8), rim.max(0.4 * down[2]))
            }
            _ => (Shape::hull(&spike), farthest(&spike, down)),
        };
        let gap = random.between(-1e-3, 1e-3);
        let place = [
            random.between(-0.6, 0.6),
            random.between(-0.4, 0.4),
            0.25 + below + gap,
        ];
        let at = Pose {
            position: place,
            ..lean
        };
        let found = points(
            (&ground, &Pose::at([0.0; 3])),
            (&shape.unwrap(), &at),
            SPACE,
            2e-3,
        );
        let deepest = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        assert!(
            (deepest - gap).abs() < 1e-9,
            "case {case}, gap {gap}: {found:?}"
        );
    }
}

#[test]
fn flat_ground_of_triangles_has_no_edges_for_what_rolls_or_lies_on_it() {
    let mut random = Random(18);
    let counts = [9, 7];
    let ground = Shape::height_field(&[0.25; 63], counts, [4.0, 3.0]).unwrap();
    for case in 0..300 {
        let frame = random.pose();
        let normal = frame.direction([0.0, 0.0, 1.0]);
        let gap = [0.0, random.between(0.0, 1e-3), random.between(-1e-3, 0.0)][case % 3];
        // At the nodes and edges of the grid as well as inside its cells.
        let place = match case % 4 {
            0 => [0.5, 0.0],
            1 => [0.5, random.between(-0.5, 0.5)],
            _ => [random.between(-1.0, 1.0), random.between(-1.0, 1.0)],
        };
        let ball = Shape::ball(0.4).unwrap();
        let at = Pose::at(frame.point([place[0], place[1], 0.65 + gap]));
        let found = points((&ground, &frame), (&ball, &at), SPACE, 0.05);
        let middle = frame.point([place[0], place[1], 0.25 + 0.5 * gap]);
        expect(
            &found,
            (&[middle], normal, gap),
            1e-9,
            &format!("ball {case}"),
        );
        let cuboid = Shape::cuboid([0.7, 0.5, 0.3]).unwrap();
        let turn = [0.0, 0.0, random.between(0.0, 3.0)];
        let at = frame.times(&Pose::turned([place[0], place[1], 0.4 + gap], turn));
        let found = points((&ground, &frame), (&cuboid, &at), SPACE, 5e-3);
        assert!((4..=8).contains(&found.len()), "case {case}: {found:?}");
        for p in &found {
            assert!(close(p.normal, normal, 1e-10), "case {case}: {p:?}");
            assert!((p.gap - gap).abs() < 1e-10, "case {case}: {p:?}");
        }
        // The corners of the box are among the points, so that it tips where it should.
        for c in [[-0.35, -0.25], [0.35, -0.25], [0.35, 0.25], [-0.35, 0.25]] {
            let corner = at.point([c[0], c[1], -0.15]);
            let near = found.iter().map(|p| norm(sub(p.on_b, corner)));
            assert!(
                near.fold(f64::INFINITY, f64::min) < 0.02,
                "case {case}: {found:?}"
            );
        }
    }
}

#[test]
fn polygons_of_the_plane_touch_along_edges_and_at_vertices() {
    let mut random = Random(19);
    for case in 0..1000 {
        let frame = random.planar_pose();
        let gap = [0.0, random.between(0.0, 1e-3), random.between(-1e-3, 0.0)][case % 3];
        let normal = frame.direction([0.0, 1.0, 0.0]);
        let (lower, upper) = (
            Shape::rectangle([1.0, 0.6]).unwrap(),
            Shape::rectangle([0.8, 0.4]).unwrap(),
        );
        let shift = random.between(-0.5, 0.5);
        let at = frame.times(&Pose::at([shift, 0.5 + gap, 0.0]));
        let found = points((&lower, &frame), (&upper, &at), PLANE, 1e-2);
        let ends = [(-0.5f64).max(shift - 0.4), 0.5f64.min(shift + 0.4)]
            .map(|x| frame.point([x, 0.3 + 0.5 * gap, 0.0]));
        expect(
            &found,
            (&ends, normal, gap),
            1e-12,
            &format!("edges {case}"),
        );
        // A triangle on its point.
        let triangle = Shape::polygon(&[[0.0, 0.0], [0.5, 0.9], [-0.3, 0.8]]).unwrap();
        let at = frame.times(&Pose::at([0.1, 0.3 + gap, 0.0]));
        let found = points((&triangle, &at), (&lower, &frame), PLANE, 2e-3);
        let place = frame.point([0.1, 0.3 + 0.5 * gap, 0.0]);
        expect(
            &found,
            (&[place], scale(normal, -1.0), gap),
            1e-12,
            &format!("point {case}"),
        );
        // A disc at an edge and at a corner, a capsule lying and one on its end.
        let (radius, lean) = (random.between(0.1, 2.0), random.between(0.0, 1.5));
        let disc = Shape::ball(radius).unwrap();
        let outward = if case % 2 == 0 {
            [0.0, 1.0, 0.0]
        } else {
            [lean.sin(), lean.cos(), 0.0]
        };
        let place = if case % 2 == 0 {
            [0.2, 0.3, 0.0]
        } else {
            [0.5, 0.3, 0.0]
        };
        let at = Pose::at(frame.point(along(place, radius + gap, outward)));
        let found = points((&lower, &frame), (&disc, &at), PLANE, 2e-3);
        let middle = frame.point(along(place, 0.5 * gap, outward));
        expect(
            &found,
            (&[middle], frame.direction(outward), gap),
            1e-11,
            &format!("disc {case}"),
        );
        let capsule = Shape::capsule(0.1, 0.5).unwrap();
        let at = frame.times(&Pose::at([0.0, 0.4 + gap, 0.0]));
        let found = points((&lower, &frame), (&capsule, &at), PLANE, 2e-3);
        let ends = [-0.25, 0.25].map(|x| frame.point([x, 0.3 + 0.5 * gap, 0.0]));
        expect(
            &found,
            (&ends, normal, gap),
            1e-12,
            &format!("capsule {case}"),
        );
        let upright = frame.times(&Pose::planar(
            0.0,
            0.3 + 0.35 + gap,
            std::f64::consts::FRAC_PI_2,
        ));
        let found = points((&lower, &frame), (&capsule, &upright), PLANE, 2e-3);
        let place = frame.point([0.0, 0.3 + 0.5 * gap, 0.0]);
        expect(
            &found,
            (&[place], normal, gap),
            1e-12,
            &format!("upright {case}"),
        );
    }
}

#[test]
fn gaps_are_true_separations_whatever_the_orientation() {
    // No pair of random shapes may show a gap smaller than the separation along its own normal, measured on all points of
    // both shapes, and a shape moved apart by its depth must be free.
    let mut random = Random(20);
    let shapes = [
        Shape::cuboid([0.9, 0.6, 0.7]).unwrap(),
        prism(7, 0.5, 0.8),
        Shape::cylinder(0.4, 0.9).unwrap(),
        Shape::cone(0.5, 0.9).unwrap(),
        Shape::capsule(0.3, 0.6).unwrap(),
    ];
    let mut met = 0;
    for case in 0..4000 {
        let (a, b) = (&shapes[case % 5], &shapes[case / 5 % 5]);
        let at_a = Pose::turned([0.0; 3], random.vector(3.0));
        let at_b = Pose::turned(random.vector(0.9), random.vector(3.0));
        let found = points((a, &at_a), (b, &at_b), SPACE, 0.1);
        let Some(p) = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)) else {
            continue;
        };
        met += 1;
        let solids = [a, b].map(|s| Solid::new(s, SPACE).unwrap());
        let (fa, fb) = (Transform::of(&at_a), Transform::of(&at_b));
        let top = solids[0].height(fa.inverse_vector(p.normal)) + dot(p.normal, fa.translation);
        let low = dot(p.normal, fb.translation)
            - solids[1].height(fb.inverse_vector(scale(p.normal, -1.0)));
        assert!(
            (p.gap - (low - top)).abs() < 1e-7,
            "case {case}: {p:?} {}",
            low - top
        );
        // Moved along the normal until they touch, nothing overlaps any more.
        let mut moved = at_b;
        moved.position = along(moved.position, 1e-6 - p.gap, p.normal);
        let after = points((a, &at_a), (b, &moved), SPACE, 0.1);
        let deepest = after.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        // Shapes that touch within a millionth may be measured along a direction that is the best nearby only; boxes are not.
        let boxes = case % 5 == 0 && case / 5 % 5 == 0;
        let slack = if boxes { 1e-9 } else { 1e-4 };
        assert!(deepest > -slack, "case {case}: {p:?} then {deepest}");
    }
    assert!(met > 1000, "{met}");
}

#[test]
fn frames_of_cross_products_are_right_handed() {
    let mut random = Random(21);
    for _ in 0..100 {
        let n = random.vector(1.0);
        let n = scale(n, 1.0 / norm(n));
        let [t, b] = super::super::vector::tangents(n);
        assert!(close(cross(t, b), n, 1e-14));
    }
}
