//! What the command line says of results: certified or not, several motions, events, hypotheses, verdicts.

use crate::common::Folder;
use serde_json::Value;
use stickslip::internals::quantity::digits;

fn events<'a>(summary: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = summary["events"].as_array().expect("a list of events");
    all.iter().filter(|e| e["kind"] == kind).collect()
}

/// What was asked of the solver does not move the limit of the certificate.
#[test]
fn a_loose_tolerance_is_told_and_not_certified() {
    let folder = Folder::new("loose");
    let loose = |output: &'static str| {
        let scene = ["run", "elastic-two-blocks", "--until", "0.01"];
        let how = ["--tolerance", "1e-2", "--no-plots", "--output", output];
        [&scene[..], &how[..]].concat()
    };
    let summary = folder.json(2, &loose("one"));
    let certificate = &summary["certificate"];
    assert_eq!(summary["certified"], false);
    assert_eq!(certificate["solved_to_tolerance"], true);
    assert_eq!(certificate["limit"], 1e-8);
    let reached = certificate["worst"].as_f64().expect("a number");
    assert!(reached > 1e-8 && reached < 0.1, "{reached}");
    // The words say the same, and the user may take it.
    let (out, _) = folder.expect(2, &loose("two"));
    let told = "Solved to the tolerance asked, not certified";
    assert!(out.contains(told), "{out}");
    assert!(
        out.contains(&format!("worst residual {}", digits(reached, 2))),
        "{reached:e}: {out}"
    );
    folder.expect(0, &[&loose("three")[..], &["--accept-tolerance"]].concat());
    // A tolerance that was asked and is tight enough is certified.
    let tight = ["run", "sliding-block", "--tolerance", "1e-12", "--no-plots"];
    let tight = [&tight[..], &["--output", "tight"]].concat();
    assert_eq!(folder.json(0, &tight)["certified"], true);
    // One whose positions drift by more than that part of the motion is not saved by the option either.
    let drifts = ["run", "elastic-two-blocks", "--tolerance", "1e-6"];
    let how = ["--no-plots", "--output", "drifts", "--accept-tolerance"];
    let summary = folder.json(2, &[&drifts[..], &how[..]].concat());
    assert_eq!(summary["certificate"]["solved_to_tolerance"], false);
    assert_eq!(summary["positions"]["hold"], false);
    assert!(summary["certificate"]["worst"].as_f64() > Some(1e-8));
    // A run that stops is not saved by the option.
    let stop = [
        "run",
        "painleve-start",
        "--on-several",
        "stop",
        "--accept-tolerance",
        "--output",
        "stop",
    ];
    folder.expect(2, &stop);
}

/// A tower whose steps were solved to a tenth falls apart; who verifies it asks for more than its solver did.
#[test]
fn verify_does_not_move_its_limit_with_the_tolerance_asked() {
    let folder = Folder::new("loosely-verified");
    let run = |tolerance: &'static str, output: &'static str| {
        let scene = ["run", "heavy-tower", "--until", "0.3", "--no-plots"];
        [&scene[..], &["--tolerance", tolerance, "--output", output]].concat()
    };
    folder.expect(2, &run("0.05", "loose"));
    for options in [&[][..], &["--accept-tolerance"]] {
        let (out, _) = folder.expect(2, &[&["verify", "loose"][..], options].concat());
        assert!(
            out.starts_with("refused") && out.contains("friction law"),
            "{out}"
        );
    }
    folder.expect(0, &run("1e-8", "tight"));
    folder.expect(0, &["verify", "tight"]);
    // What holds to the tolerance asked is told so, and may be taken: friction of 0.3003 where it is 0.3.
    folder.write(
        "slide.toml",
        "title = \"slide\"\nuntil = 1\ntolerance = 1e-2\n[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"x'^2 + y'^2\"\n\
         potential = \"20*y\"\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3\n[initial]\nx_dot = 5\n",
    );
    folder.write(
        "slide.json",
        r#"{"discretisation": {"start-of-step": {"contact_gap": 0}}, "nodes": [
            {"t": 0, "q": [0, 0], "v_left": [5, 0], "v_right": [5, 0]},
            {"t": 0.1, "q": [0.46997, 0], "v_left": [5, -1], "v_right": [4.6997, 0], "atom": [2, -0.6006]}]}"#,
    );
    let verify = ["verify", "slide.json", "--scene", "slide.toml"];
    let (out, _) = folder.expect(2, &verify);
    let told = "accepted to the tolerance asked (0.01), not under the limit";
    assert!(out.contains(told), "{out}");
    folder.expect(0, &[&verify[..], &["--accept-tolerance"]].concat());
    let found = folder.json(2, &verify);
    assert_eq!(found["to_tolerance"], 1e-2);
    folder.expect(
        2,
        &[&verify[..], &["--tolerance", "1e-6", "--accept-tolerance"]].concat(),
    );
}

#[test]
fn several_motions_dependent_rows_and_hypotheses_are_told() {
    let folder = Folder::new("several-told");
    let run = [
        "run",
        "v-groove-bar",
        "--law",
        "coulomb",
        "--until",
        "0.1",
        "--output",
        "groove",
    ];
    let summary = folder.json(0, &run);
    let several = summary["certificate"]["several_solutions"].as_u64();
    assert!(several > Some(0), "{}", summary["certificate"]);
    let theorems = summary["hypotheses"]["theorems"]
        .as_array()
        .expect("a list");
    assert!(theorems.len() >= 5);
    // Who chose is told, and where there was nothing to choose from.
    let warned = |summary: &Value, words: &str| {
        let all = summary["warnings"].as_array().expect("a list");
        let told = all
            .iter()
            .any(|w| w.as_str().is_some_and(|w| w.contains(words)));
        assert!(told, "{words}: {all:?}");
    };
    let stop = [
        "run",
        "v-groove-bar",
        "--law",
        "coulomb",
        "--no-plots",
        "--output",
        "stops",
    ];
    let stopped = folder.json(2, &[&stop[..], &["--on-several", "stop"]].concat());
    warned(&stopped, "the run stopped before it took one");
    let argmin = [
        "run",
        "painleve-start",
        "--law",
        "argmin",
        "--no-plots",
        "--output",
        "argmin",
    ];
    warned(
        &folder.json(0, &argmin),
        "`on_several` has nothing to choose from here",
    );
    // Moreau's S in the plane is Coulomb's law where friction does not jam: its motions are listed, and the run may stop at them.
    let groove = [
        "run",
        "v-groove-bar",
        "--law",
        "argmin",
        "--impact",
        "inelastic",
    ];
    let stop = [
        "--no-plots",
        "--output",
        "groove-stops",
        "--on-several",
        "stop",
    ];
    let stopped = folder.json(2, &[&groove[..], &stop[..]].concat());
    warned(&stopped, "the run stopped before it took one");
    warned(&stopped, "several solutions in 1 step,");
    // Why a motion was not examined is told: one contact is not too many.
    folder.write(
        "hop.toml",
        "title = \"hop\"\nuntil = 0.5\nimpact = \"poisson\"\n[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"x'^2 + y'^2\"\n\
         potential = \"18*y\"\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.3\nrestitution = 0.5\n\
         [initial]\nx_dot = 1\ny = 0.1\n",
    );
    let phases = ["run", "hop.toml", "--no-plots", "--output", "phases"];
    let phases = folder.json(0, &phases);
    warned(
        &phases,
        "both phases of the impact law `poisson` are not listed",
    );
    let warnings = phases["warnings"].to_string();
    assert!(!warnings.contains("more contacts"), "{warnings}");
    let found = folder.json(0, &["branches", "v-groove-bar", "--law", "coulomb"]);
    assert_eq!(found["verdict"], "indeterminate");
    assert_eq!(found["motions"], 2);
}

#[test]
fn events_of_runs_are_told_with_their_numbers() {
    let folder = Folder::new("told-events");
    let rod = folder.json(
        0,
        &["run", "painleve-rod", "--until", "0.02", "--output", "rod"],
    );
    let found = events(&rod, "tangential-impact");
    assert_eq!(found.len(), 1, "{}", rod["events"]);
    let impulse = found[0]["impulse"].as_f64().expect("newton seconds");
    assert!((impulse - 1.628).abs() < 5e-3, "{impulse}");
    let ball = folder.json(
        0,
        &[
            "run",
            "bouncing-ball",
            "--scheme",
            "event-driven",
            "--output",
            "ball",
        ],
    );
    let first = events(&ball, "impact")[0]["t"].as_f64().expect("a time");
    assert!((first - (0.8f64 / 9.81).sqrt()).abs() < 1e-9, "{first}");
    assert_eq!(events(&ball, "accumulation").len(), 1);
    let kane = folder.json(
        0,
        &[
            "run",
            "kane-pendulum",
            "--until",
            "0.05",
            "--output",
            "kane",
        ],
    );
    let gain = events(&kane, "energy-gain")[0]["energy"].as_f64();
    assert!(gain > Some(0.0), "{gain:?}");
    assert!(
        kane["warnings"].to_string().contains("gained energy"),
        "{}",
        kane["warnings"]
    );
}

#[test]
fn attainable_sets_at_gamma_zero_and_fans_of_neighbours_are_told() {
    let folder = Folder::new("gamma-zero");
    let degenerate = ["painleve-rod", "--set", "mu=4/3", "--set", "theta0=atan(2)"];
    let found = folder.json(0, &[&["study", "attainable"][..], &degenerate].concat());
    assert_eq!(found["expected"]["limit"], "segment", "{found}");
    let fan = [
        "study",
        "neighbours",
        "bouncing-ball",
        "--scheme",
        "event-driven",
        "--until",
        "0.5",
        "--nudge",
        "1e-6",
        "--runs",
        "6",
    ];
    let (out, _) = folder.expect(0, &fan);
    assert!(out.contains("shrink"), "{out}");
}

/// A scene with rigid contacts is made compliant by its study, and the order is that of the compliance time.
#[test]
fn the_limit_of_stiff_contacts_is_studied_for_rigid_scenes_too() {
    let folder = Folder::new("stiff");
    for scene in ["bar-impact", "bar-penalty"] {
        let study = [
            "study",
            "convergence",
            scene,
            "--compliance-times",
            "8e-3,4e-3,2e-3",
            "--until",
            "0.2",
        ];
        let found = folder.json(0, &study);
        let order = found["order"].as_f64().expect("an order");
        assert!((order - 1.0).abs() < 0.25, "{scene}: {found}");
    }
}

/// Differences to the finest run are not its errors: of 4, 2 and 1 they are 3 and 1, whose plain order is 1.58 for 1. Penalty tends to its limit
/// at order 1, implicit steps through a smooth force at order 1, too.
#[test]
fn orders_against_the_finest_run_allow_for_its_own_error() {
    let folder = Folder::new("finest");
    folder.write(
        "swing.toml",
        "title = \"Swing\"\nscheme = \"moreau\"\nstep = 1e-3\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\n\
         kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"2*x^2\"\n[[contacts]]\ngap = \"y\"\n[initial]\nx = 1\n",
    );
    let times = ["--compliance-times", "2e-3,1e-3,5e-4", "--until", "0.2"];
    for (scene, values, limit) in [
        // Steps of these are small enough for a twentieth of an error, which differences of errors show doubled.
        ("bar-penalty", &times[..], 0.15),
        ("swing.toml", &["--steps", "8e-3,4e-3,2e-3"], 0.02),
        ("swing.toml", &["--steps", "9e-3,4e-3,3e-3,2e-3"], 0.02),
    ] {
        let study = [
            &["study", "convergence", scene, "--against", "finest"],
            values,
        ]
        .concat();
        let found = folder.json(0, &study);
        let order = found["order"].as_f64().expect("an order");
        assert!((order - 1.0).abs() < limit, "{scene}: {found}");
    }
}

/// Friction falls below zero at x = 1, which a body of 3 m/s passes.
#[test]
fn a_study_says_in_words_why_its_run_stopped() {
    let folder = Folder::new("stopped-study");
    folder.write(
        "ice.toml",
        "title = \"Ice\"\nscheme = \"moreau\"\nstep = 1e-2\nuntil = 2\n[system]\ncoordinates = [\"x\", \"y\"]\n\
         kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"10*y\"\n[[contacts]]\nname = \"ground\"\ngap = \"y\"\n\
         point = [\"x\", \"y\"]\nfriction = \"0.2 - 0.2*x\"\n[initial]\nx_dot = 3\n",
    );
    let study = ["study", "convergence", "ice.toml", "--against", "x=1,y=0"];
    let (_, err) = folder.expect(1, &study);
    assert!(
        err.contains("the friction coefficient of contact `ground` became negative"),
        "{err}"
    );
}

/// Rows of meshes are sparse. By hand: the foot of a beam of many elements of mass m has 1/(M⁻¹)ₙₙ = m/√3 along the beam, m = 0.003 kg/6, and
/// its bending does not move it there.
#[test]
fn the_attainable_velocities_of_a_mesh_are_studied() {
    let folder = Folder::new("mesh");
    let few = ["--samples", "60", "--epsilons", "0.01"];
    let args = [&["study", "attainable", "bowed-reed"], &few[..]].concat();
    let found = folder.json(0, &args);
    let gamma = found["expected"]["gamma"].as_f64().expect("a number");
    assert!((gamma * 3f64.sqrt() / 2000.0 - 1.0).abs() < 1e-6, "{found}");
}

/// Adds a number to one column of a middle row of a trajectory.
fn falsify(path: &std::path::Path, column: usize, columns: usize, part: f64) {
    let mut bytes = std::fs::read(path).expect("a trajectory");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let rows = (bytes.len() - header) / (8 * columns);
    let at = |row: usize| header + 8 * (row * columns + column);
    let value = |bytes: &[u8], row: usize| {
        f64::from_le_bytes(bytes[at(row)..at(row) + 8].try_into().expect("8 bytes"))
    };
    let size = (0..rows).map(|row| value(&bytes, row).abs());
    let size = size.fold(0.0, f64::max);
    let size = if size > 0.0 { size } else { 1.0 };
    // The last row but one, in which the block slides.
    let row = rows - 2;
    let new = value(&bytes, row) + part * size;
    bytes[at(row)..at(row) + 8].copy_from_slice(&new.to_le_bytes());
    std::fs::write(path, bytes).expect("written");
}

/// A thousandth of the size of a column, added in one row, is refused: by what the row says itself, and where the column is no
/// more than a diagnosis, by the digest of the file.
#[test]
fn a_trajectory_with_a_changed_number_is_refused() {
    let folder = Folder::new("falsified");
    folder.write(
        "block.toml",
        r#"
        title = "block dropped on a moving floor"
        step = 2e-3
        until = 0.1
        scheme = "moreau-jean"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "0.7*(x'^2 + y'^2)/2"
        potential = "0.7*9.81*y + 5*x^2"
        forces = { x = "u - 0.1*x'" }
        [[controllers]]
        name = "pd"
        period = 0.01
        output = { u = "2*(0.1 - x) - 0.3*x'" }
        [[contacts]]
        name = "floor"
        gap = "y - 0.001*t"
        point = ["x", "y"]
        friction = 0.1
        restitution = 0.3
        [initial]
        y = 0.002
        x_dot = 2
        "#,
    );
    folder.expect(0, &["run", "block.toml", "--no-plots", "--output", "run"]);
    folder.expect(0, &["verify", "run"]);
    let path = folder.path("run/trajectory.npy");
    let whole = std::fs::read(&path).expect("a trajectory");
    let (columns, _) = crate::common::npy_shape(&path);
    for (k, column) in columns.iter().enumerate() {
        falsify(&path, k, columns.len(), 1e-3);
        let (out, _) = folder.expect(2, &["verify", "run"]);
        assert!(
            out.contains("was changed after the run wrote it"),
            "{column}: {out}"
        );
        std::fs::write(&path, &whole).expect("written");
    }
    // Without the digest.
    std::fs::remove_file(folder.path("run/checkpoint.json")).expect("removed");
    folder.expect(0, &["verify", "run"]);
    let diagnoses = ["residual", ".gamma", ".margin", ".u_n", ".u_t1", "left_"];
    for (k, column) in columns.iter().enumerate() {
        if diagnoses.iter().any(|name| column.contains(name)) {
            continue;
        }
        falsify(&path, k, columns.len(), 1e-3);
        let (out, _) = folder.expect(2, &["verify", "run"]);
        let line = match column.as_str() {
            "floor.gap" | "floor.mode" => {
                "a contact whose velocity or mode is not that of the motion"
            }
            "kinetic" | "potential" => "energies that are not those of the motion",
            "pd.u" => "an output of a controller that is not that of its sample",
            name if name.starts_with("energy.") => "energies that are not those of the motion",
            _ => "",
        };
        assert!(out.contains(line), "{column}: {out}");
        std::fs::write(&path, &whole).expect("written");
    }
}

/// Springs read no restitution: that is told, and how deep they are pressed.
#[test]
fn laws_that_springs_do_not_read_are_told() {
    let folder = Folder::new("springs");
    folder.write(
        "ball.toml",
        "title = \"ball\"\nstep = 1e-3\nuntil = 0.2\nscheme = \"penalty\"\ncompliance_time = 1e-2\n[system]\n\
         coordinates = [\"y\"]\nkinetic_energy = \"y'^2/2\"\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\n\
         restitution = 0.5\n[initial]\ny = 0.1\ny_dot = -1\n",
    );
    let run = ["run", "ball.toml", "--no-plots", "--output", "run"];
    let summary = folder.json(0, &run);
    let warnings = summary["warnings"].to_string();
    assert!(
        warnings.contains("`floor`: the restitution 0.5 is not read"),
        "{warnings}"
    );
    // Half a period of the spring: v tau deep.
    let depth = summary["positions"]["penetration"]["value"].as_f64();
    let depth = depth.expect("a depth");
    assert!((depth - 0.01).abs() < 2e-4, "{depth}");
    assert_eq!(summary["positions"]["drift"]["value"], 0.0);
}
