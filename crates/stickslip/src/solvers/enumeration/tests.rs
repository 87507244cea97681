use super::*;
use crate::contact::{ContactBlock, ContactKey};
use crate::laws::FrictionSection;

fn block(start: usize, section: FrictionSection) -> ContactBlock {
    ContactBlock {
        key: ContactKey::default(),
        start,
        size: 1 + section.dimension(),
        section,
        flow_rule: FlowRule::Coulomb,
        kind: BlockKind::Unilateral { minimum: 0.0 },
    }
}

/// Rod of half length 1, J = 1/3, at 60°: W of its tip.
fn rod(mu: f64, q: [f64; 2]) -> ContactProblem {
    let (s, c) = (60f64.to_radians().sin(), 60f64.to_radians().cos());
    let w = vec![
        1.0 + 3.0 * c * c,
        -3.0 * s * c,
        -3.0 * s * c,
        1.0 + 3.0 * s * s,
    ];
    let section = FrictionSection::segment(mu).unwrap();
    ContactProblem::from_dense(w, q.to_vec(), vec![block(0, section)])
}

#[test]
fn rod_in_the_painleve_region_has_one_or_three_solutions() {
    let settings = EnumerationSettings::default();
    let pressed = enumerate(&rod(2.0, [-0.00981, -5.0]), &settings).unwrap();
    assert_eq!(pressed.method, Method::Exact);
    assert_eq!(pressed.solutions.len(), 1);
    let stick = &pressed.solutions[0];
    assert_eq!(stick.modes, [Mode::Stick]);
    assert!((stick.impulse[0] - 1.632).abs() < 5e-4 && (stick.impulse[1] - 2.191).abs() < 5e-4);
    let lifted = enumerate(&rod(2.0, [0.0118, -5.0]), &settings).unwrap();
    let modes: Vec<Mode> = lifted.solutions.iter().map(|s| s.modes[0]).collect();
    assert_eq!(modes, [Mode::Open, Mode::Stick, Mode::SlipUpper]);
    assert!(lifted.solutions.iter().all(|s| s.residual < 1e-12));
    assert_eq!(lifted.verdict(), Verdict::Indeterminate { solutions: 3 });
}

#[test]
fn at_the_critical_coefficient_a_grazing_rod_has_a_segment() {
    let (s, c) = (60f64.to_radians().sin(), 60f64.to_radians().cos());
    let critical = (1.0 / 3.0 + c * c) / (s * c);
    let found = enumerate(&rod(critical, [0.0, -1.0]), &EnumerationSettings::default()).unwrap();
    let segments: Vec<&Continuum> = found
        .solutions
        .iter()
        .filter_map(|s| s.continuum.as_ref())
        .collect();
    assert_eq!(segments.len(), 1, "{found:?}");
    assert!(segments[0].moves_velocity);
    let [a, b] = &segments[0].ends[..] else {
        panic!("a segment has two ends")
    };
    // From no impulse to the stick of the tip.
    assert!(a.iter().all(|x| x.abs() < 1e-12));
    assert!((b[1] - 1.75 / 4.0).abs() < 1e-9, "{b:?}");
}

#[test]
fn block_on_two_feet_sticks_with_forces_that_are_not_unique() {
    // Feet at ±1/2, centre at height 1/2: stick–stick has a singular W and one internal force.
    let (m, j, b, h) = (1.0, 1.0 / 6.0, 0.5, 0.5);
    let rows = [[0.0, 1.0, -b], [1.0, 0.0, h], [0.0, 1.0, b], [1.0, 0.0, h]];
    let inverse = [1.0 / m, 1.0 / m, 1.0 / j];
    let w: Vec<f64> = rows
        .iter()
        .flat_map(|r| {
            rows.iter()
                .map(|s| (0..3).map(|i| r[i] * s[i] * inverse[i]).sum())
                .collect::<Vec<f64>>()
        })
        .collect();
    let section = FrictionSection::segment(0.6).unwrap();
    let problem = ContactProblem::from_dense(
        w,
        vec![-0.0981, 0.02, -0.0981, 0.02],
        vec![block(0, section.clone()), block(2, section)],
    );
    let found = enumerate(&problem, &EnumerationSettings::default()).unwrap();
    let stuck = found
        .solutions
        .iter()
        .find(|s| s.modes == [Mode::Stick, Mode::Stick])
        .expect("the block rests");
    let continuum = stuck.continuum.as_ref().expect("an internal force");
    assert!(continuum.dimension == 1 && !continuum.moves_velocity);
    assert_eq!(found.verdict(), Verdict::Regular, "{found:?}");
}

#[test]
fn search_in_space_finds_the_solutions_of_two_separate_contacts() {
    // Two copies of a spatial Painlevé contact without coupling: products of the single solutions.
    let (s, c) = (60f64.to_radians().sin(), 60f64.to_radians().cos());
    let one = [
        1.0 + 3.0 * c * c,
        -3.0 * s * c,
        0.0,
        -3.0 * s * c,
        1.0 + 3.0 * s * s,
        0.0,
        0.0,
        0.0,
        2.0,
    ];
    let mut w = vec![0.0; 36];
    for k in 0..2 {
        for i in 0..3 {
            for j in 0..3 {
                w[(3 * k + i) * 6 + 3 * k + j] = one[3 * i + j];
            }
        }
    }
    let section = FrictionSection::disc(2.0).unwrap();
    let single = ContactProblem::from_dense(
        one.to_vec(),
        vec![0.0118, -5.0, 0.3],
        vec![block(0, section.clone())],
    );
    let settings = EnumerationSettings::default();
    let alone = enumerate(&single, &settings).unwrap();
    assert_eq!(alone.method, Method::Exact);
    let k = alone.solutions.len();
    assert!(k >= 3, "{alone:?}");
    let q = vec![0.0118, -5.0, 0.3, 0.0118, -5.0, 0.3];
    let pair = ContactProblem::from_dense(w, q, vec![block(0, section.clone()), block(3, section)]);
    let found = enumerate(&pair, &settings).unwrap();
    assert_eq!(found.method, Method::Search);
    assert_eq!(found.solutions.len(), k * k);
    assert!(found.solutions.iter().all(|s| s.residual < 1e-10));
}

/// A box of mass 2 on four feet in space, sliding and turning: forces of the feet can move from one diagonal to the other,
/// and friction of other feet makes another motion.
#[test]
fn a_box_that_slides_and_turns_on_four_feet_has_one_continuum_of_motions() {
    let inverse = [0.5, 0.5, 0.5, 1.0 / 0.02, 1.0 / 0.03, 1.0 / 0.04];
    let feet = [[0.2, 0.1], [-0.2, 0.1], [0.2, -0.1], [-0.2, -0.1]];
    let z = -0.1;
    // Rows of the velocity of the centre and the spin: normal, then two tangents.
    let rows: Vec<[f64; 6]> = (feet.iter())
        .flat_map(|&[x, y]| {
            [
                [0.0, 0.0, 1.0, y, -x, 0.0],
                [1.0, 0.0, 0.0, 0.0, z, -y],
                [0.0, 1.0, 0.0, -z, 0.0, x],
            ]
        })
        .collect();
    let product = |a: &[f64; 6], b: &[f64; 6], weight: &[f64; 6]| -> f64 {
        (0..6).map(|i| a[i] * b[i] * weight[i]).sum()
    };
    let w: Vec<f64> = (rows.iter())
        .flat_map(|a| {
            rows.iter()
                .map(|b| product(a, b, &inverse))
                .collect::<Vec<_>>()
        })
        .collect();
    let section = FrictionSection::disc(0.3).unwrap();
    let blocks = || (0..4).map(|k| block(3 * k, section.clone())).collect();
    for (motion, several) in [([1.0, 0.3, 2.0], true), ([0.0, 0.0, 0.0], false)] {
        for step in [1e-2, 1e-3] {
            let free = [motion[0], motion[1], -9.81 * step, 0.0, 0.0, motion[2]];
            let q = rows.iter().map(|r| product(r, &free, &[1.0; 6])).collect();
            let problem = ContactProblem::from_dense(w.clone(), q, blocks());
            let found = enumerate(&problem, &EnumerationSettings::default()).unwrap();
            let expected = if several {
                Verdict::Indeterminate { solutions: 1 }
            } else {
                Verdict::Regular
            };
            assert_eq!(found.verdict(), expected, "{motion:?} {step}");
            let continuum = found.solutions[0].continuum.as_ref().expect("rank 3 of 4");
            assert_eq!(continuum.moves_velocity, several, "{motion:?} {step}");
        }
    }
}
