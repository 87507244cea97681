//! No text may make the reader of scenes panic, and whatever it refuses it refuses with a reason.
//!
//! Replays what fuzzing found interesting (`fuzz/corpus/scene`; see `fuzz/Cargo.toml` for how it is
//! made), and damages scenes of the gallery in random ways.

use std::fs;
use std::path::{Path, PathBuf};

use stickslip::scene::{Changes, Scene, SourceText, gallery};

/// What hurts most in a scene.
const CHARACTERS: &[u8] = b"\"'[]{}=.,#\n\r+-*/^() 0x9_tm";

/// What the fuzz target does with one text.
fn read(text: &str, name: &str) {
    let source = SourceText::new("corpus.toml", text);
    let changes = Changes::new().parameter("m", "2*pi").key("step", "0.01");
    if let Ok(changed) = changes.apply(&source) {
        let _ = Scene::parse(changed);
    }
    match Scene::parse(source) {
        Ok(scene) => {
            if let Some(drawing) = scene.drawing() {
                let _ = drawing.at(0.0, &scene.initial_state().0);
            }
        }
        Err(error) => {
            assert!(!error.diagnostics().is_empty(), "{name}");
            assert!(error.to_string().starts_with("error: "), "{name}");
            let _ = error.findings();
        }
    }
}

#[test]
fn no_text_of_the_corpus_makes_the_reader_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scene");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 100, "only {} texts", files.len());
    for path in files {
        // The fuzzer works on bytes; only text reaches the reader, as in a file.
        if let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) {
            read(&text, &path.display().to_string());
        }
    }
}

#[test]
fn damaged_scenes_of_the_gallery_do_not_make_the_reader_panic() {
    let mut state = 0x5eed_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n.max(1)
    };
    let texts: Vec<Vec<u8>> = gallery()
        .iter()
        .map(|scene| scene.text.as_bytes().to_vec())
        .collect();
    for round in 0..600 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..1 + below(4) {
            let (at, length) = (below(text.len()), 1 + below(40));
            let end = (at + length).min(text.len());
            match below(4) {
                0 => drop(text.drain(at..end)),
                1 => text[at] = CHARACTERS[below(CHARACTERS.len())],
                2 => {
                    let copy = text[at..end].to_vec();
                    let to = below(text.len());
                    text.splice(to..to, copy);
                }
                _ => {
                    let other = &texts[below(texts.len())];
                    let from = below(other.len());
                    let piece = other[from..(from + length).min(other.len())].to_vec();
                    text.splice(at..end, piece);
                }
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        read(&text, &format!("round {round}:\n{text}"));
    }
}
