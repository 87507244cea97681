//! Theorem 1 of [Paoli2015] in the plane and in space; motions and their impulses, not lists of impulses.

use std::ops::ControlFlow;

use stickslip::internals::check_impact;
use stickslip::laws::{FlowRule, GeneralizedRule, StandardImpact};
use stickslip::scene::{Changes, Scene, SourceText, find_in_gallery};
use stickslip::simulation::studies::attainable::{Attainable, Hypothesis, Sampled, Shape};
use stickslip::simulation::studies::branches::BranchStudy;
use stickslip::simulation::studies::one_step_problem;
use stickslip::simulation::{RunEnd, RunSummary};
use stickslip::solvers::enumeration::{EnumerationSettings, FoundSolution, Verdict};
use stickslip::stepping::MoreauContactDynamics;

/// Painlevé's rod, in the plane or with its tip on a floor in space.
fn rod(friction: &str, theta: &str, v0: [f64; 2], spatial: bool) -> Scene {
    let (coordinates, kinetic, point, side) = if spatial {
        (
            "\"x\", \"y\", \"theta\", \"z\"",
            "(x'^2 + y'^2 + z'^2)/2 + theta'^2/6",
            "\"x - cos(theta)\", \"z\", \"y - sin(theta)\"",
            format!("z_dot = {}", v0[1]),
        )
    } else {
        (
            "\"x\", \"y\", \"theta\"",
            "(x'^2 + y'^2)/2 + theta'^2/6",
            "\"x - cos(theta)\", \"y - sin(theta)\"",
            String::new(),
        )
    };
    let text = format!(
        "title = \"rod\"\nlaw = \"argmin\"\nscheme = \"moreau\"\nimpact = \"inelastic\"\nstep = 0.001\nuntil = 1\n\
         [parameters]\ntheta0 = \"{theta}\"\n\
         [system]\ncoordinates = [{coordinates}]\nkinetic_energy = \"{kinetic}\"\npotential = \"9.81*y\"\n\
         [[contacts]]\nname = \"tip\"\ngap = \"y - sin(theta)\"\npoint = [{point}]\nfriction = {friction}\n\
         [initial]\nx = \"cos(theta0)\"\ny = \"sin(theta0)\"\ntheta = \"theta0\"\nx_dot = {}\n{side}\n",
        v0[0]
    );
    Scene::parse(SourceText::new("rod.toml", text)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn at_the_minimum_of_gamma_the_attainable_set_tends_to_a_segment() {
    // gamma(theta) has its minimum 0 here: positive all around, to second order only
    for (friction, spatial) in [
        ("\"4/3\"", false),
        ("\"4/3\"", true),
        ("{ ellipse = [\"4/3\", 0.5] }", true),
        (
            "{ polygon = [[\"4/3\", 0], [0, 0.5], [\"-4/3\", 0], [0, -0.5]] }",
            true,
        ),
    ] {
        let scene = rod(friction, "atan(2)", [-5.0, 0.0], spatial);
        let system = scene.system().unwrap();
        let (q, v) = scene.initial_state();
        let found = Attainable::at(system.as_ref(), &q, &v).unwrap();
        assert_eq!(found.sign, 0, "{friction}: {}", found.gamma);
        assert_eq!(found.positive_neighbours, Some(true), "{friction}");
        assert_eq!(
            (found.shape, found.limit),
            (Shape::Segment, Some(Shape::Segment))
        );
        assert_eq!(found.converges, Some(true));
        for (jam, expected) in found.jam.iter().zip([-3.0, 1.5, 1.5 * 5f64.sqrt(), 0.0]) {
            assert!((jam - expected).abs() < 1e-9, "{friction}: {:?}", found.jam);
        }
        let expected = match (spatial, friction.contains("polygon")) {
            (false, _) => Hypothesis::OneDimension,
            (true, false) => Hypothesis::StrictlyConvex,
            (true, true) => Hypothesis::UniqueJam,
        };
        assert_eq!(found.hypothesis, expected, "{friction}");
    }
}

#[test]
fn in_space_a_jam_below_gamma_zero_is_a_pair_and_samples_stay_near_it() {
    let scene = rod("1.7", "60*pi/180", [-2.0, 0.4], true);
    let system = scene.system().unwrap();
    let (q, v) = scene.initial_state();
    let found = Attainable::at(system.as_ref(), &q, &v).unwrap();
    assert_eq!(found.sign, -1);
    assert_eq!((found.shape, found.limit), (Shape::Pair, Some(Shape::Pair)));
    assert_eq!(found.hypothesis, Hypothesis::StrictlyConvex);
    let mut last = f64::INFINITY;
    for epsilon in [1e-2, 1e-3] {
        let sampled = Sampled::around(system.as_ref(), (&q, &v), epsilon, 200, 1).unwrap();
        assert!(sampled.excess < 0.5 * last, "{epsilon}: {}", sampled.excess);
        last = sampled.excess;
    }
    assert!(last < 0.1, "{last}");
    // the planar jam is the one of a slip in the plane
    let planar = rod("1.7", "60*pi/180", [-2.0, 0.0], false);
    let plane = Attainable::at(
        planar.system().unwrap().as_ref(),
        &planar.initial_state().0,
        &planar.initial_state().1,
    )
    .unwrap();
    let space = rod("1.7", "60*pi/180", [-2.0, 0.0], true);
    let space = Attainable::at(
        space.system().unwrap().as_ref(),
        &space.initial_state().0,
        &space.initial_state().1,
    )
    .unwrap();
    for (a, b) in plane.jam.iter().zip(&space.jam) {
        assert!((a - b).abs() < 1e-6, "{:?} {:?}", plane.jam, space.jam);
    }
}

fn study(scene: &Scene, starts: usize) -> BranchStudy {
    let settings = EnumerationSettings {
        starts,
        ..EnumerationSettings::default()
    };
    let (q, v) = scene.initial_state();
    let system = scene.system().unwrap();
    let mut scheme = MoreauContactDynamics::new(1e-9);
    let h = scene.settings.step;
    BranchStudy::of_step(system.as_ref(), &mut scheme, (0.0, &q, &v), h, &settings).unwrap()
}

fn gallery(name: &str, changes: Changes) -> Scene {
    let source = find_in_gallery(name).unwrap().source();
    let source = changes.key("law", "coulomb").apply(&source).unwrap();
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn at_gamma_zero_the_grazing_end_is_listed() {
    let changes = |g: &str| {
        Changes::new()
            .parameter("mu", "4/3")
            .parameter("theta0", "atan(2)")
            .parameter("g", g)
    };
    // Without weight the continuum is a solution of the step itself.
    let found = study(&gallery("painleve-rod", changes("0")), 1);
    assert!(
        matches!(found.verdict, Verdict::Indeterminate { .. }),
        "{}",
        found.verdict
    );
    // With weight it appears as the step vanishes.
    for g in ["0", "9.81"] {
        let found = study(&gallery("painleve-rod", changes(g)), 1);
        let limit = found.degenerate.expect("gamma is zero");
        let grazing = limit.solutions.iter().any(|s| {
            let ends = s.continuum.iter().flat_map(|c| &c.ends);
            ends.into_iter()
                .any(|end| end.iter().all(|p| p.abs() < 1e-9))
        });
        assert!(grazing, "{:?}", limit.solutions);
    }
    let far = study(&gallery("painleve-rod", Changes::new()), 1);
    assert!(far.degenerate.is_none());
}

/// At the critical coefficient of a bar at the angle θ, tan θ = −1/a, γ vanishes but for its rounding, whose sign depends on a.
#[test]
fn the_sign_of_a_rounding_does_not_decide_whether_friction_can_jam() {
    for (mu, theta) in [
        ("1", "-pi/4"),
        ("4/3", "-atan(0.75)"),
        ("2", "-atan(0.5)"),
        ("1.333333333", "-atan(0.75)"),
    ] {
        let changes = Changes::new()
            .parameter("mu", mu)
            .parameter("theta0", theta)
            .parameter("ftheta", "0");
        let found = study(&gallery("painleve-bar", changes), 1);
        let limit = found.degenerate.expect("gamma is zero");
        let ends = |s: &FoundSolution| s.continuum.as_ref().map_or(vec![], |c| c.ends.clone());
        let slips: Vec<_> = limit.solutions.iter().flat_map(ends).collect();
        let [from, to] = &slips[..] else {
            panic!("mu = {mu}, theta = {theta}: {:?}", limit.solutions)
        };
        assert!(from.iter().all(|p| p.abs() < 1e-9), "{from:?}");
        // The other end sticks: the bar is stopped.
        assert!(
            (to[1] + 1.0).abs() < 1e-7,
            "mu = {mu}, theta = {theta}: {to:?}"
        );
        if mu != "1.333333333" {
            let motions = &found.enumeration.solutions;
            assert_eq!(motions.len(), 1, "mu = {mu}: {motions:?}");
            assert!(motions[0].moves_velocity());
        }
    }
}

/// A particle in a groove whose walls have normals 20° above the horizontal: friction can squeeze it where μ > tan 20°.
#[test]
fn internal_forces_in_space_have_no_end_where_friction_can_squeeze() {
    let groove = |mu: f64| {
        let wall = |name: &str, sign: &str| {
            format!(
                "[[contacts]]\nname = \"{name}\"\ngap = \"{sign}x*cos(b) + y*sin(b)\"\npoint = [\"x\", \"y\", \"z\"]\n\
                 friction = {mu}\n"
            )
        };
        let text = format!(
            "title = \"groove\"\nlaw = \"coulomb\"\nscheme = \"moreau\"\nimpact = \"inelastic\"\nstep = 0.001\nuntil = 0.05\n\
             [parameters]\nb = \"20*pi/180\"\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
             kinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\nforces = {{ y = -3 }}\n{}{}",
            wall("left", ""),
            wall("right", "-")
        );
        Scene::parse(SourceText::new("groove.toml", text)).unwrap_or_else(|e| panic!("{e}"))
    };
    let unbounded = |mu: f64| {
        let found = study(&groove(mu), 20);
        let solutions = found.enumeration.solutions;
        let held = solutions.iter().find(|s| s.impulse[0] > 0.0).expect("held");
        let continuum = held.continuum.clone();
        (
            continuum.map_or(vec![], |c| c.unbounded),
            held.range.clone(),
        )
    };
    // tan 20° = 0.364.
    let (directions, range) = unbounded(0.37);
    let [d] = &directions[..] else {
        panic!("{directions:?}")
    };
    assert!(range.largest[0].is_infinite() && range.largest[3].is_infinite());
    for normal in [0, 3] {
        let friction = d[normal + 1].hypot(d[normal + 2]);
        assert!(
            d[normal] > 0.0 && friction <= 0.37 * d[normal] + 1e-9,
            "{d:?}"
        );
    }
    let (directions, range) = unbounded(0.36);
    assert!(directions.is_empty() && range.largest[0].is_finite());
}

#[test]
fn a_family_of_impulses_without_end_has_none() {
    let found = study(&gallery("v-groove-bar", Changes::new()), 1);
    assert_eq!(found.verdict, Verdict::Indeterminate { solutions: 2 });
    let wedged = &found.enumeration.solutions[1];
    let continuum = wedged.continuum.as_ref().expect("wedged");
    assert_eq!(
        (continuum.ends.len(), continuum.unbounded.len()),
        (1, 1),
        "{continuum:?}"
    );
    assert!(!continuum.moves_velocity);
}

#[test]
fn a_box_on_four_corners_has_one_motion() {
    let corners: String = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        .iter()
        .map(|(x, y)| {
            format!("[[contacts]]\nname = \"c{x}{y}\"\narm = [{x}, {y}, -0.5]\nfriction = 0.4\n")
        })
        .collect();
    let text = format!(
        "title = \"box\"\nstep = 0.01\nuntil = 1\n[body]\nmass = 1\nmoments = [1, 1, 1]\ngravity = [0, 0, -9.81]\n\
         position = [0, 0, 0.5]\n{corners}"
    );
    let scene = Scene::parse(SourceText::new("box.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let found = study(&scene, 20);
    assert_eq!(found.verdict, Verdict::Regular, "{}", found.verdict);
    assert_eq!(found.enumeration.solutions.len(), 1);
    assert_eq!(found.normal_rank, (3, 4));
    let only = &found.enumeration.solutions[0];
    assert!(only.continuum.as_ref().is_some_and(|c| !c.moves_velocity));
    assert!(!found.impulsive[0]);
    // the impulses that were met differ though the motion is one
    let spread = only.range.largest[0] - only.range.least[0];
    assert!(spread > 1e-3, "{:?}", only.range);
}

#[test]
fn a_sliding_plate_has_a_continuum_of_motions_not_a_thousand() {
    let found = study(&gallery("coulomb-plate", Changes::new()), 10);
    let motions = &found.enumeration.solutions;
    assert!(motions.len() <= 3, "{} motions", motions.len());
    let moving = |s: &&FoundSolution| s.continuum.as_ref().is_some_and(|c| c.moves_velocity);
    assert!(motions.iter().any(|s| moving(&s)), "{:?}", found.verdict);
    assert!(found.impulsive.iter().all(|x| !x));
    assert_eq!(found.verdict.word(), "indeterminate");
}

#[test]
fn a_floor_declared_twice_is_no_violation_of_the_impact_map() {
    let floor = "[[contacts]]\nname = \"NAME\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3\nrestitution = 0.5\n";
    let text = format!(
        "title = \"twice\"\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n{}{}\
         [initial]\ny_dot = -1\n",
        floor.replace("NAME", "one"),
        floor.replace("NAME", "two")
    );
    let scene = Scene::parse(SourceText::new("twice.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let (q, v) = scene.initial_state();
    let mut scheme = MoreauContactDynamics::new(1e-9);
    let system = scene.system().unwrap();
    let mut problem = one_step_problem(system.as_ref(), &mut scheme, (0.0, &q, &v), 0.0);
    for block in problem.blocks_mut() {
        block.flow_rule = FlowRule::Generalized(GeneralizedRule::default());
    }
    let rule = StandardImpact::Newton(vec![0.5, 0.5]);
    let report = check_impact(&problem, &rule, 200, 1);
    for condition in [
        &report.in_normal_span,
        &report.opens,
        &report.in_domain,
        &report.frictional,
        &report.dissipative,
    ] {
        assert!(condition.holds(1e-7), "{report:?}");
    }
    assert!(report.unilateral.holds(1e-7) && report.tangential_power.holds(1e-7));
}

#[test]
fn a_grazing_or_opening_contact_is_judged_by_moreaus_own_law() {
    use stickslip::contact::{
        BlockKind, ContactBlock, ContactKey, ContactProblem, ContactResidual,
    };
    use stickslip::laws::FrictionSection;
    let judged = |normal: f64, impulse: [f64; 3], rule: FlowRule| {
        let block = ContactBlock {
            key: ContactKey::declared(0, 0),
            start: 0,
            size: 3,
            section: FrictionSection::disc(0.5).unwrap(),
            flow_rule: rule,
            kind: BlockKind::Unilateral { minimum: 0.0 },
        };
        let w = vec![2.0, 0.3, 0.0, 0.3, 1.0, 0.1, 0.0, 0.1, 1.5];
        let free = vec![normal, 1.0, -0.4];
        let problem = ContactProblem::from_dense(w, free, vec![block]);
        ContactResidual::of(&problem, &impulse).worst()
    };
    // S(q, v) = v for a velocity that does not approach; one that does must be stopped
    for normal in [0.0, 1e-3, 0.5] {
        assert_eq!(judged(normal, [0.0; 3], FlowRule::KineticProjection), 0.0);
    }
    assert!(judged(-0.1, [0.0; 3], FlowRule::KineticProjection) > 0.01);
    // an impulse where nothing approaches is no answer of S
    assert!(judged(0.1, [0.05, 0.0, 0.0], FlowRule::KineticProjection) > 0.01);
}

fn world_rod_text(scheme: &str, spin: f64) -> String {
    format!(
        "title = \"rod\"\nscheme = \"{scheme}\"\nstep = 1e-4\nuntil = 0.01\n[parameters]\nth = \"60*pi/180\"\n[world]\ndimension = 2\n\
                 gravity = [0, -9.81]\n[[materials]]\nname = \"m\"\ndensity = 1\nfriction = 2\n\
                 [[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_plane = [0, 1] }}\n\
                 [[bodies]]\nname = \"rod\"\nshape = {{ capsule = {{ radius = 1e-3, length = 2 }} }}\nmass = 1\ninertia = \"1/3\"\n\
                 position = [0, \"sin(th) + 1e-3\"]\nrotation = \"th\"\nvelocity = [\"-5 - sin(th)*({spin})\", \"cos(th)*({spin})\"]\nspin = {spin}\n"
    )
}

fn world_rod(scheme: &str, spin: f64) -> Scene {
    let text = SourceText::new("rod.toml", world_rod_text(scheme, spin));
    Scene::parse(text).unwrap_or_else(|e| panic!("{e}"))
}

fn summary_of(scene: &Scene) -> RunSummary {
    let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = simulation.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    let facts = scene.facts(simulation.system());
    let settings = scene.run_settings("test");
    RunSummary::new(&simulation, (settings, &facts), end, 0.0)
}

/// A rod on its tip that slides and spins in a world: b = -g + l sin(theta) omega² decides between no motion without an impact and
/// three of them, whatever the scheme of the scene.
#[test]
fn a_spin_that_lifts_the_tip_of_a_rod_is_seen_in_worlds() {
    let threshold = (9.81 / 60f64.to_radians().sin()).sqrt();
    for scheme in ["moreau-jean", "moreau"] {
        for (spin, motions) in [
            (0.0, 1),
            (0.97 * threshold, 1),
            (1.03 * threshold, 3),
            (-5.0, 3),
        ] {
            let scene = world_rod(scheme, spin);
            let settings = EnumerationSettings::default();
            let study = scene
                .branches(1e-3, 1e-4, &settings)
                .expect("a scene")
                .expect("few contacts");
            assert_eq!(study.velocities.len(), motions, "{scheme}, spin {spin}");
            let inconsistent = matches!(study.verdict, Verdict::InconsistentWithoutImpact);
            assert_eq!(inconsistent, motions == 1, "{scheme}, spin {spin}");
        }
    }
}

/// The same in runs: with normals at the start of a step the rod jams, with those at its end it lifts off, and both tell that there is another motion,
/// where the spin lifts and nowhere else.
#[test]
fn runs_of_worlds_tell_of_a_rod_that_its_spin_may_lift_off() {
    let threshold = (9.81 / 60f64.to_radians().sin()).sqrt();
    for (spin, several) in [
        (0.0, false),
        (0.97 * threshold, false),
        (1.03 * threshold, true),
        (-5.0, true),
    ] {
        let jams = world_rod("moreau-jean", spin);
        let summary = summary_of(&jams);
        assert!(summary.certified, "{spin}: {}", summary.reason);
        assert_eq!(summary.certificate.several_solutions > 0, several, "{spin}");
        let told = summary
            .warnings
            .iter()
            .any(|w| w.contains("what a spin lifts off"));
        assert_eq!(told, several, "{spin}: {:?}", summary.warnings);
        if several {
            let lifts = summary_of(&world_rod("moreau", spin));
            assert!(lifts.certificate.several_solutions > 0, "{spin}");
        }
    }
    // A run that is to stop at several solutions does.
    let text =
        world_rod_text("moreau-jean", -5.0).replacen("step =", "on_several = \"stop\"\nstep =", 1);
    let scene = Scene::parse(SourceText::new("rod.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = scene.simulation().expect("valid");
    let end = sim.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    assert!(matches!(end, RunEnd::Stopped { .. }), "{end:?}");
}
