use super::*;

/// The bar with centre on a line of [CharlesBallard2016], 6.2: ends of C* per dφ.
#[test]
fn set_of_the_two_coordinate_bar_has_the_ends_of_the_paper() {
    let (m, j, l, theta0, mu) = (1.0, 1.0 / 3.0, 1.0, -std::f64::consts::FRAC_PI_4, 0.5);
    // Real rows n = (0, l cos), t = (1, −l sin); the unit of λ is the row n = l cos · dφ.
    let (cos, sin) = (theta0.cos(), theta0.sin());
    let w = [
        l * l * cos * cos / j,
        -l * l * cos * sin / j,
        -l * l * cos * sin / j,
        1.0 / m + l * l * sin * sin / j,
    ];
    let set = GeneralizedSet::from_cone(&w, FrictionSection::segment(mu).unwrap());
    let (lower, upper) = set.ends().unwrap();
    let per_dphi = 1.0 / (l * cos);
    assert!((lower * per_dphi + mu / (l * (cos + mu * sin))).abs() < 1e-14);
    assert!((upper * per_dphi - mu / (l * (cos - mu * sin))).abs() < 1e-14);
    // Critical coefficient: unbounded, not an end of 1e16.
    let critical = GeneralizedSet::from_cone(&w, FrictionSection::segment(1.0).unwrap());
    assert_eq!(critical.ends().unwrap().0, f64::NEG_INFINITY);
    assert!(!critical.is_bounded());
    // Per n*: divided by ‖n‖* and back.
    let norm = w[0].sqrt();
    let unit = set.per_unit_normal(norm);
    assert!((unit.ends().unwrap().0 - lower / norm).abs() < 1e-15);
    assert!((unit.per_gradient(norm).ends().unwrap().1 - upper).abs() < 1e-15);
}

/// A coupling that is rounding leaves the infinite end of an interval infinite, in every unit of length.
#[test]
fn a_coupling_of_rounding_does_not_bound_an_unbounded_set() {
    let interval = FrictionSection::interval(f64::NEG_INFINITY, 0.2).unwrap();
    for unit in [1e-3, 1.0, 1e3] {
        for coupling in [-1e-17, 0.0, 1e-17] {
            let w = [0.8, coupling * unit, coupling * unit, 0.7 * unit * unit];
            let set = GeneralizedSet::from_cone(&w, interval.clone());
            assert_eq!(
                set.ends(),
                Some((f64::NEG_INFINITY, 0.2)),
                "{unit} {coupling}"
            );
        }
    }
}

/// Support by duality against maximisation over many directions of the boundary.
#[test]
fn support_by_duality_is_the_maximum_over_the_boundary() {
    let tilt = [0.9, -0.6];
    for section in [
        FrictionSection::disc(0.5).unwrap(),
        FrictionSection::ellipse([0.7, 0.2]).unwrap(),
        FrictionSection::polytope(&[
            vec![0.4, 0.4],
            vec![-0.4, 0.4],
            vec![-0.4, -0.4],
            vec![0.4, -0.4],
        ])
        .unwrap(),
    ] {
        let set = GeneralizedSet::<PerGradient>::new(section, tilt.to_vec());
        assert!(set.is_bounded());
        for k in 0..12 {
            let angle = 0.3 + k as f64;
            let w = [angle.cos(), angle.sin()];
            let mut best = 0.0f64;
            for i in 0..20_000 {
                let phi = i as f64 * std::f64::consts::TAU / 20_000.0;
                let e = [phi.cos(), phi.sin()];
                let reach = 1.0 / (set.section().gauge(&e) + dot(&tilt, &e));
                best = best.max(reach * dot(&w, &e));
            }
            let support = set.support(&w);
            assert!(support >= best - 1e-12 && support - best < 1e-6 * support);
        }
    }
}

#[test]
fn unbounded_set_in_space_has_an_infinite_support_outside_its_domain() {
    // μ|c| > 1: one branch of a hyperbola, recession around −c.
    let set =
        GeneralizedSet::<PerGradient>::new(FrictionSection::disc(1.0).unwrap(), vec![2.0, 0.0]);
    assert!(!set.is_bounded());
    assert_eq!(set.support(&[-1.0, 0.0]), f64::INFINITY);
    assert!(set.support(&[1.0, 0.0]).is_finite());
    assert!(!set.allows(&[1.0, 0.0]) && set.allows(&[-1.0, 0.0]));
    // Along +c the set ends where |s| = 1 − 2 s.
    assert!((set.support(&[1.0, 0.0]) - 1.0 / 3.0).abs() < 1e-14);
    assert!(set.contains(&[-50.0, 0.0], 1.0, 0.0) && !set.contains(&[-50.0, 0.0], 0.0, 1e-9));
}

#[test]
fn two_points_of_one_constraint_give_vertices_and_rays() {
    // Two planar points, tilts 0.5 and −2: the second generator pair crosses the slice.
    let section = FrictionSection::hull(vec![
        FrictionSection::segment(0.4).unwrap(),
        FrictionSection::segment(0.7).unwrap(),
    ])
    .unwrap();
    let set = GeneralizedSet::<PerGradient>::new(section, vec![0.5, -2.0]);
    let SetGeometry::Polyhedron { vertices, rays } = set.geometry() else {
        panic!("polyhedral");
    };
    assert_eq!((vertices.len(), rays.len()), (3, 3));
    for vertex in &vertices {
        assert!(set.excess(vertex, 1.0).abs() < 1e-14);
    }
    for ray in &rays {
        let far: Vec<f64> = ray.iter().map(|x| 1e3 * x).collect();
        assert!(set.contains(&far, 1.0, 1e-9));
    }
}
