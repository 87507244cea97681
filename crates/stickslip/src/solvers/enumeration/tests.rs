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
    // They do not act on each other: each is enumerated exactly, and so are the pairs.
    assert_eq!(found.method, Method::Exact);
    assert_eq!(found.solutions.len(), k * k);
    assert!(found.solutions.iter().all(|s| s.residual < 1e-10));
}

/// A body on four feet in space.
struct FourFeet {
    /// Inverses of the mass (three times) and of the inertia.
    inverse: [f64; 6],
    feet: [[f64; 2]; 4],
    /// Height of the feet, the centre being at 0.
    z: f64,
    mu: f64,
}

/// A flat box, a cube and a table whose feet are at unequal distances from its centre.
const BOXES: [FourFeet; 3] = [
    FourFeet {
        inverse: [0.5, 0.5, 0.5, 50.0, 100.0 / 3.0, 25.0],
        feet: [[0.2, 0.1], [-0.2, 0.1], [0.2, -0.1], [-0.2, -0.1]],
        z: -0.1,
        mu: 0.3,
    },
    FourFeet {
        inverse: [1.0, 1.0, 1.0, 6.0, 6.0, 6.0],
        feet: [[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]],
        z: -0.5,
        mu: 0.2,
    },
    FourFeet {
        inverse: [0.1, 0.1, 0.1, 0.2, 0.15, 0.3],
        feet: [[0.6, 0.4], [-0.5, 0.4], [0.6, -0.3], [-0.5, -0.3]],
        z: -0.7,
        mu: 0.4,
    },
];

const GRAVITY: f64 = 9.81;

/// Fewer starts than users have, enough to meet both ends of a segment.
fn settings() -> EnumerationSettings {
    EnumerationSettings {
        starts: 50,
        ..EnumerationSettings::default()
    }
}

impl FourFeet {
    /// One step of length `step` with the velocity (x, y, turning), in units `length` to the metre and `mass` to the kilogram.
    fn problem(
        &self,
        [x, y, turn]: [f64; 3],
        step: f64,
        (length, mass): (f64, f64),
    ) -> ContactProblem {
        let z = length * self.z;
        // Rows of the velocity of the centre and the spin: normal, then two tangents.
        let rows: Vec<[f64; 6]> = (self.feet.iter())
            .map(|[x, y]| [x * length, y * length])
            .flat_map(|[x, y]| {
                [
                    [0.0, 0.0, 1.0, y, -x, 0.0],
                    [1.0, 0.0, 0.0, 0.0, z, -y],
                    [0.0, 1.0, 0.0, -z, 0.0, x],
                ]
            })
            .collect();
        let mut inverse = self.inverse.map(|x| x / mass);
        inverse[3..].iter_mut().for_each(|x| *x /= length * length);
        let product = |a: &[f64; 6], b: &[f64; 6], weight: &[f64; 6]| -> f64 {
            (0..6).map(|i| a[i] * b[i] * weight[i]).sum()
        };
        let w = (rows.iter())
            .flat_map(|a| {
                rows.iter()
                    .map(|b| product(a, b, &inverse))
                    .collect::<Vec<_>>()
            })
            .collect();
        let fall = -GRAVITY * length * step;
        let free = [x * length, y * length, fall, 0.0, 0.0, turn];
        let q = rows.iter().map(|r| product(r, &free, &[1.0; 6])).collect();
        let section = FrictionSection::disc(self.mu).unwrap();
        let blocks = (0..4).map(|k| block(3 * k, section.clone())).collect();
        ContactProblem::from_dense(w, q, blocks)
    }
}

/// Largest width of a range.
fn spread(range: &RowRange) -> f64 {
    let widths = range.largest.iter().zip(&range.least).map(|(a, b)| a - b);
    widths.fold(0.0, f64::max)
}

const STEPS: [f64; 5] = [1e-2, 1e-3, 3e-4, 1e-4, 1e-5];

/// Four normal rows of rank three: the weight can move from one diagonal to the other. Feet that slide in different directions then make
/// another friction force, hence another motion. Impulses are of the size m g h, so the theory says: one continuum at every
/// step and in every unit, its impulses a fixed part of the weight apart, its velocities a fixed part of g h. The velocity
/// after the step is unique to O(h), the impulses are not, however short the step.
#[test]
fn a_box_that_slides_and_turns_on_four_feet_has_one_continuum_of_motions() {
    for (k, four) in BOXES.iter().enumerate() {
        let mut parts: Vec<(f64, f64)> = Vec::new();
        for (length, mass) in [(1.0, 1.0), (1e3, 1e3)] {
            for step in STEPS {
                let problem = four.problem([1.0, 0.3, 2.0], step, (length, mass));
                let found = enumerate(&problem, &settings()).unwrap();
                let place = format!("box {k}, {length} to the metre, step {step}");
                let one = Verdict::Indeterminate { solutions: 1 };
                assert_eq!(found.verdict(), one, "{place}");
                let only = &found.solutions[0];
                let continuum = only.continuum.as_ref().expect("rank 3 of 4");
                assert!(
                    continuum.moves_velocity && continuum.dimension == 1,
                    "{place}"
                );
                let fall = GRAVITY * length * step;
                let weight = fall * mass / four.inverse[0];
                parts.push((
                    spread(&only.velocity_range) / fall,
                    spread(&only.range) / weight,
                ));
            }
        }
        // The first step turns the box by 0.02 while it acts, so that directions differ by a few hundredths.
        let (velocity, impulse) = parts[0];
        for (v, p) in &parts {
            assert!((v / velocity - 1.0).abs() < 0.1, "box {k}: {parts:?}");
            assert!((p / impulse - 1.0).abs() < 0.01, "box {k}: {parts:?}");
        }
        assert!(velocity > 0.05 && velocity < 0.2, "box {k}: {parts:?}");
        assert!(impulse > 0.4, "box {k}: {parts:?}");
    }
}

/// At rest, and sliding without turning, all feet pull the same way whatever they carry: one motion.
#[test]
fn a_box_that_rests_or_slides_straight_on_four_feet_has_one_motion() {
    for (k, four) in BOXES.iter().enumerate() {
        for motion in [[0.0; 3], [2.0, 0.0, 0.0]] {
            for step in [1e-2, 1e-5] {
                let problem = four.problem(motion, step, (1.0, 1.0));
                let found = enumerate(&problem, &settings()).unwrap();
                let place = format!("box {k}, {motion:?}, step {step}");
                assert_eq!(found.verdict(), Verdict::Regular, "{place}");
                let only = &found.solutions[0];
                let continuum = only.continuum.as_ref().expect("rank 3 of 4");
                assert!(!continuum.moves_velocity, "{place}");
                assert!(
                    spread(&only.velocity_range) < 1e-7 * GRAVITY * step,
                    "{place}"
                );
                assert!(
                    spread(&only.range) > 0.2 * GRAVITY * step / four.inverse[0],
                    "{place}"
                );
            }
        }
    }
}

/// A step so short that its impulses change velocities by less than a thousand roundings is not called regular.
#[test]
fn impulses_lost_in_rounding_leave_the_verdict_undecided() {
    for four in &BOXES {
        let problem = four.problem([1.0, 0.3, 2.0], 1e-13, (1.0, 1.0));
        let found = enumerate(&problem, &settings()).unwrap();
        assert_eq!(found.verdict(), Verdict::Undecided);
        assert_eq!(found.verdict().word(), "undecided");
    }
}

/// Contacts that do not act on each other are enumerated one by one, also with anisotropic friction in space, and their solutions go with each
/// other: a search of all together met six or seven of nine.
#[test]
fn groups_that_do_not_act_on_each_other_have_all_products_of_their_solutions() {
    let one = [1.0, -1.0, 0.2, -1.0, 2.0, 0.1, 0.2, 0.1, 1.5];
    let q = [0.0118, -5.0, 0.3];
    let section = FrictionSection::ellipse([2.0, 1.5]).unwrap();
    let settings = EnumerationSettings::default();
    let groups = |count: usize| {
        let m = 3 * count;
        let mut w = vec![0.0; m * m];
        for k in 0..count {
            for i in 0..3 {
                for j in 0..3 {
                    w[(3 * k + i) * m + 3 * k + j] = one[3 * i + j];
                }
            }
        }
        let blocks = (0..count).map(|k| block(3 * k, section.clone())).collect();
        let problem = ContactProblem::from_dense(w, q.repeat(count), blocks);
        enumerate(&problem, &settings).unwrap()
    };
    let alone = groups(1);
    let k = alone.solutions.len();
    assert!(k >= 3, "{alone:?}");
    for count in [2, 3] {
        let found = groups(count);
        assert_eq!(found.method, Method::Exact);
        assert_eq!(found.solutions.len(), k.pow(count as u32));
        assert!(found.solutions.iter().all(|s| s.residual < 1e-9));
        // All of them differ.
        let distinct =
            |a: usize, b: usize| found.solutions[a].distance(&found.solutions[b], 0.0) > 1e-6;
        assert!((0..found.solutions.len()).all(|a| (0..a).all(|b| distinct(a, b))));
    }
}

/// As many contacts in the plane, on a chain that couples each to the next: a tree of all their modes.
fn chain(count: usize, free: f64) -> ContactProblem {
    let m = 2 * count;
    let mut w = vec![0.0; m * m];
    for i in 0..m {
        w[i * m + i] = 2.0;
        for j in [i.wrapping_sub(2), i + 2].into_iter().filter(|&j| j < m) {
            w[i * m + j] = -0.5;
        }
    }
    let section = FrictionSection::segment(0.5).unwrap();
    let blocks = (0..count).map(|k| block(2 * k, section.clone())).collect();
    let q = (0..m)
        .map(|i| if i % 2 == 0 { -1.0 } else { free })
        .collect();
    ContactProblem::from_dense(w, q, blocks)
}

#[test]
fn larger_groups_end_at_their_bound_of_work_and_say_so() {
    let small = EnumerationSettings {
        work_max: 1e5,
        ..EnumerationSettings::default()
    };
    // Up to six contacts no bound counts.
    let found = enumerate(&chain(6, 0.3), &small).unwrap();
    assert_eq!((found.method, found.solutions.len()), (Method::Exact, 1));
    // A dozen has 7 nodes of this work, not enough for one list of modes: nothing is claimed.
    let found = enumerate(&chain(12, 0.3), &small).unwrap();
    assert_eq!((found.method, found.effort), (Method::Truncated, 0));
    assert_eq!(found.verdict(), Verdict::NotExamined);
    assert_eq!(found.verdict().word(), "not-examined");
    // Thirty of the 49 nodes that the whole tree has.
    let some = EnumerationSettings {
        work_max: 8.0 * 12f64.powi(3) * 30.0,
        ..small
    };
    let found = enumerate(&chain(12, 0.3), &some).unwrap();
    assert!(
        found.method == Method::Truncated && found.effort > 12,
        "{found:?}"
    );
    let whole = enumerate(&chain(12, 0.3), &EnumerationSettings::default()).unwrap();
    assert_eq!(
        (whole.method, whole.verdict()),
        (Method::Exact, Verdict::Regular)
    );
}

#[test]
fn groups_in_the_plane_are_examined_one_by_one() {
    // A chain of six and one of seven that do not feel each other.
    let (a, b) = (chain(6, 0.3), chain(7, 5.0));
    let m = a.size() + b.size();
    let mut w = vec![0.0; m * m];
    for (part, at) in [(&a, 0), (&b, a.size())] {
        for i in 0..part.size() {
            for j in 0..part.size() {
                w[(at + i) * m + at + j] = part.w(i, j);
            }
        }
    }
    let q = a.free().iter().chain(b.free()).copied().collect();
    let section = FrictionSection::segment(0.5).unwrap();
    let blocks = (0..13).map(|k| block(2 * k, section.clone())).collect();
    let both = ContactProblem::from_dense(w, q, blocks);
    let found = enumerate(&both, &EnumerationSettings::default()).unwrap();
    let sizes: Vec<usize> = found.groups.iter().map(|g| g.blocks.len()).collect();
    assert_eq!((found.method, sizes), (Method::Exact, vec![6, 7]));
    let apart: Vec<f64> = [&a, &b]
        .iter()
        .flat_map(|part| {
            let found = enumerate(part, &EnumerationSettings::default()).unwrap();
            found.solutions[0].local_velocity.clone()
        })
        .collect();
    for (x, y) in found.solutions[0].local_velocity.iter().zip(&apart) {
        assert!((x - y).abs() < 1e-12, "{x} {y}");
    }
}

#[test]
fn an_enumeration_that_is_ended_says_so() {
    let work = Work::default();
    work.end();
    let found = enumerate_under(&chain(8, 0.3), &EnumerationSettings::default(), &work).unwrap();
    assert_eq!(found.verdict(), Verdict::NotExamined);
    let done = Work::default();
    enumerate_under(&chain(8, 0.3), &EnumerationSettings::default(), &done).unwrap();
    assert!(done.done() > 8);
}

/// Contacts in space on one body: as a search goes, a bound of work ends it between its starts.
#[test]
fn a_search_in_space_ends_at_its_bound_of_work() {
    let count = 5;
    let m = 3 * count;
    let w: Vec<f64> = (0..m * m)
        .map(|e| if e % (m + 1) == 0 { 2.0 } else { 0.1 })
        .collect();
    let section = FrictionSection::disc(0.4).unwrap();
    let blocks = (0..count).map(|k| block(3 * k, section.clone())).collect();
    let q = (0..m)
        .map(|i| if i % 3 == 0 { -1.0 } else { 0.7 })
        .collect();
    let problem = ContactProblem::from_dense(w, q, blocks);
    let search = |work_max: f64| {
        let settings = EnumerationSettings {
            work_max,
            ..EnumerationSettings::default()
        };
        enumerate(&problem, &settings).unwrap()
    };
    let whole = search(2e10);
    assert_eq!((whole.method, whole.effort), (Method::Search, 2000));
    assert_eq!(whole.verdict(), Verdict::Regular);
    // Some hundred starts of some ten steps.
    let part = search(1e7);
    assert_eq!(
        (part.method, part.verdict()),
        (Method::Truncated, Verdict::NotExamined)
    );
    assert!(
        (8..1000).contains(&part.effort) && part.solutions.len() == 1,
        "{part:?}"
    );
    assert_eq!(search(1e6).effort, 0);
}
