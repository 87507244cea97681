//! Central contacts against dense algebra, their bits, and what is not central.

use super::super::solver::{BodySweepOutcome, BodySweepSettings, BodySweepSolver};
use super::super::tests::{Random, Sample, block, cross, disc, space_frame};
use super::super::workspace::Problem;
use super::Turns;
use crate::algebra::dot;
use crate::contact::{BodyOperator, ContactProblem, ContactResidual, NO_BODY};
use crate::laws::FrictionSection;

const TOLERANCE: f64 = 1e-9;

/// A ball with axes of its own, or a cube: what turns alike about every axis.
struct Ball {
    axes: Vec<[f64; 3]>,
    radius: f64,
    /// Inverse roots of mass and inertia.
    linear: f64,
    angular: f64,
}

/// Balls, their contacts in a line and with the ground.
struct Balls {
    random: Random,
    balls: Vec<Ball>,
    sample: Sample,
}

impl Balls {
    fn new(count: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let balls = (0..count)
            .map(|_| Ball {
                axes: space_frame(&mut random),
                radius: 0.8 + random.next(),
                linear: 1.0 + random.next(),
                angular: 1.5 + random.next(),
            })
            .collect();
        Self {
            random,
            balls,
            sample: Sample::new(6, count),
        }
    }

    /// A contact of `rows` rows in a random frame whose arms miss the centres by `aside`, outward or inward.
    fn touch(&mut self, sides: [u32; 2], (mu, rows): (f64, usize), (aside, outward): (f64, f64)) {
        let frame = space_frame(&mut self.random);
        let numbers = self.sample.operator.push(rows, sides);
        for (row, f) in numbers.chunks_exact_mut(12).zip(&frame) {
            for (s, sign) in [1.0, -1.0].into_iter().enumerate() {
                let Some(ball) = self.balls.get(sides[s] as usize) else {
                    continue;
                };
                let arm: [f64; 3] = std::array::from_fn(|k| {
                    -sign * outward * ball.radius * frame[0][k] + aside * frame[1][k]
                });
                let turn = cross(&arm, f);
                for k in 0..3 {
                    row[6 * s + k] = sign * ball.linear * f[k];
                    row[6 * s + 3 + k] = sign * ball.angular * dot(&ball.axes[k], &turn);
                }
            }
        }
        let start = self.sample.free.len();
        let section = match rows {
            1 => FrictionSection::None,
            _ => disc(mu, 2),
        };
        self.sample.blocks.push(block(start, rows, section));
        self.sample.free.resize(start + rows, 0.0);
    }

    /// A chain with branches; every second ball touches the ground.
    fn packed(count: u32, seed: u64) -> Self {
        let mut own = Self::new(count as usize, seed);
        for a in 0..count {
            let near = a + 2 + own.random.below(4);
            let b = if near < count { near } else { NO_BODY };
            let sides = if own.random.below(2) == 0 {
                [a, b]
            } else {
                [b, a]
            };
            let law = [(0.0, 3), (0.3, 3), (0.8, 3), (2.0, 3), (0.0, 1)];
            let law = law[own.random.below(5) as usize];
            own.touch(sides, law, (0.0, 1.0));
            if a + 1 < count {
                own.touch([a, a + 1], (0.4, 3), (0.0, 1.0));
            }
            if a % 2 == 0 {
                own.touch([NO_BODY, a], (0.4, 3), (0.0, 1.0));
            }
        }
        own.sample.move_bodies(&mut own.random);
        own
    }

    fn are_central(&self) -> bool {
        let sample = &self.sample;
        let problem = Problem::new(&sample.operator, &sample.free, &sample.blocks);
        Turns::default().are_central(&problem, TOLERANCE)
    }

    fn solve(&self, mut solver: BodySweepSolver) -> (Vec<f64>, BodySweepOutcome) {
        self.sample.solve(&mut solver)
    }

    /// What a certificate reads, from W as a dense matrix.
    fn residual(&self, impulse: &[f64]) -> f64 {
        let sample = &self.sample;
        let (w, free) = (sample.operator.dense(), sample.free.clone());
        let problem = ContactProblem::from_dense(w, free, sample.blocks.clone());
        ContactResidual::of(&problem, impulse).worst()
    }
}

fn settings(threads: usize) -> BodySweepSettings {
    BodySweepSettings {
        tolerance: TOLERANCE,
        threads,
        ..BodySweepSettings::default()
    }
}

#[test]
fn contacts_of_balls_are_central_and_solved_as_dense_algebra_asks() {
    for seed in 1..12 {
        let balls = Balls::packed(60, seed);
        assert!(balls.are_central(), "{seed}");
        let (impulse, outcome) = balls.solve(BodySweepSolver::new(settings(1)));
        assert_eq!(outcome.unsolved, 0, "{seed} {outcome:?}");
        let residual = balls.residual(&impulse);
        assert!(
            residual <= (1.0 + 1e-3) * TOLERANCE,
            "{seed}: {residual} against {outcome:?}"
        );
        let slides = |rows: &[f64], mu: f64| {
            let tangential = dot(&rows[1..], &rows[1..]).sqrt();
            rows[0] > 0.0 && (tangential - mu * rows[0]).abs() <= 1e-12 * rows[0]
        };
        let blocks = &balls.sample.blocks;
        assert!(
            blocks
                .iter()
                .filter(|block| block.size == 3)
                .any(|block| slides(&impulse[block.range()], block.section.support(&[1.0, 0.0]))),
            "none slides"
        );
    }
}

#[test]
fn contacts_beside_the_centre_are_not_central() {
    for (aside, outward, central) in [
        (1e-14, 1.0, true),
        (1e-10, 1.0, false),
        (0.1, 1.0, false),
        // On the inside of a shell that touches others outside: no turn of its axes leads both to the same form.
        (0.0, -1.0, false),
    ] {
        let mut balls = Balls::packed(30, 5);
        balls.touch([7, 8], (0.5, 3), (aside, outward));
        let mut random = Random(3);
        balls.sample.move_bodies(&mut random);
        assert_eq!(balls.are_central(), central, "{aside} {outward}");
        let (impulse, outcome) = balls.solve(BodySweepSolver::new(settings(1)));
        assert_eq!(outcome.unsolved, 0, "{outcome:?}");
        let residual = balls.residual(&impulse);
        assert!(residual <= (1.0 + 1e-3) * TOLERANCE, "{aside}: {residual}");
    }
}

#[test]
fn bodies_that_turn_easier_about_one_axis_are_not_central() {
    let mut balls = Balls::packed(30, 6);
    let whole = std::mem::take(&mut balls.sample.operator);
    let mut copy = |factor: f64| {
        let mut operator = BodyOperator::default();
        operator.begin(6, 30);
        for contact in 0..whole.contacts() {
            let (rows, sides) = (whole.rows_of(contact), whole.sides(contact));
            let numbers = operator.push(rows.len(), sides);
            for (out, row) in numbers.chunks_exact_mut(12).zip(rows) {
                out.copy_from_slice(whole.row(row));
                for (side, body) in sides.into_iter().enumerate() {
                    out[6 * side + 3] *= if body == 11 { factor } else { 1.0 };
                }
            }
        }
        balls.sample.operator = operator;
        balls.are_central()
    };
    assert!(copy(1.0));
    assert!(!copy(1.01));
}

#[test]
fn central_contacts_have_the_same_bits_with_and_without_vectors_and_threads() {
    // One island above the size at which it is split.
    let balls = Balls::packed(2500, 9);
    assert!(balls.are_central());
    let few = |threads| BodySweepSettings {
        sweeps_max: 60,
        rounds_max: 0,
        ..settings(threads)
    };
    let (one, first) = balls.solve(BodySweepSolver::new(few(1)));
    let others = [
        BodySweepSolver::new(few(1)).portable(),
        BodySweepSolver::new(few(2)),
        BodySweepSolver::new(few(3)),
    ];
    for solver in others {
        let (other, outcome) = balls.solve(solver);
        assert_eq!(first, outcome);
        assert!(
            one.iter()
                .zip(&other)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
    assert!(first.sweeps > 5, "{first:?}");
}
