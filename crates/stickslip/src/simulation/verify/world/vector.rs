//! Vectors of three numbers.

pub(super) type Vector = [f64; 3];

pub(super) fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] + b[k])
}

pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] - b[k])
}

/// a + s b.
pub(super) fn along(a: Vector, s: f64, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] + s * b[k])
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(super) fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// The unit vector along a; none for zero.
pub(super) fn unit(a: Vector) -> Option<Vector> {
    let length = norm(a);
    (length > 0.0).then(|| a.map(|x| x / length))
}

/// Largest of both; a NaN survives.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() || b > a { b } else { a }
}

/// Distance of a point from a segment.
pub(super) fn to_segment(p: Vector, a: Vector, b: Vector) -> f64 {
    let u = sub(b, a);
    let square = dot(u, u);
    let s = if square > 0.0 {
        (dot(sub(p, a), u) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    norm(sub(p, along(a, s, u)))
}
