//! Pictures of worlds: bodies with the forces between them, and how some of them move.

use stickslip::internals::view::palette::MODES;
use stickslip::systems::world::{Dimension, World};

use super::figure::Figure;
use super::legend::Sample;
use super::panel::Panel;
use super::run_figures::{RunData, TIME};
use super::snapshot::{Snapshot, Window};
use super::style;
use stickslip::internals::quantity::time;

/// Bodies with curves of their own.
const CURVES: usize = 6;

/// All figures of a world beside those of its energy.
pub fn world_figures(run: &RunData, world: &World) -> Vec<Figure> {
    let mut all = Vec::new();
    all.extend(pictures(run));
    all.extend(motion(run, world));
    all
}

/// The bodies at some times, with contact forces as lines.
fn pictures(run: &RunData) -> Option<Figure> {
    let view = run.picture.as_ref()?;
    let frames: Vec<Snapshot> = (0..view.times.len())
        .map(|frame| Snapshot { view, frame })
        .collect();
    let mut window = Window::EMPTY;
    frames.iter().for_each(|frame| frame.bound(&mut window));
    let size = window.size()?;
    let window = window.padded(0.08 * size);
    let strongest = frames
        .iter()
        .flat_map(|frame| frame.contacts().map(|contact| frame.force(contact)))
        .fold(0.0, f64::max);
    let mut figure = run.figure("world", "bodies and contact forces");
    for (mode, mark) in MODES.iter().enumerate() {
        let shown = |frame: &Snapshot| frame.contacts().any(|c| usize::from(c.mode) == mode);
        if frames.iter().any(shown) {
            let sample = Sample::Line(style::mode(mode as u8, 2.0));
            figure.legend.push((mark.name.to_string(), sample));
        }
    }
    if strongest > 0.0 {
        figure.subtitle += &format!(
            "; longest line {}",
            stickslip::internals::quantity::quantity(strongest, "N")
        );
    }
    for frame in &frames {
        let mut panel = Panel {
            title: format!("t = {}", time(frame.time(), view.times[frames.len() - 1])),
            picture: true,
            x_range: Some((window.low[0], window.high[0])),
            y_range: Some((window.low[1], window.high[1])),
            ..Panel::default()
        };
        panel.items = frame.grounds(window);
        panel.items.extend(frame.items(1.0));
        if strongest > 0.0 {
            let reach = (0.12 * size).min(1.5 * frame.body_size());
            panel.items.extend(frame.chains(strongest, reach));
        }
        figure.panels.push(panel);
    }
    let ratio = (window.high[1] - window.low[1]) / (window.high[0] - window.low[0]);
    figure.columns = 3.min(frames.len());
    figure.panel_size = (320.0, (300.0 * ratio).clamp(120.0, 480.0) + 40.0);
    Some(figure)
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
