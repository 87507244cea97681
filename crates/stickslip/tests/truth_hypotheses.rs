//! The page `hypotheses` of a summary: what can be decided is decided, and theorems are named with what they miss.

use std::ops::ControlFlow;

use stickslip::records::StepOutcome;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{Hypotheses, RunEnd, RunSummary, Status};

pub(crate) fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(SourceText::new("scene", text)).map_err(|e| e.to_string())
}

/// A particle on a floor, with keys at the top, forces and friction of choice.
pub(crate) fn particle(head: &str, forces: &str, friction: &str) -> String {
    format!(
        "title = \"particle\"\nstep = 0.01\nuntil = 0.3\nimpact = \"inelastic\"\n{head}\n[system]\n\
         coordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
         forces = {{ x = \"{forces}\" }}\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\n\
         point = [\"x\", \"y\"]\nfriction = {friction}\n[initial]\nx_dot = 2\n"
    )
}

pub(crate) fn page(text: &str) -> Hypotheses {
    let scene = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap();
    let end = run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    let facts = scene.facts(run.system());
    let summary = RunSummary::new(&run, (scene.run_settings("test"), &facts), end, 0.0);
    // What is written can be read.
    let text = serde_json::to_string(&summary).unwrap();
    let back: RunSummary = serde_json::from_str(&text).unwrap();
    assert_eq!(back.hypotheses, summary.hypotheses);
    summary.hypotheses
}

pub(crate) fn status(page: &Hypotheses, name: &str) -> Status {
    let found = page.hypotheses.iter().find(|h| h.name == name);
    let found = found.unwrap_or_else(|| panic!("no hypothesis {name}"));
    // A reason stands beside whatever does not hold.
    assert_eq!(
        found.note.is_empty(),
        found.status == Status::Holds,
        "{found:?}"
    );
    found.status
}

pub(crate) fn covered(page: &Hypotheses, about: &str) -> Vec<Status> {
    let theorems = page.theorems.iter().filter(|t| t.about == about);
    theorems.map(|t| t.status).collect()
}

#[test]
fn a_particle_under_the_sweeping_process_is_covered() {
    let scheme = "scheme = \"sweeping-process\"";
    let found = page(&particle(scheme, "0", "0.3"));
    for name in [
        "gradient",
        "independent",
        "forces",
        "friction",
        "bounded",
        "delays",
        "particle",
    ] {
        assert_eq!(status(&found, name), Status::Holds, "{name}");
    }
    for about in ["existence", "convergence", "bounds"] {
        assert!(
            covered(&found, about).contains(&Status::Holds),
            "{about}: {found:?}"
        );
    }
    assert!(covered(&found, "uniqueness").contains(&Status::Holds));
    // Another scheme: existence stays, convergence of the sweeping process does not speak of it.
    let other = page(&particle("scheme = \"moreau-jean\"", "0", "0.3"));
    assert!(covered(&other, "existence").contains(&Status::Holds));
    assert!(!covered(&other, "convergence").contains(&Status::Holds));
    let theorem = other
        .theorems
        .iter()
        .find(|t| t.about == "convergence")
        .unwrap();
    assert_eq!(theorem.fails, ["sweeping process"]);
}

#[test]
fn jumps_and_kinks_of_friction_and_forces_are_decided() {
    use Status::{Fails, Holds};
    for (expression, expected) in [
        ("0.3 + 0.1*sin(x)", Holds),
        ("0.3 + 0.1*abs(sin(x - 1))", Holds),
        ("max(0.1, min(0.3, 0.3 - x))", Holds),
        // An ice patch jumps; a ramp that starts where the plain ends does not.
        ("if(x < 0.1, 0.3, 0.05)", Fails),
        (
            "if(x < 0.1, 0.3, max(0.1, min(0.3, 0.3 - 0.2*(x - 0.1))))",
            Holds,
        ),
        // Lipschitz on bounded sets only.
        ("0.1 + x^2", Fails),
        ("0.3 + x^3", Fails),
        ("if(t > 0.2, 0.3, 0.1)", Fails),
        ("if(x > 0.1 and t < 5, 0.4, 0.1)", Fails),
        ("0.3 + 0.1*sign(x - 1)", Fails),
        ("min(0.5, 0.2 + sqrt(x^2))", Holds),
        ("0.3/(1 + x^2)", Holds),
        // Bounds that hold within branches only.
        ("if(x > 0, if(x < 1, 0.1 + 0.2*x, 0.3), 0.1)", Holds),
        ("min(0.5, 0.1 + x^2)", Holds),
        ("0.2 + 0.1*exp(-(x/0.05)^2)", Holds),
        ("0.1 + 0.3/(1 + x + x^2)", Holds),
        ("0.2 + 0.1*sin(x^2)", Fails),
        // Steep at a place: the slope of a root grows without bound.
        ("min(0.5, 0.1 + sqrt(abs(x - 1)))", Fails),
    ] {
        let found = page(&particle("", "0", &format!("\"{expression}\"")));
        assert_eq!(status(&found, "friction"), expected, "{expression}");
        let covers = covered(&found, "existence").contains(&Holds);
        assert_eq!(covers, expected == Holds, "{expression}");
    }
    // The proof keeps friction angles away from a right angle.
    for (expression, expected) in [
        ("0.3 + 0.1*abs(x - 1)", Fails),
        ("max(0.1, 0.3 - x)", Fails),
        ("min(0.6, 0.2 + x^2)", Holds),
        ("0.2 + 0.1*tanh(x)", Holds),
        ("0.1 + 0.2*t", Holds),
        ("if(abs(x) < 1, 0.2 + 0.1*x^2, 0.3)", Holds),
        ("0.2 + 0.1*x^2/(1 + x^2)", Holds),
        ("0.1 + 0.2/abs(x + 1)", Fails),
        // Of the slip speed, and of the past.
        ("0.2 + 0.1*s^2", Fails),
        ("0.2 + 0.1*exp(-(s/0.01)^2)", Holds),
        ("0.2 + 0.1*window_max(x^2, 0.1)", Fails),
        ("0.2 + 0.1*window_max(tanh(x), 0.1)", Holds),
        ("min(0.4, 0.2 + 0.1*abs(delay(x, 0.1)))", Holds),
    ] {
        let found = page(&particle("", "0", &format!("\"{expression}\"")));
        assert_eq!(status(&found, "bounded"), expected, "{expression}");
    }
    for (expression, expected) in [
        ("-3*x - x'", Holds),
        ("abs(x)", Holds),
        ("-sign(x')", Fails),
        ("if(x' > 0, -1, 1)", Fails),
        ("if(x > 1, x, 2*x - 1)", Holds),
        ("atan2(x, y)", Fails),
        ("sqrt(abs(x))", Fails),
        ("if(x > 0, if(x < 1, x^2, 2*x - 1), 0)", Holds),
    ] {
        let found = page(&particle("", expression, "0.3"));
        assert_eq!(status(&found, "forces"), expected, "{expression}");
    }
    // Lipschitz on bounded sets only: the motion may blow up.
    for (expression, expected) in [
        ("x'^2", Fails),
        ("x*y", Fails),
        ("exp(x)", Fails),
        ("x*abs(x)", Fails),
        ("exp(-t)*x + 3*sin(x)*cos(y) - 2*x'", Holds),
        ("max(-1, min(1, x'))", Holds),
        ("exp(sin(x))", Holds),
        ("exp(-x^2)", Holds),
        ("-x'/sqrt(1 + x'^2)", Holds),
        ("if(abs(y) < 1, (1 - y^2)^2*x^2, 0)", Fails),
    ] {
        let found = page(&particle("", expression, "0.3"));
        assert_eq!(status(&found, "forces"), expected, "{expression}");
        assert_eq!(
            status(&found, "forces on bounded sets"),
            Holds,
            "{expression}"
        );
        let covers = covered(&found, "existence").contains(&Holds);
        assert_eq!(covers, expected == Holds, "{expression}");
    }
    let hard = particle("", "0", "0.3").replace("9.81*y\"", "9.81*y + x^4\"");
    assert_eq!(status(&page(&hard), "forces"), Fails);
    // A potential with a kink has a force that jumps.
    let kink = particle("", "0", "0.3").replace("9.81*y\"", "9.81*y + abs(x - 1)\"");
    assert_eq!(status(&page(&kink), "forces"), Fails);
}

/// H1 of Theorem 1.3 asks for gaps of class C¹; a kink away from the surface is none of it.
#[test]
fn kinks_of_gaps_are_decided_where_they_vanish() {
    use Status::{Fails, Holds};
    for (gap, expected) in [
        ("y - 0.1*x^2", Holds),
        ("y - abs(x)", Fails),
        ("min(y, 1 - x)", Fails),
        ("if(x < 1, y, y - 0.2*(x - 1))", Fails),
        ("if(x < 1, y, y - 0.2*(x - 1)^2)", Holds),
        ("y - 0.2*max(0, x - 1)^2", Holds),
        // The middle of a disc and of a ring is not on them.
        ("hypot(x, y + 1) - 1", Holds),
        ("sqrt(x^2 + (y + 1)^2) - 1", Holds),
        ("y - hypot(x, 0.0001*x)", Fails),
    ] {
        let text = particle("", "0", "0.3")
            .replace("gap = \"y\"", &format!("gap = \"{gap}\""))
            .replace("x_dot = 2", "x = 0.3\ny = 0.5");
        let found = page(&text);
        assert_eq!(status(&found, "smooth gaps"), expected, "{gap}");
        let covers = covered(&found, "existence").contains(&Holds);
        assert_eq!(covers, expected == Holds, "{gap}");
    }
}

#[test]
fn dependent_gradients_and_unbounded_sets_are_told() {
    let once = particle("", "0", "0.3");
    let second = "[[contacts]]\nname = \"again\"\ngap = \"2*y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3\n[initial]";
    let twice = once.replace("[initial]", second);
    let found = page(&twice);
    assert_eq!(status(&found, "independent"), Status::Fails);
    assert_eq!(status(&found, "one contact"), Status::Fails);
    let head = "law = \"generalized\"\nfriction_per = \"gradient\"";
    let set = "{ interval = [\"-inf\", 0.3] }";
    assert_eq!(
        status(&page(&particle(head, "0", set)), "bounded"),
        Status::Fails
    );
    let bounded = page(&particle(head, "0", "{ interval = [-0.2, 0.3] }"));
    assert_eq!(status(&bounded, "bounded"), Status::Holds);
}

pub(crate) fn unique(page: &Hypotheses) -> bool {
    covered(page, "uniqueness").contains(&Status::Holds)
}

/// Theorem 1.3 and the uniqueness of one particle speak of a resting surface, a cone of revolution, the velocity after impacts.
#[test]
fn theorems_on_particles_do_not_cover_what_their_papers_leave_out() {
    let plain = || particle("", "-3*x", "0.3");
    let without = |impact: &str| plain().replace("impact = \"inelastic\"", impact);
    let control =
        "[[controllers]]\nname = \"c\"\nperiod = 0.05\noutput = { u = \"-x\" }\n[initial]";
    let wedge = "[[contacts]]\nname = \"roof\"\ngap = \"0.2*x + 0.01 - y\"\npoint = [\"x\", \"y\"]\nfriction = 0.9\n[initial]";
    // x is a lever: the mass is one number, and the floor is touched off the centre.
    let lever = plain().replace("point = [\"x\", \"y\"]", "slip = \"x' + 0.5*y'\"");
    for (text, fails, exists) in [
        (plain(), "", true),
        (
            particle("", "0", "\"0.2 + 0.1*exp(-s/0.1)\""),
            "friction",
            false,
        ),
        (
            particle("", "0", "{ interval = [-0.1, 0.4] }"),
            "isotropic",
            false,
        ),
        (
            particle("", "0", "\"0.3 + 0.1*sin(x)\""),
            "constant friction",
            true,
        ),
        (particle("", "-3*delay(x, 0.1)", "0.3"), "present", true),
        (
            plain().replace("gap = \"y\"", "gap = \"y - 0.1*sin(t)\""),
            "resting",
            false,
        ),
        (
            plain().replace("point = [\"x\", \"y\"]", "slip = \"x' - 1\""),
            "resting",
            false,
        ),
        (
            particle("", "u", "0.3").replace("[initial]", control),
            "forces",
            false,
        ),
        (plain().replace("[initial]", wedge), "one contact", false),
        (without("impact = \"fremond\""), "right velocity", false),
        (lever, "particle", false),
    ] {
        let found = page(&text);
        assert_eq!(unique(&found), fails.is_empty(), "{text}");
        let covers = covered(&found, "existence").contains(&Status::Holds);
        assert_eq!(covers, exists, "{text}");
        if !fails.is_empty() {
            assert_eq!(status(&found, fails), Status::Fails, "{text}");
        }
    }
}

/// What is said of contacts and loads of worlds and elastic bodies is read from them.
#[test]
fn laws_of_worlds_and_loads_of_meshes_are_decided() {
    let world = |impact: &str, moves: &str| {
        format!(
            "title = \"world\"\nstep = 0.01\nuntil = 0.05\n[world]\n[[materials]]\nname = \"m\"\ndensity = 1000\nfriction = 0.3\n{impact}\n\
             [[bodies]]\nname = \"floor\"\nmaterial = \"m\"\nshape = {{ half_space = [0, 0, 1] }}\n{moves}\n\
             [[bodies]]\nname = \"ball\"\nmaterial = \"m\"\nshape = {{ ball = 0.1 }}\nposition = [0, 0, 0.1]\nvelocity = [1, 0, 0]\n"
        )
    };
    let dissipates = |text: &str| covered(&page(text), "dissipation").contains(&Status::Holds);
    // Newton's law with friction may give energy; θ = 1 is above 1/(1 + e).
    assert!(!dissipates(&world("", "fixed = true")));
    let mean = "impact = \"fremond\"";
    assert!(dissipates(&world(mean, "fixed = true")));
    let bounces = world(&format!("{mean}\nrestitution = 0.5"), "fixed = true");
    let damped = bounces.replace("[world]", "theta = 1\n[world]");
    assert!(!dissipates(&damped) && dissipates(&damped.replace("theta = 1", "theta = 0.6")));
    let shakes = "motion = { position = [0, 0, \"0.01*sin(9*t)\"] }";
    assert!(!dissipates(&world(mean, shakes)));
    let push = |force: &str| {
        let text = world("", "fixed = true");
        status(
            &page(&format!("{text}force = [\"{force}\", 0, 0]\n")),
            "forces",
        )
    };
    assert_eq!(push("-x"), Status::Holds);
    assert_eq!(push("sign(x)"), Status::Fails);

    let bar = stickslip::scene::find_in_gallery("elastic-block").expect("in the gallery");
    let bar = bar.source().text().to_string();
    let loaded = |factor: &str| {
        let load = format!("\n[[elastic.loads]]\nbody_force = [0.1, 0]\nfactor = \"{factor}\"\n");
        let scene = parse(&(bar.clone() + &load)).unwrap_or_else(|e| panic!("{e}"));
        let facts = scene.facts(scene.simulation().unwrap().system());
        (facts.forces.0, facts.resting)
    };
    assert_eq!(loaded("sin(t)"), (Some(true), Some(true)));
    assert_eq!(loaded("if(t > 0.1, 1, 0)"), (Some(false), Some(true)));
}

/// A gap y² has no normal where it vanishes: the scene is refused, with the line of the contact.
/// Where the gap of a disc vanishes its normal is analytic; at its centre, which is no place of contact, it is not.
#[test]
fn data_are_analytic_where_contacts_are() {
    let status_of = |gap: &str, friction: &str| {
        let text = particle("law = \"frictionless\"", "0", friction)
            .replace("gap = \"y\"", &format!("gap = \"{gap}\""));
        status(&page(&text), "analytic")
    };
    for (gap, expected) in [
        ("y", Status::Holds),
        ("x^2 + (y + 2)^2 - 1", Status::Holds),
        ("y^2 + y", Status::Holds),
        ("hypot(x, y + 2) - 1", Status::Holds),
        ("sqrt(x^2 + (y + 2)^2) - 1", Status::Holds),
        ("exp(y) - 0.5", Status::Holds),
        ("y + abs(x - 1)*abs(x - 1)", Status::Holds),
        // A kink on the surface, of the gap or of its second derivatives, and one beside it.
        ("y + abs(x - 1)", Status::Fails),
        ("y + abs(x - 1)^3", Status::Fails),
        ("y + 0.1*max(0, 5 - y)", Status::Holds),
    ] {
        assert_eq!(status_of(gap, "0.3"), expected, "{gap}");
    }
}

/// A sum of a number and sines vanishes with its gradient where all sines are ±1 and cancel the number, or nowhere.
#[test]
fn flat_places_of_sums_of_sines_are_those_by_hand() {
    for (a, b, c) in [
        (0.389, 0.533, 0.184),
        (0.026, 0.153, 0.0559),
        (1.2, 0.7, 0.4),
        (0.349, 0.533, 0.184),
        (0.717, 0.533, 0.184),
        (3.0, 2.0, 1.0),
    ] {
        let gap = format!("{a} + {b}*sin(x) + {c}*sin(y)");
        let text = particle("", "0", "0.3").replace("gap = \"y\"", &format!("gap = \"{gap}\""));
        let flat_of = |scene: Scene| {
            let simulation = scene.simulation().map_err(|e| e.to_string())?;
            Ok(!scene.facts(simulation.system()).flat.is_empty())
        };
        // Where the start leads to one, the scene is refused.
        let found = parse(&text).and_then(flat_of);
        let found = found.unwrap_or_else(|error| error.contains("together with its gradient"));
        let signs = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let flat = (signs.iter()).any(|(s, r): &(f64, f64)| (a + s * b + r * c).abs() < 1e-12);
        assert_eq!(found, flat, "{gap}");
    }
}

#[test]
fn a_gap_without_a_gradient_is_refused() {
    for gap in ["y^2", "y^4", "1e6*y^2", "(y + x*y)^2"] {
        let text = particle("", "0", "0.3")
            .replace(
                "gap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3",
                &format!("gap = \"{gap}\""),
            )
            .replace("[initial]", "[initial]\ny = 1");
        let message = parse(&text)
            .err()
            .unwrap_or_else(|| panic!("{gap} was accepted"));
        assert!(
            message.contains("gradient") && message.contains("floor"),
            "{message}"
        );
    }
}

/// A gap that only touches zero is passed through between two steps: the run stops there and says so.
#[test]
fn a_gap_that_does_not_change_sign_stops_the_run() {
    for gap in ["abs(y)", "sqrt(y^2)", "abs(y) + 1e-7*x^2"] {
        let text = particle("scheme = \"moreau\"", "0", "0.3")
            .replace(
                "gap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3",
                &format!("gap = \"{gap}\""),
            )
            .replace("[initial]", "[initial]\ny = 0.1")
            .replace("until = 0.3", "until = 2");
        let scene = parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap();
        let end = run.run_until(2.0, |_| ControlFlow::Continue(()));
        let stopped = matches!(
            end,
            RunEnd::Stopped {
                outcome: StepOutcome::DegenerateGap { .. },
                ..
            }
        );
        assert!(
            stopped && run.state().q[1] > -0.05,
            "{gap}: {end:?} at {:?}",
            run.state().q
        );
    }
}
