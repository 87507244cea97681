//! Contacts that do not act on each other: each group is examined by itself, and every solution of one goes with every solution of the
//! others. A search of all together would have to meet each of these products by chance, and a tree of all would multiply theirs.

use crate::contact::ContactProblem;
use crate::solvers::uniqueness::{Component, components, is_small};

use super::{Continuum, Enumeration, EnumerationSettings, Examined, FoundSolution, Method, Mode};
use super::{Work, alone};

/// More products than these are not listed.
const PRODUCTS_MAX: usize = 10_000;
/// Most rows of a problem whose groups are looked for, in the whole of W.
const ROWS: usize = 3_000;

/// Rows and blocks of a group in the whole problem, with its solutions.
struct Group {
    rows: Vec<usize>,
    blocks: Vec<usize>,
    found: Vec<FoundSolution>,
}

/// The solutions group by group; none where there is one group only, that is small.
pub(super) fn enumerate(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
    work: &Work,
) -> Option<Enumeration> {
    let planar = problem.blocks().iter().all(|block| block.size <= 2);
    if problem.blocks().len() < 2 || planar && is_small(problem.blocks()) {
        return None;
    }
    if problem.size() > ROWS {
        return Some(unexamined(problem));
    }
    let lists = components(problem);
    if lists.len() < 2 {
        return None;
    }
    let (mut method, mut effort) = (Method::Exact, 0);
    let mut groups = Vec::with_capacity(lists.len());
    let mut examined = Vec::with_capacity(lists.len());
    for blocks in lists {
        let part = Component::new(problem, &blocks);
        let found = alone(&part.problem, settings, work);
        method = worse(method, found.method);
        effort += found.effort;
        examined.push(Examined::of(blocks.clone(), &found));
        let rows = blocks.iter().flat_map(|&b| problem.blocks()[b].range());
        groups.push(Group {
            rows: rows.collect(),
            blocks,
            found: found.solutions,
        });
    }
    let count = (groups.iter()).fold(1usize, |n, group| n.saturating_mul(group.found.len()));
    if count > PRODUCTS_MAX {
        method = Method::Truncated;
    }
    let solutions = (0..count.min(PRODUCTS_MAX))
        .map(|number| product(problem, &groups, number))
        .collect();
    Some(Enumeration {
        solutions,
        method,
        effort,
        groups: examined,
    })
}

/// Contacts that are too many for anything to be told of them.
pub(super) fn unexamined(problem: &ContactProblem) -> Enumeration {
    let mut found = Enumeration {
        solutions: Vec::new(),
        method: Method::Truncated,
        effort: 0,
        groups: Vec::new(),
    };
    let blocks = (0..problem.blocks().len()).collect();
    found.groups = vec![Examined::of(blocks, &found)];
    found
}

/// What is cut leaves more out than a search.
fn worse(a: Method, b: Method) -> Method {
    match (a, b) {
        (Method::Truncated, _) | (_, Method::Truncated) => Method::Truncated,
        (Method::Search, _) | (_, Method::Search) => Method::Search,
        _ => Method::Exact,
    }
}

/// One solution of every group; the last group counts fastest.
fn product(problem: &ContactProblem, groups: &[Group], mut number: usize) -> FoundSolution {
    let mut taken: Vec<&FoundSolution> = Vec::with_capacity(groups.len());
    for group in groups.iter().rev() {
        taken.push(&group.found[number % group.found.len()]);
        number /= group.found.len();
    }
    taken.reverse();
    let parts = || groups.iter().zip(&taken);
    let mut impulse = vec![0.0; problem.size()];
    let mut modes = vec![Mode::Open; problem.blocks().len()];
    for (group, solution) in parts() {
        scatter(&group.rows, &solution.impulse, &mut impulse);
        let own = group.blocks.iter().zip(&solution.modes);
        own.for_each(|(&b, &mode)| modes[b] = mode);
    }
    let continuum = joined(groups, &taken, &impulse);
    let mut whole = FoundSolution::certified(problem, impulse, modes, continuum);
    whole.decided = taken.iter().all(|solution| solution.decided);
    for (group, solution) in parts() {
        let rows = &group.rows;
        for (own, all) in [
            (&solution.range, &mut whole.range),
            (&solution.velocity_range, &mut whole.velocity_range),
        ] {
            scatter(rows, &own.least, &mut all.least);
            scatter(rows, &own.largest, &mut all.largest);
        }
    }
    whole
}

/// The continuum of all groups together; its ends are known where one of them has one.
fn joined(groups: &[Group], taken: &[&FoundSolution], impulse: &[f64]) -> Option<Continuum> {
    let parts = groups.iter().zip(taken);
    let owned: Vec<(&Group, &Continuum)> = parts
        .filter_map(|(group, solution)| Some((group, solution.continuum.as_ref()?)))
        .collect();
    if owned.is_empty() {
        return None;
    }
    let ends = match owned[..] {
        [(group, only)] => (only.ends.iter())
            .map(|end| {
                let mut whole = impulse.to_vec();
                scatter(&group.rows, end, &mut whole);
                whole
            })
            .collect(),
        _ => Vec::new(),
    };
    let directions = owned.iter().flat_map(|(group, own)| {
        own.unbounded.iter().map(|direction| {
            let mut whole = vec![0.0; impulse.len()];
            scatter(&group.rows, direction, &mut whole);
            whole
        })
    });
    Some(Continuum {
        dimension: owned.iter().map(|(_, own)| own.dimension).sum(),
        moves_velocity: owned.iter().any(|(_, own)| own.moves_velocity),
        ends,
        unbounded: directions.collect(),
    })
}

fn scatter(rows: &[usize], own: &[f64], whole: &mut [f64]) {
    for (&row, &x) in rows.iter().zip(own) {
        whole[row] = x;
    }
}
