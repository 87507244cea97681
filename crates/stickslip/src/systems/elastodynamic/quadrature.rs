//! Quadrature rules on reference elements.

use super::ElementKind;

/// Point and weight.
pub type QuadraturePoint = ([f64; 3], f64);

const GAUSS_1: [(f64, f64); 1] = [(0.0, 2.0)];
const GAUSS_2: [(f64, f64); 2] = [
    (-0.577_350_269_189_625_8, 1.0),
    (0.577_350_269_189_625_8, 1.0),
];
const GAUSS_3: [(f64, f64); 3] = [
    (-0.774_596_669_241_483_4, 5.0 / 9.0),
    (0.0, 8.0 / 9.0),
    (0.774_596_669_241_483_4, 5.0 / 9.0),
];

/// Rule on the reference shape of `kind`.
///
/// With `order` the polynomial order of the shape functions, the rule of level 0 is that of the
/// stiffness (exact on affine elements), the rule of level 1 that of the mass; rotational
/// symmetry multiplies by the radius and takes the level above.
pub fn rule(kind: ElementKind, level: usize) -> Vec<QuadraturePoint> {
    let order = kind.order();
    match kind {
        ElementKind::Point => vec![([0.0; 3], 1.0)],
        ElementKind::Tri3 | ElementKind::Tri6 => match order + level {
            1 => vec![([1.0 / 3.0, 1.0 / 3.0, 0.0], 0.5)],
            2 => triangle(&[(1.0 / 6.0, 1.0 / 3.0)]),
            _ => triangle(&[
                (0.445_948_490_915_964_9, 0.223_381_589_678_011_47),
                (0.091_576_213_509_770_74, 0.109_951_743_655_321_87),
            ]),
        },
        ElementKind::Tet4 | ElementKind::Tet10 => match order + level {
            1 => vec![([0.25; 3], 1.0 / 6.0)],
            2 => tetrahedron(&[(0.138_196_601_125_010_52, 0.25)], None),
            _ => tetrahedron(
                &[
                    (0.310_885_919_263_300_6, 0.112_687_925_718_015_85),
                    (0.092_735_250_310_891_23, 0.073_493_043_116_361_95),
                ],
                Some((0.045_503_704_125_649_65, 0.042_546_020_777_081_466)),
            ),
        },
        _ => {
            let points: &[(f64, f64)] = match order {
                0 => &GAUSS_1,
                1 if level < 2 => &GAUSS_2,
                _ => &GAUSS_3,
            };
            tensor(points, kind.dimension())
        }
    }
}

/// Symmetric orbits (a, a, 1 − 2a) with weights that sum to one.
fn triangle(orbits: &[(f64, f64)]) -> Vec<QuadraturePoint> {
    let mut points = Vec::new();
    for &(a, weight) in orbits {
        let b = 1.0 - 2.0 * a;
        for (x, y) in [(a, a), (b, a), (a, b)] {
            points.push(([x, y, 0.0], 0.5 * weight));
        }
    }
    points
}

/// Orbits (a, a, a, 1 − 3a) and an orbit (a, a, ½ − a, ½ − a), weights summing to one.
fn tetrahedron(orbits: &[(f64, f64)], edges: Option<(f64, f64)>) -> Vec<QuadraturePoint> {
    let mut points = Vec::new();
    for &(a, weight) in orbits {
        let b = 1.0 - 3.0 * a;
        for x in [[a, a, a], [b, a, a], [a, b, a], [a, a, b]] {
            points.push((x, weight / 6.0));
        }
    }
    if let Some((a, weight)) = edges {
        let b = 0.5 - a;
        for x in [
            [a, a, b],
            [a, b, a],
            [b, a, a],
            [a, b, b],
            [b, a, b],
            [b, b, a],
        ] {
            points.push((x, weight / 6.0));
        }
    }
    points
}

fn tensor(line: &[(f64, f64)], dimension: usize) -> Vec<QuadraturePoint> {
    let mut points = vec![([0.0; 3], 1.0)];
    for axis in 0..dimension {
        points = points
            .iter()
            .flat_map(|&(x, weight)| {
                line.iter().map(move |&(s, w)| {
                    let mut point = x;
                    point[axis] = s;
                    (point, weight * w)
                })
            })
            .collect();
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factorial(n: u32) -> f64 {
        (1..=n).map(f64::from).product()
    }

    #[test]
    fn simplex_rules_integrate_monomials_exactly() {
        for (kind, level, degree) in [
            (ElementKind::Tri3, 0, 1),
            (ElementKind::Tri3, 1, 2),
            (ElementKind::Tri6, 1, 4),
            (ElementKind::Tet4, 0, 1),
            (ElementKind::Tet4, 1, 2),
            (ElementKind::Tet10, 1, 5),
        ] {
            let depth = if kind.dimension() == 3 { degree } else { 0 };
            for i in 0..=degree {
                for j in 0..=degree - i {
                    for k in 0..=depth.min(degree - i - j) {
                        let sum: f64 = rule(kind, level)
                            .iter()
                            .map(|(x, w)| {
                                w * x[0].powi(i as i32) * x[1].powi(j as i32) * x[2].powi(k as i32)
                            })
                            .sum();
                        let d = kind.dimension() as u32;
                        let exact =
                            factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + d);
                        assert!((sum - exact).abs() < 1e-15, "{kind:?} {level} {i} {j} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn tensor_rules_have_the_volume_of_the_cube() {
        for kind in [ElementKind::Line2, ElementKind::Quad8, ElementKind::Hex27] {
            let volume: f64 = rule(kind, 0).iter().map(|(_, w)| w).sum();
            assert!((volume - f64::powi(2.0, kind.dimension() as i32)).abs() < 1e-14);
        }
    }
}
