//! An elastic bar hits a wall: contact time 2L/c, force ρcAv₀, rebound with its own speed.

use std::ops::ControlFlow;

use stickslip::laws::{ContactLaw, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::MoreauJean;
use stickslip::systems::elastodynamic::{ElementKind, Formulation, Material, Mesh, Obstacle};
use stickslip::systems::{ElastodynamicSystem, MechanicalSystem};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (length, area, speed) = (1.0, 1.0, 1.0);
    let material = Material::new(100.0, 0.0, 1.0);
    let law = ContactLaw::frictionless(ImpactLaw::Inelastic)?;
    let wall = Obstacle::plane([0.0; 3], [1.0, 0.0, 0.0]);
    let bar = ElastodynamicSystem::builder(Mesh::bar(1, length, 100, ElementKind::Line2))
        .region(Mesh::ALL, material, Formulation::Bar { area })
        .contact("left", wall, law)
        .build()?;
    let h = 0.2 * bar.suggested_step();
    let (q, v) = (vec![0.0; bar.dof()], bar.uniform([-speed, 0.0, 0.0]));
    let mut settings = SimulationSettings::fixed(h);
    settings.initial_impact = false;
    let mut run = Simulation::new(
        Box::new(bar),
        Box::new(MoreauJean::default()),
        Box::new(GaussSeidel::default()),
        (&q, &v),
        settings,
    )?;
    let c = material.bar_wave_speed();
    let (mut impulse, mut last) = (0.0, 0.0);
    run.run_until(3.0 * length / c, |record| {
        impulse += record.impulses[0];
        if record.impulses[0] > 0.0 {
            last = record.t;
        }
        ControlFlow::Continue(())
    });
    println!(
        "contact time   {last:.4} s   theory {:.4}",
        2.0 * length / c
    );
    println!(
        "mean force     {:.4} N   theory {:.4}",
        impulse / last,
        material.density * c * area * speed
    );
    let energy = run.state().kinetic + run.state().potential;
    println!(
        "energy after   {energy:.4} J   theory {:.4}",
        0.5 * length * area * speed * speed
    );
    println!("ledger closed  {}", run.ledger().is_closed());
    Ok(())
}
