//! A bar of colours with ticks: what the colours of a field stand for.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Color, Fill, Point, Stroke};

/// Height that a scale takes.
pub const SCALE_HEIGHT: f64 = 36.0;
const WIDTH: f64 = 300.0;
const BAR: f64 = 11.0;
const STRIPES: usize = 60;
const SIZE: f64 = 11.0;

/// Colours for values from zero to `top`.
#[derive(Clone, Debug)]
pub struct ColourScale {
    /// What is shown.
    pub name: String,
    /// Unit without prefix.
    pub unit: String,
    /// Largest value.
    pub top: f64,
    /// Colour of a share of the largest value.
    pub color: fn(f64) -> Color,
}

/// Power of ten and sign of the prefix with which a value is written: 2846 Pa are 2.846 kPa.
pub fn prefix(value: f64) -> (f64, &'static str) {
    const SIGNS: [(f64, &str); 7] = [
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "μ"),
        (1e-9, "n"),
    ];
    let size = value.abs();
    let found = SIGNS.iter().find(|(factor, _)| size >= *factor);
    // Zero, and what is smaller than any prefix, is written as it is.
    found.copied().unwrap_or((1.0, ""))
}

impl ColourScale {
    /// Draws the scale, its name to the left of the bar, from the given corner.
    pub fn draw(&self, canvas: &mut Canvas, [left, top]: Point) {
        let (factor, sign) = prefix(self.top);
        let start = left + super::font::width(&self.name, SIZE) + 12.0;
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
            let fill = Fill::Solid((self.color)(share));
            canvas.rectangle([x, top], [x + stripe + 0.3, top + BAR], fill);
        }
        let ink = Stroke::solid(Color::INK, 0.8);
        canvas.frame([start, top], [start + WIDTH, top + BAR], ink);
        let axis = Axis::exact(0.0, self.top / factor, 5);
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
    fn values_are_written_with_the_prefix_people_use() {
        let cases = [
            (2846.0, 1e3, "k"),
            (0.0021, 1e-3, "m"),
            (1.0, 1.0, ""),
            (999.9, 1.0, ""),
            (3e7, 1e6, "M"),
            (-4e-7, 1e-9, "n"),
            (0.0, 1.0, ""),
        ];
        for (value, factor, sign) in cases {
            assert_eq!(prefix(value), (factor, sign), "{value}");
        }
    }

    #[test]
    fn a_scale_has_ticks_at_round_numbers_of_its_unit() {
        let scale = ColourScale {
            name: "stress".to_string(),
            unit: "Pa".to_string(),
            top: 2846.0,
            color: |_| Color::INK,
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
