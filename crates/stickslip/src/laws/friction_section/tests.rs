//! Convex analysis of the sections: support, projection and gauge agree with each other.

use super::*;

#[test]
fn bad_data_is_refused_with_its_value() {
    assert_eq!(
        FrictionSection::disc(-0.1).unwrap_err(),
        LawError::Coefficient { value: -0.1 }
    );
    assert!(FrictionSection::disc(f64::NAN).is_err());
    assert_eq!(
        FrictionSection::interval(0.1, 0.2).unwrap_err(),
        LawError::Interval {
            lower: 0.1,
            upper: 0.2
        }
    );
    let away = [vec![1.0, 0.0], vec![2.0, 0.0], vec![1.0, 1.0]];
    match FrictionSection::polytope(&away).unwrap_err() {
        LawError::OriginOutside { distance } => assert!((distance - 1.0).abs() < 1e-12),
        other => panic!("{other:?}"),
    }
    let uneven = [vec![1.0, 0.0], vec![2.0]];
    assert_eq!(
        FrictionSection::polytope(&uneven).unwrap_err(),
        LawError::VertexDimension {
            index: 1,
            expected: 2,
            found: 1
        }
    );
    assert_eq!(
        FrictionSection::product(vec![FrictionSection::None]).unwrap_err(),
        LawError::EmptyPart { index: 0 }
    );
}

/// Deterministic numbers in [-1, 1).
struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self, n: usize, size: f64) -> Vec<f64> {
        (0..n).map(|_| size * self.signed()).collect()
    }
}

/// Sections with the accuracy of their projection.
fn sections(random: &mut Random) -> Vec<(FrictionSection, f64)> {
    let mu = 0.2 + random.signed().abs();
    let points = |random: &mut Random, d: usize| {
        let mut points: Vec<Vec<f64>> = (0..2 * d + 3).map(|_| random.vector(d, mu)).collect();
        // 0 inside for sure.
        let opposite: Vec<Vec<f64>> = points
            .iter()
            .map(|p| p.iter().map(|x| -0.7 * x).collect())
            .collect();
        points.extend(opposite);
        points
    };
    let disc = || FrictionSection::disc(mu).unwrap();
    let ellipse =
        FrictionSection::ellipse_from_map([[mu, random.signed()], [random.signed(), 0.5 * mu]])
            .unwrap();
    let polygon = FrictionSection::polytope(&points(random, 2)).unwrap();
    let from_support =
        crate::laws::SetFromSupport::new(2, move |d: &[f64]| mu * d[0].hypot(2.0 * d[1]));
    let with_point =
        crate::laws::SetFromSupport::new(2, move |d: &[f64]| mu * d[0].hypot(2.0 * d[1]))
            .with_support_point(move |d, out| {
                let length = d[0].hypot(2.0 * d[1]).max(f64::MIN_POSITIVE);
                out[0] = mu * d[0] / length;
                out[1] = 4.0 * mu * d[1] / length;
            });
    let ball_by_point = crate::laws::SetFromSupport::new(3, move |d: &[f64]| mu * norm(d))
        .with_support_point(move |d, out| {
            let length = norm(d).max(f64::MIN_POSITIVE);
            out.iter_mut()
                .zip(d)
                .for_each(|(o, d)| *o = mu * d / length);
        });
    let from_projection =
        crate::laws::SetFromProjection::new(2, move |x: &[f64], out: &mut [f64]| {
            out.iter_mut()
                .zip(x)
                .for_each(|(o, x)| *o = x.clamp(-mu, 2.0 * mu));
        });
    vec![
        (disc(), 1e-15),
        (FrictionSection::interval(-mu, 0.3).unwrap(), 1e-15),
        (ellipse.clone(), 1e-13),
        (polygon.clone(), 1e-14),
        (
            FrictionSection::polytope(&points(random, 3)).unwrap(),
            1e-12,
        ),
        (
            FrictionSection::product(vec![disc(), FrictionSection::segment(0.1).unwrap()]).unwrap(),
            1e-15,
        ),
        (
            FrictionSection::hull(vec![disc(), FrictionSection::segment(0.1).unwrap()]).unwrap(),
            1e-13,
        ),
        (
            FrictionSection::hull(vec![polygon, ellipse]).unwrap(),
            1e-11,
        ),
        (FrictionSection::general(from_projection).unwrap(), 1e-13),
        (FrictionSection::general(with_point).unwrap(), 1e-13),
        (FrictionSection::general(from_support).unwrap(), 1e-11),
        (FrictionSection::general(ball_by_point).unwrap(), 1e-13),
    ]
}

#[test]
fn projection_support_and_gauge_fit_together() {
    let mut worst = vec![[0.0_f64; 5]; 12];
    for seed in 0..300 {
        let mut random = Random(seed);
        for (kind, (section, tolerance)) in sections(&mut random).iter().enumerate() {
            let d = section.dimension();
            let scale = 0.1 + random.signed().abs();
            let x = random.vector(d, 3.0);
            let mut y = vec![0.0; d];
            section.project(&x, scale, &mut y);
            // Optimality of the projection: x − y supports scale D at y.
            let outward: Vec<f64> = x.iter().zip(&y).map(|(a, b)| a - b).collect();
            let defect = (scale * section.support(&outward) - dot(&outward, &y)).abs();
            // The support is attained at the support point, which belongs to D.
            let mut point = vec![0.0; d];
            section.support_point(&x, &mut point);
            let attained = (section.support(&x) - dot(&x, &point)).abs();
            let inside = section.distance(&point, 1.0);
            // Moreau's decomposition of the cone: x = a + b, a ∈ K, b in the polar cone, a·b = 0.
            let whole = random.vector(d + 1, 3.0);
            let mut a = vec![0.0; d + 1];
            section.project_on_cone(&whole, &mut a);
            let b: Vec<f64> = whole.iter().zip(&a).map(|(x, a)| x - a).collect();
            let polar = (b[0] + section.support(&b[1..])).max(0.0);
            let cone = polar
                .max(dot(&a, &b).abs())
                .max(section.distance(&a[1..], a[0]));
            for (cell, value) in worst[kind].iter_mut().zip([defect, attained, inside, cone]) {
                *cell = cell.max(value);
            }
            for value in [defect, attained, inside, cone] {
                assert!(
                    value <= 100.0 * tolerance,
                    "seed {seed}, set {kind}: {value:e} of {tolerance:e}"
                );
            }
            // Gauge: on the boundary of gauge D.
            let gauge = section.gauge(&x);
            let back: Vec<f64> = x.iter().map(|x| x / gauge).collect();
            let outside = section.distance(&back, 1.0);
            worst[kind][4] = worst[kind][4].max(outside);
            assert!(
                section.distance(&back, 0.9) > 1e-5,
                "seed {seed}, set {kind}: gauge too large"
            );
        }
    }
    for (kind, cell) in worst.iter().enumerate() {
        println!("set {kind}: projection, support, point, cone, gauge {cell:?}");
        assert!(cell[4] <= 1e-9, "set {kind}: gauge {:e}", cell[4]);
    }
}

#[test]
fn scaling_multiplies_the_support_and_an_empty_scale_is_a_point() {
    let mut random = Random(3);
    for (section, tolerance) in sections(&mut random) {
        let x = random.vector(section.dimension(), 1.0);
        let twice = section.scaled(2.0).support(&x);
        assert!((twice - 2.0 * section.support(&x)).abs() <= 10.0 * tolerance);
        assert!(section.scaled(0.0).is_frictionless() && !section.is_frictionless());
        let mut out = vec![1.0; x.len()];
        section.project(&x, 0.0, &mut out);
        assert!(out.iter().all(|&y| y == 0.0));
    }
    let unbounded = FrictionSection::interval(-1.0, f64::INFINITY).unwrap();
    assert!(!unbounded.is_bounded() && FrictionSection::disc(0.3).unwrap().is_bounded());
    assert_eq!(unbounded.scaled(0.0).support(&[1.0]), 0.0);
    assert_eq!(unbounded.support(&[1.0]), f64::INFINITY);
    assert_eq!(unbounded.support(&[-1.0]), 1.0);
}

/// A point far outside belongs to the corner in whose normal cone it lies, however narrowly.
#[test]
fn the_nearest_corner_of_a_polygon_is_found_from_afar() {
    let corners = [[0.5, 0.1], [-0.2, 0.4], [-0.4, -0.3], [0.3, -0.4]];
    let points = corners.map(|c| c.to_vec());
    let polygon = FrictionSection::polytope(&points).unwrap();
    for k in 0..4 {
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
        let edge = [b[0] - a[0], b[1] - a[1]];
        let outwards = [edge[1], -edge[0]];
        for far in [1.0, 1e4, 1e8, 1e12] {
            // Off the normal of the edge by 1e-8: towards one end, or the other.
            for (off, corner) in [(-1e-8, a), (1e-8, b)] {
                let point = [0, 1].map(|i| corner[i] + far * (outwards[i] + off * edge[i]));
                let mut nearest = [0.0; 2];
                polygon.project(&point, 1.0, &mut nearest);
                let apart = (nearest[0] - corner[0]).hypot(nearest[1] - corner[1]);
                assert!(
                    apart < 1e-14,
                    "from {far:e}: {nearest:?} instead of {corner:?}"
                );
            }
        }
    }
}
