//! The command line through the real binary: answers, mistakes, exit codes.

use crate::common::{BLOCK, Folder, npy_last_row, npy_shape, summary_text};

#[test]
fn list_shows_one_scene_a_line_and_show_explains_it() {
    let folder = Folder::new("list");
    let (out, _) = folder.expect(0, &["list"]);
    let names: Vec<&str> = out
        .lines()
        .map(|line| line.split_whitespace().next().expect("a name"))
        .collect();
    assert!(names.len() >= 19 && names.contains(&"woodpecker"), "{out}");
    let (out, _) = folder.expect(0, &["show", names[0]]);
    for part in [
        "Bouncing ball",
        "Look for:",
        "Source:",
        "e = 0.81",
        "[system]",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    let list = folder.json(0, &["list"]);
    assert_eq!(list[0]["name"], "bouncing-ball");
}

#[test]
fn the_text_of_a_scene_is_a_scene_file() {
    let folder = Folder::new("text");
    let (text, _) = folder.expect(0, &["show", "sliding-block", "--text"]);
    folder.write("mine.toml", &text);
    let (out, _) = folder.expect(0, &["check", "mine.toml"]);
    assert!(out.contains("no mistakes"), "{out}");
}

#[test]
fn every_subcommand_has_help_with_an_example() {
    let folder = Folder::new("help");
    for command in [
        "list",
        "show",
        "check",
        "run",
        "plot",
        "compare",
        "schema",
        "completions",
        "validate",
    ] {
        let (out, _) = folder.expect(0, &[command, "--help"]);
        assert!(out.contains("Example"), "{command}:\n{out}");
    }
    let (out, _) = folder.expect(0, &["--help"]);
    assert!(out.contains("Exit codes"), "{out}");
    folder.expect(0, &["--version"]);
}

#[test]
fn wrong_options_are_bad_input() {
    let folder = Folder::new("options");
    for arguments in [
        &["run"][..],
        &["walk"],
        &["run", "bouncing-ball", "--every", "none"],
        &["run", "bouncing-ball", "--every", "0"],
        &["run", "bouncing-ball", "--set", "mu"],
        &["run", "bouncing-ball", "--set", "nothing=1"],
        &["run", "bouncing-ball", "--threads", "0"],
        &["run", "bouncing-ball", "--step", "-1"],
        &["run", "bouncing-ball", "--until", "nan"],
        &["run", "bouncing-ball", "--tolerance", "0"],
        &["run", "bouncing-ball", "--scheme", "euler"],
        &["run", "bouncing-ball", "--law", "coulomd"],
        &["run", "bouncing-ball", "--impact", "nweton"],
        &["run", "bouncing-ball", "--resume", "there"],
        &["run", "--resume", "nowhere"],
        &["plot", "nowhere"],
        &["check", "nowhere.toml"],
        &["compare", "bouncing-ball"],
        &["completions", "cmd"],
    ] {
        let (_, err) = folder.expect(1, arguments);
        assert!(err.contains("error"), "{arguments:?}: {err}");
    }
}

#[test]
fn an_unknown_scene_gets_the_nearest_name() {
    let folder = Folder::new("nearest");
    let (_, err) = folder.expect(1, &["run", "bouncing-bal"]);
    assert!(err.contains("did you mean `bouncing-ball`?"), "{err}");
    let (_, err) = folder.expect(1, &["run", "bouncing-ball", "--impact", "nweton"]);
    assert!(err.contains("did you mean `newton`?"), "{err}");
    let (_, err) = folder.expect(1, &["run", "bouncing-ball", "--set", "h=1"]);
    assert!(err.contains("no parameter `h`"), "{err}");
}

#[test]
fn check_reports_all_mistakes_with_their_places() {
    let folder = Folder::new("check");
    let broken = BLOCK
        .replace("until = 0.5", "untill = 0.5")
        .replace("\"mu\"", "\"muu\"")
        .replace("m*g*y", "m*g*(y");
    folder.write("broken.toml", &broken);
    let (out, err) = folder.expect(1, &["check", "broken.toml"]);
    assert!(out.is_empty(), "{out}");
    for part in [
        "broken.toml:3:1",
        "unknown key `untill`",
        "did you mean `until`?",
        "^^^^^^",
        "did you mean `mu`?",
        "broken.toml:14:",
        "3 mistakes",
    ] {
        assert!(err.contains(part), "{part} is missing in\n{err}");
    }
    // Colours are for terminals only.
    assert!(!err.contains('\x1b'), "{err:?}");
    let json = folder.json(1, &["check", "broken.toml"]);
    let mistakes = json["mistakes"].as_array().expect("a list");
    assert_eq!(mistakes.len(), 3);
    assert_eq!(
        (&mistakes[0]["line"], &mistakes[0]["column"]),
        (&3.into(), &1.into())
    );
    let (_, err) = folder.expect(1, &["run", "broken.toml"]);
    assert!(err.contains("3 mistakes") && !folder.path("runs").exists());
}

#[test]
fn files_that_are_no_scenes_are_refused() {
    let folder = Folder::new("no-scenes");
    std::fs::write(folder.path("bytes.toml"), [0xff, 0xfe, 0x00]).expect("a file");
    let (_, err) = folder.expect(1, &["run", "bytes.toml"]);
    assert!(err.contains("UTF-8"), "{err}");
    let (_, err) = folder.expect(1, &["run", "."]);
    assert!(err.contains("cannot read"), "{err}");
    folder.expect(1, &["check", "/dev/zero"]);
}

#[test]
fn the_summary_tells_the_run() {
    let folder = Folder::new("summary");
    folder.write("block.toml", BLOCK);
    let json = folder.json(0, &["run", "block.toml", "--output", "out"]);
    assert_eq!(json["format"], 1);
    assert_eq!(json["scene"], "block");
    assert_eq!(
        (&json["steps"], &json["outcome"]),
        (&500.into(), &"finished".into())
    );
    assert_eq!(json["certified"], true);
    // The block stops at v0/(mu g) after v0^2/(2 mu g); the scheme is of order one.
    let (stop, way) = (1.0 / (0.3 * 9.81), 0.5 / (0.3 * 9.81));
    let x = json["coordinates"]["x"].as_f64().expect("x");
    assert!((x - way).abs() < 2e-3, "{x} {way}");
    assert!(json["velocities"]["x"].as_f64().expect("x'").abs() < 1e-12);
    let events = json["events"].as_array().expect("events");
    let stick = events
        .iter()
        .find(|event| event["kind"] == "stick")
        .expect("it sticks");
    assert_eq!(stick["contact"], "plane");
    assert!((stick["t"].as_f64().expect("a time") - stop).abs() < 2.1e-3);
    // Everything that was there went into friction and the scheme; the account closes.
    let energy = &json["energy"];
    let totals = energy["totals"].as_object().expect("terms");
    let term = |name: &str| totals[name].as_f64().expect("a number");
    let supply: f64 = totals
        .keys()
        .filter(|name| !name.ends_with("_change"))
        .map(|name| term(name))
        .sum();
    let change = energy["end"].as_f64().expect("end") - energy["start"].as_f64().expect("start");
    assert!((change - supply).abs() < 1e-12, "{change} {supply}");
    assert!(term("contact_tangential") < -0.49);
    assert_eq!(energy["closed"], true);
    assert!(energy["worst_imbalance"].as_f64().expect("a number") < 1e-14);
    let worst = json["certificate"]["natural_map"]["value"].as_f64();
    assert!(worst.expect("a number") <= 1e-10);
    assert!(json["wall_time"].as_f64().expect("seconds") > 0.0);
    // The folder holds the same.
    for file in [
        "run.json",
        "scene.toml",
        "trajectory.npy",
        "summary.json",
        "certificate.json",
        "checkpoint.json",
        "plots/energy.png",
    ] {
        assert!(folder.path("out").join(file).exists(), "{file}");
    }
    let text = std::fs::read_to_string(folder.path("out/summary.json")).expect("a summary");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON"),
        json
    );
}

#[test]
fn the_words_say_what_happened_and_where_things_are() {
    let folder = Folder::new("words");
    let (out, err) = folder.expect(0, &["run", "bouncing-ball"]);
    for part in [
        "Bouncing ball: finished at t = 3.5 s after 3500 steps",
        "First impact at t = 0.286 s (floor)",
        "Where the energy went",
        "impacts (normal) took 3.92",
        "Certified",
        "--step 0.0005",
        "runs/bouncing-ball/plots",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    assert!(err.is_empty(), "{err}");
    // A second run does not touch the first.
    let (out, _) = folder.expect(0, &["run", "bouncing-ball", "--no-plots"]);
    assert!(
        out.contains("runs/bouncing-ball-2") && !out.contains("Plots"),
        "{out}"
    );
    let (_, err) = folder.expect(
        1,
        &["run", "bouncing-ball", "--output", "runs/bouncing-ball"],
    );
    assert!(err.contains("already holds a run"), "{err}");
}

#[test]
fn quiet_says_nothing() {
    let folder = Folder::new("quiet");
    let (out, err) = folder.expect(0, &["run", "bouncing-ball", "--quiet", "--output", "out"]);
    assert!(out.is_empty() && err.is_empty(), "{out}{err}");
    assert!(folder.path("out/summary.json").exists() && !folder.path("out/plots").exists());
}

#[test]
fn options_change_the_scene_as_run() {
    let folder = Folder::new("set");
    folder.write("block.toml", BLOCK);
    let json = folder.json(
        0,
        &[
            "run",
            "block.toml",
            "--output",
            "out",
            "--set",
            "mu=2*0.25",
            "--set",
            "v0=2",
            "--law",
            "argmin",
            "--impact",
            "inelastic",
            "--scheme",
            "moreau",
            "--step",
            "5e-4",
            "--until",
            "0.6",
            "--tolerance",
            "1e-11",
            "--every",
            "7",
        ],
    );
    assert_eq!(json["parameters"]["mu"], 0.5);
    assert_eq!(json["parameters"]["v0"], 2.0);
    for (key, value) in [
        ("law", "argmin"),
        ("impact", "inelastic"),
        ("scheme", "moreau"),
    ] {
        assert_eq!(json[key], value);
    }
    for (key, value) in [("step", 5e-4), ("until", 0.6), ("tolerance", 1e-11)] {
        assert_eq!(json[key], value);
    }
    let way = 4.0 / (2.0 * 0.5 * 9.81);
    assert!((json["coordinates"]["x"].as_f64().expect("x") - way).abs() < 2e-3);
    // The scene of the folder is the scene as run: it gives the same run.
    folder.expect(
        0,
        &["run", "out/scene.toml", "--quiet", "--output", "again"],
    );
    let first = std::fs::read(folder.path("out/trajectory.npy")).expect("a trajectory");
    assert_eq!(
        first,
        std::fs::read(folder.path("again/trajectory.npy")).expect("a trajectory")
    );
}

#[test]
fn thinning_keeps_the_last_step_and_the_whole_account() {
    let folder = Folder::new("thin");
    folder.write("block.toml", BLOCK);
    folder.expect(0, &["run", "block.toml", "--quiet", "--output", "all"]);
    folder.expect(
        0,
        &[
            "run",
            "block.toml",
            "--quiet",
            "--output",
            "thin",
            "--every",
            "120",
        ],
    );
    let (columns, rows) = npy_shape(&folder.path("all/trajectory.npy"));
    assert_eq!(rows, 501);
    for name in [
        "t",
        "x",
        "v_x",
        "left_x",
        "plane.gap",
        "plane.mode",
        "plane.p_n",
        "plane.p_t1",
    ] {
        assert!(
            columns.iter().any(|column| column == name),
            "{name} in {columns:?}"
        );
    }
    // The start, steps 120, 240, 360, 480 and the last, 500.
    assert_eq!(npy_shape(&folder.path("thin/trajectory.npy")).1, 6);
    let all = npy_last_row(&folder.path("all/trajectory.npy"));
    assert_eq!(all, npy_last_row(&folder.path("thin/trajectory.npy")));
    let t = all.iter().find(|(name, _)| name == "t").expect("times");
    assert_eq!(t.1, 0.5);
}

#[test]
fn threads_do_not_change_a_bit() {
    let folder = Folder::new("threads");
    for threads in ["1", "2"] {
        folder.expect(
            0,
            &[
                "run",
                "slender-rod",
                "--quiet",
                "--output",
                threads,
                "--threads",
                threads,
            ],
        );
    }
    let read =
        |name: &str| std::fs::read(folder.path(name).join("trajectory.npy")).expect("a file");
    assert_eq!(read("1"), read("2"));
    assert_eq!(
        summary_text(&folder.path("1")),
        summary_text(&folder.path("2"))
    );
}

#[test]
fn a_run_that_cannot_be_certified_says_so() {
    let folder = Folder::new("stopped");
    // The coefficient of friction becomes negative at t = 0.3.
    let bad = BLOCK.replace("friction = \"mu\"", "friction = \"mu - t\"");
    folder.write("bad.toml", &bad.replace("v0 = 1", "v0 = 5"));
    let json = folder.json(2, &["run", "bad.toml", "--output", "out"]);
    assert_eq!(
        (&json["outcome"], &json["certified"]),
        (&"stopped".into(), &false.into())
    );
    assert!((json["time"].as_f64().expect("a time") - 0.3).abs() < 2.1e-3);
    assert!(json["reason"].as_str().expect("words").contains("`plane`"));
    let (out, _) = folder.expect(2, &["run", "--resume", "out", "--no-plots"]);
    assert!(
        out.contains("could not be made") && out.contains("NOT certified"),
        "{out}"
    );
}

#[test]
fn a_motion_that_blows_up_is_told_drawn_and_told_again() {
    let folder = Folder::new("blow-up");
    let bad = BLOCK.replace(
        "potential = \"m*g*y\"",
        "potential = \"m*g*y\"\nforces = { x = \"exp(2000*t)\" }",
    );
    folder.write("bad.toml", &bad);
    let json = folder.json(2, &["run", "bad.toml", "--output", "out"]);
    assert_eq!(json["outcome"], "stopped");
    assert!(json["time"].as_f64().expect("a time") < 0.4, "{json}");
    folder.expect(0, &["plot", "out"]);
    let (out, _) = folder.expect(2, &["run", "--resume", "out"]);
    assert!(out.contains("NOT certified"), "{out}");
}

#[test]
fn names_of_coordinates_may_be_those_of_the_books() {
    let folder = Folder::new("names");
    let text = BLOCK
        .replace("\"x\", \"y\"", "\"h\", \"dt\"")
        .replace("x'^2 + y'^2", "h'^2 + dt'^2")
        .replace("m*g*y", "m*g*dt")
        .replace("gap = \"y\"", "gap = \"dt\"")
        .replace("x_dot", "h_dot");
    let text = &text[..text.find("[[drawing]]").expect("a drawing")];
    folder.write("names.toml", text);
    folder.expect(0, &["run", "names.toml", "--output", "out"]);
    let (columns, _) = npy_shape(&folder.path("out/trajectory.npy"));
    let mut unique = columns.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), columns.len(), "{columns:?}");
    assert_eq!(columns[..5], ["t", "dt_", "h", "dt", "v_h"]);
}

#[test]
fn completions_know_the_subcommands() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (out, _) = folder.expect(0, &["completions", shell]);
        for word in ["compare", "resume", "checkpoint-every"] {
            assert!(out.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn the_schema_is_json_for_editors() {
    let folder = Folder::new("schema");
    let (out, _) = folder.expect(0, &["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(schema["properties"]["contacts"].is_object());
}

#[test]
fn comparison_gives_one_table_and_one_page() {
    let folder = Folder::new("compare");
    folder.write("block.toml", BLOCK);
    let (out, _) = folder.expect(
        0,
        &[
            "compare",
            "block.toml",
            "--laws",
            "coulomb,frictionless",
            "--steps",
            "1e-2,1e-3",
        ],
    );
    for part in [
        "coulomb, step 1e-2",
        "frictionless, step 1e-3",
        "x at the end",
        "certified",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    let page = std::fs::read_to_string(folder.path("compare/block/report.html")).expect("a page");
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(page.matches("<svg").count() >= 3 && page.contains("frictionless, step 1e-3"));
    // Nothing is fetched from anywhere.
    let own = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http", "<script", "<link", "@import", "src="] {
        assert!(!own.contains(word), "{word}");
    }
    // A variant that cannot be run is told; the others run.
    let json = folder.json(
        0,
        &[
            "compare",
            "block.toml",
            "--schemes",
            "moreau-jean,unheard-of",
            "--output",
            "second",
        ],
    );
    assert_eq!(json["variants"][0]["summary"]["certified"], true);
    let refused = json["variants"][1]["refused"].as_str().expect("a reason");
    assert!(refused.contains("unheard-of"), "{refused}");
    folder.expect(1, &["compare", "block.toml", "--laws", "a,b"]);
}

#[test]
fn studies_tell_orders_bounds_and_reactions() {
    let folder = Folder::new("study");
    let args = [
        "study",
        "convergence",
        "delayed-oscillator",
        "--until",
        "1.2",
    ];
    let (out, _) = folder.expect(0, &[&args[..], &["--output", "plots"]].concat());
    assert!(
        out.contains("order 1.0") || out.contains("order 0.9"),
        "{out}"
    );
    assert!(folder.path("plots/convergence.svg").exists());
    let times = ["--compliance-times", "2e-3,1e-3,5e-4", "--until", "0.2"];
    let study = folder.json(
        0,
        &[&["study", "convergence", "bar-penalty"], &times[..]].concat(),
    );
    let order = study["order"].as_f64().expect("a number");
    assert!(order > 0.6 && order < 1.5, "{study}");
    let (out, _) = folder.expect(0, &["study", "bounds", "delayed-oscillator"]);
    assert!(out.contains("all bounds hold"), "{out}");
    let (out, _) = folder.expect(0, &["study", "bounds", "bar-impact"]);
    assert!(out.contains("no bound is proved"), "{out}");
    let study = folder.json(0, &["study", "reactions", "bar-penalty"]);
    let atoms = &study["reactions"]["contacts"][0]["atoms"];
    assert_eq!(atoms.as_array().map(Vec::len), Some(1), "{study}");
    let (_, err) = folder.expect(1, &["study", "reactions", "sliding-block"]);
    assert!(err.contains("--compliance-time"), "{err}");
}
