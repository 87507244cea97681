//! Whether contact problems have one motion: the tests that suffice against enumeration, and what runs tell.

use std::ops::ControlFlow;

use crate::common::random::Random;
use stickslip::contact::{
    BlockKind, Certificate, ContactBlock, ContactKey, ContactProblem, ContactResidual,
    ContactSolution, ContactSolver,
};
use stickslip::internals::uniqueness::{Uniqueness, examine};
use stickslip::laws::{FlowRule, FrictionSection};
use stickslip::scene::{Changes, Scene, SourceText, find_in_gallery};
use stickslip::simulation::studies::branches::{ChoiceRule, EnumeratingSolver};
use stickslip::solvers::enumeration::{EnumerationSettings, Verdict, enumerate};

fn problem(w: &[f64], q: Vec<f64>, mu: &[f64], size: usize) -> ContactProblem {
    let block = |(k, &mu): (usize, &f64)| ContactBlock {
        key: ContactKey::declared(k, 0),
        start: size * k,
        size,
        section: FrictionSection::ball(mu, size - 1).unwrap(),
        flow_rule: FlowRule::Coulomb,
        kind: BlockKind::Unilateral { minimum: 0.0 },
    };
    let blocks = mu.iter().enumerate().map(block).collect();
    ContactProblem::from_dense(w.to_vec(), q, blocks)
}

fn solutions(problem: &ContactProblem) -> usize {
    let found = enumerate(problem, &EnumerationSettings::default()).unwrap();
    match found.verdict() {
        Verdict::Indeterminate { solutions } => solutions.max(2),
        _ => found.solutions.len(),
    }
}

/// Couplings for which one q is proved to have one motion have one for every q; where the proof fails, some q has several
/// or none.
#[test]
fn determinants_decide_about_uniqueness_for_every_load() {
    let mut random = Random(7);
    let (mut proved, mut refuted, mut draws) = (0, 0, 0);
    while proved < 25 || refuted < 25 {
        draws += 1;
        let k = 2 + draws % 2;
        let w = random.gram(2 * k, 2 * k, 0.02);
        let mu: Vec<f64> = (0..k).map(|_| random.uniform(0.1, 1.5)).collect();
        // Without load nothing has to be enumerated: what is not proved is enumerated and has the motion w = 0 at least.
        let loads: Vec<Vec<f64>> = (0..120).map(|_| random.vector(2 * k)).collect();
        let counts: Vec<usize> = loads
            .iter()
            .map(|q| solutions(&problem(&w, q.clone(), &mu, 2)))
            .collect();
        let regular = counts.iter().all(|&n| n == 1);
        let verdicts: Vec<Uniqueness> = loads
            .iter()
            .map(|q| examine(&problem(&w, q.clone(), &mu, 2)).motion)
            .collect();
        for (n, verdict) in counts.iter().zip(&verdicts) {
            match verdict {
                Uniqueness::Unique => assert_eq!(*n, 1, "draw {draws}"),
                Uniqueness::Several { .. } => assert!(*n > 1, "draw {draws}"),
                Uniqueness::NotExamined => assert_eq!(*n, 0, "draw {draws}"),
            }
        }
        if regular {
            proved += 1;
        } else {
            refuted += 1;
        }
    }
}

/// The bound in space is a proof: no start of a search finds a second solution.
#[test]
fn weak_friction_in_space_has_one_motion() {
    let mut random = Random(11);
    for _ in 0..20 {
        let mut w = random.gram(6, 6, 0.0);
        for i in 0..6 {
            for j in 0..6 {
                w[i * 6 + j] = 0.05 * w[i * 6 + j] + f64::from(i == j);
            }
        }
        let mu = [random.uniform(0.05, 0.3), random.uniform(0.05, 0.3)];
        let problem = problem(&w, random.vector(6), &mu, 3);
        assert_eq!(examine(&problem).motion, Uniqueness::Unique);
        assert_eq!(solutions(&problem), 1);
    }
}

/// One contact in space whose tangential impulses act little on its normal velocity has one motion, however rough it is: by bisection of
/// w_N over the normal impulse, with the tangential impulse of each from the convex problem that is left, w_N only grows.
#[test]
fn a_contact_in_space_with_little_coupling_has_one_motion() {
    let mut random = Random(23);
    let (mut proved, mut open) = (0, 0);
    for draw in 0..400 {
        let w = random.gram(3, 3, 0.05);
        let (mu, q) = (random.uniform(0.2, 3.0), random.vector(3));
        let problem = problem(&w, q.clone(), &[mu], 3);
        let found = examine(&problem);
        if found.enumerated {
            open += 1;
            continue;
        }
        assert_eq!(found.motion, Uniqueness::Unique);
        proved += 1;
        // Projected gradient descent for p_T in the disc of radius mu p_N.
        let trace = w[4] + w[8];
        let normal_velocity = |p_n: f64| {
            let mut p = [0.0; 2];
            for _ in 0..4000 {
                let u =
                    |i: usize| q[i] + w[3 * i] * p_n + w[3 * i + 1] * p[0] + w[3 * i + 2] * p[1];
                let mut next = [p[0] - u(1) / trace, p[1] - u(2) / trace];
                let size = next[0].hypot(next[1]);
                if size > mu * p_n {
                    next = next.map(|x| x * mu * p_n / size);
                }
                p = next;
            }
            q[0] + w[0] * p_n + w[1] * p[0] + w[2] * p[1]
        };
        let samples: Vec<f64> = (0..40)
            .map(|k| normal_velocity(0.1 * f64::from(k)))
            .collect();
        for pair in samples.windows(2) {
            assert!(pair[1] > pair[0] - 1e-9, "draw {draw}: {pair:?}");
        }
    }
    assert!(proved > 60 && open > 60, "{proved} and {open}");
    // Any friction without coupling.
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.3, 0.0, 0.3, 1.0];
    let rough = problem(&w, vec![-1.0, 2.0, 0.5], &[30.0], 3);
    let found = examine(&rough);
    assert_eq!(found.motion, Uniqueness::Unique);
    assert!(!found.enumerated);
}

/// Contacts that do not feel each other are examined one by one, however many they are.
#[test]
fn separate_contacts_are_separate_questions() {
    let k = 20;
    let m = 2 * k;
    let mut w = vec![0.0; m * m];
    // One contact far inside the Painlevé region, which may jam or take off.
    for b in 0..k {
        let coupling = if b == 13 { -0.9 } else { 0.1 };
        (w[2 * b * m + 2 * b], w[(2 * b + 1) * m + 2 * b + 1]) = (1.0, 1.0);
        w[2 * b * m + 2 * b + 1] = coupling;
        w[(2 * b + 1) * m + 2 * b] = coupling;
    }
    let mut q = vec![-1.0; m];
    (q[26], q[27]) = (0.01, -5.0);
    let found = examine(&problem(&w, q.clone(), &vec![2.0; k], 2));
    assert_eq!(found.motion, Uniqueness::Several { block: 13 });
    // All coupled they are too many to be examined.
    w.iter_mut().for_each(|x| *x += 1e-3);
    let found = examine(&problem(&w, q, &vec![2.0; k], 2));
    assert_eq!(found.motion, Uniqueness::NotExamined);
}

/// A rule chooses among the motions of components that are examined; the others have the ordinary solution.
#[test]
fn a_rule_chooses_where_motions_are_listed() {
    let (k, m) = (8, 16);
    let mut w = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            w[i * m + j] = f64::from(i == j) + if i < 14 && j < 14 { 1e-2 } else { 0.0 };
        }
    }
    // Seven contacts that act on each other, and one that may jam, stick or take off.
    (w[14 * m + 15], w[15 * m + 14]) = (-0.9, -0.9);
    let mut q = vec![-1.0; m];
    (q[14], q[15]) = (0.01, -5.0);
    let problem = problem(&w, q, &vec![2.0; k], 2);
    let taken = |rule| {
        let settings = EnumerationSettings::default();
        let (mut solver, control) = EnumeratingSolver::new(rule, settings);
        let mut solution = ContactSolution::default();
        solution.prepare(m);
        solver.solve(&problem, &mut solution);
        let mut residual = ContactResidual::default();
        residual.measure(&problem, &solution.impulse);
        assert!(residual.worst() < 1e-8, "{}", residual.worst());
        assert_eq!(control.last().0, 3);
        assert!(solution.impulse[..14].iter().step_by(2).all(|&p| p > 0.5));
        solution.impulse[14]
    };
    assert_eq!(taken(ChoiceRule::TakeOffFirst), 0.0);
    assert!(taken(ChoiceRule::LeastEnergy) > 1.0);
}

/// Six nodes of an elastic block on the floor are more contacts than are enumerated: a rule leaves them to the ordinary
/// solver, and the certificate tells in how many steps.
#[test]
fn a_rule_leaves_more_contacts_than_are_enumerated_to_the_ordinary_solver() {
    let text = |rule: &str| {
        format!(
            "title = \"block\"\nlaw = \"coulomb\"\nscheme = \"moreau-jean\"\nimpact = \"inelastic\"\n\
             step = 0.000125\nuntil = 0.0005\n{rule}[elastic]\ngravity = [0, 0, -9.81]\n[[elastic.meshes]]\n\
             shape = \"box\"\nsize = [0.3, 0.2, 0.15]\ncells = [2, 1, 1]\nvelocity = [\"-1.755\", \"0.2158\", \"-0.6287\"]\n\
             [[elastic.regions]]\nmodel = \"solid\"\nyoung = 90500\ndensity = 1230\npoisson = 0.01922\n\
             [[contacts]]\nname = \"floor\"\nsurface = \"bottom\"\nobstacle = {{ plane = [0, 0, 1] }}\nfriction = 1.047\n"
        )
    };
    let end = |rule: &str| {
        let scene = parse(&text(rule)).unwrap();
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        let certificate = run.certificate();
        assert!(certificate.uniqueness_not_examined > 0, "{certificate:?}");
        (run.state().v.clone(), certificate.uniqueness_not_examined)
    };
    let ordinary = end("");
    for rule in ["smallest-impulse", "least-energy"] {
        assert_eq!(end(&format!("several_rule = \"{rule}\"\n")), ordinary);
    }
}

fn run(scene: &Scene) -> Certificate {
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    run.certificate().clone()
}

fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(SourceText::new("scene", text)).map_err(|e| e.to_string())
}

#[test]
fn a_run_tells_of_several_motions_of_two_contacts() {
    let source = find_in_gallery("v-groove-bar").expect("a scene").source();
    let changes = Changes::new().key("law", "coulomb").key("until", 0.2);
    let scene = Scene::parse(changes.apply(&source).unwrap()).unwrap();
    let certificate = run(&scene);
    assert!(certificate.several_solutions > 0, "{certificate:?}");
    // And stops there when asked to.
    let stop = changes.key("on_several", "stop");
    let scene = Scene::parse(stop.apply(&source).unwrap()).unwrap();
    let mut run = scene.simulation().unwrap();
    let end = run.run_until(1.0, |_| ControlFlow::Continue(()));
    assert!(format!("{end:?}").contains("StoppedAtSeveral"), "{end:?}");
}

const FLOOR: &str =
    "[[contacts]]\nname = \"NAME\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.4\n";

/// A floor declared twice: two rows too many, one motion.
#[test]
fn a_floor_declared_twice_has_dependent_rows_and_one_motion() {
    let text = |law: &str| {
        format!(
            "title = \"twice\"\nstep = 0.01\nuntil = 1\nlaw = \"{law}\"\nimpact = \"inelastic\"\n[system]\n\
             coordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n{}{}\
             [initial]\nx_dot = 2\ny = 0.1\n",
            FLOOR.replace("NAME", "first"),
            FLOOR.replace("NAME", "second")
        )
    };
    for law in ["coulomb", "frictionless"] {
        let certificate = run(&parse(&text(law)).unwrap());
        let rank = certificate.rank_deficiency.expect(law);
        let rows = if law == "coulomb" { (2, 4) } else { (1, 2) };
        assert_eq!((rank.deficiency, rank.rows), rows, "{law}");
        assert_eq!(rank.motion_is_unique, Some(true), "{law}");
        assert_eq!(certificate.several_solutions, 0, "{law}");
        assert_eq!(certificate.uniqueness_not_examined, 0, "{law}");
    }
    // Once it is declared once, there is nothing to tell.
    let once = text("coulomb").replace(&FLOOR.replace("NAME", "second"), "");
    assert_eq!(run(&parse(&once).unwrap()).rank_deficiency, None);
}

/// A plate on four feet: twelve rows for six velocities, and too many contacts in space to be examined.
#[test]
fn a_plate_on_four_feet_is_told() {
    let mut text = "title = \"plate\"\nstep = 0.01\nuntil = 0.2\nimpact = \"inelastic\"\n[body]\nmass = 1\n\
        moments = [0.1, 0.1, 0.2]\ngravity = [0, 0, -9.81]\nposition = [0, 0, 0.1]\nvelocity = [0.5, 0, 0]\n"
        .to_string();
    for (k, (x, y)) in [(1, 1), (1, -1), (-1, 1), (-1, -1)].iter().enumerate() {
        text +=
            &format!("[[contacts]]\nname = \"foot {k}\"\narm = [{x}, {y}, -0.1]\nfriction = 0.3\n");
    }
    let certificate = run(&parse(&text).unwrap());
    let rank = certificate.rank_deficiency.expect("dependent rows");
    assert_eq!((rank.deficiency, rank.rows), (6, 12));
    assert_eq!(rank.motion_is_unique, None);
    assert!(certificate.uniqueness_not_examined > 10);
    // Frictionless feet press with forces that are not unique, and the motion is.
    let slippery = text.replace("title", "law = \"frictionless\"\ntitle");
    let certificate = run(&parse(&slippery).unwrap());
    let rank = certificate.rank_deficiency.expect("dependent rows");
    assert_eq!((rank.deficiency, rank.motion_is_unique), (1, Some(true)));
    assert_eq!(certificate.uniqueness_not_examined, 0);
}

/// A sliding rod that touches with its end and opens slowly: the step does not forecast contact, and friction could jam it.
#[test]
fn contacts_that_touch_and_open_are_examined_too() {
    let text = |mu: f64| {
        format!(
            "title = \"rod\"\nstep = 0.001\nuntil = 0.001\nimpact = \"inelastic\"\n[system]\n\
             coordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"(x'^2 + y'^2)/2 + a'^2/24\"\n\
             potential = \"9.81*y\"\n[[contacts]]\nname = \"tip\"\ngap = \"y - sin(a)/2\"\n\
             point = [\"x - cos(a)/2\", \"y - sin(a)/2\"]\nfriction = {mu}\n\
             [initial]\ny = \"sin(pi/3)/2\"\na = \"pi/3\"\nx_dot = -5\ny_dot = 0.05\n"
        )
    };
    assert_eq!(run(&parse(&text(0.3)).unwrap()).several_solutions, 0);
    assert!(run(&parse(&text(2.0)).unwrap()).several_solutions > 0);
}

/// Stopping at several solutions is refused where they cannot be listed.
#[test]
fn on_several_stop_needs_a_law_that_can_be_enumerated() {
    let text = |head: &str| {
        format!(
            "title = \"stop\"\non_several = \"stop\"\n{head}\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n{FLOOR}[initial]\nx_dot = 2\n"
        )
    };
    for head in [
        "law = \"generalized\"",
        "impact = \"poisson\"",
        "impact = \"energetic\"",
    ] {
        let message = parse(&text(head))
            .err()
            .unwrap_or_else(|| panic!("{head} was accepted"));
        assert!(message.contains("on_several"), "{head}: {message}");
    }
    assert!(parse(&text("law = \"coulomb\"")).is_ok());
    // In the plane Moreau's S is Coulomb's law unless friction jams.
    assert!(
        parse(&text(
            "law = \"argmin\"\nimpact = \"inelastic\"\nscheme = \"moreau\""
        ))
        .is_ok()
    );
}

/// A rod that slides on its end beyond the critical friction, pulled off the floor: it leaves, sticks in an impact or goes on sliding. The same rod with less
/// friction has one motion.
#[test]
fn a_world_tells_of_several_motions_of_few_contacts() {
    let scene = |friction: f64| {
        let text = format!(
            "title = \"Rod\"\nstep = 1e-4\nuntil = 1e-3\n[world]\ndimension = 2\ngravity = [0, 1]\n[[materials]]\nname = \"chalk\"\nfriction = {friction}\n\
             [[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_plane = [0, 1] }}\n[[bodies]]\nname = \"rod\"\nmass = 1\ninertia = \"1/3\"\n\
             shape = {{ rectangle = [2, 1e-4] }}\nposition = [0, \"sin(1.1) + 5e-5*cos(1.1)\"]\nrotation = 1.1\nvelocity = [-3, 0]\n"
        );
        parse(&text).unwrap()
    };
    let several = run(&scene(2.0));
    assert!(several.several_solutions > 0 && several.uniqueness_not_examined == 0);
    let one = run(&scene(0.5));
    assert!(one.several_solutions == 0 && one.uniqueness_not_examined == 0);
}

/// Moreau's S at several contacts is one law per contact; with one tangent and a positive margin each is Coulomb's, and a bar wedges in
/// a groove under both or leaves it.
#[test]
fn the_projection_at_several_contacts_has_the_motions_of_coulombs_law() {
    let source = find_in_gallery("v-groove-bar").expect("a scene").source();
    for law in ["coulomb", "argmin"] {
        let changes = Changes::new().key("law", law).key("until", 0.02);
        let scene = Scene::parse(changes.apply(&source).unwrap()).unwrap();
        let certificate = run(&scene);
        assert!(certificate.several_solutions > 0, "{law}");
        let rank = certificate.rank_deficiency.expect("dependent rows");
        assert_eq!(rank.motion_is_unique, Some(false), "{law}");
    }
}

/// A particle in the corner of a floor and a wall, in space: dependent rows, one motion, without friction too.
#[test]
fn contacts_that_touch_between_events_are_examined() {
    for (law, scheme) in [
        ("coulomb", "moreau-jean"),
        ("coulomb", "event-driven"),
        ("frictionless", "event-driven"),
    ] {
        let text = format!(
            r#"
            title = "corner"
            step = 1e-2
            until = 0.3
            law = "{law}"
            scheme = "{scheme}"
            impact = "inelastic"
            [system]
            coordinates = ["x", "y", "z"]
            kinetic_energy = "(x'^2 + y'^2 + z'^2)/2"
            potential = "9.81*z - 3*x"
            [[contacts]]
            name = "floor"
            gap = "z"
            point = ["x", "y", "z"]
            normal = [0, 0, 1]
            friction = 0.3
            [[contacts]]
            name = "wall"
            gap = "1 - x"
            point = ["x", "y", "z"]
            normal = [-1, 0, 0]
            friction = 0.2
            [initial]
            x = 1
            y_dot = 1
            "#
        );
        let certificate = run(&parse(&text).unwrap());
        assert_eq!(certificate.several_solutions, 0, "{law} {scheme}");
        assert_eq!(certificate.uniqueness_not_examined, 0, "{law} {scheme}");
    }
}

/// Painlevé's start from event to event: separation, sliding and a jam are told of, as by the schemes of steps; with less friction there is one motion.
#[test]
fn the_start_of_an_event_driven_run_with_several_futures_is_told() {
    let counted = |mu: f64| {
        let changes = Changes::new()
            .key("scheme", "event-driven")
            .key("on_several", "choose")
            .parameter("mu", mu);
        let source = find_in_gallery("painleve-start").unwrap().source();
        run(&Scene::parse(changes.apply(&source).unwrap()).unwrap()).several_solutions
    };
    assert!(counted(2.0) > 0);
    assert_eq!(counted(0.5), 0);
}

/// Solvers over bodies leave contact velocities empty: a world that lists its solutions panicked.
#[test]
fn worlds_list_their_solutions() -> Result<(), String> {
    let world = r#"
title = "A box and a ball on the floor"
until = 0.005
step = 1e-3
[world]
[[materials]]
name = "m"
density = 1000
friction = 0.3
[[bodies]]
name = "floor"
material = "m"
fixed = true
shape = { half_space = [0, 0, 1] }
[[bodies]]
name = "box"
material = "m"
shape = { box = [0.2, 0.2, 0.1] }
position = [0, 0, 0.05]
[[bodies]]
name = "ball"
material = "m"
shape = { ball = 0.05 }
position = [-0.5, 0, 0.05]
"#;
    for how in ["on_several = \"stop\"", "several_rule = \"least-energy\""] {
        let scene = parse(&world.replacen("step", &format!("{how}\nstep"), 1))?;
        let certificate = run(&scene);
        assert!(certificate.problems > 0 && certificate.holds(1e-8), "{how}");
    }
    Ok(())
}

/// A particle that flies into an edge and meets both of its walls at 0.0205 s, in the midst of a record. With much friction the impact has several motions, which the
/// scheme of events tells as one that starts there does; with little it has one; what Poisson's expansion leaves of it is not examined, and that is told, too.
#[test]
fn impacts_between_two_records_are_examined() {
    let (normals, v) = (
        [[-0.857, 0.3185, 0.407], [-0.83, 0.556, 0.046]],
        [0.22, -0.05, 0.29],
    );
    let tangents = [[-0.149, 0.987, 0.064], [-0.785, -0.069, 0.615]];
    let scene = |friction: [f64; 2], flight: f64, keys: &str| {
        let mut text = format!(
            "title = \"edge\"\nscheme = \"event-driven\"\nstep = 1e-2\nuntil = 0.05\n{keys}\n[system]\n\
             coordinates = [\"a\", \"b\", \"c\"]\nkinetic_energy = \"(a'^2 + b'^2 + c'^2)/2\"\n"
        );
        for k in 0..2 {
            let [x, y, z] = normals[k];
            text += &format!(
                "[[contacts]]\nname = \"wall {k}\"\ngap = \"({x})*a + ({y})*b + ({z})*c\"\ntangents = [{:?}]\n\
                 friction = {}\nrestitution = 0.1\n",
                tangents[k], friction[k]
            );
        }
        text += "[initial]\n";
        for (name, v) in ["a", "b", "c"].iter().zip(v) {
            text += &format!("{name} = {}\n{name}_dot = {v}\n", -flight * v);
        }
        parse(&text).unwrap()
    };
    let (much, little) = ([2.97, 1.23], [0.1, 0.1]);
    let inelastic = "impact = \"inelastic\"";
    for flight in [0.0, 0.0205] {
        let several = run(&scene(much, flight, inelastic));
        assert!(several.several_solutions > 0, "{flight}");
        let one = run(&scene(little, flight, inelastic));
        assert_eq!(one.several_solutions, 0, "{flight}");
        for known in [several, one] {
            assert_eq!(known.uniqueness_not_examined, 0, "{flight}");
        }
        let unknown = run(&scene(little, flight, "impact = \"poisson\""));
        assert_eq!(unknown.uniqueness_not_examined, 1, "{flight}");
    }
}

/// Forces that read the past cannot be asked again at the start of a record: lasting contact is not examined there and counts, whatever was proved of the impact before it.
#[test]
fn lasting_contact_beside_the_past_counts_as_not_examined() {
    let text = r#"
        title = "hopper"
        scheme = "event-driven"
        step = 1e-2
        until = 0.6
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        potential = "10*y"
        forces = { x = "2 - delay(x, 0.1)" }
        [[contacts]]
        name = "floor"
        gap = "y"
        point = ["x", "y"]
        friction = 0.1
        [initial]
        x_dot = 1
        y = 0.2
        "#;
    // It lands after 0.2 s; forty records follow.
    let certificate = run(&parse(text).unwrap());
    assert!(certificate.uniqueness_not_examined >= 39, "{certificate:?}");
}
