//! A drawing as pixels: lines and areas with smooth edges, texts in strokes.

use super::canvas::{
    Anchor, Canvas, Color, Fill, HATCH_DOT, HATCH_PERIOD, HATCH_WIDTH, Hatch, Mark, Point, Stroke,
    Text,
};
use super::font;

/// A picture, three bytes a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Red, green, blue of each pixel, line by line.
    pub pixels: Vec<u8>,
}

/// Draws with `scale` pixels per unit.
pub fn raster(canvas: &Canvas, scale: f64) -> Image {
    let width = (canvas.width * scale).round().max(1.0) as usize;
    let height = (canvas.height * scale).round().max(1.0) as usize;
    let mut painter = Painter {
        scale,
        image: Image {
            width,
            height,
            pixels: vec![255; 3 * width * height],
        },
        mask: Mask::new(width, height),
    };
    for mark in &canvas.marks {
        painter.mark(mark);
    }
    painter.image
}

/// Share of each pixel that is covered by the mark being drawn.
struct Mask {
    width: usize,
    height: usize,
    cover: Vec<f64>,
    /// Lines touched so far, first and one past the last.
    touched: (usize, usize),
}

impl Mask {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            cover: vec![0.0; width * height],
            touched: (height, 0),
        }
    }

    /// Covers the pixels around a segment, with round ends; in pixels.
    fn segment(&mut self, a: Point, b: Point, radius: f64) {
        let reach = radius + 0.5;
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length2 = dx * dx + dy * dy;
        let top = (a[1].min(b[1]) - reach).floor().max(0.0) as usize;
        let bottom = (a[1].max(b[1]) + reach).ceil().max(0.0) as usize;
        let bottom = bottom.min(self.height);
        if top >= bottom || !length2.is_finite() {
            return;
        }
        self.touched = (self.touched.0.min(top), self.touched.1.max(bottom));
        for y in top..bottom {
            let yc = y as f64 + 0.5;
            // The part of the segment near this line bounds the pixels to look at.
            let (mut x0, mut x1) = (a[0].min(b[0]), a[0].max(b[0]));
            if dy.abs() > 1e-9 {
                let s0 = ((yc - reach - a[1]) / dy).clamp(0.0, 1.0);
                let s1 = ((yc + reach - a[1]) / dy).clamp(0.0, 1.0);
                let (p, q) = (a[0] + s0 * dx, a[0] + s1 * dx);
                (x0, x1) = (p.min(q), p.max(q));
            }
            let left = (x0 - reach).floor().max(0.0) as usize;
            let right = ((x1 + reach).ceil().max(0.0) as usize).min(self.width);
            for x in left..right {
                let xc = x as f64 + 0.5;
                let along = if length2 > 0.0 {
                    (((xc - a[0]) * dx + (yc - a[1]) * dy) / length2).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let (ex, ey) = (xc - a[0] - along * dx, yc - a[1] - along * dy);
                let distance = (ex * ex + ey * ey).sqrt();
                // A line thinner than a pixel covers less of it.
                let cover = (radius + 0.5 - distance).clamp(0.0, (2.0 * radius).min(1.0));
                let cell = &mut self.cover[y * self.width + x];
                *cell = cell.max(cover);
            }
        }
    }

    /// Covers the inside of a polygon (by winding number); in pixels.
    fn polygon(&mut self, points: &[Point]) {
        const SAMPLES: usize = 4;
        let low = points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
        let high = points
            .iter()
            .map(|p| p[1])
            .fold(f64::NEG_INFINITY, f64::max);
        if !(low.is_finite() && high.is_finite()) {
            return;
        }
        let top = low.floor().max(0.0) as usize;
        let bottom = (high.ceil().max(0.0) as usize).min(self.height);
        if top >= bottom {
            return;
        }
        self.touched = (self.touched.0.min(top), self.touched.1.max(bottom));
        // Edges by the sample lines they cross, so that long outlines stay cheap.
        let lines = (bottom - top) * SAMPLES;
        let mut crossings: Vec<Vec<(f64, i32)>> = vec![Vec::new(); lines];
        let line_of = |y: f64| (y - top as f64) * SAMPLES as f64 - 0.5;
        for (i, &a) in points.iter().enumerate() {
            let b = points[(i + 1) % points.len()];
            if a[1] == b[1] {
                continue;
            }
            let (upper, lower, winding) = if a[1] < b[1] { (a, b, 1) } else { (b, a, -1) };
            let first = line_of(upper[1]).ceil().max(0.0) as usize;
            let last = line_of(lower[1]).ceil().min(lines as f64).max(0.0) as usize;
            for (line, list) in crossings.iter_mut().enumerate().take(last).skip(first) {
                let y = top as f64 + (line as f64 + 0.5) / SAMPLES as f64;
                let s = (y - upper[1]) / (lower[1] - upper[1]);
                list.push((upper[0] + s * (lower[0] - upper[0]), winding));
            }
        }
        for (line, mut list) in crossings.into_iter().enumerate() {
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            let y = top + line / SAMPLES;
            let mut winding = 0;
            for pair in list.windows(2) {
                winding += pair[0].1;
                if winding != 0 {
                    self.span(y, pair[0].0, pair[1].0, 1.0 / SAMPLES as f64);
                }
            }
        }
    }

    fn span(&mut self, y: usize, x0: f64, x1: f64, weight: f64) {
        let (x0, x1) = (x0.max(0.0), x1.min(self.width as f64));
        if x0 >= x1 {
            return;
        }
        let right = (x1.ceil() as usize).min(self.width);
        for x in x0 as usize..right {
            let share = (x1.min(x as f64 + 1.0) - x0.max(x as f64)).max(0.0);
            let cell = &mut self.cover[y * self.width + x];
            *cell = (*cell + share * weight).min(1.0);
        }
    }
}

struct Painter {
    scale: f64,
    image: Image,
    mask: Mask,
}

impl Painter {
    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { points, stroke } => {
                self.polyline(points, stroke);
                self.pour(|_, _| stroke.color);
            }
            Mark::Segments { ends, stroke } => {
                for ends in ends {
                    self.polyline(ends, stroke);
                }
                self.pour(|_, _| stroke.color);
            }
            Mark::Area { points, fill } => {
                let points: Vec<Point> = points.iter().map(|&p| self.pixel(p)).collect();
                self.mask.polygon(&points);
                match *fill {
                    Fill::Solid(color) => self.pour(|_, _| color),
                    Fill::Hatched {
                        hatch,
                        color,
                        ground,
                    } => {
                        let scale = self.scale;
                        self.pour(|x, y| {
                            let share = hatch_cover(hatch, x / scale, y / scale, scale);
                            mix(ground, color, share)
                        });
                    }
                }
            }
            Mark::Discs {
                centers,
                radius,
                fill,
                stroke,
            } => {
                for &center in centers {
                    self.disc(center, *radius, *fill, stroke.as_ref());
                }
            }
            Mark::Text(text) => self.text(text),
        }
    }

    fn pixel(&self, [x, y]: Point) -> Point {
        [x * self.scale, y * self.scale]
    }

    fn disc(&mut self, center: Point, radius: f64, fill: Option<Color>, stroke: Option<&Stroke>) {
        let c = self.pixel(center);
        if let Some(color) = fill {
            if radius * self.scale < 40.0 {
                self.mask.segment(c, c, radius * self.scale);
            } else {
                let outline: Vec<Point> = circle(center, radius).map(|p| self.pixel(p)).collect();
                self.mask.polygon(&outline);
            }
            self.pour(|_, _| color);
        }
        if let Some(stroke) = stroke {
            let outline: Vec<Point> = circle(center, radius).collect();
            self.polyline(&outline, stroke);
            self.pour(|_, _| stroke.color);
        }
    }

    /// Covers a line, broken into dashes if its stroke says so.
    fn polyline(&mut self, points: &[Point], stroke: &Stroke) {
        let radius = 0.5 * stroke.width * self.scale;
        if stroke.dash.is_empty() {
            for pair in points.windows(2) {
                self.mask
                    .segment(self.pixel(pair[0]), self.pixel(pair[1]), radius);
            }
            return;
        }
        // Dashes get round ends here: they are that much shorter, and the holes longer.
        let length_of = |index: usize| {
            let sign = if index.is_multiple_of(2) { -1.0 } else { 1.0 };
            (stroke.dash[index] + sign * stroke.width).max(0.05)
        };
        let (mut index, mut left) = (0usize, length_of(0));
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let length = ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)).sqrt();
            let mut done = 0.0;
            while done < length {
                let part = left.min(length - done);
                if index.is_multiple_of(2) {
                    let at = |s: f64| {
                        let s = s / length;
                        [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]
                    };
                    self.mask
                        .segment(self.pixel(at(done)), self.pixel(at(done + part)), radius);
                }
                done += part;
                left -= part;
                if left <= 1e-9 {
                    index = (index + 1) % stroke.dash.len();
                    left = length_of(index);
                }
            }
        }
    }

    fn text(&mut self, text: &Text) {
        let width = font::width(&text.text, text.size);
        let shift = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let weight = if text.bold { 0.125 } else { 0.085 };
        let radius = 0.5 * weight * text.size * self.scale;
        let [x0, y0] = text.place;
        for stroke in font::strokes(&text.text, text.size) {
            let turned: Vec<Point> = stroke
                .iter()
                .map(|&[x, y]| {
                    let x = x + shift;
                    let place = if text.upright {
                        [x0 - y, y0 - x]
                    } else {
                        [x0 + x, y0 - y]
                    };
                    self.pixel(place)
                })
                .collect();
            if let [dot] = turned[..] {
                self.mask.segment(dot, dot, 1.25 * radius);
            }
            for pair in turned.windows(2) {
                self.mask.segment(pair[0], pair[1], radius);
            }
        }
        self.pour(|_, _| text.color);
    }

    /// Lays colour on the covered pixels and clears the mask.
    fn pour(&mut self, color_at: impl Fn(f64, f64) -> Color) {
        let (top, bottom) = self.mask.touched;
        let width = self.image.width;
        for y in top..bottom {
            let line = &mut self.mask.cover[y * width..(y + 1) * width];
            for (x, cover) in line.iter_mut().enumerate() {
                if *cover > 0.0 {
                    let color = color_at(x as f64 + 0.5, y as f64 + 0.5);
                    let at = 3 * (y * width + x);
                    let share = *cover;
                    for (k, new) in [color.0, color.1, color.2].into_iter().enumerate() {
                        let old = f64::from(self.image.pixels[at + k]);
                        let value = old + share * (f64::from(new) - old);
                        self.image.pixels[at + k] = value.round() as u8;
                    }
                    *cover = 0.0;
                }
            }
        }
        self.mask.touched = (self.mask.height, 0);
    }
}

/// Points of a circle, the first repeated at the end.
fn circle([x, y]: Point, radius: f64) -> impl Iterator<Item = Point> {
    let corners = 96;
    (0..=corners).map(move |k| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(corners);
        [x + radius * angle.cos(), y + radius * angle.sin()]
    })
}

/// How much of a pixel at (x, y), in units, is ink of the hatch.
fn hatch_cover(hatch: Hatch, x: f64, y: f64, scale: f64) -> f64 {
    let diagonal = std::f64::consts::FRAC_1_SQRT_2;
    // Distance from the nearest line of a family, in units.
    let nearest = |s: f64| {
        let r = s.rem_euclid(HATCH_PERIOD);
        (r - 0.5 * HATCH_PERIOD).abs()
    };
    let ink = |distance: f64, radius: f64| ((radius - distance) * scale + 0.5).clamp(0.0, 1.0);
    let radius = 0.5 * HATCH_WIDTH;
    match hatch {
        Hatch::Rising => ink(nearest((x + y) * diagonal), radius),
        Hatch::Falling => ink(nearest((y - x) * diagonal), radius),
        Hatch::Vertical => ink(nearest(x), radius),
        Hatch::Horizontal => ink(nearest(y), radius),
        Hatch::Cross => ink(
            nearest((x + y) * diagonal).min(nearest((y - x) * diagonal)),
            radius,
        ),
        Hatch::Dots => ink(nearest(x).hypot(nearest(y)), HATCH_DOT),
    }
}

fn mix(ground: Color, color: Color, share: f64) -> Color {
    let part = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    Color(
        part(ground.0, color.0),
        part(ground.1, color.1),
        part(ground.2, color.2),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_pixels(image: &Image) -> f64 {
        let sum: f64 = image.pixels.iter().map(|&p| 255.0 - f64::from(p)).sum();
        sum / (3.0 * 255.0)
    }

    #[test]
    fn covered_area_is_the_area_of_the_shape() {
        let mut canvas = Canvas::new(40.0, 40.0, "");
        let triangle = vec![[5.25, 5.5], [35.0, 7.0], [12.0, 33.3]];
        canvas.area(triangle, Fill::Solid(Color::BLACK));
        let area = 0.5 * ((35.0 - 5.25) * (33.3 - 5.5) - (12.0 - 5.25) * (7.0 - 5.5));
        let image = raster(&canvas, 2.0);
        assert!((dark_pixels(&image) - 4.0 * area).abs() < 0.01 * 4.0 * area);
    }

    #[test]
    fn a_line_covers_length_times_width() {
        let mut canvas = Canvas::new(40.0, 40.0, "");
        canvas.line(
            vec![[5.0, 5.0], [35.0, 29.0]],
            Stroke::solid(Color::BLACK, 2.0),
        );
        let length = (30.0f64 * 30.0 + 24.0 * 24.0).sqrt();
        // Round ends add half a disc each.
        let area = 2.0 * length + std::f64::consts::PI;
        let image = raster(&canvas, 3.0);
        assert!((dark_pixels(&image) / 9.0 - area).abs() < 0.03 * area);
    }

    #[test]
    fn marks_outside_the_drawing_do_no_harm() {
        let mut canvas = Canvas::new(10.0, 10.0, "");
        let far = vec![[-50.0, -20.0], [300.0, 5.0], [f64::NAN, 2.0], [1e9, 1e9]];
        canvas.line(far.clone(), Stroke::solid(Color::BLACK, 1.0));
        canvas.area(far, Fill::Solid(Color::BLACK));
        canvas.text([-5.0, 200.0], "far", 10.0, Anchor::End);
        raster(&canvas, 1.0);
    }
}
