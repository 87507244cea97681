//! One pair of axes with what is drawn on them.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Canvas, Color, Fill, Point, Stroke};
use super::colour_scale::{ColourScale, SCALE_HEIGHT};
use super::decimate::decimate;
use super::legend::{LEGEND_LINE, Sample, draw_legend, legend_lines};
use super::lettering;

/// Size of labels.
pub const LABEL_SIZE: f64 = 12.0;

/// What is drawn on the axes; places are values, not drawing units.
#[derive(Clone, Debug)]
pub enum Item {
    /// A curve.
    Curve(Vec<Point>, Stroke),
    /// An area with the given outline.
    Area(Vec<Point>, Fill),
    /// Upright lines from the bottom of the axes to each point.
    Stems(Vec<Point>, Stroke),
    /// Discs of a radius in drawing units; hollow ones have a rim.
    Dots {
        /// Places.
        points: Vec<Point>,
        /// Radius in drawing units.
        radius: f64,
        /// Colour.
        color: Color,
        /// Whether only the rim is drawn.
        hollow: bool,
    },
    /// A disc whose radius is a value (for equal scales): filled, with a rim, or both.
    Disc(Point, f64, Option<Fill>, Option<Stroke>),
    /// A level line across the axes.
    Level(f64, Stroke),
    /// A word beside a place.
    Note(Point, String),
}

/// A pair of axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Above the axes.
    pub title: String,
    /// Label of the level axis.
    pub x_label: String,
    /// Label of the upright axis.
    pub y_label: String,
    /// What is drawn, first at the back.
    pub items: Vec<Item>,
    /// Names and samples.
    pub legend: Vec<(String, Sample)>,
    /// Range of the level axis; the data's own if none.
    pub x_range: Option<(f64, f64)>,
    /// Range of the upright axis; the data's own, with some room, if none.
    pub y_range: Option<(f64, f64)>,
    /// Whether both axes are padded around the data and x is no time.
    pub portrait: bool,
    /// Whether the upright axis shows powers of ten.
    pub logarithmic: bool,
    /// Whether the level axis shows powers of ten.
    pub logarithmic_x: bool,
    /// What the colours of its areas stand for.
    pub scale: Option<ColourScale>,
    /// Names instead of ticks: row k is centred at the value k.
    pub rows: Option<Vec<String>>,
    /// Whether both axes have one scale and no ticks (a picture of a mechanism).
    pub picture: bool,
    /// Whether nothing is drawn at all.
    pub empty: bool,
}

/// Where the axes of a panel lie inside its box.
struct Place {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
}

impl Place {
    fn map(&self, [x, y]: Point) -> Point {
        [
            self.left + self.x.share(x) * (self.right - self.left),
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        ]
    }
}

impl Panel {
    /// Draws the panel into the box with the given corner and size; its axes begin `margin` from the
    /// left, so that those of panels below each other can be in line.
    pub fn draw(
        &self,
        canvas: &mut Canvas,
        [x0, y0]: Point,
        (width, height): (f64, f64),
        margin: f64,
    ) {
        if self.empty {
            return;
        }
        let place = self.place([x0, y0], (width, height), margin);
        if !self.title.is_empty() {
            let middle = 0.5 * (place.left + place.right);
            canvas.bold_text(
                [middle, y0 + LABEL_SIZE + 3.0],
                self.title.as_str(),
                LABEL_SIZE,
                Anchor::Middle,
            );
        }
        self.draw_grid(canvas, &place);
        self.draw_items(canvas, &place);
        canvas.frame(
            [place.left, place.top],
            [place.right, place.bottom],
            Stroke::solid(
                if self.picture {
                    Color::GRID
                } else {
                    Color::INK
                },
                1.0,
            ),
        );
        self.draw_labels(canvas, &place, x0);
        let lines = legend_lines(&self.legend, place.right - place.left);
        let corner = [place.left, y0 + self.title_height()];
        draw_legend(canvas, &self.legend, &lines, corner);
        if let Some(scale) = &self.scale {
            scale.draw(canvas, [place.left, place.top - SCALE_HEIGHT + 4.0]);
        }
    }

    fn draw_items(&self, canvas: &mut Canvas, place: &Place) {
        // Pictures show a part of what is there.
        if self.picture {
            canvas.clip(Some([[place.left, place.top], [place.right, place.bottom]]));
        }
        for item in &self.items {
            self.draw_item(canvas, place, item);
        }
        if self.picture {
            canvas.clip(None);
        }
    }

    /// Draws the items of a picture alone, over the whole canvas.
    pub fn draw_bare(&self, canvas: &mut Canvas) {
        let (x, y) = self.axes(canvas.width, canvas.height);
        let mut place = Place {
            left: 0.0,
            right: canvas.width,
            top: 0.0,
            bottom: canvas.height,
            x,
            y,
        };
        equalize(&mut place);
        self.draw_items(canvas, &place);
    }

    fn title_height(&self) -> f64 {
        if self.title.is_empty() {
            6.0
        } else {
            LABEL_SIZE + 10.0
        }
    }

    fn place(&self, [x0, y0]: Point, (width, height): (f64, f64), margin: f64) -> Place {
        let below = if self.picture { 4.0 } else { 40.0 };
        let (right, bottom) = (x0 + width - 16.0, y0 + height - below);
        let above = y0 + self.title_height();
        let left = x0 + margin;
        let legend = legend_lines(&self.legend, right - left).len() as f64 * LEGEND_LINE;
        let scale = self.scale.as_ref().map_or(0.0, |_| SCALE_HEIGHT);
        let top = above + legend + scale;
        let (x, y) = self.axes(right - left, bottom - top);
        let mut place = Place {
            left,
            right,
            top,
            bottom,
            x,
            y,
        };
        if self.picture {
            equalize(&mut place);
        }
        place
    }

    /// Room that a panel of this size needs for the label and the ticks of its upright axis.
    pub fn left_margin(&self, (width, height): (f64, f64)) -> f64 {
        if self.picture || self.empty {
            return 6.0;
        }
        let (_, y) = self.axes(width, height - self.title_height() - 40.0);
        let names = self.rows.iter().flatten().map(String::as_str);
        let ticks = y.ticks.iter().map(|(_, text)| text.as_str());
        let widest = names
            .chain(ticks)
            .map(|text| lettering::width(text, LABEL_SIZE, false))
            .fold(0.0, f64::max);
        let label = if self.y_label.is_empty() {
            4.0
        } else {
            LABEL_SIZE + 8.0
        };
        (label + widest + 12.0).min(0.5 * width)
    }

    /// Ranges of both axes from the data, unless given.
    fn axes(&self, width: f64, height: f64) -> (Axis, Axis) {
        let ticks_y = (height / 27.0).clamp(2.0, 8.0) as usize;
        // Labels of the level axis may be long.
        let ticks_x = (width / 60.0).clamp(2.0, 10.0) as usize;
        let points = || self.items.iter().flat_map(item_points);
        let data_x = extent(points().map(|p| p[0])).unwrap_or((0.0, 1.0));
        let (low, high) = self.x_range.unwrap_or(data_x);
        let x = if self.logarithmic_x {
            Axis::decades(low.log10() + 1e-9, high.log10() - 1e-9, ticks_x)
        } else if self.portrait {
            Axis::padded(low, high, ticks_x)
        } else {
            Axis::exact(low, high, ticks_x)
        };
        let x = x.in_unit(unit(&self.x_label), ticks_x);
        if let Some(rows) = &self.rows {
            let y = Axis {
                low: rows.len() as f64 - 0.5,
                high: -0.5,
                logarithmic: false,
                ticks: Vec::new(),
                prefix: "",
            };
            return (x, y);
        }
        let levels = self.items.iter().filter_map(|item| match item {
            Item::Level(value, _) => Some(*value),
            _ => None,
        });
        let data_y = points().map(|p| p[1]);
        let y = if self.logarithmic {
            let (low, high) = extent(data_y.filter(|&v| v > 0.0)).unwrap_or((0.1, 1.0));
            Axis::powers(low, high, ticks_y)
        } else if let Some((low, high)) = self.y_range {
            Axis::exact(low, high, ticks_y)
        } else {
            let (low, high) = extent(data_y.chain(levels)).unwrap_or((0.0, 1.0));
            Axis::padded(low, high, ticks_y)
        };
        (x, y.in_unit(unit(&self.y_label), ticks_y))
    }

    fn draw_grid(&self, canvas: &mut Canvas, place: &Place) {
        if self.picture {
            return;
        }
        let grid = Stroke::solid(Color::GRID, 0.8);
        let mut lines = Vec::new();
        for (value, text) in &place.x.ticks {
            let [x, _] = place.map([*value, place.y.low]);
            lines.push([[x, place.top], [x, place.bottom]]);
            canvas.text(
                [x, place.bottom + LABEL_SIZE + 3.0],
                text.as_str(),
                LABEL_SIZE,
                Anchor::Middle,
            );
        }
        for (value, text) in &place.y.ticks {
            let [_, y] = place.map([place.x.low, *value]);
            lines.push([[place.left, y], [place.right, y]]);
            canvas.text(
                [place.left - 5.0, y + 0.36 * LABEL_SIZE],
                text.as_str(),
                LABEL_SIZE,
                Anchor::End,
            );
        }
        canvas.segments(lines, grid);
        for (k, name) in self.rows.iter().flatten().enumerate() {
            let [_, y] = place.map([place.x.low, k as f64]);
            canvas.text(
                [place.left - 6.0, y + 0.36 * LABEL_SIZE],
                name.as_str(),
                LABEL_SIZE,
                Anchor::End,
            );
        }
    }

    fn draw_labels(&self, canvas: &mut Canvas, place: &Place, x0: f64) {
        if !self.x_label.is_empty() {
            let middle = 0.5 * (place.left + place.right);
            canvas.text(
                [middle, place.bottom + 2.0 * LABEL_SIZE + 9.0],
                label(&self.x_label, place.x.prefix),
                LABEL_SIZE,
                Anchor::Middle,
            );
        }
        if !self.y_label.is_empty() {
            let middle = 0.5 * (place.top + place.bottom);
            canvas.upright_text(
                [x0 + LABEL_SIZE, middle],
                label(&self.y_label, place.y.prefix),
                LABEL_SIZE,
                Anchor::Middle,
            );
        }
    }

    fn draw_item(&self, canvas: &mut Canvas, place: &Place, item: &Item) {
        let map = |points: &[Point]| -> Vec<Point> {
            let finite = points
                .iter()
                .filter(|p| p[0].is_finite() && p[1].is_finite());
            finite
                .filter(|p| !self.logarithmic || p[1] > 0.0)
                .map(|&p| place.map(p))
                .collect()
        };
        match item {
            Item::Curve(points, stroke) => {
                let points = map(points);
                // A curve that is a single place is still worth seeing.
                match points[..] {
                    [only] => dots(canvas, vec![only], 2.0, stroke.color, false),
                    _ => canvas.line(decimate(&points, 0.4), *stroke),
                }
            }
            Item::Area(points, fill) => canvas.area(map(points), *fill),
            Item::Stems(points, stroke) => {
                let foot = if self.logarithmic {
                    place.bottom
                } else {
                    place.map([place.x.low, 0f64.clamp(place.y.low, place.y.high)])[1]
                };
                let ends = thinned(map(points));
                let ends = ends.into_iter().map(|[x, y]| [[x, foot], [x, y]]);
                canvas.segments(ends.collect(), *stroke);
            }
            Item::Dots {
                points,
                radius,
                color,
                hollow,
            } => dots(canvas, thinned(map(points)), *radius, *color, *hollow),
            Item::Disc(center, radius, fill, stroke) => {
                let unit = (place.right - place.left) / (place.x.high - place.x.low);
                canvas.discs(vec![place.map(*center)], radius * unit, *fill, *stroke);
            }
            Item::Level(value, stroke) => {
                let [_, y] = place.map([place.x.low, *value]);
                canvas.line(vec![[place.left, y], [place.right, y]], *stroke);
            }
            Item::Note(point, text) => {
                let [x, y] = place.map(*point);
                canvas.text(
                    [x + 5.0, y - 5.0],
                    text.as_str(),
                    LABEL_SIZE - 2.0,
                    Anchor::Start,
                );
            }
        }
    }
}

/// The unit that ends a label: m of `gap [m]`.
fn unit(label: &str) -> &str {
    let found = label
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once('['));
    found.map_or("", |(_, unit)| unit)
}

/// The label with a prefix before its unit.
fn label(label: &str, prefix: &str) -> String {
    match label.rsplit_once('[') {
        Some((name, unit)) => format!("{name}[{prefix}{unit}"),
        None => label.to_string(),
    }
}

/// Discs, or rings around white.
pub(super) fn dots(
    canvas: &mut Canvas,
    points: Vec<Point>,
    radius: f64,
    color: Color,
    hollow: bool,
) {
    if hollow {
        let rim = Stroke::solid(color, 1.3);
        canvas.discs(points, radius, Some(Fill::Solid(Color::WHITE)), Some(rim));
    } else {
        canvas.discs(points, radius, Some(Fill::Solid(color)), None);
    }
}

/// Marks nearer than half a unit to an earlier one cannot be seen beside it.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let mut cells = std::collections::BTreeSet::new();
    points
        .into_iter()
        .filter(|p| cells.insert(((2.0 * p[0]) as i64, (2.0 * p[1]) as i64)))
        .collect()
}

/// The places that the range of the axes must hold.
fn item_points(item: &Item) -> Vec<Point> {
    match item {
        Item::Curve(points, _)
        | Item::Area(points, _)
        | Item::Stems(points, _)
        | Item::Dots { points, .. } => points.clone(),
        Item::Disc([x, y], r, ..) => vec![[x - r, y - r], [x + r, y + r]],
        Item::Level(..) => Vec::new(),
        Item::Note(point, _) => vec![*point],
    }
}

/// Widens one of the axes until both have the same scale.
fn equalize(place: &mut Place) {
    let scale_x = (place.x.high - place.x.low) / (place.right - place.left);
    let scale_y = (place.y.high - place.y.low) / (place.bottom - place.top);
    let scale = scale_x.max(scale_y);
    for (axis, length) in [
        (&mut place.x, place.right - place.left),
        (&mut place.y, place.bottom - place.top),
    ] {
        let (middle, half) = (0.5 * (axis.low + axis.high), 0.5 * scale * length);
        (axis.low, axis.high) = (middle - half, middle + half);
    }
}

impl Panel {
    /// A place left empty.
    pub fn blank() -> Self {
        Self {
            empty: true,
            ..Self::default()
        }
    }

    /// Adds a curve, with an entry in the legend if it has a name.
    pub fn add_curve(&mut self, points: Vec<Point>, stroke: Stroke, name: Option<String>) {
        self.items.push(Item::Curve(points, stroke));
        if let Some(name) = name {
            self.legend.push((name, Sample::Line(stroke)));
        }
    }

    /// Adds dots, with an entry in the legend if they have a name.
    pub fn add_dots(
        &mut self,
        points: Vec<Point>,
        radius: f64,
        color: Color,
        hollow: bool,
        name: Option<&str>,
    ) {
        self.items.push(Item::Dots {
            points,
            radius,
            color,
            hollow,
        });
        if let Some(name) = name {
            self.legend
                .push((name.to_string(), Sample::Dot(color, hollow)));
        }
    }

    /// Adds an area, with an entry in the legend if it has a name.
    pub fn add_area(&mut self, points: Vec<Point>, fill: Fill, name: Option<String>) {
        self.items.push(Item::Area(points, fill));
        if let Some(name) = name {
            self.legend.push((name, Sample::Box(fill)));
        }
    }
}
