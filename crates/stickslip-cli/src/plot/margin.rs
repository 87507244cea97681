//! How near contacts come to the Painleve region.

use super::canvas::{Color, Stroke};
use super::figure::Figure;
use super::panel::{Item, Panel};
use super::run_figures::{RunData, TIME};
use super::style;

/// Margin gamma/W_nn of the active contacts over time; none if it never tells anything.
pub fn margins(run: &RunData) -> Option<Figure> {
    let mut figure = run.figure("margin", "margin to the Painleve region");
    let mut panel = Panel {
        x_label: TIME.to_string(),
        y_label: "gamma / W_nn".to_string(),
        ..Panel::default()
    };
    for (k, name) in run.contacts().iter().enumerate() {
        let points = run.table.curve("t", &format!("{name}.margin"));
        // Without coupling of normal and tangent the margin is 1 and always will be.
        if !points.iter().any(|p| p[1] < 1.0 - 1e-9) {
            continue;
        }
        let mut name = Some(name.clone());
        for stretch in points.split(|p| !p[1].is_finite()) {
            if !stretch.is_empty() {
                panel.add_curve(stretch.to_vec(), style::curve(k), name.take());
            }
        }
    }
    if panel.items.is_empty() {
        return None;
    }
    let times = run.table.times();
    panel.x_range = times.first().copied().zip(times.last().copied());
    panel
        .items
        .push(Item::Level(0.0, Stroke::solid(Color(190, 0, 0), 1.6)));
    panel.title = "below the red line friction alone can jam the contact".to_string();
    figure.columns = 1;
    figure.panel_size = (760.0, 320.0);
    figure.panels.push(panel);
    Some(figure)
}
