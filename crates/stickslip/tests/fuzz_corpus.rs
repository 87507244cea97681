//! No text may make the reader of scenes panic, and whatever it refuses it refuses with a reason.
//!
//! Replays what fuzzing found interesting (`fuzz/corpus`; see `fuzz/run` for how it is made), and damages scenes of the gallery
//! and the files of the corpora in random ways.

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

/// The files of a corpus, each cut and with bits turned as well.
fn each_damaged(target: &str, mut read: impl FnMut(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut files: Vec<PathBuf> = fs::read_dir(folder.join(target))
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{target}");
    let mut state = 0x5eed_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n.max(1)
    };
    for path in files {
        let bytes = fs::read(&path).expect("a file");
        read(&bytes);
        for _ in 0..40 {
            let mut damaged = bytes.clone();
            damaged.truncate(1 + below(2 * bytes.len()).min(bytes.len() - 1));
            for _ in 0..1 + below(4) {
                let at = below(damaged.len());
                damaged[at] = match below(3) {
                    0 => damaged[at] ^ 1 << below(8),
                    1 => b"0-9 eE.\n"[below(8)],
                    _ => 0xff,
                };
            }
            read(&damaged);
        }
    }
}

#[test]
fn damaged_files_do_not_make_their_readers_panic() {
    use stickslip::internals::read_matrix_market;
    use stickslip::simulation::Checkpoint;
    use stickslip::simulation::verify::Motion;
    use stickslip::systems::elastodynamic::Mesh;
    each_damaged("gmsh", |bytes| drop(Mesh::read_gmsh(bytes)));
    each_damaged("matrix_market", |bytes| {
        drop(read_matrix_market(&String::from_utf8_lossy(bytes)));
    });
    let block = stickslip::scene::find_in_gallery("sliding-block").expect("a scene");
    let scene = Scene::parse(block.source()).expect("a scene");
    each_damaged("motion", |bytes| {
        if let Ok(motion) = Motion::from_json(&String::from_utf8_lossy(bytes)) {
            drop(scene.verify(&motion, None));
        }
    });
    let whole = scene.simulation().expect("a simulation").checkpoint();
    let first = serde_json::to_string(&whole).expect("JSON");
    assert!(Checkpoint::unsealed(first.as_bytes()).is_ok());
    assert!(
        Checkpoint::from_bytes(first.as_bytes()).is_err(),
        "no digest"
    );
    // Other formats are told.
    let old = first.replacen("\"version\":3", "\"version\":1", 1);
    assert!(old != first && Checkpoint::unsealed(old.as_bytes()).is_err());
    let mut run = scene.simulation().expect("a simulation");
    for k in 0..first.len() {
        for sign in [b'9', b'-', b'e'] {
            let mut damaged = first.clone().into_bytes();
            damaged[k] = sign;
            if let Ok(checkpoint) = Checkpoint::unsealed(&damaged) {
                if run.restore(checkpoint).is_ok() {
                    let end = run.state().t + 1e-3;
                    run.step_towards(end);
                }
            }
        }
    }
}

#[cfg(feature = "fclib")]
#[test]
fn damaged_problem_files_do_not_make_their_reader_panic() {
    use stickslip::contact::fclib::FclibFile;
    each_damaged("fclib", |bytes| {
        drop(FclibFile::from_bytes(bytes.to_vec(), "corpus.hdf5"));
    });
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

#[cfg(feature = "fclib")]
#[test]
fn a_chunk_longer_than_its_file_is_refused_before_it_is_unpacked() {
    let path = "../../fuzz/corpus/fclib/chunk-longer-than-its-file.hdf5";
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file");
    let error = stickslip::contact::fclib::FclibFile::from_bytes(bytes, "chunk.hdf5").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("fclib_global/M/i"), "{text}");
    assert!(
        text.contains("more than a file of this length can hold"),
        "{text}"
    );
}
