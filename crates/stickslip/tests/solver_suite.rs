//! Every solver on every problem file of `tests/data/fclib`, judged by the residual that no
//! solver shares; and the odd cases a solver must answer by name.

use std::path::PathBuf;
use std::time::Duration;
use stickslip::algebra::SparseRows;
use stickslip::contact::fclib::{FclibFile, FclibProblem};
use stickslip::contact::{
    BlockKind, ContactBlock, ContactKey, ContactProblem, Judgement, SolveStatus,
};
use stickslip::laws::{FlowRule, FrictionSection};
use stickslip::solvers::SolverLimits;
use stickslip::solvers::StoppingTest;
use stickslip::solvers::cascade::{CoulombMethod, solve};
use stickslip::solvers::minimum_norm::least_impulses;

fn problems() -> Vec<(String, ContactProblem)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/fclib");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hdf5"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 20, "the suite is complete");
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let problem = match FclibFile::read(&path).unwrap().problem {
                FclibProblem::Local(local) => local,
                FclibProblem::Global(global) => global.condense().unwrap().local,
            };
            (name, problem)
        })
        .collect()
}

fn named(name: &str) -> ContactProblem {
    let found = problems().into_iter().find(|(n, _)| n == name);
    found.unwrap().1
}

fn limits(tolerance: f64) -> SolverLimits {
    SolverLimits {
        tolerance,
        ..SolverLimits::default()
    }
}

#[test]
fn the_cascade_solves_every_problem_of_the_suite() {
    for (name, problem) in problems() {
        for tolerance in [1e-4, 1e-8] {
            let solution = solve(&problem, CoulombMethod::Cascade, &limits(tolerance), None);
            let residual = Judgement::of(&problem, &solution.impulse);
            assert!(
                solution.status.is_solved(),
                "{name} at {tolerance:e}: {residual:?}"
            );
            assert!(residual.accepts(1.01 * tolerance), "{name}: {residual:?}");
        }
    }
}

#[test]
fn the_cascade_reaches_rounding() {
    for (name, problem) in problems() {
        let solution = solve(&problem, CoulombMethod::Cascade, &limits(1e-12), None);
        assert!(
            Judgement::of(&problem, &solution.impulse).accepts(1.01e-12),
            "{name}: {:?}",
            solution.judgement.unwrap()
        );
    }
}

#[test]
fn least_impulses_do_not_depend_on_the_solution_they_come_from() {
    // Columns: many impulses, one motion, one of them of least norm.
    for name in ["boxcol10-00040-k0013", "boxcol40-00160-k0043"] {
        let problem = named(name);
        let least = |method: CoulombMethod| {
            let mut solution = solve(&problem, method, &limits(1e-11), None);
            assert!(solution.status.is_solved(), "{name} {method:?}");
            let ratio = least_impulses(&problem, &mut solution, 1e-9);
            assert!(ratio < 1.0, "{name} {method:?}: {ratio}");
            assert!(Judgement::of(&problem, &solution.impulse).accepts(1e-9));
            solution.impulse
        };
        let sweeps = least(CoulombMethod::ProximalNewton);
        let interior = least(CoulombMethod::InteriorPoint);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let difference: Vec<f64> = sweeps.iter().zip(&interior).map(|(a, b)| a - b).collect();
        // Both solve to 1e-11; the smallest eigenvalues of W are some 1e-6 of the largest.
        let relative = norm(&difference) / norm(&sweeps);
        assert!(relative < 1e-5, "{name}: {relative:e}");
    }
}

#[test]
fn lemkes_method_solves_the_plane_and_leaves_space_alone() {
    let plane = named("sic_2dglobal-gfc2d_granularflowonwall_00069_00350");
    let solution = solve(&plane, CoulombMethod::Lemke, &limits(1e-10), None);
    assert_eq!(solution.status, SolveStatus::Converged);
    // A wedge between two walls: normal and tangent at two points of one body.
    let rows = [
        [0.8, 0.6, 0.2],
        [-0.6, 0.8, 1.0],
        [-0.8, 0.6, -0.2],
        [0.6, 0.8, -1.0],
    ];
    let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let w: Vec<f64> = rows
        .iter()
        .flat_map(|a| rows.iter().map(move |b| dot(a, b)))
        .collect();
    let q = rows.iter().map(|a| dot(a, &[0.1, -1.0, 0.0])).collect();
    let wedge = ContactProblem::coulomb_from_dense(2, &w, q, vec![0.8; 2]).unwrap();
    let solution = solve(&wedge, CoulombMethod::Lemke, &limits(1e-12), None);
    assert!(
        solution.status.is_solved(),
        "{:?}",
        solution.judgement.unwrap()
    );
    let space = named("rockslope-00033-k0036");
    let solution = solve(&space, CoulombMethod::Lemke, &limits(1e-8), None);
    assert_eq!(solution.status, SolveStatus::Stalled);
}

#[test]
fn no_solver_claims_what_the_residual_denies() {
    for (name, problem) in problems() {
        if problem.blocks().len() > 300 {
            continue;
        }
        for method in CoulombMethod::ALL {
            let limits = SolverLimits {
                iterations: 3000,
                ..limits(1e-6)
            };
            let solution = solve(&problem, method, &limits, None);
            let residual = Judgement::of(&problem, &solution.impulse);
            assert!(
                residual.published.is_finite(),
                "{name} by {}",
                method.name()
            );
            assert_eq!(
                solution.status.is_solved(),
                residual.accepts(1.01e-6),
                "{name} by {}: {:?} {residual:?}",
                method.name(),
                solution.status
            );
        }
    }
}

#[test]
fn units_of_mass_length_and_time_do_not_change_the_path() {
    // Powers of two, so that not even rounding differs.
    let problem = named("cubesmu15-00162-k0060");
    let (mass, velocity) = (2f64.powi(-20), 2f64.powi(7));
    let rows = problem.delassus().to_rows();
    let (start, column, value) = rows.parts();
    let scaled = SparseRows::new(
        rows.columns(),
        start.to_vec(),
        column.to_vec(),
        value.iter().map(|w| w * mass).collect(),
    )
    .unwrap();
    let q = problem.free().iter().map(|q| q * velocity).collect();
    let other =
        ContactProblem::coulomb_from_rows(3, &scaled, q, problem.coulomb_data().unwrap().friction)
            .unwrap();
    let limits = SolverLimits {
        test: StoppingTest::Natural,
        ..limits(1e-10)
    };
    let a = solve(&problem, CoulombMethod::Cascade, &limits, None);
    let b = solve(&other, CoulombMethod::Cascade, &limits, None);
    assert!(a.status.is_solved());
    assert_eq!(a.cost.products, b.cost.products);
    assert_eq!(a.cost.factorizations, b.cost.factorizations);
    for (a, b) in a.impulse.iter().zip(&b.impulse) {
        assert_eq!(a * velocity / mass, *b);
    }
}

#[test]
fn the_same_problem_gives_the_same_bits() {
    let problem = named("jam30-00142-k0020");
    let a = solve(&problem, CoulombMethod::Cascade, &limits(1e-8), None);
    let b = solve(&problem, CoulombMethod::Cascade, &limits(1e-8), None);
    assert_eq!(a.impulse, b.impulse);
}

#[test]
fn a_limit_returns_the_best_point_marked_as_such() {
    let problem = named("owncol100-00400-global");
    let limits = SolverLimits {
        time: Some(Duration::ZERO),
        ..limits(1e-8)
    };
    let solution = solve(&problem, CoulombMethod::Cascade, &limits, None);
    assert_eq!(solution.status, SolveStatus::LimitReached);
    assert!(solution.judgement.unwrap().published.is_finite());
}

#[test]
fn a_solution_given_as_guess_is_recognised() {
    let problem = named("spheres125-00078-k0022");
    let first = solve(&problem, CoulombMethod::Cascade, &limits(1e-10), None);
    let again = solve(
        &problem,
        CoulombMethod::Cascade,
        &limits(1e-10),
        Some(&first.impulse),
    );
    assert_eq!(again.cost.products, 0, "nothing is prepared");
    assert!(again.status.is_solved());
}

#[test]
fn an_empty_problem_is_solved() {
    let problem = ContactProblem::coulomb_from_dense(3, &[], vec![], vec![]).unwrap();
    let solution = solve(&problem, CoulombMethod::Cascade, &limits(1e-12), None);
    assert_eq!(solution.status, SolveStatus::Converged);
    assert!(solution.impulse.is_empty());
}

/// Two contacts, the second with the given diagonal and approach velocity, uncoupled.
fn two(diagonal: f64, approach: f64, mu: f64) -> ContactProblem {
    let mut w = vec![0.0; 36];
    for k in 0..3 {
        w[7 * k] = 1.0;
        w[7 * (k + 3)] = diagonal;
    }
    let q = vec![-1.0, 0.3, 0.1, approach, 0.2, 0.0];
    ContactProblem::coulomb_from_dense(3, &w, q, vec![0.4, mu]).unwrap()
}

#[test]
fn an_immovable_contact_is_right_or_a_named_verdict() {
    let open = solve(
        &two(0.0, 0.5, 0.4),
        CoulombMethod::Cascade,
        &limits(1e-12),
        None,
    );
    assert!(open.status.is_solved());
    let limited = SolverLimits {
        iterations: 5000,
        ..limits(1e-12)
    };
    let closed = solve(&two(0.0, -0.5, 0.4), CoulombMethod::Cascade, &limited, None);
    assert_eq!(closed.status, SolveStatus::NoSolution { block: 1 });
}

#[test]
fn friction_from_zero_to_a_thousand() {
    for mu in [0.0, 1e-6, 1.0, 1e3] {
        // The problem lies in space, which Lemke's method leaves alone.
        let in_space = CoulombMethod::ALL.into_iter();
        for method in in_space.filter(|&method| method != CoulombMethod::Lemke) {
            let solution = solve(&two(2.0, -0.5, mu), method, &limits(1e-10), None);
            assert!(solution.status.is_solved(), "mu {mu} by {}", method.name());
        }
    }
}

/// Two coupled contacts in space, W scaled by `k`: one slides where μ is moderate.
fn coupled(k: f64, mu: [f64; 2]) -> ContactProblem {
    let w = [
        [2.0, 1.0, 0.0, 0.5, 0.0, 0.0],
        [1.0, 2.0, 0.0, 0.0, 0.5, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.5, 0.0, 0.0, 2.0, -1.0, 0.0],
        [0.0, 0.5, 0.0, -1.0, 2.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ];
    let blocks = (0..2).map(|c| ContactBlock {
        key: ContactKey::declared(c, 0),
        start: 3 * c,
        size: 3,
        section: FrictionSection::ball(mu[c], 2).expect("valid"),
        flow_rule: FlowRule::Coulomb,
        kind: BlockKind::Unilateral { minimum: 0.0 },
    });
    let w = w.as_flattened().iter().map(|w| k * w).collect();
    let q = vec![-1.0, 1.0, 0.2, -1.0, 0.5, -0.3];
    ContactProblem::from_dense(w, q, blocks.collect())
}

#[test]
fn units_that_hide_the_laws_from_the_published_error_are_seen_through() {
    let reference = solve(
        &coupled(1.0, [0.3, 0.5]),
        CoulombMethod::Cascade,
        &limits(1e-10),
        None,
    );
    for k in [1e-6, 1e6, 1e8, 1e12, 1e150] {
        let problem = coupled(k, [0.3, 0.5]);
        let solution = solve(&problem, CoulombMethod::Cascade, &limits(1e-8), None);
        assert!(solution.status.is_solved(), "{k}: {:?}", solution.status);
        for (r, exact) in solution.impulse.iter().zip(&reference.impulse) {
            assert!(
                (k * r - exact).abs() < 1e-4,
                "{k}: {:?}",
                solution.judgement
            );
        }
    }
}

#[test]
fn contacts_that_stick_at_very_large_friction_are_solved() {
    // Both stick: W r + q = 0.
    let exact = |problem: &ContactProblem, r: &[f64]| {
        let mut u = vec![0.0; 6];
        problem.local_velocity(r, &mut u);
        u.iter().all(|u| u.abs() < 1e-7)
    };
    for mu in [1e3, 1e6, 1e8, 1e9, 1e12] {
        let problem = coupled(1.0, [mu; 2]);
        let solution = solve(&problem, CoulombMethod::Cascade, &limits(1e-8), None);
        assert_eq!(solution.status, SolveStatus::Converged, "{mu}");
        assert!(exact(&problem, &solution.impulse), "{mu}: {solution:?}");
        let residual = solution.judgement.unwrap().residual;
        assert!(residual.worst() < 1e-8, "{mu}: {residual:?}");
    }
}

#[test]
fn a_problem_in_the_plane_keeps_its_size() {
    let problem = named("sic_2dglobal-gfc2d_granularflowonwall_00069_00350");
    let solution = solve(&problem, CoulombMethod::Cascade, &limits(1e-12), None);
    assert!(solution.status.is_solved());
    assert_eq!(solution.impulse.len(), 2 * problem.blocks().len());
}

#[test]
fn tiny_asymmetry_changes_nothing_that_matters() {
    let problem = named("cubesmu15-00162-k0060");
    let rows = problem.delassus().to_rows();
    let (start, column, value) = rows.parts();
    let mut tilted = value.to_vec();
    for (k, w) in tilted.iter_mut().enumerate() {
        *w *= 1.0 + 1e-9 * ((k * k) as f64).sin();
    }
    let rows = SparseRows::new(rows.columns(), start.to_vec(), column.to_vec(), tilted).unwrap();
    let q = problem.free().to_vec();
    let other =
        ContactProblem::coulomb_from_rows(3, &rows, q, problem.coulomb_data().unwrap().friction)
            .unwrap();
    let solution = solve(&other, CoulombMethod::Cascade, &limits(1e-10), None);
    assert!(solution.status.is_solved());
    assert!(Judgement::of(&other, &solution.impulse).accepts(1.01e-10));
}

#[test]
fn contacts_without_normal_coupling_are_solved() {
    // Tangents of neighbours coupled, normals of no two contacts.
    let n = 5;
    let mut w = vec![0.0; 9 * n * n];
    for i in 0..n {
        for k in 0..3 {
            w[(3 * i + k) * (3 * n + 1)] = 2.0;
        }
        if i + 1 < n {
            for k in 1..3 {
                w[(3 * i + k) * 3 * n + 3 * i + 3 + k] = -0.8;
                w[(3 * i + 3 + k) * 3 * n + 3 * i + k] = -0.8;
            }
        }
    }
    let q: Vec<f64> = (0..3 * n)
        .map(|k| if k % 3 == 0 { -1.0 } else { (k as f64).cos() })
        .collect();
    let problem = ContactProblem::coulomb_from_dense(3, &w, q, vec![0.3; n]).unwrap();
    let solution = solve(&problem, CoulombMethod::Cascade, &limits(1e-12), None);
    assert!(solution.status.is_solved());
    for i in 0..n {
        // u_N = 2 r_N - 1 = 0.
        assert!((solution.impulse[3 * i] - 0.5).abs() < 1e-12);
    }
}

#[test]
fn an_inconsistent_problem_is_never_called_solved() {
    // One direction of motion for two contacts that face each other: both approach, none can yield.
    let mut w = vec![0.0; 36];
    for (a, b, value) in [(0, 0, 1.0), (3, 3, 1.0), (0, 3, -1.0), (3, 0, -1.0)] {
        w[6 * a + b] = value;
    }
    let problem = ContactProblem::coulomb_from_dense(
        3,
        &w,
        vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0],
        vec![0.0; 2],
    )
    .unwrap();
    let limited = SolverLimits {
        iterations: 20_000,
        ..limits(1e-10)
    };
    let solution = solve(&problem, CoulombMethod::Cascade, &limited, None);
    assert!(!solution.status.is_solved());
    assert!(solution.impulse.iter().all(|x| x.is_finite()));
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_place() {
    let mut w = vec![0.0; 36];
    w[6 * 4 + 1] = f64::NAN;
    let refused = ContactProblem::coulomb_from_dense(3, &w, vec![0.0; 6], vec![0.1; 2]);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "W is not finite at row 4, column 1"
    );
    let mut q = vec![0.0; 6];
    q[5] = f64::INFINITY;
    let refused = ContactProblem::coulomb_from_dense(3, &[0.0; 36], q, vec![0.1; 2]);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("q is not finite at row 5")
    );
    let refused =
        ContactProblem::coulomb_from_dense(3, &[0.0; 36], vec![0.0; 6], vec![0.1, f64::NAN]);
    assert!(refused.unwrap_err().to_string().contains("row 1"));
}
