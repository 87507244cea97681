//! Rigid obstacles behind the pictures of elastic bodies.

use stickslip::systems::ElastodynamicSystem;
use stickslip::systems::elastodynamic::{Obstacle, ObstacleShape};

use super::canvas::{Color, Fill, Hatch, Point, Stroke};
use super::panel::Item;
use super::snapshot::{Window, project};

/// Corners of the outline of a round obstacle.
const CORNERS: usize = 72;

type Place = [f64; 3];

fn plus(a: Place, f: f64, b: Place) -> Place {
    [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]]
}

fn dot(a: Place, b: Place) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(a: Place) -> Place {
    plus([0.0; 3], 1.0 / dot(a, a).sqrt(), a)
}

/// Two directions square to a unit vector and to each other.
fn across(a: Place) -> [Place; 2] {
    let least = (0..3)
        .min_by(|&i, &j| a[i].abs().total_cmp(&a[j].abs()))
        .unwrap_or(0);
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let b = unit(plus(axis, -dot(axis, a), a));
    let c = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ];
    [b, c]
}

/// What part of a polygon lies where `f` is not positive.
fn cut(polygon: &[Point], f: impl Fn(Point) -> f64) -> Vec<Point> {
    let mut out = Vec::new();
    for (k, &b) in polygon.iter().enumerate() {
        let a = polygon[(k + polygon.len() - 1) % polygon.len()];
        let (fa, fb) = (f(a), f(b));
        if (fa <= 0.0) != (fb <= 0.0) {
            let s = fa / (fa - fb);
            out.push([a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]);
        }
        if fb <= 0.0 {
            out.push(b);
        }
    }
    out
}

/// What part of a polygon is seen.
fn seen(polygon: Vec<Point>, window: Window) -> Vec<Point> {
    let Window { low, high } = window;
    let mut polygon = polygon;
    for k in 0..2 {
        polygon = cut(&polygon, |p| low[k] - p[k]);
        polygon = cut(&polygon, |p| p[k] - high[k]);
    }
    polygon
}

/// Convex hull, counterclockwise.
fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn = |a: Point, b: Point, c: Point| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let half = |points: &mut dyn Iterator<Item = &Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for &p in points {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut out = half(&mut points.iter());
    out.extend(half(&mut points.iter().rev()));
    out
}

/// Places on the paper of a circle spanned by two vectors.
fn round(centre: Place, [a, b]: [Place; 2], space: usize) -> Vec<Point> {
    (0..CORNERS)
        .map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / CORNERS as f64;
            let place = plus(plus(centre, angle.cos(), a), angle.sin(), b);
            project(place, space < 3).0
        })
        .collect()
}

/// The shape of an obstacle on the paper; whether bodies are kept inside of it.
fn outline(
    obstacle: &Obstacle,
    t: f64,
    space: usize,
    (middle, size): (Place, f64),
    window: Window,
) -> (Vec<Point>, bool) {
    let moved = obstacle.displacement(t);
    match *obstacle.shape() {
        ObstacleShape::Plane { point, normal } => {
            let (point, n) = (plus(point, 1.0, moved), unit(normal));
            if space < 3 {
                // The half plane behind, as far as it is seen.
                let Window { low, high } = window;
                let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
                let behind = |p: Point| dot(n, plus([p[0], p[1], 0.0], -1.0, point));
                return (cut(&corners, behind), false);
            }
            // A square of the plane under the bodies.
            let foot = plus(middle, -dot(n, plus(middle, -1.0, point)), n);
            let [a, b] = across(n);
            let corner = |s: f64, r: f64| plus(plus(foot, s * size, a), r * size, b);
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let square = corners.map(|(s, r)| project(corner(s, r), space < 3).0);
            (square.to_vec(), false)
        }
        ObstacleShape::Sphere {
            centre,
            radius,
            inside,
        } => {
            let centre = plus(centre, 1.0, moved);
            let mut points = Vec::new();
            let axes = [[radius, 0.0, 0.0], [0.0, radius, 0.0], [0.0, 0.0, radius]];
            if space < 3 {
                return (round(centre, [axes[0], axes[1]], space), inside);
            }
            // Great circles through many directions; their hull is the outline.
            for k in 0..18 {
                let angle = std::f64::consts::PI * f64::from(k) / 18.0;
                let level = plus(plus([0.0; 3], angle.cos(), axes[0]), angle.sin(), axes[1]);
                points.extend(round(centre, [level, axes[2]], space));
            }
            (hull(points), inside)
        }
        ObstacleShape::Cylinder {
            point,
            axis,
            radius,
            inside,
        } => {
            let (point, axis) = (plus(point, 1.0, moved), unit(axis));
            let [a, b] = across(axis).map(|x| plus([0.0; 3], radius, x));
            if space < 3 && axis[2].abs() > 1e-9 {
                // The slice at z = 0 is an ellipse.
                let centre = plus(point, -point[2] / axis[2], axis);
                let along = |x: Place| plus(x, -x[2] / axis[2], axis);
                return (round(centre, [along(a), along(b)], space), inside);
            }
            let near = plus(point, dot(axis, plus(middle, -1.0, point)), axis);
            let reach = if space < 3 { 100.0 } else { 1.2 } * size;
            let mut points = round(plus(near, reach, axis), [a, b], space);
            points.extend(round(plus(near, -reach, axis), [a, b], space));
            (hull(points), inside)
        }
    }
}

/// The obstacles of a system at a time, to be drawn behind the bodies, whose middle and size are given.
pub fn obstacles(
    system: &ElastodynamicSystem,
    t: f64,
    space: usize,
    body: (Place, f64),
    window: Window,
) -> Vec<Item> {
    let mut items = Vec::new();
    let mut all: Vec<_> = system
        .surfaces()
        .iter()
        .filter_map(|surface| surface.obstacle.as_ref())
        .collect();
    // Round ones stand out from planes.
    all.sort_by_key(|obstacle| !matches!(obstacle.shape(), ObstacleShape::Plane { .. }));
    for obstacle in all {
        let (polygon, inside) = outline(obstacle, t, space, body, window);
        let mut polygon = seen(polygon, window);
        if polygon.len() < 3 {
            continue;
        }
        // Bodies inside a shell would be hidden by its filling.
        if !inside {
            let fill = Fill::Hatched {
                hatch: Hatch::Rising,
                color: Color::FAINT,
                ground: Color(236, 236, 236),
            };
            items.push(Item::Area(polygon.clone(), fill));
        }
        polygon.push(polygon[0]);
        let stroke = Stroke::solid(Color::INK, 0.9);
        for edge in edges(&polygon, window) {
            items.push(Item::Curve(edge, stroke));
        }
    }
    items
}

/// The outline without what is only the border of the window.
fn edges(polygon: &[Point], window: Window) -> Vec<Vec<Point>> {
    let Window { low, high } = window;
    let on_border = |a: Point, b: Point| {
        (0..2).any(|k| {
            let near = 1e-9 * (high[k] - low[k]);
            let on = |side: f64| (a[k] - side).abs() < near && (b[k] - side).abs() < near;
            on(low[k]) || on(high[k])
        })
    };
    let mut out: Vec<Vec<Point>> = vec![Vec::new()];
    for pair in polygon.windows(2) {
        if on_border(pair[0], pair[1]) {
            out.push(Vec::new());
        } else if let Some(line) = out.last_mut() {
            if line.is_empty() {
                line.push(pair[0]);
            }
            line.push(pair[1]);
        }
    }
    out.retain(|line| !line.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_cut_at_the_window() {
        let window = Window {
            low: [-1.0, -1.0],
            high: [1.0, 1.0],
        };
        let floor = Obstacle::plane([0.0, -0.5, 0.0], [0.0, 1.0, 0.0]);
        let (polygon, _) = outline(&floor, 0.0, 2, ([0.0; 3], 1.0), window);
        let area: f64 = (0..polygon.len())
            .map(|k| {
                let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
                0.5 * (a[0] * b[1] - a[1] * b[0])
            })
            .sum();
        assert!((area - 1.0).abs() < 1e-12, "{polygon:?}");
        // A ball of radius 1 about a corner: a quarter of it is seen.
        let ball = Obstacle::sphere([1.0, 1.0, 0.0], 1.0);
        let (polygon, _) = outline(&ball, 0.0, 2, ([0.0; 3], 1.0), window);
        let quarter = seen(polygon, window);
        assert!(quarter.iter().all(|p| p[0] <= 1.0 && p[1] <= 1.0));
        assert!(quarter.iter().all(|p| p[0] >= -1e-12 && p[1] >= -1e-12));
        // Its rim is one line, without the two sides of the window.
        let mut closed = quarter.clone();
        closed.push(quarter[0]);
        let rim: usize = edges(&closed, window)
            .iter()
            .map(|line| line.len() - 1)
            .sum();
        assert_eq!(rim, CORNERS / 4);
        // An oblique cylinder cuts the plane in an ellipse, longer along its axis.
        let oblique = Obstacle::cylinder([0.0; 3], [1.0, 0.0, 1.0], 0.5);
        let (polygon, _) = outline(&oblique, 0.0, 2, ([0.0; 3], 1.0), window);
        let wide = polygon.iter().fold(0.0, |m: f64, p| m.max(p[0]));
        let high = polygon.iter().fold(0.0, |m: f64, p| m.max(p[1]));
        assert!((wide - 0.5 * 2f64.sqrt()).abs() < 2e-3 && (high - 0.5).abs() < 2e-3);
    }
}
