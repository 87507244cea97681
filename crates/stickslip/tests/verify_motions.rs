//! Motions judged against formulations: runs accepted, corrupted ones refused for the right reason, the
//! one-parameter families of [CharlesBallard2016].

use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, GeneralizedRule, ImpactLaw};
use stickslip::simulation::verify::*;
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    MoreauContactDynamics, MoreauJean, MoreauJeanSettings, SweepingProcess, TimeSteppingScheme,
};
use stickslip::systems::functions::{AutoScalar, GivenRows};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Particle of mass 2 above the line y = 0, friction 0.5.
fn particle(impact: ImpactLaw, rule: FlowRule) -> GeneralizedSystem {
    let tangent = GivenRows(|_: &[f64], rows: &mut [f64]| rows.copy_from_slice(&[1.0, 0.0]));
    let law = ContactLaw::new(FrictionSection::segment(0.5).unwrap(), impact)
        .unwrap()
        .with_flow_rule(rule);
    GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[2.0, 2.0])
        .dead_load(&[0.0, -19.62])
        .constraint(
            UnilateralConstraint::new("plane", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(&[0.0, 0.05])
        .unwrap()
}

/// The schemes that make runs, with the places where their steps read their laws.
#[derive(Clone, Copy, Debug)]
enum Scheme {
    Moreau,
    MoreauJean(f64),
    Sweeping,
}

impl Scheme {
    fn parts(self) -> (Box<dyn TimeSteppingScheme>, Discretisation) {
        let contact_gap = 1e-12;
        match self {
            Self::Moreau => (
                Box::new(MoreauContactDynamics::new(contact_gap)),
                Discretisation::EndOfStep { contact_gap },
            ),
            Self::MoreauJean(theta) => {
                let settings = MoreauJeanSettings {
                    theta: Some(theta),
                    gap_tolerance: contact_gap,
                    ..MoreauJeanSettings::default()
                };
                let rule = Discretisation::Theta {
                    theta,
                    opening: Opening::MeanVelocity,
                    contact_gap,
                    discrete_gradient: false,
                };
                (Box::new(MoreauJean::new(settings).unwrap()), rule)
            }
            Self::Sweeping => (
                Box::new(SweepingProcess::new(contact_gap)),
                Discretisation::StartOfStep { contact_gap },
            ),
        }
    }
}

fn run(system: GeneralizedSystem, scheme: Scheme) -> Motion {
    let (scheme, discretisation) = scheme.parts();
    let mut simulation = Simulation::new(
        Box::new(system),
        scheme,
        Box::new(GaussSeidel::default()),
        (&[0.0, 0.05], &[2.0, 0.0]),
        SimulationSettings::fixed(1e-3),
    )
    .unwrap();
    let mut motion = Motion::of_run(discretisation);
    motion.push(simulation.record());
    simulation.run_until(0.6, |record| {
        motion.push(record);
        std::ops::ControlFlow::Continue(())
    });
    motion
}

fn judge(system: &GeneralizedSystem, motion: &Motion, formulation: Formulation) -> Verification {
    let settings = VerifySettings {
        initial: Some((vec![0.0, 0.05], vec![2.0, 0.0])),
        ..VerifySettings::default()
    };
    verify(system, motion, formulation, &settings)
}

const NEWTON: ImpactLaw = ImpactLaw::Newton { restitution: 0.4 };

#[test]
fn runs_are_accepted_under_their_own_formulation() {
    let generalized = FlowRule::Generalized(GeneralizedRule::default());
    let fremond = ImpactLaw::Fremond { restitution: 0.4 };
    let (jean, late) = (Scheme::MoreauJean(0.51), Scheme::MoreauJean(0.7));
    let inelastic = &[
        Formulation::P3,
        Formulation::P4,
        Formulation::P5,
        Formulation::P6,
        Formulation::P3Prime,
    ][..];
    let real = &[Formulation::P5, Formulation::P6][..];
    let primed = &[Formulation::P3Prime, Formulation::P4Prime][..];
    let mean = &[Formulation::Fremond][..];
    for (impact, rule, scheme, formulations) in [
        (
            ImpactLaw::Inelastic,
            FlowRule::Coulomb,
            Scheme::Moreau,
            inelastic,
        ),
        (ImpactLaw::Inelastic, FlowRule::Coulomb, jean, inelastic),
        (
            ImpactLaw::Inelastic,
            FlowRule::Coulomb,
            Scheme::Sweeping,
            inelastic,
        ),
        (NEWTON, FlowRule::Coulomb, Scheme::Moreau, real),
        (NEWTON, FlowRule::Coulomb, jean, real),
        (NEWTON, FlowRule::Coulomb, late, real),
        (NEWTON, FlowRule::Coulomb, Scheme::Sweeping, real),
        (NEWTON, generalized, Scheme::Moreau, primed),
        (fremond, FlowRule::Coulomb, Scheme::Moreau, mean),
        (fremond, FlowRule::Coulomb, jean, mean),
        (fremond, FlowRule::Coulomb, late, mean),
    ] {
        let motion = run(particle(impact, rule), scheme);
        let system = particle(impact, rule);
        for &formulation in formulations {
            let report = judge(&system, &motion, formulation);
            assert!(
                report.accepted(),
                "{formulation:?} {scheme:?}: {:?}",
                report.violations
            );
        }
    }
}

/// A way to spoil a motion, and the line that must notice.
type Corruption = (&'static str, Line, fn(&mut Motion));

/// First node that carries an impulse, and a later one that slides.
fn hit(motion: &Motion) -> usize {
    motion
        .nodes
        .iter()
        .position(|n| n.atom.first().is_some_and(|p| *p > 0.0))
        .unwrap()
}

fn sliding(motion: &Motion) -> usize {
    (hit(motion) + 30..motion.nodes.len())
        .find(|&k| motion.nodes[k].atom[0] > 0.0 && motion.nodes[k].v_right[0] > 0.1)
        .unwrap()
}

const CORRUPTIONS: [Corruption; 22] = [
    ("starts elsewhere", Line::InitialCondition, |m| {
        m.nodes[0].q[0] += 1e-3
    }),
    ("starts faster", Line::InitialCondition, |m| {
        m.nodes[0].v_left[0] += 1e-3
    }),
    ("times go back", Line::WellFormed, |m| m.nodes[5].t = 0.0),
    ("a number is not finite", Line::WellFormed, |m| {
        m.nodes[9].q[1] = f64::NAN
    }),
    ("a velocity is missing", Line::WellFormed, |m| {
        m.nodes[9].v_right.pop();
    }),
    ("teleports", Line::Kinematics, |m| {
        m.nodes[50..].iter_mut().for_each(|n| n.q[0] += 0.3);
    }),
    ("moves half as far", Line::Kinematics, |m| {
        m.nodes.iter_mut().for_each(|n| n.q[0] *= 0.5);
    }),
    ("falls faster", Line::EquationOfMotion, |m| {
        m.nodes[20..].iter_mut().for_each(|n| {
            n.v_left[1] -= 1e-3;
            n.v_right[1] -= 1e-3;
        });
    }),
    ("a push from nowhere", Line::EquationOfMotion, |m| {
        let k = sliding(m);
        m.nodes[k..].iter_mut().for_each(|n| {
            n.v_left[0] += 0.01;
            n.v_right[0] += 0.01;
        });
    }),
    ("a jump without impulse", Line::ImpactEquation, |m| {
        let k = hit(m);
        m.nodes[k].atom.fill(0.0);
    }),
    ("an impulse without a jump", Line::ImpactEquation, |m| {
        m.nodes[3].atom = vec![0.0, 0.1]
    }),
    ("twice the impulse", Line::ImpactEquation, |m| {
        let k = hit(m);
        m.nodes[k].atom.iter_mut().for_each(|p| *p *= 2.0);
    }),
    ("sinks into the ground", Line::NonPenetration, |m| {
        m.nodes.iter_mut().for_each(|n| n.q[1] -= 0.5);
    }),
    ("pushed in the air", Line::Complementarity, |m| {
        let n = &mut m.nodes[3];
        n.atom = vec![0.4, 0.0];
        n.v_right[1] = n.v_left[1] + 0.2;
    }),
    ("pulled by the ground", Line::NormalSign, |m| {
        let k = sliding(m);
        let n = &mut m.nodes[k];
        n.atom[0] = -n.atom[0];
        n.v_right[1] = n.v_left[1] + n.atom[0] / 2.0;
    }),
    ("leaves into the ground", Line::Admissible, |m| {
        let k = sliding(m);
        let n = &mut m.nodes[k];
        n.atom[0] *= 0.2;
        n.v_right[1] = n.v_left[1] + n.atom[0] / 2.0;
    }),
    ("too much friction", Line::FrictionCone, |m| {
        let k = sliding(m);
        let n = &mut m.nodes[k];
        n.atom[1] *= 1.5;
        n.v_right[0] = n.v_left[0] + n.atom[1] / 2.0;
    }),
    ("friction that drives", Line::FrictionLaw, |m| {
        let k = sliding(m);
        let n = &mut m.nodes[k];
        n.atom[1] = -n.atom[1];
        n.v_right[0] = n.v_left[0] + n.atom[1] / 2.0;
    }),
    ("too little friction", Line::FrictionLaw, |m| {
        let k = sliding(m);
        let n = &mut m.nodes[k];
        n.atom[1] *= 0.5;
        n.v_right[0] = n.v_left[0] + n.atom[1] / 2.0;
    }),
    ("no friction at all", Line::FrictionLaw, |m| {
        let k = sliding(m);
        let n = &mut m.nodes[k];
        n.atom[1] = 0.0;
        n.v_right[0] = n.v_left[0];
    }),
    ("bounces too high", Line::ImpactLaw, |m| {
        let k = hit(m);
        let n = &mut m.nodes[k];
        n.atom[0] += 0.2;
        n.v_right[1] += 0.1;
    }),
    ("does not bounce", Line::ImpactLaw, |m| {
        let k = hit(m);
        let n = &mut m.nodes[k];
        n.atom[0] -= 2.0 * n.v_right[1];
        n.v_right[1] = 0.0;
    }),
];

#[test]
fn corrupted_motions_are_refused_for_the_right_reason() {
    let generalized = FlowRule::Generalized(GeneralizedRule::default());
    let fremond = ImpactLaw::Fremond { restitution: 0.4 };
    let jean = Scheme::MoreauJean(0.51);
    for (impact, rule, scheme, formulation) in [
        (NEWTON, FlowRule::Coulomb, Scheme::Moreau, Formulation::P5),
        (NEWTON, FlowRule::Coulomb, jean, Formulation::P5),
        (NEWTON, FlowRule::Coulomb, Scheme::Sweeping, Formulation::P5),
        (fremond, FlowRule::Coulomb, jean, Formulation::Fremond),
        (NEWTON, generalized, Scheme::Moreau, Formulation::P3Prime),
    ] {
        let system = particle(impact, rule);
        let sound = run(particle(impact, rule), scheme);
        for (name, line, spoil) in CORRUPTIONS {
            let mut motion = sound.clone();
            spoil(&mut motion);
            let report = judge(&system, &motion, formulation);
            assert!(
                !report.accepted(),
                "{name} was accepted under {formulation:?} ({scheme:?})"
            );
            assert!(
                report.violations.iter().any(|v| v.line == line),
                "{name} under {formulation:?} ({scheme:?}): {:?}",
                report.violations
            );
        }
    }
}

/// A run judged as if it were another scheme's, or as an exact motion, is refused: where a law is read matters.
#[test]
fn a_run_is_judged_where_its_own_scheme_reads_its_laws() {
    let system = particle(NEWTON, FlowRule::Coulomb);
    let sound = run(
        particle(NEWTON, FlowRule::Coulomb),
        Scheme::MoreauJean(0.51),
    );
    let others = [
        Some(Scheme::Moreau.parts().1),
        Some(Scheme::Sweeping.parts().1),
        Some(Scheme::MoreauJean(0.7).parts().1),
        None,
    ];
    for discretisation in others {
        let mut motion = sound.clone();
        motion.discretisation = discretisation;
        let report = judge(&system, &motion, Formulation::P5);
        assert!(!report.accepted(), "{discretisation:?}");
    }
}

/// One constraint and particles are conditions of a formulation, not lines that a motion violates.
#[test]
fn a_formulation_about_other_systems_does_not_apply() {
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[2.0, 3.0])
        .build(&[0.0, 0.05])
        .unwrap();
    let node = |t: f64| MotionNode {
        t,
        q: vec![2.0 * t, 0.05],
        v_left: vec![2.0, 0.0],
        v_right: vec![2.0, 0.0],
        ..MotionNode::default()
    };
    let motion = Motion {
        nodes: vec![node(0.0), node(0.1)],
        ..Motion::default()
    };
    assert!(judge(&system, &motion, Formulation::P2).accepted());
    let report = judge(&system, &motion, Formulation::P3);
    assert!(!report.accepted() && report.violations.is_empty());
    let reason = report.does_not_apply.expect("a reason");
    assert!(reason.contains("multiple of the identity"), "{reason}");
}

/// A file may say that it is a run, and of which kind; numbers that no scheme has are not well formed.
#[test]
fn a_motion_file_tells_its_discretisation() {
    let text = |theta: f64| {
        let node = |t: f64, v: f64| {
            let y = 0.05 - 4.905 * t * t;
            let v = format!("[0.0, {v}]");
            format!(r#"{{"t": {t}, "q": [0.0, {y}], "v_left": {v}, "v_right": {v}}}"#)
        };
        let rule =
            format!(r#"{{"theta": {theta}, "opening": "mean-velocity", "contact_gap": 1e-12}}"#);
        let nodes = format!("{}, {}", node(0.0, 0.0), node(0.01, -0.0981));
        format!(r#"{{"nodes": [{nodes}], "discretisation": {{"theta": {rule}}}}}"#)
    };
    let system = particle(NEWTON, FlowRule::Coulomb);
    let settings = VerifySettings::default();
    // Free fall is that of the rule with θ = ½, which is exact there, and of no other.
    for (theta, expected) in [
        (0.5, &[][..]),
        (1.0, &[Line::Kinematics]),
        (0.2, &[Line::WellFormed]),
    ] {
        let motion = Motion::from_json(&text(theta)).unwrap();
        let rule = motion.discretisation.expect("a rule");
        assert!(matches!(rule, Discretisation::Theta { theta: x, .. } if x == theta));
        let report = verify(&system, &motion, Formulation::P5, &settings);
        let lines: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
        assert_eq!(lines, expected, "{report:?}");
    }
}

/// A body that falls through the floor is refused at whatever depth the motion ends.
#[test]
fn a_fall_through_the_floor_is_refused() {
    for steps in [11, 20, 40] {
        let node = |k: usize| {
            let t = 0.01 * k as f64;
            let (y, v) = (0.05 - 4.905 * t * t, -9.81 * t);
            format!(r#"{{"t": {t}, "q": [0.0, {y}], "v_left": [0.0, {v}], "v_right": [0.0, {v}]}}"#)
        };
        let nodes: Vec<String> = (0..=steps).map(node).collect();
        let rule = r#"{"theta": {"theta": 0.5, "opening": "mean-velocity", "contact_gap": 1e-12}}"#;
        let text = format!(
            r#"{{"nodes": [{}], "discretisation": {rule}}}"#,
            nodes.join(", ")
        );
        let motion = Motion::from_json(&text).unwrap();
        let system = particle(NEWTON, FlowRule::Coulomb);
        let report = verify(
            &system,
            &motion,
            Formulation::P5,
            &VerifySettings::default(),
        );
        assert!(!report.accepted(), "{steps} steps");
    }
}

/// The variational form of a particle's law notices friction that is too weak, too strong or reversed.
#[test]
fn variational_form_of_the_particle_notices_wrong_friction() {
    let system = particle(ImpactLaw::Inelastic, FlowRule::Coulomb);
    let sound = run(
        particle(ImpactLaw::Inelastic, FlowRule::Coulomb),
        Scheme::MoreauJean(0.51),
    );
    assert!(judge(&system, &sound, Formulation::P3).accepted());
    for factor in [0.5, 0.0, -1.0] {
        let mut motion = sound.clone();
        let k = sliding(&motion);
        let n = &mut motion.nodes[k];
        n.atom[1] *= factor;
        n.v_right[0] = n.v_left[0] + n.atom[1] / 2.0;
        let report = judge(&system, &motion, Formulation::P3);
        let noticed = report
            .violations
            .iter()
            .find(|v| v.line == Line::Variational);
        assert!(
            noticed.is_some_and(|v| v.t == sound.nodes[k].t),
            "{factor}: {report:?}"
        );
    }
}

/// The bar of [CharlesBallard2016], 6.2, that grazes until t₀ and then jams: P5 and P6, not P'3.
#[test]
fn bar_that_grazes_and_then_jams_solves_p5_and_not_p3_prime() {
    let theta0 = -std::f64::consts::FRAC_PI_3;
    let (m, inertia, l, mu, v) = (2.0, 0.6, 0.9, 0.8, 2.0);
    let tip = move |q: &[Jet]| [q[0] + q[1].cos() * l, q[1].sin() * l];
    let law = ContactLaw::new(FrictionSection::segment(mu).unwrap(), ImpactLaw::Inelastic).unwrap();
    let gap = AutoScalar(move |_: Jet, q: &[Jet]| q[1] - theta0);
    let bar = GeneralizedSystem::builder(["x", "theta"])
        .mass_diagonal(&[m, inertia])
        .constraint(
            UnilateralConstraint::new("axis", gap)
                .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law),
        )
        .build(&[0.0, theta0])
        .unwrap();
    let node = |t: f64, x: f64, left: f64, right: f64, atom: Vec<f64>| MotionNode {
        t,
        q: vec![x, theta0],
        v_left: vec![left, 0.0],
        v_right: vec![right, 0.0],
        smooth: Vec::new(),
        atom,
        ..MotionNode::default()
    };
    // The real impulse that stops the bar without turning it: l cos P_y = l sin P_x.
    let p_x = -m * v;
    let p_y = p_x * theta0.sin() / theta0.cos();
    for t0 in [0.3, 0.8] {
        let motion = Motion {
            nodes: vec![
                node(0.0, 0.0, v, v, vec![]),
                node(t0, v * t0, v, 0.0, vec![p_y, p_x]),
                node(1.0, v * t0, 0.0, 0.0, vec![]),
            ],
            ..Motion::default()
        };
        for formulation in [Formulation::P5, Formulation::P6] {
            let report = verify(&bar, &motion, formulation, &VerifySettings::default());
            assert!(
                report.accepted(),
                "{formulation:?}: {:?}",
                report.violations
            );
        }
        let report = verify(
            &bar,
            &motion,
            Formulation::P3Prime,
            &VerifySettings::default(),
        );
        let lines: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
        assert!(
            lines.contains(&Line::FrictionCone),
            "{:?}",
            report.violations
        );
        assert!(report.violations.iter().all(|v| v.t == t0));
    }
}

/// The pinned bar wedged until t₀ and then released: P6, not P'3.
#[test]
fn bar_wedged_until_released_solves_p6_and_not_p3_prime() {
    let (inertia, l, mu, force) = (0.5, 1.0, 0.6, 2.0);
    let (sin, cos) = 20f64.to_radians().sin_cos();
    let rows = [l * sin, l * cos];
    let frame = ContactFrame::Material {
        count: 1,
        rows: Box::new(GivenRows(move |_: &[f64], out: &mut [f64]| {
            out.copy_from_slice(&rows)
        })),
    };
    let law = ContactLaw::new(FrictionSection::segment(mu).unwrap(), ImpactLaw::Inelastic).unwrap();
    let gap = AutoScalar(|_: Jet, q: &[Jet]| q[0]);
    let bar = GeneralizedSystem::builder(["theta"])
        .mass_diagonal(&[inertia])
        .dead_load(&[force])
        .constraint(UnilateralConstraint::new("obstacle", gap).with_point(frame, law))
        .build(&[0.0])
        .unwrap();
    let t0 = 0.4;
    let normal = force / (mu * rows[1] - rows[0]) * t0;
    let node = |t: f64, q: f64, v: f64, smooth: Vec<f64>| MotionNode {
        t,
        q: vec![q],
        v_left: vec![v],
        v_right: vec![v],
        smooth,
        atom: Vec::new(),
        ..MotionNode::default()
    };
    let a = force / inertia;
    let motion = Motion {
        nodes: vec![
            node(0.0, 0.0, 0.0, vec![]),
            node(t0, 0.0, 0.0, vec![normal, -mu * normal]),
            node(t0 + 0.5, 0.125 * a, 0.5 * a, vec![]),
        ],
        ..Motion::default()
    };
    let settings = VerifySettings::default();
    let real = verify(&bar, &motion, Formulation::P6, &settings);
    assert!(real.accepted(), "{:?}", real.violations);
    let generalized = verify(&bar, &motion, Formulation::P3Prime, &settings);
    let lines: Vec<Line> = generalized.violations.iter().map(|v| v.line).collect();
    assert_eq!(lines, [Line::NormalSign], "{:?}", generalized.violations);
}
