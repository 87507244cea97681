//! The outcomes of a sweep: curves over one parameter, maps over two.

use stickslip::scene::{Cell, SceneMap};
use stickslip::simulation::studies::sweep::Sweep;

use super::figure::Figure;
use super::map_figure::map_figure;
use super::panel::Panel;
use super::style;

/// More outcomes than this are points of one panel (a bifurcation diagram).
const PANELS: usize = 12;

/// One panel per outcome over the first parameter, or a map over the first two; further parameters stand at their first value.
pub fn sweep_figure(sweep: &Sweep, name: &str, title: &str) -> Figure {
    let axes = sweep.axes();
    let mut figure = Figure {
        name: name.to_string(),
        title: title.to_string(),
        columns: 1,
        panel_size: (640.0, 300.0),
        ..Figure::default()
    };
    let fixed: Vec<String> = axes
        .iter()
        .skip(2)
        .map(|axis| format!("{} = {}", axis.name, axis.values[0]))
        .collect();
    figure.subtitle = fixed.join(", ");
    // Distance of two points along the first two axes.
    let behind = |k: usize| axes[k..].iter().map(|a| a.values.len()).product::<usize>();
    let value = |point: usize, outcome: usize| {
        let point = sweep.points()[point].as_ref();
        point.map_or(f64::NAN, |p| p.values[outcome])
    };
    // A point that is not computed is not doubtful.
    let certified = |point: usize| sweep.points()[point].as_ref().is_none_or(|p| p.certified);
    if axes.len() == 1 {
        let x = &axes[0];
        let points = |k: usize| -> Vec<[f64; 2]> {
            let pairs = (0..x.values.len()).map(|i| [x.values[i], value(i, k)]);
            pairs.filter(|p| p[1].is_finite()).collect()
        };
        let doubtful = |k: usize| -> Vec<[f64; 2]> {
            let those = (0..x.values.len()).filter(|&i| !certified(i));
            let pairs = those.map(|i| [x.values[i], value(i, k)]);
            pairs.filter(|p| p[1].is_finite()).collect()
        };
        let count = sweep.outcomes().len();
        if count > PANELS {
            let base = sweep.outcomes()[0].split('[').next().unwrap_or_default();
            let mut panel = Panel {
                x_label: x.name.clone(),
                y_label: base.to_string(),
                ..Panel::default()
            };
            let all = (0..count).flat_map(points).collect();
            panel.add_dots(all, 0.9, style::color(0), false, None);
            let rings: Vec<[f64; 2]> = (0..count).flat_map(doubtful).collect();
            if !rings.is_empty() {
                panel.add_dots(rings, 2.0, style::color(1), true, Some("not certified"));
            }
            figure.panels.push(panel);
            figure.panel_size = (760.0, 480.0);
            return figure;
        }
        for (k, outcome) in sweep.outcomes().iter().enumerate() {
            let mut panel = Panel {
                x_label: x.name.clone(),
                y_label: outcome.clone(),
                ..Panel::default()
            };
            let curve = points(k);
            panel.add_curve(curve.clone(), style::curve(0), None);
            let dots = doubtful(k);
            if !dots.is_empty() {
                panel.add_dots(dots, 3.0, style::color(1), true, Some("not certified"));
            }
            figure.panels.push(panel);
        }
        return figure;
    }
    let (x, y) = (&axes[0], &axes[1]);
    let (along_x, along_y) = (behind(1), behind(2));
    for (k, outcome) in sweep.outcomes().iter().enumerate().take(PANELS) {
        let points: Vec<usize> = (0..y.values.len())
            .flat_map(|j| (0..x.values.len()).map(move |i| i * along_x + j * along_y))
            .collect();
        let cell = |&point: &usize| Cell::Number(value(point, k));
        let map = SceneMap {
            x: x.clone(),
            y: y.clone(),
            cells: points.iter().map(cell).collect(),
            certified: points.iter().map(|&point| certified(point)).collect(),
            boundary: Vec::new(),
        };
        let mut drawn = map_figure(&map, (String::new(), outcome), None);
        for panel in &mut drawn.panels {
            panel.title.clone_from(outcome);
        }
        figure.panel_size = drawn.panel_size;
        figure.panels.append(&mut drawn.panels);
    }
    figure
}
