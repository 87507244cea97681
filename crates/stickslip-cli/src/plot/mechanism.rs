//! A strip of pictures of a planar mechanism in motion.

use stickslip::internals::view::palette::MODES;

use super::canvas::{Color, Stroke};
use super::figure::Figure;
use super::legend::Sample;
use super::panel::Panel;
use super::run_figures::RunData;
use super::snapshot::{Snapshot, Window};
use super::style;
use stickslip::internals::quantity::{quantity, time};

/// Pictures in a strip.
const PICTURES: usize = 8;
/// Frames from which pictures are chosen and traces drawn.
pub const TRACE: usize = 400;
/// Mechanisms with more contacts are drawn without their forces.
const ARROWS: usize = 24;

/// The drawing of the scene at several times, closer where it moves faster, with the traces of its points so far and the forces
/// of its contacts.
pub fn mechanism(run: &RunData) -> Option<Figure> {
    let view = run.picture.as_ref().filter(|view| !view.lines.is_empty())?;
    // The run may be longer than what is drawn of it.
    let times = run.table.times();
    let (first, last) = (*times.first()?, *times.last()?);
    let frames: Vec<Snapshot> = (0..view.times.len())
        .filter(|&frame| (first..=last).contains(&view.times[frame]))
        .map(|frame| Snapshot { view, frame })
        .collect();
    let times: Vec<f64> = frames.iter().map(Snapshot::time).collect();
    let traces = traces(&frames);
    let mut window = Window::EMPTY;
    for frame in &frames {
        for (k, points) in frame.lines() {
            let room = view.lines[k].radius.unwrap_or(0.0);
            points.iter().for_each(|p| window.add(*p, room));
        }
    }
    let size = window.size()?;
    let window = window.padded(0.05 * size);
    let (x_range, y_range) = (
        (window.low[0], window.high[0]),
        (window.low[1], window.high[1]),
    );
    // Windows between two frames show nothing.
    frames.first()?;
    let chosen: Vec<&Snapshot> = (0..PICTURES)
        .map(|k| &frames[instant(&traces, &times, k as f64 / (PICTURES - 1) as f64)])
        .collect();
    let mut figure = run.figure("mechanism", "the mechanism in motion");
    let strongest = match view.contacts.len() <= ARROWS {
        true => usual_force(&frames),
        false => 0.0,
    };
    if strongest > 0.0 {
        forces_legend(&chosen, &mut figure);
    }
    for frame in &chosen {
        let mut panel = Panel {
            title: format!("t = {}", time(frame.time(), last)),
            picture: true,
            x_range: Some(x_range),
            y_range: Some(y_range),
            ..Panel::default()
        };
        for trace in &traces {
            let so_far = trace[..=frame.frame - frames[0].frame].to_vec();
            if so_far.len() > 1 {
                panel.add_curve(so_far, Stroke::solid(Color(190, 205, 225), 1.0), None);
            }
        }
        panel.items.extend(frame.items(1.0));
        if strongest > 0.0 {
            panel.items.extend(frame.arrows(strongest, 0.16 * size));
        }
        figure.panels.push(panel);
    }
    let (columns, panel_size) = arrangement(x_range.1 - x_range.0, y_range.1 - y_range.0);
    figure.columns = columns;
    figure.panel_size = panel_size;
    let width = (x_range.1 - x_range.0) * scale_of(panel_size, x_range, y_range);
    figure.subtitle = format!(
        "each picture {} wide; light lines: traces so far",
        quantity(width, "m")
    );
    if strongest > 0.0 {
        figure.subtitle += &format!(
            "; arrow as long as its cone: {}",
            quantity(0.75 * strongest, "N")
        );
    }
    Some(figure)
}

/// The states of contacts that the pictures show.
fn forces_legend(chosen: &[&Snapshot], figure: &mut Figure) {
    for (mode, mark) in MODES.iter().enumerate() {
        let shown = |frame: &&Snapshot| frame.contacts().any(|c| usize::from(c.mode) == mode);
        if mode > 0 && chosen.iter().any(shown) {
            let sample = Sample::Line(style::mode(mode as u8, 2.0));
            let name = format!("force where the contact {}", mark.name);
            let name = name.replace("contact without", "contact is without");
            figure.legend.push((name, sample));
        }
    }
}

/// A force that few are larger than: impacts do not set the scale.
fn usual_force(frames: &[Snapshot]) -> f64 {
    let all = frames.iter();
    let mut forces: Vec<f64> = all
        .flat_map(|frame| frame.contacts().map(|contact| frame.force(contact)))
        .collect();
    forces.sort_by(f64::total_cmp);
    let place = (0.9 * forces.len() as f64) as usize;
    forces.get(place).copied().unwrap_or(0.0)
}

/// Of every moving shape, the trace of the point that goes the longest way.
fn traces(frames: &[Snapshot]) -> Vec<Vec<[f64; 2]>> {
    let Some(first) = frames.first() else {
        return Vec::new();
    };
    let all: Vec<_> = frames.iter().map(Snapshot::lines).collect();
    let mut traces = Vec::new();
    for (k, line) in first.view.lines.iter().enumerate() {
        if !line.moving {
            continue;
        }
        let point = |j: usize| all.iter().map(|lines| lines[k].1[j]).collect::<Vec<_>>();
        let longest = (0..line.count).map(point);
        traces.extend(longest.max_by(|a, b| way(a).total_cmp(&way(b))));
    }
    traces
}

/// The frame at which a share of the run is over, counting the ways of all points more than time: a
/// mechanism that has come to rest needs no more pictures.
fn instant(traces: &[Vec<[f64; 2]>], times: &[f64], share: f64) -> usize {
    const TIME_WEIGHT: f64 = 0.35;
    let last = times.len() - 1;
    let mut ways = vec![0.0; times.len()];
    for trace in traces {
        for k in 1..trace.len() {
            ways[k] += way(&trace[k - 1..=k]);
        }
    }
    let total: f64 = ways.iter().sum();
    let length = times[last] - times[0];
    if total <= 0.0 || length <= 0.0 {
        return (share * last as f64).round() as usize;
    }
    let mut gone = 0.0;
    for k in 0..=last {
        gone += ways[k];
        let time = (times[k] - times[0]) / length;
        if TIME_WEIGHT * time + (1.0 - TIME_WEIGHT) * gone / total >= share - 1e-9 {
            return k;
        }
    }
    last
}

/// How much wider the picture is than the mechanism because of its shape.
fn scale_of(size: (f64, f64), x: (f64, f64), y: (f64, f64)) -> f64 {
    let (width, height) = (size.0 - 22.0, size.1 - 26.0);
    let need = ((x.1 - x.0) / width).max((y.1 - y.0) / height);
    need * width / (x.1 - x.0)
}

/// Columns and size of the pictures, from the shape of the mechanism.
fn arrangement(width: f64, height: f64) -> (usize, (f64, f64)) {
    let ratio = height / width;
    if ratio > 1.6 {
        (8, (135.0, (135.0 * ratio).min(420.0) + 26.0))
    } else if ratio < 0.3 {
        (2, (470.0, (450.0 * ratio).max(70.0) + 40.0))
    } else {
        (4, (235.0, 215.0 * ratio.clamp(0.45, 1.6) + 30.0))
    }
}

/// Length of the way through the points.
fn way(points: &[[f64; 2]]) -> f64 {
    let steps = points.windows(2);
    steps
        .map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]))
        .sum()
}
