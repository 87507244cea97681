//! A drawing as a list of marks, from which both the SVG and the PNG are made.

pub use stickslip::internals::view::palette::{Colour as Color, Hatch};

/// A place on the drawing, in its units, y downwards.
pub type Point = [f64; 2];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour.
    pub color: Color,
    /// Width.
    pub width: f64,
    /// Lengths of dashes and holes in turn; empty for an unbroken line.
    pub dash: &'static [f64],
}

impl Stroke {
    /// An unbroken line.
    pub const fn solid(color: Color, width: f64) -> Self {
        Self {
            color,
            width,
            dash: &[],
        }
    }
}

/// Distance of hatch lines.
pub const HATCH_PERIOD: f64 = 7.0;
/// Width of hatch lines.
pub const HATCH_WIDTH: f64 = 1.0;
/// Radius of the dots of a hatch.
pub const HATCH_DOT: f64 = 1.1;

/// How an area is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// One colour.
    Solid(Color),
    /// One colour through which what lies behind is seen, and how much of it is laid on.
    Veil(Color, f64),
    /// A pattern on a ground.
    Hatched {
        /// Pattern.
        hatch: Hatch,
        /// Colour of its lines.
        color: Color,
        /// Colour between them.
        ground: Color,
    },
}

/// Which part of a text lies at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A line of text; the place is on its base line.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Place of the anchor on the base line.
    pub place: Point,
    /// What it says.
    pub text: String,
    /// Height of the type.
    pub size: f64,
    /// Which part lies at the place.
    pub anchor: Anchor,
    /// Whether it reads from bottom to top.
    pub upright: bool,
    /// Whether it is set in bold.
    pub bold: bool,
    /// Colour.
    pub color: Color,
}

/// One element of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Straight segments through points.
    Line {
        /// Its points.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// Separate segments drawn in one style.
    Segments {
        /// Both ends of each.
        ends: Vec<[Point; 2]>,
        /// How they are drawn.
        stroke: Stroke,
    },
    /// A filled area.
    Area {
        /// Its corners.
        points: Vec<Point>,
        /// How it is filled.
        fill: Fill,
    },
    /// Discs of one size.
    Discs {
        /// Centres.
        centers: Vec<Point>,
        /// Radius of all.
        radius: f64,
        /// Inside, if filled.
        fill: Option<Fill>,
        /// Rim, if drawn.
        stroke: Option<Stroke>,
    },
    /// A text.
    Text(Text),
    /// What follows is seen inside the rectangle between two corners only; everywhere again if none is given.
    Clip(Option<[Point; 2]>),
}

/// A drawing on white ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    /// Width in units (pixels of an SVG shown at its own size).
    pub width: f64,
    /// Height.
    pub height: f64,
    /// What it shows, for readers who cannot see it.
    pub description: String,
    /// Elements in the order in which they are drawn.
    pub marks: Vec<Mark>,
}

impl Canvas {
    /// An empty drawing.
    pub fn new(width: f64, height: f64, description: impl Into<String>) -> Self {
        Self {
            width,
            height,
            description: description.into(),
            marks: Vec::new(),
        }
    }

    /// Straight segments through points.
    pub fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        if points.len() > 1 {
            self.marks.push(Mark::Line { points, stroke });
        }
    }

    /// Separate segments.
    pub fn segments(&mut self, ends: Vec<[Point; 2]>, stroke: Stroke) {
        if !ends.is_empty() {
            self.marks.push(Mark::Segments { ends, stroke });
        }
    }

    /// A filled area.
    pub fn area(&mut self, points: Vec<Point>, fill: Fill) {
        if points.len() > 2 {
            self.marks.push(Mark::Area { points, fill });
        }
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, [x0, y0]: Point, [x1, y1]: Point, fill: Fill) {
        self.area(vec![[x0, y0], [x1, y0], [x1, y1], [x0, y1]], fill);
    }

    /// The outline of a rectangle between two corners.
    pub fn frame(&mut self, [x0, y0]: Point, [x1, y1]: Point, stroke: Stroke) {
        self.line(
            vec![[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]],
            stroke,
        );
    }

    /// Begins to hide what lies outside the rectangle between two corners; ends with none.
    pub fn clip(&mut self, window: Option<[Point; 2]>) {
        self.marks.push(Mark::Clip(window));
    }

    /// Discs of one size.
    pub fn discs(
        &mut self,
        centers: Vec<Point>,
        radius: f64,
        fill: Option<Fill>,
        stroke: Option<Stroke>,
    ) {
        if !centers.is_empty() {
            self.marks.push(Mark::Discs {
                centers,
                radius,
                fill,
                stroke,
            });
        }
    }

    /// A level text.
    pub fn text(&mut self, place: Point, text: impl Into<String>, size: f64, anchor: Anchor) {
        self.marks.push(Mark::Text(Text {
            place,
            text: text.into(),
            size,
            anchor,
            upright: false,
            bold: false,
            color: Color::INK,
        }));
    }

    /// A level text in bold.
    pub fn bold_text(&mut self, place: Point, text: impl Into<String>, size: f64, anchor: Anchor) {
        self.text(place, text, size, anchor);
        if let Some(Mark::Text(text)) = self.marks.last_mut() {
            text.bold = true;
        }
    }

    /// A text that reads from bottom to top.
    pub fn upright_text(
        &mut self,
        place: Point,
        text: impl Into<String>,
        size: f64,
        anchor: Anchor,
    ) {
        self.text(place, text, size, anchor);
        if let Some(Mark::Text(text)) = self.marks.last_mut() {
            text.upright = true;
        }
    }
}
