//! Invariants of the schemes on many random systems: section 4 of the specification of Moreau's
//! contact dynamics and section 11 of that of the energy-consistent scheme.

use crate::common::random::Random;
use stickslip::algebra::SymmetricMatrix;
use stickslip::internals::dot;
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::records::{ContactMode, StepRecord};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    Activation, MoreauContactDynamics, MoreauJean, MoreauJeanSettings, TimeSteppingScheme,
};
use stickslip::systems::functions::{GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// A random linear system with random affine gaps that are all touched at q = 0.
#[derive(Clone, Debug)]
struct Case {
    n: usize,
    mass: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    force: Vec<f64>,
    rows: Vec<Vec<f64>>,
    tangents: usize,
    mu: Vec<f64>,
    v: Vec<f64>,
}

impl Case {
    fn new(random: &mut Random, contacts: usize, tangents: usize) -> Self {
        let n = contacts * (1 + tangents) + 1 + (random.bits() % 3) as usize;
        Self {
            n,
            mass: random.gram(n, n, 0.5),
            stiffness: random.gram(n, 2, 0.0),
            damping: random.gram(n, 1, 0.0),
            force: random.vector(n),
            rows: (0..contacts)
                .map(|_| random.vector(n * (1 + tangents)))
                .collect(),
            tangents,
            mu: (0..contacts).map(|_| random.uniform(0.0, 0.3)).collect(),
            v: random.vector(n),
        }
    }

    fn build(
        &self,
        law: impl Fn(usize) -> ImpactLaw,
        rule: FlowRule,
        scale: f64,
        loaded: bool,
    ) -> GeneralizedSystem {
        let matrix = |values: &[f64]| {
            SymmetricMatrix::from_rows(self.n, values.iter().map(|x| scale * x).collect())
        };
        let names = (0..self.n).map(|i| format!("q{i}"));
        let mut builder = GeneralizedSystem::builder(names).mass_matrix(matrix(&self.mass));
        if loaded {
            let force: Vec<f64> = self.force.iter().map(|x| scale * x).collect();
            builder = builder
                .stiffness(matrix(&self.stiffness))
                .damping(matrix(&self.damping))
                .load(move |t, out| {
                    for (o, f) in out.iter_mut().zip(&force) {
                        *o = f * (1.0 + t);
                    }
                });
        }
        for (i, rows) in self.rows.iter().enumerate() {
            let (n, normal, frame) = (self.n, rows.clone(), rows.clone());
            let again = rows.clone();
            let section = match self.tangents {
                1 => FrictionSection::segment(self.mu[i]),
                d => FrictionSection::ball(self.mu[i], d),
            };
            let law = ContactLaw::new(section.expect("valid"), law(i))
                .expect("valid")
                .with_flow_rule(rule);
            let gap = GivenScalar {
                value: move |q: &[f64]| dot(&normal[..n], q),
                gradient: move |_: &[f64], out: &mut [f64]| out.copy_from_slice(&again[..n]),
            };
            let tangents =
                GivenRows(move |_: &[f64], out: &mut [f64]| out.copy_from_slice(&frame[n..]));
            builder = builder.constraint(
                UnilateralConstraint::new(format!("c{i}"), gap)
                    .with_point(ContactFrame::tangents(self.tangents, tangents), law),
            );
        }
        builder
            .build(&vec![0.0; self.n])
            .expect("a valid random system")
    }

    fn step(
        &self,
        system: GeneralizedSystem,
        scheme: Box<dyn TimeSteppingScheme>,
        h: f64,
    ) -> Simulation {
        let settings = SimulationSettings {
            initial_impact: false,
            ..SimulationSettings::fixed(h)
        };
        let q = vec![0.0; self.n];
        let solver = Box::new(GaussSeidel::default());
        let mut sim = Simulation::new(Box::new(system), scheme, solver, (&q, &self.v), settings)
            .expect("valid");
        sim.step_towards(f64::INFINITY);
        sim
    }
}

fn theta_scheme(theta: f64, activation: Activation) -> Box<dyn TimeSteppingScheme> {
    let settings = MoreauJeanSettings {
        theta: Some(theta),
        activation,
        ..Default::default()
    };
    Box::new(MoreauJean::new(settings).expect("theta in range"))
}

fn work(record: &StepRecord) -> f64 {
    record
        .contacts
        .iter()
        .map(|c| c.work_normal + c.work_tangential)
        .sum()
}

#[test]
fn the_ledger_closes_on_random_linear_systems_whatever_the_laws() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let (contacts, tangents) = (1 + (seed % 3) as usize, 1 + (seed % 2) as usize);
        let case = Case::new(&mut random, contacts, tangents);
        let theta = [0.5, 0.51, 0.75, 1.0][(seed % 4) as usize];
        let e = random.uniform(0.0, 1.0);
        // Contacts under different laws in one step.
        let law = |i: usize| match (i as u64 + seed) % 5 {
            0 => ImpactLaw::Newton { restitution: e },
            1 => ImpactLaw::Fremond { restitution: e },
            2 => ImpactLaw::Moreau { restitution: e },
            3 => ImpactLaw::Poisson { restitution: e },
            _ => ImpactLaw::Inelastic,
        };
        let activation =
            [Activation::Paper, Activation::Forecast, Activation::Guard][(seed % 3) as usize];
        let sim = case.step(
            case.build(law, FlowRule::Coulomb, 1.0, true),
            theta_scheme(theta, activation),
            1e-2,
        );
        assert!(sim.ledger().is_closed(), "seed {seed}: {:?}", sim.ledger());
        assert!(
            sim.certificate().worst() < 1e-10,
            "seed {seed}: {:?}",
            sim.certificate()
        );
    }
}

#[test]
fn at_theta_one_the_two_laws_are_the_same_to_the_bit() {
    for seed in 0..100 {
        let mut random = Random(1000 + seed);
        let case = Case::new(&mut random, 2, 1);
        let run = |law: ImpactLaw| {
            let system = case.build(|_| law, FlowRule::Coulomb, 1.0, true);
            case.step(system, theta_scheme(1.0, Activation::Guard), 1e-2)
        };
        let newton = run(ImpactLaw::Newton { restitution: 0.0 });
        let fremond = run(ImpactLaw::Fremond { restitution: 0.0 });
        assert_eq!(newton.state().v, fremond.state().v, "seed {}", 1000 + seed);
    }
}

#[test]
fn without_friction_the_two_laws_agree_for_every_theta() {
    for seed in 0..100 {
        let mut random = Random(2000 + seed);
        let mut case = Case::new(&mut random, 2, 1);
        case.mu = vec![0.0; 2];
        let theta = random.uniform(0.5, 0.66);
        let run = |law: ImpactLaw| {
            let system = case.build(|_| law, FlowRule::Coulomb, 1.0, true);
            case.step(system, theta_scheme(theta, Activation::Guard), 1e-2)
        };
        let newton = run(ImpactLaw::Newton { restitution: 0.5 });
        let fremond = run(ImpactLaw::Fremond { restitution: 0.5 });
        for (a, b) in newton.state().v.iter().zip(&fremond.state().v) {
            assert!(
                (a - b).abs() <= 1e-12 * (1.0 + a.abs()),
                "seed {}: {a} {b}",
                2000 + seed
            );
        }
    }
}

#[test]
fn fremond_dissipates_contact_by_contact_within_the_theta_bound() {
    for seed in 0..400 {
        let mut random = Random(3000 + seed);
        let case = Case::new(
            &mut random,
            1 + (seed % 3) as usize,
            1 + (seed % 2) as usize,
        );
        let e = random.uniform(0.0, 1.0);
        let theta = random.uniform(0.5, 1.0 / (1.0 + e));
        let system = case.build(
            |_| ImpactLaw::Fremond { restitution: e },
            FlowRule::Coulomb,
            1.0,
            false,
        );
        let sim = case.step(system, theta_scheme(theta, Activation::Guard), 1e-2);
        let energy = sim.record().kinetic;
        for contact in &sim.record().contacts {
            assert!(
                contact.work_normal <= 1e-12 * energy.max(1.0),
                "seed {}: {contact:?}",
                3000 + seed
            );
            assert!(
                contact.work_tangential <= 1e-12 * energy.max(1.0),
                "seed {}: {contact:?}",
                3000 + seed
            );
        }
        assert!(
            sim.record().energy.kinetic_change <= 1e-12,
            "seed {}",
            3000 + seed
        );
    }
}

#[test]
fn elastic_frictionless_impacts_conserve_energy_at_theta_one_half() {
    for seed in 0..200 {
        let mut random = Random(4000 + seed);
        let mut case = Case::new(&mut random, 2, 1);
        case.mu = vec![0.0; 2];
        let system = case.build(
            |_| ImpactLaw::Newton { restitution: 1.0 },
            FlowRule::Coulomb,
            1.0,
            false,
        );
        let sim = case.step(system, theta_scheme(0.5, Activation::Guard), 1e-2);
        let energy = sim.record().kinetic;
        assert!(
            work(sim.record()).abs() <= 1e-12 * energy,
            "seed {}: {}",
            4000 + seed,
            work(sim.record())
        );
    }
}

#[test]
fn scaling_masses_and_forces_scales_impulses_and_leaves_the_motion() {
    for seed in 0..100 {
        let mut random = Random(5000 + seed);
        let case = Case::new(&mut random, 2, 2);
        let law = ImpactLaw::Fremond { restitution: 0.3 };
        let run = |scale: f64| {
            let system = case.build(|_| law, FlowRule::Coulomb, scale, true);
            case.step(system, theta_scheme(0.6, Activation::Guard), 1e-2)
        };
        // A power of two changes no rounding at all.
        let (unit, scaled) = (run(1.0), run(1024.0));
        assert_eq!(unit.state().v, scaled.state().v, "seed {}", 5000 + seed);
        for (a, b) in unit.record().impulses.iter().zip(&scaled.record().impulses) {
            assert_eq!(1024.0 * a, *b, "seed {}", 5000 + seed);
        }
    }
}

#[test]
fn momentum_changes_by_the_impulses() {
    for seed in 0..100 {
        let mut random = Random(6000 + seed);
        let case = Case::new(&mut random, 2, 2);
        let system = case.build(
            |_| ImpactLaw::Newton { restitution: 0.4 },
            FlowRule::Coulomb,
            1.0,
            false,
        );
        let sim = case.step(system, theta_scheme(0.5, Activation::Guard), 1e-2);
        let change: Vec<f64> = sim
            .state()
            .v
            .iter()
            .zip(&case.v)
            .map(|(a, b)| a - b)
            .collect();
        let mass = SymmetricMatrix::from_rows(case.n, case.mass.clone());
        let mut momentum = vec![0.0; case.n];
        mass.multiply(&change, &mut momentum);
        for (c, rows) in case.rows.iter().enumerate() {
            for (k, row) in rows.chunks(case.n).enumerate() {
                for (m, r) in momentum.iter_mut().zip(row) {
                    *m -= sim.record().impulse(c)[k] * r;
                }
            }
        }
        assert!(
            momentum.iter().all(|m| m.abs() < 1e-12),
            "seed {}: {momentum:?}",
            6000 + seed
        );
    }
}

#[test]
fn the_free_step_is_reversible_at_theta_one_half() {
    for seed in 0..100 {
        let mut random = Random(7000 + seed);
        let mut case = Case::new(&mut random, 1, 1);
        case.rows.clear();
        case.damping.fill(0.0);
        case.force.fill(0.0);
        let forward = case.step(
            case.build(|_| ImpactLaw::Inelastic, FlowRule::Coulomb, 1.0, true),
            theta_scheme(0.5, Activation::Guard),
            0.1,
        );
        // Going back is going forward with the velocity reversed.
        let system = case.build(|_| ImpactLaw::Inelastic, FlowRule::Coulomb, 1.0, true);
        let reversed: Vec<f64> = forward.state().v.iter().map(|v| -v).collect();
        let settings = SimulationSettings::fixed(0.1);
        let start = (&forward.state().q[..], &reversed[..]);
        let solver = Box::new(GaussSeidel::default());
        let mut back = Simulation::new(
            Box::new(system),
            theta_scheme(0.5, Activation::Guard),
            solver,
            start,
            settings,
        )
        .expect("valid");
        back.step_towards(f64::INFINITY);
        for (a, b) in back.state().v.iter().zip(&case.v) {
            assert!((a + b).abs() < 1e-13, "seed {}", 7000 + seed);
        }
        assert!(
            back.state().q.iter().all(|q| q.abs() < 1e-13),
            "seed {}",
            7000 + seed
        );
    }
}

#[test]
fn moreau_law_is_in_the_cone_dissipative_and_tangent() {
    for seed in 0..400 {
        let mut random = Random(8000 + seed);
        let tangents = 1 + (seed % 2) as usize;
        let mut case = Case::new(&mut random, 1, tangents);
        case.mu[0] = random.uniform(0.0, 2.0);
        let run = |v: &[f64]| {
            let mut case = case.clone();
            case.v = v.to_vec();
            let system = case.build(
                |_| ImpactLaw::Inelastic,
                FlowRule::KineticProjection,
                1.0,
                false,
            );
            case.step(
                system,
                Box::new(MoreauContactDynamics::new(f64::INFINITY)),
                1e-3,
            )
        };
        let sim = run(&case.v);
        let record = sim.record();
        let (p, u) = (record.impulse(0), record.local_velocity(0));
        let seed = 8000 + seed;
        let size = case.v.iter().map(|x| x.abs()).fold(0.0, f64::max);
        // 1. the impulse is in the cone, and zero where the contact separates
        let tangential = dot(&p[1..], &p[1..]).sqrt();
        assert!(
            tangential <= case.mu[0] * p[0] * (1.0 + 1e-9) + 1e-12,
            "seed {seed}: {p:?}"
        );
        let before = dot(&case.rows[0][..case.n], &case.v);
        assert!(before < 0.0 || p.iter().all(|&x| x == 0.0), "seed {seed}");
        // 2. discrete dissipation
        assert!(dot(&p[1..], &u[1..]) <= 1e-10 * size, "seed {seed}");
        // 3. the kinetic norm does not grow
        let mass = SymmetricMatrix::from_rows(case.n, case.mass.clone());
        let start = mass.bilinear(&case.v, &case.v);
        assert!(2.0 * record.kinetic <= start * (1.0 + 1e-12), "seed {seed}");
        // 4. tangent after an impulse, admissible always
        assert!(
            p[0] == 0.0 || u[0].abs() <= 1e-11 * size,
            "seed {seed}: {u:?}"
        );
        assert!(p[0] > 0.0 || before >= 0.0, "seed {seed}");
        // 5. homogeneity and idempotence
        let doubled = run(&case.v.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
        let again = run(&sim.state().v);
        for i in 0..case.n {
            let v = sim.state().v[i];
            assert!(
                (doubled.state().v[i] - 2.0 * v).abs() <= 1e-9 * size,
                "seed {seed}: homogeneity"
            );
            assert!(
                (again.state().v[i] - v).abs() <= 1e-9 * size,
                "seed {seed}: idempotence"
            );
        }
    }
}

#[test]
fn the_two_flow_rules_agree_in_the_plane_and_differ_in_space() {
    let (mut differ, mut slipping) = (0, 0);
    for seed in 0..300 {
        let mut random = Random(9000 + seed);
        let tangents = 1 + (seed % 2) as usize;
        let mut case = Case::new(&mut random, 1, tangents);
        case.mu[0] = 0.1;
        let run = |rule| {
            let system = case.build(|_| ImpactLaw::Inelastic, rule, 1.0, false);
            case.step(
                system,
                Box::new(MoreauContactDynamics::new(f64::INFINITY)),
                1e-3,
            )
        };
        let (coulomb, kinetic) = (run(FlowRule::Coulomb), run(FlowRule::KineticProjection));
        let distance = coulomb
            .state()
            .v
            .iter()
            .zip(&kinetic.state().v)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        if tangents == 1 {
            assert!(distance < 1e-11, "seed {}: {distance}", 9000 + seed);
        } else if coulomb.record().contacts[0].mode == ContactMode::Slip {
            slipping += 1;
            differ += usize::from(distance > 1e-6);
            // The projection never leaves more energy than Coulomb's law.
            assert!(kinetic.record().kinetic <= coulomb.record().kinetic * (1.0 + 1e-12));
        }
    }
    assert!(
        slipping > 30 && 10 * differ > 9 * slipping,
        "{differ} of {slipping} differ"
    );
}
