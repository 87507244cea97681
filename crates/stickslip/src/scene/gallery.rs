//! The scenes that come with the engine, embedded in the binary.

use super::expression::nearest_name;
use super::source::SourceText;

/// A scene of the gallery: its name and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GalleryScene {
    /// Name on the command line; the file is `crates/stickslip/scenes/NAME.toml`.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

impl GalleryScene {
    /// The text, named as a file for messages.
    #[must_use]
    pub fn source(&self) -> SourceText {
        SourceText::new(format!("{}.toml", self.name), self.text)
    }
}

macro_rules! scenes {
    ($($name:literal,)*) => {
        &[$(GalleryScene {
            name: $name,
            text: include_str!(concat!("../../scenes/", $name, ".toml")),
        },)*]
    };
}

/// From one contact without friction to several with friction, then space, then the past, then elastic bodies, then worlds.
const SCENES: &[GalleryScene] = scenes![
    "bouncing-ball",
    "sliding-block",
    "block-on-incline",
    "coulomb-oscillator",
    "flat-force",
    "corner-billiard",
    "newtons-cradle",
    "slender-rod",
    "painleve-rod",
    "painleve-bar",
    "chalk",
    "two-foot-block",
    "v-groove-bar",
    "rough-corner",
    "acute-corner",
    "pinned-bar",
    "wedge",
    "refined-bar",
    "tangential-impact",
    "painleve-start",
    "coulomb-plate",
    "own-impact-map",
    "kane-pendulum",
    "fremond-impact",
    "anisotropic-slider",
    "rolling-disc",
    "particle-on-sphere",
    "particle-in-bowl",
    "rocking-block",
    "woodpecker",
    "slider-crank",
    "chain",
    "spinning-top",
    "ring-slide",
    "joint-pendulum",
    "spinning-ball",
    "pd-arm",
    "stribeck-belt",
    "delayed-oscillator",
    "stick-slip",
    "delayed-hopper",
    "delayed-oscillator-free",
    "machining-chatter",
    "distributed-delay",
    "ice-patch",
    "bar-impact",
    "bar-penalty",
    "painleve-penalty",
    "elastic-bar",
    "elastic-beam",
    "elastic-block",
    "elastic-disc",
    "elastic-two-blocks",
    "bowed-reed",
    "elastic-ring",
    "brake-pad",
    "bar-sticks",
    "bar-reverses",
    "bar-jams",
    "bar-both-ends",
    "friction-creep",
    "friction-chatter",
    "machining-varying-speed",
    "sliding-ball",
    "spinning-ball-bounces",
    "tipping-box",
    "ladder-on-wall",
    "slab-on-rollers",
    "conveyor",
    "three-cylinders",
    "four-balls",
    "dominoes",
    "wall-and-ball",
    "masonry-arch",
    "masonry-arch-thin",
    "box-pyramid",
    "card-house",
    "heavy-tower",
    "grain-column-plane",
    "grain-column",
    "hopper",
    "rotating-drum",
    "grain-heap",
    "brazil-nut",
    "ball-cradle",
    "top-of-shapes",
    "rattleback-of-shapes",
    "dice",
];

/// All scenes, in the order of the gallery.
///
/// ```
/// use stickslip::scene::{Scene, find_in_gallery, gallery};
///
/// let ball = gallery().iter().find(|scene| scene.name == "bouncing-ball").ok_or("no such scene")?;
/// assert_eq!(Scene::parse(ball.source())?.coordinate_names(), ["y"]);
/// assert!(find_in_gallery("no-such-scene").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn gallery() -> &'static [GalleryScene] {
    SCENES
}

/// The scene with this name.
#[must_use]
pub fn find_in_gallery(name: &str) -> Option<&'static GalleryScene> {
    SCENES.iter().find(|scene| scene.name == name)
}

/// The name of the gallery nearest to `name`, for messages.
#[must_use]
pub fn nearest_in_gallery(name: &str) -> Option<&'static str> {
    nearest_name(name, SCENES.iter().map(|scene| scene.name))
}
