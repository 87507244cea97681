//! Shapes of a planar mechanism, for pictures.

use super::diagnostic::Diagnostic;
use super::expression::{Expression, Graph, Tape};
use super::key_kinds::Variables;
use super::reader::Reader;
use super::value::{Value, tables};

/// A shape with its expressions.
#[derive(Clone, Debug)]
pub(super) struct ShapeModel {
    kind: ShapeKind,
    /// Coordinates x, y of its points, one after the other.
    points: Vec<Expression>,
    label: Option<String>,
    moving: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ShapeKind {
    Line,
    Circle { radius: f64 },
    Point,
}

/// A shape at one instant.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Straight segments through points.
    Line(Vec<[f64; 2]>),
    /// A circle.
    Circle {
        /// Centre.
        center: [f64; 2],
        /// Radius.
        radius: f64,
    },
    /// A dot.
    Point([f64; 2]),
}

/// A shape at one instant, with what the scene says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnShape {
    /// Geometry.
    pub shape: Shape,
    /// Text beside it.
    pub label: Option<String>,
    /// Whether it can move: a fixed shape is drawn once.
    pub moving: bool,
}

/// The drawing of a scene, compiled.
#[derive(Clone, Debug)]
pub struct Drawing {
    shapes: Vec<ShapeModel>,
    tape: Tape,
}

impl Drawing {
    /// Compiles shapes; none if there are none.
    pub(super) fn compile(graph: &Graph, shapes: &[ShapeModel]) -> Option<Self> {
        if shapes.is_empty() {
            return None;
        }
        let outputs: Vec<Expression> = shapes
            .iter()
            .flat_map(|s| s.points.iter().copied())
            .collect();
        Some(Self {
            tape: Tape::compile(graph, &outputs),
            shapes: shapes.to_vec(),
        })
    }

    /// The shapes at time `t` and configuration `q`.
    ///
    /// # Panics
    /// If `q` is shorter than the coordinates of the scene.
    #[must_use]
    pub fn at(&self, t: f64, q: &[f64]) -> Vec<DrawnShape> {
        let mut inputs = vec![t];
        inputs.extend_from_slice(q);
        let mut out = vec![0.0; self.tape.outputs_count()];
        self.tape
            .evaluate(&inputs, &mut self.tape.registers(), &mut out);
        let mut points = out.chunks_exact(2).map(|c| [c[0], c[1]]);
        let mut shapes = Vec::with_capacity(self.shapes.len());
        for model in &self.shapes {
            let own: Vec<[f64; 2]> = points.by_ref().take(model.points.len() / 2).collect();
            let shape = match model.kind {
                ShapeKind::Line => Shape::Line(own),
                // Each has exactly one point.
                ShapeKind::Circle { radius } => Shape::Circle {
                    center: own[0],
                    radius,
                },
                ShapeKind::Point => Shape::Point(own[0]),
            };
            shapes.push(DrawnShape {
                shape,
                label: model.label.clone(),
                moving: model.moving,
            });
        }
        shapes
    }
}

/// Reads `[[drawing]]`.
pub(super) fn read_drawing(reader: &mut Reader, list: &[Value]) -> Vec<ShapeModel> {
    let mut shapes = Vec::new();
    for (_, value, table) in tables(list) {
        let given: Vec<&str> = table.given(&["line", "circle", "point"]);
        let radius = reader
            .number(table, "radius", "positive", |x| x > 0.0)
            .unwrap_or(0.05);
        let [shape] = given[..] else {
            let message = "a drawing has one of the shapes line, circle, point";
            reader.report(Diagnostic::at(value.span.clone(), message));
            continue;
        };
        let Some(geometry) = table.value(shape) else {
            continue;
        };
        let points: Option<Vec<Expression>> = match shape {
            "line" => geometry.as_list().and_then(|points| {
                let mut all = Vec::new();
                let mut whole = true;
                for point in points.iter().filter_map(Value::as_list) {
                    match reader.expressions(point, Variables::PositionTime) {
                        Some(point) => all.extend(point),
                        None => whole = false,
                    }
                }
                whole.then_some(all)
            }),
            _ => geometry
                .as_list()
                .and_then(|p| reader.expressions(p, Variables::PositionTime)),
        };
        let kind = match shape {
            "line" => ShapeKind::Line,
            "circle" => ShapeKind::Circle { radius },
            _ => ShapeKind::Point,
        };
        let Some(points) = points else { continue };
        let moving = points
            .iter()
            .any(|&p| reader.graph.constant_value(p).is_none());
        let label = table.text("label").map(str::to_owned);
        shapes.push(ShapeModel {
            kind,
            points,
            label,
            moving,
        });
    }
    shapes
}
