//! Runs that a theorem does not cover, though all but one of its hypotheses hold: the page `hypotheses` names that one.

use stickslip::simulation::Status;

use super::truth_hypotheses::{covered, page, particle, status, unique};

fn exists(text: &str) -> bool {
    covered(&page(text), "existence").contains(&Status::Holds)
}

/// A bead of unit mass on a wire over a floor, without friction.
fn bead(equation: &str, start: &str) -> String {
    format!(
        "title = \"bead\"\nstep = 1e-3\nuntil = 0.05\nlaw = \"frictionless\"\n[system]\ncoordinates = [\"x\", \"y\"]\n\
         kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[[joints]]\nname = \"wire\"\nequation = \"{equation}\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"y + 5\"\n[initial]\n{start}\n"
    )
}

/// Norton's dome: a bead at rest on the top of y = -|x|^1.5 stays there or leaves at any time.
#[test]
fn a_wire_with_a_kink_of_any_order_has_no_theorem_of_uniqueness() {
    use Status::{Fails, Holds};
    for (equation, start, smooth, one) in [
        ("y + abs(x)^1.5", "x = 0", Fails, false),
        ("y - if(x > 0, x^2, 0)", "x = -0.1\nx_dot = 1", Fails, false),
        (
            "y - x*abs(x)",
            "x = -0.2\ny = -0.04\nx_dot = 1\ny_dot = 0.4",
            Fails,
            false,
        ),
        ("y - abs(x)", "x = 1\ny = 1", Fails, false),
        ("y + x^2", "x = 0", Holds, true),
        ("y + 3 - 3*cos(x)", "x = 0", Holds, true),
        // The middle of a ring is not on it; `hypot` has its kink there.
        ("hypot(x, y) - 1", "x = 0.6\ny = -0.8", Holds, false),
    ] {
        let found = page(&bead(equation, start));
        assert_eq!(status(&found, "smooth joints"), smooth, "{equation}");
        assert_eq!(unique(&found), one, "{equation}");
    }
}

/// In the directions that a ring allows, the height of a bead has no gradient at its lowest point.
#[test]
fn a_gap_is_judged_in_the_directions_that_joints_allow() {
    for (start, floor, regular) in [
        ("x = 0.6\ny = -0.8", "y + 1", false),
        ("y = -1\nx_dot = 0.5", "y + 1", false),
        ("y = -1", "y + 1", false),
        ("x = 0.6\ny = -0.8", "y + 0.9", true),
    ] {
        let text = bead("x^2 + y^2 - 1", start).replace("y + 5", floor);
        let found = page(&text);
        let holds = status(&found, "gradient") == Status::Holds;
        assert_eq!(holds, regular, "{start} {floor}: {found:?}");
        assert_eq!(unique(&found), regular, "{start} {floor}");
        let existence = covered(&found, "existence").contains(&Status::Holds);
        assert_eq!(existence, regular, "{start} {floor}");
    }
    // Two joints that say the same.
    let twice = bead("y", "x = 0").replace(
        "[[contacts]]",
        "[[joints]]\nname = \"again\"\nequation = \"2*y\"\n[[contacts]]",
    );
    assert_eq!(status(&page(&twice), "independent"), Status::Fails);
}

#[test]
fn contacts_that_are_springs_are_neither_rigid_nor_inelastic() {
    let head = "scheme = \"penalty\"\ncompliance_time = 0.1";
    let found = page(&particle(head, "0", "0.3"));
    assert_eq!(status(&found, "rigid"), Status::Fails);
    assert_eq!(status(&found, "inelastic"), Status::Fails);
    for about in ["existence", "uniqueness", "convergence"] {
        assert!(
            !covered(&found, about).contains(&Status::Holds),
            "{about}: {found:?}"
        );
    }
}

/// Forces are read in the largest distance of past motions: neither velocities nor delays that move with the state are continuous there.
#[test]
fn what_is_read_of_the_past_must_be_lipschitz_in_its_largest_distance() {
    use Status::{Fails, Holds};
    for (force, expected) in [
        ("-2*delay(x, 0.1)", Holds),
        ("-2*delay(x', 0.1)", Fails),
        ("-2*varying_delay(x, 0.1 + 0.05*sin(t), 0.04, 0.16)", Holds),
        ("-2*varying_delay(x, 0.1 + 0.05*sin(x), 0.04, 0.16)", Fails),
        ("-window_max(abs(x), 0.1)", Holds),
        ("-window_max(x^2, 0.1)", Fails),
    ] {
        let text = particle("scheme = \"sweeping-process\"", force, "0.3");
        let found = page(&text);
        assert_eq!(status(&found, "forces"), expected, "{force}");
        assert_eq!(exists(&text), expected == Holds, "{force}");
    }
    for friction in [
        "0.3 + 0.1*delay(x, 0.1)",
        "0.3 + 0.1*window_max(abs(sin(x)), 0.1)",
    ] {
        let text = particle("", "0", &format!("\"{friction}\""));
        assert_eq!(status(&page(&text), "friction"), Fails, "{friction}");
        assert!(!exists(&text), "{friction}");
    }
}

/// A row of slip of length 1 at the end of a run need not have it elsewhere.
#[test]
fn rows_of_slip_are_judged_wherever_a_contact_can_touch() {
    use Status::{Fails, Holds};
    let with = |slip: &str| {
        particle("", "-9*x", "0.01")
            .replace("point = [\"x\", \"y\"]", &format!("slip = [\"{slip}\"]"))
    };
    for (slip, expected) in [
        ("x'", Holds),
        ("(1 + 5*max(0, x - 0.1))*x'", Fails),
        ("(1 + 0.1*sin(x))*x'", Fails),
        ("cos(x)*x' + sin(x)*y'", Fails),
    ] {
        let found = page(&with(slip));
        assert_eq!(status(&found, "particle"), expected, "{slip}");
        assert_eq!(unique(&found), expected == Holds, "{slip}");
        assert_eq!(exists(&with(slip)), expected == Holds, "{slip}");
    }
    // Around a disc the row has length 1 on the disc alone, and nothing touches elsewhere.
    let disc = particle("", "0", "0.1")
        .replace("gap = \"y\"", "gap = \"x^2 + (y + 1)^2 - 1\"")
        .replace("point = [\"x\", \"y\"]", "slip = [\"(y + 1)*x' - x*y'\"]");
    assert_eq!(status(&page(&disc), "particle"), Holds);
}

/// Both choices are extensions of P'4, as `verify` says; of one constraint they say nothing else.
#[test]
fn extensions_of_the_law_of_several_constraints_are_not_the_law_of_the_paper() {
    let head = |more: &str| format!("scheme = \"moreau\"\nlaw = \"generalized\"\n{more}");
    let wall = "[[contacts]]\nname = \"wall\"\ngap = \"3 - x\"\npoint = [\"x\", \"y\"]\nfriction = 0.3\n[initial]";
    for (more, several, expected) in [
        ("", true, true),
        ("sections = \"joint\"", true, false),
        ("active_space = \"firm\"", true, false),
        ("sections = \"joint\"", false, true),
    ] {
        let mut text = particle(&head(more), "0", "0.3");
        if several {
            text = text.replace("[initial]", wall);
        }
        let found = page(&text);
        let theorem = found.theorems.iter().find(|t| t.theorem.contains("P'3"));
        let status = theorem.map(|t| t.status);
        assert_eq!(status == Some(Status::Holds), expected, "{more} {several}");
    }
}

/// Theorem 1.3 and its bounds speak of steps of one length, after which positions are left where they are.
#[test]
fn corrected_positions_and_steps_of_several_lengths_are_not_those_of_the_sweeping_process() {
    use Status::{Fails, Holds};
    let scheme = |more: &str| format!("scheme = \"sweeping-process\"\n{more}");
    let slide = "x_dot = 2";
    let fall = "x_dot = 2\ny = 0.1";
    let bowl = "x = 0.3\ny = 0.1\nx_dot = 1";
    for (head, gap, start, expected, word) in [
        ("", "y", slide, Holds, ""),
        ("projection = \"none\"", "y", slide, Holds, ""),
        // The end of the run cuts its last step.
        ("until = 0.304", "y", slide, Holds, ""),
        // A flat floor is overshot by a fall alone.
        ("", "y", fall, Fails, "projection"),
        ("projection = \"none\"", "y", fall, Holds, ""),
        ("", "0.5 - hypot(x, y - 0.5)", bowl, Fails, "projection"),
        (
            "projection = \"none\"",
            "0.5 - hypot(x, y - 0.5)",
            bowl,
            Holds,
            "",
        ),
        (
            "adaptive = 1e-4\nprojection = \"none\"",
            "y",
            slide,
            Fails,
            "lengths",
        ),
    ] {
        let mut text = particle(&scheme(head), "0", "0.2")
            .replace("gap = \"y\"", &format!("gap = \"{gap}\""))
            .replace("x_dot = 2", start);
        if head.contains("until") {
            text = text.replace("until = 0.3\n", "");
        }
        let found = page(&text);
        let told = format!("{head} {gap} {start}: {found:?}");
        assert_eq!(status(&found, "sweeping process"), expected, "{told}");
        let hypothesis = found
            .hypotheses
            .iter()
            .find(|h| h.name == "sweeping process");
        assert!(hypothesis.is_some_and(|h| h.note.contains(word)), "{told}");
        for about in ["convergence", "bounds"] {
            assert_eq!(covered(&found, about), [expected], "{about} {told}");
        }
        assert!(covered(&found, "existence").contains(&Holds), "{told}");
    }
}

/// A belt depends on no time, and runs.
#[test]
fn a_belt_is_told_as_one() {
    let belt = particle("", "0", "0.3").replace("point = [\"x\", \"y\"]", "slip = [\"x' - 0.4\"]");
    let table = particle("", "0", "0.3").replace("gap = \"y\"", "gap = \"y - 0.01*sin(5*t)\"");
    for text in [belt, table] {
        let found = page(&text);
        assert_eq!(status(&found, "resting"), Status::Fails);
        let resting = found.hypotheses.iter().find(|h| h.name == "resting");
        let note = resting.map_or("", |h| h.note.as_str());
        assert!(note.contains("belt") && note.contains("time"), "{note}");
        assert!(!note.contains("slip depends on time"), "{note}");
    }
}
