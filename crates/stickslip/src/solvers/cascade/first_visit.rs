//! One exact visit of each contact, before anything is prepared.

use crate::contact::ContactProblem;
use crate::contact::delassus::SweepVelocity;
use crate::laws::FrictionSection;
use crate::solvers::one_contact::coulomb_disc::{DiscOutcome, PreparedDisc};
use crate::solvers::one_contact::{LocalOutcome, LocalScratch, OneContact, solve_coulomb};

/// Impulses after one exact visit of each contact; `None` where W has more than `blocks_max` blocks, or a contact has no solution.
pub(super) fn visit_each(problem: &ContactProblem, blocks_max: usize) -> Option<Vec<f64>> {
    let blocks = problem.blocks();
    let stored = match problem.delassus().blocks() {
        Some(matrix) => matrix.stored_blocks(),
        None => blocks.len() * blocks.len(),
    };
    if stored > blocks_max {
        return None;
    }
    let mut r = vec![0.0; problem.size()];
    let (mut matrix, mut u) = (Vec::new(), Vec::new());
    let mut scratch = LocalScratch::default();
    let mut running = SweepVelocity::default();
    problem.delassus().begin_sweep(&r, &mut running);
    for block in blocks {
        // Contacts not visited yet have no impulse.
        u.clear();
        let w = problem.delassus();
        w.velocity_of_others(block.range(), &r, problem.free(), &running, &mut u);
        if u[0] >= 0.0 {
            continue;
        }
        matrix.clear();
        problem
            .delassus()
            .diagonal_block(block.range(), &mut matrix);
        let p = &mut r[block.range()];
        let own: Result<&[f64; 9], _> = matrix.as_slice().try_into();
        if let (FrictionSection::Disc { mu, .. }, Ok(own)) = (&block.section, own) {
            let u = [u[0], u[1], u[2]];
            let (impulse, outcome) = PreparedDisc::new(own, *mu, 0.0).solve(&u, &mut 0.0);
            if outcome == DiscOutcome::NoSolution {
                return None;
            }
            p.copy_from_slice(&impulse);
            for i in block.range() {
                problem.delassus().update_sweep(i, r[i], &mut running);
            }
            continue;
        }
        if !(matrix[0] > 0.0) {
            return None;
        }
        let local = OneContact {
            w: &matrix,
            q: &u,
            section: &block.section,
            normal_impulse_min: 0.0,
        };
        match solve_coulomb(&local, p, &mut scratch) {
            LocalOutcome::NoSolution | LocalOutcome::Stalled { .. } => return None,
            _ => {}
        }
        for i in block.range() {
            problem.delassus().update_sweep(i, r[i], &mut running);
        }
    }
    Some(r)
}
