//! The figures of one run.

use std::io;
use std::path::Path;

use stickslip::scene::Scene;
use stickslip::simulation::RunSummary;
use stickslip::simulation::studies::branches::BranchTree;
use stickslip::view::ViewData;

use stickslip::internals::quantity::quantity;

use super::branch_figure::branch_figure;
use super::canvas::{Color, Stroke};
use super::elastic::{ElasticView, contact_forces, deformed_mesh};
use super::energy::{energy, parts};
use super::figure::Figure;
use super::impulses::impulses;
use super::margin::margins;
use super::mechanism::mechanism;
use super::panel::{Item, Panel};
use super::style;
use super::table::Table;
use super::timeline::timeline;
use super::units::Units;
use super::world::world_figures;

/// Label of time axes.
pub const TIME: &str = "time t [s]";
/// More curves than this share panels.
const PANELS: usize = 6;

/// A run as the figures need it.
#[derive(Debug)]
pub struct RunData {
    /// The scene as run.
    pub scene: Scene,
    /// The trajectory.
    pub table: Table,
    /// The summary, if the run is over.
    pub summary: Option<RunSummary>,
    /// Every branch, if the run followed them.
    pub branches: Option<BranchTree>,
    /// What is drawn of elastic bodies.
    pub elastic: ElasticView,
    /// Shapes, places and forces at the times of pictures, where there are any.
    pub picture: Option<ViewData>,
    /// What is drawn, and how large.
    pub view: RunView,
}

/// What is drawn of any run.
#[derive(Clone, Debug, Default)]
pub struct RunView {
    /// Columns of the trajectory, one panel each, instead of the usual figures.
    pub columns: Vec<String>,
    /// Width and height of a panel, if it is not left to the figure.
    pub size: Option<(f64, f64)>,
    /// Mean force of a step instead of its impulse.
    pub force: bool,
}

impl RunData {
    /// Names of the coordinates.
    pub fn coordinates(&self) -> Vec<String> {
        self.scene.coordinate_names()
    }

    /// Units of the coordinates.
    pub fn units(&self) -> Units {
        let text = self.scene.text().text();
        Units::of(text, &self.coordinates(), &self.scene.units)
    }

    /// Names of the velocities, without prefix.
    pub fn velocities(&self) -> Vec<String> {
        let names = self.table.names().iter();
        names
            .filter_map(|name| name.strip_prefix("v_").map(String::from))
            .filter(|name| self.table.names().contains(&format!("left_{name}")))
            .collect()
    }

    /// Names of the contacts.
    pub fn contacts(&self) -> Vec<String> {
        let names = self.table.owners("mode").into_iter();
        names.map(String::from).collect()
    }

    /// How the run was set up, in one line.
    pub fn subtitle(&self) -> String {
        let settings = &self.scene.settings;
        format!(
            "scheme {}, law {}, impact {}, step {}",
            settings.scheme,
            settings.law,
            settings.impact,
            quantity(settings.step, "s")
        )
    }

    pub(super) fn figure(&self, name: &str, what: &str) -> Figure {
        Figure {
            name: name.to_string(),
            title: format!("{}: {what}", self.scene.title),
            subtitle: self.subtitle(),
            ..Figure::default()
        }
    }
}

/// All figures that make sense for a run.
pub fn figures(run: &RunData) -> Vec<Figure> {
    let mut all = match run.view.columns.is_empty() {
        true => usual_figures(run),
        false => vec![columns(run)],
    };
    if let Some(size) = run.view.size {
        all.iter_mut().for_each(|figure| figure.panel_size = size);
    }
    all
}

/// The columns that were asked for, one panel each.
fn columns(run: &RunData) -> Figure {
    let mut figure = run.figure("columns", "columns");
    figure.columns = 1;
    figure.panel_size = (760.0, 230.0);
    for column in &run.view.columns {
        let mut panel = Panel {
            x_label: TIME.to_string(),
            y_label: column.clone(),
            ..Panel::default()
        };
        panel.add_curve(run.table.curve("t", column), style::curve(0), None);
        figure.panels.push(panel);
    }
    figure
}

fn usual_figures(run: &RunData) -> Vec<Figure> {
    // The nodes of a mesh are too many for curves of their own.
    if run
        .scene
        .elastic()
        .is_some_and(|system| system.mesh().is_some())
    {
        let mut all: Vec<Figure> = deformed_mesh(run).into_iter().collect();
        all.extend(contact_forces(run));
        all.push(energy(run));
        all.extend(parts(run));
        return all;
    }
    if let Some(world) = run.scene.world() {
        let mut all = world_figures(run, world);
        all.push(energy(run));
        return all;
    }
    let mut all = vec![motion(run)];
    if !run.contacts().is_empty() {
        all.push(gaps(run));
        all.push(impulses(run));
        all.push(timeline(run));
        all.extend(margins(run));
    }
    all.push(energy(run));
    all.extend(parts(run));
    all.extend(phase_portrait(run));
    all.extend(mechanism(run));
    all.extend(run.branches.as_ref().map(|tree| branch_figure(run, tree)));
    all
}

/// Draws all figures of a run into a folder; returns their names.
pub fn save_figures(run: &RunData, folder: &Path) -> io::Result<Vec<String>> {
    std::fs::create_dir_all(folder)?;
    let all = figures(run);
    for figure in &all {
        figure.save(folder)?;
    }
    Ok(all.into_iter().map(|figure| figure.name).collect())
}

/// Coordinates and velocities over time.
fn motion(run: &RunData) -> Figure {
    let (coordinates, velocities) = (run.coordinates(), run.velocities());
    let mut figure = run.figure("motion", "motion");
    let positions: Vec<Curve> = coordinates
        .iter()
        .map(|name| Curve {
            label: name.clone(),
            column: name.clone(),
            unit: run.units().coordinate(name),
        })
        .collect();
    let rates: Vec<Curve> = velocities
        .iter()
        .map(|name| Curve {
            label: velocity_label(run, name),
            column: format!("v_{name}"),
            unit: run.units().velocity(name),
        })
        .collect();
    figure.columns = 2;
    figure.panel_size = (470.0, 215.0);
    if positions.len().max(rates.len()) <= PANELS && positions.len() == rates.len() {
        for (position, rate) in positions.into_iter().zip(rates) {
            figure
                .panels
                .push(time_panel(&run.table, "", vec![position]));
            figure.panels.push(time_panel(&run.table, "", vec![rate]));
        }
    } else {
        let mut left = shared(&run.table, "coordinates", positions).into_iter();
        let mut right = shared(&run.table, "velocities", rates).into_iter();
        loop {
            let pair = (left.next(), right.next());
            if pair.0.is_none() && pair.1.is_none() {
                break;
            }
            figure.panels.push(pair.0.unwrap_or_else(Panel::blank));
            figure.panels.push(pair.1.unwrap_or_else(Panel::blank));
        }
        figure.panel_size = (470.0, 280.0);
    }
    figure
}

/// The name a scene uses for the velocity of a column.
fn velocity_label(run: &RunData, name: &str) -> String {
    if run.coordinates().iter().any(|other| other == name) {
        format!("{name}'")
    } else {
        name.to_string()
    }
}

/// A column with its label and unit.
struct Curve {
    label: String,
    column: String,
    unit: String,
}

/// Curves in as few panels as units and styles allow.
fn shared(table: &Table, what: &str, curves: Vec<Curve>) -> Vec<Panel> {
    let mut groups: Vec<Vec<Curve>> = Vec::new();
    for curve in curves {
        let fits =
            |group: &&mut Vec<Curve>| group[0].unit == curve.unit && group.len() < style::STYLES;
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    groups
        .into_iter()
        .map(|group| time_panel(table, what, group))
        .collect()
}

/// Curves of one unit over time; `what` they are if there are several.
fn time_panel(table: &Table, what: &str, curves: Vec<Curve>) -> Panel {
    let unit = curves.first().map_or("", |curve| curve.unit.as_str());
    let mut panel = Panel {
        x_label: TIME.to_string(),
        y_label: match &curves[..] {
            [only] if what == "gap" => format!("gap of {} [{unit}]", only.label),
            [only] => format!("{} [{unit}]", only.label),
            _ => format!("{what} [{unit}]"),
        },
        ..Panel::default()
    };
    let several = curves.len() > 1;
    for (k, curve) in curves.into_iter().enumerate() {
        let points = table.curve("t", &curve.column);
        panel.add_curve(points, style::curve(k), several.then_some(curve.label));
    }
    panel
}

/// Gaps of all contacts over time.
fn gaps(run: &RunData) -> Figure {
    let mut figure = run.figure("gaps", "gaps");
    let curves: Vec<Curve> = run
        .contacts()
        .into_iter()
        .map(|name| Curve {
            column: format!("{name}.gap"),
            label: name,
            unit: "m".to_string(),
        })
        .collect();
    figure.columns = 1;
    if curves.len() <= PANELS {
        figure.panel_size = (760.0, if curves.len() == 1 { 320.0 } else { 190.0 });
        for curve in curves {
            let label = curve.label.clone();
            let mut panel = time_panel(&run.table, "", vec![curve]);
            panel.y_label = "gap [m]".to_string();
            panel.title = label;
            panel
                .items
                .push(Item::Level(0.0, Stroke::solid(Color::INK, 0.8)));
            figure.panels.push(panel);
        }
    } else {
        figure.panel_size = (760.0, 300.0);
        figure.panels = shared(&run.table, "gap", curves);
    }
    figure
}

/// Velocity over coordinate, for each coordinate that has a velocity of its own name.
fn phase_portrait(run: &RunData) -> Option<Figure> {
    let mut figure = run.figure("phase", "phase portrait");
    let velocities = run.velocities();
    for name in &run.coordinates() {
        // A rigid body calls the velocity of x `vx`.
        let rate = [name.clone(), format!("v{name}")]
            .into_iter()
            .find(|rate| velocities.contains(rate));
        let Some(rate) = rate else { continue };
        let points = run.table.curve(name, &format!("v_{rate}"));
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
            continue;
        };
        // A coordinate that never moves has no portrait.
        let still = |k: usize| points.iter().all(|p| (p[k] - first[k]).abs() < 1e-12);
        if still(0) && still(1) {
            continue;
        }
        let mut panel = Panel {
            x_label: format!("{name} [{}]", run.units().coordinate(name)),
            y_label: format!(
                "{} [{}]",
                velocity_label(run, &rate),
                run.units().velocity(&rate)
            ),
            portrait: true,
            ..Panel::default()
        };
        panel.add_curve(points, Stroke::solid(style::color(0), 1.2), None);
        panel.add_dots(vec![first], 4.0, Color::INK, true, Some("start"));
        panel.add_dots(vec![last], 4.0, Color::INK, false, Some("end"));
        figure.panels.push(panel);
    }
    figure.columns = match figure.panels.len() {
        0 => return None,
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    figure.panel_size = match figure.columns {
        1 => (560.0, 430.0),
        2 => (440.0, 360.0),
        _ => (340.0, 290.0),
    };
    Some(figure)
}
