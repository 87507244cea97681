//! Figures for others than the command line: benches, and the cells of notebooks.

use super::figure::Figure;
use super::panel::Panel;
use super::style;

/// Curves over powers of ten in both directions, as the text of an SVG file.
#[must_use]
pub fn growth_svg(title: &str, labels: [&str; 2], curves: &[(String, Vec<[f64; 2]>)]) -> String {
    let mut panel = Panel {
        x_label: labels[0].to_string(),
        y_label: labels[1].to_string(),
        logarithmic: true,
        logarithmic_x: true,
        ..Panel::default()
    };
    for (k, (name, points)) in curves.iter().enumerate() {
        panel.add_curve(points.clone(), style::curve(k), Some(name.clone()));
    }
    let figure = Figure {
        title: title.to_string(),
        panels: vec![panel],
        columns: 1,
        panel_size: (760.0, 430.0),
        ..Figure::default()
    };
    figure.svg()
}

/// Energies over time, as the text of an SVG file that may stand inside a page.
#[must_use]
pub fn energy_svg(times: &[f64], curves: &[(&str, &[f64])]) -> String {
    let mut panel = Panel {
        x_label: super::run_figures::TIME.to_string(),
        y_label: "energy [J]".to_string(),
        ..Panel::default()
    };
    for (k, (name, values)) in curves.iter().enumerate() {
        let points = times.iter().zip(*values).map(|(&t, &v)| [t, v]).collect();
        panel.add_curve(points, style::curve(k), Some((*name).to_string()));
    }
    let mut canvas = super::canvas::Canvas::new(560.0, 210.0, "energy over time");
    let size = (560.0, 206.0);
    let margin = panel.left_margin(size);
    panel.draw(&mut canvas, [0.0, 0.0], size, margin);
    super::svg::svg(&canvas)
}
