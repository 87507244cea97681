//! The solver against the scalar one, its bits, its laws and its islands.

use super::finish::IslandProblem;
use super::krylov_island::Island;
use super::newton_krylov::NewtonKrylov;
use super::ray::Ray;
use super::solver::BodySweepOutcome;
use super::*;
use crate::algebra::dot;
use crate::contact::{
    BlockKind, BodyOperator, ContactBlock, ContactKey, ContactProblem, ContactResidual, NO_BODY,
};
use crate::laws::{FlowRule, FrictionSection};

pub(super) struct Random(pub(super) u64);

impl Random {
    /// Between −½ and ½.
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64 / (1u64 << 53) as f64) - 0.5
    }

    pub(super) fn below(&mut self, n: u32) -> u32 {
        ((self.next() + 0.5) * f64::from(n)) as u32
    }
}

#[derive(Default)]
pub(super) struct Sample {
    pub(super) operator: BodyOperator,
    pub(super) free: Vec<f64>,
    pub(super) blocks: Vec<ContactBlock>,
}

pub(super) fn block(start: usize, size: usize, section: FrictionSection) -> ContactBlock {
    ContactBlock {
        key: ContactKey::found(start as u32, 0, 0),
        start,
        size,
        section,
        flow_rule: FlowRule::Coulomb,
        kind: BlockKind::Unilateral { minimum: 0.0 },
    }
}

pub(super) fn disc(mu: f64, dimension: usize) -> FrictionSection {
    FrictionSection::Disc { mu, dimension }
}

pub(super) fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i] * b[j] - a[j] * b[i]
    })
}

/// Three orthonormal vectors.
pub(super) fn space_frame(random: &mut Random) -> Vec<[f64; 3]> {
    let unit = |v: [f64; 3]| {
        let length = dot(&v, &v).sqrt();
        v.map(|x| x / length)
    };
    let first = unit(std::array::from_fn(|_| random.next()));
    let second = unit(cross(&first, &std::array::from_fn(|_| random.next())));
    vec![first, second, cross(&first, &second)]
}

impl Sample {
    pub(super) fn new(freedoms: usize, bodies: usize) -> Self {
        let mut sample = Self::default();
        sample.operator.begin(freedoms, bodies);
        sample
    }

    /// A contact in a random frame with random arms, masses and free velocity; rows beyond the frame are torques.
    fn push(&mut self, random: &mut Random, sides: [u32; 2], section: FrictionSection) {
        let size = 1 + section.dimension();
        let freedoms = self.operator.freedoms();
        let frame = if freedoms == 6 {
            space_frame(random)
        } else {
            let (sin, cos) = (6.3 * random.next()).sin_cos();
            vec![[cos, sin, 0.0], [-sin, cos, 0.0]]
        };
        let arms: [[f64; 3]; 2] = std::array::from_fn(|_| {
            std::array::from_fn(|k| {
                let x = 0.8 * random.next();
                if freedoms == 3 && k == 2 { 0.0 } else { x }
            })
        });
        let scales = [1.0 + random.next(), -1.0 + random.next()];
        let numbers = self.operator.push(size, sides);
        for (r, row) in numbers.chunks_exact_mut(2 * freedoms).enumerate() {
            for (s, side) in row.chunks_exact_mut(freedoms).enumerate() {
                if sides[s] == NO_BODY {
                    continue;
                }
                let sign = if s == 0 { 1.0 } else { -1.0 };
                match frame.get(r) {
                    Some(f) => {
                        let turn = cross(&arms[s], f);
                        for k in 0..freedoms.div_ceil(2) {
                            side[k] = scales[s] * f[k];
                        }
                        if freedoms == 6 {
                            for k in 0..3 {
                                side[3 + k] = sign * turn[k];
                            }
                        } else {
                            side[2] = sign * turn[2];
                        }
                    }
                    None => side[3 + r % 3] = sign,
                }
            }
        }
        self.blocks.push(block(self.free.len(), size, section));
        for r in 0..size {
            self.free
                .push(random.next() - if r == 0 { 0.4 } else { 0.0 });
        }
    }

    /// Random pairs of bodies, some of them resting on the ground.
    fn random(freedoms: usize, bodies: u32, contacts: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut sample = Self::new(freedoms, bodies as usize);
        let rows = freedoms / 3 + 1;
        for _ in 0..contacts {
            let a = random.below(bodies);
            let near = (a + 1 + random.below(4)).min(bodies - 1);
            let b = if random.below(4) == 0 { NO_BODY } else { near };
            let sides = if random.below(2) == 0 { [a, b] } else { [b, a] };
            let mu = [0.0, 0.3, 0.8][random.below(3) as usize];
            sample.push(&mut random, sides, disc(mu, rows - 1));
        }
        sample.move_bodies(&mut random);
        sample
    }

    /// Free velocities of moving bodies with a little room: the bodies can always stop, so a solution exists.
    pub(super) fn move_bodies(&mut self, random: &mut Random) {
        let size = self.operator.bodies() * self.operator.freedoms();
        let v: Vec<f64> = (0..size).map(|_| random.next()).collect();
        for block in &self.blocks {
            for row in block.range() {
                self.free[row] = self.operator.row_product(row, &v);
            }
            self.free[block.start] += 0.02;
        }
    }

    /// |F|/max(|r|, |ρ q|) from W as a dense matrix and the projections of the laws.
    fn residual(&self, impulse: &[f64]) -> f64 {
        let (n, w) = (self.operator.rows(), self.operator.dense());
        let (mut map, mut size, mut free) = (0.0, 0.0, 0.0);
        for block in &self.blocks {
            let rows = block.range();
            let trace: f64 = rows.clone().map(|i| w[i * n + i]).sum();
            let rho = block.size as f64 / trace;
            let u: Vec<f64> = rows
                .clone()
                .map(|i| self.free[i] + dot(&w[i * n..(i + 1) * n], impulse))
                .collect();
            let r = &impulse[rows.clone()];
            let against: Vec<f64> = u[1..].iter().map(|u| -u).collect();
            let mut z: Vec<f64> = r.iter().zip(&u).map(|(r, u)| r - rho * u).collect();
            let mut p = vec![0.0; block.size];
            match block.kind {
                BlockKind::Unilateral { minimum: 0.0 } => {
                    if block.size > 1 {
                        z[0] -= rho * block.section.support(&against);
                    }
                    block.section.project_on_cone(&z, &mut p);
                }
                BlockKind::Unilateral { minimum } => {
                    p[0] = minimum.max(z[0]);
                    block.section.project(&z[1..], r[0], &mut p[1..]);
                }
                BlockKind::KnownNormal { impulse } => {
                    p[0] = impulse;
                    block.section.project(&z[1..], r[0], &mut p[1..]);
                }
                BlockKind::Bilateral => p.copy_from_slice(&z),
                BlockKind::Bounded { lower, upper } => p[0] = z[0].clamp(lower, upper),
            }
            map += r
                .iter()
                .zip(&p)
                .map(|(r, p)| (r - p) * (r - p))
                .sum::<f64>();
            size += dot(r, r);
            free += rho * rho * dot(&self.free[rows.clone()], &self.free[rows]);
        }
        (map / f64::max(size, free)).sqrt()
    }

    pub(super) fn solve(&self, solver: &mut BodySweepSolver) -> (Vec<f64>, BodySweepOutcome) {
        let mut impulse = vec![0.0; self.free.len()];
        let outcome = solver.solve(&self.operator, &self.free, &self.blocks, &mut impulse);
        (impulse, outcome)
    }
}

fn solver(tolerance: f64) -> BodySweepSolver {
    BodySweepSolver::new(BodySweepSettings {
        tolerance,
        ..Default::default()
    })
}

#[test]
fn random_problems_in_space_and_plane_are_solved_and_judged_alike_from_dense_algebra() {
    for freedoms in [6, 3] {
        let mut solver = solver(1e-9);
        for seed in 1..30 {
            // Few contacts per body: W is regular and a solution exists.
            let bodies = 3 + seed as u32 % 40;
            let contacts = if freedoms == 6 {
                bodies + bodies / 2
            } else {
                bodies
            };
            let sample = Sample::random(freedoms, bodies, contacts as usize, seed);
            let (impulse, outcome) = sample.solve(&mut solver);
            assert_eq!(outcome.unsolved, 0, "{freedoms} {seed} {outcome:?}");
            let residual = sample.residual(&impulse);
            assert!(
                residual <= (1.0 + 1e-3) * outcome.residual + 1e-14,
                "{residual} against {outcome:?}"
            );
            // What solves an island is what a certificate asks for: all parts, not the natural map alone.
            let (w, free) = (sample.operator.dense(), sample.free.clone());
            let problem = ContactProblem::from_dense(w, free, sample.blocks.clone());
            let worst = ContactResidual::of(&problem, &impulse).worst();
            assert!(
                worst <= 1.000_001e-9 && worst <= (1.0 + 1e-3) * outcome.residual + 1e-14,
                "{worst} against {outcome:?}"
            );
            // From its own answer nothing is left to do.
            let mut again = impulse.clone();
            let outcome = solver.solve(&sample.operator, &sample.free, &sample.blocks, &mut again);
            assert_eq!(outcome.sweeps, 0);
            let change = again.iter().zip(&impulse).map(|(a, b)| (a - b).abs());
            assert!(change.fold(0.0, f64::max) <= 1e-13 * dot(&impulse, &impulse).sqrt());
        }
    }
}

#[test]
fn one_contact_is_solved_as_the_scalar_solver_does() {
    use crate::solvers::one_contact::coulomb_disc::PreparedDisc;
    let mut random = Random(77);
    let mut sweeps = 0;
    for _ in 0..2000 {
        let mut sample = Sample::new(6, 2);
        let mu = [0.0, 0.2, 0.7, 1.5][random.below(4) as usize];
        sample.push(&mut random, [0, 1], disc(mu, 2));
        let (impulse, outcome) = sample.solve(&mut solver(1e-13));
        let dense = sample.operator.dense();
        let w = std::array::from_fn(|k| dense[k]);
        let q = std::array::from_fn(|k| sample.free[k]);
        let (exact, _) = PreparedDisc::new(&w, mu, 0.0).solve(&q, &mut 0.0);
        let size = dot(&exact, &exact).sqrt();
        for k in 0..3 {
            assert!(
                (impulse[k] - exact[k]).abs() <= 1e-10 * size,
                "{impulse:?} against {exact:?}, {outcome:?}"
            );
        }
        sweeps = sweeps.max(outcome.sweeps);
    }
    // Open and sticking contacts take one visit, the slip equation a few.
    assert!(sweeps <= 40, "{sweeps}");
}

/// A⁻¹ b of a matrix of three rows, by Cramer's rule.
fn cramer(a: &[f64], b: &[f64]) -> [f64; 3] {
    let column = |k: usize| [a[k], a[3 + k], a[6 + k]];
    let determinant = |c: [[f64; 3]; 3]| dot(&c[0], &cross(&c[1], &c[2]));
    let columns = [column(0), column(1), column(2)];
    let whole = determinant(columns);
    std::array::from_fn(|k| {
        let mut columns = columns;
        columns[k].copy_from_slice(b);
        determinant(columns) / whole
    })
}

#[test]
fn contacts_that_stick_are_solved_at_once_whatever_their_friction() {
    let mut random = Random(31);
    let mut stuck = 0;
    for _ in 0..400 {
        let mut sample = Sample::new(6, 2);
        sample.push(&mut random, [0, 1], disc(1e3, 2));
        // What brings the contact to rest lies in the cone, and no large terms cancel in it.
        let w = sample.operator.dense();
        let exact = cramer(&w, &sample.free).map(|r| -r);
        let size = dot(&exact, &exact).sqrt();
        let trace = w[0] + w[4] + w[8];
        let speed = dot(&sample.free, &sample.free).sqrt();
        if !(sample.free[0] < 0.0 && exact[0] > 0.01 * size && trace * size < 10.0 * speed) {
            continue;
        }
        stuck += 1;
        for mu in [1e3, 1e6, 1e9, 1e12] {
            sample.blocks[0].section = disc(mu, 2);
            let (impulse, outcome) = sample.solve(&mut solver(1e-8));
            assert!(
                outcome.unsolved == 0 && outcome.newton == 0 && outcome.sweeps <= 2,
                "{mu}: {outcome:?}"
            );
            for (r, exact) in impulse.iter().zip(exact) {
                assert!((r - exact).abs() <= 1e-12 * size, "{mu}: {r} {exact}");
            }
        }
    }
    assert!(stuck > 50, "{stuck}");
}

#[test]
fn plain_and_vector_instructions_give_the_same_bits() {
    for freedoms in [6, 3] {
        for seed in 1..6 {
            let sample = Sample::random(freedoms, 150, 300, 100 + seed);
            let settings = BodySweepSettings {
                sweeps_max: 60,
                ..Default::default()
            };
            let (a, first) = sample.solve(&mut BodySweepSolver::new(settings));
            let (b, second) = sample.solve(&mut BodySweepSolver::new(settings).portable());
            assert_eq!(first, second);
            assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()));
            assert!(first.sweeps > 5 && first.residual.is_finite());
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // One island above the size at which it is split, and many small ones.
    let mut random = Random(5);
    let side = 40u32;
    let mut sample = Sample::new(6, (side * side + 300) as usize);
    for x in 0..side {
        for y in 0..side {
            let a = x * side + y;
            for b in [
                (x + 1 < side).then_some(a + side),
                (y + 1 < side).then_some(a + 1),
                Some(NO_BODY),
            ]
            .into_iter()
            .flatten()
            {
                sample.push(&mut random, [a, b], disc(0.4, 2));
            }
        }
    }
    for k in 0..300 {
        sample.push(&mut random, [side * side + k, NO_BODY], disc(0.4, 2));
    }
    let run = |threads: usize| {
        sample.solve(&mut BodySweepSolver::new(BodySweepSettings {
            threads,
            sweeps_max: 80,
            ..Default::default()
        }))
    };
    let (one, first) = run(1);
    for threads in [2, 3] {
        let (other, outcome) = run(threads);
        assert_eq!(first, outcome);
        assert!(
            one.iter()
                .zip(&other)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
    assert_eq!(first.islands, 301);
    assert!(first.sweeps > 5);
}

#[test]
fn islands_are_solved_each_by_itself() {
    // Towers of different height beside a chain that is hard: each has the answer it has alone.
    let mut random = Random(21);
    let heights = [3u32, 9, 1, 30, 5, 2, 7];
    let bodies: u32 = heights.iter().sum();
    let mut all = Sample::new(6, bodies as usize);
    let mut parts = Vec::new();
    let mut base = 0;
    for &height in &heights {
        let mut alone = Sample::new(6, height as usize);
        let seed = random.0;
        for (sample, base) in [(&mut all, base), (&mut alone, 0)] {
            random.0 = seed;
            for k in 0..height {
                let below = if k == 0 { NO_BODY } else { base + k - 1 };
                sample.push(&mut random, [base + k, below], disc(0.5, 2));
            }
        }
        parts.push(alone);
        base += height;
    }
    let (together, outcome) = all.solve(&mut solver(1e-10));
    assert_eq!((outcome.islands, outcome.unsolved), (7, 0));
    let mut at = 0;
    for part in &parts {
        let (alone, _) = part.solve(&mut solver(1e-10));
        let size = dot(&alone, &alone).sqrt();
        for (a, b) in alone.iter().zip(&together[at..]) {
            assert!((a - b).abs() <= 1e-7 * size, "{a} against {b}");
        }
        at += alone.len();
    }
}

#[test]
fn other_laws_are_visited_in_the_same_sweep() {
    let ellipse = FrictionSection::Ellipse {
        map: [[0.6, 0.1], [0.1, 0.2]],
    };
    let product = FrictionSection::Product {
        factors: vec![disc(0.4, 2), disc(0.1, 2), disc(0.05, 1)].into(),
        scale: 1.0,
    };
    let sections = [ellipse, disc(0.5, 2), product, disc(0.0, 2), disc(0.3, 1)];
    for seed in 0..6 {
        let mut random = Random(300 + seed);
        let bodies = 20;
        let mut sample = Sample::new(6, bodies as usize);
        for k in 0..bodies {
            let section = sections[random.below(5) as usize].clone();
            let below = if k % 5 == 0 { NO_BODY } else { k - 1 };
            sample.push(&mut random, [k, below], section);
        }
        // Least and known normal impulses.
        sample.blocks[3].kind = BlockKind::Unilateral { minimum: 0.2 };
        sample.blocks[8].kind = BlockKind::KnownNormal { impulse: 0.1 };
        // A joint, and a motor that cannot pull.
        sample.blocks[11].kind = BlockKind::Bilateral;
        sample.push(&mut random, [13, 14], FrictionSection::None);
        sample.blocks[20].kind = BlockKind::Bounded {
            lower: -0.05,
            upper: 0.02,
        };
        let (impulse, outcome) = sample.solve(&mut solver(1e-8));
        assert_eq!(outcome.unsolved, 0, "{seed} {outcome:?}");
        let residual = sample.residual(&impulse);
        assert!(residual <= 1.01e-8, "{residual:e}");
        assert!(impulse[sample.blocks[3].start] >= 0.2);
        assert_eq!(impulse[sample.blocks[8].start], 0.1);
    }
}

#[test]
fn a_body_that_touches_itself_and_sides_that_cannot_move() {
    let mut random = Random(8);
    let mut sample = Sample::new(6, 2);
    sample.push(&mut random, [1, 1], disc(0.5, 2));
    sample.push(&mut random, [NO_BODY, NO_BODY], disc(0.5, 2));
    sample.push(&mut random, [0, 1], disc(0.5, 2));
    let (impulse, outcome) = sample.solve(&mut solver(1e-10));
    assert_eq!(outcome.unsolved, 0);
    assert_eq!(impulse[3..6], [0.0; 3]);
    // Nothing to press against: judged without the contact that nothing can move.
    let mut movable = Sample::new(6, 2);
    for contact in [0, 2] {
        let rows = sample.operator.rows_of(contact);
        let numbers: Vec<f64> = rows
            .clone()
            .flat_map(|row| sample.operator.row(row).to_vec())
            .collect();
        let sides = sample.operator.sides(contact);
        movable.operator.push(3, sides).copy_from_slice(&numbers);
        movable
            .blocks
            .push(block(movable.free.len(), 3, disc(0.5, 2)));
        movable.free.extend_from_slice(&sample.free[rows]);
    }
    let both = [&impulse[..3], &impulse[6..]].concat();
    assert!(movable.residual(&both) <= 1.01e-10);
}

#[test]
fn a_guess_that_is_not_finite_is_not_used() {
    let sample = Sample::random(6, 10, 14, 3);
    let mut impulse = vec![f64::NAN; sample.free.len()];
    let outcome = solver(1e-9).solve(&sample.operator, &sample.free, &sample.blocks, &mut impulse);
    assert_eq!(outcome.unsolved, 0);
    assert!(sample.residual(&impulse) <= 1.01e-9);
}

/// A tower of boxes of side 1 with a heavy one on top, h = 1 ms, at rest: four corners per joint.
fn heavy_tower(boxes: usize, ratio: f64) -> Sample {
    let mut sample = Sample::new(6, boxes);
    let mass = |k: usize| if k + 1 == boxes { ratio } else { 1.0 };
    for k in 0..boxes {
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let below = if k == 0 { NO_BODY } else { k as u32 - 1 };
            let numbers = sample.operator.push(3, [k as u32, below]);
            let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
            for (r, f) in frame.iter().enumerate() {
                for (s, (body, z)) in [(k, -0.5), (k.wrapping_sub(1), 0.5)]
                    .into_iter()
                    .enumerate()
                {
                    if body == usize::MAX {
                        continue;
                    }
                    let (sign, m) = (1.0 - 2.0 * s as f64, mass(body));
                    let turn = cross(&[x, y, z], f);
                    for c in 0..3 {
                        numbers[12 * r + 6 * s + c] = sign * f[c] / m.sqrt();
                        numbers[12 * r + 6 * s + 3 + c] = sign * turn[c] / (m / 6.0).sqrt();
                    }
                }
            }
            sample
                .blocks
                .push(block(sample.free.len(), 3, disc(0.5, 2)));
            // Only the lowest box approaches something that does not fall.
            let fall = if k == 0 { -9.81e-3 } else { 0.0 };
            sample.free.extend_from_slice(&[fall, 0.0, 0.0]);
        }
    }
    sample
}

#[test]
fn towers_with_a_thousandfold_mass_on_top_are_solved_from_zero_impulses() {
    for (boxes, ratio) in [(10, 1000.0), (30, 1000.0)] {
        let sample = heavy_tower(boxes, ratio);
        let (impulse, outcome) = sample.solve(&mut solver(1e-8));
        assert_eq!(outcome.unsolved, 0, "{outcome:?}");
        assert_eq!(outcome.newton, 1, "{outcome:?}");
        assert!(sample.residual(&impulse) <= 1.01e-8);
        // The lowest joint carries the weight of all; the residual bounds velocities, of which the heavy box has little.
        let carried: f64 = (0..4).map(|k| impulse[3 * k]).sum();
        let weight = 9.81e-3 * (ratio + boxes as f64 - 1.0);
        assert!((carried - weight).abs() <= 2e-3 * weight, "{carried}");
    }
}

/// More bodies than Newton's method is tried on early, and nothing for patches or for Newton's method without a matrix to hold on to.
#[test]
fn a_tower_that_every_other_method_leaves_is_factorised() {
    let sample = heavy_tower(super::finish::MOST_BODIES + 20, 100.0);
    let (impulse, outcome) = sample.solve(&mut solver(1e-8));
    assert_eq!(outcome.unsolved, 0, "{outcome:?}");
    assert!(sample.residual(&impulse) <= 1.01e-8);
}

#[test]
fn answers_of_newton_and_of_sweeps_stand_side_by_side() {
    // Two heavy towers and many light contacts: one problem with islands of both kinds.
    let tower = heavy_tower(12, 1000.0);
    let mut random = Random(4);
    let mut sample = Sample::new(6, 60);
    for (base, count) in [(0u32, 1), (20, 1), (40, 0)] {
        for contact in 0..count * tower.operator.contacts() {
            let sides = tower
                .operator
                .sides(contact)
                .map(|s| if s == NO_BODY { s } else { s + base });
            let numbers = sample.operator.push(3, sides);
            for (out, row) in numbers
                .chunks_exact_mut(12)
                .zip(tower.operator.rows_of(contact))
            {
                out.copy_from_slice(tower.operator.row(row));
            }
            sample
                .blocks
                .push(block(sample.free.len(), 3, disc(0.5, 2)));
            sample
                .free
                .extend_from_slice(&tower.free[tower.operator.rows_of(contact)]);
        }
    }
    for k in 0..20 {
        sample.push(&mut random, [40 + k, NO_BODY], disc(0.3, 2));
    }
    let (impulse, outcome) = sample.solve(&mut solver(1e-8));
    assert_eq!(
        (outcome.unsolved, outcome.islands, outcome.newton),
        (0, 22, 2)
    );
    assert!(sample.residual(&impulse) <= 1.01e-8);
}

#[test]
fn newtons_method_without_a_matrix_solves_sliding_bodies_from_zero_impulses() {
    for freedoms in [6, 3] {
        let mut solved = 0;
        for seed in 1..21 {
            let bodies = 60;
            let contacts = if freedoms == 6 { 100 } else { 60 };
            let sample = Sample::random(freedoms, bodies, contacts, 1000 + seed);
            let mut method = NewtonKrylov::default();
            method.island.problem = IslandProblem {
                operator: sample.operator.clone(),
                free: sample.free.clone(),
                blocks: sample.blocks.clone(),
                impulse: vec![0.0; sample.free.len()],
                noise: 0.0,
            };
            let (map, size) = method.run(1e-9, 20).expect("discs");
            let impulse = method.flat;
            // Its own measure is that of dense algebra, solved or not.
            let residual = sample.residual(&impulse);
            let own = (map / size).sqrt();
            assert!(residual <= 1.001 * own + 1e-14, "{residual} {own}");
            solved += usize::from(residual <= 1e-9);
        }
        assert!(solved >= 19, "{freedoms}: {solved} of 20");
    }
}

#[test]
fn rounding_does_not_grow_with_the_momentum_of_a_thousand_sweeps() {
    // A tall pile of balls of unequal mass that falls at unit speed: no sweep is idle, and momentum is never given up for long.
    let (bodies, mut random) = (450, Random(7));
    let mut sample = Sample::new(6, bodies);
    let masses: Vec<f64> = (0..bodies).map(|_| 1.25 + 0.5 * random.next()).collect();
    for (ball, mass) in masses.iter().enumerate() {
        let below = ball.checked_sub(1);
        let sides = [ball as u32, below.map_or(NO_BODY, |below| below as u32)];
        let numbers = sample.operator.push(1, sides);
        numbers[2] = 1.0 / mass.sqrt();
        if let Some(below) = below {
            numbers[8] = -1.0 / masses[below].sqrt();
        }
        sample.free.push(if ball == 0 { -1.0 } else { 0.0 });
        sample.blocks.push(block(ball, 1, FrictionSection::None));
    }
    let settings = BodySweepSettings {
        tolerance: 1e-10,
        sweeps_max: 4000,
        rounds_max: 0,
        threads: 1,
    };
    let mut impulse = vec![0.0; bodies];
    let outcome = BodySweepSolver::new(settings).solve(
        &sample.operator,
        &sample.free,
        &sample.blocks,
        &mut impulse,
    );
    assert_eq!(outcome.unsolved, 0, "{outcome:?}");
    // Each contact carries the momentum of all balls above it; the least eigenvalue of the chain, over its diagonal, is (π/2N)²/2.
    let size = dot(&impulse, &impulse).sqrt();
    let slack = (2.0 * bodies as f64 / std::f64::consts::PI).powi(2);
    let mut above = 0.0;
    for (ball, mass) in masses.iter().enumerate().rev() {
        above += mass;
        let error = (impulse[ball] - above).abs();
        assert!(error < 2e-10 * slack * size, "ball {ball}: {error:e}");
    }
}

/// Velocity that gravity gains in a step, and that of two walls that part.
const FALL: f64 = 0.01;
const PARTING: f64 = 1e-6;

impl Sample {
    /// A contact of a ball of unit mass, without arms: the axis of its normal and its sign, the ball on the other side, and the velocities without impulses.
    fn axis(&mut self, sides: [u32; 2], (axis, sign): (usize, f64), mu: f64, free: [f64; 3]) {
        let numbers = self.operator.push(3, sides);
        for (r, row) in numbers.chunks_exact_mut(12).enumerate() {
            let k = (axis + r) % 3;
            for (s, side) in sides.into_iter().enumerate() {
                if side != NO_BODY {
                    row[6 * s + k] = if r == 0 { sign } else { 1.0 } * [1.0, -1.0][s];
                }
            }
        }
        self.blocks.push(block(self.free.len(), 3, disc(mu, 2)));
        self.free.extend(free);
    }

    /// A ball that falls between two walls that part, pinched by unit impulses: they drift down to nothing, two millionths a sweep.
    fn pinched(&mut self, ball: u32, impulse: &mut Vec<f64>) {
        for sign in [1.0, -1.0] {
            self.axis([ball, NO_BODY], (0, sign), 0.5, [PARTING, 0.0, -FALL]);
            impulse.extend([1.0, 0.0, 0.5 * FALL]);
        }
    }
}

#[test]
fn a_ray_leads_impulses_that_drift_to_their_cones() {
    let (mut sample, mut impulse) = (Sample::new(6, 1), Vec::new());
    sample.pinched(0, &mut impulse);
    let mut island = Island::default();
    island.problem = IslandProblem {
        operator: sample.operator,
        free: sample.free,
        blocks: sample.blocks,
        impulse,
        noise: 0.0,
    };
    island.prepare().expect("discs");
    let mut r = vec![[1.0, 0.0, 0.5 * FALL]; 2];
    assert!(Ray::default().follow(&island, &mut r, (0, 20)));
    // Friction carries half of the ball at each side: r_T = FALL/2 = r_N/2. A ray goes a ten-thousandth of its way farther.
    for r in r {
        assert!((r[0] - FALL).abs() < 1e-4, "{r:?}");
        assert!((r[2] - 0.5 * FALL).abs() < 1e-4, "{r:?}");
    }
}

#[test]
fn a_large_island_that_two_contacts_hold_up_is_solved_around_them() {
    let (bodies, pinched) = (600, 300);
    let (mut sample, mut impulse) = (Sample::new(6, bodies as usize), Vec::new());
    for ball in 0..bodies {
        if ball == pinched {
            sample.pinched(ball, &mut impulse);
        } else {
            sample.axis([ball, NO_BODY], (2, 1.0), 0.3, [-FALL, 0.0, 0.0]);
            impulse.extend([FALL, 0.0, 0.0]);
        }
        if ball > 0 {
            // Neighbours along y, which the next step may close.
            sample.axis([ball, ball - 1], (1, 1.0), 0.3, [1.0, 0.0, 0.0]);
            impulse.extend([0.0; 3]);
        }
    }
    let solve = |impulse: &mut [f64], rounds_max: u32| {
        let settings = BodySweepSettings {
            rounds_max,
            ..BodySweepSettings::default()
        };
        let (operator, free) = (&sample.operator, &sample.free);
        BodySweepSolver::new(settings).solve(operator, free, &sample.blocks, impulse)
    };
    // A thousand sweeps do not get there.
    assert_eq!(solve(&mut impulse.clone(), 0).unsolved, 1);
    let outcome = solve(&mut impulse, 20);
    assert_eq!((outcome.unsolved, outcome.newton), (0, 0), "{outcome:?}");
    let residual = sample.residual(&impulse);
    assert!(residual <= 1.01e-8, "{residual:e}");
    // The walls part, so the ball falls freely.
    for (contact, block) in sample.blocks.iter().enumerate() {
        if sample.operator.sides(contact) == [pinched, NO_BODY] {
            let r = &impulse[block.range()];
            assert!(r.iter().all(|r| r.abs() < 1e-5), "{r:?}");
        }
    }
}
