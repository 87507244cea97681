//! Small pictures of scenes for the index of the laboratory, drawn from the data of a run.

use std::fmt::Write as _;

use stickslip::scene::Scene;
use stickslip::systems::world::Pose;
use stickslip::view::{ViewData, ViewOptions};

/// Frames of the run that a picture shows, as shares of its end.
const SHARES: [f64; 3] = [0.0, 0.35, 1.0];
const INK: [&str; 3] = ["#c9d8e6", "#86aed0", "#0072b2"];
/// Runs of more steps are drawn at their start only, so that a site is built in minutes.
const STEPS_MAX: f64 = 4000.0;

/// Three instants of a run over each other, the last one darkest; none where nothing can be drawn.
pub fn thumbnail(name: &str, scene: &Scene) -> Option<String> {
    let mut scene = scene.clone();
    let large =
        scene.world().is_some_and(|world| world.bodies.len() > 60) || scene.elastic().is_some();
    let steps = scene.settings.until / scene.settings.step;
    if large || steps > STEPS_MAX {
        scene.settings.until = scene.settings.step * if large { 40.0 } else { STEPS_MAX };
    }
    let options = ViewOptions {
        frames_max: 60,
        ..ViewOptions::default()
    };
    let view = ViewData::of_run(&scene, name, &options).ok()?;
    let mut shapes = String::new();
    let mut window = Window::default();
    for (share, ink) in SHARES.iter().zip(INK) {
        let frame = (share * (view.times.len() - 1) as f64).round() as usize;
        draw(&view, frame, ink, &mut shapes, &mut window);
    }
    window.svg(&shapes)
}

/// What the picture covers.
struct Window {
    low: [f64; 2],
    high: [f64; 2],
}

impl Default for Window {
    fn default() -> Self {
        Self {
            low: [f64::INFINITY; 2],
            high: [f64::NEG_INFINITY; 2],
        }
    }
}

impl Window {
    fn add(&mut self, p: [f64; 2], room: f64) {
        for k in 0..2 {
            if p[k].is_finite() {
                self.low[k] = self.low[k].min(p[k] - room);
                self.high[k] = self.high[k].max(p[k] + room);
            }
        }
    }

    fn svg(&self, shapes: &str) -> Option<String> {
        let (w, h) = (self.high[0] - self.low[0], self.high[1] - self.low[1]);
        let size = w.max(h);
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let pad = 0.06 * size;
        let (x, y) = (self.low[0] - pad, -self.high[1] - pad);
        let (w, h) = (w + 2.0 * pad, h + 2.0 * pad);
        Some(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{x:.5} {y:.5} {w:.5} {h:.5}\" width=\"400\" height=\"240\">\
             <g transform=\"scale(1 -1)\" fill=\"none\" stroke-width=\"{:.5}\" stroke-linecap=\"round\" stroke-linejoin=\"round\">{shapes}</g></svg>\n",
            0.014 * size
        ))
    }
}

/// Place on paper: seen from the front, the right and above in space.
fn project(p: [f64; 3], planar: bool) -> [f64; 2] {
    if planar {
        return [p[0], p[1]];
    }
    [0.87 * p[0] + 0.5 * p[1], p[2] + 0.3 * p[1] - 0.18 * p[0]]
}

fn path(points: &[[f64; 2]], closed: bool, ink: &str, fill: bool, out: &mut String) {
    let mut d = String::new();
    for (k, p) in points.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(
            d,
            "{}{:.5} {:.5}",
            if k == 0 { "M" } else { "L" },
            p[0],
            p[1]
        );
    }
    let (end, fill) = (
        if closed { "Z" } else { "" },
        if fill { ink } else { "none" },
    );
    let opacity = if closed { " fill-opacity=\".35\"" } else { "" };
    let _ = write!(
        out,
        "<path d=\"{d}{end}\" stroke=\"{ink}\" fill=\"{fill}\"{opacity} vector-effect=\"none\"/>"
    );
}

fn circle(p: [f64; 2], radius: f64, ink: &str, out: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<circle cx=\"{:.5}\" cy=\"{:.5}\" r=\"{radius:.5}\" stroke=\"{ink}\" fill=\"{ink}\" fill-opacity=\".35\"/>",
        p[0], p[1]
    );
}

fn draw(view: &ViewData, frame: usize, ink: &str, out: &mut String, window: &mut Window) {
    let frames = view.times.len();
    let mut at = frame * (view.points.len() / frames);
    for line in &view.lines {
        let points: Vec<[f64; 2]> = (0..line.count)
            .map(|k| [view.points[at + 2 * k], view.points[at + 2 * k + 1]])
            .collect();
        at += 2 * line.count;
        let tone = if line.moving { ink } else { "#777777" };
        if line.moving {
            points
                .iter()
                .for_each(|p| window.add(*p, line.radius.unwrap_or(0.0)));
        } else {
            // Long floors do not set the scale.
            points
                .iter()
                .for_each(|p| window.add([f64::NAN, p[1]], 0.0));
        }
        match line.radius {
            None => path(&points, false, tone, false, out),
            Some(radius) => circle(points[0], radius, tone, out),
        }
    }
    let moving = view
        .bodies
        .iter()
        .filter(|body| body.moving.is_some())
        .count();
    for body in view.bodies.iter().filter(|body| body.free) {
        let Some(number) = body.moving else { continue };
        let n = &view.poses[7 * (frame * moving + number as usize)..][..7];
        let pose = Pose {
            position: [n[0], n[1], n[2]],
            rotation: [n[3], n[4], n[5], n[6]],
        };
        let geometry = &view.geometries[body.geometry as usize];
        for ball in &geometry.balls {
            let p = project(pose.point([ball[0], ball[1], ball[2]]), view.planar);
            window.add(p, ball[3]);
            circle(p, ball[3], ink, out);
        }
        for face in &geometry.faces {
            let corner = |&k: &u32| {
                let p = &geometry.points[3 * k as usize..][..3];
                project(pose.point([p[0], p[1], p[2]]), view.planar)
            };
            let points: Vec<[f64; 2]> = face.iter().map(corner).collect();
            points.iter().for_each(|p| window.add(*p, 0.0));
            path(&points, points.len() > 2, ink, points.len() > 2, out);
        }
    }
    if let Some(mesh) = &view.mesh {
        let columns = mesh.points.len();
        let moved = &view.displacements[frame * columns..(frame + 1) * columns];
        for face in mesh.faces.iter().take(4000) {
            let corner = |&k: &u32| {
                let k = 3 * k as usize;
                let p = std::array::from_fn(|i| mesh.points[k + i] + moved[k + i]);
                project(p, view.planar)
            };
            let points: Vec<[f64; 2]> = face.iter().map(corner).collect();
            points.iter().for_each(|p| window.add(*p, 0.0));
            path(&points, points.len() > 2, ink, points.len() > 2, out);
        }
    }
}
