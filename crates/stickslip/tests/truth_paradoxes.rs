//! Painlevé's and Kane's paradoxes: how many answers the law has, and which laws gain energy.

use crate::common;

use crate::common::random::Random;
use stickslip::algebra::{Jet, SymmetricMatrix};
use stickslip::contact::{BlockKind, ContactKey, ContactProblem, ContactSolution, ContactSolver};
use stickslip::internals::map::boundary;
use stickslip::internals::{CholeskyFactor, NormalStage};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, GeneralizedRule, ImpactLaw};
use stickslip::simulation::studies::branches::{
    BranchStudy, BranchTree, ChoiceRule, EnumeratingSolver,
};
use stickslip::simulation::{OnSeveral, RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::solvers::enumeration::{EnumerationSettings, Mode, Verdict, enumerate};
use stickslip::stepping::MoreauContactDynamics;
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Uniform rod, m = 1, half length 1, tip on the ground at the given angle, weight 9.81.
fn rod(angle: f64, mu: f64, rule: FlowRule) -> GeneralizedSystem {
    let tip = |q: &[Jet]| [q[0] - q[2].cos(), q[1] - q[2].sin()];
    let law = ContactLaw::new(FrictionSection::segment(mu).unwrap(), ImpactLaw::Inelastic)
        .unwrap()
        .with_flow_rule(rule);
    let ground =
        UnilateralConstraint::new("ground", AutoScalar(move |_: Jet, q: &[Jet]| tip(q)[1]))
            .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
    GeneralizedSystem::builder(["x", "y", "theta"])
        .mass_diagonal(&[1.0, 1.0, 1.0 / 3.0])
        .dead_load(&[0.0, -9.81, 0.0])
        .constraint(ground)
        .build(&[0.0, angle.sin(), angle])
        .expect("a valid rod")
}

/// Velocity with the tip slipping at `slip` along the ground and the given spin.
fn sliding(angle: f64, slip: f64, spin: f64) -> [f64; 3] {
    [slip - angle.sin() * spin, angle.cos() * spin, spin]
}

fn study(mu: f64, spin: f64) -> stickslip::simulation::studies::branches::BranchStudy {
    let angle = 60f64.to_radians();
    let system = rod(angle, mu, FlowRule::Coulomb);
    let q = [0.0, angle.sin(), angle];
    let v = sliding(angle, -5.0, spin);
    // The rotating tip rises by ½ sin θ (h ω)² during the step and still counts as touching.
    let mut scheme = MoreauContactDynamics::new(1e-4);
    let settings = EnumerationSettings::default();
    BranchStudy::of_step(&system, &mut scheme, (0.0, &q, &v), 1e-3, &settings).expect("enumerable")
}

#[test]
fn pressed_painleve_rod_has_the_single_stick_impulse() {
    let found = study(2.0, 0.0);
    assert_eq!(found.verdict, Verdict::InconsistentWithoutImpact);
    assert_eq!(found.enumeration.solutions.len(), 1);
    let stick = &found.enumeration.solutions[0];
    assert_eq!(stick.modes, [Mode::Stick]);
    assert!(stick.residual < 1e-12, "{}", stick.residual);
    assert!(
        (stick.impulse[0] - 1.632).abs() < 5e-4,
        "{:?}",
        stick.impulse
    );
    assert!(
        (stick.impulse[1] - 2.191).abs() < 5e-4,
        "{:?}",
        stick.impulse
    );
}

#[test]
fn spinning_painleve_rod_has_exactly_three_solutions() {
    let found = study(2.0, 5.0);
    assert_eq!(found.verdict, Verdict::Indeterminate { solutions: 3 });
    let modes: Vec<Mode> = found
        .enumeration
        .solutions
        .iter()
        .map(|s| s.modes[0])
        .collect();
    assert_eq!(modes, [Mode::Open, Mode::Stick, Mode::SlipUpper]);
    for solution in &found.enumeration.solutions {
        assert!(solution.residual < 1e-12, "{}", solution.residual);
    }
    assert_eq!(found.impulsive, [false, true, false]);
    assert!(found.margins[0] < 0.0);
}

/// γ = 0 at μ = (1/3 + cos²)/(sin cos), least 4/3 at tan θ = 2.
#[test]
fn critical_coefficient_of_the_rod_is_found_along_the_whole_boundary() {
    let critical = |angle: f64| {
        boundary(0.1, 50.0, |mu| {
            let system = rod(angle, mu, FlowRule::Coulomb);
            let q = [0.0, angle.sin(), angle];
            let v = sliding(angle, -1.0, 0.0);
            let mut scheme = MoreauContactDynamics::default();
            let settings = EnumerationSettings::default();
            let found = BranchStudy::of_step(&system, &mut scheme, (0.0, &q, &v), 1e-3, &settings);
            found.expect("enumerable").margins[0] <= 0.0
        })
        .expect("a boundary")
    };
    let at_two = critical(2f64.atan());
    assert!((at_two - 4.0 / 3.0).abs() < 1e-9, "{at_two}");
    for k in 1..40 {
        let angle = f64::from(k) * std::f64::consts::FRAC_PI_2 / 41.0 + 0.03;
        let (s, c) = angle.sin_cos();
        let exact = (1.0 / 3.0 + c * c) / (s * c);
        let found = critical(angle);
        assert!(
            (found - exact).abs() < 1e-6 * exact.max(1.0),
            "{angle}: {found} {exact}"
        );
    }
}

/// Kane: Newton's law with Coulomb friction creates energy, the generalized law and Frémond's never.
#[test]
fn of_a_hundred_thousand_pendulum_impacts_newton_and_coulomb_gain_energy_in_some() {
    let mut random = Random(6);
    let (mut gains, mut impacts) = ([0u32; 3], 0);
    let mut worst = [0.0f64; 3];
    while impacts < 100_000 {
        let (t1, t2) = (random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5));
        let v = [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)];
        let (e, mu) = (random.uniform(0.0, 1.0), random.uniform(0.0, 1.5));
        let normal = [t1.sin(), t2.sin()];
        let tangent = [t1.cos(), t2.cos()];
        let approach = normal[0] * v[0] + normal[1] * v[1];
        if approach >= -1e-3 || normal[0].abs() + normal[1].abs() < 1e-2 {
            continue;
        }
        impacts += 1;
        let coupling = 0.5 * (t1 - t2).cos();
        let mass = SymmetricMatrix::from_rows(2, vec![4.0 / 3.0, coupling, coupling, 1.0 / 3.0]);
        let before = mass.bilinear(&v, &v);
        let slip = tangent[0] * v[0] + tangent[1] * v[1];
        let generalized = FlowRule::Generalized(GeneralizedRule::default());
        for (k, (rule, bias)) in [
            (FlowRule::Coulomb, [e * approach, 0.0]),
            (generalized, [0.0, 0.0]),
            (FlowRule::Coulomb, [e * approach, slip]),
        ]
        .into_iter()
        .enumerate()
        {
            let mut problem = ContactProblem::default();
            problem.begin(2);
            let section = FrictionSection::segment(mu).unwrap();
            let kind = BlockKind::Unilateral { minimum: 0.0 };
            let (rows, b) = problem.push(ContactKey::default(), 2, section, rule, kind);
            rows.copy_from_slice(&[normal, tangent].concat());
            b.copy_from_slice(&bias);
            let mut factor = CholeskyFactor::default();
            factor.factor(&mass).expect("positive definite");
            problem.condense(|x| factor.solve_in_place(x));
            problem.velocity_free_mut().copy_from_slice(&v);
            problem.refresh();
            *problem.normal_stage_mut() = NormalStage::Moreau { restitution: e };
            let mut solution = ContactSolution::default();
            solution.prepare(2);
            GaussSeidel::default().solve(&problem, &mut solution);
            let mut after = [0.0; 2];
            problem.velocity(&solution.impulse, &mut after);
            let gain = mass.bilinear(&after, &after) / before - 1.0;
            worst[k] = worst[k].max(gain);
            gains[k] += u32::from(gain > 1e-12);
        }
    }
    println!("gains {gains:?}, worst {worst:?}");
    assert!(gains[0] > 1000, "{gains:?}");
    assert_eq!(gains[1], 0, "generalized: {worst:?}");
    assert_eq!(gains[2], 0, "Fremond: {worst:?}");
}

fn run(
    mu: f64,
    spin: f64,
    on_several: OnSeveral,
) -> (
    Simulation,
    std::sync::Arc<stickslip::simulation::studies::branches::BranchControl>,
) {
    let angle = 60f64.to_radians();
    let (solver, control) =
        EnumeratingSolver::new(ChoiceRule::TakeOffFirst, EnumerationSettings::default());
    let settings = SimulationSettings {
        on_several,
        ..SimulationSettings::fixed(1e-3)
    };
    let simulation = Simulation::new(
        Box::new(rod(angle, mu, FlowRule::Coulomb)),
        Box::new(MoreauContactDynamics::new(1e-4)),
        Box::new(solver),
        (&[0.0, angle.sin(), angle], &sliding(angle, -5.0, spin)),
        settings,
    )
    .expect("a valid run");
    (simulation, control)
}

#[test]
fn an_indeterminate_run_stops_chooses_or_branches() {
    let (mut stopped, _) = run(2.0, 5.0, OnSeveral::Stop);
    let end = stopped.run_until(0.01, |_| std::ops::ControlFlow::Continue(()));
    assert!(
        matches!(end, RunEnd::Stopped { t, .. } if t == 0.0),
        "{end:?}"
    );
    assert_eq!(stopped.state().t, 0.0);
    let (mut chosen, _) = run(2.0, 5.0, OnSeveral::Choose);
    let end = chosen.run_until(0.01, |_| std::ops::ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished);
    assert!(chosen.certificate().several_solutions >= 1);
    assert!(chosen.painleve().steps_inside >= 1);
    let (mut all, control) = run(2.0, 5.0, OnSeveral::Choose);
    let tree = BranchTree::follow(&mut all, &control, 0.01, 10);
    assert!(tree.branches.len() >= 3, "{}", tree.branches.len());
    assert!(tree.branches.iter().all(|b| b.finished));
    // The three first steps differ.
    let first: Vec<f64> = tree.branches[..3].iter().map(|b| b.v[1][2]).collect();
    assert!((first[0] - first[1]).abs() > 1e-3 && (first[1] - first[2]).abs() > 1e-6);
}

/// A jam of P'3: the rod inside the region sticks in one step whatever h, grazing stays grazing.
#[test]
fn generalized_law_jams_in_one_step_and_keeps_grazing() {
    let angle = 60f64.to_radians();
    let rule = FlowRule::Generalized(GeneralizedRule::default());
    for h in [1e-2, 1e-4, 1e-6] {
        let mut simulation = Simulation::new(
            Box::new(rod(angle, 2.0, rule)),
            Box::new(MoreauContactDynamics::default()),
            Box::new(GaussSeidel::default()),
            (&[0.0, angle.sin(), angle], &sliding(angle, -5.0, 0.0)),
            SimulationSettings::fixed(h),
        )
        .expect("a valid run");
        let record = simulation.step_towards(1.0);
        let slip = record.local_velocities[1];
        assert!(slip.abs() < 1e-9, "h = {h}: slip {slip}");
        assert!(record.residual < 1e-12);
    }
}

/// The same list for any number of threads; twelve contacts.
#[test]
fn twelve_contacts_are_enumerated_alike_on_one_and_two_threads() {
    let problem = common::twelve_contacts(3);
    let settings = EnumerationSettings::default();
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool")
            .install(|| enumerate(&problem, &settings).expect("enumerable"))
    };
    let (one, two) = (on(1), on(2));
    assert_eq!(one, two);
    assert!(!one.solutions.is_empty());
    assert!(one.solutions.iter().all(|s| s.residual < 1e-10));
    println!("{} nodes, {} solutions", one.effort, one.solutions.len());
}
