//! House rules that a compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

/// What each module may import of ours.
const IMPORTS: [(&str, &[&str]); 10] = [
    ("algebra", &[]),
    ("laws", &["algebra"]),
    ("contact", &["algebra", "laws"]),
    ("solvers", &["algebra", "laws", "contact"]),
    ("systems", &["algebra", "laws", "contact"]),
    ("records", &["algebra", "contact"]),
    (
        "stepping",
        &["algebra", "laws", "contact", "systems", "records"],
    ),
    (
        "simulation",
        &[
            "algebra", "laws", "contact", "solvers", "systems", "records", "stepping",
        ],
    ),
    (
        "scene",
        &[
            "algebra",
            "laws",
            "contact",
            "solvers",
            "systems",
            "records",
            "stepping",
            "simulation",
        ],
    ),
    (
        "view",
        &[
            "algebra",
            "laws",
            "records",
            "systems",
            "simulation",
            "scene",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    found
}

/// The sources of every crate.
fn sources() -> Vec<PathBuf> {
    let mut crates: Vec<PathBuf> = fs::read_dir(root().join("crates"))
        .expect("crates")
        .map(|entry| entry.expect("an entry").path().join("src"))
        .collect();
    crates.sort();
    crates
        .iter()
        .flat_map(|source| files(source, "rs"))
        .collect()
}

/// Source without the items that only tests compile; lines keep their numbers.
fn code(path: &Path) -> String {
    without_tests(&fs::read_to_string(path).expect("readable source"))
}

fn without_tests(text: &str) -> String {
    let mark = "#[cfg(test)]";
    let mut kept = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(mark) {
        kept.push_str(&rest[..place]);
        let item = &rest[place + mark.len()..];
        // An item ends with its semicolon or with the brace that closes its first one.
        let mut depth = 0usize;
        let mut end = item.len();
        for (i, c) in item.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && (c == ';' || c == '}') {
                end = i + 1;
                break;
            }
        }
        kept.extend(item[..end].chars().filter(|&c| c == '\n'));
        rest = &item[end..];
    }
    kept.push_str(rest);
    kept
}

#[test]
fn what_only_tests_compile_is_left_out_and_nothing_else() {
    let text = "a\n#[cfg(test)]\nmod tests;\nb\n#[cfg(test)]\nmod more {\n    fn f() { g(); }\n}\nc.unwrap()\n";
    let code = without_tests(text);
    assert_eq!(code.lines().count(), text.lines().count());
    assert!(code.contains("c.unwrap()") && code.contains('b') && !code.contains("g()"));
    assert_eq!(code.lines().position(|l| l.contains("c.unwrap()")), Some(8));
}

fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tests.rs")
        || path.components().any(|c| c.as_os_str() == "tests")
}

#[test]
fn modules_import_along_the_chain_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (module, allowed) in IMPORTS {
        for path in files(&source.join(module), "rs") {
            if is_test(&path) {
                continue;
            }
            for line in code(&path)
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
            {
                for part in line.split("crate::").skip(1) {
                    let name: String = part
                        .chars()
                        .take_while(|c| c.is_alphanumeric() || *c == '_')
                        .collect();
                    let known = IMPORTS.iter().any(|(m, _)| *m == name);
                    if known && name != module && !allowed.contains(&name.as_str()) {
                        wrong.push(format!("{}: imports {name}", path.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Parts of methods that are none themselves.
const PARTS: [&str; 5] = [
    "laws/error.rs",
    "solvers/mod.rs",
    "solvers/progress.rs",
    "solvers/scaled_problem.rs",
    "solvers/strategy.rs",
];

/// Whether a file is a law, a solver or a scheme, which has a page with all sections.
fn is_method(path: &Path, text: &str) -> bool {
    let name = path.to_string_lossy().replace('\\', "/");
    let folder = |f: &str| path.parent().is_some_and(|p| p.ends_with(f));
    if is_test(path) || name.ends_with("/mod.rs") || PARTS.iter().any(|part| name.ends_with(part)) {
        return false;
    }
    let implements = [
        "TimeSteppingScheme for ",
        "ContactSolver for ",
        "ImpactRule for ",
    ];
    folder("src/laws") || folder("src/solvers") || implements.iter().any(|word| text.contains(word))
}

/// The files that the sections `# Tested by` of a page name.
fn tests_named(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in text.split("# Tested by").skip(1) {
        let lines = part.lines().skip(1).map(str::trim_start);
        let section: Vec<&str> = lines
            .take_while(|line| line.starts_with("//") && !line.contains("# "))
            .collect();
        let words = section.join(" ");
        let quoted = words.split('`').skip(1).step_by(2);
        names.extend(quoted.filter(|w| w.ends_with(".rs")).map(str::to_string));
    }
    names
}

/// Whether a test file exists, beside the crate or in its sources; a star stands for any end of the name.
fn test_exists(name: &str) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [
        source.to_path_buf(),
        source.join("src"),
        root(),
        root().join("crates"),
    ];
    places.iter().any(|place| match name.split_once('*') {
        None => place.join(name).exists(),
        Some((start, _)) => {
            let path = place.join(start);
            let (folder, prefix) = (path.parent(), path.file_name());
            let entries = folder.and_then(|f| fs::read_dir(f).ok());
            entries.into_iter().flatten().flatten().any(|entry| {
                let name = entry.file_name().to_string_lossy().to_string();
                prefix.is_some_and(|p| name.starts_with(&*p.to_string_lossy()))
            })
        }
    })
}

#[test]
fn sources_name_known_references_and_tests() {
    let keys = fs::read_to_string(root().join("REFERENCES.md")).expect("REFERENCES.md");
    let mut wrong = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).expect("readable source");
        // Every law, solver and scheme names its source with a known key and its tests.
        let method = ["src/laws/", "src/solvers/", "src/stepping/"]
            .iter()
            .any(|folder| path.to_string_lossy().contains(folder));
        if method && (is_method(&path, &text) || text.contains("# What it computes")) {
            for section in [
                "# What it computes",
                "# Source",
                "# Guarantees",
                "# Behaviour to know",
                "# Cost",
                "# Tested by",
            ] {
                if !text.contains(section) {
                    wrong.push(format!("{}: no section `{section}`", path.display()));
                }
            }
        }
        for name in tests_named(&text) {
            if !test_exists(&name) {
                wrong.push(format!(
                    "{}: tested by `{name}`, which does not exist",
                    path.display()
                ));
            }
        }
        for part in text.split("# Source").skip(1) {
            let section = part
                .split("///\n/// #")
                .next()
                .unwrap_or(part)
                .split("//!\n//! #")
                .next()
                .unwrap_or(part);
            for piece in section.split('[').skip(1) {
                let key: String = piece.chars().take_while(|c| c.is_alphanumeric()).collect();
                let like_a_key = key.len() > 5
                    && key.starts_with(|c: char| c.is_uppercase())
                    && key.ends_with(|c: char| c.is_ascii_digit());
                if like_a_key && !keys.contains(&format!("[{key}]")) {
                    wrong.push(format!("{}: unknown reference [{key}]", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn architecture_names_every_crate_and_module_and_only_paths_that_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = fs::read_dir(&source).expect("src");
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    for entry in modules.chain(crates) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .to_string();
            assert!(
                text.contains(&format!("`{name}`")) || text.contains(&format!("`crates/{name}`")),
                "ARCHITECTURE.md does not name `{name}`"
            );
        }
    }
    for part in text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|part| part.contains('/') && !part.contains(' '))
    {
        assert!(
            root().join(part).exists(),
            "ARCHITECTURE.md names `{part}`, which does not exist"
        );
    }
}

#[test]
fn no_loose_ends_in_the_source() {
    let mut wrong = Vec::new();
    for path in sources() {
        if is_test(&path) {
            continue;
        }
        let text = code(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let place = || format!("{}:{}", path.display(), i + 1);
            if line.trim_start().starts_with("//") {
                continue;
            }
            let above = i > 0 && lines[i - 1].trim_start().starts_with("//");
            if line.contains(".unwrap()") && !above && !line.contains("//") {
                wrong.push(format!("{}: unwrap without a reason", place()));
            }
            // Pixels are single precision in the library that draws them.
            let pixels = path.ends_with("plot/png.rs");
            for word in ["todo!(", "unimplemented!(", ": f32", "as f32"] {
                if line.contains(word) && !(pixels && word.ends_with("f32")) {
                    wrong.push(format!("{}: `{word}`", place()));
                }
            }
            // Clocks do not exist everywhere: the library reads its own.
            let front_end = ["stickslip-cli", "stickslip-python"];
            let name = path.to_string_lossy();
            let clock = path.ends_with("stickslip/src/clock.rs")
                || front_end.iter().any(|end| name.contains(end));
            if !clock && (line.contains("time::Instant") || line.contains("SystemTime")) {
                wrong.push(format!("{}: a clock outside `clock`", place()));
            }
            // Hash maps have no order: a file that uses one says that it never iterates over it.
            if line.contains("HashMap") && !text.contains("never iterated") {
                wrong.push(format!("{}: hash map", place()));
            }
        }
        if text.contains("TODO") {
            wrong.push(format!("{}: TODO", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn embedded_files_lie_inside_their_crate() {
    let mut embedded = 0;
    let mut wrong = Vec::new();
    for path in sources() {
        // Folders between the file and the root of its crate: `src` and what is below it.
        let below = path
            .components()
            .rev()
            .skip(1)
            .position(|c| c.as_os_str() == "src");
        let depth = below.expect("a source lies below src") + 1;
        let text = code(&path);
        for macro_call in ["include_str!(", "include_bytes!("] {
            for part in text.split(macro_call).skip(1) {
                embedded += 1;
                let argument = part.split(')').next().unwrap_or(part);
                if argument.matches("../").count() > depth || argument.contains("\"/") {
                    wrong.push(format!("{}: {argument}", path.display()));
                }
            }
        }
    }
    // The gallery and the reference cases at least.
    assert!(embedded >= 2, "only {embedded} embedded files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files of tests are modules of a few programs: one that no program names would never be run.
#[test]
fn every_file_of_tests_belongs_to_one_program() {
    for krate in ["stickslip", "stickslip-cli"] {
        let folder = root().join("crates").join(krate);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("Cargo.toml");
        let programs: Vec<&str> = manifest
            .split("[[test]]\nname = \"")
            .skip(1)
            .filter_map(|part| part.split('"').next())
            .collect();
        let mut modules = Vec::new();
        for program in &programs {
            let text = fs::read_to_string(folder.join(format!("tests/{program}.rs")));
            let text = text.expect("a program of tests");
            let names = text.lines().filter_map(|line| line.strip_prefix("mod "));
            modules.extend(names.map(|name| name.trim_end_matches(';').to_string()));
        }
        let mut found = 0;
        for entry in fs::read_dir(folder.join("tests")).expect("tests") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let name = path.file_stem().expect("a name").to_string_lossy();
            let program = programs.iter().any(|p| *p == name) as usize;
            let times = program + modules.iter().filter(|m| **m == name).count();
            assert_eq!(times, 1, "{} is named {times} times", path.display());
            found += 1;
        }
        assert!(found > 5, "only {found} files of tests in {krate}");
    }
}
