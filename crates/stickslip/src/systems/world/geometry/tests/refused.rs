use crate::systems::world::{
    Dimension, MeshFile, PlacedShape, Shape, ShapeError, Weight, WorldBody, WorldError,
};

fn of_density(density: f64, shape: Shape, dimension: Dimension) -> Result<(), WorldError> {
    let weight = Weight {
        density: Some(density),
        ..Weight::default()
    };
    let shapes: [PlacedShape; 1] = [shape.into()];
    WorldBody::of_shapes("b", &shapes, &weight, dimension).map(|_| ())
}

#[test]
fn shapes_without_extent_are_refused_with_the_number() {
    for (result, text) in [
        (
            Shape::ball(0.0),
            "the radius of a ball must be positive and finite, found 0",
        ),
        (Shape::ball(f64::NAN), "found NaN"),
        (
            Shape::cuboid([1.0, -1.0, 1.0]),
            "every side of a box must be positive and finite, found -1",
        ),
        (
            Shape::cylinder(1.0, f64::INFINITY),
            "the length of a cylinder",
        ),
        (Shape::capsule(1.0, 0.0), "the length of a capsule"),
        (Shape::half_space([0.0; 3]), "zero vector"),
        (Shape::segment([[1.0, 1.0]; 2]), "the length of a segment"),
        (
            Shape::polygon(&[[0.0, 0.0], [1.0, 0.0]]),
            "at least 3 points, found 2",
        ),
        (
            Shape::polygon(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]),
            "a polygon is flat",
        ),
        (
            Shape::polygon(&[[0.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]]),
            "not convex at its point 2",
        ),
        (Shape::height_field(&[0.0; 5], [2, 3], [1.0, 1.0]), "2 rows"),
        (
            Shape::height_field(&[0.0, 0.0, 0.0, f64::NAN], [2, 2], [1.0, 1.0]),
            "point 3",
        ),
    ] {
        let message = result.expect_err(text).to_string();
        assert!(message.contains(text), "{message}");
    }
    // A five-pointed star turns the same way at every point, twice around.
    let star: Vec<[f64; 2]> = (0..5)
        .map(|k| {
            let angle = f64::from(k) * 2.0 * std::f64::consts::TAU / 5.0;
            [angle.cos(), angle.sin()]
        })
        .collect();
    assert!(matches!(
        Shape::polygon(&star),
        Err(ShapeError::NotConvex { .. })
    ));
}

#[test]
fn flat_and_broken_hulls_are_refused() {
    let square = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
    ];
    assert!(matches!(Shape::hull(&square), Err(ShapeError::Flat { .. })));
    let line = [[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]];
    assert!(matches!(Shape::hull(&line), Err(ShapeError::Flat { .. })));
    assert!(matches!(
        Shape::hull(&[[1.0; 3]; 5]),
        Err(ShapeError::Flat { .. })
    ));
    assert!(matches!(
        Shape::hull(&square[..3]),
        Err(ShapeError::FewPoints { .. })
    ));
    let mut broken = square.to_vec();
    broken.push([0.0, f64::NAN, 1.0]);
    assert!(matches!(
        Shape::hull(&broken),
        Err(ShapeError::NotFinite { index: 4, .. })
    ));
    // Flat within rounding is flat; a thin plate is not.
    let mut plate = square.to_vec();
    plate.push([0.5, 0.5, 1e-12]);
    assert!(matches!(Shape::hull(&plate), Err(ShapeError::Flat { .. })));
    plate[4][2] = 1e-3;
    assert!(Shape::hull(&plate).is_ok());
}

#[test]
fn weights_and_dimensions_are_checked() {
    let ball = || Shape::ball(1.0).unwrap();
    let message = of_density(0.0, ball(), Dimension::Space)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "body `b`: the density is 0, expected a positive number"
    );
    assert!(of_density(f64::NAN, ball(), Dimension::Plane).is_err());
    let polygon = Shape::rectangle([1.0, 1.0]).unwrap();
    let message = of_density(1.0, polygon, Dimension::Space)
        .unwrap_err()
        .to_string();
    assert_eq!(message, "body `b`: a polygon does not exist in space");
    let cylinder = Shape::cylinder(1.0, 1.0).unwrap();
    assert!(of_density(1.0, cylinder, Dimension::Plane).is_err());
    let segment = Shape::segment([[0.0, 0.0], [1.0, 0.0]]).unwrap();
    let message = of_density(1.0, segment, Dimension::Plane)
        .unwrap_err()
        .to_string();
    assert!(message.contains("the mass of its shapes is 0"), "{message}");
}

#[test]
fn meshes_are_checked_and_read_from_files() {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    let tetrahedron = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let closed = Shape::mesh(&points, &tetrahedron).unwrap();
    let volume = closed.measure(Dimension::Space).unwrap().mass.mass;
    assert!((volume - 1.0 / 6.0).abs() < 1e-15);
    // With a hole it bounds nothing.
    let open = Shape::mesh(&points, &tetrahedron[..3]).unwrap();
    assert_eq!(open.measure(Dimension::Space).unwrap().mass.mass, 0.0);
    assert!(of_density(1.0, open, Dimension::Space).is_err());
    assert!(Shape::mesh(&points, &[[0, 1, 7]]).is_err());
    assert!(Shape::mesh(&points, &[[0, 1, 1]]).is_err());
    assert!(Shape::mesh(&points, &[]).is_err());

    let folder = std::env::temp_dir().join(format!("stickslip-mesh-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("tetrahedron.obj");
    let mut text = String::from("# a corner\n");
    for p in points {
        text.push_str(&format!("v {} {} {}\n", p[0], p[1], p[2]));
    }
    text.push_str("f 1 3 2\nf 1/1 2/2/2 4//3\nf -4 -1 -2\nf 2 3 4\n");
    std::fs::write(&path, &text).unwrap();
    let read = MeshFile::read(&path).unwrap();
    assert_eq!(read.triangles, tetrahedron.to_vec());
    std::fs::write(&path, "v 0 0 0\nf 1 2 3\n").unwrap();
    let message = MeshFile::read(&path).unwrap_err().to_string();
    assert!(
        message.ends_with("line 2: vertex 2 is not known here"),
        "{message}"
    );

    // The same as text and as binary STL.
    let (mut text, mut binary) = (String::from("solid t\n"), vec![0u8; 80]);
    binary.extend((tetrahedron.len() as u32).to_le_bytes());
    for t in tetrahedron {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        binary.extend([0u8; 12]);
        for k in t {
            let p = points[k as usize];
            text.push_str(&format!("vertex {} {} {}\n", p[0], p[1], p[2]));
            for x in p {
                let bits: u32 = if x == 1.0 { 0x3f80_0000 } else { 0 };
                binary.extend(bits.to_le_bytes());
            }
        }
        text.push_str("endloop\nendfacet\n");
        binary.extend([0u8; 2]);
    }
    text.push_str("endsolid t\n");
    for (name, bytes) in [("text.stl", text.as_bytes()), ("binary.stl", &binary)] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let mesh = MeshFile::read(&path).unwrap();
        let shape = Shape::mesh(&mesh.vertices, &mesh.triangles).unwrap();
        let volume = shape.measure(Dimension::Space).unwrap().mass.mass;
        assert!((volume - 1.0 / 6.0).abs() < 1e-15, "{name}");
    }
    let short = folder.join("short.stl");
    std::fs::write(&short, &binary[..120]).unwrap();
    let message = MeshFile::read(&short).unwrap_err().to_string();
    assert!(message.contains("4 triangles need 284"), "{message}");
    std::fs::remove_dir_all(&folder).unwrap();
}
