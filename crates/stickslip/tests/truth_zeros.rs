//! Zeros of gaps and joints are found, and judged by their gradients, in whatever units a scene is written and however long it runs.

use stickslip::scene::find_in_gallery;
use stickslip::simulation::Status;

use super::truth_hypotheses::{covered, page, parse, particle, status, unique};

/// A rod of length 2 l above a floor that its end meets, in units of length.
fn rod(l: f64) -> String {
    format!(
        "title = \"rod\"\nstep = 2e-5\nuntil = 1e-3\nlaw = \"frictionless\"\n[parameters]\nl = {l}\n[system]\n\
         coordinates = [\"x\", \"y\", \"phi\"]\nkinetic_energy = \"(x'^2 + y'^2)/2 + l^2*phi'^2/6\"\n[[contacts]]\n\
         gap = \"y - l*sin(phi)\"\n[initial]\ny = \"1.7*l\"\nphi = 0.8\n"
    )
}

#[test]
fn lengths_and_angles_in_one_gap_have_a_zero_in_every_unit() {
    for l in [1e-6, 1e-3, 0.4, 40.0, 1e3, 1e6] {
        let found = page(&rod(l));
        assert_eq!(status(&found, "gradient"), Status::Holds, "l = {l}");
        assert!(unique(&found), "l = {l}: {found:?}");
    }
}

/// The coordinates of the bar are zero at its start, and what its gaps add is not.
#[test]
fn the_gradient_of_a_gap_does_not_depend_on_the_end_of_the_run() {
    let scene = find_in_gallery("v-groove-bar").expect("in the gallery");
    let text = scene.source().text().to_string();
    for until in ["0.002", "0.004", "0.02", "0.07", "0.3"] {
        let other = text.replace("until = 0.2", &format!("until = {until}"));
        assert_ne!(text, other);
        let found = page(&other);
        assert_eq!(status(&found, "gradient"), Status::Holds, "until {until}");
    }
}

#[test]
fn a_zero_that_full_steps_leap_over_is_found() {
    for (gap, start) in [
        ("tanh(y)", "y = 1.5"),
        ("tanh(3*y - x)", "x = 0.2\ny = 2"),
        ("atan(y)", "y = 40"),
        ("exp(y) - 1", "y = 20"),
        // Beside the middle of a ring the slope leads far beyond it.
        ("0.09 - x^2 - y^2", "x = 0.001"),
    ] {
        let text = particle("", "0", "0.3")
            .replace("gap = \"y\"", &format!("gap = \"{gap}\""))
            .replace("x_dot = 2", start)
            .replace("until = 0.3", "until = 0.02");
        assert_eq!(status(&page(&text), "gradient"), Status::Holds, "{gap}");
    }
}

/// Numbers that cancel hide a double zero long before the slope is gone.
#[test]
fn a_double_zero_is_seen_through_the_rounding_of_its_terms() {
    for (gap, start) in [
        ("y^2 - 2*y + 1", "y = 1.8"),
        ("1 - cos(y)", "y = 0.7"),
        ("cosh(y) - 1", "y = 2"),
    ] {
        let text = particle("", "0", "0.3")
            .replace(
                "gap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3",
                &format!("gap = \"{gap}\""),
            )
            .replace("x_dot = 2", start);
        let message = parse(&text).err();
        let message = message.unwrap_or_else(|| panic!("{gap} was accepted"));
        assert!(
            message.contains("gradient") && message.contains("floor"),
            "{message}"
        );
    }
}

/// A particle in space over the plane z = 0, its gap written in other ways.
fn in_space(gap: &str) -> String {
    format!(
        "title = \"particle\"\nstep = 1e-3\nuntil = 0.02\nimpact = \"inelastic\"\n[system]\n\
         coordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\npotential = \"9.81*z\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"{gap}\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = 0.3\n\
         [initial]\nz = 0.6\nx_dot = 1\n"
    )
}

/// Where a gap overflows nothing touches.
#[test]
fn a_particle_is_one_whatever_its_gap_grows_to_far_away() {
    let planar = |gap: &str, unit: f64| {
        particle("", "0", "0.3")
            .replace("gap = \"y\"", &format!("gap = \"{gap}\""))
            .replace("9.81*y", &format!("{}*y", 9.81 * unit))
            .replace(
                "x_dot = 2",
                &format!("x_dot = {}\ny = {}", 2.0 * unit, 0.4 * unit),
            )
    };
    let mut texts = Vec::new();
    for gap in ["exp(2*y) - 1", "1 - exp(-y)", "sinh(y)", "exp(y) - exp(-y)"] {
        texts.push(planar(gap, 1.0));
        texts.push(in_space(&gap.replace('y', "z")));
    }
    texts.push(planar("exp(y/1000) - 1", 1000.0));
    texts.push(planar("1 - exp(-y/1000)", 1000.0));
    for text in texts {
        let found = page(&text);
        assert_eq!(
            status(&found, "particle"),
            Status::Holds,
            "{text}: {found:?}"
        );
        assert!(
            covered(&found, "existence").contains(&Status::Holds),
            "{text}"
        );
    }
}

/// A row of slip that has another length a tenth of a metre away, in metres and in millimetres.
#[test]
fn rows_of_slip_are_judged_in_the_lengths_of_the_scene() {
    for unit in [1e-3, 1.0, 1e3, 1e6] {
        let text = particle("", "-9*x", "0.01")
            .replace(
                "point = [\"x\", \"y\"]",
                &format!(
                    "slip = [\"(1 + {}*max(0, x - {}))*x'\"]",
                    5.0 / unit,
                    0.1 * unit
                ),
            )
            .replace("9.81*y", &format!("{}*y", 9.81 * unit))
            .replace("x_dot = 2", &format!("x_dot = {}", 2.0 * unit));
        assert_eq!(status(&page(&text), "particle"), Status::Fails, "{unit}");
    }
}

/// A bead of unit mass on a wire, a wall beside it.
fn bead(equation: &str, start: &str) -> String {
    format!(
        "title = \"bead\"\nstep = 1e-3\nuntil = 0.02\nlaw = \"frictionless\"\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
         kinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\npotential = \"9.81*z\"\n[[joints]]\nname = \"wire\"\nequation = \"{equation}\"\n\
         [[contacts]]\nname = \"wall\"\ngap = \"x + 3\"\n[initial]\n{start}\n"
    )
}

/// No impulse along a gradient that is not there holds a joint.
#[test]
fn a_joint_without_a_gradient_is_refused() {
    for (equation, start) in [
        ("(z - 2)^2", "z = 2"),
        ("1e6*(z - 2)^3", "x = 1\nz = 2"),
        ("(z - 2)^2 + (x - 1)^2", "x = 1\nz = 2"),
        ("x^2 + y^2 + z^2", "x = 0"),
        ("z^2 - 2*z + 1", "y = 3\nz = 1"),
        ("1 - cos(z)", "z = 0"),
        ("x*z", "y = 1"),
    ] {
        let message = parse(&bead(equation, start)).err();
        let message = message.unwrap_or_else(|| panic!("{equation} was accepted"));
        assert!(
            message.contains("gradient") && message.contains("wire"),
            "{message}"
        );
    }
    for (equation, start) in [
        ("z - 2", "z = 2"),
        ("1e-9*(z - 2)", "z = 2"),
        ("1e9*sin(z)", "z = 0"),
        ("x*z", "x = 1"),
        ("x^2 + z^2 - 16", "z = -4"),
        ("(z - 2)*(1 + (z - 2)^2)", "z = 2"),
        ("x - 3*cos(y) + 3", "z = 1"),
    ] {
        let found = page(&bead(equation, start));
        assert_eq!(status(&found, "independent"), Status::Holds, "{equation}");
        assert_eq!(
            status(&found, "gradient"),
            Status::Holds,
            "{equation}: {found:?}"
        );
    }
}
