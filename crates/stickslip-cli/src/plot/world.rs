//! Pictures of worlds: bodies with the forces between them, and how some of them move.

use stickslip::systems::world::{Dimension, Shape, Surface, World, WorldShot};

use super::canvas::{Color, Fill, Point, Stroke};
use super::elastic::project;
use super::figure::Figure;
use super::legend::Sample;
use super::panel::{Item, Panel};
use super::run_figures::{RunData, TIME};
use super::style;

/// Bodies with curves of their own.
const CURVES: usize = 6;
/// Worlds with more faces are drawn without edges.
const EDGES: usize = 6000;

const FREE: Color = Color(196, 214, 230);
const HELD: Color = Color(214, 208, 196);
const EDGE: Color = Color(70, 70, 70);

/// All figures of a world beside those of its energy.
pub fn world_figures(run: &RunData, world: &World) -> Vec<Figure> {
    let mut all = Vec::new();
    all.extend(pictures(run, world));
    all.extend(motion(run, world));
    all
}

/// The range of values on paper.
#[derive(Clone, Copy)]
struct Window {
    low: Point,
    high: Point,
}

impl Window {
    const EMPTY: Self = Self {
        low: [f64::INFINITY; 2],
        high: [f64::NEG_INFINITY; 2],
    };

    fn add(&mut self, p: Point) {
        for k in 0..2 {
            if p[k].is_finite() {
                self.low[k] = self.low[k].min(p[k]);
                self.high[k] = self.high[k].max(p[k]);
            }
        }
    }

    fn size(&self) -> f64 {
        (self.high[0] - self.low[0]).max(self.high[1] - self.low[1])
    }
}

/// The bodies at some times, with contact forces as lines.
fn pictures(run: &RunData, world: &World) -> Option<Figure> {
    let shots = &run.world;
    if shots.is_empty() {
        return None;
    }
    let space = world.dimension.axes();
    let surfaces: Vec<Surface> = world
        .bodies
        .iter()
        .map(|b| b.surface(world.dimension))
        .collect();
    let mut window = Window::EMPTY;
    for shot in shots {
        for (k, state) in shot.bodies.iter().enumerate() {
            let Some((pose, _)) = state else { continue };
            // Large obstacles do not set the scale; what moves does.
            if world.bodies[k].is_free() {
                for &p in &surfaces[k].points {
                    window.add(project(pose.point(p), space).0);
                }
            }
        }
    }
    if !window.size().is_finite() || window.size() <= 0.0 {
        return None;
    }
    let pad = 0.08 * window.size();
    for k in 0..2 {
        window.low[k] -= pad;
        window.high[k] += pad;
    }
    let strongest = shots
        .iter()
        .flat_map(|shot| &shot.contacts)
        .map(|c| length(c.force))
        .fold(0.0, f64::max);
    let mut figure = run.figure("world", "bodies and contact forces");
    for (name, mode) in [("sticks", 1.0), ("slips", 2.0), ("without friction", 3.0)] {
        if shots
            .iter()
            .any(|s| s.contacts.iter().any(|c| c.mode == mode))
        {
            let stroke = Stroke::solid(mode_color(mode), 2.0);
            figure.legend.push((name.to_string(), Sample::Line(stroke)));
        }
    }
    for shot in shots {
        let mut panel = Panel {
            title: format!("t = {:.4} s", shot.t),
            picture: true,
            x_range: Some((window.low[0], window.high[0])),
            y_range: Some((window.low[1], window.high[1])),
            ..Panel::default()
        };
        half_spaces(world, shot, window, &mut panel);
        faces(world, &surfaces, shot, &mut panel);
        for contact in &shot.contacts {
            let size = length(contact.force);
            if size <= 0.0 || strongest <= 0.0 {
                continue;
            }
            // Half a line to each side of the contact, as long as the force is strong.
            let half = 0.06 * window.size() * (size / strongest).sqrt() / size;
            let end = |sign: f64| {
                let p: [f64; 3] =
                    std::array::from_fn(|k| contact.place[k] + sign * half * contact.force[k]);
                project(p, space).0
            };
            let stroke = Stroke::solid(mode_color(contact.mode), 1.6);
            panel
                .items
                .push(Item::Curve(vec![end(-1.0), end(1.0)], stroke));
        }
        figure.panels.push(panel);
    }
    let ratio = (window.high[1] - window.low[1]) / (window.high[0] - window.low[0]);
    figure.columns = 3.min(shots.len());
    figure.panel_size = (320.0, (300.0 * ratio).clamp(120.0, 480.0) + 40.0);
    Some(figure)
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn mode_color(mode: f64) -> Color {
    match mode as u32 {
        2 => style::color(1),
        3 => style::color(2),
        _ => style::color(0),
    }
}

/// Lines of half-planes; in space the trace of the ground is not drawn.
fn half_spaces(world: &World, shot: &WorldShot, window: Window, panel: &mut Panel) {
    if world.dimension == Dimension::Space {
        return;
    }
    for (body, state) in world.bodies.iter().zip(&shot.bodies) {
        let Some((pose, _)) = state else { continue };
        for placed in &body.shapes {
            let Shape::HalfSpace { normal } = placed.shape else {
                continue;
            };
            let at = pose.times(&placed.pose);
            let n = at.direction(normal);
            let (p, reach) = (at.position, 2.0 * window.size());
            let middle = [
                0.5 * (window.low[0] + window.high[0]),
                0.5 * (window.low[1] + window.high[1]),
            ];
            // The foot of the middle of the picture, and along the line from there.
            let off = n[0] * (middle[0] - p[0]) + n[1] * (middle[1] - p[1]);
            let foot = [middle[0] - off * n[0], middle[1] - off * n[1]];
            let end = |s: f64| [foot[0] - s * n[1], foot[1] + s * n[0]];
            let stroke = Stroke::solid(EDGE, 1.6);
            if let Some(line) = clipped([end(-reach), end(reach)], window) {
                panel.items.push(Item::Curve(line.to_vec(), stroke));
            }
        }
    }
}

/// The part of a line inside the window.
fn clipped([a, b]: [Point; 2], window: Window) -> Option<[Point; 2]> {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for k in 0..2 {
        let d = b[k] - a[k];
        let (low, high) = (window.low[k] - a[k], window.high[k] - a[k]);
        if d == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let (s, t) = ((low / d).min(high / d), (low / d).max(high / d));
        from = from.max(s);
        to = to.min(t);
    }
    let at = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
    (from < to).then(|| [at(from), at(to)])
}

/// Faces from the back to the front.
fn faces(world: &World, surfaces: &[Surface], shot: &WorldShot, panel: &mut Panel) {
    let space = world.dimension.axes();
    let mut all: Vec<(f64, Vec<Point>, Color)> = Vec::new();
    for (k, (surface, state)) in surfaces.iter().zip(&shot.bodies).enumerate() {
        let Some((pose, _)) = state else { continue };
        let color = if world.bodies[k].is_free() {
            FREE
        } else {
            HELD
        };
        let placed: Vec<(Point, f64)> = surface
            .points
            .iter()
            .map(|&p| project(pose.point(p), space))
            .collect();
        for face in &surface.faces {
            let corners: Vec<Point> = face.iter().map(|&i| placed[i as usize].0).collect();
            let depth = face.iter().map(|&i| placed[i as usize].1).sum::<f64>() / face.len() as f64;
            if space == 3 && area(&corners) <= 0.0 {
                continue;
            }
            all.push((depth, corners, color));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let edges = all.len() <= EDGES;
    for (_, mut corners, color) in all {
        if corners.len() == 2 {
            panel
                .items
                .push(Item::Curve(corners, Stroke::solid(EDGE, 1.6)));
            continue;
        }
        panel
            .items
            .push(Item::Area(corners.clone(), Fill::Solid(color)));
        if edges {
            corners.push(corners[0]);
            let width = if space == 3 { 0.3 } else { 0.7 };
            panel
                .items
                .push(Item::Curve(corners, Stroke::solid(EDGE, width)));
        }
    }
}

/// Signed area on paper: faces that look away are not seen.
fn area(p: &[Point]) -> f64 {
    (0..p.len())
        .map(|k| {
            let (a, b) = (p[k], p[(k + 1) % p.len()]);
            a[0] * b[1] - a[1] * b[0]
        })
        .sum()
}

/// Place, height and speed of the first bodies over time.
fn motion(run: &RunData, world: &World) -> Option<Figure> {
    let up = if world.dimension == Dimension::Space {
        "z"
    } else {
        "y"
    };
    let named: Vec<&str> = world
        .bodies
        .iter()
        .filter(|b| b.is_free())
        .map(|b| b.name.as_str())
        .filter(|name| run.table.column(&format!("{name}.x")).is_some())
        .take(CURVES)
        .collect();
    if named.is_empty() {
        return None;
    }
    let mut figure = run.figure("motion", "motion of bodies");
    for (k, name) in named.iter().enumerate() {
        let sample = Sample::Line(style::curve(k));
        figure.legend.push(((*name).to_string(), sample));
    }
    for (label, ending) in [("x [m]", "x"), (&*format!("{up} [m]"), up)] {
        let mut panel = Panel {
            x_label: TIME.to_string(),
            y_label: label.to_string(),
            ..Panel::default()
        };
        for (k, name) in named.iter().enumerate() {
            let points = run.table.curve("t", &format!("{name}.{ending}"));
            panel.add_curve(points, style::curve(k), None);
        }
        figure.panels.push(panel);
    }
    let mut panel = Panel {
        x_label: TIME.to_string(),
        y_label: "speed [m/s]".to_string(),
        ..Panel::default()
    };
    let times = run.table.times();
    for (k, name) in named.iter().enumerate() {
        let part = |axis: &str| run.table.column(&format!("{name}.v{axis}"));
        let columns: Vec<&[f64]> = ["x", "y", "z"].iter().filter_map(|a| part(a)).collect();
        let speed = |row: usize| columns.iter().map(|c| c[row] * c[row]).sum::<f64>().sqrt();
        let points = (0..times.len())
            .map(|row| [times[row], speed(row)])
            .collect();
        panel.add_curve(points, style::curve(k), None);
    }
    figure.panels.push(panel);
    figure.columns = 1;
    figure.panel_size = (760.0, 200.0);
    Some(figure)
}
