//! The drawn shapes of a planar mechanism.

use serde::Serialize;

use crate::scene::{DrawnShape, Scene, Shape};

/// A drawn shape: which of the points of a frame are its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewLine {
    /// Number of its points.
    pub count: usize,
    /// Radius of a circle about its only point; a dot has 0; none for a line through its points.
    pub radius: Option<f64>,
    /// Text beside it.
    pub label: Option<String>,
    /// Whether it can move.
    pub moving: bool,
}

fn points(shape: &Shape) -> Vec<[f64; 2]> {
    match shape {
        Shape::Line(points) => points.clone(),
        Shape::Circle { center, .. } => vec![*center],
        Shape::Point(point) => vec![*point],
    }
}

/// The shapes of the scene's drawing, as seen at the start.
pub(super) fn lines(scene: &Scene) -> Vec<ViewLine> {
    let line = |drawn: DrawnShape| ViewLine {
        count: points(&drawn.shape).len(),
        radius: match drawn.shape {
            Shape::Line(_) => None,
            Shape::Circle { radius, .. } => Some(radius),
            Shape::Point(_) => Some(0.0),
        },
        label: drawn.label,
        moving: drawn.moving,
    };
    let (q, _) = scene.initial_state();
    let drawn = scene.drawing().map(|drawing| drawing.at(0.0, &q));
    drawn.unwrap_or_default().into_iter().map(line).collect()
}

/// Appends the points of all shapes at (t, q).
pub(super) fn push_points(scene: &Scene, t: f64, q: &[f64], out: &mut Vec<f64>) {
    let Some(drawing) = scene.drawing() else {
        return;
    };
    for drawn in drawing.at(t, q) {
        out.extend(points(&drawn.shape).into_iter().flatten());
    }
}

impl super::ViewData {
    /// The points x, y of the drawn shapes at the start of a scene, in the order of [`super::ViewData::points`].
    #[must_use]
    pub fn start_points(scene: &Scene) -> Vec<f64> {
        let (q, _) = scene.initial_state();
        let mut points = Vec::new();
        push_points(scene, 0.0, &q, &mut points);
        points
    }
}
