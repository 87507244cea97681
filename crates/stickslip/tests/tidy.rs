//! House rules that a compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

/// What each module may import of ours.
const IMPORTS: [(&str, &[&str]); 9] = [
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

/// Source without its test module.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("readable source");
    text.split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .to_string()
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
        if method && text.contains("# What it computes") {
            for section in [
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
            for word in ["todo!(", "unimplemented!(", ": f32", "as f32"] {
                if line.contains(word) {
                    wrong.push(format!("{}: `{word}`", place()));
                }
            }
            // Clocks do not exist everywhere: the library reads its own.
            let clock = path.ends_with("stickslip/src/clock.rs")
                || path.to_string_lossy().contains("stickslip-cli");
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
