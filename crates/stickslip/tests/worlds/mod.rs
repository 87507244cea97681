//! Worlds for tests: laws, runs with declared pairs, and the checks that every run must pass.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ops::ControlFlow;

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::WorldStepping;
use stickslip::systems::World;
use stickslip::systems::world::{ContactSource, DeclaredPairs, Dimension};

/// Acceleration of gravity.
pub const G: f64 = 9.81;

/// Coulomb friction with an impact law: a disc in space, a segment in the plane.
pub fn law(dimension: Dimension, friction: f64, impact: ImpactLaw) -> ContactLaw {
    let section = match dimension {
        _ if friction == 0.0 => FrictionSection::None,
        Dimension::Plane => FrictionSection::segment(friction).unwrap(),
        Dimension::Space => FrictionSection::disc(friction).unwrap(),
    };
    ContactLaw::new(section, impact).unwrap()
}

/// Newton's law.
pub fn newton(restitution: f64) -> ImpactLaw {
    ImpactLaw::Newton { restitution }
}

/// Every pair of bodies of which one is free and neither pair is of two half-spaces.
pub fn all_pairs(world: &World) -> Vec<(u32, u32)> {
    let count = world.bodies.len();
    (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
        .filter(|&(a, b)| world.may_touch(a, b))
        .map(|(a, b)| (a as u32, b as u32))
        .collect()
}

/// θ of `moreau-jean`, or none for `moreau`.
pub type Theta = Option<f64>;

/// The scheme with a source.
pub fn scheme(theta: Theta, source: Box<dyn ContactSource>) -> WorldStepping {
    match theta {
        Some(theta) => WorldStepping::moreau_jean(theta, source).unwrap(),
        None => WorldStepping::moreau(source),
    }
}

/// A run with all pairs declared.
pub fn simulation(world: World, theta: Theta, h: f64) -> Simulation {
    let pairs = DeclaredPairs::new(&world, all_pairs(&world)).unwrap();
    simulation_with(world, theta, h, Box::new(pairs))
}

/// A run with a given source.
pub fn simulation_with(
    world: World,
    theta: Theta,
    h: f64,
    source: Box<dyn ContactSource>,
) -> Simulation {
    let (q, v) = (world.start_coordinates(), world.start_velocities());
    let scheme = scheme(theta, source);
    Simulation::new(
        Box::new(world),
        Box::new(scheme),
        Box::new(GaussSeidel::default()),
        (&q, &v),
        SimulationSettings::fixed(h),
    )
    .unwrap()
}

/// Runs to `t` and checks accounts and certificate.
pub fn run(simulation: &mut Simulation, t: f64) {
    let end = simulation.run_until(t, |_| ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished);
    check_accounts(simulation);
    let certificate = simulation.certificate();
    assert!(certificate.holds(1e-8), "{certificate:?}");
}

/// Energy and momentum close to rounding in every step.
pub fn check_accounts(simulation: &Simulation) {
    let ledger = simulation.ledger();
    assert!(ledger.is_closed(), "energy: {ledger:?}");
    let momentum = simulation.momentum_ledger();
    assert!(momentum.is_closed(), "momentum: {momentum:?}");
}

/// Numbers between -1 and 1 from a seed.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let bits = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        2.0 * bits - 1.0
    }

    /// Three of them.
    pub fn vector(&mut self) -> [f64; 3] {
        std::array::from_fn(|_| self.next())
    }
}
