//! No text may make the reader of scenes panic, and whatever it refuses it refuses with a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::scene::{Changes, Scene, SourceText};

fuzz_target!(|text: &str| {
    let source = SourceText::new("fuzz.toml", text);
    let changes = Changes::new().parameter("m", "2*pi").key("step", "0.01");
    if let Ok(changed) = changes.apply(&source) {
        let _ = Scene::parse(changed).map_err(|error| error.to_string());
    }
    match Scene::parse(source) {
        Ok(scene) => {
            let (q, _) = scene.initial_state();
            if let Some(drawing) = scene.drawing() {
                let _ = drawing.at(0.0, &q);
            }
        }
        Err(error) => {
            assert!(!error.diagnostics().is_empty());
            assert!(error.to_string().starts_with("error: "));
            let _ = error.findings();
        }
    }
});
