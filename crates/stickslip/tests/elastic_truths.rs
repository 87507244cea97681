//! Truths about elastic bodies: energy accounts, large rotations.

use std::ops::ControlFlow;
use std::sync::Arc;

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::simulation::{ElasticLedger, RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{InternalForce, MoreauJean, MoreauJeanSettings};
use stickslip::systems::elastodynamic::{ALL, ElementKind, Formulation, Material, Mesh, shapes};
use stickslip::systems::{ElastodynamicSystem, MechanicalSystem};

fn run(
    system: &Arc<ElastodynamicSystem>,
    settings: MoreauJeanSettings,
    (q, v): (&[f64], &[f64]),
    (h, t_end): (f64, f64),
    mut observe: impl FnMut(&StepRecord),
) -> Simulation {
    let mut run = Simulation::new(
        Box::new(system.clone()),
        Box::new(MoreauJean::new(settings).unwrap()),
        Box::new(GaussSeidel::default()),
        (q, v),
        SimulationSettings {
            initial_impact: false,
            ..SimulationSettings::fixed(h)
        },
    )
    .unwrap();
    let end = run.run_until(t_end, |record| {
        observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    run
}

fn theta(theta: f64) -> MoreauJeanSettings {
    MoreauJeanSettings {
        theta: Some(theta),
        ..Default::default()
    }
}

fn coulomb(mu: f64, impact: ImpactLaw) -> ContactLaw {
    ContactLaw::new(FrictionSection::segment(mu).unwrap(), impact).unwrap()
}

/// Two blocks, the upper one falls on the lower one and slides.
fn two_blocks(impact: ImpactLaw) -> Arc<ElastodynamicSystem> {
    let lower = shapes::rectangle((1.0, 0.4), (8, 3), ElementKind::Quad4);
    let upper = shapes::rectangle((0.5, 0.3), (5, 3), ElementKind::Quad4)
        .mapped(|x| [x[0] + 0.2, x[1] + 0.401, 0.0]);
    let mesh = Mesh::new(2).join(&lower, "lower-").join(&upper, "upper-");
    let strain = Formulation::PlaneStrain { thickness: 1.0 };
    Arc::new(
        ElastodynamicSystem::builder(mesh)
            .region("lower", Material::new(2000.0, 0.3, 2.0), strain)
            .region("upper", Material::new(1000.0, 0.2, 1.0), strain)
            .support("lower-bottom", &[0, 1])
            .gravity([0.0, -9.81, 0.0])
            .contact_between("upper-bottom", "lower-top", coulomb(0.4, impact))
            .build()
            .unwrap(),
    )
}

#[test]
fn accounts_of_two_bodies_and_their_surface_add_up() {
    let system = two_blocks(ImpactLaw::Fremond { restitution: 0.0 });
    let upper: Vec<u32> = system.bodies()[1].dofs.clone();
    let mut v = vec![0.0; system.dof()];
    for pair in upper.chunks(2) {
        v[pair[0] as usize] = 0.6;
        v[pair[1] as usize] = -1.0;
    }
    let q = vec![0.0; system.dof()];
    let value = 0.51;
    let mut ledger = ElasticLedger::new(system.clone(), value, (0.0, &q, &v));
    let mut total = f64::INFINITY;
    let run = run(&system, theta(value), (&q, &v), (5e-4, 0.2), |record| {
        ledger.observe(record);
        // With the weight as external work the sum falls by nothing but losses.
        let supplied = record.kinetic + record.potential - record.energy.external;
        assert!(supplied <= total * (1.0 + 1e-12), "energy at {}", record.t);
        total = record.kinetic + record.potential;
    });
    assert!(run.ledger().is_closed(), "{}", run.ledger().worst_ratio);
    let surface = &ledger.surfaces()[0];
    assert!(surface.impulse > 0.0 && surface.tangential < -1e-3);
    assert!(surface.largest_normal <= 1e-15 && surface.largest_tangential <= 1e-15);
    let totals = &run.ledger().totals;
    assert!((surface.normal - totals.contact_normal).abs() < 1e-13);
    assert!((surface.tangential - totals.contact_tangential).abs() < 1e-13);
    let bodies = ledger.bodies();
    let contact: f64 = bodies.iter().map(|body| body.contact).sum();
    assert!((contact - totals.contact_normal - totals.contact_tangential).abs() < 1e-12);
    let kinetic: f64 = bodies.iter().map(|body| body.kinetic).sum();
    assert!((kinetic - run.state().kinetic).abs() < 1e-13);
    for body in bodies {
        assert!(body.worst_imbalance < 1e-12, "{body:?}");
    }
    // Momentum passed to the lower block is what its support and inertia take: both works differ.
    assert!(bodies[0].contact > 0.0 && bodies[1].contact < 0.0);
}

#[test]
fn finite_strain_lets_a_block_turn_without_energy() {
    // A block turning freely by more than a full turn: energy and account to the tolerance of
    // the iteration, where linear strain would inflate the body.
    let system = Arc::new(
        ElastodynamicSystem::builder(shapes::rectangle((1.0, 0.5), (4, 2), ElementKind::Quad4))
            .region(
                ALL,
                Material::new(1e3, 0.3, 1.0),
                Formulation::PlaneStrain { thickness: 1.0 },
            )
            .build()
            .unwrap()
            .with_finite_strain()
            .unwrap(),
    );
    let omega = 4.0;
    let v = system.field(|x| [-omega * (x[1] - 0.25), omega * (x[0] - 0.5), 0.0]);
    let rest = vec![0.0; system.dof()];
    let settings = MoreauJeanSettings {
        internal_force: InternalForce::DiscreteGradient,
        ..theta(0.5)
    };
    let (mut worst, mut height) = (0.0f64, 0.0f64);
    let run = run(&system, settings, (&rest, &v), (2e-3, 2.0), |record| {
        worst = worst.max(record.energy.imbalance().abs());
        worst = worst.max(record.energy.potential_defect.abs());
        height = height.max(system.nodes().position(record.t, &record.q, 0)[1]);
    });
    let start = run.ledger().energy_start;
    let end = run.state().kinetic + run.state().potential;
    assert!((end / start - 1.0).abs() < 1e-9, "energy {start} {end}");
    assert!(worst < 1e-11 * start, "imbalance {worst}");
    // The corner went over the top: it turned, not just sheared.
    assert!(height > 0.7, "height {height}");
    assert!(run.state().potential < 0.05 * start);
}
