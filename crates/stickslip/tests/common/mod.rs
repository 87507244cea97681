//! Systems shared by the integration tests.
#![allow(dead_code)]

pub mod compliant_bar;
pub mod exact_motions;
pub mod random;

use std::ops::ControlFlow;

use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    MoreauContactDynamics, MoreauJean, MoreauJeanSettings, TimeSteppingScheme,
};
use stickslip::systems::functions::{AutoScalar, GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// A scheme by name, with theta.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Moreau,
    MoreauJean(Option<f64>),
}

impl Scheme {
    pub fn build(self) -> Box<dyn TimeSteppingScheme> {
        match self {
            Self::Moreau => Box::new(MoreauContactDynamics::default()),
            Self::MoreauJean(theta) => {
                let settings = MoreauJeanSettings {
                    theta,
                    ..Default::default()
                };
                Box::new(MoreauJean::new(settings).expect("theta in range"))
            }
        }
    }
}

/// A simulation of a generalized system with the Gauss-Seidel solver.
pub fn simulation(
    system: GeneralizedSystem,
    scheme: Scheme,
    start: (&[f64], &[f64]),
    h: f64,
) -> Simulation {
    Simulation::new(
        Box::new(system),
        scheme.build(),
        Box::new(GaussSeidel::default()),
        start,
        SimulationSettings::fixed(h),
    )
    .expect("a valid simulation")
}

/// Runs to `t_end` and shows every record.
pub fn run(
    system: GeneralizedSystem,
    scheme: Scheme,
    start: (&[f64], &[f64]),
    h: f64,
    t_end: f64,
    mut observe: impl FnMut(&StepRecord),
) -> Simulation {
    let mut sim = simulation(system, scheme, start, h);
    let end = sim.run_until(t_end, |record| {
        observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    sim
}

/// Point mass above the ground, weight 9.81.
pub fn ball(law: ContactLaw) -> GeneralizedSystem {
    let gap = GivenScalar {
        value: |q: &[f64]| q[0],
        gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0,
    };
    GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .dead_load(&[-9.81])
        .constraint(
            UnilateralConstraint::new("ground", gap).with_point(ContactFrame::Frictionless, law),
        )
        .build(&[1.0])
        .expect("the ball is valid")
}

/// Particle of unit mass above the line y = 0 under a constant force.
pub fn particle_on_plane(law: ContactLaw, force: [f64; 2]) -> GeneralizedSystem {
    let tangent = GivenRows(|_: &[f64], rows: &mut [f64]| rows.copy_from_slice(&[1.0, 0.0]));
    GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&force)
        .constraint(
            UnilateralConstraint::new("plane", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(&[0.0, 0.0])
        .expect("the particle is valid")
}

/// Block of unit mass on a horizontal plane with friction.
pub fn slider(mu: f64, impact: ImpactLaw) -> GeneralizedSystem {
    let law = ContactLaw::new(FrictionSection::segment(mu).expect("valid"), impact).expect("valid");
    particle_on_plane(law, [0.0, -9.81])
}

/// A planar problem of twelve contacts with coupled rows, under load.
pub fn twelve_contacts(seed: u64) -> stickslip::contact::ContactProblem {
    use stickslip::contact::{BlockKind, ContactBlock, ContactKey, ContactProblem};
    let mut random = random::Random(seed);
    let k = 12;
    let w = random.gram(2 * k, 2 * k, 0.5);
    let free = (0..2 * k)
        .map(|i| {
            if i % 2 == 0 {
                random.uniform(-1.0, 0.2)
            } else {
                random.uniform(-1.0, 1.0)
            }
        })
        .collect();
    let blocks = (0..k)
        .map(|c| ContactBlock {
            key: ContactKey::declared(c, 0),
            start: 2 * c,
            size: 2,
            section: FrictionSection::segment(random.uniform(0.2, 1.2)).expect("valid"),
            flow_rule: stickslip::laws::FlowRule::Coulomb,
            kind: BlockKind::Unilateral { minimum: 0.0 },
        })
        .collect();
    ContactProblem::from_dense(w, free, blocks)
}
