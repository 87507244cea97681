//! Legends: names with samples of what they stand for.

use super::canvas::{Anchor, Canvas, Color, Fill, Point, Stroke};
use super::lettering;
use super::panel::{LABEL_SIZE, dots};

/// Height of one line of a legend.
pub const LEGEND_LINE: f64 = 17.0;
/// Width of a sample.
const SAMPLE: f64 = 30.0;
/// Size of the names.
const SIZE: f64 = LABEL_SIZE - 1.0;

/// How a legend shows what a name stands for.
#[derive(Clone, Debug)]
pub enum Sample {
    /// A piece of line.
    Line(Stroke),
    /// A filled box.
    Box(Fill),
    /// A disc, or a ring.
    Dot(Color, bool),
}

/// Width of an entry with the space after it.
fn entry_width(name: &str) -> f64 {
    SAMPLE + 6.0 + lettering::width(name, SIZE, false) + 18.0
}

/// Entries of each line when the legend is wrapped into `width`.
pub fn legend_lines(legend: &[(String, Sample)], width: f64) -> Vec<Vec<usize>> {
    let mut lines: Vec<Vec<usize>> = Vec::new();
    let mut room = 0.0;
    for (i, (name, _)) in legend.iter().enumerate() {
        let entry = entry_width(name);
        if lines.is_empty() || entry > room {
            lines.push(Vec::new());
            room = width;
        }
        room -= entry;
        if let Some(line) = lines.last_mut() {
            line.push(i);
        }
    }
    lines
}

/// Draws the lines of a legend from the given corner down.
pub fn draw_legend(
    canvas: &mut Canvas,
    legend: &[(String, Sample)],
    lines: &[Vec<usize>],
    [left, top]: Point,
) {
    for (k, line) in lines.iter().enumerate() {
        let y = top + (k as f64 + 0.5) * LEGEND_LINE - 2.0;
        let mut x = left;
        for &i in line {
            let (name, sample) = &legend[i];
            match sample {
                Sample::Line(stroke) => canvas.line(vec![[x, y], [x + SAMPLE, y]], *stroke),
                Sample::Box(fill) => {
                    let (a, b) = ([x + 6.0, y - 6.0], [x + SAMPLE, y + 6.0]);
                    canvas.rectangle(a, b, *fill);
                    canvas.frame(a, b, Stroke::solid(Color::INK, 0.8));
                }
                Sample::Dot(color, hollow) => {
                    dots(canvas, vec![[x + 20.0, y]], 3.5, *color, *hollow);
                }
            }
            let place = [x + SAMPLE + 6.0, y + 0.36 * SIZE];
            canvas.text(place, name.as_str(), SIZE, Anchor::Start);
            x += entry_width(name);
        }
    }
}
