//! Letters of pictures: widths and outlines, from the fonts in `crates/stickslip-cli/fonts`.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, OutlineCurve};

static FONTS: LazyLock<Option<[FontRef<'static>; 2]>> = LazyLock::new(|| {
    let regular = FontRef::try_from_slice(include_bytes!("../../fonts/stickslip-sans-regular.ttf"));
    let bold = FontRef::try_from_slice(include_bytes!("../../fonts/stickslip-sans-bold.ttf"));
    // Embedded and tested: both can be read.
    Some([regular.ok()?, bold.ok()?])
});

/// Raised signs that the fonts lack, and the letters they are made of.
const RAISED: [(char, char); 4] = [('⁰', '0'), ('⁻', '−'), ('⁺', '+'), ('ⁿ', 'n')];
/// Size of a raised letter.
const RAISED_SIZE: f64 = 0.6;
/// Height of a raised letter over the base line, as a share of the type size.
const RAISED_HEIGHT: f64 = 0.35;

/// One letter of a line: its glyph, place along the line, size and height over the base line.
struct Letter {
    glyph: GlyphId,
    x: f64,
    size: f64,
    rise: f64,
}

/// The letters of a line that starts at 0, and its width.
fn set(font: &FontRef<'static>, text: &str, size: f64) -> (Vec<Letter>, f64) {
    let em = font.units_per_em().map_or(1.0, f64::from);
    let (mut letters, mut x) = (Vec::new(), 0.0);
    for c in text.chars() {
        let known = font.glyph_id(c);
        let raised = RAISED.iter().find(|(sign, _)| *sign == c && known.0 == 0);
        let (glyph, size, rise) = match raised {
            Some((_, letter)) => (
                font.glyph_id(*letter),
                RAISED_SIZE * size,
                RAISED_HEIGHT * size,
            ),
            None => (known, size, 0.0),
        };
        letters.push(Letter {
            glyph,
            x,
            size,
            rise,
        });
        x += f64::from(font.h_advance_unscaled(glyph)) * size / em;
    }
    (letters, x)
}

fn font(bold: bool) -> Option<&'static FontRef<'static>> {
    FONTS.as_ref().map(|fonts| &fonts[usize::from(bold)])
}

/// Width of a line of text.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    font(bold).map_or(0.0, |font| set(font, text, size).1)
}

/// A piece of the outline of letters, in drawing units from the start of the base line, y upwards.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// Begins a closed curve.
    Start([f64; 2]),
    /// A straight line.
    Line([f64; 2]),
    /// A curve with one control point.
    Quadratic([f64; 2], [f64; 2]),
    /// A curve with two control points.
    Cubic([f64; 2], [f64; 2], [f64; 2]),
}

/// Outlines of a line of text.
pub fn outlines(text: &str, size: f64, bold: bool) -> Vec<Piece> {
    let Some(font) = font(bold) else {
        return Vec::new();
    };
    let em = font.units_per_em().map_or(1.0, f64::from);
    let mut pieces = Vec::new();
    for letter in set(font, text, size).0 {
        // Spaces have no outline.
        let Some(outline) = font.outline(letter.glyph) else {
            continue;
        };
        let unit = letter.size / em;
        let place = |p: ab_glyph::Point| {
            [
                letter.x + f64::from(p.x) * unit,
                letter.rise + f64::from(p.y) * unit,
            ]
        };
        let mut end: Option<ab_glyph::Point> = None;
        for curve in outline.curves {
            let (from, to, piece) = match curve {
                OutlineCurve::Line(a, b) => (a, b, Piece::Line(place(b))),
                OutlineCurve::Quad(a, b, c) => (a, c, Piece::Quadratic(place(b), place(c))),
                OutlineCurve::Cubic(a, b, c, d) => {
                    (a, d, Piece::Cubic(place(b), place(c), place(d)))
                }
            };
            if end != Some(from) {
                pieces.push(Piece::Start(place(from)));
            }
            pieces.push(piece);
            end = Some(to);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_widths_of_helvetica() {
        // Widths of the standard fonts of PostScript, in thousandths of the size.
        let cases = [("0", 556.0), ("i", 222.0), ("M", 833.0), (" ", 278.0)];
        for (text, expected) in cases {
            let found = width(text, 1000.0, false);
            assert!((found - expected).abs() < 1.0, "{text}: {found}");
        }
        assert!((width("A", 1000.0, true) - 722.0).abs() < 1.0);
    }

    #[test]
    fn every_sign_of_labels_has_an_outline() {
        let signs = "azAZ09äöüßéñçÄÉ.,:;'\"()[]{}<>=+-*/^_%&#@~|−×·≤≥≈°²³µμαβγδεζθλπρστφχψωΔΣΦΩ′″…–—10⁻⁴⁰¹²³⁵⁶⁷⁸⁹→";
        for bold in [false, true] {
            let font = font(bold).expect("a font");
            let missing = font.glyph_id('\u{E000}');
            for c in signs.chars() {
                let (letters, width) = set(font, &c.to_string(), 10.0);
                assert!(letters[0].glyph != missing && width > 0.0, "{c}");
                assert!(!outlines(&c.to_string(), 10.0, bold).is_empty(), "{c}");
            }
        }
    }
}
