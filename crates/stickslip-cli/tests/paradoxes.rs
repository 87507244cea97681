//! Indeterminacy on the command line: inspect, branches, verify, maps, attainable sets, branches in runs.

use crate::common::Folder;

#[test]
fn inspect_shows_sets_and_judges_the_impact_map() {
    let folder = Folder::new("inspect");
    let (out, _) = folder.expect(0, &["inspect", "painleve-bar"]);
    assert!(out.contains("interval [-inf, 0.600000]"), "{out}");
    assert!(out.contains("sliding allowed in firm contact: backward"));
    let corner = ["inspect", "own-impact-map", "--at", "x=0", "--at", "y=0"];
    let (out, _) = folder.expect(0, &corner);
    assert!(out.contains("(4)") && !out.contains("VIOLATED"), "{out}");
    let (out, _) = folder.expect(0, &[&corner[..], &["--set", "e1=1.2"]].concat());
    assert!(out.contains("VIOLATED by 0.2:"), "{out}");
    folder.expect(1, &["inspect", "painleve-bar", "--at", "nothing=1"]);
}

/// Every scene has a configuration to look at; rows of a mesh tell the velocities that they hold.
#[test]
fn inspect_shows_every_scene_of_the_gallery() {
    let folder = Folder::new("inspect-gallery");
    for scene in stickslip::scene::gallery() {
        folder.expect(0, &["inspect", scene.name, "--samples", "5"]);
    }
    let (out, _) = folder.expect(0, &["inspect", "elastic-two-blocks", "--gap", "1e-3"]);
    let normal = out.lines().find(|line| line.contains("normal row"));
    assert!(normal.is_some_and(|row| row.contains("vy")), "{out}");
}

/// Velocities of a contact are those of the state, whatever its impact law reads of them.
#[test]
fn inspect_shows_the_velocity_of_the_state_under_every_impact_law() {
    let folder = Folder::new("inspect-velocity");
    let velocity = |scene: &str, impact: &str| -> Vec<f64> {
        let file = folder.write("scene.toml", scene);
        let (out, _) = folder.expect(0, &["inspect", &file, "--impact", impact]);
        let line = out.lines().find(|line| line.contains("local velocity"));
        let line = line.unwrap_or_else(|| panic!("{out}"));
        let words = line.split_whitespace().skip(2);
        words.map(|x| x.parse().expect("a number")).collect()
    };
    let ball = |space: bool, slip: &str| {
        let (coordinates, energy, up, more) = match space {
            true => (
                "\"x\", \"y\", \"z\"",
                "(x'^2 + y'^2 + z'^2)/2",
                "z",
                "y_dot = 4\n",
            ),
            false => ("\"x\", \"y\"", "(x'^2 + y'^2)/2", "y", ""),
        };
        format!(
            "title = \"ball\"\nuntil = 0.01\nstep = 1e-3\n[system]\ncoordinates = [{coordinates}]\n\
             kinetic_energy = \"{energy}\"\n[[contacts]]\nname = \"floor\"\ngap = \"{up}\"\n{slip}\n\
             friction = 0.2\nrestitution = 0.6\n[initial]\nx_dot = 5\n{more}{up}_dot = -2\n"
        )
    };
    let plane = ball(false, "point = [\"x\", \"y\"]");
    let belt = ball(false, "slip = \"x' - 1.5\"");
    let space = ball(true, "slip = [\"x'\", \"y' + 0.5\"]");
    for impact in ["newton", "moreau", "fremond", "poisson", "energetic"] {
        assert_eq!(velocity(&plane, impact), [-2.0, 5.0], "{impact}");
        assert_eq!(velocity(&belt, impact), [-2.0, 3.5], "{impact}");
        assert_eq!(velocity(&space, impact), [-2.0, 5.0, 4.5], "{impact}");
    }
    // Bodies: a ball on a plate that rises.
    let world = "title = \"plate\"\nuntil = 0.01\nstep = 1e-3\n[world]\n[[materials]]\nname = \"wood\"\ndensity = 700\nfriction = 0.2\n\
         restitution = 0.6\n[[bodies]]\nname = \"plate\"\nmotion = { position = [0, 0, \"0.5*t - 0.05\"] }\nshape = { box = [2, 2, 0.1] }\n\
         [[bodies]]\nname = \"ball\"\nshape = { ball = 0.1 }\nposition = [0, 0, 0.1]\nvelocity = [0, 0, -2]\n";
    for impact in ["newton", "moreau", "fremond"] {
        assert_eq!(velocity(world, impact), [-2.5, 0.0, 0.0], "{impact}");
    }
}

#[test]
fn branches_lists_separation_jam_and_slide() {
    let folder = Folder::new("branches");
    let found = folder.json(0, &["branches", "painleve-start", "--gap", "1e-3"]);
    let solutions = found["solutions"].as_array().expect("a list");
    assert_eq!(solutions.len(), 3);
    assert_eq!(found["verdict"], "indeterminate");
    assert_eq!(found["motions"], 3);
    assert!(solutions[0]["impulses"]["unique"].is_boolean());
    for solution in solutions {
        assert!(solution["residual"].as_f64().expect("a number") < 1e-12);
    }
}

#[test]
fn verify_accepts_its_own_run_and_refuses_a_changed_motion() {
    let folder = Folder::new("verify");
    folder.expect(0, &["run", "pinned-bar", "--output", "run", "--quiet"]);
    folder.expect(0, &["verify", "run", "--problem", "P3'"]);
    folder.expect(1, &["verify", "run", "--problem", "P9"]);
    // Free flight of the bar, once with the right velocity and once too fast.
    for (v, code) in [(0.2, 0), (0.3, 2)] {
        let text = format!(
            r#"{{"nodes": [{{"t": 0.0, "q": [0.0], "v_left": [0.0], "v_right": [0.0]}},
                          {{"t": 0.1, "q": [0.01], "v_left": [{v}], "v_right": [{v}]}}]}}"#
        );
        let file = folder.write("motion.json", &text);
        let (out, _) = folder.expect(
            code,
            &["verify", &file, "--scene", "pinned-bar", "--problem", "P3'"],
        );
        assert!(code == 0 || out.contains("equation of motion"), "{out}");
    }
}

#[test]
fn verify_finds_the_formulation_of_a_run_and_the_steps_that_were_not_kept() {
    let folder = Folder::new("verify-own");
    let short = ["--quiet", "--until", "0.3"];
    for (name, problem) in [("chain", "P6"), ("slender-rod", "P6"), ("ice-patch", "P3")] {
        folder.expect(0, &[&["run", name, "--output", name][..], &short].concat());
        let (out, _) = folder.expect(0, &["verify", name]);
        assert!(out.contains(&format!("accepted under {problem}")), "{out}");
        assert_eq!(name == "chain", out.contains("computed again"), "{out}");
        // Under another coefficient of friction neither the kept steps nor their reactions are right.
        let scene = folder.path(name).join("scene.toml");
        let text = std::fs::read_to_string(&scene).expect("a scene");
        let changed = text
            .replace("mu = 0.4", "mu = 0.39")
            .replace("mu = 0.3", "mu = 0.29");
        std::fs::write(&scene, changed).expect("written");
        let (out, _) = folder.expect(2, &["verify", name]);
        let line = match name {
            "chain" => "a kept step is not that of the scene",
            _ => "outside its friction set",
        };
        assert!(out.contains(line), "{out}");
    }
    folder.expect(
        0,
        &[&["run", "bar-penalty", "--output", "soft"][..], &short].concat(),
    );
    let (out, _) = folder.expect(3, &["verify", "soft"]);
    assert!(
        out.contains("does not apply: the contacts are compliant"),
        "{out}"
    );
    folder.expect(3, &["verify", "soft", "--problem", "P5"]);
    folder.expect(3, &["verify", "chain", "--problem", "P5"]);
    let found = folder.json(3, &["verify", "soft"]);
    assert!(found["does_not_apply"].is_string(), "{found}");
}

#[test]
fn maps_and_attainable_sets_are_drawn() {
    let folder = Folder::new("paradox-study");
    let map = ["study", "map", "painleve-rod", "--x", "theta0=0.6:1.3:5"];
    let formula = "(1/3 + cos(theta0)^2)/(sin(theta0)*cos(theta0))";
    let rest = [
        "--y",
        "mu=1:3:5",
        "--of",
        "margin",
        "--level",
        "0",
        "--formula",
        formula,
    ];
    let (out, _) = folder.expect(0, &[&map[..], &rest[..]].concat());
    assert!(out.contains("5 of them belong to the formula"), "{out}");
    assert!(folder.path("study/map.png").exists() && folder.path("study/map.svg").exists());
    let of = [
        "--y",
        "mu=0.1:0.9:3",
        "--of",
        "coordinates.x",
        "--until",
        "0.1",
    ];
    let (out, _) = folder.expect(
        0,
        &[
            &["study", "map", "sliding-block", "--x", "v0=1:2:3"][..],
            &of[..],
        ]
        .concat(),
    );
    assert!(out.contains("9  numbers"), "{out}");
    let found = folder.json(
        0,
        &["study", "attainable", "painleve-rod", "--samples", "200"],
    );
    assert_eq!(found["expected"]["limit"], "pair");
    assert!(folder.path("study/attainable.png").exists());
    // What the text tells, and whether the samples speak against it.
    let told = found["text"].as_str().expect("a sentence");
    assert!(told.contains("A_eps tends to a pair"), "{told}");
    assert!(found["doubt"].is_null() || found["doubt"].is_string());
}

#[test]
fn a_run_follows_its_branches_or_stops() {
    let folder = Folder::new("several");
    folder.expect(0, &["run", "painleve-start", "--output", "all"]);
    assert!(folder.path("all/branches.json").exists());
    assert!(folder.path("all/plots/branches.png").exists());
    assert!(folder.path("all/plots/margin.png").exists());
    let stop = [
        "run",
        "painleve-start",
        "--on-several",
        "stop",
        "--output",
        "one",
    ];
    let summary = folder.json(2, &stop);
    assert_eq!(summary["outcome"], "stopped");
    assert!(summary["thresholds"]["criticality"].is_number());
    let (out, _) = folder.expect(0, &["study", "start", "painleve-start", "--until", "0.02"]);
    assert!(out.contains("penalty") && out.contains("branch 3"), "{out}");
    assert!(folder.path("study/start.png").exists());
    let words = [
        "study",
        "start",
        "painleve-start",
        "--until",
        "0.02",
        "--json",
    ];
    let (out, _) = folder.expect(0, &words);
    let told: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let motions = told["motions"].as_array().expect("motions");
    // Moreau's S, the generalized law, two compliance times, and every branch of Coulomb's law.
    assert!(motions.len() >= 6, "{}", motions.len());
    assert!(
        motions
            .iter()
            .all(|m| m["t"].as_array().is_some_and(|t| t.len() > 1))
    );
}

#[test]
fn verify_judges_a_run_under_another_problem_and_refuses_what_says_how_it_is_made() {
    let folder = Folder::new("verify-changed");
    folder.write(
        "box.toml",
        "title = \"box\"\nstep = 2e-3\nuntil = 0.4\n[parameters]\nmu = 0.25\nmass = 3\n[system]\ncoordinates = [\"x\", \"y\"]\n\
         kinetic_energy = \"mass*(x'^2 + y'^2)/2\"\npotential = \"9*mass*y\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = \"mu\"\n[initial]\nx_dot = 0.6\n",
    );
    let run = ["run", "box.toml", "--no-plots", "--output"];
    folder.expect(0, &[&run[..], &["whole"]].concat());
    folder.expect(0, &[&run[..], &["thin", "--every", "4"]].concat());
    let judged = |code: i32, run: &str, options: &[&str]| {
        let (out, err) = folder.expect(code, &[&["verify", run][..], options].concat());
        out + &err
    };
    // The same problem in other words, and one with other friction.
    judged(0, "whole", &["--set", "mu=1/4"]);
    judged(0, "whole", &["--law", "coulomb", "--set", "mass=3"]);
    let said = judged(2, "whole", &["--set", "mu=0.26"]);
    assert!(
        said.contains("friction law") && !said.contains("energies"),
        "{said}"
    );
    assert!(judged(2, "whole", &["--set", "mass=4"]).contains("impact"));
    // What has no meaning for a run that is there is refused by name.
    for option in [
        "--scheme=event-driven",
        "--step=1e-3",
        "--until=0.2",
        "--every=2",
    ] {
        let name = option.split('=').next().expect("a name");
        assert!(judged(1, "whole", &[option]).contains(name), "{option}");
    }
    for option in [
        "--tolerance=1e-3",
        "--projection=none",
        "--on-several=stop",
        "--scene=box.toml",
    ] {
        let name = option.split('=').next().expect("a name");
        assert!(judged(1, "whole", &[option]).contains(name), "{option}");
    }
    assert!(judged(1, "whole", &["--set", "nosuch=1"]).contains("nosuch"));
    let rows = judged(1, "whole", &["--law", "frictionless"]);
    assert!(rows.contains("has 2 rows of contacts"), "{rows}");
    let thin = judged(1, "thin", &["--set", "mu=0.26"]);
    assert!(thin.contains("computed again"), "{thin}");
    judged(0, "thin", &[]);
}

#[test]
fn files_that_are_no_motions_are_bad_input() {
    let folder = Folder::new("verify-files");
    folder.write(
        "drop.toml",
        "title = \"drop\"\nuntil = 1\n[system]\ncoordinates = [\"y\"]\nkinetic_energy = \"y'^2\"\npotential = \"8*y\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"y\"\n",
    );
    let judged = |code: i32, nodes: &str| {
        folder.write("m.json", &format!("{{\"nodes\": [{nodes}]}}"));
        let (out, err) = folder.expect(code, &["verify", "m.json", "--scene", "drop.toml"]);
        out + &err
    };
    let first = r#"{"t": 0, "q": [0], "v_left": [0], "v_right": [0], "atom": [0]}"#;
    let rests = |t: f64, smooth: &str| {
        let state = r#""q": [0], "v_left": [0], "v_right": [0]"#;
        format!(r#"{first}, {{"t": {t}, {state}, "smooth": [{smooth}], "atom": [0]}}"#)
    };
    judged(0, &rests(0.5, "4"));
    assert!(judged(1, "").contains("no nodes"));
    assert!(judged(1, &rests(0.0, "0")).contains("node 1"));
    assert!(judged(1, &rests(0.5, "4, 0")).contains("`smooth` of node 1 has length 2"));
    // Left out is none, and told.
    let silent = format!(r#"{first}, {{"t": 0.5, "q": [0], "v_left": [0], "v_right": [0]}}"#);
    let said = judged(2, &silent);
    assert!(said.contains("1 of 2 nodes leave out"), "{said}");
}
