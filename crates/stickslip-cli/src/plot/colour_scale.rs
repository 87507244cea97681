//! A bar of colours with ticks: what the colours of a field stand for.

use stickslip::internals::view::palette::ramp;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Color, Fill, Point, Stroke};
use super::lettering;
use stickslip::internals::quantity::prefix;

/// Height that a scale takes.
pub const SCALE_HEIGHT: f64 = 36.0;
const WIDTH: f64 = 300.0;
const BAR: f64 = 11.0;
const STRIPES: usize = 60;
const SIZE: f64 = 11.0;

/// Colours for values from `low` to `high`.
#[derive(Clone, Debug)]
pub struct ColourScale {
    /// What is shown.
    pub name: String,
    /// Unit without prefix.
    pub unit: String,
    /// Value of the first colour.
    pub low: f64,
    /// Value of the last colour.
    pub high: f64,
}

impl ColourScale {
    /// Draws the scale, its name to the left of the bar, from the given corner.
    pub fn draw(&self, canvas: &mut Canvas, [left, top]: Point) {
        let (factor, sign) = prefix(self.high.abs().max(self.low.abs()), &self.unit);
        let start = left + lettering::width(&self.name, SIZE, false) + 12.0;
        canvas.text(
            [left, top + BAR - 1.0],
            self.name.as_str(),
            SIZE,
            Anchor::Start,
        );
        let stripe = WIDTH / STRIPES as f64;
        for k in 0..STRIPES {
            let share = (k as f64 + 0.5) / STRIPES as f64;
            let x = start + k as f64 * stripe;
            let fill = Fill::Solid(ramp(share));
            canvas.rectangle([x, top], [x + stripe + 0.3, top + BAR], fill);
        }
        let ink = Stroke::solid(Color::INK, 0.8);
        canvas.frame([start, top], [start + WIDTH, top + BAR], ink);
        let axis = Axis::exact(self.low / factor, self.high / factor, 5);
        for (value, label) in &axis.ticks {
            let x = start + axis.share(*value) * WIDTH;
            canvas.line(vec![[x, top + BAR], [x, top + BAR + 4.0]], ink);
            canvas.text([x, top + BAR + 16.0], label.as_str(), SIZE, Anchor::Middle);
        }
        let unit = format!("{sign}{}", self.unit);
        canvas.text(
            [start + WIDTH + 10.0, top + BAR - 1.0],
            unit,
            SIZE,
            Anchor::Start,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_ticks_at_round_numbers_of_its_unit() {
        let scale = ColourScale {
            name: "stress".to_string(),
            unit: "Pa".to_string(),
            low: 0.0,
            high: 2846.0,
        };
        let mut canvas = Canvas::new(500.0, 60.0, "scale");
        scale.draw(&mut canvas, [10.0, 10.0]);
        let svg = super::super::svg::svg(&canvas);
        assert!(svg.contains(">kPa<"), "{svg}");
        for tick in [">0<", ">1<", ">2<"] {
            assert!(
                svg.contains(tick) || svg.contains(&tick.replace('<', ".0<")),
                "{tick} {svg}"
            );
        }
    }
}
