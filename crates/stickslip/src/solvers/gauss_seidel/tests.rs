//! Bilateral and bounded blocks beside contacts, in every form of W.

use super::*;
use crate::contact::delassus::{BlockDelassus, BodyOperator, Delassus};
use crate::contact::{ContactKey, ContactResidual};
use crate::laws::FrictionSection;

fn block(start: usize, size: usize, mu: f64, kind: BlockKind) -> ContactBlock {
    ContactBlock {
        key: ContactKey::declared(start, 0),
        start,
        size,
        section: match size {
            1 => FrictionSection::None,
            n => FrictionSection::Disc {
                mu,
                dimension: n - 1,
            },
        },
        flow_rule: FlowRule::Coulomb,
        kind,
    }
}

/// Rows of two unit point masses in space: a contact of the first with the floor, a rod along the diagonal between them.
const CONTACT: [[f64; 6]; 3] = [
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
];
const ROD: [f64; 6] = [0.6, 0.0, 0.8, -0.6, 0.0, -0.8];

fn gram(rows: &[[f64; 6]]) -> Vec<f64> {
    let n = rows.len();
    let dot = |a: &[f64; 6], b: &[f64; 6]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    (0..n * n)
        .map(|k| dot(&rows[k / n], &rows[k % n]))
        .collect()
}

fn solve(problem: &ContactProblem) -> ContactSolution {
    let mut solution = ContactSolution::default();
    solution.prepare(problem.size());
    GaussSeidel::default().solve(problem, &mut solution);
    assert!(solution.status.is_solved(), "{:?}", solution.status);
    let residual = ContactResidual::of(problem, &solution.impulse);
    assert!(residual.worst() < 1e-11, "{residual:?}");
    solution
}

#[test]
fn a_joint_as_a_bilateral_block_gives_the_motion_of_its_elimination() {
    let rows = [CONTACT[0], CONTACT[1], CONTACT[2], ROD];
    let velocity = [0.7, -0.4, -1.0, 0.2, 0.5, -0.3];
    let q: Vec<f64> = rows
        .iter()
        .map(|row| row.iter().zip(&velocity).map(|(a, b)| a * b).sum())
        .collect();
    let w = gram(&rows);
    let blocks = vec![
        block(0, 3, 0.3, BlockKind::Unilateral { minimum: 0.0 }),
        block(3, 1, 0.0, BlockKind::Bilateral),
    ];
    let together = solve(&ContactProblem::from_dense(w.clone(), q.clone(), blocks));
    // Eliminated by hand: W − w wᵀ/w_rr and q − w q_r/w_rr.
    let r = 3;
    let reduced: Vec<f64> = (0..9)
        .map(|k| w[4 * (k / 3) + k % 3] - w[4 * (k / 3) + r] * w[4 * r + k % 3] / w[4 * r + r])
        .collect();
    let free = (0..3).map(|i| q[i] - w[4 * i + r] * q[r] / w[4 * r + r]);
    let alone = solve(&ContactProblem::from_dense(
        reduced,
        free.collect(),
        vec![block(0, 3, 0.3, BlockKind::Unilateral { minimum: 0.0 })],
    ));
    for k in 0..3 {
        assert!((together.impulse[k] - alone.impulse[k]).abs() < 1e-12);
    }
    assert!(together.local_velocity[r].abs() < 1e-12);
}

#[test]
fn a_bounded_row_gives_what_is_asked_up_to_its_limit() {
    // A wheel of inertia 2 that turns at −3: a motor may give an impulse of at most 4, of the 6 it would need.
    for (limit, impulse, speed) in [(4.0, 4.0, -1.0), (10.0, 6.0, 0.0)] {
        let kind = BlockKind::Bounded {
            lower: -limit,
            upper: limit,
        };
        let blocks = vec![block(0, 1, 0.0, kind)];
        let problem = ContactProblem::from_dense(vec![0.5], vec![-3.0], blocks);
        let solution = solve(&problem);
        assert_eq!(solution.impulse, [impulse]);
        assert_eq!(solution.local_velocity, [speed]);
        // A wrong answer is told.
        assert!(ContactResidual::of(&problem, &[impulse - 0.1]).worst() > 1e-3);
        assert!(ContactResidual::of(&problem, &[limit + 0.5]).worst() > 1e-3);
    }
}

#[test]
fn every_form_of_w_gives_the_same_answer() {
    // Two point masses, each on the floor, and a contact between them: dense, by blocks and over bodies.
    let mut operator = BodyOperator::default();
    operator.begin(6, 2);
    let sides = [[0, u32::MAX], [1, u32::MAX], [0, 1]];
    for (c, sides) in sides.into_iter().enumerate() {
        let numbers = operator.push(3, sides);
        for k in 0..3 {
            let mut row = [[0.0; 6]; 2];
            for j in 0..6 {
                row[0][j] = ((3 * c + k + 1) as f64 * (j + 2) as f64).sin();
                row[1][j] = -((3 * c + k + 2) as f64 * (j + 1) as f64).cos();
            }
            let second = sides[1] == 1;
            numbers[12 * k..12 * k + 6].copy_from_slice(&row[0]);
            if second {
                numbers[12 * k + 6..12 * k + 12].copy_from_slice(&row[1]);
            }
        }
    }
    let dense = operator.dense();
    let q: Vec<f64> = (0..9).map(|k| 0.4 - ((k * k) as f64).cos()).collect();
    let blocks: Vec<ContactBlock> = (0..3)
        .map(|i| block(3 * i, 3, 0.4, BlockKind::Unilateral { minimum: 0.0 }))
        .collect();
    let matrix = operator.blocks().expect("blocks of one size");
    let by_blocks = Delassus::Blocks(Box::new(BlockDelassus {
        matrix,
        bodies: None,
    }));
    let forms = [
        ContactProblem::from_dense(dense, q.clone(), blocks.clone()),
        ContactProblem::from_local(by_blocks, q.clone(), blocks.clone()),
        ContactProblem::from_local(Delassus::Bodies(Box::new(operator)), q, blocks),
    ];
    let answers: Vec<ContactSolution> = forms.iter().map(solve).collect();
    for other in &answers[1..] {
        for k in 0..9 {
            assert!((other.impulse[k] - answers[0].impulse[k]).abs() < 1e-10);
        }
    }
}
