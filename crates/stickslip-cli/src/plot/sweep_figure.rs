//! The outcomes of a sweep: curves over one parameter, maps over two.

use stickslip::scene::{Cell, SceneMap};
use stickslip::simulation::studies::sweep::{Sweep, SweepAxis};

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
    match axes {
        [x] => over_one(sweep, x, &mut figure),
        [x, y, ..] => over_two(sweep, (x, y), &mut figure),
        [] => {}
    }
    figure
}

/// An outcome at a point; not a number where it is not computed.
fn value(sweep: &Sweep, point: usize, outcome: usize) -> f64 {
    let point = sweep.points()[point].as_ref();
    point.map_or(f64::NAN, |p| p.values[outcome])
}

/// A point that is not computed is not doubtful.
fn certified(sweep: &Sweep, point: usize) -> bool {
    sweep.points()[point].as_ref().is_none_or(|p| p.certified)
}

/// Curves over one parameter, or a bifurcation diagram.
fn over_one(sweep: &Sweep, x: &SweepAxis, figure: &mut Figure) {
    let pairs = |k: usize, shown: &dyn Fn(usize) -> bool| -> Vec<[f64; 2]> {
        let those = (0..x.values.len()).filter(|&i| shown(i));
        let pairs = those.map(|i| [x.values[i], value(sweep, i, k)]);
        pairs.filter(|p| p[1].is_finite()).collect()
    };
    let points = |k: usize| pairs(k, &|_| true);
    let doubtful = |k: usize| pairs(k, &|i| !certified(sweep, i));
    let panel = |y_label: &str| Panel {
        x_label: x.name.clone(),
        y_label: y_label.to_string(),
        ..Panel::default()
    };
    let mark = |panel: &mut Panel, dots: Vec<[f64; 2]>, size: f64| {
        if !dots.is_empty() {
            panel.add_dots(dots, size, style::color(1), true, Some("not certified"));
        }
    };
    let count = sweep.outcomes().len();
    if count > PANELS {
        let base = sweep.outcomes()[0].split('[').next().unwrap_or_default();
        let mut panel = panel(base);
        let all = (0..count).flat_map(points).collect();
        panel.add_dots(all, 0.9, style::color(0), false, None);
        mark(&mut panel, (0..count).flat_map(doubtful).collect(), 2.0);
        figure.panels.push(panel);
        figure.panel_size = (760.0, 480.0);
        return;
    }
    for (k, outcome) in sweep.outcomes().iter().enumerate() {
        let mut panel = panel(outcome);
        panel.add_curve(points(k), style::curve(0), None);
        mark(&mut panel, doubtful(k), 3.0);
        figure.panels.push(panel);
    }
}

/// Maps over two parameters.
fn over_two(sweep: &Sweep, (x, y): (&SweepAxis, &SweepAxis), figure: &mut Figure) {
    // Distance of two points along the first two axes.
    let axes = sweep.axes();
    let behind = |k: usize| axes[k..].iter().map(|a| a.values.len()).product::<usize>();
    let (along_x, along_y) = (behind(1), behind(2));
    let points: Vec<usize> = (0..y.values.len())
        .flat_map(|j| (0..x.values.len()).map(move |i| i * along_x + j * along_y))
        .collect();
    for (k, outcome) in sweep.outcomes().iter().enumerate().take(PANELS) {
        let cell = |&point: &usize| Cell::Number(value(sweep, point, k));
        let map = SceneMap {
            x: x.clone(),
            y: y.clone(),
            cells: points.iter().map(cell).collect(),
            certified: points
                .iter()
                .map(|&point| certified(sweep, point))
                .collect(),
            boundary: Vec::new(),
        };
        let mut drawn = map_figure(&map, (String::new(), outcome), None);
        for panel in &mut drawn.panels {
            panel.title.clone_from(outcome);
        }
        figure.panel_size = drawn.panel_size;
        figure.panels.append(&mut drawn.panels);
    }
}
