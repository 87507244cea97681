//! Colours, dashes and hatches that tell curves and areas apart, with and without colour.

use super::canvas::{Color, Fill, Hatch, Stroke};

/// Colours that people with common kinds of colour blindness can tell apart.
const COLORS: [Color; 8] = [
    Color(0, 114, 178),
    Color(213, 94, 0),
    Color(0, 128, 96),
    Color(170, 68, 128),
    Color(20, 20, 20),
    Color(200, 140, 0),
    Color(60, 150, 200),
    Color(120, 120, 120),
];

const DASHES: [&[f64]; 8] = [
    &[],
    &[8.0, 4.0],
    &[2.5, 3.0],
    &[10.0, 3.5, 2.5, 3.5],
    &[15.0, 5.0],
    &[5.0, 2.5],
    &[10.0, 3.0, 2.5, 3.0, 2.5, 3.0],
    &[1.5, 1.5],
];

const GROUNDS: [(Color, Color, Option<Hatch>); 8] = [
    (Color(0, 114, 178), Color(120, 180, 220), None),
    (
        Color(120, 70, 0),
        Color(250, 225, 170),
        Some(Hatch::Horizontal),
    ),
    (Color(150, 50, 0), Color(245, 200, 175), Some(Hatch::Rising)),
    (Color(60, 60, 60), Color(215, 215, 215), Some(Hatch::Cross)),
    (
        Color(0, 100, 70),
        Color(205, 235, 220),
        Some(Hatch::Falling),
    ),
    (Color(110, 30, 80), Color(238, 215, 230), Some(Hatch::Dots)),
    (
        Color(40, 40, 40),
        Color(255, 255, 255),
        Some(Hatch::Vertical),
    ),
    (Color(60, 60, 60), Color(130, 130, 130), None),
];

/// Number of curves that can be told apart.
pub const STYLES: usize = COLORS.len();

/// The stroke of the `index`-th curve.
pub fn curve(index: usize) -> Stroke {
    Stroke {
        color: COLORS[index % STYLES],
        width: 1.6,
        dash: DASHES[index % STYLES],
    }
}

/// The colour of the `index`-th curve.
pub fn color(index: usize) -> Color {
    COLORS[index % STYLES]
}

/// The filling of the `index`-th area.
pub fn filling(index: usize) -> Fill {
    let (color, ground, hatch) = GROUNDS[index % GROUNDS.len()];
    match hatch {
        None => Fill::Solid(ground),
        Some(hatch) => Fill::Hatched {
            hatch,
            color,
            ground,
        },
    }
}
