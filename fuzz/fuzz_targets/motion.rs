//! No motion may make its judge panic, whatever it says of itself.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use stickslip::scene::{Scene, find_in_gallery};
use stickslip::simulation::verify::Motion;

fuzz_target!(|text: &str| {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    let scene = SCENE.get_or_init(|| {
        let block = find_in_gallery("sliding-block").expect("a scene of the gallery");
        Scene::parse(block.source()).expect("a scene of the gallery")
    });
    if let Ok(motion) = Motion::from_json(text) {
        let _ = scene.verify(&motion, None);
    }
});
