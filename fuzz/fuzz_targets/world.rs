//! No world may make the reader or the first steps panic: it is refused with a reason, stops with one, or moves.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use stickslip::scene::{Scene, SourceText};

#[path = "../world_text.rs"]
mod world_text;

fuzz_target!(|bytes: &[u8]| {
    let text = world_text::world_text(bytes);
    let Ok(scene) = Scene::parse(SourceText::new("fuzz.toml", text)) else {
        return;
    };
    let Ok(mut run) = scene.simulation() else {
        return;
    };
    run.run_until(scene.settings.until, |record| match record.step {
        5.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
});
