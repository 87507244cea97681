//! A drawing as a PNG file: areas and lines through tiny-skia, letters as areas.

use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pattern, Pixmap,
    SpreadMode, StrokeDash, Transform,
};

use super::canvas::{
    Anchor, Canvas, Color, Fill, HATCH_DOT, HATCH_PERIOD, HATCH_WIDTH, Hatch, Mark, Point, Stroke,
    Text,
};
use super::lettering::{self, Piece};

/// Longest side of a picture, in pixels.
const LARGEST: f64 = 16_384.0;

/// The drawing with `scale` pixels per unit, as the bytes of a PNG file.
pub fn png(canvas: &Canvas, scale: f64) -> Result<Vec<u8>, String> {
    let pixmap = raster(canvas, scale)?;
    pixmap.encode_png().map_err(|error| error.to_string())
}

/// The drawing as pixels.
fn raster(canvas: &Canvas, scale: f64) -> Result<Pixmap, String> {
    let side = |units: f64| (units * scale).round().clamp(1.0, LARGEST) as u32;
    let (width, height) = (side(canvas.width), side(canvas.height));
    let mut pixmap = Pixmap::new(width, height).ok_or("the picture is too large")?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let mut painter = Painter {
        scale: scale as f32,
        pixmap,
        clip: None,
    };
    for mark in &canvas.marks {
        painter.mark(mark);
    }
    Ok(painter.pixmap)
}

struct Painter {
    scale: f32,
    pixmap: Pixmap,
    clip: Option<Mask>,
}

/// A colour to paint with, and how much of it is laid on.
fn solid(color: Color, share: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let alpha = (255.0 * share.clamp(0.0, 1.0)).round() as u8;
    paint.set_color_rgba8(color.0, color.1, color.2, alpha);
    paint
}

/// Lines through points; what is not finite is left out.
fn polyline(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (k, [x, y]) in points.iter().filter(|p| finite(p)).enumerate() {
        if k == 0 {
            builder.move_to(*x as f32, *y as f32);
        } else {
            builder.line_to(*x as f32, *y as f32);
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn finite(p: &Point) -> bool {
    p.iter().all(|x| x.abs() < 1e7)
}

impl Painter {
    fn units(&self) -> Transform {
        Transform::from_scale(self.scale, self.scale)
    }

    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { points, stroke } => self.stroke(polyline(points, false), stroke),
            Mark::Segments { ends, stroke } => {
                let mut builder = PathBuilder::new();
                for [a, b] in ends.iter().filter(|ends| ends.iter().all(finite)) {
                    builder.move_to(a[0] as f32, a[1] as f32);
                    builder.line_to(b[0] as f32, b[1] as f32);
                }
                self.stroke(builder.finish(), stroke);
            }
            Mark::Area { points, fill } => self.fill(polyline(points, true), fill),
            Mark::Discs {
                centers,
                radius,
                fill,
                stroke,
            } => {
                for [x, y] in centers.iter().filter(|p| finite(p)) {
                    let circle = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                    if let Some(fill) = fill {
                        self.fill(circle.clone(), fill);
                    }
                    if let Some(stroke) = stroke {
                        self.stroke(circle, stroke);
                    }
                }
            }
            Mark::Text(text) => self.text(text),
            Mark::Clip(window) => self.clip(*window),
        }
    }

    fn clip(&mut self, window: Option<[Point; 2]>) {
        self.clip = window.and_then(|[low, high]| {
            let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
            let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
            let path = polyline(&corners, true)?;
            mask.fill_path(&path, FillRule::Winding, true, self.units());
            Some(mask)
        });
    }

    fn stroke(&mut self, path: Option<Path>, stroke: &Stroke) {
        let Some(path) = path else { return };
        let dash: Vec<f32> = stroke.dash.iter().map(|&d| d as f32).collect();
        let line = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(dash, 0.0),
            ..tiny_skia::Stroke::default()
        };
        let (paint, units) = (solid(stroke.color, 1.0), self.units());
        self.pixmap
            .stroke_path(&path, &paint, &line, units, self.clip.as_ref());
    }

    fn fill(&mut self, path: Option<Path>, fill: &Fill) {
        let Some(path) = path else { return };
        let units = self.units();
        let mut lay = |paint: &Paint| {
            let clip = self.clip.as_ref();
            self.pixmap
                .fill_path(&path, paint, FillRule::Winding, units, clip);
        };
        match *fill {
            Fill::Solid(color) => lay(&solid(color, 1.0)),
            Fill::Veil(color, share) => lay(&solid(color, share)),
            Fill::Hatched {
                hatch,
                color,
                ground,
            } => {
                lay(&solid(ground, 1.0));
                let Some((tile, turn)) = tile(hatch, color) else {
                    return;
                };
                let paint = Paint {
                    shader: Pattern::new(
                        tile.as_ref(),
                        SpreadMode::Repeat,
                        FilterQuality::Bilinear,
                        1.0,
                        turn,
                    ),
                    ..Paint::default()
                };
                lay(&paint);
            }
        }
    }

    fn text(&mut self, text: &Text) {
        let width = lettering::width(&text.text, text.size, text.bold);
        let shift = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let [x0, y0] = text.place;
        let place = |[x, y]: Point| {
            let x = x + shift;
            let [x, y] = match text.upright {
                true => [x0 - y, y0 - x],
                false => [x0 + x, y0 - y],
            };
            (x as f32, y as f32)
        };
        let mut builder = PathBuilder::new();
        for piece in lettering::outlines(&text.text, text.size, text.bold) {
            match piece {
                Piece::Start(a) => {
                    let (x, y) = place(a);
                    builder.close();
                    builder.move_to(x, y);
                }
                Piece::Line(a) => {
                    let (x, y) = place(a);
                    builder.line_to(x, y);
                }
                Piece::Quadratic(a, b) => {
                    let ((x1, y1), (x, y)) = (place(a), place(b));
                    builder.quad_to(x1, y1, x, y);
                }
                Piece::Cubic(a, b, c) => {
                    let ((x1, y1), (x2, y2), (x, y)) = (place(a), place(b), place(c));
                    builder.cubic_to(x1, y1, x2, y2, x, y);
                }
            }
        }
        builder.close();
        self.fill(builder.finish(), &Fill::Solid(text.color));
    }
}

/// Pixels of a tile of a hatch per unit: finer than any picture, so that turning it costs nothing that is seen.
const TILE: f32 = 4.0;

/// One period of a hatch, and how it lies on the drawing.
fn tile(hatch: Hatch, color: Color) -> Option<(Pixmap, Transform)> {
    let period = HATCH_PERIOD as f32;
    let side = (period * TILE).round() as u32;
    let mut pixmap = Pixmap::new(side, side)?;
    let (half, fine) = (0.5 * period, Transform::from_scale(TILE, TILE));
    let paint = solid(color, 1.0);
    let line = tiny_skia::Stroke {
        width: HATCH_WIDTH as f32,
        ..tiny_skia::Stroke::default()
    };
    let mut draw = |from: (f32, f32), to: (f32, f32)| {
        let mut builder = PathBuilder::new();
        builder.move_to(from.0, from.1);
        builder.line_to(to.0, to.1);
        if let Some(path) = builder.finish() {
            pixmap.stroke_path(&path, &paint, &line, fine, None);
        }
    };
    let level = ((-1.0, half), (period + 1.0, half));
    let turn = match hatch {
        Hatch::Rising => -45.0,
        Hatch::Falling | Hatch::Cross => 45.0,
        Hatch::Vertical => 90.0,
        Hatch::Horizontal | Hatch::Dots => 0.0,
    };
    match hatch {
        Hatch::Dots => {
            let dot = PathBuilder::from_circle(half, half, HATCH_DOT as f32)?;
            pixmap.fill_path(&dot, &paint, FillRule::Winding, fine, None);
        }
        Hatch::Cross => {
            draw(level.0, level.1);
            draw((half, -1.0), (half, period + 1.0));
        }
        _ => draw(level.0, level.1),
    }
    let shrunk = Transform::from_scale(1.0 / TILE, 1.0 / TILE);
    Some((pixmap, shrunk.post_rotate(turn)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much ink there is, in units of area.
    fn ink(canvas: &Canvas, scale: f64) -> f64 {
        let pixmap = raster(canvas, scale).expect("a picture");
        let dark = |p: &tiny_skia::PremultipliedColorU8| 1.0 - f64::from(p.red()) / 255.0;
        pixmap.pixels().iter().map(dark).sum::<f64>() / (scale * scale)
    }

    #[test]
    fn covered_area_is_the_area_of_the_shape() {
        let mut canvas = Canvas::new(40.0, 40.0, "");
        let triangle = vec![[5.25, 5.5], [35.0, 7.0], [12.0, 33.3]];
        let area = 0.5 * ((35.0 - 5.25) * (33.3 - 5.5) - (12.0 - 5.25) * (7.0 - 5.5));
        canvas.area(triangle, Fill::Solid(Color::BLACK));
        assert!((ink(&canvas, 2.0) / area - 1.0).abs() < 0.01);
        let mut canvas = Canvas::new(40.0, 40.0, "");
        let disc = Fill::Veil(Color::BLACK, 0.5);
        canvas.discs(vec![[20.0, 20.0]], 12.0, Some(disc), None);
        let area = 0.5 * std::f64::consts::PI * 144.0;
        assert!((ink(&canvas, 2.0) / area - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_line_covers_length_times_width_and_dashes_their_share() {
        let length = (30.0f64 * 30.0 + 24.0 * 24.0).sqrt();
        for (dash, share) in [(&[][..], 1.0), (&[1.0, 1.0][..], 0.5)] {
            let mut canvas = Canvas::new(40.0, 40.0, "");
            let stroke = Stroke {
                dash,
                ..Stroke::solid(Color::BLACK, 2.0)
            };
            canvas.line(vec![[5.0, 5.0], [35.0, 29.0]], stroke);
            let found = ink(&canvas, 3.0) / (2.0 * length);
            assert!((found - share).abs() < 0.03, "{found}");
        }
    }

    #[test]
    fn hatches_cover_their_share() {
        let share = HATCH_WIDTH / HATCH_PERIOD;
        let cross = 2.0 * share - share * share;
        let dots = std::f64::consts::PI * HATCH_DOT * HATCH_DOT / (HATCH_PERIOD * HATCH_PERIOD);
        for (hatch, expected) in [
            (Hatch::Rising, share),
            (Hatch::Falling, share),
            (Hatch::Vertical, share),
            (Hatch::Horizontal, share),
            (Hatch::Cross, cross),
            (Hatch::Dots, dots),
        ] {
            let mut canvas = Canvas::new(140.0, 140.0, "");
            let fill = Fill::Hatched {
                hatch,
                color: Color::BLACK,
                ground: Color::WHITE,
            };
            canvas.rectangle([0.0, 0.0], [140.0, 140.0], fill);
            let found = ink(&canvas, 2.0) / (140.0 * 140.0);
            assert!((found / expected - 1.0).abs() < 0.1, "{hatch:?}: {found}");
        }
    }

    #[test]
    fn what_is_clipped_leaves_no_ink_outside() {
        let mut canvas = Canvas::new(40.0, 40.0, "");
        canvas
            .marks
            .push(Mark::Clip(Some([[10.0, 10.0], [20.0, 30.0]])));
        canvas.rectangle([0.0, 0.0], [40.0, 40.0], Fill::Solid(Color::BLACK));
        canvas.marks.push(Mark::Clip(None));
        canvas.rectangle([30.0, 30.0], [35.0, 35.0], Fill::Solid(Color::BLACK));
        assert!((ink(&canvas, 2.0) - 225.0).abs() < 1e-6);
    }

    #[test]
    fn texts_lie_where_their_anchor_says() {
        let mut widths = Vec::new();
        for anchor in [Anchor::Start, Anchor::Middle, Anchor::End] {
            let mut canvas = Canvas::new(200.0, 40.0, "");
            canvas.text([100.0, 30.0], "mmmm", 20.0, anchor);
            let pixmap = raster(&canvas, 1.0).expect("a picture");
            let columns = (0..200u32)
                .filter(|&x| (0..40).any(|y| pixmap.pixel(x, y).is_some_and(|p| p.red() < 128)));
            let columns: Vec<u32> = columns.collect();
            widths.push((columns[0], columns[columns.len() - 1]));
        }
        let [start, middle, end] = widths[..] else {
            panic!("three anchors")
        };
        assert!((100..104).contains(&start.0) && (96..100).contains(&end.1));
        assert!((middle.0 + middle.1).abs_diff(199) < 4);
    }

    #[test]
    fn marks_outside_the_drawing_do_no_harm() {
        let mut canvas = Canvas::new(10.0, 10.0, "");
        let far = vec![[-50.0, -20.0], [300.0, 5.0], [f64::NAN, 2.0], [1e9, 1e9]];
        canvas.line(far.clone(), Stroke::solid(Color::BLACK, 1.0));
        canvas.area(far, Fill::Solid(Color::BLACK));
        canvas.text([-5.0, 200.0], "far", 10.0, Anchor::End);
        assert!(png(&canvas, 1.0).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")));
    }
}
