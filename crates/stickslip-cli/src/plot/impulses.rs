//! Impulses of the contacts: how large, and how much of the friction is used.

use super::canvas::{Color, Stroke};
use super::figure::Figure;
use super::panel::{Item, Panel};
use super::run_figures::{RunData, TIME};
use super::style;

/// Contacts beyond this number are left to the timeline.
const CONTACTS: usize = 6;
/// Stems under more impulses than this would be a grey wall.
const STEMS: usize = 150;

/// For each contact the normal impulse of every step, as powers of ten so that impacts and lasting
/// contact are both seen, and, with friction, the ratio of tangential to normal impulse.
pub fn impulses(run: &RunData) -> Figure {
    let what = match run.view.force {
        true => "contact forces, means of each step",
        false => "contact impulses of each step",
    };
    let mut figure = run.figure("impulses", what);
    let contacts = run.contacts();
    let shown = &contacts[..contacts.len().min(CONTACTS)];
    if shown.len() < contacts.len() {
        let rest = contacts.len() - shown.len();
        figure.subtitle += &format!(" ({rest} further contacts not shown)");
    }
    let friction = shown.iter().any(|name| !tangents(run, name).is_empty());
    for name in shown {
        figure.panels.push(normal(run, name));
        if friction {
            figure.panels.push(ratio(run, name));
        }
    }
    figure.columns = if friction { 2 } else { 1 };
    let height = if shown.len() > 2 { 230.0 } else { 290.0 };
    figure.panel_size = (if friction { 470.0 } else { 760.0 }, height);
    figure
}

/// Names of the tangential columns of a contact.
fn tangents(run: &RunData, name: &str) -> Vec<String> {
    (1..)
        .map(|k| format!("{name}.p_t{k}"))
        .take_while(|column| run.table.column(column).is_some())
        .collect()
}

fn panel(name: &str, y_label: &str, (low, high): (f64, f64)) -> Panel {
    Panel {
        title: name.to_string(),
        x_label: TIME.to_string(),
        y_label: y_label.to_string(),
        x_range: Some((low, high)),
        ..Panel::default()
    }
}

fn duration(run: &RunData) -> (f64, f64) {
    let times = run.table.times();
    (
        times.first().copied().unwrap_or(0.0),
        times.last().copied().unwrap_or(1.0),
    )
}

fn normal(run: &RunData, name: &str) -> Panel {
    let mut points = run.table.curve("t", &format!("{name}.p_n"));
    let (first, last) = duration(run);
    if run.view.force {
        // The impact at the start has no duration, and no force.
        let steps = run.table.column("dt").unwrap_or_default();
        for (point, dt) in points.iter_mut().zip(steps) {
            point[1] = if *dt > 0.0 { point[1] / dt } else { 0.0 };
        }
    } else {
        // A thinned trajectory misses steps; the events do not.
        let events = run.summary.iter().flat_map(|summary| &summary.events);
        let shown = events.filter(|e| e.contact == name && (first..=last).contains(&e.t));
        points.extend(shown.map(|event| [event.t, event.impulse]));
    }
    let largest = points.iter().map(|p| p[1]).fold(0.0, f64::max);
    // What is smaller than rounding of the largest impulse is rounding.
    points.retain(|p| p[1] > 1e-14 * largest);
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let label = match run.view.force {
        true => "normal force [N]",
        false => "normal impulse [N s]",
    };
    let mut panel = panel(name, label, (first, last));
    // Powers of ten only where a common scale would hide the small ones.
    let least = points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
    panel.logarithmic = largest > 50.0 * least;
    if !panel.logarithmic {
        panel.y_range = Some((0.0, 1.08 * largest)).filter(|_| largest > 0.0);
    }
    if points.len() <= STEMS {
        let stem = Stroke::solid(Color(170, 190, 205), 0.8);
        panel.items.push(Item::Stems(points.clone(), stem));
    }
    panel.add_dots(points, 1.6, style::color(0), false, None);
    panel
}

fn ratio(run: &RunData, name: &str) -> Panel {
    let columns = tangents(run, name);
    let mut panel = panel(name, "tangential / normal impulse", duration(run));
    let normal = run.table.curve("t", &format!("{name}.p_n"));
    let largest = normal.iter().map(|p| p[1]).fold(0.0, f64::max);
    for (k, column) in columns.iter().enumerate() {
        let pairs = normal
            .iter()
            .zip(run.table.column(column).unwrap_or_default());
        let points: Vec<[f64; 2]> = pairs
            .filter(|(p, _)| p[1] > 1e-12 * largest)
            .map(|(p, tangential)| [p[0], tangential / p[1]])
            .collect();
        let label = (columns.len() > 1).then(|| format!("tangent {}", k + 1));
        panel.add_dots(points, 1.6, style::color(k), k > 0, label.as_deref());
    }
    let axis = Stroke::solid(Color::INK, 0.8);
    panel.items.push(Item::Level(0.0, axis));
    panel
}
