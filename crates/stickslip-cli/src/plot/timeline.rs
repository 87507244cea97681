//! When each contact was open, sticking, slipping.

use stickslip::internals::view::palette::{IMPACT, MODES};

use super::canvas::{Color, Fill, Hatch, Stroke};
use super::figure::Figure;
use super::legend::Sample;
use super::panel::{Item, Panel};
use super::run_figures::{RunData, TIME};

/// Rows beyond this number do not fit a page.
const ROWS: usize = 40;

/// Height of a bar, in rows.
const HALF: f64 = 0.3;

/// A bar per contact over time: dark where it sticks, hatched where it slips, a thin line where it
/// is open; a triangle-like tick marks each impact.
pub fn timeline(run: &RunData) -> Figure {
    let mut figure = run.figure("timeline", "stick, slip, open");
    let contacts = run.contacts();
    let shown = &contacts[..contacts.len().min(ROWS)];
    let times = run.table.times();
    let mut panel = Panel {
        x_label: TIME.to_string(),
        rows: Some(shown.to_vec()),
        ..Panel::default()
    };
    panel.x_range = times.first().copied().zip(times.last().copied());
    let shortest = panel
        .x_range
        .map_or(0.0, |(low, high)| 0.0015 * (high - low));
    let mut modes = [false; 4];
    for (row, name) in shown.iter().enumerate() {
        let y = row as f64;
        let column = run
            .table
            .column(&format!("{name}.mode"))
            .unwrap_or_default();
        for (code, from, to) in spans(times, column) {
            modes[usize::from(code)] = true;
            // A contact of one step is still seen.
            let to = to.max(from + shortest);
            match fill(code) {
                Some(fill) => {
                    let corners = vec![
                        [from, y - HALF],
                        [to, y - HALF],
                        [to, y + HALF],
                        [from, y + HALF],
                    ];
                    panel.add_area(corners, fill, None);
                }
                None => panel.add_curve(vec![[from, y], [to, y]], open(), None),
            }
        }
        let impacts = impacts(run, name);
        let ticks = impacts.iter().map(|&t| vec![[t, y - 0.46], [t, y - HALF]]);
        for tick in ticks {
            panel.items.push(Item::Curve(tick, impact()));
        }
    }
    for (code, mark) in MODES.iter().enumerate() {
        if modes[code] {
            let sample = fill(code as u8).map_or(Sample::Line(open()), Sample::Box);
            panel.legend.push((mark.name.to_string(), sample));
        }
    }
    panel.legend.push((
        "impact (short stroke above)".to_string(),
        Sample::Line(impact()),
    ));
    figure.columns = 1;
    figure.panel_size = (860.0, 100.0 + 46.0 * shown.len() as f64);
    figure.panels.push(panel);
    figure
}

fn open() -> Stroke {
    Stroke::solid(MODES[0].colour, 1.0)
}

fn impact() -> Stroke {
    Stroke::solid(IMPACT, 1.4)
}

fn fill(code: u8) -> Option<Fill> {
    let color = MODES.get(usize::from(code))?.colour;
    let hatched = |hatch: Hatch| Fill::Hatched {
        hatch,
        color,
        ground: Color::WHITE.mixed(color, 0.2),
    };
    match code {
        1 => Some(Fill::Solid(color)),
        2 => Some(hatched(Hatch::Rising)),
        3 => Some(hatched(Hatch::Dots)),
        _ => None,
    }
}

/// Stretches of one mode. A record tells the mode of the step that ends at its time.
fn spans(times: &[f64], modes: &[f64]) -> Vec<(u8, f64, f64)> {
    let mut out: Vec<(u8, f64, f64)> = Vec::new();
    for (k, mode) in modes.iter().enumerate().skip(1) {
        let code = (*mode as u8).min(3);
        match out.last_mut() {
            Some(last) if last.0 == code => last.2 = times[k],
            _ => out.push((code, times[k - 1], times[k])),
        }
    }
    out
}

/// Times of the impacts of a contact.
fn impacts(run: &RunData, name: &str) -> Vec<f64> {
    let events = run.summary.iter().flat_map(|summary| &summary.events);
    events
        .filter(|e| e.contact == name && e.kind == stickslip::records::EventKind::Impact)
        .map(|e| e.t)
        .collect()
}
