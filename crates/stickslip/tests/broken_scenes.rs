//! Every broken scene of `tests/broken_scenes/` is refused with exactly the message kept beside it.
//!
//! After a deliberate change of a message, `STICKSLIP_UPDATE=1 cargo test --test scenes broken_scenes`
//! writes the new ones; read the difference before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use stickslip::scene::{Scene, SourceText};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken_scenes")
}

fn scenes() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

/// What `check` would print.
fn message(path: &Path) -> Option<String> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let source = SourceText::new(name, fs::read_to_string(path).unwrap());
    match Scene::parse(source) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn broken_scenes_are_refused_with_the_recorded_message() {
    let update = std::env::var_os("STICKSLIP_UPDATE").is_some();
    let mut wrong = Vec::new();
    for path in scenes() {
        let expected = path.with_extension("txt");
        let Some(found) = message(&path) else {
            wrong.push(format!("{} was accepted", path.display()));
            continue;
        };
        if update {
            fs::write(&expected, &found).unwrap();
            continue;
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if found != wanted {
            wrong.push(format!(
                "{}:\n--- found\n{found}--- expected\n{wanted}",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_at_least_forty_and_each_message_has_a_place_or_a_reason() {
    // While messages are written, some may not exist yet.
    if std::env::var_os("STICKSLIP_UPDATE").is_some() {
        return;
    }
    let scenes = scenes();
    assert!(scenes.len() >= 40, "only {}", scenes.len());
    for path in scenes {
        let text = fs::read_to_string(path.with_extension("txt")).unwrap();
        assert!(text.starts_with("error: "), "{}", path.display());
        assert!(
            !text.contains('\u{1b}'),
            "{} drives the terminal",
            path.display()
        );
    }
}

/// No message may be kept for a scene that is gone.
#[test]
fn every_message_belongs_to_a_scene() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "txt") {
            assert!(path.with_extension("toml").exists(), "{}", path.display());
        }
    }
}
