//! The page with its data.

use serde::Serialize;
use stickslip::view::ViewData;
use thiserror::Error;

use crate::base64;

/// The built page, packed with zlib.
const PAGE: &[u8] = include_bytes!("../assets/view.html.z");
/// The engine for browsers, packed with zlib.
const ENGINE: &[u8] = include_bytes!("../assets/engine.wasm.z");
/// Where the data goes.
const PLACE: &str = "<!--stickslip-data-->";

/// Most bytes of packed data in a page.
pub const DATA_MAX: usize = 50_000_000;
/// Effort of packing: more gains little on tables.
const LEVEL: u8 = 6;

/// Why a page could not be written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PageError {
    /// The run is too large for a page.
    #[error("the page would hold {size} MB of data, more than {} MB; --fps {fps} would fit", DATA_MAX / 1_000_000)]
    TooLarge {
        /// Size in millions of bytes.
        size: usize,
        /// Frames per second that would fit.
        fps: String,
    },
}

/// A scene that the page runs itself.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LiveScene {
    /// Name.
    pub name: String,
    /// Text of the scene.
    pub scene: String,
    /// What a guide says beside it, as paragraphs.
    pub guide: Vec<String>,
    /// Map of regimes: names and ranges (from, to) of two parameters.
    pub map: Option<[(String, f64, f64); 2]>,
    /// Gap up to which a contact counts as active in verdicts.
    pub gap: f64,
}

/// A page in the making.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    parts: String,
}

/// The built page without data.
#[must_use]
pub fn template() -> String {
    unpacked(PAGE)
}

/// The engine for browsers, packed with zlib, as text in base 64.
#[must_use]
pub fn engine() -> String {
    base64::encode(ENGINE)
}

fn unpacked(packed: &[u8]) -> String {
    // The file is part of the program: a test unpacks it.
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib(packed).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// JSON inside a page: no text of it may end the script it lies in, or begin another.
fn inside(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

impl Page {
    /// A page with a title and nothing to show.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_string(),
            parts: String::new(),
        }
    }

    /// Adds a run; two are compared.
    pub fn with_run(mut self, run: &ViewData) -> Result<Self, PageError> {
        let encoded = run.encode();
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&encoded.bytes, LEVEL);
        if packed.len() > DATA_MAX {
            let span = run.times.last().copied().unwrap_or(1.0);
            let frames = run.times.len() as f64 * 0.9 * DATA_MAX as f64 / packed.len() as f64;
            return Err(PageError::TooLarge {
                size: packed.len() / 1_000_000,
                fps: format!("{:.3}", frames / span),
            });
        }
        self.parts.push_str(&format!(
            "<script type=\"application/json\" class=\"run-head\">{}</script>\n\
             <script type=\"application/octet-stream\" class=\"run-data\">{}</script>\n",
            inside(&encoded.head),
            base64::encode(&packed)
        ));
        Ok(self)
    }

    /// Adds the engine and a scene that it runs.
    #[must_use]
    pub fn with_live(mut self, scene: &LiveScene) -> Self {
        // Plain data with text keys.
        let json = serde_json::to_string(scene).unwrap_or_default();
        self.parts.push_str(&format!(
            "<script type=\"application/json\" id=\"live\">{}</script>\n\
             <script type=\"application/octet-stream\" id=\"engine\">{}</script>\n",
            inside(&json),
            engine()
        ));
        self
    }

    /// Adds markup of the caller's own, for sites.
    #[must_use]
    pub fn with_markup(mut self, markup: &str) -> Self {
        self.parts.push_str(markup);
        self
    }

    /// The page.
    #[must_use]
    pub fn html(&self) -> String {
        let title = format!("<title>{}</title>", escaped(&self.title));
        let page = template().replacen("<title>Stickslip</title>", &title, 1);
        page.replacen(PLACE, &self.parts, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickslip::scene::{Scene, find_in_gallery};
    use stickslip::view::ViewOptions;

    fn ball() -> ViewData {
        let source = find_in_gallery("bouncing-ball").unwrap().source();
        let scene = Scene::parse(source).unwrap();
        let options = ViewOptions {
            frames_max: 20,
            ..ViewOptions::default()
        };
        ViewData::of_run(&scene, "bouncing-ball", &options).unwrap()
    }

    #[test]
    fn the_kept_files_are_whole() {
        let page = template();
        assert_eq!(page.matches(PLACE).count(), 1);
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(
            PAGE.len() < 250_000,
            "the page without data has {} bytes",
            PAGE.len()
        );
        assert!(
            PAGE.len() + ENGINE.len() < 1_300_000,
            "{}",
            PAGE.len() + ENGINE.len()
        );
        let wasm = miniz_oxide::inflate::decompress_to_vec_zlib(ENGINE).unwrap();
        assert_eq!(&wasm[..8], b"\0asm\x01\0\0\0");
    }

    #[test]
    fn texts_of_a_scene_cannot_end_the_script_they_lie_in() {
        let mut run = ball();
        run.title = "a </script><script>alert(1)</script> <!-- b & c".to_string();
        let page = Page::new(&run.title).with_run(&run).unwrap().html();
        let plain = template();
        // One script of data and one of numbers more than the page itself has.
        let scripts = |text: &str| text.matches("</script>").count();
        assert_eq!(scripts(&page), scripts(&plain) + 2);
        assert!(page.contains("<title>a &lt;/script&gt;&lt;script&gt;alert(1)"));
        assert!(!page.contains("<script>alert(1)"));
        assert!(!page.contains(PLACE));
    }

    #[test]
    fn nothing_is_asked_of_a_network() {
        let page = Page::new("t")
            .with_run(&ball())
            .unwrap()
            .with_live(&LiveScene::default());
        let page = page.html();
        for word in ["src=\"http", "href=\"http", "@import", "url(http"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
