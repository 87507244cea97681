//! The energy ledger as stacked areas.

use stickslip::internals::view::palette::{LEDGER, SUPPLIES};

use super::canvas::{Color, Fill, Stroke};
use super::figure::Figure;
use super::panel::Panel;
use super::run_figures::{RunData, TIME};
use super::style;

/// Kinetic and potential energy with all losses on top of each other: the upper edge is the energy at
/// the start plus the work of external forces, drawn as a dashed line that the stack must meet.
pub fn energy(run: &RunData) -> Figure {
    let mut figure = run.figure("energy", "where the energy went");
    let table = &run.table;
    let times = table.times();
    let column = |name: &str| table.column(name).unwrap_or_default().to_vec();
    let term = |name: &str| column(&format!("energy.{name}"));
    let (kinetic, potential) = (column("kinetic"), column("potential"));
    let lowest = potential.iter().copied().fold(f64::INFINITY, f64::min);
    let raised: Vec<f64> = potential.iter().map(|v| v - lowest).collect();

    let mut layers: Vec<Layer> = Vec::new();
    for entry in &LEDGER {
        let mut values = vec![0.0; times.len()];
        for name in entry.columns {
            let (sign, works) = match *name {
                "kinetic" => (1.0, kinetic.clone()),
                "potential" => (1.0, raised.clone()),
                name => (-1.0, column(name)),
            };
            for (sum, work) in values.iter_mut().zip(works) {
                *sum += sign * work;
            }
        }
        layers.push((entry.label.to_string(), values, style::layer(entry)));
    }
    let scale = layers
        .iter()
        .flat_map(|layer| &layer.1)
        .fold(0.0f64, |m, v| m.max(v.abs()));
    layers.retain(|(_, values, _)| values.iter().any(|v| v.abs() > 2e-3 * scale));

    let mut panel = Panel {
        x_label: TIME.to_string(),
        y_label: "energy [J]".to_string(),
        ..Panel::default()
    };
    stack(&mut panel, times, &layers);
    // The ledger: what was there at the start, and what came from outside.
    let mut external = vec![0.0; times.len()];
    for name in SUPPLIES {
        for (sum, work) in external.iter_mut().zip(column(name)) {
            *sum += work;
        }
    }
    if let (Some(t0), Some(v0)) = (kinetic.first(), raised.first()) {
        let start = t0 + v0
            - term("kinetic_change").first().unwrap_or(&0.0)
            - term("potential_change").first().unwrap_or(&0.0);
        let line: Vec<[f64; 2]> = times
            .iter()
            .zip(&external)
            .map(|(&t, w)| [t, start + w])
            .collect();
        let name = if external.iter().any(|w| w.abs() > 1e-4 * scale) {
            "start + external work"
        } else {
            "at the start"
        };
        panel.add_curve(line, dashed(), Some(name.to_string()));
    }
    figure.columns = 1;
    figure.panel_size = (820.0, 430.0);
    figure.panels.push(panel);
    figure
}

/// What an elastic body lost or passed on, by the terms of its account; what it received is below zero.
/// The last number is the layer of the ledger of a run that they look like.
const BODY_LOSSES: [(&str, &str, usize); 4] = [
    ("passed on by friction", "contact_tangential", 2),
    ("passed on by normal impulses", "contact_normal", 3),
    ("taken by damping", "damping", 4),
    ("taken by the scheme", "numerical", 5),
];

/// The accounts of elastic bodies, stacked like that of the run, and the works at their contact surfaces.
pub fn parts(run: &RunData) -> Option<Figure> {
    let system = run.scene.elastic()?;
    let mut figure = run.figure("energy-parts", "energy of bodies and contact surfaces");
    let (table, times) = (&run.table, run.table.times());
    // A single body has the account of the run, which is drawn already.
    let bodies: Vec<&str> = match system.bodies() {
        [_] => Vec::new(),
        several => several.iter().map(|body| body.name.as_str()).collect(),
    };
    for body in bodies {
        let column = |term: &str| table.column(&format!("{body}.{term}"));
        let (Some(kinetic), Some(elastic)) = (column("kinetic"), column("elastic")) else {
            continue;
        };
        let mut layers = vec![
            (
                "kinetic".to_string(),
                kinetic.to_vec(),
                style::layer(&LEDGER[0]),
            ),
            (
                "elastic".to_string(),
                elastic.to_vec(),
                style::layer(&LEDGER[1]),
            ),
        ];
        for (name, term, like) in BODY_LOSSES {
            let works = column(term).unwrap_or_default();
            let values = works.iter().map(|w| -w).collect();
            layers.push((name.to_string(), values, style::layer(&LEDGER[like])));
        }
        let values = layers.iter().flat_map(|layer| &layer.1);
        let scale = values.fold(0.0f64, |m, v| m.max(v.abs()));
        layers.retain(|(_, values, _)| values.iter().any(|v| v.abs() > 2e-3 * scale));
        let mut panel = Panel {
            title: body.to_string(),
            x_label: TIME.to_string(),
            y_label: "energy [J]".to_string(),
            ..Panel::default()
        };
        stack(&mut panel, times, &layers);
        let start = kinetic.first()? + elastic.first()?;
        let external = column("external").unwrap_or_default();
        let line = times.iter().zip(external);
        let line = line.map(|(&t, w)| [t, start + w]).collect();
        panel.add_curve(line, dashed(), Some("start + external work".to_string()));
        figure.panels.push(panel);
    }
    for surface in table.owners("work_n") {
        let mut panel = Panel {
            title: surface.to_string(),
            x_label: TIME.to_string(),
            y_label: "work since the start [J]".to_string(),
            ..Panel::default()
        };
        for (k, (name, term)) in [("normal", "work_n"), ("friction", "work_t")]
            .into_iter()
            .enumerate()
        {
            let points = table.curve("t", &format!("{surface}.{term}"));
            panel.add_curve(points, style::curve(k), Some(name.to_string()));
        }
        figure.panels.push(panel);
    }
    figure.columns = figure.panels.len().min(2);
    figure.panel_size = (470.0, 330.0);
    (!figure.panels.is_empty()).then_some(figure)
}

fn dashed() -> Stroke {
    Stroke {
        color: Color::BLACK,
        width: 1.8,
        dash: &[7.0, 4.0],
    }
}

/// Name, values and filling of an area.
type Layer = (String, Vec<f64>, Fill);

/// Areas upon each other: what is positive above zero, what is negative below.
fn stack(panel: &mut Panel, times: &[f64], layers: &[Layer]) {
    let mut above = vec![0.0; times.len()];
    let mut below = vec![0.0; times.len()];
    let edge = Stroke::solid(Color::INK, 0.7);
    for (name, values, fill) in layers {
        for (base, sign, entry) in [(&mut above, 1.0, true), (&mut below, -1.0, false)] {
            let part: Vec<f64> = values.iter().map(|v| (v * sign).max(0.0) * sign).collect();
            let any = part.iter().any(|v| *v != 0.0);
            if !any && !entry {
                continue;
            }
            let lower: Vec<[f64; 2]> = times
                .iter()
                .zip(base.iter())
                .map(|(&t, &b)| [t, b])
                .collect();
            for (b, v) in base.iter_mut().zip(&part) {
                *b += v;
            }
            let upper: Vec<[f64; 2]> = times
                .iter()
                .zip(base.iter())
                .map(|(&t, &b)| [t, b])
                .collect();
            let mut outline = lower;
            outline.extend(upper.iter().rev());
            panel.add_area(outline, *fill, entry.then(|| name.clone()));
            panel.add_curve(upper, edge, None);
        }
    }
    let high = above.iter().copied().fold(0.0, f64::max);
    let low = below.iter().copied().fold(0.0, f64::min);
    if high > low {
        panel.y_range = Some((1.06 * low, 1.08 * high));
    }
}
