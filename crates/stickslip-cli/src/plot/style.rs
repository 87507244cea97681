//! Strokes and fillings from the one table of colours and marks.

use stickslip::internals::view::palette::{AREAS, CURVES, LedgerTerm, MODES};

use super::canvas::{Color, Fill, Hatch, Stroke};

/// Number of curves that can be told apart.
pub const STYLES: usize = CURVES.len();

/// The stroke of the `index`-th curve.
pub fn curve(index: usize) -> Stroke {
    Stroke {
        color: CURVES[index % STYLES].0,
        width: 1.6,
        dash: CURVES[index % STYLES].1,
    }
}

/// The colour of the `index`-th curve.
pub fn color(index: usize) -> Color {
    CURVES[index % STYLES].0
}

/// The filling of the `index`-th area.
pub fn filling(index: usize) -> Fill {
    let (color, ground, hatch) = AREAS[index % AREAS.len()];
    filled(color, ground, hatch)
}

/// The filling of a layer of the energy ledger.
pub fn layer(term: &LedgerTerm) -> Fill {
    filled(term.colour, term.ground, term.hatch)
}

/// The stroke of a force of a contact in the given state.
pub fn mode(mode: u8, width: f64) -> Stroke {
    let mark = MODES[usize::from(mode).min(MODES.len() - 1)];
    Stroke {
        color: mark.colour,
        width,
        dash: mark.dash,
    }
}

fn filled(color: Color, ground: Color, hatch: Option<Hatch>) -> Fill {
    match hatch {
        None => Fill::Solid(ground),
        Some(hatch) => Fill::Hatched {
            hatch,
            color,
            ground,
        },
    }
}
