use super::Random;
use crate::systems::world::geometry::mass::MassProperties;
use crate::systems::world::geometry::vector::Transform;
use crate::systems::world::{Dimension, PlacedShape, Pose, Shape, Weight, WorldBody};

fn of(shape: &Shape, dimension: Dimension) -> MassProperties {
    MassProperties::of_shape(shape, dimension).unwrap()
}

fn close(a: &MassProperties, b: &MassProperties, tolerance: f64) {
    let scale = b
        .inertia
        .iter()
        .flatten()
        .fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!((a.mass - b.mass).abs() <= tolerance * b.mass, "{a:?} {b:?}");
    for k in 0..3 {
        assert!(
            (a.centre[k] - b.centre[k]).abs() <= tolerance,
            "{a:?} {b:?}"
        );
        for j in 0..3 {
            let error = (a.inertia[k][j] - b.inertia[k][j]).abs();
            assert!(error <= tolerance * scale, "{a:?} {b:?}");
        }
    }
}

/// Mass properties of a body of revolution about z by slices: discs of given radius, exact in the limit.
fn by_slices(radius: impl Fn(f64) -> f64, (low, high): (f64, f64)) -> MassProperties {
    let n = 200_000;
    let dz = (high - low) / n as f64;
    let (mut mass, mut first, mut across, mut axial) = (0.0, 0.0, 0.0, 0.0);
    for k in 0..n {
        let z = low + (k as f64 + 0.5) * dz;
        let r = radius(z);
        let m = std::f64::consts::PI * r * r * dz;
        mass += m;
        first += m * z;
        axial += 0.5 * m * r * r;
        across += 0.25 * m * r * r + m * z * z;
    }
    let centre = first / mass;
    across -= mass * centre * centre;
    MassProperties {
        mass,
        centre: [0.0, 0.0, centre],
        inertia: [[across, 0.0, 0.0], [0.0, across, 0.0], [0.0, 0.0, axial]],
    }
}

#[test]
fn bodies_of_revolution_agree_with_their_slices() {
    let space = Dimension::Space;
    let (r, l): (f64, f64) = (0.3, 0.8);
    let ball = of(&Shape::ball(r).unwrap(), space);
    close(&ball, &by_slices(|z| (r * r - z * z).sqrt(), (-r, r)), 1e-7);
    let cylinder = of(&Shape::cylinder(r, l).unwrap(), space);
    close(&cylinder, &by_slices(|_| r, (-l / 2.0, l / 2.0)), 1e-9);
    let cone = of(&Shape::cone(r, l).unwrap(), space);
    close(
        &cone,
        &by_slices(|z| r * (0.5 - z / l), (-l / 2.0, l / 2.0)),
        1e-9,
    );
    let capsule = of(&Shape::capsule(r, l).unwrap(), space);
    let outline = |z: f64| {
        let over = (z.abs() - l / 2.0).max(0.0);
        (r * r - over * over).max(0.0).sqrt()
    };
    close(
        &capsule,
        &by_slices(outline, (-l / 2.0 - r, l / 2.0 + r)),
        1e-7,
    );
}

#[test]
fn hull_of_a_box_at_any_place_weighs_what_the_box_weighs() {
    let mut random = Random(1);
    for _ in 0..50 {
        let sides = [0, 1, 2].map(|_| random.between(0.1, 2.0));
        let pose = random.pose();
        let expected =
            of(&Shape::cuboid(sides).unwrap(), Dimension::Space).placed(&Transform::of(&pose));
        let corners: Vec<[f64; 3]> = (0..8)
            .map(|k| {
                let pick = |bit: usize| sides[bit] * (f64::from((k >> bit & 1) as u32) - 0.5);
                pose.point([pick(0), pick(1), pick(2)])
            })
            .collect();
        close(
            &of(&Shape::hull(&corners).unwrap(), Dimension::Space),
            &expected,
            1e-11,
        );
    }
}

#[test]
fn tetrahedron_has_the_moments_of_the_textbook() {
    // A regular tetrahedron of edge a: volume a³/(6√2), moments m a²/20 about every axis through its centre.
    let a: f64 = 1.7;
    let s = a / 8f64.sqrt();
    let points = [[s, s, s], [s, -s, -s], [-s, s, -s], [-s, -s, s]];
    let found = of(&Shape::hull(&points).unwrap(), Dimension::Space);
    let mass = a.powi(3) / (6.0 * 2f64.sqrt());
    let moment = mass * a * a / 20.0;
    let mut inertia = [[0.0; 3]; 3];
    for (k, row) in inertia.iter_mut().enumerate() {
        row[k] = moment;
    }
    let expected = MassProperties {
        mass,
        centre: [0.0; 3],
        inertia,
    };
    close(&found, &expected, 1e-12);
}

#[test]
fn polygons_of_the_plane_have_exact_moments() {
    // Regular n-gon of circumradius R: area n/2 R² sin(2π/n), polar moment m R² (2 + cos(2π/n))/6.
    let mut random = Random(2);
    for n in 3..12 {
        let (radius, at, turn) = (random.between(0.2, 3.0), random.vector(4.0), random.unit());
        let step = std::f64::consts::TAU / n as f64;
        let points: Vec<[f64; 2]> = (0..n)
            .map(|k| {
                let angle = turn + step * k as f64;
                [at[0] + radius * angle.cos(), at[1] + radius * angle.sin()]
            })
            .collect();
        let found = of(&Shape::polygon(&points).unwrap(), Dimension::Plane);
        let mass = 0.5 * n as f64 * radius * radius * step.sin();
        let moment = mass * radius * radius * (2.0 + step.cos()) / 6.0;
        assert!((found.mass - mass).abs() < 1e-12 * mass);
        assert!((found.inertia[2][2] - moment).abs() < 1e-11 * moment);
        assert!((found.centre[0] - at[0]).abs() < 1e-12 && (found.centre[1] - at[1]).abs() < 1e-12);
    }
    // A capsule of the plane is a rectangle and two half-discs: by strips across.
    let (r, l): (f64, f64) = (0.3, 1.1);
    let (mut mass, mut polar) = (0.0, 0.0);
    let n = 200_000;
    for k in 0..n {
        let dx = (l + 2.0 * r) / n as f64;
        let x = -l / 2.0 - r + (k as f64 + 0.5) * dx;
        let over = (x.abs() - l / 2.0).max(0.0);
        let y = (r * r - over * over).sqrt();
        mass += 2.0 * y * dx;
        polar += 2.0 * y * dx * x * x + 2.0 / 3.0 * y.powi(3) * dx;
    }
    let capsule = of(&Shape::capsule(r, l).unwrap(), Dimension::Plane);
    assert!((capsule.mass - mass).abs() < 1e-7 * mass);
    assert!((capsule.inertia[2][2] - polar).abs() < 1e-7 * polar);
}

#[test]
fn two_half_boxes_are_one_box_and_the_principal_frame_is_found() {
    let mut random = Random(3);
    for _ in 0..30 {
        let frame = random.pose();
        let (a, b, c) = (1.2, 0.7, 0.4);
        let half = Shape::cuboid([a / 2.0, b, c]).unwrap();
        let shapes: Vec<PlacedShape> = [-a / 4.0, a / 4.0]
            .iter()
            .map(|&x| PlacedShape {
                shape: half.clone(),
                pose: frame.times(&Pose::at([x, 0.0, 0.0])),
            })
            .collect();
        let weight = Weight {
            density: Some(3.0),
            ..Weight::default()
        };
        let (body, principal) =
            WorldBody::of_shapes("box", &shapes, &weight, Dimension::Space).unwrap();
        let m = 3.0 * a * b * c;
        assert!((body.mass - m).abs() < 1e-12 * m);
        let mut found = body.inertia;
        let mut expected = [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| m * s / 12.0);
        found.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        for k in 0..3 {
            assert!((found[k] - expected[k]).abs() < 1e-12 * expected[2]);
            assert!((principal.position[k] - frame.position[k]).abs() < 1e-12);
        }
        // The moments belong to the axes: the inertia in the given frame comes back.
        for k in 0..3 {
            let mut axis = [0.0; 3];
            axis[k] = 1.0;
            let world = principal.direction(axis);
            let in_box = frame.body_direction(world);
            let moments = [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| m * s / 12.0);
            let along: f64 = (0..3).map(|j| moments[j] * in_box[j] * in_box[j]).sum();
            assert!((along - body.inertia[k]).abs() < 1e-12 * expected[2]);
        }
        // A corner of the first half is where it was.
        let corner = [-a / 4.0, b / 2.0, c / 2.0];
        let placed = principal.point(body.shapes[0].pose.point(corner));
        let expected = shapes[0].pose.point(corner);
        for k in 0..3 {
            assert!((placed[k] - expected[k]).abs() < 1e-12);
        }
    }
}

#[test]
fn mass_alone_scales_the_inertia_and_given_moments_win() {
    let shape = [Shape::cuboid([1.0, 2.0, 3.0]).unwrap().into()];
    let mass = Weight {
        mass: Some(12.0),
        ..Weight::default()
    };
    let (body, _) = WorldBody::of_shapes("a", &shape, &mass, Dimension::Space).unwrap();
    assert_eq!(body.inertia, [13.0, 10.0, 5.0]);
    let given = Weight {
        inertia: Some([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 5.0]]),
        ..mass
    };
    let (body, _) = WorldBody::of_shapes("a", &shape, &given, Dimension::Space).unwrap();
    assert_eq!((body.mass, body.inertia), (12.0, [3.0, 4.0, 5.0]));
}
