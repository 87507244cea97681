//! Edges, corners and rims that meet: places, normals and gaps known exactly, at random orientations.

use super::Random;
use super::shapes::{SPACE, points, prism};
use crate::systems::world::geometry::vector::{
    Transform, Vector, add, along, cross, direction, dot, norm, scale, sub,
};
use crate::systems::world::{Pose, Shape};

/// A gap of every sign.
fn gap_of(case: usize, random: &mut Random) -> f64 {
    [
        0.0,
        random.between(1e-6, 1e-3),
        random.between(-1e-3, -1e-6),
    ][case % 3]
}

/// The point of least gap is where it should be.
fn expect_nearest(
    (a, at_a): (&Shape, &Pose),
    (b, at_b): (&Shape, &Pose),
    (place, normal, gap): (Vector, Vector, f64),
    [gap_within, normal_within, place_within]: [f64; 3],
    what: &str,
) {
    // Within a short reach and a long one, in which there are many points.
    for reach in [2e-3, 0.3] {
        let found = points((a, at_a), (b, at_b), SPACE, reach);
        let nearest = found
            .iter()
            .min_by(|p, q| p.gap.total_cmp(&q.gap))
            .unwrap_or_else(|| panic!("{what}: no point"));
        let middle = scale(add(nearest.on_a, nearest.on_b), 0.5);
        let off = [
            (nearest.gap - gap).abs(),
            norm(sub(nearest.normal, normal)),
            norm(sub(middle, place)),
        ];
        assert!(
            off[0] <= gap_within && off[1] <= normal_within && off[2] <= place_within,
            "{what}: off by {off:?} {nearest:?} {place:?} {normal:?} {gap}"
        );
    }
}

/// A pose whose axes x and z are the given unit vectors, orthogonal to each other.
fn framed(x: Vector, z: Vector, origin: Vector) -> Pose {
    let y = cross(z, x);
    let target = Transform {
        rotation: std::array::from_fn(|i| [x[i], y[i], z[i]]),
        translation: origin,
    };
    // The quaternion of a rotation matrix, by its largest component.
    let r = &target.rotation;
    let squares = [
        1.0 + r[0][0] + r[1][1] + r[2][2],
        1.0 + r[0][0] - r[1][1] - r[2][2],
        1.0 - r[0][0] + r[1][1] - r[2][2],
        1.0 - r[0][0] - r[1][1] + r[2][2],
    ];
    let products = [
        [0.0, r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]],
        [r[2][1] - r[1][2], 0.0, r[0][1] + r[1][0], r[0][2] + r[2][0]],
        [r[0][2] - r[2][0], r[0][1] + r[1][0], 0.0, r[1][2] + r[2][1]],
        [r[1][0] - r[0][1], r[0][2] + r[2][0], r[1][2] + r[2][1], 0.0],
    ];
    let largest = (0..4)
        .max_by(|&i, &j| squares[i].total_cmp(&squares[j]))
        .unwrap();
    let root = squares[largest].sqrt();
    let mut rotation = products[largest].map(|p| 0.5 * p / root);
    rotation[largest] = 0.5 * root;
    Pose {
        position: origin,
        rotation,
    }
}

/// A cylinder whose rim passes through the origin with the normal z there, inside the corner of the rim; its tangent is
/// turned by `turn` about z.
fn with_rim_at_origin(radius: f64, half: f64, lean: f64, turn: f64) -> Pose {
    // In the frame of the rim: radial direction cos, axis sin of the lean along the normal.
    let tangent = [turn.cos(), turn.sin(), 0.0];
    let across = cross([0.0, 0.0, 1.0], tangent);
    let radial = add(
        scale([0.0, 0.0, 1.0], lean.cos()),
        scale(across, lean.sin()),
    );
    let axis = add(
        scale([0.0, 0.0, 1.0], lean.sin()),
        scale(across, -lean.cos()),
    );
    let origin = along(scale(radial, -radius), -half, axis);
    framed(radial, axis, origin)
}

/// The same pose upside down: z becomes −z.
fn overturned(pose: &Pose, height: f64) -> Pose {
    let over = Pose::turned([0.0, 0.0, height], [std::f64::consts::PI, 0.0, 0.0]);
    over.times(pose)
}

#[test]
fn edges_of_prisms_cross_near_their_ends() {
    let mut random = Random(31);
    let (radius, length) = (0.4, 1.0);
    let shape = prism(24, radius, length);
    for case in 0..600 {
        let frame = random.pose();
        let gap = gap_of(case, &mut random);
        // An edge on top along x, and one below at an angle to it, each shifted along itself.
        let on_top = |shift: f64| {
            let x = [0.0, 0.0, 1.0];
            framed(x, [1.0, 0.0, 0.0], [shift, 0.0, -radius])
        };
        let shift = |random: &mut Random| 0.49 * length * (2.0 * random.unit() - 1.0);
        let lower = on_top(shift(&mut random));
        let turn = Pose::turned([0.0; 3], [0.0, 0.0, random.between(0.2, 2.9)]);
        let upper = overturned(&turn.times(&on_top(shift(&mut random))), gap);
        expect_nearest(
            (&shape, &frame.times(&lower)),
            (&shape, &frame.times(&upper)),
            (
                frame.point([0.0, 0.0, 0.5 * gap]),
                frame.direction([0.0, 0.0, 1.0]),
                gap,
            ),
            [1e-3 * 1e-9, 1e-9, 1e-9],
            &format!("case {case}"),
        );
    }
}

/// Gap, normal and place, whether rims and round sides touch, overlap or lie apart.
const EXACT: [f64; 3] = [1e-12, 1e-10, 1e-10];

/// A cube with an edge along x of its own above the origin at a height, turned about z and shifted along itself.
fn on_edge(turn: f64, height: f64, shift: f64) -> Pose {
    let edge = [turn.cos(), turn.sin(), 0.0];
    let half_diagonal = 0.5f64.sqrt();
    let up = add([0.0, 0.0, 1.0], cross(edge, [0.0, 0.0, 1.0]));
    let centre = add(scale(edge, shift), [0.0, 0.0, half_diagonal + height]);
    framed(edge, scale(up, half_diagonal), centre)
}

#[test]
fn rims_of_cylinders_meet_edges_and_rims() {
    let mut random = Random(32);
    let (radius, half) = (0.3, 0.4);
    let cylinder = Shape::cylinder(radius, 2.0 * half).unwrap();
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    for case in 0..600 {
        let frame = random.pose();
        let gap = gap_of(case, &mut random);
        let lean = random.between(0.2, 1.3);
        let lower = with_rim_at_origin(radius, half, lean, 0.0);
        let answer = (
            frame.point([0.0, 0.0, 0.5 * gap]),
            frame.direction([0.0, 0.0, 1.0]),
            gap,
        );
        let lower = frame.times(&lower);
        // A cube on its edge, which passes above the rim at an angle, not in its middle.
        let turn = random.between(0.5, 2.6);
        let tilted = on_edge(turn, gap, random.between(-0.45, 0.45));
        expect_nearest(
            (&cylinder, &lower),
            (&cube, &frame.times(&tilted)),
            answer,
            EXACT,
            &format!("edge {case}"),
        );
        // Another rim, turned.
        let other = with_rim_at_origin(radius, half, random.between(0.2, 1.3), turn);
        let upper = frame.times(&overturned(&other, gap));
        expect_nearest(
            (&cylinder, &lower),
            (&cylinder, &upper),
            answer,
            EXACT,
            &format!("rim {case}"),
        );
    }
}

/// Sides of cylinders and cones under edges, corners and rims.
#[test]
fn round_sides_meet_edges_corners_and_rims() {
    let mut random = Random(34);
    let (radius, half) = (0.3, 0.4);
    let slant = f64::hypot(radius, 2.0 * half);
    let cylinder = Shape::cylinder(radius, 2.0 * half).unwrap();
    let cone = Shape::cone(radius, 2.0 * half).unwrap();
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    for case in 0..600 {
        let frame = random.pose();
        let gap = gap_of(case, &mut random);
        let answer = (
            frame.point([0.0, 0.0, 0.5 * gap]),
            frame.direction([0.0, 0.0, 1.0]),
            gap,
        );
        let turn = random.between(0.5, 2.6);
        let upper = [
            (&cube, on_edge(turn, gap, random.between(-0.45, 0.45))),
            (&cube, {
                // On its corner.
                let lean = random.between(-0.3, 0.3);
                let third = (1f64 / 3.0).sqrt();
                let corner = [-0.5; 3];
                let down = direction([third + lean, third, third - lean]).unwrap();
                let x = direction(cross(down, [1.0, 0.0, 0.0])).unwrap();
                // The rotation that takes `down` to z.
                let turned = Pose::turned([0.0; 3], [0.0, 0.0, turn]);
                let level = turned.times(&Pose {
                    position: [0.0; 3],
                    rotation: {
                        let [w, a, b, c] = framed(x, down, [0.0; 3]).rotation;
                        [w, -a, -b, -c]
                    },
                });
                let at = level.direction(corner);
                Pose {
                    position: [-at[0], -at[1], gap - at[2]],
                    ..level
                }
            }),
            (&cylinder, {
                let lean = random.between(0.2, 1.3);
                overturned(&with_rim_at_origin(radius, half, lean, turn), gap)
            }),
        ];
        let along_side = random.between(0.05, 0.95);
        let lower = [
            (
                &cylinder,
                framed(
                    [0.0, 0.0, 1.0],
                    [1.0, 0.0, 0.0],
                    [half * (2.0 * along_side - 1.0), 0.0, -radius],
                ),
            ),
            (&cone, {
                // Its side looks along z where its axis leans by the angle of the side.
                let (rise, out) = (radius / slant, 2.0 * half / slant);
                let (radial, axis) = ([-rise, 0.0, out], [out, 0.0, rise]);
                // From the middle to a point of the side, in these directions.
                let (r, z) = (radius * along_side, half - 2.0 * half * along_side);
                let point = add(scale(radial, r), scale(axis, z));
                framed(radial, axis, scale(point, -1.0))
            }),
        ];
        for (below, at_below) in &lower {
            for (above, at_above) in &upper {
                expect_nearest(
                    (below, &frame.times(at_below)),
                    (above, &frame.times(at_above)),
                    answer,
                    EXACT,
                    &format!("case {case}: {below:?} under {above:?}"),
                );
            }
        }
    }
}

#[test]
fn tips_of_cones_meet_at_their_tips() {
    let mut random = Random(33);
    let (radius, half) = (0.3, 0.4);
    let cone = Shape::cone(radius, 2.0 * half).unwrap();
    for case in 0..300 {
        let frame = random.pose();
        let gap = random.between(1e-6, 1e-3);
        let leaning = |random: &mut Random| {
            let (angle, turn) = (random.between(0.0, 0.6), random.between(-3.0, 3.0));
            let lean = [angle * turn.cos(), angle * turn.sin(), 0.0];
            Pose::turned([0.0; 3], lean).times(&Pose::at([0.0, 0.0, -half]))
        };
        let lower = leaning(&mut random);
        let upper = overturned(&leaning(&mut random), gap);
        expect_nearest(
            (&cone, &frame.times(&lower)),
            (&cone, &frame.times(&upper)),
            (
                frame.point([0.0, 0.0, 0.5 * gap]),
                frame.direction([0.0, 0.0, 1.0]),
                gap,
            ),
            [1e-3 * 1e-9, 1e-9, 1e-9],
            &format!("case {case}"),
        );
    }
}

/// Where the lowest point of a rim lies beside the fold between two triangles, its core may lie over the other one: no point is told that
/// is not on both surfaces, or beside a hollow fold on the plane of one of the triangles.
#[test]
fn points_beside_a_fold_lie_on_both_surfaces() {
    let mut random = Random(59);
    let (radius, half) = (0.5, 0.4);
    let cone = Shape::cone(radius, 2.0 * half).expect("valid");
    let slant = radius.hypot(2.0 * half);
    let mut found = 0;
    for case in 0..600 {
        let heights: [f64; 4] = std::array::from_fn(|_| random.between(-0.05, 0.05));
        let ground = Shape::height_field(&heights, [2, 2], [4.0, 4.0]).expect("valid");
        let [h00, h10, h01, h11] = heights;
        // The ground is divided along x = y.
        let heights = |x: f64, y: f64| {
            let (u, v) = (0.25 * x + 0.5, 0.25 * y + 0.5);
            let below = h00 + u * (h10 - h00) + v * (h11 - h10);
            let above = h00 + v * (h01 - h00) + u * (h11 - h01);
            if u > v {
                [below, above]
            } else {
                [above, below]
            }
        };
        let hollow = h10 + h01 > h00 + h11;
        let height = |x: f64, y: f64| heights(x, y)[0];
        let tilt = random.between(0.02, 0.2);
        let turn = random.between(0.0, std::f64::consts::TAU);
        let rotation = [tilt * turn.cos(), tilt * turn.sin(), 0.0];
        // The lowest point of the base.
        let level = Pose::turned([0.0; 3], rotation);
        let down = level.body_direction([0.0, 0.0, -1.0]);
        let lateral = down[0].hypot(down[1]);
        let rim = [
            radius * down[0] / lateral,
            radius * down[1] / lateral,
            -half,
        ];
        let lowest = level.point(rim);
        let place = random.between(-0.5, 0.5);
        let (x, y) = (place + random.between(-0.02, 0.02), place);
        let z = height(x, y) + gap_of(case, &mut random);
        let at = Pose::turned([x - lowest[0], y - lowest[1], z - lowest[2]], rotation);
        let floor = Pose::turned([0.0; 3], [0.0; 3]);
        for pair in points((&cone, &at), (&ground, &floor), SPACE, 2e-3) {
            found += 1;
            let [u, v, w] = at.body_point(pair.on_a);
            let side = (2.0 * half * u.hypot(v) + radius * (w - half)) / slant;
            let off = side.max(-w - half).abs();
            let [p, q, r] = pair.on_b;
            let [here, there] = heights(p, q);
            let mut below = (r - here).abs();
            if hollow && there < here {
                below = below.min((r - there).abs());
            }
            assert!(off < 1e-6 && below < 1e-6, "{case}: {off} {below} {pair:?}");
        }
    }
    assert!(found > 300, "{found}");
}

/// A flat face over a summit of a ground whose edges may be hollow touches it with the normal of the face, wherever on the face, near its rim too.
#[test]
fn flat_faces_rest_on_summits() {
    let mut random = Random(83);
    let half = 0.4;
    let shapes = [
        Shape::cuboid([1.0, 1.0, 2.0 * half]).expect("valid"),
        Shape::cylinder(0.5, 2.0 * half).expect("valid"),
        Shape::cone(0.5, 2.0 * half).expect("valid"),
    ];
    let mut tried = 0;
    for case in 0..3000 {
        let mut heights: [f64; 9] = std::array::from_fn(|_| random.between(-0.4, 0.0));
        heights[4] = 0.0;
        let ground = Shape::height_field(&heights, [3, 3], [4.0, 4.0]).expect("valid");
        let tilt = random.between(0.0, 0.2);
        let turn = random.between(0.0, std::f64::consts::TAU);
        let rotation = [tilt * turn.cos(), tilt * turn.sin(), 0.0];
        let level = Pose::turned([0.0; 3], rotation);
        let up = level.direction([0.0, 0.0, 1.0]);
        // The neighbours of the summit lie below the face.
        let below = (0..9).filter(|k| *k != 4).all(|k| {
            let (i, j) = (k % 3, k / 3);
            let c = [2.0 * (i as f64 - 1.0), 2.0 * (j as f64 - 1.0), heights[k]];
            dot(up, c) < -0.01
        });
        if !below {
            continue;
        }
        tried += 1;
        let deep = case % 4 == 0;
        let (r, angle) = (
            if deep { 0.4 } else { 0.499 } * random.unit(),
            random.between(0.0, std::f64::consts::TAU),
        );
        let touching = level.point([r * angle.cos(), r * angle.sin(), -half]);
        // Some lie deeper than the core below the surface; nearer to the rim they would come off sideways.
        let gap = if deep {
            -0.05
        } else {
            gap_of(case, &mut random)
        };
        let at = Pose::turned(sub(scale(up, gap), touching), rotation);
        let floor = Pose::turned([0.0; 3], [0.0; 3]);
        expect_nearest(
            (&shapes[case / 3 % 3], &at),
            (&ground, &floor),
            (scale(up, 0.5 * gap), scale(up, -1.0), gap),
            [1e-9; 3],
            &format!("case {case}"),
        );
    }
    assert!(tried > 500, "{tried}");
}
