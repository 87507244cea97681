//! Truths about elastic bodies: waves, rebound, Hertz contact, energy accounts, given motions.

use std::ops::ControlFlow;
use std::sync::Arc;

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::scene::{Changes, Scene, SourceText, find_in_gallery};
use stickslip::simulation::{BodyAccount, ElasticLedger, RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{InternalForce, MoreauJean, MoreauJeanSettings};
use stickslip::systems::elastodynamic::{
    Damping, ElementKind, Formulation, Material, Mesh, Obstacle,
};
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

fn frictionless(restitution: f64) -> ContactLaw {
    ContactLaw::frictionless(ImpactLaw::Newton { restitution }).unwrap()
}

fn coulomb(mu: f64, impact: ImpactLaw) -> ContactLaw {
    ContactLaw::new(FrictionSection::segment(mu).unwrap(), impact).unwrap()
}

#[test]
fn bar_stays_at_the_wall_for_two_transits_and_leaves_with_its_speed() {
    // Exact: contact time 2 L/c, force ρ c A v₀, rebound v₀, no energy lost. The scheme loses at
    // the first impact the energy of the node that stops, a share 1/(2√3 n) of the whole.
    let (length, n, speed, area) = (1.0, 100, 0.5, 2.0);
    let material = Material::new(400.0, 0.0, 4.0);
    let c = material.bar_wave_speed();
    let wall = Obstacle::plane([0.0; 3], [1.0, 0.0, 0.0]);
    let system = Arc::new(
        ElastodynamicSystem::builder(Mesh::bar(1, length, n, ElementKind::Line2))
            .region(Mesh::ALL, material, Formulation::Bar { area })
            .contact("left", wall, frictionless(0.0))
            .build()
            .unwrap(),
    );
    let h = 0.2 * length / (n as f64 * c);
    let (mut impulse, mut last, mut plateau) = (0.0, 0.0, Vec::new());
    let start = system.uniform([-speed, 0.0, 0.0]);
    let rest = vec![0.0; system.dof()];
    let run = run(
        &system,
        theta(0.5),
        (&rest, &start),
        (h, 3.0 * length / c),
        |record| {
            let p = record.impulses[0];
            impulse += p;
            if p > 0.0 {
                last = record.t;
            }
            if (0.2..1.8).contains(&(record.t * c / length)) {
                plateau.push(p / h);
            }
        },
    );
    assert!(
        (last * c / (2.0 * length) - 1.0).abs() < 0.02,
        "contact time {last}"
    );
    let force = plateau.iter().sum::<f64>() / plateau.len() as f64;
    let exact = material.density * c * area * speed;
    assert!((force / exact - 1.0).abs() < 5e-3, "force {force} {exact}");
    let mass = material.density * area * length;
    assert!((impulse / (2.0 * mass * speed) - 1.0).abs() < 0.01);
    let loss = 1.0 - (run.state().kinetic + run.state().potential) / (0.5 * mass * speed * speed);
    let node = 1.0 / (2.0 * 3f64.sqrt() * n as f64);
    assert!(
        loss > 0.0 && (loss / node - 1.0).abs() < 0.1,
        "loss {loss} {node}"
    );
    assert!(run.ledger().is_closed(), "{}", run.ledger().worst_ratio);
}

#[test]
fn a_stress_front_travels_with_the_speed_of_sound() {
    let (length, n) = (1.0, 400);
    let material = Material::new(9.0, 0.0, 1.0);
    let c = material.bar_wave_speed();
    let system = Arc::new(
        ElastodynamicSystem::builder(Mesh::bar(1, length, n, ElementKind::Line2))
            .region(Mesh::ALL, material, Formulation::Bar { area: 1.0 })
            .traction("left", [1.0, 0.0, 0.0])
            .build()
            .unwrap(),
    );
    let h = 0.25 * length / (n as f64 * c);
    let rest = vec![0.0; system.dof()];
    // Behind the front the bar moves with σ/(ρ c); the front passes a node when half is reached.
    let plateau = 1.0 / (material.density * c);
    let (mut arrival, mut behind) = (None, 0.0);
    let middle = n / 2;
    run(
        &system,
        theta(0.5),
        (&rest, &rest),
        (h, 0.9 * length / c),
        |record| {
            if arrival.is_none() && record.velocity[middle] >= 0.5 * plateau {
                arrival = Some(record.t);
            }
            // Behind the front the velocity rings with the mesh; its mean is that of the continuum.
            let ringing = &record.velocity[n / 10..n / 2];
            behind = ringing.iter().sum::<f64>() / ringing.len() as f64;
        },
    );
    let speed = 0.5 * length / arrival.unwrap();
    // The front is smeared over a few elements.
    assert!((speed / c - 1.0).abs() < 0.01, "speed {speed} {c}");
    assert!(
        (behind / plateau - 1.0).abs() < 0.02,
        "velocity {behind} {plateau}"
    );
}

#[test]
fn pressed_disc_obeys_hertz() {
    // Line contact: a² = 4 F R/(π E*), p₀ = 2 F/(π a), E* = E/(1 − ν²). The disc is pressed by a
    // body force that grows slowly, since a node that closes fast keeps a penetration of order h.
    let (radius, cells) = (1.0, 24);
    let material = Material::new(1000.0, 0.3, 1.0);
    let effective = material.young / (1.0 - material.poisson * material.poisson);
    let half_width = 0.15;
    let force = half_width * half_width * std::f64::consts::PI * effective / (4.0 * radius);
    let floor = Obstacle::plane([0.0, -radius, 0.0], [0.0, 1.0, 0.0]);
    let pressure = force / (std::f64::consts::PI * radius * radius);
    let system = Arc::new(
        ElastodynamicSystem::builder(Mesh::disc(radius, cells, ElementKind::Quad4))
            .region(
                Mesh::ALL,
                material,
                Formulation::PlaneStrain { thickness: 1.0 },
            )
            .damping(Damping::Rayleigh {
                mass: 16.0,
                stiffness: 0.0,
            })
            .body_force_in_time(Mesh::ALL, [0.0, -pressure, 0.0], |t| {
                (0.8 * t).min(std::f64::consts::FRAC_PI_2).sin().powi(2)
            })
            .contact("boundary", floor, frictionless(0.0))
            .build()
            .unwrap(),
    );
    let rest = vec![0.0; system.dof()];
    let surface = &system.surfaces()[0];
    // Mean over the last steps: a closed node hovers within rounding of its gap and may carry its
    // impulse every other step.
    let (h, steps, kept) = (5e-3, 800, 100);
    let mut force_of = vec![0.0; surface.nodes.len()];
    let mut place = force_of.clone();
    let end = steps as f64 * h;
    let run = run(&system, theta(1.0), (&rest, &rest), (h, end), |record| {
        if record.t < (steps - kept) as f64 * h + 0.5 * h {
            return;
        }
        for (k, contact) in record.contacts.iter().enumerate() {
            force_of[k] += record.impulses[contact.start] / (record.h * kept as f64);
            let node = surface.nodes[k];
            place[k] = system.nodes().position(record.t, &record.q, node)[0];
        }
    });
    let total: f64 = force_of.iter().sum();
    let pressures: Vec<f64> = force_of
        .iter()
        .zip(&surface.areas)
        .map(|(f, a)| f / a)
        .collect();
    let largest = pressures.iter().copied().fold(0.0, f64::max);
    for (x, p) in place.iter().zip(&pressures).filter(|(_, p)| **p > 0.0) {
        println!("{x:.4} {p:.3}");
    }
    assert!(
        run.state().kinetic < 1e-6 * run.state().potential,
        "at rest"
    );
    let body = shapes_area(&system) * pressure;
    assert!((total / body - 1.0).abs() < 1e-6, "force {total} {body}");
    let element = std::f64::consts::TAU * radius / (8 * cells) as f64;
    let found = place
        .iter()
        .zip(&pressures)
        .filter(|(_, p)| **p > 1e-3 * largest)
        .map(|(x, _)| x.abs())
        .fold(0.0, f64::max);
    assert!(
        (found - half_width).abs() < element,
        "half width {found} {half_width}"
    );
    let peak = 2.0 * force / (std::f64::consts::PI * half_width);
    assert!(
        (largest / peak - 1.0).abs() < 0.08,
        "pressure {largest} {peak}"
    );
}

/// Area of a plane body of unit density and thickness.
fn shapes_area(system: &ElastodynamicSystem) -> f64 {
    let unit = system.uniform([0.0, 1.0, 0.0]);
    system.mass_matrix().bilinear(&unit, &unit)
}

/// Two blocks, the upper one falls on the lower one and slides.
fn two_blocks(impact: ImpactLaw) -> Arc<ElastodynamicSystem> {
    let lower = Mesh::rectangle((1.0, 0.4), (8, 3), ElementKind::Quad4);
    let upper = Mesh::rectangle((0.5, 0.3), (5, 3), ElementKind::Quad4)
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
    let sum = |term: fn(&BodyAccount) -> f64| bodies.iter().map(term).sum::<f64>();
    assert!((sum(|b| b.contact_normal) - totals.contact_normal).abs() < 1e-12);
    assert!((sum(|b| b.contact_tangential) - totals.contact_tangential).abs() < 1e-12);
    assert!((sum(|b| b.external) - totals.external).abs() < 1e-12);
    let kinetic: f64 = bodies.iter().map(|body| body.kinetic).sum();
    assert!((kinetic - run.state().kinetic).abs() < 1e-13);
    for body in bodies {
        assert!(body.worst_imbalance < 1e-12, "{body:?}");
    }
    // Momentum passed to the lower block is what its support and inertia take: both works differ.
    let contact = bodies
        .iter()
        .map(|b| b.contact_normal + b.contact_tangential);
    let contact: Vec<f64> = contact.collect();
    assert!(contact[0] > 0.0 && contact[1] < 0.0);
}

#[test]
fn accounts_of_bodies_at_finite_strain_add_up_and_close() {
    let system = two_blocks(ImpactLaw::Fremond { restitution: 0.0 });
    let system = Arc::into_inner(system).unwrap();
    let system = Arc::new(system.with_finite_strain().unwrap());
    let mut v = vec![0.0; system.dof()];
    for pair in system.bodies()[1].dofs.chunks(2) {
        v[pair[0] as usize] = 0.6;
        v[pair[1] as usize] = -1.0;
    }
    let q = vec![0.0; system.dof()];
    for internal in [InternalForce::DiscreteGradient, InternalForce::AtTheta] {
        let settings = MoreauJeanSettings {
            internal_force: internal,
            ..theta(0.51)
        };
        let ledger = ElasticLedger::new(system.clone(), 0.51, (0.0, &q, &v));
        let mut ledger = ledger.with_internal_force(internal);
        let run = run(&system, settings, (&q, &v), (5e-4, 0.1), |record| {
            ledger.observe(record);
        });
        let (totals, state) = (&run.ledger().totals, run.state());
        let sum = |term: fn(&BodyAccount) -> f64| ledger.bodies().iter().map(term).sum::<f64>();
        let scale = run.ledger().energy_start;
        let numerical = totals.numerical_mass + totals.potential_defect;
        for (found, expected) in [
            (sum(|b| b.kinetic), state.kinetic),
            (sum(|b| b.elastic), state.potential),
            (sum(|b| b.numerical), numerical),
            (sum(|b| b.contact_normal), totals.contact_normal),
            (sum(|b| b.contact_tangential), totals.contact_tangential),
        ] {
            assert!(
                (found - expected).abs() < 1e-11 * scale,
                "{found} {expected}"
            );
        }
        // To the tolerance of the iteration on the forces.
        for body in ledger.bodies() {
            assert!(body.worst_imbalance < 1e-10 * scale, "{body:?}");
        }
        assert!(ledger.bodies()[0].elastic > 0.0 && ledger.bodies()[1].elastic > 0.0);
    }
}

#[test]
fn given_motion_carries_a_bar_and_drives_its_standing_wave() {
    let (length, n) = (1.0, 80);
    let material = Material::new(4.0, 0.0, 1.0);
    let c = material.bar_wave_speed();
    let driven = |motion: fn(f64) -> [f64; 3]| {
        Arc::new(
            ElastodynamicSystem::builder(Mesh::bar(1, length, n, ElementKind::Line2))
                .region(Mesh::ALL, material, Formulation::Bar { area: 1.0 })
                .prescribe("left", 0, motion)
                .build()
                .unwrap(),
        )
    };
    // Constant velocity: pure translation.
    let system = driven(|t| [0.7 * t, 0.7, 0.0]);
    let start = system.uniform([0.7, 0.0, 0.0]);
    let rest = vec![0.0; system.dof()];
    let end = run(&system, theta(0.5), (&rest, &start), (1e-3, 0.5), |_| {});
    assert!(end.state().q.iter().all(|q| (q - 0.35).abs() < 1e-12));
    // u = sin(ωt) cos(ω(L − x)/c)/cos(ωL/c), free at the right end.
    const OMEGA: f64 = 2.5;
    let system = driven(|t| {
        let (s, c) = (OMEGA * t).sin_cos();
        [s, OMEGA * c, -OMEGA * OMEGA * s]
    });
    let shape = |x: [f64; 3]| {
        let scale = (OMEGA * length / c).cos();
        [(OMEGA * (length - x[0]) / c).cos() / scale, 0.0, 0.0]
    };
    let start = system.field(|x| shape(x).map(|u| OMEGA * u));
    let end = run(&system, theta(0.5), (&rest, &start), (1e-3, 1.0), |_| {});
    let exact = system.field(|x| shape(x).map(|u| (OMEGA * 1.0).sin() * u));
    let error = end
        .state()
        .q
        .iter()
        .zip(&exact)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(error < 2e-4, "error {error}");
    assert!(end.ledger().is_closed(), "{}", end.ledger().worst_ratio);
}

#[test]
fn a_moving_road_accelerates_a_block_by_mu_g() {
    let (mu, road) = (0.3, 2.0);
    let plane = Obstacle::plane([0.0; 3], [0.0, 1.0, 0.0])
        .moving(move |t| ([road * t, 0.0, 0.0], [road, 0.0, 0.0]));
    let law = coulomb(mu, ImpactLaw::Fremond { restitution: 0.0 });
    let system = Arc::new(
        ElastodynamicSystem::builder(Mesh::rectangle((0.4, 0.2), (4, 2), ElementKind::Quad8))
            .region(
                Mesh::ALL,
                Material::new(1e4, 0.3, 1.0),
                Formulation::PlaneStress { thickness: 1.0 },
            )
            .damping(Damping::Rayleigh {
                mass: 0.0,
                stiffness: 2e-3,
            })
            .gravity([0.0, -9.81, 0.0])
            .contact("bottom", plane, law)
            .build()
            .unwrap(),
    );
    let rest = vec![0.0; system.dof()];
    let run = run(&system, theta(0.51), (&rest, &rest), (1e-3, 0.4), |_| {});
    let unit = system.uniform([1.0, 0.0, 0.0]);
    let mass = system.mass_matrix();
    let velocity = mass.bilinear(&unit, &run.state().v) / mass.bilinear(&unit, &unit);
    let exact = mu * 9.81 * 0.4;
    assert!(
        (velocity / exact - 1.0).abs() < 0.01,
        "velocity {velocity} {exact}"
    );
    assert!(run.ledger().is_closed(), "{}", run.ledger().worst_ratio);
}

#[test]
fn finite_strain_lets_a_block_turn_without_energy() {
    // A block turning freely by more than a full turn: energy and account to the tolerance of
    // the iteration, where linear strain would inflate the body.
    let system = Arc::new(
        ElastodynamicSystem::builder(Mesh::rectangle((1.0, 0.5), (4, 2), ElementKind::Quad4))
            .region(
                Mesh::ALL,
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

#[test]
fn gmsh_files_of_all_four_kinds_hold_the_same_mesh() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/meshes");
    let read = |name: &str| {
        Mesh::read_gmsh(&std::fs::read(format!("{folder}/{name}.msh")).unwrap()).unwrap()
    };
    let strip = read("strip-4.1-ascii");
    assert_eq!(strip.dimension(), 2);
    let names: Vec<&String> = strip.groups().keys().collect();
    assert_eq!(names, ["all", "bottom", "left", "soft rubber", "steel"]);
    let sorted = |mesh: &Mesh| {
        // Text files keep sixteen digits: compare to twelve.
        let mut nodes: Vec<[i64; 3]> = mesh
            .nodes()
            .iter()
            .map(|x| x.map(|x| (x * 1e12).round() as i64))
            .collect();
        nodes.sort_unstable();
        nodes
    };
    for kind in ["strip-2.2-ascii", "strip-2.2-binary", "strip-4.1-binary"] {
        let other = read(kind);
        let sizes = |mesh: &Mesh| -> Vec<(String, usize)> {
            let groups = mesh.groups().iter();
            groups.map(|(n, g)| (n.clone(), g.elements.len())).collect()
        };
        assert_eq!(sizes(&strip), sizes(&other), "{kind}");
        assert_eq!(sorted(&strip), sorted(&other), "{kind}");
    }
    // Two materials, a support, and the right mass.
    let stress = Formulation::PlaneStress { thickness: 2.0 };
    let system = ElastodynamicSystem::builder(strip)
        .region("steel", Material::new(10.0, 0.3, 3.0), stress)
        .region("soft rubber", Material::new(1.0, 0.5, 1.0), stress)
        .build()
        .unwrap();
    let unit = system.uniform([1.0, 0.0, 0.0]);
    let mass = system.mass_matrix().bilinear(&unit, &unit);
    assert!((mass - 2.0 * (0.5 * 3.0 + 0.5)).abs() < 1e-12);
    for kind in ["block-2.2-binary", "block-4.1-binary"] {
        let block = read(kind);
        let system = ElastodynamicSystem::builder(block)
            .region("block", Material::new(1.0, 0.3, 5.0), Formulation::Solid)
            .support("floor side", &[0, 1, 2])
            .build()
            .unwrap();
        // The held nodes carry the rest of the mass.
        assert!(system.dof() > 10 && system.report().is_empty());
    }
    // A truncated file is refused with its place, never a panic.
    let whole = std::fs::read(format!("{folder}/strip-4.1-binary.msh")).unwrap();
    for cut in (0..whole.len()).step_by(97) {
        let _ = Mesh::read_gmsh(&whole[..cut]);
    }
    assert!(Mesh::read_gmsh(&whole[..whole.len() / 2]).is_err());
}

/// An inclined beam of two elements that falls on its tip with some sideways velocity, e = 1, θ = ½,
/// nothing else acting on it: largest and last energy and largest rise in one step, relative to the
/// start, and largest work of friction in one step.
fn tip_impacts(mu: f64, impact: ImpactLaw, h: f64) -> [f64; 4] {
    let slope = std::f64::consts::FRAC_1_SQRT_2;
    let mesh =
        Mesh::bar(2, 1.0, 2, ElementKind::Line2).mapped(|x| [slope * x[0], slope * x[0], 0.0]);
    let beam = Formulation::Beam {
        area: 0.01,
        inertia: 8.33e-6,
    };
    let floor = Obstacle::plane([0.0; 3], [0.0, 1.0, 0.0]);
    let system = Arc::new(
        ElastodynamicSystem::builder(mesh)
            .region(Mesh::ALL, Material::new(1e6, 0.0, 100.0), beam)
            .contact("left", floor, coulomb(mu, impact))
            .build()
            .unwrap(),
    );
    let (rest, start) = (vec![0.0; system.dof()], system.uniform([0.5, -1.0, 0.0]));
    let energy = 0.5 * system.mass_matrix().bilinear(&start, &start);
    let (mut highest, mut last, mut rise, mut friction) = (energy, energy, 0.0f64, 0.0f64);
    let run = run(&system, theta(0.5), (&rest, &start), (h, 0.02), |record| {
        assert_eq!(record.energy.external, 0.0);
        let now = record.kinetic + record.potential;
        rise = rise.max(now - last);
        highest = highest.max(now);
        last = now;
        friction = friction.max(record.energy.contact_tangential);
    });
    assert!(run.ledger().is_closed(), "{}", run.ledger().worst_ratio);
    [highest, last, rise, friction].map(|x| x / energy)
}

#[test]
fn newtons_law_gives_an_elastic_beam_energy_where_fremonds_takes_it() {
    // [AcaryCollinsCraft2023]: Coulomb's law between the impulse and the velocity after the impact lets
    // friction work (1 − θ) u_T,k·p_T > 0 where the slip reverses. An inclined beam has the coupling of
    // normal and tangent that this needs, already in its mass. The gain is no error of the step: it has
    // a limit as h → 0.
    let mut gains = Vec::new();
    for h in [1e-4, 5e-5, 2.5e-5] {
        let newton = ImpactLaw::Newton { restitution: 1.0 };
        for mu in [0.5, 2.0] {
            let [highest, last, rise, friction] = tip_impacts(mu, newton, h);
            assert!(rise > 0.02 && last > 1.01, "{rise} {last}");
            // All of it is the work of friction: the impact law itself keeps the energy.
            assert!((friction - rise).abs() < 1e-12, "{friction} {rise}");
            gains.push(highest - 1.0);
        }
        let fremond = ImpactLaw::Fremond { restitution: 1.0 };
        let [highest, last, rise, friction] = tip_impacts(0.5, fremond, h);
        assert!(highest <= 1.0 + 1e-14 && rise < 1e-14 && friction < 1e-14);
        assert!(last < 0.99, "{last}");
        // Where nothing slides, it keeps the energy.
        let [highest, last, ..] = tip_impacts(2.0, fremond, h);
        assert!((highest - 1.0).abs() < 1e-13 && (last - 1.0).abs() < 1e-13);
    }
    assert!(
        gains
            .iter()
            .all(|gain| (gain / gains[5] - 1.0).abs() < 0.02),
        "{gains:?}"
    );
    assert!(gains[5] > 0.05, "{gains:?}");
}

/// A bar of cells Δx with consistent masses: the fastest mode, neighbours against each other, has ω² = 12 c²/Δx², so that explicit
/// steps are stable up to Δx/(√3 c) = 0.577 ms.
#[test]
fn explicit_steps_beyond_the_fastest_mode_are_refused() {
    let bar = |scheme: &str, step: f64| {
        let source = find_in_gallery("elastic-bar").expect("a scene").source();
        let changes = Changes::new()
            .key("scheme", scheme)
            .key("step", step.to_string());
        Scene::parse(changes.apply(&source).expect("keys"))
    };
    let limit = 0.01 / (3f64.sqrt() * 10.0);
    for scheme in ["moreau", "sweeping-process"] {
        let refused = bar(scheme, 1.01 * limit).map(|_| ());
        let message = refused.expect_err("unstable").to_string();
        assert!(message.contains("at most 0.0005774"), "{message}");
        let scene = bar(scheme, 0.99 * limit).expect("stable");
        let mut run = scene.simulation().expect("stable");
        let start = run.record().kinetic + run.record().potential;
        let end = run.run_until(0.3, |_| ControlFlow::Continue(()));
        assert_eq!(end, RunEnd::Finished);
        let now = run.record().kinetic + run.record().potential;
        assert!(now < 1.05 * start, "{scheme}: {start} {now}");
    }
}

const SET_DOWN: &str = r#"
title = "block set on a block"
law = "frictionless"
step = 5e-4
until = 0.0015
[elastic]
[[elastic.meshes]]
name = "lower"
shape = "rectangle"
size = [0.6, 0.2]
cells = [5, 1]
[[elastic.meshes]]
name = "upper"
shape = "rectangle"
size = [0.3, 0.2]
cells = [2, 1]
at = [0.13, 0.2]
velocity = ["-0.4", "-1"]
[[elastic.regions]]
model = "plane-strain"
young = 1e5
density = 500
[[elastic.supports]]
group = "lower-bottom"
hold = ["x", "y"]
[[contacts]]
name = "joint"
surface = "upper-bottom"
against = "lower-top"
"#;

/// Sum of the normal impulses of each step, and the deepest gap.
fn pressed(text: &str, scheme: &str) -> (Vec<f64>, f64) {
    let source = SourceText::new(
        "blocks.toml",
        text.replace("step =", &format!("scheme = \"{scheme}\"\nstep =")),
    );
    let scene = Scene::parse(source).expect("a scene");
    let mut run = scene.simulation().expect("a simulation");
    let (mut sums, mut deepest) = (Vec::new(), 0.0f64);
    run.run_until(scene.settings.until, |record| {
        let normals = record.contacts.iter().map(|c| record.impulses[c.start]);
        sums.push(normals.sum());
        deepest = record.contacts.iter().fold(deepest, |m, c| m.min(c.gap));
        ControlFlow::Continue(())
    });
    (sums, deepest)
}

/// A node whose gap is rounding is pressed along the normal of its facet, not along what rounding left between them: blocks that touch
/// move as those a tenth of a nanometre apart do.
#[test]
fn a_block_set_on_a_block_is_held_by_its_normals() {
    let apart = SET_DOWN.replace("0.13, 0.2]", "0.13, 0.2000000001]");
    let (on, above) = (
        pressed(SET_DOWN, "moreau-jean"),
        pressed(&apart, "moreau-jean"),
    );
    for (a, b) in on.0.iter().zip(&above.0) {
        assert!(*a > 0.0 && (a - b).abs() < 1e-5 * b, "{a} {b}");
    }
    assert!((on.1 - above.1).abs() < 1e-9, "{} {}", on.1, above.1);
    // Contacts of the sweeping process are those that touch at the start of a step: all of them do, and none sinks in after.
    let (sums, deepest) = pressed(SET_DOWN, "sweeping-process");
    assert!(sums[0] > 0.5 * on.0[0], "{sums:?} {:?}", on.0);
    // A fiftieth of the 0.5 mm that it would move in a step: that is what facets bend by meanwhile.
    assert!(deepest > -1e-5, "{deepest}");
}

/// The gallery's pair of blocks, whose nodes lie on each other to rounding.
#[test]
fn a_pair_of_blocks_does_not_know_a_tenth_of_a_nanometre() {
    let text = find_in_gallery("elastic-two-blocks").expect("a scene").text;
    let run = |at: &str| {
        let text = text.replace("at = [0.2, 0.3]", at);
        let scene = Scene::parse(SourceText::new("blocks.toml", text)).expect("a scene");
        let mut run = scene.simulation().expect("a simulation");
        let (mut first, mut largest) = (None, 0.0f64);
        run.run_until(5.0 * scene.settings.step, |record| {
            let normals = record.contacts.iter().map(|c| record.impulses[c.start]);
            first.get_or_insert(normals.sum::<f64>());
            largest = record.contacts.iter().fold(0.0, |m, c| m.max(c.gap.abs()));
            ControlFlow::Continue(())
        });
        (first.expect("a step"), largest)
    };
    let (on, above) = (run("at = [0.2, 0.3]"), run("at = [0.2, 0.3000000001]"));
    // The upper block weighs 0.0235 N s in a step, which comes to the joint only as both deform.
    assert!((on.0 - above.0).abs() < 2e-4, "{on:?} {above:?}");
    assert!(on.1 < 1e-8 && above.1 < 1e-8, "{on:?} {above:?}");
}
