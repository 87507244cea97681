//! Invariants of the generalized law P'3/P'4 on thousands of random impacts, unbounded sets included.
//!
//! The list is that of the law's specification: cone membership, complementarity, dissipation,
//! uniqueness, homogeneity, invariance under change of coordinates and of the scale of the gap, the
//! frictionless limit, agreement with S(q, v) and, below the critical coefficient, with Coulomb.

use crate::common::random::Random;
use stickslip::algebra::SymmetricMatrix;
use stickslip::contact::{
    BlockKind, ContactKey, ContactProblem, ContactResidual, ContactSolution, ContactSolver,
    SolveStatus,
};
use stickslip::internals::{CholeskyFactor, GeneralizedSet, NormalStage, dot};
use stickslip::laws::{
    ActiveSpace, FlowRule, FrictionSection, GeneralizedRule, Polyhedron, Sections, SetUnit,
};
use stickslip::solvers::{GaussSeidel, GeneralizedReaction};

/// A body with contacts: mass, rows and section per contact, velocity before.
#[derive(Clone, Debug)]
struct Impact {
    mass: Vec<f64>,
    contacts: Vec<(Vec<f64>, FrictionSection)>,
    velocity: Vec<f64>,
}

impl Impact {
    fn problem(&self, rule: FlowRule, restitution: f64) -> ContactProblem {
        let n = self.velocity.len();
        let mut problem = ContactProblem::default();
        problem.begin(n);
        for (k, (rows, section)) in self.contacts.iter().enumerate() {
            let id = ContactKey::declared(k, 0);
            let kind = BlockKind::Unilateral { minimum: 0.0 };
            let (target, _) = problem.push(id, rows.len() / n, section.clone(), rule, kind);
            target.copy_from_slice(rows);
        }
        let mut factor = CholeskyFactor::default();
        factor
            .factor(&SymmetricMatrix::from_rows(n, self.mass.clone()))
            .expect("positive definite");
        problem.condense(|x| factor.solve_in_place(x));
        problem.velocity_free_mut().copy_from_slice(&self.velocity);
        problem.refresh();
        *problem.normal_stage_mut() = NormalStage::Moreau { restitution };
        problem
    }

    /// Twice the kinetic energy.
    fn energy(&self, v: &[f64]) -> f64 {
        SymmetricMatrix::from_rows(v.len(), self.mass.clone()).bilinear(v, v)
    }
}

struct Outcome {
    v: Vec<f64>,
    solution: ContactSolution,
    residual: f64,
    problem: ContactProblem,
}

fn step(impact: &Impact, rule: GeneralizedRule, restitution: f64, guess: &[f64]) -> Outcome {
    let problem = impact.problem(FlowRule::Generalized(rule), restitution);
    let mut solution = ContactSolution::default();
    solution.prepare(problem.size());
    if guess.len() == problem.size() {
        solution.impulse.copy_from_slice(guess);
    }
    GeneralizedReaction::default().solve(&problem, &mut solution);
    let mut residual = ContactResidual::default();
    residual.measure_solution(&problem, &solution);
    let mut v = vec![0.0; impact.velocity.len()];
    problem.velocity(&solution.impulse, &mut v);
    Outcome {
        v,
        residual: residual.worst(),
        solution,
        problem,
    }
}

/// Random section with the number of tangents it needs; sets given directly may be unbounded.
fn section(random: &mut Random, unit: SetUnit) -> FrictionSection {
    let given = unit != SetUnit::CoulombCone;
    match random.bits() % 5 {
        0 => {
            let (mut low, mut high) = (-random.uniform(0.0, 1.5), random.uniform(0.0, 1.5));
            if given && random.bits().is_multiple_of(3) {
                if random.bits().is_multiple_of(2) {
                    low = f64::NEG_INFINITY
                } else {
                    high = f64::INFINITY
                }
            }
            FrictionSection::interval(low, high).unwrap()
        }
        1 => FrictionSection::segment(random.uniform(0.0, 2.0)).unwrap(),
        2 => FrictionSection::disc(random.uniform(0.0, 2.0)).unwrap(),
        3 => {
            FrictionSection::ellipse([random.uniform(0.0, 1.5), random.uniform(0.0, 1.5)]).unwrap()
        }
        _ if given => {
            // Three corners around 0.
            let vertices = [0.2f64, 2.3, 4.4]
                .map(|angle| {
                    let r = random.uniform(0.1, 1.0);
                    vec![r * angle.cos(), r * angle.sin()]
                })
                .to_vec();
            let rays = if random.bits().is_multiple_of(2) {
                vec![random.vector(2)]
            } else {
                vec![]
            };
            FrictionSection::general(Polyhedron::new(vertices, rays).unwrap()).unwrap()
        }
        _ => FrictionSection::disc(random.uniform(0.0, 0.8)).unwrap(),
    }
}

fn random_impact(random: &mut Random, contacts: usize, unit: SetUnit) -> Impact {
    let n = 3 + (random.bits() % 4) as usize;
    let contacts = (0..contacts.min(n - 1))
        .map(|_| {
            let section = section(random, unit);
            let rows = random.vector((1 + section.dimension()) * n);
            (rows, section)
        })
        .collect();
    Impact {
        mass: random.gram(n, n, 0.3),
        contacts,
        velocity: random.vector(n),
    }
}

fn rules() -> Vec<GeneralizedRule> {
    let mut all = Vec::new();
    for active_space in [ActiveSpace::All, ActiveSpace::Firm] {
        for unit in [
            SetUnit::CoulombCone,
            SetUnit::PerGradient,
            SetUnit::PerUnitNormal,
        ] {
            all.push(GeneralizedRule {
                active_space,
                unit,
                ..GeneralizedRule::default()
            });
        }
    }
    all.push(GeneralizedRule {
        sections: Sections::Joint,
        ..GeneralizedRule::default()
    });
    all
}

/// Every step is certified, opens its constraints, never gains energy, and does not depend on the
/// start of the iteration; friction takes most power at its budget.
#[test]
fn steps_are_certified_dissipative_and_unique() {
    let mut random = Random(11);
    let (mut worst, mut stalled) = (0.0f64, 0);
    for trial in 0..3000 {
        let rule = rules()[trial % 7];
        let contacts = 1 + (random.bits() % 3) as usize;
        let impact = random_impact(&mut random, contacts, rule.unit);
        let e = [0.0, 0.5, 1.0][trial % 3];
        let outcome = step(&impact, rule, e, &[]);
        let name = format!("seed 11, trial {trial}, {rule:?}, e = {e}");
        if outcome.solution.status == SolveStatus::Stalled {
            // Wedging cones: the least energy need not be attained, and the status says so.
            stalled += 1;
            continue;
        }
        assert_eq!(
            outcome.solution.status,
            SolveStatus::Converged,
            "{name}: residual {}",
            outcome.residual
        );
        let limit = if rule.sections == Sections::Joint {
            1e-8
        } else {
            1e-9
        };
        assert!(
            outcome.residual <= limit,
            "{name}: residual {}",
            outcome.residual
        );
        worst = worst.max(outcome.residual);
        let (before, after) = (impact.energy(&impact.velocity), impact.energy(&outcome.v));
        assert!(
            after <= before * (1.0 + 1e-12),
            "{name}: energy {before} to {after}"
        );
        for block in outcome.problem.blocks() {
            let u = outcome.solution.local_velocity[block.start];
            assert!(u >= -1e-10, "{name}: normal velocity {u}");
        }
        // Any other start of the dual iteration.
        let guess = random.vector(outcome.problem.size());
        let again = step(&impact, rule, e, &guess);
        let difference: f64 = outcome
            .v
            .iter()
            .zip(&again.v)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(
            difference <= 1e-7,
            "{name}: two velocities, {difference} apart"
        );
    }
    println!("worst residual {worst:.1e}, stalled {stalled} of 3000");
    assert!(stalled <= 15, "{stalled} problems stalled");
}

#[test]
fn law_is_homogeneous_in_the_velocity() {
    let mut random = Random(12);
    for trial in 0..500 {
        let rule = rules()[trial % 6];
        let mut impact = random_impact(&mut random, 2, rule.unit);
        let one = step(&impact, rule, 0.3, &[]);
        let factor = 2f64.powi((random.bits() % 20) as i32 - 10);
        impact.velocity.iter_mut().for_each(|v| *v *= factor);
        let scaled = step(&impact, rule, 0.3, &[]);
        for (a, b) in one.v.iter().zip(&scaled.v) {
            assert!(
                (factor * a - b).abs() <= 1e-8 * factor,
                "seed 12, trial {trial}"
            );
        }
    }
}

/// q = T q': M' = TᵀMT, rows' = rows T, v = T v'.
#[test]
fn law_does_not_depend_on_coordinates_or_on_the_scale_of_the_gap() {
    let mut random = Random(13);
    let mut noticed = 0;
    for trial in 0..500 {
        let rule = rules()[trial % 6];
        let impact = random_impact(&mut random, 2, rule.unit);
        let n = impact.velocity.len();
        let one = step(&impact, rule, 0.4, &[]);
        // Change of coordinates.
        let mut t = random.vector(n * n);
        (0..n).for_each(|i| t[i * n + i] += 3.0);
        let column = |m: &[f64], j: usize| (0..n).map(|i| m[i * n + j]).collect::<Vec<_>>();
        let times = |row: &[f64]| {
            (0..n)
                .map(|j| dot(row, &column(&t, j)))
                .collect::<Vec<f64>>()
        };
        let half: Vec<f64> = impact.mass.chunks(n).flat_map(times).collect();
        let mass: Vec<f64> = (0..n * n)
            .map(|e| dot(&column(&t, e / n), &column(&half, e % n)))
            .collect();
        let mut velocity = impact.velocity.clone();
        assert!(stickslip::internals::solve_in_place(
            &mut t.clone(),
            &mut velocity
        ));
        let moved = Impact {
            mass,
            contacts: impact
                .contacts
                .iter()
                .map(|(rows, s)| (rows.chunks(n).flat_map(times).collect(), s.clone()))
                .collect(),
            velocity,
        };
        let other = step(&moved, rule, 0.4, &[]);
        for i in 0..n {
            let back = dot(&t[i * n..(i + 1) * n], &other.v);
            assert!(
                (back - one.v[i]).abs() <= 1e-7,
                "seed 13, trial {trial}, {rule:?}"
            );
        }
        // φ → c φ, a factor per contact: the normal row changes, and with it the unit of sets per dφ and of the cones of
        // real reactions, which then are c times as large; sets per unit normal stay as they are.
        let mut scaled = impact.clone();
        for (rows, section) in &mut scaled.contacts {
            let c = 10f64.powf(random.uniform(-2.0, 2.0));
            rows[..n].iter_mut().for_each(|x| *x *= c);
            if rule.unit != SetUnit::PerUnitNormal {
                *section = section.scaled(c);
            }
        }
        let other = step(&scaled, rule, 0.4, &[]);
        let apart = |other: &Outcome| {
            let pairs = one.v.iter().zip(&other.v);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(
            apart(&other) <= 1e-7,
            "seed 13, trial {trial}, {rule:?}: scale of the gap, {}",
            apart(&other)
        );
        // Sets that keep their numbers are other sets: the test sees the difference.
        let mut forgotten = scaled;
        for ((_, section), (_, old)) in forgotten.contacts.iter_mut().zip(&impact.contacts) {
            *section = match rule.unit {
                SetUnit::PerUnitNormal => old.scaled(3.0),
                _ => old.clone(),
            };
        }
        noticed += usize::from(apart(&step(&forgotten, rule, 0.4, &[])) > 1e-3);
    }
    assert!(
        noticed > 150,
        "only {noticed} of 500 motions feel their sets"
    );
}

/// The gap of a scene may be any positive multiple, constant or not, of the distance: `point` and `normal` say what is a metre.
#[test]
fn scenes_do_not_depend_on_the_scale_of_their_gap() {
    let run = |gap: &str, head: &str| {
        let text = format!(
            "title = \"scale\"\nstep = 0.001\nuntil = 0.8\nlaw = \"generalized\"\n{head}\n[system]\n\
             coordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"(x'^2 + y'^2)/2 + a'^2/24\"\npotential = \"9.81*y\"\n\
             [[contacts]]\nname = \"tip\"\ngap = \"{gap}\"\npoint = [\"x - cos(a)/2\", \"y - sin(a)/2\"]\n\
             friction = 0.6\nrestitution = 0.5\n[initial]\ny = 0.6\na = 0.8\nx_dot = 1\na_dot = -2\n"
        );
        let source = stickslip::scene::SourceText::new("scale", text);
        let scene = stickslip::scene::Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap();
        run.run_until(0.8, |_| std::ops::ControlFlow::Continue(()));
        assert!(run.events().events.len() > 1, "{gap}: nothing happens");
        run.state().q.clone()
    };
    for head in [
        "impact = \"newton\"",
        "impact = \"inelastic\"\nfriction_per = \"unit-normal\"",
    ] {
        let plain = run("y - sin(a)/2", head);
        for gap in [
            "100*(y - sin(a)/2)",
            "0.001*(y - sin(a)/2)",
            "(3 + x^2)*(y - sin(a)/2)",
        ] {
            for (a, b) in plain.iter().zip(run(gap, head)) {
                // A factor that varies moves the gap of order h² by as much.
                let slack = if gap.contains("x^2") { 1e-3 } else { 1e-8 };
                assert!((a - b).abs() <= slack, "{gap} {head}: {a} {b}");
            }
        }
    }
}

#[test]
fn without_friction_only_the_normal_stage_acts() {
    let mut random = Random(14);
    for trial in 0..300 {
        let rule = rules()[trial % 7];
        let mut impact = random_impact(&mut random, 2, rule.unit);
        let n = impact.velocity.len();
        for (rows, section) in &mut impact.contacts {
            rows.truncate(2 * n);
            *section = FrictionSection::segment(0.0).unwrap();
        }
        let frictionless = step(&impact, rule, 0.2, &[]);
        for (rows, section) in &mut impact.contacts {
            rows.truncate(n);
            *section = FrictionSection::None;
        }
        let normal = step(&impact, rule, 0.2, &[]);
        for (a, b) in frictionless.v.iter().zip(&normal.v) {
            assert!((a - b).abs() <= 1e-9, "seed 14, trial {trial}, {rule:?}");
        }
    }
}

/// One constraint, e = 0: P'3 is S(q, v); in the plane below the critical coefficient also Coulomb.
#[test]
fn one_inelastic_contact_is_the_kinetic_projection_and_below_critical_coulomb() {
    let mut random = Random(15);
    let (mut coulomb, mut unbounded) = (0, 0);
    for trial in 0..1500 {
        let mut impact = random_impact(&mut random, 1, SetUnit::CoulombCone);
        let n = impact.velocity.len();
        if dot(&impact.contacts[0].0[..n], &impact.velocity) >= 0.0 {
            impact.velocity.iter_mut().for_each(|v| *v = -*v);
        }
        let generalized = step(&impact, GeneralizedRule::default(), 0.0, &[]);
        let solve = |rule: FlowRule| {
            let problem = impact.problem(rule, 0.0);
            let mut solution = ContactSolution::default();
            solution.prepare(problem.size());
            GaussSeidel::default().solve(&problem, &mut solution);
            let mut v = vec![0.0; n];
            problem.velocity(&solution.impulse, &mut v);
            (v, solution.status)
        };
        let (projection, _) = solve(FlowRule::KineticProjection);
        for (a, b) in generalized.v.iter().zip(&projection) {
            assert!((a - b).abs() <= 1e-9, "seed 15, trial {trial}");
        }
        let w = generalized.problem.dense();
        let section = &impact.contacts[0].1;
        let set = GeneralizedSet::from_cone(&w, section.clone());
        unbounded += usize::from(!set.is_bounded());
        if section.dimension() == 1 && set.margin() > 1e-6 {
            let (v, status) = solve(FlowRule::Coulomb);
            if status == SolveStatus::Converged {
                coulomb += 1;
                for (a, b) in generalized.v.iter().zip(&v) {
                    assert!((a - b).abs() <= 1e-9, "seed 15, trial {trial}: Coulomb");
                }
            }
        }
        // A firm contact never keeps a velocity that its unbounded set forbids.
        if section.dimension() == 1 {
            let u = &generalized.solution.local_velocity;
            let read = u[1] - set.tilt()[0] * u[0];
            assert!(
                read.abs() <= 1e-9 || set.allows(&[read]),
                "seed 15, trial {trial}"
            );
        }
    }
    assert!(coulomb > 200 && unbounded > 50, "{coulomb} {unbounded}");
}

/// Joint sections by their definition, written with support functions and gauges: reactions in the sum of the real cones that keep the normal
/// velocities, and a velocity w = u + W_n τ that no reaction of the cones could use to take more energy, `w_N ≥ σ_D(−w_T)`, `w·p = 0`.
#[test]
fn joint_sections_take_the_most_energy_that_kept_normal_velocities_allow() {
    let mut random = Random(21);
    let rule = GeneralizedRule {
        sections: Sections::Joint,
        ..GeneralizedRule::default()
    };
    let (mut steps, mut stalled) = (0, 0);
    for trial in 0..1500 {
        let contacts = 2 + trial % 4;
        let mut impact = random_impact(&mut random, contacts, rule.unit);
        // Grazing, too, and the small steps of lasting contact.
        let small = 10f64.powf(-4.0 * random.uniform(0.0, 1.0));
        impact.velocity.iter_mut().for_each(|v| *v *= small);
        if trial % 3 == 0 && impact.contacts.len() > 1 {
            let twin = impact.contacts[0].0.clone();
            impact.contacts[1].0[..impact.velocity.len()]
                .copy_from_slice(&twin[..impact.velocity.len()]);
        }
        let found = step(&impact, rule, 0.0, &[]);
        let (p, outcome) = (&found.solution.impulse, &found.solution.generalized);
        steps += found.solution.iterations;
        if found.solution.status != SolveStatus::Converged {
            stalled += 1;
            continue;
        }
        let problem = &found.problem;
        let w = |i: usize, j: usize| problem.w(i, j);
        let blocks = problem.blocks();
        let unit = |i: usize| w(i, i).sqrt().max(1e-300);
        let speed = (0..problem.size())
            .map(|i| problem.free()[i].abs() / unit(i))
            .fold(1e-300, f64::max);
        let mut read = vec![0.0; problem.size()];
        for (i, read) in read.iter_mut().enumerate() {
            let pulled = blocks.iter().zip(&outcome.multipliers);
            *read = found.solution.local_velocity[i]
                + pulled.map(|(b, t)| w(i, b.start) * t).sum::<f64>();
        }
        let mut power = 0.0;
        let mut size = speed * speed;
        for (a, block) in blocks.iter().enumerate() {
            let n = block.start;
            let tangent = n + 1..n + block.size;
            let name = format!("seed 21, trial {trial}, contact {a}");
            let after = problem.free()[n]
                + blocks
                    .iter()
                    .zip(&outcome.budget)
                    .map(|(b, l)| w(n, b.start) * l)
                    .sum::<f64>();
            let kept = (found.solution.local_velocity[n] - after).abs() / unit(n);
            assert!(kept <= 1e-9 * speed, "{name}: normal velocity by {kept}");
            let beyond = block.section.distance(&p[tangent.clone()], p[n].max(0.0)) * unit(n);
            assert!(
                beyond <= 1e-9 * speed && p[n] * unit(n) >= -1e-9 * speed,
                "{name}: cone"
            );
            let against: Vec<f64> = read[tangent.clone()].iter().map(|u| -u).collect();
            let short = (block.section.support(&against) - read[n]) / unit(n);
            let large = read[block.range()]
                .iter()
                .fold(0.0f64, |s, u| s.max(u.abs()))
                / unit(n);
            assert!(
                short <= 1e-8 * (speed + large),
                "{name}: {short} of {large}"
            );
            power += dot(&read[block.range()], &p[block.range()]);
            size += large * speed;
        }
        assert!(
            power.abs() <= 1e-8 * size,
            "seed 21, trial {trial}: power {power} of {size}"
        );
    }
    println!("{steps} steps, {stalled} not solved");
    assert!(stalled <= 3, "{stalled} problems not solved");
}
