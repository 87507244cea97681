//! Small pictures of scenes for the index of the laboratory, drawn from the data of a run.

use stickslip::scene::Scene;
use stickslip::systems::MechanicalSystem;
use stickslip::view::{ViewData, ViewOptions};

use crate::plot::{Canvas, Item, Panel, Snapshot, Window, obstacles, svg};

/// Frames of the run that a picture shows, as shares of its end, and how strongly they are drawn.
const SHARES: [(f64, f64); 3] = [(0.0, 0.3), (0.35, 0.55), (1.0, 1.0)];
/// Width and height of a picture.
const SIZE: (f64, f64) = (400.0, 240.0);
/// Runs of more steps are drawn at their start only, so that a site is built in minutes.
const STEPS_MAX: f64 = 4000.0;
/// Steps of large worlds and fine meshes.
const STEPS_MIN: f64 = 40.0;
/// Steps of an elastic body times its degrees of freedom.
const WORK: f64 = 3e5;

/// Three instants of a run over each other, the last one strongest; none where nothing can be drawn.
pub fn thumbnail(name: &str, scene: &Scene) -> Option<String> {
    let mut scene = scene.clone();
    let steps = match (scene.world(), scene.elastic()) {
        (Some(world), _) if world.bodies.len() > 60 => STEPS_MIN,
        (_, Some(system)) => (WORK / system.dof() as f64).clamp(STEPS_MIN, STEPS_MAX),
        _ => STEPS_MAX,
    };
    scene.settings.until = scene.settings.until.min(steps * scene.settings.step);
    let options = ViewOptions {
        frames_max: 60,
        ..ViewOptions::default()
    };
    let view = ViewData::of_run(&scene, name, &options).ok()?;
    let frames: Vec<(Snapshot, f64)> = SHARES
        .iter()
        .map(|&(share, strength)| {
            let frame = (share * (view.times.len() - 1) as f64).round() as usize;
            (Snapshot { view: &view, frame }, strength)
        })
        .collect();
    let mut window = Window::EMPTY;
    for (frame, _) in &frames {
        frame.bound(&mut window);
    }
    let size = window.size()?;
    let window = window.padded(0.06 * size);
    let mut panel = Panel {
        picture: true,
        x_range: Some((window.low[0], window.high[0])),
        y_range: Some((window.low[1], window.high[1])),
        ..Panel::default()
    };
    for (k, (frame, strength)) in frames.iter().enumerate() {
        if k == 0 {
            panel.items.extend(frame.grounds(window));
            panel.items.extend(elastic_obstacles(&scene, frame, window));
        }
        panel.items.extend(frame.items(*strength));
    }
    let mut canvas = Canvas::new(SIZE.0, SIZE.1, scene.title.as_str());
    panel.draw_bare(&mut canvas);
    Some(svg(&canvas))
}

/// What elastic bodies of a scene meet.
fn elastic_obstacles(scene: &Scene, frame: &Snapshot, window: Window) -> Vec<Item> {
    let found = scene.elastic().and_then(|system| {
        let space = system.mesh()?.dimension();
        let body = (frame.middle(), 0.6 * window.size()?);
        Some(obstacles(system, frame.time(), space, body, window))
    });
    found.unwrap_or_default()
}
