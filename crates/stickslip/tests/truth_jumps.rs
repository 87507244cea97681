//! The page `hypotheses` on borders of `if`, `sign`, `atan2` and tables: a jump is told wherever it is, and no other; the unit of length
//! changes no verdict. Every verdict here is worked out by hand, or by how the expression was made.

use stickslip::simulation::{Hypotheses, Status};

use super::truth_hypotheses::{covered, page, particle, status};

fn exists(found: &Hypotheses) -> bool {
    covered(found, "existence").contains(&Status::Holds)
}

/// The page of a particle that falls from 1 m, for a force along the floor.
fn pushed(force: &str) -> Hypotheses {
    let text = particle("scheme = \"moreau\"", force, "0.3").replace("until = 0.3", "until = 0.01");
    page(&text.replace("x_dot = 2", "x = 1\ny = 1"))
}

#[test]
fn forces_whose_branches_meet_do_not_jump() {
    use Status::{Fails, Holds};
    for (force, local, all) in [
        // Both branches vanish where they meet.
        ("if(x > 0, x, 0)", Holds, Holds),
        ("if(x > 0.1, 1e6*(x - 0.1), 0)", Holds, Holds),
        ("if(x > 5200, 20000*(5200 - x), 0)", Holds, Holds),
        ("if(x^2 + y^2 < 1, x^2 + y^2, 1)", Holds, Holds),
        ("if(hypot(x, y) < 2, 2 - hypot(x, y), 0)", Holds, Holds),
        ("if(x > 0 and y > 0, min(x, y), 0)", Holds, Holds),
        ("if(x < 1, x, if(x < 2, 1, 3 - x))", Holds, Holds),
        // What jumps is multiplied by what vanishes there, or two jumps cancel.
        ("x*sign(x)", Holds, Holds),
        ("-sign(x')*min(1, abs(x')/0.01)", Holds, Holds),
        ("-sign(x')*x'^2", Holds, Fails),
        ("if(x > 3, 1, 0) + if(x <= 3, 1, 0)", Holds, Holds),
        // Nothing switches over the states and times of the run.
        ("sign(1 + x^2)", Holds, Holds),
        ("atan2(y, 1)", Holds, Holds),
        ("if(t > 0.5, 1, 0)", Holds, Holds),
        ("if(x > 5 and x < 3, 1, 0)", Holds, Holds),
        // A pole that is never read; a power of a number.
        ("if(x > 1, log(x), 0)", Holds, Holds),
        ("2^x", Holds, Fails),
    ] {
        let found = pushed(force);
        assert_eq!(status(&found, "forces on bounded sets"), local, "{force}");
        assert_eq!(status(&found, "forces"), all, "{force}");
        assert_eq!(exists(&found), all == Holds, "{force}");
    }
}

#[test]
fn jumps_are_found_wherever_they_are() {
    for force in [
        // Beyond y = 5000 alone; of a ten-millionth; far away; of no width.
        "if(x > 0, max(y - 5000, 0), 0)",
        "if(x > 0, 1 + 1e-7, 1)",
        "if(x > 5000, 1, 0)",
        "if(x == 0, 1, 0)",
        "if(x > 0.1 and x < 0.1001, 1, 0)",
        "if(y > x + 7e5, 1, 0)",
        "if(t > 0.005, 1, 0)",
        "1e12*y + if(x > 1e-9, 1e-7, 0)",
        // Branches that meet in other places than on the border.
        "if(x*y > 0, x, 0)",
        "if(x^2 + y^2 < 1, x^2, 1)",
        "if(x > 3, 1, 0) - if(y > 3, 1, 0)",
        "sign(x)*if(2*x > 0, 1, -1)",
        "x/abs(x)",
        "atan2(y, x)",
    ] {
        let found = pushed(force);
        assert_eq!(status(&found, "forces"), Status::Fails, "{force}");
        assert!(!exists(&found), "{force}");
    }
}

/// p on one side of a border b and p + b r + J on the other meet if J = 0, and jump by J otherwise, whatever p, r and b are.
#[test]
fn expressions_made_to_meet_or_to_jump_are_told_apart() {
    let parts = [
        "sin(x) + 2*y",
        "max(x, y - 700)",
        "abs(x' - 3)",
        "3",
        "min(x, 1e-4)*cos(y)",
    ];
    let borders = [
        "x - 12",
        "y - 0.3*x - 1e4",
        "2e-5 - x'",
        "x + 3*x'",
        "t - 0.004",
    ];
    let slopes = ["1", "1000*(2 + sin(x))", "max(1, min(2, y))", "-1e-3"];
    for (k, p) in parts.iter().enumerate() {
        for (l, b) in borders.iter().enumerate() {
            let r = slopes[(k + l) % slopes.len()];
            for (jump, expected) in [("0", Status::Holds), ("1e-6", Status::Fails)] {
                let force = format!("if({b} > 0, {p} + ({b})*({r}) + {jump}, {p})");
                let found = pushed(&force);
                let name = "forces on bounded sets";
                assert_eq!(status(&found, name), expected, "{force}");
            }
        }
    }
}

#[test]
fn gaps_are_judged_where_they_vanish_near_and_far() {
    use Status::{Fails, Holds};
    for (gap, smooth, regular) in [
        ("y - if(x > 5000, 1, 0)", Fails, Holds),
        ("y - 0.1*max(0, x - 5000)", Fails, Holds),
        ("y - 0.1*max(0, x - 5000)^2", Holds, Holds),
        // The gradient 2 |x| is continuous, as that of y + x abs(x) is.
        ("y + sign(x)*x^2", Holds, Holds),
        ("y + x*abs(x)", Holds, Holds),
        // The kink lies off the surface.
        ("min(y, 3)", Holds, Holds),
        ("hypot(x, y + 1) - 1", Holds, Holds),
        // Gap and gradient vanish together on a line, at a point.
        ("y*(x - 3)^2", Holds, Fails),
        ("y*(x - 5000)^2", Holds, Fails),
        ("y*(x - 3)", Holds, Fails),
    ] {
        let text = particle("scheme = \"moreau\"", "0", "0.3")
            .replace("until = 0.3", "until = 0.01")
            .replace(
                "gap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3",
                &format!("gap = \"{gap}\""),
            )
            .replace("x_dot = 2", "x = 4000\ny = 2");
        let found = page(&text);
        assert_eq!(status(&found, "smooth gaps"), smooth, "{gap}");
        assert_eq!(status(&found, "gradient"), regular, "{gap}");
        let holds = smooth == Holds && regular == Holds;
        assert_eq!(exists(&found), holds, "{gap}");
    }
}

/// Forces of potentials: one-sided springs are continuous, and their kinks are where they are.
#[test]
fn forces_of_potentials_jump_where_their_gradient_does() {
    use Status::{Fails, Holds};
    for (potential, expected) in [
        ("50*max(0, x - 0.1)^2", Holds),
        ("if(x > 2000, (x - 2000)^2, 0)", Holds),
        ("10*hypot(x, 1)", Holds),
        ("50*max(0, x - 2000)", Fails),
        ("hypot(x, y)", Fails),
        ("if(x > 2000, (x - 2000)^2 + 1e-3*(x - 2000), 0)", Fails),
    ] {
        let text = particle("", "0", "0.3")
            .replace("9.81*y\"", &format!("9.81*y + {potential}\""))
            .replace("x_dot = 2", "x = 0.5\nx_dot = 2");
        assert_eq!(
            status(&page(&text), "forces on bounded sets"),
            expected,
            "{potential}"
        );
    }
}

/// A slider that runs onto ice, against a one-sided spring: lengths in other units give the same page.
#[test]
fn the_unit_of_length_changes_no_verdict() {
    let verdicts = |length: f64| {
        let text = format!(
            "title = \"ice\"\nstep = 0.01\nuntil = 0.1\n[parameters]\nl = {length}\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*l*y\"\n\
             forces = {{ x = \"if(x > 5.2*l, 20*(5.2*l - x), 0) + if(y > 2*l, max(x - 7*l, 0), 0)\" }}\n\
             [[contacts]]\ngap = \"y - 0.1*l*tanh(x/l - 4)\"\npoint = [\"x\", \"y\"]\nfriction = \"if(x > 5*l, 0.02, 0.3)\"\n\
             [initial]\nx = \"3.5*l\"\ny = \"l\"\nx_dot = \"4*l\"\n"
        );
        let found = page(&text);
        let statuses: Vec<(String, Status)> = (found.hypotheses.into_iter())
            .map(|h| (h.name, h.status))
            .collect();
        statuses
    };
    let metres = verdicts(1.0);
    let told = |name: &str| metres.iter().find(|h| h.0 == name).map(|h| h.1);
    assert_eq!(told("friction"), Some(Status::Fails));
    assert_eq!(told("forces"), Some(Status::Fails));
    assert_eq!(told("gradient"), Some(Status::Holds));
    for length in [1e3, 1e-3, 1e6] {
        assert_eq!(verdicts(length), metres, "{length}");
    }
}
