//! No checkpoint may make a run panic, neither when it is read nor when the run goes on from it.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use stickslip::scene::{Scene, find_in_gallery};
use stickslip::simulation::Checkpoint;

fuzz_target!(|bytes: &[u8]| {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    let scene = SCENE.get_or_init(|| {
        let block = find_in_gallery("sliding-block").expect("a scene of the gallery");
        Scene::parse(block.source()).expect("a scene of the gallery")
    });
    let Ok(checkpoint) = Checkpoint::unsealed(bytes) else {
        return;
    };
    let mut run = scene.simulation().expect("a scene of the gallery");
    if run.restore(checkpoint).is_ok() {
        let end = run.state().t + 1e-2;
        for _ in 0..5 {
            if run.step_towards(end).outcome.is_fatal() {
                break;
            }
        }
        let _ = run.checkpoint();
    }
});
